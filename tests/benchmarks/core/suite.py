"""The core without an engine: its machinery beside the bare loops it stands for."""
from __future__ import annotations

from tests.benchmarks.core.events import listeners_among, listeners_of_one_event
from tests.benchmarks.core.senses import one_signal
from tools.benchmarking.declarations import Measurement, Suite

# What a general library may add to a bare loop: checks, reports and statistics of each call.
# Ratios as DESIGN.md section 8 and the research behind it set them.
SUITE = Suite(
    "events and senses beside bare loops",
    (
        Measurement(
            "event to n listeners", listeners_of_one_event, sizes=(1, 100, 10_000),
            goals={
                "loop over listeners": {1: 1 / 2, 100: 1 / 1.15, 10_000: 1 / 1.15},
                "pyee": {1: 6.0, 100: 3.0}, "blinker": {1: 15.0, 100: 15.0},
            },
        ),
        Measurement(
            "event to 10 of n listeners", listeners_among, sizes=(10, 1000, 10_000),
            goals={"loop over those 10": 1 / 3},
        ),
        Measurement(
            "sound to n sensors", one_signal, sizes=(30, 100, 1000, 10_000),
            goals={"textbook loop": {100: 5.0, 1000: 20.0, 10_000: 100.0}},
        ),
    ),
)
