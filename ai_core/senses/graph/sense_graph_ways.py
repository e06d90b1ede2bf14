"""How one sense gets through a graph, as arrays: one row per passage.

Rows are sorted by the region they leave, then by portal. Everything that does not
depend on who emits what is worked out once: above all the legs, the straight ways
inside a region from where one passage comes out to where another goes in. Opening
a door changes one number per passage, and nothing that was worked out is lost.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.graph.sense_graph_wind import Wind
from ai_core.senses.modality import Modality
from ai_core.senses.sensation import Point

if TYPE_CHECKING:
    from ai_core.senses.graph.sense_graph import SenseGraph
    from ai_core.senses.graph.sense_graph_parts import Passage

__all__ = ["PortalTable", "expanded", "lengths", "shares_kept"]

BUCKETS_A_HOP = 4.0
"""Parts into which a typical hop is cut (count): more sort less, and look into more buckets."""

SHORTEST_HOP_M = 1e-6
"""A typical hop below which a bucket is a metre (m)."""

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Hop = tuple[int, float, float]


class Follower(Protocol):
    """Who works out something from ``kept`` and ``wind_m_per_s``."""

    def row_changed(self, row: int) -> None:
        """Take in that another share, or another wind, comes through a passage now."""


class PortalTable:
    """All passages of one modality.

    Args:
        graph: the regions and portals.
        modality: whose passages; its attenuation is that of regions with none of their own.
        is_open: which portals are open now, by id.

    Attributes:
        portal: (rows,) int32, id of the portal.
        from_region, to_region: (rows,) int32.
        start, end: (rows, 3) float64 (m).
        distance_m: (rows,) float64.
        kept: (rows,) float64, share of the intensity that comes through now.
        kept_open: (rows,) float64, the larger of what comes through open and shut.
        area_m2: (rows,) float64.
        wind_m_per_s: (rows,) float64, how fast the air goes through.
        is_relayed: (rows,) bool.
        kept_per_m: (regions,) float64, share kept per metre.
        dissipation: (regions,) float64, share lost per second.
        across_m: (regions,) float64, no two points of a region are farther apart (m); ``inf``
            for those without a shape.
        out_first: (regions + 1,) int64; rows ``out_first[r]`` to ``out_first[r + 1]`` leave r.
        in_first, in_rows: rows that lead into r stand in ``in_rows`` from ``in_first[r]`` on.
        leg_first: (rows + 1,) int64; the legs of a row to each passage that leaves where it
            leads, in their order, stand from there on.
        leg_distance_m, leg_kept: (legs,) float64.
        hop_m, hop_kept: (legs,) float64, of the leg and of the passage after it together.
        buckets_per_m: into how many parts a metre is cut to sort passages by distance (1/m).
        known_hops: by row what ``hops`` returned, or None if it was not asked or has changed.
        followers: told when ``kept`` or ``wind_m_per_s`` of a row changed; held weakly.

    Cost: memory O(passages * passages that leave a region), 32 bytes each.
    """

    def __init__(self, graph: SenseGraph, modality: Modality, is_open: Sequence[bool]) -> None:
        name, regions = modality.name, graph.regions
        self._name = name
        ids = {region.name: number for number, region in enumerate(regions)}
        rows = sorted(
            (ids[portal.from_region], number, portal.passages[name], ids[portal.to_region])
            for number, portal in enumerate(graph.portals) if name in portal.passages
        )
        passages = [passage for _, _, passage, _ in rows]
        self.portal = np.array([number for _, number, _, _ in rows], np.int32)
        self.from_region = np.array([region for region, *_ in rows], np.int32)
        self.to_region = np.array([region for *_, region in rows], np.int32)
        self.start = _points([one.start for one in passages])
        self.end = _points([one.end or one.start for one in passages])
        self.distance_m = np.array([one.distance_m for one in passages], np.float64)
        self.area_m2 = np.array([one.area_m2 for one in passages], np.float64)
        self.wind_m_per_s = np.zeros(len(rows))
        self.is_relayed = np.array([one.is_relayed for one in passages], np.bool_)
        self._kept_if = {
            True: [_share(one, one.kept_per_m) for one in passages],
            False: [_share(one, one.closed_kept_per_m) for one in passages],
        }
        self.kept_open = np.maximum(np.array(self._kept_if[True], np.float64),
                                    np.array(self._kept_if[False], np.float64))
        kept = [self._kept_if[is_open[number]][row] for row, (_, number, _, _) in enumerate(rows)]
        self.kept = np.array(kept, np.float64)
        self.kept_per_m = np.array(
            [one.kept_per_m.get(name, modality.kept_per_m) for one in regions], np.float64)
        self.dissipation = np.array(
            [one.dissipation.get(name, 0.0) for one in regions], np.float64)
        self.across_m = np.array([
            np.inf if one.shape is None else math.dist(one.shape.minimum, one.shape.maximum)
            for one in regions
        ])
        self._row_of = {int(number): row for row, number in enumerate(self.portal.tolist())}
        self._index(len(regions))
        self._add_legs()
        self.followers: WeakSet[Follower] = WeakSet()
        self.known_hops: list[list[Hop] | None] = [None] * len(rows)

    def __len__(self) -> int:
        return len(self.portal)

    def set_open(self, portal: int, is_open: bool) -> None:
        """Note that a portal opened or shut; one without this sense is none of ours."""
        row = self._row_of.get(portal)
        if row is None:
            return
        self.kept[row] = kept = self._kept_if[is_open][row]
        for follower in self.followers:
            follower.row_changed(row)
        region = int(self.from_region[row])
        for came in self.into(region):
            leg = int(self.leg_first[came]) + row - int(self.out_first[region])
            self.hop_kept[leg] = self.leg_kept[leg] * kept
            self.known_hops[came] = None

    def set_portal_wind(self, winds: Mapping[int, Wind]) -> None:
        """Note what blows through portals, by id."""
        for portal, wind in winds.items():
            row = self._row_of.get(portal)
            if row is None:
                continue
            speed = wind[self._name] if isinstance(wind, Mapping) else wind
            if speed != self.wind_m_per_s[row]:
                self.wind_m_per_s[row] = speed
                for follower in self.followers:
                    follower.row_changed(row)

    def hops(self, row: int) -> list[Hop]:
        """Return where one may go on from a row: the next row, metres on, share kept."""
        found = self.known_hops[row]
        if found is None:
            legs = slice(*self.leg_first[row : row + 2].tolist())
            following = self.out_of(int(self.to_region[row]))
            hops = zip(following, self.hop_m[legs].tolist(), self.hop_kept[legs].tolist(), strict=True)
            found = self.known_hops[row] = list(hops)
        return found

    def out_of(self, region: int) -> range:
        """Return the rows that leave a region."""
        return range(int(self.out_first[region]), int(self.out_first[region + 1]))

    def into(self, region: int) -> list[int]:
        """Return the rows that lead into a region, ascending."""
        found: list[int] = self.in_rows[self.in_first[region] : self.in_first[region + 1]].tolist()
        return found

    def _index(self, regions: int) -> None:
        counts = np.bincount(self.from_region, minlength=regions)
        self.out_first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        self.in_rows = np.argsort(self.to_region, kind="stable").astype(np.int64)
        counts = np.bincount(self.to_region, minlength=regions)
        self.in_first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)

    def _add_legs(self) -> None:
        came, goes = expanded(self.out_first, self.to_region)
        counts = np.bincount(came, minlength=len(self))
        self.leg_first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        self.leg_distance_m = lengths(self.end[came] - self.start[goes])
        kept_per_m = self.kept_per_m[self.to_region[came]]
        self.leg_kept = shares_kept(kept_per_m, self.leg_distance_m)
        self.hop_m = self.leg_distance_m + self.distance_m[goes]
        self.hop_kept = self.leg_kept * self.kept[goes]
        typical_m = float(self.hop_m.mean()) if len(self.hop_m) else 0.0
        self.buckets_per_m = BUCKETS_A_HOP / typical_m if typical_m > SHORTEST_HOP_M else 1.0


def expanded(first: Rows, keys: NDArray[np.integer]) -> tuple[Rows, Rows]:
    """Return for each key all rows that are filed under it.

    Args:
        first: (n + 1,); rows ``first[k]`` to ``first[k + 1]`` are filed under k.
        keys: (m,).

    Returns:
        For each row found the index of its key among ``keys``, and the row.

    >>> [part.tolist() for part in expanded(np.array([0, 2, 3]), np.array([1, 0]))]
    [[0, 1, 1], [2, 0, 1]]
    """
    counts = first[keys + 1] - first[keys]
    index = np.repeat(np.arange(len(keys)), counts)
    before = np.cumsum(counts) - counts
    rows = np.arange(len(index)) - np.repeat(before - first[keys], counts)
    return index, rows


def lengths(offsets: Floats) -> Floats:
    """Return the lengths (m) of offsets (n, 3), the same to the last bit on every machine."""
    x, y, z = offsets[:, 0], offsets[:, 1], offsets[:, 2]
    found: Floats = np.sqrt(x * x + y * y + z * z)
    return found


def shares_kept(kept_per_m: Floats | float, distance_m: Floats) -> Floats:
    """Return which share of an intensity is left after ``distance_m``."""
    found: Floats = np.float_power(kept_per_m, distance_m)
    return found


def _share(passage: Passage, kept_per_m: float) -> float:
    # 0 ** 0 is 1, but what lets nothing through does so at any length.
    return kept_per_m**passage.distance_m if kept_per_m else 0.0


def _points(places: Sequence[Point]) -> Floats:
    return np.array(places, np.float64).reshape(-1, 3)
