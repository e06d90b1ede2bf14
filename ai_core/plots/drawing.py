"""A drawing of boxes, lines, dots and texts, and its SVG."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape

__all__ = [
    "GRID",
    "INK",
    "OVERRAN",
    "PALE",
    "RAN",
    "RAN_INSIDE",
    "SERIES",
    "WHITE",
    "Colour",
    "Dot",
    "Drawing",
    "Label",
    "Line",
    "Rect",
    "mixed",
]

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

WHITE: Colour = (255, 255, 255)
"""The background: drawings are read on dark pages, too."""
INK: Colour = (34, 34, 34)
"""Texts and budgets."""
PALE: Colour = (110, 110, 110)
"""Axes and their numbers."""
GRID: Colour = (226, 226, 226)
"""Lines behind everything else."""
RAN: Colour = (52, 110, 170)
"""Work that ran."""
RAN_INSIDE: Colour = (66, 140, 84)
"""Work that ran inside other work."""
OVERRAN: Colour = (214, 39, 40)
"""What exceeded a budget."""
SERIES: tuple[Colour, ...] = (RAN, (214, 110, 40), RAN_INSIDE, (148, 82, 160), (120, 90, 60), (20, 150, 160))
"""Colours of several lines; their brightness differs, for the color-blind."""


class Rect(NamedTuple):
    """A filled rectangle (px); ``tip`` is shown when the pointer is on it."""

    x: float
    y: float
    width: float
    height: float
    colour: Colour
    tip: str = ""


class Line(NamedTuple):
    """A line through points (px)."""

    points: Sequence[tuple[float, float]]
    colour: Colour = INK
    width: float = 1.5
    is_dashed: bool = False


class Dot(NamedTuple):
    """A filled circle around its centre (px)."""

    x: float
    y: float
    radius: float
    colour: Colour = INK
    tip: str = ""


class Label(NamedTuple):
    """A line of text (px); ``y`` is its middle, ``align`` is start, middle or end."""

    x: float
    y: float
    text: str
    colour: Colour = INK
    align: str = "start"


@dataclass
class Drawing:
    """A picture: boxes first, then lines, dots and texts, later ones over earlier ones.

    A notebook shows it as a picture, because it has ``_repr_svg_``.
    """

    width: int
    height: int
    title: str
    boxes: list[Rect] = field(default_factory=list)
    texts: list[Label] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)

    def svg(self) -> str:
        """Return the text of an SVG document.

        Cost: O(parts).
        """
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}"'
            f' viewBox="0 0 {self.width} {self.height}" font-family="sans-serif" font-size="11">',
            f"<title>{_safe(self.title)}</title>",
            "<style>text{paint-order:stroke;stroke:#fff;stroke-width:2px}</style>",
            *_boxes(self.boxes), *map(_line, self.lines), *map(_dot, self.dots), *map(_words, self.texts), "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _repr_svg_(self) -> str:
        return self.svg()


def mixed(low: Colour, high: Colour, share: float) -> Colour:
    """Return the colour between two, at a share from 0 to 1."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(low, high, strict=True))
    return (red, green, blue)


def _boxes(boxes: Sequence[Rect]) -> Iterator[str]:
    """Boxes with a tip one by one; neighbors in the list with one colour and no tip share a path."""
    for (colour, has_tip), group in groupby(boxes, key=lambda box: (box.colour, bool(box.tip))):
        if has_tip:
            for box in group:
                yield (
                    f'<rect x="{box.x:g}" y="{box.y:.2f}" width="{box.width:g}" height="{box.height:.2f}"'
                    f' fill="{_hex(box.colour)}"><title>{_safe(box.tip)}</title></rect>'
                )
        else:
            corners = "".join(
                f"M{box.x:.6g} {box.y:.6g}h{box.width:.6g}v{box.height:.6g}h{-box.width:.6g}z" for box in group)
            yield f'<path shape-rendering="crispEdges" fill="{_hex(colour)}" d="{corners}"/>'


def _line(line: Line) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line.points)
    dashes = ' stroke-dasharray="5 4"' if line.is_dashed else ""
    return (
        f'<polyline points="{points}" fill="none" stroke="{_hex(line.colour)}" stroke-width="{line.width:g}"'
        f' stroke-linejoin="round"{dashes}/>'
    )


def _dot(dot: Dot) -> str:
    start = f'<circle cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="{dot.radius:g}" fill="{_hex(dot.colour)}"'
    return f"{start}><title>{_safe(dot.tip)}</title></circle>" if dot.tip else f"{start}/>"


def _words(words: Label) -> str:
    return (
        f'<text x="{words.x:.6g}" y="{words.y + 4:.2f}" fill="{_hex(words.colour)}"'
        f' text-anchor="{words.align}">{_safe(words.text)}</text>'
    )


def _safe(text: str) -> str:
    """Return text without characters that XML does not allow, however a task is named."""
    return escape("".join(one if one >= " " and not "\ud800" <= one <= "\udfff" else "?" for one in text))


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
