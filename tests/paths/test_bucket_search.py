"""The heart of A* on grids: both forms do the same, step by step."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.maps.cell_moves import moves_for
from ai_core.maps.grid import Grid
from ai_core.paths.searches.walking_search import NOWHERE
from tests.paths.conftest import FORMS, forms_of
from tests.paths.levels import grids


def story(make, passage, start, goals, most):
    """All that can be told of a search."""
    search = make(passage.open_moves, passage.costs, passage.moves)
    for begin_at in (goals[0], start):  # the second in the memory of the first
        search.begin(int(begin_at), goals, passage.least_cost, passage.most_cost)
        slices = []
        while not search.is_done:
            slices.append(search.advance(most))
    end = search.reached if search.reached != NOWHERE else search.nearest()
    return slices, search.reached, search.nearest(), search.cost_to(end), search.way_to(end)


@pytest.mark.skipif(len(FORMS) < 2, reason="kernels are not built")
@given(grid=grids(), numbers=st.lists(st.integers(0, 63), min_size=2, max_size=4), most=st.integers(1, 9))
def test_both_forms_do_the_same_in_every_slice(grid, numbers, most):
    passage = grid.passage()
    start, *goals = (number % passage.costs.size for number in numbers)
    goals = np.unique(goals).astype(np.int32)
    first, second = (story(make, passage, start, goals, most) for make in forms_of("bucket_search"))
    assert first == second


def dear_cells(side, dear):
    """A grid whose cells cost 1 to 4, but for two as dear as that."""
    costs = np.random.default_rng(1).integers(1, 5, (side, side)).astype(np.float32)
    costs[0, 0] = costs[side // 2, side // 2] = dear
    return Grid(costs).passage()


@pytest.mark.parametrize("make", forms_of("bucket_search"), ids=FORMS)
@pytest.mark.parametrize("dear", [1e4, 1e6])
def test_few_very_costly_cells_do_not_cause_repeated_expansion(make, dear):
    passage = dear_cells(48, dear)
    search = make(passage.open_moves, passage.costs, passage.moves)
    search.begin(24 * 48, np.array([48 * 48 - 1], np.int32), passage.least_cost, passage.most_cost)
    assert search.advance(1 << 20) < 2 * 48 * 48
    search.spread(np.array([48 * 48 - 1], np.int32), passage.least_cost, passage.most_cost)
    assert search.advance(1 << 20) < 2 * 48 * 48


@pytest.mark.skipif(len(FORMS) < 2, reason="kernels are not built")
@pytest.mark.parametrize("most", [1, 7, 1000])
def test_both_forms_do_the_same_where_a_few_cells_are_very_dear(most):
    passage, goals, stories = dear_cells(12, 1e5), np.array([5, 143], np.int32), []
    for make in forms_of("bucket_search"):
        search = make(passage.open_moves, passage.costs, passage.moves)
        search.spread(goals, passage.least_cost, passage.most_cost)
        slices, costs, following = [], np.empty(144), np.empty(144, np.int32)
        while not search.is_done:
            slices.append(search.advance(most))
        search.flow(costs, following)
        found = story(make, passage, 60, goals, most)
        stories.append((found, slices, costs.tolist(), following.tolist()))
    assert stories[0] == stories[1]


def test_nothing_is_done_after_the_end():
    passage_costs = np.ones((2, 2), np.float32)
    moves = moves_for(4)
    for make in forms_of("bucket_search"):
        search = make(moves.open_from(np.isfinite(passage_costs), "closed"), passage_costs, moves)
        assert search.is_done
        search.begin(0, np.array([3], np.int32), 1.0, 1.0)
        assert 2 <= search.advance(100) <= 3  # the goal itself is not expanded
        assert search.is_done
        assert search.advance(100) == 0
        assert search.cost_to(3) == 2


def test_the_kernel_refuses_what_it_would_read_wrongly():
    if "compiled" not in FORMS:
        pytest.skip("kernels are not built")
    make, moves = forms_of("bucket_search")[1], moves_for(8)
    costs = np.ones((2, 3), np.float32)
    with pytest.raises(TypeError, match="costs must be"):
        make(np.zeros((2, 3), np.uint8), costs.astype(np.float64), moves)
    with pytest.raises(TypeError, match="open_moves must be"):
        make(np.zeros((2, 3), np.int32), costs, moves)
    with pytest.raises(ValueError, match="same shape"):
        make(np.zeros((3, 2), np.uint8), costs, moves)
    search = make(np.zeros((2, 3), np.uint8), costs, moves)
    for start, goal in ((-1, 0), (6, 0), (0, -1), (0, 6)):
        with pytest.raises(IndexError):
            search.begin(start, np.array([goal], np.int32), 1.0, 1.0)
