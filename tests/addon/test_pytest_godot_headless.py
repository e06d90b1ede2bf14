"""Tests inside Godot as their author meets them: outcomes, crashes, hangs, choices."""
from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.addon.documented_project import blocks, write_project
from tools.addon_install import install
from tools.preparation import ROOT, Prepared, build
from tools.processes import Finished, run

# A user has them not.
HIDDEN = {"GODOT", "PYTEST_GODOT", "PYTEST_GODOT_HEADLESS", "AI_CORE_MODULES"}
SETTINGS = """[tool.pytest.ini_options]
addopts = ["--strict-markers", "--strict-config", "--import-mode=importlib"]
godot_tests = ["inside"]
filterwarnings = ["error"]
"""
CONFTEST = """
import pytest
import _bridge  # there is none outside Godot

@pytest.fixture
def singleton():
    return _bridge.singleton
"""
TESTS = """
import pytest
from _bridge import construct, singleton as engine

def load_nothing():
    engine("ResourceLoader").load("res://nothing.tscn")

def test_frames_are_whole(frames, tree):
    before = tree.get_frame()
    frames(3)
    assert tree.get_frame() == before + 3

def test_physics_steps_are_whole(physics_frames, singleton):
    before = singleton("Engine").get_physics_frames()
    physics_frames(2)
    assert singleton("Engine").get_physics_frames() == before + 2

class TestTimer:
    @pytest.mark.parametrize("wait_s", [0.1, 0.2])
    def test_rings(self, node, signals, frames, wait_s):
        timer = node("Timer", wait_time=wait_s, one_shot=True)
        heard = signals(timer, "timeout")
        timer.start()
        frames(8)
        assert heard == ([()] if wait_s == 0.1 else [])

def test_fails_by_itself():
    print("said inside")
    assert 1 == 2

def test_leaks_in_the_tree(root):
    forgotten = construct("Node")
    forgotten.set_name("Forgotten")
    root.add_child(forgotten)

def test_leaks_an_orphan():
    construct("Node")

def test_makes_the_engine_complain():
    load_nothing()

def test_declares_the_complaint(expect_errors):
    expect_errors("nothing.tscn")
    load_nothing()

@pytest.mark.godot_errors("nothing.tscn")
def test_declares_the_complaint_by_mark():
    load_nothing()

def test_declares_what_does_not_come(expect_errors):
    expect_errors("nothing.tscn")

def test_cannot_wait_in_a_handler(node, frames):
    said = []
    def wait(child):
        try:
            frames(1)
        except RuntimeError as error:
            said.append(str(error))
    parent = node("Node")
    parent.connect("child_entered_tree", wait)
    node("Node", parent)
    assert "inside a call from the engine" in said[0]

@pytest.mark.skip(reason="not today")
def test_is_skipped():
    pass

@pytest.mark.xfail(strict=True)
def test_fails_as_expected():
    assert False
"""
OUTCOMES = {
    "test_frames_are_whole": "PASSED",
    "test_physics_steps_are_whole": "PASSED",
    "TestTimer::test_rings[0.1]": "PASSED",
    "TestTimer::test_rings[0.2]": "PASSED",
    "test_fails_by_itself": "FAILED",
    "test_leaks_in_the_tree": "ERROR",
    "test_leaks_an_orphan": "ERROR",
    "test_makes_the_engine_complain": "FAILED",
    "test_declares_the_complaint": "PASSED",
    "test_declares_the_complaint_by_mark": "PASSED",
    "test_declares_what_does_not_come": "FAILED",
    "test_cannot_wait_in_a_handler": "PASSED",
    "test_is_skipped": "SKIPPED",
    "test_fails_as_expected": "XFAIL",
}
# A first start on a busy machine; what hangs is to be found by the plugin long before.
LIMIT_S = 240.0

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "project.godot").write_text('config_version=5\n[application]\nconfig/name="tested"\n')
    (folder / "pyproject.toml").write_text(SETTINGS)
    (folder / "inside").mkdir()
    (folder / "inside" / "conftest.py").write_text(CONFTEST)
    (folder / "inside" / "test_all.py").write_text(TESTS)
    install(ROOT, folder, prepared.python_settings)
    return folder


