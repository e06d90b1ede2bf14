"""A recording as a drawing: frames across, which task ran when, the budget, overruns in red."""
from __future__ import annotations

import math
from collections.abc import Sequence

from ai_core.plots.drawing import GRID, INK, OVERRAN, PALE, RAN, RAN_INSIDE, WHITE, Colour, Drawing, Label, Rect
from ai_core.recording.frame_watch import TaskRunRecord
from ai_core.recording.recording import FrameRecord, Recording

__all__ = ["MOST_ROWS", "amount_of", "overrun_of", "timeline"]

MOST_ROWS = 44
"""More would not fit on a screen; the tasks that used least share the last row."""
_LABELS_PX = 150
_ACROSS_PX = 1080
_CHART_PX = 110
_ROW_PX = 15
_TOP_PX = 40


def overrun_of(frame: FrameRecord, *, is_timed: bool) -> int | None:
    """Return the number of the run that took a frame beyond its budget, None if none did.

    It is the outermost run that used more than it was granted while the budget ended.
    """
    if frame.budget is None:
        return None
    used = 0.0
    culprit = None
    for number, run in enumerate(frame.runs):
        if run.depth == 0:
            amount = amount_of(run, is_timed)
            used += amount
            greedy = run.granted is not None and amount > run.granted
            if used > frame.budget and (culprit is None and greedy):
                culprit = number
            last = number
    if used <= frame.budget:
        return None
    return last if culprit is None else culprit


def amount_of(run: TaskRunRecord, is_timed: bool) -> float:
    """Return what a run used: µs or steps."""
    return run.used_us if is_timed else run.steps


