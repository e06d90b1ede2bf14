"""Sounds in a sense graph: waves that travel from portal to portal, and the sensors that hear them.

A wave is computed at once, or, if its modality is gradual, only as far as it has
come by now. In both cases it passes each sensor once, and comes from the last portal.
"""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.senses.graph.sense_graph_by_sense import GraphBySense
from ai_core.senses.graph.sense_graph_doors import WaveDoorUpdates
from ai_core.senses.graph.sense_graph_lookup import NOWHERE
from ai_core.senses.graph.sense_graph_wave import FirstArrival, SpreadingWave, WaveArrival, WaveArrivals
from ai_core.senses.graph.sense_graph_ways import lengths, shares_kept
from ai_core.senses.graph.sense_wavefront import FROM_SOURCE, WavefrontLabels, spread
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point, Sensation
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.stimuli.noise import BackgroundNoise
from ai_core.senses.stimuli.waves import ReachNumbers

__all__ = ["NOBODY", "GraphWaves"]

PASSAGES_PER_BLOCK = 512
"""Passages a wave goes through between two looks at the budget (count).

About 0.1 ms, 1 ms interpreted. More overruns a small budget of time further; fewer
sorts what waits too often. It must not depend on the kernel: see compiled loops.
"""

MOVED_M = 1e-6
"""A sensor whose distance changed by less while a wave travelled stood still (m)."""


NOBODY = -1
"""Stands for "no sensor" among ids of sensors at the ends of lines."""

Kept = Callable[
    [int, NDArray[np.float32], NDArray[np.float32], NDArray[np.int32]], "list[float]"]


