"""A*: optimal, in slices, and right when cells change in between."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps.graph import Graph
from ai_core.maps.grid import Grid
from ai_core.maps.passage import COPIED_AT_ONCE, PassageCopy
from ai_core.paths.flow_field import FlowField
from ai_core.paths.searches.search import CELLS_PER_LOOK, MOST_RESTARTS, AStarSearch
from ai_core.paths.searches.search_memory import SearchMemory
from tests.paths.levels import cost_along, grids, plain_costs

places = st.integers(0, 63)


def finished(search, steps=None):
    while not search.is_done:
        search.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
    return search.result


@given(grid=grids(), start=places, goals=st.lists(places, min_size=1, max_size=3), steps=st.integers(1, 5))
def test_path_costs_what_a_plain_search_finds_in_any_slices(grid, start, goals, steps):
    passage = grid.passage()
    start, goals = start % passage.costs.size, [goal % passage.costs.size for goal in goals]
    costs = plain_costs(passage, start)
    path = finished(AStarSearch(passage, start, goals), steps)
    best = min(costs.get(goal, math.inf) for goal in goals)
    if best == math.inf:
        assert path.state in ("partial", "none")
    else:
        assert path.is_found
        assert path.cells[0] == start
        assert path.end in goals
        assert path.cost == pytest.approx(best, rel=1e-12)
    if path.state != "none":
        assert cost_along(passage, path.cells.tolist()) == pytest.approx(path.cost, rel=1e-12)


CHANGES = st.lists(st.tuples(places, st.sampled_from([1.0, 3.0, math.inf])), max_size=30)


@given(grid=grids(), start=places, goal=places, changes=CHANGES)
def test_search_whose_cells_change_finds_the_right_result(grid, start, goal, changes):
    passage = grid.passage()
    start, goal = start % passage.costs.size, goal % passage.costs.size
    search = AStarSearch(passage, start, goal)
    for cell, cost in changes:
        if search.is_done:
            break
        before = passage.version
        grid.set_cells([cell % passage.costs.size], cost)
        restarts = search.restarts
        search.advance(Budget.of_steps(1))
        if restarts < MOST_RESTARTS:
            assert search.restarts - restarts == passage.version - before
    path = finished(search)
    expected = plain_costs(passage, start).get(goal, math.inf)
    if not path.is_found and search.restarts < 2 * MOST_RESTARTS:
        assert expected == math.inf
    if path.state != "none":
        assert path.cells[0] == start
        assert cost_along(passage, path.cells.tolist()) == pytest.approx(path.cost, rel=1e-12)
    if path.is_found:
        assert path.end == goal
        assert expected * (1 - 1e-12) <= path.cost <= expected * path.bound * (1 + 1e-12)
        assert path.bound == 1 or search.restarts > MOST_RESTARTS


@given(grid=grids(), start=places, goal=places, changes=CHANGES, kind=st.sampled_from(["step_cost", "goals"]))
def test_searches_with_functions_end_while_cells_change(grid, start, goal, changes, kind):
    passage = grid.passage()
    start, goal = start % passage.costs.size, goal % passage.costs.size
    search = AStarSearch(
        passage, start, (lambda cell: cell == goal) if kind == "goals" else goal,
        step_cost=(lambda _one, _other, cost: 2 * cost) if kind == "step_cost" else None)
    for cell, cost in changes:
        grid.set_cells([cell % passage.costs.size], cost)
        if search.is_done:
            return
        search.advance(Budget.of_steps(1))
    path, factor = finished(search), 2 if kind == "step_cost" else 1
    if path.is_found:
        expected = factor * plain_costs(passage, start)[goal]
        assert factor * cost_along(passage, path.cells.tolist()) == pytest.approx(path.cost, rel=1e-12)
        assert expected * (1 - 1e-12) <= path.cost <= expected * path.bound * (1 + 1e-12)


def test_search_ends_although_cells_change_after_every_slice():
    grid = Grid(np.ones((30, 30)))
    grid.set_cells([grid.cell(15, column) for column in range(29)], math.inf)
    search, door = AStarSearch(grid.passage(), 0, grid.cell(29, 0)), grid.cell(29, 29)
    for number in range(60):
        grid.set_cells([door], 1.0 if number % 2 else math.inf)
        search.advance(Budget.of_steps(20))
    assert search.restarts == MOST_RESTARTS + 1
    assert (search.result.cost, search.result.bound) == (pytest.approx(plain_costs(grid.passage(), 0)[870]), 1.0)


def test_search_whose_path_is_blocked_at_its_end_is_repeated():
    grid = Grid(np.ones((3, 40)), neighbors=4)
    grid.set_cells([grid.cell(1, column) for column in range(39)], math.inf)
    search, door = AStarSearch(grid.passage(), 0, grid.cell(2, 0)), grid.cell(1, 0)
    for is_open in [False, True] * 2 + [True]:
        grid.set_cells([door], 1.0 if is_open else math.inf)
        search.advance(Budget.of_steps(1))
    grid.set_cells([door], math.inf)
    assert finished(search).cost == plain_costs(grid.passage(), 0)[80] == 80


def test_search_whose_path_is_always_blocked_at_its_end_ends():
    grid = Grid(np.ones((3, 40)), neighbors=4)
    grid.set_cells([grid.cell(1, column) for column in range(1, 39)], math.inf)
    passage, doors = grid.passage(), [grid.cell(1, 0), grid.cell(1, 39)]
    search = AStarSearch(passage, grid.cell(0, 20), grid.cell(2, 20))
    for number in range(2000):
        is_first = number % 2 if search._ground is passage else not search._ground.is_free(doors[0])
        grid.set_cells(doors, [1.0, math.inf] if is_first else [math.inf, 1.0])
        search.advance(Budget.of_steps(1))
        if search.is_done:
            break
    path = search.result
    assert (path.state, path.cost) == ("partial", 20)
    assert search.restarts == 2 * MOST_RESTARTS
    assert cost_along(passage, path.cells.tolist()) == 20


@pytest.mark.parametrize("changes", [0, 1, 300])
def test_ground_is_copied_in_slices_while_cells_change(changes):
    grid = Grid(np.ones((200, 1000)))
    passage, rng = grid.passage(), np.random.default_rng(changes)
    copied, steps = PassageCopy(passage), 0
    while not copied.is_done:
        copied.advance(Budget.of_steps(1))
        steps += 1
        if not copied.is_done:
            for _ in range(changes):
                grid.set_cells(rng.integers(0, passage.costs.size, 3).tolist(), float(rng.integers(1, 4)))
            grid.set_cells([int(rng.integers(0, passage.costs.size))], math.inf)
    assert steps == -(-passage.costs.size // COPIED_AT_ONCE) > 3
    result = copied.result
    assert np.array_equal(result.costs, passage.costs)
    assert np.array_equal(result.open_moves, passage.open_moves)
    assert (result.version, result.least_cost, result.most_cost) == (
        passage.version, passage.least_cost, passage.most_cost)
    grid.set_cells([0], 7.0)
    assert (result.costs[0, 0] != 7, result.version) == (True, passage.version - 1)


@pytest.mark.parametrize("kind", ["search", "field"])
def test_step_on_a_changing_map_copies_no_whole_ground(kind):
    grid = Grid(np.ones((200, 1000)))
    passage = grid.passage()
    search = AStarSearch(passage, 0, 199_999) if kind == "search" else FlowField(passage, 199_999)
    for number in range(MOST_RESTARTS + 2):
        grid.set_cells([500], 2.0 + number % 2)
        search.advance(Budget.of_steps(1))
    waits = 0
    while search._copy is not None:
        grid.set_cells([900], 2.0 + waits % 2)
        search.advance(Budget.of_steps(1))
        waits += 1
    assert waits > 3
    search.advance(Budget.unlimited())
    assert search.is_done


def test_unreachable_goal_gives_nearest_then_cheapest_cell():
    grid = Grid([[True, True, False, True], [True, True, False, False]], neighbors=4)
    path = finished(AStarSearch(grid.passage(), grid.cell(1, 0), grid.cell(0, 3)))
    assert path.state == "partial"
    assert path.end == grid.cell(0, 1)


def test_a_start_that_is_shut_in_has_no_way():
    grid = Grid([[True, False, True]])
    path = finished(AStarSearch(grid.passage(), 0, 2))
    assert (path.state, path.cells.tolist(), path.cost, path.end) == ("none", [], math.inf, None)
    assert finished(AStarSearch(grid.passage(), 1, 2)).state == "none"


def test_who_is_there_already_has_a_way_of_one_cell():
    path = finished(AStarSearch(Grid([[1, 1]]).passage(), 0, [1, 0]))
    assert (path.state, path.cells.tolist(), path.cost) == ("found", [0], 0.0)


def test_goals_may_be_told_by_a_function_and_steps_may_cost_more():
    grid = Grid(np.ones((3, 5)), neighbors=4)
    threatened = {grid.cell(0, 2), grid.cell(1, 2)}
    path = finished(
        AStarSearch(
            grid.passage(), grid.cell(0, 0), lambda cell: cell % 5 == 4,
            step_cost=lambda start, end, cost: math.inf if end in threatened else cost,
        )
    )
    assert path.is_found
    assert path.cost == 6
    assert path.end == grid.cell(2, 4)


@given(grid=grids(), start=places, goal=places)
def test_called_back_searches_find_ways_of_the_same_cost(grid, start, goal):
    passage = grid.passage()
    start, goal = start % passage.costs.size, goal % passage.costs.size
    costs = [
        finished(search).cost for search in (
            AStarSearch(passage, start, goal),
            AStarSearch(passage, start, goal, step_cost=lambda start, end, cost: cost),
        )
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-12)
    by_function = finished(AStarSearch(passage, start, lambda cell: cell == goal))
    if by_function.is_found:
        assert by_function.cost == pytest.approx(costs[0], rel=1e-12)


def test_a_step_that_costs_less_than_usual_is_refused():
    search = AStarSearch(Grid([[1, 1]]).passage(), 0, 1, step_cost=lambda start, end, cost: cost / 2)
    with pytest.raises(ValueError, match=r"step_cost from 0 to 1 must not be less than the usual 1, got 0\.5"):
        search.advance(Budget.unlimited())
    nowhere = AStarSearch(Grid([[1, 1]]).passage(), 0, 1, step_cost=lambda start, end, cost: math.nan)
    with pytest.raises(ValueError, match="step_cost from 0 to 1 must be a finite number"):
        nowhere.advance(Budget.unlimited())


@given(st.data())
def test_ways_on_graphs_cost_what_a_plain_search_says(data):
    size = data.draw(st.integers(1, 7))
    place = st.integers(0, size - 1)
    edges = data.draw(st.lists(st.tuples(place, place, st.floats(0, 9)), max_size=20))
    positions = data.draw(st.none() | st.lists(
        st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=size, max_size=size
    ))
    graph = Graph(size, *(list(part) for part in zip(*edges, strict=True)), positions=positions) if edges else (
        Graph(size, [], [], [], positions=positions)
    )
    start, goal = data.draw(place), data.draw(place)
    path = finished(AStarSearch(graph, start, goal), steps=1)
    costs = {start: 0.0}
    for _ in range(size):
        for begin, end, cost in edges:
            if begin in costs and costs[begin] + cost < costs.get(end, math.inf):
                costs[end] = costs[begin] + cost
    assert (path.cost if path.is_found else math.inf) == pytest.approx(costs.get(goal, math.inf), rel=1e-9)


def test_a_limit_ends_it_with_a_partial_way():
    search = AStarSearch(Grid(np.ones((20, 20))).passage(), 0, 399, max_expanded=5)
    path = finished(search)
    assert (path.state, path.expanded) == ("partial", 5)


def test_a_budget_of_time_is_looked_at_every_so_many_cells():
    looks = iter(range(0, 10_000_000, 400))
    search = AStarSearch(Grid(np.ones((60, 60))).passage(), 0, lambda cell: False)
    search.advance(Budget.of_time(1, lambda: next(looks)))
    assert not search.is_done
    assert search.expanded % CELLS_PER_LOOK == 0


def test_memory_is_used_again_but_by_one_search_at_a_time():
    grid = Grid(np.ones((30, 30)))
    memory = SearchMemory(grid.passage())
    first = AStarSearch(grid.passage(), 0, 899, memory=memory)
    with pytest.raises(ValueError, match="memory is in use by an unfinished search"):
        AStarSearch(grid.passage(), 0, 1, memory=memory)
    kept = finished(first).cells.tolist()
    second = AStarSearch(grid.passage(), 5, 1, memory=memory)
    second.cancel()
    assert finished(AStarSearch(grid.passage(), 899, 0, memory=memory)).cost == pytest.approx(29 * 2 ** 0.5)
    assert first.result.cells.tolist() == kept
    with pytest.raises(ValueError, match="memory must belong to the passage searched"):
        AStarSearch(Grid([[1, 1]]).passage(), 0, 1, memory=memory)


def test_a_cancelled_search_says_so():
    search = AStarSearch(Grid([[1, 1]]).passage(), 0, 1)
    search.cancel()
    assert search.is_cancelled
    with pytest.raises(RuntimeError, match="was cancelled"):
        search.advance(Budget.unlimited())
    with pytest.raises(RuntimeError, match="is not done"):
        _ = search.result


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((None, 0, 1), TypeError, "ground must be a GridPassage or a Graph"),
        ((Grid([[1, 1]]).passage(), 2, 1), ValueError, "start must be at most 1, got 2"),
        ((Grid([[1, 1]]).passage(), -1, 1), ValueError, "start must be at least 0"),
        ((Grid([[1, 1]]).passage(), 0, 2), ValueError, "goals must be 0 to 1, got 2"),
        ((Grid([[1, 1]]).passage(), 0, [0, 2]), ValueError, "goals must be 0 to 1"),
        ((Grid([[1, 1]]).passage(), 0, []), ValueError, "goals must contain at least one place"),
        ((Grid([[1, 1]]).passage(), 0, [0.5]), TypeError, "goals must be integers of shape"),
    ],
)
def test_what_cannot_be_searched_is_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        AStarSearch(*arguments)


def test_on_open_ground_roundings_have_no_cell_looked_at_twice():
    cells = np.ones((80, 80), bool)
    cells[40, 10:70] = False
    passage = Grid(cells, neighbors=8).passage()
    memory = SearchMemory(passage)
    search = AStarSearch(passage, 40 + 10 * 80, 40 + 70 * 80, memory=memory)
    search.advance(Budget.unlimited())
    reached = sum(memory.walking().cost_to(cell) < math.inf for cell in range(passage.costs.size))
    assert search.expanded < reached
