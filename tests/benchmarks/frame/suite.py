"""The AI of a whole frame: a museum with more and more guards."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

GUARDS = (1, 10, 100, 500)

# What an AIScheduler grants all AI of a frame unless told: an eighth of a frame of 60 a second.
BUDGET_US = 2000.0
NO_MORE_THAN_BUDGET = dict.fromkeys(GUARDS, BUDGET_US)
KEPT = {"the budget": 0.91}
"""Within the budget frames take at most a tenth more than it; that is no matter of the machine's speed."""

HOT, AT_60 = "AI of a frame", "AI of a frame at 60 frames a second"

# The other is what somebody writes without an addon: each guard tests every intruder itself
# and decides by an if chain, in GDScript, with no memory to ask, no trace and no budget.
# "within the budget" are the same guards of ours with budget 2000, as it is unless told; the
# others have no budget, and all that there is to do in a frame is done in it, as by hand.
SUITE = Suite(
    "AI of a museum's guards, senses and habits, beside guards written by hand in GDScript",
    tuple(
        Measurement(name, sizes=GUARDS, **judged)
        for when in (HOT, AT_60)
        for name, judged in (
            (f"{when}, p50", {"limits_us": NO_MORE_THAN_BUDGET}),
            (f"{when}, p99", {"limits_us": NO_MORE_THAN_BUDGET}),
            (f"{when}, max", {}),
            (f"{when} within the budget, p50", {"goals": KEPT}),
            (f"{when} within the budget, p99", {"goals": KEPT}),
            (f"{when} within the budget, max", {}),
        )
    ),
    scene=Scene(
        "res://tests/benchmarks/frame/frame_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick",),
    ),
)
