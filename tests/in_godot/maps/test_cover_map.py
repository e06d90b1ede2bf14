"""CoverMap: a real level with walls and crates, seen through its navigation mesh and physics."""
from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from addons.ai_core.bridge.gd import AABB, RefusedValue, Vector3, construct
from addons.ai_core.nodes.maps import cover_map
from tests.in_godot.maps.cover_yard import Yard

DOCUMENT = Path(__file__).parents[3] / "docs" / "godot" / "cover.md"


@pytest.fixture
def yard(node, scheduler, physics_frames):
    return Yard(node, scheduler, physics_frames)


def test_a_level_bakes_itself_and_spots_lie_at_walls(yard):
    cover = yard.cover()
    spots = cover.get_spots()
    assert len(spots) >= 8
    for spot in spots:
        place, way = cover.get_place(spot), cover.get_direction(spot)
        assert max(abs(place.x) - 2, abs(place.z) - 0.2) < 1.0          # beside the wall, not at the rim of the floor
        assert math.hypot(way.x, way.z) == pytest.approx(1, abs=1e-4)
        assert not cover.is_low(spot)


def test_one_hides_on_the_other_side_of_the_wall(yard):
    cover, guard, threat = yard.cover(), yard.guard(0, 4), yard.guard(0, -8)
    spot = cover.find_cover(guard, [threat])
    assert spot > 0
    assert cover.get_place(spot).z > 0
    assert abs(cover.get_place(spot).x) < 1.2
    assert cover.get_direction(spot).z == pytest.approx(-1, abs=0.01)
    assert "hidden from all 1" in cover.why()
    threat.position = Vector3(0, 0, 8)
    assert cover.get_place(cover.find_cover(guard, [threat])).z < 0


def test_between_two_threats_there_is_none_and_it_says_why(yard):
    cover, guard = yard.cover(), yard.guard(0, 4)
    assert cover.find_cover(guard, [Vector3(0, 1.6, -8), Vector3(0, 1.6, 8)]) == 0
    assert "too open" in cover.why()


def test_a_crate_hides_who_crouches_wherever_it_is_pushed(yard):
    crate = yard.crate(6, 6)
    cover, guard = yard.cover(search_range=4.0), yard.guard(7, 8)
    spot = cover.find_cover(guard, [Vector3(6, 1.2, -8)])
    assert cover.get_object(spot) == crate
    assert cover.is_low(spot)
    assert tuple(cover.get_place(spot)) == pytest.approx((6, 0.0, 6 + 0.6 + 0.4 + 0.1), abs=0.1)
    crate.position = Vector3(8, 0.6, 6)
    yard.physics_frames(1)
    assert cover.get_place(cover.find_cover(guard, [Vector3(8, 1.2, -8)])).x == pytest.approx(8, abs=0.3)
    assert cover.find_cover(guard, [Vector3(8, 1.2, -8)], "stand") == 0


def test_a_holder_is_notified_when_its_crate_is_pushed_away(yard, signals):
    crate = yard.crate(6, 6)
    cover, guard = yard.cover(search_range=4.0), yard.guard(7, 8)
    lost = signals(cover, "cover_lost")
    spot = cover.find_cover(guard, [Vector3(6, 1.2, -8)])
    assert cover.reserve(spot, guard)
    yard.physics_frames(5)
    assert lost == []
    crate.position = Vector3(2, 0.6, 6)
    yard.physics_frames(2)
    assert lost == [(guard, spot)]
    assert cover.get_cover_of(guard) == 0


@pytest.mark.parametrize(("side", "why"), [(0.5, "too narrow"), (0.9, "too low")])
def test_a_crate_too_small_for_the_body_hides_nobody(yard, side, why):
    yard.crate(6, 6, side)
    cover, guard = yard.cover(search_range=4.0), yard.guard(7, 8)
    assert cover.find_cover(guard, [Vector3(6, 1.2, -8)]) == 0
    assert why in cover.why()


def test_behind_a_crate_at_a_wall_there_is_no_room(yard):
    yard.crate(0, -0.9)
    cover, guard = yard.cover(search_range=2.5), yard.guard(0, -2)
    assert cover.find_cover(guard, [Vector3(0, 1.2, -8)]) == 0
    assert "nowhere to stand behind it" in cover.why()


