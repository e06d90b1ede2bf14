"""While a way is searched: bump and turn over grids and navigation maps, and ways drawn into a running game."""
from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Rect2i, Vector2, Vector2i, Vector3, construct

PLAIN, MEMORY, SHARED = 1, 2, 3
DOCUMENT = Path(__file__).parents[3] / "docs" / "godot" / "bump_and_turn.md"


@pytest.fixture
def scheduler(node):
    """One that has no time: tickets wait for ever."""
    return node("AIScheduler", budget=0.0)


@pytest.fixture
def pocket(node, scheduler):
    """A grid of 9 by 7 points of 10 px with a pocket that is open to the left, and a service that never searches."""
    grid = construct("AStarGrid2D")
    grid.region = Rect2i(0, 0, 9, 7)
    grid.cell_size = Vector2(10, 10)
    grid.update()
    for cell in [(4, 1), (5, 1), (6, 1), (6, 2), (6, 3), (6, 4), (6, 5), (5, 5), (4, 5)]:
        grid.set_point_solid(Vector2i(*cell))
    service = node("PathService", scheduler)
    service.set_grid_from(grid)
    return service


def held_up(service, start, goal):
    """A ticket whose search never gets a turn."""
    ticket = service.request_path(start, goal)
    service.service.advance = lambda budget: None
    return ticket


def walked(service, ticket, start, most=300, frames=None):
    places = [start]
    for _ in range(most):
        there = service.get_fallback_position(ticket, places[-1])
        if frames is not None:
            frames(1)
        if there == places[-1] and frames is None:
            break
        places.append(there)
    return places


def test_with_a_memory_it_comes_out_of_a_pocket(pocket):
    start, goal = Vector2(50, 30), Vector2(80, 30)
    places = walked(pocket, held_up(pocket, start, goal), start)
    assert places[-1] == goal
    assert all(math.dist(tuple(one), tuple(other)) < 15 for one, other in pairwise(places))


def test_plain_it_stays_in_the_pocket(pocket):
    pocket.fallback = PLAIN
    start = Vector2(50, 30)
    places = walked(pocket, held_up(pocket, start, Vector2(80, 30)), start)
    assert len(places) == 301
    assert max(one.x for one in places) < 60
    pocket.fallback = 0
    assert pocket.get_fallback_position(1, start) == start


def test_who_comes_later_knows_what_others_found_out(pocket, physics_frames):
    pocket.fallback = SHARED
    start, goal = Vector2(50, 30), Vector2(80, 30)
    ticket = held_up(pocket, start, goal)
    moves = []
    for _ in range(2):
        places = walked(pocket, ticket, start, 150, physics_frames)
        assert places[-1] == goal
        moves.append(sum(one != other for one, other in pairwise(places)))
        pocket._fallback._walkers.clear()
    assert moves[1] < moves[0]


def test_a_way_that_is_there_ends_it(pocket, physics_frames):
    start = Vector2(50, 30)
    ticket = pocket.request_path(start, Vector2(80, 30))
    assert pocket.get_fallback_position(ticket, start) != start
    physics_frames(3)
    assert pocket.get_state(ticket) == "found"
    assert pocket.get_fallback_position(ticket, start) == start


def test_a_wall_that_goes_up_is_noticed(pocket):
    pocket.fallback = SHARED
    ticket = held_up(pocket, Vector2(0, 0), Vector2(80, 0))
    pocket.get_fallback_position(ticket, Vector2(0, 0))
    pocket.set_walls([Vector2i(1, 0), Vector2i(0, 1), Vector2i(1, 1)], False)
    pocket.fallback = MEMORY
    assert pocket.get_fallback_position(ticket, Vector2(0, 0)) == Vector2(0, 0)


def test_over_a_navigation_map_it_walks_around_a_hole(node, scheduler, physics_frames):
    region, mesh = node("NavigationRegion3D", scheduler), construct("NavigationMesh")
    mesh.set_vertices([Vector3(x, 0, z) for z in (-10, -3, 3, 10) for x in (-10, -1, 1, 10)])
    for row in range(3):
        for column in range(3):
            if (row, column) != (1, 1):
                first = 4 * row + column
                mesh.add_polygon([first, first + 1, first + 5, first + 4])
    region.navigation_mesh = mesh
    service = node("PathService", scheduler)
    start, goal = Vector3(-5, 0, 0), Vector3(5, 0, 0)
    ticket = held_up(service, start, goal)
    for _ in range(50_000):
        if service._provider.is_ready:
            break
        physics_frames(1)
    places = walked(service, ticket, start)
    assert tuple(places[-1]) == pytest.approx((5, 0, 0), abs=0.01)
    assert not any(abs(one.x) < 0.9 and abs(one.z) < 2.9 for one in places)
    assert max(abs(one.z) for one in places) <= 10


