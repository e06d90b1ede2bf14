"""What docs/library/determinism.md shows of recording runs as it stands, and prints what it says."""
from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "library" / "determinism.md").read_text(encoding="utf-8")


def test_its_sample_records_a_world_and_replays_it(capsys):
    (sample,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    (said,) = re.findall(r"^print\(.*\) +# (.*)$", sample, re.M)
    exec(compile(sample, "docs/library/determinism.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [said]
