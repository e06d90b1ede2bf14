"""Slots are given out at the least total cost, to as many as can have one, with few changes."""
from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ai_core.squads.slot_assignment import assign, reassign_slots

costs_with_walls = st.one_of(st.integers(0, 9).map(float), st.floats(0, 100), st.just(np.inf))


def tables(most):
    return st.tuples(st.integers(0, most), st.integers(0, most)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=costs_with_walls))


def by_trying_all(costs):
    """Return (how many have a slot, least total) by trying every way."""
    if costs.shape[0] > costs.shape[1]:
        costs = costs.T
    rows, columns = costs.shape
    best = (0, 0.0)
    for chosen in permutations(range(columns), rows):
        got = [costs[row, column] for row, column in enumerate(chosen) if np.isfinite(costs[row, column])]
        best = min(best, (-len(got), sum(got)))
    return -best[0], best[1]


@settings(max_examples=60)
@given(tables(5))
def test_it_equals_trying_all_ways(costs):
    found = assign(costs)
    having = found.slots >= 0
    count, total = by_trying_all(costs)
    assert having.sum() == count
    assert found.total == pytest.approx(total, abs=1e-6)
    assert len(set(found.slots[having].tolist())) == count
    assert np.isfinite(costs[having, found.slots[having]]).all()


@pytest.mark.parametrize("shape", [(6, 8), (7, 7), (8, 6)])
@pytest.mark.parametrize("walls", [0.0, 0.5])
def test_it_equals_trying_all_ways_of_up_to_eight(shape, walls):
    random = np.random.default_rng(4)
    costs = np.where(random.random(shape) < walls, np.inf, random.random(shape))
    count, total = by_trying_all(costs)
    found = assign(costs)
    assert ((found.slots >= 0).sum(), round(found.total, 9)) == (count, round(total, 9))


@pytest.mark.slow
def test_it_equals_trying_all_ways_of_eight_by_eight():
    random = np.random.default_rng(5)
    costs = np.where(random.random((8, 8)) < 0.3, np.inf, random.integers(0, 20, (8, 8)))
    count, total = by_trying_all(costs)
    found = assign(costs)
    assert ((found.slots >= 0).sum(), found.total) == (count, total)


def test_existing_assignment_is_found_where_greedy_one_is_stuck():
    found = assign([[2, 3], [0, np.inf]])
    assert found.slots.tolist() == [1, 0]
    assert found.total == 3
    assert found.infeasible == ()


@given(st.permutations(range(7)), st.data())
def test_it_never_fails_where_an_assignment_exists(order, data):
    walls = data.draw(arrays(np.bool_, (7, 7)))
    costs = np.where(walls, np.inf, 1.0)
    costs[np.arange(7), order] = 1.0                 # so one exists
    found = assign(costs)
    assert found.infeasible == ()
    assert sorted(found.slots.tolist()) == list(range(7))


def test_who_may_take_no_slot_is_told_and_the_others_have_theirs():
    found = assign([[1, 5, 9], [np.inf, np.inf, np.inf], [4, np.inf, np.inf]])
    assert found.slots.tolist() == [1, -1, 0]
    assert found.infeasible == (1,)


def test_more_members_than_slots_is_not_infeasible():
    found = assign([[3, 1], [2, 2], [1, 3], [9, 9]])
    assert found.slots.tolist() == [1, -1, 0, -1]
    assert found.infeasible == ()


def test_two_who_may_only_take_the_same_slot():
    found = assign([[1, np.inf], [2, np.inf]])
    assert found.slots.tolist() == [0, -1]
    assert found.infeasible == (1,)


def test_nobody_and_no_slots_are_no_error():
    assert assign(np.zeros((0, 4))).slots.shape == (0,)
    assert assign(np.zeros((3, 0))).slots.tolist() == [-1, -1, -1]
    assert assign(np.zeros((3, 0))).infeasible == (0, 1, 2)
    assert reassign_slots(np.zeros((0, 4)), []).slots.shape == (0,)


def test_removing_one_of_fifty_moves_one():
    random = np.random.default_rng(3)
    costs = random.random((50, 50)) * 40
    before = assign(costs).slots
    for gone in range(50):
        left = np.delete(np.arange(50), gone)
        slots = before[left]
        after = reassign_slots(costs[left, :49], np.where(slots < 49, slots, -1)).slots
        needed = int(before[gone] != 49)             # whoever stood in the last slot takes the one that is free
        assert (after != slots).sum() == needed


@settings(max_examples=50)
@given(st.integers(2, 6), st.data())
def test_as_few_change_as_must(count, data):
    costs = data.draw(arrays(np.float64, (count, count), elements=costs_with_walls))
    before = np.array(data.draw(st.permutations(range(count))), np.int32)
    found = reassign_slots(costs, before)
    having = int((found.slots >= 0).sum())
    stay = max(
        sum(slot == before[row] and np.isfinite(costs[row, slot]) for row, slot in enumerate(chosen))
        for chosen in permutations(range(count))
        if sum(np.isfinite(costs[row, column]) for row, column in enumerate(chosen)) == having
    )
    assert (found.slots == before).sum() == stay


def test_a_change_must_gain_more_than_it_costs():
    costs = [[5.0, 1.0], [1.0, 5.0]]
    assert reassign_slots(costs, [0, 1], 3.0).slots.tolist() == [1, 0]
    assert reassign_slots(costs, [0, 1], 5.0).slots.tolist() == [0, 1]
    assert reassign_slots(costs, [0, 1], 5.0).total == 10
    assert reassign_slots(costs, [-1, 7], None).slots.tolist() == [1, 0]


@pytest.mark.parametrize(("costs", "error", "complaint"), [
    ([[1.0, np.nan]], ValueError, "costs must be finite, or inf for a forbidden slot, got .* of member 0"),
    ([[1.0], [-np.inf]], ValueError, "of member 1"),
    ([1.0, 2.0], ValueError, r"costs must have shape \(members, slots\), got \(2,\)"),
    ([["a"]], TypeError, "costs must be numbers"),
])
def test_costs_that_are_none_are_refused(costs, error, complaint):
    with pytest.raises(error, match=complaint):
        assign(costs)


def test_before_must_fit():
    with pytest.raises(ValueError, match=r"before must have shape \(2,\), got \(1,\)"):
        reassign_slots([[1.0], [2.0]], [0])
