"""Signals in a sense graph: sounds are waves that spread from portal to portal, smells are clouds.

A wave is computed in the advance after its emission or, if its modality is gradual, only as far as it
has come by now. In both cases it meets each sensor once, and seems to come from the last portal.
"""
from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Collection
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.saving.declared_state import (
    ArrayOf,
    DeclaredState,
    Flag,
    ListOf,
    Number,
    Record,
    Refuse,
    Whole,
)
from ai_core.senses.graph.sense_graph import NOWHERE, GraphBySense, lengths, shares_kept
from ai_core.senses.graph.sense_graph_doors import WaveDoorUpdates
from ai_core.senses.graph.sense_wavefront import FROM_SOURCE, SpreadingWave, WavefrontLabels, spread
from ai_core.senses.graph.smell import SmellSpreading
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.emitted_signals import SIGNAL, Arrival, EmittedSignals, Muffle
from ai_core.senses.stimuli.signal_queue import Signal
from ai_core.senses.stimuli.waves import ReachNumbers

__all__ = ["NOBODY", "GraphSignals"]

PASSAGES_PER_BLOCK = 512
"""Passages a wave goes through between two looks at the budget (count).

About 0.1 ms, 1 ms interpreted. More overruns a small budget of time further; fewer
sorts what waits too often. It must not depend on the kernel: see compiled loops.
"""

NOBODY = -1
"""Stands for "no sensor" among ids of sensors at the ends of lines."""

NOWHERE_NEAR = (0.0, 0.0, 0.0)
"""Where a smell shows itself: all around."""

SILENT = -1.0
"""Share kept per metre outside all regions: nothing is heard there."""

LABELS = Record(
    WavefrontLabels, row=ArrayOf(np.int32, minimum=0), distance_m=ArrayOf(minimum=0), intensity=ArrayOf(minimum=0),
    previous=ArrayOf(np.int32, minimum=FROM_SOURCE))
"""How labels are saved."""


