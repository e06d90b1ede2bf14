"""PathService: ways by ticket over the navigation map and grids of a scene."""
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Rect2i, Vector2, Vector2i, Vector3, Vector3i, construct, singleton
from addons.ai_core.nodes.paths import path_service
from addons.ai_core.nodes.paths.navigation_path_provider import MOST_REFUSALS, NavigationPathProvider
from addons.ai_core.nodes.paths.path_service import PathService
from ai_core.budget import Budget

DOCUMENT = Path(__file__).parents[3] / "docs" / "godot" / "paths.md"


@pytest.fixture
def scheduler(node, world):
    return node("AIScheduler", world, budget=0.0)


@pytest.fixture
def service(node, scheduler):
    return node("PathService", scheduler)


@pytest.fixture
def floor(node, world):
    """A navigation mesh with a hole: the way from left to right leads past it."""
    region, mesh = node("NavigationRegion3D", world), construct("NavigationMesh")
    mesh.set_vertices([Vector3(x, 0, z) for z in (-10, -6, 6, 10) for x in (-10, -1, 1, 10)])
    for row in range(3):
        for column in range(3):
            if (row, column) != (1, 1):
                first = 4 * row + column
                mesh.add_polygon([first, first + 1, first + 5, first + 4])
    region.navigation_mesh = mesh
    return region


@pytest.fixture
def told(service, signals):
    return signals(service, "path_ready"), signals(service, "path_failed")


def until_over(service, ticket, physics_frames):
    for _ in range(100_000):     # frames take microseconds here; maps are built in real time
        if service.get_state(ticket) not in ("waiting", "running"):
            return service.get_state(ticket)
        physics_frames(1)
    raise AssertionError("nothing came of it")


def test_a_request_waits_for_the_map_and_avoids_the_hole(service, floor, told, physics_frames):
    ticket = service.request_path(Vector3(-5, 0, 0), Vector3(5, 0, 0))
    assert ticket > 0
    assert service.check_path(ticket).shape == (0, 3)
    assert until_over(service, ticket, physics_frames) == "found"
    path = service.check_path(ticket)
    assert path[0] == pytest.approx((-5, 0, 0), abs=0.3)
    assert path[-1] == pytest.approx((5, 0, 0), abs=0.3)
    assert np.abs(path[:, 2]).max() >= 5.9
    ready, failed = told
    assert [number for number, _ in ready] == [ticket]
    assert (ready[0][1] == path).all()
    assert failed == []


def test_equal_requests_are_one_query_and_later_ones_none(service, floor, told, physics_frames):
    tickets = [service.request_path(Vector3(-5, 0, 0), Vector3(5, 0, z)) for _ in range(20) for z in (0, 1)]
    until_over(service, tickets[-1], physics_frames)
    late = service.request_path(Vector3(-5, 0, 0), Vector3(5, 0, 1))
    near = service.request_path(Vector3(-5, 0, 0.25), Vector3(5, 0, 1), 1.0, 0.5)
    assert service.get_state(late) == "found"
    assert (service.check_path(near) == service.check_path(late)).all()
    assert [number for number, _ in told[0]] == sorted(tickets, key=lambda one: (one % 2 == 0, one))
    physics_frames(1)
    assert [number for number, _ in told[0]][-2:] == [late, near]
    stats = service.get_stats()
    assert (stats["requests"], stats["searches"], stats["tickets"]) == (42, 2, 42)


def test_a_goal_off_the_map_gets_a_partial_way(service, floor, told, physics_frames):
    ticket = service.request_path(Vector3(-5, 0, 0), Vector3(50, 0, 0))
    assert until_over(service, ticket, physics_frames) == "partial"
    assert service.check_path(ticket)[-1][0] == pytest.approx(10, abs=0.3)
    assert [number for number, _ in told[0]] == [ticket]
    service.partial_paths = False
    whole = service.request_path(Vector3(-5, 0, 0), Vector3(50, 0, 0))
    assert until_over(service, whole, physics_frames) == "none"
    assert told[1] == [(whole, "no path leads to the goal")]
    assert service.check_path(whole).shape == (0, 3)
    assert service.get_state(ticket) == "partial"
    counts = service.get_stats()
    assert (counts["found"], counts["partial"], counts["no_path"]) == (0, 0, 1)


