"""What a frame of AI takes when there is more to do than its budget allows."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

CHARACTERS = {500: (10, 30, 100), 1000: (20, 60, 200), 2000: (40, 120, 400)}
"""Characters for each budget (µs), as in the scene; with the most there is some ten times as much to do."""

KEPT = {"the budget": 1 / 1.1}
"""Frames take at most a tenth more than the budget, whatever the speed of the machine."""

# All sense all, decide by habits, request three paths a frame over 200 by 200 cells, hear events, and query a polling
# station. Budgets count the time of the main thread, as the figures do. "needed" is the median of frames without a
# limit. A loop that always does the same, with the budget as its median, shows what of a percentile is the machine's.
# Beside a script that never yields, the frames in which it ran are left out: they exceed the budget by its time.
SUITE = Suite(
    "A frame of AI with up to ten times as much to do as its budget allows, at 60 frames a second",
    tuple(
        Measurement(f"{budget} us{part}", sizes=sizes, goals=KEPT if part.endswith("p99") else {})
        for budget, sizes in CHARACTERS.items()
        for part in (
            ", needed", ", p50", ", p99", ", max",
            *(f", beside a script that never yields, {figure}" for figure in ("p50", "p99", "max")),
        )
    ),
    scene=Scene(
        "res://tests/benchmarks/budget_in_engine/budget_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick", "tests.benchmarks.budget_in_engine.thread_clock"),
        limit_s=300.0,
    ),
)
