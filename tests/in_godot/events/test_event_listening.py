"""GDScript Callables that listen: many at once, on terms, stopped and freed inside handlers."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3


@pytest.fixture
def manager(node, scheduler):
    return node("AIEventManager", scheduler)


LISTENER = """
    extends Node3D
    var heard := []
    var manager: AIEventManager
    func listen(to: AIEventManager, code: String, terms := {}) -> void:
        manager = to
        to.listen(code, on_event, terms)
    func on_event(code: String, arguments: Array) -> void: heard.append([code, arguments])
    func listen_badly(to: AIEventManager) -> void: to.listen("alarm", takes_nothing)
    func takes_nothing() -> void: heard.append("never")
    func listen_greedily(to: AIEventManager) -> void: to.listen("alarm", change)
    func change(_code: String, arguments: Array) -> void: arguments.append(1)
    func stop_others(to: AIEventManager, others: Array) -> void:
        to.listen("alarm", func(_code: String, _arguments: Array) -> void:
            for other in others: to.unlisten("alarm", other.on_event))
    func free_others(to: AIEventManager, others: Array) -> void:
        to.listen("alarm", func(_code: String, _arguments: Array) -> void:
            for other in others: other.free())
    func add_another(to: AIEventManager, other: Node) -> void:
        to.listen("alarm", func(_code: String, _arguments: Array) -> void: to.listen("alarm", other.on_event))
    func by_receipt(to: AIEventManager) -> int: return to.send("alarm", [], 0.0, {"receipt": true})
    func send(to: AIEventManager, terms: Dictionary) -> void: to.send("alarm", [], 0.0, terms)
    func wait_for(to: AIEventManager) -> void: heard.append(await to.signal_of("door"))
