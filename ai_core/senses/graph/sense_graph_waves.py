"""Signals in a sense graph: sounds are waves that spread from portal to portal, smells are clouds.

A wave is computed in the advance after its emission or, if its modality is gradual, as far as it has
travelled by now. In both cases it meets each sensor once, and seems to come from the last portal.
"""
from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping
from heapq import heapify, heappop, heappush
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.saving.declared_state import Refuse
from ai_core.saving.kinds import ArrayOf, Flag, ListOf, MapOf, Number, Optional, Record, Row, Whole
from ai_core.senses.graph.sense_graph import NOWHERE, Leg, PassageTable, SensedGraph, lengths, rows_in
from ai_core.senses.graph.smell import SmellSpreading
from ai_core.senses.id_table import LARGEST_ID, SLOT_MASK
from ai_core.senses.modality import ModalitySet
from ai_core.senses.percepts.perception import limit_of
from ai_core.senses.sensation import ReachNumbers, Signal
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.arrival_loops import LATEST_S
from ai_core.senses.stimuli.emitted_signals import MOST_AT_ONCE, SIGNAL, EmittedSignals, Muffle
from ai_core.senses.stimuli.muffling import Between

__all__ = ["FROM_SOURCE", "NO_SENSOR", "GraphSignals", "PassageArrival", "SpreadingWave"]

WAYS_AT_ONCE = 512
"""Ways of a wave to sensors that are compared between two looks at the budget (count), about 0.2 ms.

More overruns a small budget of time further; fewer cost more calls.
"""

NOTHING_TRIED: Mapping[int, int] = {}

PASSAGES_PER_BLOCK = 512
"""Passages that a wave comes to or looks at between two looks at the budget (count), but for those out of one region.

About 0.1 ms. More overruns a small budget of time further; fewer cost more calls.
"""

NO_SENSORS = np.zeros(0, np.int32)

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


class _Ways(NamedTuple):
    """Ways of a wave to sensors, one row each.

    Attributes:
        row: (n,) of the last passage, or ``FROM_SOURCE``.
        distance_m, leg_m: (n,) how far the wave came in all, and in its last straight part (m).
        before, intensity: (n,) before that part, and at the sensor.
        comes_from: (n, 3) where that part begins (m).
    """

    slot: NDArray[np.intp]
    row: NDArray[np.int32]
    distance_m: NDArray[np.float64]
    leg_m: NDArray[np.float64]
    before: NDArray[np.float64]
    intensity: NDArray[np.float64]
    comes_from: NDArray[np.float64]


