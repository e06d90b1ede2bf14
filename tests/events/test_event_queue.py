"""Which event is next: urgency, deadlines, and what was too late."""
from __future__ import annotations

import math

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event import EVERY_CODE, PLAIN, Event
from ai_core.events.event_log import EventLog
from ai_core.events.event_manager import EventManager, EventQueue
from ai_core.faults import FaultIsolation


@pytest.fixture
def clock():
    return ManualClock(0.25)


@pytest.fixture
def told():
    return []


@pytest.fixture
def late():
    return []


@pytest.fixture
def events(clock, told, late):
    manager = EventManager(clock, when_late=lambda event, late_s: late.append((event.arguments[0], late_s)))
    manager.listen("x", lambda event: told.append(event.arguments[0]))
    return manager


def live(events, steps=99):
    events.clock.advance()
    events.advance(Budget.of_steps(steps))


def test_order_is_priority_deadline_due_time_then_sending(events, told):
    events.clock.advance()
    events.send("x", "sixth")
    events.send("x", "fifth", deadline_s=3)
    events.send("x", "third", deadline_s=2)
    events.send("x", "first", priority=2)
    events.send("x", "fourth", deadline_s=2)
    events.send("x", "second", priority=1, deadline_s=9)
    events.send("x", "last", priority=-1, deadline_s=0)
    events.advance(Budget.unlimited())
    assert told == ["first", "second", "third", "fourth", "fifth", "sixth", "last"]


def test_urgent_event_precedes_a_partly_delivered_one(events, told):
    for number in range(4):
        events.listen("siren", lambda event, number=number: told.append(number))
    events.send("siren")
    live(events, steps=2)
    events.send("x", "shot", priority=9)
    live(events, steps=2)
    live(events)
    assert told == [0, 1, "shot", 2, 3]


def test_only_events_delivered_after_their_deadline_are_late(events, told, late):
    events.send("x", "in time", deadline_s=0.25)
    live(events)
    events.send("x", "late", deadline_s=0.25)
    for _ in range(3):
        events.clock.advance()
    live(events)
    assert told == ["in time", "late"]
    assert late == [("late", pytest.approx(0.75))]
    assert events.counts.late == 1


def test_a_broadcast_is_late_if_its_last_listener_is(events, late):
    events.listen("x", lambda event: None)
    events.send("x", "half", deadline_s=0.25)
    live(events, steps=1)
    assert events.counts.late == 0
    live(events, steps=1)
    assert late == [("half", 0.25)]


def test_failing_when_late_stops_no_delivery(clock, told):
    faults = []

    def complain(event, late_s):
        raise RuntimeError("again")

    events = EventManager(clock, faults=FaultIsolation(report=faults.append), when_late=complain)
    events.listen("x", lambda event: told.append(event.arguments[0]))
    for number in range(2):
        events.send("x", number, deadline_s=0)
    live(events)
    assert told == [0, 1]
    assert [str(one.error) for one in faults] == ["again", "again"]


@pytest.mark.parametrize(
    ("terms", "error", "message"),
    [
        ({"deadline_s": -1}, ValueError, "deadline_s must be at least 0, got -1"),
        ({"deadline_s": 1, "delay_s": 2}, ValueError, "deadline_s must be at least 2, got 1; the deadline must not"),
        ({"deadline_s": math.nan}, ValueError, "deadline_s must be a finite number"),
        ({"deadline_s": "soon"}, TypeError, "deadline_s must be a number"),
        ({"priority": 1.5}, TypeError, "priority must be an integer"),
        ({"priority": True}, TypeError, "priority must be an integer"),
        ({"priority": 10**9}, ValueError, "priority must be at most 1000000"),
        ({"position": (1,)}, ValueError, "position must be two or three coordinates"),
        ({"position": "here"}, TypeError, "position must be two or three coordinates"),
        ({"position": (0, math.nan)}, ValueError, "position must be a finite number")])
def test_invalid_terms_are_refused_and_nothing_is_queued(events, terms, error, message):
    with pytest.raises(error, match=message):
        events.send("x", 1, **terms)
    assert events.queue_length == 0
    assert events.counts.sent == 0


def test_when_late_must_be_callable(clock):
    with pytest.raises(TypeError, match="when_late must be a callable or None, got 'me'"):
        EventManager(clock, when_late="me")


def test_becoming_due_uses_the_time_budget_and_resumes():
    queue, clock = EventQueue(), ManualClock()
    for order in range(1000):
        queue.push(Event("x", (order,), None, clock.now, 1.0, PLAIN), order, is_ready=False)
    ticks = iter(range(0, 10**9, 1000))  # each look at the watch takes a microsecond
    budget = Budget.of_time(5, lambda: next(ticks))
    assert not queue.settle(1.0, budget)
    assert queue.settle(1.0, Budget.unlimited())
    assert [queue.pop()[0][3] for _ in range(1000)] == list(range(1000))


def test_ten_thousand_budgeted_events_arrive_once_across_a_save(clock):
    watch_ns = [0]
    told = []

    def world():
        events = EventManager(clock)
        events.listen("x", hear, name="hear")
        return events

    def hear(event):
        watch_ns[0] += 1000
        told.append(event.arguments[0])

    events = world()
    for number in range(10_000):
        events.send("x", number)
    frames = 0
    while events.queue_length:
        clock.advance()
        before = watch_ns[0]
        events.advance(Budget.of_time(500, lambda: watch_ns[0]))
        assert watch_ns[0] - before <= 501_000
        frames += 1
        if frames == 7:
            state, events = events.save_state(), world()
            events.prepare_state(state)()
    assert frames == 20
    assert told == list(range(10_000))


def test_events_sent_faster_than_paid_for_are_refused(clock, told, caplog):
    events = EventManager(clock, max_queued=20)
    events.listen("tick", lambda event: told.append(event.arguments[0]))
    for number in range(100):
        events.send("tick", number)
        events.send("tick", number, delay_s=60)
        if number % 10 == 9:
            events.advance(Budget.of_steps(1))
    assert (events.queue_length, told) == (19, [*range(10)])
    assert (events.counts.sent, events.counts.refused) == (20 + 9, 200 - 20 - 9)
    assert [record.getMessage().split(";")[0] for record in caplog.records] == [
        "event 'tick' was refused, as 20 events are queued"]


def test_a_flood_of_events_does_not_refuse_urgent_ones(clock, told):
    events = EventManager(clock, max_queued=5)
    events.listen(EVERY_CODE, lambda event: told.append(event.code))
    for _ in range(9):
        events.send("step")
    for _ in range(7):
        events.send("alarm", priority=1)
    assert (events.queue_length, events.counts.refused) == (10, 4 + 2)
    events.advance(Budget.unlimited())
    assert told == ["alarm"] * 5 + ["step"] * 5


def test_a_refused_event_is_in_the_log_and_counted_in_saves(clock):
    events = EventManager(clock, max_queued=1)
    events.log = EventLog()
    for sender in ("Al", "Bo"):
        events.send("tick", sender=sender)
    assert [(one.kind, one.name) for one in events.log.entries()] == [("sent", "Al"), ("refused", "Bo")]
    other = EventManager(clock)
    other.prepare_state(events.save_state())()
    assert (other.counts.refused, other.queue_length) == (1, 1)
