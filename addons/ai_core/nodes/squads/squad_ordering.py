"""Orders of a squad in a scene, and what its members are told; a part of the Squad node."""
from __future__ import annotations

from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import RefusedValue, Variant, method
from addons.ai_core.nodes.characters.agent_places import packed
from addons.ai_core.nodes.squads.squad_joining import as_place
from ai_core.squads.orders import Order


class SquadOrdering:
    """move_to() and its kind; each returns the number of the order."""

    core: Any
    unit: float
    has_dimensions: int

    @method
    def move_to(self: Any, goal: Variant) -> int:
        """Order the squad to a place, a Vector3 or Vector2; one path is asked for. Return the order's number."""
        return self._ordered(lambda: self.core.move_to(as_place(goal, self.has_dimensions, self.unit, "goal")))

    @method
    def follow(self: Any, points: Variant) -> int:
        """Order the squad along a way: a PackedVector3Array, or PackedVector2Array."""
        way = packed(points, self.has_dimensions, "points").astype(np.float64)
        if not len(way):
            raise RefusedValue("points must have at least one place, got none; use hold() to stay")
        return self._ordered(lambda: self.core.follow(way / self.unit))

    @method
    def form_up(self: Any, place: Variant, heading: Variant = None) -> int:
        """Order the squad to stand somewhere in formation, looking in a direction (null: as now)."""
        spot = as_place(place, self.has_dimensions, self.unit, "place")
        ahead = None if heading is None else as_place(heading, self.has_dimensions, 1.0, "heading")
        if ahead is not None and self.has_dimensions == 3:
            ahead = ahead[[0, 2]]
        return self._ordered(lambda: self.core.form_up(spot, ahead))

    @method
    def hold(self: Any) -> int:
        """Order everybody to stay where he is."""
        return self._ordered(self.core.hold)

    @method
    def get_order_state(self: Any) -> str:
        """Return how the last order stands: waiting (for a path), marching, done, failed or replaced."""
        return self.core.order.state

    @method
    def get_order(self: Any) -> dict:
        """Return the last order: number, kind, goal, state, why."""
        order = self.core.order
        return {
            "number": order.number, "kind": order.kind, "state": order.state, "why": order.why,
            "goal": None if order.goal is None else self.point(order.goal)}

    @method
    def is_idle(self: Any) -> bool:
        """Return whether there is no order left to carry out."""
        return self.core.is_idle

    @method
    def is_in_column(self: Any) -> bool:
        """Return whether it goes in a column, through a narrow passage."""
        return self.core.is_in_column

    @method
    def get_slot_places(self: Any) -> Variant:
        """Return where the slots are now, the commander's first: a PackedVector3Array or PackedVector2Array."""
        return self.core.slot_places() * np.float32(self.unit)

    @method
    def get_path_points(self: Any) -> Variant:
        """Return the way it goes; empty while there is none."""
        return self.core.path_points * np.float32(self.unit)

    @method
    def ground_changed(self: Any) -> None:
        """Measure anew what is free beside the path: a door was shut, the navigation map was made anew."""
        self.core.ground_changed()

    def destination_of(self: Any, member: Any) -> Any:
        """Return where a member is to go."""
        return self.point(self.core.marchers.destinations[self.core.row_of(member.member_id)])

    def velocity_of(self: Any, member: Any) -> Any:
        """Return how a member should move."""
        return self.point(self.core.marchers.velocities[self.core.row_of(member.member_id)])

    def _ordered(self: Any, give: Any) -> int:
        self.place_all()
        try:
            order: Order = give()
        except (TypeError, ValueError) as error:
            raise RefusedValue(str(error)) from None
        self.wake()
        return order.number


