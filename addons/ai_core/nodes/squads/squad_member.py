"""SquadMember: makes the character above it a member of a Squad."""
from __future__ import annotations

from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.declarations import PIXELS_PER_METER
from addons.ai_core.bridge.gd import (
    Node,
    NodePath,
    PackedStringArray,
    RefusedValue,
    Variant,
    Vector2,
    Vector3,
    export,
    gdclass,
    method,
    node_path,
    signal,
)
from addons.ai_core.nodes.characters.agent_places import has_flat_scene, place_of
from addons.ai_core.nodes.debugging.edited_scene import is_a_part
from addons.ai_core.nodes.saving.node_settings import core_settings
from addons.ai_core.nodes.scheduling.named_nodes import named_node, why_not_named
from addons.ai_core.nodes.scheduling.scheduler_lookup import nearest, report_next_frame, wait_for
from addons.ai_core.nodes.walking.agent_walk import agent_below
from addons.ai_core.nodes.walking.walking_crowd import ENLISTED, WalkingCrowd
from ai_core.squads.capabilities import Capabilities

SQUADS = "squads"
WITHOUT_SQUAD = "found no Squad and belongs to none; put a Squad above it, or choose one in squad_path"
WITHOUT_PLACE = "has no Node3D or Node2D above it; put it below the character that is the member"
REACH_SHARE = 0.5
"""Share of the squad's tolerance (no unit); at 1, a member that stands just inside may count as late."""
LEAST_TOUGHNESS = 1e-3
"""Toughness of a character that has an attack but a toughness of 0."""

SMALL_M = 0.4
"""Largest target_desired_distance of an agent that follows a slot (m); the slot is seldom farther than a metre."""


