"""What a StateMachine answers, and takes, while it changes its state."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import NodePath, construct


def made(class_name, parent, name, **settings):
    one = construct(class_name)
    for key, value in {"name": name, **settings}.items():
        one.set(key, value)
    parent.add_child(one)
    return one


@pytest.fixture
def mind(node, scheduler):
    """At peace, idle or on patrol, or hostile: alert."""
    machine = construct("StateMachine")
    machine.set("name", "Mind")
    peace, hostile = made("AIState", machine, "peace"), made("AIState", machine, "hostile")
    idle = made("AIState", peace, "idle")
    made("AIState", peace, "patrol")
    made("AIState", hostile, "alert")
    made("StateTransition", idle, "bored", event="bored", to=NodePath("../../patrol"))
    made("StateTransition", peace, "noise", event="noise", to=NodePath("../../hostile"))
    made("StateTransition", machine, "calm", event="calm", to=NodePath("../peace"), history=2)
    node("Node3D", scheduler, name="Bob").add_child(machine)
    return machine


def test_history_of_a_state_that_is_active_leads_back_to_where_it_is(mind, physics_frames):
    physics_frames(1)
    for event in ("calm", "bored", "calm"):       # the first leaves a record: idle
        mind.send_event(event)
    assert mind.get_state() == "peace/patrol"


def test_a_state_counts_from_its_own_entered_to_its_own_exited(mind, physics_frames):
    seen = []

    def look(path, what):
        seen.append((what, path, mind.get_state(), mind.is_in(path)))

    mind.state_exited.connect(lambda path: look(path, "-"))
    mind.get_node("peace/noise").taken.connect(lambda event, cargo: seen.append((event, mind.get_state())))
    mind.state_entered.connect(lambda path: look(path, "+"))
    physics_frames(1)
    seen.clear()
    mind.send_event("noise")
    assert seen == [
        ("-", "peace/idle", "peace/idle", True), ("-", "peace", "peace", True), ("noise", ""),
        ("+", "hostile", "hostile", True), ("+", "hostile/alert", "hostile/alert", True),
    ]