def timeline(recording: Recording) -> Drawing:
    """Return the timeline of a recording.

    Pointing at a cell shows the frame, the task, what it used and what it was granted.

    Cost: O(frames and task runs).
    """
    header, frames = recording.header, recording.frames
    unit = "µs" if header.is_timed else "steps"
    per_column = max(1, -(-len(frames) // _ACROSS_PX))
    columns = [frames[at : at + per_column] for at in range(0, len(frames), per_column)]
    width_px = max(1, min(12, _ACROSS_PX // max(1, len(columns))))
    rows = _rows(frames, header.is_timed)
    height = _TOP_PX + _CHART_PX + 24 + _ROW_PX * (max(rows.values(), default=0) + 1) + 40
    title = f"{header.name or 'recording'}, seed {header.seed}: {len(frames)} frames"
    drawing = Drawing(_LABELS_PX + max(width_px * len(columns), 560) + 20, height, title)
    drawing.boxes.append(Rect(0, 0, drawing.width, height, WHITE))
    drawing.texts.append(Label(10, 16, f"{title}, {unit} used in each"))
    _draw_frames_axis(drawing, columns, width_px)
    _draw_load(drawing, columns, width_px, header.is_timed, unit)
    _draw_rows(drawing, columns, width_px, header.is_timed, unit, rows)
    _draw_legend(drawing)
    return drawing


def _rows(frames: Sequence[FrameRecord], is_timed: bool) -> dict[str, int]:
    """Return the row of each task: the busiest have their own, in the order they first ran."""
    used: dict[str, float] = {}
    for frame in frames:
        for run in frame.runs:
            used[run.name] = used.get(run.name, 0.0) + amount_of(run, is_timed)
    names = sorted(used, key=lambda name: -used[name])
    own = set(names if len(names) <= MOST_ROWS else names[: MOST_ROWS - 1])
    numbers = {name: number for number, name in enumerate(sorted(own, key=_in_natural_order))}
    return {name: numbers.get(name, len(own)) for name in used}


def _in_natural_order(name: str) -> list[tuple[bool, int, str]]:
    """Sort "guard 10" after "guard 9"."""
    words = "".join(one if one.isdigit() else f" {one} " for one in name).split(" ")
    return [(not word.isdigit(), int(word) if word.isdigit() else 0, word) for word in words if word]


def _draw_frames_axis(drawing: Drawing, columns: Sequence[Sequence[FrameRecord]], width_px: int) -> None:
    bottom = drawing.height - 40
    every = next((n for n in (5, 10, 20, 50, 100, 200, 500) if n * width_px >= 50), 1000)
    for number, column in enumerate(columns):
        if number % every == 0:
            x = _LABELS_PX + number * width_px
            drawing.boxes.append(Rect(x, _TOP_PX, 1, bottom - _TOP_PX, GRID))
            drawing.texts.append(Label(x + 2, _TOP_PX + _CHART_PX + 12, str(column[0].frame), PALE))
    drawing.texts.append(Label(_LABELS_PX - 8, _TOP_PX + _CHART_PX + 12, "frame", PALE, "end"))


def _draw_load(
    drawing: Drawing, columns: Sequence[Sequence[FrameRecord]], width_px: int, is_timed: bool, unit: str
) -> None:
    """Draw a bar for each column, its fullest frame; what is over the budget is red."""
    loads = {frame.frame: _load(frame, is_timed) for column in columns for frame in column}
    budgets = [frame.budget for column in columns for frame in column if frame.budget is not None]
    most = max([*loads.values(), *budgets, 1.0]) * 1.08
    base = _TOP_PX + _CHART_PX
    for number, column in enumerate(columns):
        frame = max(column, key=lambda one: loads[one.frame])
        used, x = loads[frame.frame], _LABELS_PX + number * width_px
        within = used if frame.budget is None else min(used, frame.budget)
        tip = f"frame {frame.frame}: {used:g} {unit}"
        height = within / most * _CHART_PX
        drawing.boxes.append(Rect(x, base - height, _bar(width_px), height, RAN, tip))
        if used > within:
            over = (used - within) / most * _CHART_PX
            drawing.boxes.append(Rect(x, base - height - over, _bar(width_px), over, OVERRAN, f"{tip}, over"))
        if frame.budget is not None:
            drawing.boxes.append(Rect(x, base - frame.budget / most * _CHART_PX, width_px, 1, INK, "budget"))
    drawing.boxes.append(Rect(_LABELS_PX, base, len(columns) * width_px, 1, PALE))
    if budgets:
        y = base - max(budgets) / most * _CHART_PX
        drawing.texts.append(Label(_LABELS_PX - 8, y, f"budget {_given(budgets)} {unit}", INK, "end"))


def _draw_rows(
    drawing: Drawing, columns: Sequence[Sequence[FrameRecord]], width_px: int,
    is_timed: bool, unit: str, rows: dict[str, int],
) -> None:
    """Draw a cell wherever work ran; the more it used, the darker."""
    top = _TOP_PX + _CHART_PX + 24
    most = max((amount_of(r, is_timed) for c in columns for f in c for r in f.runs), default=1.0) or 1.0
    shared = sum(1 for row in rows.values() if row == MOST_ROWS - 1)
    for name, row in rows.items():
        text = f"{shared} others" if row == MOST_ROWS - 1 and shared > 1 else name
        if row < MOST_ROWS - 1 or shared == 1 or not any(one.text == text for one in drawing.texts):
            drawing.texts.append(Label(_LABELS_PX - 8, top + (row + 0.5) * _ROW_PX, text, INK, "end"))
    for number, column in enumerate(columns):
        for frame in column:
            overrun = overrun_of(frame, is_timed=is_timed)
            for place, run in enumerate(frame.runs):
                amount = amount_of(run, is_timed)
                colour = _shade(RAN_INSIDE if run.depth else RAN, amount / most)
                if overrun == place:
                    colour = OVERRAN
                limit = "no limit" if run.granted is None else f"granted {run.granted:g}"
                drawing.boxes.append(Rect(
                    _LABELS_PX + number * width_px, top + rows[run.name] * _ROW_PX + 1, _bar(width_px), _ROW_PX - 2,
                    colour, f"frame {frame.frame}: {run.name}, {amount:g} {unit}, {limit}"
                ))


def _draw_legend(drawing: Drawing) -> None:
    x, y = _LABELS_PX, drawing.height - 18
    for colour, text in (
        (RAN, "ran (darker: used more)"), (RAN_INSIDE, "ran inside another"), (OVERRAN, "overran"), (INK, "budget"),
    ):
        drawing.boxes.append(Rect(x, y - (1 if colour == INK else 5), 14, 2 if colour == INK else 10, colour))
        drawing.texts.append(Label(x + 20, y, text))
        x += 40 + 8 * len(text)


def _load(frame: FrameRecord, is_timed: bool) -> float:
    return sum(amount_of(run, is_timed) for run in frame.runs if run.depth == 0)


def _given(budgets: Sequence[float]) -> str:
    """Return the budget that frames were given; of time, some µs are gone when their recording begins."""
    most = max(budgets)
    if len(set(budgets)) == 1:
        return f"{most:g}"
    step = 10.0 ** (len(str(int(most))) - 2)
    return f"{math.ceil(most / step) * step:g}"


def _bar(width_px: int) -> int:
    return width_px - 1 if width_px > 2 else width_px


def _shade(colour: Colour, share: float) -> Colour:
    """Return the colour, paler for a smaller share; the palest is still seen."""
    strength = 0.45 + 0.55 * min(1.0, share) ** 0.5
    red, green, blue = (round(255 - (255 - one) * strength) for one in colour)
    return (red, green, blue)
