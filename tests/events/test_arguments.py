"""What managers and stations are handed is checked at the call."""
from __future__ import annotations

import pytest

from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from ai_core.events.polling_station import PollingStation
from ai_core.faults import FaultIsolation


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def events(clock):
    return EventManager(clock)


@pytest.fixture
def station(clock):
    return PollingStation(clock)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda events: events.advance(100), "budget must be a Budget, got 100; use Budget.unlimited"),
        (lambda events: events.advance(None), "budget must be a Budget, got None"),
        (lambda events: setattr(events, "log", []), "log must be an EventLog or None"),
        (lambda events: EventManager(3), "clock must have a 'now', got 3; use ManualClock"),
        (lambda events: events.deliver("x"), "event must be an Event, such as the result of send_now, got 'x'"),
        (lambda events: events.deliver(None), "event must be an Event"),
        (lambda events: events.put("x"), "event must be an Event, such as the result of send_now, got 'x'"),
        (lambda events: events.send("x", audience="me"), "audience must be a GroupRecipients, got 'me'")])
def test_invalid_budget_clock_log_or_event_is_refused_on_call(events, use, message):
    with pytest.raises(TypeError, match=message):
        use(events)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda station: PollingStation(None), "clock must have a 'now', got None"),
        (lambda station: station.begin_frame(5), "budget must be a Budget, got 5"),
        (lambda station: station.advance(None), "budget must be a Budget, got None")])
def test_what_is_no_clock_or_budget_is_refused_at_the_call(station, use, message):
    with pytest.raises(TypeError, match=message):
        use(station)


def test_handler_error_is_not_blamed_on_listener_lookup(clock):
    errors = []
    events = EventManager(clock, faults=FaultIsolation(report=lambda fault: errors.append(fault.error)))

    def fail(event):
        raise ValueError("mine")

    for _ in range(2):
        events.listen("x", fail)
    events.send_now("x")
    events.send_now("x")
    assert [error.__context__ for error in errors] == [None] * 4


def test_an_error_of_a_computation_is_not_blamed_on_the_cache(station):
    def fail(who):
        raise ValueError("mine")

    station.add_topic("t", fail)
    for ask in (lambda: station.poll("t", 1), lambda: station.poll_many("t", [(1,)])):
        with pytest.raises(ValueError, match="mine") as caught:
            ask()
        assert caught.value.__context__ is None