def test_the_sample_moves_while_waiting_and_follows_its_path(pocket, gdscript, physics_frames):
    sample, = re.findall(r"```gdscript\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    walker = gdscript(sample).new()
    walker.set("paths", pocket)
    pocket.get_parent().add_child(walker)
    walker.position = Vector2(50, 30)
    advance = pocket.service.advance
    pocket.service.advance = lambda budget: None
    walker.call("go_to", Vector2(80, 30))
    for _ in range(200):
        walker.call("_physics_process", 0.1)
    assert walker.position != Vector2(50, 30)
    pocket.service.advance = advance
    physics_frames(3)
    for _ in range(400):
        walker.call("_physics_process", 0.1)
        physics_frames(1)
    assert tuple(walker.position) == pytest.approx((80, 30), abs=1)


def test_unknown_tickets_and_invalid_positions_are_clear_errors(pocket, expect_errors):
    expect_errors("get_fallback_position: unknown ticket id 7", times=1)
    pocket.call("get_fallback_position", 7, Vector2())
    ticket = held_up(pocket, Vector2(0, 0), Vector2(80, 0))
    expect_errors("position must be a Vector2, got", times=1)
    pocket.call("get_fallback_position", ticket, Vector3())


def test_a_running_game_shows_ways_on_request(node, scheduler, physics_frames):
    region, mesh = node("NavigationRegion3D", scheduler), construct("NavigationMesh")
    mesh.set_vertices([Vector3(-10, 0, -10), Vector3(10, 0, -10), Vector3(10, 0, 10), Vector3(-10, 0, 10)])
    mesh.add_polygon([0, 1, 2, 3])
    region.navigation_mesh = mesh
    service = node("PathService", scheduler, show_in_game=True)
    children = service.get_child_count(True)
    ticket = service.request_path(Vector3(-5, 0, 0), Vector3(5, 0, 0))
    physics_frames(1)
    picture = service.get_children(True)[-1]
    assert service.get_child_count(True) == children + 1
    assert picture.get_class() == "MeshInstance3D"
    for _ in range(50_000):
        if service.get_state(ticket) == "found":
            break
        physics_frames(1)
    physics_frames(1)
    assert np.ravel(tuple(picture.get_aabb()))[3] == pytest.approx(10, abs=0.5)
    service.release(ticket)
    physics_frames(1)
    assert np.ravel(tuple(picture.get_aabb()))[3] == 0
    service.show_in_game = False
    physics_frames(2)
    assert not picture.is_valid()


def test_in_two_dimensions_ways_are_drawn_on_a_canvas(pocket, physics_frames):
    pocket.show_in_game = True
    pocket.request_path(Vector2(0, 0), Vector2(80, 0))
    physics_frames(3)
    assert pocket.get_children(True)[-1].get_class() == "Node2D"


@pytest.mark.parametrize("kind", [MEMORY, SHARED])
def test_fallback_steering_continues_after_loading(pocket, node, scheduler, physics_frames, kind):
    pocket.fallback = kind
    start, goal = Vector2(50, 30), Vector2(80, 30)
    ticket = held_up(pocket, start, goal)
    first = walked(pocket, ticket, start, 6, physics_frames)
    state = json.loads(json.dumps(pocket.save_state()))
    there = walked(pocket, ticket, first[-1], 150, physics_frames)
    fresh = node("PathService", scheduler, fallback=kind)
    fresh.set_grid_from(pocket._given)
    fresh.service.advance = lambda budget: None
    assert fresh.load_state(state)
    again = walked(fresh, ticket, first[-1], 150, physics_frames)
    assert again == there
    assert there[-1] == goal

    other = node("PathService", scheduler, fallback=PLAIN)
    other.set_grid_from(pocket._given)
    assert other.load_state(state)              # what was remembered in another way is forgotten
    assert other._fallback._walkers == {}


def test_memories_that_cannot_be_right_are_refused(pocket, expect_errors):
    ticket = held_up(pocket, Vector2(50, 30), Vector2(80, 30))
    pocket.get_fallback_position(ticket, Vector2(50, 30))
    state = json.loads(json.dumps(pocket.save_state()))
    for spoil, complaint in (
        (lambda one: one["walkers"][0][1]["walker"].update(at=63), "must hold positions up to 62, got 63"),
        (lambda one: one.update(explored={"version": 1, "known": [[1, [99]]], "reports": []}), "up to 62, got 99"),
    ):
        copy = json.loads(json.dumps(state))
        spoil(copy["parts"]["node"]["state"]["fallback"])
        expect_errors(complaint, times=1)
        assert not pocket.call("load_state", copy)
    assert pocket.save_state() == state
