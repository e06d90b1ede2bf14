"""Prints what many random trees did, and a digest of their saves; run in a process of its own by the tests.

    python -m tests.decisions.habits.habit_lives
"""
from __future__ import annotations

import hashlib
import json
import random
import sys

from ai_core.budget import Budget
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habits.built_in_habits import CheckValue, SetValue, ValueIs, Wait
from ai_core.decisions.habits.habit_runner_loops import ValuesAre
from ai_core.decisions.habits.habit_status import Launch, Outcome, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.decisions.population import HabitPopulation
from ai_core.faults import FaultIsolation
from ai_core.loops import compiled
from ai_core.trace import Trace

LIVES, TICKS = 60, 60


def habit(chance, name, depth, log):
    """Return a habit that leaves everything to chance, and writes what happens to it."""
    ours = random.Random(chance.random())
    children = [habit(chance, f"{name}{n}", depth - 1, log) for n in range(chance.randint(0, 3) if depth else 0)]
    if not depth and chance.random() < 0.3:
        return built_in(chance, name)
    can_launch = any(not child.non_blocking for child in children)
    if can_launch and chance.random() < 0.4:
        return launcher(chance, name, children)

    def tick(context):
        log.append(f"tick {name} {context.elapsed_s!r} {context.time_in_habit_s!r}")
        dice = ours.random()
        if dice > 0.9:
            log.append(f"{context.parent!r} {context.tree.active_paths()} {context.tree.to_text()}")
        if dice < 0.05:
            raise RuntimeError(name)
        if dice < 0.2:
            (context.hold if dice < 0.15 else context.release)()
        elif dice < 0.3:
            context.wait_for(chance_name(ours), at_most_s=1.0)
        return ours.choice([None, Status.RUNNING, Status.SUCCEEDED, Status.FAILED])

    def steps(context):
        log.append(f"begin {name} {context.woken_by!r}")
        yield ours.choice([0.3, "a"])
        yield
        return ours.choice([None, Status.FAILED])

    return Habit(
        name, children, chance.choice(list(Launch)) if can_launch else Launch.PRIORITIZED,
        non_blocking=chance.random() < 0.15, uninterruptible=chance.random() < 0.1, urgency=chance.choice([0.0, 2.0]),
        can_activate=chance.choice([None, lambda context: log.append(f"ask {name}") or ours.random() < 0.7]),
        enter=chance.choice([None, lambda context: log.append(f"enter {name} {context.reason}")]),
        tick=None if children and chance.random() < 0.6 else chance.choice([tick, tick, steps]),
        exit=chance.choice([None, lambda context: log.append(f"exit {name} {context.status}")]),
        timeout_s=chance.choice([float("inf"), 0.7]), cooldown_s=chance.choice([0.0, 0.0, 0.4]),
        repeats=chance.choice([1, 1, 2]), retries=chance.choice([0, 0, 1]), outcome=chance.choice(list(Outcome)),
        wakes_on=chance.choice([(), (), ("a",)]), asks_every_s=chance.choice([0.0, 0.0, 0.35]),
        begins_on=chance.choice([(), (), (), ("b",)]), remembers_s=chance.choice([0.0, 0.5]),
        score=score, inertia=chance.choice([0.0, 1.0]))


def launcher(chance, name, children):
    """Return a habit that does nothing but launch others."""
    launch = chance.choice([Launch.SEQUENTIAL, Launch.FALLBACK])
    return Habit(name, children, launch, outcome=chance.choice(list(Outcome)), score=score)


def score(context):
    """Return a score that changes twice a second."""
    return (context.place.index + int(context.tree.seconds * 2)) % 4 - 1


def built_in(chance, name):
    """Return a leaf that compares, writes or waits."""
    key, value = chance_name(chance), chance.randint(0, 3)
    comparison = chance.choice(["==", "!=", "<", "<=", ">", ">=", "in"])  # "in" a number is an error
    return chance.choice([
        CheckValue(name, key, comparison, value, score=score), SetValue(name, key, value, score=score),
        SetValue(name, key, lambda context: value, score=score),
        SetValue(name, key, value, cooldown_s=0.3, score=score),
        Wait(name, value / 2, up_to_s=value, score=score),
        Habit(name, can_activate=ValueIs(key, "<", value), score=score),
        Habit(name, can_activate=ValuesAre(
            [ValueIs(key, "<", value), ValueIs("a", ">=", 1)], lambda context: len(context.path) % 2), score=score)])


def chance_name(chance):
    return chance.choice("ab")


def live(seed):
    """Return what happened in one life, and the save at its end."""
    chance, log, trace = random.Random(seed), [], Trace()
    trace.state_entered = (lambda owner, path, reason, now: log.append(f"{path}: {reason} {now}"),)
    root = habit(chance, "r", 3, log)
    faults = FaultIsolation(report=lambda fault: log.append(f"{fault.name} {fault.failures_in_a_row}"))
    board = Blackboard({"b": 1}, parent=Blackboard({"a": 2})) if seed % 3 else {}
    trace = trace if seed % 2 else None
    tree = HabitTree(root, blackboard=board, random=random.Random(seed), trace=trace, faults=faults)
    for number in range(TICKS):
        log.append(f"{tree.tick(chance.choice([0.1, 0.1, 0.25, 1.0]))} {tree.wakes_at_s!r}")
        dice = chance.random()
        if dice < 0.2:
            tree.notify(chance_name(chance), number)
        elif dice < 0.23:
            tree.stop()
        elif dice < 0.3:
            path = chance.choice([place.path for place in tree.plan.places])
            try:
                (tree.remove(path) if chance.random() < 0.5 else tree.add(path, habit(chance, f"n{number}", 1, log)))
            except ValueError as error:
                log.append(str(error))
        log.append(tree.to_text())
    return log, json.dumps(tree.save_state())


def live_together(seed):
    """Return what happened to several in a population on short budgets, and their saves."""
    chance, log = random.Random(seed), []
    population = HabitPopulation()
    root = habit(chance, "r", 2, log)
    faults = FaultIsolation(report=lambda fault: log.append(fault.name))
    for number in range(5):
        tree = HabitTree(root, name=f"t{number}", random=random.Random(number), faults=faults)
        tree.on_entered = lambda context: log.append(f"+ {context.tree.name} {context.path}")
        population.add(tree)
    for _ in range(TICKS):
        budget = chance.choice([None, Budget.of_steps(2), Budget.unlimited()])
        population.tick(chance.choice([0.1, 0.25, 1.0]), budget, only_rest=chance.random() < 0.3)
        tree, dice = chance.choice(list(population)), chance.random()
        if dice < 0.3:
            tree.notify(chance_name(chance))
        elif dice < 0.6:
            (population.pause if dice < 0.4 else population.resume)(tree)
        log.append(f"{population.awake_count} {budget and budget.steps} {tree.seconds!r}")
    return log, json.dumps([population.save_state(), *(tree.save_state() for tree in population)])


if __name__ == "__main__":
    print(*compiled(), file=sys.stderr)
    for seed in range(LIVES):
        for log, saved in (live(seed), live_together(seed)):
            text = "\n".join([*log, saved])
            print(seed, len(log), hashlib.sha256(text.encode()).hexdigest())
