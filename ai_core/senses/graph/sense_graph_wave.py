"""One sound in a sense graph: how far it has come, who hears it, and what is on its way to them."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.graph.sense_wavefront import WavefrontLabels
from ai_core.senses.sensation import Point

__all__ = ["FirstArrival", "SpreadingWave", "WaveArrival", "WaveArrivals"]


class FirstArrival(NamedTuple):
    """The first that one sensor hears of a wave; the least counts.

    Attributes:
        distance_m: how far the wave came in all.
        negative: what is left of it, times -1.
        row: of the last passage, or ``FROM_SOURCE``.
        leg_m: how far it came after that.
        before: what it was there, less what stands between there and the sensor.
    """

    distance_m: float
    negative: float
    row: int
    leg_m: float
    before: float


class WaveArrivals(NamedTuple):
    """What sensors hear of a wave, one row for each of them and each way it came.

    Attributes:
        slot, row, distance_m, leg_m, before: (n,), see ``FirstArrival``.
        intensity: (n,).
        comes_from: (n, 3), where the last leg begins (m).
    """

    slot: NDArray[np.intp]
    row: NDArray[np.int32]
    distance_m: NDArray[np.float64]
    leg_m: NDArray[np.float64]
    before: NDArray[np.float64]
    intensity: NDArray[np.float64]
    comes_from: NDArray[np.float64]


class WaveArrival(NamedTuple):
    """One wave at one sensor; they come by due time, then sensor, then order of emission.

    Attributes:
        due_s: when (s).
        sensor_id: at whom.
        order: how many waves were emitted before this one.
        source_id: by what; it may have been removed since.
        modality: number of its modality.
        position: from where it seems to come (m): the last portal.
        sent_at_s: when it was emitted (s).
        leg_m: from ``position`` to the sensor (m).
        before: intensity at ``position``, less what stands between there and the sensor.
        intensity: at the sensor.
        tag: what it is, for listeners.
        channel: of arrivals of one source on one channel at a sensor in one advance only
            the last is told; "" for none.
    """

    due_s: float
    sensor_id: int
    order: int
    source_id: int
    modality: int
    position: Point
    sent_at_s: float
    leg_m: float
    before: float
    intensity: float
    tag: str = ""
    channel: str = ""


class SpreadingWave:
    """One signal that spreads.

    Attributes:
        order, source_id, modality, sent_at_s, tag, channel: see ``WaveArrival``.
        affiliation: of its source, as bits.
        strength: at its origin.
        position: its origin (m).
        region: its origin's.
        waiting: passages it is about to come through.
        passed: those it came through, in order.
        heard: by sensor id, what it will hear; not yet on its way.
        told: ids of sensors for whom it is on its way, or over.
        is_begun: whether it has left its first region.
        is_over: whether it is followed no more, of a gradual one.
        front_m: how far it had come when it went on last, of a gradual one (m).
    """

    def __init__(
        self,
        order: int,
        source_id: int,
        affiliation: int,
        modality: int,
        strength: float,
        position: Point,
        region: int,
        sent_at_s: float,
        tag: str = "",
        channel: str = "",
    ) -> None:
        self.tag, self.channel = tag, channel
        self.order, self.source_id, self.affiliation = order, source_id, affiliation
        self.modality, self.strength, self.position = modality, strength, position
        self.region, self.sent_at_s = region, sent_at_s
        self.waiting = WavefrontLabels.empty(0)
        self.passed = WavefrontLabels.empty(0)
        self.heard: dict[int, FirstArrival] = {}
        self.told: set[int] = set()
        self.is_begun, self.is_over = False, False
        self.front_m = 0.0
