"""The heart of anytime searches: both forms do the same, step by step."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths import AStarSearch
from ai_core.paths.searches.canonical_moves import suits
from ai_core.paths.searches.cells_along import costs_along
from tests.paths.conftest import FORMS, forms_of
from tests.paths.levels import grids

WEIGHTS = (5.0, 2.0, 1.3, 1.0)


def story(make, passage, start, goals, most):
    """All that can be told of a search, and of the rounds after it."""
    search = make(passage.open_moves, passage.costs, passage.moves)
    told = []
    for begin_at in (int(goals[0]), start):  # the second in the memory of the first
        search.begin(begin_at, goals, passage.least_cost, passage.most_cost, WEIGHTS[0], suits(passage))
        for weight in WEIGHTS:
            search.repair(begin_at, weight)
            while not search.is_done:
                told.append((search.advance(most), search.cost, search.least))
            told.append((search.cost, search.least, search.way() if search.cost < np.inf else b""))
    return told


@pytest.mark.parametrize("neighbors", [4, 6, 8])
@pytest.mark.parametrize("shape", [(9, 1), (9, 2), (9, 3), (2, 2), (1, 9)])
def test_a_way_that_is_adopted_is_the_way_it_tells(neighbors, shape):
    passage = Grid(np.ones(shape, bool), neighbors=neighbors).passage()
    first = AStarSearch(passage, passage.costs.size - 1, 0)
    first.advance(Budget.unlimited())
    cells = first.result.cells
    for make in forms_of("repairing_search"):
        search = make(passage.open_moves, passage.costs, passage.moves)
        search.begin(int(cells[0]), cells[-1:], 1.0, 1.0, 1.0, suits(passage))
        search.adopt(cells, costs_along(passage, cells))
        assert np.frombuffer(search.way(), np.int32).tolist() == cells.tolist()


def test_contradicting_paths_are_an_error_not_an_endless_loop():
    passage = Grid(np.ones((1, 4), bool)).passage()
    for make in forms_of("repairing_search"):
        search = make(passage.open_moves, passage.costs, passage.moves)
        search.begin(1, np.array([2], np.int32), 1.0, 1.0, 1.0, True)
        search.adopt(np.array([1, 0, 1, 2], np.int32), np.array([1.0, 2.0, 3.0, 0.0]))  # from 1 to 0, and back
        with pytest.raises(RuntimeError, match="internal error in a search"):
            search.way()


@pytest.mark.skipif(len(FORMS) < 2, reason="kernels are not built")
@given(grid=grids(), numbers=st.lists(st.integers(0, 63), min_size=2, max_size=4), most=st.integers(1, 9))
def test_both_forms_do_the_same_in_every_slice(grid, numbers, most):
    passage = grid.passage()
    start, *goals = (number % passage.costs.size for number in numbers)
    goals = np.unique(goals).astype(np.int32)
    first, second = (story(make, passage, start, goals, most) for make in forms_of("repairing_search"))
    assert first == second


@pytest.mark.skipif("compiled" not in FORMS, reason="kernels are not built")
def test_the_kernel_refuses_cells_that_are_not_on_the_grid():
    _, make = forms_of("repairing_search")
    from ai_core.maps.cell_moves import moves_for
    moves, costs = moves_for(8), np.ones((2, 3), np.float32)
    search = make(moves.open_from(np.isfinite(costs), "closed"), costs, moves)
    for start, goal in ((-1, 0), (6, 0), (0, -1), (0, 6)):
        with pytest.raises(IndexError):
            search.begin(start, np.array([goal], np.int32), 1.0, 1.0, 1.0, True)
    search.begin(0, np.array([5], np.int32), 1.0, 1.0, 1.0, True)
    with pytest.raises(ValueError, match="neighbors"):
        search.adopt(np.array([0, 5], np.int32), np.array([1.0, 0.0]))
