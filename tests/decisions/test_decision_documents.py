"""What the documents on habits, state machines, rules and adaptation show works as they say."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "library"


@pytest.mark.parametrize("name", ["habits", "state_machines", "rules", "adaptation"])
def test_the_samples_print_what_stands_behind_them(name, capsys, caplog):
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    says = re.compile(r"^(?:(?:print|bob\.|anna\.).*?)?# (.+)$", re.MULTILINE)
    known, promised = {}, []
    for language, block in re.findall(r"```(python|text)\n(.*?)```", text, re.DOTALL):
        if language == "python":
            exec(block, known)
        promised += says.findall(block) if language == "python" else block.splitlines()
    assert capsys.readouterr().out.splitlines() == promised
    assert not caplog.records       # no callback failed
