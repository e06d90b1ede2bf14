"""Narrowcasting: a hierarchy of groups, and events that reach only part of it.

Groups are, for example, a squad, its battalion and its side, or the rooms of a
house. An event is sent to a group and reaches that group alone, all groups below
it, all groups above it, or the whole hierarchy. Each member is in one group and
listens through its membership: moving a member, or all members of a group, is one
call and needs no set-up.

Listeners are looked up when an event is dispatched: a character that has moved to
another room receives the events still queued there, and no longer those queued
for the room it left.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from ai_core.budget import Budget
from ai_core.clock import Clock
from ai_core.errors import CycleError, checked_name, named, shown
from ai_core.events.event import (
    REMEMBERED,
    Codes,
    Event,
    EventRegistry,
    Handler,
    KindCount,
    ListenerFilter,
    ListenerKind,
    Place,
    Predicate,
    Subscription,
    by_priority,
    handler_name,
    kind_count_state,
    rank_of,
)
from ai_core.events.event_log import EventLog
from ai_core.events.event_manager import (
    MAX_QUEUED,
    EventCounts,
    EventManager,
    ListenerBook,
    ListenerReference,
    WhenLate,
)
from ai_core.faults import FaultIsolation
from ai_core.saving.declared_state import DeclaredState, Inner, Refuse, Saveable
from ai_core.saving.kinds import ListOf, MapOf, Named, OneOf, Optional, Record, Row, Whole
from ai_core.saving.values import SavedValues
from ai_core.trace import Trace

MEMBER_KINDS = 64
"""Kinds of listeners of a member that are counted although none of them listens or can listen again (count).

Without a limit, names that are never used again would stay in memory and in each save."""

REACHES = ("own", "down", "up", "all")
"""The groups that an event reaches, from the group it is sent to."""


class GroupRecipients(NamedTuple):
    """The audience of an event sent to a group."""

    group: Group
    reach: str

    @classmethod
    def of(cls, group: Group, reach: object) -> GroupRecipients:
        """Return the audience of a group with a checked reach."""
        if not isinstance(reach, str) or reach not in REACHES:
            raise ValueError(f"reach must be one of {', '.join(REACHES)}, got {shown(reach)}")
        return cls(group, reach)

    @property
    def is_removed(self) -> bool:
        """True once its group was removed: nobody can be reached."""
        return self.group.is_removed

    def groups(self) -> list[Group]:
        """Return the groups reached now, in order of delivery."""
        if self.reach == "own":
            return [self.group]
        if self.reach == "down":
            return self.group.with_all_below()
        if self.reach == "all":
            return self.group.top().with_all_below()
        found, above = [self.group], self.group.above
        while above is not None:
            found.append(above)
            above = above.above
        return found

    def listeners(self, code: str) -> tuple[Subscription, ...]:
        """Return the present listeners to ``code`` in these groups, by priority; of equal ones group by group."""
        if self.reach == "own":
            return self.group.registry.listeners(code)
        return by_priority([group.registry.listeners(code) for group in self.groups()])

    def includes(self, registry: EventRegistry) -> bool:
        """Return whether the listeners of a registry are reached now."""
        return any(group.registry is registry for group in self.groups())

    def plain(self) -> Any:
        """Return the reference to this audience in a save; the name of a removed group is None."""
        return [None if self.group.is_removed else self.group.name, self.reach]


class MemberSubscription:
    """The handle of a member's registration: ``stop()`` ends it, in whatever group the member is.

    ``kind`` is the codes and the name in saves, ``number`` counts earlier registrations of the kind by the member, and
    ``place`` those of all members. One that ``returns`` is restored by loading after it ended: a ``once`` listener,
    or one that was stopped by loading.
    """

    __slots__ = (
        "__weakref__", "_is_checked", "_priority", "has_stopped", "kind", "listening", "member", "number", "place",
        "returns")

    def __init__(
        self, member: GroupMembership, codes: Codes, handler: Handler, wanted: ListenerFilter, name: str | None,
        priority: int, saved_as: str | None,
    ) -> None:
        self.member = member
        self.returns = wanted.is_once
        self._priority = priority
        self._is_checked = self.has_stopped = False
        self.place = member.narrowcast.next_place()
        self.listening = member.narrowcast.events.register(
            member.group.registry, codes, handler, wanted, name=handler_name(handler) if name is None else name,
            rank=rank_of(priority, self.place))
        self.kind: ListenerKind = self.listening.codes, self.listening.name if saved_as is None else saved_as
        self.number = member.next_number(self.kind)

    @property
    def is_active(self) -> bool:
        """True until ``stop``, or until the delivery to a ``once`` listener."""
        return self.listening.is_active

    def stop(self) -> None:
        """Stop listening at once. Stopping twice is harmless."""
        self.has_stopped = True
        self.listening.stop()

    @property
    def is_remembered(self) -> bool:
        """True if loading a save can restore it."""
        return self in self.member.used_up

    def interrupt(self) -> None:
        """Stop listening until a save in which it listens is loaded, or ``listen_again``."""
        self.returns = True
        self.listening.stop()

    def move(self, place: int | None = None) -> None:
        """Listen in the member's present group, instead of the previous one; without a place it comes last."""
        self.place = self.member.narrowcast.next_place() if place is None else place
        if not self.is_active:
            self.listening.registry.put_back(self.listening, self.kind[0])
        if self.member.narrowcast.events.is_broadcasting:
            self.check_audience()
        self.listening.registry.transfer(
            self.listening, self.member.group.registry, rank_of(self._priority, self.place))

    def check_audience(self) -> None:
        """Skip events that do not reach the member's group: a running broadcast may have begun elsewhere."""
        if self._is_checked:
            return
        self._is_checked = True
        listening, handler, member = self.listening, self.listening.handler, self.member

        def notify(event: Event) -> object:
            audience = event.terms.audience
            if audience is not None and audience.includes(member.group.registry):
                return handler(event)
            member.narrowcast.events.skip(event)
            return None

        if listening.call is handler:
            listening.call = notify
        listening.handler = notify


