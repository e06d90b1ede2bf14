"""Hard ways over 512 × 512 cells, beside AStarGrid2D in the same process."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

OTHER = "AStarGrid2D"
LEVELS = ("caves", "halls", "noise", "corridors")

# Warm: the same ways were just found by the same search. Cold: the other search came between, which turns
# the caches over; it takes too long itself to feel that.
JUMPS = {"caves": 150.0, "halls": 25.0, "corridors": 150.0}

SUITE = Suite(
    "three hard ways over four levels, beside AStarGrid2D: 8 neighbors, no corner cut",
    (
        *(Measurement(f"A* in {name}", goals={OTHER: 5.0}) for name in LEVELS),
        *(Measurement(f"jumps in {name}", goals=_goals)
          for name in LEVELS for _goals in [{OTHER: JUMPS[name]} if name in JUMPS else {}]),
        *(Measurement(f"jumps, cold in {name}") for name in LEVELS),
        *(Measurement(f"as the service chooses in {name}", goals={OTHER: 5.0}) for name in LEVELS),
        *(Measurement(f"4 neighbors in {name}", goals={OTHER: 4.0}) for name in ("caves", "corridors")),
        Measurement("over its budget, 1000 requests in a frame", sizes=(1000,), goals={"longest query": 1.0}),
        Measurement("the same way, 1000 times", sizes=(1000,), goals={"map_get_path": 10.0}),
    ),
    scene=Scene(
        "res://tests/benchmarks/paths_in_engine/paths_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick", "tests.benchmarks.paths_in_engine.bench_paths"),
        limit_s=300.0,
    ),
)
