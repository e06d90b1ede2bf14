"""What docs/library/level_of_detail.md shows works as it says."""
from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

import ai_core.level_of_detail as level_of_detail
from ai_core.budget import Budget
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler

TEXT = (Path(__file__).parents[2] / "docs" / "library" / "level_of_detail.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_samples_run_one_after_the_other(clock, capsys):
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    ran = []
    for name in ("guard", "dog"):
        scheduler.add(lambda turn: None, name=name)
    known = {
        "np": np, "random": random, "clock": clock, "scheduler": scheduler, "goals": [],
        "plan": lambda turn: ran.append("plan"), "stroll": lambda turn: ran.append("stroll"),
        **{name: getattr(level_of_detail, name) for name in level_of_detail.__all__},
    }
    samples = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len(samples) == 6
    for sample in samples:
        exec(sample, known)
        for _ in range(7):
            clock.advance()
            scheduler.advance(Budget.unlimited())
    assert "'distance': 0.5" in capsys.readouterr().out
    assert [task.period_frames for task in scheduler.tasks[:2]] == [1, 30]
    assert "plan" in ran
    assert known["market"].level is not None
    assert [group.name for group in known["town"].groups()] == ["Ash", "north", "south"]
    community = known["community"]
    assert community.count == 25_001
    assert sorted(community.known) == ["Ilse", "woman at the well"]
    assert community.total("wealth") == pytest.approx(25_000 * 30 + 4_000 + 3, rel=1e-9)


def test_the_document_names_what_there_is():
    for name in re.findall(r"`([A-Z][A-Za-z]+)`", TEXT):
        assert hasattr(level_of_detail, name), name
