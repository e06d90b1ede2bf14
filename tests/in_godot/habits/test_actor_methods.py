"""Methods of the actor that nodes name: what is missing is warned of in the editor, and told in one line in a game."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import NodePath, StringName, construct


def made(class_name, name, **settings):
    one = construct(class_name)
    one.set("name", name)
    for key, value in settings.items():
        one.set(key, value)
    return one


@pytest.fixture
def bob(node, scheduler):
    return node("Node3D", scheduler, name="Bob")


@pytest.fixture
def machine(bob):
    mind, idle, alert = made("StateMachine", "Mind"), made("AIState", "Idle"), made("AIState", "Alert")
    leave = made("StateTransition", "go", event="go", to=NodePath("../../Alert"))
    idle.add_child(leave)
    mind.add_child(idle)
    mind.add_child(alert)
    return mind


@pytest.mark.parametrize("setting", ["enter_method", "update_method", "exit_method"])
def test_a_state_names_a_method_that_is_not_there(machine, bob, physics_frames, expect_errors, setting):
    machine.get_node("Idle").set(setting, StringName("cheer"))
    expect_errors("of Idle': 'Bob' has no method cheer(); add it, or name another method", times=None)
    bob.add_child(machine)
    physics_frames(2)
    machine.send_event("go")
    assert machine.get_state() == "Alert"
    assert "'Bob' has no method cheer(); add it, or name another method" in machine._get_configuration_warnings()


def test_a_transition_names_a_method_that_is_not_there(machine, bob, physics_frames, expect_errors):
    machine.get_node("Idle/go").set("guard_method", StringName("may_go"))
    expect_errors("'go' from 'Idle' (1)': 'Bob' has no method may_go(); add it", times=1)
    bob.add_child(machine)
    physics_frames(2)
    assert machine.send_event("go") is False
    assert "'Bob' has no method may_go(); add it, or name another method" in machine._get_configuration_warnings()


def test_a_rule_names_a_method_that_is_not_there(bob, physics_frames, expect_errors):
    rules = construct("RuleSet")
    rules.set("rules", "flee: always | repeats, do run_away")
    mind = made("RuleMind", "Mind", rule_set=rules)
    expect_errors("rule 'flee'': 'Bob' has no method run_away(); add it", times=3)
    bob.add_child(mind)
    assert "'Bob' has no method run_away(); add it, or name another method" in mind._get_configuration_warnings()
    physics_frames(5)


def test_a_fact_without_a_method_is_named(bob, physics_frames):
    rules = construct("RuleSet")
    rules.set("rules", "flee: target | repeats")
    rules.set("facts", {"target": ""})
    mind = made("RuleMind", "Mind", rule_set=rules)
    mind.set("enabled", False)
    bob.add_child(mind)
    assert "the fact 'target' of the rules names no method; write the name of one of the actor, or a value" in (
        mind._get_configuration_warnings())


def test_a_wrong_transition_hides_no_missing_method(machine, bob):
    machine.get_node("Idle").set("enter_method", StringName("cheer"))
    machine.get_node("Idle/go").set("to", NodePath("../../nowhere"))
    machine.set("enabled", False)
    bob.add_child(machine)
    said = " ".join(machine._get_configuration_warnings())
    assert "has no method cheer()" in said
    assert "to '../../nowhere' is not an AIState" in said


@pytest.mark.parametrize("victim", ["mind", "character"])
@pytest.mark.parametrize("rules", ["flee: always | repeats, do go\nhide: always | repeats, do go",
                                   "flee: near | salience 2, do go\nhide: near | repeats"])
def test_a_rule_may_free_its_mind(node, scheduler, gdscript, physics_frames, rules, victim):
    actor = gdscript("""
        extends Node
        var victim: Node
        func go() -> void: victim.free()
        func near() -> float: return 1.0
    """).new()
    scheduler.add_child(actor)
    character, rule_set = node("Node3D", scheduler), construct("RuleSet")
    rule_set.set("rules", rules)
    rule_set.set("facts", {"near": "near"})
    mind = made("RuleMind", "Mind", rule_set=rule_set, actor=actor.get_path())
    actor.set("victim", {"mind": mind, "character": character}[victim])
    character.add_child(mind)
    physics_frames(3)
    assert not mind.is_valid()


def test_who_runs_in_another_scheduler_cannot_become_manual(node, scheduler, physics_frames, expect_errors):
    inner, heard = node("AIScheduler", scheduler), []
    inner.add_behavior(heard.append)
    expect_errors("update cannot become manual below another AIScheduler", times=1)
    inner.set("update", 2)
    assert inner.update == 1
    physics_frames(2)
    assert len(heard) == 2
