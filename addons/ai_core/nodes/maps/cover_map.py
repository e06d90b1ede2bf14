"""CoverMap: cover spots of a level, their reservations, and the best cover from threats."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping
from enum import IntEnum
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.declarations import HINT_LAYERS_2D_PHYSICS, HINT_LAYERS_3D_PHYSICS
from addons.ai_core.bridge.gd import (
    AABB,
    GodotCallError,
    Node,
    NodePath,
    PackedFloat32Array,
    PackedInt32Array,
    Rect2,
    RefusedValue,
    Variant,
    Vector2,
    Vector3,
    export,
    gdclass,
    method,
    node_path,
    report_error,
    report_exception,
    signal,
)
from addons.ai_core.nodes.baking.baking_node import BakingNode
from addons.ai_core.nodes.baking.scene_ground import why_no_ground
from addons.ai_core.nodes.characters.agent_places import Dimensions
from addons.ai_core.nodes.debugging.game_picture import DrawnShapes, GamePicture
from addons.ai_core.nodes.maps.cover_of_scene import CoverScene, CoverSceneBaking, packed_spots, spots_of_packed
from addons.ai_core.nodes.saving.node_settings import core_settings
from addons.ai_core.nodes.saving.node_state import NodeAt, SavedState
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    check_callable,
    leave_scheduler,
    scheduler_of,
    scheduler_warnings,
)
from ai_core.budget import Budget
from ai_core.errors import UnknownNameError, shown
from ai_core.maps.cover.cover_map import CoverMap as CoreCoverMap
from ai_core.maps.cover.cover_objects import CoverObject
from ai_core.maps.cover.cover_search import CoverQuery, CoverSearch
from ai_core.maps.cover.cover_spots import LEFT, OVER, RIGHT, CoverBody, CoverSpots
from ai_core.saving.declared_state import Change, DeclaredState, Part, Refuse
from ai_core.saving.fields import StateError
from ai_core.saving.kinds import Kind, ListOf, MapOf, OneOf, Point, Record, Whole
from ai_core.scheduling.task import Task, Turn

Numbers = NDArray[np.float64]


class ObjectBounds:
    """The bounds of a node in its local space: of its collision shapes, or else of its visuals.

    Args:
        node: a Node3D or Node2D.

    Raises:
        ValueError: if it has no bounds.

    Cost: a few engine calls per shape; later reads of its position take one.
    """

    def __init__(self, node: Any) -> None:
        self.node = node
        self._is_flat = bool(node.is_class("Node2D"))
        parts = self._shapes() or self._seen()
        if not parts:
            kind = "CollisionShape2D or Sprite2D" if self._is_flat else "CollisionShape3D or MeshInstance3D"
            raise ValueError(f"'{node.get_name()}' has no bounds; give it a {kind}")
        corners = np.concatenate(parts)
        self._middle, self._half = (corners.max(0) + corners.min(0)) / 2, (corners.max(0) - corners.min(0)) / 2

    def core(self, pixels_per_m: float) -> CoverObject:
        """Return the present box (m); for a tilted node, the upright box around it."""
        axes, origin = _placed(self.node)
        turn = float(np.arctan2(axes[1, 0], axes[0, 0]) if self._is_flat else np.arctan2(-axes[2, 0], axes[0, 0]))
        cos, sin = np.cos(turn), np.sin(turn)
        level = np.array([[cos, sin], [-sin, cos]] if self._is_flat else [[cos, 0, -sin], [0, 1, 0], [sin, 0, cos]])
        half = np.abs(level @ axes) @ self._half / pixels_per_m
        middle = (axes @ self._middle + origin) / pixels_per_m
        if self._is_flat:
            return CoverObject((*middle.tolist(), 0.0), (*half.tolist(), 0.0), -turn)
        return CoverObject(tuple(middle.tolist()), tuple(half.tolist()), turn)

    def _shapes(self) -> list[Numbers]:
        kind = f"CollisionShape{2 if self._is_flat else 3}D"
        return [
            self._corners(one, one.shape.get_rect() if self._is_flat else one.shape.get_debug_mesh().get_aabb())
            for one in self.node.find_children("*", kind, True, False) if one.shape is not None and not one.disabled]

    def _seen(self) -> list[Numbers]:
        kind = "Sprite2D" if self._is_flat else "VisualInstance3D"
        below = list(self.node.find_children("*", kind, True, False))
        return [self._corners(one, one.get_rect() if self._is_flat else one.get_aabb())
                for one in ([self.node] if self.node.is_class(kind) else []) + below]

    def _corners(self, part: Any, box: Any) -> Numbers:
        """Return the corners of a part's box, in the space of the node."""
        numbers = np.array(tuple(box), np.float64).reshape(2, -1)
        corners = np.array([numbers[0] + numbers[1] * share for share in product((0, 1), repeat=numbers.shape[1])])
        axes, origin = _placed(part)
        own_axes, own_origin = _placed(self.node)
        return (corners @ axes.T + origin - own_origin) @ np.linalg.inv(own_axes).T


def _placed(node: Any) -> tuple[Numbers, Numbers]:
    """Return axes, as columns, and origin of a node in the world."""
    numbers = np.array(tuple(node.global_transform), np.float64)
    if len(numbers) == 6:
        return numbers[:4].reshape(2, 2).T, numbers[4:]
    return numbers[:9].reshape(3, 3), numbers[9:]


