"""Windows, by wine: a stand-in for Godot opens what is shipped, and the library's tests run with its compiled loops.

What runs is the private Python of the zip. Its NumPy is changed, for wine lacks functions of complex numbers
(tools/wine_numpy.py); everything else is as users get it.
"""
from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.platforms.projects import HERE, NODES, compile_stand_in, make_project, registered
from tools import build_bridge, windows_python, wine, wine_numpy
from tools.cache_folder import cache_folder
from tools.packaging import registry_python
from tools.packaging.command import package
from tools.packaging.game import PRESETS
from tools.packaging.game import make_project as make_project_of_game
from tools.preparation import ROOT, Prepared, build_for
from tools.processes import Finished
from tools.targets import TARGETS
from tools.test_packages import install_test_packages
from tools.zig import ensure_zig

TARGET = windows_python.TARGET
MISSING = windows_python.what_is_missing(ROOT)
# The stand-in starts in 5 s here, the library's tests take 20 minutes.
START_LIMIT_S, SUITE_LIMIT_S = 300.0, 5400.0
PARTS_OF_THE_LIBRARY = (
    "decisions", "events", "level_of_detail", "maps", "paths", "recording", "saving", "scenarios", "scheduling",
    "senses", "squads")
# What tests of the repository need and Windows has not: see docs/godot/platforms.md.
NOT_ON_WINDOWS = ("tests/test_package.py",)

pytestmark = [
    pytest.mark.skipif(
        bool(MISSING) and "AI_CORE_FETCH" not in os.environ,
        reason=f"not in the cache: {', '.join(MISSING)}; set AI_CORE_FETCH=1 to fetch 400 MB"),
    pytest.mark.timeout(SUITE_LIMIT_S),
]


@pytest.fixture(scope="module")
def python(prepared: Prepared) -> windows_python.WindowsPython:
    return windows_python.ensure(ROOT, prepared.python)


