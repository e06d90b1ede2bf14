"""Tactics of squads, and the choice among them."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.decisions.rules import RuleMind, RuleSet
from ai_core.described import Described
from ai_core.errors import finite_number, named, several_names, shown, whole_number
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import Change, DeclaredState, Refuse, Saveable
from ai_core.saving.fields import State
from ai_core.saving.kinds import Flag, ListOf, MapOf, Number, Optional, Point, Row, Seconds, Text, Whole
from ai_core.squads.capabilities import Force, power_ratio
from ai_core.squads.situation import TacticalSituation
from ai_core.squads.slot_assignment import assign

__all__ = [
    "SITUATION_FACTS", "BoundingOverwatch", "Flanking", "HealingSupport", "Plan", "Sacrifice", "Scouting",
    "SquadTask", "SuppressingFire", "Tactic", "TacticByRules", "assign_posts", "situation_grade"
]

Floats = NDArray[np.float64]


class SquadTask(NamedTuple):
    """The task of one member."""

    kind: str
    """Such as "heal", "scout", "suppress", "screen", "flank", "overwatch", "attack", "stand_by"."""
    position: tuple[float, ...] | None = None
    """Where to go (m); None for the present position."""
    target: int | None = None
    """Id of the enemy; for "heal" and "screen" the id of a member."""


TASK_STATE = Row(SquadTask, Text(), Optional(Point(lambda squad: squad.dimensions)), Optional(Whole()))
"""How a task is saved."""

Plan = dict[int, SquadTask]
"""Tasks by member id."""


MOVED_M = 8.0
"""How far the goal, or the mean position of the enemies, may move before a tactic is planned again for all (m)."""


class Tactic(Saveable):
    """Base class of tactics; subclasses implement ``plan``.

    Attributes:
        name: identifies the tactic in squads, rules and saves.
        given_up: ids of the members whose tasks the tactic has given up, as they did not come to the positions, since
            ``begin``, or since its goal has moved by more than ``MOVED_M``.
    """

    STATE = DeclaredState()
    name = ""
    given_up: tuple[int, ...] = ()
    _goal: tuple[float, ...] | None = None

    def why_not(self, situation: TacticalSituation) -> str:
        """Return why the tactic cannot be used now, as a string; empty if it can."""
        return ""

    def begin(self) -> None:
        """Discard the progress of an earlier use."""

    def plan(self, situation: TacticalSituation) -> Plan:
        """Return the tasks of members by id; members left out keep their slots."""
        raise NotImplementedError

    def forget_member(self, member_id: int) -> None:
        """Forget a member that left or was lost."""

    def _takes_back(self, goal: Floats) -> bool:
        """Return whether the goal has moved by more than ``MOVED_M``; members that were given up may try again then."""
        if self._goal is not None and math.dist(self._goal, goal) <= MOVED_M:
            return False
        self._goal, self.given_up = tuple(goal.tolist()), ()
        return True


def assign_posts(situation: TacticalSituation, member_ids: Sequence[int],
    posts: Sequence[Floats]) -> list[tuple[int, int]]:
    """Return pairs of member id and post index with the least total distance, as many as the smaller number."""
    if not member_ids or not posts:
        return []
    places = np.array([situation.position_of(one) for one in member_ids])
    costs = np.sqrt(((places[:, None] - np.array(posts)[None]) ** 2).sum(axis=2))
    return [
        (member, slot) for member, slot in zip(member_ids, assign(costs).slots.tolist(), strict=True) if slot >= 0]


POSTED_M = 1.0
"""A member within this distance of its position has ended its bound (m)."""

CAME_M = 0.5
"""How far a member must move, or come nearer to its position, so that its patience begins again (m)."""

LONGEST_DETOUR = 6.0
"""Longest time, in patience, for which a member that moves may come no nearer: a detour, and not a walk in a circle."""


class _Progress(NamedTuple):
    """How a member comes to the position of its task."""

    place: tuple[float, ...]
    """Where it was when it had last moved (m)."""
    moved_s: float
    nearest_m: float
    """Smallest distance from the position of its task (m)."""
    nearer_s: float

    def waits(self, now_s: float, patience_s: float) -> bool:
        """Return whether there is patience left."""
        return now_s - self.moved_s <= patience_s and now_s - self.nearer_s <= LONGEST_DETOUR * patience_s


PROGRESS_STATE = Row(_Progress, Point(), Seconds(), Number(0), Seconds())


def _progress(before: _Progress | None, place: Floats, away_m: float, near_m: float, now_s: float) -> _Progress:
    """Return the progress of a member at a place, ``away_m`` from its position; within ``near_m`` it has arrived."""
    here = tuple(place.tolist())
    if before is None or away_m <= near_m:
        return _Progress(here, now_s, away_m, now_s)
    if away_m <= before.nearest_m - CAME_M:
        before = before._replace(nearest_m=away_m, nearer_s=now_s)
    return before._replace(place=here, moved_s=now_s) if math.dist(here, before.place) >= CAME_M else before


def _check_places(refuse: Refuse, **places: Iterable[tuple[float, ...]]) -> None:
    """Refuse loaded positions that do not have the same number of coordinates."""
    known: set[int] = set()
    for name, some in places.items():
        known |= {len(one) for one in some}
        if len(known) > 1:
            refuse(name, f"must have as many coordinates as the other positions, got {sorted(known)}")


class BoundingOverwatch(Tactic):
    """Two teams: the rear team bounds past the other, which stays and watches, until both are at the goal.

    The goal is that of the squad's order, else the mean position of the enemies, or the nearest position where a member
    can stand. A member that does not come to the end of its bound is given up: the teams continue without it, until the
    goal has moved by more than ``MOVED_M``. With fewer than two members left, the tactic has no tasks.

    Args:
        bound_m: how far a team moves beyond the other in one bound (m), above 0.
        apart_m: distance between neighbors of one team (m), 0 or more.
        patience_s: time for which a member of the moving team stands before it is given up (s), above 0; as for
            ``Flanking``.

    Raises:
        ValueError: if a number is out of range.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    SHOWN = ("bound_m", "given_up")

    STATE = DeclaredState(
        moving=Whole(0, 1, at="_moving"), progress=MapOf(PROGRESS_STATE, key=Whole(), at="_progress"),
        posts=MapOf(Point(), key=Whole(), at="_posts"), given_up=ListOf(Whole(), make=tuple),
        goal=Optional(Point(), at="_goal"))
    name = "bounding_overwatch"

    def __init__(
        self, bound_m: float = 10.0, apart_m: float = 2.5, patience_s: float = 10.0
    ) -> None:
        self.bound_m = finite_number("bound_m", bound_m, above=0)
        self.apart_m = finite_number("apart_m", apart_m, minimum=0)
        self.patience_s = finite_number("patience_s", patience_s, above=0)
        self.begin()

    def why_not(self, situation: TacticalSituation) -> str:
        if len(situation.members) < 2:
            return "two teams need at least 2 members"
        return "" if situation.goal is not None or situation.enemies else "there is neither a goal nor an enemy"

    def begin(self) -> None:
        self._moving = 0
        self._posts: dict[int, tuple[float, ...]] = {}
        self._progress: dict[int, _Progress] = {}
        self._goal, self.given_up = None, ()

    def plan(self, situation: TacticalSituation) -> Plan:
        if self.why_not(situation):
            self.begin()                # patience begins again with the next goal
            return {}
        [goal] = situation.move_to_free(
            [situation.goal if situation.goal is not None else situation.enemy_positions.mean(axis=0)])
        has_given_up = bool(self.given_up)
        if self._takes_back(goal) and has_given_up:
            self._posts = {}            # the teams change
        self._give_up(situation)
        teams = self.teams(situation)
        if not all(teams) or all(self._is_at(situation, team, goal) for team in teams):
            self._posts = {}
            return {}
        if not self._posts:
            self._bound(situation, goal, teams)
        elif self._is_over(situation, teams[self._moving]):
            self._moving = 1 - self._moving
            self._bound(situation, goal, teams)
        plan = {}
        for number in teams[self._moving]:
            plan[number] = SquadTask("bound", self._posts.get(number))
        for number in teams[1 - self._moving]:
            enemy = situation.nearest_enemy(situation.position_of(number))
            target = None if enemy is None else situation.enemies[enemy].enemy_id
            plan[number] = SquadTask("overwatch", None, target)
        return plan

    def teams(self, situation: TacticalSituation) -> tuple[list[int], list[int]]:
        """Return the ids of both teams: members alternate by ascending id, without those that were given up."""
        ids = [one for one in situation.members if one not in self.given_up]
        return ids[::2], ids[1::2]

    def forget_member(self, member_id: int) -> None:
        self._posts = {}           # removing a member changes the teams
        self.given_up = tuple(one for one in self.given_up if one != member_id)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        _check_places(
            refuse, posts=values.posts.values(), progress=[one.place for one in values.progress.values()],
            goal=[values.goal] if values.goal else [])

    def _is_at(self, situation: TacticalSituation, team: list[int], goal: Floats) -> bool:
        """Return whether the mean position of a team is at the goal, allowing room for the other team."""
        middle = np.mean([situation.position_of(one) for one in team], axis=0)
        return math.dist(middle, goal) <= POSTED_M + self.apart_m

    def _give_up(self, situation: TacticalSituation) -> None:
        """Give up the members of the moving team that do not come to the ends of their bounds."""
        self._progress = {
            one: _progress(self._progress.get(one), place, math.dist(place, post), POSTED_M, situation.now_s)
            for one, post in self._posts.items() if one in situation.members
            for place in [situation.position_of(one)]}
        stuck = [one for one, now in self._progress.items() if not now.waits(situation.now_s, self.patience_s)]
        if stuck:
            self.given_up += tuple(stuck)
            self._posts = {}            # the teams change

    def _is_over(self, situation: TacticalSituation, team: list[int]) -> bool:
        return all(
            one in self._posts and math.dist(situation.position_of(one),
                self._posts[one]) <= POSTED_M for one in team)

    def _bound(self, situation: TacticalSituation, goal: Floats, teams: tuple[list[int], list[int]]) -> None:
        """Set positions for the moving team one bound beyond the other, but not beyond the goal."""
        team, other = teams[self._moving], teams[1 - self._moving]
        watching = np.mean([situation.position_of(one) for one in other], axis=0)
        ahead = situation.direction(watching, goal)
        reach_m = min(self.bound_m, math.dist(watching, goal))
        across = situation.right_of(ahead)
        # Each team keeps to its own side of the line, so that no member bounds into the line of fire.
        side = 0.5 if self._moving else -0.5
        posts = situation.move_to_free([
            watching + ahead * reach_m + across * (self.apart_m * (number - (len(team) - 1) / 2 + side))
            for number in range(len(team))])
        pairs = assign_posts(situation, team, posts)
        self._posts = {one: tuple(posts[post].tolist()) for one, post in pairs}
        self._progress = {}


