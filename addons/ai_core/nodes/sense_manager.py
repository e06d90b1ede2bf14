"""SenseManager: one place where all sensing of a scene happens, once per frame."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    Node,
    RefusedValue,
    export,
    gdclass,
    method,
    read_transforms,
)
from addons.ai_core.nodes.scheduled import scheduler_of
from addons.ai_core.nodes.sight_rays import SightRays, body_id
from ai_core.scheduling.task import Task, Turn
from ai_core.senses.modality import Modality
from ai_core.senses.regional_sense_manager import RegionalSenseManager

GROUP = "sense_managers"


@gdclass(icon="res://addons/ai_core/icons/sense_manager.svg")
class SenseManager(Node):
    """Tells sensors what they see and hear of sources, within the AIScheduler's budget.

    Signals weaken with distance, travel at their speed, and are sensed where they
    are strong enough; sight needs a cone and a free line.
    """

    sight_range_m = export(
        float, 60.0, range=(1, 1000, 0.5), or_greater=True, unit="m", group="Sight", on_set="_in_use",
        doc="Nobody sees farther than this, whatever the cones say.")
    sight_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), group=None, on_set="_in_use",
        doc="Physics layers that block sight.")
    hearing_range_m = export(
        float, 60.0, range=(1, 1000, 0.5), or_greater=True, unit="m", group="Hearing", on_set="_in_use",
        doc="No sound carries farther than this.")
    hearing_attenuation = export(
        float, 0.9, range=(0, 1, 0.001), on_set="_in_use", doc="Share of a sound that is kept per metre.")
    sound_speed_m_per_s = export(
        float, 340.0, range=(1, 10000, 1), or_greater=True, unit="m/s", on_set="_in_use", doc="How fast sound travels.")
    maximum_rays = export(
        int, 256, range=(1, 10000, 1), or_greater=True, unit="rays/frame", group="Optimizations", on_set="_in_use",
        doc="Most lines of sight asked in one frame; the longest unasked go first.")

    def __init__(self) -> None:
        self._core: RegionalSenseManager | None = None
        self._scheduler: Any = None
        self._task: Task | None = None
        self._rays: SightRays | None = None
        self._sensors: dict[int, Any] = {}        # core id -> node
        self._sources: dict[int, Any] = {}
        self._bodies: dict[int, int] = {}         # source id -> instance id of its body
        self._rows: tuple[Any, ...] | None = None

    def on_enter_tree(self) -> None:
        self.add_to_group(GROUP)
        self._scheduler = scheduler_of(self)
        if self._scheduler is not None:
            self._task = self._scheduler.schedule(self._frame, name=f"{self.get_name()} senses", phase_frames=0)

    def on_exit_tree(self) -> None:
        if self._task is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
        self._task = None

    @property
    def core(self) -> RegionalSenseManager:
        """The sense manager of the library, for behaviors written in Python."""
        if self._core is None:
            if self._scheduler is None:
                raise RefusedValue("needs an AIScheduler; add it to a scene that has one before using it")
            self._core = RegionalSenseManager(
                self._scheduler.clock, line_of_sight=self._line_of_sight,
                modalities=(
                    Modality.sight(range_m=self.sight_range_m),
                    Modality.hearing(
                        range_m=self.hearing_range_m, attenuation=self.hearing_attenuation,
                        inverse_speed_s_per_m=1 / self.sound_speed_m_per_s),
                ),
                maximum_rays=self.maximum_rays, faults=self._scheduler.faults, trace=self._scheduler.trace)
        return self._core

    @property
    def now_s(self) -> float:
        """Game time of the AI (s)."""
        return self._scheduler.clock.now.seconds if self._scheduler is not None else 0.0

    def add_sensor(self, node: Any, **settings: Any) -> int:
        position, forward = _place(node)
        new = self.core.add_sensor(position=position, forward=forward, **settings)
        self._sensors[new] = node
        self._rows = None
        return new

    def remove_sensor(self, sensor_id: int) -> None:
        del self._sensors[sensor_id]
        self.core.remove_sensor(sensor_id)
        self._rows = None

    def add_source(self, node: Any, **settings: Any) -> int:
        new = self.core.add_source(position=_place(node)[0], **settings)
        self._sources[new] = node
        self._bodies[new] = body_id(node)
        self._rows = None
        return new

    def remove_source(self, source_id: int) -> None:
        del self._sources[source_id], self._bodies[source_id]
        self.core.remove_source(source_id)
        self._rows = None

    def source_node(self, source_id: int) -> Any:
        """Return the node of a source, None if it has left."""
        return self._sources.get(source_id)

    @method
    def get_stats(self) -> dict:
        """Return sensors, sources, signals under way, pairs in view, rays asked, and the longest wait."""
        return self.core.statistics() if self._scheduler is not None else {}

    def _frame(self, turn: Turn) -> None:
        sensor_ids, sensors, sensor_rows, forwards, source_ids, sources, source_rows = self._row_arrays()
        if sensors:
            read_transforms(sensors, sensor_rows, forwards)
            self.core.move_sensors(sensor_ids, sensor_rows, forwards)
        if sources:
            read_transforms(sources, source_rows)
            self.core.move_sources(source_ids, source_rows)
        self.core.advance(turn.budget)

    def _row_arrays(self) -> tuple[Any, ...]:
        if self._rows is None:
            sensors, sources = self._sensors, self._sources
            self._rows = (
                np.array(list(sensors), np.int32), list(sensors.values()),
                np.zeros((len(sensors), 3), np.float32), np.zeros((len(sensors), 3), np.float32),
                np.array(list(sources), np.int32), list(sources.values()),
                np.zeros((len(sources), 3), np.float32),
            )
        return self._rows

    def _line_of_sight(
        self, origins: NDArray[np.float32], targets: NDArray[np.float32],
        sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32],
    ) -> NDArray[np.bool_] | None:
        if self._rays is None or not self._rays.is_ready:
            self._rays = SightRays(self, self.sight_mask)
        allowed = np.array([self._bodies.get(one, 0) for one in source_ids.tolist()], np.int64)
        return ~self._rays.blocked(origins, targets, allowed)

    def _in_use(self) -> None:
        if self._core is not None:
            raise RefusedValue("senses cannot change once sensors or sources joined; set them before the scene runs")


def _place(node: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    at, ahead = np.zeros((1, 3), np.float32), np.zeros((1, 3), np.float32)
    read_transforms([node], at, ahead)
    return tuple(at[0].tolist()), tuple(ahead[0].tolist())
