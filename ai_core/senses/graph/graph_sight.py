"""Sight and touch in a sense graph: sources are sensed in the region of a sensor, and through one portal.

Candidates are the sources in the region of a sensor, and in regions from which a portal leads
into it. Light passes a second portal. Cameras and mirrors show sources that a sensor does not face;
where they do, their lines of sight and the straight one are asked in turn, until one is free.
"""
from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.saving.kinds import MapOf, Whole
from ai_core.senses.graph.sense_graph import NOWHERE, PassageTable, SensedGraph, expanded, lengths, rows_in
from ai_core.senses.modality import ByModality, ModalitySet
from ai_core.senses.sensation import ReachNumbers
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.continuous_sensing import ContinuousSensing, LineOfSight
from ai_core.senses.sight.pair_keys import PairKey, keys_of
from ai_core.senses.sight.pair_loops import LineQuery, Lines
from ai_core.senses.source_table import SourceTable

__all__ = ["GraphSight"]

MOST_TURNS_LEFT = 64
"""Pairs that are not in view any more and whose turns are kept, besides as many as are (count)."""

OFF_MIRROR_M = 0.01
"""Distance from a mirror at which lines of sight begin (m): at 0, the wall behind it would block them."""

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class _Routes(NamedTuple):
    """Routes from the region of a source into that of a sensor, one row each.

    Attributes:
        start, end: (n, 3) float64, where they leave the first and enter the last (m).
        distance_m, kept: (n,) float64, length and share of the intensity kept between these.
        is_direct: (n,) bool, both regions are the same.
        is_relayed: (n,) bool, a camera at ``start`` and its screen at ``end``.
        mirror, mirror_m: (n, 3) and (n,) float64, unit normal and radius of a mirror around ``start``, 0 for none.
        needs_light: (n,) bool, two portals: only sources that emit light are visible.
    """

    from_region: Rows
    to_region: Rows
    start: Floats
    end: Floats
    distance_m: Floats
    kept: Floats
    is_direct: Bools
    is_relayed: Bools
    mirror: Floats
    mirror_m: Floats
    needs_light: Bools


class _Pairs(NamedTuple):
    """Pairs that may sense each other, by every route.

    Attributes:
        eye, target: (n,) slots of sensor and source.
        route: (n,) row of routes.
        distance_m: (n,) float64, divided by the target's size.
        kept: (n,) float64, share of the strength.
        looked_at: (n, 3) float64, from the sensor to the place where the target is visible, divided likewise (m).
        asked_from: (n, 3) float64, where the line of sight to the target begins (m).
        is_possible: (n,) bool, False for two portals without light, and beside a mirror.
    """

    eye: NDArray[np.intp]
    target: NDArray[np.intp]
    route: Rows
    distance_m: Floats
    kept: Floats
    looked_at: Floats
    asked_from: Floats
    is_possible: Bools


