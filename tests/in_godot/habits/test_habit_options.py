"""What a HabitTree does beyond launching: waiting for nothing, times, scopes, edits while it runs."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import PackedStringArray, construct

STEP = "extends Habit\nfunc _tick(_elapsed: float) -> int: return STATUS_SUCCEEDED"
FAIL = "extends Habit\nfunc _tick(_elapsed: float) -> int: return STATUS_FAILED"


def habit(parent, name, script=None, **settings):
    one = script.new() if script is not None else construct("Habit")
    one.set("name", name)
    for key, value in settings.items():
        one.set(key, value)
    parent.add_child(one)
    return one


@pytest.fixture
def trees(node, scheduler):
    """``trees(name, **settings)``: a HabitTree called Brain below a character, not in the tree yet; ``enter`` it."""
    made = []

    def build(name="Bob", **settings):
        tree = construct("HabitTree")
        tree.set("name", "Brain")
        for key, value in settings.items():
            tree.set(key, value)
        made.append(tree)
        tree.enter = lambda: node("Node3D", scheduler, name=name).add_child(tree)
        return tree

    yield build
    for tree in made:
        if tree.is_valid() and not tree.is_inside_tree():
            tree.free()


def test_a_waiting_tree_is_not_visited_until_notified(
        trees, scheduler, gdscript, physics_frames, signals):
    hear = gdscript("""
        extends Habit
        var heard = null
        func _tick(_elapsed_s: float) -> int:
            heard = get_payload("noise")
            return STATUS_SUCCEEDED
    """)
    tree = trees()
    listener = habit(tree, "hear", hear, begins_on=PackedStringArray(["noise"]))
    habit(tree, "flee", condition="danger", wakes_on=PackedStringArray(["danger"]))
    tree.set_value("danger", False)
    wait = gdscript("extends Habit\nfunc _enter() -> void: wait_for(['dinner'])\n"
                    "func _tick(_e: float) -> int: return STATUS_SUCCEEDED")
    habit(tree, "wait", wait)
    tree.enter()
    physics_frames(3)
    assert tree.is_asleep()

    def runs():
        return scheduler.get_stats()["behaviors"][0]["runs"]

    before = runs()
    physics_frames(30)
    assert runs() == before
    entered = signals(tree, "habit_entered")
    tree.notify("noise", 7)
    physics_frames(1)
    assert (entered[0][0], listener.get("heard")) == ("Brain/hear", 7)
    tree.set_value("danger", True)
    physics_frames(1)
    assert list(tree.get_active_paths()) == ["Brain/flee"]


def test_characters_whose_nodes_say_the_same_share_a_definition(trees, gdscript, physics_frames):
    script = gdscript(
        "extends Habit\nvar ticks := 0\nfunc _tick(_e: float) -> int:\n\tticks += 1\n\treturn STATUS_RUNNING")
    made = [trees(name) for name in ("Ann", "Bob", "Cid")]
    walks = [habit(tree, "walk", script) for tree in made]
    habit(made[2], "run", timeout=2.0)
    for tree in made:
        tree.enter()
    physics_frames(3)
    assert made[0].core.plan is made[1].core.plan
    assert made[2].core.plan is not made[0].core.plan
    assert [walk.get("ticks") for walk in walks] == [3, 3, 3]
    walks[0].set("cooldown", 1.0)
    made[0].rebuild()
    assert made[0].core.plan is not made[1].core.plan


def test_callables_do_what_a_script_would(trees, gdscript, physics_frames, expect_errors):
    maker = gdscript("""
        extends Node
        var log := []
        var is_calm := true
        func give(habit: Habit) -> void:
            habit.set_callable("can_activate", func() -> bool: return is_calm)
            habit.set_callable("enter", func() -> void: log.append("enter"))
            habit.set_callable("tick", func(elapsed_s: float) -> int:
                log.append(snappedf(elapsed_s, 0.001))
                return Habit.STATUS_SUCCEEDED if log.size() > 3 else Habit.STATUS_RUNNING)
            habit.set_callable("exit", func() -> void: log.append("exit"))
    """).new()
    tree = trees()
    maker.set("is_calm", False)
    maker.give(habit(tree, "walk", cooldown=10.0))
    habit(tree, "rest")
    tree.enter()
    physics_frames(2)
    assert list(tree.get_active_paths()) == ["Brain/rest"]
    maker.set("is_calm", True)
    physics_frames(4)
    assert maker.get("log") == ["enter", 0.0, 0.017, 0.017, "exit"]
    assert list(tree.get_active_paths()) == ["Brain/rest"]
    tree.get_node("rest").set_callable("tick", lambda elapsed_s: 9)
    expect_errors("the tick of 'Brain/rest' returned 9; return Habit.STATUS_RUNNING", times=1)
    physics_frames(1)
    with pytest.raises(Exception, match="moment must be one of"):
        tree.get_node("rest").set_callable("begin", print)
    tree.free()
    maker.free()


def test_who_waits_for_a_time_is_not_visited_until_then(trees, physics_frames, signals):
    tree = trees(launch=1)
    wait = construct("HabitWait")
    wait.set("duration", 0.5)
    tree.add_child(wait)
    exited = signals(wait, "exited")
    tree.enter()
    physics_frames(2)
    [pace] = tree._update_group.tick_groups
    assert pace.population.awake_count == 0
    physics_frames(28)
    assert exited == []
    physics_frames(2)
    assert exited == [(1,)]


def test_while_a_character_is_disabled_its_time_stands_still(trees, gdscript, physics_frames):
    tree = trees()
    walk = habit(tree, "walk", gdscript(
        "extends Habit\nvar s := []\nfunc _tick(e: float) -> int:\n\ts.append(e)\n\treturn STATUS_RUNNING"))
    tree.enter()
    physics_frames(2)
    character = tree.get_parent()
    character.set("process_mode", 4)
    physics_frames(30)
    assert len(walk.get("s")) == 2
    character.set("process_mode", 0)
    physics_frames(2)
    assert sum(walk.get("s")) == pytest.approx(3 / 60, abs=1e-6)


def test_signals_are_heard_by_who_connects_while_the_tree_runs(trees, gdscript, physics_frames, signals):
    tree = trees(launch=1)
    step = habit(tree, "step", gdscript(STEP))
    tree.enter()
    physics_frames(3)
    entered, exited, left = signals(step, "entered"), signals(step, "exited"), signals(tree, "habit_exited")
    active = []
    step.connect("exited", lambda status: active.append(step.is_active()))
    physics_frames(1)
    assert (entered, exited, left, active) == ([("first in sequence",)], [(1,)], [("Brain/step", 1)], [False])


def test_a_connection_between_ticks_hears_ends_outside_a_tick(trees, physics_frames, signals):
    tree = trees(launch=3)
    for name in ("first", "second"):
        check = construct("HabitCheckValue")
        check.set("name", name)
        check.set("key", "health")
        tree.add_child(check)
    walk = habit(tree, "walk")
    tree.enter()
    physics_frames(2)
    exited = signals(walk, "exited")
    tree.stop_habits()
    assert exited == [(0,)]


def test_a_habit_may_free_its_character(trees, node, gdscript, physics_frames):
    fatal = gdscript("extends Habit\nfunc _tick(_e: float) -> int:\n\tget_actor().free()\n\treturn STATUS_RUNNING")
    doomed, other = trees("Ann"), trees("Bob")
    habit(doomed, "beside", non_blocking=True)
    habit(doomed, "jump", fatal)
    habit(other, "walk")
    for tree in (doomed, other):
        tree.enter()
    physics_frames(5)
    assert not doomed.is_valid()
    assert list(other.get_active_paths()) == ["Brain/walk"]


def test_sleeping_time_counts(trees, gdscript, physics_frames):
    tree = trees()
    wait = habit(tree, "wait", gdscript("extends Habit\nfunc _enter() -> void: wait_for(['dinner'])"))
    tree.enter()
    physics_frames(61)
    assert tree.is_asleep()
    tree.set_value("other", 1)
    tree.notify("dinner")
    physics_frames(1)
    assert wait.get_time_in_habit() == pytest.approx(1.0, abs=0.03)


def test_timeout_cooldown_repeats_and_outcome(trees, gdscript, physics_frames, signals):
    tree = trees()
    slow = habit(tree, "slow", timeout=0.05, cooldown=10.0)
    twice = habit(tree, "twice", gdscript(STEP), repeats=2, cooldown=10.0)
    lucky = habit(tree, "lucky", gdscript(FAIL), outcome=1, cooldown=10.0)
    habit(tree, "walk")
    ends = {one: signals(one, "exited") for one in (slow, twice, lucky)}
    tree.enter()
    physics_frames(20)
    assert ends[slow] == [(2,)]
    assert ends[twice] == [(1,), (1,)]
    assert len(ends[lucky]) == 1
    assert list(tree.get_active_paths()) == ["Brain/walk"]


def test_a_fallback_tries_one_after_the_other(trees, gdscript, physics_frames, signals):
    tree = trees()
    way = habit(tree, "way", launch=3, cooldown=10.0)
    for name, script in (("door", FAIL), ("window", STEP), ("roof", STEP)):
        habit(way, name, gdscript(script))
    entered = signals(tree, "habit_entered")
    tree.enter()
    physics_frames(3)
    assert [path for path, _ in entered] == ["Brain/way", "Brain/way/door", "Brain/way/window"]


def test_a_condition_reads_the_blackboard_and_the_actor(trees, node, scheduler, gdscript, physics_frames):
    tree = trees()
    habit(tree, "flee", condition="health < 0.3 and is_near(enemy)")
    habit(tree, "walk")
    tree.set_value("health", 0.9)
    tree.set_value("enemy", "wolf")
    actor = node("Node3D", scheduler)
    actor.set_script(gdscript("extends Node3D\nfunc is_near(who: String) -> bool: return who == 'wolf'"))
    actor.add_child(tree)
    physics_frames(2)
    assert list(tree.get_active_paths()) == ["Brain/walk"]
    tree.set_value("health", 0.1)
    physics_frames(1)
    assert list(tree.get_active_paths()) == ["Brain/flee"]


def test_squads_and_the_world_are_scopes_and_wake_who_waits(trees, scheduler, physics_frames):
    ann, bob, cid = trees("Ann", squad="red"), trees("Bo", squad="red"), trees("Cid", squad="blue")
    for tree in (ann, bob, cid):
        habit(tree, "run", condition="alarm", wakes_on=PackedStringArray(["alarm"]))
        tree.enter()
    ann.set_value("alarm", False, "world")
    physics_frames(3)
    ann.set_value("alarm", True, "squad")
    physics_frames(1)
    assert [list(tree.get_active_paths()) for tree in (ann, bob, cid)] == [["Brain/run"], ["Brain/run"], ["Brain"]]
    assert (bob.get_value("alarm"), cid.get_value("alarm")) == (True, False)
    saved = scheduler.save_state()
    ann.set_value("alarm", "changed", "squad")
    ann.set_value("alarm", "changed", "world")
    assert scheduler.load_state(saved)
    assert (bob.get_value("alarm"), cid.get_value("alarm")) == (True, False)


def test_who_watches_a_value_is_told(trees, gdscript, physics_frames):
    tree = trees()
    habit(tree, "walk")
    tree.enter()
    heard = []
    tree.watch_value("health", lambda key, value: heard.append((key, value)))
    tree.set_value("health", 3)
    tree.set_value("health", 3)
    assert heard == [("health", 3)]


def test_habits_come_and_go_while_the_tree_runs(trees, physics_frames, signals):
    tree = trees()
    walk = habit(tree, "walk")
    tree.enter()
    physics_frames(2)
    exited, entered = signals(walk, "exited"), signals(walk, "entered")
    habit(tree, "talk", non_blocking=True)
    physics_frames(1)
    assert sorted(tree.get_active_paths()) == ["Brain/talk", "Brain/walk"]
    assert (exited, entered) == ([], [])
    tree.get_node("talk").free()
    physics_frames(1)
    assert list(tree.get_active_paths()) == ["Brain/walk"]
    walk.free()
    assert exited == [(0,)]
    habit(tree, "sleep")
    physics_frames(1)
    assert list(tree.get_active_paths()) == ["Brain/sleep"]


def test_a_scheduler_is_freed_with_the_trees_below_it(trees, scheduler, physics_frames, signals):
    tree = trees()
    walk = habit(tree, "walk")
    habit(walk, "step")
    tree.enter()
    physics_frames(2)
    exited = signals(walk, "exited")
    scheduler.free()                     # takes away the work first, and says nothing
    assert exited == [(0,)]


def test_a_habit_that_says_something_else_is_another_one(trees, physics_frames, signals):
    tree = trees()
    walk, run = habit(tree, "walk", launch=0), None
    habit(walk, "step")
    tree.enter()
    physics_frames(2)
    exited = signals(walk, "exited")
    run = habit(tree, "run", condition="false")
    tree.rebuild()
    assert exited == []
    walk.set("timeout", 5.0)
    tree.rebuild()
    assert exited == [(0,)]
    run.free()


@pytest.mark.parametrize("launch", [1, 2, 3])
def test_a_habit_that_has_nothing_to_launch_is_warned_of(launch, trees, expect_errors, physics_frames):
    tree = trees()
    one = habit(tree, "walk", launch=launch)
    assert "no child habit to launch; add a Habit" in next(iter(one._get_configuration_warnings()))
    expect_errors("must have a blocking child", times=1)
    tree.enter()
    physics_frames(2)


def test_the_page_is_true(trees, gdscript, physics_frames):
    page = (Path(__file__).parents[3] / "docs" / "godot" / "habits.md").read_text(encoding="utf-8")
    [script] = re.findall(r"```gdscript\n(.*?)```", page, re.DOTALL)
    tree = trees()
    habit(tree, "dodge", gdscript(script), begins_on=PackedStringArray(["shot at"]), remember_for=1.0)
    habit(tree, "duck", condition="danger", wakes_on=PackedStringArray(["danger"]))
    tree.set_value("danger", False)
    habit(tree, "walk")
    tree.enter()
    physics_frames(2)
    tree.notify("shot at")
    physics_frames(10)
    assert list(tree.get_active_paths()) == ["Brain/dodge"]
    physics_frames(20)
    assert list(tree.get_active_paths()) == ["Brain/walk"]
    assert tree.get_value("dodged") == pytest.approx(0.4, abs=0.03)
