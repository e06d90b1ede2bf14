"""What characters that decide by nodes add to a frame in Godot: habit trees and state machines."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

CHARACTERS, MACHINES = 1000, 5000

# All below one AIScheduler, in release: what is added to a frame, engine and Python together.
SUITE = Suite(
    "1000 habit trees of ten nodes and 5000 state machines in a frame",
    (
        Measurement("ten habits asked, GDScript leaves", sizes=(CHARACTERS,), limits_us={CHARACTERS: 2400.0}),
        Measurement("ten built-in habits in turn", sizes=(CHARACTERS,), limits_us={CHARACTERS: 400.0}),
        Measurement("one leaf of ten runs, GDScript", sizes=(CHARACTERS,), limits_us={CHARACTERS: 500.0}),
        Measurement("all wait for an event", sizes=(CHARACTERS,), limits_us={CHARACTERS: 20.0}),
        Measurement("state machines, one in ten changes", sizes=(MACHINES,), limits_us={MACHINES: 3000.0}),
    ),
    scene=Scene(
        "res://tests/benchmarks/decisions_in_engine/decisions_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick",),
    ),
)
