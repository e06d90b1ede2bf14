"""The guards of addons/ai_core/examples, dropped into a level: their whole story, without a script."""
from __future__ import annotations

import gc
import math
import weakref

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct, singleton

pytestmark = pytest.mark.in_its_own_world


@pytest.fixture(params=["3d", "2d"])
def level(request, node, world, scheduler, physics_frames):
    """A level with a floor, a guard and a thief; ``level.place(x, z)`` is a position in it, in metres."""
    return Level(request.param == "2d", node, world, scheduler)


class Level:
    def __init__(self, is_flat, node, world, scheduler):
        self.is_flat, self.unit = is_flat, 32.0 if is_flat else 1.0
        ending = "2D" if is_flat else "3D"
        node("SenseManager", scheduler, dimensions=1 if is_flat else 0)
        if not is_flat:
            floor = node("StaticBody3D", world, position=Vector3(0, -0.5, 0))
            shape = construct("BoxShape3D")
            shape.set("size", Vector3(100, 1, 100))
            node("CollisionShape3D", floor, shape=shape)
        scene = singleton("ResourceLoader").load(f"res://addons/ai_core/examples/guard_{ending.lower()}.tscn")
        self.guard = scene.instantiate()
        scheduler.add_child(self.guard)
        self.thief = node(f"Node{ending}", scheduler, name="Thief", position=self.place(0, 40))
        self.body = node(f"SenseSource{ending}", self.thief)
        self.body.position = self.place(0, 0) if is_flat else Vector3(0, 1, 0)
        self.habits = self.guard.get_node("Habits")

    def place(self, x, z):
        """Return a position: z is ahead of the guard, x to its right (m)."""
        return Vector2(z, x) * self.unit if self.is_flat else Vector3(x, 0, -z)

    def distance(self, place):
        """Return the distance of the guard from a position (m)."""
        offset = tuple(place - self.guard.position)
        return math.hypot(offset[0], offset[-1]) / self.unit


@pytest.fixture
def story(level, physics_frames):
    """``story(frames)``: let time pass; returns the habits that began until now, in order."""
    begun = []
    level.habits.connect("habit_entered", lambda path, _reason: begun.append(path.split("/")[1]))

    def passed(frames):
        physics_frames(frames)
        return [one for number, one in enumerate(begun) if number == 0 or begun[number - 1] != one]

    passed.begun = begun
    return passed


def test_a_guard_hides_nobody_from_the_guard_behind_it(level, story):
    level.guard.position = level.place(0, 0)
    other = singleton("ResourceLoader").load(level.guard.scene_file_path).instantiate()
    level.guard.get_parent().add_child(other)
    other.position = level.place(0, 2)
    level.thief.position = level.place(0, 8)
    story(100)
    assert level.habits.get_value("is_in_view") is True
    assert story.begun[-1] == "Chase"


def test_a_guard_sees_chases_loses_searches_and_returns(level, story):
    level.guard.position = post = level.place(0, 0)
    level.thief.position = level.place(0, -40)
    assert story(60) == ["Patrol"]
    level.thief.position = level.place(1, 8)
    assert story(8) == ["Patrol", "Suspect"]
    assert story(100) == ["Patrol", "Suspect", "Chase"]
    assert level.distance(level.thief.position) < 6
    for step in range(90):
        level.thief.position = level.place(1, 8 + step * 0.05)
        story(1)
    assert level.distance(level.thief.position) < 3
    assert level.habits.get_value("target") == level.thief
    lost_at = level.thief.position
    level.thief.position = level.place(0, -40)
    assert story(240)[3:] == ["Search"]
    assert level.distance(lost_at) < 6
    assert story(1200)[4:] == ["Patrol"]
    assert level.distance(post) < 0.8
    assert story.begun == ["Patrol", "Suspect", "Chase", "Search", "Patrol"], "each begins and ends once"
    assert level.habits.get_value("last_known_position") is None


def test_freed_guard_leaves_no_reference_cycle(level, story):
    level.guard.position, level.thief.position = level.place(0, 0), level.place(1, 8)
    assert story(150)[-1] == "Chase"
    gone = [weakref.ref(one) for one in (level.habits, level.habits.core, *level.habits.get_children())]
    gc.disable()
    level.guard.free()
    level.guard = level.habits = None
    left = [one() for one in gone if one() is not None]
    gc.enable()
    assert left == []


def test_a_guard_investigates_a_noise_and_returns(level, story):
    level.thief.position = level.place(5, -7)
    assert story(30) == ["Patrol"]
    level.body.emit("hearing", 3.0)
    level.thief.position = level.place(0, -60)
    assert story(150) == ["Patrol", "Search"]
    assert level.distance(level.place(5, -7)) < 6
    assert story(1200) == ["Patrol", "Search", "Patrol"]


def test_a_guard_without_a_route_keeps_its_post(level, story):
    post = level.guard.position
    level.thief.position = level.place(0, -40)
    assert story(300) == ["Patrol"]
    assert level.distance(post) < 0.1
