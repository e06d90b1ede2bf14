"""Ways over regions: never dearer than they say, and right again where cells changed."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.loops import compiled
from ai_core.maps.grid import Grid
from ai_core.paths import AnytimeSearch, AStarSearch, RegionGraph, RegionSearch
from tests.benchmarks.paths.levels import level
from tests.paths.levels import cost_along, plain_costs

COSTS = st.sampled_from([1.0, 1.0, 1.0, 2.0, 7.5, np.inf, np.inf])
CHANGES = st.lists(st.tuples(st.integers(0, 1000), st.booleans()), max_size=4)


@st.composite
def levels(draw):
    """Square grids of up to 13 × 13 cells: several regions of 4 × 4, those at the far sides smaller."""
    height, width = draw(st.tuples(st.integers(1, 13), st.integers(1, 13)))
    cost = st.sampled_from([3.0, 3.0, np.inf]) if draw(st.booleans()) else COSTS
    cells = draw(st.lists(cost, min_size=height * width, max_size=height * width))
    neighbors, corners = draw(st.sampled_from([(4, "closed"), (8, "closed"), (8, "half_open")]))
    return Grid(np.array(cells).reshape(height, width), neighbors=neighbors, corners=corners)


def regions_of(grid, stretch=2, *, is_done=True):
    regions = RegionGraph(grid.passage(), side=4, stretch=stretch)
    if is_done:
        regions.advance(Budget.unlimited())
    return regions


def found(regions, start, goal, steps=None):
    search = RegionSearch(regions, start, goal)
    while not search.is_done:
        search.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
    return search


def told(regions):
    """All that regions know."""
    in_use = np.arange(regions.graph.partners.shape[1]) < regions.graph.counts[:, None]
    kept = [np.where(in_use, array, 0).tolist() for array in (*regions.graph[1:3], regions.cells)]
    return (regions.graph.portal_costs.tolist(), *kept, [regions.fields(i).moves.tolist() for i in range(
        len(regions.graph.counts))])


@given(grid=levels(), start=st.integers(0, 1000), goal=st.integers(0, 1000), steps=st.integers(1, 9),
       stretch=st.integers(1, 4))
def test_path_is_open_and_within_its_bound_of_a_plain_search(grid, start, goal, steps, stretch):
    passage = grid.passage()
    start, goal = start % passage.costs.size, goal % passage.costs.size
    path = found(regions_of(grid, stretch), start, goal, steps).result
    least = plain_costs(passage, start).get(goal, math.inf)
    if least < math.inf:
        assert path.is_found
        assert (path.cells[0], path.cells[-1]) == (start, goal)
        assert cost_along(passage, path.cells.tolist()) == pytest.approx(path.cost, rel=1e-9)
        assert least * (1 - 1e-9) <= path.cost <= path.bound * least * (1 + 1e-9)
        assert len(set(path.cells.tolist())) == len(path.cells)
    else:
        search = AStarSearch(passage, start, goal)
        search.advance(Budget.unlimited())
        assert (path.state, path.cells.tolist()) == (search.result.state, search.result.cells.tolist())


@given(grid=levels(), changes=CHANGES, at_once=st.booleans(), steps=st.integers(1, 3), is_begun=st.booleans())
def test_mended_regions_know_the_same_as_new_ones(grid, changes, at_once, steps, is_begun):
    regions, was_uniform = regions_of(grid, is_done=not is_begun), grid.passage().is_uniform
    if is_begun:
        regions.advance(Budget.of_steps(1))
    for cell, is_open in changes:
        grid.set_cells([cell % grid.passage().costs.size], is_open)
        regions.advance(Budget.unlimited() if at_once else Budget.of_steps(steps))
    while not regions.is_done:
        regions.advance(Budget.of_steps(steps))
    fresh = regions_of(grid)
    room = fresh.graph.partners.shape[1]    # others keep room that they needed once
    assert regions.graph.counts.tolist() == fresh.graph.counts.tolist()
    if grid.passage().is_uniform != was_uniform:    # costs are added up in another way: rounding differs
        np.testing.assert_allclose(regions.graph.portal_costs[:, :room, :room], fresh.graph.portal_costs, rtol=1e-12)
    elif regions.graph.partners.shape[1] == room:
        assert told(regions) == told(fresh)
    else:
        assert regions.graph.portal_costs[:, :room, :room].tolist() == fresh.graph.portal_costs.tolist()


@given(grid=levels(), start=st.integers(0, 1000), goal=st.integers(0, 1000), change=st.integers(0, 1000),
       is_open=st.booleans(), steps=st.integers(1, 5))
def test_cells_that_change_between_slices_are_seen(grid, start, goal, change, is_open, steps):
    passage = grid.passage()
    start, goal = start % passage.costs.size, goal % passage.costs.size
    search = RegionSearch(regions_of(grid), start, goal)
    search.advance(Budget.of_steps(steps))
    if search.is_done:
        return
    grid.set_cells([change % passage.costs.size], is_open)
    while not search.is_done:
        search.advance(Budget.of_steps(steps))
    least = plain_costs(passage, start).get(goal, math.inf)
    assert search.result.is_found == (least < math.inf)
    if search.result.is_found:
        assert search.result.cost <= search.result.bound * least * (1 + 1e-9)


def test_a_long_way_takes_few_steps():
    cells = np.ones((128, 128), bool)
    cells[::8, 4:] = False
    cells[4::16, :-4] = True
    grid = Grid(cells)
    regions = RegionGraph(grid.passage())
    regions.advance(Budget.unlimited())
    search = found(regions, grid.cell(1, 1), grid.cell(126, 126))
    plain = AStarSearch(grid.passage(), grid.cell(1, 1), grid.cell(126, 126))
    plain.advance(Budget.unlimited())
    assert search.result.cost <= 1.2 * plain.result.cost
    assert 20 * search.expanded <= plain.expanded


def test_a_change_makes_anew_only_the_regions_it_concerns():
    grid = Grid(np.ones((32, 32), bool))
    regions = RegionGraph(grid.passage(), side=8)
    regions.advance(Budget.unlimited())
    for cell, concerned in ((grid.cell(3, 3), 2), (grid.cell(3, 7), 3 + 4)):     # portals
        grid.set_cells([cell], False)
        assert not regions.is_done
        budget = Budget.of_steps(100)
        regions.advance(budget)
        assert regions.is_done
        assert budget.steps == concerned


def test_regions_are_made_in_slices():
    grid = Grid(np.ones((32, 32), bool))
    regions, slices = RegionGraph(grid.passage(), side=8), 0
    with pytest.raises(RuntimeError, match="not done"):
        RegionSearch(regions, 0, 1)
    while not regions.is_done:
        before = regions.progress
        regions.advance(Budget.of_steps(10))
        slices += 1
        assert regions.progress > before
    assert slices == 9  # 16 regions whose borders are read and numbered, and 48 portals


@pytest.mark.parametrize("steps", range(1, 34, 4))
def test_border_that_shuts_while_borders_are_read_is_read_again(steps):
    grid = Grid(np.ones((16, 32), bool))
    regions = RegionGraph(grid.passage(), side=8)
    regions.advance(Budget.of_steps(steps))
    grid.set_cells([grid.cell(row, 8) for row in range(8)], False)     # between the first two regions
    while not regions.is_done:
        regions.advance(Budget.of_steps(1))
    fresh = RegionGraph(grid.passage(), side=8)
    fresh.advance(Budget.unlimited())
    assert regions.graph.counts.tolist() == fresh.graph.counts.tolist()
    assert regions.graph.counts[0] == 1


def test_bad_input_is_refused_at_the_call():
    grid = Grid(np.ones((8, 8), bool))
    regions = regions_of(grid)
    with pytest.raises(TypeError, match="passage must be a GridPassage"):
        RegionGraph(grid)
    with pytest.raises(ValueError, match="AStarSearch"):
        RegionGraph(Grid(np.ones((8, 8), bool), neighbors=6).passage())
    with pytest.raises(ValueError, match="AStarSearch"):
        RegionGraph(Grid(np.ones((8, 8), bool), corners="open").passage())
    with pytest.raises(ValueError, match="side must be at least 4"):
        RegionGraph(grid.passage(), side=3)
    with pytest.raises(TypeError, match="regions must be"):
        RegionSearch(grid.passage(), 0, 1)
    with pytest.raises(ValueError, match="goal"):
        RegionSearch(regions, 0, 64)
    search = RegionSearch(regions, 0, 63)
    with pytest.raises(RuntimeError, match="not done"):
        search.result  # noqa: B018
    search.cancel()
    with pytest.raises(RuntimeError, match="was cancelled"):
        search.advance(Budget.unlimited())
    regions = RegionGraph(grid.passage())
    regions.cancel()
    with pytest.raises(RuntimeError, match="RegionGraph was cancelled"):
        regions.advance(Budget.unlimited())


@pytest.mark.slow
@pytest.mark.skipif("ai_core.paths.regions.region_loops" not in compiled(), reason="the same steps, in minutes")
@pytest.mark.parametrize("name", ["caves", "halls", "noise", "corridors"])
def test_first_region_path_expands_a_twentieth_of_a_star_cells(name):
    grid, queries = level(name)
    regions = RegionGraph(grid.passage())
    regions.advance(Budget.unlimited())
    first, plain = 0, 0
    for start, goal in queries:
        known = found(regions, start, goal)
        better = AnytimeSearch(grid.passage(), start, goal, known=known.result)
        assert better.best.is_found
        first += known.expanded + better.expanded
        search = AStarSearch(grid.passage(), start, goal)
        search.advance(Budget.unlimited())
        plain += search.expanded
        assert known.result.cost <= 1.1 * search.result.cost
    assert first <= 0.05 * plain


def test_abandoned_cell_search_gives_its_memory_to_one_other():
    cells = np.ones((16, 16))
    cells[:, 8] = np.inf
    regions = regions_of(Grid(cells))
    hopeless = RegionSearch(regions, 0, 15)
    hopeless.advance(Budget.of_steps(1))
    while regions.borrow_memory() is not hopeless._memory:       # until it gave back its memory, and goes by cells
        hopeless.advance(Budget.of_steps(1))
    regions.return_memory(hopeless._memory, regions.passage.version)
    hopeless.cancel()
    assert regions.borrow_memory() is not regions.borrow_memory()
