"""Recording the AI of a scene on a budget of time, and running it again inside Godot."""
from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton
from ai_core.recording import Recorder, read_recording
from tests.in_godot.demos.museum_diary import Museum

FILE = "user://recording_of_a_test.jsonl"
# Less than the museum's AI takes in a frame with senses, so that work is put off.
SCARCE_US = 60.0
SAME = [(-1, "", "")]


@pytest.fixture
def file():
    path = singleton("ProjectSettings").globalize_path(FILE)
    yield path
    if os.path.exists(path):
        os.remove(path)


def recorded(path):
    with open(path, encoding="utf-8") as lines:
        return read_recording(lines)


@pytest.fixture
def museum(nodes_of_test, physics_frames, signals, expect_errors):
    """``museum(budget)``: one that has not begun to live, and what its replay says; the one before is gone."""
    made = []
    # Depends on the machine: with little time, sounds are merged.
    expect_errors("signals are emitted faster than the budget of the senses", at_least=0)

    def make(budget):
        for one in made:
            one.node.free()
        made[:] = [Museum(nodes_of_test, physics_frames, budget=budget)]
        return made[0], signals(made[0].scheduler, "replay_ended")

    return make


@pytest.fixture
def recorded_museum(museum, file):
    """Frames of a museum that ran on scarce time, in a file; the rows that were seen."""

    def record(frames, *settings):
        first, _ = museum(SCARCE_US)
        assert first.scheduler.call("start_recording", FILE, *settings) is True
        first.live(frames)
        first.scheduler.call("stop_recording")
        return first.rows

    return record


@pytest.mark.slow
def test_a_time_limited_museum_replays_to_the_same_trace(museum, recorded_museum, file):
    rows = recorded_museum(600)
    recording = recorded(file)
    assert recording.header.is_timed
    assert any(grant is not None for frame in recording.frames for grant in frame.grants)
    second, ended = museum(0.0)
    assert second.scheduler.call("start_replay", FILE) is True
    second.live(600)
    assert ended == SAME
    assert second.rows == rows


@pytest.mark.slow
def test_a_time_limited_museum_differs_without_its_recording(museum, recorded_museum):
    rows = recorded_museum(600)
    second, _ = museum(0.0)
    second.live(600)
    assert second.rows != rows


@pytest.mark.slow
def test_a_push_ends_the_replay_and_names_the_node(museum, recorded_museum):
    recorded_museum(60, None, 1)
    second, ended = museum(0.0)
    second.scheduler.call("start_replay", FILE)
    second.live(40)
    bob = second.node.get_node("Life/Bob")
    place = bob.get("position")
    bob.set("position", Vector3(place.x + 0.01, place.y, place.z))
    second.live(20)
    assert ended == [(41, "node/../Bob", "its state differs")]
    assert second.scheduler.recorder is None
    assert second.frame == 60, "life goes on after the replay"


PLAYER = """
    extends Node3D
    var pressed := 0.0
    var steps := []
    func read() -> Dictionary: return {"pressed": Vector2(pressed, 0.5)}
    func give(inputs: Dictionary) -> void: pressed = inputs["pressed"].x
    func think(_elapsed_s: float) -> float:
        steps.append(pressed)
        return pressed
"""


@pytest.fixture
def player(gdscript, node):
    """``player()``: a scheduler stepped by hand over a node that acts as it is told from outside."""

    def make():
        scheduler = node("AIScheduler", name="AI", update=2)
        made = gdscript(PLAYER).new()
        made.set("name", "Player")
        scheduler.add_child(made)
        node("AIBehavior", made, name="Think", period=1)
        return scheduler, made

    return make


def test_what_comes_from_outside_is_recorded_and_given_again(player, file, signals):
    scheduler, made = player()
    scheduler.call("start_recording", FILE, made.get("read"))
    for pressed in (1.0, 2.0, 3.5):
        made.set("pressed", pressed)
        scheduler.step()
    scheduler.call("stop_recording")
    scheduler.free()
    scheduler, made = player()
    ended = signals(scheduler, "replay_ended")
    scheduler.call("start_replay", FILE, made.get("give"))
    for _ in range(3):
        scheduler.step()
    assert made.get("steps") == [1.0, 2.0, 3.5]
    assert ended == SAME


