"""PathService.snap_distance: starts and goals in a wall, beside the grid or off the navigation map."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import Rect2i, Vector2, Vector2i, Vector3, construct


@pytest.fixture
def service(node, world):
    return node("PathService", node("AIScheduler", world, budget=0.0))


@pytest.fixture
def found(service, physics_frames):
    """Asks for a way and waits: its state and its points, rounded."""

    def ask(start, goal):
        ticket = service.request_path(start, goal)
        for _ in range(100_000):     # frames take microseconds here; maps are built in real time
            if service.get_state(ticket) not in ("waiting", "running"):
                break
            physics_frames(1)
        return service.get_state(ticket), service.check_path(ticket).round(2).tolist()

    return ask


@pytest.fixture
def grid(service):
    """Six by one points, 10 apart, that of column 2 solid."""
    points = construct("AStarGrid2D")
    points.region = Rect2i(0, 0, 6, 1)
    points.cell_size = Vector2(10, 20)
    points.update()
    points.set_point_solid(Vector2i(2, 0))
    service.set_grid_from(points)


def test_a_start_in_a_wall_needs_snapping(service, grid, found):
    assert found(Vector2(21, 0), Vector2(50, 0))[0] == "none"
    assert service.why_not(1) == "the start is in a wall; snap_distance allows the nearest walkable cell instead"
    service.partial_paths = False
    assert found(Vector2(50, 0), Vector2(21, 0))[0] == "none"
    assert service.why_not(2) == "the goal is in a wall; snap_distance allows the nearest walkable cell instead"
    service.snap_distance = 9.5
    assert found(Vector2(21, 0), Vector2(50, 0)) == ("found", [[30, 0], [40, 0], [50, 0]])
    assert found(Vector2(50, 0), Vector2(21, 0)) == ("found", [[50, 0], [40, 0], [30, 0]])


def test_a_position_beside_the_grid_needs_snapping(service, grid, found, expect_errors):
    expect_errors("its corner cells are at", times=1)
    assert service.call("request_path", Vector2(0, 40), Vector2(10, 0)) == 0
    service.snap_distance = 50.0
    assert found(Vector2(0, 40), Vector2(10, 0)) == ("found", [[0, 0], [10, 0]])
    expect_errors("no walkable cell is within snap_distance, 50", times=1)
    assert service.call("request_path", Vector2(0, 51), Vector2(10, 0)) == 0


@pytest.mark.parametrize(("shape", "offset_axis"), [(1, 0), (2, 0), (3, 0), (3, 1)])
def test_tiles_of_other_shapes_snap_to_the_nearest_too(service, node, found, shape, offset_axis):
    tiles, source, texture = construct("TileSet"), construct("TileSetAtlasSource"), construct("PlaceholderTexture2D")
    texture.size = Vector2(16, 16)
    tiles.tile_shape, tiles.tile_offset_axis = shape, offset_axis
    tiles.tile_size = source.texture_region_size = Vector2i(16, 16)
    source.texture = texture
    tiles.add_source(source, 0)
    source.create_tile(Vector2i(0, 0))
    layer = node("TileMapLayer", tile_set=tiles, position=Vector2(50, 70), rotation=0.5, scale=Vector2(2, 3))
    cells = [Vector2i(x, y) for x in range(5) for y in range(5) if (x, y) != (2, 2)]
    for cell in cells:
        layer.set_cell(cell, 0, Vector2i(0, 0))
    service.set_grid_from(layer)
    service.snap_distance = 1000.0
    for place in (Vector2i(2, 2), Vector2i(-3, 1), Vector2i(9, 8)):
        start = layer.to_global(layer.map_to_local(place)) + Vector2(3, 2)
        middles = [layer.to_global(layer.map_to_local(cell)) for cell in cells]
        nearest = min(middles, key=lambda middle: math.dist(middle, start))
        state, path = found(start, middles[0])
        assert state == "found"
        assert path[0] == pytest.approx(list(nearest), abs=0.1)


def test_a_start_off_the_navigation_map_is_snapped_or_has_no_way(service, node, world, found, physics_frames, signals):
    mesh = construct("NavigationMesh")
    mesh.set_vertices([Vector3(0, 0, 0), Vector3(10, 0, 0), Vector3(10, 0, 10), Vector3(0, 0, 10)])
    mesh.add_polygon([0, 1, 2, 3])
    node("NavigationRegion3D", world, navigation_mesh=mesh)
    state, path = found(Vector3(-4, 0, 5), Vector3(8, 0, 5))
    assert (state, path[0]) == ("found", [0, 0, 5])
    failed = signals(service, "path_failed")
    service.snap_distance = 3.0
    assert found(Vector3(-4.5, 0, 5), Vector3(8, 0, 5)) == ("none", [])
    physics_frames(2)
    assert failed[0][1] == "the start is 4.5 from the map, but snap_distance is 3"
    assert found(Vector3(-2.5, 0, 5), Vector3(8, 0, 5))[0] == "found"


@pytest.mark.parametrize("is_partial", [False, True], ids=["none", "partial"])
def test_a_goal_behind_a_wall_gives_one_answer_whatever_is_known(service, grid, found, signals, is_partial):
    service.partial_paths = is_partial
    ready, failed = signals(service, "path_ready"), signals(service, "path_failed")
    # The first is searched: only then is reachability known. The second is kept.
    answers = [found(Vector2(0, 0), Vector2(column, 0)) for column in (40, 40, 50)]
    assert answers == [("partial", [[0, 0], [10, 0]]) if is_partial else ("none", [])] * 3
    counts = service.get_stats()
    assert [counts[one] for one in ("found", "partial", "no_path")] == ([0, 2, 0] if is_partial else [0, 0, 2])
    found(Vector2(0, 0), Vector2(10, 0))
    assert (len(ready), len(failed)) == ((4, 0) if is_partial else (1, 3))
