"""The hot loops of the senses beside the textbook's loop."""
from __future__ import annotations

from tests.benchmarks.senses.kernels import sights, sounds
from tests.benchmarks.senses.minds import minds
from tools.benchmarking.declarations import Measurement, Suite

SIZES = (30, 100, 1000, 10_000, 100_000)
LEAST = {"textbook loop": {1000: 100.0, 10_000: 100.0, 100_000: 75.0}}

SUITE = Suite(
    "ten signals to n sensors, all positions written before",
    (
        Measurement("sounds to n sensors", sounds, SIZES, LEAST),
        Measurement("sights of n sensors", sights, SIZES, LEAST),
        Measurement("15 frames of percepts, n sensors", minds, (1, 10, 100, 1000)),
    ),
)
