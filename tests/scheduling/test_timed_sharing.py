"""Sharing time with one reading for each task: the same in all but the number of readings."""
from __future__ import annotations

import json
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ai_core.scheduling.load_balancing as load_balancing
import ai_core.scheduling.run_times as run_times
import ai_core.scheduling.sharing as sharing
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.recording.grants import RecordingBudget, ReplayBudget
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.overrun_bias import OverrunBias
from ai_core.scheduling.priority import PriorityPolicy, PriorityScheduler
from ai_core.scheduling.requested_time import RequestedTimeScheduler
from ai_core.trace import Trace
from ai_core.twins import INTERPRETED, kernel_of


def priority_only(clock, **settings):
    return PriorityScheduler(clock, policy=PriorityPolicy.PRIORITY_ONLY, **settings)


POLICIES = [LoadBalancingScheduler, PriorityScheduler, priority_only, RequestedTimeScheduler]


def one_by_one(scheduler, asked, budget, late, may_wait):
    """The plain way, to stand in for the quick one."""
    return scheduler._share_one_by_one(scheduler._asking(asked), budget, late, may_wait)


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

    def __init__(self, policy, plans, *, is_heard, with_bias, cap):
        self.ns, self.ran, self.told, self.listener = 0, [], [], Listener()
        self.clock = ManualClock(0.25)
        trace = Trace()
        if is_heard:
            trace.listen(self.listener)
        self.scheduler = policy(
            self.clock, trace=trace, faults=FaultIsolation(report=self.told.append),
            on_overrun=self.told.append, bias=OverrunBias() if with_bias else None, activations_per_frame=cap,
        )
        self.tasks = []
        for number, plan in enumerate(plans):
            period, priority, request, *deeds = plan
            work = self.generator_of(number, *deeds) if deeds[1] == "pause" else self.work_of(number, *deeds)
            self.tasks.append(self.scheduler.add(work, period_frames=period, priority=priority, name=str(number)))
            if policy is RequestedTimeScheduler:
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

    def live(self, budgets_us, *, plainly=False):
        self.live_on([Budget.of_time(us, lambda: self.ns) for us in budgets_us], plainly=plainly)

    def live_watched(self, budgets_us, grants):
        for us in budgets_us:
            self.live_on([RecordingBudget(Budget.of_time(us, lambda: self.ns), grants)])

    def live_on(self, budgets, *, plainly=False):
        share = one_by_one if plainly else sharing.share_time
        # So few at once that even these few wait in several parts.
        with patch.object(sharing, "share_time", share), patch.object(load_balancing, "SERVED_AT_ONCE", 2):
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


def assert_close(one, other):
    """Equal, times to a hundredth of a microsecond: budgets are whole ns, notes of them are not."""
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        assert mine == pytest.approx(theirs, abs=0.01)


each_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda one: one.__name__)
budgets = st.lists(st.integers(0, 150), min_size=8, max_size=14)


@each_policy
@settings(max_examples=30)
@given(
    plans=plans, budgets_us=budgets, is_heard=st.booleans(), with_bias=st.booleans(), cap=st.none() | st.integers(1, 2),
)
def test_with_one_reading_a_task_everything_comes_out_the_same(policy, plans, budgets_us, **settings):
    quick, plain = (World(policy, plans, **settings) for _ in range(2))
    quick.live(budgets_us)
    plain.live(budgets_us, plainly=True)
    assert [run[:4] for run in quick.ran] == [run[:4] for run in plain.ran]
    assert_close([run[4:] for run in quick.ran], [run[4:] for run in plain.ran])
    assert [type(one).__name__ for one in quick.told] == [type(one).__name__ for one in plain.told]
    assert [one.name for one in quick.told] == [one.name for one in plain.told]
    assert [task.id for task in quick.scheduler.waiting] == [task.id for task in plain.scheduler.waiting]
    assert quick.scheduler.overruns == plain.scheduler.overruns
    assert_close(quick.scheduler.statistics(), plain.scheduler.statistics())
    assert bool(quick.listener.heard) == settings["is_heard"]
    for mine, theirs in zip(quick.listener.heard, plain.listener.heard, strict=True):
        assert [one if isinstance(one, str) else pytest.approx(one, abs=0.01) for one in theirs] == list(mine)


def everything_of(world):
    """All that can be seen of a world, to the last bit."""
    told = [(type(one).__name__, one.name, getattr(one, "failures_in_a_row", one)) for one in world.told]
    heard = list(map(repr, world.listener.heard))
    waiting = [task.id for task in world.scheduler.waiting]
    return world.ran, told, heard, waiting, world.scheduler.statistics(), json.dumps(world.scheduler.save_state())