"""


@pytest.fixture
def listener(gdscript, manager):
    script = gdscript(LISTENER)

    def make(code="alarm", terms=None):
        made = script.new()
        manager.add_child(made)
        if code:
            made.call("listen", manager, code, terms or {})
        return made

    return make


def test_hundreds_of_callables_are_called_in_order(manager, listener, physics_frames):
    order = []
    ears = [listener() for _ in range(300)]
    manager.listen("alarm", lambda code, arguments: order.append(sum(len(one.get("heard")) for one in ears)))
    late = listener()
    manager.send("alarm", ["x"])
    physics_frames(1)
    assert order == [300]
    assert all(one.get("heard") == [["alarm", ["x"]]] for one in [*ears, late])
    assert manager.get_stats()["delivered"] == 302


@pytest.mark.parametrize("is_queued", [True, False])
def test_a_stopped_listener_gets_no_event_and_skips_no_other(
        manager, listener, physics_frames, is_queued):
    first = listener(code=None)
    ears = [listener(code=None) for _ in range(5)]
    first.call("stop_others", manager, ears[1:3])
    for one in ears:
        one.call("listen", manager, "alarm")
    if is_queued:
        manager.send("alarm")
        physics_frames(1)
    else:
        manager.send_now("alarm")
    assert [len(one.get("heard")) for one in ears] == [1, 0, 0, 1, 1]


def test_a_listener_freed_by_an_earlier_one_is_dropped(
        manager, listener, physics_frames, expect_errors):
    expect_errors("was freed while it listened", times=1)
    first = listener(code=None)
    ears = [listener(code=None) for _ in range(5)]
    first.call("free_others", manager, ears[1:3])
    for one in ears:
        one.call("listen", manager, "alarm")
    manager.send("alarm")
    physics_frames(1)
    assert [len(one.get("heard")) for one in (ears[0], *ears[3:])] == [1, 1, 1]
    stats = manager.get_stats()
    assert (stats["freed"], stats["delivered"], stats["failed"]) == (2, 4, 0)


def test_listener_added_in_a_handler_gets_the_next_event(manager, listener):
    first, other = listener(code=None), listener(code=None)
    first.call("add_another", manager, other)
    manager.send_now("alarm")
    assert other.get("heard") == []
    manager.send_now("alarm")
    assert len(other.get("heard")) == 1


def test_a_callable_with_other_arguments_is_reported_and_dropped(manager, listener, expect_errors):
    bad, good = listener(code=None), listener(code=None)
    bad.call("listen_badly", manager)
    good.call("listen", manager, "alarm")
    expect_errors("takes_nothing: too many arguments, it takes 0", times=3)
    for _ in range(5):
        manager.send_now("alarm")
    assert len(good.get("heard")) == 5
    assert manager.get_stats()["failed"] == 3


def test_arguments_cannot_be_changed_for_those_who_come_later(manager, listener, expect_errors):
    greedy, after = listener(code=None), listener(code=None)
    greedy.call("listen_greedily", manager)
    after.call("listen", manager, "alarm")
    expect_errors("read-only", times=1)
    manager.send_now("alarm", ["x"])
    assert after.get("heard") == [["alarm", ["x"]]]


def test_priority_once_where_and_near_are_terms_of_listening(manager, listener, node, physics_frames):
    order, place = [], node("Node3D", position=Vector3(10, 0, 0))
    manager.listen("alarm", lambda code, arguments: order.append("low"))
    manager.listen("alarm", lambda code, arguments: order.append("high"), {"priority": 1})
    once = listener(terms={"once": True})
    loud = listener(code=None)
    manager.listen("alarm", loud.on_event, {"where": lambda code, arguments: arguments[0] > 1})
    near = listener(terms={"near": place, "range": 5})
    for loudness, where in ((1, Vector3(0, 0, 0)), (2, Vector3(7, 0, 0))):
        manager.send("alarm", [loudness], 0.0, {"position": where})
    physics_frames(1)
    assert order == ["high", "low"] * 2
    assert once.get("heard") == [["alarm", [1]]]
    assert loud.get("heard") == near.get("heard") == [["alarm", [2]]]
    place.position = Vector3(100, 0, 0)
    manager.send("alarm", [3], 0.0, {"position": Vector3(7, 0, 0)})
    place.free()
    physics_frames(1)
    assert len(near.get("heard")) == 1


def test_priorities_and_deadlines_of_events_decide_their_order(manager, physics_frames):
    heard = []
    manager.listen("*", lambda code, arguments: heard.append(code))
    manager.send("calm")
    manager.send("soon", [], 0.0, {"deadline": 1.0})
    manager.send("urgent", [], 0.0, {"priority": 5})
    physics_frames(1)
    assert heard == ["urgent", "soon", "calm"]


def test_late_event_is_delivered_and_reported(node, signals):
    scheduler = node("AIScheduler", budget=0.0, update=2)
    manager = node("AIEventManager", scheduler)
    late, heard = signals(manager, "event_was_late"), []
    manager.listen("alarm", lambda code, arguments: heard.append(code))
    manager.send("alarm", [], 0.0, {"deadline": 0.05})
    scheduler.step(0.2)
    assert heard == ["alarm"]
    assert late == [("alarm", pytest.approx(0.15))]


def test_late_listener_receives_the_sticky_event(manager, listener, physics_frames):
    manager.send("alarm", ["on"], 0.0, {"sticky": True})
    physics_frames(1)
    assert listener().get("heard") == [["alarm", ["on"]]]
    manager.clear_sticky("alarm")
    assert listener().get("heard") == []


def test_receipt_lists_the_deliveries(manager, listener, physics_frames):
    ear = listener()
    number = ear.call("by_receipt", manager)
    assert manager.get_receipt(number)["is_complete"] is False
    physics_frames(1)
    receipt = manager.get_receipt(number)
    assert receipt["is_complete"] is True
    assert [(one["name"].endswith(".on_event"), one["has_failed"]) for one in receipt["listeners"]] == [(True, False)]
    assert manager.get_receipt(99) == {}


def test_an_event_can_be_awaited_as_a_signal(manager, listener, physics_frames):
    waiting = listener(code=None)
    waiting.call("wait_for", manager)
    manager.send("door", ["oak"])
    manager.send("door", ["pine"])
    physics_frames(1)
    assert waiting.get("heard") == ["oak"]


def test_a_code_named_like_a_signal_of_nodes_is_refused(manager, expect_errors):
    expect_errors("signal_of('ready'): the node has a signal of this name already", times=1)
    manager.call("signal_of", "ready")


def test_log_shows_and_filters_events_and_deliveries(scheduler, node, expect_errors):
    manager = node("AIEventManager", scheduler, logged_entries=10)
    manager.listen("alarm", lambda code, arguments: None)
    manager.send_now("alarm", [1])
    manager.send_now("calm")
    manager.inject("alarm")
    assert [one["kind"] for one in manager.get_log("alarm")] == ["sent", "delivered", "injected", "sent"]
    assert [one["code"] for one in manager.get_log("", "unheard")] == ["calm"]
    manager.print_log("alarm")
    expect_errors("kinds must be any of", times=1)
    manager.call("get_log", "", "nonsense")
    manager.logged_entries = 0
    assert manager.get_log() == []


@pytest.mark.parametrize(("terms", "complaint"), [
    ({"urgent": True}, "unknown term 'urgent'; use one of deadline, position"),
    ({"priority": 0.5}, "priority"),
    ({"deadline": -1.0}, "deadline"),
    ({"deadline": float("nan")}, "deadline"),
    ({"position": "here"}, "position must be a Vector3"),
    ({"position": Vector3(float("nan"), 0, 0)}, "position"),
])
def test_bad_terms_of_sending_are_errors_and_nothing_is_queued(manager, listener, expect_errors, terms, complaint):
    sender = listener(code=None)
    expect_errors(complaint, times=1)
    sender.call("send", manager, terms)
    assert manager.get_stats()["queued"] == 0


@pytest.mark.parametrize(("terms", "complaint"), [
    ({"weak": True}, "unknown term 'weak'; use one of near, once"),
    ({"near": Vector3()}, "near and range must be given together"),
    ({"near": Vector3(), "range": -1.0}, "range"),
    ({"near": "here", "range": 1.0}, "near must be a Vector3"),
    ({"where": 3}, "where must be a Callable"),
    ({"priority": 1.5}, "priority"),
])
def test_invalid_listener_terms_add_no_listener(manager, listener, expect_errors, terms, complaint):
    expect_errors(complaint, times=1)
    ear = listener(terms=terms)
    manager.send_now("alarm")
    assert ear.get("heard") == []


def test_listening_to_nothing_is_an_error(manager, gdscript, expect_errors):
    empty = gdscript("extends RefCounted\nstatic func it() -> Callable: return Callable()").it()
    expect_errors("listen needs a valid Callable", times=1)
    manager.call("listen", "alarm", empty)


def test_a_manager_without_a_scheduler_says_what_it_needs(node, frames, expect_errors):
    expect_errors("found no AIScheduler")
    lonely = node("AIEventManager")
    frames(2)
    expect_errors("needs an AIScheduler", times=2)
    for how in ("send", "send_now"):
        lonely.call(how, "alarm")


def test_listeners_do_not_keep_what_was_freed(manager, gdscript, physics_frames):
    script = gdscript(LISTENER)
    for _ in range(200):
        made = script.new()
        manager.add_child(made)
        made.call("listen", manager, "never", {})
        made.free()
    assert manager.get_stats()["listening_here"] < 140


@pytest.mark.parametrize("frames", [1, 20])      # before and after the time has come
@pytest.mark.parametrize("every_day", [True, False])
def test_a_lambda_of_at_time_is_freed_with_its_manager(node, scheduler, gdscript, physics_frames, frames, every_day):
    manager = node("AIEventManager", scheduler, day_length=10.0)
    sitter = gdscript("""
        extends RefCounted
        func wait(manager: AIEventManager, every_day: bool) -> WeakRef:
            var held := RefCounted.new()
            manager.at_time("08:10", func(_time: String, _days: Array) -> void: held.get_class(), every_day)
            return weakref(held)
    """).new()
    reference = sitter.call("wait", manager, every_day)
    physics_frames(frames)
    assert reference.call("get_ref") is not None
    manager.free()
    assert reference.call("get_ref") is None


@pytest.mark.parametrize("codes", [["alarm", "door"], 5, ("alarm", "door", "alarm")])
def test_one_callable_may_listen_to_several_codes(scheduler, node, codes):
    manager, heard = node("AIEventManager", scheduler, codes=["alarm", "calm", "door"]), []
    hear = lambda code, arguments: heard.append(code)  # noqa: E731
    manager.listen(codes, hear)
    for code in ("alarm", "calm", "door"):
        manager.send_now(code)
    assert heard == ["alarm", "door"]
    manager.unlisten(codes, hear)
    manager.send_now("alarm")
    assert heard == ["alarm", "door"]


def test_once_for_several_codes_is_once_for_all_of_them(manager, gdscript):
    ear = gdscript("""
        extends Node
        var heard := []
        func begin(manager: AIEventManager) -> void:
            manager.listen(PackedStringArray(["alarm", "door"]), func(code: String, _a: Array): heard.append(code),
                {"once": true})
            manager.listen(&"calm", func(code: String, _a: Array): heard.append(code))
    """).new()
    manager.add_child(ear)
    ear.call("begin", manager)
    for code in ("door", "alarm", "calm"):
        manager.send_now(code)
    assert ear.get("heard") == ["door", "calm"]


@pytest.mark.parametrize(("codes", "complaint"), [
    (8, "a bit mask of 3 declared codes must be from 1 to 7, got 8"),
    (0, "must be from 1 to 7, got 0"),
    (1.5, "codes must be a code, an Array of codes or a bit mask, got 1.5"),
    (None, "codes must be a code, an Array of codes or a bit mask, got null"),
    (True, "codes must be a code"),
    ([], "codes must name at least one event code"),
    (["alarm", "dor"], "unknown event code 'dor'; did you mean 'door'"),
    (["alarm", "*"], "unknown event code '*'"),
    ("", "unknown event code ''"),
])
def test_invalid_codes_add_no_listener(scheduler, node, expect_errors, codes, complaint):
    manager = node("AIEventManager", scheduler, codes=["alarm", "calm", "door"])
    expect_errors(complaint, times=1)
    manager.call("listen", codes, lambda code, arguments: None)
    assert not manager.has_listeners("alarm")
    assert manager.get_stats()["listening_here"] == 0


def test_handlers_that_answer_endlessly_are_stopped_and_named(manager, gdscript, expect_errors):
    answerer = gdscript("""
        extends Node
        static var told := 0
        var manager: AIEventManager
        func begin(to: AIEventManager) -> void:
            manager = to
            to.listen(["ping", "pong"], answer)
        func answer(code: String, _arguments: Array) -> void:
            told += 1
            manager.send_now("pong" if code == "ping" else "ping")
        static func take() -> int:
            var before := told
            told = 0
            return before
    """)
    for _ in range(3):
        one = answerer.new()
        manager.add_child(one)
        one.call("begin", manager)
    expect_errors("64 events were delivered inside each other without end: 'ping' -> 'pong' -> 'ping'", times=2)
    expect_errors("was refused, as the handlers of 'ping' have answered each other without end", times=1)
    for _ in range(2):
        manager.send_now("ping")
        assert answerer.take() == 3 * 64  # every level tells its three, and no more levels
    manager.send_now("calm")
    assert (manager.get_stats()["failed"], manager.get_stats()["refused"]) == (0, 2 * 2 * 64)


@pytest.mark.parametrize("codes", [["alarm"], ["alarm", "fire"]])
def test_handler_that_renews_itself_for_sticky_events_ends(manager, gdscript, expect_errors, physics_frames, codes):
    ear = gdscript("""
        extends Node
        var told := 0
        var manager: AIEventManager
        var codes: Array
        func begin(to: AIEventManager, which: Array) -> void:
            manager = to
            codes = which
            hear("", [])
        func hear(_code: String, _arguments: Array) -> void:
            told += 1
            manager.listen(codes, hear, {"once": true})
    """).new()
    manager.add_child(ear)
    ear.call("begin", manager, codes)
    for code in codes:
        manager.send(code, [], 0.0, {"sticky": True})
    expect_errors("do not listen again to a sticky event in its handler", times=len(codes))
    if len(codes) > 1:
        expect_errors("event 'fire' was refused, as the handlers of 'fire' have answered each other", times=1)
    physics_frames(1)
    assert ear.get("told") == 1 + 64 * len(codes)


def test_repeated_once_listeners_take_no_more_memory(manager, gdscript):
    ear = gdscript("""
        extends Node
        var heard := 0
        func begin(manager: AIEventManager) -> void: manager.listen("alarm", on_alarm, {"once": true})
        func reset_unsaved(manager: AIEventManager) -> void:
            manager.listen("alarm", func(_code: String, _arguments: Array): heard += 1, {"once": true})
        func on_alarm(_code: String, _arguments: Array) -> void: heard += 1
    """).new()
    manager.add_child(ear)
    for _ in range(50):
        ear.call("begin", manager)
        manager.send_now("alarm")
    assert ear.get("heard") == 50
    listening, = manager.events.of_node(ear)
    assert len(listening.listenings) == 1
    for _ in range(1000):
        ear.call("reset_unsaved", manager)
        manager.send_now("alarm")
    assert ear.get("heard") == 1050
    assert len(manager.events.of_node(ear)[0].listenings) < 600
