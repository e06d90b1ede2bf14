"""How sensors and sources join a SenseManager and leave it; who comes back before its next frame is the same one."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.garbage_collecting import characters_left
from addons.ai_core.nodes.senses.sight_rays import body_id


class Membership:
    """Who belongs to a SenseManager; a part of that class.

    Who leaves the tree is kept until the next frame: reparent() takes a node out and puts it back, and
    what somebody remembers, or is known of him, is not to be lost by that.
    """

    core: Any
    _core: Any
    _scheduler: Any
    _contacts: Any
    _place: Callable[[Any], tuple[list[float], list[float]]]
    tell_source_left: Callable[[int], None]

    def begin_membership(self) -> None:
        """Nobody has joined."""
        self._sensors: dict[int, Any] = {}        # core id -> node
        self._sources: dict[int, Any] = {}
        self._sensor_bodies: dict[int, int] = {}  # sensor id -> instance id of its body, 0 for none
        self._bodies: dict[int, int] = {}         # source id -> the same
        self._rows: tuple[Any, ...] | None = None
        self._left: dict[int, tuple[bool, int]] = {}      # by instance id: whether it is a sensor, and its id
        self._is_in_frame = False

    def add_sensor(self, node: Any, settings: dict[str, Any], **mind: Any) -> int:
        """Take in a sensor; one that comes back keeps its mind. Return its id."""
        core, (position, forward) = self.core, self._place(node)
        name, (_, known) = path_of(self._scheduler, node), self._left.get(node.instance_id, (True, None))
        if known is None:
            known = core.add_sensor(position=position, forward=forward, name=name, **settings, **mind)
        else:
            own = settings["own_source"]
            core.change_sensor(known, name=name, **{**settings, "own_source": -1 if own is None else own})
            core.move_sensors([known], [position], [forward])
        self._sensors[known], self._sensor_bodies[known] = node, body_id(node)
        self._has_joined(node)
        return known

    def remove_sensor(self, sensor_id: int) -> None:
        node = self._sensors.pop(sensor_id)
        del self._sensor_bodies[sensor_id]
        self._note_left(node, True, sensor_id)

    def add_source(self, node: Any, **settings: Any) -> int:
        """Take in a source; one that comes back is still known to those who knew it. Return its id."""
        core, (position, _) = self.core, self._place(node)
        name, (_, known) = path_of(self._scheduler, node), self._left.get(node.instance_id, (False, None))
        if known is None:
            known = core.add_source(position=position, name=name, **settings)
        else:
            core.change_source(known, name=name, **settings)
            core.move_sources([known], [position])
        self._sources[known], self._bodies[known] = node, body_id(node)
        self._has_joined(node)
        return known

    def remove_source(self, source_id: int) -> None:
        node = self._sources.pop(source_id)
        del self._bodies[source_id]
        self._note_left(node, False, source_id)
        self.tell_source_left(source_id)

    def name_anew(self) -> None:
        """Call sensors and sources after their nodes, which may have been renamed. Cost: O(sensors + sources)."""
        core = self.core
        for nodes, names, change in (
                (self._sensors, core.sensor_names, core.change_sensor),
                (self._sources, core.source_names, core.change_source)):
            for known, node in nodes.items():
                name = path_of(self._scheduler, node)
                if names[known] != name:
                    change(known, name=name)

    def let_go(self) -> None:
        """Forget those who left and have not come back."""
        left, self._left = self._left, {}
        for is_sensor, known in left.values():
            self._remove(is_sensor, known)

    def _has_joined(self, node: Any) -> None:
        self._left.pop(node.instance_id, None)
        self._rows = None
        if self._contacts is not None:
            node.begin_to_feel(self._contacts)

    def _note_left(self, node: Any, is_sensor: bool, known: int) -> None:
        self._rows = None
        # In a frame others are being told: nobody must be told of a source any more.
        if node.is_queued_for_deletion() or (self._is_in_frame and not is_sensor):
            self._remove(is_sensor, known)
        else:
            self._left[node.instance_id] = is_sensor, known

    def _remove(self, is_sensor: bool, known: int) -> None:
        if is_sensor:
            self._core.remove_sensor(known)
            characters_left()
        else:
            self._core.remove_source(known)
