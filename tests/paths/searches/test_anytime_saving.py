"""Anytime searches are saved with the way they have, and go on from it."""
from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths import AnytimeSearch, AStarSearch, SearchMemory
from ai_core.saving import StateError
from tests.paths.levels import grids


def through_json(state):
    return json.loads(json.dumps(state))


def finished(search):
    while not search.is_done:
        search.advance(Budget.of_steps(7))
    return search.result


@given(grid=grids(), numbers=st.lists(st.integers(0, 63), min_size=2, max_size=4), steps=st.integers(0, 60),
       walked=st.booleans())
def test_a_loaded_search_ends_with_a_way_of_the_same_cost(grid, numbers, steps, walked):
    passage = grid.passage()
    start, *goals = (number % passage.costs.size for number in numbers)
    search = AnytimeSearch(passage, start, goals)
    for _ in range(steps):
        search.advance(Budget.of_steps(1))
    if walked and search.best is not None and len(search.best.cells) > 1:
        search.move_start(int(search.best.cells[1]))
    state = through_json(search.save_state())
    other = AnytimeSearch(passage, 0, 0)
    other.prepare_state(state)()
    assert other.save_state() == state
    assert (other.is_done, other.start) == (search.is_done, search.start)
    if search.best is not None:
        assert other.best.cells.tolist() == search.best.cells.tolist()
        assert other.best.cost == pytest.approx(search.best.cost)
    ours, theirs = finished(search), finished(other)
    assert (theirs.state, theirs.cost) == (ours.state, pytest.approx(ours.cost))


def test_where_a_wall_has_come_it_begins_anew():
    grid = Grid(np.ones((3, 9)))
    search = AnytimeSearch(grid.passage(), grid.cell(1, 0), grid.cell(1, 8))
    finished(search)
    state = search.save_state()
    grid.set_cells([grid.cell(1, 4)], False)
    other = AnytimeSearch(grid.passage(), 0, 0)
    other.prepare_state(state)()
    assert (other.is_done, other.best) == (False, None)
    assert grid.cell(1, 4) not in finished(other).cells


def test_a_cancelled_one_stays_so_and_leaves_its_memory():
    passage = Grid(np.ones((9, 9))).passage()
    search = AnytimeSearch(passage, 0, 80)
    search.cancel()
    memory = SearchMemory(passage)
    other = AnytimeSearch(passage, 0, 0, memory=memory)
    other.prepare_state(through_json(search.save_state()))()
    assert other.is_cancelled
    assert AStarSearch(passage, 0, 8, memory=memory)


def test_a_save_that_cannot_be_right_is_refused():
    passage = Grid(np.ones((9, 9))).passage()
    memory = SearchMemory(passage)
    search = AnytimeSearch(passage, 0, 80, memory=memory)
    finished(search)
    state = through_json(search.save_state())
    for spoilt, message in (
        ({"goals": []}, "'goals' must be at least one cell"),
        ({"best": {"state": "found", "cells": [99], "bound": 1}}, r"'best.cells\[0\]' must be at most 80"),
        ({"best": {"state": "found", "cells": [], "bound": 1}}, "'best': cells must be empty for 'none' and only then"),
    ):
        with pytest.raises(StateError, match=message):
            search.prepare_state({**state, **spoilt})
        assert search.save_state() == state
    in_use = AStarSearch(passage, 0, 8, memory=memory)
    with pytest.raises(StateError, match="in use by another search"):
        search.prepare_state(state)
    in_use.cancel()
    search.prepare_state(state)()
    assert search.save_state() == state


def test_bound_of_a_search_ended_by_another_is_kept():
    passage = Grid(np.ones((9, 9))).passage()
    search, other = AnytimeSearch(passage, 0, 80), AnytimeSearch(passage, 0, 80)
    finished(search)
    search._end(1.5)
    other.prepare_state(through_json(search.save_state()))()
    assert (other.bound, other.result.cost) == (1.5, search.result.cost)
