"""MapWriter: writes into a layer of a DecisionMap at the position of a unit, in one batch with all others."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import Node, export, gdclass, report_error
from addons.ai_core.nodes.characters.agent_places import Places, dimensions_of, has_flat_scene, place_of
from addons.ai_core.nodes.debugging.edited_scene import is_a_part
from addons.ai_core.nodes.scheduling.scheduler_lookup import nearest, report_next_frame, wait_for
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.map_area import OUTSIDE, MapArea
from ai_core.maps.map_layer import LARGEST_VALUE

GROUP = "decision_maps"
WITHOUT_MAP = "found no DecisionMap and writes nothing; add one below the AIScheduler"
WITHOUT_PLACE = "has no Node3D or Node2D above it, and writes nothing; put it below one"


@gdclass(icon="res://addons/ai_core/icons/map_writer.svg")
class MapWriter(Node):
    """Writes into a layer of the nearest DecisionMap at the position of its unit at every update: threat 5, friends 2.

    All writers of a map are read in one batch. Use it for layers with a retention of 0, or that write the latest
    value, such as exploration; in a sum with a higher retention, the values would grow with every update. Of several
    that write the latest value of a cell, the highest strength counts.
    """

    layer = export(str, "friends", on_set="_changed", doc="Name of the layer.")
    strength = export(
        float, 1.0, range=(0, 1000, 0.01), or_greater=True, most=LARGEST_VALUE, on_set="_changed",
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
            self._map.writers.has_changed = True

    def _get_configuration_warnings(self) -> list[str]:
        if is_a_part(self):
            return []
        found = nearest(self, "DecisionMap", GROUP)
        warnings = [WITHOUT_MAP] if found is None else []
        names = [] if found is None else [layer.name for layer in found.made_layers()[0]]
        if names and self.layer not in names:
            warnings.append(_unknown_layer(names, self.layer))
        return warnings if place_of(self) is not None else [*warnings, WITHOUT_PLACE]


def _unknown_layer(names: Iterable[str], layer: str) -> str:
    return f"layer must be one of {', '.join(names)}, got {layer!r}"


class MapWriters:
    """The MapWriter nodes of a map.

    Args:
        decision_map: the DecisionMap.

    Attributes:
        has_changed: whether all settings are read again before their next use.
    """

    def __init__(self, decision_map: Any) -> None:
        self._map = decision_map
        self._nodes: dict[int, Any] = {}
        self._at: dict[int, Any] = {}
        self._places = Places(3)
        self.has_changed = False
        self._by_layer: dict[str, tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.float32]]] = {}
        self._reported: dict[int, str] = {}      # errors of writers that are left out

    def __len__(self) -> int:
        return len(self._nodes)

    def join(self, node: Any, place: Any) -> None:
        """Add a writer."""
        self._nodes[node.instance_id], self._at[node.instance_id] = node, place
        self.has_changed = True

    def leave(self, node: Any) -> None:
        """Remove a writer."""
        for known in (self._nodes, self._at, self._reported):
            known.pop(node.instance_id, None)
        self.has_changed = True

    def release_all(self) -> None:
        """Release all writers; called when the map leaves the tree."""
        for node in self._nodes.values():
            node.lose_map()
        self._nodes, self._at, self._reported = {}, {}, {}

    def write(self, core: DecisionMap) -> None:
        """Write the strengths of all writers at their positions.

        Cost: one engine call per writer, and O(cells of their circles).
        """
        if self.has_changed:
            self._arrange(core)
        if not self._nodes:
            return
        self._places.look(0.0)
        grounds = self._places.positions if self._map.is_flat else self._places.positions[:, ::2]
        for layer, (rows, strengths, radii) in self._by_layer.items():
            cells, index = self._cells(core.area, grounds[rows], radii)
            core.write(layer, cells, strengths[index])

    def _arrange(self, core: DecisionMap) -> None:
        self.has_changed = False
        nodes = [node for node in self._nodes.values() if node.enabled and self._is_right(node, core)]
        dimensions = 2 if self._map.is_flat else 3
        if self._places.positions.shape[1] != dimensions or not len(self._places.positions):
            self._places = Places(dimensions, self._map.unit_m)
        self._places.keep([self._at[node.instance_id] for node in nodes])
        rows: dict[str, list[int]] = {}
        for row, node in enumerate(nodes):
            rows.setdefault(node.layer, []).append(row)
        for which in rows.values():     # the last in a cell counts, and sums are rounded in the order of their terms
            which.sort(key=lambda row: nodes[row].strength)
        self._by_layer = {
            layer: (
                np.array(which, np.intp), np.array([nodes[row].strength for row in which], np.float32),
                np.array([min(nodes[row].radius * self._map.unit_m, LARGEST_VALUE) for row in which], np.float32),
            )
            for layer, which in sorted(rows.items())
        }

    def _is_right(self, node: Any, core: DecisionMap) -> bool:
        """Return whether the settings of a writer are valid; report an error once, until it is corrected."""
        place = self._at[node.instance_id]
        if (dimensions_of(place) == 2) != self._map.is_flat:
            problem = (f"is below the {place.get_class()} '{place.get_name()}', but its DecisionMap has other"
                       " dimensions; change dimensions of the DecisionMap")
        elif node.layer not in core.layers:
            problem = _unknown_layer(core.layers, node.layer)
        else:
            self._reported.pop(node.instance_id, None)
            return True
        if self._reported.get(node.instance_id) != problem:
            self._reported[node.instance_id] = problem
            report_error(f"{problem}; it writes nothing until this is corrected", node)
        return False

    def _cells(
        self, area: MapArea, grounds: NDArray[np.float32], radii: NDArray[np.float32]
    ) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """Return the cells of all circles (m), circle by circle, and for each cell the index of its circle."""
        cells, index = area.cells_of(grounds), np.arange(len(grounds))
        if radii.any():
            found = [
                area.cells_within(place, radius_m) if radius_m else cells[row:row + 1]
                for row, (place, radius_m) in enumerate(zip(grounds.tolist(), radii.tolist(), strict=True))]
            cells, index = np.concatenate(found), np.repeat(index, [len(one) for one in found])
        is_inside = cells != OUTSIDE
        return cells[is_inside], index[is_inside]
