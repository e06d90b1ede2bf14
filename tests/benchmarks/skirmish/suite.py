"""Skirmish: what two strategists with their maps take of a frame."""
from __future__ import annotations

from tests.benchmarks.skirmish.frames import BUDGET_US, OVER, frame_of_ai
from tools.benchmarking.declarations import Measurement, Suite

SUITE = Suite(
    "the AI of a skirmish: two strategists, their maps and looks, within 3 ms a frame (p99 within a tenth over it)",
    (
        Measurement("AI of a frame, n units a side", frame_of_ai, sizes=(50, 100),
                    goals={"naive, all at once": 2.0}, limits_us={100: OVER * BUDGET_US}),
    ),
)
