"""Places to hide, as arrays: where, behind what, how well."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, numbers, positions, shown

__all__ = ["LEFT", "OVER", "RIGHT", "CoverCandidates", "CoverSpots"]

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
