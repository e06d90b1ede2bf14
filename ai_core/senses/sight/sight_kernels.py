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
from array import array
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.modality import Modality, intensity_at
from ai_core.senses.sensor_table import DEAF, SensorTable
from ai_core.senses.sight.own_reach import ROUGHLY, farthest_m
from ai_core.senses.sight.pairs_in_view import keys_of
from ai_core.senses.sight.reach import Columns, QueryBuffers, Reach, may_reach
from ai_core.senses.sight.sight_cones import acuity_towards, bearings
from ai_core.senses.sight.sight_few import few_pairs, few_sensors_reached
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.signal_queue import Signal
from ai_core.senses.stimuli.waves import ModalityNumbers, StimulusNumbers, waves_of
from ai_core.twins import twin

__all__ = [
    "INTERFACE",
    "ModalityNumbers",
    "Reached",
    "pairs_in_reach",
    "plain_signal",
    "sensors_reached",
    "signals_reached",
    "table_of",
    "waves_at_once",
]

INTERFACE = 8
"""Changes with any change of names, arguments or results, here and in the kernel."""

FEW_SENSORS = 128
"""Sensors up to which plain loops are faster than NumPy's calls (count)."""

FEW_PAIRS = 2048
"""Pairs of sensor and source up to which the same holds (count)."""

MANY = 2000
"""Candidates from which on it pays to compare logarithms before powers are worked out (count)."""

Floats = NDArray[np.float64]

Some = NDArray[np.intp] | slice
"""Rows of a table."""

Reached = tuple[list[int], list[int], list[float], list[float]]
"""How many sensors sense each signal; then by signal and slot: slots, distances (m), intensities."""


@twin
def pairs_in_reach(
    sensors: SensorTable,
    sensor_ids: NDArray[np.int32],
    sources: SourceTable,
    source_ids: NDArray[np.int32],
    sense: ModalityNumbers,
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
    if found <= FEW_PAIRS and len(sensor_ids) <= FEW_SENSORS:
        keys, sensed = few_pairs(sensors, sensor_ids, sources, source_ids, sense)
        out_keys[: len(keys)], out_intensity[: len(keys)] = keys, sensed
        return len(keys)
    eyes, targets = sensors.ids.rows_of_known(sensor_ids), sources.ids.rows_of_known(source_ids)
    shows = sources.strength[targets, sense.number] >= 0
    if np.count_nonzero(shows) < len(shows):
        source_ids = source_ids[shows]
        targets = sources.ids.slots_of_known(source_ids)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):    # far beyond any reach is far beyond
        rows, columns, intensity = _pairs_at_once(sensors, eyes, sources, targets, source_ids, sense)
    order = (rows * len(source_ids) + columns).argsort(kind="stable")
    found = len(order)
    out_keys[:found] = keys_of(sensor_ids.take(rows), source_ids.take(columns)).take(order)
    out_intensity[:found] = intensity.take(order)
    return found


@twin
def plain_signal(
    voices: Mapping[tuple[int, str], tuple[int, int, str]], order: int, source_id: object, modality: object,
    strength: object, place: object, sent_at_s: float, channel: object
) -> Signal | None:
    """Return the signal of a source whose voice is known if all is just as it should be; None is to be looked at.

    Args:
        voices: by source and name of a modality, its number, and affiliation and tag of the source.
        order: how many were emitted before it.
        source_id, modality: by whom, and in which modality.
        strength: a float, 0 or more.
        place: a tuple of three finite floats (m), which are rounded to float32, as places of sensors are.
        sent_at_s: when (s).
        channel: a text.

    Cost: O(1).
    """
    if type(source_id) is not int or type(modality) is not str or type(channel) is not str:
        return None
    if type(strength) is not float or not 0 <= strength < math.inf:
        return None
    if type(place) is not tuple or len(place) != 3 or not all(type(one) is float for one in place):
        return None
    voice = voices.get((source_id, modality))
    x, y, z = array("f", place)
    if voice is None or not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return None
    number, affiliation, tag = voice
    return Signal(order, source_id, number, strength, (x, y, z), sent_at_s, affiliation, tag, channel)


@twin
def signals_reached(sensors: SensorTable, signals: Sequence[Signal], kinds: Sequence[Modality]) -> Reached:
    """Return who senses some signals, as ``sensors_reached`` does; ``kinds`` has each modality at its number."""
    return sensors_reached(sensors, waves_of(signals, kinds))


