"""The state of a SenseManager: sensors and sources are found again by their paths."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from heapq import heapify
from typing import Any

from addons.ai_core.nodes.saving.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.senses.felt_collisions import FeltCollisions
from ai_core.saving.fields import Fields, State

Name = tuple[str, int]

NOTHING_FELT: State = {"told": [], "sliding": [], "met": []}


class SenseSaving:
    """How a SenseManager is saved and loaded; a part of that class."""

    core: Any
    let_go: Any
    name_anew: Any
    _core: Any
    _sensors: dict[int, Any]
    _sources: dict[int, Any]
    _owners: dict[int, list[Any]]
    _bodies: dict[int, int]
    _sensor_bodies: dict[int, int]
    _portals: dict[str, Any]
    _fading: list[tuple[float, int]]
    _rows: Any
    _contacts: FeltCollisions | None

    def is_in_use(self) -> bool:
        return self._core is not None

    def saved(self) -> State:
        self.let_go()
        self.name_anew()
        return {
            "version": 5,
            "senses": self.core.save_state(),
            "sensors": _saved_nodes(self.core.sensor_names, self._sensors),
            "sources": _saved_nodes(self.core.source_names, self._sources),
            "felt": NOTHING_FELT if self._contacts is None else self._contacts.saved(),
        }

    def prepared(self, state: object) -> Callable[[], None]:
        self.let_go()
        self.name_anew()
        fields = Fields.versioned(state, version=5, migrations={
            2: _without_cones, 3: _without_touch, 4: _without_meetings})
        change = self.core.prepare_state(fields.anything("senses"))
        changes = [
            *_prepared_nodes(fields, "sensors", self.core.sensor_names, self._sensors),
            *_prepared_nodes(fields, "sources", self.core.source_names, self._sources),
        ]
        felt = fields.group("felt")
        if self._contacts is not None:
            changes.append(self._contacts.prepared(felt))
        fields.end()

        def change_all() -> None:
            sensors, sources = _by_name(self.core.sensor_names), _by_name(self.core.source_names)
            change()
            self._take_ids(sensors, sources)
            for name, portal in self._portals.items():
                portal.take_open(self.core.graph.is_open(name))
                portal.take_wind(self.core.graph.wind_set(name))
            for one in changes:
                one()
            self._fading = [(node.until_s, one) for one, node in self._sources.items() if node.until_s < math.inf]
            heapify(self._fading)

        return change_all

    def _take_ids(self, sensors: dict[Name, int], sources: dict[Name, int]) -> None:
        """Give nodes the ids that a loaded game has; told which they had, by name."""
        new_sensors, new_sources = _by_name(self.core.sensor_names), _by_name(self.core.source_names)
        self._sensors = {new_sensors[name]: self._sensors[old] for name, old in sensors.items()}
        self._sensor_bodies = {new_sensors[name]: self._sensor_bodies[old] for name, old in sensors.items()}
        self._bodies = {new_sources[name]: self._bodies[old] for name, old in sources.items()}
        self._sources = {new_sources[name]: self._sources[old] for name, old in sources.items()}
        self._owners = {new_sources[name]: self._owners[old] for name, old in sources.items() if old in self._owners}
        self._rows = None
        for new, node in (*self._sensors.items(), *self._sources.items()):
            node.take_id(new)


def _without_cones(state: State) -> State:
    """Return a state of version 2, which knows no sight_cones, as version 3: sensors keep theirs."""
    return {**state, "version": 3, "sensors": [{**one, "sight_cones": None} for one in state["sensors"]]}


def _without_touch(state: State) -> State:
    """Return a state of version 3, which knows nothing of collisions, as version 4: nobody felt any."""
    return {**state, "version": 4, "felt": {"told": [], "sliding": []}}


def _without_meetings(state: State) -> State:
    """Return a state of version 4, which knows not who met since the last frame of AI, as version 5: nobody."""
    return {**state, "version": 5, "felt": {**state["felt"], "met": []}}


def _saved_nodes(names: Mapping[int, str], nodes: dict[int, Any]) -> list[State]:
    """Return the properties of each sensor or source, by the order of adding."""
    return [
        {"name": name, "settings": saved_settings(nodes[one], nodes[one].saved_names), **nodes[one].saved_more()}
        for one, name in names.items() if one in nodes
    ]


def _prepared_nodes(
    fields: Fields, field: str, names: Mapping[int, str], nodes: dict[int, Any]
) -> list[Callable[[], None]]:
    """Check saved properties, those of one name by the order of adding; return what puts them."""
    ids, numbers = _by_name(names), Counter[str]()
    changes = []
    for row in fields.groups(field):
        name = row.text("name")
        node = nodes.get(ids.get((name, numbers[name]), -1))
        numbers[name] += 1
        if node is None:
            row.refuse("name", f"names {name!r}, which is not in the scene")
        changes.append(prepared_settings(node, node.saved_names, row.group("settings")))
        changes.append(node.prepared_more(row))
        row.end()
    return changes


def _by_name(names: Mapping[int, str]) -> dict[Name, int]:
    """Return ids by name and number among those of the same name."""
    found: dict[Name, int] = {}
    numbers: Counter[str] = Counter()
    for one, name in names.items():
        found[name, numbers[name]] = one
        numbers[name] += 1
    return found
