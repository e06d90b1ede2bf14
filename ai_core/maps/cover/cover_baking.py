"""Cover baking: finds cover spots along the walls of a level with rays, in slices."""
from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import (
    as_array,
    check_callable,
    check_callables,
    check_kind,
    check_type,
    finite_number,
    flags,
    positions,
    shown,
    whole_number,
)
from ai_core.maps.cover.cover_spots import (
    FARTHEST_M,
    LEFT,
    OVER,
    RIGHT,
    UPWARD,
    Blocked,
    CoverBody,
    CoverCandidates,
    CoverSpots,
    check_blocked,
)
from ai_core.maps.passage import GridPassage
from ai_core.scheduling.interruptible import SteppedWork

WELD_M = 1e-3
"""Polygon corners nearer to each other than this are merged (m): meshes are stored with rounded numbers."""


def candidates_from_grid(
    passage: GridPassage, middles: ArrayLike, *, gives_cover: ArrayLike | None = None
) -> CoverCandidates:
    """Return a candidate for each side of a free cell that borders a cell with cover.

    Args:
        passage: passage of a square or hexagonal grid.
        middles: (cells, 3) centers of all cells (m).
        gives_cover: (height, width) bool, True for cells that provide cover, such as walls but not
            water; None for all cells that cannot be entered.

    Raises:
        TypeError, ValueError: if an argument does not match the grid.

    Cost: O(cells).
    """
    check_type("passage", passage, GridPassage)
    is_free = np.isfinite(passage.costs)
    covers = ~is_free if gives_cover is None else flags("gives_cover", gives_cover, passage.shape)
    places = positions("middles", middles, dimensions=(3,))
    if len(places) != is_free.size:
        raise ValueError(f"middles must be as many as cells, {is_free.size}, got {len(places)}")
    height, width = passage.shape
    froms, tos = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for even, odd in zip(passage.moves.even, passage.moves.odd, strict=True):
        if not passage.moves.is_hexagonal and 0 not in even:
            continue                              # the corner of a wall alone provides no cover
        rows, columns = np.nonzero(is_free)
        steps = np.where((rows % 2 == 1)[:, None], odd, even)
        there = np.stack((rows, columns), axis=1) + steps
        is_on = ((there >= 0) & (there < (height, width))).all(axis=1)
        rows, columns, there = rows[is_on], columns[is_on], there[is_on]
        is_cover = covers[there[:, 0], there[:, 1]]
        froms.append((rows * width + columns)[is_cover])
        tos.append((there[:, 0] * width + there[:, 1])[is_cover])
    start, end = np.concatenate(froms), np.concatenate(tos)
    order = np.lexsort((end, start))
    start, end = start[order], end[order]
    edges = places[end] - places[start]
    reach_m = float(np.linalg.norm(edges, axis=1).max()) if len(edges) else 1.0
    return CoverCandidates(places[start], edges, reach_m)


def wall_edges(vertices: ArrayLike, polygons: Sequence[ArrayLike]) -> NDArray[np.float32]:
    """Return the boundary edges of a navigation mesh: the edges that belong to one polygon only.

    Args:
        vertices: (n, 3) positions of the corners (m).
        polygons: for each polygon, the indices of its corners in order.

    Returns:
        (e, 9) float32: both ends of each edge, and a position inside its polygon (m).

    Raises:
        TypeError, ValueError: if the arguments are not a valid mesh.

    Cost: O(corners of all polygons), about 3 µs per polygon.
    """
    places = positions("vertices", vertices, dimensions=(3,))
    _, welded = np.unique(np.round(places / WELD_M).astype(np.int64), axis=0, return_inverse=True)
    welded = welded.reshape(-1)
    if not len(polygons):
        return np.zeros((0, 9), np.float32)
    rows = [_corners(polygon) for polygon in polygons]
    counts = np.array([len(row) for row in rows])
    corners = np.concatenate(rows)
    if counts.min() < 3 or corners.min() < 0 or corners.max() >= len(places):
        wrong = next(row for row in rows if len(row) < 3 or row.min() < 0 or row.max() >= len(places))
        raise ValueError(f"polygons must be 3 or more corners of 0 to {len(places) - 1}, got {shown(wrong.tolist())}")
    firsts = np.cumsum(counts) - counts
    after = np.arange(1, len(corners) + 1)
    after[firsts + counts - 1] = firsts                    # the last corner leads back to the first
    ends = corners[after]
    middles = np.add.reduceat(places[corners].astype(np.float64), firsts, axis=0) / counts[:, None]
    pairs = np.sort(np.stack((welded[corners], welded[ends]), axis=1), axis=1)
    _, which, times = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    is_wall = (times[which.reshape(-1)] == 1) & (pairs[:, 0] != pairs[:, 1])
    inside = np.repeat(middles, counts, axis=0).astype(np.float32)
    edges: NDArray[np.float32] = np.concatenate((places[corners], places[ends], inside), axis=1)[is_wall]
    return edges


