"""What was accepted can be saved, and what was saved can be loaded: at places and numbers that no level has."""
from __future__ import annotations

import copy
from itertools import cycle

import pytest

from addons.ai_core.bridge.gd import Vector3
from tests.in_godot.saving.every_part import EveryPart


@pytest.fixture
def scene(gdscript, nodes_of_test, tmp_path):
    """``scene()``: an EveryPart in the tree that has lived a little; the one before is gone."""
    built = []

    def make():
        for one in built:
            one.top.free()
        built[:] = [EveryPart(gdscript, tmp_path)]
        nodes_of_test.keep(built[0].top, None)
        built[0].begin()
        built[0].live(20)
        return built[0]

    return make


@pytest.mark.parametrize("far", [2e9, 1e15, 1e30, 3.4028234e38])
@pytest.mark.parametrize("place", [(0, -1, 0), (1, 1, -1)])
def test_a_scene_at_extreme_positions_is_saved_and_loaded(scene, far, place):
    first = scene()
    first.put(*(far * one for one in place))
    first.live(5)
    states = first.save()
    assert all(states)
    second = scene()
    assert second.load(states) == [True, True]
    assert second.bodies[0].get("position") == first_place(states)
    second.live(5)


@pytest.mark.parametrize("scale", [(0, 0, 0), (1, 1, 0), (1e-30, 1, 1), (1, 1, 1e20), (3e38, 3e38, 3e38)])
def test_a_scene_at_extreme_scales_is_saved_and_loaded(scene, scale):
    first = scene()
    for body in first.bodies[:3]:               # the others are bodies, which physics refuses so
        body.set("scale", Vector3(*scale))
    first.live(31)
    states = first.save()
    assert all(states)
    assert scene().load(states) == [True, True]


LARGE = (1e6, 10**9, 2**31, 2**53, 2**63 - 1, 1e300, -1, -1e6, -(2**31), -1e12)

KNOWN_ELSEWHERE = ("version", "now", "steady_since", "period")
"""Versions, moments that all must be the same, and periods, which have limits and tests of their own."""


@pytest.mark.timeout(240)
def test_no_number_in_a_save_makes_loading_or_frames_slow(scene, expect_errors):
    one = scene()
    base = one.save()
    expect_errors("; nothing was changed")
    expect_errors("found no navigation map")
    taken = 0
    for path, number in zip(number_paths(base), cycle(LARGE)):
        states = copy.deepcopy(base)
        box = states
        for key in path[:-1]:
            box = box[key]
        box[path[-1]] = number
        if all(one.load(states)):
            taken += 1
            one.live(4)
            again = one.save()
            assert all(again), f"{path} = {number} was accepted and cannot be saved"
            assert one.load(again) == [True, True], f"{path} = {number} was accepted and saved, and is not loaded"
    assert taken > 80


def number_paths(data, path=(), seen=None):
    """Where numbers stand in plain data; only the first of those that differ in the index in a list alone."""
    seen = set() if seen is None else seen
    if type(data) in (dict, list):
        for key, value in data.items() if type(data) is dict else enumerate(data):
            if key not in KNOWN_ELSEWHERE:
                yield from number_paths(value, (*path, key), seen)
    elif type(data) in (int, float):
        shape = tuple("#" if type(key) is int else key for key in path[1:])
        if shape not in seen:
            seen.add(shape)
            yield path


def first_place(states):
    from addons.ai_core.bridge.gd import Vector3

    return Vector3(*states[0]["parts"]["node/../Villager"]["motion"]["transform"]["of"][9:])