def test_a_spot_is_one_agents_until_it_is_freed(yard, node):
    cover, one, other = yard.cover(), yard.guard(0, 4), yard.guard(0, 5)
    spot = cover.find_cover(one, [Vector3(0, 1.6, -8)])
    assert cover.reserve(spot, one)
    assert not cover.reserve(spot, other)
    assert cover.get_holder(spot) == one
    second = cover.find_cover(other, [Vector3(0, 1.6, -8)])
    assert second not in (0, spot)
    one.free()
    yard.physics_frames(2)
    assert cover.get_holder(spot) is None
    assert cover.reserve(spot, other)


def test_requests_are_answered_in_order_within_the_budget(yard, signals):
    cover = yard.cover()
    found, failed = signals(cover, "cover_found"), signals(cover, "cover_failed")
    guards = [yard.guard(x, 4) for x in range(5)]
    asked = [cover.request_cover(guard, [Vector3(0, 1.6, -8)]) for guard in guards]
    hopeless = cover.request_cover(guards[0], [Vector3(0, 1.6, -8), Vector3(0, 1.6, 8)])
    cancelled = cover.request_cover(guards[0], [Vector3(0, 1.6, -8)])
    cover.cancel_request(cancelled)
    yard.until(lambda: len(found) + len(failed) == 6)
    assert [number for number, _ in found] == asked
    assert [number for number, _ in failed] == [hopeless]
    assert "too open" in failed[0][1]


def test_requests_faster_than_answers_are_refused_and_said_once(yard, signals, expect_errors, monkeypatch):
    monkeypatch.setattr(cover_map, "MOST_WAITING", 3)
    cover, guard = yard.cover(), yard.guard(0, 4)
    found = signals(cover, "cover_found")
    expect_errors("has 3 requests that wait, and refuses further ones", times=1)
    asked = [cover.request_cover(guard, [Vector3(0, 1.6, -8)]) for _ in range(5)]
    assert asked[3:] == [0, 0]
    assert (cover.get_stats()["waiting"], cover.get_stats()["refused"]) == (3, 2)
    yard.until(lambda: len(found) == 3)
    assert cover.request_cover(guard, [Vector3(0, 1.6, -8)]) == asked[2] + 1


def test_objects_without_bounds_leave_nothing_behind(yard, expect_errors):
    cover, guard = yard.cover(), yard.guard(0, 4)
    expect_errors("has no bounds; give it a CollisionShape3D or MeshInstance3D", times=6)
    for _ in range(6):
        bullet = yard.node("Node3D", yard.scheduler)
        bullet.add_to_group("cover")
        cover.find_cover(guard, [Vector3(0, 1.6, -8)])
        bullet.free()
    assert len(cover._wrong) <= 1
    assert len(cover._numbers) == 0


def test_a_request_is_answered_with_the_smallest_budget(yard, signals):
    crates = [yard.crate(x, 6) for x in (2, 4, 6, 8)]
    cover, guard = yard.cover(search_range=4.0), yard.guard(7, 8)
    yard.scheduler.budget = 1
    found = signals(cover, "cover_found")
    number = cover.request_cover(guard, [Vector3(6, 1.2, -8)])
    yard.until(lambda: found, most=300)      # an object, or a step of the search, in each frame
    [(answered, spot)] = found
    assert answered == number
    assert cover.get_object(spot) in crates


def test_an_object_that_comes_while_others_are_read_stays(yard, signals):
    for x in (2, 4, 6, 8):
        yard.crate(x, 6)
    cover, guard, other = yard.cover(search_range=4.0), yard.guard(7, 8), yard.guard(-6, 8)
    yard.scheduler.budget = 1
    found, lost = signals(cover, "cover_found"), signals(cover, "cover_lost")
    cover.request_cover(guard, [Vector3(6, 1.2, -8)])
    yard.physics_frames(2)                   # one or two of four are read
    crate = yard.crate(-6, 6)
    spot = cover.find_cover(other, [Vector3(-6, 1.2, -8)])
    assert cover.get_object(spot) == crate
    assert cover.reserve(spot, other)
    yard.until(lambda: found, most=300)
    assert not lost
    assert cover.get_holder(spot) == other


def test_a_request_of_who_is_freed_fails(yard, signals):
    cover, guard = yard.cover(), yard.guard(0, 4)
    failed = signals(cover, "cover_failed")
    request = cover.request_cover(guard, [Vector3(0, 1.6, -8)])
    guard.free()
    yard.physics_frames(3)
    assert [number for number, _ in failed] == [request]
    assert failed[0][1] == "the agent or a threat was freed"


