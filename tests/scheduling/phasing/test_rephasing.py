"""All phases at once: lower peaks, never worse than before."""
from __future__ import annotations

import random
from itertools import product
from math import lcm

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.scheduling import phasing
from ai_core.scheduling.phasing import PhaseSlot
from tests.scheduling.task_sets import PERIODS, load, mean_peak, peak, phased, random_sets, runs_per_frame

any_slots = st.lists(
    st.builds(PhaseSlot, st.sampled_from([1, *PERIODS, 7, 30_000]), st.integers(0, 40)), max_size=7
)
few_slots = st.lists(
    st.builds(PhaseSlot, st.sampled_from(PERIODS), st.integers(0, 40)), min_size=1, max_size=9
)


def rephased(slots, **how):
    return [
        PhaseSlot(slot.period_frames, phase)
        for slot, phase in zip(slots, phasing.rephased(slots, **how), strict=True)]


def cost_per_frame(slots, weights):
    frames = lcm(*(slot.period_frames for slot in slots))
    return [
        sum(weight for slot, weight in zip(slots, weights, strict=True)
            if (frame + slot.phase_frames) % slot.period_frames == 0)
        for frame in range(frames)
    ]


@pytest.mark.parametrize(("periods", "optimum"), [
    ([3, 6, 6, 9, 18], 1), ([3, 8, 2, 4, 2], 3), ([4, 12, 3, 8, 2], 2),
    ([6, 6, 8, 3, 4], 2), ([2, 6, 8, 12, 2], 2), ([12, 4, 12, 12, 8], 1),
])
def test_where_one_by_one_fails_all_at_once_finds_the_optimum(periods, optimum):
    assert peak(rephased([PhaseSlot(period, 0) for period in periods])) == optimum
    assert peak(rephased(phased(periods))) == optimum


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 1, 2])
def test_mean_peak_of_150_random_sets(seed):
    sets = random_sets(seed)
    bound = sum(-(-sum(360 // period for period in periods) // 360) for periods in sets) / len(sets)
    # Seed 7: one by one 3.62, this 3.39, lower bound 2.71.
    assert mean_peak(rephased(phased(periods)) for periods in sets) <= (3.42 if seed == 7 else bound + 0.74)


@settings(max_examples=15)
@given(periods=st.lists(st.sampled_from([2, 3, 4, 6]), min_size=1, max_size=4))
def test_no_phases_at_all_have_a_lower_peak_in_small_sets(periods):
    found = peak(rephased([PhaseSlot(period, 0) for period in periods]))
    first, *rest = periods  # turning all by one frame changes nothing, so the first may stay
    best = min(
        peak([PhaseSlot(first, 0), *map(PhaseSlot, rest, phases)]) for phases in product(*map(range, rest))
    )
    assert found == best


@given(slots=few_slots)
def test_result_is_no_worse_than_the_beginning(slots):
    before, now = load(slots), load(rephased(slots))
    assert (max(now), now.count(max(now))) <= (max(before), before.count(max(before)))


@settings(max_examples=30)
@given(slots=few_slots, data=st.data())
def test_weights_are_costs_and_the_costliest_frame_gets_cheaper(slots, data):
    weights = data.draw(st.lists(st.sampled_from([1, 2, 8, 64]), min_size=len(slots), max_size=len(slots)))
    before = max(cost_per_frame(slots, weights))
    after = max(cost_per_frame(rephased(slots, weights=weights), weights))
    assert after <= before


def test_heavy_task_keeps_its_frame_where_counts_would_share_it():
    slots = [PhaseSlot(2, 0), PhaseSlot(4, 0), PhaseSlot(4, 0), PhaseSlot(4, 0)]
    weights = [10.0, 90.0, 30.0, 30.0]
    assert max(cost_per_frame(rephased(slots, weights=weights), weights)) == 90.0


def test_weights_of_nothing_at_all_count_as_equal():
    assert peak(rephased([PhaseSlot(4, 0)] * 4, weights=[0.0] * 4)) == 1


@pytest.mark.parametrize("weights", [[5e-324, 0.0], [1e100, 1e-300], [1, 10**6], [0.1, 0.1]])
def test_weights_of_any_size_will_do(weights):
    assert load(rephased([PhaseSlot(2, 0), PhaseSlot(2, 0)], weights=weights)) == [1, 1]


@given(slots=any_slots, data=st.data())
def test_what_may_not_move_stays(slots, data):
    movable = data.draw(st.lists(st.booleans(), min_size=len(slots), max_size=len(slots)))
    after = rephased(slots, movable=movable)
    assert [one for one, may in zip(after, movable, strict=True) if not may] == [
        one for one, may in zip(slots, movable, strict=True) if not may
    ]


def test_others_keep_away_from_what_may_not_move():
    slots = [PhaseSlot(3, 0), PhaseSlot(3, 0), PhaseSlot(3, 0)]
    after = rephased(slots, movable=[True, False, True])
    assert after[1] == (3, 0)
    assert load(after) == [1, 1, 1]


def test_phases_that_cannot_be_bettered_are_left_as_they_are():
    slots = [PhaseSlot(4, 5), PhaseSlot(4, 2), PhaseSlot(4, 3), PhaseSlot(4, 0)]
    assert rephased(slots) == slots


def test_nothing_to_phase_is_done_at_once():
    assert rephased([]) == []
    assert rephased([PhaseSlot(1_000_000, 7)]) == [PhaseSlot(1_000_000, 7)]


def test_rare_tasks_of_one_period_share_no_frame():
    after = rephased([PhaseSlot(1_000_000, 0)] * 40 + [PhaseSlot(2, 0)])
    assert len({slot.phase_frames for slot in after[:40]}) == 40


@pytest.mark.slow
def test_ten_thousand_tasks_of_many_periods_come_near_the_mean():
    chance = random.Random(3)
    slots = [PhaseSlot(chance.randint(1, 60), 0) for _ in range(10_000)]
    mean = sum(1 / slot.period_frames for slot in slots)
    assert max(runs_per_frame(rephased(slots), 5040)) <= 1.02 * mean


@pytest.mark.parametrize(("how", "error", "complaint"), [
    ({"weights": [1.0]}, ValueError, "weights must hold a value for each of 2 slots, got 1"),
    ({"weights": [1.0, -1.0]}, ValueError, "a weight in weights must be at least 0, got -1"),
    ({"weights": [1.0, float("nan")]}, ValueError, "a weight in weights must be a finite number"),
    ({"weights": [1.0, float("inf")]}, ValueError, "a weight in weights must be a finite number"),
    ({"weights": [1.0, 1e101]}, ValueError, "a weight in weights must be between"),
    ({"weights": [1.0, True]}, TypeError, "a weight in weights must be a number"),
    ({"movable": [True]}, ValueError, "movable must hold a value for each of 2 slots, got 1"),
    ({"movable": [True, 1]}, TypeError, "movable must hold only True and False, got 1"),
])
def test_misuse_is_refused_at_the_call(how, error, complaint):
    with pytest.raises(error, match=complaint):
        phasing.rephased([PhaseSlot(2, 0), PhaseSlot(3, 0)], **how)


def test_what_is_no_slot_is_refused():
    with pytest.raises(TypeError, match="a slot must be a period and a phase, got 3"):
        phasing.rephased([3])