@pytest.fixture(scope="module")
def loader(prepared: Prepared, python: windows_python.WindowsPython, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The loader in a project whose name needs letters that no code page has together; the stand-in beside it."""
    project = tmp_path_factory.mktemp("Jürgen Ω")
    found = make_project(prepared, TARGET, project)
    runtime = project / "addons/ai_core/runtime" / TARGET.name
    zig = ensure_zig(prepared.python)
    wine_numpy.make_runnable(zig, [runtime / "Lib/numpy", runtime / "Lib/numpy.libs"], project)
    compile_stand_in(zig, TARGET, project, project / "stand_in.exe")
    return found


def start(loader: Path, **environment: str) -> Finished:
    stand_in = loader.parents[4] / "stand_in.exe"
    variables = {"AI_CORE_PYTHON": "", **environment}
    return wine.run_in_wine(
        windows_python.wine_home(), [stand_in, wine.windows_path(loader)], START_LIMIT_S, env=variables)


def test_bridge_registers_all_classes_from_a_path_of_any_letters(loader):
    finished = start(loader)
    assert finished.succeeded, finished.explain()
    assert set(registered(finished.output)) > NODES
    assert re.search(r"classes \d+, errors 0$", finished.output.strip())


def test_without_a_private_python_every_place_searched_is_named(loader):
    runtime = loader.parents[2] / "runtime"
    runtime.rename(runtime.with_name("elsewhere"))
    try:
        finished = start(loader)
    finally:
        runtime.with_name("elsewhere").rename(runtime)
    assert "no Python was found that can run inside Godot" in finished.output
    for text in ("Jürgen Ω", "runtime", "there is none", ".venv", "$VIRTUAL_ENV: is not set"):
        assert text in finished.output


@pytest.mark.slow
def test_a_game_for_windows_exported_here_has_its_files_alone(prepared, loader, tmp_path):
    for target in (TARGETS["linux.x86_64"], TARGET):
        archive = package(prepared, tmp_path / "zips", targets=[target])
        if target == TARGET:
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(tmp_path / "project")
        else:
            make_project_of_game(ROOT, archive, "museum", tmp_path / "project")
    game = tmp_path / "Jürgen Ω"
    game.mkdir()
    template = loader.parents[4] / "stand_in.exe"  # what is exported is not run: any program serves
    preset = PRESETS.format(template=template, options="").replace('platform="Linux"', 'platform="Windows Desktop"')
    (tmp_path / "project/export_presets.cfg").write_text(preset)
    finished = prepared.engine.run(
        ["--headless", "--path", tmp_path / "project", "--export-release", "Linux", game / "museum.exe"], START_LIMIT_S)
    assert finished.succeeded, finished.explain()
    names = {file.relative_to(game).as_posix() for file in game.rglob("*")}
    assert {"museum.exe", "ai_core_loader.dll", "addons/ai_core/bin/windows.x86_64/_bridge.pyd",
            "addons/ai_core/runtime/windows.x86_64/python312.dll"} <= names
    assert [name for name in names if name.endswith((".so", ".dylib")) or "linux" in name] == []
    project = loader.parents[4]
    for name in ("stand_in_engine.py", "extension_api.json", "ai-ms-win-crt-math-l1-1-0.dll", "stand_in.exe"):
        shutil.copy(project / name, game)
    shutil.copy(project / "addons/ai_core/register.py", game / "addons/ai_core")
    runtime = Path("addons/ai_core/runtime") / TARGET.name / "Lib"
    shutil.copytree(project / runtime, game / runtime, dirs_exist_ok=True)  # NumPy as wine can run it
    started = wine.run_in_wine(
        windows_python.wine_home(), [game / "stand_in.exe", wine.windows_path(game / "ai_core_loader.dll")],
        START_LIMIT_S, env={"AI_CORE_PYTHON": ""})
    assert set(registered(started.output)) > NODES, started.explain()


def test_a_python_that_is_named_is_asked_without_a_shell(loader, python):
    finished = start(loader, AI_CORE_PYTHON=wine.windows_path(python.program))
    assert "classes 0" not in finished.output or "has no shared library" in finished.output
    assert "cannot be started" not in finished.output


@pytest.fixture
def library_tests(prepared: Prepared, python: windows_python.WindowsPython) -> Callable[..., Finished]:
    """``library_tests(*arguments)``: pytest in wine, over tests of the library, with the loops of Windows."""
    build_for(TARGET, prepared)
    site = cache_folder() / "windows_test_packages"
    install_test_packages(ROOT, prepared.python, site, "win_amd64", version=registry_python.VERSION)
    path = [build_bridge.library_folder(TARGET), ROOT, site]
    settings = ["-q", "-c", (HERE / "pytest.ini").relative_to(ROOT), "--rootdir=.", "--confcutdir=.", "--tb=short"]
    shutil.rmtree(cache_folder() / "windows_bytecode", ignore_errors=True)
    return lambda *arguments: python.run(
        ["-m", "pytest", *settings, *arguments],
        SUITE_LIMIT_S, cwd=ROOT, PYTHONPATH=";".join(map(wine.windows_path, path)),
        PYTHONPYCACHEPREFIX=wine.windows_path(cache_folder() / "windows_bytecode"),
    )


def test_loops_of_windows_give_the_bits_of_linux(library_tests):
    finished = library_tests("tests/test_loop_digests.py")
    assert finished.succeeded, finished.explain(100)
    assert " passed" in finished.output
    assert " skipped" not in finished.output


@pytest.mark.slow
def test_the_librarys_tests_pass_with_the_loops_of_windows(library_tests):
    tests = [f"tests/{part}" for part in PARTS_OF_THE_LIBRARY]
    tests += [f"tests/{file.name}" for file in sorted((ROOT / "tests").glob("test_*.py"))]
    finished = library_tests(*tests, *(f"--ignore={name}" for name in NOT_ON_WINDOWS))
    assert finished.succeeded, finished.explain(400)
