"""Who can reach whom: always what a flood fill says, however walls come and go."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths.regions.reachability import Reachability
from tests.paths.levels import grids, plain_costs


def known(reachability, steps=None):
    while not reachability.is_done:
        reachability.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
    return reachability


def assert_equals_a_flood_fill(reachability, passage):
    for start in range(passage.costs.size):
        reached = plain_costs(passage, start) if passage.is_free(start) else ()
        told = [goal for goal in range(passage.costs.size) if reachability.are_connected(start, goal)]
        assert told == sorted(reached)


changes = st.lists(st.lists(st.tuples(st.integers(0, 63), st.booleans()), min_size=1, max_size=3), max_size=5)


@given(grid=grids(), steps=st.integers(1, 20), changes=changes)
def test_it_equals_a_flood_fill_also_after_walls_come_and_go(grid, steps, changes):
    passage = grid.passage()
    reachability = known(Reachability(passage), steps)
    assert_equals_a_flood_fill(reachability, passage)
    for some in changes:
        cells = [cell % passage.costs.size for cell, _ in some]
        grid.set_cells(cells, [3.0 if is_free else math.inf for _, is_free in some])
        assert_equals_a_flood_fill(known(reachability), passage)


def test_a_wall_splits_is_opened_and_moved():
    cells = np.ones((20, 21), bool)
    cells[:, 10] = False
    cells[7, 10] = True
    grid = Grid(cells)
    reachability = known(Reachability(grid.passage()))
    left, right, door = grid.cell(3, 3), grid.cell(18, 18), grid.cell(7, 10)
    assert reachability.are_connected(left, right)
    grid.set_cells([door], False)
    assert not known(reachability).are_connected(left, right)
    grid.set_cells([door, grid.cell(15, 10)], [False, True])
    assert known(reachability).are_connected(left, right)
    grid.set_cells([grid.cell(15, 10)], False)
    assert not known(reachability).are_connected(left, right)
    assert not reachability.are_connected(left, door)


def test_a_wall_in_the_open_is_one_step_however_large_the_level():
    grid = Grid(np.ones((120, 120)))
    reachability = known(Reachability(grid.passage()))
    grid.set_cells([grid.cell(60, 60)], math.inf)
    reachability.advance(Budget.of_steps(1))
    assert reachability.is_done
    assert reachability.are_connected(0, 120 * 120 - 1)


def test_misuse_is_told():
    passage = Grid([[1, 1]]).passage()
    with pytest.raises(TypeError, match="passage must be a GridPassage"):
        Reachability(None)
    reachability = Reachability(passage)
    with pytest.raises(RuntimeError, match="it is not done"):
        reachability.are_connected(0, 1)
    with pytest.raises(RuntimeError, match="it is not done"):
        _ = reachability.result
    known(reachability)
    with pytest.raises(ValueError, match="goal must be at most 1, got 2"):
        reachability.are_connected(0, 2)
    with pytest.raises(TypeError, match="start must be an integer"):
        reachability.are_connected(0.5, 1)
    other = Reachability(passage)
    other.cancel()
    with pytest.raises(RuntimeError, match="was cancelled"):
        other.advance(Budget.unlimited())


def test_changes_do_not_fill_the_memory():
    grid = Grid(np.ones((10, 10)), neighbors=4)
    grid.set_cells([grid.cell(5, column) for column in range(10)], np.inf)
    found, door = Reachability(grid.passage()), grid.cell(5, 5)
    for number in range(2000):
        grid.set_cells([door], np.inf if number % 2 else 1.0)
        found.advance(Budget.unlimited())
        assert found.are_connected(0, 99) == (number % 2 == 0)
    assert len(found._parents) < 200
