"""The report on phases tells what a plain count over all frames tells."""
from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from math import lcm
from statistics import fmean, pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.scheduling.phase_quality import MOST_FRAMES, LoadSpread, phase_quality
from ai_core.scheduling.phasing import PhaseSlot
from tests.scheduling.task_sets import load

PRIMES = [PhaseSlot(period, 0) for period in (2, 3, 5, 7, 11)]

few_tasks = st.lists(
    st.tuples(
        st.builds(PhaseSlot, st.sampled_from([1, 2, 3, 4, 6, 8, 9, 12, 1200]), st.integers(0, 30)),
        st.sampled_from([0.0, 1.0, 2.5, 40.0]),
    ),
    min_size=1, max_size=7,
)


@settings(max_examples=30)
@given(tasks=few_tasks, from_frame=st.integers(0, 50))
def test_over_the_common_multiple_it_is_exact(tasks, from_frame):
    slots, costs = [slot for slot, _ in tasks], [cost for _, cost in tasks]
    quality = phase_quality(slots, costs_us=costs, from_frame=from_frame)
    runs = load(slots)
    assert (quality.is_exact, quality.frames) == (True, len(runs))
    assert quality.runs.minimum == min(runs)
    assert quality.runs.maximum == max(runs)
    assert quality.runs.mean == pytest.approx(fmean(runs))
    assert quality.runs.spread == pytest.approx(pstdev(runs), abs=1e-9)
    assert histogram(quality) == Counter(runs)
    cost = [sum(costs[index] for index in due(slots, frame)) for frame in range(len(runs))]
    assert quality.cost_us.minimum == pytest.approx(min(cost))
    assert quality.cost_us.maximum == pytest.approx(max(cost))
    assert quality.cost_us.mean == pytest.approx(fmean(cost))
    assert quality.cost_us.spread == pytest.approx(pstdev(cost), abs=1e-6)
    assert quality.worst_names == [str(index) for index in due(slots, quality.worst_frame)]
    assert cost[quality.worst_frame % len(runs)] == pytest.approx(max(cost))
    assert from_frame <= quality.worst_frame < from_frame + len(runs)
    assert json.loads(json.dumps(asdict(quality))) == asdict(quality)


def histogram(quality):
    return {runs: frames for runs, frames in enumerate(quality.frames_with) if frames}


def due(slots, frame):
    return [
        index for index, slot in enumerate(slots)
        if (frame + slot.phase_frames) % slot.period_frames == 0
    ]


@settings(max_examples=30)
@given(phases=st.lists(st.integers(0, 3000), min_size=5, max_size=5))
def test_co_prime_periods_meet_once_in_2310_frames_in_any_phases(phases):
    slots = [PhaseSlot(prime.period_frames, phase) for prime, phase in zip(PRIMES, phases, strict=True)]
    quality = phase_quality(slots)
    assert quality.frames_with == phase_quality(PRIMES).frames_with
    assert (quality.runs.maximum, quality.frames_with[5:]) == (5, [1])
    assert quality.frames == 2310
    assert not quality.can_phasing_help
    assert quality.advice.startswith("Phasing cannot help")


def test_beyond_the_limit_it_looks_at_a_sample_and_says_so():
    slots = [PhaseSlot(period, 0) for period in (11, 13, 16, 17, 19, 23)]
    assert lcm(*(slot.period_frames for slot in slots)) > MOST_FRAMES
    quality = phase_quality(slots, from_frame=1)
    assert (quality.frames, quality.is_exact) == (MOST_FRAMES, False)
    counts = [len(due(slots, frame)) for frame in range(1, MOST_FRAMES + 1)]
    assert histogram(quality) == Counter(counts)
    assert quality.worst_frame == 1 + counts.index(max(counts))


def test_it_names_who_meets_on_the_worst_frame():
    slots = [PhaseSlot(4, 0), PhaseSlot(6, 3), PhaseSlot(6, 2), PhaseSlot(1000, 996)]
    quality = phase_quality(slots, names=["Ann", "Bob", "Cleo", "Dan"])
    assert quality.worst_frame == 4
    assert quality.worst_names == ["Ann", "Cleo", "Dan"]
    assert phase_quality(slots).worst_names == ["0", "2", "3"]


def test_with_costs_the_worst_frame_is_the_costliest_not_fullest():
    slots = [PhaseSlot(4, 0), PhaseSlot(4, 0), PhaseSlot(4, 1)]
    assert phase_quality(slots).worst_names == ["0", "1"]
    assert phase_quality(slots, costs_us=[1, 1, 50]).worst_names == ["2"]


def test_printed_it_is_a_table():
    text = str(phase_quality([PhaseSlot(2, 0), PhaseSlot(4, 0)], costs_us=[5, 5], names=["Ann", "Bob"]))
    assert text.splitlines() == [
        "4 frames from 0, a whole cycle",
        "runs: 0 to 2, mean 0.75, spread 0.83",
        "         0        2 " + "#" * 40,
        "         1        1 " + "#" * 20,
        "         2        1 " + "#" * 20,
        "cost (µs): 0 to 10, mean 3.75, spread 4.15",
        "worst frame 0: Ann, Bob",
        "Re-phasing may lower the peak of 2; no phases go below 1.",
    ]


def test_a_crowd_on_the_worst_frame_is_not_listed_to_the_last():
    assert "worst frame 0: 0, 1, 2, 3, 4, 5, 6, 7 and 12 more" in str(phase_quality([PhaseSlot(2, 0)] * 20))


def test_no_tasks_are_a_flat_load_of_nothing():
    quality = phase_quality([])
    assert (quality.runs, quality.frames_with) == (LoadSpread(0, 0, 0, 0), [1])
    assert "no task" in str(quality)


@pytest.mark.parametrize(("how", "error", "complaint"), [
    ({"costs_us": [1.0]}, ValueError, "costs_us must hold a value for each of 2 slots, got 1"),
    ({"costs_us": [1.0, -1.0]}, ValueError, "a cost in costs_us must be at least 0"),
    ({"costs_us": [1.0, float("nan")]}, ValueError, "a cost in costs_us must be a finite number"),
    ({"costs_us": [1.0, True]}, TypeError, "a cost in costs_us must be a number"),
    ({"names": ["a"]}, ValueError, "names must hold a value for each of 2 slots, got 1"),
    ({"names": "ab"}, TypeError, "names must be a list of strings"),
    ({"names": [1, 2]}, TypeError, "names must be a list of strings"),
    ({"from_frame": -1}, ValueError, "from_frame must be at least 0"),
    ({"from_frame": True}, TypeError, "from_frame must be an integer"),
])
def test_misuse_is_refused_at_the_call(how, error, complaint):
    with pytest.raises(error, match=complaint):
        phase_quality([PhaseSlot(2, 0), PhaseSlot(3, 0)], **how)
