"""What is seen of one frame: the work that ran, what was told, how every part stands."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

from ai_core.clock import TimeIndex
from ai_core.errors import shown
from ai_core.recording.digest import digest_of, digest_of_text, writer
from ai_core.trace import Trace

__all__ = ["TOLD", "FrameWatch", "Run", "Seen"]

TOLD = ("events", "sensations", "states", "paths")
"""What is told in a frame, each with a digest of its own if anything was told."""


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


class Seen(NamedTuple):
    """What was seen of a frame: runs in the order they ended, digests by name.

    ``parts`` is None if nobody looked at them.
    """

    runs: tuple[Run, ...]
    parts: dict[str, str] | None
    told: dict[str, str]


class FrameWatch:
    """Listens to a trace, and looks at parts when a frame ends.

    Args:
        trace: where work, events, sensations and habits are told of.
        parts: by name; each has ``observe()``, or else ``save_state()``, that
            returns plain data.
        exact: digests tell numbers apart by every bit.

    Raises:
        TypeError: if a part has neither method.
    """

    def __init__(self, trace: Trace, parts: Mapping[str, object], *, exact: bool) -> None:
        self._exact = exact
        self._looks = {name: _look_of(name, part) for name, part in parts.items()}
        self._listener = _Listener(exact)
        self._trace = trace
        trace.listen(self._listener)

    def begin(self) -> None:
        """Forget what was told before: a frame begins."""
        self._listener.clear()

    def end(self, *, look: bool = True) -> Seen:
        """Return what was seen since ``begin``.

        Args:
            look: look at the parts, too.

        Raises:
            TypeError: if a part shows something that is not plain data.

        Cost: O(what was told) + O(size of all parts) if they are looked at.
        """
        told = {
            name: digest_of_text("\n".join(texts))
            for name, texts in self._listener.told.items()
            if texts
        }
        runs = tuple(map(_run_of, self._listener.runs))
        return Seen(runs, self._look() if look else None, told)

    def _look(self) -> dict[str, str]:
        parts = {}
        for name, look in self._looks.items():
            try:
                parts[name] = digest_of(look(), exact=self._exact)
            except TypeError as error:
                raise TypeError(f"part {name!r}: {error}") from error
        return parts

    def stop(self) -> None:
        """Listen no more."""
        self._trace.unlisten(self._listener)


class _Listener:
    """Has one method for each hook it listens to."""

    def __init__(self, exact: bool) -> None:
        self._text_of = writer(exact=exact, foreign=True)
        self._depth = 0
        self.runs: list[tuple[str, int, float, int, str | None, float]] = []
        self.told: dict[str, list[str]] = {name: [] for name in TOLD}

    def clear(self) -> None:
        self._depth = 0
        self.runs = []
        for texts in self.told.values():
            texts.clear()

    def before_task(self, name: str, now: TimeIndex) -> None:
        self._depth += 1

    def task_ran(
        self, name: str, now: TimeIndex, granted: float, steps: int, used_us: float, result: object
    ) -> None:
        self._depth -= 1
        code = None if result is None else digest_of_text(self._text_of(result))
        self.runs.append((name, self._depth, granted, steps, code, used_us))

    def event_sent(self, event: Any, now: TimeIndex) -> None:
        sender = None if event.sender is None else type(event.sender).__name__
        self._tell("events", (event.code, event.arguments, sender, event.due_at))

    def sensed(
        self, sensor_id: int, source_id: int, modality_name: str, intensity: float, now: TimeIndex
    ) -> None:
        self._tell("sensations", (sensor_id, source_id, modality_name, intensity))

    def state_entered(
        self, owner_name: str, state_path: str, reason: str, now: TimeIndex
    ) -> None:
        self._tell("states", (owner_name, state_path, reason))

    def path_done(self, ticket: object, now: TimeIndex) -> None:
        self._tell("paths", ticket)

    def _tell(self, name: str, what: object) -> None:
        # As text at once: what an event carries may have changed when the frame ends.
        self.told[name].append(self._text_of(what))


def _run_of(seen: tuple[str, int, float, int, str | None, float]) -> Run:
    name, depth, granted, steps, code, used_us = seen
    limit = None if granted == inf else round(granted, 3)
    return Run(name, depth, limit, steps, code, round(used_us, 3))


def _look_of(name: str, part: object) -> Callable[[], object]:
    for method in ("observe", "save_state"):
        look = getattr(part, method, None)
        if callable(look):
            found: Callable[[], object] = look
            return found
    raise TypeError(
        f"part {name!r} must have a method observe() or save_state(), got {shown(part)}"
    )
