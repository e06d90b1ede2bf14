"""Goals that lie above or below the navigation map, as the floor of a baked mesh and the middle of a character do."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct

FLOOR_M, LEDGE_M = 0.5, 2.0


@pytest.fixture
def ways(node, world):
    """A floor of 10 by 10 m half a metre above the ground, as meshes are baked, and a ledge beside it."""
    mesh = construct("NavigationMesh")
    mesh.set_vertices([Vector3(x, height, z) for height, left, right in ((FLOOR_M, 0, 10), (LEDGE_M, 10.2, 14))
                       for x, z in ((left, 0), (right, 0), (right, 10), (left, 10))])
    mesh.add_polygon([0, 1, 2, 3])
    mesh.add_polygon([4, 5, 6, 7])
    node("NavigationRegion3D", world, navigation_mesh=mesh)
    return node("PathService", node("AIScheduler", world, budget=0.0))


@pytest.fixture
def state(ways, physics_frames):
    """Asks for a way and waits: where it stands then."""

    def ask(goal):
        ticket = ways.request_path(Vector3(1, 0, 1), goal)
        for _ in range(100_000):     # frames take microseconds here; maps are built in real time
            if ways.get_state(ticket) not in ("waiting", "running"):
                break
            physics_frames(1)
        return ways.get_state(ticket)

    return ask


@pytest.mark.parametrize(("what", "height_m"), [("the ground", 0.0), ("below it", -0.4), ("a middle", 1.5)])
def test_a_goal_right_above_or_below_the_map_is_reached(state, what, height_m):
    assert state(Vector3(8, height_m, 8)) == "found", what


@pytest.mark.parametrize(("what", "goal"), [
    ("in the air", Vector3(8, 3, 8)), ("on the ledge", Vector3(10.3, LEDGE_M, 5)), ("beside", Vector3(5, 0, -0.6))])
def test_what_lies_elsewhere_is_not(state, what, goal):
    assert state(goal) == "partial", what


def test_a_polling_station_says_the_same(state, ways, node, world):
    station = node("PollingStation", world)
    state(Vector3(8, 0, 8))                              # the map is built
    assert station.is_reachable(Vector3(1, 0, 1), Vector3(8, 0, 8))
    assert not station.is_reachable(Vector3(1, 0, 1), Vector3(8, 3, 8))
    assert not station.is_reachable(Vector3(1, 0, 1), Vector3(10.3, LEDGE_M, 5))
