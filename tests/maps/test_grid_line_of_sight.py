"""Lines of fire over a grid."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ai_core.maps import GridLineOfSight

NUMBERS = st.floats(-1.4, 5.4).map(lambda one: round(one, 3) + 0.00037)
HIGH = st.floats(0, 2).map(lambda one: round(one, 3) + 0.00041)


def plainly_blocked(heights, start, end):
    """Whether a line enters a cell below its height: cell by cell, by the slabs of each."""
    start, end = np.array(start), np.array(end)
    way = end - start
    for row in range(heights.shape[0]):
        for column in range(heights.shape[1]):
            first, last = 0.0, 1.0
            for axis, middle in ((0, column), (2, row)):
                if way[axis] == 0:
                    if abs(start[axis] - middle) > 0.5:
                        last = -1.0
                    continue
                ends = sorted(((middle + side - start[axis]) / way[axis]) for side in (-0.5, 0.5))
                first, last = max(first, ends[0]), min(last, ends[1])
            assume(not 0 < abs(last - first) < 1e-4)
            if first < last:
                lowest = start[1] + min(first * way[1], last * way[1])
                assume(abs(lowest - heights[row, column]) > 1e-4)
                if lowest < heights[row, column]:
                    return True
    return False


@given(
    st.lists(st.sampled_from([0.0, 0.0, 1.0, np.inf]), min_size=20, max_size=20),
    st.lists(st.tuples(NUMBERS, HIGH, NUMBERS, NUMBERS, HIGH, NUMBERS), min_size=1, max_size=5),
)
def test_a_line_is_blocked_as_cell_by_cell(heights, lines):
    heights = np.array(heights).reshape(4, 5)
    segments = np.array(lines)
    expected = [plainly_blocked(heights, line[:3], line[3:]) for line in segments]
    assert GridLineOfSight(heights)(segments).tolist() == expected


QUARTERS = st.integers(-6, 22).map(lambda one: one / 4)
EIGHTHS = st.integers(0, 16).map(lambda one: one / 8)


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0, np.inf]), min_size=20, max_size=20),
    st.lists(st.tuples(*[st.one_of(QUARTERS, NUMBERS), EIGHTHS, st.one_of(QUARTERS, NUMBERS)] * 2), min_size=1),
)
def test_a_line_is_blocked_there_and_back_alike(heights, lines):
    sight = GridLineOfSight(np.array(heights).reshape(4, 5))
    segments = np.array(lines, np.float32)
    assert sight(segments).tolist() == sight(segments[:, [3, 4, 5, 0, 1, 2]]).tolist()


def test_who_looks_over_a_crate_sees_what_is_behind_it():
    sight = GridLineOfSight([[0, 1.0, 0]])
    assert sight(np.array([(0, 0.5, 0, 2, 0.5, 0), (0, 1.5, 0, 2, 1.5, 0), (0, 1.5, 0, 2, 0.2, 0)])).tolist() == [
        True, False, True]


def test_heights_may_be_a_transposed_array():
    heights = np.array([[0, 1.0, 0], [0, 0, 0]])
    line = np.array([(0, 0.5, 0, 0, 2.0, 0)], np.float32)
    as_it_is, turned = GridLineOfSight(np.ascontiguousarray(heights.T)), GridLineOfSight(heights.T)
    lines = np.concatenate([line, line[:, [1, 0, 2, 4, 3, 5]], line + 0.5])
    assert turned(lines).tolist() == as_it_is(lines).tolist()


def test_cells_may_be_laid_out_at_any_angle():
    steps = ((32, 16, 0), (-32, 16, 0))          # an isometric map
    sight = GridLineOfSight([[0, 0, 0], [0, np.inf, 0]], steps=steps, up="-z")
    place = {cell: np.array(steps[0]) * cell[1] + np.array(steps[1]) * cell[0] for cell in ((1, 0), (1, 2), (0, 2))}
    lines = np.array([[*place[1, 0], *place[1, 2]], [*place[1, 0] * 0, *place[0, 2]]])
    assert sight(lines).tolist() == [True, False]


@pytest.mark.parametrize("wrong", [
    {"heights_m": [[-1.0]]}, {"heights_m": [[np.nan]]}, {"heights_m": [1.0]},
    {"heights_m": [[1.0]], "steps": ((1, 0, 0), (2, 0, 0))}, {"heights_m": [[1.0]], "up": "x"},
])
def test_what_is_no_ground_is_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        GridLineOfSight(**wrong)
