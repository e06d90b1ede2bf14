"""An array over the ground as a drawing: cells from pale to dark, walls, paths and marks."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ai_core.plots.drawing import INK, PALE, SERIES, WHITE, Colour, Dot, Drawing, Label, Line, Rect, mixed

__all__ = ["GROUND", "WALL", "heat_map"]

GROUND: Colour = (246, 244, 238)
"""A cell of value 0."""
WALL: Colour = (70, 70, 70)
"""A closed cell, and one whose value is not finite."""
_ABOVE: Colour = (24, 84, 150)
_BELOW: Colour = (206, 92, 24)
_SHADES = 32
"""Steps of colour. Cells of one shade share an element of the SVG; more steps make it larger and look the same."""
_EDGE_PX, _TOP_PX, _BOTTOM_PX = 12, 34, 30
_LETTER_PX = 6


def heat_map(
    values: ArrayLike, *, title: str = "", unit: str = "", cell_px: int = 12, most: float | None = None,
    closed: ArrayLike | None = None, paths: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    marks: Mapping[str, tuple[float, float]] | None = None,
) -> Drawing:
    """Return a drawing of an array, row 0 on top.

    Args:
        values: shape (rows, columns); positive values are blue, negative ones orange, cells that are not finite
            are walls.
        title: text above.
        unit: of the values, in the legend.
        cell_px: side of a cell (px), 1 or more.
        most: value of the darkest cell, above 0; by default the largest absolute value.
        closed: shape (rows, columns), True for walls.
        paths: by name, points (row, column) in cells, fractions allowed; the middle of cell (0, 0) is (0, 0).
        marks: by name, a point (row, column) each.

    Raises:
        ValueError: if ``values`` has not two dimensions, ``closed`` has another shape, or a limit is broken.

    Cost: O(cells).
    """
    shown = np.asarray(values, dtype=np.float64)
    if shown.ndim != 2:
        raise ValueError(f"values must have shape (rows, columns), got {shown.shape}")
    if cell_px < 1:
        raise ValueError(f"cell_px must be at least 1, got {cell_px}")
    if most is not None and not most > 0:
        raise ValueError(f"most must be above 0, got {most}")
    walls = ~np.isfinite(shown)
    if closed is not None:
        extra = np.asarray(closed, dtype=bool)
        if extra.shape != shown.shape:
            raise ValueError(f"closed must have the shape of values, {shown.shape}, got {extra.shape}")
        walls |= extra
    shown = np.where(walls, 0.0, shown)
    top = most if most is not None else float(np.abs(shown).max(initial=0.0)) or 1.0
    shades = np.rint(np.clip(shown / top, -1.0, 1.0) * _SHADES).astype(int)
    shades[walls] = _SHADES + 1
    rows, columns = shown.shape
    width = max(columns * cell_px + 2 * _EDGE_PX, 260)
    drawing = Drawing(width, rows * cell_px + _TOP_PX + _BOTTOM_PX, title)
    drawing.boxes.append(Rect(0, 0, width, drawing.height, WHITE))
    drawing.texts.append(Label(_EDGE_PX, _TOP_PX / 2, title))
    drawing.boxes += sorted(_cells(shades, cell_px), key=lambda box: box.colour)
    colours = [*SERIES[1:], SERIES[0]] * 20    # blue last: it is the colour of the cells
    for colour, (name, points) in zip(colours, (paths or {}).items(), strict=False):
        placed = [_placed(point, cell_px) for point in points]
        drawing.lines.append(Line(placed, colour, 2.5))
        if name and placed:
            drawing.texts.append(Label(placed[-1][0] + 6, placed[-1][1], name, INK))
    for name, point in (marks or {}).items():
        x, y = _placed(point, cell_px)
        drawing.dots.append(Dot(x, y, 5, INK, name))
        side, align = (-8, "end") if x + 8 + _LETTER_PX * len(name) > width else (8, "start")
        drawing.texts.append(Label(x + side, y - 6, name, INK, align))
    if shown.any():
        _draw_legend(drawing, top, unit, has_negative=bool((shown < 0).any()))
    return drawing


def _cells(shades: np.ndarray, cell_px: int) -> list[Rect]:
    """Boxes of cells in a row that have one shade."""
    boxes = []
    for row, line in enumerate(shades.tolist()):
        start = 0
        for column in range(1, len(line) + 1):
            if column == len(line) or line[column] != line[start]:
                boxes.append(Rect(
                    _EDGE_PX + start * cell_px, _TOP_PX + row * cell_px, (column - start) * cell_px, cell_px,
                    _colour(line[start])))
                start = column
    return boxes


def _colour(shade: int) -> Colour:
    if shade > _SHADES:
        return WALL
    return mixed(GROUND, _ABOVE if shade > 0 else _BELOW, abs(shade) / _SHADES)


def _placed(point: tuple[float, float], cell_px: int) -> tuple[float, float]:
    row, column = point
    return _EDGE_PX + (column + 0.5) * cell_px, _TOP_PX + (row + 0.5) * cell_px


def _draw_legend(drawing: Drawing, top: float, unit: str, *, has_negative: bool) -> None:
    y, side = drawing.height - _BOTTOM_PX / 2 - 5, 10
    low = -_SHADES if has_negative else 0
    shades = range(low, _SHADES + 1, 4)
    first = f"{-top:g}" if has_negative else "0"
    x = _EDGE_PX + 6 * len(first) + 6
    drawing.texts.append(Label(_EDGE_PX, y + 5, first, PALE))
    drawing.boxes += [Rect(x + place * side, y, side, side, _colour(shade)) for place, shade in enumerate(shades)]
    drawing.texts.append(Label(x + len(shades) * side + 6, y + 5, f"{top:.3g} {unit}".rstrip(), PALE))
