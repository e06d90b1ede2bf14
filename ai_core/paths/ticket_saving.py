"""Saving and loading of path tickets and the searches they wait for.

The progress of a search is not saved: waiting tickets wait again in the same order, and their searches
restart; an improving search continues at once with the path of its mover. The cache of found paths
is not saved, but the paths of tickets are.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple, get_args

from ai_core.paths.path import PathState
from ai_core.paths.path_requests import PathJob, PathJobs, PathTicket, TicketState
from ai_core.saving.fields import Fields, State

__all__ = ["VERSION", "LoadedTickets", "loaded_tickets", "saved_tickets"]

VERSION = 1
"""Version of the saved format (no unit); increased with every change of it."""

STATES = get_args(TicketState)


class LoadedTickets(NamedTuple):
    """Contents of a save.

    Attributes:
        tickets: attribute values of each ticket, by number; not yet applied.
        ways: requested searches, each with the numbers of its tickets.
    """

    tickets: dict[int, dict[str, Any]]
    ways: list[tuple[PathJob, list[int]]]

    def enter(self, book: PathJobs, ways: Any, known: Callable[[int], PathTicket | None]) -> dict[int, PathTicket]:
        """Apply the save to an empty table and to tickets; return the tickets by number.

        Args:
            book: empty table for the searches.
            ways: provider that starts the improving searches.
            known: returns the referenced ticket with a number, or None.
        """
        tickets = {}
        for number, values in self.tickets.items():
            ticket = known(number)
            if ticket is None:
                ticket = PathTicket(
                    number, values["start"], values["goal"], values["priority"], values["requested_at_frame"])
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


def saved_tickets(tickets: Iterable[PathTicket], book: PathJobs, ways: Any) -> State:
    """Return tickets and requested searches as plain data.

    Args:
        tickets: all referenced tickets.
        book: table of searches of the service.
        ways: provider with ``path_state`` and ``place_state``.
    """
    place = ways.place_state
    asked = sorted((*book.waiting.values(), *book.running.values()), key=lambda way: way.number)
    by_number = {ticket.number: ticket for way in asked for ticket in way.tickets}
    by_number.update((ticket.number, ticket) for ticket in tickets)
    return {
        "tickets": [
            {
                "number": one.number, "start": place(one.start), "goal": place(one.goal), "priority": one.priority,
                "requested_at_frame": one.requested_at_frame, "is_shared": one.is_shared, "is_near": one.is_near,
                "state": "waiting" if one.state == "running" else one.state, "why": one.why,
                "path": None if one.path is None else ways.path_state(one.path), "improves": one.improves,
            }
            for _, one in sorted(by_number.items())
        ],
        "ways": [
            {
                "number": one.number, "start": place(one.start), "goal": place(one.goal),
                "first_frame": one.first_frame, "requested_at_frame": one.requested_at_frame,
                "tickets": [ticket.number for ticket in one.tickets], "at": place(one.at) if one.improves else None,
            }
            for one in asked
        ],
    }


def loaded_tickets(fields: Fields, next_number: int, ways: Any) -> LoadedTickets:
    """Return the checked contents of a save; ``ways`` is a provider with ``path_of`` and ``place_of``.

    Raises:
        StateError: if the save is invalid; the message names the field and the reason.
    """
    tickets: dict[int, dict[str, Any]] = {}
    for one in fields.groups("tickets"):
        number = one.whole("number", maximum=next_number - 1)
        if number in tickets:
            one.refuse("number", f"must be unique, got {number} twice")
        tickets[number] = _ticket(one, ways)
    entries, waiting, ends = [], {number for number, one in tickets.items() if one["state"] == "waiting"}, set()
    for one in fields.groups("ways"):
        way = PathJob(
            one.whole("number", maximum=next_number - 1), *_ends(one, ways), one.whole("first_frame"),
            improves=one.anything("at") is not None)
        if way.improves:
            way.at = ways.place_of(one, "at")
        way.requested_at_frame = one.whole("requested_at_frame")
        numbers = one.wholes("tickets")
        if not numbers or len(set(numbers)) < len(numbers) or not waiting.issuperset(numbers):
            one.refuse("tickets", "must be one or more waiting tickets that belong to no other entry")
        improving = [tickets[number]["improves"] for number in numbers]
        if improving != [True] if way.improves else any(improving):
            one.refuse("at", "must be set exactly for the entry of a single improving ticket")
        if way.key in ends:
            one.refuse("start", "and 'goal' must be unique, got those of another entry")
        waiting -= set(numbers)
        ends.add(way.key)
        one.end()
        entries.append((way, numbers))
    if waiting:
        fields.refuse("ways", f"must have an entry for each waiting ticket, got none for {min(waiting)}")
    return LoadedTickets(tickets, entries)


def _ticket(one: Fields, ways: Any) -> dict[str, Any]:
    start, goal = _ends(one, ways)
    priority = one.number("priority")
    if priority <= 0:
        one.refuse("priority", f"must be above 0, got {priority:g}")
    values = {
        "start": start, "goal": goal, "priority": priority,
        "requested_at_frame": one.whole("requested_at_frame"), "is_shared": one.flag("is_shared"),
        "is_near": one.flag("is_near"), "state": one.one_of("state", STATES), "why": one.text("why"),
        "path": None if one.anything("path") is None else ways.path_of(one.group("path")),
        "improves": one.flag("improves"),
    }
    state, path, improves = values["state"], values["path"], values["improves"]
    if improves and state == "waiting" and not (hasattr(ways, "begin_improving") and getattr(path, "is_found", True)):
        one.refuse("improves", "must be False unless the ground is a grid and the path, if any, leads to the goal")
    is_answered = state in get_args(PathState)
    if state == "running" or (
            getattr(path, "state", None) != state if is_answered else path is not None and not improves):
        one.refuse("state", f"must match 'path', got {state!r}")
    one.end()
    return values


def _ends(one: Fields, ways: Any) -> tuple[Hashable, Hashable]:
    return ways.place_of(one, "start"), ways.place_of(one, "goal")
