"""Without cones A sees B exactly when B sees A, by physics rays as well: but for lines that graze a wall."""
from __future__ import annotations

import math

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct
from addons.ai_core.nodes.senses.physics_space import PhysicsSpace2D, PhysicsSpace3D

WALLS, LINES, YARD_M, WALL_M = 60, 2000, 40.0, 2.0

MARGIN_M = 0.002
"""How far a line may pass beside an edge and be answered otherwise from the other end."""


def outside_walls(chance, count, middles):
    """Points that lie in no wall: who stands in one looks out of it, and is not seen."""
    points = chance.uniform(0, YARD_M, (4 * count, 2))
    is_free = (np.abs(points[:, None] - middles[None]).max(axis=2) > WALL_M / 2 + 0.1).all(axis=1)
    return points[is_free][:count]


def crossed_m(start, end, middles):
    """How deep each line goes into walls: the longest stretch within one (m)."""
    way = end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        enter, leave = ((middles[None] + side * WALL_M / 2 - start[:, None]) / way[:, None] for side in (-1, 1))
    first = np.minimum(enter, leave).max(axis=2).clip(0, 1)
    last = np.maximum(enter, leave).min(axis=2).clip(0, 1)
    return ((last - first).max(axis=1) * np.linalg.norm(way, axis=1)).clip(0)


@pytest.mark.parametrize("dimensions", [3, 2])
def test_a_sees_b_when_b_sees_a_but_for_lines_that_graze_a_wall(node, physics_frames, dimensions):
    chance = np.random.default_rng(7)
    middles = chance.uniform(0, YARD_M, (WALLS, 2))
    for x, y in middles.tolist():
        body = node(f"StaticBody{dimensions}D", position=Vector3(x, 0, y) if dimensions == 3 else Vector2(x, y))
        shape = construct(f"CollisionShape{dimensions}D")
        shape.shape = construct("BoxShape3D" if dimensions == 3 else "RectangleShape2D")
        shape.shape.size = Vector3(WALL_M, WALL_M, WALL_M) if dimensions == 3 else Vector2(WALL_M, WALL_M)
        body.add_child(shape)
    physics_frames(2)
    points = outside_walls(chance, 2 * LINES, middles).astype(np.float32)
    rows = np.zeros((len(points), 3), np.float32)
    rows[:, [0, 2] if dimensions == 3 else [0, 1]] = points
    half = len(rows) // 2
    rays = PhysicsSpace3D(node("Node3D"), 1) if dimensions == 3 else PhysicsSpace2D(node("Node2D"), 1)
    there = ~rays.are_free(rows[:half], rows[half : 2 * half])
    back = ~rays.are_free(rows[half : 2 * half], rows[:half])
    assert 0.2 < there.mean() < 0.95
    deep = crossed_m(points[:half].astype(float), points[half : 2 * half].astype(float), middles)
    grazes = np.abs(deep) < MARGIN_M * math.sqrt(2)
    differ = there != back
    assert not (differ & ~(grazes & (deep > 0))).any()
    assert (there == (deep > 0))[~grazes].all()
