"""The minds of all sensors: who has something to take in, and in which order."""
from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Mapping

import ai_core.senses.percepts.heard_pairs as heard_pairs
from ai_core.budget import Budget
from ai_core.clock import Clock, TimeIndex
from ai_core.faults import FaultIsolation
from ai_core.senses.audience import SensationReceiver, StimulusBatch
from ai_core.senses.modality import ModalitySet
from ai_core.senses.percepts.busy_sensors import ActiveSensors
from ai_core.senses.percepts.due_moments import TimerQueue
from ai_core.senses.percepts.followed_pairs import PerceptTable
from ai_core.senses.percepts.heard_pairs import HeardPairs
from ai_core.senses.percepts.in_view import VisibleBatch, VisibleTarget
from ai_core.senses.percepts.perceiver import SensorMind
from ai_core.senses.percepts.reports import SensationDispatcher
from ai_core.senses.sensation import Sensation
from ai_core.senses.sight.continuous_sensing import ContinuousSensing
from ai_core.senses.source_table import SourceTable
from ai_core.trace import Trace

__all__ = ["PerceptionSystem"]

SENSORS_AT_ONCE = 512
"""Sensors for which is fetched together what shows itself (count).

Fewer pay NumPy's calls too often; more waste work when the budget ends soon, or
when a listener moves something.
"""


