"""Sounds and smells: signals that are emitted, travel, and are sensed once.

A signal waits until the next advance. There it meets the sensors that it reaches: at once, or, if it is
slow, as its front comes to them. Each sensor that it meets is an arrival in one ``ArrivalQueue``, which
waits for the occlusion where its modality is muffled, is under way until it is due, waits for delivery,
is measured where its sensor is by then, and is delivered.
"""
from __future__ import annotations

import logging
import math
from collections.abc import Callable, Hashable
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.budget import Budget
from ai_core.errors import LARGEST, check_type, finite_number, point, shown
from ai_core.saving.declared_state import DeclaredState, Part, Refuse, Saveable
from ai_core.saving.fields import State, checked_dict, place_in, refuse
from ai_core.saving.kinds import (
    Columns,
    Flag,
    Kind,
    ListOf,
    Named,
    Number,
    Optional,
    Point,
    Record,
    Seconds,
    Text,
    Whole,
)
from ai_core.senses.id_table import LARGEST_ID, SLOT_MASK
from ai_core.senses.modality import ModalitySet
from ai_core.senses.sensation import Hear, ReachNumbers, Signal
from ai_core.senses.sensation import Point as Place
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.source_table import ALL_AFFILIATIONS, PLAIN, SourceTable
from ai_core.senses.stimuli.air import BackgroundNoise, Wind
from ai_core.senses.stimuli.arrival_loops import LATEST_S, MOST_ARRIVALS, Arrival, ArrivalQueue
from ai_core.senses.stimuli.muffling import Between

__all__ = ["MOST_AT_ONCE", "SIGNAL", "EmittedSignals", "Muffle", "StimulusFront"]

MOST_AT_ONCE = 512
"""Lines queried between two checks of the budget (count), about 0.2 ms; and pairs of which all are asked at once."""

ARRIVALS_AT_ONCE = 1024
"""Arrivals delivered together (count): more make listeners wait for one another, fewer cost more calls."""

ARRIVALS_ON_TIME, SEEN_ON_TIME = 16, 128
"""The same between two queries of a budget of time (count), and those that join the line for delivery, or are dropped
as too late, before them: about 50 µs each."""

WORK_AT_ONCE = 512
"""Arrivals that may begin in an advance, and signals that wait unmerged (count), 0.3 ms.

Signals above it wait for their share of the budget, and reach sensors as they stand by then.
"""

MOST_WAITING = 4096
"""Signals that wait at a time (count), 1 MB; then the oldest is dropped. Reached only if advance is never
called, or if each sound has a tag of its own.
"""

SENSORS_LIKE_AN_ARRIVAL = 256
"""Sensors whose test takes as long as an arrival (count)."""

STRONG_ENOUGH = 1e300
"""An intensity above every threshold, to find all sensors that a front has passed (no unit)."""

Muffle = Callable[[int, "NDArray[np.float32]", "NDArray[np.float32]", "NDArray[np.int32]"], "list[float]"]
"""Returns the share of a modality, by its number, that passes the obstacles on lines: from, to, sensor ids."""

SIGNAL = Record(
    Signal, order=Whole(), source_id=Whole(maximum=LARGEST_ID),
    modality=Named(lambda owner: owner._modalities.numbers, "modality"), strength=Number(0), position=Point(3),
    sent_at_s=Seconds(), affiliation=Whole(maximum=ALL_AFFILIATIONS),
    tag=Text(), channel=Text())
"""How a signal is saved, by an owner with ``_modalities``."""


