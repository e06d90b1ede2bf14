"""Requested time: what was asked for is granted whole, or waits with a growing claim."""
from __future__ import annotations

import math

import pytest

from ai_core.budget import Budget
from ai_core.recording.grants import RecordingBudget, ReplayBudget
from ai_core.saving.fields import StateError
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler


class Office:
    """A scheduler whose work writes down its name and what it was granted, and uses it all."""

    def __init__(self, clock, **settings):
        self.scheduler = Scheduler(clock, policy=Policy.REQUESTED_TIME, **settings)
        self.granted = []

    def add(self, name, request=None, **settings):
        def work(turn):
            self.granted.append((name, turn.budget.left))
            turn.budget.spend(math.ceil(turn.budget.left))

        task = self.scheduler.add(work, name=name, **settings)
        self.scheduler.request(task, request)
        return task

    def frame(self, steps):
        self.scheduler.advance(Budget.of_steps(steps))
        told, self.granted = self.granted, []
        return told


def test_what_was_asked_for_is_granted_to_the_step(clock):
    office = Office(clock)
    for name, request in (("a", 30), ("b", 20), ("c", 50)):
        office.add(name, request)
    assert office.frame(100) == [("a", 30), ("b", 20), ("c", 50)]


def test_what_does_not_fit_waits_and_those_that_fit_pass(clock):
    office = Office(clock)
    for name, request in (("a", 60), ("b", 50), ("c", 40)):
        office.add(name, request)
    assert office.frame(100) == [("a", 60), ("c", 40)]
    assert [task.name for task in office.scheduler.waiting] == ["b"]
    assert office.frame(100) == [("b", 50), ("c", 40)]


def test_higher_priority_goes_first_until_another_claim_grows(clock):
    office = Office(clock)
    office.add("king", 100, priority=3)
    office.add("page", 100)
    assert [office.frame(100)[0][0] for _ in range(8)] == ["king", "king", "king", "page"] * 2


def test_equal_claims_go_to_the_smallest_id(clock):
    office = Office(clock)
    for name in "abc":
        office.add(name, 100)
    assert [office.frame(100)[0][0] for _ in range(6)] == list("abcabc")


def test_request_over_a_frame_gets_all_there_is_once_first(clock):
    office = Office(clock)
    office.add("small", 10, priority=2)
    office.add("vast", 1_000_000)
    assert office.frame(100) == [("small", 10)]
    assert office.frame(100) == [("small", 10)]
    assert office.frame(100) == [("vast", 100)]


def test_work_that_asked_for_nothing_shares_by_priority(clock):
    office = Office(clock)
    office.add("asks", 40)
    office.add("a")
    office.add("b")
    assert office.frame(100) == [("asks", 40), ("a", 30), ("b", 30)]


def test_a_request_holds_until_it_is_changed_or_taken_back(clock):
    office = Office(clock)
    task = office.add("a", 40)
    assert [office.frame(100), office.frame(100)] == [[("a", 40)], [("a", 40)]]
    office.scheduler.request(task, 70.5)
    assert office.frame(100) == [("a", 71)]  # steps are whole
    office.scheduler.request(task, None)
    assert office.frame(100) == [("a", 100)]
    assert task._request == -1


def test_running_work_may_ask_for_itself_from_the_next_frame_on(clock):
    scheduler, granted = Scheduler(clock, policy=Policy.REQUESTED_TIME), []

    def work(turn):
        granted.append(turn.budget.left)
        scheduler.request(task, 10 * len(granted))

    task = scheduler.add(work)
    for _ in range(3):
        scheduler.advance(Budget.of_steps(99))
    assert granted == [99, 10, 20]


def test_of_time_too_a_request_is_granted_exactly(clock, stopwatch):
    scheduler, granted = Scheduler(clock, policy=Policy.REQUESTED_TIME), []
    for us in (300, 250.5, 449.5, 1):
        task = scheduler.add(
            lambda turn: granted.append(turn.budget.left) or stopwatch.passes(turn.budget.left)
        )
        scheduler.request(task, us)
    budget = Budget.of_time(1000, stopwatch)
    scheduler.advance(budget)
    assert granted == [300, 250.5, 449.5]
    assert budget.over == 0
    assert scheduler.waiting == (task,)


def test_without_a_limit_all_get_what_they_ask(clock):
    office, granted = Office(clock), []
    office.add("a", 40)
    rest = office.scheduler.add(lambda turn: granted.append(turn.budget.left))
    office.scheduler.advance(Budget.unlimited())
    assert (office.granted, granted, rest.runs) == ([("a", 40)], [math.inf], 1)


def test_a_request_of_nothing_is_granted_while_anything_is_left(clock):
    office = Office(clock)
    office.add("a", 5)
    office.add("b", 0)
    assert office.frame(6) == [("a", 5), ("b", 0)]
    office.scheduler.change(office.scheduler.tasks[0], priority=9)
    assert office.frame(5) == [("a", 5)]


