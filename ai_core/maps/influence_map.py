"""Values of one decision map layer: pending writes, stored values, and the drawn snapshot.

Writes are buffered until an update starts, so that an update applies to one point in time.
Stored values fade or grow by the settings of the layer. The snapshot shows them spread and
blurred; it is never fed back, so that the update rate does not change the amount of blur.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, shown
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import LARGEST_VALUE, MapLayer
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import PackedArray

Floats = NDArray[np.float32]
OF_SIXTEEN = np.float32(1 / 16)
"""Weights of a blur pass sum to 4 × 4, a power of two: scaling causes no rounding."""


def blur_rows(source: Floats, first: int, last: int, scratch: Floats, out: Floats) -> None:
    """Blur a range of rows once.

    Args:
        source: (height, width) float32, read from row ``first - 1`` to row ``last``.
        first, last: first row, and the row after the last.
        scratch: (height, width) float32, overwritten in these rows.
        out: (height, width) float32, overwritten in these rows; a different array from the others.

    Cost: O(cells of the rows), no allocation.

    >>> one = np.array([[0, 16, 0]], np.float32)
    >>> blurred = np.empty_like(one)
    >>> blur_rows(one, 0, 1, np.empty_like(one), blurred)
    >>> blurred.tolist()
    [[4.0, 8.0, 4.0]]
    """
    here, column, target = source[first:last], scratch[first:last], out[first:last]
    np.add(here, here, out=column)
    second, last_but_one = max(first, 1), min(last, len(source) - 1)
    column[second - first:] += source[second - 1:last - 1]
    column[:last_but_one - first] += source[first + 1:last_but_one + 1]
    if first == 0:
        column[0] += source[0]
    if last == len(source):
        column[-1] += source[-1]
    np.add(column, column, out=target)
    target[:, 1:] += column[:, :-1]
    target[:, :-1] += column[:, 1:]
    target[:, 0] += column[:, 0]
    target[:, -1] += column[:, -1]
    target *= OF_SIXTEEN


def blur_rows_within_walls(
    source: Floats, first: int, last: int, is_open: NDArray[np.bool_], scratch: Floats, out: Floats
) -> None:
    """Blur a range of rows once; no value crosses the border of a wall, which acts as a mirror.

    Args:
        is_open: (height, width) bool, False for walls. The other arguments are those of ``blur_rows``.

    Cost: O(cells of the rows), about twice that of ``blur_rows``; allocates memory for the cells of the rows.

    >>> one = np.array([[0, 16, 0]], np.float32)
    >>> blurred = np.empty_like(one)
    >>> blur_rows_within_walls(one, 0, 1, np.array([[True, True, False]]), np.empty_like(one), blurred)
    >>> blurred.tolist()
    [[4.0, 12.0, 0.0]]
    """
    here, column, target, free = source[first:last], scratch[first:last], out[first:last], is_open[first:last]
    np.multiply(here, np.float32(4), out=column)
    second, last_but_one = max(first, 1), min(last, len(source) - 1)
    above, below = slice(second - 1, last - 1), slice(first + 1, last_but_one + 1)
    column[second - first:] += (source[above] - source[second:last]) * (is_open[above] & is_open[second:last])
    column[:last_but_one - first] += (source[below] - source[first:last_but_one]) * (
        is_open[below] & is_open[first:last_but_one])
    np.multiply(column, np.float32(4), out=target)
    flow = (column[:, 1:] - column[:, :-1]) * (free[:, 1:] & free[:, :-1])
    target[:, :-1] += flow
    target[:, 1:] -= flow
    target *= OF_SIXTEEN


CELLS_PER_SLICE = 1 << 13
"""Cells processed between two possible pauses (count): 4 to 25 µs, and fits into the inner CPU caches."""
SCANNED_PER_SLICE = 16
"""Largest number of rows that a scan processes between two possible pauses (count): a row takes 1 to 3 µs at least."""


def slices_of(values: NDArray[Any]) -> Iterator[slice]:
    """Return ranges of rows of at most ``CELLS_PER_SLICE`` cells, at least one row each."""
    rows = max(1, CELLS_PER_SLICE // values.shape[1])
    return (slice(first, min(len(values), first + rows)) for first in range(0, len(values), rows))


MOST_ROUNDS = 64
"""Largest number of scan rounds (count) for spreading around walls: enough for a maze of 128 corners.
Values that would spread farther are negligible by then."""


def spread(values: Floats, kept: float, is_open: NDArray[np.bool_] | None, turned: Floats) -> Iterator[int]:
    """Spread values over a map in place; yields the number of rows done at each possible pause.

    Args:
        values: (height, width) float32, 0 or more; overwritten.
        kept: share kept per step from cell to cell, 0 < kept < 1.
        is_open: (height, width) bool, False for walls; None for no walls.
        turned: (width, height) float32 work space, overwritten.

    Cost: O(cells) on open ground, O(cells × corners of the longest path) with walls.

    >>> line = np.array([[8, 0, 0, 0]], np.float32)
    >>> sum(spread(line, 0.5, None, np.empty((4, 1), np.float32))) > 0
    True
    >>> line.tolist()
    [[8.0, 4.0, 2.0, 1.0]]
    """
    share = np.float32(kept)
    is_open_turned = None if is_open is None else np.ascontiguousarray(is_open.T)
    before = None if is_open is None else np.empty_like(values)
    if is_open is not None:
        for rows in slices_of(values):
            values[rows] *= is_open[rows]
            yield rows.stop - rows.start
    for _ in range(MOST_ROUNDS):
        if before is not None:
            yield from copied(values, before)
        yield from _scan(values, share, is_open)
        yield from _turn(values, turned)
        yield from _scan(turned, share, is_open_turned)
        yield from _turn(turned, values)
        if before is None:
            return
        is_same = True
        for rows in slices_of(values):
            is_same = is_same and np.array_equal(values[rows], before[rows])
            yield rows.stop - rows.start
        if is_same:
            return


def copied(values: Floats, out: Floats) -> Iterator[int]:
    """Copy values to ``out``; yields rows done."""
    for rows in slices_of(values):
        out[rows] = values[rows]
        yield rows.stop - rows.start


def _turn(values: Floats, out: Floats) -> Iterator[int]:
    """Write the transpose of values to ``out``; yields rows done."""
    for rows in slices_of(values):
        out[:, rows] = values[rows].T
        yield rows.stop - rows.start


def _scan(values: Floats, share: np.float32, is_open: NDArray[np.bool_] | None) -> Iterator[int]:
    """Carry values down all columns, then up; yields rows done."""
    height, carried = len(values), np.empty(values.shape[1], np.float32)
    rows = min(SCANNED_PER_SLICE, max(1, CELLS_PER_SLICE // values.shape[1]))
    for order in (range(1, height), range(height - 2, -1, -1)):
        for row, previous in zip(order, (row - order.step for row in order), strict=True):
            np.multiply(values[previous], share, out=carried)
            if is_open is not None:
                carried *= is_open[row]
            np.maximum(values[row], carried, out=values[row])
            if row % rows == 0:
                yield rows
    yield 1


class Scratch:
    """Work space that all layers of an area share, one after the other."""

    def __init__(self, area: MapArea) -> None:
        self.first, self.second = (np.zeros(area.shape, np.float32) for _ in range(2))
        self.turned = np.zeros(area.shape[::-1], np.float32)
        self.marks = np.zeros(area.shape, np.bool_)


WRITTEN = PackedArray(
    np.float32, shape=lambda influence: influence.area.shape, minimum=0, maximum=LARGEST_VALUE * 1000, absent=math.nan)
"""How pending writes of a layer are saved: sums of many, NaN for unwritten cells."""


class InfluenceMap(Saveable):
    """The values of one layer.

    Attributes:
        values: (height, width) float32, as of the last update, neither spread nor blurred.

    Cost: 16 bytes per cell.
    """

    STATE = DeclaredState(
        values=PackedArray(
            np.float32, shape=lambda influence: influence.area.shape, minimum=0,
            maximum=lambda influence: influence.layer.max_value),
        written=WRITTEN, taking=WRITTEN)

    def __init__(self, layer: MapLayer, area: MapArea) -> None:
        self.layer, self.area = layer, area
        self.values = np.full(area.shape, layer.initial, np.float32)
        self.next_values = self.values.copy()
        self._unwritten = np.float32(np.nan if layer.writes == "latest" else 0.0)
        self.written, self.taking = (np.full(area.shape, self._unwritten, np.float32) for _ in range(2))

    def write(self, cells: NDArray[np.int32], strengths: NDArray[np.float32]) -> None:
        """Write into checked cells; the next update applies the values."""
        flat = self.written.reshape(-1)
        if self.layer.writes == "latest":
            flat[cells] = strengths
        else:
            np.add.at(flat, cells, strengths)
            flat[cells] = np.minimum(flat[cells], LARGEST_VALUE)    # no cell becomes larger

    def checked(self, strengths: ArrayLike, count: int) -> NDArray[np.float32]:
        """Return strengths as (count,) float32; a single value applies to all cells."""
        numbers = as_array("strengths", strengths)
        if numbers.dtype.kind not in "iufb" or numbers.dtype == np.bool_:
            raise TypeError(f"strengths of layer {self.layer.name!r} must be numbers, got {shown(strengths)}")
        if numbers.ndim and numbers.shape != (count,):
            raise ValueError(
                f"strengths of layer {self.layer.name!r} must be one, or one per cell, {count}, got {numbers.shape}")
        is_wrong = ~((numbers >= 0) & (numbers <= LARGEST_VALUE))
        if is_wrong.any():
            wrong = np.atleast_1d(numbers)[np.atleast_1d(is_wrong)][0]
            remedy = "; write enemies into a layer of their own" if wrong < 0 else ""
            raise ValueError(
                f"strengths of layer {self.layer.name!r} must be 0 to {LARGEST_VALUE:g}, got {wrong:g}{remedy}")
        return np.broadcast_to(numbers.astype(np.float32), (count,))

    def take_written(self) -> None:
        """Hand the values written so far to the coming update. Cost: O(1)."""
        self.written, self.taking = self.taking, self.written

    def age(self, passed_s: float, scratch: Scratch) -> Iterator[int]:
        """Compute ``next_values`` from the faded ``values`` and the taken writes; yields rows done."""
        layer = self.layer
        kept = np.float32(layer.kept_per_s ** passed_s if layer.kept_per_s else 0.0)      # 0 also if no time passed
        grown = np.float32(layer.grows_per_s * passed_s)
        for rows in slices_of(self.values):
            target, taken = self.next_values[rows], self.taking[rows]
            np.multiply(self.values[rows], kept, out=target)
            if grown:
                target += grown
            if layer.writes == "latest":
                marks = scratch.marks[rows]
                np.equal(taken, taken, out=marks)  # NaN marks unwritten cells and is unequal to itself
                np.copyto(target, taken, where=marks)
            else:
                target += taken
            np.minimum(target, np.float32(layer.max_value), out=target)
            yield rows.stop - rows.start

    def draw(self, picture: Floats, is_open: NDArray[np.bool_] | None, scratch: Scratch) -> Iterator[int]:
        """Draw ``next_values`` into a snapshot, spread and blurred; yields rows done."""
        layer = self.layer
        source, others = self.next_values, (scratch.first, scratch.second)
        if layer.kept_per_m > 0:
            target = picture if layer.blur_passes == 0 else others[layer.blur_passes % 2]
            yield from copied(source, target)
            yield from spread(target, layer.kept_per_m ** self.area.cell_m, is_open, scratch.turned)
            source = target
        elif layer.blur_passes == 0:
            yield from copied(source, picture)
        column = scratch.turned.reshape(self.area.shape)
        for left in range(layer.blur_passes - 1, -1, -1):
            target = picture if left == 0 else others[left % 2]
            for rows in slices_of(source):
                first, last = rows.start, rows.stop
                if layer.blur_stops_at_walls and is_open is not None:
                    blur_rows_within_walls(source, first, last, is_open, column, target)
                else:
                    blur_rows(source, first, last, column, target)
                yield last - first
            source = target

    def accept(self) -> None:
        """Make ``next_values`` the current values. Cost: O(1)."""
        self.values, self.next_values = self.next_values, self.values

    def forget_taken(self) -> Iterator[int]:
        """Clear the taken writes, for those of the next update; yields rows done."""
        for rows in slices_of(self.taking):
            self.taking[rows] = self._unwritten
            yield rows.stop - rows.start

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        for name in ("written", "taking"):
            if self.layer.writes != "latest" and np.isnan(getattr(values, name)).any():
                refuse(name, "must not hold NaN, which marks unwritten cells of a layer with writes='latest'")


__all__ = ["InfluenceMap", "Scratch", "blur_rows", "blur_rows_within_walls", "spread"]
