"""What docs/library/debugging.md shows of the library works as it says."""
from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "library" / "debugging.md").read_text(encoding="utf-8")


def test_its_sample_prints_a_line_for_each_frame(capsys):
    (sample,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    exec(sample, {})
    assert capsys.readouterr().out == "".join(f"{frame} ['look around']\n" for frame in range(3))
