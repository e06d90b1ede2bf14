"""Managers below managers: squads and sides, rooms and who walks between them, the radio, the time of day."""
from __future__ import annotations

from gc import collect
from weakref import WeakSet

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3

EAR = """
    extends Node3D
    var heard := []
    func listen(manager: AIEventManager, code := "*", terms := {}) -> void:
        manager.listen(code, on_event, terms)
    func on_event(code: String, arguments: Array) -> void: heard.append([code, arguments])
"""


@pytest.fixture
def ear(gdscript):
    script = gdscript(EAR)

    def make(parent, manager=None, code="*", terms=None, name="Ear"):
        made = script.new()
        made.set("name", name)
        parent.add_child(made)
        made.call("listen", parent if manager is None else manager, code, terms or {})
        return made

    return make


@pytest.fixture
def side(node, scheduler):
    """A side with two squads: (side, red, blue)."""
    top = node("AIEventManager", scheduler, name="Side")
    return top, node("AIEventManager", top, name="Red"), node("AIEventManager", top, name="Blue")


def codes(listener):
    return [code for code, _ in listener.get("heard")]


def test_each_reach_is_heard_where_it_should_be(side, ear, physics_frames):
    top, red, blue = side
    general, ann, bob = ear(top), ear(red), ear(blue)
    red.send("own")
    red.send_up("up")
    top.send_down("down")
    blue.send_to_all("all")
    physics_frames(1)
    assert codes(general) == ["up", "down", "all"]
    assert codes(ann) == ["own", "up", "down", "all"]
    assert codes(bob) == ["down", "all"]


def test_send_now_delivers_to_its_reach(side, ear):
    top, red, blue = side
    ann, bob = ear(red), ear(blue)
    top.send_now("wait")
    assert (codes(ann), codes(bob)) == ([], [])
    top.send_now("halt", [], 1)
    assert (codes(ann), codes(bob)) == (["halt"], ["halt"])


def test_survivors_are_handed_over_in_one_call(side, ear, physics_frames, expect_errors):
    expect_errors("was freed while it listened", times=1)
    _, red, blue = side
    ann, bob, cleo = ear(red), ear(red), ear(blue)
    ann.free()
    red.transfer_listeners(blue)
    red.send("red")
    blue.send("blue")
    physics_frames(1)
    assert (codes(bob), codes(cleo)) == (["blue"], ["blue"])


def test_member_in_another_room_receives_its_events(side, ear, physics_frames):
    _, kitchen, hall = side
    cook = ear(kitchen)
    kitchen.send("kettle")
    cook.reparent(hall)
    hall.send("clock")
    physics_frames(1)
    assert codes(cook) == ["clock"]
    cook.reparent(kitchen)
    kitchen.send("kettle")
    physics_frames(1)
    assert codes(cook) == ["clock", "kettle"]


def test_room_delivers_to_listeners_inside_and_below_only(side, ear, physics_frames):
    top, kitchen, hall = side
    cook = ear(kitchen)
    apprentice = ear(cook, kitchen)
    cook.call("listen", top, "fire")
    hall.adopt_listener(cook)
    hall.send("clock")
    top.send("fire")
    kitchen.send("kettle")
    physics_frames(1)
    assert codes(cook) == ["clock", "fire"]
    assert codes(apprentice) == ["clock"]


def test_a_squad_moves_with_its_node_to_another_side(side, node, scheduler, ear, physics_frames):
    top, red, _ = side
    other = node("AIEventManager", scheduler, name="Other")
    ann = ear(red)
    red.reparent(other)
    top.send_down("old")
    other.send_down("new")
    physics_frames(1)
    assert codes(ann) == ["new"]


def test_nodes_that_change_places_above_each_other_stay_a_tree(node, scheduler, ear, physics_frames):
    first = node("AIEventManager", scheduler)
    second = node("AIEventManager", first)
    listener = ear(first)
    first.remove_child(second)
    scheduler.remove_child(first)
    second.add_child(first)
    scheduler.add_child(second)
    second.send_down("down")
    physics_frames(1)
    assert codes(listener) == ["down"]


def test_a_manager_that_is_freed_leaves_the_others_working(side, ear, physics_frames):
    top, red, blue = side
    squad = ear(red)
    survivor = ear(blue)
    top.reparent(top.get_parent())
    blue.reparent(top.get_parent())
    squad.reparent(blue)
    top.free()
    blue.send("on")
    physics_frames(1)
    assert (codes(survivor), codes(squad)) == (["on"], ["on"])


def test_a_moved_listener_is_notified_only_if_still_reached(
        side, gdscript, ear, physics_frames):
    top, red, blue = side
    mover = gdscript("""
        extends Node
        var to: AIEventManager
        var whom: Node
        func begin(manager: AIEventManager) -> void: manager.listen("go", on_go)
        func on_go(_code: String, _arguments: Array) -> void: to.adopt_listener(whom)
    """).new()
    red.add_child(mover)
    mover.call("begin", red)
    ann = ear(red)
    mover.set("to", blue)
    mover.set("whom", ann)
    red.send("go")
    physics_frames(1)
    assert codes(ann) == []
    red.adopt_listener(ann)
    top.send_down("go")
    physics_frames(1)
    assert codes(ann) == ["go"]


