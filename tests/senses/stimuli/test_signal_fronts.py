"""Slow smells: fronts that are met by whoever moves, and carried by the wind."""
from __future__ import annotations

import pytest

from ai_core.budget import Budget
from ai_core.senses.modality import Modality
from tests.senses.worlds import AHEAD, World


def smell(*, speed_m_per_s=1.0, kept_per_m=1.0, range_m=50.0):
    return Modality.smell(range_m=range_m, kept_per_m=kept_per_m, speed_m_per_s=speed_m_per_s)


def nose(world, position, threshold=0.1, **more):
    return world.manager.add_sensor(
        position=position, forward=AHEAD, thresholds={"smell": threshold},
        **{"on_sensed": world.heard.append, **more})


def silent(world, position=(0, 0, 0), **more):
    return world.manager.add_source(position=position, strengths={}, **more)


def test_walker_into_a_slow_smell_meets_it_sooner_than_a_fleer():
    world = World(seconds_per_frame=1.0, modalities=[smell()])
    stays, comes, flees = (nose(world, (6, 0, 0)) for _ in "abc")
    world.manager.emit(silent(world), "smell", 1.0)
    met = {}
    for second in range(1, 30):
        world.manager.move_sensors([comes, flees], [[6 - second, 0, 0], [6 + 0.5 * second, 0, 0]])
        world.tick()
        for one in world.heard:
            met.setdefault(one.sensor_id, second)
    assert met == {stays: 6, comes: 3, flees: 12}
    assert len(world.heard) == 3
    assert world.manager.statistics()["waves_spreading"] == 1


def test_newcomer_after_emission_smells_it_up_to_its_range():
    world = World(seconds_per_frame=1.0, modalities=[smell(range_m=10)])
    late = nose(world, (500, 0, 0))
    world.manager.emit(silent(world), "smell", 1.0)
    world.tick(frames=5)
    world.manager.move_sensors([late], [[8, 0, 0]])
    world.tick(frames=3)
    assert world.sensed() == [(late, 0)]
    world.tick(frames=2)
    assert world.manager.statistics()["waves_spreading"] == 0


def test_who_was_passed_while_too_far_to_smell_is_not_met_again():
    world = World(seconds_per_frame=1.0, modalities=[smell(kept_per_m=0.5)])
    guard = nose(world, (6, 0, 0), threshold=0.25)
    world.manager.emit(silent(world), "smell", 1.0)
    world.tick(frames=7)
    world.manager.move_sensors([guard], [[1, 0, 0]])
    world.tick(frames=3)
    assert world.heard == []


@pytest.mark.parametrize("frames_per_s", [1, 4, 32])
def test_the_wind_carries_a_smell_to_leeward_at_any_frame_rate(frames_per_s):
    world = World(seconds_per_frame=1 / frames_per_s, modalities=[smell(kept_per_m=0.9)])
    lee, luff = nose(world, (6, 0, 0), threshold=0.01), nose(world, (-6, 0, 0), threshold=0.01)
    world.manager.set_wind((0.5, 0, 0))
    world.manager.emit(silent(world), "smell", 1.0)
    world.tick(frames=4 * frames_per_s)
    assert world.sensed() == [(lee, 0)]
    assert world.heard[0].intensity == pytest.approx(0.9**4)
    world.tick(frames=8 * frames_per_s)
    assert world.sensed() == [(lee, 0), (luff, 0)]
    assert world.heard[1].intensity == pytest.approx(0.9**12)


def test_turning_wind_carries_what_is_in_the_air_from_then_on():
    world = World(seconds_per_frame=1.0, modalities=[smell(speed_m_per_s=0.25)])
    nose(world, (4, 0, 3))
    world.manager.set_wind((1, 0, 0))
    world.manager.emit(silent(world), "smell", 1.0)
    world.tick(frames=4)
    world.manager.set_wind((0, 0, 1))
    world.tick(frames=1)
    assert world.heard == []
    world.tick(frames=1)
    assert len(world.heard) == 1


def test_a_budget_of_one_step_follows_every_front():
    world = World(modalities=[smell()])
    nose(world, (2, 0, 0))
    source = silent(world)
    for _ in range(4):
        world.manager.emit(source, "smell", 1.0)
    for _ in range(60):
        budget = Budget.of_steps(1)
        world.tick(budget=budget)
        assert budget.over == 0
    assert len(world.heard) == 4
