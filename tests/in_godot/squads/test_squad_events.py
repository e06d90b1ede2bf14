"""Orders and tasks of a squad begin habits and change states of its members."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import PackedStringArray, Vector3, construct
from tests.in_godot.squads.squad_world import recruits


@pytest.fixture
def squad(node, scheduler):
    return node("Squad", scheduler, keep_clear=1, think_period=6)


def test_an_order_begins_a_habit_that_walks_to_its_place(node, scheduler, squad, physics_frames):
    [(body, member)] = recruits(node, scheduler, squad, 1, mover=4)
    tree, go, obey = construct("HabitTree"), construct("HabitMoveTo"), construct("Habit")
    obey.set("name", "Obey")
    obey.set("begins_on", PackedStringArray(["order_given"]))
    go.set("target_key", "event.position")
    obey.add_child(go)
    obey.set("launch", 1)
    tree.add_child(obey)
    body.add_child(tree)
    physics_frames(3)
    assert not obey.is_active()
    number = squad.move_to(Vector3(2, 0, 0))
    physics_frames(2)
    assert obey.is_active()
    event = obey.get_event()
    assert (event["order"], event["kind"], event["goal"]) == (number, "move", Vector3(2, 0, 0))
    assert (event["member"], event["position"]) == (member, member.get_destination())
    physics_frames(90)
    assert body.position.x == pytest.approx(2, abs=0.3)
    assert not obey.is_active()
    squad.hold()
    physics_frames(2)
    assert (obey.get_event()["kind"], obey.get_event()["position"]) == ("hold", body.position)


def test_a_task_changes_the_state_of_a_member(node, scheduler, squad, physics_frames):
    [(body, _)] = recruits(node, scheduler, squad, 1, roles=PackedStringArray(["scout"]))
    recruits(node, scheduler, squad, 2)
    tree, scout = construct("HabitTree"), construct("Habit")
    scout.set("begins_on", PackedStringArray(["task_changed"]))
    scout.set("condition", "event.kind == \"scout\"")
    tree.add_child(scout)
    body.add_child(tree)
    physics_frames(3)
    squad.use_tactic("scouting")
    squad.move_to(Vector3(20, 0, 0))
    physics_frames(20)
    assert scout.is_active()
    assert scout.get_event()["position"].x > body.position.x


@pytest.mark.parametrize(("how", "name"), [
    (how, name) for how, names in {
        "freed": ("commander_changed", "member_lost"), "removed": ("commander_changed", "member_lost", "member_joined"),
        "moved": ("commander_changed", "member_lost", "member_joined"),
        "joined": ("commander_changed", "member_joined"),
    }.items() for name in names])
def test_a_squad_takes_orders_in_its_own_signals(node, scheduler, world, squad, physics_frames, name, how):
    recruits(node, world, squad, 3)
    second = node("Squad", scheduler, name="Second")
    physics_frames(2)
    given = []

    def order(_member):
        for one in (squad, second):
            if one.get_members():
                one.appoint(one.get_members()[-1])
                given.append((one.move_to(Vector3(9, 0, 0)), len(one.get_slot_places()), len(scheduler.save_state())))

    changed = second if (how, name) == ("moved", "member_joined") else squad
    changed.connect(name, order)
    first = squad.get_commander().get_parent()
    if how == "freed":
        first.free()
    elif how == "removed":
        world.remove_child(first)
        world.add_child(first)
    elif how == "moved":
        squad.move_members(squad.get_members()[:2], second)
    else:
        recruits(node, world, squad, 1)
        squad.appoint(squad.get_members()[-1])
    physics_frames(20)
    assert given
    assert all(number > 0 and places and saved for number, places, saved in given)
