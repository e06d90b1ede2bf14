"""Ways on grids of 512 × 512 cells: three hard ones a level."""
from __future__ import annotations

from tests.benchmarks.paths import searches, slices
from tools.benchmarking.declarations import Measurement, Suite

LEVELS = ("caves", "corridors")
ALL = ("caves", "halls", "noise", "corridors")

SUITE = Suite(
    "three hard ways over 512 x 512 cells, 8 neighbors, no corner cut",
    (
        *(Measurement(f"A* in {name}", searches.walking(name, ["tcod"]), goals={"tcod": 7.0})
          for name in ALL),
        Measurement("A* in caves, one way", searches.walking("caves", ["pathfinding", "networkx"], most=1),
                    goals={"pathfinding": 3.0, "networkx": 2.3}),
        *(Measurement(f"mending jumps in {name}", searches.mending(name),
                      goals={"making anew": 100.0}) for name in ALL),
        Measurement("a full collection of garbage with a level loaded", searches.collecting, limits_us={1: 1000}),
        *(Measurement(f"jumps in {name}", searches.jumping(name), goals={"by every move": 5.0})
          for name in LEVELS),
        *(Measurement(f"sixty different paths by jumps in {name}", searches.jumping_anew(name),
                      goals={"A*": 2.0} if name in ("halls", "corridors") else {}) for name in ALL),
        *(Measurement(f"a first way over regions in {name}", searches.over_regions(name), goals={"by every move": 3.0})
          for name in LEVELS),
        *(Measurement(f"anytime in {name}, until the cheapest is sure", searches.anytime(name),
                      goals={"by every move": 0.25}) for name in LEVELS),
        Measurement("eight ways of a service, with a thread that helps: what is left to the other", searches.on_threads,
                    goals={"one thread": 1.6}),
        Measurement("eight ways of a service, with a thread that helps: on the wall's clock", searches.on_threads,
                    goals={"one thread": 1.6}, by_wall_clock=True),
        Measurement("a search of half a millisecond in a thousand slices", slices.short_sliced,
                    goals={"uncut": 1 / 1.1}),
        Measurement("a search of ten milliseconds in a thousand slices", slices.long_sliced,
                    goals={"uncut": 1 / 1.1}),
        Measurement("a flow field for any number of movers", searches.flowing, goals={"20 searches": 1.0}),
        Measurement("making jumps", searches.preparing, limits_us={1: 150_000}),
        *(Measurement(f"making regions of {name}", searches.making_regions(name),
                      limits_us={1: 150_000}) for name in LEVELS),
        Measurement("asking whether there is a way, n times", searches.asking, sizes=(1000,),
                    limits_us={1000: 1000}),
    ),
)
