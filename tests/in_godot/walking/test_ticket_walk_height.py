"""Who walks by ticket keeps its height above the navigation map, which lies above the floor as meshes are baked."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import NodePath, Vector3, Vector3i, construct
from addons.ai_core.nodes.walking.ticket_walk import TicketWalk

MAP_M, STEP_M = 0.5, 1.0


@pytest.fixture
def walk(node, physics_frames, signals):
    """Lets somebody walk up a ramp, from a place to the other end; returns where it was."""

    def walked(start):
        world = node("SubViewport", own_world_3d=True)
        mesh = construct("NavigationMesh")
        mesh.set_vertices([Vector3(x, y, z) for x, y in ((0, MAP_M), (4, MAP_M), (8, MAP_M + STEP_M)) for z in (0, 4)])
        mesh.add_polygon([0, 2, 3, 1])
        mesh.add_polygon([2, 4, 5, 3])
        node("NavigationRegion3D", world, navigation_mesh=mesh)
        scheduler = node("AIScheduler", world, budget=0.0)
        node("PathService", scheduler, name="Ways", fallback=0)
        actor = node("Node3D", scheduler, position=start)
        tree, go = construct("HabitTree"), construct("HabitMoveTo")
        go.target_point, go.paths, go.speed = Vector3(7.5, STEP_M, 2), NodePath("../../../Ways"), 6.0
        ends = signals(go, "exited")
        tree.add_child(go)
        actor.add_child(tree)
        places = []
        for _ in range(100_000):     # frames take microseconds here; maps are built in real time
            physics_frames(1)
            places.append(actor.position)
            if ends:
                break
        assert ends[0] == (1,)
        return places

    return walked


@pytest.mark.parametrize("height_m", [0.0, 0.9, 2.2])
def test_it_walks_on_the_floor_and_not_above_it(walk, height_m):
    places = walk(Vector3(1, height_m, 2))
    on_the_flat = [one.y for one in places if one.x < 3.4]
    assert max(on_the_flat) == pytest.approx(height_m, abs=1e-4)
    assert min(on_the_flat) == pytest.approx(height_m, abs=1e-4)
    assert places[-1].y == pytest.approx(height_m + STEP_M, abs=0.3)


def test_who_stands_beside_the_map_comes_down_to_it(walk):
    assert walk(Vector3(1, 3, 2))[-1].y == pytest.approx(MAP_M + STEP_M, abs=0.3)


@pytest.mark.parametrize(("rise_m", "is_asked_anew"), [(1.0, False), (3.0, True)])
def test_a_goal_that_rises_to_another_floor_is_another_goal(node, rise_m, is_asked_anew):
    world = node("SubViewport", own_world_3d=True)
    service = node("PathService", node("AIScheduler", world, budget=0.0, update=2))
    walk = TicketWalk(service, memory := {}, service)
    walk.next(Vector3(1, 0, 2), Vector3(7, 0, 2), 0.5)
    ticket = memory["ticket"]
    walk.next(Vector3(1, 0, 2), Vector3(7, rise_m, 2), 0.5)
    assert (memory["ticket"] != ticket) is is_asked_anew


@pytest.mark.parametrize("height_m", [0.0, 2.0, 7.0])
def test_over_a_grid_map_the_body_keeps_its_height(node, physics_frames, signals, height_m):
    world = node("SubViewport", own_world_3d=True)
    grid = node("GridMap", world, cell_size=Vector3(2, 6, 2))
    for x in range(5):
        grid.set_cell_item(Vector3i(x, 0, 0), 0)
    scheduler = node("AIScheduler", world, budget=0.0)
    node("PathService", scheduler, name="Ways").set_grid_from(grid)
    actor = node("Node3D", scheduler, position=Vector3(0.5, height_m, 1))
    tree, go = construct("HabitTree"), construct("HabitMoveTo")
    go.target_point, go.paths, go.speed, go.arrival_distance = Vector3(9.5, 6, 1), NodePath("../../../Ways"), 6.0, 0.2
    ends = signals(go, "exited")
    tree.add_child(go)
    actor.add_child(tree)
    physics_frames(150)
    assert ends[0] == (1,)
    assert tuple(actor.position) == pytest.approx((9.5, height_m, 1), abs=0.25)
