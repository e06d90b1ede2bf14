"""What docs/library/squads.md shows runs, and prints what it says."""
from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "library" / "squads.md").read_text(encoding="utf-8")


def test_samples_run_in_sequence_and_print_what_they_say(capsys):
    samples = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(samples) == 4
    names: dict[str, object] = {}
    for sample in samples:
        exec(compile(sample, "docs/library/squads.md", "exec"), names)
        said = re.findall(r"^# (.*)$", sample, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == said