FLANKED_M = 2.0
"""A member within this distance of its place at the flank has arrived (m)."""

WELL_WITHIN = 0.9
"""Share of its range up to which an attacker comes near: at 1 it would be out of range after each step of the enemy."""

STRIKES_M = 4.0
"""Range up to which a member strikes rather than fires: it does not come near to suppress, and crowd the enemy (m)."""

TURNS = tuple(math.radians(sign * angle) for angle in range(0, 181, 20) for sign in (1, -1))
"""Directions from an enemy in which an attacker looks for a free place, from its own on (rad)."""


def _spot_in_range(situation: TacticalSituation, member_id: int, enemy: int) -> tuple[float, ...]:
    """Return the place nearest to a member from which it hits an enemy, and where no other member stands."""
    target, place = situation.enemy_positions[enemy], situation.position_of(member_id)
    away_m, reach_m = math.dist(target, place), WELL_WITHIN * _reach(situation, member_id)
    if away_m <= reach_m:
        return tuple(place.tolist())
    ahead, across = (place - target) * (reach_m / away_m), reach_m * situation.right_of(place - target)
    is_other = situation.ids != member_id
    room_m = np.array([one.radius_m for one in situation.members.values()])
    room_m = (room_m + situation.members[member_id].radius_m)[is_other]
    spots = situation.move_to_free([
        target + ahead * math.cos(angle) + across * math.sin(angle) for angle in (TURNS if reach_m else TURNS[:1])])
    for spot in spots:
        hits = math.dist(target, spot) <= reach_m / WELL_WITHIN
        if hits and (np.linalg.norm(situation.positions[is_other] - spot, axis=1) >= room_m).all():
            return tuple(spot.tolist())
    return tuple(spots[0].tolist())


