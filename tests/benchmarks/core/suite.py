"""The core without an engine: its machinery beside the bare loops it stands for."""
from __future__ import annotations

from tests.benchmarks.core.senses import one_signal
from tools.benchmarking.declarations import Measurement, Suite

# With what the textbook leaves out: memory of each target, the order of arrivals, a budget, telling by callbacks. What
# the loops alone take, and goals for them, are in the suite "senses".
SUITE = Suite(
    "senses beside bare loops",
    (
        Measurement(
            "sound to n sensors", one_signal, sizes=(30, 100, 1000, 10_000),
            goals={"textbook loop": {100: 1.0, 1000: 5.0, 10_000: 10.0}},
        ),
    ),
)
