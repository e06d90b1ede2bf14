"""What characters that think by AIBehavior cost in a frame, beside the same with ``_process``."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

OTHER = "GDScript _process"
EVERY_FRAME = "every frame"

FACING = "facing a target"
"""What the characters of 000_execution_management do, and the demo ``crowd``: the least that is worth a frame."""
ADDING = "adding two numbers"
"""So little that the frame costs what the calls cost: beside it stands the least that they cost an extension."""

CHARACTERS = 1000

# All nodes below one parent, in release: what is added to a frame, engine and Python together.
SUITE = Suite(
    "1000 AIBehavior nodes in a frame, beside 1000 nodes with their own _process",
    (
        *(
            Measurement(f"{FACING}, every {often}", sizes=(CHARACTERS,), goals=goals)
            for often, goals in (
                ("frame", {OTHER: 1 / 1.3}),
                ("5th frame", {EVERY_FRAME: 3.5, OTHER: 3.0}),
                ("10th frame", {EVERY_FRAME: 6.0, OTHER: 5.0}),
                ("30th frame", {EVERY_FRAME: 12.0, OTHER: 10.0}),
            )
        ),
        Measurement(f"{FACING}, load balancing, every frame", sizes=(CHARACTERS,), goals={OTHER: 1 / 1.3}),
        Measurement(f"{FACING}, load balancing, every 10th frame", sizes=(CHARACTERS,), goals={OTHER: 5.0}),
        *(
            Measurement(f"{ADDING}, every {often}", sizes=(CHARACTERS,))
            for often in ("frame", "5th frame", "10th frame", "30th frame")
        ),
        Measurement(f"{ADDING}, load balancing, every frame", sizes=(CHARACTERS,)),
        Measurement(f"{ADDING}, load balancing, every 10th frame", sizes=(CHARACTERS,), goals={OTHER: 1.0}),
    ),
    scene=Scene(
        "res://tests/benchmarks/behaviors_in_engine/behaviors_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick", "tests.benchmarks.in_engine.named_calls"),
    ),
)
