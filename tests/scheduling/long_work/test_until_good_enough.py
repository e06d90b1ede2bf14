"""Anytime work: acting on the best so far, and stopping when it will do or must do."""
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.fields import StateError
from ai_core.saving.kinds import Whole
from ai_core.scheduling.long_work import BackgroundJob, UntilGoodEnough
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler


class Guessing(Saveable):
    """Each step looks at one guess; keeps the best. Without a first one it has no answer."""

    STATE = DeclaredState(looked_at=Whole(maximum=lambda work: len(work.guesses)))

    def __init__(self, guesses, first=0.0, stops_at_each=True):
        self.guesses = guesses
        self.looked_at = 0
        self.stops_at_each = stops_at_each
        self.best, self.quality = (None, 0.0) if first is None else (f"guess of {first}", first)

    @property
    def is_done(self):
        return self.looked_at == len(self.guesses)

    def advance(self, budget):
        while not self.is_done:
            guess = self.guesses[self.looked_at]
            self.looked_at += 1
            budget.spend()
            is_better = guess > self.quality
            if is_better:
                self.best, self.quality = f"guess of {guess}", guess
            if budget.is_spent or (is_better and self.stops_at_each):
                return

    def _finish_load(self):
        self.quality = max([0.0, *self.guesses[:self.looked_at]])
        self.best = f"guess of {self.quality}"


def advance(work, *steps):
    for n in steps:
        work.advance(Budget.of_steps(n))


def test_there_is_an_answer_at_every_moment_and_it_gets_better():
    work = UntilGoodEnough(Guessing([0.1, 0.5, 0.3, 0.8], first=0.2))
    seen = [work.best]
    while not work.is_done:
        advance(work, 1)
        seen.append(work.best)
    assert seen == ["guess of 0.2", "guess of 0.2", "guess of 0.5", "guess of 0.5", "guess of 0.8"]
    assert work.result == "guess of 0.8"


def test_the_quality_is_its_progress():
    work = UntilGoodEnough(Guessing([0.1, 0.3, 0.9, 1.0]), quality=0.6)
    assert work.progress == 0
    advance(work, 2)
    assert (work.progress, work.quality) == (0.5, 0.3)
    advance(work, 2)
    assert (work.progress, work.is_done, work.result) == (1.0, True, "guess of 0.9")


def test_what_is_good_enough_ends_it_and_costs_nothing_more():
    guessing, budget = Guessing([0.2, 0.7, 0.9]), Budget.of_steps(9)
    work = UntilGoodEnough(guessing, quality=0.6)
    work.advance(budget)
    work.advance(budget)
    assert (work.is_done, guessing.looked_at, budget.used) == (True, 2, 2)


def test_what_is_good_enough_from_the_first_is_not_worked_on():
    guessing = Guessing([0.9], first=0.6)
    work = UntilGoodEnough(guessing, quality=0.6)
    advance(work, 5)
    assert (work.is_done, guessing.looked_at) == (True, 0)


def test_it_ends_when_the_work_finds_nothing_better():
    work = UntilGoodEnough(Guessing([0.4, 0.3]), quality=0.9)
    advance(work, 1, 1)
    assert (work.is_done, work.result, work.progress, work.quality) == (True, "guess of 0.4", 1.0, 0.4)


def test_work_that_ends_without_an_answer_gives_none():
    work = UntilGoodEnough(Guessing([], first=None))
    advance(work, 1)
    assert (work.is_done, work.result) == (True, None)


def test_at_the_deadline_the_best_so_far_will_do(clock):
    guessing = Guessing([0.2, 0.3] + [0.1] * 50)
    work = UntilGoodEnough(guessing, quality=0.9, deadline_s=0.25, clock=clock)
    while not work.is_done:
        advance(work, 1)
        clock.advance()
    assert (work.result, guessing.looked_at, clock.now.frame) == ("guess of 0.3", 3, 4)


def test_a_deadline_without_any_answer_waits_for_the_first(clock):
    work = UntilGoodEnough(Guessing([0.0, 0.0, 0.1, 0.9], first=None), deadline_s=0, clock=clock)
    advance(work, 1, 1)
    assert (work.is_done, work.best) == (False, None)
    advance(work, 1)
    assert (work.is_done, work.result) == (True, "guess of 0.1")


def test_unlimited_budget_ends_at_first_pass_without_improvement():
    work = UntilGoodEnough(Guessing([0.1, 0.2, 0.3, 0.2, 0.4]), quality=0.3)
    work.advance(Budget.unlimited())
    assert work.result == "guess of 0.3"


def test_work_that_waits_is_not_asked_again_in_the_same_frame():
    asked = []

    class Waiting(Guessing):
        def advance(self, budget):
            asked.append(budget)

    UntilGoodEnough(Waiting([0.5])).advance(Budget.unlimited())
    assert len(asked) == 1


