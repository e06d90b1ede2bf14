"""A ticket: what whoever asked for a way holds until it is found."""
from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

from ai_core.errors import shown
from ai_core.paths.path import Path

__all__ = ["PathTicket", "TicketState", "check_ticket"]

TicketState = Literal["waiting", "running", "done", "cancelled", "failed", "refused"]
"""Where a request stands; the last four are for good."""


class PathTicket:
    """One request for a way.

    Attributes:
        number: of the ticket; rises by one with each.
        start: as asked.
        goal: as asked.
        priority: how urgent it is.
        asked_at_frame: when it was asked for.
        state: where it stands.
        path: the way, once it is done; of one that improves, the best so far.
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

    def __repr__(self) -> str:
        return f"<PathTicket {self.number}: {self.start!r} to {self.goal!r}, {self.state}>"


def check_ticket(ticket: object) -> None:
    """Raise TypeError for what is no ticket."""
    if not isinstance(ticket, PathTicket):
        raise TypeError(f"ticket must be a PathTicket, got {shown(ticket)}")
