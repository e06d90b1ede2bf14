"""An AIScheduler below another one is part of its work."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct

RECORDER = """
    extends Node
    var elapsed: Array[float] = []
    func think(seconds: float) -> void: elapsed.append(seconds)
    func add_to(scheduler: AIScheduler, period: int) -> int:
        return scheduler.add_behavior(think, period)
"""


@pytest.fixture
def recorder(gdscript, scheduler):
    made = gdscript(RECORDER).new()
    scheduler.add_child(made)
    return made


def test_a_scheduler_below_another_is_part_of_its_work(node, recorder, scheduler, physics_frames):
    inner = node("AIScheduler", scheduler, name="Squad", nested_period=2)
    number = recorder.call("add_to", inner, 3)
    physics_frames(12)
    assert recorder.get("elapsed")[1:] == pytest.approx([6 / 60])
    assert inner.clock is scheduler.clock
    [row] = scheduler.get_stats()["behaviors"]
    assert (row["name"], row["runs"]) == ("Squad", 6)
    assert "Squad/" in scheduler.get_stats_table()
    inner.nested_period = 1
    inner.set_behavior_period(number, 1)
    physics_frames(3)
    assert len(recorder.get("elapsed")) == 5
    scheduler.remove_child(inner)
    physics_frames(3)
    assert len(recorder.get("elapsed")) == 5
    assert scheduler.get_stats()["behaviors"] == []
    scheduler.add_child(inner)
    physics_frames(1)
    assert len(recorder.get("elapsed")) == 6


def test_a_nested_scheduler_is_saved_and_recorded_from_above(node, scheduler, expect_errors):
    inner = node("AIScheduler", scheduler, name="Squad")
    expect_errors("belongs to the AIScheduler above, in whose frames it runs", times=4)
    inner.call("step")
    inner.call("save_state")
    inner.call("start_recording", "user://x.jsonl")
    inner.call("start_replay", "user://x.jsonl")


def test_work_of_a_nested_scheduler_is_saved_with_the_outer_one(node, scheduler, physics_frames):
    inner = node("AIScheduler", scheduler, name="Squad")
    heard = []
    number = inner.add_behavior(heard.append, 5, 0, 1.0, "think")
    physics_frames(7)
    state = scheduler.save_state()
    physics_frames(9)
    assert scheduler.load_state(state)
    assert inner.clock.now.frame == 7
    assert inner.get_stats()["behaviors"][0]["runs"] == 2
    inner.pause_behavior(number)
    assert inner.get_stats()["behaviors"][0]["is_paused"]


def test_a_scheduler_with_its_own_clock_does_not_nest(node, scheduler, expect_errors):
    inner = construct("AIScheduler")
    inner.add_behavior(lambda elapsed: None)
    expect_errors("runs on its own, because behaviors were added before", times=1)
    scheduler.add_child(inner)
    assert scheduler.get_stats()["behaviors"] == []


def test_a_disabled_nested_scheduler_pauses_with_its_character(
    node, recorder, scheduler, physics_frames,
):
    inner = node("AIScheduler", scheduler, process_mode=4)     # disabled
    recorder.call("add_to", inner, 1)
    physics_frames(3)
    assert recorder.get("elapsed") == []
    inner.process_mode = 0
    physics_frames(2)
    assert len(recorder.get("elapsed")) == 2
    inner.process_mode = 4
    physics_frames(3)
    assert len(recorder.get("elapsed")) == 2
    inner.process_mode = 0
    physics_frames(1)
    assert recorder.get("elapsed")[2] == pytest.approx(1 / 60)     # as with _process, a pause is no elapsed time


@pytest.mark.parametrize("paused", ["outer", "inner", "both", "crossing", "tree"])
@pytest.mark.parametrize("is_loaded", [False, True])
def test_paused_time_is_no_elapsed_time(node, recorder, scheduler, physics_frames, paused, is_loaded):
    outer = node("AIScheduler", scheduler)
    inner = node("AIScheduler", outer)
    recorder.call("add_to", inner, 6)
    physics_frames(9)
    before = sum(recorder.get("elapsed"))
    changes = {"outer": [outer], "inner": [inner], "tree": []}.get(paused, [inner, outer])
    for one in changes:
        physics_frames(3)
        one.process_mode = 4
    scheduler.get_tree().paused = paused == "tree"
    physics_frames(30)
    if is_loaded:
        assert scheduler.load_state(scheduler.save_state())
        physics_frames(30)
    scheduler.get_tree().paused = False
    for one in changes if paused == "crossing" else reversed(changes):
        one.process_mode = 0
        physics_frames(3)
    physics_frames(12)
    ran = 3 * len(changes) + 12
    assert sum(recorder.get("elapsed")) - before == pytest.approx(ran / 60, abs=6.5 / 60)


@pytest.fixture
def watched(gdscript):
    """A function that adds a character with a HabitTree and a StateMachine, and returns who records their time."""
    scripts = [gdscript(f"""
        extends {base}
        var elapsed: Array[float] = []
        func {method}(seconds: float) -> {returns}
    """) for base, method, returns in (
        ("Habit", "_tick", "int: elapsed.append(seconds); return 0"),
        ("AIState", "_update", "void: elapsed.append(seconds)"))]

    def add_to(level, period):
        body = construct("Node3D")
        recorders = [one.new() for one in scripts]
        for kind, one in zip(("HabitTree", "StateMachine"), recorders, strict=True):
            decider = construct(kind)
            decider.set("period", period)
            decider.add_child(one)
            body.add_child(decider)
        level.add_child(body)
        return recorders

    return add_to


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("paused", ["level", "scheduler"])
@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_pause_of_a_level_is_no_time_of_its_characters(
        scheduler, watched, physics_frames, paused, is_last, is_loaded):
    level, inner = construct("Node3D"), construct("AIScheduler")
    recorders = [*watched(level, 1), *watched(level, 4)]
    level.add_child(inner)
    if not is_last:
        level.move_child(inner, 0)
    scheduler.add_child(level)
    physics_frames(9)
    before = [len(one.get("elapsed")) for one in recorders]
    assert min(before) >= 2
    still = level if paused == "level" else inner
    still.process_mode = 4
    physics_frames(30)
    if is_loaded:
        state = scheduler.save_state()
        physics_frames(20)
        assert scheduler.load_state(state)
    added = watched(level, 1) if paused == "scheduler" and not is_loaded else []
    physics_frames(30)
    still.process_mode = 0
    physics_frames(12)
    for one, count, (period, turns) in zip(recorders, before, [(1, 12)] * 2 + [(4, 3)] * 2, strict=True):
        assert list(one.get("elapsed"))[count:] == pytest.approx([period / 60] * turns, abs=0.001)
    for one in added:
        assert max(one.get("elapsed")) <= 1 / 60 + 0.001
        assert min(one.get("elapsed")) >= 0.0


def test_a_pause_before_a_scheduler_leaves_is_no_elapsed_time(node, recorder, scheduler, physics_frames):
    inner = node("AIScheduler", scheduler)
    recorder.call("add_to", inner, 1)
    physics_frames(2)
    inner.process_mode = 4
    physics_frames(30)
    scheduler.remove_child(inner)
    scheduler.add_child(inner)
    inner.process_mode = 0
    physics_frames(3)
    assert max(recorder.get("elapsed")) < 3 / 60


@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("was_disabled", [False, True])
def test_time_outside_the_tree_is_no_elapsed_time(node, recorder, scheduler, physics_frames, depth, was_disabled):
    streamed = node("AIScheduler", scheduler)
    inner = node("AIScheduler", streamed) if depth else streamed
    recorder.call("add_to", inner, 6)
    physics_frames(9)
    before = sum(recorder.get("elapsed"))
    if was_disabled:
        streamed.process_mode = 4
        physics_frames(30)
    scheduler.remove_child(streamed)
    physics_frames(30)
    scheduler.add_child(streamed)
    streamed.process_mode = 0
    physics_frames(12)
    assert sum(recorder.get("elapsed")) - before == pytest.approx(12 / 60, abs=6.5 / 60)


def test_a_scheduler_that_leaves_another_keeps_its_own_time(
    node, recorder, scheduler, physics_frames,
):
    inner = node("AIScheduler", scheduler)
    recorder.call("add_to", inner, 1)
    physics_frames(1)
    scheduler.remove_child(inner)
    node("Node").add_child(inner)
    before_s = scheduler.get_stats()["seconds"]
    physics_frames(6)
    assert scheduler.get_stats()["seconds"] - before_s == pytest.approx(6 / 60)
    assert len(recorder.get("elapsed")) == 7
    assert sum(recorder.get("elapsed")[1:]) == pytest.approx(6 / 60, abs=0.02)
    recorder.get_parent().remove_child(recorder)
    inner.add_child(recorder)
    scheduler.free()
    physics_frames(6)
    assert sum(recorder.get("elapsed")[1:]) == pytest.approx(12 / 60, abs=0.02)


def test_a_nested_scheduler_with_too_long_a_period_is_refused(
        node, scheduler, physics_frames, expect_errors):
    expect_errors("nested_period must be between 1 and 1e+06, got 2000000000; it stays 1", times=1)
    inner = node("AIScheduler", scheduler, nested_period=2_000_000_000)
    physics_frames(2)
    scheduler.remove_child(inner)
    physics_frames(1)
    scheduler.add_child(inner)
    expect_errors("got 3000000", times=1)
    inner.set("nested_period", 3_000_000)
    physics_frames(2)
    assert inner.nested_period == 1


def test_what_a_nested_scheduler_lacks_is_left_out_alone(node, recorder, scheduler, physics_frames, expect_errors):
    inner = node("AIScheduler", scheduler, name="Squad")
    _, second = [
        inner.call("add_behavior", recorder.get("think"), period, -1, 1.0, f"every {period}") for period in (1, 2)]
    physics_frames(4)
    state = scheduler.save_state()
    inner.remove_behavior(second)
    physics_frames(4)
    expect_errors("behavior every 2: 1 saved, 0 here", times=1)
    assert scheduler.load_state(state, True)
    assert list(scheduler.get_left_out()) == ["behavior every 2"]
    [row] = inner.get_stats()["behaviors"]
    assert (row["name"], row["runs"]) == ("every 1", 4)


def test_no_time_is_negative_after_a_load_without_the_scheduler(
        node, recorder, scheduler, physics_frames, expect_errors):
    inner = node("AIScheduler", scheduler, name="Squad")
    recorder.call("add_to", inner, 1)
    physics_frames(2)
    state = scheduler.save_state()
    physics_frames(4)
    state["parts"]["scheduler"]["frame"] = "broken"
    expect_errors("left out 1 parts", times=1)
    assert scheduler.load_state(state, True)
    physics_frames(1)
    assert min(recorder.get("elapsed")[1:]) == pytest.approx(1 / 60)
    assert scheduler.load_state(scheduler.save_state())
