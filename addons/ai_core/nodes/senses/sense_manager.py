"""SenseManager: one place where all sensing of a scene happens, once per frame."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import (
    Node,
    RefusedValue,
    Variant,
    gdclass,
    method,
)
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.garbage_collecting import characters_left
from addons.ai_core.nodes.scheduling.scheduled import call_waiting, leave_scheduler, scheduler_of, scheduler_warnings
from addons.ai_core.nodes.senses.felt_collisions import FeltCollisions
from addons.ai_core.nodes.senses.sense_backdrop import Backdrops
from addons.ai_core.nodes.senses.sense_bodies import SenseBodies
from addons.ai_core.nodes.senses.sense_graph_of_scene import graph_of_scene, graph_warnings
from addons.ai_core.nodes.senses.sense_member import refused
from addons.ai_core.nodes.senses.sense_membership import Membership
from addons.ai_core.nodes.senses.sense_own_sources import OwnSources
from addons.ai_core.nodes.senses.sense_picture import SensePicture
from addons.ai_core.nodes.senses.sense_place import GROUP
from addons.ai_core.nodes.senses.sense_saving import SenseSaving
from addons.ai_core.nodes.senses.sense_settings import (
    SenseSettings,
    made_camouflage,
    made_gradual,
    made_modalities,
    made_trails,
)
from addons.ai_core.nodes.senses.sense_space import Space2D, Space3D
from addons.ai_core.nodes.senses.sense_telling import SenseTelling
from ai_core.scheduling.task import Task, Turn
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.sensation import Point
from ai_core.senses.sense_graph import SenseGraph
from ai_core.senses.sense_graph_manager import SenseGraphManager

Rows = NDArray[np.float32]


@gdclass(icon="res://addons/ai_core/icons/sense_manager.svg")
class SenseManager(SenseSettings, SenseBodies, OwnSources, Membership, SenseSaving, Node):
    """Tells sensors what they see, hear and smell of sources, within the AIScheduler's budget.

    Signals weaken with distance, travel at their speed, and are sensed where they
    are strong enough; sight needs a cone and a free line. In graph mode they go by
    regions and portals, such as SenseRegion3D, so that walls stop sounds and smells, too.
    """

    def __init__(self) -> None:
        self._core: RegionalSenseManager | None = None
        self._scheduler: Any = None
        self._task: Task | None = None
        self._space: Any = None
        self._regions: dict[str, Any] = {}        # by name in the graph
        self._portals: dict[str, Any] = {}
        self._fading: list[tuple[float, int]] = []    # when, and the id of which source
        self._contacts: FeltCollisions | None = None
        self._senses: list[str] = []              # names of all modalities
        self._picture: SensePicture | None = None
        self._is_shown: bool = self.show_in_game
        self.begin_owning()
        self.begin_membership()

    def on_enter_tree(self) -> None:
        self.add_to_group(GROUP)
        if self._space is None and self.dimensions == self.Dimensions.THREE:
            self._space = Space3D(self, self.sight_mask)
        elif self._space is None:
            self._space = Space2D(self, self.sight_mask, self.pixels_per_m)

    def on_entered(self) -> None:
        if self._find_scheduler() is not None and self._task is None:
            self._task = self._scheduler.serve(self, self._frame, "senses")
            call_waiting(self, GROUP)

    def on_exit_tree(self) -> None:
        self._hide()
        self.let_go()
        leave_scheduler(self, self._scheduler, self._task)
        characters_left(len(self._sensors))
        for nodes in (self._sensors, self._sources, self._regions, self._portals):
            for node in nodes.values():
                node.lose_manager()
        self._regions, self._portals, self._fading = {}, {}, []
        self.begin_owning()
        self.begin_membership()
        self._task = self._scheduler = self._core = self._contacts = None

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
        modalities, camouflage = made_modalities(self), made_camouflage(self)
        self._contacts = FeltCollisions(self) if self.feels_collisions else None
        senses = self._senses = [one.name for one in modalities]
        settings: dict[str, Any] = {
            "line_of_sight": self._line_of_sight,
            "modalities": modalities,
            "maximum_rays": self.maximum_rays,
            "between": self._walls(),
            "up": self._space.up,
            "faults": self._scheduler.faults,
            "trace": self._scheduler.trace,
            "scent_trails": made_trails(self),
            "camouflage": camouflage,
            "audience": SenseTelling(self),
            "background": Backdrops(self, self._space.rays, camouflage) if self.sees_backgrounds else None,
        }
        if self.mode == self.Mode.REGIONAL:
            return RegionalSenseManager(self._scheduler.clock, **settings)
        graph, self._regions, self._portals = graph_of_scene(
            self, self._scheduler, senses)
        smells = [one.name for one in modalities if one.is_slow]
        return SenseGraphManager(
            self._scheduler.clock, graph, smells=smells, gradual=made_gradual(self, modalities), **settings)

    @property
    def sensor_nodes(self) -> list[Any]:
        """Sensors that joined, in the order they came."""
        return list(self._sensors.values())

    @property
    def place_of(self) -> Callable[[Any], tuple[float, ...]]:
        """Returns where a node is now (m)."""
        found: Callable[[Any], tuple[float, ...]] = self._space.place
        return found

    @property
    def is_sensing(self) -> bool:
        """Whether it is in a scene, and somebody has joined."""
        return self._core is not None

    @property
    def sensor_node(self) -> Callable[[int], Any]:
        """Returns the node of a sensor by its id, None for one that has left."""
        return self._sensors.get

    def rows_of(self, what: Sequence[tuple[int, str, Point]]) -> list[tuple[Any, str, Any, Any]]:
        """Return what signals tell of things that were sensed, with ... for how strong they were."""
        node_of, point_of = self._sources.get, self._space.of
        return [(node_of(source), modality, ..., point_of(place)) for source, modality, place in what]

    @property
    def now_s(self) -> float:
        """Game time of the AI (s)."""
        return self._scheduler.clock.now.seconds if self._scheduler is not None else 0.0

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

    def metres(self, place: Any) -> tuple[float, ...]:
        """Return an engine's vector for the library (m); RefusedValue for one of another space."""
        found: tuple[float, ...] = self._space.metres(place)
        return found

    def source_node(self, source_id: int) -> Any:
        """Return the node of a source, None if it has left."""
        return self._sources.get(source_id)

    def region_node(self, name: str) -> Any:
        """Return the region of that name in the graph, None if it was freed."""
        node = self._regions.get(name)
        return node if node is not None and node.is_valid() else None

    def why_not(self, place: Any) -> str:
        """Return why a region or portal that has entered the tree can be no part of the graph, or ""."""
        if self.mode == self.Mode.REGIONAL:
            return f"its SenseManager '{self.get_name()}' has mode Regional; set mode to Graph"
        if getattr(place, "dimensions", self.has_dimensions) != self.has_dimensions:
            return f"its SenseManager '{self.get_name()}' is in {self.has_dimensions}D; set dimensions there"
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
        with refused():
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
    def change_modality(self, modality: str, range_m: float = -1.0, attenuation: float = -1.0) -> None:
        """Let a sense carry otherwise from now on, as in fog or rain; a negative number leaves what it was.

        In graph mode regions have the attenuation, so only the range can change.
        """
        with refused():
            self.core.change_modality(
                modality, range_m=None if range_m < 0 else range_m,
                attenuation=None if attenuation < 0 else attenuation)

    @method
    def set_importance(self, sensor: Node, importance: float, source: Node = None) -> None:
        """Say how much a sensor matters (0 to 1), or what it sees of one source: it gets its rays sooner.

        Of importance 1 it is asked as if it had waited 8 rounds longer; nobody is left out.
        """
        kind = f"{self.has_dimensions}D"
        is_known = sensor is not None and sensor.is_class(f"Sensor{kind}") and sensor.belongs_to(self) and (
            source is None or (source.is_class(f"SenseSource{kind}") and source.belongs_to(self)))
        if not is_known:
            raise RefusedValue(f"needs a sensor and a source, or null, of this manager, got {sensor!r}, {source!r}")
        with refused():
            self.core.set_importance([sensor.sensor_id], [importance], None if source is None else [source.source_id])

    save_state, load_state = saving("signals under way, what is in view, memories and awareness")

    @method
    def get_stats(self) -> dict:
        """Return how much there is, and how sight keeps up.

        Keys, among others: rays_asked (last frame), pairs_in_view (that take turns for a ray),
        oldest_query_s (how long that one waits that waits longest), longest_wait_s (ever), and
        noticed_within_s: the bound, at the present pace, on the time until what is in view and not
        hidden is noticed.
        """
        if self._scheduler is None:
            return {}
        self.let_go()
        return self.core.statistics()

    def _graph(self) -> SenseGraph:
        if not isinstance(self.core, SenseGraphManager):
            raise RefusedValue("has mode Regional, and no portals; set mode to Graph")
        return self.core.graph

    def _frame(self, turn: Turn) -> None:
        if self._core is None:
            return                  # nobody senses yet; regions and portals may still come
        if self._left:
            self.let_go()
        self._is_in_frame = True
        try:
            self._sense(turn)
        finally:
            self._is_in_frame = False

    def _sense(self, turn: Turn) -> None:
        while self._fading and self._fading[0][0] <= self.now_s:
            node = self._sources.get(heappop(self._fading)[1])
            if node is not None and node.until_s <= self.now_s and not node.has_faded:
                node.fade()
        if self._core is None:
            return                  # who listens to ``faded`` has ended the scene
        rows = self._rows or self._row_arrays()
        core, (sensor_ids, sensors, source_ids, sources) = self._core, rows
        if len(sensor_ids):
            places, forwards, are_copies = core.places_to_put(sensor_ids)
            self._space.look_up(sensors, places, forwards)
            if are_copies:
                core.put_sensors(sensor_ids, places, forwards)
        if len(source_ids):
            places, are_copies = core.source_places_to_put(source_ids)
            self._space.look_up(sources, places)
            if are_copies:
                core.put_sources(source_ids, places)
        if self._contacts is not None:
            self._contacts.tell(self._sensor_bodies, self._bodies, rows)
        core.advance(turn.budget)
        if self._is_shown and self._core is not None:
            self._show()

    def _show(self) -> None:
        if self._picture is None:
            self._picture = SensePicture(self, is_flat=self.dimensions == self.Dimensions.TWO)
        parts = self._sensors, self._sources, self._regions, self._portals
        self._picture.show([one for nodes in parts for one in nodes.values()])

    def _show_set(self) -> None:
        self._is_shown = self.show_in_game      # looked at in every frame
        if not self._is_shown:
            self._hide()

    def _hide(self) -> None:
        if self._picture is not None:
            self._picture.free()
            self._picture = None

    def _place(self, node: Any) -> tuple[list[float], list[float]]:
        at, ahead = np.zeros((1, 3), np.float32), np.zeros((1, 3), np.float32)
        self._space.placed([node]).read(at, ahead)
        return at[0].tolist(), ahead[0].tolist()

    def _row_arrays(self) -> tuple[Any, ...]:
        if self._rows is None:
            sensors, sources = self._sensors, self._sources
            self._rows = (
                np.array(list(sensors), np.int32), self._space.placed(list(sensors.values())),
                np.array(list(sources), np.int32), self._space.placed(list(sources.values())),
            )
            self._rows[0].flags.writeable = self._rows[2].flags.writeable = False    # whose rows these are stays known
        return self._rows

    def _get_configuration_warnings(self) -> list[str]:
        return [*scheduler_warnings(self), *(graph_warnings(self) if self.mode == self.Mode.GRAPH else [])]

    def _mask_changed(self) -> None:
        if self._space is not None:
            self._space.rays.collision_mask = self.sight_mask

    def _has_space(self) -> None:
        if self._space is not None:
            raise RefusedValue("its space cannot change once it was in the tree; set it before the scene runs")

    def _rays_set(self) -> None:
        if self._core is not None:
            self._core.maximum_rays = self.maximum_rays

    def _in_use(self) -> None:
        if self._core is not None:
            raise RefusedValue("senses cannot change once sensors or sources joined; set them before the scene runs")
