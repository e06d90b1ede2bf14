"""The ways a path service knows: asked for, being searched, and found."""
from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heappop, heappush
from typing import Any, Literal, Protocol

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import shown
from ai_core.faults import FaultIsolation, given_faults
from ai_core.paths.path import Path
from ai_core.saving.fields import Fields, State
from ai_core.trace import Trace, given_trace

TicketState = Literal["waiting", "running", "found", "partial", "none", "cancelled", "failed", "refused"]
"""Where a request stands. The first two end by themselves, the others are for good.

Found: the path leads to the goal. Partial: it leads to the reachable place nearest to the goal, which cannot be
reached. None: no path leads to the goal.
"""


class PathTicket:
    """One request for a way.

    Attributes:
        number: of the ticket; rises by one with each.
        start: as asked.
        goal: as asked.
        priority: how urgent it is.
        asked_at_frame: when it was asked for.
        state: where it stands.
        path: the way, once the state is found, partial or none; of one that improves, the best so far.
        improves: whether it gets a way soon, then better ones, until it is done.
        is_shared: True if it came from a search that somebody else asked for.
        is_near: True if it is the way of a start or goal nearby, within the tolerance stated.
        why: why it failed or was refused.
    """

    __slots__ = (
        "__weakref__", "asked_at_frame", "goal", "improves", "is_near", "is_shared", "number", "path", "priority",
        "start", "state", "why",
    )

    def __init__(
        self, number: int, start: Hashable, goal: Hashable, priority: float, asked_at_frame: int, *,
        improves: bool = False,
    ) -> None:
        self.number = number
        self.start = start
        self.goal = goal
        self.priority = priority
        self.asked_at_frame = asked_at_frame
        self.state: TicketState = "waiting"
        self.path: Path | None = None
        self.improves = improves
        self.is_shared = False
        self.is_near = False
        self.why = ""

    @property
    def is_over(self) -> bool:
        """True if nothing more will come of it."""
        return self.state not in ("waiting", "running")

    @property
    def is_answered(self) -> bool:
        """True if its state is that of its path: found, partial or none."""
        return self.state in ("found", "partial", "none")

    def __repr__(self) -> str:
        return f"<PathTicket {self.number}: {self.start!r} to {self.goal!r}, {self.state}>"


def check_ticket(ticket: object) -> None:
    """Raise TypeError for what is no ticket."""
    if not isinstance(ticket, PathTicket):
        raise TypeError(f"ticket must be a PathTicket, got {shown(ticket)}")


class TicketTelling:
    """Tells of tickets, and of what went wrong with them.

    Args:
        clock: game time.
        trace: told of each ticket that is found, partial or none.
        faults: told of what raises.
        on_over: called with each ticket that is over, but for cancelled ones.
        on_improved: called with each ticket that has another way.
    """

    def __init__(
        self, clock: Clock, trace: Trace | None, faults: FaultIsolation | None,
        on_over: Callable[[PathTicket], object] | None, on_improved: Callable[[PathTicket], object] | None,
    ) -> None:
        self._clock, self._trace, self._faults = clock, given_trace(trace), given_faults(faults)
        self._on_over, self._on_improved = on_over, on_improved

    def over(self, ticket: PathTicket) -> None:
        """Tell of a ticket that is over."""
        if ticket.is_answered:
            for hook in self._trace.path_done:
                self._tell(hook, ticket, self._clock.now)
        if self._on_over is not None:
            self._tell(self._on_over, ticket)

    def improved(self, ticket: PathTicket) -> None:
        """Tell of a ticket that has another way, or none any more."""
        if self._on_improved is not None:
            self._tell(self._on_improved, ticket)

    def fault(self, key: Hashable, name: str, error: Exception) -> None:
        """Report what was raised; it is forgotten then, for nothing is tried again."""
        try:
            self._faults.failed(key, name, self._clock.now.frame, error)
        finally:
            self._faults.forget(key)

    def _tell(self, who: Callable[..., object], ticket: PathTicket, *more: object) -> None:
        """Tell somebody of a ticket; what he raises is reported, and everybody else is told."""
        try:
            who(ticket, *more)
        except Exception as error:
            self.fault((self, ticket.number), f"who hears of ticket {ticket.number}", error)


