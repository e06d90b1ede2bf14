"""Many characters at once: who is visited, who is ticked in a batch, and is it all as if each lived alone?"""
from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.built_in_habits import ValueIs, Wait
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.decisions.population import HabitPopulation
from ai_core.faults import FaultIsolation
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Turn

SUCCEEDED = Status.SUCCEEDED

WAITING = Habit("root", [
    Habit("flee", can_activate=ValueIs("alarm")), Wait("doze", 5.0), Habit("rest", begins_on=("x",))])


def counting(log):
    return Habit("root", tick=lambda context: log.append((context.owner, round(context.elapsed_s, 6))))


def test_awake_members_are_ticked_in_the_order_they_were_added():
    log, population = [], HabitPopulation()
    for name in "cab":
        population.add(HabitTree(counting(log), owner=name))
    population.tick(0.1)
    population.tick(0.5)
    assert log == [("c", 0.0), ("a", 0.0), ("b", 0.0), ("c", 0.5), ("a", 0.5), ("b", 0.5)]


def test_waiting_member_is_visited_only_on_notice_or_when_due():
    world = Blackboard({"alarm": False})
    population = HabitPopulation()
    trees = [population.add(HabitTree(WAITING, blackboard=Blackboard(parent=world))) for _ in range(3)]
    population.tick(0.1)
    population.tick(0.1)
    assert population.awake_count == 0
    population.tick(2.0)
    assert [tree.seconds for tree in trees] == [pytest.approx(2.2)] * 3
    trees[1].blackboard["alarm"] = True
    assert population.awake_count == 1
    population.tick(0.1)
    assert [tree.active_paths() for tree in trees] == [["root/doze"], ["root/flee"], ["root/doze"]]
    population.tick(2.9)
    assert trees[0].root_run.child.time_in_habit_s == pytest.approx(0.0, abs=1e-9)
    world["alarm"] = True
    population.tick(0.1)
    assert [tree.active_paths() for tree in trees] == [["root/flee"]] * 3


def test_spent_budget_puts_the_rest_first_next_with_true_times():
    log, population = [], HabitPopulation()
    for number in range(5):
        population.add(HabitTree(counting(log), owner=number))
    for _ in range(5):
        population.tick(1.0, Budget.of_steps(2))
    assert [owner for owner, _ in log] == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
    assert [elapsed_s for _, elapsed_s in log][5:] == [2.0, 3.0, 2.0, 3.0, 2.0]


def test_visited_members_wait_until_the_rest_is_visited():
    log, population = [], HabitPopulation()
    for number in range(5):
        population.add(HabitTree(counting(log), owner=number))
    for only_rest in (False, True, True, True):
        population.tick(1.0, Budget.of_steps(2), only_rest=only_rest)
    assert [owner for owner, _ in log] == [0, 1, 2, 3, 4]
    for only_rest in (False, False, True, True):
        population.tick(1.0, Budget.of_steps(3), only_rest=only_rest)
    assert [owner for owner, _ in log] == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2]


def test_a_population_is_a_schedulers_work():
    log, clock = [], ManualClock(0.25)
    scheduler, population = Scheduler(clock, policy=Policy.FREQUENCY), HabitPopulation()
    population.add(HabitTree(counting(log), owner="a", clock=clock))
    scheduler.add(population, period_frames=2, phase_frames=0)
    for _ in range(8):
        clock.advance()
        scheduler.advance(Budget.unlimited())
    assert log == [("a", 0.0), ("a", 0.5), ("a", 0.5), ("a", 0.5)]
    with pytest.raises(TypeError, match=r"call tick\(elapsed_s\)"):
        population.advance(Budget.unlimited())


def test_trees_come_and_go_and_live_on_alone():
    log, population = [], HabitPopulation()
    tree = population.add(HabitTree(counting(log), owner="a"))
    population.tick(1.0)
    with pytest.raises(RuntimeError, match="'root' is in a population; tick the population"):
        tree.tick(1.0)
    with pytest.raises(ValueError, match="'root' is already in a population"):
        HabitPopulation().add(tree)
    population.remove(tree)
    assert len(population) == 0
    population.tick(5.0)
    tree.tick(2.0)
    assert log == [("a", 0.0), ("a", 2.0)]
    with pytest.raises(ValueError, match="is not in this population"):
        population.remove(tree)
    with pytest.raises(TypeError, match="tree must be a HabitTree, got 3"):
        population.add(3)


def test_one_may_remove_another_in_the_middle_of_a_tick():
    population, log = HabitPopulation(), []
    first = population.add(HabitTree(Habit("root", tick=lambda context: population.remove(second))))
    second = population.add(HabitTree(counting(log), owner="second"))
    population.tick(0.1)
    assert log == []
    assert list(population) == [first]


def test_who_rests_has_no_turns_and_no_time_and_keeps_its_place():
    log, population = [], HabitPopulation()
    first, second = (population.add(HabitTree(counting(log), owner=name)) for name in "ab")
    population.tick(1.0)
    population.pause(first)
    population.tick(1.0)
    first.notify("anything")
    assert (first.seconds, second.seconds, population.is_paused(first)) == (1.0, 2.0, True)
    population.resume(first, late_s=0.25)
    population.resume(second)
    population.tick(1.0)
    assert log[2:] == [("b", 1.0), ("a", 0.75), ("b", 1.0)]
    population.remove(second)
    with pytest.raises(ValueError, match="is not in this population"):
        population.pause(second)


