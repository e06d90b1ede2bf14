"""Jump points: distances by the definition, repaired as if computed again, and searches with the least costs."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.maps.cell_moves import SQUARE_8
from ai_core.maps.grid import Grid
from ai_core.paths.searches.jump_loops import JumpDistances, JumpSearch
from tests.paths.levels import cost_along, plain_costs

free_cells = st.integers(1, 9).flatmap(
    lambda width: st.lists(st.lists(st.sampled_from([True, True, False]), min_size=width, max_size=width),
                           min_size=1, max_size=9)
)


def filled(passage):
    """The jumps of a passage, and what wrote them."""
    jumps = np.full((*passage.shape, 8), 99, np.int16)
    distances = JumpDistances(passage.open_moves, jumps)
    for move in (1, 3, 4, 6, 0, 2, 5, 7):
        distances.fill_lines(move, 0, passage.shape[0] if SQUARE_8[move][0] else passage.shape[1])
    return jumps, distances


def plain_jump(passage, row, column, move):
    """The jump from a cell, step by step from the definition of a jump point."""
    down, right = SQUARE_8[move]
    free = np.isfinite(np.pad(passage.costs, 1, constant_values=np.inf))[1:, 1:]  # -1 is the border too

    def is_stop(at_row, at_column, along_down, along_right):
        for side in (1, -1):
            side_down, side_right = side * along_right, side * along_down
            was_shut = not free[at_row - along_down + side_down, at_column - along_right + side_right]
            if was_shut and free[at_row + side_down, at_column + side_right]:
                return True
        return False

    count = 0
    while passage.open_moves[row, column] >> move & 1:
        row, column, count = row + down, column + right, count + 1
        if down and right:
            if plain_jump(passage, row, column, SQUARE_8.index((down, 0))) > 0:
                return count
            if plain_jump(passage, row, column, SQUARE_8.index((0, right))) > 0:
                return count
        elif is_stop(row, column, down, right):
            return count
    return -count


@given(free_cells)
def test_jumps_end_at_jump_points_or_walls(cells):
    passage = Grid(cells).passage()
    jumps = filled(passage)[0]
    for row, column in zip(*np.nonzero(np.isfinite(passage.costs)), strict=True):
        assert jumps[row, column].tolist() == [plain_jump(passage, row, column, move) for move in range(8)]


@given(free_cells, st.lists(
    st.tuples(st.lists(st.integers(0, 80), min_size=1, max_size=4), st.booleans()), min_size=1, max_size=6))
def test_repaired_jumps_equal_jumps_computed_again(cells, changes):
    grid = Grid(cells)
    passage = grid.passage()
    jumps, distances = filled(passage)
    for changed, is_free in changes:
        before = passage.version
        grid.set_cells(sorted({cell % passage.costs.size for cell in changed}), is_free)
        distances.repair(passage.changed_since(before))
        np.testing.assert_array_equal(jumps, filled(passage)[0])


@given(free_cells, st.integers(0, 80), st.integers(0, 80), st.integers(1, 5))
def test_search_finds_a_cheapest_path_in_any_slices(cells, start, goal, most):
    passage = Grid(cells).passage()
    start, goal = start % passage.costs.size, goal % passage.costs.size
    search, once = (JumpSearch(passage.open_moves, filled(passage)[0]) for _ in range(2))
    expanded = 0
    for begin_at in (goal, start):  # the second in the memory of the first
        search.begin(begin_at, goal)
        expanded = 0
        while not search.is_done:
            expanded += (count := search.advance(most))
            assert count <= most
    once.begin(start, goal)
    assert (once.advance(1 << 30), once.reached, once.cost_to(goal)) == (expanded, search.reached, search.cost_to(goal))
    least = plain_costs(passage, start).get(goal, math.inf)
    assert search.cost_to(goal) == pytest.approx(least, rel=1e-12)
    assert search.reached == (goal if least < math.inf else -1)
    if search.reached == goal:
        path = search.path_to(goal)
        assert path.dtype == np.int32
        assert (path[0], path[-1]) == (start, goal)
        assert cost_along(passage, path.tolist()) == pytest.approx(least, rel=1e-12)
        assert path.tolist() == once.path_to(goal).tolist()


def test_heap_grows_within_one_slice():
    free = np.ones((70, 70), bool)
    free[::2, ::2] = False
    passage, goal = Grid(free).passage(), 67 * 70 + 67
    search = JumpSearch(passage.open_moves, filled(passage)[0])
    search.begin(71, goal)
    assert search.advance(1 << 30) > 500
    assert search.reached == goal
    assert cost_along(passage, search.path_to(goal).tolist()) == pytest.approx(search.cost_to(goal))


@pytest.mark.parametrize("make", [JumpDistances, JumpSearch])
def test_arrays_of_another_kind_are_refused(make):
    opened, jumps = np.zeros((2, 3), np.uint8), np.zeros((2, 3, 8), np.int16)
    with pytest.raises(TypeError, match="jumps must be"):
        make(opened, jumps.astype(np.int32))
    with pytest.raises(TypeError, match="jumps must be"):
        make(opened, np.zeros((2, 8, 3), np.int16).transpose(0, 2, 1))
    with pytest.raises(TypeError, match="open_moves must be"):
        make(opened.astype(np.int32), jumps)
    with pytest.raises(ValueError, match="of the shape of open_moves"):
        make(np.zeros((3, 2), np.uint8), jumps)


def test_lines_and_cells_off_the_grid_are_refused():
    distances = JumpDistances(np.zeros((2, 3), np.uint8), np.zeros((2, 3, 8), np.int16))
    for move in (-1, 8):
        with pytest.raises(ValueError, match="move must be 0 to 7"):
            distances.fill_lines(move, 0, 1)
    for move, first, last in ((0, 0, 3), (0, -1, 1), (3, 0, 4)):
        with pytest.raises(IndexError, match="a line is not on the grid"):
            distances.fill_lines(move, first, last)
    for cells in ([6], [0, -1]):
        with pytest.raises(IndexError, match="a cell is not on the grid"):
            distances.repair(np.array(cells))


def test_ends_off_the_grid_are_refused():
    search = JumpSearch(np.zeros((2, 3), np.uint8), np.zeros((2, 3, 8), np.int16))
    for start, goal in ((-1, 0), (6, 0), (0, -1), (0, 6)):
        with pytest.raises(IndexError, match="a cell is not on the grid"):
            search.begin(start, goal)
    assert search.cost_to(99) == math.inf
    with pytest.raises(ValueError, match="there is no path to that cell"):
        search.path_to(5)
