"""Our side of the searches beside AStarGrid2D: the same grids and queries, in the same process."""
from __future__ import annotations

import numpy as np

from addons.ai_core.bridge.gd import Node, PackedFloat64Array, PackedInt32Array, gdclass, method
from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.searches.search import AStarSearch
from tests.benchmarks.paths.levels import level
from tests.benchmarks.paths.searches import memory_for

WAYS = {"walking": {}, "jumping": {"jumps": True}}


@gdclass
class BenchPaths(Node):
    """Finds the ways of a level, in one form or another."""

    def __init__(self) -> None:
        self._passages: dict = {}
        self._memories: dict = {}
        self._ways: dict = {}

    @method
    def size_of(self, name: str) -> PackedInt32Array:
        """Return columns and rows."""
        return np.array(level(name)[0].shape[::-1], np.int32)

    @method
    def walls_of(self, name: str) -> bytes:
        """Return 1 for each cell that cannot be walked."""
        return (~np.isfinite(level(name)[0].passage().costs)).astype(np.uint8).tobytes()

    @method
    def queries_of(self, name: str) -> PackedInt32Array:
        """Return start and goal of each query, as cells."""
        return np.array(level(name)[1], np.int32).reshape(-1)

    @method
    def prepare(self, name: str, how: str) -> None:
        """Make what a search has at hand in a game, and search once."""
        passage = self._passage(name, how)
        if how == "as the service chooses":
            ways = self._ways[name, how] = GridPathProvider(passage)
            while not ways.is_prepared:
                ways.prepare(Budget.unlimited())
        else:
            self._memories[name, how] = memory_for(passage, **WAYS[how.removesuffix(", 4 neighbors")])
        self.find(name, how)

    @method
    def find(self, name: str, how: str) -> PackedFloat64Array:
        """Return what each way costs."""
        passage = self._passage(name, how)
        memory, ways = self._memories.get((name, how)), self._ways.get((name, how))
        costs = []
        for start, goal in level(name)[1]:
            search = AStarSearch(passage, start, goal, memory=memory) if ways is None else ways.begin(start, goal)
            search.advance(Budget.unlimited())
            costs.append(search.result.cost)
        return np.array(costs)

    def _passage(self, name: str, how: str):
        grid = level(name)[0]
        if not how.endswith("4 neighbors"):
            return grid.passage()
        if name not in self._passages:
            self._passages[name] = Grid(np.isfinite(grid.passage().costs), neighbors=4).passage()
        return self._passages[name]