@twin
def sensors_reached(sensors: SensorTable, waves: Sequence[StimulusNumbers]) -> Reached:
    """Return who senses some signals, as sensors stand now.

    Args:
        sensors: n rows of those who may sense them.
        waves: m signals.

    Cost: O(n) for each signal, which is less the more are asked together.
    """
    if not waves:
        return [], [], [], []
    if sensors.rows <= FEW_SENSORS:
        return few_sensors_reached(sensors, waves)
    table = table_of(waves)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):    # far beyond any reach is far beyond
        sense, own, reach_m = waves[0].sense, None, cast("Reach", table[4])
        if len({id(one.sense) for one in waves}) == 1:      # as nearly always
            loudest = max([one.strength for one in waves])
            reach_m, own = sense.range_m, sensors.own_reach.squares(sensors, sense, loudest)
        numbers, near = may_reach(
            table[:3].astype(np.float32), sensors.position.T[:, : sensors.rows], reach_m, sensors.room, own)
        counts, slots, distance, intensity = waves_at_once(sensors, table, numbers, near, is_rough=own is None)
    return counts, slots.tolist(), distance.tolist(), intensity.tolist()


def _pairs_at_once(
    sensors: SensorTable, eyes: Some, sources: SourceTable, targets: Some, source_ids: NDArray[np.int32],
    sense: ModalityNumbers
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return which of some sensors sense which of some sources, in any order, and how strongly.

    What leaves out most for least comes first: reach, then logarithms of intensities, cones, and powers last.
    """
    strength = sources.strength[targets, sense.number]
    rows, columns, offsets, distance = _near_pairs(sensors, eyes, sources, targets, sense)
    kept, acuity = distance <= sense.range_m, None
    if sense.needs_cone:
        slots = _taken(eyes, rows)
        bearing = bearings(offsets.T, sensors.forward.take(slots, axis=0), sense.up, sense.aside)
        inside, acuity = acuity_towards(bearing, sensors.cones.take(slots, axis=0))
        kept &= inside
    found = kept.nonzero()[0]
    rows, columns = rows.take(found), columns.take(found)
    slots, intensity = _taken(eyes, rows), strength.take(columns)
    if sense.kept_per_m != 1:
        intensity = intensity_at(intensity, distance.take(found), sense.kept_per_m)
    if acuity is not None:
        intensity *= acuity.take(found)
    threshold = sensors.threshold[:, sense.number].take(slots)
    kept = (intensity >= threshold) & (threshold != DEAF)
    kept &= (sensors.detection_mask.take(slots) & sources.affiliation[targets].take(columns)) != 0
    kept &= sensors.self_source.take(slots) != source_ids.take(columns)
    return rows[kept], columns[kept], intensity[kept]


def _near_pairs(
    sensors: SensorTable, eyes: Some, sources: SourceTable, targets: Some, sense: ModalityNumbers
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, Floats]:
    """Return the pairs that are near, roughly; and their offsets, (3, k), and distances as sizes make them (m)."""
    at_eyes, at_targets = sensors.position.T[:, eyes], sources.position.T[:, targets]
    size, strength = sources.size[targets], sources.strength[targets, sense.number]
    has_sizes, reach_m, own = np.count_nonzero(size != 1) > 0, farthest_m(sensors, sense), None
    if has_sizes or at_eyes.shape[1] <= at_targets.shape[1]:
        rows, columns = _may_reach(at_eyes, at_targets, size * reach_m, sensors.room)
    else:
        own = sensors.own_reach.squares(sensors, sense, float(strength.max(initial=0)))
        columns, rows = may_reach(at_targets, at_eyes, reach_m, sensors.room, None if own is None else own[eyes])
    offsets = at_targets.astype(np.float64).take(columns, axis=1)
    offsets -= at_eyes.take(rows, axis=1)
    if has_sizes:
        offsets /= size.take(columns)
    distance = _lengths_of(offsets)
    if own is not None or sense.kept_per_m == 1:
        return rows, columns, offsets, distance
    # Not ">=", which is false where nothing can be told.
    most = np.log(strength) + (ROUGHLY + math.log(max(1.0, sensors.most_acuity)))
    faded = distance * np.log(sense.kept_per_m)
    faded += most.take(columns)
    kept = ~(faded < sensors.log_threshold[:, sense.number].take(_taken(eyes, rows)))
    kept &= distance <= sense.range_m
    found = kept.nonzero()[0]
    return rows.take(found), columns.take(found), offsets.take(found, axis=1), distance.take(found)


def _may_reach(
    at_eyes: Columns, at_targets: Columns, reach_m: Floats, room: QueryBuffers
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows of eyes and of targets that may be in reach, in any order; the fewer are the origins."""
    if at_eyes.shape[1] <= at_targets.shape[1]:
        return may_reach(at_eyes, at_targets, np.full(at_eyes.shape[1], reach_m.max(initial=0)), room)
    columns, rows = may_reach(at_targets, at_eyes, reach_m, room)
    return rows, columns


def _taken(some: Some, which: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return ``some[which]`` of rows that may be a slice."""
    if isinstance(some, slice):
        return which + some.start if some.start else which
    return some.take(which)


def table_of(waves: Sequence[StimulusNumbers]) -> Floats:
    """Return signals as columns: origin, strength, range, attenuation, modality, affiliation, source.

    float64 holds all whole numbers among them exactly.
    """
    return np.array([
        (*origin, strength, sense.range_m, sense.kept_per_m, sense.number, affiliation, source_id)
        for sense, origin, strength, affiliation, source_id in waves
    ]).T


def waves_at_once(
    sensors: SensorTable, waves: Floats, numbers: NDArray[np.intp], slots: NDArray[np.intp], *, is_rough: bool = True
) -> tuple[list[int], NDArray[np.intp], Floats, Floats]:
    """Return which of some signals are sensed at some sensors; see ``sensors_reached``.

    Args:
        sensors: who may sense them.
        waves: (9, m), the signals, see ``table_of``.
        numbers: (k,), which signal, ascending.
        slots: (k,), which sensor.
        is_rough: False if they were chosen by how far each senses, and so few more are left out without a power.

    Cost: O(k) in NumPy.
    """
    distance = _lengths_of(
        np.subtract(sensors.position.T.take(slots, axis=1), waves[:3].take(numbers, axis=1)))
    ranges, shares_kept, senses = waves[4:7].tolist()
    # One sense, as nearly always: a number in place of arrays.
    is_one = all(some.count(some[0]) == len(some) for some in (ranges, shares_kept, senses))
    may = distance <= (ranges[0] if is_one else waves[4].take(numbers))
    if is_rough and len(numbers) > MANY:
        # Roughly first, because powers cost most; not ">=", which is false where nothing can be told.
        with np.errstate(divide="ignore", invalid="ignore"):
            log_strength, log_kept_per_m = np.log(waves[[3, 5]])
            faded = distance * (log_kept_per_m[0] if is_one else log_kept_per_m.take(numbers))
            faded += log_strength.take(numbers)
        faded += ROUGHLY
        may &= ~(faded < _of_sense(sensors.log_threshold, slots, waves[6], numbers, is_one=is_one))
    if not may.all():
        found = may.nonzero()[0]
        numbers, slots, distance = numbers.take(found), slots.take(found), distance.take(found)
    # A share of 1 gives a power of exactly 1, so whoever loses nothing loses nothing here.
    intensity = np.float_power(shares_kept[0] if is_one else waves[5].take(numbers), distance)
    intensity *= waves[3].take(numbers)
    affiliation, source_id = waves[7:].astype(np.int64).take(numbers, axis=1)
    affiliation &= sensors.detection_mask.take(slots)
    kept = intensity >= _of_sense(sensors.threshold, slots, waves[6], numbers, is_one=is_one)     # never infinity
    kept &= affiliation != 0
    kept &= sensors.self_source.take(slots) != source_id
    found = kept.nonzero()[0]
    counts = np.bincount(numbers.take(found), minlength=waves.shape[1]).tolist()
    return counts, slots.take(found), distance.take(found), intensity.take(found)


def _of_sense(
    table: Floats, slots: NDArray[np.intp], modalities: Floats, numbers: NDArray[np.intp], *, is_one: bool
) -> Floats:
    """Return what sensors have in a column of a table, that of the modality of each signal."""
    if is_one:
        return table[:, int(modalities[0])].take(slots)
    return table[slots, modalities.astype(np.intp).take(numbers)]


def _lengths_of(offsets: Floats) -> Floats:
    """Return the lengths of (3, k); a product and a sum at a time, as everywhere."""
    squares = offsets * offsets
    lengths: Floats = squares[0]
    lengths += squares[1]
    lengths += squares[2]
    return np.sqrt(lengths, out=lengths)