def test_who_is_freed_while_it_is_searched_for_finds_nothing(yard, signals):
    for x in (2, 4, 6, 8):
        yard.crate(x, 6)
    cover, guard = yard.cover(search_range=4.0), yard.guard(7, 8)
    found, failed = signals(cover, "cover_found"), signals(cover, "cover_failed")
    yard.scheduler.budget = 1
    request = cover.request_cover(guard, [Vector3(6, 1.2, -8)])
    yard.until(lambda: cover._now is not None, most=300)
    guard.free()
    yard.until(lambda: found or failed, most=300)
    assert (found, failed) == ([], [(request, "the agent or a threat was freed")])


def test_a_level_that_is_not_baked_yet_says_so(yard, node, signals):
    yard.walk()
    cover = node("CoverMap", yard.scheduler, level="../Level")
    found, failed = signals(cover, "cover_found"), signals(cover, "cover_failed")
    assert cover.find_cover(Vector3(0, 0, -4), [Vector3(0, 0, -8)]) == 0
    assert cover.why().startswith("the level is not baked yet; wait for bake_finished")
    number = cover.request_cover(Vector3(0, 0, -4), [Vector3(0, 0, -8)])
    yard.until(lambda: found or failed)
    assert [one for one, _ in found] == [number]


def test_a_request_of_who_left_the_tree_fails(yard, signals):
    cover, guard = yard.cover(), yard.guard(0, 4)
    failed = signals(cover, "cover_failed")
    request = cover.request_cover(guard, [Vector3(0, 1.6, -8)])
    parent = guard.get_parent()
    parent.remove_child(guard)
    yard.physics_frames(3)
    assert [(number, why.split(",")[0]) for number, why in failed] == [(request, "agent must be in the scene tree")]
    parent.add_child(guard)


def test_when_a_wall_goes_its_spots_go_and_others_stay(yard, signals):
    other = yard.body(Vector3(-7, 1.5, -7), Vector3(2, 3, 0.4))
    cover, guard = yard.cover(), yard.guard(0, 4)
    spot = cover.find_cover(guard, [Vector3(0, 1.6, -8)])
    cover.reserve(spot, guard)
    lost, baked = signals(cover, "cover_lost"), signals(cover, "bake_finished")
    far = cover.cover_at(Vector3(-7, 0, -6.3), 2.0)
    before = len(cover.get_spots())
    yard.wall.free()
    yard.navigation.bake_navigation_mesh(False)
    yard.physics_frames(2)
    cover.invalidate(AABB(-2, 0, -1, 4, 3, 2))
    yard.until(lambda: baked)
    assert lost == [(guard, spot)]
    assert 0 < len(cover.get_spots()) < before
    assert far in cover.get_spots()
    assert cover.find_cover(guard, [Vector3(0, 1.6, -8)]) in (0, far) or cover.get_place(
        cover.find_cover(guard, [Vector3(0, 1.6, -8)])).x < -5
    assert other.is_valid()


def test_a_handler_reserves_for_others_who_lose_their_spots(yard):
    wall = yard.body(Vector3(-6, 1.5, 5), Vector3(3, 3, 0.4))
    cover, told, guards = yard.cover(), [], [yard.guard(-5, 6), yard.guard(-6, 6)]
    for guard in guards:
        assert cover.reserve(cover.find_cover(guard, [Vector3(-5, 1.2, -8)]), guard)

    def lost(agent, spot):
        told.append(agent)
        for guard in guards:
            if not cover.get_cover_of(guard):
                assert cover.reserve(cover.find_cover(guard, [Vector3(0, 1.2, 8)]), guard)

    cover.connect("cover_lost", lost)
    wall.free()
    yard.navigation.bake_navigation_mesh(False)
    yard.physics_frames(2)
    cover.invalidate()
    yard.until(lambda: told)
    held = [cover.get_cover_of(guard) for guard in guards]
    assert len(told) == 1
    assert all(held)
    assert [cover.get_holder(one) for one in held] == guards


def test_what_was_baked_is_kept_with_the_scene(yard, node):
    cover = yard.cover()
    packed = construct("PackedScene")
    cover.owner = None
    alone = construct("CoverMap")
    alone.baked = cover.baked
    assert packed.pack(alone) == 0
    again = packed.instantiate()
    yard.scheduler.add_child(again)
    assert len(again.get_spots()) == len(cover.get_spots())
    assert tuple(again.get_place(again.get_spots()[3])) == tuple(cover.get_place(cover.get_spots()[3]))
    alone.free()
    again.free()


