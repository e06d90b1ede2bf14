"""Members of squads walk around each other, and around other characters that walk."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector3, construct
from tests.in_godot.squads.squad_world import places, until


@pytest.fixture
def squads(node, scheduler, physics_frames):
    """``squads(kind)``: two squads of five, 16 m apart, with orders to change places."""
    def made(kind, **settings):
        found = []
        for side in (-1, 1):
            squad = node("Squad", scheduler, keep_clear=1, think_period=6, patience=60.0, **settings)
            for number in range(5):
                place = Vector3(8 * side + number % 3 * 2 - 2, 0, number // 3 * 2)
                body = node(kind, scheduler, position=place, **({"motion_mode": 1} if kind != "Node3D" else {}))
                if kind != "Node3D":
                    shape = construct("CapsuleShape3D")
                    shape.set("radius", 0.4)
                    node("CollisionShape3D", body, shape=shape)
                node("SquadMember", body, gravity=0.0, squad_path=squad.get_path())
            found.append(squad)
        physics_frames(2)
        for squad, side in zip(found, (-1, 1), strict=True):
            squad.move_to(Vector3(-8 * side, 0, 0))
        return found

    return made


def march(squads, physics_frames, most=1500):
    """Return the number of frames until both squads have arrived, and the least distance of two members."""
    least = np.inf
    for frame in range(most):
        physics_frames(1)
        at = np.concatenate([places(one) for one in squads])[:, [0, 2]]
        apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
        least = min(least, apart[np.triu_indices(10, 1)].min())
        if all(one.is_idle() for one in squads):
            return frame, least
    return most, least


@pytest.mark.parametrize("kind", ["CharacterBody3D", "Node3D"])
def test_two_squads_pass_through_each_other(squads, physics_frames, kind):
    frames, least = march(squads(kind), physics_frames)
    assert frames < 450
    assert least > 0.5


def test_bodies_of_squads_block_each_other_with_avoidance_off(squads, physics_frames):
    assert march(squads("CharacterBody3D", avoidance=False), physics_frames, most=600)[0] == 600


def test_members_that_stand_are_not_avoided_as_if_they_walked(squads, physics_frames):
    first, second = squads("Node3D")
    physics_frames(30)
    first.follow([first.get_characters()[0].get_global_position()])     # done in a moment, on the march
    until(first.is_idle, physics_frames)
    physics_frames(3)
    second.set_process_mode(4)          # disabled
    physics_frames(3)
    crowd = first.crowd
    crowd.near()
    assert np.abs(crowd._velocities).max() == 0
