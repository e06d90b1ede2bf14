"""Snapping: the cell that can be walked nearest to a place."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.maps import Grid, nearest_free

EIGHTHS = st.integers(-24, 80).map(lambda number: number / 8)


def plainly(grid, place, within, steps):
    """A loop over all cells; of those as near but for a rounding the smallest."""
    found, least = None, within * (1 + 1e-6)
    for cell in range(grid.shape[0] * grid.shape[1]):
        row, column = grid.place(cell)
        shift = 0.5 * (row % 2) if grid.neighbors == 6 else 0.0
        middle = [(column + shift) * steps[0][axis] + row * steps[1][axis] for axis in range(2)]
        apart = math.dist(middle, place)
        if grid.passage().is_free(cell) and (apart <= least if found is None else apart < least - 1e-9):
            found, least = cell, apart
    return found, least


@given(
    st.integers(1, 7), st.integers(1, 7), st.sampled_from([4, 8, 6]), st.tuples(EIGHTHS, EIGHTHS),
    st.sampled_from([0.0, 0.5, 1.0, 2.5, 20.0]), st.sampled_from([None, ((0, 16), (8, 0)), ((2, 1), (-2, 1))]),
    st.data())
def test_it_is_the_one_that_a_loop_over_all_cells_finds(height, width, neighbors, place, within, steps, data):
    cells = data.draw(st.lists(st.booleans(), min_size=width * height, max_size=width * height))
    grid = Grid(np.reshape(cells, (height, width)), neighbors=neighbors)
    used = steps or ((0, 1), (math.sqrt(0.75) if neighbors == 6 else 1, 0))
    cell, apart = plainly(grid, place, within, used)
    found = nearest_free(grid.passage(), place, within, steps=steps)
    if found != cell:          # as near but for a rounding
        assert found is not None
        assert cell is not None
        row, column = grid.place(found)
        shift = 0.5 * (row % 2) if neighbors == 6 else 0.0
        middle = np.array([column + shift, row]) @ np.array(used)
        assert math.dist(middle, place) == pytest.approx(apart)


def test_position_in_a_wall_or_off_map_goes_to_nearest_free_cell():
    passage = Grid([[True, False, True], [True, False, False]]).passage()
    assert nearest_free(passage, (1.0, 1.0), 1.0) == 3
    assert nearest_free(passage, (0.0, 1.0), 1.0) == 0       # as near as cell 2: the smallest
    assert nearest_free(passage, (-4.0, 2.0), 4.0) == 2
    assert nearest_free(passage, (-4.0, 2.0), 3.9) is None
    assert nearest_free(Grid([[False]]).passage(), (0.0, 0.0), 9.0) is None


@pytest.mark.parametrize(("place", "within", "says"), [
    ((0.0, math.nan), 1.0, "place must be 2 finite numbers"),
    ((0.0,), 1.0, "place must be 2 finite numbers"),
    ((0.0, 0.0), -1.0, "within must be at least 0"),
    ((0.0, 0.0), math.inf, "within must be a finite number"),
])
def test_what_is_no_place_is_refused(place, within, says):
    with pytest.raises(ValueError, match=says):
        nearest_free(Grid([[True]]).passage(), place, within)
