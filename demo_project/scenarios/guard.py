"""A guard: patrols, follows what it sees and hears, looks around where that ends."""
from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from ai_core.clock import Clock
from ai_core.decisions.habits.habit_runner_loops import HabitContext
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Part, Saveable
from ai_core.saving.kinds import Seconds, Whole
from ai_core.scheduling.task import Turn
from ai_core.senses.percepts.memory import KnownTarget, SenseMemory
from ai_core.trace import Trace
from demo_project.scenarios.yard import Body, Place, distance_m

WALKS_M_S, RUNS_M_S = 1.5, 3.5
ARRIVED_M = 0.6
LOOKS_FOR_S = 0.6
GIVES_UP_AFTER_S = 8.0
"""A wall may block it; this scenario finds no paths (s)."""



def walk(context: HabitContext) -> Status:
    if context.owner.has_arrived() or context.time_in_habit_s > GIVES_UP_AFTER_S:
        return Status.SUCCEEDED
    return Status.RUNNING


def chases(context: HabitContext) -> Status:
    guard = context.owner
    target = guard.in_view()
    if target is None:
        return Status.SUCCEEDED
    guard.body.speed_m_s = RUNS_M_S
    x, _, z = target.last_known_position
    guard.body.goal = (x, z)
    return Status.RUNNING


def begins_to_follow(context: HabitContext) -> None:
    guard = context.owner
    clue = guard.clue()
    x, _, z = clue.last_known_position
    guard.body.goal, guard.body.speed_m_s = (x, z), WALKS_M_S * 1.5
    guard.followed_until_s = clue.last_sensed_s


def begins_leg(context: HabitContext) -> None:
    guard = context.owner
    guard.stop = (guard.stop + 1) % len(guard.route)
    guard.body.goal, guard.body.speed_m_s = guard.route[guard.stop], WALKS_M_S


def looks(turn_x: float, turn_z: float) -> Callable[[HabitContext], Status]:
    """Return a tick that looks a while in a direction, relative to the facing."""

    def look(context: HabitContext) -> Status:
        body = context.owner.body
        if context.time_in_habit_s == 0:
            x, z = body.facing
            body.facing = (x * turn_x - z * turn_z, x * turn_z + z * turn_x)
            body.goal = body.place
        return Status.RUNNING if context.time_in_habit_s < LOOKS_FOR_S else Status.SUCCEEDED

    return look


HABITS = Habit("guard", [
    Habit("chase", can_activate=lambda context: context.owner.in_view() is not None, tick=chases),
    Habit(
        "follow", [
            Habit("go", tick=walk),
            Habit("look", [
                Habit("left", tick=looks(0.0, 1.0)), Habit("right", tick=looks(0.0, -1.0)),
                Habit("behind", weight=2.0, tick=looks(-1.0, 0.0)),
            ], Launch.RANDOM),
        ],
        Launch.SEQUENTIAL,
        can_activate=lambda context: context.owner.clue() is not None, enter=begins_to_follow,
    ),
    Habit("patrol", enter=begins_leg, tick=walk),
])


class Guard(Saveable):
    """One guard: a body, what it remembers, and its habits.

    Args:
        name: unlike the others'.
        route: where it patrols (m); it begins at one of its places.
        seed: what its chance comes from.
        clock, trace, faults: what the world runs on.
    """

    STATE = DeclaredState(
        stop=Whole(maximum=lambda guard: len(guard.route) - 1), followed_until_s=Seconds(), body=Part())

    def __init__(
        self, name: str, route: list[Place], seed: int, *, clock: Clock, trace: Trace, faults: FaultIsolation
    ) -> None:
        self.name = name
        self.route = route
        chance = random.Random(seed)
        self.stop = int(chance.random() * len(route))
        self.followed_until_s = 0.0
        self.body = Body(route[self.stop], speed_m_s=WALKS_M_S)
        self.memory = SenseMemory(lose_after_s=0.75, max_age_s=12.0)
        self.habits = HabitTree(
            HABITS, owner=self, name=name, clock=clock, random=chance, trace=trace, faults=faults
        )

    def think(self, turn: Turn) -> object:
        """Live by the habits; return what was decided."""
        self.habits.advance(turn)
        return self.decision()

    def decision(self) -> object:
        """Return what it does now, and where it goes."""
        return self.habits.active_paths(), self.body.goal

    def has_arrived(self) -> bool:
        """Return True if the goal is reached."""
        return distance_m(self.body.place, self.body.goal) < ARRIVED_M

    def in_view(self) -> KnownTarget | None:
        """Return the intruders in view."""
        return next((one for one in self.memory.known() if one.is_noticed and one.last_seen_s is not None), None)

    def clue(self) -> KnownTarget | None:
        """Return the intruders that were seen or heard, and not yet searched for."""
        return next((one for one in self.memory.known() if one.last_sensed_s > self.followed_until_s), None)

    def observe(self) -> dict[str, Any]:
        """Return what it does, where it is, and what it knows."""
        known = [
            (one.target, one.is_noticed, one.last_known_position, one.last_sensed_s, one.strength)
            for one in self.memory.known()
        ]
        return {"does": self.decision(), "stop": self.stop, "known": known, **self.body.observe()}
