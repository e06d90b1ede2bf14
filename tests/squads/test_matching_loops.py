"""Matching of rows to columns: the least total, ties and all."""
from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ai_core.loops import compiled
from ai_core.squads.matching_loops import Matching

needs_compiled = pytest.mark.skipif("ai_core.squads.matching_loops" not in compiled(), reason="interpreted")
whole_costs = st.one_of(st.integers(0, 5).map(float), st.just(np.inf))
tables = st.tuples(st.integers(0, 5), st.integers(0, 6)).flatmap(
    lambda sides: arrays(np.float64, (min(sides), max(sides)), elements=whole_costs))


def match_rows(costs, out, most=1 << 40):
    matching = Matching(costs, out)
    while not matching.advance(most):
        pass
    return matching.matched


def least_total(costs):
    """Number of rows matched and their total by trying everything, each row being preferred to those after it."""
    rows, columns = costs.shape
    best = ((), 0.0)
    for order in permutations([*range(columns), *[-1] * rows], rows):
        matched = tuple(column != -1 and costs[row, column] < np.inf for row, column in enumerate(order))
        total = sum(costs[row, column] for row, column in enumerate(order) if matched[row])
        best = max(best, (matched, -total))
    return best[0], -best[1]


@given(tables.filter(lambda costs: costs.shape[0] <= 4))
def test_total_is_the_least_of_all_ways(costs):
    out = np.full(len(costs), 99, np.int32)
    count = match_rows(costs, out)
    matched, total = least_total(costs)
    assert tuple(out != -1) == matched
    assert count == sum(matched)
    assert sum(costs[row, column] for row, column in enumerate(out) if column != -1) == total
    assert len({*out[out != -1]}) == count


@given(tables, st.integers(0, 20))
def test_slices_of_any_size_match_alike(costs, most):
    whole, sliced = np.full((2, len(costs)), 99, np.int32)
    assert match_rows(costs, whole) == match_rows(costs, sliced, most)
    assert whole.tolist() == sliced.tolist()


def test_of_equal_costs_the_smallest_free_column_is_taken():
    out = np.empty(3, np.int32)
    assert match_rows(np.zeros((3, 5)), out) == 3
    assert out.tolist() == [0, 1, 2]


def test_row_without_a_column_free_of_earlier_rows_has_none():
    out = np.empty(3, np.int32)
    costs = np.array([[1.0, np.inf, np.inf], [2.0, np.inf, np.inf], [0.0, 5.0, 6.0]])
    assert match_rows(costs, out) == 2
    assert out.tolist() == [0, -1, 1]


@pytest.mark.parametrize(("costs", "out"), [
    (np.zeros((2, 3), np.float32), np.zeros(2, np.int32)),
    (np.zeros((2, 3)), np.zeros(2, np.int64)),
    (np.zeros(3), np.zeros(3, np.int32)),
    (np.asfortranarray(np.zeros((2, 3))), np.zeros(2, np.int32)),
])
@needs_compiled
def test_arrays_of_another_kind_are_refused(costs, out):
    with pytest.raises((ValueError, BufferError)):
        match_rows(costs, out)


@pytest.mark.parametrize(("costs", "out"), [
    (np.zeros((3, 2)), np.zeros(3, np.int32)), (np.zeros((2, 3)), np.zeros(3, np.int32)),
])
def test_shapes_that_do_not_fit_are_refused(costs, out):
    with pytest.raises(ValueError, match="not have more rows than columns"):
        match_rows(costs, out)
