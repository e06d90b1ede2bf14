"""A picture of a sense graph, seen from above, as SVG: regions, and portals by sense."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import cycle
from xml.sax.saxutils import escape

from ai_core.errors import finite_number, shown
from ai_core.senses.graph.parts import Box, Passage, Prism, SensePortal, SenseRegion, Shape
from ai_core.senses.graph.sense_graph import SenseGraph

__all__ = ["graph_to_svg"]

COLOUR_OF = {"sight": "#c98500", "hearing": "#1f6fd0", "smell": "#2e8b3d"}
"""Colours of the usual senses; others take those of OTHER_COLOURS in alphabetical order."""

OTHER_COLOURS = ("#9b3fbf", "#c23b3b", "#0e8f8f", "#7a6a00")

FILLS = ("#e8eef6", "#eef4e4", "#f7ecdf", "#efe7f3", "#e3f2f1", "#f6e6e8")
BAKED_LINE, HAND_LINE = "#8a96a3", "#d03a6b"
MARGIN = 24
LEGEND_LINE = 18
SHORTEST = 20
"""Least length of an arrow (px): it shows where a door leads, however close the regions are."""

LONG_M = 2.0
"""Longer connections are dashed (m): they are not doors."""

APART = 5
"""Distance between the lines of different senses through one portal (px)."""

SCALE_BAR = 120
"""Greatest length of the scale bar (px)."""

Pair = tuple[float, float]


def graph_to_svg(graph: SenseGraph, *, pixels_per_m: float | None = None) -> str:
    """Return an SVG picture of a graph, seen from above; regions and portals made by hand are red.

    Hovering over a region or portal shows its name and numbers. Arrows have the colours of
    senses; connections longer than doors are dashed, and closed ones are faint.

    Args:
        graph: its regions need shapes.
        pixels_per_m: scale, above 0; None for a picture about 900 px wide.

    Raises:
        TypeError: if ``graph`` is not a SenseGraph.
        ValueError: if a region has no shape, or there is no region.
    """
    if not isinstance(graph, SenseGraph):
        raise TypeError(f"graph must be a SenseGraph, got {shown(graph)}")
    if not graph.regions:
        raise ValueError("graph must have at least one region to be drawn, got none")
    for region in graph.regions:
        if region.shape is None:
            raise ValueError(f"region {region.name!r} has no shape, so it cannot be drawn; add a shape")
    return "\n".join(_Picture(graph, pixels_per_m).lines()) + "\n"


class _Picture:
    """The layout of a picture."""

    def __init__(self, graph: SenseGraph, pixels_per_m: float | None) -> None:
        self._graph = graph
        passages = [one for portal in graph.portals for one in portal.passages.values()]
        places = [end for region in graph.regions for end in (_shape(region).minimum, _shape(region).maximum)]
        places += [end for one in passages for end in (one.start, one.end or one.start)]
        low, high = ([pick(axis) for axis in zip(*places, strict=True)] for pick in (min, max))
        # Where y is up, rows go along z; a 2D world is flat along z.
        is_flat = high[2] - low[2] <= 1 and not any(
            isinstance(part, Prism) and part.up == "y" for region in graph.regions for part in _shape(region).parts)
        self._down = 1 if is_flat else 2
        self._low = (low[0], low[self._down])
        size = (high[0] - low[0], high[self._down] - low[self._down])
        if pixels_per_m is None:
            pixels_per_m = max(2.0, min(60.0, 900 / max(size)))
        self._scale = finite_number("pixels_per_m", pixels_per_m, above=0)
        others = cycle(OTHER_COLOURS)
        senses = sorted({name for portal in graph.portals for name in portal.passages})
        self._colours = {name: COLOUR_OF.get(name) or next(others) for name in senses}
        self._width = max(320, round(size[0] * self._scale) + 2 * MARGIN)
        self._level_height = round(size[1] * self._scale) + 2 * MARGIN

    def lines(self) -> Iterator[str]:
        """Yield the lines of the document."""
        height = self._level_height + LEGEND_LINE * (len(self._colours) + 3) + MARGIN
        yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{height}"'
               f' viewBox="0 0 {self._width} {height}" font-family="sans-serif" font-size="12">')
        yield '<title>Sense graph</title><rect width="100%" height="100%" fill="#ffffff"/>'
        # Where regions meet, the first of them counts: it lies on top.
        for number in reversed(range(len(self._graph.regions))):
            yield from self._region(self._graph.regions[number], FILLS[number % len(FILLS)])
        for number, portal in enumerate(self._graph.portals):
            yield from self._portal(portal, self._graph.is_open(number))
        for region in self._graph.regions:
            yield self._name(region)
        yield from self._legend()
        yield "</svg>"

    def _at(self, place: tuple[float, ...]) -> Pair:
        x = (place[0] - self._low[0]) * self._scale + MARGIN
        y = (place[self._down] - self._low[1]) * self._scale + MARGIN
        return x, y

    def _corners(self, part: Box | Prism) -> list[Pair]:
        if isinstance(part, Box):
            (left, top), (right, bottom) = self._at(part.minimum), self._at(part.maximum)
            return [(left, top), (right, top), (right, bottom), (left, bottom)]
        return [self._at((a, b, b)) for a, b in part.corners]

    def _region(self, region: SenseRegion, fill: str) -> Iterator[str]:
        line, width = (BAKED_LINE, 1) if region.is_baked else (HAND_LINE, 2)
        tip = f"{region.name} ({_made(region)}), {region.volume_m3:.1f} m³"
        for verb, shares in (("keeps", region.kept_per_m), ("loses", region.dissipation)):
            tip += "".join(f"; {verb} {share:g} of {name}" for name, share in sorted(shares.items()))
        outline = " ".join(
            "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in self._corners(part)) + " Z" for part in _shape(region).parts)
        yield f'<g><title>{_safe(tip)}</title>'
        # Sides that parts share are painted over; of the others, the outer half stays.
        yield f'<path d="{outline}" stroke="{line}" stroke-width="{2 * width}"/>'
        yield f'<path d="{outline}" fill="{fill}"/></g>'

    def _name(self, region: SenseRegion) -> str:
        parts: Sequence[Box | Prism] = _shape(region).parts
        corners = self._corners(max(parts, key=lambda part: part.volume_m3))
        x, y = (sum(axis) / len(corners) for axis in zip(*corners, strict=True))
        colour = "#333333" if region.is_baked else HAND_LINE
        return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}">'
                f"{_safe(region.name)}</text>")

    def _portal(self, portal: SensePortal, is_open: bool) -> Iterator[str]:
        tip = f"{portal.name or 'portal'} ({_made(portal)}): {portal.from_region} to {portal.to_region}"
        tip += "" if is_open else ", shut"
        yield "<g>"
        for lane, (name, colour) in enumerate(self._colours.items()):
            passage = portal.passages.get(name)
            if passage is not None:
                numbers = f"{name}: {passage.distance_m:.2f} m, {passage.area_m2:.2f} m², keeps {passage.kept_per_m:g}"
                faint = "" if is_open else ' opacity="0.35"'
                yield f"<g{faint}><title>{_safe(tip)}; {_safe(numbers)}</title>{self._line(passage, lane, colour)}</g>"
        if portal.passages and not portal.is_baked:
            x, y = self._at(portal.passages[min(portal.passages)].start)
            yield (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="{HAND_LINE}"'
                   f' stroke-width="1.5"><title>{_safe(tip)}</title></circle>')
        yield "</g>"

    def _line(self, passage: Passage, lane: int, colour: str) -> str:
        (x, y), (a, b) = self._at(passage.start), self._at(passage.end or passage.start)
        length = math.dist((x, y), (a, b))
        if length < 1:
            a, b, length = x + 10, y, 10.0
        u, v = (a - x) / length, (b - y) / length
        more, aside = max(0.0, (SHORTEST - length) / 2), APART * (lane + 0.5)
        start = (x - u * more - v * aside, y - v * more + u * aside)
        end = (a + u * more - v * aside, b + v * more + u * aside)
        return _arrow(start, end, colour, ' stroke-dasharray="5 4"' if length > LONG_M * self._scale else "")

    def _legend(self) -> Iterator[str]:
        y = self._level_height
        for name, colour in self._colours.items():
            yield _arrow((MARGIN, y), (MARGIN + 28, y), colour)
            yield f'<text x="{MARGIN + 38}" y="{y + 4}">{_safe(name)}</text>'
            y += LEGEND_LINE
        yield (f'<circle cx="{MARGIN + 14}" cy="{y}" r="7" fill="none" stroke="{HAND_LINE}"'
               f' stroke-width="1.5"/><text x="{MARGIN + 38}" y="{y + 4}">made by hand</text>')
        power = 10.0 ** math.floor(math.log10(SCALE_BAR / self._scale))
        metres = max(share * power for share in (1, 2, 5) if share * power * self._scale <= SCALE_BAR or share == 1)
        bar, y = round(metres * self._scale), y + 2 * LEGEND_LINE
        yield (f'<path d="M{MARGIN},{y - 4} V{y} H{MARGIN + bar} V{y - 4}" fill="none" stroke="#333333"/>'
               f'<text x="{MARGIN + bar + 8}" y="{y}">{metres:g} m</text>')


def _arrow(start: Pair, end: Pair, colour: str, dash: str = "") -> str:
    """Return a line with a head."""
    (x, y), (a, b), neck, half = start, end, 7, 3.5
    length = math.dist(start, end)
    u, v = (a - x) / length, (b - y) / length
    c, d = a - neck * u, b - neck * v
    return (f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="{colour}" stroke-width="2"{dash}/>'
            f'<path d="M{a:.1f},{b:.1f} L{c - half * v:.1f},{d + half * u:.1f}'
            f' L{c + half * v:.1f},{d - half * u:.1f} Z" fill="{colour}"/>')


def _shape(region: SenseRegion) -> Shape:
    assert region.shape is not None      # graph_to_svg refuses others
    return region.shape


def _made(part: SenseRegion | SensePortal) -> str:
    return "baked" if part.is_baked else "made by hand"


def _safe(text: str) -> str:
    """Return text without characters that XML does not allow."""
    return escape("".join(one if one >= " " and not "\ud800" <= one <= "\udfff" else "?" for one in text),
                  {'"': "&quot;"})
