"""New work that is held back waits in a line of its own, and runs before all others when it is its turn."""
from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from tests.scheduling.makers import load_balancing


class World:
    def __init__(self, most):
        self.clock, self.ran, self.costs = ManualClock(), [], {}
        self.scheduler = load_balancing(self.clock, activations_per_frame=most)

    def add(self, period, priority, steps):
        name = str(self.scheduler._next_id)
        self.costs[name] = steps

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


class Model:
    """Plain lists: of the tasks that wait, those that never ran and the others, in the order in which they fell due."""

    def __init__(self, world, most):
        self.world, self.most, self.new, self.known, self.ran = world, most, [], [], []

    def frame(self, steps):
        """Call it before that of the world."""
        number, tasks = self.world.scheduler.frame, [one for one in self.world.scheduler.tasks if not one.is_paused]
        began = {name for _, name in self.ran}
        new, known = ([task for task in line if task in tasks] for line in (self.new, self.known))
        for task in tasks:
            if (number + task.phase_frames) % task.period_frames == 0 and task not in new + known:
                (known if task.name in began else new).append(task)
        left, is_first = steps, True
        for task in [*new[:self.most], *known]:
            if left <= 0 and not is_first:
                break
            left, is_first = left - self.world.costs[task.name], False
            self.ran.append((number, task.name))
            (known if task in known else new).remove(task)
        self.new, self.known = new, known


@settings(max_examples=80)
@given(some.integers(1, 5), frames)
def test_new_work_runs_first_and_at_most_so_many_a_frame(most, frames):
    world = World(most)
    model = Model(world, most)
    for changed, steps in frames:
        for one in changed:
            world.do(*one)
        model.frame(steps)
        world.frame(steps)
        assert [(number, name) for number, name, _ in world.ran] == model.ran
        assert set(world.scheduler.waiting) == {*model.new, *model.known}


def calls_in_a_frame(waiting):
    """Calls of functions in a frame while so many wait to run for the first time."""
    world, count = World(2), 0
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
