"""Settings of importance: the parts and their weights."""
from __future__ import annotations

from dataclasses import dataclass, fields

from ai_core.errors import finite_number

__all__ = ["PARTS", "VIEWER_PARTS", "ImportanceSettings", "check_range"]

VIEWER_PARTS = ("distance", "view", "approach", "size")
"""Parts computed per viewer; the viewer with the largest sum counts."""

PARTS = (*VIEWER_PARTS, "role", "noticed", "damaged")
"""All parts of importance, in the order of ``Importance.parts()``."""


HEAVIEST = 1e6
"""Largest weight (no unit): importance is at most 1, and float32 must hold all products."""

LEAST_FULL = 1e-6
"""Least approach speed and angular size that can make a part 1 (m/s, rad): they are divisors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceSettings:
    """Weights and ranges of the parts of importance. Importance is the weighted sum, clamped to 0 to 1.

    Args:
        distance, view, approach, size, role, noticed, damaged: weights: what a part of 1 adds to
            importance, 0 or more; 0 leaves the part out.
        near_m: distance up to which the distance part is 1 (m), 0 or more.
        far_m: distance from which the distance part is 0 (m), above ``near_m``.
        full_approach_m_s: approach speed that makes the approach part 1 (m/s).
        full_size_rad: angular size that makes the size part 1 (rad).
        noticed_s, damaged_s: time after which 37 % of a boost is left (s), above 0.
        smoothing_s: time in which 63 % of a change is followed (s), at any frame rate; 0 does not smooth.

    Raises:
        TypeError, ValueError: if a value is not a number or out of range.
    """

    distance: float = 0.5
    view: float = 0.2
    approach: float = 0.1
    size: float = 0.1
    role: float = 0.3
    noticed: float = 0.3
    damaged: float = 0.5
    near_m: float = 5.0
    far_m: float = 80.0
    full_approach_m_s: float = 8.0
    full_size_rad: float = 0.3
    noticed_s: float = 4.0
    damaged_s: float = 4.0
    smoothing_s: float = 0.25

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in PARTS:
                finite_number(one.name, value, minimum=0, maximum=HEAVIEST)
            elif one.name in ("near_m", "smoothing_s"):
                finite_number(one.name, value, minimum=0)
            elif one.name.startswith("full"):
                finite_number(one.name, value, minimum=LEAST_FULL)
            else:
                finite_number(one.name, value, above=0)
        check_range(self.near_m, self.far_m)

    def weights(self) -> tuple[float, ...]:
        """Return the weight of each of ``PARTS``."""
        return tuple(float(getattr(self, name)) for name in PARTS)


def check_range(near_m: float, far_m: float) -> None:
    """Check that a range has a length."""
    if far_m <= near_m:
        raise ValueError(f"far_m must be above near_m, got {far_m:g} and {near_m:g}")
