"""Flow fields: for every cell what a search from it finds, in slices, renewed where cells change."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths.flow_field import FlowField
from ai_core.paths.searches.grid_search_loops import NOWHERE
from ai_core.paths.searches.search import AStarSearch
from ai_core.paths.searches.search_memory import SearchMemory
from tests.paths.levels import cost_along, grids, plain_costs, way_from


def made(field, steps=None):
    while not field.is_current:
        field.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
    return field


@given(grid=grids(), goals=st.lists(st.integers(0, 63), min_size=1, max_size=3), steps=st.integers(1, 400))
def test_it_costs_from_every_cell_what_a_search_finds(grid, goals, steps):
    passage = grid.passage()
    goals = [goal % passage.costs.size for goal in goals]
    field = made(FlowField(passage, goals), steps)
    for cell in range(passage.costs.size):
        costs = plain_costs(passage, cell)
        best = 0.0 if cell in goals else min(costs.get(goal, math.inf) for goal in goals)
        assert field.costs.flat[cell] == pytest.approx(best, rel=1e-9)
        way = way_from(field, cell)
        assert (field.next_cells.flat[cell] == NOWHERE) == (best == math.inf)
        if best < math.inf:
            assert way[-1] in goals
            assert cost_along(passage, way) == pytest.approx(best, rel=1e-9)


def test_movers_are_told_where_to_go_in_one_call():
    grid = Grid([[True, True, False, True]])
    field = made(FlowField(grid.passage(), 0))
    assert field.next_of([1, 0, 3]).tolist() == [0, 0, 3]
    assert field.next_cells.tolist() == [[0, 0, NOWHERE, NOWHERE]]


def test_old_field_holds_after_a_change_until_the_new_is_made():
    grid = Grid(np.ones((40, 40)))
    field = made(FlowField(grid.passage(), 0))
    grid.set_cells([41], math.inf)
    assert field.is_done
    assert not field.is_current
    field.advance(Budget.of_steps(1))
    assert not field.is_current
    assert field.next_of([82]).tolist() == [41]
    made(field, 500)
    assert field.next_of([82]).tolist() != [41]
    assert field.costs[2, 2] == cost_of_search(grid.passage(), 82, 0)


def cost_of_search(passage, start, goal):
    search = AStarSearch(passage, start, goal)
    search.advance(Budget.unlimited())
    return search.result.cost


def test_cells_that_change_while_it_is_made_make_it_begin_anew():
    grid = Grid(np.ones((40, 40)))
    field = FlowField(grid.passage(), 0)
    field.advance(Budget.of_steps(1))
    grid.set_cells([1599], math.inf)
    made(field)
    assert field.costs[39, 39] == math.inf


def test_misuse_is_told():
    passage = Grid([[1, 1]]).passage()
    with pytest.raises(TypeError, match="goals must be cells, got a function"):
        FlowField(passage, lambda cell: True)
    with pytest.raises(ValueError, match="goals must be 0 to 1, got 2"):
        FlowField(passage, 2)
    with pytest.raises(TypeError, match="passage must be a GridPassage"):
        FlowField(None, 0)
    field = FlowField(passage, 0)
    with pytest.raises(RuntimeError, match="is not done"):
        field.next_of([0])
    field.cancel()
    with pytest.raises(RuntimeError, match="was cancelled"):
        field.advance(Budget.unlimited())
    with pytest.raises(TypeError, match="cells must be integers of shape"):
        made(FlowField(passage, 0)).next_of([0.5])


def test_a_crowd_of_nobody_goes_nowhere():
    field = made(FlowField(Grid([[1, 1]]).passage(), 0))
    assert field.next_of([]).tolist() == field.costs_of([]).tolist() == []


def test_field_ends_although_cells_change_after_every_slice():
    grid = Grid(np.ones((30, 30)))
    field, door = FlowField(grid.passage(), 0), grid.cell(29, 29)
    for number in range(200):
        grid.set_cells([door], 1.0 if number % 2 else math.inf)
        field.advance(Budget.of_steps(20))
    assert field.is_done
    made = field.version
    for number in range(200):
        grid.set_cells([door], 1.0 if number % 2 else math.inf)
        field.advance(Budget.of_steps(20))
    assert field.version > made
    field.advance(Budget.unlimited())
    while not field.is_current:
        field.advance(Budget.unlimited())
    plain = FlowField(grid.passage(), 0)
    plain.advance(Budget.unlimited())
    assert np.array_equal(field.costs, plain.costs)
    assert np.array_equal(field.next_cells, plain.next_cells)


def test_cancelled_while_computed_again_it_leaves_its_memory():
    grid = Grid(np.ones((30, 30)))
    memory = SearchMemory(grid.passage())
    field = FlowField(grid.passage(), 0, memory=memory)
    field.advance(Budget.unlimited())
    grid.set_cells([5], math.inf)
    field.advance(Budget.of_steps(1))
    field.cancel()
    assert memory.holder is None
    assert field.costs[0, 1] == 1
