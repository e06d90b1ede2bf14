"""Observation of one frame: task runs, reports of the trace, and digests of parts."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from ai_core.errors import shown
from ai_core.recording.digest import digest_of, digest_of_text, freezer, writer
from ai_core.recording.notes import FIELDS_OF_A_RUN, REPORT_KINDS, Notes
from ai_core.trace import Trace

__all__ = ["FrameWatch", "TaskRunRecord", "report_digests", "runs_of"]


class TaskRunRecord(NamedTuple):
    """One run of a task.

    Attributes:
        name: name of the task.
        depth: 0 for a task of the outermost scheduler, 1 for a task of a scheduler inside it.
        granted: budget of the run (µs or steps), None for no limit.
        steps: steps used.
        result: digest of the returned value or raised exception, None for no result.
        used_us: time used (µs), 0 if time is not measured.
    """

    name: str
    depth: int
    granted: float | None
    steps: int
    result: str | None
    used_us: float = 0.0


class FrameWatch:
    """Listens to a trace during a frame, and digests parts at its end."""

    def __init__(
        self, trace: Trace, parts: Mapping[str, object], *, exact: bool, digest_every_frames: int
    ) -> None:
        self._exact = exact
        self._look_every = digest_every_frames
        self._looks = [(name, _look_of(name, part)) for name, part in parts.items()]
        self._notes = Notes(freezer(exact=exact))
        self._trace = trace
        self.begin = self._notes.clear
        """Clear the collected data at the start of a frame."""
        self.packed = self._notes.packed
        """Return the collected data of the frame and its grants, packed as a string."""
        trace.listen(self._notes)

    def look(self, number: int) -> dict[str, str] | None:
        """Return digests of the parts due in a frame, None if no part is due: all in frame 0, then in turns."""
        turn = number % self._look_every
        if number > 0 and turn >= len(self._looks):
            return None
        due = self._looks[turn :: self._look_every] if number > 0 else self._looks
        parts = {}
        for name, look in due:
            try:
                parts[name] = digest_of(look(), exact=self._exact)
            except TypeError as error:
                raise TypeError(f"part {name!r}: {error}") from error
        return parts

    def stop(self) -> None:
        """Stop listening to the trace."""
        self._trace.unlisten(self._notes)


def runs_of(noted: Sequence[Any], *, exact: bool) -> tuple[TaskRunRecord, ...]:
    """Return the collected runs, with digests of their results."""
    text_of = writer(exact=exact, foreign=True)
    rows = zip(*[iter(noted)] * FIELDS_OF_A_RUN, strict=True)
    return tuple(
        TaskRunRecord(name, depth, None if granted == inf else round(granted, 3), steps,
            None if result is None else digest_of_text(text_of(result)), round(used_us, 3))
        for name, depth, granted, steps, used_us, result in rows
    )


def report_digests(noted: Sequence[Sequence[Any]], *, exact: bool) -> dict[str, str]:
    """Return a digest of the reports of each kind."""
    text_of = writer(exact=exact, foreign=True)
    return {
        name: digest_of_text("\n".join(map(text_of, entries)))
        for name, entries in zip(REPORT_KINDS, noted, strict=True)
        if entries
    }


def _look_of(name: str, part: object) -> Callable[[], object]:
    for method in ("observe", "save_state"):
        look = getattr(part, method, None)
        if callable(look):
            found: Callable[[], object] = look
            return found
    raise TypeError(
        f"part {name!r} must have a method observe() or save_state(), got {shown(part)}"
    )
