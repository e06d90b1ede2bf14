"""What is due on each frame, and where one more task adds least."""
from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.scheduling.phasing import FrameLoad

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
    for period, first, weight in tasks:
        load.add(period, first, -weight)
    assert not load.cells.any()


@given(tasks=tasks, period=st.integers(1, 60))
def test_the_best_frame_is_the_one_that_plain_counting_finds(tasks, period):
    load, cells = loaded(60, tasks), plain_cells(60, tasks)
    length = -(-60 // period)

    def judged(first):
        joined = cells[first::period]
        joined += [0] * (length - len(joined))
        return max(joined), joined.count(max(joined)), sum(joined)

    assert load.best_first_frame(period) == min(range(period), key=judged)


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
