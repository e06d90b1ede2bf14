"""What makes an agent important, and how much each part counts."""
from __future__ import annotations

from dataclasses import dataclass, fields

from ai_core.errors import finite_number

__all__ = ["PARTS", "VIEWER_PARTS", "ImportanceSettings", "check_range"]

VIEWER_PARTS = ("distance", "view", "approach", "size")
"""Parts that each viewer has its own opinion of; the best viewer's count."""

PARTS = (*VIEWER_PARTS, "role", "noticed", "damaged")
"""Everything that importance is made of, in the order of ``Importance.parts()``."""


HEAVIEST = 1e6
"""Largest weight (no unit): importance ends at 1, and float32 must hold all products."""

LEAST_FULL = 1e-6
"""Least of what makes a part 1 (m/s, rad): it is divided by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceSettings:
    """Weights, and where each part begins and ends. Importance is their sum, 0 to 1.

    Args:
        distance, view, approach, size, role, noticed, damaged: weights: what a
            part of 1 adds to importance, 0 or more; 0 leaves it out.
        near_m: up to here the distance part is 1 (m).
        far_m: from here on it is 0 (m), above near_m.
        full_approach_m_s: coming nearer so fast makes the approach part 1.
        full_size_rad: looking as large as this makes the size part 1.
        noticed_s, damaged_s: time after which 37 % of a boost is left (s).
        smoothing_s: time in which 63 % of a change is followed (s), whatever
            the frame rate; 0 follows at once.
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
        """Return the weight of each of PARTS."""
        return tuple(float(getattr(self, name)) for name in PARTS)


def check_range(near_m: float, far_m: float) -> None:
    """Refuse a range that ends where it begins, or before.

    Raises:
        ValueError: if it does.
    """
    if far_m <= near_m:
        raise ValueError(f"far_m must be above near_m, got {far_m:g} and {near_m:g}")
