"""Budgets: how much may still be done, and who pays?"""
from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget


def test_time_is_spent_by_passing(stopwatch):
    budget = Budget.of_time(100, stopwatch)
    stopwatch.passes(us=30)
    assert (budget.used, budget.left, budget.over, budget.is_spent) == (30, 70, 0, False)
    stopwatch.passes(us=80)
    assert (budget.used, budget.left, budget.over, budget.is_spent) == (110, 0, 10, True)


def test_steps_are_spent_by_reporting_them():
    budget = Budget.of_steps(3)
    budget.spend()
    budget.spend(2)
    assert (budget.used, budget.left, budget.over, budget.is_spent) == (3, 0, 0, True)
    budget.spend()
    assert budget.over == 1


def test_an_unlimited_budget_is_never_spent_and_still_counts():
    budget = Budget.unlimited()
    budget.spend(1_000_000)
    assert (budget.used, budget.left, budget.over) == (1_000_000, math.inf, 0)
    assert not budget.is_spent


def test_a_part_of_time_ends_no_later_than_the_whole(stopwatch):
    whole = Budget.of_time(100, stopwatch)
    stopwatch.passes(us=70)
    assert whole.part(10).left == 10
    assert whole.part(1000).left == 30
    assert whole.part(math.inf).left == 30


def test_work_reported_with_a_query_counts_on_parent_budgets(stopwatch):
    whole = Budget.of_time(100, stopwatch)
    part = whole.part(40)
    assert (whole.spends(1), part.spends(2)) == (False, False)
    stopwatch.passes(us=40)
    assert (whole.spends(1), part.spends(0)) == (False, True)
    assert (whole.steps, part.steps) == (4, 2)


def test_a_stopwatch_of_seconds_is_refused():
    with pytest.raises(TypeError, match=r"nanoseconds as int, got 0\.25; use time\.perf_counter_ns"):
        Budget.of_time(100, lambda: 0.25)


@pytest.mark.parametrize("make", [
    lambda: Budget.of_steps(10**400), lambda: Budget.of_time(1e308, int), lambda: Budget.of_time(10**400, int)])
def test_a_budget_that_nobody_could_count_is_refused(make):
    with pytest.raises(ValueError, match=r"Budget\.unlimited\(\) for no limit"):
        make()


def test_a_part_of_no_limit_may_have_one():
    whole = Budget.unlimited()
    part = whole.part(2)
    part.spend(2)
    assert part.is_spent
    assert whole.used == 2


def test_share_of_steps_is_rounded_up_so_that_none_gets_zero():
    assert Budget.of_steps(10).part(10 / 3).left == 4


def test_siblings_spend_from_the_same_whole():
    whole = Budget.of_steps(10)
    first, second = whole.part(8), whole.part(8)
    first.spend(8)
    assert second.left == 2
    second.spend(2)
    assert second.is_spent


def test_a_part_is_over_when_the_whole_is():
    whole = Budget.of_steps(10)
    part = whole.part(5)
    whole.spend(12)
    assert (part.is_spent, part.over) == (True, 2)


@given(
    total=st.integers(0, 50),
    actions=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=30),
)
def test_no_part_is_ever_larger_than_what_is_left_of_the_whole(total, actions):
    budgets, spent = [Budget.of_steps(total)], 0
    for index, amount in actions:
        budget = budgets[index % len(budgets)]
        if amount < 5:
            budgets.append(budget.part(amount))
        else:
            budget.spend(amount - 5)
            spent += amount - 5
        assert all(0 <= part.left <= max(0, total - spent) for part in budgets)
    assert budgets[0].used == spent


@pytest.mark.parametrize("amount", [-1, math.nan, math.inf])
def test_a_time_that_is_no_amount_is_refused(amount, stopwatch):
    with pytest.raises(ValueError, match=r"us must be .*Budget.unlimited\(\) for no limit"):
        Budget.of_time(amount, stopwatch)


