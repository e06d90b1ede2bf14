"""What is emitted: tags, actions, channels, blows, walls, noise, dulled ears, slow smells, wind."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest

from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.memory import SenseMemory
from tests.senses.worlds import AHEAD, World, hearing

NAN = float("nan")


def smell(*, speed_m_per_s=1.0, kept_per_m=1.0, range_m=50.0):
    return Modality.smell(range_m=range_m, kept_per_m=kept_per_m, speed_m_per_s=speed_m_per_s)


def nose(world, position, threshold=0.1, **more):
    return world.manager.add_sensor(
        position=position, forward=AHEAD, thresholds={"smell": threshold},
        **{"on_sensed": world.heard.append, **more})


def silent(world, position=(0, 0, 0), **more):
    return world.manager.add_source(position=position, strengths={}, **more)


def test_each_action_has_its_level_and_says_what_it_was():
    world = World(modalities=[hearing(kept_per_m=1.0)])
    world.ear((1, 0, 0))
    thief = silent(world, actions={"sneak": 0.25, "run": 2.0})
    world.manager.act(thief, "run")
    world.tick()
    world.manager.act(thief, "sneak")
    world.tick()
    assert [(one.tag, one.intensity) for one in world.heard] == [("run", 2.0), ("sneak", 0.25)]
    with pytest.raises(UnknownNameError, match="unknown action 'sing'"):
        world.manager.act(thief, "sing")


def test_signal_has_the_tag_of_its_source_unless_it_has_its_own():
    world = World(modalities=[hearing()])
    world.ear((1, 0, 0))
    bell = silent(world, tag="bell")
    world.manager.emit(bell, "hearing", 2.0)
    world.manager.emit(bell, "hearing", 2.0, tag="crack")
    world.tick()
    assert [one.tag for one in world.heard] == ["bell", "crack"]
    assert world.manager.tag_of(bell) == "bell"


def test_joint_arrivals_on_one_channel_report_only_the_last():
    world = World(seconds_per_frame=1.0, modalities=[hearing(kept_per_m=1.0)])
    world.ear((1, 0, 0))
    thief, other = silent(world), silent(world)
    for strength in (1.0, 2.0, 3.0):
        world.manager.emit(thief, "hearing", strength, channel="steps")
    world.manager.emit(thief, "hearing", 9.0, channel="voice")
    world.manager.emit(other, "hearing", 4.0, channel="steps")
    world.manager.emit(thief, "hearing", 0.5)
    world.manager.emit(thief, "hearing", 0.5)
    world.tick()
    assert [one.intensity for one in world.heard] == [3.0, 9.0, 4.0, 0.5, 0.5]
    world.manager.emit(thief, "hearing", 1.0, channel="steps")
    world.tick()
    assert world.heard[-1].intensity == 1.0


def test_steps_faster_than_they_travel_are_still_heard():
    world = World(modalities=[hearing(kept_per_m=1.0, delay_s_per_m=0.05)])
    world.ear((20, 0, 0))
    thief = silent(world, actions={"run": 1.0})
    for _ in range(20):
        world.manager.act(thief, "run")
        world.tick()
    assert len(world.heard) == 13


def test_touch_reports_collisions_and_damage_like_other_signals():
    world = World(modalities=[Modality.touch(), hearing()])
    told = {}
    for name, more in {"hit": {}, "thick": {"threshold": 5.0}, "friend": {"detection_mask": 0b10}}.items():
        told[name] = world.manager.add_sensor(
            position=(0, 0, 0), forward=AHEAD, thresholds={"touch": more.pop("threshold", 1.0)},
            on_sensed=world.heard.append, memory=SenseMemory(), **more)
    car = world.manager.add_source(position=(9, 0, 0), strengths={})
    for sensor in told.values():
        world.manager.touch(sensor, car, strength=3.0, position=(0.1, 0, 0), tag="collision")
    assert world.heard == []
    world.tick()
    (one,) = world.heard
    assert (one.sensor_id, one.source_id, one.modality, one.intensity, one.tag) == (
        told["hit"], car, "touch", 3.0, "collision")
    assert one.position[0] == pytest.approx(0.1)
    known = world.manager.memory_of(told["hit"]).find(car)
    assert known.dominant_modality == "touch"


def test_nearness_is_touched_without_being_told():
    world = World(modalities=[Modality.touch(range_m=0.5)])
    guard = world.manager.add_sensor(position=(0, 0, 0), forward=AHEAD, thresholds={"touch": 0.5})
    world.manager.add_source(position=(0.6, 0, 0), strengths={"touch": 1.0})
    near = world.manager.add_source(position=(0.4, 0, 0), strengths={"touch": 1.0})
    world.tick()
    assert world.manager.sensed_by(guard, "touch") == [near]


def test_an_aura_telepathy_and_fear_are_modalities_and_no_code():
    kinds = [
        Modality("telepathy", range_m=1000, speed_m_per_s=1000.0),
        Modality("aura", range_m=5, kept_per_m=0.5, is_continuous=True),
        Modality("fear", range_m=20, speed_m_per_s=2.0, is_slow=True),
    ]
    world = World(modalities=kinds)
    world.manager.add_sensor(position=(3, 0, 0), forward=AHEAD, on_sensed=world.heard.append,
                             thresholds={"telepathy": 0.1, "aura": 0.1, "fear": 0.1})
    mage = world.manager.add_source(position=(0, 0, 0), strengths={"aura": 1.0})
    world.manager.emit(mage, "telepathy", 1.0)
    world.manager.emit(mage, "fear", 1.0)
    world.tick(frames=13)
    assert {one.modality for one in world.heard} == {"aura", "telepathy", "fear"}


def test_background_noise_masks_weaker_signals_at_the_sensor():
    world = World(modalities=[hearing(kept_per_m=0.5)])
    near, far = world.ear((1, 0, 0)), world.ear((4, 0, 0))
    source = silent(world, position=(2.5, 0, 0))
    waterfall = world.manager.add_noise("hearing", 4.0, position=(0, 0, 0))

    def hears():
        world.heard.clear()
        world.manager.emit(source, "hearing", 2.0)
        world.tick()
        return [one.sensor_id for one in world.heard]

    assert hears() == [far]
    world.manager.remove_noise(waterfall)
    assert hears() == [near, far]
    rain = world.manager.add_noise("hearing", 1.0)
    assert hears() == []
    world.manager.remove_noise(rain)
    with pytest.raises(UnknownNameError, match="unknown noise id"):
        world.manager.remove_noise(rain)


def test_deafened_ears_recover_and_sharpened_ones_hear_more():
    world = World(seconds_per_frame=1.0, modalities=[hearing(kept_per_m=1.0)])
    ear = world.ear((1, 0, 0), threshold=1.0)
    source = silent(world)

    def hears(strength):
        before = len(world.heard)
        world.manager.emit(source, "hearing", strength)
        world.tick()
        return len(world.heard) > before

    assert hears(1.0)
    world.manager.set_sensitivity(ear, "hearing", 0.0, for_s=2.5)
    assert not hears(1e9)
    assert not hears(1e9)
    assert hears(1.0)
    world.manager.set_sensitivity(ear, "hearing", 4.0)
    assert hears(0.25)
    world.manager.change_sensor(ear, thresholds={"hearing": 2.0})
    assert (hears(0.5), hears(0.4)) == (True, False)


@pytest.mark.parametrize(
    ("sensitivity", "for_s"), [(-1, None), (NAN, None), (1.0, 0), (1.0, NAN), (1.0, 1e13), (math.inf, None)])
def test_impossible_keenness_is_refused_and_changes_nothing(sensitivity, for_s):
    world = World(modalities=[hearing(kept_per_m=1.0)])
    ear = world.ear((1, 0, 0), threshold=1.0)
    with pytest.raises(ValueError, match=r"sensitivity|for_s"):
        world.manager.set_sensitivity(ear, "hearing", sensitivity, for_s=for_s)
    world.manager.emit(silent(world), "hearing", 1.0)
    world.tick()
    assert len(world.heard) == 1


def test_signals_begin_with_the_sensors_of_the_next_advance():
    world = World(modalities=[hearing(kept_per_m=1.0, range_m=5.0)])
    near, gone = world.ear((1, 0, 0)), world.ear((1, 0, 0))
    source = silent(world)
    world.manager.emit(source, "hearing", 1.0)
    late = world.ear((2, 0, 0))
    world.manager.move_sensors([near], [[9, 0, 0]])
    world.manager.remove_sensor(gone)
    world.tick()
    assert world.sensed() == [(late, source)]


def test_saved_signals_fronts_noise_wind_and_dulled_ears_resume():
    def street():
        world = World(modalities=[Modality.hearing(speed_m_per_s=2.0), smell(kept_per_m=0.99)],
                      occlusion=lambda starts, *_: np.full(len(starts), 0.5))
        for k in range(5):
            world.manager.add_sensor(
                position=(3.0 * k, 0, 0), forward=AHEAD, thresholds={"smell": 0.1, "hearing": 0.1},
                on_sensed=world.heard.append, name=f"nose {k}")
        silent(world, name="thief", tag="thief", actions={"run": 5.0})
        return world

    first, second = street(), street()
    first.manager.set_wind((0.3, 0, 0))
    first.manager.add_noise("hearing", 0.5, position=(9, 0, 0))
    first.manager.set_sensitivity(2, "hearing", 0.25, for_s=1.0)
    for _ in range(8):
        first.manager.act(0, "run")
        first.manager.emit(0, "smell", 2.0)
        first.tick()
    first.manager.act(0, "run")
    state = json.loads(json.dumps({"clock": first.clock.save_state(), "manager": first.manager.save_state()}))
    for change in [second.clock.prepare_state(state["clock"]), second.manager.prepare_state(state["manager"])]:
        change()
    assert second.manager.save_state() == first.manager.save_state()
    first.heard.clear()
    for world in (first, second):
        world.tick(frames=60)
        world.manager.act(0, "run")
        world.tick(frames=30)
    assert first.heard == second.heard
    assert len(first.heard) > 20


def test_signals_saved_in_flight_are_heard_after_loading():
    world = World(modalities=[hearing()])
    ears = [world.ear((k, 0, 0)) for k in range(5)]
    world.manager.emit(silent(world), "hearing", 9.0)
    world.manager.move_sensors([ears[4]], [(4, 0, 0)])
    load = world.manager.prepare_state(json.loads(json.dumps(world.manager.save_state())))
    world.tick()
    assert len(world.heard) == 5
    load()
    world.tick()
    assert len(world.heard) == 10


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.touch(0, 0, strength=-1), ValueError, "strength must be at least 0"),
        (lambda m: m.touch(9, 0), UnknownNameError, "unknown sensor id 9"),
        (lambda m: m.touch(0, 9), UnknownNameError, "unknown source id 9"),
        (lambda m: m.touch(0, 0, "taste"), UnknownNameError, "unknown modality 'taste'"),
        (lambda m: m.emit(0, "hearing", 1.0, tag=3), TypeError, "tag must be a string"),
        (lambda m: m.emit(0, "hearing", 1.0, channel=None), TypeError, "channel must be a string"),
        (lambda m: m.set_wind((NAN, 0, 0)), ValueError, "velocity must be finite"),
        (lambda m: m.add_noise("hearing", -1.0), ValueError, "level must be at least 0"),
        (lambda m: m.add_noise("touch", 1.0), ValueError, "must be an emitted modality"),
        (lambda m: m.change_modality("hearing", kept_per_m=2), ValueError, "kept_per_m must be at most 1"),
        (lambda m: m.change_modality("taste"), UnknownNameError, "unknown modality"),
        (lambda m: m.add_source(position=(0, 0, 0), strengths={}, actions={"run": -1}), ValueError, "actions"),
        (lambda m: m.add_source(position=(0, 0, 0), strengths={}, actions=["run"]), TypeError, "actions must map"),
    ],
)
def test_impossible_signals_are_refused(call, error, message):
    world = World(modalities=[hearing(), Modality.touch()])
    world.ear((0, 0, 0))
    silent(world)
    with pytest.raises(error, match=message):
        call(world.manager)
    world.tick()
    assert world.heard == []


@pytest.mark.parametrize("place", [(1.0, 0.1, 2.0), [1.0, 0.1, 2.0], np.array([1.0, 0.1, 2.0]), (1, 0.1, 2)])
def test_a_place_is_rounded_alike_however_it_is_given(place):
    world = World(modalities=[hearing()])
    world.ear((0, 0, 0))
    world.manager.emit(world.manager.add_source(position=(9, 9, 9), strengths={}), "hearing", 2.0, place)
    world.tick()
    assert world.heard[0].position == (1.0, float(np.float32(0.1)), 2.0)


@pytest.mark.parametrize("place", [(1.0, 0.0, float("nan")), (1e300, 0.0, 0.0), (1.0, 2.0, 3.0, 4.0), ("a", 0.0, 0.0)])
def test_a_place_that_is_none_is_refused(place):
    world = World(modalities=[hearing()])
    source = world.manager.add_source(position=(0, 0, 0), strengths={})
    with pytest.raises((TypeError, ValueError), match="position"):
        world.manager.emit(source, "hearing", 2.0, place)



def test_source_emits_by_its_present_state_every_time():
    world = World(modalities=[hearing(kept_per_m=1.0)])
    world.ear((1, 0, 0), detection_mask=0b10)
    speaker = silent(world, affiliation=0b10, tag="guard")
    for change in ({}, {"tag": "spy"}, {"affiliation": 0b01}, {"affiliation": 0b11}):
        world.manager.change_source(speaker, **change)
        for _ in range(2):
            world.manager.emit(speaker, "hearing", 1.0)
            world.tick()
    assert [one.tag for one in world.heard] == ["guard"] * 2 + ["spy"] * 4
    world.manager.remove_source(speaker)
    with pytest.raises(UnknownNameError, match="it was removed"):
        world.manager.emit(speaker, "hearing", 1.0)


@pytest.mark.parametrize(
    ("source", "modality"), [(0.0, "hearing"), (False, "hearing"), (0, b"hearing"), (0, ["hearing"])])
def test_invalid_source_or_sense_is_refused_after_an_equal_one(source, modality):
    world = World(modalities=[hearing()])
    world.manager.emit(silent(world), "hearing", 1.0)
    with pytest.raises((TypeError, UnknownNameError)):
        world.manager.emit(source, modality, 1.0)