class GraphSight(ContinuousSensing):
    """``ContinuousSensing`` of a sense graph.

    Cost of a pass: O(sensors, and sources in their regions and those with a portal there).
    """

    STATE = ContinuousSensing.STATE.extended(turn_of=ByModality(MapOf(Whole(), key=PairKey()), of=attrgetter("pairs")))

    def __init__(self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, graph: SensedGraph) -> None:
        super().__init__(modalities, sensors, sources)
        self._graph = graph
        # Of pairs with an answer, which of their lines of sight is asked; by number of the modality, then key.
        self.turn_of: dict[int, dict[int, int]] = {number: {} for number in self.pairs}
        self._most_lines = 1    # of any pair so far

    def ask(self, question: LineQuery, line_of_sight: LineOfSight, now_s: float) -> None:
        """Ask one batch of lines of sight, and note the answers; a pair whose line is not free asks its next one."""
        super().ask(question, line_of_sight, now_s)
        for number, pairs in self.pairs.items():
            mine = np.flatnonzero(question.modality == number)
            turn_of, rows = self.turn_of[number], question.row[mine]
            if not (len(mine) and self._shows_elsewhere(number)):
                continue
            is_blocked = (pairs.waiting_since[rows] > self.ages.new) & ~pairs.is_sensed[rows]
            for key in pairs.keys[rows[is_blocked]].tolist():
                turn_of[key] = turn_of.get(key, 0) + 1
            if len(turn_of) > 2 * len(pairs) + MOST_TURNS_LEFT:
                self.turn_of[number] = {key: turn_of[key] for key in pairs.keys.tolist() if key in turn_of}

    def drop_distant(self) -> None:
        """Do nothing: a portal may show what is far away."""

    def passes_until_noticed(self, pairs_at_once: int) -> int:
        """Return it as in open ground; a pair asks each of its lines of sight in turn."""
        return super().passes_until_noticed(pairs_at_once) * self._most_lines

    def offsets(self, question: LineQuery) -> Floats:
        """Return the offset from each sensor to the place where its target is visible, such as a screen."""
        offset = super().offsets(question)
        for rows, pairs in self._shown_elsewhere(question):
            offset[rows] = pairs.looked_at
        return offset

    def reach_of(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return the strongest route of a source, by its slot, to a sensor; None if there is none."""
        pairs, routes = self._pairs(number, np.array([eye]), np.array([target]))
        if not pairs.is_possible.any():
            return None
        intensity, is_sensed = self._tested(number, pairs, routes)
        best = int(np.lexsort((-intensity, ~is_sensed, ~pairs.is_possible))[0])
        x, y, z = pairs.looked_at[best].tolist()
        return ReachNumbers(float(pairs.distance_m[best]), float(pairs.kept[best]), (x, y, z))

    def _written(self, lines: Lines) -> LineQuery:
        """Return pairs with lines from cameras and mirrors for the pairs that those show."""
        question = super()._written(lines)
        for rows, pairs in self._shown_elsewhere(question):
            question.eyes[rows] = pairs.asked_from
        return question

    def _in_reach(self, number: int, sensor_ids: NDArray[np.int32]) -> tuple[NDArray[np.int64], Floats, int]:
        eyes, targets = self._sensors.ids.slots(sensor_ids), self._sources.ids.slots(self._sources.ids.ids)
        pairs, _, intensity = self._best(number, eyes, targets)
        return self._keys(pairs), intensity, len(intensity)

    def _shown_elsewhere(self, question: LineQuery) -> list[tuple[Rows, _Pairs]]:
        """Return the rows of a question whose best route is a camera or a mirror, with their pairs."""
        found = []
        for number in self.pairs:
            mine = np.flatnonzero(question.modality == number)
            if not len(mine) or not self._shows_elsewhere(number):
                continue
            sensor_ids, source_ids = question.sensor_ids[mine], question.source_ids[mine]
            pairs, routes, _ = self._best(
                number, np.unique(self._sensors.ids.slots(sensor_ids)), np.unique(self._sources.ids.slots(source_ids)))
            is_elsewhere = routes.is_relayed[pairs.route] | (routes.mirror_m[pairs.route] > 0)
            place_of = {key: place for place, key in enumerate(self._keys(pairs).tolist()) if is_elsewhere[place]}
            asked = zip(mine.tolist(), keys_of(sensor_ids, source_ids).tolist(), strict=True)
            shown = [(row, place_of[key]) for row, key in asked if key in place_of]
            rows, places = np.array(shown, np.int64).reshape(-1, 2).T
            found.append((rows, _Pairs._make(column[places] for column in pairs)))
        return found

    def _shows_elsewhere(self, number: int) -> bool:
        """Return whether there are cameras or mirrors for a modality."""
        table = self._graph.tables[number]
        return bool(table.is_relayed.any() or table.mirror_m.any())

    def _keys(self, pairs: _Pairs) -> Rows:
        return keys_of(self._sensors.ids.by_slot[pairs.eye], self._sources.ids.by_slot[pairs.target])

    def _best(self, number: int, eyes: NDArray[np.intp], targets: NDArray[np.intp]) -> tuple[_Pairs, _Routes, Floats]:
        """Return pairs that pass every test but the ray, and their intensities.

        Each is by its strongest route of those with the line of sight whose turn it is: the straight one, and those of
        cameras and mirrors, the strongest first.
        """
        pairs, routes = self._pairs(number, eyes, targets)
        intensity, is_sensed = self._tested(number, pairs, routes)
        keys, sensed = self._keys(pairs), np.flatnonzero(is_sensed)
        line = np.where(routes.is_relayed | (routes.mirror_m > 0), np.arange(len(routes.kept)), -1)[pairs.route]
        order = sensed[np.lexsort((pairs.route[sensed], -intensity[sensed], line[sensed], keys[sensed]))]
        is_first = np.diff(keys[order], prepend=-1) > 0
        best = order[is_first]
        if (line[order] >= 0).any():
            order = order[is_first | (np.diff(line[order], prepend=-1) != 0)]       # the strongest of each line
            order = order[np.lexsort((pairs.route[order], -intensity[order], keys[order]))]
            begin = np.flatnonzero(np.diff(keys[order], prepend=-1) > 0)
            turn_of = self.turn_of[number]
            turns = np.array([turn_of.get(key, 0) for key in keys[order[begin]].tolist()], np.int64)
            lines = np.diff(begin, append=len(order))
            best = order[begin + turns % lines]
            self._most_lines = max(self._most_lines, int(lines.max()))
        return _Pairs._make(column[best] for column in pairs), routes, intensity[best]

    def _tested(self, number: int, pairs: _Pairs, routes: _Routes) -> tuple[Floats, Bools]:
        """Return the intensity of each pair, and whether it passes every test but the ray."""
        sensors, sources, kind = self._sensors, self._sources, self._modalities[number]
        intensity = sources.strength[pairs.target, number] * pairs.kept
        sensed = (sensors.detection_mask[pairs.eye] & sources.affiliation[pairs.target]) != 0
        sensed &= sensors.self_source[pairs.eye] != sources.ids.by_slot[pairs.target]
        sensed &= (pairs.distance_m <= kind.range_m) & pairs.is_possible
        if kind.needs_cone:
            acuity = self.acuity(pairs.eye, pairs.looked_at)
            sensed &= acuity >= 0
            intensity = intensity * acuity
        sensed &= intensity >= sensors.threshold[pairs.eye, number]
        return intensity, sensed

    def _pairs(self, number: int, eyes: NDArray[np.intp], targets: NDArray[np.intp]) -> tuple[_Pairs, _Routes]:
        """Return every pair that a route of the graph joins, by every route."""
        eyes = eyes[np.isfinite(self._sensors.threshold[eyes, number])]
        targets = targets[self._sources.strength[targets, number] >= 0]
        at_end, at_start = self._graph.sensor_regions[eyes], self._graph.source_regions[targets]
        eyes, at_end = eyes[at_end != NOWHERE], at_end[at_end != NOWHERE]
        targets, at_start = targets[at_start != NOWHERE], at_start[at_start != NOWHERE]
        routes = self._routes(self._graph.tables[number], np.unique(at_end))
        route, eye = rows_in(at_end, routes.to_region)
        index, target = rows_in(at_start, routes.from_region[route])
        return self._measured(
            self._graph.tables[number], routes, eyes[eye[index]], targets[target], route[index]), routes

    def _routes(self, table: PassageTable, regions: NDArray[np.int32]) -> _Routes:
        _, found = expanded(table.in_first, regions)
        last = table.in_rows[found]
        last = last[table.kept[last] > 0]
        parts = [_direct(regions), _through_one(table, last)]
        if self._sources.lights:
            parts.append(_through_two(table, last))
        return _Routes(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _measured(
        self, table: PassageTable, routes: _Routes, eye: NDArray[np.intp], target: NDArray[np.intp], route: Rows
    ) -> _Pairs:
        """Return pairs with the shares kept on their routes, and the places where their targets are visible."""
        eye_at = self._sensors.position[eye].astype(np.float64)
        target_at = self._sources.position[target].astype(np.float64)
        size = self._sources.size[target]
        start, end, is_direct = routes.start[route], routes.end[route], routes.is_direct[route]
        looked_at, is_possible = target_at, ~routes.needs_light[route]
        if self._sources.lights:
            is_possible |= np.isin(self._sources.ids.by_slot[target], sorted(self._sources.lights))
        if routes.is_relayed.any():
            looked_at = np.where(routes.is_relayed[route, np.newaxis], end, target_at)
        if routes.mirror_m.any():
            rows = np.flatnonzero(routes.mirror_m[route] > 0)
            mine = route[rows]
            image, start[rows], is_shown = _reflected(
                eye_at[rows], target_at[rows], routes.start[mine], routes.mirror[mine], routes.mirror_m[mine])
            end[rows] = start[rows]
            looked_at = looked_at.copy()
            looked_at[rows], is_possible[rows] = image, is_shown
        straight_m = lengths(target_at - eye_at) / size
        out_m, in_m = lengths(target_at - start) / size, lengths(eye_at - end) / size
        distance_m = np.where(is_direct, straight_m, (out_m + in_m) + routes.distance_m[route] / size)
        out_m, in_m = np.where(is_direct, straight_m, out_m), np.where(is_direct, 0.0, in_m)
        # The product of the two legs first: it is the same in the opposite direction.
        legs = np.float_power(table.kept_per_m[routes.from_region[route]], out_m) * np.float_power(
            table.kept_per_m[routes.to_region[route]], in_m)
        return _Pairs(
            eye, target, route, distance_m, legs * routes.kept[route], (looked_at - eye_at) / size[:, np.newaxis],
            start + OFF_MIRROR_M * routes.mirror[route], is_possible)


def _direct(regions: NDArray[np.int32]) -> _Routes:
    count = len(regions)
    no, nothing, nowhere = np.zeros(count, np.bool_), np.zeros(count), np.zeros((count, 3))
    here = regions.astype(np.int64)
    return _Routes(here, here, nowhere, nowhere, nothing, np.ones(count), ~no, no, nowhere, nothing, no)


def _through_one(table: PassageTable, rows: Rows) -> _Routes:
    no = np.zeros(len(rows), np.bool_)
    return _Routes(
        table.from_region[rows].astype(np.int64), table.to_region[rows].astype(np.int64),
        table.start[rows], table.end[rows], table.distance_m[rows], table.kept[rows], no,
        table.is_relayed[rows], table.mirror[rows], table.mirror_m[rows], no)


def _through_two(table: PassageTable, last: Rows) -> _Routes:
    """Return the routes through a passage and then one of ``last``, without mirrors, into another region."""
    index, found = expanded(table.in_first, table.from_region[last])
    first, second = table.in_rows[found], last[index]
    is_used = (table.kept[first] > 0) & (table.from_region[first] != table.to_region[second])
    is_used &= (table.mirror_m[first] == 0) & (table.mirror_m[second] == 0)
    first, second = first[is_used], second[is_used]
    leg = table.leg_first[first] + (second - table.out_first[table.to_region[first]])
    no = np.zeros(len(first), np.bool_)
    return _Routes(
        table.from_region[first].astype(np.int64), table.to_region[second].astype(np.int64),
        table.start[first], table.end[second],
        (table.distance_m[first] + table.distance_m[second]) + table.leg_distance_m[leg],
        (table.kept[first] * table.kept[second]) * table.leg_kept[leg],
        no, table.is_relayed[second], table.mirror[second], table.mirror_m[second], ~no)


def _reflected(
    eye: Floats, target: Floats, center: Floats, normal: Floats, radius_m: Floats
) -> tuple[Floats, Floats, Bools]:
    """Return the mirror images of targets (n, 3), the points of mirrors that show them, and whether mirrors show them.

    The line from the eye to the image crosses the plane of the mirror; it must do so on the mirror,
    and both must be in front of it.
    """
    eye_m, target_m = ((eye - center) * normal).sum(axis=1), ((target - center) * normal).sum(axis=1)
    image = target - 2 * target_m[:, np.newaxis] * normal
    is_front = (eye_m > 0) & (target_m > 0)
    share = eye_m / np.where(is_front, eye_m + target_m, 1.0)
    at = eye + share[:, np.newaxis] * (image - eye)
    return image, at, is_front & (lengths(at - center) <= radius_m)
