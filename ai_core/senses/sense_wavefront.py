"""A wave through a sense graph: which passages it goes through first, and how strong.

This is the twin in Python of ``_sense_wavefront``, which is used in its place where
it was built, with the same results to the last bit. Dijkstra's search over passages:
the earliest arrival counts, of equal ones the strongest, then the smallest row.
"""
from __future__ import annotations

import math
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.sense_graph_ways import Ways
from ai_core.twins import twin

__all__ = ["FROM_SOURCE", "INTERFACE", "Labels", "spread"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""

FROM_SOURCE = -1
"""Row before the first passage of a wave: it comes straight from its source."""


class Labels(NamedTuple):
    """A wave at the far ends of passages, one row each.

    Attributes:
        row: (n,) int32, of ``Ways``.
        distance_m: (n,) float64, how far it came.
        intensity: (n,) float64, what is left of it.
        previous: (n,) int32, the row it came through before, or ``FROM_SOURCE``.
    """

    row: NDArray[np.int32]
    distance_m: NDArray[np.float64]
    intensity: NDArray[np.float64]
    previous: NDArray[np.int32]

    @classmethod
    def empty(cls, room: int) -> Labels:
        """Return labels to be filled in."""
        return cls(np.empty(room, np.int32), np.empty(room), np.empty(room),
                   np.empty(room, np.int32))

    def and_then(self, more: Labels) -> Labels:
        """Return these, and then others."""
        return Labels(
            np.concatenate((self.row, more.row)), np.concatenate((self.distance_m, more.distance_m)),
            np.concatenate((self.intensity, more.intensity)),
            np.concatenate((self.previous, more.previous)))

    def part_from(self, first: int) -> Labels:
        """Return those from one on; not a copy."""
        return Labels._make(column[first:] for column in self)

    def part(self, count: int) -> Labels:
        """Return a copy of the first so many."""
        return Labels._make(column[:count].copy() for column in self)


LEAST_NEGATIVE = -5e-324
"""The negative number nearest to 0: nothing at all is heard of an intensity of 0."""

Entry = tuple[float, float, int, int]
"""Distance, intensity times -1, row, previous row: in the order of arrival."""


@twin
def spread(
    ways: Ways,
    waiting: Labels,
    settled: NDArray[np.int32],
    range_m: float,
    faintest: float,
    until_m: float,
    most: int,
    reached: Labels,
    left: Labels,
) -> tuple[int, int]:
    """Let a wave go on through passages, in the order in which it arrives there.

    Args:
        ways: the passages.
        waiting: where it is about to arrive; a row may come several times.
        settled: rows it went through before, which it never does again.
        range_m: beyond this it is heard no more.
        faintest: below this it is no more; a wave of intensity 0 is none either.
        until_m: how far it may go now.
        most: passages it may go through now; 1 or more.
        reached: written: the passages it went through, in order; room for ``most``, or
            for all rows.
        left: written: what ``waiting`` is next time, in order; room for all rows.

    Returns:
        How many of ``reached`` and of ``left`` were written.

    Cost: O(passages reached * log), and what leaves the regions they lead into.
    """
    best, least_m = _best_of(waiting, settled)
    heap = list(best.values())
    heapify(heap)
    order: list[Entry] = []
    beyond_m = math.nextafter(range_m, math.inf)
    known_hops, hops = ways.known_hops, ways.hops
    loudest = min(-faintest, LEAST_NEGATIVE)
    while heap and len(order) < most and heap[0][0] <= until_m:
        entry = heappop(heap)
        so_far_m, negative, row, _ = entry
        if best.get(row) is not entry:
            continue  # a better one came before it
        del best[row]
        order.append(entry)
        for following, metres, share in known_hops[row] or hops(row):
            distance = so_far_m + metres
            known_m = least_m.get(following, beyond_m)
            if distance < known_m or (distance == known_m and following in best):
                intensity = negative * share
                entry = (distance, intensity, following, row)
                if intensity <= loudest and (distance < known_m or entry < best[following]):
                    best[following], least_m[following] = entry, distance
                    heappush(heap, entry)
    _write(reached, order)
    rest = sorted(best.values())
    _write(left, rest)
    return len(order), len(rest)


def _best_of(
    waiting: Labels, settled: NDArray[np.int32]
) -> tuple[dict[int, Entry], dict[int, float]]:
    """Return by row the first arrival that waits, and its distance; less than any if settled."""
    best: dict[int, Entry] = {}
    least_m = dict.fromkeys(settled.tolist(), -math.inf)
    for row, came_m, left_over, previous in zip(*(one.tolist() for one in waiting), strict=True):
        entry = (came_m, -left_over, row, previous)
        if row not in least_m or (row in best and entry < best[row]):
            best[row], least_m[row] = entry, came_m
    return best, least_m


def _write(labels: Labels, entries: list[Entry]) -> None:
    if entries:
        distance, negative, row, previous = zip(*entries, strict=True)
        count = len(entries)
        labels.row[:count], labels.previous[:count] = row, previous
        labels.distance_m[:count] = distance
        labels.intensity[:count] = np.negative(negative)
