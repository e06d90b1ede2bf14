"""Characters that are moved together, each by a velocity."""
from __future__ import annotations

import math

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, WalkRow
from tests.in_godot.squads.squad_world import recruits

STEP_S = 1 / 60


def walk(row, elapsed_s, *velocities):
    row.walk(np.array(velocities, np.float64), np.zeros(len(velocities)), 1.0, elapsed_s)


def test_nodes_and_bodies_follow_velocities_and_turn(node):
    place, body = node("Node3D", position=Vector3(1, 2, 3)), node("CharacterBody3D", position=Vector3(9, 0, 0))
    row = WalkRow([(place, True, True, 9.8), None, (body, True, False, 0.0)])
    for _ in range(60):
        walk(row, STEP_S, (3, 0, 0), (5, 5, 5), (0, 0, -6))
    assert tuple(place.get_global_position()) == pytest.approx((4, 2, 3), abs=1e-3)
    assert place.get_global_rotation().y == pytest.approx(-math.pi / 2, abs=1e-3)
    assert body.get_global_position().z < -1
    assert tuple(body.get_velocity()) == (0, 0, -6)
    assert tuple(body.get_global_rotation()) == (0, 0, 0)


def test_nobody_turns_faster_than_one_turns_nor_on_the_spot(node):
    fast, slow = node("Node2D"), node("Node2D")
    row = WalkRow([(fast, False, True, 0.0), (slow, False, True, 0.0)])
    walk(row, 0.1, (-100, 1), (0, 6))
    assert fast.get_global_rotation() == pytest.approx(0.8)
    assert slow.get_global_rotation() == 0
    walk(row, 1.0, (-100, -1), (0, -7))
    assert fast.get_global_rotation() == pytest.approx(math.atan2(-1, -100), abs=1e-5)
    assert slow.get_global_rotation() == pytest.approx(-math.pi / 2, abs=1e-5)


def test_a_body_that_does_not_fly_falls(node, physics_frames):
    falls, flies = node("CharacterBody3D"), node("CharacterBody3D", position=Vector3(5, 0, 0))
    row = WalkRow([(falls, True, False, 10.0), (flies, True, False, 0.0)])
    physics_frames(1)
    for _ in range(2):
        walk(row, 0.1, (1, 7, 0), (1, 7, 0))
    assert tuple(falls.get_velocity()) == pytest.approx((1, -2, 0))
    assert tuple(flies.get_velocity()) == pytest.approx((1, 7, 0))


def test_a_turn_of_six_frames_covers_the_same_distance(node, physics_frames):
    once, often = node("CharacterBody2D"), node("CharacterBody2D", position=Vector2(0, 500))
    physics_frames(1)
    walk(WalkRow([(once, True, False, 0.0)]), 0.1, (60, 0))
    every_frame = WalkRow([(often, True, False, 0.0)])
    for _ in range(6):
        walk(every_frame, STEP_S, (60, 0))
    assert once.get_global_position().x == pytest.approx(often.get_global_position().x)
    assert tuple(once.get_velocity()) == pytest.approx((60, 0))


def test_who_is_freed_on_the_way_by_another_is_left_out(node, gdscript, physics_frames):
    freeing = gdscript("""
        extends Node2D
        var other
        func _notification(what):
            if what == NOTIFICATION_LOCAL_TRANSFORM_CHANGED and is_instance_valid(other):
                other.free()
    """)
    first, second, third = node("Node2D"), node("Node2D"), node("Node2D")
    first.set_script(freeing)
    first.set("other", second)
    first.set_notify_local_transform(True)
    row = WalkRow([(one, False, True, 0.0) for one in (first, second, third)])
    walk(row, 0.1, *[(60, 0)] * 3)
    assert not second.is_valid()
    assert third.get_global_position().x == pytest.approx(6)


def test_what_does_not_fit_is_refused(node):
    row = WalkRow([(node("Node3D"), False, False, 0.0)])
    with pytest.raises(ValueError, match="1 walkers need 1 velocities, got 2"):
        walk(row, STEP_S, (0, 0, 0), (0, 0, 0))
    with pytest.raises(ValueError, match="must have 3 columns, got 2"):
        walk(row, STEP_S, (0, 0))
    with pytest.raises(TypeError, match="needs a Node3D or a Node2D"):
        WalkRow([(node("Node"), False, False, 0.0)])


def test_a_changed_mover_is_used_from_then_on(node, world, scheduler, physics_frames):
    squad = node("Squad", scheduler, keep_clear=1)
    (body, member), *_ = recruits(node, world, squad, 3)
    squad.move_to(Vector3(40, 0, 0))
    physics_frames(120)
    there = tuple(body.get_global_position())
    assert there[0] > 1
    member.mover = 4
    physics_frames(10)
    assert tuple(body.get_global_position()) == there
    member.mover = 0
    physics_frames(10)
    assert body.get_global_position().x > there[0]


def test_joining_between_two_march_steps_stops_nothing(node, world, scheduler, physics_frames):
    squad = node("Squad", scheduler, keep_clear=1, march_period=10)
    bodies = [body for body, _ in recruits(node, world, squad, 2)]
    squad.move_to(Vector3(40, 0, 0))
    physics_frames(63)
    bodies += [body for body, _ in recruits(node, world, squad, 2)]
    before = [tuple(one.get_global_position()) for one in bodies]
    bodies[0].queue_free()
    physics_frames(65)
    assert all(one.get_global_position().x > place[0] for one, place in zip(bodies[1:], before[1:], strict=True))
