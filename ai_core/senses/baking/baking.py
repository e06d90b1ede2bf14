"""Bakes the sense graph of a level: rooms from its ground, doors between them, and sight between rooms.

Rooms are separated where the ground is narrow, portals stand where rooms touch, and rays find pairs of rooms that see
each other. Regions and portals made by hand stay; baked ones that still exist keep name, id and settings.
"""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import check_callables, check_kind, finite_number, shares_by_name, shown, whole_number
from ai_core.maps.cover.cover_spots import Blocked
from ai_core.scheduling.interruptible import SteppedWork
from ai_core.senses.baking.ground import Floats, GroundCells, Ids, WalkableGrid, WalkablePolygons, Work, blocks
from ai_core.senses.baking.openings import Opening, SightPair, openings, sight_pairs
from ai_core.senses.baking.rooms import NO_ROOM, distances_to_walls, divided_ground, room_boxes
from ai_core.senses.graph.parts import Boxes, Passage, SensePortal, SenseRegion, Shape
from ai_core.senses.graph.sense_graph import NOWHERE, SenseGraph, ShapeLookup

__all__ = ["BakingReport", "BakingSettings", "SenseGraphBaking"]

MOST_CELLS = 250_000
"""Cells of one level (count), 15,600 m² in cells of 0.25 m: baking takes about 3 s then."""

MOST_REGIONS = 2_000
"""Most regions of one level (count): each pair in range is tested for sight."""

WASTE = 16
"""Largest ratio of the bounding boxes of all polygons to the ground; with more, sampling takes too long."""

OVER_GROUND_M = 0.1
"""Height above the ground at which cells are looked up in regions (m); not used in 2D."""

ROOM_NAME = "Room{}"

SAME_DOOR_M = 2.0
"""An opening that has moved by less is the same (m); with larger values, a wall may be between."""

SHARED = 0.25
"""Share of the ground of a room, or of a region, that makes them the same."""

SEES = " sees "
"""Part of the names of baked sight portals: "Room1 sees Room3"."""

T = TypeVar("T")


@dataclass(frozen=True)
class BakingSettings:
    """Settings of the division of a level into regions, and of the modalities that pass between them.

    Args:
        narrowness: a place separates two rooms if its width is at most this share of the width of
            the narrower room, above 0, below 1. Larger values make more rooms.
        widest_m: wider places never separate rooms (m).
        least_area_m2: smaller rooms are merged into a neighbour, or dropped without one (m²).
        reach_m: how far regions reach beyond the walkable ground, to the walls (m).
        height_m: height of regions above the ground (m); not used in 2D.
        eye_height_m: height of portals and rays above the ground (m); not used in 2D.
        passing: modalities that pass an opening, and the share that a closed one keeps per metre.
        sight: the modality that uses rays; None for none.
        sight_range_m: rooms farther apart are not tested for sight (m).
        sight_places: places in each room from which rays are cast, besides its middle and its openings (count).

    Raises:
        TypeError: if a setting is of another type.
        ValueError: if a setting is out of range.
    """

    narrowness: float = 0.7
    widest_m: float = 6.0
    least_area_m2: float = 1.0
    reach_m: float = 1.0
    height_m: float = 2.5
    eye_height_m: float = 1.5
    passing: Mapping[str, float] = field(default_factory=lambda: {"sight": 0.0, "hearing": 0.1, "smell": 0.0})
    sight: str | None = "sight"
    sight_range_m: float = 60.0
    sight_places: int = 8

    def __post_init__(self) -> None:
        finite_number("narrowness", self.narrowness, above=0, maximum=0.99)
        for name in ("widest_m", "height_m", "sight_range_m"):
            finite_number(name, getattr(self, name), above=0)
        for name in ("least_area_m2", "reach_m", "eye_height_m"):
            finite_number(name, getattr(self, name), minimum=0)
        whole_number("sight_places", self.sight_places, minimum=0, maximum=64)
        check_kind("sight", self.sight, str)
        shares_by_name("passing", self.passing)


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


