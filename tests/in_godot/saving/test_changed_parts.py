"""Saves of habits, states and rules that are others now, as after an update of the game."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import Vector3, construct


def put(made, parent, name, **settings):
    made.set("name", name)
    for key, value in settings.items():
        made.set(key, value)
    parent.add_child(made)
    return made


@pytest.fixture
def scene(nodes_of_test):
    """``scene(parts)``: a character whose habits, states and facts have these names; the one before is gone."""
    made = []

    def build(*parts):
        for one in made:
            one.free()
        top = construct("Node3D")
        top.set("name", "Level")
        made[:] = [nodes_of_test.keep(top, None)]
        put(construct("AIScheduler"), top, "AI", update=2, budget=0.0)
        put(construct("AIEventManager"), top, "Events")
        body = put(construct("Node3D"), top, "Bob")
        for name, kind, part in (("Tree", "HabitTree", "Habit"), ("Machine", "StateMachine", "AIState")):
            brain = construct(kind)
            for one in parts:
                put(construct(part), brain, one)
            put(brain, body, name, **({"values": {"health": 1.0, "new": 3}} if kind == "HabitTree" else {}))
        rules = construct("RuleSet")
        rules.set("facts", dict.fromkeys(parts, 0.0))
        rules.set("rules", "\n".join(f"{one}: {one} -> be_{one}" for one in parts))
        put(construct("RuleMind"), body, "Mind", rule_set=rules)
        top.get_node("AI").step(0.1)
        return top

    return build


KEPT = "; only its settings and blackboard are loaded"


@pytest.mark.parametrize(
    ("parts", "how"),
    [(("Idle", "Chase", "Eat"), "new: {0}Eat"), (("Idle", "Eat"), "new: {0}Eat; gone: {0}Chase"),
     (("Idle",), "gone: {0}Chase")])
def test_changed_habits_begin_with_their_blackboard(scene, expect_errors, parts, how):
    first = scene("Idle", "Chase")
    first.get_node("Bob/Tree").set_value("health", 0.25)
    first.get_node("Bob/Tree").set_value("place", 7)
    first.get_node("Bob/Machine").set_value("place", 8)
    state = first.get_node("AI").save_state()
    second = scene(*parts)
    ai = second.get_node("AI")
    expect_errors("has other habits than in the save", times=2)
    expect_errors("or call load_state(state, true) of the AIScheduler, which loads only its settings and blackboard")
    assert ai.call("load_state", state) is False
    assert ai.call("load_state", state, True) is True
    assert ai.get_left_out()["../Bob/Tree"] == (
        f"has other habits than in the save ({how.format('Tree/')}){KEPT}")
    assert ai.get_left_out()["../Bob/Machine"] == (
        f"has other states than in the save ({how.format('')}){KEPT}")
    tree, machine = second.get_node("Bob/Tree"), second.get_node("Bob/Machine")
    assert [tree.get_value(one) for one in ("health", "place", "new")] == [0.25, 7, 3]
    assert machine.get_value("place") == 8
    ai.step(0.1)
    assert list(tree.get_active_paths()) == ["Tree/Idle"]
    assert ai.call("load_state", ai.save_state()) is True


def test_changed_rules_keep_the_facts_that_still_exist(scene, expect_errors):
    first = scene("Idle", "Chase")
    first.get_node("Bob/Mind").set_fact("Idle", 0.75)
    state = first.get_node("AI").save_state()
    second = scene("Idle", "Eat")
    ai, mind = second.get_node("AI"), second.get_node("Bob/Mind")
    mind.set_fact("Eat", 0.5)
    expect_errors("load_state() left out 3 parts", times=1)
    assert ai.call("load_state", state, True) is True
    assert ai.get_left_out()["../Bob/Mind"] == (
        "has other facts, parameters or rules than in the save (new: fact Eat, fact be_Eat; gone: fact Chase, fact"
        " be_Chase); only those that still exist are loaded")
    assert [mind.get_grade(one) for one in ("Idle", "Eat")] == [0.75, 0.0]


def test_a_fact_that_became_a_parameter_alone_is_left_out(scene, expect_errors):
    first = scene("Idle", "Chase")
    first.get_node("Bob/Mind").set_fact("Idle", 0.75)
    first.get_node("Bob/Mind").set_fact("Chase", 0.5)
    state = first.get_node("AI").save_state()
    second = scene("Idle", "Chase")
    ai, mind = second.get_node("AI"), second.get_node("Bob/Mind")
    rules = mind.get("rule_set")
    rules.set("rules", "be_Idle: Idle -> be_Idle")
    rules.set("facts", {"Idle": 0.0})
    rules.set("parameters", {"Chase": 2.0})
    expect_errors("load_state() left out 1 parts", times=1)
    assert ai.call("load_state", state, True) is True
    assert ai.get_left_out()["../Bob/Mind"] == (
        "has other facts, parameters or rules than in the save (new: parameter Chase; gone: fact Chase, fact be_Chase);"
        " only those that still exist are loaded")
    assert (mind.get_grade("Idle"), mind.get_parameter("Chase")) == (0.75, 2.0)


def tactic_rules(*lines):
    if not lines:
        return None
    made = construct("RuleSet")
    made.set("facts", {"night": 0.5} if FIRE in lines else {})
    made.set("rules", "\n".join(lines))
    return made


FLANK = "flank: met | do flanking, repeats"
AROUND = "around: met | do flanking, repeats"
FIRE = "fire: night | do suppressing_fire, repeats"


@pytest.mark.parametrize(("before", "after", "how"), [
    ([FLANK], [AROUND], "new: rule around; gone: rule flank"),
    ([FLANK], [FLANK, FIRE], "new: fact night, rule fire"), ([FLANK, FIRE], [FLANK], "gone: fact night, rule fire"),
    ([FLANK], [], "gone: rule flank")])
def test_changed_tactic_rules_keep_the_rest_of_a_squad(nodes_of_test, expect_errors, before, after, how):
    top = nodes_of_test.keep(construct("Node3D"), None)
    ai = put(construct("AIScheduler"), top, "AI", update=2, budget=0.0)
    squad = put(construct("Squad"), ai, "Alpha", keep_clear=1, tactic_rules=tactic_rules(*before))
    body = put(construct("Node3D"), top, "Bob")
    put(construct("SquadMember"), body, "Member", squad_path=squad.get_path())
    ai.step(0.1)
    squad.move_to(Vector3(20, 0, 0))
    state = ai.save_state()
    squad.hold()
    squad.set("tactic_rules", tactic_rules(*after))
    expect_errors("has other tactic rules than in the save (", times=2)
    assert ai.call("load_state", state) is False
    assert squad.get_order_state() != "waiting"
    expect_errors("load_state() left out 1 parts", times=1)
    assert ai.call("load_state", state, True) is True
    assert squad.get_order_state() == "waiting"
    [why] = ai.get_left_out().values()
    assert why == (
        f"has other tactic rules than in the save ({how}); only the squad and those of the rules that still exist are"
        " loaded")
    assert ai.call("load_state", ai.save_state()) is True
    state["parts"]["Squad/Alpha"]["state"]["core"]["choice"] = None     # saved without rules: none are lost
    assert ai.call("load_state", state) is True


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [(("blackboard",), [1], "'blackboard' must be a dict"), (("version",), 9, "'version' is 9, and this ai_core"),
     (("settings", "enabled"), 3, "'settings.enabled' must be true or false"), (("more",), 1, "'more' is an unknown"),
     (("scripts",), [], "'scripts' must be a dict")])
@pytest.mark.parametrize("brain", ["Tree", "Machine"])
def test_saves_of_changed_brains_are_checked_whole(scene, expect_errors, brain, place, value, why):
    state = scene("Idle", "Chase").get_node("AI").save_state()
    name = next(one for one in state["parts"] if one.endswith(f"Bob/{brain}"))
    inside = state["parts"][name]["state"]
    if brain == "Tree" and place == ("blackboard",):
        place, why = ("tree", "blackboard"), "'tree.blackboard' must be a dict"
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    second = scene("Idle", "Eat")
    second.get_node(f"Bob/{brain}").set_value("place", 5)
    ai = second.get_node("AI")
    expect_errors("load_state() left out", times=1)
    assert ai.call("load_state", state, True) is True
    assert why in ai.get_left_out()[name]
    assert second.get_node(f"Bob/{brain}").get_value("place") == 5