class GroupMembership:
    """A member, which is in one group at a time. Made by ``Narrowcast.add_member``."""

    def __init__(self, name: str, group: Group) -> None:
        self.name = name
        self.narrowcast: Narrowcast = group.narrowcast
        self.is_removed = False
        self._times: dict[ListenerKind, int] = {}  # registrations; the kind that was added to last is the last
        self._group = group
        self._registered: list[MemberSubscription] = []  # in order of registration
        self._tidy_at = 16
        group._members[self] = None

    @property
    def group(self) -> Group:
        """The present group."""
        return self._group

    @property
    def listenings(self) -> tuple[MemberSubscription, ...]:
        """The active subscriptions, in order of registration."""
        return tuple([one for one in self._registered if one.is_active])

    @property
    def used_up(self) -> tuple[MemberSubscription, ...]:
        """The latest that ended by their delivery or by loading; loading an earlier save restores them."""
        used = [one for one in self._registered if one.returns and not one.is_active and not one.has_stopped]
        return tuple(used[-REMEMBERED:])

    def listen(
        self, codes: Codes, handler: Handler, *, name: str | None = None, where: Predicate | None = None,
        near: tuple[Place, float] | None = None, priority: int = 0, once: bool = False, weak: bool = False,
        saved_as: str | None = None,
    ) -> MemberSubscription:
        """Call ``handler(event)`` for events of the member's group at the time of dispatch.

        Args and Raises: as ``EventManager.listen``; ``saved_as`` is the name in saves, None for ``name``. Of an event
        that reaches several groups, listeners of equal priority are called group by group.

        Cost: O(codes).
        """
        self._check_present()
        wanted = ListenerFilter.of(handler, where, near, once, weak)
        made = MemberSubscription(self, codes, handler, wanted, name, priority, saved_as)
        self._registered.append(made)
        if len(self._registered) >= self._tidy_at:
            self._tidy()
        self.narrowcast.events.deliver_sticky(made.listening, self._group.registry)
        return made

    def send(self, code: str, *arguments: Any, reach: str = "own", **terms: Any) -> Event:
        """Queue an event for the member's group, with the member's name as sender; see ``Group.send``."""
        self._check_present()
        return self._group.send(code, *arguments, reach=reach, sender=self.name, **terms)

    def move_to(self, group: Group) -> None:
        """Move the member to another group; it receives that group's events from now on.

        A running broadcast is still delivered if it reaches the new group, too.
        Sticky events of the new group are delivered at once, except those that the
        previous group had, too.

        Cost: O(listenings).
        """
        self._check_present()
        self.narrowcast.check_own(group)
        if group is self._group:
            return
        before = self._group.registry
        self.put_into(group)
        for one in self.listenings:
            one.move()
        for one in self.listenings:
            if self._group is group:  # otherwise a handler has moved it again
                self.narrowcast.events.deliver_sticky(one.listening, group.registry, before)

    def leave(self) -> None:
        """Remove the member and stop all its subscriptions. Leaving twice is harmless."""
        if not self.is_removed:
            for one in self.listenings:
                one.stop()
            self._registered.clear()  # releases the handlers at once
            del self._group._members[self]
            self.is_removed = True
            del self.narrowcast._members[self.name]

    def listen_again(self, one: MemberSubscription) -> bool:
        """Register a used ``once`` listener again; return False if it is not among the latest."""
        if not one.is_remembered:
            return False
        one.move()
        self.narrowcast.events.deliver_sticky(one.listening, self._group.registry)
        return True

    def next_number(self, kind: ListenerKind) -> int:
        """Return the number of earlier registrations of a kind, and count one more."""
        number = self._times.pop(kind, 0)
        self._times[kind] = number + 1
        return number

    @property
    def counts(self) -> list[KindCount]:
        """The registrations of each kind, and the places of those that listen by number."""
        places: dict[ListenerKind, dict[int, int]] = {kind: {} for kind in self._times}
        for one in self.listenings:
            places[one.kind][one.number] = one.place
        return [KindCount(*kind, times, places[kind]) for kind, times in self._times.items()]

    def matched(
        self, counts: Iterable[KindCount]
    ) -> list[tuple[KindCount, dict[int, MemberSubscription], list[MemberSubscription]]]:
        """Return for each saved count the listeners here by saved number, and those that are to stop."""
        here: dict[ListenerKind, dict[int, MemberSubscription]] = defaultdict(dict)
        for one in (*self.listenings, *self.used_up):
            here[one.kind][one.number] = one
        return [(count, *count.matched(here[count.kind])) for count in counts]

    def restore(self, counts: Iterable[KindCount]) -> None:
        """Let those listen that did in a save, at their places there; those that are not in it come last."""
        places: dict[MemberSubscription, int | None] = dict.fromkeys(self.listenings)
        for count, found, stopping in self.matched(counts):
            for one in stopping:
                one.interrupt()
                del places[one]
            for number, one in found.items():
                one.number = number
                places[one] = cast("dict[int, int]", count.waiting)[number]
            self._times[count.kind] = max(count.times, self._times.pop(count.kind, 0))
        for one, place in places.items():
            one.move(place)

    def _tidy(self) -> None:
        """Drop stopped subscriptions that cannot come back, and unused kinds that were added to longest ago."""
        kept = {*self.listenings, *self.used_up}
        self._registered = [one for one in self._registered if one in kept]
        self._tidy_at = max(16, 2 * len(kept))
        in_use = {one.kind for one in kept}
        for kind in [one for one in self._times if one not in in_use][:-MEMBER_KINDS]:
            del self._times[kind]

    def put_into(self, group: Group) -> None:
        """Become the last member of another group."""
        del self._group._members[self]
        self._group = group
        group._members[self] = None

    def _check_present(self) -> None:
        if self.is_removed:
            raise ValueError(f"member {self.name!r} has left; add it again")

    def __repr__(self) -> str:
        return f"<Member {self.name} of {self._group.name}>"


