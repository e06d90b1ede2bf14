"""What squads of bodies add to a frame in Godot, beside a script that moves as many bodies straight on."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

MEMBERS = 100

# No goals: the other knows no way, no slots and no commander, and shows what moving the bodies takes.
SUITE = Suite(
    "20 squads of 5 CharacterBody3D in a frame: thoughts, march, bodies moved and turned",
    (Measurement("on the march", sizes=(MEMBERS,)), Measurement("at rest", sizes=(MEMBERS,))),
    scene=Scene(
        "res://tests/benchmarks/squads_in_engine/squads_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick",),
    ),
)
