"""What docs/library/timeslicing.md shows works as it says."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from ai_core.scheduling.timeslicer import Timing
from tests.scheduling.timeslicing.slicers import age_bounds

TEXT = (Path(__file__).parents[3] / "docs" / "library" / "timeslicing.md").read_text(encoding="utf-8")


def test_the_samples_run_and_print_what_the_text_says(capsys):
    known = {}
    for sample in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(sample, known)
    known["pool"].shutdown()
    assert f"This prints `{capsys.readouterr().out.strip()}`" in TEXT


@pytest.mark.parametrize("timing", Timing, ids=lambda timing: timing.name)
def test_the_table_tells_the_bounds(timing):
    least, most = re.search(rf"\| `{timing.name}` \|.*\| (\d+) to (\d+) \|$", TEXT, re.MULTILINE).groups()
    assert age_bounds(timing, 10) == (int(least), int(most))
