"""MapWriter: writes into a layer of a DecisionMap at the position of a unit."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import Node, export, gdclass
from addons.ai_core.nodes.characters.agent_places import has_flat_scene, place_of
from addons.ai_core.nodes.debugging.edited_scene import is_a_part
from addons.ai_core.nodes.scheduling.scheduler_lookup import nearest, report_next_frame, wait_for

GROUP = "decision_maps"
WITHOUT_MAP = "found no DecisionMap and writes nothing; add one below the AIScheduler"
WITHOUT_PLACE = "has no Node3D or Node2D above it, and writes nothing; put it below one"


@gdclass(icon="res://addons/ai_core/icons/map_writer.svg")
class MapWriter(Node):
    """Writes into a layer of the nearest DecisionMap at the position of its unit at every update: threat 5, friends 2.

    All writers of a map are read in one batch. Use it for layers with a retention of 0, or that write the latest
    value, such as exploration; in a sum with a higher retention, the values would grow with every update.
    """

    layer = export(str, "friends", on_set="_changed", doc="Name of the layer.")
    strength = export(
        float, 1.0, range=(0, 1000, 0.01), or_greater=True, on_set="_changed",
        doc="Value that is written; 0 for exploration.")
    radius = export(
        float, 0.0, range=(0, 100, 0.1), or_greater=True, unit="m", on_set="_changed",
        doc="Radius of the circle of cells that are written, such as the view of the unit; 0 writes only the cell of"
            " the unit.")
    enabled = export(bool, True, on_set="_changed", doc="If false, nothing is written.")

    is_flat = property(has_flat_scene, doc="Whether the scene is in 2D, where distances are in pixels.")

    def __init__(self) -> None:
        self._map: Any = None

    def on_entered(self) -> None:
        self._join()

    def on_exit_tree(self) -> None:
        decision_map, self._map = self._map, None
        if decision_map is not None and decision_map.is_valid():
            decision_map.writers.leave(self)

    def lose_map(self) -> None:
        """Wait for another map; called when the map leaves the tree."""
        self._map = None
        if self.is_valid() and self.is_inside_tree():
            wait_for(self, GROUP)

    def _join(self) -> None:
        if self._map is not None:
            return
        found, place = nearest(self, "DecisionMap", GROUP), place_of(self)
        if place is None:
            report_next_frame(self, lambda: [WITHOUT_PLACE])
        elif found is None:
            report_next_frame(self, lambda: [] if self._map is not None else [WITHOUT_MAP])
            wait_for(self, GROUP)
        else:
            self._map = found
            found.writers.join(self, place)

    def _changed(self) -> None:
        if self._map is not None:
            self._map.writers.have_changed()

    def _get_configuration_warnings(self) -> list[str]:
        if is_a_part(self):
            return []
        warnings = [] if nearest(self, "DecisionMap", GROUP) is not None else [WITHOUT_MAP]
        return warnings if place_of(self) is not None else [*warnings, WITHOUT_PLACE]
