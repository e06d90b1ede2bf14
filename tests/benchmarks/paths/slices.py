"""Searches cut into a thousand slices."""
from __future__ import annotations

import numpy as np

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths.searches.search import AStarSearch
from ai_core.paths.searches.search_memory import SearchMemory
from tests.benchmarks.paths.levels import level
from tools.benchmarking.declarations import Contest


def sliced(passage, start, goal):
    """A search cut into a thousand slices, beside the same uncut."""
    memory = SearchMemory(passage)

    def uncut():
        search = AStarSearch(passage, start, goal, memory=memory)
        search.advance(Budget.unlimited())
        return search.result.cost

    search = AStarSearch(passage, start, goal, memory=memory)
    search.advance(Budget.unlimited())
    slice_steps = max(1, search.expanded // 1000)

    def cut():
        search = AStarSearch(passage, start, goal, memory=memory)
        while not search.is_done:
            search.advance(Budget.of_steps(slice_steps))
        return search.result.cost

    def alone():
        """The least that a thousand slices and the search cost: the search uncut, and slices of nothing."""
        nothing = OfNothing()
        while not nothing.is_done:
            nothing.advance(Budget.of_steps(slice_steps))
        return uncut()

    return Contest(cut, {"uncut": uncut, "uncut, and slices of nothing": alone})


class OfNothing:
    """Work of a thousand slices in which nothing is done."""

    def __init__(self):
        self.is_done, self.slices = False, 0

    def advance(self, budget, /):
        self.slices += 1
        if self.slices == 1000:
            self.is_done = True


def short_sliced(_):
    grid, queries = level("corridors")
    return sliced(grid.passage(), *queries[0])


def long_sliced(_):
    """Unlike ground, where nearly all cells are looked at."""
    costs = np.random.default_rng(7).uniform(1.0, 9.0, (512, 512))
    return sliced(Grid(costs).passage(), 0, costs.size - 1)
