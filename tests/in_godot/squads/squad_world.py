"""Squads for tests inside Godot: characters with a SquadMember below them, and waiting for them."""
from __future__ import annotations

import numpy as np

from addons.ai_core.bridge.gd import Vector3, construct


def character(node, parent, place, of="Node3D", **settings):
    """A character with a SquadMember below it, where it is told."""
    body = node(of, parent, name=f"C{len(parent.get_children())}", position=place)
    if of.startswith("CharacterBody"):
        shape = node("CollisionShape" + of[-2:], body)
        shape.shape = construct("CapsuleShape3D" if of.endswith("3D") else "CircleShape2D")
        shape.shape.radius = 0.3 if of.endswith("3D") else 9.0
    return body, node("SquadMember", body, **settings)


def recruits(node, world, squad, count, **settings):
    path = squad.get_path()
    return [character(node, world, Vector3(number % 3, 0, number // 3), squad_path=path, **settings)
            for number in range(count)]


def until(done, physics_frames, most=4000):
    for _ in range(most):
        if done():
            return
        physics_frames(1)
    raise AssertionError("it never came to that")


def places(squad):
    return np.array([tuple(body.get_global_position()) for body in squad.get_characters()])


def armed(kind="ground", **attack):
    return {"kind": kind, "attack": attack, "toughness": 10.0}
