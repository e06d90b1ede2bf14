"""What senses cost in Godot, end to end: sounds to a thousand sensors, lines of sight of five hundred."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

SENSORS, EYES = 1000, 500
TEXTBOOK, PACKED, LOOP = "textbook", "packed arrays", "GDScript loop"
# Beside them the scene measures "places alone" and "rays alone", what the engine costs of it in one crossing; and
# "calls alone", as many calls from GDScript into Python as sounds are emitted by.

SIGHT = "a frame with 2000 lines of sight"

# Nodes have moved before each; told is whoever hears, by a signal to GDScript. Times are of one sound.
SUITE = Suite(
    "sounds to 1000 Sensor3D and sights of 500 in a release build",
    (
        Measurement("one of ten sounds in a frame", sizes=(SENSORS,), goals={TEXTBOOK: 10.0, PACKED: 2.0}),
        Measurement("one sound in a frame", sizes=(SENSORS,)),
        # The textbook takes 3 ms, and more memory than caches hold; packed arrays and ours in turns, without it, leave
        # each other what they use.
        Measurement("one of ten sounds in a frame, no textbook between", sizes=(SENSORS,), goals={PACKED: 2.0}),
        Measurement("one sound in a frame, no textbook between", sizes=(SENSORS,)),
        # At 343 m/s, as sounds are unless told: some 20 arrive in each frame, of several frames.
        Measurement("one of ten sounds in a frame, told in later ones", sizes=(SENSORS,)),
        # With all that a frame of sight is: who is asked, cones, memory, and who is told. The loop only casts.
        Measurement(SIGHT, sizes=(EYES,), goals={LOOP: 1.0}, limits_us={EYES: 1000.0}),
        Measurement("2000 lines of sight alone", sizes=(EYES,), goals={LOOP: 2.5}),
        Measurement(f"{SIGHT}, half of them past targets", sizes=(EYES,)),
    ),
    scene=Scene(
        "res://tests/benchmarks/senses_in_engine/senses_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick", "tests.benchmarks.senses_in_engine.bench_floors"),
    ),
)
