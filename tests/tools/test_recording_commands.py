"""The commands record, replay and timeline, as a person uses them."""
from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.recording import Recorder
from ai_core.trace import Trace
from demo_project.scenarios import SCENARIOS
from tools import recording_commands, scenario_recordings
from tools.dev import COMMANDS


@pytest.fixture
def dev(capsys, monkeypatch):
    """``dev("replay", file)``: the command, run here; its exit status, output and complaints."""

    def run_here(program, *, cwd, check):
        return subprocess.CompletedProcess(program, scenario_recordings.main(program[-2:]))

    monkeypatch.setattr(recording_commands, "ensure_environment", lambda root: Path(sys.executable))
    monkeypatch.setattr(recording_commands.subprocess, "run", run_here)

    def command(name, *arguments):
        does, takes = COMMANDS[name]
        parser = argparse.ArgumentParser()
        for flags, settings in takes:
            parser.add_argument(*flags, **settings)
        status = does(parser.parse_args([str(one) for one in arguments]))
        said = capsys.readouterr()
        return status, said.out, said.err

    return command


@pytest.fixture
def file(dev, tmp_path):
    """A recording of 20 frames of the alarm."""
    file = tmp_path / "new folder" / "alarm.jsonl"
    status, said, _ = dev("record", "alarm", "--frames", 20, "--seed", 4, "--out", file)
    assert (status, said) == (0, f"20 frames of 'alarm', seed 4: {file}\n")
    return file


def test_a_recorded_scenario_replays(dev, file):
    status, said, _ = dev("replay", file)
    assert (status, said) == (0, "20 frames of 'alarm' as recorded: all that was decided, to 0.0001\n")


def test_a_scenario_recorded_on_time_and_to_the_bit_replays(dev, tmp_path):
    file = tmp_path / "alarm.jsonl"
    dev("record", "alarm", "--frames", 20, "--budget-us", 100, "--exact", "--out", file)
    status, said, _ = dev("replay", file)
    assert (status, said) == (0, "20 frames of 'alarm' as recorded: every bit\n")


def test_differing_replay_names_frame_part_and_recorded_versions(dev, file, monkeypatch):
    from demo_project.scenarios.alarm import House

    take_in = House.take_in

    def take_in_and_smoke(house, inputs):
        take_in(house, inputs)
        house.smoke[0] += house.clock.now.frame == 13

    monkeypatch.setattr(House, "take_in", take_in_and_smoke)
    monkeypatch.setattr(scenario_recordings, "made_with", lambda: {"numpy": "9.9"})
    status, _, complaint = dev("replay", file)
    assert status == 1
    assert complaint.startswith("replay differs at frame 13: ")
    assert "house" in complaint
    assert "recorded with numpy " in complaint
    assert ", this is 9.9; see docs/concepts/determinism.md" in complaint


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_recording_is_drawn(dev, file, tmp_path, suffix):
    picture = tmp_path / f"alarm.{suffix}"
    assert dev("timeline", file, "--out", picture)[:2] == (0, f"{picture}\n")
    if suffix == "png":
        assert picture.read_bytes().startswith(b"\x89PNG")
    else:
        assert "alarm, seed 4: 20 frames" in ElementTree.parse(picture).getroot()[0].text


def test_a_scenario_is_drawn_without_a_recording(dev, tmp_path):
    picture = tmp_path / "alarm.svg"
    assert dev("timeline", "alarm", "--frames", 5, "--out", picture)[0] == 0
    assert "alarm, seed 0: 5 frames" in picture.read_text()


def test_a_damaged_recording_is_refused_with_its_line(dev, file):
    lines = file.read_text().splitlines()
    lines[6] = lines[6].replace("1", "2", 1)
    file.write_text("\n".join(lines))
    status, _, complaint = dev("replay", file)
    assert status == 1
    assert f"why: {file}: line 7:" in complaint


def test_a_recording_that_a_crash_cut_short_replays_on_demand(dev, file):
    file.write_text("\n".join(file.read_text().splitlines()[:11]))
    assert dev("replay", file)[0] == 1
    assert dev("replay", file, "--cut")[:2] == (
        0, "10 frames of 'alarm' as recorded: all that was decided, to 0.0001\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("record", "alarms"), "unknown scenario 'alarms'; did you mean 'alarm'?"),
        (("replay", "nowhere.jsonl"), "No such file"),
        (("timeline", "alarm", "--frames", "2", "--out", "alarm.gif"), "is neither .svg nor .png"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(dev, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, complaint = dev(*arguments)
    assert status == 1
    assert message in complaint
    assert "what to do: name " in complaint


def test_a_picture_is_no_recording(dev, tmp_path):
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\xff\xfe")
    assert "is it a recording?" in dev("replay", picture)[2]


def test_a_recording_of_a_scene_is_replayed_in_the_scene(dev, tmp_path):
    file, clock = tmp_path / "scene.jsonl", ManualClock()
    with file.open("w") as lines, Recorder(
        lambda line: lines.write(line + "\n"), clock=clock, trace=Trace(), parts={}, name="res://level.tscn",
    ) as recorder:
        recorder.begin_frame(Budget.unlimited(), {})
        recorder.end_frame()
    status, _, complaint = dev("replay", file)
    assert status == 1
    assert "res://level.tscn is a scene" in complaint
    assert "call start_replay() of its AIScheduler" in complaint


def test_the_help_names_every_scenario():
    said = recording_commands.RECORD_ARGUMENTS[0][1]["help"]
    assert [name for name in SCENARIOS if name not in said] == []
