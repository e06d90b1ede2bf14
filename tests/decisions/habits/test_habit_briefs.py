"""Habits that do nothing but launch others: are they there for whoever looks, though most are over at once?"""
from __future__ import annotations

import pytest

from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.built_in_habits import CheckValue, SetValue, ValueIs
from ai_core.decisions.habits.habit_runner_loops import ValuesAre
from ai_core.decisions.habits.habit_status import Launch, Outcome, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.faults import FaultIsolation

SUCCEEDED, FAILED, RUNNING = Status.SUCCEEDED, Status.FAILED, Status.RUNNING


def chain(*leaves, launch=Launch.SEQUENTIAL, **options):
    """Return a root, below it "inner", below it leaves; nothing but these ticks."""
    return Habit("root", [Habit("inner", leaves, launch, **options)], Launch.FALLBACK)


def leaf(name, act, status=SUCCEEDED):
    return Habit(name, tick=lambda context: (act(context), status)[1])


def test_a_leaf_sees_all_above_it_at_work():
    seen = []

    def look(context):
        tree = context.tree
        seen.append((context.parent.path, context.parent.parent.path, tree.active_paths(), tree.root_run.child.number))

    tree = HabitTree(chain(Habit("first", tick=lambda _: SUCCEEDED), leaf("look", look)))
    assert tree.tick(0.1) is SUCCEEDED
    assert seen == [("root/inner", "root", ["root/inner/look"], 1)]
    assert tree.root_run is None
    assert tree.endings == ["succeeded"] * 4


def test_a_parent_that_somebody_keeps_is_over_after_the_tick():
    kept = []
    tree = HabitTree(chain(leaf("keep", lambda context: kept.append(context.parent))))
    tree.tick(0.1)
    assert kept[0].status is SUCCEEDED
    assert kept[0].parent is None


@pytest.mark.parametrize("looks", [False, True])
def test_running_habit_is_found_in_place_and_ends_later(looks):
    results = [RUNNING, SUCCEEDED]
    tree = HabitTree(chain(
        Habit("first", tick=lambda _: SUCCEEDED), leaf("act", lambda context: looks and context.parent, None),
        Habit("last", tick=lambda _: results.pop(0))))
    assert tree.tick(0.1) is RUNNING
    assert tree.active_paths() == ["root/inner/act"]
    assert tree.root_run.child.number == 1
    tree.replace("root/inner/act", Habit("act", tick=lambda _: SUCCEEDED))
    assert [tree.tick(0.1), tree.tick(0.1)] == [RUNNING, SUCCEEDED]


def test_hold_ends_with_its_habit_and_a_raising_hold_fails():
    faults = FaultIsolation(report=lambda fault: None)

    def hold(context):
        context.hold()

    def fail(context):
        raise RuntimeError("on purpose")

    tree = HabitTree(chain(leaf("hold", hold), leaf("fail", fail), leaf("never", fail)), faults=faults)
    for _ in range(5):
        assert tree.tick(0.1) is FAILED
        assert tree.holds == {}
    assert tree.endings[2] == "succeeded"


def test_parent_receives_outcome_of_a_child_that_ended_at_once():
    for outcome, wanted in ((Outcome.INVERTED, SUCCEEDED), (Outcome.ALWAYS_FAILED, FAILED)):
        tree = HabitTree(chain(CheckValue("check", "armed"), outcome=outcome))
        assert tree.tick(0.1) is wanted
        assert tree.endings[1] == "failed"


def test_what_begins_without_end_goes_on_in_the_next_tick():
    ticks = []
    tree = HabitTree(Habit("root", [leaf(f"step{n}", ticks.append) for n in range(300)], Launch.SEQUENTIAL))
    assert tree.tick(0.1) is RUNNING
    assert len(ticks) == 255
    assert tree.tick(0.1) is SUCCEEDED
    assert len(ticks) == 300


def test_equal_value_notifies_nobody_but_reassigned_list_does():
    told = []
    board = Blackboard(types={"number": float})
    for value, times in ((1, 1), (0.5, 1), ([1], 3)):
        key = "number" if not isinstance(value, list) else "list"
        watch = board.watch(key, lambda key, value: told.append(key))
        tree = HabitTree(Habit("root", [SetValue("set", key, value)], Launch.SEQUENTIAL), blackboard=board)
        for _ in range(3):
            tree.tick(0.1)
        assert len(told) == times
        watch.cancel()
        told.clear()
    assert board["number"] == 0.5


@pytest.mark.parametrize("value", [5, [5]])
def test_raising_watcher_is_called_once_and_fails_the_writer(value):
    told = []

    def watch(key, value):
        told.append((key, value))
        raise ValueError("who watches")

    board = Blackboard()
    board.watch("key", watch)
    tree = HabitTree(
        Habit("root", [SetValue("set", "key", value), leaf("next", told.append)], Launch.SEQUENTIAL), blackboard=board)
    assert tree.tick(0.1) is FAILED
    assert told == [("key", value)]


