"""Events and polling: costs of delivery, registration and cached answers."""
from __future__ import annotations

from tests.benchmarks.events.dispatch import (
    by_priority,
    made_already,
    made_new,
    once,
    to_a_squad,
    weakly,
)
from tests.benchmarks.events.polling import cached_polls, many_cached, many_missed
from tests.benchmarks.events.registering import coming_and_going
from tools.benchmarking.declarations import Measurement, Suite

CROWDS = (1, 100, 10_000)

# A bare loop calls with an event that exists; with one listener, making an Event takes longer
# than delivering it. So a bare loop is the mark for existing events, and a loop that makes the
# same data for new ones; peers make none and only hand the argument on.
SUITE = Suite(
    "events and polling beside bare loops and libraries",
    (
        Measurement(
            "existing event, to n among 100 n", made_already, CROWDS,
            goals={"bare loop": {1: 1 / 10, 100: 1 / 1.8, 10_000: 1 / 1.8}},
        ),
        Measurement(
            "new event, to n among 100 n", made_new, CROWDS,
            goals={
                "bare loop": {100: 1 / 1.8, 10_000: 1 / 1.8},
                "loop that makes the event": {1: 1 / 4, 100: 1 / 1.8, 10_000: 1 / 1.8},
                "pyee": {100: 3.0, 10_000: 3.0},
                "psygnal": {100: 3.0, 10_000: 3.0},
                "blinker": {100: 15.0, 10_000: 15.0},
            },
        ),
        Measurement(
            "event to n listeners with priorities", by_priority, CROWDS[1:], goals={"bare loop": 1 / 1.8},
        ),
        Measurement(
            "event to n listeners held weakly", weakly, CROWDS,
            goals={"bare loop": {1: 1 / 10, 100: 1 / 5, 10_000: 1 / 6}},
        ),
        Measurement("n listeners are added, called once, removed", once, CROWDS[1:], goals={"stopped by hand": 1 / 4}),
        Measurement(
            "event to a squad of 8 among n", to_a_squad, (80, 800, 8000), goals={"loop over those 8": 1 / 10},
        ),
        Measurement(
            "n listeners are added and removed", coming_and_going, (1000, 10_000, 100_000),
            goals={"set and delete in a dictionary": 1 / 30},
        ),
        Measurement("n cached polls", cached_polls, (1000,), limits_us={1000: 250.0}),
        Measurement(
            "n cached answers in one call", many_cached, (100, 1000), goals={"batch function itself": {1000: 1 / 1.3}},
        ),
        Measurement(
            "n missing answers in one call", many_missed, (100, 1000), goals={"batch function itself": {1000: 1 / 1.3}},
        ),
    ),
)
