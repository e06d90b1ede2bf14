"""Trails, clues, memory and awareness where there is a sense graph: the same as on open ground."""
from __future__ import annotations

import pytest

from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.scent.scent_trails import ScentTrails
from tests.senses.graph.graph_worlds import GraphWorld, door, hearing, room

ROW = [room(str(k), (2.0 * k, 0, 0)) for k in range(3)]


def world_with_a_trail(**more):
    doors = door("0", "1", (1, 0, 0), "smell", "hearing", "sight", name="door")
    world = GraphWorld(SenseGraph(ROW, doors), scent_trails=ScentTrails(radius_m=30.0, sniff_every_s=0.0), **more)
    thief = world.source((0, 0, 0), smell=1.0, sight=1.0)
    return world, thief


def test_mark_is_smelled_in_its_room_and_through_door_not_walls():
    world, thief = world_with_a_trail()
    near, next_door, behind_a_wall = (world.nose((x, 0, 0)) for x in (0.5, 2.5, 4.0))
    world.tick(frames=2)
    assert {one.sensor_id for one in world.heard} == {near, next_door}
    # By way of the door, which is a metre through.
    assert world.manager.track(next_door).intensity == pytest.approx(0.97**0.125 * 1.0, rel=1e-2)
    world.graph.set_open("door", False)
    assert world.manager.track(next_door) is None
    assert world.manager.track(near, thief).position == (0.0, 0.0, 0.0)
    assert world.manager.track(behind_a_wall) is None


def test_clue_in_a_room_is_seen_through_an_open_door_until_gone():
    world, thief = world_with_a_trail()
    guard = world.eye((2, 0, 0))
    blood = world.manager.add_source(
        position=(0.5, 0, 0), strengths={"sight": 1.0}, lasts_s=1.0, tag="blood", about=thief)
    world.tick(frames=2)
    assert blood in world.manager.sensed_by(guard)
    assert world.manager.clue_of(blood).about == thief
    world.tick(frames=8)
    assert blood not in world.manager.sensed_by(guard)


def test_memory_and_awareness_go_on_as_on_open_ground():
    told = []
    world, thief = world_with_a_trail()
    world.sensor(
        (2, 0, 0), {"hearing": 0.1}, memory=SenseMemory(lose_after_s=0.5, max_age_s=2.0),
        awareness=AwarenessSettings(gain_per_signal=1.0, decay_per_s=0.5),
        **{f"on_{kind}": lambda change, kind=kind: told.append((kind, change.at_s))
           for kind in ("gained", "lost", "expired", "forgotten")},
        on_awareness_changed=lambda change: told.append((change.name, change.at_s)))
    world.manager.emit(thief, "hearing", 2.0)
    world.tick(frames=80)
    kinds = [kind for kind, _ in told]
    assert [one for one in kinds if one in ("gained", "lost", "expired", "forgotten")] == [
        "gained", "lost", "expired", "forgotten"]
    assert [one for one in kinds if one in ("suspicious", "alert", "unaware")] == [
        "suspicious", "alert", "suspicious", "unaware"]


def test_large_object_is_seen_as_if_nearer_through_a_door_too():
    world = GraphWorld(SenseGraph(ROW, door("0", "1", (1, 0, 0), "sight", distance_m=1.0)),
                       modalities=[hearing(), _sight(3.0)])
    small = world.source((0, 0, 0), sight=1.0)
    large = world.manager.add_source(position=(0, 0, 0.5), strengths={"sight": 1.0}, size=4.0)
    guard = world.eye((2.9, 0, 0))
    world.tick()
    assert world.manager.sensed_by(guard) == [large]
    assert small not in world.manager.sensed_by(guard)


def _sight(range_m):
    from ai_core.senses.modality import Modality

    return Modality.sight(range_m=range_m)
