"""What characters that decide by nodes add to a frame in Godot: habit trees and state machines."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

CHARACTERS, MACHINES = 1000, 5000

# All below one AIScheduler, in release: what is added to a frame, engine and Python together.
SUITE = Suite(
    "1000 habit trees of ten nodes and 5000 state machines in a frame",
    (
        Measurement("ten habits asked, GDScript leaves", sizes=(CHARACTERS,), limits_us={CHARACTERS: 2400.0}),
        Measurement("ten habits asked, Python leaves", sizes=(CHARACTERS,), limits_us={CHARACTERS: 1500.0}),
        Measurement("ten built-in habits in turn", sizes=(CHARACTERS,), limits_us={CHARACTERS: 400.0}),
        Measurement("one leaf of ten runs, GDScript", sizes=(CHARACTERS,), limits_us={CHARACTERS: 500.0}),
        Measurement("all wait for an event", sizes=(CHARACTERS,), limits_us={CHARACTERS: 20.0}),
        Measurement("all wait for a time", sizes=(CHARACTERS,), limits_us={CHARACTERS: 20.0}),
        Measurement("state machines, one in ten changes", sizes=(MACHINES,), limits_us={MACHINES: 3000.0}),
        # Caches are cold again in every frame, and the processor may have slowed down.
        Measurement("at 60 frames a second, GDScript leaves", sizes=(CHARACTERS,), limits_us={CHARACTERS: 4500.0}),
        Measurement("at 60 frames a second, Python leaves", sizes=(CHARACTERS,), limits_us={CHARACTERS: 3000.0}),
        Measurement("one character among 5,000", goals={"among 1,000": 1 / 1.3}),
        Measurement("adding a tree beside 1,000", goals={"alone": 1 / 1.3}),
        Measurement("freeing a tree beside 1,000", goals={"alone": 1 / 1.3}),
    ),
    scene=Scene(
        "res://tests/benchmarks/decisions_in_engine/decisions_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick",),
    ),
)
