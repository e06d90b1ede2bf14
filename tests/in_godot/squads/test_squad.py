"""Squads of a scene: who is in them, who commands, saving, and what is wrong."""
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from addons.ai_core.bridge.gd import RefusedValue, Vector2, Vector3, construct
from tests.in_godot.squads.squad_world import armed, character, places, recruits, until

pytestmark = pytest.mark.in_its_own_world

DOCUMENT = Path(__file__).parents[3] / "docs" / "godot" / "squads.md"


@pytest.fixture
def squad(node, scheduler):
    return node("Squad", scheduler, name="Alpha", keep_clear=1, think_period=6)


def test_members_join_by_path_or_from_below_and_one_commands(node, world, squad, signals, physics_frames):
    joined = signals(squad, "member_joined")
    [(_, named)] = recruits(node, world, squad, 1)
    _, below = character(node, squad, Vector3(5, 0, 0))
    physics_frames(1)
    assert squad.get_members() == [named, below]
    assert [one for one, in joined] == [named, below]
    assert squad.get_commander() in (named, below)
    squad.move_to(Vector3(100, 0, 0))
    assert squad.get_commander() == below
    assert below.is_commander()


def test_a_member_that_is_there_before_its_squad_waits_for_it(node, world, scheduler, physics_frames):
    _, member = character(node, scheduler, Vector3())
    member_squad = member.get_squad()
    assert member_squad is None
    squad = node("Squad", scheduler, keep_clear=1)
    physics_frames(1)
    assert member.get_squad() == squad


def test_of_nodes_that_move_only_one_commands_in_between(node, world, scheduler, squad, signals, physics_frames):
    members = [member for _, member in recruits(node, world, squad, 4)]
    physics_frames(1)
    squad.appoint(members[0])
    changed = signals(squad, "commander_changed")
    other = node("Squad", scheduler, name="Beta", keep_clear=1)
    squad.move_members(members[:3], other)
    assert changed == [(members[3],)]


def test_a_member_cannot_change_to_a_squad_of_other_dimensions(node, world, scheduler, squad, physics_frames):
    [(_, member)] = recruits(node, world, squad, 1)
    flat = node("Squad", scheduler, name="Flat", dimensions=1)
    before = member.squad_path
    with pytest.raises(RefusedValue, match="Squad 'Flat' is 2D, but this squad is 3D"):
        member.squad_path = member.get_path_to(flat)
    assert (member.squad_path, member.get_squad()) == (before, squad)
    assert (squad.get_members(), flat.get_members()) == ([member], [])


def test_a_squad_splits_and_merges(node, world, squad, physics_frames):
    members = [member for _, member in recruits(node, world, squad, 6)]
    physics_frames(1)
    other = squad.split(members[3:], "Beta")
    assert other.get_name() == "Beta"
    assert other.get_members() == members[3:]
    assert squad.get_members() == members[:3]
    assert [one.get_squad() for one in members] == [squad] * 3 + [other] * 3
    squad.move_to(Vector3(0, 0, -8))
    other.move_to(Vector3(0, 0, 12))
    until(lambda: squad.is_idle() and other.is_idle(), physics_frames)
    assert places(squad)[:, 2].min() == pytest.approx(-8, abs=0.4)
    assert places(other)[:, 2].max() == pytest.approx(12, abs=0.4)
    squad.merge(other)
    assert squad.get_members() == members
    assert other.get_members() == []
    squad.move_to(Vector3(8, 0, 0))
    until(squad.is_idle, physics_frames)
    assert squad.get_order_state() == "done"
    other.queue_free()
    physics_frames(2)


def test_a_formation_resource_says_who_stands_where(node, world, squad, physics_frames):
    formation = construct("Formation")
    formation.pattern = 5
    formation.custom_slots = [Vector2(0, 0), Vector2(-3, 0), Vector2(-1, 2)]
    formation.only_roles = ["", "healer", ""]
    squad.formation = formation
    bodies = recruits(node, world, squad, 2)
    _, healer = character(node, world, Vector3(4, 0, 1), squad_path=squad.get_path(), roles=["healer"])
    squad.appoint(bodies[0][1])
    squad.move_to(Vector3(15, 0, 0))
    until(squad.is_idle, physics_frames)
    assert healer.get_slot() == 1
    assert tuple(healer.get_character().get_global_position()) == pytest.approx((12, 0, 0), abs=0.5)
    assert formation.get_slots(4).tolist() == [[0, 0], [-3, 0], [-1, 2], [-5, 0]]


