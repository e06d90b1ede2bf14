"""Moving bodies of the engine as far as their turn of AI is long, which may be more than one frame."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import singleton

AS_LONG = 1e-3
"""A turn that differs from a frame by no more than this share is as long."""


def slide(body: Any, velocity: Any, elapsed_s: float) -> None:
    """Give a CharacterBody its velocity, and let it move_and_slide() for a turn.

    That moves it by one frame's worth: who has his turn in every sixth frame would go at a sixth of his speed.

    Args:
        body: the CharacterBody3D or 2D.
        velocity: how it should move, in units of the scene a second; as what it collides with lets it, it stays so.
        elapsed_s: since its last turn (s); 0 for a frame.
    """
    in_physics = singleton("Engine").is_in_physics_frame()
    frame_s = body.get_physics_process_delta_time() if in_physics else body.get_process_delta_time()
    frames = elapsed_s / frame_s if elapsed_s and frame_s else 1.0
    if abs(frames - 1) <= AS_LONG:
        body.set_velocity(velocity)
        body.move_and_slide()
        return
    body.set_velocity(velocity * frames)
    body.move_and_slide()
    body.set_velocity(body.get_velocity() * (1 / frames))
