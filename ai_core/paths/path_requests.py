"""Path requests of a path service: tickets, the searches they share, and the interface of path providers."""
from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields
from heapq import heappop, heappush
from math import frexp
from typing import Any, Literal, Protocol, get_args

from ai_core.budget import Budget
from ai_core.errors import check_type
from ai_core.paths.path import Path
from ai_core.saving.kinds import Chosen, Flag, Kind, ListOf, Number, OneOf, Optional, Record, Text, Whole

TicketState = Literal["waiting", "running", "found", "partial", "none", "cancelled", "failed", "refused"]
"""State of a request. "waiting" and "running" are temporary, all others are final.

"found": the path leads to the goal. "partial": the goal cannot be reached, and the path leads to the nearest
reachable place. "none": no path leads to the goal.
"""


@dataclass(eq=False, repr=False, slots=True, weakref_slot=True)
class PathTicket:
    """One path request.

    Attributes:
        number: number of the ticket; increases by one with each request.
        start: requested start.
        goal: requested goal.
        priority: priority of the request, above 0.
        requested_at_frame: frame of the request.
        state: state of the request, see ``TicketState``.
        path: the path once the state is "found", "partial" or "none"; for an improving request, the best so far.
        improves: True if the request gets a path quickly and then cheaper ones until the search is done.
        is_shared: True if the path comes from the search of an earlier request.
        is_near: True if the path belongs to a nearby start or goal, within the requested tolerance.
        why: reason of the state "failed" or "refused"; "" otherwise.
    """

    number: int
    start: Hashable
    goal: Hashable
    priority: float
    requested_at_frame: int
    state: TicketState = "waiting"
    path: Path | None = None
    improves: bool = False
    is_shared: bool = False
    is_near: bool = False
    why: str = ""

    @property
    def is_done(self) -> bool:
        """True if the state is final."""
        return self.state not in ("waiting", "running")

    @property
    def is_answered(self) -> bool:
        """True if the state is that of a path: "found", "partial" or "none"."""
        return self.state in ("found", "partial", "none")

    def become(self, other: PathTicket) -> None:
        """Take all attributes of another ticket, for loading."""
        for one in fields(self):
            setattr(self, one.name, getattr(other, one.name))

    def __repr__(self) -> str:
        return f"<PathTicket {self.number}: {self.start!r} to {self.goal!r}, {self.state}>"


def _loaded_ticket(**values: Any) -> PathTicket:
    if values["priority"] <= 0:
        raise ValueError(f"priority must be above 0, got {values['priority']:g}")
    return PathTicket(**values)


def _loaded_over(**values: Any) -> PathTicket:
    ticket = _loaded_ticket(**values)
    state = None if ticket.path is None else ticket.path.state
    if state != ticket.state if ticket.is_answered else state is not None and not ticket.improves:
        raise ValueError(f"state must match the path, got {ticket.state!r} with the path {state!r}")
    return ticket


PLACE = Chosen(lambda service: service.provider.place_kind)
FOUND_PATH = Chosen(lambda service: service.provider.path_kind)
PATH = Optional(FOUND_PATH)
ASKED: dict[str, Any] = {
    "number": Whole(), "start": PLACE, "goal": PLACE, "priority": Number(), "requested_at_frame": Whole(),
    "is_shared": Flag(), "is_near": Flag()}
WAITING_STATE = Record(_loaded_ticket, **ASKED)
"""How a ticket is saved that waits for a search shared with others."""
IMPROVING_STATE = Record(_loaded_ticket, **ASKED, path=PATH)
"""How an improving ticket is saved that waits for its search, with the best path so far."""
OVER_STATE = Record(
    _loaded_over, **ASKED, improves=Flag(), path=PATH, why=Text(),
    state=OneOf(one for one in get_args(TicketState) if one not in ("waiting", "running")))
"""How a ticket is saved that has a final state."""


def check_ticket(ticket: object) -> None:
    """Raise TypeError if ``ticket`` is not a PathTicket."""
    check_type("ticket", ticket, PathTicket)


