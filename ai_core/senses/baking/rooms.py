"""Rooms of a level: ground divided at narrow places, and the boxes that each room fills.

Rooms are a watershed on the distance to walls. Cells join rooms from the centres
outwards; where two rooms meet, the width there is compared with theirs.
"""
from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.baking.ground import NO_CELL, Floats, GroundCells, Ids, Work, blocks, rows_of_cells
from ai_core.senses.graph.parts import FLAT_M, Box

__all__ = ["NO_ROOM", "distances_to_walls", "divided_ground", "room_boxes"]

NO_ROOM = -1
"""Room of a cell that is in none."""

STRAIGHT, DIAGONAL = 5, 7
"""Lengths of steps to the cells around: 7 / 5 is within 1 % of the root of 2."""

SURE_CELLS = 1.0
"""A place is narrow only if each side is narrower by this (cells): the grid alone causes smaller differences."""

CELLS_A_STEP = 48
"""Cells that join rooms between two looks at the budget, about 50 µs."""

BELOW_M = 0.5
"""Depth of regions below the ground (m): navigation meshes are above the floor, feet are not."""

LEAST_HEIGHT_M = 0.1
"""Height that a region keeps below ground that is walked on above it (m)."""

LEVEL_M = 0.25
"""Height of the levels that ground is sorted into (m): a ramp becomes a stair of boxes."""

BOXES_A_STEP = 2
"""Boxes made between two looks at the budget, about 60 µs."""

AROUND = np.array([(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)])
"""Offsets to the columns around a column (cells)."""


def distances_to_walls(cells: GroundCells) -> Work[Ids]:
    """Return the distance of every cell to a wall, 0 beside it, in fifths of a cell (``STRAIGHT`` a cell).

    Cost: O(cells) a step, nine steps for each cell of the largest distance.
    """
    beside = cells.neighbors
    far = np.iinfo(np.int64).max // 2
    distance = np.full(len(cells) + 1, far)      # the last one is that of NO_CELL
    distance[:-1][(beside == NO_CELL).any(axis=1)] = 0
    steps = [(beside[:, side], STRAIGHT) for side in range(4)]
    for side in range(4):
        yield 0.0
        corner = beside[beside[:, side], (side + 1) % 4]
        steps.append((np.where(beside[:, side] == NO_CELL, NO_CELL, corner), DIAGONAL))
    is_changed = True
    while is_changed:
        before = distance[:-1].copy()
        for there, length in steps:
            np.minimum(distance[:-1], distance[there] + length, out=distance[:-1])
            yield 0.0
        is_changed = bool((distance[:-1] != before).any())
        yield 0.0
    return distance[:-1]


def divided_ground(
    cells: GroundCells, distance: Ids, taken: NDArray[np.bool_], *, narrowness: float, widest_m: float,
    least_area_m2: float,
) -> Work[Ids]:
    """Return the room of every cell, ``NO_ROOM`` for none, numbered by their first cells.

    A room that is too small becomes part of the room to which it opens widest; without
    an opening, it is dropped. Cells that are ``taken`` belong to no room.

    Cost: about 2 µs a cell.
    """
    basins = _Basins(cells.cell_m, narrowness, widest_m)
    at_distance: defaultdict[int, list[int]] = defaultdict(list)
    for part in blocks(len(cells)):
        half_m = (distance[part] / STRAIGHT + 0.5) * cells.cell_m + cells.radius_m
        basins.extend(cells.neighbors[part], half_m)
        free = part.start + np.flatnonzero(~taken[part])
        for cell, far in zip(free.tolist(), distance[free].tolist(), strict=True):
            at_distance[far].append(cell)
        yield 0.1 * part.start / len(cells)
    done = 0
    for far in sorted(at_distance, reverse=True):
        order = at_distance[far]
        for begin in range(0, len(order), CELLS_A_STEP):
            added = order[begin : begin + CELLS_A_STEP]
            for cell in added:
                basins.add(cell)
            done += len(added)
            yield 0.1 + 0.8 * done / len(cells)
    found = yield from basins.rooms(least_area_m2 / cells.cell_m**2)
    return found


