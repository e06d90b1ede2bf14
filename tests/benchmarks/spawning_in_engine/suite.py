"""What characters cost that enter and leave a running game."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

# Times of one character of twenty that are made in one frame; "plain nodes" are as many of the engine's. The last row
# is the AI of a frame beside 100 sensors, ten to a group, each with a source.
SUITE = Suite(
    "characters that are made, enter a running game and are freed",
    (
        Measurement("a Habit", limits_us={1: 10.0}),
        Measurement("a HabitTree of ten scripted habits", limits_us={1: 150.0}),
        Measurement("freeing a HabitTree of ten scripted habits", limits_us={1: 50.0}),
        Measurement("a Sensor3D and a SenseSource3D, with their first frames", limits_us={1: 100.0}),
        Measurement("freeing a Sensor3D and a SenseSource3D", limits_us={1: 33.0}),
        Measurement("20 guards of a scene in one frame", sizes=(20,), limits_us={20: 5000.0}),
        Measurement(
            "a frame with a new and without a freed character", sizes=(100,),
            goals={"the same frame without": 1 / 1.2}),
    ),
    scene=Scene(
        "res://tests/benchmarks/spawning_in_engine/spawning_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick",),
    ),
)
