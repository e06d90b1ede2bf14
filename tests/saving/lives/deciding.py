"""Lives of minds: habits, machines, rules, adaptation."""
from __future__ import annotations

from math import inf

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions.adaptation import AdaptiveChoice, SequencePrediction, SuccessMemory
from ai_core.decisions.habits.built_in_habits import SetValue, ValueIs, Wait
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.decisions.population import HabitPopulation, MindPopulation
from ai_core.decisions.rules import Rule, RuleMind, RuleSet
from ai_core.decisions.state_machine import StateMachine
from ai_core.decisions.state_machine_definition import History, State, StateMachineDefinition, Transition
from ai_core.faults import FaultIsolation
from ai_core.saving.chance import RandomState
from ai_core.saving.values import SavedValues
from tests.saving.lives.life import Life

BOB = object()


class ClockLife(Life):
    classes = (ManualClock,)

    def subjects(self):
        return {"clock": self.clock}

    def do_advance(self, chance):
        return self.clock.advance(seconds=chance.random())


class ChanceLife(Life):
    classes = (RandomState,)

    def subjects(self):
        return {"chance": RandomState(self.chance)}

    def do_throw(self, chance):
        return self.chance.random(), self.chance.gauss(0, 1)


class FaultsLife(Life):
    classes = (FaultIsolation,)

    def subjects(self):
        return {"faults": self.faults}

    def do_fail(self, chance):
        key = chance.choice("abc")
        return self.faults.failed(key, f"work {key}", self.clock.now.frame, ValueError(chance.random())).name

    def do_succeed(self, chance):
        self.faults.succeeded(key := chance.choice("abc"))
        return self.faults.is_quarantined(key), self.faults.failures_of(key)


class AdaptiveLife(Life):
    classes = (AdaptiveChoice, SuccessMemory, SequencePrediction)

    def build(self):
        self.memory = SuccessMemory(["rush", "block"], {"health": lambda health: health}, max_contexts=3)
        self.prediction = SequencePrediction(["high", "low"], max_sequences=4)
        self.choice = AdaptiveChoice(
            self.memory, self.chance, prediction=self.prediction, exploration=0.3,
            answers={"rush": {"high": 1.0}, "block": {"low": 0.5}})

    def subjects(self):
        return {"choice": self.choice, "memory": self.memory, "prediction": self.prediction}

    def do_choose(self, chance):
        return self.choice.choose(chance.choice(["full", "half", "low", "gone"]))

    def do_note(self, chance):
        if self.choice.last_tactic:
            self.choice.note(chance.uniform(-1, 1))
        return self.choice.last_tactic

    def do_see(self, chance):
        self.choice.saw(chance.choice(["high", "low"]))
        return self.prediction.probabilities()

    def do_learn(self, chance):
        self.memory.note(chance.choice(["rush", "block"]), chance.uniform(-1, 1), chance.choice(["full", "low"]))
        return self.memory.expected("rush", "full"), self.choice.values("low")


class HabitTreeLife(Life):
    classes = (HabitTree,)

    def build(self):
        def leaf(name, **more):
            return Habit(
                name, can_activate=lambda _: self.chance.random() < 0.6, tick=self.tick,
                enter=lambda _: self.told.append(f"enter {name}"), exit=lambda _: self.told.append(f"exit {name}"),
                **more)

        root = Habit("root", [
            leaf("dodge", uninterruptible=True, urgency=2.0, cooldown_s=0.3),
            Habit("fight", [leaf("aim"), leaf("shoot", repeats=2)], Launch.SEQUENTIAL, begins_on=("enemy",)),
            Habit("idle", [leaf("sit", weight=2.0), leaf("nap", timeout_s=0.6)], Launch.RANDOM),
            Habit("talk", tick=self.talk), Wait("wait", 0.4), leaf("hum", non_blocking=True),
        ])
        self.tree = HabitTree(
            root, name="guard", random=self.chance, faults=self.faults, values=SavedValues({"bob": BOB}))

    def subjects(self):
        return {"tree": self.tree}

    def tick(self, context):
        dice = self.chance.random()
        context.memory["ticks"] = context.memory.get("ticks", 0) + 1
        context.blackboard["last"] = (context.memory["ticks"], BOB, context.time_in_habit_s)
        if dice < 0.1:
            raise RuntimeError("tripped")
        if dice < 0.2:
            context.hold(0.25)
        elif dice < 0.3:
            context.wait_for("whistle", at_most_s=1.0)
        return Status.SUCCEEDED if dice > 0.7 else Status.RUNNING

    def talk(self, context):
        self.told.append("talk")
        yield 0.3
        yield "whistle"

    def do_tick(self, chance):
        self.tree.tick(chance.choice([0.0, 0.1, 0.5]))
        return self.tree.active_paths(), self.tree.to_text()

    def do_notify(self, chance):
        self.tree.notify(chance.choice(["enemy", "whistle", "bell"]))

    def do_write(self, chance):
        self.tree.blackboard[chance.choice(["a", "b"])] = chance.choice([1, "x", (2, BOB), None])