def candidates_along_edges(
    edges: NDArray[np.float32], *, spacing_m: float, reach_m: float, up: str = "y"
) -> CoverCandidates:
    """Return evenly spaced candidates along walls, facing outward.

    Args:
        edges: (e, 9) float32, the result of ``wall_edges``.
        spacing_m: largest distance between candidates along an edge (m), above 0.
        reach_m: largest distance of the wall beyond the edge (m), above 0: the agent radius of the
            navigation mesh plus a margin.
        up: axis of heights: "y", "z" or "-z".

    Raises:
        TypeError, ValueError: if a number is out of range.

    Cost: O(candidates).
    """
    finite_number("spacing_m", spacing_m, above=0)
    finite_number("reach_m", reach_m, above=0)
    upward = np.array(UPWARD[up], np.float64)
    starts, alongs = edges[:, :3].astype(np.float64), edges[:, 3:6].astype(np.float64) - edges[:, :3]
    outs = np.cross(alongs, upward)
    lengths = np.linalg.norm(outs, axis=1)
    is_level = lengths > 0                                 # vertical edges are dropped
    starts, alongs, outs = starts[is_level], alongs[is_level], outs[is_level] / lengths[is_level, None]
    is_inward = ((edges[is_level, 6:9] - starts) * outs).sum(axis=1) > 0
    outs[is_inward] *= -1
    counts = np.maximum(1, np.ceil(np.linalg.norm(alongs, axis=1) / spacing_m)).astype(np.int64)
    numbers = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    shares = ((numbers + 0.5) / np.repeat(counts, counts))[:, None]
    places = np.repeat(starts, counts, axis=0) + np.repeat(alongs, counts, axis=0) * shares
    return CoverCandidates(
        places.astype(np.float32), np.repeat(outs, counts, axis=0).astype(np.float32), reach_m)


def _corners(polygon: ArrayLike) -> NDArray[np.int64]:
    corners = as_array("polygons", polygon).reshape(-1)
    if corners.size and corners.dtype.kind not in "iu":
        raise TypeError(f"polygons must contain integers, got {shown(polygon)}")
    return corners.astype(np.int64)


PLACES_PER_STEP = 8
"""Candidates tested at once (count), with 16 rays, then up to 96 around the places that hide a body. Most of
the time of each step is fixed, some 30 µs, so fewer candidates take as long."""
JOINED_TOGETHER = 32
"""Groups of candidates whose spots are joined at once (count): 40 µs, and the result of 20,000 candidates 0.1 ms."""
PROBE = 0.85
"""Height of the test rays as a share of the body height: cover that ends below the eyes hides no body."""


class Probed(NamedTuple):
    """Places that hide a body, and from where to where rays go."""

    places: NDArray[np.float32]
    towards: NDArray[np.float32]
    low: NDArray[np.float32]
    eyes: NDArray[np.float32]
    reaches: NDArray[np.float32]
    is_low: NDArray[np.bool_]


@dataclass(frozen=True)
class CoverBakingSettings:
    """Settings of cover baking.

    Args:
        exposure_m: length of the rays that measure how open a spot is (m), above 0.
        directions: number of these rays (count), 1 to 64.
        peek_m: distance to the side within which cover must end for a peek past it (m), above 0.

    Raises:
        TypeError, ValueError: if a number is out of range.
    """

    exposure_m: float = 10.0
    directions: int = 8
    peek_m: float = 1.0

    def __post_init__(self) -> None:
        finite_number("exposure_m", self.exposure_m, above=0, maximum=FARTHEST_M)
        finite_number("peek_m", self.peek_m, above=0, maximum=FARTHEST_M)
        whole_number("directions", self.directions, minimum=1, maximum=64)


