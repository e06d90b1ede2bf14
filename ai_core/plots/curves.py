"""Values over time as a drawing: a line for each name, with levels across and moments up."""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ai_core.plots.drawing import GRID, INK, PALE, SERIES, WHITE, Drawing, Label, Line, Rect

__all__ = ["curves"]

_LEFT_PX, _TOP_PX, _BOTTOM_PX, _RIGHT_PX = 52, 34, 42, 110
_TICKS = 6
_LETTER_PX = 6


def curves(
    x: ArrayLike, lines: Mapping[str, ArrayLike], *, title: str = "", x_label: str = "", y_label: str = "",
    levels: Mapping[str, float] | None = None, moments: Mapping[str, float] | None = None,
    width: int = 720, height: int = 260,
) -> Drawing:
    """Return a drawing of one line or several over a common axis.

    Args:
        x: shape (n,), such as times, n at least 1.
        lines: by name, values of shape (n,); ones that are not finite leave a gap.
        title: text above.
        x_label: text below, with the unit.
        y_label: text at the vertical axis, with the unit.
        levels: by name, values that get a dashed line across.
        moments: by name, places on the x axis that get a dashed line up.
        width: of the drawing (px), 200 or more.
        height: of the drawing (px), 120 or more.

    Raises:
        ValueError: if ``x`` is empty, a line has another length, or the drawing is too small.

    Cost: O(points).
    """
    across = np.asarray(x, dtype=np.float64)
    series = {name: np.asarray(values, dtype=np.float64) for name, values in lines.items()}
    if across.ndim != 1 or not len(across):
        raise ValueError(f"x must have shape (n,) with n at least 1, got {across.shape}")
    for name, values in series.items():
        if values.shape != across.shape:
            raise ValueError(f"line {name!r} must have the shape of x, {across.shape}, got {values.shape}")
    if width < 200 or height < 120:
        raise ValueError(f"a drawing must have at least 200 by 120 px, got {width} by {height}")
    drawing = Drawing(width, height, title)
    drawing.boxes.append(Rect(0, 0, width, height, WHITE))
    drawing.texts.append(Label(_LEFT_PX, _TOP_PX / 2, title))
    finite = [values[np.isfinite(values)] for values in series.values()]
    known = np.concatenate([*finite, np.asarray([*(levels or {}).values(), 0.0])])
    right, bottom = width - _RIGHT_PX, height - _BOTTOM_PX
    to_x = _Axis(float(across.min()), float(across.max()), _LEFT_PX, right)
    to_y = _Axis(float(known.min()), float(known.max()), bottom, _TOP_PX)
    for value in to_y.ticks():
        drawing.boxes.append(Rect(_LEFT_PX, to_y.place(value), right - _LEFT_PX, 1, GRID))
        drawing.texts.append(Label(_LEFT_PX - 6, to_y.place(value), f"{value:g}", PALE, "end"))
    for value in to_x.ticks():
        drawing.boxes.append(Rect(to_x.place(value), bottom, 1, 4, PALE))
        drawing.texts.append(Label(to_x.place(value), bottom + 13, f"{value:g}", PALE, "middle"))
    drawing.texts.append(Label((_LEFT_PX + right) / 2, height - 10, x_label, PALE, "middle"))
    drawing.texts.append(Label(_LEFT_PX - 46, _TOP_PX - 8, y_label, PALE))
    for name, value in (levels or {}).items():
        drawing.lines.append(Line([(_LEFT_PX, to_y.place(value)), (right, to_y.place(value))], PALE, 1, True))
        drawing.texts.append(Label(_LEFT_PX + 4, to_y.place(value) - 8, name, PALE))
    for name, value in (moments or {}).items():
        place = to_x.place(value)
        drawing.lines.append(Line([(place, _TOP_PX), (place, bottom)], INK, 1, True))
        shift, align = (-4, "end") if place + _LETTER_PX * len(name) > right else (4, "start")
        drawing.texts.append(Label(place + shift, _TOP_PX + 6, name, INK, align))
    taken: list[float] = []
    for number, (name, values) in enumerate(series.items()):
        colour = SERIES[number % len(SERIES)]
        drawing.lines += [
            Line([(to_x.place(a), to_y.place(b)) for a, b in zip(across[part], values[part], strict=True)], colour, 2)
            for part in _unbroken(values)]
        last = values[np.isfinite(values)]
        y = to_y.place(float(last[-1])) if len(last) else _TOP_PX
        while any(abs(y - other) < 13 for other in taken):
            y += 13 if y < (_TOP_PX + bottom) / 2 else -13
        taken.append(y)
        drawing.texts.append(Label(right + 6, y, name, colour))
    return drawing


class _Axis:
    """Maps values to places (px)."""

    def __init__(self, least: float, most: float, start_px: float, end_px: float) -> None:
        self._least, self._span = least, (most - least) or 1.0
        self._start_px, self._length_px = start_px, end_px - start_px

    def place(self, value: float) -> float:
        return self._start_px + (value - self._least) / self._span * self._length_px

    def ticks(self) -> list[float]:
        """Return round values on the axis, at most twice _TICKS."""
        step = 10.0 ** np.floor(np.log10(self._span / _TICKS))
        step *= next(factor for factor in (1, 2, 5, 10) if self._span / (step * factor) <= _TICKS)
        first = np.ceil(self._least / step - 1e-9)
        last = np.floor((self._least + self._span) / step + 1e-9)
        return [float(round(number * step, 12)) + 0.0 for number in np.arange(first, last + 1)]


def _unbroken(values: np.ndarray) -> list[slice]:
    """Return the parts of a line between values that are not finite."""
    good = np.concatenate([[False], np.isfinite(values), [False]])
    edges = np.flatnonzero(good[1:] != good[:-1])
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
