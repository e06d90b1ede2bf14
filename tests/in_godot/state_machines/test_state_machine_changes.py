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


def test_history_of_an_active_state_leads_back_to_it(mind, physics_frames):
    physics_frames(1)
    for event in ("calm", "bored", "calm"):       # the first leaves a record: idle
        mind.send_event(event)
    assert mind.get_state() == "peace/patrol"


def test_a_state_counts_from_its_own_entered_to_its_own_exited(mind, physics_frames):
    seen = []

    def look(path, what):
        seen.append((what, path, mind.get_state(), mind.is_in(path)))

    mind.state_exited.connect(lambda path: look(path, "-"))
    mind.get_node("peace/noise").taken.connect(lambda event, payload: seen.append((event, mind.get_state())))
    mind.state_entered.connect(lambda path: look(path, "+"))
    physics_frames(1)
    seen.clear()
    mind.send_event("noise")
    assert seen == [
        ("-", "peace/idle", "peace/idle", True), ("-", "peace", "peace", True), ("noise", ""),
        ("+", "hostile", "hostile", True), ("+", "hostile/alert", "hostile/alert", True),
    ]


LISTENER = """
    extends Node3D
    var answers := []
    func rebuild_at(machine: StateMachine, signals: Array) -> void:
        for one in signals: machine.connect(one, func(_path) -> void: again(machine))
    func again(machine: StateMachine) -> void:
        machine.rebuild()
        answers.append(machine.get_events())
    func grow_at(machine: StateMachine, path: NodePath) -> void:
        machine.state_entered.connect(func(_path) -> void: grow(machine, path))
    func grow(machine: StateMachine, path: NodePath) -> void:
        if machine.has_node("hostile/doze"): return
        var way := StateTransition.new()
        way.name = "doze"
        way.event = "doze"
        way.to = path
        machine.get_node("hostile").add_child(way)
        again(machine)
"""


@pytest.fixture
def bob(mind, gdscript):
    character = mind.get_parent()
    character.set_script(gdscript(LISTENER))
    return character


def test_a_rebuild_inside_a_transition_is_done_when_that_is_over(mind, bob, physics_frames):
    physics_frames(1)
    bob.call("grow_at", mind, NodePath("../../peace"))
    assert mind.send_event("noise")
    assert "doze" not in [*bob.get("answers")[0]]
    assert mind.get_state() == "hostile/alert"
    assert mind.send_event("doze")
    assert mind.get_state() == "peace/idle"


@pytest.mark.parametrize("ends", ["machine", "character", "level"])
@pytest.mark.parametrize("signals", [["state_exited"], ["state_entered"], ["state_entered", "state_exited"]])
def test_who_rebuilds_at_each_change_may_free_it(mind, bob, scheduler, physics_frames, signals, ends):
    bob.call("rebuild_at", mind, signals)
    physics_frames(2)
    for event in ("bored", "noise", "calm"):
        assert mind.send_event(event)
    assert mind.get_state() == "peace/patrol"
    mind.set("enabled", False)
    mind.set("enabled", True)
    physics_frames(2)
    assert mind.get_state() == "peace/idle"
    assert len(bob.get("answers")) >= 6
    {"machine": mind, "character": bob, "level": scheduler}[ends].free()
    physics_frames(1)
    assert not mind.is_valid()


def test_what_cannot_be_rebuilt_goes_on_as_it_was(mind, bob, physics_frames, expect_errors):
    expect_errors("keeps its previous states: transition 'hostile/doze' to '../nowhere' is not an AIState", times=1)
    physics_frames(1)
    bob.call("grow_at", mind, NodePath("../nowhere"))
    mind.send_event("noise")
    assert mind.send_event("calm")
    assert mind.get_state() == "peace/idle"


def test_a_guard_may_be_set_inside_a_transition(mind, physics_frames):
    physics_frames(1)
    mind.state_entered.connect(lambda path: mind.get_node("calm").set_guard(lambda: False))
    mind.send_event("noise")
    assert mind.send_event("calm") is False


def test_the_saved_path_may_vanish_and_the_machine_stays(mind, physics_frames):
    physics_frames(1)
    for event in ("bored", "noise"):
        mind.send_event(event)
    assert mind.get_previous_state() == "peace/patrol"
    mind.get_node("peace/idle/bored").free()
    mind.get_node("peace/patrol").free()
    mind.rebuild()
    assert (mind.get_state(), mind.get_previous_state()) == ("hostile/alert", "")
    mind.send_event("calm")
    assert mind.get_state() == "peace/idle"