def test_codes_of_the_manager_above_hold_below(node, scheduler, expect_errors):
    top = node("AIEventManager", scheduler, codes=["alarm"])
    squad = node("AIEventManager", top)
    expect_errors("unknown event code 'alrm'", times=2)
    squad.call("send", "alrm")
    squad.call("listen", "alrm", lambda code, arguments: None)


def test_a_save_puts_everybody_into_the_group_where_he_was(node, ear, physics_frames):
    def world():
        scheduler = node("AIScheduler", budget=0.0, name="World")
        top = node("AIEventManager", scheduler, name="Side")
        red, blue = node("AIEventManager", top, name="Red"), node("AIEventManager", top, name="Blue")
        return scheduler, red, blue, ear(red, name="Ann")

    scheduler, red, blue, ann = world()
    blue.adopt_listener(ann)
    blue.send("later", [Vector3(1, 2, 3)], 0.05)
    saved = scheduler.save_state()
    scheduler.free()
    scheduler, red, blue, ann = world()
    assert scheduler.load_state(saved)
    red.send("red")
    physics_frames(5)
    assert ann.get("heard") == [["later", [Vector3(1, 2, 3)]]]


def test_positions_of_radio_messages_are_flat_in_2d(node, scheduler, physics_frames):
    level = node("Node2D", scheduler)
    manager = node("AIEventManager", level)
    ann, bob = node("Node2D", manager), node("Node2D", manager)
    for one in (ann, bob):
        manager.add_radio(one)
    manager.report_sighting(ann, "thief", None, Vector2(40, 50))
    physics_frames(3)
    assert [one["position"] for one in manager.get_messages(bob)] == [Vector2(40, 50)]


def test_group_receives_intents_and_sightings_with_sender_age(side, ear, physics_frames, expect_errors):
    _, red, blue = side
    ann, bob = ear(red, code="none", name="Ann"), ear(red, code="none", name="Bob")
    red.add_radio(ann)
    red.add_radio(bob)
    red.report_sighting(ann, "thief", "armed", Vector3(1, 0, 2))
    red.announce_intent(ann, "flank", "thief")
    physics_frames(4)
    heard = red.get_messages(bob, "sighting")
    assert [(one["sender"], one["subject"], one["content"]) for one in heard] == [(ann, "thief", "armed")]
    assert heard[0]["position"] == Vector3(1, 0, 2)
    assert heard[0]["age_s"] == pytest.approx(4 / 60)
    assert red.get_messages(ann) == []
    assert len(red.get_messages(bob, "", "", 0.01)) == 0
    blue.adopt_listener(bob)
    assert len(blue.get_messages(bob)) == 2
    expect_errors("Ann has no radio at this manager; call add_radio() first", times=1)
    blue.call("announce_intent", ann, "x")


def test_time_of_day_listener_is_called_once(node, scheduler, physics_frames):
    manager = node("AIEventManager", scheduler, day_length=24.0, day_starts_at="16:59", named_times={"dawn": "06:00"})
    told = []
    manager.at_time("17:00", lambda time, arguments: told.append((time, arguments)))
    manager.at_time("dawn", lambda time, arguments: told.append((time, arguments)), True)
    assert manager.get_time_of_day() == "16:59"
    physics_frames(3)
    assert told == [("17:00", [0, 1])]
    manager.jump_to_time("07:00", 3)
    physics_frames(1)
    assert told[1:] == [("dawn", [3, 3])]
    assert (manager.get_day(), manager.get_time_of_day()) == (3, "07:01")


def test_a_once_time_listener_is_released_when_no_save_needs_it(node, scheduler, physics_frames):
    manager, known = node("AIEventManager", scheduler, day_length=24.0), WeakSet()
    for day in range(1, 6):
        for _ in range(200):
            def wait(time, arguments):
                pass

            known.add(wait)
            manager.at_time("09:00", wait)
        manager.jump_to_time("10:00", day)
        physics_frames(1)
    del wait
    collect()
    assert len(known) < 700                     # of 1,000; a save may bring back 256


def test_at_time_handler_asks_for_the_time_and_waits_again(node, scheduler, gdscript, physics_frames):
    ear = gdscript("""
        extends Node
        var told := []
        var manager: AIEventManager
        func begin(to: AIEventManager) -> void:
            manager = to
            manager.at_time("17:00", on_time)
        func on_time(_time: String, _days: Array) -> void:
            told.append([manager.get_time_of_day(), manager.get_day()])
            manager.at_time("17:00", on_time)
            manager.jump_to_time("17:00", manager.get_day() + 1)
    """).new()
    manager = node("AIEventManager", scheduler, day_length=2400.0, day_starts_at="17:00")
    manager.add_child(ear)
    ear.call("begin", manager)
    manager.jump_to_time("17:00", 1)
    for day in range(1, 4):
        physics_frames(1)
        assert ear.get("told") == [["17:00", one + 1] for one in range(day)]


