"""Flow fields where every cell costs the same: lengths and moves back from the goals."""
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ai_core.paths.searches.canonical_field as canonical_field
from ai_core.budget import Budget
from ai_core.maps.grid import Grid
from ai_core.paths.flow_field import FlowField
from ai_core.paths.searches.canonical_field import FAR, LONGEST_RUN
from ai_core.paths.searches.canonical_moves import costs_of
from tests.paths.conftest import FORMS, forms_of
from tests.paths.levels import plain_costs
from tests.paths.test_canonical_search import passages


def written(make, passage, goals, most):
    core = make(passage.open_moves)
    lengths, moves = np.empty(passage.shape, np.uint32), np.zeros(passage.shape, np.uint8)
    for ends in (np.zeros(1, np.int32), goals):     # the second in the memory of the first
        core.begin(ends, lengths, moves)
        moves[:] = 0
        if ends is goals:
            moves.reshape(-1)[goals] = 8
        slices = []
        while not core.is_done:
            slices.append(core.advance(most))
    assert not core.is_too_far
    return slices, lengths, moves


@given(passage=passages(), numbers=st.lists(st.integers(0, 195), min_size=1, max_size=3))
def test_lengths_are_those_of_dijkstra(passage, numbers):
    goals = np.unique([number % passage.costs.size for number in numbers]).astype(np.int32)
    of_each = [plain_costs(passage, int(goal)) for goal in goals]
    for make in forms_of("canonical_field"):
        _, lengths, _ = written(make, passage, goals, 1000)
        costs = np.where(lengths == FAR, np.inf, costs_of(lengths, passage.least_cost)).reshape(-1)
        for cell in range(passage.costs.size):
            best = min(costs_from.get(cell, math.inf) for costs_from in of_each)
            assert costs[cell] == pytest.approx(best, rel=1e-12)


@pytest.mark.skipif(len(FORMS) < 2, reason="kernels are not built")
@given(
    passage=passages(), numbers=st.lists(st.integers(0, 195), min_size=1, max_size=3), most=st.integers(1, 60))
def test_both_forms_do_the_same_in_every_slice(passage, numbers, most):
    goals = np.unique([number % passage.costs.size for number in numbers]).astype(np.int32)
    first, second = (written(make, passage, goals, most) for make in forms_of("canonical_field"))
    assert first[0] == second[0]
    assert first[1].tolist() == second[1].tolist()
    assert first[2].tolist() == second[2].tolist()


@given(passage=passages(), goal=st.integers(0, 195), most=st.integers(1, 60))
def test_slices_change_nothing(passage, goal, most):
    goals = np.array([goal % passage.costs.size], np.int32)
    for make in forms_of("canonical_field"):
        whole, sliced = written(make, passage, goals, 10_000), written(make, passage, goals, most)
        assert whole[1].tolist() == sliced[1].tolist()
        assert whole[2].tolist() == sliced[2].tolist()


def test_a_run_longer_than_the_ring_has_room_for_goes_on_later():
    passage = Grid(np.ones((1, 3 * LONGEST_RUN))).passage()
    field = FlowField(passage, 0)
    field.advance(Budget.unlimited())
    assert field.costs.tolist() == [list(range(3 * LONGEST_RUN))]


def test_path_too_long_for_its_numbers_uses_another_search(monkeypatch):
    made = canonical_field.canonical_field
    passage = Grid(np.ones((5, 7))).passage()
    fits = FlowField(passage, 3)
    fits.advance(Budget.unlimited())

    class Limited:
        """As the heart, but nothing is near enough for it."""

        def __init__(self, open_moves):
            self.core = made(open_moves)
            self.is_done, self.is_too_far = False, False

        def begin(self, *arguments):
            self.core.begin(*arguments)

        def advance(self, most):
            self.is_done = self.is_too_far = True
            return self.core.advance(1)

    monkeypatch.setattr(canonical_field, "canonical_field", Limited)
    field = FlowField(passage, 3)
    field.advance(Budget.unlimited())
    assert np.allclose(field.costs, fits.costs, rtol=1e-12)
    assert field.path_from(34).cells[-1] == 3


def test_a_way_too_long_for_its_numbers_is_noticed(monkeypatch):
    monkeypatch.setattr(canonical_field, "LONGEST_WAY", 20 * 13_860)
    core = forms_of("canonical_field")[0](Grid(np.ones((40, 40))).passage().open_moves)
    core.begin(np.zeros(1, np.int32), np.empty((40, 40), np.uint32), np.empty((40, 40), np.uint8))
    while not core.is_done:
        core.advance(100)
    assert core.is_too_far


def test_a_few_movers_are_told_what_is_known_of_all():
    grid = Grid([[1, 1, math.inf, 1]])
    field = FlowField(grid.passage(), 0)
    with pytest.raises(RuntimeError, match="is not done"):
        field.costs_of([0])
    field.advance(Budget.unlimited())
    assert field.costs_of([1, 3, 0]).tolist() == [1, math.inf, 0]
    with pytest.raises(ValueError, match=r"cells must be 0 to 3, got \[-1\]"):
        field.costs_of([-1])


def test_the_kernel_refuses_what_it_would_write_wrongly():
    for make in forms_of("canonical_field")[1:]:
        core = make(np.zeros((2, 3), np.uint8))
        with pytest.raises(ValueError, match="must be uint32 and uint8"):
            core.begin(np.zeros(1, np.int32), np.zeros(6), np.zeros(6, np.uint8))
        with pytest.raises(IndexError, match="a goal is not on the grid"):
            core.begin(np.array([6], np.int32), np.zeros(6, np.uint32), np.zeros(6, np.uint8))
        assert core.is_done
        assert core.advance(10) == 0
