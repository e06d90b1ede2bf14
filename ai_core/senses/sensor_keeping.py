"""Adding, changing, moving and removing those who sense."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ai_core.clock import Clock
from ai_core.errors import check_kind, finite_number
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import LATEST_S
from ai_core.senses.percepts.awareness import AwarenessSettings, LevelChange
from ai_core.senses.percepts.memory import MemoryChange, SenseMemory
from ai_core.senses.percepts.perceiver import Listeners, SensorMind
from ai_core.senses.percepts.perceivers import PerceptionSystem
from ai_core.senses.percepts.temporary_sensitivity import TemporarySensitivity
from ai_core.senses.sensation import Sensation
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.continuous_sensing import ContinuousSensing
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.source_table import ALL_AFFILIATIONS
from ai_core.senses.stimuli.emitted_signals import EmittedSignals

__all__ = ["SensorRegistry"]


class SensorRegistry:
    """What a ``RegionalSenseManager`` does with sensors."""

    clock: Clock
    faults: FaultIsolation
    _sensors: SensorTable
    _perceivers: PerceptionSystem
    _emitted: EmittedSignals
    _sensitivity: TemporarySensitivity
    _continuous: ContinuousSensing

    def add_sensor(
        self,
        *,
        position: object,
        forward: object,
        thresholds: Mapping[str, float],
        sight_cones: Sequence[SightCone] = (),
        detection_mask: int = ALL_AFFILIATIONS,
        self_source: int | None = None,
        memory: SenseMemory | None = None,
        awareness: AwarenessSettings | None = None,
        name: str = "",
        on_sensed: Callable[[Sensation], object] | None = None,
        on_gained: Callable[[MemoryChange], object] | None = None,
        on_lost: Callable[[MemoryChange], object] | None = None,
        on_forgotten: Callable[[MemoryChange], object] | None = None,
        on_awareness_changed: Callable[[LevelChange], object] | None = None,
        on_expired: Callable[[MemoryChange], object] | None = None,
        on_told: Callable[[MemoryChange], object] | None = None,
        listens: Callable[[], bool] | None = None,
    ) -> int:
        """Add somebody who senses, and return its id.

        Args:
            position: where its ears and eyes are (m), 3 or 2 coordinates.
            forward: where it faces, any length but 0.
            thresholds: weakest intensity it senses, by modality; it has no
                modality that is not here.
            sight_cones: first one that contains a target counts.
            notices: affiliations it notices, as bits.
            self_source: id of the source that is itself, which it never senses.
            memory: its own, or None to remember nothing.
            awareness: how it grows aware of targets, or None.
            name: finds it when a save is loaded; else the order of adding does.
            on_sensed: told each sensation; of what stays in view every
                ``tell_every_s`` only.
            on_gained, on_lost, on_expired, on_forgotten: told when its memory changes.
            on_awareness_changed: told when a target's level changes.
            on_told: told when it learns of a target from somebody else.
            listens: asked before ``on_sensed`` is called: if False, it is not; None for always.

        Raises:
            TypeError: if an argument is of another type.
            ValueError: if a number is out of range; nothing is added then.
            UnknownNameError: if a modality is unknown.
        """
        check_kind("memory", memory, SenseMemory)
        check_kind("awareness", awareness, AwarenessSettings)
        self._emitted.offer()
        listeners = Listeners(
            on_sensed, on_gained, on_lost, on_forgotten, on_awareness_changed, on_expired, on_told, listens)
        new = self._sensors.add(
            position, forward, thresholds, sight_cones, detection_mask, self_source, name
        )
        self._perceivers.add(SensorMind(new, listeners, memory, awareness, self.faults))
        return new

    def change_sensor(
        self,
        sensor_id: int,
        *,
        thresholds: Mapping[str, float] | None = None,
        sight_cones: Sequence[SightCone] | None = None,
        detection_mask: int | None = None,
        self_source: int | None = None,
        name: str | None = None,
    ) -> None:
        """Replace what is not None; ``self_source`` -1 for none.

        Raises:
            TypeError, ValueError, UnknownNameError: as ``add_sensor``; nothing
                is changed then.
        """
        if name is not None:
            self._sensors.ids.check_name(name)
        self._emitted.offer()
        self._sensors.change(sensor_id, thresholds, sight_cones, detection_mask, self_source)
        if name is not None:
            self._sensors.ids.rename(sensor_id, name)

    def remove_sensor(self, sensor_id: int) -> None:
        """Remove a sensor; what was under way to it is told to nobody.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        self._sensors.ids.slot(sensor_id)
        self._emitted.settle()
        self._sensors.remove(sensor_id)
        self._perceivers.remove(sensor_id)

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
        self._emitted.offer()
        self._sensors.move(ids, positions, forwards)

    def put_sensors(
        self, ids: NDArray[np.int32], positions: NDArray[np.float32], forwards: NDArray[np.float32]
    ) -> None:
        """Put sensors where they are now, without a look at the arrays: for who reads them from an engine.

        Args:
            ids: shape (n,), in use, each once.
            positions: shape (n, 3), finite (m).
            forwards: shape (n, 3), of unit length.

        Cost: O(n) in NumPy, a quarter of ``move_sensors``.
        """
        self._emitted.offer()
        self._sensors.put(ids, positions, forwards)

    def places_to_put(self, ids: NDArray[np.int32]) -> tuple[NDArray[np.float32], NDArray[np.float32], bool]:
        """Return where to write, at once, where sensors are now: what ``put_sensors`` takes, as it was so far.

        Args:
            ids: as there.

        Returns:
            Positions, directions, and whether these are copies, as sensors lie apart: then give them to
            ``put_sensors``. Else all is done by writing to them.

        Cost: O(1) if the array of ids is read-only, and the same as last time; O(n) for copies.
        """
        self._emitted.offer()
        return self._sensors.places_to_put(ids)

    def set_importance(
        self, sensor_ids: object, importances: object, source_ids: object = None
    ) -> None:
        """Say which sensors matter more, or which pairs, when there are too few rays for all.

        A pair of importance 1 is asked as if it had waited 8 passes longer, and no longer:
        what matters is noticed sooner, and nothing is left out. A pair has the importance of
        its sensor or its own, whichever is higher; 0, as at first, is the least.

        Args:
            sensor_ids: shape (n,).
            importances: shape (n,), 0 to 1.
            source_ids: shape (n,), what each sensor looks at; None for all that it looks at.

        Raises:
            TypeError, ValueError: if an array is not like that; nothing changes then.
            UnknownNameError: if an id is not in use; nothing changes then.

        Cost: O(n).
        """
        self._continuous.turns.set_importance(sensor_ids, importances, source_ids)

    def set_sensitivity(
        self, sensor_id: int, modality_name: str, sensitivity: float, *, for_s: float | None = None
    ) -> None:
        """Make a sense louder or softer: deafened by a blast, alert in the dark.

        Args:
            sensor_id: whose.
            modality_name: which sense.
            keenness: factor on all it senses there: 1 as it was made, 0 nothing.
            for_s: how long (s), above 0; None for good. The last call counts.

        Raises:
            TypeError, ValueError, UnknownNameError: if an argument is wrong;
                nothing is changed then.
        """
        self._emitted.offer()
        until_s = None
        if for_s is not None:
            now_s = self.clock.now.seconds
            until_s = now_s + finite_number("for_s", for_s, above=0, maximum=LATEST_S - now_s)
        self._sensitivity.put(self._sensors, sensor_id, modality_name, sensitivity, until_s)
