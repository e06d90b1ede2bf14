"""Whom a squad of a scene meets: stances, tactics, tasks, and signals of all that; a part of the Squad node."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import (
    GDObject,
    PackedStringArray,
    RefusedValue,
    get_object,
    method,
)
from addons.ai_core.nodes.characters.agent_places import dimensions_of, place_of
from addons.ai_core.nodes.squads.squad_joining import as_place
from addons.ai_core.nodes.squads.squad_member import member_of
from ai_core.squads.situation import Sighting


class SquadMeeting:
    """see(), judge(), use_tactic(), and the squad's events as signals."""

    core: Any
    _core: Any
    _members: dict[int, Any]
    tactic: str

    def begin_meeting(self: Any) -> None:
        self._enemies: dict[int, int] = {}          # id of an enemy -> instance id
        self._last_enemy = 0

    @method
    def see(self: Any, enemies: list) -> None:
        """Tell whom the squad meets now, all of them: characters, whose SquadMember says what they can do.

        Call it again when somebody comes, goes or has moved; an empty array ends it.
        """
        known = {instance: number for number, instance in self._enemies.items()}
        sightings, seen = [], {}
        for one in enemies:
            if not isinstance(one, GDObject) or not one.is_valid() or place_of(one) is None:
                raise RefusedValue(f"an enemy must be a Node3D or Node2D that is there, got {one!r}")
            body = place_of(one)
            if dimensions_of(body) != self.has_dimensions:
                raise RefusedValue(f"'{body.get_name()}' is not in {self.has_dimensions}D, as the squad is")
            number = known.get(body.instance_id)
            if number is None:
                self._last_enemy += 1
                number = known[body.instance_id] = self._last_enemy
            if number in seen:
                continue                             # two members saw the same
            member = member_of(body)
            can = None if member is None else member.capabilities()
            seen[number] = body.instance_id
            place = as_place(body.get_global_position(), self.has_dimensions, self.unit, "an enemy's place")
            sightings.append(Sighting(number, tuple(place.tolist()), can))
        try:
            self.core.see(sightings)
        except (TypeError, ValueError) as error:
            raise RefusedValue(str(error)) from None
        self._enemies = seen

    @method
    def judge(self: Any) -> dict:
        """Return whether to fight, hold or retreat from whom it sees: stance, ratio of power, reasons."""
        stance = self.core.judge()
        return {"stance": stance.kind, "ratio": stance.ratio, "reasons": list(stance.reasons)}

    @method
    def use_tactic(self: Any, name: str) -> None:
        """Act by a tactic; an empty name goes back to the formation."""
        self.tactic = name

    @method
    def get_tactics(self: Any) -> PackedStringArray:
        """Return the names of the tactics it knows."""
        return PackedStringArray(list(self.core.tactics))

    @method
    def why_not(self: Any, tactic_name: str) -> str:
        """Return why a tactic cannot be used now; empty if it can."""
        try:
            return self.core.why_not(tactic_name)
        except LookupError as error:
            raise RefusedValue(str(error)) from None

    @method
    def get_tasks(self: Any) -> dict:
        """Return the task of each SquadMember that has one: kind, position, target."""
        return {self._members[one]: self._task(task) for one, task in self.core.tasks.items()}

    @method
    def get_attackers(self: Any) -> list:
        """Return the SquadMembers whose turn it is to attack."""
        return [self._members[one] for one in self.core.tokens.holders if one in self._members]

    def task_of(self: Any, member: Any) -> dict:
        """Return the task of a member, empty if it has none."""
        task = self.core.tasks.get(member.member_id)
        return {} if task is None else self._task(task)

    def enemy(self: Any, number: int) -> Any:
        """Return the node of an enemy, None if it is gone."""
        instance = self._enemies.get(number)
        return None if instance is None else get_object(instance)

    def _task(self: Any, task: Any) -> dict:
        return {
            "kind": task.kind, "position": None if task.position is None else self.point(task.position),
            "target": self._target(task)}

    def _target(self: Any, task: Any) -> Any:
        """Return whom a task is about: a member's character for those that help, else an enemy."""
        if task.target is None:
            return None
        if task.kind in ("heal", "screen"):
            member = self._members.get(task.target)
            return None if member is None else member.body
        return self.enemy(task.target)

    def _take_tactic(self: Any) -> None:
        if self._core is None:
            return
        try:
            self._core.use_tactic(self.tactic or None)
        except LookupError as error:
            raise RefusedValue(str(error)) from None

    def _tell(self: Any, kind: str, core: Any, detail: Any) -> None:
        """Emit what the library's squad tells."""
        if kind == "commander_changed":
            self.commander_changed.emit(self._members.get(detail))
        elif kind == "member_added":
            self.member_joined.emit(self._members[detail])
        elif kind == "member_removed":
            self.member_lost.emit(self._members.get(detail))
        elif kind == "order_done":
            self.order_done.emit(detail.number)
        elif kind == "order_failed":
            self.order_failed.emit(detail.number, detail.why)
        elif kind == "slots_infeasible":
            self.slots_infeasible.emit([self._members[one] for one in detail])
        elif kind in ("narrowed", "widened"):
            getattr(self, kind).emit()
        elif kind == "stance_changed":
            self.stance_changed.emit(detail.kind, PackedStringArray(list(detail.reasons)))
        elif kind == "tactic_changed":
            self.__dict__[type(self).tactic.slot] = detail or ""
            self.tactic_changed.emit(detail or "")
        elif kind == "tasks_changed":
            for number in detail:
                member, task = self._members.get(number), core.tasks.get(number)
                if member is not None and member.is_valid():
                    target = None if task is None else self._target(task)
                    member.task_changed.emit("" if task is None else task.kind, target)
