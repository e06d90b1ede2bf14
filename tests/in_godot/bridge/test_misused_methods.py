"""Methods that are called with what they cannot take: one line that says what was wrong, and no traceback."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import RefusedValue, Vector2, Vector3, construct

CALLED = (
    ("CoverMap", "get_cover_of", ("null",), "get_cover_of needs a node, got null"),
    ("Squad", "follow", ("'12:00'",), "points must be a PackedVector3Array, got '12:00'"),
    ("Squad", "follow", ("[1, 2]",), "points must be a PackedVector3Array, got [1, 2]"),
    ("Squad", "follow", ("[]",), "points must have at least one position"),
    ("DecisionMap", "write_batch", ("'threat'", "7", "[1.0]"), "places must be a PackedVector3Array, got 7"),
    ("DecisionMap", "write_batch", ("'threat'", "{}", "[1.0]"), "places must be a PackedVector3Array, got {}"),
    ("CoverMap", "cover_at", ("func(): pass",), "place must be a Node3D or a Vector3"),
    ("PathService", "set_grid_from", ("7",), "a grid must be a TileMapLayer, a GridMap or an AStarGrid2D, got 7"),
    ("Squad", "see", ("[Resource.new()]",), "an enemy must be a valid Node3D or Node2D, got <Resource"),
    ("Squad", "split", ("[Resource.new()]", "'Beta'"), "needs a SquadMember or its character, got <Resource"),
    ("Squad", "move_members", ("[Resource.new()]", "null"), "needs another Squad, got null"),
    ("AIScheduler", "step", ("1e12",), "delta_s must be from 0 to 1e+06, got 1e+12; call step() more often"),
    ("AIScheduler", "step", ("-1.0",), "delta_s must be from 0 to 1e+06, got -1; call step() more often"),
    ("AIScheduler", "step", ("NAN",), "delta_s must be from 0 to 1e+06, got nan"),
    ("AIEventManager", "clear_sticky", ("''",), "an event code must be a non-empty string"),
    ("PollingStation", "invalidate", ("'sight'", "[[[]]]"), "a key of topic 'sight' must be hashable"),
)


@pytest.mark.parametrize(("class_name", "method", "arguments", "said"), CALLED)
def test_what_it_cannot_take_is_refused_in_one_line(
    node, scheduler, gdscript, expect_errors, class_name, method, arguments, said):
    made = node(class_name, scheduler)
    if class_name == "PollingStation":
        made.add_topic("sight", lambda *key: key, 7)
    expect_errors(f"': {said}", times=1)     # what is no misuse to the bridge says "Class.method raised" before it
    gdscript(f"extends RefCounted\nstatic func run(it): it.{method}({', '.join(arguments)})").run(made)


EMPTY_AFTER_ERRORS = (
    ("PathService", 3, {}, "check_path(777)", "unknown ticket id 777"),
    ("PathService", 2, {"source": 1}, "check_path(777)", "unknown ticket id 777"),
    ("PathService", 3, {}, "get_next_places(Vector3(), [])", "get_next_places needs a grid"),
    ("PathService", 2, {"source": 2}, "get_next_places(Vector2(), 7)", "source GRID needs a grid"),
    ("DecisionMap", 3, {}, "best_cells('gold', 3)", "gold"),
    ("DecisionMap", 2, {"dimensions": 1}, "frontier('gold')", "gold"),
    ("DecisionMap", 3, {}, "choke_points()", "needs walls"),
    ("Squad", 3, {}, "get_slot_places()", "needs an AIScheduler"),
    ("Squad", 2, {"dimensions": 1}, "get_path_points()", "needs an AIScheduler"),
    ("Strategist", 3, {}, "get_narrow_places()", "needs an AIScheduler"),
)


@pytest.mark.parametrize("is_typed", [False, True])
@pytest.mark.parametrize(("class_name", "dimensions", "settings", "call", "said"), EMPTY_AFTER_ERRORS)
def test_an_array_of_positions_is_empty_after_an_error(
    node, request, gdscript, expect_errors, class_name, dimensions, settings, call, said, is_typed):
    has_scheduler = class_name in ("PathService", "DecisionMap")
    place = node(f"Node{dimensions}D", request.getfixturevalue("scheduler") if has_scheduler else None)
    made = node(class_name, place, **settings)
    expect_errors(said, times=1)
    script = gdscript(f"""
        extends RefCounted
        static func run(it: {class_name if is_typed else "Node"}) -> bool:
            var found: PackedVector{dimensions}Array = it.{call}
            return found.is_empty()
    """)
    assert script.run(made) is True


def test_a_list_of_vectors_is_as_good_as_a_packed_array(node, scheduler):
    squad = node("Squad", scheduler)
    squad.follow([Vector3(0, 0, 0), Vector3(5, 0, 0)])
    with pytest.raises(RefusedValue, match="must be a PackedVector3Array"):
        squad.follow([Vector2(0, 0)])


def test_a_timeslicer_outside_the_tree_takes_its_job():
    slicer = construct("Timeslicer")
    slicer.set_job(lambda key: key)
    slicer.add_job("a")
    assert slicer.has_job("a")
    slicer.free()


@pytest.mark.parametrize(("kind", "name", "value"), [
    ("AIEventManager", "codes", "[['a']]"), ("AIEventManager", "codes", "['a', 5]"),
    ("PathService", "wall_items", "['a']"), ("PathService", "wall_items", "[[1, 2]]"),
    ("PathService", "wall_items", "[1 << 40]"),
])
def test_an_array_of_what_a_packed_array_cannot_hold_is_refused(
    node, scheduler, gdscript, expect_errors, kind, name, value):
    made = node(kind, scheduler)
    expect_errors(f"{name} needs Packed", times=1)
    gdscript(f"extends RefCounted\nstatic func run(it): it.{name} = {value}").run(made)
    assert not len(getattr(made, name))


@pytest.mark.parametrize("number", [1e30, -1e30, 9.3e18, 0.5])
def test_int_refuses_numbers_that_are_no_engine_integers(node, gdscript, expect_errors, number):
    cover = node("CoverMap", node("AIScheduler"))
    expect_errors("cover_mask needs int, got float", times=1)
    gdscript(f"extends RefCounted\nstatic func run(it): it.cover_mask = {number}").run(cover)
    assert cover.cover_mask == 1


@pytest.mark.parametrize("method", ["get_destination", "get_velocity"])
def test_a_member_that_is_nowhere_says_so(node, expect_errors, method, physics_frames):
    member = construct("SquadMember")
    with pytest.raises(RefusedValue, match="outside the tree"):
        getattr(member, method)()
    expect_errors("found no Squad", times=1)
    expect_errors("has no Node3D or Node2D above it", times=1)
    node("Node").add_child(member)
    with pytest.raises(RefusedValue, match="has no Node3D or Node2D above it"):
        getattr(member, method)()
    physics_frames(2)
