"""An AIEventManager comes under another AIScheduler: who listens, waits for a time or has a radio goes on there."""
from __future__ import annotations

import pytest

LISTENER = """
    extends Node
    var heard := []
    func hear(_code: String, arguments: Array) -> void: heard.append_array(arguments)
    func listen(manager: AIEventManager, terms: Dictionary = {}) -> void: manager.listen("alarm", hear, terms)
    func wait(manager: AIEventManager, time: String) -> void: manager.at_time(time, hear)
"""


@pytest.fixture
def world(node):
    """Where schedulers stand beside each other."""
    return node("Node")


@pytest.fixture
def listener(gdscript):
    def below(parent):
        made = gdscript(LISTENER).new()
        parent.add_child(made)
        return made

    return below


def test_the_day_continues_under_another_scheduler(node, world, physics_frames):
    first = node("AIScheduler", world, budget=0.0)
    manager = node("AIEventManager", world, day_length=24.0, day_starts_at="08:00")     # a minute a frame
    told = []
    for time, every_day in (("08:10", False), ("09:00", False), ("09:00:30", True)):
        manager.at_time(time, lambda time, arguments: told.append((time, arguments[0])), every_day)
    physics_frames(29)
    assert told == [("08:10", 0)]
    first.free()
    node("AIScheduler", world, budget=0.0)
    physics_frames(2)
    before = manager.get_time_of_day()
    assert "08:29" <= before <= "08:35"
    physics_frames(60)
    assert manager.get_time_of_day() > before
    assert told[1:] == [("09:00", 0), ("09:00:30", 0)]
    manager.jump_to_time("09:30", 1)
    physics_frames(1)
    assert told[3:] == [("09:00:30", 1)]


def test_another_scheduler_reports_an_unknown_time_name(
    node, world, physics_frames, expect_errors,
):
    first = node("AIScheduler", world, budget=0.0)
    manager = node(
        "AIEventManager", world, day_length=24.0, day_starts_at="08:00", named_times={"lunch": "08:20"})
    told = []
    for time in ("lunch", "08:30"):
        manager.at_time(time, lambda time, _: told.append(time))
    physics_frames(3)
    manager.named_times.clear()
    expect_errors("unknown time of day 'lunch'")
    first.free()
    node("AIScheduler", world, budget=0.0)
    physics_frames(40)
    assert told == ["08:30"]


def test_once_listeners_are_not_notified_again_after_a_move(
    node, world, listener, physics_frames,
):
    first = node("AIScheduler", world, budget=0.0)
    manager = node("AIEventManager", world)
    ann = listener(manager)
    ann.call("listen", manager, {"once": True})
    manager.send("alarm", [1])
    physics_frames(1)
    first.free()
    node("AIScheduler", world, budget=0.0)
    physics_frames(2)
    manager.send("alarm", [2])
    physics_frames(1)
    assert ann.get("heard") == [1]


def test_radio_is_kept_under_another_scheduler(node, world, listener, physics_frames):
    first = node("AIScheduler", world, budget=0.0)
    manager = node("AIEventManager", world)
    ann, bob = listener(manager), listener(manager)
    manager.add_radio(ann), manager.add_radio(bob)
    first.free()
    node("AIScheduler", world, budget=0.0)
    physics_frames(2)
    manager.announce_intent(ann, "flank")
    physics_frames(1)
    assert [one["content"] for one in manager.get_messages(bob)] == ["flank"]


@pytest.fixture
def two(node, world):
    """Two managers, each below a scheduler of its own."""
    return [node("AIEventManager", node("AIScheduler", world, budget=0.0)) for _ in range(2)]


def told(managers, listener, physics_frames):
    """Return who of the managers is heard now."""
    listener.set("heard", [])
    for number, manager in enumerate(managers):
        manager.send("alarm", [number])
    physics_frames(2)
    return listener.get("heard")


def walk(ann, here, there):
    here.remove_child(ann)
    there.add_child(ann)


WAYS = {
    "it walks there": walk,
    "it is taken in": lambda ann, here, there: there.adopt_listener(ann),
    "all are handed over": lambda ann, here, there: here.transfer_listeners(there),
}


