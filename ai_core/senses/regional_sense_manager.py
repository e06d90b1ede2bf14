"""The regional sense manager: every signal reaches as far as its modality carries.

Three phases, as in the source: aggregation (which sensors are in reach), testing
(threshold, affiliation, cone, line of sight) and notification (on arrival).
Walls block sight. They muffle sounds and smells by the share that ``occlusion`` returns.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ai_core.budget import Budget, check_budget
from ai_core.clock import Clock, checked_clock
from ai_core.errors import check_callables, check_kind, finite_number, point, whole_number
from ai_core.faults import FaultIsolation, given_faults
from ai_core.senses.asking import SenseQueries
from ai_core.senses.audience import SensationReceiver
from ai_core.senses.clues import MOST_CLUES, Clues
from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.percepts.perception import Perception
from ai_core.senses.percepts.temporary_sensitivity import TemporarySensitivity
from ai_core.senses.scent.scent_trails import ScentTrails, TrailSmelling
from ai_core.senses.sense_state import SaveableSenses
from ai_core.senses.sensor_keeping import SensorRegistry
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.camouflage import Background, Camouflage
from ai_core.senses.sight.continuous_sensing import ContinuousSensing, LineOfSight
from ai_core.senses.sight.question import LineQuery
from ai_core.senses.sight.visibility import Visibility
from ai_core.senses.source_keeping import SourceRegistry
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stage_shares import Stage, StageShares
from ai_core.senses.stimuli.emitted_signals import EmittedSignals
from ai_core.senses.stimuli.muffling import Between, checked_shares
from ai_core.senses.stimuli.signalling import StimulusEmitter
from ai_core.trace import Trace, given_trace

__all__ = ["RegionalSenseManager"]

MAXIMUM_RAYS = 256
"""Default of the most lines of sight per advance (count), about 0.1 ms of rays.

Higher values notice sooner and cost more in every frame; with p pairs in view a new
pair is queried after ceil(p / maximum_rays) advances at the latest.
"""

RAYS_AT_ONCE = 512
"""Lines of sight queried between two checks of the budget (count), about 0.2 ms.

Higher values overrun a small budget further; lower ones pay NumPy's call overhead too often.
"""

TELL_EVERY_S = 0.25
"""Time between two reports of a source that stays in view (s).

Memory follows the source at every look; this only limits the callbacks.
"""


LEAST_FOR_STAGES = 0.25
"""Share of a budget of time that signals and sight have in any case, however long the pass over percepts takes.

