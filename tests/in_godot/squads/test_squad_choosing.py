"""Tactics chosen without code: by a RuleSet or a HabitTree in the inspector; posts that lie on the navigation map."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import NodePath, Vector2, Vector3, construct, singleton
from tests.in_godot.squads.squad_world import armed, character, recruits, until

pytestmark = pytest.mark.in_its_own_world

DOCUMENT = (Path(__file__).parents[3] / "docs" / "godot" / "squads.md").read_text(encoding="utf-8")
[RULES] = re.findall(r"```text\n(.*?)```", DOCUMENT, re.DOTALL)


def rules(text, **settings):
    made = construct("RuleSet")
    made.rules = text
    for key, value in settings.items():
        made.set(key, value)
    return made


def squad_by(node, scheduler, **settings):
    return node("Squad", scheduler, name="Alpha", keep_clear=1, think_period=6, **settings)


def enemy(node, world, z=0.0):
    other = node("Squad", world, name="Beta", keep_clear=1)
    return character(node, world, Vector3(20, 0, z), squad_path=other.get_path(), **armed(ground=2.0))[0]


def test_the_rules_of_the_document_choose_tactics(node, world, scheduler, physics_frames):
    squad = squad_by(node, scheduler, tactic_rules=rules(RULES, parameters={"boldness": 0.4}))
    recruits(node, world, squad, 5, **armed(ground=2.0))
    character(node, world, Vector3(2, 0, 5), squad_path=squad.get_path(), roles=["scout"])
    squad.move_to(Vector3(60, 0, 0))
    physics_frames(10)
    assert squad.tactic == "scouting"
    squad.see([enemy(node, world)])
    physics_frames(10)
    assert squad.tactic == "flanking"
    assert squad.get_grade("met") == 1.0
    squad.see([enemy(node, world, number) for number in range(9)])
    physics_frames(10)
    assert squad.tactic == "sacrifice"


def test_facts_of_a_script_choose_the_tactic(node, world, scheduler, gdscript, physics_frames):
    squad = construct("Squad")
    squad.set_script(gdscript("""
        extends Squad
        var is_night := 0.0
        func how_dark() -> float: return is_night
    """))
    squad.keep_clear, squad.think_period = 1, 6
    squad.tactic_rules = rules(
        "creep: dark | do bounding_overwatch, salience 2, repeats\nmarch: always | do none, repeats",
        facts={"dark": "how_dark"})
    scheduler.add_child(squad)
    recruits(node, world, squad, 4)
    squad.move_to(Vector3(60, 0, 0))
    physics_frames(10)
    assert squad.tactic == ""
    squad.set("is_night", 1.0)
    physics_frames(10)
    assert squad.tactic == "bounding_overwatch"
    squad.queue_free()
    physics_frames(2)


def test_a_fact_that_is_no_grade_names_its_squad(node, world, scheduler, gdscript, physics_frames, expect_errors):
    squad = construct("Squad")
    squad.name = "Alpha"
    squad.set_script(gdscript("""
        extends Squad
        func how_dark() -> String: return "very"
    """))
    squad.keep_clear, squad.think_period = 1, 6
    squad.tactic_rules = rules("creep: dark | do bounding_overwatch, repeats", facts={"dark": "how_dark"})
    expect_errors("behavior 'squad 'Alpha': fact 'dark'': how_dark() of the squad must return a number from 0", times=3)
    expect_errors("quarantined: fix it, then call release_quarantined() of its node", times=1)
    scheduler.add_child(squad)
    recruits(node, world, squad, 2)
    physics_frames(40)
    squad.queue_free()
    physics_frames(2)


@pytest.mark.parametrize(("text", "words"), [
    ("flank: met | do flnking, repeats", "rule 'flank' does 'flnking', which is not a tactic; use bounding_overwatch"),
    ("flank: met | do flanking", "rule 'flank' must repeat"),
    ("flank: mett | do flanking, repeats", "mett"),
])
def test_rules_that_cannot_choose_say_why(node, world, scheduler, expect_errors, text, words, physics_frames):
    expect_errors(words, times=1)
    squad = squad_by(node, scheduler, tactic_rules=rules(text))
    assert words in " ".join(squad._get_configuration_warnings())
    recruits(node, world, squad, 2)
    physics_frames(2)
    squad.move_to(Vector3(6, 0, 0))                 # it marches without tactics
    until(squad.is_idle, physics_frames)
    assert squad.get_order_state() == "done"


def test_changes_of_the_rules_take_effect_at_once(node, world, scheduler, physics_frames, expect_errors):
    chosen = rules("flank: met | do flanking, repeats")
    squad = squad_by(node, scheduler, tactic_rules=chosen)
    recruits(node, world, squad, 4, **armed(ground=2.0))
    squad.see([enemy(node, world)])
    physics_frames(10)
    assert squad.tactic == "flanking"
    chosen.rules = "fire: met | do suppressing_fire, repeats"
    physics_frames(10)
    assert squad.tactic == "suppressing_fire"
    expect_errors("rule 'fire' does 'sacrifce', which is not a tactic", times=1)
    chosen.rules = "fire: met | do sacrifce, repeats"
    physics_frames(10)
    assert squad.tactic == "suppressing_fire", "the former rules remain"
    squad.tactic_rules = rules("flank: met | do flanking, repeats")
    chosen.rules = "cover: met | do sacrifice, repeats"
    physics_frames(10)
    assert squad.tactic == "flanking", "other rules are no longer followed"
    squad.tactic_rules = None
    squad.use_tactic("")
    physics_frames(10)
    assert squad.tactic == ""


def test_a_squad_that_cannot_run_says_why_at_every_call(node, scheduler, expect_errors, physics_frames):
    expect_errors("does not run: last_stand_at, retreat_at and fight_at must be in ascending order", times=2)
    squad = squad_by(node, scheduler, retreat_at=2.0, fight_at=1.0)
    physics_frames(2)
    squad.call("is_idle")


def test_rules_are_saved_with_the_squad(node, world, scheduler, physics_frames):
    squad = squad_by(node, scheduler, tactic_rules=rules("flank: met | do flanking, repeats"))
    recruits(node, world, squad, 4, **armed(ground=2.0))
    physics_frames(2)
    squad.see([enemy(node, world)])
    physics_frames(10)
    state = scheduler.save_state()
    squad.see([])
    physics_frames(10)
    assert squad.tactic == ""
    assert scheduler.load_state(state)
    assert squad.tactic == "flanking"


def test_the_habit_that_is_active_names_the_tactic(node, world, scheduler, expect_errors, physics_frames):
    squad = construct("Squad")
    squad.keep_clear, squad.think_period, squad.habits = 1, 6, NodePath("Brain")
    brain = construct("HabitTree")
    brain.name = "Brain"
    for name, condition in (("sacrifice", "get_grade(\"outnumbered\") > 0.5"), ("flanking", "get_grade(\"met\") > 0.5"),
                            ("march", "")):
        habit = construct("Habit")
        habit.name, habit.condition = name, condition
        brain.add_child(habit)
    squad.add_child(brain)
    scheduler.add_child(squad)
    recruits(node, world, squad, 4, **armed(ground=2.0))
    physics_frames(10)
    assert squad.tactic == ""
    squad.see([enemy(node, world)])
    physics_frames(15)
    assert squad.tactic == "flanking"
    squad.see([enemy(node, world, number) for number in range(9)])
    physics_frames(15)
    assert squad.tactic == "sacrifice"
    squad.habits = NodePath("..")
    assert "habits '..' is of class AIScheduler, not HabitTree; choose" in " ".join(squad._get_configuration_warnings())
    expect_errors("unknown fact of a situation 'mett'; did you mean 'met'")
    squad.call("get_grade", "mett")
    squad.queue_free()
    physics_frames(2)


def test_posts_of_tactics_lie_on_the_navigation_map(node, world, scheduler, physics_frames):
    region, polygon = node("NavigationRegion2D", world), construct("NavigationPolygon")
    polygon.set_vertices([Vector2(*one) for one in ((0, 0), (2000, 0), (2000, 320), (0, 320))])
    polygon.add_polygon([0, 1, 2, 3])
    region.navigation_polygon = polygon
    squad = node("Squad", scheduler, dimensions=1, think_period=6, map_margin=0.0)
    stage = node("Node2D", world)
    for number in range(4):
        character(node, stage, Vector2(60 + 40 * number, 160), "Node2D", squad_path=squad.get_path())
    foe = node("Node2D", stage, position=Vector2(900, 160))
    server, ground = singleton("NavigationServer2D"), world.find_world_2d().get_navigation_map()
    until(lambda: server.map_get_iteration_id(ground) and int(server.map_get_closest_point_owner(ground, Vector2()))
          and len(squad.core) == 4, physics_frames, most=100_000)
    squad.see([foe])
    squad.use_tactic("flanking")
    physics_frames(10)
    posts = [task["position"] for task in squad.get_tasks().values() if task["kind"] == "flank"]
    assert len(posts) == 2
    assert all(-0.1 <= post.y <= 320.1 for post in posts), "12 m aside would be 384 pixels: off the map"


def test_who_is_split_off_goes_by_the_same_rules(node, world, scheduler, physics_frames):
    squad = squad_by(node, scheduler, tactic_rules=rules("flank: met | do flanking, repeats"))
    members = [member for _, member in recruits(node, world, squad, 4, **armed(ground=2.0))]
    physics_frames(2)
    other = squad.split(members[2:], "Beta")
    other.see([enemy(node, world)])
    physics_frames(10)
    assert (squad.tactic, other.tactic) == ("", "flanking")
    asking = rules("flank: dark | do flanking, repeats", facts={"dark": "how_dark"})
    asked = squad_by(node, scheduler, tactic_rules=asking)
    members = [member for _, member in recruits(node, world, asked, 2)]
    assert asked.split(members[1:], "Gamma").tactic_rules is None
