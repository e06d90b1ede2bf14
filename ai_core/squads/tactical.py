"""What a squad does about whom it meets: stances, tactics, tasks of members, turns to attack."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import check_kind, named, shown
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.bounding_overwatch import BoundingOverwatch
from ai_core.squads.capabilities import Force
from ai_core.squads.commanded import Commanded
from ai_core.squads.commander import SquadMember
from ai_core.squads.flanking import Flanking
from ai_core.squads.healing_support import HealingSupport
from ai_core.squads.march_path import plane_axes
from ai_core.squads.sacrifice import Sacrifice
from ai_core.squads.scouting import Scouting
from ai_core.squads.situation import Sighting, Situation
from ai_core.squads.stance import Stance, StanceJudge
from ai_core.squads.standing import Standing
from ai_core.squads.suppressing_fire import SuppressingFire
from ai_core.squads.tactics import Tactic, Task

__all__ = ["BUILT_IN", "ChooseTactic", "Tactical"]

ChooseTactic: TypeAlias = Callable[[Situation], "str | None"]
"""Told how things are; returns the name of a tactic, or None for keeping to the formation."""

BUILT_IN: tuple[type[Tactic], ...] = (
    BoundingOverwatch, Flanking, HealingSupport, Sacrifice, Scouting, SuppressingFire)
"""Tactics that every squad knows unless told otherwise."""


class Tactical(Commanded):
    """Members with tasks of their own, planned by one tactic at a time."""

    judgement: StanceJudge
    tokens: AttackTokens
    choose_tactic: ChooseTactic | None
    standing: Standing | None

    def _know(
        self, tactics: Iterable[Tactic] | None, tokens: AttackTokens | None, judgement: StanceJudge,
        choose_tactic: ChooseTactic | None, standing: Standing | None,
    ) -> None:
        self.judgement, self.standing = judgement, standing
        check_kind("tokens", tokens, AttackTokens)
        self.tokens = AttackTokens() if tokens is None else tokens
        self.choose_tactic = choose_tactic
        self._tactics: dict[str, Tactic] = {}
        self._tactic: Tactic | None = None
        self._tasks: dict[int, Task] = {}
        self._met: tuple[Sighting, ...] = ()
        for one in [kind() for kind in BUILT_IN] if tactics is None else tactics:
            self.add_tactic(one)

    def add_tactic(self, tactic: Tactic) -> None:
        """Teach the squad a tactic, or another of the same name.

        Raises:
            TypeError: if it is none, or has no name.
        """
        if not isinstance(tactic, Tactic) or not tactic.name:
            raise TypeError(f"tactic must be a Tactic with a name, got {shown(tactic)}")
        self._tactics[tactic.name] = tactic

    def see(self, sightings: Iterable[Sighting]) -> None:
        """Tell whom the squad meets now, all of them; nobody ends it.

        Raises:
            TypeError, ValueError: if one is no Sighting, is of another world, or comes twice.

        Cost: O(sightings).
        """
        met = tuple(sorted(sightings, key=lambda one: one.enemy_id if isinstance(one, Sighting) else -1))
        for one, before in zip(met, (None, *met), strict=False):
            if not isinstance(one, Sighting):
                raise TypeError(f"a sighting must be a Sighting, got {shown(one)}")
            if len(one.position) != self.dimensions:
                raise ValueError(f"enemy {one.enemy_id} must have {self.dimensions} coordinates, got {one.position}")
            if before is not None and before.enemy_id == one.enemy_id:
                raise ValueError(f"enemy {one.enemy_id} comes twice")
        self._met = met

    @property
    def met(self) -> tuple[Sighting, ...]:
        """Whom the squad meets, by ascending id."""
        return self._met

    @property
    def tactics(self) -> tuple[str, ...]:
        """Names of the tactics it knows."""
        return tuple(sorted(self._tactics))

    @property
    def tactic(self) -> str | None:
        """Name of the tactic in use."""
        return None if self._tactic is None else self._tactic.name

    @property
    def tasks(self) -> Mapping[int, Task]:
        """What members are to do, by id; who is not in it keeps his slot."""
        return MappingProxyType(self._tasks)

    def use_tactic(self, name: str | None) -> None:
        """Act by a tactic from the next thought on; None goes back to the formation.

        Raises:
            UnknownNameError: if the squad does not know it.
        """
        tactic = None if name is None else named("tactic", name, self._tactics)
        if name == self.tactic:
            return
        self._tactic = tactic
        if self._tactic is not None:
            self._tactic.begin()
        self._set_tasks({})
        self._tell("tactic_changed", name)

    def why_not(self, name: str) -> str:
        """Return why a tactic cannot be used now; empty if it can.

        Raises:
            UnknownNameError: if the squad does not know it.
        """
        tactic = named("tactic", name, self._tactics)
        return tactic.why_not(self.situation()) if len(self) else "the squad has no members"

    def situation(self) -> Situation:
        """Return how things are, for tactics and rules; the commander has the role "commander", too."""
        members = dict(self.members)
        if self.commander is not None:
            own = members[self.commander]
            members[self.commander] = dataclasses.replace(own, roles=(*own.roles, "commander"))
        goal = None if self.order.is_over or self.order.goal is None else np.array(self.order.goal)
        return Situation(
            members, self.marchers.positions.copy(), self._met, now_s=self.clock.now.seconds, goal=goal,
            heading=self._march.heading, standing=self.standing)

    def think(self, turn: object = None) -> None:
        """Decide for all: who commands, which path, who stands where, which tactic. Work for a scheduler.

        Cost: O(1) while nothing changes; a path request for a new order; slots as ``give_slots``;
        with a tactic O(members * enemies).
        """
        super().think(turn)
        if len(self) and (self.choose_tactic is not None or self._tactic is not None):
            self._safely("choose_tactic", self._choose_tactic)
            if not self._safely("tactic", self._plan):
                self._set_tasks({})

    def remove(self, member_id: int) -> SquadMember:
        """Let somebody go, or note that it is lost; a commander is replaced at once.

        Raises:
            UnknownNameError: if it is no member.

        Cost: O(members).
        """
        member = super().remove(member_id)
        self._tasks.pop(member_id, None)
        self.tokens.forget(member_id)
        for tactic in self._tactics.values():
            tactic.forget_member(member_id)
        return member

    @property
    def force(self) -> Force:
        """What all members whose capabilities are known can do."""
        return Force.of_members(one.capabilities for one in self.members.values() if one.capabilities is not None)

    @property
    def stance(self) -> Stance | None:
        """What was judged last; None if nothing was met yet."""
        return self.judgement.stance

    def judge(self, met: Force | None = None) -> Stance:
        """Return whether to fight, hold or retreat from what is met, and why.

        Args:
            met: None takes whom ``see`` told of.

        Cost: O(members + capabilities * kinds).
        """
        if met is None:
            met = Force.of_members(one.capabilities for one in self._met if one.capabilities is not None)
        if not isinstance(met, Force):
            raise TypeError(f"met must be a Force, got {shown(met)}; use Force.of_members(…)")
        before = self.judgement.stance
        stance = self.judgement.judge(self.force, met, self.clock.now.seconds)
        if before is None or before.kind != stance.kind:
            self._tell("stance_changed", stance)
        return stance

    def _choose_tactic(self) -> None:
        if self.choose_tactic is not None:
            self.use_tactic(self.choose_tactic(self.situation()))

    def _plan(self) -> None:
        if self._tactic is not None:
            plan = self._tactic.plan(self.situation())
            self._set_tasks({one: self._checked_task(one, plan[one]) for one in sorted(plan)})

    def _checked_task(self, member_id: int, task: Any) -> Task:
        self.row_of(member_id)
        if not isinstance(task, Task):
            raise TypeError(f"the plan for member {member_id} must be a Task, got {shown(task)}")
        if task.position is not None and (
                len(task.position) != self.dimensions or not np.isfinite(task.position).all()):
            raise ValueError(f"the task of member {member_id} must lead to a finite place, got {shown(task.position)}")
        return task

    def _set_tasks(self, tasks: dict[int, Task]) -> None:
        """Give tasks; of those who are to attack, whoever has no token stands by."""
        now_s = self.clock.now.seconds
        attacking = [one for one, task in tasks.items() if task.kind == "attack"]
        for one in self.tokens.holders:
            if one not in attacking:
                self.tokens.release(one, now_s)
        for one in attacking:
            place, target = self.marchers.positions[self.row_of(one)], tasks[one].position
            away = 0.0 if target is None else float(np.sqrt(((place - np.array(target)) ** 2).sum()))
            self.tokens.request(one, now_s, -away)
        holders = self.tokens.grant(now_s)
        before, self._tasks = self._tasks, {
            one: task if task.kind != "attack" or one in holders else Task("stand_by", None, task.target)
            for one, task in tasks.items()}
        self.marchers.is_detached[:] = np.isin(self.marchers.ids, list(tasks))
        changed = tuple(
            one for one in sorted({*before, *tasks}) if _what(before.get(one)) != _what(self._tasks.get(one)))
        if changed:
            self._tell("tasks_changed", changed)

    def _carry_out(self, elapsed_s: float) -> None:
        """Let members with tasks go where these say, and not to their slots."""
        marchers = self.marchers
        rows = np.flatnonzero(marchers.is_detached)
        if not len(rows):
            return
        places = [self._tasks[number].position for number in marchers.ids[rows].tolist()]
        here = marchers.positions[rows]
        goals: NDArray[np.float64] = np.array([
            own if place is None else place for own, place in zip(here.tolist(), places, strict=True)])
        ways = goals - here
        velocities = ways / max(self.settings.response_s, elapsed_s)
        speeds = np.sqrt((velocities[:, list(plane_axes(self.dimensions))] ** 2).sum(axis=1))
        share = np.minimum(1.0, marchers.speeds[rows] / np.maximum(speeds, 1e-9))
        marchers.destinations[rows] = goals
        marchers.velocities[rows] = velocities * share[:, None]


def _what(task: Task | None) -> tuple[str, int | None] | None:
    """Return what a task is about, without where."""
    return None if task is None else (task.kind, task.target)