class CoverBaking(SteppedWork):
    """Finds the cover of a level. Interruptible work: advance it until it is done, then read the result.

    Args:
        candidates: positions beside possible cover.
        blocked: ray test, see ``Blocked``. In a game, rays hit walls but not characters.
        body: size of the character that hides; None for the defaults of ``CoverBody``.
        settings: None for the defaults of ``CoverBakingSettings``.
        ground: function from positions (n, 3) to floor positions (n, 3) (m), as navigation meshes float
            above the floor; None if the candidates are on the floor.

    Raises:
        TypeError: if an argument has the wrong type.

    Cost: per candidate the cost of ``ground`` and 2 rays; with cover, 4 more and one for each
    direction. 8 candidates take 4 steps, of which two are a call of ``blocked``.
    """

    SHOWN = ("progress",)

    def __init__(
        self, candidates: CoverCandidates, blocked: Blocked, *, body: CoverBody | None = None,
        settings: CoverBakingSettings | None = None,
        ground: Callable[[NDArray[np.float32]], NDArray[np.float32]] | None = None,
    ) -> None:
        check_type("candidates", candidates, CoverCandidates)
        check_callable("blocked", blocked)
        check_callables(ground=ground)
        self._candidates, self._blocked, self._ground = candidates, blocked, ground
        check_kind("body", body, CoverBody)
        check_kind("settings", settings, CoverBakingSettings)
        self._body = body or CoverBody()
        self._settings = settings or CoverBakingSettings()
        angles = np.arange(self._settings.directions) * (2 * np.pi / self._settings.directions)
        across = np.array([1, 0, 0], np.float32)
        along = np.cross(self._body.upward, across)
        around = np.cos(angles)[:, None] * across + np.sin(angles)[:, None] * along
        self._around = (around * self._settings.exposure_m).astype(np.float32)
        self._looked = 0
        self._steps = self._bake()
        self._found: list[CoverSpots] = []
        self._late: list[CoverSpots] = []       # not joined yet

    @property
    def is_done(self) -> bool:
        """True when all candidates were tested."""
        return self._looked >= len(self._candidates) and not self._is_cancelled

    @property
    def progress(self) -> float:
        """Share of the candidates that were tested, 0 to 1."""
        return self._looked / len(self._candidates) if len(self._candidates) else 1.0

    @property
    def result(self) -> CoverSpots:
        """The spots found, in the order of the candidates.

        Raises:
            RuntimeError: if the baking is not done.
        """
        self._check_done()
        return CoverSpots.joined((*self._found, *self._late))

    def _bake(self) -> Generator[None, None, None]:
        """Bake in steps of at most some 50 µs beside ``blocked`` and ``ground``."""
        while self._looked < len(self._candidates):
            probed = yield from self._probe(slice(self._looked, self._looked + PLACES_PER_STEP))
            yield
            self._late.append((yield from self._survey(*probed)))
            if len(self._late) == JOINED_TOGETHER:
                yield
                self._found.append(CoverSpots.joined(self._late))
                self._late = []
            self._looked = min(len(self._candidates), self._looked + PLACES_PER_STEP)
            yield

    def _probe(self, rows: slice) -> Generator[None, None, Probed]:
        """Return the places of some candidates that hide a body."""
        body = self._body
        places, towards = self._candidates.places[rows], self._candidates.towards[rows]
        if self._ground is not None:
            places = self._ground(places)
            yield
        low, high = (places + body.upward * np.float32(PROBE * one) for one in (body.crouching_m, body.standing_m))
        probes = (low,) if body.is_flat else (low, high)
        reaches = towards * np.float32(self._candidates.reach_m)
        is_met = self._ask(np.concatenate(probes), np.concatenate([one + reaches for one in probes]))
        is_cover, is_high = is_met[:len(low)], is_met[-len(low):]
        kept = is_cover | is_high
        places, towards, low, high, reaches = (one[kept] for one in (places, towards, low, high, reaches))
        is_low = ~is_high[kept]
        return Probed(places, towards, low, np.where(is_low[:, None], low, high), reaches, is_low)

    def _ask(self, starts: NDArray[np.float32], ends: NDArray[np.float32]) -> NDArray[np.bool_]:
        return check_blocked(self._blocked, np.concatenate((starts, ends), axis=1))

    def _survey(
        self, places: NDArray[np.float32], towards: NDArray[np.float32], low: NDArray[np.float32],
        eyes: NDArray[np.float32], reaches: NDArray[np.float32], is_low: NDArray[np.bool_],
    ) -> Generator[None, None, CoverSpots]:
        """Return spots with their exposures and open sides: stepping aside is free, and nothing is in front there."""
        sides = self._body.left_of(towards) * np.float32(self._settings.peek_m)
        left, right = eyes + sides, eyes - sides
        count = self._settings.directions
        middles = np.repeat(low, count, axis=0)
        starts = np.concatenate((middles, eyes, eyes, left, right))
        around = middles + np.tile(self._around, (len(low), 1))
        ends = np.concatenate((around, left, right, left + reaches, right + reaches))
        yield
        is_open = ~self._ask(starts, ends)
        yield
        exposures: NDArray[np.float32] = is_open[:len(middles)].reshape(len(low), count).mean(axis=1, dtype=np.float32)
        to_left, to_right, ahead_left, ahead_right = is_open[len(middles):].reshape(4, len(low))
        peeks = np.where(is_low, np.uint8(OVER), np.uint8(0))
        peeks[to_left & ahead_left] |= np.uint8(LEFT)
        peeks[to_right & ahead_right] |= np.uint8(RIGHT)
        return CoverSpots(places, towards, is_low, exposures, peeks)


__all__ = ["CoverBaking", "CoverBakingSettings", "candidates_along_edges", "candidates_from_grid", "wall_edges"]
