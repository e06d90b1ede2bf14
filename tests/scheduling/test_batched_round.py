"""Work that is called in batches: timed now and then, and named when it overruns."""
from __future__ import annotations

from functools import partial

import pytest

from ai_core.budget import Budget
from ai_core.scheduling.direct_access import DirectAccessScheduler
from tests.scheduling.test_direct_access import World


@pytest.fixture
def busy():
    """A world of batches, in which one of two rounds is timed task by task."""
    world = World(partial(DirectAccessScheduler, timed_every=2), is_batched=True)
    for _ in range(3):
        world.do("add", 0, ("callable", 1, 0))
    return world


def test_one_of_several_rounds_is_timed_and_stands_for_all(busy):
    for _ in range(9):
        busy.frame("unlimited")
    assert [row["used_us_mean"] for row in busy.scheduler.statistics()] == [0, 0, 0], "nothing measures"
    scheduler = busy.scheduler
    for _ in range(10):
        scheduler.advance(Budget.of_time(1000, lambda: busy.ns))
    assert [task.runs for task in scheduler.tasks] == [19, 19, 19]
    assert [task.used_us for task in scheduler.tasks] == pytest.approx([19 * 4] * 3)
    assert [task._record.measured_runs for task in scheduler.tasks] == [5, 5, 5]


def test_near_the_end_of_the_budget_each_task_is_timed_and_named(busy):
    for _ in range(20):
        busy.scheduler.advance(Budget.of_time(7, lambda: busy.ns))
        assert busy.scheduler.last_overrun.name == "callable 1", "it ended 1 µs too late"
    assert busy.scheduler.overruns == 20


def test_sudden_overrun_is_blamed_on_past_then_present_slowest(busy):
    scheduler, told = busy.scheduler, []

    def advance():
        scheduler.advance(Budget.of_time(100, lambda: busy.ns))
        told.append(scheduler.overruns and scheduler.last_overrun.name)

    while scheduler.frame < 6:
        advance()
    busy.deeds["callable 2"] = [("dawdle", 200_000, None)]
    advance()
    advance()
    assert told == [0] * 6 + ["callable 0", "callable 2"]
    assert scheduler.statistics()[2]["overruns"] == 1


@pytest.mark.parametrize("wrong", [0, -1])
def test_rounds_that_are_timed_come_at_some_time(clock, wrong):
    with pytest.raises(ValueError, match="timed_every must be at least 1, got"):
        DirectAccessScheduler(clock, timed_every=wrong)