@pytest.mark.parametrize("go", WAYS.values(), ids=list(WAYS))
def test_moved_listener_receives_events_of_its_new_manager(
    two, listener, physics_frames, go,
):
    here, there = two
    ann, bob = listener(here), listener(there)
    ann.call("listen", here)
    here.add_radio(ann), there.add_radio(bob)
    go(ann, here, there)
    assert told(two, ann, physics_frames) == [1]
    there.announce_intent(bob, "flank")
    physics_frames(2)
    assert [one["content"] for one in there.get_messages(ann)] == ["flank"]
    ann.get_parent().remove_child(ann)
    here.add_child(ann)
    if go is walk:
        assert told(two, ann, physics_frames) == [0]


def test_a_listener_that_moves_with_its_manager_follows_its_node(two, listener, physics_frames):
    here, there = two
    ann = listener(here)
    ann.call("listen", here)
    walk(here, here.get_parent(), there.get_parent())
    assert told(two, ann, physics_frames) == [0]
    walk(ann, here, there)
    assert told(two, ann, physics_frames) == [1]


def test_a_scheduler_freed_while_used_elsewhere_causes_no_errors(
    node, world, physics_frames,
):
    first = node("AIScheduler", world, budget=0.0)
    node("AIEventManager", first)
    elsewhere, heard = node("AIEventManager", world), []
    elsewhere.listen("alarm", lambda _code, arguments: heard.append(arguments[0]))
    physics_frames(1)
    first.free()
    node("AIScheduler", world, budget=0.0)
    physics_frames(2)
    elsewhere.send("alarm", [1])
    physics_frames(1)
    assert heard == [1]


def test_freed_listener_is_not_moved_to_another_scheduler(node, world, listener, physics_frames):
    first = node("AIScheduler", world, budget=0.0)
    manager = node("AIEventManager", world, day_length=24.0, day_starts_at="08:00")
    ann, bob = listener(manager), listener(manager)
    for one in (ann, bob):
        one.call("listen", manager)
    ann.call("wait", manager, "08:30")
    manager.send("alarm", [1], 0.0, {"sticky": True})
    physics_frames(1)
    ann.free()
    first.free()
    node("AIScheduler", world, budget=0.0)
    physics_frames(40)
    manager.send("alarm", [2])
    physics_frames(1)
    assert bob.get("heard") == [1, 2]


def test_a_listener_freed_by_a_first_sticky_event_gets_no_second(
    node, world, gdscript, physics_frames,
):
    node("AIScheduler", world, budget=0.0)
    manager = node("AIEventManager", world)
    for code in ("alarm", "fire"):
        manager.send(code, [code], 0.0, {"sticky": True})
    physics_frames(1)
    told = []
    victim = gdscript("extends Node\nfunc hear(_code: String, _arguments: Array) -> void: pass").new()
    world.add_child(victim)

    def fatal(_code, _arguments):
        told.append(1)
        victim.free()

    manager.listen(["alarm", "fire"], fatal, {"once": True})
    manager.send("fire", ["again"])
    physics_frames(1)
    assert told == [1]


def test_methods_of_plain_objects_have_saveable_names(scheduler, gdscript, physics_frames):
    thinker = gdscript("""
        extends RefCounted
        func think(_elapsed_s: float) -> void: pass
        func begin(scheduler: AIScheduler) -> void: scheduler.add_behavior(think)
    """).new()
    thinker.call("begin", scheduler)
    [row] = scheduler.get_stats()["behaviors"]
    assert (type(row["name"]), row["name"]) == (str, "think")


def test_listening_in_the_frame_a_scheduler_is_freed_still_works(
    node, world, listener, physics_frames,
):
    first = node("AIScheduler", world, budget=0.0)
    manager = node("AIEventManager", world, day_length=24.0, day_starts_at="08:00")
    physics_frames(1)
    first.free()
    ann, bob = listener(manager), listener(manager)
    ann.call("listen", manager)
    ann.call("wait", manager, "08:10")
    manager.add_radio(ann), manager.add_radio(bob)
    node("AIScheduler", world, budget=0.0)
    physics_frames(2)
    manager.send("alarm", ["alarm"])
    manager.announce_intent(bob, "flank")
    physics_frames(20)
    assert ann.get("heard") == ["alarm", 0, 1]
    assert [one["content"] for one in manager.get_messages(ann)] == ["flank"]
