"""What docs/library/decision_maps.md shows in Python runs; what it shows in GDScript runs in Godot."""
from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "library" / "decision_maps.md").read_text(encoding="utf-8")


def test_its_samples_run_one_after_the_other():
    samples = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(samples) == 4
    names: dict[str, object] = {}
    for sample in samples:
        exec(compile(sample, "docs/library/decision_maps.md", "exec"), names)
