"""The event manager: who is told what, when, and in which order?"""
from __future__ import annotations

import math

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.events.event_manager import EventManager
from ai_core.trace import Trace


@pytest.fixture
def clock():
    return ManualClock(seconds_per_frame=0.1)


@pytest.fixture
def events(clock):
    return EventManager(clock)


class Diary:
    """A listener that writes down the first argument of what it hears."""

    def __init__(self):
        self.heard = []

    def write(self, event):
        self.heard.append(event.arguments[0])


def dispatch(events):
    events.advance(Budget.unlimited())


def test_listener_receives_its_codes_and_no_others(events):
    diary = Diary()
    events.listen(["door_opened", "door_closed"], diary.write)

    events.send("door_opened", "east")
    events.send("alarm", "loud")
    events.send("door_closed", "west")
    dispatch(events)

    assert diary.heard == ["east", "west"]


def test_event_has_code_payload_sender_and_time(events, clock):
    heard = []
    events.listen("shot", heard.append)
    clock.advance(3)

    sent = events.send("shot", "pistol", 4.5, sender="guard", delay_s=0.2)
    clock.advance(2)
    dispatch(events)

    assert heard == [sent]
    assert sent.code == "shot"
    assert sent.arguments == ("pistol", 4.5)
    assert sent.sender == "guard"
    assert sent.sent_at_s == (3, pytest.approx(0.3))
    assert sent.due_at_s == pytest.approx(0.5)


def test_nothing_is_delivered_before_advance_except_by_send_now(events):
    diary = Diary()
    events.listen("noise", diary.write)

    events.send("noise", "queued")
    events.send_now("noise", "at once")
    assert diary.heard == ["at once"]

    dispatch(events)
    assert diary.heard == ["at once", "queued"]


def test_a_delayed_event_comes_in_the_frame_it_is_due(events, clock):
    diary = Diary()
    events.listen("bell", diary.write)
    clock.advance(6)
    events.send("bell", "noon", delay_s=0.3)  # 0.6 + 0.3 is above 0.9 in floats

    clock.advance(2)
    dispatch(events)
    assert diary.heard == []
    clock.advance(1)
    dispatch(events)
    assert diary.heard == ["noon"]


def test_first_expiring_of_three_delayed_events_is_delivered(events, clock):
    diary = Diary()
    events.listen("timer", diary.write)
    for name, delay_s in [("third", 0.3), ("first", 0.1), ("second", 0.2)]:
        events.send("timer", name, delay_s=delay_s)

    clock.advance(1)
    dispatch(events)

    assert diary.heard == ["first"]
    assert events.queue_length == 2


def test_events_due_at_the_same_time_stay_first_in_first_out(events, clock):
    diary = Diary()
    events.listen("order", diary.write)
    for number in range(50):
        events.send("order", number, delay_s=0.5)

    clock.advance(10)
    dispatch(events)

    assert diary.heard == list(range(50))


def test_listeners_of_one_event_are_called_in_order(events):
    told = []
    for name in "abc":
        events.listen("x", lambda event, name=name: told.append(name))
    events.send_now("x")
    assert told == ["a", "b", "c"]


def test_removing_a_listener_mid_broadcast_skips_only_that_one(events):
    told = []
    listenings = {}

    def listener(name, stops=()):
        def hear(event):
            told.append(name)
            for other in stops:
                listenings[other].stop()

        listenings[name] = events.listen("x", hear)

    listener("first")
    listener("stopper", stops=["stopper", "first", "victim"])
    listener("victim")
    listener("last")

    events.send_now("x")
    assert told == ["first", "stopper", "last"]
    events.send_now("x")
    assert told == ["first", "stopper", "last", "last"]
    assert events.counts.delivered == 4


def test_listener_added_mid_broadcast_gets_the_next_event(events):
    diary = Diary()

    def add_once(event):
        if event.arguments == (1,):
            events.listen("x", diary.write)

    events.listen("x", add_once)
    events.send("x", 1)
    events.send("x", 2)
    dispatch(events)
    assert diary.heard == [2]


def test_listener_removed_in_nested_broadcast_is_silent_in_outer(events):
    told = []
    victim = None

    def outer(event):
        events.listen("x", lambda event: told.append("new"))
        if event.arguments == ("outer",):
            events.send_now("x", "inner")

    def stop_victim(event):
        if event.arguments == ("inner",):
            victim.stop()

    events.listen("x", outer)
    events.listen("x", stop_victim)
    victim = events.listen("x", lambda event: told.append("victim"))

    events.send_now("x", "outer")

    assert told == ["new"]  # added by the outer event, told of the inner one


def test_stopping_twice_is_harmless_and_keeps_an_equal_listener(events):
    diary = Diary()
    one = events.listen("x", diary.write)
    other = events.listen("x", diary.write)

    one.stop()
    one.stop()
    events.send_now("x", "once")

    assert diary.heard == ["once"]
    assert (one.is_active, one.codes) == (False, ())
    assert (other.is_active, other.codes) == (True, ("x",))


def test_codes_without_listeners_take_no_memory(events):
    for number in range(100):
        events.listen(f"code {number}", print).stop()
    assert events.codes == ()


def test_events_sent_by_a_handler_are_delivered_at_next_advance(events):
    heard = []

    def answer(event):
        heard.append(event.arguments[0])
        events.send("ping", event.arguments[0] + 1)

    events.listen("ping", answer)
    events.send("ping", 0)

    dispatch(events)
    assert heard == [0]
    dispatch(events)
    assert heard == [0, 1]


