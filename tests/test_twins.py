"""Kernels and twins: which is in use, how to switch, and what is said when one cannot be."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

import ai_core
from ai_core.loops import loop_modules
from ai_core.twins import INTERPRETED, KERNELS, SWITCH, _loaded, _say_once, compiled, kernel_of

CHOOSER = sys.modules[compiled.__module__]
ROOT = Path(__file__).parents[1]


def in_a_new_process(text, **environment):
    command = [sys.executable, "-c", text]
    finished = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, cwd=ROOT, check=True
    )
    return finished.stdout.strip()


def twin_of(module, function):
    """A function as a twin would define it, and its kernel module."""
    function.__module__ = "somewhere.sight"
    module.__name__ = "somewhere._sight"
    return function


@pytest.fixture
def kernel(monkeypatch):
    """A kernel module that is found as if it had been built."""
    module = ModuleType("somewhere._sight")
    monkeypatch.setattr(CHOOSER, "import_module", lambda name: module)
    _loaded.cache_clear()
    _say_once.cache_clear()
    yield module
    _loaded.cache_clear()
    _say_once.cache_clear()


INTERFACE = 3


def reach():
    return "interpreted"


def test_where_they_can_be_built_all_kernels_are_there():
    compiler = shutil.which(os.environ.get("CC", "cc"))
    headers = Path(sysconfig.get_path("include"), "Python.h")
    if compiler and headers.is_file():
        built = [name for name in KERNELS if _loaded(name) is not None]
        assert built == list(KERNELS), "run tools/dev.py build"


def test_the_front_door_says_which_kernels_are_in_use():
    assert ai_core.compiled is compiled
    assert set(compiled()) <= {*loop_modules(), *KERNELS}


@pytest.mark.slow
@pytest.mark.parametrize(("value", "are_used"), [("1", False), ("0", True)])
def test_a_variable_switches_all_kernels_off(value, are_used):
    text = in_a_new_process(
        "import ai_core, ai_core.senses.sight.sight_loops as loops;"
        "print(len(ai_core.compiled()), type(loops.pairs_in_reach).__name__)", **{SWITCH: value},
    )
    built = compiled()
    if are_used and built:
        assert text == f"{len(built)} cython_function_or_method"
    else:
        assert text == "0 function"


def test_function_finds_kernel_of_its_name_beside_its_module(kernel):
    kernel.INTERFACE, kernel.reach = INTERFACE, lambda: "compiled"
    assert kernel_of(twin_of(kernel, reach))() == "compiled"


def test_kernel_of_other_sources_is_skipped_and_logged_once(kernel, caplog):
    kernel.INTERFACE, kernel.reach = INTERFACE + 1, lambda: "compiled"
    assert kernel_of(twin_of(kernel, reach)) is None
    assert kernel_of(twin_of(kernel, reach)) is None
    assert [record.getMessage() for record in caplog.records] == [
        "somewhere._sight was built from other sources; its Python twin is used, which is slower:"
        " build it again, or set AI_CORE_PURE_PYTHON=1"
    ]


def test_kernel_that_cannot_be_loaded_is_skipped_and_logged(kernel, monkeypatch, caplog):
    def fail(name):
        raise ImportError("wrong ELF class")

    monkeypatch.setattr(CHOOSER, "import_module", fail)
    assert kernel_of(twin_of(kernel, reach)) is None
    assert "somewhere._sight cannot be loaded (wrong ELF class)" in caplog.text


def test_a_kernel_that_was_not_built_is_no_news(kernel, monkeypatch, caplog):
    def fail(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(CHOOSER, "import_module", fail)
    assert kernel_of(twin_of(kernel, reach)) is None
    assert caplog.records == []


def test_the_python_form_stays_at_hand_when_its_kernel_is_in_use():
    import ai_core.decisions.habits.habit_ticking as habit_ticking

    form = INTERPRETED["ai_core.decisions.habits.habit_ticking.HabitTicking"]
    assert form.__module__ == habit_ticking.__name__
