"""Sounds in a sense graph as they travel: doors, sensors that move, what stands in a room."""
from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.saving.fields import StateError
from ai_core.senses.graph import sense_graph_waves
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


MUFFLED = Modality("hearing", 100.0, 1.0, 34.0, is_muffled=True)


class Hall(GraphWorld):
    """Ears behind ten doors, a source before them, and how many lines were asked in each frame.

    Of the ways through the first door nothing passes.
    """

    def __init__(self, gradual):
        doors = [one for z in range(10) for one in door("a", "b", (5, 0, z / 8), "hearing", distance_m=0.0)]
        super().__init__(
            SenseGraph([room("a", (0, 0, 0), 10), room("b", (10, 0, 0), 10)], doors), modalities=[MUFFLED],
            occlusion=self.occlusion, max_rays=16, gradual=["hearing"] if gradual else [], seconds_per_frame=1 / 16)
        self.lines, self.ears = [0], [self.ear((9, 0, k / 16), 0.1) for k in range(20)]
        self.bell = self.source((0, 0, 0), hearing=5.0)

    def occlusion(self, starts, ends, sensor_ids, name):
        self.lines[-1] += len(starts)
        return np.where((starts[:, 2] == 0) & (sensor_ids >= 0), 0.0, 0.5)

    def ring(self, channels, frames):
        for channel in channels:
            self.manager.emit(self.bell, "hearing", channel=channel)
        for _ in range(frames):
            self.lines.append(0)
            self.tick()
            assert self.manager.statistics()["rays_asked"] == self.lines[-1] <= 8


@pytest.mark.parametrize("gradual", [False, True])
def test_waves_ask_what_muffles_within_the_rays_of_a_frame(gradual):
    hall = Hall(gradual)
    hall.ring("abcd", 5)
    hall.manager.prepare_state(json.loads(json.dumps(hall.manager.save_state())))()
    hall.ring("", 45)
    assert sorted((one.sensor_id, one.source_id) for one in hall.heard) == sorted(
        (ear, hall.bell) for ear in hall.ears for _ in range(4))
    assert {round(one.intensity, 6) for one in hall.heard} == {1.25}, "half at the door, half at the ear"
    assert 0.0 not in {one.position[2] for one in hall.heard}, "nothing passes from the first door to an ear"
    # Ten doors, and at most two ways to each ear, for each wave.
    assert sum(hall.lines) <= 4 * (10 + 2 * 20)
    assert hall.manager.statistics()["waves_spreading"] == 0


def test_signals_merge_while_waves_before_them_lack_rays():
    hall = Hall(gradual=False)
    for _ in range(20):
        hall.ring("ab", 3)
        assert len(hall.manager._emitted.waves) <= 2
    figures = hall.manager.statistics()
    assert figures["stimuli_merged"] > 0
    hall.ring("", 60)
    assert hall.manager.statistics()["waves_spreading"] == hall.manager.statistics()["stimuli_waiting"] == 0
    assert {one.sensor_id for one in hall.heard} == {*hall.ears}


@pytest.mark.parametrize(("name", "value", "message"), [
    ("shares", [0.5] * 11, "must be of passages out of its region"), ("to_meet", [900], "must hold ids of sensors"),
    ("tried", [[0, -1]], "must be at least 0")])
def test_damaged_waves_that_lack_rays_are_refused(name, value, message):
    hall = Hall(gradual=False)
    hall.ring("a", 3)
    state = hall.manager.save_state()
    state["signals"]["waves"][0][name] = value
    with pytest.raises(StateError, match=message):
        hall.manager.prepare_state(state)


def test_a_wave_meets_sensors_in_blocks_within_a_budget_of_time(monkeypatch):
    monkeypatch.setattr(sense_graph_waves, "WAYS_AT_ONCE", 4)
    world = GraphWorld(SenseGraph(ABC[:2], door("a", "b", (1, 0, 0), "hearing")), modalities=[hearing()],
                       seconds_per_frame=1 / 64)
    ears = [world.ear((2, 0, 0)) for _ in range(40)]
    world.manager.emit(world.source((0, 0, 0)), "hearing", 1.0)
    met = []
    for _ in range(60):
        reads = iter(range(0, 10**9, 20_000))
        world.tick(budget=Budget.of_time(300, lambda reads=reads: next(reads)))
        met.append(world.manager.statistics()["arrivals_under_way"])
        world.manager.prepare_state(json.loads(json.dumps(world.manager.save_state())))()
    assert [one.sensor_id for one in world.heard] == ears
    assert 0 < met[0] < met[1] < 40
