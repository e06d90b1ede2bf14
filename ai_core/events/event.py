"""Events and their listeners: terms of delivery, receipts, filters, and the registry of listeners by code."""
from __future__ import annotations

import math
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from types import BuiltinMethodType, MethodType
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar, cast

from ai_core.clock import TimeIndex
from ai_core.errors import UnknownNameError, checked_name, finite_number, shown, whole_number
from ai_core.saving.fields import StateError, refuse
from ai_core.saving.kinds import (
    Flag,
    GameValue,
    Kind,
    ListOf,
    Moment,
    Number,
    Optional,
    Record,
    Row,
    Seconds,
    Text,
    Whole,
)

__all__ = [
    "ANYTHING", "EVENT_STATE", "EVERY_CODE", "KINDS", "MOST_PRIORITY", "PLAIN", "POSITION_STATE", "REMEMBERED", "Codes",
    "Delivery", "Event", "EventRegistry", "EventTerms", "Handler", "KindCount", "ListenerFilter", "ListenerGroup",
    "ListenerKind", "NearbyEvents", "OnceListenerKey", "OnceListeners", "Place", "Position", "Predicate", "Receipt",
    "Subscription", "by_priority", "code_tuple", "coordinates", "handler_name", "kind_count_state", "rank_of"]

MOST_PRIORITY = 1_000_000
"""Largest magnitude of a priority; within it, the ranks of listeners of two priorities never overlap."""

Position = tuple[float, float, float]
"""Three coordinates (m)."""


class ListenerGroup(Protocol):
    """The audience of an event: a subset of all listeners; hashable, compared by value."""

    def listeners(self, code: str) -> tuple[Subscription, ...]:
        """Return the present listeners to ``code`` in this audience, in order of delivery."""
        ...

    @property
    def is_removed(self) -> bool:
        """True once no listener can belong to this audience any more."""
        ...

    def includes(self, registry: EventRegistry) -> bool:
        """Return whether the listeners of ``registry`` belong to this audience."""
        ...

    def plain(self) -> Any:
        """Return the reference to this audience in a save, as plain data."""
        ...


class Delivery(NamedTuple):
    """The delivery of an event to one listener."""

    name: str
    delivered_at: TimeIndex
    has_failed: bool


@dataclass(slots=True)
class Receipt:
    """The deliveries of one event so far, in order, and whether all are done.

    Deliveries of a sticky event to listeners that were added later are not among them.
    """

    deliveries: list[Delivery] = field(default_factory=list)
    is_complete: bool = False


class EventTerms(NamedTuple):
    """Optional terms of an event; most events use the defaults."""

    priority: int = 0
    deadline_at_s: float | None = None
    """Game time by which delivery should be complete (s); None for no deadline."""
    position: Position | None = None
    is_sticky: bool = False
    audience: ListenerGroup | None = None
    receipt: Receipt | None = None

    @classmethod
    def checked(
        cls, priority: int, deadline_at_s: float | None, position: Iterable[float] | None, is_sticky: bool,
        wants_receipt: bool, audience: ListenerGroup | None,
    ) -> EventTerms:
        """Return checked terms; PLAIN itself if every term has its default."""
        is_plain = deadline_at_s is None and position is None and audience is None
        if is_plain and not (priority or is_sticky or wants_receipt):
            return PLAIN
        if audience is not None and not callable(getattr(audience, "listeners", None)):
            raise TypeError(f"audience must be a GroupRecipients, got {shown(audience)}; leave it out to reach all")
        if priority != 0:
            whole_number("priority", priority, minimum=-MOST_PRIORITY, maximum=MOST_PRIORITY)
        place = None if position is None else coordinates("position", position)
        receipt = Receipt() if wants_receipt else None
        return cls(priority, deadline_at_s, place, bool(is_sticky), audience, receipt)


PLAIN = EventTerms()
"""The default terms."""


