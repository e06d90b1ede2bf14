"""Sounds in a sense graph as they travel: doors, sensors that move, what stands in a room."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.modality import Modality
from ai_core.senses.stimuli.muffling import Materials
from tests.senses.graph.graph_worlds import POINT, GraphWorld, door, graphs, hearing, room

ABC = [room("a", (0, 0, 0)), room("b", (2, 0, 0)), room("c", (4, 0, 0))]


def test_gradual_sound_meets_doors_as_they_are_on_arrival():
    graph = SenseGraph(ABC, [*door("a", "b", (1, 0, 0), "hearing", name="first"),
                             *door("b", "c", (3, 0, 0), "hearing", name="second")])
    fast = hearing(1.0, 1.0)
    for kind, gradual, expected in ((fast, (), 2), (fast, ("hearing",), 1), (replace(fast, is_slow=True), (), 1)):
        graph.set_open("second", True)
        world = GraphWorld(graph, modalities=[kind], gradual=gradual)
        world.ear((2, 0, 0))
        world.ear((4, 0, 0))
        world.manager.emit(world.source((0, 0, 0)), "hearing", 1.0)
        world.tick(frames=4)
        graph.set_open("second", False)
        world.tick(frames=100)
        assert len(world.heard) == expected
        assert world.manager.statistics()["waves_spreading"] == 0


@pytest.mark.parametrize("through_rooms", [0, 1])
@pytest.mark.parametrize(("is_open", "changes_s", "is_heard"), [
    (True, 0.5, False), (True, 1.5, True),      # it is a metre to the door, and a second
    (False, 0.5, True), (False, 1.5, False),
])
def test_gradual_sound_meets_the_next_door_as_it_is_when_reached(
    through_rooms, is_open, changes_s, is_heard,
):
    graph = SenseGraph(ABC, [
        *door("a", "b", (1, 0, 0), "hearing", name="first", is_open=is_open or bool(through_rooms)),
        *door("b", "c", (3, 0, 0), "hearing", name="second", is_open=is_open or not through_rooms)])
    world = GraphWorld(graph, modalities=[hearing(1.0, 1.0)], gradual=["hearing"])
    world.ear((4, 0, 0))
    world.manager.emit(world.source((0, 0, 0)), "hearing", 1.0)
    # A passage is a metre long unless told, so it is three seconds to the second door.
    world.tick(frames=round((changes_s + 3 * through_rooms) * 8))
    graph.set_open("second" if through_rooms else "first", not is_open)
    world.tick(frames=100)
    assert bool(world.heard) == is_heard
    assert world.manager.statistics()["waves_spreading"] == 0


@settings(max_examples=40)
@given(graphs(), POINT, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 13)), max_size=6))
def test_door_closed_and_reopened_at_once_changes_nothing(graph, origin, touches):
    told = []
    for touched in ([], touches):
        world = GraphWorld(graph, modalities=[hearing(0.9, 0.3)], gradual=["hearing"], seconds_per_frame=0.25)
        for number in range(len(graph.regions)):
            world.ear((4.0 * number + 0.5, 0.25, 0.0))
        world.manager.emit(world.source(origin), "hearing", 1.0)
        for frame in range(60):
            for number in (portal for at, portal in touched if at == frame and portal < len(graph.portals)):
                is_open = graph.is_open(number)
                graph.set_open(number, not is_open)
                graph.set_open(number, is_open)
            world.tick()
        told.append(world.heard)
    assert told[0] == told[1]


def test_moving_sensor_hears_a_gradual_sound_where_they_meet():
    doors = door("a", "b", (1, 0, 0), "hearing")
    for start, stop, expected in (
        ((6, 0, 0), (2, 0, 0), [3.0]),   # comes in from where nothing is heard, before it has got there
        ((2, 0, 0), (0, 0, 0), [1.0]),   # runs towards it
        ((2, 0, 0), (6, 0, 0), []),      # runs away
    ):
        graph = SenseGraph([*ABC[:2], room("c", (6, 0, 0))], doors)
        world = GraphWorld(graph, modalities=[hearing(1.0, 1.0)], gradual=["hearing"])
        ear = world.ear(start)
        world.manager.emit(world.source((0, 0, 0)), "hearing", 1.0)
        world.tick(frames=7)
        world.manager.move_sensors([ear], [stop])
        world.tick(frames=60)
        # A passage is a metre long unless told; the frame after a second finds who ran into it.
        assert [round(one.at_s) for one in world.heard] == expected
        assert world.manager.statistics()["waves_spreading"] == 0


def test_obstacles_in_a_room_muffle_sounds_the_graph_passes():
    asked = []

    def occlusion(starts, ends, sensor_ids, name):
        asked.extend(zip(starts[:, 0].tolist(), ends[:, 0].tolist(), sensor_ids.tolist(), strict=True))
        return np.where((starts[:, 0] < 0.5) & (ends[:, 0] > 0.5), 0.5, 1.0)

    walls = Materials({"brick": 0.25})
    muffled = Modality("hearing", 100.0, 1.0, is_muffled=True)
    through = door("a", "b", (1, 0, 0), "hearing", kept_per_m=walls.through("brick"))
    world = GraphWorld(SenseGraph(ABC[:2], through), modalities=[muffled], occlusion=occlusion)
    ears = [world.ear((-0.5, 0, 0)), world.ear((0.75, 0, 0)), world.ear((2, 0, 0))]
    world.manager.emit(world.source((0, 0, 0)), "hearing", 8.0)
    world.tick()
    assert [(one.sensor_id, one.intensity) for one in world.heard] == list(zip(ears, [8.0, 4.0, 1.0], strict=True))
    assert (0.0, 1.0, -1) in asked
    assert (1.0, 2.0, ears[2]) in asked
    factors = world.manager.why(ears[2], world.manager.add_source(position=(0, 0, 0), strengths={"hearing": 1}))
    assert factors.by_modality["hearing"].kept == 0.125
