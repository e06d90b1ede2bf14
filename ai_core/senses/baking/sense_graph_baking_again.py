"""Baking a level again: parts made by hand stay, and baked parts that still exist keep name and place."""
from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_lookup import NOWHERE, ShapeLookup
from ai_core.senses.graph.sense_graph_parts import Passage, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph_shapes import Shape

__all__ = ["BakedLink", "BakingReport", "check_earlier", "joined_by_hand", "make_graph", "names_of_rooms"]

SAME_DOOR_M = 2.0
"""An opening that has moved by less is the same (m); with larger values, a wall may be between."""

SHARED = 0.25
"""Share of the ground of a room, or of a region, that makes them the same."""

PLACES_A_STEP = 2048

SEES = " sees "
"""Part of the names of baked sight portals: "Room1 sees Room3"."""

Place = tuple[float, float, float]
Ids = NDArray[np.int64]


class BakingReport(NamedTuple):
    """The changes of baking again: names of regions and portals.

    Attributes:
        new: not in the earlier graph.
        kept: in the earlier graph; baked ones have been measured again.
        gone: baked ones that the level no longer has.
        dropped: portals made by hand whose region is gone.
    """

    new: list[str]
    kept: list[str]
    gone: list[str]
    dropped: list[str]


class BakedLink(NamedTuple):
    """A way that was found, in both directions: through an opening, or for sight alone."""

    regions: tuple[str, str]
    start: Place
    end: Place
    distance_m: float
    area_m2: float
    closed_kept_per_m: dict[str, float]
    is_sight_pair: bool


def check_earlier(earlier: object) -> SenseGraph:
    """Return a graph that can be baked again.

    Raises:
        TypeError: if it is none.
        ValueError: if a region has no shape.
    """
    if not isinstance(earlier, SenseGraph):
        raise TypeError(f"earlier must be a SenseGraph or None, got {shown(earlier)}")
    for region in earlier.regions:
        if region.shape is None:
            raise ValueError(
                f"region {region.name!r} of earlier has no shape; add a shape, or remove the region")
    return earlier


def names_of_rooms(
    earlier: SenseGraph, places: NDArray[np.float32], room: Ids
) -> Generator[float, None, dict[int, str]]:
    """Yield how far it has come, 0 to 1, and return the names that rooms had before.

    Args:
        earlier: the graph before.
        places: (n, 3), over the middle of every cell.
        room: (n,) its room.

    Cost: one look-up a cell.
    """
    baked = [region for region in earlier.regions if region.is_baked]
    lookup = ShapeLookup([_shape(region) for region in baked])
    before = np.empty(len(places), np.int64)
    for begin in range(0, len(places), PLACES_A_STEP):
        part = slice(begin, begin + PLACES_A_STEP)
        before[part] = lookup(places[part])
        yield begin / len(places)
    is_both = (before != NOWHERE) & (room >= 0)
    pairs, counts = np.unique(
        np.stack((before[is_both], room[is_both]), axis=1), axis=0, return_counts=True)
    all_before, all_now = np.bincount(before[before != NOWHERE]), np.bincount(room[room >= 0])
    names: dict[int, str] = {}
    taken = set()
    for row in np.lexsort((pairs[:, 1], pairs[:, 0], -counts)).tolist():
        old, new = pairs[row].tolist()
        is_same = counts[row] >= SHARED * min(all_before[old], all_now[new])
        if is_same and old not in taken and new not in names:
            taken.add(old)
            names[new] = baked[old].name
    return names


def joined_by_hand(earlier: SenseGraph, sense: str) -> set[frozenset[str]]:
    """Return the pairs of regions between which the designer has said how a sense passes."""
    return {
        frozenset((portal.from_region, portal.to_region))
        for portal in earlier.portals if not portal.is_baked and sense in portal.passages
    }


def make_graph(
    earlier: SenseGraph, shapes: dict[str, Shape], ways: list[BakedLink]
) -> Generator[float, None, tuple[SenseGraph, BakingReport]]:
    """Yield how far it has come, 0 to 1, and return the graph of what was found and of what
    was made by hand, and what has changed.

    Args:
        earlier: the graph before.
        shapes: of all baked regions by name, in order.
        ways: all ways between regions, in order.

    Cost: O(regions + portals), about 0.2 ms a way, and for each two regions the square of
    the ways between them; a way a step.
    """
    report = BakingReport([], [], [], [])
    regions = []
    for region in earlier.regions:
        if region.is_baked and region.name not in shapes:
            report.gone.append(region.name)
            continue
        report.kept.append(region.name)
        if region.is_baked:
            region = replace(region, shape=shapes[region.name], volume_m3=None)
        regions.append(region)
    known = {region.name for region in regions}
    for name, shape in shapes.items():
        if name not in known:
            report.new.append(name)
            regions.append(SenseRegion(name, shape, is_baked=True))
    yield 0.0
    portals = yield from _Portals(earlier, SenseGraph(regions), report).made(ways)
    return SenseGraph(regions, portals), report


