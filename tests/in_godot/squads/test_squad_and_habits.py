"""Members of a squad that also have walking habits: one of the two moves the character at a time."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct
from tests.in_godot.squads.squad_world import character

pytestmark = pytest.mark.in_its_own_world


@pytest.fixture
def squad(node, scheduler):
    return node("Squad", scheduler, name="Alpha", keep_clear=1, think_period=6)


def habits_of(body, *habits):
    tree = construct("HabitTree")
    for name, kind, settings in habits:
        habit = construct(kind)
        habit.set("name", name)
        for key, value in settings.items():
            habit.set(key, value)
        tree.add_child(habit)
    body.add_child(tree)
    return tree


AWAY = ("Go", "HabitMoveTo", {"target_point": Vector3(0, 0, 60), "speed": 3.0})
PATROL = ("Patrol", "HabitPatrol", {"speed": 3.0})


@pytest.mark.parametrize("kind", ["CharacterBody3D", "Node3D"])
@pytest.mark.parametrize("habits", [(AWAY,), (PATROL,)])
def test_squad_moves_its_members_while_it_has_an_order(node, world, squad, physics_frames, kind, habits):
    bodies = []
    for number in range(3):
        body, _ = character(node, world, Vector3(number * 2, 0, 0), kind, squad_path=squad.get_path())
        if kind == "CharacterBody3D":
            body.motion_mode = 1
        bodies.append(body)
    trees = [habits_of(body, *habits) for body in bodies]
    physics_frames(10)
    squad.move_to(Vector3(0, 0, -9))
    frames, before = 0, [body.position.z for body in bodies]
    physics_frames(3)
    while not squad.is_idle():
        physics_frames(1)
        frames += 1
        assert frames < 300, "without habits it takes 252"
        now = [body.position.z for body in bodies]
        assert all(one <= last + 0.11 for one, last in zip(now, before, strict=True)), "none turns back"
        before = now
    assert squad.get_order_state() == "done"
    assert [len(tree.get_active_paths()) for tree in trees] == [1, 1, 1], "the habits only waited"
    physics_frames(90)
    assert all(body.position.z > last + 1 for body, last in zip(bodies, before, strict=True)), "then they walk on"


def test_habits_walk_where_a_script_moves_the_member(node, world, squad, physics_frames):
    body, member = character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path())
    member.set("mover", 4)
    habits_of(body, ("Obey", "HabitMoveTo", {"target_key": "event.position", "begins_on": ["order_given"]}))
    physics_frames(10)
    squad.move_to(Vector3(0, 0, -6))
    physics_frames(180)
    assert tuple(body.position) == pytest.approx((0, 0, -6), abs=0.6)
