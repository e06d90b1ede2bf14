"""What many sensors know of targets, watched in one pass: the numbers of the views of memory and awareness."""
from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory, TargetReport
from ai_core.senses.percepts.percept_loops import WatchedTarget
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


def watched(sensor, target, **fields):
    one = WatchedTarget()
    one.sensor_id, one.target = sensor, target
    for name, value in fields.items():
        setattr(one, name, value)
    return one


def state_of(one):
    """What is watched as ``viewed`` returns it."""
    return (one.is_noticed, one.is_in_view, one.awareness, one.level, one.x, one.y, one.z) if one.is_known else None


def update(world, targets, *, places=None, find=lambda _: ("place", "character"), modality_name="sight"):
    return world.manager.update_watched(targets, {} if places is None else places, find, modality_name)


def test_states_are_those_of_the_views_through_a_life(world):
    eyes = [
        world.eye((k, 0, 0), memory=SenseMemory(lose_after_s=0.3, max_age_s=1.0), awareness=AwarenessSettings())
        for k in range(3)]
    things = [world.thing((0, 0, -3.0 - k)) for k in range(2)]
    pairs, seen = [(eye, thing) for eye in eyes for thing in things], set()
    kept = [watched(*pair, character="character", place="place") for pair in pairs]
    readers = [watched(*pair, character="character", place="place", reader=pair) for pair in pairs]
    for frame in range(30):
        if frame == 8:
            world.manager.move_sources(things, [(900, 0, 0)] * 2)
        if frame == 14:
            world.manager.emit(things[0], "hearing", 9.0, (0, 0, -2))
        world.tick()
        fresh = [watched(*pair) for pair in pairs]
        assert update(world, fresh) == (fresh, [], [], [], [])
        states = [viewed(world, *pair) for pair in pairs]
        assert [state_of(one) for one in fresh] == states
        before = [state_of(one) for one in kept]
        changed, *told = update(world, kept)
        assert told == [[], [], [], []], "without a reader, everything is a change"
        for one, was, state in zip(kept, before, states, strict=True):
            in_view = state is not None and state[1]
            assert state_of(one) == state
            seen_part = slice(0, 4 if in_view else 7)
            is_new = frame == 0 or state is None or was is None or was[seen_part] != state[seen_part]
            assert (one in changed) == is_new
        changed, aware, awareness, moved, _ = update(world, readers)
        assert moved == []
        assert not {one.reader for one in changed} & set(aware)
        assert awareness == [viewed(world, *pair)[2] for pair in aware]
        seen |= {state if state is None else state[:2] for state in states}
    assert seen == {(True, True), (True, False), (False, False), None}


def test_shared_memory_is_read_with_own_awareness(world):
    memory = SenseMemory()
    near = world.eye((0, 0, 0), memory=memory, awareness=AwarenessSettings())
    far = world.eye((500, 0, 0), memory=memory, awareness=AwarenessSettings())
    thing = world.thing((0, 0, -3))
    world.tick(3)
    both = [watched(near, thing), watched(far, thing)]
    update(world, both)
    assert [state_of(one) for one in both] == [viewed(world, near, thing), viewed(world, far, thing)]
    assert [one.is_in_view for one in both] == [True, False]


def test_unknown_pairs_are_not_known_unknown_senses_raise(world):
    eye = world.eye((0, 0, 0), memory=SenseMemory(), awareness=AwarenessSettings())
    thing = world.thing((0, 0, -3))
    world.tick(2)
    unknown = [watched(*pair) for pair in [(eye, 7), (eye + 1, thing), (eye, -1), (-1, thing)]]
    known = watched(eye, thing)
    assert update(world, [*unknown, known])[0] == [*unknown, known]
    assert [one.is_known for one in (*unknown, known)] == [False] * 4 + [True]
    world.manager.remove_sensor(eye)
    assert update(world, [known])[0] == [known]
    assert not known.is_known
    with pytest.raises(UnknownNameError, match="sigth"):
        update(world, [], modality_name="sigth")


