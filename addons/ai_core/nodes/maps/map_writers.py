"""All MapWriters of one DecisionMap: read in one batch, written in one batch per layer."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import report_error
from addons.ai_core.nodes.characters.agent_places import Places, dimensions_of
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.map_area import OUTSIDE, MapArea
from ai_core.maps.map_layer import LARGEST_VALUE


class MapWriters:
    """The MapWriter nodes of a map.

    Args:
        decision_map: the DecisionMap.
    """

    def __init__(self, decision_map: Any) -> None:
        self._map = decision_map
        self._nodes: dict[int, Any] = {}
        self._at: dict[int, Any] = {}
        self._places = Places(3)
        self._has_changed = False
        self._by_layer: dict[str, tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.float32]]] = {}
        self._reported: dict[int, str] = {}      # errors of writers that are left out

    def __len__(self) -> int:
        return len(self._nodes)

    def join(self, node: Any, place: Any) -> None:
        """Add a writer."""
        self._nodes[node.instance_id], self._at[node.instance_id] = node, place
        self._has_changed = True

    def leave(self, node: Any) -> None:
        """Remove a writer."""
        for known in (self._nodes, self._at, self._reported):
            known.pop(node.instance_id, None)
        self._has_changed = True

    def have_changed(self) -> None:
        """Read all settings again before their next use."""
        self._has_changed = True

    def release_all(self) -> None:
        """Release all writers; called when the map leaves the tree."""
        for node in self._nodes.values():
            node.lose_map()
        self._nodes, self._at, self._reported = {}, {}, {}

    def write(self, core: DecisionMap) -> None:
        """Write the strengths of all writers at their positions.

        Cost: one engine call per writer, and O(cells of their circles).
        """
        if self._has_changed:
            self._arrange(core)
        if not self._nodes:
            return
        self._places.look(0.0)
        grounds = self._places.positions if self._map.is_flat else self._places.positions[:, ::2]
        for layer, (rows, strengths, radii) in self._by_layer.items():
            for radius_m in np.unique(radii):
                alike = radii == radius_m
                cells, index = self._cells(core.area, grounds[rows[alike]], float(radius_m))
                core.write(layer, cells, strengths[alike][index])

    def _arrange(self, core: DecisionMap) -> None:
        self._has_changed = False
        nodes = [node for node in self._nodes.values() if node.enabled and self._is_right(node, core)]
        dimensions = 2 if self._map.is_flat else 3
        if self._places.positions.shape[1] != dimensions or not len(self._places.positions):
            self._places = Places(dimensions, self._map.unit_m)
        self._places.keep([self._at[node.instance_id] for node in nodes])
        rows: dict[str, list[int]] = {}
        for row, node in enumerate(nodes):
            rows.setdefault(node.layer, []).append(row)
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
            problem = f"layer must be one of {', '.join(core.layers)}, got {node.layer!r}"
        elif not 0 <= node.strength <= LARGEST_VALUE:
            problem = f"strength must be between 0 and {LARGEST_VALUE:g}, got {node.strength:g}"
        else:
            self._reported.pop(node.instance_id, None)
            return True
        if self._reported.get(node.instance_id) != problem:
            self._reported[node.instance_id] = problem
            report_error(f"{problem}; it writes nothing until this is corrected", node)
        return False

    def _cells(
        self, area: MapArea, grounds: NDArray[np.float32], radius_m: float
    ) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """Return the cells of all circles, and for each cell the index of its circle."""
        if radius_m == 0:
            cells = area.cells_of(grounds)
            index = np.flatnonzero(cells != OUTSIDE)
            return cells[index], index
        found = [area.cells_within(place, radius_m) for place in grounds.tolist()]
        return np.concatenate(found), np.repeat(np.arange(len(found)), [len(cells) for cells in found])
