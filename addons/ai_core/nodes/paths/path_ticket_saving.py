"""How a PathService is saved and loaded: tickets, who moves meanwhile, and walls shut or opened; a part of it."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue
from addons.ai_core.nodes.paths.asked_path import AskedPath
from addons.ai_core.nodes.paths.grid_of_scene import CellPlaces
from addons.ai_core.nodes.saving.scene_saving import saving
from ai_core.maps.grid import Grid
from ai_core.maps.passage import Passage
from ai_core.paths import path_service
from ai_core.paths.path_ticket import PathTicket
from ai_core.saving.fields import Fields, State, StateError

VERSION = 3


def _from_version_1(state: State) -> State:
    """Who moved meanwhile began anew."""
    return {**state, "version": 2, "meanwhile": None}


def _from_version_2(state: State) -> State:
    """Who walked by ticket in a scene that was loaded again asked anew."""
    return {**state, "version": 3, "mark": ""}


MIGRATIONS = {1: _from_version_1, 2: _from_version_2}


class PathTicketSaving:
    """Saves the tickets of scripts by their ids, and what they wait for."""

    source: Any
    straight_ways: Any
    service: path_service.PathService
    _service: path_service.PathService | None
    _grid: Grid | None
    _places: Any
    _dimensions: int
    _last_id: int
    _mark: str
    mark: Any
    _asked: dict[int, AskedPath]
    _open: dict[PathTicket, AskedPath]
    _over: list[PathTicket]
    _told: dict[int, float]
    _improved: dict[PathTicket, None]
    begin_meanwhile: Callable[[], None]
    saved_meanwhile: Callable[[], State | None]
    prepared_meanwhile: Callable[[Fields, set[int]], Callable[[], None]]
    forget_explored: Any

    save_state, load_state = saving(
        "tickets, ways, who moves meanwhile, and walls of set_walls()",
        when_loading='Searches begin anew. The ground must be there as it was: set_grid_from() before loading.')

    @property
    def pulled_on(self) -> Passage | None:
        """What ways are pulled straight on; None where they lead from cell to cell."""
        is_pulled = self.straight_ways and self._grid is not None and isinstance(self._places, CellPlaces)
        return self._grid.passage() if is_pulled and self._grid is not None else None

    def begin_saving(self) -> None:
        """Forget which cells were walls before set_walls(): the ground is another."""
        self._before_walls: dict[int, float] = {}

    def note_walls(self, numbers: list[int]) -> None:
        """Remember what cells cost before they are changed for the first time."""
        assert self._grid is not None
        costs = self._grid.passage().costs.reshape(-1)
        for number in numbers:
            self._before_walls.setdefault(number, float(costs[number]))

    def is_in_use(self) -> bool:
        return self._service is not None

    def saved(self) -> State:
        walls = []
        if self._grid is not None:
            costs = self._grid.passage().costs.reshape(-1)
            walls = [[number, bool(math.isfinite(costs[number]))] for number in sorted(self._before_walls)]
        return {
            "version": VERSION, "source": int(self.source), "walls": walls, "last_id": self._last_id, "mark": self.mark,
            "service": self.service.save_state(),
            "asked": [
                {"number": one.number, "ticket": one.ticket.number, "may_be_partial": one.may_be_partial,
                 "is_told": one.ticket not in self._open}
                for one in self._asked.values()
            ],
            "told": [[seconds, number] for number, seconds in self._told.items()],
            "meanwhile": self.saved_meanwhile(),
        }

    def prepared(self, state: object) -> Callable[[], None]:
        fields = Fields.versioned(state, version=VERSION, migrations=MIGRATIONS)
        source = fields.whole("source")
        if source != int(self.source):
            fields.refuse("source", f"is {source}, and here it is {int(self.source)}; use the same before loading")
        try:
            service = self.service
        except RefusedValue as error:
            raise StateError(str(error)) from None
        walls = self._walls(fields)
        last_id, mark = fields.whole("last_id"), fields.text("mark")
        change_service = service.prepare_state(fields.anything("service"))
        numbers = {one["number"] for one in fields.anything("service")["tickets"]}
        asked = [self._read_asked(one, last_id, numbers) for one in fields.groups("asked")]
        if len({one[0] for one in asked}) < len(asked):
            fields.refuse("asked", "has an id twice")
        told = [self._read_told(fields, one) for one in fields.items("told")]
        change_meanwhile = self.begin_meanwhile
        if fields.anything("meanwhile") is not None:
            change_meanwhile = self.prepared_meanwhile(fields.group("meanwhile"), {one[0] for one in asked})
        fields.end()

        def change() -> None:
            self._set_walls(walls)
            self._over.clear()
            self._improved.clear()
            change_service()
            self._last_id, self._mark = last_id, mark
            self._take_asked(service, asked)
            self._told.clear()
            self._told.update((number, seconds) for seconds, number in told)
            self.begin_meanwhile()
            change_meanwhile()

        return change

    def _take_asked(self, service: path_service.PathService, asked: list[tuple[int, int, bool, bool]]) -> None:
        self._asked, self._open = {}, {}
        for number, ticket_number, may_be_partial, is_told in asked:
            ticket = service.ticket(ticket_number)
            one = AskedPath(number, ticket, self._dimensions, self._places, may_be_partial, self.pulled_on)
            self._asked[number] = one
            if not is_told:
                self._open[ticket] = one
                if ticket.is_over:
                    self._over.append(ticket)

    def _walls(self, fields: Fields) -> dict[int, bool]:
        count = 0 if self._grid is None else self._grid.passage().costs.size
        walls = {}
        for wall in fields.items("walls"):
            if not isinstance(wall, list) or len(wall) != 2 or type(wall[1]) is not bool:
                fields.refuse("walls", f"must be pairs of a cell and whether it can be walked, got {wall!r}")
            if type(wall[0]) not in (int, float) or not (0 <= wall[0] < count and wall[0] == int(wall[0])):
                fields.refuse("walls", f"must be cells of the grid, 0 to {count - 1}, got {wall[0]!r}")
            walls[int(wall[0])] = wall[1]
        return walls

    def _set_walls(self, walls: dict[int, bool]) -> None:
        """Make walls what they were in the save, and others what they were before set_walls()."""
        if self._grid is None:
            return
        for number, cost in self._before_walls.items():
            if number not in walls:
                self._grid.set_cells([number], cost)
        self._before_walls = {number: self._before_walls[number] for number in walls if number in self._before_walls}
        self.note_walls(list(walls))
        for is_open in (False, True):
            cells = [number for number, walkable in walls.items() if walkable == is_open]
            if cells:
                self._grid.set_cells(cells, is_open)

    def _read_asked(self, one: Fields, last_id: int, tickets: set[int]) -> tuple[int, int, bool, bool]:
        number, ticket = one.whole("number", minimum=1, maximum=last_id), one.whole("ticket")
        if ticket not in tickets:
            one.refuse("ticket", f"is not among those of the service: {ticket}")
        found = number, ticket, one.flag("may_be_partial"), one.flag("is_told")
        one.end()
        return found

    def _read_told(self, fields: Fields, one: object) -> tuple[float, int]:
        if not isinstance(one, list) or len(one) != 2:
            fields.refuse("told", f"must be pairs of seconds and an id, got {one!r}")
        pair = Fields({"seconds": one[0], "number": one[1]}, "told")
        return pair.seconds("seconds"), pair.whole("number")
