"""The regional sense manager: every signal reaches as far as its modality carries.

Three phases, as in the source: aggregation (who is in reach), testing
(threshold, affiliation, cone, line of sight), notification (when it arrives).
Walls stop sight only; use a sense graph where they must stop sounds.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import finite_number, point, whole_number
from ai_core.faults import FaultIsolation
from ai_core.senses.awareness import Awareness, AwarenessSettings, LevelChange
from ai_core.senses.continuous_sensing import ContinuousSensing, LineOfSight
from ai_core.senses.emitted_signals import EmittedSignals
from ai_core.senses.memory import MemoryChange, SenseMemory
from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.pairs_in_view import ids_of
from ai_core.senses.perceiver import Listeners, Perceiver
from ai_core.senses.perceivers import Perceivers
from ai_core.senses.sensation import Sensation
from ai_core.senses.sense_state import SaveableSenses
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight import SightCone
from ai_core.senses.source_table import ALL_AFFILIATIONS, SourceTable
from ai_core.trace import Trace

__all__ = ["RegionalSenseManager"]

MAXIMUM_RAYS = 256
"""Lines of sight asked per advance unless told (count), about 0.1 ms of rays.

More notices sooner and costs more of every frame; with p pairs in view a new
one is asked after ceil(p / maximum_rays) advances at the latest.
"""

TELL_EVERY_S = 0.25
"""Time between two reports of a source that stays in view (s).

