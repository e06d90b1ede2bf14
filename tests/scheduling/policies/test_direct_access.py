"""The direct access scheduler does what the plain one does, in every outcome."""
from __future__ import annotations

import json
from math import exp
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.trace import Trace
from tests.scheduling.makers import frequency

KINDS = ("callable", "generator", "object")


class World:
    """A scheduler whose work writes down what it is told, and does what it was told to do."""

    def __init__(self, kind, *, is_batched=False):
        self.kind, self.is_batched = kind, is_batched
        self.ns = 0
        self.clock = ManualClock(0.25)
        self.told, self.deeds, self.names = [], {}, 0
        self.trace = Trace()
        self.faults = FaultIsolation(report=self.report)
        self.make()

    def make(self):
        self.scheduler = self.kind(
            self.clock, faults=self.faults, trace=self.trace, on_overrun=self.overran
        )
        self.tasks = []

    def report(self, fault):
        self.told.append(("fault", fault.name, fault.failures_in_a_row, self.runs()))

    def overran(self, overrun):
        self.told.append(("overrun", *overrun))

    def runs(self):
        return [task.runs for task in self.scheduler.tasks]

    def work(self, kind, name):
        if kind == "callable" and self.is_batched:
            return Batched(self, name)
        if kind == "callable":
            return lambda turn: self.act(name, turn, turn.budget)
        if kind == "object":
            return Acting(self, name)

        def generator(turn):
            for leg in range(3):
                self.act(f"{name}.{leg}", turn, turn.budget)
                turn = yield

        return generator

    def act(self, name, turn, budget):
        elapsed = None if turn is None else turn.elapsed_s
        self.told.append((self.scheduler.frame, name, elapsed))
        self.ns += 3000 + 100 * len(name)
        for deed, number, value in self.deeds.get(name, ()):
            self.do(deed, number, value, budget)

    def do(self, deed, number, value, budget=None):
        """Do something to one of the tasks; it may have been removed before."""
        if deed == "add":
            kind, period, phase = value
            name = f"{kind} {self.names}"
            self.names += 1
            self.tasks.append(
                self.scheduler.add(self.work(kind, name), period_frames=period, phase_frames=phase, name=name)
            )
        elif deed == "fail" and budget is not None:
            raise ValueError(number)
        elif deed == "dawdle" and budget is not None:
            self.ns += number
        elif deed == "spend" and budget is not None:
            budget.spend(number)
        elif deed == "look":
            self.told.append([(task.runs, task.last_run, task.faults) for task in self.scheduler.tasks])
        elif self.tasks and deed in ("remove", "pause", "resume", "release", "change"):
            task = self.tasks[number % len(self.tasks)]
            if task.is_removed:
                self.told.append(("removed", task.runs, task.last_run))
            elif deed == "change":
                self.scheduler.change(task, period_frames=value[1], phase_frames=value[2])
            else:
                getattr(self.scheduler, deed)(task)

    def frame(self, budget_kind):
        budget = {
            "unlimited": Budget.unlimited, "steps": lambda: Budget.of_steps(5),
            "time": lambda: Budget.of_time(12, lambda: self.ns),
        }[budget_kind]()
        self.clock.advance()
        self.scheduler.advance(budget)
        self.told.append((budget.steps, self.scheduler.overruns))

    def save_and_load(self):
        state = json.loads(json.dumps(self.scheduler.save_state()))
        if len({task.name for task in self.scheduler.tasks}) == len(self.scheduler.tasks):
            before = [(task.name, task.name.split()[0]) for task in self.scheduler.tasks]
            self.make()
            for name, kind in reversed(before):
                self.tasks.append(self.scheduler.add(self.work(kind, name), name=name))
            self.scheduler.prepare_state(state)()
            self.tasks.sort(key=lambda task: task.id)

    def seen(self):
        told, self.told = self.told, []
        return told, self.scheduler.statistics()


class Acting:
    def __init__(self, world, name):
        self.world, self.name = world, name

    def advance(self, budget):
        self.world.act(self.name, None, budget)


