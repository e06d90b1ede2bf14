"""The hot loops of the senses for a handful: plain Python, because calls to NumPy cost more.

Everything is sorted along one axis once, and looked at only where it is near
along it. The same operations on float64 in the same order as in the other forms.
"""
from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.pairs_in_view import ID_BITS
from ai_core.senses.sight.sight_cones import NO_CONE, cone_towards
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.waves import ModalityNumbers, StimulusNumbers

__all__ = ["few_pairs", "few_sensors_reached"]

SLACK = 1.0001
"""Factor on a reach for the rough test along one axis, far above float64's rounding."""


def few_sensors_reached(
    sensors: SensorTable, waves: Sequence[StimulusNumbers]
) -> tuple[list[int], list[int], list[float], list[float]]:
    """Return how many sense each signal, and their slots, distances (m) and intensities.

    Cost: O(sensors) for each signal.
    """
    xs, ys, zs = sensors.position.T[:, : sensors.rows].tolist()
    order = sorted(range(len(xs)), key=xs.__getitem__)
    ranked = sorted(xs)
    threshold_of, notices_of, own_of = sensors.threshold.item, sensors.detection_mask.item, sensors.self_source.item
    counts: list[int] = []
    slots: list[int] = []
    distances: list[float] = []
    intensities: list[float] = []
    sense = None
    for kind, (ox, oy, oz), strength, affiliation, source_id in waves:
        if kind is not sense:
            sense = kind
            number, range_m, kept_per_m, _, _, _ = kind
            half = range_m * SLACK
        before = len(slots)
        near = order[bisect_left(ranked, ox - half) : bisect_right(ranked, ox + half)]
        near.sort()
        for slot in near:
            dz = zs[slot] - oz
            if dz > half or dz < -half:      # most of those that are near along x
                continue
            dx, dy = xs[slot] - ox, ys[slot] - oy
            distance = math.sqrt(dx * dx + dy * dy + dz * dz)
            if distance > range_m or own_of(slot) == source_id:
                continue
            sensed = strength
            if kept_per_m != 1:
                sensed *= kept_per_m**distance
            threshold = threshold_of(slot, number)
            if sensed >= threshold and threshold < math.inf and notices_of(slot) & affiliation:
                slots.append(slot)
                distances.append(distance)
                intensities.append(sensed)
        counts.append(len(slots) - before)
    return counts, slots, distances, intensities


def few_pairs(
    sensors: SensorTable,
    sensor_ids: NDArray[np.int32],
    sources: SourceTable,
    source_ids: NDArray[np.int32],
    sense: ModalityNumbers,
) -> tuple[list[int], list[float]]:
    """Return keys of pairs that pass every test but the ray, by sensor, then source; and intensities.

    Cost: O(sensors * sources).
    """
    rows, targets = sensors.ids.rows_of_known(sensor_ids), sources.ids.rows_of_known(source_ids)
    ids, eyes = sensor_ids.tolist(), _numbers(rows)
    xs, ys, zs = sensors.position.T[:, rows].tolist()
    order = sorted(range(len(ids)), key=xs.__getitem__)
    ranked = sorted(xs)
    reach_m = sense.range_m * SLACK
    found: list[tuple[int, float]] = []
    for source_id, target, strength, size, (tx, ty, tz) in zip(
        source_ids.tolist(), _numbers(targets), sources.strength[targets, sense.number].tolist(),
        sources.size[targets].tolist(), sources.position[targets].tolist(), strict=True
    ):
        half = reach_m * size
        first = bisect_left(ranked, tx - half)
        for row in order[first : bisect_right(ranked, tx + half, first)]:
            dz = tz - zs[row]
            if dz > half or dz < -half:      # most of those that are near along x
                continue
            dx, dy = tx - xs[row], ty - ys[row]
            if dx * dx + dy * dy + dz * dz > half * half or strength < 0:
                continue
            eye = eyes[row]
            if sensors.self_source.item(eye) == source_id:
                continue
            if not sensors.detection_mask.item(eye) & sources.affiliation.item(target):
                continue
            sensed = _sensed_by(sensors, eye, sense, (dx / size, dy / size, dz / size), strength)
            if sensed >= 0:
                found.append((ids[row] << ID_BITS | source_id, sensed))
    found.sort()
    return [key for key, _ in found], [sensed for _, sensed in found]


def _numbers(rows: NDArray[np.intp] | slice) -> Sequence[int]:
    return range(rows.start, rows.stop) if isinstance(rows, slice) else rows.tolist()


def _sensed_by(
    sensors: SensorTable, eye: int, sense: ModalityNumbers, offset: tuple[float, float, float], sensed: float
) -> float:
    """Return what one sensor senses of one source; -1 if that is nothing."""
    dx, dy, dz = offset
    threshold = sensors.threshold.item(eye, sense.number)
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    if distance > sense.range_m or threshold == math.inf:
        return -1.0
    if sense.kept_per_m != 1:
        sensed *= sense.kept_per_m**distance
    if sense.needs_cone:
        cones = sensors.cones[eye].tolist()
        cone = cone_towards(offset, sensors.forward[eye].tolist(), sense.up, sense.aside, cones)
        if cone == NO_CONE:
            return -1.0
        sensed *= cones[cone][3]
    return sensed if sensed >= threshold else -1.0
