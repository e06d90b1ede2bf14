"""Narrowcasting: groups within groups, and events that go no further than they should.

A squad, its battalion, its side; or the rooms of a house. An event is sent to
a group and reaches that group alone, all below it, all above it, or all that
hang together with it. Each member is in one group and listens through its
membership: moving it, or all of a group, is one call and no set-up.

Who hears an event is looked up when it is dispatched: a character that has
walked into another room meanwhile hears what is still queued there, and no
longer what is queued where it was.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import CycleError, named, shown
from ai_core.events.dispatcher import EventCounts, WhenLate
from ai_core.events.event import Event, EventTerms, new_event
from ai_core.events.event_log import EventLog
from ai_core.events.event_manager import EventManager
from ai_core.events.event_registry import EventRegistry, Listening
from ai_core.events.membership import Member, MemberListening, Reached
from ai_core.events.narrowcast_state import MemberBook, prepared_narrowcast, saved_narrowcast
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import State
from ai_core.saving.values import SavedValues
from ai_core.trace import Trace

__all__ = ["Group", "Member", "MemberListening", "Narrowcast"]


class Group:
    """A manager for a few: what is sent here is told here. Made by ``Narrowcast.add_group``."""

    def __init__(self, narrowcast: Narrowcast, name: str) -> None:
        self.name = name
        self.narrowcast = narrowcast
        self.registry = EventRegistry(narrowcast.declared, narrowcast.events.dispatcher.when_stopped)
        self.is_removed = False
        self._above: Group | None = None
        self._below: list[Group] = []
        self._members: dict[Member, None] = {}
        self._terms: dict[str, EventTerms] = {}

    @property
    def above(self) -> Group | None:
        """The group this one belongs to; None at the top."""
        return self._above

    @property
    def below(self) -> tuple[Group, ...]:
        """The groups that belong to this one, in the order they came."""
        return tuple(self._below)

    @property
    def members(self) -> tuple[Member, ...]:
        """Who is in this group itself, in the order they came."""
        return tuple(self._members)

    def send(self, code: str, *arguments: Any, reach: str = "own", **terms: Any) -> Event:
        """Queue an event for this group, as ``EventManager.send`` does.

        Args:
            code: what happened.
            arguments: handed to listeners as ``event.arguments``.
            reach: "own", "down", "up" or "all": this group alone, or also all
                below it, all above it, or every group up to and under the top.
                It is told group by group: this one (for "all" the top) first.
            terms: what ``EventManager.send`` takes.

        Raises:
            ValueError: if the reach is none of these, or the group was removed.

        Cost: O(log queue); its dispatch O(groups reached + listeners).
        """
        return self.narrowcast.events.send(code, *arguments, audience=self._reached(reach), **terms)

    def send_now(self, code: str, *arguments: Any, reach: str = "own", **terms: Any) -> Event:
        """Tell those it reaches before returning. Cost: O(groups reached + listeners)."""
        events = self.narrowcast.events
        if terms:
            return events.send_now(code, *arguments, audience=self._reached(reach), **terms)
        now = events.clock.now
        event = new_event(code, arguments, None, now, now.seconds, self._terms_of(reach))
        events.tell(event)
        return event

    def clear_sticky(self, code: str, *, reach: str = "own") -> None:
        """Forget what was sent here as sticky with this reach."""
        self.narrowcast.events.clear_sticky(code, self._reached(reach))

    def hand_over(self, to: Group) -> None:
        """Move all members into another group, in order. Cost: O(members)."""
        for member in self.members:
            member.move_to(to)

    def move_under(self, above: Group | None) -> None:
        """Put this group, with all below it, under another one; None for the top.

        Raises:
            CycleError: if that is this group or below it.
        """
        if above is not None:
            self.narrowcast.check_own(above)
            one: Group | None = above
            while one is not None:
                if one is self:
                    raise CycleError(
                        f"group {self.name!r} cannot be under {above.name!r}, which is part of it"
                    )
                one = one._above
        self.narrowcast.check_own(self)
        self.detach()
        self.attach(above)

    def remove(self) -> None:
        """Forget a group that is empty; events still queued for it are told to nobody.

        Raises:
            ValueError: if it has members, or groups below it.
        """
        self.narrowcast.check_own(self)
        if self._members or self._below:
            raise ValueError(
                f"group {self.name!r} has {len(self._members)} members and {len(self._below)}"
                " groups below it; hand them over or move them first"
            )
        self.detach()
        self.is_removed = True
        self.narrowcast.forget_group(self)

    def detach(self) -> None:
        """Leave the group above, if there is one."""
        if self._above is not None:
            self._above._below.remove(self)
            self._above = None

    def attach(self, above: Group | None) -> None:
        """Become the last of the groups below another one."""
        self._above = above
        if above is not None:
            above._below.append(self)

    def take_in(self, member: Member) -> None:
        """Count somebody as a member, the last one."""
        self._members[member] = None

    def let_out(self, member: Member) -> None:
        """Count somebody as a member no more."""
        del self._members[member]

    def with_all_below(self) -> list[Group]:
        """Return this group, then each below it with all below that."""
        found, waiting = [], [self]
        while waiting:
            group = waiting.pop()
            found.append(group)
            waiting.extend(reversed(group._below))
        return found

    def top(self) -> Group:
        """Return the group above all, this one if it is under none."""
        group = self
        while group._above is not None:
            group = group._above
        return group

    def _reached(self, reach: str) -> Reached:
        self.narrowcast.check_own(self)
        return Reached.of(self, reach)

    def _terms_of(self, reach: str) -> EventTerms:
        """Return the terms of an event that asks for nothing but its reach; made once."""
        terms = self._terms.get(reach) if isinstance(reach, str) and not self.is_removed else None
        if terms is None:
            terms = self._terms[reach] = EventTerms(audience=self._reached(reach))
        return terms

    def __repr__(self) -> str:
        return f"<Group {self.name} of {len(self._members)}>"


class Narrowcast:
    """Groups, their members, and the one queue their events go through.

    Args:
        clock: decides what is due.
        codes: the only codes there are; None allows any.
        faults: told of handlers that raise; None makes one that logs.
        trace: ``event_sent`` is called for each event as it is sent.
        values: writes arguments and senders into saves; None knows plain data.
        when_late: called with each event that ended after its deadline, and
            by how much (s).
    """

    def __init__(
        self, clock: Clock, *, codes: Iterable[str] | None = None,
        faults: FaultIsolation | None = None, trace: Trace | None = None,
        values: SavedValues | None = None, when_late: WhenLate | None = None,
    ) -> None:
        self.events = EventManager(
            clock, codes=codes, faults=faults, trace=trace, values=values, when_late=when_late,
            book=MemberBook(self),
        )
        self.declared = self.events.codes if codes is not None else None
        self.registrations = 0
        # Weak both ways: an owner holds its registration, so holding it would keep both for ever.
        self.owners: WeakKeyDictionary[Listening, ReferenceType[MemberListening]] = WeakKeyDictionary()
        self._groups: dict[str, Group] = {}
        self._members: dict[str, Member] = {}

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups, in the order they were added."""
        return tuple(self._groups.values())

    @property
    def members(self) -> tuple[Member, ...]:
        """All members, in the order they were added."""
        return tuple(self._members.values())

    @property
    def counts(self) -> EventCounts:
        """What was sent, dispatched, delivered and so on, in all groups."""
        return self.events.counts

    @property
    def queue_length(self) -> int:
        """Events still to be dispatched, in all groups."""
        return self.events.queue_length

    @property
    def log(self) -> EventLog | None:
        """Where events and deliveries are written down; None for nowhere."""
        return self.events.log

    @log.setter
    def log(self, log: EventLog | None) -> None:
        self.events.log = log

    def add_group(self, name: str, *, under: Group | None = None) -> Group:
        """Make a group, below another one or at the top.

        Raises:
            ValueError: if there is a group of this name.
        """
        _check_name("group", name, self._groups)
        if under is not None:
            self.check_own(under)
        group = self._groups[name] = Group(self, name)
        group.attach(under)
        return group

    def add_member(self, name: str, group: Group) -> Member:
        """Let somebody into a group; it hears what it listens to with ``Member.listen``.

        Raises:
            ValueError: if there is a member of this name.
        """
        _check_name("member", name, self._members)
        self.check_own(group)
        member = self._members[name] = Member(name, group)
        return member

    def group(self, name: str) -> Group:
        """Return a group by name; UnknownNameError if there is none."""
        return named("group", name, self._groups)

    def member(self, name: str) -> Member:
        """Return a member by name; UnknownNameError if there is none."""
        return named("member", name, self._members)

    def rename(self, names: Mapping[Group | Member, str]) -> None:
        """Call groups and members otherwise, in events from now on and in saves; their order stays.

        Raises:
            TypeError: if a name is no text, or empty; nobody is renamed then.
            ValueError: if two groups, or two members, would have one name; likewise.

        Cost: O(groups + members).
        """
        for one, name in names.items():
            _check_name("group" if isinstance(one, Group) else "member", name, ())
        groups = {names.get(one, one.name): one for one in self.groups}
        members = {names.get(one, one.name): one for one in self.members}
        if len(groups) < len(self._groups) or len(members) < len(self._members):
            raise ValueError("two would have one name; give each its own")
        self._groups, self._members = groups, members
        for one, name in names.items():
            one.name = name

    def is_heard(self, code: str) -> bool:
        """Return whether anybody in any group listens to a code.

        Raises:
            UnknownNameError: if the code is not one of those declared.

        Cost: O(groups).
        """
        return self.events.is_heard(code) or any(group.registry.listeners(code) for group in self._groups.values())

    def advance(self, budget: Budget) -> None:
        """Dispatch what is due in all groups, most urgent first; as ``EventManager.advance``."""
        self.events.advance(budget)

    def save_state(self) -> State:
        """Return groups, membership and events, as plain data.

        Raises:
            StateError: if an argument or a sender is neither plain nor named.
            RuntimeError: if called from inside a handler.
        """
        return saved_narrowcast(self)

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what puts groups, members and events back.

        Groups, members and their listening are found by name and order; those
        that are only here are left as they are.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
            RuntimeError: if called from inside a handler.
        """
        return prepared_narrowcast(self, state)

    def check_own(self, group: Group) -> None:
        """Raise unless a group belongs here."""
        if not isinstance(group, Group):
            raise TypeError(f"a group must be one made by add_group, got {shown(group)}")
        if group.is_removed:
            raise ValueError(f"group {group.name!r} was removed; use one that is left")
        if group.narrowcast is not self:
            raise ValueError(f"group {group.name!r} belongs to another narrowcast; use one made here")

    def forget_group(self, group: Group) -> None:
        """Know a group no more."""
        del self._groups[group.name]

    def removed_group(self) -> Group:
        """Return a group that nobody is in, or can be."""
        group = Group(self, "removed")
        group.is_removed = True
        return group

    def forget_member(self, member: Member) -> None:
        """Know a member no more."""
        del self._members[member.name]


def _check_name(kind: str, name: object, taken: Iterable[str]) -> None:
    if not isinstance(name, str) or not name:
        raise TypeError(f"the name of a {kind} must be a text that is not empty, got {shown(name)}")
    if name in taken:
        raise ValueError(f"there is a {kind} named {name!r} already; names tell them apart in saves")
