"""Region of a position: by a grid of cells, or by a custom function."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown
from ai_core.senses.graph.sense_graph_shapes import Box, Prism, Shape
from ai_core.senses.sensation import Point

__all__ = ["NOWHERE", "Lookup", "RegionLookup", "RegionPlaces", "ShapeLookup"]

NOWHERE = -1
"""Region of a position that lies in none."""

MOST_CELLS_AN_AXIS = 64
"""Cells of the grid along one axis (count); 64³ cells take 1 MB."""

Lookup = Callable[[NDArray[np.float32]], NDArray[np.int32]]
"""Callable that takes positions (n, 3) and returns their region ids (n,), ``NOWHERE`` for none.

The same positions must always give the same ids.
"""

Floats = NDArray[np.float64]


class RegionLookup:
    """A lookup handed in, its answers checked.

    Args:
        lookup: see ``Lookup``.
        regions: how many there are (count).
    """

    def __init__(self, lookup: Lookup, regions: int) -> None:
        if not callable(lookup):
            raise TypeError(f"lookup must be a callable or None, got {shown(lookup)}")
        self._lookup = lookup
        self._regions = regions

    def __call__(self, places: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the regions of positions.

        Raises:
            TypeError: if the function does not return an array of whole numbers.
            ValueError: if its shape is another, or a number is no region.
        """
        found = self._lookup(places)
        if not isinstance(found, np.ndarray) or found.dtype.kind not in "iu":
            raise TypeError(f"lookup must return a NumPy array of region ids, got {shown(found)}")
        if found.shape != (len(places),):
            raise ValueError(f"lookup must return shape ({len(places)},), got {found.shape}")
        if len(found) and not (found.min() >= NOWHERE and found.max() < self._regions):
            raise ValueError(
                f"lookup must return ids from {NOWHERE} to {self._regions - 1},"
                f" got {shown(found.tolist())}"
            )
        return found.astype(np.int32)


class ShapeLookup:
    """Finds regions by their shapes; where several meet, the one with the smallest id.

    Args:
        regions: shapes of all regions, by id.

    Cost: making O(parts of regions), finding O(positions times parts that meet in one cell).
    """

    def __init__(self, regions: Sequence[Shape]) -> None:
        shapes = [part for region in regions for part in region.parts]
        owners = [number for number, region in enumerate(regions) for _ in region.parts]
        self._owners = np.array(owners, np.int32)
        self._low = np.array([one.minimum for one in shapes], np.float64).reshape(-1, 3)
        self._high = np.array([one.maximum for one in shapes], np.float64).reshape(-1, 3)
        self._edges = _packed_edges(shapes)
        self._lists = (self._low.tolist(), self._high.tolist(), [one.edges for one in shapes])
        sizes = self._high - self._low
        self._origin = self._low.min(axis=0) if len(shapes) else np.zeros(3)
        extent = (self._high.max(axis=0) if len(shapes) else np.ones(3)) - self._origin
        typical = sizes.mean(axis=0) if len(shapes) else np.ones(3)
        self._cells = np.clip(np.floor(extent / typical), 1, MOST_CELLS_AN_AXIS).astype(np.int64)
        self._cell_m = extent / self._cells
        self._fill_cells()

    def __call__(self, places: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the regions of positions, ``NOWHERE`` for those in none."""
        found = np.full(len(places), NOWHERE, np.int32)
        where = places.astype(np.float64)
        cells = self._cell_of(where)
        first, end = self._first[cells], self._first[cells + 1]
        open_rows = np.flatnonzero(first < end)
        step = 0
        while len(open_rows):
            parts = self._parts[first[open_rows] + step]
            inside = self._contains(parts, where[open_rows])
            found[open_rows[inside]] = self._owners[parts[inside]]
            step += 1
            open_rows = open_rows[~inside & (first[open_rows] + step < end[open_rows])]
        return found

    def of(self, place: Point) -> int:
        """Return the region of one position: the same, faster than an array of one."""
        cell = int(self._cell_of(np.array([place]))[0])
        low, high, edges = self._lists
        x, y, z = place
        for part in self._parts[self._first[cell] : self._first[cell + 1]].tolist():
            (ax, ay, az), (bx, by, bz) = low[part], high[part]
            if ax <= x <= bx and ay <= y <= by and az <= z <= bz and all(
                x * a + y * b + z * c <= d for a, b, c, d in edges[part]
            ):
                return int(self._owners[part])
        return NOWHERE

    def _contains(self, parts: NDArray[np.int32], where: Floats) -> NDArray[np.bool_]:
        inside = (where >= self._low[parts]).all(axis=1)
        inside &= (where <= self._high[parts]).all(axis=1)
        for edges in self._edges:
            a, b, c, d = edges[parts].T
            inside &= where[:, 0] * a + where[:, 1] * b + where[:, 2] * c <= d
        return np.asarray(inside, np.bool_)

    def _cell_of(self, where: Floats) -> NDArray[np.int64]:
        # What lies outside the grid is given a cell at its border; no region there holds it.
        steps = np.clip(np.floor((where - self._origin) / self._cell_m), 0, self._cells - 1)
        _, across, deep = self._cells.tolist()
        numbers: NDArray[np.int64] = steps.astype(np.int64) @ [across * deep, deep, 1]
        return numbers

    def _fill_cells(self) -> None:
        last = self._cells - 1
        begin = np.clip(np.floor((self._low - self._origin) / self._cell_m), 0, last)
        end = np.clip(np.floor((self._high - self._origin) / self._cell_m), 0, last)
        _, across, deep = self._cells.tolist()
        cells, parts = [], []
        ranges = zip(begin.astype(int).tolist(), end.astype(int).tolist(), strict=True)
        for part, (low, high) in enumerate(ranges):
            spans = [range(a, b + 1) for a, b in zip(low, high, strict=True)]
            for x, y, z in product(*spans):
                cells.append((x * across + y) * deep + z)
                parts.append(part)
        order = np.lexsort((parts, cells))
        self._parts = np.array(parts, np.int32)[order]
        counts = np.bincount(np.array(cells, np.int64), minlength=int(self._cells.prod()))
        self._first = np.concatenate(([0], np.cumsum(counts)))


def _packed_edges(shapes: Sequence[Box | Prism]) -> list[Floats]:
    """Return the planes of all shapes, one array per how many a shape has at most."""
    most = max((len(one.edges) for one in shapes), default=0)
    packed = []
    for number in range(most):
        rows = [
            one.edges[number] if number < len(one.edges) else (0.0, 0.0, 0.0, 1.0)
            for one in shapes
        ]
        packed.append(np.array(rows, np.float64))
    return packed


class RegionPlaces:
    """The regions of rows that move: looked up again only for those that did.

    Args:
        lookup: finds regions.

    Cost: O(rows) to see who moved.
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._places = np.zeros((0, 3), np.float32)
        self._regions = np.zeros(0, np.int32)

    def of(self, places: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the region of every row of ``places`` (rows, 3); not to be written to."""
        if len(places) != len(self._places):
            self._places, self._regions = places.copy(), self._lookup(places)
            return self._regions
        moved = np.flatnonzero((places != self._places).any(axis=1))
        if len(moved):
            self._regions[moved] = self._lookup(places[moved])
            self._places[moved] = places[moved]
        return self._regions
