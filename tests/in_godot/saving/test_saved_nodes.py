"""Nodes of the game in the group "ai_saved", and properties that a game changes, are saved with the AI."""
from __future__ import annotations

import copy
import math

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Transform2D, Transform3D, Vector2, Vector3, construct
from tests.in_godot.saving.saved_world import put, world_maker


@pytest.fixture
def world(gdscript, nodes_of_test):
    """``world()``: a World in the tree; the one before is gone."""
    return world_maker(gdscript, nodes_of_test)


def test_transform_motion_and_script_values_are_saved(world):
    first, place = world(), Vector3(1, 2.5, -3)
    first.keeper.set("position", place)
    first.keeper.set("rotation", Vector3(0, 0.7, 0))
    first.keeper.set("velocity", Vector3(0, 0, -1.5))
    first.keeper.set("way", np.array([[1, 2, 3], [4, 5, 6.5]], np.float32))
    first.keeper.call("befriend", first.source)
    turned = first.keeper.get("transform")
    state = first.save()
    second = world()
    assert second.load(state) is True
    assert second.keeper.get("transform") == turned
    assert second.keeper.get("velocity") == Vector3(0, 0, -1.5)
    assert second.keeper.get("way").tolist() == [[1, 2, 3], [4, 5, 6.5]]
    assert second.keeper.get("friends") == [second.source]
    assert math.isinf(second.keeper.get("farthest").x)
    assert second.save() == state


@pytest.mark.parametrize(
    ("class_name", "motion"),
    [("Node2D", {"transform": Transform2D(1, 0, 0, 1, 4, 5)}),
     ("Node3D", {"transform": Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 4, 5, 6)}),
     ("CharacterBody2D", {"velocity": Vector2(1, 2)}),
     ("RigidBody3D", {"linear_velocity": Vector3(1, 2, 3), "angular_velocity": Vector3(0, 1, 0), "sleeping": True}),
     ("RigidBody2D", {"linear_velocity": Vector2(1, 2), "angular_velocity": 0.5}),
     ("Node", {})],
)
def test_the_motion_of_each_kind_of_node_is_saved(world, class_name, motion):
    first = world()
    first.add(class_name, "Thing", **motion)
    state = first.save()
    second = world()
    thing = second.add(class_name, "Thing")
    assert second.load(state) is True
    assert {name: thing.get(name) for name in motion} == motion


def test_a_node_is_saved_by_the_scheduler_it_is_nearest_to(world, nodes_of_test):
    one = world()
    apart = construct("Node3D")
    inner = construct("AIScheduler")
    apart.add_child(inner)
    thing = construct("Node3D")
    thing.call("add_to_group", "ai_saved")
    thing.set("name", "Thing")
    apart.add_child(thing)
    nodes_of_test.keep(apart, None)
    assert "node/../Thing" in inner.call("save_state")["parts"]
    assert "node/../Keeper" in one.save()["parts"]
    assert not [part for part in one.save()["parts"] if "Thing" in part]


def test_python_saving_methods_without_a_mark_are_reported(world, expect_errors):
    one = world()
    put(construct("ForgetfulProbe"), one.top, "Half").add_to_group("ai_saved")
    expect_errors("node/../Half: its _save_state() is not a method of the engine; add @method to it", times=1)
    assert one.save() == {}


