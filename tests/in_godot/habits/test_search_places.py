"""Where a HabitSearch looks: at spots of a CoverMap, and where a layer of a DecisionMap is high."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import NodePath, Vector2, Vector3, construct
from tests.in_godot.maps.cover_yard import Yard


@pytest.fixture
def searcher(node, scheduler, physics_frames):
    """``searcher(**settings)``: searches around (0, 0, 2); the return value gives the places at which it looked."""

    def made(*, name="Cover", **settings):
        actor = node("Node3D", scheduler, position=Vector3(0, 0, 2))
        tree, search = construct("HabitTree"), construct("HabitSearch")
        tree.set("values", {"place": Vector3(0, 0, 2)})
        for key, value in {"target_key": "place", "places_from": NodePath(f"../../../{name}"), "speed": 50.0,
                           "look_time": 0.05, "places": 3, "radius": 6.0, "clears_value": False, "cooldown": 99.0,
                           **settings}.items():
            search.set(key, value)
        tree.add_child(search)
        actor.add_child(tree)
        places = []
        for _ in range(200):
            before = actor.position
            physics_frames(1)
            if actor.position == before and (not places or (places[-1] - before).length() > 0.1):
                places.append(before)
        return places

    return made


def test_a_searched_value_of_the_inspector_is_cleared(node, scheduler, physics_frames, signals):
    tree, search = construct("HabitTree"), construct("HabitSearch")
    tree.set("values", {"noise_at": Vector3(3, 0, 0)})
    for key, value in {"target_key": "noise_at", "condition": "noise_at != null", "places": 1, "look_time": 0.0,
                       "speed": 50.0}.items():
        search.set(key, value)
    tree.add_child(search)
    ends = signals(search, "exited")
    node("Node3D", scheduler).add_child(tree)
    physics_frames(60)
    assert (ends, tree.get_value("noise_at")) == ([(1,)], None)
    state = scheduler.save_state()
    tree.set_value("noise_at", Vector3(0, 0, 0))
    assert scheduler.load_state(state)
    assert tree.get_value("noise_at") is None
    tree.set_value("noise_at", Vector3(0, 0, 0))
    physics_frames(60)
    assert ends == [(1,)] * 2


def test_search_visits_the_nearest_cover(node, scheduler, physics_frames, searcher):
    cover = Yard(node, scheduler, physics_frames).cover()
    spots = sorted((cover.get_place(one) for one in cover.get_spots()), key=lambda at: math.hypot(at.x, at.z - 2))
    visited = searcher()
    assert len(visited) == 4
    for place, spot in zip(visited[1:], spots[:3], strict=True):
        assert math.hypot(place.x - spot.x, place.z - spot.z) < 0.6


def test_search_visits_high_values_of_a_layer(node, scheduler, physics_frames, searcher):
    layer = construct("DecisionLayer")
    layer.set("layer_name", "hiding")
    maps = node("DecisionMap", scheduler, name="Maps", layers=[layer], corner=Vector2(-8, -8), size=Vector2(16, 16),
                cell_size=2.0, update_interval=0.0)
    maps.write_circle("hiding", Vector3(5, 0, 2), 3.0, 1.0)
    physics_frames(2)
    visited = searcher(name="Maps", layer="hiding")
    assert len(visited) == 4
    assert all(place.x > 1 for place in visited[1:])


def test_too_few_spots_are_filled_with_places_around(node, scheduler, physics_frames, searcher, expect_errors):
    expect_errors("cannot bake")
    node("CoverMap", scheduler, name="Cover")
    visited = searcher()
    assert len(visited) == 4
    assert max(math.hypot(place.x, place.z - 2) for place in visited) == pytest.approx(6, abs=0.6)


def test_decision_map_without_a_layer_is_an_error(node, scheduler, physics_frames, searcher, expect_errors):
    expect_errors("layer is empty; name a layer of the DecisionMap '../../../Maps'")
    node("DecisionMap", scheduler, name="Maps", corner=Vector2(-8, -8), size=Vector2(16, 16))
    searcher(name="Maps")
