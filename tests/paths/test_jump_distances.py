"""Jumps: both forms write the same, and mending equals writing anew."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.maps.cell_moves import SQUARE_8
from ai_core.maps.grid import Grid
from ai_core.paths.searches.jump_distances import DIAGONAL, STRAIGHT
from tests.paths.conftest import FORMS, forms_of

free_cells = st.integers(1, 9).flatmap(
    lambda width: st.lists(st.lists(st.sampled_from([True, True, False]), min_size=width, max_size=width),
                           min_size=1, max_size=9)
)


def jumps_of(passage, fill):
    jumps = np.full((*passage.shape, 8), 99, np.int16)
    for move in (*STRAIGHT, *DIAGONAL):
        fill(passage.open_moves, jumps, move, 0, passage.shape[0] if SQUARE_8[move][0] else passage.shape[1])
    return jumps


def plain_jump(passage, row, column, move):
    """How far one may jump, told step by step from what a jump point is."""
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
    for fill in forms_of("fill_lines"):
        jumps = jumps_of(passage, fill)
        for row, column in zip(*np.nonzero(np.isfinite(passage.costs)), strict=True):
            told = [plain_jump(passage, row, column, move) for move in range(8)]
            assert jumps[row, column].tolist() == told


@given(free_cells, st.lists(st.tuples(st.integers(0, 80), st.booleans()), min_size=1, max_size=6))
def test_mending_equals_writing_anew(cells, changes):
    grid = Grid(cells)
    passage = grid.passage()
    forms = list(zip(forms_of("fill_lines"), forms_of("repair_jumps"), strict=True))
    mended = [jumps_of(passage, fill) for fill, _ in forms]
    for cell, is_free in changes:
        before = passage.version
        grid.set_cells([cell % passage.costs.size], is_free)
        changed = passage.changed_since(before)
        for (fill, mend), jumps in zip(forms, mended, strict=True):
            mend(passage.open_moves, jumps, changed)
            np.testing.assert_array_equal(jumps, jumps_of(passage, fill))


def test_the_kernel_refuses_what_it_would_read_wrongly():
    if "compiled" not in FORMS:
        pytest.skip("kernels are not built")
    fill, mend = forms_of("fill_lines")[1], forms_of("repair_jumps")[1]
    opened, jumps = np.zeros((2, 3), np.uint8), np.zeros((2, 3, 8), np.int16)
    with pytest.raises(TypeError, match="jumps must be"):
        fill(opened, jumps.astype(np.int32), 0, 0, 1)
    with pytest.raises(TypeError, match="open_moves must be"):
        fill(opened.astype(np.int32), jumps, 0, 0, 1)
    with pytest.raises(ValueError, match="of the shape of open_moves"):
        fill(np.zeros((3, 2), np.uint8), jumps, 0, 0, 1)
    with pytest.raises(ValueError, match="move must be 0 to 7"):
        fill(opened, jumps, 8, 0, 1)
    with pytest.raises(IndexError, match="a line is not on the grid"):
        fill(opened, jumps, 0, 0, 3)
    with pytest.raises(IndexError, match="a cell is not on the grid"):
        mend(opened, jumps, np.array([6]))
