"""Rays that go on through what they hit tell whom they met, in order, in space and in the plane."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import RayBatch, Vector2, Vector3, cast_through, construct, singleton
from addons.ai_core.nodes.senses.physics_space import PhysicsSpace2D, PhysicsSpace3D


@pytest.fixture
def box(node):
    """``box(x)``: a wall 1 wide and 10 high across the x axis."""

    def made(x):
        body = node("StaticBody3D", position=Vector3(x, 0, 0))
        shape = construct("CollisionShape3D")
        shape.shape = construct("BoxShape3D")
        shape.shape.size = Vector3(1, 10, 10)
        body.add_child(shape)
        return body

    return made


@pytest.fixture
def rays(node):
    return PhysicsSpace3D(node("Node3D"), 1)


def line(*places):
    return np.array([places], np.float32)


def met(rays, origin, target, most=4, own=(0,)):
    return rays.through(line(*origin), line(*target), np.array([own], np.int64), most, 1)[0].tolist()


def test_bodies_on_a_line_are_told_in_order_from_either_side(box, rays, physics_frames):
    first, second = box(3), box(7)
    physics_frames(2)
    ids = [first.instance_id, second.instance_id]
    assert met(rays, (0, 0, 0), (10, 0, 0)) == [*ids, 0, 0]
    assert met(rays, (10, 0, 0), (0, 0, 0)) == [*reversed(ids), 0, 0]
    assert met(rays, (0, 0, 0), (5, 0, 0)) == [ids[0], 0, 0, 0]
    assert met(rays, (0, 0, 0), (10, 0, 0), most=1) == [ids[0]]
    assert met(rays, (0, 20, 0), (10, 20, 0)) == [0] * 4


def test_batch_reads_changed_and_other_arrays(box, rays, physics_frames):
    wall = box(3)
    physics_frames(2)
    batch, free = RayBatch(rays.node), np.zeros(2, np.uint8)
    origins, targets = np.zeros((2, 3), np.float32), np.array([[10, 0, 0], [0, 10, 0]], np.float32)
    batch.cast(origins, targets, free)
    assert free.tolist() == [0, 1]
    targets[:] = targets[::-1].copy()
    batch.cast(origins, targets, free)
    assert free.tolist() == [1, 0]
    batch.cast(origins, np.array([[10, 0, 0], [2, 0, 0]], np.float32), free)
    assert free.tolist() == [0, 1]
    batch.cast(origins, targets, free, np.array([0, wall.instance_id]))
    assert free.tolist() == [1, 1]
    batch.cast(origins, targets, free)
    assert free.tolist() == [1, 0]


def test_batch_refuses_arrays_too_short_and_goes_on(box, rays, physics_frames):
    box(3)
    physics_frames(2)
    batch, free, good = RayBatch(rays.node), np.ones(1, np.uint8), line((0, 0, 0))[0]
    targets = line((10, 0, 0))[0]
    for arrays in (
            (good, targets[:0], free), (good, targets, free[:0]), (good, targets[:, :2].copy(), free),
            (good, targets, free, np.zeros(0, np.int64))):
        with pytest.raises(ValueError, match="1 rays need"):
            batch.cast(*arrays)
    batch.cast(good, targets, free)
    assert free.tolist() == [0]
    with pytest.raises(ValueError, match="casts no rays of 2 coordinates"):
        batch.cast(good[:, :2].copy(), targets[:, :2].copy(), free)


def test_its_own_bodies_are_passed_without_being_told(box, rays, physics_frames):
    first, second, third = box(3), box(5), box(7)
    physics_frames(2)
    own = (first.instance_id, third.instance_id)
    assert met(rays, (0, 0, 0), (10, 0, 0), own=own) == [second.instance_id, 0, 0, 0]


def test_starting_or_ending_inside_a_body_enters_or_leaves_once(box, rays, physics_frames):
    wall = box(3)
    physics_frames(2)
    assert met(rays, (3, 0, 0), (10, 0, 0)) == [0] * 4
    assert met(rays, (0, 0, 0), (3, 0, 0)) == [wall.instance_id, 0, 0, 0]


@pytest.mark.parametrize("far", [0.0, 4000.0])
def test_a_single_mesh_level_is_hit_once_per_wall(node, rays, physics_frames, far):
    level = node("StaticBody3D", position=Vector3(far, 0, 0))
    for x in (3, 7):
        mesh = construct("BoxMesh")
        mesh.size = Vector3(0.2, 10, 10)
        shape = construct("CollisionShape3D")
        shape.shape = mesh.create_trimesh_shape()
        shape.position = Vector3(x, 0, 0)
        level.add_child(shape)
    physics_frames(2)
    assert met(rays, (far, 0, 0), (far + 10, 0, 0)) == [level.instance_id, level.instance_id, 0, 0]


def test_in_the_plane_the_same_in_pixels(node, physics_frames):
    rays = PhysicsSpace2D(node("Node2D"), 1, 10.0)
    walls = []
    for x in (30, 70):
        body = node("StaticBody2D", position=Vector2(x, 0))
        shape = construct("CollisionShape2D")
        shape.shape = construct("RectangleShape2D")
        shape.shape.size = Vector2(4, 100)
        body.add_child(shape)
        walls.append(body.instance_id)
    physics_frames(2)
    assert met(rays, (0, 0, 0), (10, 0, 0)) == [*walls, 0, 0]
    assert met(rays, (0, 0, 0), (5, 0, 0)) == [walls[0], 0, 0, 0]


def test_a_body_of_the_physics_server_alone_is_told_as_nameless(node, rays, physics_frames):
    server = singleton("PhysicsServer3D")
    shape, body = server.box_shape_create(), server.body_create()
    server.shape_set_data(shape, Vector3(1, 1, 1))
    server.body_add_shape(body, shape)
    server.body_set_space(body, rays.node.get_world_3d().space)
    physics_frames(2)
    assert met(rays, (-5, 0, 0), (5, 0, 0)) == [-1, 0, 0, 0]
    server.free_rid(body)
    server.free_rid(shape)


def test_the_ray_is_as_it_was_afterwards(box, rays, physics_frames):
    box(3)
    physics_frames(2)
    rays.through(line(0, 0, 0), line(5, 0, 0), np.zeros((1, 1), np.int64), 2, 4)
    assert (rays.node.collision_mask, rays.node.hit_back_faces) == (1, True)
    assert rays.are_free(line(0, 0, 0), line(5, 0, 0)).tolist() == [False]


def test_arrays_that_do_not_fit_are_refused(rays):
    rows, few = np.zeros((3, 3), np.float32), np.zeros((2, 1), np.int64)
    with pytest.raises(ValueError, match="3 rays need 3 targets and 3 results"):
        cast_through(rays.node, rows, rows, few)
    with pytest.raises(ValueError, match="3 rays need 3 rows of skipped ids"):
        cast_through(rays.node, rows, rows, np.zeros((3, 1), np.int64), few)
    flat = np.zeros((3, 2), np.float32)
    with pytest.raises(ValueError, match="cannot cast rays with 2 coordinates"):
        cast_through(rays.node, flat, flat, np.zeros((3, 1), np.int64))
