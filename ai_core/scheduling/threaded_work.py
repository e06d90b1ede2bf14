"""Threaded work: a function that runs on threads, with results in a later frame, in order.

Rejected: handing over each result as soon as it is available. It is slightly sooner,
and no two runs are the same.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from types import SimpleNamespace
from typing import Any

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.errors import check_callables, check_type, shown, whole_number
from ai_core.saving.declared_state import ClockNow, DeclaredState, Refuse, Saveable
from ai_core.saving.kinds import GameValue, ListOf, Moment, Record, Whole
from ai_core.saving.values import SavedValues
from ai_core.scheduling.work import check_function

__all__ = [
    "MAX_DELAY_FRAMES",
    "ThreadTicket",
    "ThreadedWork",
]


class ThreadTicket:
    """A submitted call; its result is available from its frame on, never before.

    Attributes:
        id: number within its ThreadedWork, never reused.
        arguments: arguments of the call.
        submitted_at: game time of the submission.
        due_frame: the frame of the clock on which the result is handed over.
        error: the exception that the function raised, once handed over; else None.
    """

    __slots__ = ("_future", "_outcome", "_result", "arguments", "due_frame", "error", "id", "submitted_at")

    def __init__(self, id: int, arguments: tuple[Any, ...], submitted_at: TimeIndex, due_frame: int) -> None:
        self.id, self.arguments, self.submitted_at, self.due_frame = id, arguments, submitted_at, due_frame
        self._outcome = "pending"
        self._future: Future[Any] | None = None
        self._result: Any = None
        self.error: Exception | None = None

    def __repr__(self) -> str:
        return f"<ThreadTicket {self.id} {self._outcome}, due in frame {self.due_frame}>"

    @property
    def is_done(self) -> bool:
        """True once it is handed over, with a result or an error."""
        return self._outcome in ("succeeded", "failed")

    @property
    def is_cancelled(self) -> bool:
        """True after ``ThreadedWork.cancel``, or when a save was loaded that does not have it."""
        return self._outcome == "cancelled"

    @property
    def result(self) -> Any:
        """The return value of the function.

        Raises:
            RuntimeError: if it is not handed over yet, or was cancelled.
            Exception: the exception that the function raised, if any.
        """
        if self.error is not None:
            raise self.error
        if self._outcome != "succeeded":
            raise RuntimeError(f"ticket {self.id} has no result, it is {self._outcome}; check is_done first")
        return self._result


MAX_DELAY_FRAMES = 100_000
"""Longest delay of a result (frames): half an hour at 60 Hz; more is a mistake of units."""


class ThreadedWork(Saveable):
    """Runs calls of one function on an executor, and no callback there; work for a scheduler.

    The function must depend on its arguments alone, change nothing that other code
    reads, and touch no nodes of an engine: it runs while the game continues.
    Arguments must not be changed meanwhile; pass copies.

    A result is handed over when the clock is at its ``due_frame`` or later
    and the budget is not spent, at least one in each ``advance``; each costs
    one step. Results arrive in the order submitted: a late one delays
    those after it.

    If a call raises, its ticket has the ``error``, ``then`` is not called, and ``advance`` raises it when the result
    would be handed over; it does so, too, if ``then`` raises. Those after it are handed over by the next ``advance``:
    so a scheduler reports failures, and after several in a row lets the calls wait until ``release``; none is lost.

    The arguments of pending calls are saved; after loading they are
    computed again, for the same frames.

    Args:
        function: computes a result.
        clock: source of the current frame.
        executor: runs it; None runs each call when it is due, on the calling
            thread, with the same outcome. It is not shut down here.
        delay_frames: frames from submitting to handing over, 1 to MAX_DELAY_FRAMES.
        waits: True hands over exactly on the due frame, waiting if
            necessary: the trace does not depend on the threads. False never waits,
            and hands over on the first frame on which it can.
        then: called with each ticket that succeeded; None if the caller keeps the tickets.
        values: how arguments are saved that are not plain data.

    Raises:
        TypeError: if ``function``, ``executor``, ``clock`` or ``then`` is of another type, or
            ``function`` is async or yields.
        ValueError: if ``delay_frames`` is out of range.
    """

    SHOWN = ("pending",)

    STATE = DeclaredState(
        now=ClockNow(at="_clock.now"),
        next_id=Whole(at="_next_id"),
        pending=ListOf(
            Record(ThreadTicket, id=Whole(), submitted_at=Moment(TimeIndex), due_frame=Whole(1),
                   arguments=ListOf(GameValue("_values", at="arguments"), make=tuple)),
            at="_tickets"),
    )

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        clock: Clock,
        executor: Executor | None,
        delay_frames: int = 1,
        waits: bool = True,
        then: Callable[[ThreadTicket], object] | None = None,
        values: SavedValues | None = None,
    ) -> None:
        check_function("function", function)
        checked_clock(clock)
        check_callables(then=then)
        check_type("waits", waits, bool)
        self._function = function
        self._clock = clock
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise TypeError(f"executor must be a concurrent.futures.Executor or None, got {shown(executor)}")
        self._executor = executor
        self._delay_frames = whole_number(
            "delay_frames", delay_frames, minimum=1, maximum=MAX_DELAY_FRAMES,
            remedy="a result is available on the next frame at the earliest",
        )
        self._waits = waits
        self._then = then
        self._values = values if values is not None else SavedValues()
        self._pending: deque[ThreadTicket] = deque()
        self._next_id = 0

    @property
    def pending(self) -> tuple[ThreadTicket, ...]:
        """Tickets that are not handed over yet, in the order submitted."""
        return tuple(self._pending)

    def submit(self, *arguments: Any) -> ThreadTicket:
        """Call the function with ``arguments`` on the executor, and return a ticket.

        Cost: that of ``submit`` of the executor: some 10 to 30 µs for a pool of threads.
        """
        now = self._clock.now
        ticket = ThreadTicket(self._next_id, arguments, now, now.frame + self._delay_frames)
        self._next_id += 1
        self._pending.append(ticket)
        self._start(ticket)
        return ticket

    def cancel(self, ticket: ThreadTicket) -> None:
        """Cancel a pending ticket; if a thread is running it, the result is dropped.

        Raises:
            ValueError: if it is not pending here.
        """
        if ticket not in self._pending:
            raise ValueError(f"{ticket!r} is not pending here; check is_done and is_cancelled first")
        self._pending.remove(ticket)
        _drop(ticket)

    def advance(self, budget: Budget, /) -> None:
        """Hand over due results, in the order submitted.

        Raises:
            TypeError: if ``budget`` is not a Budget.
            Exception: what the function or ``then`` raised; the rest waits for the next ``advance``.

        Cost: O(handed over); waits for threads only where it must.
        """
        check_budget(budget)
        frame = self._clock.now.frame
        while self._pending:
            ticket = self._pending[0]
            if ticket.due_frame > frame or not (
                self._waits or ticket._future is None or ticket._future.done()
            ):
                return
            budget.spend()
            try:
                future = ticket._future
                if future is None or future.cancel():  # no thread has started it or will start it
                    ticket._result = self._function(*ticket.arguments)
                else:
                    ticket._result = future.result()
                ticket._outcome = "succeeded"
            except Exception as error:
                ticket._outcome, ticket.error = "failed", error
                raise
            finally:
                if ticket.is_done:  # not if the program ends: its save must be complete
                    ticket._future = None
                    self._pending.popleft()
            if self._then is not None:
                self._then(ticket)
            if budget.is_spent:
                return

    @property
    def _tickets(self) -> list[ThreadTicket]:
        return list(self._pending)

    @_tickets.setter
    def _tickets(self, tickets: list[ThreadTicket]) -> None:
        for ticket in self._pending:
            _drop(ticket)
        self._pending = deque(tickets)
        for ticket in tickets:
            self._start(ticket)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        ids = [one.id for one in values.pending]
        if ids != sorted(set(ids)):
            refuse("pending", "must be sorted by ascending id, each once")
        for index, one in enumerate(values.pending):
            if one.id >= values.next_id:
                refuse(f"pending[{index}].id", f"must be at most {values.next_id - 1}, got {one.id}")
            if one.submitted_at.frame > values.now.frame:
                refuse(f"pending[{index}].submitted_at", f"must not be after now, got frame {one.submitted_at.frame}")
            if one.due_frame <= one.submitted_at.frame:
                refuse(f"pending[{index}].due_frame", f"must be after {one.submitted_at.frame}, got {one.due_frame}")

    def _start(self, ticket: ThreadTicket) -> None:
        if self._executor is None:
            return
        try:
            ticket._future = self._executor.submit(self._function, *ticket.arguments)
        except RuntimeError:  # it was shut down; the call is made here when it is due
            ticket._future = None


def _drop(ticket: ThreadTicket) -> None:
    ticket._outcome = "cancelled"
    if ticket._future is not None:
        ticket._future.cancel()
        ticket._future = None
