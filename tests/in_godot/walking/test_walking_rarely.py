"""HabitMoveTo of characters who have few turns, so that they come past corners and ends of their way in one."""
from __future__ import annotations

import math
from itertools import pairwise

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct, singleton
from tests.in_godot.walking.test_walking_on_floors import House

WAYS, BODIES = ("ticket", "agent"), ("CharacterBody3D", "Node3D")
MOST_FRAMES = 1200
IDLE = 0


class Yard(House):
    """A floor of 12 by 8 m, and a wall on it that one goes around where x is 3 m."""

    def __init__(self, node):
        super().__init__(node, "ladder")
        self.world.queue_free()
        self.world = node("SubViewport", own_world_3d=True)
        mesh = construct("NavigationMesh")
        mesh.set_vertices([Vector3(x, 0, z) for z in (-3.6, -0.4, 0.4, 3.6) for x in (-5.6, 3.4, 5.6)])
        for first in (0, 1, 4, 6, 7):
            mesh.add_polygon([first, first + 1, first + 4, first + 3])
        node("NavigationRegion3D", self.world, navigation_mesh=mesh)
        self.wall(Vector3(0, -0.5, 0), Vector3(14, 1, 10))
        self.wall(Vector3(-1.5, 1, 0), Vector3(9, 2, 0.1))
        self.scheduler = node("AIScheduler", self.world, budget=0.0, update=1)
        node("PathService", self.scheduler, name="Ways", fallback=0)


@pytest.fixture
def walk(physics_frames, signals):
    """Lets a walker who has one turn in so many frames go to the end; returns how it ended and where he was."""

    def walked(walker, period, each=None):
        walker.go.get_parent().period = period
        ends, places, start = signals(walker.go, "exited"), [], walker.actor.position
        for _ in range(100_000):         # maps are built in real time
            physics_frames(1)
            here = walker.actor.position
            if places or math.dist(tuple(here), tuple(start)) > 1e-2:
                places.append(here)
                if each is not None:
                    each(len(places))
            if ends or len(places) > MOST_FRAMES:
                break
        return (ends[0][0] if ends else None), places

    return walked


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("period", [6, 30])
def test_it_goes_around_a_thin_wall_and_not_against_it(node, walk, by, kind, period):
    walker = Yard(node).walker(Vector3(0, 0, -0.6), Vector3(0, 0, 0.6), by, kind)
    ended, places = walk(walker, period)
    assert ended == 1
    assert math.dist(tuple(places[-1]), (0, 0, 0.6)) < 0.15
    # 7.6 m, and what is left of the last turn
    assert len(places) <= 7.6 / 4 * 60 + 2 * period


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("way_up", ["ramp", "ladder", "link"])
@pytest.mark.parametrize(("start", "goal"), [
    (Vector3(-2, 0, 2), Vector3(5, 4, 2)), (Vector3(6, 4, 2), Vector3(-2, 0, 2))])
def test_it_comes_up_and_down(node, walk, by, kind, way_up, start, goal):
    ended, places = walk(House(node, way_up).walker(start, goal, by, kind), 30)
    assert ended == 1
    assert tuple(places[-1]) == pytest.approx(tuple(goal), abs=0.15)


def test_it_has_arrived_where_its_goal_is_and_not_where_that_was(node, walk):
    house = House(node, "ramp")
    goal = node("Node3D", house.world, position=Vector3(-1, 0, 0))
    walker = house.walker(Vector3(-6, 0, 0), Vector3(0, 0, 0))
    walker.go.target_node = walker.go.get_path_to(goal)

    def move_aside(frame):
        if frame == 10:
            goal.position = Vector3(-1, 0, 1.5)

    ended, places = walk(walker, 30, move_aside)
    assert ended == 1
    assert tuple(places[-1]) == pytest.approx((-1, 0, 1.5), abs=0.15)


def test_up_a_link_a_body_does_not_fall_back_again_and_again(node, walk):
    _, places = walk(House(node, "link").walker(Vector3(-2, 0, 2), Vector3(5, 4, 2)), 1)
    rising = [other.y - one.y for one, other in pairwise(places) if 0.5 < one.y < 3.5]
    assert min(rising) > 0


def test_idle_turns_as_long_as_physics_frames_move_it_as_far(node, scheduler, frames):
    engine, actor = singleton("Engine"), node("CharacterBody2D", scheduler)
    usual, scheduler.update = engine.get_physics_ticks_per_second(), IDLE
    brain, go = construct("HabitTree"), construct("HabitMoveTo")
    brain.period, go.target_point, go.speed = 2, Vector3(300, 400, 0), 100.0
    brain.add_child(go)
    actor.add_child(brain)
    try:
        engine.set_physics_ticks_per_second(30)
        frames(2)
        before = actor.position
        frames(60)
    finally:
        engine.set_physics_ticks_per_second(usual)
    assert isinstance(before, Vector2)
    assert math.dist(actor.position, before) == pytest.approx(100, abs=4)
