"""Result of a search: the cells of a path, its cost, and whether it leads to a goal; and the base of such searches."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.kinds import ArrayOf, Limit, OneOf, Record
from ai_core.scheduling.interruptible import Interruptible

__all__ = ["Path", "PathSearch", "PathState", "PreparedGround", "path_record"]

PathState = Literal["found", "partial", "none"]
"""The path leads to a goal ("found"), to the nearest reachable cell ("partial"), or does not exist ("none")."""


@dataclass(frozen=True, eq=False, slots=True)
class Path:
    """Path from a start.

    Attributes:
        state: "found", "partial" or "none".
        cells: (n,) int32, cells from the start to the end; empty if there is no path. Read-only.
        cost: total cost of all moves; ``inf`` if there is no path.
        expanded: number of cells that the search expanded.
        bound: upper limit of the ratio of ``cost`` to the cost of the cheapest path, 1 or more.
    """

    state: PathState
    cells: NDArray[np.int32]
    cost: float
    expanded: int
    bound: float = 1.0

    @property
    def is_found(self) -> bool:
        """True if the path leads to a goal."""
        return self.state == "found"

    @property
    def end(self) -> int | None:
        """Last cell of the path; None if the path is empty."""
        return int(self.cells[-1]) if len(self.cells) else None

    def places(self, width: int) -> NDArray[np.int32]:
        """Return rows and columns of the cells, (n, 2) int32, on a grid with ``width`` columns."""
        return np.stack(np.divmod(self.cells, np.int32(width)), axis=1)


class PreparedGround(Interruptible):
    """Data of a passage, prepared in slices and updated after changes. Its result is the object itself."""

    @property
    def result(self) -> Self:
        """The object itself.

        Raises:
            RuntimeError: if it is not done.
        """
        self._check_done()
        return self


class PathSearch(Interruptible):
    """Search with a single path as result; subclasses call ``_settle`` when they are done.

    Attributes:
        is_done: True when ``result`` is available. A plain attribute, as it is read after every slice.
    """

    is_done: bool

    def __init__(self) -> None:
        self._result: Path | None = None
        self.is_done = False

    def _settle(self, path: Path) -> None:
        self._result, self.is_done = path, True

    @property
    def result(self) -> Path:
        """The path found.

        Raises:
            RuntimeError: if the search is not done.
        """
        if self._result is None:
            raise RuntimeError("the search is not done; call advance until is_done is True")
        return self._result


def path_record(last_cell: Limit, **more: Any) -> Record:
    """Return how a path over a grid is saved: with its state, its cells, and the fields of ``more``."""
    return Record(
        _loaded, state=OneOf(get_args(PathState)), cells=ArrayOf(np.int32, minimum=0, maximum=last_cell), **more)


def _loaded(
    state: PathState, cells: NDArray[np.int32], cost: float = math.inf, expanded: int = 0, bound: float = 1.0
) -> Path:
    if (state == "none") != (len(cells) == 0):
        raise ValueError(f"cells must be empty for 'none' and only then, got {len(cells)} cells with {state!r}")
    return Path(state, cells, cost, expanded, bound)
