"""Building the bridge: where it goes, and what a failing step says."""
from __future__ import annotations

import sys

import pytest

from tools.build_bridge import bridge_extension, dump_with, library_file, loader_file, python_facts
from tools.progress import StepFailed


def program(folder, text):
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_a_failing_step_says_its_name_and_everything_that_was_printed(tmp_path):
    godot = program(tmp_path, "echo first; echo second >&2; exit 3")
    with pytest.raises(StepFailed) as failure:
        dump_with([str(godot)])(tmp_path)
    assert failure.value.step == "dumping the engine's interface"
    assert "exit status 3\nfirst\nsecond" in failure.value.why
    assert "$GODOT" in failure.value.remedy


def test_an_engine_dumps_into_the_folder_it_is_told(tmp_path):
    godot = program(tmp_path, 'echo "$@" > dumped')
    dump_with([str(godot)])(tmp_path)
    assert (tmp_path / "dumped").read_text() == "--headless --dump-gdextension-interface --dump-extension-api\n"


def test_a_python_without_cython_is_told_how_to_get_it(tmp_path):
    python = program(tmp_path, "echo PackageNotFoundError; exit 1")
    with pytest.raises(StepFailed, match="-m pip install cython"):
        python_facts(python)


def test_one_library_serves_every_python_unless_it_is_built_for_one():
    facts = python_facts(sys.executable)
    assert library_file(bridge_extension(), facts, native=False).name in {"_bridge.abi3.so", "_bridge.pyd"}
    assert library_file(bridge_extension(), facts, native=True).name == f"_bridge{facts.native_suffix}"


def test_loader_and_bridge_lie_in_one_folder():
    assert loader_file().parent == bridge_extension().folder
