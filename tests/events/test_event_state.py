"""Saved event managers: what waits is told later, to those who listen then."""
from __future__ import annotations

import json

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import StateError
from ai_core.saving.values import SavedValues

BOB = object()


class Square:
    """A clock, a manager, and a diary of who heard what."""

    def __init__(self, listeners="abc", codes=None):
        self.clock = ManualClock(0.25)
        self.faults = FaultIsolation(report=lambda fault: None)
        self.events = EventManager(self.clock, codes=codes, faults=self.faults, values=SavedValues({"bob": BOB}))
        self.heard = []
        self.listening = {name: self.listen(name) for name in listeners}

    def listen(self, name, code="x"):
        return self.events.listen(code, lambda event: self.heard.append((name, event)), name=name)

    def live(self, frames, steps=99):
        for _ in range(frames):
            self.clock.advance()
            self.events.advance(Budget.of_steps(steps))
        told, self.heard = self.heard, []
        return told

    def save(self):
        return json.loads(json.dumps({"clock": self.clock.save_state(), "events": self.events.save_state()}))

    def load(self, state):
        changes = [getattr(self, name).prepare_state(one) for name, one in state.items()]
        for change in changes:
            change()


def test_delayed_events_arrive_on_time_with_arguments_and_sender():
    first, second = Square(), Square()
    first.live(3)
    for delay_s in (0.5, 0, 1.25, 0.5):
        first.events.send("x", delay_s, (1, {"a": BOB}), sender=BOB, delay_s=delay_s)
    second.events.send("x", "not saved")
    second.load(first.save())
    assert second.live(8) == first.live(8)
    assert second.events.counts == first.events.counts


@pytest.mark.parametrize("steps", range(8))
def test_half_delivered_event_resumes_with_the_next_listener(steps):
    first, second = Square("abcab"), Square("cabab")
    second.listening["c"].stop()
    second.listen("c")
    first = Square("ababc")
    for number in range(2):
        first.events.send("x", number)
    first.live(1, steps)
    second.load(first.save())
    assert second.live(3) == first.live(3)


def test_listener_that_stopped_meanwhile_is_skipped_for_one_step():
    first, second = Square("abcd"), Square("abd")
    first.events.send("x")
    first.live(1, steps=1)
    first.listening["c"].stop()
    second.load(first.save())
    assert [second.live(1, steps=1) for _ in range(3)] == [first.live(1, steps=1) for _ in range(3)]
    assert second.events.counts == first.events.counts


def test_a_listener_that_is_missing_is_named():
    first = Square("abc")
    first.events.send("x")
    first.live(1, steps=1)
    with pytest.raises(StateError, match=r"'queue\[0\]\[2\]\[0\]' is of an unknown listener 'x, b, 0'; .*call listen"):
        Square("ac").load(first.save())


def test_listeners_have_the_names_of_their_handlers():
    manager = Square().events

    def open_door(event):
        raise AssertionError("never called")

    assert manager.listen("y", open_door).name.endswith("open_door")
    assert manager.listen("y", open_door, name="door").name == "door"
    with pytest.raises(TypeError, match="name must be a non-empty string, got 3"):
        manager.listen("y", open_door, name=3)


def test_failures_in_a_row_and_quarantine_are_kept_by_name():
    first, second = Square(""), Square("")
    for square in (first, second):
        square.calls = []
        for name in ("once", "often", "often"):
            def fail(event, square=square, name=name):
                square.calls.append(name)
                raise ValueError(name)

            square.events.listen("x", fail, name=name)
    first.events.send("x")
    first.live(1)
    second.load(first.save())
    for _ in range(3):
        second.events.send("x")
        second.live(1)
    assert second.calls == ["once", "often", "often"] * 2
    assert second.events.counts.failed == 9


def test_loading_a_healthy_save_resets_failures():
    first, second = Square(""), Square("")
    second.listening["bad"] = second.events.listen("x", lambda event: 1 / 0, name="bad")
    for _ in range(3):
        second.events.send("x")
    second.live(1)
    assert second.faults.is_quarantined(second.listening["bad"])
    second.load(first.save())
    assert not second.faults.is_quarantined(second.listening["bad"])


