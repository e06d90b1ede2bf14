"""What many sensors know of targets, in one query: the numbers of the views of memory and awareness."""
from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory, TargetReport
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


def test_states_that_are_still_true_are_returned_themselves(world):
    eye = world.eye((0, 0, 0), memory=SenseMemory(lose_after_s=9.0), awareness=AwarenessSettings(gain_per_s=50.0))
    thing = world.thing((0, 0, -3))
    world.tick(9)
    before = world.manager.states_of([(eye, thing), (eye, -1)])
    world.manager.move_sources([thing], [(0, 0, -4)])
    world.tick(3)
    again = world.manager.states_of([(eye, thing), (eye, -1)], before=before)
    assert again[0] is before[0], "the position in view does not count"
    assert again[1] is None
    assert world.manager.states_of([(eye, thing)])[0][6] == -4
    world.manager.move_sources([thing], [(900, 0, 0)])
    world.tick()
    hidden = world.manager.states_of([(eye, thing)], before=before[:1])
    assert hidden[0][:2] == (True, False)
    report = TargetReport(thing, (0.0, 0.0, -1.0), (0.0, 0.0, 0.0), 1.0, world.clock.now.seconds)
    world.manager.memory_of(eye).hear_report(report)
    assert world.manager.states_of([(eye, thing)], before=hidden)[0][4:] == (0, 0, -1)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 30)), min_size=1, max_size=4), st.booleans(), st.data())
def test_first_target_is_that_of_the_textbook_order(places, by_distance, data):
    world = World(modalities=[Modality.sight(), hearing()])
    eye = world.eye((0, 0, 0), memory=SenseMemory(lose_after_s=0.2), awareness=AwarenessSettings(gain_per_s=0.5))
    things = []
    for x, ticks in places:
        things.append(world.thing((x, 0, -2.0 - abs(x))))
        world.tick(1 + ticks % 3)
        if ticks > 20:
            world.manager.move_sources([things[-1]], [(900, 0, 0)])
    world.tick(8)
    present = data.draw(st.sampled_from([-1, *things]))
    here = (1.0, 0.0, 0.0) if by_distance else None
    memory, ranks = world.manager.memory_of(eye), []
    for target in memory.targets:
        noticed, _, awareness, _, *place = world.manager.states_of([(eye, target)])[0]
        rank = awareness if here is None else -math.dist(here, place) * (0.9 if target == present else 1.0)
        ranks.append((noticed, rank, target == present, -target))
    found = world.manager.first_target(eye, present=present, here=here, nearer=0.9)
    assert found == (-max(ranks)[3] if ranks else -1)
    assert world.manager.first_target(eye + 99) == -1
