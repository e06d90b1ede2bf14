"""Grids of one to three rows or columns: there several moves have one step, and most cells lie on a border."""
from __future__ import annotations

import faulthandler
import math
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import ai_core.paths.searches.jump_table as jump_table
from ai_core.budget import Budget
from ai_core.loops import SWITCH, compiled
from ai_core.maps.grid import Grid
from ai_core.paths import (
    AnytimeSearch,
    AStarSearch,
    BumpAndTurn,
    ExploredMap,
    FlowField,
    JumpTable,
    Path,
    Reachability,
    RegionGraph,
    RegionSearch,
    SearchMemory,
    distance_on_grid,
    line_is_open,
    neighbors_on_grid,
    pull_cells,
)
from tests.paths.levels import exact_line_is_open, plain_costs, way_from

KINDS = [(4, "closed"), (6, "closed"), (8, "closed"), (8, "half_open"), (8, "open")]
SIZES = [(height, width) for height in (1, 2, 3) for width in (1, 2, 3)] + [
    (9, 1), (9, 2), (9, 3), (1, 9), (2, 9), (3, 9)]
COSTS = [(1.0,), (2.5, 2.5, math.inf), (1.0, 1.0, 4.0, 30.0, math.inf)]     # open; walls; walls and dear ground
PAIRS = 8               # of start and goal on each grid (count)
HANGS_AFTER_S = 300.0   # many times what a test takes: a kernel that does not end holds up all of Python


@pytest.fixture(autouse=True)
def not_for_ever():
    """End the run with a traceback where a kernel does not end; no Python runs then to stop it."""
    faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]}_{kind[1]}")
def levels(request):
    """Grids of one kind in all sizes, each with some pairs of cells."""
    chance = np.random.default_rng(len(request.param[1]) * 10 + request.param[0])
    made = []
    for height, width in SIZES:
        for costs in COSTS:
            cells = chance.choice(costs, (height, width))
            grid = Grid(cells, neighbors=request.param[0], corners=request.param[1])
            made.append((grid, chance.integers(0, cells.size, (PAIRS, 2)).tolist()))
    return made


def neighbors_of(grid, row, column):
    """The cells one can go to, by the rules as the documents state them: reads costs and nothing else."""
    costs = grid.passage().costs
    height, width = costs.shape

    def is_free(row, column):
        return 0 <= row < height and 0 <= column < width and costs[row, column] < math.inf

    if not is_free(row, column):
        return set()
    found = {(row, column - 1), (row, column + 1)}
    if grid.neighbors == 6:
        left = column if row % 2 else column - 1    # odd rows lie half a cell to the right
        found |= {(other, aside) for other in (row - 1, row + 1) for aside in (left, left + 1)}
    else:
        found |= {(row - 1, column), (row + 1, column)}
    if grid.neighbors == 8:
        beside = {"closed": all, "half_open": any, "open": lambda free: True}[grid.corners]
        found |= {
            (row + down, column + right) for down in (-1, 1) for right in (-1, 1)
            if beside([is_free(row + down, column), is_free(row, column + right)])}
    return {one for one in found if is_free(*one)}


def advanced(work, steps=3):
    """Finish work, in no more slices than it can have a use for."""
    for _ in range(2000):
        if work.is_done:
            return work
        work.advance(Budget.of_steps(steps))
    raise AssertionError(f"{work} does not end")


def cost_of_way(passage, cells, start, goal):
    """What a way costs that leads from start to goal by moves that are open."""
    width, look, cost = passage.shape[1], neighbors_on_grid(passage), 0.0
    assert (cells[0], cells[-1]) == (start, goal)
    for one, other in pairwise(cells):
        assert other in look(one)
        down, right = (a - b for a, b in zip(divmod(one, width), divmod(other, width), strict=True))
        length = math.sqrt(2) if down and right and not passage.moves.is_hexagonal else 1.0
        cost += length * float(passage.costs.flat[other])
    return cost


