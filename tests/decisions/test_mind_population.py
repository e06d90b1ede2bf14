"""Many minds of one kind: who is visited, what time they are told, whose turn it is?"""
from __future__ import annotations

import json
from math import inf
from sys import getsizeof

import pytest

from ai_core.budget import Budget
from ai_core.decisions.population import MindPopulation
from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import State, StateMachineDefinition, Transition
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import StateError


class Mind:
    """Writes down what it was told; rests as it is told."""

    def __init__(self, rest_s=0.0):
        self.rest_s, self.told = rest_s, []

    def live(self, elapsed_s):
        self.told.append(elapsed_s)
        if isinstance(self.rest_s, Exception):
            raise self.rest_s
        return self.rest_s


def population_of(*minds, **options):
    population = MindPopulation(**options)
    for mind in minds:
        population.add(mind)
    return population


def test_who_waits_for_ever_is_visited_once_and_again_when_woken():
    asleep, awake = Mind(inf), Mind()
    population = population_of(asleep, awake)
    for _ in range(4):
        population.tick(0.5)
    assert (asleep.told, awake.told, population.awake_count) == ([0.5], [0.5] * 4, 1)
    population.wake(asleep, late_s=0.125)
    population.tick(0.25)
    assert asleep.told == [0.5, 0.125]


def test_who_rests_for_a_time_is_visited_when_it_is_over():
    mind = Mind(1.0)
    population = population_of(mind)
    for _ in range(9):
        population.tick(0.25)
    assert mind.told == [0.25, 1.0, 1.0]
    assert not population.is_asleep
    mind.rest_s = inf
    population.tick(1.0)
    assert population.is_asleep


def test_who_wakes_the_first_says_so():
    woken = []
    mind = Mind(inf)
    population = population_of(mind)
    population.on_wake = lambda: woken.append(population.awake_count)
    population.tick(0.1)
    population.wake(mind)
    population.wake(mind)
    assert woken == [0]


def test_spent_budget_puts_the_rest_first_with_all_their_time():
    minds = [Mind() for _ in range(5)]
    population = population_of(*minds)
    for _ in range(5):
        population.tick(1.0, Budget.of_steps(2))
    assert [sum(mind.told) for mind in minds] == [3.0, 4.0, 4.0, 5.0, 5.0]
    assert [len(mind.told) for mind in minds] == [2, 2, 2, 2, 2]
    assert population.is_unfinished


def test_visited_members_wait_until_the_rest_is_visited():
    minds = [Mind() for _ in range(5)]
    population = population_of(*minds)
    for only_rest in (False, True, True, True):
        population.tick(1.0, Budget.of_steps(2), only_rest=only_rest)
    assert [mind.told for mind in minds] == [[1.0], [1.0], [2.0], [2.0], [3.0]]
    assert not population.is_unfinished
    population.tick(0.5, Budget.of_steps(3))
    population.tick(0.5, Budget.of_steps(3))        # the fourth, the fifth, the first
    population.remove(minds[1])
    population.tick(0.5, only_rest=True)            # the third, as the second is gone
    assert [len(mind.told) for mind in minds] == [3, 2, 3, 2, 2]


def test_whom_a_round_did_not_reach_is_saved():
    ours, other = ([Mind() for _ in range(5)] for _ in range(2))
    first, second = population_of(*ours), population_of(*other)
    for _ in range(2):
        first.tick(1.0, Budget.of_steps(3))
    second.prepare_state(first.save_state())()
    second.prepare_state({**second.save_state(), "turns": [1, -1]})
    for mind in ours:
        mind.told.clear()
    for population in (first, second):
        population.tick(1.0, only_rest=True)
    assert [mind.told for mind in ours] == [mind.told for mind in other] == [[], [2.0], [2.0], [], []]


def test_while_it_rests_a_minds_time_stands_still():
    mind = Mind()
    population = population_of(mind)
    population.tick(1.0)
    population.pause(mind, late_s=0.25)
    population.tick(5.0)
    population.resume(mind, late_s=0.5)
    population.tick(1.0)
    assert mind.told == [1.0, 0.75]


