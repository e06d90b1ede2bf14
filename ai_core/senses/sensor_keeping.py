"""Adding, changing, moving and removing sensors."""
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
from ai_core.senses.percepts.perception import Listeners, Perception
from ai_core.senses.percepts.temporary_sensitivity import TemporarySensitivity
from ai_core.senses.sensation import Sensation
from ai_core.senses.sensor_table import SensorTable
from ai_core.senses.sight.continuous_sensing import ContinuousSensing
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.source_table import ALL_AFFILIATIONS

__all__ = ["SensorRegistry"]


class SensorRegistry:
    """The part of ``RegionalSenseManager`` that manages sensors."""

    clock: Clock
    faults: FaultIsolation
    _sensors: SensorTable
    _perception: Perception
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
        on_reported: Callable[[MemoryChange], object] | None = None,
    ) -> int:
        """Add a sensor, and return its id.

        Args:
            position: where its ears and eyes are (m), 3 or 2 coordinates.
            forward: viewing direction, any length but 0.
            thresholds: weakest intensity that it senses, by modality; it lacks the senses
                that are not listed.
            sight_cones: the first cone that contains a target counts.
            detection_mask: affiliations that it senses, as bits.
            self_source: id of its own source, which it never senses.
            memory: its memory, which sensors of one manager may share, or None for no memory.
            awareness: settings of its awareness of targets, or None.
            name: identifies it when a save is loaded; sensors without a name are matched in the
                order in which they were added.
            on_sensed: called with each sensation; for a target that stays in view only every
                ``tell_every_s``.
            on_gained, on_lost, on_expired, on_forgotten: called when its memory changes.
            on_awareness_changed: called when the level of a target changes.
            on_reported: called when it learns of a target from a report.

        Raises:
            TypeError: if an argument is of another type.
            ValueError: if a number is out of range; then nothing is added.
            UnknownNameError: if a modality is unknown.
        """
        check_kind("memory", memory, SenseMemory)
        self._perception.check_memory(memory)
        check_kind("awareness", awareness, AwarenessSettings)
        listeners = Listeners(
            on_sensed, on_gained, on_lost, on_forgotten, on_awareness_changed, on_expired, on_reported)
        new = self._sensors.add(
            position, forward, thresholds, sight_cones, detection_mask, self_source, name
        )
        self._perception.add(new, listeners, memory, awareness)
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
        """Replace the settings that are not None; ``self_source`` -1 for none.

        Raises:
            TypeError, ValueError, UnknownNameError: as ``add_sensor``; then nothing is changed.
        """
        if name is not None:
            self._sensors.ids.check_name(name)
        self._sensors.change(sensor_id, thresholds, sight_cones, detection_mask, self_source)
        if name is not None:
            self._sensors.ids.rename(sensor_id, name)

    def remove_sensor(self, sensor_id: int) -> None:
        """Remove a sensor; signals on their way to it are dropped.

        Raises:
            UnknownNameError: if the id is not in use.
        """
        self._sensors.ids.slot(sensor_id)
        self._sensors.remove(sensor_id)
        self._perception.remove(int(sensor_id))

    def move_sensors(self, ids: object, positions: object, forwards: object = None) -> None:
        """Set the positions of many sensors; once per frame.

        Args:
            ids: shape (n,).
            positions: shape (n, 3), or (n, 2) with z = 0 (m).
            forwards: shape (n, 3) or (n, 2), any length but 0; None keeps them.

        Raises:
            TypeError, ValueError: if an array has another shape or type; then nothing moves.
            UnknownNameError: if an id is not in use; then nothing moves.

        Cost: O(n) in NumPy.
        """
        self._sensors.move(ids, positions, forwards)

    def put_sensors(
        self, ids: NDArray[np.int32], positions: NDArray[np.float32], forwards: NDArray[np.float32]
    ) -> None:
        """Set the positions of sensors without checking the arrays: for callers that read them from an engine.

        Args:
            ids: shape (n,), in use, each once.
            positions: shape (n, 3), finite (m).
            forwards: shape (n, 3), of unit length.

        Cost: O(n) in NumPy, a quarter of ``move_sensors``.
        """
        self._sensors.put(ids, positions, forwards)

    def places_to_put(self, ids: NDArray[np.int32]) -> tuple[NDArray[np.float32], NDArray[np.float32], bool]:
        """Return arrays to write the positions of sensors to, filled with the current values; write at once.

        Args:
            ids: as in ``put_sensors``.

        Returns:
            Positions, directions, and whether these are copies because the sensors' rows are not
            contiguous: then pass them to ``put_sensors``. Otherwise writing to them is enough.

        Cost: O(1) if the array of ids is read-only and the same as in the last call; O(n) for copies.
        """
        return self._sensors.places_to_put(ids)

    def set_importance(
        self, sensor_ids: object, importances: object, source_ids: object = None
    ) -> None:
        """Set which sensors, or which pairs, come first when there are too few rays for all.

        A pair of importance 1 is queried as if it had waited 8 passes longer, and no longer: an
        important target is noticed sooner, and no pair is left out. A pair has the importance of
        its sensor or its own, whichever is higher; 0, the default, is the least.

        Args:
            sensor_ids: shape (n,).
            importances: shape (n,), 0 to 1.
            source_ids: shape (n,), the target of each pair; None for all targets of each sensor.

        Raises:
            TypeError, ValueError: if an array has another shape or type; then nothing changes.
            UnknownNameError: if an id is not in use; then nothing changes.

        Cost: O(n).
        """
        self._continuous.turns.set_importance(sensor_ids, importances, source_ids)

    def set_sensitivity(
        self, sensor_id: int, modality_name: str, sensitivity: float, *, for_s: float | None = None
    ) -> None:
        """Change the sensitivity of a sense: deafened by a blast, alert in the dark.

        Args:
            sensor_id: the sensor.
            modality_name: the modality.
            sensitivity: factor on every intensity in it; 1 is the default, 0 senses nothing.
            for_s: duration (s), above 0; None for permanent. The last call counts.

        Raises:
            TypeError, ValueError, UnknownNameError: if an argument is invalid;
                then nothing is changed.
        """
        until_s = None
        if for_s is not None:
            now_s = self.clock.now.seconds
            until_s = now_s + finite_number("for_s", for_s, above=0, maximum=LATEST_S - now_s)
        self._sensitivity.put(self._sensors, sensor_id, modality_name, sensitivity, until_s)
