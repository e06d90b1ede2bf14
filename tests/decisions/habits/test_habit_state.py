"""Saved habit trees: what is active goes on, and nothing begins or ends by loading."""
from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import StateError
from ai_core.saving.values import SavedValues
from tests.decisions.diary import Diary

BOB = object()


class Life:
    """One character that keeps a diary; what it wants is set from outside."""

    def __init__(self, seed=0):
        self.diary = Diary("")
        self.faults = FaultIsolation(report=lambda fault: None)
        habit = self.diary.habit
        root = habit(
            "root",
            habit("dodge", uninterruptible=True, urgency=2.0),
            habit("fight", habit("aim"), habit("shoot"), launch=Launch.SEQUENTIAL),
            habit("idle", habit("sit"), habit("sing"), habit("nap"), launch=Launch.RANDOM),
            habit("hum", non_blocking=True), habit("limp", non_blocking=True),
            Habit("count", tick=self.count, non_blocking=True))
        self.diary.wants.add("root")
        self.tree = HabitTree(root, random=random.Random(seed), faults=self.faults, values=SavedValues({"bob": BOB}))

    def count(self, context):
        context.memory["ticks"] = context.memory.get("ticks", 0) + 1
        context.blackboard[context.memory["ticks"], "s"] = (context.time_in_habit_s, BOB)
        if context.memory["ticks"] == 3:
            context.hold(1.5)

    def live(self, wants, results):
        self.diary.wants = {"root", *wants}
        self.diary.results = dict.fromkeys(results, Status.SUCCEEDED)
        self.tree.tick(0.25)

    def load(self, state):
        self.tree.prepare_state(json.loads(json.dumps(state)))()


NAMES = ("dodge", "fight", "aim", "shoot", "idle", "sit", "sing", "nap", "hum", "limp", "count")
some = st.sampled_from(NAMES)
moments = st.lists(st.tuples(st.sets(some, min_size=3), st.sets(some, max_size=2)), max_size=8)


@settings(max_examples=20)
@given(before=moments, here=moments, after=moments)
def test_a_loaded_tree_lives_on_as_the_saved_one(before, here, after):
    first, second = Life(1), Life(2)
    for moment in before:
        first.live(*moment)
    for moment in here:
        second.live(*moment)
    second.load(first.tree.save_state())
    assert second.tree.to_text() == first.tree.to_text()
    first.diary.read()
    second.diary.read()
    for moment in after:
        first.live(*moment)
        second.live(*moment)
    assert second.diary == first.diary
    assert second.tree.save_state() == first.tree.save_state()


def test_loading_calls_nothing_and_drops_what_was_active_here():
    first, second = Life(), Life()
    second.live({"fight", "aim"}, ())
    run = second.tree.root_run.child
    second.diary.read()
    second.load(first.tree.save_state())
    assert second.diary == []
    assert not second.tree.is_active
    assert run.status is None


def test_the_blackboard_stays_the_same_dict():
    board = {"old": 1}
    habit = Habit("root")
    tree = HabitTree(habit, blackboard=board)
    state = HabitTree(habit, blackboard={"new": [1, (2, 3)]}).save_state()
    tree.prepare_state(state)()
    assert board == {"new": [1, (2, 3)]}
    assert tree.blackboard is board


def test_failures_and_quarantine_are_kept_by_path():
    def fail(context):
        calls.append(context.path)
        raise ValueError("boom")

    calls, trees = [], []
    for _ in range(2):
        faults = FaultIsolation(report=lambda fault: None)
        root = Habit("root", [Habit("bad", tick=fail), Habit("shy", can_activate=fail), Habit("fine")])
        trees.append(HabitTree(root, faults=faults))
    first, second = trees
    first.tick(1.0)
    first.tick(1.0)
    second.prepare_state(json.loads(json.dumps(first.save_state())))()
    calls.clear()
    for _ in range(4):
        second.tick(1.0)
    assert calls == ["root/bad", "root/shy"]
    assert second.to_text().count("quarantined after repeated failures") == 2
    second.release_quarantined()
    second.tick(1.0)
    assert calls == ["root/bad", "root/shy"] * 2


def test_a_habit_that_is_not_here_any_more_is_named():
    state = HabitTree(Habit("root", [Habit("fihgt")]))
    state.tick(1.0)
    with pytest.raises(StateError, match=r"'active\[1\].path': unknown habit 'root/fihgt'; did you mean"):
        HabitTree(Habit("root", [Habit("fight")])).prepare_state(state.save_state())


