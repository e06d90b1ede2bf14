"""Walks go on in frames of AI in which a period or the budget leaves their trees no turn."""
from __future__ import annotations

import math
from itertools import pairwise

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct

FRAME_S = 1 / 60
INHERIT, DISABLED = 0, 4


@pytest.fixture(params=["3D", "2D"])
def walker(node, scheduler, request):
    """``walker(lane, period)``: a body that walks along x by a HabitMoveTo, and its tree."""
    is_flat = request.param == "2D"

    def made(lane=0, period=1, **settings):
        at = Vector2(0, 100 * lane) if is_flat else Vector3(0, 0, 3 * lane)
        body = node(f"CharacterBody{request.param}", scheduler, position=at, motion_mode=1)
        tree, go = construct("HabitTree"), construct("HabitMoveTo")
        tree.set("period", period)
        go.set("target_point", Vector2(9000, 100 * lane) if is_flat else Vector3(900, 0, 3 * lane))
        for name, value in settings.items():
            go.set(name, value)
        tree.add_child(go)
        body.add_child(tree)
        return body, tree

    made.step = (100.0 if is_flat else 3.0) * FRAME_S
    return made


def steps_of(bodies, physics_frames, frames):
    """Return how far each body moves in each frame."""
    found, before = [], [one.position for one in bodies]
    for _ in range(frames):
        physics_frames(1)
        now = [one.position for one in bodies]
        found.append([math.dist(tuple(a), tuple(b)) for a, b in zip(before, now, strict=True)])
        before = now
    return found


@pytest.mark.parametrize("avoidance", [True, False])
@pytest.mark.parametrize("period", [2, 7])
def test_a_tree_with_a_period_moves_its_body_in_every_frame(walker, physics_frames, period, avoidance):
    bodies = [walker(lane, period, avoidance=avoidance)[0] for lane in (0, 1)]
    physics_frames(2 * period + 2)
    for steps in steps_of(bodies, physics_frames, 40):
        assert steps == pytest.approx([walker.step] * 2, rel=1e-3)


def test_bodies_move_in_every_frame_that_the_budget_ends_early(walker, scheduler, physics_frames):
    scheduler.budget = 1        # µs: one tree has a turn
    bodies = [walker(lane, avoidance=False)[0] for lane in range(6)]
    physics_frames(60)
    for steps in steps_of(bodies, physics_frames, 30):
        assert steps == pytest.approx([walker.step] * 6, rel=1e-3)
    assert scheduler.get_stats()["walking_us"] > 0


def test_the_next_turn_walks_for_the_rest_of_its_time_only(walker, physics_frames):
    slow, fast = walker(0, 5, avoidance=False)[0], walker(9, 1, avoidance=False)[0]
    physics_frames(120)
    assert slow.position[0] == pytest.approx(fast.position[0], abs=5 * walker.step)
    before = slow.position[0], fast.position[0]
    physics_frames(60)
    assert slow.position[0] - before[0] == pytest.approx(fast.position[0] - before[1], rel=1e-3)


@pytest.mark.parametrize(("name", "off", "on"), [("process_mode", DISABLED, INHERIT), ("enabled", False, True)])
def test_a_paused_tree_moves_its_body_no_more(walker, physics_frames, name, off, on):
    body, tree = walker(0, 6)
    physics_frames(20)
    tree.set(name, off)
    physics_frames(1)
    assert max(steps for steps, in steps_of([body], physics_frames, 12)) == 0
    tree.set(name, on)
    physics_frames(14)
    assert min(steps for steps, in steps_of([body], physics_frames, 12)) == pytest.approx(walker.step, rel=1e-3)


def test_a_freed_walker_leaves_nothing_behind(walker, scheduler, physics_frames):
    body, _ = walker(0, 6)
    physics_frames(20)
    assert len(scheduler.walks.habits) == 1
    body.queue_free()
    physics_frames(2)
    assert len(scheduler.walks.habits) == 0


def test_a_turn_that_ends_a_walk_lets_it_go(walker, scheduler, physics_frames):
    _, tree = walker(0, 6)
    physics_frames(20)
    tree.get_child(0).set("target_point", tree.actor_node().get_global_position())
    physics_frames(14)
    assert len(scheduler.walks.habits) == 0


@pytest.mark.parametrize("period", [1, 6, 30])
def test_a_loaded_walk_has_come_as_far_by_its_next_turn(walker, scheduler, physics_frames, period):
    body, _ = walker(0, period, avoidance=False)
    physics_frames(2 * period + 15)
    state, place = scheduler.save_state(), body.position
    physics_frames(2 * period)
    came_to = body.position[0]
    assert scheduler.load_state(state)
    body.position = place
    physics_frames(2 * period)
    assert body.position[0] == pytest.approx(came_to, abs=period * walker.step)
    physics_frames(3 * period)
    assert body.position[0] == pytest.approx(came_to + 3 * period * walker.step, abs=period * walker.step)