def test_a_load_ends_the_recording_which_replays(player, file, signals, expect_errors):
    scheduler, made = player()
    state = scheduler.save_state()
    scheduler.call("start_recording", FILE, made.get("read"))
    for _ in range(3):
        scheduler.step()
    expect_errors("load_state() ends the recording, which holds one run without a gap; record again", times=1)
    assert scheduler.load_state(state)
    scheduler.step()
    assert scheduler.load_state(state)
    scheduler.free()
    scheduler, made = player()
    ended = signals(scheduler, "replay_ended")
    scheduler.call("start_replay", FILE, made.get("give"))
    for _ in range(3):
        scheduler.step()
    assert ended == SAME


def test_another_result_of_a_behavior_is_found_and_named(player, file, signals):
    scheduler, made = player()
    scheduler.call("start_recording", FILE)
    for _ in range(4):
        scheduler.step()
    scheduler.call("stop_recording")
    scheduler.free()
    scheduler, made = player()
    ended = signals(scheduler, "replay_ended")
    scheduler.call("start_replay", FILE)
    scheduler.step()
    made.set("pressed", 0.25)
    for _ in range(3):
        scheduler.step()
    assert ended == [(2, "Player.think", "its result differs")]


def test_a_replay_that_cannot_go_on_ends(player, file, signals, expect_errors):
    scheduler, made = player()
    scheduler.call("start_recording", FILE, made.get("read"))
    for _ in range(3):
        scheduler.step()
    scheduler.call("stop_recording")
    scheduler.free()
    scheduler, made = player()
    ended = signals(scheduler, "replay_ended")
    scheduler.call("start_replay", FILE, made.get("read"))      # takes no inputs
    expect_errors("the replay, which stops here, raised", times=1)
    for _ in range(2):
        scheduler.step()
    [(frame, part, difference)] = ended
    assert (frame, part) == (1, "replay")
    assert difference.startswith("stopped by GodotCallError: ")


def test_the_librarys_recorder_records_nodes_on_a_time_budget(player):
    scheduler, _ = player()
    lines = []
    with Recorder(
        lines.append, clock=scheduler.clock, trace=scheduler.trace, parts={}, is_timed=True
    ) as scheduler.recorder:
        for _ in range(3):
            scheduler.step()
    scheduler.recorder = None
    recording = read_recording(lines)
    assert [frame.frame for frame in recording.frames] == [1, 2, 3]
    assert [run.name for run in recording.frames[0].runs] == ["Player.think"]


def test_recording_stopped_by_a_behavior_ends_with_its_frame(player, file):
    scheduler, _ = player()
    scheduler.budget = 100_000.0        # no hiccup of the machine puts the behavior off
    scheduler.add_behavior(lambda elapsed: scheduler.call("stop_recording"), 1, -1, 1.0, "stop")
    scheduler.call("start_recording", FILE)
    for _ in range(3):
        scheduler.step()
    recording = recorded(file)
    assert recording.is_whole
    assert len(recording.frames) == 1


def test_a_recording_ends_with_its_scheduler(player, file):
    scheduler, _ = player()
    scheduler.call("start_recording", FILE)
    scheduler.step()
    scheduler.free()
    assert recorded(file).is_whole


def test_a_budget_does_not_become_unlimited_in_a_recording(player, file, expect_errors):
    scheduler, _ = player()
    scheduler.call("start_recording", FILE)
    expect_errors("budget cannot change between limited and unlimited in a recording", times=1)
    scheduler.call("set_budget", 0.0)
    assert scheduler.budget == 2000.0
    scheduler.budget = 500.0
    scheduler.call("stop_recording")
    scheduler.budget = 0.0


def test_a_node_leaving_while_recorded_leaves_in_the_replay(player, file, signals):
    for start, *settings in (("start_recording", None, 1), ("start_replay",)):
        scheduler, made = player()
        made.call("add_to_group", "ai_saved")
        ended = signals(scheduler, "replay_ended")
        scheduler.call(start, FILE, *settings)
        scheduler.step()
        made.free()
        scheduler.step()
        scheduler.call("stop_recording")
        scheduler.free()
    assert ended == SAME


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "cannot replay 'user://recording_of_a_test.jsonl': [Errno 2]"), ("", "the recording is empty"),
     ("{}\n", "cannot replay"), ("\x00\n", "cannot replay")],
)
def test_what_is_no_recording_is_one_clear_error(player, file, expect_errors, text, message):
    if text is not None:
        with open(file, "w", encoding="utf-8") as written:
            written.write(text)
    scheduler, _ = player()
    expect_errors(message, times=1)
    assert not scheduler.call("start_replay", FILE)
    assert scheduler.recorder is None


