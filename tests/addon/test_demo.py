"""The first command of the README: the museum demo, played as a user plays it."""
from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tools.engine_output import complaints
from tools.preparation import ROOT

# Warm it takes 3 s; this guards against a hang.
LIMIT_S = 100.0

pytestmark = pytest.mark.slow


def play_museum() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tools/dev.py", "demo", "museum"], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False,
    )


def timeline(output: str) -> list[str]:
    return [line for line in output.splitlines() if re.match(r" *\d+\.\d\d s  ", line)]


def test_the_demo_tells_the_same_story_twice_without_a_complaint():
    first, second = play_museum(), play_museum()
    for played in (first, second):
        assert played.returncode == 0, played.stdout
        assert complaints(played.stdout) == []
    assert len(timeline(first.stdout)) > 10
    assert timeline(first.stdout) == timeline(second.stdout)
