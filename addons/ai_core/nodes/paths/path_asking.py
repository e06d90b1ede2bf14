"""How ways are asked for, and who is told of them; a part of PathService."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, Variant, method
from addons.ai_core.nodes.paths.asked_path import AskedPath
from addons.ai_core.nodes.paths.navigation_ways import checked_place
from ai_core.paths.cells_along import is_way
from ai_core.paths.path_ticket import PathTicket

KEPT_S = 0.5
"""So long somebody goes a way before another is searched because the ground has changed (s).

Maps of which a part moves, as a platform does, change in every frame; in each of them everybody would ask again.
"""


class PathAsking:
    """Tickets of a PathService by their ids, and the signals that tell of them; a part of that class."""

    service: Any
    partial_ways: Any
    release_after_s: Any
    snap_within_m: Any
    path_improved: Any
    path_ready: Any
    path_failed: Any
    pulled_on: Any
    is_valid: Any
    instance_id: Any
    _scheduler: Any
    _service: Any
    _places: Any
    _ways: Any
    _dimensions: int

    def begin_asking(self) -> None:
        """Nothing was asked for yet."""
        self._last_id = 0
        self._mark = ""                                   # of whom tickets were loaded
        self._asked: dict[int, AskedPath] = {}
        self._open: dict[PathTicket, AskedPath] = {}      # which are not told yet
        self._improved: dict[PathTicket, None] = {}       # in the order in which they did
        self._over: list[PathTicket] = []
        self._told: dict[int, float] = {}                 # by id, when a ticket was over; the first at first

    @property
    def mark(self) -> str:
        """Whose tickets these are: of this node, or of that whose save was loaded."""
        return self._mark or str(self.instance_id)

    def end_asking(self) -> None:
        """Forget all tickets; ids are not used again."""
        self._asked, self._open, self._improved = {}, {}, {}
        self._over.clear()
        self._told.clear()

    @method
    def request_path(self, start: Variant, goal: Variant, priority: float = 1.0, tolerance_m: float = 0.0) -> int:
        """Ask for a way; return the id of its ticket, or 0 with an error.

        Places are Vector3, or Vector2 in 2D. A priority of 2 has twice the turns. With a tolerance, a
        way that is asked for or found already will do if its ends are each this near (in 2D pixels).
        """
        request, reach = self.service.request_path, tolerance_m / (self._places.cell_size if self._places else 1)
        return self._ask(lambda: request(
            self._on_ground("start", start), self._on_ground("goal", goal), priority=priority, tolerance=reach))

    @method
    def request_improving_path(self, start: Variant, goal: Variant, priority: float = 1.0) -> int:
        """Ask for a way soon, then cheaper ones, over a grid; return the id of its ticket, or 0 with an error.

        path_improved tells of each, path_ready of the cheapest, with which it ends. Walk along meanwhile,
        and say so with walk_to(): the next way begins there.
        """
        request = self.service.request_improving_path
        return self._ask(lambda: request(
            self._on_ground("start", start), self._on_ground("goal", goal), priority=priority))

    @method
    def walk_to(self, ticket: int, position: Variant) -> None:
        """Say where the mover of an improving path is; its ways lead on from there. Nothing when it is over."""
        asked = self._of("walk_to", ticket)
        if not asked.ticket.improves:
            raise RefusedValue(f"walk_to is for tickets of request_improving_path(), {ticket} is of request_path()")
        if not asked.ticket.is_over:
            self.service.walk_to(asked.ticket, self._on_ground("position", position))

    @method
    def check_path(self, ticket: int) -> Variant:
        """Return the way of a ticket: a PackedVector3Array, or PackedVector2Array; empty while there is none.

        Over a grid it leads through the middles of cells.
        """
        return self._of("check_path", ticket).points

    def is_over_grid(self, ticket: int) -> bool:
        """Return whether a ticket's way leads over a grid; then check_path() makes its points anew each time."""
        return self._of("is_over_grid", ticket).places is not None

    def is_in_goal_of(self, ticket: int, place: Any) -> bool:
        """Return whether a place is in the cell that a ticket over a grid leads to, in whose middle its way ends."""
        asked = self._of("is_in_goal_of", ticket)
        try:
            return asked.places is not None and asked.places.cell_at("place", tuple(place)) == asked.ticket.goal
        except RefusedValue:
            return False

    def is_outdated(self, ticket: int) -> bool:
        """Return whether the ground has changed since its way was found, so that it may be none any more.

        A way from cell to cell is outdated as soon as a move of it is shut, and not before. Of others nobody knows
        without another search, so they are not outdated for ``KEPT_S``, whatever changes.

        Cost: O(1), over a grid O(cells of the way) after each change.
        """
        asked, ways, now_s = self._of("is_outdated", ticket), self._ways, self._scheduler.clock.now.seconds
        version = 0 if ways is None else ways.version
        if asked.ground is None:
            asked.ground = (ways, version, now_s)
        known, known_version, since_s = asked.ground
        if known is ways and known_version == version:
            return False
        if known is not ways or asked.places is None or asked.straight_on is not None or asked.state != "found":
            return now_s - since_s >= KEPT_S
        cells = asked.ticket.path.cells
        if not is_way(ways.passage, cells, int(cells[0]), cells[-1:]):
            return True
        asked.ground = (ways, version, now_s)
        return False

    @method
    def get_state(self, ticket: int) -> str:
        """Return where a request stands.

        Waiting, running; improving, if there is a way and a cheaper one may follow; found; partial, if it
        ends before its goal; none; cancelled; failed; refused.
        """
        return self._of("get_state", ticket).state

    @method
    def cancel(self, ticket: int) -> None:
        """Give up a request; others who wait for the same way get it. Nothing when it is over."""
        asked = self._of("cancel", ticket)
        if not asked.ticket.is_over:
            self._service.cancel(asked.ticket)
            self._close(asked)

    @method
    def release(self, ticket: int) -> None:
        """Forget a ticket, and give it up if nothing came of it yet. Nothing when that has happened by itself."""
        if 0 < ticket <= self._last_id and ticket not in self._asked:
            return
        asked = self._of("release", ticket)
        if not asked.ticket.is_over:
            self._service.cancel(asked.ticket)
        del self._asked[ticket]
        self._open.pop(asked.ticket, None)
        self._told.pop(ticket, None)

    @property
    def asked_paths(self) -> list[AskedPath]:
        """Requests that are kept, the oldest first."""
        return list(self._asked.values())

    def tell(self) -> None:
        """Emit signals for tickets that improved or are over, and release old ones. Listeners may do anything."""
        improved, self._improved = self._improved, {}
        for ticket in improved:
            asked = self._open.get(ticket)
            if asked is not None and asked.is_way and not ticket.is_over:
                self.path_improved.emit(asked.number, asked.points)
                if not self.is_valid() or self._scheduler is None:
                    return
        over, self._over[:] = list(self._over), []
        for ticket in over:
            asked = self._open.get(ticket)
            if asked is None:
                continue
            self._close(asked)
            if asked.is_way:
                self.path_ready.emit(asked.number, asked.points)
            else:
                self.path_failed.emit(asked.number, asked.why_not)
            if not self.is_valid() or self._scheduler is None:
                return
        if self.release_after_s > 0:
            before_s = self._scheduler.clock.now.seconds - self.release_after_s
            while self._told and self._told[first := next(iter(self._told))] < before_s:
                del self._told[first]
                self._asked.pop(first, None)

    def _close(self, asked: AskedPath) -> None:
        del self._open[asked.ticket]
        self._told[asked.number] = self._scheduler.clock.now.seconds

    def _of(self, question: str, number: int) -> AskedPath:
        asked = self._asked.get(number)
        if asked is None:
            raise RefusedValue(f"{question} knows no ticket {number}; it was never given, or released"
                               f" (release_after_s is {self.release_after_s:g})")
        return asked

    def note_improved(self, ticket: PathTicket) -> None:
        """Note that a ticket has another way, or none any more."""
        self._improved[ticket] = None

    def _ask(self, request: Callable[[], PathTicket]) -> int:
        try:
            ticket = request()
        except (TypeError, ValueError) as error:
            raise RefusedValue(str(error)) from None
        self._last_id += 1
        asked = AskedPath(
            self._last_id, ticket, self._dimensions, self._places, self.partial_ways, self.pulled_on)
        self._asked[asked.number] = self._open[ticket] = asked
        return asked.number

    def _on_ground(self, name: str, place: Any) -> Any:
        """Return a place as the ground knows it: over a grid its cell."""
        if self._places is None:
            return place
        numbers, within, cell = checked_place(name, place, self._places.dimensions), self.snap_within_m, None
        try:
            cell = self._places.cell_at(name, numbers)
        except RefusedValue:
            if not within:
                raise
        passage = self._ways.passage
        if within and (cell is None or not passage.is_free(cell)):
            nearest = self._places.nearest_free(passage, numbers, within)
            if nearest is None and cell is None:
                raise RefusedValue(
                    f"{name} is not on the grid, got {numbers}, and no cell that can be walked is as near as"
                    f" snap_within_m, {within:g}")
            cell = cell if nearest is None else nearest
        return cell
