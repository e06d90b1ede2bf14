"""Statistics of used time and overruns: tables per task, quality of service per frame, and a timeline of frames."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from numbers import Integral, Real
from typing import Any, NamedTuple

from ai_core.clock import TimeIndex
from ai_core.described import Described
from ai_core.errors import UnknownNameError, finite_number, shown, whole_number

__all__ = [
    "UNNAMED",
    "FrameTimeline",
    "Overrun",
    "QualityOfService",
    "TimedFrame",
    "TimedRun",
    "statistics_table",
]


class Overrun(NamedTuple):
    """The task that took a scheduler beyond its budget.

    Attributes:
        name: name of the task.
        task_id: id of the task in its scheduler.
        now: game time of the overrun.
        granted: budget of the task (µs, or steps).
        used: amount that it used (µs, or steps).
        over: excess over the whole budget (µs, or steps).
    """

    name: str
    task_id: int
    now: TimeIndex
    granted: float
    used: float
    over: float


MAX_TEXT_CHARACTERS = 40
"""Longest text in a cell (characters): longer names would push the numbers off the screen."""


def statistics_table(
    rows: Iterable[Mapping[str, object]],
    *,
    columns: Sequence[str] | None = None,
    sort_by: str | None = None,
    max_rows: int | None = None,
) -> str:
    """Return rows as a table: a heading, a rule, a line per row; numbers are right-aligned.

    It takes any rows: those of ``scheduler.statistics()``, or of a
    QualityOfService's ``offenders()``. Missing values are left empty.
    Without columns the table is an empty string.

    Args:
        rows: dicts; the keys are the names of the columns.
        columns: names of columns, in this order; None for all, in order of first occurrence.
        sort_by: column to sort by, shown or not: the largest number first, then texts by alphabet, then rows without
            a value in it. The sort is stable. None keeps the order of the rows.
        max_rows: most rows; a last line counts the others. None for all.

    Raises:
        TypeError: if rows are not dicts, or ``columns`` is a string.
        UnknownNameError: if no row has a column of that name.
        ValueError: if ``max_rows`` is below 1.

    Cost: O(rows * columns + rows log rows).

    >>> print(statistics_table([{"name": "Bob", "used_us": 4.25}, {"name": "Al", "used_us": 12}]))
    name  used_us
    ----  -------
    Bob      4.25
    Al      12.00
    """
    table = list(rows)
    for row in table:
        if not isinstance(row, Mapping):
            raise TypeError(f"rows must be dicts, got {shown(row)}; use scheduler.statistics()")
    if isinstance(columns, str):
        raise TypeError(f"columns must be an iterable of names, got the string {shown(columns)}; use [{columns!r}]")
    known = list(dict.fromkeys(key for row in table for key in row))
    names = known if columns is None else list(columns)
    for name in names if sort_by is None else [*names, sort_by]:
        if table and name not in known:
            raise UnknownNameError("column", name, known)
    if sort_by is not None:
        table.sort(key=lambda row: _rank(row.get(sort_by)))
    left_out = 0
    if max_rows is not None:
        left_out = len(table) - whole_number("max_rows", max_rows, minimum=1, remedy="use None for all")
        table = table[:max_rows]
    cells = [_column(name, [row.get(name) for row in table]) for name in names]
    lines = ["  ".join(line).rstrip() for line in zip(*cells, strict=True)]
    if left_out > 0:
        lines.append(f"and {left_out} more")
    return "\n".join(lines)


def _rank(value: object) -> tuple[int, float, str]:
    if isinstance(value, Real) and not isnan(value):
        return 0, -float(value), ""
    return (1, 0.0, value) if isinstance(value, str) else (2, 0.0, "")


def _column(name: str, values: Sequence[object]) -> list[str]:
    """Return the heading, the rule and the cells of a column, all of one width."""
    heading, cells = _printable(name), [_cell(value) for value in values]
    width = max(map(len, [heading, *cells]))
    is_text = any(isinstance(value, str) for value in values)
    return [line.ljust(width) if is_text else line.rjust(width) for line in (heading, "-" * width, *cells)]


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "-"
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{float(value):.2f}"
    return "" if value is None else _printable(str(value))


def _printable(text: str) -> str:
    text = "".join(one if one.isprintable() else "?" for one in text)
    return text if len(text) <= MAX_TEXT_CHARACTERS else text[: MAX_TEXT_CHARACTERS - 3] + "..."


MAX_TARGET_HZ = 1000
"""Largest target frame rate (frames a second): a frame of 1 ms leaves no useful share."""

WINDOW_FRAMES = 600
"""Frames of the rolling view: ten seconds at 60 Hz.

