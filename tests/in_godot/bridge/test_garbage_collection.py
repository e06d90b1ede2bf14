"""Circles of objects are collected as characters leave, not in the middle of a game."""
from __future__ import annotations

import gc
import weakref

import pytest

from addons.ai_core.bridge.gd import construct
from addons.ai_core.nodes.scheduling import garbage_collection

FEW = 20


@pytest.fixture
def only_when_asked(monkeypatch):
    """Python looks for circles by itself no more, and a few characters that leave are enough for us."""
    monkeypatch.setattr(garbage_collection, "MAX_FREED", FEW)
    monkeypatch.setattr(garbage_collection, "MIN_FREED", FEW - 5)
    garbage_collection._collect()
    gc.disable()
    yield
    gc.enable()


class Circle:
    """Nobody holds it but itself, as with what a script of a character leaves behind."""

    def __init__(self):
        self.me = self


def circle():
    """A weak reference to one, dead once somebody has looked."""
    return weakref.ref(Circle())


def crowd(root, count):
    """A scene with an AIScheduler and characters, each with a state machine of one state."""
    scene = construct("Node3D")
    scene.add_child(construct("AIScheduler"))
    for _ in range(count):
        character, machine = construct("Node3D"), construct("StateMachine")
        machine.add_child(construct("AIState"))
        character.add_child(machine)
        scene.add_child(character)
    root.add_child(scene)
    return scene


def test_circles_are_collected_when_so_many_characters_have_left(root, frames, only_when_asked):
    scene, left = crowd(root, FEW + 1), circle()
    frames(2)
    for _ in range(FEW - 1):
        scene.get_child(1).free()
    assert left() is not None
    scene.get_child(1).free()
    assert left() is None
    scene.free()


@pytest.mark.parametrize(("count", "is_collected"), [(FEW - 5, True), (2, False)])
def test_cycles_are_collected_when_a_large_scene_ends(root, frames, only_when_asked, count, is_collected):
    scene, left = crowd(root, count), circle()
    frames(2)
    scene.free()
    assert (left() is None) == is_collected


def test_who_has_turns_more_or_less_often_has_not_left(root, frames, only_when_asked):
    scene, left = crowd(root, 1), circle()
    frames(2)
    machine = scene.get_child(1).get_child(0)
    for period in range(1, FEW + 5):
        machine.set("period", period)
    state = scene.get_child(0).call("save_state")
    assert scene.get_child(0).call("load_state", state)
    assert left() is not None
    scene.free()


def test_what_was_loaded_at_the_start_is_looked_at_no_more():
    assert gc.get_freeze_count() > 10_000


in_steps = pytest.mark.skipif(not gc.get_threshold()[2], reason="a Python that looks at old objects in steps")


@in_steps
def test_old_cycles_are_collected_when_memory_has_grown():
    garbage_collection._collect()
    circle = Circle()
    left = weakref.ref(circle)
    gc.collect(1)
    del circle
    gc.collect(1)
    assert left() is not None
    more = [[] for _ in range(2 * garbage_collection.GROWTH)]
    assert left() is None
    assert gc.get_threshold() == garbage_collection.SELDOM
    del more


@in_steps
def test_who_sets_thresholds_of_their_own_keeps_them():
    garbage_collection._collect()
    own = (1_000, 10, 10_000)
    gc.set_threshold(*own)
    more = [[] for _ in range(2 * garbage_collection.GROWTH)]
    assert gc.get_threshold() == own
    gc.set_threshold(*garbage_collection.SELDOM)
    del more
