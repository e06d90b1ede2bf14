"""HeldCourse and paths: what is repeated in one crossing is what a whole decision does."""
from __future__ import annotations

import math

import numpy as np
import pytest

from addons.ai_core.bridge.gd import AgentPath, GoalWithin, HeldCourse, Vector2, Vector3, follow_path
from addons.ai_core.nodes.habits import actor_habits

pytestmark = pytest.mark.in_its_own_world


def nearest_by_numpy(points, place, within):
    """Return the nearest segment and position of a path on the same floor, by arrays."""
    pieces, plane = np.diff(points, axis=0), [0, -1]
    flat = pieces[:, plane]
    along = ((place - points[:-1])[:, plane] * flat).sum(axis=1)
    share = np.clip(along / np.maximum((flat ** 2).sum(axis=1), 1e-12), 0, 1)
    nearest = points[:-1] + share[:, None] * pieces
    away = np.hypot(*(nearest - place)[:, plane].T)
    if len(place) == 3:
        away[np.abs(nearest[:, 1] - place[1]) > within] = np.inf
    piece = int(away.argmin()) if len(away) else 0
    return (-1, None) if not len(away) or away[piece] == np.inf else (piece, nearest[piece].tolist())


@pytest.mark.parametrize("columns", [2, 3])
def test_a_path_is_joined_where_a_plain_form_is_nearest(columns):
    chance = np.random.default_rng(3)
    for count in [1, 2, 2, 3, 8, 50] * 20:
        points = chance.uniform(-5, 5, (count, columns)).astype(np.float32)
        place = chance.uniform(-6, 6, columns)
        memory, expected = {}, nearest_by_numpy(points, place, 2.0)
        follow_path(memory, points, place, 0.0, falls=False)
        if expected[1] is None:
            assert (memory["step"], memory["join"]) == (0, None)
            continue
        assert memory["join"] == pytest.approx(expected[1], abs=1e-4)
        assert abs(memory["step"] - 1 - expected[0]) <= 1, "at a corner two pieces are equally near, but for rounding"


@pytest.fixture(params=["CharacterBody3D", "Node3D", "CharacterBody2D", "Node2D"])
def walked(request, node, scheduler, physics_frames):
    """``walked(held_s)``: where an actor is after a second of walking after a goal that moves."""
    def places(held_s):
        is_flat = request.param.endswith("2D")
        unit, kind = (32.0, Vector2) if is_flat else (1.0, Vector3)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(actor_habits, "HELD_S", held_s)
            more = {} if request.param.startswith("Node") else {"motion_mode": 1}
            actor = node(request.param, scheduler, **more)
            goal = node("Node2D" if is_flat else "Node3D", scheduler)
            tree = node("HabitTree", actor)
            node("HabitMoveTo", tree, target_node=goal.get_path(), turn_speed=2.0, speed=3 * unit)
            found = []
            for frame in range(60):
                across = 5 * math.sin(frame / 20) * unit
                goal.position = kind(8 * unit, across) if is_flat else Vector3(8, 0, across)
                physics_frames(1)
                found.append((tuple(actor.position), actor.rotation if is_flat else actor.rotation.y))
            actor.get_parent().remove_child(actor)
            actor.free()
            goal.free()
        return found
    return places


def test_held_courses_walk_as_turns_that_decide_everything(walked):
    held, decided = walked(0.25), walked(0.0)
    assert math.dist(held[-1][0], held[0][0]) > 2.5
    for (place, angle), (other, other_angle) in zip(held, decided, strict=True):
        assert place == pytest.approx(other, abs=0.02)
        assert math.remainder(angle - other_angle, math.tau) == pytest.approx(0, abs=0.01)


def course_of(actor, goal, **options):
    """Return a course of an actor that is not a body: arrival 0.5, speed 3, without a turn."""
    given = {"memory": {}, "now_s": 0.0, "stuck_after_s": 0.0, "asks_every_s": 0.25, **options}
    return HeldCourse(actor, goal, 0.5, 3.0, 0.0, False, 0.0, **given)


def test_held_courses_leave_what_needs_a_decision(node, scheduler):
    actor, goal, told = node("Node3D", scheduler), {"at": Vector3(5, 0, 0)}, []
    course = course_of(actor, "at", board=goal, moved=told.append, step=0.1)
    assert course(0.1)
    assert tuple(actor.position) == pytest.approx((0.3, 0, 0))
    for place in (Vector3(math.nan, 0, 0), Vector3(math.inf, 0, 0), Vector3(0.6, 0, 0), None, Vector2(5, 0), "there"):
        goal["at"] = place
        assert not course(0.01), f"at {place}"
    assert tuple(actor.position) == pytest.approx((0.3, 0, 0))
    goal["at"] = node("Node3D", scheduler, position=Vector3(0, 0, 5.5))
    assert course(0.08), "without an agent the goal is the stop"
    assert [tuple(one) for one in told] == [(3, 0, 0), pytest.approx((-0.163, 0, 2.996), abs=1e-3)]
    assert not course(0.1), "nothing says that all else is as it was"
    actor.get_parent().remove_child(actor)
    actor.free()
    assert not course(0.0)


def test_held_courses_ask_now_and_then_whether_they_apply(node, scheduler):
    answers = [True, True, False]
    course = course_of(node("Node3D", scheduler), Vector3(99, 0, 0), applies=lambda: answers.pop(0))
    held = [course(0.1) for _ in range(9)]
    assert held == [True] * 8 + [False]
    assert not answers


