"""Signals in a sense graph: sounds are waves that spread from portal to portal, smells are clouds.

A wave is computed in the advance after its emission or, if its modality is gradual, as far as it has
travelled by now. In both cases it meets each sensor once, and seems to come from the last portal.
"""
from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable
from heapq import heapify, heappop, heappush
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.saving.declared_state import Refuse
from ai_core.saving.kinds import ListOf, Number, Record, Row, Whole
from ai_core.senses.graph.sense_graph import NOWHERE, GraphBySense, Leg, PassageTable, lengths, rows_in, shares_kept
from ai_core.senses.graph.smell import SmellSpreading
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import ReachNumbers, Signal
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.emitted_signals import SIGNAL, EmittedSignals, Muffle
from ai_core.senses.stimuli.muffling import Between

__all__ = ["FROM_SOURCE", "NO_SENSOR", "GraphSignals", "PassageArrival", "SpreadingWave"]

PASSAGES_PER_BLOCK = 512
"""Passages a wave goes through between two looks at the budget (count).

About 0.1 ms, 1 ms interpreted. More overruns a small budget of time further; fewer
cost more calls.
"""

NO_SENSOR = -1
"""Id at the end of a line that ends at no sensor."""

NOWHERE_NEAR = (0.0, 0.0, 0.0)
"""Offset of a smell, which has no direction (m)."""

SILENT = -1.0
"""Share kept per metre outside all regions, where no sound is heard."""

FROM_SOURCE = -1
"""Row of the source of a wave, from which it comes first, among rows of passages."""

PassageArrival = tuple[float, float, int]
"""A wave at one end of a passage: its distance so far (m), its intensity times -1, and the row in ``PassageTable``.

Sorted, they are in the order in which they count.
"""


class SpreadingWave:
    """A signal that spreads through a sense graph: Dijkstra's search over passages.

    A passage takes the wave with the share that it has when the wave comes to its start, so a gradual wave meets
    doors as they are by then.

    Args:
        signal: the signal.
        region: region of its origin.
        waiting: starts of passages that it comes to next, a heap; a row may occur several times. None for the source.
        passed: far ends of passages that it came through, in order; the source is the first.
        met: ids of the sensors that it has met, if it is gradual.
    """

    def __init__(
        self, signal: Signal, region: int, *, waiting: Iterable[PassageArrival] | None = None,
        passed: Iterable[PassageArrival] = (), met: Iterable[int] = (),
    ) -> None:
        self.signal, self.region, self.passed, self.met = signal, region, list(passed), set(met)
        self.waiting = [(0.0, -signal.strength, FROM_SOURCE)] if waiting is None else list(waiting)
        heapify(self.waiting)

    def spread(
        self, table: PassageTable, first_legs: Callable[[SpreadingWave], list[Leg]], range_m: float, faintest: float,
        until_m: float, most: int,
    ) -> tuple[int, bool]:
        """Continue through passages, in the order of arrival at their starts.

        Args:
            table: the passages.
            first_legs: returns the legs from the source to passages.
            range_m: largest distance at which it is heard (m).
            faintest: a fainter wave ends.
            until_m: distance up to which it may come now (m).
            most: passages that it may go through now; 1 or more.

        Returns:
            The number of passages that it went through, and whether it has come as far as it may.

        Cost: O(passages reached * log), and the passages that leave their regions: 0.1 ms for 30 regions.
        """
        waiting, passed, length_of, kept_of, legs_of = (
            self.waiting, self.passed, table.length_of, table.kept_of, table.legs)
        gone = {row for _, _, row in passed}
        count, end, loudest = len(passed), len(passed) + most, -faintest
        while waiting and waiting[0][0] <= until_m and len(passed) < end:
            so_far_m, negative, row = heappop(waiting)
            if row in gone:
                continue
            if row != FROM_SOURCE:
                so_far_m += length_of[row]
                negative *= kept_of[row]
            if so_far_m > range_m or negative > loudest:
                continue
            gone.add(row)
            passed.append((so_far_m, negative, row))
            for following, leg_m, kept in first_legs(self) if row == FROM_SOURCE else legs_of(row):
                if following not in gone:
                    distance_m, left = so_far_m + leg_m, negative * kept
                    if distance_m <= range_m and left <= loudest:
                        heappush(waiting, (distance_m, left, following))
        return len(passed) - count, not (waiting and waiting[0][0] <= until_m)


