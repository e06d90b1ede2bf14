"""SenseManager: one place where all sensing of a scene happens, once per frame."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
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
    report_error,
)
from addons.ai_core.nodes.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.scene_saving import load_node, save_node
from addons.ai_core.nodes.scene_values import path_of
from addons.ai_core.nodes.scheduled import call_waiting, scheduler_of
from addons.ai_core.nodes.sight_rays import SightRays, body_id
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.task import Task, Turn
from ai_core.senses.modality import Modality
from ai_core.senses.regional_sense_manager import RegionalSenseManager

GROUP = "sense_managers"

Name = tuple[str, int]
Rows = NDArray[np.float32]
AHEAD = np.array([[0, 0, -1]], np.float32)


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
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), on_set="_mask_changed", doc="Physics layers that block sight.")
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
        self._without_own: list[Any] = []         # sensors whose own source has not joined yet
        self._off_the_map: set[int] = set()       # instance ids of nodes whose place is no number

    def on_enter_tree(self) -> None:
        self.add_to_group(GROUP)
        if self._rays is None:
            self._rays = SightRays(self, self.sight_mask)

    def on_entered(self) -> None:
        if self._find_scheduler() is not None and self._task is None:
            name = f"{path_of(self._scheduler, self)} senses"
            self._task = self._scheduler.schedule(self._frame, name=name, phase_frames=0)
            self._scheduler.join(self)
            call_waiting(self, GROUP)

    def on_exit_tree(self) -> None:
        if self._task is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
            self._scheduler.leave(self)
        for node in (*self._sensors.values(), *self._sources.values()):
            node.lose_manager()
        self._sensors, self._sources, self._bodies, self._without_own = {}, {}, {}, []
        self._task = self._scheduler = self._core = self._rows = None

    def _find_scheduler(self) -> Any:
        if self._scheduler is None and self.is_inside_tree():
            self._scheduler = scheduler_of(self)
        return self._scheduler

    @property
    def core(self) -> RegionalSenseManager:
        """The sense manager of the library, for behaviors written in Python."""
        if self._core is None:
            if self._find_scheduler() is None:
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
        new = self.core.add_sensor(
            position=position, forward=forward, name=path_of(self._scheduler, node), **settings)
        self._sensors[new] = node
        self._rows = None
        return new

    def remove_sensor(self, sensor_id: int) -> None:
        del self._sensors[sensor_id]
        self.core.remove_sensor(sensor_id)
        self._rows = None

    def add_source(self, node: Any, **settings: Any) -> int:
        new = self.core.add_source(
            position=_place(node)[0], name=path_of(self._scheduler, node), **settings)
        self._sources[new] = node
        self._bodies[new] = body_id(node)
        self._rows = None
        return new

    def await_own_source(self, sensor: Any) -> None:
        """Call ``sensor.find_own_source()`` when more sources have joined."""
        self._without_own.append(sensor)

    def tell_source_joined(self) -> None:
        waiting, self._without_own = self._without_own, []
        for sensor in waiting:
            sensor.find_own_source()

    def remove_source(self, source_id: int) -> None:
        del self._sources[source_id], self._bodies[source_id]
        self.core.remove_source(source_id)
        self._rows = None

    def source_node(self, source_id: int) -> Any:
        """Return the node of a source, None if it has left."""
        return self._sources.get(source_id)

    @method
    def save_state(self) -> dict:
        """Return signals under way, what is in view, memories and awareness.

        AIScheduler.save_state() includes it.
        """
        return save_node(self)

    @method
    def load_state(self, state: dict) -> bool:
        """Take back what save_state() returned; checks all of it before it changes anything."""
        return load_node(self, state)

    @method
    def get_stats(self) -> dict:
        """Return sensors, sources, signals under way, pairs in view, rays asked, and the longest wait."""
        return self.core.statistics() if self._scheduler is not None else {}

    def is_in_use(self) -> bool:
        return self._core is not None

    def saved(self) -> State:
        return {
            "version": 1,
            "senses": self.core.save_state(),
            "sensors": _saved_nodes(self.core.sensor_names, self._sensors),
            "sources": _saved_nodes(self.core.source_names, self._sources),
        }

    def prepared(self, state: object) -> Callable[[], None]:
        fields = Fields.versioned(state, version=1)
        change = self.core.prepare_state(fields.anything("senses"))
        changes = [
            *_prepared_nodes(fields, "sensors", self.core.sensor_names, self._sensors),
            *_prepared_nodes(fields, "sources", self.core.source_names, self._sources),
        ]
        fields.end()

        def change_all() -> None:
            sensors, sources = _by_name(self.core.sensor_names), _by_name(self.core.source_names)
            change()
            self._take_ids(sensors, sources)
            for one in changes:
                one()

        return change_all

    def _take_ids(self, sensors: dict[Name, int], sources: dict[Name, int]) -> None:
        """Give nodes the ids that a loaded game has; told which they had, by name."""
        new_sensors, new_sources = _by_name(self.core.sensor_names), _by_name(self.core.source_names)
        self._sensors = {new_sensors[name]: self._sensors[old] for name, old in sensors.items()}
        self._bodies = {new_sources[name]: self._bodies[old] for name, old in sources.items()}
        self._sources = {new_sources[name]: self._sources[old] for name, old in sources.items()}
        self._rows = None
        for new, node in (*self._sensors.items(), *self._sources.items()):
            node.take_id(new)

    def _frame(self, turn: Turn) -> None:
        sensor_ids, sensors, sensor_rows, forwards, source_ids, sources, source_rows = self._row_arrays()
        if sensors:
            self._read_places(sensors, sensor_rows, forwards)
            self.core.move_sensors(sensor_ids, sensor_rows, forwards)
        if sources:
            self._read_places(sources, source_rows)
            self.core.move_sources(source_ids, source_rows)
        self.core.advance(turn.budget)

    def _read_places(self, nodes: list[Any], rows: Rows, forwards: Rows | None = None) -> None:
        """Read where nodes are; one whose place is no number stays where it was, and is named once."""
        before, faced = rows.copy(), None if forwards is None else forwards.copy()
        read_transforms(nodes, rows, forwards)
        lost = ~np.isfinite(rows).all(axis=1)
        if forwards is not None:
            lost |= ~np.isfinite(forwards).all(axis=1)
        if not lost.any():
            return
        rows[lost] = before[lost]
        if forwards is not None and faced is not None:
            forwards[lost] = faced[lost]
        for row in np.flatnonzero(lost).tolist():
            if nodes[row].instance_id not in self._off_the_map:
                self._off_the_map.add(nodes[row].instance_id)
                report_error(
                    "its global transform holds a NaN or infinity; it is taken to be where it was before", nodes[row])

    def _row_arrays(self) -> tuple[Any, ...]:
        if self._rows is None:
            sensors, sources = self._sensors, self._sources
            self._rows = (
                np.array(list(sensors), np.int32), list(sensors.values()),
                np.zeros((len(sensors), 3), np.float32), np.tile(AHEAD, (len(sensors), 1)),
                np.array(list(sources), np.int32), list(sources.values()),
                np.zeros((len(sources), 3), np.float32),
            )
        return self._rows

    def _line_of_sight(
        self, origins: NDArray[np.float32], targets: NDArray[np.float32],
        sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32],
    ) -> NDArray[np.bool_] | None:
        allowed = np.array([self._bodies.get(one, 0) for one in source_ids.tolist()], np.int64)
        return ~self._rays.blocked(origins, targets, allowed)

    def _mask_changed(self) -> None:
        if self._rays is not None:
            self._rays.collision_mask = self.sight_mask

    def _in_use(self) -> None:
        if self._core is not None:
            raise RefusedValue("senses cannot change once sensors or sources joined; set them before the scene runs")


def _saved_nodes(names: Mapping[int, str], nodes: dict[int, Any]) -> list[State]:
    """Return the properties of each sensor or source, by the order of adding."""
    return [
        {"name": name, "settings": saved_settings(nodes[one], nodes[one].saved_names)}
        for one, name in names.items() if one in nodes
    ]


def _prepared_nodes(
    fields: Fields, field: str, names: Mapping[int, str], nodes: dict[int, Any]
) -> list[Callable[[], None]]:
    """Check saved properties, those of one name by the order of adding; return what puts them."""
    ids, numbers = _by_name(names), Counter[str]()
    changes = []
    for row in fields.groups(field):
        name = row.text("name")
        node = nodes.get(ids.get((name, numbers[name]), -1))
        numbers[name] += 1
        if node is None:
            row.refuse("name", f"names {name!r}, which is not in the scene")
        changes.append(prepared_settings(node, node.saved_names, row.group("settings")))
        row.end()
    return changes


def _by_name(names: Mapping[int, str]) -> dict[Name, int]:
    """Return ids by name and number among those of the same name."""
    found: dict[Name, int] = {}
    numbers: Counter[str] = Counter()
    for one, name in names.items():
        found[name, numbers[name]] = one
        numbers[name] += 1
    return found


def _place(node: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    at, ahead = np.zeros((1, 3), np.float32), np.zeros((1, 3), np.float32)
    read_transforms([node], at, ahead)
    return tuple(at[0].tolist()), tuple(ahead[0].tolist())
