"""What stands between: shares by material, and answers that are nonsense."""
from __future__ import annotations

import numpy as np
import pytest

from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality
from ai_core.senses.muffling import Materials
from tests.senses.worlds import World

NAN = float("nan")


def silent(world, position=(0, 0, 0), **more):
    return world.manager.add_source(position=position, strengths={}, **more)


def test_what_stands_between_takes_its_share_by_material_and_few_are_soundproof():
    walls = Materials({"brick": 0.1, "wood": 0.5, "vault": 0.0})
    between = {0: [], 1: ["wood"], 2: ["wood", "brick"], 3: ["vault"]}
    asked = []

    def share(starts, ends, sensor_ids, modality_name):
        asked.append((len(starts), modality_name))
        return walls.kept([between[one] for one in sensor_ids.tolist()])

    world = World(modalities=[Modality.hearing(attenuation=1.0, inverse_speed_s_per_m=0)], between=share)
    for _ in range(4):
        world.ear((1, 0, 0), threshold=0.05)
    world.manager.emit(silent(world), "hearing", 2.0)
    world.tick()
    assert [(one.sensor_id, round(one.intensity, 6)) for one in world.heard] == [(0, 2.0), (1, 1.0), (2, 0.1)]
    assert asked == [(4, "hearing")]


def test_nothing_stands_between_for_a_moment_when_that_cannot_be_said():
    world = World(modalities=[Modality.hearing(attenuation=1.0)], between=lambda *lines: None)
    world.ear((1, 0, 0))
    world.manager.emit(silent(world), "hearing", 2.0)
    world.tick()
    assert len(world.heard) == 1


@pytest.mark.parametrize("answer", ["thick", np.array([2.0]), np.array([NAN]), np.array([1.0, 1.0])])
def test_walls_that_answer_nonsense_are_reported_and_sounds_go_on(answer):
    world = World(modalities=[Modality.hearing()], between=lambda *lines: answer, reraise=False)
    world.ear((1, 0, 0))
    source = silent(world)
    for _ in range(5):
        world.manager.emit(source, "hearing", 2.0)
        world.tick()
    assert len(world.heard) == 5
    assert [fault.name for fault in world.reported] == ["between"] * 3
    assert "between must return" in str(world.reported[0].error)


def test_who_moved_behind_the_same_wall_hears_less_by_the_distance_and_the_wall():
    world = World(modalities=[Modality.hearing(attenuation=0.9, inverse_speed_s_per_m=0.25)],
                  between=lambda starts, *_: np.full(len(starts), 0.5))
    ear = world.ear((1, 0, 0))
    world.manager.emit(silent(world), "hearing", 2.0)
    world.manager.move_sensors([ear], [[4, 0, 0]])
    world.tick(frames=9)
    assert world.heard[0].intensity == pytest.approx(2 * 0.9**4 * 0.5)


def test_impossible_materials_are_refused():
    with pytest.raises(ValueError, match="kept\\['brick'\\] must be at most 1"):
        Materials({"brick": 2})
    with pytest.raises(UnknownNameError, match="unknown material 'stone'"):
        Materials({"brick": 0.1}).kept([["stone"]])