def test_resumed_member_receives_the_time_from_before_its_rest():
    log, population = [], HabitPopulation()
    tree = population.add(HabitTree(counting(log), owner="a"))
    population.tick(1.0)
    population.pause(tree, late_s=0.25)
    population.tick(1.0)
    population.resume(tree, late_s=0.5)
    population.tick(1.0)
    assert log[1:] == [("a", 0.75)]


def test_who_rests_waits_on_where_it_stopped():
    population = HabitPopulation()
    tree = population.add(HabitTree(Habit("root", [Wait("doze", 5.0), Habit("walk")], Launch.SEQUENTIAL)))
    population.tick(0.0)
    population.tick(4.0)
    population.pause(tree)
    population.tick(100.0)
    population.resume(tree)
    population.tick(0.9)
    assert tree.active_paths() == ["root/doze"]
    population.tick(0.1)
    assert tree.active_paths() == ["root/walk"]


def test_member_added_between_advances_receives_no_earlier_time():
    population = HabitPopulation()
    population.tick(3.0)
    tree = population.add(HabitTree(counting([])), late_s=2.0)
    population.tick(2.5)
    assert tree.seconds == 0.5
    with pytest.raises(ValueError, match="late_s"):
        population.add(HabitTree(counting([])), late_s=-1.0)


def test_sleeping_population_reports_it_and_notifies_on_wake():
    population, woken = HabitPopulation(), []
    population.on_wake = lambda: woken.append(population.is_asleep)
    hearing = Habit("root", [Habit("hear", begins_on=("noise",))])
    trees = [population.add(HabitTree(hearing)) for _ in range(2)]
    population.tick(0.1)
    population.tick(0.1)
    assert (population.is_asleep, woken) == (True, [True])
    for tree in trees:
        tree.notify("noise")
    assert (population.is_asleep, woken) == (False, [True, True])


def test_waits_that_end_early_leave_no_timers_behind():
    waiting = Habit("root", enter=lambda c: c.wait_for("told", at_most_s=600.0), tick=lambda c: SUCCEEDED)
    population = HabitPopulation()
    tree = population.add(HabitTree(waiting))
    for _ in range(300):
        population.tick(0.1)
        tree.notify("told")
    assert len(population._timers) <= 2 * len(population) + 64


def test_a_fault_that_comes_through_stops_nobody_else():
    log, population = [], HabitPopulation()
    population.add(HabitTree(Habit("bad", tick=lambda _: 1 / 0), faults=FaultIsolation(reraise=True)))
    population.add(HabitTree(counting(log), owner="a"))
    with pytest.raises(ZeroDivisionError):
        population.tick(0.1)
    assert log == [("a", 0.0)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["tick", "tick", "long", "alarm", "calm", "stop", "edit", "save"]), max_size=25))
def test_asleep_or_awake_together_or_alone_all_live_the_same(commands):
    def build():
        world = Blackboard({"alarm": False})
        return world, [HabitTree(WAITING, blackboard=Blackboard(parent=world)) for _ in range(3)]

    (world, alone), (other_world, trees) = build(), build()
    population = HabitPopulation()
    for tree in trees:
        population.add(tree)
    for number, command in enumerate(commands):
        if command in ("tick", "long"):
            elapsed_s = 0.25 if command == "tick" else 3.0
            population.tick(elapsed_s)
            for tree in alone:
                tree.tick(elapsed_s)
        elif command in ("alarm", "calm"):
            world["alarm"] = other_world["alarm"] = command == "alarm"
        for one in (alone[number % 3], trees[number % 3]):
            if command == "stop":
                one.stop()
            elif command == "edit" and "root/extra" not in one.plan.by_path:
                one.add("root", Wait("extra", 1.0, cooldown_s=2.0), before="doze")
            elif command == "save":
                one.prepare_state(one.save_state())()
        if command == "save":
            population.prepare_state(population.save_state())()
        assert [tree.to_text() for tree in trees] == [tree.to_text() for tree in alone]


def test_loaded_population_continues_with_the_same_turn():
    logs, populations = [[], []], []
    for log in logs:
        population = HabitPopulation()
        for number in range(3):
            population.add(HabitTree(counting(log), owner=number))
        populations.append(population)
    first, second = populations
    for _ in range(2):
        first.tick(1.0, Budget.of_steps(2))
    second.prepare_state(first.save_state())()
    for tree, saved in zip(second, list(first), strict=True):
        tree.prepare_state(saved.save_state())()
    for log in logs:
        log.clear()
    for population in populations:
        population.tick(1.0, Budget.of_steps(2))
    assert logs[0] == logs[1]
    assert second.seconds == first.seconds


def test_cost_of_adding_and_waking_does_not_grow_with_waiters():
    population = HabitPopulation()
    for _ in range(500):
        population.add(HabitTree(WAITING))
    population.tick(0.1)
    population.tick(0.1)
    visited = []
    tree = population.add(HabitTree(Habit("root", tick=lambda _: visited.append(1))))
    population.tick(0.1)
    assert (len(visited), population.awake_count) == (1, 1)
    assert tree.wakes_at_s == -math.inf


def test_a_turn_is_told_to_trees():
    clock = ManualClock()
    heard = []

    class Tool:
        def state_entered(self, owner, path, reason, now):
            heard.append(now)

    from ai_core.trace import Trace

    trace = Trace()
    trace.listen(Tool())
    population = HabitPopulation()
    population.add(HabitTree(Habit("root"), trace=trace))
    population.advance(Turn(clock.advance(7), 0.5, Budget.unlimited()))
    assert heard == [clock.now]
