"""Perception: memory and awareness of all sensors, and their listeners."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from types import SimpleNamespace
from typing import Any, NamedTuple, get_args

import numpy as np

from ai_core.budget import Budget
from ai_core.clock import Clock, TimeIndex
from ai_core.faults import FAILURES_STATE, NO_FAILURES, FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Refuse, Saveable
from ai_core.saving.fields import LARGEST, MOST
from ai_core.saving.kinds import (
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOf,
    OneRecordOf,
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
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.percepts.percept_loops import (
    MEMORY_NUMBERS,
    METER_NUMBERS,
    NO_SENSE,
    NOT_IN_VIEW,
    KnownTarget,
    PerceptTable,
)
from ai_core.senses.sensation import FARTHEST_M, ChangeKind, LevelChange, MemoryChange, Sensation, SensationReceiver
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.pair_keys import ID_BITS, PairKey, key_of
from ai_core.senses.sight.pair_loops import PairsInView
from ai_core.senses.source_table import SourceTable
from ai_core.trace import Trace

__all__ = ["Perception", "limit_of"]


Notice = Sensation | MemoryChange | LevelChange
"""What a listener is notified of."""

LISTENERS = ("on_sensed", "on_gained", "on_lost", "on_forgotten", "on_awareness_changed", "on_expired", "on_reported")
"""Names of what a sensor calls: with a ``Sensation``, a ``MemoryChange`` or a ``LevelChange``."""

CLEAR = 1.0, 0
"""View of a pair that none was noted of."""

NO_PASS = -1
"""Stage between two passes."""

ID = Whole(maximum=LARGEST_ID)
SENSATION = Record(
    Sensation, sensor_id=ID, source_id=ID, modality=OneOf(lambda owner: owner._modalities.numbers), intensity=Number(0),
    position=Point(3), sent_at_s=Seconds(), at_s=Seconds(), tag=Text())
NOTICE = OneRecordOf(
    by="notice", sensation=SENSATION,
    change=Record(
        MemoryChange, sensor_id=ID, kind=OneOf(get_args(ChangeKind)), target=ID, at_s=Seconds(),
        last_known_position=Point(3)),
    level=Record(LevelChange, sensor_id=ID, target=ID, level=Whole(), name=Text(), at_s=Seconds()))
"""How a notice is saved."""

NO_MIND_SAVED = SimpleNamespace(last_sensation=None, failing={})

PERCEPTS_PER_BLOCK = 128
"""Pairs or percepts of a pass between two queries of a budget of time (count): 20 to 50 µs."""

SIGHTINGS_AT_ONCE = 8, 32
"""Sensations in the first batch within a budget of time, and in the largest (count); each is twice as large as before.

