"""The kinds of work: callable, generator function, object; and what is none."""
from __future__ import annotations

import functools
import gc
import weakref

import pytest

from ai_core.budget import Budget
from ai_core.faults import FaultIsolation
from ai_core.scheduling import NEXT_TURN
from ai_core.scheduling import work as work_module
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from tests.scheduling.makers import frequency, load_balancing


@pytest.fixture
def scheduler(clock):
    return Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(reraise=True))


def advance(scheduler, *steps):
    for n in steps:
        scheduler.advance(Budget.of_steps(n))


def test_an_object_is_advanced_with_the_budget(scheduler):
    class Search:
        def advance(self, budget):
            self.left = budget.left
            budget.spend(2)

    search, budget = Search(), Budget.of_steps(5)
    scheduler.add(search)
    scheduler.advance(budget)
    assert (search.left, budget.left) == (5, 3)


def test_a_generator_goes_on_where_it_paused(scheduler):
    done = []

    def search(turn):
        for leg in range(5):
            done.append(leg)
            yield

    scheduler.add(search)
    advance(scheduler, 2)
    assert done == [0, 1]
    advance(scheduler, 2)
    assert done == [0, 1, 2, 3]


def test_a_finished_generator_starts_anew_when_next_due(scheduler):
    done = []

    def patrol(turn):
        done.append("left")
        yield
        done.append("right")

    scheduler.add(patrol, period_frames=2, phase_frames=0)
    advance(scheduler, 9, 9)
    assert done == ["left", "right"]
    advance(scheduler, 9)
    assert done == ["left", "right"] * 2


def test_a_generator_is_sent_the_turn_it_goes_on_in(scheduler, clock):
    frames = []

    def patrol(turn):
        while True:
            frames.append(turn.now.frame)
            turn = yield

    scheduler.add(patrol)
    for _ in range(3):
        advance(scheduler, 1)
        clock.advance()
    assert frames == [0, 1, 2]


@pytest.mark.parametrize("budget", [Budget.unlimited, lambda: Budget.of_steps(10)])
def test_a_generator_waits_for_the_next_turn(scheduler, clock, budget):
    walked = []

    def patrol(turn):
        while True:
            walked.append((turn.now.frame, turn.elapsed_s))
            turn = yield NEXT_TURN

    scheduler.add(patrol)
    for _ in range(3):
        scheduler.advance(budget())
        clock.advance()
    assert walked == [(0, 0.0), (1, pytest.approx(0.1)), (2, pytest.approx(0.1))]


def test_time_counts_once_where_a_generator_goes_on(scheduler, clock):
    walked_s = []

    def patrol(turn):
        while True:
            walked_s.append(turn.elapsed_s)
            turn = yield

    scheduler.add(patrol)
    for _ in range(3):
        clock.advance()
        scheduler.advance(Budget.of_steps(10))
    assert len(walked_s) == 30
    assert sum(walked_s) == pytest.approx(clock.now.seconds)


def test_spent_budget_still_lets_generator_reach_next_pause(scheduler):
    done = []

    def search(turn):
        for leg in range(5):
            done.append(leg)
            yield

    scheduler.add(search)
    advance(scheduler, 0, 0, 0)
    assert done == [0, 1, 2]


def test_generator_that_cannot_be_paused_is_a_fault_and_no_hang(scheduler, monkeypatch):
    monkeypatch.setattr(work_module, "MAX_LEGS_PER_RUN", 50)

    def endless(turn):
        while True:
            yield

    scheduler.add(endless)
    with pytest.raises(RuntimeError, match="paused 50 times in one run"):
        scheduler.advance(Budget.unlimited())


def test_a_generator_that_fails_starts_anew(clock):
    done = []

    def search(turn):
        done.append("begun")
        yield
        raise ValueError

    scheduler = Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(report=lambda fault: None))
    scheduler.add(search)
    advance(scheduler, 1, 1, 1)
    assert done == ["begun", "begun"]


def test_removing_a_task_closes_its_half_done_generator(scheduler):
    closed = []

    def search(turn):
        try:
            while True:
                yield
        finally:
            closed.append(True)

    task = scheduler.add(search)
    advance(scheduler, 1)
    scheduler.remove(task)
    assert closed == [True]


