"""CoverMap: where to hide in a level, who hides where, and the best place from some threats."""
from __future__ import annotations

from collections import deque
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    Node,
    NodePath,
    PackedFloat32Array,
    PackedInt32Array,
    RefusedValue,
    Variant,
    export,
    gdclass,
    method,
    node_path,
    report_error,
    signal,
)
from addons.ai_core.nodes.baking.baking_node import BakingNode
from addons.ai_core.nodes.baking.scene_ground import why_no_ground
from addons.ai_core.nodes.maps.cover_asking import CoverAsking
from addons.ai_core.nodes.maps.cover_holding import CoverHolding
from addons.ai_core.nodes.maps.cover_scene_baking import CoverSceneBaking, packed_spots
from addons.ai_core.nodes.scheduling.scheduled import leave_scheduler, scheduler_of, scheduler_warnings
from ai_core.budget import Budget
from ai_core.scheduling.task import Task, Turn

FRAMES_BEFORE_BAKING = 3
"""Frames after entering the tree before it bakes by itself: bodies are in the physics space by then."""


@gdclass(icon="res://addons/ai_core/icons/cover_map.svg")
class CoverMap(BakingNode, CoverHolding, CoverAsking, Node):
    """Where to hide: spots along the walls of a level, and behind things that move.

    bake() finds the spots, in slices; find_cover(agent, threats) returns the best one from some
    threats, reserve(spot, agent) keeps it for one character until it lets go or is freed. Nodes in
    the group ``objects_group`` hide whoever they are large enough for, wherever they are pushed.
    """

    class Dimensions(IntEnum):
        THREE = 0
        TWO = 1

    class Source(IntEnum):
        NAVIGATION = 0
        GRID = 1

    dimensions = export(
        Dimensions, Dimensions.THREE, on_set="_is_settled", doc="Whether the world is 3D or 2D.")
    source = export(
        Source, Source.NAVIGATION, doc="Where spots are looked for: along the edges of navigation meshes, or in the"
        " cells of a grid beside walls.")
    level = export(
        NodePath, NodePath(".."), hint=node_path("Node"), shown_when=("source", Source.NAVIGATION),
        doc="The node at or below which the NavigationRegion3D or 2D are.")
    grid_node = export(
        NodePath, NodePath(""), hint=node_path("TileMapLayer", "GridMap"), shown_when=("source", Source.GRID),
        doc="The TileMapLayer or GridMap.")
    cost_data = export(
        str, "", shown_when=("source", Source.GRID),
        doc="Custom data layer of the TileSet: false or 0 is a wall. Empty: tiles with collision shapes are.")
    floor_level = export(
        int, 0, shown_when=("source", Source.GRID), doc="Height (y) of a GridMap's cells that are the floor.")
    wall_items = export(
        PackedInt32Array, (), shown_when=("source", Source.GRID),
        doc="Items of a GridMap's mesh library that cannot be walked.")
    pixels_per_m = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px", shown_when=("dimensions", Dimensions.TWO),
        on_set="_is_settled", doc="How long a metre is in 2D; all distances here are in metres.")
    cover_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), on_set="_mask_set",
        doc="Physics layers that stop shots: walls and crates. Bodies of who asks and who threatens do not count.")
    objects_group = export(
        str, "cover", doc="Nodes in this group hide whoever they are large enough for; they may move.")
    bakes_at_start = export(
        bool, True, doc="Bakes when the scene starts, if nothing is baked yet.")

    agent_radius_m = export(
        float, 0.4, range=(0.05, 10, 0.05), or_greater=True, unit="m", group="Body", doc="Half the width of who hides.")
    standing_m = export(
        float, 1.8, range=(0.1, 20, 0.05), or_greater=True, unit="m", shown_when=("dimensions", Dimensions.THREE),
        doc="Height of who stands; a wall this high hides all of it.")
    crouching_m = export(
        float, 1.0, range=(0.1, 20, 0.05), or_greater=True, unit="m", shown_when=("dimensions", Dimensions.THREE),
        doc="Height of who crouches.")
    eye_height_m = export(
        float, 1.6, range=(0, 20, 0.05), or_greater=True, unit="m", shown_when=("dimensions", Dimensions.THREE),
        doc="How high above its origin a threat that is a node looks and shoots.")

    spacing_m = export(
        float, 1.0, range=(0.1, 10, 0.05), or_greater=True, unit="m", group="Baking",
        doc="Distance of spots along a wall.")
    reach_m = export(
        float, 0.5, range=(0.01, 10, 0.01), or_greater=True, unit="m",
        doc="A wall may be so much farther from the navigation mesh than the radius of its agents.")
    exposure_m = export(
        float, 10.0, range=(0.5, 100, 0.5), or_greater=True, unit="m",
        doc="How far around a spot it is looked whether it lies open.")
    peek_m = export(
        float, 1.0, range=(0.1, 10, 0.1), or_greater=True, unit="m",
        doc="One can peek past a wall that ends so near to a spot.")
    baked = export(
        PackedFloat32Array, (), on_set="_take_baked", doc="What was baked, nine numbers a spot; saved with the scene.")

    range_m = export(
        float, 25.0, range=(0.5, 200, 0.5), or_greater=True, unit="m", group="Choice",
        doc="Farther spots are left out.")
    least_threat_m = export(
        float, 3.0, range=(0, 100, 0.1), or_greater=True, unit="m", doc="Spots nearer to a threat are left out.")
    least_protection = export(
        float, 0.75, range=(0, 1, 0.01), doc="Spots where a smaller share of the body is hidden are left out.")
    protection_weight = export(float, 1.0, range=(0, 10, 0.01), or_greater=True, doc="What being hidden is worth.")
    distance_weight = export(
        float, 0.5, range=(0, 10, 0.01), or_greater=True, doc="What it costs to go as far as range_m.")
    exposure_weight = export(
        float, 0.25, range=(0, 10, 0.01), or_greater=True, doc="What it costs to lie open on all sides.")
    staying_weight = export(
        float, 0.1, range=(0, 10, 0.01), or_greater=True,
        doc="What the spot is worth more that an agent holds already, so that it does not run to and fro.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), group="Optimizations", on_set="_reschedule",
        doc="Weight of its share of the budget.")
    show_in_game = export(
        bool, False, group="Debug", on_set="_show_set",
        doc="Draw spots into the running game: high ones green, low ones yellow, held ones red.")

    bake_finished = signal(("spots", int), doc="The level, or a part of it, is baked; so many spots there are now.")
    bake_failed = signal(("message", str), doc="It was not baked, and nothing has changed; says why.")
    cover_found = signal(("request", int), ("spot", int), doc="What request_cover() asked for; not reserved yet.")
    cover_failed = signal(("request", int), ("why", str), doc="There is no cover, and why.")
    cover_lost = signal(("agent", Node), ("spot", int), doc="What an agent held is no cover any more, and free.")

    def __init__(self) -> None:
        self._scheduler: Any = None
        self._task: Task | None = None
        self._scene: Any = None
        self.begin_baking_node()
        self._areas: deque[Any] = deque()          # what is to be baked anew; None is everything
        self._frames = 0
        self.begin_holding()
        self.begin_asking()

    def on_entered(self) -> None:
        self._scheduler = scheduler_of(self)
        if self._scheduler is None or self._task is not None:
            return
        self.scene       # noqa: B018 - makes its ray now, as children may be locked later
        self._task = self._scheduler.serve(self, self._frame, "cover", priority=self.priority)

    def on_exit_tree(self) -> None:
        leave_scheduler(self, self._scheduler, self._task)
        self._task = self._scheduler = None
        self.end_work()
        self.end_asking()
        self.end_holding()

    def on_predelete(self) -> None:
        self._travel = None

    @method
    def bake(self) -> bool:
        """Begin to bake the whole level, a slice in each frame of the AIScheduler; false if it cannot."""
        if self._task is None:
            raise RefusedValue("bake() needs an AIScheduler; add this node to a scene that has one")
        self._areas.clear()
        self._areas.append(None)
        return self._begin()

    @method
    def invalidate(self, area: Variant = None) -> None:
        """Bake a part of the level anew, where it has changed: an AABB, or a Rect2 in 2D; null is everything.

        Spots that are still there stay, with who holds them; who loses one is told by cover_lost.
        """
        if self._task is None:
            raise RefusedValue("invalidate() needs an AIScheduler; add this node to a scene that has one")
        self._areas.append(None if area is None else self.box_of(area))
        if self._baking is None:
            self._begin()

    @method
    def get_stats(self) -> dict:
        """Return counts: of spots, held ones and objects now; of searches, requests that wait and rays."""
        return {
            "spots": len(self.cover), "held": len(self.cover.held), "objects": len(self.cover.things),
            "waiting": self.waiting, "searches": self.searches,
            "rays": 0 if self._scene is None else self._scene.counted}

    def begin_work(self) -> None:
        self._baking = CoverSceneBaking(self, None)
        self._areas.append(None)

    def end_work(self) -> None:
        self._areas.clear()
        self._baking = None
        if self._task is None and self._scene is not None:      # in the editor, or on its way out
            self._scene.free()
            self._scene = None

    def keep_work(self, baking: CoverSceneBaking, owner: Node) -> str:
        self.baked = packed_spots(baking.spots)
        self.end_work()
        return f"{len(baking.spots)} spots"

    def _get_configuration_warnings(self) -> list[str]:
        found = scheduler_warnings(self)
        if self.source == self.Source.GRID:
            if self.get_node_or_null(self.grid_node) is None:
                found.append("grid_node names no node; set it to the TileMapLayer or GridMap")
            return found
        level = self.get_node_or_null(self.level)
        if level is None:
            return [*found, f"level '{self.level}' is no node; choose the node above the level"]
        return [*found, *filter(None, [why_no_ground(level)])]

    def _frame(self, turn: Turn) -> None:
        self._frames += 1
        if self._frames == FRAMES_BEFORE_BAKING and self.bakes_at_start and not len(self.cover) and not self._areas:
            self._areas.append(None)
            self._begin()
        if self._baking is not None:
            self._bake_on(turn.budget)
        self.watch_holders()
        if self.is_valid() and self._scheduler is not None and not turn.budget.is_spent:
            self.answer_requests(turn.budget)
        if self.show_in_game and self.is_valid() and self._scheduler is not None:
            self.show()

    def _begin(self) -> bool:
        """Begin with the next area; tell why it cannot."""
        self._why, self._baking = "", None
        try:
            self._baking = CoverSceneBaking(self, self._areas[0])
        except ValueError as error:
            self._why = str(error)
            self._areas.clear()
            if self._task is not None:
                report_error(f"has baked nothing: {error}", self)
                self.bake_failed.emit(str(error))
        return self._baking is not None

    def _bake_on(self, budget: Budget) -> None:
        baking = self._baking
        assert baking is not None
        baking.advance(budget)
        if not baking.is_done:
            return
        self._areas.popleft()
        self._baking = None
        self.take_spots(baking.spots, baking.box)
        if self.is_valid():
            self.bake_finished.emit(len(self.cover))
        if self._areas and self._baking is None and self._scheduler is not None:
            self._begin()

    def _reschedule(self) -> None:
        if self._task is not None:
            self._scheduler.reschedule(self._task, period_frames=1, phase_frames=0, priority=self.priority)

    def _is_settled(self) -> None:
        if self._scene is not None:
            raise RefusedValue("dimensions and pixels_per_m cannot change once it was in the tree; set them before")

    def _mask_set(self) -> None:
        if self._scene is not None:
            self._scene.rays.collision_mask = self.cover_mask
