"""The scent of one source: how much of it is in each region, and where it came in."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_ways import expanded, lengths
from ai_core.senses.graph.smell_flow import Cloud, NewRegions, SmellPlan, flow
from ai_core.senses.modality import Modality
from ai_core.senses.sensation import Point

__all__ = ["NO_CLOUD", "ScentCloud", "ScentGradient", "SmellRoom"]

MOST_LEAVES = 0.5
"""Largest share of a region's smell that leaves in one step.

More would let two regions swing instead of coming to rest. A region too small for its
portals counts as just large enough, so that it comes to rest at the right intensity.
"""

NO_CLOUD = Cloud(np.zeros(0, np.int32), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros((0, 3)))
"""A scent that is nowhere."""


class ScentGradient(NamedTuple):
    """The direction in which a scent is stronger.

    Attributes:
        region: id of the region that it comes from.
        portal: id of the portal that it comes through.
        position: entry point in the current region (m): go there, and through.
        intensity: its intensity in that region.
    """

    region: int
    portal: int
    position: Point
    intensity: float


class SmellRoom:
    """How one kind of smell spreads in one graph; shared by all its scents.

    Args:
        graph: regions with volumes and dissipation.
        modality: its inverse speed is above 0.
        faintest: an intensity below this does not spread, and goes when it fades.
        step_s: length of a step (s), above 0.

    Attributes:
        plan: what a step needs.
        room_m3: (regions,) volumes, as large as the step needs them (m³).
        came: written by each step.
    """

    def __init__(
        self, graph: SenseGraph, modality: Modality, faintest: float, step_s: float
    ) -> None:
        ways = graph.ways(modality)
        flow_m3 = ways.area_m2 * ways.kept_open * (step_s / modality.delay_s_per_m)
        leaving = np.bincount(ways.from_region, flow_m3, len(graph.regions))
        volume = np.array([region.volume_m3 for region in graph.regions], np.float64)
        self.room_m3 = np.maximum(volume, leaving / MOST_LEAVES)
        rate = ways.area_m2 * (step_s / modality.delay_s_per_m) / self.room_m3[ways.from_region]
        regions = len(volume)
        self.plan = SmellPlan(
            ways, np.zeros(len(ways)), ways.distance_m.copy(), np.zeros(regions),
            np.float_power(1.0 - ways.dissipation, step_s), faintest * self.room_m3,
            modality.delay_s_per_m, np.zeros(regions, np.int32),
        )
        self.came = NewRegions(np.empty(regions, np.int32), np.empty(regions), np.empty(regions),
                              np.empty(regions, np.int32))

        self._rate = rate
        for region in range(regions):
            self._work_out(region)
        ways.followers.add(self)

    def row_changed(self, row: int) -> None:
        """Take in that a door of this row opened or shut, or that another wind blows there."""
        self._work_out(int(self.plan.ways.from_region[row]))

    def _work_out(self, region: int) -> None:
        """Work out what leaves a region by its passages."""
        plan, ways = self.plan, self.plan.ways
        if not len(ways.out_of(region)):
            return
        rows = slice(ways.out_of(region).start, ways.out_of(region).stop)
        share = self._rate[rows] * ways.kept[rows]
        wind = ways.wind_m_per_s[rows]
        if wind.any():
            # As fast as the wind and its own speed together; of more than may leave, a part.
            faster = np.maximum(0.0, 1.0 + wind * plan.seconds_per_metre)
            share = share * faster
            share = share * min(1.0, MOST_LEAVES / max(float(share.sum()), MOST_LEAVES))
            plan.away_m[rows] = ways.distance_m[rows] / np.where(faster > 0, faster, 1.0)
        else:
            plan.away_m[rows] = ways.distance_m[rows]
        plan.share[rows] = share
        # As bincount adds: one after the other, from 0 on.
        plan.leaves[region] = sum(share.tolist(), 0.0)

    def free_s(self, region: int, entry: Point, arrived_s: float) -> float:
        """Return from when on what came in at ``entry`` may leave by every passage (s)."""
        ways = self.plan.ways
        rows = np.array(ways.out_of(region), np.int64)
        if not len(rows):
            return arrived_s
        away_m = lengths(np.array([entry]) - ways.start[rows]) + self.plan.away_m[rows]
        return arrived_s + float(away_m.max()) * self.plan.seconds_per_metre


class ScentCloud:
    """One scent.

    Args:
        room: what it spreads in.
        affiliation: of its source, as bits.

    Attributes:
        cloud: where it is.
        tag: of what was let out last, for listeners.
        told_at_s: when a sensor was last told of it, by sensor id (s).
    """

    def __init__(self, room: SmellRoom, affiliation: int) -> None:
        self.room = room
        self.affiliation = affiliation
        self.tag = ""
        self.cloud = NO_CLOUD
        self.told_at_s: dict[int, float] = {}

    def __len__(self) -> int:
        """Number of regions that smell of it."""
        return len(self.cloud.region)

    @property
    def mass(self) -> float:
        """All there is of it: intensity times volume, over all regions."""
        return float(self.cloud.mass.sum())

    @property
    def intensity(self) -> NDArray[np.float64]:
        """(n,) intensity in each region of ``cloud``."""
        return np.asarray(self.cloud.mass / self.room.room_m3[self.cloud.region], np.float64)

    def intensity_in(self, region: int) -> float:
        """Return how strong it is in a region, 0 where there is none."""
        at = int(np.searchsorted(self.cloud.region, region))
        if at == len(self) or self.cloud.region[at] != region:
            return 0.0
        return float(self.cloud.mass[at]) / float(self.room.room_m3[region])

    def add(self, region: int, mass: float, position: Point, now_s: float) -> None:
        """Let more of it out."""
        at = int(np.searchsorted(self.cloud.region, region))
        if at < len(self) and self.cloud.region[at] == region:
            self.cloud.mass[at] += mass
        elif mass > 0:
            row = (region, mass, now_s, self.room.free_s(region, position, now_s), position)
            self.cloud = Cloud._make(
                np.insert(np.asarray(column), at, np.asarray(value), axis=0)
                for column, value in zip(self.cloud, row, strict=True)
            )

    def step(self, begin_s: float) -> None:
        """Let it flow and fade for one step. Cost: O(regions that smell, and their portals)."""
        cloud, room = self.cloud, self.room
        after = np.empty(len(self))
        count = flow(room.plan, cloud, begin_s, after, room.came)
        everywhere = len(self) == len(room.room_m3)
        is_faint = after < (room.plan.faint if everywhere else room.plan.faint[cloud.region])
        if is_faint.any():
            stays = ~is_faint | (after > cloud.mass)
            cloud = Cloud._make(column[stays] for column in cloud._replace(mass=after))
        else:
            cloud = cloud._replace(mass=after)
        self.cloud = self._joined(cloud, count) if count else cloud

    def uphill_from(self, region: int) -> ScentGradient | None:
        """Return where it comes from stronger than it is here, None if it is strongest here."""
        ways = self.room.plan.ways
        best: ScentGradient | None = None
        least = self.intensity_in(region)
        for row in ways.into(region):
            there = int(ways.from_region[row])
            intensity = self.intensity_in(there) if self.room.plan.share[row] > 0 else 0.0
            if intensity > least:
                x, y, z = ways.end[row].tolist()
                best = ScentGradient(there, int(ways.portal[row]), (x, y, z), intensity)
                least = intensity
        return best

    def comes_from(self, region: int) -> Point:
        """Return where it seems to come from for who smells it in a region it is in (m)."""
        uphill = self.uphill_from(region)
        if uphill is not None:
            return uphill.position
        x, y, z = self.cloud.entry[int(np.searchsorted(self.cloud.region, region))].tolist()
        return (x, y, z)

    def _joined(self, cloud: Cloud, count: int) -> Cloud:
        room, ways = self.room, self.room.plan.ways
        came = NewRegions._make(column[:count].copy() for column in room.came)
        index, row = expanded(ways.out_first, came.region)
        leg = ways.leg_first[came.via[index]] + (row - ways.out_first[came.region[index]])
        away_m = np.zeros(count)
        np.maximum.at(away_m, index, ways.leg_distance_m[leg] + room.plan.away_m[row])
        free_s = came.arrived_s + away_m * room.plan.seconds_per_metre
        new = Cloud(came.region, came.mass, came.arrived_s, free_s, ways.end[came.via])
        both = Cloud._make(
            np.concatenate([np.asarray(column) for column in columns])
            for columns in zip(cloud, new, strict=True)
        )
        order = np.argsort(both.region)
        return Cloud._make(column[order] for column in both)
