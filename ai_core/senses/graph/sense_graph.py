"""The sense graph: regions in which signals travel freely, and portals between them."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import UnknownNameError, check_type, finite_number, named, point, several, whole_number
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import Flag, MapOf, Number, Optional, Row
from ai_core.saving.kinds import Point as PointKind
from ai_core.senses.graph.parts import Passage, SensePortal, SenseRegion, Shape
from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import SourceTable

__all__ = [
    "NOWHERE", "Leg", "PassageTable", "SenseGraph", "SensedGraph", "ShapeLookup", "expanded", "lengths", "rows_in"]

NOWHERE = -1
"""Region of a position that lies in none."""

MOST_CELLS_AN_AXIS = 64
"""Cells of the lookup grid along one axis (count); 64³ cells take 2 MB."""

STEP_M = 0.4
"""Distance between the points of a line at which its regions are looked up (m); narrower regions may be missed."""

STILL: Point = (0.0, 0.0, 0.0)

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

Leg = tuple[int, float, float]
"""The next row after a passage, the metres to its start, and the share kept on them."""


class ShapeLookup:
    """Finds regions by their shapes; where several meet, the one with the smallest id.

    Cost: making O(parts of regions), finding O(positions times parts that meet in one grid cell).
    """

    def __init__(self, regions: Iterable[Shape]) -> None:
        owned = [(number, part) for number, region in enumerate(regions) for part in region.parts]
        shapes = [part for _, part in owned]
        self._owners = np.array([number for number, _ in owned], np.int32)
        self._low = np.array([one.minimum for one in shapes], np.float64).reshape(-1, 3)
        self._high = np.array([one.maximum for one in shapes], np.float64).reshape(-1, 3)
        most = max((len(one.edges) for one in shapes), default=0)
        edges = [[*one.edges, *[(0.0, 0.0, 0.0, 1.0)] * (most - len(one.edges))] for one in shapes]
        self._edges = np.array(edges, np.float64).reshape(len(shapes), most, 4)
        self._origin = self._low.min(axis=0) if shapes else np.zeros(3)
        extent = (self._high.max(axis=0) if shapes else np.ones(3)) - self._origin
        typical = (self._high - self._low).mean(axis=0) if shapes else np.ones(3)
        self._cells = np.clip(np.floor(extent / typical), 1, MOST_CELLS_AN_AXIS).astype(np.int64)
        self._cell_m, self._last_cell = extent / self._cells, self._cells - 1.0
        self._strides = np.array([self._cells[1] * self._cells[2], self._cells[2], 1])
        cells, parts = self._parts_in_cells()
        self._parts = np.array(parts, np.int32)
        self._first = np.searchsorted(np.array(cells, np.int64), np.arange(self._cells.prod() + 1))

    def __call__(self, places: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the regions of positions, ``NOWHERE`` for those in none."""
        found = np.full(len(places), NOWHERE, np.int32)
        where = places.astype(np.float64)
        cells = self._steps(where) @ self._strides
        first, end = self._first[cells], self._first[cells + 1]
        rows = np.flatnonzero(first < end)
        first, end = first[rows], end[rows]
        while len(rows):
            parts, at = self._parts[first], where[rows]
            inside = ((at >= self._low[parts]) & (at <= self._high[parts])).all(axis=1)
            if self._edges.shape[1]:
                edges = self._edges[parts]
                inside &= ((edges[..., :3] * at[:, np.newaxis]).sum(axis=2) <= edges[..., 3]).all(axis=1)
            found[rows[inside]] = self._owners[parts[inside]]
            first += 1
            is_open = ~inside & (first < end)
            rows, first, end = rows[is_open], first[is_open], end[is_open]
        return found

    def _steps(self, where: Floats) -> Rows:
        """Return the cell of positions along each axis; positions outside the grid get a cell at its border."""
        steps = np.floor((where - self._origin) / self._cell_m)
        cells: Rows = np.minimum(np.maximum(steps, 0), self._last_cell).astype(np.int64)
        return cells

    def _parts_in_cells(self) -> tuple[list[int], list[int]]:
        """Return the pairs of cells and the parts that reach into them, in order."""
        ends = zip(self._steps(self._low).tolist(), self._steps(self._high).tolist(), strict=True)
        across, deep, _ = self._strides.tolist()
        pairs = sorted(
            (x * across + y * deep + z, part) for part, (low, high) in enumerate(ends)
            for x, y, z in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))))
        return [cell for cell, _ in pairs], [part for _, part in pairs]


