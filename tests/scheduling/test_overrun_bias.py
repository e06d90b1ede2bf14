"""Bias by measured overrun: who takes too much is given less, for a while."""
from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.saving.fields import StateError
from ai_core.scheduling.load_balancing import LoadBalancingScheduler
from ai_core.scheduling.overrun_bias import OverrunBias
from ai_core.scheduling.priority import PriorityScheduler
from ai_core.scheduling.requested_time import RequestedTimeScheduler


@pytest.fixture(params=[LoadBalancingScheduler, PriorityScheduler, RequestedTimeScheduler])
def kind(request):
    return request.param


@pytest.fixture
def task(clock):
    return LoadBalancingScheduler(clock).add(lambda turn: None)


def test_it_follows_the_stated_formula(task):
    bias = OverrunBias(least=0.25, most=4, memory_runs=2)
    told = []
    for granted, used in ((10, 10), (10, 20), (10, 5), (10, 1000), (10, 0)):
        bias.learn(task, granted, used)
        told.append(bias.of(task))
    assert told == [1, 0.75, 1.375, 0.8125, 2.40625]


def test_bias_falls_with_overruns_rises_without_and_decays(task):
    bias = OverrunBias()
    for _ in range(60):
        bias.learn(task, 10, 30)
    assert bias.of(task) == pytest.approx(0.5, abs=1e-3)
    for _ in range(60):
        bias.learn(task, 10, 10)
    assert bias.of(task) == pytest.approx(1, abs=1e-3)
    for _ in range(60):
        bias.learn(task, 10, 1)
    assert bias.of(task) == pytest.approx(2, abs=1e-3)


@pytest.mark.parametrize("granted", [0, math.inf])
def test_a_run_granted_nothing_or_everything_teaches_nothing(task, granted):
    bias = OverrunBias()
    bias.learn(task, granted, 99)
    assert bias.of(task) == 1


@given(runs=st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)), max_size=30), memory=st.floats(1, 50))
def test_it_never_leaves_its_bounds(runs, memory):
    bias, key = OverrunBias(least=0.3, most=1.7, memory_runs=memory), object()
    for granted, used in runs:
        bias.learn(key, granted, used)
        assert 0.3 <= bias.of(key) <= 1.7


def test_who_overran_gets_less_in_the_next_frame_and_others_more(clock, stopwatch, kind):
    scheduler, granted = kind(clock, bias=OverrunBias(memory_runs=1)), []

    def work(turn, factor):
        granted.append(turn.budget.left)
        stopwatch.passes(turn.budget.left * factor)

    for factor in (1, 1.5, 0.5):
        scheduler.add(lambda turn, factor=factor: work(turn, factor))
    for _ in range(2):
        scheduler.advance(Budget.of_time(300, stopwatch))
    weights = [1, 1 / 1.5, 2]
    assert granted[:3] == [100, 100, 50]
    assert granted[3] == pytest.approx(300 / sum(weights), abs=1e-2)
    assert granted[4] == pytest.approx(300 / sum(weights) / 1.5, abs=1e-2)


def test_steps_are_measured_like_time(clock, kind):
    scheduler = kind(clock, bias=OverrunBias(memory_runs=1))
    tasks = [scheduler.add(lambda turn, n=n: turn.budget.spend(n)) for n in (20, 10, 5)]
    scheduler.advance(Budget.of_steps(60))
    bias = scheduler._bias
    assert [bias.of(task) for task in tasks] == [1, 2, 2]
    assert bias.of(scheduler.add(lambda turn: None)) == 1


def test_removed_task_is_forgotten_even_if_removed_by_itself(clock, kind):
    bias = OverrunBias()
    scheduler = kind(clock, bias=bias)
    gone = scheduler.add(lambda turn: None)
    leaving = scheduler.add(lambda turn: scheduler.remove(leaving))
    scheduler.advance(Budget.of_steps(50))
    scheduler.remove(gone)
    assert bias._biases == {}


def test_biases_go_on_after_loading(clock, kind):
    def world():
        scheduler, granted = kind(clock, bias=OverrunBias()), []
        for name, n in (("a", 1), ("b", 90), ("c", 30)):
            scheduler.add(lambda turn, n=n: granted.append(turn.budget.left) or turn.budget.spend(n), name=name)
        return scheduler, granted

    def live(world, frames):
        scheduler, granted = world
        granted.clear()
        for _ in range(frames):
            scheduler.advance(Budget.of_steps(300))
        return list(granted)

    first, second = world(), world()
    live(first, 5)
    live(second, 2)
    second[0].prepare_state(first[0].save_state())()
    assert live(second, 6) == live(first, 6)


@pytest.mark.parametrize(
    ("biases", "why"),
    [([[0, 0.1]], "must be from 0.5 to 2"), ([[5, 1]], "must be the id of a task"), (None, "must be a list")],
)
def test_bad_saved_biases_are_refused(clock, kind, biases, why):
    scheduler = kind(clock, bias=OverrunBias())
    scheduler.add(lambda turn: None)
    with pytest.raises(StateError, match=why):
        scheduler.prepare_state({**scheduler.save_state(), "bias": biases})


def test_bias_may_be_switched_between_saving_and_loading(clock, kind):
    bias = OverrunBias()
    plain, biased = kind(clock), kind(clock, bias=bias)
    for scheduler in (plain, biased):
        scheduler.add(lambda turn: None, name="a")
    (task,) = biased.tasks
    bias.put(task, 0.75)
    plain.prepare_state(biased.save_state())()
    biased.prepare_state(plain.save_state())()
    assert bias.of(task) == 1


@pytest.mark.parametrize(
    "settings",
    [{"least": 0}, {"least": 1.5}, {"least": -1}, {"most": 0.9}, {"most": math.inf}, {"least": math.nan},
     {"memory_runs": 0}, {"memory_runs": 0.5}, {"memory_runs": math.nan}],
)
def test_bounds_and_memory_are_in_range(settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))} must be"):
        OverrunBias(**settings)


@pytest.mark.parametrize("settings", [{"least": True}, {"most": "2"}, {"memory_runs": None}])
def test_bounds_and_memory_are_numbers(settings):
    with pytest.raises(TypeError, match="must be a number"):
        OverrunBias(**settings)


@pytest.mark.parametrize("bias", [True, 1.0, OverrunBias])
def test_a_bias_is_an_overrun_bias(clock, kind, bias):
    with pytest.raises(TypeError, match="bias must be an OverrunBias or None"):
        kind(clock, bias=bias)