class Arrivals(Kind):
    """A list of ``Arrival``, saved by such an owner as a table: each signal once, and of each arrival its number."""

    SIGNALS = ListOf(SIGNAL)
    POSITIVES = ListOf(Number(0))
    NUMBERS = ListOf(Number())
    COLUMNS = Columns(
        signal=ListOf(Whole()), sensor_id=ListOf(Whole(maximum=LARGEST_ID)), line=ListOf(Whole(maximum=2)),
        due_s=ListOf(Seconds()), leg_m=POSITIVES, before=POSITIVES, intensity=POSITIVES, reach_m=POSITIVES,
        x=NUMBERS, y=NUMBERS, z=NUMBERS, since_s=ListOf(Seconds()), is_final=ListOf(Flag()))

    def save(self, value: Any, owner: Any) -> State:
        """Return the signals and the columns."""
        numbers: dict[Signal, int] = {}
        columns = {name: [*map(attrgetter(name), value)] for name in self.COLUMNS.columns}
        columns["signal"] = [numbers.setdefault(one, len(numbers)) for one in columns["signal"]]
        return {"signals": self.SIGNALS.save([*numbers], owner), **self.COLUMNS.save(columns, owner)}

    def read(self, plain: Any, place: str, owner: Any) -> list[Any]:
        """Return the arrivals."""
        columns = {**checked_dict(place, plain)}
        signals = self.SIGNALS.read(columns.pop("signals", None), place_in(place, "signals"), owner)
        table = self.COLUMNS.read(columns, place, owner)
        if {*table["signal"]} != {*range(len(signals))}:
            refuse(place_in(place, "signal"), f"must hold all numbers below {len(signals)}, those of its signals")
        arrivals = [
            Arrival(signals[number], sensor_id)
            for number, sensor_id in zip(table.pop("signal"), table.pop("sensor_id"), strict=True)]
        for name, column in table.items():
            for one, value in zip(arrivals, column, strict=True):
                setattr(one, name, value)
        return arrivals


class StimulusFront(NamedTuple):
    """The front of a slow signal: it grows, drifts with the wind, and meets sensors at their present positions.

    Attributes:
        signal: the signal.
        drift_m: how far the air had drifted when it was emitted (m).
        met: ids of the sensors that it has met.
    """

    signal: Signal
    drift_m: Place
    met: set[int]


