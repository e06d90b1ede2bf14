"""The log: the latest checks, events, deliveries and polls in a ring buffer, for debugging.

A log is a tool, not part of the game: it is not saved, and delivery does not depend on it.
While a log is attached, delivery takes about four times as long, and a poll some microseconds.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from ai_core.clock import TimeIndex
from ai_core.described import Described
from ai_core.errors import several, several_names, shown, whole_number
from ai_core.scheduling.statistics import statistics_table

__all__ = ["KINDS", "EventLog", "EventLogEntry", "sender_name"]

KINDS = (
    "check", "sent", "injected", "delivered", "failed", "unheard", "late", "freed", "refused",
    "computed", "cached", "stale", "fallback", "invalidated")
"""Kinds of log entries: those of an event manager, and the origins of answers of a polling station."""
MOST_ENTRIES = 2**31 - 1
"""Largest capacity of a log (count): the limit of a deque on every machine."""
COLUMNS = ("frame", "seconds", "kind", "code", "name", "detail")


class EventLogEntry(NamedTuple):
    """An entry of the log; strings, so that the log keeps no game object alive."""

    at: TimeIndex
    kind: str
    code: str
    name: str
    """The sender of a sent event, the listener of a delivery, the check, or the asker of a poll."""
    detail: str
    """The payload of an event, or the key of a query and its answer."""


class EventLog(Described):
    """The latest entries, oldest first.

    Event managers and polling stations may share a log.

    Args:
        capacity: entries kept, 1 or more; a new entry replaces the oldest.
    """

    SHOWN = ("dropped",)

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

    def note(self, kind: str, at: TimeIndex, code: str, name: str = "", detail: str = "") -> None:
        """Add an entry. Cost: O(1)."""
        self._ring.append(EventLogEntry(at, kind, code, name, detail))
        self._noted += 1

    def clear(self) -> None:
        """Remove every entry."""
        self._ring.clear()
        self._noted = 0

    def entries(
        self, *, kinds: str | Iterable[str] | None = None, code: str | None = None,
        name: str | None = None, since_frame: int = 0,
    ) -> list[EventLogEntry]:
        """Return the entries that meet every given condition, oldest first.

        Args:
            kinds: a kind of KINDS, or several.
            code: the code of the event or the topic.
            name: the sender, listener, check or asker.
            since_frame: the first frame to include.

        Raises:
            TypeError: if ``kinds`` are not names.
            ValueError: if a kind is not in KINDS.

        Cost: O(capacity).
        """
        wanted = set(
            KINDS if kinds is None else (kinds,) if isinstance(kinds, str) else several_names("kinds", kinds))
        for kind in sorted(wanted - set(KINDS), key=str):
            raise ValueError(f"kinds must be any of {', '.join(KINDS)}, got {shown(kind)}")
        return [
            entry for entry in self._ring
            if entry.kind in wanted
            and (code is None or entry.code == code)
            and (name is None or entry.name == name)
            and entry.at.frame >= since_frame]

    def table(self, entries: Iterable[EventLogEntry] | None = None) -> str:
        """Return entries as a table in plain text; None for all entries.

        >>> log = EventLog()
        >>> log.note("sent", TimeIndex(3, 0.05), "alarm", "dog")
        >>> print(log.table())
        frame  seconds  kind  code   name  detail
        -----  -------  ----  -----  ----  ------
            3     0.05  sent  alarm  dog
        """
        rows = [
            {"frame": one.at.frame, "seconds": one.at.seconds, **dict(zip(COLUMNS[2:], one[1:], strict=True))}
            for one in (self._ring if entries is None else several("entries", entries, EventLogEntry))]
        return statistics_table(rows, columns=COLUMNS)


def sender_name(sender: object) -> str:
    """Return the name of a sender or asker in log entries; "" for none."""
    if sender is None:
        return ""
    return sender if isinstance(sender, str) else shown(sender)
