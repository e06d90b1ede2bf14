"""What docs/library/phasing.md shows works as it says."""
from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from ai_core.scheduling.phasing import DryRun, PhaseSlot, rephased
from tests.scheduling.task_sets import PERIODS, mean_peak, peak, phased, random_sets

TEXT = (Path(__file__).parents[3] / "docs" / "library" / "phasing.md").read_text(encoding="utf-8")


def test_samples_run_in_sequence_and_print_what_is_shown():
    one_by_one, at_once, report = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    (printed,) = re.findall(r"```\n(\d+ frames.*?)```", TEXT, re.S)
    known = {}
    exec(one_by_one, known)
    exec(at_once, known)
    slots = known["slots"]
    better = [known["PhaseSlot"](slot.period_frames, phase) for slot, phase in zip(slots, known["phases"], strict=True)]
    assert (peak(slots), peak(better)) == (2, 1)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(report, known)
    assert output.getvalue() == printed


def slots_rephased(slots):
    return [PhaseSlot(slot.period_frames, phase) for slot, phase in zip(slots, rephased(slots), strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("column", [0, 1, 2], ids=["divisors of 360", "5,040 frames", "100,000 frames"])
def test_its_table_of_mean_peaks_is_what_comes_out(column):
    rows = re.findall(r"^\| (.+?) \| (\d.*?) \| (.*?) \| (.*?) \|$", TEXT, re.M)
    told = {row[0]: row[1 + column] for row in rows}
    sets, frames = random_sets(7, [PERIODS, range(2, 31), range(2, 31)][column]), (None, 5040, 100_000)[column]
    one_by_one = [phased(periods) for periods in sets]
    found = {
        "all 0": [[PhaseSlot(period, 0) for period in periods] for periods in sets],
        "`DryRun`, the textbook's": [phased(periods, DryRun()) for periods in sets],
        "`PhaseTable`, one by one": one_by_one,
        "`rephased`, all at once": list(map(slots_rephased, one_by_one)),
    }
    assert {name: float(told[name]) for name in found} == {
        name: pytest.approx(mean_peak(slots, frames), abs=0.006) for name, slots in found.items()}
