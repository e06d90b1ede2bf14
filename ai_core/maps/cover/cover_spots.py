"""Cover spots, candidates and bodies, as arrays."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.described import Described
from ai_core.errors import finite_number, numbers, positions, shown
from ai_core.saving.fields import LARGEST_FLOAT32
from ai_core.saving.kinds import ArrayOf, Record

LEFT = 1
"""Bit of ``peeks``: the left side of the cover is free to look and shoot past."""
RIGHT = 2
"""Bit of ``peeks``: the right side is free."""
OVER = 4
"""Bit of ``peeks``: the cover is low enough to look and shoot over."""
FARTHEST_M = 1e6
"""Largest distance in cover searches (m); beyond it float32 cannot distinguish nearby positions."""


class CoverCandidates(Described):
    """Positions beside possible cover; ``CoverBaking`` tests them with rays.

    Args:
        places: (n, 3) positions of the feet (m).
        towards: (n, 3) directions towards the possible cover; normalized to unit length.
        reach_m: largest distance of the cover (m), above 0.

    Raises:
        TypeError, ValueError: if an argument has the wrong shape or is out of range, or lengths differ.
    """

    SHOWN = ("places",)

    def __init__(self, places: ArrayLike, towards: ArrayLike, reach_m: float) -> None:
        self.places = positions("places", places, dimensions=(3,))
        directions = positions("towards", towards, dimensions=(3,))
        if len(self.places) != len(directions):
            raise ValueError(f"towards must be as many as places, {len(self.places)}, got {len(directions)}")
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        if not (lengths > 0).all():
            raise ValueError("towards must be vectors of non-zero length, got a zero vector")
        self.towards = (directions / lengths).astype(np.float32)
        self.reach_m = finite_number("reach_m", reach_m, above=0, maximum=FARTHEST_M)

    def __len__(self) -> int:
        return len(self.places)

    def within(self, lowest: Sequence[float], highest: Sequence[float]) -> CoverCandidates:
        """Return the candidates in a box, corners included (m); an infinite coordinate leaves a side open.

        Raises:
            TypeError, ValueError: if a corner is not three numbers.
        """
        corners = numbers("corners", [lowest, highest])
        if corners.shape != (2, 3) or np.isnan(corners).any():
            raise ValueError(f"corners must be three numbers each, not NaN, got {shown(lowest)} and {shown(highest)}")
        with np.errstate(over="ignore"):    # numbers beyond the range of float32 count as infinite
            low, high = corners.astype(np.float32)
        is_in = ((self.places >= low) & (self.places <= high)).all(axis=1)
        return CoverCandidates(self.places[is_in], self.towards[is_in], self.reach_m)


@dataclass(frozen=True, eq=False)
class CoverSpots:
    """Cover spots as arrays.

    Attributes:
        places: (n, 3) float32, positions of the feet (m).
        towards: (n, 3) float32, unit vectors towards the cover.
        is_low: (n,) bool, True if only a crouching body is hidden.
        exposures: (n,) float32, share of the directions around the spot that are open, 0 to 1.
        peeks: (n,) uint8, bits ``LEFT``, ``RIGHT``, ``OVER``.

    Raises:
        TypeError, ValueError: if an array has the wrong type or shape, or lengths differ.
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
                raise TypeError(f"{name} must be an array of its documented type, got {shown(array)}")
            if len(array) != count:
                raise ValueError(f"{name} must be as many as places, {count}, got {len(array)}")
        if not ((self.exposures >= 0) & (self.exposures <= 1)).all():
            raise ValueError(f"exposures must be 0 to 1, got {shown(self.exposures)}")

    def __len__(self) -> int:
        return len(self.places)

    @staticmethod
    def none() -> CoverSpots:
        """Return an empty CoverSpots."""
        return CoverSpots(
            np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.bool_),
            np.zeros(0, np.float32), np.zeros(0, np.uint8))

    @staticmethod
    def joined(parts: Sequence[CoverSpots]) -> CoverSpots:
        """Return the concatenated spots of all parts."""
        if not parts:
            return CoverSpots.none()
        names = [field.name for field in fields(CoverSpots)]
        return CoverSpots(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))

    def taken(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> CoverSpots:
        """Return the spots of some rows."""
        return CoverSpots(*(getattr(self, field.name)[rows] for field in fields(CoverSpots)))


Blocked = Callable[[NDArray[np.float32]], ArrayLike]
"""Function from segments (n, 6), (x, y, z) to (x, y, z) (m), to (n,) bool, True where the line is blocked."""
UPWARD = {"y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0), "-z": (0.0, 0.0, -1.0)}
"""Up vectors by name: "y" for 3D, "z" for a plane, "-z" for a plane with the second axis down, as on screens."""
HEAD, CHEST, SHOULDER = 0.92, 0.6, 0.75
"""Heights of body parts as shares of the body height."""


@dataclass(frozen=True)
class CoverBody:
    """Size of the character that must be hidden.

    Args:
        radius_m: half of the width (m), above 0.
        standing_m: height when standing (m); 0 in a flat world.
        crouching_m: height when crouching (m), at most ``standing_m``.
        up: axis of heights, a key of ``UPWARD``.

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
        if self.up not in tuple(UPWARD):    # also of a list, which has no hash
            raise ValueError(f"up must be one of {', '.join(UPWARD)}, got {shown(self.up)}")

    @property
    def is_flat(self) -> bool:
        """True in a flat world, without heights and crouching."""
        return self.standing_m == 0

    @property
    def upward(self) -> NDArray[np.float32]:
        """Up vector, (3,)."""
        return np.array(UPWARD[self.up], np.float32)

    def left_of(self, towards: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return unit vectors to the left of viewing directions (…, 3)."""
        # Written out: np.cross takes ten times as long on a few rows.
        (x, y, z), upward = np.moveaxis(towards, -1, 0), UPWARD[self.up]
        sides = np.stack((upward[1] * z - upward[2] * y, upward[2] * x, -upward[1] * x), axis=-1)
        lengths = np.sqrt((sides * sides).sum(axis=-1, keepdims=True))
        lengths[lengths == 0] = 1
        units: NDArray[np.float32] = (sides / lengths).astype(np.float32)
        return units

    def parts(self, places: NDArray[np.float32], eyes: NDArray[np.float32], is_low: NDArray[np.bool_]
              ) -> NDArray[np.float32]:
        """Return the body parts that eyes test for visibility: head, chest and both shoulders.

        Args:
            places: (n, 3) positions of the feet (m).
            eyes: (m, 3) positions of the eyes (m).
            is_low: (n,) bool, True for crouching bodies.

        Returns:
            (n, m, parts, 3) float32 (m); 3 parts in a flat world, otherwise 4.
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


def check_blocked(blocked: Blocked, segments: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Call ``blocked`` and return its checked results, one bool per segment."""
    if not len(segments):
        return np.zeros(0, np.bool_)
    answers = np.asarray(blocked(np.ascontiguousarray(segments, np.float32)))
    if answers.dtype != np.bool_:
        raise TypeError(f"blocked must return bool, got {shown(answers)}")
    if answers.shape != (len(segments),):
        raise ValueError(f"blocked must return a bool for each of {len(segments)} segments, got {answers.shape}")
    return answers


__all__ = [
    "LEFT", "OVER", "RIGHT", "SPOTS_STATE", "UPWARD", "Blocked", "CoverBody", "CoverCandidates", "CoverSpots",
    "check_blocked",
]


PLACES = ArrayOf(np.float32, shape=(None, 3), minimum=-LARGEST_FLOAT32, maximum=LARGEST_FLOAT32)
SPOTS_STATE = Record(
    CoverSpots, places=PLACES, towards=PLACES, is_low=ArrayOf(np.bool_),
    exposures=ArrayOf(np.float32, minimum=0, maximum=1), peeks=ArrayOf(np.uint8, maximum=LEFT | RIGHT | OVER))
"""How spots are saved."""
