"""Bias by measured overrun: who takes too much is given less, for a while."""
from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.saving.fields import StateError
from ai_core.scheduling.policies import learned_bias
from tests.scheduling.makers import load_balancing, priority, requested_time


@pytest.fixture(params=[load_balancing, priority, requested_time])
def kind(request):
    return request.param


def test_it_follows_the_stated_formula():
    bias, told = 1, []
    for granted, used in ((10, 10), (10, 20), (10, 5), (10, 1000), (10, 0)):
        bias = learned_bias(bias, granted, used)
        told.append(bias)
    assert told == pytest.approx([1, 0.9375, 1.0703125, 0.9990234, 1.1241455])


def test_bias_falls_with_overruns_rises_without_and_decays():
    bias = 1
    for used, wanted in ((30, 0.5), (10, 1), (1, 2)):
        for _ in range(60):
            bias = learned_bias(bias, 10, used)
        assert bias == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize("granted", [0, math.inf])
def test_a_run_granted_nothing_or_everything_teaches_nothing(granted):
    assert learned_bias(1, granted, 99) == 1


@given(runs=st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)), max_size=30))
def test_it_never_leaves_its_bounds(runs):
    bias = 1
    for granted, used in runs:
        bias = learned_bias(bias, granted, used)
        assert 0.5 <= bias <= 2


def test_who_overran_gets_less_in_the_next_frame_and_others_more(clock, stopwatch, kind):
    scheduler, granted = kind(clock, learns_bias=True), []

    def work(turn, factor):
        granted.append(turn.budget.left)
        stopwatch.passes(turn.budget.left * factor)

    for factor in (1, 1.5, 0.5):
        scheduler.add(lambda turn, factor=factor: work(turn, factor))
    for _ in range(2):
        scheduler.advance(Budget.of_time(300, stopwatch))
    weights = [1, 1 - (1 - 1 / 1.5) / 8, 1 + (2 - 1) / 8]
    assert granted[:3] == [100, 100, 50]
    assert granted[3] == pytest.approx(300 / sum(weights), abs=1e-2)
    assert granted[4] == pytest.approx(300 * weights[1] / sum(weights), abs=1e-2)


def test_steps_are_measured_like_time(clock, kind):
    scheduler = kind(clock, learns_bias=True)
    tasks = [scheduler.add(lambda turn, n=n: turn.budget.spend(n)) for n in (20, 10, 5)]
    scheduler.advance(Budget.of_steps(60))
    assert [task._bias for task in tasks] == [1, 1.125, 1.125]
    assert scheduler.add(lambda turn: None)._bias == 1


def test_biases_go_on_after_loading(clock, kind):
    def world():
        scheduler, granted = kind(clock, learns_bias=True), []
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
    ("bias", "why"), [(0, "must be at least 1e-06"), (1e9, "must be at most"), (None, "must be a finite number")])
def test_a_bad_saved_bias_is_refused(clock, kind, bias, why):
    scheduler = kind(clock, learns_bias=True)
    scheduler.add(lambda turn: None)
    state = scheduler.save_state()
    state["tasks"][0]["bias"] = bias
    with pytest.raises(StateError, match=why):
        scheduler.prepare_state(state)


def test_bias_may_be_switched_between_saving_and_loading(clock, kind):
    plain, biased = kind(clock), kind(clock, learns_bias=True)
    for scheduler in (plain, biased):
        scheduler.add(lambda turn: None, name="a")
    (task,) = biased.tasks
    task._bias = 0.75
    plain.prepare_state(biased.save_state())()
    biased.prepare_state(plain.save_state())()
    assert (plain.tasks[0]._bias, task._bias) == (1, 1)


@pytest.mark.parametrize("wish", [None, 1.0])
def test_a_bias_is_learned_or_not(clock, kind, wish):
    with pytest.raises(TypeError, match="learns_bias must be True or False"):
        kind(clock, learns_bias=wish)
