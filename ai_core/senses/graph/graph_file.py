"""Sense graphs as text: plain JSON that people can read and write.

The whole text is checked before the graph is made; an error names the place in the text.
"""
from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from typing import Any

from ai_core.errors import UnknownNameError, check_type
from ai_core.saving.fields import StateError, check_names, check_version, checked_dict
from ai_core.saving.kinds import Flag, Kind, ListOf, MapOf, Number, OneOf, OneRecordOf, Optional, Point, Record, Text
from ai_core.senses.graph.parts import Box, Boxes, Passage, Prism, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph

__all__ = ["graph_from_text", "graph_to_text"]

FORMAT = "ai_core sense graph"
VERSION = 1


class _Part(Record):
    """A dataclass as a dict; fields with a default may be omitted."""

    def __init__(self, part: Any, make: Callable[..., Any] | None = None, **kinds: Kind) -> None:
        super().__init__(make or part, at=None, **kinds)
        self._absent: dict[str, Any] = {}
        for field in fields(part):
            default = field.default if field.default_factory is MISSING else field.default_factory()
            if default is not MISSING and field.name in kinds:
                self._absent[field.name] = kinds[field.name].save(default, None)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return super().read({**self._absent, **plain} if isinstance(plain, dict) else plain, place, owner)


class _RegionName(Text):
    """The name of a region; ``owner`` is the set of all names."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        if super().read(plain, place, owner) not in owner:
            raise StateError(f"{place!r}: {UnknownNameError('region', plain, owner)}")
        return plain


SHARE = Number(0, 1)
BOX = _Part(Box, minimum=Point(3), maximum=Point(3))
REGIONS = ListOf(_Part(
    SenseRegion,
    name=Text(),
    shape=OneRecordOf(
        box=BOX, boxes=_Part(Boxes, parts=ListOf(BOX)),
        prism=_Part(Prism, corners=ListOf(Point(2)), low_m=Number(), high_m=Number(), up=Text())),
    volume_m3=Optional(Number()),
    kept_per_m=MapOf(SHARE),
    dissipation=MapOf(SHARE),
    is_baked=Flag(),
))
PASSAGE = _Part(
    Passage, start=Point(3), end=Optional(Point(3)), kept_per_m=SHARE, distance_m=Number(), closed_kept_per_m=SHARE,
    area_m2=Number(), is_relayed=Flag(), wind_m_per_s=Number(), mirror_normal=Optional(Point(3)))


def _portal(**named: Any) -> SensePortal:
    return SensePortal(named.pop("from"), named.pop("to"), **named)


PORTALS = ListOf(_Part(SensePortal, _portal, **{
    "name": Text(), "from": _RegionName(at="from_region"), "to": _RegionName(at="to_region"), "is_open": Flag(),
    "is_baked": Flag(), "passages": MapOf(PASSAGE)}))


def graph_to_text(graph: SenseGraph) -> str:
    """Return a graph as JSON, with the current state of its doors."""
    portals = [replace(portal, is_open=graph.is_open(number)) for number, portal in enumerate(graph.portals)]
    state = {
        "format": FORMAT, "version": VERSION, "regions": REGIONS.save(graph.regions, None),
        "portals": PORTALS.save(portals, None)}
    return json.dumps(state, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def graph_from_text(text: str) -> SenseGraph:
    """Return the graph described by a text.

    Args:
        text: as returned by ``graph_to_text``. Required are: of a region ``name`` and ``shape``,
            of a portal ``from``, ``to`` and ``passages``, of a passage ``start``.

    Raises:
        TypeError: if ``text`` is not a string.
        StateError: if it is not a valid graph; names the place in it, and the reason.
    """
    check_type("text", text, str)
    try:
        state = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise StateError(f"line {error.lineno}, column {error.colno}: not JSON, or truncated: {error.msg}") from None
    except RecursionError:
        raise StateError("the text is nested too deeply for a sense graph") from None
    check_version("", given := checked_dict("", state), VERSION)
    check_names("", given, ("format", "version", "regions", "portals"))
    OneOf((FORMAT,)).read(given["format"], "format", None)
    regions = REGIONS.read(given["regions"], "regions", None)
    portals = PORTALS.read(given["portals"], "portals", {region.name for region in regions})
    try:
        return SenseGraph(regions, portals)
    except ValueError as error:
        raise StateError(f"'regions': {error}") from None


def _refuse_constant(name: str) -> float:
    raise StateError(f"{name} is not allowed; use a finite number, or remove the field")
