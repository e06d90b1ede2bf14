"""Path service: path requests by ticket, answered within a budget per frame.

Identical requests share one search, including one that has already finished. Searches take
turns in slices, and a higher priority gives longer turns, so that fewer than ``max_running``
long searches block no short ones, and none starves.
"""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, checked_clock
from ai_core.errors import check_callables, finite_number, shown, whole_number
from ai_core.faults import FaultIsolation, given_faults
from ai_core.paths.path import Path
from ai_core.paths.path_requests import (
    IMPROVING_JOB_STATE,
    KEPT_STATE,
    OVER_STATE,
    SHARED_JOB_STATE,
    PathJob,
    PathJobs,
    PathProvider,
    PathTicket,
    check_ticket,
)
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import Flag, ListOf, MapOf, Record, Whole
from ai_core.trace import Trace, given_trace


class SearchThreads:
    """Runs jobs in parallel on threads."""

    def __init__(self, executor: Executor, helpers: int) -> None:
        if not hasattr(executor, "submit"):
            raise TypeError(f"executor must be an Executor of threads, got {shown(executor)}")
        self._executor = executor
        self._helpers = whole_number("helpers", helpers, minimum=1)

    def run(self, jobs: list[Callable[[], None]]) -> list[Exception | None]:
        """Run all jobs; return the exception or None of each, in order.

        A free thread takes the next job; helpers that have not started when no job is left are cancelled.
        """
        raised: list[Exception | None] = [None] * len(jobs)
        left = deque(range(len(jobs)))

        def work() -> None:
            while True:
                try:
                    number = left.popleft()
                except IndexError:
                    return
                try:
                    jobs[number]()
                except Exception as error:
                    raised[number] = error

        helpers: list[Future[None]] = []
        with suppress(RuntimeError):     # it was shut down: all jobs run here
            for _ in range(min(self._helpers, len(jobs) - 1)):
                helpers.append(self._executor.submit(work))
        work()
        wait([helper for helper in helpers if not helper.cancel()])
        return raised


TURN_STEPS = 1024
"""Cells that a search of priority 1 expands per turn under a budget of steps: 40 µs compiled."""
TURN_US = 100.0
"""Length of a turn under a budget of time (µs). Shorter turns cost more switching than they gain in fairness."""
TURNS_AT_ONCE = 16
"""Turns (count) that a search takes in a row on a thread: handing it over costs half a turn."""
MAX_SEARCH_PRIORITY = 16.0
"""Highest effective priority (no unit): with a higher one, a turn would be as long as a frame."""


def take_turn(job: PathJob, budget: Budget) -> Exception | None:
    """Advance one search for its turn; return the exception it raised, or None."""
    turn = budget.part((TURN_STEPS if budget.stopwatch is None else TURN_US) * min(job.priority, MAX_SEARCH_PRIORITY))
    before = budget.steps
    try:
        job.search.advance(turn)
    except Exception as error:
        return error
    if budget.steps == before:
        budget.spend()  # a search that reports no step costs one
    else:
        job.steps += budget.steps - before
    job.turns += 1
    job.turns_taken += 1
    return None


def take_turns(jobs: list[PathJob], threads: SearchThreads, budget: Budget) -> list[Exception | None]:
    """Advance several searches in parallel; return the exception or None of each.

    Each search gets its own budget, as budgets are not thread-safe.
    """
    watch = budget.stopwatch
    left = budget.left if watch is not None else budget.left / len(jobs)
    budgets = []
    for job in jobs:
        share = TURNS_AT_ONCE * min(job.priority, MAX_SEARCH_PRIORITY) * (TURN_STEPS if watch is None else TURN_US)
        share = min(share, left)
        budgets.append(Budget.of_steps(max(1, int(share))) if watch is None else Budget.of_time(share, watch))
    raised = threads.run([partial(job.search.advance, own) for job, own in zip(jobs, budgets, strict=True)])
    for job, own in zip(jobs, budgets, strict=True):
        budget.spend(max(1, own.steps))
        job.steps += own.steps
        job.turns += TURNS_AT_ONCE
    return raised