class Batched:
    """Work of which many are called in one go, those that are to fail excepted."""

    def __init__(self, world, name):
        self.world, self.name = world, name

    def __call__(self, turn):
        self.world.act(self.name, turn, turn.budget)

    def is_sound(self):
        return all(deed != "fail" for deed, _, _ in self.world.deeds.get(self.name, ()))

    @staticmethod
    def batch_of(bucket):
        return HandBatch(bucket)


class HandBatch:
    """What goes through a bucket and calls what is Batched itself."""

    def __init__(self, bucket):
        self.bucket, self.begun, self.turn = bucket, 0, None

    def begin(self, turn):
        self.turn, self.begun = turn, 0

    def __iter__(self):
        return self

    def __length_hint__(self):
        return len(self.bucket) - self.begun

    def call_on(self):
        while self.begun < len(self.bucket):
            call = self.bucket.calls[self.begun]
            if not isinstance(call, Batched) or not call.is_sound():
                return
            self.begun += 1
            call(self.turn)
            yield call.world.ns

    def __next__(self):
        for _ in self.call_on():
            pass
        if self.begun == len(self.bucket):
            self.turn = None
            raise StopIteration
        self.begun += 1
        return self.bucket.calls[self.begun - 1]

    def timed(self, stamps, limit_ns):
        for ended_ns in self.call_on():
            stamps[self.begun] = ended_ns
            if ended_ns > limit_ns:
                return None
        return None if self.begun == len(self.bucket) else next(self)


values = st.tuples(
    st.sampled_from(KINDS + ("callable",) * 3), st.sampled_from([1, 1, 2, 2, 3, 4, 6, 65, 70]),
    st.one_of(st.none(), st.integers(0, 9)),
)
deeds = st.tuples(
    st.sampled_from(["add", "remove", "pause", "resume", "release", "change", "fail", "spend", "look"]),
    st.integers(0, 9), values,
)
events = st.one_of(
    st.tuples(st.just("frames"), st.sampled_from(["unlimited"] * 3 + ["time", "time", "steps"]), st.integers(1, 6)),
    st.tuples(st.just("do"), deeds),
    st.tuples(st.just("teach"), st.integers(0, 9), st.lists(deeds, max_size=2)),
    st.tuples(st.just("save")), st.tuples(st.just("listen")),
)


def live(world, events):
    """Let a world live; yield what is seen of it after each event."""
    for event in [("do", ("add", 0, ("callable", 1, 0))), ("do", ("add", 0, ("callable", 2, None))), *events]:
        match event:
            case ("frames", budget_kind, count):
                for _ in range(count):
                    world.frame(budget_kind)
            case ("do", (deed, number, value)):
                world.do(deed, number, value)
            case ("teach", number, todo):
                for kind in KINDS:
                    for leg in ("", ".0", ".1"):
                        world.deeds[f"{kind} {number}{leg}"] = todo
            case ("save",):
                world.save_and_load()
            case ("listen",):
                world.trace.listen(Listener(world.told))
        yield event, world.seen()


class Listener:
    def __init__(self, told):
        self.told = told

    def after_task(self, name, now, used_us):
        self.told.append((name, now, used_us))


@settings(max_examples=12)
@given(events=st.lists(events, min_size=5, max_size=25))
def test_it_equals_the_plain_scheduler_in_every_outcome(events):
    check_that_both_live_alike(events)


@pytest.mark.slow
@settings(max_examples=300)
@given(events=st.lists(events, max_size=25))
def test_it_equals_the_plain_scheduler_in_every_outcome_of_many(events):
    check_that_both_live_alike(events)


def check_that_both_live_alike(events):
    plain, direct = World(frequency), World(frequency)
    batched = World(frequency, is_batched=True)
    lives = live(plain, events), live(direct, events), live(batched, events)
    for (event, expected), (_, found), (_, found_in_batches) in zip(*lives, strict=True):
        assert found == expected, event
        assert found_in_batches == expected, event


def test_tasks_in_step_stay_right_when_one_fails(clock):
    elapsed, scheduler = [], Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(report=lambda fault: None))

    def think(turn):
        elapsed.append(turn.elapsed_s)
        if len(elapsed) == 8:
            raise ValueError

    tasks = [scheduler.add(think, period_frames=2, phase_frames=0) for _ in range(3)]
    for _ in range(8):
        scheduler.advance(Budget.unlimited())
        clock.advance()
    assert elapsed[3:] == pytest.approx([0.2] * 9)
    assert [task.runs for task in tasks] == [4, 4, 4]
    assert [task.faults for task in tasks] == [0, 1, 0]


