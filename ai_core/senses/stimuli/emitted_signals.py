"""Sounds and smells: signals that are emitted, travel, and are sensed once.

Every signal becomes arrivals, one for each sensor that it reaches, in one ``ArrivalQueue``: most when
it is emitted, those of a slow signal as its front meets sensors. From there on there is one way: an
arrival waits for what stands between where its modality is muffled, is under way until it is due,
waits to be told, is measured where its sensor is by then, and is told.
"""
from __future__ import annotations

import logging
import math
from collections.abc import Callable, Hashable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget
from ai_core.saving.declared_state import (
    ArrayOf,
    Change,
    Columns,
    DeclaredState,
    Flag,
    ListOf,
    Named,
    Number,
    Optional,
    Part,
    Point,
    Record,
    Refuse,
    Saveable,
    Seconds,
    Text,
    Whole,
)
from ai_core.saving.fields import LATEST_S as LATEST_MOMENT_S
from ai_core.senses.audience import StimulusBatch
from ai_core.senses.id_table import LARGEST_ID
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Point as Place
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.sight_loops import sensors_reached, signals_reached
from ai_core.senses.source_table import ALL_AFFILIATIONS, SourceTable
from ai_core.senses.stimuli.air import BackgroundNoise, Wind
from ai_core.senses.stimuli.arrival_loops import LATEST_S, ArrivalQueue
from ai_core.senses.stimuli.signal_queue import Signal
from ai_core.senses.stimuli.waves import ModalityNumbers, ReachNumbers, StimulusNumbers

__all__ = ["SIGNAL", "Arrival", "EmittedSignals", "Hear", "Muffle", "StimulusFront"]

ARRIVALS_AT_ONCE = 256
"""Arrivals told together (count): more make listeners wait for one another, fewer cost more calls."""

ARRIVALS_ON_TIME = 64
"""The same on a budget of time (count), which it overruns by 0.2 ms at most."""

WORK_AT_ONCE = 512
"""Arrivals that may come between two advances without a look at the budget (count), 0.3 ms.

Signals above it wait for their share of the budget, and reach sensors as they stand by then.
"""

SENSORS_LIKE_AN_ARRIVAL = 256
"""Sensors whose test takes as long as an arrival (count)."""

STRONG_ENOUGH = 1e300
"""An intensity above every threshold, to find all sensors that a front has passed (no unit)."""

Muffle = Callable[[int, "NDArray[np.float32]", "NDArray[np.float32]", "NDArray[np.int32]"], "list[float]"]
"""Returns the share of a modality, by its number, that passes the obstacles on lines: from, to, sensor ids."""

Hear = Callable[[StimulusBatch], None]
"""Takes in a batch of arrivals and tells listeners of them."""

Arrival = tuple[int, float, float, float, float, float]
"""Id of a sensor, when (s), length of the last straight part (m), intensity before it and at the sensor, reach (m)."""

SIGNAL = Record(
    Signal, order=Whole(), source_id=Whole(maximum=LARGEST_ID),
    modality=Named(lambda owner: owner.modality_numbers, "modality"), strength=Number(0), position=Point(3),
    sent_at_s=Seconds(maximum=lambda owner: owner.loaded_at_s), affiliation=Whole(maximum=ALL_AFFILIATIONS),
    tag=Text(), channel=Text())
"""How a signal is saved, by an owner with ``modality_numbers`` and ``loaded_at_s``, the moment of the save (s)."""

MOMENTS = ArrayOf(minimum=-LATEST_MOMENT_S, maximum=LATEST_MOMENT_S)
LENGTHS = ArrayOf(minimum=0)


class StimulusFront(NamedTuple):
    """The front of a slow signal: it grows, drifts with the wind, and meets sensors wherever they are by then.

    Attributes:
        signal: what was emitted.
        drift_m: how far the air had drifted then (m).
        passed: ids of the sensors that it has met.
    """

    signal: Signal
    drift_m: Place
    passed: set[int]


class QueuedArrivals(NamedTuple):
    """The arrivals of an ``ArrivalQueue``, as they are saved.

    Attributes:
        signals: those that are under way.
        rows: columns of the arrivals: those to be told, those that wait for a ray, those under way; "signal" is
            an index of ``signals``.
        arrived: how many are to be told (count).
        unheard: how many wait for a ray (count).
        counts: merged and dropped of those to be told, merged and dropped of those that wait for a ray, refused,
            and advances (count).
    """

    signals: list[Signal]
    rows: dict[str, NDArray[Any]]
    arrived: int
    unheard: int
    counts: list[int]