PASSAGES = ListOf(Row(lambda *numbers: numbers, Number(0), Number(maximum=0), Whole(FROM_SOURCE)))


class GraphSignals(EmittedSignals):
    """Carries signals through a graph; a touch reaches one sensor alone, as everywhere.

    Attributes:
        waves: ``SpreadingWave`` that have not met all sensors that they can meet.
    """

    STATE = EmittedSignals.STATE.extended(
        level=Whole(),
        waves=ListOf(Record(
            SpreadingWave, signal=SIGNAL, region=Whole(), waiting=PASSAGES, passed=PASSAGES,
            met=ListOf(Whole(maximum=LARGEST_ID), make=set))))

    def __init__(
        self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, muffle: Muffle,
        occlusion: Between | None, graphs: GraphBySense, smells: SmellSpreading, faintest: float,
        gradual: Collection[int],
    ) -> None:
        super().__init__(modalities, sensors, sources, muffle, occlusion)
        self._graphs, self._smells, self._faintest = graphs, smells, faintest
        self._gradual = frozenset(gradual)
        self._kept_at = self._kept_per_m_at

    @property
    def has_work(self) -> bool:
        """Whether a signal is under way, or a smell exists."""
        return super().has_work or bool(self._smells.scents)

    def take(self, signal: Signal) -> None:
        """Start a wave, which spreads in the next advance, or add to a smell. Cost: O(1)."""
        if signal.modality not in self._smells.models:
            super().take(signal)
            return
        self.sent += 1
        _, source_id, modality, strength, position, now_s, affiliation, tag, _ = signal
        self._smells.emit(source_id, affiliation, modality, strength, position, now_s, tag)

    def _begin(self, signal: Signal) -> int:
        region = self._graphs.graph[signal.modality].region_at(signal.position)
        if region != NOWHERE:
            self.waves.append(SpreadingWave(signal, region))
        return 1

    def reach_of(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return the path of a signal emitted now, or the smell, that reaches a sensor; None for none."""
        x, y, z = self._sources.position[target].tolist()
        if number in self._smells.models:
            source_id = int(self._sources.ids.by_slot[target])
            intensity = self._smells.intensity_at(number, source_id, eye)
            return ReachNumbers(None, intensity / strength, NOWHERE_NEAR) if intensity and strength else None
        region = self._graphs.graph[number].region_at((x, y, z))
        here = int(self._graphs.sensor_regions(number)[eye])
        if NOWHERE in (region, here):
            return None
        wave = SpreadingWave(Signal(0, NO_SENSOR, number, strength, (x, y, z), 0.0), region)
        self._spread(wave, math.inf, len(self._graphs.tables[number]) + 1)
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

    def _advance_wave(self, wave: SpreadingWave, budget: Budget, now_s: float) -> bool:
        """Spread a wave through some passages; return True if it has met all sensors up to its present front."""
        is_gradual = wave.signal.modality in self._gradual
        most = min(PASSAGES_PER_BLOCK, budget.steps_at_once(PASSAGES_PER_BLOCK))
        count, is_done = self._spread(wave, self._front_m(wave, now_s) if is_gradual else math.inf, most)
        budget.spend(max(1, count))
        if is_done:
            self._meet(wave, now_s if is_gradual else math.inf)
        return is_done

    def _is_over(self, wave: SpreadingWave, now_s: float) -> bool:
        number = wave.signal.modality
        if number not in self._gradual:
            return True
        table = self._graphs.tables[number]
        regions = [wave.region if row == FROM_SOURCE else table.to_region[row] for _, _, row in wave.passed]
        ends_m = max((one[0] + float(table.across_m[region]) for one, region in zip(wave.passed, regions, strict=True)),
                     default=0.0)
        return not wave.waiting and self._front_m(wave, now_s) >= min(ends_m, self._modalities[number].range_m)

    def _front_m(self, wave: SpreadingWave, now_s: float) -> float:
        """Return the distance up to which a gradual wave has come (m)."""
        return (now_s - wave.signal.sent_at_s) / self._modalities[wave.signal.modality].delay_s_per_m

    def _spread(self, wave: SpreadingWave, until_m: float, most: int) -> tuple[int, bool]:
        number = wave.signal.modality
        return wave.spread(
            self._graphs.tables[number], self._first_legs, self._modalities[number].range_m, self._faintest, until_m,
            most)

    def _first_legs(self, wave: SpreadingWave) -> list[Leg]:
        """Return the legs from the source of a wave to the passages out of its region."""
        signal, number = wave.signal, wave.signal.modality
        table, kind = self._graphs.tables[number], self._modalities[number]
        rows = table.out_of(wave.region)
        starts = table.start[rows.start : rows.stop]
        leg_m = lengths(np.array([signal.position]) - starts)
        kept = shares_kept(float(table.kept_per_m[wave.region]), leg_m)
        if kind.is_muffled and len(rows):
            here = np.broadcast_to(np.array(signal.position, np.float32), starts.shape)
            no_sensors = np.full(len(rows), NO_SENSOR, np.int32)
            kept = kept * self._muffle(number, here, starts.astype(np.float32), no_sensors)
        return list(zip(rows, leg_m.tolist(), kept.tolist(), strict=True))

    def _meet(self, wave: SpreadingWave, until_s: float) -> None:
        """Queue the first arrival of a wave at each sensor that it reaches until a moment (s)."""
        signal, number = wave.signal, wave.signal.modality
        table, s_per_m = self._graphs.tables[number], self._modalities[number].delay_s_per_m
        slot, row, distance_m, leg_m, before, intensity, _ = self._heard(wave, self._ears(wave))
        order = np.lexsort((row, -intensity, distance_m, slot))
        order = order[(intensity >= self._sensors.threshold[slot, number])[order]]
        order = order[np.diff(slot[order], prepend=-1) > 0]                 # the first of each sensor
        order = order[signal.sent_at_s + distance_m[order] * s_per_m <= until_s]
        ids = self._sensors.ids.by_slot[slot[order]].tolist()
        by_row: dict[int, list[tuple[Any, ...]]] = {}
        columns = (one[order].tolist() for one in (row, slot, distance_m, leg_m, before, intensity))
        for sensor_id, last, *numbers in zip(ids, *columns, strict=True):
            if sensor_id not in wave.met:
                by_row.setdefault(last, []).append(tuple(numbers))
        for last, arrivals in by_row.items():
            x, y, z = signal.position if last == FROM_SOURCE else table.end[last].tolist()
            self.queue.add(
                self._sensors, signal._replace(position=(x, y, z)), self._modalities[number],
                tuple(map(list, zip(*arrivals, strict=True))), (x, y, z))
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
        so_far_m, negative, passage = (
            np.array(array(code, [one[column] for one in wave.passed])) for column, code in enumerate("ddi"))
        region = np.append(table.to_region, np.int32(wave.region))[passage]      # the last is that of FROM_SOURCE
        ends = np.concatenate((table.end, [signal.position]))
        label, place = rows_in(self._graphs.sensor_regions(number)[slots], region)
        slot, row = slots[place], passage[label]
        comes_from = ends[row]
        leg_m = lengths(comes_from - self._sensors.position[slot])
        distance_m, before = so_far_m[label] + leg_m, -negative[label]
        kept = shares_kept(table.kept_per_m[region[label]], leg_m)
        near = np.flatnonzero((distance_m <= kind.range_m) & (before * kept >= self._faintest))
        slot, comes_from, kept, before = slot[near], comes_from[near], kept[near], before[near]
        if kind.is_muffled and len(near):
            here = self._sensors.position[slot]
            before = before * self._muffle(
                number, comes_from.astype(np.float32), here, self._sensors.ids.by_slot[slot])
        left = before * kept >= self._faintest
        return tuple(one[left] for one in (
            slot, row[near], distance_m[near], leg_m[near], before, before * kept, comes_from))

    def _ears(self, wave: SpreadingWave) -> NDArray[np.intp]:
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