def test_without_a_map_it_says_so_once_and_requests_fail(service, told, physics_frames, expect_errors):
    expect_errors("found no navigation map for 120 frames; add a NavigationRegion3D", times=1)
    first = service.request_path(Vector3(), Vector3(1, 0, 0))
    physics_frames(100)
    assert service.get_state(first) == "waiting"
    assert until_over(service, first, physics_frames) == "none"
    second = service.request_path(Vector3(), Vector3(2, 0, 0))
    physics_frames(2)
    assert told[1] == [(first, "there is no navigation map"), (second, "there is no navigation map")]


def test_another_navigation_map_than_the_worlds(service, floor, told, physics_frames):
    other = singleton("NavigationServer3D").map_create()
    singleton("NavigationServer3D").map_set_active(other, True)
    floor.set_navigation_map(other)
    service.set_navigation_map(other)
    ticket = service.request_path(Vector3(-5, 0, 0), Vector3(5, 0, 0))
    assert until_over(service, ticket, physics_frames) == "found"
    singleton("NavigationServer3D").free_rid(other)


def test_a_navigation_map_in_the_plane(service, node, world, physics_frames):
    service.source = 1
    region, polygon = node("NavigationRegion2D", world), construct("NavigationPolygon")
    polygon.set_vertices([Vector2(-500, -500), Vector2(500, -500), Vector2(500, 500), Vector2(-500, 500)])
    polygon.add_polygon([0, 1, 2, 3])
    region.navigation_polygon = polygon
    ticket = service.request_path(Vector2(-100, 0), Vector2(100, 0))
    assert until_over(service, ticket, physics_frames) == "found"
    path = service.check_path(ticket)
    assert path.shape[1] == 2
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() == pytest.approx(200, abs=1)


def test_who_waits_is_cancelled_and_who_is_released_is_unknown(service, floor, told, physics_frames, expect_errors):
    cancelled, released, other = (service.request_path(Vector3(), Vector3(5, 0, 0)) for _ in range(3))
    service.cancel(cancelled)
    service.release(released)
    assert until_over(service, other, physics_frames) == "found"
    assert service.get_state(cancelled) == "cancelled"
    physics_frames(1)
    assert [number for number, _ in told[0]] == [other]
    expect_errors(f"check_path: unknown ticket id {released}; it was never issued, or it was released", times=1)
    service.call("check_path", released)


def test_old_tickets_are_released_by_themselves(service, floor, physics_frames, expect_errors):
    service.release_after = 0.5
    ticket = service.request_path(Vector3(), Vector3(5, 0, 0))
    until_over(service, ticket, physics_frames)
    physics_frames(40)
    assert service.get_stats()["tickets"] == 0
    service.release(ticket)
    expect_errors("release: unknown ticket id 99; it was never issued", times=1)
    service.call("release", 99)


def test_a_ticket_that_is_queried_is_not_released(service, floor, physics_frames, expect_errors):
    service.release_after = 0.5
    queried, other = (service.request_path(Vector3(), Vector3(5, 0, 0)) for _ in range(2))
    until_over(service, queried, physics_frames)
    for _ in range(10):
        physics_frames(6)
        assert len(service.check_path(queried)) > 1
    assert [one.number for one in service.requests] == [queried]
    place = Vector3(1, 0, 2)
    expect_errors(f"get_fallback_position: unknown ticket id {other}; it was never issued, or it was released", times=1)
    assert service.call("get_fallback_position", other, place) == place


def test_nothing_is_kept_of_tickets_that_a_script_releases(service, floor, physics_frames):
    service.release_after = 0.0
    first = service.request_path(Vector3(), Vector3(5, 0, 0))
    until_over(service, first, physics_frames)
    physics_frames(2)
    for _ in range(3):
        ticket = service.request_path(Vector3(), Vector3(5, 0, 0))
        physics_frames(2)
        service.release(ticket)
    assert [number for number, _ in service.saved()["closed"]] == [first]


