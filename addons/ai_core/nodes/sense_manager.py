"""SenseManager: one place where all sensing of a scene happens, once per frame."""
from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    Node,
    RefusedValue,
    Variant,
    export,
    gdclass,
    method,
    report_error,
)
from addons.ai_core.nodes.scene_saving import load_node, save_node
from addons.ai_core.nodes.scene_values import path_of
from addons.ai_core.nodes.scheduled import call_waiting, scheduler_of, scheduler_warnings
from addons.ai_core.nodes.sense_graph_of_scene import graph_of_scene, graph_warnings
from addons.ai_core.nodes.sense_picture import SensePicture
from addons.ai_core.nodes.sense_place import GROUP
from addons.ai_core.nodes.sense_saving import SenseSaving
from addons.ai_core.nodes.sense_space import Space2D, Space3D
from addons.ai_core.nodes.sight_rays import body_id
from ai_core.scheduling.task import Task, Turn
from ai_core.senses.modality import Modality
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.sense_graph import SenseGraph
from ai_core.senses.sense_graph_manager import SenseGraphManager

HINT_FILE = 13
Rows = NDArray[np.float32]
AHEAD = np.array([[0, 0, -1]], np.float32)


@gdclass(icon="res://addons/ai_core/icons/sense_manager.svg")
class SenseManager(SenseSaving, Node):
    """Tells sensors what they see, hear and smell of sources, within the AIScheduler's budget.

    Signals weaken with distance, travel at their speed, and are sensed where they
    are strong enough; sight needs a cone and a free line. In graph mode they go by
    SenseRegion3D and SensePortal3D, so that walls stop sounds and smells, too.
    """

    class Mode(IntEnum):
        REGIONAL = 0
        GRAPH = 1

    class Dimensions(IntEnum):
        THREE = 0
        TWO = 1

    mode = export(
        Mode, Mode.REGIONAL, on_set="_in_use",
        doc="Regional: for open ground; every signal carries as far as its range. Graph: for buildings; signals"
            " go by SenseRegion3D and SensePortal3D.")
    graph_file = export(
        str, "", hint=(HINT_FILE, "*.json"), on_set="_in_use", shown_when=("mode", Mode.GRAPH),
        doc="A sense graph as text, such as a SenseGraphBaker writes: its regions and portals come before those of the"
            " scene. 2D levels need it.")
    dimensions = export(
        Dimensions, Dimensions.THREE, on_set="_has_space",
        doc="Three: senses Sensor3D and SenseSource3D. Two: Sensor2D and SenseSource2D. Set it before the scene runs.")
    pixels_per_m = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px", on_set="_has_space",
        shown_when=("dimensions", Dimensions.TWO),
        doc="How long a metre is in 2D; ranges and distances are in metres there, too.")
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
    smell_range_m = export(
        float, 30.0, range=(1, 1000, 0.5), or_greater=True, unit="m", group="Smell", on_set="_in_use",
        doc="No smell carries farther than this.")
    smell_attenuation = export(
        float, 0.9, range=(0, 1, 0.001), on_set="_in_use",
        shown_when=("mode", Mode.REGIONAL),
        doc="Share of a smell that is kept per metre. In graph mode smells thin out in their regions instead.")
    smell_speed_m_per_s = export(
        float, 1.0, range=(0.01, 1000, 0.01), or_greater=True, unit="m/s", on_set="_in_use",
        doc="How fast a smell spreads.")
    maximum_rays = export(
        int, 256, range=(1, 10000, 1), or_greater=True, unit="rays/frame", group="Optimizations", on_set="_in_use",
        doc="Most lines of sight asked in one frame; the longest unasked go first.")
    show_in_game = export(
        bool, False, group="Debug", on_set="_show_set",
        doc="Draw what sensors, sources, regions and portals reach into the running game; some 50 µs a node and frame.")

    def __init__(self) -> None:
        self._core: RegionalSenseManager | None = None
        self._scheduler: Any = None
        self._task: Task | None = None
        self._space: Any = None
        self._sensors: dict[int, Any] = {}        # core id -> node
        self._sources: dict[int, Any] = {}
        self._bodies: dict[int, int] = {}         # source id -> instance id of its body
        self._regions: dict[str, Any] = {}        # by name in the graph
        self._portals: dict[str, Any] = {}
        self._fading: list[tuple[float, int]] = []    # when, and the id of which source
        self._rows: tuple[Any, ...] | None = None
        self._without_own: list[Any] = []         # sensors whose own source has not joined yet
        self._picture: SensePicture | None = None
        self._off_the_map: set[int] = set()       # instance ids of nodes whose place is no number

    def on_enter_tree(self) -> None:
        self.add_to_group(GROUP)
        if self._space is None and self.dimensions == self.Dimensions.THREE:
            self._space = Space3D(self, self.sight_mask)
        elif self._space is None:
            self._space = Space2D(self, self.sight_mask, self.pixels_per_m)

    def on_entered(self) -> None:
        if self._find_scheduler() is not None and self._task is None:
            name = f"{path_of(self._scheduler, self)} senses"
            self._task = self._scheduler.schedule(self._frame, name=name, phase_frames=0)
            self._scheduler.join(self)
            call_waiting(self, GROUP)

    def on_exit_tree(self) -> None:
        self._hide()
        if self._task is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
            self._scheduler.leave(self)
        for nodes in (self._sensors, self._sources, self._regions, self._portals):
            for node in nodes.values():
                node.lose_manager()
        self._regions, self._portals, self._fading = {}, {}, []
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
            self._core = self._made()
        return self._core

    def _made(self) -> RegionalSenseManager:
        settings: dict[str, Any] = {
            "line_of_sight": self._line_of_sight,
            "modalities": self._modalities(),
            "maximum_rays": self.maximum_rays,
            "up": self._space.up,
            "faults": self._scheduler.faults,
            "trace": self._scheduler.trace,
        }
        if self.mode == self.Mode.REGIONAL:
            return RegionalSenseManager(self._scheduler.clock, **settings)
        graph, self._regions, self._portals = graph_of_scene(self, self._scheduler)
        return SenseGraphManager(self._scheduler.clock, graph, smells=["smell"], **settings)

    def _modalities(self) -> tuple[Modality, ...]:
        return (
            Modality.sight(range_m=self.sight_range_m),
            Modality.hearing(
                range_m=self.hearing_range_m, attenuation=self.hearing_attenuation,
                inverse_speed_s_per_m=1 / self.sound_speed_m_per_s),
            Modality.smell(
                range_m=self.smell_range_m, attenuation=self.smell_attenuation,
                inverse_speed_s_per_m=1 / self.smell_speed_m_per_s),
        )

    @property
    def now_s(self) -> float:
        """Game time of the AI (s)."""
        return self._scheduler.clock.now.seconds if self._scheduler is not None else 0.0

    def add_sensor(self, node: Any, **settings: Any) -> int:
        position, forward = self._place(node)
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
            position=self._place(node)[0], name=path_of(self._scheduler, node), **settings)
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

    def fade_later(self, source_id: int, at_s: float) -> None:
        """Call the ``fade`` of a source at a moment, if it still is to fade then."""
        heappush(self._fading, (at_s, source_id))

    def set_light_emitter(self, source_id: int, gives_light: bool) -> None:
        """Let a source show through two portals, or one; without a graph there are none."""
        if isinstance(self.core, SenseGraphManager):
            self.core.set_light_emitter(source_id, gives_light)

    @property
    def has_dimensions(self) -> int:
        """3 or 2."""
        return 3 if self.dimensions == self.Dimensions.THREE else 2

    def point(self, place: Sequence[float]) -> Any:
        """Return a place of the library (m) as the engine's vector."""
        return self._space.of(place)

    def source_node(self, source_id: int) -> Any:
        """Return the node of a source, None if it has left."""
        return self._sources.get(source_id)

    def region_node(self, name: str) -> Any:
        """Return the SenseRegion3D of that name in the graph, None if it was freed."""
        node = self._regions.get(name)
        return node if node is not None and node.is_valid() else None

    def why_not(self, place: Any) -> str:
        """Return why a region or portal that has entered the tree can be no part of the graph, or ""."""
        if self.mode == self.Mode.REGIONAL:
            return f"its SenseManager '{self.get_name()}' has mode Regional; set mode to Graph"
        if self._core is None or path_of(self._scheduler, place) in (*self._regions, *self._portals):
            return ""
        return "the graph is made already; add regions and portals before the first sensor or source"

    @method
    def set_portal_open(self, name: str, is_open: bool) -> None:
        """Open or shut the portals of a name in graph_file; those of the scene have is_open themselves."""
        self._graph().set_open(name, is_open)

    @method
    def is_portal_open(self, name: str) -> bool:
        """Return whether the portals of a name in graph_file are open."""
        return self._graph().is_open(name)

    @method
    def add_noise(self, modality: str, level: float, position: Variant = None) -> int:
        """Let there be a background noise: what is weaker at the sensor goes under. Returns its id.

        It weakens from its position; without one it is everywhere.
        """
        return self.core.add_noise(modality, level, None if position is None else self._space.metres(position))

    @method
    def remove_noise(self, noise: int) -> None:
        """Let a background noise end, by its id."""
        self.core.remove_noise(noise)

    @method
    def blow(self, velocity: Variant) -> None:
        """Let the wind blow at a velocity, a Vector3 in m/s, or in 2D a Vector2 in px/s: smells drift with it.

        In graph mode portals say where to.
        """
        self.core.blow(self._space.metres(velocity))

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

    def _graph(self) -> SenseGraph:
        if not isinstance(self.core, SenseGraphManager):
            raise RefusedValue("has mode Regional, and no portals; set mode to Graph")
        return self.core.graph

    def _frame(self, turn: Turn) -> None:
        if self._core is None:
            return                  # nobody senses yet; regions and portals may still come
        while self._fading and self._fading[0][0] <= self.now_s:
            node = self._sources.get(heappop(self._fading)[1])
            if node is not None and node.until_s <= self.now_s and not node.has_faded:
                node.fade()
        sensor_ids, sensors, sensor_rows, forwards, source_ids, sources, source_rows = self._row_arrays()
        if sensors:
            self._read_places(sensors, sensor_rows, forwards)
            self.core.move_sensors(sensor_ids, sensor_rows, forwards)
        if sources:
            self._read_places(sources, source_rows)
            self.core.move_sources(source_ids, source_rows)
        self.core.advance(turn.budget)
        if self.show_in_game:
            self._show(sensors, sources)

    def _show(self, sensors: list[Any], sources: list[Any]) -> None:
        if self._picture is None:
            self._picture = SensePicture(self, is_flat=self.dimensions == self.Dimensions.TWO)
        self._picture.show([*sensors, *sources, *self._regions.values(), *self._portals.values()])

    def _show_set(self) -> None:
        if not self.show_in_game:
            self._hide()

    def _hide(self) -> None:
        if self._picture is not None:
            self._picture.free()
            self._picture = None

    def _read_places(self, nodes: list[Any], rows: Rows, forwards: Rows | None = None) -> None:
        """Read where nodes are; one whose place is no number stays where it was, and is named once."""
        before, faced = rows.copy(), None if forwards is None else forwards.copy()
        self._space.read(nodes, rows, forwards)
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

    def _place(self, node: Any) -> tuple[list[float], list[float]]:
        at, ahead = np.zeros((1, 3), np.float32), np.zeros((1, 3), np.float32)
        self._space.read([node], at, ahead)
        return at[0].tolist(), ahead[0].tolist()

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
        return ~self._space.rays.blocked(origins, targets, allowed)

    def _get_configuration_warnings(self) -> list[str]:
        return [*scheduler_warnings(self), *(graph_warnings(self) if self.mode == self.Mode.GRAPH else [])]

    def _mask_changed(self) -> None:
        if self._space is not None:
            self._space.rays.collision_mask = self.sight_mask

    def _has_space(self) -> None:
        if self._space is not None:
            raise RefusedValue("its space cannot change once it was in the tree; set it before the scene runs")

    def _in_use(self) -> None:
        if self._core is not None:
            raise RefusedValue("senses cannot change once sensors or sources joined; set them before the scene runs")
