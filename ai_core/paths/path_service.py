"""Paths by ticket: ask for a way, go on, and look later whether it is there.

Requests for the same way are one search, whoever asks, also when it is found
already. Searches take turns in slices, those of higher priority more of them, so
that a long one does not hold up the short ones and none waits for ever.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future, wait
from functools import partial
from weakref import WeakValueDictionary

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, checked_clock
from ai_core.errors import check_callables, finite_number, shown, whole_number
from ai_core.faults import FaultIsolation
from ai_core.paths.path import Path
from ai_core.paths.path_requests import PathTicket, TicketTelling, Way, WayBook, Ways, check_ticket
from ai_core.paths.ticket_saving import MIGRATIONS, VERSION, loaded_tickets, saved_tickets
from ai_core.saving.fields import Fields, State
from ai_core.trace import Trace


class SearchThreads:
    """Runs jobs at once.

    Args:
        executor: whose threads help; not one of processes.
        helpers: how many threads help at most (count).

    Raises:
        TypeError: if it is no executor.
        ValueError: if the number is out of range.
    """

    def __init__(self, executor: Executor, helpers: int) -> None:
        if not hasattr(executor, "submit"):
            raise TypeError(f"executor must be an Executor of threads, got {shown(executor)}")
        self._executor = executor
        self._helpers = whole_number("helpers", helpers, minimum=1)

    def run(self, jobs: list[Callable[[], None]]) -> list[Exception | None]:
        """Run all jobs; return in their order what each raised, or None.

        Whoever is free takes the next one; helpers that have not begun when none is left are let go.
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
        for _ in range(min(self._helpers, len(jobs) - 1)):
            helpers.append(self._executor.submit(work))
        work()
        wait([helper for helper in helpers if not helper.cancel()])
        return raised


TURN_STEPS = 1024
"""Cells a search of priority 1 expands in its turn, when steps are counted: 40 µs compiled."""
TURN_US = 100.0
"""Time of such a turn (µs). Shorter ones cost more for changing than they gain in fairness."""
TURNS_AT_ONCE = 16
"""Turns (count) that a search gets at once when several run on threads: to hand it over costs half a turn."""
MOST_URGENT = 16.0
"""Priorities above count as this one: or a turn would be as long as a frame."""


def take_turn(way: Way, budget: Budget) -> Exception | None:
    """Let one search go on for its share; return what it raised."""
    turn = budget.part((TURN_STEPS if budget.stopwatch is None else TURN_US) * min(way.priority, MOST_URGENT))
    before = budget.steps
    try:
        way.search.advance(turn)
    except Exception as error:
        return error
    if budget.steps == before:
        budget.spend()  # what reports nothing is not free
    way.turns += 1
    way.turns_taken += 1
    return None


def take_turns(ways: list[Way], threads: SearchThreads, budget: Budget) -> list[Exception | None]:
    """Let several searches go on at once; return what each raised.

    Each has a budget of its own: budgets are not for threads.
    """
    watch = budget.stopwatch
    left = budget.left if watch is not None else budget.left / len(ways)
    budgets = []
    for way in ways:
        share = TURNS_AT_ONCE * min(way.priority, MOST_URGENT) * (TURN_STEPS if watch is None else TURN_US)
        share = min(share, left)
        budgets.append(Budget.of_steps(max(1, int(share))) if watch is None else Budget.of_time(share, watch))
    raised = threads.run([partial(way.search.advance, own) for way, own in zip(ways, budgets, strict=True)])
    for way, own in zip(ways, budgets, strict=True):
        budget.spend(max(1, own.steps))
        way.turns += TURNS_AT_ONCE
    return raised


SEARCHING = 0.75
"""Share of a budget that searches have while the ground is not prepared. With all of it, where many ask at once, what
makes searches many times faster would come when the last of them is over."""


