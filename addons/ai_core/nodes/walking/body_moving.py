"""Moves a CharacterBody for the duration of an AI turn, which may be longer than one frame."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import walk_body

GROUNDED = 0
"""The motion mode of bodies that stand on floors."""


def is_body(actor: Any) -> bool:
    """Return whether an actor is a CharacterBody3D or 2D."""
    return bool(actor.is_class("CharacterBody3D") or actor.is_class("CharacterBody2D"))


def walk(body: Any, velocity: Any, elapsed_s: float, *, falls: bool, climbs: bool) -> None:
    """Move a CharacterBody for one turn with move_and_slide().

    Args:
        body: the CharacterBody3D or 2D.
        velocity: wanted velocity, in units of the scene per second.
        elapsed_s: time since its last turn (s); 0 for one frame.
        falls: whether floors carry it; it then climbs steps that block it.
        climbs: whether it rises although nothing blocks it.
    """
    walk_body(body, velocity, elapsed_s, falls, climbs, -body.get_gravity().y if falls else 0.0)
