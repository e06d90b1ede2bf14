"""What is seen of one frame: the work that ran, what was told, how every part stands.

While the frame runs it is only noted; what it means is made of that in a
replay, or when a recording is read.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from ai_core.errors import shown
from ai_core.recording.digest import digest_of, digest_of_text, freezer, writer
from ai_core.recording.notes import FIELDS_OF_A_RUN, TOLD, notes
from ai_core.trace import Trace

__all__ = ["FrameWatch", "Run", "runs_of", "told_of"]

class Run(NamedTuple):
    """One run of one piece of work.

    Attributes:
        name: the task's name.
        depth: 0 for work of the outermost scheduler, 1 for work of one in it.
        granted: what it might use (µs or steps), None for no limit.
        steps: the steps it took.
        result: digest of what it returned or raised, None for nothing.
        used_us: the time it took (µs), 0 where nothing measures time.
    """

    name: str
    depth: int
    granted: float | None
    steps: int
    result: str | None
    used_us: float = 0.0


class FrameWatch:
    """Listens to a trace, and looks at parts when a frame ends.

    Args:
        trace: where work, events, sensations and habits are told of.
        parts: by name; each has ``observe()``, or else ``save_state()``, that
            returns plain data.
        exact: digests tell numbers apart by every bit.
        look_every_frames: how often each part is looked at.

    Raises:
        TypeError: if a part has neither method.
    """

    def __init__(
        self, trace: Trace, parts: Mapping[str, object], *, exact: bool, look_every_frames: int
    ) -> None:
        self._exact = exact
        self._look_every = look_every_frames
        self._looks = [(name, _look_of(name, part)) for name, part in parts.items()]
        self._notes = notes(freezer(exact=exact))
        self._trace = trace
        self.begin = self._notes.clear
        """Forget what was told before: a frame begins."""
        self.packed = self._notes.packed
        """Return what was noted since, packed; takes the grants of the frame."""
        trace.listen(self._notes)

    def look(self, number: int) -> dict[str, str] | None:
        """Return digests of the parts whose turn it is; None if it is nobody's.

        In the first frame, number 0, it is everybody's; after that they take
        turns, so that no frame pays for all.

        Raises:
            TypeError: if a part shows something that is not plain data.

        Cost: O(size of those parts).
        """
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
        """Listen no more."""
        self._trace.unlisten(self._notes)


def runs_of(noted: Sequence[Any], *, exact: bool) -> tuple[Run, ...]:
    """Return the runs that were noted, with digests of their results."""
    text_of = writer(exact=exact, foreign=True)
    rows = zip(*[iter(noted)] * FIELDS_OF_A_RUN, strict=True)
    return tuple(
        Run(name, depth, None if granted == inf else round(granted, 3), steps,
            None if result is None else digest_of_text(text_of(result)), round(used_us, 3))
        for name, depth, granted, steps, used_us, result in rows
    )


def told_of(noted: Sequence[Sequence[Any]], *, exact: bool) -> dict[str, str]:
    """Return a digest of each kind of thing that was told."""
    text_of = writer(exact=exact, foreign=True)
    return {
        name: digest_of_text("\n".join(map(text_of, entries)))
        for name, entries in zip(TOLD, noted, strict=True)
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
