"""Sense graphs as text: plain JSON that people can read and write.

The whole text is checked before the graph is made; an error names the place in the text.
"""
from __future__ import annotations

import json
from typing import Any

from ai_core.errors import UnknownNameError, shown
from ai_core.saving.fields import Fields, State, StateError
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_lookup import Lookup
from ai_core.senses.graph.sense_graph_parts import Passage, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph_shapes import Box, Boxes, Prism, Shape

__all__ = ["graph_from_text", "graph_to_text"]

FORMAT = "ai_core sense graph"
VERSION = 1


def graph_to_text(graph: SenseGraph) -> str:
    """Return a graph as JSON, with the current state of its doors."""
    state = {
        "format": FORMAT,
        "version": VERSION,
        "regions": [_region_out(region) for region in graph.regions],
        "portals": [
            _portal_out(portal, graph.is_open(number))
            for number, portal in enumerate(graph.portals)
        ],
    }
    return json.dumps(state, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def graph_from_text(text: str, *, lookup: Lookup | None = None) -> SenseGraph:
    """Return the graph described by a text.

    Args:
        text: as returned by ``graph_to_text``. Required are: of a region ``name`` and a shape or a
            volume, of a portal ``from``, ``to`` and ``passages``, of a passage ``start``.
        lookup: finds regions by position, for graphs whose regions have no shapes.

    Raises:
        TypeError: if ``text`` is not a string.
        StateError: if it is not a valid graph; names the place in it, and the reason.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {shown(text)}")
    try:
        state = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise StateError(
            f"line {error.lineno}, column {error.colno}: not JSON, or truncated: {error.msg}"
        ) from None
    except RecursionError:
        raise StateError("the text is nested too deeply for a sense graph") from None
    fields = Fields.versioned(state, version=VERSION)
    fields.one_of("format", (FORMAT,))
    regions: dict[str, SenseRegion] = {}
    for one in fields.groups("regions"):
        region = _region_in(one)
        if region.name in regions:
            one.refuse("name", f"comes twice: {region.name!r}; regions must have unique names")
        regions[region.name] = region
    portals = [_portal_in(one, set(regions)) for one in fields.groups("portals")]
    fields.end()
    try:
        return SenseGraph(regions.values(), portals, lookup=lookup)
    except ValueError as error:
        raise StateError(f"regions: {error}") from None


def _refuse_constant(name: str) -> float:
    raise StateError(f"{name} is not allowed; use a finite number, or remove the field")


def _region_out(region: SenseRegion) -> State:
    return {
        "name": region.name,
        "shape": None if region.shape is None else _shape_out(region.shape),
        "volume_m3": region.volume_m3,
        "kept_per_m": dict(region.kept_per_m),
        "dissipation": dict(region.dissipation),
        "is_baked": region.is_baked,
    }


def _shape_out(shape: Shape) -> State:
    if isinstance(shape, Box):
        return {"kind": "box", "minimum": list(shape.minimum), "maximum": list(shape.maximum)}
    if isinstance(shape, Boxes):
        return {"kind": "boxes", "boxes": [[*box.minimum, *box.maximum] for box in shape.parts]}
    return {
        "kind": "prism", "corners": [list(corner) for corner in shape.corners],
        "low_m": shape.low_m, "high_m": shape.high_m, "up": shape.up,
    }


def _portal_out(portal: SensePortal, is_open: bool) -> State:
    return {
        "name": portal.name,
        "from": portal.from_region,
        "to": portal.to_region,
        "is_open": is_open,
        "is_baked": portal.is_baked,
        "passages": {
            name: {
                "start": list(one.start),
                "end": list(one.end or one.start),
                "kept_per_m": one.kept_per_m,
                "distance_m": one.distance_m,
                "closed_kept_per_m": one.closed_kept_per_m,
                "area_m2": one.area_m2,
                "is_relayed": one.is_relayed,
                "wind_m_per_s": one.wind_m_per_s,
            }
            for name, one in sorted(portal.passages.items())
        },
    }


def _region_in(fields: Fields) -> SenseRegion:
    there = fields.names()
    settings: dict[str, Any] = {"name": fields.text("name")}
    if "shape" in there and fields.anything("shape") is not None:
        settings["shape"] = _shape_in(fields.group("shape"))
    if "volume_m3" in there and fields.anything("volume_m3") is not None:
        settings["volume_m3"] = fields.number("volume_m3")
    for what in ("kept_per_m", "dissipation"):
        if what in there:
            shares = fields.group(what)
            settings[what] = {
                name: shares.number(name, minimum=0, maximum=1) for name in shares.names()
            }
    if "is_baked" in there:
        settings["is_baked"] = fields.flag("is_baked")
    fields.end()
    return _made(fields, "name", SenseRegion, settings)  # type: ignore[no-any-return]


def _shape_in(fields: Fields) -> Shape:
    kind = fields.one_of("kind", ("box", "prism", "boxes"))
    if kind == "boxes":
        return _boxes_in(fields)
    if kind == "box":
        settings: dict[str, Any] = {
            "minimum": fields.point("minimum"), "maximum": fields.point("maximum")}
        fields.end()
        return _made(fields, "maximum", Box, settings)  # type: ignore[no-any-return]
    corners = []
    for index, corner in enumerate(fields.items("corners")):
        one = Fields({"corner": corner}, fields.place_of(f"corners[{index}]"))
        corners.append(tuple(one.numbers("corner", count=2)))
    settings = {"corners": corners, "low_m": fields.number("low_m"),
                "high_m": fields.number("high_m"), "up": fields.one_of("up", ("y", "z"))}
    fields.end()
    return _made(fields, "corners", Prism, settings)  # type: ignore[no-any-return]


def _boxes_in(fields: Fields) -> Shape:
    boxes = []
    for index, sides in enumerate(fields.items("boxes")):
        one = Fields({"box": sides}, fields.place_of(f"boxes[{index}]"))
        six = one.numbers("box", count=6)
        boxes.append(_made(one, "box", Box, {"minimum": six[:3], "maximum": six[3:]}))
    fields.end()
    return _made(fields, "boxes", Boxes, {"parts": boxes})  # type: ignore[no-any-return]


def _portal_in(fields: Fields, regions: set[str]) -> SensePortal:
    there = fields.names()
    settings: dict[str, Any] = {}
    for field, name in (("from", "from_region"), ("to", "to_region")):
        settings[name] = fields.text(field)
        if settings[name] not in regions:
            fields.refuse(field, f"leads to an unknown region: {UnknownNameError('region', settings[name], regions)}")
    if "name" in there:
        settings["name"] = fields.text("name")
    for name in ("is_open", "is_baked"):
        if name in there:
            settings[name] = fields.flag(name)
    passages = fields.group("passages")
    settings["passages"] = {name: _passage_in(passages.group(name)) for name in passages.names()}
    fields.end()
    return _made(fields, "to", SensePortal, settings)  # type: ignore[no-any-return]


def _passage_in(fields: Fields) -> Passage:
    there = fields.names()
    settings: dict[str, Any] = {"start": fields.point("start")}
    if "end" in there:
        settings["end"] = fields.point("end")
    for name in ("kept_per_m", "closed_kept_per_m"):
        if name in there:
            settings[name] = fields.number(name, minimum=0, maximum=1)
    for name in ("distance_m", "area_m2"):
        if name in there:
            settings[name] = fields.number(name, minimum=0)
    if "wind_m_per_s" in there:
        settings["wind_m_per_s"] = fields.number("wind_m_per_s")
    if "is_relayed" in there:
        settings["is_relayed"] = fields.flag("is_relayed")
    fields.end()
    return _made(fields, "area_m2", Passage, settings)  # type: ignore[no-any-return]


def _made(fields: Fields, field: str, kind: Any, settings: dict[str, Any]) -> Any:
    """Make what was read; what is wrong with it is told with its place."""
    try:
        return kind(**settings)
    except (TypeError, ValueError) as error:
        raise StateError(f"{fields.place_of(field)!r}: {error}") from None
