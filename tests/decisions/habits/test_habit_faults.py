"""Callbacks that fail: the habit fails, the character lives on."""
from __future__ import annotations

import gc

import pytest

from ai_core.decisions.habits.habit_status import Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.decisions.rules import Rule, RuleMind, RuleSet
from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import State, StateMachineDefinition
from ai_core.faults import FaultIsolation
from ai_core.trace import Trace
from tests.decisions.diary import Diary


@pytest.fixture
def reports():
    return []


@pytest.fixture
def faults(reports):
    return FaultIsolation(report=reports.append)


@pytest.fixture
def diary():
    return Diary()


def raising(diary, note):
    def callback(context):
        diary.append(note)
        raise RuntimeError(note)

    return callback


@pytest.mark.parametrize(
    ("moment", "happens"),
    [
        ("can_activate", ["broken"]),
        ("enter", ["broken", "exit work"]),
        ("tick", ["enter work", "broken", "exit work"])])
def test_habit_whose_callback_raises_fails_and_the_next_begins(diary, faults, reports, moment, happens):
    work = diary.habit("work", **{moment: raising(diary, "broken")})
    tree = HabitTree(diary.habit("root", work, diary.habit("rest")), name="bob", faults=faults)
    tree.tick(0.1)
    assert diary.read() == ["enter root", *happens, "enter rest", "tick rest"]
    assert tree.active_paths() == ["root/rest"]
    assert [fault.name for fault in reports] == [f"bob: {moment} of root/work"]


def test_raising_exit_is_called_once_and_the_interrupter_begins(diary, faults, reports):
    diary.wants = {"root", "work"}
    work = diary.habit("work", exit=raising(diary, "broken exit"))
    tree = HabitTree(diary.habit("root", diary.habit("flee"), work), faults=faults)
    tree.tick(0.1)
    diary.read()
    diary.wants.add("flee")
    tree.tick(0.1)
    assert diary.read() == ["broken exit", "enter flee", "tick flee"]
    assert len(reports) == 1


def test_parent_whose_tick_raises_ends_its_children_in_order(diary, faults):
    answers = iter([None])
    work = Habit(
        "work",
        [diary.habit("dig")],
        tick=lambda context: next(answers),
        exit=lambda context: diary.append("exit work"),
        cooldown_s=1.0)
    tree = HabitTree(diary.habit("root", work), faults=faults)
    tree.tick(0.1)
    diary.read()
    tree.tick(0.1)
    assert diary.read() == ["exit dig", "exit work"]


def test_tick_without_status_is_a_fault_that_names_the_habit(diary, faults, reports):
    tree = HabitTree(diary.habit("root", Habit("work", tick=lambda _: "done")), faults=faults)
    tree.tick(0.1)
    assert "tick of 'root/work' must return a Status, got 'done'" in str(reports[0].error)


def test_repeatedly_failing_habit_is_quarantined_until_released(diary, faults, reports):
    work = diary.habit("work", tick=raising(diary, "broken"))
    tree = HabitTree(diary.habit("root", work, diary.habit("rest")), faults=faults)
    for _ in range(6):
        tree.tick(0.1)
    assert diary.count("broken") == diary.count("exit work") == 3
    assert reports[-1].is_quarantined
    assert "    work: pending, quarantined after repeated failures" in tree.to_text().splitlines()

    tree.release_quarantined()
    tree.tick(0.1)
    assert diary.count("broken") == 4


def test_releasing_nobody_wakes_nobody(faults):
    does = iter([lambda context: 1 / 0, lambda context: Status.SUCCEEDED, lambda context: context.wait_s(5.0)])
    tree = HabitTree(Habit("root", [Habit("nap", tick=lambda context: next(does)(context))]), faults=faults)
    for _ in range(4):
        tree.tick(0.2)
    tree.release_quarantined()
    assert tree.wakes_at_s > 0