def test_broadcast_stops_where_the_budget_ends_and_resumes_there(events):
    told = []
    for number in range(10):
        events.listen("x", lambda event, number=number: told.append(number))
    events.send("x")

    events.advance(Budget.of_steps(4))
    assert told == [0, 1, 2, 3]
    assert events.queue_length == 1
    events.advance(Budget.of_steps(4))
    events.advance(Budget.of_steps(4))

    assert told == list(range(10))
    assert events.queue_length == 0


def test_listeners_stop_or_join_between_halves_of_a_broadcast(events):
    told = []
    listenings = [
        events.listen("x", lambda event, number=number: told.append(number))
        for number in range(6)]
    events.send("x")
    events.advance(Budget.of_steps(2))

    listenings[4].stop()
    events.listen("x", lambda event: told.append("new"))
    dispatch(events)
    assert told == [0, 1, 2, 3, 5]

    events.send_now("x")
    assert told[5:] == [0, 1, 2, 3, 5, "new"]


def test_ten_thousand_events_arrive_in_the_frames_budgeted(events):
    diary = Diary()
    events.listen("x", diary.write)
    for number in range(10_000):
        events.send("x", number)

    frames = 0
    while events.queue_length:
        events.advance(Budget.of_steps(900))
        frames += 1

    assert frames == math.ceil(10_000 / 900)
    assert diary.heard == list(range(10_000))


def test_time_budget_overrun_is_bounded_by_known_handler_costs(events):
    microseconds = [0]

    def dear(event):
        microseconds[0] += 10

    for _ in range(200):
        events.listen("x", dear)
    events.send("x")

    events.advance(Budget.of_time(500, lambda: microseconds[0] * 1000))

    assert 490 <= microseconds[0] <= 510
    assert events.queue_length == 1


def test_spent_budget_delivers_nothing(events):
    diary = Diary()
    events.listen("x", diary.write)
    events.send("x", 1)
    events.advance(Budget.of_steps(0))
    assert diary.heard == []


def test_unheard_event_is_counted_and_costs_a_step(events):
    for _ in range(3):
        events.send("x")
    events.advance(Budget.of_steps(2))
    assert events.queue_length == 1
    assert events.counts.unheard == 2


def test_counts_of_sent_dispatched_delivered_unheard_and_failed(events):
    events.listen("x", lambda event: None)
    events.listen("x", lambda event: None)
    events.send("x")
    events.send_now("x")
    events.send("y", delay_s=9)
    events.send_now("y")
    dispatch(events)
    assert events.counts[:5] == (4, 3, 4, 1, 0)


def test_tools_see_each_event_as_it_is_sent(clock):
    class Tool:
        def __init__(self):
            self.seen = []

        def event_sent(self, event, now):
            self.seen.append((event.code, now.frame))

    trace, tool = Trace(), Tool()
    trace.listen(tool)
    events = EventManager(clock, trace=trace)
    events.send("later", delay_s=5)
    clock.advance(2)
    events.send_now("now")
    assert tool.seen == [("later", 0), ("now", 2)]


def test_declared_codes_turn_a_misspelt_one_into_an_error(clock):
    events = EventManager(clock, codes=["door_opened", "alarm"])
    assert events.codes == ("door_opened", "alarm")
    for use in (events.send, events.send_now):
        with pytest.raises(UnknownNameError, match=r"'door_open'; did you mean 'door_opened'\?"):
            use("door_open")
    with pytest.raises(UnknownNameError, match="unknown event code 'dor'"):
        events.listen(["alarm", "dor"], print)

    events.listen("alarm", print).stop()
    assert events.codes == ("door_opened", "alarm")
    assert events.counts.sent == 0


@pytest.mark.parametrize(
    ("delay_s", "error", "message"),
    [
        (-0.1, ValueError, r"delay_s must be at least 0, got -0\.1; use 0 for the next"),
        (math.nan, ValueError, "delay_s must be a finite number, got nan"),
        (math.inf, ValueError, "delay_s must be a finite number, got inf"),
        ("soon", TypeError, "delay_s must be a number, got 'soon'"),
        (True, TypeError, "delay_s must be a number, got True")])
def test_a_delay_that_is_none_is_refused_and_nothing_is_queued(events, delay_s, error, message):
    with pytest.raises(error, match=message):
        events.send("x", delay_s=delay_s)
    assert events.queue_length == 0


@pytest.mark.parametrize(
    ("codes", "handler", "error", "message"),
    [
        ("x", "on_x", TypeError, "handler must be callable with an event, got 'on_x'"),
        ("x", None, TypeError, "handler must be callable with an event, got None"),
        ([], print, ValueError, "codes must name at least one event code"),
        (["x", 7], print, TypeError, "an event code must be a non-empty string, got 7"),
        (7, print, TypeError, "codes must be an event code or a sequence of event codes, got 7"),
        ("", print, ValueError, "an event code must not be empty")])
def test_a_registration_that_makes_no_sense_is_refused(events, codes, handler, error, message):
    with pytest.raises(error, match=message):
        events.listen(codes, handler)
    assert events.codes == ()


def test_a_code_that_is_no_string_cannot_be_sent(events):
    with pytest.raises(TypeError, match=r"an event code must be a string, got \['x'\]"):
        events.send(["x"])


@pytest.mark.parametrize("terms", [{"delay_s": 2e12}, {"deadline_s": 2e12}, {"delay_s": 1, "deadline_s": 1e13}])
def test_event_after_the_latest_time_is_refused(events, terms):
    with pytest.raises(ValueError, match=r"_s must be at most 1e\+12, got"):
        events.send("x", **terms)
    assert events.queue_length == 0


def test_event_at_the_latest_time_can_be_saved_and_loaded(events, clock):
    clock.advance(seconds=1e6)
    events.send("x", delay_s=1e12 - clock.now.seconds)
    events.prepare_state(events.save_state())()
    assert events.queue_length == 1
