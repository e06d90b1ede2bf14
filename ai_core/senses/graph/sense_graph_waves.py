"""Signals in a sense graph: sounds are waves that spread from portal to portal, smells are clouds.

A wave is computed in the advance after its emission or, if its modality is gradual, only as far as it
has come by now. In both cases it meets each sensor once, and seems to come from the last portal.
"""
from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.saving.declared_state import DeclaredState, Flag, ListOf, Number, Record, Refuse, Row, Whole
from ai_core.senses.graph.sense_graph import NOWHERE, GraphBySense, PassageTable, lengths, shares_kept
from ai_core.senses.graph.sense_wavefront import PassageArrival, SpreadingWave
from ai_core.senses.graph.smell import SmellSpreading
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.emitted_signals import SIGNAL, EmittedSignals, Muffle
from ai_core.senses.stimuli.signal import ReachNumbers, Signal

__all__ = ["NO_SENSOR", "GraphSignals"]

PASSAGES_PER_BLOCK = 512
"""Passages a wave goes through between two looks at the budget (count).

About 0.1 ms, 1 ms interpreted. More overruns a small budget of time further; fewer
sorts waiting passages too often.
"""

NO_SENSOR = -1
"""Stands for "no sensor" among ids of sensors at the ends of lines."""

NOWHERE_NEAR = (0.0, 0.0, 0.0)
"""Where a smell shows itself: all around."""

SILENT = -1.0
"""Share kept per metre outside all regions: nothing is heard there."""

FROM_SOURCE = -1
"""Row before the first passage of a wave: it comes straight from its source."""


def _arrival(*numbers: Any) -> PassageArrival:
    return numbers


PASSAGES = ListOf(Row(_arrival, Number(0), Number(maximum=0), Whole()))