class SenseGraph(Saveable):
    """The regions and portals of a level; the id of each is its index.

    A save holds which portals are open, and the winds; regions and portals themselves belong to the level. Portals are
    matched by name and regions, those that are alike in their order; a portal that is not in the save keeps its state.

    Args:
        regions: every region.
        portals: every portal.

    Attributes:
        regions: by id.
        portals: by id, as passed in.
        lookup: finds the regions of many positions.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if two regions have the same name.
        UnknownNameError: if a portal leads to an unknown region.

    Source: 001_world_interfacing, finite element model sense manager.
    """

    SHOWN = ("modalities", "regions")

    STATE = DeclaredState(
        portals=MapOf(Row(lambda *state: state, Flag(), Optional(Number())), at="_portal_states"),
        wind=PointKind(3, at="_velocity"))

    def __init__(self, regions: Iterable[SenseRegion], portals: Iterable[SensePortal] = ()) -> None:
        self.regions = several("regions", regions, SenseRegion)
        self.portals = several("portals", portals, SensePortal)
        self._region_ids: dict[str, int] = {}
        for region in self.regions:
            if region.name in self._region_ids:
                raise ValueError(f"regions must have unique names, got {region.name!r} twice")
            self._region_ids[region.name] = len(self._region_ids)
        self._named: dict[str, list[int]] = {}
        self._keys: dict[str, int] = {}      # by name and regions, to match portals of a save
        for number, portal in enumerate(self.portals):
            self.region_id(portal.from_region)
            self.region_id(portal.to_region)
            if portal.name:
                self._named.setdefault(portal.name, []).append(number)
            key = alike = f"{portal.name}: {portal.from_region} to {portal.to_region}"
            copies = 1
            while key in self._keys:
                copies += 1
                key = f"{alike} ({copies})"
            self._keys[key] = number
        self.lookup = ShapeLookup(region.shape for region in self.regions)
        self._is_open = [portal.is_open for portal in self.portals]
        self._velocity = STILL
        self._winds: dict[int, float] = {}
        self._tables: dict[tuple[str, float], PassageTable] = {}

    @property
    def modalities(self) -> list[str]:
        """Names of all modalities in regions and portals, sorted."""
        found = {name for portal in self.portals for name in portal.passages}
        for region in self.regions:
            found |= {*region.kept_per_m, *region.dissipation}
        return sorted(found)

    def region_id(self, region: str | int) -> int:
        """Return the id of a region, given by its name or its id.

        Raises:
            UnknownNameError: if there is none.
        """
        if isinstance(region, str):
            return named("region", region, self._region_ids)
        return _number("region", region, self._region_ids, len(self.regions))

    def region_at(self, position: ArrayLike) -> int:
        """Return the id of the region that contains a position (m), ``NOWHERE`` (-1) for none."""
        return int(self.lookup(point("position", position)[np.newaxis])[0])

    def is_open(self, portal: str | int) -> bool:
        """Return True if a portal is open, given by its name or its id."""
        return self._is_open[self._portal_ids(portal)[0]]

    def set_open(self, portal: str | int, is_open: bool) -> None:
        """Open or close a portal given by its id, or all portals of a name.

        Raises:
            TypeError: if ``is_open`` is not a bool.
            UnknownNameError: if there is no such portal.

        Cost: O(portals of that name) and senses in use.
        """
        check_type("is_open", is_open, bool)
        for portal_id in self._portal_ids(portal):
            self._is_open[portal_id] = is_open
            for table in self._tables.values():
                table.set_open(portal_id, is_open)

    def set_portal_wind(self, portal: str | int, wind_m_per_s: float | None) -> None:
        """Set the wind through a portal, such as that of a fan or a draught.

        Args:
            portal: its id, or the name of several. Of portals of one name, those in the
                direction of the first have a tail wind, those in the other direction a head wind.
            wind_m_per_s: speed (m/s), negative against the portal; 0 for that of ``set_wind``, None for
                that of its passages.

        Raises:
            TypeError, ValueError: if it is not a number.
            UnknownNameError: if there is no such portal.

        Cost: O(portals of that name).
        """
        wind = None if wind_m_per_s is None else finite_number("wind_m_per_s", wind_m_per_s)
        portal_ids = self._portal_ids(portal)
        first = self.portals[portal_ids[0]]
        for number in portal_ids:
            if wind is None:
                self._winds.pop(number, None)
            else:
                self._winds[number] = -wind if self.portals[number].to_region == first.from_region else wind
        self._put_winds(portal_ids)

    def portal_wind(self, portal: str | int) -> float | None:
        """Return the last value of ``set_portal_wind`` for a portal (m/s), None if there is none.

        Raises:
            UnknownNameError: if there is no such portal.
        """
        return self._winds.get(self._portal_ids(portal)[0])

    def set_wind(self, velocity: ArrayLike) -> None:
        """Set the wind over the whole level (m/s): smells drift with it from region to region.

        The wind through a portal is its component along the portal: from its start to its end, or, where these are the
        same, from the middle of its region to that of the next. A portal with a wind of its own keeps that.

        Raises:
            TypeError, ValueError: if it is not a velocity.

        Cost: O(portals).
        """
        x, y, z = point("velocity", velocity).tolist()
        self._velocity = (x, y, z)
        self._put_winds(range(len(self.portals)))

    def table(self, modality: Modality) -> PassageTable:
        """Return the passages of one modality as arrays; kept up to date."""
        key = (modality.name, modality.kept_per_m)
        if key not in self._tables:
            self._tables[key] = PassageTable(self, modality, self._is_open)
            self._put_winds(range(len(self.portals)))
        return self._tables[key]

    def _put_winds(self, portal_ids: Iterable[int]) -> None:
        for number in portal_ids:
            for table in self._tables.values():
                passage = self.portals[number].passages.get(table.sense)
                if passage is not None:
                    table.set_wind(number, self._wind_through(number, passage))

    def _wind_through(self, number: int, passage: Passage) -> float:
        """Return the speed of the air through a passage of a portal (m/s)."""
        own = self._winds.get(number, passage.wind_m_per_s)
        if own or self._velocity == STILL:
            return own
        start, end = passage.start, passage.end or passage.start
        if start == end:
            portal = self.portals[number]
            start, end = (self._middle(name) for name in (portal.from_region, portal.to_region))
        offset = [b - a for a, b in zip(start, end, strict=True)]
        length = math.hypot(*offset)
        return sum(v * w for v, w in zip(self._velocity, offset, strict=True)) / length if length else 0.0

    def _middle(self, region: str) -> Point:
        shape = self.regions[self._region_ids[region]].shape
        x, y, z = ((a + b) / 2 for a, b in zip(shape.minimum, shape.maximum, strict=True))
        return (x, y, z)

    def _portal_ids(self, portal: str | int) -> list[int]:
        if isinstance(portal, str):
            return named("portal", portal, self._named)
        return [_number("portal", portal, self._named, len(self.portals))]

    @property
    def _portal_states(self) -> dict[str, tuple[bool, float | None]]:
        """Doors and winds by key; setting it applies those of known portals."""
        return {key: (self._is_open[number], self._winds.get(number)) for key, number in self._keys.items()}

    @_portal_states.setter
    def _portal_states(self, states: dict[str, tuple[bool, float | None]]) -> None:
        for key, (is_open, wind_m_per_s) in states.items():
            number = self._keys.get(key)
            if number is not None:
                self._winds.pop(number, None)
                if wind_m_per_s is not None:
                    self._winds[number] = wind_m_per_s
                if is_open != self._is_open[number]:
                    self.set_open(number, is_open)

    def _finish_load(self) -> None:
        self._put_winds(range(len(self.portals)))


