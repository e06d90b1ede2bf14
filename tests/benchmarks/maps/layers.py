"""Six layers of 512 x 512 cells, beside plain loops and SciPy's ndimage."""
from __future__ import annotations

import functools

import numpy as np

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.maps.choke_points import choke_points
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.influence_map import blur_rows
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import MapLayer
from ai_core.maps.map_queries import best_cells
from ai_core.maps.map_snapshot import MapSnapshot
from tools.benchmarking.declarations import Contest

SIDE, LAYERS, KEPT = 512, 6, 0.9
NAMES = tuple("abcdef")
WEIGHTS = dict(zip(NAMES, (1.0, -0.5, 2.0, 0.25, -1.0, 3.0), strict=True))
ROWS = 128


@functools.cache
def layers():
    return np.random.default_rng(4).random((LAYERS, SIDE, SIDE), np.float32)


@functools.cache
def _picture():
    picture = MapSnapshot(MapArea(SIDE, SIDE), NAMES)
    for name, layer in zip(NAMES, layers(), strict=True):
        picture.drawn[name][:] = layer
    return picture


def nearly_same(ours, other):
    return np.allclose(ours, other, rtol=1e-4, atol=1e-4)


def _blurred(decayed, column, blurred):
    for layer in range(LAYERS):
        np.multiply(layers()[layer], np.float32(KEPT), out=decayed)
        for first in range(0, SIDE, ROWS):
            blur_rows(decayed, first, first + ROWS, column, blurred[layer])


def whole(_n):
    """Decay, blur and combine, as an update and a question to it do."""
    decayed, column, combined = (np.empty((SIDE, SIDE), np.float32) for _ in range(3))
    picture = MapSnapshot(MapArea(SIDE, SIDE), NAMES)
    blurred = [picture.drawn[name] for name in NAMES]

    def ours():
        _blurred(decayed, column, blurred)
        return picture.combined(WEIGHTS, out=combined).copy()

    as_lists = layers().tolist()

    def by_loops():
        combined = [[0.0] * SIDE for _ in range(SIDE)]
        for layer, weight in zip(as_lists, WEIGHTS.values(), strict=True):
            blurred = _blurred_by_loops([[one * KEPT for one in row] for row in layer])
            for row, sums in zip(blurred, combined, strict=True):
                for column, one in enumerate(row):
                    sums[column] += weight * one
        return np.array(combined)

    return Contest(ours, {"plain loops": by_loops}, is_same=nearly_same)


def _blurred_by_loops(values):
    """Columns and then rows, as quick as loops over lists are."""
    last = SIDE - 1
    columns = [
        [(above + here + here + below) / 4 for above, here, below in zip(
            values[max(row - 1, 0)], values[row], values[min(row + 1, last)], strict=True)]
        for row in range(SIDE)
    ]
    blurred = []
    for row in columns:
        found = [(row[column - 1] + 2 * row[column] + row[column + 1]) / 4 for column in range(1, last)]
        blurred.append([(3 * row[0] + row[1]) / 4, *found, (row[last - 1] + 3 * row[last]) / 4])
    return blurred


def blurring(_n):
    column, blurred = np.empty((SIDE, SIDE), np.float32), np.empty((LAYERS, SIDE, SIDE), np.float32)

    def ours():
        for layer in range(LAYERS):
            for first in range(0, SIDE, ROWS):
                blur_rows(layers()[layer], first, first + ROWS, column, blurred[layer])
        return blurred[-1].copy()

    def by_scipy():
        from scipy import ndimage

        weights, out, occlusion = [0.25, 0.5, 0.25], np.empty_like(blurred), np.empty((SIDE, SIDE), np.float32)

        def blur():
            for layer in range(LAYERS):
                ndimage.correlate1d(layers()[layer], weights, axis=0, output=occlusion, mode="nearest")
                ndimage.correlate1d(occlusion, weights, axis=1, output=out[layer], mode="nearest")
            return out[-1].copy()

        return blur

    return Contest(ours, peers={"scipy": by_scipy}, is_same=nearly_same)


def _decision_map(is_open=None):
    clock = ManualClock()
    drawn = (
        MapLayer("resources", writes="latest"), MapLayer("objectives", writes="latest"),
        MapLayer("conflict", kept_per_s=0.95, blur_passes=2), MapLayer("threat", kept_per_s=0.0, kept_per_m=0.9),
        MapLayer("visibility", kept_per_s=0.0),
        MapLayer("exploration", writes="latest", initial=600.0, max_value=600.0, grows_per_s=1.0),
    )
    return DecisionMap(MapArea(SIDE, SIDE), drawn, clock, period_s=0, is_open=is_open), clock


def updating(units):
    """A whole update of six different layers, into which so many units have written."""
    decision_map, clock = _decision_map()
    places = np.random.default_rng(5).random((units, 2)) * SIDE

    def update():
        clock.advance()
        for name in decision_map.layers:
            decision_map.write_at(name, places, 1.0)
        decision_map.advance(Budget.unlimited())
        return decision_map.updates >= 0

    return Contest(update)


def writing(units):
    """One batch of so many units, beside a loop over them."""
    decision_map, _ = _decision_map()
    places = (np.random.default_rng(5).random((units, 2)) * SIDE).astype(np.float32)
    grid = [[0.0] * SIDE for _ in range(SIDE)]
    by_hand = places.tolist()

    def ours():
        return decision_map.write_at("conflict", places, 1.0)

    def loop():
        written = 0
        for x, y in by_hand:
            column, row = int(x), int(y)
            if 0 <= column < SIDE and 0 <= row < SIDE:
                grid[row][column] += 1.0
                written += 1
        return written

    return Contest(ours, {"plain loop": loop})


def best(_n):
    picture = _picture()
    return Contest(lambda: best_cells(picture["a"], 8, apart_cells=16).tolist())


def chokes(_n):
    ground = np.ones((SIDE, SIDE), bool)
    ground[31::32] = ground[:, 31::32] = False
    ground[31::32, 15::32] = ground[15::32, 31::32] = True
    return Contest(lambda: len(choke_points(ground, 3)))
