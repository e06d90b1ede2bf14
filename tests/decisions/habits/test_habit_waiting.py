"""Waiting costs nothing: who is asked and ticked when, and when does a tree sleep?"""
from __future__ import annotations

import math

import pytest

from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.habit_runner_loops import notify_each
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.faults import FaultIsolation

SUCCEEDED = Status.SUCCEEDED


class Asked:
    """A condition that counts how often it is asked."""

    def __init__(self, key="alarm"):
        self.key, self.times = key, 0

    def __call__(self, context):
        self.times += 1
        return context.blackboard.get(self.key, False)


def guard(condition, **options):
    return HabitTree(
        Habit("guard", [Habit("flee", can_activate=condition, **options), Habit("stand")]),
        blackboard=Blackboard(name="bob"))


def test_changes_for_less_urgent_habits_do_not_wake_a_tree():
    asked, ends = Asked("seen_at"), []
    chase = Habit("chase", can_activate=lambda run: not ends, tick=lambda run: SUCCEEDED if ends else run.wait_s(1.0))
    search = Habit("search", can_activate=asked, wakes_on=("seen_at",))
    tree = HabitTree(Habit("guard", [chase, search, Habit("stand")]), blackboard=Blackboard(name="bob"))
    tree.tick(0.1)
    tree.tick(0.1)
    for place in range(1, 5):
        tree.blackboard["seen_at"] = place
        assert tree.is_asleep
        tree.tick(0.1)
    assert asked.times == 0
    ends.append(True)
    tree.tick(1.0)
    assert asked.times == 1
    assert tree.active_paths() == ["guard/search"]


def test_waits_of_active_habits_wake_a_tree_whatever_listens():
    woken = []
    wait = Habit("wait", enter=lambda run: run.wait_for("seen_at"), tick=lambda run: woken.append(run.woken_by))
    search = Habit("search", can_activate=Asked("seen_at"), wakes_on=("seen_at",))
    tree = HabitTree(Habit("guard", [wait, search]), blackboard=Blackboard(name="bob"))
    tree.tick(0.1)
    tree.tick(0.1)
    tree.blackboard["seen_at"] = 1
    tree.tick(0.1)
    assert woken == ["seen_at"]


def test_condition_on_a_key_is_asked_only_after_a_change():
    asked = Asked()
    tree = guard(asked, wakes_on=("alarm",))
    for _ in range(5):
        tree.tick(0.1)
    assert asked.times == 1
    tree.blackboard["other"] = 1
    tree.blackboard["alarm"] = True
    for _ in range(5):
        tree.tick(0.1)
    assert asked.times == 2
    assert tree.active_paths() == ["guard/flee"]


def test_a_tree_in_which_all_wait_sleeps_until_it_is_told():
    tree = guard(Asked(), wakes_on=("alarm",))
    woken = []
    tree.on_wake = woken.append
    tree.tick(0.1)
    tree.tick(0.1)
    assert tree.wakes_at_s == math.inf
    tree.blackboard["alarm"] = True
    tree.blackboard["alarm"] = False
    assert woken == [tree]
    assert tree.wakes_at_s == -math.inf
    tree.tick(0.1)
    assert tree.active_paths() == ["guard/stand"]


def test_the_key_may_stand_in_a_scope_around():
    world = Blackboard({"alarm": False}, name="world")
    tree = HabitTree(
        Habit("guard", [Habit("flee", can_activate=Asked(), wakes_on=("alarm",)), Habit("stand")]),
        blackboard=Blackboard(parent=world))
    tree.tick(0.1)
    world["alarm"] = True
    tree.tick(0.1)
    assert tree.active_paths() == ["guard/flee"]


def test_a_change_while_a_hold_forbids_is_not_lost():
    tree = guard(Asked(), wakes_on=("alarm",))
    tree.tick(0.1)
    stand = tree.root_run.child
    stand.hold()
    tree.blackboard["alarm"] = True
    tree.tick(0.1)
    assert tree.active_paths() == ["guard/stand"]
    stand.release()
    tree.tick(0.1)
    assert tree.active_paths() == ["guard/flee"]


