"""Moving bodies of the engine: on floors, and as far as their turn of AI is long, which may be more than one frame."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import delta_time_of, physics_delta_time_of, singleton, walk_body

BODIES = ("CharacterBody3D", "CharacterBody2D")

AS_LONG = 1e-3
"""A turn that differs from a frame by no more than this share is as long."""


def is_body(actor: Any) -> bool:
    """Return whether an actor has a velocity and move_and_slide()."""
    return any(actor.is_class(one) for one in BODIES)


def walk(body: Any, velocity: Any, elapsed_s: float, *, falls: bool, climbs: bool) -> None:
    """Let a CharacterBody move for a turn: move_and_slide() moves it by one frame's worth.

    Args:
        body: the CharacterBody3D or 2D.
        velocity: how it should move, in units of the scene a second.
        elapsed_s: since its last turn (s); 0 for a frame.
        falls: whether floors carry it; it rises over steps that bar it.
        climbs: whether it rises though nothing bars it.
    """
    gravity = -body.get_gravity().y if falls else 0.0
    walk_body(body, velocity, elapsed_s, frames_in(body, elapsed_s), falls, climbs, gravity)


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
