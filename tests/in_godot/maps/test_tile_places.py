"""Isometric, half-offset and hexagonal tile maps in every layout: cells touch as the engine says."""
from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from addons.ai_core.bridge.gd import RefusedValue, Vector2, Vector2i, construct
from addons.ai_core.nodes.paths.grid_of_scene import grid_of_scene
from ai_core.paths import neighbors_on_grid

ISOMETRIC, HALF_OFFSET, HEXAGON = 1, 2, 3
SHAPES = {"isometric": ISOMETRIC, "half-offset": HALF_OFFSET, "hexagonal": HEXAGON}
LAYOUTS = range(6)


def layer_of(node, shape, layout, axis, cells):
    """A layer turned, scaled and moved, with a tile at each of the cells."""
    tile_set, source, texture = construct("TileSet"), construct("TileSetAtlasSource"), construct("PlaceholderTexture2D")
    texture.size = Vector2(64, 32)
    tile_set.tile_shape, tile_set.tile_layout, tile_set.tile_offset_axis = shape, layout, axis
    tile_set.tile_size = source.texture_region_size = Vector2i(32, 16)
    source.texture = texture
    tile_set.add_physics_layer()
    tile_set.add_source(source, 0)
    for column in range(2):
        source.create_tile(Vector2i(column, 0))
    wall = source.get_tile_data(Vector2i(1, 0), 0)
    wall.add_collision_polygon(0)
    wall.set_collision_polygon_points(0, 0, [Vector2(-8, -8), Vector2(8, -8), Vector2(8, 8)])
    layer = node(
        "TileMapLayer", tile_set=tile_set, position=Vector2(100, -50), scale=Vector2(2, 3), rotation=0.3)
    for number, cell in enumerate(cells):
        layer.set_cell(Vector2i(*cell), 0, Vector2i(int(number % 7 == 0), 0))
    return layer


@pytest.fixture(params=[(shape, layout, axis) for shape in SHAPES for layout in LAYOUTS for axis in (0, 1)],
                ids=lambda one: f"{one[0]}-{one[1]}-{one[2]}")
def layer(request, node):
    shape, layout, axis = request.param
    random = np.random.default_rng(layout * 2 + axis)
    cells = {tuple(one) for one in random.integers(-6, 7, (60, 2)).tolist()}
    return layer_of(node, SHAPES[shape], layout, axis, sorted(cells))


def walkable(layer, cell):
    data = layer.get_cell_tile_data(cell)
    return data is not None and data.get_collision_polygons_count(0) == 0


def test_a_cell_leads_where_the_engine_says_it_does(layer):
    grid, places = grid_of_scene(layer, 4, "closed", "", 0, [])
    look = neighbors_on_grid(grid.passage())
    assert grid.neighbors == (4 if layer.tile_set.tile_shape == ISOMETRIC else 6)
    seen = 0
    for cell in layer.get_used_cells():
        number = places.number(cell)
        assert grid.passage().is_free(number) == walkable(layer, cell)
        if walkable(layer, cell):
            expected = {places.number(one) for one in layer.get_surrounding_cells(cell) if walkable(layer, one)}
            assert set(look(number)) == expected
            seen += len(expected)
    assert seen > 10


def test_cells_lie_where_their_tiles_lie(layer):
    _, places = grid_of_scene(layer, 4, "closed", "", 0, [])
    used = list(layer.get_used_cells())
    middles = places.points(np.array([places.number(cell) for cell in used], np.int32))
    for cell, middle in zip(used, middles, strict=True):
        own = layer.to_global(layer.map_to_local(cell))
        assert middle == pytest.approx(tuple(own), abs=1e-3)
        near = Vector2(own.x + 3, own.y - 3)
        assert places.cell_at("start", tuple(near)) == places.number(cell)


def test_a_place_off_the_map_is_refused(layer):
    _, places = grid_of_scene(layer, 4, "closed", "", 0, [])
    with pytest.raises(RefusedValue, match="start is not on the grid, got"):
        places.cell_at("start", (9000.0, 9000.0))
    with pytest.raises(RefusedValue, match="is not on the grid"):
        places.number(Vector2i(500, 500))


def test_isometric_tiles_may_be_crossed_at_their_corners(node):
    layer = layer_of(node, ISOMETRIC, 5, 0, [(x, y) for x in range(1, 6) for y in range(1, 6)])
    straight, _ = grid_of_scene(layer, 4, "closed", "", 0, [])
    corners, _ = grid_of_scene(layer, 8, "closed", "", 0, [])
    count = [np.unpackbits(grid.passage().open_moves).sum() for grid in (straight, corners)]
    assert count[1] > count[0]


def test_a_path_service_finds_its_way_over_hexagons(node, scheduler, physics_frames):
    layer = layer_of(node, HEXAGON, 0, 0, [(x, y) for x in range(8) for y in range(5)])
    service = node("PathService", scheduler)
    service.set_grid_from(layer)
    ends = [layer.to_global(layer.map_to_local(Vector2i(*cell))) for cell in ((1, 0), (6, 4))]
    ticket = service.request_path(*ends)
    for _ in range(100):
        physics_frames(1)
        if service.get_state(ticket) == "found":
            break
    path = service.check_path(ticket)
    assert path[0] == pytest.approx(tuple(ends[0]), abs=1e-3)
    assert path[-1] == pytest.approx(tuple(ends[1]), abs=1e-3)
    cells = [layer.local_to_map(layer.to_local(Vector2(*one))) for one in path.tolist()]
    for one, other in pairwise(cells):
        assert other in list(layer.get_surrounding_cells(one))
        assert walkable(layer, other)
    service.set_walls([cells[2]], False)
    again = service.request_path(*ends)
    physics_frames(3)
    assert not (service.check_path(again) == path[2]).all(axis=1).any()


def test_a_team_for_whom_a_door_is_shut_has_a_service_of_its_own(node, scheduler, physics_frames):
    layer = layer_of(node, HEXAGON, 0, 0, [(x, 1) for x in range(6)])
    ends = [layer.to_global(layer.map_to_local(Vector2i(x, 1))) for x in (1, 5)]
    services = [node("PathService", scheduler, partial_paths=False) for _ in range(2)]
    for service in services:
        service.set_grid_from(layer)
    services[1].set_walls([Vector2i(3, 1)], False)
    tickets = [service.request_path(*ends) for service in services]
    physics_frames(5)
    assert [one.get_state(ticket) for one, ticket in zip(services, tickets, strict=True)] == ["found", "none"]
