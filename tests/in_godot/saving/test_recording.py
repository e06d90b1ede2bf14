"""Recordings inside Godot: what was recorded without it replays in it, and nodes run twice alike."""
from __future__ import annotations

from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import Vector3
from ai_core.budget import Budget
from ai_core.recording import Recorder, Replay, read_recording
from demo_project.scenarios import SCENARIOS, build

RECORDINGS = Path(__file__).parents[2] / "scenarios" / "recordings"
FRAMES = 40


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_recording_made_without_godot_replays_in_it(name):
    with (RECORDINGS / f"{name}.jsonl").open(encoding="utf-8") as lines:
        recording = read_recording(lines)
    scenario = build(recording.header.name, recording.header.seed)
    replay = Replay(recording, clock=scenario.clock, trace=scenario.trace, parts=scenario.observed)
    assert replay.run(scenario.step) is None
    assert replay.is_done


class Place:
    """Lets a recorder see where a node is."""

    def __init__(self, node):
        self._node = node

    def observe(self):
        place = self._node.get("position")
        return {"place": (place.x, place.y, place.z)}


@pytest.fixture
def yard(node):
    """``yard()``: a scheduler over a guard who sees and turns, and a thief who walks by; stepped by hand."""

    class Yard:
        def __init__(self):
            self.scheduler = node("AIScheduler", name="Yard", update=2, budget=0.0)
            self.guard = node("Node3D", self.scheduler, name="Guard")
            node("SenseManager", self.scheduler, name="Senses")
            self.sensor = node("Sensor3D", self.guard, name="Sensor")
            self.thief = node("SenseSource3D", self.scheduler, name="Thief", position=Vector3(-3, 0, -4))
            self.scheduler.add_behavior(self.think, 3, -1, 1.0, "guard")
            self.scheduler.add_behavior(self.walk, 1, -1, 1.0, "thief")

        def walk(self, elapsed_s):
            place = self.thief.get("position")
            self.thief.set("position", Vector3(place.x + 2.0 * elapsed_s, place.y, place.z))

        def think(self, elapsed_s):
            known = len(self.sensor.get_known_targets())
            self.guard.set("position", Vector3(float(known), 0, 0))

        def recorded(self, frames=FRAMES, push=None):
            lines, core = [], self.scheduler
            parts = {"guard": Place(self.guard), "thief": Place(self.thief)}
            with Recorder(
                lines.append, clock=core.clock, trace=core.trace, parts=parts, digest_every_frames=1
            ) as recorder:
                for frame in range(frames):
                    recorder.begin_frame(Budget.unlimited())
                    if frame == push:
                        self.walk(0.5)
                    self.scheduler.step(1 / 60)
                    recorder.end_frame()
            self.scheduler.free()
            return lines

    return Yard


def compared(line):
    """What a frame tells but the time it took: digests and who ran."""
    return line.frame, line.parts, line.reports, [(run.name, run.steps, run.result) for run in line.runs]


def test_nodes_that_run_twice_give_the_same_digests(yard, physics_frames):
    physics_frames(1)
    first, second = (read_recording(yard().recorded()).frames for _ in range(2))
    assert [compared(frame) for frame in first] == [compared(frame) for frame in second]
    assert any("sensations" in frame.reports for frame in first), "the guard must have seen something"


def test_a_push_is_found_in_its_frame(yard, physics_frames):
    physics_frames(1)
    first = read_recording(yard().recorded()).frames
    second = read_recording(yard().recorded(push=25)).frames
    differing = [one.frame for one, other in zip(first, second, strict=True) if compared(one) != compared(other)]
    assert differing[0] == 26
