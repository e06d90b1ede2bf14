"""What docs/phasing.md shows works as it says."""
from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from tests.scheduling.task_sets import peak

TEXT = (Path(__file__).parents[2] / "docs" / "phasing.md").read_text(encoding="utf-8")


def test_its_samples_run_one_after_the_other_and_print_what_it_shows():
    one_by_one, at_once, report = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    (printed,) = re.findall(r"```\n(\d+ frames.*?)```", TEXT, re.S)
    known = {}
    exec(one_by_one, known)
    exec(at_once, known)
    slots = known["slots"]
    better = [known["Slot"](slot.period_frames, phase) for slot, phase in zip(slots, known["phases"], strict=True)]
    assert (peak(slots), peak(better)) == (2, 1)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(report, known)
    assert output.getvalue() == printed
