"""Where cover may be: cells beside walls of a grid, and places along the edges of a navigation mesh."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.errors import as_array, finite_number, positions, shown
from ai_core.maps.cover_body import UPWARD
from ai_core.maps.cover_spots import CoverCandidates
from ai_core.maps.passage import Passage

__all__ = ["candidates_along_edges", "candidates_of_grid", "wall_edges"]

WELD_M = 1e-3
"""Corners of polygons nearer to each other than this are one (m): meshes are written with rounded numbers."""


def candidates_of_grid(
    passage: Passage, middles: ArrayLike, *, gives_cover: ArrayLike | None = None
) -> CoverCandidates:
    """Return free cells with something beside them that gives cover, once for each such side.

    Args:
        passage: of a square or hexagonal grid.
        middles: (cells, 3) where the middles of all cells are (m).
        gives_cover: (height, width) bool, cells that can hide somebody: walls, not water;
            all that cannot be entered, if left out.

    Raises:
        TypeError, ValueError: if they do not fit the grid.

    Cost: O(cells).
    """
    if not isinstance(passage, Passage):
        raise TypeError(f"passage must be a Passage of a grid, got {shown(passage)}")
    is_free = np.isfinite(passage.costs)
    covers = ~is_free if gives_cover is None else as_array("gives_cover", gives_cover)
    if covers.dtype != np.bool_ or covers.shape != passage.shape:
        raise ValueError(f"gives_cover must be bool of shape {passage.shape}, got {covers.dtype} {covers.shape}")
    places = positions("middles", middles, dimensions=(3,))
    if len(places) != is_free.size:
        raise ValueError(f"middles must be as many as cells, {is_free.size}, got {len(places)}")
    height, width = passage.shape
    froms, tos = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for even, odd in zip(passage.moves.even, passage.moves.odd, strict=True):
        if not passage.moves.is_hexagonal and 0 not in even:
            continue                              # nobody hides behind the corner of a wall alone
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
    ways = places[end] - places[start]
    reach_m = float(np.linalg.norm(ways, axis=1).max()) if len(ways) else 1.0
    return CoverCandidates(places[start], ways, reach_m)


def wall_edges(vertices: ArrayLike, polygons: Sequence[ArrayLike]) -> NDArray[np.float32]:
    """Return the edges of a navigation mesh where it ends: those of one polygon only.

    Args:
        vertices: (n, 3) corners (m).
        polygons: the corners of each, in order.

    Returns:
        (e, 9): both ends of each edge, and a place inside its polygon.

    Raises:
        TypeError, ValueError: if they are no mesh.

    Cost: O(corners of all polygons), some 3 µs a polygon.
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
        raise ValueError(f"polygons must name 3 corners or more, 0 to {len(places) - 1}, got {shown(wrong.tolist())}")
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
    """Return places along walls, evenly spaced, that face outward.

    Args:
        edges: (e, 9) as from ``wall_edges``.
        spacing_m: distance of two places along an edge, at most (m).
        reach_m: how far beyond the edge a wall may be: radius of the mesh's agent, and some more (m).
        up: axis of heights.

    Raises:
        TypeError, ValueError: if a number is out of range.

    Cost: O(places).
    """
    finite_number("spacing_m", spacing_m, above=0)
    finite_number("reach_m", reach_m, above=0)
    upward = np.array(UPWARD[up], np.float64)
    starts, alongs = edges[:, :3].astype(np.float64), edges[:, 3:6].astype(np.float64) - edges[:, :3]
    outs = np.cross(alongs, upward)
    lengths = np.linalg.norm(outs, axis=1)
    is_level = lengths > 0                                 # others stand upright
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
        raise TypeError(f"polygons must hold whole numbers, got {shown(polygon)}")
    return corners.astype(np.int64)
