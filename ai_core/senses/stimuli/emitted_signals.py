"""Sounds and smells: signals that are emitted, travel, and are sensed once."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter

import numpy as np

import ai_core.senses.stimuli.arriving as arriving
from ai_core.budget import Budget
from ai_core.senses.audience import StimulusBatch
from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.sensation import Point
from ai_core.senses.sensor_table import NO_SOURCE, SensorTable
from ai_core.senses.sight.sight_loops import Reached, signals_reached
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.arriving import MOVED_M
from ai_core.senses.stimuli.muffled_lines import Muffle, MuffledLines, PendingLine
from ai_core.senses.stimuli.noise import BackgroundNoise
from ai_core.senses.stimuli.offered_signals import OfferedStimuli
from ai_core.senses.stimuli.sensor_index import LEAST_SENSORS, SensorIndex
from ai_core.senses.stimuli.signal_fronts import SignalFronts
from ai_core.senses.stimuli.signal_queue import Arrival, Channel, Signal, SignalQueue, is_replaced
from ai_core.senses.stimuli.waves import ReachNumbers
from ai_core.senses.stimuli.wind import Wind

__all__ = ["EmittedSignals"]

ARRIVALS_AT_ONCE = 256
"""Arrivals taken in before the first of them is told (count)."""

ARRIVALS_ON_TIME = 64
"""The same on a budget of time, where some wait already (count), which it overruns by 0.2 ms at most."""

made_of = tuple.__new__
"""Makes a named tuple of all its parts in half the time that calling it takes."""

MOST_AT_ONCE = 1 << 18
"""Sensors times signals whose answers are kept at a time (count): 6 MB."""

modality_of = attrgetter("modality")


class EmittedSignals:
    """Carries signals to sensors: aggregation and testing at once, notification when due.

    Signals wait for one another until sensors change, and are then offered
    together to the sensors as they stood when the signals were emitted. Those
    that something may muffle then wait for ``ask``.

    Args:
        modalities: how signals travel.
        sensors: whom they may reach.
        sources: who may send them.
        muffle: what stands between.
        is_muffled: whether anything may stand between in a modality, by its number.

    Attributes:
        lines: what waits to be asked for what stands between.
        sent: how many were emitted.
        waiting: those that were not offered yet.
    """

    def __init__(
        self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, muffle: Muffle,
        is_muffled: Callable[[int], bool],
    ) -> None:
        self._modalities = modalities
        self._sensors, self._sources = sensors, sources
        self._muffle = muffle
        self.lines = MuffledLines()
        self._is_muffled = is_muffled
        self._index = SensorIndex(sensors)
        self.noise = BackgroundNoise(modalities)
        self.wind = Wind()
        self.fronts = SignalFronts(modalities, sensors)
        self._queue = SignalQueue()
        self.waiting: list[Signal] = []
        self._offered: OfferedStimuli | None = None
        self._arrived: deque[tuple[Signal, Arrival]] = deque()
        self.sent = 0

    def __len__(self) -> int:
        """Number of arrivals to come; of a slow signal, only those that its front has met."""
        self.settle()
        return len(self._queue) + len(self._arrived) + len(self.lines)

    def take(self, signal: Signal) -> None:
        """Send a signal, of the order ``sent``, to all sensors that it reaches as they stand now.

        Cost: O(1) here; offering it later O(sensors near it) if many are
        emitted while no sensor moves, else O(sensors).
        """
        self.sent += 1
        if self._modalities.all[signal.modality].is_slow:
            self.fronts.add(signal, self.wind.drift_m(signal.sent_at_s))
        else:
            self.waiting.append(signal)

    def touch(self, signal: Signal, sensor_id: int) -> None:
        """Send a signal to one sensor alone, at once and undiminished, if it senses such."""
        sensors, slot = self._sensors, self._sensors.ids.slot(sensor_id)
        is_strong = signal.strength >= sensors.threshold[slot, signal.modality]
        is_own = sensors.self_source[slot] == signal.source_id
        if is_strong and not is_own and int(sensors.detection_mask[slot]) & signal.affiliation:
            signal = signal._replace(order=self.sent)
            arrival = Arrival(signal.sent_at_s, int(sensor_id), 0.0, signal.strength, is_final=True)
            self._queue.send(signal, [arrival])
        self.sent += 1

    def offer(self) -> None:
        """Offer what waits to the sensors; call it before any sensor changes."""
        signals = self.waiting
        if not signals:
            return
        self.waiting, rows = [], self._sensors.ids.rows
        if len(signals) * rows <= MOST_AT_ONCE:
            self._send(signals, rows)
            return
        step = max(1, MOST_AT_ONCE // rows)
        for first in range(0, len(signals), step):
            self._send(signals[first : first + step], rows)

    def settle(self) -> None:
        """Offer what waits, and let each arrival be under way by itself; call it before any sensor is removed."""
        self.offer()
        offered, self._offered = self._offered, None
        for signal, arrivals in () if offered is None else offered.one_by_one(self._sensors):
            self._queue.send(signal, arrivals)

    def ask(self, most: int) -> int:
        """Ask what stands between for those whose turn it is, at most so many; return how many.

        Those that get through are under way then.
        """
        lines = self.lines.take(most)
        known = [one for one in lines if self._sensors.ids.knows(one.arrival.sensor_id)]
        for line, share in zip(known, self._muffle(known) if known else (), strict=True):
            intensity = line.arrival.intensity * share
            if self._is_heard(line.signal, self._sensors.ids.slot(line.arrival.sensor_id), intensity):
                self._queue.send(line.signal, [line.arrival._replace(intensity=intensity, kept=share)])
        return len(lines)

    def deliver(
        self, budget: Budget, now_s: float, notice_from: Callable[[StimulusBatch, int], int]
    ) -> bool:
        """Tell what is due; return False if the budget ended before all was told.

        What is emitted meanwhile waits for the next pass. A step is one arrival,
        or one slow signal whose front is followed.

        Args:
            budget: how much may be told.
            now_s: game time (s).
            notice_from: takes in signals from one on, as many as it likes, and returns which is next.
        """
        if self.waiting:
            self.offer()
        if not self._arrived:
            if self.fronts.fronts and not self.fronts.advance(budget, now_s, self.wind, self._met):
                return False
            if self._offered is None or not self._tell_at_once(self._offered, budget, now_s, notice_from):
                self.settle()
                self._arrived.extend(self._queue.pop_due(now_s))
        if not self._arrived:
            return True
        newest = self._newest_of_channels()
        while self._arrived:
            if budget.is_spent:
                return False
            most = ARRIVALS_ON_TIME if budget.stopwatch else int(min(ARRIVALS_AT_ONCE, budget.left))
            self._tell_some(min(len(self._arrived), most), budget, newest, now_s, notice_from)
        return True

    def _tell_some(
        self, most: int, budget: Budget, newest: dict[Channel, int], now_s: float,
        notice_from: Callable[[StimulusBatch, int], int],
    ) -> None:
        """Tell of the first that have arrived, until a listener changes sensors.

        One that nobody hears any more is a step in its turn, and looked at no earlier: with a
        budget that is spent before it, it is looked at in another frame, where its sensor is then.
        """
        some = [self._arrived.popleft() for _ in range(most)]
        changes, first, noise = self._sensors.changes, 0, self.noise if self.noise.all else None
        while first < most and changes == self._sensors.changes:
            if first and budget.is_spent:
                break
            told = arriving.heard_now(self._sensors, some, first, self._modalities.all, noise, newest, now_s)
            if told[0]:
                first += self._notice(StimulusBatch(*told, now_s), budget, notice_from)
            else:
                budget.spend()
                self._let_go(*some[first], newest, now_s)
                first += 1
        self._arrived.extendleft(reversed(some[first:]))

    def _tell_at_once(
        self, offered: OfferedStimuli, budget: Budget, now_s: float, notice_from: Callable[[StimulusBatch, int], int]
    ) -> bool:
        """Tell all that was offered together if it arrives now and nothing else does; return False if not so.

        Most sounds of a frame do, and are at nobody one by one then.
        """
        count = len(offered.reached[1])
        if not count or budget.is_spent or self._queue.next_due_s <= now_s:
            return False
        if self.noise.all:       # came after they were offered, and may drown what who has moved hears
            return False
        if count > ARRIVALS_AT_ONCE or not (budget.stopwatch or budget.is_unlimited or count <= budget.left):
            return False
        told = offered.heard(self._sensors, self._modalities.all, now_s)
        if told is None:
            return False
        self._offered = None
        first = self._notice(told.heard, budget, notice_from)
        if first < count:
            self._arrived.extendleft(reversed(offered.arrivals(told, first)))
        return True

    def _notice(self, heard: StimulusBatch, budget: Budget, notice_from: Callable[[StimulusBatch, int], int]) -> int:
        """Let signals be taken in, until a listener changes sensors or the budget ends; return which is next."""
        changes, first, end = self._sensors.changes, 0, len(heard.sensor_ids)
        while first < end and changes == self._sensors.changes:
            if first and budget.is_spent:
                break
            following = notice_from(heard, first)
            budget.spend(following - first)
            first = following
        return first

    def way(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return how a signal sent now would get from a source to a sensor, by their slots."""
        kind, place = self._modalities[number], self._sources.position[target]
        x, y, z = place.tolist()
        ahead = [there - here for there, here in zip((x, y, z), self._sensors.position[eye].tolist(), strict=True)]
        distance_m = math.hypot(*ahead)
        signal = Signal(0, NO_SOURCE, number, strength, (x, y, z), 0.0)
        sensor_id = int(self._sensors.ids.of_slots(np.array([eye]))[0])
        straight = Arrival(0.0, sensor_id, distance_m, strength)
        share, = self._muffle([PendingLine(signal, straight, (x, y, z), self._place_of(eye))])
        return ReachNumbers(distance_m, kind.kept_per_m**distance_m * share, (ahead[0], ahead[1], ahead[2]))

    def _send(self, signals: Sequence[Signal], rows: int) -> None:
        kinds = self._modalities.all
        is_indexed = rows >= LEAST_SENSORS and self._index.is_worth_it(len(signals))
        reached = (self._reached_by_index if is_indexed else signals_reached)(
            self._sensors, signals, kinds)
        if self._offered is not None:
            self.settle()
        offered = made_of(OfferedStimuli, (signals, kinds, reached))
        if not self.noise.all and not any(map(self._is_muffled, set(map(modality_of, signals)))):
            self._offered = offered
            return
        for signal, arrivals in offered.one_by_one(self._sensors):
            self._set_out(signal, signal.position, [(self._sensors.ids.slot(one.sensor_id), one) for one in arrivals])

    def _set_out(self, signal: Signal, start: Point, arrivals: Sequence[tuple[int, Arrival]]) -> None:
        """Let a signal travel to sensors, by slot; or wait until it is asked what stands between."""
        if self._is_muffled(signal.modality):
            self.lines.add(PendingLine(signal, arrival, start, self._place_of(slot)) for slot, arrival in arrivals)
        else:
            is_plain = not self.noise.all        # loud enough, as was found
            self._queue.send(signal, [
                arrival for slot, arrival in arrivals if is_plain or self._is_heard(signal, slot, arrival.intensity)])

    def _place_of(self, slot: int) -> Point:
        x, y, z = self._sensors.position[slot].tolist()
        return (x, y, z)

    def _reached_by_index(self, sensors: SensorTable, signals: Sequence[Signal], kinds: Sequence[Modality]) -> Reached:
        near = [self._index.near(one.position, kinds[one.modality].range_m) for one in signals]
        return signals_reached(sensors, signals, kinds, near)

    def _newest_of_channels(self) -> dict[Channel, int]:
        """Return by source, modality, channel and sensor the order of the latest signal that arrived."""
        newest: dict[Channel, int] = {}
        for signal, arrival in self._arrived:
            if signal.channel:
                key = (signal.source_id, signal.modality, signal.channel, arrival.sensor_id)
                newest[key] = max(signal.order, newest.get(key, 0))
        return newest

    def _met(self, signal: Signal, centre: Point, met: list[tuple[float, int, float, float]]) -> None:
        """Take in sensors that a slow signal's front has met: due (s), slot, distance (m), intensity."""
        ids = self._sensors.ids.of_slots(np.array([slot for _, slot, _, _ in met], np.intp)).tolist()
        self._set_out(signal, centre, [
            (slot, Arrival(due_s, one, distance, intensity, is_final=True))
            for (due_s, slot, distance, intensity), one in zip(met, ids, strict=True)
            if intensity >= self._sensors.threshold[slot, signal.modality]
        ])

    def _is_heard(self, signal: Signal, slot: int, intensity: float) -> bool:
        if intensity < self._sensors.threshold[slot, signal.modality]:
            return False
        if not self.noise.all:
            return True
        x, y, z = self._sensors.position[slot].tolist()
        return intensity >= self.noise.level_at(signal.modality, (x, y, z))

    def _from_where_it_is(self, signal: Signal, arrival: Arrival) -> Arrival | None:
        """Return what arrives at a sensor where it is now; None if nothing."""
        slot = self._sensors.ids.slot(arrival.sensor_id)
        distance = math.dist(self._sensors.position[slot].tolist(), signal.position)
        if abs(distance - arrival.distance_m) < MOVED_M:
            return arrival
        kind = self._modalities[signal.modality]
        intensity: float = signal.strength * kind.kept_per_m**distance * arrival.kept
        if distance > kind.range_m or not self._is_heard(signal, slot, intensity):
            return None
        due_s = signal.sent_at_s + distance * kind.delay_s_per_m
        return Arrival(due_s, arrival.sensor_id, distance, intensity, arrival.kept)

    def _let_go(self, signal: Signal, arrival: Arrival, newest: dict[Channel, int], now_s: float) -> None:
        """Forget what nobody hears; what comes later, as its sensor went away from it, is under way again."""
        if is_replaced(signal, arrival, newest) or not self._sensors.ids.knows(arrival.sensor_id):
            return
        again = None if arrival.is_final else self._from_where_it_is(signal, arrival)
        if again is not None and again.due_s > now_s:
            self._queue.send_again(signal, again)
