"""What is due on each frame, and where one more task adds least."""
from __future__ import annotations

from math import gcd

from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.scheduling.phasing import PhaseSlot, PhaseTable

tasks = st.lists(
    st.tuples(st.integers(1, 90), st.integers(0, 180), st.integers(1, 5)).map(
        lambda task: (PhaseSlot(task[0], task[1]), task[2])),
    max_size=8,
)


def loaded(frames, tasks):
    table = PhaseTable(frames)
    for slot, weight in tasks:
        table.add(slot, weight)
    return table


def plain_load(frames, tasks):
    load = [0] * frames
    for (period, phase), weight in tasks:
        first = -phase % period
        for frame in range(first, frames, period) if period <= frames else [first % frames]:
            load[frame] += weight
    return load


@given(tasks=tasks, frames=st.integers(1, 100))
def test_each_frame_holds_the_weights_of_all_that_are_due(tasks, frames):
    table = loaded(frames, tasks)
    assert table.load.tolist() == plain_load(frames, tasks)
    for slot, weight in tasks:
        table.remove(slot, weight)
    assert not table.load.any()


@given(tasks=tasks, period=st.integers(1, 60))
def test_the_best_frame_is_the_one_that_plain_counting_finds(tasks, period):
    table, load = loaded(60, tasks), plain_load(60, tasks)
    length = -(-60 // period)

    def judged(first):
        joined = load[first::period]
        joined += [0] * (length - len(joined))
        return max(joined), joined.count(max(joined)), sum(joined)

    assert -table.best_phase(period) % period == min(range(period), key=judged)


@settings(max_examples=30)
@given(tasks=tasks, period=st.integers(61, 200))
def test_rare_task_joins_least_loaded_frame_of_the_best_residue(tasks, period):
    table = loaded(60, tasks)
    first = -table.best_phase(period) % period
    common = gcd(period, 60)
    residue = -table.best_phase(common) % common
    assert first % common == residue
    assert table.load[first % 60] == table.load[residue::common].min()