class PathProvider(Protocol):
    """Provider of paths for a ``PathService``: a grid or a navigation map."""

    @property
    def place_kind(self) -> Kind:
        """How a place is saved."""

    @property
    def path_kind(self) -> Kind:
        """How a path is saved."""

    @property
    def version(self) -> int:
        """Version of the ground; increases when earlier paths may have become invalid."""

    @property
    def is_prepared(self) -> bool:
        """True if ``prepare`` has nothing left to do."""

    def check(self, name: str, place: object) -> Any:
        """Return a place in the form used for requests, or raise TypeError or ValueError."""

    def distance(self, one: Any, other: Any) -> float:
        """Return the distance of two places, in the unit of tolerances."""

    def known_answer(self, start: Any, goal: Any) -> Path | None:
        """Return the final path if it is known without a search that the goal cannot be reached; otherwise None."""

    def begin(self, start: Any, goal: Any) -> Any:
        """Return a new search: interruptible work with a Path as result.

        A provider with the optional method ``begin_improving(start, goal, known)`` also offers anytime
        searches, which have a ``best`` path before they are done and follow a mover with ``move_start``.
        """

    def answer(self, start: Any, path: Any) -> Any:
        """Return the path for a request from the result of a search: partial or none, by the provider's settings."""

    def fits(self, budget: Budget) -> bool:
        """Return whether another turn may start on the remaining budget; called before each turn until False."""

    def prepare(self, budget: Budget) -> None:
        """Prepare the data that makes searches faster, until the budget is spent."""


LEAST_CLASS, MOST_CLASS = -80, 80
"""Smallest and largest class of priorities, about 1e-6 and 1e6; priorities beyond start in the order of requests."""


def priority_class(priority: float) -> int:
    """Return the class of a priority: four for each factor of two, so that any number of priorities makes few classes.

    >>> [priority_class(one) for one in (0.5, 1.0, 1.2, 1.25, 2.0, 1e-300)]
    [0, 4, 4, 5, 8, -80]
    """
    share, power = frexp(priority)
    return max(LEAST_CLASS, min(MOST_CLASS, 4 * power + int(share * 8) - 4))


