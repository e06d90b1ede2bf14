"""Searches on grids with buckets: what they find is the cheapest, however they are sliced."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ai_core.paths.searches.search_memory as search_memory
from ai_core.budget import Budget
from ai_core.maps.cell_moves import SQUARE_8, moves_for
from ai_core.maps.grid import Grid
from ai_core.paths import AStarSearch, FlowField
from ai_core.paths.searches.canonical_moves import AT_ONCE, DIAGONAL, STRAIGHT, SUCCESSORS, cost_of, costs_of, suits
from ai_core.paths.searches.cells_along import costs_along
from ai_core.paths.searches.grid_search_loops import (
    FAR,
    NOWHERE,
    RepairingSearch,
    UniformField,
    UniformSearch,
    WeightedSearch,
)
from tests.paths.levels import cost_along, grids, plain_costs, way_from

LONGEST_RUN = 512


@st.composite
def passages(draw, side=14):
    """Walls on every second to every tenth cell, all others cost the same."""
    height, width = draw(st.tuples(st.integers(1, side), st.integers(1, side)))
    share, seed = draw(st.sampled_from([0.1, 0.3, 0.4, 0.5])), draw(st.integers(0, 10_000))
    free = np.random.default_rng(seed).random((height, width)) > share
    return Grid(np.where(free, draw(st.sampled_from([1.0, 2.5])), math.inf)).passage()


def ends_in(passage, numbers):
    start, *goals = (number % passage.costs.size for number in numbers)
    return start, np.unique(goals).astype(np.int32)


def searched(search, passage, start, goals, most=1000):
    for begin_at in (int(goals[0]), start):  # the second in the memory of the first
        search.begin(begin_at, goals, passage.least_cost, passage.most_cost)
        expanded = 0
        while not search.is_done:
            expanded += search.advance(most)
    end = search.reached if search.reached != NOWHERE else search.nearest()
    return expanded, search.reached, search.nearest(), search.cost_to(end), search.path_to(end).tolist()


def weighted(passage):
    return WeightedSearch(passage.open_moves, passage.costs, passage.moves)


def uniform(passage):
    return UniformSearch(passage.open_moves)


each_search = pytest.mark.parametrize(("make", "levels"), [(weighted, grids()), (uniform, passages())])
few_ends = st.lists(st.integers(0, 195), min_size=2, max_size=4)


@each_search
@given(data=st.data(), numbers=few_ends, most=st.integers(1, 9))
def test_path_costs_what_dijkstra_says_in_any_slices(make, levels, data, numbers, most):
    passage = data.draw(levels).passage() if make is weighted else data.draw(levels)
    start, goals = ends_in(passage, numbers)
    costs = plain_costs(passage, start)
    best = min(costs.get(int(goal), math.inf) for goal in goals)
    search = make(passage)
    found = searched(search, passage, start, goals, most)
    assert found == searched(search, passage, start, goals)
    assert (search.reached == NOWHERE) == (best == math.inf)
    if search.reached != NOWHERE:
        assert found[3] == pytest.approx(best, rel=1e-9)
        assert (found[4][0], found[4][-1]) == (start, search.reached)
        assert cost_along(passage, found[4]) == pytest.approx(best, rel=1e-9)
    else:
        assert all(search.cost_to(cell) == pytest.approx(costs.get(cell, math.inf), rel=1e-9)
                   for cell in range(passage.costs.size))


def dear_cells(side, dear):
    """A grid whose cells cost 1 to 4, but for two as dear as that."""
    costs = np.random.default_rng(1).integers(1, 5, (side, side)).astype(np.float32)
    costs[0, 0] = costs[side // 2, side // 2] = dear
    return Grid(costs).passage()


@pytest.mark.parametrize("dear", [1e4, 1e6])
def test_few_very_costly_cells_do_not_cause_repeated_expansion(dear):
    passage = dear_cells(48, dear)
    search = weighted(passage)
    search.begin(24 * 48, np.array([48 * 48 - 1], np.int32), passage.least_cost, passage.most_cost)
    assert search.advance(1 << 20) < 2 * 48 * 48
    search.spread(np.array([48 * 48 - 1], np.int32), passage.least_cost, passage.most_cost)
    assert search.advance(1 << 20) < 2 * 48 * 48


@given(grid=grids(), goals=st.lists(st.integers(0, 63), min_size=1, max_size=3), most=st.integers(1, 9))
def test_a_flow_is_the_same_in_any_slices(grid, goals, most):
    passage = grid.passage()
    goals = np.unique(np.array(goals) % passage.costs.size).astype(np.int32)
    flows = []
    for at_once in (most, 1 << 20):
        search = weighted(passage)
        search.begin(0, goals, passage.least_cost, passage.most_cost)
        search.advance(3)
        search.spread(goals, passage.least_cost, passage.most_cost)
        while not search.is_done:
            search.advance(at_once)
        costs, following = np.empty(passage.costs.size), np.empty(passage.costs.size, np.int32)
        search.flow(costs, following)
        flows.append((costs.tolist(), following.tolist()))
    assert flows[0] == flows[1]


def test_nothing_is_done_after_the_end():
    costs, moves = np.ones((2, 2), np.float32), moves_for(4)
    search = WeightedSearch(moves.open_from(np.isfinite(costs), "closed"), costs, moves)
    assert search.is_done
    search.begin(0, np.array([3], np.int32), 1.0, 1.0)
    assert 2 <= search.advance(100) <= 3  # the goal itself is not expanded
    assert search.is_done
    assert search.advance(100) == 0
    assert search.cost_to(3) == 2


@pytest.mark.slow
def test_search_counter_restarts_when_its_numbers_run_out():
    search = uniform(Grid(np.ones((3, 3))).passage())
    corner, far = np.array([8], np.int32), np.array([2], np.int32)
    for _ in range(2 ** 16 + 2):
        search.begin(0, far, 1.0, 1.0)
        search.advance(1)
        search.begin(0, corner, 1.0, 1.0)
        search.advance(100)
    assert search.cost_to(8) == 2 * 2 ** 0.5
    assert search.cost_to(6) in (2.0, math.inf)


@pytest.mark.parametrize(("start", "goals"), [(-1, [0]), (6, [0]), (0, [-1]), (0, [6]), (0, [1, 6])])
def test_cells_beside_the_grid_are_refused(start, goals):
    moves, costs, ends = moves_for(8), np.ones((2, 3), np.float32), np.array(goals, np.int32)
    open_moves = moves.open_from(np.isfinite(costs), "closed")
    for search in (UniformSearch(open_moves), WeightedSearch(open_moves, costs, moves)):
        with pytest.raises(IndexError, match="is not on the grid"):
            search.begin(start, ends, 1.0, 1.0)
    with pytest.raises(IndexError, match="is not on the grid"):
        RepairingSearch(open_moves, costs, moves).begin(start, ends, 1.0, 1.0, 1.0, True)
    with pytest.raises(ValueError, match="same shape"):
        WeightedSearch(open_moves.T, costs, moves)


def test_after_a_move_one_looks_on_and_round_the_ends_of_walls():
    north_west, north, north_east, west, east, south_west, south, south_east = range(8)
    all_open = 255

    def tried(came, open_moves):
        bits = SUCCESSORS[came << 8 | open_moves]
        return [move for move in range(len(SQUARE_8)) if bits >> move & 1]

    assert tried(AT_ONCE, all_open) == list(range(8))
    assert tried(east, all_open) == [east]
    assert tried(south_east, all_open) == [east, south, south_east]
    assert tried(east, all_open & ~(1 << north_west)) == [north, north_east, east]
    assert tried(east, all_open & ~(1 << north_west | 1 << north | 1 << north_east)) == [east]
    assert tried(north, all_open & ~(1 << south_west | 1 << south_east)) == [
        north_west, north, north_east, west, east]


@given(straights=st.integers(0, 50_000), diagonals=st.integers(0, 13_859), cost=st.sampled_from([1.0, 2.5]))
def test_of_a_length_in_whole_numbers_the_moves_are_known(straights, diagonals, cost):
    length = straights * STRAIGHT + diagonals * DIAGONAL
    assert cost_of(length, cost) == (straights + 2 ** 0.5 * diagonals) * cost
    if length < 2 ** 32:
        assert costs_of(np.array([length], np.uint32), cost).tolist() == [cost_of(length, cost)]


def test_it_suits_eight_neighbors_closed_corners_and_one_cost():
    free = np.ones((2, 2))
    assert suits(Grid(free).passage())
    assert not suits(Grid(free, neighbors=4).passage())
    assert not suits(Grid(free, corners="open").passage())
    assert not suits(Grid([[1.0, 2.0]]).passage())


def written(passage, goals, most):
    core = UniformField(passage.open_moves)
    lengths, moves = np.empty(passage.shape, np.uint32), np.zeros(passage.shape, np.uint8)
    for ends in (np.zeros(1, np.int32), goals):     # the second in the memory of the first
        moves[:] = 0        # those of cells that are not reached are arbitrary
        core.begin(ends, lengths, moves)
        while not core.is_done:
            core.advance(most)
    assert not core.is_too_far
    return lengths, moves


@given(passage=passages(), numbers=st.lists(st.integers(0, 195), min_size=1, max_size=3), most=st.integers(1, 60))
def test_lengths_are_those_of_dijkstra_in_any_slices(passage, numbers, most):
    goals = np.unique([number % passage.costs.size for number in numbers]).astype(np.int32)
    of_each = [plain_costs(passage, int(goal)) for goal in goals]
    lengths, moves = written(passage, goals, 10_000)
    costs = np.where(lengths == FAR, np.inf, costs_of(lengths, passage.least_cost)).reshape(-1)
    for cell in range(passage.costs.size):
        best = min(costs_from.get(cell, math.inf) for costs_from in of_each)
        assert costs[cell] == pytest.approx(best, rel=1e-12)
    sliced = written(passage, goals, most)
    assert (lengths.tolist(), moves.tolist()) == (sliced[0].tolist(), sliced[1].tolist())


def test_a_run_longer_than_the_ring_has_room_for_goes_on_later():
    passage = Grid(np.ones((1, 3 * LONGEST_RUN))).passage()
    field = FlowField(passage, 0)
    field.advance(Budget.unlimited())
    assert field.costs.tolist() == [list(range(3 * LONGEST_RUN))]


def test_path_too_long_for_its_numbers_uses_another_search(monkeypatch):
    passage = Grid(np.ones((5, 7))).passage()
    fits = FlowField(passage, 3)
    fits.advance(Budget.unlimited())
    monkeypatch.setattr(search_memory, "UniformField", lambda open_moves: UniformField(open_moves, 2 * STRAIGHT))
    field = FlowField(passage, 3)
    field.advance(Budget.unlimited())
    assert np.allclose(field.costs, fits.costs, rtol=1e-12)
    assert way_from(field, 34)[-1] == 3


def test_a_few_movers_are_told_what_is_known_of_all():
    grid = Grid([[1, 1, math.inf, 1]])
    field = FlowField(grid.passage(), 0)
    with pytest.raises(RuntimeError, match="is not done"):
        field.costs_of([0])
    field.advance(Budget.unlimited())
    assert field.costs_of([1, 3, 0]).tolist() == [1, math.inf, 0]
    with pytest.raises(ValueError, match=r"cells must be 0 to 3, got \[-1\]"):
        field.costs_of([-1])


def test_a_field_refuses_arrays_and_goals_beside_the_grid():
    core = UniformField(np.zeros((2, 3), np.uint8))
    with pytest.raises(ValueError, match="must be uint32 and uint8"):
        core.begin(np.zeros(1, np.int32), np.zeros(5, np.uint32), np.zeros(6, np.uint8))
    with pytest.raises(IndexError, match="a goal is not on the grid"):
        core.begin(np.array([6], np.int32), np.zeros(6, np.uint32), np.zeros(6, np.uint8))
    assert core.is_done
    assert core.advance(10) == 0


@given(grid=grids(), numbers=few_ends, most=st.integers(1, 9))
def test_repairs_end_with_the_cheapest_path(grid, numbers, most):
    passage = grid.passage()
    start, goals = ends_in(passage, numbers)
    costs = plain_costs(passage, start)
    best = min(costs.get(int(goal), math.inf) for goal in goals)
    search = RepairingSearch(passage.open_moves, passage.costs, passage.moves)
    for begin_at in (int(goals[0]), start):  # the second in the memory of the first
        search.begin(begin_at, goals, passage.least_cost, passage.most_cost, 5.0, suits(passage))
        for weight in (5.0, 2.0, 1.3, 1.0):
            search.repair(begin_at, weight)
            while not search.is_done:
                search.advance(most)
                assert search.least <= search.cost * (1 + 1e-12)
    assert search.cost == pytest.approx(best, rel=1e-9)
    if best < math.inf:
        assert cost_along(passage, search.path().tolist()) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("neighbors", [4, 6, 8])
@pytest.mark.parametrize("shape", [(9, 1), (9, 2), (9, 3), (2, 2), (1, 9)])
def test_a_path_that_is_adopted_is_the_path_it_returns(neighbors, shape):
    passage = Grid(np.ones(shape, bool), neighbors=neighbors).passage()
    first = AStarSearch(passage, passage.costs.size - 1, 0)
    first.advance(Budget.unlimited())
    cells = first.result.cells
    search = RepairingSearch(passage.open_moves, passage.costs, passage.moves)
    search.begin(int(cells[0]), cells[-1:], 1.0, 1.0, 1.0, suits(passage))
    search.adopt(cells, costs_along(passage, cells))
    assert search.path().tolist() == cells.tolist()
    with pytest.raises(ValueError, match="neighbors"):
        search.adopt(np.array([0, 0], np.int32), np.array([-1.0, 0.0]))


def test_contradicting_paths_are_an_error_not_an_endless_loop():
    passage = Grid(np.ones((1, 4), bool)).passage()
    search = RepairingSearch(passage.open_moves, passage.costs, passage.moves)
    search.begin(1, np.array([2], np.int32), 1.0, 1.0, 1.0, True)
    search.adopt(np.array([1, 0, 1, 2], np.int32), np.array([1.0, 2.0, 3.0, 0.0]))  # from 1 to 0, and back
    with pytest.raises(RuntimeError, match="internal error in a search"):
        search.path()
