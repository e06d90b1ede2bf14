"""HabitMoveTo up and down stairs, and a shaft with a lift, by bodies that are thicker than they arrive near."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct
from tests.in_godot.walking.test_walking_on_floors import MAP_M, WAYS, House, walk  # noqa: F401 - a fixture

UP_M, END_M, STEPS = 2.0, 4.0, 10


class TwoFloors(House):
    """A ground floor to x = END_M, one above it, and a way up made by each kind of house."""

    def __init__(self, node, vertices, polygons):
        self.node = node
        self.world = node("SubViewport", own_world_3d=True)
        mesh = construct("NavigationMesh")
        mesh.set_vertices([Vector3(x, y, z) for x, y in vertices for z in (-2, 2)])
        for first in polygons:
            mesh.add_polygon([first, first + 1, first + 3, first + 2])
        node("NavigationRegion3D", self.world, navigation_mesh=mesh)
        self.scheduler = node("AIScheduler", self.world, budget=0.0, update=1)
        node("PathService", self.scheduler, name="Ways", fallback=0)


@pytest.fixture
def stairs(node):
    """Steps of 0.2 m in a capsule's way, whose map is a ramp."""
    house = TwoFloors(node, [(x, y + MAP_M / 2) for x, y in ((-6, 0), (0, 0), (3, UP_M), (7, UP_M))], (0, 2, 4))
    house.wall(Vector3(-2, -0.5, 0), Vector3(12, 1, 4))
    for step in range(STEPS):
        high = (step + 1) * UP_M / STEPS
        house.wall(Vector3(step * 0.3 + 0.15, high / 2, 0), Vector3(0.3, high, 4))
    house.wall(Vector3(5, UP_M / 2, 0), Vector3(4, UP_M, 4))
    return house


@pytest.fixture
def shaft(node):
    """A lift straight up and down, 0.9 m from the edge of the upper floor."""
    house = TwoFloors(node, [(-5, 0), (5, 0), (-5, 4), (5, 4)], (0, 4))
    node("NavigationLink3D", house.world, start_position=Vector3(4.9, 0, 0), end_position=Vector3(4.9, 4, 0))
    house.wall(Vector3(0, -0.5, 0), Vector3(12, 1, 8))
    house.wall(Vector3(-1, 3.75, 0), Vector3(10, 0.5, 8))
    return house


def gets_there_and_back(level, walked, below, above, by, period):
    for start, goal in ((below, above), (above, below)):
        walker = level.walker(start, goal, by)
        walker.go.get_parent().period = period
        ended, places = walked(walker)
        assert ended == 1
        assert tuple(places[-1]) == pytest.approx(tuple(goal), abs=0.15)
        walker.actor.queue_free()


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("period", [1, 6, 30])
def test_a_body_goes_up_stairs_and_down(stairs, walk, by, period):  # noqa: F811
    gets_there_and_back(stairs, walk, Vector3(-3, 0, 0), Vector3(6, UP_M, 0), by, period)


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("period", [1, 6])
def test_a_body_goes_up_a_shaft_and_drops_into_it(shaft, walk, by, period):  # noqa: F811
    gets_there_and_back(shaft, walk, Vector3(-3, 0, 0), Vector3(-2, 4, 0), by, period)
