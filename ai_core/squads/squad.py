"""A squad: members, a commander who thinks for all, orders, and a formation on the march."""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.clock import Clock
from ai_core.errors import finite_number, shown, whole_number
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.fields import State
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.commander import ChooseCommander, nearest_to_goal
from ai_core.squads.formation import Formation
from ai_core.squads.formation_march import MarchSettings
from ai_core.squads.march_path import Clearance
from ai_core.squads.membership import checked_place
from ai_core.squads.routes import Routes, StraightRoutes
from ai_core.squads.squad_state import prepared_squad, saved_squad
from ai_core.squads.stance import StanceJudge, StancePolicy
from ai_core.squads.standing import Standing
from ai_core.squads.tactical import ChooseTactic, Tactical
from ai_core.squads.tactics import Tactic

__all__ = ["Squad"]


class Squad(Tactical):
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
        super().__init__(
            name, clock, whole_number("dimensions", dimensions, minimum=2, maximum=3),
            Formation.wedge() if formation is None else formation, StraightRoutes() if routes is None else routes,
            clearance, choose_commander, MarchSettings() if settings is None else settings,
            given_faults(faults), on_event)
        for what, one in (("choose_tactic", choose_tactic), ("standing", standing)):
            if one is not None and not callable(one):
                raise TypeError(f"{what} must be a callable, got {shown(one)}")
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
