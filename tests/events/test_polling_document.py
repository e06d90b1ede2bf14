"""What docs/library/polling.md shows works as it says."""
from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "library" / "polling.md").read_text(encoding="utf-8")


def test_the_samples_print_what_stands_behind_them(capsys):
    samples = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    known = {}
    for sample in samples:
        exec(sample, known)
    printed = capsys.readouterr().out
    promised = re.findall(r"^(?:print.*?)?# (.+)$", "\n".join(samples), re.MULTILINE)
    (table,) = re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL)
    assert printed == "\n".join(promised) + "\n" + table
