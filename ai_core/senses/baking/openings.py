"""Connections of rooms: openings where they touch, and free lines of sight where they do not."""
from __future__ import annotations

import math
from collections.abc import Iterator, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.maps.cover.cover_spots import Blocked, check_blocked
from ai_core.senses.baking.ground import NO_CELL, Floats, GroundCells, Ids, Work, blocks
from ai_core.senses.baking.rooms import NO_ROOM
from ai_core.senses.graph.sense_graph import ShapeLookup
from ai_core.senses.sensation import Point

__all__ = ["Opening", "SightPair", "openings", "sight_pairs"]

THROUGH_M = 1.0
"""Assumed length of an opening (m): from one side of a door to the other, not more than the rooms
allow. The share that a closed one keeps is defined per metre: a much shorter one would muffle no sound.
"""


class Opening(NamedTuple):
    """A place where two rooms touch, such as a door; the room with the smaller number first.

    Attributes:
        rooms: the two.
        cells: one of each room, on either side of the middle of the opening.
        width_m: how wide it is (m).
        distance_m: between the two cells (m).
    """

    rooms: tuple[int, int]
    cells: tuple[int, int]
    width_m: float
    distance_m: float


class SightPair(NamedTuple):
    """Two rooms that see each other: where the line between them leaves one and enters the other (m)."""

    rooms: tuple[int, int]
    start: Point
    end: Point


def openings(cells: GroundCells, room: Ids) -> Work[list[Opening]]:
    """Return all openings, by rooms and cells. Cost: O(cells), then O(cells at openings), two rooms a step."""
    touching: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for side in (0, 1):
        for part in blocks(len(cells)):
            there, mine = cells.neighbors[part, side], room[part]
            here = np.flatnonzero((there != NO_CELL) & (mine != room[there]) & (mine != NO_ROOM))
            here = here[room[there[here]] != NO_ROOM]
            for one, other in zip((part.start + here).tolist(), there[here].tolist(), strict=True):
                if room[one] > room[other]:
                    one, other = other, one
                touching.setdefault((int(room[one]), int(room[other])), []).append((one, other))
            yield 0.0
    found: list[Opening] = []
    for number, (rooms, pairs) in enumerate(sorted(touching.items())):
        found += [_opening(cells, room, rooms, stretch) for stretch in _stretches(cells, pairs)]
        yield number / len(touching)
    return found


