"""Cover map of a level: spots by id, reservations, and updates when the level changes."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import UnknownNameError, check_type, finite_number, point, positions, shown, whole_number
from ai_core.maps.cover.cover_objects import OBJECT_STATE, CoverObject
from ai_core.maps.cover.cover_spots import LEFT, OVER, RIGHT, SPOTS_STATE, CoverSpots
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LARGEST_FLOAT32, MOST
from ai_core.saving.kinds import ArrayOf, Flag, Kind, MapOf, Number, Optional, Record, Row, Whole
from ai_core.scheduling.interruptible import Steps, finished

__all__ = ["CoverChange", "CoverMap", "CoverSpot", "Holder"]

Holder = int | str
"""Holder of a spot: an id or a name."""

MOST_OFFERED = 64
"""Largest number of unreserved spots behind objects that keep their ids (count)."""

SAME_PLACE_M, SAME_WAY = 0.1, 0.9
"""A baked spot matches an old one within this distance (m) and facing direction (cosine)."""

AROUND_M = 1.01 * SAME_PLACE_M
CUBE_M = 2.5 * SAME_PLACE_M
"""Side of the cubes by which spots are matched (m): those near a spot are in the cubes of the 8 corners around it. The
corners are less than a side apart, also after the rounding of float32: else a cube between them would be missed."""
CORNERS = np.array(list(product((False, True), repeat=3)))
KEY_FACTORS = np.array((1, 73_856_093, 19_349_663_000_017), np.int64)
"""Factors of the coordinates of a cube in its number, which wraps around; odd, so that few cubes share one."""
QUARTERS = ((0, np.uint16), (16, np.uint16), (32, np.uint16), (48, np.int16))
"""Parts of the numbers of cubes, from the lowest on: numbers of 16 bits are sorted in a time proportional to their
count, 0.1 ms for 20,000, where a sort of the whole numbers takes 1 ms at once."""
MATCHED_TOGETHER = 64
"""Spots that are matched in one step (count), about 0.1 ms."""
TAKEN_TOGETHER = 2048
"""Spots that are compared or copied in one step (count), up to 0.1 ms."""


@dataclass(frozen=True, slots=True, eq=False)
class CoverSpot:
    """One place to hide.

    Attributes:
        id: id of the spot; never reused.
        place: (3,) position of the feet (m).
        towards: (3,) unit vector towards the cover.
        is_low: True if only a crouching body is hidden.
        exposure: share of the directions around the spot that are open, 0 to 1.
        peeks: bits ``LEFT``, ``RIGHT``, ``OVER``.
        object_id: id of the object in front of the spot; None for cover of the level.
    """

    id: int
    place: NDArray[np.float32]
    towards: NDArray[np.float32]
    is_low: bool
    exposure: float
    peeks: int
    object_id: int | None = None


class CoverChange(NamedTuple):
    """Result of replacing spots: numbers added, kept and removed, and the spots that holders lost, by holder."""

    added: int
    kept: int
    removed: int
    lost_by: dict[Holder, int]


class HolderState(Kind):
    """A holder of a spot: an id or a string."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the holder."""
        return plain if isinstance(plain, str) else Whole(-MOST).read(plain, place, owner)


THREE = ArrayOf(np.float32, shape=(3,), minimum=-LARGEST_FLOAT32, maximum=LARGEST_FLOAT32)
SPOT_STATE = Record(
    CoverSpot, id=Whole(1), place=THREE, towards=THREE, is_low=Flag(), exposure=Number(0, 1),
    peeks=Whole(0, LEFT | RIGHT | OVER), object_id=Optional(Whole()))
"""How a spot behind an object is saved."""