class PassageTable:
    """All passages of one modality, one row each, by the region they leave, then by portal.

    Opening a door changes one number per passage, and those of lines of baked sight that lead through it; nothing else
    is computed again.

    Args:
        modality: its share kept per metre is that of regions without one of their own.
        is_open: which portals are open now, by id.

    Attributes:
        portal, from_region, to_region: (rows,) int32 ids.
        start, end: (rows, 3) float64 (m).
        distance_m, area_m2, wind_m_per_s: (rows,) float64.
        kept: (rows,) float64, share of the intensity that passes now.
        kept_open: (rows,) float64, the larger of the shares that pass open and closed.
        is_relayed: (rows,) bool.
        mirror, mirror_m: (rows, 3) and (rows,) float64, unit normal and radius of mirrors, 0 for other passages.
        kept_per_m, dissipation: (regions,) float64, shares kept per metre and lost per second.
        across_m: (regions,) float64, upper limit of the distance of two points of a region (m).
        out_first: (regions + 1,) int64; rows ``out_first[r]`` to ``out_first[r + 1]`` leave r.
        in_first, in_rows: rows that lead into r begin at ``in_rows[in_first[r]]``.
        leg_first: (rows + 1,) int64; a leg is the straight line from a row to a passage that leaves
            the region it leads to. Legs of a row begin there, in the order of those passages.
        leg_distance_m, leg_kept: (legs,) float64.
        length_of, kept_of: ``distance_m`` and ``kept`` as lists, for loops.
        changes: changes of ``kept`` or ``wind_m_per_s`` so far (count).

    Cost: memory O(passages * passages that leave a region), 32 bytes each.
    """

    def __init__(self, graph: SenseGraph, modality: Modality, is_open: Sequence[bool]) -> None:
        self.sense = name = modality.name
        regions = graph.regions
        rows = sorted(
            (graph.region_id(portal.from_region), number, graph.region_id(portal.to_region))
            for number, portal in enumerate(graph.portals) if name in portal.passages)
        passages = [graph.portals[number].passages[name] for _, number, _ in rows]
        self.from_region, self.portal, self.to_region = np.array(rows, np.int32).reshape(-1, 3).T.copy()
        self.start = np.array([one.start for one in passages], np.float64).reshape(-1, 3)
        self.end = np.array([one.end for one in passages], np.float64).reshape(-1, 3)
        self.distance_m = np.array([one.distance_m for one in passages], np.float64)
        self.area_m2 = np.array([one.area_m2 for one in passages], np.float64)
        self.wind_m_per_s = np.zeros(len(rows))
        self.is_relayed = np.array([one.is_relayed for one in passages], np.bool_)
        self.mirror = np.array([one.mirror_normal or STILL for one in passages], np.float64).reshape(-1, 3)
        self.mirror_m = np.sqrt(self.area_m2 / np.pi) * self.mirror.any(axis=1)
        self._kept_if = {
            True: [_share(one.kept_per_m, one.distance_m) for one in passages],
            False: [_share(one.closed_kept_per_m, one.distance_m) for one in passages]}
        self.kept_open = np.array([max(both) for both in zip(*self._kept_if.values(), strict=True)], np.float64)
        self._own = [self._kept_if[is_open[number]][row] for row, (_, number, _) in enumerate(rows)]
        self._doors = DoorsOnLines(self, [
            row for row, (_, number, _) in enumerate(rows)
            if graph.portals[number].is_baked and len(graph.portals[number].passages) == 1], graph.lookup)
        kept = [own * self._doors.share(row, self._own) for row, own in enumerate(self._own)]
        self.kept = np.array(kept, np.float64)
        self.kept_per_m = np.array([one.kept_per_m.get(name, modality.kept_per_m) for one in regions], np.float64)
        self.dissipation = np.array([one.dissipation.get(name, 0.0) for one in regions], np.float64)
        self.across_m = np.array([math.dist(one.shape.minimum, one.shape.maximum) for one in regions])
        self._row_of = {number: row for row, (_, number, _) in enumerate(rows)}
        self.out_first = _first_of_each(self.from_region, len(regions))
        self.in_first = _first_of_each(self.to_region, len(regions))
        self.in_rows = np.argsort(self.to_region, kind="stable").astype(np.int64)
        came, goes = expanded(self.out_first, self.to_region)
        self.leg_first = _first_of_each(came, len(self))
        self.leg_distance_m = lengths(self.end[came] - self.start[goes])
        self.leg_kept = np.float_power(self.kept_per_m[self.to_region[came]], self.leg_distance_m)
        self.length_of, self.kept_of = self.distance_m.tolist(), kept
        self.changes = 0
        self._legs: dict[int, list[Leg]] = {}

    def __len__(self) -> int:
        return len(self.portal)

    def set_open(self, portal: int, is_open: bool) -> None:
        """Take the state of a portal, by id; one without this sense is ignored."""
        row = self._row_of.get(portal)
        if row is None:
            return
        self._own[row] = self._kept_if[is_open][row]
        for changed in (row, *self._doors.lines_through(row)):
            self.kept[changed] = self.kept_of[changed] = self._own[changed] * self._doors.share(changed, self._own)
        self.changes += 1

    def set_wind(self, portal: int, wind_m_per_s: float) -> None:
        """Take the wind through a portal with this sense, by id (m/s)."""
        row = self._row_of[portal]
        self.changes += bool(wind_m_per_s != self.wind_m_per_s[row])
        self.wind_m_per_s[row] = wind_m_per_s

    def legs(self, row: int) -> list[Leg]:
        """Return the legs from a row to the passages that follow it."""
        found = self._legs.get(row)
        if found is None:
            legs = slice(*self.leg_first[row : row + 2].tolist())
            following = self.out_of(int(self.to_region[row]))
            found = self._legs[row] = list(
                zip(following, self.leg_distance_m[legs].tolist(), self.leg_kept[legs].tolist(), strict=True))
        return found

    def out_of(self, region: int) -> range:
        """Return the rows that leave a region."""
        return range(int(self.out_first[region]), int(self.out_first[region + 1]))

    def into(self, region: int) -> list[int]:
        """Return the rows that lead into a region, ascending."""
        found: list[int] = self.in_rows[self.in_first[region] : self.in_first[region + 1]].tolist()
        return found


