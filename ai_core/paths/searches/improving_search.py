"""Improving search: a first path over regions, then cheaper ones by cells, for mazes where estimates mislead."""
from __future__ import annotations

from ai_core.budget import Budget
from ai_core.paths.path import Path
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_paths import RegionSearch
from ai_core.paths.searches.anytime_search import AnytimeSearch
from ai_core.paths.searches.search_memory import SearchMemory

__all__ = ["ImprovingSearch"]


class ImprovingSearch:
    """``AnytimeSearch`` that starts with a path over regions; it has the same interface.

    If cells change, or the mover moves, before that path is found, the search continues without it.

    Args:
        regions: region graph; must be done.
        start: cell of the mover.
        goal: goal cell.
        memory: memory of the anytime search.

    Raises:
        TypeError, ValueError: as ``AnytimeSearch`` and ``RegionSearch``.
        RuntimeError: if the regions are not done.
    """

    def __init__(self, regions: RegionGraph, start: int, goal: int, *, memory: SearchMemory) -> None:
        self._regions = regions
        self._over: RegionSearch | None = RegionSearch(regions, start, goal)
        self._by_cells = AnytimeSearch(regions.passage, start, goal, memory=memory)

    @property
    def best(self) -> Path | None:
        """Best path so far; None if none is found yet."""
        return self._by_cells.best

    @property
    def bound(self) -> float:
        """Upper limit of the cost of ``best`` divided by the lowest cost."""
        return self._by_cells.bound

    @property
    def is_done(self) -> bool:
        """True when ``best`` is the cheapest path, or no path exists."""
        return self._by_cells.is_done

    @property
    def result(self) -> Path:
        """The cheapest path; RuntimeError if the search is not done."""
        return self._by_cells.result

    def cancel(self) -> None:
        """Cancel the search; does nothing when it is done."""
        self._leave_regions()
        self._by_cells.cancel()

    def move_start(self, cell: int) -> None:
        """Report the cell of the mover; see ``AnytimeSearch.move_start``."""
        if cell != self._by_cells.start:
            self._leave_regions()
        self._by_cells.move_start(cell)

    def advance(self, budget: Budget, /) -> None:
        """Continue until a better path is found, the search is done, or the budget is spent."""
        if self._over is not None and not self._regions.is_done:
            self._leave_regions()
        if self._over is None:
            self._by_cells.advance(budget)
            return
        self._over.advance(budget)
        if self._over.is_done:
            self._by_cells.offer_path(self._over.result)
            self._over = None

    def _leave_regions(self) -> None:
        if self._over is not None:
            self._over.cancel()
            self._over = None
