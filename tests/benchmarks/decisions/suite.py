"""Decisions: state machines, rules and adaptation, as many as a game has."""
from __future__ import annotations

from tests.benchmarks.decisions.habits import (
    batched,
    built_in,
    four_habits,
    made,
    running,
    ten_habits,
    waiting,
)
from tests.benchmarks.decisions.habits import (
    decisions as habit_decisions,
)
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
        Measurement(
            "n characters decide by ten habits", habit_decisions(ten_habits), (1000,), goals={"py_trees": 50.0},
            limits_us={1000: 1.5e3},
        ),
        Measurement(
            "n characters decide the same by four", habit_decisions(four_habits), (1000, 5000),
            goals={"py_trees": 50.0}, limits_us={1000: 1.5e3, 5000: 9.75e3},
        ),
        Measurement("n characters decide by ten built-in habits", built_in, (1000,), limits_us={1000: 1e3}),
        Measurement("n characters go on with a leaf", running, (1000, 5000), limits_us={1000: 0.5e3, 5000: 3.25e3}),
        Measurement("a frame of n characters that wait", waiting, (100, 10_000), limits_us={100: 10.0, 10_000: 10.0}),
        Measurement("n characters in one batch", batched, (1000,), goals={"one by one": 5.0}),
        Measurement("n characters made", made, (10_000,), limits_us={10_000: 50e3}),
        Measurement("n machines made", creation, (10_000,), limits_us={10_000: 50e3}),
        Measurement("n minds decide by 8 rules", decisions, (1000,), limits_us={1000: 20e3}),
        Measurement("n rounds of a fight learned from", learning, (1000,), limits_us={1000: 80e3}),
    ),
)
