"""Sounds in a sense graph: waves that go from portal to portal, and who hears them.

A wave is worked out at once, or, where its modality is gradual, only as far as it has
come by now. Either way it goes past everybody once, and comes from the last portal.
"""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ai_core.senses.sense_wavefront as sense_wavefront
from ai_core.budget import Budget
from ai_core.senses.modality import ModalitySet
from ai_core.senses.noise import BackgroundNoise
from ai_core.senses.sensation import Point, Sensation
from ai_core.senses.sense_graph_by_sense import GraphBySense
from ai_core.senses.sense_graph_lookup import NOWHERE
from ai_core.senses.sense_graph_ways import lengths, shares_kept
from ai_core.senses.sense_wavefront import FROM_SOURCE, Labels
from ai_core.senses.sensor_table import SensorTable

__all__ = ["GraphWaves", "Hearing", "Wave", "WaveArrival"]

PASSAGES_PER_BLOCK = 512
"""Passages a wave goes through between two looks at the budget (count).

About 0.1 ms, 1 ms interpreted. More overruns a small budget of time further; fewer
sorts what waits too often. It must not depend on the kernel: see compiled twins.
"""

MOVED_M = 1e-6
"""A sensor whose distance changed by less while a wave travelled stood still (m)."""


class Hearing(NamedTuple):
    """The first that one sensor hears of a wave; the least counts.

    Attributes:
        distance_m: how far the wave came in all.
        negative: what is left of it, times -1.
        row: of the last passage, or ``FROM_SOURCE``.
        leg_m: how far it came after that.
        before: what it was there.
    """

    distance_m: float
    negative: float
    row: int
    leg_m: float
    before: float


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
        before: intensity at ``position``.
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


