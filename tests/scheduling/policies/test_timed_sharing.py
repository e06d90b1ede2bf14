"""Sharing time with one reading for each task, in recordings and replays, too."""
from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ai_core.scheduling.scheduler as scheduling
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.recording.grants import RecordingBudget, ReplayBudget
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.trace import Trace
from tests.scheduling.makers import load_balancing, priority, requested_time

POLICIES = [load_balancing, priority, requested_time]


class Listener:
    """Writes down all that it is told of work."""

    def __init__(self):
        self.heard = []

    def before_task(self, *told):
        self.heard.append(told)

    def after_task(self, *told):
        self.heard.append(told)

    def task_ran(self, name, now, granted, steps, used_us, result):
        self.heard.append((name, now, granted, steps, used_us, repr(result)))


class World:
    """Tasks that cost time, pause, fail and meddle as they are told; all is written down."""

    def __init__(self, policy, plans, *, is_heard, with_bias):
        self.ns, self.ran, self.told, self.listener = 0, [], [], Listener()
        self.clock = ManualClock(0.25)
        trace = Trace()
        if is_heard:
            trace.listen(self.listener)
        self.scheduler = policy(
            self.clock, trace=trace, faults=FaultIsolation(report=self.told.append),
            on_overrun=self.told.append, learns_bias=with_bias,
        )
        self.tasks = []
        for number, plan in enumerate(plans):
            period, priority, request, *deeds = plan
            work = self.generator_of(number, *deeds) if deeds[1] == "pause" else self.work_of(number, *deeds)
            self.tasks.append(self.scheduler.add(work, period_frames=period, priority=priority, name=str(number)))
            if policy is requested_time:
                self.scheduler.request(self.tasks[-1], request)

    def note(self, number, turn):
        self.ran.append((self.scheduler.frame, number, turn.elapsed_s, turn.now, turn.budget.left, turn.budget.used))

    def work_of(self, number, cost_us, deed):
        def work(turn):
            self.ns += cost_us * 500
            self.note(number, turn)
            self.ns += cost_us * 500
            turn.budget.spend(number)
            other = self.tasks[(number + 1) % len(self.tasks)]
            if deed == "fail" and self.scheduler.frame % 4 != 3:
                raise ValueError(number)
            if deed == "toggle":
                (self.scheduler.resume if other.is_paused else self.scheduler.pause)(other)
            if deed == "release":
                self.scheduler.release(other)
            if deed == "change":
                self.scheduler.change(other, priority=1 + self.scheduler.frame % 3)
            if deed == "remove" and self.scheduler.frame == 5 and not other.is_removed:
                self.scheduler.remove(other)
            return number, deed

        def guarded(turn):
            if deed != "fail" and self.tasks[(number + 1) % len(self.tasks)].is_removed:
                self.note(number, turn)
                return None
            return work(turn)

        return guarded

    def generator_of(self, number, cost_us, _deed):
        def work(turn):
            for _ in range(3):
                self.note(number, turn)
                self.ns += cost_us * 1000
                turn = yield

        return work

    def live_on(self, budgets):
        with patch.object(scheduling, "SERVED_AT_ONCE", 2):  # so few that even these few wait in several parts
            for budget in budgets:
                self.scheduler.advance(budget)
                self.clock.advance()


plans = st.lists(
    st.tuples(
        st.integers(1, 4), st.sampled_from([0.3, 1, 1, 2.5]), st.none() | st.integers(0, 60),
        st.integers(0, 40), st.sampled_from(["", "", "pause", "fail", "toggle", "release", "change", "remove"]),
    ),
    min_size=1, max_size=6,
)


each_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda one: one.__name__)
budgets = st.lists(st.integers(0, 150), min_size=8, max_size=14)


@each_policy
@settings(max_examples=30)
@given(plans=plans, budgets_us=budgets, is_heard=st.booleans())
def test_recording_keeps_the_answers_and_a_replay_repeats_them(policy, plans, budgets_us, **settings):
    world, again = (World(policy, plans, with_bias=False, **settings) for _ in range(2))
    noted = []
    for us in budgets_us:
        noted.append([])
        world.live_on([RecordingBudget(Budget.of_time(us, lambda: world.ns), noted[-1])])
    again.live_on([ReplayBudget(grants) for grants in noted])
    assert [run[:4] for run in again.ran] == [run[:4] for run in world.ran]
    assert [task.id for task in again.scheduler.waiting] == [task.id for task in world.scheduler.waiting]


