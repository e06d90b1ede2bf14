"""Goals that a squad cannot reach: walls without a door, and walls that close or open during the march."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton
from tests.in_godot.squads.squad_world import character, places, until

pytestmark = pytest.mark.in_its_own_world

WALL_M = 0.9
"""Half the width of the wall and the rim of the map beside it."""


def ground(is_open):
    """A floor of 40 by 8 m, with a wall across it at x = 0, which has a door of 2 m if it is open."""
    mesh = construct("NavigationMesh")
    xs, zs = (-20.0, -WALL_M, WALL_M, 20.0), (-4.0, -1.0, 1.0, 4.0)
    mesh.set_vertices([Vector3(x, 0, z) for z in zs for x in xs])
    for row in range(3):
        for column in range(3):
            if column != 1 or (is_open and row == 1):
                first = 4 * row + column
                mesh.add_polygon([first, first + 1, first + 5, first + 4])
    return mesh


@pytest.fixture
def region(node, world):
    made = node("NavigationRegion3D", world)
    made.navigation_mesh = ground(is_open=True)
    return made


@pytest.fixture
def service(node, scheduler):
    return node("PathService", scheduler)


@pytest.fixture
def squad(node, world, scheduler, region, service, physics_frames):
    made = node("Squad", scheduler, think_period=6, paths=service.get_path())
    for number in range(3):
        character(node, world, Vector3(-8, 0, number - 1), squad_path=made.get_path())
    await_map(region, physics_frames, is_open=True)
    return made


@pytest.fixture
def told(squad, signals):
    return signals(squad, "order_done"), signals(squad, "order_failed")


def await_map(region, physics_frames, *, is_open):
    """Wait for the map, which is made on a thread; a mesh that is set before may be lost."""
    server, on, door = singleton("NavigationServer3D"), region.get_navigation_map(), Vector3(0, 0, 0)
    until(lambda: server.map_get_iteration_id(on) and int(server.map_get_closest_point_owner(on, door)) and
          (abs(server.map_get_closest_point(on, door).x) < 0.1) == is_open, physics_frames, most=100_000)


def builds(region, squad, physics_frames, *, is_open):
    region.navigation_mesh = ground(is_open)
    await_map(region, physics_frames, is_open=is_open)
    squad.ground_changed()


def commander_place(squad):
    return tuple(squad.get_commander().get_character().get_global_position())


def test_no_path_to_the_goal_fails_at_the_nearest_place(region, squad, told, physics_frames):
    builds(region, squad, physics_frames, is_open=False)
    number = squad.move_to(Vector3(10, 0, 0))
    until(lambda: squad.get_order_state() == "marching", physics_frames)
    why = "no path leads to (10, 0, 0), only as near as (-0.9, 0, 0)"
    assert squad.get_order()["why"] == why
    until(squad.is_idle, physics_frames)
    assert told == ([], [(number, why)])
    assert squad.get_order()["state"] == "failed"
    assert commander_place(squad) == pytest.approx((-WALL_M, 0, 0), abs=0.4)


def test_without_partial_paths_an_order_fails_at_once(region, service, squad, told, physics_frames):
    service.partial_paths = False
    builds(region, squad, physics_frames, is_open=False)
    number = squad.move_to(Vector3(10, 0, 0))
    until(squad.is_idle, physics_frames)
    assert told == ([], [(number, "the PathService reports: no path leads to the goal")])
    assert places(squad)[:, 0].max() < -6


def test_a_door_that_closes_on_the_way_fails_the_order(region, squad, told, physics_frames):
    squad.move_to(Vector3(10, 0, 0))
    until(lambda: places(squad)[:, 0].max() > -4, physics_frames)
    builds(region, squad, physics_frames, is_open=False)
    until(squad.is_idle, physics_frames, most=400)
    assert squad.get_stats()["paths_requested"] == 2
    assert [len(one) for one in told] == [0, 1]
    assert places(squad)[:, 0].max() < 0


def test_a_door_that_opens_on_the_way_is_gone_through(region, squad, told, physics_frames):
    builds(region, squad, physics_frames, is_open=False)
    number = squad.move_to(Vector3(10, 0, 0))
    until(lambda: places(squad)[:, 0].max() > -4, physics_frames)
    assert squad.get_order()["why"]
    builds(region, squad, physics_frames, is_open=True)
    until(squad.is_idle, physics_frames)
    assert told == ([(number,)], [])
    assert squad.get_order()["why"] == ""
    assert commander_place(squad) == pytest.approx((10, 0, 0), abs=0.4)


def test_ground_that_changes_again_and_again_stops_nobody(squad, told, physics_frames):
    number = squad.move_to(Vector3(10, 0, 0))

    def is_there():
        squad.ground_changed()
        return squad.is_idle()

    until(is_there, physics_frames, most=800)
    assert told == ([(number,)], [])


@pytest.fixture
def walled(node, world, scheduler):
    """Two bodies of a squad that walks straight, in front of a wall that no map knows."""
    squad = node("Squad", scheduler, think_period=6, keep_clear=1, patience=1.0)
    for size, place in (Vector3(60, 1, 60), Vector3(0, -0.5, 0)), (Vector3(1, 3, 60), Vector3(0, 1.5, 0)):
        shape = node("CollisionShape3D", node("StaticBody3D", world, position=place))
        shape.shape = construct("BoxShape3D")
        shape.shape.size = size
    for number in range(2):
        character(node, world, Vector3(-4, 1, number - 0.5), "CharacterBody3D", squad_path=squad.get_path())
    return squad


def test_an_order_fails_when_no_member_comes_any_nearer(walled, signals, physics_frames):
    done, failed = signals(walled, "order_done"), signals(walled, "order_failed")
    number = walled.move_to(Vector3(200, 0, 0))
    until(walled.is_idle, physics_frames, most=1200)
    assert done == []
    assert failed == [(number, "no member comes nearer to its slot; stragglers: all 2")]
    assert np.isfinite(walled.get_stats()["farthest_from_slot"])
