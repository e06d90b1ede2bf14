"""The regional sense manager: every signal reaches as far as its modality carries.

Three phases, as in the source: aggregation (who is in reach), testing
(threshold, affiliation, cone, line of sight), notification (when it arrives).
Walls stop sight, and muffle sounds and smells by what ``occlusion`` says of a line.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
from ai_core.senses.percepts.perceivers import PerceptionSystem
from ai_core.senses.percepts.temporary_sensitivity import TemporarySensitivity
from ai_core.senses.scent.scent_trail import ScentTrails
from ai_core.senses.scent.smelling import TrailSmelling
from ai_core.senses.sense_state import SaveableSenses
from ai_core.senses.sensor_keeping import SensorRegistry
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.camouflage import Background, Camouflage
from ai_core.senses.sight.continuous_sensing import ContinuousSensing, LineOfSight
from ai_core.senses.sight.question import LineQuery
from ai_core.senses.sight.visibility import Visibility
from ai_core.senses.source_keeping import SourceRegistry
from ai_core.senses.source_table import SourceTable
from ai_core.senses.stimuli.emitted_signals import EmittedSignals
from ai_core.senses.stimuli.muffled_lines import PendingLine
from ai_core.senses.stimuli.muffling import Between, checked_shares
from ai_core.senses.stimuli.signalling import StimulusEmitter
from ai_core.trace import Trace, given_trace

__all__ = ["RegionalSenseManager"]

MAXIMUM_RAYS = 256
"""Lines of sight asked per advance unless told (count), about 0.1 ms of rays.

More notices sooner and costs more of every frame; with p pairs in view a new
one is asked after ceil(p / maximum_rays) advances at the latest.
"""

RAYS_AT_ONCE = 512
"""Lines of sight asked between two looks at the budget (count), about 0.2 ms.

More overruns a small budget further; fewer pays NumPy's calls too often.
"""

TELL_EVERY_S = 0.25
"""Time between two reports of a source that stays in view (s).