def run_pytest(prepared: Prepared, folder: Path, *arguments: str) -> Finished:
    environment = dict(prepared.engine.environment(), PYTEST_GODOT=shlex.join(prepared.engine.command()))
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_CURRENT")}
    environment["PATH"] = os.environ["PATH"]
    command = [prepared.python, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return run(command, timeout_s=LIMIT_S, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def whole_run(prepared: Prepared, project: Path) -> Finished:
    return run_pytest(prepared, project, "-v")


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_test_inside_ends_outside_as_it_ended_inside(whole_run, name):
    found = re.findall(rf"^inside/test_all\.py::{re.escape(name)} (\w+)", whole_run.output, re.MULTILINE)
    assert found[-1:] == [OUTCOMES[name]], whole_run.output


def test_failures_inside_fail_the_run_and_show_what_was_said(whole_run):
    assert whole_run.code == 1
    assert "said inside" in whole_run.output
    assert "left in the tree: Node '/root/Forgotten'" in whole_run.output


def test_the_chosen_tests_alone_run_and_passing_is_success(prepared, project):
    finished = run_pytest(prepared, project, "-q", "-k", "frames or rings")
    assert finished.code == 0, finished.output
    assert "3 passed, 11 deselected" in finished.output


def test_a_crash_fails_its_test_and_those_after_it(prepared, project):
    (project / "inside" / "test_crash.py").write_text(
        "import ctypes\ndef test_before(): pass\ndef test_crash():\n    print('last words')\n"
        "    ctypes.string_at(0)\ndef test_after(): pass\n"
    )
    finished = run_pytest(prepared, project, "-q", "inside/test_crash.py")
    (project / "inside" / "test_crash.py").unlink()
    assert "2 failed, 1 passed" in finished.output
    assert re.search(r"Godot was ended by SIG\w+ while running inside/test_crash.py::test_crash", finished.output)
    assert "last words" in finished.output
    assert re.search(r"test_crash\.py\", line 5 in test_crash", finished.output)
    assert "not run: Godot was ended" in finished.output


def test_a_hang_is_ended_and_shows_where_it_hung(prepared, project):
    (project / "inside" / "test_hang.py").write_text("import time\ndef test_hang():\n    time.sleep(1000)\n")
    finished = run_pytest(prepared, project, "-q", "-o", "godot_timeout_s=3", "inside/test_hang.py")
    (project / "inside" / "test_hang.py").unlink()
    assert "Godot gave no sign of life for 3 s while running inside/test_hang.py::test_hang" in finished.output
    assert re.search(r'test_hang\.py", line 3 in test_hang', finished.output)


def test_a_file_that_cannot_be_imported_reports_the_reason(prepared, project):
    (project / "inside" / "test_broken.py").write_text("import nothing_of_this_name\n")
    finished = run_pytest(prepared, project, "-q", "inside/test_broken.py")
    (project / "inside" / "test_broken.py").unlink()
    assert finished.code != 0
    assert "No module named 'nothing_of_this_name'" in finished.output


def test_the_guide_to_testing_works_as_written(tmp_path: Path):
    """The sample of docs/guides/testing.md, on the project of docs/godot/five_minutes.md."""
    page = ROOT / "docs/guides/testing.md"
    prepared = build(ROOT)
    write_project(ROOT / "docs/godot/five_minutes.md", tmp_path)
    install(ROOT, tmp_path, prepared.python_settings)
    [settings] = blocks(page.read_text(), "toml")
    [sample] = blocks(page.read_text(), "python")
    (tmp_path / "pyproject.toml").write_text(settings.replace('"godot"', f'"{prepared.engine.program}"'))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_guard.py").write_text(sample)
    finished = run(
        [prepared.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"], timeout_s=LIMIT_S, cwd=tmp_path,
        env={name: value for name, value in prepared.engine.environment().items() if name not in HIDDEN})
    assert "1 passed" in finished.output, finished.explain()
