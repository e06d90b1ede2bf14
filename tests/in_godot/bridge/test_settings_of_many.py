"""Settings that hold several things: a wrong one is told with its place, and what was set before stays."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import Vector3, construct
from tests.in_godot.squads.squad_world import character

MISTAKES = [
    ("Sensor3D", "sight_cones", [None, 5], "sight_cones[1] must be a SightCone, got 5; it stays []"),
    ("Sensor3D", "sight_cones", ["far"], "sight_cones[0] must be a SightCone, got 'far'; it stays []"),
    ("SenseManager", "modalities", ["fear"], "modalities[0] must be a SenseModality, got 'fear'; it stays []"),
    ("DecisionMap", "layers", [[]], "layers[0] must be a DecisionLayer, got []; it stays []"),
    ("SenseSource3D", "actions", {5: 1.0}, "actions: a key must be a String, got 5; it stays {}"),
    ("SenseSource3D", "actions", {"run": math.nan}, "actions['run'] must be a finite number, got nan; it stays {}"),
    ("SenseSource3D", "visible_parts", {"head": 1.7}, "visible_parts['head'] must be a Vector3, got 1.7; it stays {}"),
    ("Sensor3D", "other_thresholds", {"fear": None},
     "other_thresholds['fear'] must be a finite number, got null; it stays {}"),
]


@pytest.fixture
def scheduler(node):
    made = node("AIScheduler")
    node("SenseManager", made)
    return made


@pytest.fixture
def put(gdscript):
    return gdscript("""
        extends RefCounted
        static func put(node, name, value) -> void: node.set(name, value)
    """).put


@pytest.mark.parametrize(("kind", "name", "wrong", "told"), MISTAKES, ids=lambda one: str(one)[:30])
def test_what_is_wrong_is_told_with_its_place(node, scheduler, put, expect_errors, kind, name, wrong, told):
    made = node(kind, scheduler)
    before = getattr(made, name)
    expect_errors(told, times=1)
    put(made, name, wrong)
    assert getattr(made, name) == before


def test_a_resource_of_another_class_is_none(node, scheduler, put, expect_errors):
    sensor = node("Sensor3D", scheduler)
    expect_errors("sight_cones[0] must be a SightCone, got <Formation#", times=1)
    put(sensor, "sight_cones", [construct("Formation")])


def test_valid_arguments_pass_and_empty_places_are_warnings(node, scheduler, put):
    sensor, source = node("Sensor3D", scheduler), node("SenseSource3D", scheduler)
    cone = construct("SightCone")
    put(sensor, "sight_cones", [cone, None])
    put(source, "visible_parts", {"head": Vector3(0, 1.7, 0)})
    put(source, "actions", {"run": 2})
    assert list(sensor.sight_cones) == [cone, None]
    assert source.visible_parts == {"head": Vector3(0, 1.7, 0)}
    assert any("sight_cones[1] is empty" in one for one in sensor._get_configuration_warnings())


def test_a_setting_that_cannot_change_now_is_named(node, scheduler, put, expect_errors, physics_frames):
    squad = node("Squad", scheduler)
    character(node, scheduler, Vector3(), squad_path=squad.get_path())
    physics_frames(2)
    expect_errors("pace: cannot change while the squad is in use; set it before the scene runs", times=1)
    put(squad, "pace", 0.5)