def test_who_holds_what_is_saved_with_the_scene(yard, scheduler):
    yard.crate(6, 6, name="Crate")
    cover, one, other = yard.cover(), yard.guard(0, 4), yard.guard(7, 8)
    one.name, other.name = "One", "Other"
    wall = cover.find_cover(one, [Vector3(0, 1.6, -8)])
    cover.reserve(wall, one)
    cover.search_range = 4.0
    crate = cover.find_cover(other, [Vector3(6, 1.2, -8)])
    assert cover.get_object(crate) is not None
    cover.reserve(crate, other)
    state = scheduler.save_state()
    cover.release(one)
    cover.release(other)
    assert scheduler.load_state(state)
    assert (cover.get_cover_of(one), cover.get_cover_of(other)) == (wall, crate)
    assert str(cover.get_object(crate).name) == "Crate"
    yard.physics_frames(3)
    assert cover.get_cover_of(other) == crate


def test_of_a_crate_that_is_gone_only_its_cover_is_left_out(yard, scheduler, expect_errors):
    crate = yard.crate(6, 6, name="Crate")
    cover, one, other = yard.cover(), yard.guard(0, 4), yard.guard(7, 8)
    one.name, other.name = "One", "Other"
    wall = cover.find_cover(one, [Vector3(0, 1.6, -8)])
    cover.reserve(wall, one)
    cover.search_range = 4.0
    cover.reserve(cover.find_cover(other, [Vector3(6, 1.2, -8)]), other)
    state = json.loads(json.dumps(scheduler.save_state()))
    cover.release(one)
    cover.release(other)
    crate.free()
    yard.physics_frames(2)
    expect_errors("Crate: is not in the scene", times=1)
    assert scheduler.call("load_state", state, True)
    assert [name.rpartition("/")[2] for name in scheduler.get_left_out()] == ["Crate"]
    yard.physics_frames(3)
    assert (cover.get_cover_of(one), cover.get_cover_of(other)) == (wall, 0)
    assert scheduler.load_state(scheduler.save_state())


def test_saving_tells_nobody_anything_and_changes_nothing(yard, scheduler, signals):
    crate = yard.crate(6, 6, name="Crate")
    cover, other = yard.cover(), yard.guard(7, 8)
    other.name = "Other"
    cover.search_range = 4.0
    spot = cover.find_cover(other, [Vector3(6, 1.2, -8)])
    cover.reserve(spot, other)
    lost = signals(cover, "cover_lost")
    crate.position = Vector3(-6, 0.6, 6)
    state = json.loads(json.dumps(scheduler.save_state()))
    assert (cover.get_cover_of(other), list(lost)) == (spot, [])
    yard.physics_frames(2)
    assert (cover.get_cover_of(other), len(lost)) == (0, 1)
    crate.position = Vector3(6, 0.6, 6)
    assert scheduler.load_state(state)
    yard.physics_frames(2)
    assert cover.get_cover_of(other) == spot


def test_who_waits_for_an_answer_gets_it_after_loading(yard, scheduler, signals):
    cover, one, gone = yard.cover(), yard.guard(0, 4), yard.guard(2, 4)
    one.name, gone.name = "One", "Gone"
    found, failed = signals(cover, "cover_found"), signals(cover, "cover_failed")
    expected = cover.find_cover(one, [Vector3(0, 1.6, -8)])
    waits, lost = cover.request_cover(one, [Vector3(0, 1.6, -8)]), cover.request_cover(gone, [one])
    state = json.loads(json.dumps(scheduler.save_state()))
    cover.cancel_request(waits)
    cover.cancel_request(lost)
    gone.free()
    yard.physics_frames(2)
    assert (list(found), list(failed)) == ([], [])
    assert scheduler.load_state(state)
    yard.until(lambda: found and failed)
    assert list(found) == [(waits, expected)]
    assert [number for number, _ in failed] == [lost]
    assert cover.request_cover(one, [Vector3(0, 1.6, -8)]) == lost + 1


def test_saves_with_malformed_requests_are_refused(yard, scheduler, expect_errors):
    cover, one = yard.cover(), yard.guard(0, 4)
    one.name = "One"
    cover.request_cover(one, [Vector3(0, 1.6, -8)])
    state = json.loads(json.dumps(scheduler.save_state()))

    def of_cover(saved):
        return next(part["state"] for name, part in saved["parts"].items() if name.endswith("Cover"))

    expect_errors("cannot load this state", times=3)
    for spoil in ({"threats": []}, {"agent": 7}, {"posture": "lie"}):
        spoilt = json.loads(json.dumps(state))
        of_cover(spoilt)["requests"][0].update(spoil)
        assert not scheduler.call("load_state", spoilt)


