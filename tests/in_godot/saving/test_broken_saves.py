"""What a save holds that cannot be loaded: refused before anything changes, left out, or put back; and said."""
from __future__ import annotations

import copy
import math

import pytest

from addons.ai_core.bridge.gd import Vector3
from tests.in_godot.saving.saved_world import put, world_maker


@pytest.fixture
def world(gdscript, nodes_of_test):
    """``world()``: a World in the tree; the one before is gone."""
    return world_maker(gdscript, nodes_of_test)


SAVER = """
    extends Node3D
    var kept: Variant = {"a": 1}
    func _save_state() -> Variant: return kept
    func _load_state(%s) -> void: kept = %s
"""


def add_saver(world, script):
    saver = put(script.new(), world.top, "Saver")
    saver.call("add_to_group", "ai_saved")
    return saver


@pytest.mark.parametrize(
    ("arguments", "message"),
    [("s: Array", "node/../Saver: its _load_state(s: Array) cannot take a Dictionary, which _save_state() returned"),
     ("s: Node", "its _load_state(s: Object) cannot take a Dictionary"),
     ("s: Dictionary[String, int]", "has typed elements (String;int), but saves have none"),
     ("s: Dictionary, more: int", "must take one argument, the value of _save_state(), but it takes 2"),
     ("", "its _load_state() must take one argument, the value of _save_state(), but it takes 0")],
)
def test_invalid_states_are_refused_before_anything_changes(
    world, gdscript, expect_errors, arguments, message
):
    first = world()
    add_saver(first, gdscript(SAVER % ("s: Dictionary, _more := 1", "s")))
    first.keeper.set("position", Vector3(1, 2, 3))
    state = first.save()
    second = world()
    saver = add_saver(second, gdscript(SAVER % (arguments, "null")))
    expect_errors(message, times=2)
    assert second.save() == {}, "what could not be loaded is not written"
    saver.set("kept", None)
    before = second.save()
    assert second.load(state) is False
    assert second.save() == before


def test_a_script_of_another_type_takes_convertible_values(world, gdscript):
    first = world()
    add_saver(first, gdscript(SAVER % ("s: int", "s"))).set("kept", 3)
    state = first.save()
    second = world()
    saver = add_saver(second, gdscript(SAVER % ("s: float", "s")))
    saver.set("kept", 1.5)
    assert second.load(state) is True
    assert saver.get("kept") == 3.0


@pytest.mark.parametrize(
    "kept",
    [{"!": "array", "of": ["float32", [0, 3, 3], []]}, {"!": "array", "of": ["bool", [2], [True, False]]},
     {"!": "array", "of": ["uint16", [1], [3]]}, {"!": "set", "of": [1, 2]}, {"!": "set", "of": [[1], [2]]},
     {"deep": [{"!": "set", "of": [1]}]}, {"!": "Vector3i", "of": [1 << 31, 0, 0]},
     {"!": "Vector3", "of": [1e308, 0.0, 0.0]}],
)
def test_a_script_value_without_engine_form_is_refused(world, gdscript, expect_errors, kept):
    one = world()
    add_saver(one, gdscript(SAVER % ("s: Variant", "s")))
    state = copy.deepcopy(one.save())
    state["parts"]["node/../Saver"]["script"] = kept
    one.keeper.set("position", Vector3(0, 9, 0))
    before = one.save()
    expect_errors("node/../Saver: 'script", times=1)
    expect_errors("; nothing was changed")
    assert one.load(state) is False
    assert one.save() == before


@pytest.mark.parametrize("number", [{"!": "float", "of": "nan"}, "nan", "inf", 1e308])
def test_a_place_that_is_not_finite_is_refused(world, expect_errors, number):
    one = world()
    state = copy.deepcopy(one.save())
    state["parts"]["node/../Keeper"]["motion"]["transform"]["of"][10] = number
    before = one.save()
    expect_errors("node/../Keeper: 'motion.transform' must have", times=1)
    assert one.load(state) is False
    assert one.save() == before


def test_a_node_with_invalid_position_is_saved_without_it(world, expect_errors):
    first = world()
    first.keeper.set("velocity", Vector3(math.nan, 0, 0))
    expect_errors("velocity is Vector3(nan, 0, 0) and is left out of the save", times=1)
    state = first.save()
    second = world()
    second.keeper.set("velocity", Vector3(0, 1, 0))
    assert second.load(state) is True
    assert second.keeper.get("velocity") == Vector3(0, 1, 0)


