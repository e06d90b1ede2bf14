"""HabitMoveTo in houses with a ramp, a ladder and two floors, whose map lies half a metre above all of it."""
from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from addons.ai_core.bridge.gd import NodePath, Vector3, construct, follow_path

MAP_M, UPPER_M = 0.5, 4.0
WAYS = ("ticket", "agent")


class House:
    """A ground floor, an upper one of 4 by 6 m beside it, and a ramp of 45 degrees, a ladder, or a link between."""

    def __init__(self, node, way_up):
        self.node = node
        self.world = node("SubViewport", own_world_3d=True)
        ramp = way_up == "ramp"
        edge = 3.5 if way_up == "ladder" else 0
        corners = [(-8, 0, -3), (-8, 0, 3), (edge, 0, 3), (edge, 0, -3), (4, 4, -3), (4, 4, 3), (8, 4, 3), (8, 4, -3)]
        mesh = construct("NavigationMesh")
        mesh.set_vertices([Vector3(x, y + MAP_M, z) for x, y, z in corners])
        for polygon in ([0, 1, 2, 3], [7, 4, 5, 6], *([[3, 2, 5, 4]] if ramp else [])):
            mesh.add_polygon(polygon)
        node("NavigationRegion3D", self.world, navigation_mesh=mesh)
        if not ramp:
            up = Vector3(0, MAP_M, 0)
            node("NavigationLink3D", self.world, start_position=Vector3(edge - 0.2, 0, 2) + up,
                 end_position=Vector3(4.2, UPPER_M, 2) + up)
        self.wall(Vector3(-2, -0.5, 0), Vector3(12, 1, 6))
        self.wall(Vector3(6, UPPER_M - 0.5, 0), Vector3(4, 1, 6))
        if ramp:
            half = math.sqrt(0.5)
            self.wall(Vector3(2 + half / 2, 2 - half / 2, 0), Vector3(4 / half, 1, 6), math.pi / 4)
        self.scheduler = node("AIScheduler", self.world, budget=0.0, update=1)
        node("PathService", self.scheduler, name="Ways", fallback=0)

    def wall(self, at, size, turned=0.0):
        body, shape = self.node("StaticBody3D", self.world, position=at, rotation=Vector3(0, 0, turned)), \
            construct("CollisionShape3D")
        shape.shape = construct("BoxShape3D")
        shape.shape.size = size
        body.add_child(shape)

    def walker(self, start, goal, by="ticket", kind="CharacterBody3D", middle_m=0.0, arrival_m=0.1):
        """Somebody who goes by ticket, agent or straight; his place is so far above his feet."""
        actor = self.node(kind, self.scheduler, position=start)
        if kind == "CharacterBody3D":
            shape = construct("CollisionShape3D")
            shape.shape = construct("CapsuleShape3D")
            shape.shape.radius, shape.shape.height = 0.3, 1.8
            shape.position = Vector3(0, 0.9 - middle_m, 0)
            actor.add_child(shape)
        tree, go = construct("HabitTree"), construct("HabitMoveTo")
        go.target_point, go.speed, go.arrival_distance, go.cooldown = goal, 4.0, arrival_m, 1e6
        go.stuck_after = 4.0
        if by == "ticket":
            go.paths = NodePath("../../../Ways")
        elif by == "agent":
            actor.add_child(construct("NavigationAgent3D"))
        tree.add_child(go)
        actor.add_child(tree)
        return SimpleNamespace(actor=actor, go=go)


@pytest.fixture
def house(node):
    return lambda way_up="ramp": House(node, way_up)


@pytest.fixture
def walk(physics_frames, signals):
    """Lets a walker go to the end; returns how it ended and where he was, from where the way was known."""

    def walked(walker, each=None):
        ends, places = signals(walker.go, "exited"), []
        start = walker.actor.position
        for _ in range(100_000):      # frames take microseconds here; maps are built in real time
            physics_frames(1)
            here = walker.actor.position
            if math.dist((here.x, here.z), (start.x, start.z)) > 1e-3:
                places.append(here)
                if each is not None:
                    each(len(places))
            if ends:
                break
        return ends[0][0], places

    return walked


def floor_at(place):
    return min(max(place.x, 0), UPPER_M)


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("kind", ["CharacterBody3D", "Node3D"])
@pytest.mark.parametrize("goal", [Vector3(2, 2, 0), Vector3(7, UPPER_M, 1)])
def test_it_comes_exactly_to_goals_on_a_ramp_and_above_it(house, walk, by, kind, goal):
    ended, places = walk(house().walker(Vector3(-2, 0, 1), goal, by, kind))
    assert ended == 1
    assert math.dist((places[-1].x, places[-1].z), (goal.x, goal.z)) <= 0.11
    assert abs(places[-1].y - goal.y) < 0.25


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize(("start", "goal"), [
    (Vector3(-2, 0, 1), Vector3(7, UPPER_M, 1)), (Vector3(7, UPPER_M, 1), Vector3(-2, 0, 1))])
