"""What a listener cares about beyond the code: who pays for it pays when it is told.

A listener without any of these is called directly; one with some is called
through a stand-in made when it registers, so nobody else's events cost more.
"""
from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable
from types import BuiltinMethodType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ai_core.errors import finite_number, shown
from ai_core.events.event import Event, Handler, Position
from ai_core.events.event_registry import WeakHandler, called
from ai_core.events.terms import coordinates

if TYPE_CHECKING:
    from ai_core.events.event_registry import Subscription

__all__ = ["ANYTHING", "ListenerFilter", "NearbyEvents", "Place", "Predicate", "interest_of", "stand_in"]

Predicate = Callable[[Event], object]
"""Returns something true for an event that is to be told."""

Place = Iterable[float] | Callable[[], Iterable[float]]
"""Two or three coordinates (m), or what returns them, for somebody who moves."""


class NearbyEvents:
    """Events within ``range_m`` of a place, which may move.

    An event that was sent without a position is near nobody.

    Args:
        place: two or three coordinates (m), or a callable that returns them
            and is asked for each event.
        range_m: 0 or more; what lies exactly there is heard.
    """

    __slots__ = ("_here", "_range_m")

    def __init__(self, place: Place, range_m: float) -> None:
        self._range_m = finite_number("range_m", range_m, minimum=0, remedy="leave near out to hear all")
        self._here: Callable[[], Iterable[float]] | Position
        self._here = place if callable(place) else coordinates("place", place)

    def __call__(self, event: Event) -> bool:
        """Return whether the event happened there."""
        there = event.terms.position
        if there is None:
            return False
        here = self._here
        if not isinstance(here, tuple):
            here = coordinates("place", here())
        return math.dist(here, there) <= self._range_m


class ListenerFilter(NamedTuple):
    """How a listener wants to be told."""

    where: Predicate | None = None
    near: NearbyEvents | None = None
    is_once: bool = False
    weak: Callable[[], Handler | None] | None = None
    """Returns the handler as long as its object lives."""

    @property
    def is_only_weak(self) -> bool:
        """Whether it is held weakly, and is to be told of everything."""
        return self.weak is not None and self[:3] == (None, None, False)

    def held_weakly(self) -> WeakHandler:
        """Return how to call a handler that is held weakly; of a method its object is looked up."""
        assert self.weak is not None
        method = self.weak() if isinstance(self.weak, weakref.WeakMethod) else None
        if isinstance(method, MethodType):
            return WeakHandler(method.__func__, weakref.ref(method.__self__))
        return WeakHandler(called, self.weak)


ANYTHING = ListenerFilter()
"""Every event of the code, every time."""


def interest_of(
    handler: object, where: Predicate | None, near: tuple[Place, float] | None, once: bool, weak: bool,
) -> ListenerFilter:
    """Return the interest that these settings of ``listen`` stand for; all of them are checked."""
    if where is not None and not callable(where):
        raise TypeError(f"where must be callable with an event, got {shown(where)}")
    place_and_range: NearbyEvents | None = None
    if near is not None:
        if not isinstance(near, tuple) or len(near) != 2:
            raise TypeError(f"near must be a place and a range in metres, got {shown(near)}")
        place_and_range = NearbyEvents(_unheld(near[0]) if weak else near[0], near[1])
    look_up = _looked_up(handler) if weak else None
    if where is None and near is None and not once and look_up is None:
        return ANYTHING
    return ListenerFilter(_unheld(where) if weak else where, place_and_range, bool(once), look_up)


def stand_in(
    listening: Subscription, interest: ListenerFilter, leave_out: Handler, freed: Callable[[Subscription], None],
    use_up: Callable[[Subscription], None],
) -> Handler:
    """Return what is called in place of a handler; ``leave_out`` notes that it was not.

    It keeps no handler that is held weakly; ``freed`` is told when one is gone.
    ``use_up`` stops one who listens once.
    """
    where, near, is_once, weak = interest
    handler = None if weak is not None else listening.handler

    if interest.is_only_weak:
        return _told_weakly(listening, interest.held_weakly(), leave_out, freed)

    def tell(event: Event) -> object:
        found = handler if weak is None else weak()
        if found is None:
            freed(listening)
            return leave_out(event)
        if (near is not None and not near(event)) or (where is not None and not where(event)):
            return leave_out(event)
        if is_once:
            use_up(listening)  # first: what the handler sends must not reach it again
        return found(event)

    return tell


def _told_weakly(
    listening: Subscription, held: WeakHandler, leave_out: Handler, freed: Callable[[Subscription], None]
) -> Handler:
    """Return what calls a handler held weakly, in half the time of the general way."""
    function, keeper = held

    def tell(event: Event) -> object:
        found = keeper()
        if found is None:
            freed(listening)
            return leave_out(event)
        return function(found, event)

    return tell


def _looked_up(handler: object) -> Callable[[], Handler | None]:
    try:
        if isinstance(handler, MethodType):
            return weakref.WeakMethod(handler)
        if not isinstance(handler, BuiltinMethodType):  # which nobody keeps, nor its object
            return cast("Callable[[], Handler | None]", weakref.ref(handler))
    except TypeError:
        pass
    raise TypeError(f"handler must allow weak references, got {shown(handler)}; listen without weak")


def _unheld(function: Any) -> Any:
    """Return a stand-in for a method that does not keep its object; others as they are."""
    if not isinstance(function, MethodType):
        return function
    look_up = weakref.WeakMethod(function)

    def call(*arguments: object) -> object:
        found = look_up()
        if found is None:
            raise ReferenceError("the object a weak listener asks where it is, or what it wants, is gone")
        return found(*arguments)

    return call