def test_a_recording_of_another_scene_names_what_is_missing(player, file, expect_errors):
    scheduler, made = player()
    scheduler.call("start_recording", FILE)
    scheduler.step()
    scheduler.call("stop_recording")
    scheduler.free()
    scheduler, made = player()
    made.call("add_to_group", "ai_saved")
    expect_errors("parts must be those of the recording, got 'node/Player' not in the recording", times=1)
    assert not scheduler.call("start_replay", FILE)


def test_a_folder_that_is_not_there_is_one_clear_error(player, expect_errors):
    scheduler, _ = player()
    expect_errors("cannot record to 'user://nowhere/run.jsonl': [Errno 2]", times=1)
    assert not scheduler.call("start_recording", "user://nowhere/run.jsonl")


@pytest.mark.parametrize("start", ["start_recording", "start_replay"])
def test_inputs_that_cannot_be_called_are_refused(player, file, expect_errors, start):
    scheduler, _ = player()
    expect_errors("_inputs needs a Callable, got 3", times=1)
    assert not scheduler.call(start, FILE, 3)


def test_inputs_that_cannot_be_written_stop_only_the_recording(player, file, expect_errors):
    scheduler, made = player()
    scheduler.call("start_recording", FILE, lambda: construct("BoxMesh"))
    expect_errors("the recording, which stops here, raised StateError: 'inputs' must be plain data", times=1)
    scheduler.step()
    scheduler.step()
    assert len(made.get("steps")) == 2
    assert scheduler.recorder is None


def test_a_part_that_cannot_be_compared_is_reported_at_the_start(player, gdscript, file, expect_errors):
    scheduler, _ = player()
    made = gdscript("""
        extends Node
        func _save_state() -> Variant: return BoxMesh.new()
        func _load_state(_state: Variant) -> void: pass
    """).new()
    made.set("name", "Box")
    made.call("add_to_group", "ai_saved")
    scheduler.add_child(made)
    expect_errors("node/Box: '_save_state()' must be plain data", times=1)
    assert not scheduler.call("start_recording", FILE)


def test_level_of_the_page_records_and_replays(node, gdscript, physics_frames, file, signals):
    page = (Path(__file__).parents[3] / "docs" / "godot" / "determinism.md").read_text(encoding="utf-8")
    source, = re.findall(r"```gdscript\n(.*?)```", page, re.DOTALL)
    script = gdscript(source.replace("user://run.jsonl", FILE))
    keys, places = singleton("Input"), []
    for is_replay in (False, True):
        level = script.new()
        level.set("is_replay", is_replay)
        scheduler = node("AIScheduler", level, name="AIScheduler", update=1)
        player = node("Node3D", level, name="Player")
        player.add_to_group("ai_saved")
        ended = signals(scheduler, "replay_ended")
        node("Node").add_child(level)
        if not is_replay:
            keys.action_press("ui_right")
        physics_frames(15)
        keys.action_release("ui_right")
        physics_frames(15)
        scheduler.call("stop_recording")
        places.append(player.position.x)
        physics_frames(2)
        level.free()
    assert ended == SAME
    assert places[0] == places[1] > 0.5


READER = """
    extends RefCounted
    var held: WeakRef
    func begin(ai: AIScheduler, how: String) -> void:
        var captured := RefCounted.new()
        var count := [0]
        var found: WeakRef = weakref(ai)
        held = weakref(captured)
        ai.start_recording("user://recording_of_a_test.jsonl", func() -> int:
            count[0] += 1
            if count[0] == 3 and how == "stop": found.get_ref().stop_recording()
            if count[0] == 3 and how == "free": found.get_ref().free()
            return count[0] if captured else 0)
    func is_held() -> bool: return held.get_ref() != null
"""


@pytest.mark.parametrize("how", ["stop", "free", "later"])
def test_read_inputs_may_end_its_recording_and_is_released(gdscript, node, file, physics_frames, how):
    scheduler, reader = construct("AIScheduler"), gdscript(READER).new()
    world = node("Node3D")
    world.add_child(scheduler)
    reader.begin(scheduler, how)
    assert reader.is_held()
    physics_frames(5)
    if how == "later":
        scheduler.stop_recording()
    assert not reader.is_held()
    assert len(recorded(file).frames) == (5 if how == "later" else 3)
