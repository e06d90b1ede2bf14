"""The state of ids: which are in use, and which may come next."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ai_core.saving.fields import Fields, State
from ai_core.senses.id_table import FIRST_CAPACITY, GENERATIONS, LARGEST_ID, SLOT_BITS, IdTable

__all__ = ["read_ids", "saved_ids", "was_given_out"]

SLOT_MASK = (1 << SLOT_BITS) - 1


def saved_ids(ids: IdTable) -> State:
    """Return how often each row was given up, and the free ones, last first to be used."""
    return {"generations": list(ids._generation), "free": list(ids._free)}


def read_ids(fields: Fields, in_use: Sequence[int], names: Sequence[str], noun: str) -> IdTable:
    """Return a table in which ``in_use`` are in use, under ``names``.

    Every row must be in use, free, or given up for good, and nothing twice.
    """
    generations = fields.wholes("generations", maximum=GENERATIONS)
    free = fields.wholes("free", maximum=len(generations) - 1)
    if len(generations) > SLOT_MASK + 1:
        fields.refuse("generations", f"must have at most {SLOT_MASK + 1} rows")
    rows = [one & SLOT_MASK for one in in_use]
    for one, row in zip(in_use, rows, strict=True):
        if row >= len(generations) or generations[row] != one >> SLOT_BITS:
            fields.refuse("generations", f"do not match the {noun} id {one}")
    retired = [row for row, times in enumerate(generations) if times == GENERATIONS]
    if sorted([*rows, *free, *retired]) != list(range(len(generations))):
        fields.refuse("free", f"must hold exactly the rows without a {noun}, each once")
    table = IdTable(noun)
    table.capacity = FIRST_CAPACITY
    while table.capacity < len(generations):
        table.capacity *= 2
    table.by_slot = np.full(table.capacity, -1, np.int32)
    table.by_slot[np.array(rows, np.intp)] = in_use
    table._generation, table._free, table._count = generations, free, len(in_use)
    table.rows = len(generations)
    table.names = dict(zip(in_use, names, strict=True))
    return table


def was_given_out(ids: IdTable, some_id: int) -> bool:
    """Return True if an id is in use or was."""
    row = some_id & SLOT_MASK
    if not 0 <= some_id <= LARGEST_ID or row >= len(ids._generation):
        return False
    return ids.knows(some_id) or some_id >> SLOT_BITS < ids._generation[row]