GROUP_STATE = Named(lambda narrowcast: narrowcast._groups, "group", name=attrgetter("name"))
"""How a group is saved: by its name."""


MEMBER_KIND_STATE = kind_count_state(MapOf(Whole(), key=Whole()))
"""How the listeners of a kind of a member are saved."""


class MemberBook(ListenerBook):
    """Refers to listeners in saves by member, codes, name and number among equal ones."""

    def __init__(self, narrowcast: Narrowcast) -> None:
        self._narrowcast = narrowcast

    def references(self) -> dict[Subscription, ListenerReference]:
        """Return the reference of each active listener."""
        return {
            one.listening: (member.name, *one.kind, one.number)
            for member in self._narrowcast.members for one in member.listenings}

    def known(self, values: SimpleNamespace | None = None) -> Mapping[ListenerReference, MemberSubscription]:
        """Return the subscriptions that are active, or can be restored by loading, by reference."""
        found: dict[ListenerReference, MemberSubscription] = {
            (member.name, *one.kind, one.number): one
            for member in self._narrowcast.members for one in (*member.listenings, *member.used_up)}
        for member, _, counts in () if values is None else values.within.members:
            for count, matched, _ in member.matched(counts):
                found |= {(member.name, *count.kind, number): one for number, one in matched.items()}
        return found

    def listener(self, owner: MemberSubscription, *, is_under_way: bool) -> Subscription:
        """Return the listener of a subscription; for a running broadcast it checks the audience."""
        if is_under_way:
            owner.check_audience()
        return owner.listening

    def audience(self, plain: object, place: str) -> GroupRecipients:
        """Return the audience of a reference; that of a removed group reaches no listener."""
        group, reach = AUDIENCE_STATE.read(plain, place, self._narrowcast)
        return GroupRecipients(self._narrowcast.removed_group() if group is None else group, reach)


