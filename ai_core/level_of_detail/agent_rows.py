"""Dense rows of arrays for agents that are added and removed, in the order of their ids.

Ids count up and are never reused, so rows are always in ascending order of ids and arrays of the
game line up with ``ids``.

Rejected: reuse of rows. It needs a generation in each id and leaves holes that every kernel would
have to skip; here only a removal costs O(n).
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import UnknownNameError, as_array, shown, whole_number

__all__ = ["MOST_AGENTS", "AgentRows"]

MOST_AGENTS = 1 << 20
"""Largest number of agents at once (count); it keeps a corrupt save from allocating all memory."""

LARGEST_ID = (1 << 31) - 1


class AgentRows:
    """Ids of agents, and columns with one row per id.

    Cost: O(rows) for adding and for removing any number of rows in one call.
    """

    def __init__(self, columns: Mapping[str, tuple[Any, float]]) -> None:
        self._kinds = dict(columns)
        self.next_id = 0
        self._ids = _locked(np.zeros(0, np.int32))
        self.columns: dict[str, NDArray[Any]] = {name: np.zeros(0, kind) for name, (kind, _) in columns.items()}

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> NDArray[np.int32]:
        """All ids, ascending; read only."""
        return self._ids

    def add(self, count: int = 1) -> NDArray[np.int32]:
        """Add rows and return their ids."""
        count = whole_number("count", count, minimum=0, maximum=MOST_AGENTS)
        if len(self) + count > MOST_AGENTS or self.next_id + count > LARGEST_ID:
            raise ValueError(f"no room for {count} more agents in addition to {len(self)}; remove some first")
        new = np.arange(self.next_id, self.next_id + count, dtype=np.int32)
        self.next_id += count
        self._ids = _locked(np.concatenate((self._ids, new)))
        for name, (kind, fill) in self._kinds.items():
            self.columns[name] = np.concatenate((self.columns[name], np.full(count, fill, kind)))
        return new

    def remove(self, ids: ArrayLike) -> None:
        """Remove rows; later rows move up."""
        keep = np.ones(len(self), np.bool_)
        keep[self.rows(ids)] = False
        self._ids = _locked(self._ids[keep])
        self.columns = {name: column[keep] for name, column in self.columns.items()}

    def rows(self, ids: ArrayLike) -> NDArray[np.intp]:
        """Return the rows of one id or several, in their order.

        Cost: O(log n) for each id.
        """
        wanted = np.atleast_1d(as_array("ids", ids))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise TypeError(f"agent ids must be integers, got {shown(ids)}")
        if not wanted.size:
            return np.zeros(0, np.intp)
        found = np.searchsorted(self._ids, wanted)
        good = found < len(self)
        good[good] = self._ids[found[good]] == wanted[good]
        if not good.all():
            unknown = int(wanted[~good][0])
            why = "it was removed" if 0 <= unknown < self.next_id else ""
            raise UnknownNameError("agent id", unknown, self._ids[:6].tolist(), why)
        return found

    @property
    def loaded_ids(self) -> NDArray[np.int32]:
        """All ids; setting them replaces all rows by new rows with these ascending ids, for loading."""
        return self._ids

    @loaded_ids.setter
    def loaded_ids(self, ids: NDArray[np.int32]) -> None:
        self._ids = _locked(ids.astype(np.int32))
        self.columns = {name: np.full(len(ids), fill, kind) for name, (kind, fill) in self._kinds.items()}


def contains_sorted(ids: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which ids are in ``others``; both must be ascending without repeats. Cost: O(n log n)."""
    if not len(others):
        return np.zeros(len(ids), np.bool_)
    found: NDArray[np.bool_] = others[np.minimum(others.searchsorted(ids), len(others) - 1)] == ids
    return found


def _locked(ids: NDArray[np.int32]) -> NDArray[np.int32]:
    ids.flags.writeable = False
    return ids