class PerceptionSystem:
    """One ``SensorMind`` per sensor; only those to which something happens are visited.

    As long as the same targets stay in view and no meter crosses a level,
    positions, moments and meters move on in arrays. A sensor is visited when
    what it senses changes, a level is crossed, or a target that is out of view
    is lost, expires, is forgotten or calmed down about. Likewise a signal by which
    nothing is gained and no level crossed is noted in a row of its own.

    Args:
        clock: game time.
        modalities: all senses.
        sources: where what is sensed is now.
        trace: told every sensation that a sensor is told.
        tell_every_s: time between two reports of what stays in view (s).
        audience: told what sensors sense in place of their ``on_sensed``, or None.
        faults: where an audience that raises is reported; None makes one that logs.
    """

    def __init__(
        self,
        clock: Clock,
        modalities: ModalitySet,
        sources: SourceTable,
        trace: Trace,
        tell_every_s: float,
        audience: SensationReceiver | None = None,
        faults: FaultIsolation | None = None,
    ) -> None:
        self._clock = clock
        self._all: dict[int, SensorMind] = {}
        self._modalities = modalities
        self._sources = sources
        self._trace = trace
        self._tell_every_s = tell_every_s
        self._reports = SensationDispatcher(self._all, trace, audience, clock, faults or FaultIsolation())
        self.audience_key = self._reports.audience_key
        self._busy = ActiveSensors()
        # Those of this pass, ascending, and how many of them it has come by.
        self._order: list[int] = []
        self._passed = 0
        self._followed = PerceptTable()
        self._heard = HeardPairs(self._all, self._followed)
        # Sensors to which something happens by time passing, and those disturbed in this view.
        self._visits: set[int] = set()
        self._disturbed: set[int] = set()
        self._dues = TimerQueue()
        self._passed_s = -math.inf
        self._is_anew = False

    def __getitem__(self, sensor_id: int) -> SensorMind:
        return self._all[sensor_id]

    @property
    def now(self) -> TimeIndex:
        """This moment."""
        return self._clock.now

    def add(self, perceiver: SensorMind) -> None:
        """Take in a new sensor's mind."""
        self._all[perceiver.sensor_id] = perceiver
        perceiver.home = self
        if perceiver.memory is not None:
            self._note(perceiver)
            for other in () if perceiver.owns_memory else self._all.values():
                if other.memory is perceiver.memory:
                    self.settle(other)
                    other.owns_memory = False
                    self.stop_following(other)

    def remove(self, sensor_id: int) -> None:
        """Let a sensor's mind go."""
        perceiver = self._all[sensor_id]
        self.settle(perceiver)
        self._forget(sensor_id)
        del self._all[sensor_id]
        perceiver.retire()

    def notice(self, sensation: Sensation) -> None:
        """Give a signal that arrived to its sensor."""
        now = self._clock.now
        perceiver = self._all[sensation.sensor_id]
        self._trace_of(sensation, now)
        if perceiver.is_mindless or self._heard.take_in(sensation, self._visits):
            perceiver.tell_sensed((sensation,), now)
            return
        meter = perceiver.notice(sensation, now)
        if self._all.get(perceiver.sensor_id) is perceiver:
            if self._followed.was_rediscovered(perceiver, sensation.source_id):
                self._drop(perceiver.sensor_id)
            elif meter is not None:
                self._followed.put_line(perceiver.sensor_id, meter)
            self._note(perceiver)
            self._heard.drop_pair(perceiver.sensor_id, sensation.source_id)

    def notice_from(self, heard: StimulusBatch, first: int) -> int:
        """Give signals that arrived to their sensors, from one on, as many as go together; return which is next."""
        reports, pairs, end = self._reports, self._heard, first
        if reports.audience is not None and not self._trace.sensed:
            visits = self._visits
            end = heard_pairs.take_in_all(pairs.rows, heard, first, visits, pairs.fresh, self._followed.rows)
            if end < len(heard.sensor_ids):
                end = pairs.take_in_all(heard, end, visits)
        if end > first:
            reports.tell_heard(heard, first, end)
            return end
        self.notice(heard.sensation(first))
        return first + 1

    def remember(self, budget: Budget, continuous: ContinuousSensing) -> bool:
        """Give all that shows itself to sensors, by ascending id, and let time pass.

        Returns False if the budget ended first. A step is one sensor.

        Cost: O(sensors with something in view) in NumPy, and a visit to each
            to which something happens; nothing for others.
        """
        if self._is_anew:
            self._load_dues(continuous)
        if self._passed >= len(self._order):
            self._passed_s = now_s = self._clock.now.seconds
            if self._dues.soonest_s > now_s and not (self._visits or self._busy.ids or continuous.has_pairs):
                self._order, self._passed = [], 0
                return True
            self._collect_due(now_s)
            self._order, self._passed = self._all_to_visit(continuous), 0
        while self._passed < len(self._order):
            if budget.is_spent:
                return False
            size = SENSORS_AT_ONCE if budget.stopwatch else int(min(SENSORS_AT_ONCE, budget.left))
            self._go_through(self._order[self._passed : self._passed + size], continuous, budget)
        return True

    @property
    def to_visit(self) -> list[int]:
        """Sensors that this pass has still to come to, ascending."""
        return self._order[self._passed :]

    @property
    def busy(self) -> list[int]:
        """Sensors with something in view, ascending."""
        return self._busy.ascending

    def put_all(self, perceivers: Mapping[int, SensorMind]) -> None:
        """Have these minds and no others, by the ids that they have after loading."""
        self._all.clear()
        self._all.update(perceivers)

    def put_pass(self, busy: Collection[int], to_visit: Collection[int]) -> None:
        """Go on with a pass as it was saved."""
        self._busy.replace(busy)
        self._order, self._passed = sorted(to_visit), 0

    def take_last_sensation(self, sensor_id: int) -> Sensation | None:
        """Return what a sensor was told without a visit since this was asked last; None if nothing."""
        return self._reports.take_last(sensor_id)

    def _all_to_visit(self, continuous: ContinuousSensing) -> list[int]:
        sensing, busy = continuous.sensing_ids(), self._busy.ascending
        if not self._visits and (sensing is busy or sensing == busy):       # as nearly always
            if sensing:
                self._busy.take_ascending(sensing)
            return sensing
        return self._busy.with_others(self._visits, sensing)

    def settle(self, perceiver: SensorMind) -> None:
        """Bring a perceiver's memory and meters up to date."""
        sensor_id = perceiver.sensor_id
        if sensor_id in self._followed.sensor_ids:
            self._settle_followed(perceiver)
        if self._heard.put_into_records(perceiver):
            self._note_due(perceiver)
        if sensor_id not in self._followed.sensor_ids and (
            sensor_id not in self._busy and sensor_id not in self._visits
            and perceiver.looked_s < self._passed_s < self._dues.of(sensor_id)
        ):
            perceiver.let_pass(self._passed_s)

    def _settle_followed(self, perceiver: SensorMind) -> None:
        first, end = self._followed.span(perceiver.sensor_id, perceiver.sensor_id)
        # Else it was looked at a moment ago.
        if end > first and (looked_s := float(self._followed.rows["at_s"][first])) > perceiver.looked_s:
            if self._heard.put_into_records(perceiver, until_s=looked_s):
                self._note_due(perceiver)
            self._followed.put_into_records(first, end, self._modalities)
            perceiver.let_pass(looked_s)

    def stop_following(self, perceiver: SensorMind) -> None:
        """Learn that somebody changed a perceiver's memory or meters: look at it anew."""
        if self._all.get(perceiver.sensor_id) is not perceiver:
            return
        self._heard.drop(perceiver.sensor_id)      # signals come before the first look after loading
        if not self._is_anew:
            self._drop(perceiver.sensor_id)
            self._disturbed.add(perceiver.sensor_id)
            self._note(perceiver)

    def reset(self) -> None:
        """Learn that a saved game was loaded."""
        self._followed.clear()
        self._busy.unfollow_all()
        self._heard.clear()
        self._reports.clear()
        self._visits.clear()
        self._dues.clear()
        self._passed_s = -math.inf
        self._is_anew = True

    def _load_dues(self, continuous: ContinuousSensing) -> None:
        self._is_anew = False
        if to_visit := self.to_visit:
            sensing = {one for one in continuous.sensing_ids() if one >= to_visit[0]}
            self._order, self._passed = sorted(sensing.union(to_visit)), 0
        for perceiver in self._all.values():
            self._note_due(perceiver)

    def _go_through(self, ids: list[int], continuous: ContinuousSensing, budget: Budget) -> None:
        """Visit sensors to which something happens, and let the others move on between."""
        now = self._clock.now
        view = self._view_of(ids, continuous, now.seconds)
        happens = self._visits.union(self._needing_a_look(view), self._busy.unfollowed)
        quiet, singly, together = self._reports.who(view, happens)
        turns = view.places_of(happens | singly)
        begun, end = 0, len(ids)
        while turns:
            place = heapq.heappop(turns)
            sensor_id = ids[place]
            is_visited = sensor_id in happens or self._needs_a_visit(sensor_id)
            if place < begun or not (is_visited or sensor_id in singly):
                continue
            disturbed = self._disturbed.copy()
            self._move_on(view, begun, place, budget, together)     # counted before it is asked, as in a replay
            begun = place
            if place and budget.is_spent:
                end = place
                break
            if view.is_true_at(self._clock.now.seconds):
                begun = place + 1
                if is_visited:
                    budget.spend()
                    self._passed += 1
                    self._visit(sensor_id, view.shown_to(place), continuous, now)
                else:
                    self._move_on(view, place, begun, budget, together)
                    told = self._told(sensor_id, view.told_to(place), continuous, now)
                    self._all[sensor_id].tell_sensed(told, now)
            if not view.is_true_at(self._clock.now.seconds):
                end = begun
                break
            for one in view.places_of(self._disturbed - disturbed):
                heapq.heappush(turns, one)
        self._move_on(view, begun, end, budget, together)
        self._reports.note_quiet(view, quiet, end)

    def _view_of(self, ids: list[int], continuous: ContinuousSensing, now_s: float) -> VisibleBatch:
        self._collect_due(now_s)
        self._followed.tidy()
        self._disturbed.clear()
        return VisibleBatch(continuous, self._modalities, self._sources, ids, now_s, self._tell_every_s)

    def _needs_a_visit(self, sensor_id: int) -> bool:
        return sensor_id in self._disturbed or sensor_id in self._busy.unfollowed

    def _needing_a_look(self, view: VisibleBatch) -> set[int]:
        first, end = self._followed.span(view.sensor_ids[0], view.sensor_ids[-1])
        return self._followed.dirty_sensors(
            first, end, view.keys, view.intensity, view.number, view.now_s)

    def _move_on(self, view: VisibleBatch, first: int, end: int, budget: Budget, told: set[int]) -> None:
        """Let sensors to which nothing happens go on as they are, and tell some of them what stays in view."""
        if end == first:
            return
        budget.spend(end - first)
        self._passed += end - first
        begun, ended = view.span(first, end)
        if ended > begun:
            row = int(self._followed.keys.searchsorted(view.keys[begun]))
            self._followed.move_on(
                row, row + ended - begun, view.intensity[begun:ended],
                view.position[begun:ended], view.now_s,
            )
        if told:
            self._reports.tell_together(view, first, end, told)

    def _visit(self, sensor_id: int, shown: list[VisibleTarget], continuous: ContinuousSensing, now: TimeIndex) -> None:
        self._visits.discard(sensor_id)
        perceiver = self._all.get(sensor_id)
        if perceiver is None:
            return
        told = self._told(sensor_id, shown, continuous, now)
        self.settle(perceiver)
        self._drop(sensor_id)
        self._heard.drop(sensor_id)
        self._disturbed.discard(sensor_id)
        perceiver.look(shown, told, now, self._sources.place_of)
        if self._all.get(sensor_id) is perceiver:
            self._follow(perceiver, shown, now.seconds)
            self._note(perceiver)

    def _follow(self, perceiver: SensorMind, shown: list[VisibleTarget], now_s: float) -> None:
        """Let what stays in view move on in arrays from now on, if it is simple enough."""
        sensor_id, memory = perceiver.sensor_id, perceiver.memory
        if sensor_id in self._disturbed or not perceiver.owns_memory:
            return
        if len(shown) > len(perceiver.in_view) or any(one.intensity <= 0 for one in shown):
            return
        if memory is not None and not perceiver.in_view.issuperset(memory.followed_freely(now_s)):
            return
        for one in shown:
            record = None if memory is None else memory.find(one.target)
            self._followed.add(
                sensor_id, one, now_s, record, perceiver.meters.get(one.target))

    def _drop(self, sensor_id: int) -> None:
        self._followed.drop(sensor_id)
        self._busy.unfollow(sensor_id)

    def _told(
        self, sensor_id: int, shown: list[VisibleTarget], continuous: ContinuousSensing,
        now: TimeIndex) -> list[Sensation]:
        """Return what a sensor is told of, and note that it was."""
        told, now_s = [], now.seconds
        for one in shown:
            if one.is_told:
                continuous.pairs[one.number].told_at_s[one.row] = now_s
                told.append(Sensation(
                    sensor_id, one.target, one.modality, one.intensity, one.position, now_s, now_s))
        for sensation in told:
            self._trace_of(sensation, now)
        return told

    def _trace_of(self, sensation: Sensation, now: TimeIndex) -> None:
        for hook in self._trace.sensed:
            hook(sensation.sensor_id, sensation.source_id, sensation.modality,
                 sensation.intensity, now)

    def _note(self, perceiver: SensorMind) -> None:
        """Note whether a sensor is to be looked at in each pass, and when else."""
        sensor_id = perceiver.sensor_id
        self._busy.note(
            sensor_id, is_busy=perceiver.needs_looks(self._clock.now.seconds),
            is_followed=sensor_id in self._followed.sensor_ids)
        self._note_due(perceiver)

    def _note_due(self, perceiver: SensorMind) -> None:
        due_s = perceiver.next_change_s()
        if due_s > self._clock.now.seconds:
            self._visits.discard(perceiver.sensor_id)
        self._dues.put(perceiver.sensor_id, due_s)

    def _collect_due(self, now_s: float) -> None:
        self._visits.update(self._dues.take(now_s, self._take_in_heard))

    def _take_in_heard(self, sensor_id: int) -> None:
        """Let a mind know what was noted of it: signals since may have put off what was to happen."""
        if self._heard.put_into_records(self._all[sensor_id], of_view=False):
            self._note_due(self._all[sensor_id])

    def _forget(self, sensor_id: int) -> None:
        self._followed.drop(sensor_id)
        self._heard.drop(sensor_id)
        self._disturbed.add(sensor_id)
        self._busy.note(sensor_id, is_busy=False, is_followed=False)
        self._reports.take_last(sensor_id)
        self._visits.discard(sensor_id)
        self._dues.forget(sensor_id)
