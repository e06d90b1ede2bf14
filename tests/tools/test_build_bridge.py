"""Building the bridge: where it goes, and what a failing step says."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest
from Cython.Build import cythonize
from setuptools import Extension

from tools import build_bridge
from tools.build_bridge import (
    SHARED,
    bridge_extension,
    build_kernels,
    dump_with,
    kernel_extensions,
    kernels_are_current,
    library_file,
    loader_file,
    python_facts,
)
from tools.progress import StepFailed
from tools.python_library import find_or_fetch_library


def program(folder, text):
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_failing_step_shows_its_name_and_all_its_output(tmp_path):
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


def test_one_library_serves_every_python_unless_built_for_one():
    facts = python_facts(sys.executable)
    assert library_file(bridge_extension(), facts, native=False).name in {"_bridge.abi3.so", "_bridge.pyd"}
    assert library_file(bridge_extension(), facts, native=True).name == f"_bridge{facts.native_suffix}"


def test_loader_and_bridge_lie_in_one_folder():
    assert loader_file().parent == bridge_extension().folder


def test_kernels_are_imported_from_beside_their_sources():
    kernels = {kernel.module: kernel for kernel in kernel_extensions()}
    assert kernels["ai_core.senses.sight.sight_loops"].name == "sight_loops"
    shared = kernels.pop(SHARED)
    assert (shared.source, shared.folder) == (None, build_bridge.ROOT / "ai_core")
    assert all(kernel.folder == kernel.source.parent for kernel in kernels.values())


@pytest.fixture
def build_small(small_core):
    """Build the kernels of the small repository; a machine without Python's headers has them in the cache."""
    python = Path(sys.executable)
    include_dirs = find_or_fetch_library(python).include_dirs
    return lambda: build_kernels(python=python, include_dirs=include_dirs, optimise=False)


@pytest.fixture
def small_core(tmp_path, monkeypatch):
    """A repository with one kernel, and places of its own for what is built."""
    folder = tmp_path / "ai_core"
    folder.mkdir()
    (folder / "doubled_loops.py").write_text("def doubled(x):\n    return 2 * x\n")
    monkeypatch.setattr(build_bridge, "ROOT", tmp_path)
    monkeypatch.setattr(build_bridge, "BIN", tmp_path / "bin")
    monkeypatch.setattr(build_bridge, "SCRATCH", tmp_path / "bin" / "build")
    return folder


@pytest.mark.slow
def test_only_the_kernel_whose_source_changed_is_built_again(small_core, build_small):
    other = small_core / "part"
    other.mkdir()
    (other / "halved_loops.py").write_text("def halved(x):\n    return x // 2\n")
    build_small()
    kept, changed, _ = (
        library_file(kernel, python_facts(sys.executable), native=False).stat().st_mtime_ns
        for kernel in kernel_extensions()
    )
    (other / "halved_loops.py").write_text("def halved(x):\n    return x >> 1\n")
    assert build_small()
    doubled, halved, _ = (
        library_file(kernel, python_facts(sys.executable), native=False).stat().st_mtime_ns
        for kernel in kernel_extensions()
    )
    assert doubled == kept
    assert halved > changed


@pytest.mark.slow
def test_compiled_loops_go_with_their_source(small_core, build_small):
    build_small()
    orphan = small_core / "part" / "_gone_loops.abi3.so"
    orphan.parent.mkdir()
    orphan.touch()
    kept = {file.name for file in small_core.iterdir()}
    assert not build_small()
    assert not orphan.exists()
    assert {file.name for file in small_core.iterdir()} == kept


@pytest.mark.slow
def test_kernels_build_without_engine_and_only_on_source_change(small_core, build_small):
    facts = python_facts(sys.executable)
    stale = small_core / "doubled_loops.cpython-310-x86_64-linux-gnu.so"
    stale.touch()
    assert build_small()
    assert {file.name for file in small_core.iterdir()} == {
        "doubled_loops.py",
        *(library_file(kernel, facts, native=False).name for kernel in kernel_extensions()),
    }
    assert not build_small()
    (small_core / "doubled_loops.py").write_text("def doubled(x):\n    return x + x\n")
    assert not kernels_are_current(facts, optimise=False)


def test_a_loop_names_its_level_where_setup_py_reads_it(tmp_path):
    plain, small = tmp_path / "plain_loops.py", tmp_path / "small_loops.py"
    plain.write_text('"""No level."""\n')
    small.write_text('# cython: wraparound=False\n# distutils: extra_compile_args = -O1\n"""One."""\n')
    assert [build_bridge._level_of(source) for source in (plain, small, None)] == ["-O3", "-O1", "-O1"]
    (extension,) = cythonize(
        [Extension("small_loops", [str(small)])], build_dir=str(tmp_path), quiet=True, language_level=3)
    assert extension.extra_compile_args == ["-O1"]