def test_a_guard_without_its_value_is_false_with_one_warning(mind, physics_frames, expect_errors):
    expect_errors("transition 'peace/noise': 'hears_m' is neither a value of the blackboard", times=1)
    mind.get_node("peace/noise").set("guard_expression", "hears_m > 3")
    mind.rebuild()
    physics_frames(1)
    assert [mind.send_event("noise") for _ in range(5)] == [False] * 5
    mind.set_value("hears_m", 5)
    assert mind.send_event("noise")


def test_freed_states_and_transitions_are_gone_without_a_call(mind, physics_frames):
    physics_frames(1)
    mind.get_node("peace/idle/bored").free()
    mind.get_node("peace/patrol").queue_free()
    physics_frames(1)
    assert [*mind.get_events()] == ["noise", "calm"]
    assert "patrol" not in mind.to_text()
    assert mind.get_state() == "peace/idle"


def test_a_machine_without_its_active_state_starts_again(mind, physics_frames):
    physics_frames(1)
    mind.send_event("noise")
    mind.get_node("peace/noise").free()
    mind.get_node("hostile").free()
    physics_frames(1)
    assert mind.get_state() == "peace/idle"


def test_a_freed_state_is_in_no_save(mind, scheduler, physics_frames):
    physics_frames(1)
    mind.get_node("peace/idle/bored").free()
    mind.get_node("peace/patrol").free()
    state = scheduler.save_state()
    physics_frames(1)
    assert state
    assert "patrol" not in str(state)
    assert scheduler.load_state(state)


def test_a_freed_target_is_named_and_saves_go_on(mind, scheduler, physics_frames, expect_errors):
    expect_errors("keeps its previous states: transition 'peace/noise' to '../../hostile' is not an AIState", times=1)
    physics_frames(1)
    mind.get_node("hostile").free()
    assert scheduler.save_state()
    physics_frames(2)
    assert scheduler.save_state()


def test_a_name_much_like_an_event_is_only_warned_of(node, scheduler, physics_frames, expect_errors):
    expect_errors("waits for 'target_gaind', which is no event of a sensor", times=1)
    machine = construct("StateMachine")
    made("AIState", machine, "calm")
    made("AIState", machine, "alarmed")
    made("StateTransition", machine.get_node("calm"), "see", event="target_gaind", to=NodePath("../../alarmed"))
    node("Node3D", scheduler).add_child(machine)
    physics_frames(2)
    assert machine.send_event("target_gaind")
    assert machine.get_state() == "alarmed"


def test_a_method_with_other_arguments_is_one_line(node, scheduler, gdscript, physics_frames, expect_errors):
    actor = node("Node3D", scheduler, name="Bob")
    actor.set_script(gdscript("extends Node3D\nfunc run(): pass\nfunc begin(_what): pass"))
    expect_errors("run() of 'Bob' is called with 1 argument: too many arguments, it takes 0", times=3)
    expect_errors("begin() of 'Bob' is called with no arguments: too few arguments, it needs 1", times=1)
    machine = construct("StateMachine")
    made("AIState", machine, "calm", update_method="run", enter_method="begin")
    actor.add_child(machine)
    physics_frames(5)


@pytest.mark.parametrize("setting", ["priority = 2.0", "period = 4", "enabled = false", "enabled = true"])
def test_a_machine_that_leaves_joins_nothing_again(node, scheduler, gdscript, physics_frames, setting):
    machines, script = [], gdscript(f"extends AIState\nfunc _exit() -> void: get_machine().{setting}")
    for _ in range(2):
        machine, state = construct("StateMachine"), script.new()
        state.set("name", "fight")
        machine.add_child(state)
        made("StateTransition", state, "bored", after=0.5, target=2)
        node("Node3D", scheduler).add_child(machine)
        machines.append(machine)
    physics_frames(2)
    machines[0].get_parent().free()
    taken = []
    machines[1].get_node("fight/bored").taken.connect(lambda event, payload: taken.append(event))
    physics_frames(60)
    assert taken
    assert scheduler.save_state()
