"""How long an answer stays fresh: so many frames, so much game time, or for ever."""
from __future__ import annotations

import math

from ai_core.errors import finite_number, shown, whole_number

__all__ = ["checked_lifetime"]

SHORTEST_LIFETIME_S = 1e-6
"""Shortest lifetime in seconds (s); a frame is never shorter, so 1 frame says the same."""

TOLERANCE_S = 1e-9
"""An answer this close to the end of its lifetime is old (s).

Game time is a sum of floats: without it 0.5 s is sometimes a frame longer.
"""


def checked_lifetime(frames: int | None, seconds: float | None) -> tuple[int, float]:
    """Return which part of a moment counts, and how much of it."""
    if seconds is None:
        if frames is None:
            return 0, math.inf
        return 0, whole_number("lifetime_frames", frames, minimum=0, remedy="use None to keep answers")
    if frames != 1:
        raise ValueError(f"lifetime_s is {shown(seconds)} and lifetime_frames {shown(frames)}; give only one")
    lifetime_s = finite_number(
        "lifetime_s", seconds, minimum=SHORTEST_LIFETIME_S, remedy="use lifetime_frames=1 for a frame"
    )
    return 1, lifetime_s - TOLERANCE_S
