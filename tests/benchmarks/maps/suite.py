"""Decision maps of 512 × 512 cells."""
from __future__ import annotations

from tests.benchmarks.maps import layers
from tools.benchmarking.declarations import Measurement, Suite

SUITE = Suite(
    "decision maps of 512 x 512 cells, six layers",
    (
        Measurement("decay, blur and combine six layers", layers.whole, goals={"plain loops": 50.0}),
        Measurement("blur six layers", layers.blurring, goals={"scipy": 0.5}),
        Measurement("a whole update, n units write", layers.updating, sizes=(100, 1000), limits_us={1000: 20_000}),
        Measurement("a batch of n units", layers.writing, sizes=(100, 1000), goals={"plain loop": {1000: 3.0}}),
        Measurement("eight best cells apart", layers.best, limits_us={1: 2000}),
        Measurement("choke points of 256 rooms", layers.chokes, limits_us={1: 300_000}),
    ),
)