def _suppression(situation: TacticalSituation, member_id: int, enemy: int) -> SquadTask:
    """Return the task to fire at an enemy: from where the member is, if that is in range, or if it only strikes."""
    place, target = situation.position_of(member_id), situation.enemy_positions[enemy]
    reach_m = _reach(situation, member_id)
    fires_here = reach_m <= STRIKES_M or math.dist(place, target) <= WELL_WITHIN * reach_m
    return SquadTask(
        "suppress", None if fires_here else _spot_in_range(situation, member_id, enemy),
        situation.enemies[enemy].enemy_id)


class Flanking(Tactic):
    """Some members go around the enemies on the nearer side; after they have arrived, all members attack.

    Until then, the others fire from within their range.

    A member that does not come to its place at the flank is given up: the tactic continues without it, until the mean
    position of the enemies has moved by more than ``MOVED_M``.

    Args:
        share: share of the members that go around, above 0 to 1; at least one goes and one stays.
        flank_m: distance of the flank from the mean position of the enemies (m), above 0.
        patience_s: time for which a member stands before it is given up (s), above 0; a member that moves, as on a
            detour, but comes no nearer has 6 times as long.

    Raises:
        ValueError: if a number is out of range.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    SHOWN = ("share", "is_attacking", "given_up")

    STATE = DeclaredState(
        around=MapOf(Point(), key=Whole(), at="_around"), goal=Optional(Point(), at="_goal"),
        is_attacking=Flag(at="_is_attacking"), progress=MapOf(PROGRESS_STATE, key=Whole(), at="_progress"),
        given_up=ListOf(Whole(), make=tuple))
    name = "flanking"

    def __init__(self, share: float = 0.5, flank_m: float = 12.0, patience_s: float = 10.0) -> None:
        self.share = finite_number("share", share, above=0, maximum=1)
        self.flank_m = finite_number("flank_m", flank_m, above=0)
        self.patience_s = finite_number("patience_s", patience_s, above=0)
        self.begin()

    def why_not(self, situation: TacticalSituation) -> str:
        if not situation.enemies:
            return "no enemy is met"
        return "" if len(situation.members) > 1 else "needs at least 2 members: one suppresses, one goes around"

    def begin(self) -> None:
        self._around: dict[int, tuple[float, ...]] = {}
        self._is_attacking = False
        self._progress: dict[int, _Progress] = {}
        self._goal, self.given_up = None, ()

    @property
    def is_attacking(self) -> bool:
        """True after the members that went around have arrived, or were given up."""
        return self._is_attacking

    def plan(self, situation: TacticalSituation) -> Plan:
        if self.why_not(situation):
            self._progress = {}         # patience begins again with the next enemy
            return {}
        middle = situation.enemy_positions.mean(axis=0)
        if not self._is_attacking and (self._takes_back(middle) or not self._around):
            self._plan_flank(situation, middle)
        if not self._is_attacking:
            self._give_up(situation)
        around = {one: place for one, place in self._around.items() if one in situation.members}
        if not self._is_attacking:
            self._is_attacking = all(
                math.dist(situation.position_of(one), place) <= FLANKED_M for one, place in around.items())
        plan = {}
        for number in situation.members:
            place = situation.position_of(number)
            enemy = situation.nearest_enemy(place)
            target = situation.enemies[enemy].enemy_id if enemy is not None else None
            if self._is_attacking:
                plan[number] = SquadTask("attack", _spot_in_range(situation, number, enemy or 0), target)
            elif number in around:
                plan[number] = SquadTask("flank", around[number], target)
            else:
                plan[number] = _suppression(situation, number, enemy or 0)
        return plan

    def forget_member(self, member_id: int) -> None:
        self._around.pop(member_id, None)
        self._progress.pop(member_id, None)
        self.given_up = tuple(one for one in self.given_up if one != member_id)

    def _give_up(self, situation: TacticalSituation) -> None:
        """Give up the members that do not come to their places."""
        self._progress = {
            one: _progress(self._progress.get(one), place, math.dist(place, post), FLANKED_M, situation.now_s)
            for one, post in self._around.items() if one in situation.members
            for place in [situation.position_of(one)]}
        for one, now in self._progress.items():
            if not now.waits(situation.now_s, self.patience_s):
                del self._around[one]
                self.given_up = (*self.given_up, one)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        _check_places(
            refuse, around=values.around.values(), goal=[values.goal] if values.goal else [],
            progress=[one.place for one in values.progress.values()])

    def _plan_flank(self, situation: TacticalSituation, middle: Floats) -> None:
        """Choose the nearer side, the members that go around, and their positions."""
        own = situation.positions.mean(axis=0)
        across = situation.right_of(situation.direction(own, middle))
        count = max(1, min(round(self.share * len(situation.members)), len(situation.members) - 1))
        best: tuple[float, dict[int, tuple[float, ...]]] | None = None
        able = [one for one in situation.members if one not in self.given_up]
        for side in (1.0, -1.0):
            spot = middle + across * (side * self.flank_m)
            distances = [(math.dist(situation.position_of(one), spot), one) for one in able]
            going = sorted(one for _, one in sorted(distances)[:count])
            ahead = situation.direction(own, middle)
            posts = situation.move_to_free(
                [spot + ahead * (2.0 * (number - (count - 1) / 2)) for number in range(count)])
            pairs = assign_posts(situation, going, posts)
            total = sum(math.dist(situation.position_of(one), posts[post]) for one, post in pairs)
            if best is None or total < best[0] - 1e-9:
                best = total, {one: tuple(posts[post].tolist()) for one, post in pairs}
        self._around = best[1] if best else {}
        self._progress = {          # places that change are no progress
            one: before._replace(nearest_m=math.dist(situation.position_of(one), self._around[one]))
            for one, before in self._progress.items() if one in self._around}


STAYS = 1.25
"""Risk of another member, relative to a patient's, at which a healer changes; at 1 healers run back and forth."""


