"""Many StateMachine nodes: one piece of an AIScheduler's work, which visits those whose states go on by themselves."""
from __future__ import annotations

import gc
import sys

import pytest

from addons.ai_core.bridge.gd import NodePath, construct
from ai_core.budget import Budget
from ai_core.saving.fields import StateError
from ai_core.scheduling.task import Turn

ACTOR = """
    extends Node3D
    var log := []
    func run(elapsed_s: float) -> void: log.append(snappedf(elapsed_s, 0.001))
"""


def below(parent, class_name, name, **settings):
    one = construct(class_name)
    for key, value in {"name": name, **settings}.items():
        one.set(key, value)
    parent.add_child(one)
    return one


@pytest.fixture
def machine(node, scheduler, gdscript):
    """``machine(name)``: rests until "run" or "hit"; runs in each frame until "stop"; is stunned for 0.1 s."""
    script = gdscript(ACTOR)

    def build(name="Bob"):
        character = node("Node3D", scheduler, name=name)
        character.set_script(script)
        made = construct("StateMachine")
        made.set("name", "Mind")
        rest, running, stunned = (
            below(made, "AIState", "rest"), below(made, "AIState", "running", update_method="run"),
            below(made, "AIState", "stunned"))
        below(rest, "StateTransition", "run", event="run", to=NodePath("../../running"))
        below(running, "StateTransition", "stop", event="stop", to=NodePath("../../rest"))
        below(rest, "StateTransition", "hit", event="hit", to=NodePath("../../stunned"))
        below(stunned, "StateTransition", "recover", after=0.1, to=NodePath("../../rest"))
        character.add_child(made)
        return made

    return build


def test_machines_share_one_work_and_waiting_ones_cost_nothing(machine, scheduler, physics_frames):
    machines = [machine(f"Bob{number}") for number in range(5)]
    physics_frames(3)
    [row] = scheduler.get_stats()["behaviors"]
    assert (row["name"], row["runs"]) == ("state machines", 1)
    machines[1].send_event("hit")
    physics_frames(3)
    population = scheduler.update_groups["state machines"].tick_groups[0].population
    assert (population.awake_count, population.is_asleep) == (0, False)
    physics_frames(6)
    assert machines[1].get_state() == "rest"
    assert population.is_asleep
    machines[2].get_parent().free()
    machines[3].set("enabled", False)
    assert machines[3].get_state() == ""
    machines[3].set("enabled", True)
    physics_frames(2)
    assert [one.get_state() for one in machines if one.is_valid()] == ["rest"] * 4


def test_a_quarantined_machine_ignores_events_until_restarted(
    node, scheduler, physics_frames, expect_errors,
):
    visits = []

    class Refusing:
        def state_entered(self, *_):
            visits.append(scheduler.clock.now.frame)
            raise ValueError("on purpose")

    expect_errors("on purpose")
    scheduler.trace.listen(Refusing())
    made = construct("StateMachine")
    one, other = (below(made, "AIState", name) for name in ("one", "other"))
    below(one, "StateTransition", "go", guard_expression="true", to=NodePath("../../other"))
    below(other, "StateTransition", "back", guard_expression="true", to=NodePath("../../one"))
    below(made, "StateTransition", "hit", event="hit", to=NodePath("../other"))
    node("Node3D", scheduler).add_child(made)
    physics_frames(10)
    assert len(visits) == 3
    with pytest.raises(ValueError, match="on purpose"):
        made.send_event("hit")
    physics_frames(2)
    assert len(visits) == 4
    made.restart()
    physics_frames(10)
    assert len(visits) == 7
    made.release_quarantined()
    physics_frames(10)
    assert len(visits) == 10


def test_an_event_into_a_state_that_goes_on_wakes_the_machine(machine, physics_frames):
    mind = machine()
    physics_frames(20)
    mind.send_event("run")
    physics_frames(3)
    mind.send_event("stop")
    physics_frames(3)
    assert mind.get_parent().get("log") == [0.017] * 3


@pytest.mark.parametrize("frames_before", [2, 3])
def test_a_machine_of_every_fourth_frame_is_told_the_true_time(machine, physics_frames, frames_before):
    mind = machine()
    mind.set("period", 4)
    mind.send_event("run")
    physics_frames(12 + frames_before)
    log = mind.get_parent().get("log")
    assert len(log) in (3, 4)
    assert log[1:3] == [0.067, 0.067]


