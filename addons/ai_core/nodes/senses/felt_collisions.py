"""Touch by collisions: detects when bodies of sensors and sources run into each other."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from addons.ai_core.bridge.gd import get_object, slide_pairs
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import MapOf, Row, Seconds, Whole
from ai_core.senses.id_table import LARGEST_ID

AGAIN_S = 0.25
"""Shortest time between two touches of a sensor by one source (s); bodies that push each other touch constantly."""

CONTACTS = {
    "Area3D": ("body_entered", "area_entered"), "Area2D": ("body_entered", "area_entered"),
    "RigidBody3D": ("body_entered",), "RigidBody2D": ("body_entered",)}
"""Signals of a body that report contacts."""


ID = Whole(maximum=LARGEST_ID)


class Members(NamedTuple):
    """Ids of the sensors and sources of a body."""

    sensors: list[int]
    sources: list[int]


class FeltCollisions(Saveable):
    """Delivers touches to sensors whose bodies met the bodies of sources.

    It is saved after a delivery, so no contact waits then. Bodies that slide along each other in the first frame after
    a load count as having slid before.

    Attributes:
        is_busy: whether bodies met, or some have to be asked.
    """

    STATE = DeclaredState(delivered=MapOf(Seconds(), key=Row(lambda *pair: pair, ID, ID), at="_delivered_s"))

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self._met: set[tuple[int, int]] = set()          # instance ids of bodies, since the last frame
        # Pairs that slid along each other in the last frame; None after a load.
        self._sliding: set[tuple[int, int]] | None = set()
        self._delivered_s: dict[tuple[int, int], float] = {}  # when a sensor last felt a source
        self.is_busy = False
        self._members: dict[int, Members] = {}           # by instance id of their body
        self._movers: dict[int, Any] = {}                # bodies that have to be asked, by instance id

    def join(self, body: int, is_sensor: bool, known: int) -> None:
        """Add a sensor or source, by the instance id of its body, 0 for none."""
        if not body:
            return
        members = self._members.get(body)
        if members is None:
            members = self._members[body] = Members([], [])
            node = get_object(body)
            if node is not None and (node.is_class("CharacterBody3D") or node.is_class("CharacterBody2D")):
                self._movers[body], self.is_busy = node, True
        members[not is_sensor].append(known)

    def leave(self, body: int, is_sensor: bool, known: int) -> None:
        """Remove a sensor or source that has joined by this body."""
        if not body:
            return
        members = self._members[body]
        members[not is_sensor].remove(known)
        if not any(members):
            del self._members[body]
            self._movers.pop(body, None)

    def take_ids(self, sensors: Mapping[int, int], sources: Mapping[int, int]) -> None:
        """Give members the ids of a loaded game, by their old ids."""
        for members in self._members.values():
            members.sensors[:] = [sensors[old] for old in members.sensors]
            members.sources[:] = [sources[old] for old in members.sources]

    def meet(self, one: int, other: int) -> None:
        """Note that two bodies met, by their instance ids."""
        self._met.add((one, other))
        self.is_busy = True

    def deliver(self) -> None:
        """Deliver the touches of all contacts since the last frame.

        Cost: one engine call for each CharacterBody, three more for each slide of it.
        """
        self.is_busy = bool(self._movers)
        if self._movers:
            sliding = slide_pairs(list(self._movers.values()), self._members)
            if sliding and self._sliding is not None:
                self._met |= sliding - self._sliding
            self._sliding = sliding
        if not self._met:
            return
        now_s = self._manager.now_s
        self._delivered_s = {pair: at_s for pair, at_s in self._delivered_s.items() if 0 <= now_s - at_s < AGAIN_S}
        members = self._members
        pairs = sorted({
            (sensor, source)
            for one, other in self._met if one != other and one in members and other in members
            for body, met in ((one, other), (other, one))
            for sensor in members[body].sensors for source in members[met].sources})
        self._met.clear()
        for pair in pairs:
            if pair not in self._delivered_s:
                self._delivered_s[pair] = now_s
                self._manager.feel(*pair)

    def _finish_load(self) -> None:
        self._met.clear()
        self._sliding, self.is_busy = None, True
