"""Regions and portals of a scene, and the graph that a SenseManager in graph mode builds from them."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, is_in_editor, report_error
from addons.ai_core.nodes.characters.agent_places import shares_world
from addons.ai_core.nodes.debugging.edited_scene import is_a_part, nodes_of
from addons.ai_core.nodes.saving.scene_text import read_text
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import nearest, report_next_frame
from ai_core.errors import UnknownNameError
from ai_core.senses.graph.graph_file import graph_from_text
from ai_core.senses.graph.parts import SensePortal
from ai_core.senses.graph.sense_graph import SenseGraph

GROUP = "sense_managers"
REGIONS = "sense_regions"
PORTALS = "sense_portals"
TRAIL = "trail"
"""Name of the modality in which scent trails are smelled."""

BAKED = "ai_core_baked"
"""Metadata of regions and portals made by a SenseGraphBaker; remove it to keep a node unchanged by baking."""


def fitting_manager(node: Any, dimensions: int = 0) -> Any:
    """Return the nearest SenseManager of the dimensions, and in the world, of a node; None if there is none."""
    wanted = dimensions or node.dimensions
    return nearest(
        node, "SenseManager", GROUP,
        lambda manager: manager.has_dimensions == wanted and shares_world(node, manager, wanted))


def manager_of(node: Any, dimensions: int = 0) -> Any:
    """Return the nearest SenseManager that fits a node, else the nearest one, or None."""
    return fitting_manager(node, dimensions) or nearest(node, "SenseManager", GROUP)


def member_warnings(node: Any, manager: Any, outcome: str) -> list[str]:
    """Return why a node cannot belong to a manager, the one that is nearest, or None, and the outcome of that."""
    if manager is None:
        return [] if is_a_part(node) else [f"found no SenseManager and {outcome}; add a SenseManager to the scene"]
    kind, name = f"{node.dimensions}D", manager.get_name()
    if manager.has_dimensions != node.dimensions:
        return [
            f"is {kind}, but its SenseManager '{name}' is {manager.has_dimensions}D, so it {outcome}; change"
            f" dimensions of the SenseManager, or add a SenseManager for {kind}"]
    if not shares_world(node, manager, node.dimensions):
        return [
            f"is in another World{kind} than its SenseManager '{name}', so it {outcome}; add a SenseManager to its"
            " viewport"]
    return []


def is_baked(node: Any) -> bool:
    """Return whether a region or portal belongs to a SenseGraphBaker, which may change and free it."""
    return bool(node.get_meta(BAKED, False))


class SensePlace:
    """A region or portal: in its group while it is in the tree, in a graph when the graph is built."""

    _manager: Any = None
    _name = ""
    group_name = ""

    def on_enter_tree(self: Any) -> None:
        self.add_to_group(self.group_name)

    def on_entered(self: Any) -> None:
        if self._manager is None and self.place_warnings():
            report_next_frame(self, lambda: [] if self._manager is not None else self.place_warnings())

    def place_warnings(self: Any) -> list[str]:
        """Return why the node cannot be part of a graph."""
        manager = manager_of(self)
        found = member_warnings(self, manager, "is not used")
        why = "" if found or manager is None else manager.why_not(self)
        return [f"is not used: {why}"] if why else found

    def _get_configuration_warnings(self) -> list[str]:
        return [*(self.place_warnings() if is_in_editor() else []), *self.wrong_settings()]

    def wrong_settings(self) -> list[str]:
        """Return the errors in its settings that exclude it from the graph."""
        raise NotImplementedError

    def become(self: Any, manager: Any, name: str) -> None:
        """Join a manager's graph under this name."""
        self._manager, self._name = manager, name

    def lose_manager(self: Any) -> None:
        """Leave the graph, which no longer exists."""
        self._manager, self._name = None, ""

    def _place(self) -> tuple[Any, str]:
        if self._manager is None:
            raise RefusedValue(
                "is in no sense graph; it needs a SenseManager in graph mode with at least one sensor or source")
        return self._manager.core, self._name

    def _set(self) -> None:
        if self._manager is not None:
            raise RefusedValue("the graph is already built; set this before the first sensor or source joins")