@dataclass(eq=False, slots=True)
class PathJob:
    """Search for one path, shared by all tickets with the same start and goal.

    Attributes:
        number: number of the first ticket; ties go to the smallest.
        start: start place.
        goal: goal place.
        first_frame: frame of the first request.
        requested_at_frame: frame of the last request, or frame in which the path was found.
        priority: highest priority of the tickets.
        queued_as: class of the priority, under which it waits to start.
        tickets: tickets that wait for the path.
        search: the search, once it runs.
        turns: turns taken, plus those of the other searches before it started.
        turns_taken: turns taken outside of threads.
        steps: steps that the search has reported.
        improves: True for an improving ticket; the search is not shared, as the mover walks along the path.
        at: place of that mover.
        path: the path once found.
        version: version of the ground on which the search began, or on which the path was found.
    """

    number: int
    start: Hashable
    goal: Hashable
    first_frame: int
    improves: bool = False
    priority: float = 0.0
    queued_as: int = LEAST_CLASS
    tickets: list[PathTicket] = field(default_factory=list)
    search: Any = None
    turns: int = 0
    turns_taken: int = 0
    steps: int = 0
    path: Path | None = None
    version: int = -1
    requested_at_frame: int = field(init=False)
    at: Hashable = field(init=False)

    def __post_init__(self) -> None:
        self.requested_at_frame, self.at = self.first_frame, self.start

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Key of the search: start and goal, and for an improving ticket also the number."""
        return (self.start, self.goal, self.number) if self.improves else (self.start, self.goal)

    @property
    def is_running(self) -> bool:
        """True if the search has begun; when loaded, before it begins anew."""
        return self.search is not None or self.tickets[0].state == "running"


def _loaded_shared(
    number: int, start: Hashable, goal: Hashable, first_frame: int, requested_at_frame: int,
    tickets: list[PathTicket], is_running: bool, turns: int, steps: int,
) -> PathJob:
    if not tickets:
        raise ValueError("tickets must be at least one, got none")
    job = PathJob(number, start, goal, first_frame, turns=turns, steps=steps)
    job.requested_at_frame, job.tickets = requested_at_frame, tickets
    for ticket in tickets:
        ticket.state = "running" if is_running else "waiting"
    return job


def _loaded_improving(tickets: list[PathTicket], place: Hashable, is_running: bool, turns: int) -> PathJob:
    ticket = tickets[0]
    ticket.improves, ticket.state = True, "running" if is_running else "waiting"
    if ticket.path is not None and not ticket.path.is_found:
        raise ValueError(f"the path must be found, got {ticket.path.state!r}")
    job = PathJob(ticket.number, ticket.start, ticket.goal, ticket.requested_at_frame, improves=True, turns=turns)
    job.at, job.tickets = place, tickets
    return job


SHARED_JOB_STATE = Record(
    _loaded_shared, number=Whole(), start=PLACE, goal=PLACE, first_frame=Whole(), requested_at_frame=Whole(),
    tickets=ListOf(WAITING_STATE), is_running=Flag(), turns=Whole(), steps=Whole())
"""How a search is saved, whether it waits or runs."""
IMPROVING_JOB_STATE = Record(
    _loaded_improving, tickets=ListOf(IMPROVING_STATE, count=1), place=Chosen(PLACE.choose, at="at"),
    is_running=Flag(), turns=Whole())
"""How the search of an improving ticket is saved."""
KEPT_STATE = Record(
    PathJob, number=Whole(), start=PLACE, goal=PLACE, first_frame=Whole(at="requested_at_frame"),
    path=FOUND_PATH)
"""How a cached path is saved."""


MOST_KEPT = 1000
"""Cached paths (count); above, those that were requested longest ago are dropped. They are part of a save."""


STALE_AT_LEAST = 64
"""Entries of the starting order (count) above which those that are out of date are dropped; fewer only cost time."""


class PathJobs:
    """Table of searches by start and goal, and the order of their turns."""

    def __init__(self, ground: Any) -> None:
        self.waiting: dict[tuple[Hashable, ...], PathJob] = {}
        self.running: dict[tuple[Hashable, ...], PathJob] = {}
        self.found: dict[tuple[Hashable, ...], PathJob] = {}
        self._ground = ground
        self._queues: dict[int, list[tuple[int, PathJob]]] = {}
        self._queued = 0
        # Waiting searches by class of priority, in the order of requests, which is the starting order within a class.
        # Entries that have started, were removed or changed their class are dropped when they come first, or when
        # they are more than half.

    def of(self, start: Hashable, goal: Hashable) -> PathJob | None:
        """Return the requested or found search between two places that is valid for the current ground."""
        key = (start, goal)
        job = self.waiting.get(key) or self.running.get(key)
        if job is None:
            job = self.found.get(key)
            if job is not None and job.version != self._ground.version:
                del self.found[key]
                job = None
        return job

    def find(self, start: Hashable, goal: Hashable, tolerance: float) -> PathJob | None:
        """Return the search between two places, or the nearest one with both ends within a tolerance."""
        job = self.of(start, goal)
        if job is not None or not tolerance:
            return job
        distance, version = self._ground.distance, self._ground.version
        near = []
        for one in (*self.waiting.values(), *self.running.values(), *self.found.values()):
            if one.improves:
                continue
            if one.path is not None and (one.version != version or not one.path.is_found):
                continue  # a failed search from nearby proves nothing for this request
            apart = max(distance(one.start, start), distance(one.goal, goal))
            if apart <= tolerance:
                near.append((apart, one.number, one))
        return min(near)[2] if near else None

    def holding(self, ticket: PathTicket) -> PathJob | None:
        """Return the search that a ticket waits for. Cost: O(1), or O(waiting tickets) if ``is_near``."""
        if not ticket.is_near:
            ends = (ticket.start, ticket.goal)
            key = (*ends, ticket.number) if ticket.improves else ends
            return self.waiting.get(key) or self.running.get(key)
        jobs = (*self.waiting.values(), *self.running.values())
        return next((job for job in jobs if any(one is ticket for one in job.tickets)), None)

    def ask(self, job: PathJob, frame: int) -> None:
        """Record a request for a path; found paths are kept in the order of their last request."""
        job.requested_at_frame = frame
        if job.path is not None:
            self.found[job.start, job.goal] = self.found.pop((job.start, job.goal))

    def wait(self, job: PathJob) -> None:
        """Add a search to those that wait."""
        self.waiting[job.key] = job

    def raise_priority(self, job: PathJob, priority: float) -> None:
        """Raise the priority of a search to that of a waiting ticket, if it is higher."""
        if priority > job.priority:
            job.priority = priority
            self._queue(job)

    def next_waiting(self, frame: int) -> PathJob:
        """Return the search to start next: the highest priority times frames waited, so that none starves.

        Priorities of one class, at most a quarter apart, start in the order of requests.

        Cost: O(classes of priorities), 161 at most.
        """
        first = []
        for number, queue in list(self._queues.items()):
            while queue and not self._waits(queue[0][1], number):
                heappop(queue)
                self._queued -= 1
            if queue:
                first.append(queue[0][1])
            else:
                del self._queues[number]
        return min(first, key=lambda job: (-job.priority * (frame - job.first_frame + 1), job.number))

    def _queue(self, job: PathJob) -> None:
        if job.search is not None:
            return
        job.queued_as = priority_class(job.priority)
        heappush(self._queues.setdefault(job.queued_as, []), (job.number, job))
        self._queued += 1
        if self._queued > STALE_AT_LEAST + 2 * len(self.waiting):
            self._drop_stale()

    def _drop_stale(self) -> None:
        """Drop entries that are out of date; O(1) on average for each entry."""
        for number, queue in list(self._queues.items()):
            self._queues[number] = sorted({entry for entry in queue if self._waits(entry[1], number)})
        self._queued = sum(map(len, self._queues.values()))

    def _waits(self, job: PathJob, number: int) -> bool:
        return job.queued_as == number and self.waiting.get(job.key) is job

    def run(self, job: PathJob) -> None:
        """Move a search from waiting to running; it starts with the fewest turns of those that run."""
        del self.waiting[job.key]
        job.turns = min((one.turns for one in self.running.values()), default=0)
        self.resume(job)

    def resume(self, job: PathJob) -> None:
        """Let a search that has begun take turns."""
        job.version = self._ground.version
        self.running[job.key] = job

    def next_running(self) -> PathJob | None:
        """Return the search that takes the next turn: fewest turns, then earliest request."""
        return min(self.running.values(), key=lambda job: (job.turns, job.number), default=None)

    def holding_places(self, most: int) -> int:
        """Return the number of running searches without up to ``most`` that lost work by a change of the ground."""
        running = self.running.values()
        return len(running) - min(most, sum(1 for job in running if getattr(job.search, "restarts", 0)))

    def longest_running(self) -> list[PathJob]:
        """Return the searches that outlasted their first turn, in the order of their turns."""
        jobs = [job for job in self.running.values() if job.turns_taken]
        return sorted(jobs, key=lambda job: (job.turns, job.number))

    def keep(self, job: PathJob, path: Path, frame: int) -> None:
        """Keep a found path; it is valid for the current ground."""
        self.drop(job)
        if job.improves:
            if job.at != job.start:
                return  # the path starts elsewhere by now
            job.improves = False
        job.requested_at_frame = frame
        job.path, job.search, job.version, job.tickets = path, None, self._ground.version, []
        self.found.pop((job.start, job.goal), None)
        self.found[job.start, job.goal] = job
        while len(self.found) > MOST_KEPT:
            del self.found[next(iter(self.found))]

    def leave(self, job: PathJob, ticket: PathTicket) -> None:
        """Remove a ticket from a search, and the search if it was the last ticket."""
        job.tickets = [one for one in job.tickets if one is not ticket]
        if job.tickets:
            lower = max(one.priority for one in job.tickets)
            if lower != job.priority:
                job.priority = lower
                self._queue(job)
        else:
            if job.search is not None:
                job.search.cancel()
            self.drop(job)

    def drop(self, job: PathJob) -> None:
        """Remove a waiting or running search."""
        self.waiting.pop(job.key, None)
        self.running.pop(job.key, None)

    def forget(self, before_frame: int) -> None:
        """Drop found paths without a request since a frame.

        Cost: O(dropped paths).
        """
        while self.found:
            job = next(iter(self.found.values()))
            if job.requested_at_frame >= before_frame:
                return
            del self.found[job.start, job.goal]


__all__ = [
    "IMPROVING_JOB_STATE", "KEPT_STATE", "MOST_KEPT", "OVER_STATE", "SHARED_JOB_STATE", "PathJob", "PathJobs",
    "PathProvider", "PathTicket", "TicketState", "check_ticket",
]
