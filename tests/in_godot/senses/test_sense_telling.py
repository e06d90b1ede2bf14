"""Sensors that are told something together emit one after the other, whatever those do who are told."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, emit_each, with_connections


@pytest.fixture
def manager(node, scheduler):
    return node("SenseManager", scheduler)


@pytest.fixture
def crowd(manager, node, scheduler):
    """Five who see the same thing, which is reported every quarter of a second."""
    thing = node("SenseSource3D", scheduler, position=Vector3(0, 0, -5))
    return [node("Sensor3D", scheduler, position=Vector3(k / 10, 0, 0)) for k in range(5)], thing


def test_all_observers_are_notified_in_joining_order(crowd, scheduler, physics_frames):
    eyes, thing = crowd
    told = []
    for number, eye in enumerate(eyes):
        eye.connect("sensed", lambda *what, number=number: told.append((number, *what)))
    physics_frames(2)
    assert [number for number, *_ in told] == [0, 1, 2, 3, 4]
    told.clear()
    physics_frames(30)
    assert sorted({number for number, *_ in told}) == [0, 1, 2, 3, 4]
    assert {tuple(what) for _, *what in told} == {(thing, "sight", 1.0, Vector3(0, 0, -5), thing.get_parent())}


def test_who_is_told_may_free_other_sensors_and_the_source(crowd, physics_frames):
    eyes, thing = crowd
    told = []

    def free_the_others(*_):
        told.append("first")
        for one in (eyes[2], eyes[3], thing):
            if one.is_valid():
                one.free()

    physics_frames(3)      # all have noticed it: from now on they are told together
    eyes[1].connect("sensed", free_the_others)
    eyes[3].connect("sensed", lambda *_: told.append("freed"))
    eyes[4].connect("sensed", lambda source, *_: told.append(source))
    physics_frames(40)
    assert "freed" not in told
    assert told[0] in ("first", thing)
    assert set(told[1:]) <= {"first", None}


def test_the_last_sensation_is_known_without_listeners(crowd, physics_frames):
    eyes, thing = crowd
    physics_frames(40)
    last = eyes[4].get_last_sensation()
    assert (last["source"], last["modality"], last["position"]) == (thing, "sight", Vector3(0, 0, -5))


def test_a_batch_is_emitted_in_order_without_freed_objects(manager, node, scheduler):
    told = []
    one, two, three = (node("Sensor3D", scheduler) for _ in range(3))
    for name, each in (("one", one), ("two", two), ("three", three)):
        each.connect("sensed", lambda *what, name=name: told.append((name, *what)))
    two.free()
    rows = [(one, "a", ..., Vector3(1, 2, 3)), (None, "b", ..., Vector3(0, 0, 0))]
    tell = [three, None, two, one], rows, [1, 0, 0, 0], [0.5, 1.0, 2.0, 3.0]
    assert with_connections("sensed", [three, None, two, one, node("Sensor3D")]) == [0, 3]
    assert emit_each("sensed", *tell) == 1       # who was told is Python: look whether the others are still to be told
    assert emit_each("sensed", *tell, 1) == 4
    assert told == [("three", None, "b", 0.5, Vector3(0, 0, 0)), ("one", one, "a", 3.0, Vector3(1, 2, 3))]


@pytest.mark.parametrize(("rows", "which", "numbers", "error"), [
    ([("a",)], [0], [], ValueError), ([("a",)], [1], [0.0], IndexError), ([("a",), ()], [0], [0.0], ValueError),
    ([tuple("abcdefghi")], [0], [0.0], ValueError),
])
def test_a_batch_that_does_not_fit_is_refused(node, rows, which, numbers, error):
    with pytest.raises(error):
        emit_each("sensed", [node("Node")], rows, which, numbers)


def test_a_batch_is_of_objects(node):
    with pytest.raises(TypeError):
        emit_each("sensed", ["no object"], [("a",)], [0], [0.0])
