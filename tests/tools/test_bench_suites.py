"""Suites: found by their folders, every one that is here declared well, and the command's words."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.benchmarking.declarations import Suite
from tools.benchmarking.machine import processor_name
from tools.benchmarking.start import RUNS, parser, words
from tools.benchmarking.suites import chosen, load, suite_names
from tools.environment import group_requirements
from tools.progress import StepFailed

ROOT = Path(__file__).parents[2]
NAMES = suite_names(ROOT)


@pytest.fixture
def root(tmp_path):
    for name in ("senses", "bridge"):
        folder = tmp_path / "tests" / "benchmarks" / name
        folder.mkdir(parents=True)
        (folder / "suite.py").touch()
    (tmp_path / "tests" / "benchmarks" / "no_suite").mkdir()
    return tmp_path


def test_a_suite_is_a_folder_with_a_declaration(root):
    assert suite_names(root) == ["bridge", "senses"]


def test_no_name_chooses_all_suites(root):
    assert chosen(root, []) == ["bridge", "senses"]
    assert chosen(root, ["senses"]) == ["senses"]


def test_an_unknown_suite_is_refused_with_the_known_ones(root):
    with pytest.raises(StepFailed) as failure:
        chosen(root, ["bride"])
    assert failure.value.remedy == "use some of: bridge, senses"


def test_the_manual_names_every_suite_and_no_other():
    page = (ROOT / "docs" / "project" / "benchmarks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(rows) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_suite_measures_something_in_python_or_in_a_scene(name):
    suite = load(name)
    assert isinstance(suite, Suite)
    assert suite.measurements
    assert all((one.make is None) == (suite.scene is not None) for one in suite.measurements)
    assert len({one.name for one in suite.measurements}) == len(suite.measurements)


@pytest.mark.parametrize("name", [name for name in NAMES if load(name).scene is not None])
def test_the_scene_of_a_suite_is_there(name):
    assert (ROOT / load(name).scene.path.removeprefix("res://")).is_file()


def test_a_name_finds_its_measurement():
    suite = load(NAMES[0])
    assert suite.measurement(suite.measurements[-1].name) is suite.measurements[-1]
    assert suite.measurement("of nothing") is None


def test_options_survive_the_way_into_the_environment():
    given = parser().parse_args(["core", "--json", "/results/a.json", "--runs", "3", "--native"])
    again = parser().parse_args(words(given))
    assert vars(again) == vars(given)
    assert parser().parse_args([]).runs == RUNS


def test_peers_are_pinned():
    peers = group_requirements((ROOT / "pyproject.toml").read_text(), "bench")
    assert all("==" in peer for peer in peers)


def test_the_processor_is_named_as_linux_names_it():
    assert processor_name("processor\t: 0\nmodel name\t: Fast 9000\ncache size\t: 1 KB\n") == "Fast 9000"