The first takes longest, as caches are cold: 50 µs with listeners in scripts.
"""

HEARD_AT_ONCE = 2, 2
"""The same of signals that were heard: characters that decide by noises take some 20 µs each."""

LONG_AGO = 2
"""Stands for at least so many looks ago. The last look may be under way."""


class SavedPercept(NamedTuple):
    """What one sensor knows of one target.

    Attributes:
        memory: ``MEMORY_NUMBERS``, after the number of looks since it was in view; None for no memory.
        meter: ``METER_NUMBERS`` after the same for the meter, and when the levels above its own are reported (s).
        senses: ``KnownTarget.by_modality``.
    """

    sensor_id: int
    target: int
    memory: tuple[Any, ...] | None
    meter: tuple[Any, ...] | None
    senses: dict[str, tuple[float, ...]]

    @classmethod
    def of(cls, row: KnownTarget, looks: float) -> SavedPercept:
        """Return a row at a number of looks."""
        senses = {name: (*(one if row.is_known else NO_SENSE)[:2], *(one if row.has_meter else NO_SENSE)[2:])
                  for name, one in row.by_modality().items()}
        memory = meter = None
        if row.is_known:
            memory = (min(looks - row.looked, LONG_AGO), *row.memory_numbers())
        if row.has_meter:
            meter = (min(looks - row.shown_at, LONG_AGO), *row.meter_numbers(), row.pending_s)
        return cls(row.key >> ID_BITS, row.target, memory, meter,
                   {name: one for name, one in senses.items() if one != NO_SENSE})

    @classmethod
    def checked(cls, **fields: Any) -> SavedPercept:
        """Return a percept of a save."""
        one = cls(**fields)
        memory = dict(zip(MEMORY_NUMBERS, (one.memory or ())[1:], strict=False))
        if memory and math.isnan(memory["first_seen_s"]) != math.isnan(memory["last_seen_s"]):
            raise ValueError("first_seen_s must be None where last_seen_s is, and only there")
        if memory and memory["noticed_s"] > memory["last_sensed_s"]:
            raise ValueError("noticed_s must not be later than last_sensed_s")
        if memory and not any(sense[1] > -math.inf for sense in one.senses.values()):
            raise ValueError("senses must hold when the target was sensed, in one at least")
        if one.meter and one.meter[-1] != sorted(one.meter[-1]):
            raise ValueError("the times of levels must ascend")
        return one

    @property
    def latest_s(self) -> float:
        """The latest of its moments, of which none is after the save (s)."""
        numbers = [*zip(MEMORY_NUMBERS, (self.memory or ())[1:], strict=False),
                   *zip(METER_NUMBERS, (self.meter or ())[1:], strict=False)]
        moments = [at_s for name, at_s in numbers if name.endswith("_s") and not math.isnan(at_s)]
        return max([*moments, *(one[1] for one in self.senses.values())], default=-math.inf)

    @property
    def levels(self) -> int:
        """How many levels are reached."""
        return 0 if self.meter is None else self.meter[1] + len(self.meter[-1])

    def put(self, table: PerceptTable) -> None:
        """Make its row in a table; call ``insert_new`` of that after the last."""
        row = table.row(key_of(self.sensor_id, self.target))
        looked, shown_at = (NOT_IN_VIEW if one is None or one[0] == LONG_AGO else table.looks - one[0]
                            for one in (self.memory, self.meter))
        if self.memory is not None:
            row.put_memory(self.memory[1:], looked)
        if self.meter is not None:
            row.put_meter(self.meter[1:-1], shown_at, self.meter[-1])
        row.put_senses(self.senses)


def _numbers(*numbers: Any) -> tuple[Any, ...]:
    return numbers


AGO, MOMENT, SHARE = Whole(maximum=LONG_AGO), Seconds(), Number(0, 1)
SEEN, PLACE, SPEED = Seconds(absent=math.nan), Number(-FARTHEST_M, FARTHEST_M), Number(-LARGEST, LARGEST)
PERCEPT = Record(
    SavedPercept.checked, sensor_id=ID, target=ID,
    memory=Optional(Row(
        _numbers, AGO, Flag(), Flag(), *[MOMENT] * 4, *[PLACE] * 3, *[SPEED] * 3, SEEN, SEEN, *[PLACE] * 3)),
    meter=Optional(Row(_numbers, AGO, Whole(), SHARE, Number(0), MOMENT, SHARE, MOMENT, ListOf(MOMENT))),
    senses=MapOf(Row(_numbers, Number(0), Seconds(absent=-math.inf), Number(0), Number(0))))
"""How a percept is saved."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class _Perceiver:
    """One sensor: its listeners, memory and awareness settings."""

    listeners: Mapping[str, Callable[[Any], object]]
    memory: SenseMemory | None
    awareness: AwarenessSettings | None
    last: Sensation | None = None


