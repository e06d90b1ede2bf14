"""Built-in habits: do they do what their names say, and end as they should?"""
from __future__ import annotations

import math
import random
from enum import Enum

import pytest

from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.built_in_habits import (
    Call,
    CallMethod,
    ChangeValue,
    CheckValue,
    Emit,
    LookAt,
    MoveTo,
    PlayAnimation,
    SetValue,
    ValueIs,
    Wait,
    WaitFor,
)
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.errors import UnknownNameError
from ai_core.faults import FaultIsolation

RUNNING, SUCCEEDED, FAILED = Status.RUNNING, Status.SUCCEEDED, Status.FAILED


def tree_of(habit, **options):
    options.setdefault("blackboard", Blackboard(name="bob", parent=Blackboard(name="world")))
    return HabitTree(habit, faults=FaultIsolation(reraise=True), **options)


@pytest.mark.parametrize(("elapsed_s", "ticks"), [(0.1, 11), (0.3, 5), (4.0, 2)])
def test_waiting_takes_as_long_as_it_says(elapsed_s, ticks):
    tree = tree_of(Wait("wait", 1.0))
    count = 1
    while tree.tick(elapsed_s) is RUNNING:
        count += 1
    assert count == ticks


def test_a_wait_between_two_times_is_drawn_and_needs_a_generator():
    ends = []
    for seed in range(40):
        tree = tree_of(Wait("wait", 1.0, up_to_s=2.0), random=random.Random(seed))
        while tree.tick(0.01) is RUNNING:
            pass
        ends.append(tree.seconds)
    assert 1.0 <= min(ends) < 1.2
    assert 1.8 < max(ends) < 2.03
    with pytest.raises(ValueError, match="'wait' requires a random generator"):
        tree_of(Wait("wait", 1.0, up_to_s=2.0))


def test_a_wait_sleeps():
    tree = tree_of(Wait("wait", 1.0))
    tree.tick(0.5)
    tree.tick(0.1)
    assert tree.wakes_at_s == pytest.approx(1.5)


def test_waiting_succeeds_on_event_or_change_and_can_time_out():
    tree = tree_of(WaitFor("wait", "bell", "door", at_most_s=2.0))
    tree.tick(0.1)
    tree.blackboard.scope("world")["door"] = "open"
    assert tree.tick(0.1) is SUCCEEDED
    tree.tick(0.1)
    tree.notify("bell")
    assert tree.tick(0.1) is SUCCEEDED
    tree.tick(0.1)
    assert tree.tick(1.9) is RUNNING
    assert tree.tick(0.1) is FAILED


def test_values_are_set_here_or_in_a_scope():
    tree = tree_of(Habit("root", [
        SetValue("a", "x", 3), SetValue("b", "alarm", lambda context: context.blackboard["x"] + 1, scope="world"),
    ], Launch.SEQUENTIAL))
    assert tree.tick(0.1) is SUCCEEDED
    assert (tree.blackboard["x"], tree.blackboard.parent) == (3, {"alarm": 4})
    with pytest.raises(TypeError, match="'set' writes to the scope 'world', which requires a Blackboard"):
        tree_of(SetValue("set", "x", 1, scope="world"), blackboard={}).tick(0.1)


@pytest.mark.parametrize(
    ("comparison", "value", "expected"),
    [("==", 2, True), ("!=", 2, False), ("<", 3, True), ("<=", 1, False), (">", 1, True), (">=", 3, False),
     ("in", (1, 2), True), ("not in", (1, 2), False)])
def test_values_are_compared(comparison, value, expected):
    tree = tree_of(CheckValue("check", "x", comparison, value), blackboard={"x": 2})
    assert tree.tick(0.1) is (SUCCEEDED if expected else FAILED)
    assert repr(ValueIs("x", comparison, value)) == f"x {comparison} {value}"


def test_what_is_not_known_is_neither_less_nor_more():
    for comparison in ("<", ">", "=="):
        assert tree_of(CheckValue("check", "x", comparison, 0)).tick(0.1) is FAILED
    assert tree_of(CheckValue("check", "x", "!=", 0)).tick(0.1) is SUCCEEDED
    with pytest.raises(UnknownNameError, match="unknown comparison '=>'; did you mean"):
        ValueIs("x", "=>", 1)


def test_a_key_of_a_class_of_names_is_the_name():
    class Known(str, Enum):  # noqa: UP042  (a StrEnum has another str())
        HEALTH = "health"

    condition = ValueIs(Known.HEALTH, "<", 0.3)
    assert (repr(condition), condition.wakes_on) == ("health < 0.3", ("health",))
    check = CheckValue("check", Known.HEALTH, "<", 0.3)
    assert tree_of(check, blackboard={"health": 0.2}).tick(0.1) is SUCCEEDED


def test_a_condition_on_a_value_is_asked_only_after_it_changed():
    tree = tree_of(Habit("root", [Habit("flee", can_activate=ValueIs("health", "<", 0.3)), Wait("rest", 99.0)]))
    tree.tick(0.1)
    tree.tick(0.1)
    assert tree.wakes_at_s == pytest.approx(99.1)
    tree.blackboard["health"] = 0.2
    tree.tick(0.1)
    assert tree.active_paths() == ["root/flee"]


