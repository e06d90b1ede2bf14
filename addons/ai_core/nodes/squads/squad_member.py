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
from addons.ai_core.nodes.scheduling.scheduler_lookup import nearest, report_next_frame, wait_for
from ai_core.squads.capabilities import Capabilities

SQUADS = "squads"
WITHOUT_SQUAD = "found no Squad and belongs to none; put a Squad above it, or name one in squad_path"
WITHOUT_PLACE = "is below nothing that has a place; put it below the Node3D or Node2D that is the member"


@gdclass(icon="res://addons/ai_core/icons/squad_member.svg")
class SquadMember(Node):
    """Makes the character above it a member of a Squad, which moves it, or tells where it should go.

    Put it below the character. When it leaves the tree, with the character or alone, the member is lost.
    """

    class Mover(IntEnum):
        AUTOMATIC = 0
        BODY = 1
        PLACE = 2
        NAVIGATION_AGENT = 3
        SCRIPT = 4

    squad_path = export(
        NodePath, NodePath(""), hint=node_path("Squad"), on_set="_rejoin",
        doc="Its squad; empty: the nearest one above, else the nearest in the scene.")
    roles = export(
        PackedStringArray, (), on_set="_change",
        doc="What it may be asked to do: \"healer\", \"scout\", \"vip\", \"shield\".")
    speed = export(
        float, 3.0, range=(0.01, 100, 0.01), or_greater=True, unit="m/s", default_2d=100.0, group="Movement",
        on_set="_change",
        doc="How fast it can go.")
    radius = export(
        float, 0.4, range=(0.01, 20, 0.01), or_greater=True, unit="m", on_set="_change", doc="Half its width.")
    mover = export(
        Mover, Mover.AUTOMATIC, on_set="_move_otherwise",
        doc="How it goes. Automatic: a body with move_and_slide(), so let the AIScheduler update in physics; any other"
            " node is put where it should be. Navigation agent: its target is set, and a script moves it. Script: asks"
            " get_velocity() or get_destination().")
    gravity = export(
        float, 9.8, range=(0, 100, 0.1), or_greater=True, unit="m/s²", on_set="_move_otherwise",
        doc="Pull on a CharacterBody3D that is not on the floor; 0 for what flies.")
    turns_to_way = export(
        bool, True, on_set="_move_otherwise",
        doc="It is turned to where it goes: -z ahead in 3D, x in 2D.")
    kind = export(
        str, "ground", group="Capabilities", on_set="_change",
        doc="What it is to whoever meets it: ground, air, armor.")
    attack = export(
        dict, {}, on_set="_change",
        doc="Damage a second by kind of what it meets; what is not named it cannot hit. Empty together with 0"
            " toughness: its capabilities are not known.")
    toughness = export(
        float, 10.0, range=(0, 100_000, 0.1), or_greater=True, on_set="_change", doc="Damage it stands.")
    heals = export(
        float, 0.0, range=(0, 10_000, 0.1), or_greater=True, on_set="_change",
        doc="Damage a second it mends on others.")
    attack_range = export(
        float, 1.0, range=(0, 1000, 0.1), or_greater=True, unit="m", on_set="_change",
        doc="How far its attack reaches.")
    product = export(
        str, "",
        doc="What a Strategist's products call it, for what it costs and how many there are; \"\": it is none of them.")

    task_changed = signal(
        ("kind", str), ("target", Node),
        doc="What it is to do by the squad's tactic: \"heal\", \"suppress\", \"attack\"; empty: back to its slot.")

    is_flat = property(has_flat_scene, doc="Whether its scene is in 2D, where distances are pixels.")

    def __init__(self) -> None:
        self.member_id = -1
        self.body: Any = None
        self._squad: Any = None

    def on_entered(self) -> None:
        if self._squad is None:
            self._join()

    def on_exit_tree(self) -> None:
        squad, self._squad, self.body = self._squad, None, None
        if squad is not None and squad.is_valid():
            squad.lose(self)

    @method
    def get_squad(self) -> Node:
        """Return its Squad, null if it is in none."""
        return self._squad

    @method
    def get_character(self) -> Node:
        """Return the Node3D or Node2D that it stands for."""
        return place_of(self)

    @method
    def is_commander(self) -> bool:
        """Return whether it commands its squad."""
        return self._squad is not None and self._squad.core.commander == self.member_id

    @method
    def get_slot(self) -> int:
        """Return its slot in the formation, -1 while it has none."""
        return -1 if self._squad is None else self._squad.core.slot_of(self.member_id)

    @method
    def get_destination(self) -> Variant:
        """Return where it is to go now: a Vector3, or Vector2; where it is, without a squad."""
        return self._own_place().get_global_position() if self._squad is None else self._squad.destination_of(self)

    @method
    def get_velocity(self) -> Variant:
        """Return how it should move now, a Vector3 or Vector2 in units of the scene a second."""
        if self._squad is None:
            return Vector2() if self._own_place().is_class("Node2D") else Vector3()
        return self._squad.velocity_of(self)

    @method
    def get_task(self) -> dict:
        """Return its task by the squad's tactic: kind, position, target; empty while it keeps its slot."""
        return {} if self._squad is None else self._squad.task_of(self)

    def capabilities(self) -> Capabilities | None:
        """Return what it can do, None if that is not known.

        Raises:
            TypeError, ValueError: if a strength is none.
        """
        if not self.attack and not self.toughness:
            return None
        return Capabilities(
            self.kind, {str(kind): one for kind, one in self.attack.items()}, self.toughness or 1e-3, self.heals,
            self.attack_range / self.unit)

    @property
    def unit(self) -> float:
        """How long a metre is in its world: 1, or in 2D pixels, as its squad has them."""
        if self._squad is not None:
            return float(self._squad.unit)
        return PIXELS_PER_METER if self.is_flat else 1.0

    def terms(self, unit: float) -> dict[str, Any]:
        """Return what the library's squad is told of it; ``unit`` is how long a metre is there.

        Raises:
            TypeError, ValueError: if a strength is none.
        """
        return {
            "speed": self.speed / unit, "radius_m": self.radius / unit, "roles": [str(one) for one in self.roles],
            "capabilities": self.capabilities(),
        }

    def enlisted(self, squad: Any, member_id: int) -> None:
        """A squad took it in."""
        self._squad, self.member_id = squad, member_id
        self.body = place_of(self)

    def discharged(self, squad: Any) -> None:
        """A squad let it go: it waits for the next, if it is still there."""
        if self._squad is squad:
            self._squad = None

    def _own_place(self) -> Any:
        place = place_of(self) if self.is_inside_tree() else None
        if place is None:
            raise RefusedValue(WITHOUT_PLACE if self.is_inside_tree() else "is outside the tree, and so nowhere")
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
            found = self.get_node_or_null(self.squad_path)
            return found if found is not None and found.is_class("Squad") else None
        return nearest(self, "Squad", SQUADS)

    def _rejoin(self) -> None:
        if self.is_inside_tree() and self._squad is not None:
            squad = self._named_squad()
            if squad is not None and squad != self._squad:
                self._squad.give(self, squad)

    def walker(self) -> tuple[Any, bool, bool, float] | None:
        """Return how its character is moved, as ``WalkRow`` takes it; None if a script moves it."""
        if self.mover == self.Mover.SCRIPT or self.is_led():
            return None
        return self.body, self.mover != self.Mover.PLACE, self.turns_to_way, self.gravity

    def is_led(self) -> bool:
        """Return whether a navigation agent leads it, whose target the squad sets."""
        return bool(self.mover == self.Mover.NAVIGATION_AGENT)

    def agent(self) -> Any:
        """Return its navigation agent, None if there is none."""
        kind = "NavigationAgent2D" if self.body.is_class("Node2D") else "NavigationAgent3D"
        found = self.body.find_children("*", kind, True, False)
        return found[0] if found else None

    def _move_otherwise(self) -> None:
        if self._squad is not None:
            self._squad.move_otherwise()

    def _change(self) -> None:
        if self._squad is not None:
            self._squad.change(self)
        elif self.is_inside_tree() and self._named_squad() is not None:
            self._join()        # what kept it out may be right now

    def _get_configuration_warnings(self) -> list[str]:
        warnings = self._place_warnings()
        try:
            self.capabilities()
        except (TypeError, ValueError) as error:
            warnings.append(f"its capabilities cannot be used: {error}")
        return warnings

    def _place_warnings(self) -> list[str]:
        warnings = []
        if self._named_squad() is None and (str(self.squad_path) or not is_a_part(self)):
            warnings.append(
                f"squad_path names '{self.squad_path}', which is no Squad; choose one, or leave it empty"
                if str(self.squad_path) else WITHOUT_SQUAD)
        if place_of(self) is None:
            warnings.append(WITHOUT_PLACE)
        return warnings


def member_of(body: Any) -> Any:
    """Return the SquadMember below a character, None if it has none."""
    found = body.find_children("*", "SquadMember", True, False)
    return found[0] if found else None
