"""Searches beside other searches."""
from __future__ import annotations

import functools
import gc
import importlib
import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product

import numpy as np

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps.cell_moves import SQUARE_8
from ai_core.maps.grid import Grid
from ai_core.paths.flow_field import FlowField
from ai_core.paths.grid_path_provider import GridPathProvider
from ai_core.paths.path_service import PathService
from ai_core.paths.regions.reachability import Reachability
from ai_core.paths.regions.region_graph import RegionGraph
from ai_core.paths.regions.region_paths import RegionSearch
from ai_core.paths.searches.anytime_search import AnytimeSearch
from ai_core.paths.searches.jump_table import JumpTable
from ai_core.paths.searches.search import AStarSearch
from ai_core.paths.searches.search_memory import SearchMemory
from tests.benchmarks.paths.levels import QUERIES, level, many_pairs
from tools.benchmarking.declarations import Contest

MOVES = 2 ** 0.5


class EveryMove(SearchMemory):
    """Searches that look at every move, as on ground where cells differ: what ours is measured by over time."""

    __slots__ = ()

    def walking(self):
        return self.spreading()


def memory_for(passage, *, jumps=False, every_move=False):
    """Memory for searches, its tables made."""
    table = None
    if jumps:
        table = JumpTable(passage)
        table.advance(Budget.unlimited())
    memory = (EveryMove if every_move else SearchMemory)(passage, table)
    memory.walking()
    memory.jumping()
    return memory


def searching(name, most=QUERIES, pairs=None, **which):
    """A case that finds ways of a level, all unless told, and returns what they cost."""
    grid, queries = level(name)[0], pairs or level(name)[1][:most]
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


def legally_same(ours, other):
    """The same but for tcod's diagonal of 99 / 70, which lets it take a way that is a hair longer."""
    return bool(np.allclose(ours, other, rtol=1e-4))


