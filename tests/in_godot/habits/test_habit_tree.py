"""HabitTree and Habit: a character's habits as nodes, written in GDScript, Python or the inspector."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct
from ai_core.decisions.habits import habits as core
from ai_core.decisions.habits.habit_status import Status
from ai_core.saving.fields import StateError

DODGE = """
    extends Habit
    var log := []
    func _can_activate() -> bool: return get_habit_tree().get_value("danger", false)
    func _enter() -> void: log.append("enter " + get_reason())
    func _tick(elapsed_s: float) -> int:
        return STATUS_SUCCEEDED if get_time_in_habit() > 0.04 else STATUS_RUNNING
    func _exit() -> void:
        log.append("exit")
        get_habit_tree().set_value("danger", false)
"""


class Hum(core.Habit):
    """Counts its ticks on the blackboard."""

    def tick(self, context):
        context.blackboard["hummed"] = context.blackboard.get("hummed", 0) + 1
        return Status.RUNNING


@pytest.fixture
def character(node, scheduler):
    return node("Node3D", scheduler, name="Bob")


@pytest.fixture
def build(node, character):
    """``build({"dodge": script or settings, ...}, **tree settings)``: a tree with habits, in the tree of nodes."""
    from addons.ai_core.bridge.gd import construct

    def add(parent, name, described):
        habit = described.new() if hasattr(described, "new") else construct("Habit")
        habit.set("name", name)
        parent.add_child(habit)
        if isinstance(described, dict):
            children = described.get("children", {})
            for key, value in described.items():
                if key != "children":
                    habit.set(key, value)
            for child, one in children.items():
                add(habit, child, one)

    def build(habits, **settings):
        tree = construct("HabitTree")
        tree.set("name", "Brain")
        for key, value in settings.items():
            tree.set(key, value)
        for name, described in habits.items():
            add(tree, name, described)
        character.add_child(tree)
        return tree

    return build


def test_the_first_child_that_can_run_runs(build, gdscript, physics_frames, signals):
    tree = build({"dodge": gdscript(DODGE), "walk": {}})
    entered = signals(tree, "habit_entered")
    physics_frames(2)
    assert list(tree.get_active_paths()) == ["Brain/walk"]
    assert entered == [("Brain/walk", "can activate")]


def test_a_more_urgent_habit_interrupts_and_hands_back(build, gdscript, physics_frames, signals):
    tree = build({"dodge": gdscript(DODGE), "walk": {}})
    physics_frames(2)
    exited, entered = signals(tree, "habit_exited"), signals(tree, "habit_entered")
    tree.set_value("danger", True)
    physics_frames(2)
    assert list(tree.get_active_paths()) == ["Brain/dodge"]
    physics_frames(6)
    assert entered == [("Brain/dodge", "interrupted walk"), ("Brain/walk", "can activate")]
    assert exited == [("Brain/walk", 0), ("Brain/dodge", 1)]
    assert tree.get_node("dodge").get("log") == ["enter interrupted walk", "exit"]


def test_hold_keeps_a_more_urgent_habit_away_until_release(build, gdscript, physics_frames):
    tree = build({"dodge": gdscript(DODGE), "walk": {}})
    physics_frames(2)
    walk = tree.get_node("walk")
    walk.hold()
    tree.set_value("danger", True)
    physics_frames(3)
    assert list(tree.get_active_paths()) == ["Brain/walk"]
    walk.release()
    physics_frames(2)
    assert list(tree.get_active_paths()) == ["Brain/dodge"]


def test_an_uninterruptible_habit_is_not_interrupted(build, gdscript, physics_frames):
    tree = build({"dodge": gdscript(DODGE), "melee": {"uninterruptible": True}})
    physics_frames(2)
    tree.set_value("danger", True)
    physics_frames(3)
    assert list(tree.get_active_paths()) == ["Brain/melee"]


def test_a_sequence_ends_with_its_last_step(build, gdscript, physics_frames, signals):
    step = gdscript("extends Habit\nfunc _tick(_elapsed: float) -> int: return STATUS_SUCCEEDED")
    tree = build({"open": step, "walk_in": step, "close": step}, launch=1)
    entered = signals(tree, "habit_entered")
    physics_frames(2)
    assert [path for path, _ in entered[:3]] == ["Brain/open", "Brain/walk_in", "Brain/close"]


def test_random_children_are_the_same_for_the_same_seed(build, gdscript, physics_frames, signals):
    step = gdscript("extends Habit\nfunc _tick(_elapsed: float) -> int: return STATUS_SUCCEEDED")
    runs = []
    for _ in range(2):
        tree = build({"a": step, "b": step, "c": step}, launch=2, random_seed=7)
        entered = signals(tree, "habit_entered")
        physics_frames(20)
        runs.append([path for path, _ in entered])
        tree.free()
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 3


def test_a_non_blocking_habit_runs_beside(build, physics_frames):
    tree = build({"talk": {"non_blocking": True}, "walk": {}})
    physics_frames(2)
    assert sorted(tree.get_active_paths()) == ["Brain/talk", "Brain/walk"]


def test_methods_of_the_actor_named_in_the_inspector_are_enough(gdscript, build, character, physics_frames):
    character.set_script(gdscript("""
        extends Node3D
        var ticks := 0
        func hungry() -> bool: return true
        func eat(_elapsed_s: float) -> int:
            ticks += 1
            return 0
    """))
    tree = build({"eat": {"can_activate_method": "hungry", "tick_method": "eat"}})
    physics_frames(3)
    assert list(tree.get_active_paths()) == ["Brain/eat"]
    assert character.get("ticks") == 3


def test_a_python_class_named_in_the_inspector_is_a_habit(build, physics_frames):
    tree = build({"hum": {"python_class": "tests.in_godot.habits.test_habit_tree:Hum"}})
    physics_frames(3)
    assert tree.get_value("hummed") == 3


def test_the_text_shows_what_is_active_pending_and_why(build, gdscript, physics_frames):
    tree = build({"dodge": gdscript(DODGE), "walk": {}})
    physics_frames(2)
    assert "dodge: pending, _can_activate() returned false" in tree.to_text()
    assert "* walk: active" in tree.to_text()


def test_disabling_ends_what_is_active(build, physics_frames, signals):
    tree = build({"walk": {}})
    physics_frames(2)
    exited = signals(tree, "habit_exited")
    tree.enabled = False
    assert exited == [("Brain/walk", 0)]
    physics_frames(2)
    assert list(tree.get_active_paths()) == []


def test_a_rare_tree_hears_true_times(build, gdscript, physics_frames):
    tick = gdscript("""
        extends Habit
        var elapsed := []
        func _tick(seconds: float) -> int:
            elapsed.append(seconds)
            return STATUS_RUNNING
    """)
    tree = build({"walk": tick}, period=5)
    physics_frames(16)
    first, *rest = tree.get_node("walk").get("elapsed")
    assert first == 0
    assert rest == pytest.approx([5 / 60] * len(rest), abs=1e-6)
    assert len(rest) >= 2


def test_a_habit_that_raises_is_reported_and_ends_once(build, physics_frames, expect_errors, signals):
    tree = build({"bad": {"tick_method": "nonsense"}, "walk": {}})
    exited = signals(tree.get_node("bad"), "exited")
    expect_errors("has no method nonsense(); add it", times=3)
    physics_frames(8)
    assert exited == [(2,)] * 3
    assert list(tree.get_active_paths()) == ["Brain/walk"]


def test_a_wrong_result_of_a_tick_says_what_to_return(build, gdscript, physics_frames, expect_errors):
    wrong = gdscript("extends Habit\nfunc _tick(_elapsed) -> int: return 9")
    expect_errors("the tick of 'Brain/walk' returned 9; return Habit.STATUS_RUNNING")
    build({"walk": wrong})
    physics_frames(1)


def test_an_empty_tree_says_what_is_missing(build, expect_errors, physics_frames):
    expect_errors("has no Habit below it and does nothing; add a Habit", times=1)
    build({})
    physics_frames(2)


def test_a_python_class_that_is_no_habit_is_named(build, expect_errors, physics_frames):
    expect_errors("python_class 'json:dumps' of 'hum' is not a Habit class", times=1)
    build({"hum": {"python_class": "json:dumps"}})
    physics_frames(2)


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"condition": "1 +"}, "new: condition of 'new': cannot parse '1 +'"),
     ({"python_class": "no_such_module:Habit"}, "there is no module 'no_such_module'")],
)
def test_a_habit_that_cannot_be_read_stops_only_its_own_tree(
        node, scheduler, gdscript, expect_errors, settings, why, physics_frames):
    expect_errors(why, times=2)
    from addons.ai_core.bridge.gd import construct

    script = gdscript("""
        extends Habit
        var ticks := 0
        func _tick(_elapsed_s: float): ticks += 1
    """)
    trees = []
    for _ in range(3):
        trees.append(construct("HabitTree"))
        habit = script.new()
        habit.set("name", "work")
        trees[-1].add_child(habit)
        node("Node3D", scheduler).add_child(trees[-1])
    scheduler.step()
    for tree in trees:
        new = construct("Habit")
        new.set("name", "new")
        for key, value in settings.items() if tree is not trees[2] else ():
            new.set(key, value)
        tree.add_child(new)
    for _ in range(5):
        scheduler.step()
    assert [tree.get_node("work").get("ticks") for tree in trees] == [1, 1, 6]
    assert [tree.to_text() for tree in trees[:2]] == ["not running"] * 2
    assert "new: pending" in trees[2].to_text()
    assert scheduler.get_stats()["behaviors"][0]["faults"] == 0
    physics_frames(2)


def test_a_habit_freed_by_a_listener_stops_no_other(build, scheduler):
    tree = build({"first": {}})
    tree.connect("habit_entered", lambda path, reason: tree.get_node("first").free())
    scheduler.step()
    scheduler.step()
    assert scheduler.get_stats()["behaviors"][0]["faults"] == 0


def test_a_save_of_trees_whose_turns_are_no_turns_is_refused(build, scheduler, expect_errors):
    build({"walk": {}})
    scheduler.step()
    state = scheduler.update_groups["habit trees"].save_state()
    scheduler.update_groups["habit trees"].prepare_state(state)()
    state["tick_groups"][0][1]["population"] = 5
    with pytest.raises(StateError, match=r"tick_groups\[0\]\[1\]\.population"):
        scheduler.update_groups["habit trees"].prepare_state(state)


def test_a_save_with_missing_or_duplicate_turns_is_refused(build, scheduler):
    build({"walk": {}})
    scheduler.step()
    crowd = scheduler.update_groups["habit trees"]
    state = crowd.save_state()
    (key, group), = state["tick_groups"]
    for wrong, place in (([[[1, 1], group]], r"tick_groups\[0\]\[0\]"), ([[key, group]] * 2, r"tick_groups\[1\]\[0\]")):
        with pytest.raises(StateError, match=place):
            crowd.prepare_state({**state, "tick_groups": wrong})


def test_trees_weigh_the_sum_of_their_priorities(node, scheduler):
    from addons.ai_core.bridge.gd import construct

    def add(priority):
        tree = construct("HabitTree")
        tree.set("priority", priority)
        tree.add_child(construct("Habit"))
        node("Node3D", scheduler).add_child(tree)
        return tree

    def weight():
        scheduler.step()
        return scheduler.get_stats()["behaviors"][0]["priority"]

    trees = [add(priority) for priority in (0.1, 0.2, 0.7)]
    assert weight() == 1.0
    trees[1].free()
    trees[0].set("priority", 3.0)
    assert weight() == pytest.approx(3.7, abs=1e-12)
    for tree in (trees[0], trees[2]):
        tree.free()
    add(0.5)
    assert weight() == 0.5


def test_a_tree_whose_habits_cannot_run_reports_and_recovers(build, scheduler, expect_errors, physics_frames):
    expect_errors("open: habit 'open': a sequential habit must have a blocking child", times=2)
    tree = build({"open": {"launch": 1}})
    scheduler.step()
    assert tree.to_text() == "not running"
    physics_frames(2)
    tree.call("rebuild")
    physics_frames(2)
    tree.get_node("open").set("launch", 0)
    tree.call("rebuild")
    scheduler.step()
    assert list(tree.get_active_paths()) == ["Brain/open"]
    physics_frames(2)


def test_a_tree_added_before_its_habits_starts_with_them(node, frames, expect_errors):
    root = node("Node3D")
    node("AIScheduler", root)
    tree = node("HabitTree", root)
    wait = construct("HabitWait")
    wait.name, wait.duration = "Doze", 100.0
    tree.add_child(wait)
    frames(3)
    assert [path.rpartition("/")[2] for path in tree.get_active_paths()] == ["Doze"]
    empty = node("HabitTree", root)
    expect_errors("has no Habit below it and does nothing; add a Habit", times=1)
    frames(3)
    late = construct("HabitWait")
    late.name, late.duration = "Late", 100.0
    empty.add_child(late)
    frames(3)
    assert [path.rpartition("/")[2] for path in empty.get_active_paths()] == ["Late"]
