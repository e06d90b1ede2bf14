"""Squads: who takes which slot, beside SciPy; what a step of a march takes."""
from __future__ import annotations

from tests.benchmarks.squads.marches import step_of_march
from tests.benchmarks.squads.slots import assigning, fifty_without_one
from tools.benchmarking.declarations import Measurement, Suite

SUITE = Suite(
    "slots of a formation for many members, and their march",
    (
        # 2 ms or 1.5 times SciPy's, whichever is larger: one of the two must be met.
        Measurement("n members to n slots by distance", assigning("distances"), sizes=(8, 50, 200),
                    goals={"scipy": {200: 1 / 1.5}}),
        Measurement("n members to n slots at any costs", assigning("any"), sizes=(200,),
                    goals={"scipy": 1 / 1.5}, limits_us={200: 2000}),
        Measurement("n without one, few changes", fifty_without_one, sizes=(50,)),
        Measurement("a step of a march of n", step_of_march, sizes=(9, 50, 200)),
    ),
)
