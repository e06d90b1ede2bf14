"""A first way over regions, then cheaper ones by cells: anytime search where estimates lead astray, as in mazes."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.paths.path import Path
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_paths import RegionSearch
from ai_core.paths.searches.anytime_search import AnytimeSearch
from ai_core.paths.searches.search_memory import SearchMemory

__all__ = ["ImprovingSearch"]


class ImprovingSearch:
    """An ``AnytimeSearch`` that begins with a way over regions; used as one.

    Where cells change, or the mover walks on, before that way is found, it begins without.

    Args:
        regions: done.
        start: where the mover is.
        goal: where to.
        memory: what the anytime search writes into.

    Raises:
        TypeError, ValueError: as ``AnytimeSearch`` and ``RegionSearch`` do.
        RuntimeError: if the regions are not done.
    """

    def __init__(self, regions: RegionGraph, start: int, goal: int, *, memory: SearchMemory) -> None:
        self._regions = regions
        self._over: RegionSearch | None = RegionSearch(regions, start, goal)
        self._by_cells = AnytimeSearch(regions.passage, start, goal, memory=memory)

    @property
    def best(self) -> Path | None:
        """The best way so far; None: none yet."""
        return self._by_cells.best

    @property
    def bound(self) -> float:
        """The best way costs at most so many times what the cheapest does."""
        return self._by_cells.bound

    @property
    def is_done(self) -> bool:
        """True when no way is cheaper, or there is none."""
        return self._by_cells.is_done

    @property
    def result(self) -> Path:
        """The cheapest way; RuntimeError before it is done."""
        return self._by_cells.result

    def cancel(self) -> None:
        """Look for no better one; does nothing when it is done."""
        self._leave_regions()
        self._by_cells.cancel()

    def walk_to(self, cell: int) -> None:
        """Say where the mover is now; see ``AnytimeSearch.walk_to``."""
        if cell != self._by_cells.start:
            self._leave_regions()
        self._by_cells.walk_to(cell)

    def advance(self, budget: Budget, /) -> None:
        """Go on until there is a better way, none can be, or the budget is spent; one look at least."""
        if self._over is not None and not self._regions.is_done:
            self._leave_regions()
        if self._over is None:
            self._by_cells.advance(budget)
            return
        self._over.advance(budget)
        if self._over.is_done:
            self._by_cells.learn(self._over.result)
            self._over = None

    def _leave_regions(self) -> None:
        if self._over is not None:
            self._over.cancel()
            self._over = None
