"""The scheduler beside a plain model of it, whatever work does to the tasks between frames and within them."""
from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.scheduling import Policy, Scheduler

TRIES = 3
FRAMES = 30


class PlainTask:
    """What the model knows of a task."""

    def __init__(self, number, name, slot, priority, seconds):
        self.id, self.name, (self.period, self.phase), self.priority = number, name, slot, priority
        self.is_paused = self.is_removed = False
        self.failures = self.runs = self.faults = 0
        self.since = self.request = None
        self.last_s = seconds

    @property
    def may_run(self):
        return not (self.is_paused or self.is_removed or self.failures >= TRIES)


class Model:
    """Lists, and no shortcuts; nothing of the real one is used here."""

    def __init__(self, policy, seed):
        self.policy, self.deeds = policy, Deeds(seed)
        self.frame, self.next_id, self.seconds = 0, 1, 0.0
        self.all, self.line, self.log = [], [], []

    def add(self, name, slot, priority):
        self.all.append(PlainTask(self.next_id, name, slot, priority, self.seconds))
        self.next_id += 1

    def task(self, name):
        return next((task for task in self.all if task.name == name), None)

    def remove(self, task):
        task.is_removed = True
        self.all.remove(task)
        self.leave(task)

    def pause(self, task):
        task.is_paused = True

    def resume(self, task):
        task.is_paused = False

    def release(self, task):
        task.failures = 0 if task.failures >= TRIES else task.failures

    def change(self, task, slot, priority):
        (task.period, task.phase), task.priority = slot, priority

    def request(self, task, amount):
        task.request = amount

    def leave(self, task):
        task.since = None
        if task in self.line:
            self.line.remove(task)

    def advance(self, steps):
        for task in [task for task in self.line if not task.may_run]:
            self.leave(task)
        due = [task for task in self.all if task.may_run and (self.frame + task.phase) % task.period == 0]
        for task in due:
            if task.since is None:
                task.since = self.frame
                self.line.append(task)
        queue, waits = self.line[:], self.policy in (Policy.LOAD_BALANCING, Policy.REQUESTED_TIME)
        if self.policy is Policy.PRIORITY:
            queue.sort(key=lambda task: (-task.priority, task.id))
        elif self.policy is Policy.REQUESTED_TIME:
            queue.sort(key=lambda task: (-task.priority * (1 + self.frame - task.since), task.id))
        is_first = True
        for task in queue:
            if waits and steps <= 0 and not is_first:
                break
            if task.may_run:
                if waits and not is_first and task.request is not None and task.request > steps:
                    continue
                is_first = False
                steps -= self.run(task)
            self.leave(task)
        self.line.sort(key=lambda task: (task.since, task.id))
        self.frame, self.seconds = self.frame + 1, self.seconds + 0.5

    def run(self, task):
        self.log.append((self.frame, task.name, self.seconds - task.last_s))
        task.last_s = self.seconds
        task.runs += 1
        steps, fails = self.deeds.of_a_run(self, task.name)
        task.faults += fails
        task.failures = task.failures + 1 if fails else 0
        return max(1, steps)

    def seen(self):
        waiting = [task.name for task in self.line if task.may_run]
        return waiting, [
            (task.id, task.name, task.period, task.phase, task.is_paused, task.failures >= TRIES, task.runs,
             task.faults)
            for task in self.all]