class SenseGraphBaking(SteppedWork):
    """Bakes the sense graph of a level: create it, call ``advance`` until it is done, read ``result``.

    The same level gives the same graph, however the work is split into advances.

    Args:
        ground: the walkable ground.
        blocked: casts rays, see ``Blocked``; None for a level in which sight only passes openings.
        settings: see ``BakingSettings``.
        earlier: the previous graph, to bake again: regions and portals that are not ``is_baked`` stay as they are,
            baked ones that still exist keep name, id, attenuations and doors. No sight is baked between regions that a
            portal made by hand joins for sight.

    Attributes:
        stage: the current stage, in words.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if the level is too large for its cells.

    Cost: about 10 µs a cell of ground in all, 2.5 s for 250,000, and for each pair of regions in range the square of
    (places + openings + 1) rays. A step takes 30 to 100 µs, but the graph is made in one, 0.8 ms for 12 regions and 7
    ms for 150, and a few release or copy columns of all cells: 0.5 ms for 5,000, 5 ms for 65,000.
    """

    SHOWN = ("stage", "progress")

    def __init__(
        self, ground: WalkableGrid | WalkablePolygons, blocked: Blocked | None = None, *,
        settings: BakingSettings | None = None, earlier: SenseGraph | None = None,
    ) -> None:
        if not isinstance(ground, WalkableGrid | WalkablePolygons):
            raise TypeError(f"ground must be a WalkableGrid or WalkablePolygons, got {shown(ground)}")
        check_callables(blocked=blocked)
        check_kind("settings", settings, BakingSettings)
        check_kind("earlier", earlier, SenseGraph)
        self._settings = settings or BakingSettings()
        self._earlier = SenseGraph([]) if earlier is None else earlier
        _refuse_too_large(ground)
        self._ground, self._blocked = ground, blocked
        self.stage = "sampling the ground"
        self._progress = 0.0
        self._steps = self._bake()
        self._made: Any = None

    @property
    def is_done(self) -> bool:
        """True when ``result`` is available."""
        return self._made is not None

    @property
    def progress(self) -> float:
        """Progress, 0 to 1."""
        return self._progress

    @property
    def result(self) -> SenseGraph:
        """The graph.

        Raises:
            RuntimeError: if it is not done.
        """
        self._check_done()
        graph: SenseGraph = self._made[0]
        return graph

    @property
    def report(self) -> BakingReport:
        """Names of new, kept and removed regions and portals.

        Raises:
            RuntimeError: if it is not done.
        """
        self._check_done()
        report: BakingReport = self._made[1]
        return report

    def _bake(self) -> Generator[None, None, None]:
        settings, earlier = self._settings, self._earlier
        hand_made = [region for region in earlier.regions if not region.is_baked]
        cells = yield from self._stage("sampling the ground", 0.1, self._ground.cells())
        distance = yield from self._stage("measuring widths", 0.2, distances_to_walls(cells))
        region = yield from self._stage("dividing rooms", 0.2, _looked_up(cells, hand_made))
        is_taken = region != NOWHERE
        room = yield from self._stage("dividing rooms", 0.4, divided_ground(
            cells, distance, is_taken, narrowness=settings.narrowness, widest_m=settings.widest_m,
            least_area_m2=settings.least_area_m2))
        is_new = room != NO_ROOM
        region[is_new] = room[is_new] + len(hand_made)
        count = int(region.max()) + 1
        if count > MOST_REGIONS:
            raise ValueError(
                f"the level has {count} regions, more than {MOST_REGIONS}; lower narrowness or raise least_area_m2")
        known = yield from self._stage(
            "matching earlier rooms", 0.45, _earlier_names(earlier, cells, np.where(is_taken, NO_ROOM, region)))
        names = [one.name for one in hand_made] + self._names(range(len(hand_made), count), known)

        by_hand = ShapeLookup(one.shape for one in hand_made)

        def is_elsewhere(points: Floats) -> NDArray[np.bool_]:
            return np.asarray(by_hand(points.astype(np.float32)) != NOWHERE)

        boxes = yield from self._stage("building boxes", 0.65, room_boxes(
            cells, region, reach_m=settings.reach_m, height_m=settings.height_m,
            is_elsewhere=is_elsewhere if hand_made else None))
        shapes: dict[str, Shape] = {}
        for number in range(len(hand_made), count):
            shapes[names[number]] = boxes[number][0] if len(boxes[number]) == 1 else Boxes(boxes[number])
            yield
        doors = yield from self._stage("finding doors", 0.7, openings(cells, region))
        all_shapes = [*(one.shape for one in hand_made), *shapes.values()]
        pairs = yield from self._stage(
            "testing sight between rooms", 0.95, self._sight(cells, region, distance, doors, names, all_shapes))
        self._made = yield from self._stage("building the graph", 1.0, self._graph(shapes, cells, names, doors, pairs))
        self.stage = "done"

    def _stage(self, stage: str, until: float, work: Work[T]) -> Generator[None, None, T]:
        """Do a part of the work in steps, keep its progress, and return its result."""
        self.stage = stage
        begun = self._progress
        while True:
            try:
                share = next(work)
            except StopIteration as end:
                self._progress = until
                outcome: T = end.value
                return outcome
            self._progress = max(self._progress, begun + (until - begun) * share)
            yield

    def _names(self, numbers: range, known: dict[int, str]) -> list[str]:
        used = {region.name for region in self._earlier.regions}
        unused = (name for number in range(1, len(used) + len(numbers) + 1)
                  if (name := ROOM_NAME.format(number)) not in used)
        return [known[number] if number in known else next(unused) for number in numbers]

    def _sight(
        self, cells: GroundCells, room: Ids, distance: Ids, doors: list[Opening], names: list[str], shapes: list[Shape],
    ) -> Work[list[SightPair]]:
        settings = self._settings
        if self._blocked is None or settings.sight is None:
            return []
        numbers = {name: number for number, name in enumerate(names)}
        joined = {door.rooms for door in doors} if settings.sight in settings.passing else set()
        for portal in self._earlier.portals:
            ends = portal.from_region, portal.to_region
            if not portal.is_baked and settings.sight in portal.passages and {*ends} <= numbers.keys():
                one, other = sorted(numbers[name] for name in ends)
                joined.add((one, other))
        pairs = yield from sight_pairs(
            cells, room, distance, doors, joined, eye_m=self._over_m(cells), range_m=settings.sight_range_m,
            places=settings.sight_places, blocked=self._blocked, lookup=ShapeLookup(shapes))
        return pairs

    def _over_m(self, cells: GroundCells) -> float:
        return self._settings.eye_height_m if cells.up == "y" else 0.0

    def _graph(
        self, shapes: dict[str, Shape], cells: GroundCells, names: list[str], doors: list[Opening],
        pairs: list[SightPair],
    ) -> Work[tuple[SenseGraph, BakingReport]]:
        """Return the graph of found and hand-made regions and portals, and the changes.

        Cost: O(regions + portals found times portals made by hand), and for each two regions the square of the
        portals between them; the graph itself is made in one step.
        """
        earlier, report, regions = self._earlier, BakingReport([], [], [], []), []
        for region in earlier.regions:
            if region.is_baked and region.name not in shapes:
                report.gone.append(region.name)
                continue
            report.kept.append(region.name)
            regions.append(replace(region, shape=shapes[region.name], volume_m3=None) if region.is_baked else region)
            yield 0.0
        known = {region.name for region in regions}
        report.new.extend(name for name in shapes if name not in known)
        for name in report.new:
            regions.append(SenseRegion(name, shapes[name], is_baked=True))
            yield 0.2
        found: list[SensePortal] = []
        for door in doors:
            found.append(self._door(cells, names, door))
            yield 0.4
        for pair in pairs:
            found.append(self._line(names, pair))
            yield 0.4
        portals = yield from _portals(earlier, regions, found, report)
        # Both directions of a portal have one name.
        return SenseGraph(regions, portals), BakingReport(*(list(dict.fromkeys(one)) for one in report))

    def _door(self, cells: GroundCells, names: list[str], door: Opening) -> SensePortal:
        settings = self._settings
        start, end = (tuple(one) for one in cells.places(list(door.cells), self._over_m(cells)).tolist())
        area_m2 = door.width_m * (settings.height_m if cells.up == "y" else 1.0)
        here, there = (names[room] for room in door.rooms)
        return SensePortal(here, there, {
            sense: Passage(start, end, distance_m=door.distance_m, closed_kept_per_m=share, area_m2=area_m2)
            for sense, share in settings.passing.items()
        }, f"{here}-{there}", is_baked=True)

    def _line(self, names: list[str], pair: SightPair) -> SensePortal:
        sight = self._settings.sight
        assert sight is not None      # else there are no pairs
        here, there = (names[room] for room in pair.rooms)
        passage = Passage(
            pair.start, pair.end, distance_m=math.dist(pair.start, pair.end),
            closed_kept_per_m=self._settings.passing.get(sight, 0.0))
        return SensePortal(here, there, {sight: passage}, f"{here}{SEES}{there}", is_baked=True)


