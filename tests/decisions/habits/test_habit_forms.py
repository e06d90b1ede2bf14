"""Habits compiled and interpreted: the same decisions, the same times, the same saves."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ai_core.loops import SWITCH

ROOT = Path(__file__).parents[3]


def lives(switch):
    finished = subprocess.run(
        [sys.executable, "-m", "tests.decisions.habits.habit_lives"], capture_output=True, text=True, cwd=ROOT,
        check=True, env={**os.environ, SWITCH: switch})
    return finished.stdout.splitlines(), finished.stderr


@pytest.mark.slow
def test_random_lives_are_the_same_in_both_forms():
    (in_c, names), (in_python, none) = lives(""), lives("1")
    assert none.strip() == ""
    if "habit_runner_loops" not in names:
        pytest.skip("not compiled here")
    assert in_c == in_python
    assert len(in_c) == 120