class Real:
    """The same with a Scheduler."""

    def __init__(self, policy, seed):
        self.policy, self.deeds, self.log = policy, Deeds(seed), []
        self.clock = ManualClock(0.5)
        faults = FaultIsolation(report=lambda fault: None, quarantine_after=TRIES)
        self.scheduler = Scheduler(self.clock, policy=policy, faults=faults)
        self.remove, self.pause, self.resume = self.scheduler.remove, self.scheduler.pause, self.scheduler.resume
        self.release, self.request = self.scheduler.release, self.scheduler.request

    @property
    def frame(self):
        return self.scheduler.frame

    def add(self, name, slot, priority):
        def work(turn):
            self.log.append((self.frame, name, turn.elapsed_s))
            steps, fails = self.deeds.of_a_run(self, name)
            turn.budget.spend(steps)
            if fails:
                raise LookupError

        self.scheduler.add(work, name=name, period_frames=slot[0], phase_frames=slot[1], priority=priority)

    def task(self, name):
        return next((task for task in self.scheduler.tasks if task.name == name), None)

    def change(self, task, slot, priority):
        self.scheduler.change(task, period_frames=slot[0], phase_frames=slot[1], priority=priority)

    def advance(self, steps):
        self.scheduler.advance(Budget.of_steps(steps))
        self.clock.advance()

    def loaded_elsewhere(self):
        """Return another world with the same tasks, in another order, that has loaded this one."""
        other = Real(self.policy, 0)
        for task in reversed(self.scheduler.tasks):
            other.add(task.name, (1, 0), 1)
        for part in ("clock", "scheduler"):
            saved = json.loads(json.dumps(getattr(self, part).save_state()))
            getattr(other, part).prepare_state(saved)()
        other.deeds, other.log = self.deeds, self.log
        return other

    def seen(self):
        rows = self.scheduler.statistics()
        return [task.name for task in self.scheduler.waiting], [
            (task.id, task.name, task.period_frames, task.phase_frames, task.is_paused, row["is_quarantined"],
             task.runs, task.faults)
            for task, row in zip(self.scheduler.tasks, rows, strict=True)]


class Deeds:
    """What is done to the tasks: the same in both worlds as long as they run alike."""

    def __init__(self, seed):
        self.seed, self.count = seed, 0
        chance = random.Random(seed)
        self.often, self.fails = chance.choice([0, 0.1, 0.5]), chance.choice([0, 0.2, 0.6])

    def of_a_run(self, world, name):
        """Return the steps of a run and whether it fails, after what it does to the tasks."""
        chance = random.Random(f"{self.seed} {world.frame} {name}")
        while chance.random() < self.often:
            self.do(world, chance)
        return chance.choice([0, 0, 1, 2, 3]), chance.random() < self.fails

    def do(self, world, chance):
        task = world.task(f"task {chance.randrange(self.count + 1)}")
        slot, priority = (chance.choice([1, 1, 2, 3, 7]), chance.randrange(8)), chance.choice([0.5, 1, 1, 5])
        amount, deed = chance.choice([None, 0, 1, 2, 9]), chance.randrange(9)
        if deed == 0 or task is None:
            world.add(f"task {self.count}", slot, priority)
            self.count += 1
        elif deed < 6:
            (world.remove, world.pause, world.resume, world.resume, world.release)[deed - 1](task)
        elif deed == 6:
            world.change(task, slot, priority)
        elif world.policy is Policy.REQUESTED_TIME:
            world.request(task, amount)


@settings(max_examples=60)
@given(seed=st.integers(0, 1 << 40), policy=st.sampled_from(Policy))
def test_scheduler_does_what_a_plain_model_does(seed, policy):
    model, real = Model(policy, seed), Real(policy, seed)
    chance = random.Random(seed)
    budgets = chance.choice([[0], [3], [0, 1, 5], [5, 20], [1000]])
    for frame in range(FRAMES):
        if frame and chance.random() < 0.05:
            real = real.loaded_elsewhere()
        count, steps = (8 if frame == 0 else chance.choice([0, 0, 0, 1, 2])), chance.choice(budgets)
        for world in (model, real):
            between = random.Random(f"{seed} before {frame}")
            for _ in range(count):
                world.deeds.do(world, between)
            world.advance(steps)
        assert real.log == model.log
        assert real.seen() == model.seen()


@pytest.mark.parametrize("policy", [Policy.LOAD_BALANCING, Policy.REQUESTED_TIME])
def test_a_task_paused_while_it_is_due_and_resumed_still_waits(policy):
    scheduler, ran = Scheduler(ManualClock(), policy=policy), []
    scheduler.add(lambda turn: (ran.append("first"), scheduler.pause(second)), period_frames=9, phase_frames=0)
    second = scheduler.add(lambda turn: ran.append("second"), period_frames=9, phase_frames=0)
    scheduler.advance(Budget.of_steps(1))
    assert scheduler.waiting == ()
    scheduler.resume(second)
    assert scheduler.waiting == (second,)
    scheduler.advance(Budget.of_steps(1))
    assert ran == ["first", "second"]