def _stretches(cells: GroundCells, pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return the pairs of touching cells in groups, each without a gap."""
    members: dict[int, list[tuple[int, int]]] = {}
    for pair in pairs:
        for cell in pair:
            members.setdefault(cell, []).append(pair)
    stretches = []
    unseen = set(members)
    for begin in sorted(members):
        if begin not in unseen:
            continue
        unseen.discard(begin)
        waiting, stretch = [begin], set(members[begin])
        while waiting:
            cell = waiting.pop()
            near = {other for pair in members[cell] for other in pair}
            for side, other in enumerate(cells.neighbors[cell].tolist()):
                if other != NO_CELL:
                    near |= {other, int(cells.neighbors[other, (side + 1) % 4])}
            for other in near & unseen:
                unseen.discard(other)
                waiting.append(other)
                stretch.update(members[other])
        stretches.append(sorted(stretch))
    return stretches


def _opening(cells: GroundCells, room: Ids, rooms: tuple[int, int], stretch: list[tuple[int, int]]) -> Opening:
    sides = np.array(stretch)
    middle = (cells.column[sides[:, 0]] + cells.column[sides[:, 1]]).mean(axis=0) / 2
    # The pair of cells nearest to the middle, so that both ends lie in their rooms.
    off = ((cells.column[sides].mean(axis=1) - middle) ** 2).sum(axis=1)
    one, other = stretch[int(np.argmin(off))]
    towards = cells.neighbors[one].tolist().index(other)
    one, other = _inwards(cells, room, one, (towards + 2) % 4), _inwards(cells, room, other, towards)
    across, along = np.ptp(cells.column[sides[:, 0]], axis=0).tolist()
    return Opening(
        rooms, (one, other), width_m=(math.hypot(across, along) + 1) * cells.cell_m + 2 * cells.radius_m,
        distance_m=math.dist(*cells.places([one, other])))


def _inwards(cells: GroundCells, room: Ids, cell: int, side: int) -> int:
    """Return the cell of the same room half the length of an opening further in."""
    for _ in range(round((THROUGH_M / cells.cell_m - 1) / 2)):
        further = int(cells.neighbors[cell, side])
        if further == NO_CELL or room[further] != room[cell]:
            break
        cell = further
    return cell


def sight_pairs(
    cells: GroundCells, room: Ids, distance: Ids, doors: list[Opening], joined: Set[tuple[int, int]], *,
    eye_m: float, range_m: float, places: int, blocked: Blocked, lookup: ShapeLookup,
) -> Work[list[SightPair]]:
    """Return the pairs of rooms that see each other, by their rooms.

    Rays are cast from the openings of a room, its middle, and ``places`` places as
    far from each other as possible. The shortest free line of a pair counts.

    Args:
        room, distance: (n,) room of every cell, and its distance to a wall.
        joined: pairs of rooms, smaller number first, that are left out.
        eye_m, range_m, places: eye height, range and places in a room of ``BakingSettings``.
        lookup: finds rooms, by their numbers, of points.

    Cost: O(places times cells), a place a step; then O(places²) rays for each two rooms
    in range, three steps for two rooms.
    """
    order = np.argsort(room, kind="stable")
    numbers, first = np.unique(room[order], return_index=True)
    members = dict(zip(numbers.tolist(), np.split(order, first[1:]), strict=True))
    members.pop(NO_ROOM, None)
    at_doors: dict[int, list[int]] = {}
    for door in doors:
        for one, cell in zip(door.rooms, door.cells, strict=True):
            at_doors.setdefault(one, []).append(cell)
    eyes: dict[int, Floats] = {}
    for number, mine in members.items():
        begin = [*at_doors.get(number, []), int(mine[np.argmax(distance[mine])])]
        for eyes_at in _spread(cells, mine, begin, places):
            eyes[number] = cells.places(eyes_at, eye_m)
            yield 0.2 * len(eyes) / len(members)
    found: list[SightPair] = []
    rooms = list(eyes)
    low = np.array([eyes[one].min(axis=0) for one in rooms])
    high = np.array([eyes[one].max(axis=0) for one in rooms])
    for index, one in enumerate(rooms):
        gap = np.maximum(0, np.maximum(low - high[index], low[index] - high))
        near = np.flatnonzero((gap**2).sum(axis=1) <= range_m**2)
        for other in (rooms[row] for row in near.tolist() if row > index):
            if (one, other) not in joined:
                share = 0.2 + 0.8 * index / len(rooms)
                lines = _lines(eyes[one], eyes[other], range_m)
                yield share
                free = np.flatnonzero(~check_blocked(blocked, lines))
                yield share
                if len(free):
                    line = lines[free[0]].reshape(2, 3).astype(np.float64)
                    found.append(SightPair((one, other), *_ends(line, one, other, cells.cell_m, lookup)))
                    yield share
    return found


def _spread(cells: GroundCells, mine: Ids, chosen: list[int], count: int) -> Iterator[list[int]]:
    """Yield the chosen cells, and up to ``count`` more, each as far as possible from those before it; all at last."""
    places = cells.places(mine)
    apart = np.full(len(mine), np.inf)
    for cell in chosen:
        np.minimum(apart, ((places - cells.places(cell)) ** 2).sum(axis=1), out=apart)
        yield chosen
    for _ in range(count):
        farthest = int(np.argmax(apart))
        if apart[farthest] == 0:
            break
        chosen.append(int(mine[farthest]))
        np.minimum(apart, ((places - places[farthest]) ** 2).sum(axis=1), out=apart)
        yield chosen
    yield list(dict.fromkeys(chosen))


def _lines(one: Floats, other: Floats, range_m: float) -> NDArray[np.float32]:
    """Return the lines (n, 6) in range from one set of points to another, the shortest first."""
    starts, ends = np.repeat(one, len(other), axis=0), np.tile(other, (len(one), 1))
    lines = np.concatenate((starts, ends), axis=1).astype(np.float32)
    length_m = np.linalg.norm(lines[:, 3:].astype(np.float64) - lines[:, :3], axis=1)
    order = np.argsort(length_m, kind="stable")
    near: NDArray[np.float32] = lines[order[length_m[order] <= range_m]]
    return near


def _ends(line: Floats, one: int, other: int, cell_m: float, lookup: ShapeLookup) -> tuple[Point, Point]:
    """Return where a line leaves one room for the last time, and then enters the other."""
    count = max(2, int(np.linalg.norm(line[1] - line[0]) / (0.5 * cell_m)) + 1)
    points = line[0] + np.linspace(0, 1, count)[:, np.newaxis] * (line[1] - line[0])
    rooms = lookup(points.astype(np.float32))
    left = np.flatnonzero(rooms == one)
    start = int(left[-1]) if len(left) else 0
    entered = np.flatnonzero(rooms[start:] == other)
    end = start + int(entered[0]) if len(entered) else count - 1
    (a, b, c), (d, e, f) = points[[start, end]].tolist()
    return (a, b, c), (d, e, f)