class Ways(Protocol):
    """What finds ways: a grid, a navigation map."""

    @property
    def version(self) -> int:
        """Rises when ways found before may be wrong."""

    @property
    def is_prepared(self) -> bool:
        """True if ``prepare`` has nothing to do."""

    def check(self, name: str, place: object) -> Any:
        """Return a place as it is kept, or raise TypeError or ValueError."""

    def distance(self, one: Any, other: Any) -> float:
        """Return how far two places are apart, in the unit of tolerances."""

    def hopeless(self, start: Any, goal: Any) -> Path | None:
        """Return the answer if it is known at once that there is no way."""

    def begin(self, start: Any, goal: Any) -> Any:
        """Return a search: interruptible work whose result is a Path.

        Those that have ``begin_improving(start, goal, known)`` also give anytime searches, which
        have a ``best`` way before they are done, and follow a mover with ``walk_to``.
        """

    def answer(self, start: Any, path: Any) -> Any:
        """Return what a request gets for the result of a search from a start: partial or none, as it was set up."""

    def fits(self, budget: Budget) -> bool:
        """Return whether a turn may be begun on what is left; asked before each, once it is False no more."""

    def prepare(self, budget: Budget) -> None:
        """Do what makes searches faster."""

    def place_state(self, place: Any) -> Any:
        """Return a place as a save holds it."""

    def place_of(self, fields: Fields, name: str) -> Any:
        """Return a place out of a save, or raise StateError."""

    def path_state(self, path: Any) -> State:
        """Return a way as a save holds it."""

    def path_of(self, fields: Fields) -> Any:
        """Return a way out of a save, or raise StateError."""


class Way:
    """One way that somebody asked for.

    Attributes:
        number: of the ticket that asked first; ties go to the smallest.
        start: where from.
        goal: where to.
        first_frame: when it was asked for first.
        asked_at_frame: when it was asked for last, or found.
        priority: the highest of its tickets.
        tickets: who waits for it.
        search: what finds it, once it runs.
        turns: turns it had, and those that ran before it began.
        turns_taken: turns it had alone.
        improves: whether it is one of an improving ticket: nobody else's, as its mover walks along it.
        at: where that mover is.
        path: what was found.
        version: of the ground it was found on.
    """

    __slots__ = (
        "asked_at_frame", "at", "first_frame", "goal", "improves", "number", "path", "priority", "search", "start",
        "tickets", "turns", "turns_taken", "version",
    )

    def __init__(
        self, number: int, start: Hashable, goal: Hashable, frame: int, *, improves: bool = False
    ) -> None:
        self.number = number
        self.start, self.goal = start, goal
        self.first_frame = self.asked_at_frame = frame
        self.priority = 0.0
        self.tickets: list[PathTicket] = []
        self.search: Any = None
        self.turns = self.turns_taken = 0
        self.path: Path | None = None
        self.version = -1
        self.improves, self.at = improves, start

    @property
    def key(self) -> tuple[Hashable, ...]:
        """By what it is found: its ends, and for one that improves its number, too."""
        return (self.start, self.goal, self.number) if self.improves else (self.start, self.goal)


