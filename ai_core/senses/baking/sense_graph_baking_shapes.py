"""Shapes of rooms: their cells, the ground from there to the walls, and boxes around both."""
from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.baking.sense_graph_baking_ground import GroundCells
from ai_core.senses.baking.sense_graph_baking_rooms import CELLS_A_STEP, NO_ROOM
from ai_core.senses.graph.sense_graph_shapes import FLAT_M, Box

__all__ = ["BELOW_M", "RegionReach", "room_boxes"]

BELOW_M = 0.5
"""Regions begin so far below the ground (m): navigation meshes float above the floor, feet do not."""

LEAST_HEIGHT_M = 0.1
"""Height that a region keeps below whatever is walked on above it (m)."""

LEVEL_M = 0.25
"""Height of the levels that ground is sorted into (m): a ramp becomes a stair of boxes."""

BOXES_A_STEP = 16
"""Boxes made between two looks at the budget, about 0.5 ms."""

Ids = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]
IsElsewhere = Callable[[Floats], NDArray[np.bool_]]


class RegionReach(NamedTuple):
    """How far regions reach, see ``BakingSettings``."""

    aside_m: float
    height_m: float


def room_boxes(
    cells: GroundCells, room: Ids, reach: RegionReach, is_elsewhere: IsElsewhere | None
) -> Generator[float, None, dict[int, list[Box]]]:
    """Yield how far it has come, 0 to 1, and return the boxes of every room.

    A room takes what is nearer to it than to any other, up to ``aside_m``: the strip
    along its walls where nobody can walk, and what stands in its middle.

    Args:
        cells: the ground.
        room: (n,) room of every cell, ``NO_ROOM`` for none.
        reach: how far.
        is_elsewhere: says of points (n, 3) which lie in regions made by hand; None for none.

    Cost: about 3 µs a cell, those reached counted; a step O(n log n) of them to sort them.
    """
    growth = _Growth(cells, room, reach)
    yield from (0.2 * share for share in growth.begin())
    yield from (0.2 + 0.4 * share for share in growth.steps(is_elsewhere))
    column, floor_m, whose = growth.ground()
    yield 0.6
    top_m = _tops(column, floor_m, reach.height_m)
    yield 0.65
    found = _rectangles(_runs(column, floor_m, top_m, whose))
    boxes: dict[int, list[Box]] = {}
    for number, one in enumerate(found):
        boxes.setdefault(one.room, []).append(_box(cells, one))
        if number % BOXES_A_STEP == 0:
            yield 0.8 + 0.2 * number / len(found)
    return boxes