LEAST_US = 50.0
"""Shortest time for searches in an advance (µs), even if the budget ends before: about one path."""

SEARCHING = 0.75
"""Share of a budget (no unit) for searches while the ground is not prepared. Without the rest, preparation that makes
searches many times faster would start only after the last of many searches."""


class PathRequests(NamedTuple):
    """All requests of a service, as they are saved.

    Of a search that runs, the number of its steps is saved. Loaded, it takes them at once, so that it ends in the same
    frame as without a save; if cells have changed since it began, it restarts. An improving search continues with
    the path of its mover.

    Attributes:
        over: referenced tickets that have a final state.
        searches: searches that wait or run, with their tickets.
        improving: searches of improving tickets.
        kept: cached paths, in the order of their last requests.
    """

    over: list[PathTicket]
    searches: list[PathJob]
    improving: list[PathJob]
    kept: list[PathJob]

    def tickets(self) -> Iterator[tuple[str, PathTicket]]:
        """Yield all tickets with the places of their numbers in a save."""
        for index, ticket in enumerate(self.over):
            yield f"requests.over[{index}].number", ticket
        for name in ("searches", "improving"):
            for index, job in enumerate(getattr(self, name)):
                for number, ticket in enumerate(job.tickets):
                    yield f"requests.{name}[{index}].tickets[{number}].number", ticket


