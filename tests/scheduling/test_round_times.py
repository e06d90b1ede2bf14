"""Times of tasks that run one after the other, noted by both forms."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ai_core.scheduling.round_times as round_times
from ai_core.scheduling.round_times import RECENT, RoundTimes
from ai_core.scheduling.statistics import RECENT_RUNS
from ai_core.twins import INTERPRETED, kernel_of

INTERPRETED_FORM = INTERPRETED[f"{round_times.__name__}.note_round"]
FORMS = [form for form in (INTERPRETED_FORM, kernel_of(INTERPRETED_FORM)) if form is not None]


@pytest.fixture(params=FORMS, ids=lambda form: type(form).__name__, autouse=True)
def form(request, monkeypatch):
    monkeypatch.setattr(round_times, "note_round", request.param)


@pytest.mark.parametrize("rounds", [1, 2, RECENT_RUNS, RECENT_RUNS + 3, 3 * RECENT_RUNS])
def test_totals_maxima_and_the_latest_rounds_are_kept(rounds):
    times, used = RoundTimes(3), np.random.default_rng(rounds).integers(0, 1 << 40, (rounds, 3))
    for row in used:
        times.note([7, *(7 + row.cumsum()).tolist()])
    for column, (runs, total_ns, longest_ns, recent_ns) in zip(used.T, times.columns(), strict=True):
        assert (runs, total_ns, longest_ns) == (rounds, column.sum(), column.max())
        assert recent_ns == column[-RECENT_RUNS:].tolist()


def test_a_round_of_another_length_is_refused():
    with pytest.raises(ValueError, match="stamps must be 4, got 3"):
        RoundTimes(3).note([1, 2, 3])


@given(st.lists(st.lists(st.integers(0, 1 << 60), min_size=4, max_size=4).map(sorted), max_size=9))
def test_both_forms_agree_to_the_last_bit(rounds):
    tables = []
    for form in FORMS:
        table = np.zeros((RECENT + RECENT_RUNS, 3), np.int64)
        for number, stamps in enumerate(rounds):
            form(table, RECENT + number, stamps)
        tables.append(table)
    assert all((table == tables[0]).all() for table in tables)


@pytest.mark.skipif(len(FORMS) < 2, reason="kernels are not built here")
def test_a_kernel_writes_nowhere_else():
    kernel = FORMS[1]
    table = np.zeros((RECENT + RECENT_RUNS, 1), np.int64)
    for row in (-1, 0, 1, RECENT + RECENT_RUNS):
        with pytest.raises(ValueError, match="row must be from 2 to 65"):
            kernel(table, row, [1, 2])
    with pytest.raises(TypeError, match="2 dimensions of int64"):
        kernel(table.astype(np.float64), 2, [1, 2])
    table.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        kernel(table, 2, [1, 2])
