"""Scheduling level of detail: rates follow importance, and nothing else suffers from it."""
from __future__ import annotations

import math

import pytest

from ai_core.budget import Budget
from ai_core.level_of_detail.scheduling_lod import RateBand, SchedulingLOD, TaskRate
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.snapshot import restore, take

BANDS = [RateBand(0.6, TaskRate(1, 4.0)), RateBand(0.0, TaskRate(30, 0.5)), RateBand(0.3, TaskRate(6, 1.0))]


class Crowd:
    def __init__(self, clock, rates, count=1, **settings):
        self.clock = clock
        self.scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
        self.turns = []
        self.tasks = [self.scheduler.add(self.think, name=f"agent {n}") for n in range(count)]
        self.lod = SchedulingLOD(self.scheduler, rates, **settings)
        for task in self.tasks:
            self.lod.add(task)

    def think(self, turn):
        self.turns.append(turn.elapsed_s)

    def frame(self):
        self.clock.advance()
        self.scheduler.advance(Budget.unlimited())


@pytest.mark.parametrize(("value", "rate"), [(0.0, (30, 0.5)), (0.29, (30, 0.5)), (0.3, (6, 1.0)), (1.0, (1, 4.0))])
def test_a_band_gives_period_and_priority(clock, value, rate):
    crowd = Crowd(clock, BANDS)
    assert crowd.lod.update([value]) == 1
    assert (crowd.tasks[0].period_frames, crowd.tasks[0].priority) == rate


def test_a_rate_may_leave_period_or_priority_alone(clock):
    crowd = Crowd(clock, [RateBand(0, TaskRate(priority=3.0))])
    crowd.scheduler.change(crowd.tasks[0], period_frames=7)
    crowd.lod.update([0.5])
    assert (crowd.tasks[0].period_frames, crowd.tasks[0].priority) == (7, 3.0)


def test_a_function_gives_the_rate(clock):
    crowd = Crowd(clock, lambda importance: TaskRate(round(1 + 59 * (1 - importance)), 1 + importance))
    crowd.lod.update([0.5])
    assert (crowd.tasks[0].period_frames, crowd.tasks[0].priority) == (30, 1.5)
    assert crowd.lod.update([0.54]) == 0
    assert crowd.lod.update([0.56]) == 1


