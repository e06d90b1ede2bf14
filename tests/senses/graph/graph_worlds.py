"""Small levels for the tests of sense graphs, and a plain way to hear in them."""
from __future__ import annotations

import math

from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.faults import FaultIsolation
from ai_core.senses.graph.parts import Box, Passage, SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_manager import SenseGraphManager
from ai_core.senses.modality import Modality
from tests.senses.worlds import AHEAD, ALL_ROUND

SIGHT = Modality("sight", 100.0, is_continuous=True, needs_cone=True, needs_line_of_sight=True)


def hearing(kept_per_m=0.9, delay_s_per_m=0.0, range_m=100.0):
    return Modality("hearing", range_m, kept_per_m, 1 / delay_s_per_m if delay_s_per_m else math.inf)


def smell(delay_s_per_m=1.0):
    return Modality("smell", 100.0, 1.0, 1 / delay_s_per_m)


def room(name, at, size=2.0, **more):
    """A cube around a point."""
    low, high = ([axis + sign * size / 2 for axis in at] for sign in (-1, 1))
    return SenseRegion(name, Box(low, high), **more)


def door(a, b, at, *senses, name="", is_open=True, **passage):
    """Both directions of an opening at one point."""
    portal = SensePortal(a, b, {sense: Passage(at, **passage) for sense in senses}, name, is_open)
    return [portal, portal.back()]


class GraphWorld:
    """A manager and its clock; ``heard`` collects what sensors are told."""

    def __init__(self, graph, *, seconds_per_frame=0.125, modalities=None, **settings):
        self.clock = ManualClock(seconds_per_frame)
        self.heard = []
        self.graph = graph
        self.manager = SenseGraphManager(
            self.clock, graph, faults=FaultIsolation(reraise=True),
            modalities=[SIGHT, hearing(), smell()] if modalities is None else modalities, **settings)

    def nose(self, position, threshold=0.0, **more):
        return self.sensor(position, {"smell": threshold}, **more)

    def ear(self, position, threshold=0.0, **more):
        return self.sensor(position, {"hearing": threshold}, **more)

    def eye(self, position, threshold=0.0, **more):
        return self.sensor(position, {"sight": threshold}, sight_cones=[ALL_ROUND], **more)

    def sensor(self, position, thresholds, **more):
        return self.manager.add_sensor(
            position=position, thresholds=thresholds,
            **{"forward": AHEAD, "on_sensed": self.heard.append, **more})

    def source(self, position, **strengths):
        return self.manager.add_source(position=position, strengths=strengths)

    def tick(self, frames=1, budget=None):
        for _ in range(frames):
            self.clock.advance()
            self.manager.advance(budget or Budget.unlimited())

    def told(self):
        """Who was told of whom, and forget it."""
        pairs = [(one.sensor_id, one.source_id) for one in self.heard]
        self.heard.clear()
        return pairs


COORDINATE = st.integers(-8, 8).map(lambda eighths: eighths / 8)
POINT = st.tuples(COORDINATE, COORDINATE, COORDINATE)
SHARE = st.sampled_from([0.0, 0.25, 0.5, 0.8, 0.9, 1.0])


@st.composite
def graphs(draw, sense="hearing", most_regions=6, most_portals=14):
    """Rooms in a row, with portals between any of them."""
    count = draw(st.integers(1, most_regions))
    regions = [
        room(f"room {k}", (4.0 * k, 0, 0), kept_per_m={sense: draw(SHARE)},
             dissipation={sense: draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))})
        for k in range(count)
    ]
    portals = []
    for number in range(draw(st.integers(0, most_portals)) if count > 1 else 0):
        here, there = draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=2, unique=True))
        (x, y, z), (u, v, w) = draw(POINT), draw(POINT)
        passage = Passage(
            (4.0 * here + x, y, z), (4.0 * there + u, v, w), kept_per_m=draw(SHARE),
            distance_m=draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])), closed_kept_per_m=draw(SHARE),
            area_m2=draw(st.sampled_from([0.5, 1.0, 20.0])))
        portals.append(SensePortal(f"room {here}", f"room {there}", {sense: passage},
                                   name=f"portal {number}", is_open=draw(st.booleans())))
    return SenseGraph(regions, portals)


def plainly_reached(graph, modality, region, origin, strength, faintest):
    """Dijkstra as a textbook has it: portal id to its distance and intensity."""
    def label(before_m, before, place, here, number):
        passage = graph.portals[number].passages.get(modality.name)
        if passage is None:
            return None
        share = passage.kept_per_m if graph.is_open(number) else passage.closed_kept_per_m
        leg_m = math.dist(place, passage.start)
        kept = share**passage.distance_m if share else 0.0
        kept_per_m = graph.regions[here].kept_per_m.get(modality.name, modality.kept_per_m)
        distance_m = before_m + (leg_m + passage.distance_m)
        intensity = before * (kept_per_m**leg_m * kept)
        if distance_m > modality.range_m or intensity < faintest or intensity <= 0:
            return None
        return (distance_m, -intensity, (here, number))

    def leaving(here):
        return [k for k, one in enumerate(graph.portals) if graph.region_id(one.from_region) == here]

    waiting = [label(0.0, strength, origin, region, k) for k in leaving(region)]
    done = {}
    while waiting := [one for one in waiting if one is not None and one[2][1] not in done]:
        distance_m, negative, (_, number) = min(waiting)
        done[number] = (distance_m, -negative)
        portal = graph.portals[number]
        there = graph.region_id(portal.to_region)
        end = portal.passages[modality.name].end
        waiting += [label(distance_m, -negative, end, there, k) for k in leaving(there)]
    return done


def plainly_heard(graph, modality, ear, region, origin, strength, faintest, threshold=0.0):
    """The first that an ear hears: distance, intensity and portal (-1 for none), or None."""
    here = graph.region_at(ear)
    ways = [(0.0, strength, -1, origin)] if here == region else []
    for number, (distance_m, intensity) in plainly_reached(
            graph, modality, region, origin, strength, faintest).items():
        portal = graph.portals[number]
        if graph.region_id(portal.to_region) == here:
            ways.append((distance_m, intensity, number, portal.passages[modality.name].end))
    kept_per_m = graph.regions[here].kept_per_m.get(modality.name, modality.kept_per_m)
    heard = []
    for distance_m, intensity, number, place in ways:
        leg_m = math.dist(place, ear)
        total, left = distance_m + leg_m, intensity * kept_per_m**leg_m
        if total <= modality.range_m and left >= max(faintest, threshold):
            start = graph.region_id(graph.portals[number].from_region) if number >= 0 else -1
            heard.append((total, -left, (start, number)))
    if not heard:
        return None
    total, negative, (_, number) = min(heard)
    return total, -negative, number
