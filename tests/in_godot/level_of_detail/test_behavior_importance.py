"""AIBehavior: what importance makes of its period and priority."""
from __future__ import annotations

import pytest

from addons.ai_core.nodes.level_of_detail.importance_manager import RatePair
from tests.in_godot.level_of_detail.level_of_detail_world import WatchedWorld

THINKER = "extends Node3D\nvar thoughts := []\nfunc think(elapsed_s): thoughts.append(elapsed_s)"
PERIOD, PRIORITY = 1, 2


@pytest.fixture
def world(node, scheduler, physics_frames, gdscript):
    return WatchedWorld(node, scheduler, physics_frames, gdscript)


@pytest.fixture
def thinker(world, gdscript):
    made = gdscript(THINKER).new()
    world.scheduler.add_child(made)
    return made


def row(world):
    [found] = [one for one in world.scheduler.get_stats()["behaviors"] if one["name"].endswith(".think")]
    return found["period_frames"], pytest.approx(found["priority"])


@pytest.mark.parametrize("follow", [PERIOD, PRIORITY, PERIOD | PRIORITY])
def test_behaviors_become_rarer_with_distance(world, thinker, node, follow):
    node("AIBehavior", thinker, period=2, follow_importance=follow, longest_period=20)
    world.step(20)
    assert len(thinker.get("thoughts")) == 10
    world.put(thinker, 100.0)
    world.step(2)
    thinker.set("thoughts", [])
    world.step(60)
    assert len(thinker.get("thoughts")) == (3 if follow & PERIOD else 30)
    assert row(world) == (20 if follow & PERIOD else 2, 0.1 if follow & PRIORITY else 1.0)
    assert sum(thinker.get("thoughts")[1:]) == pytest.approx((len(thinker.get("thoughts")) - 1) * row(world)[0] / 60)


def test_importance_may_be_followed_no_longer(world, thinker, node):
    behavior = node("AIBehavior", thinker, period=2, follow_importance=PERIOD)
    world.put(thinker, 100.0)
    world.step(3)
    assert row(world)[0] == 60
    behavior.set("longest_period", 30)
    world.step(1)
    assert row(world)[0] == 30
    behavior.set("follow_importance", 0)
    assert row(world)[0] == 2
    assert world.manager.get_stats()["agents"] == 0


def test_paces_are_saved(world, thinker, node):
    node("AIBehavior", thinker, period=2, follow_importance=PERIOD)
    world.put(thinker, 100.0)
    world.step(3)
    state = world.scheduler.save_state()
    world.put(thinker, 0.0)
    world.step(2)
    assert row(world)[0] == 2
    assert world.scheduler.load_state(state)
    assert row(world)[0] == 60


def test_without_a_manager_an_error_is_reported_and_period_stays(
        scheduler, gdscript, node, physics_frames, expect_errors):
    made = gdscript(THINKER).new()
    scheduler.add_child(made)
    expect_errors("found no ImportanceManager and its period and priority do not change", times=1)
    node("AIBehavior", made, period=2, follow_importance=PERIOD)
    made.get_child(0).set("longest_period", 30)
    physics_frames(2)


def test_a_manager_that_comes_later_paces_it(scheduler, gdscript, node, expect_errors, physics_frames):
    made = gdscript(THINKER).new()
    scheduler.add_child(made)
    expect_errors("found no ImportanceManager", times=1)
    node("AIBehavior", made, period=2, follow_importance=PERIOD, longest_period=20)
    physics_frames(4)
    [before] = scheduler.get_stats()["behaviors"]
    expect_errors("has agents but no ImportanceViewer", times=1)
    node("ImportanceManager", scheduler, period=1)
    physics_frames(4)
    [after] = [one for one in scheduler.get_stats()["behaviors"] if one["name"] == before["name"]]
    assert (before["period_frames"], after["period_frames"]) == (2, 20)
    assert after["runs"] > before["runs"], "it goes on, and does not begin anew"


def test_a_role_may_change_while_it_runs(world, thinker, node):
    behavior = node("AIBehavior", thinker, period=2, follow_importance=PERIOD, longest_period=20)
    world.put(thinker, 100.0)
    world.step(3)
    assert row(world)[0] == 20
    behavior.set("role", 1.0)
    world.step(3)
    assert row(world)[0] == 14, "0.3 of the way back"


def test_importance_works_below_a_nested_scheduler(world, thinker, node):
    world.scheduler.remove_child(thinker)
    inner = node("AIScheduler", world.scheduler, budget=0.0)
    inner.add_child(thinker)
    behavior = node("AIBehavior", thinker, period=2, follow_importance=PERIOD, longest_period=20)
    world.put(thinker, 100.0)
    world.step(3)
    assert inner.get_stats()["behaviors"][0]["period_frames"] == 20
    behavior.set("period", 4)
    world.step(3)
    assert inner.get_stats()["behaviors"][0]["period_frames"] == 20


@pytest.mark.parametrize("longest", [17, 20, 29])
def test_pace_never_exceeds_the_longest_period(longest):
    pace = RatePair(10, longest, 1.0, 0.0)
    periods = [pace.rate(importance / 100).period_frames for importance in range(101)]
    assert max(periods) == longest // 10 * 10
    assert periods[-1] == 10
