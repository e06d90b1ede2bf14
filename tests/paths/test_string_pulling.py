"""Ways pulled straight: shorter and still open."""
from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths import AStarSearch, line_is_open, pull_cells
from tests.paths.levels import exact_line_is_open, grids

SAMPLES = 400


def walked_cells(start, end):
    """Every cell that many points of a line lie in, those near a border in both."""
    for share in np.linspace(0, 1, SAMPLES):
        row, column = (a + share * (b - a) for a, b in zip(start, end, strict=True))
        yield {
            (math.floor(row + 0.5 + down), math.floor(column + 0.5 + right))
            for down in (-1e-7, 1e-7) for right in (-1e-7, 1e-7)
        }


@given(grid=grids(), numbers=st.tuples(st.integers(0, 63), st.integers(0, 63)))
def test_between_turns_all_is_open_and_no_path_gets_longer(grid, numbers):
    passage = grid.passage()
    start, goal = (number % passage.costs.size for number in numbers)
    search = AStarSearch(passage, start, goal)
    search.advance(Budget.unlimited())
    if passage.moves.is_hexagonal:
        with pytest.raises(ValueError, match="square grid"):
            pull_cells(passage, search.result.cells)
        return
    turns = pull_cells(passage, search.result.cells)
    if not len(turns):
        return
    assert (turns[0], turns[-1]) == (search.result.cells[0], search.result.cells[-1])
    places = [grid.place(int(cell)) for cell in turns]
    length = sum(math.dist(*pair) for pair in pairwise(places))
    walked = [grid.place(int(cell)) for cell in search.result.cells]
    if passage.is_uniform:
        assert length <= sum(math.dist(*pair) for pair in pairwise(walked)) + 1e-9
    for one, other in pairwise(places):
        for cells in walked_cells(one, other):
            free = [passage.is_free(grid.cell(*cell)) for cell in cells
                    if 0 <= cell[0] < passage.shape[0] and 0 <= cell[1] < passage.shape[1]]
            assert all(free) if passage.corners == "closed" else any(free)


PLACES = st.one_of(
    st.integers(0, 7).map(float), st.integers(-2, 15).map(lambda halves: halves / 2),      # middles; borders of cells
    st.integers(-4, 31).map(lambda quarters: quarters / 4), st.floats(-1, 8, width=32),
    st.integers(-1, 7).map(lambda cell: float(np.nextafter(np.float32(cell + 0.5), np.float32(9)))))


@settings(max_examples=300)
@given(grid=grids(), ends=st.tuples(PLACES, PLACES, PLACES, PLACES))
def test_a_line_is_open_there_and_back_alike(grid, ends):
    passage = grid.passage()
    assert line_is_open(passage, ends[:2], ends[2:]) == line_is_open(passage, ends[2:], ends[:2])


@settings(max_examples=300)
@given(grid=grids(), ends=st.tuples(*[st.integers(-4, 31)] * 4))
def test_a_line_is_open_as_exact_numbers_say(grid, ends):
    if grid.neighbors == 6:
        return
    one, other = ((ends[0] / 4, ends[1] / 4), (ends[2] / 4, ends[3] / 4))
    assert line_is_open(grid.passage(), one, other) == exact_line_is_open(grid.passage(), one, other)


def test_end_on_the_border_of_a_closed_cell_does_not_enter_it():
    passage = Grid(np.array([[False, True, True, False], [True] * 4]), corners="open").passage()
    assert line_is_open(passage, (0, 2.5), (0.5, 2))
    assert line_is_open(passage, (0.5, 2), (0, 2.5))
    assert not line_is_open(passage, (0.5, 2), (0, 2.75))


def test_a_line_through_a_corner_follows_the_rule_of_the_grid():
    for corners, beside, is_open in (
        ("closed", 0, True), ("closed", 1, False), ("half_open", 1, True), ("half_open", 2, False), ("open", 2, True),
    ):
        cells = np.ones((2, 2), bool)
        cells[0, 1], cells[1, 0] = beside < 1, beside < 2
        assert line_is_open(Grid(cells, corners=corners).passage(), (0, 0), (1, 1)) == is_open


def test_a_line_beyond_the_edge_is_shut():
    assert not line_is_open(Grid(np.ones((2, 2), bool)).passage(), (0, 0), (0, 5))


def test_dear_ground_is_gone_round_still():
    cells = np.ones((5, 9))
    cells[0:3, 4] = 30.0
    grid = Grid(cells)
    search = AStarSearch(grid.passage(), grid.cell(0, 0), grid.cell(0, 8))
    search.advance(Budget.unlimited())
    turns = [grid.place(int(cell)) for cell in pull_cells(grid.passage(), search.result.cells)]
    assert max(row for row, _ in turns) == 3


def test_bad_input_is_refused_at_the_call():
    passage = Grid(np.ones((3, 3), bool)).passage()
    for cells, why in (([0, 9], "cells of the grid"), ([0.5], "cells of the grid"), ([0, 5, 6], "open moves")):
        with pytest.raises(ValueError, match=why):
            pull_cells(passage, cells)
