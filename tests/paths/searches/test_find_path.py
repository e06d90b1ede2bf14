"""A path over an array in one call."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.maps.grid import Grid
from ai_core.paths import find_path
from tests.paths.levels import cost_along, grids, plain_costs


@given(grid=grids(), ends=st.tuples(st.integers(0, 63), st.integers(0, 63)))
def test_path_is_the_cheapest_from_start_to_goal(grid, ends):
    passage = grid.passage()
    start, goal = (end % passage.costs.size for end in ends)
    places = find_path(
        passage.costs, grid.place(start), grid.place(goal), neighbors=grid.neighbors, corners=grid.corners)
    least = plain_costs(passage, start).get(goal, math.inf)
    assert places.dtype == np.int32
    if least < math.inf:
        assert (tuple(places[0]), tuple(places[-1])) == (grid.place(start), grid.place(goal))
        cells = [grid.cell(row, column) for row, column in places.tolist()]
        assert cost_along(passage, cells) == pytest.approx(least, rel=1e-9)
    else:
        assert places.shape == (0, 2)


def test_array_grid_and_passage_have_the_same_path():
    cells = np.random.default_rng(3).random((20, 30)) > 0.15
    cells[:2, :2] = cells[18:, 28:] = True
    ends, grid = ((0, 0), np.array([19, 29])), Grid(cells)
    of_each = [find_path(one, *ends).tolist() for one in (cells, cells.tolist(), grid, grid.passage())]
    assert all(places == of_each[0] for places in of_each)
    assert len(of_each[0]) >= 30


@pytest.mark.parametrize("end", [(3,), 5, "ab", (0.5, 1), (True, 0), None])
def test_an_end_that_is_no_cell_is_refused(end):
    with pytest.raises(TypeError, match=r"start must be|row of start must be"):
        find_path(np.ones((4, 5)), end, (0, 0))


@pytest.mark.parametrize("end", [(4, 0), (0, 5), (-1, 0)])
def test_an_end_beside_the_grid_is_refused(end):
    with pytest.raises(ValueError, match="of goal must be at"):
        find_path(np.ones((4, 5)), (0, 0), end)


def test_numbers_that_are_no_costs_are_refused():
    with pytest.raises(ValueError, match="or inf for a wall, got 0"):
        find_path(np.zeros((3, 3), int), (0, 0), (1, 1))
