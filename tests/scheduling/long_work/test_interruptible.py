"""What counts as interruptible work, and what its base does for it."""
from __future__ import annotations

import pytest

from ai_core.budget import Budget
from ai_core.scheduling import BackgroundJob, Interruptible, Scheduler


class Digging(Interruptible):
    """Done after so many steps."""

    def __init__(self, steps):
        self.left = steps

    @property
    def is_done(self):
        return self.left == 0

    @property
    def result(self):
        self._check_done()
        return "treasure"

    def advance(self, budget):
        self._check_goes_on(budget)
        while self.left:
            self.left -= 1
            budget.spend()
            if budget.is_spent:
                return


def test_a_class_of_its_own_needs_three_members(clock):
    found, scheduler = [], Scheduler(clock)
    work = Digging(3)
    BackgroundJob(scheduler, work, then=found.append)
    assert (work.progress, work.is_cancelled) == (0, False)
    with pytest.raises(RuntimeError, match=r"Digging has no result: it is not done \(0%\); check is_done first"):
        work.result  # noqa: B018
    for _ in range(3):
        scheduler.advance(Budget.of_steps(1))
    assert (found, work.progress, scheduler.tasks) == (["treasure"], 1, ())
    work.cancel()
    assert not work.is_cancelled


def test_cancelled_work_neither_continues_nor_has_a_result():
    work = Digging(3)
    work.cancel()
    with pytest.raises(RuntimeError, match="Digging was cancelled; create another to run it again"):
        work.advance(Budget.unlimited())
    with pytest.raises(RuntimeError, match="no result: it was cancelled"):
        work.result  # noqa: B018
    with pytest.raises(TypeError, match="budget must be a Budget, got 5"):
        work.advance(5)


@pytest.mark.parametrize("work", [5, None, Digging, lambda budget: None])
def test_other_work_is_refused(work, clock):
    with pytest.raises(TypeError, match=r"work must be an Interruptible, got .*in Suspendable\(function\)"):
        BackgroundJob(Scheduler(clock), work)
