"""AIBehavior: one method of one node, as the inspector says, within its AIScheduler."""
from __future__ import annotations

import pytest

RECORDER = """
    extends Node
    var elapsed: Array[float] = []
    func think(seconds: float) -> void: elapsed.append(seconds)
    func look(_seconds: float) -> String: return "seen"
    func nothing() -> void: pass
    func leave(_seconds: float) -> void: queue_free()
"""


@pytest.fixture
def recorder(gdscript, scheduler):
    made = gdscript(RECORDER).new()
    scheduler.add_child(made)
    return made


def test_a_behavior_node_calls_its_parent_as_the_inspector_says(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period_frames=2)
    physics_frames(4)
    assert len(recorder.get("elapsed")) == 2
    behavior.enabled = False
    physics_frames(4)
    assert len(recorder.get("elapsed")) == 2


def test_a_behavior_node_without_such_a_method_says_what_to_write(scheduler, node, expect_errors):
    expect_errors("has no method think(); write one that takes the elapsed seconds", times=1)
    node("AIBehavior", node("Node", scheduler, name="Bob"))


def test_a_behavior_node_without_scheduler_says_where_to_put_one(node, expect_errors):
    expect_errors("found no AIScheduler and will not run; put an AIScheduler above it", times=1)
    node("AIBehavior", node("Node"))


def test_leaving_and_coming_back_keeps_one_behavior(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period_frames=1)
    recorder.remove_child(behavior)
    physics_frames(2)
    assert recorder.get("elapsed") == []
    recorder.add_child(behavior)
    physics_frames(2)
    assert len(recorder.get("elapsed")) == 2


def test_any_quarantined_work_is_released_by_its_id(scheduler, node, physics_frames, expect_errors):
    broken = node("Node", scheduler, name="Bob")
    behavior = node("AIBehavior", broken, method_name="get_name", period_frames=1)
    assert behavior.is_inside_tree()
    expect_errors("get_name: too many arguments", times=4)
    physics_frames(6)
    [row] = scheduler.get_stats()["behaviors"]
    assert row["is_quarantined"]
    scheduler.release_behavior(row["id"])
    physics_frames(1)
    assert scheduler.get_stats()["behaviors"][0]["faults"] == 4


def test_a_disabled_character_does_not_think(recorder, node, physics_frames):
    node("AIBehavior", recorder, period_frames=1)
    recorder.process_mode = 4
    physics_frames(3)
    assert recorder.get("elapsed") == []
    recorder.process_mode = 0
    physics_frames(1)
    assert len(recorder.get("elapsed")) == 1


def test_changes_at_run_time_keep_the_record_of_its_runs(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period_frames=1)
    physics_frames(4)
    behavior.period_frames = 2
    behavior.priority = 3.0
    behavior.automatic_phase = False
    behavior.phase_frames = 1
    physics_frames(4)
    [row] = scheduler.get_stats()["behaviors"]
    assert (row["runs"], row["period_frames"], row["phase_frames"], row["priority"]) == (6, 2, 1, 3.0)
    behavior.automatic_phase = True
    physics_frames(4)
    assert scheduler.get_stats()["behaviors"][0]["runs"] == 8


def test_an_automatic_phase_moves_on_rephasing_and_a_given_one_stays(scheduler, recorder, node):
    given = [node("AIBehavior", recorder, period_frames=4, automatic_phase=False, phase_frames=0) for _ in range(2)]
    node("AIBehavior", recorder, period_frames=4)
    given[1].automatic_phase = True
    scheduler.rephase()
    phases = [row["phase_frames"] for row in scheduler.get_stats()["behaviors"]]
    assert phases[0] == 0
    assert len(set(phases)) == 3


def test_another_method_is_called_from_the_next_run_on(scheduler, recorder, node, physics_frames):
    behavior = node("AIBehavior", recorder, period_frames=1)
    physics_frames(2)
    behavior.method_name = "look"
    physics_frames(2)
    assert len(recorder.get("elapsed")) == 2
    assert scheduler.get_stats()["behaviors"][0]["name"].endswith(".look")


def test_a_target_outside_the_tree_is_not_called_and_the_engine_does_not_complain(
    scheduler, recorder, node, physics_frames
):
    node("AIBehavior", scheduler, target=f"../{recorder.get_name()}", period_frames=1)
    physics_frames(1)
    scheduler.remove_child(recorder)
    physics_frames(3)
    assert len(recorder.get("elapsed")) == 1
    recorder.free()


def test_a_freed_target_is_reported_and_says_what_to_do(scheduler, recorder, node, physics_frames, expect_errors):
    behavior = node("AIBehavior", scheduler, name="Mind", target="../" + recorder.get_name(), period_frames=1)
    assert behavior.is_in_use()
    recorder.free()
    expect_errors("its target has been freed; free Mind with it, or set another target", times=3)
    physics_frames(5)


def test_a_method_of_other_arguments_is_a_fault_of_this_behavior(recorder, node, physics_frames, expect_errors):
    node("AIBehavior", recorder, method_name="nothing", period_frames=1)
    expect_errors("nothing: too many arguments, it takes 0", times=3)
    physics_frames(4)


def test_a_target_may_free_itself_and_its_behavior(scheduler, recorder, node, physics_frames):
    node("AIBehavior", recorder, method_name="leave", period_frames=1)
    physics_frames(3)
    assert not recorder.is_valid()
    assert scheduler.get_stats()["behaviors"] == []


def test_what_a_method_returns_is_dropped_unless_a_recording_compares_it(scheduler, recorder, node, physics_frames):
    node("AIBehavior", recorder, method_name="look", period_frames=1)
    told = []

    class Ear:
        def task_ran(self, name, now, granted, steps, used_us, result):
            told.append(result)

    scheduler.trace.listen(Ear())
    physics_frames(1)
    scheduler.results.take = scheduler.result_of
    physics_frames(1)
    assert told == [None, "seen"]