class DoorsOnLines:
    """The passages on the straight lines of others, which lead through further regions.

    A line keeps the share of the best way through the doors between the regions that it crosses. One whose regions
    no doors join, such as a line through two windows, depends on none.

    Args:
        table: the passages of one sense.
        lines: rows of baked passages that carry only this sense.
        lookup: finds regions.

    Cost: one look-up for each ``STEP_M`` of a line, and O(passages that leave the regions on it): 0.1 s for 2,600.
    """

    def __init__(self, table: PassageTable, lines: Iterable[int], lookup: ShapeLookup) -> None:
        self._ends = list(zip(table.from_region.tolist(), table.to_region.tolist(), strict=True))
        is_straight = ~table.is_relayed & (table.mirror_m == 0)
        crossed = _crossed(table, [row for row in lines if is_straight[row]], lookup)
        crossed = {row: regions for row, regions in crossed.items() if regions - {*self._ends[row]}}
        leaving: dict[int, list[int]] = {}
        for door in np.flatnonzero(is_straight).tolist():
            if door not in crossed:
                leaving.setdefault(self._ends[door][0], []).append(door)
        kept = table.kept_open.tolist()
        self._doors: dict[int, list[int]] = {}
        self._lines: dict[int, list[int]] = {}
        for row, regions in crossed.items():
            among = regions | {*self._ends[row]}
            doors = [door for one in sorted(among) for door in leaving.get(one, ()) if self._ends[door][1] in among]
            if self._way(row, doors, kept):
                self._doors[row] = doors
                for door in doors:
                    self._lines.setdefault(door, []).append(row)

    def lines_through(self, row: int) -> Sequence[int]:
        """Return the rows whose lines lead through a passage."""
        return self._lines.get(row, ())

    def share(self, row: int, kept: Sequence[float]) -> float:
        """Return the share that the doors on a line keep now, given that of each row; 1 without any."""
        doors = self._doors.get(row)
        return 1.0 if doors is None else self._way(row, doors, kept)

    def _way(self, row: int, doors: Sequence[int], kept: Sequence[float]) -> float:
        """Return the largest share of ways through doors from one end of a line to the other."""
        begin, goal = self._ends[row]
        shares = {begin: 1.0}
        has_grown = True
        while has_grown:
            has_grown = False
            for door in doors:
                one, other = self._ends[door]
                share = shares.get(one, 0.0) * kept[door]
                if share > shares.get(other, 0.0):
                    shares[other], has_grown = share, True
        return shares.get(goal, 0.0)


