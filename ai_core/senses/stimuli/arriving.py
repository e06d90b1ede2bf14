"""What signals are when they arrive: when each does, at whom, and how loud it is where that sensor is by then.

This is the twin in Python of ``_arriving``, which is used in its place where it was built,
with the same results to the last bit.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ai_core.senses.audience import What
from ai_core.senses.modality import Modality
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.stimuli.noise import BackgroundNoise
from ai_core.senses.stimuli.signal_queue import Arrival, Channel, Signal, is_replaced
from ai_core.twins import twin

if TYPE_CHECKING:
    from ai_core.senses.sight.sight_loops import Reached

__all__ = ["INTERFACE", "MOVED_M", "Arrived", "HeardNow", "arrivals_of", "arrived_at_once", "heard_now"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""

MOVED_M = 1e-6
"""A sensor whose distance changed by less while a signal travelled stood still (m).

It is told what was computed when the signal was sent, to the last bit.
"""

STANDS_M = MOVED_M / 2
"""Change of its distance by which a sensor surely stands where it was, however that is reckoned (m)."""

Arrived = tuple[list[int], list[int], list[float], list[What], list[int]]
"""Sensors, of each what arrived by its place among what did, how strong, what did, rows of ``Reached``."""

HeardNow = tuple[list[int], list[int], list[float], list[What]]
"""Sensors, of each what it hears by its place among what is heard, how strong, and what is."""


@twin
def arrived_at_once(
    sensors: SensorTable, signals: Sequence[Signal], kinds: Sequence[Modality], reached: Reached, now_s: float
) -> Arrived | None:
    """Return what some signals are at whom, if all of them are heard by a moment at those who were to hear them.

    Who has moved hears what gets to where it is now, as loud as it is there.

    Args:
        sensors: as they stand now; none was removed meanwhile.
        signals: m signals, in the order in which they were emitted; nothing drowns or muffles them.
        kinds: each modality at its number, as it is now.
        reached: by whom they are sensed, as ``signals_reached`` found it.
        now_s: the moment (s).

    Returns:
        By due time, then sensor id, then signal; None if one is to arrive later, is not heard by who has
        moved, or may replace another on its channel.

    Cost: O(k log k) for k arrivals.
    """
    channels = [(one.source_id, one.modality, one.channel) for one in signals if one.channel]
    if len(channels) > len(set(channels)):
        return None
    counts, slots, distances, intensities = reached
    ids, places = sensors.ids.by_slot[slots].tolist(), sensors.position[slots].tolist()
    due: list[tuple[float, int, int, int]] = []
    sensed = list(intensities)
    for number, (signal, count) in enumerate(zip(signals, counts, strict=True)):
        (x, y, z), kind = signal.position, kinds[signal.modality]
        for row in range(len(due), len(due) + count):
            dx, dy, dz = places[row][0] - x, places[row][1] - y, places[row][2] - z
            due_s = signal.sent_at_s + distances[row] * kind.delay_s_per_m
            if due_s > now_s:
                return None
            if not abs(math.sqrt(dx * dx + dy * dy + dz * dz) - distances[row]) < STANDS_M:
                distance = math.dist(places[row], signal.position)
                if not abs(distance - distances[row]) < MOVED_M:
                    sensed[row] = signal.strength * kind.kept_per_m**distance
                    if (distance > kind.range_m or sensed[row] < sensors.threshold[slots[row], signal.modality]
                            or signal.sent_at_s + distance * kind.delay_s_per_m > now_s):
                        return None
            due.append((due_s, ids[row], number, row))
    due.sort()
    numbers: dict[int, int] = {}
    which = [numbers.setdefault(number, len(numbers)) for _, _, number, _ in due]
    rows = [row for _, _, _, row in due]
    what = [
        (one.source_id, kinds[one.modality].name, one.position, one.sent_at_s, one.tag)
        for one in map(signals.__getitem__, numbers)]
    return [one for _, one, _, _ in due], which, [sensed[row] for row in rows], what, rows


@twin
def heard_now(
    sensors: SensorTable, some: Sequence[tuple[Signal, Arrival]], first: int, kinds: Sequence[Modality],
    noise: BackgroundNoise | None, newest: Mapping[Channel, int], now_s: float
) -> HeardNow:
    """Return who hears what has arrived, where it is now, from one on until one that nobody hears.

    Args:
        sensors: as they stand now.
        some: signals and their arrivals, all of them due.
        first: which of them is first.
        kinds: each modality at its number, as it is now.
        noise: what may drown what who has moved hears, None for nothing.
        newest: by channel the latest that has arrived; others that have are replaced.
        now_s: the moment (s).

    Cost: O(k) for k arrivals.
    """
    sensor_ids, which, intensities, what = list[int](), list[int](), list[float](), list[What]()
    numbers: dict[int, int] = {}
    for signal, arrival in some[first:]:
        kind = kinds[signal.modality]
        intensity = _intensity_now(sensors, signal, arrival, kind, noise, now_s)
        if intensity is None or is_replaced(signal, arrival, newest):
            break
        number = numbers.setdefault(signal.order, len(numbers))
        if number == len(what):
            what.append((signal.source_id, kind.name, signal.position, signal.sent_at_s, signal.tag))
        sensor_ids.append(arrival.sensor_id)
        which.append(number)
        intensities.append(intensity)
    return sensor_ids, which, intensities, what


def _intensity_now(
    sensors: SensorTable, signal: Signal, arrival: Arrival, kind: Modality, noise: BackgroundNoise | None, now_s: float
) -> float | None:
    """Return what the sensor senses where it is now; None if nothing, or not yet."""
    if not sensors.ids.knows(arrival.sensor_id):
        return None
    slot = sensors.ids.slot(arrival.sensor_id)
    x, y, z = sensors.position[slot].tolist()
    distance = math.dist((x, y, z), signal.position)
    if arrival.is_final or abs(distance - arrival.distance_m) < MOVED_M:
        return arrival.intensity
    intensity: float = signal.strength * kind.kept_per_m**distance * arrival.kept
    if distance > kind.range_m or intensity < sensors.threshold[slot, signal.modality]:
        return None
    if noise is not None and intensity < noise.level_at(signal.modality, (x, y, z)):
        return None
    return None if signal.sent_at_s + distance * kind.delay_s_per_m > now_s else intensity


@twin
def arrivals_of(
    sensors: SensorTable, signals: Sequence[Signal], kinds: Sequence[Modality], reached: Reached
) -> list[tuple[Signal, list[Arrival]]]:
    """Return each signal that reaches anybody, and its arrivals; ``kinds`` has each modality at its number."""
    counts, slots, distances, intensities = reached
    sensor_ids, found, end = sensors.ids.by_slot[slots].tolist(), [], 0
    for signal, count in zip(signals, counts, strict=True):
        first, end = end, end + count
        s_per_m = kinds[signal.modality].delay_s_per_m
        if count:
            found.append((signal, [
                Arrival(signal.sent_at_s + distance * s_per_m, one, distance, intensity)
                for one, distance, intensity in zip(
                    sensor_ids[first:end], distances[first:end], intensities[first:end], strict=True)]))
    return found
