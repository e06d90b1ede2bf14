"""Who hides: bounds of a body, and the parts of it that a shot or a look may meet."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import finite_number, shown
from ai_core.maps.cover_spots import FARTHEST_M

__all__ = ["UPWARD", "Blocked", "CoverBody", "asked_blocked"]

Blocked = Callable[[NDArray[np.float32]], ArrayLike]
"""Says of segments (n, 6), from x, y, z to x, y, z (m), where something is in the way: (n,) bool."""

UPWARD = {"y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0), "-z": (0.0, 0.0, -1.0)}
"""Axes of heights: "y" as in 3D, "z" over a plane, "-z" over one whose second axis points down, as on screens."""

HEAD, CHEST, SHOULDER = 0.92, 0.6, 0.75
"""How high parts of a body are, as shares of its height."""


@dataclass(frozen=True)
class CoverBody:
    """Bounds of a character: what must be hidden.

    Args:
        radius_m: half its width, above 0 (m).
        standing_m: its height; 0 in a flat world (m).
        crouching_m: its height when it crouches, at most ``standing_m`` (m).
        up: axis of heights, one of ``UPWARD``.

    Raises:
        TypeError, ValueError: if a number is out of range.
    """

    radius_m: float = 0.4
    standing_m: float = 1.8
    crouching_m: float = 1.0
    up: str = "y"

    def __post_init__(self) -> None:
        finite_number("radius_m", self.radius_m, above=0, maximum=FARTHEST_M)
        finite_number("standing_m", self.standing_m, minimum=0, maximum=FARTHEST_M)
        finite_number("crouching_m", self.crouching_m, minimum=0, maximum=self.standing_m)
        if self.up not in UPWARD:
            raise ValueError(f"up must be one of {', '.join(UPWARD)}, got {self.up!r}")

    @property
    def is_flat(self) -> bool:
        """True in a flat world, where nobody crouches."""
        return self.standing_m == 0

    @property
    def upward(self) -> NDArray[np.float32]:
        """The axis of heights, (3,)."""
        return np.array(UPWARD[self.up], np.float32)

    def left_of(self, towards: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the left-hand sides of who looks along directions (…, 3); unit length."""
        # By hand: np.cross takes ten times as long on a few rows.
        (x, y, z), upward = np.moveaxis(towards, -1, 0), UPWARD[self.up]
        sides = np.stack((upward[1] * z - upward[2] * y, upward[2] * x, -upward[1] * x), axis=-1)
        lengths = np.sqrt((sides * sides).sum(axis=-1, keepdims=True))
        lengths[lengths == 0] = 1
        units: NDArray[np.float32] = (sides / lengths).astype(np.float32)
        return units

    def parts(self, places: NDArray[np.float32], eyes: NDArray[np.float32], is_low: NDArray[np.bool_]
              ) -> NDArray[np.float32]:
        """Return the parts of bodies that eyes look for: head and chest, and both shoulders.

        Args:
            places: (n, 3) where feet are (m).
            eyes: (m, 3) who look (m).
            is_low: (n,) who crouches.

        Returns:
            (n, m, parts, 3).
        """
        feet = places[:, None]
        sides = self.left_of(feet - eyes) * np.float32(self.radius_m)
        if self.is_flat:
            return np.stack((feet + 0 * sides, feet + sides, feet - sides), axis=2)
        height = np.where(is_low, self.crouching_m, self.standing_m).astype(np.float32)[:, None, None] * self.upward
        head, chest, shoulders = (feet + height * np.float32(share) for share in (HEAD, CHEST, SHOULDER))
        around = np.empty((*sides.shape[:2], 4, 3), np.float32)
        around[:, :, 0], around[:, :, 1] = head, chest
        around[:, :, 2], around[:, :, 3] = shoulders + sides, shoulders - sides
        return around


def asked_blocked(blocked: Blocked, segments: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return the answers of ``blocked``, one for each segment.

    Raises:
        TypeError: if it answered with something else than bool.
        ValueError: if it answered with another count.
    """
    if not len(segments):
        return np.zeros(0, np.bool_)
    answers = np.asarray(blocked(np.ascontiguousarray(segments, np.float32)))
    if answers.dtype != np.bool_:
        raise TypeError(f"blocked must return bool, got {shown(answers)}")
    if answers.shape != (len(segments),):
        raise ValueError(f"blocked must return one answer for each of {len(segments)} segments, got {answers.shape}")
    return answers