class GraphSignals(EmittedSignals):
    """Carries signals through a graph; what touches a sensor comes to that sensor alone, as everywhere.

    Args:
        modalities: how signals travel.
        sensors: whom they may reach.
        sources: what may emit them.
        muffle: see ``Muffle``; the id of a sensor at the end of a line is ``NOBODY`` at portals.
        is_muffled: returns whether anything may stand between in a modality, by its number.
        graphs: what signals travel through.
        smells: where smells go.
        faintest: an intensity below this is nothing.
        gradual: numbers of modalities whose waves are followed as they travel.

    Attributes:
        waves: those that have not met all that they can meet.
    """

    STATE = DeclaredState(
        **cast("dict[str, Any]", EmittedSignals.STATE.fields),
        level=Whole(),
        spreading=ListOf(Record(
            SpreadingWave, signal=SIGNAL, region=Whole(), waiting=LABELS, passed=LABELS,
            met=ListOf(Whole(maximum=LARGEST_ID), make=set), is_begun=Flag(), front_m=Number(0))),
    )

    def __init__(
        self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, muffle: Muffle,
        is_muffled: Callable[[int], bool], graphs: GraphBySense, smells: SmellSpreading, faintest: float,
        gradual: Collection[int],
    ) -> None:
        super().__init__(modalities, sensors, sources, muffle, is_muffled)
        self._graphs, self._smells, self._faintest = graphs, smells, faintest
        self._gradual = frozenset(gradual)
        self._kept_at = self._kept_per_m_at
        self.waves: list[SpreadingWave] = []
        self._doors = [self._doors_ahead(number) for number in sorted(self._gradual)]

    def take(self, signal: Signal) -> None:
        """Begin a wave, which spreads in the next advance, or let out a smell. Cost: O(1)."""
        if signal.modality not in self._smells.rooms:
            super().take(signal)
            return
        self.sent += 1
        _, source_id, modality, strength, position, now_s, affiliation, tag, _ = signal
        self._smells.emit(source_id, affiliation, modality, strength, position, now_s, tag)

    def _begin(self, signal: Signal) -> None:
        region = self._graphs.graph[signal.modality].region_at(signal.position)
        if region != NOWHERE:
            self.waves.append(SpreadingWave(signal, region))

    def follow(self, budget: Budget, now_s: float) -> bool:
        """Let all waves spread; return False if the budget ended first. A step is a passage, one at least a wave."""
        while self.followed < len(self.waves):
            if budget.is_spent:
                return False
            wave = self.waves[self.followed]
            if wave.signal.order >= self._sent_before:
                self.followed += 1
            elif self._go_on(wave, budget, now_s):
                if wave.is_over:
                    del self.waves[self.followed]
                else:
                    self.followed += 1
        self.followed = 0
        return True

    @property
    def has_work(self) -> bool:
        """Whether any signal is on its way, or a smell in the air."""
        return bool(len(self.queue) or self.waves or self.waiting or self._smells.scents)

    def way(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return how a signal emitted now would get to a sensor, or a smell hangs in the air; None if it does not."""
        x, y, z = self._sources.position[target].tolist()
        if number in self._smells.rooms:
            source_id = int(self._sources.ids.of_slots(np.array([target]))[0])
            intensity = self._smells.intensity_at(number, source_id, eye)
            return ReachNumbers(None, intensity / strength, NOWHERE_NEAR) if intensity and strength else None
        region = self._graphs.graph[number].region_at((x, y, z))
        here = int(self._graphs.sensor_regions(number)[eye])
        if NOWHERE in (region, here):
            return None
        wave = SpreadingWave(Signal(0, NOBODY, number, strength, (x, y, z), 0.0), region)
        while not self._go_through(wave, math.inf, PASSAGES_PER_BLOCK)[1]:
            pass
        _, row, distances_m, _, _, intensities, comes_from = self._heard(wave, np.array([eye]))
        if not len(row):
            return None
        first = int(np.lexsort((row, -intensities, distances_m))[0])
        x, y, z = (comes_from[first] - self._sensors.position[eye]).tolist()
        kept = float(intensities[first]) / strength if strength else 0.0
        return ReachNumbers(float(distances_m[first]), kept, (x, y, z))

    def _kept_per_m_at(self, number: int, slot: int) -> float:
        region = self._graphs.graph[number].region_at(self._sensors.position[slot].tolist())
        return SILENT if region == NOWHERE else float(self._graphs.ways[number].kept_per_m[region])

    def _go_on(self, wave: SpreadingWave, budget: Budget, now_s: float) -> bool:
        """Let a wave through some passages; return True if it is as far as it may be, and has met sensors there."""
        is_gradual, until_m = wave.modality in self._gradual, math.inf
        if is_gradual:
            until_m = (now_s - wave.signal.sent_at_s) / self._modalities[wave.modality].delay_s_per_m
            wave.front_m = until_m
        most = PASSAGES_PER_BLOCK if budget.stopwatch else max(1, int(min(PASSAGES_PER_BLOCK, budget.left)))
        count, is_done = self._go_through(wave, until_m, most)
        budget.spend(max(1, count))
        if is_done:
            self._meet(wave, now_s if is_gradual else math.inf)
            wave.is_over = not is_gradual or (not len(wave.waiting.row) and until_m >= self._ends_m(wave))
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
        ways, kind, signal = self._graphs.ways[wave.modality], self._modalities[wave.modality], wave.signal
        leg_m = lengths(np.array([signal.position]) - ways.start[rows])
        kept = shares_kept(float(ways.kept_per_m[wave.region]), leg_m)
        if kind.is_muffled and len(rows):
            here = np.broadcast_to(np.array(signal.position, np.float32), (len(rows), 3))
            nobody = np.full(len(rows), NOBODY, np.int32)
            kept = kept * self._muffle(wave.modality, here, ways.start[rows].astype(np.float32), nobody)
        distance_m, intensity = leg_m + ways.distance_m[rows], signal.strength * (kept * ways.kept[rows])
        is_heard = (distance_m <= kind.range_m) & (intensity >= self._faintest) & (intensity > 0)
        rows = rows[is_heard]
        return WavefrontLabels(rows.astype(np.int32), distance_m[is_heard], intensity[is_heard],
                      np.full(len(rows), FROM_SOURCE, np.int32))

    def _ends_m(self, wave: SpreadingWave) -> float:
        """Return how far a wave comes until it has crossed every region it came into (m)."""
        ways = self._graphs.ways[wave.modality]
        across_m = ways.across_m[ways.to_region[wave.passed.row]]
        far_m = float((wave.passed.distance_m + across_m).max(initial=ways.across_m[wave.region]))
        return min(far_m, self._modalities[wave.modality].range_m)

    def _meet(self, wave: SpreadingWave, until_s: float) -> None:
        """Let a wave be under way to the sensors that it reaches until a moment (s), each by its first arrival."""
        kind, signal, ways = self._modalities[wave.modality], wave.signal, self._graphs.ways[wave.modality]
        slot, row, distance_m, leg_m, before, intensity, _ = self._heard(wave, self._ears(wave))
        due_s = signal.sent_at_s + distance_m * kind.delay_s_per_m
        order = np.lexsort((row, -intensity, distance_m, slot))
        order = order[(intensity >= self._sensors.threshold[slot, wave.modality])[order]]
        order = order[np.diff(slot[order], prepend=-1) > 0]                 # the first of each sensor
        order = order[due_s[order] <= until_s]
        ids = self._sensors.ids.of_slots(slot[order]).tolist()
        reach_m = kind.range_m - (distance_m - leg_m)
        columns = (one[order].tolist() for one in (row, due_s, leg_m, before, intensity, reach_m))
        by_row: dict[int, list[Arrival]] = {}
        for sensor_id, last, due, leg, outside, inside, reach in zip(ids, *columns, strict=True):
            if sensor_id not in wave.met:
                by_row.setdefault(last, []).append((sensor_id, due, leg, outside, inside, reach))
        for last, arrivals in by_row.items():
            x, y, z = signal.position if last == FROM_SOURCE else ways.end[last].tolist()
            self._add(signal._replace(position=(x, y, z)), (x, y, z), arrivals)
        if wave.modality in self._gradual:
            wave.met.update(ids)

    def _heard(self, wave: SpreadingWave, slots: NDArray[np.intp]) -> tuple[NDArray[Any], ...]:
        """Return what sensors hear of a wave, by every way it came into their regions.

        Returns:
            Columns: slot, row of the last passage or ``FROM_SOURCE``, how far the wave came in all (m), length of
            its last straight part (m), intensity before it and at the sensor, where it begins (n, 3) (m).
        """
        ways, kind, signal = self._graphs.ways[wave.modality], self._modalities[wave.modality], wave.signal
        labels = WavefrontLabels(
            np.array([FROM_SOURCE], np.int32), np.zeros(1), np.array([signal.strength]),
            np.array([FROM_SOURCE], np.int32)).and_then(wave.passed)
        is_direct = labels.row == FROM_SOURCE
        region = np.where(is_direct, wave.region, _taken(ways.to_region, labels.row))
        where = self._graphs.sensor_regions(wave.modality)[slots]
        label, slot = _met(region, slots, where)
        row = labels.row[label]
        comes_from = np.where(is_direct[label, np.newaxis], signal.position, _taken(ways.end, row))
        leg_m = lengths(comes_from - self._sensors.position[slot])
        distance_m, before = labels.distance_m[label] + leg_m, labels.intensity[label]
        kept = shares_kept(ways.kept_per_m[region[label]], leg_m)
        near = np.flatnonzero((distance_m <= kind.range_m) & (before * kept >= self._faintest))
        slot, comes_from, kept, before = slot[near], comes_from[near], kept[near], before[near]
        if kind.is_muffled and len(near):
            here = self._sensors.position[slot]
            before = before * self._muffle(
                wave.modality, comes_from.astype(np.float32), here, self._sensors.ids.of_slots(slot))
        left = before * kept >= self._faintest
        return tuple(one[left] for one in (
            slot, row[near], distance_m[near], leg_m[near], before, before * kept, comes_from))

    def _ears(self, wave: SpreadingWave) -> NDArray[np.intp]:
        """Return slots of sensors that may hear a wave."""
        sensors = self._sensors
        may = np.isfinite(sensors.threshold[:, wave.modality])
        may &= (sensors.detection_mask & wave.signal.affiliation) != 0
        may &= sensors.self_source != wave.signal.source_id
        return np.flatnonzero(may)

    # Saving.

    @property
    def level(self) -> int:
        """A number by which is known whether the passages are those of a save."""
        level = [
            [ways.from_region.tolist(), ways.to_region.tolist(), ways.portal.tolist(), len(ways.kept_per_m)]
            for ways in self._graphs.ways]
        return zlib.crc32(repr(level).encode())

    @property
    def spreading(self) -> list[SpreadingWave]:
        """The waves, for a save."""
        return self.waves

    @spreading.setter
    def spreading(self, waves: list[SpreadingWave]) -> None:
        self.waves[:] = waves       # the list that doors know

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        super()._check_state(values, refuse)
        if any(one.signal.order >= values.sent for one in values.spreading):
            refuse("spreading", f"must have signals of orders below {values.sent}, the number of signals sent")
        if values.level == self.level:
            for number, wave in enumerate(values.spreading):
                self._check_wave(wave, f"spreading[{number}].", refuse)
        else:
            values.spreading = []       # their passages are no more: they are not heard
        del values.level                # it cannot be loaded

    def _check_wave(self, wave: SpreadingWave, place: str, refuse: Refuse) -> None:
        ways = self._graphs.ways[wave.modality]
        if wave.region >= len(ways.kept_per_m):
            refuse(f"{place}region", f"must be below {len(ways.kept_per_m)}, the number of regions")
        for name, labels in (("waiting", wave.waiting), ("passed", wave.passed)):
            if len({len(one) for one in labels}) > 1:
                refuse(f"{place}{name}", "must have columns of one length")
            if len(labels.row) and max(labels.row.max(), labels.previous.max()) >= len(ways):
                refuse(f"{place}{name}", f"must have rows below {len(ways)}, the number of passages")

    def _finish_load(self) -> None:
        self.followed = min(self.followed, len(self.waves))


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


def _taken(values: NDArray[np.generic], rows: NDArray[np.int32]) -> NDArray[np.generic]:
    """Return rows of ``values``; anything for those below 0, also where there is none."""
    if not len(values):
        return np.zeros((len(rows), *values.shape[1:]), values.dtype)
    return values[rows]
