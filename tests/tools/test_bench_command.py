"""The whole command on a suite of its own: statuses, files, and what a wrong result does."""
from __future__ import annotations

import json
import sys
import textwrap

import pytest

from tools.benchmarking import command, suites
from tools.benchmarking.declarations import Contest, Measurement, Suite
from tools.benchmarking.sampling import SAMPLE_NS
from tools.benchmarking.start import parser
from tools.progress import StepFailed


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """``bench(suite, *arguments)``: runs the command on a suite named demo, in this process."""
    folder = tmp_path / "tests" / "benchmarks" / "demo"
    folder.mkdir(parents=True)
    (folder / "suite.py").touch()
    monkeypatch.setattr(command, "commit", lambda root: "abc")

    def run(suite, *arguments):
        monkeypatch.setattr(command, "load", lambda name: suite)
        monkeypatch.setattr(command, "_run_python", lambda name, root: records_of(suite))
        return command.measure_suites(parser().parse_args(["--runs", "2", *arguments]), tmp_path)

    return run


def records_of(suite):
    from tools.benchmarking import records, sampling

    told = [records.versions({"python": "3"})]
    for measurement in suite.measurements:
        sampling.measure(measurement, told.append, rounds=1, stopwatch=Ticking())
    return [*told, records.end()]


class Ticking:
    """A stopwatch on which every look takes as long as a sample."""

    def __init__(self):
        self.ns = 0

    def __call__(self):
        self.ns += SAMPLE_NS
        return self.ns


def suite_of(peer, **settings):
    return Suite("a demo", (Measurement("work", lambda n: Contest(lambda: n, {"peer": peer}), **settings),))


def test_correct_run_succeeds_and_writes_the_requested_output(bench, tmp_path, capsys):
    suite = suite_of(lambda: 5, sizes=(5,), goals={"peer": 0.1})
    assert bench(suite, "--json", str(tmp_path / "results" / "a.json")) == 0
    written = json.loads((tmp_path / "results" / "a.json").read_text())
    assert [(one["name"], one["n"], one["goal"]) for one in written["results"]] == [("work", 5, 0.1)]
    assert written["versions"] == {"ai_core": "abc", "python": "3"}
    assert "\n1 met\n" in capsys.readouterr().out


def test_a_missed_goal_is_told_and_not_punished(bench, capsys):
    assert bench(suite_of(lambda: 5, sizes=(5,), goals={"peer": 1e6})) == 0
    assert "1 MISSED\n  MISSED beside peer: demo: work" in capsys.readouterr().out


def test_a_wrong_result_fails(bench, capsys):
    assert bench(suite_of(lambda: 6, sizes=(5,))) == 1
    assert "WRONG: work, n = 5: ours gives 5, peer gives 6" in capsys.readouterr().out


def test_growth_is_drawn_where_it_was_asked_for(bench, tmp_path):
    same = {}
    contest = Suite("a demo", (Measurement("work", lambda n: Contest(lambda: same.get(n)), sizes=(1, 10)),))
    assert bench(contest, "--pictures", str(tmp_path / "drawn")) == 0
    assert [file.name for file in (tmp_path / "drawn").iterdir()] == ["demo_work.svg"]


def test_pictures_of_no_asked_place_stay_out_of_git_and_of_godot(bench, tmp_path):
    bench(suite_of(lambda: 5, sizes=(5,)))
    folder = tmp_path / command.PICTURES
    assert (folder / ".gitignore").read_text() == "*\n"
    assert (folder / ".gdignore").exists()


def test_no_runs_at_all_are_refused(bench):
    with pytest.raises(StepFailed, match="needs 1 or more, got 0"):
        bench(suite_of(lambda: 5), "--runs", "0")


def test_a_suite_that_binds_nothing_is_refused_by_name(tmp_path, monkeypatch):
    folder = tmp_path / "empty_suite"
    folder.mkdir()
    (folder / "suite.py").write_text(textwrap.dedent("""SUITES = ()"""))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(suites.importlib, "import_module", lambda name: __import__("empty_suite.suite").suite)
    with pytest.raises(StepFailed, match="binds no Suite to SUITE"):
        suites.load("empty")
    sys.modules.pop("empty_suite", None)
