"""Groups of groups: names, shares, clocks, pauses, saving."""
from __future__ import annotations

import json

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.errors import CycleError
from ai_core.faults import FaultIsolation
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler, tree_statistics


def greedy(granted, name):
    def work(turn):
        granted.append((name, turn.budget.left))
        while not turn.budget.is_spent:
            turn.budget.spend()

    return work


def group_of(game, name, *, policy=Policy.LOAD_BALANCING, **settings):
    group = Scheduler(game.clock, policy=policy)
    game.add(group, name=name, **settings)
    return group


def test_the_budget_is_shared_out_down_the_tree(clock):
    game, granted = Scheduler(clock), []
    squad = group_of(game, "squad", priority=3)
    for name in ("bob", "eve"):
        group_of(squad, name).add(greedy(granted, name))
    game.add(greedy(granted, "alone"))
    budget = Budget.of_steps(800)
    game.advance(budget)
    assert granted == [("bob", 300), ("eve", 300), ("alone", 200)]
    assert budget.used == 800


def test_rows_of_the_whole_tree_are_named_by_paths(clock, stopwatch):
    game = Scheduler(clock)
    bob = group_of(group_of(game, "squad"), "bob", policy=Policy.FREQUENCY)
    bob.add(lambda turn: stopwatch.passes(30), name="think")
    game.add(lambda turn: stopwatch.passes(10), name="weather")
    game.advance(Budget.of_time(100, stopwatch))
    rows = {row["path"]: row["used_us_mean"] for row in tree_statistics(game)}
    assert rows == {"squad": 30, "squad/bob": 30, "squad/bob/think": 30, "weather": 10}
    assert tree_statistics(bob)[0]["path"] == "think"


def test_who_overran_is_named_by_the_path(clock, stopwatch):
    overruns = []
    game = Scheduler(clock, on_overrun=overruns.append)
    squad = group_of(game, "squad")
    squad.add(lambda turn: stopwatch.passes(10), name="look")
    group_of(squad, "bob", policy=Policy.FREQUENCY).add(lambda turn: stopwatch.passes(200), name="think")
    game.advance(Budget.of_time(100, stopwatch))
    assert [(one.name, one.over) for one in overruns] == [("squad/bob/think", 110)]
    assert (game.overruns, squad.overruns) == (1, 1)


def test_inner_work_receives_true_time_whatever_the_group_is_due(clock):
    game, elapsed = Scheduler(clock), []
    group = group_of(game, "group", policy=Policy.FREQUENCY, period_frames=3, phase_frames=0)
    group.add(lambda turn: elapsed.append(turn.elapsed_s), period_frames=2, phase_frames=0)
    for _ in range(13):
        game.advance(Budget.unlimited())
        clock.advance()
    assert elapsed == pytest.approx([0.0, 0.6, 0.6])
    assert group.frame == 5


def test_a_group_that_is_paused_stands_still(clock):
    game, elapsed = Scheduler(clock), []
    group = Scheduler(clock)
    task = game.add(group)
    group.add(lambda turn: elapsed.append(turn.elapsed_s))
    for pause in (False, True, True, False):
        (game.pause if pause else game.resume)(task)
        game.advance(Budget.of_steps(9))
        clock.advance()
    assert (group.frame, elapsed) == (2, pytest.approx([0.0, 0.3]))


def test_a_failure_inside_stays_with_the_task_that_failed(clock):
    faults = FaultIsolation(report=lambda fault: None)
    game, group = Scheduler(clock), Scheduler(clock, faults=faults)
    task, failing = game.add(group), group.add(lambda turn: 1 / 0)
    for _ in range(4):
        game.advance(Budget.unlimited())
    assert faults.counts == {"failures": 3, "quarantined": 1}
    assert (failing.runs, task.faults) == (3, 0)


def built():
    clock, ran = ManualClock(), []
    game = Scheduler(clock)
    squad = group_of(game, "squad", period_frames=2)
    for name in ("bob", "eve"):
        member = group_of(squad, name, policy=Policy.FREQUENCY)
        for period in (1, 2, 3):
            member.add(
                lambda turn, name=name, period=period: ran.append((name, period, turn.elapsed_s)),
                period_frames=period, name=f"every {period}",
            )
    return clock, game, ran


def live(clock, game, ran, frames):
    for _ in range(frames):
        clock.advance()
        game.advance(Budget.of_steps(4))
    told = list(ran)
    ran.clear()
    return told


def test_groups_are_saved_with_the_scheduler_they_are_in():
    first, second = built(), built()
    live(*first, 11)
    live(*second, 4)
    state = json.loads(json.dumps({"clock": first[0].save_state(), "game": first[1].save_state()}))
    for change in (second[0].prepare_state(state["clock"]), second[1].prepare_state(state["game"])):
        change()
    assert tree_statistics(second[1]) == tree_statistics(first[1])
    assert live(*second, 20) == live(*first, 20) != []


def test_a_group_may_not_contain_who_contains_it(clock):
    game = Scheduler(clock)
    bob = group_of(group_of(game, "squad"), "bob")
    for ancestor in (game, bob):
        with pytest.raises(CycleError, match="directly or through others"):
            bob.add(ancestor)
