"""The kernel and its twin match alike, ties and all."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import ai_core.squads.least_cost_matching as least_cost_matching
from tests.squads.conftest import FORMS, KERNEL, TWIN

pytestmark = pytest.mark.usefixtures("form")

prices = st.one_of(st.integers(0, 5).map(float), st.floats(-1e6, 1e6), st.just(np.inf))
tables = st.tuples(st.integers(0, 12), st.integers(0, 12)).flatmap(
    lambda sides: arrays(np.float64, (min(sides), max(sides)), elements=prices))


@pytest.mark.skipif(KERNEL is None, reason="the kernel is not built")
@given(tables)
def test_kernel_and_twin_choose_the_same_columns(costs):
    found = {}
    for name, match in FORMS.items():
        out = np.full(len(costs), 99, np.int32)
        found[name] = match(costs, out), out.tolist()
    assert found["compiled"] == found["interpreted"]


@pytest.mark.skipif(KERNEL is None, reason="the kernel is not built")
def test_kernel_and_twin_agree_on_two_hundred():
    costs = np.random.default_rng(1).integers(0, 50, (200, 220)).astype(np.float64)
    one, other = (np.empty(200, np.int32) for _ in range(2))
    assert KERNEL(costs, one) == TWIN(costs, other) == 200
    assert (one == other).all()


def test_of_equal_ways_the_smallest_free_column_is_taken():
    out = np.empty(3, np.int32)
    assert least_cost_matching.match_rows(np.zeros((3, 5)), out) == 3
    assert out.tolist() == [0, 1, 2]


def test_row_without_a_column_free_of_earlier_rows_has_none():
    out = np.empty(3, np.int32)
    costs = np.array([[1.0, np.inf, np.inf], [2.0, np.inf, np.inf], [0.0, 5.0, 6.0]])
    assert least_cost_matching.match_rows(costs, out) == 2
    assert out.tolist() == [0, -1, 1]


@pytest.mark.parametrize(("costs", "out"), [
    (np.zeros((2, 3), np.float32), np.zeros(2, np.int32)),
    (np.zeros((2, 3)), np.zeros(2, np.int64)),
    (np.zeros(3), np.zeros(3, np.int32)),
    (np.zeros((3, 3)).T[:, ::2].T, np.zeros(2, np.int32)),
    (np.asfortranarray(np.zeros((2, 3))), np.zeros(2, np.int32)),
])
def test_arrays_of_another_kind_are_refused(costs, out):
    with pytest.raises(TypeError):
        least_cost_matching.match_rows(costs, out)


@pytest.mark.parametrize(("costs", "out"), [
    (np.zeros((3, 2)), np.zeros(3, np.int32)), (np.zeros((2, 3)), np.zeros(3, np.int32)),
])
def test_shapes_that_do_not_fit_are_refused(costs, out):
    with pytest.raises(ValueError, match="not have more rows than columns"):
        least_cost_matching.match_rows(costs, out)
