"""Replay: repeats a recorded run and reports the first difference."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from ai_core.budget import Budget
from ai_core.clock import Clock, TimeIndex
from ai_core.described import Described
from ai_core.recording.digest import digest_of
from ai_core.recording.frame_watch import FrameWatch, TaskRunRecord, report_digests, runs_of
from ai_core.recording.grants import ReplayBudget
from ai_core.recording.packed import unpack
from ai_core.recording.recording import FrameRecord, Recording
from ai_core.trace import Trace

__all__ = ["Difference", "Replay"]


class Difference(NamedTuple):
    """First frame in which a replay differs from the recording.

    Attributes:
        frame: number of the frame.
        part: name of the first difference: task runs in order, then parts in order, then reports.
        description: description of the difference.
        also: names of all other differences in this frame.
    """

    frame: int
    part: str
    description: str
    also: tuple[str, ...]

    def __str__(self) -> str:
        more = f"; also different: {', '.join(self.also)}" if self.also else ""
        return f"replay differs at frame {self.frame}: {self.part}: {self.description}{more}"


class Replay(Described):
    """Supplies the recorded inputs and budgets frame by frame, and compares the results.

    Create the world as for the recording, with the same name, seed and start. Drive the replay with
    ``run``, or frame by frame::

        while not replay.is_done and difference is None:
            budget = replay.begin_frame()
            step(budget, replay.inputs)
            difference = replay.end_frame()

    Args:
        recording: recording to repeat.
        clock: clock of the repeated run.
        trace: trace that reports its task runs, events, sensations and habits.
        parts: parts to compare, with the same names as in the recording.

    Raises:
        ValueError: if the names of the parts differ from the recording.
        TypeError: if a part has neither ``observe`` nor ``save_state``.
    """

    SHOWN = ("is_done",)

    def __init__(
        self, recording: Recording, *, clock: Clock, trace: Trace, parts: Mapping[str, object]
    ) -> None:
        header = recording.header
        strange = sorted(set(header.parts) ^ set(parts))
        if strange:
            where = "only in the recording" if strange[0] in header.parts else "not in the recording"
            raise ValueError(f"parts must be those of the recording, got {strange[0]!r} {where}")
        self._recording = recording
        self._clock = clock
        ordered = {name: parts[name] for name in header.parts}
        self._watch = FrameWatch(
            trace, ordered, exact=header.exact, digest_every_frames=header.digest_every_frames
        )
        self._expected: dict[str, str] = {}
        self._next = 0

    @property
    def is_done(self) -> bool:
        """True after the last frame."""
        return self._next >= len(self._recording.frames)

    @property
    def inputs(self) -> Any:
        """External inputs of the current frame, or of the next one between frames."""
        return self._record.inputs

    def begin_frame(self) -> Budget:
        """Return the budget of the next frame: its steps, or its recorded grants.

        Raises:
            RuntimeError: if no frame is left.
        """
        record = self._record
        self._watch.begin()
        if self._recording.header.is_timed:
            return ReplayBudget(record.grants)
        if record.budget is None:
            return Budget.unlimited()
        return Budget.of_steps(int(record.budget))

    def end_frame(self) -> Difference | None:
        """Compare the frame with its record; return the difference, or None.

        Raises:
            RuntimeError: if no frame is left.
        """
        record = self._record
        self._expected.update(record.parts or {})
        parts = self._watch.look(self._next)
        self._next += 1
        found = self._differences(record, parts or {}, self._clock.now)
        if not found:
            return None
        (part, description), *rest = found.items()
        return Difference(record.frame, part, description, tuple(name for name, _ in rest))

    def run(self, step: Callable[[Budget, Any], object]) -> Difference | None:
        """Run all remaining frames; return the first difference, or None.

        Args:
            step: function that runs one frame with a budget and inputs.
        """
        difference = None
        try:
            while difference is None and not self.is_done:
                budget = self.begin_frame()
                step(budget, self.inputs)
                difference = self.end_frame()
        finally:
            self.close()
        return difference

    def close(self) -> None:
        """Stop listening to the trace."""
        self._watch.stop()

    @property
    def _record(self) -> FrameRecord:
        if self.is_done:
            raise RuntimeError(f"all {self._next} frames of the recording are done; check is_done before begin_frame")
        return self._recording.frames[self._next]

    def _differences(
        self, record: FrameRecord, parts: Mapping[str, str], now: TimeIndex
    ) -> dict[str, str]:
        """Return the differences by name, the most significant first."""
        found: dict[str, str] = {}
        exact = self._recording.header.exact
        noted, noted_reports, _ = unpack(self._watch.packed(()))
        reports = report_digests(noted_reports, exact=exact)
        then = (record.frame, record.seconds)
        if digest_of(then, exact=exact) != digest_of(tuple(now), exact=exact):
            found["clock"] = f"it is at frame {now.frame}, {now.seconds} s, but was recorded at {then[1]} s"
        for recorded, ran in zip_longest(record.runs, runs_of(noted, exact=exact)):
            name, description = _difference_of_runs(recorded, ran)
            if description:
                found.setdefault(name, description)
                if description.startswith("ran"):
                    break  # later runs cannot be matched
        for name, code in parts.items():
            if code != self._expected.get(name):
                found.setdefault(name, "its state differs")
        for name in (*record.reports, *reports):
            if record.reports.get(name) != reports.get(name):
                found.setdefault(name, "the reports differ")
        return found


def _difference_of_runs(recorded: TaskRunRecord | None, ran: TaskRunRecord | None) -> tuple[str, str]:
    if ran is None:
        assert recorded is not None
        return recorded.name, "did not run"
    if recorded is None:
        return ran.name, "ran, but is not in the recording"
    if (ran.name, ran.depth) != (recorded.name, recorded.depth):
        return ran.name, f"ran where {recorded.name!r} ran in the recording"
    if ran.steps != recorded.steps:
        return ran.name, f"took {ran.steps} steps, but {recorded.steps} in the recording"
    if ran.result != recorded.result:
        return ran.name, "its result differs"
    return ran.name, ""
