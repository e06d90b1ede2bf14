"""PollingStation: questions about the world, answered once per frame."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct, singleton


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


def test_a_wall_hides_and_an_answer_is_kept_for_the_frame(station, node, physics_frames):
    eye, thing = node("Node3D"), node("Node3D", position=Vector3(0, 0, -6))
    physics_frames(1)
    assert station.can_see(eye, thing)
    wall = wall_at(node, Vector3(0, 0, -3))
    assert station.can_see(eye, thing)
    physics_frames(2)
    assert not station.can_see(eye, thing)
    assert station.can_see(thing, eye) is False
    wall.free()
    physics_frames(2)
    assert station.can_see(eye, thing)


def test_the_targets_own_body_does_not_hide_it(station, node, physics_frames):
    eye, body = node("Node3D"), wall_at(node, Vector3(0, 0, -6))
    physics_frames(2)
    assert station.can_see(eye, body)


def test_a_custom_topic_is_computed_once_per_frame_and_key(station, physics_frames):
    asked = []
    station.add_topic("double", lambda number: asked.append(number) or number * 2)
    assert [station.poll("double", [3]), station.poll("double", [3]), station.poll("double", [4])] == [6, 6, 8]
    assert asked == [3, 4]
    physics_frames(1)
    station.poll("double", [3])
    assert asked == [3, 4, 3]
    row = next(one for one in station.get_stats() if one["code"] == "double")
    assert (row["hits"], row["computations"]) == (1, 3)


def test_invalidating_asks_again(station):
    asked = []
    station.add_topic("time", lambda: asked.append(1))
    station.poll("time")
    station.invalidate("time")
    station.poll("time")
    assert len(asked) == 2


def test_unknown_topics_and_null_nodes_are_clear_errors(station, expect_errors):
    expect_errors("unknown topic 'weather'", times=1)
    assert station.call("poll", "weather") is None
    expect_errors("can_see needs two nodes, got null", times=1)
    assert station.call("can_see", None, None) is False


def test_a_topic_that_needs_its_own_answer_names_the_cycle(station, expect_errors):
    station.add_topic("ouroboros", lambda: station.poll("ouroboros"))
    expect_errors("polling ouroboros() needs its own answer")
    station.call("poll", "ouroboros")


@pytest.fixture
def floor(node, physics_frames):
    """A flat navigation mesh of 20 by 20 m."""
    region = node("NavigationRegion3D")
    mesh = construct("NavigationMesh")
    mesh.set_vertices([Vector3(-10, 0, -10), Vector3(10, 0, -10), Vector3(10, 0, 10), Vector3(-10, 0, 10)])
    mesh.add_polygon([0, 1, 2, 3])
    region.navigation_mesh = mesh
    map_rid = region.get_navigation_map()
    for _ in range(100_000):     # frames take microseconds here; maps are built in real time
        physics_frames(1)
        server = singleton("NavigationServer3D")
        is_synchronised = server.map_get_iteration_id(map_rid) > 0
        if is_synchronised and server.map_get_closest_point(map_rid, Vector3(5, 0, 5)).x > 4:
            return region
    raise AssertionError("the navigation map was not built")


def test_a_way_over_the_navigation_map_has_a_length(station, floor):
    assert station.path_length(Vector3(-5, 0, 0), Vector3(5, 0, 0)) == pytest.approx(10, abs=0.5)
    assert station.is_reachable(Vector3(-5, 0, 0), Vector3(5, 0, 0))


def test_a_place_off_the_map_is_not_reachable(station, floor):
    assert station.path_length(Vector3(-5, 0, 0), Vector3(50, 0, 0)) == -1
    assert not station.is_reachable(Vector3(-5, 0, 0), Vector3(50, 0, 0))


def test_it_answers_without_a_scheduler_too(node, frames):
    station = node("PollingStation")
    asked = []
    station.add_topic("time", lambda: asked.append(1))
    station.poll("time")
    station.poll("time")
    frames(1)
    station.poll("time")
    assert len(asked) == 2


def test_own_topics_survive_a_move(station, node):
    station.add_topic("three", lambda: 3)
    station.reparent(node("Node"))
    assert station.poll("three") == 3


def test_outside_the_tree_it_says_what_it_needs(expect_errors):
    lonely = construct("PollingStation")
    expect_errors("path_length needs a world; add the PollingStation to the scene first", times=1)
    assert lonely.path_length(Vector3(), Vector3(1, 0, 0)) == -1
    lonely.free()


def test_a_topic_needs_something_to_call(station, gdscript, expect_errors):
    empty = gdscript("extends RefCounted\nstatic func it() -> Callable: return Callable()").it()
    expect_errors("add_topic needs a valid Callable", times=1)
    station.call("add_topic", "x", empty)


def flat_wall_at(node, place):
    body = node("StaticBody2D", position=place)
    shape, box = construct("CollisionShape2D"), construct("RectangleShape2D")
    box.size = Vector2(20, 200)
    shape.shape = box
    body.add_child(shape)
    return body


def stats_of(station, code):
    return next(one for one in station.get_stats() if one["code"] == code)


def test_many_pairs_are_cast_in_one_batch_that_is_cached(station, node, physics_frames):
    eye, near = node("Node3D"), node("Node3D", position=Vector3(0, 0, -2))
    far = node("Node3D", position=Vector3(0, 0, -9))
    wall_at(node, Vector3(0, 0, -5))
    physics_frames(2)
    assert station.can_see_many([eye, eye, eye, near], [near, far, near, far]) == [True, False, True, False]
    assert station.can_see_many([eye, eye, eye, near], [near, far, near, far]) == [True, False, True, False]
    assert stats_of(station, "can_see_many")["computations"] == 1
    assert station.poll_many("can_see", [[eye, near], [eye, far]]) == [True, False]
    assert station.can_see_many([], []) == []


def test_a_batch_agrees_with_asking_one_by_one(node, scheduler, physics_frames):
    places = [Vector3(3 * x, 0, 3 * z) for x in range(5) for z in range(5)]
    for place in places[::3]:
        wall_at(node, place)
    nodes = [node("Node3D", position=place + Vector3(0.7, 0, 1.1)) for place in places]
    batch, single = node("PollingStation", scheduler), node("PollingStation", scheduler)
    physics_frames(2)
    pairs = [(a, b) for a in nodes for b in nodes if a is not b]
    answers = batch.can_see_many([a for a, _ in pairs], [b for _, b in pairs])
    assert answers == [single.can_see(a, b) for a, b in pairs]
    assert 0 < sum(answers) < len(answers)


def test_a_batch_with_freed_nodes_sees_the_others(station, gdscript, node, physics_frames):
    asker = gdscript("""
        extends Node
        func ask(station: PollingStation, a: Node3D, b: Node3D) -> Array:
            var gone := Node3D.new()
            var pairs := [a, gone]
            gone.free()
            return station.can_see_many([a] + pairs, [b, b, a])
    """).new()
    station.add_child(asker)
    a, b = node("Node3D"), node("Node3D", position=Vector3(0, 0, -2))
    physics_frames(1)
    assert asker.call("ask", station, a, b) == [True, True, False]


def test_in_2d_walls_hide_and_the_targets_body_does_not(station, node, physics_frames):
    eye, thing = node("Node2D"), node("Node2D", position=Vector2(300, 0))
    physics_frames(2)
    assert station.can_see(eye, thing)
    wall = flat_wall_at(node, Vector2(150, 0))
    physics_frames(2)
    assert not station.can_see(eye, thing)
    assert station.can_see(eye, wall)
    station.sight_mask_2d = 2
    assert station.can_see(eye, thing)
    flat, deep = node("Node2D"), node("Node3D")
    assert station.can_see_many([eye, deep], [thing, deep]) == [True, True]
    assert station.can_see(eye, flat)


@pytest.mark.parametrize(("kinds", "complaint"), [
    (("Node3D", "Node2D"), "can_see needs two Node3D or two Node2D, got Node3D and Node2D"),
    (("Node", "Node"), "can_see needs two Node3D or two Node2D, got Node and Node"),
])
def test_nodes_of_different_spaces_are_a_clear_error(station, node, expect_errors, kinds, complaint):
    first, second = (node(kind) for kind in kinds)
    expect_errors(complaint, times=2)
    assert station.call("can_see", first, second) is False
    station.call("can_see_many", [first], [second])


def test_as_many_targets_as_observers(station, node, expect_errors):
    expect_errors("as many targets as observers, got 1 and 0", times=1)
    station.call("can_see_many", [node("Node3D")], [])


def test_another_mask_asks_again(station, node, physics_frames):
    eye, thing = node("Node3D"), node("Node3D", position=Vector3(0, 0, -6))
    wall_at(node, Vector3(0, 0, -3))
    physics_frames(2)
    assert not station.can_see(eye, thing)
    station.sight_mask = 2
    assert station.can_see(eye, thing)


def test_a_way_in_the_plane_has_a_length(station, node, physics_frames):
    region, polygon = node("NavigationRegion2D"), construct("NavigationPolygon")
    polygon.set_vertices([Vector2(-500, -500), Vector2(500, -500), Vector2(500, 500), Vector2(-500, 500)])
    polygon.add_polygon([0, 1, 2, 3])
    region.navigation_polygon = polygon
    for _ in range(100_000):
        physics_frames(1)
        if station.is_reachable(Vector2(-100, 0), Vector2(100, 0)):
            break
    assert station.path_length(Vector2(-100, 0), Vector2(100, 0)) == pytest.approx(200, abs=1)
    assert not station.is_reachable(Vector2(-100, 0), Vector2(900, 0))


@pytest.mark.parametrize(("goal", "complaint"), [
    (Vector2(1, 0), "two Vector3 or two Vector2"),
    ("there", "two Vector3 or two Vector2"),
    (Vector3(float("nan"), 0, 0), "finite positions"),
])
def test_places_that_do_not_fit_are_clear_errors(station, expect_errors, goal, complaint):
    expect_errors(complaint, times=1)
    assert station.call("path_length", Vector3(), goal) == -1


def test_mixed_2d_and_3d_batches_agree_with_single_queries(node, scheduler, physics_frames):
    places = [Vector3(3 * x, 0, 3 * z) for x in range(3) for z in range(3)]
    for place in places[::3]:
        wall_at(node, place)
        flat_wall_at(node, Vector2(100 * place.x, 100 * place.z))
    deep = [node("Node3D", position=place + Vector3(0.7, 0, 1.1)) for place in places]
    flat = [node("Node2D", position=Vector2(100 * place.x + 40, 100 * place.z + 70)) for place in places]
    batch, single = node("PollingStation", scheduler), node("PollingStation", scheduler)
    physics_frames(2)
    pairs = [(a, b) for space in (deep, flat) for a in space for b in space if a is not b]
    asked = [*pairs[::2], (None, deep[0]), (flat[0], None), *pairs[1::2]]
    answers = batch.can_see_many([a for a, _ in asked], [b for _, b in asked])
    assert answers == [None not in pair and single.can_see(*pair) for pair in asked]
    assert 0 < sum(answers) < len(answers)


def test_a_body_above_a_target_hides_others_but_not_the_target(station, node, physics_frames):
    eye, flat_eye = node("Node3D"), node("Node2D")
    body, flat_body = wall_at(node, Vector3(0, 0, -6)), flat_wall_at(node, Vector2(300, 0))
    head, flat_head = construct("Node3D"), construct("Node2D")
    body.add_child(head)
    flat_body.add_child(flat_head)
    physics_frames(2)
    assert station.can_see_many([eye, flat_eye], [head, flat_head]) == [True, True]
    other, flat_other = node("Node3D", position=Vector3(0, 0, -9)), node("Node2D", position=Vector2(600, 0))
    assert station.can_see_many([eye, flat_eye], [other, flat_other]) == [False, False]


def test_each_target_is_hidden_by_every_body_but_its_own(station, node, physics_frames):
    """Two bodies one behind the other; heads at them, below plain nodes at them, and of nobody, in any order."""
    eye, bodies, heads = node("Node3D"), [wall_at(node, Vector3(0, 0, z)) for z in (-6, -12)], []
    for body in bodies:
        neck = construct("Node3D")
        body.add_child(neck)
        for parent in (body, neck, neck):
            heads.append(construct("Node3D"))
            parent.add_child(heads[-1])
    alone = [node("Node3D", position=Vector3(0, 0, z)) for z in (-3, -9)]
    physics_frames(2)
    seen = dict(zip([*bodies, *heads, *alone], [True, False] + [True] * 3 + [False] * 3 + [True, False], strict=True))
    for targets in ([*seen], [*seen][::-1], [*seen][1::2] + [*seen][::2]):
        assert station.can_see_many([eye] * len(targets), targets) == [seen[one] for one in targets]
        station.invalidate("can_see")


def test_a_batch_is_answered_in_order_as_booleans(station, gdscript, node, physics_frames):
    asker = gdscript("""
        extends Node
        func ask(station: PollingStation, eye: Node3D, near: Node3D, far: Node3D) -> String:
            for count in 40:
                var targets := []
                for i in count: targets.append(far if i % 3 == 0 else null if i % 3 == 1 else near)
                var eyes := []
                for i in count: eyes.append(eye)
                for again in 2:
                    var answers := station.can_see_many(eyes, targets)
                    if answers.size() != count: return "%d of %d" % [answers.size(), count]
                    for i in count:
                        if typeof(answers[i]) != TYPE_BOOL or answers[i] != (i % 3 == 2):
                            return "%d of %d is %s" % [i, count, answers[i]]
                    answers.fill(null)
            return ""
    """).new()
    station.add_child(asker)
    eye, near, far = (node("Node3D", position=Vector3(0, 0, z)) for z in (0, -2, -9))
    wall_at(node, Vector3(0, 0, -5))
    physics_frames(2)
    assert asker.call("ask", station, eye, near, far) == ""


def test_a_batch_outside_the_tree_is_an_error(node, scheduler, physics_frames, expect_errors):
    station, eye, thing = node("PollingStation", scheduler), node("Node3D"), node("Node3D", position=Vector3(0, 0, -2))
    physics_frames(1)
    assert station.can_see_many([eye], [thing]) == [True]
    scheduler.remove_child(station)
    station.call("invalidate", "can_see")
    expect_errors("add the PollingStation to the scene first", times=1)
    station.call("can_see_many", [eye], [thing])
    scheduler.add_child(station)
    physics_frames(1)
    assert station.can_see_many([eye], [thing]) == [True]


def test_a_node_outside_the_tree_is_named(node, scheduler, expect_errors):
    station, eye = node("PollingStation", scheduler), node("Node3D", scheduler)
    pooled = construct("Node3D")
    pooled.name = "Pooled"
    expect_errors("can_see needs two nodes in the tree, but 'Pooled' is not; add it first", times=1)
    station.call("can_see", eye, pooled)
    pooled.free()


def test_answers_about_missing_nodes_alone_are_left_out(station, node, scheduler, physics_frames, expect_errors):
    asked, names = [], ("Ann", "Bob", "Eve")
    ann, bob, eve = (node("Node3D", scheduler, name=name) for name in names)
    station.add_topic("name", lambda one: asked.append(one) or str(one.get_name()), -1)
    assert [station.poll("name", [one]) for one in (ann, bob, eve)] == [*names]
    state = scheduler.save_state()
    bob.free()
    eve.free()
    station.invalidate("name")
    expect_errors("load_state() left out 2 parts", times=1)
    assert scheduler.call("load_state", state, True)
    assert set(scheduler.get_left_out().values()) == {"is not in the scene"}
    asked.clear()
    assert station.poll("name", [ann]) == "Ann"
    assert asked == []
