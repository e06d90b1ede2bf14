"""The determinism contract (docs/concepts/determinism.md), on all scenarios."""
from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ai_core.budget import Budget
from ai_core.loops import SWITCH, compiled
from ai_core.recording import Replay, read_recording
from demo_project.scenarios import SCENARIOS, build
from tests.scenarios.expected_digests import FILE, digests_of, lines_of

ROOT = Path(__file__).parents[2]
each_scenario = pytest.mark.parametrize("name", sorted(SCENARIOS))


def replayed(lines, scenario):
    return Replay(
        read_recording(lines), clock=scenario.clock, trace=scenario.trace, parts=scenario.observed
    ).run(scenario.step)


def printed_by_a_fresh_process(*arguments, **environment):
    finished = subprocess.run(
        [sys.executable, "-m", "tests.scenarios.fresh_process", *arguments], cwd=ROOT,
        env={**os.environ, **environment}, capture_output=True, text=True, check=True,
    )
    assert len(finished.stdout.splitlines()) == len(SCENARIOS)
    in_use = finished.stderr.splitlines()[0].split()  # what fresh_process prints first
    is_pure = environment.get(SWITCH, os.environ.get(SWITCH, "")) not in ("", "0")
    assert in_use == ([] if is_pure else [*compiled()])
    return finished.stdout


@pytest.mark.slow
@each_scenario
def test_decisions_are_the_committed_ones_on_every_machine(name):
    expected = json.loads(FILE.read_text())[name]
    for frame, digests in digests_of(name).items():
        differing = [part for part in digests if digests[part] != expected[frame].get(part)]
        assert not differing, (
            f"{name}: {', '.join(differing)} changed before frame {frame}; if that is meant,"
            " run: python -m tests.scenarios.expected_digests"
        )


@pytest.mark.slow
@each_scenario
def test_a_recording_replays_to_the_last_bit(name):
    assert replayed(lines_of(build(name, 5), 60, exact=True), build(name, 5)) is None


@pytest.mark.slow
@each_scenario
def test_what_ran_against_the_clock_replays_to_the_last_bit(name):
    lines = lines_of(
        build(name, 5), 60, exact=True, budget=lambda: Budget.of_time(60, time.perf_counter_ns)
    )
    recording = read_recording(lines)
    assert any(grant is not None for frame in recording.frames for grant in frame.grants)
    assert replayed(lines, build(name, 5)) is None


@pytest.mark.slow
@each_scenario
def test_another_seed_is_another_world(name):
    lines = lines_of(build(name, 5), 150)
    assert replayed(lines, build(name, 6)) is not None


@pytest.mark.slow
def test_one_changed_bit_of_a_guards_decision_is_found_and_named():
    lines = lines_of(build("guards", 5), 40, exact=True)
    scenario = build("guards", 5)
    guard = scenario.guards[3]
    decide = guard.decision

    def decide_by_a_bit_else():
        habit, (x, z) = decide()
        return habit, (math.nextafter(x, math.inf) if scenario.clock.now.frame == 24 else x, z)

    ran = [frame.frame for frame in read_recording(lines).frames if "guard 3" in [run.name for run in frame.runs]]
    assert 24 in ran
    guard.decision = decide_by_a_bit_else
    difference = replayed(lines, scenario)
    assert (difference.frame, difference.part) == (24, "guard 3")


@pytest.mark.slow
def test_two_processes_with_two_hash_seeds_agree_to_the_last_bit():
    assert printed_by_a_fresh_process(PYTHONHASHSEED="1") == printed_by_a_fresh_process(PYTHONHASHSEED="2")


@pytest.mark.slow
def test_interpreted_and_compiled_agree_to_the_last_bit():
    if not compiled():
        pytest.skip("no kernels are built")
    assert printed_by_a_fresh_process(AI_CORE_PURE_PYTHON="1") == printed_by_a_fresh_process(AI_CORE_PURE_PYTHON="")


@pytest.mark.slow
def test_a_lesser_processor_decides_the_same():
    features = " ".join(np._core._multiarray_umath.__cpu_dispatch__)
    present = [one for one in features.split() if np._core._multiarray_umath.__cpu_features__.get(one)]
    less = printed_by_a_fresh_process("--quantised", NPY_DISABLE_CPU_FEATURES=" ".join(present))
    assert less == printed_by_a_fresh_process("--quantised")
