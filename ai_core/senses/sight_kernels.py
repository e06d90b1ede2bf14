"""The hot loops of the senses: who is in reach of whom, and what is sensed there.

This is the twin in Python and NumPy of ``_sight_kernels``, which is used in its
place where it was built, with the same results to the last bit. A rough test in
single precision over all finds candidates; few of them are tested one by one in
plain Python, many at once in NumPy. All forms do the same operations on float64
in the same order: a product and a sum never fused, no ``hypot``, no
``numpy.power``, which round differently from machine to machine.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.modality import intensity_at
from ai_core.senses.pairs_in_view import keys_of
from ai_core.senses.reach import may_reach, may_reach_from
from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight import NO_CONE, bearings, cone_towards, first_cone_containing
from ai_core.senses.source_table import SourceTable
from ai_core.twins import twin

__all__ = ["FEW", "INTERFACE", "Sense", "pairs_in_reach", "sensors_reached"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""

FEW = 24
"""Candidates up to which one by one is faster than NumPy's calls (count).

About 3 µs each with cones against 70 µs for all, 0.5 without against 15.
"""

Floats = NDArray[np.float64]


class Sense(NamedTuple):
    """What the loops need to know of a modality, and which way is up.

    Attributes:
        number: of the modality, its column in tables.
        range_m: beyond this nothing is sensed (m).
        attenuation: share of the intensity kept per metre.
        needs_cone: whether only what is in a sight cone counts.
        up: unit length.
        aside: unit length, at right angles to ``up``: the right of who faces up.
    """

    number: int
    range_m: float
    attenuation: float
    needs_cone: bool
    up: Point = (0.0, 1.0, 0.0)
    aside: Point = (1.0, 0.0, 0.0)


@twin
def pairs_in_reach(
    sensors: SensorTable,
    sensor_ids: NDArray[np.int32],
    sources: SourceTable,
    source_ids: NDArray[np.int32],
    sense: Sense,
    out_keys: NDArray[np.int64],
    out_intensity: Floats,
) -> int:
    """Write the pairs that pass every test but the ray; return how many.

    Args:
        sensors: who looks.
        sensor_ids: (n,), in use.
        sources: what is looked for.
        source_ids: (m,), in use.
        sense: a continuous modality.
        out_keys: (n * m,) or more; see ``keys_of``. In the order of sensors,
            then of sources.
        out_intensity: (n * m,) or more.

    Cost: O(n * m).
    """
    found = len(sensor_ids) * len(source_ids)
    if min(len(out_keys), len(out_intensity)) < found:
        raise ValueError(f"out_keys and out_intensity must have room for {found} pairs")
    eyes, targets = sensors.ids.slots_of_known(sensor_ids), sources.ids.slots_of_known(source_ids)
    senses = np.isfinite(sensors.threshold[:, sense.number].take(eyes))
    shows = sources.strength[:, sense.number].take(targets) >= 0
    if not senses.all():
        eyes, sensor_ids = eyes[senses], sensor_ids[senses]
    if not shows.all():
        targets, source_ids = targets[shows], source_ids[shows]
    rows, columns = may_reach(
        sensors.position.T.take(eyes, axis=1), sources.position.T.take(targets, axis=1),
        sense.range_m,
    )
    if not len(rows):
        return 0
    test = _pairs_one_by_one if len(rows) <= FEW else _pairs_at_once
    kept, intensity = test(
        sensors, eyes[rows], sources, targets[columns], source_ids[columns], sense
    )
    found = len(kept)
    out_keys[:found] = keys_of(sensor_ids[rows[kept]], source_ids[columns[kept]])
    out_intensity[:found] = intensity
    return found


@twin
def sensors_reached(
    sensors: SensorTable,
    sense: Sense,
    origin: Point,
    strength: float,
    affiliation: int,
    source_id: int,
) -> tuple[list[int], list[float], list[float]]:
    """Return who senses one signal: slots, ascending, distances (m) and intensities.

    Args:
        sensors: who may sense it.
        sense: a modality without cones.
        origin: where it comes from (m), exact in float32.
        strength: there, 0 or more.
        affiliation: of its source, as bits.
        source_id: its source, which does not sense it itself.

    Cost: O(sensors).
    """
    slots = may_reach_from(origin, sensors.position.T[:, : sensors.rows], sense.range_m)
    if not slots:
        return [], [], []
    test = _signal_one_by_one if len(slots) <= FEW else _signal_at_once
    return test(sensors, slots, sense, origin, strength, affiliation, source_id)


def _pairs_one_by_one(
    sensors: SensorTable,
    eyes: NDArray[np.intp],
    sources: SourceTable,
    targets: NDArray[np.intp],
    source_ids: NDArray[np.int32],
    sense: Sense,
) -> tuple[list[int], list[float]]:
    number, range_m, attenuation, needs_cone, up, aside = sense
    found: list[int] = []
    intensities: list[float] = []
    columns = zip(
        *sensors.position.T.take(eyes, axis=1).tolist(),
        *sources.position.T.take(targets, axis=1).tolist(),
        ((sensors.notices[eyes] & sources.affiliation[targets]) != 0).tolist(),
        (sensors.own_source[eyes] == source_ids).tolist(),
        sources.strength[:, number].take(targets).tolist(),
        sensors.threshold[:, number].take(eyes).tolist(),
        eyes.tolist(), strict=True,
    )
    for k, (ex, ey, ez, tx, ty, tz, notices, is_own, sensed, threshold, eye) in enumerate(columns):
        dx, dy, dz = tx - ex, ty - ey, tz - ez
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        if distance > range_m or is_own or not notices:
            continue
        if attenuation != 1:
            sensed *= attenuation**distance
        if needs_cone:
            cones = sensors.cones[eye].tolist()
            cone = cone_towards((dx, dy, dz), sensors.forward[eye].tolist(), up, aside, cones)
            if cone == NO_CONE:
                continue
            sensed *= cones[cone][3]
        if sensed >= threshold:
            found.append(k)
            intensities.append(sensed)
    return found, intensities


def _pairs_at_once(
    sensors: SensorTable,
    eyes: NDArray[np.intp],
    sources: SourceTable,
    targets: NDArray[np.intp],
    source_ids: NDArray[np.int32],
    sense: Sense,
) -> tuple[NDArray[np.intp], Floats]:
    kept = (sensors.notices[eyes] & sources.affiliation[targets]) != 0
    kept &= sensors.own_source[eyes] != source_ids
    offsets = sources.position[targets].astype(np.float64)
    offsets -= sensors.position[eyes]
    distance = _lengths_of(offsets)
    kept &= distance <= sense.range_m
    intensity = sources.strength[targets, sense.number]
    if sense.attenuation != 1:
        intensity = intensity_at(intensity, distance, sense.attenuation)
    if sense.needs_cone:
        bearing = bearings(
            offsets, sensors.forward[eyes], np.array(sense.up), np.array(sense.aside)
        )
        cones = sensors.cones[eyes]
        first = first_cone_containing(bearing, cones)
        kept &= first != NO_CONE
        if cones.shape[1]:
            intensity = intensity * cones[np.arange(len(first)), first, 3]
    kept &= intensity >= sensors.threshold[eyes, sense.number]
    return np.flatnonzero(kept), intensity[kept]


def _signal_one_by_one(
    sensors: SensorTable,
    slots: Sequence[int],
    sense: Sense,
    origin: Point,
    strength: float,
    affiliation: int,
    source_id: int,
) -> tuple[list[int], list[float], list[float]]:
    ox, oy, oz = origin
    reached: list[int] = []
    distances: list[float] = []
    intensities: list[float] = []
    columns = zip(
        slots,
        *sensors.position.T.take(slots, axis=1).tolist(),
        sensors.threshold[:, sense.number].take(slots).tolist(),
        sensors.notices.take(slots).tolist(),
        sensors.own_source.take(slots).tolist(), strict=True,
    )
    for slot, x, y, z, threshold, notices, own_source in columns:
        dx, dy, dz = x - ox, y - oy, z - oz
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        if distance > sense.range_m or own_source == source_id or not notices & affiliation:
            continue
        intensity = strength
        if sense.attenuation != 1:
            intensity *= sense.attenuation**distance
        if intensity >= threshold and threshold < math.inf:
            reached.append(slot)
            distances.append(distance)
            intensities.append(intensity)
    return reached, distances, intensities


def _signal_at_once(
    sensors: SensorTable,
    slots: Sequence[int],
    sense: Sense,
    origin: Point,
    strength: float,
    affiliation: int,
    source_id: int,
) -> tuple[list[int], list[float], list[float]]:
    rows = np.array(slots, np.intp)
    distance = _lengths_of(sensors.position[rows].astype(np.float64) - np.array(origin))
    intensity = np.full(len(rows), strength)
    if sense.attenuation != 1:
        intensity = intensity_at(strength, distance, sense.attenuation)
    threshold = sensors.threshold[rows, sense.number]
    kept = (distance <= sense.range_m) & (intensity >= threshold) & np.isfinite(threshold)
    kept &= (sensors.notices[rows] & affiliation) != 0
    kept &= sensors.own_source[rows] != source_id
    return rows[kept].tolist(), distance[kept].tolist(), intensity[kept].tolist()


def _lengths_of(offsets: Floats) -> Floats:
    x, y, z = offsets[:, 0], offsets[:, 1], offsets[:, 2]
    lengths: Floats = np.sqrt(x * x + y * y + z * z)
    return lengths
