"""Reachability between cells: answers without a search whether a path exists.

Consecutive open cells of a row form a run; runs that touch are joined. When a cell is closed,
the cells around it are expanded in parallel until all but one group have met or ended, so that
the cost of a change depends on the smaller side only.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.errors import check_type, whole_number
from ai_core.maps.cell_moves import ODD_ROW
from ai_core.maps.passage import GridPassage
from ai_core.paths.path import PreparedGround
from ai_core.paths.regions.region_loops import join_runs, root_of

__all__ = ["Reachability"]

ROWS_PER_LOOK = 1
"""Rows processed between two checks of the budget (count): 20 µs with 512 columns."""

RUNS_PER_CELL = 0.25
"""Runs added by changes (per cell) up to which an update is worthwhile; more make memory grow and chains long."""

MOST_CHANGED = 64
"""Number of changed cells (count) above which everything is recomputed, in 10 to 100 ms."""

BLOCKED = -1


class Reachability(PreparedGround):
    """Connected cells of a passage. Interruptible work: advance it until it is done.

    Args:
        passage: passage of the grid.

    Raises:
        TypeError: if ``passage`` is not a GridPassage.

    Cost: O(cells), about 20 ms for a game map of 512 × 512 cells; a row is a step. A change
        costs O(cells of the smaller side), in one step. 4 bytes per cell.
    """

    SHOWN = ("progress",)

    def __init__(self, passage: GridPassage) -> None:
        check_type("passage", passage, GridPassage)
        self._passage = passage
        self._height = passage.shape[0]
        self._rows: int = 0
        self._most_runs: int = 0
        self._begin()

    @property
    def is_done(self) -> bool:
        """True if the result is valid for the current cells."""
        return self._rows == self._height and self._version == self._passage.version

    @property
    def progress(self) -> float:
        """Share of the rows that are processed, 0 to 1."""
        return self._rows / self._height

    def are_connected(self, start: int, goal: int) -> bool:
        """Return whether a path exists between two cells; False if one of them cannot be entered.

        Raises:
            RuntimeError: if the reachability is not done.
            TypeError, ValueError: if an argument is not a cell of the grid.

        Cost: O(1).
        """
        if self._version != self._passage.version or self._rows != self._height:
            self._check_done()
        runs = self._flat
        if type(start) is not int or not 0 <= start < len(runs):
            start = whole_number("start", start, minimum=0, maximum=len(runs) - 1)
        if type(goal) is not int or not 0 <= goal < len(runs):
            goal = whole_number("goal", goal, minimum=0, maximum=len(runs) - 1)
        first, second = runs[start], runs[goal]
        if first == BLOCKED or second == BLOCKED:
            return False
        parents = self._parents
        return parents[first] == parents[second] or self._root(first) == self._root(second)

    def advance(self, budget: Budget, /) -> None:
        """Continue until done or the budget is spent.

        Raises:
            RuntimeError: if it was cancelled.
        """
        self._check_goes_on(budget)
        if self._version != self._passage.version:
            self._follow(budget)
        while self._rows < self._height:
            last = min(self._height, self._rows + ROWS_PER_LOOK)
            self._join_rows(self._rows, last)
            budget.spend(last - self._rows)
            self._rows = last
            if last == self._height:
                self._most_runs = len(self._parents) + 100 + int(RUNS_PER_CELL * self._runs.size)
            if budget.is_spent:
                return

    def _begin(self) -> None:
        self._version = self._passage.version
        self._runs: NDArray[np.int32] = np.full(self._passage.shape, BLOCKED, np.int32)
        self._flat = self._runs.reshape(-1).data  # single cells are read thrice as fast from it
        self._parents: list[int] = []
        self._rows = self._most_runs = 0

    def _join_rows(self, first: int, last: int) -> None:
        """Number the runs of some rows, and join them with each other and the row above."""
        is_free = np.isfinite(self._passage.costs[first:last])
        begins = is_free.copy()
        begins[:, 1:] &= ~is_free[:, :-1]
        numbers = np.cumsum(begins).reshape(begins.shape) - 1 + len(self._parents)
        self._parents.extend(range(len(self._parents), len(self._parents) + int(begins.sum())))
        self._runs[first:last] = np.where(is_free, numbers, BLOCKED)
        above = max(0, first - 1)
        runs, opened = self._runs[above:last], self._passage.open_moves[above:last]
        moves = self._passage.moves
        for move, (even, odd) in enumerate(zip(moves.even, moves.odd, strict=True)):
            for goes, parity in ((even, 0), (odd, 1)) if moves.is_hexagonal else ((even, None),):
                if goes[0] != 1:  # moves down meet every pair once
                    continue
                join_runs(self._parents, runs, opened[:-1], move, goes[1], -1 if parity is None else parity)

    def _root(self, run: int) -> int:
        return root_of(self._parents, run)  # type: ignore[no-any-return]

    def _join(self, one: int, other: int) -> None:
        one, other = self._root(one), self._root(other)
        self._parents[max(one, other)] = min(one, other)

    def _follow(self, budget: Budget) -> None:
        """Update for changed cells, or restart if that is less work."""
        changed = self._passage.changed_since(self._version)
        is_full = len(self._parents) > self._most_runs
        if self._rows < self._height or changed is None or len(changed) > MOST_CHANGED or is_full:
            self._begin()
            return
        self._version = self._passage.version
        runs, costs = self._runs.reshape(-1), self._passage.costs.reshape(-1)
        around: set[int] = set()
        for cell in changed.tolist():
            around.update(self._window(cell))
            if np.isfinite(costs[cell]) and runs[cell] == BLOCKED:
                runs[cell] = len(self._parents)
                self._parents.append(len(self._parents))
            elif not np.isfinite(costs[cell]):
                runs[cell] = BLOCKED
        for cell in sorted(around):
            for other in self._neighbors(cell):
                self._join(int(runs[cell]), int(runs[other]))
        self._split(sorted(cell for cell in around if runs[cell] != BLOCKED))
        budget.spend()

    def _split(self, cells: list[int]) -> None:
        """Give separate runs to cells of one root that are no longer connected."""
        by_root: dict[int, list[int]] = {}
        for cell in cells:
            by_root.setdefault(self._root(int(self._runs.flat[cell])), []).append(cell)
        for group in by_root.values():
            for part in self._parts_cut_off(group):
                run = len(self._parents)
                self._parents.append(run)
                self._runs.reshape(-1)[part] = run

    def _parts_cut_off(self, cells: list[int]) -> Iterator[list[int]]:
        """Yield the groups of cells that are connected to some of the given cells but not to all.

        The areas around all cells grow one cell at a time; areas that meet are merged. An area that
        cannot grow while others can is cut off; the last one keeps its root.
        """
        owner = {cell: number for number, cell in enumerate(cells)}
        met = list(range(len(cells)))
        parts = [[cell] for cell in cells]
        fronts = [deque([cell]) for cell in cells]
        going = set(met)
        while len(going) > 1:
            for number in sorted(going):
                if number not in going or len(going) == 1:
                    continue  # merged in this round, or the last one
                if not fronts[number]:
                    going.discard(number)
                    yield parts[number]
                    continue
                for cell in self._neighbors(fronts[number].popleft()):
                    if cell not in owner:
                        owner[cell] = number
                        parts[number].append(cell)
                        fronts[number].append(cell)
                        continue
                    other = owner[cell]
                    while met[other] != other:
                        other = met[other]
                    if other != number:
                        met[other] = number
                        going.discard(other)
                        parts[number] += parts[other]
                        fronts[number] += fronts[other]

    def _window(self, cell: int) -> Iterator[int]:
        height, width = self._passage.shape
        row, column = divmod(cell, width)
        for down in range(max(0, row - 1), min(height, row + 2)):
            for right in range(max(0, column - 1), min(width, column + 2)):
                yield down * width + right

    def _neighbors(self, cell: int) -> Iterator[int]:
        passage = self._passage
        bits, width = int(passage.open_moves.flat[cell]), passage.shape[1]
        goes = passage.moves.odd if passage.moves.is_hexagonal and bits & ODD_ROW else passage.moves.even
        for move, (down, right) in enumerate(goes):
            if bits >> move & 1:
                yield cell + down * width + right
