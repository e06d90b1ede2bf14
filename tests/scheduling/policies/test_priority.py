"""The priority scheduler: all of it runs, and the whole budget is given out by priority."""
from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import MAX_PRIORITY, MIN_PRIORITY
from tests.scheduling.task_sets import greedy


def test_ten_equal_greedy_tasks_use_a_tenth_of_the_budget_each(clock):
    """Divided by the priority of all, as the textbook prints it, they would get 65 %."""
    scheduler, granted = Scheduler(clock, policy=Policy.PRIORITY), []
    for name in "abcdefghij":
        scheduler.add(greedy(granted, name))
    budget = Budget.of_steps(1000)
    scheduler.advance(budget)
    assert granted == [(name, 100) for name in "abcdefghij"]
    assert budget.used == 1000


def test_under_time_too_they_get_a_tenth_each(clock, stopwatch):
    scheduler, granted = Scheduler(clock, policy=Policy.PRIORITY), []

    def work(turn):
        granted.append(turn.budget.left)
        stopwatch.passes(turn.budget.left)

    for _ in range(10):
        scheduler.add(work)
    budget = Budget.of_time(2000, stopwatch)
    scheduler.advance(budget)
    assert granted == [200.0] * 10
    assert (budget.used, budget.over) == (2000, 0)


def test_most_important_runs_first_and_ties_go_to_smallest_id(clock):
    scheduler, granted = Scheduler(clock, policy=Policy.PRIORITY), []
    for name, priority in (("a", 1), ("b", 3), ("c", 1), ("d", 3)):
        scheduler.add(greedy(granted, name), priority=priority)
    scheduler.advance(Budget.of_steps(800))
    assert granted == [("b", 300), ("d", 300), ("a", 100), ("c", 100)]


def test_what_the_important_leave_goes_to_the_others(clock):
    scheduler, granted = Scheduler(clock, policy=Policy.PRIORITY), []
    scheduler.add(lambda turn: None, priority=8)
    for name in "ab":
        scheduler.add(greedy(granted, name))
    scheduler.advance(Budget.of_steps(101))
    assert granted == [("a", 50), ("b", 50)]


def test_overrun_is_paid_by_the_less_important_and_all_run(clock, stopwatch):
    overruns, granted = [], []
    scheduler = Scheduler(clock, policy=Policy.PRIORITY, on_overrun=overruns.append)
    for name, priority, us in (("low", 1, 5), ("hog", 2, 500), ("king", 3, 50)):
        scheduler.add(
            lambda turn, us=us: granted.append(turn.budget.left) or stopwatch.passes(us),
            priority=priority, name=name,
        )
    scheduler.advance(Budget.of_time(120, stopwatch))
    assert granted == [60, pytest.approx(70 * 2 / 3, abs=1e-3), 0]
    assert [overrun.name for overrun in overruns] == ["hog"]


def test_by_remaining_priority_only_what_is_due_runs(clock):
    scheduler, granted = Scheduler(clock, policy=Policy.PRIORITY), []
    scheduler.add(greedy(granted, "often"))
    scheduler.add(greedy(granted, "rare"), period_frames=3, phase_frames=1)
    for _ in range(3):
        scheduler.advance(Budget.of_steps(10))
    assert granted == [("often", 10), ("often", 10), ("often", 5), ("rare", 5)]


def test_what_a_running_task_does_to_another_holds_at_once(clock):
    scheduler, ran = Scheduler(clock, policy=Policy.PRIORITY), []
    others = []

    def first(turn):
        ran.append("first")
        scheduler.remove(others[0])
        scheduler.pause(others[1])
        scheduler.change(others[2], priority=99)

    scheduler.add(first, priority=9)
    others += [scheduler.add(lambda turn, name=name: ran.append(name)) for name in "abc"]
    scheduler.advance(Budget.of_steps(9))
    assert ran == ["first", "c"]
    scheduler.advance(Budget.of_steps(9))
    assert ran[2:] == ["c", "first"] if others[0].is_removed else []


def test_a_failing_task_stops_nobody(clock):
    scheduler = Scheduler(clock, policy=Policy.PRIORITY, faults=FaultIsolation(report=lambda fault: None))
    bad = scheduler.add(lambda turn: 1 / 0, priority=5)
    good = scheduler.add(lambda turn: None)
    for _ in range(5):
        scheduler.advance(Budget.of_steps(2))
    assert (bad.runs, bad.faults, good.runs) == (3, 3, 5)


@pytest.mark.parametrize("policy", [None, "PRIORITY", 1, Policy])
def test_a_policy_is_one_of_those_there_are(clock, policy):
    with pytest.raises(TypeError, match="policy must be a Policy"):
        Scheduler(clock, policy=policy)


@settings(max_examples=30)
@given(
    priorities=st.lists(st.floats(MIN_PRIORITY, MAX_PRIORITY), min_size=1, max_size=12),
    us=st.integers(0, 100_000),
)
def test_shares_are_those_of_exact_arithmetic(priorities, us):
    """The model: fractions of the whole, in order of priority, the last rounded to 1 ns."""
    spent, granted = [0], {}
    scheduler = Scheduler(ManualClock(), policy=Policy.PRIORITY)

    def work(turn, index):
        granted[index] = turn.budget.left
        spent[0] += round(turn.budget.left * 1000)

    for index, priority in enumerate(priorities):
        scheduler.add(lambda turn, index=index: work(turn, index), priority=priority)
    budget = Budget.of_time(us, lambda: spent[0])
    scheduler.advance(budget)
    total = sum(map(Fraction, priorities))
    exact = [float(Fraction(us) * Fraction(one) / total) for one in priorities]
    assert [granted[index] for index in range(len(priorities))] == pytest.approx(exact, abs=0.012)
    assert budget.used == us
