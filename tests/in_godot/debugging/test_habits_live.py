"""The live chart of habits: states with reasons, time, cost, the last change, values and breakpoints."""
from __future__ import annotations

import time

import pytest

from addons.ai_core.nodes.debugging.debug_watch import DebugWatch
from addons.ai_core.nodes.debugging.habit_probe import HabitProbe
from addons.ai_core.nodes.debugging.probe import CharacterProbes


@pytest.fixture
def guard(node):
    root = node("Node3D", name="Level")
    node("AIScheduler", root, name="AI", budget=0.0)
    bob = node("Node3D", root, name="Bob")
    tree = node("HabitTree", bob, name="Habits", values={"awareness": 0.2, "tired": False})
    node("HabitWait", tree, name="Chase", condition="awareness >= 0.5", duration=100.0)
    node("HabitWait", tree, name="Patrol", duration=100.0)
    return bob


@pytest.fixture
def looked_at(guard, physics_frames):
    said = []
    probes = CharacterProbes({"HabitTree": HabitProbe}, said.append)
    watch = DebugWatch(guard.get_node("../AI"), probes)
    physics_frames(2)
    watch.choose("habits", str(guard.get_path()), "")
    yield watch, said, probes
    watch.close()


def states_of(chart):
    return {one["name"]: state for one, state in zip(chart["rows"], chart["states"], strict=True)}


def test_a_pending_habit_says_why_its_condition_is_false(guard, looked_at):
    watch, _, _ = looked_at
    chart = watch.report()["chart"]
    states = states_of(chart)
    assert states["Chase"][0] == "pending"
    assert states["Chase"][1] == "condition `awareness >= 0.5` is false: awareness 0.2 < 0.5"
    assert states["Patrol"][0] == "waiting"
    assert [one["depth"] for one in chart["rows"]] == [0, 1, 1]
    assert ["character", "awareness", "0.2"] in chart["values"]


CAREFUL = """
    extends Node3D
    var answer := false
    var allows := false
    func is_near() -> bool: return answer
    func may() -> bool: return allows
"""


def test_the_reason_names_what_refused(node, gdscript, physics_frames):
    root = node("Node3D", name="Level")
    node("AIScheduler", root, name="AI", budget=0.0)
    cat = node("Node3D", root, name="Cat")
    cat.set_script(gdscript(CAREFUL))
    tree = node("HabitTree", cat, name="Habits", values={"awake": True, "prey": None})
    node("HabitWait", tree, name="Own", can_activate_method="may")
    node("HabitWait", tree, name="Both", condition="awake", can_activate_method="may")
    node("HabitWait", tree, name="Near", condition="is_near()", can_activate_method="may")
    node("HabitWait", tree, name="Alarm", begins_on=["alarm"], can_activate_method="may")
    node("HabitWait", tree, name="Check", check_interval=2.0, can_activate_method="may")
    node("HabitMoveTo", tree, name="Go", condition="awake", target_key="prey")
    node("HabitWait", tree, name="Doze", duration=100.0)
    physics_frames(2)

    def why(name):
        return next(line for line in tree.to_text().splitlines() if f"  {name}: " in line).partition("pending, ")[2]

    assert why("Own") == "may() of the actor returned false"
    assert why("Both") == "condition `awake` is true, but may() of the actor returned false"
    assert why("Near") == "condition `is_near()` is false"
    assert why("Go") == "condition `awake` is true, but no target"
    assert why("Alarm") == "waits for alarm"
    assert why("Check") == "may() of the actor returned false, asked every 2 s"
    tree.feed_event("alarm", None)
    physics_frames(1)
    assert why("Alarm") == "may() of the actor returned false"
    tree.set_value("awake", False)
    cat.set("answer", True)
    physics_frames(2)
    assert why("Both") == "condition `awake` is false: awake is false"
    assert why("Near") == "condition `is_near()` is true, but may() of the actor returned false"


def test_later_reports_hold_only_what_changed(guard, looked_at, physics_frames):
    watch, _, _ = looked_at
    first = watch.report()["chart"]
    guard.get_node("Habits").set_value("awareness", 0.9)
    physics_frames(2)
    second = watch.report()["chart"]
    assert second["rows"] == []
    assert second["values"] == [["character", "awareness", "0.9"]]
    chase, patrol = second["states"][1:]
    assert chase[0] == "waiting"
    assert chase[1] == "interrupted Patrol"
    assert chase[4].endswith("s ago: began, interrupted Patrol")
    assert patrol[0] == "interrupted"
    assert patrol[4].endswith("s ago: interrupted")
    assert len(first["rows"]) == 3


def test_the_cost_of_a_tick_is_measured(node, guard, looked_at, physics_frames):
    watch, _, _ = looked_at
    tree = guard.get_node("Habits")
    busy = node("Habit", tree, name="Busy", condition="tired")
    busy.callables = {"_tick": lambda elapsed_s: sum(range(1000)) * 0}
    tree.move_child(busy, 0)
    tree.set_value("tired", True)
    tree.rebuild()
    physics_frames(3)
    watch.report()
    physics_frames(3)
    states = watch.report()["chart"]["states"]
    assert states[1][0] == "active"
    assert states[1][3] > 1.0
    assert [one[3] for one in states[2:]] == [0.0, 0.0]


