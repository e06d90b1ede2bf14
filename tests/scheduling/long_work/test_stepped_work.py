"""Work in steps: what ends it, and what it releases then."""
from __future__ import annotations

import weakref

import pytest

from ai_core.budget import Budget
from ai_core.scheduling.interruptible import SteppedWork


class Counted(SteppedWork):
    is_done = False

    def __init__(self, at_two):
        self.steps_done = 0
        self._steps = self._counting(at_two)

    def _counting(self, at_two):
        for _ in range(5):
            self.steps_done += 1
            if self.steps_done == 2:
                at_two(self)
            yield
        self.is_done = True


def test_work_cancelled_within_a_step_stops_for_good():
    work = Counted(lambda one: one.cancel())
    work.advance(Budget.unlimited())
    assert work.steps_done == 2
    with pytest.raises(RuntimeError, match="cancelled"):
        work.advance(Budget.unlimited())


def test_an_error_ends_the_work():
    def fail(_):
        raise KeyError("two")

    work = Counted(fail)
    with pytest.raises(KeyError):
        work.advance(Budget.unlimited())
    with pytest.raises(RuntimeError):
        work.advance(Budget.unlimited())


def test_cancelled_work_is_freed_at_once():
    work = Counted(lambda one: None)
    work.advance(Budget.of_steps(1))
    work.cancel()
    gone = weakref.ref(work)
    del work
    assert gone() is None
