"""Polls that find nothing at once: batches and budgets."""
from __future__ import annotations

from time import thread_time_ns

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import CycleError
from ai_core.events.polling_station import PollingStation, QueryQueue
from ai_core.faults import FaultIsolation


class World:
    """A station with one topic, "t", that answers with the frame; and what was computed together."""

    def __init__(self, *, is_batched=True, **topic):
        self.clock, self.batches, self.reports = ManualClock(), [], []
        self.station = PollingStation(self.clock, faults=FaultIsolation(report=self.reports.append))
        self.elapsed_us = 0
        self.key_us = 10
        many = {"compute_many": self.compute_many} if is_batched else {}
        self.station.add_topic("t", lambda *key: self.compute_many([key])[0], **{**many, **topic})

    def compute_many(self, keys):
        self.batches.append(list(keys))
        self.elapsed_us += self.key_us * len(keys)
        return [(self.clock.now.frame, *key) for key in keys]

    def stopwatch(self):
        return self.elapsed_us * 1000

    def poll(self, *key):
        return self.station.poll("t", *key)

    def how(self, *key, **asker):
        return self.station.poll_with_age("t", *key, **asker).how

    def row(self):
        return self.station.statistics()[0]


def singles(*names):
    return [(name,) for name in names]


def test_missing_answers_are_computed_in_one_call_doubles_once():
    world = World()
    world.poll("b")
    assert world.station.poll_many("t", singles(*"abcacb")) == [(0, one) for one in "abcacb"]
    assert world.batches == [singles("b"), singles("a", "c")]
    assert (world.row().hits, world.row().misses, world.row().computations) == (4, 3, 3)
    assert world.station.poll_many("t", iter(singles(*"cc"))) == [(0, "c")] * 2
    assert (len(world.batches), world.row().hits) == (2, 6)


def test_topic_without_a_batch_computes_each_key_singly():
    world = World(is_batched=False)
    assert world.station.poll_many("t", []) == []
    assert world.station.poll_many("t", singles(*"aba")) == [(0, "a"), (0, "b"), (0, "a")]
    assert world.batches == [singles("a"), singles("b")]


def test_a_topic_may_have_a_batch_alone_and_answer_with_an_array():
    station = PollingStation(ManualClock())
    station.add_topic("even", None, compute_many=lambda keys: np.array([n for n, in keys]) % 2 == 0)
    assert station.poll_many("even", [(1,), (2,)]) == [False, True]
    assert station.poll("even", 4) is True


def test_a_batch_that_returns_nothing_is_named():
    station = PollingStation(ManualClock())
    station.add_topic("t", None, compute_many=lambda keys: None)
    with pytest.raises(TypeError, match="compute_many of topic 't' must return an answer for each key, got None"):
        station.poll_many("t", [(1,), (2,)])


def test_answers_too_few_are_a_clear_error():
    station = PollingStation(ManualClock())
    station.add_topic("t", None, compute_many=lambda keys: [1])
    with pytest.raises(ValueError, match="compute_many of topic 't' must return an answer for each of 2 keys, got 1"):
        station.poll_many("t", [(1,), (2,)])
    assert station.statistics()[0].keys == 0


@pytest.mark.parametrize(
    ("keys", "message"),
    [(["a"], r"each key of topic 't' must be a tuple, got 'a'; write \('a',\) for a key of one part"),
     ([("a",), (["b"],)], r"a key of topic 't' must be hashable, got \(\['b'\],\); use tuples"), (3, "iterable")])
def test_keys_that_are_no_keys_are_refused(keys, message):
    world = World()
    world.poll("a")
    with pytest.raises(TypeError, match=message):
        world.station.poll_many("t", keys)


def test_a_batch_that_fails_gets_the_fallback_and_is_one_failure():
    world = World(fallback="unknown")
    world.compute_many = None
    world.station.remove_topic("t")
    world.station.add_topic("t", None, compute_many=lambda keys: 1 / 0, fallback="unknown")
    assert world.station.poll_many("t", singles("a", "b")) == ["unknown"] * 2
    assert world.row().failures == 1
    assert [one.name for one in world.reports] == ["topic t('a') and 1 more"]


def test_batch_that_needs_its_own_answer_names_the_cycle():
    station = PollingStation(ManualClock())
    station.add_topic("all", None, compute_many=lambda keys: [station.poll("one", *key) for key in keys])
    station.add_topic("one", lambda n: station.poll("all", 2))
    with pytest.raises(CycleError, match=r"all\(2\) needs its own answer: all\(2\) -> one\(1\) -> all\(2\)"):
        station.poll_many("all", [(1,), (2,)])


def test_answer_needed_by_another_is_not_computed_twice():
    computed = []

    def up_to(n):
        computed.append(n)
        return n + (station.poll("sum", n - 1) if n else 0)

    station = PollingStation(ManualClock())
    station.add_topic("sum", up_to)
    assert station.poll_many("sum", [(3,), (2,), (4,)]) == [6, 3, 10]
    assert computed == [3, 2, 1, 0, 4]


