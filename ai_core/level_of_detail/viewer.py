"""Who watches: a camera, a player, anything that would notice poor behavior."""
from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ai_core.errors import finite_number, shown
from ai_core.level_of_detail.importance_settings import check_range

__all__ = ["Place", "Viewer"]

Place = tuple[float, ...]
"""Two or three coordinates (m)."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Where somebody is and looks in this frame.

    Args:
        position: two or three coordinates (m), as many as agents have.
        forward: where it looks, of any length; None sees all around.
        velocity: its own movement (m/s); None stands still.
        field_of_view_rad: whole angle in which agents count as in view, above
            0 to tau.
        weight: how much being seen by it counts, 0 to 1.
        near_m, far_m: its own range, as in ``ImportanceSettings``; None takes that
            of the settings. A scope sees far, a mirror near.

    Raises:
        ValueError: if a number is not finite or out of range, or lengths differ.
    """

    position: Place
    forward: Place | None = None
    velocity: Place | None = None
    field_of_view_rad: float = math.pi / 2
    weight: float = 1.0
    near_m: float | None = None
    far_m: float | None = None

    def __post_init__(self) -> None:
        place = _coordinates("position", self.position, 0)
        object.__setattr__(self, "position", place)
        if self.velocity is not None:
            object.__setattr__(self, "velocity", _coordinates("velocity", self.velocity, len(place)))
        if self.forward is not None:
            forward = _coordinates("forward", self.forward, len(place))
            length = math.hypot(*forward)
            if length < 1e-9:
                raise ValueError("forward must have a length, got 0; use None to see all around")
            object.__setattr__(self, "forward", tuple(one / length for one in forward))
        finite_number("field_of_view_rad", self.field_of_view_rad, above=0, maximum=math.tau)
        finite_number("weight", self.weight, minimum=0, maximum=1)
        if self.near_m is not None:
            finite_number("near_m", self.near_m, minimum=0)
        if self.far_m is not None:
            finite_number("far_m", self.far_m, above=0)
        if self.near_m is not None and self.far_m is not None:
            check_range(self.near_m, self.far_m)

    def range_m(self, near_m: float, far_m: float) -> tuple[float, float]:
        """Return its range, with these where it has none of its own.

        Raises:
            ValueError: if one of its own does not fit to the other that it takes.
        """
        near_m = near_m if self.near_m is None else self.near_m
        far_m = far_m if self.far_m is None else self.far_m
        check_range(near_m, far_m)
        return near_m, far_m


def _coordinates(name: str, value: object, count: int) -> Place:
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be two or three coordinates, got {shown(value)}")
    place = tuple(value)
    if len(place) not in ((count,) if count else (2, 3)):
        wanted = f"{count}, as position has" if count else "two or three"
        raise ValueError(f"{name} must have {wanted} coordinates, got {shown(value)}")
    return tuple(finite_number(name, one) for one in place)