def test_partials_methods_and_callables_may_be_generators_too(scheduler):
    done = []

    class Guard:
        def patrol(self, turn):
            done.append("method")
            yield

        def __call__(self, turn):
            done.append("object")
            yield

    def walk(where, turn):
        done.append(where)
        yield

    scheduler.add(Guard().patrol)
    scheduler.add(Guard())
    scheduler.add(functools.partial(walk, "partial"))
    advance(scheduler, 100)
    assert done == ["method", "object", "partial"]


def test_work_that_counts_no_steps_costs_one(scheduler):
    budget = Budget.of_steps(10)
    for _ in range(3):
        scheduler.add(lambda turn: None)
    scheduler.advance(budget)
    assert budget.used == 3


class Search:
    def advance(self, budget):
        budget.spend()


async def asynchronous(turn):
    return turn


def generating(turn):
    yield turn


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (5, "must be a callable, a generator function or an object with advance.*got 5.*add a function of"),
        (None, "got None"),
        (Search, "got the class Search; pass an instance"),
        (generating(None), "pass the function without calling it"),
        (asynchronous, "must not be async"),
        (lambda: None, "work must take one argument, its Turn"),
        (lambda turn, more: None, "work must take one argument, its Turn"),
    ],
)
def test_what_is_not_work_is_refused_when_added(scheduler, work, message):
    with pytest.raises(TypeError, match=message):
        scheduler.add(work)
    assert scheduler.tasks == ()


def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


class Keeper:
    def one(self, turn):
        pass

    def none(self):
        pass

    @classmethod
    def of_class(cls, turn, more=1):
        pass

    @staticmethod
    def of_nobody(*turns):
        pass


@pytest.mark.parametrize(
    ("work", "is_right"),
    [
        (Keeper().one, True), (Keeper().none, False), (Keeper.of_class, True), (Keeper.of_nobody, True),
        (decorated(lambda turn: None), True), (decorated(lambda: None), False),
        (lambda turn, *, more: None, False), (lambda turn, *, more=1: None, True), (lambda **named: None, False),
    ],
)
def test_turn_parameter_is_seen_through_methods_and_decorators(scheduler, work, is_right):
    if is_right:
        assert scheduler.add(work)
        return
    with pytest.raises(TypeError, match="work must take one argument, its Turn"):
        scheduler.add(work)


class Yielding:
    def advance(self, budget):
        yield budget


class Waiting:
    async def advance(self, budget):
        return budget


@pytest.mark.parametrize("work", [Yielding(), Waiting()])
def test_object_whose_advance_would_do_nothing_is_refused(scheduler, work):
    with pytest.raises(TypeError, match=r"advance must not be async and must not yield, got .*; it must run to"):
        scheduler.add(work)


@pytest.mark.parametrize("kind", [frequency, load_balancing])
@pytest.mark.parametrize("forgotten", [generating, asynchronous])
def test_callable_that_only_makes_work_is_a_fault_when_it_runs(clock, kind, forgotten):
    faults = []
    scheduler = kind(clock, faults=FaultIsolation(report=faults.append))
    scheduler.add(lambda turn: forgotten(turn))
    advance(scheduler, 1, 1, 1, 1)
    assert [str(fault.error).split(" returned <")[0] for fault in faults] == ["the work"] * 3
    assert "pass the generator function, with functools.partial" in str(faults[0].error)


def test_after_its_first_run_a_callable_is_called_unwrapped(scheduler):
    def work(turn):
        if scheduler.frame == 0:
            raise LookupError

    task = scheduler.add(work)
    with pytest.raises(LookupError):
        advance(scheduler, 1)
    assert task._runner.run is not work
    advance(scheduler, 1)
    assert task._runner.run is work


def test_work_that_never_ran_is_freed_with_what_would_run_it():
    class Guard:
        def think(self, turn):
            pass

    guard = Guard()
    alive = weakref.ref(guard)
    gc.disable()
    try:
        runner = work_module.runner_for(guard.think)
        del guard
        assert alive() is not None
        del runner
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("kind", [frequency, load_balancing])
def test_generator_removing_its_task_stops_at_its_next_pause(clock, kind):
    done = []

    def patrol(turn):
        try:
            for leg in range(5):
                done.append(leg)
                if leg == 1:
                    scheduler.remove(task)
                yield
        finally:
            done.append("closed")

    scheduler = kind(clock)
    task = scheduler.add(patrol)
    advance(scheduler, 100)
    assert done == [0, 1, "closed"]