def test_paused_and_removed_work_does_not_wait(clock):
    office = Office(clock)
    _, paused, removed, kept = (office.add(name, 100, period_frames=9, phase_frames=0) for name in "fprk")
    office.frame(100)
    office.scheduler.pause(paused)
    office.scheduler.remove(removed)
    assert office.scheduler.waiting == (kept,)
    assert office.frame(100) == [("k", 100)]


def test_frames_that_ran_on_time_replay_with_the_same_runs(clock, stopwatch):
    def world(budgets):
        scheduler, ran = Scheduler(clock, policy=Policy.REQUESTED_TIME), []

        def work(turn, name, us):
            ran.append(name)
            stopwatch.passes(us)
            turn.budget.spend(us)

        for name, request, us in (("a", 300, 350), ("b", 300, 100), ("c", 500, 20), ("d", None, 60), ("e", 90, 5)):
            task = scheduler.add(lambda turn, name=name, us=us: work(turn, name, us), name=name)
            scheduler.request(task, request)
        for budget in budgets:
            scheduler.advance(budget())
            ran.append("|")
        return ran

    recorded = [[] for _ in range(6)]
    watched = [lambda notes=notes: RecordingBudget(Budget.of_time(700, stopwatch), notes) for notes in recorded]
    granted = [lambda notes=notes: ReplayBudget(notes) for notes in recorded]
    as_recorded = world(watched)
    assert as_recorded[:11] == ["a", "b", "d", "e", "|", "c", "a", "b", "d", "e", "|"]
    assert world(granted) == as_recorded


@pytest.mark.parametrize("amount", [-1, math.nan, math.inf, -math.inf, 1e10])
def test_a_request_is_a_finite_amount(clock, amount):
    office = Office(clock)
    task = office.add("a", 7)
    with pytest.raises(ValueError, match="amount must be"):
        office.scheduler.request(task, amount)
    assert task._request == 7


@pytest.mark.parametrize("amount", [True, "40", [40]])
def test_a_request_is_a_number(clock, amount):
    office = Office(clock)
    with pytest.raises(TypeError, match="amount must be a number"):
        office.scheduler.request(office.add("a"), amount)


def test_no_time_can_be_requested_for_removed_or_foreign_tasks(clock):
    office, other = Office(clock), Office(clock)
    task = office.add("a", 5)
    with pytest.raises(ValueError, match="another scheduler"):
        other.scheduler.request(task, 5)
    office.scheduler.remove(task)
    for act in (lambda: office.scheduler.request(task, 5), lambda: office.scheduler.longest_wait_frames(task)):
        with pytest.raises(ValueError, match="was removed"):
            act()


def test_requests_and_claims_go_on_after_loading(clock):
    first, second = Office(clock), Office(clock)
    for office in (first, second):
        for name, priority in (("a", 5), ("b", 1), ("c", 2)):
            office.add(name, priority=priority)
    for task, request in zip(first.scheduler.tasks, (100, 70, 50), strict=True):
        first.scheduler.request(task, request)
    for _ in range(4):
        first.frame(100)
    second.frame(100)
    second.scheduler.prepare_state(first.scheduler.save_state())()
    assert [second.frame(100) for _ in range(12)] == [first.frame(100) for _ in range(12)]


@pytest.mark.parametrize(
    ("request_", "why"),
    [(-2, r"tasks\[0\].request' must be at least -1"), (1e12, "must be at most"), ("x", "must be a finite number")])
def test_bad_saved_requests_are_refused_and_change_nothing(clock, request_, why):
    office = Office(clock)
    task = office.add("a", 5)
    state = office.scheduler.save_state()
    office.frame(10)
    state["tasks"][0]["request"] = request_
    with pytest.raises(StateError, match=why):
        office.scheduler.prepare_state(state)
    assert (office.scheduler.frame, task._request) == (1, 5)


def test_requests_need_the_policy_that_grants_them(clock):
    scheduler = Scheduler(clock)
    with pytest.raises(ValueError, match=r"use Policy\.REQUESTED_TIME"):
        scheduler.request(scheduler.add(print), 5)


def test_what_another_policy_saved_is_loaded_without_requests(clock):
    office, other = Office(clock), Scheduler(clock)
    task = office.add("a", 30)
    other.add(print, name="a", period_frames=4)
    office.scheduler.prepare_state(other.save_state())()
    assert (task.period_frames, task._request) == (4, -1)


@pytest.mark.parametrize("state", [None, []])
def test_what_is_no_state_is_refused(clock, state):
    with pytest.raises(StateError, match="must be a dict"):
        Office(clock).scheduler.prepare_state(state)
