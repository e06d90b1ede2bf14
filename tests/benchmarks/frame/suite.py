"""The AI of a whole frame: a museum with more and more guards."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

GUARDS = (1, 10, 100, 500)

BUDGET_US = 2000.0
"""Time that an AIScheduler grants all AI of a frame by default (µs)."""

KEPT = {"the budget": 0.91}
"""Within the budget frames take at most a tenth more than it, whatever the speed of the machine."""

BY_HAND = {1: 1 / 2.0, 10: 1.0, 100: 1.0, 500: 1 / 0.5}
"""Least ratio to guards by hand: one guard may take twice their time, 500 half of it."""

SENSES_US = {1: 60.0, 10: 80.0, 100: 170.0, 500: 700.0}
"""Longest time of the senses alone (µs)."""

# The other is what a developer writes without an addon: each guard tests every intruder itself and decides by an if
# chain, in GDScript, with no memory to ask, no trace and no budget. "within the budget" are the same guards of ours
# with the default budget; all others have none, so all that there is to do in a frame is done in it, as by hand.
# "at 20 looks a second" each guard looks in every third frame, ours by ``SenseManager.period``.
SUITE = Suite(
    "AI of a museum's guards, senses and habits, beside guards written by hand in GDScript",
    tuple(
        Measurement(f"{part}, {percentile}", sizes=GUARDS, **judged)
        for when in ("of a frame", "of a frame at 60 frames a second")
        for part, percentile, judged in (
            (f"AI {when}", "p50", {"goals": {"GDScript by hand": BY_HAND}}),
            (f"AI {when}", "p99", {"goals": {"twice its p50, and 100 us": 1.0}}),
            (f"AI {when}", "max", {}),
            (f"AI {when} within the budget", "p50", {"goals": KEPT}),
            (f"AI {when} within the budget", "p99", {"goals": KEPT}),
            (f"AI {when} within the budget", "max", {}),
            (f"senses {when}", "p50", {"limits_us": SENSES_US}),
            (f"senses {when}", "p99", {}),
            (f"senses {when}", "max", {}),
            (f"AI {when} at 20 looks a second", "p50", {}),
            (f"AI {when} at 20 looks a second", "p99", {}),
            (f"AI {when} at 20 looks a second", "max", {}),
            # A third of the frames looks, so the median alone would show one guard as if it never did.
            (f"AI {when} at 20 looks a second", "mean", {}),
            (f"AI {when}", "mean", {}),
        )
    ),
    scene=Scene(
        "res://tests/benchmarks/frame/frame_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick",),
    ),
)