def test_requests_faster_than_signals_are_refused_and_said_once(
    service, floor, physics_frames, expect_errors, monkeypatch
):
    until_over(service, service.request_path(Vector3(), Vector3(5, 0, 0)), physics_frames)
    physics_frames(2)
    service.max_waiting = 20
    expect_errors("has 20 requests that wait for their path or its signal, and refuses further ones", times=1)
    monkeypatch.setattr(PathService, "emit_results", lambda service, budget: None)     # no budget is left for signals
    tickets = []
    for _ in range(10):
        tickets += [service.request_path(Vector3(), Vector3(5, 0, 0)) for _ in range(10)]
        physics_frames(1)
    assert (tickets[:20].count(0), tickets[20:]) == (0, [0] * 80)
    assert service.get_stats()["refused"] == 80
    monkeypatch.undo()
    physics_frames(2)
    assert service.request_path(Vector3(), Vector3(5, 0, 0)) > tickets[19]


def test_of_too_many_finished_tickets_the_oldest_are_released(service, floor, physics_frames, monkeypatch):
    monkeypatch.setattr(path_service, "MOST_CLOSED", 5)
    tickets = [service.request_path(Vector3(), Vector3(5, 0, 0)) for _ in range(8)]
    until_over(service, tickets[-1], physics_frames)
    physics_frames(3)
    assert [one.number for one in service.requests] == tickets[3:]


@pytest.mark.parametrize(("start", "goal", "complaint"), [
    (Vector3(), Vector2(1, 0), "set source of the PathService to Navigation 2D, or pass a Vector3"),
    (Vector3(float("nan"), 0, 0), Vector3(), "start must be finite"),
    (Vector3(), Vector3(0, float("inf"), 0), "goal must be finite"),
])
def test_places_that_are_none_are_clear_errors(service, expect_errors, start, goal, complaint):
    expect_errors(complaint, times=1)
    assert service.call("request_path", start, goal) == 0


def test_invalid_numbers_and_walls_are_clear_errors(service, expect_errors):
    expect_errors("priority must be", times=1)
    assert service.call("request_path", Vector3(), Vector3(), -1.0) == 0
    expect_errors("set_walls needs a grid; change a navigation map by its regions", times=1)
    service.call("set_walls", [Vector2i(1, 1)], False)


def test_a_query_starts_only_if_the_budget_covers_its_cost():
    now_ns = [0]
    ways = NavigationPathProvider(3, singleton("NavigationServer3D").map_create(), 1, 0.5)
    ways.note_cost(5000.0)
    assert ways.query_us == 5000
    ways.note_cost(100.0)
    assert ways.query_us == 100
    for us in (*[100.0] * 61, 900.0, 900.0, 900.0):
        ways.note_cost(us)
    assert ways.query_us == 100
    budget = Budget.of_time(1000, lambda: now_ns[0])
    assert ways.fits(budget)
    now_ns[0] = 901_000
    assert [ways.fits(budget) for _ in range(MOST_REFUSALS + 1)] == [False] * MOST_REFUSALS + [True]
    ways.note_cost(100.0)
    assert not ways.fits(budget)
    assert ways.fits(Budget.unlimited())
    singleton("NavigationServer3D").free_rid(ways.map_rid)


def test_many_requests_with_a_small_budget_spread_over_frames(node, world, floor, physics_frames):
    scheduler = node("AIScheduler", world, budget=500.0)
    service = node("PathService", scheduler)
    first = service.request_path(Vector3(-5, 0, 0), Vector3(5, 0, 0))
    until_over(service, first, physics_frames)
    tickets = [service.request_path(Vector3(-5, 0, number / 100), Vector3(5, 0, 0)) for number in range(1, 400)]
    physics_frames(1)
    assert 0 < service.get_stats()["waiting"] < 399
    for ticket in tickets:
        assert until_over(service, ticket, physics_frames) == "found"
    assert service.get_stats()["query_us"] > 0


