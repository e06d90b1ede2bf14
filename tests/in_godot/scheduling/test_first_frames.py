"""The first frames of a scene: tiles and CSG give the physics space their shapes in deferred calls."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector2, Vector2i, Vector3, construct


def made(kind, **properties):
    node = construct(kind)
    for name, value in properties.items():
        node.set(name, value)
    return node


def csg_wall():
    return made("CSGBox3D", use_collision=True, size=Vector3(8, 8, 1))


def tile_wall():
    tiles, source, texture = made("TileSet"), made("TileSetAtlasSource"), made("PlaceholderTexture2D")
    texture.size = Vector2(16, 16)
    tiles.add_physics_layer()
    source.texture = texture
    source.texture_region_size = Vector2i(16, 16)
    source.create_tile(Vector2i(0, 0))
    tiles.add_source(source, 0)
    data = source.get_tile_data(Vector2i(0, 0), 0)
    data.add_collision_polygon(0)
    corners = np.array([[-8, -8], [8, -8], [8, 8], [-8, 8]], np.float32)
    data.set_collision_polygon_points(0, 0, corners)
    wall = made("TileMapLayer", tile_set=tiles)
    for row in range(-4, 4):
        wall.set_cell(Vector2i(0, row), 0, Vector2i(0, 0))
    return wall


WALLS = {3: csg_wall, 2: tile_wall}
AT = {3: (Vector3(0, 0, 4), Vector3(0, 0, -4)), 2: (Vector2(-128, 0), Vector2(128, 0))}
dimensions = pytest.mark.parametrize("dimension", [3, 2])


@pytest.fixture(params=["physics frame", "end of a frame"])
def in_first_frame(request, tree, frames, physics_frames):
    """Calls a function before deferred calls of what enters the tree in it; scenes change at the end of a frame."""
    def call(function):
        found = []
        is_physics = request.param == "physics frame"
        emitter, emitted = (tree, "physics_frame") if is_physics else (tree.create_timer(0.001), "timeout")
        emitter.connect(emitted, lambda: found.append(function()), 4)
        (physics_frames if is_physics else frames)(1)
        while not found:
            frames(1)
        return found[0]
    return call


def level(dimension, *, with_wall=True):
    """A level below one node: a scheduler that goes on with physics, a manager, a wall, a guard and a thief."""
    top = made(f"Node{dimension}D")
    scheduler = made("AIScheduler", update=1, budget=0.0)
    top.add_child(scheduler)
    manager = made("SenseManager", dimensions=0 if dimension == 3 else 1)
    scheduler.add_child(manager)
    guard, thief = made(f"Sensor{dimension}D"), made(f"SenseSource{dimension}D")
    guard.position, thief.position = AT[dimension]
    for one in (guard, thief, *([WALLS[dimension]()] if with_wall else [])):
        top.add_child(one)
    return top, guard, thief


@dimensions
def test_nobody_sees_through_a_wall_in_the_first_frames(
        dimension, tree, in_first_frame, physics_frames, signals):
    top, guard, _ = level(dimension)
    gained = signals(guard, "target_gained")
    in_first_frame(lambda: tree.root.add_child(top))
    physics_frames(5)
    assert gained == []
    top.free()


@dimensions
def test_without_a_wall_the_target_is_seen(dimension, tree, in_first_frame, physics_frames, signals):
    top, guard, thief = level(dimension, with_wall=False)
    gained = signals(guard, "target_gained")
    in_first_frame(lambda: tree.root.add_child(top))
    physics_frames(5)
    assert [arguments[0] for arguments in gained] == [thief]
    top.free()


@dimensions
def test_a_wave_spawned_with_its_walls_sees_through_none(
        dimension, tree, in_first_frame, physics_frames, signals):
    top, guard, _ = level(dimension)
    scheduler = top.get_child(0)
    top.remove_child(scheduler)
    tree.root.add_child(scheduler)
    physics_frames(2)                       # the AI has run for a while when the rest comes
    gained = signals(guard, "target_gained")
    in_first_frame(lambda: tree.root.add_child(top))
    physics_frames(5)
    assert gained == []
    top.free()
    scheduler.free()


@dimensions
def test_a_polling_station_sees_nothing_before_walls_are_there(dimension, tree, in_first_frame, physics_frames):
    top = made(f"Node{dimension}D")
    station = made("PollingStation", lifetime_frames=-1)
    here, there = (made(f"Node{dimension}D", position=place) for place in AT[dimension])
    for one in (station, here, there):
        top.add_child(one)

    def ask():
        tree.root.add_child(top)
        return station.can_see(here, there)
    assert in_first_frame(ask) is False
    physics_frames(2)
    assert station.can_see(here, there) is True        # the early answer is not kept, though answers are for ever
    top.free()
