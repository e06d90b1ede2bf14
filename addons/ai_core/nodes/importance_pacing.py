"""Behaviors whose period and priority follow the importance of who they belong to."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ai_core.level_of_detail.scheduling_lod import Rate, SchedulingLOD
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Task


class Pace(NamedTuple):
    """What importance 1 and importance 0 mean for a behavior; between them it goes in equal steps.

    Attributes:
        often_frames, rarely_frames: period at importance 1, and at 0.
        high, low: priority at importance 1, and at 0.
    """

    often_frames: int
    rarely_frames: int
    high: float
    low: float

    def rate(self, importance: float) -> Rate:
        """Return what an importance gives; periods are a whole number of the shortest."""
        share = 1 - importance
        steps = round(share * (self.rarely_frames / self.often_frames - 1))
        return Rate(self.often_frames * (1 + steps), self.high + share * (self.low - self.high))


class Pacing:
    """All paced behaviors of an ImportanceManager; those of one pace are looked at together.

    Args:
        scheduler: whose tasks they are.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._lods: dict[Pace, SchedulingLOD] = {}
        self._agents: dict[Task, tuple[Pace, Any]] = {}

    def add(self, task: Task, pace: Pace, agent: Any) -> None:
        """Let a task follow an agent, from the next evaluation on."""
        self.remove(task)
        lod = self._lods.get(pace)
        if lod is None:
            lod = self._lods[pace] = SchedulingLOD(self._scheduler, pace.rate)
        lod.add(task)
        self._agents[task] = pace, agent

    def remove(self, task: Task) -> None:
        """Leave a task at the rate it has; nothing if it is not here."""
        pace, _ = self._agents.pop(task, (None, None))
        if pace is not None:
            self._lods[pace].remove(task)
            if not self._lods[pace].tasks:
                del self._lods[pace]

    def leave(self, agent: Any) -> None:
        """Leave all tasks of an agent at the rates they have."""
        for task in [one for one, (_, whose) in self._agents.items() if whose is agent]:
            self.remove(task)

    def update(self, importances: Mapping[int, float]) -> None:
        """Change the rates of those whose importance has changed enough."""
        self._forget_removed()
        for lod in self._lods.values():
            lod.update([importances[self._agents[task][1].agent_id] for task in lod.tasks])

    def save_state(self) -> list[State]:
        """Return by which importance each rate was last chosen."""
        self._forget_removed()
        return [{"pace": list(pace), "lod": lod.save_state()} for pace, lod in sorted(self._lods.items())]

    def prepare_state(self, fields: Fields, name: str) -> Callable[[], None]:
        """Check what was saved in a field; paces that nobody has now are refused."""
        self._forget_removed()
        changes = []
        for row in fields.groups(name):
            wanted = row.numbers("pace", count=4, minimum=0)
            lod = next((one for pace, one in self._lods.items() if list(pace) == list(wanted)), None)
            if lod is None:
                row.refuse("pace", f"names a pace {list(wanted)} that no behavior has here")
            changes.append(lod.prepare_state(row.anything("lod")))
            row.end()

        def change() -> None:
            for one in changes:
                one()

        return change

    def _forget_removed(self) -> None:
        for task in [one for one in self._agents if one.is_removed]:
            self.remove(task)
