"""Moving bodies of the engine: on floors, and as far as their turn of AI is long, which may be more than one frame."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import Vector3, delta_time_of, physics_delta_time_of, singleton

BODIES = ("CharacterBody3D", "CharacterBody2D")

AS_LONG = 1e-3
"""A turn that differs from a frame by no more than this share is as long."""


def is_body(actor: Any) -> bool:
    """Return whether an actor has a velocity and move_and_slide()."""
    return any(actor.is_class(one) for one in BODIES)


def carried(body: Any, wanted: Vector3, elapsed_s: float, *, stands: bool) -> Vector3:
    """Return the velocity of a CharacterBody3D that floors carry: along the floor it stands on, else it falls.

    Args:
        body: the body.
        wanted: how it should move (m/s); its height is left aside.
        elapsed_s: since its last turn (s).
        stands: whether it is on the floor.
    """
    if stands:
        floor = body.get_floor_normal()
        return Vector3(wanted.x, -(wanted.x * floor.x + wanted.z * floor.z) / floor.y, wanted.z)
    return Vector3(wanted.x, min(0.0, body.get_velocity().y) + body.get_gravity().y * elapsed_s, wanted.z)


def slide(body: Any, velocity: Any, elapsed_s: float) -> None:
    """Give a CharacterBody its velocity, and let it move_and_slide() for a turn.

    That moves it by one frame's worth: who has his turn in every sixth frame would go at a sixth of his speed.

    Args:
        body: the CharacterBody3D or 2D.
        velocity: how it should move, in units of the scene a second; as what it collides with lets it, it stays so.
        elapsed_s: since its last turn (s); 0 for a frame.
    """
    frames = frames_in(body, elapsed_s)
    if frames == 1.0:
        body.set_velocity(velocity)
        body.move_and_slide()
        return
    body.set_velocity(velocity * frames)
    body.move_and_slide()
    body.set_velocity(body.get_velocity() * (1 / frames))


def frames_in(node: Any, elapsed_s: float) -> float:
    """Return how many of the frames that move_and_slide() takes now are in a time; exactly 1 if that is about one.

    Args:
        node: any that is in the scene.
        elapsed_s: the time (s); 0 for a frame.
    """
    is_in_physics = singleton("Engine").is_in_physics_frame()
    frame_s = physics_delta_time_of(node) if is_in_physics else delta_time_of(node)
    if not elapsed_s or not frame_s or abs(elapsed_s - frame_s) <= AS_LONG * frame_s:
        return 1.0
    return elapsed_s / frame_s