class GraphSignals(EmittedSignals):
    """Carries signals through a graph; a touch reaches one sensor alone, as everywhere.

    Args:
        modalities: how signals travel.
        sensors: the sensors that they may reach.
        sources: the sources that may emit them.
        muffle: see ``Muffle``; the id of a sensor at the end of a line is ``NO_SENSOR`` at portals.
        is_muffled: returns whether anything may stand between in a modality, by its number.
        graphs: the graphs that signals travel through.
        smells: where smells go.
        faintest: an intensity below this is nothing.
        gradual: numbers of modalities whose waves are followed as they travel.

    Attributes:
        waves: ``SpreadingWave`` that have not met all sensors that they can meet.
    """

    STATE = DeclaredState(**cast("dict[str, Any]", {
        **EmittedSignals.STATE.fields,
        "level": Whole(),
        "waves": ListOf(Record(
            SpreadingWave, signal=SIGNAL, region=Whole(), waiting=PASSAGES, passed=PASSAGES,
            met=ListOf(Whole(maximum=LARGEST_ID), make=set), is_begun=Flag(), front_m=Number(0))),
    }))

    def __init__(
        self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, muffle: Muffle,
        is_muffled: Callable[[int], bool], graphs: GraphBySense, smells: SmellSpreading, faintest: float,
        gradual: Collection[int],
    ) -> None:
        super().__init__(modalities, sensors, sources, muffle, is_muffled)
        self._graphs, self._smells, self._faintest = graphs, smells, faintest
        self._gradual = frozenset(gradual)
        self._kept_at = self._kept_per_m_at
        for number in self._gradual:
            graphs.tables[number].followers.add(self)

    @property
    def has_work(self) -> bool:
        """Whether any signal is on its way, or a smell in the air."""
        return super().has_work or bool(self._smells.scents)

    def take(self, signal: Signal) -> None:
        """Begin a wave, which spreads in the next advance, or let out a smell. Cost: O(1)."""
        if signal.modality not in self._smells.models:
            super().take(signal)
            return
        self.sent += 1
        _, source_id, modality, strength, position, now_s, affiliation, tag, _ = signal
        self._smells.emit(source_id, affiliation, modality, strength, position, now_s, tag)

    def row_changed(self, table: PassageTable, row: int) -> None:
        """Let the gradual waves that have not come through a passage take its present share.

        A wave that comes into a region computes at once how it comes through each passage out of it. In front of
        it that changes with the doors; behind its front, and in the passage itself, nothing does.

        Cost: O(passages that each wave came through).
        """
        for wave in self.waves:
            if self._graphs.tables[wave.signal.modality] is table and wave.is_begun and all(
                    row != one for _, _, one in wave.passed):
                length_m = float(table.distance_m[row])
                entered = [one for one in wave.waiting if one[2] != row or one[0] - length_m <= wave.front_m]
                ahead = [one for one in self._arrivals_at(wave, row) if one[0] - length_m > wave.front_m]
                wave.waiting = entered + ahead

    def _begin(self, signal: Signal) -> int:
        region = self._graphs.graph[signal.modality].region_at(signal.position)
        if region != NOWHERE:
            self.waves.append(SpreadingWave(signal, region))
        return 1

    def reach_of(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return how a signal emitted now would get to a sensor, or a smell hangs in the air; None if it does not."""
        x, y, z = self._sources.position[target].tolist()
        if number in self._smells.models:
            source_id = int(self._sources.ids.of_slots(np.array([target]))[0])
            intensity = self._smells.intensity_at(number, source_id, eye)
            return ReachNumbers(None, intensity / strength, NOWHERE_NEAR) if intensity and strength else None
        region = self._graphs.graph[number].region_at((x, y, z))
        here = int(self._graphs.sensor_regions(number)[eye])
        if NOWHERE in (region, here):
            return None
        wave = SpreadingWave(Signal(0, NO_SENSOR, number, strength, (x, y, z), 0.0), region)
        self._go_through(wave, math.inf, len(self._graphs.tables[number]) + 1)
        _, row, distances_m, _, _, intensities, comes_from = self._heard(wave, np.array([eye]))
        if not len(row):
            return None
        first = int(np.lexsort((row, -intensities, distances_m))[0])
        x, y, z = (comes_from[first] - self._sensors.position[eye]).tolist()
        kept = float(intensities[first]) / strength if strength else 0.0
        return ReachNumbers(float(distances_m[first]), kept, (x, y, z))

    def _kept_per_m_at(self, number: int, slot: int) -> float:
        region = self._graphs.graph[number].region_at(self._sensors.position[slot].tolist())
        return SILENT if region == NOWHERE else float(self._graphs.tables[number].kept_per_m[region])

    def _go_on(self, wave: SpreadingWave, budget: Budget, now_s: float) -> bool:
        """Let a wave through some passages; return True if it is as far as it may be, and has met sensors there."""
        number, until_m = wave.signal.modality, math.inf
        if number in self._gradual:
            wave.front_m = until_m = (now_s - wave.signal.sent_at_s) / self._modalities[number].delay_s_per_m
        most = PASSAGES_PER_BLOCK if budget.stopwatch else max(1, int(min(PASSAGES_PER_BLOCK, budget.left)))
        count, is_done = self._go_through(wave, until_m, most)
        budget.spend(max(1, count))
        if is_done:
            self._meet(wave, now_s if number in self._gradual else math.inf)
        return is_done

    def _is_over(self, wave: SpreadingWave, now_s: float) -> bool:
        if wave.signal.modality not in self._gradual:
            return True
        return wave.front_m >= self._ends_m(wave) and not wave.waiting

    def _go_through(self, wave: SpreadingWave, until_m: float, most: int) -> tuple[int, bool]:
        """Let a wave through passages; return how many, and whether it is as far as it may be."""
        table, kind = self._graphs.tables[wave.signal.modality], self._modalities[wave.signal.modality]
        if not wave.is_begun:
            wave.is_begun = True
            wave.waiting = self._first_arrivals(wave, np.array(table.out_of(wave.region), np.int64))
        return wave.spread(table, kind.range_m, self._faintest, until_m, most)

    def _first_arrivals(self, wave: SpreadingWave, rows: NDArray[np.int64]) -> list[PassageArrival]:
        """Return how a wave comes through passages straight from its source."""
        signal, number = wave.signal, wave.signal.modality
        table, kind = self._graphs.tables[number], self._modalities[number]
        leg_m = lengths(np.array([signal.position]) - table.start[rows])
        kept = shares_kept(float(table.kept_per_m[wave.region]), leg_m)
        if kind.is_muffled and len(rows):
            here = np.broadcast_to(np.array(signal.position, np.float32), (len(rows), 3))
            no_sensors = np.full(len(rows), NO_SENSOR, np.int32)
            kept = kept * self._muffle(number, here, table.start[rows].astype(np.float32), no_sensors)
        distance_m, intensity = leg_m + table.distance_m[rows], signal.strength * (kept * table.kept[rows])
        return self._heard_of(number, zip(distance_m.tolist(), (-intensity).tolist(), rows.tolist(), strict=True))

    def _arrivals_at(self, wave: SpreadingWave, row: int) -> list[PassageArrival]:
        """Return how a wave comes through a passage in its present state, from every passage before it."""
        table = self._graphs.tables[wave.signal.modality]
        region = int(table.from_region[row])
        first = [] if region != wave.region else self._first_arrivals(wave, np.array([row]))
        place, kept = row - int(table.out_first[region]), float(table.kept[row])
        legs = [(one, int(table.leg_first[one[2]]) + place) for one in wave.passed if table.to_region[one[2]] == region]
        return first + self._heard_of(wave.signal.modality, (
            (distance_m + float(table.hop_m[leg]), negative * (float(table.leg_kept[leg]) * kept), row)
            for (distance_m, negative, _), leg in legs))

    def _heard_of(self, number: int, arrivals: Iterable[PassageArrival]) -> list[PassageArrival]:
        """Return the arrivals that are in range, and not too faint."""
        range_m, faintest = self._modalities[number].range_m, self._faintest
        return [one for one in arrivals if one[0] <= range_m and one[1] < 0 and -one[1] >= faintest]

    def _ends_m(self, wave: SpreadingWave) -> float:
        """Return how far a wave comes until it has crossed every region it came into (m)."""
        table = self._graphs.tables[wave.signal.modality]
        across_m = [so_far_m + float(table.across_m[table.to_region[row]]) for so_far_m, _, row in wave.passed]
        return min(max([float(table.across_m[wave.region]), *across_m]), self._modalities[wave.signal.modality].range_m)

    def _meet(self, wave: SpreadingWave, until_s: float) -> None:
        """Let a wave be under way to the sensors that it reaches until a moment (s), each by its first arrival."""
        signal, number = wave.signal, wave.signal.modality
        table, s_per_m = self._graphs.tables[number], self._modalities[number].delay_s_per_m
        slot, row, distance_m, leg_m, before, intensity, _ = self._heard(wave, self._ears(wave))
        order = np.lexsort((row, -intensity, distance_m, slot))
        order = order[(intensity >= self._sensors.threshold[slot, number])[order]]
        order = order[np.diff(slot[order], prepend=-1) > 0]                 # the first of each sensor
        order = order[signal.sent_at_s + distance_m[order] * s_per_m <= until_s]
        ids = self._sensors.ids.of_slots(slot[order]).tolist()
        by_row: dict[int, list[tuple[Any, ...]]] = {}
        columns = (one[order].tolist() for one in (row, slot, distance_m, leg_m, before, intensity))
        for sensor_id, last, *numbers in zip(ids, *columns, strict=True):
            if sensor_id not in wave.met:
                by_row.setdefault(last, []).append(tuple(numbers))
        for last, arrivals in by_row.items():
            x, y, z = signal.position if last == FROM_SOURCE else table.end[last].tolist()
            self._add(signal._replace(position=(x, y, z)), (x, y, z), tuple(map(list, zip(*arrivals, strict=True))))
        if number in self._gradual:
            wave.met.update(ids)

    def _heard(self, wave: SpreadingWave, slots: NDArray[np.intp]) -> tuple[NDArray[Any], ...]:
        """Return how sensors hear a wave, by every passage through which it entered their regions.

        Returns:
            Columns: slot, row of the last passage or ``FROM_SOURCE``, how far the wave came in all (m), length of
            its last straight part (m), intensity before it and at the sensor, where it begins (n, 3) (m).
        """
        signal, number = wave.signal, wave.signal.modality
        table, kind = self._graphs.tables[number], self._modalities[number]
        # Through arrays of Python's: NumPy takes four times as long for tuples.
        came_m, negative, rows = zip((0.0, -signal.strength, FROM_SOURCE), *wave.passed, strict=True)
        so_far_m, left_over = np.array(array("d", came_m)), np.negative(array("d", negative))
        passage = np.array(array("i", rows))
        is_direct = passage == FROM_SOURCE
        region = np.where(is_direct, wave.region, _taken(table.to_region, passage))
        where = self._graphs.sensor_regions(number)[slots]
        label, slot = _met(region, slots, where)
        row = passage[label]
        comes_from = np.where(is_direct[label, np.newaxis], signal.position, _taken(table.end, row))
        leg_m = lengths(comes_from - self._sensors.position[slot])
        distance_m, before = so_far_m[label] + leg_m, left_over[label]
        kept = shares_kept(table.kept_per_m[region[label]], leg_m)
        near = np.flatnonzero((distance_m <= kind.range_m) & (before * kept >= self._faintest))
        slot, comes_from, kept, before = slot[near], comes_from[near], kept[near], before[near]
        if kind.is_muffled and len(near):
            here = self._sensors.position[slot]
            before = before * self._muffle(
                number, comes_from.astype(np.float32), here, self._sensors.ids.of_slots(slot))
        left = before * kept >= self._faintest
        return tuple(one[left] for one in (
            slot, row[near], distance_m[near], leg_m[near], before, before * kept, comes_from))

    def _ears(self, wave: SpreadingWave) -> NDArray[np.intp]:
        """Return slots of sensors that may hear a wave."""
        sensors = self._sensors
        may = np.isfinite(sensors.threshold[:, wave.signal.modality])
        may &= (sensors.detection_mask & wave.signal.affiliation) != 0
        may &= sensors.self_source != wave.signal.source_id
        return np.flatnonzero(may)

    # Saving.

    @property
    def level(self) -> int:
        """A number that differs if the passages differ from those of a save."""
        level = [
            [table.from_region.tolist(), table.to_region.tolist(), table.portal.tolist(), len(table.kept_per_m)]
            for table in self._graphs.tables]
        return zlib.crc32(repr(level).encode())

    def _check_waves(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if values.level != self.level:
            values.waves = []           # their passages do not exist any more
        del values.level                # it cannot be loaded
        for number, wave in enumerate(values.waves):
            table = self._graphs.tables[wave.signal.modality]
            if wave.region >= len(table.kept_per_m):
                refuse(f"waves[{number}].region", f"must be below {len(table.kept_per_m)}, the number of regions")
            for name, arrivals in (("waiting", wave.waiting), ("passed", wave.passed)):
                if max((row for _, _, row in arrivals), default=0) >= max(1, len(table)):
                    refuse(f"waves[{number}].{name}", f"must have rows below {len(table)}, the number of passages")


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