def test_what_moves_in_view_is_handed_to_its_reader(world):
    eye = world.eye((0, 0, 0), memory=SenseMemory(lose_after_s=9.0), awareness=AwarenessSettings(gain_per_s=50.0))
    thing = world.thing((0, 0, -3))
    world.tick(9)
    one = watched(eye, thing, reader="board", character="guard", known_at="before")
    assert update(world, [one])[0] == [one], "new ones are changed once"
    assert update(world, [one], find=lambda _: ((1, 2), "guard")) == ([], [], [], ["board"], [(1, 2)])
    assert one.place == (1, 2)
    assert one.known_at is None
    assert update(world, [one], find=lambda _: ((1, 2), "guard")) == ([], [], [], [], [])
    places = {}
    update(world, [one, watched(eye, thing)], places=places, find=lambda _: ((1, 2), "guard"))
    assert places == {thing: ((1, 2), "guard")}
    assert update(world, [one], find=lambda _: ((1, 2), "thief"))[0] == [one], "another character"
    assert update(world, [one], find=lambda _: (None, None))[0] == [one], "its node has left"
    one.reader = None
    assert update(world, [one], find=lambda _: ((1, 3), "guard"))[0] == [one]
    one.place, one.reader = (1, 3), "board"
    world.manager.move_sources([thing], [(900, 0, 0)])
    world.tick()
    assert update(world, [one])[0] == [one]
    assert not one.is_in_view
    assert update(world, [one])[0] == []
    report = TargetReport(thing, (0.0, 0.0, -1.0), (0.0, 0.0, 0.0), 1.0, world.clock.now.seconds)
    world.manager.memory_of(eye).hear_report(report)
    assert update(world, [one])[0] == [one]
    assert (one.x, one.y, one.z) == (0, 0, -1)


@pytest.mark.parametrize(("period", "chooses_every", "turns"), [(1, 8, [5, 13]), (4, 2, [0, 5, 6, 7, 8, 13, 14, 15])])
def test_who_has_a_choice_is_listed_in_its_turns(world, period, chooses_every, turns):
    eye = world.eye((0, 0, 0), memory=SenseMemory(), awareness=AwarenessSettings(gain_per_s=50.0))
    thing = world.thing((0, 0, -3))
    world.tick(30)
    one = watched(
        eye, thing, reader="board", character="guard", place=1, has_choice=True, phase=-world.clock.now.frame % 16 + 2,
        period=period, chooses_every=chooses_every)
    update(world, [one])
    listed = []
    for number in range(16):
        world.tick()
        if update(world, [one], find=lambda _: (1, "guard"))[0]:
            listed.append(number)
    assert listed == turns


def test_a_turn_by_awareness_lists_what_another_target_precedes(world):
    eye = world.eye((0, 0, 0), memory=SenseMemory(), awareness=AwarenessSettings(gain_per_s=0.1))
    thing = world.thing((0, 0, -6))
    world.tick(5)
    one = watched(eye, thing, reader="board", character="guard", place=1, has_choice=True, by_awareness=True)
    update(world, [one])
    nearer = world.thing((0, 0, -1))
    listed = []
    for number in range(60):
        if number == 20:
            world.manager.move_sources([thing], [(900, 0, 0)])
        world.tick()
        precedes, before = world.manager.first_target(eye, present=thing) == nearer, state_of(one)
        changed, _, _, _, _ = update(world, [one], find=lambda _: (1, "guard"))
        after = state_of(one)
        is_new = before[:2] != after[:2] or before[3] != after[3] or (before[4:] != after[4:] and not one.is_in_view)
        assert bool(changed) == (precedes or is_new), number
        listed.append((precedes, is_new))
    assert {(False, False), (False, True), (True, False)} <= set(listed)


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
        noticed, _, awareness, _, *place = viewed(world, eye, target)
        rank = awareness if here is None else -math.dist(here, place) * (0.9 if target == present else 1.0)
        ranks.append((noticed, rank, target == present, -target))
    found = world.manager.first_target(eye, present=present, here=here, nearer=0.9)
    assert found == (-max(ranks)[3] if ranks else -1)
    with pytest.raises(UnknownNameError, match="unknown sensor"):
        world.manager.first_target(eye + 99)