def test_changes_of_a_formation_take_effect_at_once(node, world, squad, physics_frames, expect_errors):
    formation = construct("Formation")
    squad.formation = formation
    recruits(node, world, squad, 3)
    physics_frames(2)
    formation.spacing = 5.0
    assert squad.core.formation.spacing_m == 5.0
    formation.pattern = formation.Pattern.CUSTOM           # without slots until the next line
    formation.custom_slots = [Vector2(0, 0), Vector2(-3, 0), Vector2(-1, 2)]
    physics_frames(2)
    assert squad.core.formation.pattern == "custom"
    expect_errors("a custom formation must have at least one slot, got none", times=1)
    formation.custom_slots = []
    physics_frames(2)
    assert len(squad.core.formation.custom_slots) == 3, "the former formation remains"
    with pytest.raises(RefusedValue, match="a custom formation must have at least one slot"):
        squad.formation = formation.duplicate()
    formation.custom_slots = [Vector2(0, 0)]
    assert len(squad.core.formation.custom_slots) == 1, "the refused one is not followed"
    squad.formation = None
    formation.spacing = 9.0
    assert squad.core.formation.spacing_m == 2.0


@pytest.mark.parametrize(("spacing", "behind"), [(0.0, 64.0), (50.0, 50.0)])
def test_slots_of_a_formation_in_2d_are_in_pixels(spacing, behind):
    formation = construct("Formation")
    formation.pattern, formation.spacing = formation.Pattern.COLUMN, spacing
    assert formation.get_slots(2, True).tolist() == [[0, 0], [-behind, 0]]
    formation.pattern, formation.custom_slots = formation.Pattern.CUSTOM, [Vector2(0, 0), Vector2(-100, 40)]
    assert formation.get_slots(3, True).tolist() == [[0, 0], [-100, 40], [-100 - behind, 0]]


def test_it_is_saved_with_its_scene_in_the_middle_of_a_march(node, world, scheduler, squad, physics_frames):
    bodies = [body for body, _ in recruits(node, world, squad, 6)]
    for body in bodies:
        body.add_to_group("ai_saved")
    squad.move_to(Vector3(15, 0, 6))
    physics_frames(90)
    other = squad.split(squad.get_members()[4:], "Beta")
    other.move_to(Vector3(-10, 0, 0))
    physics_frames(60)
    state = scheduler.save_state()
    before = places(squad), places(other)
    members = squad.get_members(), other.get_members()
    until(lambda: squad.is_idle() and other.is_idle(), physics_frames)
    ends = places(squad), places(other)
    squad.merge(other)
    assert scheduler.load_state(state)
    assert (squad.get_members(), other.get_members()) == members
    assert np.allclose(places(squad), before[0], atol=1e-4)
    assert squad.get_order_state() == "marching"
    until(lambda: squad.is_idle() and other.is_idle(), physics_frames)
    assert np.allclose(places(squad), ends[0], atol=0.02)
    assert np.allclose(places(other), ends[1], atol=0.02)
    other.queue_free()
    physics_frames(2)


def test_a_save_that_names_who_is_gone_is_refused(node, world, scheduler, squad, physics_frames, expect_errors):
    [(body, _), *_] = recruits(node, world, squad, 2)
    state = scheduler.save_state()
    body.free()
    expect_errors("cannot load this state", times=1)
    assert not scheduler.call("load_state", state)
    assert len(squad.get_members()) == 1


def test_members_of_a_removed_squad_join_the_next(node, world, scheduler, squad, physics_frames):
    [(_, member)] = recruits(node, world, squad, 1)
    path = squad.get_path()
    squad.free()
    physics_frames(1)
    assert member.get_squad() is None
    again = node("Squad", scheduler, name="Alpha", keep_clear=1)
    assert again.get_path() == path
    physics_frames(1)
    assert member.get_squad() == again


@pytest.mark.parametrize(("use", "complaint"), [
    (lambda squad, node: squad.call("move_to", Vector2(1, 1)), "goal must be a Vector3, got"),
    (lambda squad, node: squad.call("move_to", Vector3(float("nan"), 0, 0)), "goal must be finite"),
    (lambda squad, node: squad.call("follow", [Vector2(1, 1)]), "must be a PackedVector3Array"),
    (lambda squad, node: squad.call("form_up", Vector3(), Vector3()), "heading must have a length"),
    (lambda squad, node: squad.call("use_tactic", "flank"), "unknown tactic 'flank'; did you mean 'flanking'"),
    (lambda squad, node: squad.call("why_not", "flank"), "unknown tactic 'flank'"),
    (lambda squad, node: squad.call("appoint", node), "is not a member of Squad 'Alpha'"),
    (lambda squad, node: squad.call("split", [], "Beta"), "needs at least one member"),
    (lambda squad, node: squad.call("split", [3], "Beta"), "needs a SquadMember or its character, got 3"),
    (lambda squad, node: squad.call("merge", node), "needs another Squad"),
    (lambda squad, node: squad.call("merge", squad), "a squad cannot merge with itself"),
    (lambda squad, node: squad.call("see", [3]), "an enemy must be a valid Node3D or Node2D, got 3"),
    (lambda squad, node: squad.set("pace", 0.5), "cannot change while the squad is in use"),
])
def test_mistakes_are_clear_errors(node, world, squad, expect_errors, use, complaint):
    recruits(node, world, squad, 2)
    expect_errors(complaint, times=1)
    use(squad, node("Node3D", world))
    assert len(squad.get_members()) == 2


def test_a_squad_without_members_says_so(squad, signals, physics_frames):
    failed = signals(squad, "order_failed")
    number = squad.move_to(Vector3(1, 0, 0))
    physics_frames(20)
    assert failed == [(number, "the squad has no members")]
    assert squad.get_commander() is None