@pytest.fixture
def points():
    """An AStarGrid2D of 6 by 4 points, with a wall in column 3 and a gap below."""
    grid = construct("AStarGrid2D")
    grid.region = Rect2i(-2, 1, 6, 4)
    grid.cell_size = Vector2(10, 20)
    grid.offset = Vector2(5, 10)
    grid.diagonal_mode = 1
    grid.update()
    for row in range(1, 4):
        grid.set_point_solid(Vector2i(1, row))
    return grid


def test_an_astar_grid_gives_the_ways_it_would_give_itself(service, points, physics_frames):
    service.set_grid_from(points)
    ticket = service.request_path(Vector2(-14, 33), Vector2(36, 29))
    assert until_over(service, ticket, physics_frames) == "found"
    path = service.check_path(ticket)
    own = points.get_point_path(Vector2i(-2, 1), Vector2i(3, 1))
    assert len(path) == len(own) == 12
    assert (path[0] == own[0]).all()
    assert (path[-1] == own[-1]).all()


def test_walls_shut_and_open_and_a_hopeless_request_fails(service, points, told, physics_frames):
    service.partial_paths = False
    service.set_grid_from(points)
    service.set_walls([Vector2i(1, 4)], False)
    physics_frames(1)
    ticket = service.request_path(Vector2(-15, 30), Vector2(35, 30))
    physics_frames(1)
    assert service.get_state(ticket) == "none"
    assert told[1] == [(ticket, "no path leads to the goal")]
    service.set_walls([Vector2i(1, 1)], True)
    again = service.request_path(Vector2(-15, 30), Vector2(35, 30))
    assert until_over(service, again, physics_frames) == "found"
    assert len(service.check_path(again)) == 6


def test_mistakes_about_grids_are_clear_errors(service, points, expect_errors):
    expect_errors("source GRID needs a grid; set grid_node to a TileMapLayer or GridMap", times=1)
    service.source = 2
    assert service.call("request_path", Vector2(), Vector2()) == 0
    service.set_grid_from(points)
    expect_errors("a grid must be a TileMapLayer, a GridMap or an AStarGrid2D, got", times=1)
    service.call("set_grid_from", service)        # which leaves the grid as it is
    expect_errors("goal is not on the grid, got (500.0, 30.0); its corner cells are at", times=1)
    assert service.call("request_path", Vector2(-15, 30), Vector2(500, 30)) == 0
    expect_errors("cell Vector2i(9, 9) is not on the grid of 6 by 4 from (-2, 1)", times=1)
    service.call("set_walls", [Vector2i(0, 1), Vector2i(9, 9)], False)


def test_another_grid_fails_requests_that_wait_and_keeps_paths(service, points, told, physics_frames):
    service.set_grid_from(points)
    done = service.request_path(Vector2(-15, 30), Vector2(-5, 30))
    physics_frames(1)
    waits = service.request_path(Vector2(-15, 30), Vector2(35, 30))
    points.region = Rect2i(0, 0, 3, 3)
    points.update()
    service.set_grid_from(points)
    physics_frames(1)
    assert told[1] == [(waits, "the ground was replaced; request again")]
    assert service.check_path(done).tolist() == [[-15, 30], [-5, 30]]


@pytest.fixture
def tiles(node):
    """A TileMapLayer of 5 by 3 tiles of 16 px, twice as large, with a wall down to the last row."""
    tile_set, source, texture = construct("TileSet"), construct("TileSetAtlasSource"), construct("PlaceholderTexture2D")
    texture.size = Vector2(32, 16)
    tile_set.tile_size = source.texture_region_size = Vector2i(16, 16)
    tile_set.add_physics_layer()
    tile_set.add_custom_data_layer()
    tile_set.set_custom_data_layer_name(0, "cost")
    tile_set.set_custom_data_layer_type(0, 3)
    source.texture = texture
    tile_set.add_source(source, 0)
    for column in range(2):
        source.create_tile(Vector2i(column, 0))
    wall = source.get_tile_data(Vector2i(1, 0), 0)
    wall.add_collision_polygon(0)
    wall.set_collision_polygon_points(0, 0, [Vector2(-8, -8), Vector2(8, -8), Vector2(8, 8)])
    source.get_tile_data(Vector2i(0, 0), 0).set_custom_data("cost", 1.0)
    wall.set_custom_data("cost", 2.0)
    layer = node("TileMapLayer", name="Tiles", tile_set=tile_set, position=Vector2(100, 0), scale=Vector2(2, 2))
    for column in range(5):
        for row in range(3):
            layer.set_cell(Vector2i(column, row), 0, Vector2i(int(column == 2 and row < 2), 0))
    return layer


