"""Kinds of work share a budget, and none of them starves."""
from __future__ import annotations

import math

import pytest

from ai_core.budget import Budget
from ai_core.senses.turns import Turns


def busy(done, limit=math.inf):
    def stage(budget, now_s):
        while len(done) < limit:
            if budget.is_spent:
                return False
            budget.spend()
            done.append(1)
        return True
    return stage


@pytest.mark.parametrize("steps", [1, 2, 7, 100])
def test_each_kind_gets_half_of_every_budget_when_both_have_work(steps):
    first, second = [], []
    turns = Turns((busy(first),), (busy(second),), ())
    for _ in range(100):
        turns.advance(Budget.of_steps(steps), 0.0, (0, 1))
    assert len(first) + len(second) == 100 * steps
    assert abs(len(first) - len(second)) <= 2


def test_one_kind_gets_what_the_other_leaves():
    for kinds in ((0, 1), (1, 0)):
        works = ([], [])
        stages = [(busy(works[kind], limit=5 if kind else math.inf),) for kind in kinds]
        turns = Turns(*stages, ())
        for _ in range(10):
            turns.advance(Budget.of_steps(10), 0.0, (0, 1))
        assert sorted(map(len, works)) == [5, 95]


def test_after_one_kind_spent_the_budget_the_other_comes_first():
    done = []

    def piece_of(kind):
        def stage(budget, now_s):
            done.append(kind)       # some of its work however little is left, as a listener is called
            budget.spend(3)
            return False
        return stage

    turns = Turns((piece_of("signals"),), (piece_of("sight"),), ())
    for _ in range(6):
        turns.advance(Budget.of_steps(3), 0.0, (0, 1))
    assert done == ["signals", "sight"] * 3


def test_each_kind_runs_at_least_once_in_three_advances():
    now_us, done = [0], []

    def stage_of(kind, piece_us):
        def stage(budget, now_s):
            now_us[0] += piece_us
            done[-1].append(kind)
            return False
        return stage

    turns = Turns((stage_of("signals", 100),), (stage_of("sight", 100),), (stage_of("percepts", 60),))
    for _ in range(40):
        done.append([])
        turns.advance(Budget.of_time(90, lambda: now_us[0] * 1000), 0.0, (0, 1, 2))
    for first in range(38):
        assert {kind for kinds in done[first : first + 3] for kind in kinds} == {"signals", "sight", "percepts"}


def test_work_begins_only_where_what_it_took_is_left():
    now_us, over_us = [0], []

    def stage_of(piece_us):
        def stage(budget, now_s):
            now_us[0] += piece_us
            return True
        return stage

    turns = Turns((stage_of(60),), (stage_of(70),), (stage_of(80),))
    for _ in range(40):
        budget = Budget.of_time(100, lambda: now_us[0] * 1000)
        turns.advance(budget, 0.0, (0, 1, 2))
        over_us.append(budget.over)
    assert max(over_us[10:]) == 0


def test_stages_begin_in_order_again_once_all_have_run():
    order = []

    def stage(name):
        def run(budget, now_s):
            if budget.is_spent:
                return False
            budget.spend()
            order.append(name)
            return True
        return run

    turns = Turns((stage("first"), stage("second"), stage("third")))
    for steps in (2, 100, 100):
        turns.advance(Budget.of_steps(steps), 0.0, (0,))
    assert order == ["first", "second", "third", "first", "second", "first", "second", "third"]
