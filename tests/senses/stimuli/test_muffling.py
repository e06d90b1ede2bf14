"""What stands between: shares by material, and answers that are nonsense."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality
from ai_core.senses.sight.continuous_sensing import PASSES_TIMED
from ai_core.senses.stimuli.arrival_loops import LATEST_S
from ai_core.senses.stimuli.muffling import Materials
from tests.senses.worlds import AHEAD, ALL_ROUND, Rays, World

NAN = float("nan")


def silent(world, position=(0, 0, 0), **more):
    return world.manager.add_source(position=position, strengths={}, **more)


def test_obstacles_absorb_by_material_and_few_are_soundproof():
    walls = Materials({"brick": 0.1, "wood": 0.5, "vault": 0.0})
    occlusion = {0: [], 1: ["wood"], 2: ["wood", "brick"], 3: ["vault"]}
    asked = []

    def share(starts, ends, sensor_ids, modality_name):
        asked.append((len(starts), modality_name))
        return np.array([walls.through(*occlusion[one]) for one in sensor_ids.tolist()])

    world = World(modalities=[Modality.hearing(kept_per_m=1.0, speed_m_per_s=math.inf)], occlusion=share)
    for _ in range(4):
        world.ear((1, 0, 0), threshold=0.05)
    world.manager.emit(silent(world), "hearing", 2.0)
    world.tick()
    assert [(one.sensor_id, round(one.intensity, 6)) for one in world.heard] == [(0, 2.0), (1, 1.0), (2, 0.1)]
    assert asked == [(4, "hearing")]


def test_unknown_occlusion_counts_as_none_for_the_moment():
    world = World(modalities=[Modality.hearing(kept_per_m=1.0)], occlusion=lambda *lines: None)
    world.ear((1, 0, 0))
    world.manager.emit(silent(world), "hearing", 2.0)
    world.tick()
    assert len(world.heard) == 1


@pytest.mark.parametrize("answer", ["thick", np.array([2.0]), np.array([NAN]), np.array([1.0, 1.0])])
def test_invalid_occlusion_answers_are_reported_and_sounds_go_on(answer):
    world = World(modalities=[Modality.hearing()], occlusion=lambda *lines: answer, reraise=False)
    world.ear((1, 0, 0))
    source = silent(world)
    for _ in range(5):
        world.manager.emit(source, "hearing", 2.0)
        world.tick()
    assert len(world.heard) == 5
    assert [fault.name for fault in world.reported] == ["occlusion"] * 3
    assert "occlusion must return" in str(world.reported[0].error)


def test_listener_moved_behind_the_wall_hears_less_by_both():
    world = World(modalities=[Modality.hearing(kept_per_m=0.9, speed_m_per_s=4.0)],
                  occlusion=lambda starts, *_: np.full(len(starts), 0.5))
    ear = world.ear((1, 0, 0))
    world.manager.emit(silent(world), "hearing", 2.0)
    world.manager.move_sensors([ear], [[4, 0, 0]])
    world.tick(frames=9)
    assert world.heard[0].intensity == pytest.approx(2 * 0.9**4 * 0.5)


def corridor(**settings):
    """A hundred ears at 1 to 100 m, and half of each sound is lost; returns also how many lines were asked when."""
    asked = []

    def halve(starts, ends, sensor_ids, modality_name):
        asked.append((world.clock.now.frame, sensor_ids.tolist()))
        return np.full(len(starts), 0.5)

    kind = Modality.hearing(kept_per_m=1.0, speed_m_per_s=math.inf, range_m=1000)
    world = World(modalities=[Modality.sight(), kind], occlusion=halve, **settings)
    for k in range(100):
        world.ear((100 - k, 0, 0), threshold=0.25)
    return world, asked


def test_sound_many_hear_takes_half_the_rays_and_nearest_first():
    world, asked = corridor(max_rays=50)
    world.manager.emit(silent(world), "hearing", 2.0)
    world.tick(frames=5)
    assert [(frame, len(ids)) for frame, ids in asked] == [(1, 25), (2, 25), (3, 25), (4, 25)]
    assert [one for _, ids in asked for one in ids] == list(reversed(range(100)))
    unhurried, _ = corridor()
    unhurried.manager.emit(silent(unhurried), "hearing", 2.0)
    unhurried.tick()

    def plain(one):
        return one.sensor_id, one.intensity, one.position, one.sent_at_s

    assert sorted(map(plain, world.heard)) == sorted(map(plain, unhurried.heard))


def test_the_other_half_of_the_rays_is_left_to_sight():
    looked = []

    def line_of_sight(starts, *_):
        looked.append(len(starts))
        return np.ones(len(starts), np.bool_)

    world, asked = corridor(max_rays=50, line_of_sight=line_of_sight)
    for k in range(100):
        world.eye((0, 0, k), threshold=0.1)
    thing = world.thing((1, 0, 0))
    world.manager.emit(thing, "hearing", 2.0)
    world.tick(frames=5)
    assert looked == [25, 25, 25, 25, 50]
    assert world.manager.statistics()["advances_until_all_are_asked"] == 2      # 50 in view; 25 at the worst of late
    assert len(asked) == 4


def test_late_queried_sound_is_heard_by_those_there_at_emission():
    world, _ = corridor(max_rays=20)
    world.manager.emit(silent(world), "hearing", 2.0)
    world.tick()
    world.manager.remove_sensor(0)
    world.tick(frames=99)
    assert len(world.heard) == 99


def test_repeated_sounds_that_wait_for_rays_merge():
    world, asked = corridor(max_rays=2)
    source = silent(world)
    for frame in range(120):
        world.manager.emit(source, "hearing", 2.0, (0, 0, frame))
        world.tick()
        assert world.manager.statistics()["arrivals_under_way"] < 100
    assert len(world.heard) == len(asked) == 120
    assert all(one.at_s - one.sent_at_s <= 0.125 and one.position[2] == 8 * one.sent_at_s for one in world.heard)
    assert len({one.sensor_id for one in world.heard}) == 100
    statistics = world.manager.statistics()
    assert statistics["stimuli_merged"] == 120 * 100 - 120 - statistics["arrivals_under_way"]
    assert statistics["arrivals_given_up"] == 0


def test_sounds_never_served_are_dropped_after_two_seconds():
    world, asked = corridor(max_rays=2)
    source, most = silent(world), 0
    for frame in range(60):
        world.manager.emit(source, "hearing", 2.0, tag=f"shot {frame}")
        world.tick()
        most = max(most, world.manager.statistics()["arrivals_under_way"])
    assert len(world.heard) == len(asked) == 60
    assert max(one.at_s - one.sent_at_s for one in world.heard) <= LATEST_S
    assert most <= 100 * (LATEST_S / 0.125 + 2)
    assert world.manager.statistics()["arrivals_given_up"] == 60 * 100 - 60 - world.manager.statistics()[
        "arrivals_under_way"]


def test_lines_that_wait_are_saved():
    world, _ = corridor(max_rays=50)
    world.manager.emit(silent(world), "hearing", 2.0)
    world.tick(frames=2)
    state = json.loads(json.dumps(world.manager.save_state()))
    world.tick(frames=4)
    other, _ = corridor(max_rays=50)
    silent(other)
    other.clock.advance()
    other.clock.advance()
    other.manager.prepare_state(state)()
    other.tick(frames=4)
    assert other.heard == world.heard[50:]


def test_impossible_materials_are_refused():
    with pytest.raises(ValueError, match="kept\\['brick'\\] must be at most 1"):
        Materials({"brick": 2})
    with pytest.raises(UnknownNameError, match="unknown material 'stone'"):
        Materials({"brick": 0.1}).through("stone")


def muffled_and_seen(pairs):
    """Where one hears through a wall in each advance, and so many see somebody."""
    world = World(occlusion=lambda starts, *_: np.full(len(starts), 0.5), line_of_sight=Rays(), max_rays=8)
    world.ear((0, 0, 0))
    for _ in range(pairs):
        world.eye((0, 0, 0))
    source = world.manager.add_source(position=(0, 0, -4), strengths={"sight": 1.0})
    for _ in range(100):
        world.manager.emit(source, "hearing", 2.0)
        world.tick()
    return world.manager


def test_rays_for_walls_extend_sight_waits_only_if_necessary():
    manager = muffled_and_seen(2)
    for _ in range(6):
        manager.add_sensor(position=(0, 0, 0), forward=AHEAD, thresholds={"sight": 0.5}, sight_cones=[ALL_ROUND])
    manager.advance(Budget.unlimited())
    assert manager.statistics()["rays_asked"] == 8
    assert manager.statistics()["advances_until_all_are_asked"] == 1
    assert muffled_and_seen(15).statistics()["advances_until_all_are_asked"] == 3      # 7 of 8 rays are left


def test_data_of_smaller_passes_is_dropped_queried_or_not():
    assert len(muffled_and_seen(15)._continuous.ages._cut_short) <= PASSES_TIMED
