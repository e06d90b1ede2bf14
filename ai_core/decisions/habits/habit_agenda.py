"""The agenda of a habit tree: the work of the next tick, and the time until which there is none.

The agenda lists, in the order of a tick, the active habits to tick and the pending
habits to try. It is kept until a habit begins, ends or wakes, or a time is over, so
that a tick visits only these habits. While it is empty the tree sleeps, and a tick
costs nothing.
"""
from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ai_core.decisions.habits.habit_context import AWAKE, ROUNDING_S, HabitContext
from ai_core.decisions.habits.habits import Launch

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_plan import CompiledHabit, HabitPlan
    from ai_core.decisions.habits.habit_population import TickMember

__all__ = [
    "BEGIN", "BESIDE", "CHALLENGE", "CONTINUE", "JOIN", "RESTART", "RESULT", "TICK", "TIME_OUT", "Entry",
    "TickPlan", "TreeMessage",
]

TICK = 0
"""Call the run's own tick."""
CHALLENGE = 1
"""Ask the more urgent children whether they take over."""
BESIDE = 2
"""Ask a child that runs beside the others whether it begins."""
CONTINUE = 3
"""Launch a child, in a run that goes on with none: its last one was taken away."""
RESTART = 4
"""Begin again a habit that repeats."""
TIME_OUT = 5
"""End a run that took too long."""
BEGIN = 6
"""Ask the root whether it begins."""

RESULT = 7
"""End a run as its batch says."""
JOIN = 8
"""Call the run's own tick for the last time; from then on it is ticked in a batch."""

Entry = tuple[int, HabitContext | None, tuple["CompiledHabit", ...]]
"""What to do, with which run, and whom to ask."""


class TreeMessage:
    """A message to a tree.

    Args:
        payload: payload of the message.
    """

    __slots__ = ("at_s", "payload", "tick_number")

    def __init__(self, payload: Any) -> None:
        self.payload = payload
        self.tick_number = 0  # of the tick that finds it; 0 before
        self.at_s = 0.0


class TickPlan:
    """Base class of ``HabitTree`` that keeps the agenda."""

    __slots__ = (
        "_agenda",
        "_asks_all",
        "_asks_at_s",
        "_cooldowns",
        "_is_lasting", "_member",
        "_noticed",
        "_now_s",
        "_rebuild_at_s",
        "_tick_number",
        "_told",
        "_wake_at_s",
        "plan",
        "root_run",
    )

    plan: HabitPlan
    root_run: HabitContext | None
    _now_s: float
    _agenda: list[Entry] | None
    _asks_all: bool
    _asks_at_s: dict[int, float] | None
    _cooldowns: dict[int, float] | None
    _noticed: set[str] | None
    _told: dict[str, TreeMessage] | None
    _tick_number: int
    _member: TickMember | None
    _wake_at_s: float

    def _plan_ahead(self) -> list[Entry]:
        """Return what this tick has to do; keep it for the next if it would be the same."""
        agenda: list[Entry] = []
        self._rebuild_at_s = inf
        self._is_lasting = True
        noticed, self._noticed = self._noticed, None
        due: set[int] = set()
        for name in noticed or ():
            due.update(self.plan.listeners.get(name, ()))
        asks_all, self._asks_all = self._asks_all, False
        if self.root_run is not None:
            self._plan_run(agenda, self.root_run, noticed or (), due, asks_all)
        elif asked := self._to_ask((self.plan.root,), due, asks_all):
            agenda.append((BEGIN, None, asked))
        self._agenda = agenda if self._is_lasting else None
        self._wake_at_s = self._rebuild_at_s if self._is_lasting and not agenda else AWAKE
        return agenda

    def _plan_run(
        self, agenda: list[Entry], run: HabitContext, noticed: Any, due: set[int], asks_all: bool
    ) -> None:
        place = run.place
        if run.begins_next:
            agenda.append((RESTART, run, ()))
            self._is_lasting = False
            return
        if place.timeout_s != inf and self._is_due(run.began_s + place.timeout_s - ROUNDING_S):
            agenda.append((TIME_OUT, run, ()))
            self._is_lasting = False
            return
        if run.batch_status is not None:
            agenda.append((RESULT, run, ()))
            self._is_lasting = False
        elif run.batch is None and place.tick is not None and self._is_awake(run, noticed):
            joins = place.tick_batch is not None and self._member is not None
            agenda.append((JOIN if joins else TICK, run, ()))
            self._is_lasting = self._is_lasting and not joins
        child = run.child
        if place.launch is Launch.PRIORITIZED:
            rivals = place.blocking if child is None else place.blocking[: child.place.number]
            asked = self._to_ask(rivals, due, asks_all) if rivals else ()
            if asked:
                agenda.append((CHALLENGE, run, asked))
        elif child is None:
            agenda.append((CONTINUE, run, ()))
            self._is_lasting = False
        if child is not None:
            self._plan_run(agenda, child, noticed, due, asks_all)
        if place.non_blocking:
            active = {one.place.index: one for one in run.beside or ()}
            for beside in place.non_blocking:
                if beside.index in active:
                    self._plan_run(agenda, active[beside.index], noticed, due, asks_all)
                elif asked := self._to_ask((beside,), due, asks_all):
                    agenda.append((BESIDE, run, asked))

    def _is_awake(self, run: HabitContext, noticed: Any) -> bool:
        """Return whether a run's own tick is to be called, and note when it will be."""
        if run.wake_s == AWAKE or self._is_due(run.wake_s):
            return True
        for name in run.waits_for:
            if name in noticed:
                run.wake_s, run.woken_by = AWAKE, name
                return True
        return False

    def _to_ask(self, places: tuple[CompiledHabit, ...], due: set[int], asks_all: bool) -> tuple[CompiledHabit, ...]:
        """Return those of the pending places that are to be asked in this tick."""
        asked = []
        for place in places:
            if self._cooldowns and place.index in self._cooldowns:
                if not self._is_due(self._cooldowns[place.index]):
                    continue
                del self._cooldowns[place.index]
                self._is_lasting = self._is_lasting and place.is_polled
                asked.append(place)
            elif place.is_polled:
                asked.append(place)
            elif asks_all or place.index in due or self._asks_now(place):
                self._is_lasting = False
                asked.append(place)
        return tuple(asked)

    def _asks_now(self, place: CompiledHabit) -> bool:
        if not place.asks_every_s:
            return False
        at_s = self._asks_at_s.get(place.index) if self._asks_at_s else None
        return at_s is None or self._is_due(at_s)

    def _is_due(self, at_s: float) -> bool:
        """Return whether a moment has come; if not, look again then."""
        if self._now_s >= at_s:
            return True
        self._rebuild_at_s = min(self._rebuild_at_s, at_s)
        return False

    def _was_told(self, place: CompiledHabit, began: int) -> bool:
        """Return whether what a place begins on was told after the tick in which it last began."""
        for name in place.begins_on:
            told = self._told.get(name) if self._told else None
            if told is not None and told.tick_number > began and (
                told.tick_number == self._tick_number or self._now_s - told.at_s <= place.remembers_s
            ):
                return True
        return False

    def _hear(self) -> None:
        """Note that what was told since the last tick is heard in this one; forget what is too old."""
        assert self._told is not None
        for name, told in list(self._told.items()):
            if not told.tick_number:
                told.tick_number, told.at_s = self._tick_number, self._now_s
            elif self._now_s - told.at_s > self.plan.remembers_s.get(name, -1.0):
                del self._told[name]
        if not self._told:
            self._told = None