def without_regions(manager: Any) -> str:
    """Return the warning for a manager in graph mode whose scene has no region."""
    return (
        f"has mode Graph and no SenseRegion{manager.has_dimensions}D, so nothing is sensed; add regions,"
        " or set mode to Regional")


def graph_warnings(manager: Any) -> list[str]:
    """Return, in the editor, the errors that ``graph_of_scene`` will report for a manager in graph mode."""
    if not is_in_editor() or not manager.is_inside_tree() or is_a_part(manager) or manager.graph_file:
        return []
    regions = nodes_of(manager, f"SenseRegion{manager.has_dimensions}D")
    return [] if any(manager_of(one) == manager for one in regions) else [without_regions(manager)]


def graph_of_scene(
    manager: Any, root: Any, senses: Sequence[str], smells: Sequence[str],
) -> tuple[SenseGraph, dict[str, Any], dict[str, Any]]:
    """Return the graph of a manager, and the nodes of regions and of portals by their names in the graph.

    Each invalid region, portal or file is reported once and left out. ``smells`` are the modalities that dissipate.
    """
    regions = {path_of(root, one): one for one in _good(manager, REGIONS, senses)}
    names = {node.instance_id: name for name, node in regions.items()}
    portals: dict[str, Any] = {}
    directions = []
    for node in _good(manager, PORTALS, senses):
        ends = [names.get(node.end(path).instance_id) for path in (node.from_region, node.to_region)]
        if None in ends:
            path = node.from_region if ends[0] is None else node.to_region
            report_error(f"leads nowhere: the region '{path}' is not in the graph of its SenseManager", node)
            continue
        name = path_of(root, node)
        portals[name] = node
        directions += node.portals(name, *ends)
    known = _of_file(manager, {*regions, *portals}) if manager.graph_file else SenseGraph([])
    if not regions and not known.regions:
        report_error(without_regions(manager), manager)
    directions = [*known.portals, *directions]
    if manager.keeps_trails:
        directions = [_with_trails(one) for one in directions]
    graph = SenseGraph([*known.regions, *(node.region(name, smells) for name, node in regions.items())], directions)
    for name, node in (*regions.items(), *portals.items()):
        node.become(manager, name)
    return graph, regions, portals


def _with_trails(portal: SensePortal) -> SensePortal:
    """Return a portal that passes scent trails as it passes smells, unless it says how it passes them."""
    passages = portal.passages
    return replace(portal, passages={TRAIL: passages["smell"], **passages}) if "smell" in passages else portal


def _of_file(manager: Any, taken: set[str]) -> SenseGraph:
    """Return the graph in the file of a manager; an invalid file is reported, and the graph is empty."""
    path = manager.graph_file
    text = read_text(path)
    try:
        if text is None:
            raise ValueError("the file does not exist")
        graph = graph_from_text(text)
        names = {one.name for one in (*graph.regions, *graph.portals)} & taken
        if names:
            raise ValueError(f"the scene also has nodes with the names {sorted(names)}; rename them")
        return graph
    except ValueError as error:
        report_error(f"graph_file '{path}' is not used: {error}", manager)
        return SenseGraph([])


def _good(manager: Any, group: str, senses: Sequence[str]) -> list[Any]:
    """Return the valid members of a group that belong to a manager, in tree order."""
    found = []
    for node in manager.get_tree().get_nodes_in_group(group):
        if fitting_manager(node) != manager:
            continue
        warnings = node.wrong_settings()
        warnings += [
            f"is ignored: {UnknownNameError('modality', one, senses)}"
            for one in node.senses_named() if one not in senses]
        if not all(map(math.isfinite, node.global_position)):
            warnings = ["is ignored: its global transform holds a NaN or infinity"]
        for warning in warnings:
            report_error(warning, node)
        if not warnings:
            found.append(node)
    return found
