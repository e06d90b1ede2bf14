"""Who is told of tickets: traces, and whoever asked to be; what they raise is reported."""
from __future__ import annotations

from collections.abc import Callable, Hashable

from ai_core.clock import Clock
from ai_core.faults import FaultIsolation, given_faults
from ai_core.paths.path_ticket import PathTicket
from ai_core.trace import Trace, given_trace

__all__ = ["TicketTelling"]


class TicketTelling:
    """Tells of tickets, and of what went wrong with them.

    Args:
        clock: game time.
        trace: told of each ticket that is done.
        faults: told of what raises.
        on_over: called with each ticket that is done, failed or refused.
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
        if ticket.state == "done":
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
