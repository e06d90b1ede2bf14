"""Squads of a scene that meet somebody: stances, tactics, tasks and turns."""
from __future__ import annotations

import numpy as np
import pytest

from addons.ai_core.bridge.gd import Vector3, construct
from tests.in_godot.squads.squad_world import armed, character, recruits, until

pytestmark = pytest.mark.in_its_own_world


@pytest.fixture
def squad(node, scheduler):
    return node("Squad", scheduler, name="Alpha", keep_clear=1, think_period=6)


def test_nobody_can_hit_air_flee_and_stronger_fight(node, world, squad, signals, physics_frames):
    told = signals(squad, "stance_changed")
    recruits(node, world, squad, 3, **armed(ground=2.0))
    plane, _ = character(node, world, Vector3(30, 9, 0), squad_path=node("Squad", squad.get_parent()).get_path(),
                         **armed("air", ground=3.0))
    physics_frames(1)
    squad.see([plane])
    assert squad.judge() == {"stance": "retreat", "ratio": 0.0, "reasons": ["no member can hit air"]}
    assert [stance for stance, _ in told] == ["retreat"]
    squad.see([])
    assert squad.judge()["reasons"] == ["no enemy is met", "retreat lasts at least 2 s"]
    squad.see([node("Node3D", world)])              # it has no SquadMember
    assert squad.judge()["reasons"][0] == "1 enemy of unknown strength"


def test_flankers_go_around_and_two_at_most_attack(node, world, squad, signals, physics_frames):
    pairs = recruits(node, world, squad, 5, **armed(ground=2.0))
    enemy = node("Node3D", world, position=Vector3(20, 0, 0))
    physics_frames(1)
    changed = signals(squad, "tactic_changed")
    heard = signals(pairs[0][1], "task_changed")
    squad.see([enemy])
    squad.use_tactic("flanking")
    physics_frames(10)
    kinds = sorted(task["kind"] for task in squad.get_tasks().values())
    assert kinds.count("flank") == 2
    assert kinds.count("suppress") == 3
    until(lambda: squad.get_attackers(), physics_frames)
    assert sorted(task["kind"] for task in squad.get_tasks().values()) == ["attack"] * 2 + ["stand_by"] * 3
    assert {task["target"] for task in squad.get_tasks().values()} == {enemy}
    enemy.queue_free()
    physics_frames(5)
    squad.use_tactic("")
    physics_frames(10)
    assert squad.get_tasks() == {}
    assert [one for one, in changed] == ["flanking", ""]
    assert heard[0][0] in ("flank", "suppress")
    assert heard[-1] == ("", None)


def test_a_flank_continues_without_who_never_comes(node, world, squad, signals, physics_frames):
    recruits(node, world, squad, 5, mover=4, **armed(ground=2.0))       # a script that does nothing
    physics_frames(1)
    given_up = signals(squad, "tasks_given_up")
    squad.see([node("Node3D", world, position=Vector3(20, 0, 0))])
    squad.use_tactic("flanking")
    physics_frames(10)
    flankers = [member for member, task in squad.get_tasks().items() if task["kind"] == "flank"]
    until(lambda: given_up, physics_frames)
    assert [[*one] for one, in given_up] == [flankers]
    assert "flank" not in {task["kind"] for task in squad.get_tasks().values()}


@pytest.mark.parametrize("range_m", [2.0, 8.0])
def test_attackers_come_within_their_range_and_no_nearer(node, world, squad, physics_frames, range_m):
    recruits(node, world, squad, 6, attack_range=range_m, **armed(ground=2.0))
    enemy = node("Node3D", world, position=Vector3(20, 0, 0))
    physics_frames(1)
    squad.see([enemy])
    squad.use_tactic("flanking")
    until(squad.get_attackers, physics_frames)
    away, has_attacked = [], set()
    for _ in range(3000):
        physics_frames(1)
        attackers = squad.get_attackers()
        has_attacked |= {str(one.get_character().name) for one in attackers}
        away += [one.get_character().position.distance_to(enemy.position) for one in attackers]
    away = np.array(away)
    assert away.min() > 0.85 * range_m
    assert (away[-1200:] <= range_m).all()       # of ten seconds, after all have come near
    assert len(has_attacked) == 6