def test_the_day_of_a_manager_is_that_of_those_below(node, scheduler, gdscript, physics_frames, expect_errors):
    top = node("AIEventManager", scheduler, day_length=24.0, day_starts_at="16:59")
    squad = node("AIEventManager", top)
    sleeper = gdscript("""
        extends Node
        var told := 0
        func begin(manager: AIEventManager) -> void: manager.at_time("17:00", on_time)
        func on_time(_time: String, _arguments: Array) -> void: told += 1
    """)
    first, second = sleeper.new(), sleeper.new()
    for one in (first, second):
        squad.add_child(one)
        one.call("begin", squad)
    second.free()
    physics_frames(3)
    assert first.get("told") == 1
    expect_errors("a time of day must be from", times=1)
    squad.call("at_time", "25:00", lambda time, arguments: None)


@pytest.mark.parametrize(("name", "wrong", "complaint"), [
    ("day_starts_at", "25:00", "a time of day must be from '00:00'"),
    ("named_times", {"dawn": "six"}, "a time of day must be from '00:00'"),
    ("day_length", 0.0001, "day_length_s must be at least 0.001"),
])
def test_an_invalid_day_is_refused_and_events_continue(
    node, scheduler, physics_frames, expect_errors, name, wrong, complaint
):
    manager, told = node("AIEventManager", scheduler, day_length=24.0), []
    manager.listen("alarm", lambda code, arguments: told.append(code))
    other = node("AIEventManager", scheduler)
    expect_errors(complaint, times=1)
    other.set(name, wrong)
    other.set("day_length", 10.0)
    for _ in range(4):
        manager.send("alarm")
        physics_frames(1)
    assert told == ["alarm"] * 4


def test_without_a_day_asking_for_a_time_says_what_to_set(node, scheduler, expect_errors):
    expect_errors("there is no time of day; set day_length of this manager or of a manager above", times=1)
    node("AIEventManager", scheduler).call("at_time", "17:00", lambda time, arguments: None)


def test_the_time_of_day_is_saved(node, physics_frames):
    def world():
        scheduler = node("AIScheduler", budget=0.0, name="World")
        return scheduler, node("AIEventManager", scheduler, name="Day", day_length=24.0)

    scheduler, manager = world()
    manager.jump_to_time("20:30", 2)
    saved = scheduler.save_state()
    scheduler.free()
    scheduler, manager = world()
    assert scheduler.load_state(saved)
    assert (manager.get_day(), manager.get_time_of_day()) == (2, "20:30")


@pytest.mark.parametrize(("call", "complaint"), [
    (("adopt_listener", None), "adopt_listener needs a node, got null"),
    (("transfer_listeners", None), "transfer_listeners needs an AIEventManager"),
    (("send_now", "alarm", [], 7), "reach must be one of"),
    (("add_radio", None), "a radio needs a node, got null"),
])
def test_misuse_says_what_is_wrong(node, scheduler, expect_errors, call, complaint):
    manager = node("AIEventManager", scheduler)
    expect_errors(complaint, times=1)
    manager.call(*call)


DOORMAN = """
    extends Node
    var heard := []
    func begin(manager: AIEventManager) -> void:
        manager.listen("door", on_door, {"once": true})
        manager.at_time("09:00", at_nine)
    func on_door(code: String, _arguments: Array) -> void: heard.append(code)
    func at_nine(time: String, _arguments: Array) -> void: heard.append(time)
"""


@pytest.fixture
def gatehouse(node, gdscript):
    """``gatehouse()``: a scheduler, a manager with a day, and who listens once to a door and to nine o'clock."""
    script = gdscript(DOORMAN)

    def make():
        scheduler = node("AIScheduler", budget=0.0, name="World")
        manager = node("AIEventManager", scheduler, name="Side", day_length=24.0, day_starts_at="08:00")
        ear = script.new()
        ear.name = "Ear"
        manager.add_child(ear)
        ear.call("begin", manager)
        return scheduler, manager, ear

    return make


def test_once_listeners_keep_their_state_over_a_load(gatehouse, physics_frames):
    def live(manager, ear):
        ear.set("heard", [])
        manager.send("door")
        manager.jump_to_time("10:00")
        physics_frames(2)
        return sorted(ear.get("heard"))

    scheduler, manager, ear = gatehouse()
    before = scheduler.save_state()
    assert live(manager, ear) == ["09:00", "door"]
    after = scheduler.save_state()
    for _ in range(2):
        assert scheduler.load_state(before)  # in the same world: both come back
        assert live(manager, ear) == ["09:00", "door"]
        assert live(manager, ear) == []
    scheduler.free()
    scheduler, manager, ear = gatehouse()
    assert scheduler.load_state(after)       # in a new one: both were told
    manager.jump_to_time("08:00", 1)
    assert live(manager, ear) == []
    ear.call("begin", manager)               # again: they wait once more
    manager.jump_to_time("08:00", 2)
    assert live(manager, ear) == ["09:00", "door"]
