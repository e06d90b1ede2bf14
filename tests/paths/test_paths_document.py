"""What docs/library/paths.md shows runs."""
from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "library" / "paths.md").read_text(encoding="utf-8")


def test_its_samples_run_one_after_the_other():
    samples = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(samples) == 10
    names: dict[str, object] = {}
    for sample in samples:
        exec(compile(sample, "docs/library/paths.md", "exec"), names)
