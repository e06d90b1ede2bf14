"""SenseGraphBaker: bakes the regions and portals of a level from its navigation mesh and rays."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.declarations import HINT_LAYERS_2D_PHYSICS, HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    Node,
    NodePath,
    RefusedValue,
    export,
    gdclass,
    method,
    node_path,
    report_error,
    signal,
)
from addons.ai_core.nodes.baking.baking_node import BakingNode
from addons.ai_core.nodes.baking.scene_baking import SceneBaking
from addons.ai_core.nodes.baking.scene_ground import why_no_ground
from addons.ai_core.nodes.characters.agent_places import is_in_2d
from addons.ai_core.nodes.scheduling.scheduler_lookup import named_after, scheduler_of
from ai_core.scheduling.task import Task, Turn

HINT_FILE = 13
REPORTED_SHARE = 0.01
"""Smallest growth of progress for which the signal is emitted (share); a signal per frame would be costly."""


@gdclass(icon="res://addons/ai_core/icons/sense_graph_baker.svg")
class SenseGraphBaker(BakingNode, Node):
    """Bakes the SenseRegion3D and SensePortal3D (or 2D) of a level from its navigation mesh, as its children.

    The ground is divided into rooms at narrow places; portals are placed where rooms touch, and rays find which
    other rooms see each other. Baking again changes only baked nodes: regions and portals made by hand are kept,
    and baked nodes that still exist keep their names, doors and shares kept per metre.
    """

    level = export(
        NodePath, NodePath(".."), hint=node_path("Node"),
        doc="Root of the level: the node at or below which the NavigationRegion3D or NavigationRegion2D, the regions"
            " and the portals are.")
    file = export(
        str, "", hint=(HINT_FILE, "*.json"),
        doc="JSON file to bake into, instead of nodes. Baking again reads it first. If empty, nodes are baked.")
    cell_size = export(
        float, 0.25, range=(0.05, 5, 0.01), or_greater=True, unit="m",
        doc="Side of the cells into which the ground is divided; at most half the width of the narrowest door.")
    pixels_per_meter = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px/m",
        doc="Number of pixels in a metre in 2D; the same as pixels_per_meter of the SenseManager.")
    narrowness = export(
        float, 0.7, range=(0.05, 0.99, 0.01), group="Regions", core="narrowness",
        doc="A place divides two rooms if its width is at most this share of the narrower room's width. Higher values"
            " make more rooms.")
    max_opening_width = export(
        float, 6.0, range=(0.1, 100, 0.1), or_greater=True, unit="m", core="widest_m",
        doc="Width above which a place never divides rooms.")
    min_room_area = export(
        float, 1.0, range=(0, 100, 0.1), or_greater=True, unit="m²", core="least_area_m2",
        doc="Ground area of the smallest room; a smaller room becomes part of a neighbor.")
    reach = export(
        float, 1.0, range=(0, 10, 0.05), or_greater=True, unit="m", core="reach_m",
        doc="Distance by which regions extend beyond the navigation mesh, to the walls.")
    region_height = export(
        float, 2.5, range=(0.1, 100, 0.1), or_greater=True, unit="m", core="height_m",
        doc="Height of regions above the ground; ignored in 2D.")
    eye_height = export(
        float, 1.5, range=(0, 10, 0.05), or_greater=True, unit="m", group="Sight", core="eye_height_m",
        doc="Height of portals and rays above the ground; ignored in 2D.")
    sight_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), hint_2d=HINT_LAYERS_2D_PHYSICS,
        doc="Physics layers that block sight while baking, such as walls and glass, but not doors and characters.")
    sight_range = export(
        float, 60.0, range=(1, 1000, 0.5), or_greater=True, unit="m", core="sight_range_m",
        doc="Largest distance at which rooms see each other.")
    sight_places = export(
        int, 8, range=(0, 64, 1), core="sight_places",
        doc="Number of places in each room from which rays are cast, besides its openings and its center.")

    progress_changed = signal(("share", float), doc="Emitted as baking proceeds; share is the progress from 0 to 1.")
    bake_finished = signal(
        ("regions", int), ("portals", int),
        doc="Emitted when the baked regions and portals are in place, with their numbers.")
    bake_failed = signal(("message", str), doc="Emitted when baking failed, with the reason; nothing has changed.")

    @property
    def is_flat(self) -> bool:
        """Whether its level is in 2D."""
        level = self.get_node_or_null(self.level) if self.is_inside_tree() else None
        return is_in_2d(level)

    @property
    def unit(self) -> float:
        """Length of a metre in units of the level: 1 in 3D, pixels_per_meter in 2D."""
        return self.pixels_per_meter if self.is_flat else 1.0

    def __init__(self) -> None:
        super().__init__()
        self._task: Task | None = None
        self._scheduler: Any = None
        self._reported = 0.0

    def on_exit_tree(self) -> None:
        self.end_work()
        self._scheduler = None

    @method
    def bake(self) -> bool:
        """Start baking, a slice in each frame of the AIScheduler. Returns false if it cannot, and reports the reason.

        Bake before the first sensor or source enters the scene. Unfinished baking is not saved.
        """
        if self._baking is not None:
            raise RefusedValue("is baking already; wait for bake_finished, or call cancel()")
        self._scheduler = scheduler_of(self) if self.is_inside_tree() else None
        if self._scheduler is None:
            return False
        why = self.begin_or_say_why()
        if why:
            self._fail(why)
            return False
        self._reported = 0.0
        self._task = self._scheduler.schedule(self._step, name=named_after(self._scheduler, self, " baking"))
        return True

    def _get_configuration_warnings(self) -> list[str]:
        level = self.get_node_or_null(self.level)
        why = f"level '{self.level}' is not a node; choose the root of the level" if level is None else ""
        return [why] if why else list(filter(None, [why_no_ground(level)]))

    def begin_work(self) -> None:
        self._baking = SceneBaking(self)

    def keep_work(self, baking: SceneBaking, owner: Node) -> str:
        baking.write(owner)
        return ", ".join(f"{len(names)} {what}" for what, names in baking.report._asdict().items())

    def _step(self, turn: Turn) -> None:
        baking = self._baking
        assert baking is not None
        try:
            baking.advance(turn.budget)
            if baking.is_done:
                baking.write()
        except ValueError as error:
            self.end_work()
            self._fail(str(error))
            return
        if baking.progress >= self._reported + REPORTED_SHARE or baking.is_done:
            self._reported = baking.progress
            self.progress_changed.emit(baking.progress)
        if baking.is_done:
            self.end_work()
            graph = baking.result
            self.bake_finished.emit(
                sum(one.is_baked for one in graph.regions),
                len({one.name for one in graph.portals if one.is_baked}))

    def _fail(self, why: str) -> None:
        self._why = why
        report_error(f"cannot bake: {why}", self)
        self.bake_failed.emit(why)

    def end_work(self) -> None:
        if self._baking is not None:
            self._baking.cancel()
            self._baking = None
        if self._task is not None and self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
        self._task = None