class _Basins:
    """Cells added so far, in basins; the root of a basin is its first cell, the farthest from walls."""

    def __init__(self, cell_m: float, narrowness: float, widest_m: float) -> None:
        self._beside: list[list[int]] = [[] for _ in range(4)]
        self._half_m: list[float] = []
        self._narrowness, self._widest_m = narrowness, widest_m
        self._sure_m = SURE_CELLS * cell_m
        self._parent: list[int] = []
        # By root: half the width of an opening times -1, and a cell of the basin behind it.
        self._openings: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)

    def extend(self, neighbors: Ids, half_m: Floats) -> None:
        """Make more cells known, which are in no basin yet."""
        for side, beside in enumerate(self._beside):
            beside += neighbors[:, side].tolist()
        self._half_m += half_m.tolist()
        self._parent += [NO_CELL] * len(half_m)

    def add(self, cell: int) -> None:
        """Add a cell to a basin beside it, or begin one; join basins that are one room.

        It goes where the distance rises most: else a basin would grow along the walls of another.
        """
        parent, half_m = self._parent, self._half_m
        found: list[int] = []
        mine, steepest_m = cell, 0.0
        for side in self._beside:
            other = side[cell]
            if other != NO_CELL and parent[other] != NO_CELL:
                root = self._root(other)
                if half_m[other] > steepest_m or (
                    half_m[other] == steepest_m and (half_m[root], -root) > (half_m[mine], -mine)):
                    mine, steepest_m = root, half_m[other]
                if root not in found:
                    found.append(root)
        parent[cell] = mine
        if len(found) > 1:
            found.sort(key=lambda root: (-half_m[root], root))
            for root in found[1:]:
                if self._is_one_room(half_m[cell], half_m[root]):
                    self._join(root, found[0])
            mine = self._root(mine)
            for root in {self._root(root) for root in found} - {mine}:
                self._openings[mine].append((-half_m[cell], root))
                self._openings[root].append((-half_m[cell], mine))

    def rooms(self, least_cells: float) -> Work[Ids]:
        """Return the room of every cell, numbered by their first cells; ``NO_ROOM`` for cells without a room.

        A room of fewer cells is joined to the room to which it opens widest, or dropped; the smallest room first.
        """
        sizes: Counter[int] = Counter()
        for part in blocks(len(self._parent)):
            sizes.update([self._root(one) for one in self._parent[part] if one != NO_CELL])
            yield 0.9
        dropped = {NO_CELL}
        for _, room in sorted((size, room) for room, size in sizes.items() if size < least_cells):
            if sizes[room] < least_cells:
                openings = ((width, self._root(other)) for width, other in self._openings[room])
                _, into = min((one for one in openings if one[1] != room), default=(0.0, NO_ROOM))
                if into == NO_ROOM:
                    dropped.add(room)
                else:
                    self._join(room, into)
                    sizes[into] += sizes[room]
                yield 0.9
        numbers: dict[int, int] = dict.fromkeys(dropped, NO_ROOM)
        found = np.empty(len(self._parent), np.int64)
        for part in blocks(len(found)):
            roots = [self._root(one) if one != NO_CELL else NO_CELL for one in self._parent[part]]
            found[part] = [numbers.setdefault(root, len(numbers) - len(dropped)) for root in roots]
            yield 0.9 + 0.1 * part.start / len(found)
        return found

    def _join(self, root: int, into: int) -> None:
        self._parent[root] = into
        self._openings[into] += self._openings.pop(root, ())

    def _root(self, cell: int) -> int:
        parent = self._parent
        root = cell
        while parent[root] != root:
            root = parent[root]
        while parent[cell] != root:
            parent[cell], cell = root, parent[cell]
        return root

    def _is_one_room(self, opening_m: float, room_m: float) -> bool:
        return (
            opening_m > self._narrowness * room_m or room_m - opening_m < self._sure_m
            or 2 * opening_m > self._widest_m)


