"""A generator as interruptible work: pausing, result, progress, cancelling, saving."""
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.fields import StateError
from ai_core.saving.kinds import Whole
from ai_core.saving.values import SavedValues
from ai_core.scheduling.long_work import Suspendable


def counting(legs):
    """Count to ``legs``, one leg each, and return the sum."""
    total = 0
    for leg in range(1, legs + 1):
        total += leg
        yield leg / legs
    return total


def advance(work, *steps):
    for n in steps:
        work.advance(Budget.of_steps(n))


def test_it_resumes_where_it_paused_and_its_return_is_the_result():
    work = Suspendable(counting, 4)
    assert (work.is_done, work.progress) == (False, 0.0)
    advance(work, 2)
    assert (work.is_done, work.progress) == (False, 0.5)
    advance(work, 2)
    assert (work.is_done, work.progress) == (False, 1.0)
    advance(work, 2)
    assert (work.is_done, work.progress, work.result) == (True, 1.0, 10)


@given(legs=st.integers(0, 12), budgets=st.lists(st.integers(0, 5), max_size=20))
def test_however_it_is_cut_up_the_result_is_that_of_one_go(legs, budgets):
    work, whole = Suspendable(counting, legs), Suspendable(counting, legs)
    advance(work, *budgets)
    work.advance(Budget.unlimited())
    whole.advance(Budget.unlimited())
    assert work.result == whole.result == legs * (legs + 1) // 2


def test_a_spent_budget_still_brings_it_one_leg_further():
    work = Suspendable(counting, 3)
    advance(work, 0, 0, 0, 0)
    assert work.result == 6


def test_when_done_it_does_and_spends_nothing():
    work, budget = Suspendable(counting, 1), Budget.of_steps(9)
    advance(work, 9)
    work.advance(budget)
    assert (work.result, budget.used) == (1, 0)


def test_a_leg_costs_one_step_or_those_it_counts_itself():
    def dig():
        budget = yield
        budget.spend(3)
        yield

    budget = Budget.of_steps(9)
    Suspendable(dig).advance(budget)
    assert budget.used == 1 + 3 + 1


def test_it_is_sent_the_budget_to_hand_on():
    inner = Suspendable(counting, 5)

    def outer():
        budget = yield
        while not inner.is_done:
            inner.advance(budget)
            budget = yield inner.progress
        return inner.result

    work = Suspendable(outer)
    advance(work, 1, 2)
    assert inner.progress == work.progress == 0.4
    work.advance(Budget.unlimited())
    assert work.result == 15


def test_there_is_no_result_before_the_end():
    work = Suspendable(counting, 4)
    advance(work, 3)
    with pytest.raises(RuntimeError, match=r"no result: it is not done \(75%\); check is_done first"):
        work.result  # noqa: B018


def test_what_raises_begins_anew_on_the_next_advance():
    begun = []

    def search():
        begun.append(True)
        yield 0.5
        if len(begun) == 1:
            raise LookupError("gone")
        return "found"

    work = Suspendable(search)
    with pytest.raises(LookupError, match="gone"):
        advance(work, 9)
    assert (work.progress, work.is_done) == (0.0, False)
    advance(work, 9)
    assert (work.result, len(begun)) == ("found", 2)


def closing(closed):
    try:
        while True:
            yield
    finally:
        closed.append(True)


def test_cancelling_closes_the_generator_for_good():
    closed = []
    generator = closing(closed)  # held here too: it is closed, and not only let go of
    work = Suspendable(lambda: generator)
    advance(work, 2)
    work.cancel()
    work.cancel()
    assert (closed, work.is_cancelled, work.is_done) == ([True], True, False)
    with pytest.raises(RuntimeError, match="was cancelled; create another"):
        advance(work, 1)
    with pytest.raises(RuntimeError, match="no result: it was cancelled"):
        work.result  # noqa: B018


def test_cancelling_what_is_done_keeps_the_result():
    work = Suspendable(counting, 2)
    advance(work, 9)
    work.cancel()
    assert (work.result, work.is_cancelled) == (3, False)


def test_it_may_cancel_itself():
    closed = []

    def giving_up():
        yield
        work.cancel()
        yield from closing(closed)

    def giving_up_at_the_end():
        other.cancel()
        yield from ()

    generator = giving_up()
    work, other = Suspendable(lambda: generator), Suspendable(giving_up_at_the_end)
    advance(work, 9)
    advance(other, 9)
    assert (work.is_cancelled, closed, other.is_cancelled, other.is_done) == (True, [True], True, False)


