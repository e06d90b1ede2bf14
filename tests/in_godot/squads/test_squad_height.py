"""A squad goes on the floor, also where the navigation map lies above it, as meshes are baked."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton
from tests.in_godot.squads.squad_world import character, recruits, until

MAP_M = 0.5


@pytest.fixture
def squad(node, physics_frames):
    """Three on a floor half a metre below a map of 40 by 40 m."""
    world, mesh = node("SubViewport", own_world_3d=True), construct("NavigationMesh")
    mesh.set_vertices([Vector3(x, MAP_M, z) for x, z in ((-20, -20), (20, -20), (20, 20), (-20, 20))])
    mesh.add_polygon([0, 1, 2, 3])
    region = node("NavigationRegion3D", world, navigation_mesh=mesh)
    scheduler = node("AIScheduler", world, budget=0.0)
    ways = node("PathService", scheduler, name="Ways")
    squad = node("Squad", scheduler, paths=ways.get_path())
    recruits(node, world, squad, 3, attack={"ground": 3.0})
    server, map_rid = singleton("NavigationServer3D"), region.get_navigation_map()
    until(lambda: server.map_get_iteration_id(map_rid)
          and int(server.map_get_closest_point_owner(map_rid, Vector3())), physics_frames, most=100_000)
    return squad


def heights(squad):
    return [body.get_global_position().y for body in squad.get_characters()]


def test_its_march_does_not_rise(squad, physics_frames):
    squad.move_to(Vector3(10, 0, 4))
    until(lambda: squad.get_order()["state"] == "done", physics_frames)
    assert heights(squad) == pytest.approx([0.0] * 3, abs=1e-4)


def test_whose_middle_is_high_above_the_map_stays_so_high(squad, physics_frames):
    for body in squad.get_characters():
        body.position = body.position + Vector3(0, MAP_M + 1.5, 0)
    physics_frames(1)
    squad.move_to(Vector3(10, 0, 4))
    until(lambda: squad.get_order()["state"] == "done", physics_frames)
    assert heights(squad) == pytest.approx([MAP_M + 1.5] * 3, abs=1e-4)


def test_slots_of_a_falling_squad_are_on_the_ground(squad, node, physics_frames):
    world = squad.get_parent().get_parent()
    floor, shape = node("StaticBody3D", world), construct("CollisionShape3D")
    shape.shape = construct("WorldBoundaryShape3D")
    floor.add_child(shape)
    fallen = node("Squad", squad.get_parent(), paths=squad.get_parent().get_node("Ways").get_path())
    for number in range(4):
        character(node, world, Vector3(number, MAP_M + 1.8, 9), "CharacterBody3D", squad_path=fallen.get_path())
    squad.get_parent().update = 1
    physics_frames(1)
    fallen.move_to(Vector3(10, 0, 12))
    until(lambda: fallen.get_order()["state"] == "done", physics_frames)
    assert [one.get_destination().y for one in fallen.get_members()] == pytest.approx([MAP_M] * 4, abs=1e-3)


def test_posts_of_a_tactic_are_no_higher(squad, node, physics_frames):
    enemies = node("Squad", squad.get_parent())
    recruits(node, squad.get_parent().get_parent(), enemies, 1, attack={"ground": 3.0})
    (enemy,) = enemies.get_characters()
    enemy.position = Vector3(12, 0, 0)
    physics_frames(3)
    squad.see([enemy])
    squad.use_tactic("flanking")
    physics_frames(120)
    moved = [one.get_global_position().x for one in squad.get_characters()]
    assert max(moved) > 3
    assert heights(squad) == pytest.approx([0.0] * 3, abs=1e-4)
