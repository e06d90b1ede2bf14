"""What docs/state_machines.md, docs/rules.md and docs/adaptation.md show works as they say."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["state_machines", "rules", "adaptation"])
def test_the_samples_print_what_stands_behind_them(name, capsys):
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    samples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    known = {}
    for sample in samples:
        exec(sample, known)
    says = re.compile(r"^(?:(?:print|bob\.).*?)?# (.+)$", re.MULTILINE)
    promised = [said for sample in samples for said in says.findall(sample)]
    promised += [line for shown in re.findall(r"```text\n(.*?)```", text, re.DOTALL) for line in shown.splitlines()]
    assert capsys.readouterr().out.splitlines() == promised
