"""`Squad`: members, a commander that decides for all of them, orders, and a formation on the march."""
from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.clock import Clock, checked_clock
from ai_core.errors import (
    LARGEST,
    MOST,
    UnknownNameError,
    as_array,
    check_callables,
    check_kind,
    check_type,
    checked_name,
    finite_number,
    named,
    positions,
    several,
    several_names,
    shown,
    whole_number,
)
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part, Refuse, Same, Saveable
from ai_core.saving.fields import checked_list, refuse
from ai_core.saving.kinds import Columns, Flag, ListOf, MapOf, OneOf, Optional, Seconds, Whole
from ai_core.scheduling.interruptible import Steps
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.capabilities import Capabilities, Force
from ai_core.squads.commander import (
    LARGEST_ID,
    MEMBER_STATE,
    ORDER_STATE,
    ChooseCommander,
    Order,
    OrderKind,
    SquadMember,
    nearest_to_goal,
)
from ai_core.squads.formation import FORMATION_STATE, Formation
from ai_core.squads.formation_march import (
    MARCHING_STATE,
    Clearance,
    FormationMarch,
    MarchingShape,
    MarchPath,
    MarchSettings,
    MemberTable,
    plane_axes,
)
from ai_core.squads.free_cells import NearestFree
from ai_core.squads.post_routes import PostRoutes
from ai_core.squads.routes import REQUEST_STATE, RouteRequest, Routes, checked_routes
from ai_core.squads.situation import SIGHTING_STATE, Sighting, TacticalSituation
from ai_core.squads.slot_assignment import assign_formation_slots
from ai_core.squads.stance import Stance, StanceJudge, StancePolicy
from ai_core.squads.tactics import (
    TASK_STATE,
    BoundingOverwatch,
    Flanking,
    HealingSupport,
    Sacrifice,
    Scouting,
    SquadTask,
    SuppressingFire,
    Tactic,
    TacticByRules,
)

if TYPE_CHECKING:
    from ai_core.scheduling.run_loops import Turn

Floats = NDArray[np.float64]


def checked_place(name: str, place: ArrayLike, dimensions: int) -> Floats:
    """Return a position as a float64 array of ``dimensions`` finite coordinates."""
    values = as_array(name, place)
    if values.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold numbers, got {shown(place)}")
    if values.shape != (dimensions,):
        raise ValueError(f"{name} must have {dimensions} coordinates, got {shown(place)}")
    if not (np.abs(values) <= LARGEST).all():
        raise ValueError(f"{name} must be finite, got {values.tolist()}")
    return values.astype(np.float64)


REASSIGN_DISTANCE = 2.0
"""Distance of a member from its slot, in spacings, above which a new assignment of slots is considered."""
MOST_SPEED = 1e6
"""Factor of a velocity that is then limited to the speed of the member (no unit)."""
SLOT_REST_S = 0.04
"""Least time between two assignments of slots while membership does not change (s for each member).

An assignment takes 0.4 ms for 50 members and 20 ms for 200, too much for every ``think``."""


ChooseTactic: TypeAlias = Callable[[TacticalSituation], "str | None"]
"""Callable that receives the situation and returns the name of a tactic, or None to keep to the formation."""
BUILT_IN: tuple[type[Tactic], ...] = (
    BoundingOverwatch, Flanking, HealingSupport, Sacrifice, Scouting, SuppressingFire)
"""Tactics that a squad has by default."""


def _check_turn(turn: Turn | None) -> None:
    if turn is not None and not hasattr(turn, "budget"):
        raise TypeError(f"turn must be a Turn of a scheduler, got {shown(turn)}; give none for a whole thought")


def _task_key(task: SquadTask | None) -> tuple[str, int | None] | None:
    """Return the kind and target of a task, without its position."""
    return None if task is None else (task.kind, task.target)


COUNTS = ("orders", "paths_requested", "thoughts", "slot_assignments")
WANTED = ("worthwhile", "few_changes", "complete")
"""Reasons of an assignment of slots that is due."""


