"""Nodes that a script sets up after add_child work once it is done, and say once what they still lack."""
from __future__ import annotations

import pytest

BELL = "extends Node\nsignal rang(how_loud: float, who: Node)"

SET_UP = {
    "SignalEvent": """
        var event := SignalEvent.new()
        manager.add_child(event)
        event.signal_name = "rang"
        event.source = event.get_path_to(bell)
        event.code = "noise"
        """,
    "SenseRegion3D": """
        var region := SenseRegion3D.new()
        scheduler.add_child(region)
        var senses := SenseManager.new()
        scheduler.add_child(senses)
        senses.mode = SenseManager.MODE_GRAPH
        region.boxes = [AABB(Vector3(-5, -1, -5), Vector3(10, 3, 10))]
        """,
    "AIBehavior": """
        var behavior := AIBehavior.new()
        bell.add_child(behavior)
        behavior.method_name = "think"
        """,
    "BehavioralLOD": """
        var lod := BehavioralLOD.new()
        bell.add_child(lod)
        lod.importance_source = 1
        for name in ["Near", "Far"]:
            var level := LODBehavior.new()
            level.name = name
            lod.add_child(level)
            level.lowest = 0.5 if name == "Near" else 0.0
            level.highest = 1.0 if name == "Near" else 0.6
        """,
    "GroupLOD": """
        var group := GroupLOD.new()
        bell.add_child(group)
        group.importance_source = 1
        group.close_at = 0.2
        group.open_at = 0.4
        """,
    "HabitTree": """
        var tree := HabitTree.new()
        scheduler.add_child(tree)
        var wait := HabitWait.new()
        tree.add_child(wait)
        tree.actor = tree.get_path_to(bell)
        wait.condition = "true"
        """,
    "RuleMind": """
        var mind := RuleMind.new()
        bell.add_child(mind)
        var rules := RuleSet.new()
        rules.facts = {"near": 0.0}
        rules.rules = "go: near | repeats"
        mind.rule_set = rules
        """,
    "StateMachine": """
        var machine := StateMachine.new()
        bell.add_child(machine)
        var state := AIState.new()
        state.name = "idle"
        machine.add_child(state)
        var other := AIState.new()
        other.name = "busy"
        machine.add_child(other)
        var go := StateTransition.new()
        state.add_child(go)
        go.event = "go"
        go.to = go.get_path_to(other)
        """,
    "Squad": """
        var squad := Squad.new()
        scheduler.add_child(squad)
        squad.fight_at = 0.5
        squad.retreat_at = 0.4
        squad.wait_at = 3.0
        var body := Node3D.new()
        scheduler.add_child(body)
        var member := SquadMember.new()
        body.add_child(member)
        member.squad_path = member.get_path_to(squad)
        member.speed = 2.0
        """,
    "MapWriter": """
        var place := Node3D.new()
        scheduler.add_child(place)
        var writer := MapWriter.new()
        place.add_child(writer)
        writer.layer = "noise"
        var layer := DecisionLayer.new()
        layer.layer_name = "noise"
        var maps := DecisionMap.new()
        scheduler.add_child(maps)
        maps.layers = [layer]
        """,
}


@pytest.fixture
def bell(gdscript, scheduler):
    made = gdscript(BELL + "\nfunc think(_elapsed_s: float) -> void: pass").new()
    made.set("name", "Bell")
    scheduler.add_child(made)
    return made


@pytest.mark.parametrize("kind", SET_UP)
def test_a_script_sets_it_up_after_add_child(kind, node, scheduler, bell, gdscript, physics_frames):
    manager = node("AIEventManager", scheduler)
    script = gdscript(
        "extends Node\nfunc go(scheduler: Node, manager: Node, bell: Node) -> void:\n"
        + "\n".join("\t" + line[8:].replace("    ", "\t") for line in SET_UP[kind].splitlines() if line.strip())
        + "\n\tpass\n")
    builder = node("Node", scheduler)
    builder.set_script(script)
    builder.call("go", scheduler, manager, bell)
    physics_frames(4)           # a mistake that is reported fails the test
    assert not any(one["faults"] for one in scheduler.get_stats()["behaviors"])
    if kind == "SignalEvent":
        heard = []
        manager.listen("noise", lambda code, arguments: heard.append(code))
        bell.emit_signal("rang", 1.0, None)
        physics_frames(2)
        assert heard == ["noise"]
    elif kind == "BehavioralLOD":
        lod = bell.get_children()[-1]
        lod.importance = 1.0
        physics_frames(30)
        assert lod.get_level() == "Near"
    elif kind == "StateMachine":
        machine = bell.get_children()[-1]
        assert machine.get_state() == "idle"
        assert machine.send_event("go")
    elif kind == "Squad":
        [squad] = [one for one in scheduler.get_children() if one.is_class("Squad")]
        assert len(squad.get_members()) == 1
        assert squad.fight_at == 0.5


@pytest.mark.parametrize(("kind", "settings", "words"), [
    ("SignalEvent", {}, "signal_name is empty"),
    ("AIBehavior", {}, "has no method"),
    ("RuleMind", {}, "has no rule_set and does nothing"),
    ("StateMachine", {}, "has no AIState below it and does nothing"),
    ("BehavioralLOD", {}, "has no LODBehavior below it and does nothing"),
    ("SenseRegion3D", {}, "found no SenseManager"),
    ("MapWriter", {}, "found no DecisionMap and writes nothing"),
    ("SquadMember", {}, "found no Squad and belongs to none"),
])
def test_what_stays_wrong_is_said_once(kind, settings, words, node, scheduler, physics_frames, expect_errors):
    above = node("AIEventManager", scheduler) if kind == "SignalEvent" else node("Node3D", scheduler)
    expect_errors(words, times=1)
    node(kind, above, **settings)
    physics_frames(20)


def test_a_state_that_comes_later_is_part_of_the_machine(node, scheduler, physics_frames):
    machine = node("StateMachine", node("Node3D", scheduler), name="Mind")
    idle = node("AIState", machine, name="idle")
    physics_frames(3)
    assert machine.get_state() == "idle"
    alarm = node("AIState", machine, name="alarm")
    go = node("StateTransition", idle, event="noise")
    go.to = go.get_path_to(alarm)
    physics_frames(3)
    assert machine.get_state() == "idle"              # what is active stays active
    assert machine.send_event("noise")
    assert machine.get_state() == "alarm"


def test_an_event_that_no_transition_names_is_one_warning(node, scheduler, physics_frames, expect_errors):
    machine = node("StateMachine", node("Node3D", scheduler), name="Mind")
    idle, alarm = node("AIState", machine, name="idle"), node("AIState", machine, name="alarm")
    go = node("StateTransition", idle, event="noise")
    go.to = go.get_path_to(alarm)
    physics_frames(3)
    expect_errors("send_event(): unknown event of 'Mind' 'nois'; did you mean 'noise'? No transition", times=1)
    assert [machine.send_event("nois") for _ in range(5)] == [False] * 5
    assert machine.send_event("noise")
    assert machine.send_event("noise") is False       # nobody waits for it here: that is no mistake
