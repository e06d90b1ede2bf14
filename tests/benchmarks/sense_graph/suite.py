"""Sounds and smells in a sense graph, compiled and not."""
from __future__ import annotations

from tests.benchmarks.sense_graph import smells, waves
from tools.benchmarking.declarations import Measurement, Suite

SIZES = (1024, 10_000)

SUITE = Suite(
    "a level of n rooms, each with four doors",
    (
        Measurement("a sound that reaches 100 rooms, compiled", waves.compiled, SIZES,
                    {"plain heap search": {10_000: 8.0}, "heap search, ways worked out before": {10_000: 8.0},
                     "scipy": 1.0}),
        Measurement("a sound that reaches 100 rooms, interpreted", waves.interpreted, SIZES,
                    {"plain heap search": {10_000: 1.5}}),
        Measurement("ten steps of a smell that is everywhere, compiled", smells.compiled, SIZES,
                    {"plain loop over all": {10_000: 60.0}}),
        Measurement("ten steps of a smell that is everywhere, interpreted", smells.interpreted, SIZES,
                    {"plain loop over all": {10_000: 3.0}}),
        Measurement("ten steps of a smell in 100 rooms, compiled", smells.little, SIZES,
                    {"plain loop over all": {1024: 3.0, 10_000: 30.0}}),
    ),
)
