"""Time of day: who asked for 17:00 is told at 17:00, once."""
from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.events.time_of_day import DAY_S, TimeOfDay, seconds_of
from ai_core.saving.fields import StateError

HOUR_S = 10.0
"""Game time of an hour in these tests (s)."""


class Town:
    def __init__(self, starts_at="08:00"):
        self.clock = ManualClock(0.25)
        self.day = TimeOfDay(
            self.clock, day_length_s=24 * HOUR_S, starts_at=starts_at, names={"dawn": "06:00", "dusk": "20:00"})
        self.told = []

    def ask(self, time, **settings):
        name = settings.setdefault("name", time)
        return self.day.listen(time, lambda event: self.told.append((name, *event.arguments)), **settings)

    def live(self, hours, steps=99):
        for _ in range(round(hours * HOUR_S / 0.25)):
            self.clock.advance()
            self.day.advance(Budget.of_steps(steps))
        told, self.told = self.told, []
        return told

    def save(self):
        return json.loads(json.dumps([self.clock.save_state(), self.day.save_state()]))

    def load(self, state):
        for part, saved in zip((self.clock, self.day), state, strict=True):
            part.prepare_state(saved)()


@pytest.fixture
def town():
    return Town()


def test_time_of_day_is_delivered_once_and_not_every_frame(town):
    town.ask("17:00")
    assert town.live(8.9) == []
    assert town.live(0.1) == [("17:00", 0, 1)]
    assert str(town.day) == "17:00"
    assert town.live(48) == []


def test_dawn_comes_every_day_until_it_is_stopped(town):
    listening = town.ask("dawn", every_day=True)
    assert town.live(72) == [("dawn", 1, 1), ("dawn", 2, 1), ("dawn", 3, 1)]
    listening.stop()
    assert town.live(24) == []


def test_request_for_the_present_minute_is_served_tomorrow(town):
    town.ask("08:00")
    assert town.live(23.9) == []
    assert town.live(0.1) == [("08:00", 1, 1)]


def test_listener_added_at_its_time_waits_for_the_next_day(town):
    for name in "ab":
        town.ask("17:00", name=name, every_day=True)
    town.live(8.9)
    assert town.live(0.1, steps=1) == [("a", 0, 1)]
    town.ask("17:00", name="late")
    assert town.live(1) == [("b", 0, 1)]
    assert [one[0] for one in town.live(24)] == ["a", "b", "late"]


def test_request_in_the_frame_just_past_is_served_tomorrow(town):
    town.ask("17:00", name="in time")
    for _ in range(round(9.5 * HOUR_S / 0.25)):
        town.clock.advance()
    town.ask("17:00", name="late")
    assert town.live(0.1) == [("in time", 0, 1)]
    assert town.live(24) == [("late", 1, 1)]


def test_moments_arrive_in_order_whatever_the_order_of_requests(town):
    for time in ("20:00", "9:30", "dusk", "12:00:30", "12:00"):
        town.ask(time)
    town.day.jump_to("23:00")
    assert [one[0] for one in town.live(0.1)] == ["9:30", "12:00", "12:00:30", "20:00", "dusk"]


def test_forward_jump_delivers_passed_moments_once_for_many_days(town):
    town.ask("dawn", every_day=True)
    town.ask("17:00")
    town.day.jump_to("07:00", day=3)
    assert town.live(0.1) == [("17:00", 2, 3), ("dawn", 3, 3)]
    assert town.live(23) == [("dawn", 4, 1)]


def test_backward_jump_delivers_nothing_and_repeats_later_ones(town):
    town.ask("dawn", every_day=True)
    once = town.ask("09:00")
    town.live(2)
    assert not once.is_active
    town.day.jump_to("05:00")
    assert town.live(0.9) == []
    assert town.live(0.1) == [("dawn", 0, 1)]
    assert town.live(10) == []


def test_moments_before_a_jump_in_the_same_frame_still_arrive(town):
    town.ask("09:00")
    for _ in range(round(1.5 * HOUR_S / 0.25)):
        town.clock.advance()
    town.day.jump_to("07:00")
    assert [one[0] for one in town.live(0.1)] == ["09:00"]


def test_handler_that_jumps_to_tomorrow_is_called_once_a_frame(town):
    def sleep(event):
        town.told.append(event.arguments[0])
        town.day.jump_to("22:00", day=town.day.day + 1)

    town.day.listen("22:00", sleep, every_day=True)
    town.day.jump_to("22:00")
    for day in range(4):
        town.day.advance(Budget.unlimited())
        assert town.told == [*range(day + 1)]


def test_handler_can_ask_for_the_time_and_listen_again(town):
    def wake(event):
        town.day.update()
        town.told.append((str(town.day), town.day.listen_again(listening)))

    listening = town.day.listen("09:00", wake)
    assert town.live(49) == [("09:00", True)] * 3


def test_times_that_no_budget_pays_for_are_refused():
    clock = ManualClock(1.0)
    day = TimeOfDay(clock, day_length_s=1.0, max_queued=10)
    day.listen("17:00", lambda event: None, every_day=True)
    for _ in range(30):
        clock.advance()
        day.advance(Budget.of_steps(0))
    assert (day.events.queue_length, day.events.counts.refused) == (10, 20)


def test_time_may_run_fast_and_slow(town):
    town.ask("dawn", every_day=True)
    town.day.day_length_s = HOUR_S
    assert town.live(3) == [("dawn", 1, 1), ("dawn", 2, 1), ("dawn", 3, 1)]
    time_s = town.day.time_s
    town.day.day_length_s = 24 * 24 * HOUR_S
    assert town.day.time_s == pytest.approx(time_s)
    assert town.live(24) == []