def package_pathfinding(name, most):
    """The searches of the package `pathfinding`, on its own grid."""
    module = importlib.import_module("pathfinding.core.grid")
    finder_of = importlib.import_module("pathfinding.finder.a_star").AStarFinder
    diagonal = importlib.import_module("pathfinding.core.diagonal_movement").DiagonalMovement
    grid, queries = level(name)
    width = grid.passage().shape[1]
    matrix = np.isfinite(grid.passage().costs).astype(int).tolist()

    def find():
        costs = []
        for start, goal in queries[:most]:
            ground = module.Grid(matrix=matrix)
            finder = finder_of(diagonal_movement=diagonal.only_when_no_obstacle)
            ends = [ground.node(cell % width, cell // width) for cell in (start, goal)]
            costs.append(cost_of([(node.y, node.x) for node in finder.find_path(*ends, ground)[0]]))
        return np.array(costs)

    return find


def cost_of(cells):
    """What a way of (row, column) costs."""
    return math.fsum(
        MOVES if one[0] != other[0] and one[1] != other[1] else 1.0 for one, other in pairwise(cells))


def package_tcod(name, most):
    """The only searches of tcod that cut no corner: its custom graph, with conditions, at costs of 70 and 99."""
    path = importlib.import_module("tcod.path")
    grid, queries = level(name)
    free = np.isfinite(grid.passage().costs)
    height, width = free.shape
    graph = path.CustomGraph(free.shape)
    around = np.zeros((height + 2, width + 2), np.int8)
    around[1:-1, 1:-1] = free
    for down, right in SQUARE_8:
        is_open = (around[1 + down:height + 1 + down, 1:-1] & around[1:-1, 1 + right:width + 1 + right]
                   & around[1 + down:height + 1 + down, 1 + right:width + 1 + right])
        graph.add_edge((down, right), 99 if down and right else 70, cost=free.astype(np.int8), condition=is_open)
    graph.set_heuristic(cardinal=70, diagonal=99)

    def find():
        costs = []
        for start, goal in queries[:most]:
            finder = path.Pathfinder(graph)
            finder.add_root(divmod(start, width))
            costs.append(cost_of(finder.path_to(divmod(goal, width)).tolist()))
        return np.array(costs)

    return find


def package_networkx(name, most):
    """The searches of networkx, over a graph made beforehand."""
    networkx = importlib.import_module("networkx")
    grid, queries = level(name)
    passage = grid.passage()
    width = passage.shape[1]
    moves, opened = passage.moves, passage.open_moves
    graph = networkx.DiGraph()
    for move, (down, right) in enumerate(moves.even):
        starts = np.flatnonzero(opened.reshape(-1) >> move & 1)
        length = moves.lengths[move]
        graph.add_weighted_edges_from((start, start + down * width + right, length) for start in starts.tolist())

    def apart(one, other):
        down, right = abs(one // width - other // width), abs(one % width - other % width)
        return max(down, right) + (MOVES - 1) * min(down, right)

    def find():
        return np.array([
            cost_of([divmod(cell, width) for cell in networkx.astar_path(graph, start, goal, apart)])
            for start, goal in queries[:most]])

    return find


PACKAGES = {"pathfinding": package_pathfinding, "tcod": package_tcod, "networkx": package_networkx}


def walking(name, packages, most=QUERIES, **which):
    def make(_):
        peers = {one: functools.partial(PACKAGES[one], name, most) for one in packages}
        return Contest(searching(name, most, **which), peers=peers, is_same=legally_same)
    return make


def jumping(name, **which):
    def make(_):
        return Contest(searching(name, jumps=True, **which), walking_twice(name, **which), is_same=nearly_same)
    return make


def jumping_anew(name, **which):
    """Sixty different paths one after the other, so that none has just been found: as in a game."""
    def make(_):
        pairs = many_pairs(name, 60)
        return Contest(searching(name, pairs=pairs, jumps=True, **which), {"A*": searching(name, pairs=pairs, **which)},
                       is_same=nearly_same)
    return make


def walking_twice(name, **which):
    """The same ways by plain searches: that look at every move, and as they are."""
    return {"by every move": searching(name, every_move=True, **which), "A*": searching(name, **which)}


def flowing(_):
    """One field that tells a thousand movers their next cells, beside twenty of their searches."""
    grid, queries = level("caves")
    passage, goal = grid.passage(), queries[0][1]
    memory, field_memory = SearchMemory(passage), SearchMemory(passage)
    whole = FlowField(passage, goal)
    whole.advance(Budget.unlimited())
    starts = np.flatnonzero(np.isfinite(whole.costs))
    movers = np.random.default_rng(6).choice(starts, 1000)
    starts = np.random.default_rng(5).choice(starts, 20).tolist()

    def field():
        made = FlowField(passage, goal, memory=field_memory)
        made.advance(Budget.unlimited())
        made.next_of(movers)
        return made.costs_of(starts)

    def searches():
        costs = []
        for start in starts:
            search = AStarSearch(passage, int(start), goal, memory=memory)
            search.advance(Budget.unlimited())
            costs.append(search.result.cost)
        return np.array(costs)

    return Contest(field, {"20 searches": searches}, is_same=nearly_same)


def preparing(_):
    passage = level("caves")[0].passage()

    def prepare():
        memory_for(passage, jumps=True)

    return Contest(prepare)


def asking(n):
    grid, queries = level("caves")
    reachability = Reachability(grid.passage())
    reachability.advance(Budget.unlimited())
    start, goal = queries[0]

    def ask():
        for _ in range(n):
            reachability.are_connected(start, goal)

    return Contest(ask)


def mending(name):
    """One cell shut and opened again, beside making all jumps twice."""
    def make(_):
        passage = Grid(np.isfinite(level(name)[0].passage().costs)).passage()
        memory = memory_for(passage, jumps=True)
        table, cell = memory.jumps, np.array([level(name)[1][0][0]], np.int32)

        def mend():
            for cost in (np.inf, 1.0):
                passage.change(cell, np.array([cost], np.float32))
                table.advance(Budget.unlimited())
            return True

        def make_anew():
            for _ in range(2):
                JumpTable(passage).advance(Budget.unlimited())
            return True

        return Contest(mend, {"making anew": make_anew})
    return make


def collecting(_):
    """A full collection of garbage with a level and its tables loaded, and nothing else."""
    gc.collect()
    gc.freeze()
    passage = Grid(np.isfinite(level("caves")[0].passage().costs)).passage()
    memory, reachability = memory_for(passage, jumps=True), Reachability(passage)
    reachability.advance(Budget.unlimited())

    def collect():
        gc.collect()
        return memory.jumps.is_done and reachability.is_done

    return Contest(collect)


def ways_of(name, begin):
    """A case that finds all ways of a level, each by a search that is begun anew."""
    queries = level(name)[1]

    def find():
        costs = []
        for start, goal in queries:
            search = begin(start, goal)
            while not search.is_done:
                search.advance(Budget.unlimited())
            costs.append(search.result.cost)
        return np.array(costs)

    return find


def over_regions(name):
    def make(_):
        passage = level(name)[0].passage()
        regions = RegionGraph(passage)
        regions.advance(Budget.unlimited())
        return Contest(
            ways_of(name, lambda start, goal: RegionSearch(regions, start, goal)), walking_twice(name),
            is_same=lambda ours, other: bool((ours >= other - 1e-6).all() and (ours <= 1.1 * other).all()),
        )
    return make


def making_regions(name):
    def make(_):
        passage = level(name)[0].passage()

        def prepare():
            RegionGraph(passage).advance(Budget.unlimited())

        return Contest(prepare)
    return make


def anytime(name):
    def make(_):
        passage = level(name)[0].passage()
        memory = SearchMemory(passage)
        return Contest(
            ways_of(name, lambda start, goal: AnytimeSearch(passage, start, goal, memory=memory)),
            walking_twice(name), is_same=nearly_same,
        )
    return make


def on_threads(_):
    """By the time of the thread that waits, how much of the work is left to it; by the clock on the wall, the gain."""
    grid, queries = level("corridors")
    pairs = [(one, other) for (one, _), (_, other) in product(queries, queries)][:8]
    executor = ThreadPoolExecutor(1)

    def finding(threads):
        ways = GridPathProvider(grid.passage())
        ways.prepare = lambda budget: None

        def find():
            service = PathService(ways, ManualClock(), executor=threads)
            tickets = [service.request_path(*pair) for pair in pairs]
            while not service.is_idle:
                service.advance(Budget.unlimited())
            return np.array([ticket.path.cost for ticket in tickets])

        return find

    return Contest(finding(executor), {"one thread": finding(None)}, is_same=nearly_same)
