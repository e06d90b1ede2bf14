"""Compiled loops: which are in use, and how they are turned off."""
from __future__ import annotations

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import ai_core
from ai_core.loops import CYTHON_NAMES, SWITCH, compiled, is_switched_off, loop_modules

ROOT = Path(__file__).parents[1]
OTHERS = {"int": 0, "float": 0.0, "str": "", "list": [], "tuple": (), "cython.longlong": 0, "cython.double": 0.0}
"""An argument for each type, beside the one that is None; None for all others."""


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
def test_interpreted_loops_without_cython_state_the_remedy():
    text = in_a_new_process(
        "import sys\nsys.modules['cython'] = None\n"
        "try: import ai_core\nexcept ModuleNotFoundError as error: print(error)", **{SWITCH: "1"})
    assert text.endswith(
        "_loops is interpreted, because AI_CORE_PURE_PYTHON is set, which needs the package cython, which is not"
        " installed; run 'pip install cython', or unset AI_CORE_PURE_PYTHON")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "compiled = False\ndef cfunc(function): return function"])
def test_a_module_of_ones_own_named_cython_is_told(tmp_path, text):
    (tmp_path / "cython.py").write_text(text)
    told = in_a_new_process(
        "try: import ai_core\nexcept ModuleNotFoundError as error: print(error)",
        PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]), **{SWITCH: "1"})
    assert (f"which needs the package cython, but {tmp_path / 'cython.py'} is another one, or too old: it lacks NULL,"
            " Py_ssize_t, annotation_typing; rename or remove it; run 'pip install cython'") in told


def test_the_names_that_loops_use_are_checked():
    used = {
        name for file in (ROOT / "ai_core").rglob("*_loops.py")
        for name in re.findall(r"\bcython\.(\w+)", file.read_text(encoding="utf-8"))}
    assert {*CYTHON_NAMES} == used - {"cimports"}        # modules, not names


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


def calls_with_none():
    """Yield a name and a call for each argument of a loop's class: the argument is None, the others are objects."""
    modules = [importlib.import_module(name) for name in loop_modules()]
    classes = {
        one.__name__: one for module in modules for one in vars(module).values()
        if isinstance(one, type) and one.__module__ == module.__name__}
    for module in modules:
        tree = ast.parse((ROOT / (module.__name__.replace(".", "/") + ".py")).read_text(encoding="utf-8"))
        for kind in (one for one in tree.body if isinstance(one, ast.ClassDef)):
            for function in (one for one in kind.body if isinstance(one, ast.FunctionDef)):
                is_private = function.name.startswith("_") and not function.name.endswith("__")
                if is_private or not hasattr(classes[kind.name], function.name):
                    continue        # or only compiled code calls it
                types = [ast.unparse(one.annotation) if one.annotation else "" for one in function.args.args[1:]]
                for number, name in enumerate(types):
                    if name in classes:
                        arguments = [
                            classes[one].__new__(classes[one]) if one in classes else OTHERS.get(one) for one in types]
                        arguments[number] = None
                        own = classes[kind.name].__new__(classes[kind.name])
                        yield f"{kind.name}.{function.name}", getattr(own, function.name), arguments


def call_all_with_none():
    for name, call, arguments in calls_with_none():
        print(name, flush=True)     # the last one if Python ends here
        try:
            call(*arguments)
        except (TypeError, AttributeError):
            continue
        raise AssertionError(f"{name} took {arguments}")


@pytest.mark.skipif(is_switched_off, reason="interpreted")
def test_none_for_an_object_of_a_loop_is_refused():
    command = [sys.executable, "-c", "from tests.test_loops import call_all_with_none as run; run()"]
    finished = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert finished.returncode == 0, (finished.stdout.splitlines()[-3:], finished.stderr[-500:])
    assert len(finished.stdout.splitlines()) >= 20