With fewer, a spike is gone before it can be noticed; with more, slow frames of long ago
still affect the p95.
"""

UNNAMED = "(none)"
"""Name for frames over the budget in which no task used more than it was granted.

Causes are the granularity of a stopwatch, the time of the scheduler itself, and schedulers
whose overruns are not reported here.
"""


class QualityOfService(Described):
    """Provides the budget of each frame, and counts frames within the budget and overruns by name.

    Pass ``on_overrun`` to the outermost scheduler. In each frame, advance it with a budget of ``budget_us``, then
    call ``note(budget.used, budget.over)``.

    Args:
        target_hz: target frame rate of the game (frames a second), above 0, to 1000.
        ai_share: share of a frame that AI may take, above 0, to 1.

    Attributes:
        target_hz, ai_share: as given; may be set, and count from the next frame on.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if a number is out of range.

    Source: 000_execution_management, time budgets at 60 Hz.
    """

    SHOWN = ("ai_share", "target_hz")

    def __init__(self, *, target_hz: float, ai_share: float) -> None:
        # Of the rolling view: used and over (µs), and the first overrun of each frame.
        self._recent: deque[tuple[float, float, Overrun | None]] = deque(maxlen=WINDOW_FRAMES)
        self._overrun: Overrun | None = None
        self._frames = 0
        self._frames_over = 0
        self.target_hz, self.ai_share = target_hz, ai_share

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "target_hz":
            value = finite_number(name, value, above=0, maximum=MAX_TARGET_HZ)
        elif name == "ai_share":
            value = finite_number(name, value, above=0, maximum=1, remedy="use 0.15 for 15 % of a frame")
        super().__setattr__(name, value)

    @property
    def budget_us(self) -> float:
        """Budget of AI per frame (µs)."""
        return 1_000_000 / self.target_hz * self.ai_share

    def on_overrun(self, overrun: Overrun) -> None:
        """Record the work that exceeded the budget; called by a scheduler. The first of a frame is named."""
        if self._overrun is None:
            self._overrun = overrun

    def note(self, used_us: float, over_us: float) -> None:
        """Record a frame; call it when the outermost scheduler is done. Cost: O(1).

        Args:
            used_us: time that the frame used (µs), 0 or more.
            over_us: overrun (µs), 0 if there was none.

        Raises:
            TypeError, ValueError: if a time is negative or not a number.
        """
        are_numbers = isinstance(used_us, (int, float)) and isinstance(over_us, (int, float))
        if not (are_numbers and used_us >= 0 and over_us >= 0):     # also NaN; quick: an idle frame calls it too
            finite_number("used_us", used_us, minimum=0)
            finite_number("over_us", over_us, minimum=0)
        self._recent.append((used_us, over_us, self._overrun))
        self._overrun = None
        self._frames += 1
        if over_us > 0:
            self._frames_over += 1

    def offenders(self) -> list[dict[str, Any]]:
        """Return a row for each task name that exceeded the budget of a frame, the worst first.

        Of the rolling view only. ``over_us`` is the overrun of the frames, each counted once, for the first name in
        it, or for "(none)" if no task used more than it was granted: the time of the scheduler itself exceeded it.

        Cost: O(WINDOW_FRAMES).
        """
        rows: dict[str, dict[str, float]] = {}
        for _, over_us, overrun in self._recent:
            if over_us > 0:
                row = rows.setdefault(
                    UNNAMED if overrun is None else overrun.name,
                    {"frames_over": 0, "over_us_sum": 0.0, "over_us_max": 0.0, "used_us_max": 0.0})
                row["frames_over"] += 1
                row["over_us_sum"] += over_us
                row["over_us_max"] = max(row["over_us_max"], over_us)
                row["used_us_max"] = max(row["used_us_max"], 0.0 if overrun is None else overrun.used)
        worst_first = sorted(rows, key=lambda name: (-rows[name]["over_us_sum"], name))
        return [{"name": name, **rows[name]} for name in worst_first]

    def report(self) -> dict[str, Any]:
        """Return the budget, totals of all frames, and the rolling view.

        Names that begin with ``recent_`` belong to the rolling view; its times
        are 0 before the first frame.

        Cost: O(WINDOW_FRAMES log WINDOW_FRAMES).
        """
        used, over = sorted(one[0] for one in self._recent), sorted(one[1] for one in self._recent)
        return {
            "budget_us": self.budget_us,
            "frames": self._frames,
            "frames_kept": self._frames - self._frames_over,
            "frames_over": self._frames_over,
            "recent_frames": len(used),
            "recent_frames_over": sum(one > 0 for one in over),
            "recent_used_us_p50": _percentile(used, 50),
            "recent_used_us_p95": _percentile(used, 95),
            "recent_used_us_max": _percentile(used, 100),
            "recent_over_us_p95": _percentile(over, 95),
            "recent_over_us_max": _percentile(over, 100),
            "offenders": self.offenders(),
        }


def _percentile(ascending: Sequence[float], percent: int) -> float:
    """Return the smallest value that ``percent`` of the values do not exceed; 0 without values."""
    return ascending[-(-percent * len(ascending) // 100) - 1] if ascending else 0.0


MOST_FRAMES = 120
"""Frames that a timeline keeps (count): two seconds at 60 Hz."""

MOST_RUNS = 100
"""Runs of a frame that are kept separately (count); later ones are only counted, to limit memory."""


class TimedRun(NamedTuple):
    """One run of one piece of work."""

    name: str
    depth: int
    """0 for work of the scheduler itself, 1 for work that ran inside that, ..."""
    begins_us: float
    """Start, from the start of the first run of the frame, if only runs take time (µs)."""
    used_us: float


@dataclass
class TimedFrame:
    """One frame in which work ran.

    Attributes:
        frame: its number.
        budget_us: its budget (µs), 0 if it was unlimited.
        used_us: time of all its runs together (µs).
        runs: in the order in which they ended, at most ``MOST_RUNS``.
        left_out: runs that were not kept.
        overran: name of the run that exceeded the budget, empty if none did.
    """

    frame: int
    budget_us: float
    used_us: float = 0.0
    runs: list[TimedRun] = field(default_factory=list)
    left_out: int = 0
    overran: str = ""


class FrameTimeline(Described):
    """Keeps the last frames of a scheduler: pass it to ``trace.listen`` while a view is open.

    Args:
        budget_us: called when a frame begins: returns its budget (µs), 0 without a limit.

    Cost: O(1) a run.
    """

    def __init__(self, budget_us: Callable[[], float]) -> None:
        self._budget_us = budget_us
        self._frames: deque[TimedFrame] = deque(maxlen=MOST_FRAMES)
        self._begins: list[float] = [0.0]      # starts of running tasks, the outermost first, and of the next task

    def since(self, frame: int) -> list[TimedFrame]:
        """Return the kept frames whose number is above ``frame``, the oldest first; all if none is that late.

        After an earlier save is loaded, frame numbers restart lower than those already returned.
        """
        if self._frames and self._frames[-1].frame < frame:
            return list(self._frames)
        return [one for one in self._frames if one.frame > frame]

    def before_task(self, name: str, now: TimeIndex) -> None:
        """Called by the trace."""
        if self._frames and now.frame < self._frames[-1].frame:
            self._frames.clear()               # an earlier save was loaded
        if not self._frames or self._frames[-1].frame != now.frame:
            self._frames.append(TimedFrame(now.frame, self._budget_us()))
            self._begins = [0.0]
        self._begins.append(self._begins[-1])

    def after_task(self, name: str, now: TimeIndex, used_us: float) -> None:
        """Called by the trace."""
        if len(self._begins) < 2:
            return                             # it began before the timeline listened
        self._begins.pop()
        begins_us, depth = self._begins[-1], len(self._begins) - 1
        self._begins[-1] = ends_us = begins_us + used_us
        frame = self._frames[-1]
        if len(frame.runs) < MOST_RUNS:
            frame.runs.append(TimedRun(name, depth, begins_us, used_us))
        else:
            frame.left_out += 1
        if depth == 0:
            frame.used_us = ends_us
            if 0 < frame.budget_us < ends_us and not frame.overran:
                frame.overran = name