POSTURES = ("any", "stand", "crouch")


class CoverRequest(NamedTuple):
    """A waiting request."""

    number: int
    agent: Any
    threats: list[Any]
    posture: str


class ObjectAt(NodeAt):
    """An object, saved as the path of its node."""

    def save(self, value: ObjectBounds, owner: Any) -> str:
        """Return the path."""
        return super().save(value.node, owner)

    def read(self, plain: Any, place: str, owner: Any) -> ObjectBounds:
        """Return the object."""
        node = super().read(plain, place, owner)
        try:
            return ObjectBounds(node)
        except ValueError as error:
            raise StateError(f"{place!r}: {error}") from None


class TargetAt(Kind):
    """A node, saved as its path, or a position; a freed node is saved as "", and its request fails."""

    def save(self, value: Any, owner: Any) -> str | list[float]:
        """Return the path, or the coordinates."""
        if not hasattr(value, "instance_id"):
            return [float(one) for one in value]
        return path_of(owner._scheduler, value) if value.is_valid() and value.is_inside_tree() else ""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the node, or the position."""
        if isinstance(plain, str):
            return owner._scheduler.get_node_or_null(plain) if plain else None
        return (Vector2 if owner.is_flat else Vector3)(*Point(2 if owner.is_flat else 3).read(plain, place, owner))


PEEKS = {LEFT: "left", RIGHT: "right", OVER: "over"}
HIGH, LOW, HELD = (0.35, 0.7, 1.0), (1.0, 0.85, 0.3), (1.0, 0.35, 0.3)
"""Colors of high, low and reserved spots."""

FREE_OPACITY, HELD_OPACITY = 0.3, 0.75
LIFTED_M, DISC_CORNERS, DISC_SHARE = 0.05, 12, 0.7
"""Discs of spots: their height above the ground (m), corners (count), and radius in radii of an agent."""


MOST_WAITING = 1000
"""Requests that may wait (count), some milliseconds of search each; of a script that requests in every frame without
waiting for the answer, more would only make answers older."""


def _need(purpose: str, agent: Any) -> Any:
    if agent is None:
        raise RefusedValue(f"{purpose} needs a node, got null")
    return agent


NOT_BAKED = "the level is not baked yet; wait for bake_finished, or use request_cover(), which waits"
FRAMES_BEFORE_BAKING = 3
"""Frames from entering the tree to automatic baking; by then bodies are in the physics space."""


@gdclass(icon="res://addons/ai_core/icons/cover_map.svg", keywords="cover system, tactical, hide")
class CoverMap(BakingNode, SavedState, Node):
    """Cover spots along the walls of a level, and behind movable objects.

    bake() finds the spots, in slices. find_cover(agent, threats) returns the best spot against threats, and
    reserve(spot, agent) reserves it for a character until release() or until the character is freed. Nodes in
    objects_group give cover wherever they are moved, if they are large enough.
    """

    Dimensions = Dimensions

    class Source(IntEnum):
        NAVIGATION = 0
        GRID = 1

    dimensions = export(
        Dimensions, Dimensions.THREE, words=("3D", "2D"), on_set="_is_settled",
        doc="Dimensions of the level.")
    source = export(
        Source, Source.NAVIGATION, doc="Source of spots. Navigation: the edges of navigation meshes. Grid: the cells"
        " of a grid beside walls.")
    level = export(
        NodePath, NodePath(".."), hint=node_path("Node"), shown_when=("source", Source.NAVIGATION),
        doc="Root of the level: the node at or below which the NavigationRegion3D or NavigationRegion2D are.")
    grid_node = export(
        NodePath, NodePath(""), hint=node_path("TileMapLayer", "GridMap"), shown_when=("source", Source.GRID),
        doc="TileMapLayer or GridMap with the grid.")
    cost_data = export(
        str, "", shown_when=("source", Source.GRID),
        doc="Custom data layer of the TileSet with the cost of a tile; false or 0 is a wall. If empty, tiles with"
            " collision shapes are walls.")
    floor_level = export(
        int, 0, shown_when=("source", Source.GRID),
        doc="Height (y coordinate) of the floor cells of a GridMap.")
    wall_items = export(
        PackedInt32Array, (), shown_when=("source", Source.GRID),
        doc="Items of the GridMap's mesh library that are not walkable.")
    pixels_per_meter = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px/m", shown_when=("dimensions", Dimensions.TWO),
        on_set="_is_settled", doc="Number of pixels in a metre in 2D.")
    cover_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), hint_2d=HINT_LAYERS_2D_PHYSICS, on_set="_mask_set",
        doc="Physics layers that stop shots, such as walls and crates. The bodies of the agent and of the threats are"
            " ignored.")
    objects_group = export(
        str, "cover", doc="Group of movable objects that give cover if they are large enough.")
    bakes_at_start = export(
        bool, True, doc="If true, bakes when the scene starts, unless it is already baked.")

    agent_radius = export(
        float, 0.4, range=(0.05, 10, 0.05), or_greater=True, unit="m", group="Body", core="body.radius_m",
        doc="Half the width of the agents.")
    standing_height = export(
        float, 1.8, range=(0.1, 20, 0.05), or_greater=True, unit="m", shown_when=("dimensions", Dimensions.THREE),
        core="body.standing_m",
        doc="Height of a standing agent; a wall of this height hides it completely.")
    crouching_height = export(
        float, 1.0, range=(0.1, 20, 0.05), or_greater=True, unit="m", shown_when=("dimensions", Dimensions.THREE),
        core="body.crouching_m",
        doc="Height of a crouching agent.")
    eye_height = export(
        float, 1.6, range=(0, 20, 0.05), or_greater=True, unit="m", shown_when=("dimensions", Dimensions.THREE),
        doc="Height above its origin at which a threat that is a node looks and shoots.")

    spacing = export(
        float, 1.0, range=(0.1, 10, 0.05), or_greater=True, unit="m", group="Baking", core="spots.spacing_m",
        doc="Distance between spots along a wall.")
    reach = export(
        float, 0.5, range=(0.01, 10, 0.01), or_greater=True, unit="m", core="spots.reach_m",
        doc="Largest distance of a wall from the navigation mesh, beyond the agent radius of the mesh.")
    exposure_distance = export(
        float, 10.0, range=(0.5, 100, 0.5), or_greater=True, unit="m", core="baking.exposure_m",
        doc="Length of the rays that measure the exposure of a spot.")
    peek_distance = export(
        float, 1.0, range=(0.1, 10, 0.1), or_greater=True, unit="m", core="baking.peek_m",
        doc="Distance to the end of a wall within which an agent can peek past it.")
    baked = export(
        PackedFloat32Array, (), on_set="_take_baked",
        doc="Baked spots, nine numbers each; saved with the scene.")

    search_range = export(
        float, 25.0, range=(0.5, 200, 0.5), or_greater=True, unit="m", group="Choice", core="query.range_m",
        doc="Largest travel distance from the agent to a spot.")
    min_threat_distance = export(
        float, 3.0, range=(0, 100, 0.1), or_greater=True, unit="m", core="query.least_threat_m",
        doc="Smallest distance of a spot from a threat.")
    min_protection = export(
        float, 0.75, range=(0, 1, 0.01), core="query.min_protection",
        doc="Smallest share of the body that a spot must hide.")
    protection_weight = export(
        float, 1.0, range=(0, 10, 0.01), or_greater=True, core="query.protection",
        doc="Score of complete protection.")
    distance_weight = export(
        float, 0.5, range=(0, 10, 0.01), or_greater=True, core="query.distance",
        doc="Score deducted for a spot at search_range; less for nearer spots.")
    exposure_weight = export(
        float, 0.25, range=(0, 10, 0.01), or_greater=True, core="query.exposure",
        doc="Score deducted for a spot that is open on all sides.")
    staying_weight = export(
        float, 0.1, range=(0, 10, 0.01), or_greater=True, core="query.stay_bonus",
        doc="Score added to the spot that the agent has reserved, so that it does not switch back and forth.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), group="Optimizations", on_set="_reschedule",
        doc="Weight of the map's share of the budget.")
    show_in_game = export(
        bool, False, group="Debug", on_set="_show_set",
        doc="If true, draws spots in the running game: high spots green, low spots yellow, reserved spots red.")

    bake_finished = signal(("spots", int),
        doc="Emitted when the level, or an area of it, is baked, with the number of all spots.")
    bake_failed = signal(("message", str),
        doc="Emitted when baking failed, with the reason; nothing has changed.")
    cover_found = signal(("request", int), ("spot", int),
        doc="Emitted when a request of request_cover() found a spot; the spot is not reserved.")
    cover_failed = signal(("request", int), ("why", str),
        doc="Emitted when a request of request_cover() found no cover, with the reason.")
    cover_lost = signal(("agent", Node), ("spot", int),
        doc="Emitted when the reserved spot of an agent is no longer cover; the reservation has ended.")

    STATE = DeclaredState(
        map=Part(at="cover"), agents=MapOf(NodeAt(), key=Whole(1), at="agents_here"),
        objects=MapOf(ObjectAt(), key=Whole(1), at="objects_here"), last_number=Whole(at="_last_number"),
        last_request=Whole(at="_last_request"),
        requests=ListOf(Record(
            CoverRequest, number=Whole(1), agent=TargetAt(), threats=ListOf(TargetAt()), posture=OneOf(POSTURES))))

    def __init__(self) -> None:
        self._scheduler: Any = None
        self._task: Task | None = None
        self._scene: Any = None
        super().__init__()
        self._areas: deque[Any] = deque()          # areas to bake; None is the whole level
        self._taking: Iterator[None] | None = None  # applies the spots of the baking that is done
        self._frames = 0
        self.cover = CoreCoverMap()
        self._agents: dict[int, Any] = {}            # agents with reservations, by the library's number
        self._numbers: dict[int, int] = {}           # of agents and objects, by instance id
        self._last_number = 0
        self._objects: dict[int, ObjectBounds] = {}
        self._wrong: dict[int, str] = {}             # errors of objects that are left out
        self._picture: GamePicture | None = None
        self._drawn: tuple[Any, ...] = ()
        self._travel = None
        self._requests: deque[CoverRequest] = deque()
        self._refused = 0
        self._now: tuple[CoverRequest, CoverSearch] | None = None
        self._refreshing: Iterator[None] | None = None
        self._last: CoverSearch | None = None
        self._failed: tuple[CoverSearch | None, str] = None, ""        # the last search that failed, and why
        self._last_request, self.searches = 0, 0

    def on_entered(self) -> None:
        self._scheduler = scheduler_of(self)
        if self._scheduler is None or self._task is not None:
            return
        self.scene       # noqa: B018 - creates its ray now, because children may be locked later
        self._task = self._scheduler.schedule_service(self, self._frame, "cover", priority=self.priority)

    def on_exit_tree(self) -> None:
        leave_scheduler(self, self._scheduler, self._task)
        self._task = self._scheduler = None
        self.end_work()
        self.end_requests()
        self.end_holding()

    def on_predelete(self) -> None:
        self._travel = None

    @method
    def bake(self) -> bool:
        """Start baking the whole level, a slice in each frame of the AIScheduler; return false if it cannot."""
        if self._task is None:
            raise RefusedValue("bake() needs an AIScheduler; add this node to a scene that has one")
        self._areas.clear()
        self._areas.append(None)
        return self._begin()

    @method
    def invalidate(self, area: Variant = None) -> None:
        """Bake a changed area of the level again: an AABB, or a Rect2 in 2D; null for the whole level.

        Spots that still exist keep their reservations; cover_lost is emitted for those that do not.
        """
        if self._task is None:
            raise RefusedValue("invalidate() needs an AIScheduler; add this node to a scene that has one")
        self._areas.append(None if area is None else self.box_of(area))
        if self._baking is None:
            self._begin()

    @method
    def get_stats(self) -> dict:
        """Return counts of spots, reserved spots, objects, waiting and refused requests, searches and rays."""
        return {
            "spots": len(self.cover), "held": len(self.cover.held), "objects": len(self.cover.objects),
            "waiting": self.waiting, "refused": self._refused, "searches": self.searches,
            "rays": 0 if self._scene is None else self._scene.counted}

    def begin_work(self) -> None:
        self._baking = CoverSceneBaking(self, None)
        self._areas.append(None)

    def end_work(self) -> None:
        self._areas.clear()
        self._baking = self._taking = None
        if self._task is None and self._scene is not None:      # in the editor, or leaving the tree
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
                found.append("grid_node is not a node; choose the TileMapLayer or GridMap")
            return found
        level = self.get_node_or_null(self.level)
        if level is None:
            return [*found, f"level '{self.level}' is not a node; choose the root of the level"]
        return [*found, *filter(None, [why_no_ground(level)])]

    def _frame(self, turn: Turn) -> None:
        self._frames += 1
        if self._frames == FRAMES_BEFORE_BAKING and self.bakes_at_start and not len(self.cover) and not self._areas:
            self._areas.append(None)
            self._begin()
        if self._baking is not None:
            self._bake_on(turn.budget)
        self.watch_holders()
        if self.is_valid() and self._scheduler is not None:
            self.answer_requests(turn.budget)
        if self.show_in_game and self.is_valid() and self._scheduler is not None:
            self._scheduler.draw_later(self, self.show)

    def _begin(self) -> bool:
        """Start baking the next area; report why it cannot."""
        self._why, self._baking, self._taking = "", None, None
        try:
            self._baking = CoverSceneBaking(self, self._areas[0])
        except ValueError as error:
            self._why = str(error)
            self._areas.clear()
            if self._task is not None:
                report_error(f"cannot bake: {error}", self)
                self.bake_failed.emit(str(error))
        return self._baking is not None

    def _bake_on(self, budget: Budget) -> None:
        baking = self._baking
        assert baking is not None
        if not baking.is_done:
            baking.advance(budget)
            if not baking.is_done:
                return
        self._taking = self._taking or self.take_spots(baking.spots, baking.box)
        for _ in self._taking:
            budget.spend()
            if budget.is_spent:
                return
        self._taking = None
        if self._baking is baking:      # else a listener of cover_lost has ended it
            self._areas.popleft()
            self._baking = None
        if self.is_valid():
            self.bake_finished.emit(len(self.cover))
        if self._areas and self._baking is None and self._scheduler is not None:
            self._begin()

    def _reschedule(self) -> None:
        if self._task is not None:
            self._scheduler.reschedule(self._task, period_frames=1, phase_frames=0, priority=self.priority)

    def _is_settled(self) -> None:
        if self._scene is not None:
            raise RefusedValue(
                "dimensions and pixels_per_meter cannot change after the node entered the tree; set them before")

    def _mask_set(self) -> None:
        if self._scene is not None:
            self._scene.rays.node.collision_mask = self.cover_mask

    def end_holding(self) -> None:
        """End all reservations, and remove the drawing."""
        for number in list(self.cover.held):
            self.cover.release(number)
        self._agents.clear()
        self._objects.clear()
        self._numbers.clear()
        self._wrong.clear()
        self._hide()

    @property
    def is_flat(self) -> bool:
        """Whether the level is in 2D."""
        return bool(self.dimensions == self.Dimensions.TWO)

    @property
    def unit(self) -> float:
        """Length of a metre in units of the scene: 1 in 3D, pixels_per_meter in 2D."""
        return self.pixels_per_meter if self.is_flat else 1.0

    @property
    def scene(self) -> CoverScene:
        """Geometry of the scene; created on first use."""
        if self._scene is None:
            self._scene = CoverScene(self, 2 if self.is_flat else 3, self.cover_mask, self.unit)
        return self._scene  # type: ignore[no-any-return]

    @property
    def body(self) -> CoverBody:
        """Size of the agents."""
        settings = core_settings(self, self.unit)["body"]
        if self.is_flat:
            return CoverBody(settings["radius_m"], 0, 0, "-z")
        return CoverBody(**{**settings, "crouching_m": min(settings["crouching_m"], settings["standing_m"])})

    @method
    def reserve(self, spot: int, agent: Node) -> bool:
        """Reserve a spot for an agent until release(), or until it leaves the tree.

        Returns false if another agent has reserved it, or a spot too near to it.
        """
        self.known(spot)
        number = self.number_of(agent)
        self.cover.apart_m = 2 * self.body.radius_m
        if not self.cover.reserve(spot, number):
            if number not in self._agents:
                del self._numbers[agent.instance_id]
            return False
        self._agents[number] = agent
        return True

    @method
    def release(self, agent: Node) -> None:
        """End the reservation of an agent; does nothing if it has none."""
        number = self._numbers.pop(_need("release", agent).instance_id, 0)
        self.cover.release(number)
        self._agents.pop(number, None)

    @method
    def get_cover_of(self, agent: Node) -> int:
        """Return the spot that an agent has reserved, 0 for none."""
        return int(self.cover.held.get(self._numbers.get(_need("get_cover_of", agent).instance_id, 0), 0))

    @method
    def get_holder(self, spot: int) -> Variant:
        """Return the node that has reserved a spot, null for none."""
        self.known(spot)
        return self._agents.get(self.cover.holders.get(spot))

    @method
    def cover_at(self, place: Variant, radius: float = 0.0) -> int:
        """Return the spot of the level nearest to a position, 0 for none.

        The radius of the search is in m, in 2D in px; 0 is 1 m, or its length in px.
        """
        found = self.cover.near(self.scene.place("place", place), radius / self.unit or 1.0)
        return found[0] if found else 0

    @method
    def get_spots(self) -> list:
        """Return the ids of all spots of the level."""
        return [int(one) for one in self.cover.ids]

    @method
    def get_place(self, spot: int) -> Variant:
        """Return the position of a spot, on the ground."""
        return self.scene.vector(self.known(spot).place)

    @method
    def get_direction(self, spot: int) -> Variant:
        """Return the direction from a spot to its cover, of length 1."""
        vector = self.scene.vector(self.known(spot).towards)
        return type(vector)(*(one / self.scene.pixels_per_m for one in vector))

    @method
    def is_low(self, spot: int) -> bool:
        """Return true if the spot hides only a crouching agent."""
        return bool(self.known(spot).is_low)

    @method
    def get_peeks(self, spot: int) -> list:
        """Return the sides from which an agent can peek at a spot: "left", "right", "over"."""
        return [name for bit, name in PEEKS.items() if self.known(spot).peeks & bit]

    @method
    def get_exposure(self, spot: int) -> float:
        """Return the share of open directions around a spot, from 0 to 1."""
        return float(self.known(spot).exposure)

    @method
    def get_object(self, spot: int) -> Variant:
        """Return the object that gives cover at a spot, null for a spot of the level."""
        number = self.known(spot).object_id
        box = None if number is None else self._objects.get(number)
        return None if box is None or not box.node.is_valid() else box.node

    def number_of(self, node: Any) -> int:
        """Return the library's number of a node; raise RefusedValue if it is not a valid node."""
        if node is None or not node.is_valid():
            raise RefusedValue(f"agent must be a valid node, got {node!r}")
        number = self._numbers.get(node.instance_id)
        if number is None:
            self._last_number += 1
            number = self._numbers[node.instance_id] = self._last_number
        return number

    def box_of(self, area: Any) -> tuple[list[float], list[float]]:
        """Return the corners of an area (m), enlarged so that walls at its border count."""
        kind = Rect2 if self.is_flat else AABB
        if not isinstance(area, kind):
            raise RefusedValue(f"area must be of type {kind.__name__}, got {area!r}")
        numbers = np.array(tuple(area), float) / self.scene.pixels_per_m
        if not np.isfinite(numbers).all():
            raise RefusedValue(f"area must be finite, got {area!r}; use null for the whole level")
        size = len(numbers) // 2
        around = 2 * self.body.radius_m + 1.0
        low, high = numbers[:size] - around, numbers[:size] + numbers[size:] + around
        flat = [0.0] * (3 - size)
        return [*low.tolist(), *flat], [*high.tolist(), *flat]

    def take_spots(self, spots: CoverSpots, box: Any) -> Iterator[None]:
        """Apply the baked spots of a box, or all spots, and emit cover_lost; in the steps of ``replacing``."""
        if box is None:
            packed = packed_spots(spots)
            yield
        change = yield from self.cover.replacing(spots, *(box or (None, None)))
        if box is None:
            self._baked_by_itself = True
            self.baked = packed
            self._baked_by_itself = False
        self._emit_lost(list(change.lost_by), change.lost_by)

    def _take_baked(self) -> None:
        if getattr(self, "_baked_by_itself", False):
            return
        try:
            spots = spots_of_packed(np.asarray(self.baked, np.float32))
        except ValueError as error:
            report_error(str(error), self)
            return
        self.cover.replace(spots)

    def object_nodes(self) -> list[Any]:
        """Return the movable objects that may give cover."""
        if not self.objects_group or not self.is_inside_tree():
            return []
        return list(self.get_tree().get_nodes_in_group(self.objects_group))

    def refresh_objects(self) -> Iterator[None]:
        """Update the positions of objects, and emit cover_lost for lost reservations, in steps of 20 µs: an object."""
        there = set()
        nodes = self.object_nodes()
        if self._wrong:
            here = {one.instance_id for one in nodes}
            self._wrong = {one: why for one, why in self._wrong.items() if one in here}
        for node in nodes:
            box = self._box(node) if node.is_valid() else None
            if box is not None:
                number = self.number_of(node)
                there.add(number)
                self._put_object(number, box)
            yield
            if not self.is_valid() or not self.is_inside_tree():     # a callback freed it, or changed the scene
                return
        for number in [one for one in self.cover.objects if one not in there]:
            self._put_object(number, None)

    def _put_object(self, number: int, box: ObjectBounds | None) -> None:
        """Update the position of an object, or remove it, and emit cover_lost for lost reservations."""
        before = dict(self.cover.held)
        if box is not None:
            lost = self.cover.put_object(number, box.core(self.scene.pixels_per_m))
        else:
            lost = self.cover.remove_object(number)
            gone = self._objects.pop(number, None)
            if gone is not None:
                self._numbers.pop(gone.node.instance_id, None)
        self._emit_lost(lost, before)

    def watch_holders(self) -> None:
        """End the reservations of freed agents, and update the objects behind which agents have reserved spots."""
        for number, agent in list(self._agents.items()):
            if not agent.is_valid() or not agent.is_inside_tree():
                self.cover.release(number)
                self._numbers.pop(agent.instance_id, None)
                del self._agents[number]
        for number in {spot.object_id for one, (spot, _) in self.cover.behind.items() if one in self.cover.holders}:
            box = self._objects.get(number)
            is_here = box is not None and box.node.is_valid() and box.node.is_inside_tree() and bool(
                box.node.is_in_group(self.objects_group))
            self._put_object(number, box if is_here else None)
            if not self.is_valid():     # a callback freed it
                return

    def _box(self, node: Any) -> ObjectBounds | None:
        known = self._objects.get(self._numbers.get(node.instance_id, 0))
        if known is not None:
            return known
        kind = f"Node{self.scene.dimensions}D"
        try:
            if not node.is_class(kind):
                raise ValueError(
                    f"'{node.get_name()}' is in the group '{self.objects_group}', but is not a {kind}; remove it from"
                    " the group")
            box = ObjectBounds(node)
        except ValueError as error:
            if self._wrong.get(node.instance_id) != str(error):
                self._wrong[node.instance_id] = str(error)
                report_error(str(error), self)
            return None
        self._wrong.pop(node.instance_id, None)
        self._objects[self.number_of(node)] = box
        return box

    def _emit_lost(self, lost: list[Any], before: Mapping[Any, int]) -> None:
        """Emit cover_lost for agents that lost their spots, unless a handler has given them another meanwhile."""
        gone = [(self._agents.pop(number), before[number]) for number in lost if number in self._agents]
        for agent, _ in gone:
            self._numbers.pop(agent.instance_id, None)
        for agent, spot in gone:
            if agent.is_valid() and self.is_valid() and agent.instance_id not in self._numbers:
                self.cover_lost.emit(agent, spot)

    def is_in_use(self) -> bool:
        """Whether there is something to save."""
        return len(self.cover) > 0 or bool(self.cover.held) or self.waiting > 0

    def prepared(self, state: object) -> Change:
        if self._scheduler is None:
            raise StateError(self.cannot_load)
        return self.STATE.prepare(self, state)      # also before the level is baked

    @property
    def agents_here(self) -> dict[int, Any]:
        """Agents with reservations inside the tree, by number."""
        return {number: node for number, node in self._agents.items() if node.is_valid() and node.is_inside_tree()}

    @agents_here.setter
    def agents_here(self, agents: dict[int, Any]) -> None:
        self._agents = agents

    @property
    def objects_here(self) -> dict[int, ObjectBounds]:
        """Objects inside the tree, by number."""
        return {
            number: one for number, one in self._objects.items() if one.node.is_valid() and one.node.is_inside_tree()}

    @objects_here.setter
    def objects_here(self, objects: dict[int, ObjectBounds]) -> None:
        self._objects = objects

    @property
    def requests(self) -> list[CoverRequest]:
        """The waiting requests; a running search restarts after loading."""
        return [*([] if self._now is None else [self._now[0]]), *self._requests]

    @requests.setter
    def requests(self, requests: list[CoverRequest]) -> None:
        self._requests, self._now, self._refreshing = deque(requests), None, None

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if max([*values.agents, *values.objects, 0]) > values.last_number:
            refuse("last_number", f"must be at least the numbers of agents and objects, got {values.last_number}")
        for index, one in enumerate(values.requests):
            if not one.threats:
                refuse(f"requests[{index}].threats", "must not be empty")
            if one.number > values.last_request:
                refuse(f"requests[{index}].number", f"must be at most last_request, {values.last_request}")

    def _finish_load(self) -> None:
        nodes = {**self._agents, **{number: one.node for number, one in self._objects.items()}}
        self._numbers = {node.instance_id: number for number, node in nodes.items()}
        for number in [one for one in self.cover.held if one not in self._agents]:
            self.cover.release(number)

    def show(self) -> None:
        """Draw the spots, if they have changed."""
        now = (self.cover.version, tuple(self.cover.holders))
        if self._picture is not None and now == self._drawn:
            return
        if self._picture is None:
            self._picture = GamePicture(self, is_flat=self.is_flat)
        self._drawn = now
        self._picture.draw(self._shapes())

    def _shapes(self) -> list[DrawnShapes]:
        """Return a disc on the ground for each spot, with a line towards what it hides behind."""
        spots = self.cover.spots
        held = [self.cover.spot(one) for one in self.cover.holders]
        is_free = ~np.isin(self.cover.ids, list(self.cover.holders))
        lots = [
            (spots.places[rows], spots.towards[rows], color, meaning, FREE_OPACITY)
            for rows, color, meaning in (
                (is_free & ~spots.is_low, HIGH, "cover, standing"), (is_free & spots.is_low, LOW, "cover, crouching"))]
        if held:
            lots.append((
                np.array([one.place for one in held]), np.array([one.towards for one in held]), HELD, "cover, taken",
                HELD_OPACITY))
        return [shapes for places, towards, color, meaning, opacity in lots if len(places)
                for shapes in self._spots(places, towards, color, meaning, opacity)]

    def _spots(
        self, places: Any, towards: Any, color: tuple[float, float, float], meaning: str, opacity: float,
    ) -> list[DrawnShapes]:
        unit, body = np.float32(self.scene.pixels_per_m), self.body
        lifted = places + np.asarray(body.upward) * np.float32(LIFTED_M)
        angles = np.linspace(0, math.tau, DISC_CORNERS + 1)[:, None, None]
        rim = lifted + (np.cos(angles) * towards + np.sin(angles) * body.left_of(towards)) * body.radius_m * DISC_SHARE
        middle = np.broadcast_to(lifted, rim[1:].shape)
        discs = np.stack([middle, rim[:-1], rim[1:]], axis=2).reshape(-1, 3)
        lines = np.stack([lifted, lifted + towards * np.float32(body.radius_m + 0.2)], axis=1).reshape(-1, 3)
        return [
            DrawnShapes((discs * unit).astype(np.float32), color, meaning, opacity, is_filled=True),
            DrawnShapes((lines * unit).astype(np.float32), color, meaning)]

    def _show_set(self) -> None:
        if not self.show_in_game:
            self._hide()

    def _hide(self) -> None:
        if self._picture is not None:
            self._picture.free()
            self._picture = None
            self._drawn = ()

    def end_requests(self) -> None:
        """Discard all waiting requests."""
        self._requests.clear()
        self._now = self._last = self._refreshing = None

    @property
    def waiting(self) -> int:
        """Number of waiting requests."""
        return len(self._requests) + (self._now is not None)

    @method
    def find_cover(self, agent: Variant, threats: list, posture: str = "any") -> int:
        """Return the best spot for an agent against threats, 0 if there is none; why() returns the reason.

        Agent and threats are nodes or positions. The posture "stand" excludes low cover. The search runs at once,
        regardless of the budget; for many agents, use request_cover(). The spot is not reserved.
        """
        self._refreshing = None         # knows other objects than are read now
        deque(self.refresh_objects(), maxlen=0)
        search = self._search(agent, threats, posture)
        self._advance(search, agent, threats, Budget.unlimited())
        return self._spot_of(search)

    @method
    def request_cover(self, agent: Variant, threats: list, posture: str = "any") -> int:
        """Request the best spot within the budget, and return a request number.

        It waits while the level is baked for the first time. The result is emitted by cover_found or cover_failed with
        this number. At most 1,000 requests wait: further ones return 0, and the first is an error.
        """
        self._checked(agent, threats, posture)
        if self.waiting >= MOST_WAITING:
            self._refused += 1
            if self._refused == 1:
                report_error(
                    f"has {self.waiting} requests that wait, and refuses further ones, counted in get_stats(): wait for"
                    " cover_found or cover_failed before the next request of an agent, or raise the budget", self)
            return 0
        self._last_request += 1
        self._requests.append(CoverRequest(self._last_request, agent, list(threats), posture))
        return self._last_request

    @method
    def cancel_request(self, request: int) -> None:
        """Cancel a request; does nothing if it was answered."""
        self._requests = deque(one for one in self._requests if one.number != request)
        if self._now is not None and self._now[0].number == request:
            self._now = None
        if not self.waiting:
            self._refreshing = None

    @method
    def set_travel_cost(self, travel: Variant) -> None:
        """Set a Callable for travel costs: travel(from, places) -> PackedFloat32Array, INF without a path.

        The costs are lengths in m, in 2D in px. It is called for a few positions at a time. With null, straight
        distances are used.
        """
        if travel is not None:
            check_callable(travel, "set_travel_cost")
        self._travel = travel

    @method
    def why(self, spot: int = 0) -> str:
        """Return the reason for the result of the last search, or for one spot in it, as text."""
        if self._last is None:
            return "there was no search yet"
        if spot == 0:
            return NOT_BAKED if self._awaits_baking else self._why_of(self._last)
        found = [one.why for one in self._last.evaluations if one.spot.id == spot]
        result = self._last.result if self._last.is_done else None
        if result is not None and result.spot.id == spot:
            found = [result.why]
        return found[0] if found else f"spot {spot} was not evaluated: it is out of range, or cannot be better"

    def _why_of(self, search: CoverSearch) -> str:
        """Return the reason for a result, or why there are no spots of the level at all."""
        if search is self._failed[0]:
            return self._failed[1]
        if self._why and not len(self.cover) and search.is_done and search.result is None:
            return f"the level could not be baked: {self._why}"
        return search.why

    def answer_requests(self, budget: Budget) -> None:
        """Answer requests, in their order, until the budget is spent; at least one step."""
        is_fresh = False
        if self._awaits_baking:
            return
        while self.waiting and self.is_valid() and self._scheduler is not None:
            if self._now is None and not is_fresh:
                reading = self._refreshing = self._refreshing or self.refresh_objects()
                for _ in reading:
                    budget.spend()
                    if budget.is_spent:
                        return
                    if self._refreshing is not reading:     # a callback has read all objects, or cancelled
                        break
                else:
                    self._refreshing, is_fresh = None, True
                continue
            self._answer(budget)
            if budget.is_spent:
                return

    @property
    def _awaits_baking(self) -> bool:
        """Whether there are no spots yet, but will be when the level is baked."""
        begins_later = self.bakes_at_start and self._frames < FRAMES_BEFORE_BAKING
        return not len(self.cover) and (begins_later or self._baking is not None or bool(self._areas))

    def _answer(self, budget: Budget) -> None:
        """Continue the present request, or begin the next one."""
        request = self._requests.popleft() if self._now is None else self._now[0]
        if any(hasattr(one, "is_valid") and not one.is_valid() for one in (request.agent, *request.threats)):
            self._now = None
            self.cover_failed.emit(request.number, "the agent or a threat was freed")
            return
        if self._now is None:
            try:
                self._now = request, self._search(request.agent, request.threats, request.posture)
            except RefusedValue as error:
                self.cover_failed.emit(request.number, str(error))
                return
        search = self._now[1]
        try:
            self._advance(search, request.agent, request.threats, budget)
        except Exception as error:       # raised by the travel cost Callable: continue with other requests
            self._now = None
            report_exception(error, f"request_cover() {request.number}", self)
            self.cover_failed.emit(request.number, f"{type(error).__name__}: {error}")
            return
        if search.is_done:
            self._now = None
            spot = self._spot_of(search)
            if spot:
                self.cover_found.emit(request.number, spot)
            else:
                self.cover_failed.emit(request.number, self._why_of(search))

    def _search(self, agent: Any, threats: list[Any], posture: str) -> CoverSearch:
        here, eyes = self._checked(agent, threats, posture)
        query = CoverQuery(
            posture=posture, pixels_per_m=self.unit if self.is_flat else 0.0,  # type: ignore[arg-type]
            **core_settings(self, self.unit)["query"])
        self.searches += 1
        self.cover.apart_m = 2 * self.body.radius_m
        number = self._numbers.get(agent.instance_id) if hasattr(agent, "instance_id") else None
        self._last = CoverSearch(
            self.cover, here, eyes, self.scene.blocked, body=self.body, query=query, holder=number,
            travel=self._traveling(agent) if self._travel is not None else None, ground=self.scene.ground(self.body))
        return self._last

    def _advance(self, search: CoverSearch, agent: Any, threats: list[Any], budget: Budget) -> None:
        self.scene.without([one for one in (agent, *threats) if hasattr(one, "instance_id") and one.is_valid()])
        try:
            search.advance(budget)
        except RefusedValue as error:
            self._failed = search, str(error)
            raise

    def _checked(self, agent: Any, threats: list[Any], posture: str) -> tuple[list[float], np.ndarray]:
        if self._scheduler is None:
            raise RefusedValue("needs an AIScheduler; add this node to a scene that has one before searching")
        if posture not in POSTURES:
            raise RefusedValue(f"posture must be one of {', '.join(POSTURES)}, got {posture!r}")
        if not threats:
            raise RefusedValue("threats must have at least one node or position; without a threat, every spot is cover")
        eye_m = self.eye_height / self.unit
        eyes = [self.scene.place(f"threats[{index}]", one, eye_m) for index, one in enumerate(threats)]
        return self.scene.place("agent", agent), np.array(eyes, np.float32)

    def _traveling(self, agent: Any) -> Any:
        scene, travel = self.scene, self._travel
        start = agent.global_position if hasattr(agent, "global_position") else agent

        def distances(places: np.ndarray) -> np.ndarray:
            there = np.ascontiguousarray(places[:, :scene.dimensions] * np.float32(scene.pixels_per_m))
            try:
                answer = travel(start, there)
            except GodotCallError as error:
                raise RefusedValue(f"set_travel_cost: travel(from, places) failed: {error}") from None
            try:
                costs = np.asarray(answer if isinstance(answer, (list, np.ndarray)) else [], np.float64)
            except (ValueError, TypeError):
                costs = np.empty(0)
            if costs.shape != (len(there),) or not (costs >= 0).all():
                raise RefusedValue(
                    f"set_travel_cost: travel(from, places) must return a number for each of the {len(there)} places,"
                    f" 0 or more, INF without a path, got {shown(answer)}")
            return costs / scene.pixels_per_m

        return distances

    def _spot_of(self, search: CoverSearch) -> int:
        result = search.result
        return 0 if result is None else result.spot.id

    def known(self, spot: int) -> Any:
        """Return a spot of the map; raise RefusedValue if the id is unknown."""
        try:
            return self.cover.spot(spot)
        except UnknownNameError:
            raise RefusedValue(f"unknown spot id {spot}; it never existed, or it was removed") from None
