"""Doors on the lines of baked sight: a room that is seen through others is hidden when a door between is closed."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ai_core.senses.graph.sense_graph import PassageTable, ShapeLookup

__all__ = ["DoorsOnLines"]

STEP_M = 0.4
"""Distance between the points of a line at which its regions are looked up (m); narrower regions may be missed."""


class DoorsOnLines:
    """The passages on the straight lines of others, which lead through further regions.

    A line keeps the share of the best way through the doors between the regions that it crosses. One whose regions
    no doors join, such as a line through two windows, depends on none.

    Args:
        table: the passages of one sense.
        lines: rows of baked passages that carry only this sense.
        lookup: finds regions.

    Cost: one look-up for each ``STEP_M`` of a line, and O(passages that leave the regions on it): 0.1 s for 2,600.
    """

    def __init__(self, table: PassageTable, lines: Iterable[int], lookup: ShapeLookup) -> None:
        self._ends = list(zip(table.from_region.tolist(), table.to_region.tolist(), strict=True))
        is_straight = ~table.is_relayed & (table.mirror_m == 0)
        crossed = _crossed(table, [row for row in lines if is_straight[row]], lookup)
        crossed = {row: regions for row, regions in crossed.items() if regions - {*self._ends[row]}}
        leaving: dict[int, list[int]] = {}
        for door in np.flatnonzero(is_straight).tolist():
            if door not in crossed:
                leaving.setdefault(self._ends[door][0], []).append(door)
        kept = table.kept_open.tolist()
        self._doors: dict[int, list[int]] = {}
        self._lines: dict[int, list[int]] = {}
        for row, regions in crossed.items():
            among = regions | {*self._ends[row]}
            doors = [door for one in sorted(among) for door in leaving.get(one, ()) if self._ends[door][1] in among]
            if self._way(row, doors, kept):
                self._doors[row] = doors
                for door in doors:
                    self._lines.setdefault(door, []).append(row)

    def lines_through(self, row: int) -> Sequence[int]:
        """Return the rows whose lines lead through a passage."""
        return self._lines.get(row, ())

    def share(self, row: int, kept: Sequence[float]) -> float:
        """Return the share that the doors on a line keep now, given that of each row; 1 without any."""
        doors = self._doors.get(row)
        return 1.0 if doors is None else self._way(row, doors, kept)

    def _way(self, row: int, doors: Sequence[int], kept: Sequence[float]) -> float:
        """Return the largest share of ways through doors from one end of a line to the other."""
        begin, goal = self._ends[row]
        shares = {begin: 1.0}
        has_grown = True
        while has_grown:
            has_grown = False
            for door in doors:
                one, other = self._ends[door]
                share = shares.get(one, 0.0) * kept[door]
                if share > shares.get(other, 0.0):
                    shares[other], has_grown = share, True
        return shares.get(goal, 0.0)


def _crossed(table: PassageTable, rows: list[int], lookup: ShapeLookup) -> dict[int, set[int]]:
    """Return the regions on the line of each row."""
    if not rows:
        return {}
    offsets = table.end[rows] - table.start[rows]
    counts = (np.sqrt((offsets ** 2).sum(axis=1)) / STEP_M).astype(np.int64) + 1
    of = np.repeat(np.arange(len(rows)), counts)
    step = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    points = table.start[rows][of] + offsets[of] * (step / counts[of])[:, np.newaxis]
    regions = lookup(points.astype(np.float32))
    found: dict[int, set[int]] = {row: set() for row in rows}
    count = int(regions.max()) + 1
    for key in np.unique((of * count + regions)[regions >= 0]).tolist():
        found[rows[key // count]].add(key % count)
    return found
