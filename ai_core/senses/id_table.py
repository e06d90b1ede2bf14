"""Ids for rows of arrays: integers that are never used twice, unlike the rows."""
from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import UnknownNameError, as_array, shown, whole_number
from ai_core.saving.fields import State, place_in, refuse

__all__ = ["LARGEST_ID", "SLOT_BITS", "SLOT_MASK", "IdTable", "grown", "read_ids", "saved_ids"]

Kind = TypeVar("Kind", bound=np.generic)

SLOT_BITS = 20
"""Bits of an id that hold the row (count); the 11 above hold the generation.

31 bits together fit an int32. Fewer row bits allow fewer than a million rows
at once; fewer generation bits retire a row sooner.
"""

SLOT_MASK = (1 << SLOT_BITS) - 1
"""Bits of an id that say which row."""

LARGEST_ID = (1 << 31) - 1
"""Ids fit int32."""

GENERATIONS = 1 << (31 - SLOT_BITS)
"""Number of times that a row may be used; then it is retired, so that no id is
ever used twice. Costs one row per 2,048 removals."""

FIRST_CAPACITY = 8
"""Initial number of rows (count); it doubles when all are in use."""


class IdTable:
    """Ids for the rows of arrays.

    The first ids are 0, 1, 2 and so on; the row of a removed id is used again under another, larger id.

    Attributes:
        names: name by id, in the order of adding; names need not be unique.
        removals: how often an id was removed (count).
        rows: rows used so far (count); those after them were never used.
        by_slot: (capacity,) int32, the id in use of each row, -1 for none; read-only.

    Cost: adding and removing O(log n), apart from doubling and moving n numbers in memory.
    """

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self.capacity = FIRST_CAPACITY
        self.names: dict[int, str] = {}
        self.removals = self.rows = 0
        self.by_slot = np.full(FIRST_CAPACITY, -1, np.int32)
        self._ascending = array("i")        # the ids in use
        self._ids: NDArray[np.int32] | None = None
        self._generation: list[int] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._ascending)

    @property
    def ids(self) -> NDArray[np.int32]:
        """All ids in use, ascending; read-only. The same array until an id is added or removed."""
        found = self._ids
        if found is None:
            found = self._ids = np.frombuffer(self._ascending.tobytes(), np.int32)
        return found

    def add(self, name: str = "") -> int:
        """Add a row, and return its id; ``capacity`` may double."""
        if type(name) is not str:
            self.check_name(name)
        if self._free:
            slot = self._free.pop()
        else:
            slot = len(self._generation)
            if slot >= 1 << SLOT_BITS:
                raise OverflowError(
                    f"at most {1 << SLOT_BITS} {self.noun}s can exist at a time; remove unused ones first")
            self._generation.append(0)
            self.rows = slot + 1
            if slot >= self.capacity:
                self.capacity *= 2
                self.by_slot = grown(self.by_slot, self.capacity, -1)
        new = self._generation[slot] << SLOT_BITS | slot
        self.by_slot[slot] = new
        insort(self._ascending, new)
        self.names[new] = name
        self._ids = None
        return new

    def check_name(self, name: object) -> None:
        """Raise TypeError unless a name is a string."""
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {shown(name)}")

    def rename(self, known_id: int, name: str) -> None:
        """Change the name of an id; its place in the order of adding stays."""
        self.slot(known_id)
        self.check_name(name)
        self.names[int(known_id)] = name

    def remove(self, known_id: int) -> int:
        """Remove an id, and return its row."""
        slot = self.slot(known_id)
        self.by_slot[slot] = -1
        del self._ascending[bisect_left(self._ascending, known_id)]
        del self.names[int(known_id)]
        self.removals += 1
        self._generation[slot] += 1
        if self._generation[slot] < GENERATIONS:
            self._free.append(slot)
        self._ids = None
        return slot

    def slot(self, known_id: int) -> int:
        """Return the row of an id."""
        if type(known_id) is int and known_id in self.names:
            return known_id & SLOT_MASK
        if not self.knows(known_id):
            whole_number(f"{self.noun} id", known_id, minimum=0)
            raise self._unknown(known_id)
        return int(known_id) & SLOT_MASK

    def was_removed(self, some_id: int) -> bool:
        """Return True if the id was in use and has been removed."""
        if isinstance(some_id, bool) or not isinstance(some_id, (int, np.integer)) or some_id < 0:
            return False
        slot = some_id & SLOT_MASK
        return slot < len(self._generation) and some_id >> SLOT_BITS < self._generation[slot]

    def check_used(self, some_id: int) -> None:
        """Raise UnknownNameError unless the id is in use, or was."""
        if not self.was_removed(some_id):
            self.slot(some_id)

    def knows(self, some_id: int) -> bool:
        """Return True if the id is in use."""
        is_whole = isinstance(some_id, (int, np.integer)) and not isinstance(some_id, bool)
        return is_whole and some_id in self.names

    def slots(self, ids: ArrayLike) -> NDArray[np.intp]:
        """Return the rows of many ids, in their order. Cost: O(n), no loop in Python."""
        array = as_array("ids", ids)
        if array.shape == (0,):
            return np.zeros(0, np.intp)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise TypeError(f"ids must be integers of shape (n,), got {shown(ids)}")
        slots = (array & SLOT_MASK).astype(np.intp)
        inside = (array >= 0) & (slots < self.capacity)
        good = inside & (self.by_slot[np.where(inside, slots, 0)] == array)
        if not good.all():
            raise self._unknown(int(array[~good][0]))
        return slots

    def are_known(self, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return for each id that was ever in use whether it still is."""
        found: NDArray[np.bool_] = self.by_slot[ids & SLOT_MASK] == ids
        return found

    def _unknown(self, some_id: int) -> UnknownNameError:
        why = "it was removed" if self.was_removed(some_id) else ""
        return UnknownNameError(f"{self.noun} id", some_id, self.ids.tolist(), why)


def grown(array: NDArray[Kind], rows: int, fill: object) -> NDArray[Kind]:
    """Return ``array`` with ``rows`` rows; new ones hold ``fill``."""
    larger = np.empty_like(array, shape=(rows, *array.shape[1:]))  # in the same memory order
    larger[: len(array)] = array
    larger[len(array) :] = fill
    return larger


def saved_ids(ids: IdTable) -> State:
    """Return the generation of each row, and the free rows, the last of which is used next."""
    return {"generations": list(ids._generation), "free": list(ids._free)}


def read_ids(
    generations: list[int], free: list[int], in_use: Sequence[int], names: Sequence[str], noun: str, place: str
) -> IdTable:
    """Return a table in which ``in_use`` are in use, under ``names``.

    Every row must be in use, free or retired, each once.
    """
    if len(generations) > SLOT_MASK + 1:
        refuse(place_in(place, "generations"), f"must have at most {SLOT_MASK + 1} rows")
    rows = [one & SLOT_MASK for one in in_use]
    for one, row in zip(in_use, rows, strict=True):
        if row >= len(generations) or generations[row] != one >> SLOT_BITS:
            refuse(place_in(place, "generations"), f"do not match the {noun} id {one}")
    retired = [row for row, times in enumerate(generations) if times == GENERATIONS]
    if sorted([*rows, *free, *retired]) != list(range(len(generations))):
        refuse(place_in(place, "free"), f"must hold exactly the rows without a {noun}, each once")
    table = IdTable(noun)
    table.capacity = FIRST_CAPACITY
    while table.capacity < len(generations):
        table.capacity *= 2
    table.by_slot = np.full(table.capacity, -1, np.int32)
    table.by_slot[np.array(rows, np.intp)] = in_use
    table._ascending = array("i", sorted(in_use))
    table._generation, table._free = generations, free
    table.rows = len(generations)
    table.names = dict(zip(in_use, names, strict=True))
    return table
