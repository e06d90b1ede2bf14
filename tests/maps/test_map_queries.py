"""Questions to maps: best cells and their ties, the edge of the known, careful ways."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.maps.map_queries import best_cells, danger_costs, frontier
from ai_core.paths.searches.search import AStarSearch

maps = arrays.arrays(np.float32, st.tuples(st.integers(1, 7), st.integers(1, 7)), elements=st.integers(0, 4))


@given(maps, st.integers(1, 5), st.integers(1, 3))
def test_best_cells_are_those_of_a_plain_choice(values, count, apart):
    width = values.shape[1]
    expected: list[int] = []
    for cell in sorted(range(values.size), key=lambda one: (-values.flat[one], one)):
        near = [
            one for one in expected
            if max(abs(one // width - cell // width), abs(one % width - cell % width)) < apart
        ]
        if not near and len(expected) < count:
            expected.append(cell)
    assert best_cells(values, count, apart_cells=apart).tolist() == expected


def test_best_cells_can_be_limited_by_cells_and_by_minimum_value():
    values = np.array([[3.0, 2.0, np.nan, 0.0]])
    assert best_cells(values, 4, where=np.array([[False, True, True, True]])).tolist() == [1, 3]
    assert best_cells(values, 4, above=0).tolist() == [0, 1]


@given(maps, st.data())
def test_the_frontier_is_every_known_cell_beside_an_unknown_one(ages, data):
    is_open = data.draw(arrays.arrays(np.bool_, ages.shape))
    height, width = ages.shape
    expected = [
        row * width + column
        for row in range(height) for column in range(width)
        if is_open[row, column] and ages[row, column] < 2 and any(
            0 <= r < height and 0 <= c < width and is_open[r, c] and ages[r, c] >= 2
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)))
    ]
    assert frontier(ages, 2, is_open=is_open).tolist() == expected


def test_careful_path_goes_around_danger_and_careless_through_it():
    danger = np.zeros((5, 7), np.float32)
    danger[1:4, 3] = 10
    grid = Grid(np.ones((5, 7)), neighbors=4)
    grid.add_mover("scout", danger_costs(np.ones((5, 7)), danger, 1.0))
    ways = {}
    for mover in ("", "scout"):
        search = AStarSearch(grid.passage(mover), grid.cell(2, 0), grid.cell(2, 6))
        search.advance(Budget.unlimited())
        ways[mover] = search.result
    by_function = AStarSearch(
        grid.passage(), grid.cell(2, 0), grid.cell(2, 6),
        step_cost=lambda start, to, cost: cost * (1 + float(danger.flat[to])))
    by_function.advance(Budget.unlimited())
    assert danger.flat[ways[""].cells].sum() == 10
    assert danger.flat[ways["scout"].cells].sum() == 0
    assert ways["scout"].cost == by_function.result.cost == 10


def test_walls_stay_walls_and_costs_stay_such_as_a_grid_takes():
    costs = danger_costs([[1, np.inf, 2]], [[1e9, 5, 0]], 1.0)
    assert costs.tolist() == [[1e6, np.inf, 2.0]]
    Grid(costs)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: best_cells([1, 2]), "values must have shape"),
    (lambda: best_cells([[1]], 0), "count must be at least 1"),
    (lambda: best_cells([[1]], where=np.ones((2, 2), bool)), "where must have shape"),
    (lambda: frontier([[1]], 0), "known_below_s must be above 0"),
    (lambda: danger_costs([[1]], [[1, 2]], 1), "danger must have the shape"),
    (lambda: danger_costs([[1]], [[1]], -1), "weight must be at least 0"),
])
def test_bad_questions_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_best_cells_tell_large_and_close_values_apart():
    assert best_cells([[16_777_216, 16_777_217]]).tolist() == [1]
    assert best_cells([[1.0, 1.0 + 1e-9]]).tolist() == [1]


def test_danger_costs_refuse_what_gives_wrong_costs():
    costs = np.array([[1, 2]], np.float32)
    for danger in ([[-1, 0]], [[np.nan, 0]]):
        with pytest.raises(ValueError, match="danger must be 0 or more"):
            danger_costs(costs, danger, 0.5)
    with pytest.raises(ValueError, match="must not share the memory of costs"):
        danger_costs(costs, [[0, 3]], 0.5, out=costs)
    with pytest.raises(ValueError, match=r"out must be float32 of shape \(1, 2\)"):
        danger_costs(costs, [[0, 3]], 0.5, out=np.zeros((2, 2), np.float32))


def test_infinite_danger_is_the_largest_and_never_nan():
    assert np.isfinite(danger_costs([[1, 0]], [[np.inf, np.inf]], 1.0)).all()
    assert danger_costs([[1, 2]], [[np.inf, 0]], 0.0).tolist() == [[1.0, 2.0]]
