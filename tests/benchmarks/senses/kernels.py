"""The hot loops of the senses beside the loop that a textbook shows, and a bare scan in NumPy."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.modality import Modality
from ai_core.senses.sensation import Signal
from ai_core.senses.sight.pair_keys import ids_of
from tests.benchmarks.senses.bare_scans import bare_scan
from tests.benchmarks.senses.worlds import ATTENUATION, CONE, RANGE_M, Place, Sensor, places, sensors, tables
from tools.benchmarking.declarations import Case, Contest

SIGNALS = 10
"""Signals between two times that all positions are written anew (count)."""

Found = list[list[int]]


def sounds(n: int) -> Contest:
    """Distance, attenuation and threshold."""
    return _contest(n, _sounds, has_cone=False)


def sights(n: int) -> Contest:
    """Distance, attenuation, threshold and cone."""
    return _contest(n, _sights, has_cone=True)


def _contest(n, ours, *, has_cone):  # type: ignore[no-untyped-def]
    all_sensors, origins = sensors(n), places(SIGNALS)
    others = {
        "textbook loop": _textbook(all_sensors, origins, has_cone=has_cone),
        "bare scan": bare_scan(all_sensors, origins, has_cone=has_cone),
    }
    return Contest(ours(all_sensors, origins), others, is_same=_is_same)


def _is_same(ours: object, other: Found) -> bool:
    """Ours has sounds one after the other, and sights as keys of pairs: as the sense manager takes them."""
    if isinstance(ours, list):
        return ours == other
    assert isinstance(ours, np.ndarray)
    sensing, sensed = (ids.tolist() for ids in ids_of(ours))
    return sorted(zip(sensed, sensing, strict=True)) == [
        (source, one) for source, reached in enumerate(other) for one in reached]


def _sounds(all_sensors: list[Sensor], origins: list[Place]) -> Case:
    table, _, written = tables(all_sensors, [])
    sense = Modality("hearing", RANGE_M, ATTENUATION)
    signals = [Signal(0, 0, 1, 1.0, origin, 0.0) for origin in origins]

    def frame() -> Found:
        table.position[: len(written)] = written
        return [table.loops.sensors_reached(table, signal, sense)[0] for signal in signals]

    return frame


def _sights(all_sensors: list[Sensor], origins: list[Place]) -> Case:
    table, sources, written = tables(all_sensors, origins)
    sense = Modality("sight", RANGE_M, ATTENUATION, is_continuous=True, needs_cone=True)

    def frame() -> NDArray[np.int64]:
        table.position[: len(written)] = written
        keys, _, count = table.loops.pairs_in_reach(table, table.ids.ids, sources, sources.ids.ids, 0, sense)
        return keys[:count]

    return frame


class _Hearing:
    """A textbook modality; one without extra checks."""

    max_range, kept_per_m = RANGE_M, ATTENUATION

    def extra_checks(self, signal: _Signal, sensor: Sensor) -> bool:
        return True


class _Sight(_Hearing):
    cos_half = math.cos(CONE.horizontal_rad / 2)

    def extra_checks(self, signal: _Signal, sensor: Sensor) -> bool:
        (x, y, z), (fx, fy, fz), origin = sensor.position, sensor.forward, signal.position
        ahead = (origin[0] - x) * fx + (origin[1] - y) * fy + (origin[2] - z) * fz
        return ahead >= self.cos_half * math.dist(sensor.position, origin)


@dataclass
class _Signal:
    modality: _Hearing
    strength: float
    position: Place


def _textbook(all_sensors: list[Sensor], origins: list[Place], *, has_cone: bool) -> Case:
    """The manager's loop as 001_world_interfacing lists it, positions not even written."""
    signals = [_Signal(_Sight() if has_cone else _Hearing(), 1.0, origin) for origin in origins]

    def frame() -> Found:
        found = []
        for signal in signals:
            reached = []
            for sensor in all_sensors:
                if not sensor.detects_modality(signal.modality):
                    continue
                distance = math.dist(signal.position, sensor.position)
                if signal.modality.max_range < distance:
                    continue
                intensity = signal.strength * pow(signal.modality.kept_per_m, distance)
                if intensity < sensor.threshold:
                    continue
                if not signal.modality.extra_checks(signal, sensor):
                    continue
                reached.append(sensor.number)
            found.append(reached)
        return found

    return frame
