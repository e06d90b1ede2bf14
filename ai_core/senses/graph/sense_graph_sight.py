"""Sight and touch in a sense graph: what shows itself in a region, and through one portal.

Who is in the same region, or in one from which a portal leads here, is a candidate;
nobody else costs anything. Light goes through a second portal.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.graph.sense_graph_by_sense import GraphBySense
from ai_core.senses.graph.sense_graph_lookup import NOWHERE
from ai_core.senses.graph.sense_graph_ways import PortalTable, expanded, lengths, shares_kept
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.continuous_sensing import ContinuousSensing
from ai_core.senses.sight.pairs_in_view import keys_of
from ai_core.senses.sight.question import LineQuery
from ai_core.senses.sight.sight_cones import NO_CONE, bearings, first_cone_containing
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.waves import ReachNumbers

__all__ = ["GraphSight", "PortalRoutes"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class PortalRoutes(NamedTuple):
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


class RouteCandidates(NamedTuple):
    """Pairs that may sense each other, by every route: slots, and a row of routes."""

    eye: NDArray[np.intp]
    target: NDArray[np.intp]
    route: Rows


class RouteLegs(NamedTuple):
    """How far it is for such pairs, what is kept on the way, and where the target shows itself.

    Attributes:
        distance_m: (n,) float64, divided by the target's size.
        kept: (n,) float64.
        looked_at: (n, 3) float64, from the sensor, divided likewise (m).
    """

    distance_m: Floats
    kept: Floats
    looked_at: Floats


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
        self.lights: set[int] = set()

    def offsets(self, question: LineQuery) -> Floats:
        """Return where each of these pairs shows itself, from the sensor: on a screen, where the screen is."""
        offset = super().offsets(question)
        for row, (_, screen) in self._relayed(question).items():
            eye = self._sensors.ids.slot(int(question.sensor_ids[row]))
            size = self._sources.size[self._sources.ids.slot(int(question.source_ids[row]))]
            offset[row] = (np.array(screen) - self._sensors.position[eye]) / size
        return offset

    def way(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return the way by which a source, by its slot, shows itself most; None if there is none."""
        eyes, targets = np.array([eye]), np.array([target])
        pairs, routes = self._candidates(number, eyes, targets)
        legs = self._legs(number, pairs, routes)
        may = ~routes.needs_light[pairs.route] | self._gives_light(pairs.target)
        if not may.any():
            return None
        intensity, is_sensed = self._tested(number, pairs, routes)
        best = int(np.lexsort((-intensity, ~is_sensed, ~may))[0])
        x, y, z = legs.looked_at[best].tolist()
        return ReachNumbers(float(legs.distance_m[best]), float(legs.kept[best]), (x, y, z))

    def _from_cameras(self, question: LineQuery) -> LineQuery:
        """Of what a camera shows, the line from the camera is asked."""
        for row, (camera, _) in self._relayed(question).items():
            question.eyes[row] = camera
        return question

    def _in_reach(
        self, number: int, sensor_ids: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], Floats]:
        source_ids = self._sources.ids.ids
        eyes, targets = self._sensors.ids.slots(sensor_ids), self._sources.ids.slots(source_ids)
        best, intensity, _ = self._best(number, eyes, targets)
        keys = keys_of(self._sensors.ids.of_slots(best.eye), self._sources.ids.of_slots(best.target))
        return keys, intensity

    def _relayed(self, question: LineQuery) -> dict[int, tuple[Point, Point]]:
        """Return by row of a question where the camera is and where the screen, if there is one."""
        found: dict[int, tuple[Point, Point]] = {}
        for number in self.pairs:
            mine = np.flatnonzero(question.modality == number)
            if not len(mine) or not self._graphs.ways[number].is_relayed.any():
                continue
            sensors = self._sensors.ids.slots(question.sensor_ids[mine])
            sources = self._sources.ids.slots(question.source_ids[mine])
            best, _, routes = self._best(number, np.unique(sensors), np.unique(sources))
            relayed = routes.is_relayed[best.route]
            ends = {
                (eye, target): (routes.start[route].tolist(), routes.end[route].tolist())
                for eye, target, route in zip(
                    *(column[relayed].tolist() for column in best), strict=True)
            }
            asked = zip(sensors.tolist(), sources.tolist(), strict=True)
            found.update({row: ends[pair] for row, pair in zip(mine.tolist(), asked, strict=True) if pair in ends})
        return found

    def _best(
        self, number: int, eyes: NDArray[np.intp], targets: NDArray[np.intp]
    ) -> tuple[RouteCandidates, Floats, PortalRoutes]:
        """Return pairs that pass every test but the ray, each by its strongest route."""
        pairs, routes = self._candidates(number, eyes, targets)
        intensity, is_sensed = self._tested(number, pairs, routes)
        pairs = RouteCandidates(*(column[is_sensed] for column in pairs))
        intensity = intensity[is_sensed]
        order = np.lexsort((pairs.route, -intensity, pairs.target, pairs.eye))
        eye, target = pairs.eye[order], pairs.target[order]
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (eye[1:] != eye[:-1]) | (target[1:] != target[:-1])
        kept = order[is_first]
        return RouteCandidates(*(column[kept] for column in pairs)), intensity[kept], routes

    def _candidates(
        self, number: int, eyes: NDArray[np.intp], targets: NDArray[np.intp]
    ) -> tuple[RouteCandidates, PortalRoutes]:
        """Return pairs that the graph joins, by every route."""
        eyes = eyes[np.isfinite(self._sensors.threshold[eyes, number])]
        targets = targets[self._sources.strength[targets, number] >= 0]
        sensor_regions = self._graphs.sensor_regions(number)[eyes]
        source_regions = self._graphs.source_regions(number)[targets]
        eyes, sensor_regions = eyes[sensor_regions != NOWHERE], sensor_regions[sensor_regions != NOWHERE]
        targets, source_regions = (
            targets[source_regions != NOWHERE], source_regions[source_regions != NOWHERE])
        routes = self._routes(number, np.unique(sensor_regions))
        return _pairs(routes, eyes, sensor_regions, targets, source_regions), routes

    def _routes(self, number: int, regions: NDArray[np.int32]) -> PortalRoutes:
        ways = self._graphs.ways[number]
        _, found = expanded(ways.in_first, regions)
        last = ways.in_rows[found]
        last = last[ways.kept[last] > 0]
        parts = [_direct(regions), _through_one(ways, last)]
        if self.lights:
            parts.append(_through_two(ways, last))
        return PortalRoutes(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _tested(
        self, number: int, pairs: RouteCandidates, routes: PortalRoutes
    ) -> tuple[Floats, NDArray[np.bool_]]:
        sensors, sources, kind = self._sensors, self._sources, self._modalities[number]
        legs, route = self._legs(number, pairs, routes), pairs.route
        intensity = sources.strength[pairs.target, number] * legs.kept
        sensed = (sensors.detection_mask[pairs.eye] & sources.affiliation[pairs.target]) != 0
        sensed &= sensors.self_source[pairs.eye] != self._sources.ids.of_slots(pairs.target)
        sensed &= legs.distance_m <= kind.range_m
        if self.lights:
            sensed &= ~routes.needs_light[route] | self._gives_light(pairs.target)
        if kind.needs_cone:
            acuity = self._acuity(pairs.eye, legs.looked_at)
            sensed &= acuity >= 0
            intensity = intensity * acuity
        sensed &= intensity >= sensors.threshold[pairs.eye, number]
        return intensity, sensed

    def _legs(self, number: int, pairs: RouteCandidates, routes: PortalRoutes) -> RouteLegs:
        ways, route = self._graphs.ways[number], pairs.route
        is_direct = routes.is_direct[route]
        eye_at = self._sensors.position[pairs.eye].astype(np.float64)
        target_at = self._sources.position[pairs.target].astype(np.float64)
        size = self._sources.size[pairs.target]
        straight = lengths(target_at - eye_at) / size
        out_m = lengths(target_at - routes.start[route]) / size
        in_m = lengths(eye_at - routes.end[route]) / size
        distance_m = np.where(is_direct, straight, (out_m + in_m) + routes.distance_m[route] / size)
        out_m, in_m = np.where(is_direct, straight, out_m), np.where(is_direct, 0.0, in_m)
        # The two legs first: who looks the other way multiplies them in the other order.
        legs = shares_kept(ways.kept_per_m[routes.from_region[route]], out_m) * shares_kept(
            ways.kept_per_m[routes.to_region[route]], in_m)
        looked_at = np.where(routes.is_relayed[route][:, np.newaxis], routes.end[route], target_at)
        return RouteLegs(distance_m, legs * routes.kept[route], (looked_at - eye_at) / size[:, np.newaxis])

    def _gives_light(self, targets: NDArray[np.intp]) -> NDArray[np.bool_]:
        return np.isin(self._sources.ids.of_slots(targets), sorted(self.lights))

    def _acuity(self, eyes: NDArray[np.intp], offsets: Floats) -> Floats:
        """Return how sharply each is seen; below 0 outside every cone."""
        sensors = self._sensors
        cones = sensors.cones[eyes]
        if not cones.shape[1]:
            return np.full(len(eyes), -1.0)
        bearing = bearings(offsets, sensors.forward[eyes], np.array(self._up), np.array(self._aside))
        first = first_cone_containing(bearing, cones)
        return np.where(first == NO_CONE, -1.0, cones[np.arange(len(first)), first, 3])


def _direct(regions: NDArray[np.int32]) -> PortalRoutes:
    count = len(regions)
    no = np.zeros(count, np.bool_)
    here = regions.astype(np.int64)
    return PortalRoutes(here, here, np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count),
                  np.ones(count), ~no, no, no)