def test_ended_habit_that_still_wants_to_run_is_asked_next_tick():
    begun = []
    shout = Habit("shout", wakes_on=("alarm",), enter=begun.append, tick=lambda _: SUCCEEDED)
    tree = HabitTree(Habit("guard", [shout, Habit("stand")]))
    for _ in range(3):
        tree.tick(0.1)
    assert len(begun) == 3


def test_periodic_condition_keeps_its_period_at_any_tick_rate():
    for elapsed_s, expected in ((0.05, 11), (0.1, 11), (1.0, 6)):
        asked = Asked()
        tree = guard(asked, asks_every_s=0.5)
        while tree.seconds < 5.04:
            tree.tick(elapsed_s)
        assert asked.times == pytest.approx(expected, abs=1)
    tree.tick(0.1)
    assert tree.wakes_at_s == pytest.approx(tree.seconds + 0.4)


def test_a_run_keeps_the_payload_it_began_on_while_it_repeats():
    began, entered = [], []
    flee = Habit("flee", begins_on=("shot at", "noise"), remembers_s=9.0, repeats=2,
                 enter=lambda run: began.append(run.payload), tick=lambda run: Status.SUCCEEDED)
    tree = HabitTree(Habit("guard", [flee, Habit("patrol")]))
    tree.on_entered = lambda run: entered.append(run.payload)
    tree.tick(0.1)
    assert entered == [None, None]
    tree.notify("shot at", "arrow")
    tree.tick(0.1)
    tree, saved = HabitTree(Habit("guard", [flee, Habit("patrol")])), tree.save_state()
    tree.prepare_state(saved)()
    tree.tick(0.1)
    assert (began, entered[2:]) == (["arrow", "arrow"], ["arrow"])
    tree.tick(0.1)
    tree.notify("noise", "bang")
    tree.tick(0.1)
    assert began == ["arrow", "arrow", "bang"]


def test_event_triggered_habit_begins_in_the_next_tick_only():
    tree = guard(None, begins_on=("shot at",))
    tree.tick(0.1)
    tree.notify("shot at", "arrow")
    tree.tick(0.1)
    assert tree.active_paths() == ["guard/flee"]
    assert tree.root_run.child.payload_of("shot at") == "arrow"
    tree.stop()
    tree.tick(0.1)
    assert tree.active_paths() == ["guard/stand"]


def test_event_is_remembered_past_a_hold_as_long_as_declared():
    for remembers_s, expected in ((0.0, "stand"), (0.5, "flee")):
        tree = guard(None, begins_on=("shot at",), remembers_s=remembers_s)
        tree.tick(0.1)
        tree.root_run.child.hold()
        tree.notify("shot at")
        tree.tick(0.1)
        tree.tick(0.1)
        tree.root_run.child.release()
        tree.tick(0.1)
        assert tree.active_paths() == [f"guard/{expected}"]


def test_a_message_without_listeners_plans_no_new_turn():
    heard = []
    root = Habit("guard", [
        Habit("bark", begins_on=("bell",)), Habit("patrol", tick=lambda c: heard.append(c.payload_of("noise")))])
    tree = HabitTree(root)
    tree.tick(0.1)
    tree.tick(0.1)
    tree.notify("noise", "bang")
    assert tree.save_state()["noticed"] is None
    tree.tick(0.1)
    tree.tick(0.1)
    assert heard == [None, None, "bang", None]
    tree.notify("bell")
    assert tree.save_state()["noticed"] == ["bell"]


def test_many_trees_are_notified_each_with_its_payload():
    heard = []

    def barker(name):
        tree = HabitTree(Habit("dog", [
            Habit("bark", begins_on=("noise",), tick=lambda c: heard.append((name, c.payload)))]))
        tree.tick(0.1)
        return tree

    trees = [barker("rex"), None, barker("bello")]
    notify_each(trees, "noise", ["bang", "nothing", "knock"])
    for tree in trees[::2]:
        tree.tick(0.1)
    assert heard == [("rex", "bang"), ("bello", "knock")]
    with pytest.raises(ValueError, match="one for each of the 3 trees, got 1"):
        notify_each(trees, "noise", ["bang"])


