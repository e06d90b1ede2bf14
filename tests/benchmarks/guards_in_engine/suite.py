"""Guards from the inspector alone, which walk as bodies, beside the same written by hand."""
from __future__ import annotations

from tools.benchmarking.declarations import Measurement, Scene, Suite

GUARDS = (1, 10, 100)

BY_HAND = {1: 1 / 2.0, 10: 1.0, 100: 1.0}
"""Least ratio to guards by hand: one guard may take twice their time."""

SUITE = Suite(
    "guards from the inspector: a sensor, eight habits and movement along a navigation map",
    (
        Measurement("AI of a physics frame, p50", sizes=GUARDS, goals={"GDScript by hand": BY_HAND}),
        Measurement("AI of a physics frame, p99", sizes=GUARDS),
    ),
    scene=Scene(
        "res://tests/benchmarks/guards_in_engine/guards_benchmark.tscn",
        modules=("tests.benchmarks.in_engine.yardstick",),
    ),
)
