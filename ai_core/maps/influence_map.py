"""One layer as it lives: what was written, what is left of it, and the picture made of it.

Written values wait until an update begins, so that an update is of one moment. They
fade or grow as the layer says, and the picture is what they look like spread and
blurred: what is made into a picture is never fed back, so no rate of updates blurs more.
"""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, shown
from ai_core.maps.blurring import blur_rows, blur_rows_within_walls
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import LARGEST_VALUE, MapLayer
from ai_core.maps.spreading import spread

__all__ = ["CELLS_PER_SLICE", "InfluenceMap", "Scratch"]

CELLS_PER_SLICE = 1 << 16
"""Cells worked on between two looks at the budget (count): 0.1 ms, and fits near caches."""

Floats = NDArray[np.float32]


class Scratch:
    """What all layers of an area work in, one after the other."""

    def __init__(self, area: MapArea) -> None:
        self.first, self.second = (np.zeros(area.shape, np.float32) for _ in range(2))
        self.turned = np.zeros(area.shape[::-1], np.float32)
        self.marks = np.zeros(area.shape, np.bool_)


class InfluenceMap:
    """The values of one layer.

    Args:
        layer: what it is about.
        area: where.

    Attributes:
        values: (height, width) float32, as of the last update, neither spread nor blurred.

    Cost: 16 bytes a cell.
    """

    def __init__(self, layer: MapLayer, area: MapArea) -> None:
        self.layer, self.area = layer, area
        self.values = np.full(area.shape, layer.initial, np.float32)
        self.next_values = self.values.copy()
        self._unwritten = np.float32(np.nan if layer.writes == "latest" else 0.0)
        self.written, self.taking = (np.full(area.shape, self._unwritten, np.float32) for _ in range(2))

    def write(self, cells: NDArray[np.int32], strengths: NDArray[np.float32]) -> None:
        """Write into checked cells; it waits for the next update."""
        flat = self.written.reshape(-1)
        if self.layer.writes == "latest":
            flat[cells] = strengths
        else:
            np.add.at(flat, cells, strengths)

    def checked(self, strengths: ArrayLike, count: int) -> NDArray[np.float32]:
        """Return strengths as (count,) float32; one counts for all.

        Raises:
            TypeError: if they are no numbers.
            ValueError: if their number is another, or one is negative, too large or not finite.
        """
        numbers = as_array("strengths", strengths)
        if numbers.dtype.kind not in "iufb" or numbers.dtype == np.bool_:
            raise TypeError(f"strengths of layer {self.layer.name!r} must be numbers, got {shown(strengths)}")
        if numbers.ndim and numbers.shape != (count,):
            raise ValueError(
                f"strengths of layer {self.layer.name!r} must be one, or {count} as cells are, got {numbers.shape}")
        is_wrong = ~((numbers >= 0) & (numbers <= LARGEST_VALUE))
        if is_wrong.any():
            raise ValueError(
                f"strengths of layer {self.layer.name!r} must be 0 to {LARGEST_VALUE:g},"
                f" got {np.atleast_1d(numbers)[np.atleast_1d(is_wrong)][0]:g}; write a threat of its own for a foe")
        return np.broadcast_to(numbers.astype(np.float32), (count,))

    def take_written(self) -> None:
        """Let the coming update take what was written until now. Cost: O(1)."""
        self.written, self.taking = self.taking, self.written

    def age(self, passed_s: float, scratch: Scratch) -> Iterator[int]:
        """Make ``next_values``: what is left of ``values``, and what is taken; yields rows done."""
        layer = self.layer
        kept, grown = np.float32(layer.kept_per_s ** passed_s), np.float32(layer.grows_per_s * passed_s)
        for first, last in self._slices():
            target, taken = self.next_values[first:last], self.taking[first:last]
            np.multiply(self.values[first:last], kept, out=target)
            if grown:
                target += grown
            if layer.writes == "latest":
                marks = scratch.marks[first:last]
                np.equal(taken, taken, out=marks)  # NaN, which nobody wrote, is unlike itself
                np.copyto(target, taken, where=marks)
            else:
                target += taken
            np.minimum(target, np.float32(layer.most), out=target)
            yield last - first

    def draw(self, picture: Floats, is_open: NDArray[np.bool_] | None, scratch: Scratch) -> Iterator[int]:
        """Make the picture of ``next_values``; yields rows done."""
        layer = self.layer
        source, others = self.next_values, (scratch.first, scratch.second)
        if layer.kept_per_m > 0:
            target = picture if layer.blur_passes == 0 else others[layer.blur_passes % 2]
            target[:] = source
            yield from spread(target, layer.kept_per_m ** self.area.cell_m, is_open, scratch.turned)
            source = target
        elif layer.blur_passes == 0:
            picture[:] = source
            yield self.area.shape[0]
        column = scratch.turned.reshape(self.area.shape)
        for left in range(layer.blur_passes - 1, -1, -1):
            target = picture if left == 0 else others[left % 2]
            for first, last in self._slices():
                if layer.blur_stops_at_walls and is_open is not None:
                    blur_rows_within_walls(source, first, last, is_open, column, target)
                else:
                    blur_rows(source, first, last, column, target)
                yield last - first
            source = target

    def accept(self) -> None:
        """Let what was made be what is there. Cost: O(1)."""
        self.values, self.next_values = self.next_values, self.values

    def forget_taken(self) -> None:
        """Make room for what is written during the next update."""
        self.taking.fill(self._unwritten)

    def _slices(self) -> Iterator[tuple[int, int]]:
        height, width = self.area.shape
        rows = max(1, CELLS_PER_SLICE // width)
        for first in range(0, height, rows):
            yield first, min(height, first + rows)
