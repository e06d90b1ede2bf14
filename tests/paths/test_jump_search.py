"""Searches that jump: both forms do the same, step by step, and refuse what is not on the grid."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.maps.grid import Grid
from tests.paths.conftest import FORMS, forms_of
from tests.paths.test_jump_distances import free_cells, jumps_of


@given(free_cells, st.integers(0, 80), st.integers(0, 80), st.integers(1, 5))
def test_both_forms_do_the_same_in_every_slice(cells, start, goal, most):
    passage = Grid(cells).passage()
    start, goal = start % passage.costs.size, goal % passage.costs.size
    jumps = jumps_of(passage, forms_of("fill_lines")[0])
    stories = []
    for make in forms_of("jump_search"):
        search = make(passage.open_moves, jumps)
        for begin_at in (goal, start):  # the second in the memory of the first
            search.begin(begin_at, goal)
            slices = []
            while not search.is_done:
                slices.append(search.advance(most))
        way = search.path_to(goal) if search.reached == goal else b""
        stories.append((slices, search.reached, search.cost_to(goal), way))
    assert all(story == stories[0] for story in stories)


def test_the_kernel_refuses_cells_that_are_not_there():
    if "compiled" not in FORMS:
        pytest.skip("kernels are not built")
    search = forms_of("jump_search")[1](np.zeros((2, 3), np.uint8), np.zeros((2, 3, 8), np.int16))
    for start, goal in ((-1, 0), (6, 0), (0, -1), (0, 6)):
        with pytest.raises(IndexError, match="a cell is not on the grid"):
            search.begin(start, goal)
    assert search.cost_to(99) == float("inf")
    with pytest.raises(ValueError, match="there is no way to that cell"):
        search.path_to(5)
