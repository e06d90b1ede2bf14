"""A picture of a sense graph, seen from above, as SVG: regions, and portals by sense."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from xml.sax.saxutils import escape

from ai_core.errors import finite_number, shown
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_parts import Passage, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph_shapes import Box, Prism

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
"""How far lines of different senses through one portal are moved aside (px)."""

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
    """Where things go on the paper."""

    def __init__(self, graph: SenseGraph, pixels_per_m: float | None) -> None:
        self._graph = graph
        low, high = _bounds(graph)
        # Where y is up, rows go along z; a 2D world is flat along z.
        self._down = 1 if high[2] - low[2] <= 1 and all(map(_is_flat, graph.regions)) else 2
        self._low = (low[0], low[self._down])
        size = (high[0] - low[0], high[self._down] - low[self._down])
        if pixels_per_m is None:
            pixels_per_m = max(2.0, min(60.0, 900 / max(size)))
        self._scale = finite_number("pixels_per_m", pixels_per_m, above=0)
        senses = sorted({name for portal in graph.portals for name in portal.passages})
        others = cycle(OTHER_COLOURS)
        self._colours = {name: COLOUR_OF.get(name) or next(others) for name in senses}
        self._width = max(320, round(size[0] * self._scale) + 2 * MARGIN)
        self._level_height = round(size[1] * self._scale) + 2 * MARGIN

    def lines(self) -> Iterator[str]:
        """Yield the lines of the document."""
        height = self._level_height + LEGEND_LINE * (len(self._colours) + 3) + MARGIN
        yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{height}"'
               f' viewBox="0 0 {self._width} {height}" font-family="sans-serif" font-size="12">')
        yield '<title>Sense graph</title><rect width="100%" height="100%" fill="#ffffff"/>'
        # What counts where regions meet is the first of them: it lies on top.
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

    def _region(self, region: SenseRegion, fill: str) -> Iterator[str]:
        line, width = (BAKED_LINE, 1) if region.is_baked else (HAND_LINE, 2)
        how = "baked" if region.is_baked else "made by hand"
        tip = f"{region.name} ({how}), {region.volume_m3:.1f} m³"
        for what, shares in (("keeps", region.kept_per_m), ("loses", region.dissipation)):
            tip += "".join(f"; {what} {share:g} of {name}" for name, share in sorted(shares.items()))
        assert region.shape is not None      # graph_to_svg has seen to it
        parts: Sequence[Box | Prism] = region.shape.parts
        outline = _outline([self._corners(part) for part in parts])
        yield f'<g><title>{_safe(tip)}</title>'
        # Sides that parts share are painted over; of the others, the outer half stays.
        yield f'<path d="{outline}" stroke="{line}" stroke-width="{2 * width}"/>'
        yield f'<path d="{outline}" fill="{fill}"/></g>'

    def _corners(self, part: Box | Prism) -> list[Pair]:
        if isinstance(part, Box):
            (left, top), (right, bottom) = self._at(part.minimum), self._at(part.maximum)
            return [(left, top), (right, top), (right, bottom), (left, bottom)]
        return [self._at((a, b, b)) for a, b in part.corners]

    def _name(self, region: SenseRegion) -> str:
        assert region.shape is not None
        parts: Sequence[Box | Prism] = region.shape.parts
        largest = max(parts, key=lambda part: part.volume_m3)
        corners = self._corners(largest)
        x, y = (sum(one[axis] for one in corners) / len(corners) for axis in (0, 1))
        colour = "#333333" if region.is_baked else HAND_LINE
        return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}">'
                f"{_safe(region.name)}</text>")

    def _portal(self, portal: SensePortal, is_open: bool) -> Iterator[str]:
        how = "baked" if portal.is_baked else "made by hand"
        tip = f"{portal.name or 'portal'} ({how}): {portal.from_region} to {portal.to_region}"
        if not is_open:
            tip += ", shut"
        yield "<g>"
        first = None
        for lane, (name, colour) in enumerate(self._colours.items()):
            passage = portal.passages.get(name)
            if passage is not None:
                first = first or passage
                yield self._arrow(name, colour, lane, passage, tip, is_open)
        if first is not None and not portal.is_baked:
            x, y = self._at(first.start)
            yield (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="{HAND_LINE}"'
                   f' stroke-width="1.5"><title>{_safe(tip)}</title></circle>')
        yield "</g>"

    def _arrow(
        self, name: str, colour: str, lane: int, passage: Passage, tip: str, is_open: bool
    ) -> str:
        start, end = self._at(passage.start), self._at(passage.end or passage.start)
        (x, y), (a, b) = start, end
        length = ((a - x) ** 2 + (b - y) ** 2) ** 0.5
        if length < 1:
            a, b, length = x + 10, y, 10.0
        along, aside = ((a - x) / length, (b - y) / length), APART * (lane + 0.5)
        x, y, a, b = (one + aside * turn for one, turn in zip(
            (x, y, a, b), (-along[1], along[0], -along[1], along[0]), strict=True))
        if length < SHORTEST:
            more = (SHORTEST - length) / 2
            x, y, a, b = x - along[0] * more, y - along[1] * more, a + along[0] * more, b + along[1] * more
        dash = ' stroke-dasharray="5 4"' if length > LONG_M * self._scale else ""
        faint = "" if is_open else ' opacity="0.35"'
        numbers = f"{name}: {passage.distance_m:.2f} m, {passage.area_m2:.2f} m², keeps {passage.kept_per_m:g}"
        return (f"<g{faint}><title>{_safe(tip)}; {_safe(numbers)}</title>"
                + _arrow((x, y), (a, b), along, colour, dash) + "</g>")

    def _legend(self) -> Iterator[str]:
        y = self._level_height
        for name, colour in self._colours.items():
            yield _arrow((MARGIN, y), (MARGIN + 28, y), (1.0, 0.0), colour)
            yield f'<text x="{MARGIN + 38}" y="{y + 4}">{_safe(name)}</text>'
            y += LEGEND_LINE
        yield (f'<circle cx="{MARGIN + 14}" cy="{y}" r="7" fill="none" stroke="{HAND_LINE}"'
               f' stroke-width="1.5"/><text x="{MARGIN + 38}" y="{y + 4}">made by hand</text>')
        bar = round(_round_metres(120 / self._scale) * self._scale)
        y += 2 * LEGEND_LINE
        yield (f'<path d="M{MARGIN},{y - 4} V{y} H{MARGIN + bar} V{y - 4}" fill="none" stroke="#333333"/>'
               f'<text x="{MARGIN + bar + 8}" y="{y}">{_round_metres(120 / self._scale):g} m</text>')


def _arrow(start: Pair, end: Pair, along: Pair, colour: str, dash: str = "") -> str:
    """Return a line with a head, its direction given as a vector of length 1."""
    (x, y), (a, b), (u, v) = start, end, along
    neck, half = 7, 3.5
    c, d = a - neck * u, b - neck * v
    return (f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="{colour}" stroke-width="2"{dash}/>'
            f'<path d="M{a:.1f},{b:.1f} L{c - half * v:.1f},{d + half * u:.1f}'
            f' L{c + half * v:.1f},{d - half * u:.1f} Z" fill="{colour}"/>')


def _outline(parts: list[list[Pair]]) -> str:
    """Return the path round every part."""
    return " ".join(
        "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in corners) + " Z" for corners in parts)


def _bounds(graph: SenseGraph) -> tuple[list[float], list[float]]:
    places = [end for region in graph.regions if region.shape is not None
              for end in (region.shape.minimum, region.shape.maximum)]
    places += [end for portal in graph.portals for one in portal.passages.values()
               for end in (one.start, one.end or one.start)]
    sides = list(zip(*places, strict=True))
    return [min(side) for side in sides], [max(side) for side in sides]


def _is_flat(region: SenseRegion) -> bool:
    assert region.shape is not None
    return all(
        part.up == "z" if isinstance(part, Prism) else part.maximum[2] - part.minimum[2] <= 1
        for part in region.shape.parts)


def _round_metres(metres: float) -> float:
    """Return 1, 2 or 5 times a power of ten, not above so many metres."""
    power = 10.0 ** len(str(int(metres))) / 10 if metres >= 1 else 0.1
    return max(share * power for share in (1, 2, 5) if share * power <= metres or share == 1)


def _safe(text: str) -> str:
    """Return text without what XML may not hold."""
    return escape("".join(one if one >= " " and not "\ud800" <= one <= "\udfff" else "?" for one in text),
                  {'"': "&quot;"})
