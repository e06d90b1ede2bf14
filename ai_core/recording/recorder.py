"""The recorder: writes down a run while it happens."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from ai_core.budget import Budget
from ai_core.clock import Clock, TimeIndex
from ai_core.errors import shown, whole_number
from ai_core.recording.frame_watch import FrameWatch
from ai_core.recording.grants import WatchedBudget
from ai_core.recording.lines import LineWriter, kept_inputs
from ai_core.recording.recording import Header
from ai_core.trace import Trace

__all__ = ["FLUSH_EVERY_FRAMES", "LOOK_EVERY_FRAMES", "Recorder"]

LOOK_EVERY_FRAMES = 600
"""How often each part is looked at unless told (frames): 10 s at 60 a second.

Every result and all that is told is compared in every frame; looking finds what
changed past them. Oftener, it costs more than all else: a part shows about as
much as a piece of work does in a frame. Rarer, such a change is found later.
"""

FLUSH_EVERY_FRAMES = 30
"""How often lines are written (frames): a process that is killed loses half a second.

Written one by one, lines take three times as long: by the end of a frame the
AI has driven out of the processor's caches all that writing them needs.
"""

MOST_SEED = 2**128 - 1
"""Largest seed (no unit): NumPy's generators ask for 128 bits, the engine's for 64."""


class Recorder:
    """Writes inputs, work and results of every frame, line by line, some frames at a time.

    ::

        with Recorder(lines.append, clock=clock, trace=trace, parts=parts) as recorder:
            for inputs in everything_that_comes_from_outside:
                budget = recorder.begin_frame(Budget.of_time(500, watch), inputs)
                step(budget, inputs)
                recorder.end_frame()

    What was written survives a crash; ``flush`` writes all frames that ended.
    So does leaving the block, which by an error writes no end, so that the
    recording is known to be cut.

    Args:
        write: takes each line, without its line end.
        clock: the clock of what is recorded.
        trace: where its work, events, sensations and habits are told of.
        parts: what is compared, by name, in this order; each has a method
            ``observe()`` or else ``save_state()`` that returns plain data.
            Observe what was decided, and what decisions depend on.
        name: what is recorded; a replay finds it again by this.
        seed: the seed it was built with.
        exact: digests tell numbers apart by every bit; see docs/determinism.md.
        is_timed: the budgets handed to ``begin_frame`` are of time.
        made_with: versions of Python, NumPy and so on, for a replay to name.
        look_every_frames: how often each part is looked at; all are in the
            first frame, then they take turns. Results of work and what is
            told are compared in every frame in any case. 1 finds each change
            in its frame, and costs more than all else.

    Raises:
        TypeError: if a part has neither method.

    Cost: a frame O(runs and what was told), about 15 µs and 0.5 to 1 µs for each
    (compiled), and O(size of the parts that are looked at).
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
        look_every_frames: int = LOOK_EVERY_FRAMES,
    ) -> None:
        if not callable(write):
            raise TypeError(f"write must be a callable, got {shown(write)}; use lines.append")
        if not hasattr(clock, "now"):
            raise TypeError(f"clock must have a 'now', got {shown(clock)}; use that of what is recorded")
        if not isinstance(trace, Trace):
            raise TypeError(f"trace must be a Trace, got {shown(trace)}; use that of what is recorded")
        if not isinstance(parts, Mapping):
            raise TypeError(f"parts must be a dict of parts by name, got {shown(parts)}")
        look_every = whole_number(
            "look_every_frames", look_every_frames, minimum=1, remedy="use 1 to look in every frame"
        )
        seed = whole_number("seed", seed, minimum=-(2**63), maximum=MOST_SEED)
        self._is_timed = is_timed
        self._write = write
        self._clock = clock
        self._writer = LineWriter()
        self._watch = FrameWatch(trace, parts, exact=exact, look_every_frames=look_every)
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
        """Note what goes into a frame, and return the budget to run it with.

        Args:
            budget: what the frame may use.
            inputs: what comes from outside, as plain JSON data.

        Raises:
            RuntimeError: if the last frame was not ended, or after ``close``.
            ValueError: if the budget is of another kind than ``is_timed`` says.
            TypeError: if the inputs are not plain JSON data.

        Cost: O(size of the inputs).
        """
        if not self._is_open:
            raise RuntimeError("the recorder is closed; make another one")
        if self._frame is not None:
            raise RuntimeError("the last frame has not ended; call end_frame first")
        if (budget.stopwatch is not None) != self._is_timed:
            got = "of time" if budget.stopwatch is not None else "without time"
            raise ValueError(
                f"budget must be of the kind is_timed={self._is_timed} announces,"
                f" got one {got}: {shown(budget)}"
            )
        left = budget.left
        grants: list[tuple[int, int] | None] = []
        self._frame = (None if left == math.inf else round(left, 3), kept_inputs(inputs), grants)
        self._watch.begin()
        return WatchedBudget(budget, grants) if self._is_timed else budget

    def end_frame(self) -> None:
        """Keep the frame to be written, and look at the parts whose turn it is.

        Raises:
            RuntimeError: if no frame was begun, or after ``close``.
            TypeError: if a part shows something that is not plain data.
        """
        if not self._is_open:
            raise RuntimeError("the recorder is closed; end a frame before closing it")
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
        """Write all frames that have ended."""
        pending, self._pending = self._pending, []
        for now, budget, inputs, ran, parts in pending:
            self._write(self._writer.frame(now, budget=budget, inputs=inputs, ran=ran, parts=parts))

    def close(self) -> None:
        """Write the rest and the end, and listen no more; closing twice is harmless."""
        if self._is_open:
            self._stop()
            self._write(self._writer.end())

    def _stop(self) -> None:
        if self._is_open:
            self._is_open = False
            self._watch.stop()
            self.flush()