class HabitPopulationLife(Life):
    classes = (HabitPopulation,)

    def build(self):
        self.population = HabitPopulation(faults=self.faults)
        root = Habit("root", [
            Habit("flee", can_activate=ValueIs("alarm"), tick=self.flee), Wait("doze", 0.7),
            SetValue("wake", "alarm", 1)])
        self.trees = [self.population.add(HabitTree(root, owner=n, name=f"guard {n}", random=self.chance))
                      for n in range(4)]

    def flee(self, context):
        self.told.append((context.owner, context.elapsed_s))
        return Status.SUCCEEDED if self.chance.random() < 0.3 else Status.RUNNING

    def subjects(self):
        return {"population": self.population, **{f"tree {n}": tree for n, tree in enumerate(self.trees)}}

    def do_tick(self, chance):
        self.population.tick(chance.choice([0.1, 0.5]), Budget.of_steps(chance.choice([2, 99])))
        return self.population.awake_count, [tree.active_paths() for tree in self.trees]

    def do_alarm(self, chance):
        chance.choice(self.trees).blackboard["alarm"] = chance.random() < 0.5

    def do_notify(self, chance):
        chance.choice(self.trees).notify("x")


PEACE = StateMachineDefinition("guard", [
    State("peace", [State("idle"), State("patrol", update=lambda machine: machine.owner.walk())]),
    State("hostile", enter=lambda machine: machine.owner.told.append("to arms")),
], [
    Transition("bored", "peace/idle", "peace/patrol"), Transition("see", "peace", "hostile"),
    Transition("calm", "hostile", "peace", history=History.DEEP), Transition(None, "peace", "hostile", after_s=2.0),
])


class StateMachineLife(Life):
    classes = (StateMachine,)

    def build(self):
        self.machine = StateMachine(PEACE, owner=self, name="guard", faults=self.faults)

    def subjects(self):
        return {"machine": self.machine}

    def walk(self):
        self.told.append("walks")
        if self.chance.random() < 0.3:
            raise RuntimeError("tripped")

    def do_send(self, chance):
        return self.machine.send(chance.choice(["bored", "see", "calm"]))

    def do_update(self, chance):
        self.machine.update(chance.choice([0.0, 0.25, 1.0]))
        return self.machine.state, self.machine.previous_state, self.machine.time_in_state_s, self.machine.to_text()

    def do_stop(self, chance):
        (self.machine.stop if chance.random() < 0.3 else self.machine.start)()


RULES = RuleSet([
    Rule("fear", "hurt and not safe", concludes="afraid"),
    Rule("attack", "near and not afraid", lambda mind: mind.owner.told.append("attack"), salience="aggression"),
    Rule("flee", "afraid > courage", lambda mind: mind.owner.stumble(), salience=1.0),
    Rule("wait", "", lambda mind: "wait", salience=-1.0, repeats=True),
], facts={"near": 0.0, "hurt": 0.0, "safe": 0.0}, parameters={"aggression": 0.5, "courage": 0.3})


class RuleMindLife(Life):
    classes = (RuleMind,)

    def build(self):
        self.mind = RuleMind(RULES, owner=self, faults=self.faults)

    def subjects(self):
        return {"mind": self.mind}

    def stumble(self):
        if self.chance.random() < 0.5:
            raise RuntimeError("tripped")

    def do_set(self, chance):
        self.mind.set(chance.choice(["near", "hurt", "safe"]), chance.choice([0.0, 0.4, 1.0]))

    def do_parameter(self, chance):
        self.mind.set_parameter(chance.choice(["aggression", "courage"]), chance.random())

    def do_think(self, chance):
        return self.mind.think(), self.mind.agenda(), self.mind.to_text()

    def do_update(self, chance):
        return self.mind.update(chance.choice([0.1, 1.0]), chance.choice([None, 1]))


class Mind:
    """Rests and fails by chance."""

    def __init__(self, world):
        self.world = world

    def live(self, elapsed_s):
        self.world.told.append((self.world.minds.index(self), elapsed_s))
        dice = self.world.chance.random()
        if dice < 0.3:
            raise RuntimeError("tripped")
        return inf if dice < 0.5 else 0.5 if dice < 0.7 else 0.0


class MindPopulationLife(Life):
    classes = (MindPopulation,)

    def build(self):
        self.population = MindPopulation(faults=self.faults, name_of=lambda mind: f"mind {self.minds.index(mind)}")
        self.minds = [Mind(self) for _ in range(3)]
        for mind in self.minds:
            self.population.add(mind)

    def subjects(self):
        return {"population": self.population}

    def do_tick(self, chance):
        self.population.tick(chance.choice([0.25, 1.0]), Budget.of_steps(chance.choice([1, 99])))
        return self.population.awake_count, self.population.is_unfinished

    def do_wake(self, chance):
        self.population.wake(chance.choice(self.minds))

    def do_go_on(self, chance):
        self.population.resume(chance.choice(self.minds), late_s=0.125)


LIVES = (ClockLife, ChanceLife, FaultsLife, AdaptiveLife, HabitTreeLife, HabitPopulationLife, StateMachineLife,
         RuleMindLife, MindPopulationLife)