@pytest.mark.parametrize("amount", [-1, 1.5, True, math.inf])
def test_steps_that_are_no_amount_are_refused(amount):
    with pytest.raises((ValueError, TypeError), match="n must be"):
        Budget.of_steps(amount)


@pytest.mark.parametrize("amount", [-1, math.nan])
def test_a_part_that_is_no_amount_is_refused(amount):
    with pytest.raises(ValueError, match="amount must be"):
        Budget.of_steps(3).part(amount)


def test_work_cannot_be_undone():
    with pytest.raises(ValueError, match="work cannot be undone"):
        Budget.of_steps(3).spend(-1)


def test_a_budget_shows_what_is_left_of_it(stopwatch):
    budget = Budget.of_time(250, stopwatch)
    stopwatch.passes(50)
    assert repr(budget) == "<TimeBudget 200 µs left, 0 steps reported>"
    part = Budget.of_steps(10).part(3)
    part.spend()
    assert repr(part) == "<StepPart 2 steps left, 1 steps reported>"
    assert repr(Budget.unlimited()) == "<UnlimitedBudget inf steps left, 0 steps reported>"


@pytest.mark.parametrize("make", [lambda: Budget.of_time(-1, lambda: 0), lambda: Budget.of_steps(-1)])
def test_amount_error_says_how_to_set_none_and_how_no_limit(make):
    with pytest.raises(ValueError, match=r"use 0 to allow nothing, Budget\.unlimited\(\) for no limit"):
        make()


class PlainSteps:
    """What a part of steps is, with every question asked of all it is a part of."""

    def __init__(self, allowed, parent=None):
        self.allowed, self.parent, self.steps = allowed, parent, 0

    @property
    def left(self):
        own = max(0, self.allowed - self.steps)
        return own if self.parent is None else min(own, self.parent.left)

    def part(self, amount):
        return PlainSteps(min(amount, self.left), self)

    def spend(self, steps):
        self.steps += steps
        if self.parent is not None:
            self.parent.spend(steps)


@given(
    total=st.integers(0, 20),
    deeds=st.lists(st.tuples(st.sampled_from(["part", "spend"]), st.integers(0, 9), st.integers(0, 12))),
    is_below_no_limit=st.booleans(),
)
def test_spending_from_a_whole_updates_what_every_part_has_left(total, deeds, is_below_no_limit):
    whole = Budget.unlimited().part(total) if is_below_no_limit else Budget.of_steps(total)
    budgets, plain = [whole], [PlainSteps(total)]
    for deed, number, amount in deeds:
        one, other = budgets[number % len(budgets)], plain[number % len(plain)]
        if deed == "part":
            budgets.append(one.part(amount))
            plain.append(other.part(amount))
        else:
            one.spend(amount)
            other.spend(amount)
        assert [(one.left, one.is_spent) for one in budgets] == [(one.left, one.left <= 0) for one in plain]


def test_a_stopwatch_must_be_callable():
    with pytest.raises(TypeError, match="stopwatch must be a callable, got 5"):
        Budget.of_time(100, 5)


def test_a_look_at_what_is_left_is_as_good_as_a_question(stopwatch):
    for budget in (Budget.of_time(5, stopwatch), Budget.of_steps(5), Budget.unlimited()):
        assert budget.peek() == budget.left
        assert budget.part(2).peek() == 2


def test_a_piece_of_work_that_does_not_fit_ends_a_budget_of_time():
    now_ns = [0]
    budget = Budget.of_time(100.0, lambda: now_ns[0])
    assert budget.has_room(99.0)
    now_ns[0] = 40_000
    assert budget.has_room(59.0)
    assert not budget.is_spent
    assert not budget.has_room(61.0)
    assert budget.is_spent
    assert budget.over == 0


def test_where_time_does_not_decide_any_piece_fits_until_the_end():
    budget = Budget.of_steps(1)
    assert budget.has_room(1e9)
    budget.spend()
    assert not budget.has_room(0)
    assert Budget.unlimited().has_room(1e9)
