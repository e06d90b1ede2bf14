"""AIEventManager and SignalEvent: scene signals become events, and listeners are told."""
from __future__ import annotations

import pytest

BELL = "extends Node\nsignal rang(how_loud: float, who: Node)"


@pytest.fixture
def manager(node, scheduler):
    return node("AIEventManager", scheduler)


@pytest.fixture
def bell(gdscript, manager):
    made = gdscript(BELL).new()
    made.set("name", "Bell")
    manager.add_child(made)
    return made


def test_event_is_delivered_in_the_next_frame_of_ai(manager, physics_frames):
    heard = []
    manager.listen("alarm", lambda code, arguments: heard.append((code, arguments)))
    manager.send("alarm", [3, "north"])
    assert heard == []
    physics_frames(1)
    assert heard == [("alarm", [3, "north"])]


def test_a_delayed_event_waits_for_game_time(manager, physics_frames):
    heard = []
    manager.listen("alarm", lambda code, arguments: heard.append(code))
    manager.send("alarm", [], 0.1)
    physics_frames(5)
    assert heard == []
    physics_frames(2)
    assert heard == ["alarm"]


def test_send_now_delivers_before_it_returns(manager):
    heard = []
    manager.listen("alarm", lambda code, arguments: heard.append(code))
    manager.send_now("alarm")
    assert heard == ["alarm"]


def test_a_gdscript_method_listens_and_stops(manager, gdscript, physics_frames):
    listener = gdscript("""
        extends Node
        var heard := []
        func begin(manager: AIEventManager) -> void: manager.listen("alarm", on_alarm)
        func stop(manager: AIEventManager) -> void: manager.unlisten("alarm", on_alarm)
        func on_alarm(code: String, arguments: Array) -> void: heard.append([code, arguments])
    """).new()
    manager.add_child(listener)
    listener.call("begin", manager)
    listener.call("begin", manager)
    manager.send("alarm", [1])
    physics_frames(1)
    assert listener.get("heard") == [["alarm", [1]]]
    listener.call("stop", manager)
    manager.send("alarm", [2])
    physics_frames(1)
    assert len(listener.get("heard")) == 1


def test_freed_listeners_are_dropped_counted_and_reported_once(manager, gdscript, physics_frames, expect_errors):
    script = gdscript("""
        extends Node
        func begin(manager: AIEventManager) -> void: manager.listen("alarm", on_alarm)
        func on_alarm(_code: String, _arguments: Array) -> void: pass
    """)
    listeners = [script.new() for _ in range(3)]
    for one in listeners:
        manager.add_child(one)
        one.call("begin", manager)
    listeners[0].free()
    listeners[1].free()
    expect_errors("on_alarm was freed while it listened; call unlisten() before freeing it", times=1)
    for _ in range(3):
        manager.send("alarm")
        physics_frames(1)
    stats = manager.get_stats()
    assert (stats["sent"], stats["freed"], stats["delivered"], stats["failed"]) == (3, 2, 3, 0)
    assert stats["listening_here"] == 3  # what was freed is forgotten with the next listeners
    listeners[2].free()


def test_events_faster_than_paid_for_are_refused_and_said_once(manager, physics_frames, expect_errors):
    heard = []
    manager.listen("alarm", lambda code, arguments: heard.append(arguments))
    manager.events.manager._max_queued = 5
    expect_errors("event 'alarm' was refused, as 5 events wait to be dispatched; send fewer, or raise", times=1)
    for number in range(9):
        manager.send("alarm", [number])
    physics_frames(1)
    assert heard == [[number] for number in range(5)]
    stats = manager.get_stats()
    assert (stats["sent"], stats["refused"], stats["queued"]) == (5, 4, 0)


def test_a_scene_signal_becomes_an_event_with_its_arguments(manager, bell, node, physics_frames):
    heard = []
    manager.listen("doorbell", lambda code, arguments: heard.append(arguments))
    event = node("SignalEvent", source="../Bell", signal_name="rang", code="doorbell", parent=manager)
    bell.emit_signal("rang", 0.5, event)
    physics_frames(1)
    assert heard == [[0.5, event]]


