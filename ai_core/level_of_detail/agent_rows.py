"""Rows of arrays for agents that come and go: dense, in the order of their ids.

Ids count up and are never given twice, so the smallest id is always the
lowest row, and arrays of the game line up with ``ids`` without a detour.

Rejected: rows that are given out again. They need a generation in each id and
leave holes that every kernel would have to skip; leaving costs O(n) here, once.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, as_array, shown, whole_number

__all__ = ["MOST_AGENTS", "AgentRows"]

MOST_AGENTS = 1 << 20
"""Agents at once (count); a save that claims more would take all memory."""

LARGEST_ID = (1 << 31) - 1


class AgentRows:
    """Ids, and columns with a row for each.

    Args:
        noun: what a row is, for messages: "agent".
        columns: by name, the type of the numbers and what a new row holds.

    Cost: adding and removing O(rows), however many at once.
    """

    def __init__(self, noun: str, columns: Mapping[str, tuple[Any, float]]) -> None:
        self.noun = noun
        self._kinds = dict(columns)
        self.next_id = 0
        self._ids = _locked(np.zeros(0, np.int32))
        self.columns: dict[str, NDArray[Any]] = {
            name: np.zeros(0, kind) for name, (kind, _) in columns.items()
        }

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> NDArray[np.int32]:
        """Every id, ascending; not to be written to."""
        return self._ids

    def add(self, count: int = 1) -> NDArray[np.int32]:
        """Return the ids of new rows.

        Raises:
            ValueError: if there would be more than MOST_AGENTS.
        """
        count = whole_number("count", count, minimum=0, maximum=MOST_AGENTS)
        if len(self) + count > MOST_AGENTS or self.next_id + count > LARGEST_ID:
            raise ValueError(f"no room for {count} {self.noun}s more beside {len(self)}")
        new = np.arange(self.next_id, self.next_id + count, dtype=np.int32)
        self.next_id += count
        self._ids = _locked(np.concatenate((self._ids, new)))
        for name, (kind, fill) in self._kinds.items():
            self.columns[name] = np.concatenate((self.columns[name], np.full(count, fill, kind)))
        return new

    def remove(self, ids: object) -> None:
        """Drop rows; those after them move up.

        Raises:
            UnknownNameError: if an id is not in use; then nothing is dropped.
        """
        keep = np.ones(len(self), np.bool_)
        keep[self.rows(ids)] = False
        self._ids = _locked(self._ids[keep])
        self.columns = {name: column[keep] for name, column in self.columns.items()}

    def rows(self, ids: object) -> NDArray[np.intp]:
        """Return the rows of an id, or of many, in their order.

        Raises:
            TypeError: if they are not whole numbers.
            UnknownNameError: if one is not in use; a removed one never is again.

        Cost: O(log n) for each.
        """
        wanted = np.atleast_1d(as_array("ids", ids))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise TypeError(f"{self.noun} ids must be whole numbers, got {shown(ids)}")
        if not wanted.size:
            return np.zeros(0, np.intp)
        found = np.searchsorted(self._ids, wanted)
        good = found < len(self)
        good[good] = self._ids[found[good]] == wanted[good]
        if not good.all():
            raise self._unknown(int(wanted[~good][0]))
        return found

    def put(self, ids: NDArray[np.int32], next_id: int) -> None:
        """Hold these ids, ascending, with new rows for all; for what was saved."""
        self._ids, self.next_id = _locked(ids.astype(np.int32)), next_id
        self.columns = {
            name: np.full(len(ids), fill, kind) for name, (kind, fill) in self._kinds.items()
        }

    def _unknown(self, some_id: int) -> UnknownNameError:
        was_removed = 0 <= some_id < self.next_id
        kind = f"{self.noun} id (it was removed)" if was_removed else f"{self.noun} id"
        return UnknownNameError(kind, some_id, self._ids[:6].tolist())


def are_among(ids: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which of some ids are among others; both ascend, each once. Cost: O(n log n), few calls of NumPy."""
    if not len(others):
        return np.zeros(len(ids), np.bool_)
    found: NDArray[np.bool_] = others[np.minimum(others.searchsorted(ids), len(others) - 1)] == ids
    return found


def _locked(ids: NDArray[np.int32]) -> NDArray[np.int32]:
    ids.flags.writeable = False
    return ids
