"""Lines of sight on grids: symmetric, and by the definition."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.sight.grid_sight import GridSight
from ai_core.senses.sight.sight_cones import SightCone
from tests.senses.worlds import World


@st.composite
def levels(draw):
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    cells = draw(st.lists(st.sampled_from([False, False, True]), min_size=height * width, max_size=height * width))
    return np.array(cells, np.bool_).reshape(height, width)


def all_pairs(grid):
    cells = np.argwhere(np.ones(grid.shape, np.bool_))
    return np.repeat(cells, len(cells), axis=0), np.tile(cells, (len(cells), 1))


def free_by_fractions(grid, start, end):
    """The definition, cell by cell, in whole numbers."""
    offset = [end[0] - start[0], end[1] - start[1]]
    steps = max(abs(offset[0]), abs(offset[1]))
    for step in range(1, steps):
        choices = [[]]
        for axis in range(2):
            below, left_over = divmod(offset[axis] * step, steps)
            near = [below] if 2 * left_over < steps else [below + 1]
            if 2 * left_over == steps:
                near = [below, below + 1]
            choices = [[*one, start[axis] + k] for one in choices for k in near]
        if all(grid[row, column] for row, column in choices):
            return False
    return True


@settings(max_examples=25)
@given(levels())
def test_every_line_is_free_just_where_the_definition_says(grid):
    starts, ends = all_pairs(grid)
    expected = [free_by_fractions(grid, a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    assert GridSight(grid).are_free(starts, ends).tolist() == expected


@pytest.mark.parametrize("shape", [(height, width) for height in (1, 2, 3) for width in (1, 2, 3)])
def test_every_level_up_to_three_by_three_matches_the_definition(shape):
    for number in range(0, 1 << shape[0] * shape[1], 1 if shape != (3, 3) else 7):
        grid = np.array([number >> bit & 1 for bit in range(shape[0] * shape[1])], np.bool_).reshape(shape)
        starts, ends = all_pairs(grid)
        expected = [free_by_fractions(grid, a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        sight = GridSight(grid)
        assert sight.are_free(starts, ends).tolist() == expected
        seen = [sight.field_of_view(a, 3)[tuple(3 + np.subtract(b, a))] for a, b in zip(
            starts.tolist(), ends.tolist(), strict=True)]
        assert seen == expected


@settings(max_examples=25)
@given(levels(), st.integers(0, 3), st.booleans())
def test_sight_is_symmetric_even_when_the_level_is_transformed(grid, quarters, is_mirrored):
    starts, ends = all_pairs(grid)
    seen = GridSight(grid).are_free(starts, ends)
    assert (GridSight(grid).are_free(ends, starts) == seen).all()
    places = np.arange(grid.size).reshape(grid.shape)
    turned_places = np.rot90(places[:, ::-1] if is_mirrored else places, quarters)
    turned = grid.ravel()[turned_places]
    where = np.zeros((grid.size, 2), np.int64)
    where[turned_places.ravel()] = np.argwhere(np.ones(turned.shape, np.bool_))
    number = starts @ [grid.shape[1], 1], ends @ [grid.shape[1], 1]
    assert (GridSight(turned).are_free(where[number[0]], where[number[1]]) == seen).all()


@settings(max_examples=15)
@given(levels(), st.randoms(use_true_random=False))
def test_guards_without_cones_see_each_other_mutually_or_not(grid, chance):
    cells = [tuple(one) for one in np.argwhere(~grid).tolist()]
    cells = chance.sample(cells, min(6, len(cells)))
    sight = GridSight(grid)

    def line_of_sight(eyes, targets, sensor_ids, source_ids):
        return sight.are_free(eyes[:, :2].astype(int), targets[:, :2].astype(int))

    world = World(line_of_sight=line_of_sight, up=(0, 0, 1))
    bodies = [world.thing(cell) for cell in cells]
    guards = [world.eye(cell, forward=(1, 0), cones=[SightCone.close_by(20)], self_source=body)
              for cell, body in zip(cells, bodies, strict=True)]
    world.tick()
    seen = {(guards.index(a), bodies.index(b)) for a, b in world.sensed()}
    assert seen == {(b, a) for a, b in seen}
    assert all(a != b for a, b in seen)


def test_a_line_exactly_between_two_cells_is_free_if_either_is():
    grid = np.zeros((2, 3), np.bool_)
    grid[0, 1] = True
    assert GridSight(grid).are_free([[0, 0]], [[1, 2]]).tolist() == [True]
    grid[1, 1] = True
    assert GridSight(grid).are_free([[0, 0]], [[1, 2]]).tolist() == [False]


def test_walls_are_seen_but_not_through_and_neighbours_always():
    grid = np.array([[False, True, False]])
    assert GridSight(grid).are_free([[0, 0]] * 3, [[0, 0], [0, 1], [0, 2]]).tolist() == [True, True, False]


@settings(max_examples=20)
@given(levels(), st.integers(0, 12), st.randoms(use_true_random=False))
def test_field_of_view_holds_each_cell_in_reach_with_a_free_line(grid, radius, chance):
    row, column = chance.randrange(grid.shape[0]), chance.randrange(grid.shape[1])
    seen = GridSight(grid).field_of_view((row, column), radius)
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            on_grid = 0 <= row + y < grid.shape[0] and 0 <= column + x < grid.shape[1]
            expected = on_grid and x * x + y * y <= radius * radius and free_by_fractions(
                grid, (row, column), (row + y, column + x))
            assert seen[y + radius, x + radius] == expected


@settings(max_examples=20)
@given(st.integers(1, 40), st.sampled_from([0.02, 0.1, 0.3]), st.integers(0, 40), st.randoms(use_true_random=False))
def test_a_wide_field_of_view_is_the_same_as_all_its_lines(side, density, radius, chance):
    grid = np.array([[chance.random() < density for _ in range(side)] for _ in range(side)])
    row, column = chance.randrange(side), chance.randrange(side)
    seen = GridSight(grid).field_of_view((row, column), radius)
    cells = np.argwhere(np.ones_like(grid))
    offsets = cells - (row, column)
    near = (offsets**2).sum(axis=1) <= radius * radius
    cells, offsets = cells[near], offsets[near]
    expected = np.zeros_like(seen)
    expected[tuple((offsets + radius).T)] = GridSight(grid).are_free(np.tile((row, column), (len(cells), 1)), cells)
    assert (seen == expected).all()


def test_all_of_an_empty_field_is_seen_as_far_as_can_be():
    sight = GridSight(np.zeros((600, 600), np.bool_))
    seen = sight.field_of_view(np.array([300, 300]), 256)
    offsets = np.arange(-256, 257)
    assert (seen == (offsets[:, np.newaxis] ** 2 + offsets**2 <= 256**2)).all()


@pytest.mark.parametrize(
    ("cell", "error"), [((2, 0), ValueError), ((0, -1), ValueError), ((0.5, 0), TypeError), ((0,), ValueError),
                        (None, TypeError)],
)
def test_a_cell_that_is_not_there_sees_nothing(cell, error):
    with pytest.raises(error, match="cell"):
        GridSight(np.zeros((2, 3), np.bool_)).field_of_view(cell, 1)


def test_cells_that_are_shut_later_count_at_once():
    grid = np.zeros((1, 3), np.bool_)
    sight = GridSight(grid)
    grid[0, 1] = True
    assert not sight.are_free([[0, 0]], [[0, 2]])[0]


def test_any_order_of_memory_gives_the_same():
    grid = np.random.default_rng(3).random((40, 30)) < 0.2
    starts, ends = np.random.default_rng(4).integers(0, 30, (2, 500, 2))
    expected = GridSight(grid).are_free(starts, ends)
    assert (GridSight(np.asfortranarray(grid)).are_free(starts, ends) == expected).all()
    assert 50 < expected.sum() < 450


@pytest.mark.parametrize(
    ("starts", "ends", "error", "message"),
    [
        ([[0, 0]], [[0, 3]], ValueError, "ends must lie on the grid"),
        ([[-1, 0]], [[0, 0]], ValueError, "starts must lie on the grid"),
        ([[0.5, 0]], [[0, 0]], TypeError, "starts must be integers"),
        ([[0, float("nan")]], [[0, 0]], TypeError, "starts must be integers"),
        ([[0, 0, 0]], [[0, 0]], ValueError, r"starts must have shape \(n, 2\)"),
        ([[0, 0]], [[0, 0], [0, 1]], ValueError, "starts and ends must have the same length, got 1 and 2"),
    ],
)
def test_lines_that_cannot_be_are_refused(starts, ends, error, message):
    with pytest.raises(error, match=message):
        GridSight(np.zeros((2, 3), np.bool_)).are_free(starts, ends)


@pytest.mark.parametrize(
    ("grid", "error"), [([[False]], TypeError), (np.zeros((2, 2)), TypeError), (np.zeros((0, 2), bool), ValueError),
                        (np.zeros(4, bool), ValueError)],
)
def test_a_grid_must_be_an_array_of_bool_with_cells(grid, error):
    with pytest.raises(error, match="is_opaque must"):
        GridSight(grid)


@pytest.mark.parametrize("radius", [-1, 257, 2.0, True])
def test_a_radius_out_of_range_is_refused(radius):
    with pytest.raises((ValueError, TypeError), match="radius must be"):
        GridSight(np.zeros((2, 3), np.bool_)).field_of_view((0, 0), radius)


def test_no_lines_are_no_answers():
    assert GridSight(np.zeros((2, 3), np.bool_)).are_free([], []).shape == (0,)