class Squad(Saveable):
    """A group that acts as one: a commander decides and requests one path; the members keep their slots.

    ``think`` decides for the whole squad: give it to a scheduler at the squad's own period.
    ``move_slots`` moves the slots and runs more often, after ``update_slots``; ``destinations`` and ``velocities`` then
    hold the movement of each member. Errors raised by callbacks are reported to ``faults``; the squad keeps running.

    Args:
        name: used in reports; a non-empty string.
        clock: source of the game time.
        dimensions: 2 (x, y) or 3 (y is up: formations lie in x and z).
        formation: pattern of the slots; None for a wedge.
        routes: source of paths; None for straight lines.
        clearance: measures the free ground beside a path, as in ``MarchPath``; None for open ground.
        choose_commander: chooses the commander unless one is appointed.
        settings: how closely the members keep together.
        stance_policy: power ratios at which the squad fights, holds or retreats.
        tactics: tactics that the squad can use; None for all built-in ones.
        tokens: limit of simultaneous attackers; None for two.
        standing: moves positions planned by tactics to the nearest position where a member can stand,
            such as ``NearestFreeCell``; None for open ground.
        choose_tactic: called at each thought, such as ``TacticByRules``; with None the tactic changes
            only by ``use_tactic``.
        faults: receives the errors of callbacks.
        on_event: called with a kind, the squad, and a detail: "member_added", "member_removed",
            "commander_changed" (ids), "order_done", "order_failed" (the order), "slots_infeasible"
            (ids), "narrowed", "widened" (None), "stance_changed" (the stance), "tactic_changed" (its name),
            "tasks_changed" (ids of the members whose task changed or ended), "tasks_given_up" (ids of the members
            without which the tactic continues, as they did not come to their positions).

    Raises:
        TypeError, ValueError: if an argument has a wrong type or is out of range.

    Source: 003_designing_ai_for_games, tactical AI.
    """

    STATE = DeclaredState(
        dimensions=Same(), members=ListOf(MEMBER_STATE, at="_member_list"),
        rows=Columns(at="marchers", **MARCHING_STATE),
        commander=Optional(Whole()), appointed=Optional(Whole()), formation=FORMATION_STATE, order=ORDER_STATE,
        request=REQUEST_STATE, asks_again=Flag(at="_asks_again"), march=Part(at="_march"),
        has_marched=Flag(at="_has_marched"), was_in_column=Flag(at="_was_in_column"),
        slots_wanted=Optional(OneOf(WANTED), at="_slots_wanted"),
        slots_given_s=Seconds(at="_slots_given_s"), infeasible=ListOf(Whole(), make=tuple), stance=Part(at="judgement"),
        counts=MapOf(Whole(), names=COUNTS, at="_counts"), sightings=ListOf(SIGHTING_STATE, make=tuple, at="_met"),
        tactic=Hook(),
        tasks=MapOf(TASK_STATE, key=Whole(), at="_tasks"), posts=Part(), tokens=Part(),
        choice=Part(if_saveable=True, at="choose_tactic"), is_deciding=Flag(at="_is_deciding"),
        thought_at_s=Optional(Seconds(), at="_thought_at_s"), skipped_s=Seconds(0, at="_skipped_s"))

    def __init__(
        self, name: str, clock: Clock, *, dimensions: int = 2, formation: Formation | None = None,
        routes: Routes | None = None, clearance: Clearance | None = None,
        choose_commander: ChooseCommander = nearest_to_goal, settings: MarchSettings | None = None,
        stance_policy: StancePolicy | None = None, tactics: Iterable[Tactic] | None = None,
        tokens: AttackTokens | None = None, standing: NearestFree | None = None,
        choose_tactic: ChooseTactic | None = None,
        faults: FaultIsolation | None = None,
        on_event: Callable[[str, Squad, Any], object] | None = None,
    ) -> None:
        checked_name("name", name)
        self.name = name
        self.dimensions = whole_number("dimensions", dimensions, minimum=2, maximum=3)
        self.marchers = MemberTable(self.dimensions)
        self._members: dict[int, SquadMember] = {}
        settings = MarchSettings() if settings is None else settings
        checked_clock(clock)
        check_type("settings", settings, MarchSettings)
        check_callables(
            choose_commander=choose_commander, clearance=clearance, on_event=on_event, choose_tactic=choose_tactic,
            standing=standing)
        self.clock, self.on_event = clock, on_event
        self.routes = checked_routes(routes)
        self.posts = PostRoutes(self.routes, self.dimensions)
        self.faults = given_faults(faults)
        check_kind("formation", formation, Formation)
        self.formation = Formation.wedge() if formation is None else formation
        self.settings = settings
        self.commander: int | None = None
        self.appointed: int | None = None
        self.order = Order(0, "hold", state="done")
        self.infeasible: tuple[int, ...] = ()
        self._choose_commander = choose_commander
        self._march = FormationMarch(self.dimensions, settings, clearance)
        self._ticket: Any = None
        self._ends: tuple[Floats, Floats] | None = None     # of the path that the ticket is for
        self._resumes: RouteRequest | None = None           # loaded; it has no ticket before the routes are loaded
        self._former: tuple[Any, int] | None = None         # ticket of before the load, and the loads of its routes
        self._asks_again = False        # the ground changed while a path was searched
        self._has_marched = False       # for the present order
        self._was_in_column = False     # as last reported
        self._slots_wanted: str | None = None
        self._slot_requests = 0
        self._thought: Steps[None] | None = None            # interrupted
        self._update: Steps[None] | None = None             # of the slots, interrupted
        self._thought_at_s: float | None = None             # time of the clock at the last thought, or a part of one
        self._skipped_s = 0.0                               # by the clock, while the squad could not think
        self._slots_given_s = 0.0
        self._known_shape: tuple[tuple[Formation, bytes, bytes], MarchingShape] | None = None
        self._counts = dict.fromkeys(COUNTS, 0)
        self.judgement, self.standing = StanceJudge(stance_policy), standing
        check_kind("tokens", tokens, AttackTokens)
        self.tokens = AttackTokens() if tokens is None else tokens
        self.choose_tactic = choose_tactic
        self._tactics: dict[str, Tactic] = {}
        self._tactic: Tactic | None = None
        self._tasks: dict[int, SquadTask] = {}
        self._met: tuple[Sighting, ...] = ()
        self._commanding: tuple[SquadMember, SquadMember] | None = None      # as a member, and with the role
        for one in [kind() for kind in BUILT_IN] if tactics is None else tactics:
            self.add_tactic(one)

    def add(
        self, member_id: int, position: ArrayLike, *, speed: float = 3.0, radius_m: float = 0.4,
        roles: Iterable[str] = (), capabilities: Capabilities | None = None, data: Any = None,
    ) -> None:
        """Add a member.

        Args:
            member_id: integer, 0 or more, unique in this squad.
            position: present position (m).
            speed: highest speed (m/s), above 0.
            radius_m: half the width (m), above 0.
            roles: names of the roles it can fill.
            capabilities: kind, attack, toughness and healing; None if unknown.
            data: any value of the game; not saved.

        Raises:
            TypeError, ValueError: if an argument has a wrong type or is out of range, or the id is taken.

        Cost: O(members).
        """
        member = SquadMember(member_id, speed, radius_m, several_names("roles", roles), capabilities, data)
        self._admit(member, checked_place("position", position, self.dimensions))

    def move_slots(self, elapsed_s: float) -> None:
        """Advance the slots along the path, and update ``destinations`` and ``velocities``.

        Args:
            elapsed_s: game time since the last call (s), 0 or more.

        Raises:
            TypeError, ValueError: if ``elapsed_s`` is negative or not finite.

        Cost: O(members), plus the cost of clearance queries.
        """
        elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        if not self._safely("march", lambda: self._advance(elapsed_s)):
            self.marchers.stay()
        if self.is_in_column != self._was_in_column:
            self._was_in_column = self.is_in_column
            self._notify("narrowed" if self.is_in_column else "widened", None)

    def ground_changed(self) -> None:
        """Measure the clearance beside the path again, after a door closed or a wall fell.

        The path of ``move_to`` and ``form_up`` is requested again, from the present place; until it is there, the old
        one counts.
        """
        self._thought = self._update = None     # they may lay a path beside the ground as it was: they begin again
        if self._march.path is not None:
            self._march.path.invalidate_clearance()
        self._safely("cancel", self.posts.forget_all)
        if self.order.kind in ("move", "form_up") and not self.order.is_done:
            self._asks_again = self._ticket is not None or self._resumes is not None
            self.order.state = "waiting"

    @property
    def destinations(self) -> NDArray[np.float32]:
        """Present destination of each member, shape (n, d) (m)."""
        return self.marchers.destinations.astype(np.float32)

    def velocities(self, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return the velocity with which each member reaches its slot and stays in it, shape (n, d) (m/s).

        Args:
            out: optional (n, d) float32, overwritten and returned.
        """
        if out is None:
            return self.marchers.velocities.astype(np.float32)
        out[:] = self.marchers.velocities
        return out

    @property
    def is_in_column(self) -> bool:
        """True while the formation marches in a column through a narrow passage."""
        return self._march.is_in_column

    @property
    def heading(self) -> NDArray[np.float32]:
        """Direction the squad faces, shape (2,), in the plane of formations."""
        return self._march.heading.astype(np.float32)

    @property
    def path_points(self) -> NDArray[np.float32]:
        """Points of the present path, shape (k, d) (m); empty without a path."""
        return self._march.points.astype(np.float32)

    def slot_positions(self) -> NDArray[np.float32]:
        """Return the present positions of the slots of the formation, or of the column, shape (n, d), by slot (m)."""
        if not len(self):
            return np.zeros((0, self.dimensions), np.float32)
        shape = self._all_slots()
        offsets = shape.column if self.is_in_column else shape.offsets
        return self._march.places(self.marchers, offsets, shape).astype(np.float32)

    def split(self, member_ids: Iterable[int], name: str) -> Squad:
        """Move members to a new squad that has the same settings and no order, and return it.

        The new squad has its own tactics and attack tokens; both squads share ``choose_tactic``.

        Raises:
            UnknownNameError: if an id is no member's; no member is moved then.
            TypeError, ValueError: if there are no ids, or an id occurs twice.

        Cost: O(members).
        """
        other = Squad(
            name, self.clock, dimensions=self.dimensions, formation=self.formation, routes=self.routes,
            clearance=self._march.clearance, choose_commander=self._choose_commander, settings=self.settings,
            stance_policy=self.judgement.policy, tactics=copy.deepcopy(list(self._tactics.values())),
            tokens=self.tokens.copy_unused(), standing=self.standing, choose_tactic=self.choose_tactic,
            faults=self.faults, on_event=self.on_event)
        self.move_members(member_ids, other)
        return other

    def merge(self, other: Squad) -> None:
        """Move all members of another squad into this one; the other squad is empty afterwards.

        Raises:
            TypeError: if ``other`` is not a Squad.
            ValueError: if ``other`` is this squad or has other dimensions, or an id is in both.
        """
        check_type("other", other, Squad)
        other.move_members(list(other.members), self)

    def move_members(self, member_ids: Iterable[int], other: Squad) -> None:
        """Move members to another squad.

        Raises:
            UnknownNameError: if an id is no member's; no member is moved then.
            TypeError, ValueError: as in ``merge``; or if an id occurs twice.
        """
        check_type("other", other, Squad)
        if other is self:
            raise ValueError(f"members of squad {self.name!r} cannot move to the same squad; give another one")
        if other.dimensions != self.dimensions:
            raise ValueError(
                f"squad {other.name!r} has {other.dimensions} dimensions and {self.name!r} {self.dimensions};"
                " both must have the same")
        if not isinstance(member_ids, Iterable):
            raise TypeError(f"member_ids must be a sequence of ids, got {shown(member_ids)}; put one in a list")
        ids = list(member_ids)
        if not ids and len(self):
            raise ValueError("member_ids must have at least one id, got none")
        if len(set(ids)) != len(ids):
            raise ValueError(f"member_ids must not repeat an id, got {shown(ids)}")
        for member_id in ids:
            self.row_of(member_id)
            if member_id in other:
                raise ValueError(f"squad {other.name!r} already has a member {member_id}; ids must differ")
        for member_id in sorted(ids, key=lambda one: one == self.commander):    # last: else others command in between
            place = self.marchers.positions[self.row_of(member_id)].copy()
            other._admit(self.remove(member_id), place)

    def statistics(self) -> dict[str, float]:
        """Counts since the squad was created, and present numbers of members and stragglers.

        Distances count for members that have marched since they joined or got their order; without any, 0.
        """
        away = self.marchers.away
        return {
            **self._counts, "members": len(self), "stragglers": len(self.stragglers),
            "farthest_from_slot_m": float(away[away < np.inf].max(initial=0))}

    @property
    def _member_list(self) -> list[SquadMember]:
        """All members by ascending id, for saves; those with an id that the squad has now keep their ``data``."""
        return list(self._members.values())

    @_member_list.setter
    def _member_list(self, members: list[SquadMember]) -> None:
        here = self._members
        self._members = {
            one.member_id: dataclasses.replace(one, data=here[one.member_id].data) if one.member_id in here else one
            for one in members}

    @property
    def _requested(self) -> RouteRequest | None:
        """The request for a path that the order waits for, for saves."""
        if self._ticket is None or self._ends is None:
            return self._resumes
        start, goal = (tuple(one.tolist()) for one in self._ends)
        return RouteRequest(start, goal, self.routes.key(self._ticket))

    @_requested.setter
    def _requested(self, request: RouteRequest | None) -> None:
        self._ticket = self._ends = None        # what becomes of the ticket depends on the routes: _cancel_former
        self._resumes = request

    def prepare_state(self, state: object) -> Change:
        """Check a saved state completely; return the function that loads it.

        Raises:
            StateError: if the state cannot be loaded; names the place and the reason.
        """
        loads, change = getattr(self.routes, "loads", 0), super().prepare_state(state)

        def load() -> None:
            if self._ticket is not None:
                self._former = self._ticket, loads
            change()
            if self._resumes is None:
                self._cancel_former()

        return load

    def _cancel_former(self) -> None:
        """Cancel the ticket of before a load, unless it is that of the loaded request.

        Loaded routes have cancelled it themselves, or have given it to another's saved request.
        """
        former, self._former = self._former, None
        if former is None or former[1] != self.routes.loads:
            return
        if self._ticket is None or self.routes.key(self._ticket) != self.routes.key(former[0]):
            self._safely("cancel", lambda: self.routes.cancel(former[0]))

    def _save_tactic(self) -> list[Any] | None:
        return None if self._tactic is None else [self._tactic.name, self._tactic.save_state()]

    def _prepare_tactic(self, plain: Any, place: str) -> Change:
        """Check the tactic in use and its progress; return the function that loads them."""
        used: Tactic | None = None
        change: Change = int
        if plain is not None:
            name, begun = checked_list(place, plain, 2)
            if not isinstance(name, str) or name not in self._tactics:
                refuse(place, f"{UnknownNameError('tactic', name, self._tactics)}; add_tactic() before loading")
            used = self._tactics[name]
            change = Part().prepare(used, begun, f"{place}[1]")

        def load() -> None:
            self._tactic = used
            change()

        return load

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        ids = [one.member_id for one in values.members]
        if ids != sorted({*ids}) or (ids and ids[-1] > LARGEST_ID):
            refuse("members", f"must have ascending ids up to {LARGEST_ID}, got {shown(ids)}")
        if len(values.rows["positions"]) != len(ids):
            refuse("rows", f"must have a row for each of the {len(ids)} members")
        for name in ("commander", "appointed"):
            if getattr(values, name) not in (None, *ids):
                refuse(name, f"must be one of the members, got {getattr(values, name)}")
        for name, kinds in (("goal", ("move", "form_up")), ("heading", ("form_up",))):
            if values.order.kind in kinds and getattr(values.order, name) is None:
                refuse(f"order.{name}", f"must not be None for an order of kind {values.order.kind!r}")
        if values.request is not None and values.order.state != "waiting":
            refuse("request", f"must be None, as the order is {values.order.state}")
        if len({one.enemy_id for one in values.sightings}) != len(values.sightings):
            refuse("sightings", "must name each enemy once")
        if not values.tasks.keys() <= {*ids}:
            refuse("tasks", "must be of members")

    def _finish_load(self) -> None:
        self._update = None
        members, marchers = self._member_list, self.marchers
        marchers.ids = np.array([one.member_id for one in members], np.int32)
        marchers.speeds = np.array([one.speed for one in members], np.float64)
        marchers.radii = np.array([one.radius_m for one in members], np.float64)
        marchers.is_detached = np.isin(marchers.ids, list(self._tasks))
        marchers.rises = np.zeros(len(members))

    def _advance(self, elapsed_s: float) -> None:
        marchers = self.marchers
        if not len(marchers):
            return
        if self.is_thinking and not self._march.is_laid:
            marchers.stay()     # until the thought has made the path
            return
        self._march.advance(elapsed_s, marchers, self._shape())
        self._steer_detached(elapsed_s)

    def add_tactic(self, tactic: Tactic) -> None:
        """Add a tactic; it replaces a tactic of the same name.

        Raises:
            TypeError: if ``tactic`` is not a Tactic with a name.
        """
        if not isinstance(tactic, Tactic) or not tactic.name:
            raise TypeError(f"tactic must be a Tactic with a name, got {shown(tactic)}")
        self._tactics[tactic.name] = tactic

    def set_sightings(self, sightings: Iterable[Sighting]) -> None:
        """Set all enemies that the squad meets now; an empty iterable ends the encounter.

        Raises:
            TypeError: if ``sightings`` is no iterable of Sighting.
            ValueError: if a position has other dimensions than the squad, or an enemy occurs twice.

        Cost: O(sightings).
        """
        met = tuple(sorted(several("sightings", sightings, Sighting), key=lambda one: one.enemy_id))
        for one, before in zip(met, (None, *met), strict=False):
            if len(one.position) != self.dimensions:
                raise ValueError(f"enemy {one.enemy_id} must have {self.dimensions} coordinates, got {one.position}")
            if before is not None and before.enemy_id == one.enemy_id:
                raise ValueError(f"enemy {one.enemy_id} occurs twice; give each enemy once")
        self._met = met

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """Enemies that the squad meets, by ascending id."""
        return self._met

    @property
    def tactics(self) -> tuple[str, ...]:
        """Names of the available tactics, sorted."""
        return tuple(sorted(self._tactics))

    @property
    def tactic(self) -> str | None:
        """Name of the tactic in use, None without one."""
        return None if self._tactic is None else self._tactic.name

    @property
    def tasks(self) -> Mapping[int, SquadTask]:
        """Tasks of members by id; a member without a task keeps its slot."""
        return MappingProxyType(self._tasks)

    def use_tactic(self, name: str | None) -> None:
        """Use a tactic from the next thought on; None returns to the formation.

        Raises:
            UnknownNameError: if the squad has no tactic of this name.
        """
        tactic = None if name is None else named("tactic", name, self._tactics)
        if name == self.tactic:
            return
        self._tactic = tactic
        if self._tactic is not None:
            self._tactic.begin()
        self._set_tasks({})
        self._notify("tactic_changed", name)

    def why_not(self, name: str) -> str:
        """Return why a tactic cannot be used now, as a string; empty if it can.

        Raises:
            UnknownNameError: if the squad has no tactic of this name.
        """
        tactic = named("tactic", name, self._tactics)
        return tactic.why_not(self.situation()) if len(self) else "the squad has no members"

    def situation(self) -> TacticalSituation:
        """Return the present situation for tactics and rules; the commander also has the role "commander"."""
        members = dict(self.members)
        if self.commander is not None:
            own = members[self.commander]
            if self._commanding is None or self._commanding[0] is not own:
                self._commanding = own, dataclasses.replace(own, roles=(*own.roles, "commander"))
            members[self.commander] = self._commanding[1]
        goal = None if self.order.is_done or self.order.goal is None else np.array(self.order.goal)
        return TacticalSituation(
            members, self.marchers.positions.copy(), self._met, now_s=self._now_s, goal=goal,
            heading=self._march.heading, standing=self.standing)

    @property
    def _now_s(self) -> float:
        """Game time without the times for which the squad could not think (s)."""
        return self.clock.now.seconds - self._skipped_s

    @property
    def is_thinking(self) -> bool:
        """True if the last thought, or update of the slots, was interrupted."""
        return self._thought is not None or self._update is not None

    @property
    def _is_deciding(self) -> bool:
        """Whether a thought was interrupted, for saves; a loaded one begins again."""
        return self._thought is not None

    @_is_deciding.setter
    def _is_deciding(self, is_deciding: bool) -> None:
        self._thought = self._think() if is_deciding else None

    @property
    def needs_update(self) -> bool:
        """True if a thought was interrupted, or path or slots changed: call ``update_slots`` before ``move_slots``."""
        march = self._march
        return self.is_thinking or (
            march.has_path and len(self) > 0 and (self._slots_wanted is not None or not march.is_laid))

    def think(self, turn: Turn | None = None) -> None:
        """Decide for the squad: commander, path, slots and tactic. Callable as work of a scheduler.

        Args:
            turn: pauses the thought when its budget is spent, and until the thought is continued the members keep
                their path and slots, or stand still if a path is to be laid; None for the whole thought. Time since
                the last thought that is no ``elapsed_s`` of the turn, such as a pause of its scheduler, does not
                count for tactics and attack tokens.

        Raises:
            TypeError: if ``turn`` is no Turn.

        Cost: O(1) while nothing changes; a path request for a new order; slots as in ``assign_formation_slots``;
        O(members * enemies) with a tactic. Pauses are some 50 µs apart, for 200 members, a path of 250 m and no tactic.
        """
        _check_turn(turn)
        now_s = self.clock.now.seconds
        if turn is not None and self._thought_at_s is not None:
            self._skipped_s += max(0.0, now_s - self._thought_at_s - turn.elapsed_s)
        self._thought_at_s = now_s
        thought, self._thought, self._update = self._thought or self._think(), None, None
        self._thought = self._rest_of(thought, turn)

    def update_slots(self, turn: Turn | None = None) -> None:
        """Continue an interrupted thought, or else lay the path and assign the slots where they changed.

        Without an interrupted thought it decides nothing: call it as often as ``move_slots``, and after a load.

        Args:
            turn: as of ``think``.

        Raises:
            TypeError: if ``turn`` is no Turn.
        """
        if self._thought is not None:
            self.think(turn)
            return
        _check_turn(turn)
        update, self._update = self._update or self._keep_slots(), None
        self._update = self._rest_of(update, turn)

    @staticmethod
    def _rest_of(steps: Steps[None], turn: Turn | None) -> Steps[None] | None:
        """Do steps until the budget of the turn is spent; return the rest, None if there is none."""
        for _ in steps:
            if turn is not None:
                turn.budget.spend()
                if turn.budget.is_spent:
                    return steps
        return None

    def _think(self) -> Steps[None]:
        yield from self._command()
        if len(self) and (self.choose_tactic is not None or self._tactic is not None):
            self._safely("choose_tactic", self._choose_tactic)
            if not self._safely("tactic", self._plan):
                self._set_tasks({})
        if self._tasks:
            self._safely("posts", self._keep_posts)

    def remove(self, member_id: int) -> SquadMember:
        """Remove a member that left or was lost, and return it; a commander is replaced at once.

        Raises:
            UnknownNameError: if the squad has no member with this id.

        Cost: O(members).
        """
        row, member_id = self.row_of(member_id), self._id_of(member_id)
        self.marchers.delete(row)
        member = self._members.pop(member_id)
        self._request_slots("few_changes")
        self._tasks.pop(member_id, None)
        self._safely("cancel", lambda: self.posts.forget(member_id))
        self.tokens.forget(member_id)
        for tactic in self._tactics.values():
            tactic.forget_member(member_id)
        if self.appointed == member_id:
            self.appointed = None
        if self.commander == member_id:
            self._choose()
        self._notify("member_removed", member_id)
        return member

    @property
    def force(self) -> Force:
        """Combined force of all members whose capabilities are known."""
        return Force.of_members(one.capabilities for one in self.members.values() if one.capabilities is not None)

    @property
    def stance(self) -> Stance | None:
        """Result of the last ``judge``; None before the first."""
        return self.judgement.stance

    def judge(self, met: Force | None = None) -> Stance:
        """Return whether to fight, hold or retreat from the enemies met, and why.

        Args:
            met: force of the enemies; None takes those of ``sightings``.

        Raises:
            TypeError: if ``met`` is not a Force.

        Cost: O(members + capabilities * kinds).
        """
        unknown = 0
        if met is None:
            met = Force.of_members(one.capabilities for one in self._met if one.capabilities is not None)
            unknown = sum(one.capabilities is None for one in self._met)
        check_type("met", met, Force, "use Force.of_members(…)")
        before = self.judgement.stance
        stance = self.judgement.judge(self.force, met, self.clock.now.seconds, unknown)
        if before is None or before.kind != stance.kind:
            self._notify("stance_changed", stance)
        return stance

    def _choose_tactic(self) -> None:
        if self.choose_tactic is not None:
            self.use_tactic(self.choose_tactic(self.situation()))

    def _plan(self) -> None:
        tactic = self._tactic
        if tactic is not None:
            before = tuple(tactic.given_up)
            plan = tactic.plan(self.situation())
            given_up = tuple(one for one in tactic.given_up if one not in before)
            try:
                self._set_tasks({one: self._checked_task(one, plan[one]) for one in sorted(plan)})
            finally:
                if given_up:
                    self._notify("tasks_given_up", given_up)

    def _keep_posts(self) -> None:
        """Request and receive the paths of members with positions of their own."""
        posts = {number: task.position for number, task in self._tasks.items() if task.position is not None}
        places = {number: self.marchers.positions[self.row_of(number)] for number in posts}
        self.posts.keep(posts, places, self._now_s)

    def _checked_task(self, member_id: int, task: SquadTask) -> SquadTask:
        self.row_of(member_id)
        check_type(f"the plan for member {member_id}", task, SquadTask)
        if task.position is not None and (
                len(task.position) != self.dimensions or not np.isfinite(task.position).all()):
            raise ValueError(
                f"the task of member {member_id} must have a position of {self.dimensions} finite coordinates,"
                f" got {shown(task.position)}")
        return task

    def _set_tasks(self, tasks: dict[int, SquadTask]) -> None:
        """Set tasks; a member with the task "attack" and no token gets "stand_by"."""
        now_s = self._now_s
        attacking = [one for one, task in tasks.items() if task.kind == "attack"]
        for one in self.tokens.holders:
            if one not in attacking:
                self.tokens.release(one, now_s)
        for one in attacking:
            place, target = self.marchers.positions[self.row_of(one)], tasks[one].position
            away = 0.0 if target is None else float(np.sqrt(((place - np.array(target)) ** 2).sum()))
            self.tokens.request(one, now_s, -away, away / self._members[one].speed)
        holders = self.tokens.grant(now_s)
        before, self._tasks = self._tasks, {
            one: task if task.kind != "attack" or one in holders else SquadTask("stand_by", None, task.target)
            for one, task in tasks.items()}
        self.marchers.is_detached[:] = np.isin(self.marchers.ids, list(tasks))
        self._safely("cancel", lambda: self.posts.keep_only(tasks))
        changed = tuple(
            one for one in sorted({*before, *tasks}) if _task_key(before.get(one)) != _task_key(self._tasks.get(one)))
        if changed:
            self._notify("tasks_changed", changed)

    def _steer_detached(self, elapsed_s: float) -> None:
        """Steer members with tasks to the positions of their tasks instead of their slots."""
        marchers = self.marchers
        rows = marchers.is_detached.nonzero()[0]
        if not len(rows):
            return
        ids, here = marchers.ids[rows].tolist(), marchers.positions[rows]
        goals, stops, ends = here.copy(), here.copy(), np.ones(len(rows), bool)
        for row, number in enumerate(ids):
            place = self._tasks[number].position
            if place is not None:
                goals[row] = place
                stops[row], ends[row] = self.posts.ahead(number, here[row], place)
        offsets = stops - here
        velocities = offsets / max(self.settings.response_s, elapsed_s)
        velocities[~ends] *= MOST_SPEED     # it does not slow down before a corner of its path
        speeds = np.sqrt((velocities[:, list(plane_axes(self.dimensions))] ** 2).sum(axis=1))
        share = np.minimum(1.0, marchers.speeds[rows] / np.maximum(speeds, 1e-9))
        marchers.destinations[rows] = goals
        marchers.velocities[rows] = velocities * share[:, None]
        if self.dimensions == 3:
            marchers.rises[rows] = np.where(ends, 0.0, marchers.velocities[rows, 1])    # over steps of its path

    def _admit(self, member: SquadMember, place: Floats) -> None:
        """Add an existing member record, from another squad or new."""
        if member.member_id in self._members:
            raise ValueError(f"squad {self.name!r} already has a member {member.member_id}; ids must differ")
        self._members = dict(sorted({**self._members, member.member_id: member}.items()))
        self.marchers.insert(member.member_id, place, member.speed, member.radius_m)
        self._request_slots("few_changes")
        self._notify("member_added", member.member_id)
        if self.commander is None:
            self._choose()

    def appoint(self, member_id: int | None) -> None:
        """Make a member the commander permanently; None returns to ``choose_commander``.

        Raises:
            UnknownNameError: if the squad has no member with this id.
        """
        self.appointed = None if member_id is None else self._id_of(member_id)
        self._choose()

    def move_to(self, goal: ArrayLike) -> Order:
        """Order the squad to a goal; it starts as soon as ``think`` has received a path.

        Raises:
            TypeError, ValueError: if the goal is not a finite position.
        """
        place = checked_place("goal", goal, self.dimensions)
        return self._begin("move", place)

    def follow(self, points: ArrayLike) -> Order:
        """Order the squad along a given path.

        Args:
            points: shape (k, d), at least one point (m).

        Raises:
            TypeError, ValueError: if there are no points, or a coordinate is not finite.
        """
        path_points = positions("points", points, dimensions=(self.dimensions,)).astype(np.float64)
        if not len(path_points):
            raise ValueError("points must have at least one row, got none; use hold() to stay")
        return self._begin("follow", path_points[-1], points=path_points)

    def form_up(self, place: ArrayLike, heading: Sequence[float] | None = None) -> Order:
        """Order the squad to stand in formation at a position.

        It marches there along a path; without obstacles, and nearby, each member goes straight to its slot.

        Args:
            place: position of the commander (m).
            heading: direction to face, shape (2,), in the plane of formations; None keeps the present one.

        Raises:
            TypeError, ValueError: if the position is not finite, or the heading has no length.
        """
        spot = checked_place("place", place, self.dimensions)
        towards = self._march.heading
        if heading is not None:
            towards = checked_place("heading", heading, 2)
            length = float(np.sqrt((towards ** 2).sum()))
            if length == 0:
                raise ValueError("heading must have a length, got zero")
            towards = towards / length
        return self._begin("form_up", spot, heading=tuple(towards.tolist()))

    def hold(self) -> Order:
        """Order every member to stay at its present position."""
        order = self._begin("hold", None)
        self._stop()
        order.state = "done"
        return order

    def dismiss(self) -> None:
        """End the order, also one that keeps members at their places; they stop, and no order binds them."""
        self._drop_request()
        self._stop()
        self.order.state = "replaced"

    def _stop(self) -> None:
        self._thought = self._update = None     # they may be at the path that is dropped here
        self._march.stop()
        self.marchers.stay()

    def set_formation(self, formation: Formation) -> None:
        """Change the formation, also during a march.

        Raises:
            TypeError: if ``formation`` is not a Formation.
        """
        check_type("formation", formation, Formation, "use Formation.wedge()")
        self.formation = formation
        self._request_slots("complete")
        self._march.forget_shape()

    def _command(self) -> Steps[None]:
        self._counts["thoughts"] += 1
        if not len(self):
            if not self.order.is_done:
                self._fail("the squad has no members")
            return
        if self.commander is None:
            self._choose()
        if self.order.state == "marching" and self.marchers.is_straggler.all():
            self._fail(f"no member comes nearer to its slot; stragglers: all {len(self)}")
        if self.order.state == "waiting":
            yield from self._safely_in_steps("path", self._poll_path())
            if self.order.state == "waiting" and self.faults.is_quarantined((self, "path")):
                self._fail("what finds its path is quarantined after repeated errors, which were reported; release it")
        if self._march.has_path:
            far_m = REASSIGN_DISTANCE * self.formation.spacing_m
            rests = self.clock.now.seconds - self._slots_given_s < SLOT_REST_S * len(self)
            if self._slots_wanted is None and not rests and bool((self.marchers.away > far_m).any()):
                self._request_slots("worthwhile")
        yield from self._keep_slots()
        is_on_its_way = self.order.state == "marching" or (     # or there before the path it waits for
            self.order.state == "waiting" and self._has_marched and not self.order.why)
        if is_on_its_way and len(self) and self.has_arrived:
            self._drop_request()            # for a path after a change of the ground, which it no longer needs
            self._asks_again = False
            if self.order.kind == "form_up" and not self.order.why and len(self._march.points) > 1:
                self._stand(self._march.points[-1:])
                return
            self.order.state = "failed" if self.order.why else "done"
            self._notify(f"order_{self.order.state}", self.order)

    @property
    def has_arrived(self) -> bool:
        """True if the slots are at the end of the path and every member but stragglers is in its slot."""
        marchers = self.marchers
        there = (marchers.away <= self.settings.tolerance_m) | marchers.is_straggler
        return self._march.is_at_end and bool(there.all())

    @property
    def is_idle(self) -> bool:
        """True if the last order is done, failed or replaced."""
        return self.order.is_done

    def _begin(
        self, kind: OrderKind, goal: Floats | None, *, heading: tuple[float, ...] | None = None,
        points: Floats | None = None,
    ) -> Order:
        """Replace the order; whoever is told of another commander finds the new one whole."""
        if not self.order.is_done:
            self.order.state = "replaced"
        self._drop_request()
        self._asks_again = self._has_marched = False
        self._counts["orders"] += 1
        self.order = order = Order(self.order.number + 1, kind, None if goal is None else tuple(goal.tolist()))
        order.heading = heading
        if points is not None:
            self._start_march(points)
        if goal is not None:
            self._choose()
        return order

    def _drop_request(self) -> None:
        if self._resumes is not None:
            self._safely("path", self._resume)
        ticket, self._ticket, self._ends, self._resumes = self._ticket, None, None, None
        if ticket is not None:
            self._safely("cancel", lambda: self.routes.cancel(ticket))
        self._cancel_former()

    def _resume(self) -> None:
        """Take up the request of a save."""
        request, self._resumes = self._resumes, None
        assert request is not None
        self._ends = np.array(request.start), np.array(request.goal)
        self._ticket = self.routes.resumed(*self._ends, request.key)
        self._cancel_former()

    def _poll_path(self) -> Steps[None]:
        order, goal = self.order, np.array(self.order.goal)
        try:
            if self._resumes is not None:
                self._resume()
            elif self._ticket is None:
                self._counts["paths_requested"] += 1
                self._ends = self.marchers.positions[self._leading_row(goal)].copy(), goal
                self._ticket = self.routes.request(*self._ends)
        except (LookupError, ValueError) as error:      # a position outside the map is no programming error
            self._fail(str(error))
            return
        points = self.routes.points(self._ticket)
        if points is None:
            return
        why = self.routes.why(self._ticket)
        if not len(points):
            self._fail(why or "no path leads there")
            return
        path_points = np.asarray(points, np.float64)
        if order.kind == "form_up" and not why and self._is_near(path_points):
            self._stand(path_points[-1:])
        else:
            path = yield from self._march.laid(path_points, self._all_slots())
            if order.state != "waiting":
                return
            self._start_march(path_points, path)
        self._ticket = None         # only now: a thought that is interrupted, or saved in between, begins again
        order.why = why
        if self._asks_again:
            self._asks_again, order.state = False, "waiting"

    def _leading_row(self, goal: Floats) -> int:
        """Return the row of the commander; if it is a straggler, of the member nearest to the goal that is none."""
        row, marchers = self.row_of(self.commander), self.marchers  # type: ignore[arg-type]
        if marchers.is_straggler[row] and not marchers.is_straggler.all():
            away = ((marchers.positions - goal) ** 2).sum(axis=1)
            row = int(np.where(marchers.is_straggler, np.inf, away).argmin())
        return row

    def _start_march(self, points: Floats, path: MarchPath | None = None) -> None:
        self._march.begin(points, path)
        self.marchers.reset(forgives=not self._has_marched)
        self._has_marched = True
        self.order.state = "marching"
        self._request_slots("complete")

    def _is_near(self, points: Floats) -> bool:
        """Return whether members may go straight to their slots at the end of a path: it is a line, or short."""
        far_m = REASSIGN_DISTANCE * self.formation.spacing_m
        return len(points) <= 2 or float(np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1)).sum()) <= far_m

    def _stand(self, place: Floats) -> None:
        """Let the members go to their slots at a place, shape (1, d), with the heading of the order."""
        self._march.heading = np.array(self.order.heading)
        self._start_march(place)

    def _fail(self, why: str) -> None:
        """End the order where the members are."""
        self._drop_request()
        self._march.stop()
        self.order.state, self.order.why = "failed", why
        self._notify("order_failed", self.order)

    def _choose(self) -> None:
        """Choose a commander; if the callback raises, the member with the smallest id commands."""
        before, members = self.commander, self.members
        if not members:
            self.commander = None
        elif self.appointed is not None:
            self.commander = self.appointed
        else:
            self.commander = next(iter(members))
            self._safely("choose_commander", self._ask_for_commander)
        if self.commander != before:
            self._request_slots("few_changes")
            self._notify("commander_changed", self.commander)

    def _ask_for_commander(self) -> None:
        goal = None if self.order.goal is None or self.order.is_done else np.array(self.order.goal)
        chosen = self._choose_commander(self.members, self.marchers.positions.copy(), goal)
        if chosen not in self._members:
            raise UnknownNameError(f"member of squad {self.name!r}", chosen, self._members)
        self.commander = int(chosen)

    def _request_slots(self, how: str) -> None:
        """Request an assignment of slots; "complete" overrides "few_changes", which overrides "worthwhile"."""
        self._slot_requests += 1
        ranks = (None, "worthwhile", "few_changes", "complete")
        self._slots_wanted = max(self._slots_wanted, how, key=ranks.index)

    def _keep_slots(self) -> Steps[None]:
        """Lay the path and assign the slots, where they changed."""
        if len(self) and not self._march.is_laid:
            yield from self._safely_in_steps("path", self._march.lay_again(self._all_slots()))
        while self._slots_wanted is not None and self._march.has_path and len(self):
            if not (yield from self._safely_in_steps("slots", self._assign_slots(self._slots_wanted))):
                break

    def _shape(self) -> MarchingShape:
        """Return the slots in the order of the members, cached; the squad must have a member."""
        slots, radii = self.marchers.slots, self.marchers.radii
        wanted = self.formation, slots.tobytes(), radii.tobytes()
        if self._known_shape is None or self._known_shape[0] != wanted:
            offsets = self.formation.slots(len(self))
            self._known_shape = wanted, MarchingShape(slots, offsets, radii, self.formation.spacing_m)
        return self._known_shape[1]

    def _all_slots(self) -> MarchingShape:
        """Return the slots in the order of the formation; the squad must have a member."""
        rows = np.arange(len(self), dtype=np.int32)
        return MarchingShape(
            rows, self.formation.slots(len(self)), self.marchers.radii, self.formation.spacing_m)

    def _assign_slots(self, how: str) -> Steps[None]:
        """Assign slots in steps; drop the assignment if another one is requested meanwhile."""
        number = self._slot_requests
        self._counts["slot_assignments"] += 1
        shape = self._all_slots()
        yield
        if self._slot_requests != number:
            return
        yield from self._march.lay_again(shape)
        if self._slot_requests != number:
            return
        places = self._march.places(self.marchers, shape.offsets, shape)
        roles = [one.roles for one in self._members.values()]
        row = self.row_of(self.commander)  # type: ignore[arg-type]
        few = {"complete": None, "few_changes": True, "worthwhile": False}[how]
        yield
        if self._slot_requests != number:
            return
        slots, infeasible = yield from assign_formation_slots(
            self.marchers, self.formation, roles, row, places, few_changes=few)
        if self._slot_requests != number:
            return
        if how == self._slots_wanted:
            self._slots_wanted = None
        self._slots_given_s = self.clock.now.seconds
        self.marchers.slots[:] = slots
        before, self.infeasible = self.infeasible, infeasible
        if self.infeasible and self.infeasible != before:
            self._notify("slots_infeasible", self.infeasible)

    def _notify(self, kind: str, detail: Any) -> None:
        listener = self.on_event
        if listener is not None:
            self._safely("on_event", lambda: listener(kind, self, detail))

    def _safely(self, step: str, work: Callable[[], object]) -> bool:
        """Run a callback that may raise; return True if it did not."""
        return self.faults.run((self, step), f"squad {self.name!r}: {step}", self.clock.now.frame, work)

    def _safely_in_steps(self, step: str, work: Steps[None]) -> Steps[bool]:
        """Do the steps of work that may raise; return True if they did not."""
        key = self, step
        if self.faults.is_quarantined(key):
            return False
        try:
            yield from work
        except Exception as error:
            self.faults.failed(key, f"squad {self.name!r}: {step}", self.clock.now.frame, error)
            return False
        self.faults.succeeded(key)
        return True

    def release(self) -> None:
        """Release all callbacks, and rules that choose the tactic, that were quarantined after repeated errors."""
        if isinstance(self.choose_tactic, TacticByRules):
            self.choose_tactic.mind.release_quarantined()
        for step in ("path", "cancel", "slots", "march", "choose_commander", "choose_tactic", "tactic", "posts",
                     "on_event"):
            self.faults.release((self, step))

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
        """Ids of the members, shape (n,), ascending."""
        return self.marchers.ids.copy()

    @property
    def positions(self) -> NDArray[np.float32]:
        """Positions of members as last set by ``place``, shape (n, d) (m)."""
        return self.marchers.positions.astype(np.float32)

    @property
    def centre(self) -> NDArray[np.float32] | None:
        """Mean position of all members, shape (d,) (m); None without members."""
        return self.marchers.positions.mean(axis=0).astype(np.float32) if len(self) else None

    @property
    def stragglers(self) -> tuple[int, ...]:
        """Ids of the members that the squad no longer waits for."""
        return tuple(self.marchers.ids[self.marchers.is_straggler].tolist())

    def row_of(self, member_id: int) -> int:
        """Return the row of a member in all arrays.

        Raises:
            TypeError: if the id is no integer.
            ValueError: if it is out of the range of ids.
            UnknownNameError: if the squad has no member with this id.
        """
        row = self.marchers.row(whole_number("member_id", member_id, minimum=-MOST))
        if row is None:
            raise UnknownNameError(f"member of squad {self.name!r}", member_id, self._members)
        return row

    def _id_of(self, member_id: int) -> int:
        """Return the id of a member as it is kept; raise UnknownNameError as ``row_of``."""
        return int(self.marchers.ids[self.row_of(member_id)])

    def slot_of(self, member_id: int) -> int:
        """Return the slot of a member in the formation, -1 while it has none.

        Raises:
            UnknownNameError: if the squad has no member with this id.
        """
        return int(self.marchers.slots[self.row_of(member_id)])

    def set_positions(self, places: ArrayLike) -> None:
        """Set the present positions of all members in one batch.

        Args:
            places: positions, shape (n, d), by ascending id (m).

        Raises:
            TypeError, ValueError: if the positions are not finite or of another shape; nothing changes then.

        Cost: O(n).
        """
        new = positions("places", places, dimensions=(self.dimensions,))
        if len(new) != len(self):
            raise ValueError(f"places must have {len(self)} rows, one for each member, got {len(new)}")
        self.marchers.positions[:] = new

    def change_member(
        self, member_id: int, *, speed: float = 3.0, radius_m: float = 0.4, roles: Iterable[str] = (),
        capabilities: Capabilities | None = None,
    ) -> None:
        """Replace all properties of a member but position and ``data``; arguments as in ``Squad.add``.

        Raises:
            UnknownNameError: if the squad has no member with this id.
            TypeError, ValueError: if an argument has a wrong type or is out of range.
        """
        row, member_id = self.row_of(member_id), self._id_of(member_id)
        before = self._members[member_id]
        member = SquadMember(member_id, speed, radius_m, several_names("roles", roles), capabilities, before.data)
        self._members[member_id] = member
        self.marchers.speeds[row], self.marchers.radii[row] = member.speed, member.radius_m
        if (member.radius_m, member.roles) != (before.radius_m, before.roles):
            self._request_slots("few_changes")


__all__ = ["BUILT_IN", "ChooseTactic", "Squad", "checked_place"]
