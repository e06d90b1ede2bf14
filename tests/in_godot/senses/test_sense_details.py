"""Patterns, visible parts, touch, trails, actions, searching eyes, importance, reasons: in a real world."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct


@pytest.fixture
def wall(node, scheduler):
    """``wall(z, height, **metadata)``: a wall across the view, its foot 5 m below the eyes."""

    def made(z, height=10.0, y=-5.0, **metadata):
        body = node("StaticBody3D", scheduler, position=Vector3(0, y + height / 2, z))
        shape, box = construct("CollisionShape3D"), construct("BoxShape3D")
        box.size = Vector3(30, height, 0.5)
        shape.shape = box
        body.add_child(shape)
        for name, value in metadata.items():
            body.set_meta(name, value)
        return body

    return made


@pytest.fixture
def forest(node, scheduler):
    """Somebody in green, 5 m ahead of an eye that needs a strength of 0.5."""

    class Forest:
        manager = node(
            "SenseManager", scheduler, sees_backgrounds=True, sky_pattern="sky",
            camouflage={"green/leaves": 0.1, "green/sky": 1.5})
        eye = node("Sensor3D", scheduler, sight_threshold=0.5)
        thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, -5), pattern="green")

    return Forest


def test_green_is_hidden_before_leaves_and_visible_before_sky(forest, wall, physics_frames):
    hedge = wall(-9, sense_pattern="leaves")
    physics_frames(3)
    assert not forest.eye.can_sense(forest.thing)
    assert forest.eye.why(forest.thing)["senses"]["sight"]["verdict"] == "too weak"
    hedge.position = Vector3(0, 0, 50)
    physics_frames(3)
    assert forest.eye.can_sense(forest.thing)
    assert forest.eye.get_known_targets()[0]["strength"] == pytest.approx(1.5)


@pytest.mark.parametrize("place", ["3D", "2D"])
def test_who_freezes_is_overlooked(node, scheduler, physics_frames, place):
    is_flat = place == "2D"
    speed, far = (100.0, Vector2(300, 0)) if is_flat else (2.0, Vector3(0, 0, -5))
    dimensions = {"dimensions": 1} if is_flat else {}
    node("SenseManager", scheduler, sight_still_visibility=0.2, sight_full_motion_speed=speed, **dimensions)
    eye = node(f"Sensor{place}", scheduler, sight_threshold=0.5)
    thing = node(f"SenseSource{place}", scheduler, position=far)
    physics_frames(5)
    assert eye.why(thing)["senses"]["sight"]["motion"] == pytest.approx(0.2)
    assert not eye.can_sense(thing)
    for frame in range(60):
        moved = speed / 60 * frame
        thing.position = far + (Vector2(0, moved) if is_flat else Vector3(moved, 0, 0))
        physics_frames(1)
    assert eye.can_sense(thing)
    assert eye.why(thing)["senses"]["sight"]["motion"] == pytest.approx(1.0, abs=0.05)


def test_its_own_body_is_not_what_is_behind_it(forest, node, wall, physics_frames):
    wall(-9, sense_pattern="leaves")
    body = wall(-7)
    own = node("SenseSource3D", body, position=Vector3(0, 0, 1), pattern="green")
    physics_frames(3)
    assert not forest.eye.can_sense(own)


def test_a_dark_figure_shows_before_a_bright_wall_only(forest, wall, physics_frames):
    forest.thing.light = 0.1
    backdrop = wall(-9, sense_light=0.1)
    physics_frames(3)
    assert not forest.eye.can_sense(forest.thing)
    backdrop.set_meta("sense_light", 1.0)
    physics_frames(3)
    assert forest.eye.can_sense(forest.thing)


def test_metadata_of_a_wall_that_is_wrong_is_named_once(forest, wall, physics_frames, expect_errors):
    expect_errors("unknown pattern 'leafs'; did you mean 'leaves'?", times=1)
    expect_errors("metadata sense_light must be a number, 0 or more, got 'bright'", times=1)
    wall(-9, sense_pattern="leafs", sense_light="bright")
    physics_frames(30)
    assert forest.eye.can_sense(forest.thing)


def test_pairs_of_patterns_that_are_wrong_are_named_and_left_out(node, scheduler, physics_frames, expect_errors):
    expect_errors("camouflage['green'] is ignored: the key must be \"pattern of the source/", times=1)
    expect_errors("camouflage['green/sky'] is ignored: factors['green', 'sky'] must be at least 0", times=1)
    node("SenseManager", scheduler, sees_backgrounds=True, camouflage={"green": 1.0, "green/sky": -1.0})
    node("Sensor3D", scheduler)


PARTS = {"head": Vector3(0, 1.7, 0), "feet": Vector3(0, 0.1, 0)}


def test_a_low_wall_hides_the_feet_and_the_head_is_reported(node, scheduler, wall, physics_frames, signals):
    node("SenseManager", scheduler)
    eye = node("Sensor3D", scheduler, position=Vector3(0, 1.7, 0))
    shares = {"head": 0.2, "feet": 0.6}
    thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, -5), visible_parts=PARTS, part_shares=shares)
    sensed = signals(eye, "sensed")
    physics_frames(3)
    assert list(eye.get_seen_parts(thing)) == ["head", "feet"]
    assert sensed[-1][2] == 1.0
    wall(-4, height=1.0, y=0.0)
    physics_frames(30)
    assert list(eye.get_seen_parts(thing)) == ["head"]
    assert sensed[-1][2] == pytest.approx(0.25)
    wall(-3, height=10.0)
    physics_frames(3)
    assert list(eye.get_seen_parts(thing)) == []


def test_in_2d_parts_are_in_pixels(node, scheduler, physics_frames):
    node("SenseManager", scheduler, dimensions=1, pixels_per_meter=10.0)
    eye = node("Sensor2D", scheduler)
    parts = {"left": Vector2(0, -8), "right": Vector2(0, 8)}
    thing = node("SenseSource2D", scheduler, position=Vector2(50, 0), visible_parts=parts)
    body = node("StaticBody2D", scheduler, position=Vector2(30, 20))
    shape, box = construct("CollisionShape2D"), construct("RectangleShape2D")
    box.size = Vector2(5, 35)
    shape.shape = box
    body.add_child(shape)
    physics_frames(3)
    assert list(eye.get_seen_parts(thing)) == ["left"]


def test_a_share_of_a_part_that_is_none_says_which_there_are(node, scheduler, expect_errors):
    expect_errors("unknown part in part_shares 'haed'; did you mean 'head'?", times=1)
    node("SenseManager", scheduler)
    thing = node("SenseSource3D", scheduler, visible_parts=PARTS)
    thing.call("set_part_shares", {"haed": 1.0})
    assert thing.part_shares == {}


@pytest.fixture
def pair(node, scheduler, signals):
    """``pair(**manager)``: a sensor at the origin, a source 8 m behind it."""

    def made(**settings):
        class Pair:
            manager = node("SenseManager", scheduler, **settings)
            eye = node("Sensor3D", scheduler, hearing_threshold=0.1)
            thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, 8))

        Pair.sensed = signals(Pair.eye, "sensed")
        Pair.gained = signals(Pair.eye, "target_gained")
        return Pair

    return made


def test_damage_is_felt_and_remembered(pair, physics_frames):
    two = pair()
    physics_frames(2)
    two.eye.touch(two.thing, 3.0, "damage")
    physics_frames(2)
    assert two.sensed == [(two.thing, "touch", 3.0, Vector3(0, 0, 8), two.thing.get_parent())]
    assert two.gained == [(two.thing, two.thing.get_parent())]
    assert two.eye.get_last_sensation()["tag"] == "damage"
    two.eye.touch(two.thing, 0.05)
    two.eye.touch(two.thing, 1.0, "collision", Vector3(0, 0, 1))
    physics_frames(2)
    assert [position for *_, position, _ in two.sensed[1:]] == [Vector3(0, 0, 1)]


def test_nearness_is_felt_where_touch_has_a_range(pair, physics_frames):
    two = pair(touch_range=0.5)
    two.eye.near_range = 0.0
    physics_frames(3)
    assert two.sensed == []
    two.thing.position = Vector3(0, 0, 0.4)
    physics_frames(3)
    assert [modality for _, modality, *_ in two.sensed] == ["touch"]


def test_a_touch_by_nobody_is_refused(pair, expect_errors):
    expect_errors("touch() needs a SenseSource3D of the same SenseManager", times=2)
    two = pair()
    two.eye.call("touch", None)
    two.eye.call("touch", two.eye)


def test_an_action_is_as_loud_as_it_is_and_is_its_tag(pair, physics_frames, expect_errors):
    expect_errors("unknown action 'fly'; known: 'run', 'sneak'", times=1)
    two = pair()
    two.thing.actions = {"run": 5.0, "sneak": 0.2}
    physics_frames(2)
    for action in ("sneak", "run"):
        two.thing.act(action)
        physics_frames(4)
    assert [strength for _, _, strength, *_ in two.sensed] == [pytest.approx(5 * 0.9**8)]
    assert two.eye.get_last_sensation()["tag"] == "run"
    two.thing.call("act", "fly")


def test_a_dog_follows_the_trail_to_who_left_it(pair, physics_frames):
    two = pair(keeps_trails=True)
    two.eye.smells_trails, two.thing.trail_strength, two.thing.sight_strength = True, 2.0, 0.0
    for step in range(12):
        two.thing.position = Vector3(step, 0, 1)
        physics_frames(10)
    assert two.eye.track()["source"] == two.thing
    for _ in range(6):
        two.eye.position = two.eye.track(two.thing)["position"]
        physics_frames(1)
    assert two.eye.position.x == pytest.approx(11, abs=1.0)
    assert {modality for _, modality, *_ in two.sensed} == {"trail"}
    assert two.eye.track(two.thing)["age_s"] < 0.3


def test_trails_that_nobody_keeps_are_named(node, scheduler, expect_errors, physics_frames):
    expect_errors("leaves no trail: keeps_trails of its SenseManager", times=1)
    expect_errors("smells no trails: keeps_trails of its SenseManager", times=1)
    node("SenseManager", scheduler)
    node("SenseSource3D", scheduler, trail_strength=1.0)
    eye = node("Sensor3D", scheduler, smells_trails=True)
    assert eye.track() == {}
    physics_frames(2)


def test_who_searches_looks_wider(pair, physics_frames):
    two = pair()
    two.thing.position = Vector3(5, 0, -3)      # 59 degrees aside; the cone has 55
    physics_frames(3)
    assert not two.eye.can_sense(two.thing)
    two.eye.is_searching = True
    physics_frames(3)
    assert two.eye.can_sense(two.thing)


def test_what_is_seen_stays_seen_up_to_the_lose_sight_range(pair, physics_frames):
    two = pair()
    two.eye.lose_sight_range = 25.0
    two.thing.position = Vector3(0, 0, -22)
    physics_frames(3)
    assert not two.eye.can_sense(two.thing)
    for z, is_seen in ((-19, True), (-24, True), (-26, False), (-22, False)):
        two.thing.position = Vector3(0, 0, z)
        physics_frames(3)
        assert two.eye.can_sense(two.thing) is is_seen


def test_fog_shortens_sight(pair, physics_frames):
    two = pair()
    two.thing.position = Vector3(0, 0, -8)
    physics_frames(3)
    assert two.eye.can_sense(two.thing)
    two.manager.change_modality("sight", 5.0)
    physics_frames(3)
    assert two.eye.why(two.thing)["senses"]["sight"]["verdict"] == "too far"


def test_who_matters_is_asked_sooner_and_the_bound_is_kept(node, scheduler, physics_frames, expect_errors):
    expect_errors("needs a sensor, and a source or null, of this manager", times=1)
    manager = node("SenseManager", scheduler, max_rays=1)
    eyes = [node("Sensor3D", scheduler) for _ in range(6)]
    thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, -5))
    manager.set_importance(eyes[5], 1.0)
    manager.set_importance(eyes[4], 1.0, thing)
    manager.call("set_importance", thing, 1.0)
    physics_frames(2)
    assert [eye.can_sense(thing) for eye in eyes] == [False] * 4 + [True, True]
    physics_frames(30)
    stats = manager.get_stats()
    assert all(eye.can_sense(thing) for eye in eyes)
    assert stats["rays_asked"] == 1
    assert 0 < stats["longest_wait_s"] <= stats["noticed_within_s"]
    assert stats["oldest_query_s"] <= stats["noticed_within_s"]


def test_tag_actions_and_custom_strengths_are_saved(pair, scheduler, physics_frames):
    two = pair()
    two.thing.tag, two.thing.actions, two.eye.is_searching = "thief", {"run": 2.0}, True
    physics_frames(2)
    state = scheduler.save_state()
    two.thing.tag, two.thing.actions, two.eye.is_searching = "ghost", {}, False
    assert scheduler.load_state(state)
    assert (two.thing.tag, two.thing.actions, two.eye.is_searching) == ("thief", {"run": 2.0}, True)
    two.thing.light = 0.9                       # pushes all settings to the library once more
    two.thing.act("run")
    physics_frames(4)
    two.thing.emit("hearing", 3.0)
    physics_frames(4)
    assert two.eye.get_last_sensation()["tag"] == "thief"


@pytest.mark.parametrize("period", [1, 4])
def test_sensors_look_every_few_frames_and_hear_in_each(node, scheduler, physics_frames, signals, period):
    manager = node("SenseManager", scheduler, period=period)
    eyes = [node("Sensor3D", scheduler, name=f"Eye{one}") for one in range(4)]
    thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, -5))
    physics_frames(2)
    seeing = []
    for frame in range(6 * period):
        thing.position = Vector3(0, 0, -5 if frame // (2 * period) % 2 == 0 else -500)
        physics_frames(1)
        seeing.append(sum(eye.can_sense(thing) for eye in eyes))
    looks = [frame for frame in range(1, len(seeing)) if seeing[frame] != seeing[frame - 1]]
    assert set(seeing) == {0, 4}
    assert looks[1] - looks[0] == 2 * period
    thing.position = Vector3(0, 0, 5)
    heard = [signals(eye, "sensed") for eye in eyes]
    thing.emit("hearing", 5.0)
    physics_frames(2)
    assert [[one[1] for one in some] for some in heard] == [["hearing"]] * 4
    assert manager.get_stats()["noticed_within_s"] >= (period > 1) * period / 60 - 1e-9
    manager.period = 1
    thing.position = Vector3(0, 0, -5)
    physics_frames(2)
    assert all(eye.can_sense(thing) for eye in eyes)


def test_a_frame_in_which_no_sensor_looks_asks_no_ray(node, scheduler, physics_frames, signals):
    manager = node("SenseManager", scheduler, period=3)
    eye = node("Sensor3D", scheduler)
    thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, -5))
    felt = signals(eye, "sensed")
    physics_frames(2)
    rays = []
    for _ in range(9):
        passes = manager.get_stats()["passes"]
        physics_frames(1)
        rays.append(manager.get_stats()["passes"] - passes)
    assert sum(rays) == 3
    for _ in range(3):
        felt.clear()
        eye.touch(thing, 2.0, "damage")
        physics_frames(1)
        assert ("touch", 2.0) in [one[1:3] for one in felt]
