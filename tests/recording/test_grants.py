"""Granted steps: work that was paused by time is paused there again."""
from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager
from ai_core.recording.grants import Grant, RecordingBudget, ReplayBudget
from ai_core.scheduling.policies import BudgetMargin, Policy
from ai_core.scheduling.scheduler import Scheduler
from tests.scheduling.makers import load_balancing, requested_time


class UnevenStopwatch:
    """Time passes by chance, at every look."""

    def __init__(self, seed):
        self._chance = random.Random(seed)
        self.now_ns = 0

    def __call__(self):
        self.now_ns += int(self._chance.random() ** 4 * 9000)
        return self.now_ns


def counting(told, name):
    def count(turn):
        for number in range(12):
            told.append((name, number))
            yield

    return count


def house_of_work(told, kind=load_balancing, **settings):
    """Generators, two schedulers inside, one of which often has nothing due, and events, under one scheduler."""
    clock = ManualClock()
    root, inner, events = kind(clock, **settings), Scheduler(clock, policy=Policy.FREQUENCY), EventManager(clock)
    rare = Scheduler(clock, policy=Policy.LOAD_BALANCING)
    for number in range(9):
        events.listen("shot", lambda event, number=number: told.append(("heard", event.arguments, number)))
    for number in range(3):
        inner.add(counting(told, f"inner {number}"), period_frames=number + 1, name=f"inner {number}")
        root.add(counting(told, f"outer {number}"), period_frames=number + 1, name=f"outer {number}")
        rare.add(counting(told, f"rare {number}"), period_frames=5, phase_frames=0, name=f"rare {number}")
    root.add(inner, name="inner")
    root.add(rare, name="rare")
    root.add(events, name="events")

    def frame(number, budget):
        clock.advance()
        events.send("shot", number)
        root.advance(budget)

    return frame


@settings(max_examples=30)
@given(some.integers(0, 10_000), some.floats(0, 80))
def test_the_same_work_runs_equally_far_in_every_frame(seed, us):
    recorded, replayed, grants = [], [], []
    frame = house_of_work(recorded)
    for number in range(8):
        noted = []
        frame(number, RecordingBudget(Budget.of_time(us, UnevenStopwatch(seed + number)), noted))
        grants.append((noted, len(recorded)))
    frame = house_of_work(replayed)
    for number, (noted, length) in enumerate(grants):
        frame(number, ReplayBudget(noted))
        assert len(replayed) == length
    assert replayed == recorded


@pytest.mark.parametrize("kind", [load_balancing, requested_time])
@settings(max_examples=30)
@given(some.integers(0, 10_000), some.floats(0, 80), some.lists(some.sampled_from([0, 0, 0, 5, 90_000]), min_size=30))
def test_wait_for_a_margin_repeats_in_a_replay_despite_stalls(kind, seed, us, stalls_ns):
    recorded, replayed, grants, stopwatch = [], [], [], UnevenStopwatch(seed)
    frame = house_of_work(recorded, kind, margin=BudgetMargin())
    for number, stall_ns in enumerate(stalls_ns):
        inner, noted = Budget.of_time(us, stopwatch), []
        stopwatch.now_ns += stall_ns
        frame(number, RecordingBudget(inner, noted))
        grants.append((noted, len(recorded)))
    frame = house_of_work(replayed, kind, margin=BudgetMargin())
    for number, (noted, length) in enumerate(grants):
        frame(number, ReplayBudget(noted))
        assert len(replayed) == length
    assert replayed == recorded


@given(
    some.lists(some.sampled_from(["ask", "left", "room", "step", "step and ask"]), max_size=30), some.integers(0, 40))
def test_every_question_has_the_same_answer_again(doings, lasts):
    looks = iter(range(100))
    noted, answers = [], []
    watched = RecordingBudget(Budget.of_time(lasts / 1000, lambda: next(looks)), noted)
    for budget in (watched, None):
        budget = budget or ReplayBudget(noted)
        given = []
        for doing in doings:
            if doing == "step":
                budget.spend()
            elif doing == "step and ask":
                given.append(budget.spends(1))
            elif doing == "room":       # a piece that does not fit ends the budget
                given.append(not budget.has_room(0.005))
            else:
                given.append(budget.is_spent if doing == "ask" else budget.left <= 0)
        answers.append(given)
    assert answers[0] == answers[1]


def test_what_was_never_spent_has_no_end(stopwatch):
    noted = []
    budget = RecordingBudget(Budget.of_time(5, stopwatch), noted)
    assert not budget.is_spent
    assert noted == [None]
    assert ReplayBudget(noted).left == math.inf


def test_steps_count_on_the_budgets_that_it_is_part_of(stopwatch):
    watched = RecordingBudget(Budget.of_time(10, stopwatch), [])
    part = watched.part(4).part(2)
    part.spend(3)
    part.spend(0)
    assert (part.steps, watched.steps, watched.left) == (3, 3, 10)
    for bad in (-1, 1.5, True):
        with pytest.raises((TypeError, ValueError), match="steps must be"):
            part.spend(bad)


def test_a_part_beyond_those_recorded_is_spent_at_once():
    budget = ReplayBudget([Grant(5, 0)])
    assert budget.left == 5
    assert budget.part(3).is_spent


def test_watched_budget_uses_and_overruns_like_the_deciding_one(stopwatch):
    inner = Budget.of_time(10, stopwatch)
    watched = RecordingBudget(inner, [])
    part = watched.part(4)
    for passed_us in (3, 4, 6):
        stopwatch.passes(passed_us)
        assert (watched.used, watched.over, watched.left) == (inner.used, inner.over, inner.left)
    assert (part.used, part.over, part.left) == (13, 9, 0)
    granted = ReplayBudget([Grant(2, 0)])
    granted.spend(5)
    assert (granted.used, granted.over) == (5, 0)


def test_a_part_lasts_no_longer_than_the_whole(stopwatch):
    watched = RecordingBudget(Budget.of_time(10, stopwatch), [])
    assert [watched.part(us).left for us in (4, 40, math.inf)] == [4, 10, 10]


def test_only_time_has_to_be_watched():
    with pytest.raises(TypeError, match=r"inner must be a time budget, got .*; budgets of steps need no recording"):
        RecordingBudget(Budget.of_steps(2), [])


def test_a_budget_part_must_not_be_negative_when_watched_either(stopwatch):
    with pytest.raises(ValueError, match="amount must be at least 0"):
        RecordingBudget(Budget.of_time(2, stopwatch), []).part(-1)


def test_what_is_only_looked_at_for_a_report_is_no_answer(stopwatch):
    noted = []
    watched = RecordingBudget(Budget.of_time(5, stopwatch), noted)
    part = watched.part(2)
    assert (watched.peek(), part.peek(), noted) == (5, 2, [])
    stopwatch.passes(3)
    assert (watched.peek(), part.peek(), noted) == (2, 0, [])
    assert (part.is_spent, noted) == (True, [(0, 0)])
    assert ReplayBudget(noted).peek() == math.inf


def test_grants_are_taken_in_the_order_budgets_are_first_asked(stopwatch):
    for budget in (RecordingBudget(Budget.of_time(5, stopwatch), noted := []), ReplayBudget([(0, 0), None])):
        late, early = budget.part(3), budget.part(0)
        assert [early.is_spent, late.is_spent] == [True, False]
    assert noted == [(0, 0), None]