class HealingSupport(Tactic):
    """Each healer stands behind one of the members with the highest risk.

    Healers are members with the role "healer" or with the capability to heal. As many members as
    there are healers become patients; a patient keeps its healer until the risk of another member
    is clearly higher.

    Args:
        distance_m: distance behind the patient, seen from the enemies (m), 0 or more.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    SHOWN = ("distance_m",)

    STATE = DeclaredState(patients=ListOf(Whole(), make=set, at="_patients"))
    name = "healing_support"

    def __init__(self, distance_m: float = 2.0) -> None:
        self.distance_m = finite_number("distance_m", distance_m, minimum=0)
        self._patients: set[int] = set()

    def why_not(self, situation: TacticalSituation) -> str:
        if not self._healers(situation):
            return "no member is a healer"
        return "" if situation.enemies else "no enemy is met"

    def begin(self) -> None:
        self._patients = set()

    def plan(self, situation: TacticalSituation) -> Plan:
        healers = self._healers(situation)
        others = [one for one in situation.members if one not in healers]
        at_risk = sorted((one for one in others if situation.risk(one) > 0), key=lambda one: (
            -situation.risk(one) * (STAYS if one in self._patients else 1), one))[: len(healers)]
        self._patients = set(at_risk)
        posts = []
        for one in at_risk:
            place = situation.position_of(one)
            posts.append(place + situation.away_from_enemies(place) * self.distance_m)
        posts = situation.move_to_free(posts)
        return {
            healer: SquadTask("heal", tuple(posts[post].tolist()), at_risk[post])
            for healer, post in assign_posts(situation, healers, posts)}

    def forget_member(self, member_id: int) -> None:
        self._patients.discard(member_id)

    @staticmethod
    def _healers(situation: TacticalSituation) -> list[int]:
        return [
            one.member_id for one in situation.members.values()
            if "healer" in one.roles or (one.capabilities is not None and one.capabilities.heals > 0)]


VALUABLE = ("commander", "healer", "vip")
"""Roles that are screened by default, most valuable first."""


class Sacrifice(Tactic):
    """Expendable members screen valuable ones, each between a valuable member and its nearest enemy.

    Members with one of ``roles`` are valuable; the others are ranked by toughness, the weakest first.

    Args:
        screens: number of screening members for each valuable one, 1 or more.
        distance_m: distance in front of the valuable member (m), above 0.
        roles: roles of valuable members, most valuable first.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    SHOWN = ("screens",)

    name = "sacrifice"

    def __init__(self, screens: int = 1, distance_m: float = 2.5, roles: tuple[str, ...] = VALUABLE) -> None:
        self.screens = whole_number("screens", screens, minimum=1)
        self.distance_m = finite_number("distance_m", distance_m, above=0)
        self.roles = several_names("roles", roles)

    def why_not(self, situation: TacticalSituation) -> str:
        if not situation.enemies:
            return "no enemy is met"
        valuable = self._valuable(situation)
        if not valuable:
            return f"no member has one of the roles to screen: {', '.join(self.roles)}"
        return "" if len(valuable) < len(situation.members) else "no member is left to screen the valuable ones"

    def plan(self, situation: TacticalSituation) -> Plan:
        if self.why_not(situation):
            return {}
        valuable = self._valuable(situation)
        cheap = sorted((one for one in situation.members if one not in valuable), key=lambda one: (
            _value(situation, one), one))[: self.screens * len(valuable)]
        charges, posts = [], []
        for number in range(min(self.screens, len(cheap))):  # no more posts than members to fill them
            for one in valuable:
                place = situation.position_of(one)
                enemy = situation.enemy_positions[situation.nearest_enemy(place)]
                ahead = situation.direction(place, enemy)
                aside = (number + 1) // 2 * (1 if number % 2 else -1)
                charges.append(one)
                posts.append(place + ahead * self.distance_m + situation.right_of(ahead) * aside)
        posts = situation.move_to_free(posts)
        # The first posts belong to the most valuable members: with too few screens only those are filled.
        return {
            screen: SquadTask("screen", tuple(posts[post].tolist()), charges[post])
            for screen, post in assign_posts(situation, sorted(cheap), posts[: len(cheap)])}

    def _valuable(self, situation: TacticalSituation) -> list[int]:
        ranked = [
            (min(self.roles.index(role) for role in one.roles if role in self.roles), number)
            for number, one in situation.members.items() if any(role in self.roles for role in one.roles)]
        return [number for _, number in sorted(ranked)]