def _crossed(table: PassageTable, rows: list[int], lookup: ShapeLookup) -> dict[int, set[int]]:
    """Return the regions on the line of each row."""
    if not rows:
        return {}
    offsets = table.end[rows] - table.start[rows]
    counts = (lengths(offsets) / STEP_M).astype(np.int64) + 1
    of, step = _ranges(np.zeros_like(counts), counts)
    points = table.start[rows][of] + offsets[of] * (step / counts[of])[:, np.newaxis]
    regions = lookup(points.astype(np.float32))
    found: dict[int, set[int]] = {row: set() for row in rows}
    count = int(regions.max()) + 1
    for key in np.unique((of * count + regions)[regions >= 0]).tolist():
        found[rows[key // count]].add(key % count)
    return found


def _number(kind: str, number: int, names: Iterable[str], count: int) -> int:
    if whole_number(kind, number, minimum=0, remedy="use its name") >= count:
        raise UnknownNameError(kind, number, names)
    return int(number)


def _share(kept_per_m: float, distance_m: float) -> float:
    # 0 ** 0 is 1, but a share of 0 lets no signal through at any length.
    return kept_per_m**distance_m if kept_per_m else 0.0


def _first_of_each(keys: NDArray[np.integer], count: int) -> Rows:
    """Return for each key from 0 on where its items begin among sorted ``keys``, and the end."""
    return np.concatenate(([0], np.cumsum(np.bincount(keys, minlength=count)))).astype(np.int64)


def expanded(first: Rows, keys: NDArray[np.integer]) -> tuple[Rows, Rows]:
    """Return all rows of some keys: of each row the index of its key among ``keys``, and the row.

    Rows ``first[k]`` to ``first[k + 1]`` belong to key k.

    >>> [part.tolist() for part in expanded(np.array([0, 2, 3]), np.array([1, 0]))]
    [[0, 1, 1], [2, 0, 1]]
    """
    return _ranges(first[keys], first[keys + 1])


def rows_in(regions: NDArray[np.integer], wanted: NDArray[np.integer]) -> tuple[Rows, Rows]:
    """Return for each wanted region its index among ``wanted``, and each row of ``regions`` that holds it."""
    order = np.argsort(regions, kind="stable")
    ordered = regions[order]
    index, place = _ranges(np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, side="right"))
    return index, order[place]


def _ranges(first: Rows, end: Rows) -> tuple[Rows, Rows]:
    """Return the index of each range, and each number in it."""
    counts = end - first
    index = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return index, np.arange(len(index)) - np.repeat(before - first, counts)


def lengths(offsets: Floats) -> Floats:
    """Return the lengths (m) of offsets (n, 3), the same to the last bit on every machine."""
    x, y, z = offsets[:, 0], offsets[:, 1], offsets[:, 2]
    found: Floats = np.sqrt(x * x + y * y + z * z)
    return found


class _TrackedRegions:
    """The regions of rows that move: looked up again only for rows that moved. Cost: O(rows) to compare."""

    def __init__(self, lookup: ShapeLookup) -> None:
        self._lookup = lookup
        self._places = np.zeros((0, 3), np.float32)
        self._regions = np.zeros(0, np.int32)

    def of(self, places: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the region of every row of ``places`` (rows, 3); read-only."""
        if len(places) != len(self._places):
            self._places, self._regions = places.copy(), self._lookup(places)
            return self._regions
        moved = np.flatnonzero((places != self._places).any(axis=1))
        if len(moved):
            self._regions[moved] = self._lookup(places[moved])
            self._places[moved] = places[moved]
        return self._regions


class SensedGraph:
    """A graph in use by a sense manager: its passages in each modality, and the regions of sensors and sources.

    Attributes:
        tables: passages of each modality, by its number.
    """

    def __init__(self, graph: SenseGraph, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable) -> None:
        check_type("graph", graph, SenseGraph)
        for name in graph.modalities:
            modalities.number(name)
        self.graph, self._sensors, self._sources = graph, sensors, sources
        self.tables: list[PassageTable] = [graph.table(one) for one in modalities.all]
        self._sensor_regions, self._source_regions = _TrackedRegions(graph.lookup), _TrackedRegions(graph.lookup)

    @property
    def sensor_regions(self) -> NDArray[np.int32]:
        """The region of every row of sensors; read-only."""
        return self._sensor_regions.of(self._sensors.position)

    @property
    def source_regions(self) -> NDArray[np.int32]:
        """The region of every row of sources; read-only."""
        return self._source_regions.of(self._sources.position)

    def path_m(self, number: int, sensor: int, places: NDArray[np.float32]) -> Floats:
        """Return the distance from places (n, 3) to a sensor, by its slot (m).

        A straight line within the region of the sensor, by the portal from a neighboring region; else ``inf``.

        Cost: O(places), for each portal into the region.
        """
        here, table = int(self.sensor_regions[sensor]), self.tables[number]
        found = np.full(len(places), np.inf)
        if here == NOWHERE or not len(places):
            return found
        nose = self._sensors.position[sensor].astype(np.float64)
        where = self.graph.lookup(places)
        found[where == here] = lengths(places[where == here] - nose)
        for row in table.into(here):
            there = np.flatnonzero(where == table.from_region[row])
            if table.kept[row] > 0 and len(there):
                on_m = float(table.distance_m[row]) + float(lengths((table.end[row] - nose)[np.newaxis])[0])
                found[there] = np.minimum(found[there], lengths(places[there] - table.start[row]) + on_m)
        return found