def test_raising_mind_is_named_and_quarantined_after_three_times():
    reports = []
    bad, good = Mind(ValueError("on purpose")), Mind()
    population = population_of(
        bad, good, faults=FaultIsolation(report=reports.append), name_of=lambda mind: "bad" if mind is bad else "good")
    for _ in range(6):
        population.tick(0.1)
    assert [(fault.name, fault.is_quarantined) for fault in reports] == [("bad", False), ("bad", False), ("bad", True)]
    assert len(good.told) == 6
    population.resume(bad)
    population.tick(0.1)
    assert len(bad.told) == 4
    population.pause(bad)
    population.resume(bad)
    population.resume(good)
    population.tick(0.1)
    assert (len(bad.told), len(good.told)) == (5, 8)


def test_quarantined_mind_is_not_visited_when_woken_or_loaded():
    bad = Mind(ValueError("on purpose"))
    population = population_of(bad, faults=FaultIsolation(report=lambda _: None))
    for _ in range(3):
        population.tick(0.1)
    population.wake(bad)
    population.prepare_state(population.save_state())()
    population.tick(0.1)
    assert (len(bad.told), population.is_asleep) == (3, True)
    bad.rest_s = 0.0
    population.resume(bad)
    population.tick(0.1)
    assert len(bad.told) == 4


def test_of_one_that_leaves_and_raises_nothing_is_kept():
    faults = FaultIsolation(report=lambda _: None)
    population = MindPopulation(faults=faults)

    class Leaving(Mind):
        def live(self, elapsed_s):
            population.remove(self)
            raise ValueError("on purpose")

    population.add(Leaving())
    population.tick(0.1)
    assert not faults.has_failing


def test_a_population_cannot_be_ticked_from_inside_it():
    reports = []
    population = MindPopulation(faults=FaultIsolation(report=reports.append))

    class Ticking(Mind):
        def live(self, elapsed_s):
            population.tick(elapsed_s)
            return 0.0

    population.add(Ticking())
    population.tick(0.1)
    assert "tick it from outside" in str(reports[0].error)


def test_population_whose_turns_are_all_done_is_loaded_as_such():
    first, second = population_of(Mind(), Mind()), population_of(Mind(), Mind())
    first.tick(0.1)
    second.prepare_state(first.save_state())()
    assert not second.is_unfinished


def test_a_mind_may_leave_and_others_come_while_they_are_visited():
    population = MindPopulation()

    class Leaving(Mind):
        def live(self, elapsed_s):
            population.remove(self)
            population.remove(other)
            population.add(late)
            return 0.0

    other, late = Mind(), Mind()
    population.add(Leaving())
    population.add(other)
    population.tick(0.5)
    population.tick(0.5)
    assert (other.told, late.told, len(population)) == ([], [0.5], 1)
    with pytest.raises(ValueError, match="is not in this population"):
        population.wake(other)
    with pytest.raises(ValueError, match="already in this population"):
        population.add(late)


def test_it_goes_on_where_it_was_saved():
    ours, other = ([Mind() for _ in range(3)] for _ in range(2))
    first, second = population_of(*ours), population_of(*other)
    first.tick(0.1, Budget.of_steps(2))
    first.tick(0.1, Budget.of_steps(2))
    second.prepare_state(first.save_state())()
    for mind in ours:
        mind.told.clear()
    for population in (first, second):
        population.tick(0.1, Budget.of_steps(2))
        population.tick(0.1)
    assert [mind.told for mind in ours] == [mind.told for mind in other]
    assert first.save_state() == second.save_state()
    with pytest.raises(StateError, match=r"turns\[0\]"):
        population_of().prepare_state({**first.save_state(), "turns": [-7, -1]})


def sleepy():
    return [Mind(inf), Mind(1.0), Mind(), Mind()]


def test_who_slept_sleeps_on_when_it_is_loaded():
    ours, other = sleepy(), sleepy()
    first, second = population_of(*ours), population_of(*other)
    first.tick(0.25)
    first.tick(0.5)
    first.pause(ours[3], late_s=0.125)
    second.pause(other[3])
    second.prepare_state(json.loads(json.dumps(first.save_state())))()
    assert [second.is_sleeping(mind) for mind in other] == [True, True, False, True]
    for mind in ours:
        mind.told.clear()
    for population, minds in ((first, ours), (second, other)):
        population.wake(minds[0], late_s=0.0625)
        population.resume(minds[3])
        for _ in range(3):
            population.tick(0.25)
    assert [mind.told for mind in ours] == [mind.told for mind in other]


