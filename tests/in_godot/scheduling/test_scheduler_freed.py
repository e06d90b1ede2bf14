"""An AIScheduler is freed: what ran under it and stays runs under another one, or says once that there is none."""
from __future__ import annotations

import weakref

import pytest

from addons.ai_core.bridge.gd import construct

CHARACTER = """
    extends Node3D
    var thoughts := 0
    var heard := 0
    func think(_elapsed_s: float) -> void: thoughts += 1
    func hear(_code: String, _arguments: Array) -> void: heard += 1
"""


@pytest.fixture
def world(node):
    """Where schedulers stand beside each other; the first in the tree is found."""
    return node("Node3D")


@pytest.fixture
def character(gdscript, world):
    made = gdscript(CHARACTER).new()
    world.add_child(made)
    return made


def thinking(node, character):
    """Return what says how much was done so far, and gives it something to do."""
    node("AIBehavior", character, period=1)
    return lambda: character.get("thoughts")


def hearing(node, character):
    """The same of an AIEventManager."""
    manager = node("AIEventManager", character)
    manager.listen("alarm", character.hear)

    def heard():
        manager.send("alarm")
        return character.get("heard")

    return heard


WAYS = {"AIBehavior": thinking, "AIEventManager": hearing}


@pytest.mark.parametrize("begin", WAYS.values(), ids=list(WAYS))
def test_who_stays_runs_under_another_from_the_next_frame_on(node, world, gdscript, physics_frames, begin):
    first, second = node("AIScheduler", world), node("AIScheduler", world)
    character = gdscript(CHARACTER).new()
    world.add_child(character)
    done = begin(node, character)
    assert done() == 0
    physics_frames(3)
    assert done() >= 1
    first.free()
    physics_frames(2)
    before = done()
    physics_frames(3)
    assert done() > before
    assert second.get_stats()["behaviors"] != []


@pytest.mark.parametrize("begin", WAYS.values(), ids=list(WAYS))
def test_without_another_it_says_so_once_and_waits_for_one(
    node, world, character, physics_frames, begin, expect_errors,
):
    first = node("AIScheduler", world)
    done = begin(node, character)
    physics_frames(2)
    first.free()
    physics_frames(200)         # as long as a level may load
    expect_errors("has had no AIScheduler for 5 s and does not run; add an AIScheduler to the scene", times=1)
    physics_frames(600)
    before = done()
    physics_frames(2)
    assert done() == before
    node("AIScheduler", world)
    done()
    physics_frames(4)
    assert done() > before


def test_each_loss_of_a_scheduler_has_its_own_time(node, world, character, physics_frames, expect_errors):
    thinking(node, character)
    for _ in range(2):              # two levels that load for three seconds each
        first = node("AIScheduler", world)
        physics_frames(2)
        first.free()
        physics_frames(180)
    node("AIScheduler", world).free()
    physics_frames(240)
    expect_errors("has had no AIScheduler for 5 s and does not run", times=1)
    physics_frames(120)


@pytest.mark.parametrize("had_one", [True, False])
def test_all_without_one_are_reported_at_once(node, world, gdscript, physics_frames, expect_errors, had_one):
    first = node("AIScheduler", world) if had_one else None
    expect_errors("(nodes without one: 3)", times=1)
    for _ in range(3):
        character = gdscript(CHARACTER).new()
        world.add_child(character)
        thinking(node, character)
    physics_frames(2)
    if had_one:
        first.free()
        physics_frames(600)


def test_who_goes_with_it_or_in_the_same_frame_says_nothing(node, world, gdscript, physics_frames):
    first, character = node("AIScheduler", world), gdscript(CHARACTER).new()
    below = gdscript(CHARACTER).new()
    first.add_child(below)
    world.add_child(character)
    thinking(node, character), thinking(node, below)
    physics_frames(2)
    first.free()
    character.free()
    physics_frames(3)


def test_who_found_another_meanwhile_is_left_alone(node, world, gdscript, physics_frames):
    first = node("AIScheduler", world)
    character = gdscript(CHARACTER).new()
    world.add_child(character)
    behavior = node("AIBehavior", character, period=1)
    second = node("AIScheduler", world)
    world.remove_child(character)
    second.add_child(character)
    physics_frames(2)
    task = behavior._task
    first.free()
    physics_frames(2)
    assert behavior._task is task


def test_it_may_be_freed_by_what_it_runs_while_others_wait(node, world, gdscript, physics_frames):
    scheduler = node("AIScheduler", world, budget=1.0)
    worker = gdscript("""
        extends Node
        var runs := 0
        var scheduler
        func think(_elapsed_s: float) -> void:
            runs += 1
            OS.delay_usec(10)
            if runs == 9: scheduler.free()
    """).new()
    world.add_child(worker)
    worker.set("scheduler", scheduler)
    for number in range(6):
        scheduler.add_behavior(worker.think, 1, -1, 1.0, f"thought {number}")
    physics_frames(30)
    assert worker.get("runs") == 9


def test_settings_of_orphaned_work_apply_to_the_next_scheduler(node, world, physics_frames):
    first = node("AIScheduler", world)
    made = {
        kind: node(kind, node("Node3D", world), **settings)
        for kind, settings in (("Timeslicer", {}), ("Squad", {}), ("DecisionMap", {}))}
    physics_frames(1)
    first.free()
    for one in made.values():
        one.set("priority", 5.0)
    second = node("AIScheduler", world)
    physics_frames(3)
    rows = second.get_stats()["behaviors"]
    [row] = [one for one in rows if "Timeslicer" in one["name"]]
    assert row["priority"] == 5.0


def test_a_freed_scheduler_keeps_no_node_and_no_resource(node, world, physics_frames, expect_errors):
    scheduler = node("AIScheduler", world)
    character, rules, mind = construct("Node3D"), construct("RuleSet"), construct("RuleMind")
    mind.rule_set = rules
    character.add_child(mind)
    world.add_child(character)
    physics_frames(2)
    scheduler.free()
    physics_frames(2)
    gone = weakref.ref(rules)
    character.free()
    del rules, mind
    assert gone() is None


def test_a_nested_scheduler_that_leaves_takes_its_nodes_along(node, world, physics_frames):
    outer, room, mind = node("AIScheduler", world), construct("Node3D"), construct("RuleMind")
    mind.rule_set = construct("RuleSet")
    room.add_child(mind)
    room.add_child(construct("AIScheduler"))       # the last child is the first that leaves
    outer.add_child(room)
    outer.remove_child(room)
    outer.add_child(room)       # now the mind finds the inner one
    physics_frames(2)
    assert outer.joined_nodes == [mind]
    outer.remove_child(room)
    assert outer.joined_nodes == []
    room.free()
