"""What else designers set on sensors and sources: memory that fades, reasons, radio, deafness, noise, clues."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct


@pytest.fixture
def manager(node, scheduler):
    return node("SenseManager", scheduler)


@pytest.fixture
def eye(manager, node, scheduler):
    return node("Sensor3D", scheduler, hearing_threshold=0.1, lose_after=0.1, max_age=0.3)


@pytest.fixture
def thing(manager, node, scheduler):
    return node("SenseSource3D", scheduler, position=Vector3(0, 0, -5))


BEHIND = Vector3(0, 0, 8)


def strengths(heard, modality="hearing"):
    return [strength for _, name, strength, *_ in heard if name == modality]


def test_what_expired_is_kept_a_while_before_it_is_forgotten(manager, node, scheduler, thing, physics_frames, signals):
    eye = node("Sensor3D", scheduler, lose_after=0.1, max_age=0.3, keep_expired=0.5)
    forgotten, expired = signals(eye, "target_forgotten"), signals(eye, "target_expired")
    physics_frames(3)
    thing.position = BEHIND
    physics_frames(30)
    assert (expired, forgotten) == ([(thing, thing.get_parent())], [])
    physics_frames(25)
    assert forgotten == [(thing, thing.get_parent())]


def test_free_knowledge_follows_a_target_that_has_just_gone(manager, node, scheduler, thing, physics_frames):
    eye = node("Sensor3D", scheduler, free_knowledge=0.5, max_age=5.0)
    physics_frames(3)
    thing.position = BEHIND
    physics_frames(10)
    assert eye.get_known_targets()[0]["last_known_position"] == BEHIND
    physics_frames(40)
    thing.position = Vector3(3, 0, 9)
    physics_frames(5)
    assert eye.get_known_targets()[0]["last_known_position"] == BEHIND


def test_a_visible_target_precedes_a_louder_old_noise(manager, node, scheduler, thing, physics_frames):
    eye = node("Sensor3D", scheduler, hearing_threshold=0.1)
    noise = node("SenseSource3D", scheduler, position=BEHIND)
    noise.emit("hearing", 9.0)
    physics_frames(120)
    known = eye.get_known_targets()
    assert [one["target"] for one in known] == [thing, noise]
    assert known[0]["strength"] < known[1]["strength"]
    thing.position = Vector3(50, 0, 50)
    physics_frames(5)
    assert [one["target"] for one in eye.get_known_targets()] == [thing, noise]     # it is aware of that much more


def test_why_says_what_makes_it_aware(eye, thing, node, scheduler, physics_frames):
    physics_frames(10)
    thing.emit("hearing", 5.0)
    physics_frames(5)
    why = eye.why(thing)
    assert why["visibility"] == {"sight": 1.0}
    assert why["stimulus_gain"].keys() == {"hearing"}
    assert 0 < why["awareness"] <= 1
    unseen = eye.why(node("SenseSource3D", scheduler, position=BEHIND))
    assert unseen["awareness"] == 0
    assert unseen["senses"]["sight"]["verdict"] == "outside every cone"
    assert why["senses"]["sight"]["verdict"] == "sensed"


def test_a_report_by_radio_tells_another_without_being_noticed(eye, thing, node, scheduler, physics_frames, signals):
    other = node("Sensor3D", scheduler, position=Vector3(0, 0, 100))
    gained, told = signals(other, "target_gained"), signals(other, "target_reported")
    physics_frames(3)
    eye.report_to(other)
    eye.report_to(other)
    assert told == [(thing, thing.get_parent())]
    [known] = other.get_known_targets()
    assert known["target"] == thing
    assert known["last_known_position"] == Vector3(0, 0, -5)
    physics_frames(3)
    assert gained == []


@pytest.mark.parametrize("age_s", [0.0, 2.0, 40.0])
def test_a_report_under_way_is_older_and_changes_nothing_else(
        eye, thing, node, scheduler, physics_frames, signals, age_s):
    other, near = node("Sensor3D", scheduler, position=Vector3(0, 0, 100)), node("Node3D", scheduler)
    node("SenseSource3D", near, position=Vector3(0, 0, 95))
    told = [signals(other, name) for name in ("target_lost", "target_expired", "target_forgotten")]
    scheduler.clock.advance(seconds=100.0)
    physics_frames(3)
    eye.report_to(other, age_s)
    physics_frames(3)
    ages = {one["character"]: one["age_s"] for one in other.get_known_targets()}
    assert ages.pop(near) == 0.0
    assert not ages if age_s > 20.0 else [*ages.values()] == pytest.approx([age_s], abs=0.1)
    assert told == [[], [], []]


def test_a_report_to_nobody_is_a_clear_error(eye, thing, expect_errors):
    expect_errors("both nodes must be a Sensor3D in a scene with a SenseManager", times=2)
    eye.call("report_to", thing)
    eye.call("report_to", None)


def test_who_is_deafened_hears_again_later(eye, thing, physics_frames, signals):
    heard = signals(eye, "sensed")
    eye.set_sensitivity("hearing", 0.0, 0.3)
    physics_frames(2)
    thing.emit("hearing", 5.0)
    physics_frames(4)
    assert strengths(heard) == []
    physics_frames(20)
    thing.emit("hearing", 5.0)
    physics_frames(4)
    assert len(strengths(heard)) == 1


@pytest.mark.parametrize("sensitivity", [-1.0, float("nan")])
def test_a_keenness_that_is_none_is_refused(eye, expect_errors, sensitivity):
    expect_errors("sensitivity", times=1)
    eye.call("set_sensitivity", "hearing", sensitivity)


def test_a_background_noise_hides_faint_sounds_until_it_ends(eye, thing, manager, physics_frames, signals):
    heard = signals(eye, "sensed")
    noise = manager.add_noise("hearing", 4.0)
    assert noise, "0 is what a refused call returns"
    physics_frames(2)
    thing.emit("hearing", 5.0)
    physics_frames(4)
    assert strengths(heard) == []
    manager.remove_noise(noise)
    manager.add_noise("hearing", 100.0, Vector3(50, 0, 0))
    thing.emit("hearing", 5.0)
    physics_frames(4)
    assert len(strengths(heard)) == 1


def test_of_sounds_on_one_channel_the_last_is_heard(eye, thing, physics_frames, signals):
    heard = signals(eye, "sensed")
    physics_frames(2)
    for strength in (3.0, 5.0):
        thing.emit("hearing", strength, "steps")
    physics_frames(4)
    assert strengths(heard) == [pytest.approx(5 * 0.9**5, rel=1e-4)]


def test_what_is_in_the_dark_is_seen_when_it_is_lit(eye, thing, physics_frames, signals):
    thing.light = 0.05
    gained = signals(eye, "target_gained")
    physics_frames(3)
    assert gained == []
    thing.light = 1.0
    physics_frames(3)
    assert gained == [(thing, thing.get_parent())]


def test_a_smell_drifts_with_the_wind(eye, thing, manager, physics_frames, signals):
    thing.position = Vector3(0, 0, 8)
    smelled = signals(eye, "sensed")
    manager.set_wind(Vector3(0, 0, -3))
    physics_frames(2)
    thing.emit("smell", 5.0)
    physics_frames(180)
    assert len(strengths(smelled, "smell")) == 1


def test_a_clue_is_sensed_until_it_fades(eye, manager, node, scheduler, physics_frames, signals):
    blood = node("SenseSource3D", scheduler, position=Vector3(0, 0, -3), tag="blood", lifetime=0.5)
    faded = signals(blood, "faded")
    physics_frames(5)
    assert eye.can_sense(blood)
    physics_frames(30)
    assert faded == [()]
    assert not eye.can_sense(blood)
    blood.lifetime = 1.0
    physics_frames(5)
    assert eye.can_sense(blood)
    blood.lifetime = 0.0
    physics_frames(90)
    assert len(faded) == 1
    for number in range(200):
        blood.lifetime = 0.1 + 0.001 * (number % 2)
    assert len(manager._fading) < 80
    physics_frames(30)
    assert len(faded) == 2


def test_a_clue_that_faded_has_not_in_a_game_saved_before(eye, manager, node, scheduler, physics_frames, signals):
    blood = node("SenseSource3D", scheduler, position=Vector3(0, 0, -3), lifetime=0.5)
    physics_frames(15)
    state = scheduler.save_state()
    physics_frames(30)
    assert not eye.can_sense(blood)
    gone = scheduler.save_state()
    faded = signals(blood, "faded")
    assert scheduler.load_state(state)
    physics_frames(5)
    assert eye.can_sense(blood)
    physics_frames(20)
    assert faded == [()]
    assert scheduler.load_state(gone)
    physics_frames(10)
    assert not eye.can_sense(blood)
    assert len(faded) == 1


def test_a_clue_that_is_freed_does_not_fade(eye, manager, node, scheduler, physics_frames):
    blood = node("SenseSource3D", scheduler, position=Vector3(0, 0, -3), lifetime=0.2)
    physics_frames(3)
    blood.free()
    physics_frames(20)
    assert eye.get_known_targets() == []


@pytest.fixture
def flat(node, scheduler, signals):
    """A sensor at the origin looking along x in a scene of Node2D, 10 px to a metre, and a source 5 m ahead."""

    class Flat:
        manager = node("SenseManager", scheduler, dimensions=1, pixels_per_meter=10.0)
        eye = node(
            "Sensor2D", scheduler, lose_after=0.1, max_age=1.0, hearing_threshold=0.1, sight_range=200.0,
            near_range=20.0)
        thing = node("SenseSource2D", scheduler, position=Vector2(50, 0))

    Flat.sensed, Flat.lost = signals(Flat.eye, "sensed"), signals(Flat.eye, "target_lost")
    return Flat


def test_in_2d_what_is_in_front_is_seen_where_it_is_in_pixels(flat, physics_frames):
    physics_frames(3)
    assert flat.sensed == [(flat.thing, "sight", 1.0, Vector2(50, 0), flat.thing.get_parent())]
    flat.thing.position = Vector2(-50, 0)
    physics_frames(20)
    assert flat.lost == [(flat.thing, Vector2(50, 0), flat.thing.get_parent())]
    flat.eye.rotation = math.pi
    physics_frames(3)
    assert flat.eye.can_sense(flat.thing)
    [known] = flat.eye.get_known_targets()
    assert known["last_known_position"] == Vector2(-50, 0)


def test_in_2d_ranges_are_in_pixels_and_a_plane_has_no_height(flat, physics_frames):
    flat.eye.sight_range = 51.0
    physics_frames(3)
    assert flat.eye.can_sense(flat.thing)
    flat.thing.position = Vector2(52, 0)
    physics_frames(3)
    assert not flat.eye.can_sense(flat.thing)
    flat.eye.horizontal_angle = math.radians(90)
    for way, is_seen in ((44, True), (46, False), (-44, True), (-46, False)):
        flat.thing.position = Vector2(40 * math.cos(math.radians(way)), 40 * math.sin(math.radians(way)))
        physics_frames(3)
        assert flat.eye.can_sense(flat.thing) is is_seen


def test_in_2d_a_wall_hides_and_its_own_body_does_not(flat, node, scheduler, physics_frames):
    body = node("StaticBody2D", scheduler, position=Vector2(50, 0))
    shape, box = construct("CollisionShape2D"), construct("RectangleShape2D")
    box.size = Vector2(10, 100)
    shape.shape = box
    body.add_child(shape)
    own = node("SenseSource2D", body)
    flat.thing.position = Vector2(80, 0)
    physics_frames(3)
    assert flat.eye.can_sense(own)
    assert not flat.eye.can_sense(flat.thing)
    body.position = Vector2(0, 500)
    physics_frames(3)
    assert flat.eye.can_sense(flat.thing)


def test_in_2d_a_sound_weakens_with_metres(flat, physics_frames):
    flat.thing.position = Vector2(-50, 0)
    physics_frames(3)
    flat.thing.emit("hearing", 2.0)
    physics_frames(4)
    assert strengths(flat.sensed) == [pytest.approx(2 * 0.9**5, rel=1e-4)]
    assert flat.eye.why(flat.thing)["senses"]["hearing"]["distance"] == pytest.approx(50.0)


def test_in_2d_sensing_is_saved(flat, scheduler, physics_frames):
    physics_frames(3)
    state = scheduler.save_state()
    flat.thing.position = Vector2(-50, 0)
    physics_frames(90)
    assert flat.eye.get_known_targets() == []
    assert scheduler.load_state(state)
    assert [known["target"] for known in flat.eye.get_known_targets()] == [flat.thing]


@pytest.mark.parametrize(("class_name", "dimensions"), [("Sensor2D", 0), ("SenseSource2D", 0), ("Sensor3D", 1)])
def test_who_is_in_another_space_than_its_manager_says_so(
    node, scheduler, frames, expect_errors, class_name, dimensions,
):
    expect_errors("change dimensions of the SenseManager, or add a SenseManager for", times=1)
    node("SenseManager", scheduler, dimensions=dimensions)
    node(class_name, scheduler)
    frames(2)


def test_the_space_of_a_manager_in_the_tree_cannot_change(manager, gdscript, expect_errors):
    expect_errors("dimensions and pixels_per_meter cannot change after the node entered the tree", times=1)
    gdscript("extends RefCounted\nstatic func run(senses): senses.dimensions = 1").run(manager)


def test_a_place_in_the_wrong_space_is_refused(flat, expect_errors):
    expect_errors("needs a Vector2, got Vector3", times=2)
    flat.manager.call("add_noise", "hearing", 1.0, Vector3(0, 0, 0))
    flat.manager.call("set_wind", Vector3(0, 0, 0))


def test_custom_awareness_levels_wait_for_the_reaction_time(
    manager, node, scheduler, thing, physics_frames, signals,
):
    eye = node(
        "Sensor3D", scheduler, awareness_gain=1.0, reaction_time=0.25,
        awareness_levels={"sure": Vector2(0.9, 0.6), "curious": Vector2(0.25, 0.125), "searching": Vector2(0.5, 0.25)})
    told = signals(eye, "awareness_changed")
    physics_frames(28)
    assert told == []
    physics_frames(4)
    assert told == [(thing, 1, "curious", thing.get_parent())]
    physics_frames(60)
    assert told[1:] == [
        (thing, 2, "searching", thing.get_parent()), (thing, 3, "sure", thing.get_parent())]
    assert eye.why(thing)["level_name"] == "sure"


def test_how_much_a_sound_raises_awareness_may_be_set(manager, node, scheduler, thing, physics_frames, signals):
    thing.position = BEHIND
    for gain, level in ((0.0, "unaware"), (5.0, "alert")):
        eye = node("Sensor3D", scheduler, hearing_threshold=0.1, awareness_gain_per_stimulus=gain)
        physics_frames(2)
        thing.emit("hearing", 1.0)
        physics_frames(4)
        assert eye.why(thing)["level_name"] == level


@pytest.mark.parametrize(("levels", "message"), [
    ({"alert": Vector2(0.5, 0.5)}, "rises_at must be above 0.5, got 0.5"),
    ({"alert": Vector2(2.0, 0.5)}, "rises_at must be at most 1, got 2"),
    ({"alert": 0.5}, "awareness_levels['alert'] must be a Vector2"),
    ({"low": Vector2(0.5, 0.4), "high": Vector2(0.7, 0.2)}, "levels must be in rising order"),
])
def test_levels_of_awareness_that_make_no_sense_are_refused(eye, gdscript, node, expect_errors, levels, message):
    expect_errors(message, times=1)
    setter = node("Node")
    setter.set_script(gdscript("""
        extends Node
        func put(sensor, levels):
            sensor.awareness_levels = levels
    """))
    setter.call("put", eye, levels)
    assert eye.awareness_levels == {}


def test_all_that_is_remembered_of_a_target_can_be_recalled(eye, thing, manager, node, scheduler, physics_frames):
    eye.max_age = 20.0
    physics_frames(10)
    for step in range(10):
        thing.position = Vector3(step * 0.1, 0, -5)
        physics_frames(1)
    seen_at_s = manager.now_s
    thing.position = Vector3(0, 0, 17)
    thing.emit("hearing", 2.0)
    physics_frames(15)
    assert eye.recall(node("SenseSource3D", scheduler, position=Vector3(0, 0, 40))) == {}
    found = eye.recall(thing)
    assert found["last_seen_position"] == Vector3(0.9, 0, -5)
    assert found["last_seen_age_s"] == pytest.approx(manager.now_s - seen_at_s)
    assert found["first_seen_age_s"] == found["first_sensed_age_s"] == pytest.approx(34 / 60, abs=1.1 / 60)
    assert found["last_known_position"] == Vector3(0, 0, 17)
    assert found["modality"] == "hearing"
    assert found["strengths"] == {"sight": 1.0, "hearing": pytest.approx(2 * 0.9 ** 17)}
    assert 0 < found["ages_s"]["hearing"] == found["last_sensed_age_s"] < found["ages_s"]["sight"]
    assert found["velocity"].x == pytest.approx(6.0, rel=1e-3)
    assert found["expected_position"].x == pytest.approx(6.0 * found["known_age_s"], rel=1e-3)
    assert (found["is_lost"], found["is_expired"]) == (True, False)


def test_a_character_stands_for_its_source(node, scheduler, physics_frames):
    node("SenseManager", scheduler)
    eye, thief = node("Sensor3D", scheduler), node("Node3D", scheduler, position=Vector3(0, 0, -5))
    source = node("SenseSource3D", thief)
    physics_frames(5)
    assert eye.can_sense(thief)
    assert eye.why(thief)["senses"]["sight"]["verdict"] == "sensed"
    assert eye.recall(thief) == eye.recall(source) != {}
    eye.forget(thief)
    assert eye.get_known_targets() == []