AUDIENCE_STATE = Row(GroupRecipients, Optional(GROUP_STATE), OneOf(REACHES))
"""How the audience of an event is saved."""


class AttachedGroup(NamedTuple):
    """A group, and the group above it, in a save."""

    group: Group
    above: Group | None


class MembershipState(NamedTuple):
    """A membership in a save."""

    member: GroupMembership
    group: Group
    kinds: list[KindCount]
    """Its registrations; the numbers that listen have places: earlier registrations of all members."""

    def put(self) -> None:
        """Put the member into its saved group, with the listeners that it had."""
        self.member.put_into(self.group)
        self.member.restore(self.kinds)


class Group:
    """A group of members: its events are delivered to them. Made by ``Narrowcast.add_group``."""

    def __init__(self, narrowcast: Narrowcast, name: str) -> None:
        self.name = name
        self.narrowcast = narrowcast
        self.registry = EventRegistry(narrowcast.declared, narrowcast.events._when_stopped)
        self.is_removed = False
        self._above: Group | None = None
        self._below: list[Group] = []
        self._members: dict[GroupMembership, None] = {}

    @property
    def above(self) -> Group | None:
        """The group above this one; None at the top."""
        return self._above

    @property
    def below(self) -> tuple[Group, ...]:
        """The groups directly below this one, in order of attachment."""
        return tuple(self._below)

    @property
    def members(self) -> tuple[GroupMembership, ...]:
        """The members of this group itself, in order of arrival."""
        return tuple(self._members)

    def send(self, code: str, *arguments: Any, reach: str = "own", **terms: Any) -> Event:
        """Queue an event for this group, like ``EventManager.send``.

        Args:
            code: name of the kind of event.
            arguments: the payload; listeners read ``event.arguments``.
            reach: "own": this group alone; "down": with all groups below it; "up":
                with all groups above it; "all": the whole hierarchy under the top
                group. Delivery is group by group, beginning with this group (for
                "all" with the top group).
            terms: further arguments of ``EventManager.send``.

        Raises:
            ValueError: if ``reach`` is none of these, or the group was removed.

        Cost: O(log queue); its dispatch O(groups reached + listeners).
        """
        return self.narrowcast.events.send(code, *arguments, audience=self._reached(reach), **terms)

    def send_now(self, code: str, *arguments: Any, reach: str = "own", **terms: Any) -> Event:
        """Deliver an event to the listeners reached before returning. Cost: O(groups reached + listeners)."""
        return self.narrowcast.events.send_now(code, *arguments, audience=self._reached(reach), **terms)

    def clear_sticky(self, code: str, *, reach: str = "own") -> None:
        """Remove the sticky event that was sent to this group with this reach."""
        self.narrowcast.events.clear_sticky(code, self._reached(reach))

    def transfer_listeners(self, to: Group) -> None:
        """Move all members into another group, in order. Cost: O(members)."""
        for member in self.members:
            member.move_to(to)

    def move_under(self, above: Group | None) -> None:
        """Move this group, with all groups below it, under another group; None for the top.

        A running broadcast is still delivered to those whom it reaches afterwards, too.

        Raises:
            CycleError: if ``above`` is this group or below it.

        Cost: O(1); in a broadcast O(listeners of the hierarchy).
        """
        if above is not None:
            self.narrowcast.check_own(above)
            one: Group | None = above
            while one is not None:
                if one is self:
                    raise CycleError(
                        f"group {self.name!r} cannot be moved under {above.name!r}, which is part of it;"
                        f" move {above.name!r} out of it first")
                one = one._above
        self.narrowcast.check_own(self)
        if self.narrowcast.events.is_broadcasting:
            for group in self.top().with_all_below():
                for member in group._members:
                    for listening in member.listenings:
                        listening.check_audience()
        self.detach()
        self.attach(above)

    def remove(self) -> None:
        """Remove an empty group and its sticky events; events still queued for it reach no listener.

        Raises:
            ValueError: if it has members, or groups below it.
        """
        self.narrowcast.check_own(self)
        if self._members or self._below:
            raise ValueError(
                f"group {self.name!r} has {len(self._members)} members and {len(self._below)}"
                " groups below it; move them first, with transfer_listeners and move_under")
        self.detach()
        self.is_removed = True
        del self.narrowcast._groups[self.name]
        self.narrowcast.events.forget_removed()

    def detach(self) -> None:
        """Detach this group from the group above, if there is one."""
        if self._above is not None:
            self._above._below.remove(self)
            self._above = None

    def attach(self, above: Group | None) -> None:
        """Attach this group as the last of the groups below another one."""
        self._above = above
        if above is not None:
            above._below.append(self)

    def with_all_below(self) -> list[Group]:
        """Return this group and all groups below it, depth first."""
        found, waiting = [], [self]
        while waiting:
            group = waiting.pop()
            found.append(group)
            waiting.extend(reversed(group._below))
        return found

    def top(self) -> Group:
        """Return the top group of the hierarchy, or this group if there is none above it."""
        group = self
        while group._above is not None:
            group = group._above
        return group

    def _reached(self, reach: str) -> GroupRecipients:
        self.narrowcast.check_own(self)
        return GroupRecipients.of(self, reach)

    def __repr__(self) -> str:
        return f"<Group {self.name} of {len(self._members)}>"


