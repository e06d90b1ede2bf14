"""What a way is made of, told of every kind of grid."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.paths.searches.cells_along import costs_along, moves_along, remove_loops
from tests.paths.levels import cost_along, grids, moves_from


@given(grid=grids(), cells=st.lists(st.integers(0, 63), min_size=1, max_size=8))
def test_a_step_is_a_move_if_it_is_open_and_none_else(grid, cells):
    passage = grid.passage()
    way = np.array([cell % passage.costs.size for cell in cells], np.int32)
    found = moves_along(passage, way).tolist()
    for start, end, move in zip(way[:-1].tolist(), way[1:].tolist(), found, strict=True):
        opened = dict(moves_from(passage, start))
        assert (move >= 0) == (end in opened)
        if move >= 0:
            assert passage.moves.lengths[move] * float(passage.costs.flat[end]) == opened[end]


@given(grid=grids(), start=st.integers(0, 63), turns=st.lists(st.integers(0, 7), max_size=20))
def test_walk_costs_the_sum_of_its_moves_and_loops_are_removed(grid, start, turns):
    passage = grid.passage()
    walk = [start % passage.costs.size]
    for turn in turns:
        opened = [cell for cell, _ in moves_from(passage, walk[-1])]
        if opened:
            walk.append(opened[turn % len(opened)])
    costs = costs_along(passage, np.array(walk, np.int32))
    assert costs[-1] == 0
    assert costs[0] == pytest.approx(cost_along(passage, walk))
    short = remove_loops(np.array(walk, np.int32)).tolist()
    assert (short[0], short[-1]) == (walk[0], walk[-1])
    assert len(set(short)) == len(short)
    assert cost_along(passage, short) <= costs[0] + 1e-9
