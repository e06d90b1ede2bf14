"""Sight from room to room: rays between places in both, at eye height."""
from __future__ import annotations

from collections.abc import Callable, Generator, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import shown
from ai_core.senses.baking.sense_graph_baking_ground import GroundCells
from ai_core.senses.baking.sense_graph_baking_openings import Opening
from ai_core.senses.graph.sense_graph_lookup import Lookup

__all__ = ["Blocked", "SightPair", "SightSampling", "sight_pairs"]

Blocked = Callable[[NDArray[np.float32]], ArrayLike]
"""Callable that takes segments (n, 6), from x, y, z to x, y, z (m), and returns which are blocked: (n,) bool."""

Ids = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


class SightSampling(NamedTuple):
    """How it is looked, see ``BakingSettings``."""

    eye_m: float
    range_m: float
    places: int


class SightPair(NamedTuple):
    """Two rooms that see each other: where the line between them leaves one and enters the other (m)."""

    rooms: tuple[int, int]
    start: tuple[float, float, float]
    end: tuple[float, float, float]


def sight_pairs(
    cells: GroundCells, room: Ids, distance: Ids, ways: list[Opening], joined: Set[tuple[int, int]],
    look: SightSampling, blocked: Blocked, lookup: Lookup,
) -> Generator[float, None, list[SightPair]]:
    """Yield how far it has come, 0 to 1, and return the pairs, by their rooms.

    Of each room its openings are looked from, its middle, and ``look.places`` places as
    far from each other as can be. The shortest free line of a pair counts.

    Args:
        cells: the ground.
        room: (n,) room of every cell.
        distance: (n,) of every cell to a wall.
        ways: all openings.
        joined: pairs of rooms, smaller number first, that are not asked.
        look: from where, and how far.
        blocked: casts rays.
        lookup: finds rooms, by their numbers, of points.

    Raises:
        TypeError, ValueError: if ``blocked`` does not return what it should.

    Cost: O(places times cells), a room a step; then O(places²) rays for each two rooms
    in range, two rooms a step.
    """
    order = np.argsort(room, kind="stable")
    numbers, first = np.unique(room[order], return_index=True)
    members = dict(zip(numbers.tolist(), np.split(order, first[1:]), strict=True))
    members.pop(-1, None)
    doors: dict[int, list[int]] = {}
    for way in ways:
        for one, cell in zip(way.rooms, way.cells, strict=True):
            doors.setdefault(one, []).append(cell)
    eyes: dict[int, Floats] = {}
    for number, mine in members.items():
        seen_from = _spread(cells, mine, distance, doors.get(number, []), look.places)
        eyes[number] = cells.places(seen_from, look.eye_m if cells.up == "y" else 0.0)
        yield 0.2 * len(eyes) / len(members)
    found: list[SightPair] = []
    rooms = list(eyes)
    low = np.array([eyes[one].min(axis=0) for one in rooms])
    high = np.array([eyes[one].max(axis=0) for one in rooms])
    for index, one in enumerate(rooms):
        gap = np.maximum(0, np.maximum(low - high[index], low[index] - high))
        near = np.flatnonzero((gap**2).sum(axis=1) <= look.range_m**2)
        for other in (rooms[row] for row in near.tolist() if row > index):
            if (one, other) not in joined:
                line = _free_line(eyes[one], eyes[other], look.range_m, blocked)
                if line is not None:
                    found.append(SightPair((one, other), *_ends(line, one, other, cells, lookup)))
                yield 0.2 + 0.8 * index / len(rooms)
    return found


def _spread(cells: GroundCells, mine: Ids, distance: Ids, doors: list[int], count: int) -> list[int]:
    """Return the doors, the middle, and cells each as far as can be from those before it."""
    chosen = [*doors, int(mine[np.argmax(distance[mine])])]
    places = cells.places(mine)
    apart = np.full(len(mine), np.inf)
    for cell in chosen:
        np.minimum(apart, ((places - cells.places(cell)) ** 2).sum(axis=1), out=apart)
    for _ in range(count):
        farthest = int(np.argmax(apart))
        if apart[farthest] == 0:
            break
        chosen.append(int(mine[farthest]))
        np.minimum(apart, ((places - places[farthest]) ** 2).sum(axis=1), out=apart)
    return list(dict.fromkeys(chosen))


def _free_line(one: Floats, other: Floats, range_m: float, blocked: Blocked) -> Floats | None:
    """Return the shortest free line (2, 3) from one set of points to another, if there is any."""
    starts, ends = np.repeat(one, len(other), axis=0), np.tile(other, (len(one), 1))
    lines = np.concatenate((starts, ends), axis=1).astype(np.float32)
    length_m = np.linalg.norm(lines[:, 3:].astype(np.float64) - lines[:, :3], axis=1)
    order = np.argsort(length_m, kind="stable")
    order = order[length_m[order] <= range_m]
    if not len(order):
        return None
    free = np.flatnonzero(~_answers(blocked(lines[order]), len(order)))
    return None if not len(free) else lines[order[free[0]]].reshape(2, 3).astype(np.float64)


def _answers(answers: ArrayLike, count: int) -> NDArray[np.bool_]:
    array = np.asarray(answers)
    if array.dtype.kind != "b":
        raise TypeError(f"blocked must return an array of bool, an element per segment, got {shown(answers)}")
    if array.shape != (count,):
        raise ValueError(f"blocked must return shape ({count},), got {array.shape}")
    return array


def _ends(
    line: Floats, one: int, other: int, cells: GroundCells, lookup: Lookup
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return where a line leaves one room for the last time, and then enters the other."""
    steps = max(2, int(np.linalg.norm(line[1] - line[0]) / (0.5 * cells.cell_m)) + 1)
    shares = np.linspace(0, 1, steps)[:, np.newaxis]
    points = line[0] + shares * (line[1] - line[0])
    rooms = lookup(points.astype(np.float32))
    left = np.flatnonzero(rooms == one)
    start = int(left[-1]) if len(left) else 0
    entered = np.flatnonzero(rooms[start:] == other)
    end = start + int(entered[0]) if len(entered) else steps - 1
    (a, b, c), (d, e, f) = points[[start, end]].tolist()
    return (a, b, c), (d, e, f)
