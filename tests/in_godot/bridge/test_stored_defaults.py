"""Properties whose default depends on the dimension: a scene stores those that were set, whatever their value."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.declarations import exports_of
from addons.ai_core.bridge.gd import construct, singleton
from addons.ai_core.bridge.registration import declared_classes

VARYING = sorted(cls.__name__ for cls in declared_classes if cls.__declared__["varying"])


def varying(name):
    cls = next(one for one in declared_classes if one.__name__ == name)
    return [exports_of(cls)[one] for one in cls.__declared__["varying"]]


def packed(branch):
    scene = construct("PackedScene")
    assert scene.pack(branch) == 0
    return scene


def stored(scene, place):
    """Return the values of a node that a scene stores, by name."""
    state = scene.get_state()
    return {str(state.get_node_property_name(place, one)): state.get_node_property_value(place, one)
            for one in range(state.get_node_property_count(place))}


@pytest.fixture
def branch(node, scheduler):
    """``branch(class, values)``: a 2D character with one node of a class below it, which has values."""

    def made(name, values):
        top = node("CharacterBody2D", scheduler, name="Top")
        if "dimensions" in exports_of(next(one for one in declared_classes if one.__name__ == name)):
            values = {"dimensions": 1, **values}
        node(name, top, name="Made", **values).owner = top
        return top

    return made


def test_the_habits_and_services_of_2d_are_meant():
    assert {"HabitMoveTo", "HabitPatrol", "Squad", "CoverMap"} <= set(VARYING)


@pytest.mark.parametrize("name", VARYING)
def test_what_was_not_set_is_not_stored(branch, name):
    assert not {one.name for one in varying(name)} & set(stored(packed(branch(name, {})), 1))


@pytest.mark.parametrize("name", VARYING)
def test_the_default_of_3d_is_stored_in_2d_if_it_was_set(branch, name):
    wanted = {one.name: one.default for one in varying(name) if one.default is not None}
    top = branch(name, wanted)
    scene, twin = packed(top), top.duplicate()
    assert {one: value for one, value in stored(scene, 1).items() if one in wanted} == wanted
    again = scene.instantiate()
    for copy in (again, twin):
        assert {one: copy.get_node("Made").get(one) for one in wanted} == wanted
        copy.free()


@pytest.mark.parametrize("name", VARYING)
def test_what_was_set_is_stored_outside_the_tree_too(branch, name):
    """A scene is also packed by an export or a tool, which do not add it to the tree."""
    first = varying(name)[0]
    top = branch(name, {first.name: first.default})
    top.get_parent().remove_child(top)
    found = stored(packed(top), 1)
    assert [one.name for one in varying(name) if one.name in found] == [first.name]
    top.free()


def test_what_a_thread_copies_and_packs_is_the_same(branch, gdscript):
    default = exports_of(next(one for one in declared_classes if one.__name__ == "HabitMoveTo"))["turn_speed"].default
    top = branch("HabitMoveTo", {"turn_speed": default})
    top.get_parent().remove_child(top)
    copy, scene = gdscript("""
        extends RefCounted
        static func run(top: Node) -> Array:
            var thread := Thread.new()
            thread.start(func() -> Array:
                var scene := PackedScene.new()
                scene.pack(top)
                return [top.duplicate(), scene])
            return thread.wait_to_finish()
    """).run(top)
    for one in (copy, scene.instantiate()):
        assert one.get_node("Made").turn_speed == default
        one.free()
    assert "turn_speed" in stored(scene, 1)
    top.free()


@pytest.mark.parametrize("ending", ["2d", "3d"])
def test_a_guard_that_is_packed_and_made_again_is_the_same(node, ending):
    guard = singleton("ResourceLoader").load(f"res://addons/ai_core/examples/guard_{ending}.tscn").instantiate()
    parent = node(f"Node{ending.upper()}")
    parent.add_child(guard)
    scene = packed(guard)
    again = scene.instantiate()
    parent.add_child(again)
    for place in ("Senses", "Habits", "Habits/Chase", "Habits/Suspect", "Habits/Search", "Habits/Patrol"):
        one, other = guard.get_node(place), again.get_node(place)
        for name in exports_of(type(one)):
            assert repr(one.get(name)) == repr(other.get(name)), f"{place}:{name}"
    assert again.get_node("Habits/Patrol").turn_speed == pytest.approx(6.28319)
