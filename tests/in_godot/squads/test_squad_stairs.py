"""Bodies of a squad up and down ramps, stairs and steps, as a HabitMoveTo takes them."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton
from tests.in_godot.squads.squad_world import until
from tests.in_godot.walking.test_walking_on_floors import House
from tests.in_godot.walking.test_walking_stairs import UP_M, stairs  # noqa: F401 - a fixture


def squad_of(node, level, starts, *, middle_m=(0.0,), **settings):
    """Bodies at these places, each with its own place so far above its feet, in a squad that goes by ticket."""
    pattern = construct("Formation")
    pattern.spacing = 1.0
    squad = node(
        "Squad", level.scheduler, formation=pattern, paths=level.scheduler.get_node("Ways").get_path(), **settings)
    for number, start in enumerate(starts):
        above_m = middle_m[number % len(middle_m)]
        body = node("CharacterBody3D", level.world, position=start + Vector3(0, above_m, 0))
        shape = node("CollisionShape3D", body, position=Vector3(0, 0.9 - above_m, 0))
        shape.shape = construct("CapsuleShape3D")
        shape.shape.radius, shape.shape.height = 0.3, 1.8
        node("SquadMember", body, squad_path=squad.get_path(), radius=0.3)
    return squad


def marched(squad, goal, physics_frames, most=2000):
    """Lets it march; returns its order's state and where its bodies were in each frame."""
    squad.move_to(goal)
    seen = []

    def is_over():
        seen.append([tuple(one.get_global_position()) for one in squad.get_characters()])
        return squad.get_order()["state"] in ("done", "failed")

    until(is_over, physics_frames, most=most)
    return squad.get_order()["state"], seen


def ready(level, physics_frames):
    """The map is there, and the bodies stand."""
    server, world_map = singleton("NavigationServer3D"), level.world.find_world_3d().get_navigation_map()
    until(lambda: server.map_get_iteration_id(world_map)
          and int(server.map_get_closest_point_owner(world_map, Vector3())), physics_frames, most=100_000)


@pytest.mark.parametrize("middle_m", [(0.0,), (0.9,), (0.0, 0.9)])
def test_bodies_of_a_squad_go_up_stairs_and_down(node, stairs, physics_frames, middle_m):  # noqa: F811
    squad = squad_of(
        node, stairs, [Vector3(-3 - number % 2, 0, number // 2 * 0.9 - 0.5) for number in range(4)], middle_m=middle_m)
    ready(stairs, physics_frames)
    for goal, high in ((Vector3(6, UP_M, 0), UP_M), (Vector3(-4, 0, 0), 0.0)):
        state, seen = marched(squad, goal, physics_frames)
        assert state == "done"
        feet = [one[1] - middle_m[number % len(middle_m)] for number, one in enumerate(seen[-1])]
        assert feet == pytest.approx([high] * 4, abs=0.05)
        assert squad.get_stragglers() == []
        if high:
            heights = np.array(seen)[..., 1]
            assert (np.maximum.accumulate(heights, axis=0) - heights).max() < 0.05       # nobody hops from step to step


def test_bodies_of_a_squad_keep_their_pace_on_a_ramp(node, physics_frames):
    house = House(node, "ramp")
    squad = squad_of(node, house, [Vector3(-3, 0, 0)])
    ready(house, physics_frames)
    state, seen = marched(squad, Vector3(7, 4, 0), physics_frames)
    assert state == "done"
    on_ramp = [one[0][0] for one in seen if 0.8 < one[0][0] < 3.2]
    assert len(on_ramp) / 60 == pytest.approx(2.4 * 2**0.5 / (0.85 * 3.0), rel=0.1)


def test_nobody_climbs_a_comrade_or_a_wall_on_level_ground(node, stairs, physics_frames):  # noqa: F811
    squad = squad_of(
        node, stairs, [Vector3(-5 + number % 3 * 0.65, 0, number // 3 * 0.65 - 0.5) for number in range(6)],
        middle_m=(0.0, 0.9))
    stairs.wall(Vector3(-2.8, 0.5, 0.0), Vector3(0.2, 1, 1))
    ready(stairs, physics_frames)
    squad.move_to(Vector3(-1, 0, 0))
    heights = []
    for _ in range(300):
        physics_frames(1)
        heights += [one.get_global_position().y - (0.0, 0.9)[number % 2]
                    for number, one in enumerate(squad.get_characters())]
    assert max(heights) < 0.05


def test_a_member_that_a_script_makes_jump_marches_on(node, stairs, physics_frames):  # noqa: F811
    squad = squad_of(node, stairs, [Vector3(-5.5, 0, 0)])
    ready(stairs, physics_frames)
    (body,) = squad.get_characters()
    squad.move_to(Vector3(-1, 0, 0))
    physics_frames(30)
    body.set_velocity(body.get_velocity() + Vector3(0, 5, 0))
    heights = []
    until(lambda: heights.append(body.get_global_position().y) or squad.is_idle(), physics_frames)
    assert max(heights) == pytest.approx(5.0**2 / 2 / 9.8, abs=0.06)
    assert tuple(body.get_global_position()) == pytest.approx((-1, 0, 0), abs=0.35)


def test_a_floating_body_of_a_squad_does_not_fall(node, stairs, physics_frames):  # noqa: F811
    squad = squad_of(node, stairs, [Vector3(-5.5, 1.5, 0)])
    (body,) = squad.get_characters()
    body.set_motion_mode(1)
    ready(stairs, physics_frames)
    state, seen = marched(squad, Vector3(-1, 1.5, 0), physics_frames)
    assert state == "done"
    assert min(one[0][1] for one in seen) > 1.3


def test_a_body_of_a_squad_climbs_no_wall_below_its_way(node, physics_frames):
    house = House(node, "ramp")
    squad = squad_of(node, house, [Vector3(-3, 0, 0)])
    ready(house, physics_frames)
    squad.move_to(Vector3(7, 4, 0))
    (body,) = squad.get_characters()
    until(lambda: body.get_global_position().x > 3.3, physics_frames)
    for side in (-1, 1):
        house.wall(Vector3(-4, 4, side), Vector3(0.2, 8, 3))
    body.position = Vector3(-4.5, 0, 0)
    heights = []
    for _ in range(240):
        physics_frames(1)
        heights.append(body.get_global_position().y)
    assert max(heights) < 0.5
