"""Sounds and smells in a sense graph."""
from __future__ import annotations

from tests.benchmarks.sense_graph import smells, waves
from tools.benchmarking.declarations import Measurement, Suite

SIZES = (1024, 10_000)

SUITE = Suite(
    "a level of n rooms, each with four doors",
    (
        Measurement("a sound that reaches 100 rooms", waves.sound, SIZES, {"plain heap search": {10_000: 1.0}}),
        Measurement("ten steps of a smell that is everywhere", smells.everywhere, SIZES,
                    {"plain loop over all": {10_000: 3.0}}),
        Measurement("ten steps of a smell in 100 rooms", smells.little, SIZES,
                    {"plain loop over all": {10_000: 6.0}}),
    ),
)