class SpreadingWave:
    """A signal that spreads through a sense graph: Dijkstra's search over passages.

    A passage takes the wave with the share that it has when the wave comes to its start, so a gradual wave meets
    doors as they are by then.

    Args:
        region: region of its origin.
        waiting: starts of passages that it comes to next, a heap; a row may occur several times. None for the source.
        passed: far ends of passages that it came through, in order; the source is the first.
        met: ids of the sensors that it has met, if it is gradual.
        shares: shares that pass what stands between the source and the passages out of its region, as far as known.
        to_meet: ids of the sensors that it has to meet in the pass under way; None between passes.
        tried: of sensors that did not hear it by their first ways, how many of these muffle too much, by id.
        lacks_rays: whether it waits for rays through what muffles.
    """

    def __init__(
        self, signal: Signal, region: int, *, waiting: Iterable[PassageArrival] | None = None,
        passed: Iterable[PassageArrival] = (), met: Iterable[int] = (), shares: Iterable[float] = (),
        to_meet: NDArray[np.int32] | None = None, tried: Mapping[int, int] = NOTHING_TRIED, lacks_rays: bool = False,
    ) -> None:
        self.signal, self.region, self.passed, self.met = signal, region, list(passed), set(met)
        self.waiting = [(0.0, -signal.strength, FROM_SOURCE)] if waiting is None else list(waiting)
        heapify(self.waiting)
        self.shares, self.to_meet, self.tried, self.lacks_rays = list(shares), to_meet, dict(tried), lacks_rays
        self._columns: tuple[NDArray[Any], ...] = ()
        self._gone = {row for _, _, row in self.passed}

    def columns(self, table: PassageTable) -> tuple[NDArray[Any], ...]:
        """Return ``passed`` as columns: the distance (m), the negative intensity, the row, and the region there."""
        new = self.passed[len(self._columns[0]):] if self._columns else self.passed
        if new or not self._columns:
            # Through arrays of Python's: NumPy takes four times as long for tuples.
            parts = [np.array(array(code, [one[column] for one in new])) for column, code in enumerate("ddi")]
            parts.append(np.append(table.to_region, np.int32(self.region))[parts[2]])   # the last is of FROM_SOURCE
            self._columns = tuple(map(np.concatenate, zip(self._columns, parts, strict=True))) if (
                self._columns) else tuple(parts)
        return self._columns

    def spread(
        self, table: PassageTable, first_legs: Callable[[SpreadingWave], list[Leg]], range_m: float, faintest: float,
        until_m: float, most: int,
    ) -> tuple[int, bool]:
        """Continue through passages, in the order of arrival at their starts.

        Args:
            first_legs: returns the legs from the source to passages.
            faintest: a fainter wave ends.
            until_m: distance up to which it may come now (m).
            most: passages that it may go through now; 1 or more. After ``PASSAGES_PER_BLOCK`` it ends in any case.

        Returns:
            The number of passages that it went through, and whether it has come as far as it may.

        Cost: O(passages that leave the regions reached * log), for each passage that leads into them; 0.1 ms a block.
        """
        waiting, passed, gone, length_of, kept_of, legs_of = (
            self.waiting, self.passed, self._gone, table.length_of, table.kept_of, table.legs)
        count, end, loudest, looked = len(passed), len(passed) + most, -faintest, 0
        while waiting and waiting[0][0] <= until_m and len(passed) < end and looked < PASSAGES_PER_BLOCK:
            so_far_m, negative, row = heappop(waiting)
            looked += 1
            if row in gone:
                continue
            if row != FROM_SOURCE:
                so_far_m += length_of[row]
                negative *= kept_of[row]
            if so_far_m > range_m or negative > loudest:
                continue
            gone.add(row)
            passed.append((so_far_m, negative, row))
            legs = first_legs(self) if row == FROM_SOURCE else legs_of(row)
            looked += len(legs)
            for following, leg_m, kept in legs:
                if following not in gone:
                    distance_m, left = so_far_m + leg_m, negative * kept
                    if distance_m <= range_m and left <= loudest:
                        heappush(waiting, (distance_m, left, following))
        return len(passed) - count, not (waiting and waiting[0][0] <= until_m)


