"""Notes of a frame: what was collected, and nothing in it changes afterwards."""
from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as some

import ai_core.recording.notes as collector
from ai_core.clock import TimeIndex
from ai_core.recording.digest import freezer
from ai_core.recording.packed import unpack
from ai_core.trace import Trace

NOW = TimeIndex(3, 0.5)


class Mood(Enum):
    CALM = 1


class Spot(NamedTuple):
    x: float
    y: float


class Name(str):
    __slots__ = ()


class Event(NamedTuple):
    code: str
    arguments: tuple
    sender: object
    due_at_s: float


VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text()
    | some.sampled_from([Mood.CALM, Spot(1.0, 2.0), np.float32(0.5), np.int64(7), {3, 1}, 2**31, -(2**31) - 1, "\ud800",
                         ValueError("no"), Trace(), b"raw", np.arange(3.0), Name("bob"), {2: "b", "a": [1]}]),
    lambda inner: some.lists(inner) | some.lists(inner).map(tuple) | some.dictionaries(some.text(), inner),
    max_leaves=8,
)


@pytest.fixture
def notes():
    return collector.Notes(freezer(exact=False))


def noted(notes):
    return unpack(notes.packed([]))


def run(notes, name="think", result=None):
    notes.before_task(name, NOW)
    notes.task_ran(name, NOW, 5, 1, 0.0, result)


def fill(notes, values):
    for value in values:
        run(notes, result=value)
        notes.event_sent(Event("shot", (value,), Mood.CALM, 1.5), NOW)
        notes.sensed(1, 2, "sight", value, NOW)
        notes.state_entered("bob", "guard/patrol", "due", NOW)
        notes.path_done(value, NOW)


def test_runs_are_noted_as_they_end_with_their_depth(notes):
    notes.before_task("outer", NOW)
    run(notes, "inner", (3, 0.25))
    notes.task_ran("outer", NOW, 10.5, 2, 7.25, None)
    assert noted(notes)[0] == ["inner", 1, 5, 1, 0.0, (3, 0.25), "outer", 0, 10.5, 2, 7.25, None]


def test_what_changes_afterwards_was_noted_as_it_was(notes):
    places, known, fast = [1.0], {"bob": [2.0]}, np.array([3.0])
    for result in (places, (1, places), known, fast):
        run(notes, result=result)
    notes.path_done(places, NOW)
    before = notes.packed([])
    places.append(9.0)
    known["bob"].append(9.0)
    fast[0] = 9.0
    assert notes.packed([]) == before


def test_a_new_frame_begins_with_nothing(notes):
    empty = notes.packed([])
    notes.before_task("outer", NOW)
    fill(notes, [1, "a"])
    notes.clear()
    assert notes.packed([]) == empty == collector.Notes(freezer(exact=False)).packed([])
    run(notes)
    assert noted(notes)[0][:2] == ["think", 0], "depth begins anew, too"


def test_grants_and_everything_told_are_kept_in_order(notes):
    notes.sensed(4, 5, "hearing", 0.5, NOW)
    notes.sensed(4, 6, "sight", 1.0, NOW)
    notes.event_sent(Event("shot", (1, [2]), None, 1.5), NOW)
    runs, told, grants = unpack(notes.packed([None, (3, 1)]))
    assert told == (
        [("shot", (1, (2,)), None, 1.5)], [(4, 5, "hearing", 0.5), (4, 6, "sight", 1.0)], [], [],
    )
    assert (runs, grants) == ([], [None, (3, 1)])


def test_a_name_of_a_class_of_its_own_is_a_name(notes):
    run(notes, Name("bob"))
    assert noted(notes)[0][0] == "bob"


def test_a_frame_of_any_length_is_kept(notes):
    for number in range(3000):
        run(notes, "thinker " + "x" * (number % 90), number)
    assert noted(notes)[0][5::6] == list(range(3000))


def test_self_containing_result_stops_its_run_and_breaks_nothing(notes):
    endless = []
    endless.append(endless)
    run(notes, "first")
    with pytest.raises(RecursionError):
        run(notes, "second", endless)
    run(notes, "third")
    assert noted(notes)[0][::6] == ["first", "third"]


def test_notes_listen_to_every_kind_of_thing_that_is_recorded(notes):
    trace = Trace()
    trace.listen(notes)
    heard = [name for name in vars(trace) if not name.startswith("_") and getattr(trace, name)]
    assert heard == ["before_task", "task_ran", "event_sent", "sensed", "state_entered", "path_done"]
    trace.unlisten(notes)