def test_one_event_begins_each_of_its_habits_exactly_once():
    began = []

    def one(name, **options):
        options |= {"begins_on": ("noise",), "enter": lambda c: began.append(name), "tick": lambda _: SUCCEEDED}
        return Habit(name, **options)

    root = Habit("guard", [one("look", remembers_s=9.0), one("bark", non_blocking=True), Habit("stand")])
    tree = HabitTree(root)
    tree.tick(0.1)
    tree.notify("noise")
    for _ in range(4):
        tree.tick(0.1)
    assert began == ["look", "bark"]
    tree.notify("noise")
    tree.tick(0.1)
    assert began == ["look", "bark"] * 2


def test_a_habit_that_waits_for_time_is_ticked_when_it_is_over():
    ticks = []

    def tick(context):
        ticks.append(round(context.elapsed_s, 6))
        context.wait_s(1.0)

    tree = HabitTree(Habit("root", tick=tick))
    for _ in range(31):
        tree.tick(0.1)
    assert ticks == [0.0, 1.0, 1.0, 1.0]
    tree.tick(0.1)
    assert tree.wakes_at_s == pytest.approx(4.1)


def test_habit_waiting_for_a_name_hears_it_or_times_out():
    def tick(context):
        if context.payload_of("door") is not None:
            return SUCCEEDED
        if context.time_in_habit_s >= 2.0:
            return Status.FAILED
        context.wait_for("door", at_most_s=2.0)
        return None

    tree = HabitTree(Habit("root", tick=tick))
    tree.tick(0.1)
    tree.tick(1.0)
    tree.notify("door", "front")
    assert tree.tick(0.1) is SUCCEEDED
    assert tree.tick(0.1) is Status.RUNNING
    assert tree.tick(1.9) is Status.RUNNING
    assert tree.tick(0.1) is Status.FAILED


def test_a_key_that_one_waits_for_wakes_it_when_it_changes():
    root = Habit("root", tick=lambda c: SUCCEEDED if c.blackboard.get("open") else c.wait_for("open"))
    tree = HabitTree(root, blackboard=Blackboard())
    tree.tick(0.1)
    tree.tick(0.1)
    assert tree.wakes_at_s == math.inf
    assert "* root: active for 0.10 s, waits for open, can activate" in tree.to_text()
    tree.blackboard["open"] = True
    assert tree.tick(0.1) is SUCCEEDED


def test_a_generator_goes_on_where_it_stopped():
    said = []

    def patrol(context):
        said.append("go")
        yield
        said.append("look")
        yield 1.0
        said.append("listen")
        yield "noise"
        said.append("turn")
        yield ("noise", 0.5)
        said.append("home")

    tree = HabitTree(Habit("patrol", tick=patrol))
    heard = []
    for number in range(40):
        if number == 25:
            tree.notify("noise")
        status = tree.tick(0.1)
        heard.append(len(said))
        if status is SUCCEEDED:
            break
    assert said == ["go", "look", "listen", "turn", "home"]
    assert heard == [1] + [2] * 10 + [3] * 14 + [4] * 5 + [5]


def test_generator_method_works_and_interrupt_runs_its_finally():
    class Work(Habit):
        def tick(self, context):
            try:
                yield
                yield "never"
            finally:
                context.blackboard["tools"] = "put away"

    tree = HabitTree(Work("work"))
    tree.tick(0.1)
    tree.tick(0.1)
    tree.stop()
    assert tree.blackboard == {"tools": "put away"}


def test_generator_returns_its_outcome_and_restarts_each_run():
    def tick(context):
        yield
        return Status.FAILED

    tree = HabitTree(Habit("root", tick=tick))
    assert [tree.tick(0.1) for _ in range(4)] == [Status.RUNNING, Status.FAILED] * 2


def test_what_a_generator_may_yield_is_told():
    def tick(context):
        yield Status.RUNNING

    tree = HabitTree(Habit("root", tick=tick), faults=FaultIsolation(reraise=True))
    with pytest.raises(TypeError, match=r"'root' must yield nothing, seconds, a name, or .*, got <Status\.RUNNING"):
        tree.tick(0.1)


def patrol(context):
    legs = context.memory.setdefault("legs", [])
    if context.restart_point != "second leg":
        legs.append("first")
        yield 1.0
        context.restart_at("second leg")
    legs.append("second")
    yield 1.0


