"""Bakes the sense graph of a scene from its ground and rays, and writes regions and portals."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import AABB, NodePath, Rect2, construct
from addons.ai_core.nodes.baking.baking_node import LevelBaking
from addons.ai_core.nodes.baking.scene_ground import ground_below
from addons.ai_core.nodes.saving.node_settings import core_settings, with_property_names
from addons.ai_core.nodes.saving.scene_text import read_text, write_text
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.senses.physics_space import PhysicsSpace2D, PhysicsSpace3D
from addons.ai_core.nodes.senses.sense_place import BAKED, is_baked, manager_of
from ai_core.budget import Budget
from ai_core.saving.fields import StateError
from ai_core.senses.baking.baking import BakingReport, BakingSettings, SenseGraphBaking
from ai_core.senses.graph.graph_file import graph_from_text, graph_to_text
from ai_core.senses.graph.parts import SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph


class SceneBaking(LevelBaking):
    """Bakes the level of a SenseGraphBaker: create it, advance it, then write nodes or the file.

    Args:
        baker: the SenseGraphBaker, inside the tree.

    Raises:
        ValueError: if there is no ground, the ground is too large, the file to write is not a sense graph, the graph of
            the scene is in use, or pixels_per_meter of a 2D level differ.
    """

    def __init__(self, baker: Any) -> None:
        self._baker = baker
        level = baker.get_node_or_null(baker.level)
        if level is None:
            raise ValueError(f"level '{baker.level}' is not a node; choose the root of the level")
        ground = ground_below(level, baker.cell_size / baker.unit, baker.pixels_per_meter)
        self._places = None if baker.file else BakedPlaces(baker, level, ground.dimensions)
        earlier = self._places.graph() if self._places is not None else _read(baker.file)
        self._rays = _Rays(baker, ground.dimensions)
        try:
            with _property_names(baker):
                self._core = SenseGraphBaking(
                    ground.polygons, self._rays.blocked, settings=BakingSettings(**core_settings(baker, baker.unit)),
                    earlier=earlier)
        except ValueError:
            self._rays.end()
            raise

    @property
    def stage(self) -> str:
        """Present stage, as text."""
        return self._core.stage

    @property
    def result(self) -> SenseGraph:
        """The graph; RuntimeError before it is done."""
        return self._core.result

    @property
    def report(self) -> BakingReport:
        """Names of new, kept, removed and dropped regions and portals."""
        return self._core.report

    def advance(self, budget: Budget) -> None:
        """Continue until baking is done or the budget is spent.

        Raises:
            ValueError: if there are too many regions; baking has ended then.
        """
        try:
            with _property_names(self._baker):
                self._core.advance(budget)
        finally:
            if self._core.is_done or self._core.is_cancelled:
                self._rays.end()

    def cancel(self) -> None:
        """Discard unfinished work; nothing in the scene has changed."""
        self._core.cancel()
        self._rays.end()

    def write(self, owner: Any = None) -> None:
        """Write the file of the baker, or else regions and portals below the baker.

        Raises:
            ValueError: if the file cannot be written, or the graph of the scene is in use.
        """
        if self._places is not None:
            self.write_nodes(owner)
        else:
            self.write_file(self._baker.file)

    def write_nodes(self, owner: Any = None) -> tuple[int, int]:
        """Create, move and free baked regions and portals to match the result.

        Args:
            owner: owner of new nodes, with which they are saved; None for the baker's owner.

        Returns:
            The numbers of baked regions and portals.

        Raises:
            ValueError: if the graph of the scene is in use, or the result was baked for a file.
        """
        if self._places is None:
            raise ValueError("the result was baked for a file; clear file and bake again")
        return self._places.write(self.result, self._baker.get_owner() if owner is None else owner)

    def write_file(self, path: str) -> None:
        """Write the graph as text; raise ValueError if the file cannot be written."""
        if not write_text(path, graph_to_text(self.result)):
            raise ValueError(f"file '{path}' cannot be written; choose another path")


@contextmanager
def _property_names(baker: Any) -> Iterator[None]:
    """Raise errors of the library with the names of the baker's properties."""
    try:
        yield
    except ValueError as error:
        message = with_property_names(baker, str(error), cell_m="cell_size")
        if message != str(error) and baker.unit != 1.0:
            message += f" (lengths in metres, {baker.unit:g} px each)"
        raise ValueError(message) from None


