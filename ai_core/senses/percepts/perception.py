"""Perception: memory and awareness of all sensors, and their listeners."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.clock import Clock, TimeIndex
from ai_core.faults import FAILURES_STATE, NO_FAILURES, FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import MOST
from ai_core.saving.kinds import (
    ArrayOf,
    ListOf,
    MapOf,
    Number,
    OneOf,
    Optional,
    Point,
    Record,
    Row,
    Seconds,
    Text,
    Whole,
)
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import ModalitySet
from ai_core.senses.percepts.awareness import Awareness, AwarenessSettings, LevelChange
from ai_core.senses.percepts.memory import ChangeKind, MemoryChange, SenseMemory
from ai_core.senses.percepts.percept_loops import PerceptTable
from ai_core.senses.percepts.percept_rows import ROWS, SavedRows, put_rows, saved_rows
from ai_core.senses.sensation import FARTHEST_M, Sensation, SensationBatch, SensationReceiver, StimulusBatch
from ai_core.senses.sensation import Point as Place
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.pair_keys import ID_BITS, key_of
from ai_core.senses.sight.pair_loops import PairsInView
from ai_core.senses.source_table import SourceTable
from ai_core.trace import Trace

__all__ = ["Perception", "limit_of"]


Change = tuple[int, float, int, ChangeKind, float, float, float]
"""A change of a memory: sensor, when (s), source, kind, last known position (m)."""

Sighting = tuple[int, int, int, float, float, Place, float | None, str]
"""A sensation.

Sensor; source; number of the modality; when (s); intensity; position of the source, or where a sound came from (m);
when a sound or smell left there (s), None for what is in view; tag of the signal.
"""

Crossing = tuple[int, float, int, int]
"""A change of awareness: sensor, when (s), source, number of the new level."""

LISTENERS = (
    "on_sensed", "on_gained", "on_lost", "on_forgotten", "on_awareness_changed", "on_expired", "on_reported")
"""Names of what a sensor calls: with a ``Sensation``, a ``MemoryChange`` or a ``LevelChange``."""

SENSED, LEVEL_CHANGED = "on_sensed", "on_awareness_changed"
NO_PASS = -1
"""Stage between two passes."""

SENSATION = Record(
    lambda **fields: Sensation(-1, **fields),
    source_id=Whole(-MOST), modality=Text(), intensity=Number(0), position=Point(3),
    sent_at_s=Seconds(), at_s=Seconds(), tag=Text())
"""How a sensation is saved, without its sensor."""

ID = Whole(maximum=LARGEST_ID)
COORDINATE = Number(-FARTHEST_M, FARTHEST_M)

NO_MIND_SAVED = SimpleNamespace(last_sensation=None, failing={})

PERCEPTS_PER_BLOCK = 128
"""Pairs or percepts of a pass between two queries of a budget of time (count): 20 to 50 µs."""

SIGHTINGS_AT_ONCE = 8, 32
"""Sensations in the first batch within a budget of time, and in the largest (count); each is twice as large as before.

