"""ImportanceManager and ImportanceViewer: who matters to those who watch, in a scene."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct
from tests.in_godot.level_of_detail.level_of_detail_world import WatchedWorld


@pytest.fixture
def world(node, scheduler, physics_frames, gdscript):
    return WatchedWorld(node, scheduler, physics_frames, gdscript)


def test_a_script_may_force_importance(world):
    lod = world.character(90.0)
    world.manager.force_importance(lod.body, 1.0, 0.05)
    world.step(2)
    assert lod.get_level() == "Plan"
    world.step(6)
    assert lod.get_level() == "Idle"


def test_the_nearest_enabled_viewer_counts(world, node):
    lod = world.character(90.0)
    other = node("ImportanceViewer", node("Node3D", world.scheduler, position=Vector3(90.0, 0.0, 0.0)))
    world.step(2)
    assert lod.get_level() == "Plan"
    other.set("weight", 0.2)
    world.step(2)
    assert lod.importance == pytest.approx(0.2)
    other.set("enabled", False)
    world.step(2)
    assert lod.importance == pytest.approx(0.1)


@pytest.mark.parametrize("has_own", [True, False])
def test_viewer_of_another_world_makes_nothing_important(world, node, expect_errors, has_own):
    lod = world.character(90.0)
    if has_own:
        expect_errors(f"is in another World3D than its ImportanceManager '{world.manager.get_name()}', and sees"
                      " nothing; add an ImportanceManager to its viewport", times=1)
    screen = node("SubViewport", world.scheduler, own_world_3d=has_own)
    camera = node("Camera3D", screen, position=Vector3(90.0, 0.0, 0.0))
    node("ImportanceViewer", camera, field_of_view=math.tau)
    world.step(4)
    assert lod.get_level() == ("Idle" if has_own else "Plan")
    if has_own:
        own = node("ImportanceManager", screen)
        world.step(4)
        assert (own.get_stats()["viewers"], world.manager.get_stats()["viewers"]) == (1, 1)


def test_a_viewer_may_have_a_range_of_its_own(world):
    lod = world.character(50.0)
    world.step(2)
    assert lod.importance == pytest.approx(0.5)
    world.viewer.set("far_distance", 500.0)
    world.step(2)
    assert lod.importance == pytest.approx(0.9)
    world.viewer.set("near_distance", 20.0)
    world.viewer.set("far_distance", 0.0)
    world.step(2)
    assert lod.importance == pytest.approx(50 / 80)


def test_an_invalid_viewer_range_falls_back_to_the_manager(world, node, expect_errors):
    lod = world.character(50.0)
    expect_errors(
        "far_distance must be above near_distance, got 100 and 120; those of the ImportanceManager are used", times=1)
    world.viewer.set("near_distance", 120.0)
    world.step(5)
    assert lod.importance == pytest.approx(0.5)
    world.viewer.set("far_distance", 200.0)
    world.step(2)
    assert lod.importance == 1.0
    expect_errors("far_distance must be above near_distance, got 3 and 7", times=1)
    node("ImportanceViewer", world.camera, near_distance=7.0, far_distance=3.0)


def test_what_a_script_set_of_a_viewer_is_saved(world):
    lod = world.character(50.0)
    world.viewer.set("far_distance", 500.0)
    world.step(2)
    state = world.scheduler.save_state()
    world.viewer.set("enabled", False)
    world.viewer.set("far_distance", 0.0)
    world.step(2)
    assert lod.importance == 0.0
    assert world.scheduler.load_state(state)
    world.step(2)
    assert (world.viewer.enabled, world.viewer.far_distance) == (True, 500.0)
    assert lod.importance == pytest.approx(0.9)


def test_who_is_behind_the_camera_counts_less(node, scheduler, physics_frames, world):
    world.manager.free()
    manager = node("ImportanceManager", scheduler, period=1, smoothing_time=0.0, distance_weight=0.0,
                   view_weight=1.0, approach_weight=0.0, size_weight=0.0)
    world.viewer.set("field_of_view", 1.0)
    ahead, behind = world.character(0.0), world.character(0.0)
    ahead.body.set("position", Vector3(0.0, 0.0, -10.0))
    behind.body.set("position", Vector3(0.0, 0.0, 10.0))
    physics_frames(3)
    assert ahead.importance == pytest.approx(1.0)
    assert behind.importance == pytest.approx(0.0, abs=1e-4)
    assert manager.get_stats()["agents"] == 2


def test_all_works_in_2d_with_pixels(node, scheduler, physics_frames, world):
    world.manager.free()
    node("ImportanceManager", scheduler, period=1, smoothing_time=0.0, distance_weight=1.0, view_weight=0.0,
         approach_weight=0.0, size_weight=0.0, near_distance=0.0, far_distance=100.0, pixels_per_meter=10.0)
    world.camera.free()
    node("ImportanceViewer", node("Node2D", scheduler))
    lod = world.character(place=node("Node2D", scheduler, position=Vector2(300.0, 0.0)))
    physics_frames(3)
    assert lod.importance == pytest.approx(0.7)


def test_a_mixture_of_2d_and_3d_is_one_clear_error(world, node, expect_errors):
    expect_errors("is below the Node2D", times=1)
    world.character(place=node("Node2D", world.scheduler))


def test_without_a_manager_the_error_says_where_to_put_one(scheduler, node, physics_frames, expect_errors):
    expect_errors("found no ImportanceManager and sees nothing; add one below the AIScheduler", times=1)
    node("ImportanceViewer", node("Node3D", scheduler))
    physics_frames(2)


def test_without_a_place_the_error_says_so(world, node, physics_frames, expect_errors):
    expect_errors("has no Node3D or Node2D above it, and sees nothing", times=1)
    node("ImportanceViewer", node("Node", world.scheduler))
    physics_frames(2)


def test_nobody_who_watches_is_told_once(world, expect_errors):
    world.viewer.free()
    expect_errors("has agents but no ImportanceViewer; put one below the camera", times=1)
    world.character(10.0)
    world.step(5)


def test_a_manager_that_comes_later_is_joined(scheduler, node):
    viewer = node("ImportanceViewer", node("Node3D", scheduler))
    manager = node("ImportanceManager", scheduler)
    assert manager.get_stats()["viewers"] == 1
    viewer.get_parent().remove_child(viewer)
    assert manager.get_stats()["viewers"] == 0
    viewer.free()


def test_members_may_stand_above_the_manager_in_a_scene(scheduler, node, gdscript, physics_frames):
    level, camera, body = construct("Node3D"), construct("Node3D"), construct("Node3D")
    actor = gdscript("extends Node3D\nfunc think(_elapsed_s): pass").new()
    lod, behavior = construct("BehavioralLOD"), construct("AIBehavior")
    behavior.set("method_name", "think")
    behavior.set("follow_importance", 1)
    manager = construct("ImportanceManager")
    manager.set("period", 1)
    for parent, child in (
            (camera, construct("ImportanceViewer")), (lod, construct("LODBehavior")), (body, lod), (actor, behavior),
            (level, camera), (level, body), (level, actor), (level, manager)):
        parent.add_child(child)
    scheduler.add_child(level)
    physics_frames(3)
    assert (manager.get_stats()["viewers"], manager.get_stats()["agents"]) == (1, 2)
    level.free()


def test_an_invalid_position_is_reported_once_and_harms_no_other(world, expect_errors):
    lost, well = world.character(10.0), world.character(20.0)
    world.step(2)
    expect_errors("its global transform holds a NaN", times=1)
    lost.body.set("position", Vector3(math.nan, 0.0, 0.0))
    world.step(3)
    assert (lost.importance, well.importance) == (pytest.approx(0.9), pytest.approx(0.8))


def test_a_behavior_is_paced_by_the_importance_of_an_agent(world):
    lod, ran = world.character(0.0), []
    number = world.scheduler.add_behavior(ran.append, 2)
    world.manager.pace_behavior(number, lod.body, 20)
    world.step(20)
    near = len(ran)
    world.put(lod.body, 100.0)
    world.step(2)
    ran.clear()
    world.step(60)
    assert near == 10
    assert len(ran) == 3
    assert ran[-1] == pytest.approx(20 / 60)


def test_being_hurt_or_noticed_makes_important_and_fades(world):
    lod = world.character(90.0)
    world.step(2)
    world.manager.damage(lod.body)
    world.manager.notice(lod)
    world.step(1)
    assert lod.importance > 0.8
    world.step(60 * 20)
    assert lod.importance == pytest.approx(0.1, abs=0.01)


def test_importance_tells_why(world):
    lod = world.character(30.0, role=0.5)
    world.step(2)
    parts = lod.get_importance_parts()
    assert parts["distance"] == pytest.approx(0.7, abs=1e-5)
    assert parts["role"] == pytest.approx(0.15)
    assert parts["value"] == pytest.approx(0.85) == lod.importance
    assert world.manager.get_importance(lod.body) == pytest.approx(0.85)


def test_wrong_pacing_is_refused_with_what_to_do(world, expect_errors):
    lod = world.character(10.0)
    number = world.scheduler.add_behavior(lambda elapsed_s: None, 10)
    expect_errors("longest_period must be at least the period of the behavior, 10, got 3", times=1)
    world.manager.call("pace_behavior", number, lod, 3)
    expect_errors("unknown behavior id 99", times=1)
    world.manager.call("pace_behavior", 99, lod, 30)
    world.manager.pace_behavior(number, lod, 30)
    world.scheduler.remove_behavior(number)
    world.step(3)


def test_a_manager_that_leaves_lets_everybody_wait_for_the_next(world, node):
    lod = world.character(10.0, crowd="guards")
    world.step(3)
    world.manager.free()
    world.step(3)
    assert lod.get_level() == "Plan"
    manager = node("ImportanceManager", world.scheduler, period=1)
    world.step(3)
    assert manager.get_stats()["agents"] == manager.get_stats()["viewers"] == 1
    assert manager.get_stats()["crowds"] == {"guards": [1, 0, 0]}


def test_settings_that_do_not_fit_are_one_clear_error(scheduler, node, expect_errors):
    expect_errors("far_distance must be above near_distance, got 5 and 50; the defaults are used",
        times=1)
    manager = node("ImportanceManager", scheduler, near_distance=50.0, far_distance=5.0)
    expect_errors("cannot change while the scene runs", times=1)
    manager.call("set_far_distance", 60.0)


def test_unwatched_agents_in_2d_cause_one_error(node, scheduler, expect_errors):
    manager = node("ImportanceManager", scheduler, period=1)
    lod = construct("BehavioralLOD")
    lod.add_child(construct("LODBehavior"))
    node("Node2D", scheduler).add_child(lod)
    expect_errors("has agents but no ImportanceViewer", times=1)
    for _ in range(5):
        scheduler.step(0.1)
    assert manager.get_importance(lod) == pytest.approx(0.1, abs=0.2)
    assert not any(one["faults"] for one in scheduler.get_stats()["behaviors"])


def test_all_characters_and_the_viewer_are_replaced(world, node):
    for frames in range(3):
        bodies = [world.character(x).body for x in (50.0, 25.0)]
        world.step(2)
        assert [world.manager.get_importance(one) for one in bodies] == pytest.approx([0.5, 0.75])
        for one in (*bodies, world.viewer):
            one.free()
        if frames:
            world.step(frames)
        world.viewer = node("ImportanceViewer", world.camera, field_of_view=math.tau)
