"""Who walks by ticket over a navigation map goes another way when the map is made anew."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import NodePath, Vector3, construct, singleton

DISABLED, INHERITS = 4, 0
BRIDGES = {"near": [1, 6, 7, 2], "far": [3, 8, 9, 4]}


def two_banks(*bridges):
    """Two banks, 4 m apart, with bridges at z = 1 and z = 11."""
    mesh = construct("NavigationMesh")
    bank = [(0, 0), (4, 0), (4, 2), (4, 10), (4, 12)]
    mesh.set_vertices([Vector3(*one) for side in (0, 1) for one in [
        (abs(12 * side - x), 0, z) for x, z in bank]] + [Vector3(0, 0, 12), Vector3(12, 0, 12)])
    mesh.add_polygon([0, 1, 2, 3, 4, 10])
    mesh.add_polygon([11, 9, 8, 7, 6, 5])
    for name in bridges:
        mesh.add_polygon(BRIDGES[name])
    return mesh


@pytest.fixture
def walker(node, signals):
    """Somebody on the left bank who goes to the right one: actor, scheduler, the banks and how it ended."""
    world = node("SubViewport", own_world_3d=True)
    region = node("NavigationRegion3D", world, navigation_mesh=two_banks("near", "far"))
    scheduler = node("AIScheduler", world, budget=0.0)
    node("PathService", scheduler, name="Ways", fallback=0)
    actor = node("Node3D", scheduler, position=Vector3(0.5, 0, 1))
    tree, go = construct("HabitTree"), construct("HabitMoveTo")
    go.target_point, go.paths, go.speed = Vector3(11, 0, 1), NodePath("../../../Ways"), 3.0
    ends = signals(go, "exited")
    tree.add_child(go)
    actor.add_child(tree)
    return actor, scheduler, region, ends


def test_when_the_map_is_made_anew_it_goes_another_way(walker, physics_frames):
    actor, scheduler, region, ends = walker
    until(lambda: actor.position.x > 2.2, physics_frames)     # half a second on its way
    assert actor.position.z < 2
    scheduler.process_mode = DISABLED
    server, provider = singleton("NavigationServer3D"), region.get_navigation_map()
    region.navigation_mesh = two_banks("far")
    until(lambda: server.map_get_closest_point(provider, Vector3(6, 0, 1)).x != 6, physics_frames)
    scheduler.process_mode = INHERITS
    places = []
    until(lambda: places.append(actor.position) or ends, physics_frames)
    assert ends[0] == (1,)
    assert all(one.z > 9 for one in places if 5 < one.x < 7)


def test_a_map_that_always_changes_is_not_searched_each_time(walker, physics_frames):
    _, scheduler, _, ends = walker
    service = scheduler.get_node("Ways")
    until(lambda: service.get_stats().get("found"), physics_frames)
    changes = iter(range(1, 100_000))
    service.__dict__["_provider"] = Changing(service._provider, changes)
    until(lambda: ends, physics_frames)
    assert ends[0] == (1,)
    assert next(changes) > 100
    assert service.get_stats()["requests"] <= 10          # in less than 4 s


class Changing:
    """Ways over a map with a platform on it that moves, so that its version is another whenever it is asked."""

    def __init__(self, provider, versions):
        self._provider, self._versions = provider, versions

    def __getattr__(self, name):
        return next(self._versions) if name == "version" else getattr(self._provider, name)


def until(is_so, physics_frames, most=100_000):
    """Let frames pass, which take microseconds here: maps are made in real time."""
    for _ in range(most):
        if is_so():
            return
        physics_frames(1)
    raise AssertionError("it never came to that")
