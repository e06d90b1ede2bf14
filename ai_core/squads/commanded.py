"""What a commander decides for all: who commands, which path, who stands where."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ai_core.clock import Clock, checked_clock
from ai_core.errors import UnknownNameError, positions, shown
from ai_core.faults import FaultIsolation
from ai_core.squads.commander import ChooseCommander, SquadMember
from ai_core.squads.formation import Formation
from ai_core.squads.formation_march import FormationMarch, MarchSettings
from ai_core.squads.march_path import Clearance
from ai_core.squads.marching_shape import MarchingShape
from ai_core.squads.membership import Membership, checked_place
from ai_core.squads.orders import Order, OrderKind
from ai_core.squads.routes import Routes
from ai_core.squads.slot_keeping import give_slots

__all__ = ["Commanded"]

Floats = NDArray[np.float64]

APART = 2.0
"""Distance from their slots, in spacings, from which on it is asked whether others should have them."""

RESTS_S = 0.04
"""For how long slots are left alone unless somebody comes or goes (s for each member): giving them
takes 0.4 ms for 50 members and 20 ms for 200, which nobody should do at every thought."""


class Commanded(Membership):
    """Members under a commander, who is one of them and thinks for all."""

    def __init__(
        self, name: str, clock: Clock, dimensions: int, formation: Formation, routes: Routes,
        clearance: Clearance | None, choose_commander: ChooseCommander, settings: MarchSettings,
        faults: FaultIsolation, on_event: Callable[[str, Any, Any], object] | None,
    ) -> None:
        super().__init__(name, dimensions)
        checked_clock(clock)
        if not isinstance(settings, MarchSettings):
            raise TypeError(f"settings must be MarchSettings, got {shown(settings)}")
        for what, one in (("choose_commander", choose_commander), ("clearance", clearance), ("on_event", on_event)):
            if one is not None and not callable(one):
                raise TypeError(f"{what} must be a callable, got {shown(one)}")
        self.clock, self.routes, self.faults, self.on_event = clock, routes, faults, on_event
        self.formation = _checked_formation(formation)
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

    def take_in(self, member: SquadMember, place: Floats) -> None:
        """Take in a member as it is, of another squad or new."""
        self.insert_member(member, place)
        self._want_slots("few_changes")
        self._tell("member_added", member.member_id)
        if self.commander is None:
            self._choose()

    def remove(self, member_id: int) -> SquadMember:
        """Let somebody go, or note that it is lost; a commander is replaced at once.

        Raises:
            UnknownNameError: if it is no member.

        Cost: O(members).
        """
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

    def think(self, turn: object = None) -> None:
        """Decide for all: who commands, which path, who stands where. Work for a scheduler.

        Cost: O(1) while nothing changes; a path request for a new order; slots as ``give_slots``.
        """
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
        self.marchers.begin_anew()
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


def _checked_formation(formation: Formation) -> Formation:
    if not isinstance(formation, Formation):
        raise TypeError(f"formation must be a Formation, got {shown(formation)}; use Formation.wedge()")
    return formation
