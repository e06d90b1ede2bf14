"""Sources of a sensor's own character, which it does not sense."""
from __future__ import annotations

import gc
import weakref

import pytest

from addons.ai_core.bridge.gd import NodePath, Vector3, construct


@pytest.fixture
def level(node, scheduler):
    """A level with a SenseManager below it."""
    made = node("Node3D", scheduler, name="Level")
    node("SenseManager", made, name="Senses")
    return made


def targets_of(sensor):
    return sorted(str(one["target"].get_name()) for one in sensor.get_known_targets())


@pytest.mark.parametrize("kind", ["Node3D", "CharacterBody3D", "Area3D"])
@pytest.mark.parametrize("names", [("Eyes", "Own"), ("Own", "Eyes")])
def test_a_sensor_does_not_sense_its_own_character(level, node, physics_frames, kind, names):
    guard = node(kind, level, name="Guard")
    made = {name: node("Sensor3D" if name == "Eyes" else "SenseSource3D", guard, name=name) for name in names}
    node("SenseSource3D", node(kind, level, name="Thief", position=Vector3(0, 0, -4)), name="Other")
    physics_frames(3)
    assert targets_of(made["Eyes"]) == ["Other"]
    made["Own"].emit("hearing", 50.0)
    physics_frames(3)
    assert made["Eyes"].get_last_sensation()["modality"] == "sight"


def test_a_body_and_all_below_it_are_one_character(level, node, physics_frames):
    guard = node("CharacterBody3D", level, name="Guard")
    eyes = node("Sensor3D", node("Node3D", guard, name="Head"), name="Eyes")
    node("SenseSource3D", node("Node3D", guard, name="Chest"), name="Own")
    physics_frames(3)
    assert targets_of(eyes) == []


def test_nodes_of_a_level_or_region_are_no_character(level, node, physics_frames, expect_errors):
    expect_errors("is not used: its SenseManager 'Senses' has mode Regional", times=1)
    region = node("SenseRegion3D", level, name="Hall")
    cameras = [node("Sensor3D", parent, name="Camera") for parent in (level, region)]
    for parent in (level, region):
        node("SenseSource3D", parent, name="Fire", position=Vector3(0, 0, -2))
    physics_frames(3)
    assert [targets_of(one) for one in cameras] == [["Fire", "Fire"]] * 2


def test_a_source_that_is_its_own_character_is_sensed(level, node, physics_frames):
    guard = node("CharacterBody3D", level, name="Guard")
    eyes = node("Sensor3D", guard, name="Eyes")
    node("SenseSource3D", guard, name="Torch", character=NodePath("."))
    physics_frames(3)
    assert targets_of(eyes) == ["Torch"]


def test_a_character_whose_source_leaves_and_comes_back(level, node, physics_frames):
    guard = node("CharacterBody3D", level, name="Guard")
    eyes, own = node("Sensor3D", guard, name="Eyes"), node("SenseSource3D", guard, name="Own")
    physics_frames(2)
    own.free()
    new = construct("SenseSource3D")
    new.set("name", "New")
    guard.add_child(new)
    physics_frames(3)
    assert targets_of(eyes) == []


def test_a_loaded_sensor_does_not_sense_its_own_character(level, node, scheduler, physics_frames):
    guard = node("CharacterBody3D", level, name="Guard")
    eyes, _ = node("Sensor3D", guard, name="Eyes"), node("SenseSource3D", guard, name="Own")
    physics_frames(3)
    assert scheduler.load_state(scheduler.save_state())
    physics_frames(3)
    assert targets_of(eyes) == []


def test_a_character_with_a_source_since_the_save(level, node, scheduler, physics_frames):
    guard = node("CharacterBody3D", level, name="Guard")
    eyes = node("Sensor3D", guard, name="Eyes")
    physics_frames(3)
    state = scheduler.save_state()
    node("SenseSource3D", guard, name="Own")
    physics_frames(3)
    assert scheduler.load_state(state)
    physics_frames(3)
    assert targets_of(eyes) == []


def test_what_is_in_a_house_is_no_character(level, node, physics_frames):
    house = node("StaticBody3D", level, name="House")
    camera = node("Sensor3D", node("Node3D", house, name="Rig"), name="Camera")
    node("SenseSource3D", node("Node3D", house, name="Hearth"), name="Fire", position=Vector3(0, 0, -2))
    physics_frames(3)
    assert targets_of(camera) == ["Fire"]


def test_when_its_first_source_leaves_the_next_is_its_own(level, node, physics_frames):
    guard = node("CharacterBody3D", level, name="Guard")
    eyes = node("Sensor3D", guard, name="Eyes")
    first, second = (node("SenseSource3D", guard, name=name) for name in ("First", "Second"))
    physics_frames(2)
    assert targets_of(eyes) == ["Second"]
    first.free()
    physics_frames(1)
    eyes.forget(second)
    physics_frames(3)
    assert targets_of(eyes) == []


def test_a_source_may_become_its_own_character_in_the_game(level, node, physics_frames):
    guard = node("CharacterBody3D", level, name="Guard")
    eyes, torch = node("Sensor3D", guard, name="Eyes"), node("SenseSource3D", guard, name="Torch")
    physics_frames(2)
    torch.character = NodePath(".")
    physics_frames(3)
    assert targets_of(eyes) == ["Torch"]


def test_a_freed_sensor_is_not_kept_for_its_own_source(level, node, physics_frames):
    guard = node("CharacterBody3D", level, name="Guard")
    node("SenseSource3D", guard, name="Own")
    physics_frames(2)
    eyes = construct("Sensor3D")
    eyes.self_source = "../Own"
    guard.add_child(eyes)
    known = weakref.ref(eyes)
    physics_frames(2)
    eyes.free()
    del eyes
    physics_frames(2)
    gc.collect()
    assert known() is None


def test_a_sensor_may_choose_another_source_in_the_game(level, node, physics_frames):
    guard = node("CharacterBody3D", level, name="Guard")
    eyes, own = node("Sensor3D", guard, name="Eyes"), node("SenseSource3D", guard, name="Own")
    node("SenseSource3D", level, name="Other", position=Vector3(0, 0, -4))
    physics_frames(3)
    assert targets_of(eyes) == ["Other"]
    eyes.self_source = NodePath("../../Other")
    physics_frames(3)
    assert eyes.can_sense(own)
    assert not eyes.can_sense(level.get_node("Other"))
    eyes.self_source = NodePath("")
    physics_frames(3)
    assert not eyes.can_sense(own)
