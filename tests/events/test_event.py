"""Events: the same for everybody who is told."""
from __future__ import annotations

import copy

import pytest

from ai_core.clock import TimeIndex
from ai_core.events.event import Event, EventTerms, Receipt

NOW = TimeIndex(3, 0.5)


def test_event_is_immutable():
    event = Event("x", (1,), None, NOW, 0.5)
    with pytest.raises(AttributeError, match="an event is immutable, so 'code' cannot be set; send a new event"):
        event.code = "y"
    with pytest.raises(AttributeError):
        event.mood = "bad"
    assert (event.code, event.arguments, event.sender, event.sent_at_s, event.due_at_s) == ("x", (1,), None, NOW, 0.5)


@pytest.mark.parametrize("other", [
    Event("y", (1,), None, NOW, 0.5), Event("x", (2,), None, NOW, 0.5), Event("x", (1,), "bob", NOW, 0.5),
    Event("x", (1,), None, TimeIndex(4, 0.5), 0.5), Event("x", (1,), None, NOW, 0.6),
    Event("x", (1,), None, NOW, 0.5, EventTerms(priority=1)), ("x", (1,), None, NOW, 0.5)])
def test_events_are_equal_if_everything_about_them_is(other):
    event = Event("x", (1,), None, NOW, 0.5)
    assert event == Event("x", (1,), None, NOW, 0.5)
    assert hash(event) == hash(Event("x", (1,), None, NOW, 0.5))
    assert event != other


def test_a_copy_is_equal_and_an_event_besides():
    event = Event("x", ([1],), "bob", NOW, 0.5, EventTerms(position=(1, 2, 3), receipt=Receipt()))
    for made in (copy.copy(event), copy.deepcopy(event)):
        assert made == event
        assert type(made) is Event
    assert (event.position, event.receipt) == ((1, 2, 3), Receipt())


def test_an_event_is_shown_by_code_and_arguments():
    assert repr(Event("x", (1, "a"), None, NOW, 0.5)) == "<Event x(1, 'a') of frame 3>"