@pytest.mark.parametrize(("ticks", "legs"), [(5, ["first", "first", "second"]), (12, ["first", "second", "second"])])
def test_loaded_generator_resumes_at_the_point_it_declared(ticks, legs):
    definition = Habit("root", tick=patrol)
    tree, other = HabitTree(definition), HabitTree(definition)
    for _ in range(ticks):
        tree.tick(0.1)
    other.prepare_state(tree.save_state())()
    run = other.root_run
    while other.tick(0.1) is Status.RUNNING:
        pass
    assert run.memory["legs"] == legs


def test_what_waits_goes_on_waiting_after_loading():
    def build():
        flee = Habit("flee", can_activate=Asked(), wakes_on=("alarm",), cooldown_s=3.0)
        look = Habit("look", begins_on=("noise",), remembers_s=5.0)
        doze = Habit("doze", tick=lambda c: c.wait_for("breakfast", at_most_s=8.0))
        return HabitTree(Habit("guard", [flee, Habit("quiet", [look, doze])]), blackboard=Blackboard())

    tree, other = build(), build()
    tree.blackboard["alarm"] = True
    tree.tick(0.5)
    tree.blackboard["alarm"] = False
    tree.remove("guard/flee")
    tree.add("guard", build().definition.children[0], before="quiet")
    tree.tick(0.5)
    tree.root_run.child.child.hold()
    tree.notify("noise", [1, 2])
    other.prepare_state(tree.save_state())()
    assert other.save_state() == tree.save_state()
    for one in (tree, other):
        one.tick(0.5)
        one.root_run.child.child.release()
        one.tick(0.5)
        assert one.active_paths() == ["guard/quiet/look"]
        assert one.root_run.child.child.payload_of("noise") == [1, 2]
    assert other.to_text() == tree.to_text()


def test_a_wait_needs_names_or_time_and_an_active_habit():
    tree = HabitTree(Habit("root", [Habit("a")], Launch.PRIORITIZED))
    tree.tick(0.1)
    run = tree.root_run
    with pytest.raises(ValueError, match="names must hold non-empty strings"):
        run.wait_for()
    with pytest.raises(ValueError, match="seconds must be at least 0"):
        run.wait_s(-1)
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        tree.notify(3)
    tree.stop()
    with pytest.raises(RuntimeError, match="'root' is not active and cannot wait"):
        run.wait_s(1)


def dodger(launch, allowed, wanted, **options):
    return HabitTree(Habit("guard", [
        Habit("dodge", begins_on=("noise",), remembers_s=0.5, can_activate=lambda _: allowed[0],
              score=lambda _: wanted[0], **options),
        Habit("stand", score=lambda _: 0.5)], launch))


@pytest.mark.parametrize(("after", "expected"), [(2, "dodge"), (6, "stand")])
@pytest.mark.parametrize("launch", [Launch.PRIORITIZED, Launch.UTILITY])
def test_a_remembered_event_begins_a_habit_once_it_can(launch, after, expected):
    allowed, wanted = [launch is Launch.UTILITY], [0.0]
    tree = dodger(launch, allowed, wanted)
    tree.tick(0.1)
    tree.notify("noise")
    for _ in range(after):
        tree.tick(0.1)
        assert tree.active_paths() == ["guard/stand"]
    allowed[0], wanted[0] = True, 0.9
    tree.tick(0.1)
    assert tree.active_paths() == [f"guard/{expected}"]


def test_who_waits_is_not_asked_by_a_remembered_event():
    asked = []
    root = Habit("guard", [
        Habit("dodge", begins_on=("noise",), remembers_s=9.0, wakes_on=("seen",), can_activate=asked.append),
        Habit("stand")])
    tree = HabitTree(root)
    tree.tick(0.1)
    tree.notify("noise")
    for _ in range(5):
        tree.tick(0.1)
    assert len(asked) == 1
    tree.notify("seen")
    tree.tick(0.1)
    assert len(asked) == 2


def test_a_tree_sleeps_again_once_an_event_is_forgotten():
    tree = dodger(Launch.PRIORITIZED, [False], [0.0])
    tree.tick(0.1)
    tree.tick(0.1)
    assert tree.wakes_at_s == math.inf
    tree.notify("noise")
    tree.tick(0.1)
    assert tree.wakes_at_s != math.inf
    for _ in range(6):
        tree.tick(0.1)
    assert tree.wakes_at_s == math.inf
