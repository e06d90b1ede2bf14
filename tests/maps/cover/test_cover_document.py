"""What docs/library/cover.md shows runs."""
from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[3] / "docs" / "library" / "cover.md").read_text(encoding="utf-8")


def test_its_sample_runs():
    sample, = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    exec(compile(sample, "docs/library/cover.md", "exec"), {})