def test_a_node_that_fails_to_load_is_reported_and_others_load(world, expect_errors):
    first = world()
    first.add("FragileProbe", "Glass", level=13)
    first.keeper.set("position", Vector3(1, 2, 3))
    state = first.save()
    second = world()
    second.add("FragileProbe", "Glass", refused=13)
    expect_errors("could not load all of this state: node/../Glass: LookupError: no level 13: failed while the checked"
                  " state was applied; it may be partly changed; the other 8 parts were restored", times=1)
    assert second.load(state) is False
    assert second.keeper.get("position") == Vector3(1, 2, 3)
    second.scheduler.step()


def test_a_load_that_rolls_back_leaves_the_scene_as_it_was(world, expect_errors):
    first = world()
    first.add("FragileProbe", "Glass", level=13)
    first.scheduler.step()
    state = first.save()
    second = world()
    second.add("FragileProbe", "Glass", refused=13, level=2)
    second.scheduler.step(0.5)
    before = second.save()
    expect_errors("node/../Glass: LookupError: no level 13: failed while the checked state was applied", times=1)
    expect_errors("; all parts were rolled back to their previous states")
    assert second.scheduler.call("load_state", state, False, True) is False
    assert second.save() == before
    second.scheduler.step()


def test_a_node_that_another_frees_while_it_is_loaded_is_named(world, gdscript, expect_errors):
    freeing = "extends Node\nfunc _save_state() -> int: return 1\nfunc _load_state(_s: int) -> void: $'../Thing'.free()"
    one = world()
    add_saver(one, gdscript(freeing))
    one.add("Node3D", "Thing")
    state = one.save()
    expect_errors("could not load all of this state: node/../Thing: GodotFreedError", times=1)
    assert one.load(state) is False


def test_broken_and_missing_parts_are_left_out_on_request(world, expect_errors):
    first = world()
    first.add("Node3D", "Thing")
    first.scheduler.add_behavior(lambda elapsed: None, 1, -1, 1.0, "gone")
    first.keeper.set("position", Vector3(1, 2, 3))
    first.scheduler.step()
    state = copy.deepcopy(first.save())
    state["parts"]["HabitTree/../Keeper/Brain"]["state"]["tree"]["active"] = 3
    second = world()
    for _ in range(5):
        second.scheduler.step()
    thoughts = second.keeper.get("thoughts")
    expect_errors("load_state() left out 3 parts, see get_left_out(): ", times=1)
    assert second.scheduler.call("load_state", state, True) is True
    left_out = second.scheduler.call("get_left_out")
    assert left_out == {
        "../Thing": "is not in the scene", "behavior gone": "1 saved, 0 here",
        "HabitTree/../Keeper/Brain": "'tree': 'active' must be a list, got 3"}
    assert second.keeper.get("position") == Vector3(1, 2, 3)
    assert second.scheduler.clock.now.frame == 1
    for _ in range(12):
        second.scheduler.step()
    assert second.keeper.get("thoughts") > thoughts
    assert list(second.tree.get_active_paths()) == ["Brain/Idle"], "what was left out goes on"
    assert second.load(second.save()) is True
    assert second.scheduler.call("get_left_out") == {}


def test_behaviors_run_after_a_load_without_the_scheduler(world, expect_errors):
    first = world()
    state = copy.deepcopy(first.save())
    state["parts"]["scheduler"]["next_id"] = -1
    second = world()
    for _ in range(500):
        second.scheduler.step()
    thoughts = second.keeper.get("thoughts")
    expect_errors("load_state() left out 1 parts, see get_left_out(): scheduler: 'next_id'", times=1)
    assert second.scheduler.call("load_state", state, True) is True
    for _ in range(24):
        second.scheduler.step()
    assert second.keeper.get("thoughts") - thoughts in (3, 4, 5)


@pytest.mark.parametrize("kind", ["SenseManager", "PollingStation"])
def test_any_node_may_reset_what_a_save_does_not_hold(node, scheduler, monkeypatch, kind):
    one, reset = node(kind, scheduler), []
    monkeypatch.setattr(type(one), "reset_unsaved", lambda self: reset.append(self), raising=False)
    state = scheduler.save_state()
    assert scheduler.load_state(state)
    assert reset == []
    state["parts"] = {name: part for name, part in state["parts"].items() if not name.startswith(kind)}
    assert scheduler.load_state(state)
    assert reset == [one]
