"""Habits beside ``py_trees`` and beside themselves one by one: the same decisions for as many characters."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ai_core.decisions.habits.built_in_habits import CheckValue, SetValue, ValueIs, Wait
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.decisions.population import HabitPopulation
from tools.benchmarking.declarations import Case, Contest

ELAPSED_S = 1 / 60
SUCCEEDED, FAILED = Status.SUCCEEDED, Status.FAILED


class Soldier:
    """Two of ten are hurt, three see somebody, three have a path, two have nothing to do."""

    def __init__(self, number: int) -> None:
        kind = number % 10
        self.is_hurt, self.sees, self.has_path = kind < 2, 2 <= kind < 5, 5 <= kind < 8
        self.did = [0, 0, 0]


CHECKS = ("is_hurt", "sees", "has_path")


def is_hurt(context: Any) -> Status:
    return SUCCEEDED if context.owner.is_hurt else FAILED


def sees(context: Any) -> Status:
    return SUCCEEDED if context.owner.sees else FAILED


def has_path(context: Any) -> Status:
    return SUCCEEDED if context.owner.has_path else FAILED


def flee(context: Any) -> Status:
    context.owner.did[0] += 1
    return SUCCEEDED


def fight(context: Any) -> Status:
    context.owner.did[1] += 1
    return SUCCEEDED


def walk(context: Any) -> Status:
    context.owner.did[2] += 1
    return SUCCEEDED


def walk_on(context: Any) -> Status:
    context.owner.did[2] += 1
    return Status.RUNNING


def ten_habits() -> Habit:
    """Return a root, three sequences of a check and an act: the shape of a behaviour tree."""
    return Habit("root", [
        Habit(act.__name__, [Habit("check", tick=check), Habit("act", tick=act)], Launch.SEQUENTIAL)
        for check, act in ((is_hurt, flee), (sees, fight), (has_path, walk))
    ], Launch.FALLBACK)


def four_habits() -> Habit:
    """Return the same decisions as habits make them: each says whether it can run."""
    return Habit("root", [
        Habit("flee", can_activate=lambda context: context.owner.is_hurt, tick=flee),
        Habit("fight", can_activate=lambda context: context.owner.sees, tick=fight),
        Habit("walk", can_activate=lambda context: context.owner.has_path, tick=walk),
    ], Launch.FALLBACK)


def ten_built_in_habits() -> Habit:
    """Return the shape of ``ten_habits`` with leaves that are built in."""
    return Habit("root", [
        Habit(f"case {n}", [CheckValue("check", key), SetValue("act", "does", n)], Launch.SEQUENTIAL)
        for n, key in enumerate(CHECKS)
    ], Launch.FALLBACK)


def decisions(make: Callable[[], Habit]) -> Callable[[int], Contest]:
    """Return what makes n soldiers decide, each as a whole, beside n trees of ``py_trees``."""

    def contest(n: int) -> Contest:
        definition = make()
        soldiers = [Soldier(number) for number in range(n)]
        trees = [HabitTree(definition, owner=soldier) for soldier in soldiers]

        def ours() -> list[int]:
            for tree in trees:
                tree.tick(ELAPSED_S)
            return news_of(soldiers)

        return Contest(ours, peers={"py_trees": lambda: of_py_trees(n)})

    return contest


def news_of(soldiers: list[Soldier]) -> list[int]:
    """Return what the first ten did since they were asked, and forget it."""
    news = [number for soldier in soldiers[:10] for number in soldier.did]
    for soldier in soldiers[:10]:
        soldier.did[:] = 0, 0, 0
    return news


def of_py_trees(n: int) -> Case:
    """Return the same for n trees of py_trees, one for each soldier as it wants them."""
    import py_trees

    of_status = py_trees.common.Status

    class Check(py_trees.behaviour.Behaviour):  # type: ignore[misc]
        def __init__(self, soldier: Soldier, name: str) -> None:
            super().__init__(name)
            self.soldier = soldier

        def update(self) -> Any:
            return of_status.SUCCESS if getattr(self.soldier, self.name) else of_status.FAILURE

    class Act(py_trees.behaviour.Behaviour):  # type: ignore[misc]
        def __init__(self, soldier: Soldier, number: int) -> None:
            super().__init__(str(number))
            self.soldier, self.number = soldier, number

        def update(self) -> Any:
            self.soldier.did[self.number] += 1
            return of_status.SUCCESS

    def tree(soldier: Soldier) -> Any:
        cases = [
            py_trees.composites.Sequence(name, memory=False, children=[Check(soldier, name), Act(soldier, number)])
            for number, name in enumerate(CHECKS)
        ]
        return py_trees.composites.Selector("root", memory=False, children=cases)

    soldiers = [Soldier(number) for number in range(n)]
    trees = [tree(soldier) for soldier in soldiers]

    def theirs() -> list[int]:
        for one in trees:
            one.tick_once()
        return news_of(soldiers)

    return theirs


def built_in(n: int) -> Contest:
    """Return n soldiers that decide by what stands on their blackboards."""
    definition = ten_built_in_habits()
    trees = [HabitTree(definition, blackboard={CHECKS[number % 3]: True}) for number in range(n)]

    def ours() -> None:
        for tree in trees:
            tree.tick(ELAPSED_S)

    wanted = [number % 3 for number in range(n)]
    return Contest(ours, complaint=lambda: "" if [t.blackboard["does"] for t in trees] == wanted else "wrong decisions")


def running(n: int) -> Contest:
    """Return n characters in the third level of their habits, where a leaf runs."""
    definition = Habit("root", [Habit("day", [Habit("walk", tick=walk_on)])])
    soldiers = [Soldier(number) for number in range(n)]
    trees = [HabitTree(definition, owner=soldier) for soldier in soldiers]

    def ours() -> list[int]:
        for tree in trees:
            tree.tick(ELAPSED_S)
        return news_of(soldiers)

    return Contest(ours)


def waiting(n: int) -> Contest:
    """Return a frame of a population in which all wait for an alarm or a long time."""
    definition = Habit("root", [Habit("flee", can_activate=ValueIs("alarm")), Wait("sleep", 1e9)])
    population = HabitPopulation()
    for _ in range(n):
        population.add(HabitTree(definition))
    population.tick(ELAPSED_S)
    population.tick(ELAPSED_S)
    return Contest(lambda: population.tick(ELAPSED_S),
                   complaint=lambda: "" if population.awake_count == 0 else "somebody is awake")


def made(n: int) -> Contest:
    """Return n characters of one definition, made."""
    definition = ten_habits()
    return Contest(lambda: len([HabitTree(definition) for _ in range(n)]))


def batched(n: int) -> Contest:
    """Return n characters that all walk, as one batch beside one by one."""

    def walk_all(batch: Any) -> None:
        batch["x_m"] += 1.5 * batch.elapsed_s

    def walk_one(context: Any) -> None:
        context.memory["x_m"] += 1.5 * context.elapsed_s

    def begin(context: Any) -> None:
        context.memory["x_m"] = 0.0

    def frame(definition: Habit) -> tuple[Case, list[HabitTree]]:
        population = HabitPopulation()
        trees = [population.add(HabitTree(definition)) for _ in range(n)]
        population.tick(0.0)
        population.tick(0.0)
        return (lambda: population.tick(ELAPSED_S)), trees

    ours, together = frame(Habit("walk", tick=walk_one, tick_batch=walk_all, columns=("x_m",), enter=begin))
    one_by_one, _ = frame(Habit("walk", tick=walk_one, enter=begin))

    def complaint() -> str:
        runs = [tree.root_run for tree in together]
        places = [run.memory["x_m"] - 1.5 * tree.seconds for run, tree in zip(runs, together, strict=True) if run]
        return "" if np.allclose(places, 0.0) and len(places) == n else "somebody stands elsewhere"

    return Contest(ours, {"one by one": one_by_one}, complaint=complaint)
