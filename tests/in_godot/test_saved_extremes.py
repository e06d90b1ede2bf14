"""What was accepted can be saved, and what was saved can be loaded: at places and numbers that no level has."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3
from tests.in_godot.every_part import EveryPart


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
def test_a_scene_with_everything_at_an_extreme_place_is_saved_and_loaded(scene, far, place):
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
def test_a_scene_with_everything_at_an_extreme_scale_is_saved_and_loaded(scene, scale):
    first = scene()
    for body in first.bodies[:3]:               # the others are bodies, which physics refuses so
        body.set("scale", Vector3(*scale))
    first.live(31)
    states = first.save()
    assert all(states)
    assert scene().load(states) == [True, True]


def first_place(states):
    from addons.ai_core.bridge.gd import Vector3

    return Vector3(*states[0]["parts"]["node/../Villager"]["motion"]["transform"]["of"][9:])
