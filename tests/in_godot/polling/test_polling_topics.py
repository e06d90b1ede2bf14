"""Topics of a PollingStation: lifetimes, limits of a frame, batches, the log."""
from __future__ import annotations

import re

import pytest

from addons.ai_core.bridge.gd import RefusedValue, Vector3, construct


@pytest.fixture
def station(node, scheduler):
    return node("PollingStation", scheduler)


def wall_at(node, place):
    body = node("StaticBody3D", position=place)
    shape = construct("CollisionShape3D")
    box = construct("BoxShape3D")
    box.size = Vector3(4, 4, 0.5)
    shape.shape = box
    body.add_child(shape)
    return body


def stats_of(station, code):
    return next(one for one in station.get_stats() if one["code"] == code)


def test_a_property_is_read_once_a_frame(station, gdscript, physics_frames):
    dear = gdscript("""
        extends Node
        var reads := 0
        var danger: float:
            get:
                reads += 1
                return 0.5
    """).new()
    station.add_child(dear)
    assert [station.property_of(dear, "danger"), station.poll("property", [dear, "danger"])] == [0.5, 0.5]
    assert dear.get("reads") == 1
    physics_frames(1)
    station.property_of(dear, "danger")
    assert dear.get("reads") == 2


def test_unknown_properties_and_null_are_clear_errors(station, expect_errors):
    expect_errors("has no property or method 'colour'", times=1)
    station.call("property_of", station, "colour")
    expect_errors("property_of needs a node, got null", times=1)
    station.call("property_of", None, "name")


def test_built_in_answers_live_as_long_as_the_inspector_says(node, physics_frames):
    scheduler = node("AIScheduler", budget=0.0, update=2)
    station = node("PollingStation", scheduler, lifetime=0.25)
    kept = node("PollingStation", scheduler, lifetime_frames=-1)
    eye, thing = node("Node3D"), node("Node3D", position=Vector3(0, 0, -6))
    physics_frames(2)
    assert station.can_see(eye, thing)
    assert kept.can_see(eye, thing)
    wall_at(node, Vector3(0, 0, -3))
    physics_frames(2)
    seen = []
    for _ in range(3):
        scheduler.step(0.1)
        seen.append(station.can_see(eye, thing))
    assert seen == [True, True, False]
    assert kept.can_see(eye, thing)
    kept.invalidate("can_see", [eye, thing])
    assert not kept.can_see(eye, thing)
    kept.lifetime_frames = 0
    assert [kept.can_see(eye, thing) for _ in range(3)] == [False] * 3
    assert stats_of(kept, "can_see")["computations"] == 3


def test_events_make_answers_old(node, scheduler, physics_frames, expect_errors):
    manager, asked = node("AIEventManager", scheduler), []
    station = node("PollingStation", scheduler, lifetime_frames=-1, invalidated_by=["door"])
    eye, thing = node("Node3D"), node("Node3D", position=Vector3(0, 0, -6))
    station.add_topic("danger", lambda place: asked.append(place), -1)
    station.invalidate_on(manager, "shot", "danger", True)
    physics_frames(2)
    assert station.can_see(eye, thing)
    wall_at(node, Vector3(0, 0, -3))
    station.poll_many("danger", ["hall", "yard"])
    physics_frames(2)
    assert station.can_see(eye, thing)
    manager.send("door")
    manager.send("shot", ["hall"])
    physics_frames(1)
    assert not station.can_see(eye, thing)
    station.poll_many("danger", [["hall"], ["yard"]])
    assert asked == ["hall", "yard", "hall"]
    expect_errors("unknown topic 'weather'", times=1)
    station.call("invalidate_on", manager, "shot", "weather")
    expect_errors("invalidate_on needs an AIEventManager", times=1)
    station.call("invalidate_on", station, "shot", "danger")


def test_beyond_the_frame_limit_old_answers_are_returned(node):
    scheduler = node("AIScheduler", budget=0.0, update=2)
    station = node("PollingStation", scheduler, answers_per_frame=2)
    now = {"answer": 1}
    station.add_topic("danger", lambda place: now["answer"], 1, {"fallback": -1})
    scheduler.step(0.1)
    assert [station.poll("danger", [place]) for place in "abc"] == [1, 1, -1]
    now["answer"] = 2
    scheduler.step(0.1)
    assert station.poll_with_age("danger", ["c"]) == {"value": 2, "age_frames": 0, "how": "cached", "is_stale": False}
    assert station.poll_with_age("danger", ["a"])["value"] == 2
    assert station.poll_with_age("danger", ["b"]) == {"value": 1, "age_frames": 1, "how": "stale", "is_stale": True}
    row = stats_of(station, "danger")
    assert (row["stale"], row["waiting"]) == (2, 1)


