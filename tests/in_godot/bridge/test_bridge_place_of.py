"""Where one node is now."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, place_of


def test_a_node_in_space_or_in_the_plane_tells_its_place(node):
    assert place_of(node("Node3D", position=Vector3(1, 2, 3))) == (1, 2, 3)
    assert place_of(node("Node2D", position=Vector2(100, 50)), 0.02) == pytest.approx((2, 1, 0))


@pytest.mark.parametrize(("kind", "pixel_m"), [("Node", 0.0), ("Node", 0.02), ("Node2D", 0.0), ("Node3D", 0.02)])
def test_what_has_no_such_place_is_refused(node, kind, pixel_m):
    with pytest.raises(TypeError, match="a place needs a Node3D, or a Node2D and its pixel_m"):
        place_of(node(kind), pixel_m)
