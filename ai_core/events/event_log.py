"""The event log: the latest checks, events and deliveries in a ring buffer, for debugging.

A log is a tool, not part of the game: it is not saved, and delivery does not
depend on it. While a log is attached, delivery takes about four times as long.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from ai_core.clock import TimeIndex
from ai_core.errors import shown, whole_number

KINDS = ("check", "sent", "injected", "told", "failed", "unheard", "late", "freed")
"""Kinds of log entries."""
CELL_CHARACTERS = 40
"""Widest column of a table (characters); longer text is cut and ends in "..."."""


class EventLogEntry(NamedTuple):
    """An entry of the log."""

    at: TimeIndex
    kind: str
    code: str
    who: str
    """The sender of a sent event, or the listener of a delivery."""
    detail: str


MOST_ENTRIES = 2**31 - 1
"""Largest capacity of a log (count): the limit of a deque on every machine."""


class EventLog:
    """The latest entries, oldest first.

    Args:
        capacity: entries kept, 1 or more; a new entry replaces the oldest.
    """

    def __init__(self, capacity: int = 1000) -> None:
        self._ring: deque[EventLogEntry] = deque(
            maxlen=whole_number(
                "capacity", capacity, minimum=1, maximum=MOST_ENTRIES, remedy="attach no log to keep none"))
        self._noted = 0

    def __len__(self) -> int:
        return len(self._ring)

    @property
    def dropped(self) -> int:
        """Old entries that were replaced by later ones (count)."""
        return self._noted - len(self._ring)

    def note(self, kind: str, at: TimeIndex, code: str, who: str = "", detail: str = "") -> None:
        """Add an entry. Cost: O(1)."""
        self._ring.append(EventLogEntry(at, kind, code, who, detail))
        self._noted += 1

    def clear(self) -> None:
        """Remove every entry."""
        self._ring.clear()
        self._noted = 0

    def entries(
        self, *, kinds: str | Iterable[str] | None = None, code: str | None = None,
        who: str | None = None, since_frame: int = 0,
    ) -> list[EventLogEntry]:
        """Return the entries that meet every given condition, oldest first.

        Args:
            kinds: a kind of KINDS, or several.
            code: the event code.
            who: the sender or the listener.
            since_frame: the first frame to include.

        Raises:
            ValueError: if a kind is not in KINDS.

        Cost: O(capacity).
        """
        wanted = set(KINDS if kinds is None else (kinds,) if isinstance(kinds, str) else kinds)
        for kind in sorted(wanted - set(KINDS), key=str):
            raise ValueError(f"kinds must be any of {', '.join(KINDS)}, got {shown(kind)}")
        return [
            entry for entry in self._ring
            if entry.kind in wanted
            and (code is None or entry.code == code)
            and (who is None or entry.who == who)
            and entry.at.frame >= since_frame
        ]

    def table(self, entries: Iterable[EventLogEntry] | None = None) -> str:
        """Return entries as a table in ASCII; None for all entries.

        >>> log = EventLog()
        >>> log.note("sent", TimeIndex(3, 0.05), "alarm", "dog")
        >>> print(log.table())
        frame  seconds  kind  code   who  detail
        3      0.050    sent  alarm  dog
        """
        rows = [["frame", "seconds", "kind", "code", "who", "detail"]]
        for at, kind, code, who, detail in self._ring if entries is None else entries:
            rows.append([str(at.frame), f"{at.seconds:.3f}", kind, _cell(code), _cell(who), _cell(detail)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )


def sender_name(sender: object) -> str:
    """Return the name of a sender in log entries; "" for no sender."""
    if sender is None:
        return ""
    return sender if isinstance(sender, str) else shown(sender)


def _cell(text: str) -> str:
    plain = text.encode("ascii", "backslashreplace").decode("ascii").replace("\n", "\\n")
    return plain if len(plain) <= CELL_CHARACTERS else plain[: CELL_CHARACTERS - 3] + "..."


Log = TypeVar("Log")


def checked_log(log: object, kind: type[Log]) -> Log | None:
    """Return the log, or None; raise TypeError if it is not of class ``kind``."""
    if log is not None and not isinstance(log, kind):
        raise TypeError(f"log must be of class {kind.__name__} or None, got {shown(log)}")
    return log


__all__ = ["KINDS", "EventLog", "EventLogEntry", "checked_log", "sender_name"]
