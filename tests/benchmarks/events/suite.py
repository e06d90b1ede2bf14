"""Events: what it costs that anybody may listen to anything."""
from __future__ import annotations

from tests.benchmarks.events.dispatch import (
    by_priority,
    made_already,
    made_anew,
    once,
    to_a_squad,
    weakly,
    weakly_of_two_kinds,
)
from tests.benchmarks.events.polling import cached_polls, many_cached, many_missed
from tests.benchmarks.events.registering import coming_and_going
from tools.benchmarking.declarations import Measurement, Suite

CROWDS = (1, 100, 10_000)

# A bare loop tells an event that exists; with one listener, making an Event (what was said, by
# whom, when) takes longer than telling it. So the loop is the mark for telling, and for making
# and telling a loop that makes the same; peers make none and only hand the argument on.
SUITE = Suite(
    "events and polling beside bare loops and libraries",
    (
        Measurement(
            "event made already, to n among 100 n", made_already, CROWDS,
            goals={"bare loop": {1: 1 / 2, 100: 1 / 1.2, 10_000: 1 / 1.2}},
        ),
        Measurement(
            "event made anew, to n among 100 n", made_anew, CROWDS,
            goals={
                "bare loop": {100: 1 / 1.2, 10_000: 1 / 1.2},
                "loop that makes the event": {1: 1 / 2, 100: 1 / 1.2, 10_000: 1 / 1.2},
                "pyee": {100: 3.0, 10_000: 3.0},
                "psygnal": {100: 3.0, 10_000: 3.0},
                "blinker": {100: 15.0, 10_000: 15.0},
            },
        ),
        Measurement(
            "event to n listeners with priorities", by_priority, CROWDS[1:], goals={"bare loop": 1 / 1.2},
        ),
        Measurement(
            "event to n listeners held weakly", weakly, CROWDS,
            goals={"bare loop": {1: 1 / 2, 100: 1 / 1.2, 10_000: 1 / 1.2}},
        ),
        Measurement(  # each is called by a function of its own, not all by one
            "event to n held weakly, of two kinds", weakly_of_two_kinds, CROWDS[1:], goals={"bare loop": 1 / 1.6},
        ),
        Measurement("n listeners come, are told once, go", once, CROWDS[1:], goals={"stopped by hand": 1 / 4}),
        Measurement(
            "event to a squad of 8 among n", to_a_squad, (80, 800, 8000), goals={"loop over those 8": 1 / 8},
        ),
        Measurement(
            "n listeners come and go", coming_and_going, (1000, 10_000, 100_000),
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
