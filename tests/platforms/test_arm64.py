"""Linux on ARM, by qemu: a stand-in for Godot opens what is shipped, and compiled loops pass their tests."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.platforms.projects import HERE, NODES, compile_stand_in, make_project, registered
from tools import arm_linux, build_bridge, zig
from tools.cache_folder import cache_folder
from tools.packaging.ingredients import gather
from tools.preparation import ROOT, Prepared, build_for
from tools.test_packages import install_test_packages

TARGET = arm_linux.TARGET
MISSING = [name for name, is_there in (("zig", zig.is_there()), ("qemu", arm_linux.is_there())) if not is_there]
LIMIT_S = 3600.0
# Emulated, the library's whole suite would take an hour; these are the tests of its compiled loops.
TESTS_OF_LOOPS = (
    "tests/paths/searches/test_grid_search_loops.py", "tests/paths/searches/test_jump_loops.py",
    "tests/paths/regions/test_region_loops.py", "tests/senses/sight/test_sight_loops.py",
    "tests/squads/test_marching_loops.py", "tests/squads/test_matching_loops.py", "tests/test_clock.py",
    "tests/test_budget.py", "tests/test_loop_digests.py",
    "tests/scenarios/test_determinism.py::test_decisions_are_the_committed_ones_on_every_machine",
)

pytestmark = [
    pytest.mark.skipif(
        bool(MISSING) and "AI_CORE_FETCH" not in os.environ,
        reason=f"not in the cache: {', '.join(MISSING)}; set AI_CORE_FETCH=1 to fetch 200 MB"),
    pytest.mark.timeout(LIMIT_S),
]


@pytest.fixture(scope="module", autouse=True)
def arm() -> None:
    if not arm_linux.is_there():
        arm_linux.fetch()


def test_the_bridge_registers_every_class(prepared: Prepared, tmp_path: Path):
    loader = make_project(prepared, TARGET, tmp_path / "project")
    compile_stand_in(zig.ensure_zig(prepared.python), TARGET, tmp_path / "project", tmp_path / "stand_in")
    finished = arm_linux.run_on_arm([tmp_path / "stand_in", loader], LIMIT_S, env={"HOME": str(tmp_path), "PATH": ""})
    assert finished.succeeded, finished.explain()
    assert set(registered(finished.output)) > NODES
    assert finished.output.strip().endswith("errors 0")


def test_compiled_loops_give_the_same_bits(prepared: Prepared):
    build_for(TARGET, prepared)
    site = cache_folder() / "arm64_test_packages"
    wheels = ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64")
    install_test_packages(ROOT, prepared.python, site, *wheels, version="3.11")
    ingredients = gather(ROOT, prepared.python, target=TARGET)
    path = [build_bridge.library_folder(TARGET), ROOT, ingredients.site, site]
    environment = {
        "PYTHONPATH": ":".join(map(str, path)), "PYTHONHOME": str(arm_linux.folder() / "root/usr"), "PATH": "",
        "PYTHONPYCACHEPREFIX": str(cache_folder() / "arm64_bytecode"), "HOME": str(cache_folder()),
    }
    settings = ["-q", "-c", HERE / "pytest.ini", f"--rootdir={ROOT}", f"--confcutdir={ROOT}", "--tb=short"]
    finished = arm_linux.run_on_arm(
        [arm_linux.python(), "-m", "pytest", *settings, *TESTS_OF_LOOPS], LIMIT_S, cwd=ROOT, env=environment)
    assert finished.succeeded, finished.explain(200)
