"""Listeners that stopped and listened again, or listen no more, between a save and its load; receipts in saves."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import PackedStringArray, construct
from addons.ai_core.nodes.events.scene_events import events_of
from ai_core.budget import Budget

EAR = """
    extends Node
    var told := 0
    func begin(m: AIEventManager, terms := {}) -> void: m.listen("door", on_door, terms)
    func end(m: AIEventManager) -> void: m.unlisten("door", on_door)
    func wait(m: AIEventManager) -> void: m.at_time("17:00", on_door)
    func on_door(_code: String, _arguments: Array) -> void: told += 1
"""


@pytest.fixture
def game(node, gdscript, physics_frames):
    """``game()``: a new game with an ear and a guard whose habit begins on an alarm; the previous game ends."""
    ear_script, running = gdscript(EAR), []

    def begin(has_ear=True):
        for one in running:
            one.free()
        scheduler = node("AIScheduler", budget=0.0, name="World")
        running[:] = [scheduler]
        manager = node("AIEventManager", scheduler, name="Events", day_length=24.0, day_starts_at="16:00")
        guard = node("Node3D", manager, name="Guard")
        tree = construct("HabitTree")
        tree.set("name", "Brain")
        for name, codes in (("Duck", ["alarm"]), ("Patrol", [])):
            habit = construct("Habit")
            habit.set("name", name)
            habit.set("begins_on", PackedStringArray(codes))
            tree.add_child(habit)
        guard.add_child(tree)
        ear = ear_script.new() if has_ear else construct("Node")
        ear.set("name", "Ear")
        manager.add_child(ear)
        physics_frames(2)
        return scheduler, manager, ear

    return begin


def leave_and_return(manager, guard):
    manager.remove_child(guard)
    manager.add_child(guard)


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("is_saved_first", [False, True])
def test_guard_that_left_the_tree_and_returned_is_loaded(game, physics_frames, is_new, is_saved_first):
    scheduler, manager, _ = game()
    saved = scheduler.save_state()
    leave_and_return(manager, manager.get_node("Guard"))
    physics_frames(2)
    saved = saved if is_saved_first else scheduler.save_state()
    if is_new:
        scheduler, manager, _ = game()
    assert scheduler.load_state(saved) is True
    manager.send("alarm")
    physics_frames(3)
    assert "Brain/Duck" in list(manager.get_node("Guard/Brain").get_active_paths())


@pytest.mark.parametrize("terms", [{}, {"once": True}])
@pytest.mark.parametrize("is_new", [False, True])
def test_listener_that_stopped_and_returned_is_loaded(game, physics_frames, terms, is_new):
    scheduler, manager, ear = game()
    ear.call("begin", manager, terms)
    early = scheduler.save_state()
    ear.call("end", manager)
    ear.call("begin", manager, terms)
    late = scheduler.save_state()
    for saved in (late, early, late):
        if is_new:
            scheduler, manager, ear = game()
            ear.call("begin", manager, terms)
        assert scheduler.load_state(saved) is True
        ear.set("told", 0)
        manager.send("door")
        physics_frames(2)
        assert ear.get("told") == 1


def test_at_time_that_was_called_twice_is_loaded(game, physics_frames):
    scheduler, manager, ear = game()
    ear.call("wait", manager)
    ear.call("wait", manager)
    saved = scheduler.save_state()
    scheduler, manager, ear = game()
    ear.call("wait", manager)
    assert scheduler.load_state(saved) is True
    manager.jump_to_time("18:00")
    physics_frames(2)
    assert ear.get("told") == 1


def test_node_that_does_not_listen_any_more_is_loaded(game):
    scheduler, manager, ear = game()
    ear.call("begin", manager)
    saved = scheduler.save_state()
    scheduler, *_ = game()
    assert scheduler.load_state(saved) is True


@pytest.mark.parametrize("listens", [False, True])
def test_awaited_listener_must_listen_or_be_left_out(game, physics_frames, expect_errors, listens):
    scheduler, manager, ear = game()
    ear.call("begin", manager)
    manager.listen("door", lambda code, arguments: None, {"priority": 1})
    manager.send("door")
    events_of(scheduler).narrowcast.advance(Budget.of_steps(1))
    saved = scheduler.save_state()
    scheduler, manager, ear = game()
    if listens:
        manager.listen("other", ear.get("on_door"))
    expect_errors("call listen before loading" if listens else "unknown member", times=1)
    assert scheduler.call("load_state", saved) is False
    expect_errors("load_state() left out 1 parts", times=1)
    assert scheduler.call("load_state", saved, True) is True
    assert "is no listener to all that was under way to it" in scheduler.get_left_out()["Events/Ear"]
    physics_frames(1)
    assert ear.get("told") == 0


@pytest.mark.parametrize("is_new", [False, True])
def test_receipt_of_a_queued_event_is_completed_after_a_load(game, physics_frames, is_new):
    scheduler, manager, ear = game()
    ear.call("begin", manager)
    number = manager.send("door", [], 0.1, {"receipt": True})
    saved = scheduler.save_state()
    undone = manager.send("door", [], 0.0, {"receipt": True})
    if is_new:
        scheduler, manager, ear = game()
        ear.call("begin", manager)
    assert scheduler.load_state(saved) is True
    assert manager.get_receipt(undone) == {}
    assert manager.get_receipt(number)["is_complete"] is False
    physics_frames(20)
    receipt = manager.get_receipt(number)
    assert (receipt["is_complete"], len(receipt["listeners"])) == (True, 1)
    later = manager.send("door", [], 0.0, {"receipt": True})
    assert later > number
    assert manager.get_receipt(number)["is_complete"] is True
