"""Settings that handlers change while a node leaves the tree: it stays gone, and the others go on."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import PackedStringArray, construct

STATE = """
    extends AIState
    var updates := 0
    func _update(_seconds: float) -> void: updates += 1
    func _exit() -> void:
        var machine: Node = get_parent()
        if machine.has_meta("change"): machine.set(machine.get_meta("change"), machine.get_meta("to"))
"""


@pytest.mark.parametrize(("setting", "value"), [("period", 1), ("period", 4), ("priority", 2.0), ("enabled", False)])
@pytest.mark.parametrize("is_freed", [True, False])
def test_a_machine_that_leaves_stops_no_other(node, scheduler, gdscript, physics_frames, setting, value, is_freed):
    script, states, bodies = gdscript(STATE), [], []
    for number in range(4):
        machine, body = construct("StateMachine"), construct("Node3D")
        states.append(script.new())
        machine.add_child(states[-1])
        if not number:
            machine.period = 2
            machine.set_meta("change", setting)
            machine.set_meta("to", value)
        body.add_child(machine)
        scheduler.add_child(body)
        bodies.append(body)
    physics_frames(6)
    if is_freed:
        bodies[0].free()
    else:
        scheduler.remove_child(bodies[0])
    before = [one.get("updates") for one in states[1:]]
    physics_frames(20)
    assert [one.get("updates") - count for one, count in zip(states[1:], before, strict=True)] == [20] * 3
    assert scheduler.load_state(scheduler.save_state())
    if not is_freed:
        bodies[0].free()


@pytest.mark.parametrize(("setting", "value"), [("speed", 9.0), ("roles", PackedStringArray(["scout"]))])
def test_a_lost_member_does_not_join_again(node, world, scheduler, physics_frames, setting, value):
    squad = node("Squad", scheduler)
    bodies = [node("Node3D", world) for _ in range(3)]
    for body in bodies:
        node("SquadMember", body, squad_path=squad.get_path())
    physics_frames(2)
    squad.connect("member_lost", lambda member: member.set(setting, value))
    bodies[0].free()
    physics_frames(2)
    assert len(squad.get_members()) == 2
    assert scheduler.load_state(scheduler.save_state())
