"""Cover behind movable objects, such as crates, cars and tables: size checks and room checks."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import finite_number, point, shown
from ai_core.maps.cover.cover_spots import UPWARD, Blocked, CoverBody, check_blocked
from ai_core.saving.fields import LARGEST_FLOAT32
from ai_core.saving.kinds import ListOf, Number, Point, Record

__all__ = ["GAP_M", "OBJECT_STATE", "CoverObject", "ObjectCover"]

GAP_M = 0.1
"""Gap between an object and a body behind it (m); with less, they would collide."""


MOVED_M = 0.25
"""Largest movement or change of size of an object (m) that keeps the spots behind it valid."""


@dataclass(frozen=True)
class CoverObject:
    """Bounding box of an object that may provide cover.

    Args:
        middle: (3,) center of the box (m).
        half_sides: (3,) half of each side length, in the axes of the box (m), 0 or more.
        turn_rad: rotation about the upward axis (rad).

    Raises:
        TypeError, ValueError: if a value has the wrong type or shape, is negative or not finite.
    """

    middle: tuple[float, float, float]
    half_sides: tuple[float, float, float]
    turn_rad: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "middle", tuple(point("middle", self.middle).tolist()))
        sides = point("half_sides", self.half_sides)
        if not (sides >= 0).all():
            raise ValueError(f"half_sides must be 0 or more, got {shown(self.half_sides)}")
        object.__setattr__(self, "half_sides", tuple(sides.tolist()))
        finite_number("turn_rad", self.turn_rad)

    def is_same(self, other: CoverObject) -> bool:
        """Return whether another object has the same position and size within ``MOVED_M``."""
        moved = np.abs(np.subtract(self.middle, other.middle)).max()
        grown = np.abs(np.subtract(self.half_sides, other.half_sides)).max()
        swept = abs(self.turn_rad - other.turn_rad) * max(self.half_sides)
        return bool(max(moved, grown, swept) <= MOVED_M)

    def reach_m(self, direction: Sequence[float], up: str) -> float:
        """Return the extent of the box from its center along a horizontal unit vector (m)."""
        return sum(
            abs(sum(one * other for one, other in zip(axis, direction, strict=True))) * half
            for axis, half in zip(self._axes(up), self.half_sides, strict=True))

    def _axes(self, up: str) -> list[list[float]]:
        """Return the three axes in the world, as lists: faster than arrays for one object and threat."""
        upward, cos, sin = UPWARD[up], math.cos(self.turn_rad), math.sin(self.turn_rad)
        turned = []
        for number in range(3):
            if upward[number]:
                turned.append([abs(one) for one in upward])
                continue
            level = [float(number == one) for one in range(3)]
            across = [
                upward[1] * level[2] - upward[2] * level[1], upward[2] * level[0], -upward[1] * level[0]]
            turned.append([cos * one + sin * other for one, other in zip(level, across, strict=True)])
        return turned

    def top_m(self, up: str) -> float:
        """Return the height of the box (m)."""
        return 2 * self.half_sides[1 if up == "y" else 2]


@dataclass(frozen=True)
class ObjectCover:
    """A position behind an object, seen from one threat.

    Attributes:
        place: (3,) position of the feet (m).
        towards: (3,) unit vector towards the object.
        is_low: True if only a crouching body is hidden.
        refusal: reason why the object provides no cover; "" if it does.
    """

    place: NDArray[np.float32]
    towards: NDArray[np.float32]
    is_low: bool
    refusal: str = ""

    @staticmethod
    def of(cover_object: CoverObject, eye: NDArray[np.float32], body: CoverBody, *, may_stand: bool = True,
           may_crouch: bool = True) -> ObjectCover:
        """Return the position behind an object, checked by size only; ``has_room`` checks the room.

        The silhouette must be as wide as the body, and as high as the standing or crouching body.
        """
        # Lists of three numbers instead of arrays: faster, and called for each object and threat.
        upward, middle = UPWARD[body.up], cover_object.middle
        level = [one - other for one, other in zip(middle, eye.tolist(), strict=True)]
        above = sum(one * other for one, other in zip(level, upward, strict=True))
        level = [one - above * other for one, other in zip(level, upward, strict=True)]
        length = math.hypot(*level)
        if length == 0:
            return ObjectCover(np.array(middle, np.float32), np.zeros(3, np.float32), False, "threat directly above")
        away = [one / length for one in level]
        side = [upward[1] * away[2] - upward[2] * away[1], upward[2] * away[0], -upward[1] * away[0]]
        height_m = cover_object.top_m(body.up)
        down_m = 0.0 if body.is_flat else height_m / 2
        out_m = cover_object.reach_m(away, body.up) + body.radius_m + GAP_M
        place = np.array(
            [here - down_m * up + out_m * on for here, up, on in zip(middle, upward, away, strict=True)], np.float32)
        width_m = 2 * cover_object.reach_m(side, body.up)
        why, is_low = "", False
        if width_m < 2 * body.radius_m:
            why = f"too narrow: {width_m:.2f} m for a body of {2 * body.radius_m:.2f} m"
        elif not body.is_flat:
            is_low = height_m < body.standing_m or not may_stand
            least = body.crouching_m if may_crouch else body.standing_m
            if height_m < least:
                why = f"too low: {height_m:.2f} m for a body of {least:.2f} m"
        return ObjectCover(place, -np.array(away, np.float32), is_low, why)

    def room_rays(self, body: CoverBody) -> NDArray[np.float32]:
        """Return the segments (n, 6) that must be free for the body to fit: across and upwards (m)."""
        up = body.upward
        height_m = 0.0 if body.is_flat else body.crouching_m if self.is_low else body.standing_m
        side = body.left_of(self.towards[None])[0] * np.float32(body.radius_m)
        back = self.towards * np.float32(body.radius_m)
        waist = self.place + up * np.float32(height_m / 2)
        lines = [(waist, waist + side), (waist, waist - side), (waist, waist - back)]
        if height_m:
            lines.append((self.place + up * np.float32(0.1 * height_m), self.place + up * np.float32(height_m)))
        return np.array([np.concatenate(line) for line in lines], np.float32)

    def has_room(self, body: CoverBody, blocked: Blocked) -> bool:
        """Return whether the body fits at the position, tested with rays."""
        return not check_blocked(blocked, self.room_rays(body)).any()


OBJECT_STATE = Record(
    CoverObject, middle=Point(3), half_sides=ListOf(Number(0, LARGEST_FLOAT32), count=3, make=tuple), turn_rad=Number())
"""How an object is saved."""