class Wave:
    """One signal that spreads.

    Attributes:
        order, source_id, modality, sent_at_s, tag, channel: see ``WaveArrival``.
        affiliation: of its source, as bits.
        strength: at its origin.
        position: its origin (m).
        region: its origin's.
        waiting: passages it is about to come through.
        settled: rows of those it came through, in order.
        heard: by sensor id, what it will hear; not yet on its way.
        told: ids of sensors for whom it is on its way, or over.
        is_begun: whether it has left its first region.
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
        self.waiting = Labels.empty(0)
        self.settled = np.zeros(0, np.int32)
        self.heard: dict[int, Hearing] = {}
        self.told: set[int] = set()
        self.is_begun = False


class GraphWaves:
    """All waves of a world.

    Args:
        modalities: all senses.
        sensors: who may hear.
        graphs: what they travel through.
        faintest: an intensity below this is nothing.
        gradual: numbers of modalities whose waves are followed as they travel.
        noise: what is weaker than it goes under.
    """

    def __init__(
        self,
        modalities: ModalitySet,
        sensors: SensorTable,
        graphs: GraphBySense,
        faintest: float,
        gradual: Collection[int],
        noise: BackgroundNoise,
    ) -> None:
        self._noise = noise
        self._modalities = modalities
        self._sensors = sensors
        self._graphs = graphs
        self._faintest = faintest
        self._gradual = frozenset(gradual)
        self.sent = 0
        self.waves: list[Wave] = []
        self.turn: deque[Wave] = deque()
        self.queue: list[WaveArrival] = []
        self.arrived: deque[WaveArrival] = deque()

    def __len__(self) -> int:
        """Number of arrivals to come, as far as is known."""
        return len(self.queue) + len(self.arrived) + sum(len(one.heard) for one in self.waves)

    def emit(
        self, source_id: int, affiliation: int, modality: int, strength: float,
        position: Point, now_s: float, tag: str = "", channel: str = "",
    ) -> None:
        """Begin a wave; it spreads in the next pass. Cost: O(1)."""
        region = self._graphs.graph[modality].region_at(position)
        if region != NOWHERE:
            self.waves.append(Wave(self.sent, source_id, affiliation, modality, strength,
                                   position, region, now_s, tag, channel))
        self.sent += 1

    def spread(self, budget: Budget, now_s: float) -> bool:
        """Let all waves go on; return False if the budget ended first.

        What is emitted meanwhile waits for the next pass. A step is a passage, one at
        least for each wave.
        """
        if not self.turn:
            self.turn.extend(self.waves)
        while self.turn:
            if budget.is_spent:
                return False
            wave = self.turn[0]
            if self._go_on(wave, budget, now_s):
                self.turn.popleft()
                if not (len(wave.waiting.row) or wave.heard):
                    self.waves.remove(wave)
        return True

    def deliver(
        self, budget: Budget, now_s: float, notice: Callable[[Sensation], None]
    ) -> bool:
        """Tell what is due; return False if the budget ended first. A step is one arrival."""
        if not self.arrived:
            while self.queue and self.queue[0].due_s <= now_s:
                self.arrived.append(heappop(self.queue))
        newest: dict[tuple[int, int, str, int], int] = {}
        for one in self.arrived:
            newest[_channel_of(one)] = max(one.order, newest.get(_channel_of(one), 0))
        while self.arrived:
            if budget.is_spent:
                return False
            budget.spend()
            arrival = self.arrived.popleft()
            is_replaced = arrival.channel and newest[_channel_of(arrival)] > arrival.order
            if self._sensors.ids.knows(arrival.sensor_id) and not is_replaced:
                intensity = self._intensity_now(arrival, now_s)
                if intensity is not None and intensity >= self._noise_at(arrival):
                    notice(Sensation(
                        arrival.sensor_id, arrival.source_id,
                        self._modalities[arrival.modality].name, intensity, arrival.position,
                        arrival.sent_at_s, now_s, arrival.tag,
                    ))
        return True

    def _noise_at(self, arrival: WaveArrival) -> float:
        if not len(self._noise):
            return 0.0
        x, y, z = self._sensors.position[self._sensors.ids.slot(arrival.sensor_id)].tolist()
        return self._noise.level_at(arrival.modality, (x, y, z))

    def _go_on(self, wave: Wave, budget: Budget, now_s: float) -> bool:
        """Let a wave through some passages; return True if it is as far as it may be."""
        ways, kind = self._graphs.ways[wave.modality], self._modalities[wave.modality]
        until_m = math.inf
        if wave.modality in self._gradual:
            until_m = (now_s - wave.sent_at_s) / kind.inverse_speed_s_per_m
        if not wave.is_begun:
            wave.is_begun = True
            wave.waiting = self._first_labels(wave)
            self._listen(wave, Labels(np.array([FROM_SOURCE], np.int32), np.zeros(1),
                                      np.array([wave.strength]), np.array([FROM_SOURCE], np.int32)))
        most = PASSAGES_PER_BLOCK
        if budget.stopwatch is None:
            most = max(1, int(min(most, budget.left)))
        reached, left = Labels.empty(min(most, len(ways))), Labels.empty(len(ways))
        count, rest = sense_wavefront.spread(
            ways, wave.waiting, wave.settled, kind.range_m, self._faintest, until_m, most,
            reached, left,
        )
        budget.spend(max(1, count))
        wave.waiting, reached = left.part(rest), reached.part(count)
        if count:
            wave.settled = np.concatenate((wave.settled, reached.row))
            self._listen(wave, reached)
        if rest and count and wave.waiting.distance_m[0] <= until_m:
            return False
        self._send(wave, math.inf if not rest else now_s)
        return True

    def _first_labels(self, wave: Wave) -> Labels:
        ways, kind = self._graphs.ways[wave.modality], self._modalities[wave.modality]
        rows = np.arange(*ways.out_first[wave.region : wave.region + 2])
        leg_m = lengths(np.array([wave.position]) - ways.start[rows])
        kept = shares_kept(float(ways.attenuation[wave.region]), leg_m)
        distance_m, intensity = leg_m + ways.distance_m[rows], wave.strength * (kept * ways.kept[rows])
        is_heard = (distance_m <= kind.range_m) & (intensity >= self._faintest) & (intensity > 0)
        rows = rows[is_heard]
        return Labels(rows.astype(np.int32), distance_m[is_heard], intensity[is_heard],
                      np.full(len(rows), FROM_SOURCE, np.int32))

    def _listen(self, wave: Wave, labels: Labels) -> None:
        """Note for the sensors in the regions that a wave came into what they will hear."""
        ways, kind = self._graphs.ways[wave.modality], self._modalities[wave.modality]
        is_direct = labels.row == FROM_SOURCE
        region = np.where(is_direct, wave.region, _taken(ways.to_region, labels.row))
        label, slot = self._ears(wave, region)
        if not len(slot):
            return
        row = labels.row[label]
        comes_from = np.where((row == FROM_SOURCE)[:, np.newaxis], wave.position,
                              _taken(ways.end, row))
        leg_m = lengths(comes_from - self._sensors.position[slot])
        before = labels.intensity[label]
        intensity = before * shares_kept(ways.attenuation[region[label]], leg_m)
        distance_m = labels.distance_m[label] + leg_m
        is_heard = (distance_m <= kind.range_m) & (intensity >= self._faintest)
        is_heard &= intensity >= self._sensors.threshold[slot, wave.modality]
        found = np.flatnonzero(is_heard)
        ids = self._sensors.ids.of_slots(slot[found]).tolist()
        columns = (distance_m[found], -intensity[found], row[found], leg_m[found], before[found])
        for sensor_id, *parts in zip(ids, *(one.tolist() for one in columns), strict=True):
            hearing = Hearing(*parts)
            if sensor_id not in wave.told and (
                sensor_id not in wave.heard or hearing < wave.heard[sensor_id]
            ):
                wave.heard[sensor_id] = hearing

    def _ears(
        self, wave: Wave, region: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Return pairs: index into ``region``, and slot of a sensor there that may hear."""
        sensors = self._sensors
        may = np.isfinite(sensors.threshold[:, wave.modality])
        may &= (sensors.notices & wave.affiliation) != 0
        may &= sensors.own_source != wave.source_id
        slots = np.flatnonzero(may)
        where = self._graphs.sensor_regions(wave.modality)[slots]
        order = np.argsort(where, kind="stable")
        slots, where = slots[order], where[order]
        first, end = np.searchsorted(where, region), np.searchsorted(where, region, side="right")
        counts = end - first
        index = np.repeat(np.arange(len(region)), counts)
        before = np.cumsum(counts) - counts
        return index, slots[np.arange(len(index)) - np.repeat(before - first, counts)]

    def _send(self, wave: Wave, until_s: float) -> None:
        """Put on their way all that will be heard by then: nothing can come before it."""
        ways, kind = self._graphs.ways[wave.modality], self._modalities[wave.modality]
        for sensor_id, one in sorted(wave.heard.items()):
            due_s = wave.sent_at_s + one.distance_m * kind.inverse_speed_s_per_m
            if due_s <= until_s:
                x, y, z = wave.position if one.row == FROM_SOURCE else ways.end[one.row].tolist()
                heappush(self.queue, WaveArrival(
                    due_s, sensor_id, wave.order, wave.source_id, wave.modality, (x, y, z),
                    wave.sent_at_s, one.leg_m, one.before, -one.negative, wave.tag, wave.channel,
                ))
                wave.told.add(sensor_id)
                del wave.heard[sensor_id]

    def _intensity_now(self, arrival: WaveArrival, now_s: float) -> float | None:
        """Return what the sensor hears where it is now; None if nothing, or not yet."""
        number = arrival.modality
        slot = self._sensors.ids.slot(arrival.sensor_id)
        place = self._sensors.position[slot].tolist()
        leg_m = math.dist(place, arrival.position)
        if abs(leg_m - arrival.leg_m) < MOVED_M:
            return arrival.intensity
        region = self._graphs.graph[number].region_at(place)
        if region == NOWHERE:
            return None
        attenuation = float(self._graphs.ways[number].attenuation[region])
        intensity: float = arrival.before * attenuation**leg_m
        if intensity < self._sensors.threshold[slot, number]:
            return None
        seconds_per_metre = self._modalities[number].inverse_speed_s_per_m
        due_s = arrival.due_s + (leg_m - arrival.leg_m) * seconds_per_metre
        if due_s > now_s:
            again = arrival._replace(due_s=due_s, leg_m=leg_m, intensity=intensity)
            heappush(self.queue, again)
            return None
        return intensity


def _channel_of(arrival: WaveArrival) -> tuple[int, int, str, int]:
    return arrival.source_id, arrival.modality, arrival.channel, arrival.sensor_id


def _taken(values: NDArray[np.generic], rows: NDArray[np.int32]) -> NDArray[np.generic]:
    """Return rows of ``values``; anything for those below 0, also where there is none."""
    if not len(values):
        return np.zeros((len(rows), *values.shape[1:]), values.dtype)
    return values[rows]
