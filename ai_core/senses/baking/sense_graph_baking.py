"""A sense graph from a level: rooms cut out of its ground, doors between them, and sight between rooms.

Rooms are separated where the ground is narrow, portals stand where rooms touch, and rays
find pairs of rooms that see each other. Regions and portals made by hand stay.
"""
from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget, check_budget
from ai_core.errors import finite_number, shown, whole_number
from ai_core.senses.baking.sense_graph_baking_again import (
    BakedLink,
    BakingReport,
    check_earlier,
    joined_by_hand,
    make_graph,
    names_of_rooms,
)
from ai_core.senses.baking.sense_graph_baking_ground import GroundCells, WalkableGrid, WalkablePolygons
from ai_core.senses.baking.sense_graph_baking_openings import Opening, openings
from ai_core.senses.baking.sense_graph_baking_rooms import NO_ROOM, NarrowSettings, distances_to_walls, rooms
from ai_core.senses.baking.sense_graph_baking_shapes import RegionReach, room_boxes
from ai_core.senses.baking.sense_graph_baking_sight import Blocked, SightPair, SightSampling, sight_pairs
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_lookup import NOWHERE, ShapeLookup
from ai_core.senses.graph.sense_graph_parts import SenseRegion
from ai_core.senses.graph.sense_graph_shapes import Boxes, Shape

__all__ = ["BakingSettings", "SenseGraphBaking"]

MOST_CELLS = 250_000
"""Cells of one level (count), 15,600 m² in cells of 0.25 m: baking takes about 3 s then."""

MOST_REGIONS = 2_000
"""Most regions of one level (count): each pair in range is tested for sight."""

WASTE = 16
"""How much larger than the ground the boxes around all its polygons may be together."""

OVER_GROUND_M = 0.1

ROOM_NAME = "Room{}"

T = TypeVar("T")

Work = Generator[float, None, T]


