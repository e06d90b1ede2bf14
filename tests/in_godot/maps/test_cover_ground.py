"""CoverMap in a flat world, and over grids."""
from __future__ import annotations

import math

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Rect2, Transform3D, Vector2, Vector3, Vector3i, construct
from tests.in_godot.maps.cover_yard import Yard


def test_a_flat_world_in_pixels(node, scheduler, physics_frames, expect_errors):
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
    assert cover.cover_at(cover.get_place(spot) + Vector2(9, 0), 10.0) == spot
    assert cover.cover_at(cover.get_place(spot) + Vector2(0, 20), 19.0) == 0
    expect_errors("area must be finite, got Rect2(nan, 0, 1, 1); use null for the whole level", times=1)
    cover.call("invalidate", Rect2(math.nan, 0, 1, 1))
    assert not cover.is_baking()
    assert tuple(cover.get_direction(spot)) == pytest.approx((0, -1), abs=0.01)
    guard.position, cover.search_range = Vector2(220, 240), 96.0
    spot = cover.find_cover(guard, [Vector2(200, -250)])
    assert spot, cover.why()
    assert " px of 96 px" in cover.why()
    assert cover.get_object(spot) == crate
    assert cover.get_place(spot).y == pytest.approx(200 + 20 + 0.5 * 32, abs=0.5)


@pytest.mark.parametrize("thickness", [2.0, 0.2])
def test_a_grid_map_has_cover_beside_its_walls(node, scheduler, physics_frames, thickness):
    library = construct("MeshLibrary")
    for item, (low, high) in enumerate([(-1, thickness - 1), (thickness - 3, thickness - 2.1)]):   # walls of 0.9 m
        box = construct("BoxShape3D")
        box.size = Vector3(2, high - low, 2)
        library.create_item(item)
        library.set_item_shapes(item, [box, Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, (low + high) / 2, 0)])
    grid = node("GridMap", scheduler, name="Grid", mesh_library=library, cell_size=Vector3(2, 2, 2))
    for x in range(7):
        for z in range(7):
            grid.set_cell_item(Vector3i(x, 0, z), 0)
    for x in (2, 3, 4):
        grid.set_cell_item(Vector3i(x, 1, 3), 1)
    cover = node("CoverMap", scheduler, name="Cover", source=1, grid_node="../Grid", exposure_distance=5.0)
    physics_frames(40)
    places = [tuple(np.round(tuple(cover.get_place(one)), 1)) for one in cover.get_spots()]
    assert len(places) == 8                        # three on each side, one at each end
    assert {z for _, _, z in places} == {5.0, 7.0, 9.0}
    assert {y for _, y, _ in places} == {round(thickness, 1)}
    assert all(map(cover.is_low, cover.get_spots()))


@pytest.mark.parametrize("side", [1.0, 1.2])
@pytest.mark.parametrize("moves", [True, False], ids=["thing", "level"])
@pytest.mark.parametrize("layer", [1, 2], ids=["floor stops shots", "floor on a layer of its own"])
def test_low_cover_hides_who_crouches_at_the_default_cell_height(node, scheduler, physics_frames, side, moves, layer):
    yard = Yard(node, scheduler, physics_frames)
    yard.navigation.get_child(0).collision_layer = layer
    if moves:
        yard.crate(6, 6, side)
    else:
        yard.body(Vector3(6, side / 2, 6), Vector3(1.5, side, 1.5))
    cover, guard = yard.cover(search_range=5.0), yard.guard(6, 8)
    mesh = yard.navigation.navigation_mesh
    assert mesh.cell_height == 0.25                                  # what a new NavigationMesh has
    assert np.array(mesh.get_vertices())[:, 1].min() > 0.2           # and so it lies above the floor
    spot = cover.find_cover(guard, [Vector3(6, 1.2, -8)])
    assert spot, cover.why()
    assert cover.is_low(spot)
    assert cover.get_place(spot).y == pytest.approx(0, abs=0.01)
    assert {round(cover.get_place(one).y, 2) for one in cover.get_spots()} == {0.0}


def test_without_collision_shapes_spots_stay_on_the_mesh(node, scheduler, physics_frames):
    yard = Yard(node, scheduler, physics_frames)
    yard.walk()
    yard.navigation.get_child(0).free()                              # the floor
    cover = node("CoverMap", scheduler, name="Cover", level="../Level")
    yard.until(lambda: cover.get_stats()["spots"] > 0)
    assert {round(cover.get_place(one).y, 2) for one in cover.get_spots()} == {0.3}


def test_an_object_without_bounds_is_left_out_until_it_has_some(node, scheduler, physics_frames, expect_errors):
    yard = Yard(node, scheduler, physics_frames)
    empty = node("StaticBody3D", scheduler, name="Empty", position=Vector3(6, 0.6, 6))
    empty.add_to_group("cover")
    crate = yard.crate(-6, 6)
    cover, guard, other = yard.cover(search_range=5.0), yard.guard(6, 8), yard.guard(-6, 8)
    expect_errors("'Empty' has no bounds; give it a CollisionShape3D or MeshInstance3D", times=1)
    for _ in range(3):
        assert cover.get_object(cover.find_cover(other, [Vector3(-6, 1.2, -8)])) == crate
        assert cover.find_cover(guard, [Vector3(6, 1.2, -8)]) == 0
    shape, box = construct("CollisionShape3D"), construct("BoxShape3D")
    box.size = Vector3(1.2, 1.2, 1.2)
    shape.shape = box
    empty.add_child(shape)
    physics_frames(2)
    assert cover.get_object(cover.find_cover(guard, [Vector3(6, 1.2, -8)])) == empty
