"""The methods that docs/library/senses.md names exist."""
from __future__ import annotations

import re
from pathlib import Path

from ai_core.senses.regional_sense_manager import RegionalSenseManager

DOCUMENT = (Path(__file__).parents[2] / "docs" / "library" / "senses.md").read_text(encoding="utf-8")


def test_the_methods_it_names_are_there():
    before, _, godot = DOCUMENT.partition("## In Godot")  # which names methods of nodes
    named = set(re.findall(r"`(\w+)\(", before + godot.partition("\n## ")[2]))
    methods = {one for one in named if one[0].islower() and one not in ("statistics",)}
    assert len(methods) > 10
    assert [one for one in sorted(methods) if not hasattr(RegionalSenseManager, one)] == []
