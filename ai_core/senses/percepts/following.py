"""The passes over all that is in view: who senses something, what is to be told, to whom something happens.

This is the twin in NumPy of ``_following``, which is used in its place where it was
built, with the same results to the last bit.
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.id_table import SLOT_BITS
from ai_core.senses.sight.pairs_in_view import ID_BITS, NEVER_TOLD_S
from ai_core.twins import twin

__all__ = [
    "INTERFACE",
    "VisiblePairs",
    "are_sensing",
    "dirty_sensors",
    "first_in_line",
    "move_on",
    "note_answers",
    "places_of",
    "sensing",
    "shown",
]

INTERFACE = 2
"""Changes with any change of names, arguments or results, here and in the kernel."""

PHASE_STEP = (math.sqrt(5) - 1) / 2
"""Share of a turn by which the turns of a sensor come after those of the one before (no unit).

The golden section spreads any number of sensors evenly, however few come and go.
"""

SLOT_MASK = (1 << SLOT_BITS) - 1

MOVING = ("begun_s", "begun", "slope")

Keys = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = Mapping[str, NDArray[Any]]


class VisiblePairs(NamedTuple):
    """Pairs that show themselves: row, key, source, intensity, position (m), and whether it is to be told."""

    rows: Keys
    keys: Keys
    sources: NDArray[np.int32]
    intensity: Floats
    position: NDArray[np.float32]
    is_told: NDArray[np.bool_]

    @classmethod
    def of(cls, count: int) -> VisiblePairs:
        """Return room for so many."""
        return cls(
            np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int32), np.empty(count),
            np.empty((count, 3), np.float32), np.empty(count, np.bool_))

    def first(self, count: int) -> VisiblePairs:
        """Return the first of them."""
        return VisiblePairs(
            self.rows[:count], self.keys[:count], self.sources[:count], self.intensity[:count],
            self.position[:count], self.is_told[:count])


@twin
def sensing(keys: Keys, is_sensed: NDArray[np.bool_]) -> list[int]:
    """Return the sensors of pairs that are sensed, ascending, each once.

    Args:
        keys: (n,) sensor and source, ascending.
        is_sensed: (n,).

    Cost: O(n).
    """
    ids = keys.take(np.flatnonzero(is_sensed)) >> ID_BITS
    found: list[int] = [*ids[:1].tolist(), *ids[1:][ids[1:] != ids[:-1]].tolist()]
    return found


@twin
def are_sensing(keys: Keys, is_sensed: NDArray[np.bool_], ids: Keys) -> bool:
    """Return whether the sensors of pairs that are sensed are just these: what ``sensing`` returns.

    Cost: O(n).
    """
    found: list[int] = ids.tolist()
    return sensing(keys, is_sensed) == found


@twin
def shown(
    keys: Keys, is_sensed: NDArray[np.bool_], told_at_s: Floats, intensity: Floats, first: int, end: int,
    ids_of_slots: NDArray[np.int32], positions: NDArray[np.float32], now_s: float, tell_every_s: float,
    out: VisiblePairs,
) -> int:
    """Write which pairs show themselves, how and where, and which of them are to be told; return how many.

    What is new is told at once, else each sensor of all in its turn.

    Args:
        keys: (n,) sensor and source, ascending.
        is_sensed: (n,).
        told_at_s: (n,) when each was told last (s).
        intensity: (n,) how strongly each shows.
        first: first row that is looked at.
        end: after the last of them.
        ids_of_slots: id in use of each row of sources; another is not there any more.
        positions: where each row of sources is (m).
        now_s: game time (s).
        tell_every_s: time between two reports of what stays in view (s).
        out: columns of end - first rows or more.

    Cost: O(end - first).
    """
    rows = first + np.flatnonzero(is_sensed[first:end])
    sources = (keys[rows] & ((1 << ID_BITS) - 1)).astype(np.int32)
    is_there = ids_of_slots[sources & SLOT_MASK] == sources
    rows, sources = rows[is_there], sources[is_there]
    told_s = told_at_s[rows]
    is_due = now_s >= told_s + tell_every_s / 2
    if tell_every_s > 0:
        due = np.flatnonzero(is_due)
        phases = (keys[rows[due]] >> ID_BITS) * PHASE_STEP % 1.0
        is_due[due] = (
            np.floor(np.full(len(due), now_s) / tell_every_s - phases) > np.floor(told_s[due] / tell_every_s - phases))
    columns = rows, keys[rows], sources, intensity[rows], positions[sources & SLOT_MASK], is_due
    room: tuple[NDArray[Any], ...] = out.first(len(rows))
    for column, found in zip(room, columns, strict=True):
        column[:] = found
    return len(rows)


@twin
def dirty_sensors(
    rows: Rows, first: int, end: int, keys: Keys, intensity: Floats, number: NDArray[np.int64], now_s: float
) -> list[int]:
    """Return sensors to which something happens now, so that each must be looked at; some more than once.

    Args:
        rows: columns of ``PerceptTable``.
        first: first row that is looked at.
        end: after the last of them.
        keys: (n,) of what shows itself to the same sensors, ascending.
        intensity: (n,) how strongly.
        number: (n,) by what modality.
        now_s: game time (s).

    Cost: O(n), and the rows.
    """
    part = {name: column[first:end] for name, column in rows.items()}
    mine = part["key"]
    found: list[int] = []
    here: Any
    there: Any
    if len(mine) != len(keys) or (mine != keys).any():
        found += (np.setxor1d(mine, keys) >> ID_BITS).tolist()
        found += (keys[1:][keys[1:] == keys[:-1]] >> ID_BITS).tolist()
        # By another sense than before: of those still there.
        _, here, there = np.intersect1d(mine, keys, return_indices=True)
    else:
        here = there = slice(None)
    turned = part["number"][here] != number[there]
    found += (mine[here][turned] >> ID_BITS).tolist()
    value = values_at(part, now_s)
    happens = (value >= part["rise"]) | (value <= part["fall"])
    # Not later: a second look at one moment, which is no sighting to take a velocity from.
    happens |= now_s <= part["at_s"]
    found += (mine[happens] >> ID_BITS).tolist()
    found += (keys[intensity <= 0] >> ID_BITS).tolist()
    return found


@twin
def move_on(
    rows: Rows, first: int, end: int, intensity: Floats, position: NDArray[np.float32], now_s: float
) -> None:
    """Take in how followed rows show themselves now; nothing happens in their minds.

    Args:
        rows: columns of ``PerceptTable``.
        first: first row that moves on.
        end: after the last of them.
        intensity: (end - first,) how strongly each shows.
        position: (end - first, 3) where it is (m).
        now_s: game time (s).

    Cost: O(end - first).
    """
    part = {name: column[first:end] for name, column in rows.items()}
    for before, column, now in (("before", "position", position), ("before_s", "at_s", now_s)):
        part[before][:] = part[column]
        part[column][:] = now
    where = np.flatnonzero(part["intensity"] != intensity)
    if not len(where):
        return
    part["begun"][where] = values_at({name: part[name][where] for name in MOVING}, now_s)
    part["begun_s"][where] = now_s
    part["slope"][where] = intensity[where] * part["gain"][where]
    part["intensity"][:] = intensity


@twin
def first_in_line(since: NDArray[np.int64], most: int, out_rows: Keys) -> int:
    """Write the rows that have waited longest, ties by row; return how many.

    Args:
        since: (n,) since when each waits, any number.
        most: how many at most.
        out_rows: (min(n, most),) or more.

    Cost: O(n), and O(most log most) interpreted.
    """
    early = np.arange(len(since))
    if len(since) > most:  # sort only those that may have a turn
        early = np.flatnonzero(since <= np.partition(since, most - 1)[most - 1])
    found = early[np.argsort(since[early], kind="stable")][:most]
    out_rows[: len(found)] = found
    return len(found)


@twin
def note_answers(
    rows: Keys, is_free: NDArray[np.bool_], moment: int,
    is_sensed: NDArray[np.bool_], told_at_s: Floats, waiting_since: Keys,
) -> int:
    """Note what rays answered, and send these pairs to the end of the line; return since when the first waited.

    Args:
        rows: (n,) which pairs, n above 0.
        is_free: (n,) whether nothing stands between.
        moment: since when they wait from now on.
        is_sensed, told_at_s, waiting_since: columns of ``PairsInView``, written to.

    Cost: O(n).
    """
    oldest = int(waiting_since[rows].min())
    is_sensed[rows] = is_free
    told_at_s[rows[~is_free]] = NEVER_TOLD_S
    waiting_since[rows] = moment
    return oldest


@twin
def places_of(positions: NDArray[np.float32], ids: NDArray[np.int32], out: NDArray[np.float32]) -> None:
    """Write where some sensors or sources are.

    Args:
        positions: (capacity, 3), of a table (m).
        ids: (n,), in use.
        out: (n, 3), overwritten (m).

    Cost: O(n).
    """
    out[:] = positions[ids & SLOT_MASK]


def values_at(rows: Rows, now_s: float) -> Floats:
    """Return where meters are on their lines."""
    line = rows["begun"] + rows["slope"] * (now_s - rows["begun_s"])
    values: Floats = np.minimum(1.0, np.maximum(0.0, line))
    return values