def test_a_save_from_when_each_machine_had_its_own_work_loads(machine, scheduler, physics_frames):
    mind = machine()
    physics_frames(2)
    mind.send_event("run")
    physics_frames(1)
    state = scheduler.save_state()
    [task] = state["parts"]["scheduler"]["tasks"]
    task |= {"name": "Bob/Mind", "work": None}
    mind.send_event("stop")
    assert scheduler.load_state(state)
    assert mind.get_state() == "running"
    physics_frames(2)
    assert mind.get_parent().get("log") == [0.017] * 3


def test_a_machine_asleep_at_loading_continues_where_saved(machine, scheduler, physics_frames):
    mind = machine()
    physics_frames(2)
    mind.send_event("hit")
    physics_frames(3)
    state = scheduler.save_state()
    physics_frames(30)
    assert mind.get_state() == "rest"
    assert scheduler.load_state(state)
    assert mind.get_state() == "stunned"
    physics_frames(2)
    assert mind.get_state() == "stunned"
    physics_frames(3)
    assert mind.get_state() == "rest"


@pytest.mark.parametrize("frames_before", [3, 4])
def test_a_save_loads_into_other_update_groups(
    machine, scheduler, physics_frames, frames_before
):
    def crowd_of(*names):
        made = [machine(name) for name in names]
        for one in made:
            one.set("period", 2)
        return made

    machines = crowd_of("A", "B", "C", "D", "E")
    physics_frames(frames_before)
    for gone in machines[1], machines[3]:
        gone.get_parent().free()
    machines[4].send_event("run")        # it has lived up to now, and the others up to their last turns
    state = scheduler.save_state()
    for gone in machines[::2]:
        gone.get_parent().free()
    machines = crowd_of("A", "C", "E")
    assert scheduler.load_state(state)
    assert [one.get_state() for one in machines] == ["rest", "rest", "running"]


def turns_of(machines):
    return [len(one.get_parent().get("log")) for one in machines]


@pytest.fixture
def together(machine, scheduler, physics_frames):
    """Three machines that have their turns together in every fourth frame, in such a frame."""
    scheduler.set("automatic_phasing", False)
    machines = [machine(name) for name in "ABC"]
    for one in machines:
        one.set("period", 4)
        one.send_event("run")
    physics_frames(4 - scheduler.clock.now.frame % 4)
    return machines


def test_minds_beyond_the_budget_run_in_the_next_frame(
    together, scheduler, physics_frames,
):
    scheduler.update_groups["state machines"](Turn(scheduler.clock.now, 0.0, Budget.of_steps(1)))
    before = turns_of(together)
    physics_frames(1)
    assert turns_of(together) == [before[0], before[1] + 1, before[2] + 1]
    physics_frames(2)
    assert turns_of(together) == [before[0], before[1] + 1, before[2] + 1]
    physics_frames(1)
    assert turns_of(together) == [before[0] + 1, before[1] + 2, before[2] + 2]


def test_who_waits_for_a_turn_as_the_budget_was_spent_is_saved(together, scheduler, physics_frames):
    scheduler.update_groups["state machines"](Turn(scheduler.clock.now, 0.0, Budget.of_steps(2)))
    state = scheduler.save_state()
    physics_frames(4)
    before = turns_of(together)
    assert scheduler.load_state(state)
    physics_frames(1)
    assert turns_of(together) == [*before[:2], before[2] + 1]


def test_a_frame_costs_nothing_for_those_whose_frame_is_another(machine, scheduler, physics_frames):
    calls = []
    for count in (10, 60):
        machines = [machine(f"Bob{number}") for number in range(count)]
        for one in machines:
            one.set("period", count)
            one.send_event("run")
        physics_frames(count)
        seen = []
        gc.disable()        # a collection calls Python functions, too
        sys.setprofile(lambda _frame, event, _what, seen=seen: seen.append(event))
        try:
            scheduler.update_groups["state machines"](Turn(scheduler.clock.now, 0.0, Budget.unlimited()))
        finally:
            sys.setprofile(None)
            gc.enable()
        calls.append(len(seen))
        for one in machines:
            one.get_parent().free()
    assert calls[0] == calls[1]


def test_nodes_that_are_not_in_a_save_come_after_those_that_are(machine, scheduler, physics_frames):
    first, last = machine("First"), machine("Last")
    physics_frames(2)
    crowd = scheduler.update_groups["state machines"]
    state = crowd.save_state()
    state["tick_groups"][0][1]["nodes"] = ["Last/Mind", "Gone/Mind"]
    crowd.prepare_state(state)()
    assert list(crowd.tick_groups[0].population) == [last, first]
    with pytest.raises(StateError, match=r"nodes\[0\].*got 5"):
        crowd.prepare_state({**state, "tick_groups": [[[1, 0], {**state["tick_groups"][0][1], "nodes": [5]}]]})
