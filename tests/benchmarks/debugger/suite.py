"""What seeing inside costs a frame: while it is hidden, and while it is looked at."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

WITHOUT = "without AIDebugOverlay"

NEVER = "never looked at"

CHARACTERS = (100, 1000)

GUARDS = (20,)

# Whole frames of a release build, the engine's own work included, headless: what drawing the panel costs is left
# out. Hidden must be the same as without; a tenth is what two equal cases may differ by on a busy machine.
SUITE = Suite(
    "a frame with characters that think by AIBehavior, with and without somebody who looks inside",
    (
        Measurement("a frame, hidden after it was shown", sizes=CHARACTERS, goals={WITHOUT: 0.9}),
        Measurement("a frame, shown", sizes=CHARACTERS),
        Measurement("a frame of guards, after one was looked at", sizes=GUARDS, goals={NEVER: 0.9}),
        Measurement("a frame of guards, the live chart of one", sizes=GUARDS),
    ),
    scene=Scene(
        "res://tests/benchmarks/debugger/debugger_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick", "tests.benchmarks.in_engine.live_chart"),
    ),
)
