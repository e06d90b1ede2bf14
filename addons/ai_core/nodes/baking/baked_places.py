"""Converts the regions and portals of a scene to a graph for baking, and a baked graph to nodes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from addons.ai_core.bridge.gd import AABB, NodePath, Rect2, construct
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.senses.sense_place import BAKED, is_baked, manager_of
from ai_core.senses.graph.parts import SensePortal, SenseRegion
from ai_core.senses.graph.sense_graph import SenseGraph

SENSES = ("sight", "hearing", "smell")
EXIT = "Exit"


class BakedPlaces:
    """The SenseRegion3D and SensePortal3D of a level, or the 2D ones, by their paths from the baker.

    Args:
        baker: the parent of new nodes.
        level: the root of the level.
        dimensions: 3 or 2.

    Raises:
        ValueError: if pixels_per_meter of the SenseManager of a 2D level differs from that of the baker.
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
        manager = manager_of(self._baker, self._dimensions)
        why = "" if manager is None else manager.why_not(self._baker)
        if why:
            raise ValueError(f"cannot bake into the scene: {why}")
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
