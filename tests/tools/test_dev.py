"""The command line, as a person meets it first."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.progress import StepFailed
from tools.test_parts import chosen, table

DEV = Path(__file__).resolve().parents[2] / "tools" / "dev.py"


def dev(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, DEV, *arguments], capture_output=True, text=True, timeout=30, check=False)


def test_without_a_command_it_prints_the_commands():
    finished = dev()
    assert finished.returncode == 0
    shown = "setup demo test check bench soak build screenshot editor install package export docs"
    for name in shown.split():
        assert f"\n    {name} " in finished.stdout


def test_a_failure_says_which_step_why_and_what_to_do(tmp_path):
    finished = dev("install", str(tmp_path))
    assert finished.returncode == 1
    assert f"failed: looking at {tmp_path}" in finished.stderr
    assert "why: there is no project.godot" in finished.stderr
    assert "what to do: name the folder of a Godot project" in finished.stderr


def test_parts_run_in_their_own_order_however_they_are_named():
    assert [part.name for part in chosen(["unit", "lint"])] == ["lint", "unit"]


def test_no_part_named_means_all_parts():
    assert chosen([]) == chosen(["all"])
    names = {"lint", "types", "unit", "interpreted", "in_godot", "addon", "stand_in"}
    assert {part.name for part in chosen([])} == names


def test_an_unknown_part_is_refused_with_the_known_ones():
    with pytest.raises(StepFailed) as failure:
        chosen(["units"])
    assert "lint, types, unit, interpreted, in_godot, addon" in failure.value.remedy


def test_the_table_shows_which_part_failed():
    assert table([("lint", 0, 1.25), ("unit", 1, 10.0)]).splitlines()[1:] == [
        "part        result  seconds",
        "lint        passed      1.2",
        "unit        FAILED     10.0",
    ]