def test_a_budget_of_time_never_refuses_the_first_answer(node, physics_frames):
    station = node("PollingStation", node("AIScheduler", budget=0.0), budget=1.0)
    station.add_topic("double", lambda number: number * 2)
    physics_frames(1)
    assert [station.poll("double", [number]) for number in range(5)] == [0, 2, 4, 6, 8]


def test_a_topic_may_compute_many_keys_in_one_call(station, expect_errors):
    asked = []

    def distances(keys):
        asked.append(len(keys))
        return [abs(a - b) for a, b in keys]

    station.add_topic("distance", distances, 1, {"many": True})
    assert station.poll_many("distance", [[1, 4], [1, 4], [2, 2]]) == [3, 3, 0]
    assert station.poll("distance", [1, 4]) == 3
    assert asked == [2]
    station.add_topic("broken", lambda keys: 3, 1, {"many": True})
    expect_errors("its Callable must return an Array with one answer for each of the 1 keys, got 3", times=1)
    station.call("poll", "broken", [1])


def test_a_topic_that_fails_answers_with_its_fallback(station, expect_errors):
    def fail():
        raise KeyError("nobody")

    station.add_topic("danger", fail, 1, {"fallback": 0.5})
    expect_errors("KeyError: 'nobody'")
    assert station.poll("danger") == 0.5


@pytest.mark.parametrize(("kept", "terms", "complaint"), [
    (1, {"age": 3}, "unknown term 'age'; use one of fallback, lifetime"),
    (-2, {}, "kept_frames must be at least -1, got -2"),
    (1, {"lifetime": -1.0}, "lifetime"),
    (1, {"max_keys": 0}, "max_keys"),
])
def test_bad_terms_of_topics_are_clear_errors(station, expect_errors, kept, terms, complaint):
    expect_errors(complaint, times=1)
    station.call("add_topic", "x", lambda: 1, kept, terms)
    assert "x" not in [one["code"] for one in station.get_stats()]


def test_built_in_topics_stay(station, expect_errors):
    expect_errors("topic 'can_see' is built in and cannot be removed", times=1)
    station.call("remove_topic", "can_see")


def test_log_shows_polls_with_their_callers(scheduler, node, expect_errors):
    station = node("PollingStation", scheduler, logged_polls=10)
    station.add_topic("double", lambda number: number * 2)
    station.poll("double", [2])
    station.poll_as(station, "double", [2])
    assert [(one["kind"], one["code"], one["detail"]) for one in station.get_log()] == [
        ("computed", "double", "(2) = 4"), ("cached", "double", "(2) = 4")]
    assert "PollingStation" in station.get_log("double", "cached")[0]["name"]
    station.print_log()
    expect_errors("kinds must be any of check, sent", times=1)
    station.call("get_log", "", "guessed")
    station.logged_polls = 0
    assert station.get_log() == []


def test_events_invalidate_once_and_not_after_removal(node, scheduler):
    manager, station = node("AIEventManager", scheduler), node("PollingStation", scheduler)
    for _ in range(3):
        station.add_topic("danger", lambda place: 1, -1)
        for _ in range(3):
            station.invalidate_on(manager, "shot", "danger", True)
        manager.send_now("shot", ["hall"])
        station.remove_topic("danger")
    assert manager.get_stats()["delivered"] == 3
    assert not manager.has_listeners("shot")


def test_a_station_added_first_is_saved_with_later_members(node):
    station = node("PollingStation", lifetime_frames=-1, invalidated_by=["door"])
    scheduler = node("AIScheduler")
    manager = node("AIEventManager", scheduler)
    assert manager.has_listeners("door")
    station.property_of(station, "name")
    assert "PollingStation" in str(scheduler.save_state())
    manager.free()
    manager = node("AIEventManager", scheduler)
    assert manager.has_listeners("door"), "one that takes its place"
    manager.send_now("door")
    assert station.poll_with_age("property", [station, "name"])["how"] == "computed"
    station.invalidated_by = []
    assert not manager.has_listeners("door")


