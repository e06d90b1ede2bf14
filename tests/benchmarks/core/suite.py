"""The core without an engine: its machinery beside the bare loops it stands for."""
from __future__ import annotations

from tests.benchmarks.core.senses import one_signal
from tools.benchmarking.declarations import Measurement, Suite

# What a general library may add to a bare loop: checks, reports and statistics of each call.
# Ratios as DESIGN.md section 8 and the research behind it set them.
SUITE = Suite(
    "senses beside bare loops",
    (
        Measurement(
            "sound to n sensors", one_signal, sizes=(30, 100, 1000, 10_000),
            goals={"textbook loop": {100: 5.0, 1000: 20.0, 10_000: 100.0}},
        ),
    ),
)