def test_a_breakpoint_says_when_a_habit_begins_or_ends(guard, looked_at, physics_frames):
    _, said, probes = looked_at
    tree = guard.get_node("Habits")
    probes.set_breakpoint(tree, "Habits/Chase", "begins")
    probes.set_breakpoint(tree, "Habits/Patrol", "ends")
    tree.set_value("awareness", 0.9)
    physics_frames(2)
    assert said == ["Habits/Patrol ends: interrupted", "Habits/Chase begins: began, interrupted Patrol"]
    probes.set_breakpoint(tree, "Habits/Chase", "")
    probes.set_breakpoint(tree, "Habits/Patrol", "")
    tree.set_value("awareness", 0.1)
    tree.stop_habits()
    physics_frames(2)
    assert len(said) == 2


def test_a_breakpoint_says_when_a_condition_changes(node, guard, looked_at, gdscript, physics_frames):
    _, said, probes = looked_at
    guard.set_script(gdscript("extends Node3D\nvar answer := false\nfunc is_near() -> bool: return answer"))
    tree = guard.get_node("Habits")
    greet = node("HabitWait", tree, name="Greet", condition="is_near()")
    tree.move_child(greet, 0)
    tree.rebuild()
    for path in ("Habits/Chase", "Habits/Greet"):
        probes.set_breakpoint(tree, path, "condition changes")
    physics_frames(2)
    probes.check_conditions()
    probes.check_conditions()
    assert said == []
    tree.set_value("awareness", 0.9)
    probes.check_conditions()
    assert said == ["Habits/Chase: condition `awareness >= 0.5` is true"]
    tree.set_value("awareness", 0.1)
    guard.set("answer", True)
    physics_frames(2)
    probes.check_conditions()
    assert said[1:] == [
        "Habits/Chase: condition `awareness >= 0.5` is false: awareness 0.1 < 0.5",
        "Habits/Greet: condition `is_near()` is true"]


def test_a_tree_that_is_not_looked_at_has_no_extra_work(guard, looked_at):
    watch, _, _ = looked_at
    core = guard.get_node("Habits").core
    assert core.stopwatch is not None
    watch.choose("scheduler", "", "")
    assert core.stopwatch is None
    assert core.listening is not None
    assert watch.report()["chart"] == {}


def test_a_report_costs_at_most_200_us_a_frame(guard, looked_at, physics_frames):
    watch, _, _ = looked_at
    watch.report()
    took_us = []
    for _ in range(30):
        physics_frames(12)
        began_ns = time.perf_counter_ns()
        watch.report()
        took_us.append((time.perf_counter_ns() - began_ns) / 1000)
    median = sorted(took_us)[15]
    print(f"report: median {median:.0f} us, {median / 12:.1f} us a frame")
    assert median / 12 < 200


def test_a_breakpoint_of_the_debugger_pauses_the_game(guard, physics_frames):
    link = guard.get_node("../AI")._debugging
    tree = guard.get_node("Habits")
    physics_frames(2)
    assert link.asked("breakpoint", [str(tree.get_path()), "Habits/Chase", "begins"])
    tree.set_value("awareness", 0.9)
    physics_frames(3)
    try:
        assert tree.get_tree().paused
    finally:
        tree.get_tree().paused = False
        link.asked("breakpoint", [str(tree.get_path()), "Habits/Chase", ""])
    assert tree.core.stopwatch is None


def test_the_debugger_checks_conditions_while_a_breakpoint_waits(guard, physics_frames, frames):
    link = guard.get_node("../AI")._debugging
    tree = guard.get_node("Habits")
    physics_frames(2)
    assert link.asked("breakpoint", [str(tree.get_path()), "Habits/Chase", "condition changes"])
    frames(2)
    assert not tree.get_tree().paused
    tree.set_value("awareness", 0.9)
    frames(3)
    try:
        assert tree.get_tree().paused
    finally:
        tree.get_tree().paused = False
        link.asked("breakpoint", [str(tree.get_path()), "Habits/Chase", ""])
    tree.set_value("awareness", 0.1)
    frames(3)
    assert not tree.get_tree().paused


def test_a_character_is_found_from_below_it_and_by_its_scene(guard, looked_at):
    watch, _, _ = looked_at
    path = str(guard.get_path())
    watch.choose("habits", f"{path}/Habits/Chase", "")
    assert (watch.report()["character"], watch.report()["asked"]) == (path, f"{path}/Habits/Chase")
    guard.scene_file_path = "res://bob.tscn"
    for of_scene in ("res://bob.tscn::.", "res://bob.tscn::Habits"):
        watch.choose("habits", of_scene, "")
        assert watch.report()["character"] == path
    watch.choose("habits", "res://other.tscn::.", "")
    assert watch.report()["chart"] == {}
