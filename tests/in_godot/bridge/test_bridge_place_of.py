"""Where one node is now."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, body_id, moving_body_id, place_of, pose_of


def test_a_node_in_space_or_in_the_plane_tells_its_place(node):
    assert place_of(node("Node3D", position=Vector3(1, 2, 3))) == (1, 2, 3)
    assert place_of(node("Node2D", position=Vector2(100, 50)), 0.02) == pytest.approx((2, 1, 0))


@pytest.mark.parametrize(("kind", "pixel_m"), [("Node", 0.0), ("Node", 0.02), ("Node2D", 0.0), ("Node3D", 0.02)])
def test_what_has_no_such_place_is_refused(node, kind, pixel_m):
    with pytest.raises(TypeError, match="place_of needs a Node3D, or a Node2D and its pixel_m"):
        place_of(node(kind), pixel_m)


def test_pose_is_the_place_and_the_direction_of_the_look(node):
    turned = node("Node3D", position=Vector3(1, 2, 3), rotation=Vector3(0, 3.141592653589793, 0))
    place, ahead = pose_of(turned)
    assert place == (1, 2, 3)
    assert ahead == pytest.approx((0, 0, 1), abs=1e-6)
    assert pose_of(node("Node2D", position=Vector2(100, 50)), 0.02) == (pytest.approx((2, 1, 0)), (1, 0, 0))
    with pytest.raises(TypeError, match="pose_of needs a Node3D"):
        pose_of(node("Node"))


def test_pose_without_a_direction_is_zero(node):
    assert pose_of(node("Node3D", position=Vector3(1, 2, 3), scale=Vector3(0, 0, 0))) == ((1, 2, 3), (0, 0, 0))


def test_body_is_the_nearest_above(node):
    body = node("CharacterBody3D")
    assert body_id(body) == body_id(node("Node3D", node("Node3D", body))) == body.instance_id
    assert body_id(node("Node3D")) == 0
    flat = node("CharacterBody2D")
    assert body_id(node("Node2D", flat)) == flat.instance_id


@pytest.mark.parametrize("dimensions", ["2D", "3D"])
def test_moving_body_is_neither_an_area_nor_static(node, dimensions):
    mover = node(f"CharacterBody{dimensions}")
    assert moving_body_id(node(f"Node{dimensions}", mover)) == mover.instance_id
    for kind in ("Area", "StaticBody", "AnimatableBody"):
        still = node(f"{kind}{dimensions}", mover)
        assert moving_body_id(node(f"Node{dimensions}", still)) == 0
    assert moving_body_id(node(f"Node{dimensions}")) == 0