Memory follows it at every look; this only limits how often somebody is called.
"""


class RegionalSenseManager(SensorRegistry, SourceRegistry, StimulusEmitter, SenseQueries, SaveableSenses):
    """Tells sensors what they sense of sources, by any modality.

    Signals are told of in the order in which they arrive, ties by sensor id,
    then by order of emission. A signal is offered to the sensors in reach when
    it is emitted, and measured at the sensor again when it arrives: who ran
    away hears it later and fainter, or not at all; who ran towards it is told
    at the time first computed. The front of a slow one is followed instead. A
    signal emitted during an advance is delivered in the next one at the earliest.

    Args:
        clock: game time.
        line_of_sight: asked once per advance at most, or None: nothing hides.
        modalities: senses of this world; None for sight and hearing.
        maximum_rays: most lines of sight asked in one advance, those of ``occlusion`` included;
            1 or more.
        tell_every_s: see ``TELL_EVERY_S`` (s); 0 tells every look.
        up: (3,) which way is up for sight cones; (0, 0, 1) in a 2D world.
        between: what share of a sound or smell gets through what stands
            between, or None: all of it. Asked once for many, of at most half of
            ``maximum_rays`` lines in one advance: what is left over is heard later, or
            not at all if that is ``LATEST_S`` after it was due: ``arrivals_given_up``.
        background: what is behind targets that are seen, or None. It makes
            patterns and silhouettes count, and doubles the rays.
        camouflage: how well patterns show before others, or None.
        scent_trails: marks that sources with a strength in its modality leave, and
            sensors with a threshold for it smell; None for no trails.
        maximum_clues: most clues at once; 1 or more.
        audience: told what sensors sense, many at once, in place of their ``on_sensed``; see
            ``SensationReceiver``. Only while the trace listens each is told by itself.
        faults: where listeners that raise are reported; None logs them.
        trace: told every sensation that a sensor is told.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or ``up`` points nowhere.

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
        self._perceivers = PerceptionSystem(
            clock, self._modalities, self._sources, given_trace(trace),
            finite_number("tell_every_s", tell_every_s, minimum=0), audience, self.faults)
        self._continuous = ContinuousSensing(self._modalities, self._sensors, self._sources, upward)
        self._visibility = Visibility(
            self._modalities, self._sensors, self._sources, upward, background)
        self._emitted = EmittedSignals(self._modalities, self._sensors, self._sources, self._muffle, self._is_muffled)
        self._sensitivity, self._clues = TemporarySensitivity(self._modalities), Clues(maximum_clues)
        self._smelling = None if scent_trails is None else TrailSmelling(
            scent_trails, self._modalities, self._sensors, self._sources, self._perceivers)
        self._rays_asked, self._stage, self._is_advancing = 0, 0, False
        self._stages = self._all_stages()

    def _all_stages(self) -> tuple[Callable[[Budget], bool], ...]:
        stages = (self._deliver, self._look, self._ask, self._remember)
        return stages if self._smelling is None else (*stages, self._smell)

    def change_modality(
        self, name: str, *, range_m: float | None = None, attenuation: float | None = None
    ) -> None:
        """Let signals of a modality travel otherwise from now on: fog, haze, rain, clear air.

        Args:
            name: which modality.
            range_m: its range (m), or None to leave it.
            attenuation: share kept per metre, or None to leave it.

        Raises:
            TypeError, ValueError: as ``Modality``; nothing is changed then.
            UnknownNameError: if the modality is unknown.
        """
        self._emitted.offer()
        number = self._modalities.number(name)
        before = self._modalities[number]
        changed = replace(
            before,
            range_m=before.range_m if range_m is None else range_m,
            attenuation=before.attenuation if attenuation is None else attenuation,
        )
        self._modalities.replace(number, changed)
        self._continuous.travel_changed(number)

    def _changed_modalities(self) -> dict[str, dict[str, float]]:
        """Return range and attenuation of modalities that are not as they were made."""
        return {
            now.name: {"range_m": now.range_m, "attenuation": now.attenuation}
            for number, first in enumerate(self._modalities.at_first)
            if (now := self._modalities[number]) != first
        }

    def advance(self, budget: Budget) -> None:
        """Deliver what is due, look around, and let memories go on.

        Each stage at most once: deliver signals, find what is in reach, ask for
        lines of sight (one batch), update memory and awareness, follow trails.
        When the budget ends in one, the next advance goes on there, so that
        none starves. A step is a signal at a sensor, a slow signal's front, a
        sensor that looks, a ray, or a sensor that remembers or smells; at most
        one block of sensors, or 512 rays, go beyond the budget.

        Raises:
            TypeError: if ``budget`` is no Budget.
            RuntimeError: if called from a listener.
        """
        check_budget(budget)
        if self._is_advancing:
            raise RuntimeError("advance is under way; a listener must not call it")
        self._is_advancing = True
        self._rays_asked = 0
        try:
            for _ in self._stages:
                if not self._stages[self._stage](budget):
                    return
                self._stage = (self._stage + 1) % len(self._stages)
        finally:
            self._is_advancing = False

    def release(self, sensor_id: int | None = None) -> None:
        """Try again what was quarantined: a sensor's listeners, rays, or the audience.

        Args:
            sensor_id: whose listeners; None for ``line_of_sight``, ``occlusion`` and ``audience``.
        """
        if sensor_id is None:
            self.faults.release(self._perceivers.audience_key)
            self.faults.release((self, "line_of_sight"))
            self.faults.release((self, "occlusion"))
        else:
            self._perceiver(sensor_id).release()

    def _deliver(self, budget: Budget) -> bool:
        now_s, emitted = self.clock.now.seconds, self._emitted
        if emitted.waiting:
            emitted.offer()
        if self._sensitivity.until_s:
            self._sensitivity.recover(self._sensors, now_s)
        if self._clues.gone:
            self._clues.expire(self._sources, now_s)
        if emitted.lines.waiting:
            self._listen(budget)
        return emitted.deliver(budget, now_s, self._perceivers.notice_from)

    def _listen(self, budget: Budget) -> None:
        """Ask what muffles signals: until half of the rays, or the budget, is spent; some at least."""
        self._emitted.lines.give_up_late(self.clock.now.seconds)
        left = max(1, self.maximum_rays // 2)
        while left and self._emitted.lines.waiting and not (self._rays_asked and budget.is_spent):
            asked = self._emitted.ask(min(left, RAYS_AT_ONCE))
            budget.spend(asked)
            left -= asked
            self._rays_asked += asked

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
        left = max(1, self.maximum_rays - self._rays_asked)      # signals had theirs first
        question = self._continuous.next_question(left)
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

    def _remember(self, budget: Budget) -> bool:
        return self._perceivers.remember(budget, self._continuous)

    def _smell(self, budget: Budget) -> bool:
        return self._smelling is None or self._smelling.advance(budget, self.clock.now.seconds)

    def _muffle(self, lines: list[PendingLine]) -> list[float]:
        """Return the share of each signal that gets through what stands between."""
        kept = [1.0] * len(lines)
        by_modality: dict[int, list[int]] = {}
        for row, line in enumerate(lines):
            by_modality.setdefault(line.signal.modality, []).append(row)
        for number, rows in sorted(by_modality.items()):
            start, end = (np.array([lines[row][part] for row in rows], np.float32) for part in (2, 3))
            ids = np.array([lines[row].arrival.sensor_id for row in rows], np.int32)
            for row, share in zip(rows, self._kept(number, start, end, ids), strict=True):
                kept[row] = share
        return kept

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
        raise ValueError("up must point somewhere, got (0, 0, 0)")
    unit: NDArray[np.float64] = upward / np.linalg.norm(upward)
    return unit
