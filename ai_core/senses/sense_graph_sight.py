"""Sight and touch in a sense graph: what shows itself in a region, and through one portal.

Who is in the same region, or in one from which a portal leads here, is a candidate;
nobody else costs anything. Light goes through a second portal.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.continuous_sensing import ContinuousSensing, LineOfSight, Question
from ai_core.senses.modality import ModalitySet
from ai_core.senses.pairs_in_view import keys_of
from ai_core.senses.sense_graph_by_sense import GraphBySense
from ai_core.senses.sense_graph_lookup import NOWHERE
from ai_core.senses.sense_graph_ways import Ways, expanded, lengths, shares_kept
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight import NO_CONE, aside_of, bearings, first_cone_containing
from ai_core.senses.source_table import SourceTable

__all__ = ["GraphSight", "Routes"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Routes(NamedTuple):
    """Ways from the region of a source into that of a sensor, one row each.

    Attributes:
        from_region, to_region: (n,) the source's, and the sensor's.
        start, end: (n, 3) float64, where it leaves the first and comes into the last (m).
        distance_m: (n,) float64, between them.
        kept: (n,) float64, share of the intensity kept between them.
        is_direct: (n,) bool, both regions are one: there is nothing between.
        is_relayed: (n,) bool, ``end`` is looked at, and ``start`` looks.
        needs_light: (n,) bool, two portals: only what gives light shows itself.
    """

    from_region: Rows
    to_region: Rows
    start: Floats
    end: Floats
    distance_m: Floats
    kept: Floats
    is_direct: NDArray[np.bool_]
    is_relayed: NDArray[np.bool_]
    needs_light: NDArray[np.bool_]


class Candidates(NamedTuple):
    """Pairs that may sense each other, by every route: slots, and a row of routes."""

    eye: NDArray[np.intp]
    target: NDArray[np.intp]
    route: Rows


class GraphSight(ContinuousSensing):
    """``ContinuousSensing`` of a sense graph; ``lights`` holds ids of sources that give light.

    Cost of a pass: O(sensors, and sources in their regions and those with a portal there).
    """

    def __init__(
        self,
        modalities: ModalitySet,
        sensors: SensorTable,
        sources: SourceTable,
        up: Floats,
        graphs: GraphBySense,
    ) -> None:
        super().__init__(modalities, sensors, sources, up)
        self._graphs = graphs
        self._up = up
        self.lights: set[int] = set()

    def ask(self, question: Question, line_of_sight: LineOfSight) -> None:
        """Ask one batch; of what a camera shows, the line from the camera is asked."""

        def asked_by_cameras(eyes, targets, sensor_ids, source_ids):  # type: ignore[no-untyped-def]
            from_there = eyes.copy()
            for number in self.pairs:
                mine = np.flatnonzero(question.modality == number)
                if len(mine) and self._graphs.ways[number].is_relayed.any():
                    self._put_cameras(number, mine, from_there, sensor_ids, source_ids)
            return line_of_sight(from_there, targets, sensor_ids, source_ids)

        super().ask(question, asked_by_cameras)

    def _in_reach(
        self, number: int, sensor_ids: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], Floats]:
        source_ids = self._sources.ids.ids
        eyes, targets = self._sensors.ids.slots(sensor_ids), self._sources.ids.slots(source_ids)
        best, intensity, _ = self._best(number, eyes, targets)
        keys = keys_of(self._sensors.ids.of_slots(best.eye), self._sources.ids.of_slots(best.target))
        return keys, intensity

    def _put_cameras(
        self, number: int, mine: NDArray[np.intp], eyes: NDArray[np.float32],
        sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32],
    ) -> None:
        sensors = self._sensors.ids.slots(sensor_ids[mine])
        sources = self._sources.ids.slots(source_ids[mine])
        best, _, routes = self._best(number, np.unique(sensors), np.unique(sources))
        relayed = routes.is_relayed[best.route]
        start = {
            (eye, target): routes.start[route]
            for eye, target, route in zip(
                *(column[relayed].tolist() for column in best), strict=True)
        }
        for row, pair in zip(mine.tolist(), zip(sensors.tolist(), sources.tolist(), strict=True),
                             strict=True):
            if pair in start:
                eyes[row] = start[pair]

    def _best(
        self, number: int, eyes: NDArray[np.intp], targets: NDArray[np.intp]
    ) -> tuple[Candidates, Floats, Routes]:
        """Return pairs that pass every test but the ray, each by its strongest route."""
        eyes = eyes[np.isfinite(self._sensors.threshold[eyes, number])]
        targets = targets[self._sources.strength[targets, number] >= 0]
        sensor_regions = self._graphs.sensor_regions(number)[eyes]
        source_regions = self._graphs.source_regions(number)[targets]
        eyes, sensor_regions = eyes[sensor_regions != NOWHERE], sensor_regions[sensor_regions != NOWHERE]
        targets, source_regions = (
            targets[source_regions != NOWHERE], source_regions[source_regions != NOWHERE])
        routes = self._routes(number, np.unique(sensor_regions))
        pairs = _pairs(routes, eyes, sensor_regions, targets, source_regions)
        intensity, is_sensed = self._tested(number, pairs, routes)
        pairs = Candidates(*(column[is_sensed] for column in pairs))
        intensity = intensity[is_sensed]
        order = np.lexsort((pairs.route, -intensity, pairs.target, pairs.eye))
        eye, target = pairs.eye[order], pairs.target[order]
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (eye[1:] != eye[:-1]) | (target[1:] != target[:-1])
        kept = order[is_first]
        return Candidates(*(column[kept] for column in pairs)), intensity[kept], routes

    def _routes(self, number: int, regions: NDArray[np.int32]) -> Routes:
        ways = self._graphs.ways[number]
        _, found = expanded(ways.in_first, regions)
        last = ways.in_rows[found]
        last = last[ways.kept[last] > 0]
        parts = [_direct(regions), _through_one(ways, last)]
        if self.lights:
            parts.append(_through_two(ways, last))
        return Routes(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _tested(
        self, number: int, pairs: Candidates, routes: Routes
    ) -> tuple[Floats, NDArray[np.bool_]]:
        sensors, sources, kind = self._sensors, self._sources, self._modalities[number]
        ways = self._graphs.ways[number]
        eye_at = sensors.position[pairs.eye].astype(np.float64)
        target_at = sources.position[pairs.target].astype(np.float64)
        route, is_direct = pairs.route, routes.is_direct[pairs.route]
        straight = lengths(target_at - eye_at)
        out_m = lengths(target_at - routes.start[route])
        in_m = lengths(eye_at - routes.end[route])
        distance_m = np.where(is_direct, straight, (out_m + in_m) + routes.distance_m[route])
        out_m, in_m = np.where(is_direct, straight, out_m), np.where(is_direct, 0.0, in_m)
        # The two legs first: who looks the other way multiplies them in the other order.
        legs = shares_kept(ways.attenuation[routes.from_region[route]], out_m) * shares_kept(
            ways.attenuation[routes.to_region[route]], in_m)
        intensity = sources.strength[pairs.target, number] * (legs * routes.kept[route])
        sensed = (sensors.notices[pairs.eye] & sources.affiliation[pairs.target]) != 0
        sensed &= sensors.own_source[pairs.eye] != self._sources.ids.of_slots(pairs.target)
        sensed &= distance_m <= kind.range_m
        if self.lights:
            is_light = np.isin(self._sources.ids.of_slots(pairs.target), sorted(self.lights))
            sensed &= is_light | ~routes.needs_light[route]
        if kind.needs_cone:
            looked_at = np.where(routes.is_relayed[route][:, np.newaxis], routes.end[route], target_at)
            acuity = self._acuity(pairs.eye, looked_at - eye_at)
            sensed &= acuity >= 0
            intensity = intensity * acuity
        sensed &= intensity >= sensors.threshold[pairs.eye, number]
        return intensity, sensed

    def _acuity(self, eyes: NDArray[np.intp], offsets: Floats) -> Floats:
        """Return how sharply each is seen; below 0 outside every cone."""
        sensors = self._sensors
        cones = sensors.cones[eyes]
        if not cones.shape[1]:
            return np.full(len(eyes), -1.0)
        bearing = bearings(offsets, sensors.forward[eyes], self._up, aside_of(self._up))
        first = first_cone_containing(bearing, cones)
        return np.where(first == NO_CONE, -1.0, cones[np.arange(len(first)), first, 3])


def _direct(regions: NDArray[np.int32]) -> Routes:
    count = len(regions)
    no = np.zeros(count, np.bool_)
    here = regions.astype(np.int64)
    return Routes(here, here, np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count),
                  np.ones(count), ~no, no, no)


def _through_one(ways: Ways, rows: Rows) -> Routes:
    no = np.zeros(len(rows), np.bool_)
    return Routes(
        ways.from_region[rows].astype(np.int64), ways.to_region[rows].astype(np.int64),
        ways.start[rows], ways.end[rows], ways.distance_m[rows], ways.kept[rows], no,
        ways.is_relayed[rows], no,
    )


def _through_two(ways: Ways, last: Rows) -> Routes:
    """Return the routes through some passage into each of ``last``, and not back again."""
    index, found = expanded(ways.in_first, ways.from_region[last])
    first, second = ways.in_rows[found], last[index]
    goes_on = (ways.kept[first] > 0) & (ways.from_region[first] != ways.to_region[second])
    first, second = first[goes_on], second[goes_on]
    middle = ways.to_region[first]
    leg = ways.leg_first[first] + (second - ways.out_first[middle])
    no, yes = np.zeros(len(first), np.bool_), np.ones(len(first), np.bool_)
    return Routes(
        ways.from_region[first].astype(np.int64), ways.to_region[second].astype(np.int64),
        ways.start[first], ways.end[second],
        (ways.distance_m[first] + ways.distance_m[second]) + ways.leg_distance_m[leg],
        (ways.kept[first] * ways.kept[second]) * ways.leg_kept[leg],
        no, ways.is_relayed[second], yes,
    )


def _pairs(
    routes: Routes,
    eyes: NDArray[np.intp],
    sensor_regions: NDArray[np.int32],
    targets: NDArray[np.intp],
    source_regions: NDArray[np.int32],
) -> Candidates:
    """Return every sensor at the end of a route with every source at its beginning."""
    eye_order = np.argsort(sensor_regions, kind="stable")
    target_order = np.argsort(source_regions, kind="stable")
    at_end, at_start = sensor_regions[eye_order], source_regions[target_order]
    first_eye = np.searchsorted(at_end, routes.to_region)
    first_target = np.searchsorted(at_start, routes.from_region)
    eye_count = np.searchsorted(at_end, routes.to_region, side="right") - first_eye
    target_count = np.searchsorted(at_start, routes.from_region, side="right") - first_target
    counts = eye_count * target_count
    route = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(route)) - np.repeat(np.cumsum(counts) - counts, counts)
    row, column = np.divmod(number, np.maximum(target_count, 1)[route])
    return Candidates(
        eyes[eye_order[first_eye[route] + row]],
        targets[target_order[first_target[route] + column]], route,
    )