def _refuse_too_large(ground: WalkableGrid | WalkablePolygons) -> None:
    """Raise before anything large is made."""
    area_m2 = max(ground.area_m2, ground.sampled_m2 / WASTE)
    if area_m2 / ground.cell_m**2 > MOST_CELLS:
        enough = (area_m2 / MOST_CELLS) ** 0.5
        raise ValueError(
            f"the level is too large: {area_m2:.0f} m² with a cell_m of {ground.cell_m:g} need more than"
            f" {MOST_CELLS} cells; use a cell_m of {enough * 1.01:.2g} or more, or bake the level in parts")


def _looked_up(cells: GroundCells, regions: list[SenseRegion]) -> Work[Ids]:
    """Return the region of every cell, ``NOWHERE`` for none. Cost: one look-up a cell."""
    found = np.full(len(cells), NOWHERE, np.int64)
    if regions:
        lookup = ShapeLookup(one.shape for one in regions)
        for part in blocks(len(cells)):
            found[part] = lookup(cells.places(part, OVER_GROUND_M if cells.up == "y" else 0.0).astype(np.float32))
            yield part.start / len(cells)
    return found


def _earlier_names(earlier: SenseGraph, cells: GroundCells, room: Ids) -> Work[dict[int, str]]:
    """Return the names that rooms had in the earlier graph."""
    baked = [region for region in earlier.regions if region.is_baked]
    if not baked:
        return {}
    before = yield from _looked_up(cells, baked)
    counts: Counter[tuple[int, int]] = Counter()
    for part in blocks(len(cells)):
        counts.update(zip(before[part].tolist(), room[part].tolist(), strict=True))
        yield 1.0
    all_before: Counter[int] = Counter()
    all_now: Counter[int] = Counter()
    for (old, new), shared in counts.items():
        all_before[old] += shared
        all_now[new] += shared
    names: dict[int, str] = {}
    for old, new in sorted(counts, key=lambda pair: (-counts[pair], *pair)):
        is_same = old != NOWHERE and new != NO_ROOM and (
            counts[old, new] >= SHARED * min(all_before[old], all_now[new]))
        if is_same and new not in names and baked[old].name not in names.values():
            names[new] = baked[old].name
    return names


