"""Why a sensor senses a target, or does not: all factors."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ai_core.senses.modality import ModalitySet
from ai_core.senses.percepts.awareness import AwarenessReasons
from ai_core.senses.sensation import ReachNumbers
from ai_core.senses.sensor_table import NO_SOURCE, SensorTable
from ai_core.senses.sight.continuous_sensing import ContinuousSensing
from ai_core.senses.sight.pair_keys import key_of
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.emitted_signals import EmittedSignals

__all__ = ["FactorsBetween", "SenseFactors", "SenseReasons"]


class SenseFactors(NamedTuple):
    """All factors of one sensor sensing one target in one modality.

    ``intensity`` is ``strength * light * motion * kept * acuity * clarity``; the target is sensed from
    ``threshold`` up.

    Attributes:
        verdict: "sensed", "would be sensed" (in an emitted modality: if the source emitted now, at its own strength),
            or the reason against it: "is itself", "lacks this sense", "shows nothing", "is not noticed", "no way
            between", "too far", "outside every cone", "too weak", "under the noise", "waits for its look" (of every few
            frames), "not asked yet", "hidden".
        intensity: at the sensor.
        threshold: intensity needed now, with sensitivity; ``inf`` without this sense.
        sensitivity: factor, 1 by default, below 1 dulled.
        strength: strength of the source.
        light: factor of light, or of contrast to the background.
        motion: factor of its speed; 1 unless the modality has a ``still_share``.
        size: the target counts as this many times nearer.
        distance_m: distance that ranges are compared with, size included (m); None for a smell that hangs in the air.
        kept: share kept on the path, by distance and by obstacles.
        acuity: of the cone that contains it; 1 without cones, 0 outside all cones.
        clarity: visible share of it times its camouflage, at the last line of sight query; else 1.
        parts: names of the parts seen then.
        noise: loudness of the background noise at the sensor.
        importance: 0 to 1, when there are too few rays.
        waits_passes: passes since its last line of sight query, or since it came into view; None if it needs none.
        looks_in_frames: frames from the last advance to the next look of the sensor, 1 to
            ``period_frames``; None in an emitted modality.
    """

    verdict: str
    intensity: float
    threshold: float
    sensitivity: float
    strength: float
    light: float
    motion: float
    size: float
    distance_m: float | None
    kept: float
    acuity: float
    clarity: float
    parts: tuple[str, ...]
    noise: float
    importance: float
    waits_passes: int | None
    looks_in_frames: int | None


class SenseReasons(NamedTuple):
    """Why a sensor senses a target, and is aware of it, as much as it is.

    Attributes:
        sensor_id: id of the sensor.
        target: id of the source.
        by_modality: factors by modality name; empty if the source has been removed.
        awareness: reasons of the awareness meter; None if the sensor is not aware of the target.
    """

    sensor_id: int
    target: int
    by_modality: Mapping[str, SenseFactors]
    awareness: AwarenessReasons | None


class FactorsBetween(NamedTuple):
    """Works out the factors between one sensor and one source, from all that there is."""

    modalities: ModalitySet
    sensors: SensorTable
    sources: SourceTable
    continuous: ContinuousSensing
    emitted: EmittedSignals
    frame: int
    names_of: Callable[[int, int], tuple[str, ...]]

    def of(self, number: int, sensor_id: int, source_id: int) -> SenseFactors:
        """Return them for a modality, by its number; both must be there."""
        kind, sensors, sources, continuous = self.modalities[number], self.sensors, self.sources, self.continuous
        eye, target = sensors.ids.slot(sensor_id), sources.ids.slot(source_id)
        strength = max(0.0, float(sources.own_strength[target, number]))
        most = max(0.0, float(sources.strength[target, number]))
        way = (continuous if kind.is_continuous else self.emitted).reach_of(number, eye, target, most)
        motion = float(sources.motion_factor(number, target))
        acuity = 1.0
        if kind.needs_cone:
            acuity = 0.0 if way is None else max(
                0.0, float(continuous.acuity(np.array([eye]), np.array([way.looked_at]))[0]))
        answer = continuous.answer(number, sensor_id, source_id) if kind.is_continuous else None
        clarity, parts = self._view(number, sensor_id, source_id, answer)
        plain = 0.0 if way is None else most * way.kept * acuity
        x, y, z = sensors.position[eye].tolist()
        factors = SenseFactors(
            "", plain * clarity, float(sensors.threshold[eye, number]),
            float(sensors.sensitivity[eye, number]), strength,
            most / (strength * motion) if strength * motion else 1.0, motion,
            float(sources.size[target]), None if way is None else way.distance_m,
            0.0 if way is None else way.kept, acuity, clarity, parts,
            0.0 if kind.is_continuous else self.emitted.noise.level_at(number, (x, y, z)),
            continuous.turns.of(sensor_id, source_id), continuous.waits_passes(number, sensor_id, source_id),
            sensors.period - self.frame % sensors.period if kind.is_continuous else None)
        verdict = self._blocked(number, eye, target, way, factors)
        if not verdict and plain < factors.threshold and not answer:
            verdict = "too weak"
        if not verdict:
            verdict = self._seen(answer, factors) if kind.is_continuous else _heard(way, factors)
        return factors._replace(verdict=verdict)

    def _view(self, number: int, sensor_id: int, source_id: int, answer: bool | None) -> tuple[float, tuple[str, ...]]:
        """Return how clearly a pair was seen when it was asked last, and which parts."""
        if answer is None:
            return 1.0, ()
        clarity, bits = self.continuous.pairs[number].views.get(key_of(sensor_id, source_id), (float(answer), 0))
        return clarity, self.names_of(source_id, bits)

    def _seen(self, answer: bool | None, factors: SenseFactors) -> str:
        if answer is None:
            return "not asked yet" if factors.looks_in_frames == self.sensors.period else "waits for its look"
        if answer:
            return "sensed"
        return "too weak" if factors.clarity > 0 else "hidden"

    def _blocked(self, number: int, eye: int, target: int, way: ReachNumbers | None, factors: SenseFactors) -> str:
        """Return what is against it before anything is compared with a threshold; "" if nothing."""
        sensors, sources = self.sensors, self.sources
        self_source = int(sensors.self_source[eye])
        if self_source != NO_SOURCE and sources.ids.knows(self_source) and sources.ids.slot(self_source) == target:
            return "is itself"
        if factors.threshold == math.inf:
            return "lacks this sense"
        if sources.strength[target, number] < 0:
            return "shows nothing"
        if not int(sensors.detection_mask[eye]) & int(sources.affiliation[target]):
            return "is not noticed"
        if way is None:
            return "no way between"
        if way.distance_m is not None and way.distance_m > self.modalities[number].range_m:
            return "too far"
        return "" if factors.acuity else "outside every cone"


def _heard(way: ReachNumbers | None, factors: SenseFactors) -> str:
    if way is not None and way.distance_m is None:  # it hangs in the air
        return "sensed"
    return "under the noise" if factors.intensity < factors.noise else "would be sensed"
