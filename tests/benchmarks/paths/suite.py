"""Ways on grids of 512 × 512 cells: three hard ones a level."""
from __future__ import annotations

from tests.benchmarks.paths import searches
from tools.benchmarking.declarations import Measurement, Suite

LEVELS = ("caves", "corridors")

SUITE = Suite(
    "three hard ways over 512 x 512 cells, 8 neighbors, no corner cut",
    (
        Measurement("A* in caves, compiled", searches.walking("caves"), goals={"pathfinding": 100.0}),
        Measurement("A* in caves, interpreted", searches.walking("caves", interpreted=True),
                    goals={"pathfinding": 3.0}),
        *(Measurement(f"jumps in {name}, compiled", searches.jumping(name), goals={"walking": 5.0})
          for name in LEVELS),
        *(Measurement(f"jumps in {name}, interpreted", searches.jumping(name, interpreted=True),
                      goals={"walking": 10.0}) for name in LEVELS),
        Measurement("a search in a thousand slices", searches.sliced, goals={"uncut": 1 / 1.1}),
        Measurement("a flow field for any number of movers", searches.flowing, goals={"20 searches": 1.0}),
        Measurement("making jumps, compiled", searches.preparing(False), limits_us={1: 150_000}),
        Measurement("making jumps, interpreted", searches.preparing(True), limits_us={1: 1_000_000}),
        Measurement("asking whether there is a way, n times", searches.asking, sizes=(1000,),
                    limits_us={1000: 1000}),
    ),
)
