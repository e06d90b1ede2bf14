"""A squad: members, a commander who thinks for all, orders, and a formation on the march."""
from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.clock import Clock, checked_clock
from ai_core.errors import (
    LARGEST,
    UnknownNameError,
    as_array,
    check_kind,
    finite_number,
    named,
    positions,
    several_names,
    shown,
    whole_number,
)
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.fields import State
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.commander import ChooseCommander, SquadMember, nearest_to_goal
from ai_core.squads.formation import Formation
from ai_core.squads.formation_march import FormationMarch, MarchingShape, MarchSettings
from ai_core.squads.march_path import Clearance, plane_axes
from ai_core.squads.marchers import LARGEST_ID, Marchers
from ai_core.squads.orders import Order, OrderKind
from ai_core.squads.routes import Routes, StraightRoutes
from ai_core.squads.situation import Sighting, TacticalSituation
from ai_core.squads.slot_assignment import give_slots
from ai_core.squads.squad_state import prepared_squad, saved_squad
from ai_core.squads.stance import Stance, StanceJudge, StancePolicy
from ai_core.squads.standing import Standing
from ai_core.squads.tactics import (
    BoundingOverwatch,
    Flanking,
    HealingSupport,
    Sacrifice,
    Scouting,
    SquadTask,
    SuppressingFire,
    Tactic,
)

Floats = NDArray[np.float64]


def checked_place(name: str, place: ArrayLike, dimensions: int) -> Floats:
    """Return a finite place of as many coordinates, or raise TypeError or ValueError."""
    values = as_array(name, place)
    if values.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold numbers, got {shown(place)}")
    if values.shape != (dimensions,):
        raise ValueError(f"{name} must have {dimensions} coordinates, got {shown(place)}")
    if not (np.abs(values) <= LARGEST).all():
        raise ValueError(f"{name} must be finite, got {values.tolist()}")
    return values.astype(np.float64)


APART = 2.0
"""Distance from their slots, in spacings, from which on it is asked whether others should have them."""
RESTS_S = 0.04
"""For how long slots are left alone unless somebody comes or goes (s for each member): giving them
takes 0.4 ms for 50 members and 20 ms for 200, which nobody should do at every thought."""


def _checked_formation(formation: Formation) -> Formation:
    if not isinstance(formation, Formation):
        raise TypeError(f"formation must be a Formation, got {shown(formation)}; use Formation.wedge()")
    return formation


ChooseTactic: TypeAlias = Callable[[TacticalSituation], "str | None"]
"""Told how things are; returns the name of a tactic, or None for keeping to the formation."""
BUILT_IN: tuple[type[Tactic], ...] = (
    BoundingOverwatch, Flanking, HealingSupport, Sacrifice, Scouting, SuppressingFire)
"""Tactics that every squad knows unless told otherwise."""


def _what(task: SquadTask | None) -> tuple[str, int | None] | None:
    """Return what a task is about, without where."""
    return None if task is None else (task.kind, task.target)