class Bob:
    def __init__(self):
        self.log = []

    def open(self, what):
        self.log.append(what)
        return what == "door"


def test_functions_and_methods_are_called_and_results_count():
    bob = Bob()
    assert tree_of(CallMethod("open", "open", "door"), owner=bob).tick(0.1) is SUCCEEDED
    assert tree_of(CallMethod("open", "open", "wall"), owner=bob).tick(0.1) is FAILED
    say = Call("say", lambda context, word: context.owner.log.append(word), "hi")
    assert tree_of(say, owner=bob).tick(0.1) is SUCCEEDED
    assert tree_of(Call("go", lambda context: RUNNING)).tick(0.1) is RUNNING
    assert bob.log == ["door", "wall", "hi"]


def test_what_happens_is_told_to_others_or_to_oneself():
    sent = []
    assert tree_of(Emit("cry", "help", lambda context: 7, send=lambda *what: sent.append(what))).tick(0.1) is SUCCEEDED
    assert sent == [("help", 7)]
    root = Habit("root", [Habit("turn", begins_on=("noise",)), Emit("cough", "noise", cooldown_s=9.0), Habit("stand")])
    tree = tree_of(root)
    tree.tick(0.1)
    tree.tick(0.1)
    assert tree.active_paths() == ["root/turn"]


def test_move_begins_once_ends_on_arrival_and_stops_on_interrupt():
    log = []
    options = {"move": lambda context, target: log.append(f"to {target}"), "stop": lambda context: log.append("stop")}
    tree = tree_of(MoveTo("go", "door", has_arrived=lambda context: context.time_in_habit_s >= 1.0, **options))
    tree.tick(0.5)
    tree.tick(0.5)
    assert tree.tick(0.5) is SUCCEEDED
    assert log == ["to door"]

    go = MoveTo("go", lambda context: context.blackboard["goal"], **options)
    tree = tree_of(go, blackboard=Blackboard({"goal": 7}))
    tree.tick(0.1)
    tree.tick(0.1)
    assert tree.wakes_at_s == math.inf
    tree.notify("arrived")
    assert tree.tick(0.1) is SUCCEEDED
    tree.tick(0.1)
    tree.stop()
    assert log == ["to door", "to 7", "to 7", "stop"]


def test_looking_turns_until_it_faces_the_target():
    angles = iter([False, False, True])
    tree = tree_of(LookAt("look", "enemy", turn=lambda context, target: next(angles)))
    assert [tree.tick(0.1) for _ in range(3)] == [RUNNING, RUNNING, SUCCEEDED]


def test_animation_habit_ends_with_clip_and_stops_on_interrupt():
    log = []
    tree = tree_of(PlayAnimation(
        "swing", "swing",
        play=lambda context, name: log.append(f"play {name}"), stop=lambda context: log.append("stop")))
    tree.tick(0.1)
    tree.notify("animation finished", "walk")
    assert tree.tick(0.1) is RUNNING
    tree.notify("animation finished", "swing")
    assert tree.tick(0.1) is SUCCEEDED
    tree.tick(0.1)
    tree.stop()
    assert log == ["play swing", "play swing", "stop"]


def test_a_number_rises_to_its_limit_and_is_written_when_it_ends():
    for per_second, start, until in ((0.5, 0.0, 1.0), (-0.5, 1.0, 0.0)):
        tree = tree_of(ChangeValue("rest", "energy", per_second, until), blackboard={"energy": start})
        tree.tick(0.1)
        assert tree.tick(1.0) is RUNNING
        assert tree.root_run.memory["value"] == pytest.approx(0.5)
        assert tree.tick(1.5) is SUCCEEDED
        assert tree.blackboard == {"energy": until}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Wait("a", -1), "'a': seconds must be at least 0"),
        (lambda: Wait("a", 2, up_to_s=1), "'a': up_to_s must be at least 2"),
        (lambda: WaitFor("a"), "'a': names must hold at least one name to wait for"),
        (lambda: WaitFor("a", ""), "name must be a non-empty string, got ''"),
        (lambda: SetValue("a", 3, 1), "key must be a non-empty string, got 3"),
        (lambda: Call("a", "run"), "'a': function must be callable, got 'run'"),
        (lambda: Emit("a", "x", send=3), "'a': send must be callable, got 3"),
        (lambda: MoveTo("a", 1, move=None), "'a': move must be callable, got None"),
        (lambda: LookAt("a", 1, turn=1), "'a': turn must be callable, got 1"),
        (lambda: PlayAnimation("a", "x", play=0), "'a': play must be callable, got 0"),
        (lambda: ChangeValue("a", "x", 0, 1), "'a': per_second must not be 0"),
        (lambda: Habit("a", columns="x"), "'a': columns must be a sequence of names")])
def test_bad_settings_are_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
