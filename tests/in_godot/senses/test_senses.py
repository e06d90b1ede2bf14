"""SenseManager, Sensor3D and SenseSource3D: seen, heard, lost and forgotten in a real world."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import Vector3, construct

SIGNALS = ("sensed", "target_gained", "target_lost", "target_forgotten", "awareness_changed")


@pytest.fixture
def world(node, scheduler, signals):
    """A sensor at the origin looking along -z, a source 5 m ahead, and what the sensor says."""

    class World:
        manager = node("SenseManager", scheduler)
        eye = node("Sensor3D", name="Eye", lose_after=0.5, max_age=2.0)
        thing = node("SenseSource3D", position=Vector3(0, 0, -5))

    World.heard = {name: signals(World.eye, name) for name in SIGNALS}
    return World


def wall_between(node):
    body = node("StaticBody3D", position=Vector3(0, 0, -3))
    shape = construct("CollisionShape3D")
    box = construct("BoxShape3D")
    box.size = Vector3(6, 6, 0.5)
    shape.shape = box
    body.add_child(shape)
    return body


def test_a_target_in_front_is_seen_once_with_its_strength(world, physics_frames):
    physics_frames(3)
    assert world.heard["target_gained"] == [(world.thing, world.thing.get_parent())]
    assert world.heard["sensed"] == [(world.thing, "sight", 1.0, Vector3(0, 0, -5), world.thing.get_parent())]
    assert world.eye.can_sense(world.thing)


def test_what_is_behind_is_not_seen(world, physics_frames):
    world.thing.position = Vector3(0, 0, 5)
    physics_frames(3)
    assert world.heard["sensed"] == []


def test_nearness_is_noticed_all_round(world, physics_frames):
    world.thing.position = Vector3(0, 0, 1.5)
    physics_frames(3)
    assert world.heard["target_gained"] == [(world.thing, world.thing.get_parent())]


def test_turning_the_head_is_enough(world, physics_frames):
    world.thing.position = Vector3(0, 0, 5)
    physics_frames(2)
    world.eye.rotation = Vector3(0, math.pi, 0)
    physics_frames(2)
    assert world.heard["target_gained"] == [(world.thing, world.thing.get_parent())]


def test_a_hidden_target_is_lost_then_forgotten_once_each(world, node, physics_frames):
    physics_frames(3)
    wall = wall_between(node)
    physics_frames(20)
    assert world.heard["target_lost"] == []
    physics_frames(20)
    assert world.heard["target_lost"] == [(world.thing, Vector3(0, 0, -5), world.thing.get_parent())]
    why = world.eye.why(world.thing)["senses"]["sight"]
    assert (why["verdict"], why["hidden_by"]) == ("hidden", wall)
    assert world.heard["target_forgotten"] == []
    physics_frames(120)
    assert world.heard["target_forgotten"] == [(world.thing, world.thing.get_parent())]
    assert len(world.heard["target_lost"]) == 1
    assert world.eye.get_known_targets() == []


def test_a_sound_weakens_with_distance_and_takes_its_time(world, node, physics_frames):
    world.thing.position = Vector3(0, 0, 20)
    physics_frames(2)
    world.thing.emit("hearing", 10.0)
    physics_frames(3)
    assert world.heard["sensed"] == []
    physics_frames(2)
    [(source, modality, strength, *_)] = world.heard["sensed"]
    assert (source, modality) == (world.thing, "hearing")
    assert strength == pytest.approx(10 * 0.9**20, rel=1e-4)


def test_a_sound_below_the_threshold_is_not_heard(world, physics_frames):
    world.thing.position = Vector3(0, 0, 20)
    physics_frames(2)
    world.thing.emit("hearing", 8.0)
    physics_frames(10)
    assert world.heard["sensed"] == []


def test_awareness_rises_with_sight_through_its_levels(world, physics_frames):
    physics_frames(70)
    assert [(level, name) for _, level, name, _ in world.heard["awareness_changed"]] == [(1, "suspicious"),
        (2, "alert")]
    [known] = world.eye.get_known_targets()
    assert known["is_visible"]
    assert known["awareness"] == 1.0
    assert known["modality"] == "sight"


def test_known_targets_say_how_old_the_knowledge_is(world, node, physics_frames):
    physics_frames(3)
    world.thing.position = Vector3(0, 0, 5)
    physics_frames(30)
    [known] = world.eye.get_known_targets()
    assert known["target"] == world.thing
    assert known["last_known_position"] == Vector3(0, 0, -5)
    assert known["age_s"] == pytest.approx(0.5, abs=0.04)
    assert not known["is_visible"]


def test_a_source_that_is_freed_is_lost_and_forgotten_as_null(world, physics_frames):
    physics_frames(3)
    world.thing.free()
    physics_frames(150)
    assert [target for target, *_ in world.heard["target_lost"]] == [None]
    assert world.heard["target_forgotten"] == [(None, None)]


def test_affiliations_that_are_not_noticed_are_not_seen(world, physics_frames):
    world.eye.detection_mask = 2
    physics_frames(3)
    assert world.heard["sensed"] == []
    world.thing.affiliation = 2
    physics_frames(3)
    assert world.heard["target_gained"] == [(world.thing, world.thing.get_parent())]


def test_settings_change_while_the_game_runs(world, physics_frames):
    world.eye.sight_range = 3.0
    physics_frames(3)
    assert world.heard["sensed"] == []
    world.eye.sight_range = 10.0
    physics_frames(3)
    assert world.heard["target_gained"] == [(world.thing, world.thing.get_parent())]


def test_a_character_does_not_sense_itself(world, node, physics_frames):
    own = node("SenseSource3D", world.eye)
    world.eye.self_source = world.eye.get_path_to(own)
    physics_frames(3)
    assert world.heard["target_gained"] == [(world.thing, world.thing.get_parent())]


def test_a_gdscript_filter_and_typed_signals_work_together(world, gdscript, physics_frames):
    script = gdscript("""
        extends Node
        var seen := []
        func watch(eye: Sensor3D) -> void:
            eye.target_gained.connect(func(target: Node, _who: Node): seen.append(target))
    """).new()
    world.manager.add_child(script)
    script.call("watch", world.eye)
    physics_frames(3)
    assert script.get("seen") == [world.thing]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("hearing_threshold", -1.0, "hearing_threshold must be at least 0, got -1.0; it stays 1.0"),
     ("sight_range", float("nan"), "sight_range must be a finite number, got nan; it stays 20.0"),
     ("horizontal_angle", 0.0, "horizontal_angle must be between")],
)
def test_bad_settings_are_one_clear_error(world, gdscript, expect_errors, name, value, message):
    expect_errors(message, times=1)
    gdscript(f"extends RefCounted\nstatic func run(eye, value): eye.{name} = value").run(world.eye, value)


@pytest.mark.parametrize("strength", [float("nan"), float("inf")])
def test_a_sound_whose_strength_is_no_number_is_refused(world, expect_errors, strength):
    expect_errors("strength must be a finite number", times=1)
    world.thing.call("emit", "hearing", strength)


def test_an_unknown_modality_is_a_clear_error(world, expect_errors):
    expect_errors("unknown modality 'telepathy'; known: 'hearing', 'sight', 'smell', 'touch'", times=1)
    world.thing.call("emit", "telepathy", 1.0)


@pytest.mark.parametrize("class_name", ["Sensor3D", "SenseSource3D"])
def test_without_a_manager_the_error_says_what_to_do(node, frames, expect_errors, class_name):
    expect_errors("found no SenseManager", times=1)
    node(class_name)
    frames(2)


def test_rays_are_bounded_per_frame_and_nobody_starves(node, scheduler, physics_frames, signals):
    manager = node("SenseManager", scheduler, max_rays=2)
    eye = node("Sensor3D")
    gained = signals(eye, "target_gained")
    for number in range(6):
        node("SenseSource3D", position=Vector3(number - 3, 0, -8))
    for _ in range(3):
        physics_frames(1)
        assert manager.get_stats()["rays_asked"] == 2
    assert len(gained) == 6


def test_a_source_at_an_invalid_position_is_reported_once(
    world, node, physics_frames, expect_errors
):
    physics_frames(2)
    lost = node("SenseSource3D", name="Lost", position=Vector3(1, 0, -5))
    physics_frames(2)
    expect_errors("SenseSource3D '/root/Lost': its global transform holds a NaN", times=1)
    lost.position = Vector3(float("nan"), 0, 0)
    physics_frames(3)
    world.thing.position = Vector3(0, 0, 50)
    node("SenseSource3D", position=Vector3(0, 0, 90))        # who comes changes nothing for others
    physics_frames(3)
    assert not world.eye.can_sense(world.thing)
    assert world.eye.can_sense(lost)
    known = {one["target"]: one for one in world.eye.get_known_targets()}
    assert known[lost]["last_known_position"] == Vector3(1, 0, -5)


def test_an_own_source_is_found_when_it_comes_later(node, scheduler, physics_frames):
    node("SenseManager", scheduler)
    guard = construct("Node3D")
    eye, own = construct("Sensor3D"), construct("SenseSource3D")
    eye.self_source, own.name = "../Own", "Own"
    guard.add_child(eye)
    guard.add_child(own)
    scheduler.add_child(guard)
    physics_frames(3)
    assert eye.get_known_targets() == []


def test_an_own_source_that_is_none_says_what_to_choose(world, node, expect_errors, physics_frames):
    expect_errors("self_source '..' is not a SenseSource3D; choose the source of the same character", times=1)
    node("Sensor3D", self_source="..")
    physics_frames(2)


def test_a_sensor_added_before_its_manager_reports_nothing(node, scheduler, frames, physics_frames):
    eye, thing = node("Sensor3D"), node("SenseSource3D", position=Vector3(0, 0, -5))
    node("SenseManager", scheduler)
    frames(2)
    physics_frames(3)
    assert eye.can_sense(thing)


def test_a_manager_that_comes_later_takes_everybody_in(node, scheduler, frames, physics_frames, expect_errors):
    expect_errors("found no SenseManager", times=2)
    eye, thing = node("Sensor3D"), node("SenseSource3D", position=Vector3(0, 0, -5))
    frames(2)
    manager = node("SenseManager", scheduler)
    physics_frames(3)
    assert eye.can_sense(thing)
    manager.free()
    node("SenseManager", scheduler)
    physics_frames(3)
    assert eye.can_sense(thing)


def test_a_branch_taken_out_and_put_back_senses_again(scheduler, physics_frames):
    branch = construct("Node3D")
    eye, thing = construct("Sensor3D"), construct("SenseSource3D")
    thing.position = Vector3(0, 0, -5)
    for one in (eye, thing, construct("SenseManager")):
        branch.add_child(one)
    scheduler.add_child(branch)
    physics_frames(3)
    assert eye.can_sense(thing)
    scheduler.remove_child(branch)
    physics_frames(2)
    scheduler.add_child(branch)
    physics_frames(3)
    assert eye.can_sense(thing)


def test_managers_that_stand_before_the_scheduler_find_it(node, physics_frames):
    top = construct("Node3D")
    names = ("SenseManager", "AIEventManager", "Sensor3D", "SenseSource3D", "AIScheduler")
    for name in names:
        top.add_child(construct(name))
    top.get_child(3).position = Vector3(0, 0, -5)
    node("Node").add_child(top)
    physics_frames(3)
    assert top.get_child(2).can_sense(top.get_child(3))


def test_two_worlds_side_by_side_do_not_sense_each_other(node, physics_frames):
    eyes = []
    for _ in range(2):
        world = node("Node3D")
        node("SenseManager", node("AIScheduler", world, budget=0.0))
        eyes.append(node("Sensor3D", world))
        node("SenseSource3D", world, position=Vector3(0, 0, -5))
    physics_frames(3)
    assert [len(eye.get_known_targets()) for eye in eyes] == [1, 1]


def test_all_layers_as_the_inspector_writes_them_are_accepted(world):
    world.eye.detection_mask = -1
    assert world.eye.detection_mask == -1


def test_signals_give_the_character_of_a_source(node, scheduler, physics_frames, signals):
    node("SenseManager", scheduler)
    eye = node("Sensor3D", scheduler)
    thief = node("Node3D", scheduler, position=Vector3(0, 0, -5))
    hips = node("Node3D", thief)
    source = node("SenseSource3D", hips, character="../..")
    gained = signals(eye, "target_gained")
    physics_frames(3)
    assert gained == [(source, thief)]
    assert [one["character"] for one in eye.get_known_targets()] == [thief]
    assert eye.get_last_sensation()["character"] == thief


def test_a_character_that_is_not_there_is_warned_of(node, scheduler):
    node("SenseManager", scheduler)
    source = node("SenseSource3D", scheduler)
    source.character = "../Nobody"
    assert source._get_configuration_warnings() == [
        "character '../Nobody' is not a node; choose a node, or leave it empty for the parent"]
