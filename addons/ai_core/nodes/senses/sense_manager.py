"""SenseManager: runs all sensing of a scene once per frame."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.declarations import HINT_LAYERS_2D_PHYSICS, HINT_LAYERS_3D_PHYSICS, array_of, dictionary_of
from addons.ai_core.bridge.gd import (
    Node,
    PackedStringArray,
    RefusedValue,
    Variant,
    body_id,
    emit_each,
    engine_step,
    export,
    gdclass,
    get_object,
    method,
    report_error,
    with_connections,
)
from addons.ai_core.nodes.characters.agent_places import Dimensions
from addons.ai_core.nodes.characters.sensor_feed import Noise, SensorFeed
from addons.ai_core.nodes.saving.node_settings import core_settings
from addons.ai_core.nodes.saving.node_state import SavedState
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.saving.scene_values import leave_out, path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    call_waiting,
    enter_group,
    exit_group,
    leave_scheduler,
    scheduler_of,
    scheduler_warnings,
)
from addons.ai_core.nodes.senses.bodies_between import Backdrops, MufflingWalls
from addons.ai_core.nodes.senses.felt_collisions import FeltCollisions
from addons.ai_core.nodes.senses.own_sources import OwnSources
from addons.ai_core.nodes.senses.physics_space import PhysicsSpace2D, PhysicsSpace3D
from addons.ai_core.nodes.senses.sense_drawing import SensePicture
from addons.ai_core.nodes.senses.sense_member import lost_members, refused
from addons.ai_core.nodes.senses.sense_place import GROUP, TRAIL, graph_of_scene, graph_warnings
from addons.ai_core.nodes.senses.sight_fans import sight_fans
from ai_core.errors import UnknownNameError
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part
from ai_core.saving.fields import State, StateError, refuse
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.saving.kinds import Kind, ListOf, Row, Text
from ai_core.saving.matching import match_by_name
from ai_core.scheduling.task import Task, Turn
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_manager import SenseGraphManager
from ai_core.senses.id_table import SLOT_MASK, grown
from ai_core.senses.modality import Modality
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.scent.scent_trails import ScentTrails
from ai_core.senses.sensation import LevelChange, MemoryChange, Point, Sensation
from ai_core.senses.sensor_table import LONGEST_PERIOD
from ai_core.senses.sight.camouflage import Camouflage

FEW = 20
"""Number of ids up to which a comparison with each one takes less time than a search in all (count)."""

HINT_FILE = 13
SENSORS_DRAWN = 8
"""Sensors drawn in each frame (count); more are drawn every few frames, so that the game stays smooth."""


def made_modalities(manager: Any) -> list[Modality]:
    """Return all modalities of a manager; each invalid one is reported once and left out."""
    found = {one.name: one for one in _own_modalities(manager)}
    for place, resource in enumerate(manager.modalities):
        try:
            one = resource.modality(manager.unit)
            if one.name == TRAIL and manager.keeps_trails:
                raise ValueError(f"modality_name must not be {TRAIL!r} while keeps_trails is on; choose another name")
        except (ValueError, AttributeError) as error:
            said = error if isinstance(error, ValueError) else "must be a SenseModality, got null; choose one"
            label = "" if resource is None else resource.resource_path or resource.resource_name
            label = f" ({label})" if label else ""
            report_error(f"modalities[{place}]{label} is ignored: {said}", manager)
        else:
            found[one.name] = one
    return list(found.values())


def _own_modalities(manager: Any) -> list[Modality]:
    settings = core_settings(manager, manager.unit)
    touch_m = settings["touch"]["range_m"]
    senses = [
        Modality.sight(**settings["sight"]), Modality.hearing(**settings["hearing"]),
        Modality.smell(**settings["smell"]),
        Modality.touch(range_m=touch_m) if touch_m > 0 else Modality("touch", range_m=1.0)]
    if manager.keeps_trails:
        smell = settings["smell"]
        senses.append(Modality(TRAIL, range_m=smell["range_m"], kept_per_m=smell["kept_per_m"]))
    return senses



def made_gradual(manager: Any, modalities: list[Modality]) -> list[str]:
    """Return the names of gradual modalities; each unknown name is reported once and left out."""
    emitted = [one.name for one in modalities if not one.is_continuous]
    for name in manager.gradual_senses:
        if name not in emitted:
            report_error(f"gradual_senses: {UnknownNameError('emitted modality', name, emitted)}", manager)
    return [name for name in emitted if name in manager.gradual_senses]


def made_trails(manager: Any) -> ScentTrails | None:
    """Return the scent trails of a manager; None if keeps_trails is off."""
    if not manager.keeps_trails:
        return None
    return ScentTrails(modality_name=TRAIL, **core_settings(manager, manager.unit)["trails"])


def made_camouflage(manager: Any) -> Camouflage:
    """Return the camouflage of a manager; each invalid pair of patterns is reported once and left out."""
    factors = {}
    for pair, factor in manager.camouflage.items() if manager.sees_backgrounds else ():
        source, _, behind = str(pair).partition("/")
        try:
            if not source or not behind:
                raise ValueError('the key must be "pattern of the source/pattern behind it"')
            Camouflage({(source, behind): factor})
        except (TypeError, ValueError) as error:
            report_error(f"camouflage[{pair!r}] is ignored: {error}", manager)
        else:
            factors[source, behind] = factor
    return Camouflage(factors)


class BodiesBySlot:
    """Instance ids of the bodies of sensors or sources, by the slots of their ids."""

    def __init__(self) -> None:
        self._bodies = np.zeros(1, np.int64)       # the last row is for no id

    def put(self, known: int, body: int) -> None:
        """Set the body of an id; 0 for none."""
        row = known & SLOT_MASK
        if row + 1 >= len(self._bodies):
            self._bodies = grown(self._bodies, 2 * row + 2, 0)
        self._bodies[row] = body

    def body_of(self, known: int) -> int:
        """Return the body of an id that ``put`` has set."""
        return int(self._bodies[known & SLOT_MASK])

    def bodies_of(self, ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the body of each id, 0 for none, for -1, and for an id that ``put`` never set."""
        return self._bodies.take(ids & SLOT_MASK, mode="clip")      # the last row for -1, and for clues of the library


