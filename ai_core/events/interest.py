"""Filters of a listener beyond the code: predicate, place and range, once, weak.

A listener without filters is called directly; a listener with filters is called
through a stand-in made at registration, so other listeners cost nothing more.
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
"""Returns a true value for an event to deliver."""

Place = Iterable[float] | Callable[[], Iterable[float]]
"""Two or three coordinates (m), or a callable that returns them, for a moving listener."""


class NearbyEvents:
    """A filter for events within ``range_m`` of a place, which may move.

    An event that was sent without a position never passes.

    Args:
        place: two or three coordinates (m), or a callable that returns them
            and is called for each event.
        range_m: 0 or more (m); an event exactly at this distance passes.
    """

    __slots__ = ("_here", "_range_m")

    def __init__(self, place: Place, range_m: float) -> None:
        self._range_m = finite_number("range_m", range_m, minimum=0, remedy="leave near out to receive all events")
        self._here: Callable[[], Iterable[float]] | Position
        self._here = place if callable(place) else coordinates("place", place)

    def __call__(self, event: Event) -> bool:
        """Return whether the position of the event is within the range."""
        there = event.terms.position
        if there is None:
            return False
        here = self._here
        if not isinstance(here, tuple):
            here = coordinates("place", here())
        return math.dist(here, there) <= self._range_m


class ListenerFilter(NamedTuple):
    """The filters of a listener."""

    where: Predicate | None = None
    near: NearbyEvents | None = None
    is_once: bool = False
    weak: Callable[[], Handler | None] | None = None
    """Returns the handler while its object is alive, then None."""

    @property
    def is_only_weak(self) -> bool:
        """True if the listener is held weakly and has no other filter."""
        return self.weak is not None and self[:3] == (None, None, False)

    def held_weakly(self) -> WeakHandler:
        """Return the call of a weakly held handler; for a method, only its object is looked up."""
        assert self.weak is not None
        method = self.weak() if isinstance(self.weak, weakref.WeakMethod) else None
        if isinstance(method, MethodType):
            return WeakHandler(method.__func__, weakref.ref(method.__self__))
        return WeakHandler(called, self.weak)


ANYTHING = ListenerFilter()
"""No filter: every event of the code, every time."""


def interest_of(
    handler: object, where: Predicate | None, near: tuple[Place, float] | None, once: bool, weak: bool,
) -> ListenerFilter:
    """Return the filters for checked arguments of ``listen``."""
    if where is not None and not callable(where):
        raise TypeError(f"where must be callable with an event, got {shown(where)}")
    place_and_range: NearbyEvents | None = None
    if near is not None:
        if not isinstance(near, tuple) or len(near) != 2:
            raise TypeError(f"near must be a tuple of a place and a range in metres, got {shown(near)}")
        place_and_range = NearbyEvents(_unheld(near[0]) if weak else near[0], near[1])
    look_up = _looked_up(handler) if weak else None
    if where is None and near is None and not once and look_up is None:
        return ANYTHING
    return ListenerFilter(_unheld(where) if weak else where, place_and_range, bool(once), look_up)


def stand_in(
    listening: Subscription, interest: ListenerFilter, leave_out: Handler, freed: Callable[[Subscription], None],
    use_up: Callable[[Subscription], None],
) -> Handler:
    """Return the function that is called in place of a filtered handler.

    ``leave_out`` is called for an event that is not delivered, ``freed`` when a weakly
    held handler is gone, and ``use_up`` to stop a ``once`` listener. The stand-in keeps
    no weakly held handler alive.
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
    """Return the stand-in for a handler with no filter but ``weak``; half the time of the general one."""
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
        if not isinstance(handler, BuiltinMethodType):  # neither it nor its object is kept elsewhere
            return cast("Callable[[], Handler | None]", weakref.ref(handler))
    except TypeError:
        pass
    raise TypeError(f"handler must support weak references, got {shown(handler)}; use weak=False")


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
