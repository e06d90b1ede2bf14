"""Who is in a squad of a scene, and where they are; a part of the Squad node."""
from __future__ import annotations

from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import GDObject, Node, RefusedValue, construct, method, report_error
from addons.ai_core.nodes.characters.agent_places import Places, dimensions_of, place_of
from addons.ai_core.nodes.scheduling.scheduled import wait_for
from addons.ai_core.nodes.squads.squad_member import SQUADS

COPIED = (
    "formation", "dimensions", "pixels_per_m", "command", "keep_clear", "map_margin_m", "pace", "wait_at",
    "patience_s", "tolerance_m", "fight_at", "retreat_at", "maximum_attackers", "strategic_role",
    "think_period_frames", "march_period_frames", "priority", "show_in_game", "process_mode",
)
"""Settings that a squad split off has, too."""


class SquadJoining:
    """Members of a squad by id, in ascending order."""

    core: Any
    _core: Any
    _members: dict[int, Any]

    def begin_joining(self: Any) -> None:
        self._members = {}
        self._places = Places(3)
        self._has_changed = True

    @method
    def get_members(self: Any) -> list:
        """Return its SquadMember nodes."""
        return list(self._members.values())

    @method
    def get_characters(self: Any) -> list:
        """Return the Node3D or Node2D of each member."""
        return [one.body for one in self._members.values()]

    @method
    def get_commander(self: Any) -> Node:
        """Return the SquadMember who commands, null if there is none."""
        return None if self._core is None else self._members.get(self.core.commander)

    @method
    def appoint(self: Any, member: Node) -> None:
        """Make a member the commander until it is lost; null lets one be chosen again."""
        self.core.appoint(None if member is None else self.id_of(member))

    @method
    def get_stragglers(self: Any) -> list:
        """Return the members who are waited for no more."""
        return [self._members[one] for one in self.core.stragglers]

    @method
    def split(self: Any, members: list, squad_name: str) -> Node:
        """Make some members a Squad of their own, beside this one, with the same settings and no order; return it.

        It has no script and no habits, which know of this one; tactic_rules whose facts ask a script stay here.
        """
        ids = [self.id_of(one) for one in members]
        self._check_to_move(ids)
        other = construct("Squad")
        other.set_name(squad_name)
        for name in COPIED:
            other.set(name, getattr(self, name))
        rules = self.tactic_rules
        if rules is not None and not any(isinstance(one, str) for one in rules.facts.values()):
            other.tactic_rules = rules
        self.get_parent().add_child(other)
        for name, node in (("paths", self.path_service()), ("strategist", self.strategist_node())):
            if node is not None:
                other.set(name, other.get_path_to(node))
        for one in ids:
            self.give(self._members[one], other)
        return other

    @method
    def merge(self: Any, other: Node) -> None:
        """Take in all members of another Squad, which stays, and is empty."""
        self._check_squad(other)
        if other == self:
            raise RefusedValue("a squad cannot take in its own members")
        for member in list(other._members.values()):
            other.give(member, self)

    @method
    def move_members(self: Any, members: list, other: Node) -> None:
        """Give members to another Squad."""
        self._check_squad(other)
        ids = [self.id_of(one) for one in members]
        self._check_to_move(ids)
        for one in ids:
            self.give(self._members[one], other)

    def enlist(self: Any, member: Any) -> None:
        """Take in a member that entered the tree; it waits while the squad is not in use."""
        if self._core is None:
            wait_for(member, SQUADS)
            return
        body = place_of(member)
        if dimensions_of(body) != self.has_dimensions:
            report_error(
                f"is below a {body.get_class()}, and its Squad '{self.get_name()}' is in {self.has_dimensions}D;"
                " set dimensions there", member)
            return
        number = 1 + max(
            (one for squad in self.get_tree().get_nodes_in_group(SQUADS) for one in squad._members), default=-1)
        try:
            terms = member.terms()
        except (TypeError, ValueError) as error:
            report_error(f"does not join its squad: {error}", member)
            return
        self._let_in(member, number)
        self.core.add(number, [one / self.unit for one in body.get_global_position()], **terms)

    def lose(self: Any, member: Any) -> None:
        """A member left the tree."""
        if self._core is not None and self._members.get(member.member_id) is member:
            self.core.remove(member.member_id)
            self._let_go(member)

    def give(self: Any, member: Any, other: Any) -> None:
        """Hand a member over to another squad."""
        self.place_all()
        number = member.member_id
        if number in other._members:
            raise RefusedValue(f"Squad '{other.get_name()}' has a member of the same id; that should not happen")
        other._members[number] = member
        self.core.move_members([number], other.core)
        self._let_go(member)
        other._let_in(member, number)

    def change(self: Any, member: Any) -> None:
        """Settings of a member are others now."""
        try:
            self.core.change_member(member.member_id, **member.terms())
        except (TypeError, ValueError) as error:
            raise RefusedValue(str(error)) from None

    def discharge_all(self: Any) -> None:
        """The squad leaves the tree: its members wait for another."""
        members, self._members = self._members, {}
        self._others_are_here()
        for member in members.values():
            if member.is_valid():
                member.discharged(self)
                if member.is_inside_tree():
                    wait_for(member, SQUADS)

    def place_all(self: Any) -> None:
        """Tell the library's squad where everybody is, read in one batch."""
        if self._has_changed:
            self._has_changed = False
            self._members = dict(sorted(self._members.items()))
            if self._places.positions.shape[1] != self.has_dimensions or not len(self._places.positions):
                self._places = Places(self.has_dimensions, 1 / self.unit)
            self._places.keep([one.body for one in self._members.values()])
        if self._members:
            self._places.look(0.0)
            self.core.place(self._places.positions)

    def id_of(self: Any, member: Any) -> int:
        """Return the id of a member, told by its SquadMember or its character."""
        if isinstance(member, GDObject) and member.is_valid():
            for number, one in self._members.items():
                if one == member or one.body == member:
                    return number
            raise RefusedValue(f"'{member.get('name')}' is no member of Squad '{self.get_name()}'")
        raise RefusedValue(f"needs a SquadMember or its character, got {member!r}")

    def replace_members(self: Any, members: dict[int, Any]) -> None:
        """Have these members, by id, as a loaded game had them."""
        for member in self._members.values():
            member.discharged(self)
        self._members = {}
        for number, member in members.items():
            self._let_in(member, number)

    def _let_in(self: Any, member: Any, number: int) -> None:
        self._members[number] = member
        self._members = dict(sorted(self._members.items()))
        self._others_are_here()
        member.enlisted(self, number)

    def _let_go(self: Any, member: Any) -> None:
        self._members.pop(member.member_id, None)
        self._others_are_here()
        member.discharged(self)

    def _others_are_here(self: Any) -> None:
        self._has_changed = True
        self.move_otherwise()
        self.wake()

    def _check_squad(self: Any, other: Any) -> None:
        if other is None or not other.is_class("Squad"):
            raise RefusedValue(f"needs another Squad, got {other!r}")
        if other.has_dimensions != self.has_dimensions:
            raise RefusedValue(f"Squad '{other.get_name()}' is in {other.has_dimensions}D, this one is not")

    def _check_to_move(self: Any, ids: list[int]) -> None:
        if not ids:
            raise RefusedValue("needs at least one member, got none")
        if len(set(ids)) != len(ids):
            raise RefusedValue("a member comes twice")


def as_place(vector: Any, dimensions: int, unit: float, name: str) -> np.ndarray[Any, Any]:
    """Return an engine's vector in metres.

    Raises:
        RefusedValue: if it is none of so many dimensions, or not finite.
    """
    values = np.array(tuple(vector), np.float64) if type(vector).__name__ == f"Vector{dimensions}" else None
    if values is None:
        raise RefusedValue(f"{name} must be a Vector{dimensions}, got {vector!r}")
    if not np.isfinite(values).all():
        raise RefusedValue(f"{name} must be a finite place, got {vector!r}")
    return values / unit