class GraphWaves:
    """All waves of a world.

    Args:
        modalities: all senses.
        sensors: who may hear.
        graphs: what they travel through.
        faintest: an intensity below this is nothing.
        gradual: numbers of modalities whose waves are followed as they travel.
        noise: what is weaker than it goes under.
        kept: says of lines of a modality (from, to, ids of the sensors at their ends, ``NOBODY``
            at a portal's) what share gets through what stands between.
    """

    def __init__(
        self,
        modalities: ModalitySet,
        sensors: SensorTable,
        graphs: GraphBySense,
        faintest: float,
        gradual: Collection[int],
        noise: BackgroundNoise,
        kept: Kept,
    ) -> None:
        self._noise, self._kept = noise, kept
        self._modalities = modalities
        self._sensors = sensors
        self._graphs = graphs
        self._faintest = faintest
        self._gradual = frozenset(gradual)
        self.sent = 0
        self.waves: list[SpreadingWave] = []
        self.turn: deque[SpreadingWave] = deque()
        self.queue: list[WaveArrival] = []
        self.arrived: deque[WaveArrival] = deque()
        self._doors = [self._doors_ahead(number) for number in sorted(self._gradual)]

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
            self.waves.append(SpreadingWave(self.sent, source_id, affiliation, modality, strength,
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
                if wave.is_over or not (
                    len(wave.waiting.row) or wave.heard or wave.modality in self._gradual
                ):
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

    def way(self, number: int, eye: int, position: Point, strength: float) -> ReachNumbers | None:
        """Return how a wave from a position would come to a sensor, by its slot; None if it would not."""
        region = self._graphs.graph[number].region_at(position)
        here = int(self._graphs.sensor_regions(number)[eye])
        if NOWHERE in (region, here):
            return None
        wave = SpreadingWave(0, NOBODY, 0, number, strength, position, region, 0.0)
        while not self._go_through(wave, math.inf, PASSAGES_PER_BLOCK)[1]:
            pass
        heard = self._heard(wave, wave.passed, np.array([eye]))
        if not len(heard.slot):
            return None
        first = int(np.lexsort((heard.row, -heard.intensity, heard.distance_m))[0])
        x, y, z = (heard.comes_from[first] - self._sensors.position[eye]).tolist()
        kept = float(heard.intensity[first]) / strength if strength else 0.0
        return ReachNumbers(float(heard.distance_m[first]), kept, (x, y, z))

    def _go_on(self, wave: SpreadingWave, budget: Budget, now_s: float) -> bool:
        """Let a wave through some passages; return True if it is as far as it may be."""
        kind, until_m, before = self._modalities[wave.modality], math.inf, len(wave.passed.row)
        if wave.modality in self._gradual:
            until_m = wave.front_m = (now_s - wave.sent_at_s) / kind.delay_s_per_m
        most = PASSAGES_PER_BLOCK
        if budget.stopwatch is None:
            most = max(1, int(min(most, budget.left)))
        is_new = not wave.is_begun
        count, is_done = self._go_through(wave, until_m, most)
        budget.spend(max(1, count))
        if wave.modality in self._gradual:
            if is_done:
                self._meet(wave, now_s)
                wave.is_over = not len(wave.waiting.row) and until_m >= self._ends_m(wave)
            return is_done
        self._listen(wave, wave.passed.part_from(before), is_new=is_new)
        if is_done:
            self._send(wave, math.inf)
        return is_done

    def _go_through(self, wave: SpreadingWave, until_m: float, most: int) -> tuple[int, bool]:
        """Let a wave through passages; return how many, and whether it is as far as it may be."""
        ways, kind = self._graphs.ways[wave.modality], self._modalities[wave.modality]
        if not wave.is_begun:
            wave.is_begun = True
            rows = np.arange(*ways.out_first[wave.region : wave.region + 2])
            wave.waiting = self._first_labels(wave, rows)
        reached, left = WavefrontLabels.empty(min(most, len(ways))), WavefrontLabels.empty(len(ways))
        count, rest = spread(
            ways, wave.waiting, wave.passed.row, kind.range_m, self._faintest, until_m, most,
            reached, left,
        )
        wave.waiting = left.part(rest)
        if count:
            wave.passed = wave.passed.and_then(reached.part(count))
        return count, not (rest and count and wave.waiting.distance_m[0] <= until_m)

    def _doors_ahead(self, number: int) -> WaveDoorUpdates:
        return WaveDoorUpdates(
            self._graphs.ways[number], number, self.waves, self._first_labels,
            lambda: self._modalities[number].range_m, self._faintest)

    def _first_labels(self, wave: SpreadingWave, rows: NDArray[np.int64]) -> WavefrontLabels:
        """Return how a wave comes through passages straight from its source."""
        ways, kind = self._graphs.ways[wave.modality], self._modalities[wave.modality]
        leg_m = lengths(np.array([wave.position]) - ways.start[rows])
        kept = shares_kept(float(ways.kept_per_m[wave.region]), leg_m)
        if kind.is_muffled and len(rows):
            here = np.broadcast_to(np.array(wave.position, np.float32), (len(rows), 3))
            nobody = np.full(len(rows), NOBODY, np.int32)
            kept = kept * self._kept(wave.modality, here, ways.start[rows].astype(np.float32), nobody)
        distance_m, intensity = leg_m + ways.distance_m[rows], wave.strength * (kept * ways.kept[rows])
        is_heard = (distance_m <= kind.range_m) & (intensity >= self._faintest) & (intensity > 0)
        rows = rows[is_heard]
        return WavefrontLabels(rows.astype(np.int32), distance_m[is_heard], intensity[is_heard],
                      np.full(len(rows), FROM_SOURCE, np.int32))

    def _listen(self, wave: SpreadingWave, labels: WavefrontLabels, *, is_new: bool) -> None:
        """Note for the sensors in the regions that a wave came into what they will hear."""
        heard = self._heard(wave, labels, self._ears(wave), from_source=is_new)
        is_heard = heard.intensity >= self._sensors.threshold[heard.slot, wave.modality]
        found = np.flatnonzero(is_heard)
        ids = self._sensors.ids.of_slots(heard.slot[found]).tolist()
        columns = (heard.distance_m, -heard.intensity, heard.row, heard.leg_m, heard.before)
        for sensor_id, *parts in zip(ids, *(one[found].tolist() for one in columns), strict=True):
            hearing = FirstArrival(*parts)
            if sensor_id not in wave.told and (
                sensor_id not in wave.heard or hearing < wave.heard[sensor_id]
            ):
                wave.heard[sensor_id] = hearing

    def _meet(self, wave: SpreadingWave, now_s: float) -> None:
        """Tell who is now where a gradual wave has come: sensors move while it does."""
        self._listen(wave, wave.passed, is_new=True)
        self._send(wave, now_s)
        wave.heard = {}

    def _ends_m(self, wave: SpreadingWave) -> float:
        """Return how far a wave comes until it has crossed every region it came into (m)."""
        ways = self._graphs.ways[wave.modality]
        across_m = ways.across_m[ways.to_region[wave.passed.row]]
        far_m = float((wave.passed.distance_m + across_m).max(initial=ways.across_m[wave.region]))
        return min(far_m, self._modalities[wave.modality].range_m)

    def _heard(
        self, wave: SpreadingWave, labels: WavefrontLabels, slots: NDArray[np.intp], *, from_source: bool = True
    ) -> WaveArrivals:
        """Return what sensors hear of a wave, by every way it came into their regions."""
        ways, kind = self._graphs.ways[wave.modality], self._modalities[wave.modality]
        if from_source:
            labels = WavefrontLabels(
                np.array([FROM_SOURCE], np.int32), np.zeros(1), np.array([wave.strength]),
                np.array([FROM_SOURCE], np.int32)).and_then(labels)
        is_direct = labels.row == FROM_SOURCE
        region = np.where(is_direct, wave.region, _taken(ways.to_region, labels.row))
        where = self._graphs.sensor_regions(wave.modality)[slots]
        label, slot = _met(region, slots, where)
        row = labels.row[label]
        comes_from = np.where(is_direct[label, np.newaxis], wave.position, _taken(ways.end, row))
        leg_m = lengths(comes_from - self._sensors.position[slot])
        distance_m, before = labels.distance_m[label] + leg_m, labels.intensity[label]
        kept = shares_kept(ways.kept_per_m[region[label]], leg_m)
        near = np.flatnonzero((distance_m <= kind.range_m) & (before * kept >= self._faintest))
        slot, comes_from, kept, before = slot[near], comes_from[near], kept[near], before[near]
        if kind.is_muffled and len(near):
            here = self._sensors.position[slot]
            before = before * self._kept(
                wave.modality, comes_from.astype(np.float32), here, self._sensors.ids.of_slots(slot))
        is_left = before * kept >= self._faintest
        return WaveArrivals._make(one[is_left] for one in (
            slot, row[near], distance_m[near], leg_m[near], before, before * kept, comes_from))

    def _ears(self, wave: SpreadingWave) -> NDArray[np.intp]:
        """Return slots of sensors that may hear a wave."""
        sensors = self._sensors
        may = np.isfinite(sensors.threshold[:, wave.modality])
        may &= (sensors.detection_mask & wave.affiliation) != 0
        may &= sensors.self_source != wave.source_id
        return np.flatnonzero(may)

    def _send(self, wave: SpreadingWave, until_s: float) -> None:
        """Put on their way all that will be heard by then: nothing can come before it."""
        ways, kind = self._graphs.ways[wave.modality], self._modalities[wave.modality]
        for sensor_id, one in sorted(wave.heard.items()):
            due_s = wave.sent_at_s + one.distance_m * kind.delay_s_per_m
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
        kept_per_m = float(self._graphs.ways[number].kept_per_m[region])
        intensity: float = arrival.before * kept_per_m**leg_m
        if intensity < self._sensors.threshold[slot, number]:
            return None
        seconds_per_metre = self._modalities[number].delay_s_per_m
        due_s = arrival.due_s + (leg_m - arrival.leg_m) * seconds_per_metre
        if due_s > now_s:
            again = arrival._replace(due_s=due_s, leg_m=leg_m, intensity=intensity)
            heappush(self.queue, again)
            return None
        return intensity


def _met(
    region: NDArray[np.int32], slots: NDArray[np.intp], where: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return pairs: index into ``region``, and slot of a sensor that is there."""
    order = np.argsort(where, kind="stable")
    slots, where = slots[order], where[order]
    first, end = np.searchsorted(where, region), np.searchsorted(where, region, side="right")
    counts = end - first
    index = np.repeat(np.arange(len(region)), counts)
    before = np.cumsum(counts) - counts
    return index, slots[np.arange(len(index)) - np.repeat(before - first, counts)]


def _channel_of(arrival: WaveArrival) -> tuple[int, int, str, int]:
    return arrival.source_id, arrival.modality, arrival.channel, arrival.sensor_id


def _taken(values: NDArray[np.generic], rows: NDArray[np.int32]) -> NDArray[np.generic]:
    """Return rows of ``values``; anything for those below 0, also where there is none."""
    if not len(values):
        return np.zeros((len(rows), *values.shape[1:]), values.dtype)
    return values[rows]
