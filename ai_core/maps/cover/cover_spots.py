"""Places to hide, as arrays: where, behind what, how well."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import finite_number, numbers, positions, shown

LEFT = 1
"""Bit of ``peeks``: one can look and shoot past the left side of the cover."""
RIGHT = 2
"""Bit of ``peeks``: past its right side."""
OVER = 4
"""Bit of ``peeks``: over it, as it is low."""
FARTHEST_M = 1e6
"""How far cover may be looked for (m): beyond it float32 does not tell two places apart."""


class CoverCandidates:
    """Places beside something that might be cover; ``CoverBaking`` finds out whether it is.

    Args:
        places: (n, 3) where feet would be (m).
        towards: (n, 3) to what may protect; made unit length.
        reach_m: how far it may be away (m).

    Raises:
        TypeError, ValueError: if they are no places, or not as many of each.
    """

    def __init__(self, places: object, towards: object, reach_m: float) -> None:
        self.places = positions("places", places, dimensions=(3,))
        directions = positions("towards", towards, dimensions=(3,))
        if len(self.places) != len(directions):
            raise ValueError(f"towards must be as many as places, got {len(directions)} for {len(self.places)}")
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        if not (lengths > 0).all():
            raise ValueError("towards must have a direction, got a vector of no length")
        self.towards = (directions / lengths).astype(np.float32)
        self.reach_m = finite_number("reach_m", reach_m, above=0, maximum=FARTHEST_M)

    def __len__(self) -> int:
        return len(self.places)

    def within(self, lowest: Sequence[float], highest: Sequence[float]) -> CoverCandidates:
        """Return those whose places lie in a box, both corners included (m); infinite where it is open.

        Raises:
            TypeError, ValueError: if the corners are no places.
        """
        corners = numbers("corners", [lowest, highest])
        if corners.shape != (2, 3) or np.isnan(corners).any():
            raise ValueError(f"corners must be three numbers each, got {shown(lowest)} and {shown(highest)}")
        with np.errstate(over="ignore"):    # what float32 does not hold is as good as infinite
            low, high = corners.astype(np.float32)
        is_in = ((self.places >= low) & (self.places <= high)).all(axis=1)
        return CoverCandidates(self.places[is_in], self.towards[is_in], self.reach_m)


@dataclass(frozen=True, eq=False)
class CoverSpots:
    """Places to hide.

    Attributes:
        places: (n, 3) float32, where feet are (m).
        towards: (n, 3) float32, unit length: to what protects.
        is_low: (n,) bool, True where only who crouches is hidden.
        exposures: (n,) float32, share of the directions around that lie open, 0 to 1.
        peeks: (n,) uint8, bits ``LEFT``, ``RIGHT``, ``OVER``.

    Raises:
        TypeError, ValueError: if they are no such arrays, or not as many of each.
    """

    places: NDArray[np.float32]
    towards: NDArray[np.float32]
    is_low: NDArray[np.bool_]
    exposures: NDArray[np.float32]
    peeks: NDArray[np.uint8]

    def __post_init__(self) -> None:
        for name in ("places", "towards"):
            object.__setattr__(self, name, positions(name, getattr(self, name), dimensions=(3,)))
        count = len(self.places)
        for name, kinds in (("towards", "f"), ("is_low", "b"), ("exposures", "f"), ("peeks", "u")):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
                raise TypeError(f"{name} must be an array as CoverSpots says, got {shown(array)}")
            if len(array) != count:
                raise ValueError(f"{name} must be as many as places, {count}, got {len(array)}")
        if not ((self.exposures >= 0) & (self.exposures <= 1)).all():
            raise ValueError(f"exposures must be 0 to 1, got {shown(self.exposures)}")

    def __len__(self) -> int:
        return len(self.places)

    @staticmethod
    def none() -> CoverSpots:
        """Return no spots."""
        return CoverSpots(
            np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.bool_),
            np.zeros(0, np.float32), np.zeros(0, np.uint8))

    @staticmethod
    def joined(parts: Sequence[CoverSpots]) -> CoverSpots:
        """Return the spots of all parts, one after the other."""
        if not parts:
            return CoverSpots.none()
        names = [field.name for field in fields(CoverSpots)]
        return CoverSpots(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))

    def taken(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> CoverSpots:
        """Return some of them."""
        return CoverSpots(*(getattr(self, field.name)[rows] for field in fields(CoverSpots)))


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
            raise ValueError(f"up must be one of {', '.join(UPWARD)}, got {shown(self.up)}")

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


__all__ = ["LEFT", "OVER", "RIGHT", "UPWARD", "Blocked", "CoverBody", "CoverCandidates", "CoverSpots", "asked_blocked"]