class Event(NamedTuple):
    """An event, delivered to the listeners of ``code``. Immutable."""

    code: str
    """Name of the kind of event."""
    arguments: tuple[Any, ...]
    """The payload, as given by the sender."""
    sender: object | None
    sent_at_s: TimeIndex
    """Frame and game time at which it was sent."""
    due_at_s: float
    """Game time from which it may be delivered (s)."""
    terms: EventTerms = PLAIN
    """Priority, deadline, position and other terms of delivery."""

    @property
    def position(self) -> Position | None:
        """Position of the event (m); None if it was sent without a position."""
        return self.terms.position

    @property
    def receipt(self) -> Receipt | None:
        """The deliveries so far; None unless it was sent with ``wants_receipt``."""
        return self.terms.receipt

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an event is immutable, so {name!r} cannot be set; send a new event")

    def __hash__(self) -> int:
        return hash((self.code, self.sent_at_s, self.due_at_s))  # the arguments may not be hashable

    def __repr__(self) -> str:
        return f"<Event {self.code}{self.arguments!r} of frame {self.sent_at_s.frame}>"


Handler = Callable[[Event], object]
"""Signature of an event handler; its return value is ignored."""


def coordinates(name: str, value: object) -> Position:
    """Return two or three finite coordinates as three floats (m).

    Raises:
        TypeError: if they are not numbers.
        ValueError: if there are not two or three coordinates, or a coordinate is not finite.
    """
    try:
        numbers = [*cast("Iterable[object]", value)]
    except TypeError:
        raise _no_position(name, value) from None
    if not 2 <= len(numbers) <= 3 or isinstance(value, str):
        raise _no_position(name, value)
    x, y, z = (finite_number(name, one) for one in [*numbers, 0.0][:3])
    return (x, y, z)


def _no_position(name: str, value: object) -> Exception:
    kind = ValueError if isinstance(value, tuple | list) else TypeError
    return kind(f"{name} must be two or three coordinates in metres, got {shown(value)}")


class _AudienceState(Kind):
    """How an audience is saved: by the listener book of the event manager."""

    def save(self, value: Any, owner: Any) -> Any:
        return value.plain()

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return owner.book.audience(plain, place)


class _TermsState(Record):
    """How terms are saved; the default terms as None."""

    def save(self, value: Any, owner: Any) -> Any:
        return None if value is PLAIN else super().save(value, owner)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return PLAIN if plain is None else super().read(plain, place, owner)