def is_right(path, passage, start, goal):
    """Fail unless a path is the cheapest way, or says that there is none."""
    least = plain_costs(passage, start).get(goal, math.inf)
    assert path.is_found == (least < math.inf)
    if path.is_found:
        assert path.cost == pytest.approx(least, rel=1e-9)
        assert cost_of_way(passage, path.cells.tolist(), start, goal) == pytest.approx(least, rel=1e-9)


def test_open_moves_are_those_of_the_rules(levels):
    for grid, _ in levels:
        passage, width = grid.passage(), grid.shape[1]
        for cell in range(passage.costs.size):
            around = [divmod(other, width) for other in neighbors_on_grid(passage)(cell)]
            assert len(around) == len(set(around))
            assert set(around) == neighbors_of(grid, *divmod(cell, width))


def test_a_star_in_every_form_finds_the_cheapest_way(levels):
    for grid, pairs in levels:
        passage = grid.passage()
        memory = SearchMemory(passage)
        for start, goal in pairs:
            for more in ({"memory": memory}, {"step_cost": lambda one, other, cost: cost}):
                is_right(advanced(AStarSearch(passage, start, goal, **more)).result, passage, start, goal)
            is_right(advanced(AStarSearch(passage, start, goal.__eq__)).result, passage, start, goal)


def test_weighted_search_finds_cheapest_path_even_where_not_used(levels):
    for grid, pairs in levels:
        passage = grid.passage()
        search = SearchMemory(passage).spreading()
        for start, goal in pairs:
            search.begin(start, np.array([goal], np.int32), passage.least_cost, passage.most_cost)
            while search.advance(3):
                pass
            is_found = search.reached == goal
            cells = search.path_to(goal) if is_found else np.zeros(0, np.int32)
            is_right(Path("found" if is_found else "none", cells, search.cost_to(goal), 0), passage, start, goal)


def test_jumps_find_the_cheapest_way(levels, monkeypatch):
    monkeypatch.setattr(jump_table, "WORTHWHILE_CELLS", 0.0)
    for grid, pairs in levels:
        passage = grid.passage()
        if not JumpTable.suits(passage):
            continue
        memory = SearchMemory(passage, advanced(JumpTable(passage)))
        for start, goal in pairs:
            is_right(advanced(AStarSearch(passage, start, goal, memory=memory)).result, passage, start, goal)


def test_anytime_searches_end_with_the_cheapest_way(levels):
    for grid, pairs in levels:
        passage = grid.passage()
        for start, goal in pairs:
            first = advanced(AnytimeSearch(passage, start, goal)).result
            is_right(first, passage, start, goal)
            if first.is_found:
                is_right(advanced(AnytimeSearch(passage, start, goal, known=first)).result, passage, start, goal)


def test_anytime_searches_are_right_after_a_walk_and_a_change(levels):
    for grid, pairs in levels:
        passage = grid.passage()
        for number, (start, goal) in enumerate(pairs):
            search = AnytimeSearch(passage, start, goal)
            search.advance(Budget.of_steps(4))
            if search.best is not None and len(search.best.cells) > 1:
                search.move_start(int(search.best.cells[1]))
            if not search.is_done:
                cell = number % passage.costs.size
                before = float(passage.costs.flat[cell])
                grid.set_cells([cell], math.inf if before < math.inf else 2.5)
                is_right(advanced(search).result, passage, search.start, goal)
                grid.set_cells([cell], before)


def test_ways_over_regions_are_open_and_within_their_bound(levels):
    for grid, pairs in levels:
        passage = grid.passage()
        if not RegionGraph.suits(passage):
            continue
        regions = advanced(RegionGraph(passage, side=4, stretch=2))
        for start, goal in pairs:
            path = advanced(RegionSearch(regions, start, goal)).result
            least = plain_costs(passage, start).get(goal, math.inf)
            assert path.is_found == (least < math.inf)
            if path.is_found:
                assert least * (1 - 1e-9) <= path.cost <= path.bound * least * (1 + 1e-9)
                assert cost_of_way(passage, path.cells.tolist(), start, goal) == pytest.approx(path.cost, rel=1e-9)