def room_boxes(
    cells: GroundCells, room: Ids, *, reach_m: float, height_m: float,
    is_elsewhere: Callable[[Floats], NDArray[np.bool_]] | None,
) -> Work[dict[int, list[Box]]]:
    """Return the boxes of every room.

    A room extends up to ``reach_m`` over places nearer to it than to any other room: the strip
    along its walls that is not walkable, and obstacles in it.

    Args:
        room: (n,) room of every cell, ``NO_ROOM`` for none.
        is_elsewhere: returns which points (n, 3) lie in regions made by hand; None for none.

    Cost: O(n log n) of cells, a step for each cell of ``reach_m``; then about 30 µs a box.
    """
    column, floor_m = cells.column, cells.floor_m
    edge = yield from _edge_cells(cells, room)
    # Of each row: places along it, and heights. Those in a region made by hand are known, but not taken, so that no
    # room extends past them.
    known = {row: (column[here, 0], floor_m[here]) for row, here in (yield from rows_of_cells(column)).items()}
    rings = round(reach_m / cells.cell_m)
    for ring in range(rings):
        near = (column[edge][:, np.newaxis] + AROUND).reshape(-1, 2)
        yield 0.6 * ring / rings
        near_m, near_room = np.repeat(floor_m[edge], len(AROUND)), np.repeat(room[edge], len(AROUND))
        is_new = np.zeros(len(near), np.bool_)
        for row, here in (yield from rows_of_cells(near)).items():
            x, m = known.get(row, (near[:0, 0], near_m[:0]))
            free = here[_free_places(x, m, near[here, 0], near_m[here], height_m)]
            known[row] = np.concatenate((x, near[free, 0])), np.concatenate((m, near_m[free]))
            if is_elsewhere is not None and len(free):
                free = free[~is_elsewhere(cells.points(near[free] + 0.5, near_m[free]))]
            is_new[free] = True
            yield 0.6 * ring / rings
        new = np.flatnonzero(is_new)
        yield 0.6 * ring / rings
        edge = np.arange(len(column), len(column) + len(new))
        column, floor_m = np.concatenate((column, near[new])), np.concatenate((floor_m, near_m[new]))
        room = np.concatenate((room, near_room[new]))
        yield 0.6 * ring / rings
    base_m = np.zeros(int(room.max(initial=NO_ROOM)) + 1)        # of the first cell of each room
    for part in reversed([*blocks(len(room))]):
        mine = part.start + np.flatnonzero(room[part] != NO_ROOM)[::-1]
        base_m[room[mine]] = floor_m[mine]
    yield 0.6
    joined: dict[tuple[int, ...], _Stretch] = {}
    for here in (yield from rows_of_cells(column)).values():
        top_m = _tops_m(column[here], floor_m[here], height_m)
        _join_rows(joined, _stretches(column[here], floor_m[here], top_m, room[here], base_m))
        yield 0.65
    stretches = sorted(joined.values(), key=lambda one: (one.room, one.first_row, one.first, one.level, one.headroom))
    boxes: dict[int, list[Box]] = {}
    for number, one in enumerate(stretches):
        boxes.setdefault(one.room, []).append(_box(cells, one))
        if number % BOXES_A_STEP == 0:
            yield 0.7 + 0.3 * number / len(stretches)
    return boxes


def _edge_cells(cells: GroundCells, room: Ids) -> Work[Ids]:
    """Return the cells of rooms beside walls, by rooms and cells."""
    edges = []
    for part in blocks(len(cells)):
        is_edge = (cells.neighbors[part] == NO_CELL).any(axis=1) & (room[part] != NO_ROOM)
        edges.append(part.start + np.flatnonzero(is_edge))
        yield 0.0
    edge = np.concatenate(edges)
    by_room: Ids = edge[np.argsort(room[edge], kind="stable")]
    return by_room


