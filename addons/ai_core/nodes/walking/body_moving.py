"""Moving bodies of the engine: on floors, and as far as their turn of AI is long, which may be more than one frame."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import walk_body

BODIES = ("CharacterBody3D", "CharacterBody2D")


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
    walk_body(body, velocity, elapsed_s, falls, climbs, -body.get_gravity().y if falls else 0.0)
