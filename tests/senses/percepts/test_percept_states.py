"""What many sensors know of targets, in one query: the numbers of the views of memory and awareness."""
from __future__ import annotations

import pytest

from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from tests.senses.worlds import World, hearing


@pytest.fixture
def world():
    return World(modalities=[Modality.sight(), hearing()])


def viewed(world, sensor, target):
    """The same numbers by the views."""
    one, meter = world.manager.memory_of(sensor).find(target), world.manager.awareness_of(sensor, target)
    if one is None:
        return None
    value, level = (0.0, 0) if meter is None else (meter.value, meter.level)
    is_in_view = one.is_noticed and target in world.manager.sensed_by(sensor)
    return (one.is_noticed, is_in_view, value, level, *one.last_known_position)


def test_states_are_those_of_the_views_through_a_life(world):
    eyes = [
        world.eye((k, 0, 0), memory=SenseMemory(lose_after_s=0.3, max_age_s=1.0), awareness=AwarenessSettings())
        for k in range(3)]
    things = [world.thing((0, 0, -3.0 - k)) for k in range(2)]
    pairs, seen = [(eye, thing) for eye in eyes for thing in things], set()
    for frame in range(30):
        if frame == 8:
            world.manager.move_sources(things, [(900, 0, 0)] * 2)
        if frame == 14:
            world.manager.emit(things[0], "hearing", 9.0, (0, 0, -2))
        world.tick()
        states = world.manager.states_of(pairs)
        assert states == [viewed(world, *pair) for pair in pairs]
        seen |= {state if state is None else state[:2] for state in states}
    assert seen == {(True, True), (True, False), (False, False), None}


def test_shared_memory_is_read_with_own_awareness(world):
    memory = SenseMemory()
    near = world.eye((0, 0, 0), memory=memory, awareness=AwarenessSettings())
    far = world.eye((500, 0, 0), memory=memory, awareness=AwarenessSettings())
    thing = world.thing((0, 0, -3))
    world.tick(3)
    states = world.manager.states_of([(near, thing), (far, thing)])
    assert states == [viewed(world, near, thing), viewed(world, far, thing)]
    assert [state[1] for state in states] == [True, False]


def test_unknown_pairs_have_no_state_unknown_senses_raise(world):
    eye = world.eye((0, 0, 0), memory=SenseMemory(), awareness=AwarenessSettings())
    thing = world.thing((0, 0, -3))
    world.tick(2)
    assert world.manager.states_of([(eye, 7), (eye + 1, thing), (eye, -1), (-1, thing)]) == [None] * 4
    world.manager.remove_sensor(eye)
    assert world.manager.states_of([(eye, thing)]) == [None]
    with pytest.raises(UnknownNameError, match="sigth"):
        world.manager.states_of([], "sigth")