def _checked_arrivals(
    signals: list[Signal], rows: dict[str, NDArray[Any]], arrived: int, unheard: int, counts: list[int],
) -> QueuedArrivals:
    count = len(rows["signal"])
    if arrived + unheard > count:
        raise ValueError(f"arrived and unheard must be at most {count} together, got {arrived} and {unheard}")
    if count and int(rows["signal"].max()) >= len(signals):
        raise ValueError(f"rows.signal must be below {len(signals)}, the number of signals")
    return QueuedArrivals(signals, rows, arrived, unheard, counts)


ARRIVALS = Record(
    _checked_arrivals,
    signals=ListOf(SIGNAL),
    rows=Columns(
        signal=ArrayOf(np.int64, minimum=0), sensor_id=ArrayOf(np.int32, minimum=0), due_s=MOMENTS, leg_m=LENGTHS,
        before=LENGTHS, intensity=LENGTHS, reach_m=LENGTHS, x=ArrayOf(), y=ArrayOf(), z=ArrayOf(), since_s=MOMENTS,
        since=ArrayOf(np.int64, minimum=0), is_final=ArrayOf(np.bool_)),
    arrived=Whole(),
    unheard=Whole(),
    counts=ListOf(Whole(), count=6),
)
"""How the arrivals are saved."""


