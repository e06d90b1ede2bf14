"""Sticky events and receipts: who comes late is told, who asks is told who was."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import UnknownNameError
from ai_core.events.event_manager import EventManager
from ai_core.faults import FaultIsolation


@pytest.fixture
def events():
    return EventManager(ManualClock(0.25), faults=FaultIsolation(report=lambda fault: None))


def hear_into(told):
    return lambda event: told.append(event.arguments[0])


def test_late_listener_receives_only_the_latest_state(events):
    told = []
    events.send_now("weather", "sun", is_sticky=True)
    events.send_now("weather", "rain", is_sticky=True)
    events.send_now("weather", "a drop fell")
    events.listen("weather", hear_into(told))
    assert told == ["rain"]
    assert events.sticky("weather").arguments == ("rain",)


def test_queued_event_becomes_sticky_on_delivery_not_on_sending(events):
    early, late = [], []
    events.send("weather", "rain", is_sticky=True)
    events.listen("weather", hear_into(early))
    assert early == []
    events.advance(Budget.unlimited())
    events.listen("weather", hear_into(late))
    assert (early, late) == (["rain"], ["rain"])


def test_listener_added_mid_sticky_broadcast_gets_it_once(events):
    late = []

    def let_in(event):
        events.listen("weather", hear_into(late))

    events.listen("weather", let_in, once=True)
    events.listen("weather", lambda event: None)
    events.send("weather", "rain", is_sticky=True)
    events.advance(Budget.of_steps(1))
    assert late == ["rain"]
    events.advance(Budget.unlimited())
    assert late == ["rain"]


def test_cleared_sticky_event_reaches_no_listener(events):
    told = []
    events.send_now("weather", "rain", is_sticky=True)
    events.clear_sticky("weather")
    events.clear_sticky("weather")
    events.listen("weather", hear_into(told))
    assert told == []
    assert events.sticky("weather") is None


def test_sticky_events_respect_codes_predicates_and_once(events):
    told = []
    events.send_now("weather", "rain", is_sticky=True)
    events.send_now("light", "off", is_sticky=True)
    events.listen("*", hear_into(told))
    events.listen("weather", hear_into(told), where=lambda event: False)
    listening = events.listen("light", hear_into(told), once=True)
    assert told == ["rain", "off", "off"]
    assert not listening.is_active


def test_receipt_has_names_times_and_failures(events):
    events.listen("x", lambda event: None, name="well")
    events.listen("x", lambda event: 1 / 0, name="ill")
    events.listen("x", print, name="deaf", where=lambda event: False)
    stopped = events.listen("x", print, name="gone")
    event = events.send("x", wants_receipt=True)
    events.clock.advance()
    events.advance(Budget.of_steps(1))
    assert [one.name for one in event.receipt.deliveries] == ["well"]
    assert not event.receipt.is_complete
    stopped.stop()
    events.clock.advance()
    events.advance(Budget.unlimited())
    assert [(one.name, one.delivered_at.frame, one.has_failed) for one in event.receipt.deliveries] == [
        ("well", 1, False), ("ill", 2, True)]
    assert event.receipt.is_complete


def test_a_quarantined_listener_is_not_on_the_receipt(events):
    events.listen("x", lambda event: 1 / 0, name="ill")
    receipts = [events.send_now("x", wants_receipt=True).receipt for _ in range(4)]
    assert [len(one.deliveries) for one in receipts] == [1, 1, 1, 0]


def test_unheard_event_has_a_complete_and_empty_receipt(events):
    receipt = events.send_now("x", wants_receipt=True).receipt
    assert receipt.is_complete
    assert receipt.deliveries == []


def test_sender_in_a_handler_is_on_the_receipt(events):
    events.listen("x", lambda event: events.send_now("y"), name="sends")
    events.listen("y", print, where=lambda event: False)
    receipt = events.send_now("x", wants_receipt=True).receipt
    assert [one.name for one in receipt.deliveries] == ["sends"]


def test_an_event_without_a_wish_for_it_has_no_receipt(events):
    assert events.send_now("x").receipt is None


def test_existing_event_is_delivered_unchanged(events):
    heard = []
    events.listen("x", heard.append)
    event = events.send_now("x", 1)
    events.clock.advance()
    events.deliver(event)
    assert heard == [event, event]
    assert events.counts[:3] == (2, 2, 2)


def test_unknown_code_cannot_be_sent():
    events = EventManager(ManualClock(), codes=["x"])
    foreign = EventManager(ManualClock()).send_now("y")
    with pytest.raises(LookupError, match="unknown event code 'y'"):
        events.deliver(foreign)


def test_sticky_event_of_an_undeclared_code_is_refused():
    events = EventManager(ManualClock(), codes=["door"])
    for use in (events.sticky, events.clear_sticky):
        with pytest.raises(UnknownNameError, match="unknown event code 'dor'; did you mean 'door'"):
            use("dor")
        with pytest.raises(TypeError, match="an event code must be a string, got 3"):
            use(3)


def test_receipt_of_a_sticky_event_ends_with_its_delivery(events):
    events.listen("alarm", lambda event: None, name="early")
    receipt = events.send_now("alarm", is_sticky=True, wants_receipt=True).receipt
    for _ in range(9):
        events.listen("alarm", lambda event: None, name="later").stop()
    assert ([one.name for one in receipt.deliveries], events.counts.delivered) == (["early"], 10)


def test_a_sticky_array_that_is_partly_delivered_is_loaded(events):
    told = []
    for name in ("a", "b"):
        events.listen("wind", lambda event: told.append(event.arguments[0].tolist()), name=name)
    events.send("wind", np.array([1.0, 2.0]), is_sticky=True)
    events.advance(Budget.of_steps(1))
    state = events.save_state()
    events.prepare_state(state)()
    events.advance(Budget.unlimited())
    assert told == [[1.0, 2.0]] * 2
    assert events.sticky("wind").arguments[0].tolist() == [1.0, 2.0]