def test_what_cannot_be_saved_is_named_with_its_event():
    square = Square()
    square.events.send("x", 1, object())
    with pytest.raises(StateError, match=r"event 'x' of frame 0: 'arguments\[1\]' must be plain data or a named"):
        square.events.save_state()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("queue", 0, 1, "code"), "y", r"'queue\[0\]\[1\].code' is not valid: unknown event code 'y'"),
        (("queue", 0, 0), 2, r"'queue\[1\]\[0\]' must be above that of the previous .*, got 2"),
        (("queue", 1, 0), 9, r"'queue\[1\]\[0\]' must be .* below 'sent', .*, got 9"),
        (("queue", 0, 1, "sender"), {"!": "named", "of": "eve"}, "unknown object 'eve'; known: 'bob'"),
        (("queue", 0, 2), [{}], r"'queue\[0\]\[2\]\[0\]' must be a list of up to 4 values"),
        (("queue", 0, 2), [["x", "q", 0]], "'x, q, 0'; .*; call listen before loading"),
        (("queue", 0, 1, "terms", "audience"), ["a", "own"], "refers to a group of a narrowcast"),
        (("sticky", 0, "terms", "is_sticky"), False, r"'sticky\[0\].terms' must be the terms of a sticky event"),
        (("sticky", 0, "terms"), None, r"'sticky\[0\].terms' must be the terms of a sticky event"),
        (("failing",), [[["x", "a", 3], [1, False]]], r"'failing\[0\]\[0\]' is of an unknown listener 'x, a, 3'"),
        (("failing",), [[["x", "a", 0], [1, False]]] * 2, r"'failing\[1\]\[0\]' occurs twice")])
def test_a_state_that_cannot_be_is_refused(path, value, message):
    square = Square(codes=["x"])
    square.events.send_now("x", is_sticky=True)
    square.events.send("x", sender=BOB, priority=1, position=(1, 2), deadline_s=2, wants_receipt=True)
    square.events.send("x", delay_s=1)
    state = square.save()
    box = state["events"]
    for key in path[:-1]:
        box = box[key]
    box[path[-1]] = value
    before = square.save()
    with pytest.raises(StateError, match=message):
        square.load(state)
    assert square.save() == before


def test_everything_that_waits_keeps_its_terms():
    first, second = Square("ab"), Square("ab")
    first.events.send_now("x", "state", is_sticky=True)
    first.events.send("x", "late", deadline_s=0.25, wants_receipt=True)
    first.events.send("x", "urgent", priority=3, position=(1, 2, 3))
    first.live(1, steps=3)
    second.load(first.save())
    assert second.events.sticky("x") == first.events.sticky("x")
    first.live(1, steps=0)
    second.live(1, steps=0)
    told = first.live(2)
    assert second.live(2) == told
    assert told[0][1].receipt.is_complete
    assert [one.name for one in told[0][1].receipt.deliveries] == ["a", "b"]
    assert second.events.counts == first.events.counts
    assert first.events.counts.late == 1


def test_sends_before_a_load_are_not_counted_after_it():
    square = Square()
    for _ in range(2):
        square.events.send_now("x")
    state, before = square.save(), square.events.counts
    for _ in range(3):
        square.events.send_now("x")
    square.load(state)
    assert square.events.counts == before


def test_saving_from_a_handler_is_refused():
    square = Square("")
    square.faults._reraise = True
    square.events.listen("x", lambda event: square.events.save_state())
    square.events.send("x")
    with pytest.raises(RuntimeError, match="save and load between two frames"):
        square.live(1)
    with pytest.raises(RuntimeError, match="save and load between two frames"):
        square.events.send_now("x")


def test_sticky_event_that_is_partly_delivered_has_one_receipt():
    first, second = Square("ab"), Square("ab")
    first.events.send("x", is_sticky=True, wants_receipt=True)
    first.live(1, steps=1)
    second.load(first.save())
    second.live(1)
    for _ in range(5):
        second.events.listen("x", lambda event: None, name="later").stop()
    receipt = second.events.sticky("x").receipt
    assert receipt.is_complete
    assert len(receipt.deliveries) == 2
