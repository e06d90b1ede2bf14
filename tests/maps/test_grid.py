"""Grids: cells, costs, movers, teams, and what changes in them."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.errors import UnknownNameError
from ai_core.maps.cell_moves import ODD_ROW
from ai_core.maps.grid import MOST_CELLS, Grid
from ai_core.maps.passage import CHANGES_KEPT, GridPassage

INF = np.inf


def reachable_in_one(grid, row, column, **whose):
    """Cells that moves lead to from a cell, as (row, column)."""
    passage = grid.passage(**whose)
    bits = int(passage.open_moves[row, column])
    goes = passage.moves.odd if passage.moves.is_hexagonal and bits & ODD_ROW else passage.moves.even
    return [(row + down, column + right) for move, (down, right) in enumerate(goes) if bits >> move & 1]


def test_cells_are_numbered_by_row_then_column():
    grid = Grid(np.ones((3, 4)))
    assert grid.cell(1, 2) == 6
    assert grid.place(6) == (1, 2)


def test_closed_corner_is_not_cut_and_half_open_with_a_free_side():
    cells = [[True, False], [True, True]]
    blocked_both = [[True, False], [False, True]]
    leads = {
        corners: [(1, 1) in reachable_in_one(Grid(which, corners=corners), 0, 0) for which in (cells, blocked_both)]
        for corners in ("closed", "half_open", "open")
    }
    assert leads == {"closed": [False, False], "half_open": [True, False], "open": [True, True]}


def test_four_neighbors_have_no_diagonals():
    assert reachable_in_one(Grid(np.ones((3, 3)), neighbors=4), 1, 1) == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_odd_hexagon_rows_are_shifted_half_a_cell_to_the_right():
    grid = Grid(np.ones((3, 3)), neighbors=6)
    assert reachable_in_one(grid, 0, 1) == [(0, 0), (0, 2), (1, 0), (1, 1)]
    assert reachable_in_one(grid, 1, 1) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 1), (2, 2)]


def test_movers_have_own_costs_and_teams_have_closed_cells():
    grid = Grid([[1, 1, 1]])
    grid.add_mover("boat", [[INF, 2, 2]])
    grid.add_team("red", [[False, True, False]])
    assert grid.passage("boat").costs.tolist() == [[INF, 2, 2]]
    assert grid.passage(team="red").costs.tolist() == [[1, INF, 1]]
    assert grid.passage("boat", "red").costs.tolist() == [[INF, INF, 2]]
    assert reachable_in_one(grid, 0, 0, team="red") == []


def test_a_change_reaches_every_passage_it_concerns_and_no_other():
    grid = Grid([[1, 1, 1]])
    grid.add_mover("boat", [[2, 2, 2]])
    grid.add_team("red", [[False, False, False]])
    all_passages = plain, boat, red = grid.passage(), grid.passage("boat"), grid.passage(team="red")
    grid.set_cells([1], INF)
    assert [one.version for one in all_passages] == [1, 0, 1]
    grid.set_closed([2], True, team="red")
    assert [one.version for one in all_passages] == [1, 0, 2]
    assert red.costs.tolist() == [[1, INF, INF]]
    assert plain.changed_since(0).tolist() == [1]
    assert boat.changed_since(0).tolist() == []


def test_what_does_not_differ_is_no_change():
    grid = Grid([[1, 2]])
    passage = grid.passage()
    grid.set_cells([0, 1], [1, 2])
    assert passage.version == 0


def test_a_passage_forgets_changes_that_are_long_past():
    grid = Grid([[1.0, 1.0]])
    passage = grid.passage()
    for number in range(CHANGES_KEPT + 1):
        grid.set_cells([0], number + 2)
    assert passage.changed_since(0) is None
    assert passage.changed_since(1).tolist() == [0]


@given(st.data())
def test_changed_passage_equals_one_made_of_the_changed_cells(data):
    height, width = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    cost = st.sampled_from([1.0, 1.0, 2.0, 5.0, INF])
    cells = np.array(data.draw(st.lists(cost, min_size=height * width, max_size=height * width)))
    neighbors = data.draw(st.sampled_from([4, 6, 8]))
    corners = data.draw(st.sampled_from(["closed", "half_open", "open"]))
    grid = Grid(cells.reshape(height, width), neighbors=neighbors, corners=corners)
    passage = grid.passage()
    for _ in range(data.draw(st.integers(1, 3))):
        some = data.draw(st.lists(st.integers(0, cells.size - 1), min_size=1, max_size=4))
        cells[some] = data.draw(cost)
        grid.set_cells(some, cells[some])
    expected = GridPassage(cells.reshape(height, width).astype(np.float32), passage.moves, corners)
    np.testing.assert_array_equal(passage.costs, expected.costs)
    np.testing.assert_array_equal(passage.open_moves, expected.open_moves)
    assert (passage.least_cost, passage.most_cost) == (expected.least_cost, expected.most_cost)


@pytest.mark.parametrize(
    ("cells", "error", "says"),
    [
        ([[1, 0]], ValueError, "costs in cells must be 0.001 to 1000000, or inf for a wall, got 0"),
        ([[1, np.nan]], ValueError, "got nan"),
        ([[1, -2.0]], ValueError, "got -2"),
        ([[1, -INF]], ValueError, "got -inf"),
        ([["a"]], TypeError, "cells must be bool or numbers"),
        ([[1, 2], [1]], ValueError, r"cells must have rows of equal length, got \[\[1, 2\], \[1\]\]"),
        ([1, 2], ValueError, r"cells must have shape \(height, width\), got \(2,\)"),
        (np.ones((0, 3)), ValueError, r"got \(0, 3\)"),
        (np.broadcast_to(True, (1 << 13, 1 << 12)), ValueError, f"at most {MOST_CELLS}, got 33554432; use larger"),
    ],
)
def test_cells_that_are_none_are_refused(cells, error, says):
    with pytest.raises(error, match=says):
        Grid(cells)


def test_a_wrong_change_changes_nothing():
    grid = Grid([[1, 1]])
    passage = grid.passage()
    with pytest.raises(ValueError, match="values must be one, or one per cell"):
        grid.set_cells([0, 1], [2, 2, 2])
    with pytest.raises(ValueError, match="cells must be 0 to 1"):
        grid.set_cells([0, 2], 2)
    with pytest.raises(ValueError, match="costs in values must be"):
        grid.set_cells([0, 1], 0)
    with pytest.raises(TypeError, match=r"cells must be integers of shape \(n,\)"):
        grid.set_cells([0.5], 2)
    with pytest.raises(UnknownNameError, match="unknown mover 'boat'"):
        grid.set_cells([0], 2, mover="boat")
    with pytest.raises(UnknownNameError, match="unknown team 'red'"):
        grid.set_closed([0], True, team="red")
    assert passage.version == 0
    assert passage.costs.tolist() == [[1, 1]]


def test_names_of_movers_and_teams_are_checked():
    grid = Grid([[1, 1]])
    grid.add_mover("tank", [[1, 1]])
    with pytest.raises(ValueError, match="mover 'tank' already exists"):
        grid.add_mover("tank", [[1, 1]])
    with pytest.raises(TypeError, match="name of a team must be a non-empty string"):
        grid.add_team("", [[True, False]])
    with pytest.raises(ValueError, match="is_closed must have shape"):
        grid.add_team("red", [[True]])
    with pytest.raises(UnknownNameError, match="did you mean 'tank'"):
        grid.passage("tanks")


def test_the_kind_of_grid_is_checked():
    with pytest.raises(ValueError, match="neighbors must be 4, 6"):
        Grid([[1]], neighbors=5)
    with pytest.raises(ValueError, match="corners must be one of closed, half_open, open"):
        Grid([[1]], corners="never")
    with pytest.raises(ValueError, match="row must be"):
        Grid([[1]]).cell(1, 0)