@gdclass(icon="res://addons/ai_core/icons/squad_member.svg")
class SquadMember(Node):
    """Makes the character above it a member of a Squad, which moves it or gives it a destination.

    Add it below the character. When it leaves the tree, with the character or alone, the squad loses the member. While
    the character is disabled, it is not moved: the squad waits for it, as for any member that comes no nearer.
    """

    class Mover(IntEnum):
        AUTOMATIC = 0
        BODY = 1
        PLACE = 2
        NAVIGATION_AGENT = 3
        SCRIPT = 4

    squad_path = export(
        NodePath, NodePath(""), hint=node_path("Squad"), on_set="_rejoin",
        doc="Squad of the member; if empty, the nearest Squad above it, or else the nearest in the scene.")
    roles = export(
        PackedStringArray, (), on_set="_change", core="roles",
        doc="Roles of the member in formations and tactics: \"healer\", \"scout\", \"vip\", \"shield\".")
    speed = export(
        float, 3.0, range=(0.01, 100, 0.01), or_greater=True, unit="m/s", default_2d=100.0, group="Movement",
        on_set="_change", core="speed",
        doc="Top speed of the character.")
    radius = export(
        float, 0.4, range=(0.01, 20, 0.01), or_greater=True, unit="m", on_set="_change", core="radius_m",
        doc="Half the width of the character.")
    mover = export(
        Mover, Mover.AUTOMATIC, on_set="_movement_changed",
        doc="How the character moves. Automatic: a CharacterBody moves with move_and_slide(), which requires the"
            " AIScheduler to update in physics; the position of any other node is set. Navigation agent: the squad"
            " sets the target of the agent, whose target_desired_distance must be small, such as 0.2 m, and a script"
            " moves the character. Script: a script calls get_velocity() or"
            " get_destination(), or a HabitMoveTo to event.position begins on order_given. Otherwise walking habits of"
            " the character wait while the squad has an order, or any of its members a task, and after hold() and"
            " form_up() until the next order or dismiss().")
    gravity = export(
        float, 9.8, range=(0, 100, 0.1), or_greater=True, unit="m/s²", on_set="_movement_changed",
        doc="Downward acceleration of a CharacterBody3D that is not on the floor; 0 for flying characters.")
    turns_to_movement = export(
        bool, True, on_set="_movement_changed",
        doc="If true, the character turns to its direction of movement: -z points ahead in 3D, x in 2D.")
    kind = export(
        str, "ground", group="Capabilities", on_set="_change", core="capabilities.kind",
        doc="Kind of target that the character is: ground, air, armor.")
    attack = export(
        dict, {}, on_set="_change", core="capabilities.attack",
        doc="Damage per second by kind of target; it cannot hit kinds that are missing. If attack is empty and"
            " toughness is 0, the capabilities are unknown.")
    toughness = export(
        float, 10.0, range=(0, 100_000, 0.1), or_greater=True, on_set="_change", core="capabilities.toughness",
        doc="Damage that the character withstands.")
    heals = export(
        float, 0.0, range=(0, 10_000, 0.1), or_greater=True, on_set="_change", core="capabilities.heals",
        doc="Damage per second that the character heals on others.")
    attack_range = export(
        float, 1.0, range=(0, 1000, 0.1), or_greater=True, unit="m", on_set="_change", core="capabilities.range_m",
        doc="Range of the attack: with the task \"attack\" the squad brings the member within it, and no nearer.")
    product = export(
        str, "",
        doc="Name of the StrategicProduct that the character is, for its cost and the number of them; empty for none.")

    task_changed = signal(
        ("kind", str), ("target", Node),
        doc="Emitted when the tactic of the squad gives the member another task: \"heal\", \"suppress\", \"attack\";"
            " empty to return to its slot.")

    is_flat = property(has_flat_scene, doc="Whether the scene is in 2D, where distances are in pixels.")

    def __init__(self) -> None:
        self.member_id, self._is_entered = -1, False
        self.body: Any = None
        self._squad: Any = None
        self._in_crowd: tuple[WalkingCrowd, int] | None = None      # with the instance id of the character

    def on_entered(self) -> None:
        self._is_entered = True
        if self._squad is None:
            self._join()

    def on_exit_tree(self) -> None:
        self._is_entered = False
        self._leave_crowd()
        squad, self._squad, self.body = self._squad, None, None
        if squad is not None and squad.is_valid():
            squad.lose(self)

    def on_paused(self) -> None:
        self._movement_changed()

    def on_unpaused(self) -> None:
        self._movement_changed()

    @method
    def get_squad(self) -> Node:
        """Return the Squad of the member, null if there is none."""
        return self._squad

    @method
    def get_character(self) -> Node:
        """Return the character: the nearest Node3D or Node2D above."""
        return place_of(self)

    @method
    def is_commander(self) -> bool:
        """Return true if the member commands its squad."""
        return self._squad is not None and self._squad.core.commander == self.member_id

    @method
    def get_slot(self) -> int:
        """Return the number of the member's slot in the formation, -1 while it has none."""
        return -1 if self._squad is None else self._squad.core.slot_of(self.member_id)

    @method
    def get_destination(self) -> Variant:
        """Return the present destination, a Vector3 or Vector2; without a squad, the position of the character."""
        return self._own_place().get_global_position() if self._squad is None else self._squad.destination_of(self)

    @method
    def get_velocity(self) -> Variant:
        """Return the wanted velocity, a Vector3 or Vector2, in units of the scene per second.

        It is zero while the squad does not move its members: without an order and tasks, or while it is disabled.
        """
        if self._squad is None:
            return Vector2() if self._own_place().is_class("Node2D") else Vector3()
        return self._squad.velocity_of(self)

    @method
    def get_task(self) -> dict:
        """Return the task from the squad's tactic, as in Squad.get_tasks(); empty while it keeps its slot."""
        return {} if self._squad is None else self._squad.task_of(self)

    def capabilities(self) -> Capabilities | None:
        """Return the capabilities, None if they are unknown; raise TypeError or ValueError if a value is invalid."""
        return self.terms(self.unit)["capabilities"]

    @property
    def unit(self) -> float:
        """Length of a metre in units of the scene: 1 in 3D, pixels_per_meter of the squad in 2D."""
        if self._squad is not None:
            return float(self._squad.unit)
        return PIXELS_PER_METER if self.is_flat else 1.0

    def notify(self, name: str, payload: dict[str, Any]) -> None:
        """Send an event of the squad to each HabitTree and StateMachine below the character."""
        for kind in ("HabitTree", "StateMachine"):
            for one in self.body.find_children("*", kind, True, False):
                one.feed_event(name, payload)

    def terms(self, unit: float) -> dict[str, Any]:
        """Return the member's settings for the library's squad; ``unit`` is the length of a metre in the scene.

        Raises:
            TypeError, ValueError: if a value is invalid.
        """
        terms = core_settings(self, unit)
        can = terms.pop("capabilities")
        is_known = can["attack"] or can["toughness"]
        can["toughness"] = can["toughness"] or LEAST_TOUGHNESS
        return {**terms, "capabilities": Capabilities(**can) if is_known else None}

    def enlisted(self, squad: Any, member_id: int) -> None:
        """Join a squad; called by the squad."""
        self._squad, self.member_id = squad, member_id
        self.body = place_of(self)
        self.join_crowd()
        self.notify_trees()

    def notify_trees(self) -> None:
        """Notify the habits of the character that the squad may move it from now on, or keeps it no longer."""
        for tree in self.body.find_children("*", "HabitTree", True, False) if self.body.is_valid() else ():
            tree.feed_event(ENLISTED, None)

    def discharged(self, squad: Any) -> None:
        """Leave a squad; called by the squad."""
        if self._squad is squad:
            self._squad = None
            self._leave_crowd()
            self.notify_trees()

    def join_crowd(self) -> None:
        """Join the characters that walk around each other, or update speed and radius among them."""
        crowd, body = self._squad.crowd, self.body
        if self._in_crowd is not None and self._in_crowd != (crowd, body.instance_id):
            self._leave_crowd()
        self._in_crowd = crowd, body.instance_id
        crowd.join(body, self, speed=self.speed, radius=min(self.radius, self._squad.widest_radius))

    def _leave_crowd(self) -> None:
        joined, self._in_crowd = self._in_crowd, None
        if joined is not None:
            joined[0].leave(joined[1], self)

    def _own_place(self) -> Any:
        place = place_of(self) if self.is_inside_tree() else None
        if place is None:
            raise RefusedValue(WITHOUT_PLACE if self.is_inside_tree() else "has no position outside the tree")
        return place

    def _join(self) -> None:
        if self._place_warnings():
            report_next_frame(self, self._place_warnings)
        squad = self._named_squad()
        if squad is None:
            wait_for(self, SQUADS)
        elif place_of(self) is not None:
            squad.enlist(self)

    def _named_squad(self) -> Any:
        if str(self.squad_path):
            return named_node(self, "squad_path")
        return nearest(self, "Squad", SQUADS)

    def _rejoin(self) -> None:
        if self.is_inside_tree() and self._squad is not None:
            squad = self._named_squad()
            if squad is not None and squad != self._squad:
                self._squad.give(self, squad)

    def walker(self) -> tuple[Any, bool, bool, float] | None:
        """Return how the character moves, as ``WalkRow`` takes it; None if a script moves it, or it is disabled.

        A disabled body is out of the physics space.
        """
        if self.mover == self.Mover.SCRIPT or self.is_led() or not self.can_process():
            return None
        return self.body, self.mover != self.Mover.PLACE, self.turns_to_movement, self.gravity

    def is_moved(self) -> bool:
        """Return whether the squad moves the character now, so that its habits do not."""
        return self._squad is not None and self.mover != self.Mover.SCRIPT and self._squad.moves_members

    def is_bound(self) -> bool:
        """Return whether habits do not move the character now: its squad moves it, or keeps it at its place."""
        return self.mover != self.Mover.SCRIPT and self.is_ordered()

    def is_ordered(self) -> bool:
        """Return whether the squad moves its members now, or keeps them at their places."""
        return self._squad is not None and (self._squad.moves_members or self._squad.keeps_members)

    def keep_current(self, payload: dict[str, Any]) -> None:
        """Write the present order and place of the member to the payload of an earlier order, while an order stands."""
        if self.is_ordered():
            payload.update(self._squad.order_for(self))

    @property
    def reach(self) -> float:
        """Distance from its place at which a habit lets the member stand: well within the tolerance of the squad."""
        return REACH_SHARE * float(self._squad.core.settings.tolerance_m) * self.unit

    def is_led(self) -> bool:
        """Return whether a navigation agent leads the character; the squad sets its target."""
        return bool(self.mover == self.Mover.NAVIGATION_AGENT)

    def agent(self) -> Any:
        """Return the navigation agent of the character, None if there is none."""
        return agent_below(self.body)

    def _movement_changed(self) -> None:
        if self._squad is not None:
            self._squad.drop_walkers()

    def _change(self) -> None:
        if self._squad is not None:
            self._squad.change(self)
        elif self._is_entered and self._named_squad() is not None:
            self._join()        # the error that kept it out may be corrected

    def _get_configuration_warnings(self) -> list[str]:
        warnings = self._place_warnings()
        try:
            self.capabilities()
        except (TypeError, ValueError) as error:
            warnings.append(f"its capabilities are invalid: {error}")
        body, squad = place_of(self), self._named_squad()
        agent = agent_below(body) if self.is_led() and body is not None and squad is not None else None
        if agent is not None and agent.target_desired_distance > SMALL_M * squad.unit:
            warnings.append(
                f"target_desired_distance of '{agent.get_name()}' is {agent.target_desired_distance:g}: the slot is"
                f" often nearer, and the character stops; set it to {SMALL_M / 2 * squad.unit:g}")
        return warnings

    def _place_warnings(self) -> list[str]:
        warnings = []
        if self._named_squad() is None and (str(self.squad_path) or not is_a_part(self)):
            warnings.append(why_not_named(self, "squad_path") or WITHOUT_SQUAD)
        if place_of(self) is None:
            warnings.append(WITHOUT_PLACE)
        return warnings


def member_of(body: Any) -> Any:
    """Return the SquadMember below a character, None if it has none."""
    found = body.find_children("*", "SquadMember", True, False)
    return found[0] if found else None
