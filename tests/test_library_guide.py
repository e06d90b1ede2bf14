"""The guide of the library and the sample of the README run, and print what they say."""
from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "library" / "guide.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_samples_of_the_guide_print_their_comments(capsys):
    samples = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, object] = {}
    for sample in samples:
        exec(compile(sample, "docs/library/guide.md", "exec"), names)
        said = re.findall(r"^print\(.*\) +# (.*)$", sample, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == said, sample
    assert len(samples) == 8


def test_the_guide_has_about_a_thousand_words():
    assert 900 < len(GUIDE.split()) < 1200


def test_the_sample_of_the_readme_prints_what_it_says(capsys):
    [sample] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    [said] = re.findall(r"```text\n(after.*?)```", README, re.DOTALL)
    exec(sample, {})
    assert capsys.readouterr().out == said
