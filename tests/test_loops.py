"""Compiled loops: which are in use, and how they are turned off."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import ai_core
from ai_core.loops import SWITCH, compiled, is_switched_off, loop_modules

ROOT = Path(__file__).parents[1]


def in_a_new_process(text, **environment):
    command = [sys.executable, "-c", text]
    finished = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, cwd=ROOT, check=True
    )
    return finished.stdout.strip()


@pytest.mark.skipif(is_switched_off, reason="interpreted")
def test_where_they_can_be_built_all_loops_are_there():
    compiler = shutil.which(os.environ.get("CC", "cc"))
    headers = Path(sysconfig.get_path("include"), "Python.h")
    if compiler and headers.is_file():
        assert compiled() == loop_modules(), "run tools/dev.py build"


def test_the_front_door_says_which_loops_are_compiled():
    assert ai_core.compiled is compiled
    assert set(compiled()) <= {*loop_modules()}


@pytest.mark.slow
@pytest.mark.parametrize(("value", "are_used"), [("1", False), ("0", True)])
def test_a_variable_switches_all_loops_off(value, are_used):
    text = in_a_new_process(
        "import ai_core, ai_core.senses.sight.sight_loops as loops;"
        "print(len(ai_core.compiled()), type(loops.shown).__name__)", **{SWITCH: value},
    )
    built = compiled()
    if are_used and built:
        assert text == f"{len(built)} cython_function_or_method"
    else:
        assert text == "0 function"


@pytest.mark.slow
def test_loops_of_the_platform_are_found_in_folders_of_their_own(tmp_path):
    files = (ROOT / "ai_core/squads").glob("matching_loops.*")
    beside = next((file for file in files if file.name.endswith(tuple(EXTENSION_SUFFIXES))), None)
    if beside is None or is_switched_off:
        pytest.skip("no compiled loops here")
    (tmp_path / "ai_core/squads").mkdir(parents=True)
    shutil.copy(beside, tmp_path / "ai_core/squads")
    text = in_a_new_process(
        "import ai_core, ai_core.squads.matching_loops as loops; print(loops.__file__, len(ai_core.compiled()))",
        PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]), **{SWITCH: ""},
    )
    assert text == f"{tmp_path / 'ai_core/squads' / beside.name} {len(compiled())}"
