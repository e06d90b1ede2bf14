"""Random lives of StateMachine nodes: from a save they go on as they did."""
from __future__ import annotations

import random
from functools import partial

import pytest

from addons.ai_core.bridge.gd import NodePath, construct
from ai_core.budget import Budget
from ai_core.scheduling.task import Turn
from tests.in_godot.saving.lives import PAUSED, assert_they_go_on

ACTOR = """
    extends Node3D
    var log := []
    func run(elapsed_s: float) -> void: log.append(snappedf(elapsed_s, 0.001))
    func come() -> void: log.append("came")
    func _save_state() -> Variant: return log
    func _load_state(state: Variant) -> void: log = state
"""
NAMES = "abcd"
SEEDS = (13, 17, 20, 60, 72, 83, 87, 93, 112, 121, 0, 1)      # most went on otherwise when paces were not saved


def below(parent, class_name, name, **settings):
    one = construct(class_name)
    for key, value in {"name": name, **settings}.items():
        one.set(key, value)
    parent.add_child(one)
    return one


def random_machine(chance):
    """Four states, led between by times and by the events x and y."""
    machine = construct("StateMachine")
    machine.set("name", "Mind")
    machine.set("period", chance.choice([1, 1, 2, 3, 5]))
    for name in NAMES:
        state = below(
            machine, "AIState", name, update_method="run" if chance.random() < 0.3 else "",
            enter_method="come" if chance.random() < 0.5 else "")
        for event in chance.sample(["x", "y", ""], chance.randint(1, 3)):
            by = {"event": event} if event else {"after": chance.choice([0.05, 0.1, 0.23])}
            below(state, "StateTransition", f"by_{event}", to=NodePath(f"../../{chance.choice(NAMES)}"), **by)
    for event, name in ("x", "a"), ("y", "b"):
        below(machine, "StateTransition", f"ever_{event}", event=event, to=NodePath(f"../{name}"))
    return machine


@pytest.fixture
def world(node, gdscript):
    """``world(chance, scheduler)``: some machines, each of a character whose log is saved."""
    script = gdscript(ACTOR)

    def build(chance, scheduler):
        scheduler.set("automatic_phasing", chance.random() < 0.5)
        machines = [random_machine(chance) for _ in range(chance.randint(1, 6))]
        for number, machine in enumerate(machines):
            character = node("Node3D", scheduler, name=f"C{number}")
            character.set_script(script)
            character.add_to_group("ai_saved")
            character.add_child(machine)
        return machines

    return build


def something_happens(chance, scheduler, machines):
    machine, dice = chance.choice(machines), chance.random()
    character = machine.get_parent()
    if dice < 0.3:
        machine.send_event(chance.choice("xy"))
    elif dice < 0.36:
        machine.set("enabled", not machine.get("enabled"))
    elif dice < 0.4:
        character.set("process_mode", 0 if character.get("process_mode") else PAUSED)
    elif dice < 0.43:
        machine.restart()
    elif dice < 0.44:
        machine.set("period", chance.choice([1, 2, 3]))
    elif dice < 0.47:
        machine.set("priority", chance.choice([1.0, 2.0]))
    elif dice < 0.5 and "state machines" in scheduler.update_groups:     # one more turn, with little time
        turn = Turn(scheduler.clock.now, 0.0, Budget.of_steps(chance.randint(1, 3)))
        scheduler.update_groups["state machines"](turn)


def lived(physics_frames, scheduler, machines, chance, frames):
    """Return what happened in so many frames, in each of which something may happen to somebody."""
    diary = []
    for _ in range(frames):
        something_happens(chance, scheduler, machines)
        physics_frames(1)
        diary.append([
            (one.get_state(), round(one.get_time_in_state(), 6), list(one.get_parent().get("log")))
            for one in machines])
    return diary


# Most of these went on otherwise when it was not saved who slept.
@pytest.mark.parametrize("seed", SEEDS)
def test_machines_go_on_from_a_save_as_they_did(world, node, scheduler, physics_frames, seed):
    def build_anew():
        again = node("AIScheduler", budget=0.0)
        return again, world(random.Random(seed), again)

    chance = random.Random(seed)
    assert_they_go_on(
        seed, chance, scheduler, world(chance, scheduler), build_anew, partial(lived, physics_frames),
        lambda machines: [one.get_parent() for one in machines])