class Squad:
    """Several who act as one: one of them commands, asks for one path, and the others keep their slots.

    ``think`` is the commander's AI for all: give it to a scheduler at the squad's own period.
    ``march`` moves the slots, more often; ``destinations`` and ``velocities`` then say where
    each member is to go. Whatever is handed in may raise: it is reported, and the squad goes on.

    Args:
        name: for reports.
        clock: game time.
        dimensions: 2 (x, y) or 3 (y is up: formations lie in x and z).
        formation: how they go; None for a wedge.
        routes: where ways come from; None for straight ones.
        clearance: how much is free beside a path, as ``MarchPath`` takes it; None for open ground.
        choose_commander: who commands, unless one is appointed.
        settings: how they keep together.
        stance_policy: when they fight, hold or retreat.
        tactics: which it knows; None for all that are built in.
        tokens: how many may attack at once; None for two.
        standing: where posts of tactics are moved to if nobody can stand there, such as ``GridStanding``;
            None for open ground.
        choose_tactic: asked at each thought, such as ``TacticByRules``; None leaves it to ``use_tactic``.
        faults: told of what raises.
        on_event: called with a kind, the squad, and a detail: "member_added", "member_removed",
            "commander_changed" (ids), "order_done", "order_failed" (the order), "slots_infeasible"
            (ids), "narrowed", "widened" (None), "stance_changed" (the stance), "tactic_changed" (its name),
            "tasks_changed" (ids of those who have another task, or none).

    Raises:
        TypeError, ValueError: if an argument is not what it must be.

    Source: 003_designing_ai_for_games, tactical AI.
    """

    def __init__(
        self, name: str, clock: Clock, *, dimensions: int = 2, formation: Formation | None = None,
        routes: Routes | None = None, clearance: Clearance | None = None,
        choose_commander: ChooseCommander = nearest_to_goal, settings: MarchSettings | None = None,
        stance_policy: StancePolicy | None = None, tactics: Iterable[Tactic] | None = None,
        tokens: AttackTokens | None = None, standing: Standing | None = None,
        choose_tactic: ChooseTactic | None = None,
        faults: FaultIsolation | None = None,
        on_event: Callable[[str, Squad, Any], object] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be a text that is not empty, got {shown(name)}")
        self.name = name
        self.dimensions = whole_number("dimensions", dimensions, minimum=2, maximum=3)
        self.marchers = Marchers(self.dimensions)
        self._members: dict[int, SquadMember] = {}
        settings = MarchSettings() if settings is None else settings
        checked_clock(clock)
        if not isinstance(settings, MarchSettings):
            raise TypeError(f"settings must be MarchSettings, got {shown(settings)}")
        for what, one in (
                ("choose_commander", choose_commander), ("clearance", clearance), ("on_event", on_event),
                ("choose_tactic", choose_tactic), ("standing", standing)):
            if one is not None and not callable(one):
                raise TypeError(f"{what} must be a callable, got {shown(one)}")
        self.clock, self.on_event = clock, on_event
        self.routes = StraightRoutes() if routes is None else routes
        self.faults = given_faults(faults)
        self.formation = Formation.wedge() if formation is None else _checked_formation(formation)
        self.settings = settings
        self.commander: int | None = None
        self.appointed: int | None = None
        self.order = Order(0, "hold", state="done")
        self.infeasible: tuple[int, ...] = ()
        self._choose_commander = choose_commander
        self._march = FormationMarch(self.dimensions, settings, clearance)
        self._ticket: Any = None
        self._slots_wanted: str | None = None
        self._slots_given_s = 0.0
        self._known_shape: tuple[tuple[Formation, bytes, bytes], MarchingShape] | None = None
        self._counts = dict.fromkeys(("orders", "paths_requested", "thoughts", "slot_assignments"), 0)
        self._know(tactics, tokens, StanceJudge(stance_policy), choose_tactic, standing)

    def add(
        self, member_id: int, position: ArrayLike, *, speed: float = 3.0, radius_m: float = 0.4,
        roles: Iterable[str] = (), capabilities: Capabilities | None = None, data: Any = None,
    ) -> None:
        """Take somebody in.

        Args:
            member_id: whole number, 0 or more, nobody else's here.
            position: where it is (m).
            speed: how fast it can go (m/s), above 0.
            radius_m: half its width, above 0.
            roles: what it may be asked to do.
            capabilities: what it can do to whom.
            data: whatever the game keeps with it.

        Raises:
            TypeError, ValueError: if an argument is not what it must be, or the id is taken.

        Cost: O(members).
        """
        member = self.checked_member(member_id, speed, radius_m, roles, capabilities, data)
        self.take_in(member, checked_place("position", position, self.dimensions))

    def march(self, elapsed_s: float) -> None:
        """Move the slots on along the path; afterwards ``destinations`` and ``velocities`` are of now.

        Args:
            elapsed_s: game time since the last time (s), 0 or more.

        Raises:
            TypeError, ValueError: if it is negative or not finite.

        Cost: O(members), and what clearances cost.
        """
        elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        marchers, was_in_column = self.marchers, self.is_in_column
        # Who was lost may leave a slot behind that so few do not have: nobody waits for a thought then.
        if len(self) and not self._shape().is_whole:
            self._want_slots("few_changes")
            self._keep_slots()
        if not self._safely("march", lambda: self._advance(elapsed_s)):
            marchers.stay()
        if self.is_in_column != was_in_column:
            self._tell("narrowed" if self.is_in_column else "widened", None)

    def ground_changed(self) -> None:
        """Measure anew what is free beside the path: a door was shut, a wall fell."""
        if self._march.path is not None:
            self._march.path.forget_ground()

    @property
    def destinations(self) -> NDArray[np.float32]:
        """Where each member is to go now, (n, d) m."""
        return self.marchers.destinations.astype(np.float32)

    def velocities(self, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return how each member should move to get to its slot and stay in it, (n, d) m/s.

        Args:
            out: optional (n, d) float32, overwritten.
        """
        if out is None:
            return self.marchers.velocities.astype(np.float32)
        out[:] = self.marchers.velocities
        return out

    @property
    def is_in_column(self) -> bool:
        """True while the formation goes in a column, through a narrow passage."""
        return self._march.passage.is_in_column

    @property
    def heading(self) -> NDArray[np.float32]:
        """Where the squad looks, (2,), in the plane of formations."""
        return self._march.heading.astype(np.float32)

    @property
    def path_points(self) -> NDArray[np.float32]:
        """The way it goes, (k, d); empty if there is none."""
        return self._march.points.astype(np.float32)

    def slot_places(self) -> NDArray[np.float32]:
        """Return where the slots of the formation are now, (n, d) by slot."""
        if not len(self):
            return np.zeros((0, self.dimensions), np.float32)
        return self._march.places(self.marchers, self._all_slots()).astype(np.float32)

    def split(self, member_ids: Iterable[int], name: str) -> Squad:
        """Make some members a squad of their own, with the same settings and no order yet.

        It has tactics and attack tokens of its own; ``choose_tactic`` is asked by both.

        Raises:
            UnknownNameError: if one is no member; nobody has left then.
            TypeError, ValueError: if there is none, or one comes twice.

        Cost: O(members).
        """
        other = Squad(
            name, self.clock, dimensions=self.dimensions, formation=self.formation, routes=self.routes,
            clearance=self._march.clearance, choose_commander=self._choose_commander, settings=self.settings,
            stance_policy=self.judgement.policy, tactics=copy.deepcopy(list(self._tactics.values())),
            tokens=self.tokens.like_new(), standing=self.standing, choose_tactic=self.choose_tactic,
            faults=self.faults, on_event=self.on_event)
        self.move_members(member_ids, other)
        return other

    def merge(self, other: Squad) -> None:
        """Take in all members of another squad, which is empty afterwards.

        Raises:
            TypeError, ValueError: if it is none, the same, or of other dimensions; or an id is in both.
        """
        if not isinstance(other, Squad):
            raise TypeError(f"other must be a Squad, got {shown(other)}")
        other.move_members(list(other.members), self)

    def move_members(self, member_ids: Iterable[int], other: Squad) -> None:
        """Give members to another squad.

        Raises:
            UnknownNameError: if one is no member; nobody has left then.
            TypeError, ValueError: as ``merge``; or if one comes twice.
        """
        if not isinstance(other, Squad):
            raise TypeError(f"other must be a Squad, got {shown(other)}")
        for member_id in self.checked_to_move(member_ids, other):
            place = self.marchers.positions[self.row_of(member_id)].copy()
            other.take_in(self.remove(member_id), place)

    @property
    def statistics(self) -> Mapping[str, float]:
        """Counts since it was made, and where it stands now."""
        return MappingProxyType({
            **self._counts, "members": len(self), "stragglers": len(self.stragglers),
            "farthest_from_slot_m": float(self.marchers.away.max(initial=0)),
        })

    def save_state(self) -> State:
        """Return members, order, path and slots as plain data; ``data`` of members is not in it."""
        return saved_squad(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what puts it back, members included.

        Members who are here already keep their ``data``.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        return prepared_squad(self, state)

    def _advance(self, elapsed_s: float) -> None:
        marchers = self.marchers
        if not len(marchers):
            return
        self._march.advance(elapsed_s, marchers, self._shape())
        self._carry_out(elapsed_s)

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
        self._tasks: dict[int, SquadTask] = {}
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
    def tasks(self) -> Mapping[int, SquadTask]:
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

    def situation(self) -> TacticalSituation:
        """Return how things are, for tactics and rules; the commander has the role "commander", too."""
        members = dict(self.members)
        if self.commander is not None:
            own = members[self.commander]
            members[self.commander] = dataclasses.replace(own, roles=(*own.roles, "commander"))
        goal = None if self.order.is_over or self.order.goal is None else np.array(self.order.goal)
        return TacticalSituation(
            members, self.marchers.positions.copy(), self._met, now_s=self.clock.now.seconds, goal=goal,
            heading=self._march.heading, standing=self.standing)

    def think(self, turn: object = None) -> None:
        """Decide for all: who commands, which path, who stands where, which tactic. Work for a scheduler.

        Cost: O(1) while nothing changes; a path request for a new order; slots as ``give_slots``;
        with a tactic O(members * enemies).
        """
        self._lead(turn)
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
        member = self._take_out(member_id)
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

    def _checked_task(self, member_id: int, task: Any) -> SquadTask:
        self.row_of(member_id)
        if not isinstance(task, SquadTask):
            raise TypeError(f"the plan for member {member_id} must be a Task, got {shown(task)}")
        if task.position is not None and (
                len(task.position) != self.dimensions or not np.isfinite(task.position).all()):
            raise ValueError(f"the task of member {member_id} must lead to a finite place, got {shown(task.position)}")
        return task

    def _set_tasks(self, tasks: dict[int, SquadTask]) -> None:
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
            one: task if task.kind != "attack" or one in holders else SquadTask("stand_by", None, task.target)
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

    def take_in(self, member: SquadMember, place: Floats) -> None:
        """Take in a member as it is, of another squad or new."""
        self.insert_member(member, place)
        self._want_slots("few_changes")
        self._tell("member_added", member.member_id)
        if self.commander is None:
            self._choose()

    def _take_out(self, member_id: int) -> SquadMember:
        member = self.delete_member(member_id)
        self._want_slots("few_changes")
        if self.appointed == member_id:
            self.appointed = None
        self._tell("member_removed", member_id)
        if self.commander == member_id:
            self.commander = None
            self._choose()
        return member

    def appoint(self, member_id: int | None) -> None:
        """Make a member the commander for good; None lets one be chosen again.

        Raises:
            UnknownNameError: if it is no member.
        """
        if member_id is not None:
            self.row_of(member_id)
        self.appointed = member_id
        self._choose()

    def move_to(self, goal: ArrayLike) -> Order:
        """Order the squad somewhere; it goes as soon as ``think`` has a path.

        Raises:
            TypeError, ValueError: if the goal is no finite place.
        """
        place = checked_place("goal", goal, self.dimensions)
        return self._begin("move", place)

    def follow(self, points: ArrayLike) -> Order:
        """Order the squad along a way of your own.

        Args:
            points: (k, d), at least one (m).

        Raises:
            TypeError, ValueError: if there is none, or one is not finite.
        """
        way = positions("points", points, dimensions=(self.dimensions,)).astype(np.float64)
        if not len(way):
            raise ValueError("points must have at least one row, got none; use hold() to stay")
        order = self._begin("follow", way[-1])
        self._set_out(way)
        return order

    def form_up(self, place: ArrayLike, heading: Sequence[float] | None = None) -> Order:
        """Order the squad to stand somewhere in formation.

        Args:
            place: of the commander (m).
            heading: (2,) where to look, in the plane of formations; None as now.

        Raises:
            TypeError, ValueError: if the place or the heading is none.
        """
        spot = checked_place("place", place, self.dimensions)
        if heading is not None:
            towards = checked_place("heading", heading, 2)
            length = float(np.sqrt((towards ** 2).sum()))
            if length == 0:
                raise ValueError("heading must have a length, got zero")
            self._march.heading = towards / length
        order = self._begin("form_up", spot)
        self._set_out(spot[None])
        return order

    def hold(self) -> Order:
        """Order the squad to stay where it is, everybody for himself."""
        order = self._begin("hold", None)
        self._march.stop()
        order.state = "done"
        return order

    def set_formation(self, formation: Formation) -> None:
        """Change how they go, also on the march.

        Raises:
            TypeError: if it is no Formation.
        """
        self.formation = _checked_formation(formation)
        self._want_slots("anew")
        self._march.forget_shape()

    def _lead(self, turn: object = None) -> None:
        self._counts["thoughts"] += 1
        if not len(self):
            if not self.order.is_over:
                self._fail("the squad has no members")
            return
        if self.commander is None:
            self._choose()
        if self.order.state == "waiting":
            self._safely("path", self._look_for_path)
        if self._march.is_under_way:
            far_m = APART * self.formation.spacing_m
            rests = self.clock.now.seconds - self._slots_given_s < RESTS_S * len(self)
            if self._slots_wanted is None and not rests and bool((self.marchers.away > far_m).any()):
                self._want_slots("worthwhile")
            self._keep_slots()
        if self.order.state == "marching" and self.has_arrived:
            self.order.state = "done"
            self._tell("order_done", self.order)

    @property
    def has_arrived(self) -> bool:
        """True if the slots are at the end of the way and everybody who can is in his own."""
        marchers = self.marchers
        there = (marchers.away <= self.settings.tolerance_m) | marchers.is_straggler
        return self._march.is_at_end and bool(there.all())

    @property
    def is_idle(self) -> bool:
        """True if there is no order left to carry out."""
        return self.order.is_over

    def _begin(self, kind: OrderKind, goal: Floats | None) -> Order:
        if not self.order.is_over:
            self.order.state = "replaced"
        if self._ticket is not None:
            ticket, self._ticket = self._ticket, None
            self._safely("path", lambda: self.routes.cancel(ticket))
        self._counts["orders"] += 1
        self.order = Order(self.order.number + 1, kind, None if goal is None else tuple(goal.tolist()))
        if goal is not None:
            self._choose()
        return self.order

    def _look_for_path(self) -> None:
        goal = np.array(self.order.goal)
        if self._ticket is None:
            start = self.marchers.positions[self.row_of(self.commander)]  # type: ignore[arg-type]
            self._counts["paths_requested"] += 1
            try:
                self._ticket = self.routes.request(start.copy(), goal)
            except (LookupError, ValueError) as error:      # a place off the map: the world's doing
                self._fail(str(error))
                return
        points = self.routes.points(self._ticket)
        if points is None:
            return
        ticket, self._ticket = self._ticket, None
        if len(points):
            self._set_out(np.asarray(points, np.float64))
        else:
            self._fail(self.routes.why(ticket) or "no way leads there")

    def _set_out(self, points: Floats) -> None:
        self._march.begin(points)
        self.marchers.reset()
        self.order.state = "marching"
        self._want_slots("anew")

    def _fail(self, why: str) -> None:
        self.order.state, self.order.why = "failed", why
        self._tell("order_failed", self.order)

    def _choose(self) -> None:
        """Choose a commander; one whose choice raises is the smallest id."""
        before, members = self.commander, self.members
        if not members:
            self.commander = None
        elif self.appointed is not None:
            self.commander = self.appointed
        else:
            self.commander = next(iter(members))
            self._safely("choose_commander", self._ask_for_commander)
        if self.commander != before:
            self._want_slots("few_changes")
            self._tell("commander_changed", self.commander)

    def _ask_for_commander(self) -> None:
        goal = None if self.order.goal is None or self.order.is_over else np.array(self.order.goal)
        chosen = self._choose_commander(self.members, self.marchers.positions.copy(), goal)
        if chosen not in self._members:
            raise UnknownNameError(f"member of squad {self.name!r}", chosen, self._members)
        self.commander = int(chosen)

    def _want_slots(self, how: str) -> None:
        """Note that slots are to be given: "anew" is more than "few_changes", that more than "worthwhile"."""
        ranks = (None, "worthwhile", "few_changes", "anew")
        self._slots_wanted = max(self._slots_wanted, how, key=ranks.index)

    def _keep_slots(self) -> None:
        if self._slots_wanted is not None and self._march.is_under_way and len(self):
            self._safely("slots", self._give_slots)

    def _shape(self) -> MarchingShape:
        """Return the slots as members have them, which seldom are others; there must be one at least."""
        slots, radii = self.marchers.slots, self.marchers.radii
        wanted = self.formation, slots.tobytes(), radii.tobytes()
        if self._known_shape is None or self._known_shape[0] != wanted:
            offsets = self.formation.slots(len(self))
            self._known_shape = wanted, MarchingShape(slots, offsets, radii, self.formation.spacing_m)
        return self._known_shape[1]

    def _all_slots(self) -> MarchingShape:
        """Return the slots of the formation in their order; there must be a member at least."""
        rows = np.arange(len(self), dtype=np.int32)
        return MarchingShape(
            rows, self.formation.slots(len(self)), self.marchers.radii, self.formation.spacing_m)

    def _give_slots(self) -> None:
        how, self._slots_wanted, self._slots_given_s = self._slots_wanted, None, self.clock.now.seconds
        self._counts["slot_assignments"] += 1
        places = self._march.places(self.marchers, self._all_slots())
        roles = [one.roles for one in self._members.values()]
        row = self.row_of(self.commander)  # type: ignore[arg-type]
        before, few = self.infeasible, {"anew": None, "few_changes": True, "worthwhile": False}[how or "anew"]
        self.infeasible = give_slots(self.marchers, self.formation, roles, row, places, few_changes=few)
        if self.infeasible and self.infeasible != before:
            self._tell("slots_infeasible", self.infeasible)

    def _tell(self, kind: str, detail: Any) -> None:
        listener = self.on_event
        if listener is not None:
            self._safely("on_event", lambda: listener(kind, self, detail))

    def _safely(self, what: str, work: Callable[[], object]) -> bool:
        """Run something that may raise; return whether it did not."""
        key = (self, what)
        if self.faults.is_quarantined(key):
            return False
        try:
            work()
        except Exception as error:
            self.faults.failed(key, f"squad {self.name!r}: {what}", self.clock.now.frame, error)
            return False
        self.faults.succeeded(key)
        return True

    def release(self) -> None:
        """Try again what had failed too often."""
        for what in ("path", "slots", "march", "choose_commander", "choose_tactic", "tactic", "on_event"):
            self.faults.release((self, what))

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, member_id: object) -> bool:
        return member_id in self._members

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shown(self.name)} of {len(self)}>"

    @property
    def members(self) -> Mapping[int, SquadMember]:
        """Members by id, ascending."""
        return MappingProxyType(self._members)

    @property
    def member_ids(self) -> NDArray[np.int32]:
        """(n,) ascending."""
        return self.marchers.ids.copy()

    @property
    def positions(self) -> NDArray[np.float32]:
        """Where members are, as was told last, (n, d) m."""
        return self.marchers.positions.astype(np.float32)

    @property
    def centre(self) -> NDArray[np.float32] | None:
        """The middle of all (m); None if nobody is here."""
        return self.marchers.positions.mean(axis=0).astype(np.float32) if len(self) else None

    @property
    def stragglers(self) -> tuple[int, ...]:
        """Ids of those who are waited for no more."""
        return tuple(self.marchers.ids[self.marchers.is_straggler].tolist())

    def row_of(self, member_id: int) -> int:
        """Return the row of a member in all arrays.

        Raises:
            UnknownNameError: if it is no member.
        """
        row = self.marchers.row(member_id) if type(member_id) is int else None
        if row is None:
            raise UnknownNameError(f"member of squad {self.name!r}", member_id, self._members)
        return row

    def slot_of(self, member_id: int) -> int:
        """Return the slot of a member in the formation, -1 while it has none.

        Raises:
            UnknownNameError: if it is no member.
        """
        return int(self.marchers.slots[self.row_of(member_id)])

    def place(self, places: ArrayLike, member_ids: Iterable[int] | None = None) -> None:
        """Tell where members are now, in one batch.

        Args:
            places: (n, d) of all by ascending id, or of those named (m).
            member_ids: whose; None for all.

        Raises:
            UnknownNameError: if one is no member.
            TypeError, ValueError: if the places are no finite (n, d); nothing is changed then.

        Cost: O(n).
        """
        new = positions("places", places, dimensions=(self.dimensions,))
        rows = None if member_ids is None else [self.row_of(one) for one in member_ids]
        count = len(self) if rows is None else len(rows)
        if len(new) != count:
            raise ValueError(f"places must have {count} rows, one a member, got {len(new)}")
        if rows is None:
            self.marchers.positions[:] = new
        else:
            self.marchers.positions[rows] = new

    def checked_member(
        self, member_id: int, speed: float, radius_m: float, roles: Iterable[str],
        capabilities: Capabilities | None, data: Any,
    ) -> SquadMember:
        """Return a member that may be taken in, or raise as ``Squad.add``."""
        whole_number("member_id", member_id, minimum=0, maximum=LARGEST_ID)
        if capabilities is not None and not isinstance(capabilities, Capabilities):
            raise TypeError(f"capabilities must be Capabilities, got {shown(capabilities)}")
        names = several_names("roles", roles)
        return SquadMember(
            int(member_id), finite_number("speed", speed, above=0, maximum=1e6),
            finite_number("radius_m", radius_m, above=0, maximum=1e6), names, capabilities, data)

    def insert_member(self, member: SquadMember, place: Floats) -> None:
        """Put a member in its row."""
        if member.member_id in self._members:
            raise ValueError(f"squad {self.name!r} has a member {member.member_id}; ids must differ")
        self._members = dict(sorted({**self._members, member.member_id: member}.items()))
        self.marchers.insert(member.member_id, place, member.speed, member.radius_m)

    def delete_member(self, member_id: int) -> SquadMember:
        """Take a member out of its row."""
        self.marchers.delete(self.row_of(member_id))
        return self._members.pop(member_id)

    def change_member(
        self, member_id: int, *, speed: float = 3.0, radius_m: float = 0.4, roles: Iterable[str] = (),
        capabilities: Capabilities | None = None,
    ) -> None:
        """Change what is known of a member; all of it, as ``Squad.add`` takes it.

        Raises:
            UnknownNameError: if it is no member.
            TypeError, ValueError: if an argument is not what it must be.
        """
        row = self.row_of(member_id)
        data = self._members[member_id].data
        member = self.checked_member(member_id, speed, radius_m, roles, capabilities, data)
        self._members[member_id] = member
        self.marchers.speeds[row], self.marchers.radii[row] = member.speed, member.radius_m

    def checked_to_move(self, member_ids: Iterable[int], other: Squad) -> list[int]:
        """Return ids that can all go to another squad, or raise."""
        if other is self:
            raise ValueError(f"squad {self.name!r} cannot take in its own members")
        if other.dimensions != self.dimensions:
            raise ValueError(
                f"squad {other.name!r} has {other.dimensions} dimensions and {self.name!r} {self.dimensions};"
                " both must be of one world")
        ids = list(member_ids)
        if not ids and len(self):
            raise ValueError("name at least one member, got none")
        if len(set(ids)) != len(ids):
            raise ValueError(f"a member comes twice in {shown(ids)}")
        for member_id in ids:
            self.row_of(member_id)
            if member_id in other:
                raise ValueError(f"squad {other.name!r} has a member {member_id} already; ids must differ")
        return ids


__all__ = ["BUILT_IN", "ChooseTactic", "Squad", "checked_place"]