@pytest.mark.parametrize(("known", "answer"), [
    ({"health": 0.2, "armed": True}, True), ({"health": 0.2, "armed": False}, False),
    ({"health": 0, "armed": True}, True),
    ({"health": 0.9, "armed": True}, False), ({"health": 0.2}, "asked"), ({"health": "low", "armed": True}, "asked"),
    ({"health": 0.9, "armed": 1}, "asked")])
def test_incomparable_values_are_left_to_the_given_check(known, answer):
    asked = []
    condition = ValuesAre(
        [ValueIs("health", "<", 0.3), ValueIs("armed")], lambda context: asked.append(context.path) or False)
    tree = HabitTree(
        Habit("root", [Habit("flee", can_activate=condition), Habit("wait")]), blackboard=Blackboard(known))
    for _ in range(3):
        tree.tick(0.1)
    assert tree.active_paths() == ["root/flee" if answer is True else "root/wait"]
    assert asked == (["root/flee"] * 3 if answer == "asked" else [])


@pytest.mark.parametrize("health", [0.1, 0.4, 0.8, 1, "low", None])
@pytest.mark.parametrize("ammo", [0.0, 9.0])
def test_neighbors_that_compare_one_value_are_each_refused(health, ammo):
    def hurt(context):
        context.blackboard["health"] = 0.1
        return False

    board = Blackboard({"health": health, "ammo": ammo})
    rows = [("a", "health", "<", 0.3, None), ("b", "health", "<", 0.5, hurt), ("c", "health", "<", 0.2, None),
            ("d", "ammo", "<", 1.0, None), ("e", "health", ">", 0.7, None)]
    habits = [
        Habit(name, can_activate=ValuesAre([ValueIs(key, how, value)], lambda context: False, also))
        for name, key, how, value, also in rows]
    tree = HabitTree(Habit("root", [*habits, Habit("wait")]), blackboard=board)
    tree.tick(0.1)
    wanted = {0.1: "a", 0.4: "c"}.get(health, "d" if ammo == 0.0 else "e" if health in (0.8, 1) else "wait")
    assert tree.active_paths() == [f"root/{wanted}"]


class Incomparable:
    def __eq__(self, other):
        raise ValueError("no two are alike")

    __hash__ = None


def test_values_that_raise_when_compared_stop_nobody():
    value = Incomparable()
    conditions = [
        ValuesAre([ValueIs("enemy", "==", value)], lambda context: 1 / 0),
        ValuesAre([ValueIs("health", "<", 0.3), ValueIs("enemy", "==", value)], lambda context: True)]
    root = Habit("root", [*[Habit(f"h{n}", can_activate=one) for n, one in enumerate(conditions)], Habit("wait")])
    tree = HabitTree(root, blackboard=Blackboard({"enemy": value, "health": 1.0}))
    tree.tick(0.1)
    assert tree.active_paths() == ["root/h1"]


def test_written_value_is_seen_by_next_leaf_in_same_tick():
    board = Blackboard({"n": 0.0})
    root = Habit("root", [
        CheckValue("zero", "n", "==", 0.0), SetValue("one", "n", 1.0), CheckValue("is one", "n", "==", 1.0),
        leaf("two", lambda context: context.blackboard.update(n=2.0)), CheckValue("is two", "n", "==", 2.0),
    ], Launch.SEQUENTIAL)
    assert HabitTree(root, blackboard=board).tick(0.1) is SUCCEEDED


@pytest.mark.parametrize(("known", "comparison", "value", "wanted"), [
    (1.0, "==", 1, True), (1, "==", 1.0, True), (0.5, "<", 1, True), (1.0, "<=", 1, True),
    (float("nan"), "==", 1, False), (float("nan"), "!=", 1, True), (2.0, ">", 2, False), (2.0, ">=", 2.0, True),
    (float(2**53), "==", 2**53 + 1, False),
    (True, "==", True, True), (True, "==", 1, True), (1.0, "==", True, True), (None, "<", 1.0, False)])
def test_numbers_compare_as_python_compares_them(known, comparison, value, wanted):
    tree = HabitTree(CheckValue("check", "key", comparison, value), blackboard={"key": known})
    root = Habit("root", [CheckValue("check", "key", comparison, value)], Launch.SEQUENTIAL)
    below = HabitTree(root, blackboard={"key": known})
    assert (tree.tick(0.1) is SUCCEEDED, below.tick(0.1) is SUCCEEDED) == (wanted, wanted)


@pytest.mark.parametrize(("known", "comparison", "wanted"), [
    (None, "==", True), (None, "!=", False), (0.0, "!=", True), ((1, 2), "==", False), ("", "!=", True),
    (object(), "==", "asked")])
def test_plain_values_compare_with_none_without_a_check(known, comparison, wanted):
    asked = []
    condition = ValuesAre([ValueIs("key", comparison, None)], lambda context: asked.append("asked"))
    tree = HabitTree(Habit("root", [Habit("part", can_activate=condition)]), blackboard={"key": known})
    tree.tick(0.1)
    assert (asked or [bool(tree.active_paths() == ["root/part"])])[0] == wanted, "an engine's object may have ended"