class _Rays:
    """Batched rays of one baking, through the physics space of the scene."""

    def __init__(self, baker: Any, dimensions: int) -> None:
        self._rays: Any = (
            PhysicsSpace3D(baker, baker.sight_mask) if dimensions == 3
            else PhysicsSpace2D(baker, baker.sight_mask, baker.pixels_per_meter))

    def blocked(self, segments: NDArray[np.float32]) -> NDArray[np.bool_]:
        no_excluded = np.zeros(len(segments), np.int64)
        answers: NDArray[np.bool_] = ~self._rays.are_free(
            np.ascontiguousarray(segments[:, :3]), np.ascontiguousarray(segments[:, 3:]), no_excluded)
        return answers

    def end(self) -> None:
        if self._rays is not None:
            self._rays.free()
            self._rays = None


def _read(path: str) -> SenseGraph | None:
    """Return the graph in a file, None if the file does not exist."""
    text = read_text(path)
    try:
        return None if text is None else graph_from_text(text)
    except StateError as error:
        raise ValueError(
            f"file '{path}' exists and is not a sense graph, so it is not overwritten: {error}; set another file, or"
            f" delete this one") from error


SENSES = ("sight", "hearing", "smell")
EXIT = "Exit"


class BakedPlaces:
    """The SenseRegion3D and SensePortal3D of a level, or the 2D ones, by their paths from the baker.

    Args:
        baker: the parent of new nodes.
        level: the root of the level.
        dimensions: 3 or 2.

    Raises:
        ValueError: if pixels_per_meter of the SenseManager of a 2D level differs from that of the baker, or the graph
            of the scene is in use.
    """

    def __init__(self, baker: Any, level: Any, dimensions: int) -> None:
        self._baker, self._dimensions = baker, dimensions
        manager = manager_of(baker, dimensions)
        if dimensions == 2 and manager is not None and manager.pixels_per_meter != baker.pixels_per_meter:
            raise ValueError(
                f"pixels_per_meter is {baker.pixels_per_meter:g}, but {manager.pixels_per_meter:g} in the SenseManager"
                f" '{manager.get_name()}'; set both to the same value")
        self._regions = {path_of(baker, one): one for one in _good(level, f"SenseRegion{dimensions}D")}
        self._portals = {path_of(baker, one): one for one in _good(level, f"SensePortal{dimensions}D")}
        self._check_not_in_use()

    def graph(self) -> SenseGraph:
        """Return the present graph, without invalid nodes."""
        names = {node.instance_id: name for name, node in self._regions.items()}
        portals: list[SensePortal] = []
        for name, node in self._portals.items():
            ends = [names.get(node.end(path).instance_id) for path in (node.from_region, node.to_region)]
            if None not in ends:
                portals += node.portals(name, *ends)
        return SenseGraph([node.region(name) for name, node in self._regions.items()], portals)

    def write(self, graph: SenseGraph, owner: Any) -> tuple[int, int]:
        """Create, move and free baked nodes to match a graph; other nodes are unchanged.

        Returns:
            The numbers of baked regions and portals.

        Raises:
            ValueError: if the graph of the scene is in use.
        """
        self._check_not_in_use()        # since the beginning, a sensor may have joined
        doors = _by_name(graph)
        for nodes, still in ((self._portals, doors.keys()), (self._regions, {one.name for one in graph.regions})):
            for name, node in nodes.items():
                if is_baked(node) and name not in still:
                    node.get_parent().remove_child(node)
                    node.queue_free()
        regions = [one for one in graph.regions if one.is_baked]
        for region in regions:
            node = self._regions.get(region.name)
            if node is None:
                node = self._regions[region.name] = self._made("SenseRegion", region.name, owner)
            self._put_boxes(node, region)
        for name, there in doors.items():
            self._put_portal(name, there, owner)
        return len(regions), len(doors)

    def _check_not_in_use(self) -> None:
        manager = manager_of(self._baker, self._dimensions)
        why = "" if manager is None else manager.why_not(self._baker)
        if why:
            raise ValueError(f"cannot bake into the scene: {why}")

    def _put_portal(self, name: str, there: SensePortal, owner: Any) -> None:
        node = self._portals.get(name)
        if node is None:
            leaves = {one: one.rsplit("/", 1)[-1] for one in (there.from_region, there.to_region)}
            for path, leaf in leaves.items():
                name = name.replace(path, leaf)
            node = self._made("SensePortal", name, owner)
            ends = [self._regions[one] for one in (there.from_region, there.to_region)]
            node.from_region, node.to_region = (node.get_path_to(one) for one in ends)
            for sense in SENSES:
                passage = there.passages.get(sense)
                node.set(f"passes_{sense}", passage is not None)
                if passage is not None:
                    node.set(f"{sense}_kept_per_meter_closed", passage.closed_kept_per_m)
            exit_marker = construct(f"Marker{self._dimensions}D")
            exit_marker.name = EXIT
            node.add_child(exit_marker)
            exit_marker.owner = owner
            node.exit = NodePath(EXIT)
        passage = there.passages[min(there.passages)] if there.passages else None
        if passage is None:
            return
        unit = self._baker.unit
        node.global_position = self._point(node, passage.start)
        exit_marker = node.end(node.exit)
        if exit_marker is not None:
            exit_marker.global_position = self._point(node, passage.end or passage.start)
        node.smell_area = passage.area_m2 * unit * self._height(there)
        for sense in there.passages:
            node.set(f"{sense}_distance", passage.distance_m * unit)

    def _point(self, node: Any, place: Sequence[float]) -> Any:
        return node.point_of([one * self._baker.unit for one in place])

    def _height(self, there: SensePortal) -> float:
        """Return the height of an opening whose area is given per metre: in 2D, that of the lower room."""
        if self._dimensions == 3:
            return 1.0
        return float(min(self._regions[one].ceiling_height for one in (there.from_region, there.to_region)))

    def _put_boxes(self, node: Any, region: SenseRegion) -> None:
        middle = [(a + b) / 2 for a, b in zip(region.shape.minimum, region.shape.maximum, strict=True)]
        node.global_position = self._point(node, middle)
        kind, sides = (AABB, 3) if self._dimensions == 3 else (Rect2, 2)
        unit = self._baker.unit
        node.boxes = [
            kind(*(unit * (a - b) for a, b in zip(box.minimum[:sides], middle, strict=False)),
                 *(unit * (b - a) for a, b in zip(box.minimum[:sides], box.maximum, strict=False)))
            for box in region.shape.parts
        ]

    def _made(self, class_name: str, name: str, owner: Any) -> Any:
        node = construct(f"{class_name}{self._dimensions}D")
        node.name = "".join("_" if letter in '.:@/"%' else letter for letter in name)
        node.set_meta(BAKED, True)
        self._baker.add_child(node, True)        # a name in use gets a number
        node.owner = owner
        return node


def _good(level: Any, class_name: str) -> list[Any]:
    below = level.find_children("*", class_name, True, False)
    return [one for one in ([level] if level.is_class(class_name) else []) + list(below) if not one.wrong_settings()]


def _by_name(graph: SenseGraph) -> dict[str, SensePortal]:
    """Return one direction of each baked portal; a node has both."""
    doors: dict[str, SensePortal] = {}
    for portal in graph.portals:
        if portal.is_baked:
            doors.setdefault(portal.name, portal)
    return doors