def _value(situation: TacticalSituation, member_id: int) -> float:
    can = situation.members[member_id].capabilities
    return 1.0 if can is None else can.toughness


class Scouting(Tactic):
    """Members with the role "scout" fan out ahead of the squad and fall back from enemies.

    Args:
        ahead_m: distance ahead of the other members' mean position (m), above 0; never beyond the goal.
        apart_m: distance between scouts (m), 0 or more.
        fall_back_m: a scout within this distance of an enemy returns to its slot (m), 0 or more.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    SHOWN = ("ahead_m",)

    name = "scouting"

    def __init__(self, ahead_m: float = 20.0, apart_m: float = 8.0, fall_back_m: float = 12.0) -> None:
        self.ahead_m = finite_number("ahead_m", ahead_m, above=0)
        self.apart_m = finite_number("apart_m", apart_m, minimum=0)
        self.fall_back_m = finite_number("fall_back_m", fall_back_m, minimum=0)

    def why_not(self, situation: TacticalSituation) -> str:
        scouts = [one for one in situation.members.values() if "scout" in one.roles]
        if not scouts:
            return "no member has the role 'scout'"
        return "all members are scouts" if len(scouts) == len(situation.members) else ""

    def plan(self, situation: TacticalSituation) -> Plan:
        scouts = [number for number, one in situation.members.items() if "scout" in one.roles]
        others = [number for number in situation.members if number not in scouts]
        if not scouts or not others:
            return {}
        middle = np.mean([situation.position_of(one) for one in others], axis=0)
        ahead, reach_m = situation.in_plane(situation.heading), self.ahead_m
        if situation.goal is not None:
            ahead = situation.direction(middle, situation.goal)
            reach_m = min(reach_m, math.dist(middle, situation.goal))
        across = situation.right_of(ahead)
        first = -self.apart_m * (len(scouts) - 1) / 2
        posts = situation.move_to_free([
            middle + ahead * reach_m + across * (first + self.apart_m * number) for number in range(len(scouts))])
        return {
            scout: SquadTask("scout", tuple(posts[post].tolist()))
            for scout, post in assign_posts(situation, scouts, posts) if not self._is_met(situation, scout)}

    def _is_met(self, situation: TacticalSituation, scout: int) -> bool:
        nearest = situation.nearest_enemy(situation.position_of(scout))
        if nearest is None:
            return False
        return math.dist(situation.enemy_positions[nearest], situation.position_of(scout)) < self.fall_back_m


class SuppressingFire(Tactic):
    """Members with the longest range fire from within it, spread over the enemies; the other members march on.

    Args:
        share: share of the members able to attack that fire, above 0 to 1; at least one member marches on.

    Raises:
        ValueError: if ``share`` is not above 0 or is above 1.

    Source: 003_designing_ai_for_games, tactics of groups.
    """

    SHOWN = ("share",)

    name = "suppressing_fire"

    def __init__(self, share: float = 0.5) -> None:
        self.share = finite_number("share", share, above=0, maximum=1)

    def why_not(self, situation: TacticalSituation) -> str:
        if not situation.enemies:
            return "no enemy is met"
        return "" if len(situation.members) > 1 else "needs at least 2 members: one fires, one moves"

    def plan(self, situation: TacticalSituation) -> Plan:
        if self.why_not(situation):
            return {}
        firing = self.firing_members(situation)
        plan = {}
        fired_at = [0] * len(situation.enemies)
        for member in firing:
            place = situation.position_of(member)
            enemy = min(range(len(fired_at)), key=lambda one: (
                fired_at[one], math.dist(situation.enemy_positions[one], place), situation.enemies[one].enemy_id))
            fired_at[enemy] += 1
            plan[member] = _suppression(situation, member, enemy)
        return plan

    def firing_members(self, situation: TacticalSituation) -> list[int]:
        """Return the ids of the members that fire: longest range first, then smallest id; never all members."""
        armed = [
            number for number, one in situation.members.items()
            if one.capabilities is None or any(one.capabilities.attack.values())]
        count = min(math.ceil(self.share * len(armed)), len(situation.members) - 1)
        return sorted(sorted(armed, key=lambda one: (-_reach(situation, one), one))[:count])


def _reach(situation: TacticalSituation, member_id: int) -> float:
    can = situation.members[member_id].capabilities
    return 0.0 if can is None else can.range_m


NEAR_M = 30.0
"""Distance of the nearest enemy below which the fact "near" is above 0 (m)."""


def _near(situation: TacticalSituation) -> float:
    if not situation.enemies:
        return 0.0
    middle = situation.positions.mean(axis=0)
    enemy = situation.enemy_positions[situation.nearest_enemy(middle)]
    return max(0.0, 1 - math.dist(enemy, middle) / NEAR_M)


def _strong(situation: TacticalSituation) -> float:
    ratio = power_ratio(_own(situation), situation.enemy_force)
    return 1.0 if math.isinf(ratio) else ratio / (1 + ratio)


def _can_hit(situation: TacticalSituation) -> float:
    kinds = situation.enemy_force.counts_by_kind()
    if not kinds or not situation.members:
        return 0.0
    return max(_own(situation).can_hit(kind) for kind in kinds) / len(situation.members)


def _outnumbered(situation: TacticalSituation) -> float:
    return len(situation.enemies) / (len(situation.enemies) + len(situation.members)) if situation.enemies else 0.0


def _own(situation: TacticalSituation) -> Force:
    return Force.of_members(one.capabilities for one in situation.members.values() if one.capabilities is not None)


def _has_role(role: str) -> Callable[[TacticalSituation], float]:
    return lambda situation: float(any(role in one.roles for one in situation.members.values()))


FACTS: dict[str, Callable[[TacticalSituation], float]] = {
    "met": lambda situation: float(bool(situation.enemies)),
    "near": _near,
    "strong": _strong,
    "can_hit": _can_hit,
    "outnumbered": _outnumbered,
    "at_risk": lambda situation: min(1.0, float(situation.risks.max(initial=0.0))),
    "has_order": lambda situation: float(situation.goal is not None),
    "has_healer": _has_role("healer"),
    "has_scout": _has_role("scout"),
}


def situation_grade(fact: str, situation: TacticalSituation) -> float:
    """Return the grade of a fact in a situation, 0 to 1."""
    return named("fact of a situation", fact, FACTS)(situation)


SITUATION_FACTS: Mapping[str, Callable[[RuleMind], float]] = {
    name: (lambda mind, ask=ask: ask(mind.owner)) for name, ask in FACTS.items()  # type: ignore[misc]
}
"""Facts for the rules of a commander by name, each graded 0 to 1: met (1 with enemies), near (within 30 m),
strong (0.5 for equal power), can_hit (share of members), outnumbered (enemies' share of all units), at_risk,
has_order (1 with an order under way), has_healer, has_scout."""


class TacticByRules(Described):
    """Chooses a tactic by a rule set: the first rule that fires returns the name of the tactic.

    Args:
        rules: rules over ``SITUATION_FACTS`` and any other facts; callables of facts receive a mind whose
            ``owner`` is the ``TacticalSituation``. A rule that decides at every thought must repeat.
        name: names the commander in reports.
        parameters: parameters of this commander that differ from those of the rules.
        faults: receives the errors of rules.

    Raises:
        TypeError: if ``rules`` is not a RuleSet, or ``name`` not a string.
    """

    def __init__(
        self, rules: RuleSet, *, name: str = "commander", parameters: Mapping[str, float] | None = None,
        faults: FaultIsolation | None = None,
    ) -> None:
        self.mind = RuleMind(rules, name=name, parameters=parameters, faults=faults)

    def __call__(self, situation: TacticalSituation) -> str | None:
        """Return the name of a tactic, or None for the formation.

        Raises:
            TypeError: if a rule returns neither a string nor None.
        """
        self.mind.owner = situation
        try:
            fired = self.mind.think(most=1)
        finally:
            self.mind.owner = None
        chosen: Any = fired[0].result if fired else None
        if chosen is not None and not isinstance(chosen, str):
            raise TypeError(f"rule {fired[0].rule!r} must return the name of a tactic or None, got {shown(chosen)}")
        return chosen

    def save_state(self) -> State:
        """Return facts, parameters and fired rules as plain data."""
        return self.mind.save_state()

    def prepare_state(self, state: object) -> Change:
        """Check a saved state and return the function that restores it.

        Raises:
            StateError: if the state cannot be loaded; names the field and the reason.
        """
        return self.mind.prepare_state(state)
