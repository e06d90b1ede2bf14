"""Decisions: state machines, rules and adaptation, as many as a game has."""
from __future__ import annotations

from tests.benchmarks.decisions.machines import a_frame_with_changes, creation, leaf_transitions, ticks
from tests.benchmarks.decisions.minds import decisions, learning
from tools.benchmarking.declarations import Measurement, Suite

SUITE = Suite(
    "decisions beside tables and libraries",
    (
        Measurement(
            "n machines change leaf, three levels", leaf_transitions, (1000, 5000), limits_us={1000: 2e3, 5000: 10e3},
        ),
        Measurement("a frame of n machines, a tenth changes", a_frame_with_changes, (5000,), limits_us={5000: 3e3}),
        Measurement("n machines told 4 events, 9 of 10 idle", ticks, (1000,), goals={"transitions": 100.0}),
        Measurement("n machines made", creation, (10_000,), limits_us={10_000: 50e3}),
        Measurement("n minds decide by 8 rules", decisions, (1000,), limits_us={1000: 20e3}),
        Measurement("n rounds of a fight learned from", learning, (1000,), limits_us={1000: 80e3}),
    ),
)
