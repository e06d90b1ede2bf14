"""Handlers that fail: who is still told, and who is told about it?"""
from __future__ import annotations

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from ai_core.faults import FaultIsolation


class Broken:
    """A handler that raises until it is mended."""

    def __init__(self):
        self.is_broken = True
        self.calls = 0

    def hear(self, event):
        self.calls += 1
        if self.is_broken:
            raise RuntimeError(f"cannot bear {event.code}")


@pytest.fixture
def reports():
    return []


@pytest.fixture
def faults(reports):
    return FaultIsolation(report=reports.append)


@pytest.fixture
def events(faults):
    return EventManager(ManualClock(), faults=faults)


def test_a_handler_that_raises_does_not_stop_the_others(events, reports):
    told = []
    events.listen("x", lambda event: told.append("before"))
    events.listen("x", Broken().hear)
    events.listen("x", lambda event: told.append("after"))

    events.send("x")
    events.advance(Budget.unlimited())

    assert told == ["before", "after"]
    assert events.counts[:5] == (1, 1, 3, 0, 1)
    assert [fault.name for fault in reports] == ["Broken.hear hearing 'x'"]
    assert "cannot bear x" in str(reports[0].error)


def test_three_failures_in_a_row_quarantine_until_released(events, faults):
    broken = Broken()
    listening = events.listen("x", broken.hear)

    for _ in range(5):
        events.send_now("x")
    assert broken.calls == 3
    assert events.counts.delivered == 3

    broken.is_broken = False
    faults.release(listening)
    events.send_now("x")
    assert broken.calls == 4


def test_success_in_between_resets_the_failures_in_a_row(events):
    broken = Broken()
    events.listen("x", broken.hear)
    for broken.is_broken in (True, True, False, True, True, False, True):
        events.send_now("x")
    assert broken.calls == 7


def test_events_that_a_filter_refuses_end_no_row_of_failures(events, faults):
    broken = Broken()
    listening = events.listen("order", broken.hear, where=lambda event: event.arguments[0])
    for wanted in (True, False, True, False, True, False):
        events.send_now("order", wanted)
    assert (broken.calls, faults.is_quarantined(listening)) == (3, True)


def test_failures_are_counted_for_each_registration_by_itself(events):
    broken, told = Broken(), []
    events.listen("x", broken.hear)
    events.listen("x", lambda event: told.append(1))
    for _ in range(5):
        events.send_now("x")
    assert len(told) == 5


def test_handler_that_stops_listening_and_raises_leaves_no_trace():
    faults = FaultIsolation(quarantine_after=1, report=lambda fault: None)
    events = EventManager(ManualClock(), faults=faults)

    def hear(event):
        listening.stop()
        raise RuntimeError("and never again")

    listening = events.listen("x", hear)
    for _ in range(2):
        events.send_now("x")
    assert events.counts.failed == 1
    assert faults.counts == {"failures": 1, "quarantined": 0}


def test_in_tests_a_fault_is_raised_and_the_rest_delivered_later():
    events = EventManager(ManualClock(), faults=FaultIsolation(reraise=True))
    told = []
    events.listen("x", Broken().hear)
    events.listen("x", lambda event: told.append(event.code))
    events.send("x")

    with pytest.raises(RuntimeError, match="cannot bear x"):
        events.advance(Budget.unlimited())
    assert told == []
    events.advance(Budget.unlimited())
    assert told == ["x"]
    assert events.counts[:5] == (1, 1, 2, 0, 1)


def test_advancing_inside_a_handler_is_a_fault_of_that_handler(events, reports):
    events.listen("x", lambda event: events.advance(Budget.unlimited()))
    events.send("x")
    events.advance(Budget.unlimited())
    assert "use send_now to deliver an event at once" in str(reports[0].error)