def _free_places(known: Ids, known_m: Floats, near: Ids, near_m: Floats, height_m: float) -> Ids:
    """Return which places of a row are ``height_m`` apart from known ground of it, the first of each storey."""
    # Height along one axis for all columns: those of two columns are farther apart than height_m.
    apart_m = np.ptp(np.concatenate((known_m, near_m))) + 2 * height_m
    axis = np.sort((known - near[0]) * apart_m + known_m)
    at = (near - near[0]) * apart_m + near_m
    above = np.searchsorted(axis, at)
    axis = np.concatenate((axis, [np.inf, -np.inf]))         # for those above all, and below all
    free = np.flatnonzero((axis[above] - at >= height_m) & (at - axis[above - 1] >= height_m))
    order = free[np.argsort(at[free], kind="stable")]
    if not len(order):
        return order
    begins = np.concatenate(([0], np.flatnonzero(np.diff(at[order]) >= height_m) + 1))
    return np.sort(np.minimum.reduceat(order, begins))


def _tops_m(column: Ids, floor_m: Floats, height_m: float) -> Floats:
    """Return the height at which regions end over every cell of a row: below ground that is walked on above it."""
    order = np.lexsort((floor_m, column[:, 0]))
    top_m = floor_m + height_m
    here, above = order[:-1], order[1:]
    is_below = column[here, 0] == column[above, 0]
    here, above = here[is_below], above[is_below]
    top_m[here] = np.maximum(np.minimum(top_m[here], floor_m[above] - BELOW_M), floor_m[here] + LEAST_HEIGHT_M)
    return top_m


class _Stretch(NamedTuple):
    """Cells that become one box; of one room, one level of ground and one of height above it."""

    room: int
    level: int
    headroom: int
    row: int
    first: int
    last: int
    first_row: int
    floor_m: float
    top_m: float


def _stretches(column: Ids, floor_m: Floats, top_m: Floats, room: Ids, base_m: Floats) -> list[_Stretch]:
    """Return the stretches of the cells of a row, in order; ``base_m`` is where the levels of each room begin."""
    mine = np.flatnonzero(room != NO_ROOM)
    if not len(mine):
        return []
    column, floor_m, top_m, room = column[mine], floor_m[mine], top_m[mine], room[mine]
    level = np.round((floor_m - base_m[room]) / LEVEL_M).astype(np.int64)
    headroom = np.round((top_m - floor_m) / LEVEL_M).astype(np.int64)
    order = np.lexsort((column[:, 0], headroom, level, room))
    sorts = np.stack((room, level, headroom, column[:, 1], column[:, 0]))[:, order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (sorts[:-1, 1:] != sorts[:-1, :-1]).any(axis=0) | (sorts[-1, 1:] != sorts[-1, :-1] + 1)
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(order)) - 1
    columns = [*sorts[:, first], sorts[-1, last], sorts[3, first],
               np.minimum.reduceat(floor_m[order], first), np.minimum.reduceat(top_m[order], first)]
    return [_Stretch(*row) for row in zip(*(one.tolist() for one in columns), strict=True)]


def _join_rows(joined: dict[tuple[int, ...], _Stretch], row: list[_Stretch]) -> None:
    """Join the stretches of a row to equal ones that end in the row before, to rectangles."""
    for one in row:
        above = joined.pop((*one[:3], one.row - 1, one.first, one.last), None)
        if above is not None:
            one = one._replace(
                first_row=above.first_row, floor_m=min(above.floor_m, one.floor_m), top_m=min(above.top_m, one.top_m))
        joined[*one[:3], one.row, one.first, one.last] = one


def _box(cells: GroundCells, one: _Stretch) -> Box:
    low_m, high_m = (one.floor_m - BELOW_M, one.top_m) if cells.up == "y" else (-FLAT_M, FLAT_M)
    corners = np.array([(one.first, one.first_row), (one.last + 1, one.row + 1)])
    low, high = cells.points(corners, np.array([low_m, high_m])).tolist()
    return Box(low, high)
