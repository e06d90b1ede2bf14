"""Walks through the library."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def walked(**environment):
    return subprocess.run(
        [sys.executable, "-m", "tools.walks", "--calls"], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, **environment}, check=False)


def test_walks_list_files_and_crossings_of_each_value():
    finished = walked(AI_CORE_PURE_PYTHON="1")
    assert finished.returncode == 0, finished.stderr
    rows = [line.rsplit(maxsplit=3) for line in finished.stdout.splitlines() if not line.startswith(" ")]
    assert [row[0] for row in rows[1:]] == [
        "event to habit", "noise to chase", "same noise again", "request to path", "budget to turn", "save", "restore"]
    assert all(0 < int(files) <= int(crossings) <= int(calls) for _, files, crossings, calls in rows[1:])
    assert "senses/percepts/perception.py: hear" in finished.stdout


def test_walks_refuse_compiled_loops():
    finished = walked(AI_CORE_PURE_PYTHON="")
    assert finished.returncode == 1
    assert "set AI_CORE_PURE_PYTHON=1" in finished.stderr
