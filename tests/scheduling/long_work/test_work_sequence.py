"""Interruptible work in several stages."""
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.saving.fields import StateError
from ai_core.scheduling.long_work import Suspendable, WorkSequence
from tests.scheduling.long_work.test_suspendable import Digging, advance, closing


def adding(number, legs=2):
    """Return a stage that adds a number to the result before it, in two legs."""

    def add(before):
        for leg in range(1, legs):
            yield leg / legs
        return (before or 0) + number

    return lambda before: Suspendable(add, before)


def test_each_stage_gets_the_result_of_the_one_before():
    work = WorkSequence(adding(1), adding(10), adding(100))
    work.advance(Budget.unlimited())
    assert (work.is_done, work.result, work.progress) == (True, 111, 1.0)


def test_stages_count_alike_in_the_progress():
    work = WorkSequence(adding(1), adding(2))
    seen = []
    while not work.is_done:
        advance(work, 1)
        seen.append((work.stage, work.progress))
    assert seen == [(0, 0.25), (1, 0.5), (1, 0.75), (2, 1.0)]


@given(
    legs=st.lists(st.integers(1, 4), min_size=1, max_size=5), budgets=st.lists(st.integers(0, 4), max_size=12)
)
def test_however_it_is_cut_up_the_result_is_that_of_one_go(legs, budgets):
    work = WorkSequence(*(adding(number, n) for number, n in enumerate(legs)))
    advance(work, *budgets)
    work.advance(Budget.unlimited())
    assert work.result == sum(range(len(legs)))


def test_a_stage_that_waits_is_not_asked_again_in_the_same_frame():
    asked = []

    class Waiting(Suspendable):
        def advance(self, budget):
            asked.append(budget)

    WorkSequence(lambda before: Waiting(closing, [])).advance(Budget.unlimited())
    assert len(asked) == 1


def test_cancelling_cancels_the_current_stage_and_stops_there():
    stage = Suspendable(closing, [])
    work = WorkSequence(lambda before: stage, adding(1))
    advance(work, 1)
    work.cancel()
    assert (stage.is_cancelled, work.is_cancelled) == (True, True)
    with pytest.raises(RuntimeError, match="was cancelled"):
        advance(work, 1)
    with pytest.raises(RuntimeError, match="no result: it was cancelled"):
        work.result  # noqa: B018


def test_stage_cancelled_by_others_cancels_the_whole():
    stage = Suspendable(closing, [])
    work = WorkSequence(lambda before: stage, adding(1))
    advance(work, 1)
    stage.cancel()
    assert (work.is_cancelled, work.is_done, work.save_state()["is_cancelled"]) == (True, False, True)
    with pytest.raises(RuntimeError, match="was cancelled"):
        advance(work, 1)


def test_stage_cancelled_as_it_begins_cancels_the_whole():
    stage = Suspendable(closing, [])
    stage.cancel()
    work = WorkSequence(lambda before: stage)
    advance(work, 1)
    assert work.is_cancelled


def test_cancelling_what_is_done_or_not_begun_is_allowed():
    done, fresh = WorkSequence(adding(1)), WorkSequence(adding(1))
    advance(done, 9)
    done.cancel()
    fresh.cancel()
    assert (done.result, done.is_cancelled, fresh.is_cancelled) == (1, False, True)


def test_what_is_no_stage_is_refused():
    with pytest.raises(ValueError, match="stages must hold at least one stage, got none"):
        WorkSequence()
    with pytest.raises(TypeError, match=r"stage 1 must be a function of the previous result, got <.*Suspendable"):
        WorkSequence(adding(1), Suspendable(closing, []))
    with pytest.raises(TypeError, match="the result of stage 0 must be interruptible work, got 3"):
        advance(WorkSequence(lambda before: 3), 1)


def test_a_stage_that_raises_is_tried_again():
    tries = []

    def flaky(before):
        tries.append(before)
        if len(tries) < 3:
            raise OSError("not now")
        yield
        return "read"

    work = WorkSequence(adding(1), lambda before: Suspendable(flaky, before))
    for _ in range(2):
        with pytest.raises(OSError, match="not now"):
            advance(work, 9)
    advance(work, 9)
    assert (work.result, tries) == ("read", [1, 1, 1])


def stages():
    return adding(1), lambda before: Suspendable(Digging(before)), adding("!", 1)


def carried_over(work, other):
    other.prepare_state(json.loads(json.dumps(work.save_state())))()
    return other


@pytest.mark.parametrize("frames", range(9))
def test_loaded_at_any_point_it_comes_to_the_same_end(frames):
    work, other = WorkSequence(*stages()), WorkSequence(*stages())
    advance(other, 1, 1, 1)
    advance(work, *[1] * frames)
    other = carried_over(work, other)
    assert other.stage == work.stage
    if work.stage == 1:  # Digging knows how far it had come; adding does not
        assert other.progress == work.progress
    for one in (work, other):
        one.advance(Budget.unlimited())
        assert one.result == "5 m!"


def test_loading_cancels_what_was_under_way_here():
    stage = Suspendable(closing, [])
    other = WorkSequence(lambda before: stage)
    advance(other, 1)
    carried_over(WorkSequence(lambda before: stage), other)
    assert (stage.is_cancelled, other.is_cancelled, other.progress) == (True, False, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stage": 4}, "'stage' must be at most 3, got 4"),
        ({"stage": 3}, "'work' must be None, as all stages are done"),
        ({"work": {"version": 1}}, "'work': 'outcome' is missing"),
        ({"is_cancelled": 0}, "'is_cancelled' must be true or false, got 0"),
        ({"more": 1}, "'more' is an unknown field"),
    ],
)
def test_a_damaged_save_changes_nothing(change, message):
    work = WorkSequence(*stages())
    advance(work, 4)
    state = work.save_state()
    with pytest.raises(StateError, match=message):
        work.prepare_state({**state, **change})
    assert work.save_state() == state


def test_what_is_no_budget_is_refused_and_no_stage_begins():
    work = WorkSequence(adding(1), adding(2))
    before = work.save_state()
    with pytest.raises(TypeError, match="budget must be a Budget, got 5"):
        work.advance(5)
    assert work.save_state() == before
