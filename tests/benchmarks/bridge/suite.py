"""What crossing between GDScript and Python costs, beside the same in GDScript."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

OTHER = "GDScript"

# Times include the GDScript loop around them, on both sides.
SUITE = Suite(
    "crossing between GDScript and Python, beside the same in GDScript",
    (
        Measurement("method call, two floats", goals={OTHER: 1 / 1.6}),
        Measurement("method call, two floats, untyped variable"),
        Measurement("signal to a handler, two arguments", goals={OTHER: 1 / 2.2}),
        Measurement("_process of a node", sizes=(1000,), goals={OTHER: 1 / 1.5}),
        Measurement("rays in one batch", sizes=(1000,), goals={OTHER: 2.5}),
        Measurement("global positions in one batch", sizes=(1000,), goals={OTHER: 1.0}),
        Measurement("PackedVector3Array to NumPy", sizes=(10_000,), limits_us={10_000: 3.0}),
    ),
    scene=Scene(
        "res://tests/benchmarks/bridge/bridge_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick", "tests.benchmarks.bridge.bench_nodes"),
    ),
)
