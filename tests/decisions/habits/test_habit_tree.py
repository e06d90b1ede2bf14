"""One character living by its habits: what are they told, and when does it end?"""
from __future__ import annotations

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock, TimeIndex
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.faults import FaultIsolation
from ai_core.scheduling.task import Turn
from ai_core.trace import Trace
from tests.decisions.diary import Diary, FixedNumbers

RUNNING, SUCCEEDED, FAILED = Status.RUNNING, Status.SUCCEEDED, Status.FAILED


def test_elapsed_time_is_zero_in_first_tick_and_true_at_any_rate():
    told = []
    tree = HabitTree(
        Habit("root", tick=lambda c: told.append((c.elapsed_s, c.time_in_habit_s))))
    for elapsed_s in (0.5, 0.25, 4.0):
        tree.tick(elapsed_s)
    assert told == [(0.0, 0.0), (0.25, 0.25), (4.0, 4.25)]


def test_a_timer_is_right_when_ticked_rarely():
    wait = Habit(
        "wait", tick=lambda c: SUCCEEDED if c.time_in_habit_s >= 1 else None)
    often, rarely = HabitTree(wait), HabitTree(wait)
    often_ends = [often.tick(0.25) for _ in range(5)]
    assert often_ends == [RUNNING] * 4 + [SUCCEEDED]
    assert [rarely.tick(3.0), rarely.tick(3.0)] == [RUNNING, SUCCEEDED]


def test_shared_definition_finds_data_of_the_current_character():
    said = []
    definition = Habit("root", [Habit("wave", tick=lambda c: said.append((c.owner, c.part)))])
    tree = HabitTree(definition, owner="Ann", parts=[None, "Ann's hand"])
    tree.tick(0.1)
    HabitTree(definition, owner="Bob", parts=["Bob's head", "Bob's hand"]).tick(0.1)
    HabitTree(definition, owner="Cid").tick(0.1)
    assert said == [("Ann", "Ann's hand"), ("Bob", "Bob's hand"), ("Cid", None)]
    tree.add("root", Habit("think", tick=lambda c: said.append(c.part), non_blocking=True), before="wave")
    tree.tick(0.1)
    assert said[3:] == [("Ann", "Ann's hand"), None]


class SenseQueries:
    """A condition that can ask several at once, as scripts in Godot can: parts say whether they want to."""

    def __init__(self, log):
        self.log = log

    def __call__(self, context):
        self.log.append(context.part[0])
        if context.part[1] is None:
            raise RuntimeError("cannot say")
        return context.part[1]

    def first_of(self, parts, numbers):
        for said_no, number in enumerate(numbers):
            if parts[number][1] is None:
                return -1 - said_no
            self.log.append(parts[number][0])
            if parts[number][1]:
                return said_no
        return len(numbers)


def test_batched_conditions_give_the_results_of_single_checks():
    log, faults = [], FaultIsolation(report=lambda fault: log.append(f"{fault.name} failed"))
    ask = SenseQueries(log)
    root = Habit("root", [Habit(name, can_activate=ask) for name in "abc"] + [Habit("rest")])
    parts = [None, ["a", False], ["b", False], ["c", False], None]
    tree = HabitTree(root, parts=parts, faults=faults)
    tree.tick(0.1)
    tree.tick(0.1)
    assert (log, tree.active_paths()) == (list("abcabc"), ["root/rest"])
    parts[2][1] = True
    tree.tick(0.1)
    assert (log[6:], tree.active_paths()) == (["a", "b"], ["root/b"])
    parts[1][1] = None
    tree.tick(0.1)
    assert log[8:] == ["a", "root: can_activate of root/a failed"]
    assert tree.active_paths() == ["root/b"]
    parts[1][1] = True
    tree.tick(0.1)
    assert tree.active_paths() == ["root/a"]


def test_observers_hear_each_begin_and_end_around_the_habits_own():
    log = []
    step = Habit(
        "step", enter=lambda c: log.append("enter"), exit=lambda c: log.append("exit"), tick=lambda c: SUCCEEDED)
    tree = HabitTree(Habit("root", [step], Launch.SEQUENTIAL))
    tree.on_entered = lambda c: log.append(f"+ {c.path} {c.reason}")
    tree.on_exited = lambda c: log.append(f"- {c.path} {c.status.value}")
    tree.tick(0.1)
    assert log == [
        "+ root can activate", "+ root/step first in sequence", "enter", "exit", "- root/step succeeded",
        "- root succeeded"]


def test_what_a_listener_raises_comes_when_the_tree_is_whole():
    tree = HabitTree(Habit("root", [Habit("walk")]))
    tree.on_entered = lambda c: 1 / 0
    with pytest.raises(ZeroDivisionError):
        tree.tick(0.1)
    assert tree.active_paths() == ["root/walk"]