def _portals(
    earlier: SenseGraph, regions: list[SenseRegion], found: list[SensePortal], report: BakingReport
) -> Work[list[SensePortal]]:
    """Return the portals of the earlier graph that are still there, in their order, and then new ones."""
    still = _same_doors(earlier, found)
    by_hand = [portal for portal in earlier.portals if not portal.is_baked]
    portals = []
    for number, portal in enumerate(earlier.portals):
        before = replace(portal, is_open=earlier.is_open(number))
        if portal.is_baked:
            here = still.get(_door_of(portal))
            now, lost = None if here is None else _measured(before, found[here]), report.gone
        else:
            now, lost = _attached(before, regions), report.dropped
        (lost if now is None else report.kept).append(portal.name or f"{portal.from_region} to {portal.to_region}")
        portals += [] if now is None else [now]
        yield 0.6
    used, known = {portal.name for portal in earlier.portals}, {*still.values()}
    for index, new in enumerate(found):
        if index not in known and not any(
                _ends(one) == _ends(new) and one.passages.keys() >= new.passages.keys()
                and _moved_m(one, new) <= SAME_DOOR_M for one in by_hand):
            numbered = (f"{new.name} {copy}" for copy in count(2))
            name = next(name for name in chain([new.name], numbered) if name not in used)
            used.add(name)
            report.new.append(name)
            there = replace(new, name=name)
            portals += [there, there.back()]
        yield 0.8
    return portals


