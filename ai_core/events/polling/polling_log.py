"""The log of a polling station: who asked what, and how it was answered."""
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
"""Entries kept unless told otherwise (count).

A few frames of a busy scene; an entry is about 500 bytes.
"""

HOW = ("computed", "kept", "stale", "fallback", "refused", "raised", "invalidated")
"""Everything an entry can tell."""


class PollingLogEntry(NamedTuple):
    """One poll, or one invalidation, as text: a log keeps no object of the game alive."""

    frame: int
    seconds: float
    """Game time (s)."""
    code: str
    key: tuple[str, ...] | None
    """How the parts of the key are shown; None for a whole topic invalidated."""
    asker: str
    """Who asked; "" if nobody said so."""
    how: str
    """One of HOW."""
    age_frames: int | None
    """Frames since the answer was computed; None if there is no such answer."""
    answer: str

    @property
    def question(self) -> str:
        """The topic and the key as a call; of an invalidated topic the code alone."""
        return self.code if self.key is None else f"{self.code}({', '.join(self.key)})"


class PollingLog:
    """Keeps the last polls of a station: ``station.log = PollingLog()``.

    While a station has a log every poll takes some microseconds. A log is a
    tool: it is not saved.

    Args:
        maximum_entries: the oldest are dropped for more; 1 or more.
    """

    def __init__(self, maximum_entries: int = MAXIMUM_ENTRIES) -> None:
        most = whole_number(
            "maximum_entries", maximum_entries, minimum=1, maximum=MOST_ENTRIES,
            remedy="set station.log to None for none"
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
        """Return the entries to which all of this applies, the oldest first.

        Args:
            code: of this topic.
            how: answered so; one of HOW.
            asker: asked by this one, known by how it is shown.
            about: with this among the parts of the key, known by how it is shown.
            since_frame: in this frame or later.

        Raises:
            UnknownNameError: if ``how`` is none of HOW.

        Cost: O(entries).
        """
        if how is not None and how not in HOW:
            raise UnknownNameError("way of answering", how, HOW)
        return [
            one for one in self._entries
            if one.frame >= since_frame
            and (code is None or one.code == code)
            and (how is None or one.how == how)
            and (asker is None or one.asker == shown(asker))
            and (about is None or shown(about) in (one.key or ()))
        ]

    def table(self, *, max_rows: int | None = None, **wanted: object) -> str:
        """Return entries as a table of plain text.

        Args:
            max_rows: show no more than the last so many; None for all.
            wanted: which entries; see ``entries``.
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
        """Drop all entries."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)