class PathService:
    """Gives tickets for ways, and finds the ways within a budget.

    Ways are kept for whoever asks next until the ground changes or nobody asked for
    them for ``keep_frames``; a ticket keeps its own way as long as somebody holds it.
    Answers that there is no way are kept likewise. When the ground changes, searches
    begin anew by themselves, and ways found stay with their tickets.

    Args:
        ways: what finds them, such as ``GridWays``.
        clock: game time.
        most_running: searches that take turns (count); each needs memory of its own.
        most_waiting: requests for different ways that may wait (count); more are refused,
            and their tickets say so.
        keep_frames: how long a way nobody asks for is kept (frames).
        trace: told of each ticket that is found, partial or none.
        faults: told of searches that raise, and of those who are told of tickets.
        executor: of threads, on which several searches run at once; those that end in their first turn
            never get there. Everything is handed over and taken back within ``advance``, so it
            changes nothing but the time that takes, and that of compiled searches alone.
        helpers: how many threads of it help the one that calls ``advance`` (count).
        on_over: called with each ticket that is over, within ``request_path`` if that is so at once, else
            within ``advance``; not with cancelled ones.
        on_improved: called within ``advance`` with each ticket that improves and has another way, or none any more.

    Raises:
        TypeError, ValueError: if an argument is not what it must be.
    """

    def __init__(
        self,
        ways: Ways,
        clock: Clock,
        *,
        most_running: int = 4,
        most_waiting: int = 10_000,
        keep_frames: int = 600,
        trace: Trace | None = None,
        faults: FaultIsolation | None = None,
        executor: Executor | None = None,
        helpers: int = 1,
        on_over: Callable[[PathTicket], object] | None = None,
        on_improved: Callable[[PathTicket], object] | None = None,
    ) -> None:
        needed = ("answer", "begin", "check", "distance", "fits", "hopeless", "prepare")
        missing = [name for name in needed if not hasattr(ways, name)]
        if missing:
            raise TypeError(
                f"ways must find ways, got {shown(ways)} without {', '.join(missing)}; use GridWays(passage)"
            )
        checked_clock(clock)
        check_callables(on_over=on_over, on_improved=on_improved)
        whole_number("helpers", helpers, minimum=1)
        self._ways = ways
        self._clock = clock
        self._most_running = whole_number("most_running", most_running, minimum=1)
        self._most_waiting = whole_number("most_waiting", most_waiting, minimum=1)
        self._keep_frames = whole_number("keep_frames", keep_frames, minimum=0)
        self._telling = TicketTelling(clock, trace, faults, on_over, on_improved)
        if executor is not None and not getattr(ways, "run_on_threads", False):
            raise ValueError(f"ways must be such that may be found on threads, got {shown(ways)}; leave out executor")
        self._threads = None if executor is None else SearchThreads(executor, helpers)
        self._book = WayBook(ways)
        self._next_number = 0
        self._held: WeakValueDictionary[int, PathTicket] = WeakValueDictionary()
        self._unclaimed: dict[int, PathTicket] = {}
        self._loaded_at_frame = 0
        self._counts = dict.fromkeys(
            ("requests", "shared", "searches", "found", "partial", "no_way", "failed", "refused"), 0)

    def request_path(
        self, start: Hashable, goal: Hashable, *, priority: float = 1.0, tolerance: float = 0.0
    ) -> PathTicket:
        """Ask for a way; return a ticket at once.

        If the way is found already, or known not to be there, the ticket is over at once. Its state is found,
        partial or none in the end; a goal that cannot be reached gets the one of the latter that ``ways`` is made
        for, whatever is known of the ground at that time.

        Args:
            start: where from, as ``ways`` knows places; a cell of a grid.
            goal: where to.
            priority: above 0; a search has so many times the turns of one of priority 1.
            tolerance: a way whose start and goal are each this near will do (cells of a grid,
                metres of a navigation map); the ticket then says ``is_near``. If none leads to its
                goal from there, its own is searched.

        Raises:
            TypeError, ValueError: if a place is none, or a number is out of range.

        Cost: O(1); O(ways kept and asked for) with a tolerance.
        """
        start, goal = self._ways.check("start", start), self._ways.check("goal", goal)
        urgency = finite_number("priority", priority, above=0)
        reach = finite_number("tolerance", tolerance, minimum=0)
        ticket = self._new_ticket(start, goal, urgency)
        self._join(ticket, reach)
        return ticket

    def request_improving_path(self, start: Hashable, goal: Hashable, *, priority: float = 1.0) -> PathTicket:
        """Ask for a way soon and then cheaper ones, for one mover that walks along meanwhile.

        ``ticket.path`` is the best so far, until it is over with the cheapest; tell with ``walk_to``
        where the mover is. The search is its own, unless the way is found already: where a way
        may wait, ``request_path`` costs less.

        Args:
            start: where from.
            goal: where to.
            priority: as for ``request_path``.

        Raises:
            TypeError, ValueError: if a place is none, the number is out of range, or no such ways are
                found on this ground.

        Cost: O(1).
        """
        if not hasattr(self._ways, "begin_improving"):
            raise ValueError("ways cannot be improved on this ground, only over a grid; use request_path")
        start, goal = self._ways.check("start", start), self._ways.check("goal", goal)
        ticket = self._new_ticket(start, goal, finite_number("priority", priority, above=0), improves=True)
        self._join(ticket, 0.0)
        return ticket

    def walk_to(self, ticket: PathTicket, place: Hashable) -> None:
        """Say where the mover of a ticket that improves is now; its way leads from there. Nothing when it is over.

        Raises:
            TypeError, ValueError: if it is no such ticket, or no place.

        Cost: as ``AnytimeSearch.walk_to``.
        """
        if not isinstance(ticket, PathTicket) or not ticket.improves:
            raise ValueError(f"ticket must be one of request_improving_path, got {shown(ticket)}")
        place = self._ways.check("place", place)
        way = self._book.holding(ticket)
        if ticket.is_over or way is None:
            return
        way.at = place
        if way.search is not None:
            way.search.walk_to(place)
            ticket.path = way.search.best

    def check_path(self, ticket: PathTicket) -> Path | None:
        """Return the way of a ticket, or None while it is searched; ``ticket.state`` says where it leads.

        Raises:
            TypeError: if it is no ticket.
        """
        check_ticket(ticket)
        return ticket.path

    def ticket(self, number: int) -> PathTicket:
        """Return the ticket of a number, as after loading.

        Raises:
            ValueError: if nobody holds it any more, or it was never given.
        """
        ticket = self._held.get(whole_number("number", number, minimum=0))
        if ticket is None:
            raise ValueError(f"number must be of a ticket that somebody holds, got {number}; ask for the way anew")
        self._unclaimed.pop(number, None)
        return ticket

    def save_state(self) -> State:
        """Return tickets, and the ways they wait for.

        Cost: O(tickets held, and cells of their ways).
        """
        return {
            "version": VERSION, "next_number": self._next_number, "counts": dict(self._counts),
            **saved_tickets(self._held.values(), self._book, self._ways),
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. It must be of the same ground, which is saved by others.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=VERSION, migrations=MIGRATIONS)
        next_number = fields.whole("next_number")
        counted = fields.group("counts")
        counts = {name: counted.whole(name) for name in self._counts}
        counted.end()
        loaded = loaded_tickets(fields, next_number, self._ways)
        fields.end()

        def change() -> None:
            for way in self._book.running.values():
                way.search.cancel()
            for ticket in self._held.values():
                if ticket.number not in loaded.tickets:
                    ticket.state = ticket.state if ticket.is_over else "cancelled"
            self._book = WayBook(self._ways)
            self._next_number, self._counts = next_number, counts
            self._unclaimed = loaded.enter(self._book, self._ways, self._held.get)
            self._held = WeakValueDictionary(self._unclaimed)
            self._loaded_at_frame = self._clock.now.frame

        return change

    def cancel(self, ticket: PathTicket) -> None:
        """Give up a request; the search goes on if others wait for it. Does nothing when it is over.

        Raises:
            TypeError: if it is no ticket.
        """
        check_ticket(ticket)
        if ticket.is_over:
            return
        ticket.state = "cancelled"
        way = self._book.holding(ticket)
        if way is not None:
            self._book.leave(way, ticket)

    @property
    def is_idle(self) -> bool:
        """True if nobody waits for a way."""
        return not self._book.waiting and not self._book.running

    @property
    def statistics(self) -> dict[str, int]:
        """Counts since it was made, and how many ways wait, run and are kept now.

        Of the answers to searches, each counts once: found, partial (the goal cannot be reached, the path leads to
        the nearest place) or no_way.
        """
        book = self._book
        return {**self._counts, "waiting": len(book.waiting), "running": len(book.running), "kept": len(book.found)}

    def advance(self, budget: Budget, /) -> None:
        """Search until nobody waits or the budget is spent; what is left prepares the ground, a quarter at least.

        Cost: as the budget says.
        """
        check_budget(budget)
        self._book.forget(self._clock.now.frame - self._keep_frames)
        if self._unclaimed and self._clock.now.frame - self._loaded_at_frame > self._keep_frames:
            self._unclaimed = {}
        is_prepared = self._ways.is_prepared
        searching = budget if is_prepared else budget.part(budget.left * SEARCHING)
        while not searching.is_spent:
            while self._book.waiting and len(self._book.running) < self._most_running:
                self._start(self._book.next_waiting(self._clock.now.frame))
            way = self._book.next_running()
            if way is None or not self._ways.fits(searching):
                break
            together = self._book.longest_running() if self._threads is not None and way.turns_taken else []
            if self._threads is not None and len(together) > 1:
                raised = take_turns(together, self._threads, searching)
            else:
                together, raised = [way], [take_turn(way, searching)]
            for one, error in zip(together, raised, strict=True):
                self._after_turn(one, error)
        if not is_prepared and not budget.is_spent:
            self._ways.prepare(budget)

    def _new_ticket(self, start: Hashable, goal: Hashable, priority: float, *, improves: bool = False) -> PathTicket:
        ticket = PathTicket(self._next_number, start, goal, priority, self._clock.now.frame, improves=improves)
        self._held[ticket.number] = ticket
        self._next_number += 1
        self._counts["requests"] += 1
        return ticket

    def _join(self, ticket: PathTicket, reach: float) -> None:
        """Have a ticket wait for its way, or for one nearby, or give it the one that is there."""
        way = self._book.find(ticket.start, ticket.goal, reach)
        if way is None or (ticket.improves and way.path is None):
            way = self._new_way(ticket)
            if way is None:
                return
        else:
            self._counts["shared"] += 1
            ticket.is_shared = True
            ticket.is_near = (way.start, way.goal) != (ticket.start, ticket.goal)
        self._book.ask(way, self._clock.now.frame)
        if way.path is not None:
            self._give(ticket, way.path)
        else:
            way.tickets.append(ticket)
            self._book.raise_priority(way, ticket.priority)
            ticket.state = "waiting" if way.search is None else "running"

    def _new_way(self, ticket: PathTicket) -> Way | None:
        if len(self._book.waiting) >= self._most_waiting:
            ticket.state = "refused"
            ticket.why = f"{self._most_waiting} other ways wait; ask again later, or raise most_waiting"
            self._counts["refused"] += 1
            self._telling.over(ticket)
            return None
        way = Way(ticket.number, ticket.start, ticket.goal, ticket.asked_at_frame, improves=ticket.improves)
        hopeless = self._ways.hopeless(ticket.start, ticket.goal)
        if hopeless is None:
            self._book.wait(way)
        else:
            self._counts["no_way"] += 1
            self._book.keep(way, hopeless, ticket.asked_at_frame)
        return way

    def _start(self, way: Way) -> None:
        self._counts["searches"] += 1
        try:
            way.search = (
                self._ways.begin_improving(way.at, way.goal, None) if way.improves  # type: ignore[attr-defined]
                else self._ways.begin(way.start, way.goal))
        except Exception as error:
            self._fail(way, error)
            return
        self._book.run(way)
        for ticket in way.tickets:
            ticket.state = "running"

    def _after_turn(self, way: Way, error: Exception | None) -> None:
        if error is not None:
            self._fail(way, error)
        elif way.search.is_done:
            self._finish(way, self._ways.answer(way.at, way.search.result))
        elif way.improves:
            self._improve(way)

    def _improve(self, way: Way) -> None:
        """Give the best way so far to whom it is for; none, if walls went up in it."""
        for ticket in way.tickets:
            if ticket.path is not way.search.best:
                ticket.path = way.search.best
                self._telling.improved(ticket)

    def _finish(self, way: Way, path: Path) -> None:
        self._counts["no_way" if path.state == "none" else path.state] += 1
        # That no way leads there from nearby says nothing of one's own.
        given = [one for one in way.tickets if path.is_found or not one.is_near]
        others = [one for one in way.tickets if one.is_near and not path.is_found]
        self._book.keep(way, path, self._clock.now.frame)
        for ticket in given:
            ticket.path, ticket.state = path, path.state
        for ticket in others:
            self._counts["shared"] -= 1
            ticket.is_shared = ticket.is_near = False
            self._join(ticket, 0.0)
        for ticket in given:
            self._telling.over(ticket)

    def _give(self, ticket: PathTicket, path: Path) -> None:
        ticket.path, ticket.state = path, path.state
        self._telling.over(ticket)

    def _fail(self, way: Way, error: Exception) -> None:
        """Tell whoever waits that the search raised; the others go on."""
        self._counts["failed"] += 1
        self._book.drop(way)
        for ticket in way.tickets:
            ticket.state, ticket.why = "failed", f"{type(error).__name__}: {error}"
        for ticket in way.tickets:
            self._telling.over(ticket)
        self._telling.fault((self, way.start, way.goal), f"way from {way.start!r} to {way.goal!r}", error)


__all__ = ["TURN_STEPS", "TURN_US", "PathService", "SearchThreads", "Ways", "take_turn", "take_turns"]