def test_a_signal_event_recreated_with_its_source_works(manager, node, physics_frames):
    heard = []
    manager.listen("ready", lambda code, arguments: heard.append(code))
    for _ in range(2):
        part = node("Node", manager)
        event = node("SignalEvent", part, source="..", signal_name="renamed", code="ready")
        part.set("name", "Other")
        physics_frames(1)
        assert event.is_valid()
        part.free()
    assert heard == ["ready", "ready"]


def test_an_unknown_signal_is_reported_with_close_names(manager, bell, node, expect_errors, physics_frames):
    expect_errors("'Bell' (Node) has no signal 'rnag'; did you mean rang?", times=1)
    node("SignalEvent", source="../Bell", signal_name="rnag", parent=manager)
    physics_frames(2)


def test_an_unknown_code_is_an_error_when_codes_are_declared(scheduler, node, expect_errors):
    manager = node("AIEventManager", scheduler, codes=["alarm", "calm"])
    expect_errors("unknown event code 'alrm'", times=1)
    manager.call("send", "alrm")


@pytest.mark.parametrize("delay", [-1.0, float("nan"), float("inf")])
def test_a_bad_delay_is_an_error_and_nothing_is_queued(manager, expect_errors, delay):
    expect_errors("delay", times=1)
    manager.call("send", "alarm", [], delay)
    assert manager.get_stats()["queued"] == 0


def test_a_handler_that_raises_does_not_stop_the_others(manager, physics_frames, expect_errors):
    heard = []

    def broken(code, arguments):
        raise KeyError("nobody")

    manager.listen("alarm", broken)
    manager.listen("alarm", lambda code, arguments: heard.append(code))
    expect_errors("KeyError: 'nobody'", times=1)
    manager.send("alarm")
    physics_frames(1)
    assert heard == ["alarm"]


def test_the_signal_dispatched_is_for_this_managers_events_alone(node, scheduler, signals):
    first, second = node("AIEventManager", scheduler), node("AIEventManager", scheduler)
    heard, other = signals(first, "dispatched"), signals(second, "dispatched")
    first.send("alarm", [1])
    assert (heard, other) == ([("alarm", [1])], [])


def test_a_signal_event_outside_the_tree_is_silent(manager, bell, node, physics_frames):
    heard = []
    manager.listen("rang", lambda code, arguments: heard.append(code))
    event = node("SignalEvent", source="../Bell", signal_name="rang", parent=manager)
    manager.remove_child(event)
    bell.emit_signal("rang", 0.5, None)
    physics_frames(1)
    assert heard == []
    manager.add_child(event)
    bell.emit_signal("rang", 0.5, None)
    physics_frames(1)
    assert heard == ["rang"]


def test_listeners_survive_a_move_of_the_manager(node, physics_frames):
    first, second, heard = node("AIScheduler", budget=0.0), node("AIScheduler", budget=0.0), []
    manager = node("AIEventManager", first)
    manager.listen("alarm", lambda code, arguments: heard.append(code))
    manager.reparent(second)
    first.free()
    manager.send("alarm")
    physics_frames(1)
    assert heard == ["alarm"]


WRONG_CODES = {
    "": "an event code must be a non-empty string",
    5: "a bit mask needs declared codes, got 5",
    ("alarm", 5): "codes must all be strings, got 5 among them",
}


@pytest.mark.parametrize(("codes", "message"), WRONG_CODES.items(), ids=["empty", "mask", "number among texts"])
def test_what_is_no_code_is_one_clear_error(manager, gdscript, expect_errors, codes, message):
    listener = gdscript("""
        extends Node
        func listen(manager: AIEventManager, codes: Variant) -> void: manager.listen(codes, hear)
        func signal_of(manager: AIEventManager, code: String) -> void: manager.signal_of(code)
        func hear(_code: String, _arguments: Array) -> void: pass
    """).new()
    manager.add_child(listener)
    expect_errors(message, times=2 if codes == "" else 1)
    listener.call("listen", manager, list(codes) if isinstance(codes, tuple) else codes)
    if codes == "":
        listener.call("signal_of", manager, codes)
    assert manager.get_stats()["listening_here"] == 0