@pytest.mark.parametrize("period", [1, 6])
def test_a_walk_is_replayed_as_recorded(walker, scheduler, physics_frames, signals, period):
    body, _ = walker(0, period, avoidance=False)
    physics_frames(20)
    state, place = scheduler.save_state(), body.position
    assert scheduler.start_recording("user://held_walks.jsonl", None, 1)
    physics_frames(40)
    scheduler.stop_recording()
    came_to = tuple(body.position)
    scheduler.load_state(state)
    body.position = place
    ended = signals(scheduler, "replay_ended")
    assert scheduler.start_replay("user://held_walks.jsonl")
    physics_frames(40)
    assert tuple(body.position) == pytest.approx(came_to, abs=1e-3)
    physics_frames(5)
    assert ended == [(-1, "", "")]


def test_bodies_stand_while_the_task_of_the_trees_is_paused(walker, scheduler, physics_frames):
    body, _ = walker(0, 6)
    physics_frames(20)
    number = next(row["id"] for row in scheduler.get_stats()["behaviors"] if row["name"] == "habit trees")
    scheduler.pause_behavior(number)
    assert max(steps for steps, in steps_of([body], physics_frames, 12)) == 0


def test_the_time_of_walks_ends_with_them(walker, scheduler, physics_frames):
    scheduler.budget = 0
    body, _ = walker(0, 6)
    physics_frames(20)
    body.free()
    physics_frames(2)
    assert scheduler.get_stats()["walking_us"] < 100


@pytest.mark.parametrize("walker", ["3D"], indirect=True)       # an error of one place is printed once
def test_a_walk_that_raises_stops_no_other(walker, scheduler, physics_frames, monkeypatch, expect_errors):
    bodies = [walker(lane, 6, avoidance=False) for lane in (0, 1)]
    physics_frames(20)
    failing = bodies[0][1].get_child(0)
    walks_on, raised = type(failing).walks_on, []

    def raise_once(habit):
        if habit is failing and not raised:
            raised.append(habit)
            raise KeyError("ground")
        return walks_on(habit)

    monkeypatch.setattr(type(failing), "walks_on", raise_once)
    expect_errors("walking without a turn", times=1)
    for steps in steps_of([bodies[1][0]], physics_frames, 14):
        assert steps == pytest.approx([walker.step], rel=1e-3)
    assert raised
    assert min(steps for steps, in steps_of([bodies[0][0]], physics_frames, 6)) == pytest.approx(walker.step, rel=1e-3)


def test_each_leg_of_a_patrol_is_walked_frame_by_frame(node, scheduler, physics_frames):
    body = node("Node3D", scheduler)
    route = node("Node3D", scheduler)
    for x in (0, 2):
        node("Node3D", route, position=Vector3(x, 0, 0))
    tree, patrol = construct("HabitTree"), construct("HabitPatrol")
    tree.set("period", 30)
    patrol.set("wait_time", 0.2)
    tree.add_child(patrol)
    body.add_child(tree)
    patrol.set("route", patrol.get_path_to(route))
    steps = [one for one, in steps_of([body], physics_frames, 400)]
    assert sum(steps) > 4
    assert max(steps) <= 1.01 * 3.0 * FRAME_S


@pytest.mark.parametrize("name", ["speed", "arrival_distance", "target_point"])
def test_a_walk_goes_on_while_its_properties_change(walker, physics_frames, name):
    body, tree = walker(0, 10)
    go = tree.get_child(0)
    value = {"speed": walker.step / FRAME_S, "arrival_distance": 0.6}.get(name, go.get("target_point"))
    physics_frames(25)
    for _ in range(6):
        steps = steps_of([body], physics_frames, 5)
        assert [one for one, in steps] == pytest.approx([walker.step] * 5, rel=1e-3)
        go.set(name, value)


@pytest.mark.parametrize("period", [6, 30])
def test_a_loaded_walk_goes_on_in_the_next_frame(walker, scheduler, physics_frames, period):
    body, _ = walker(0, period, avoidance=False)
    physics_frames(2 * period + 4)
    state, place = scheduler.save_state(), body.position
    physics_frames(3)
    assert scheduler.load_state(state)
    body.position = place
    steps = steps_of([body], physics_frames, 2 * period)
    assert [one for one, in steps] == pytest.approx([walker.step] * len(steps), rel=1e-3)


@pytest.mark.in_its_own_world
def test_a_body_that_walks_off_an_edge_falls_in_every_frame(node, world, scheduler, physics_frames):
    falls = []
    for period in (1, 20):
        floor, shape = node("StaticBody3D", world, position=Vector3(0, -0.5, 40 * period)), construct("BoxShape3D")
        shape.set("size", Vector3(4, 1, 4))
        node("CollisionShape3D", floor, shape=shape)
        body = node("CharacterBody3D", scheduler, position=Vector3(0, 1, 40 * period))
        capsule = construct("CapsuleShape3D")
        node("CollisionShape3D", body, shape=capsule)
        tree, go = construct("HabitTree"), construct("HabitMoveTo")
        tree.set("period", period)
        go.set("target_point", Vector3(90, 0, 40 * period))
        tree.add_child(go)
        body.add_child(tree)
        falls.append(body)
    heights = []
    for _ in range(110):
        physics_frames(1)
        heights.append([one.position.y for one in falls])
    often, rarely = zip(*heights, strict=True)
    assert often[-1] < -1
    assert max(abs(a - b) for a, b in pairwise(rarely)) < 1.5 * max(abs(a - b) for a, b in pairwise(often))
