"""What docs/library/level_of_detail.md shows works as it says."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

import ai_core.level_of_detail as level_of_detail

TEXT = (Path(__file__).parents[2] / "docs" / "library" / "level_of_detail.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_samples_run_one_after_the_other(capsys):
    known = {}
    samples = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len(samples) == 6
    for sample in samples:
        exec(compile(sample, "docs/library/level_of_detail.md", "exec"), known)
    explained, *printed = capsys.readouterr().out.splitlines()
    assert explained.startswith("{'distance': 0.5, 'view': 0.109")
    assert printed == re.findall(r"^print\(.*\) +# ([^{\n]*)$", "".join(samples), re.M)
    assert known["market"].level is not None
    community = known["community"]
    assert community.count == 25_001
    assert sorted(community.known) == ["Ilse", "woman at the well"]
    assert community.total("wealth") == pytest.approx(25_000 * 30 + 4_000 + 3, rel=1e-9)


def test_the_document_names_what_there_is():
    for name in re.findall(r"`([A-Z][A-Za-z]+)`", TEXT):
        assert hasattr(level_of_detail, name), name