class PathService(Saveable):
    """Issues tickets for path requests and finds the paths within a budget.

    Found paths, and the result that no path exists, are cached until the ground changes, until
    ``keep_frames`` pass without a request, or until 1,000 others were requested since; a ticket keeps its own
    path as long as it is referenced.
    When the ground changes, running searches restart by themselves, and found paths stay with
    their tickets.

    Args:
        provider: provider of paths, such as ``GridPathProvider``.
        clock: game time.
        max_running: largest number of searches that take turns (count); each needs memory of its own. Up to as many
            again start beside searches that a change of the ground made restart, so that others need not wait for them.
        max_waiting: largest number of different paths that may wait (count); further requests are
            refused, with the reason in their tickets.
        keep_frames: time that a path is cached after its last request (frames).
        trace: receives each ticket with the state "found", "partial" or "none".
        faults: receives exceptions of searches and callbacks.
        executor: executor of threads that advance several searches in parallel; searches that end in
            their first turn never use it. Threads are used within ``advance`` only, so paths do not
            change, but tickets may end in other frames than without threads; only compiled searches become
            faster. After its shutdown, searches run on the calling thread. None for no threads.
        helpers: largest number of threads besides the one that calls ``advance`` (count), 1 or more.
        on_over: called with each ticket that reaches a final state: within ``request_path`` if the result
            is known at once, otherwise within ``advance``. Not called for cancelled tickets.
        on_improved: called within ``advance`` with each improving ticket that gets another path, or loses it.

    Raises:
        TypeError, ValueError: if an argument has the wrong type or is out of range.

    Attributes:
        provider: the provider. The ground is not saved, and must be the same when a state is loaded.
        loads: how often a state was loaded (count); then tickets and numbers of before may be those of others.
    """

    SHOWN = ("provider", "is_idle")

    STATE = DeclaredState(
        next_number=Whole(at="_next_number"),
        counts=MapOf(Whole(), names=lambda service: service._counts, at="_counts"),
        prepares_first=Flag(at="_prepares_first"),
        requests=Record(
            PathRequests, over=ListOf(OVER_STATE), searches=ListOf(SHARED_JOB_STATE),
            improving=ListOf(IMPROVING_JOB_STATE), kept=ListOf(KEPT_STATE), at="_requests"))

    def __init__(
        self, provider: PathProvider, clock: Clock, *, max_running: int = 4, max_waiting: int = 10_000,
        keep_frames: int = 600, trace: Trace | None = None, faults: FaultIsolation | None = None,
        executor: Executor | None = None, helpers: int = 1, on_over: Callable[[PathTicket], object] | None = None,
        on_improved: Callable[[PathTicket], object] | None = None,
    ) -> None:
        needed = ("answer", "begin", "check", "distance", "fits", "known_answer", "prepare")
        missing = [name for name in needed if not hasattr(provider, name)]
        if missing:
            raise TypeError(
                f"provider must be a path provider, got {shown(provider)} without {', '.join(missing)}; use"
                f" GridPathProvider(passage)")
        checked_clock(clock)
        check_callables(on_over=on_over, on_improved=on_improved)
        whole_number("helpers", helpers, minimum=1)
        self.provider = provider
        self._clock = clock
        self._most_running = whole_number("max_running", max_running, minimum=1)
        self._most_waiting = whole_number("max_waiting", max_waiting, minimum=1)
        self._keep_frames = whole_number("keep_frames", keep_frames, minimum=0)
        self._trace, self._faults = given_trace(trace), given_faults(faults)
        self._on_over, self._on_improved = on_over, on_improved
        if executor is not None and not getattr(provider, "run_on_threads", False):
            raise ValueError(
                f"provider must support threads with an executor, got {shown(provider)}; leave out executor")
        self._threads = None if executor is None else SearchThreads(executor, helpers)
        self._jobs = PathJobs(provider)
        self._next_number = 0
        self._prepares_first = False    # the budget of the last advance ended before the preparation
        self._held: WeakValueDictionary[int, PathTicket] = WeakValueDictionary()
        self._unclaimed: dict[int, PathTicket] = {}
        self._loaded_at_frame = self.loads = 0
        self._is_calling = False
        self._counts = dict.fromkeys(
            ("requests", "shared", "searches", "found", "partial", "no_path", "failed", "refused"), 0)

    def request_path(
        self, start: Hashable, goal: Hashable, *, priority: float = 1.0, tolerance: float = 0.0
    ) -> PathTicket:
        """Request a path; return its ticket immediately.

        If the path is cached, or known not to exist, the ticket has its final state at once. The final state
        is "found", "partial" or "none"; for a goal that cannot be reached, the settings of ``provider`` alone
        decide between the last two.

        Args:
            start: start place in the form of ``provider``; a cell number of a grid.
            goal: goal place.
            priority: above 0; a search gets this many times the turn length of priority 1.
            tolerance: largest distance of start and of goal at which the path of another request is
                accepted (cells of a grid, metres of a navigation map), 0 or more; the ticket then has
                ``is_near`` set. If that path does not reach its goal, this request gets its own search.

        Raises:
            TypeError, ValueError: if a place is invalid, or a number is out of range.

        Cost: O(1); O(cached and requested paths) with a tolerance.
        """
        start, goal = self.provider.check("start", start), self.provider.check("goal", goal)
        urgency = finite_number("priority", priority, above=0)
        reach = finite_number("tolerance", tolerance, minimum=0)
        ticket = self._new_ticket(start, goal, urgency)
        self._join(ticket, reach)
        return ticket

    def request_improving_path(self, start: Hashable, goal: Hashable, *, priority: float = 1.0) -> PathTicket:
        """Request a quick first path and then cheaper ones, for one mover that walks along meanwhile.

        ``ticket.path`` is the best path so far until the ticket ends with the cheapest; report the place
        of the mover with ``move_start``. The search is not shared, unless the path is cached. Where a mover
        can wait, ``request_path`` costs less.

        Args:
            start: start place.
            goal: goal place.
            priority: as for ``request_path``.

        Raises:
            TypeError, ValueError: if a place is invalid, the number is out of range, or the provider does
                not support improving paths.

        Cost: O(1).
        """
        if not hasattr(self.provider, "begin_improving"):
            raise ValueError("improving paths are available only over a grid; use request_path")
        start, goal = self.provider.check("start", start), self.provider.check("goal", goal)
        ticket = self._new_ticket(start, goal, finite_number("priority", priority, above=0), improves=True)
        self._join(ticket, 0.0)
        return ticket

    def move_start(self, ticket: PathTicket, place: Hashable) -> None:
        """Report the place of the mover of an improving ticket; its path then starts there.

        Does nothing when the ticket has a final state.

        Raises:
            TypeError, ValueError: if the ticket does not improve or waits in another service, or the place is invalid.

        Cost: as ``AnytimeSearch.move_start``.
        """
        if not isinstance(ticket, PathTicket) or not ticket.improves:
            raise ValueError(f"ticket must be one of request_improving_path, got {shown(ticket)}")
        place = self.provider.check("place", place)
        if ticket.is_done:
            return
        self._check_own(ticket)
        job = self._jobs.holding(ticket)
        if job is None:
            return
        job.at = place
        if job.search is not None:
            job.search.move_start(place)
            ticket.path = job.search.best

    def check_path(self, ticket: PathTicket) -> Path | None:
        """Return the path of a ticket, or None while it is searched; see ``ticket.state``.

        Raises:
            TypeError: if ``ticket`` is not a PathTicket.
        """
        check_ticket(ticket)
        return ticket.path

    def ticket(self, number: int) -> PathTicket:
        """Return the ticket with a number, for use after loading.

        Raises:
            ValueError: if the number is unknown, or the ticket is no longer referenced.
        """
        ticket = self._held.get(whole_number("number", number, minimum=0))
        if ticket is None:
            raise ValueError(f"unknown ticket number {number}; request the path again")
        self._unclaimed.pop(number, None)
        return ticket

    def cancel(self, ticket: PathTicket) -> None:
        """Cancel a request; the search continues if other tickets wait for it.

        Does nothing when the ticket has a final state.

        Raises:
            TypeError: if ``ticket`` is not a PathTicket.
            ValueError: if it waits in another service.
        """
        check_ticket(ticket)
        if ticket.is_done:
            return
        self._check_own(ticket)
        ticket.state = "cancelled"
        job = self._jobs.holding(ticket)
        if job is not None:
            self._jobs.leave(job, ticket)

    def _check_own(self, ticket: PathTicket) -> None:
        if self._held.get(ticket.number) is not ticket:
            raise ValueError(f"ticket must be one of this service, got {shown(ticket)} of another")

    @property
    def is_idle(self) -> bool:
        """True if no ticket waits for a path."""
        return not self._jobs.waiting and not self._jobs.running

    def statistics(self) -> dict[str, int]:
        """Counts since the service was created, and the numbers of paths that wait, run and are cached now.

        Each finished search counts once: as found, partial (the goal cannot be reached, and the path leads to the
        nearest place) or no_path.
        """
        book = self._jobs
        return {**self._counts, "waiting": len(book.waiting), "running": len(book.running), "kept": len(book.found)}

    def advance(self, budget: Budget, /) -> None:
        """Advance searches until none is left or the budget is spent, and prepare the ground.

        While the ground is not prepared, at least a quarter of the budget is reserved for that. However small a budget
        of time is, either the searches get ``LEAST_US`` in an advance or the preparation a step, in turns.

        Cost: limited by the budget.
        """
        check_budget(budget)
        self._jobs.forget(self._clock.now.frame - self._keep_frames)
        if self._unclaimed and self._clock.now.frame - self._loaded_at_frame > self._keep_frames:
            self._unclaimed = {}
        is_prepared = self.provider.is_prepared
        if self._prepares_first and not is_prepared:
            self._prepares_first = False
            self.provider.prepare(budget.part(budget.left * (1 - SEARCHING)))
            if budget.is_spent:
                return
            is_prepared = self.provider.is_prepared
        searching = budget.part_of_at_least(LEAST_US, math.inf if is_prepared else budget.left * SEARCHING)
        while not searching.is_spent:
            if self._jobs.waiting and self._jobs.holding_places(self._most_running) < self._most_running:
                self._start(self._jobs.next_waiting(self._clock.now.frame))
                continue
            job = self._jobs.next_running()
            if job is None or not self.provider.fits(searching):
                break
            together = self._jobs.longest_running() if self._threads is not None and job.turns_taken else []
            if self._threads is not None and len(together) > 1:
                raised = take_turns(together, self._threads, searching)
            else:
                together, raised = [job], [take_turn(job, searching)]
            for one, error in zip(together, raised, strict=True):
                self._after_turn(one, error)
        if not is_prepared:
            if not budget.is_spent:
                self.provider.prepare(budget)
            elif not budget.charges_runs:
                self._prepares_first = True

    @property
    def _requests(self) -> PathRequests:
        version = self.provider.version
        jobs = sorted((*self._jobs.waiting.values(), *self._jobs.running.values()), key=lambda job: job.number)
        for job in jobs:
            if job.version != version:
                job.steps = 0       # counted on another ground
        return PathRequests(
            [ticket for _, ticket in sorted(self._held.items()) if ticket.is_done],
            [job for job in jobs if not job.improves], [job for job in jobs if job.improves],
            [job for job in self._jobs.found.values() if job.version == version])

    @_requests.setter
    def _requests(self, loaded: PathRequests) -> None:
        """Replace all requests; referenced tickets stay the same objects."""
        for job in self._jobs.running.values():
            job.search.cancel()
        tickets = {one.number: one for _, one in loaded.tickets()}
        for number, here in self._held.items():
            if number in tickets:
                here.become(tickets[number])
                tickets[number] = here
            elif not here.is_done:
                here.state = "cancelled"
        self._jobs = PathJobs(self.provider)
        for job in loaded.kept:
            self._jobs.keep(job, job.path, job.first_frame)  # type: ignore[arg-type]
        for job in (*loaded.searches, *loaded.improving):
            job.tickets = [tickets[one.number] for one in job.tickets]
            if not (job.is_running and len(self._jobs.running) < self._most_running and self._resume(job)):
                self._jobs.wait(job)
            for ticket in job.tickets:
                ticket.state = "waiting" if job.search is None else "running"
                self._jobs.raise_priority(job, ticket.priority)
        self._unclaimed, self._held = tickets, WeakValueDictionary(tickets)
        self._loaded_at_frame = self._clock.now.frame
        self.loads += 1

    def _check_at_rest(self) -> None:
        if self._is_calling:
            raise RuntimeError("a callback of the path service is running; save and load outside of it")

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        requests, taken = values.requests, set()
        if requests.improving and not hasattr(self.provider, "begin_improving"):
            refuse("requests.improving", "must be empty, as improving paths are available only over a grid")
        for place, ticket in requests.tickets():
            if ticket.number >= values.next_number or ticket.number in taken:
                refuse(place, f"must be unique and below {values.next_number}, got {ticket.number}")
            taken.add(ticket.number)
        numbers = {job.number for job in requests.improving}
        for name in ("searches", "kept"):
            ends = set()
            for index, job in enumerate(getattr(requests, name)):
                if job.number >= values.next_number or job.number in numbers:
                    refuse(f"requests.{name}[{index}].number",
                           f"must be unique and below {values.next_number}, got {job.number}")
                if job.key in ends:
                    refuse(f"requests.{name}[{index}].start", "and 'goal' must be unique, got those of another search")
                numbers.add(job.number)
                ends.add(job.key)

    def _new_ticket(self, start: Hashable, goal: Hashable, priority: float, *, improves: bool = False) -> PathTicket:
        ticket = PathTicket(self._next_number, start, goal, priority, self._clock.now.frame, improves=improves)
        self._held[ticket.number] = ticket
        self._next_number += 1
        self._counts["requests"] += 1
        return ticket

    def _join(self, ticket: PathTicket, reach: float) -> None:
        """Assign a ticket to a new, waiting, running or cached search, possibly one nearby."""
        job = self._jobs.find(ticket.start, ticket.goal, reach)
        if job is None or (ticket.improves and job.path is None):
            job = self._new_job(ticket)
            if job is None:
                return
        else:
            self._counts["shared"] += 1
            ticket.is_shared = True
            ticket.is_near = (job.start, job.goal) != (ticket.start, ticket.goal)
        self._jobs.ask(job, self._clock.now.frame)
        if job.path is not None:
            ticket.path, ticket.state = job.path, job.path.state
            self._report(ticket)
        else:
            job.tickets.append(ticket)
            self._jobs.raise_priority(job, ticket.priority)
            ticket.state = "waiting" if job.search is None else "running"

    def _new_job(self, ticket: PathTicket) -> PathJob | None:
        if len(self._jobs.waiting) >= self._most_waiting:
            ticket.state = "refused"
            ticket.why = f"{self._most_waiting} other paths wait; request it again later, or raise max_waiting"
            self._counts["refused"] += 1
            self._report(ticket)
            return None
        job = PathJob(ticket.number, ticket.start, ticket.goal, ticket.requested_at_frame, improves=ticket.improves)
        known_answer = self.provider.known_answer(ticket.start, ticket.goal)
        if known_answer is None:
            self._jobs.wait(job)
        else:
            self._counts["no_path"] += 1
            self._jobs.keep(job, known_answer, ticket.requested_at_frame)
        return job

    def _start(self, job: PathJob) -> None:
        self._counts["searches"] += 1
        try:
            job.search = self._begun(job)
        except Exception as error:
            self._fail(job, error)
            return
        self._jobs.run(job)
        for ticket in job.tickets:
            ticket.state = "running"

    def _resume(self, job: PathJob) -> bool:
        """Begin a loaded search that was running, and let it take the steps that it had taken; False if it raises."""
        try:
            job.search = self._begun(job)
            if job.improves:
                job.tickets[0].path = job.search.best
            elif job.steps:
                job.search.advance(Budget.of_steps(job.steps))
                job.turns_taken = job.turns
        except Exception:       # the rest is loaded; begun again in an advance, the search fails or not
            job.search = None
            return False
        self._jobs.resume(job)
        return True

    def _begun(self, job: PathJob) -> Any:
        if job.improves:
            return self.provider.begin_improving(job.at, job.goal, job.tickets[0].path)  # type: ignore[attr-defined]
        return self.provider.begin(job.start, job.goal)

    def _after_turn(self, job: PathJob, error: Exception | None) -> None:
        if error is not None:
            self._fail(job, error)
        elif job.search.is_done:
            self._finish(job, self.provider.answer(job.at, job.search.result))
        elif job.improves:
            self._improve(job)

    def _improve(self, job: PathJob) -> None:
        """Assign the best path so far to the tickets; None if new walls block it."""
        for ticket in job.tickets:
            if ticket.path is not job.search.best:
                ticket.path = job.search.best
                if self._on_improved is not None:
                    self._call(self._on_improved, ticket)

    def _finish(self, job: PathJob, path: Path) -> None:
        self._counts["no_path" if path.state == "none" else path.state] += 1
        # A failed search from nearby proves nothing for a ticket with is_near: it gets its own search.
        given = [one for one in job.tickets if path.is_found or not one.is_near]
        others = [one for one in job.tickets if one.is_near and not path.is_found]
        self._jobs.keep(job, path, self._clock.now.frame)
        for ticket in given:
            ticket.path, ticket.state = path, path.state
        for ticket in others:
            self._counts["shared"] -= 1
            ticket.is_shared = ticket.is_near = False
            self._join(ticket, 0.0)
        for ticket in given:
            self._report(ticket)

    def _fail(self, job: PathJob, error: Exception) -> None:
        """Fail the tickets of a search that raised; other searches continue."""
        self._counts["failed"] += 1
        self._jobs.drop(job)
        for ticket in job.tickets:
            ticket.state, ticket.why = "failed", f"{type(error).__name__}: {error}"
        for ticket in job.tickets:
            self._report(ticket)
        self._faults.report_of_the_past(f"path from {job.start!r} to {job.goal!r}", self._clock.now.frame, error)

    def _report(self, ticket: PathTicket) -> None:
        """Report a ticket that has reached a final state to the trace and to ``on_over``."""
        if ticket.is_answered:
            for hook in self._trace.path_done:
                self._call(hook, ticket, self._clock.now)
        if self._on_over is not None:
            self._call(self._on_over, ticket)

    def _call(self, callback: Callable[..., object], ticket: PathTicket, *more: object) -> None:
        """Call a hook or callback with a ticket; an exception is reported and does not stop the others."""
        outer, self._is_calling = self._is_calling, True
        try:
            callback(ticket, *more)
        except Exception as error:
            self._faults.report_of_the_past(f"callback for ticket {ticket.number}", self._clock.now.frame, error)
        finally:
            self._is_calling = outer


__all__ = ["TURN_STEPS", "TURN_US", "PathProvider", "PathService", "SearchThreads", "take_turn", "take_turns"]