@pytest.mark.parametrize("is_timed", [False, True])
def test_a_turn_that_is_kept_stays_as_it_was(clock, stopwatch, is_timed):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, stopwatch=stopwatch if is_timed else None)
    kept = {}

    def keep(turn):
        kept.setdefault(scheduler.frame, []).append((turn, turn.now, turn.elapsed_s))

    for period in (1, 1, 2, 3, 3):
        scheduler.add(keep, period_frames=period, phase_frames=0)
    for _ in range(13):
        clock.advance()
        scheduler.advance(Budget.unlimited())
    told = [one for frame in kept.values() for one in frame]
    assert all((turn.now, turn.elapsed_s) == (now, elapsed_s) for turn, now, elapsed_s in told)


def test_what_is_let_through_leaves_everything_right(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(reraise=True))
    ran = []

    def think(turn):
        ran.append(turn.elapsed_s)
        if len(ran) == 5:
            raise ValueError("boom")

    tasks = [scheduler.add(think) for _ in range(3)]
    scheduler.advance(Budget.unlimited())
    clock.advance()
    with pytest.raises(ValueError, match="boom"):
        scheduler.advance(Budget.unlimited())
    assert [task.runs for task in tasks] == [2, 2, 1]
    clock.advance()
    scheduler.advance(Budget.unlimited())
    assert ran[5:] == pytest.approx([0.1, 0.1, 0.2])


def test_work_admitted_in_the_first_frame_has_true_elapsed_time(clock):
    clock.advance(seconds=100)
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(reraise=True))
    told = []
    fails = [True]

    def fail_once(turn):
        if fails.pop() if fails else False:
            raise ValueError("boom")

    scheduler.add(lambda turn: told.append(turn.elapsed_s))
    scheduler.add(fail_once)
    with pytest.raises(ValueError, match="boom"):
        scheduler.advance(Budget.unlimited())
    for _ in range(3):
        clock.advance()
        scheduler.advance(Budget.unlimited())
    assert told == pytest.approx([0.0, 0.1, 0.1, 0.1])


def test_times_are_summed_up_for_each_task(clock, stopwatch):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, stopwatch=stopwatch)
    for us in (10, 20):
        scheduler.add(lambda turn, us=us: stopwatch.passes(us + scheduler.frame))
    for _ in range(100):
        scheduler.advance(Budget.unlimited())
    rows = scheduler.statistics()
    assert [row["used_us_max"] for row in rows] == [109, 119]
    assert [row["used_us_mean"] for row in rows] == pytest.approx([59.5, 69.5])


@pytest.mark.parametrize("spread", [0.0, 0.2, 0.6])
def test_one_run_in_twenty_takes_longer_than_the_95th_percentile(clock, stopwatch, spread):
    random = Random(4)
    scheduler, above = Scheduler(clock, policy=Policy.FREQUENCY, stopwatch=stopwatch), 0

    def work(turn):
        nonlocal above
        us = 100 * random.lognormvariate(0, spread) if scheduler.frame else 5000    # the first run is cold
        above += us > scheduler.statistics()[0]["used_us_p95"] * 1.01
        stopwatch.passes(us)

    scheduler.add(work)
    for _ in range(3000):
        scheduler.advance(Budget.unlimited())
    assert above / 3000 == pytest.approx(0.05 if spread else 0.0, abs=0.03)
    assert scheduler.statistics()[0]["used_us_p95"] == pytest.approx(100 * exp(1.645 * spread), rel=0.3)


def test_a_rare_bucket_goes_with_its_last_task(clock):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    rare = [scheduler.add(lambda turn: None, period_frames=1000, phase_frames=phase) for phase in (7, 7, 8)]
    for _ in range(3):
        scheduler.advance(Budget.unlimited())
    for task in rare:
        scheduler.change(task, period_frames=2000)
        scheduler.change(task, period_frames=3)
    assert not any(scheduler._table._calendar.values())