@pytest.mark.parametrize("rates", [BANDS, lambda importance: TaskRate(1 + int(40 * (1 - importance)))])
def test_wobbling_on_a_border_changes_nothing_after_first_time(clock, rates):
    crowd = Crowd(clock, rates, hysteresis=0.05)
    changes = sum(crowd.lod.update([0.6 + 0.045 * math.sin(frame)]) for frame in range(10_000 // 10))
    assert changes == 1


def test_clearly_past_a_border_changes_once_each_way(clock):
    crowd = Crowd(clock, BANDS, hysteresis=0.05)
    way = [n / 100 for n in (*range(101), *range(100, -1, -1))]
    assert sum(crowd.lod.update([value]) for value in way) == 1 + 2 + 2
    assert crowd.tasks[0].period_frames == 30


def test_elapsed_time_stays_true_through_changes(clock):
    crowd = Crowd(clock, BANDS)
    for frame in range(200):
        crowd.lod.update([(frame * 37 % 100) / 100])
        crowd.frame()
    assert sum(crowd.turns) <= clock.now.seconds + 1e-9
    assert sum(crowd.turns) > clock.now.seconds - 30 * 0.1
    assert max(crowd.turns) <= 59 * 0.1


def test_new_periods_get_phases_that_keep_the_load_flat(clock):
    crowd = Crowd(clock, BANDS, count=30)
    crowd.lod.update([0.0] * 30)
    loads = []
    for _ in range(60):
        before = len(crowd.turns)
        crowd.frame()
        loads.append(len(crowd.turns) - before)
    assert loads[1:] == [1] * 59


def test_budget_serves_most_important_first_and_ties_by_order(clock):
    crowd = Crowd(clock, BANDS, count=4)
    values = [0.1, 0.9, 0.7, 0.9]
    assert crowd.lod.update(values, Budget.of_steps(2)) == 2
    assert [task.priority for task in crowd.tasks] == [1.0, 4.0, 1.0, 4.0]
    assert crowd.lod.update(values, Budget.of_steps(1)) == 1
    assert [task.priority for task in crowd.tasks] == [1.0, 4.0, 4.0, 4.0]
    assert crowd.lod.update(values) == 1


def test_a_task_that_its_scheduler_removed_is_left_out(clock):
    crowd = Crowd(clock, BANDS, count=2)
    crowd.scheduler.remove(crowd.tasks[0])
    assert crowd.lod.update([1.0, 1.0]) == 1
    crowd.lod.remove(crowd.tasks[0])
    assert crowd.lod.tasks == (crowd.tasks[1],)
    with pytest.raises(ValueError, match="unknown task"):
        crowd.lod.remove(crowd.tasks[0])


@pytest.mark.parametrize(
    ("rates", "error", "message"),
    [
        ([], ValueError, "no band contains importance 0 to 1"),
        ([RateBand(0.2, TaskRate(1))], ValueError, "no band contains importance 0 to 0.2; add a band with at_least 0"),
        ([RateBand(0, TaskRate(1)), RateBand(0, TaskRate(2))], ValueError, "two bands start at 0"),
        ([RateBand(math.nan, TaskRate(1))], ValueError, "at_least must be a finite number"),
        ([RateBand(0, TaskRate(0))], ValueError, "period_frames must be at least 1"),
        ([RateBand(0, TaskRate(True))], TypeError, "period_frames must be an integer"),
        ([RateBand(0, TaskRate(1, -1.0))], ValueError, "priority must be at least"),
        (3, TypeError, "rates must hold RateBand"),
    ],
)
def test_wrong_rates_are_refused(clock, rates, error, message):
    with pytest.raises(error, match=message):
        SchedulingLOD(Scheduler(clock, policy=Policy.FREQUENCY), rates)


@pytest.mark.parametrize("rate", [None, 3, (1,), [1, 2.0]])
def test_a_function_that_gives_no_rate_is_told_what_it_gave(clock, rate):
    crowd = Crowd(clock, lambda importance: rate)
    with pytest.raises(TypeError, match=r"rates must return a TaskRate for importance 0\.25, got "):
        crowd.lod.update([0.25])


def test_misuse_is_told_at_the_call(clock):
    crowd = Crowd(clock, BANDS)
    with pytest.raises(ValueError, match="importance must be 0 to 1, got nan for task 'agent 0'"):
        crowd.lod.update([math.nan])
    with pytest.raises(ValueError, match=r"shape \(1,\), got \(2,\)"):
        crowd.lod.update([0.1, 0.2])
    with pytest.raises(ValueError, match="added before"):
        crowd.lod.add(crowd.tasks[0])
    with pytest.raises(ValueError, match="belongs to another scheduler"):
        crowd.lod.add(Scheduler(clock, policy=Policy.FREQUENCY).add(crowd.think))
    with pytest.raises(TypeError, match="scheduler must be a Scheduler"):
        SchedulingLOD(None, BANDS)


def test_loaded_it_wobbles_on_without_a_change(clock):
    first, second = Crowd(clock, BANDS, count=2), Crowd(clock, BANDS, count=2)
    first.lod.update([0.62, 0.1])
    state = take({"scheduler": first.scheduler, "lod": first.lod})
    restore(state, {"scheduler": second.scheduler, "lod": second.lod})
    assert second.lod.update([0.58, 0.12]) == 0
    assert take({"scheduler": second.scheduler, "lod": second.lod}) == state


def test_a_rate_may_be_taken_for_the_one_of_an_importance(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    lod = SchedulingLOD(scheduler, lambda importance: TaskRate(1 + round(9 * (1 - importance)), None), hysteresis=0.2)
    task = scheduler.add(lambda turn: None)
    lod.add(task)
    assert lod.chosen[task] < 0
    lod.choose({task: 0.5})
    assert (lod.update([0.6]), task.period_frames, lod.chosen) == (0, 1, {task: 0.5})
    for none in (-1, -0.5):
        lod.choose({task: none})
        assert lod.chosen == {task: -1}
    assert (lod.update([0.6]), task.period_frames) == (1, 5)
    with pytest.raises(ValueError, match="must be of exactly 1 added tasks, got 0"):
        lod.choose({})
    lod.remove(task)
    with pytest.raises(ValueError, match="was removed before, or never added"):
        lod.remove(task)