SENSOR = Whole(maximum=LARGEST_ID)
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
            met=ListOf(SENSOR, make=set), shares=ListOf(Number(0, 1)),
            to_meet=Optional(ArrayOf(np.int32, minimum=0, maximum=LARGEST_ID)), tried=MapOf(Whole(), key=SENSOR),
            lacks_rays=Flag())))

    def __init__(
        self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, muffle: Muffle,
        occlusion: Between | None, graph: SensedGraph, smells: SmellSpreading, faintest: float,
        gradual: Collection[int],
    ) -> None:
        super().__init__(modalities, sensors, sources, muffle, occlusion)
        self._graph, self._smells, self._faintest = graph, smells, faintest
        self._gradual = frozenset(gradual)
        self._kept_at = self._kept_per_m_at
        self._lacked_rays = False       # when this pass over the waves began

    @property
    def lacks_rays(self) -> bool:
        """Whether a wave waits for rays; then the signals after it that need some wait too."""
        return any(one.lacks_rays for one in self.waves)

    @property
    def lines_waiting(self) -> int:
        """How many lines wait for the occlusion, or more."""
        return MOST_AT_ONCE if self.lacks_rays else 0

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
        region = self._graph.graph.region_at(signal.position)
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
        region = self._graph.graph.region_at((x, y, z))
        here = int(self._graph.sensor_regions[eye])
        if NOWHERE in (region, here):
            return None
        wave = SpreadingWave(Signal(0, NO_SENSOR, number, strength, (x, y, z), 0.0), region)
        wave.shares = self._shares_to_passages(wave, 0, len(self._graph.tables[number]))
        while not self._spread(wave, math.inf, PASSAGES_PER_BLOCK)[1]:
            pass
        ways = self._heard(wave, np.array([eye]))
        intensity = ways.intensity * np.array(self._muffle(
            number, ways.comes_from.astype(np.float32), self._sensors.position[ways.slot],
            self._sensors.ids.by_slot[ways.slot]))
        order = np.lexsort((ways.row, -intensity, ways.distance_m))
        order = order[intensity[order] >= self._faintest]
        if not len(order):
            return None
        first = order[0]
        x, y, z = (ways.comes_from[first] - self._sensors.position[eye]).tolist()
        kept = float(intensity[first]) / strength if strength else 0.0
        return ReachNumbers(float(ways.distance_m[first]), kept, (x, y, z))

    def _kept_per_m_at(self, number: int, slot: int) -> float:
        region = self._graph.graph.region_at(self._sensors.position[slot].tolist())
        return SILENT if region == NOWHERE else float(self._graph.tables[number].kept_per_m[region])

    def _advance_wave(self, wave: SpreadingWave, budget: Budget, now_s: float) -> bool:
        """Spread a wave through some passages; return True if it has met all sensors up to its present front.

        Also if it lacks rays, which the next advance has.
        """
        is_gradual = wave.signal.modality in self._gradual
        if wave.to_meet is None:
            if not self._knows_shares(wave, budget, now_s):
                return True
            most = budget.steps_at_once(PASSAGES_PER_BLOCK)
            count, is_done = self._spread(wave, self._radius_m(wave.signal, now_s) if is_gradual else math.inf, most)
            budget.spend(max(1, count))
            if not is_done:
                return False
            wave.to_meet = self._ears(wave)
        return self._meet(wave, now_s if is_gradual else math.inf, budget, now_s)

    def _is_over(self, wave: SpreadingWave, now_s: float) -> bool:
        number = wave.signal.modality
        if wave.lacks_rays or number not in self._gradual:
            return not wave.lacks_rays
        table = self._graph.tables[number]
        so_far_m, _, _, region = wave.columns(table)
        ends_m = float((so_far_m + table.across_m[region]).max(initial=0.0))
        return not wave.waiting and self._radius_m(wave.signal, now_s) >= min(ends_m, self._modalities[number].range_m)

    def _follow(self, budget: Budget, now_s: float) -> bool:
        self._lacked_rays = self.lacks_rays
        return super()._follow(budget, now_s)

    def _may_begin(self, signal: Signal) -> bool:
        return not (self._lacked_rays and self._needs_rays(signal.modality))

    def _needs_rays(self, number: int) -> bool:
        return self.occlusion is not None and self._modalities[number].is_muffled

    def _knows_shares(self, wave: SpreadingWave, budget: Budget, now_s: float) -> bool:
        """Query what muffles a wave from its source to the passages out of its region, as far as there are rays."""
        missing = len(self._graph.tables[wave.signal.modality].out_of(wave.region)) - len(wave.shares)
        if wave.passed or missing <= 0 or not self._needs_rays(wave.signal.modality):
            wave.lacks_rays = False
            return True
        if wave.lacks_rays and now_s - wave.signal.sent_at_s > LATEST_S:
            self.queue.given_up += 1
            wave.waiting.clear()
            wave.lacks_rays = False
            return True
        asked = min(missing, self.rays_left)
        wave.shares += self._shares_to_passages(wave, len(wave.shares), asked)
        self._spend_rays(asked, budget)
        wave.lacks_rays = asked < missing
        return not wave.lacks_rays

    def _spend_rays(self, count: int, budget: Budget) -> None:
        self.rays_left -= count
        budget.spend(count)

    def _shares_to_passages(self, wave: SpreadingWave, first: int, most: int) -> list[float]:
        """Return the shares of a wave that pass from its source to the passages out of its region, of some of them."""
        table = self._graph.tables[wave.signal.modality]
        starts = table.start[table.out_of(wave.region)][first : first + most].astype(np.float32)
        here = np.broadcast_to(np.array(wave.signal.position, np.float32), starts.shape)
        return self._muffle(wave.signal.modality, here, starts, np.full(len(starts), NO_SENSOR, np.int32))

    def _spread(self, wave: SpreadingWave, until_m: float, most: int) -> tuple[int, bool]:
        number = wave.signal.modality
        return wave.spread(
            self._graph.tables[number], self._first_legs, self._modalities[number].range_m, self._faintest, until_m,
            most)

    def _first_legs(self, wave: SpreadingWave) -> list[Leg]:
        """Return the legs from the source of a wave to the passages out of its region."""
        signal, number = wave.signal, wave.signal.modality
        table = self._graph.tables[number]
        rows = table.out_of(wave.region)
        leg_m = lengths(np.array([signal.position]) - table.start[rows.start : rows.stop])
        kept = np.float_power(float(table.kept_per_m[wave.region]), leg_m)
        if wave.shares:
            kept[:len(wave.shares)] *= wave.shares
        return list(zip(rows, leg_m.tolist(), kept.tolist(), strict=True))

    def _meet(self, wave: SpreadingWave, until_s: float, budget: Budget, now_s: float) -> bool:
        """Queue the first arrival of a wave at each sensor that it reaches until a moment (s), block by block.

        Returns:
            Whether it has met all of them, or lacks rays.
        """
        number, ids, limit = wave.signal.modality, self._sensors.ids, limit_of(budget)
        assert wave.to_meet is not None
        left = wave.to_meet[ids.are_known(wave.to_meet)]
        table = self._graph.tables[number]
        # Ways into each region; the last is none, that of NOWHERE.
        ways = np.bincount(wave.columns(table)[3], minlength=len(table.kept_per_m) + 1)
        ways_to = ways[self._graph.sensor_regions[left & SLOT_MASK]]
        left, ways_to = left[ways_to > 0], ways_to[ways_to > 0]
        has_waited, wave.lacks_rays = wave.lacks_rays, False
        while len(left):
            end = len(left) if limit is None else max(1, int(np.searchsorted(ways_to.cumsum(), WAYS_AT_ONCE)))
            waiting = self._meet_some(
                wave, left[:end] & SLOT_MASK, until_s, budget, now_s - LATEST_S if has_waited else -math.inf)
            left, ways_to = left[end:], ways_to[end:]
            if len(waiting):
                wave.lacks_rays, wave.to_meet = True, np.concatenate((waiting, left))
                return True
            if len(left) and budget.is_spent:
                wave.to_meet = left
                return False
        wave.to_meet = None
        return True

    def _meet_some(
        self, wave: SpreadingWave, slots: NDArray[np.int32], until_s: float, budget: Budget, since_s: float,
    ) -> NDArray[np.int32]:
        """Queue the first arrival at each of some sensors, by slot; return the ids of those that lack rays.

        Those that were due before ``since_s`` (s) and lack rays are given up.
        """
        signal, number = wave.signal, wave.signal.modality
        ways = self._heard(wave, slots)
        due_s = signal.sent_at_s + ways.distance_m * self._modalities[number].delay_s_per_m
        order = np.lexsort((ways.row, -ways.intensity, ways.distance_m, ways.slot))
        is_audible = ways.intensity >= self._sensors.threshold[ways.slot, number]
        order = order[(is_audible & (due_s <= until_s))[order]]
        first = np.flatnonzero(np.diff(ways.slot[order], prepend=-1))       # of each sensor
        waiting = NO_SENSORS
        if self._needs_rays(number):
            order, waiting = self._pass_obstacles(wave, ways, order, first, due_s < since_s, budget)
        else:
            order = order[first]
        by_row: dict[int, list[tuple[Any, ...]]] = {}
        columns = (one[order].tolist() for one in (
            ways.row, ways.slot, ways.distance_m, ways.leg_m, ways.before, ways.intensity))
        for last, *numbers in zip(*columns, strict=True):
            by_row.setdefault(last, []).append(tuple(numbers))
        for last, arrivals in by_row.items():
            x, y, z = signal.position if last == FROM_SOURCE else self._graph.tables[number].end[last].tolist()
            self.queue.add(
                self._sensors, signal._replace(position=(x, y, z)), self._modalities[number],
                tuple(map(list, zip(*arrivals, strict=True))), (x, y, z))
        if number in self._gradual:
            wave.met.update(self._sensors.ids.by_slot[ways.slot[order]].tolist())
        return waiting

    def _pass_obstacles(
        self, wave: SpreadingWave, ways: _Ways, order: NDArray[np.intp], first: NDArray[np.intp],
        is_late: NDArray[np.bool_], budget: Budget,
    ) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """Query what muffles the ways of a wave, of each sensor one after the other until it hears the wave.

        Args:
            ways: to sensors; muffled here.
            order: which of them are audible if nothing muffles them, by sensor, the shortest first.
            first: where those of each sensor begin in ``order``.
            is_late: which ways are given up.

        Returns:
            The ways by which sensors hear it, and the ids of the sensors that lack rays.
        """
        number, ids = wave.signal.modality, self._sensors.ids.by_slot[ways.slot[order[first]]]
        counts = np.diff(first, append=len(order))
        tried = np.array([wave.tried.get(one, 0) for one in ids.tolist()], np.int64)
        is_open, chosen = tried < counts, [order[:0]]
        while is_open.any():
            asked = np.flatnonzero(is_open)
            at = order[first[asked] + tried[asked]]
            late = is_late[at]
            self.queue.given_up += int(late.sum())
            is_open[asked[late]] = False
            nearest = np.flatnonzero(~late)
            nearest = nearest[ways.distance_m[at[nearest]].argsort(kind="stable")[:self.rays_left]]
            asked, at = asked[nearest], at[nearest]
            if not len(at):
                break
            slot = ways.slot[at]
            share = self._muffle(
                number, ways.comes_from[at].astype(np.float32), self._sensors.position[slot], ids[asked])
            self._spend_rays(len(at), budget)
            ways.before[at] *= share
            ways.intensity[at] *= share
            is_heard = ways.intensity[at] >= np.maximum(self._faintest, self._sensors.threshold[slot, number])
            chosen.append(at[is_heard])
            is_open[asked[is_heard]] = False
            tried[asked[~is_heard]] += 1
            is_open &= tried < counts
        wave.tried.update((one, times) for one, times in zip(ids.tolist(), tried.tolist(), strict=True) if times)
        return np.concatenate(chosen), ids[is_open]

    def _heard(self, wave: SpreadingWave, slots: NDArray[np.integer]) -> _Ways:
        """Return how sensors hear a wave that nothing muffles, by every passage through which it came to their regions.
        """
        number = wave.signal.modality
        table, kind = self._graph.tables[number], self._modalities[number]
        so_far_m, negative, passage, region = wave.columns(table)
        ends = np.concatenate((table.end, [wave.signal.position]))
        label, place = rows_in(self._graph.sensor_regions[slots], region)
        slot, row = slots[place], passage[label]
        comes_from = ends[row]
        leg_m = lengths(comes_from - self._sensors.position[slot])
        distance_m, before = so_far_m[label] + leg_m, -negative[label]
        intensity = before * np.float_power(table.kept_per_m[region[label]], leg_m)
        near = np.flatnonzero((distance_m <= kind.range_m) & (intensity >= self._faintest))
        return _Ways._make(one[near] for one in (slot, row, distance_m, leg_m, before, intensity, comes_from))

    def _ears(self, wave: SpreadingWave) -> NDArray[np.int32]:
        """Return the ids of sensors that it may meet."""
        sensors = self._sensors
        may = np.isfinite(sensors.threshold[:, wave.signal.modality])
        may &= (sensors.detection_mask & wave.signal.affiliation) != 0
        may &= sensors.self_source != wave.signal.source_id
        ids: NDArray[np.int32] = sensors.ids.by_slot[may & (sensors.ids.by_slot >= 0)]
        return ids[~np.isin(ids, [*wave.met])] if wave.met else ids

    # Saving.

    @property
    def level(self) -> int:
        """A number that differs if the passages differ from those of a save."""
        level = [
            [table.from_region.tolist(), table.to_region.tolist(), table.portal.tolist(), len(table.kept_per_m)]
            for table in self._graph.tables]
        return zlib.crc32(repr(level).encode())

    def _check_waves(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if values.level != self.level:
            values.waves = []           # their passages do not exist any more
        del values.level                # it cannot be loaded
        for number, wave in enumerate(values.waves):
            table = self._graph.tables[wave.signal.modality]
            if wave.region >= len(table.kept_per_m):
                refuse(f"waves[{number}].region", f"must be below {len(table.kept_per_m)}, the number of regions")
            if len(wave.shares) > len(table.out_of(wave.region)):
                refuse(f"waves[{number}].shares", "must be of passages out of its region")
            if wave.to_meet is not None and (wave.to_meet & SLOT_MASK >= values.within.sensors.ids.capacity).any():
                refuse(f"waves[{number}].to_meet", "must hold ids of sensors")
            for name, arrivals in (("waiting", wave.waiting), ("passed", wave.passed)):
                if max((row for _, _, row in arrivals), default=0) >= max(1, len(table)):
                    refuse(f"waves[{number}].{name}", f"must have rows below {len(table)}, the number of passages")