def test_memory_belongs_to_a_run_and_blackboard_to_the_character():
    memories = []

    def tick(context):
        context.memory["ticks"] = context.memory.get("ticks", 0) + 1
        memories.append(context.memory["ticks"])
        return SUCCEEDED if context.memory["ticks"] == 2 else RUNNING

    tree = HabitTree(Habit("root", tick=tick), blackboard={"alarm": True})
    for _ in range(4):
        tree.tick(0.1)
    assert memories == [1, 2, 1, 2]
    assert tree.blackboard == {"alarm": True}
    assert HabitTree(Habit("other")).blackboard == {}


def test_exit_is_told_how_the_habit_ended():
    told = []
    diary = Diary(wants="root b")
    root = diary.habit(
        "root",
        diary.habit("a"),
        diary.habit("b", exit=lambda context: told.append(context.status)))
    tree = HabitTree(root)
    tree.tick(0.1)
    diary.wants.add("a")
    tree.tick(0.1)
    diary.wants.discard("a")
    diary.results = {"a": SUCCEEDED, "b": FAILED}
    tree.tick(0.1)
    assert told == [None, FAILED]


def test_a_root_that_ends_is_pending_until_the_next_tick():
    diary = Diary()
    diary.results["root"] = SUCCEEDED
    tree = HabitTree(diary.habit("root"))
    assert tree.tick(0.1) is SUCCEEDED
    assert not tree.is_active
    assert diary.read() == ["enter root", "tick root", "exit root"]
    diary.wants = set()
    assert tree.tick(0.1) is None
    assert diary.read() == []


def test_stop_ends_children_first_and_the_next_tick_starts_over():
    diary = Diary()
    tree = HabitTree(diary.habit("root", diary.habit("a", diary.habit("b"))))
    tree.tick(0.1)
    diary.read()
    tree.stop()
    tree.stop()
    assert diary.read() == ["exit b", "exit a", "exit root"]
    assert tree.active_paths() == []
    tree.tick(0.1)
    assert tree.active_paths() == ["root/a/b"]


def test_stop_from_inside_a_habit_waits_for_the_end_of_the_tick():
    log = []
    root = Habit(
        "root",
        [
            Habit("a", tick=lambda context: context.owner["tree"].stop()),
            Habit("b", non_blocking=True, tick=lambda context: log.append("b ticked"))],
        exit=lambda context: log.append("root ended"))
    owner = {}
    owner["tree"] = HabitTree(root, owner=owner)
    owner["tree"].tick(0.1)
    assert log == ["b ticked", "root ended"]
    assert not owner["tree"].is_active


def test_a_tree_is_a_schedulers_work():
    told = []
    tree = HabitTree(Habit("root", tick=lambda context: told.append(context.elapsed_s)))
    tree.advance(Turn(TimeIndex(10, 1.0), 0.5, Budget.unlimited()))
    tree.advance(Turn(TimeIndex(20, 2.0), 1.0, Budget.unlimited()))
    assert told == [0.0, 1.0]
    with pytest.raises(TypeError, match=r"without one, call tick\(elapsed_s\)"):
        tree.advance(Budget.unlimited())


@pytest.mark.parametrize(
    ("elapsed_s", "error"), [(-1, ValueError), (float("nan"), ValueError), ("1", TypeError)])
def test_time_that_is_none_is_refused_and_nothing_ticks(elapsed_s, error):
    diary = Diary()
    tree = HabitTree(diary.habit("root"))
    with pytest.raises(error, match="elapsed_s must be"):
        tree.tick(elapsed_s)
    assert diary == []


def test_traces_tell_who_entered_what_and_why():
    class Tool(list):
        def state_entered(self, owner_name, path, reason, now):
            self.append((owner_name, path, reason, now.frame))

    diary = Diary(wants="guard routine patrol look joke smile hum step turn")
    root = diary.habit(
        "guard",
        diary.habit("dodge"),
        diary.habit(
            "routine", diary.habit("step"), diary.habit("turn"), launch=Launch.SEQUENTIAL),
        diary.habit("joke", diary.habit("frown"), diary.habit("smile"), launch=Launch.RANDOM),
        diary.habit("hum", non_blocking=True))
    diary.results = {"step": SUCCEEDED, "turn": SUCCEEDED}
    clock, trace, tool = ManualClock(), Trace(), Tool()
    trace.listen(tool)
    tree = HabitTree(root, name="bob", clock=clock, trace=trace, random=FixedNumbers(0.5, 0.5))

    clock.advance(7)
    tree.tick(0.1)
    clock.advance()
    diary.wants.add("dodge")
    tree.tick(0.1)

    assert tool == [
        ("bob", "guard", "can activate", 7),
        ("bob", "guard/routine", "can activate", 7),
        ("bob", "guard/routine/step", "first in sequence", 7),
        ("bob", "guard/routine/turn", "next in sequence", 7),
        ("bob", "guard/joke", "can activate", 7),
        ("bob", "guard/joke/smile", "chosen 2 of 2", 7),
        ("bob", "guard/hum", "beside the others", 7),
        ("bob", "guard/dodge", "interrupted joke", 8)]
