"""OwnSources: which source belongs to the character of a sensor, so that the sensor never senses it."""
from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from addons.ai_core.bridge.gd import moving_body_id, parent_of
from ai_core.senses.sensor_table import NO_SOURCE

NOWHERE = 0
"""Key of the sensors whose ``self_source`` has not joined, or has left; another node may take its place."""


class Group(NamedTuple):
    """Sensors with the same own source, and the sources that it may be, by instance id; it is the first to join."""

    sensors: dict[int, Any]
    sources: dict[int, Any]


class OwnSources:
    """Keeps the own source of each sensor of a SenseManager up to date in the library.

    It is the ``self_source`` of the sensor, or else the first source of its character that joined. A character is a
    body that moves, with all that is below it but for other bodies, or else the parent of both. A node above the
    manager is a level, and a region a place: these are no characters.

    Args:
        manager: the SenseManager.

    Cost: O(depth) in the bridge for a sensor or source that joins, O(1) for each sensor whose own source changes, and
        for each source that joins O(sensors whose ``self_source`` has not joined).
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self._groups: dict[int, Group] = {}       # by instance id of the character, or of the source that is chosen
        self._key_of: dict[int, int] = {}         # by instance id of a sensor or source

    def update(self, sensor: Any) -> None:
        """Find the own source of a sensor that has joined, or whose ``self_source`` has changed."""
        self.remove_sensor(sensor)
        if sensor.self_source:
            key, own = self._chosen(sensor)
        else:
            key = self._character_id(sensor, parent_of(sensor))
            own = self._first(key)
        if key is not None:
            self._join(key, sensor).sensors[sensor.instance_id] = sensor
        self._put(sensor, own)

    def add_source(self, source: Any) -> None:
        """Let a source that has joined be the own one of sensors of its character, and of those that wait for it."""
        key = self._character_id(source, source.character_node)
        if key is not None:
            sensors, sources = self._join(key, source)
            sources[source.instance_id] = source
            if len(sources) == 1:
                for sensor in sensors.values():
                    self._put(sensor, source)
        self._update_all(NOWHERE)

    def move_source(self, source: Any) -> None:
        """Let a source that has joined belong to its present character, which has changed."""
        self.remove_source(source)
        self.add_source(source)

    def remove_sensor(self, sensor: Any) -> None:
        """Forget a sensor that leaves."""
        key = self._key_of.pop(sensor.instance_id, None)
        if key is not None:
            del self._groups[key].sensors[sensor.instance_id]
            self._drop_empty(key)

    def remove_source(self, source: Any) -> None:
        """Give the sensors of a source that leaves the next source of their character."""
        key = self._key_of.pop(source.instance_id, None)
        if key is not None:
            sensors, sources = self._groups[key]
            was_own = self._first(key) is source
            del sources[source.instance_id]
            if was_own:
                for sensor in sensors.values():
                    self._put(sensor, self._first(key))
            self._drop_empty(key)
        self._update_all(source.instance_id)

    def _update_all(self, key: int) -> None:
        if key in self._groups:
            for sensor in [*self._groups[key].sensors.values()]:
                self.update(sensor)

    def _join(self, key: int, member: Any) -> Group:
        self._key_of[member.instance_id] = key
        return self._groups.setdefault(key, Group({}, {}))

    def _drop_empty(self, key: int) -> None:
        if not any(self._groups[key]):
            del self._groups[key]

    def _first(self, key: int | None) -> Any:
        group = None if key is None else self._groups.get(key)
        return None if group is None else next(iter(group.sources.values()), None)

    def _put(self, sensor: Any, own: Any) -> None:
        self._manager.core.change_sensor(sensor.sensor_id, self_source=NO_SOURCE if own is None else own.source_id)

    def _chosen(self, sensor: Any) -> tuple[int, Any]:
        """Return key and own source of a sensor with a ``self_source``."""
        own = sensor.get_node_or_null(sensor.self_source)
        if own is None or not own.is_class(sensor.source_class) or self._manager.source_node(own.source_id) != own:
            return NOWHERE, None
        return own.instance_id, own

    def _character_id(self, member: Any, given: Any) -> int | None:
        """Return the instance id of the character of a member whose parent, or ``character``, is given."""
        if given is None or given == member:
            return None
        body = moving_body_id(given)
        found: int = body or given.instance_id
        if found in self._groups:
            return found
        is_place = not body and (
            given.is_class("SenseRegion3D") or given.is_class("SenseRegion2D")
            or not (given.is_class("Node3D") or given.is_class("Node2D")))
        return None if is_place or found in self._levels else found

    @cached_property
    def _levels(self) -> set[int]:
        """Instance ids of the nodes above the manager; it leaves the tree before they change."""
        found, above = set(), parent_of(self._manager)
        while above is not None:
            found.add(above.instance_id)
            above = parent_of(above)
        return found
