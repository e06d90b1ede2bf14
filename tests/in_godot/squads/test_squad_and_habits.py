"""Members of a squad that also have walking habits: one of the two moves the character at a time."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import NodePath, PackedStringArray, Vector2, Vector3, construct
from addons.ai_core.nodes.habits.moving_habits import HabitMoveTo
from tests.in_godot.squads.squad_world import character, places, until

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


AWAY = ("Go", "HabitMoveTo", {"target_point": Vector3(0, 0, 60), "speed": 3.0, "turn_speed": 0.0})
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


@pytest.mark.parametrize("kind", ["CharacterBody3D", "Node3D"])
@pytest.mark.parametrize("order", ["hold", "form_up"])
def test_members_stay_until_another_order_or_none(node, world, squad, physics_frames, kind, order):
    body, _ = character(node, world, Vector3(0, 0, 0), kind, squad_path=squad.get_path())
    if kind == "CharacterBody3D":
        body.motion_mode = 1
    habits_of(body, AWAY)
    physics_frames(30)
    assert body.position.z > 1
    if order == "hold":
        squad.hold()
    else:
        squad.form_up(Vector3(0, 0, 1))
        physics_frames(90)
    assert squad.get_order_state() == "done"
    at = tuple(body.position)
    physics_frames(60)
    assert tuple(body.position) == pytest.approx(at, abs=1e-4)
    saved = squad.save_state()
    squad.dismiss()
    assert squad.get_order_state() == "replaced"
    physics_frames(60)
    assert body.position.z > at[2] + 2
    squad.load_state(saved)
    at = tuple(body.position)
    physics_frames(60)
    assert tuple(body.position) == pytest.approx(at, abs=1e-4)
    squad.move_to(Vector3(0, 0, at[2] + 1))
    physics_frames(200)
    assert body.position.z > at[2] + 2


def test_a_body_in_the_air_falls_while_its_squad_holds(node, world, squad, physics_frames):
    body, _ = character(node, world, Vector3(0, 9, 0), "CharacterBody3D", squad_path=squad.get_path())
    habits_of(body, AWAY)
    physics_frames(10)
    squad.hold()
    before = body.position
    physics_frames(20)
    assert body.position.y < before.y - 0.5
    assert (body.position.x, body.position.z) == pytest.approx((before.x, before.z), abs=1e-4)


def test_a_dismissed_squad_stops(node, world, squad, physics_frames):
    bodies = [character(node, world, Vector3(2 * one, 0, 0), squad_path=squad.get_path())[0] for one in range(3)]
    physics_frames(2)
    squad.move_to(Vector3(0, 0, -20))
    physics_frames(120)
    squad.dismiss()
    physics_frames(2)
    before = [tuple(one.position) for one in bodies]
    physics_frames(30)
    assert [tuple(one.position) for one in bodies] == before
    assert squad.is_idle()
    assert min(z for _, _, z in before) < -1
    assert squad.move_to(Vector3(0, 0, 0)) == 2


OBEY = ("Obey", "HabitMoveTo", {"target_key": "event.position", "begins_on": ["order_given"]})
SCRIPT = 4


def active(trees):
    return [str(path).removeprefix("HabitTree/") for tree in trees for path in tree.get_active_paths()]


def at_slots(squad):
    """Return whether a character of a squad is within the tolerance of each slot."""
    offsets = np.asarray(squad.get_slot_places())[:, None] - places(squad)
    return bool((np.linalg.norm(offsets, axis=2).min(axis=1) <= squad.tolerance).all())


@pytest.mark.parametrize("kind", ["CharacterBody3D", "Node3D"])
def test_habits_walk_to_the_places_in_the_formation(node, world, squad, physics_frames, kind):
    bodies, trees, done = [], [], []
    for number in range(3):
        body, _ = character(
            node, world, Vector3(3 * number, 0, 8), kind, squad_path=squad.get_path(), mover=SCRIPT)
        if kind == "CharacterBody3D":
            body.motion_mode = 1
        bodies.append(body)
        trees.append(habits_of(body, OBEY, PATROL))
    physics_frames(10)
    squad.order_done.connect(done.append)
    for number, order in enumerate((squad.move_to, squad.form_up), 1):
        order(Vector3(0, 0, -4.0 * number))
        frames = 0
        while not done:
            physics_frames(1)
            frames += 1
            assert frames < 400
            assert done or active(trees) == ["Obey"] * 3
        assert (done.pop(), list(squad.get_stragglers())) == (number, [])
        assert at_slots(squad)
    physics_frames(30)
    assert active(trees) == ["Obey"] * 3, "they stay formed up"
    assert at_slots(squad)
    squad.hold()
    before = [tuple(one.position) for one in bodies]
    physics_frames(60)
    assert [tuple(one.position) for one in bodies] == before
    squad.dismiss()
    physics_frames(3)
    assert active(trees) == ["Patrol"] * 3


def test_habits_keep_places_in_2d_and_with_a_period(node, scheduler, physics_frames):
    squad = node("Squad", scheduler, dimensions=1, keep_clear=1, think_period=6)
    trees = []
    for number in range(3):
        body, _ = character(
            node, scheduler, Vector2(90 * number, 0), "CharacterBody2D", squad_path=squad.get_path(), mover=SCRIPT)
        body.motion_mode = 1
        trees.append(habits_of(body, OBEY, ("Patrol", "HabitPatrol", {})))
        trees[-1].set("period", 1 + number)
    physics_frames(10)
    squad.form_up(Vector2(0, 300))
    until(squad.is_idle, physics_frames, 600)
    assert (squad.get_order_state(), list(squad.get_stragglers())) == ("done", [])
    assert at_slots(squad)
    physics_frames(20)
    assert active(trees) == ["Obey"] * 3
    assert at_slots(squad)


def test_another_order_turns_a_habit_that_walks(node, world, squad, physics_frames):
    body, _ = character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path(), mover=SCRIPT)
    tree = habits_of(body, OBEY, PATROL)
    physics_frames(10)
    squad.move_to(Vector3(0, 0, -60))
    physics_frames(40)
    number = squad.move_to(Vector3(0, 0, 0))
    physics_frames(5)
    assert tree.get_node("Obey").get_event()["order"] == number
    physics_frames(120)
    assert tuple(body.position) == pytest.approx((0, 0, 0), abs=squad.tolerance)
    assert squad.get_order_state() == "done"


def test_a_loaded_habit_walks_on_to_its_place(node, world, squad, scheduler, physics_frames):
    body, _ = character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path(), mover=SCRIPT)
    tree = habits_of(body, OBEY, PATROL)
    physics_frames(10)
    squad.move_to(Vector3(0, 0, -8))
    physics_frames(40)
    saved, at = scheduler.save_state(), body.position
    squad.dismiss()
    physics_frames(20)
    assert active([tree]) == ["Patrol"]
    body.position = at
    scheduler.load_state(saved)
    until(squad.is_idle, physics_frames, 240)
    assert tuple(body.position) == pytest.approx((0, 0, -8), abs=squad.tolerance)
    assert squad.get_order_state() == "done"


def steps(body, physics_frames, frames):
    """Return how far a character goes along z in each of some frames."""
    before, found = body.position.z, []
    for _ in range(frames):
        physics_frames(1)
        found.append(body.position.z - before)
        before = body.position.z
    return found


def test_a_walker_that_joins_a_marching_squad_obeys_at_once(node, world, squad, physics_frames):
    character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path())
    squad.move_to(Vector3(0, 0, -60))
    recruit = node("Node3D", world, position=Vector3(4, 0, 0))
    habits_of(recruit, AWAY)
    physics_frames(10)
    assert recruit.position.z > 0
    node("SquadMember", recruit, squad_path=squad.get_path())
    physics_frames(2)
    walked = steps(recruit, physics_frames, 120)
    assert max(walked) < 0.04, "of the 0.05 of the habit; the squad goes no faster to a slot"
    assert sum(walked) < -1


def test_a_walker_that_leaves_a_squad_and_joins_another_obeys(node, world, squad, physics_frames):
    body, member = character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path())
    habits_of(body, AWAY)
    physics_frames(10)
    body.remove_child(member)
    physics_frames(10)
    squad.hold()
    character(node, world, Vector3(4, 0, 0), squad_path=squad.get_path())
    squad.move_to(Vector3(0, 0, -60))
    body.add_child(member)
    physics_frames(2)
    assert max(steps(body, physics_frames, 60)) < 0.04


def test_a_task_of_one_member_lets_the_habits_of_all_wait(node, world, squad, physics_frames):
    character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path(), roles=PackedStringArray(["scout"]))
    others = [character(node, world, Vector3(4 * n, 0, 0), squad_path=squad.get_path())[0] for n in (1, 2)]
    for one in others:
        habits_of(one, AWAY)
    physics_frames(30)
    assert not squad.moves_members
    assert all(one.position.z > 0 for one in others)
    squad.use_tactic("scouting")
    for _ in range(60):
        physics_frames(1)
        if squad.moves_members:
            break
    assert squad.get_tasks()
    assert squad.is_idle()
    physics_frames(2)
    for _ in range(60):
        assert squad.moves_members
        before = [one.position.z for one in others]
        physics_frames(1)
        assert all(one.position.z <= last + 1e-6 for one, last in zip(others, before, strict=True))


def test_habits_wait_for_a_squad_that_is_enabled_again(node, world, squad, physics_frames):
    body, _ = character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path())
    habits_of(body, AWAY)
    physics_frames(5)
    squad.set("process_mode", 4)
    physics_frames(1)
    squad.move_to(Vector3(0, 0, -60))
    assert min(steps(body, physics_frames, 30)) > 0, "a disabled squad moves nobody"
    squad.set("process_mode", 0)
    physics_frames(2)
    assert max(steps(body, physics_frames, 90)) <= 1e-6


def test_the_velocity_is_zero_while_the_squad_moves_the_member(node, world, squad, physics_frames, signals):
    body, _ = character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path())
    tree = habits_of(body, AWAY)
    seen = signals(tree.get_child(0), "velocity_changed")
    physics_frames(10)
    squad.move_to(Vector3(0, 0, -9))
    physics_frames(30)
    assert [tuple(one) for one, in seen] == [pytest.approx((0, 0, 3)), (0, 0, 0)]


@pytest.mark.parametrize("habit", [
    ("Look", "HabitSearch", {"target_key": "place", "places": 0, "look_time": 50.0, "clears_value": False}),
    ("Follow", "HabitMoveTo", {"target_key": "place", "keeps_following": True, "follow_distance": 900.0}),
    ("Post", "HabitPatrol", {"turn_speed": 0.3, "wait_time": 1.0}),
])
def test_habits_that_turn_their_character_wait_too(node, world, squad, physics_frames, habit):
    body, member = character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path())
    member.set("turns_to_movement", False)
    tree = habits_of(body, habit)
    tree.set_value("place", Vector3(0.1, 0, 0.1))
    physics_frames(5)
    body.rotation = Vector3(0, 1.0, 0)
    physics_frames(70)
    assert body.rotation.y != pytest.approx(1.0, abs=1e-4), "it turns"
    squad.move_to(Vector3(30, 0, -30))
    physics_frames(2)
    faces = body.rotation.y
    for _ in range(60):
        physics_frames(1)
        assert body.rotation.y == faces
    assert len(tree.get_active_paths()) == 1


@pytest.mark.parametrize("habit", [
    ("Look", "HabitSearch", {"target_key": "place", "places": 0, "look_time": 2.5, "clears_value": False}),
    ("Post", "HabitPatrol", {"markers": [NodePath("../../../Mark")], "order": 3, "wait_time": 2.5}),
])
def test_a_stay_at_a_place_begins_anew_after_a_march(node, world, squad, physics_frames, signals, habit):
    node("Node3D", world, name="Mark", position=Vector3(0.1, 0, 0))
    body, _ = character(node, world, Vector3(0, 0, 0), squad_path=squad.get_path())
    tree = habits_of(body, habit)
    tree.set_value("place", Vector3(0.1, 0, 0))
    ends = signals(tree.get_child(0), "exited")
    physics_frames(60)
    squad.move_to(Vector3(0, 0, -6))
    physics_frames(10)
    while not squad.is_idle():
        physics_frames(1)
    assert body.position.z < -5
    physics_frames(200)
    assert abs(body.position.z) < 0.6, "it has gone back"
    assert ends == []
    physics_frames(120)
    assert ends[0] == (1,)


@pytest.mark.parametrize("kind", ["CharacterBody3D", "Node3D"])
@pytest.mark.parametrize("late", [1, 4])
def test_a_walk_after_an_order_makes_up_for_no_time(node, world, squad, physics_frames, kind, late):
    body, _ = character(node, world, Vector3(0, 0, 0), kind, squad_path=squad.get_path())
    if kind == "CharacterBody3D":
        body.motion_mode = 1
    habits_of(body, AWAY).set("period", 10)
    physics_frames(34 + late)
    for _ in range(3):
        squad.hold()
        physics_frames(25 - late)
        squad.dismiss()
        steps = []
        for _ in range(25):
            before = body.position.z
            physics_frames(1)
            steps.append(body.position.z - before)
        assert sum(steps) > 0
        assert max(steps) <= 1.01 * 3.0 / 60


def test_a_habit_of_a_held_member_has_no_turns(node, world, squad, physics_frames, monkeypatch):
    turns = []
    monkeypatch.setattr(HabitMoveTo, "waits_for_squad", counted(HabitMoveTo.waits_for_squad, turns))
    body, _ = character(node, world, Vector3(0, 0, 0), "Node3D", squad_path=squad.get_path())
    habits_of(body, AWAY)
    squad.hold()
    physics_frames(30)
    assert len(turns) <= 2
    squad.dismiss()
    physics_frames(10)
    assert body.position.z > 0.3


def counted(function, calls):
    def call(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return call
