"""A way soon, then cheaper ones, and at last the cheapest."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths import AnytimeSearch, AStarSearch, Path, SearchMemory
from ai_core.paths.searches.search import MOST_RESTARTS
from ai_core.scheduling import UntilGoodEnough
from tests.paths.levels import cost_along, grids, plain_costs

NUMBERS = st.lists(st.integers(0, 63), min_size=2, max_size=4)


def ends_on(passage, numbers):
    start, *goals = (number % passage.costs.size for number in numbers)
    return start, sorted(set(goals))


def advanced(search, steps=None):
    while not search.is_done:
        search.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))
    return search


def maze():
    """A wall between the ends that is open on one side, and a longer way round it on the other."""
    cells = np.ones((9, 9), bool)
    cells[4, 1:8] = False
    cells[2:4, 1] = cells[2:4, 7] = False
    return Grid(cells)


@given(grid=grids(), numbers=NUMBERS, steps=st.integers(1, 12))
def test_at_its_end_the_way_costs_what_a_plain_search_says(grid, numbers, steps):
    passage = grid.passage()
    start, goals = ends_on(passage, numbers)
    result = advanced(AnytimeSearch(passage, start, goals), steps).result
    plain = plain_costs(passage, start)
    least = min((plain[goal] for goal in goals if goal in plain), default=math.inf)
    if least < math.inf:
        assert result.is_found
        assert result.end in goals
        assert result.cost == pytest.approx(least, rel=1e-9)
        assert cost_along(passage, result.cells.tolist()) == pytest.approx(result.cost, rel=1e-9)
    else:
        search = AStarSearch(passage, start, goals)
        search.advance(Budget.unlimited())
        assert (result.state, result.cells.tolist()) == (search.result.state, search.result.cells.tolist())


@given(grid=grids(), numbers=NUMBERS, steps=st.integers(1, 12))
def test_best_path_stays_open_never_worsens_and_keeps_its_bound(grid, numbers, steps):
    passage = grid.passage()
    start, goals = ends_on(passage, numbers)
    plain = plain_costs(passage, start)
    least = min((plain[goal] for goal in goals if goal in plain), default=math.inf)
    search, before = AnytimeSearch(passage, start, goals), math.inf
    while not search.is_done:
        search.advance(Budget.of_steps(steps))
        if search.best is not None and search.best.is_found:
            assert cost_along(passage, search.best.cells.tolist()) == pytest.approx(search.best.cost, rel=1e-9)
            assert least * (1 - 1e-9) <= search.best.cost <= before
            assert search.best.cost <= search.bound * least * (1 + 1e-9)
            before = search.best.cost
    assert search.bound == 1
    assert search.quality == 1


@given(grid=grids(), numbers=NUMBERS, steps=st.integers(1, 6), strides=st.lists(st.integers(0, 3), max_size=12))
def test_who_walks_on_meanwhile_still_gets_the_cheapest_rest(grid, numbers, steps, strides):
    passage = grid.passage()
    start, goals = ends_on(passage, numbers)
    search = AnytimeSearch(passage, start, goals)
    for stride in strides:
        search.advance(Budget.of_steps(steps))
        if search.best is not None and len(search.best.cells):
            search.move_start(int(search.best.cells[min(stride, len(search.best.cells) - 1)]))
    advanced(search)
    if search.result.is_found:
        plain = plain_costs(passage, search.start)
        assert search.result.cells[0] == search.start
        assert search.result.cost == pytest.approx(min(plain[goal] for goal in goals if goal in plain), rel=1e-9)
        assert search.restarts == 0


@given(grid=grids(), numbers=NUMBERS, pushed=st.integers(0, 63))
def test_who_is_pushed_off_the_way_gets_one_from_there(grid, numbers, pushed):
    passage = grid.passage()
    start, goals = ends_on(passage, numbers)
    search = AnytimeSearch(passage, start, goals)
    search.advance(Budget.of_steps(9))
    search.move_start(pushed % passage.costs.size)
    result = advanced(search).result
    plain = plain_costs(passage, pushed % passage.costs.size)
    least = min((plain[goal] for goal in goals if goal in plain), default=math.inf)
    if least < math.inf:
        assert result.is_found
        assert result.cost == pytest.approx(least, rel=1e-9)
    else:
        assert not result.is_found


@given(grid=grids(), numbers=NUMBERS, steps=st.integers(1, 9), changed=st.lists(
    st.tuples(st.integers(0, 63), st.booleans()), max_size=5))
def test_cells_that_change_between_slices_are_seen(grid, numbers, steps, changed):
    passage = grid.passage()
    start, goals = ends_on(passage, numbers)
    search = AnytimeSearch(passage, start, goals)
    for cell, is_open in changed:
        search.advance(Budget.of_steps(steps))
        if search.is_done:
            return
        grid.set_cells([cell % passage.costs.size], is_open)
    result = advanced(search).result
    plain = plain_costs(passage, start)
    least = min((plain[goal] for goal in goals if goal in plain), default=math.inf)
    assert result.is_found == (least < math.inf)
    if result.is_found:
        assert result.cost == pytest.approx(least, rel=1e-9)


def test_open_path_stays_when_cells_elsewhere_change():
    grid = maze()
    search = AnytimeSearch(grid.passage(), grid.cell(3, 4), grid.cell(8, 4))
    while search.best is None:
        search.advance(Budget.of_steps(1))
    first = search.best.cells.tolist()
    assert not search.is_done
    grid.set_cells([grid.cell(0, 0)], False)
    search.advance(Budget.of_steps(1))
    assert search.restarts == 1
    assert search.best.cost <= cost_along(grid.passage(), first)


def test_mover_to_an_unreachable_goal_keeps_the_rest_of_its_path():
    cells = np.ones((9, 9), bool)
    cells[4] = False
    passage = Grid(cells).passage()
    search = advanced(AnytimeSearch(passage, 0, 80))
    way, cost = search.best.cells.tolist(), search.best.cost
    search.move_start(way[3])
    assert search.best.cells.tolist() == way[3:]
    assert search.best.cost == pytest.approx(cost - cost_along(passage, way[:4]))


def test_in_the_open_the_first_way_takes_a_fiftieth_of_the_cells():
    passage = Grid(np.ones((64, 64), bool)).passage()
    search = AnytimeSearch(passage, 0, 64 * 40 + 63)
    while search.best is None:
        search.advance(Budget.of_steps(1))
    assert search.expanded <= 64


def test_a_known_way_is_the_best_before_the_first_step():
    grid = maze()
    passage, start, goal = grid.passage(), grid.cell(3, 4), grid.cell(8, 4)
    known = advanced(AnytimeSearch(passage, start, goal)).result
    search = AnytimeSearch(passage, start, goal, known=known)
    assert search.best.cells.tolist() == known.cells.tolist()
    assert search.expanded == 0
    assert math.inf > search.bound >= 1
    assert advanced(search).result.cost == known.cost


def test_good_enough_stops_it_at_the_quality_asked_for():
    grid = maze()
    work = UntilGoodEnough(AnytimeSearch(grid.passage(), grid.cell(3, 4), grid.cell(8, 4)), quality=0.5)
    while not work.is_done:
        work.advance(Budget.of_steps(2))
    assert work.result.is_found
    assert work.quality >= 0.5


def test_cancelled_it_keeps_its_best_and_gives_its_memory_back():
    grid = maze()
    memory = SearchMemory(grid.passage())
    search = AnytimeSearch(grid.passage(), grid.cell(3, 4), grid.cell(8, 4), memory=memory)
    while search.best is None:
        search.advance(Budget.of_steps(1))
    search.cancel()
    assert search.is_cancelled
    assert search.best.is_found
    assert memory.holder is None
    for misuse in (lambda: search.advance(Budget.of_steps(1)), lambda: search.move_start(0)):
        with pytest.raises(RuntimeError, match="was cancelled"):
            misuse()


def test_bad_input_is_refused_at_the_call():
    grid = maze()
    passage = grid.passage()
    with pytest.raises(TypeError, match="passage must be a GridPassage"):
        AnytimeSearch(grid, 0, 1)
    with pytest.raises(TypeError, match="AStarSearch"):
        AnytimeSearch(passage, 0, lambda cell: True)
    with pytest.raises(ValueError, match="start"):
        AnytimeSearch(passage, 81, 1)
    with pytest.raises(TypeError, match="known must be a Path"):
        AnytimeSearch(passage, 0, 1, known=[0, 1])
    for cells in ([1, 0], [0, 2], [0, 1, 900], [0, grid.cell(1, 1), grid.cell(2, 1), 1]):
        with pytest.raises(ValueError, match="by open moves"):
            AnytimeSearch(passage, 0, 1, known=Path("found", np.array(cells, np.int32), 1.0, 0))
    search = AnytimeSearch(passage, 0, 8)
    with pytest.raises(RuntimeError, match="not done"):
        search.result  # noqa: B018
    with pytest.raises(ValueError, match="cell"):
        search.move_start(-1)


def test_a_mover_that_could_not_be_followed_may_say_so_again():
    passage = Grid(np.ones((9, 9))).passage()
    memory = SearchMemory(passage)
    search = advanced(AnytimeSearch(passage, 0, 80, memory=memory))
    other = AStarSearch(passage, 0, 8, memory=memory)
    for _ in range(2):
        with pytest.raises(ValueError, match="memory is in use"):
            search.move_start(72)
    assert search.start == 0
    other.cancel()
    search.move_start(72)
    assert advanced(search).best.cells[0] == 72


def test_a_way_says_how_much_too_dear_it_may_be():
    cells = np.ones((40, 40))
    cells[10:30, 30], cells[10, 10:30] = np.inf, np.inf     # a bag that estimates lead into
    grid = Grid(cells)
    search = AnytimeSearch(grid.passage(), grid.cell(20, 5), grid.cell(12, 39))
    while search.best is None:
        search.advance(Budget.of_steps(5))
    first = search.best
    assert first.bound == search.bound > 1
    while not search.is_done:
        search.advance(Budget.of_steps(50))
    assert search.result.bound == 1
    assert first.cost <= first.bound * search.result.cost


def test_the_bound_of_a_way_walked_along_is_that_of_its_rest():
    numbers = np.random.default_rng(4)
    for _ in range(40):
        costs = numbers.choice(np.array([1, 1, 3, np.inf], np.float32), (30, 30))
        passage = Grid(costs).passage()
        start, goal = numbers.choice(np.flatnonzero(np.isfinite(costs)), 2).tolist()
        search = AnytimeSearch(passage, start, goal)
        while not search.is_done:
            search.advance(Budget.of_steps(30))
            if search.best is not None and search.best.is_found and len(search.best.cells) > 4:
                search.move_start(int(search.best.cells[2]))
                cheapest = AStarSearch(passage, search.start, goal)
                cheapest.advance(Budget.unlimited())
                assert search.best.cost <= search.best.bound * cheapest.result.cost * (1 + 1e-6)


CHANGES = st.lists(st.tuples(st.integers(0, 63), st.sampled_from([1.0, 3.0, math.inf])), max_size=30)


@given(grid=grids(), numbers=NUMBERS, changes=CHANGES)
def test_bound_holds_at_the_end_after_any_changes(grid, numbers, changes):
    passage = grid.passage()
    start, goals = ends_on(passage, numbers)
    search = AnytimeSearch(passage, start, goals)
    for cell, cost in changes:
        grid.set_cells([cell % passage.costs.size], cost)
        if search.is_done:
            return
        search.advance(Budget.of_steps(1))
    result, plain = advanced(search).result, plain_costs(passage, start)
    if result.is_found:
        least = min(plain[goal] for goal in goals if goal in plain)
        assert cost_along(passage, result.cells.tolist()) == pytest.approx(result.cost, rel=1e-9)
        assert least * (1 - 1e-9) <= result.cost <= search.bound * least * (1 + 1e-9)
    elif search.restarts < MOST_RESTARTS:
        assert not set(goals) & set(plain)


def test_first_path_is_found_while_cells_change_all_the_time():
    cells = np.ones((40, 40))
    for row in range(3, 40, 4):
        cells[row] = np.inf
        cells[row, 1 if row // 4 % 2 else 38] = 1
    grid = Grid(cells, neighbors=4)
    search, door = AnytimeSearch(grid.passage(), 0, grid.cell(38, 5)), grid.cell(39, 39)
    for number in range(200):
        grid.set_cells([door], 1.0 if number % 2 else math.inf)
        search.advance(Budget.of_steps(50))
    assert search.is_done
    assert search.result.cost == plain_costs(grid.passage(), 0)[grid.cell(38, 5)]
