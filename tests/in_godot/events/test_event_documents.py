"""What docs/godot/events.md and docs/godot/polling.md show in GDScript works as they say."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import Vector3, construct

DOCS = Path(__file__).parents[3] / "docs" / "godot"


@pytest.fixture
def samples(gdscript):
    """``samples(page)``: the scripts of a page, compiled."""
    return lambda page: [
        gdscript(source)
        for source in re.findall(r"```gdscript\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    ]


def named(script, name, parent):
    made = script.new()
    made.set("name", name)
    parent.add_child(made)
    return made


@pytest.fixture
def side(node, scheduler, gdscript):
    """The tree of docs/godot/events.md: (side, red squad, blue squad, the door)."""
    codes = ["door_opened", "intruder_seen", "all_clear"]
    top = node("AIEventManager", scheduler, name="Side", codes=codes, day_length=24.0, day_starts_at="05:00",
               named_times={"dawn": "06:00"}, logged_entries=20)
    red, blue = node("AIEventManager", top, name="Red"), node("AIEventManager", top, name="Blue")
    door = named(gdscript("extends Node\nsignal opened(by: String)"), "Door", scheduler.get_parent())
    node("SignalEvent", red, source="../../../../Door", signal_name="opened", code="door_opened")
    yield top, red, blue, door
    door.free()


def test_guard_of_the_page_receives_its_events(samples, side, node, physics_frames):
    guard, follower, *_ = samples("events.md")
    top, red, blue, door = side
    ann, general = named(guard, "Ann", red), []
    top.listen("*", lambda code, arguments: general.append((code, arguments)))
    other = named(follower, "Follower", red)
    other.call("follow", red)
    door.emit_signal("opened", "the wind")
    physics_frames(1)
    assert ann.get("heard") == [["door_opened", ["the wind"]]]
    assert other.get("story") == ["awaited"]
    thief = node("Node3D", name="Thief")
    ann.call("report", thief)
    ann.call("call_off")
    physics_frames(1)
    assert general == [("intruder_seen", ["Thief"])]
    physics_frames(125)
    assert [code for code, _ in ann.get("heard")] == ["door_opened", "intruder_seen", "all_clear"]
    assert general[1:] == [("all_clear", [])]
    assert other.get("story") == ["awaited", "a signal"]
    ann.set("position", Vector3(3, 0, 0))
    red.send("door_opened", ["a thief"], 0.0, {"position": Vector3(5, 0, 0)})
    red.send("door_opened", ["a thief"], 0.0, {"position": Vector3(5, 0, 0)})
    physics_frames(1)
    assert ann.get("heard").count("the first door near me") == 1
    blue.adopt_listener(ann)
    ann.set("heard", [])
    red.send("door_opened")
    physics_frames(1)
    assert ann.get("heard") == []


def test_the_day_the_radio_and_the_log_are_as_the_page_says(samples, side, node, physics_frames):
    _, _, knowing, _ = samples("events.md")
    top, *_ = side
    ann, bob, made = node("Node", top, name="Ann"), node("Node", top, name="Bob"), named(knowing, "Knowing", top)
    made.call("begin", top, ann, bob)
    physics_frames(1)
    top.jump_to_time("18:00")
    physics_frames(1)
    assert made.get("received") == ["dawn", "17:00"]
    made.call("look", top, bob)
    assert made.get("received")[2:] == [["Ann", "thief", "armed"]]


def test_check_of_the_page_runs_while_a_listener_exists(samples, node, scheduler, physics_frames):
    *_, gauge = samples("events.md")
    made, heard = named(gauge, "Gauge", scheduler), []
    physics_frames(20)
    assert made.get("looks") == 0
    made.listen("fuel_low", lambda code, arguments: heard.append((code, arguments)))
    physics_frames(20)
    assert (made.get("looks"), heard) == (2, [])
    made.set("fuel", 4.0)
    physics_frames(11)
    assert heard == [("fuel_low", [4.0])]


def test_guard_of_the_page_gets_its_answers(samples, node, scheduler, physics_frames):
    [asking] = samples("polling.md")
    station = node("PollingStation", scheduler)
    guard = asking.new()
    guard.set("station", station)
    scheduler.add_child(guard)
    thief, wall = node("Node3D", position=Vector3(0, 0, -6)), node("StaticBody3D", position=Vector3(0, 0, -3))
    physics_frames(2)
    assert guard.call("should_chase", thief) is False     # no navigation map
    assert guard.call("visible_pairs", [guard, guard], [thief, None]) == [True, False]
    shape = construct("CollisionShape3D")
    shape.shape = construct("BoxShape3D")
    wall.add_child(shape)
    physics_frames(2)
    assert guard.call("visible_pairs", [guard], [thief]) == [False]
    assert station.poll("danger", ["hall"]) == 0.25
    assert station.poll_many("distance", [[Vector3(0, 0, 0), Vector3(0, 3, 4)]]) == [5.0]