def test_a_script_that_saves_and_cannot_load_is_named_at_once(world, gdscript, expect_errors):
    one = world()
    made = gdscript("extends Node\nfunc _save_state() -> Variant: return 1").new()
    made.set("name", "Half")
    made.call("add_to_group", "ai_saved")
    one.top.add_child(made)
    expect_errors("node/../Half: its script has _save_state() but no _load_state(state); add it", times=1)
    assert one.save() == {}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [(["node/../Keeper", "motion", "velocity"], 3, "node/../Keeper: 'motion.velocity' must be a Vector3, got 3"),
     (["node/../Keeper", "motion", "speed"], 3, "node/../Keeper: 'motion.speed' is an unknown field"),
     (["node/../Keeper", "script", "friends"], [{"!": "node", "of": "../Nobody"}],
      "is of the node '../Nobody', which is not in the scene"),
     (["node/../Keeper", "version"], 2, "node/../Keeper: 'version' is 2"),
     (["AIBehavior/../Keeper/Think", "state", "settings", "priority"], -1.0, "priority must be between 0.001 and 1000"),
     (["AIBehavior/../Keeper/Think", "state", "settings", "enabled"], 1, "'settings.enabled' must be true or false"),
     (["HabitTree/../Keeper/Brain", "state", "settings", "period"], 1.5, "must be an integer, got 1.5"),
     (["SenseManager/../Senses", "state", "sensors", 0, 0], "nobody",
      "'sensors' is of the node 'nobody', which is not in the scene"),
     (["SenseManager/../Senses", "state", "sensors", 0, 1, "settings", "sight_range"], math.nan, "finite number")],
)
def test_a_damaged_save_is_one_clear_error_and_changes_nothing(world, expect_errors, path, value, message):
    one = world()
    one.scheduler.step()
    state = copy.deepcopy(one.save())
    box = state["parts"]
    for key in path[:-1]:
        box = box[key]
    box[path[-1]] = value
    one.keeper.set("position", Vector3(0, 9, 0))
    before = one.save()
    expect_errors(message, times=1)
    assert one.load(state) is False
    assert one.save() == before


CHANGED = {
    "eyes": {"sight_range": 7.5, "near_range": 0.0, "sight_threshold": 0.3, "hearing_threshold": 2.5,
        "detection_mask": 5,
             "horizontal_angle": 0.5, "vertical_angle": 0.25},
    "source": {"sight_strength": 0.1, "sound_strength": 7.0, "affiliation": 8},
    "behavior": {"enabled": False, "period": 3, "priority": 2.0},
    "tree": {"enabled": False, "period": 4, "priority": 0.5},
}


def test_properties_that_a_game_changed_are_saved(world):
    first = world()
    for who, settings in CHANGED.items():
        for name, value in settings.items():
            getattr(first, who).set(name, value)
    state = first.save()
    second = world()
    assert second.load(state) is True
    for who, settings in CHANGED.items():
        assert {name: getattr(second, who).get(name) for name in settings} == settings
    assert second.save() == state
    second.eyes.set("hearing_threshold", 1.25)
    rows = second.save()["parts"]["SenseManager/../Senses"]["state"]["senses"]["sensors"]["rows"]
    assert (rows[0]["thresholds"]["hearing"], rows[0]["cones"][0][0]) == (1.25, 7.5), "others are as loaded"


@pytest.mark.parametrize("is_on", [True, False])
def test_what_is_off_in_a_save_is_off_when_it_is_loaded(world, is_on):
    first = world()
    first.behavior.set("period", 1)
    first.behavior.set("enabled", is_on)
    first.tree.set("enabled", is_on)
    first.scheduler.step()
    state = first.save()
    second = world()
    second.behavior.set("enabled", not is_on)
    second.tree.set("enabled", not is_on)
    second.load(state)
    thoughts = second.keeper.get("thoughts")
    for _ in range(3):
        second.scheduler.step()
    assert second.keeper.get("thoughts") - thoughts == (3 if is_on else 0)
    assert bool(list(second.tree.get_active_paths())) == is_on
    second.behavior.set("enabled", True)
    second.tree.set("enabled", True)
    second.scheduler.step()
    assert second.keeper.get("thoughts") - thoughts == (4 if is_on else 1)
    assert list(second.tree.get_active_paths()) == ["Brain/Idle"]


def test_switching_on_resets_the_tries_of_a_failed_behavior(world, expect_errors):
    one = world()
    one.behavior.set("period", 1)
    failures = []

    def fail(elapsed):
        failures.append(elapsed)
        raise ValueError("no idea")

    number = one.scheduler.add_behavior(fail, 1, -1, 1.0, "fail")
    expect_errors("behavior 'fail' raised ValueError: no idea")
    for _ in range(5):
        one.scheduler.step()
    assert len(failures) == 3
    one.scheduler.set_enabled(one.scheduler._task(number), False)
    one.scheduler.set_enabled(one.scheduler._task(number), True)
    one.scheduler.step()
    assert len(failures) == 4
