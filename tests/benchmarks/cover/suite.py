"""Cover on a level of 60 × 60 m."""
from __future__ import annotations

from tests.benchmarks.cover import yard
from tools.benchmarking.declarations import Measurement, Suite

SUITE = Suite(
    "the best of some hundred spots, beside a loop that judges each, with the same rays",
    (
        Measurement("the best spots for ten, from n threats", yard.choosing, sizes=(1, 2, 4), limits_us={2: 20_000},
                    goals={"plain loop": {2: 10.0}}),
        Measurement("the best spots for ten, n crates about", yard.choosing_among_crates, sizes=(4, 16),
                    limits_us={16: 40_000}),
        Measurement("baking a level", yard.baking, goals={"one by one": 5.0}),
    ),
)