def test_all_are_visited_once_after_a_save_of_more_minds():
    first = population_of(*sleepy())
    first.tick(0.25)
    minds = sleepy()[:3]
    second = population_of(*minds)
    second.tick(0.5)
    second.prepare_state(first.save_state())()
    second.tick(0.25)
    assert [len(mind.told) for mind in minds] == [2] * 3


def test_all_are_visited_once_where_other_minds_are_here():
    first = population_of(*sleepy())
    first.tick(0.25)
    first.tick(0.5)
    minds = sleepy()
    second = population_of(*minds)
    second.prepare_state(second.without_members(first.save_state()))()
    assert second.save_state()["seconds"] == 0.75
    assert not any(second.is_sleeping(mind) for mind in minds)


def test_who_sleeps_takes_no_room_among_those_who_are_awake():
    minds = [Mind(inf) for _ in range(1000)]
    population = population_of(*minds)
    population.tick(0.1)
    population.wake(minds[7])
    population.tick(0.1)
    assert getsizeof(population._awake) < 2 * getsizeof({7: minds[7]})


def test_what_was_saved_of_more_minds_than_are_here_loads():
    saved, few = [Mind() for _ in range(3)], [Mind() for _ in range(2)]
    first, second = population_of(*saved), population_of(*few)
    first.tick(0.5)
    first.pause(saved[2])
    first.resume(saved[2], late_s=0.25)
    second.prepare_state(first.save_state())()
    second.tick(0.5)
    assert [mind.told for mind in few] == [[0.5], [0.5]]


def machine(*transitions, update=None):
    definition = StateMachineDefinition("m", [State("a", update=update), State("b")], transitions)
    made = StateMachine(definition)
    made.update(0.0)
    return made


def test_machine_rests_until_its_time_is_over_or_an_event_comes():
    assert machine(Transition("go", "a", "b")).sleep_s == inf
    assert machine(Transition("go", "a", "b"), update=lambda _: None).sleep_s == 0.0
    assert machine(Transition(None, "a", "b", guard=lambda _: False)).sleep_s == 0.0
    timed = machine(Transition(None, "a", "b", after_s=2.0), Transition(None, "b", "a", after_s=5.0))
    timed.update(0.5)
    assert timed.sleep_s == pytest.approx(1.5)
    timed.update(timed.sleep_s + 1e-8)
    assert (timed.state, timed.sleep_s) == ("b", pytest.approx(5.0))
    assert StateMachine(timed.definition).sleep_s == 0.0


class Guard:
    """Lives by a machine that has no clock."""

    def __init__(self):
        self.machine = machine(Transition(None, "a", "b", after_s=2.0), Transition(None, "b", "a", after_s=1.0))

    def live(self, elapsed_s):
        self.machine.update(elapsed_s)
        return self.machine.sleep_s


@pytest.mark.parametrize("what", ["nothing", "rest", "save"])
def test_machine_without_a_clock_uses_passed_time_even_asleep(what):
    guard, states = Guard(), []
    population = population_of(guard)
    for number in range(32):
        population.tick(0.125)
        states.append(guard.machine.state)
        if number == 5 and what == "rest":
            population.pause(guard)
            population.tick(9.0)
            population.resume(guard)
        elif number == 5 and what == "save":
            population.prepare_state(population.save_state())()
    assert states == ["a"] * 15 + ["b"] * 8 + ["a"] * 9


def test_a_save_in_which_somebody_was_late_for_ever_is_refused():
    mind = Mind()
    population = population_of(mind)
    population.pause(mind, late_s=0.5)
    state = json.loads(json.dumps(population.save_state()))
    assert state["late"] == [[0, 0.5]]
    state["late"][0][1] = None
    with pytest.raises(StateError, match=r"late\[0\]\[1\]"):
        population.prepare_state(state)


@pytest.mark.parametrize("is_loaded", [False, True])
def test_removing_the_next_mind_keeps_the_order_after_a_load(is_loaded):
    minds = [Mind() for _ in range(3)]
    population = population_of(*minds)
    population.tick(1.0, Budget.of_steps(2))
    population.remove(minds[2])
    if is_loaded:
        population.prepare_state(json.loads(json.dumps(population.save_state())))()
    assert population.is_unfinished
    population.tick(1.0, Budget.of_steps(1))
    last = Mind()
    population.add(last)
    population.tick(1.0, only_rest=True)
    assert ([one.told for one in minds], last.told) == ([[1.0, 1.0], [1.0, 2.0], []], [])
