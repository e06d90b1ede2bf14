"""StateMachine, AIState and StateTransition: machines built of nodes, run by the AIScheduler."""
from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import NodePath, RefusedValue, construct

ACTOR = """
    extends Node3D
    var health := 1.0
    var hears_m := 10.0
    var log := []
    func is_armed() -> bool: return health > 0.5
    func draw() -> void: log.append("draw")
    func run(elapsed_s: float) -> void: log.append(snappedf(elapsed_s, 0.001))
"""


@pytest.fixture
def bob(node, scheduler, gdscript):
    character = node("Node3D", scheduler, name="Bob")
    character.set_script(gdscript(ACTOR))
    return character


def made(class_name, parent, name, script=None, **settings):
    one = script.new() if script is not None else construct(class_name)
    one.set("name", name)
    for key, value in settings.items():
        one.set(key, value)
    parent.add_child(one)
    return one


@pytest.fixture
def guard(bob):
    """``guard(**settings)``: peace (idle, patrol), hostile (alert, combat), stunned; not in the tree yet."""
    machines = []

    def build(**settings):
        machine = construct("StateMachine")
        machine.set("name", "Mind")
        for key, value in settings.items():
            machine.set(key, value)
        peace, hostile, stunned = (made("AIState", machine, name) for name in ("peace", "hostile", "stunned"))
        idle = made("AIState", peace, "idle")
        made("AIState", peace, "patrol")
        made("AIState", hostile, "alert")
        made("AIState", hostile, "combat", enter_method="draw")
        made("StateTransition", idle, "bored", event="bored", to=NodePath("../../patrol"))
        made("StateTransition", peace, "noise", event="noise", to=NodePath("../../hostile"),
             guard_expression="payload < hears_m")
        made("StateTransition", hostile, "see", event="see", to=NodePath("../combat"))
        made("StateTransition", hostile, "calm", event="calm", to=NodePath("../../peace"), history=2)
        made("StateTransition", machine, "hit", event="hit", to=NodePath("../stunned"))
        made("StateTransition", stunned, "recover", after=0.1, target=1)
        machines.append(weakref.ref(machine))
        return machine

    yield build
    for made_before in machines:
        machine = made_before()
        if machine is not None and machine.is_valid() and not machine.is_inside_tree():
            machine.free()


@pytest.fixture
def mind(guard, bob):
    machine = guard()
    bob.add_child(machine)
    return machine


def test_a_state_may_free_its_character(guard, bob, gdscript, physics_frames):
    machine = guard()
    machine.get_node("peace/patrol").set_script(gdscript(
        "extends AIState\nfunc _enter() -> void: get_actor().free()"))
    bob.add_child(machine)
    physics_frames(2)
    machine.send_event("bored")
    physics_frames(1)
    assert not machine.is_valid()


def test_freed_machine_leaves_no_reference_cycle(guard, bob, gdscript, physics_frames):
    machine = guard()
    machine.get_node("peace/patrol").set_script(gdscript("extends AIState\nfunc _enter() -> void: pass"))
    bob.add_child(machine)
    physics_frames(2)
    assert machine.send_event("bored")
    nodes = [machine, *machine.find_children("*", "AIState", True, False),
             *machine.find_children("*", "StateTransition", True, False)]
    gone, kept = [weakref.ref(one) for one in (machine.core, *nodes)], weakref.ref(machine.core.definition)
    assert len(gone) == 15
    gc.disable()
    machine.free()
    nodes.clear()
    del machine
    left = [one() for one in gone if one() is not None]
    gc.enable()
    assert left == []
    gc.collect()
    assert kept() is not None, "the definition has cycles, and is kept for the next machine"


def test_it_begins_in_its_first_frame_and_goes_where_events_lead(mind, physics_frames, signals):
    entered, exited = signals(mind, "state_entered"), signals(mind, "state_exited")
    assert mind.get_state() == ""
    physics_frames(1)
    assert mind.get_state() == "peace/idle"
    assert mind.send_event("bored") is True
    assert mind.send_event("bored") is False
    assert mind.send_event("noise", 25.0) is False
    assert mind.send_event("noise", 5.0) is True
    assert (mind.get_state(), mind.is_in("hostile"), mind.is_in("peace")) == ("hostile/alert", True, False)
    assert [path for (path,) in entered] == ["peace", "peace/idle", "peace/patrol", "hostile", "hostile/alert"]
    assert [path for (path,) in exited] == ["peace/idle", "peace/patrol", "peace"]