def test_cancelled_it_keeps_its_best_and_has_no_result():
    guessing = Guessing([0.1, 0.2, 0.3])
    work = UntilGoodEnough(guessing)
    advance(work, 1)
    work.cancel()
    assert (work.is_cancelled, work.best, guessing.looked_at) == (True, "guess of 0.1", 1)
    with pytest.raises(RuntimeError, match="no result: it was cancelled"):
        work.result  # noqa: B018
    with pytest.raises(RuntimeError, match="was cancelled"):
        advance(work, 1)


def test_cancelling_what_is_done_keeps_the_result():
    work = UntilGoodEnough(Guessing([], first=0.2))
    advance(work, 1)
    work.cancel()
    assert (work.result, work.is_cancelled) == ("guess of 0.2", False)


def test_a_background_job_runs_it_until_it_is_good_enough(clock):
    told = []
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(reraise=True))
    BackgroundJob(scheduler, UntilGoodEnough(Guessing([0.1, 0.3, 0.6, 0.9]), quality=0.5), then=told.append)
    for _ in range(9):
        scheduler.advance(Budget.of_steps(1))
    assert (told, scheduler.tasks) == (["guess of 0.6"], ())


@given(
    guesses=st.lists(st.integers(0, 10).map(lambda n: n / 10), max_size=12), enough=st.integers(1, 10),
    budgets=st.lists(st.integers(0, 4), max_size=30), stops=st.booleans(),
)
def test_answer_never_worsens_and_is_the_best_examined(guesses, enough, budgets, stops):
    guessing = Guessing(guesses, stops_at_each=stops)
    work, before = UntilGoodEnough(guessing, quality=enough / 10), 0.0
    for n in budgets:
        advance(work, n)
        assert work.quality == max([0.0, *guesses[: guessing.looked_at]]) >= before
        before = work.quality
        assert work.is_done == (work.quality >= enough / 10 or guessing.is_done)


@pytest.mark.parametrize(
    ("quality", "error"), [(float("nan"), ValueError), (1.5, ValueError), (-0.5, ValueError), ("good", TypeError)]
)
def test_work_that_tells_no_quality_is_refused_as_it_runs(quality, error):
    guessing = Guessing([1.0])
    guessing.quality = quality
    with pytest.raises(error, match="quality must be"):
        advance(UntilGoodEnough(guessing), 1)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"work": 3}, TypeError, "work must be anytime work, got 3 without best, quality, is_done, advance"),
        ({"work": Guessing}, TypeError, "work must be anytime work, got <class"),
        ({"quality": 0}, ValueError, "quality must be above 0, got 0"),
        ({"quality": 1.1}, ValueError, "quality must be at most 1, got 1.1"),
        ({"quality": float("nan")}, ValueError, "quality must be a finite number"),
        ({"quality": True}, TypeError, "quality must be a number, got True"),
        ({"deadline_s": 1.0}, TypeError, "clock must be a Clock when deadline_s is set, got None"),
    ],
)
def test_bad_settings_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        UntilGoodEnough(**{"work": Guessing([]), **settings})


def test_an_infinite_deadline_is_refused(clock):
    with pytest.raises(ValueError, match="deadline_s must be a finite number, got inf"):
        UntilGoodEnough(Guessing([]), deadline_s=float("inf"), clock=clock)


def carried_over(work, other):
    other.prepare_state(json.loads(json.dumps(work.save_state())))()
    return other


@pytest.mark.parametrize("frames", range(6))
def test_loaded_search_keeps_its_deadline(clock, frames):
    guesses = [0.1, 0.3, 0.2, 0.5, 0.6]
    work = UntilGoodEnough(Guessing(guesses), deadline_s=0.25, clock=clock)
    for _ in range(frames):
        advance(work, 1)
        clock.advance()
    other = carried_over(work, UntilGoodEnough(Guessing(guesses), deadline_s=99, clock=clock))
    assert (other.best, other.quality, other.is_done) == (work.best, work.quality, work.is_done)
    while not other.is_done:
        advance(other, 1)
        clock.advance()
    assert other.result == "guess of 0.3"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"is_done": 1}, "'is_done' must be true or false, got 1"),
        ({"deadline_s": 1.0}, "'deadline_s' was saved, but the current object has no clock"),
        ({"work": {"version": 1, "looked_at": 9}}, "'work': 'looked_at' must be at most 2, got 9"),
        ({"more": 1}, "'more' is an unknown field"),
    ],
)
def test_a_damaged_save_changes_nothing(change, message):
    work = UntilGoodEnough(Guessing([0.1, 0.2]))
    advance(work, 1)
    state = work.save_state()
    with pytest.raises(StateError, match=message):
        work.prepare_state({**state, **change})
    assert work.save_state() == state