More overruns a small budget further in a crowd; less lets signals and sight wait there for longer.
"""

PASSES_LEARNED = 32
"""Passes after which a shorter pass over percepts is believed (count), half a second of frames."""


class RegionalSenseManager(SensorRegistry, SourceRegistry, StimulusEmitter, SenseQueries, SaveableSenses):
    """Reports to sensors the sources that they sense, in any modality.

    Sensations are reported in the order of arrival, ties by sensor id, then by order of
    emission. A signal begins in the advance after its emission with the sensors in reach then,
    and is measured at the sensor again when it arrives: a sensor that moves away hears it later
    and fainter, or not at all; a sensor that moves closer is notified at the time first computed.
    For slow signals the front is simulated instead. A signal emitted during an advance is
    delivered in the next advance at the earliest.

    Args:
        clock: game time.
        line_of_sight: called at most once per advance, or None: nothing blocks sight.
        modalities: senses of this world; None for sight and hearing.
        maximum_rays: most lines of sight per advance, those of ``occlusion`` included; 1 or more.
        tell_every_s: see ``TELL_EVERY_S`` (s); 0 reports every look.
        up: (3,) up direction for sight cones; (0, 0, 1) in a 2D world.
        occlusion: share of a sound or smell that passes the obstacles on a line, or None: all
            of it. Called with many lines at once, at most half of ``maximum_rays`` per advance.
            Remaining signals arrive later, or are dropped ``LATEST_S`` after they were due:
            ``arrivals_given_up``.
        background: what is behind visible targets, or None. With it, patterns and silhouettes
            count; it doubles the rays.
        camouflage: visibility of patterns in front of others, or None.
        scent_trails: marks left by sources that have a strength in its modality, smelled by
            sensors that have a threshold for it; None for no trails.
        maximum_clues: most clues at a time; 1 or more.
        audience: receives sensations in batches, in place of each sensor's ``on_sensed``; see
            ``SensationReceiver``. Sensations are reported separately only while the trace listens.
        faults: where listeners that raise are reported; None logs them.
        trace: receives every sensation that a sensor receives.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or ``up`` is the zero vector.

    Source: 001_world_interfacing, regional sense manager.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        line_of_sight: LineOfSight | None = None,
        modalities: Iterable[Modality] | None = None,
        maximum_rays: int = MAXIMUM_RAYS,
        tell_every_s: float = TELL_EVERY_S,
        up: Sequence[float] = (0.0, 1.0, 0.0),
        occlusion: Between | None = None,
        background: Background | None = None,
        camouflage: Camouflage | None = None,
        scent_trails: ScentTrails | None = None,
        maximum_clues: int = MOST_CLUES,
        audience: SensationReceiver | None = None,
        faults: FaultIsolation | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.line_of_sight, self.occlusion = line_of_sight, occlusion
        self.maximum_rays = whole_number("maximum_rays", maximum_rays, minimum=1)
        self.clock, upward = checked_clock(clock), _upward(up)
        check_kind("camouflage", camouflage, Camouflage)
        check_callables(line_of_sight=line_of_sight, occlusion=occlusion, background=background)
        self._modalities = ModalitySet(
            (Modality.sight(), Modality.hearing()) if modalities is None else modalities)
        self.faults = given_faults(faults)
        self._sensors = SensorTable(self._modalities)
        self._sources = SourceTable(self._modalities, camouflage, has_backdrops=bool(background))
        self._perception = Perception(
            clock, self._modalities, self._sources, given_trace(trace),
            finite_number("tell_every_s", tell_every_s, minimum=0), audience, self.faults)
        self._continuous = ContinuousSensing(self._modalities, self._sensors, self._sources, upward)
        self._visibility = Visibility(
            self._modalities, self._sensors, self._sources, upward, background)
        self._emitted = EmittedSignals(self._modalities, self._sensors, self._sources, self._kept, self._is_muffled)
        self._sensitivity, self._clues = TemporarySensitivity(self._modalities), Clues(maximum_clues)
        self._smelling = None if scent_trails is None else TrailSmelling(
            scent_trails, self._modalities, self._sensors, self._sources, self._perception)
        self._rays_asked, self._is_advancing = 0, False
        self._pass_us = 0.0     # what the pass over percepts is expected to take
        self._shares = StageShares(self._signal_stages(), (self._look, self._ask))

    def _signal_stages(self) -> tuple[Stage, ...]:
        stages = (self._follow, self._listen, self._deliver)
        return stages if self._smelling is None else (*stages, self._smell)

    def change_modality(
        self, name: str, *, range_m: float | None = None, kept_per_m: float | None = None
    ) -> None:
        """Change how signals of a modality travel from now on: fog, haze, rain, clear air.

        Args:
            name: name of the modality.
            range_m: its range (m), or None to keep it.
            kept_per_m: share kept per metre, or None to keep it.

        Raises:
            TypeError, ValueError: as ``Modality``; then nothing is changed.
            UnknownNameError: if the modality is unknown.
        """
        number = self._modalities.number(name)
        before = self._modalities[number]
        changed = replace(
            before,
            range_m=before.range_m if range_m is None else range_m,
            kept_per_m=before.kept_per_m if kept_per_m is None else kept_per_m,
        )
        self._modalities.replace(number, changed)
        self._continuous.travel_changed(number)

    def _changed_modalities(self) -> dict[str, dict[str, float]]:
        """Return range and share kept per metre of modalities that are not as they were made."""
        return {
            now.name: {"range_m": now.range_m, "kept_per_m": now.kept_per_m}
            for number, first in enumerate(self._modalities.at_first)
            if (now := self._modalities[number]) != first
        }

    def advance(self, budget: Budget) -> None:
        """Deliver due signals, update sight, and advance memory and awareness.

        There are two kinds of stages: signals (begin and follow them, ask what muffles, deliver
        what is due, follow trails), and sight and touch (find sources in reach, query lines of sight in one
        batch). Each stage runs at most once. Each kind gets half of the budget when both have work, and what
        the other leaves; a stage in which the budget ends continues in the next advance, so no stage starves.
        A step is a signal at a sensor, the front of a slow signal, a looking sensor, a ray, or a sensor that
        smells. Then memory and awareness of all sensors advance, whatever the budget: in one pass of some
        50 ns a percept, for which a budget of time keeps up to three quarters. The overrun is at most one
        block of sensors, or 512 rays, and what the pass takes more than that.

        Signals that are emitted faster than the budget lets them be told are merged, those of one
        source and channel (without a channel: of one tag) at one sensor; what is told more than
        ``LATEST_S``, 2 s, too late is dropped. The log warns of both once, ``statistics`` counts them.

        Raises:
            TypeError: if ``budget`` is not a Budget.
            RuntimeError: if called from a listener.
        """
        check_budget(budget)
        if self._is_advancing:
            raise RuntimeError("advance is already running; a listener must not call it")
        self._is_advancing = True
        self._rays_asked = 0
        now_s = self.clock.now.seconds
        try:
            self._emitted.begin_advance(now_s)
            if self._sensitivity.until_s:
                self._sensitivity.recover(self._sensors, now_s)
            if self._sources.counts_motion:
                self._sources.measure_motion(now_s)
            if self._clues.gone:
                self._clues.expire(self._sources, now_s)
            self._shares.advance(self._without_pass(budget), is_shared=self._has_signals())
            before_us = budget.used
            self._perception.advance(self._continuous.pairs)
            if budget.stopwatch is not None:
                self._note_pass(budget.used - before_us)
        finally:
            self._is_advancing = False

    def _without_pass(self, budget: Budget) -> Budget:
        """Return what a budget of time has for the stages, so that the pass over percepts fits, too.

        A budget of steps is whole; a replay makes the same part of its budget as the game that was recorded.
        """
        if budget.is_unlimited:
            return budget
        left = budget.left
        return budget.part(max(left * LEAST_FOR_STAGES, left - self._pass_us))

    def _note_pass(self, took_us: float) -> None:
        """Learn how long the pass over percepts takes (us): at once if it took longer, slowly if it did not."""
        if took_us > self._pass_us:
            self._pass_us = took_us
        else:
            self._pass_us += (took_us - self._pass_us) / PASSES_LEARNED

    def release(self, sensor_id: int | None = None) -> None:
        """Release from quarantine: the listeners of a sensor, the rays, or the audience.

        Args:
            sensor_id: sensor whose listeners are released; None for ``line_of_sight``, ``occlusion``
                and ``audience``.
        """
        if sensor_id is None:
            self.faults.release(self._perception.audience_key)
            self.faults.release((self, "line_of_sight"))
            self.faults.release((self, "occlusion"))
        else:
            self._perception.release(self._known_sensor(sensor_id))

    def _has_signals(self) -> bool:
        return self._emitted.has_work or self._smelling is not None

    def _follow(self, budget: Budget) -> bool:
        return self._emitted.follow(budget, self.clock.now.seconds)

    def _listen(self, budget: Budget) -> bool:
        """Ask what muffles signals: until half of the rays, or the budget, is spent; some at least."""
        unheard = self._emitted.queue.unheard
        left = max(1, self.maximum_rays // 2)
        while left and len(unheard) and not budget.is_spent:
            asked = self._emitted.ask(min(left, RAYS_AT_ONCE))
            budget.spend(asked)
            left -= asked
            self._rays_asked += asked
        return not (left and len(unheard))

    def _deliver(self, budget: Budget) -> bool:
        return self._emitted.deliver(budget, self.clock.now.seconds, self._perception.hear)

    def _is_muffled(self, number: int) -> bool:
        return self.occlusion is not None and self._modalities[number].is_muffled

    def _look(self, budget: Budget) -> bool:
        return self._continuous.look(budget, self.clock.now.seconds)

    def _ask(self, budget: Budget) -> bool:
        if not self._continuous.has_pairs:
            return True
        key, rays = (self, "line_of_sight"), self.line_of_sight
        is_plain = self._visibility.is_plain
        if rays is None and is_plain:
            self._continuous.see_all()
            return True
        if not self._continuous.pairs_needing_rays:
            return True
        # Signals had theirs first, or have half of the rays at most.
        waiting = len(self._emitted.queue.unheard)
        left = max(1, self.maximum_rays - max(self._rays_asked, min(waiting, self.maximum_rays // 2)))
        question = self._continuous.next_question(left, unordered=RAYS_AT_ONCE if is_plain else 0)
        if len(question.row) and not self.faults.is_quarantined(key):
            if budget.is_spent:
                return False
            wanted = len(question.row)
            question, _ = self._visibility.affordable(question, left)
            if left < self.maximum_rays and (len(question.row) < wanted or wanted == left):
                self._continuous.ages.note_cut_short(len(question.row))
            self._ask_in_parts(question, rays, budget)
        return True

    def _ask_in_parts(self, question: LineQuery, rays: LineOfSight | None, budget: Budget) -> None:
        """Ask until all are answered or the budget is spent, one part at least."""
        key, is_plain, asked = (self, "line_of_sight"), self._visibility.is_plain, 0
        at_once = self.maximum_rays if budget.is_unlimited else RAYS_AT_ONCE
        while len(question.row) and not (asked and budget.is_spent):
            part, count = self._visibility.affordable(question, at_once)
            question = question.part(len(part.row), len(question.row))
            self._rays_asked += count
            budget.spend(count)
            answer = rays if is_plain and rays else self._visibility.of(part, self._continuous, rays)
            try:
                self._continuous.ask(part, answer, self.clock.now.seconds)
            except Exception as error:  # nothing new is seen; hearing and memory go on
                self.faults.failed(key, "line_of_sight", self.clock.now.frame, error)
                return
            self.faults.succeeded(key)
            asked += len(part.row)
        if len(question.row):
            self._continuous.ages.note_cut_short(asked)

    def _smell(self, budget: Budget) -> bool:
        return self._smelling is None or self._smelling.advance(budget, self.clock.now.seconds)

    def _kept(
        self, number: int, start: NDArray[np.float32], end: NDArray[np.float32], ids: NDArray[np.int32]
    ) -> list[float]:
        """Return what share of a modality gets along lines, all of it if nobody can say."""
        key, kind = (self, "occlusion"), self._modalities[number]
        if len(ids) and self.occlusion and kind.is_muffled and not self.faults.is_quarantined(key):
            try:
                shares = checked_shares(self.occlusion(start, end, ids, kind.name), len(ids))
            except Exception as error:  # sounds go on as if nothing stood between
                self.faults.failed(key, "occlusion", self.clock.now.frame, error)
            else:
                self.faults.succeeded(key)
                return shares
        return [1.0] * len(ids)


def _upward(up: Sequence[float]) -> NDArray[np.float64]:
    upward = point("up", up).astype(np.float64)
    if not upward.any():
        raise ValueError("up must not be the zero vector, got (0, 0, 0)")
    unit: NDArray[np.float64] = upward / np.linalg.norm(upward)
    return unit
