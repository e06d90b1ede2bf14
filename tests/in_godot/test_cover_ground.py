"""CoverMap in a flat world, and over grids."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Transform3D, Vector2, Vector3, Vector3i, construct


def test_a_flat_world_in_pixels(node, scheduler, physics_frames):
    level = node("NavigationRegion2D", scheduler, name="Level")
    polygon = construct("NavigationPolygon")
    polygon.set_vertices([Vector2(x, y) for y in (-320, -26, 26, 320) for x in (-320, -80, 80, 320)])
    for row in range(3):
        for column in range(3):
            if (row, column) != (1, 1):
                first = 4 * row + column
                polygon.add_polygon([first, first + 1, first + 5, first + 4])
    level.navigation_polygon = polygon

    def body(size, place, group=""):
        made, shape, box = construct("StaticBody2D"), construct("CollisionShape2D"), construct("RectangleShape2D")
        box.size = size
        shape.shape = box
        made.add_child(shape)
        made.position = place
        if group:
            made.add_to_group(group)
        scheduler.add_child(made)
        return made

    body(Vector2(140, 32), Vector2(0, 0))
    crate = body(Vector2(40, 40), Vector2(200, 200), "cover")
    cover = node("CoverMap", scheduler, name="Cover", dimensions=1, level="../Level")
    guard = node("Node2D", scheduler, position=Vector2(0, 100))
    for _ in range(100_000):
        physics_frames(1)
        if cover.get_stats()["spots"]:
            break
    assert cover.get_stats()["spots"] >= 4
    spot = cover.find_cover(guard, [Vector2(0, -250)])
    assert cover.get_place(spot).y > 20
    assert tuple(cover.get_direction(spot)) == pytest.approx((0, -1), abs=0.01)
    guard.position, cover.range_m = Vector2(220, 240), 3.0
    spot = cover.find_cover(guard, [Vector2(200, -250)])
    assert spot, cover.why()
    assert cover.get_object(spot) == crate
    assert cover.get_place(spot).y == pytest.approx(200 + 20 + 0.5 * 32, abs=0.5)


def test_a_grid_map_has_cover_beside_its_walls(node, scheduler, physics_frames):
    library = construct("MeshLibrary")
    box = construct("BoxShape3D")
    box.size = Vector3(2, 2, 2)
    for item in (0, 1):
        library.create_item(item)
        library.set_item_shapes(item, [box, Transform3D()])
    grid = node("GridMap", scheduler, name="Grid", mesh_library=library, cell_size=Vector3(2, 2, 2))
    for x in range(7):
        for z in range(7):
            grid.set_cell_item(Vector3i(x, 0, z), 0)
    for x in (2, 3, 4):
        grid.set_cell_item(Vector3i(x, 1, 3), 1)
    cover = node("CoverMap", scheduler, name="Cover", source=1, grid_node="../Grid", exposure_m=5.0)
    physics_frames(40)
    places = [tuple(np.round(tuple(cover.get_place(one)), 1)) for one in cover.get_spots()]
    assert len(places) == 8                        # three on each side, one at each end
    assert {z for _, _, z in places} == {5.0, 7.0, 9.0}
