"""Measuring suites and saying what came out."""
from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from tools.benchmarking import native_bridge, records, release_game
from tools.benchmarking.declarations import Suite
from tools.benchmarking.growth_picture import write_pictures
from tools.benchmarking.machine import commit, machine
from tools.benchmarking.results import Outcome, outcome_of
from tools.benchmarking.suites import chosen, load
from tools.benchmarking.table import table, verdict
from tools.environment import install_group
from tools.preparation import Prepared, prepare
from tools.processes import run
from tools.progress import StepFailed, step

_PYTHON_LIMIT_S = 600.0
PICTURES = "benchmark_pictures"
NATIVE = ", native bridge"

Runner = Callable[[], list[records.Record]]


def measure_suites(options: argparse.Namespace, root: Path) -> int:
    """Measure the chosen suites, print tables, write what was asked for.

    Returns:
        0; 1 if a result is wrong or missing. A missed goal is told, not punished: a shared
        machine misses some by chance.

    Raises:
        StepFailed: if something cannot be run at all.
    """
    if options.runs < 1:
        raise StepFailed("reading --runs", f"needs 1 or more, got {options.runs}", "leave it out for the default")
    names = chosen(root, options.suite)
    if options.peers:
        install_group(root, Path(sys.executable), "bench")
    facts = machine()
    outcomes: list[Outcome] = []
    versions: dict[str, str] = {"ai_core": commit(root)}
    for name in names:
        suite = load(name)
        for outcome in _measure(name, suite, options, root, versions):
            outcomes.append(outcome)
            print(table(outcome), flush=True)
    results = [result for outcome in outcomes for result in outcome.results]
    print(f"\n{verdict(results)}")
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(as_dict(facts, versions, outcomes), indent=1) + "\n")
    for file in write_pictures(results, _picture_folder(options.pictures, root)):
        print(file)
    return 1 if any(outcome.wrong for outcome in outcomes) else 0


def as_dict(facts: dict[str, object], versions: dict[str, str], outcomes: list[Outcome]) -> dict[str, object]:
    """Return all that was found as plain JSON data; machine and versions stand there once."""
    return {
        "machine": facts,
        "versions": versions,
        "empty_call_ns": {outcome.suite: outcome.empty_call_ns for outcome in outcomes},
        "runs": {outcome.suite: outcome.runs for outcome in outcomes},
        "wrong": [f"{outcome.suite}: {text}" for outcome in outcomes for text in outcome.wrong],
        "results": [result.as_dict() for outcome in outcomes for result in outcome.results],
    }


def _measure(
    name: str, suite: Suite, options: argparse.Namespace, root: Path, versions: dict[str, str]
) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="ai_core_bench_") as scratch:
        runners = _runners(name, suite, options, root, Path(scratch), versions)
        runs: dict[str, list[list[records.Record]]] = {label: [] for label in runners}
        with step(f"measuring {name}") as progress:
            for number in range(options.runs):  # builds take turns, so that all meet the same machine
                for label, runner in runners.items():
                    progress.note(f"run {number + 1} of {options.runs}{label}")
                    runs[label].append(runner())
    for record in records.of_kind("versions", runs[""][0]):
        versions.update(record["versions"])  # type: ignore[call-overload]
    return [outcome_of(name, suite, taken, label=label) for label, taken in runs.items()]


def _runners(
    name: str, suite: Suite, options: argparse.Namespace, root: Path, scratch: Path, versions: dict[str, str]
) -> dict[str, Runner]:
    """Return by label what runs the suite once: one runner, and one more with --native."""
    if suite.scene is None:
        return {"": partial(_run_python, name, root)}
    prepared = prepare(root)
    versions["godot"] = prepared.engine.version()
    games = {"": release_game.build(prepared.engine, root, suite.scene, _made(scratch / "game"))}
    if options.native:
        libraries = _build_native(prepared, scratch)
        games[NATIVE] = release_game.build(
            prepared.engine, root, suite.scene, _made(scratch / "native_game"), libraries=libraries
        )
    return {label: game.measure for label, game in games.items()}


def _build_native(prepared: Prepared, scratch: Path) -> Path:
    with step("building the bridge for this Python alone"):
        return native_bridge.build(prepared, _made(scratch / "native"))


def _run_python(name: str, root: Path) -> list[records.Record]:
    finished = run(
        [sys.executable, "-m", "tools.benchmarking.python_runs", name], timeout_s=_PYTHON_LIMIT_S, cwd=root
    )
    found = records.read(finished.output)
    if not finished.succeeded or not records.of_kind("end", found):
        why = replace(finished, output=records.other_lines(finished.output)).explain()
        raise StepFailed(f"measuring {name}", why, "put right what Python says, then run it again")
    return found


def _picture_folder(wanted: Path | None, root: Path) -> Path:
    if wanted is not None:
        return wanted
    folder = root / PICTURES
    folder.mkdir(exist_ok=True)
    (folder / ".gitignore").write_text("*\n")  # taken anew at every run, on every machine
    (folder / ".gdignore").touch()
    return folder


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