def test_answers_age_when_the_scheduler_is_freed_or_replaced(node, physics_frames):
    def asked_in_three_frames():
        before = len(asked)
        for _ in range(3):
            station.poll("danger", ["hall"])
            station.poll("danger", ["hall"])
            physics_frames(1)
        return len(asked) - before

    asked, scheduler = [], node("AIScheduler")
    station = node("PollingStation")
    station.add_topic("danger", asked.append)
    assert asked_in_three_frames() == 3
    scheduler.free()
    assert asked_in_three_frames() == 3
    scheduler = node("AIScheduler")
    assert asked_in_three_frames() == 3
    assert "danger" in str(scheduler.save_state())
    station.remove_topic("danger")
    scheduler.free()
    assert station.get_stats()[-1]["code"] == "property"


def test_freed_station_receives_no_events(node, scheduler):
    manager, station = node("AIEventManager", scheduler), node("PollingStation", scheduler, invalidated_by=["door"])
    station.invalidate_on(manager, "shot", "can_see")
    assert manager.has_listeners("shot")
    assert manager.has_listeners("door")
    station.free()
    assert not manager.has_listeners("shot")
    assert not manager.has_listeners("door")


def test_a_manager_freed_first_leaves_the_station_working(node, scheduler):
    manager, station = node("AIEventManager", scheduler), node("PollingStation", scheduler)
    station.add_topic("danger", lambda place: 1, -1)
    station.invalidate_on(manager, "shot", "danger")
    manager.free()
    assert station.poll("danger", ["hall"]) == 1
    station.remove_topic("danger")


@pytest.mark.parametrize(("topic", "key", "complaint"), [
    ("can_see", [1], "the key of topic 'can_see' must be [observer, target], got [1]"),
    ("path_length", [Vector3()], "the key of topic 'path_length' must be [from, to], got"),
    ("path_length", [Vector3(), 2], "path_length needs two Vector3 or two Vector2"),
    ("property", ["a", "b", "c"], "the key of topic 'property' must be [node, name], got ['a', 'b', 'c']"),
])
def test_invalid_keys_of_built_in_topics_are_clear_errors(station, expect_errors, topic, key, complaint):
    expect_errors(complaint, times=2)
    station.call("poll", topic, key)
    station.call("poll_many", topic, [key])


MISASKED = {
    "an Array in a key": (lambda station, asker: station.poll("one", [[1]]), "must consist of nodes, .* got [[1]]"),
    "a Dictionary in a key": (lambda station, asker: station.poll_many("one", [1, [{}]]), "numbers and .* got [{}]"),
    "too few parts": (lambda station, asker: station.poll("one", []), "a key has one element for each argument"),
    "too many parts": (lambda station, asker: station.poll_with_age("one", [1, 2]), "topic 'one': .* it takes 1"),
    "for somebody": (lambda station, asker: station.poll_as(asker, "one", []), "topic 'one': .* it needs 1"),
    "a topic twice": (lambda station, asker: station.add_topic("one", asker.one), "topic 'one' already exists"),
    "a topic without a name": (lambda station, asker: station.add_topic("", asker.one), "code must be a non-empty"),
    "one answer for two": (lambda station, asker: station.poll_many("few", [1, 2]), "each of the 2 keys, got [1]"),
    "an answer that comes later": (lambda station, asker: station.poll("later"), "let it return without await"),
    "no node": (lambda station, asker: station.poll("property", [3, "name"]), "[node, name], got [3, 'name']"),
    "no property": (lambda station, asker: station.property_of(asker, "colour"), "no property or method 'colour'"),
}


@pytest.mark.parametrize(("ask", "message"), MISASKED.values(), ids=list(MISASKED))
def test_what_is_asked_wrongly_is_refused_in_one_line(station, gdscript, ask, message):
    asker = gdscript("""
        extends Node
        func one(part) -> int: return part
        func few(_keys: Array) -> Array: return [1]
        func later():
            await get_tree().process_frame
            return 5
    """).new()
    station.add_child(asker)
    station.add_topic("one", asker.one)
    station.add_topic("later", asker.later)
    station.add_topic("few", asker.few, 1, {"many": True})
    with pytest.raises(RefusedValue, match=re.escape(message).replace(r"\.\*", ".*")):
        ask(station, asker)