class _Portals:
    """Portals of the graph before, in their order, and new ones behind them."""

    def __init__(self, earlier: SenseGraph, regions: SenseGraph, report: BakingReport) -> None:
        self._earlier, self._regions, self._report = earlier, regions, report
        self._noted: set[tuple[str, str]] = set()
        self._names = {region.name for region in regions.regions}
        self._by_hand: dict[frozenset[str], list[int]] = {}
        self._doors: dict[tuple[frozenset[str], bool], dict[str, list[int]]] = {}
        for number, portal in enumerate(earlier.portals):
            pair = frozenset((portal.from_region, portal.to_region))
            if not portal.is_baked:
                self._by_hand.setdefault(pair, []).append(number)
            else:
                doors = self._doors.setdefault((pair, SEES in portal.name), {})
                doors.setdefault(portal.name, []).append(number)

    def made(self, ways: list[BakedLink]) -> Generator[float, None, list[SensePortal]]:
        """Yield how far it has come, and return all portals."""
        kept: dict[int, SensePortal] = {}
        used = {portal.name for portal in self._earlier.portals}
        new: list[SensePortal] = []
        for index, (way, door) in enumerate(self._same(ways)):
            yield index / len(ways)
            if door is not None:
                kept |= {number: self._measured(number, way) for number in door}
            elif not self._is_by_hand(way):
                name = _unused(way, used)
                used.add(name)
                self._report.new.append(name)
                there = _portal(way, name)
                new += [there, there.back()]
        for number, portal in enumerate(self._earlier.portals):
            if not portal.is_baked:
                mine = self._attached(replace(portal, is_open=self._earlier.is_open(number)))
                self._note(portal, "dropped" if mine is None else "kept")
                if mine is not None:
                    kept[number] = mine
            else:
                self._note(portal, "kept" if number in kept else "gone")
        return [kept[number] for number in sorted(kept)] + new

    def _note(self, portal: SensePortal, what: str) -> None:
        name = portal.name or f"{portal.from_region} to {portal.to_region}"
        if (name, what) not in self._noted:
            self._noted.add((name, what))
            getattr(self._report, what).append(name)

    def _same(self, ways: list[BakedLink]) -> list[tuple[BakedLink, list[int] | None]]:
        """Return every way with the portals of the same way before, nearest first."""
        choices = []
        for index, way in enumerate(ways):
            doors = self._doors.get((frozenset(way.regions), way.is_sight_pair), {})
            for door in doors.values():
                off_m = self._moved_m(door[0], way)
                if way.is_sight_pair or off_m <= SAME_DOOR_M:
                    choices.append((off_m, index, door))
        found: dict[int, list[int]] = {}
        taken: set[int] = set()
        for _, index, door in sorted(choices):
            if index not in found and door[0] not in taken:
                found[index] = door
                taken.add(door[0])
        return [(way, found.get(index)) for index, way in enumerate(ways)]

    def _moved_m(self, number: int, way: BakedLink) -> float:
        portal = self._earlier.portals[number]
        if not portal.passages:
            return 0.0
        passage = portal.passages[min(portal.passages)]
        at = passage.start if portal.from_region == way.regions[0] else passage.end or passage.start
        return math.dist(at, way.start)

    def _measured(self, number: int, way: BakedLink) -> SensePortal:
        """Return a baked portal where it now is; which senses pass, and how well, stays as it was set."""
        portal = self._earlier.portals[number]
        start, end = way.start, way.end
        if portal.from_region != way.regions[0]:
            start, end = end, start
        passages = {
            sense: replace(
                one, start=start, end=end, distance_m=way.distance_m, area_m2=way.area_m2)
            for sense, one in portal.passages.items()
        }
        return replace(portal, passages=passages, is_open=self._earlier.is_open(number))

    def _is_by_hand(self, way: BakedLink) -> bool:
        """Return True if a portal made by hand is there and passes all that this would."""
        return any(
            set(self._earlier.portals[number].passages) >= set(way.closed_kept_per_m)
            and self._moved_m(number, way) <= SAME_DOOR_M
            for number in self._by_hand.get(frozenset(way.regions), ())
        )

    def _attached(self, portal: SensePortal) -> SensePortal | None:
        """Return a portal made by hand; where a region is gone, it leads to what is there now."""
        if {portal.from_region, portal.to_region} <= self._names:
            return portal
        if not portal.passages:
            return None
        passage = portal.passages[min(portal.passages)]
        ends = []
        for name, place in ((portal.from_region, passage.start),
                            (portal.to_region, passage.end or passage.start)):
            there = self._regions.region_at(place)
            if name not in self._names:
                if there == NOWHERE:
                    return None
                name = self._regions.regions[there].name
            ends.append(name)
        return None if ends[0] == ends[1] else replace(portal, from_region=ends[0], to_region=ends[1])


def _portal(way: BakedLink, name: str) -> SensePortal:
    passages = {
        sense: Passage(way.start, way.end, distance_m=way.distance_m, closed_kept_per_m=share,
                       area_m2=way.area_m2)
        for sense, share in way.closed_kept_per_m.items()
    }
    return SensePortal(*way.regions, passages, name, is_baked=True)


def _unused(way: BakedLink, used: set[str]) -> str:
    name = (SEES if way.is_sight_pair else "-").join(way.regions)
    number = 1
    while (unused := name if number == 1 else f"{name} {number}") in used:
        number += 1
    return unused


def _shape(region: SenseRegion) -> Shape:
    assert region.shape is not None      # check_earlier has seen to it
    return region.shape
