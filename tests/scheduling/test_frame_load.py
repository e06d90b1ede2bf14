"""What is due on each frame, and where one more task adds least."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ai_core.scheduling.frame_load as frame_load
from ai_core.scheduling.frame_load import FrameLoad
from ai_core.twins import INTERPRETED, kernel_of

tasks = st.lists(
    st.tuples(st.integers(1, 90), st.integers(0, 89), st.integers(1, 5)).map(
        lambda task: (task[0], task[1] % task[0], task[2])
    ),
    max_size=8,
)


def loaded(frames, tasks):
    load = FrameLoad(frames)
    for task in tasks:
        load.add(*task)
    return load


def plain_cells(frames, tasks):
    cells = [0] * frames
    for period, first, weight in tasks:
        for frame in range(first, frames, period) if period <= frames else [first % frames]:
            cells[frame] += weight
    return cells


@given(tasks=tasks, frames=st.integers(1, 100))
def test_each_frame_holds_the_weights_of_all_that_are_due(tasks, frames):
    load = loaded(frames, tasks)
    assert load.cells.tolist() == plain_cells(frames, tasks)
    for task in tasks:
        load.remove(*task)
    assert not load.cells.any()


@given(tasks=tasks, period=st.integers(1, 60), choice=st.integers(0, 9))
def test_the_best_frame_is_the_one_that_plain_counting_finds(tasks, period, choice):
    load, cells = loaded(60, tasks), plain_cells(60, tasks)
    length = -(-60 // period)

    def judged(first):
        joined = cells[first::period]
        joined += [0] * (length - len(joined))
        return max(joined), joined.count(max(joined)), sum(joined)

    best = min(map(judged, range(period)))
    tied = [first for first in range(period) if judged(first) == best]
    assert load.best_first_frame(period, choice) == tied[choice % len(tied)]
    columns = load.by_first_frame(period)
    assert list(zip(*columns, strict=True)) == [judged(first) for first in range(period)]


@settings(max_examples=30)
@given(tasks=tasks, period=st.integers(61, 200))
def test_rare_task_joins_least_loaded_frame_of_the_best_residue(tasks, period):
    load = loaded(60, tasks)
    first = load.best_first_frame(period)
    assert 0 <= first < period
    common = max(n for n in range(1, 61) if period % n == 0 and 60 % n == 0)
    residue = load.best_first_frame(common)
    assert first % common == residue
    assert load.cells[first % 60] == load.cells[residue::common].min()


def test_what_is_not_counted_in_cannot_be_taken_out():
    load = loaded(12, [(100, 99, 2)])
    load.remove(100, 99, 2)
    with pytest.raises(ValueError, match="no task of period 100 that is first due on frame 99"):
        load.remove(100, 99, 2)


INTERPRETED_BEST, INTERPRETED_ADD = (
    INTERPRETED[f"{frame_load.__name__}.{name}"] for name in ("best_of_residues", "add_to_residue")
)
COMPILED_BEST, COMPILED_ADD = kernel_of(INTERPRETED_BEST), kernel_of(INTERPRETED_ADD)
needs_kernel = pytest.mark.skipif(COMPILED_BEST is None, reason="kernels are not built here")


@needs_kernel
@given(
    period=st.integers(1, 90), rows=st.integers(1, 20), least=st.integers(-2, 0), most=st.integers(0, 3),
    choice=st.integers(0, 9), seed=st.integers(0, 1 << 32),
)
@example(period=5, rows=2, least=-1, most=-1, choice=0, seed=0)     # as where more is taken out than was put in
def test_compiled_and_interpreted_find_the_same_residue(period, rows, least, most, choice, seed):
    cells = np.random.default_rng(seed).integers(least, most + 1, 2 * period * rows)
    assert COMPILED_BEST(cells, rows, period, choice) == INTERPRETED_BEST(cells, rows, period, choice)


@needs_kernel
@given(
    frames=st.integers(0, 50), first=st.integers(0, 60), period=st.integers(1, 60), weight=st.integers(-9, 9),
)
@example(frames=50, first=3, period=2 ** 63 - 1, weight=1)     # the next frame would be beyond all numbers
def test_compiled_and_interpreted_add_to_the_same_cells(frames, first, period, weight):
    here, there = np.arange(50), np.arange(50)
    COMPILED_ADD(here, frames, first, period, weight)
    INTERPRETED_ADD(there, frames, first, period, weight)
    assert here.tolist() == there.tolist()


@needs_kernel
@pytest.mark.parametrize(("rows", "period", "choice"), [(0, 1, 0), (1, 0, 0), (1, 1, -1), (3, 4, 0), (1, 1 << 61, 0)])
def test_the_kernel_refuses_what_it_cannot_read(rows, period, choice):
    with pytest.raises(ValueError, match="must be"):
        COMPILED_BEST(np.zeros(11, np.int64), rows, period, choice)


@needs_kernel
@pytest.mark.parametrize(("frames", "first", "period"), [(12, 0, 1), (5, -1, 1), (5, 0, 0)])
def test_the_kernel_refuses_cells_that_are_not_there(frames, first, period):
    with pytest.raises(ValueError, match="must be"):
        COMPILED_ADD(np.zeros(11, np.int64), frames, first, period, 1)