Memory follows it at every look; this only limits how often somebody is called.
"""


class RegionalSenseManager(SaveableSenses):
    """Tells sensors what they sense of sources, by any modality.

    Signals are told of in the order in which they arrive, ties by sensor id,
    then by order of emission. A signal is offered to the sensors in reach when
    it is emitted, and measured at the sensor again when it arrives: who ran
    away hears it later and fainter, or not at all; who ran towards it is told
    at the time first computed. A signal emitted during an advance is delivered
    in the next one at the earliest.

    Args:
        clock: game time.
        line_of_sight: asked once per advance at most, or None: nothing hides.
        modalities: senses of this world; None for sight and hearing.
        maximum_rays: most lines of sight asked in one advance; 1 or more.
        tell_every_s: see ``TELL_EVERY_S`` (s); 0 tells every look.
        up: (3,) which way is up for sight cones; (0, 0, 1) in a 2D world.
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
        faults: FaultIsolation | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.line_of_sight = line_of_sight
        self.maximum_rays = whole_number("maximum_rays", maximum_rays, minimum=1)
        upward = point("up", up).astype(np.float64)
        if not upward.any():
            raise ValueError("up must point somewhere, got (0, 0, 0)")
        self.clock = clock
        self._modalities = ModalitySet(
            (Modality.sight(), Modality.hearing()) if modalities is None else modalities
        )
        self.faults = FaultIsolation() if faults is None else faults
        self._sensors = SensorTable(self._modalities)
        self._sources = SourceTable(self._modalities)
        self._perceivers = Perceivers(
            clock, self._modalities, self._sources, Trace() if trace is None else trace,
            finite_number("tell_every_s", tell_every_s, minimum=0),
        )
        self._continuous = ContinuousSensing(
            self._modalities, self._sensors, self._sources, upward / np.linalg.norm(upward)
        )
        self._emitted = EmittedSignals(self._modalities, self._sensors)
        self._rays_asked = 0
        self._stages = (self._deliver, self._continuous.look, self._ask, self._remember)
        self._stage = 0
        self._is_advancing = False

    def add_sensor(
        self,
        *,
        position: object,
        forward: object,
        thresholds: Mapping[str, float],
        sight_cones: Sequence[SightCone] = (),
        notices: int = ALL_AFFILIATIONS,
        own_source: int | None = None,
        memory: SenseMemory | None = None,
        awareness: AwarenessSettings | None = None,
        name: str = "",
        on_sensed: Callable[[Sensation], object] | None = None,
        on_gained: Callable[[MemoryChange], object] | None = None,
        on_lost: Callable[[MemoryChange], object] | None = None,
        on_forgotten: Callable[[MemoryChange], object] | None = None,
        on_awareness_changed: Callable[[LevelChange], object] | None = None,
    ) -> int:
        """Add somebody who senses, and return its id.

        Args:
            position: where its ears and eyes are (m), 3 or 2 coordinates.
            forward: where it faces, any length but 0.
            thresholds: weakest intensity it senses, by modality; it has no
                modality that is not here.
            sight_cones: first one that contains a target counts.
            notices: affiliations it notices, as bits.
            own_source: id of the source that is itself, which it never senses.
            memory: its own, or None to remember nothing.
            awareness: how it grows aware of targets, or None.
            name: finds it when a save is loaded; else the order of adding does.
            on_sensed: told each sensation; of what stays in view every
                ``tell_every_s`` only.
            on_gained, on_lost, on_forgotten: told when its memory changes.
            on_awareness_changed: told when a target's level changes.

        Raises:
            TypeError: if an argument is of another type.
            ValueError: if a number is out of range; nothing is added then.
            UnknownNameError: if a modality is unknown.
        """
        listeners = Listeners(on_sensed, on_gained, on_lost, on_forgotten, on_awareness_changed)
        new = self._sensors.add(
            position, forward, thresholds, sight_cones, notices, own_source, name
        )
        self._perceivers.add(Perceiver(new, listeners, memory, awareness, self.faults))
        return new

    def change_sensor(
        self,
        sensor_id: int,
        *,
        thresholds: Mapping[str, float] | None = None,
        sight_cones: Sequence[SightCone] | None = None,
        notices: int | None = None,
        own_source: int | None = None,
    ) -> None:
        """Replace what is not None; ``own_source`` -1 for none.

        Raises:
            TypeError, ValueError, UnknownNameError: as ``add_sensor``; nothing
                is changed then.
        """
        self._sensors.change(sensor_id, thresholds, sight_cones, notices, own_source)

    def remove_sensor(self, sensor_id: int) -> None:
        """Remove a sensor; what was under way to it is told to nobody.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        self._sensors.remove(sensor_id)
        self._perceivers.remove(sensor_id)

    def release(self, sensor_id: int | None = None) -> None:
        """Try again what was quarantined: a sensor's listeners, or ``line_of_sight``.

        Args:
            sensor_id: whose listeners; None for ``line_of_sight``.
        """
        if sensor_id is None:
            self.faults.release((self, "line_of_sight"))
        else:
            self._perceiver(sensor_id).release()

    def move_sensors(self, ids: object, positions: object, forwards: object = None) -> None:
        """Put many sensors where they are now; once per frame.

        Args:
            ids: shape (n,).
            positions: shape (n, 3), or (n, 2) with z = 0 (m).
            forwards: shape (n, 3) or (n, 2), any length but 0; None keeps them.

        Raises:
            TypeError, ValueError: if an array is not like that; nothing moves then.
            UnknownNameError: if an id is not in use; nothing moves then.

        Cost: O(n) in NumPy.
        """
        self._sensors.move(ids, positions, forwards)

    def add_source(
        self, *, position: object, strengths: Mapping[str, float], affiliation: int = 1,
        name: str = "",
    ) -> int:
        """Add something that can be sensed, and return its id.

        Args:
            position: where it is (m), 3 or 2 coordinates.
            strengths: strength by modality. In continuous ones it is sensed all
                the time; in others it is what ``emit`` sends unless told.
            affiliation: what it belongs to, as bits.
            name: finds it when a save is loaded; else the order of adding does.

        Raises:
            TypeError: if an argument is of another type.
            ValueError: if a number is out of range; nothing is added then.
            UnknownNameError: if a modality is unknown.
        """
        return self._sources.add(position, strengths, affiliation, name)

    def change_source(
        self,
        source_id: int,
        *,
        strengths: Mapping[str, float] | None = None,
        affiliation: int | None = None,
    ) -> None:
        """Replace what is not None.

        Raises:
            TypeError, ValueError, UnknownNameError: as ``add_source``; nothing
                is changed then.
        """
        self._sources.change(source_id, strengths, affiliation)

    def remove_source(self, source_id: int) -> None:
        """Remove a source; signals it emitted travel on, memories of it remain.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        self._sources.remove(source_id)

    def move_sources(self, ids: object, positions: object) -> None:
        """Put many sources where they are now; as ``move_sensors``."""
        self._sources.move(ids, positions)

    def emit(
        self,
        source_id: int,
        modality_name: str,
        strength: float | None = None,
        position: object = None,
    ) -> None:
        """Send a signal that travels and is sensed once, such as a sound.

        Args:
            source_id: who emits it.
            modality_name: in what modality; not a continuous one.
            strength: at its origin, 0 or more; None for the source's own.
            position: its origin (m); None for where the source is.

        Raises:
            TypeError: if a number or position is of another type.
            ValueError: if one is out of range, the modality is continuous, or
                the source has no strength of its own in it.
            UnknownNameError: if the source or the modality is unknown.

        Cost: O(sensors) in NumPy.
        """
        slot = self._sources.ids.slot(source_id)
        number = self._modalities.number(modality_name)
        if self._modalities[number].is_continuous:
            raise ValueError(
                f"modality_name must be one that is emitted, got {modality_name!r}, which is"
                " looked for all the time; use change_source to set its strength"
            )
        if strength is None:
            strength = float(self._sources.strength[slot, number])
            if strength < 0:
                raise ValueError(
                    f"strength must be given: source {source_id} has none of its own"
                    f" in {modality_name!r}"
                )
        strength = finite_number("strength", strength, minimum=0)
        origin = self._sources.position[slot] if position is None else point("position", position)
        self._emitted.emit(
            int(source_id), int(self._sources.affiliation[slot]), number, strength,
            (float(origin[0]), float(origin[1]), float(origin[2])), self.clock.now.seconds,
        )

    def advance(self, budget: Budget) -> None:
        """Deliver what is due, look around, and let memories go on.

        Four stages, each at most once: deliver signals, find what is in reach,
        ask for lines of sight (one batch), update memory and awareness. When
        the budget ends in one, the next advance goes on there, so that none
        starves. A step is a signal at a sensor, a sensor that looks, a ray, or
        a sensor that remembers; at most one block of sensors, or one batch of
        rays, goes beyond the budget.

        Raises:
            RuntimeError: if called from a listener.
        """
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

    def memory_of(self, sensor_id: int) -> SenseMemory | None:
        """Return a sensor's memory, or None if it has none."""
        return self._perceiver(sensor_id).memory

    def awareness_of(self, sensor_id: int, target: int) -> Awareness | None:
        """Return how aware a sensor is of a target; None if not at all."""
        return self._perceiver(sensor_id).meters.get(target)

    def sensed_by(self, sensor_id: int, modality_name: str = "sight") -> list[int]:
        """Return ids of what a sensor senses now in a continuous modality, ascending."""
        self._perceiver(sensor_id)
        pairs = self._continuous.pairs.get(self._modalities.number(modality_name))
        if pairs is None:
            raise ValueError(
                f"modality_name must be a continuous one, got {modality_name!r};"
                " what is emitted is sensed once, look it up in memory_of"
            )
        _, found = ids_of(pairs.keys[pairs.sensed_by(sensor_id)])
        known: list[int] = found[self._sources.ids.are_known(found)].tolist()
        return known

    def statistics(self) -> dict[str, int]:
        """Return counts: sensors, sources, signals under way, pairs, rays, and waits."""
        waiting = self._continuous.pairs_needing_rays
        return {
            "sensors": len(self._sensors.ids),
            "sources": len(self._sources.ids),
            "arrivals_under_way": len(self._emitted),
            "pairs_in_view": waiting,
            "rays_asked": self._rays_asked,
            "advances_until_all_are_asked": -(-waiting // self.maximum_rays),
        }

    def _perceiver(self, sensor_id: int) -> Perceiver:
        self._sensors.ids.slot(sensor_id)
        return self._perceivers[int(sensor_id)]

    def _deliver(self, budget: Budget) -> bool:
        return self._emitted.deliver(budget, self.clock.now.seconds, self._perceivers.notice)

    def _ask(self, budget: Budget) -> bool:
        key = (self, "line_of_sight")
        if self.line_of_sight is None:
            self._continuous.see_all()
            return True
        question = self._continuous.next_question(self.maximum_rays)
        if not len(question.row) or self.faults.is_quarantined(key):
            return True
        if budget.is_spent:
            return False
        self._rays_asked = len(question.row)
        budget.spend(self._rays_asked)
        try:
            self._continuous.ask(question, self.line_of_sight)
        except Exception as error:  # nothing new is seen; hearing and memory go on
            self.faults.failed(key, "line_of_sight", self.clock.now.frame, error)
        else:
            self.faults.succeeded(key)
        return True

    def _remember(self, budget: Budget) -> bool:
        return self._perceivers.remember(budget, self._continuous)