class CoverMap(Saveable):
    """All cover spots of a level, and the movable objects that may provide more.

    Args:
        apart_m: spots nearer than this to a reserved spot count as taken (m), above 0.

    Raises:
        TypeError, ValueError: if ``apart_m`` has the wrong type or is out of range.
    """

    SHOWN = ("spots", "objects", "version")

    STATE = DeclaredState(
        last_id=Whole(), ids=ArrayOf(np.int64, minimum=1, is_ascending=True), spots=SPOTS_STATE,
        objects=MapOf(OBJECT_STATE, key=Whole()),
        behind=MapOf(Row(lambda spot, before: (spot, before), SPOT_STATE, OBJECT_STATE), key=Whole()),
        held=MapOf(Whole(), key=HolderState()))

    def __init__(self, *, apart_m: float = 0.8) -> None:
        self.apart_m = finite_number("apart_m", apart_m, above=0)
        self.spots = CoverSpots.none()
        self.ids: NDArray[np.int64] = np.zeros(0, np.int64)
        self.objects: dict[int, CoverObject] = {}
        self.behind: dict[int, tuple[CoverSpot, CoverObject]] = {}     # spots behind objects, reserved or offered
        self.holders: dict[int, Holder] = {}
        self.held: dict[Holder, int] = {}
        self._taken_by: list[Holder] = []               # holders of reserved spots, in any order
        self._taken_rows: dict[Holder, int] = {}        # their indices
        self._taken_places = np.zeros((16, 3), np.float32)
        self.last_id = 0
        self.version = 0

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, spots: CoverSpots) -> list[int]:
        """Add cover spots of the level; return their ids. Cost: O(all spots)."""
        check_type("spots", spots, CoverSpots)
        ids = np.arange(self.last_id + 1, self.last_id + 1 + len(spots))
        self.last_id += len(spots)
        self.spots = CoverSpots.joined((self.spots, spots))
        self.ids = np.concatenate((self.ids, ids))
        self.version += 1
        return [int(one) for one in ids]

    def replace(
        self, spots: CoverSpots, lowest: Sequence[float] | None = None, highest: Sequence[float] | None = None
    ) -> CoverChange:
        """Replace the spots in a box, or all, with newly baked ones after a change of the level.

        Spots that match an old one keep its id and its reservation.

        Args:
            spots: all spots in the box after the change.
            lowest, highest: opposite corners of the box (m); None for the whole level.

        Raises:
            TypeError, ValueError: if ``spots`` are not CoverSpots, or a corner is not a position.

        Cost: O(all spots) in arrays, about 2 µs for each of ``spots``; ``replacing`` does it in steps.
        """
        return finished(self.replacing(spots, lowest, highest))

    def replacing(
        self, spots: CoverSpots, lowest: Sequence[float] | None = None, highest: Sequence[float] | None = None
    ) -> Steps[CoverChange]:
        """Do what ``replace`` does in steps of about 0.1 ms; nothing changes before the last one.

        If spots are added, replaced or loaded between two steps, it starts again with those.
        """
        check_type("spots", spots, CoverSpots)
        while True:
            before, version = self.spots, self.version
            is_kept = ~(yield from _within(before, lowest, highest))
            same = yield from _matched(before, np.flatnonzero(~is_kept), spots)
            renewed_by, parts = np.full(len(before), -1), []
            for first in range(0, len(spots), TAKEN_TOGETHER):
                yield
                found = first + np.flatnonzero(same[first:first + TAKEN_TOGETHER] >= 0)
                renewed_by[same[found]] = found
            is_kept |= renewed_by >= 0
            for first in range(0, len(before), TAKEN_TOGETHER):
                rows = first + np.flatnonzero(is_kept[first:first + TAKEN_TOGETHER])
                parts.append(_renewed(before.taken(rows), spots, renewed_by[rows]))
                yield
            added = np.flatnonzero(same < 0)
            for first in range(0, len(added), TAKEN_TOGETHER):
                parts.append(spots.taken(added[first:first + TAKEN_TOGETHER]))
                yield
            if self.version == version:
                break
        held = np.array(sorted(one for one in self.holders if one not in self.behind), np.int64)
        lost = {self.holders[one]: one for one in held[~is_kept[np.searchsorted(self.ids, held)]].tolist()}
        for holder in lost:
            self.release(holder)
        new_ids = np.arange(self.last_id + 1, self.last_id + 1 + len(added))
        removed = len(before) - int(is_kept.sum())
        self.spots, self.ids = CoverSpots.joined(parts), np.concatenate((self.ids[is_kept], new_ids))
        self.last_id += len(added)
        self.version += 1
        return CoverChange(len(added), len(spots) - len(added), removed, lost)

    def spot(self, spot_id: int) -> CoverSpot:
        """Return the spot with an id.

        Raises:
            TypeError, ValueError: if ``spot_id`` is not an integer of at least 0.
            UnknownNameError: if no spot has this id, or the spot was removed.
        """
        spot_id = whole_number("spot_id", spot_id, minimum=0)
        if spot_id in self.behind:
            return self.behind[spot_id][0]
        row = self._row(spot_id)
        if row < 0:
            raise UnknownNameError("spot", spot_id, ())
        spots = self.spots
        return CoverSpot(
            spot_id, spots.places[row], spots.towards[row], bool(spots.is_low[row]),
            float(spots.exposures[row]), int(spots.peeks[row]))

    def near(self, place: ArrayLike, range_m: float) -> list[int]:
        """Return ids of level spots within ``range_m`` (m) of a position, nearest first. Cost: O(spots)."""
        rows, distances = self.rows_near(point("place", place), finite_number("range_m", range_m, minimum=0))
        return [int(self.ids[row]) for row in rows[np.lexsort((rows, distances))]]

    def rows_near(
        self, place: NDArray[np.float32], range_m: float, among: slice = slice(None),
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return rows of ``spots`` within ``range_m`` of a position, ascending, and distances (m).

        ``among`` are the rows to look at. Cost: O(these rows).
        """
        distances = np.linalg.norm(self.spots.places[among].astype(np.float64) - place, axis=1)
        near = np.flatnonzero(distances <= range_m)
        return near + (among.start or 0), distances[near]

    def offer(self, spot: CoverSpot) -> CoverSpot:
        """Register a spot behind an object and return it with an id for ``reserve``; for searches.

        The id is valid while the object stays in place; an unreserved spot is dropped after
        ``MOST_OFFERED`` newer ones.

        Raises:
            UnknownNameError: if the object is unknown.
        """
        if spot.object_id is None or spot.object_id not in self.objects:
            raise UnknownNameError("object", spot.object_id, self.objects)
        for other, _ in self.behind.values():
            if other.object_id == spot.object_id and math.dist(other.place, spot.place) <= SAME_PLACE_M:
                return other
        self.last_id += 1
        offered = dataclass_replace(spot, id=self.last_id)
        self.behind[offered.id] = offered, self.objects[spot.object_id]
        free = [one for one in self.behind if one not in self.holders]
        for one in free[:-MOST_OFFERED]:
            del self.behind[one]
        return offered

    def reserve(self, spot_id: int, holder: Holder) -> bool:
        """Reserve a spot and release the previous one of ``holder``; return False if it is taken.

        A spot is taken if another holder has reserved it, or a spot nearer than ``apart_m``.

        Raises:
            TypeError, ValueError: if ``spot_id`` is no id, or ``holder`` neither an id nor a name.
            UnknownNameError: if the spot does not exist any more.
        """
        if isinstance(holder, bool) or not isinstance(holder, int | str):
            raise TypeError(f"holder must be an int or a string, got {shown(holder)}")
        found = self.spot(spot_id)
        if not self.is_free(found.place, holder):
            return False
        self.release(holder)
        self.holders[found.id], self.held[holder] = holder, found.id
        self._take(found, holder)
        return True

    def release(self, holder: Holder) -> None:
        """Release the spot that ``holder`` has reserved; does nothing if there is none."""
        spot_id = self.held.pop(holder, None)
        if spot_id is not None:
            del self.holders[spot_id]
            row, last = self._taken_rows.pop(holder), self._taken_by.pop()
            if row < len(self._taken_by):
                self._taken_by[row], self._taken_rows[last] = last, row
                self._taken_places[row] = self._taken_places[len(self._taken_by)]

    def is_free(self, place: ArrayLike, holder: Holder | None = None) -> bool:
        """Return True if no holder except ``holder`` has a spot near a position.

        Cost: O(reserved spots) in NumPy, some 10 ns each.
        """
        return self.is_free_at(positions("place", [place], dimensions=(3,))[0], holder)

    def is_free_at(self, here: NDArray[np.float32], holder: Holder | None) -> bool:
        """Return the same as ``is_free``, without a check of the position; for searches."""
        if not self._taken_by:
            return True
        taken = self._taken_places[:len(self._taken_by)]
        near = np.flatnonzero(np.linalg.norm(here - taken, axis=1) < self.apart_m)
        return all(self._taken_by[row] == holder for row in near.tolist())

    def _take(self, spot: CoverSpot, holder: Holder) -> None:
        row = self._taken_rows[holder] = len(self._taken_by)
        self._taken_by.append(holder)
        if row == len(self._taken_places):
            self._taken_places = np.concatenate((self._taken_places, np.zeros_like(self._taken_places)))
        self._taken_places[row] = spot.place

    def put_object(self, number: int, cover_object: CoverObject) -> list[Holder]:
        """Add or update an object that may provide cover; return the holders that lost a spot by the update."""
        whole_number("number", number, minimum=0)
        check_type("cover_object", cover_object, CoverObject)
        self.objects[number] = cover_object
        return self._lose(number, lambda before: not cover_object.is_same(before))

    def remove_object(self, number: int) -> list[Holder]:
        """Remove an object, if it is registered; return the holders that lost a spot."""
        self.objects.pop(number, None)
        return self._lose(number, lambda before: True)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if len(values.spots) != len(values.ids):
            refuse("ids", f"must be as many as spots, {len(values.spots)}, got {len(values.ids)}")
        known = {*values.ids.tolist(), *values.behind}
        if any(number > values.last_id for number in known):
            refuse("ids", f"must be at most last_id, {values.last_id}")
        if any(spot.id != number for number, (spot, _) in values.behind.items()):
            refuse("behind", "must hold spots under their ids")
        if not {*values.held.values()} <= known or len({*values.held.values()}) != len(values.held):
            refuse("held", "must name spots that exist, each once")

    def _finish_load(self) -> None:
        self.holders = {spot: holder for holder, spot in self.held.items()}
        self._taken_by, self._taken_rows = [], {}
        for holder, spot in self.held.items():
            self._take(self.spot(spot), holder)
        self.version += 1

    def _lose(self, number: int, has_changed: Callable[[CoverObject], bool]) -> list[Holder]:
        gone = [one for one, (spot, before) in self.behind.items() if spot.object_id == number and has_changed(before)]
        lost = [self.holders[one] for one in gone if one in self.holders]
        for holder in lost:
            self.release(holder)
        for one in gone:
            del self.behind[one]
        return lost

    def _row(self, spot_id: int) -> int:
        row = int(np.searchsorted(self.ids, spot_id))
        return row if row < len(self.ids) and self.ids[row] == spot_id else -1


def _within(
    spots: CoverSpots, lowest: Sequence[float] | None, highest: Sequence[float] | None
) -> Steps[NDArray[np.bool_]]:
    """Return which spots are in a box; all without one."""
    within = np.ones(len(spots), np.bool_)
    if lowest is not None and highest is not None:
        box = positions("corners", [lowest, highest], dimensions=(3,))
        for first in range(0, len(spots), TAKEN_TOGETHER):
            places = spots.places[first:first + TAKEN_TOGETHER]
            within[first:first + TAKEN_TOGETHER] = ((places >= box[0]) & (places <= box[1])).all(axis=1)
            yield
    return within


def _matched(before: CoverSpots, rows: NDArray[np.int64], spots: CoverSpots) -> Steps[NDArray[np.int64]]:
    """Return for each of ``spots`` the row of the matching old spot, -1 for none; of several, the first.

    Args:
        before: the old spots.
        rows: rows of those that may match.
        spots: the new spots.
    """
    same = np.full(len(spots), -1, np.int64)
    keys = np.zeros(len(rows), np.int64)
    for first in range(0, len(rows), TAKEN_TOGETHER):
        some = slice(first, first + TAKEN_TOGETHER)
        keys[some] = _keys(np.floor(before.places[rows[some]] / CUBE_M))
        yield
    for shift, kind in QUARTERS:
        order = np.argsort((keys >> shift).astype(kind), kind="stable")
        rows, keys = rows[order], keys[order]
        yield
    taken = set[int]()
    for first in range(0, len(spots) if len(rows) else 0, MATCHED_TOGETHER):
        yield
        places = spots.places[first:first + MATCHED_TOGETHER]
        near, far = np.floor((places - AROUND_M) / CUBE_M), np.floor((places + AROUND_M) / CUBE_M)
        wanted = _keys(np.where(CORNERS, near[:, None], far[:, None]))
        begins = np.searchsorted(keys, wanted).ravel()
        counts = np.searchsorted(keys, wanted, side="right").ravel() - begins
        pairs = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        old, new = rows[pairs], first + np.repeat(np.arange(len(counts)) // len(CORNERS), counts)
        apart = np.linalg.norm(before.places[old].astype(np.float64) - spots.places[new], axis=1)
        fits = (apart <= SAME_PLACE_M) & ((before.towards[old] * spots.towards[new]).sum(axis=1) >= SAME_WAY)
        for index, row in sorted(zip(new[fits].tolist(), old[fits].tolist(), strict=True)):
            if same[index] < 0 and row not in taken:
                same[index] = row
                taken.add(row)
    return same


def _renewed(kept: CoverSpots, spots: CoverSpots, by: NDArray[np.int64]) -> CoverSpots:
    """Return spots that were kept, with the values of those by which they were found again, -1 for none."""
    here = np.flatnonzero(by >= 0)
    for name in ("is_low", "exposures", "peeks"):
        getattr(kept, name)[here] = getattr(spots, name)[by[here]]
    return kept


def _keys(cubes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a number for each cube, (..., 3) to (...); cubes of equal numbers are told apart by distances."""
    keys: NDArray[np.int64] = cubes.astype(np.int64) @ KEY_FACTORS
    return keys
