"""Automatic phasing: where does a new task go, and how even is the result?"""
from __future__ import annotations

import random
from math import lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.scheduling.phasing import LOOK_AHEAD_FRAMES, DryRun, Slot, runs_per_frame

PERIODS = [2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30]


def phased(periods):
    dry_run, slots = DryRun(), []
    for period in periods:
        slots.append(Slot(period, dry_run.best_phase(period)))
        dry_run.add(slots[-1])
    return slots


def peak(slots):
    return max(runs_per_frame(slots, lcm(*(slot.period_frames for slot in slots))))


def test_a_second_task_of_the_same_period_takes_the_free_frame():
    assert phased([2, 2]) == [(2, 0), (2, 1)]


def test_the_first_task_runs_at_once():
    assert phased([7]) == [(7, 0)]


def test_a_hundred_agents_thinking_every_tenth_frame_make_a_flat_load():
    assert runs_per_frame(phased([10] * 100), 10) == [10] * 10


def test_the_dry_run_and_the_real_one_have_one_sign():
    dry_run = DryRun()
    dry_run.add(Slot(5, 2))
    assert [frame for frame in range(12) if dry_run.load[frame]] == [3, 8]


@given(
    others=st.lists(st.tuples(st.sampled_from(PERIODS), st.integers(0, 40)), max_size=10),
    period=st.sampled_from(PERIODS),
)
def test_no_other_phase_would_meet_fewer_tasks(others, period):
    slots, dry_run = [Slot(*other) for other in others], DryRun()
    for slot in slots:
        dry_run.add(slot)
    load = runs_per_frame(slots, lcm(period, *(slot.period_frames for slot in slots)))

    def busiest_joined(phase):
        return max(load[-phase % period :: period])

    chosen = dry_run.best_phase(period)
    assert 0 <= chosen < period
    assert busiest_joined(chosen) == min(map(busiest_joined, range(period)))


@given(slots=st.lists(st.tuples(st.integers(1, 6000), st.integers(0, 6000)), max_size=6))
def test_a_task_taken_out_leaves_no_trace(slots):
    dry_run = DryRun()
    for slot in slots:
        dry_run.add(Slot(*slot))
    assert dry_run.load.tolist() == runs_per_frame([Slot(*s) for s in slots], LOOK_AHEAD_FRAMES)
    for slot in slots:
        dry_run.remove(Slot(*slot))
    assert not dry_run.load.any()


def test_phasing_one_by_one_stays_near_the_lower_bound():
    """Mean of the busiest frame; the textbook's dry run makes 4.29, none at all 14.35."""
    choose = random.Random(7).choice
    peaks = []
    for _ in range(150):
        count = choose([5, 8, 12, 20, 30])
        peaks.append(peak(phased([choose(PERIODS) for _ in range(count)])))
    assert sum(peaks) / len(peaks) <= 3.62


@pytest.mark.parametrize("period", [LOOK_AHEAD_FRAMES - 1, LOOK_AHEAD_FRAMES + 1, 1_000_000])
def test_very_rare_tasks_do_not_share_a_frame_either(period):
    first, second = phased([period, period])
    assert first.phase_frames != second.phase_frames
