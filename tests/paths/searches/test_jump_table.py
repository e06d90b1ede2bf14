"""JPS+: built in slices, mended where cells change, with the costs of plain searches."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ai_core.paths.searches.jump_table as jump_table
from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths.searches.jump_table import JumpTable
from ai_core.paths.searches.search import AStarSearch
from ai_core.paths.searches.search_memory import SearchMemory
from tests.paths.levels import cost_along, plain_costs
from tests.paths.searches.test_jump_loops import free_cells


@pytest.fixture
def always_jumping(monkeypatch):
    """Small levels have short jumps, which searches would leave aside."""
    monkeypatch.setattr(jump_table, "WORTHWHILE_CELLS", 0.0)


def built(passage, steps=None):
    table = JumpTable(passage)
    while not table.is_done:
        table.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
    return table


def way(passage, start, goal, memory, steps=None):
    search = AStarSearch(passage, start, goal, memory=memory)
    while not search.is_done:
        search.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
    return search.result


@given(
    cells=free_cells, ends=st.tuples(st.integers(0, 80), st.integers(0, 80)), steps=st.integers(1, 4),
    changes=st.lists(st.tuples(st.integers(0, 80), st.booleans()), max_size=4), cost=st.sampled_from([1.0, 2.5]),
)
@pytest.mark.usefixtures("always_jumping")
def test_jumping_finds_the_same_costs_as_walking_after_changes(cells, ends, steps, changes, cost):
    costs = np.where(cells, cost, math.inf)
    grid = Grid(costs)
    passage = grid.passage()
    table = built(passage, steps)
    memory = SearchMemory(passage, table)
    start, goal = (end % costs.size for end in ends)
    for cell, is_free in [*changes, (0, bool(cells[0][0]))]:
        grid.set_cells([cell % costs.size], cost if is_free else math.inf)
        if not JumpTable.suits(passage):
            return
        while not table.is_done:
            table.advance(Budget.of_steps(steps))
        path = way(passage, start, goal, memory, steps)
        expected = plain_costs(passage, start).get(goal, math.inf)
        assert (path.cost if path.is_found else math.inf) == pytest.approx(expected, rel=1e-12)
        if path.is_found:
            assert cost_along(passage, path.cells.tolist()) == pytest.approx(path.cost, rel=1e-12)
        else:
            assert path.cells.tolist() == way(passage, start, goal, SearchMemory(passage)).cells.tolist()


def test_jumps_take_far_fewer_cells_than_walking_on_open_ground():
    cells = np.ones((80, 80), bool)
    cells[20:60, 40] = False
    passage = Grid(cells).passage()
    jumped = way(passage, 40 * 80 + 5, 40 * 80 + 75, SearchMemory(passage, built(passage)))
    walked = way(passage, 40 * 80 + 5, 40 * 80 + 75, SearchMemory(passage))
    assert jumped.cost == pytest.approx(walked.cost)
    assert jumped.expanded * 50 < walked.expanded


def test_a_table_that_is_behind_is_not_used():
    grid = Grid(np.ones((60, 60)))
    passage = grid.passage()
    table = built(passage)
    assert table.is_worthwhile
    grid.set_cells([1], math.inf)
    assert not table.is_done
    assert not table.is_worthwhile
    path = way(passage, 0, 2, SearchMemory(passage, table))
    assert path.cost == pytest.approx(4)
    table.advance(Budget.of_steps(1))  # mending is one step
    assert table.is_done


def test_on_noise_jumps_are_not_worth_it():
    cells = np.random.default_rng(1).random((100, 100)) > 0.35
    assert not built(Grid(cells).passage()).is_worthwhile
    cells = np.ones((100, 100), bool)
    cells[::10, 5:] = False
    assert built(Grid(cells).passage()).is_worthwhile


def test_many_changes_at_once_build_it_anew():
    grid = Grid(np.ones((40, 40)))
    table = built(grid.passage())
    grid.set_cells(np.arange(0, 1600, 2), math.inf)
    table.advance(Budget.of_steps(1))
    assert 0 < table.progress < 1


def test_a_ground_without_jumps_is_refused():
    for grid in (
        Grid([[1, 2]]), Grid([[1, 1]], neighbors=4), Grid([[1, 1]], corners="open"), Grid(np.ones((1, 40_000))),
    ):
        assert not JumpTable.suits(grid.passage())
        with pytest.raises(ValueError, match="passage must have 8 neighbors, closed corners, one cost"):
            JumpTable(grid.passage())
    with pytest.raises(TypeError, match="passage must be a GridPassage"):
        JumpTable(Grid([[1]]))


def test_ground_that_gets_costs_says_so():
    grid = Grid([[1, 1]])
    table = built(grid.passage())
    grid.set_cells([0], 2)
    with pytest.raises(ValueError, match="a changed cell has another cost"):
        table.advance(Budget.unlimited())


def test_a_cancelled_table_says_so_and_memory_takes_only_its_own():
    passage = Grid([[1, 1]]).passage()
    table = JumpTable(passage)
    with pytest.raises(RuntimeError, match="JumpTable has no result: it is not done"):
        _ = table.result
    table.cancel()
    with pytest.raises(RuntimeError, match="JumpTable was cancelled"):
        table.advance(Budget.unlimited())
    with pytest.raises(ValueError, match="those of another"):
        SearchMemory(Grid([[1, 1]]).passage(), table)
    with pytest.raises(TypeError, match="jumps must be a JumpTable or None"):
        SearchMemory(passage, 3)