def test_time_and_history_lead_back(mind, bob, physics_frames):
    physics_frames(1)
    for event, payload in (("bored", None), ("noise", 5.0), ("see", None), ("hit", None)):
        mind.send_event(event, payload)
    assert mind.get_state() == "stunned"
    physics_frames(5)
    assert mind.get_state() == "stunned"
    physics_frames(4)
    assert mind.get_state() == "hostile/combat"
    assert bob.get("log") == ["draw", "draw"]
    mind.send_event("calm")
    assert mind.get_state() == "peace/patrol"
    assert mind.get_previous_state() == "hostile/combat"


def test_scripts_of_states_and_methods_of_the_actor_are_called(bob, node, gdscript, physics_frames, signals):
    walk = gdscript("""
        extends AIState
        var log := []
        func _enter() -> void: log.append("enter " + get_machine().get_event())
        func _update(elapsed_s: float) -> void: log.append(elapsed_s > 0.0)
        func _exit() -> void: log.append("exit %s %s" % [get_machine().get_payload(), get_actor().name])
    """)
    machine = construct("StateMachine")
    rest = made("AIState", machine, "rest", update_method="run", emit_updated=True)
    made("AIState", machine, "walk", script=walk)
    made("StateTransition", rest, "go", event="go", to=NodePath("../../walk"))
    made("StateTransition", machine.get_node("walk"), "stop", event="stop", to=NodePath("../../rest"))
    updated = signals(rest, "updated")
    bob.add_child(machine)
    physics_frames(2)
    assert bob.get("log") == [0.017, 0.017]
    assert len(updated) == 2
    machine.send_event("go")
    physics_frames(2)
    machine.send_event("stop", 7)
    assert machine.get_node("walk").get("log") == ["enter go", True, True, "exit 7 Bob"]
    assert (rest.is_active(), machine.get_node("walk").is_active()) == (True, False)


def test_guards_are_expressions_methods_callables_and_scripts(bob, gdscript, physics_frames):
    careful = gdscript("""
        extends StateTransition
        var allowed := false
        func _is_allowed() -> bool: return allowed
    """)
    machine = construct("StateMachine")
    rest, fight = made("AIState", machine, "rest"), made("AIState", machine, "fight")
    to, back = NodePath("../../fight"), NodePath("../../rest")
    made("StateTransition", rest, "a", event="a", to=to, guard_expression="is_armed() and courage > 0.5")
    made("StateTransition", rest, "b", event="b", to=to, guard_method="is_armed")
    script = made("StateTransition", rest, "c", script=careful, event="c", to=to)
    called = made("StateTransition", rest, "d", event="d", to=to)
    made("StateTransition", fight, "back", event="back", to=back)
    machine.set_value("courage", 0.2)
    bob.add_child(machine)
    physics_frames(1)
    answer = []
    called.set_guard(lambda: bool(answer))
    lines = [one.strip() for one in machine.get_transitions_text().splitlines()]
    assert lines[lines.index("rest (initial)") + 1:lines.index("fight")] == [
        "a -> fight if is_armed() and courage > 0.5", "b -> fight if is_armed()", "c -> fight if _is_allowed()",
        "d -> fight if its Callable"]
    assert lines[-1] == "back -> rest"
    assert [machine.send_event(event) for event in "acd"] == [False] * 3
    machine.set_value("courage", 0.9)
    assert [machine.send_event(event) for event in ("a", "back", "b", "back")] == [True] * 4
    bob.set("health", 0.1)
    assert [machine.send_event(event) for event in "ab"] == [False] * 2
    script.set("allowed", True)
    answer.append("yes")
    assert [machine.send_event(event) for event in ("c", "back", "d")] == [True] * 3


def test_an_eventless_transition_is_taken_when_its_guard_passes(bob, physics_frames, signals):
    machine = construct("StateMachine")
    rest, tired = made("AIState", machine, "rest"), made("AIState", machine, "flee")
    way = made("StateTransition", rest, "weak", to=NodePath("../../flee"), guard_expression="health < 0.3")
    taken = signals(way, "taken")
    bob.add_child(machine)
    physics_frames(3)
    assert machine.get_state() == "rest"
    bob.set("health", 0.2)
    physics_frames(1)
    assert tired.is_active()
    assert taken == [("", None)]


