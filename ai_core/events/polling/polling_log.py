"""The log of a polling station: queries with their askers, and the origin of each answer."""
from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ai_core.clock import TimeIndex
from ai_core.errors import UnknownNameError, shown, whole_number
from ai_core.events.event_log import MOST_ENTRIES
from ai_core.events.polling.polling_topic import Answer, Key
from ai_core.scheduling.statistics_table import statistics_table

__all__ = ["HOW", "PollingLog", "PollingLogEntry"]

MAXIMUM_ENTRIES = 1000
"""Default number of entries kept (count).

A few frames of a busy scene; an entry takes about 500 bytes.
"""

HOW = ("computed", "kept", "stale", "fallback", "refused", "raised", "invalidated")
"""Origins of an answer: values of ``PollingLogEntry.how``."""


class PollingLogEntry(NamedTuple):
    """A poll or an invalidation, stored as strings so that the log keeps no game object alive."""

    frame: int
    seconds: float
    """Game time (s)."""
    code: str
    key: tuple[str, ...] | None
    """The parts of the key as strings; None for the invalidation of a whole topic."""
    asker: str
    """The polling agent; "" if the poll named no asker."""
    how: str
    """Origin of the answer, a value of HOW."""
    age_frames: int | None
    """Frames since the answer was computed; None if there is no such answer."""
    answer: str

    @property
    def question(self) -> str:
        """The topic and the key as a call; for an invalidated topic the code alone."""
        return self.code if self.key is None else f"{self.code}({', '.join(self.key)})"


class PollingLog:
    """The last polls of a station: ``station.log = PollingLog()``.

    While a station has a log, every poll takes some microseconds. A log is a
    tool: it is not saved.

    Args:
        maximum_entries: entries kept, 1 or more; a new entry replaces the oldest.
    """

    def __init__(self, maximum_entries: int = MAXIMUM_ENTRIES) -> None:
        most = whole_number(
            "maximum_entries", maximum_entries, minimum=1, maximum=MOST_ENTRIES,
            remedy="set station.log to None for no log"
        )
        self._entries: deque[PollingLogEntry] = deque(maxlen=most)

    def note(
        self, now: TimeIndex, code: str, key: Key | None, asker: object, answer: Answer
    ) -> None:
        """Add an entry; the station calls this. Cost: O(1)."""
        parts = None if key is None else tuple(map(shown, key))
        told = "" if answer.how in ("refused", "raised", "invalidated") else shown(answer.value)
        who = "" if asker is None else shown(asker)
        self._entries.append(PollingLogEntry(
            now[0], now[1], code, parts, who, answer.how, answer.age_frames, told
        ))

    def entries(
        self,
        *,
        code: str | None = None,
        how: str | None = None,
        asker: object | None = None,
        about: object | None = None,
        since_frame: int = 0,
    ) -> list[PollingLogEntry]:
        """Return the entries that meet every given condition, oldest first.

        Args:
            code: code of the topic.
            how: origin of the answer, a value of HOW.
            asker: the polling agent, compared by its repr.
            about: a part of the key, compared by its repr.
            since_frame: the first frame to include.

        Raises:
            UnknownNameError: if ``how`` is not in HOW.

        Cost: O(entries).
        """
        if how is not None and how not in HOW:
            raise UnknownNameError("origin of an answer", how, HOW)
        return [
            one for one in self._entries
            if one.frame >= since_frame
            and (code is None or one.code == code)
            and (how is None or one.how == how)
            and (asker is None or one.asker == shown(asker))
            and (about is None or shown(about) in (one.key or ()))
        ]

    def table(self, *, max_rows: int | None = None, **wanted: object) -> str:
        """Return entries as a table in plain text.

        Args:
            max_rows: show at most this number of the latest entries; None for all.
            wanted: conditions, as for ``entries``.
        """
        found = self.entries(**wanted)  # type: ignore[arg-type]
        if max_rows is not None:
            found = found[-whole_number("max_rows", max_rows, minimum=1, remedy="use None for all"):]
        return statistics_table(
            [
                {"frame": one.frame, "question": one.question, "asker": one.asker,
                 "how": one.how, "age": one.age_frames, "answer": one.answer}
                for one in found
            ],
            columns=("frame", "question", "asker", "how", "age", "answer"),
        )

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)
