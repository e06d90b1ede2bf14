"""What docs/library/events.md shows works as it says."""
from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "library" / "events.md").read_text(encoding="utf-8")


def test_all_samples_run_one_after_the_other():
    samples = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len(samples) == 4
    known = {}
    for sample in samples:
        exec(sample, known)
    known["events"].listen("siren", lambda event: known["heard"].append("siren"))
    known["scheduler"].advance(known["Budget"].unlimited())
    for _ in range(10):
        known["clock"].advance()
        known["scheduler"].advance(known["Budget"].unlimited())
        known["events"].advance(known["Budget"].unlimited())
    assert known["heard"][-1] == "siren"