class _CodeState(Text):
    """How the code of an event is saved."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        code = super().read(plain, place, owner)
        try:
            owner.has_listeners(code)  # raises for a code that cannot be sent
        except (LookupError, ValueError) as error:
            refuse(place, f"is not valid: {error}")
        return code


class _EventState(Record):
    """How an event is saved; an error names the event."""

    def save(self, value: Any, owner: Any) -> Any:
        try:
            return super().save(value, owner)
        except StateError as error:
            raise StateError(f"event {value.code!r} of frame {value.sent_at_s.frame}: {error}") from None


_RECEIPT_STATE = Record(
    Receipt, deliveries=ListOf(Row(Delivery, Text(), Moment(TimeIndex), Flag())), is_complete=Flag())
POSITION_STATE = Optional(ListOf(Number(), count=3, make=tuple))
"""How the position of an event is saved."""
_TERMS_STATE = _TermsState(
    EventTerms, priority=Whole(-MOST_PRIORITY, MOST_PRIORITY), deadline_at_s=Optional(Seconds()),
    position=POSITION_STATE, is_sticky=Flag(), audience=Optional(_AudienceState()),
    receipt=Optional(_RECEIPT_STATE))
EVENT_STATE = _EventState(
    Event, code=_CodeState(), arguments=ListOf(GameValue(at="arguments"), make=tuple), sender=GameValue(at="sender"),
    sent_at_s=Moment(TimeIndex), due_at_s=Seconds(), terms=_TERMS_STATE)
"""How an event of an event manager is saved."""


EVERY_CODE = "*"
"""Code to receive all events; it cannot be sent."""
PLACES_PER_PRIORITY = 1 << 40
"""Registrations that fit between two priorities (count); one per microsecond for twelve days."""
Codes = str | int | Iterable[str]
"""A code, several codes, or a bit mask of declared codes."""
BY_RANK = attrgetter("rank")


class Subscription:
    """The handle of a registered listener: ``stop()`` ends the registration.

    Attributes:
        handler: called with each event.
        name: name in reports and saves; need not be unique.
        codes: the codes listened to, in the order they were given; none after ``stop``.
        call: the function that dispatch calls: the handler, or a stand-in for a listener with
            filters, after it stopped or failed. Each running broadcast reads it at the turn
            of the listener.
        rank: order of delivery; lower is earlier.
        registry: the registry to which it belongs.
    """

    __slots__ = ("__weakref__", "_given_name", "call", "codes", "handler", "rank", "registry")

    def __init__(
        self, registry: EventRegistry, codes: tuple[str, ...], handler: Handler, name: str | None = None, rank: int = 0
    ) -> None:
        self.registry = registry
        self._given_name = name
        self.codes = codes
        self.rank = rank
        self.handler = handler
        self.call: Handler = handler

    @property
    def name(self) -> str:
        """Name in reports and saves: the given name, or that of the handler."""
        return handler_name(self.handler) if self._given_name is None else self._given_name

    def rename(self, name: str) -> None:
        """Change the name in reports and saves."""
        self._given_name = name

    @property
    def is_active(self) -> bool:
        """True until ``stop``."""
        return bool(self.codes)

    def stop(self) -> None:
        """Stop listening at once, even in a running broadcast.

        That broadcast continues with the other listeners. Stopping twice is
        harmless. Cost: O(codes).
        """
        if self.codes:
            self.registry.remove(self)

    def __repr__(self) -> str:
        return f"<Subscription of {self.name} to {', '.join(self.codes) or 'nothing (stopped)'}>"


class EventRegistry:
    """Listeners by code; ``stopped`` returns what a running broadcast calls in place of a listener that has stopped."""

    def __init__(self, codes: Iterable[str] | None, stopped: Callable[[Subscription], Handler]) -> None:
        self.are_declared = codes is not None
        self._stopped = stopped
        self._registrations = 0
        self._members: dict[str, dict[Subscription, None]] = {}
        self._everyone: dict[Subscription, None] = {}
        self._in_order: dict[str, tuple[Subscription, ...]] = {}  # until the next change
        for code in code_tuple(codes) if codes is not None else ():
            if code == EVERY_CODE:
                raise ValueError(f"{EVERY_CODE!r} stands for every code and cannot be declared; leave it out")
            self._members[code] = {}

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes that are declared, or that have listeners."""
        return tuple(self._members)

    def wanted(self, codes: Codes) -> tuple[str, ...]:
        """Return the checked codes to listen to."""
        if isinstance(codes, int) and not isinstance(codes, bool) and self.are_declared:
            whole_number("codes", codes, minimum=1, maximum=(1 << len(self._members)) - 1,
                         remedy="use mask_of to make a mask")
            return tuple(code for place, code in enumerate(self._members) if codes >> place & 1)
        names = (codes,) if isinstance(codes, str) else code_tuple(codes)
        if not names:
            raise ValueError("codes must name at least one event code, got none")
        for code in names:
            if code != EVERY_CODE:
                self.check(code)
        if EVERY_CODE in names and len(names) > 1:
            raise ValueError(f"{EVERY_CODE!r} includes every other code; listen to it alone")
        return names

    def mask_of(self, codes: Iterable[str]) -> int:
        """Return the bit mask of declared codes: the first declared one is bit 0."""
        if not self.are_declared:
            raise ValueError("a mask requires declared codes; declare the codes, or listen by names")
        places = {code: place for place, code in enumerate(self._members)}
        names = code_tuple(codes)
        for code in names:
            self.check(code)
        return sum(1 << places[code] for code in names)

    def add(
        self, codes: Codes, handler: Handler, name: str | None = None, priority: int = 0, rank: int | None = None,
    ) -> Subscription:
        """Register ``handler`` for each code. Cost: O(codes)."""
        if name is not None and (not isinstance(name, str) or not name):
            raise TypeError(f"name must be a non-empty string, got {shown(name)}")
        if not callable(handler):
            raise TypeError(f"handler must be callable with an event, got {shown(handler)}")
        names = self.wanted(codes)
        if rank is None:
            rank = rank_of(priority, self._registrations)
            self._registrations += 1
        members = self._everyone if names[0] == EVERY_CODE else self._members.get(names[0])
        if members:
            other = next(reversed(members)).codes
            names = other if other == names else names  # shared, to keep a registration small
        listening = Subscription(self, names, handler, name, rank)
        self._enter(listening)
        return listening

    def remove(self, listening: Subscription) -> None:
        """Remove a listener, also from a running broadcast."""
        self._leave(listening)
        listening.call = self._stopped(listening)

    def put_back(self, listening: Subscription, codes: tuple[str, ...]) -> None:
        """Register a stopped listener for these codes again. Cost: O(codes)."""
        listening.codes, listening.call = codes, listening.handler
        self._enter(listening)

    def transfer(self, listening: Subscription, to: EventRegistry, rank: int) -> None:
        """Move a listener to another registry; a running broadcast keeps it. Cost: O(codes)."""
        codes = listening.codes
        self._leave(listening)
        listening.codes, listening.rank = codes, rank
        to._enter(listening)

    def listeners(self, code: str) -> tuple[Subscription, ...]:
        """Return the present listeners to ``code``, by rank; a running broadcast keeps its tuple."""
        if code not in self._members:
            code = EVERY_CODE  # so that codes without listeners take no memory
        found = self._in_order.get(code)
        if found is None:
            members = [*self._members.get(code, ()), *self._everyone]
            found = self._in_order[code] = tuple(sorted(members, key=BY_RANK))
        return found

    def members(self) -> dict[str, list[Subscription]]:
        """Return the listeners of each code, and of EVERY_CODE, by rank."""
        return {
            code: sorted(members, key=BY_RANK)
            for code, members in (*self._members.items(), (EVERY_CODE, self._everyone))}

    def check(self, code: object) -> None:
        """Raise an error unless ``code`` can be sent."""
        if not isinstance(code, str):
            raise TypeError(f"an event code must be a string, got {shown(code)}")
        if code in self._members:
            return
        if self.are_declared:
            raise UnknownNameError("event code", code, self._members)
        if not code:
            raise ValueError(f"an event code must not be empty, got {code!r}; name the event")
        if code == EVERY_CODE:
            raise ValueError(f"{EVERY_CODE!r} stands for every code and cannot be sent; send a single code")

    def _enter(self, listening: Subscription) -> None:
        listening.registry = self
        for code in listening.codes:
            if code not in self._members and code != EVERY_CODE:
                self._members[code] = {}
            self._members_of(code)[listening] = None
        self._changed(listening.codes)

    def _leave(self, listening: Subscription) -> None:
        """Drop a listener, and codes without listeners that are not declared."""
        codes, listening.codes = listening.codes, ()
        for code in codes:
            members = self._members_of(code)
            members.pop(listening, None)
            if not members and code != EVERY_CODE and not self.are_declared:
                self._members.pop(code, None)
        self._changed(codes)

    def _members_of(self, code: str) -> dict[Subscription, None]:
        return self._everyone if code == EVERY_CODE else self._members[code]

    def _changed(self, codes: tuple[str, ...]) -> None:
        if EVERY_CODE in codes:
            self._in_order.clear()
        for code in codes:
            self._in_order.pop(code, None)


