"""What docs/godot/scheduling.md shows does what it says."""
from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import construct

TEXT = (Path(__file__).parents[3] / "docs" / "godot" / "scheduling.md").read_text(encoding="utf-8")
SAMPLES = re.findall(r"```gdscript\n(.*?)```", TEXT, re.DOTALL)
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def sample(gdscript, scheduler):
    """``sample(number)``: a node of the script, below the scheduler."""

    def make(number):
        made = gdscript(SAMPLES[number]).new()
        scheduler.add_child(made)
        return made

    return make


def test_every_sample_is_run_here():
    assert (len(SAMPLES), len(PYTHON)) == (7, 1)


def test_a_behavior_below_a_character_calls_think(sample, node, physics_frames):
    thinker = sample(0)
    node("AIBehavior", thinker, period=3)
    physics_frames(7)
    assert thinker.thoughts in (2, 3)
    assert thinker.seconds == pytest.approx(thinker.thoughts * 3 / 60, abs=3 / 60)


def test_behaviors_added_by_code_change_and_leave_by_their_ids(sample, scheduler, physics_frames):
    looker = sample(1)
    physics_frames(4 + 4 + 2 + 2 + 9)
    assert looker.looks == 4
    assert scheduler.get_stats()["behaviors"] == []


def test_the_report_tells_of_phases_and_of_the_budget(sample, scheduler, physics_frames):
    reporter = sample(2)
    for _ in range(6):
        scheduler.add_behavior(print_nothing, 3)
    physics_frames(3)
    assert re.fullmatch(r"0 moved, 2 to 2 runs a frame; frame \d+, 0 over budget", reporter.report(scheduler))


def print_nothing(elapsed_s):
    assert elapsed_s >= 0


def test_the_timeslicer_runs_two_jobs_an_update(gdscript, scheduler, node, physics_frames):
    node("Timeslicer", scheduler, name="Timeslicer")
    asker = gdscript(SAMPLES[3]).new()
    scheduler.add_child(asker)
    assert asker.length_of("Cleo") == -1
    physics_frames(2)
    assert [asker.length_of(key) for key in ("Ann", "Bob", "Cleo", "Dora")] == [3, 3, 4, 4]


def test_a_behavior_uses_the_time_that_it_has(sample, scheduler, physics_frames):
    thinker = sample(4)
    scheduler.call("add_behavior", thinker.get("think"))
    physics_frames(1)
    assert thinker.checked == 1000


def test_a_coroutine_plans_in_the_frames_of_ai(sample, physics_frames):
    planner = sample(5)
    assert planner.sum == 0
    physics_frames(1)
    assert (planner.sum, planner.is_planned) == (sum(range(300)), True)


def test_a_job_and_a_thread_give_their_results(sample, scheduler, physics_frames):
    searcher = sample(6)
    for _ in range(1000):
        physics_frames(1)
        time.sleep(0.001)
        if not scheduler.get_stats()["behaviors"]:
            break
    assert (searcher.tried, searcher.total) == (500, 499500)
    assert searcher.best > 0.99


def test_work_in_python_lives_within_its_share(node, physics_frames):
    names = {}
    exec(PYTHON[0], names)
    planner = names["Planner"](node("AIScheduler", budget=20000.0))
    physics_frames(4)
    assert (planner.thoughts, planner.best, planner.plan) == (1000, 49, "flank")


@pytest.mark.parametrize("class_name", ["AIScheduler", "AIBehavior", "Timeslicer"])
def test_every_property_that_the_text_names_exists(class_name):
    made = construct(class_name)
    known = {one["name"] for one in made.get_property_list()} | {one["name"] for one in made.get_method_list()}
    known |= {"policy", "text", "think", "elapsed_s", "look", "class_name", "true", "false", "null", "job_finished"}
    known |= {"advance", "unschedule"}               # of Python
    made.free()
    names = set(re.findall(r"`([a-z_]+)(?:\([^`]*\))?(?: = \w+)?`", TEXT))
    assert names & known, class_name
    KNOWN.update(known)
    if class_name == "Timeslicer":
        assert names <= KNOWN, names - KNOWN


KNOWN: set[str] = set()