def test_over_budget_answers_are_old_or_fallback_and_queue():
    world = World(fallback="unknown")
    world.station.poll_many("t", singles(*"ab"))
    world.clock.advance(3)
    world.station.begin_frame(Budget.of_steps(1))
    assert world.station.poll_many("t", singles(*"dcab")) == [(3, "d"), "unknown", (0, "a"), (0, "b")]
    stale = world.station.poll_with_age("t", "a")
    assert (stale.value, stale.age_frames, stale.how, stale.is_stale) == ((0, "a"), 3, "stale", True)
    assert world.station.poll_with_age("t", "c") == ("unknown", None, "fallback")
    assert (world.row().stale, world.row().waiting, world.station.waiting) == (5, 3, 3)

    world.clock.advance()
    world.batches.clear()
    world.station.begin_frame(Budget.of_steps(2))
    assert world.batches == [singles(*"ca")]
    assert [world.how(one) for one in "abc"] == ["cached", "stale", "cached"]
    world.clock.advance()
    world.station.begin_frame(Budget.of_steps(2))
    assert world.batches[1:] == [singles("b")]
    assert world.how("e") == "computed"
    assert world.how("f") == "fallback"


def test_a_frame_that_was_not_begun_has_no_limit():
    world = World(fallback=0)
    world.station.begin_frame(Budget.of_steps(0))
    assert world.how("a") == "fallback"
    world.clock.advance()
    assert world.how("a") == "computed"
    assert world.station.waiting == 0  # it has been answered


def test_answer_without_old_value_or_fallback_is_still_computed():
    world = World()
    world.station.begin_frame(Budget.of_steps(0))
    assert world.station.poll_many("t", singles(*"ab")) == [(0, "a"), (0, "b")]
    assert world.batches == [singles(*"ab")]


def test_time_counts_only_while_computing():
    world = World(is_batched=False, fallback=0)
    world.station.begin_frame(Budget.of_time(25, world.stopwatch))
    world.elapsed_us += 1000  # the game does something else
    assert [world.how(one) for one in "abcd"] == ["computed"] * 3 + ["fallback"]


def test_batch_under_a_time_budget_stops_where_it_is_spent():
    world = World(fallback=0)
    world.station.begin_frame(Budget.of_time(300, world.stopwatch))
    told = world.station.poll_many("t", [(n,) for n in range(100)])
    assert [len(batch) for batch in world.batches] == [16, 14]
    assert told == [(0, n) for n in range(30)] + [0] * 70
    world.clock.advance()
    world.station.begin_frame(Budget.of_time(400, world.stopwatch))
    assert world.batches[-1] == [(n,) for n in range(30, 70)]


def test_a_part_of_an_allowed_computation_is_never_old():
    station = PollingStation(ManualClock())
    station.add_topic("part", lambda n: n, fallback="unknown")
    station.add_topic("whole", lambda: [station.poll("part", n) for n in range(3)])
    station.begin_frame(Budget.of_steps(1))
    assert station.poll("whole") == [0, 1, 2]
    assert station.poll("part", 7) == "unknown"


def test_advance_reports_a_failure_and_goes_on():
    world = World(is_batched=False, fallback="unknown")
    world.station.add_topic("bad", lambda: 1 / 0, fallback=None)
    world.station.begin_frame(Budget.of_steps(0))
    world.station.poll("bad")
    world.poll("a")
    world.station.advance(Budget.unlimited())
    assert (world.station.waiting, world.batches) == (0, [singles("a")])
    assert [one.name for one in world.reports] == ["topic bad()"]


def test_advance_from_inside_a_computation_is_refused():
    world = World()
    world.station.add_topic("loop", lambda: world.station.advance(Budget.unlimited()))
    with pytest.raises(RuntimeError, match="advance was called from inside a computation"):
        world.station.poll("loop")


def test_waiting_questions_are_bounded_and_leave_with_the_topic():
    world = World(fallback=0, max_keys=3)
    world.station.begin_frame(Budget.of_steps(0))
    for n in range(9):
        world.poll(n)
    assert world.row().waiting == 3
    world.station.remove_topic("t")
    assert world.station.waiting == 0


def test_beyond_the_maximum_the_oldest_sixteenth_goes_at_once():
    world = World(lifetime_frames=None, max_keys=32)
    world.station.poll_many("t", [(n,) for n in range(32)])
    world.clock.advance()
    world.poll("new")
    assert world.row().keys == 31
    world.batches.clear()
    world.station.poll_many("t", [(n,) for n in range(5)])
    assert world.batches == [[(0,), (1,)]]
    world.station.poll_many("t", [(-n,) for n in range(100)])
    world.clock.advance()
    world.poll("newer")
    assert world.row().keys <= 32


def test_waiting_queries_are_taken_at_a_constant_cost():
    station = PollingStation(ManualClock())
    station.add_topic("t", lambda key: key, max_keys=40_000, fallback=None)
    topic, waiting = station._topics["t"], QueryQueue()
    for key in range(40_000):
        waiting.add(topic, (key,))

    def taken_ns(count):
        began_ns = thread_time_ns()
        for _ in range(count):
            waiting.take(1)
        return thread_time_ns() - began_ns

    early_ns = taken_ns(2000)
    taken_ns(30_000)
    assert taken_ns(2000) < 5 * early_ns      # a plain dict walks over the keys removed before: 20 times as long


def test_an_old_answer_is_returned_though_others_displace_it():
    clock = ManualClock()
    station = PollingStation(clock)
    station.add_topic("t", lambda key: [key, clock.now.frame], lifetime_frames=1, max_keys=2)
    assert station.poll_many("t", [(0,), (1,)]) == [[0, 0], [1, 0]]
    clock.advance()
    station.begin_frame(Budget.of_steps(0))
    assert station.poll_many("t", [(0,), (5,), (6,), (7,)]) == [[0, 0], [5, 1], [6, 1], [7, 1]]
    assert station.poll_with_age("t", 6).how == "cached"
