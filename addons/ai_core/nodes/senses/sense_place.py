"""Base class of regions and portals, from which a SenseManager in graph mode builds its graph."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, is_in_editor
from addons.ai_core.nodes.debugging.edited_scene import is_a_part
from addons.ai_core.nodes.scheduling.scheduler_lookup import nearest, report_next_frame

GROUP = "sense_managers"
REGIONS = "sense_regions"
PORTALS = "sense_portals"
BAKED = "ai_core_baked"
"""Metadata of regions and portals made by a SenseGraphBaker; remove it to keep a node unchanged by baking."""


def manager_of(node: Any, dimensions: int = 0) -> Any:
    """Return the nearest SenseManager of a node's dimensions, or of ``dimensions``; else of any, or None."""
    wanted = dimensions or node.dimensions
    found = nearest(node, "SenseManager", GROUP, lambda manager: manager.has_dimensions == wanted)
    return found or nearest(node, "SenseManager", GROUP)


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
        if manager is None and is_a_part(self):
            return []
        why = "there is no SenseManager; add one to the scene" if manager is None else manager.why_not(self)
        return [f"is not used: {why}"] if why else []

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