def test_a_body_stays_on_the_floor_and_does_not_rise_to_the_map(house, walk, by, start, goal):
    _, places = walk(house().walker(start, goal, by))
    heights = [one.y - floor_at(one) for one in places]
    assert min(heights) > -0.02
    assert max(heights) < 0.2            # a capsule's middle over a slope is so high


@pytest.mark.parametrize("by", WAYS)
def test_a_body_that_sets_out_in_the_air_comes_down(house, walk, by):
    ended, places = walk(house().walker(Vector3(-6, 1.5, 0), Vector3(-2, 0, 0), by))
    assert ended == 1
    assert places[-1].y == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("by", [*WAYS, "straight"])
def test_a_body_with_a_centred_origin_arrives_on_the_floor(house, walk, by):
    ended, places = walk(house().walker(Vector3(-6, 0.9, 0), Vector3(-2, 0, 0), by, middle_m=0.9))
    assert ended == 1
    assert places[-1].y == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("kind", ["CharacterBody3D", "Node3D"])
@pytest.mark.parametrize("way_up", ["ladder", "link"])
def test_up_a_ladder_or_a_link_it_arrives_above_and_not_below(house, walk, by, kind, way_up):
    ended, places = walk(house(way_up).walker(Vector3(-2, 0, 2), Vector3(5, UPPER_M, 2), by, kind))
    assert ended == 1
    assert places[-1].y == pytest.approx(UPPER_M, abs=0.15)
    assert places[-1].x == pytest.approx(5, abs=0.11)


@pytest.mark.parametrize("by", WAYS)
def test_who_falls_to_another_floor_gets_another_way(house, walk, by):
    walker = house().walker(Vector3(7, UPPER_M, 1), Vector3(7, UPPER_M, -2.5), by)

    def knock(step):
        if step == 20:
            walker.actor.position = Vector3(-3, 0, 1)

    ended, places = walk(walker, knock)
    assert ended == 1
    assert math.dist(tuple(places[-1]), (7, UPPER_M, -2.5)) < 0.15
    assert max(one.y - floor_at(one) for one in places[25:]) < 0.2


@pytest.mark.parametrize("by", [*WAYS, "straight"])
def test_a_body_does_not_float_or_arrive_below_its_goal(house, walk, by):
    ended, places = walk(house().walker(Vector3(-6, 0, 0), Vector3(-2, 3, 0), by))
    assert ended == 2
    assert max(one.y for one in places) < 0.1


def test_a_body_that_floats_flies_its_way(house, walk):
    walker = house().walker(Vector3(-6, 1.5, 0), Vector3(-2, 1.5, 0), "straight")
    walker.actor.set_motion_mode(1)
    ended, places = walk(walker)
    assert ended == 1
    assert min(one.y for one in places) == pytest.approx(1.5)


def test_a_path_is_joined_on_the_same_floor():
    points = np.array([(0, 0, 0), (8, 0, 0), (8, 4, 4), (2, 4, 1), (0, 4, 0)], np.float32)
    for height, step, join in (0, 1, [2, 0, 0]), (4, 4, None), (9, 0, None):    # on the fourth point at height 4
        memory = {}
        follow_path(memory, points, Vector3(2, height, 1), 0.0, falls=False)
        assert (memory["step"], memory["join"]) == (step, join)


def jumped(house, walk, by, goal, at_frame):
    """Lets a body jump in a frame, as a script does; returns how its walk ends, and its heights above the floor."""
    walker = house().walker(Vector3(-6, 0, 1), goal, by)

    def jump(step):
        if step == at_frame:
            velocity = walker.actor.get_velocity()
            walker.actor.set_velocity(Vector3(velocity.x, 5.0, velocity.z))

    ended, places = walk(walker, jump)
    return ended, [one.y - floor_at(one) for one in places], places[-1]


@pytest.mark.parametrize("by", [*WAYS, "straight"])
def test_a_body_that_a_script_makes_jump_walks_on(house, walk, by):
    goal = Vector3(-1, 0, 1)
    ended, heights, last = jumped(house, walk, by, goal, 20)
    assert ended == 1
    assert max(heights) == pytest.approx(5.0**2 / 2 / 9.8, abs=0.06)
    assert tuple(last) == pytest.approx(tuple(goal), abs=0.11)


@pytest.mark.parametrize("by", WAYS)
def test_a_body_jumps_on_a_ramp_and_comes_up(house, walk, by):
    ended, heights, _ = jumped(house, walk, by, Vector3(7, UPPER_M, 1), 105)
    assert ended == 1
    assert 0.3 < max(heights) < 1.3


@pytest.mark.parametrize("by", WAYS)
def test_a_body_does_not_take_off_at_the_top_of_a_ramp(house, walk, by):
    walker = house().walker(Vector3(-2, 0, 1), Vector3(7, UPPER_M, 1), by)
    walker.go.speed = 12.0
    _, places = walk(walker)
    assert max(one.y - floor_at(one) for one in places) < 0.25
