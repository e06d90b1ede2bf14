"""Tickets, and the ways they wait for, as a save holds them.

A search is not saved: who waited for one waits again, in the same place, and it
begins anew; one that improves goes on at once, with the way its mover walks along. Ways kept
for whoever asks next are not saved either, but those of tickets are.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple, get_args

from ai_core.paths.path import PathState
from ai_core.paths.path_requests import PathTicket, TicketState, Way, WayBook
from ai_core.saving.fields import Fields, State

__all__ = ["MIGRATIONS", "VERSION", "Loaded", "loaded_tickets", "saved_tickets"]

VERSION = 3
"""Of a saved service (no unit); rises when what it holds changes."""

STATES = get_args(TicketState)


def _from_version_1(state: State) -> State:
    """No ticket improved."""
    tickets = [{**one, "improves": False} for one in state["tickets"]]
    return {**state, "version": 2, "tickets": tickets, "ways": [{**one, "at": None} for one in state["ways"]]}


def _from_version_2(state: State) -> State:
    """A ticket with an answer was done, whatever its path; partial answers counted as none."""
    tickets = [{**one, "state": one["path"]["state"] if one["state"] == "done" else one["state"]}
               for one in state["tickets"]]
    return {**state, "version": 3, "tickets": tickets, "counts": {**state["counts"], "partial": 0}}


MIGRATIONS = {1: _from_version_1, 2: _from_version_2}
"""By version of a saved service, what makes it one of the next."""


class Loaded(NamedTuple):
    """What a save holds.

    Attributes:
        tickets: by number, each with what it was and not yet written into.
        ways: those that are asked for, with the numbers of their tickets.
    """

    tickets: dict[int, dict[str, Any]]
    ways: list[tuple[Way, list[int]]]

    def enter(self, book: WayBook, ways: Any, known: Callable[[int], PathTicket | None]) -> dict[int, PathTicket]:
        """Write all into an empty book and into tickets; return those by number.

        Args:
            book: what takes the ways.
            ways: begins searches for those that were walked along.
            known: gives the ticket of a number if somebody holds it.
        """
        tickets = {}
        for number, values in self.tickets.items():
            ticket = known(number)
            if ticket is None:
                ticket = PathTicket(
                    number, values["start"], values["goal"], values["priority"], values["asked_at_frame"])
            for name, value in values.items():
                setattr(ticket, name, value)
            tickets[number] = ticket
        for way, numbers in self.ways:
            book.wait(way)
            for number in numbers:
                way.tickets.append(tickets[number])
                book.raise_priority(way, tickets[number].priority)
            path = way.tickets[0].path
            if path is not None:
                way.search = ways.begin_improving(way.at, way.goal, path)
                book.run(way)
                way.tickets[0].state, way.tickets[0].path = "running", way.search.best
        return tickets


def saved_tickets(tickets: Iterable[PathTicket], book: WayBook, ways: Any) -> State:
    """Return tickets and the ways that are asked for.

    Args:
        tickets: all that somebody holds.
        book: of their service.
        ways: has ``path_state`` and ``place_state``.
    """
    place = ways.place_state
    asked = sorted((*book.waiting.values(), *book.running.values()), key=lambda way: way.number)
    by_number = {ticket.number: ticket for way in asked for ticket in way.tickets}
    by_number.update((ticket.number, ticket) for ticket in tickets)
    return {
        "tickets": [
            {
                "number": one.number, "start": place(one.start), "goal": place(one.goal), "priority": one.priority,
                "asked_at_frame": one.asked_at_frame, "is_shared": one.is_shared, "is_near": one.is_near,
                "state": "waiting" if one.state == "running" else one.state, "why": one.why,
                "path": None if one.path is None else ways.path_state(one.path), "improves": one.improves,
            }
            for _, one in sorted(by_number.items())
        ],
        "ways": [
            {
                "number": one.number, "start": place(one.start), "goal": place(one.goal),
                "first_frame": one.first_frame, "asked_at_frame": one.asked_at_frame,
                "tickets": [ticket.number for ticket in one.tickets], "at": place(one.at) if one.improves else None,
            }
            for one in asked
        ],
    }


def loaded_tickets(fields: Fields, next_number: int, ways: Any) -> Loaded:
    """Return what a save holds; ``ways`` has ``path_of`` and ``place_of``.

    Raises:
        StateError: if it cannot be loaded; says where in it, and why.
    """
    tickets: dict[int, dict[str, Any]] = {}
    for one in fields.groups("tickets"):
        number = one.whole("number", maximum=next_number - 1)
        if number in tickets:
            one.refuse("number", f"stands for two tickets: {number}")
        tickets[number] = _ticket(one, ways)
    entries, waiting, ends = [], {number for number, one in tickets.items() if one["state"] == "waiting"}, set()
    for one in fields.groups("ways"):
        way = Way(
            one.whole("number", maximum=next_number - 1), *_ends(one, ways), one.whole("first_frame"),
            improves=one.anything("at") is not None)
        if way.improves:
            way.at = ways.place_of(one, "at")
        way.asked_at_frame = one.whole("asked_at_frame")
        numbers = one.wholes("tickets")
        if not numbers or len(set(numbers)) < len(numbers) or not waiting.issuperset(numbers):
            one.refuse("tickets", "must be tickets that wait for no other way, one at least")
        improving = [tickets[number]["improves"] for number in numbers]
        if improving != [True] if way.improves else any(improving):
            one.refuse("at", "must be there for the way of one ticket that improves, and for no other")
        if way.key in ends:
            one.refuse("start", "and 'goal' are those of another way, too")
        waiting -= set(numbers)
        ends.add(way.key)
        one.end()
        entries.append((way, numbers))
    if waiting:
        fields.refuse("ways", f"must have one for each ticket that waits, has none for {min(waiting)}")
    return Loaded(tickets, entries)


def _ticket(one: Fields, ways: Any) -> dict[str, Any]:
    start, goal = _ends(one, ways)
    priority = one.number("priority")
    if priority <= 0:
        one.refuse("priority", f"must be above 0, got {priority:g}")
    values = {
        "start": start, "goal": goal, "priority": priority,
        "asked_at_frame": one.whole("asked_at_frame"), "is_shared": one.flag("is_shared"),
        "is_near": one.flag("is_near"), "state": one.one_of("state", STATES), "why": one.text("why"),
        "path": None if one.anything("path") is None else ways.path_of(one.group("path")),
        "improves": one.flag("improves"),
    }
    state, path, improves = values["state"], values["path"], values["improves"]
    if improves and state == "waiting" and not (hasattr(ways, "begin_improving") and getattr(path, "is_found", True)):
        one.refuse("improves", "needs a grid, and a way that leads to its goal, if there is one")
    is_answered = state in get_args(PathState)
    if state == "running" or (
            getattr(path, "state", None) != state if is_answered else path is not None and not improves):
        one.refuse("state", f"is {state!r}, which does not go with its 'path'")
    one.end()
    return values


def _ends(one: Fields, ways: Any) -> tuple[Hashable, Hashable]:
    return ways.place_of(one, "start"), ways.place_of(one, "goal")