def rank_of(priority: int, place: int) -> int:
    """Return the rank of a listener with a priority, registered after ``place`` other listeners."""
    if priority == 0:
        return place
    whole_number("priority", priority, minimum=-MOST_PRIORITY, maximum=MOST_PRIORITY)
    return place - PLACES_PER_PRIORITY * priority


def by_priority(groups: Iterable[tuple[Subscription, ...]]) -> tuple[Subscription, ...]:
    """Return the listeners of several groups, each by rank, by priority; of equal ones group by group."""
    some = [one for one in groups if one]
    found = [listening for one in some for listening in one]
    if any(one[0].rank < 0 or one[-1].rank >= PLACES_PER_PRIORITY for one in some):     # not all have priority 0
        found.sort(key=lambda listening: listening.rank // PLACES_PER_PRIORITY)
    return tuple(found)


def handler_name(handler: object) -> str:
    """Return the default name of a handler."""
    name: str = getattr(handler, "__qualname__", type(handler).__name__)
    return name


def code_tuple(codes: object) -> tuple[str, ...]:
    """Return the codes in order without duplicates; a string is a single code."""
    if isinstance(codes, str):
        return (codes,)
    try:
        names = tuple(dict.fromkeys(codes))  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(
            f"codes must be an event code or a sequence of event codes, got {shown(codes)}") from None
    for name in names:
        checked_name("an event code", name)
    return names


Predicate = Callable[[Event], object]
"""Returns a true value for an event to deliver."""

Place = Iterable[float] | Callable[[], Iterable[float]]
"""Two or three coordinates (m), or a callable that returns them, for a moving listener."""


class NearbyEvents:
    """A filter for events within ``range_m`` of a place, which may move; one without a position never passes."""

    __slots__ = ("_here", "_range_m")

    def __init__(self, place: Place, range_m: float) -> None:
        self._range_m = finite_number("range_m", range_m, minimum=0, remedy="leave near out to receive all events")
        self._here: Callable[[], Iterable[float]] | Position
        self._here = place if callable(place) else coordinates("place", place)

    def __call__(self, event: Event) -> bool:
        there = event.terms.position
        if there is None:
            return False
        here = self._here
        if not isinstance(here, tuple):
            here = coordinates("place", here())
        return math.dist(here, there) <= self._range_m


class WeakHandler(NamedTuple):
    """A weakly held handler: ``function(keeper(), event)`` calls it."""

    function: Callable[[Any, Event], object]
    keeper: Callable[[], object | None]
    """Returns the object of the method, or the handler itself; None after it was freed."""

    @classmethod
    def of(cls, handler: object) -> WeakHandler:
        """Return the weak form of a handler; raise TypeError if it cannot be held weakly."""
        try:
            if isinstance(handler, MethodType):
                return cls(handler.__func__, weakref.ref(handler.__self__))
            if not isinstance(handler, BuiltinMethodType):  # which nothing else keeps
                return cls(_called, weakref.ref(handler))
        except TypeError:
            pass
        raise TypeError(f"handler must support weak references, got {shown(handler)}; use weak=False")


class ListenerFilter(NamedTuple):
    """The filters of a listener beyond the code; only a listener that has some is called through a stand-in."""

    where: Predicate | None = None
    near: NearbyEvents | None = None
    is_once: bool = False
    weak: WeakHandler | None = None

    @classmethod
    def of(
        cls, handler: object, where: Predicate | None, near: tuple[Place, float] | None, once: bool, weak: bool,
    ) -> ListenerFilter:
        """Return the filters for checked arguments of ``listen``."""
        if where is not None and not callable(where):
            raise TypeError(f"where must be callable with an event, got {shown(where)}")
        nearby: NearbyEvents | None = None
        if near is not None:
            if not isinstance(near, tuple) or len(near) != 2:
                raise TypeError(f"near must be a tuple of a place and a range in metres, got {shown(near)}")
            nearby = NearbyEvents(_unheld(near[0]) if weak else near[0], near[1])
        if where is None and nearby is None and not once and not weak:
            return ANYTHING
        return cls(
            _unheld(where) if weak else where, nearby, bool(once), WeakHandler.of(handler) if weak else None)

    def stand_in(
        self, listening: Subscription, skip: Handler, freed: Callable[[Subscription], None],
        use_up: Callable[[Subscription], None],
    ) -> Handler:
        """Return the function called in place of the handler; ``skip`` receives the events that are not delivered."""
        where, near, is_once, weak = self
        handler: Any = listening.handler if weak is None else None  # a weakly held handler must not be kept here
        function, keeper = weak or (_called, None)

        def notify(event: Event) -> object:
            found = handler if keeper is None else keeper()
            if found is None:
                freed(listening)
                return skip(event)
            if (near is not None and not near(event)) or (where is not None and not where(event)):
                return skip(event)
            if is_once:
                use_up(listening)  # first: an event that the handler sends must not reach it again
            return function(found, event)  # type: ignore[arg-type]

        return notify


ANYTHING = ListenerFilter()
"""No filter: every event of the code, every time."""


def _called(handler: Handler, event: Event) -> object:
    return handler(event)


def _unheld(function: Any) -> Any:
    """Return a stand-in for a method that does not keep its object alive; other callables unchanged."""
    if not isinstance(function, MethodType):
        return function
    look_up = weakref.WeakMethod(function)

    def call(*arguments: object) -> object:
        found = look_up()
        if found is None:
            raise ReferenceError("the object behind 'near' or 'where' of a weak listener was freed")
        return found(*arguments)

    return call


REMEMBERED = 256
"""Used ``once`` listeners that can listen again (count).

They keep their handlers alive. With a smaller number, loading an old save restores
fewer of them; with a larger number, used handlers stay in memory longer.
"""

KINDS = 1024
"""Kinds of ``once`` listeners that are counted although none of them listens or can listen again (count).

Without a limit, names that are never used again, such as a name with a number in it, would stay
in memory and in each save, 400 and 60 bytes each. The next listener of a forgotten kind is number 0 again: loading a
save with a higher count stops it.
"""

ListenerKind = tuple[tuple[str, ...], str]
"""The codes listened to, and the name."""


class Registered(Protocol):
    """A registration that may have ended."""

    @property
    def is_active(self) -> bool:
        """Whether it listens."""
        ...


AnyRegistered = TypeVar("AnyRegistered", bound=Registered)


class KindCount(NamedTuple):
    """How many listeners of a kind were registered, and the numbers of those that listen, in a save."""

    codes: tuple[str, ...]
    name: str
    times: int
    waiting: Collection[int]

    @classmethod
    def checked(cls, codes: tuple[str, ...], name: str, times: int, waiting: Collection[int]) -> KindCount:
        """Return a count; raise ValueError unless the numbers are below ``times``."""
        if any(number >= times for number in waiting):
            raise ValueError(f"'waiting' must hold numbers below 'times', {times}, got {max(waiting)}")
        return cls(codes, name, times, waiting)

    @property
    def kind(self) -> ListenerKind:
        """The codes and the name."""
        return self.codes, self.name

    def matched(self, here: Mapping[int, AnyRegistered]) -> tuple[dict[int, AnyRegistered], list[AnyRegistered]]:
        """Find the saved listeners of this kind among those that are here.

        Equal numbers match. For one that is not here, another listens, the latest first: a listener that stops and is
        registered again gets another number.

        Args:
            here: the listeners of this kind by number: active ones, and those that can listen again.

        Returns:
            the listeners by saved number, and the active ones that are to stop: those that did not listen any
            more, and for each that listens again one that was registered after the save.
        """
        found = {number: here[number] for number in self.waiting if number in here}
        come_back = sum(not one.is_active for one in found.values())
        others = sorted(here.keys() - found.keys(), key=lambda number: (here[number].is_active, number))
        for number in sorted(set(self.waiting) - here.keys(), reverse=True):
            if others:
                found[number] = here[others.pop()]
        active = [number for number in others if here[number].is_active]
        replaced = [number for number in active if number >= self.times][:come_back]
        return found, [here[number] for number in active if number < self.times or number in replaced]


def kind_count_state(waiting: Kind) -> Kind:
    """Return how the count of a kind of listeners is saved, given how the numbers that listen are saved."""
    return Record(KindCount.checked, codes=ListOf(Text(), make=tuple), name=Text(), times=Whole(), waiting=waiting)


class OnceListenerKey(NamedTuple):
    """Identity of a ``once`` listener: its kind, and its number within the kind."""

    codes: tuple[str, ...]
    name: str
    number: int


class OnceListeners:
    """The ``once`` listeners of a registry: which have had their delivery, and which listen again after loading.

    A ``once`` listener stops at its delivery. When an earlier save is loaded in the same
    world, it must listen again; when a later save is loaded in a new world, the same
    listener there must stop. So ``once`` listeners are identified by codes and name, and
    numbered in order of registration.
    """

    def __init__(self, registry: EventRegistry) -> None:
        self._registry = registry
        self._times: dict[ListenerKind, int] = {}  # the kind that was added to last is the last
        self._most_kinds = KINDS
        self._keys: weakref.WeakKeyDictionary[Subscription, OnceListenerKey] = weakref.WeakKeyDictionary()
        self._used: OrderedDict[Subscription, None] = OrderedDict()

    def add(self, listening: Subscription) -> Callable[[Subscription], None]:
        """Register a new ``once`` listener; return the function that stops it at its delivery."""
        kind = listening.codes, listening.name
        number = self._times.pop(kind, 0)
        self._times[kind] = number + 1
        self._keys[listening] = OnceListenerKey(*kind, number)
        if len(self._times) > self._most_kinds:
            self._forget_kinds()
        return self._use_up

    def remembers(self, listening: Subscription) -> bool:
        """Return whether a used listener can listen again."""
        return listening in self._used

    def bring_back(self, listening: Subscription) -> bool:
        """Register a used listener again; return False if it is not among the latest ``REMEMBERED``."""
        if listening not in self._used:
            return False
        del self._used[listening]
        self._registry.put_back(listening, self._keys[listening].codes)
        return True

    def references(self) -> dict[Subscription, OnceListenerKey]:
        """Return the listeners that are still active, with their keys."""
        return {one: key for one, key in self._keys.items() if one.is_active}

    def known(self, counts: Iterable[KindCount]) -> dict[OnceListenerKey, Subscription]:
        """Return the listeners that are active, or can listen again, by their keys here and in saved counts."""
        here = self._here()
        found = {OnceListenerKey(*kind, number): one for kind, ones in here.items() for number, one in ones.items()}
        for count in counts:
            matched, _ = count.matched(here[count.kind])
            found |= {OnceListenerKey(*count.kind, number): one for number, one in matched.items()}
        return found

    @property
    def counts(self) -> list[KindCount]:
        """The count of each kind, and the numbers that are still active; setting it restores which are."""
        waiting: dict[ListenerKind, list[int]] = {kind: [] for kind in self._times}
        for key in self.references().values():
            waiting[key[:2]].append(key.number)
        return [KindCount(*kind, times, sorted(waiting[kind])) for kind, times in self._times.items()]

    @counts.setter
    def counts(self, counts: list[KindCount]) -> None:
        here = self._here()
        for count in counts:
            found, stopping = count.matched(here[count.kind])
            for one in stopping:
                one.stop()
                self._used[one] = None
            for number, one in found.items():
                self.bring_back(one)
                self._keys[one] = OnceListenerKey(*count.kind, number)
            self._times[count.kind] = max(count.times, self._times.pop(count.kind, 0))
        self._most_kinds = max(self._most_kinds, len(self._times))

    def _here(self) -> dict[ListenerKind, dict[int, Subscription]]:
        here: dict[ListenerKind, dict[int, Subscription]] = defaultdict(dict)
        for one, key in self._keys.items():
            if one.is_active or one in self._used:
                here[key[:2]][key.number] = one
        return here

    def _use_up(self, one: Subscription) -> None:
        one.stop()
        self._used[one] = None
        if len(self._used) > REMEMBERED:
            self._used.popitem(last=False)

    def _forget_kinds(self) -> None:
        """Forget the unused kinds that were added to longest ago; O(1) on average."""
        in_use = self._here()
        unused = [kind for kind in self._times if kind not in in_use]
        for kind in unused[: max(0, len(unused) - KINDS // 2)]:
            del self._times[kind]
        self._most_kinds = max(KINDS, 2 * len(self._times))
