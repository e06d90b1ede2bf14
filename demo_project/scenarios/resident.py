"""A resident of the house: lives by chance, and leaves when there is smoke or an alarm."""
from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from ai_core.clock import Clock
from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.events.event_manager import Event
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import Flag, Seconds, Whole
from ai_core.scheduling.task import Turn
from ai_core.trace import Trace

OUTSIDE = -1
LEAVES_AT_SMOKE = 0.6
CROSSES_A_ROOM_IN_S = 0.5


def begins_to_leave(context: HabitContext) -> None:
    context.owner.goal = OUTSIDE


def leaves(context: HabitContext) -> Status:
    return Status.SUCCEEDED if context.owner.room == OUTSIDE else Status.RUNNING


def waits_outside(context: HabitContext) -> Status:
    return Status.RUNNING if context.owner.has_heard else Status.SUCCEEDED


def strolls(context: HabitContext) -> None:
    resident = context.owner
    resident.goal = resident.rooms[int(resident.chance.random() * len(resident.rooms))]


def arrives(context: HabitContext) -> Status:
    resident = context.owner
    return Status.SUCCEEDED if resident.room == resident.goal else Status.RUNNING


def work_for(seconds: float) -> Callable[[HabitContext], Status]:
    """Return a tick that succeeds after a time."""
    return lambda context: Status.RUNNING if context.time_in_habit_s < seconds else Status.SUCCEEDED


HABITS = Habit("resident", [
    Habit(
        "escape", [Habit("leave", enter=begins_to_leave, tick=leaves), Habit("wait", tick=waits_outside)],
        Launch.SEQUENTIAL,
        can_activate=lambda context: context.owner.is_in_danger(),
    ),
    Habit("day", [
        Habit("work", weight=3.0, tick=work_for(1.5)),
        Habit("coffee", tick=work_for(0.4)),
        Habit("stroll", weight=2.0, enter=strolls, tick=arrives),
    ], Launch.RANDOM),
])


class Resident(Saveable):
    """An inhabitant of the house.

    Args:
        name: unlike the others'.
        room: where it begins.
        seed: what its chance comes from.
        clock, trace, faults: what the world runs on.
        smells: asked how much smoke is near a room.
        rooms: where it goes.
    """

    STATE = DeclaredState(
        room=Whole(OUTSIDE), goal=Whole(OUTSIDE), has_heard=Flag(), crossed_s=Seconds(at="_crossed_s"))

    def __init__(
        self, name: str, room: int, seed: int, *, clock: Clock, trace: Trace, faults: FaultIsolation,
        smells: Callable[[int], float], rooms: tuple[int, ...],
    ) -> None:
        self.name = name
        self.room = self.goal = room
        self.rooms = rooms
        self.has_heard = False
        self.chance = random.Random(seed)
        self._smells = smells
        self._crossed_s = 0.0
        self.habits = HabitTree(
            HABITS, owner=self, name=name, clock=clock, random=self.chance, trace=trace, faults=faults
        )

    def think(self, turn: Turn) -> object:
        """Live by the habits; return what was decided."""
        self.habits.advance(turn)
        return self.habits.active_paths(), self.goal

    def hears(self, event: Event) -> None:
        """Take in an alarm for its own storey, or an all-clear."""
        if event.code == "all_clear":
            self.has_heard = False
        elif self.rooms[0] // len(self.rooms) == event.arguments[0]:
            self.has_heard = True

    def is_in_danger(self) -> bool:
        """Return True if it has heard of smoke, or smells it."""
        return self.has_heard or (self.room != OUTSIDE and self._smells(self.room) > LEAVES_AT_SMOKE)

    def walk(self, passed_s: float) -> None:
        """Go room by room to the goal; the way out is at the first room."""
        if self.room == self.goal:
            self._crossed_s = 0.0
            return
        self._crossed_s += passed_s
        if self._crossed_s >= CROSSES_A_ROOM_IN_S:
            self._crossed_s -= CROSSES_A_ROOM_IN_S
            self.room = self._next_room()

    def _next_room(self) -> int:
        first = self.rooms[0]
        if self.room == OUTSIDE:
            return first
        if self.goal == OUTSIDE:
            return OUTSIDE if self.room == first else self.room - 1
        return self.room + (1 if self.goal > self.room else -1)

    def observe(self) -> dict[str, Any]:
        """Return where it is, and what it does."""
        return {
            "room": self.room, "goal": self.goal, "crossed_s": self._crossed_s,
            "has_heard": self.has_heard, "does": self.habits.active_paths(),
        }