def test_the_way_there_may_be_told_by_a_script(yard, gdscript, node):
    cover, guard = yard.cover(), yard.guard(0, 4)
    traveler = node("Node", yard.scheduler)
    traveler.set_script(gdscript("""
        extends Node
        func travel(_from: Vector3, places: PackedVector3Array) -> PackedFloat32Array:
            var far := PackedFloat32Array()
            for place in places:
                far.append(INF if place.x < 0.6 else 5.0)
            return far
        """))
    cover.set_travel_cost(traveler.get("travel"))
    spot = cover.find_cover(guard, [Vector3(0, 1.6, -8)])
    assert cover.get_place(spot).x >= 0.6
    cover.set_travel_cost(None)


def test_all_of_it_from_gdscript(yard, gdscript, node):
    yard.crate(6, 6)
    cover = yard.cover(search_range=4.0)
    soldier = node("CharacterBody3D", yard.scheduler, position=Vector3(7, 0, 8))
    soldier.set_script(gdscript("""
        extends CharacterBody3D
        var spot := 0
        var told := []
        func take_cover(cover: CoverMap, from: Array) -> bool:
            cover.cover_lost.connect(func(agent: Node, lost: int) -> void: told.append([agent, lost]))
            spot = cover.find_cover(self, from)
            if spot == 0:
                push_error(cover.why())
                return false
            if not cover.reserve(spot, self):
                return false
            global_position = cover.get_place(spot)
            look_at(global_position + cover.get_direction(spot))
            return cover.get_holder(spot) == self
        """))
    assert soldier.call("take_cover", cover, [Vector3(6, 1.2, -8)])
    assert -soldier.global_transform[8] == pytest.approx(-1, abs=0.01)     # it faces the crate
    yard.physics_frames(3)
    assert soldier.get("told") == []


def test_a_running_game_shows_spots_on_request(yard):
    cover = yard.cover(show_in_game=True)
    yard.physics_frames(2)
    picture = cover.get_children(True)[-1]
    assert picture.get_class() == "MeshInstance3D"
    assert np.ravel(tuple(picture.get_aabb()))[3] > 3
    cover.show_in_game = False
    yard.physics_frames(2)
    assert not picture.is_valid()


def test_misuse_is_one_error_with_its_remedy(yard, expect_errors):
    cover, guard = yard.cover(), yard.guard(0, 4)
    expect_errors("threats must have at least one node or position", times=1)
    cover.call("find_cover", guard, [])
    expect_errors("posture must be one of any, stand, crouch", times=1)
    cover.call("find_cover", guard, [Vector3()], "lie")
    expect_errors("agent must be a Node3D or a Vector3, got 7", times=1)
    cover.call("find_cover", 7, [Vector3()])
    expect_errors("unknown spot id 999; it never existed, or it was removed", times=1)
    cover.call("get_place", 999)
    expect_errors("set_travel_cost needs a Callable, got 5", times=1)
    cover.call("set_travel_cost", 5)


def test_without_ground_it_says_what_is_missing(node, scheduler, physics_frames, signals, expect_errors):
    expect_errors("cannot bake: there is no NavigationRegion3D or NavigationRegion2D below", times=1)
    cover = node("CoverMap", scheduler, bakes_at_start=False)
    failed = signals(cover, "bake_failed")
    assert cover.bake() is False
    assert "add one and bake its navigation mesh" in failed[0][0]
    assert cover.find_cover(Vector3(), [Vector3(0, 1, 8)]) == 0
    assert cover.why() == f"the level could not be baked: {failed[0][0]}"