def _saved_nodes(names: Mapping[int, str], nodes: dict[int, Any]) -> list[Any]:
    """Return the name and state of each sensor or source, in the order in which they joined."""
    return [[name, nodes[one].saved()] for one, name in names.items() if one in nodes]


NAMED = ListOf(Row(lambda name, state: (name, state), Text(), Kind()))


def _prepared_nodes(plain: object, place: str, names: Mapping[int, str], nodes: dict[int, Any]) -> Change:
    """Check saved states, matched by name and order of joining; return the function that loads them."""
    saved, here = NAMED.read(plain, place, None), [one for one in names if one in nodes]
    try:
        found = match_by_name("node", [name for name, _ in saved], [names[one] for one in here])
    except StateError as error:
        refuse(place, f"does not fit the scene: {error}")
    states = [(nodes[here[index]], state) for index, (_, state) in zip(found, saved, strict=True)]
    changes = [node.STATE.prepare(node, state, f"{place}[{index}][1]") for index, (node, state) in enumerate(states)]
    return lambda: [change() for change in changes]


def _without_percepts(senses: Any, members: set[tuple[bool, str]]) -> Any:
    """Return the library's saved state without percepts and notices by sensors, and of sources, of these names."""
    try:
        sensors, sources = (
            {row["id"] for row in senses[kind]["rows"] if (is_sensor, row["name"]) in members}
            for is_sensor, kind in ((True, "sensors"), (False, "sources")))
        kept = {name: [
            row for row in senses["percepts"][name]
            if row["sensor_id"] not in sensors and row.get("target", row.get("source_id")) not in sources]
            for name in ("rows", "notices", "heard")}
        return {**senses, "percepts": {**senses["percepts"], **kept}}
    except (AttributeError, LookupError, TypeError):
        return senses                    # the next reader refuses it with the reason


SENSED, HEARING = "sensed", "hearing"