class Narrowcast(Saveable):
    """Groups, their members, and a common queue of their events.

    A save refers to groups and members by name, which must exist before loading, and to their
    subscriptions by codes and name, by number only among equal ones; these must exist if they
    have a delivery to come or have failed. Those that are not in the save come last. Saving and
    loading inside a handler raises RuntimeError.

    Args:
        clock: the game clock; decides which events are due.
        codes: the declared codes; None allows any code.
        faults: receives the exceptions of handlers; None makes one that logs.
        trace: its ``event_sent`` hook is called for each event as it is sent.
        values: writes arguments and senders into saves; None supports plain data only.
        when_late: called with each event whose delivery ended after its
            deadline, and the delay (s).
        max_queued: largest number of events in the queue, as for EventManager.
    """

    SHOWN = ("members", "groups", "queue_length")

    STATE = DeclaredState(
        groups=ListOf(
            Record(AttachedGroup, group=GROUP_STATE, above=Optional(GROUP_STATE)),
            unique=attrgetter("group"), at="_hierarchy"),
        registrations=Whole(),
        members=ListOf(
            Record(
                MembershipState,
                member=Named(lambda narrowcast: narrowcast._members, "member", name=attrgetter("name")),
                group=GROUP_STATE,
                kinds=ListOf(MEMBER_KIND_STATE, unique=attrgetter("kind"))),
            unique=attrgetter("member"), at="_memberships"),
        events=Inner())

    def __init__(
        self, clock: Clock, *, codes: Iterable[str] | None = None, faults: FaultIsolation | None = None,
        trace: Trace | None = None, values: SavedValues | None = None, when_late: WhenLate | None = None,
        max_queued: int = MAX_QUEUED,
    ) -> None:
        self.events = EventManager(
            clock, codes=codes, faults=faults, trace=trace, values=values, when_late=when_late,
            book=MemberBook(self), max_queued=max_queued)
        self.declared = self.events.codes if codes is not None else None
        self.registrations = 0
        self._groups: dict[str, Group] = {}
        self._members: dict[str, GroupMembership] = {}

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups, in the order they were added."""
        return tuple(self._groups.values())

    @property
    def members(self) -> tuple[GroupMembership, ...]:
        """All members, in the order they were added."""
        return tuple(self._members.values())

    @property
    def counts(self) -> EventCounts:
        """Totals of all groups since the start: events sent, dispatched, delivered and so on."""
        return self.events.counts

    @property
    def queue_length(self) -> int:
        """Events not dispatched completely, in all groups (count)."""
        return self.events.queue_length

    @property
    def log(self) -> EventLog | None:
        """The log of events and deliveries; None for no log."""
        return self.events.log

    @log.setter
    def log(self, log: EventLog | None) -> None:
        self.events.log = log

    def add_group(self, name: str, *, under: Group | None = None) -> Group:
        """Make a group, below another group or at the top.

        Raises:
            ValueError: if the name is in use.
        """
        _check_name("group", name, self._groups)
        if under is not None:
            self.check_own(under)
        group = self._groups[name] = Group(self, name)
        group.attach(under)
        return group

    def add_member(self, name: str, group: Group) -> GroupMembership:
        """Add a member to a group; it listens with ``GroupMembership.listen``.

        Raises:
            ValueError: if the name is in use.
        """
        _check_name("member", name, self._members)
        self.check_own(group)
        member = self._members[name] = GroupMembership(name, group)
        return member

    def group(self, name: str) -> Group:
        """Return a group by name; raise UnknownNameError if there is none."""
        return named("group", name, self._groups)

    def member(self, name: str) -> GroupMembership:
        """Return a member by name; raise UnknownNameError if there is none."""
        return named("member", name, self._members)

    def rename(self, names: Mapping[Group | GroupMembership, str]) -> None:
        """Rename groups and members, for later events and for saves; their order stays.

        Raises:
            TypeError: if a name is not a non-empty string; nothing is renamed then.
            ValueError: if two groups, or two members, would have the same name; nothing is
                renamed then.

        Cost: O(groups + members).
        """
        for one, name in names.items():
            _check_name("group" if isinstance(one, Group) else "member", name, ())
        groups = {names.get(one, one.name): one for one in self.groups}
        members = {names.get(one, one.name): one for one in self.members}
        if len(groups) < len(self._groups) or len(members) < len(self._members):
            raise ValueError("two groups or two members would have the same name; use unique names")
        self._groups, self._members = groups, members
        for one, name in names.items():
            one.name = name

    def has_listeners(self, code: str) -> bool:
        """Return whether a code has a listener in any group.

        Raises:
            UnknownNameError: if the code is not declared.

        Cost: O(groups).
        """
        return self.events.has_listeners(code) or any(group.registry.listeners(code) for group in self._groups.values())

    def advance(self, budget: Budget) -> None:
        """Dispatch the due events of all groups, most urgent first; see ``EventManager.advance``."""
        self.events.advance(budget)

    def check_own(self, group: Group) -> None:
        """Raise an error unless a group belongs to this narrowcast."""
        if not isinstance(group, Group):
            raise TypeError(f"group must be a Group made by add_group, got {shown(group)}")
        if group.is_removed:
            raise ValueError(f"group {group.name!r} was removed; use a group that still exists")
        if group.narrowcast is not self:
            raise ValueError(f"group {group.name!r} belongs to another narrowcast; use a group of this one")

    def removed_group(self) -> Group:
        """Return a group without members, to which no member can be added."""
        group = Group(self, "removed")
        group.is_removed = True
        return group

    def next_place(self) -> int:
        """Return the number of earlier registrations, and count one more."""
        self.registrations += 1
        return self.registrations - 1

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        attached: set[Group | None] = {None}
        for index, (group, above) in enumerate(values.groups):
            if above not in attached:
                refuse(f"groups[{index}].above",
                       "must be an earlier group of the list, so that no group contains itself")
            attached.add(group)

    def _check_at_rest(self) -> None:
        self.events._check_at_rest()

    @property
    def _hierarchy(self) -> list[AttachedGroup]:
        tops = [group for group in self.groups if group.above is None]
        return [AttachedGroup(one, one.above) for top in tops for one in top.with_all_below()]

    @_hierarchy.setter
    def _hierarchy(self, hierarchy: list[AttachedGroup]) -> None:
        for group, _ in hierarchy:
            group.detach()
        for group, above in hierarchy:
            group.attach(above)

    @property
    def _memberships(self) -> list[MembershipState]:
        return [
            MembershipState(member, group, member.counts)
            for group, _ in self._hierarchy for member in group.members]

    @_memberships.setter
    def _memberships(self, memberships: list[MembershipState]) -> None:
        for one in memberships:
            one.put()
        saved = {one.member for one in memberships}
        for member in self.members:
            if member not in saved:
                member.restore(())


def _check_name(kind: str, name: str, taken: Iterable[str]) -> None:
    checked_name(f"the name of a {kind}", name)
    if name in taken:
        raise ValueError(f"a {kind} named {name!r} already exists; saves need unique names")


__all__ = [
    "REACHES", "Group", "GroupMembership", "GroupRecipients", "MemberBook", "MemberSubscription", "Narrowcast"]