def test_held_courses_steer_around_others(node, scheduler):
    actor, asked = node("Node3D", scheduler), []

    def steer(velocity, goal):
        asked.append((tuple(velocity), tuple(goal)))
        return Vector3(velocity.x, 0, 1)

    course = course_of(actor, Vector3(9, 0, 0), steer=steer, asks_every_s=9.0)
    assert course(0.5)
    assert asked == [((3, 0, 0), (9, 0, 0))]
    assert tuple(actor.position) == (1.5, 0, 0.5)


def test_held_courses_note_progress_and_its_absence(node, scheduler):
    actor, memory = node("Node3D", scheduler), {"left": [0.0, 0.0, 0.0], "left_s": 7.0}
    course = course_of(
        actor, Vector3(99, 0, 0), memory=memory, now_s=7.0, stuck_after_s=0.5, asks_every_s=9.0)
    assert all(course(0.125) for _ in range(3))
    assert memory == {"left": [0.75, 0.0, 0.0], "left_s": 7.375}     # a step alone is no progress
    held = []
    for _ in range(4):
        actor.position = Vector3(0.75, 0, 0)
        held.append(course(0.125))
    assert held == [True] * 3 + [False]


def test_held_courses_refuse_what_cannot_walk(node, scheduler):
    with pytest.raises(TypeError, match="Node3D or a Node2D"):
        course_of(node("Node", scheduler), Vector3(1, 0, 0))
    place = node("Node3D", scheduler)
    with pytest.raises(TypeError, match="CharacterBody"):
        HeldCourse(place, Vector3(1, 0, 0), 0.5, 3.0, 0.0, True, 0.0, {}, 0.0, 0.0, 1.0)
    course = course_of(place, Vector3(1, 0, 0))
    flat = AgentPath(node("NavigationAgent2D", node("Node2D", scheduler)), {}, False)
    with pytest.raises(TypeError, match="NavigationAgent"):
        course.along(flat, Vector3(1, 0, 0), None)
    with pytest.raises(TypeError, match="NavigationAgent"):
        AgentPath(place, {}, False)


@pytest.mark.parametrize("kind", [Vector3, Vector2])
def test_goals_are_within_a_horizontal_distance(node, scheduler, kind):
    dimensions, board = ("3D", {}) if kind is Vector3 else ("2D", {})
    actor = node(f"Node{dimensions}", scheduler)
    within = GoalWithin(actor, "goal", 2.0, False)
    near, far = (Vector3(0, 9, 2), Vector3(0, 0, 2.1)) if kind is Vector3 else (Vector2(0, 2), Vector2(0, 2.1))
    for goal, answer in (near, True), (far, False), (None, None), (kind(math.nan, 1), None), ("there", None):
        board["goal"] = goal
        assert within(board) is answer, goal
    board["goal"] = node(f"Node{dimensions}", scheduler, position=far)
    assert within(board) is False
    board["goal"].get_parent().remove_child(board["goal"])
    board["goal"].free()
    assert within(board) is None
    assert within({}) is None
    assert GoalWithin(actor, "goal", 2.0, True)({"goal": None}) is False
    with pytest.raises(TypeError, match="Node3D or a Node2D"):
        GoalWithin(node("Node", scheduler), "goal", 2.0, False)


@pytest.mark.parametrize("space", ["3D", "2D"])
@pytest.mark.parametrize("kind", ["Node", "CharacterBody"])
@pytest.mark.parametrize("period", [1, 4])
def test_an_actor_faces_its_way_before_it_walks(node, scheduler, physics_frames, space, kind, period):
    goal = Vector2(-90, 0) if space == "2D" else Vector3(0, 0, 3)      # behind it
    actor = node(f"{kind}{space}", scheduler, **({} if kind == "Node" else {"motion_mode": 1}))
    tree = node("HabitTree", actor, period=period)
    node("HabitMoveTo", tree, target_point=goal, turn_speed=math.pi, speed=goal.length())
    angles, here = [], actor.position
    for _ in range(150):
        physics_frames(1)
        step, here = actor.position - here, actor.position
        if step.length() > 1e-4 * goal.length():
            rotation = actor.rotation if space == "2D" else actor.rotation.y
            angles.append(abs(math.remainder(rotation - math.pi, math.tau)))
    assert 50 < len(angles) < 75
    assert max(angles) < math.pi / 2 + 0.3


def test_an_actor_that_another_turns_back_walks(node, scheduler, physics_frames):
    actor = node("Node3D", scheduler)
    both = node("HabitTree", actor)
    node("HabitLookAt", both, target_point=Vector3(0, 0, -9), keep_looking=True, non_blocking=True)
    node("HabitMoveTo", both, target_point=Vector3(0, 0, 3), non_blocking=True)
    physics_frames(90)
    assert actor.position.z > 2


def test_a_slow_turn_is_no_lack_of_progress(node, scheduler, physics_frames, signals):
    actor = node("Node3D", scheduler)
    go = node("HabitMoveTo", node("HabitTree", actor), target_point=Vector3(0, 0, 3), turn_speed=0.6, stuck_after=1.0)
    ends = signals(go, "exited")
    physics_frames(300)
    assert ends[:1] == [(1,)]
