"""The recorder: writes down a run while it happens."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import shown, whole_number
from ai_core.recording.frame_watch import FrameWatch
from ai_core.recording.grants import Grant, WatchedBudget
from ai_core.recording.lines import LineWriter
from ai_core.recording.recording import FrameRecord, Header
from ai_core.trace import Trace

__all__ = ["Recorder"]


class Recorder:
    """Writes inputs, work and digests of every frame as it ends, line by line.

    ::

        with Recorder(lines.append, clock=clock, trace=trace, parts=parts) as recorder:
            for inputs in everything_that_comes_from_outside:
                budget = recorder.begin_frame(Budget.of_time(500, watch), inputs)
                step(budget, inputs)
                recorder.end_frame()

    What is written while the game runs survives its crash. Leaving the block
    by an error writes no end, so that the recording is known to be cut.

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
        look_every_frames: how often the parts are looked at. Looking is most
            of the cost; results of work and what is told are compared in
            every frame in any case.

    Raises:
        TypeError: if a part has neither method.

    Cost: a frame O(what was told), and O(size of all parts) when they are looked at.
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
        look_every_frames: int = 1,
    ) -> None:
        self._look_every = whole_number(
            "look_every_frames", look_every_frames, minimum=1, remedy="use 1 to look in every frame"
        )
        seed = whole_number("seed", seed, minimum=-(2**63))
        self._header = Header(name, seed, tuple(parts), exact, is_timed, made_with or {})
        self._write = write
        self._clock = clock
        self._writer = LineWriter()
        self._watch = FrameWatch(trace, parts, exact=exact)
        self._digests: dict[str, str] = {}
        self._frame: tuple[float | None, Any, list[Grant | None]] | None = None
        self._is_open = True
        self._frames = 0
        write(self._writer.header(self._header))

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
            ValueError: if the budget is of another kind than the header says.
        """
        if not self._is_open:
            raise RuntimeError("the recorder is closed; make another one")
        if self._frame is not None:
            raise RuntimeError("the last frame has not ended; call end_frame first")
        if (budget.stopwatch is not None) != self._header.is_timed:
            got = "of time" if budget.stopwatch is not None else "without time"
            raise ValueError(
                f"budget must be of the kind is_timed={self._header.is_timed} announces,"
                f" got one {got}: {shown(budget)}"
            )
        left = budget.left
        self._watch.begin()
        grants: list[Grant | None] = []
        self._frame = (None if left == math.inf else round(left, 3), inputs, grants)
        return WatchedBudget(budget, grants) if self._header.is_timed else budget

    def end_frame(self) -> None:
        """Look at every part, and write the frame down.

        Raises:
            RuntimeError: if no frame was begun.
            TypeError: if a part or the inputs are not plain data.
        """
        if self._frame is None:
            raise RuntimeError("no frame was begun; call begin_frame before the work of a frame")
        (budget, inputs, grants), self._frame = self._frame, None
        seen, now = self._watch.end(look=self._frames % self._look_every == 0), self._clock.now
        self._frames += 1
        changed = None
        if seen.parts is not None:
            known, self._digests = self._digests, seen.parts
            changed = {n: code for n, code in seen.parts.items() if known.get(n) != code}
        self._write(self._writer.frame(FrameRecord(
            now.frame, now.seconds, budget, inputs, tuple(grants), seen.runs, changed, seen.told
        )))

    def close(self) -> None:
        """Write the end and listen no more; closing twice is harmless."""
        if self._is_open:
            self._write(self._writer.end())
            self._stop()

    def _stop(self) -> None:
        if self._is_open:
            self._is_open = False
            self._watch.stop()
