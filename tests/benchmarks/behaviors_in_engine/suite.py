"""What characters that think by AIBehavior cost in a frame, beside the same with ``_process``."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

OTHER = "GDScript _process"
EVERY_FRAME = "every frame"

CHARACTERS = 1000

# All nodes below one parent, in release: what is added to a frame, engine and Python together.
SUITE = Suite(
    "1000 AIBehavior nodes in a frame, beside 1000 nodes with their own _process",
    (
        Measurement("direct access, every frame", sizes=(CHARACTERS,), goals={OTHER: 1.0}),
        Measurement("frequency, every frame", sizes=(CHARACTERS,)),
        Measurement("load balancing, every frame", sizes=(CHARACTERS,)),
        Measurement("direct access, every 5th frame", sizes=(CHARACTERS,), goals={EVERY_FRAME: 4.0, OTHER: 4.0}),
        Measurement("direct access, every 10th frame", sizes=(CHARACTERS,), goals={EVERY_FRAME: 8.0, OTHER: 8.0}),
        Measurement("direct access, every 30th frame", sizes=(CHARACTERS,), goals={EVERY_FRAME: 20.0, OTHER: 20.0}),
        Measurement("load balancing, every 10th frame", sizes=(CHARACTERS,), goals={OTHER: 1.0}),
    ),
    scene=Scene(
        "res://tests/benchmarks/behaviors_in_engine/behaviors_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick", "tests.benchmarks.in_engine.named_calls"),
    ),
)