@dataclass(frozen=True)
class BakingSettings:
    """How a level is cut into regions, and what passes between them.

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
        sight_places: places in each room from which rays are cast, besides its middle and
            its openings (count).
        most_cells, most_regions: limits; larger levels are refused.

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
    passing: Mapping[str, float] = field(
        default_factory=lambda: {"sight": 0.0, "hearing": 0.1, "smell": 0.0})
    sight: str | None = "sight"
    sight_range_m: float = 60.0
    sight_places: int = 8
    most_cells: int = MOST_CELLS
    most_regions: int = MOST_REGIONS

    def __post_init__(self) -> None:
        finite_number("narrowness", self.narrowness, above=0, maximum=0.99)
        for name in ("widest_m", "height_m", "sight_range_m"):
            finite_number(name, getattr(self, name), above=0)
        for name in ("least_area_m2", "reach_m", "eye_height_m"):
            finite_number(name, getattr(self, name), minimum=0)
        whole_number("sight_places", self.sight_places, minimum=0, maximum=64)
        whole_number("most_cells", self.most_cells, minimum=1)
        whole_number("most_regions", self.most_regions, minimum=1)
        if self.sight is not None and not isinstance(self.sight, str):
            raise TypeError(f"sight must be the name of a modality or None, got {shown(self.sight)}")
        if not isinstance(self.passing, Mapping):
            raise TypeError(f"passing must map modality names to shares, got {shown(self.passing)}")
        for sense, share in self.passing.items():
            if not isinstance(sense, str):
                raise TypeError(f"a key of passing must be a string, got {shown(sense)}")
            finite_number(f"passing[{sense!r}]", share, minimum=0, maximum=1)


class SenseGraphBaking:
    """Bakes the sense graph of a level: create it, call ``advance`` until it is done, read ``result``.

    The same level gives the same graph, however the work is split into advances.

    Args:
        ground: the walkable ground.
        blocked: casts rays, see ``Blocked``; None for a level in which sight only passes
            openings.
        settings: how to cut the level.
        earlier: the previous graph, to bake again: regions and portals that are not
            ``is_baked`` stay as they are, baked ones that still exist keep name,
            id, attenuations and doors. No sight is baked between regions that a portal made
            by hand joins for sight.

    Attributes:
        stage: the current stage, in words.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if the level is too large for its cells.

    Cost: about 10 µs a cell of ground in all, 2.5 s for 250,000, and for each pair of regions in
    range the square of (places + openings + 1) rays. A step takes about 0.3 ms, but a few
    sort all cells: up to 20 ms for 15,000, 150 ms for 250,000.
    """

    def __init__(
        self, ground: WalkableGrid | WalkablePolygons, blocked: Blocked | None = None, *,
        settings: BakingSettings | None = None, earlier: SenseGraph | None = None,
    ) -> None:
        if not isinstance(ground, WalkableGrid | WalkablePolygons):
            raise TypeError(f"ground must be a WalkableGrid or WalkablePolygons, got {shown(ground)}")
        if blocked is not None and not callable(blocked):
            raise TypeError(f"blocked must be a callable or None, got {shown(blocked)}")
        self._settings = BakingSettings() if settings is None else settings
        if not isinstance(self._settings, BakingSettings):
            raise TypeError(f"settings must be BakingSettings, got {shown(settings)}")
        self._earlier = SenseGraph([]) if earlier is None else check_earlier(earlier)
        _refuse_too_large(ground, self._settings.most_cells)
        self._ground, self._blocked = ground, blocked
        self.stage = "looking at the ground"
        self._progress = 0.0
        self._steps: Iterator[None] | None = self._bake()
        self._made: tuple[SenseGraph, BakingReport] | None = None

    @property
    def is_done(self) -> bool:
        """True when ``result`` is available."""
        return self._made is not None

    @property
    def is_cancelled(self) -> bool:
        """True after ``cancel``, and after an error: there will be no result."""
        return self._steps is None and self._made is None

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
        return self._outcome()[0]

    @property
    def report(self) -> BakingReport:
        """Names of new, kept and removed regions and portals.

        Raises:
            RuntimeError: if it is not done.
        """
        return self._outcome()[1]

    def advance(self, budget: Budget) -> None:
        """Continue until done or until the budget is spent, at least one step; each step costs one.

        Raises:
            RuntimeError: if it was cancelled.
            ValueError: if there are too many regions.
        """
        check_budget(budget)
        if self.is_cancelled:
            raise RuntimeError("baking was cancelled or has failed; make a new SenseGraphBaking")
        while self._steps is not None:
            steps, self._steps = self._steps, None      # an error ends it
            if next(steps, True) is True:
                return
            self._steps = steps
            budget.spend()
            if budget.is_spent:
                return

    def cancel(self) -> None:
        """Stop, and drop the unfinished graph; does nothing when done."""
        self._steps = None

    def _outcome(self) -> tuple[SenseGraph, BakingReport]:
        if self._made is None:
            raise RuntimeError("baking has no result yet; call advance until is_done")
        return self._made

    def _bake(self) -> Generator[None, None, None]:
        settings, earlier = self._settings, self._earlier
        cells = yield from self._stage("looking at the ground", 0.1, self._ground.cells())
        distance = yield from self._stage("measuring widths", 0.15, distances_to_walls(cells))
        mine = yield from self._stage("looking for what is there", 0.2, self._by_hand(cells))
        narrow = NarrowSettings(settings.narrowness, settings.widest_m, settings.least_area_m2)
        room = yield from self._stage(
            "cutting rooms", 0.4, rooms(cells, distance, mine != NO_ROOM, narrow))
        hand_made = [region for region in earlier.regions if not region.is_baked]
        room[room != NO_ROOM] += len(hand_made)
        room[mine != NO_ROOM] = mine[mine != NO_ROOM]
        count = int(room.max()) + 1
        self._refuse_too_many(count)
        places = cells.places(slice(None), self._over_m(cells)).astype(np.float32)
        found = np.where(mine == NO_ROOM, room, NO_ROOM)
        known = yield from self._stage(
            "looking for what was there", 0.45, names_of_rooms(earlier, places, found))
        names = [region.name for region in hand_made]
        names += self._names(range(len(hand_made), count), known)
        lookup = ShapeLookup([_shape(region) for region in hand_made])

        def is_elsewhere(points: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
            found: NDArray[np.bool_] = lookup(points.astype(np.float32)) != NOWHERE
            return found

        boxes = yield from self._stage("drawing walls", 0.65, room_boxes(
            cells, room, RegionReach(settings.reach_m, settings.height_m),
            is_elsewhere if hand_made else None))
        shapes: dict[str, Shape] = {
            names[number]: boxes[number][0] if len(boxes[number]) == 1 else Boxes(boxes[number])
            for number in range(len(hand_made), count)
        }
        ways = yield from self._stage("looking for doors", 0.7, openings(cells, room))
        whole = ShapeLookup([*(_shape(region) for region in hand_made), *shapes.values()])
        pairs = yield from self._stage(
            "looking from room to room", 0.95, self._sight(cells, room, distance, ways, names, whole))
        found_ways = self._ways(cells, names, ways, pairs)
        self._made = yield from self._stage(
            "making the graph", 1.0, make_graph(earlier, shapes, found_ways))
        self.stage = "done"

    def _stage(self, stage: str, until: float, work: Work[T]) -> Generator[None, None, T]:
        """Do a part of the work, keep how far it has come, and return what came of it."""
        self.stage = stage
        begun = self._progress
        while True:
            try:
                share = next(work)
            except StopIteration as end:
                self._progress = until
                outcome: T = end.value
                return outcome
            self._progress = begun + (until - begun) * share
            yield

    def _by_hand(self, cells: GroundCells) -> Work[NDArray[np.int64]]:
        """Return the region made by hand of every cell, ``NO_ROOM`` for none."""
        shapes = [_shape(one) for one in self._earlier.regions if not one.is_baked]
        yield 0.0
        if not shapes:
            return np.full(len(cells), NO_ROOM, np.int64)
        places = cells.places(slice(None), self._over_m(cells)).astype(np.float32)
        return ShapeLookup(shapes)(places).astype(np.int64)

    def _over_m(self, cells: GroundCells) -> float:
        return OVER_GROUND_M if cells.up == "y" else 0.0

    def _names(self, numbers: range, known: dict[int, str]) -> list[str]:
        used = {region.name for region in self._earlier.regions}
        names = []
        fresh = 1
        for number in numbers:
            if number not in known:
                while ROOM_NAME.format(fresh) in used:
                    fresh += 1
                known[number] = ROOM_NAME.format(fresh)
                used.add(known[number])
            names.append(known[number])
        return names

    def _sight(
        self, cells: GroundCells, room: NDArray[np.int64], distance: NDArray[np.int64],
        ways: list[Opening], names: list[str], lookup: ShapeLookup,
    ) -> Work[list[SightPair]]:
        settings = self._settings
        if self._blocked is None or settings.sight is None:
            return []
        numbers = {name: number for number, name in enumerate(names)}
        joined = {way.rooms for way in ways} if settings.sight in settings.passing else set()
        for pair in joined_by_hand(self._earlier, settings.sight):
            if pair <= numbers.keys():
                one, other = sorted(numbers[name] for name in pair)
                joined.add((one, other))
        eye_m = settings.eye_height_m
        pairs = yield from sight_pairs(
            cells, room, distance, ways, joined,
            SightSampling(eye_m, settings.sight_range_m, settings.sight_places), self._blocked, lookup)
        return pairs

    def _ways(
        self, cells: GroundCells, names: list[str], ways: list[Opening], pairs: list[SightPair]
    ) -> list[BakedLink]:
        settings = self._settings
        over_m, high_m = (settings.eye_height_m, settings.height_m) if cells.up == "y" else (0.0, 1.0)
        found = []
        for way in ways:
            start, end = cells.places(list(way.cells), over_m).tolist()
            found.append(BakedLink(
                (names[way.rooms[0]], names[way.rooms[1]]), tuple(start), tuple(end),
                way.distance_m, way.width_m * high_m, dict(settings.passing), False))
        for pair in pairs:
            assert settings.sight is not None      # else there are no pairs
            length_m = float(np.linalg.norm(np.subtract(pair.end, pair.start)))
            found.append(BakedLink(
                (names[pair.rooms[0]], names[pair.rooms[1]]), pair.start, pair.end, length_m, 1.0,
                {settings.sight: settings.passing.get(settings.sight, 0.0)}, True))
        return found

    def _refuse_too_many(self, count: int) -> None:
        if count > self._settings.most_regions:
            raise ValueError(
                f"the level has {count} regions, the maximum is most_regions, {self._settings.most_regions};"
                " lower narrowness, or raise least_area_m2 or most_regions")


def _refuse_too_large(ground: WalkableGrid | WalkablePolygons, most_cells: int) -> None:
    """Raise before anything large is made."""
    area_m2 = max(ground.area_m2, ground.looked_at_m2 / WASTE)
    if area_m2 / ground.cell_m**2 > most_cells:
        enough = (area_m2 / most_cells) ** 0.5
        raise ValueError(
            f"the level is too large: {area_m2:.0f} m² with a cell_m of {ground.cell_m:g} need more than"
            f" {most_cells} cells; use a cell_m of {enough * 1.01:.2g} or more, bake the level in parts,"
            " or raise most_cells")


def _shape(region: SenseRegion) -> Shape:
    assert region.shape is not None      # check_earlier has seen to it
    return region.shape
