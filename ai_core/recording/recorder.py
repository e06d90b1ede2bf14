"""Recorder: writes a run to lines while it happens."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from ai_core.budget import Budget
from ai_core.clock import Clock, TimeIndex, checked_clock
from ai_core.described import Described
from ai_core.errors import check_callable, check_type, shown, whole_number
from ai_core.recording.frame_watch import FrameWatch
from ai_core.recording.grants import RecordingBudget
from ai_core.recording.lines import LineWriter, kept_inputs
from ai_core.recording.recording import Header
from ai_core.trace import Trace

__all__ = ["DIGEST_EVERY_FRAMES", "FLUSH_EVERY_FRAMES", "Recorder"]

DIGEST_EVERY_FRAMES = 600
"""Default number of frames between two digests of a part (frames): 10 s at 60 frames per second.

Results and reports are compared in every frame; digests of parts find changes that bypass them. With a
smaller number, digests cost more than all other recording: a part holds about as much data as a task
uses in a frame. With a larger number, such changes are found later.
"""

FLUSH_EVERY_FRAMES = 30
"""Frames between two writes of lines (frames): a killed process loses half a second.

Writing every frame takes three times as long per line, as the AI work of a frame evicts the code
and data of the writer from the CPU caches.
"""

MOST_SEED = 2**128 - 1
"""Largest seed (no unit): generators of NumPy take 128 bits, those of the engine 64."""


class Recorder(Described):
    """Writes inputs, task runs and results of every frame as lines, in batches of frames.

    ::

        with Recorder(lines.append, clock=clock, trace=trace, parts=parts) as recorder:
            for inputs in inputs_of_each_frame:
                budget = recorder.begin_frame(Budget.of_steps(500), inputs)
                step(budget, inputs)
                recorder.end_frame()

    Written lines survive a crash; ``flush`` and the end of the ``with`` block write all finished frames.
    If an exception ends the block, no end line is written, which marks the recording as cut short.

    Args:
        write: function that receives each line, without line end.
        clock: clock of the recorded run.
        trace: trace that reports its task runs, events, sensations and habits.
        parts: parts to compare, by name, in this order; each has a method ``observe()``, or otherwise
            ``save_state()``, that returns plain data: decisions, and the data that decisions depend on.
        name: name of the run, for a replay to find it again.
        seed: seed of the run.
        exact: True for digests that distinguish numbers by every bit; see docs/concepts/determinism.md.
        is_timed: True if the budgets passed to ``begin_frame`` are of time: ``Budget.of_time(500, stopwatch)``.
        made_with: versions of Python, NumPy and so on, for messages of a replay; None for none.
        digest_every_frames: frames between two digests of a part, 1 or more; all parts are digested in the
            first frame, then they take turns. Results and reports are compared in every frame in any case.
            1 finds each change in its frame, and costs more than all other recording.

    Raises:
        TypeError: if an argument has the wrong type, or a part has neither method.

    Cost: per frame O(runs and reports), about 15 µs plus 0.5 to 1 µs for each (compiled), and O(size of
    the digested parts).
    """

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        clock: Clock,
        trace: Trace,
        parts: Mapping[str, object],
        name: str = "",
        seed: int = 0,
        exact: bool = False,
        is_timed: bool = False,
        made_with: Mapping[str, str] | None = None,
        digest_every_frames: int = DIGEST_EVERY_FRAMES,
    ) -> None:
        check_callable("write", write, "use lines.append")
        checked_clock(clock)
        check_type("trace", trace, Trace, "use the trace of the recorded run")
        check_type("parts", parts, Mapping, "give the parts by name")
        check_type("name", name, str)
        check_type("exact", exact, bool)
        check_type("is_timed", is_timed, bool)
        look_every = whole_number(
            "digest_every_frames", digest_every_frames, minimum=1, remedy="use 1 to digest all parts in every frame"
        )
        seed = whole_number("seed", seed, minimum=-(2**63), maximum=MOST_SEED)
        self._is_timed = is_timed
        self._write = write
        self._clock = clock
        self._writer = LineWriter()
        self._watch = FrameWatch(trace, parts, exact=exact, digest_every_frames=look_every)
        self._digests: dict[str, str] = {}
        self._frame: tuple[float | None, object, list[tuple[int, int] | None]] | None = None
        self._pending: list[tuple[TimeIndex, float | None, object, str, dict[str, str] | None]] = []
        self._is_open = True
        self._frames = 0
        write(self._writer.header(
            Header(name, seed, tuple(parts), exact, is_timed, made_with or {}, look_every)
        ))

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._stop()

    def begin_frame(self, budget: Budget, inputs: Any = None) -> Budget:
        """Record the inputs of a frame, and return the budget to run it with.

        Args:
            budget: budget of the frame.
            inputs: external inputs, as plain JSON data.

        Raises:
            RuntimeError: if the previous frame was not ended, or after ``close``.
            ValueError: if the kind of budget does not match ``is_timed``.
            TypeError: if the inputs are not plain JSON data.

        Cost: O(size of the inputs).
        """
        if not self._is_open:
            raise RuntimeError("the recorder is closed; create another")
        if self._frame is not None:
            raise RuntimeError("the previous frame has not ended; call end_frame first")
        if (budget.stopwatch is not None) != self._is_timed:
            got = "of time" if budget.stopwatch is not None else "without time"
            raise ValueError(
                f"budget must match is_timed={self._is_timed}, got one {got}: {shown(budget)};"
                f" pass is_timed={not self._is_timed} to Recorder")
        left = budget.left
        grants: list[tuple[int, int] | None] = []
        self._frame = (None if left == math.inf else round(left, 3), kept_inputs(inputs), grants)
        self._watch.begin()
        return RecordingBudget(budget, grants) if self._is_timed else budget

    def end_frame(self) -> None:
        """Finish the frame and digest the parts that are due.

        Raises:
            RuntimeError: if no frame was begun, or after ``close``.
            TypeError: if a part returns data that is not plain.
        """
        if not self._is_open:
            raise RuntimeError("the recorder is closed; call end_frame before close")
        if self._frame is None:
            raise RuntimeError("no frame was begun; call begin_frame before the work of a frame")
        (budget, inputs, grants), self._frame = self._frame, None
        parts = self._watch.look(self._frames)
        self._frames += 1
        if parts is not None:
            known = self._digests
            parts = {name: code for name, code in parts.items() if known.get(name) != code}
            known.update(parts)
        self._pending.append((self._clock.now, budget, inputs, self._watch.packed(grants), parts))
        if len(self._pending) >= FLUSH_EVERY_FRAMES:
            self.flush()

    def flush(self) -> None:
        """Write all finished frames."""
        pending, self._pending = self._pending, []
        for now, budget, inputs, ran, parts in pending:
            self._write(self._writer.frame(now, budget=budget, inputs=inputs, ran=ran, parts=parts))

    def close(self) -> None:
        """Write the remaining frames and the end, and stop listening; further calls do nothing."""
        if self._is_open:
            self._stop()
            self._write(self._writer.end())

    def _stop(self) -> None:
        if self._is_open:
            self._is_open = False
            self._watch.stop()
            self.flush()