class WayBook:
    """Finds ways by their ends, and says whose turn it is.

    Args:
        ground: has the ``version`` that found ways must be of, and ``distance``.
    """

    def __init__(self, ground: Any) -> None:
        self.waiting: dict[tuple[Hashable, ...], Way] = {}
        self.running: dict[tuple[Hashable, ...], Way] = {}
        self.found: dict[tuple[Hashable, ...], Way] = {}
        self._ground = ground
        self._queues: dict[float, list[tuple[int, Way]]] = {}
        # By priority, who waits, in the order asked: within one priority that is the order to begin in.
        # Who has begun, has left or has another priority by now is thrown out when it comes first.

    def of(self, start: Hashable, goal: Hashable) -> Way | None:
        """Return the way between two places that is asked for or found, and right for the ground as it is."""
        key = (start, goal)
        way = self.waiting.get(key) or self.running.get(key)
        if way is None:
            way = self.found.get(key)
            if way is not None and way.version != self._ground.version:
                del self.found[key]
                way = None
        return way

    def find(self, start: Hashable, goal: Hashable, tolerance: float) -> Way | None:
        """Return that way, or the nearest one whose ends are both within a tolerance."""
        way = self.of(start, goal)
        if way is not None or not tolerance:
            return way
        distance, version = self._ground.distance, self._ground.version
        near = []
        for one in (*self.waiting.values(), *self.running.values(), *self.found.values()):
            if one.improves:
                continue
            if one.path is not None and (one.version != version or not one.path.is_found):
                continue  # that none leads to a goal from nearby says nothing here
            apart = max(distance(one.start, start), distance(one.goal, goal))
            if apart <= tolerance:
                near.append((apart, one.number, one))
        return min(near)[2] if near else None

    def holding(self, ticket: PathTicket) -> Way | None:
        """Return the way that a ticket waits for. Cost: O(1); O(tickets that wait) if it is one nearby."""
        if not ticket.is_near:
            ends = (ticket.start, ticket.goal)
            key = (*ends, ticket.number) if ticket.improves else ends
            return self.waiting.get(key) or self.running.get(key)
        ways = (*self.waiting.values(), *self.running.values())
        return next((way for way in ways if any(one is ticket for one in way.tickets)), None)

    def ask(self, way: Way, frame: int) -> None:
        """Note that somebody asks for a way; found ones stay in the order they were asked for last."""
        way.asked_at_frame = frame
        if way.path is not None:
            self.found[way.start, way.goal] = self.found.pop((way.start, way.goal))

    def wait(self, way: Way) -> None:
        """Note a way that is asked for."""
        self.waiting[way.key] = way

    def raise_priority(self, way: Way, priority: float) -> None:
        """Note that somebody waits for a way with a priority."""
        if priority > way.priority:
            way.priority = priority
            self._queue(way)

    def next_waiting(self, frame: int) -> Way:
        """Return who begins next: by priority times frames waited, so that nobody waits for ever.

        Cost: O(different priorities).
        """
        first = []
        for priority, queue in list(self._queues.items()):
            while queue and not self._waits(queue[0][1], priority):
                heappop(queue)
            if queue:
                first.append(queue[0][1])
            else:
                del self._queues[priority]
        return min(first, key=lambda way: (-way.priority * (frame - way.first_frame + 1), way.number))

    def _queue(self, way: Way) -> None:
        if way.search is None:
            heappush(self._queues.setdefault(way.priority, []), (way.number, way))

    def _waits(self, way: Way, priority: float) -> bool:
        return way.priority == priority and self.waiting.get(way.key) is way

    def run(self, way: Way) -> None:
        """Note that a way is being searched; it has had as many turns as whoever has had fewest."""
        del self.waiting[way.key]
        way.turns = min((one.turns for one in self.running.values()), default=0)
        self.running[way.key] = way

    def next_running(self) -> Way | None:
        """Return whose turn it is: who has had fewest, then who asked first."""
        return min(self.running.values(), key=lambda way: (way.turns, way.number), default=None)

    def longest_running(self) -> list[Way]:
        """Return those that did not end in their first turn, whose turn it is first."""
        ways = [way for way in self.running.values() if way.turns_taken]
        return sorted(ways, key=lambda way: (way.turns, way.number))

    def keep(self, way: Way, path: Path, frame: int) -> None:
        """Note a way that is found; it is of the ground as it is now."""
        self.drop(way)
        if way.improves:
            if way.at != way.start:
                return  # it leads from somewhere else by now
            way.improves = False
        way.asked_at_frame = frame
        way.path, way.search, way.version, way.tickets = path, None, self._ground.version, []
        self.found.pop((way.start, way.goal), None)
        self.found[way.start, way.goal] = way

    def leave(self, way: Way, ticket: PathTicket) -> None:
        """Take a ticket off a way, and the way off the book if nobody waits for it any more."""
        way.tickets = [one for one in way.tickets if one is not ticket]
        if way.tickets:
            lower = max(one.priority for one in way.tickets)
            if lower != way.priority:
                way.priority = lower
                self._queue(way)
        else:
            if way.search is not None:
                way.search.cancel()
            self.drop(way)

    def drop(self, way: Way) -> None:
        """Forget a way that was asked for."""
        self.waiting.pop(way.key, None)
        self.running.pop(way.key, None)

    def forget(self, before_frame: int) -> None:
        """Forget found ways that nobody asked for since a frame.

        Cost: O(ways forgotten).
        """
        while self.found:
            way = next(iter(self.found.values()))
            if way.asked_at_frame >= before_frame:
                return
            del self.found[way.start, way.goal]


__all__ = ["PathTicket", "TicketState", "TicketTelling", "Way", "WayBook", "Ways", "check_ticket"]
