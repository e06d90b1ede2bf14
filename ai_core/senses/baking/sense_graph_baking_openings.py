"""Openings: where two rooms touch. Each stretch of it is one, such as a door."""
from __future__ import annotations

import math
from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.baking.sense_graph_baking_ground import NO_CELL, GroundCells
from ai_core.senses.baking.sense_graph_baking_rooms import NO_ROOM

__all__ = ["Opening", "openings"]

THROUGH_M = 1.0
"""Assumed length of an opening (m): from one side of a door to the other, not more than the rooms
allow. The share that a closed one keeps is defined per metre: much shorter ones would muffle nothing.
"""

Ids = NDArray[np.int64]


class Opening(NamedTuple):
    """A way between two rooms, the first with the smaller number.

    Attributes:
        rooms: the two.
        cells: one of each room, on either side of the middle of the opening.
        width_m: how wide it is (m).
        distance_m: from one to the other (m).
    """

    rooms: tuple[int, int]
    cells: tuple[int, int]
    width_m: float
    distance_m: float


def openings(cells: GroundCells, room: Ids) -> Generator[float, None, list[Opening]]:
    """Yield how far it has come, 0 to 1, and return all openings, by rooms and cells.

    Args:
        cells: the ground.
        room: (n,) room of every cell, ``NO_ROOM`` for none.

    Cost: O(cells), then O(cells at an opening), an opening a step.
    """
    pairs = _touching(cells, room)
    found: list[Opening] = []
    for number, (rooms, touching) in enumerate(sorted(pairs.items())):
        for stretch in _stretches(cells, touching):
            found.append(_opening(cells, room, rooms, stretch))
        yield number / len(pairs)
    return found


def _touching(cells: GroundCells, room: Ids) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return for each pair of rooms the pairs of cells that touch, those of the first room first."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for side in (0, 1):
        there = cells.neighbors[:, side]
        here = np.flatnonzero((there != NO_CELL) & (room != room[there]) & (room != NO_ROOM))
        here = here[room[there[here]] != NO_ROOM]
        for one, other in zip(here.tolist(), there[here].tolist(), strict=True):
            if room[one] > room[other]:
                one, other = other, one
            found.setdefault((int(room[one]), int(room[other])), []).append((one, other))
    return found


def _stretches(cells: GroundCells, touching: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return pairs of cells that follow each other, together."""
    members: dict[int, list[tuple[int, int]]] = {}
    for pair in touching:
        for cell in pair:
            members.setdefault(cell, []).append(pair)
    beside = cells.neighbors
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
            for side, other in enumerate(beside[cell].tolist()):
                if other != NO_CELL:
                    near |= {other, int(beside[other, (side + 1) % 4])}
            for other in near & unseen:
                unseen.discard(other)
                waiting.append(other)
                stretch.update(members[other])
        stretches.append(sorted(stretch))
    return stretches


def _opening(
    cells: GroundCells, room: Ids, rooms: tuple[int, int], stretch: list[tuple[int, int]]
) -> Opening:
    sides = np.array(stretch)
    middle = (cells.column[sides[:, 0]] + cells.column[sides[:, 1]]).mean(axis=0) / 2
    # The pair of cells nearest to the middle, so that both ends lie in their rooms.
    off = ((cells.column[sides].mean(axis=1) - middle) ** 2).sum(axis=1)
    one, other = stretch[int(np.argmin(off))]
    towards = cells.neighbors[one].tolist().index(other)
    one, other = _inwards(cells, room, one, (towards + 2) % 4), _inwards(cells, room, other, towards)
    across, along = np.ptp(cells.column[sides[:, 0]], axis=0).tolist()
    at, there = cells.places([one, other])
    return Opening(
        rooms, (one, other),
        width_m=(math.hypot(across, along) + 1) * cells.cell_m + 2 * cells.radius_m,
        distance_m=math.dist(at, there))


def _inwards(cells: GroundCells, room: Ids, cell: int, side: int) -> int:
    """Return the cell of the same room that lies half the way through an opening further in."""
    for _ in range(round((THROUGH_M / cells.cell_m - 1) / 2)):
        further = int(cells.neighbors[cell, side])
        if further == NO_CELL or room[further] != room[cell]:
            break
        cell = further
    return cell