Door = tuple[frozenset[str], str]
"""The regions of a baked portal, and its name: both directions are one door."""


def _ends(portal: SensePortal) -> frozenset[str]:
    return frozenset((portal.from_region, portal.to_region))


def _door_of(portal: SensePortal) -> Door:
    return _ends(portal), portal.name


def _same_doors(earlier: SenseGraph, found: list[SensePortal]) -> dict[Door, int]:
    """Return for each baked door of the earlier graph the index of the same one now; the nearest pairs first."""
    doors: dict[tuple[frozenset[str], bool], dict[Door, SensePortal]] = {}
    for portal in earlier.portals:
        if portal.is_baked:
            doors.setdefault((_ends(portal), SEES in portal.name), {}).setdefault(_door_of(portal), portal)
    choices = []
    for index, new in enumerate(found):
        is_sight = SEES in new.name
        for order, (door, portal) in enumerate(doors.get((_ends(new), is_sight), {}).items()):
            moved_m = _moved_m(portal, new)
            if is_sight or moved_m <= SAME_DOOR_M:
                choices.append((moved_m, index, order, door))
    same: dict[Door, int] = {}
    for _, index, _, door in sorted(choices, key=lambda choice: choice[:3]):
        if door not in same and index not in same.values():
            same[door] = index
    return same


def _first_passage(portal: SensePortal) -> Passage | None:
    return portal.passages[min(portal.passages)] if portal.passages else None


def _moved_m(portal: SensePortal, new: SensePortal) -> float:
    """Return the distance of a portal from a new one between its regions (m)."""
    before, now = _first_passage(portal), _first_passage(new)
    if before is None or now is None:
        return 0.0
    return math.dist(before.start if portal.from_region == new.from_region else before.end or before.start, now.start)


def _measured(portal: SensePortal, new: SensePortal) -> SensePortal:
    """Return a baked portal at its present place; the senses that pass, and the shares kept, stay as they were set."""
    now = _first_passage(new if portal.from_region == new.from_region else new.back())
    if now is None:
        return portal
    return replace(portal, passages={
        sense: replace(one, start=now.start, end=now.end, distance_m=now.distance_m, area_m2=now.area_m2)
        for sense, one in portal.passages.items()})


def _attached(portal: SensePortal, regions: list[SenseRegion]) -> SensePortal | None:
    """Return a portal made by hand; an end whose region is gone leads to the present region at its place, if any."""
    passage = _first_passage(portal)
    known = {region.name for region in regions}
    ends = []
    for name, is_start in ((portal.from_region, True), (portal.to_region, False)):
        if name not in known:
            if passage is None:
                return None
            graph = SenseGraph(regions)
            there = graph.region_at(passage.start if is_start else passage.end or passage.start)
            if there == NOWHERE:
                return None
            name = regions[there].name
        ends.append(name)
    return None if ends[0] == ends[1] else replace(portal, from_region=ends[0], to_region=ends[1])
