"""Growth curves as SVG: time over size, both axes in powers of ten, one line per case."""
from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tools.benchmarking.results import Result
from tools.benchmarking.table import duration

Curve = list[tuple[float, float]]

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 84, 170, 56, 52
# Readable on white and on black; ours is the first.
_COLOURS = ("#2f7ed8", "#d9822b", "#5a9e4b", "#b0539b", "#888888")


def curves_of(results: Sequence[Result]) -> dict[str, dict[str, Curve]]:
    """Return by measurement, then by case, the points (n, µs) of what was measured at several sizes."""
    found: dict[str, dict[str, Curve]] = {}
    for result in results:
        cases = found.setdefault(result.name, {})
        if (point := (float(result.n), result.ours_us)) not in cases.setdefault("ours", []):
            cases["ours"].append(point)
        if result.other is not None and result.other_us is not None:
            name = "limit" if result.other.startswith("limit") else result.other
            cases.setdefault(name, []).append((float(result.n), result.other_us))
    grown = {name: cases for name, cases in found.items() if len(cases["ours"]) > 1}
    return {
        name: {case: sorted(points) for case, points in cases.items()} for name, cases in grown.items()
    }


def growth_picture(title: str, curves: dict[str, Curve]) -> str:
    """Return an SVG of the curves.

    Args:
        title: stands above them.
        curves: by case, points of n above 0 and µs above 0.

    Raises:
        ValueError: if there is no point, or one is not above 0.
    """
    points = [point for curve in curves.values() for point in curve]
    if not points or any(n <= 0 or us <= 0 for n, us in points):
        raise ValueError("curves must hold points above 0; logarithmic axes have no place for others")
    across = _Axis([n for n, _ in points], LEFT, WIDTH - RIGHT)
    up = _Axis([us for _, us in points], HEIGHT - BOTTOM, TOP)
    parts = [_text(LEFT, 30, title, size=16, weight="bold"), *_grid(across, up)]
    labels: list[tuple[float, str, str]] = []
    for number, (name, curve) in enumerate(curves.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(across.place(n), up.place(us)) for n, us in curve]
        parts.append(_line(places, colour, dashed=name == "limit"))
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        labels.append((places[-1][1], f"{name}, {duration(curve[-1][1])}", colour))
    x = WIDTH - RIGHT + 10
    parts += [_text(x, y + 4, text, colour=colour) for y, text, colour in _apart(labels)]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def write_pictures(results: Sequence[Result], folder: Path) -> list[Path]:
    """Write a picture of each measurement that has several sizes; return the files."""
    written = []
    for name, curves in curves_of(results).items():
        suite = next(result.suite for result in results if result.name == name)
        words = "".join(letter if letter.isalnum() else "_" for letter in f"{suite}_{name}".lower())
        file = folder / f"{'_'.join(filter(None, words.split('_')))}.svg"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(growth_picture(f"{suite}: {name}", curves), encoding="utf-8")
        written.append(file)
    return written


class _Axis:
    """A logarithmic axis from the power of ten below all values to the one above."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        self.first = math.floor(math.log10(min(values)))
        self.last = max(math.ceil(math.log10(max(values))), self.first + 1)
        self._begin, self._step = begin, (end - begin) / (self.last - self.first)

    def place(self, value: float) -> float:
        return self._begin + (math.log10(value) - self.first) * self._step

    @property
    def tens(self) -> list[int]:
        return list(range(self.first, self.last + 1))


def _grid(across: _Axis, up: _Axis) -> list[str]:
    parts = []
    for power in across.tens:
        x = across.place(10.0**power)
        parts.append(_rule(x, TOP, x, HEIGHT - BOTTOM))
        parts.append(_text(x, HEIGHT - BOTTOM + 18, f"{10.0**power:,.6g}", anchor="middle"))
    for power in up.tens:
        y = up.place(10.0**power)
        parts.append(_rule(LEFT, y, WIDTH - RIGHT, y))
        parts.append(_text(LEFT - 8, y + 4, duration(10.0**power), anchor="end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "n", anchor="middle"))
    return parts


def _apart(labels: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """Return labels (place, text, colour) moved down where they would cover each other."""
    placed: list[tuple[float, str, str]] = []
    lowest = -math.inf
    for y, text, colour in sorted(labels):
        lowest = max(y, lowest + 15)
        placed.append((lowest, text, colour))
    return placed


def _line(places: Sequence[tuple[float, float]], colour: str, *, dashed: bool) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _text(
    x: float, y: float, text: str, *, size: int = 12, weight: str = "normal", anchor: str = "start",
    colour: str = "#444444",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
    )
