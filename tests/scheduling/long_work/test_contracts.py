"""A contract algorithm as anytime work, by contracts each twice as long."""
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.saving.fields import StateError
from ai_core.scheduling.long_work import MAX_CONTRACT_STEPS, Contracts, Suspendable, UntilGoodEnough
from tests.scheduling.long_work.test_suspendable import Digging, advance, closing


def contract(steps):
    """Use all the steps, and answer how many they were, only then."""

    def keep():
        for step in range(1, steps):
            yield step / steps
        return steps

    return Suspendable(keep)


def contracts(first_steps=1, full=64, begin=contract, **settings):
    return Contracts(begin, lambda steps: min(1.0, steps / full), first_steps=first_steps, **settings)


def test_each_contract_doubles_and_the_best_answer_is_kept():
    work, seen = contracts(), []
    for _ in range(15):
        advance(work, 1)
        seen.append(work.best)
    assert seen == [1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 8]
    assert (work.quality, work.contract_steps, work.is_done) == (8 / 64, 16, False)


def test_there_is_no_answer_before_the_end_of_the_first():
    work = contracts(first_steps=3)
    advance(work, 1, 1)
    assert (work.best, work.quality, work.is_done) == (None, 0.0, False)
    advance(work, 1)
    assert work.best == 3


@given(first_steps=st.integers(1, 5), stopped=st.integers(1, 300))
def test_stopped_answer_had_more_than_a_quarter_of_the_steps(first_steps, stopped):
    work = contracts(first_steps, full=10_000)
    advance(work, *[1] * stopped)
    assert work.best is None if stopped < first_steps else work.best > stopped / 4


def test_a_worse_answer_of_a_longer_contract_is_not_taken():
    quality = {1: 0.5, 2: 0.2, 4: 0.7, 8: 0.7}
    work = Contracts(contract, quality.__getitem__, first_steps=1, max_steps=8)
    seen = []
    while not work.is_done:
        advance(work, 1)
        seen.append(work.best)
    assert (seen[2], seen[6], work.best, work.quality) == (1, 4, 4, 0.7)


def test_it_ends_with_an_optimal_answer_or_the_longest_contract():
    for work in (contracts(full=4), contracts(full=1000, max_steps=4), contracts(full=1000, max_steps=7)):
        advance(work, *[1] * 6)
        assert (work.is_done, work.best) == (False, 2)
        advance(work, 1)
        assert (work.is_done, work.best) == (True, 4)
        advance(work, 99)
        assert (work.contract_steps, work.best) == (8, 4)


def test_good_enough_runs_it_to_a_threshold():
    work = UntilGoodEnough(contracts(), quality=0.25)
    work.advance(Budget.unlimited())
    assert (work.is_done, work.result) == (True, 16)


def test_a_contract_that_raises_is_begun_anew():
    begun = []

    def flaky(steps):
        begun.append(steps)
        if len(begun) == 2:
            return Suspendable(lambda: 1 / 0)
        return contract(steps)

    work = contracts(begin=flaky)
    advance(work, 1)
    with pytest.raises(ZeroDivisionError):
        advance(work, 1)
    advance(work, 5)
    assert (begun, work.best) == ([1, 2, 2], 2)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"begin": 3}, TypeError, "begin must be a callable, got 3"),
        ({"quality_of": None}, TypeError, "quality_of must be a callable, got None"),
        ({"first_steps": 0}, ValueError, "first_steps must be at least 1, got 0"),
        ({"first_steps": 1.0}, TypeError, "first_steps must be an integer, got 1.0"),
        ({"first_steps": True}, TypeError, "first_steps must be an integer, got True"),
        ({"max_steps": 1}, ValueError, "max_steps must be at least 2, got 1"),
        ({"max_steps": MAX_CONTRACT_STEPS + 1}, ValueError, "max_steps must be at most"),
    ],
)
def test_bad_settings_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        Contracts(**{"begin": contract, "quality_of": float, "first_steps": 2, **settings})


def test_what_is_no_contract_or_no_quality_is_refused_as_it_runs():
    with pytest.raises(TypeError, match="the result of begin must be interruptible work, got 1"):
        advance(contracts(begin=lambda steps: steps), 1)
    with pytest.raises(ValueError, match="quality must be at most 1, got 2"):
        advance(Contracts(contract, lambda answer: 2, first_steps=1), 1)


@pytest.mark.parametrize("frames", [0, 1, 4, 7, 12])
def test_loaded_it_keeps_its_best_answer_and_restarts_contract(frames):
    work, under_way = contracts(), Suspendable(closing, [])
    advance(work, *[1] * frames)
    other = contracts(begin=lambda steps: under_way)
    advance(other, 1)
    other._begin = contract
    other.prepare_state(json.loads(json.dumps(work.save_state())))()
    assert (other.best, other.quality, other.contract_steps) == (work.best, work.quality, work.contract_steps)
    assert under_way.is_cancelled
    advance(other, work.contract_steps)
    assert other.best == work.contract_steps


@pytest.mark.parametrize("frames", range(8))
def test_loaded_it_resumes_a_contract_that_tracks_its_progress(frames):
    def digging(steps):
        return Suspendable(Digging())

    work, other = (Contracts(digging, lambda answer: 0.5, first_steps=1) for _ in range(2))
    advance(other, 1, 1)
    advance(work, *[1] * frames)
    other.prepare_state(json.loads(json.dumps(work.save_state())))()
    seen = []
    for one in (work, other):
        begun = one.contract_steps
        seen.append(0)
        while one.contract_steps == begun:
            advance(one, 1)
            seen[-1] += 1
    assert seen == [6 - frames % 6] * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contract": {"version": 1}}, "'contract': 'outcome' is missing"),
        ({"contract": {}, "steps": 2 * MAX_CONTRACT_STEPS}, "'contract' must be None"),
        ({"steps": 0}, "'steps' must be at least 1, got 0"),
        ({"quality": 3}, "'quality' must be at most 1, got 3.0"),
        ({"best": {"!": "lost", "of": 1}}, "'best'"),
        ({"more": 1}, "'more' is an unknown field"),
    ],
)
def test_a_damaged_save_changes_nothing(change, message):
    work = contracts()
    advance(work, 1, 1)
    state = work.save_state()
    with pytest.raises(StateError, match=message):
        work.prepare_state({**state, **change})
    assert work.save_state() == state


def test_invalid_budget_is_refused_and_current_contract_is_kept():
    work = contracts(first_steps=4)
    advance(work, 3)
    with pytest.raises(TypeError, match="budget must be a Budget, got None"):
        work.advance(None)
    advance(work, 1)
    assert work.best == 4
