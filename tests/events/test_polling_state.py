"""Saved polling stations: answers kept, their age, and their order."""
from __future__ import annotations

import json

import pytest

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
        self.station.add_topic("far", self.far, lifetime_frames=3, maximum_keys=4)
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
            for mine, theirs in ((self.clock, other.clock), (self.station, other.station))
        ]
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


def test_an_answer_that_cannot_be_saved_is_computed_anew():
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
    second.station.add_topic("far", second.far, lifetime_frames=3, maximum_keys=1)
    second.load(first)
    assert [row.keys for row in second.station.statistics() if row.code == "far"] == [1]


def test_a_topic_that_is_missing_is_named():
    first, second = Office(), Office()
    second.station.remove_topic("name")
    with pytest.raises(StateError, match=r"'topics\[1\].code' is wrong here: unknown topic 'name'; .*; add the topic"):
        second.load(first)


@pytest.mark.parametrize(
    ("rows", "message"),
    [([[[1], 2, 3]], r"'topics\[0\].answers\[0\]' must be \[key, answer, frame, until\], got a list of 3"),
     ([[[1], 2, 3, 2]], r"until' must be at least 3, got 2"), ([[1, 2, 3, 4]], "key' must be a list, got 1"),
     ([[[1], 2, 3, 4]] * 2, "key' comes twice"), ([[[[1]], 2, 3, 4]], "key' cannot be a key: unhashable type: 'list'"),
     ([[[{"!": "x", "of": 1}], 2, 3, 4]], "holds the unknown kind 'x'")],
)
def test_answers_that_cannot_be_are_refused(rows, message):
    office = Office()
    office.poll_all()
    state = office.station.save_state()
    state["topics"][0]["answers"] = rows
    with pytest.raises(StateError, match=message):
        office.station.prepare_state(state)


def test_saving_from_a_computation_is_refused():
    office = Office()
    office.station.add_topic("save", office.station.save_state)
    with pytest.raises(RuntimeError, match="save and load between two frames"):
        office.station.poll("save")