def test_clock_that_goes_back_by_itself_delivers_nothing(town):
    early = town.clock.save_state()
    town.ask("09:00", every_day=True)
    assert len(town.live(2)) == 1
    town.clock.prepare_state(early)()
    assert town.live(0.9) == []
    assert len(town.live(0.2)) == 1


def test_moment_at_a_frame_edge_arrives_then_despite_rounding():
    for frames_a_second in (30, 60, 144):
        clock, told = ManualClock(1 / frames_a_second), []
        day = TimeOfDay(clock, day_length_s=1200)
        day.listen("17:00", told.append)
        clock.advance(850 * frames_a_second - 1)
        day.advance(Budget.unlimited())
        assert told == []
        clock.advance()
        day.advance(Budget.unlimited())
        assert len(told) == 1


@pytest.mark.parametrize("hours", [0, 1, 8.9, 9, 9.1, 30])
def test_loaded_day_delivers_the_remaining_times(hours):
    first, second = Town(), Town("03:00")
    for town in (first, second):
        town.ask("17:00", every_day=True, name="a")
        town.ask("17:00", every_day=True, name="b")
        town.ask("dawn", every_day=True)
    first.live(hours, steps=1)
    second.load(first.save())
    assert second.live(30) == first.live(30)
    assert second.day.day == first.day.day
    assert second.save() == first.save()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("day_length_s", 0, "'day_length_s' must be at least 0.001"),
        ("began_s", -1, "'began_s' must be at least 0"),
        ("updated_s", math.nan, "'updated_s' must be a finite number"),
        ("events", {}, "'version' is missing"),
        ("version", 2, "'version' is 2, and this ai_core reads up to 1")])
def test_a_state_that_cannot_be_is_refused(town, name, value, message):
    before = town.save()
    state = town.save()
    state[1][name] = value
    with pytest.raises(StateError, match=message):
        town.load(state)
    assert town.save() == before


@pytest.mark.parametrize("time", ["24:00", "12:60", "12:00:60", "12", "1200", "", "5 pm", "-1:00"])
def test_what_is_no_time_of_a_day_is_refused(town, time):
    with pytest.raises((ValueError, UnknownNameError), match=r"a time of day must be|unknown time of day"):
        town.ask(time)
    with pytest.raises(ValueError, match="a time of day must be from '00:00' to '23:59:59'"):
        seconds_of(time)


def test_other_misuse_is_refused(town):
    with pytest.raises(TypeError, match="a time of day must be a string like '17:00', got 17"):
        town.day.listen(17, print)
    with pytest.raises(UnknownNameError, match="unknown time of day 'dwan'; did you mean 'dawn'"):
        town.ask("dwan")
    with pytest.raises(TypeError, match="handler must be callable"):
        town.day.listen("17:00", "go home")
    with pytest.raises(ValueError, match="day must be at least 0"):
        town.day.jump_to("17:00", day=-1)
    for length in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="day_length_s must be"):
            town.day.day_length_s = length


steps = st.one_of(
    st.tuples(st.just("live"), st.integers(1, 200)),
    st.tuples(st.just("jump"), st.integers(0, 23), st.integers(0, 3)),
    st.tuples(st.just("reload")))


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.lists(st.integers(0, 23), min_size=1, max_size=4, unique=True), st.lists(steps, max_size=10))
def test_times_between_two_updates_are_delivered(hours, script):
    clock = ManualClock(0.25)
    day, told, wanted = TimeOfDay(clock, day_length_s=24 * HOUR_S), [], []
    for hour in hours:
        day.listen(
            f"{hour:02}:00", lambda event, hour=hour: told.append((hour, *event.arguments)),
            every_day=True, name=str(hour))
    look = now = 0  # in quarters of seconds of the game; an hour has 40
    for name, *arguments in script:
        if name == "live":
            clock.advance(arguments[0])
            now += arguments[0]
        elif name == "jump":
            hour, to_day = arguments
            now = (to_day * 24 + hour) * 40
            day.jump_to(f"{hour:02}:00", day=to_day)
        else:
            day.prepare_state(json.loads(json.dumps(day.save_state())))()
        passed = {}
        for moment in range(look + 1, now + 1):
            if moment % 40 == 0 and moment // 40 % 24 in hours:
                passed.setdefault(moment // 40 % 24, []).append(moment // 960)
        found = [(days[-1] * 960 + hour * 40, hour, days[-1], len(days)) for hour, days in passed.items()]
        wanted += [one[1:] for one in sorted(found)]
        look = now
        day.advance(Budget.unlimited())
        assert told == wanted
    assert day.time_s == pytest.approx(now * 90 % DAY_S, abs=1e-3)


@pytest.mark.parametrize("name", ["*", "", "17", 3])
def test_ambiguous_name_is_refused(name):
    with pytest.raises(ValueError, match="the name of a time must be a non-empty string that is not '\\*' and does"):
        TimeOfDay(ManualClock(), day_length_s=24, names={name: "06:00"})


def test_a_day_needs_a_budget():
    with pytest.raises(TypeError, match="budget must be a Budget, got 1"):
        TimeOfDay(ManualClock(), day_length_s=24).advance(1)


@pytest.mark.parametrize(("frames", "time"), [(1012, "23:09"), (1431, "23:57"), (1416, "23:01"), (1304, "23:50")])
def test_at_midnight_the_day_is_that_which_handlers_are_told(frames, time):
    clock, told = ManualClock(1 / 60), []
    day = TimeOfDay(clock, day_length_s=24.0)
    day.listen("00:00", lambda event: told.append((event.arguments[0], day.day, str(day), day.time_s)))
    for _ in range(frames):
        clock.advance()
    day.jump_to(time)
    while not told:
        clock.advance()
        day.advance(Budget.unlimited())
    assert told == [(1, 1, "00:00", 0.0)]
