"""Searches beside other searches."""
from __future__ import annotations

import importlib
import math
from itertools import pairwise

import numpy as np

import ai_core.paths.bucket_search as bucket_search
import ai_core.paths.jump_distances as jump_distances
import ai_core.paths.jump_search as jump_search
from ai_core.budget import Budget
from ai_core.paths.flow_field import FlowField
from ai_core.paths.jump_table import JumpTable
from ai_core.paths.reachability import Reachability
from ai_core.paths.search import AStarSearch
from ai_core.paths.search_memory import SearchMemory
from ai_core.twins import INTERPRETED
from tests.benchmarks.paths.levels import SIDE, level
from tools.benchmarking.declarations import Contest

MODULES = {
    bucket_search: ("bucket_search",), jump_distances: ("fill_lines", "mend_jumps"), jump_search: ("jump_search",),
}
MOVES = 2 ** 0.5


def memory_for(passage, *, jumps=False, interpreted=False):
    """Memory for searches, of one of the two forms whatever was built."""
    kept = {(module, name): getattr(module, name) for module, names in MODULES.items() for name in names}
    if interpreted:
        for module, name in kept:
            setattr(module, name, INTERPRETED[f"{module.__name__}.{name}"])
    try:
        table = None
        if jumps:
            table = JumpTable(passage)
            table.advance(Budget.unlimited())
        memory = SearchMemory(passage, table)
        memory.walking()
        memory.jumping()
        return memory
    finally:
        for (module, name), function in kept.items():
            setattr(module, name, function)


def searching(name, **which):
    """A case that finds all ways of a level, and returns what they cost."""
    grid, queries = level(name)
    passage = grid.passage()
    memory = memory_for(passage, **which)

    def find():
        costs = []
        for start, goal in queries:
            search = AStarSearch(passage, start, goal, memory=memory)
            search.advance(Budget.unlimited())
            costs.append(search.result.cost)
        return np.array(costs)

    return find


def nearly_same(ours, other):
    return bool(np.allclose(ours, other, rtol=1e-9))


def package_pathfinding(name):
    """The searches of the package `pathfinding`, on its own grid."""
    module = importlib.import_module("pathfinding.core.grid")
    finder_of = importlib.import_module("pathfinding.finder.a_star").AStarFinder
    diagonal = importlib.import_module("pathfinding.core.diagonal_movement").DiagonalMovement
    grid, queries = level(name)
    matrix = np.isfinite(grid.passage().costs).astype(int).tolist()

    def find():
        costs = []
        for start, goal in queries:
            ground = module.Grid(matrix=matrix)
            finder = finder_of(diagonal_movement=diagonal.only_when_no_obstacle)
            ends = [ground.node(cell % SIDE, cell // SIDE) for cell in (start, goal)]
            cells = [(node.x, node.y) for node in finder.find_path(*ends, ground)[0]]
            costs.append(math.fsum(
                MOVES if one[0] != other[0] and one[1] != other[1] else 1.0
                for one, other in pairwise(cells)
            ))
        return np.array(costs)

    return find


def walking(name, **which):
    def make(_):
        return Contest(
            searching(name, **which), peers={"pathfinding": lambda: package_pathfinding(name)}, is_same=nearly_same,
        )
    return make


def jumping(name, **which):
    def make(_):
        return Contest(
            searching(name, jumps=True, **which), {"walking": searching(name, **which)}, is_same=nearly_same
        )
    return make


def sliced(_):
    """A search cut into a thousand slices, beside the same uncut."""
    grid, queries = level("corridors")
    passage, (start, goal) = grid.passage(), queries[0]
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

    return Contest(cut, {"uncut": uncut})


def flowing(_):
    """One field for a thousand movers, beside twenty of their searches."""
    grid, queries = level("caves")
    passage, goal = grid.passage(), queries[0][1]
    memory, field_memory = SearchMemory(passage), SearchMemory(passage)
    whole = FlowField(passage, goal)
    whole.advance(Budget.unlimited())
    starts = np.flatnonzero(np.isfinite(whole.costs))
    starts = np.random.default_rng(5).choice(starts, 20).tolist()

    def field():
        made = FlowField(passage, goal, memory=field_memory)
        made.advance(Budget.unlimited())
        return made.costs.reshape(-1)[starts]

    def searches():
        costs = []
        for start in starts:
            search = AStarSearch(passage, int(start), goal, memory=memory)
            search.advance(Budget.unlimited())
            costs.append(search.result.cost)
        return np.array(costs)

    return Contest(field, {"20 searches": searches}, is_same=nearly_same)


def preparing(interpreted):
    def make(_):
        passage = level("caves")[0].passage()

        def prepare():
            memory_for(passage, jumps=True, interpreted=interpreted)

        return Contest(prepare)
    return make


def asking(n):
    grid, queries = level("caves")
    reachability = Reachability(grid.passage())
    reachability.advance(Budget.unlimited())
    start, goal = queries[0]

    def ask():
        for _ in range(n):
            reachability.are_connected(start, goal)

    return Contest(ask)