class _Growth:
    """Rooms that reach out, a ring of cells a round, all at once.

    What is known of a column is a flat tuple: height and room, of each storey.
    """

    def __init__(self, cells: GroundCells, room: Ids, reach: RegionReach) -> None:
        self._cells, self._room, self._height_m = cells, room, reach.height_m
        self._rounds = round(reach.aside_m / cells.cell_m)
        self._low = cells.column.min(axis=0) - self._rounds - 1
        self._width = int(np.ptp(cells.column[:, 0])) + 2 * self._rounds + 3
        self._known: dict[int, tuple[float, ...]] = {}
        self._edge: list[tuple[int, float, int]] = []
        self._grown: list[tuple[int, float, int]] = []

    def begin(self) -> Iterator[float]:
        """Note where the ground is; yield how far it has come."""
        cells, room, known = self._cells, self._room, self._known
        at = cells.column - self._low
        keys = at[:, 1] * self._width + at[:, 0]
        for begin in range(0, len(keys), CELLS_A_STEP):
            part = slice(begin, begin + CELLS_A_STEP)
            for key, height_m, whose in zip(
                keys[part].tolist(), cells.floor_m[part].tolist(), room[part].tolist(), strict=True
            ):
                known[key] = (*known.get(key, ()), height_m, whose)
            yield begin / len(keys)
        rim = np.flatnonzero((cells.neighbors < 0).any(axis=1) & (room != NO_ROOM))
        rim = rim[np.lexsort((rim, room[rim]))]
        self._edge = list(zip(
            keys[rim].tolist(), cells.floor_m[rim].tolist(), room[rim].tolist(), strict=True))

    def steps(self, is_elsewhere: IsElsewhere | None) -> Iterator[float]:
        """Grow; yield how far it has come."""
        for number in range(self._rounds):
            edge, self._edge = self._edge, []
            for begin in range(0, len(edge), CELLS_A_STEP):
                new = self._reached(edge[begin : begin + CELLS_A_STEP])
                if is_elsewhere is not None and new:
                    new = self._without_taken(new, is_elsewhere)
                self._edge += new
                self._grown += new
                yield (number + begin / len(edge)) / self._rounds

    def ground(self) -> tuple[Ids, Floats, Ids]:
        """Return column, height and room of all ground, grown or not."""
        keys = np.array([key for key, _, _ in self._grown], np.int64)
        column = np.stack((keys % self._width, keys // self._width), axis=1) + self._low
        cells = self._cells
        return (
            np.concatenate((cells.column, column)),
            np.concatenate((cells.floor_m, [height_m for _, height_m, _ in self._grown])),
            np.concatenate((self._room, np.array([room for *_, room in self._grown], np.int64))),
        )

    def _reached(self, edge: list[tuple[int, float, int]]) -> list[tuple[int, float, int]]:
        known, width, height_m = self._known, self._width, self._height_m
        around = (-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1)
        new = []
        for key, floor_m, room in edge:
            for step in around:
                there = known.get(key + step)
                if there is None:
                    known[key + step] = (floor_m, room)
                elif min(abs(floor_m - other) for other in there[::2]) >= height_m:
                    known[key + step] = (*there, floor_m, room)
                else:
                    continue
                new.append((key + step, floor_m, room))
        return new

    def _without_taken(
        self, new: list[tuple[int, float, int]], is_elsewhere: IsElsewhere
    ) -> list[tuple[int, float, int]]:
        """Return what does not lie in regions made by hand; that stays known, and in the way."""
        keys = np.array([key for key, _, _ in new])
        column = np.stack((keys % self._width, keys // self._width), axis=1) + self._low
        taken = is_elsewhere(self._cells.points(
            column + 0.5, np.array([floor_m for _, floor_m, _ in new])))
        return [one for one, is_taken in zip(new, taken.tolist(), strict=True) if not is_taken]


class _Run(NamedTuple):
    """Cells that become one box; of one room, and of levels of ground and of height above it."""

    room: int
    level: int
    headroom: int
    row: int
    first: int
    last: int
    begun: int
    floor_m: float
    top_m: float


def _tops(column: Ids, floor_m: Floats, height_m: float) -> Floats:
    """Return up to where regions reach over every cell: below what is walked on above it."""
    order = np.lexsort((floor_m, column[:, 0], column[:, 1]))
    top_m = floor_m + height_m
    here, above = order[:-1], order[1:]
    is_below = (column[here] == column[above]).all(axis=1)
    here, above = here[is_below], above[is_below]
    top_m[here] = np.maximum(
        np.minimum(top_m[here], floor_m[above] - BELOW_M), floor_m[here] + LEAST_HEIGHT_M)
    return top_m


def _runs(column: Ids, floor_m: Floats, top_m: Floats, room: Ids) -> list[_Run]:
    """Return stretches along rows, of one room and level, in order."""
    mine = np.flatnonzero(room != NO_ROOM)
    column, floor_m, top_m, room = column[mine], floor_m[mine], top_m[mine], room[mine]
    base_m = np.zeros(int(room.max(initial=0)) + 1)
    base_m[room[::-1]] = floor_m[::-1]          # of the first cell of each room
    level = np.round((floor_m - base_m[room]) / LEVEL_M).astype(np.int64)
    headroom = np.round((top_m - floor_m) / LEVEL_M).astype(np.int64)
    sorts = np.stack((room, level, headroom, column[:, 1], column[:, 0]))
    order = np.argsort(_packed(sorts), kind="stable")
    sorts = sorts[:, order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (sorts[:-1, 1:] != sorts[:-1, :-1]).any(axis=0) | (sorts[-1, 1:] != sorts[-1, :-1] + 1)
    first = np.flatnonzero(begins)
    if not len(first):
        return []
    ends = np.append(first[1:], len(order)) - 1
    columns = [*sorts[:, first], sorts[-1, ends], sorts[3, first],
               np.minimum.reduceat(floor_m[order], first), np.minimum.reduceat(top_m[order], first)]
    return [_Run(*row) for row in zip(*(one.tolist() for one in columns), strict=True)]


def _packed(sorts: Ids) -> Ids:
    """Return numbers in the order of columns, by their first row, then the second, and so on."""
    packed = np.zeros(sorts.shape[1], np.int64)
    for row in sorts:
        least = row.min(initial=0)
        packed = packed * (int(row.max(initial=0)) - least + 1) + (row - least)
    return packed


def _rectangles(runs: list[_Run]) -> list[_Run]:
    """Return runs, those that lie under equal ones of the row before joined to them."""
    by_end: dict[tuple[int, ...], _Run] = {}
    for run in runs:
        above = by_end.pop((*run[:3], run.row - 1, run.first, run.last), None)
        if above is not None:
            run = run._replace(
                begun=above.begun, floor_m=min(above.floor_m, run.floor_m),
                top_m=min(above.top_m, run.top_m))
        by_end[*run[:3], run.row, run.first, run.last] = run
    return sorted(by_end.values(), key=lambda run: (run.room, run.begun, run.first, run.level, run.headroom))


def _box(cells: GroundCells, one: _Run) -> Box:
    low_m, high_m = (one.floor_m - BELOW_M, one.top_m) if cells.up == "y" else (-FLAT_M, FLAT_M)
    corners = np.array([(one.first, one.begun), (one.last + 1, one.row + 1)])
    low, high = cells.points(corners, np.array([low_m, high_m])).tolist()
    return Box(low, high)