def test_a_quarantined_choice_of_the_commander_is_released(
        node, world, scheduler, gdscript, physics_frames, expect_errors):
    squad = construct("Squad")
    squad.set_script(gdscript("""
        extends Squad
        var chosen = null
        func _choose_commander(_members: Array) -> Node: return chosen
    """))
    squad.keep_clear, squad.think_period, squad.command = 1, 6, squad.Command.SCRIPT
    scheduler.add_child(squad)
    expect_errors("_choose_commander() must return one of the members it received, got null", times=3)
    expect_errors("and is quarantined: fix it, then call release_quarantined() of its node", times=1)
    (_, first), (_, second) = recruits(node, world, squad, 2)
    for number in range(4):
        squad.move_to(Vector3(number, 0, 0))
    assert squad.get_commander() == first
    squad.set("chosen", second)
    squad.move_to(Vector3(5, 0, 0))
    assert squad.get_commander() == first
    squad.release_quarantined()
    squad.move_to(Vector3(6, 0, 0))
    assert squad.get_commander() == second
    squad.queue_free()
    physics_frames(2)



def test_a_script_chooses_commander_and_tactic(node, world, scheduler, gdscript, physics_frames):
    script = gdscript("""
        extends Squad
        func _choose_commander(members: Array) -> Node: return members[-1]
        func _choose_tactic() -> String: return "scouting"
    """)
    squad = construct("Squad")
    squad.set_script(script)
    squad.command, squad.keep_clear, squad.think_period = 2, 1, 6
    scheduler.add_child(squad)
    recruits(node, world, squad, 2)
    _, scout = character(node, world, Vector3(2, 0, 5), squad_path=squad.get_path(), roles=["scout"])
    squad.move_to(Vector3(20, 0, 0))
    physics_frames(30)
    assert squad.get_commander() == scout
    assert squad.tactic == "scouting"
    assert scout.get_task()["kind"] == "scout"
    squad.queue_free()
    physics_frames(2)


def test_order_that_a_tactic_suspends_says_so(node, world, squad, physics_frames):
    recruits(node, world, squad, 4, **armed(ground=2.0))
    enemy = node("Node3D", world, position=Vector3(40, 0, 30))
    squad.move_to(Vector3(30, 0, 0))
    physics_frames(30)
    assert squad.get_order()["why"] == ""
    squad.see([enemy])
    squad.use_tactic("flanking")
    physics_frames(10)
    assert squad.get_order()["why"].startswith("tactic 'flanking' has a task for every member")
    squad.see([])
    physics_frames(10)
    assert (squad.tactic, squad.get_tasks(), squad.get_order()["why"]) == ("flanking", {}, "")


def test_sources_stand_for_characters_own_members_are_refused(node, world, squad, physics_frames, expect_errors):
    [(own, own_member), _] = recruits(node, world, squad, 2, **armed(ground=3.0))
    other = node("Squad", squad.get_parent())
    enemy, member = character(node, world, Vector3(9, 0, 0), squad_path=other.get_path(), **armed(ground=3.0))
    source = node("SenseSource3D", enemy)
    far = node("SenseSource3D", world, character=enemy.get_path())
    node("SenseManager", squad.get_parent())
    mine = node("SenseSource3D", own)
    physics_frames(1)
    for one in (source, far, member, enemy):
        squad.see([one])
        assert "can hit the enemy" in squad.judge()["reasons"][0]
        assert list(squad.enemies_by_id.values()) == [enemy]
    for one in (own, own_member, mine):
        expect_errors(f"'{own.get_name()}' is a member of the squad; give only its enemies")
        squad.call("see", [enemy, one])
    assert list(squad.enemies_by_id.values()) == [enemy]


def test_an_enemy_outside_the_tree_is_refused_by_name(node, world, squad, expect_errors):
    pooled = node("Node3D", world, name="Pooled")
    world.remove_child(pooled)
    expect_errors("'Pooled' is not in the tree, so it has no place; leave it out")
    squad.call("see", [pooled])
    pooled.free()