def test_a_tile_map_layer_is_walked_past_tiles_that_collide(service, tiles, physics_frames):
    service.grid_node = service.get_path_to(tiles)
    service.source = 2
    start, goal = Vector2(116, 16), Vector2(244, 16)
    ticket = service.request_path(start, goal)
    assert until_over(service, ticket, physics_frames) == "found"
    path = service.check_path(ticket)
    assert path[0].tolist() == [116, 16]
    assert path[:, 1].max() == 80
    service.cost_data = "cost"
    straight = service.request_path(start, goal)
    assert until_over(service, straight, physics_frames) == "found"
    assert service.check_path(straight)[:, 1].tolist() == [16] * 5


def test_a_grid_map_is_walked_where_nothing_stands_on_the_floor(service, node, physics_frames):
    grid_map = node("GridMap", position=Vector3(10, 0, 0), cell_size=Vector3(2, 2, 2))
    for x in range(5):
        for z in range(3):
            grid_map.set_cell_item(Vector3i(x, 0, z), 0)
    grid_map.set_cell_item(Vector3i(2, 1, 0), 0)
    grid_map.set_cell_item(Vector3i(2, 0, 1), 7)
    service.wall_items = [7]
    service.set_grid_from(grid_map)
    start, goal = Vector3(11, 5, 1), Vector3(19, 0, 1)
    ticket = service.request_path(start, goal)
    assert until_over(service, ticket, physics_frames) == "found"
    path = service.check_path(ticket)
    assert path[0].tolist() == [11, 1, 1]
    assert path[-1].tolist() == [19, 1, 1]
    assert path[:, 2].max() == 5


def test_a_listener_may_take_the_service_out_and_ask_for_more(service, points, gdscript, physics_frames):
    listener = gdscript("""
        extends Node
        var told := []
        func listen(service: PathService) -> void: service.path_ready.connect(take.bind(service))
        func take(ticket: int, path: PackedVector2Array, service: PathService) -> void:
            told.append([ticket, path.size()])
            if ticket == 1: service.request_path(Vector2(-15, 30), Vector2(-5, 50))
            else: service.get_parent().remove_child(service)
    """).new()
    parent = service.get_parent()
    parent.add_child(listener)
    listener.call("listen", service)
    service.set_grid_from(points)
    for _ in range(3):
        service.request_path(Vector2(-15, 30), Vector2(-5, 30))
    physics_frames(3)
    assert listener.get("told") == [[1, 2], [2, 2]]
    parent.add_child(service)
    ticket = service.request_path(Vector2(-15, 30), Vector2(-5, 50))
    assert ticket == 5
    physics_frames(2)
    assert listener.get("told")[2:] == [[5, 3]]


def test_the_scripts_of_the_page_find_their_paths(service, node, scheduler, floor, gdscript, physics_frames):
    samples = re.findall(r"```gdscript\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(samples) == 3      # that of the crowd runs in test_path_flow
    walker = gdscript(samples[0]).new()
    walker.set("paths", service)
    service.get_parent().add_child(walker)
    walker.call("go_to", Vector3(5, 0, 0))
    until_over(service, walker.get("ticket"), physics_frames)
    physics_frames(1)
    assert walker.get("points")[-1] == pytest.approx((5, 0, 0), abs=0.3)
    grid = construct("AStarGrid2D")
    grid.region = Rect2i(0, 0, 8, 8)
    grid.cell_size = Vector2(16, 16)
    grid.update()
    level = gdscript(samples[2]).new()
    level.set("paths", node("PathService", scheduler))
    service.get_parent().add_child(level)
    level.call("begin", grid)
    physics_frames(3)
    assert level.get("results") == ["1: found, 15 points", "2: partial, 10 points"]
