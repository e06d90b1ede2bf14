"""What bars bodies where their way rises: they go over steps, not over doors and comrades, and do not hop there."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3
from tests.in_godot.squads.squad_world import until
from tests.in_godot.squads.test_squad_stairs import ready, squad_of
from tests.in_godot.walking.test_walking_on_floors import WAYS, House, walk  # noqa: F401 - a fixture
from tests.in_godot.walking.test_walking_stairs import UP_M, stairs  # noqa: F401 - a fixture

ABOVE_M = 0.2
"""A capsule's feet are so high above a ramp of 45 degrees, at most."""


def heights_at_a_door(bodies, physics_frames):
    """Lets bodies come to a door that is shut across a ramp at 2 m; returns how high each is above it in each frame."""
    until(lambda: bodies[0].get_global_position().x > 0.5, physics_frames, most=100_000)
    seen = []
    for _ in range(360):
        physics_frames(1)
        seen.append([one.get_global_position() for one in bodies])
    assert seen[-1][0].x > 0.9
    return [[place.y - max(0.0, place.x) for place in one] for one in seen]


def test_squad_bodies_do_not_climb_or_hop_at_a_ramp_door(node, physics_frames):
    house = House(node, "ramp")
    squad = squad_of(node, house, [Vector3(-3, 0, 0), Vector3(-4, 0, 0)])
    house.wall(Vector3(2, 2, 0), Vector3(0.2, 5, 6))
    ready(house, physics_frames)
    squad.move_to(Vector3(7, 4, 0))
    heights = heights_at_a_door(squad.get_characters(), physics_frames)
    assert max(map(max, heights)) < ABOVE_M + 0.05       # the second squeezes past the first
    last = [one[0] for one in heights[-120:]]
    assert max(last) - min(last) < 0.005


@pytest.mark.parametrize("by", [*WAYS, "straight"])
def test_a_body_does_not_climb_or_hop_at_a_ramp_door(node, physics_frames, by):
    house = House(node, "ramp")
    house.wall(Vector3(2, 2, 0), Vector3(0.2, 5, 6))
    walker = house.walker(Vector3(-3, 0, 0), Vector3(7, 4, 0), by)
    walker.go.stuck_after = 0.0
    heights = [one for one, in heights_at_a_door([walker.actor], physics_frames)]
    assert max(heights) < ABOVE_M
    assert max(heights[-120:]) - min(heights[-120:]) < 0.005


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("side", [-1, 1])
def test_a_body_climbs_stairs_along_a_wall(stairs, walk, by, side):  # noqa: F811
    stairs.wall(Vector3(1, 2, 1.3 * side), Vector3(5, 4, 0.6))
    ended, places = walk(stairs.walker(Vector3(-1, 0, 0.6 * side), Vector3(6, UP_M, 1.3 * side), by, arrival_m=0.5))
    assert ended == 1
    assert places[-1].y == pytest.approx(UP_M, abs=0.05)
    assert min(abs(one.z) for one in places if 0 < one.x < 3) > 0.6


@pytest.mark.parametrize("by", WAYS)
def test_a_body_goes_up_stairs_below_a_low_ceiling(stairs, walk, by):  # noqa: F811
    for step in range(10):
        stairs.wall(Vector3(step * 0.3 + 0.15, 2.4 + step * 0.2 + 0.5, 0), Vector3(0.3, 1, 4))
    ended, places = walk(stairs.walker(Vector3(-3, 0, 0), Vector3(6, UP_M, 0), by))
    assert ended == 1
    assert places[-1].y == pytest.approx(UP_M, abs=0.05)


@pytest.mark.parametrize("by", [*WAYS, "squad"])
def test_who_walks_up_a_ramp_is_on_the_floor_in_every_frame(node, physics_frames, by):
    house = House(node, "ramp")
    if by == "squad":
        squad = squad_of(node, house, [Vector3(-3, 0, 0)])
        ready(house, physics_frames)
        squad.move_to(Vector3(7, 4, 0))
        (body,) = squad.get_characters()
    else:
        body = house.walker(Vector3(-3, 0, 0), Vector3(7, 4, 0), by).actor
    until(lambda: body.get_global_position().x > 0.3, physics_frames, most=100_000)
    in_air = 0
    while body.get_global_position().x < 3.5:
        physics_frames(1)
        in_air += not body.is_on_floor()
    assert in_air == 0
