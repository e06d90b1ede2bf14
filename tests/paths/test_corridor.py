"""A corridor keeps its way while its mover and its goal move a little."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths import AStarSearch, Corridor, Path
from ai_core.saving import StateError
from tests.paths.levels import cost_along, grids, moves_from


def way(grid, start, goal):
    search = AStarSearch(grid.passage(), start, goal)
    search.advance(Budget.unlimited())
    return search.result


@given(grid=grids(), numbers=st.tuples(st.integers(0, 63), st.integers(0, 63)),
       steps=st.lists(st.tuples(st.booleans(), st.integers(0, 7)), max_size=20))
def test_corridor_stays_open_from_mover_to_goal_after_any_step(grid, numbers, steps):
    passage = grid.passage()
    start, goal = (number % passage.costs.size for number in numbers)
    path = way(grid, start, goal)
    if not path.is_found:
        return
    corridor = Corridor(passage, path)
    for is_start, number in steps:
        end = corridor.start if is_start else corridor.goal
        around = [cell for cell, _ in moves_from(passage, end)]
        if not around:
            continue
        cell = around[number % len(around)]
        assert corridor.move_start(cell) if is_start else corridor.move_goal(cell)
        assert (corridor.start if is_start else corridor.goal) == cell
        assert cost_along(passage, corridor.cells.tolist()) == pytest.approx(corridor.cost)


def test_a_mover_that_walks_along_leaves_the_rest():
    grid = Grid(np.ones((20, 20), bool))
    corridor = Corridor(grid.passage(), way(grid, 0, 399))
    rest = corridor.cells.tolist()
    assert corridor.move_start(rest[3])
    assert corridor.cells.tolist() == rest[3:]
    assert corridor.drift == 0


def test_who_was_pushed_aside_joins_the_way_again():
    grid = Grid(np.ones((20, 20), bool))
    corridor = Corridor(grid.passage(), way(grid, grid.cell(10, 0), grid.cell(10, 19)))
    assert corridor.move_start(grid.cell(12, 3))
    assert corridor.goal == grid.cell(10, 19)
    assert len(corridor.cells) == 17  # two diagonal steps back lose nothing


def test_a_goal_that_runs_is_followed_and_the_detour_is_told():
    cells = np.ones((9, 40), bool)
    cells[4, 1:] = False
    grid = Grid(cells)
    corridor = Corridor(grid.passage(), way(grid, grid.cell(0, 39), grid.cell(3, 39)))
    for column in range(38, -1, -1):
        assert corridor.move_goal(grid.cell(3, column))
    for column in range(40):
        assert corridor.move_goal(grid.cell(5, column))
    assert corridor.is_open()
    assert corridor.drift > 0


def test_a_move_too_far_is_refused_and_nothing_changes():
    cells = np.ones((60, 60), bool)
    cells[30, :-1] = False
    grid = Grid(cells)
    corridor = Corridor(grid.passage(), way(grid, 0, 20))
    before = corridor.cells.tolist()
    assert not corridor.move_start(grid.cell(59, 0))
    assert not corridor.move_goal(grid.cell(59, 20))
    assert corridor.cells.tolist() == before


def test_it_knows_when_a_wall_went_up_in_it():
    grid = Grid(np.ones((1, 20), bool))
    corridor = Corridor(grid.passage(), way(grid, 0, 19))
    grid.set_cells([10], False)
    assert not corridor.is_open()
    assert corridor.is_open(ahead=9)


def test_it_is_pulled_straight():
    grid = Grid(np.ones((9, 20), bool))
    corridor = Corridor(grid.passage(), way(grid, 0, grid.cell(3, 19)))
    assert corridor.turns().tolist() == [0, grid.cell(3, 19)]


def test_bad_input_is_refused_at_the_call():
    grid = Grid(np.ones((3, 3), bool))
    path = way(grid, 0, 8)
    with pytest.raises(TypeError, match="passage"):
        Corridor(grid, path)
    with pytest.raises(TypeError, match="path"):
        Corridor(grid.passage(), [0, 1])
    with pytest.raises(ValueError, match="got none"):
        Corridor(grid.passage(), Path("none", np.zeros(0, np.int32), math.inf, 0))
    with pytest.raises(ValueError, match="as it is now"):
        Corridor(grid.passage(), Path("found", np.array([0, 8], np.int32), 1.0, 0))
    with pytest.raises(ValueError, match="cell"):
        Corridor(grid.passage(), path).move_start(9)


def test_corridor_is_saved_with_its_rest_even_with_a_new_wall():
    grid = Grid(np.ones((20, 20), bool))
    corridor = Corridor(grid.passage(), way(grid, grid.cell(10, 0), grid.cell(10, 19)))
    corridor.move_goal(grid.cell(12, 19))
    state = json.loads(json.dumps(corridor.save_state()))
    grid.set_cells([int(corridor.cells[5])], False)
    other = Corridor(grid.passage(), way(grid, 0, 1))
    other.prepare_state(state)()
    assert (other.cells.tolist(), other.drift) == (corridor.cells.tolist(), corridor.drift)
    assert not other.is_open()
    for spoilt in ({"cells": []}, {"cells": [400]}, {"drift": -1}, {"more": 1}):
        with pytest.raises(StateError):
            other.prepare_state({**state, **spoilt})
