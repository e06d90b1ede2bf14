"""The AI of a whole frame: a museum with more and more guards."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

GUARDS = (10, 100, 500)

# What an AIScheduler grants all AI of a frame unless told: an eighth of a frame of 60 a second.
BUDGET_US = 2000.0
WITHIN_BUDGET = dict.fromkeys(GUARDS, BUDGET_US)

# The other is what somebody writes without an addon: each guard tests every intruder itself
# and decides by an if chain, in GDScript, with no memory to ask, no trace and no budget.
SUITE = Suite(
    "AI of a museum's guards, senses and habits, beside guards written by hand in GDScript",
    (
        Measurement("AI of a frame, p50", sizes=GUARDS, limits_us=WITHIN_BUDGET),
        Measurement("AI of a frame, p99", sizes=GUARDS, limits_us=WITHIN_BUDGET),
        Measurement("AI of a frame, max", sizes=GUARDS),
        Measurement("AI of one guard", sizes=GUARDS),
        Measurement("AI of a frame at 60 frames a second, p50", sizes=GUARDS, limits_us=WITHIN_BUDGET),
        Measurement("AI of a frame at 60 frames a second, p99", sizes=GUARDS, limits_us=WITHIN_BUDGET),
    ),
    scene=Scene(
        "res://tests/benchmarks/frame/frame_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick",),
    ),
)
