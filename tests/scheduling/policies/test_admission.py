"""New work that is held back stands in a line of its own: the same runs, whoever waits."""
from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from tests.scheduling.makers import load_balancing, requested_time


def scan_of_all(clock, *, activations_per_frame):
    """Looks at all tasks that wait in each frame."""
    scheduler = requested_time(clock, activations_per_frame=activations_per_frame)
    scheduler._claim = lambda task: -(scheduler._frame if task._due_since < 0 else task._due_since)
    return scheduler


class World:
    def __init__(self, kind, most):
        self.clock, self.ran = ManualClock(), []
        self.scheduler = kind(self.clock, activations_per_frame=most)

    def add(self, period, priority, steps):
        name = str(self.scheduler._next_id)

        def work(turn):
            turn.budget.spend(steps)
            self.ran.append((self.scheduler.frame, name, turn.elapsed_s))

        self.scheduler.add(work, period_frames=period, phase_frames=0, priority=priority, name=name)

    def do(self, what, number, *given):
        tasks = self.scheduler.tasks
        if what == "add":
            self.add(*given)
        elif tasks:
            task = tasks[number % len(tasks)]
            if what == "change":
                self.scheduler.change(task, priority=given[1])
            else:
                getattr(self.scheduler, what)(task)

    def frame(self, steps):
        self.scheduler.advance(Budget.of_steps(steps))
        self.clock.advance()


changes = some.tuples(
    some.sampled_from(["add", "add", "add", "pause", "resume", "remove", "change"]), some.integers(0, 40),
    some.integers(1, 4), some.sampled_from([0.5, 1.0, 3.0]), some.integers(1, 3))
frames = some.lists(some.tuples(some.lists(changes, max_size=8), some.integers(0, 12)), min_size=1, max_size=20)


@settings(max_examples=60)
@given(some.integers(1, 5), frames)
def test_admission_order_equals_a_scan_of_all_waiting_work(most, frames):
    ours, scan = World(load_balancing, most), World(scan_of_all, most)
    for changed, steps in frames:
        for world in (ours, scan):
            for one in changed:
                world.do(*one)
            world.frame(steps)
        assert ours.ran == scan.ran
        assert [task.name for task in ours.scheduler.waiting] == [task.name for task in scan.scheduler.waiting]


def calls_in_a_frame(waiting):
    """Calls of functions in a frame while so many wait to run for the first time."""
    world, count = World(load_balancing, 2), 0
    for _ in range(waiting):
        world.add(1, 1.0, 1)
    for _ in range(3):
        world.frame(100)

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        world.frame(100)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
def test_a_frame_costs_the_same_however_many_wait_to_begin():
    few, many = calls_in_a_frame(200), calls_in_a_frame(4000)
    assert many < 1.5 * few