@each_policy
@settings(max_examples=30)
@given(plans=plans, budgets_us=budgets, is_heard=st.booleans(), with_bias=st.booleans())
def test_a_recorded_frame_is_as_one_that_is_not(policy, plans, budgets_us, **settings):
    plain, watched = (World(policy, plans, **settings) for _ in range(2))
    for us in budgets_us:
        plain.live_on([Budget.of_time(us, lambda: plain.ns)])
        watched.live_on([RecordingBudget(Budget.of_time(us, lambda: watched.ns), [])])
    assert plain.ran == watched.ran
    assert list(map(repr, plain.listener.heard)) == list(map(repr, watched.listener.heard))
    assert plain.scheduler.save_state() == watched.scheduler.save_state()


def test_the_stopwatch_is_read_once_for_each_task(clock):
    reads = []

    def stopwatch():
        reads.append(None)
        return 1000 * len(reads)

    scheduler = Scheduler(clock)
    for _ in range(100):
        scheduler.add(lambda turn: None)
    budget = Budget.of_time(1e6, stopwatch)
    reads.clear()
    scheduler.advance(budget)
    assert len(reads) <= 105


def test_a_turn_that_is_kept_keeps_what_it_was(clock, stopwatch):
    scheduler, turns = Scheduler(clock), []
    scheduler.add(lambda turn: turns.append(turn) or stopwatch.passes(10))
    scheduler.add(lambda turn: turns.append(turn) or stopwatch.passes(10))
    scheduler.advance(Budget.of_time(100, stopwatch))
    clock.advance()
    scheduler.advance(Budget.of_time(10, stopwatch))
    assert [turn.elapsed_s for turn in turns] == [0, 0, clock.now.seconds]
    assert [turn.budget.used for turn in turns] == [30, 20, 10]
    assert [turn.budget.over for turn in turns] == [0, 0, 5]
    assert turns[0].budget is turns[0].budget


def test_steps_reported_to_a_share_count_on_the_whole(clock, stopwatch):
    scheduler = Scheduler(clock)
    scheduler.add(lambda turn: turn.budget.spend(7))
    budget = Budget.of_time(100, stopwatch)
    scheduler.advance(budget)
    assert budget.steps == 7


def test_a_share_of_a_share_ends_with_the_whole(clock, stopwatch):
    inner, lefts = Scheduler(clock, policy=Policy.PRIORITY), []
    for _ in range(2):
        inner.add(lambda turn: lefts.append(turn.budget.left) or stopwatch.passes(turn.budget.left))
    outer = Scheduler(clock)
    outer.add(inner)
    outer.add(lambda turn: lefts.append(turn.budget.left))
    outer.advance(Budget.of_time(100, stopwatch))
    assert lefts == [25, 25, 50]


def test_what_listeners_take_is_nobodys_time(clock, stopwatch):
    grants = []

    class Slow:
        def task_ran(self, name, now, granted, steps, used_us, result):
            grants.append(granted)
            stopwatch.passes(30)

    trace = Trace()
    trace.listen(Slow())
    scheduler = Scheduler(clock, trace=trace)
    tasks = [scheduler.add(lambda turn: stopwatch.passes(5)) for _ in range(2)]
    scheduler.advance(Budget.of_time(100, stopwatch))
    assert [task.used_us for task in tasks] == [5, 5]
    assert grants == [50, 65]


def test_raising_listener_stops_the_frame_and_the_rest_waits(clock, stopwatch):
    class Broken:
        def task_ran(self, *told):
            raise LookupError

    trace = Trace()
    trace.listen(Broken())
    scheduler = Scheduler(clock, trace=trace)
    first, second = (scheduler.add(lambda turn: None) for _ in range(2))
    with pytest.raises(LookupError):
        scheduler.advance(Budget.of_time(100, stopwatch))
    assert (first.runs, second.runs) == (1, 0)
    assert scheduler.waiting == (second,)