class EmittedSignals(Saveable):
    """Carries signals to sensors, all of them on straight ways.

    Args:
        modalities: how signals travel.
        sensors: whom they may reach.
        sources: what may emit them.
        muffle: see ``Muffle``.
        is_muffled: returns whether anything may stand between in a modality, by its number.

    Attributes:
        sent: signals emitted so far (count).
        queue: all arrivals to come.
        waiting: signals that were not offered to sensors yet, by order; while ``is_behind`` by kind.
        is_behind: whether signals wait for the budget because those before them were not told yet.
        fronts: slow signals.
    """

    STATE = DeclaredState(
        sent=Whole(),
        arrivals=ARRIVALS,
        held=ListOf(SIGNAL),
        merged_held=Whole(at="merged_waiting"),
        dropped_held=Whole(at="dropped_waiting"),
        is_behind=Flag(),
        is_told=Flag(at="_is_told"),
        offered_before=Optional(Whole(), at="_offered_before"),
        fronts=ListOf(Record(
            StimulusFront, signal=SIGNAL, drift_m=Point(3), passed=ListOf(Whole(maximum=LARGEST_ID), make=set))),
        followed=Whole(),
        pass_s=Optional(Seconds(), at="_pass_s"),
        noise=Part(),
        wind=Part(),
    )

    def __init__(
        self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, muffle: Muffle,
        is_muffled: Callable[[int], bool],
    ) -> None:
        self._modalities = modalities
        self._sensors, self._sources = sensors, sources
        self._muffle, self._is_muffled = muffle, is_muffled
        self.noise, self.wind = BackgroundNoise(modalities), Wind()
        self.queue = ArrivalQueue()
        self.waiting: dict[Hashable, Signal] = {}
        self.is_behind = False
        self.merged_waiting = self.dropped_waiting = 0
        self.fronts: list[StimulusFront] = []
        self.followed = 0                       # of the fronts, in this pass
        self.sent = 0
        self._sent_before = 0                   # this advance
        self._offered_before: int | None = None     # the order of the first that this pass leaves to the next
        self._work = 0                          # of offering, since the last advance
        self._pass_s: float | None = None       # when the pass of telling began; None between passes
        self._is_told = True                    # all that was due in the last advance
        self._has_warned = False
        # Returns the share kept per metre at a sensor, by number of the modality and slot; None for the modality's.
        self._kept_at: Callable[[int, int], float] | None = None
        self.loaded_at_s = LATEST_MOMENT_S

    def __len__(self) -> int:
        """Number of arrivals to come; of a slow signal, only those that its front has met."""
        self.offer()
        return len(self.queue)

    @property
    def modality_numbers(self) -> dict[str, int]:
        """Number of each emitted modality, and of those that touch, by name."""
        return {one.name: number for number, one in enumerate(self._modalities.all)}

    def take(self, signal: Signal) -> None:
        """Send a signal, of the order ``sent``, to all sensors that it reaches as they stand now.

        While earlier ones have not been told, it waits, and merges with what waits of its kind.

        Cost: O(1) here; offering it later O(sensors), below 1 ns for a sensor far away.
        """
        self.sent += 1
        if self.is_behind:
            self._hold(signal)
        else:
            self._begin(signal)

    def touch(self, signal: Signal, sensor_id: int) -> None:
        """Send a signal to one sensor alone, at once and undiminished, if it senses such."""
        sensors, slot = self._sensors, self._sensors.ids.slot(sensor_id)
        is_strong = signal.strength >= sensors.threshold[slot, signal.modality]
        is_own = sensors.self_source[slot] == signal.source_id
        if is_strong and not is_own and int(sensors.detection_mask[slot]) & signal.affiliation:
            signal = signal._replace(order=self.sent)
            self._add(signal, signal.position, [(
                int(sensor_id), signal.sent_at_s, 0.0, signal.strength, signal.strength, 0.0)], is_final=True)
        self.sent += 1

    def offer(self) -> None:
        """Offer what waits to the sensors; call it before any sensor changes.

        More than ``WORK_AT_ONCE`` since the last advance waits for the budget of the next.
        """
        if self.is_behind or not self.waiting:
            return
        signals, self.waiting = list(self.waiting.values()), {}
        step = max(1, WORK_AT_ONCE // max(1, self._sensors.rows))
        for first in range(0, len(signals), step):
            if self._work >= WORK_AT_ONCE:
                self.is_behind = True
                for signal in signals[first:]:
                    self._hold(signal)
                return
            self._offer(signals[first : first + step])

    def begin_advance(self, now_s: float) -> None:
        """Offer what waits, and drop what has waited for too long; call it once in each advance."""
        queue = self.queue
        was_behind, self.is_behind = self.is_behind, not self._is_told
        if was_behind:
            late = [kind for kind, one in self.waiting.items() if now_s - one.sent_at_s > LATEST_S]
            self.dropped_waiting += len(late)
            for kind in late:
                del self.waiting[kind]
        elif self.is_behind:
            self.held = list(self.waiting.values())
        self.offer()
        self._sent_before, self._work, self._is_told = self.sent, 0, not self.has_work
        queue.begin_advance(now_s)
        if not self._has_warned and (queue.arrived.merged or self.merged_waiting or self.dropped):
            self._has_warned = True
            logging.getLogger("ai_core").warning(
                "signals are emitted faster than the budget of the senses lets them be told: those of one source and"
                " channel are merged, those that would be told %s s late are dropped; statistics() counts"
                " stimuli_merged and stimuli_dropped", LATEST_S)

    def offer_held(self, budget: Budget) -> bool:
        """Offer what waits for the budget; return False if the budget ended first. A step is a signal.

        A signal that is emitted again after the pass began waits for the next, so every pass has an end.
        """
        if self._offered_before is None:
            self._offered_before = self._sent_before
        for kind, signal in list(self.waiting.items()):
            if signal.order < self._offered_before:
                if budget.is_spent:
                    return False
                budget.spend()
                del self.waiting[kind]
                self._begin(signal)
                if self.waiting.pop(signal.order, None):        # else it is followed
                    self._offer([signal])
        self._offered_before = None
        return True

    def _begin(self, signal: Signal) -> None:
        """Follow a slow signal; let others wait until they are offered."""
        if self._modalities.all[signal.modality].is_slow:
            self.fronts.append(StimulusFront(signal, self.wind.drift_m(signal.sent_at_s), set()))
        else:
            self.waiting[signal.order] = signal

    def _hold(self, signal: Signal) -> None:
        """Let a signal wait for the budget, or merge with one of its source and channel that does."""
        kind = signal.source_id, signal.modality, signal.channel, "" if signal.channel else signal.tag
        earlier = self.waiting.get(kind)
        if earlier is not None:
            self.merged_waiting += 1
            signal = signal._replace(strength=max(signal.strength, earlier.strength))
        self.waiting[kind] = signal

    def _offer(self, signals: list[Signal]) -> None:
        sensors, kinds = self._sensors, self._modalities.all
        muffled = frozenset(number for number in {one.modality for one in signals} if self._is_muffled(number))
        reached = signals_reached(sensors, signals, kinds)
        self._work += len(reached[1]) + len(signals) * (1 + sensors.rows // SENSORS_LIKE_AN_ARRIVAL)
        self.queue.add_reached(signals, kinds, sensors.ids.by_slot, reached, muffled)

    @property
    def has_work(self) -> bool:
        """Whether any signal is on its way."""
        return bool(len(self.queue) or self.fronts or self.waiting)

    @property
    def merged(self) -> int:
        """Signals and arrivals that merged with an earlier one of their kind, which had waited (count)."""
        return int(self.merged_waiting + self.queue.arrived.merged + self.queue.unheard.merged)

    @property
    def dropped(self) -> int:
        """Signals and arrivals that were dropped because they could not be told in time (count)."""
        return int(self.dropped_waiting + self.queue.arrived.dropped + self.queue.refused)

    @property
    def given_up(self) -> int:
        """Arrivals that were dropped because there was no ray for them in time (count)."""
        return int(self.queue.unheard.dropped)

    def ask(self, most: int) -> int:
        """Ask what stands between for those whose turn it is, at most so many; return how many.

        Turns go by order of emission, for one signal the nearest sensor first.
        """
        taken = self.queue.take_unheard(most)
        by_modality: dict[int, list[int]] = {}
        for place, (_, number, _, sensor_id) in enumerate(taken):
            if self._sensors.ids.knows(sensor_id):
                by_modality.setdefault(number, []).append(place)
        shares: list[float | None] = [None] * len(taken)
        for number, places in sorted(by_modality.items()):
            ids = np.array([taken[place][3] for place in places], np.int32)
            start = np.array([taken[place][2] for place in places], np.float32)
            end = np.ascontiguousarray(self._sensors.position[self._sensors.ids.slots_of_known(ids)])
            for place, share in zip(places, self._muffle(number, start, end, ids), strict=True):
                shares[place] = share
        self.queue.put_heard([row for row, *_ in taken], shares)
        return len(taken)

    def follow(self, budget: Budget, now_s: float) -> bool:
        """Let slow signals meet sensors; return False if the budget ended first. A step is one signal.

        Cost: O(fronts * sensors), of which little for sensors far away.
        """
        while self.followed < len(self.fronts):
            if budget.is_spent:
                return False
            budget.spend()
            if self.fronts[self.followed].signal.order < self._sent_before:
                self._follow(self.fronts[self.followed], now_s)
            self.followed += 1
        if self.fronts:
            kinds = self._modalities.all
            self.fronts = [
                one for one in self.fronts if self._radius_m(one, now_s) < kinds[one.signal.modality].range_m]
        self.followed = 0
        return True

    def tell(self, budget: Budget, now_s: float, hear: Hear) -> bool:
        """Tell what is due; return False if the budget ended before all was told that was due when the pass began.

        Signals that were emitted in this advance wait for the next. A step is one arrival.
        """
        queue, is_spent = self.queue, budget.is_spent
        if is_spent:
            return False
        queue.arrive(now_s, self._sent_before)
        self._pass_s = pass_s = now_s if self._pass_s is None else self._pass_s
        while len(queue.arrived) and not is_spent:
            most = ARRIVALS_ON_TIME if budget.stopwatch else int(min(ARRIVALS_AT_ONCE, budget.left))
            taken, sensor_ids, which, intensities, what = queue.take_arrived(
                most, self._sensors, self._modalities.all, self.noise if self.noise.all else None, self._kept_at, now_s)
            budget.spend(taken)
            if sensor_ids:
                hear(StimulusBatch(sensor_ids, which, intensities, what, now_s))
            is_spent = budget.is_spent
        self._is_told = not len(queue.arrived)
        if queue.first_since_s <= pass_s:
            return False
        self._pass_s = None
        return True

    @property
    def arrivals(self) -> QueuedArrivals:
        """All arrivals to come, for a save."""
        self.offer()
        queue = self.queue
        columns, arrived, unheard, signals = queue.saved()
        columns["is_final"] = columns["is_final"].astype(np.bool_)
        places: dict[int, int] = {}
        once: list[Signal] = []
        rows = [places.setdefault(id(one), len(places)) for one in signals]
        for one, row in zip(signals, rows, strict=True):
            if row == len(once):
                once.append(one)
        counts = [
            queue.arrived.merged, queue.arrived.dropped, queue.unheard.merged, queue.unheard.dropped, queue.refused,
            queue.number]
        return QueuedArrivals(once, {"signal": np.array(rows, np.int64), **columns}, arrived, unheard, counts)

    @arrivals.setter
    def arrivals(self, saved: QueuedArrivals) -> None:
        queue, rows = self.queue, dict(saved.rows)
        signals = [saved.signals[one] for one in rows.pop("signal").tolist()]
        queue.load(rows, saved.arrived, saved.unheard, signals)
        (queue.arrived.merged, queue.arrived.dropped, queue.unheard.merged, queue.unheard.dropped, queue.refused,
         queue.number) = saved.counts

    def way(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return how a signal emitted now would get from a source to a sensor, by their slots."""
        kind, start, end = self._modalities[number], self._sources.position[target], self._sensors.position[eye]
        ahead = [there - here for there, here in zip(start.tolist(), end.tolist(), strict=True)]
        distance_m = math.hypot(*ahead)
        lines = start[np.newaxis], np.ascontiguousarray(end)[np.newaxis]
        share, = self._muffle(number, *lines, self._sensors.ids.of_slots(np.array([eye])))
        return ReachNumbers(distance_m, kind.kept_per_m**distance_m * share, (ahead[0], ahead[1], ahead[2]))

    def prepare_at(self, state: object, place: str, now_s: float) -> Change:
        """Check a state that was saved at a moment (s); return the function that loads it."""
        self.loaded_at_s = now_s
        return self.STATE.prepare(self, state, place)

    @property
    def held(self) -> list[Signal]:
        """Signals that wait for the budget, for a save."""
        self.offer()
        return list(self.waiting.values())

    @held.setter
    def held(self, signals: list[Signal]) -> None:
        self.waiting = {}
        for signal in signals:
            self._hold(signal)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        fronts = [one.signal for one in values.fronts]
        for name, signals in (("arrivals", values.arrivals.signals), ("held", values.held), ("fronts", fronts)):
            if any(one.order >= values.sent for one in signals):
                refuse(name, f"must hold signals of orders below {values.sent}, the number of signals sent")
        if values.held and not values.is_behind:
            refuse("held", "must be empty unless is_behind is true")
        if any(not self._modalities[one.signal.modality].is_slow for one in values.fronts):
            refuse("fronts", "must hold signals of slow modalities")

    def _finish_load(self) -> None:
        self.followed = min(self.followed, len(self.fronts))

    def _add(
        self, signal: Signal, start: Place, arrivals: list[Arrival], *, is_final: bool = False,
        is_unheard: bool = False,
    ) -> None:
        self.queue.add(signal, arrivals, *start, is_final, is_unheard)

    def _radius_m(self, front: StimulusFront, now_s: float) -> float:
        return max(0.0, now_s - front.signal.sent_at_s) / self._modalities[front.signal.modality].delay_s_per_m

    def _follow(self, front: StimulusFront, now_s: float) -> None:
        signal, kind, sensors = front.signal, self._modalities[front.signal.modality], self._sensors
        # Exact in float32, as the loops need it.
        x, y, z = np.array([
            at + now - then
            for at, now, then in zip(signal.position, self.wind.drift_m(now_s), front.drift_m, strict=True)
        ], np.float32).tolist()
        sense = ModalityNumbers(signal.modality, min(self._radius_m(front, now_s), kind.range_m), 1.0, needs_cone=False)
        wave = StimulusNumbers(sense, (x, y, z), STRONG_ENOUGH, signal.affiliation, signal.source_id)
        _, slots, distances, _ = sensors_reached(sensors, [wave])
        met: list[Arrival] = []
        for slot, sensor_id, distance in zip(slots, sensors.ids.by_slot[slots].tolist(), distances, strict=True):
            if sensor_id in front.passed:
                continue
            front.passed.add(sensor_id)
            intensity = signal.strength * kind.kept_per_m**distance
            if intensity >= sensors.threshold[slot, signal.modality]:
                due_s = min(signal.sent_at_s + distance * kind.delay_s_per_m, now_s)
                met.append((sensor_id, due_s, distance, signal.strength, intensity, kind.range_m))
        is_unheard = self._is_muffled(signal.modality)
        if is_unheard:
            met.sort(key=lambda one: (one[2], one[0]))
        self._add(signal, (x, y, z), met, is_final=True, is_unheard=is_unheard)