def test_what_only_waits_for_events_is_not_visited(bob, scheduler, physics_frames):
    machine = construct("StateMachine")
    rest = made("AIState", machine, "rest")
    made("AIState", machine, "walk")
    made("StateTransition", rest, "go", event="go", to=NodePath("../../walk"))
    bob.add_child(machine)
    physics_frames(10)
    assert [row["runs"] for row in scheduler.get_stats()["behaviors"]] == [1]
    assert machine.send_event("go")
    machine.restart()
    assert machine.get_state() == ""
    physics_frames(1)
    assert machine.get_state() == "rest"


def test_characters_whose_nodes_say_the_same_share_a_definition(guard, node, scheduler, physics_frames):
    first, second, other = guard(), guard(), guard(initial_state=NodePath("stunned"))
    for machine in (first, second, other):
        node("Node3D", scheduler).add_child(machine)
    assert first.core.definition is second.core.definition
    assert first.core.definition is not other.core.definition
    physics_frames(1)
    second.send_event("bored")
    assert (first.get_state(), second.get_state(), other.get_state()) == ("peace/idle", "peace/patrol", "stunned")


def test_states_change_while_it_runs(mind, physics_frames):
    physics_frames(1)
    sleep = made("AIState", mind, "sleep")
    made("StateTransition", mind.get_node("peace/idle"), "doze", event="doze", to=NodePath("../../../sleep"))
    mind.rebuild()
    assert mind.get_state() == "peace/idle"
    assert mind.send_event("doze")
    assert sleep.is_active()
    mind.get_node("peace/idle/doze").free()
    sleep.free()
    mind.rebuild()
    physics_frames(1)
    assert mind.get_state() == "peace/idle"


def test_it_is_loaded_where_it_was_saved(mind, scheduler, physics_frames, signals):
    physics_frames(1)
    mind.set_value("alarm", 3)
    for event, payload in (("bored", None), ("noise", 5.0), ("hit", None)):
        mind.send_event(event, payload)
    physics_frames(3)
    saved = scheduler.save_state()
    physics_frames(20)
    mind.set_value("alarm", 4)
    mind.send_event("calm")
    entered = signals(mind, "state_entered")
    assert scheduler.load_state(saved)
    assert (mind.get_state(), mind.get_value("alarm"), entered) == ("stunned", 3, [])
    physics_frames(5)
    assert mind.get_state() == "hostile/alert"
    mind.send_event("calm")
    assert mind.get_state() == "peace/patrol"


def test_the_text_shows_what_is_active_and_what_it_waits_for(mind, physics_frames):
    physics_frames(1)
    assert "* idle: for 0.00 s, start; waits for bored, noise, hit" in mind.to_text()
    assert "noise -> hostile" in mind.get_transitions_text()
    assert sorted(mind.get_events()) == ["bored", "calm", "hit", "noise", "see"]


def test_disabling_leaves_every_state(mind, physics_frames, signals):
    physics_frames(1)
    exited = signals(mind, "state_exited")
    mind.enabled = False
    assert exited == [("peace/idle",), ("peace",)]
    assert mind.send_event("hit") is False
    mind.enabled = True
    physics_frames(1)
    assert mind.get_state() == "peace/idle"


def test_an_event_nobody_waits_for_is_a_misspelling(mind, physics_frames, expect_errors):
    physics_frames(1)
    expect_errors("event of 'Mind' 'nois'", times=1)
    mind.call("send_event", "nois")


def test_a_guard_that_cannot_be_answered_is_named_and_says_no(mind, bob, physics_frames, expect_errors):
    physics_frames(1)
    expect_errors("'payload < hears_m' cannot be evaluated", times=1)
    assert mind.send_event("noise", "loud") is False
    assert mind.get_state() == "peace/idle"


WRONG = {
    "has no AIState below it": {},
    "is not an AIState; choose the target state": {"event": "go"},
    "has no event, no after and no guard": {"target": 1},
    "cannot parse 'health <'": {"event": "go", "target": 1, "guard_expression": "health <"},
    "cannot parse 'is_armed() and' at the end: nothing follows 'and'": {
        "event": "go", "target": 1, "guard_expression": "is_armed() and"},
}


