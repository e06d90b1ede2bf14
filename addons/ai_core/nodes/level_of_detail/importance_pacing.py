"""Behaviors whose period and priority follow the importance of their character."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ai_core.level_of_detail.scheduling_lod import SchedulingLOD, TaskRate
from ai_core.saving.declared_state import ListOf, Number, Row, Text, refuse
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task

CHOSEN = ListOf(Row(lambda *values: values, Text(), Text(), Number(-1, 1)))
"""Path of an agent, name of its task, and the importance at which the rate of the task was chosen."""


class RatePair(NamedTuple):
    """Rates of a behavior at importance 1 and importance 0, with equal steps between them.

    Attributes:
        often_frames, rarely_frames: period at importance 1, and at 0.
        high, low: priority at importance 1, and at 0.
    """

    often_frames: int
    rarely_frames: int
    high: float
    low: float

    def rate(self, importance: float) -> TaskRate:
        """Return the rate at an importance; periods are integer multiples of the shortest."""
        share = 1 - importance
        steps = round(share * (self.rarely_frames / self.often_frames - 1))
        return TaskRate(self.often_frames * (1 + steps), self.high + share * (self.low - self.high))


class ImportancePacing:
    """All paced behaviors of an ImportanceManager; those of one rate pair and scheduler are updated together."""

    def __init__(self) -> None:
        self._lods: dict[tuple[RatePair, Scheduler], SchedulingLOD] = {}
        self._agents: dict[Task, tuple[tuple[RatePair, Scheduler], Any]] = {}

    def add(self, task: Task, pace: RatePair, agent: Any, scheduler: Scheduler) -> None:
        """Let a task of a scheduler follow the importance of an agent, from the next evaluation on."""
        self.remove(task)
        key = pace, scheduler
        lod = self._lods.get(key)
        if lod is None:
            lod = self._lods[key] = SchedulingLOD(scheduler, pace.rate)
        lod.add(task)
        self._agents[task] = key, agent

    def remove(self, task: Task) -> None:
        """Remove a task, which keeps its rate; do nothing if it is unknown."""
        key, _ = self._agents.pop(task, (None, None))
        if key is not None:
            self._lods[key].remove(task)
            if not self._lods[key].tasks:
                del self._lods[key]

    def leave(self, agent: Any) -> None:
        """Remove all tasks of an agent, which keep their rates."""
        for task in [one for one, (_, owner) in self._agents.items() if owner is agent]:
            self.remove(task)

    def update(self, importances: Mapping[int, float]) -> None:
        """Change the rates of tasks whose importance has changed enough."""
        self._forget_removed()
        for _, lod in sorted(self._lods.items(), key=lambda one: one[0][0]):    # phases depend on the order
            lod.update([importances[self._agents[task][1].agent_id] for task in lod.tasks])

    def save_state(self, path_of: Callable[[Any], str]) -> list[Any]:
        """Return the importance at which the rate of each task was last chosen."""
        self._forget_removed()
        chosen = self._chosen()
        return CHOSEN.save(
            [(path_of(agent), task.name, chosen[task]) for task, (_, agent) in self._agents.items()], self)

    def prepare_state(self, plain: object, place: str, path_of: Callable[[Any], str]) -> Callable[[], None]:
        """Check saved data; return a function that loads them, whatever rate pairs tasks have by then."""
        self._forget_removed()
        here: dict[tuple[str, str], list[Task]] = {}
        for task, (_, agent) in self._agents.items():
            here.setdefault((path_of(agent), task.name), []).append(task)
        found: dict[Task, float] = {}
        for agent, name, chosen_at in CHOSEN.read(plain, place, self):
            if not here.get((agent, name)):
                refuse(place, f"has {name!r}, which does not follow the importance of an agent in this scene")
            found[here[agent, name].pop(0)] = chosen_at

        def change() -> None:
            self._forget_removed()
            agents, chosen = self._agents, self._chosen() | found
            self._lods, self._agents = {}, {}
            for task in [*(one for one in found if one in agents), *(one for one in agents if one not in found)]:
                (pace, scheduler), agent = agents[task]
                self.add(task, pace, agent, scheduler)
            for lod in self._lods.values():
                lod.choose({task: chosen[task] for task in lod.tasks})

        return change

    def _chosen(self) -> dict[Task, float]:
        return {task: at for lod in self._lods.values() for task, at in lod.chosen.items()}

    def _forget_removed(self) -> None:
        for task in [one for one in self._agents if one.is_removed]:
            self.remove(task)
