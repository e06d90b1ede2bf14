"""What characters that decide by nodes add to a frame in Godot: habit trees and state machines."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

CHARACTERS, MACHINES = 1000, 5000

BARE = "bare calls"
"""A loop in GDScript over as many nodes, that calls the same methods and does nothing else."""

# All below one AIScheduler, in release: what is added to a frame, engine and Python together.
SUITE = Suite(
    "1000 habit trees of ten nodes and 5000 state machines in a frame",
    (
        Measurement("ten habits asked, GDScript leaves", sizes=(CHARACTERS,), limits_us={CHARACTERS: 2400.0}),
        Measurement("ten habits asked, Python leaves", sizes=(CHARACTERS,), limits_us={CHARACTERS: 1500.0}),
        # Nine conditions of values and a leaf that waits: what the two rows above do, without a script.
        Measurement("ten habits asked, built-in", sizes=(CHARACTERS,), limits_us={CHARACTERS: 400.0}),
        # Nine checks and a write that all begin and end in each frame.
        Measurement("ten built-in habits in turn", sizes=(CHARACTERS,), limits_us={CHARACTERS: 1000.0}),
        Measurement("one leaf of ten runs, GDScript", sizes=(CHARACTERS,), limits_us={CHARACTERS: 500.0}),
        Measurement("all wait for an event", sizes=(CHARACTERS,), limits_us={CHARACTERS: 20.0}),
        Measurement("all wait for a time", sizes=(CHARACTERS,), limits_us={CHARACTERS: 20.0}),
        Measurement("state machines, one in ten changes", sizes=(MACHINES,), limits_us={MACHINES: 3000.0}),
        Measurement(
            "state machines, all change", sizes=(CHARACTERS, MACHINES),
            limits_us={CHARACTERS: 2000.0, MACHINES: 10000.0}),
        # Caches are cold again in every frame, and the processor may have slowed down. How long an empty call
        # takes says nothing of that, but the bare calls do.
        Measurement(
            "at 60 frames a second, GDScript leaves", sizes=(CHARACTERS,), goals={BARE: 1.0},
            limits_us={CHARACTERS: 4500.0}),
        Measurement("at 60 frames a second, Python leaves", sizes=(CHARACTERS,), limits_us={CHARACTERS: 3000.0}),
        # The nodes of 5,000 fit into no cache: calls alone become some 3 to 4 times dearer then. A tree may
        # become 1.3 times as dear as among 1,000, or as much as those if that is more.
        Measurement("one character among 5,000", goals={"among 1,000, risen as bare calls do": 1.0, BARE: 1.0}),
        Measurement("adding a tree beside 1,000", goals={"alone": 1 / 1.3}),
        Measurement("freeing a tree beside 1,000", goals={"alone": 1 / 1.3}),
    ),
    scene=Scene(
        "res://tests/benchmarks/decisions_in_engine/decisions_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick", "tests.benchmarks.decisions_in_engine.told"),
    ),
)