class SenseSignals:
    """Emits the signals of sensors for the library's sense manager."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def receive(self, sensations: list[Sensation]) -> None:
        """Emit the signals of a batch in order; stop if a callback ends the scene.

        Who connects to a sensor in a callback of the batch is told from the next batch on.

        Cost: two crossings, and one more after each sensor whose callback is in Python; 0.1 µs per sensor without
        connections.
        """
        manager, first = self._manager, 0
        self._feed(sensations)
        node_of = manager.sensor_node
        told = [sensations[one] for one in with_connections(SENSED, [node_of(one.sensor_id) for one in sensations])]
        if not told:
            return
        stimuli: dict[tuple[int, str, Point], int] = {}
        which = [stimuli.setdefault((one.source_id, one.modality, one.position), len(stimuli)) for one in told]
        while first < len(told) and manager.is_sensing:
            first = emit_each(
                SENSED, [node_of(one.sensor_id) for one in told], manager.rows_of(stimuli), which,
                [one.intensity for one in told], first)

    def change(self, change: MemoryChange | LevelChange) -> None:
        """Emit the signal of what changed in memory or awareness of a sensor, unless that has left."""
        node = self._manager.sensor_node(change.sensor_id)
        if node is not None:
            node.emit_change(change)

    def _feed(self, sensations: list[Sensation]) -> None:
        """Hand noises to the nodes that decide by a sensor; a signal to each would cost a crossing."""
        feeds: list[SensorFeed] = []
        noises: list[Noise] = []
        strengths: list[float] = []
        by_cause: dict[tuple[int, Point], Noise] = {}
        node_of = self._manager.sensor_node
        for sensor_id, source_id, modality, strength, place, _, _, _ in sensations:
            node = node_of(sensor_id) if modality == HEARING else None
            for feed in node.feeds if node is not None else ():
                cause = source_id, place
                noise = by_cause.get(cause)
                if noise is None:
                    noise = by_cause[cause] = feed.noise_of(*cause)
                feeds.append(feed)
                noises.append(noise)
                strengths.append(strength)
        if feeds:
            SensorFeed.hear(feeds, noises, strengths)


@gdclass(icon="res://addons/ai_core/icons/sense_manager.svg", keywords="perception, stealth, vision, hearing")
class SenseManager(SavedState, Node):
    """Lets sensors see, hear, smell and feel sources, within the budget of the AIScheduler.

    A signal weakens with distance, travels at the speed of its modality, and is sensed by every sensor whose
    threshold it reaches. Sight needs a sight cone and a free line of sight. In graph mode signals travel through
    regions and portals, such as SenseRegion3D and SensePortal3D, so that walls stop sounds and smells as well.
    """

    def __init__(self) -> None:
        self._core: RegionalSenseManager | None = None
        self._scheduler: Any = None
        self._task: Task | None = None
        self._space: Any = None
        self._regions: dict[str, Any] = {}        # by name in the graph
        self._portals: dict[str, Any] = {}
        self._fading: list[tuple[float, int]] = []    # time, and the id of the source
        self._contacts: FeltCollisions | None = None
        self._senses: list[str] = []              # names of all modalities
        self._picture: SensePicture | None = None
        self.is_shown: bool = self.show_in_game
        self._may_rest: bool = self.period > 1
        self._frames_unshown = 0                  # since the last drawing
        self._reset_members()

    def on_enter_tree(self) -> None:
        enter_group(self, GROUP)
        if self._space is None and self.dimensions == self.Dimensions.THREE:
            self._space = PhysicsSpace3D(self, self.sight_mask)
        elif self._space is None:
            self._space = PhysicsSpace2D(self, self.sight_mask, self.pixels_per_meter)

    def on_entered(self) -> None:
        if self._find_scheduler() is not None and self._task is None:
            self._task = self._scheduler.schedule_service(self, self._frame, "senses")
            call_waiting(self, GROUP)

    def on_exit_tree(self) -> None:
        exit_group(self, GROUP)
        self._hide()
        self.flush_removed()
        leave_scheduler(self, self._scheduler, self._task)
        for nodes in (self._sensors, self._sources, self._regions, self._portals):
            for node in nodes.values():
                node.lose_manager()
        for one in (*self._sensors.values(), *self._sources.values()):
            if one.is_inside_tree():
                lost_members.add(one)
        self._regions, self._portals, self._fading = {}, {}, []
        self._reset_members()
        self._task = self._scheduler = self._core = self._contacts = None

    def _find_scheduler(self) -> Any:
        if self._scheduler is None and self.is_inside_tree():
            self._scheduler = scheduler_of(self)
        return self._scheduler

    @property
    def core(self) -> RegionalSenseManager:
        """The library's sense manager, for behaviors written in Python."""
        if self._core is None:
            if self._find_scheduler() is None:
                raise RefusedValue("needs an AIScheduler; add the SenseManager to a scene that has one before using it")
            self._core = self._made()
        return self._core

    def _made(self) -> RegionalSenseManager:
        modalities, camouflage = made_modalities(self), made_camouflage(self)
        self._contacts = FeltCollisions(self) if self.feels_collisions else None
        self._places = self._space.places(), self._space.places()
        senses = self._senses = [one.name for one in modalities]
        settings: dict[str, Any] = {
            "line_of_sight": self._line_of_sight, "modalities": modalities, "max_rays": self.max_rays,
            "period_frames": self.period, "occlusion": self._walls(), "up": self._space.up,
            "faults": self._scheduler.faults, "trace": self._scheduler.trace, "scent_trails": made_trails(self),
            "camouflage": camouflage, "audience": SenseSignals(self),
            "background": Backdrops(self, self._space, camouflage) if self.sees_backgrounds else None}
        if self.mode == self.Mode.REGIONAL:
            return RegionalSenseManager(self._scheduler.clock, **settings)
        smells = [one.name for one in modalities if one.is_slow]
        graph, self._regions, self._portals = graph_of_scene(self, self._scheduler, senses, smells)
        return SenseGraphManager(
            self._scheduler.clock, graph, smells=smells, gradual=made_gradual(self, modalities), **settings)

    @property
    def sensor_nodes(self) -> list[Any]:
        """All sensors, in the order in which they joined."""
        return list(self._sensors.values())

    @property
    def place_of(self) -> Callable[[Any], tuple[float, ...]]:
        """Function that returns the position of a node (m)."""
        found: Callable[[Any], tuple[float, ...]] = self._space.place
        return found

    @property
    def is_sensing(self) -> bool:
        """Whether the node is in a scene, and a sensor or source has joined."""
        return self._core is not None

    @property
    def sensor_node(self) -> Callable[[int], Any]:
        """Function that returns the node of a sensor by id, None if it has left."""
        return self._sensors.get

    def rows_of(self, what: Iterable[tuple[int, str, Point]]) -> list[tuple[Any, ...]]:
        """Return the signal arguments of sensed stimuli, with ... in place of the strength."""
        nodes, point_of = self._sources, self._space.of
        rows: list[tuple[Any, ...]] = []
        for source, modality, place in what:
            node = nodes.get(source)
            rows.append((node, modality, ..., point_of(place), None if node is None else node.character_node))
        return rows

    @property
    def now_s(self) -> float:
        """Game time of the AI (s)."""
        return self._scheduler.clock.now.seconds if self._scheduler is not None else 0.0

    def fade_later(self, source_id: int, at_s: float) -> None:
        """Call ``fade`` of a source at a time (s), if that is still its time to fade."""
        if len(self._fading) > 2 * len(self._sources) + 64:     # most are of times that were set again
            self._collect_fading()
        heappush(self._fading, (at_s, source_id))

    def _collect_fading(self) -> None:
        self._fading = [(node.until_s, one) for one, node in self._sources.items() if node.until_s < math.inf]
        heapify(self._fading)

    @property
    def is_flat(self) -> bool:
        """Whether it senses in 2D."""
        return self.dimensions == self.Dimensions.TWO

    @property
    def unit(self) -> float:
        """Length of a metre in units of the scene: 1 in 3D, pixels_per_meter in 2D."""
        return self.pixels_per_meter if self.is_flat else 1.0

    @property
    def has_dimensions(self) -> int:
        """3 or 2."""
        return 3 if self.dimensions == self.Dimensions.THREE else 2

    def point(self, place: Sequence[float]) -> Any:
        """Return a position of the library (m) as an engine vector."""
        return self._space.of(place)

    def metres(self, place: Any) -> tuple[float, ...]:
        """Return an engine vector for the library (m); raise RefusedValue for a vector of other dimensions."""
        found: tuple[float, ...] = self._space.metres(place)
        return found

    def source_node(self, source_id: int) -> Any:
        """Return the node of a source, None if it has left."""
        return self._sources.get(source_id)

    def source_nodes(self) -> Mapping[int, Any]:
        """Return the nodes of all sources by id."""
        return self._sources

    def source_of(self, node: Any) -> Any:
        """Return a source of this manager: the node itself, or the source with the smallest id of a character.

        None if there is none.

        Cost: O(sources) for a character.
        """
        if node.is_class("SenseSource3D") or node.is_class("SenseSource2D"):
            return node if node.belongs_to(self) else None
        own = (one for one, source in self._sources.items() if source.character_node == node)
        return self._sources.get(min(own, default=-1))

    def character_of(self, source_id: int) -> Any:
        """Return the character of a source, None if either has left."""
        node = self._sources.get(source_id)
        return None if node is None else node.character_node

    def region_node(self, name: str) -> Any:
        """Return the region node of a name in the graph, None if it was freed."""
        node = self._regions.get(name)
        return node if node is not None and node.is_valid() else None

    def why_not(self, place: Any) -> str:
        """Return why a region or portal in the tree cannot be part of the graph, or ""."""
        if self.mode == self.Mode.REGIONAL:
            return f"its SenseManager '{self.get_name()}' has mode Regional; set mode to Graph"
        if self._core is None or path_of(self._scheduler, place) in (*self._regions, *self._portals):
            return ""
        return "the graph is already built; add regions and portals before the first sensor or source"

    @method
    def set_portal_open(self, name: str, is_open: bool) -> None:
        """Open or close the portals of a name in graph_file. For portals of the scene, set their is_open instead."""
        self._graph().set_open(name, is_open)

    @method
    def is_portal_open(self, name: str) -> bool:
        """Return whether the portals of a name in graph_file are open."""
        return self._graph().is_open(name)

    @method
    def add_noise(self, modality: str, level: float, position: Variant = None) -> int:
        """Add a background noise, and return its id, or 0 with an error.

        A signal weaker than the noise at the sensor is not sensed. The noise weakens with the distance from its
        position, not by walls and doors; without a position it is equally loud everywhere.
        """
        with refused():
            return self.core.add_noise(modality, level, None if position is None else self._space.metres(position))

    @method
    def remove_noise(self, noise: int) -> None:
        """Remove a background noise by its id."""
        self.core.remove_noise(noise)

    @method
    def set_wind(self, velocity: Variant) -> None:
        """Set the wind, with which smells drift: a Vector3 in m/s, or in 2D a Vector2 in px/s.

        In graph mode smells drift through portals.
        """
        self.core.set_wind(self._space.metres(velocity))

    @method
    def change_modality(self, modality: str, range: float = -1.0, kept_per_meter: float = -1.0) -> None:
        """Change the range and the share kept per metre of a modality, as in fog or rain; -1 keeps the present value.

        In graph mode only the range can change, because regions set the share kept per metre.
        """
        with refused():
            self.core.change_modality(
                modality, range_m=None if range < 0 else range / self.unit,
                kept_per_m=None if kept_per_meter < 0 else kept_per_meter)

    @method
    def set_importance(self, sensor: Node, importance: float, source: Node = None) -> None:
        """Set the importance (0 to 1) of a sensor, or of one source to that sensor, for its share of the rays.

        Importance 1 counts like a wait of 8 more passes. Sensors of importance 0 still get their rays.
        """
        kind = f"{self.has_dimensions}D"
        is_known = sensor is not None and sensor.is_class(f"Sensor{kind}") and sensor.belongs_to(self) and (
            source is None or (source.is_class(f"SenseSource{kind}") and source.belongs_to(self)))
        if not is_known:
            raise RefusedValue(f"needs a sensor, and a source or null, of this manager, got {sensor!r}, {source!r}")
        with refused():
            self.core.set_importance([sensor.sensor_id], [importance], None if source is None else [source.source_id])

    STATE = DeclaredState(senses=Hook(), sensors=Hook(), sources=Hook(), felt=Hook())
    save_state, load_state = saving("signals under way, targets in view, memories and awareness")

    class Mode(IntEnum):
        REGIONAL = 0
        GRAPH = 1
    Dimensions = Dimensions
    mode = export(
        Mode, Mode.REGIONAL, live=False,
        doc="Regional: signals travel freely up to their range, for open ground. Graph: signals travel through"
            " regions and portals, such as SenseRegion3D and SensePortal3D, for buildings.")
    graph_file = export(
        str, "", hint=(HINT_FILE, "*.json"), live=False, shown_when=("mode", Mode.GRAPH),
        doc="File of a sense graph, as a SenseGraphBaker writes it. Its regions and portals precede those of the"
            " scene.")
    gradual_senses = export(
        PackedStringArray, (), live=False, shown_when=("mode", Mode.GRAPH),
        doc="Modalities whose waves are simulated as they travel, such as \"hearing\" with a low sound_speed: a"
            " door that closes meanwhile stops the wave, and a moving sensor senses it where the two meet.")
    dimensions = export(
        Dimensions, Dimensions.THREE, words=("3D", "2D"), on_set="_has_space",
        doc="3D: works with Sensor3D and SenseSource3D. 2D: works with Sensor2D and SenseSource2D. Set it before the"
            " scene runs.")
    pixels_per_meter = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px/m", on_set="_has_space",
        shown_when=("dimensions", Dimensions.TWO),
        doc="Number of pixels in a metre, for shares per metre and for volumes. Distances are in pixels; their defaults"
            " in 2D are those for 32 pixels and do not change with it.")
    modalities = export(
        list, (), hint=array_of("SenseModality"), live=False,
        doc="Custom modalities, such as telepathy or fear. A modality named sight, hearing, smell or touch replaces the"
            " built-in modality of that name.")
    sight_range = export(
        float, 60.0, range=(1, 1000, 0.5), or_greater=True, unit="m", group="Sight", core="sight.range_m", live=False,
        doc="Largest distance of sight; it limits the ranges of all sight cones.")
    sight_still_visibility = export(
        float, 1.0, range=(0, 1, 0.01), core="sight.still_share", live=False,
        doc="Factor on the strength of a source that stands still. Moving, it becomes more visible, up to its whole"
            " strength at sight_full_motion_speed. With 1 motion makes no difference.")
    sight_full_motion_speed = export(
        float, 2.0, range=(0.01, 100, 0.01), or_greater=True, unit="m/s", core="sight.full_motion_m_per_s",
        live=False,
        doc="Speed from which a source has its whole strength, if sight_still_visibility is below 1. The speed is"
            " that of the source, smoothed over 0.2 s.")
    sight_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), hint_2d=HINT_LAYERS_2D_PHYSICS, on_set="_mask_changed",
        doc="Physics layers that block sight.")
    sees_backgrounds = export(
        bool, False, group="Camouflage", live=False,
        doc="If true, the background of a source affects its visibility: its pattern hides it or makes it stand out,"
            " and a dark source shows before a bright wall. Doubles the number of rays. Set the pattern and brightness"
            " of a physics body as metadata sense_pattern and sense_light.")
    camouflage = export(
        dict, (), hint=dictionary_of(str, float), live=False, shown_when=("sees_backgrounds", True),
        doc="Factor on visibility by pattern of the source and pattern of the background: \"green/leaves\" 0.1 hides"
            " the source, \"green/sky\" 1.5 makes it stand out. The factor of other pairs is 1.")
    sky_pattern = export(
        str, "", live=False, shown_when=("sees_backgrounds", True),
        doc="Background pattern where no physics body is behind a source; must be in camouflage.")
    sky_light = export(
        float, 0.0, range=(0, 1, 0.01), live=False, shown_when=("sees_backgrounds", True),
        doc="Background brightness where no physics body is behind a source; 0 has no effect.")
    hearing_range = export(
        float, 60.0, range=(1, 1000, 0.5), or_greater=True, unit="m", group="Hearing", core="hearing.range_m",
        live=False,
        doc="Largest distance at which a sound is heard.")
    hearing_kept_per_meter = export(
        float, 0.9, range=(0, 1, 0.001), core="hearing.kept_per_m", live=False,
        doc="Share of the strength of a sound that is kept per metre.")
    sound_speed = export(
        float, 340.0, range=(1, 10000, 1), or_greater=True, unit="m/s", core="hearing.speed_m_per_s", live=False,
        doc="Speed at which sound travels.")
    smell_range = export(
        float, 30.0, range=(1, 1000, 0.5), or_greater=True, unit="m", group="Smell", core="smell.range_m", live=False,
        doc="Largest distance at which a smell is smelled.")
    smell_kept_per_meter = export(
        float, 0.9, range=(0, 1, 0.001), core="smell.kept_per_m", live=False,
        shown_when=("mode", Mode.REGIONAL),
        doc="Share of the strength of a smell that is kept per metre. In graph mode smells are diluted in the volume of"
            " regions instead.")
    smell_speed = export(
        float, 1.0, range=(0.01, 1000, 0.01), or_greater=True, unit="m/s", core="smell.speed_m_per_s", live=False,
        doc="Speed at which a smell spreads.")
    wall_materials = export(
        dict, (), hint=dictionary_of(str, float), group="Walls", on_set="_walls_set",
        doc="Share of sounds and smells that passes through each material: \"brick\" 0.1, or for one modality"
            " \"smell/brick\" 0. Set the material of a physics body as metadata sense_material, or add the body to"
            " a group with the name of the material.")
    wall_share = export(
        float, 1.0, range=(0, 1, 0.01), on_set="_walls_set",
        doc="Share of sounds and smells that passes through a body without such a material. A CharacterBody or"
            " RigidBody without a material does not muffle.")
    wall_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), hint_2d=HINT_LAYERS_2D_PHYSICS,
        doc="Physics layers that muffle sounds and smells.")
    keeps_trails = export(
        bool, False, group="Trails", live=False,
        doc="If true, sources with a trail_strength leave scent marks that fade. Sensors with smells_trails smell them"
            " and follow them with track().")
    trail_radius = export(
        float, 3.0, range=(0.1, 100, 0.1), or_greater=True, unit="m", core="trails.radius_m", live=False,
        shown_when=("keeps_trails", True),
        doc="Distance at which a fresh mark of strength 1 is smelled; others in proportion.")
    trail_spacing = export(
        float, 1.0, range=(0.1, 100, 0.1), or_greater=True, unit="m", core="trails.spacing_m", live=False,
        shown_when=("keeps_trails", True), doc="Distance between two marks of a trail.")
    trail_retention = export(
        float, 0.97, range=(0, 1, 0.001), core="trails.kept_per_s", live=False,
        shown_when=("keeps_trails", True), doc="Share of a mark's strength that is kept per second.")
    touch_range = export(
        float, 0.0, range=(0, 10, 0.05), or_greater=True, unit="m", group="Touch", core="touch.range_m", live=False,
        doc="Distance at which a source is felt by nearness. If 0, nearness is not felt: only collisions and touch()"
            " are.")
    feels_collisions = export(
        bool, True, live=False,
        doc="If true, a sensor feels a source when their bodies collide, with touch_strength of the source. The body"
            " of each is the nearest Area, CharacterBody or RigidBody at or above it; contact_monitor of a RigidBody"
            " is turned on.")
    max_rays = export(
        int, 256, range=(1, 10000, 1), or_greater=True, unit="rays/frame", group="Optimizations", on_set="_rays_set",
        doc="Largest number of rays cast in one frame; the lines of sight that have waited longest come first. Up to"
            " half of the rays are used for walls that muffle. Can be changed at any time.")
    period = export(
        int, 1, range=(1, LONGEST_PERIOD, 1), unit="frames", on_set="_period_set",
        doc="Frames from one look of all sensors to the next; sounds and other signals arrive in every frame. With 3,"
            " at 60 frames a second, sensors look 20 times a second. Can be changed at any time.")
    show_in_game = export(
        bool, False, group="Debug", on_set="_show_set",
        doc="If true, draws in the running game what sensors see, as fans that end at walls, how far sounds and smells"
            " of the last second reach, regions and portals, with a legend. Costs up to some milliseconds a frame,"
            " outside the AI's budget.")

    @method
    def get_stats(self) -> dict:
        """Return counts, and how well the rays keep up with the pairs in view, as a Dictionary.

        Keys include: sensors, sources, rays_asked (rays of the last frame), pairs_in_view (pairs that take turns for
        a ray), stimuli_merged and stimuli_dropped (signals at sensors for which the budget was too small: merged with
        a later one of their source and channel, or dropped because they came two seconds late), oldest_query_s
        (present wait of the pair that waits longest), longest_wait_s (longest wait so far), and noticed_within_s
        (upper bound, at the present pace, on the time until a target in view that is not hidden is noticed).
        """
        if self._scheduler is None:
            return {}
        self.flush_removed()
        return self.core.statistics()

    def _graph(self) -> SenseGraph:
        if not isinstance(self.core, SenseGraphManager):
            raise RefusedValue("has no portals in mode Regional; set mode to Graph")
        return self.core.graph

    def _frame(self, turn: Turn) -> None:
        if self._core is None:
            return                  # no sensor or source yet; regions and portals may still join
        if self._left:
            self.flush_removed()
        if self._fading and not self._fade():
            return
        if self._may_rest and self._core.is_idle and not self.is_shown and not self._is_felt():
            self._joined.clear()
            return
        self._is_in_frame = True
        try:
            if self._joined and self._joined_at != engine_step():
                self._joined.clear()
            core, (sensor_places, source_places) = self._core, self._places
            positions, forwards, source_positions = core.arrays_to_write()
            lost = sensor_places.read(positions, forwards)
            if lost:
                self._space.report_lost(sensor_places, lost)
            lost = source_places.read(source_positions)
            if lost:
                self._space.report_lost(source_places, lost)
            contacts = self._contacts
            if contacts is not None and contacts.is_busy:
                contacts.deliver()
            core.advance(turn.budget)
            self._joined.clear()
            if self.is_shown and self._core is not None:
                self._scheduler.draw_later(self, self._show)
        finally:
            self._is_in_frame = False

    def _is_felt(self) -> bool:
        """Deliver contacts of bodies; return whether a sensor feels one."""
        if self._contacts is None or not self._contacts.is_busy:
            return False
        self._contacts.deliver()
        return not self._core.is_idle

    def _fade(self) -> bool:
        """Let sources fade whose time has come; return False if a callback of ``faded`` ended the scene."""
        self._is_in_frame = True
        try:
            while self._fading and self._fading[0][0] <= self.now_s:
                node = self._sources.get(heappop(self._fading)[1])
                if node is not None and node.until_s <= self.now_s and not node.has_faded:
                    node.fade()
        finally:
            self._is_in_frame = False
        return self._core is not None

    def _show(self) -> None:
        self._frames_unshown += 1
        if self._picture is not None and self._frames_unshown * SENSORS_DRAWN < len(self._sensors):
            return
        self._frames_unshown = 0
        if self._picture is None:
            self._picture = SensePicture(self, is_flat=self.is_flat)
        sensors = list(self._sensors.values())
        bodies = self.bodies_of_sensors(np.array(list(self._sensors), np.int32))
        fans = sight_fans(self._space, sensors, bodies, self.unit)
        places = [one for nodes in (self._regions, self._portals) for one in nodes.values() if one.is_valid()]
        drawings = [(one, one.drawing()) for one in places]
        drawings += [(one, one.drawing_of_emitted(sensors)) for one in self._sources.values() if one.is_valid()]
        self._picture.show(fans, drawings)

    def _show_set(self) -> None:
        self.is_shown = self.show_in_game      # read in every frame
        if not self.is_shown:
            self._hide()

    def _hide(self) -> None:
        if self._picture is not None:
            self._picture.free()
            self._picture = None

    def _get_configuration_warnings(self) -> list[str]:
        return [*scheduler_warnings(self), *(graph_warnings(self) if self.mode == self.Mode.GRAPH else [])]

    def _mask_changed(self) -> None:
        if self._space is not None:
            self._space.node.collision_mask = self.sight_mask

    def _has_space(self) -> None:
        if self._space is not None:
            raise RefusedValue(
                "dimensions and pixels_per_meter cannot change after the node entered the tree; set them before the"
                " scene runs")

    def _period_set(self) -> None:
        self._may_rest = self.period > 1        # read in every frame
        if self._core is not None:
            self._core.period_frames = self.period

    def _rays_set(self) -> None:
        if self._core is not None:
            self._core.max_rays = self.max_rays

    def _in_use(self) -> None:
        if self._core is not None:
            raise RefusedValue("cannot change after the first sensor or source joined; set it before the scene runs")

    def bodies_of(self, source_ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the instance id of the body of each source, 0 for none; kept while the array of ids is the same."""
        last = self._last_bodies
        if last is None or last[0] is not source_ids:
            last = self._last_bodies = source_ids, self._bodies[1].bodies_of(source_ids)
        return last[1]

    def bodies_of_sensors(self, sensor_ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the instance id of the body of each sensor, 0 for none, or for an id without a sensor."""
        return self._bodies[0].bodies_of(sensor_ids)

    def body_between(self, sensor: Any, source: Any) -> Any:
        """Return the first physics body that hides a source from a sensor; None if there is none, or in a graph."""
        if self.mode != self.Mode.REGIONAL:
            return None     # the way is through portals
        line = np.array([[self._space.place(sensor)], [self._space.place(source)]], np.float32)
        own = np.array([[self._bodies[0].bodies_of(np.array([sensor.sensor_id]))[0],
                         self._bodies[1].bodies_of(np.array([source.source_id]))[0]]])
        met = self._space.through(line[0], line[1], own, 1, self.sight_mask)
        return get_object(int(met[0, 0])) if met[0, 0] > 0 else None

    def feel(self, sensor_id: int, source_id: int) -> None:
        """Deliver a touch by a source to a sensor, with touch_strength of the source."""
        strength = self._sources[source_id].touch_strength
        if strength > 0:
            self._core.touch(sensor_id, source_id, "touch", strength, tag="collision")

    def _line_of_sight(
        self, origins: NDArray[np.float32], targets: NDArray[np.float32],
        sensor_ids: NDArray[np.int32], source_ids: NDArray[np.int32],
    ) -> NDArray[np.bool_] | None:
        last = self._last_bodies
        bodies = last[1] if last is not None and last[0] is source_ids else self.bodies_of(source_ids)
        free: NDArray[np.bool_] = self._space.are_free(origins, targets, bodies)
        if len(self._joined) > FEW:
            for is_sensor, ids in ((True, sensor_ids), (False, source_ids)):
                free &= ~np.isin(ids, [one for kind, one in self._joined if kind is is_sensor])
            return free
        for is_sensor, one in self._joined:
            free &= (sensor_ids if is_sensor else source_ids) != one
        return free

    def _walls(self) -> MufflingWalls | None:
        """Return the occlusion by walls; None, which costs nothing, if walls do not muffle."""
        walls = MufflingWalls(self, self._space, self._senses)
        return None if walls.is_open else walls

    def _walls_set(self) -> None:
        if self._core is not None:
            self._core.occlusion = self._walls()

    def _reset_members(self) -> None:
        """Reset to the state without members."""
        self.own_sources = OwnSources(self)
        self._sensors: dict[int, Any] = {}        # core id -> node
        self._sources: dict[int, Any] = {}
        self._places: tuple[Any, Any] = (None, None)      # read positions of sensors and sources; made with the core
        self._bodies = BodiesBySlot(), BodiesBySlot()     # of sensors and sources
        self._last_bodies: tuple[NDArray[np.int32], NDArray[np.int64]] | None = None    # of the last source ids
        # Members that are new in this step of the engine, in which walls that came with them may still be missing.
        self._joined: set[tuple[bool, int]] = set()
        self._joined_at: tuple[int, int, bool] | None = None
        self._absent: list[tuple[bool, int]] = []         # those of a load under way that are not in the scene
        self._left: dict[int, tuple[bool, int]] = {}      # by instance id: whether it is a sensor, and its id
        self._is_in_frame = False

    def add_sensor(self, node: Any, settings: dict[str, Any], **mind: Any) -> int:
        """Add a sensor, and return its id; a sensor that comes back keeps its memory and awareness.

        Its own source is that of ``own_sources``, to which the node is given next.
        """
        core, (position, forward) = self.core, self._space.pose(node)
        _, known = self._left.get(node.instance_id, (True, None))
        if known is None:
            known = core.add_sensor(position=position, forward=forward, **settings, **mind)
        else:
            core.change_sensor(known, **settings)
            core.move_sensors([known], [position], [forward])
        self._sensors[known] = node
        self._has_joined(node, True, known)
        return known

    def remove_sensor(self, sensor_id: int) -> None:
        node = self._sensors.pop(sensor_id)
        self.own_sources.remove_sensor(node)
        self._note_left(node, True, sensor_id)

    def add_source(self, node: Any, **settings: Any) -> int:
        """Add a source, and return its id; a source that comes back keeps its id, which sensors remember."""
        core, position = self.core, self._space.place(node)
        _, known = self._left.get(node.instance_id, (False, None))
        if known is None:
            known = core.add_source(position=position, **settings)
        else:
            core.change_source(known, **settings)
            core.move_sources([known], [position])
        self._sources[known] = node
        self._has_joined(node, False, known)
        return known

    def remove_source(self, source_id: int) -> None:
        node = self._sources.pop(source_id)
        self.own_sources.remove_source(node)
        self._note_left(node, False, source_id)

    def refresh_names(self) -> None:
        """Name sensors and sources after their nodes, which may have been renamed; only saves need names.

        Cost: O(sensors + sources).
        """
        core = self.core
        for nodes, names, change in (
                (self._sensors, core.sensor_names, core.change_sensor),
                (self._sources, core.source_names, core.change_source)):
            for known, node in nodes.items():
                name = path_of(self._scheduler, node)
                if names[known] != name:
                    change(known, name=name)

    def flush_removed(self) -> None:
        """Remove sensors and sources that left and have not come back."""
        left, self._left = self._left, {}
        for is_sensor, known in left.values():
            self._remove(is_sensor, known)

    def drop_absent(self) -> None:
        """Remove what a load added for members that are not in the scene, after the load or its roll-back."""
        absent, self._absent = self._absent, []
        for is_sensor, known in absent:
            self._remove(is_sensor, known)

    def _has_joined(self, node: Any, is_sensor: bool, known: int) -> None:
        if self._left.pop(node.instance_id, None) is None:
            self._joined.add((is_sensor, known))
            self._joined_at = engine_step()
        else:
            self._last_bodies = None        # its body may be another one
        body = body_id(node)
        self._put(node, is_sensor, known, body)
        if self._contacts is not None:
            self._contacts.join(body, is_sensor, known)
            node.begin_to_feel(self._contacts, body)

    def _put(self, node: Any, is_sensor: bool, known: int, body: int) -> None:
        """Let position and body of a node be found by its id."""
        self._places[not is_sensor].put(RegionalSenseManager.row_of(known), node)
        self._bodies[not is_sensor].put(known, body)

    def _note_left(self, node: Any, is_sensor: bool, known: int) -> None:
        bodies = self._bodies[not is_sensor]
        if self._contacts is not None:
            self._contacts.leave(bodies.body_of(known), is_sensor, known)
        self._places[not is_sensor].drop(RegionalSenseManager.row_of(known))
        bodies.put(known, 0)
        # During a frame signals are being emitted: no later signal may refer to this source.
        if node.is_queued_for_deletion() or (self._is_in_frame and not is_sensor):
            self._remove(is_sensor, known)
        else:
            self._left[node.instance_id] = is_sensor, known

    def _remove(self, is_sensor: bool, known: int) -> None:
        if is_sensor:
            self._core.remove_sensor(known)
        else:
            self._core.remove_source(known)

    def is_in_use(self) -> bool:
        return self._core is not None

    def reset_unsaved(self) -> None:
        """Forget all targets, which are of another time; called when the clock was set to a save without this node."""
        if self._core is not None:
            self._core.forget_all()

    def saved(self) -> State:
        self.flush_removed()
        self.refresh_names()
        self._is_felt()         # contacts since the last frame become signals, which are saved
        return super().saved()

    def prepared(self, state: Any) -> Change:
        self.flush_removed()
        self.drop_absent()
        self.refresh_names()
        return super().prepared(self._without_missing(state))

    def _without_missing(self, state: Any) -> Any:
        """Return a saved state without what was known by, and of, sensors and sources that are not in the scene.

        Each of them is added to the library for the load, and removed by ``drop_absent`` after it.
        """
        core = self.core
        if not (isinstance(state, dict) and all(isinstance(state.get(one), list) for one in ("sensors", "sources"))):
            return state                     # refused by the next reader, with the reason
        here = {(True, name) for name in core.sensor_names.values()}
        here |= {(False, name) for name in core.source_names.values()}
        missing = {
            (kind == "sensors", name)
            for kind in ("sensors", "sources") for name, _ in NAMED.read(state[kind], kind, self)} - here
        for is_sensor, name in sorted(missing):
            kind = "sensor" if is_sensor else "source"
            leave_out(self._scheduler, name, f"{kind}s", f"{kind} of {self.get_name()}")
            place = {"position": (0, 0, 0), "name": name}
            added = core.add_sensor(**place, forward=(0, 0, 1), thresholds={}) if is_sensor else (
                core.add_source(**place, strengths={}))
            self._absent.append((is_sensor, added))
        rows = {kind: [one for one in state[kind] if (kind == "sensors", one[0]) not in missing]
                for kind in ("sensors", "sources")}
        return {**state, **rows, "senses": _without_percepts(state["senses"], missing)} if missing else state

    def _save_senses(self) -> State:
        return self.core.save_state()

    def _prepare_senses(self, plain: object, place: str) -> Change:
        change = Part().prepare(self.core, plain, place)

        def load() -> None:
            change()
            new_ids = self.core.new_ids
            self._absent = [(is_sensor, new_ids[not is_sensor][old]) for is_sensor, old in self._absent]
            self._take_ids(*new_ids)

        return load

    def _save_sensors(self) -> list[Any]:
        return _saved_nodes(self.core.sensor_names, self._sensors)

    def _prepare_sensors(self, plain: object, place: str) -> Change:
        return _prepared_nodes(plain, place, self.core.sensor_names, self._sensors)

    def _save_sources(self) -> list[Any]:
        return _saved_nodes(self.core.source_names, self._sources)

    def _prepare_sources(self, plain: object, place: str) -> Change:
        return _prepared_nodes(plain, place, self.core.source_names, self._sources)

    def _save_felt(self) -> State | None:
        return inner_state(self._contacts)

    def _prepare_felt(self, plain: object, place: str) -> Change:
        return int if self._contacts is None else prepared_inner(self._contacts, plain, repr(place))

    def _finish_load(self) -> None:
        for name, portal in self._portals.items():
            portal.take_open(self.core.graph.is_open(name))
            portal.take_wind(self.core.graph.portal_wind(name))
        self._collect_fading()

    def _take_ids(self, sensors: Mapping[int, int], sources: Mapping[int, int]) -> None:
        """Give nodes the ids of a loaded game, by their old ids."""
        bodies, self._bodies = self._bodies, (BodiesBySlot(), BodiesBySlot())
        self._places, self._last_bodies = (self._space.places(), self._space.places()), None
        for is_sensor, nodes, new in ((True, self._sensors, sensors), (False, self._sources, sources)):
            for old, node in nodes.items():
                self._put(node, is_sensor, new[old], bodies[not is_sensor].body_of(old))
        self._sensors = {sensors[old]: node for old, node in self._sensors.items()}
        self._sources = {sources[old]: node for old, node in self._sources.items()}
        if self._contacts is not None:
            self._contacts.take_ids(sensors, sources)
        for new, node in (*self._sensors.items(), *self._sources.items()):
            node.take_id(new)
        for sensor in self._sensors.values():       # the save may be of a character with other sources
            self.own_sources.update(sensor)