@pytest.mark.parametrize("policy", POLICIES[:3], ids=lambda one: one.__name__)
@settings(max_examples=60)
@given(
    plans=plans, budgets_us=budgets, cap=st.none() | st.integers(1, 2), is_heard=st.booleans(), is_kept=st.booleans(),
)
def test_the_kernel_and_its_twin_agree_to_the_last_bit(policy, plans, budgets_us, cap, is_heard, is_kept):
    seen = []
    twin = INTERPRETED[f"{run_times.__name__}.begin_shares"]
    for form in (twin, kernel_of(twin) or twin):
        with patch.object(run_times, "begin_shares", form):
            world, grants = World(policy, plans, is_heard=is_heard, with_bias=False, cap=cap), []
            if is_kept:
                world.live_watched(budgets_us, grants)
            else:
                world.live(budgets_us)
            seen.append((everything_of(world), grants))
    assert seen[0] == seen[1]


@each_policy
@settings(max_examples=30)
@given(plans=plans, budgets_us=budgets, cap=st.none() | st.integers(1, 2), is_heard=st.booleans())
def test_recording_keeps_the_answers_and_a_replay_repeats_them(policy, plans, budgets_us, **settings):
    quick, plain, again = (World(policy, plans, with_bias=False, **settings) for _ in range(3))
    noted = {quick: [], plain: []}
    for world in (quick, plain):
        for us in budgets_us:
            noted[world].append([])
            watched = RecordingBudget(Budget.of_time(us, lambda world=world: world.ns), noted[world][-1])
            world.live_on([watched], plainly=world is plain)
    assert noted[quick] == noted[plain]
    again.live_on([ReplayBudget(grants) for grants in noted[quick]])
    assert [run[:4] for run in again.ran] == [run[:4] for run in quick.ran]
    assert [task.id for task in again.scheduler.waiting] == [task.id for task in quick.scheduler.waiting]


def test_the_stopwatch_is_read_once_for_each_task(clock):
    reads = []

    def stopwatch():
        reads.append(None)
        return 1000 * len(reads)

    scheduler = LoadBalancingScheduler(clock)
    for _ in range(100):
        scheduler.add(lambda turn: None)
    budget = Budget.of_time(1e6, stopwatch)
    reads.clear()
    scheduler.advance(budget)
    assert len(reads) <= 105


def test_a_turn_that_is_kept_keeps_what_it_was(clock, stopwatch):
    scheduler, turns = LoadBalancingScheduler(clock), []
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
    scheduler = LoadBalancingScheduler(clock)
    scheduler.add(lambda turn: turn.budget.spend(7))
    budget = Budget.of_time(100, stopwatch)
    scheduler.advance(budget)
    assert budget.steps == 7


def test_a_share_of_a_share_ends_with_the_whole(clock, stopwatch):
    inner, lefts = PriorityScheduler(clock), []
    for _ in range(2):
        inner.add(lambda turn: lefts.append(turn.budget.left) or stopwatch.passes(turn.budget.left))
    outer = LoadBalancingScheduler(clock)
    outer.add(inner)
    outer.add(lambda turn: lefts.append(turn.budget.left))
    outer.advance(Budget.of_time(100, stopwatch))
    assert lefts == [25, 25, 50]


def test_what_listeners_take_is_nobodys_time(clock, stopwatch):
    class Slow:
        def task_ran(self, name, now, granted, steps, used_us, result):
            stopwatch.passes(30)

    trace = Trace()
    trace.listen(Slow())
    scheduler = LoadBalancingScheduler(clock, trace=trace)
    tasks = [scheduler.add(lambda turn: stopwatch.passes(5)) for _ in range(2)]
    scheduler.advance(Budget.of_time(100, stopwatch))
    assert [task.used_us for task in tasks] == [5, 5]
    assert [row["granted_us_max"] for row in scheduler.statistics()] == [50, 65]


def test_raising_listener_stops_the_frame_and_the_rest_waits(clock, stopwatch):
    class Broken:
        def task_ran(self, *told):
            raise LookupError

    trace = Trace()
    trace.listen(Broken())
    scheduler = LoadBalancingScheduler(clock, trace=trace)
    first, second = (scheduler.add(lambda turn: None) for _ in range(2))
    with pytest.raises(LookupError):
        scheduler.advance(Budget.of_time(100, stopwatch))
    assert (first.runs, second.runs) == (1, 0)
    assert scheduler.waiting == (second,)