@pytest.mark.parametrize("budget", [None, 5])
def test_what_is_no_budget_is_refused_and_changes_nothing(budget):
    work = Suspendable(counting, 2)
    with pytest.raises(TypeError, match="budget must be a Budget, got"):
        work.advance(budget)
    assert work._generator is None


@pytest.mark.parametrize("misuse", [lambda work: work.advance(Budget.of_steps(1)), lambda work: work.save_state()])
def test_it_must_not_advance_or_save_itself(misuse):
    def greedy():
        misuse(work)
        yield

    work = Suspendable(greedy)
    with pytest.raises(RuntimeError, match="is already running"):
        advance(work, 1)


async def asynchronous():
    return 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (5, "must be a generator function, got 5"),
        (counting(1), "pass the function without calling it"),
        (asynchronous, "must not be async"),
    ],
)
def test_what_is_no_generator_function_is_refused(function, message):
    with pytest.raises(TypeError, match=message):
        Suspendable(function)


def test_function_that_returns_no_generator_is_reported_at_start():
    with pytest.raises(TypeError, match=r"got one that returned \[1\]; use yield where it may pause"):
        advance(Suspendable(lambda: [1]), 1)


@pytest.mark.parametrize(
    ("told", "error"),
    [("half", TypeError), (True, TypeError), (float("nan"), ValueError), (1.5, ValueError), (-0.1, ValueError)],
)
def test_what_is_no_progress_is_refused_and_the_generator_closed(told, error):
    generator = (one for one in (told, told))
    with pytest.raises(error, match="progress must be"):
        advance(Suspendable(lambda: generator), 1)
    assert generator.gi_frame is None


class Digging(Saveable):
    """Keeps its progress in an attribute, and begins where it says."""

    STATE = DeclaredState(depth_m=Whole(maximum=5))

    def __init__(self, depth_m=0):
        self.depth_m = depth_m

    def __call__(self):
        while self.depth_m < 5:
            self.depth_m += 1
            yield self.depth_m / 5
        return f"{self.depth_m} m"


def carried_over(work, other):
    other.prepare_state(json.loads(json.dumps(work.save_state())))()
    return other


def test_loaded_half_done_it_begins_anew():
    begun = []

    def search():
        begun.append(True)
        yield from counting(3)

    work = Suspendable(search)
    advance(work, 2)
    other = carried_over(work, Suspendable(search))
    assert (other.progress, other.is_done) == (0.0, False)
    advance(other, 1)
    assert len(begun) == 2


def test_loaded_half_done_it_resumes_if_progress_is_known():
    work = Suspendable(Digging())
    advance(work, 3)
    other = carried_over(work, Suspendable(Digging()))
    assert other.progress == 0.6
    advance(other, 1)
    assert other.progress == 0.8
    advance(other, 9)
    assert other.result == "5 m"


def test_loaded_done_or_cancelled_it_is_so():
    work, other = Suspendable(counting, 3), Suspendable(counting, 3)
    advance(work, 9)
    advance(other, 1)
    assert carried_over(work, other).result == 6
    work = Suspendable(counting, 3)
    work.cancel()
    assert carried_over(work, other).is_cancelled


def test_loading_closes_what_was_half_done_here():
    closed = []
    other = Suspendable(closing, closed)
    advance(other, 1)
    carried_over(Suspendable(closing, closed), other)
    assert closed == [True]


def test_a_result_that_is_not_plain_is_saved_by_its_name():
    door = object()

    def find():
        yield
        return door

    values = SavedValues({"door": door})
    work = Suspendable(find, values=values)
    advance(work, 9)
    assert carried_over(work, Suspendable(find, values=values)).result is door
    nameless = Suspendable(find)
    advance(nameless, 9)
    with pytest.raises(StateError, match="'result' must be plain data or a named object"):
        nameless.save_state()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"is_done": 1}, "'is_done' must be true or false, got 1"),
        ({"progress": 2}, "'progress' must be at most 1, got 2.0"),
        ({"function": {"version": 1, "depth_m": 9}}, "'function': 'depth_m' must be at most 5, got 9"),
        ({"version": 7}, "update ai_core to load it"),
        ({"more": 1}, "'more' is an unknown field"),
    ],
)
def test_a_damaged_save_changes_nothing(change, message):
    work = Suspendable(Digging())
    advance(work, 2)
    state = work.save_state()
    with pytest.raises(StateError, match=message):
        work.prepare_state({**state, **change})
    assert work.save_state() == state


def test_state_of_a_function_not_saveable_here_is_refused():
    state = Suspendable(Digging()).save_state()
    with pytest.raises(StateError, match="'function' has a saved state, but the current object has no prepare_state"):
        Suspendable(counting, 2).prepare_state(state)
