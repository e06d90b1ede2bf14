"""What docs/library/strategist.md shows runs."""
from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[3] / "docs" / "library" / "strategist.md").read_text(encoding="utf-8")


def test_its_samples_run_one_after_the_other(capsys):
    samples = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(samples) == 2
    names: dict[str, object] = {}
    for sample in samples:
        exec(compile(sample, "docs/library/strategist.md", "exec"), names)
    assert "not seen for" in capsys.readouterr().out