The first takes longest, as caches are cold: 50 µs with listeners in scripts.
"""

HEARD_AT_ONCE = 2, 2
"""The same of signals that were heard: characters that decide by noises take some 20 µs each."""

by_sensor_then_time = itemgetter(0, 1, 2)
by_sensor_modality_source = itemgetter(0, 2, 1)


def _row(*parts: Any) -> tuple[Any, ...]:
    return parts


@dataclass(eq=False)
class _Notices:
    """What one block of a pass or of arrivals has to tell listeners, in this order; what is told is removed."""

    changes: deque[Change]
    sensations: list[Sighting]
    levels: deque[Crossing]

    def forget(self, sensor_id: int) -> None:
        """Drop the notices for a sensor, also while they are told."""
        queues: tuple[Any, ...] = (self.changes, self.sensations, self.levels)
        for one in queues:
            kept = [notice for notice in one if notice[0] != sensor_id]
            one.clear()
            one.extend(kept)


NOTICES = Record(
    _Notices,
    changes=ListOf(
        Row(_row, ID, Seconds(), ID, OneOf(get_args(ChangeKind)), COORDINATE, COORDINATE, COORDINATE), make=deque),
    sensations=ListOf(Row(
        _row, ID, ID, Whole(maximum=lambda owner: len(owner._modalities) - 1), Seconds(), Number(0), Point(3),
        Optional(Seconds()), Text())),
    levels=ListOf(Row(_row, ID, Seconds(), ID, Whole()), make=deque))
"""How the notices of a block are saved."""


@dataclass(eq=False)
class _Perceiver:
    """One sensor: its listeners, memory and awareness settings."""

    listeners: Mapping[str, Callable[[Any], object] | None]
    memory: SenseMemory | None
    awareness: AwarenessSettings | None
    last: Sighting | Sensation | None = None


class Perception(Saveable):
    """Memory and awareness of all sensors, in one ``PerceptTable``.

    A pass takes in what is in view, then lets time pass for all percepts, in blocks between which a budget of time
    may end it. What happened is collected as notices; then listeners are called: with changes of memories, in the
    order of sensor and time, with sensations, and with changes of levels. So a listener finds percepts as they are
    after the pass, and may add, remove and free sensors and sources. Notices that the budget does not reach come
    first in the next advance, and the next pass begins after them: their number is bounded.

    Attributes:
        table: all percepts.
        heard: notices of signals that arrived, of which listeners have not been notified, oldest first.

    Cost: ``advance`` O(percepts and pairs in view), 10 to 30 ns each, and what listeners cost.
    """

    STATE = DeclaredState(
        sensor_ids=ArrayOf(np.int64, minimum=0, maximum=LARGEST_ID, at="_saved_sensor_ids"), rows=ROWS,
        minds=MapOf(
            Record(
                SimpleNamespace, last_sensation=Optional(SENSATION),
                failing=MapOf(FAILURES_STATE, key=OneOf(LISTENERS))),
            key=Whole(maximum=LARGEST_ID), at="_saved_minds"),
        stage=Whole(NO_PASS, lambda owner: len(owner._modalities), at="_stage"),
        looked_in=Whole(-1, MOST),
        from_pair=Row(key_of, Whole(maximum=LARGEST_ID), Whole(maximum=LARGEST_ID), at="_from_pair"),
        heard=ListOf(NOTICES, make=deque), notices=ListOf(NOTICES, make=deque, at="_notices"))
    # The table of sensors is that of the manager, which is loaded before.

    def __init__(
        self, clock: Clock, modalities: ModalitySet, sources: SourceTable, trace: Trace, report_every_s: float,
        audience: SensationReceiver | None, faults: FaultIsolation, all_sensors: SensorTable,
    ) -> None:
        self._all_sensors, self.looked_in = all_sensors, -1      # the turn of the pass under way, or of the last
        self._clock, self._modalities, self._sources = clock, modalities, sources
        self._trace, self._report_every_s = trace, report_every_s
        self._audience, self._faults = audience, faults
        self._sensors: dict[int, _Perceiver] = {}
        self._sharers: dict[SenseMemory, list[int]] = {}     # the first is the owner
        self.table = PerceptTable((one.name for one in modalities.all), sources)
        self._notices: deque[_Notices] = deque()        # of passes
        self.heard: deque[_Notices] = deque()
        self._stage = NO_PASS       # of the pass under way: an index of the modalities, then the rows
        self._from_key = 0          # where the stage continues
        self.audience_key = (self, "audience")

    def check_memory(self, memory: SenseMemory | None) -> None:
        """Raise ValueError if a memory belongs to another sense manager."""
        if memory is not None and memory.is_owned and memory not in self._sharers:
            raise ValueError(
                "memory belongs to a sensor of another sense manager; use one memory for sensors of one manager")

    def add(
        self, sensor_id: int, listeners: Mapping[str, Callable[[Any], object] | None], memory: SenseMemory | None,
        awareness: AwarenessSettings | None,
    ) -> None:
        """Add a new sensor, with its listeners by name."""
        self._sensors[sensor_id] = _Perceiver(listeners, memory, awareness)
        owner = sensor_id
        if memory is not None:
            sharers = self._sharers.setdefault(memory, [])
            sharers.append(sensor_id)
            owner = sharers[0]
        self._put_mind(sensor_id, owner)
        if memory is not None and owner == sensor_id:
            self._own(memory, sensor_id)

    def remove(self, sensor_id: int) -> None:
        """Remove a sensor, and its memory if that is not shared."""
        perceiver = self._sensors.pop(sensor_id)
        memory = perceiver.memory
        if memory is not None:
            sharers = self._sharers[memory]
            was_owner = sharers[0] == sensor_id
            sharers.remove(sensor_id)
            if not sharers:
                del self._sharers[memory]
                memory.belong_to(None)
            elif was_owner:
                self._own(memory, sharers[0])
                for one in sharers:
                    self._put_mind(one, sharers[0])
        self.table.drop_mind(sensor_id)
        for name in LISTENERS:
            self._faults.forget((perceiver, name))

    def memory_of(self, sensor_id: int) -> SenseMemory | None:
        """Return the memory of a sensor, None if it has none."""
        return self._sensors[sensor_id].memory

    def awareness_of(self, sensor_id: int, target: int) -> Awareness | None:
        """Return the awareness of a sensor of a target, None if it is not aware of it."""
        settings = self._sensors[sensor_id].awareness
        row = None if settings is None else self.table.find(sensor_id, target)
        if settings is None or row is None or not row.has_meter:
            return None
        return Awareness(row, settings)

    def last_sensation(self, sensor_id: int) -> Sensation | None:
        """Return the newest sensation of a sensor, also if it has no listener."""
        last = self._sensors[sensor_id].last
        return last if last is None or isinstance(last, Sensation) else self._sensation(last)

    def forget_all(self, sensor_id: int) -> None:
        """Clear memory and awareness of a sensor, without notifications."""
        perceiver = self._sensors[sensor_id]
        if perceiver.memory is not None:
            perceiver.memory.forget_all()
        self.table.forget_all(sensor_id)
        for notices in (*self._notices, *self.heard):
            notices.forget(sensor_id)
        self.table.now_s = -np.inf
        perceiver.last = None

    def release(self, sensor_id: int) -> None:
        """Release listeners of a sensor from quarantine."""
        for name in LISTENERS:
            self._faults.release((self._sensors[sensor_id], name))

    def notify_heard(self, budget: Budget) -> bool:
        """Notify listeners of signals that arrived; return False if the budget ended first; see ``advance``."""
        return self._notify(self.heard, limit_of(budget), HEARD_AT_ONCE, self._clock.now)

    def hear(self, heard: StimulusBatch, budget: Budget) -> None:
        """Take in stimuli that arrived at sensors, and notify listeners as far as the budget allows.

        Notices that the budget does not reach come first in the next call, and in ``notify_heard``.

        Cost: O(log percepts) each.
        """
        table, now, limit = self.table, self._clock.now, limit_of(budget)
        sensor_ids, which, intensities, what, now_s = heard
        table.revision += 1
        table.now_s = now.seconds
        table.hear(sensor_ids, which, intensities, what, now.seconds)
        sensations: list[Sighting] = []
        for sensor_id, stimulus, intensity in zip(sensor_ids, which, intensities, strict=True):
            source, number, position, sent_at_s, tag = what[stimulus]
            sensations.append((sensor_id, source, number, now_s, intensity, position, sent_at_s, tag))
        self._put_notices(sensations, self.heard)
        if limit is None or not limit.is_spent:
            self._notify(self.heard, limit, HEARD_AT_ONCE, now)

    @property
    def is_at_rest(self) -> bool:
        """Whether no pass is under way, and no listener waits for a notice."""
        return self._stage == NO_PASS and not self._notices and not self.heard

    def advance(self, pairs: Mapping[int, PairsInView], limit: Budget | None) -> bool:
        """Notify listeners, take in what is in view, let time pass for all percepts, and notify listeners.

        A budget of time may end it after each block of ``PERCEPTS_PER_BLOCK`` and each notice; then the next call
        continues. One of them is always done. See ``limit_of``.

        Returns:
            whether it has ended a pass and notified the listeners of all that was noticed.
        """
        now, table, sensors = self._clock.now, self.table, self._all_sensors
        table.now_s = now.seconds
        table.revision += 1
        if self._notices and not (
                self._notify(self._notices, limit, SIGHTINGS_AT_ONCE, now)
                and (limit is None or not limit.is_spent)):
            return False
        if self._stage == NO_PASS:
            if sensors.period > 1 and sensors.turn == self.looked_in:
                return True
            self.looked_in, self._stage, self._from_key = sensors.turn, 0, 0
            table.looks += 1
        stages, has_news = [*pairs.items(), (NO_PASS, None)], False      # the last stage are the rows
        while self._stage < len(stages):
            number, of_modality = stages[self._stage]
            count, first = len(table.rows) if of_modality is None else of_modality.count, 0
            if self._from_key:
                first = table.place_of(self._from_key) if of_modality is None else int(
                    of_modality.keys.searchsorted(self._from_key))
            end = count if limit is None else min(first + PERCEPTS_PER_BLOCK, count)
            if end == count:
                self._from_key = 0
                self._stage += 1
            else:
                self._from_key = int(table.rows[end].key if of_modality is None else of_modality.keys[end])
            if end == first:
                continue
            has_news = table.advance(now.seconds, first, end) if of_modality is None else self._see(
                number, of_modality, now.seconds, first, end)
            if limit is not None:
                if has_news:
                    self._collect()     # of all blocks at once takes milliseconds
                    has_news = False
                if self._stage < len(stages) and limit.is_spent:
                    return False
        self._stage = NO_PASS
        if has_news:
            self._collect()
        if table.has_ended:
            table.drop_ended()
        return not self._notices or (
            (limit is None or not limit.is_spent)
            and self._notify(self._notices, limit, SIGHTINGS_AT_ONCE, now))

    @property
    def _saved_sensor_ids(self) -> NDArray[np.int64]:
        return np.array([one.key >> ID_BITS for one in self.table.rows], np.int64)

    @property
    def _saved_rows(self) -> SavedRows:
        return saved_rows(self.table.rows, self.table.looks)

    @_saved_rows.setter
    def _saved_rows(self, loaded: tuple[dict[int, _Perceiver], NDArray[np.int64], SavedRows]) -> None:
        """Replace all sensors and percepts by these."""
        for sensor_id in self._sensors:
            self.table.drop_mind(sensor_id)
        self.table = PerceptTable((one.name for one in self._modalities.all), self._sources)
        self._sensors, keys, saved = loaded
        for sharers in self._sharers.values():
            sharers.clear()
        for sensor_id, perceiver in self._sensors.items():
            owner = sensor_id
            if perceiver.memory is not None:
                sharers = self._sharers[perceiver.memory]
                sharers.append(sensor_id)
                owner = sharers[0]
            self._put_mind(sensor_id, owner)
        for memory, sharers in self._sharers.items():
            self._own(memory, sharers[0])
        put_rows(self.table, keys, saved)
        for sharers in self._sharers.values():
            for one in sharers[1:]:     # the owner of the memory was another sensor when it was saved
                self.table.move_memory(one, sharers[0])

    @property
    def _from_pair(self) -> tuple[int, int]:
        return self._from_key >> ID_BITS, self._from_key & (1 << ID_BITS) - 1

    @_from_pair.setter
    def _from_pair(self, key: int) -> None:
        self._from_key = key

    @property
    def _saved_minds(self) -> dict[int, SimpleNamespace]:
        failures_of = self._faults.failures_of
        return {
            sensor_id: SimpleNamespace(last_sensation=self.last_sensation(sensor_id), failing={
                name: one for name in LISTENERS if (one := failures_of((perceiver, name))) != NO_FAILURES})
            for sensor_id, perceiver in self._sensors.items()}

    @_saved_minds.setter
    def _saved_minds(self, minds: dict[int, SimpleNamespace]) -> None:
        for sensor_id, perceiver in self._sensors.items():
            mind = minds.get(sensor_id, NO_MIND_SAVED)
            last = mind.last_sensation and mind.last_sensation._replace(sensor_id=sensor_id)
            perceiver.last = last
            for name in LISTENERS:
                self._faults.put_failures((perceiver, name), mind.failing.get(name, NO_FAILURES))

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        sensors, latest_s, rows = values.within.sensors, values.within.now.seconds, values.rows
        loaded = {new: self._sensors[here] for here, new in sensors.new_ids.items()}
        sensor_ids, known = values.sensor_ids.tolist(), set(sensors.saved_ids)
        if strange := set(sensor_ids) - known:
            refuse("sensor_ids", f"must be sensors of the save, got {min(strange)}")
        if len(sensor_ids) != len(rows.targets):
            refuse("sensor_ids", f"must have {len(rows.targets)} rows as the targets, got {len(sensor_ids)}")
        keys = values.sensor_ids << ID_BITS | rows.targets
        if (np.diff(keys) <= 0).any():
            refuse("rows.targets", "must be sorted by ascending sensor, then target, each pair once")
        for name, flags in ("memory", rows.memory["is_known"]), ("awareness", rows.meters["has_meter"]):
            strange = {one for one, is_there in zip(sensor_ids, flags.tolist(), strict=True) if is_there
                       and getattr(loaded[one], name) is None}
            if strange:
                refuse("rows", f"has {name} of sensor {min(strange)}, but the current sensor has none")
        levels = {one: 0 if (mind := loaded[one].awareness) is None else len(mind.levels) for one in known}
        if why := rows.refusal(np.array([levels[one] for one in sensor_ids], np.int64), latest_s):
            refuse("rows", why)
        for name, waiting in ("notices", values.notices), ("heard", values.heard):
            crossed = [one for notices in waiting for one in notices.levels]
            if strange := {one for one, _, _, level in crossed if level > levels.get(one, level)}:
                refuse(name, f"must hold levels of their sensors, those of sensor {min(strange)} are not")
        if values.minds.keys() != known:
            refuse("minds", "must hold each sensor of the save, and no others")
        for sensor_id, mind in values.minds.items():
            last = mind.last_sensation
            if last is not None and max(last.sent_at_s, last.at_s) > latest_s:
                refuse(f"minds.{sensor_id}", f"must not be later than the save, at {latest_s:g} s")
        order = [*sensors.saved_ids, *(one for one in loaded if one not in known)]
        values.rows = {one: loaded[one] for one in order}, keys, rows
        del values.sensor_ids

    def _own(self, memory: SenseMemory, sensor_id: int) -> None:
        memory.belong_to(self.table, sensor_id, lambda changes: self._notify_reported(memory, changes))

    def _put_mind(self, sensor_id: int, owner: int) -> None:
        perceiver = self._sensors[sensor_id]
        self.table.put_mind(
            sensor_id, owner, None if perceiver.memory is None else perceiver.memory.durations,
            perceiver.awareness)

    def _see(self, number: int, pairs: PairsInView, now_s: float, first: int, end: int) -> bool:
        table, columns, views = self.table, pairs.columns, self._sources.views
        if views.by_modality and (clarity := views.clarity(number, pairs.keys)) is not None:
            columns = (pairs.keys, pairs.intensity * clarity, *columns[2:])
        is_seen = self._modalities.all[number].needs_line_of_sight
        has_news: bool = table.see(columns, number, is_seen, now_s, self._report_every_s, first, end)
        return has_news

    def _notify_reported(self, memory: SenseMemory, changes: list[MemoryChange]) -> None:
        for change in changes:
            self._call(self._sharers[memory][0], f"on_{change.kind}", change, self._clock.now)

    def _collect(self) -> None:
        """Make notices of what a pass has listed."""
        sensations, self.table.sensations = self.table.sensations, []
        sensations.sort(key=by_sensor_modality_source)
        self._put_notices(sensations, self._notices)

    def _put_notices(self, sensations: list[Sighting], notices: deque[_Notices]) -> None:
        """Append notices of the changes that the loops have listed, of sensations, and of levels."""
        table = self.table
        changes, table.changes = table.changes, []
        levels, table.levels_crossed = table.levels_crossed, []
        changes.sort(key=by_sensor_then_time)
        levels.sort(key=by_sensor_then_time)
        notices.append(_Notices(deque(changes), sensations, deque(levels)))
        for sensation in sensations:
            if (perceiver := self._sensors.get(sensation[0])) is not None:
                perceiver.last = sensation

    def _notify(self, waiting: deque[_Notices], limit: Budget | None, at_once: tuple[int, int], now: TimeIndex) -> bool:
        """Notify listeners in order; return False if the budget ended first.

        An audience receives ``at_once`` sensations between two queries of the budget.
        """
        while waiting:
            notices = waiting[0]
            is_spent = self._notify_within(notices, limit, at_once, now)
            # A listener may have let a sensor feel something, of which all were told meanwhile.
            if waiting and waiting[0] is notices and not (notices.changes or notices.sensations or notices.levels):
                waiting.popleft()
            if is_spent:
                return not waiting
        return True

    def _notify_within(self, notices: _Notices, limit: Budget | None, at_once: tuple[int, int], now: TimeIndex) -> bool:
        """Notify listeners of the notices of a block; return whether the budget is spent."""
        changes, sensations, levels = notices.changes, notices.sensations, notices.levels
        while changes:
            sensor_id, at_s, target, kind, x, y, z = changes.popleft()
            self._call(sensor_id, f"on_{kind}", MemoryChange(kind, target, at_s, (x, y, z)), now)
            if limit is not None and limit.is_spent:
                return True
        size, largest = at_once
        while sensations:
            end = 1 if self._audience is None else size if limit is not None else len(sensations)
            size = min(2 * size, largest)
            told = sensations[:end]
            del sensations[:end]
            self._report(told, now)
            if limit is not None and limit.is_spent:
                return True
        while levels:
            sensor_id, at_s, target, level = levels.popleft()
            perceiver = self._sensors.get(sensor_id)
            if perceiver is not None and perceiver.awareness is not None:
                crossed = LevelChange(target, level, perceiver.awareness.level_names[level], at_s)
                self._call(sensor_id, LEVEL_CHANGED, crossed, now)
            if limit is not None and limit.is_spent:
                return True
        return False

    def _report(self, sensations: list[Sighting], now: TimeIndex) -> None:
        """Hand sensations to the trace, and to the audience or, one alone, to its sensor's listener."""
        sensor_ids, source_ids, numbers, _, intensities, positions, _, _ = zip(*sensations, strict=True)
        all_modalities = self._modalities.all
        modalities = [all_modalities[number].name for number in numbers]
        for hook in self._trace.sensed:
            for sensor_id, source_id, modality, intensity in zip(
                    sensor_ids, source_ids, modalities, intensities, strict=True):
                hook(sensor_id, source_id, modality, intensity, now)
        if self._audience is None:
            self._call(sensor_ids[0], SENSED, self._sensation(sensations[0]), now)
            return
        batch = SensationBatch(sensor_ids, source_ids, modalities, intensities, positions)
        receive = partial(self._audience.receive, batch)
        self._faults.run(self.audience_key, "audience of sensors", now.frame, receive)

    def _sensation(self, sensation: Sighting) -> Sensation:
        sensor_id, source, number, at_s, intensity, position, sent_at_s, tag = sensation
        return Sensation(
            sensor_id, source, self._modalities.all[number].name, intensity, position,
            at_s if sent_at_s is None else sent_at_s, at_s, tag)

    def _call(self, sensor_id: int, name: str, what: object, now: TimeIndex) -> None:
        """Call a listener of a sensor, if the sensor is still there."""
        perceiver = self._sensors.get(sensor_id)
        listener = None if perceiver is None else perceiver.listeners.get(name)
        if listener is None:
            return
        faults, key = self._faults, (perceiver, name)
        if faults.has_quarantined and faults.is_quarantined(key):
            return
        try:
            listener(what)
        except Exception as error:  # a listener's fault must not deafen the others
            called = self._all_sensors.ids.names.get(sensor_id) or sensor_id
            faults.failed(key, f"{name} of sensor {called!r}", now.frame, error)
        else:
            if faults.has_failing:
                faults.succeeded(key)


def limit_of(budget: Budget) -> Budget | None:
    """Return a budget that ends passes and notices: one of time; None for others, as tests and servers have them."""
    return None if budget.is_unlimited or budget.charges_runs else budget
