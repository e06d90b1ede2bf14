"""One character living by its habits: what are they told, and when does it end?"""
from __future__ import annotations

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock, TimeIndex
from ai_core.decisions.habit_tree import HabitTree
from ai_core.decisions.habits import Habit, Launch, Status
from ai_core.scheduling.task import Turn
from ai_core.trace import Trace
from tests.decisions.diary import Diary, FixedNumbers

RUNNING, SUCCEEDED, FAILED = Status.RUNNING, Status.SUCCEEDED, Status.FAILED


def test_elapsed_time_is_zero_in_the_first_tick_and_true_at_any_rate():
    told = []
    tree = HabitTree(
        Habit("root", tick=lambda c: told.append((c.elapsed_s, c.time_in_habit_s)))
    )
    for elapsed_s in (0.5, 0.25, 4.0):
        tree.tick(elapsed_s)
    assert told == [(0.0, 0.0), (0.25, 0.25), (4.0, 4.25)]


def test_a_timer_is_right_when_ticked_rarely():
    wait = Habit(
        "wait", tick=lambda c: SUCCEEDED if c.time_in_habit_s >= 1 else None
    )
    often, rarely = HabitTree(wait), HabitTree(wait)
    often_ends = [often.tick(0.25) for _ in range(5)]
    assert often_ends == [RUNNING] * 4 + [SUCCEEDED]
    assert [rarely.tick(3.0), rarely.tick(3.0)] == [RUNNING, SUCCEEDED]


def test_memory_belongs_to_one_run_and_the_blackboard_to_the_character():
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
        diary.habit("b", exit=lambda context: told.append(context.status)),
    )
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


def test_stop_ends_children_before_parents_and_the_next_tick_begins_anew():
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
            Habit("b", non_blocking=True, tick=lambda context: log.append("b ticked")),
        ],
        exit=lambda context: log.append("root ended"),
    )
    owner = {}
    owner["tree"] = HabitTree(root, owner=owner)
    owner["tree"].tick(0.1)
    assert log == ["b ticked", "root ended"]
    assert not owner["tree"].is_active


def test_a_tree_is_a_schedulers_work_by_its_method_advance():
    told = []
    tree = HabitTree(Habit("root", tick=lambda context: told.append(context.elapsed_s)))
    tree.advance(Turn(TimeIndex(10, 1.0), 0.5, Budget.unlimited()))
    tree.advance(Turn(TimeIndex(20, 2.0), 1.0, Budget.unlimited()))
    assert told == [0.0, 1.0]
    with pytest.raises(TypeError, match=r"add tree\.advance to the scheduler, not the tree"):
        tree.advance(Budget.unlimited())


@pytest.mark.parametrize(
    ("elapsed_s", "error"), [(-1, ValueError), (float("nan"), ValueError), ("1", TypeError)]
)
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
            "routine", diary.habit("step"), diary.habit("turn"), launch=Launch.SEQUENTIAL
        ),
        diary.habit("joke", diary.habit("frown"), diary.habit("smile"), launch=Launch.RANDOM),
        diary.habit("hum", non_blocking=True),
    )
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
        ("bob", "guard/dodge", "interrupted joke", 8),
    ]