def test_unsavable_generator_is_an_error_only_where_it_draws():
    class Chance:
        def random(self):
            return 0.5

    HabitTree(Habit("root"), random=Chance()).save_state()
    root = Habit("root", [Habit("a")], Launch.RANDOM)
    with pytest.raises(TypeError, match=r"cannot be saved; use random\.Random"):
        HabitTree(root, random=Chance()).save_state()


def test_what_cannot_be_saved_is_named():
    life = Life()
    life.tree.blackboard["target"] = [object()]
    with pytest.raises(StateError, match=r"'blackboard.target\[0\]' must be plain data or a named object"):
        life.tree.save_state()


def test_saving_and_loading_wait_for_the_end_of_the_tick():
    tree = HabitTree(Habit("root", tick=lambda context: tree.save_state()), faults=FaultIsolation(reraise=True))
    with pytest.raises(RuntimeError, match="'root' is in the middle of a tick; save and load between two frames"):
        tree.tick(1.0)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("active",), 3, "'active' must be a list, got 3"),
        (("active", 1, "path"), "root/dodge", r"'active\[2\].path' must come after its parent 'root/fight'"),
        (("active", 1, "path"), "root", r"'active\[1\].path' occurs twice: 'root'"),
        (("active", 2, "path"), "root/idle", "must not be active together with 'root/fight', got 'root/idle'"),
        (("active", 0, "memory"), [], r"'active\[0\].memory' must be a dict"),
        (("active", 0, "elapsed_s"), None, r"'active\[0\].elapsed_s' must be a finite number"),
        (("holds",), {"root/idle": 1}, "'holds.root/idle' must be an active habit"),
        (("holds",), {"root": "x"}, "'holds.root' must be a finite number"),
        (("cooldowns",), {"root": "x"}, "'cooldowns.root' must be a finite number"),
        (("active", 1, "waits_for"), [3], r"'active\[1\].waits_for\[0\]' must be a string, got 3"),
        (("messages",), {"noise": 3}, "'messages.noise' must be a dict"),
        (("endings",), {"root/x": "done"}, "'endings.root/x' is not valid: unknown habit 'root/x'"),
        (("blackboard",), 3, "'blackboard' must be a dict"),
        (("random", "index"), 700, "'random.index' must be at most 624"),
        (("failing",), [["root/x", [1, False]]], r"'failing\[0\]\[0\]': unknown callback 'root/x'")])
def test_a_state_that_cannot_be_is_refused(path, value, message):
    life = Life()
    life.live({"fight", "aim", "hum"}, ())
    state = json.loads(json.dumps(life.tree.save_state()))
    box = state
    for key in path[:-1]:
        box = box[key]
    box[path[-1]] = value
    before = life.tree.save_state()
    with pytest.raises(StateError, match=message):
        life.tree.prepare_state(state)
    assert life.tree.save_state() == before


def test_save_with_values_of_wrong_type_is_refused_unchanged():
    habit = Habit("root")
    state = HabitTree(habit, blackboard={"health": "full", "gold": 3}).save_state()
    board = Blackboard({"health": 1.0}, types={"health": float}, name="bob")
    tree = HabitTree(habit, blackboard=board)
    tree.tick(0.1)
    with pytest.raises(StateError, match="'blackboard' cannot be loaded: blackboard 'bob': 'health' must"):
        tree.prepare_state(state)
    assert (dict(board), tree.is_active) == ({"health": 1.0}, True)
    tree.prepare_state(HabitTree(habit, blackboard={"health": 2}).save_state())()
    assert type(board["health"]) is float


def test_watchers_hear_loaded_changes_once_all_is_loaded():
    habit = Habit("root")
    state = HabitTree(habit, blackboard={"health": 1, "gold": 3}).save_state()
    board = Blackboard({"health": 1, "gold": 5, "keys": 2})
    tree = HabitTree(habit, blackboard=board)
    tree.tick(0.1)
    heard = []
    for key in ("health", "gold", "keys"):
        board.watch(key, lambda key, value: heard.append((key, value, dict(board), tree.is_active)))
    tree.prepare_state(state)()
    now = {"health": 1, "gold": 3}
    assert heard == [("gold", 3, now, False), ("keys", None, now, False)]


def test_who_watches_and_raises_spoils_no_loading():
    habit = Habit("root")
    state = HabitTree(habit, blackboard={"health": 1}).save_state()
    board = Blackboard({"health": 2})
    tree = HabitTree(habit, blackboard=board)
    tree.tick(0.1)
    board.watch("health", lambda key, value: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tree.prepare_state(state)()
    assert (dict(board), tree.is_active) == ({"health": 1}, False)
