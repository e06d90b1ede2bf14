"""A member of a narrowcast: what it listens to goes with it from group to group."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from ai_core.errors import shown
from ai_core.events.event import Event, Handler
from ai_core.events.event_registry import Codes, EventRegistry, Listening, handler_name, rank_of
from ai_core.events.interest import Interest, Place, Predicate, interest_of
from ai_core.events.once_listeners import REMEMBERED
from ai_core.faults import NO_FAILURES
from ai_core.saving.fields import State

if TYPE_CHECKING:
    from ai_core.events.narrowcast import Group, Narrowcast

__all__ = ["REACHES", "Member", "MemberListening", "Reached"]

REACHES = ("own", "down", "up", "all")
"""How far an event goes from the group it is sent to."""


class Reached(NamedTuple):
    """The audience of an event sent to a group."""

    group: Group
    reach: str

    @classmethod
    def of(cls, group: Group, reach: object) -> Reached:
        """Return an audience whose reach is checked."""
        if not isinstance(reach, str) or reach not in REACHES:
            raise ValueError(f"reach must be {', '.join(REACHES)}, got {shown(reach)}")
        return cls(group, reach)

    def groups(self) -> list[Group]:
        """Return the groups it reaches now, in the order they are told."""
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

    def listeners(self, code: str) -> tuple[Listening, ...]:
        """Return who listens there to ``code`` now, group by group."""
        if self.reach == "own":
            return self.group.registry.listeners(code)
        return tuple([one for group in self.groups() for one in group.registry.listeners(code)])

    def includes(self, registry: EventRegistry) -> bool:
        """Return whether those of a registry are reached now."""
        return any(group.registry is registry for group in self.groups())

    def plain(self) -> State:
        """Return what a save calls it; a group that was removed has no name."""
        return {"group": None if self.group.is_removed else self.group.name, "reach": self.reach}


class MemberListening:
    """The handle of one registration of a member: ``stop()`` ends it, wherever it is.

    Attributes:
        member: whose it is.
        number: how many times the member had listened before.
        place: how many registrations of anybody came before this one.
        listening: the registration in the group it is in now.
    """

    __slots__ = (
        "__weakref__", "_codes", "_handler", "_has_stopped", "_interest", "_name", "_priority",
        "listening", "member", "number", "place",
    )

    def __init__(
        self, member: Member, number: int, codes: Codes, handler: Handler, interest: Interest,
        name: str | None, priority: int,
    ) -> None:
        self.member = member
        self._codes = codes
        self._handler = handler if interest.weak is None else _held_elsewhere
        self._interest = interest
        self._name = handler_name(handler) if name is None else name
        self._priority = priority
        self.number = number
        self._has_stopped = False
        self.listening = self._registered(None)
        self._codes = self.listening.codes  # what was given may be a list of the game, or used up by now

    @property
    def is_active(self) -> bool:
        """True until ``stop``, by whomever."""
        return self.listening.is_active

    @property
    def is_used_up(self) -> bool:
        """True of one that listened once, and was told: loading a save from before brings it back."""
        return self._interest.is_once and not self.is_active and not self._has_stopped

    @property
    def is_once(self) -> bool:
        """Whether it listens once."""
        return self._interest.is_once

    def stop(self) -> None:
        """Hear nothing more, at once. Stopping twice is harmless."""
        self._has_stopped = True
        self.listening.stop()

    def use_up(self) -> None:
        """Stop as if it had been told; loading a save from before brings it back."""
        self.listening.stop()

    @property
    def is_remembered(self) -> bool:
        """Whether loading a save can bring it back."""
        return self in self.member.used_up

    def is_like(self, other: MemberListening) -> bool:
        """Return whether it listens to the same codes by the same name."""
        return (self._codes, self._name) == (other._codes, other._name)

    def move(self, place: int | None = None) -> None:
        """Listen in the group the member is in now, instead of the one before."""
        dispatcher = self.member.narrowcast.events.dispatcher
        left = self.listening
        failures = dispatcher.faults.failures_of(left)
        left.stop()
        left.call = self.forward
        self.listening = self._registered(place)
        if failures != NO_FAILURES:
            dispatcher.put_failures(self.listening, failures)

    def forward(self, event: Event) -> None:
        """Tell of a broadcast that was under way when the member moved, if it reaches there too."""
        dispatcher = self.member.narrowcast.events.dispatcher
        audience = event.terms.audience
        if audience is None or not self.is_active or not audience.includes(self.member.group.registry):
            dispatcher.leave_out(event)
        else:
            dispatcher.tell_instead(event, self.listening)

    def forwarder(self) -> Listening:
        """Return one who stands for it in a broadcast under way, wherever it will be by then."""
        registry = self.member.group.registry
        listening = Listening(registry, (), self.forward, self._name)
        self.member.narrowcast.owners[listening] = ref(self)
        return listening

    def _registered(self, place: int | None) -> Listening:
        narrowcast = self.member.narrowcast
        self.place = narrowcast.registrations if place is None else place
        listening = narrowcast.events.register(
            self.member.group.registry, self._codes, self._handler, self._interest,
            name=self._name, priority=self._priority, rank=rank_of(self._priority, self.place),
        )
        narrowcast.registrations += 1
        narrowcast.owners[listening] = ref(self)
        return listening


class Member:
    """Somebody who is in one group at a time. Made by ``Narrowcast.add_member``."""

    def __init__(self, name: str, group: Group) -> None:
        self.name = name
        self.narrowcast: Narrowcast = group.narrowcast
        self.is_removed = False
        self.times_listened = 0
        self._group = group
        self._listenings: list[MemberListening] = []
        self._used_up: dict[int, MemberListening] = {}
        self._tidy_at = 16
        group.take_in(self)

    @property
    def group(self) -> Group:
        """Where it is now."""
        return self._group

    @property
    def listenings(self) -> tuple[MemberListening, ...]:
        """What it listens to, in the order it began."""
        self._tidy()
        return tuple(self._listenings)

    @property
    def used_up(self) -> tuple[MemberListening, ...]:
        """The latest who listened once and were told; a save from before brings them back."""
        self._tidy()
        return tuple(self._used_up.values())

    def listen(
        self, codes: Codes, handler: Handler, *, name: str | None = None,
        where: Predicate | None = None, near: tuple[Place, float] | None = None,
        priority: int = 0, once: bool = False, weak: bool = False,
    ) -> MemberListening:
        """Call ``handler(event)`` for events of its group, whichever that is by then.

        Takes and raises what ``EventManager.listen`` does. Cost: O(codes).
        """
        self._check_present()
        interest = interest_of(handler, where, near, once, weak)
        made = MemberListening(self, self.times_listened, codes, handler, interest, name, priority)
        self.times_listened += 1
        self._listenings.append(made)
        if len(self._listenings) >= self._tidy_at:
            self._tidy()
        self.narrowcast.events.tell_sticky(made.listening, self._group.registry)
        return made

    def send(self, code: str, *arguments: Any, reach: str = "own", **terms: Any) -> Event:
        """Queue an event for its group, with its name as the sender; as ``Group.send``."""
        self._check_present()
        return self._group.send(code, *arguments, reach=reach, sender=self.name, **terms)

    def move_to(self, group: Group) -> None:
        """Hear that group from now on, and the one before no more.

        Of a broadcast under way it is still told if that reaches it there too;
        of what is sticky there it is told at once, unless it was before.

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
            if self._group is group:  # or else a handler has moved it on
                self.narrowcast.events.tell_sticky(one.listening, group.registry, before)

    def leave(self) -> None:
        """Be gone: hear nothing more, in any group. Leaving twice is harmless."""
        if not self.is_removed:
            for one in self.listenings:
                one.stop()
            self._group.let_out(self)
            self.is_removed = True
            self.narrowcast.forget_member(self)

    def listen_again(self, one: MemberListening) -> bool:
        """Let one that listened once, and was told, listen once more; False if it is not remembered."""
        if not one.is_remembered:
            return False
        self.bring_back(one, None)
        self.narrowcast.events.tell_sticky(one.listening, self._group.registry)
        return True

    def bring_back(self, used_up: MemberListening, place: int | None) -> None:
        """Let one that was told listen again; as the last one if no place is given."""
        del self._used_up[used_up.number]
        used_up.move(place)
        self._listenings.append(used_up)
        self._listenings.sort(key=lambda one: one.number)

    def put_into(self, group: Group) -> None:
        """Belong to another group, as its last member."""
        self._group.let_out(self)
        self._group = group
        group.take_in(self)

    def _tidy(self) -> None:
        """Forget what has stopped, but for the latest that were used up."""
        rest = []
        for one in self._listenings:
            if one.is_active:
                rest.append(one)
            elif one.is_used_up:
                self._used_up[one.number] = one
        self._listenings = rest
        self._tidy_at = max(16, 2 * len(rest))
        while len(self._used_up) > REMEMBERED:
            del self._used_up[next(iter(self._used_up))]

    def _check_present(self) -> None:
        if self.is_removed:
            raise ValueError(f"member {self.name!r} has left; add it again")

    def __repr__(self) -> str:
        return f"<Member {self.name} of {self._group.name}>"


def _held_elsewhere(_event: Event) -> None:
    """Stand for a handler that is held weakly, and called through its interest."""