def test_the_script_of_the_page_hides(yard, gdscript, node):
    sample, = re.findall(r"```gdscript\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    cover = yard.cover()
    soldier = gdscript(sample).new()
    soldier.set("cover", cover)
    yard.scheduler.add_child(soldier)
    soldier.position = Vector3(0, 0, 4)
    soldier.call("hide_from", [Vector3(0, 1.6, -8)])
    spot = soldier.get("spot")
    assert cover.get_holder(spot) == soldier
    assert tuple(soldier.global_position) == tuple(cover.get_place(spot))
    yard.wall.free()
    yard.navigation.bake_navigation_mesh(False)
    yard.physics_frames(2)
    cover.invalidate()
    yard.until(lambda: not cover.is_baking())
    assert soldier.get("spot") == 0


@pytest.mark.parametrize(("travel", "why"), [
    ("func travel(_from, _places): return PackedFloat32Array([1.0, 2.0])", "must return a number for each of the "),
    ("func travel(_from, _places): return null", "must return a number for each of the "),
    ("func travel(_from): return 1.0", "travel(from, places) failed: "),
    ("func travel(_from, places): return places", "must return a number for each of the "),
    ("func travel(_from, places): return Array(places).map(func(_p): return 'a')", "must return a number for each of"),
    ("func travel(_from, places): return Array(places).map(func(_p): return null)", "must return a number for each"),
    ("func travel(_from, places): return Array(places).map(func(_p): return [1.0])", "must return a number for each"),
    ("func travel(_from, places): return Array(places).map(func(_p): return -1.0)", "0 or more, INF without a path"),
], ids=["too few", "null", "one argument", "places", "texts", "nulls", "arrays", "negative"])
def test_a_travel_cost_that_fails_fails_its_request_only(yard, gdscript, node, signals, expect_errors, travel, why):
    cover, guard = yard.cover(), yard.guard(0, 4)
    failed, found = signals(cover, "cover_failed"), signals(cover, "cover_found")
    traveler = node("Node", yard.scheduler)
    traveler.set_script(gdscript(f"extends Node\n{travel}"))
    cover.set_travel_cost(traveler.get("travel"))
    with pytest.raises(RefusedValue, match=f"set_travel_cost: .*{re.escape(why)}"):
        cover.find_cover(guard, [Vector3(0, 1.6, -8)])
    assert why in cover.why()
    expect_errors(why, times=1)
    first = cover.request_cover(guard, [Vector3(0, 1.6, -8)])
    yard.physics_frames(2)
    cover.set_travel_cost(None)
    second = cover.request_cover(guard, [Vector3(0, 1.6, -8)])
    yard.physics_frames(2)
    assert [number for number, _ in failed] == [first]
    assert [number for number, _ in found] == [second]


def test_ids_of_agents_are_not_given_twice_after_loading(yard, scheduler):
    cover, one, other = yard.cover(), yard.guard(0, 4), yard.guard(0, 5)
    one.name, other.name = "One", "Other"
    spot = cover.find_cover(one, [Vector3(0, 1.6, -8)])
    cover.reserve(spot, one)
    state = scheduler.save_state()
    assert scheduler.load_state(state)
    guards = [yard.guard(x, 5) for x in range(3)]
    for guard in (*guards, other):
        assert not cover.reserve(spot, guard)
    cover.release(one)
    assert cover.reserve(spot, other)
    assert cover.get_holder(spot) == other


@pytest.mark.parametrize("is_disabled", [False, True])
def test_a_save_loads_into_a_level_that_is_not_baked_yet(yard, node, scheduler, is_disabled):
    yard.walk()
    cover, guard = yard.cover(), yard.guard(0, 4)
    spot = cover.find_cover(guard, [Vector3(0, 1.2, -8)])
    cover.reserve(spot, guard)
    saved, spots = scheduler.save_state(), list(cover.get_spots())
    cover.free()
    fresh = construct("CoverMap")
    fresh.name, fresh.level, fresh.process_mode = "Cover", "../Level", 4 if is_disabled else 0
    scheduler.add_child(fresh)
    assert scheduler.load_state(saved)
    assert list(fresh.get_spots()) == spots
    assert fresh.get_cover_of(guard) == spot
    yard.physics_frames(20)
    assert (list(fresh.get_spots()), fresh.get_cover_of(guard)) == (spots, spot)


def test_the_end_of_a_bake_keeps_to_the_budget(yard, signals, monkeypatch):
    """The spots of a bake are applied in steps, with a look at the budget after each."""
    cover = yard.cover()
    spots, finished = list(cover.get_spots()), signals(cover, "bake_finished")
    pauses = []

    def replacing(*arguments):
        work = type(cover.cover).replacing(cover.cover, *arguments)
        for _ in range(3):
            pauses.append(len(finished))
            yield
        return (yield from work)

    monkeypatch.setattr(cover.cover, "replacing", replacing)
    yard.scheduler.budget = 0.001
    cover.invalidate()
    yard.until(lambda: pauses)
    for count in (1, 2, 3):
        assert (len(pauses), finished) == (count, [])
        assert cover.is_baking()
        yard.physics_frames(1)
    yard.until(lambda: finished)
    assert list(cover.get_spots()) == spots
    assert not cover.is_baking()