class Perception(Saveable):
    """Memory and awareness of all sensors, in one ``PerceptTable``.

    A pass takes in what is in view, then lets time pass for all percepts, in blocks between which a budget of time
    may end it. What happened is collected as notices; then listeners are called: with changes of memories, in the
    order of sensor and time, with sensations, and with changes of levels. So a listener finds percepts as they are
    after the pass, and may add, remove and free sensors and sources. Notices that the budget does not reach come
    first in the next advance, and the next pass begins after them: their number is bounded.

    Attributes:
        table: all percepts.
        heard: notices of signals that arrived, of which listeners have not been notified, in order.

    Cost: ``advance`` O(percepts and pairs in view), 10 to 30 ns each, and what listeners cost.
    """

    STATE = DeclaredState(
        rows=ListOf(PERCEPT, at="_saved_rows"),
        now_s=Seconds(absent=-np.inf, at="table.now_s"),
        minds=MapOf(
            Record(
                SimpleNamespace, last_sensation=Optional(SENSATION),
                failing=MapOf(FAILURES_STATE, key=OneOf(LISTENERS))),
            key=Whole(maximum=LARGEST_ID), at="_saved_minds"),
        stage=Whole(NO_PASS, lambda owner: len(owner._modalities), at="_stage"),
        looked_in=Whole(-1, MOST),
        from_pair=PairKey(at="_from_key"),
        heard=ListOf(NOTICE, make=deque), notices=ListOf(NOTICE, make=deque, at="_notices"))
    # The table of sensors is that of the manager, which is loaded before.

    def __init__(
        self, clock: Clock, modalities: ModalitySet, sources: SourceTable, trace: Trace, report_every_s: float,
        audience: SensationReceiver | None, faults: FaultIsolation, all_sensors: SensorTable,
    ) -> None:
        self._all_sensors, self.looked_in = all_sensors, -1      # the turn of the pass under way, or of the last
        self._clock, self._modalities, self._sources = clock, modalities, sources
        self._trace, self._report_every_s = trace, report_every_s
        self._audience, self._faults = audience, faults
        self._receive_change: Callable[[Any], object] | None = getattr(audience, "change", None)
        self._sensors: dict[int, _Perceiver] = {}
        self._sharers: dict[SenseMemory, list[int]] = {}     # the first is the owner
        self.table = PerceptTable((one.name for one in modalities.all), sources)
        self._notices: deque[Notice] = deque()      # of passes
        self.heard: deque[Notice] = deque()
        self._stage = NO_PASS       # of the pass under way: an index of the modalities, then the rows
        self._from_key = 0          # where the stage continues
        self.audience_key = (self, "audience")

    def check_memory(self, memory: SenseMemory | None) -> None:
        """Raise ValueError if a memory belongs to another sense manager."""
        if memory is not None and memory not in self._sharers and memory.is_owned:
            raise ValueError(
                "memory belongs to a sensor of another sense manager; use one memory for sensors of one manager")

    def add(
        self, sensor_id: int, listeners: Mapping[str, Callable[[Any], object]], memory: SenseMemory | None,
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

    def memory_of(self, sensor_id: int) -> SenseMemory | None:
        """Return the memory of a sensor, None if it has none."""
        return self._sensors[sensor_id].memory

    def awareness_of(self, sensor_id: int, target: int) -> KnownTarget | None:
        """Return the awareness of a sensor of a target, None if it is not aware of it."""
        row: KnownTarget | None = self.table.find(sensor_id, target)
        return row if row is not None and row.has_meter else None

    def last_sensation(self, sensor_id: int) -> Sensation | None:
        """Return the newest sensation of a sensor, also if it has no listener."""
        return self._sensors[sensor_id].last

    def forget_all(self, sensor_id: int) -> None:
        """Clear memory and awareness of a sensor, without notifications."""
        perceiver = self._sensors[sensor_id]
        if perceiver.memory is not None:
            perceiver.memory.forget_all()
        self.table.forget_all(sensor_id)
        for notices in (self._notices, self.heard):
            kept = [one for one in notices if one.sensor_id != sensor_id]
            notices.clear()
            notices.extend(kept)
        self.table.now_s = -np.inf
        perceiver.last = None

    def release(self, sensor_id: int) -> None:
        """Release listeners of a sensor from quarantine."""
        for name in LISTENERS:
            self._faults.release((self._sensors[sensor_id], name))

    def notify_heard(self, budget: Budget) -> bool:
        """Notify listeners of signals that arrived; return False if the budget ended first; see ``advance``."""
        return self._notify(self.heard, limit_of(budget), HEARD_AT_ONCE, self._clock.now)

    def hear(self, sensations: list[Sensation], budget: Budget) -> None:
        """Take in signals that arrived at sensors, and notify listeners as far as the budget allows.

        Notices that the budget does not reach come first in the next call, and in ``notify_heard``.

        Cost: O(log percepts) each.
        """
        table, now, limit = self.table, self._clock.now, limit_of(budget)
        table.revision += 1
        table.now_s = now.seconds
        table.hear(sensations, now.seconds)
        self._collect(sensations, self.heard)
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
                    self._collect_seen()        # of all blocks at once takes milliseconds
                    has_news = False
                if self._stage < len(stages) and limit.is_spent:
                    return False
        self._stage = NO_PASS
        if has_news:
            self._collect_seen()
        if table.has_ended:
            table.drop_ended()
        return not self._notices or (
            (limit is None or not limit.is_spent)
            and self._notify(self._notices, limit, SIGHTINGS_AT_ONCE, now))

    @property
    def _saved_rows(self) -> list[SavedPercept]:
        return [SavedPercept.of(one, self.table.looks) for one in self.table.rows]

    @_saved_rows.setter
    def _saved_rows(self, loaded: tuple[dict[int, _Perceiver], list[SavedPercept]]) -> None:
        """Replace all sensors and percepts by these."""
        for sensor_id in self._sensors:
            self.table.drop_mind(sensor_id)
        self.table = PerceptTable((one.name for one in self._modalities.all), self._sources)
        self._sensors, rows = loaded
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
        for row in rows:
            row.put(self.table)
        self.table.insert_new()
        for sharers in self._sharers.values():
            for one in sharers[1:]:     # the owner of the memory was another sensor when it was saved
                self.table.move_memory(one, sharers[0])

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
            perceiver.last = mind.last_sensation
            for name in LISTENERS:
                self._faults.put_failures((perceiver, name), mind.failing.get(name, NO_FAILURES))

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        sensors, latest_s, rows = values.within.sensors, values.within.now.seconds, values.rows
        loaded, known = {new: self._sensors[here] for here, new in sensors.new_ids.items()}, set(sensors.saved_ids)
        levels = {one: 0 if (mind := loaded[one].awareness) is None else len(mind.levels) for one in known}
        before = (-1, -1)
        if values.now_s > latest_s:
            refuse("now_s", f"must not be later than the save, at {latest_s:g} s")
        for index, row in enumerate(rows):
            here = loaded.get(row.sensor_id)
            if row.sensor_id not in known or here is None:
                refuse(f"rows[{index}].sensor_id", f"must be a sensor of the save, got {row.sensor_id}")
            if row[:2] <= before:
                refuse(f"rows[{index}]", "must be after the row before it, by sensor, then target")
            if (row.memory is not None and here.memory is None) or (row.meter is not None and here.awareness is None):
                refuse(f"rows[{index}]", f"has memory or awareness, but the current sensor {row.sensor_id} has none")
            if row.levels > levels[row.sensor_id]:
                refuse(f"rows[{index}].meter", f"must reach at most {levels[row.sensor_id]} levels, got {row.levels}")
            if row.latest_s > latest_s:
                refuse(f"rows[{index}]", f"must not be later than the save, at {latest_s:g} s")
            before = row[:2]
        for one in (*values.notices, *values.heard):
            if isinstance(one, LevelChange) and one.level > levels.get(one.sensor_id, one.level):
                refuse("notices", f"must hold levels of their sensors, that of sensor {one.sensor_id} is not")
        if values.minds.keys() != known:
            refuse("minds", "must hold each sensor of the save, and no others")
        for sensor_id, mind in values.minds.items():
            last = mind.last_sensation
            if last is not None and (max(last.sent_at_s, last.at_s) > latest_s or last.sensor_id != sensor_id):
                refuse(f"minds.{sensor_id}", f"must be of this sensor, and not later than the save, at {latest_s:g} s")
        order = [*sensors.saved_ids, *(one for one in loaded if one not in known)]
        values.rows = {one: loaded[one] for one in order}, rows

    def _own(self, memory: SenseMemory, sensor_id: int) -> None:
        memory.belong_to(self.table, sensor_id, self._notify_reported)

    def _put_mind(self, sensor_id: int, owner: int) -> None:
        perceiver = self._sensors[sensor_id]
        self.table.put_mind(
            sensor_id, owner, None if perceiver.memory is None else perceiver.memory.durations,
            perceiver.awareness)

    def _see(self, number: int, pairs: PairsInView, now_s: float, first: int, end: int) -> bool:
        table, columns = self.table, pairs.columns
        if pairs.views:
            keys, intensity, *others = (column[first:end] for column in columns)
            clarity = np.array([pairs.views.get(key, CLEAR)[0] for key in keys.tolist()])
            columns, first, end = (keys, intensity * clarity, *others), 0, end - first
        is_seen = self._modalities.all[number].needs_line_of_sight
        has_news: bool = table.see(columns, number, is_seen, now_s, self._report_every_s, first, end)
        return has_news

    def _notify_reported(self, memory: SenseMemory, changes: list[MemoryChange]) -> None:
        for change in changes:
            self._call(self._sharers[memory][0], f"on_{change.kind}", change, self._clock.now)

    def _collect_seen(self) -> None:
        """Make notices of what a pass has listed, sensations by sensor, modality and source."""
        sensations, self.table.sensations = self.table.sensations, []
        self._collect(sorted(sensations, key=itemgetter(0)), self._notices)     # of a sensor they are in order

    def _collect(self, sensations: list[Sensation], notices: deque[Notice]) -> None:
        """Append notices: changes that the loops have listed, sensations, and levels."""
        table = self.table
        notices.extend(sorted(table.changes, key=attrgetter("sensor_id", "at_s", "target")))
        notices.extend(sensations)
        notices.extend(sorted(table.levels_crossed, key=attrgetter("sensor_id", "at_s", "target")))
        table.changes, table.levels_crossed = [], []
        perceiver_of = self._sensors.get
        for sensation in sensations:
            if (perceiver := perceiver_of(sensation.sensor_id)) is not None:
                perceiver.last = sensation

    def _notify(self, waiting: deque[Notice], limit: Budget | None, at_once: tuple[int, int], now: TimeIndex) -> bool:
        """Notify listeners in order; return False if the budget ended first.

        An audience receives ``at_once`` sensations between two queries of the budget.
        """
        size, largest = (1, 1) if self._audience is None else at_once if limit is not None else (MOST, MOST)
        while waiting:
            notice = waiting.popleft()
            if isinstance(notice, Sensation):
                sensations = [notice]
                while len(sensations) < size and waiting and isinstance(waiting[0], Sensation):
                    sensations.append(waiting.popleft())    # type: ignore[arg-type]
                size = min(2 * size, largest)
                self._report(sensations, now)
            else:
                name = f"on_{notice.kind}" if isinstance(notice, MemoryChange) else "on_awareness_changed"
                self._call(notice.sensor_id, name, notice, now)
            if limit is not None and limit.is_spent:
                return not waiting
        return True

    def _report(self, sensations: list[Sensation], now: TimeIndex) -> None:
        """Hand sensations to the trace, and to the audience or, one alone, to its sensor's listener."""
        for hook in self._trace.sensed:
            for one in sensations:
                hook(one.sensor_id, one.source_id, one.modality, one.intensity, now)
        if self._audience is None:
            self._call(sensations[0].sensor_id, "on_sensed", sensations[0], now)
        else:
            self._faults.run(
                self.audience_key, "audience of sensors", now.frame, partial(self._audience.receive, sensations))

    def _call(self, sensor_id: int, name: str, what: object, now: TimeIndex) -> None:
        """Call a listener of a sensor, or the audience in its place, if the sensor is still there."""
        perceiver = self._sensors.get(sensor_id)
        listener = None if perceiver is None else perceiver.listeners.get(name, self._receive_change)
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
