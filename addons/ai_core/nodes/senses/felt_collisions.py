"""Touch by collisions: detects when bodies of sensors and sources run into each other."""
from __future__ import annotations

from collections import defaultdict
from typing import Any

from addons.ai_core.bridge.gd import get_object, slide_pairs
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import MapOf, Row, Seconds, Whole
from ai_core.senses.id_table import LARGEST_ID

AGAIN_S = 0.25
"""Shortest time between two touches of a sensor by one source (s); bodies that push each other touch constantly."""

CONTACTS = {
    "Area3D": ("body_entered", "area_entered"), "Area2D": ("body_entered", "area_entered"),
    "RigidBody3D": ("body_entered",), "RigidBody2D": ("body_entered",),
}
"""Signals of a body that report contacts."""


ID = Whole(maximum=LARGEST_ID)


class FeltCollisions(Saveable):
    """Delivers touches to sensors whose bodies met the bodies of sources.

    It is saved after a delivery, so no contact waits then. Bodies that slide along each other in the first frame after
    a load count as having slid before.

    Attributes:
        is_busy: whether bodies met, or some have to be asked: those of the members that there were in the last frame.
        members: readers of the manager of which the last frame delivered contacts.
    """

    STATE = DeclaredState(delivered=MapOf(Seconds(), key=Row(lambda *pair: pair, ID, ID), at="_delivered_s"))

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self._met: set[tuple[int, int]] = set()          # instance ids of bodies, since the last frame
        # Pairs that slid along each other in the last frame; None after a load.
        self._sliding: set[tuple[int, int]] | None = set()
        self._delivered_s: dict[tuple[int, int], float] = {}  # when a sensor last felt a source
        self.is_busy = False
        self.members: tuple[Any, ...] | None = None      # the next fields are made from them
        self._sensors: dict[int, list[int]] = {}         # by instance id of their body
        self._sources: dict[int, list[int]] = {}
        self._movers: list[Any] = []
        self._bodies: dict[int, list[int]] = {}          # of both

    def meet(self, one: int, other: int) -> None:
        """Note that two bodies met, by their instance ids."""
        self._met.add((one, other))
        self.is_busy = True

    def deliver(self, sensor_bodies: dict[int, int], source_bodies: dict[int, int], readers: tuple[Any, ...]) -> None:
        """Deliver the touches of all contacts since the last frame.

        Args:
            sensor_bodies, source_bodies: instance id of the body of each.
            readers: another object whenever a sensor or source joins or leaves.

        Cost: one engine call for each CharacterBody, three more for each slide of it.
        """
        if readers is not self.members:
            self.members = readers
            self._sensors, self._sources = _by_body(sensor_bodies), _by_body(source_bodies)
            self._movers = _character_bodies(self._sensors, self._sources)
            self._bodies = {**self._sensors, **self._sources}
        self.is_busy = bool(self._movers)
        if self._movers:
            sliding = slide_pairs(self._movers, self._bodies)
            if sliding and self._sliding is not None:
                self._met |= sliding - self._sliding
            self._sliding = sliding
        if not self._met:
            return
        now_s = self._manager.now_s
        self._delivered_s = {pair: at_s for pair, at_s in self._delivered_s.items() if 0 <= now_s - at_s < AGAIN_S}
        pairs = sorted({
            (sensor, source)
            for one, other in self._met for body, met in ((one, other), (other, one)) if one != other
            for sensor in self._sensors.get(body, ()) for source in self._sources.get(met, ())})
        self._met.clear()
        for pair in pairs:
            if pair not in self._delivered_s:
                self._delivered_s[pair] = now_s
                self._manager.feel(*pair)

    def _finish_load(self) -> None:
        self._met.clear()
        self._sliding, self.is_busy = None, True


def _by_body(bodies: dict[int, int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for one, body in bodies.items():
        if body:
            found[body].append(one)
    return dict(found)


def _character_bodies(*members: dict[int, list[int]]) -> list[Any]:
    bodies = [get_object(one) for one in sorted({one for some in members for one in some})]
    return [one for one in bodies if one is not None and (
        one.is_class("CharacterBody3D") or one.is_class("CharacterBody2D"))]
