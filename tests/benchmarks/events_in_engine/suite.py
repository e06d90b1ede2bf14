"""What an event costs on its way to GDScript, and a thousand lines of sight, beside the engine's own."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

SIGNAL = "direct signal"
RAYS = "batched rays"

LISTENERS = 100
PAIRS = 1000

SUITE = Suite(
    "events beside direct signals, polls beside the rays they cast",
    (
        Measurement("signal to GDScript Callables, at once", sizes=(LISTENERS,), goals={SIGNAL: 1 / 1.5}),
        Measurement("signal to GDScript Callables, queued", sizes=(LISTENERS,), goals={SIGNAL: 1 / 1.5}),
        Measurement("signal to one GDScript Callable, at once"),
        Measurement("can_see of many pairs in one call", sizes=(PAIRS,), goals={RAYS: 1 / 1.3}),
        Measurement("can_see of many pairs, kept", sizes=(PAIRS,)),
    ),
    scene=Scene(
        "res://tests/benchmarks/events_in_engine/events_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick", "tests.benchmarks.events_in_engine.bench_rays"),
    ),
)