def _through_one(ways: PortalTable, rows: Rows) -> PortalRoutes:
    no = np.zeros(len(rows), np.bool_)
    return PortalRoutes(
        ways.from_region[rows].astype(np.int64), ways.to_region[rows].astype(np.int64),
        ways.start[rows], ways.end[rows], ways.distance_m[rows], ways.kept[rows], no,
        ways.is_relayed[rows], no,
    )


def _through_two(ways: PortalTable, last: Rows) -> PortalRoutes:
    """Return the routes through some passage into each of ``last``, and not back again."""
    index, found = expanded(ways.in_first, ways.from_region[last])
    first, second = ways.in_rows[found], last[index]
    goes_on = (ways.kept[first] > 0) & (ways.from_region[first] != ways.to_region[second])
    first, second = first[goes_on], second[goes_on]
    middle = ways.to_region[first]
    leg = ways.leg_first[first] + (second - ways.out_first[middle])
    no, yes = np.zeros(len(first), np.bool_), np.ones(len(first), np.bool_)
    return PortalRoutes(
        ways.from_region[first].astype(np.int64), ways.to_region[second].astype(np.int64),
        ways.start[first], ways.end[second],
        (ways.distance_m[first] + ways.distance_m[second]) + ways.leg_distance_m[leg],
        (ways.kept[first] * ways.kept[second]) * ways.leg_kept[leg],
        no, ways.is_relayed[second], yes,
    )


def _pairs(
    routes: PortalRoutes,
    eyes: NDArray[np.intp],
    sensor_regions: NDArray[np.int32],
    targets: NDArray[np.intp],
    source_regions: NDArray[np.int32],
) -> RouteCandidates:
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
    return RouteCandidates(
        eyes[eye_order[first_eye[route] + row]],
        targets[target_order[first_target[route] + column]], route,
    )
