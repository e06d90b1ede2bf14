"""Saved polling stations: answers kept, their age, and their order."""
from __future__ import annotations

import json

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.polling_station import PollingStation
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import StateError
from ai_core.saving.values import SavedValues

BOB = object()


class Office:
    """A clock, a station with three topics, and a count of what was computed."""

    def __init__(self, **lifetimes):
        self.clock, self.computed = ManualClock(), []
        self.faults = FaultIsolation(report=lambda fault: None)
        self.station = PollingStation(self.clock, faults=self.faults, values=SavedValues({"bob": BOB}))
        self.station.add_topic("far", self.far, lifetime_frames=3, max_keys=4)
        self.station.add_topic("name", self.far, lifetime_frames=None)
        self.station.add_topic("bad", lambda: 1 / 0, fallback="none")

    def far(self, *key):
        self.computed.append((self.clock.now.frame, key))
        return (self.clock.now.frame, key)

    def poll_all(self):
        self.clock.advance()
        now = self.clock.now.frame
        questions = [("far", now % 5), ("far", BOB), ("name", (1, now % 3)), ("bad",)]
        return [self.station.poll(*question) for question in questions]

    def load(self, other):
        changes = [
            mine.prepare_state(json.loads(json.dumps(theirs.save_state())))
            for mine, theirs in ((self.clock, other.clock), (self.station, other.station))]
        for change in changes:
            change()


def test_answers_are_kept_as_long_as_they_would_have_been():
    first, second = Office(), Office()
    for _ in range(7):
        first.poll_all()
    second.poll_all()
    second.load(first)
    first.computed.clear()
    second.computed.clear()
    assert [second.poll_all() for _ in range(12)] == [first.poll_all() for _ in range(12)]
    assert second.computed == first.computed != []
    assert second.station.statistics() == first.station.statistics()


def test_load_ends_the_limit_of_a_frame_that_comes_again():
    first, second = Office(), Office()
    second.clock.advance()
    second.station.begin_frame(Budget.of_steps(0))
    first.clock.advance()
    second.load(first)
    assert second.station.poll("far", 1) == (1, (1,))


def test_answer_that_cannot_be_saved_is_computed_again():
    first, second = Office(), Office()
    key = object()
    first.station.poll("far", key)
    first.station.poll("far", 1)
    second.load(first)
    second.station.poll("far", 1)
    assert second.computed == []
    second.station.poll("far", key)
    assert second.computed == [(0, (key,))]


def test_a_quarantined_topic_stays_so():
    first, second = Office(), Office()
    for _ in range(3):
        first.poll_all()
    second.load(first)
    assert second.poll_all()[3] == "none"
    assert second.station.statistics()[2].computations == 3


def test_a_smaller_station_keeps_the_newest_answers():
    first, second = Office(), Office()
    for _ in range(4):
        first.poll_all()
    second.station.remove_topic("far")
    second.station.add_topic("far", second.far, lifetime_frames=3, max_keys=1)
    second.load(first)
    kept = second.station.save_state()["topics"][-1][1]["answers"]
    assert {computed_at[0] for _, _, computed_at, _ in kept} == {4}  # none of this frame is computed again
    second.clock.advance()
    second.station.poll("far", "new")
    assert [row.keys for row in second.station.statistics() if row.code == "far"] == [1]


def test_a_topic_that_is_missing_is_named():
    first, second = Office(), Office()
    second.station.remove_topic("name")
    with pytest.raises(StateError, match=r"'topics\[1\]\[0\]': unknown topic 'name'; .*; add it before"):
        second.load(first)


@pytest.mark.parametrize(
    ("rows", "message"),
    [([[1, 2, [3, 0.0], False]], r"'topics\[0\]\[1\].answers\[0\]\[0\]' must be a list, got 1"),
     ([[[1], 2, [3, 0.0], False]] * 2, r"answers\[1\]' occurs twice"),
     ([[[[1]], 2, [3, 0.0], False]], "must be hashable: unhashable type: 'list'"),
     ([[[{"!": "x", "of": 1}], 2, [3, 0.0], False]], "has the unknown kind 'x'")])
def test_answers_that_cannot_be_are_refused(rows, message):
    office = Office()
    office.poll_all()
    state = office.station.save_state()
    state["topics"][0][1]["answers"] = rows
    with pytest.raises(StateError, match=message):
        office.station.prepare_state(state)


def test_saving_from_a_computation_is_refused():
    office = Office()
    office.station.add_topic("save", office.station.save_state)
    with pytest.raises(RuntimeError, match="save and load between two frames"):
        office.station.poll("save")


def test_expired_answers_and_waiting_questions_load_in_order():
    first, second = Office(), Office()
    for one in (first, second):
        one.station.add_topic("pair", one.far, fallback="unknown", max_keys=3)
    first.station.poll("name", 1)
    first.station.invalidate("name", 1)
    first.station.begin_frame(Budget.of_steps(0))
    assert first.station.poll_with_age("name", 1).how == "stale"
    assert [first.station.poll("pair", *two) for two in ((2, 1), (2, 1), (3, 1))] == ["unknown"] * 3
    second.load(first)
    assert second.station.waiting == 3
    assert second.station.save_state() == first.station.save_state()
    for one in (first, second):
        one.clock.advance()
        one.computed.clear()
        one.station.advance(Budget.of_steps(2))
        assert one.computed == [(1, (1,)), (1, (2, 1))]
        one.station.advance(Budget.unlimited())
    assert second.station.save_state() == first.station.save_state()


def test_a_key_that_waits_and_cannot_be_saved_is_left_out():
    first, second = Office(), Office()
    first.station.begin_frame(Budget.of_steps(0))
    first.station.add_topic("f", first.far, fallback=0)
    second.station.add_topic("f", second.far, fallback=0)
    first.station.poll("f", object())
    second.load(first)
    assert (first.station.waiting, second.station.waiting) == (1, 0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [([["far"]], r"'waiting\[0\]' must be a list of 2 items"),
     ([["fat", []]], r"'waiting\[0\]\[0\]': unknown topic"),
     ([["far", 3]], r"'waiting\[0\]\[1\]' must be a list")])
def test_impossible_waiting_questions_are_refused_unchanged(rows, message):
    office = Office()
    before = office.station.save_state()
    with pytest.raises(StateError, match=message):
        office.station.prepare_state({**before, "waiting": rows})
    assert office.station.save_state() == before


def test_loading_forgets_what_was_fresh_here():
    first, second = Office(), Office()
    assert second.station.poll("far", 1) == (0, (1,))
    first.clock.advance(2)
    first.station.poll("far", 1)
    second.clock.advance(2)
    second.load(first)
    assert second.station.poll("far", 1) == (2, (1,))
    assert second.computed == [(0, (1,))]
