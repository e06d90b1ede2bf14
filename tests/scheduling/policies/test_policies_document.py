"""What docs/library/scheduling_policies.md shows works as it says."""
from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[3] / "docs" / "library" / "scheduling_policies.md").read_text(encoding="utf-8")


def test_its_samples_run_one_after_the_other():
    samples = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len(samples) == 4
    known = {}
    for sample in samples:
        exec(sample, known)