class EmittedSignals(Saveable):
    """Carries signals to sensors, on straight lines.

    Attributes:
        sent: signals emitted so far (count).
        queue: all arrivals to come.
        waiting: signals that have not begun, by order; by kind while ``is_behind``.
        occlusion: see ``RegionalSenseManager``; while it is None, no signal waits for it.
        is_behind: whether signals wait for the budget because those before them were not delivered yet.
        quiet_at: equal to ``sent`` only if nothing is under way, so that ``advance`` would do nothing.
        sent_before: signals from this order on wait for the next advance; None once it has begun.
        rays_left: most rays for what muffles in this advance (count).
        waves: signals that meet sensors as they travel, ``StimulusFront`` in this class.
    """

    STATE = DeclaredState(
        sent=Whole(),
        quiet_at=Whole(-1),
        arrivals=Arrivals(at="queue.all"),
        merged=Whole(at="queue.merged"),
        dropped=Whole(at="queue.dropped"),
        given_up=Whole(at="queue.given_up"),
        is_behind=Flag(),
        held=ListOf(SIGNAL),
        is_delivered=Flag(at="_is_delivered"),
        begun_before=Optional(Whole(), at="_begun_before"),
        waves=ListOf(Record(
            StimulusFront, signal=SIGNAL, drift_m=Point(3), met=ListOf(Whole(maximum=LARGEST_ID), make=set))),
        followed=Whole(),
        pass_s=Optional(Seconds(), at="_pass_s"),
        noise=Part(),
        wind=Part(),
    )

    def __init__(
        self, modalities: ModalitySet, sensors: SensorTable, sources: SourceTable, muffle: Muffle,
        occlusion: Between | None,
    ) -> None:
        self._modalities = modalities
        self._sensors, self._sources = sensors, sources
        self._muffle, self.occlusion = muffle, occlusion
        self.noise, self.wind = BackgroundNoise(modalities), Wind()
        self.queue = ArrivalQueue()
        self.waiting: dict[Hashable, Signal] = {}
        self.is_behind = False
        self.waves: list[Any] = []
        self.followed = 0                       # of the waves, in this pass
        self.sent = 0
        self.quiet_at = 0
        self.sent_before: int | None = None
        self.rays_left = 0
        self._begun_up_to = 0                   # in this advance
        self._begun_before: int | None = None   # the order of the first that this pass leaves to the next
        self._pass_s: float | None = None       # when the pass of deliveries began; None between passes
        self._is_delivered = True               # all that was due in the last advance
        self._has_warned = False
        # Returns the share kept per metre at a sensor, by number of the modality and slot; None for the modality's.
        self._kept_at: Callable[[int, int], float] | None = None

    @property
    def has_work(self) -> bool:
        """Whether a signal is under way."""
        queue = self.queue
        return bool(self.waiting or queue.under_way or queue.arrived or queue.awaiting_occlusion or self.waves)

    @property
    def lacks_rays(self) -> bool:
        """Whether signals wait because those before them lack rays; in the queue each arrival waits by itself."""
        return False

    @property
    def lines_waiting(self) -> int:
        """How many lines wait for the occlusion."""
        return len(self.queue.awaiting_occlusion)

    def statistics(self) -> dict[str, float]:
        """Return counts by name, as ``RegionalSenseManager.statistics`` explains them."""
        queue = self.queue
        return {
            "arrivals_under_way": len(queue), "arrivals_given_up": queue.given_up,
            "stimuli_waiting": len(self.waiting), "stimuli_merged": queue.merged,
            "stimuli_dropped": queue.dropped, "waves_spreading": len(self.waves)}

    def take(self, signal: Signal) -> None:
        """Send a signal, of the order ``sent``, to all sensors that it reaches as they stand in the next advance.

        While earlier signals have not been delivered, it merges with a waiting signal of its kind.

        Cost: O(1) here; in the advance O(sensors), below 1 ns for a sensor far away.
        """
        self.sent += 1
        if self.is_behind:
            self._hold(signal)
            return
        self.waiting[signal.order] = signal
        if len(self.waiting) > WORK_AT_ONCE:
            signals, self.waiting = self.waiting.values(), {}
            for one in signals:
                self._hold(one)

    def emit(
        self, source_id: int, modality_name: str, strength: float | None, position: ArrayLike | None, tag: str | None,
        channel: str, now_s: float,
    ) -> None:
        """Send a signal of a source; see ``RegionalSenseManager.emit``."""
        modalities = self._modalities
        number = modalities.numbers.get(modality_name) if type(modality_name) is str else None
        if number is None:
            number = modalities.number(modality_name)
        if modalities.all[number].is_continuous:
            raise ValueError(
                f"modality_name must be an emitted modality, got {shown(modality_name)}, which is"
                " continuous; change the strength of the source in that modality instead")
        self.take(self._signal(source_id, number, strength, position, tag, channel, now_s))

    def touch(
        self, sensor_id: int, source_id: int, modality_name: str, strength: float, position: ArrayLike | None,
        tag: str | None, now_s: float,
    ) -> None:
        """Send a signal to one sensor only, at once and at full strength, if its threshold is not above it."""
        sensors, slot, number = self._sensors, self._sensors.ids.slot(sensor_id), self._modalities.number(modality_name)
        signal = self._signal(source_id, number, strength, position, tag, "", now_s)
        is_detected = int(sensors.detection_mask[slot]) & signal.affiliation and sensors.self_source[slot] != source_id
        if is_detected and signal.strength >= sensors.threshold[slot, number]:
            columns = [slot], [0.0], [0.0], [signal.strength], [signal.strength]
            self.queue.add(sensors, signal, self._modalities[number], columns, signal.position, is_final=True)
        self.sent += 1

    def advance(self, budget: Budget, now_s: float, hear: Hear) -> bool:
        """Begin signals, follow waves, query what muffles, and deliver what is due; return False if the budget ended.

        Set ``sent_before`` and ``rays_left`` before the first call in an advance of the manager. A step is a signal,
        a wave, in a graph a passage, a ray, or an arrival.
        """
        if self.sent_before is not None:
            self._begun_up_to, self.sent_before = self.sent_before, None
            self._begin_advance(budget, now_s)
        if self.quiet_at == self.sent:
            return True
        if self._pass_s is None:
            if (self.waiting or self.waves) and not self._follow(budget, now_s):
                return False
            self._pass_s = now_s
        waiting = self.queue.awaiting_occlusion
        while waiting and self.rays_left and not budget.is_spent:
            asked = self._query_occlusion(min(self.rays_left, MOST_AT_ONCE), now_s)
            budget.spend(asked)
            self.rays_left -= asked
        return self._deliver(budget, now_s, self._pass_s, hear)

    def _begin_advance(self, budget: Budget, now_s: float) -> None:
        """Begin waiting signals, and drop those that have waited for too long.

        Signals beyond ``WORK_AT_ONCE`` wait for the budget, all of them if it is one of time: see ``_follow``.
        """
        if self._is_delivered and not self.is_behind and not self.has_work:
            self.quiet_at = self.sent
            return
        self.quiet_at = -1
        queue = self.queue
        if queue.arrived or queue.awaiting_occlusion:
            queue.begin_advance()
        was_behind, self.is_behind = self.is_behind, not self._is_delivered or self.lacks_rays
        for kind in [kind for kind, one in self.waiting.items() if now_s - one.sent_at_s > LATEST_S] if (
                was_behind) else ():
            queue.dropped += 1
            del self.waiting[kind]
        if not (was_behind and self.is_behind):     # else they wait by kind already
            self._begin_waiting(WORK_AT_ONCE if budget.is_unlimited or budget.charges_runs else 0)
        self._is_delivered = not self.has_work
        if not self._has_warned and (queue.merged or queue.dropped):
            self._has_warned = True
            logging.getLogger("ai_core").warning(
                "signals are emitted faster than the budget of the senses lets them be delivered: those of one source"
                " and channel are merged, those that would be delivered %s s late are dropped; statistics() counts"
                " stimuli_merged and stimuli_dropped", LATEST_S)

    def _begin_waiting(self, most: int) -> None:
        """Begin waiting signals until their work is ``most``; while ``is_behind``, merge those of a kind instead."""
        signals, self.waiting = self.waiting.values(), {}
        work = 0
        for signal in signals:
            if self.is_behind:
                self._hold(signal)
            elif work >= most or signal.order >= self._begun_up_to:
                self.waiting[signal.order] = signal
            else:
                work += self._begin(signal)

    def _follow(self, budget: Budget, now_s: float) -> bool:
        """Begin signals that waited for the budget, and let waves meet sensors; return False if the budget ended first.

        A signal that is emitted again after the pass began waits for the next, so every pass has an end.

        Cost: O(waves * sensors), of which little for sensors far away.
        """
        if self._begun_before is None:
            self._begun_before = self._begun_up_to
        work = 0
        for kind, signal in list(self.waiting.items()):
            if signal.order < self._begun_before and self._may_begin(signal) and (
                    work < WORK_AT_ONCE or budget.is_unlimited):
                if budget.is_spent:
                    return False
                budget.spend()
                del self.waiting[kind]
                work += self._begin(signal)
        while self.followed < len(self.waves):
            if budget.is_spent:
                return False
            if self._advance_wave(self.waves[self.followed], budget, now_s):
                if self._is_over(self.waves[self.followed], now_s):
                    del self.waves[self.followed]
                else:
                    self.followed += 1
        self.followed, self._begun_before = 0, None
        return True

    def _query_occlusion(self, most: int, now_s: float) -> int:
        """Query the occlusion of the first arrivals in line, at most ``most``; return their number.

        Turns go by order of emission, for one signal the nearest sensor first.
        """
        taken = self.queue.take_for_occlusion(most, now_s)
        by_modality: dict[int, list[int]] = {}
        for place, one in enumerate(taken):
            if self._sensors.ids.knows(one.sensor_id):
                by_modality.setdefault(one.signal.modality, []).append(place)
        shares: list[float | None] = [None] * len(taken)
        for number, places in sorted(by_modality.items()):
            ids = np.array([taken[place].sensor_id for place in places], np.int32)
            start = np.array([(taken[place].x, taken[place].y, taken[place].z) for place in places], np.float32)
            end = np.ascontiguousarray(self._sensors.position[ids & SLOT_MASK])
            for place, share in zip(places, self._muffle(number, start, end, ids), strict=True):
                shares[place] = share
        self.queue.put_occluded(taken, shares)
        return len(taken)

    def _deliver(self, budget: Budget, now_s: float, pass_s: float, hear: Hear) -> bool:
        """Deliver due arrivals; return False if the budget ended before those that were due when the pass began (s).

        Signals that were emitted in this advance wait for the next.
        """
        queue, is_unlimited, noise = self.queue, budget.is_unlimited, self.noise if self.noise.all else None
        if not is_unlimited and budget.is_spent:
            return False            # what arrived may have been delivered already: that is not known anew
        if not queue.arrived and not (queue.under_way and queue.under_way[0].due_s <= now_s):
            self._is_delivered, self._pass_s = True, None       # nothing is due
            return True
        self._is_delivered = False
        seen = MOST_ARRIVALS if is_unlimited or budget.charges_runs else SEEN_ON_TIME
        while not self._is_delivered and (is_unlimited or not budget.is_spent):
            most = ARRIVALS_AT_ONCE if is_unlimited else min(ARRIVALS_AT_ONCE, budget.steps_at_once(ARRIVALS_ON_TIME))
            taken, heard = queue.take_arrived(
                most, seen, self._begun_up_to, self._sensors, self._modalities.all, noise, self._kept_at, now_s)
            if not is_unlimited:
                budget.spend(taken)
            self._is_delivered = not (queue.arrived or queue.has_more)
            if heard:
                hear(heard, budget)
        if not self._is_delivered and (not queue.arrived or queue.first_since_s <= pass_s):
            return False
        self._pass_s = None
        return True

    def reach_of(self, number: int, eye: int, target: int, strength: float) -> ReachNumbers | None:
        """Return the path of a signal emitted now from a source to a sensor, by their slots."""
        kind, start, end = self._modalities[number], self._sources.position[target], self._sensors.position[eye]
        ahead = [there - here for there, here in zip(start.tolist(), end.tolist(), strict=True)]
        distance_m = math.hypot(*ahead)
        lines = start[np.newaxis], np.ascontiguousarray(end)[np.newaxis]
        share, = self._muffle(number, *lines, self._sensors.ids.by_slot[[eye]])
        return ReachNumbers(distance_m, kind.kept_per_m**distance_m * share, (ahead[0], ahead[1], ahead[2]))

    def _signal(
        self, source_id: int, number: int, strength: float | None, position: ArrayLike | None, tag: str | None,
        channel: str, now_s: float,
    ) -> Signal:
        """Return a signal of a source; everything is checked. Its place is rounded as places of sensors are."""
        sources, ids = self._sources, self._sources.ids
        slot = source_id & SLOT_MASK if type(source_id) is int and source_id in ids.names else ids.slot(source_id)
        if strength is not None:
            if type(strength) is not float or not 0 <= strength <= LARGEST:
                strength = finite_number("strength", strength, minimum=0)
        elif (strength := float(sources.strength[slot, number])) < 0:
            raise ValueError(
                f"strength must be a number, got None: source {source_id} has no strength"
                f" in {self._modalities[number].name!r}")
        tag = sources.details.get(source_id, PLAIN).tag if tag is None else tag
        if type(tag) is not str or type(channel) is not str:
            check_type("tag", tag, str)
            check_type("channel", channel, str)
        place = tuple(sources.position[slot].tolist()) if position is None else self.queue.rounded(position)
        if place is None:
            place = tuple(point("position", position).tolist())
        return tuple.__new__(Signal, (      # hundreds in a frame: without arguments to sort out
            self.sent, int(source_id), number, strength, place, now_s, int(sources.affiliation[slot]), tag, channel))

    def _hold(self, signal: Signal) -> None:
        """Let a signal wait for the budget, or merge with a waiting signal of its source and channel."""
        self.is_behind = True
        kind = signal.source_id, signal.modality, signal.channel, "" if signal.channel else signal.tag
        earlier = self.waiting.get(kind)
        if earlier is not None:
            self.queue.merged += 1
            signal = signal._replace(strength=max(signal.strength, earlier.strength))
        elif len(self.waiting) >= MOST_WAITING:
            self.queue.dropped += 1
            del self.waiting[next(iter(self.waiting))]
        self.waiting[kind] = signal

    def _may_begin(self, signal: Signal) -> bool:
        """Return whether a signal that waited may begin in this pass."""
        return True

    def _begin(self, signal: Signal) -> int:
        """Begin a signal: as a front if it is slow, else at all sensors in reach; return its work (arrivals)."""
        sensors, kinds, number = self._sensors, self._modalities.all, signal.modality
        if kinds[number].is_slow:
            self.waves.append(StimulusFront(signal, self.wind.drift_m(signal.sent_at_s), set()))
            return 1
        slots, distances, intensities = sensors.loops.sensors_reached(sensors, signal, kinds[number])
        count = len(slots)
        if count:
            self.queue.add(
                sensors, signal, kinds[number], (slots, distances, distances, [signal.strength] * count, intensities),
                signal.position, math.inf, False, self.occlusion is not None and kinds[number].is_muffled)
        return count + 1 + sensors.ids.rows // SENSORS_LIKE_AN_ARRIVAL

    def _advance_wave(self, front: Any, budget: Budget, now_s: float) -> bool:
        """Let a ``StimulusFront`` meet sensors; return True: it has come as far as it may by now."""
        budget.spend()
        signal, kind, sensors = front.signal, self._modalities[front.signal.modality], self._sensors
        # Exact in float32, as the loops need it.
        x, y, z = np.array([
            at + now - then
            for at, now, then in zip(signal.position, self.wind.drift_m(now_s), front.drift_m, strict=True)
        ], np.float32).tolist()
        # Every sensor that it has passed, however faint.
        within = SimpleNamespace(range_m=min(self._radius_m(front.signal, now_s), kind.range_m), kept_per_m=1.0)
        everywhere = signal._replace(position=(x, y, z), strength=STRONG_ENOUGH)
        slots, distances, _ = sensors.loops.sensors_reached(sensors, everywhere, within)
        found: list[tuple[int, float, float, float, float]] = []
        for slot, sensor_id, distance in zip(slots, sensors.ids.by_slot[slots].tolist(), distances, strict=True):
            if sensor_id not in front.met:
                front.met.add(sensor_id)
                intensity = signal.strength * kind.kept_per_m**distance
                if intensity >= sensors.threshold[slot, signal.modality]:
                    found.append((slot, distance, distance, signal.strength, intensity))
        if found:
            self.queue.add(
                sensors, signal, kind, tuple(map(list, zip(*found, strict=True))), (x, y, z), now_s, True,
                self.occlusion is not None and kind.is_muffled)
        return True

    def _is_over(self, front: Any, now_s: float) -> bool:
        """Return whether a front has met all sensors that it can meet."""
        return self._radius_m(front.signal, now_s) >= self._modalities[front.signal.modality].range_m

    def _radius_m(self, signal: Signal, now_s: float) -> float:
        """Return how far a slow signal has come (m)."""
        return max(0.0, now_s - signal.sent_at_s) / self._modalities[signal.modality].delay_s_per_m

    # Saving.

    @property
    def held(self) -> list[Signal]:
        """Signals that have not begun, for a save."""
        return list(self.waiting.values())

    @held.setter
    def held(self, signals: list[Signal]) -> None:
        self.waiting = {}
        for signal in signals:
            if self.is_behind:
                self._hold(signal)
            else:
                self.waiting[signal.order] = signal

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        has_work = bool(values.arrivals or values.held or values.waves)
        if values.quiet_at > values.sent - has_work:
            values.quiet_at = -1        # or nothing would be delivered until more signals are sent
        carriers = ("arrivals", values.arrivals), ("waves", values.waves)
        for name, signals in ("held", values.held), *((name, [one.signal for one in some]) for name, some in carriers):
            if any(one.order >= values.sent for one in signals):
                refuse(name, f"must hold signals of orders below {values.sent}, the number of signals sent")
            if any(one.sent_at_s > values.within.now.seconds for one in signals):
                refuse(name, f"must hold no signals sent after {values.within.now.seconds:g} s, the time of the save")
        self._check_waves(values, refuse)

    def _check_waves(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if any(not self._modalities[one.signal.modality].is_slow for one in values.waves):
            refuse("waves", "must hold signals of slow modalities")

    def _finish_load(self) -> None:
        self.followed = min(self.followed, len(self.waves))