def test_bad_settings_are_told_when_the_scene_begins(node, world, scheduler, squad, expect_errors, physics_frames):
    expect_errors("does not join its squad until this is corrected: attack on 'ground' must be at least 0", times=1)
    character(node, world, Vector3(), squad_path=squad.get_path(), attack={"ground": -1.0})
    expect_errors("a custom formation must have at least one slot, got none", times=1)
    empty = construct("Formation")
    empty.pattern = 5
    assert node("Squad", scheduler, name="Beta", formation=empty).get_members() == []
    physics_frames(2)


def test_a_member_without_a_squad_says_so(node, expect_errors, physics_frames):
    expect_errors("found no Squad and belongs to none", times=1)
    member = node("SquadMember", node("Node3D", position=Vector3(1, 2, 3)))
    assert member.get_squad() is None
    assert tuple(member.get_destination()) == (1, 2, 3)
    assert tuple(member.get_velocity()) == (0, 0, 0)
    physics_frames(2)


def test_a_formation_says_what_is_wrong_with_it(expect_errors):
    formation = construct("Formation")
    formation.role_places = {"healer": "behind"}
    expect_errors("unknown place of role 'healer' 'behind'", times=1)
    formation.call("get_slots", 3)


def test_the_samples_of_the_document_run(node, gdscript, physics_frames):
    [sample] = re.findall(r"```gdscript\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    level = gdscript(sample).new()
    scheduler = construct("AIScheduler")
    scheduler.set_name("AIScheduler")
    scheduler.update, scheduler.budget = 1, 0.0
    squad = construct("Squad")
    squad.set_name("Squad")
    squad.keep_clear = 1
    level.add_child(scheduler)
    scheduler.add_child(squad)
    node("Node").add_child(level)
    for number in range(4):
        body, _ = character(node, level, Vector3(number, 0, 0), squad_path="../../AIScheduler/Squad",
                            **armed(ground=2.0))
        body.set_name(f"C{number}")
    enemy, _ = character(node, level, Vector3(30, 0, 0), squad_path="../../AIScheduler/Squad", **armed("air", ground=1))
    physics_frames(1)
    squad.move_members([enemy], node("Squad", scheduler, keep_clear=1))
    level.call("attack", Vector3(8, 0, 0))
    until(squad.is_idle, physics_frames)
    level.call("meet", [enemy])
    until(squad.is_idle, physics_frames)
    rear = level.call("send_home", squad.get_characters()[:2])
    assert len(rear.get_members()) == 2
    assert "arrived" in level.get("story")
    assert level.get("story")[0].endswith("commands")
    assert "retreat: no member can hit air" in level.get("story")
    level.free()


def test_whom_two_members_see_is_one_enemy(node, world, squad, physics_frames):
    recruits(node, world, squad, 2)
    foe, other = (node("Node3D", world, position=Vector3(20, 0, z)) for z in (0, 5))
    physics_frames(1)
    squad.see([foe, other, foe])
    squad.see([foe, foe, other])
    assert [sighting.enemy_id for sighting in squad.core.sightings] == [1, 2]


@pytest.mark.parametrize(("name", "value", "words"), [
    ("speed", 1e9, "speed must be at most 1e+06, got 1000000000.0"),
    ("radius", 2e9, "radius_m must be at most 1e+06, got 2000000000.0"),
])
def test_a_member_that_cannot_be_taken_in_stops_no_squad(
        node, world, scheduler, squad, physics_frames, expect_errors, name, value, words):
    recruits(node, world, squad, 2)
    expect_errors(f"does not join its squad until this is corrected: {words}", times=1)
    _, wrong = character(node, world, Vector3(9, 0, 9), squad_path=squad.get_path(), **{name: value})
    squad.move_to(Vector3(5, 0, 0))
    physics_frames(30)
    assert len(squad.get_members()) == 2
    assert wrong.get_squad() is None
    assert not any(one["faults"] for one in scheduler.get_stats()["behaviors"])
    wrong.set(name, 1.0)
    physics_frames(3)
    assert wrong.get_squad() == squad
    assert len(squad.get_members()) == 3


def test_a_member_that_is_nowhere_as_it_joins_stops_no_squad(
        node, world, scheduler, squad, physics_frames, expect_errors):
    recruits(node, world, squad, 2)
    expect_errors("its global transform holds a NaN or infinity", times=1)
    body, _ = character(node, world, Vector3(float("nan"), 0, 9), squad_path=squad.get_path())
    physics_frames(10)
    assert not any(one["faults"] for one in scheduler.get_stats()["behaviors"])
    body.position = Vector3(1, 0, 1)
    physics_frames(3)
    assert len(squad.get_members()) == 3


def test_member_below_a_squad_that_began_again_joins_it(node, scheduler):
    node("Squad", scheduler)
    second = node("Squad", scheduler)
    second.pace = 0.7
    member = node("SquadMember", node("CharacterBody3D", second))
    assert member.get_squad() == second