@pytest.mark.parametrize("message", WRONG)
def test_a_machine_that_cannot_work_says_why(message, bob, expect_errors, frames):
    machine = construct("StateMachine")
    if WRONG[message]:
        made("StateTransition", made("AIState", machine, "rest"), "way", **WRONG[message])
    expect_errors(message, times=1)
    bob.add_child(machine)
    frames(1)


def test_a_machine_added_before_its_states_starts_with_them(bob, physics_frames):
    machine = construct("StateMachine")
    bob.add_child(machine)
    made("AIState", machine, "rest")
    physics_frames(2)
    assert machine.get_state() == "rest"


def test_a_state_that_nothing_leads_to_is_warned_of(bob, physics_frames):
    machine = construct("StateMachine")
    made("AIState", machine, "rest")
    made("AIState", machine, "lost")
    bob.add_child(machine)
    warnings = list(machine._get_configuration_warnings())
    assert warnings == [
        "state 'lost' is never active: it is not initial, and no transition leads to it; add a transition"]


def test_the_page_is_true(guard, node, scheduler, gdscript, physics_frames):
    page = (Path(__file__).parents[3] / "docs" / "godot" / "state_machines.md").read_text(encoding="utf-8")
    [script] = re.findall(r"```gdscript\n(.*?)```", page, re.DOTALL)
    character = gdscript(script).new()
    machine = construct("StateMachine")
    machine.set("name", "StateMachine")
    peace = made("AIState", machine, "Peace")
    stunned = made("AIState", machine, "Stunned")
    made("StateTransition", peace, "noise", event="noise", to=NodePath("../../Stunned"),
         guard_expression="payload < hears_m")
    made("StateTransition", stunned, "recover", after=2.0, target=1)
    character.add_child(machine)
    scheduler.add_child(character)
    physics_frames(1)
    character.call("hear", 25.0)
    character.call("hear", 5.0)
    assert character.get("story") == ["Peace", "Stunned", "falls down"]
    physics_frames(125)
    assert character.get("story")[3:] == ["Peace"]


def test_a_state_that_is_freed_by_who_is_told_of_it_is_no_fault(guard, bob, scheduler):
    machine = guard()
    bob.add_child(machine)
    scheduler.step()
    stunned = machine.get_node("stunned")
    stunned.set("enter_method", "draw")
    machine.rebuild()
    machine.connect("state_entered", lambda path: stunned.free() if path == "stunned" else None)
    assert machine.send_event("hit")
    assert not stunned.is_valid()
    assert "stunned" in machine.to_text()
    scheduler.step()
    assert bob.get("log") == []


def test_time_in_a_state_pauses_with_a_disabled_character(guard, bob, scheduler, physics_frames):
    machine = guard()
    bob.add_child(machine)
    physics_frames(1)
    machine.send_event("hit")              # stunned for 0.1 s: 6 frames
    physics_frames(3)
    bob.process_mode = 4
    physics_frames(20)
    assert machine.get_time_in_state() == pytest.approx(3 / 60, abs=0.02)
    state = scheduler.save_state()
    physics_frames(20)
    assert scheduler.load_state(state)
    physics_frames(20)
    bob.process_mode = 0
    physics_frames(2)
    assert machine.get_state() == "stunned"
    physics_frames(5)
    assert machine.get_state() == "peace/idle"


def test_a_state_entered_while_disabled_begins_when_enabled(guard, bob, physics_frames):
    machine = guard()
    bob.add_child(machine)
    physics_frames(1)
    bob.process_mode = 4
    physics_frames(10)
    machine.send_event("hit")
    physics_frames(20)
    bob.process_mode = 0
    physics_frames(2)
    assert machine.get_state() == "stunned"
    physics_frames(6)
    assert machine.get_state() == "peace/idle"


def test_a_transition_added_in_vain_is_told_in_one_line(mind):
    idle = mind.get_node("peace/idle")
    made("StateTransition", idle, "first", event="whistle", to=NodePath("../../patrol"))
    made("StateTransition", idle, "second", event="whistle", to=NodePath("../../../stunned"))
    with pytest.raises(RefusedValue, match="is never taken: the earlier one"):
        mind.rebuild()
    idle.get_node("second").free()
    mind.rebuild()
    assert mind.send_event("whistle")
    assert mind.get_state() == "peace/patrol"