def test_successful_run_resets_the_count_of_failures_in_a_row(faults, reports):
    fails = iter([True, True, False, True, True, False, True])

    def tick(context):
        if next(fails):
            raise RuntimeError("broken")
        return Status.SUCCEEDED

    tree = HabitTree(Habit("root", tick=tick), faults=faults)
    for _ in range(7):
        tree.tick(0.1)
    assert [fault.failures_in_a_row for fault in reports] == [1, 2, 1, 2, 1]


def test_asking_well_does_not_excuse_runs_that_fail(diary, faults):
    asked = []
    work = diary.habit(
        "work", can_activate=lambda _: asked.append(1) or True, tick=raising(diary, "broken"))
    tree = HabitTree(diary.habit("root", work), faults=faults)
    for _ in range(6):
        tree.tick(0.1)
    assert len(asked) == diary.count("broken") == 3


def test_habit_failing_for_one_character_still_works_for_another(diary, faults):
    def tick(context):
        if context.owner == "broken":
            raise RuntimeError("broken")
        diary.append("ticked")

    root = Habit("root", tick=tick)
    broken, whole = (HabitTree(root, owner=who, faults=faults) for who in ("broken", "whole"))
    for _ in range(4):
        broken.tick(0.1)
        whole.tick(0.1)
    assert diary == ["ticked"] * 4


def test_stopping_forgets_what_failed(diary, faults):
    tree = HabitTree(diary.habit("root", tick=raising(diary, "broken")), faults=faults)
    for _ in range(3):
        tree.tick(0.1)
    assert faults.counts["quarantined"] == 1
    tree.stop()
    assert faults.counts["quarantined"] == 0


def test_in_tests_a_fault_is_raised_once_the_tree_is_consistent(diary):
    work = diary.habit("work", enter=raising(diary, "broken"))
    root = diary.habit("root", work, diary.habit("rest"))
    tree = HabitTree(root, faults=FaultIsolation(reraise=True))
    with pytest.raises(RuntimeError, match="broken"):
        tree.tick(0.1)
    assert diary == ["enter root", "broken", "exit work", "enter rest", "tick rest"]
    assert tree.active_paths() == ["root/rest"]


def test_raising_tool_is_reported_when_tree_is_consistent_again(diary):
    class Tool:
        def state_entered(self, owner_name, path, reason, now):
            raise RuntimeError(f"cannot draw {path}")

    trace = Trace()
    trace.listen(Tool())
    tree = HabitTree(diary.habit("root", diary.habit("work")), trace=trace)
    with pytest.raises(RuntimeError, match=r"cannot draw root$"):
        tree.tick(0.1)
    assert tree.active_paths() == ["root/work"]


def test_ticking_a_tree_inside_its_own_habit_is_a_fault(faults, reports):
    owner = {}
    root = Habit("root", tick=lambda context: context.owner["tree"].tick(0.1))
    owner["tree"] = HabitTree(root, owner=owner, faults=faults)
    assert owner["tree"].tick(0.1) is Status.FAILED
    assert "'root' was ticked from inside one of its own habits" in str(reports[0].error)
    assert not owner["tree"].is_active


def test_without_isolation_handed_in_faults_are_logged(diary, caplog):
    HabitTree(diary.habit("root", tick=raising(diary, "broken")), name="bob").tick(0.1)
    assert "bob: tick of root failed" in caplog.text


def test_a_character_that_is_gone_leaves_no_failures_behind(faults, reports):
    def fail(_):
        raise RuntimeError("broken")

    machine = StateMachine(StateMachineDefinition("m", [State("a", update=fail)]), faults=faults)
    mind = RuleMind(RuleSet([Rule("r", "", fail, repeats=True)], facts={}), faults=faults)
    tree = HabitTree(Habit("work", tick=fail), faults=faults)
    machine.start()
    for _ in range(5):
        tree.tick(0.1)
        machine.update(0.1)
        mind.think()
    assert faults.counts["quarantined"] == 3
    reports.clear()  # tracebacks keep who failed
    del tree, machine, mind
    gc.collect()
    assert faults.counts["quarantined"] == 0
    assert not faults.has_failing
