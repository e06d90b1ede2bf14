"""Saved work on threads: the same results on the same frames, and none of a future that is not."""
from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.saving.fields import StateError
from ai_core.saving.values import SavedValues
from tests.scheduling.long_work.hand_executor import HandExecutor
from tests.scheduling.long_work.threaded_yard import Yard, lives


def carried_over(yard, other):
    state = json.loads(json.dumps({"clock": yard.clock.save_state(), "work": yard.work.save_state()}))
    changes = [getattr(other, name).prepare_state(one) for name, one in state.items()]
    for change in changes:
        change()
    return other


@settings(max_examples=40)
@given(life=lives(), saved=st.integers(0, 11))
def test_loaded_at_any_frame_same_results_come_on_same_frames(life, saved):
    first, second = Yard(HandExecutor(), delay_frames=2), Yard(HandExecutor(), delay_frames=2)
    for number, (numbers, steps, doings) in enumerate(life):
        for yard in (first, second) if number > saved else (first,):
            yard.frame(*numbers, steps=steps)
        for doing, place in doings:
            if first.executor.calls:
                getattr(first.executor, doing)(place)
        if number == saved:
            second.frame(5, 6)
            first.diary.clear()
            first.reported.clear()
            carried_over(first, second)
    if len(life) <= saved:
        return
    for _ in range(20):
        first.frame()
        second.frame()
    assert second.diary == first.diary
    assert second.reported == first.reported
    assert second.work.save_state() == first.work.save_state()


def test_loaded_calls_start_on_the_executor():
    yards = [Yard(HandExecutor()) for _ in range(2)]
    yards[0].frame(2, 3)
    assert len(carried_over(*yards).executor.calls) == 2


def test_no_result_of_a_future_that_was_loaded_away_is_seen():
    yard = Yard(HandExecutor())
    before = yard.clock.save_state(), yard.work.save_state()
    for _ in range(5):
        yard.frame()
    [ticket] = yard.frame(7)
    yard.executor.run(0)
    for part, state in zip((yard.clock, yard.work), before, strict=True):
        part.prepare_state(state)()
    for _ in range(20):
        yard.frame()
    assert (yard.diary, ticket.is_cancelled) == ([], True)


def test_arguments_that_are_not_plain_are_saved_by_their_names():
    door = object()
    names = SavedValues({"door": door})
    yards = [Yard(None, lambda thing: thing is door, values=names) for _ in range(2)]
    yards[0].frame(door)
    carried_over(*yards).frame()
    assert yards[1].diary == [(2, 0, True)]
    yard = Yard(None)
    yard.frame(door)
    with pytest.raises(StateError, match=r"'arguments\[0\]' must be plain data or a named object"):
        yard.work.save_state()


TICKET = {"id": 0, "submitted_at": [3, 0.5], "due_frame": 4, "arguments": [2]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pending": [{**TICKET, "id": 9}]}, r"'pending\[0\].id' must be at most 1, got 9"),
        ({"pending": [TICKET, TICKET]}, "'pending' must be sorted by ascending id, each once"),
        ({"pending": [{**TICKET, "due_frame": 3}]}, r"'pending\[0\].due_frame' must be after 3, got 3"),
        ({"pending": [{**TICKET, "submitted_at": [5, 0.5]}]}, "must not be after now, got frame 5"),
        ({"pending": [{**TICKET, "more": 1}]}, r"'pending\[0\].more' is an unknown field"),
        ({"version": 2}, "update ai_core to load it"),
        ({"more": 1}, "'more' is an unknown field"),
    ],
)
def test_a_damaged_save_changes_nothing(change, message):
    yard = Yard(HandExecutor())
    for _ in range(2):
        yard.frame()
    yard.frame(2, 3)
    state = yard.work.save_state()
    with pytest.raises(StateError, match=message):
        yard.work.prepare_state({**state, **change})
    assert yard.work.save_state() == state
