"""Objects as work: given the budget, given their turn, or refused with the remedy; for every scheduler."""
from __future__ import annotations

import inspect

import pytest

import ai_core.decisions
import ai_core.events
import ai_core.level_of_detail
import ai_core.maps
import ai_core.paths
import ai_core.scheduling
import ai_core.senses
import ai_core.squads
from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions import (
    Habit,
    HabitPopulation,
    HabitTree,
    Rule,
    RuleMind,
    RuleSet,
    State,
    StateMachine,
    StateMachineDefinition,
)
from ai_core.decisions.population import MindPopulation
from ai_core.faults import FaultIsolation
from ai_core.scheduling import (
    Advancing,
    Timeslicer,
    TurnTaking,
)
from ai_core.scheduling import work as work_module
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from tests.scheduling.makers import frequency, load_balancing, priority, requested_time


@pytest.fixture
def scheduler(clock):
    return Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(reraise=True))


EVERY_SCHEDULER = [frequency, load_balancing, priority, requested_time]


class Listener(Habit):
    def tick(self, context):
        context.owner.append(context.elapsed_s)


class Living:
    """A mind that is never at rest."""

    def __init__(self, seen):
        self.seen = seen

    def live(self, elapsed_s):
        self.seen.append(elapsed_s)
        return 0.0


def a_tree(seen):
    return HabitTree(Listener("listen"), owner=seen)


def a_machine(seen):
    listen = State("listen", update=lambda machine: seen.append(machine.elapsed_s))
    return StateMachine(StateMachineDefinition("guard", [listen]))


def a_rule_mind(seen):
    rules = RuleSet(facts={}, rules=[Rule("listen", "", lambda mind: seen.append(None), repeats=True)])
    return RuleMind(rules)


def trees(seen):
    population = HabitPopulation()
    population.add(a_tree(seen))
    return population


def minds(seen):
    population = MindPopulation()
    population.add(Living(seen))
    return population


@pytest.mark.parametrize("kind", EVERY_SCHEDULER)
@pytest.mark.parametrize("make", [a_tree, a_machine, a_rule_mind, trees, minds])
def test_what_lives_in_game_time_is_work_as_it_is(clock, kind, make):
    scheduler, seen = kind(clock, faults=FaultIsolation(reraise=True)), []
    work = make(seen)
    task = scheduler.add(work, period_frames=2, phase_frames=0)
    for _ in range(6):
        scheduler.advance(Budget.of_steps(100))
        clock.advance()
    assert task.work is work
    assert task.runs == 3
    assert len(seen) == 3
    if make is not a_rule_mind:     # a rule has no time
        assert seen == pytest.approx([0, 0.2, 0.2])


@pytest.mark.parametrize("kind", EVERY_SCHEDULER)
def test_a_scheduler_or_a_timeslicer_is_advanced_with_the_budget(clock, kind):
    scheduler, seen = kind(clock, faults=FaultIsolation(reraise=True)), []
    inner = Scheduler(clock, faults=FaultIsolation(reraise=True))
    inner.add(lambda turn: seen.append("inner"))
    slicer = Timeslicer(clock, lambda key: seen.append(key))
    slicer.add("key")
    scheduler.add(inner)
    scheduler.add(slicer)
    scheduler.advance(Budget.of_steps(100))
    assert seen == ["inner", "key"]


def test_a_population_under_a_scheduler_ends_with_its_budget(clock):
    scheduler, seen = Scheduler(clock, policy=Policy.FREQUENCY, faults=FaultIsolation(reraise=True)), []
    population = MindPopulation()
    for _ in range(5):
        population.add(Living(seen))
    scheduler.add(population)
    scheduler.advance(Budget.of_steps(3))
    assert len(seen) == 3
    assert population.is_unfinished


class WithTurn:
    def advance(self, turn):
        self.elapsed_s = turn.elapsed_s


class SaysTurn(WithTurn):
    advance_takes = "turn"


class SaysOtherwise(WithTurn):
    advance_takes = "frames"


class TakesTime:
    def advance(self, now_s):
        pass


def looks(elapsed_s):
    pass


def test_a_class_of_ones_own_says_that_it_takes_a_turn(scheduler, clock):
    work = SaysTurn()
    scheduler.add(work)
    clock.advance(3)
    scheduler.advance(Budget.of_steps(1))
    assert work.elapsed_s == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (WithTurn(), 'is called with the budget, but .* takes \'turn\'; set advance_takes = "turn" in its class'),
        (SaysOtherwise(), 'advance_takes must be "turn" or "budget", got \'frames\''),
        (TakesTime(), "takes 'now_s'; add a function instead: lambda turn: work.advance"),
        (ManualClock(), "takes 'frames'; add a function instead"),
        (looks, "takes 'elapsed_s'; add a function instead: lambda turn: work\\(turn.elapsed_s\\)"),
        (a_machine([]).update, "takes 'elapsed_s'; add the object itself"),
        (Living([]), "add a function of one argument, its Turn"),
    ],
)
def test_what_is_driven_otherwise_is_refused_with_the_remedy(scheduler, work, message):
    with pytest.raises(TypeError, match=message):
        scheduler.add(work)
    assert scheduler.tasks == ()


def advancing_classes():
    """Return every public class of the library that has an ``advance``."""
    doors = [
        ai_core, ai_core.decisions, ai_core.events, ai_core.level_of_detail, ai_core.maps, ai_core.paths,
        ai_core.scheduling, ai_core.senses, ai_core.squads,
    ]
    found = [getattr(door, name) for door in doors for name in door.__all__]
    kinds = {one for one in found if isinstance(one, type) and callable(getattr(one, "advance", None))}
    return sorted(kinds - {Advancing, TurnTaking}, key=lambda one: one.__qualname__)


@pytest.mark.parametrize("kind", advancing_classes(), ids=lambda kind: kind.__name__)
def test_advance_parameters_are_known_for_every_library_class(kind):
    takes = getattr(kind, "advance_takes", "budget")
    # The compiled method of a habit tree has no names.
    argument = "turn" if kind is HabitTree else list(inspect.signature(kind.advance).parameters)[1]
    if argument.strip("_") in ("budget", "turn"):
        assert takes == argument.strip("_")
        return
    with pytest.raises(TypeError, match=r"add a function instead|must take one argument"):
        work_module.runner_for(object.__new__(kind))