def test_flow_fields_lead_from_every_cell_by_the_cheapest_way(levels):
    for grid, pairs in levels:
        passage = grid.passage()
        for _, goal in pairs[:3]:
            field = advanced(FlowField(passage, goal))
            for start in range(passage.costs.size):
                way = way_from(field, start)
                is_found = way[-1] == goal
                cost = float(field.costs.flat[start])
                is_right(Path("found" if is_found else "none", np.array(way, np.int32), cost, 0), passage, start, goal)


def test_reachability_is_that_of_a_plain_search(levels):
    for grid, pairs in levels:
        passage = grid.passage()
        known = advanced(Reachability(passage))
        for start, goal in pairs:
            is_free = bool(passage.costs.flat[start] < math.inf)
            assert known.are_connected(start, goal) == (is_free and goal in plain_costs(passage, start))


@pytest.mark.parametrize("how", ["plain", "remembers", "explored"])
def test_bump_and_turn_uses_open_moves_and_arrives_if_possible(levels, how):
    for grid, pairs in levels:
        passage = grid.passage()
        explored = ExploredMap() if how == "explored" else None
        for start, goal in pairs:
            more = {"explored": explored} if explored is not None else {"remembers": how == "remembers"}
            one = BumpAndTurn(neighbors_on_grid(passage), distance_on_grid(passage), start, goal, **more)
            for _ in range(8 * passage.costs.size + 8):
                if one.state in ("arrived", "unreachable"):
                    break
                if explored is not None:
                    explored.advance(Budget.of_steps(1000))
                at = one.at
                there = one.step()
                assert there == at or there in neighbors_on_grid(passage)(at)
            if how != "plain":
                assert one.state == ("arrived" if goal in plain_costs(passage, start) else "unreachable")


def test_lines_are_exactly_open_and_pulled_paths_stay_open(levels):
    for grid, pairs in levels:
        passage = grid.passage()
        if passage.moves.is_hexagonal:
            continue
        for start, goal in pairs:
            for halves in ((0, 0), (0, 1), (1, 0), (1, 1)):     # also from and to the borders of cells
                one = tuple(number + half / 2 for number, half in zip(grid.place(start), halves, strict=True))
                for other in (grid.place(goal), (grid.place(goal)[0] - 0.5, grid.place(goal)[1] - 0.5)):
                    expected = exact_line_is_open(passage, one, other)
                    assert line_is_open(passage, one, other) == line_is_open(passage, other, one) == expected
            path = advanced(AStarSearch(passage, start, goal)).result
            turns = pull_cells(passage, path.cells).tolist()
            assert all(line_is_open(passage, grid.place(a), grid.place(b)) for a, b in pairwise(turns))


KNOWN_ON_TWO_COLUMNS = """
import numpy as np
from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths import AnytimeSearch, Path

passage = Grid(np.ones((3, 2), bool), neighbors=6).passage()
search = AnytimeSearch(passage, 4, 3, known=Path("found", np.array([4, 2, 3], np.int32), 2.0, 0))
search.advance(Budget.unlimited())
print(search.result.cells.tolist(), search.result.cost)

grid = Grid(np.ones((9, 2), bool), neighbors=6)
search = AnytimeSearch(grid.passage(), 16, 1)
while search.best is None:
    search.advance(Budget.of_steps(1))
for cell in range(18):          # cells change, and the best way so far is taken over
    if cell not in search.best.cells:
        grid.set_cells([cell], False)
        search.advance(Budget.of_steps(1))
while not search.is_done:
    search.advance(Budget.unlimited())
print(search.result.cost)
"""


@pytest.mark.parametrize("is_pure", [False, True], ids=["compiled", "pure"])
def test_anytime_search_uses_known_path_on_two_hexagon_columns(is_pure):
    if not is_pure and not compiled():
        pytest.skip("kernels are not built")
    done = subprocess.run(
        [sys.executable, "-c", KNOWN_ON_TWO_COLUMNS], env={**os.environ, SWITCH: "1" if is_pure else ""},
        capture_output=True, text=True, timeout=120, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == ["[4, 2, 3] 2.0", "8.0"]
