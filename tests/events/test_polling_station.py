"""The polling station: what is computed, what is kept, and for how long?"""
from __future__ import annotations

import contextlib

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import CycleError, UnknownNameError
from ai_core.events.event_manager import EventManager
from ai_core.events.polling_station import Answer, PollingStation
from ai_core.faults import FaultIsolation


class Oracle:
    """Answers with how often it was asked, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, *key):
        self.asked.append(key)
        return len(self.asked)


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def station(clock):
    return PollingStation(clock)


@pytest.fixture
def oracle():
    return Oracle()


def test_an_answer_is_computed_once_a_frame_however_many_ask(station, clock, oracle):
    station.add_topic("flag_is_safe", oracle)
    assert [station.poll("flag_is_safe") for _ in range(5)] == [1] * 5
    clock.advance()
    assert station.poll("flag_is_safe") == 2


def test_each_key_has_its_own_answer(station, oracle):
    station.add_topic("can_see", oracle)
    assert station.poll("can_see", "guard", "thief") == 1
    assert station.poll("can_see", "thief", "guard") == 2
    assert station.poll("can_see", "guard", "thief") == 1
    assert oracle.asked == [("guard", "thief"), ("thief", "guard")]


def test_answer_stays_fresh_for_its_lifetime_and_no_frame_longer(station, clock, oracle):
    station.add_topic("path_length", oracle, lifetime_frames=3)
    answers = []
    for _ in range(7):
        answers.append(station.poll("path_length"))
        clock.advance()
    assert answers == [1, 1, 1, 2, 2, 2, 3]


def test_answer_without_a_lifetime_is_kept_until_invalidated(station, clock, oracle):
    station.add_topic("doors", oracle, lifetime_frames=None)
    station.poll("doors")
    clock.advance(10**9)
    assert station.poll("doors") == 1
    station.invalidate("doors")
    assert station.poll("doors") == 2


def test_a_lifetime_of_zero_keeps_nothing(station, oracle):
    station.add_topic("dice", oracle, lifetime_frames=0)
    assert [station.poll("dice") for _ in range(3)] == [1, 2, 3]
    assert station.statistics()[0].keys == 0


def test_none_and_false_are_answers_like_others(station):
    calls = []
    station.add_topic("target", lambda *key: calls.append(key))
    assert station.poll("target") is None
    assert station.poll("target") is None
    assert len(calls) == 1


@pytest.mark.parametrize("lifetime_frames", [10, None])
def test_answer_from_a_future_that_was_unloaded_is_not_fresh(oracle, lifetime_frames):
    class Clock:
        now = ManualClock().advance(100)

    clock = Clock()
    station = PollingStation(clock)
    station.add_topic("t", oracle, lifetime_frames=lifetime_frames)
    station.poll("t")
    clock.now = ManualClock().advance(5)
    assert station.poll("t") == 2


def test_invalidating_affects_one_key_or_all_if_none_is_given(station, oracle):
    station.add_topic("t", oracle, lifetime_frames=None)
    station.poll("t", "a")
    station.poll("t", "b")

    station.invalidate("t", "a")
    assert (station.poll("t", "a"), station.poll("t", "b")) == (3, 2)
    station.invalidate("t")
    assert (station.poll("t", "a"), station.poll("t", "b")) == (4, 5)


def test_an_answer_invalidated_while_it_is_computed_is_not_kept(station):
    answers = iter(["old", "new"])

    def compute():
        station.invalidate("t")
        return next(answers)

    station.add_topic("t", compute, lifetime_frames=None)
    assert station.poll("t") == "old"
    assert station.poll("t") == "new"


def test_memory_is_bounded_and_the_oldest_answer_goes_first(station, clock, oracle):
    station.add_topic("t", oracle, lifetime_frames=None, max_keys=2)
    for key in "abac":
        station.poll("t", key)
        clock.advance()

    assert station.statistics()[0].keys == 2
    assert station.poll("t", "b") == 2
    assert station.poll("t", "a") == 4  # was dropped for "c"


@pytest.mark.parametrize("is_batched", [True, False])
def test_over_maximum_no_answer_is_computed_twice_in_a_frame(station, clock, is_batched):
    asked = []

    def compute(keys):
        asked.extend(keys)
        return [key[0] for key in keys]

    if is_batched:
        station.add_topic("t", None, compute_many=compute, max_keys=4)
    else:
        station.add_topic("t", lambda key: compute([(key,)])[0], max_keys=4)
    keys = [(number,) for number in range(100)]
    for _ in range(3):
        asked.clear()
        for part in (keys[:50], keys, keys[::-1]):
            station.poll_many("t", part)
            assert [station.poll("t", *key) for key in part] == [key[0] for key in part]
        assert sorted(asked) == keys
        clock.advance()
    station.poll("t", 1)
    assert station.statistics()[0].keys <= 4


def test_over_maximum_no_answer_is_repeated_in_a_saved_frame(clock, oracle):
    first, second = PollingStation(clock), PollingStation(clock)
    for station in (first, second):
        station.add_topic("t", oracle, max_keys=2)
    told = [first.poll("t", key) for key in "abcde"]
    second.prepare_state(first.save_state())()
    assert [second.poll("t", key) for key in "abcde"] == told


def test_an_answer_computed_again_is_the_newest(station, clock, oracle):
    station.add_topic("t", oracle, max_keys=2)
    station.poll("t", "a")
    station.poll("t", "b")
    clock.advance()
    station.poll("t", "a")
    station.poll("t", "c")  # drops "b", which is older now
    assert station.poll("t", "a") == 3


def test_polling_inside_its_own_computation_names_the_cycle(station):
    station.add_topic("safe", lambda who: station.poll("covered", who))
    station.add_topic("covered", lambda who: station.poll("seen", who, 2))
    station.add_topic("seen", lambda who, by: not station.poll("safe", who))

    with pytest.raises(
        CycleError,
        match=r"safe\('bob'\) needs its own answer: safe\('bob'\) -> covered\('bob'\)"
        r" -> seen\('bob', 2\) -> safe\('bob'\)"):
        station.poll("safe", "bob")


def test_after_a_cycle_polling_works_and_another_key_is_no_cycle(station):
    station.add_topic("factorial", lambda n: n * station.poll("factorial", n - 1) if n else 1)
    station.add_topic("self", lambda: station.poll("self"))
    for _ in range(2):
        with pytest.raises(CycleError):
            station.poll("self")
    assert station.poll("factorial", 5) == 120


def test_error_is_raised_to_the_caller_and_not_cached(station):
    attempts = []

    def compute():
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("no physics space yet")
        return "clear"

    station.add_topic("ray", compute)
    with pytest.raises(OSError, match="no physics space yet"):
        station.poll("ray")
    assert station.poll("ray") == "clear"


def test_a_topic_with_a_fallback_reports_and_answers_with_it(clock):
    reports = []
    faults = FaultIsolation(report=reports.append)
    station = PollingStation(clock, faults=faults)
    works = []

    def compute(key):
        if not works:
            raise OSError("no map")
        return key

    station.add_topic("reachable", compute, fallback=False)

    assert [station.poll("reachable", 7) for _ in range(5)] == [False] * 5
    assert [fault.name for fault in reports] == ["topic reachable(7)"] * 3
    assert reports[-1].is_quarantined

    works.append(True)
    faults.release((station, "reachable"))
    assert station.poll("reachable", 7) == 7


def test_a_topic_without_fallback_is_computed_after_failures(clock):
    reports, works, answers = [], [], {}
    station = PollingStation(clock, faults=FaultIsolation(report=reports.append))

    def compute(key):
        if not works:
            raise OSError("no map")
        return clock.now.frame

    station.add_topic("reachable", compute)
    works.append(True)
    for key in (1, 2):
        station.poll("reachable", key)
    for frame in range(1, 12):
        clock.advance()
        works[:] = [True] * (frame > 8)
        station.begin_frame(Budget.of_steps(1))
        for key in (1, 2):
            with contextlib.suppress(OSError):
                answers[key] = station.poll("reachable", key)
    assert len(reports) > 3
    assert not any(fault.is_quarantined for fault in reports)
    assert max(answers.values()) == clock.now.frame


def test_a_quarantined_topic_takes_no_step_of_others(clock):
    station = PollingStation(clock, faults=FaultIsolation(report=lambda fault: None))
    station.add_topic("bad", lambda key: 1 / 0, fallback=0)
    for _ in range(3):
        station.poll("bad", 1)
    clock.advance()
    station.begin_frame(Budget.of_steps(0))
    station.poll("bad", 1)
    clock.advance()
    budget = Budget.of_steps(1)
    station.begin_frame(budget)
    assert budget.left == 1


def test_statistics_count_hits_misses_computations_failures_keys(station, oracle):
    station.add_topic("good", oracle)
    station.add_topic("bad", lambda: 1 / 0)
    for key in (1, 1, 2):
        station.poll("good", key)
    with pytest.raises(ZeroDivisionError):
        station.poll("bad")
    assert station.statistics() == [
        ("good", 1, 2, 2, 0, 2, 0, 0), ("bad", 0, 1, 1, 1, 0, 0, 0)]


def test_an_unknown_topic_is_an_error_that_lists_close_ones(station, oracle):
    station.add_topic("can_see", oracle)
    for use in (station.poll, station.poll_with_age, station.invalidate, station.remove_topic,
                lambda code: station.poll_many(code, [])):
        with pytest.raises(UnknownNameError, match=r"'cansee'; did you mean 'can_see'\?"):
            use("cansee")


def test_topic_can_be_replaced_but_not_added_twice(station, oracle):
    station.add_topic("t", oracle)
    with pytest.raises(ValueError, match=r"topic 't' already exists; call remove_topic\(\) first"):
        station.add_topic("t", oracle)
    station.poll("t")
    station.remove_topic("t")
    station.add_topic("t", lambda: "fresh")
    assert station.poll("t") == "fresh"
    assert station.codes == ("t",)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"code": ""}, TypeError, "code must be a non-empty string, got ''"),
        ({"compute": 3}, TypeError, "compute must be callable, got 3"),
        ({"lifetime_frames": -1}, ValueError, "lifetime_frames must be at least 0, got -1"),
        ({"lifetime_frames": 1.5}, TypeError, "lifetime_frames must be an integer"),
        ({"max_keys": 0}, ValueError, "max_keys must be at least 1, got 0; use life"),
        ({"compute": None}, TypeError, "compute must be callable, got None"),
        ({"compute_many": 3}, TypeError, "compute_many must be callable or None, got 3"),
        ({"lifetime_frames": True}, TypeError, "lifetime_frames must be an integer, got True"),
        ({"lifetime_s": 0}, ValueError, "lifetime_s must be at least 1e-06, got 0"),
        ({"lifetime_s": float("nan")}, ValueError, "lifetime_s must be a finite number"),
        ({"lifetime_s": 2, "lifetime_frames": 2}, ValueError, "lifetime_s is 2 and lifetime_frames 2; set only one")])
def test_a_topic_that_makes_no_sense_is_refused(station, change, error, message):
    topic = {"code": "t", "compute": print, **change}
    with pytest.raises(error, match=message):
        station.add_topic(topic.pop("code"), topic.pop("compute"), **topic)
    assert station.codes == ()


def test_a_key_or_a_code_that_cannot_be_hashed_is_a_clear_error(station, oracle):
    station.add_topic("t", oracle)
    with pytest.raises(TypeError,
        match=r"a key of topic 't' must be hashable, got \(\[1\],\); use tuples in place of lists"):
        station.poll("t", [1])
    with pytest.raises(TypeError, match="a key of topic 't' must be hashable"):
        station.poll_many("t", [([1],)])
    with pytest.raises(UnknownNameError, match=r"unknown topic \[\]"):
        station.poll([])


def test_lifetime_in_seconds_is_game_time_despite_rounding(station, clock, oracle):
    station.add_topic("t", oracle, lifetime_s=0.1)
    answers = []
    for _ in range(300):
        answers.append(station.poll("t"))
        clock.advance()
    assert answers == [1 + frame // 6 for frame in range(300)]
    assert station.poll("t") == 51
    clock.advance(seconds=10)
    assert station.poll("t") == 52


def test_an_event_invalidates_the_answers_it_concerns(station, oracle):
    class Events:
        def listen(self, codes, handler):
            self.codes, self.deliver = codes, handler
            return "the listening"

    events, doors = Events(), Events()
    for code in ("can_see", "path_length"):
        station.add_topic(code, oracle, lifetime_frames=None)
    assert station.invalidate_on(events, "wall_fell", ("can_see", "path_length")) == "the listening"
    assert events.codes == "wall_fell"
    station.invalidate_on(doors, ["opened", "closed"], "path_length", key=lambda room: (room,))

    def ask():
        return [station.poll("can_see", 1), station.poll("path_length", 1), station.poll("path_length", 2)]

    assert ask() == ask() == [1, 2, 3]
    doors.deliver(2)
    assert ask() == [1, 2, 4]
    events.deliver("which wall is all the same")
    assert ask() == [5, 6, 7]
    station.remove_topic("can_see")
    events.deliver("a topic that is gone is passed over")
    assert station.poll("path_length", 1) == 8


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [((3, "e", "t"), TypeError, r"events must have a method listen\(codes, handler\), got 3"),
     ((EventManager(ManualClock()), "e", "x"), UnknownNameError, "unknown topic 'x'")])
def test_what_cannot_be_listened_to_is_refused(station, oracle, arguments, error, message):
    station.add_topic("t", oracle)
    with pytest.raises(error, match=message):
        station.invalidate_on(*arguments)
    with pytest.raises(TypeError, match="key must be callable or None, got 1"):
        station.invalidate_on(EventManager(ManualClock()), "e", "t", key=1)


def test_event_of_a_manager_invalidates_answers(clock, oracle):
    events, station = EventManager(clock), PollingStation(clock)
    station.add_topic("t", oracle, lifetime_frames=None)
    listening = station.invalidate_on(events, "wall_fell", "t")
    assert station.poll("t") == 1
    events.send_now("wall_fell")
    assert station.poll("t") == 2
    listening.stop()
    events.send_now("wall_fell")
    assert station.poll("t") == 2


def test_a_cached_answer_has_an_age_and_an_origin(station, clock, oracle):
    station.add_topic("t", oracle, lifetime_frames=5)
    assert station.poll_with_age("t") == Answer(1, 0, "computed")
    clock.advance(3)
    answer = station.poll_with_age("t")
    assert (answer.value, answer.age_frames, answer.how, answer.is_stale) == (1, 3, "cached", False)


@pytest.mark.parametrize("key", ["yard", ["yard"], 3])
def test_what_an_event_concerns_must_be_a_tuple(station, oracle, key):
    errors = []
    events = EventManager(ManualClock(), faults=FaultIsolation(report=lambda fault: errors.append(fault.error)))
    station.add_topic("t", oracle, lifetime_frames=None)
    station.poll("t", *"yard")
    station.invalidate_on(events, "fell", "t", key=lambda event: key)
    events.send_now("fell")
    assert "key of invalidate_on must return a tuple or None, got" in str(errors[0])
    assert station.poll("t", *"yard") == 1  # nothing was invalidated by its letters


def test_a_key_that_cannot_be_hashed_cannot_be_invalidated(station, oracle):
    station.add_topic("t", oracle)
    with pytest.raises(TypeError,
        match=r"a key of topic 't' must be hashable, got \(\[1\],\); use tuples in place of lists"):
        station.invalidate("t", [1])
