"""What is called to tell the listeners of one code: a list for bare loops.

Looking at a Listening before each call would take as long as the call. So
the calls themselves are kept, as they were when the code was last told, and
become useless all at once when anything changes.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import length_hint
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ai_core.events.event import Event, Handler

if TYPE_CHECKING:
    from ai_core.events.event_registry import Listening

__all__ = ["Calls", "HeldWeakly", "ListenersChangedError", "Tally"]


class HeldWeakly(NamedTuple):
    """A handler that somebody else keeps: ``function(keeper(), event)`` calls it."""

    function: Callable[[Any, Event], object]
    keeper: Callable[[], object | None]
    """Returns what keeps the handler, None once it is gone."""


HeldRow = tuple[Callable[[Any, Event], object], Callable[[], object | None]]


class ListenersChangedError(Exception):
    """Ends a run of calls that are no longer what they were."""


class _RunEndedError(Exception):
    """Ends a run of handlers held weakly at the one with this place among the listeners."""

    def __init__(self, place: int, reason: Exception) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason


class Tally:
    """What was told by bare loops, until somebody counts it with the rest."""

    __slots__ = ("calls", "events")

    def __init__(self) -> None:
        self.events = self.calls = 0


class Calls(list[Handler]):
    """What the listeners of one code are called by, for bare loops.

    Handlers held weakly that follow each other are one call, which looks each
    of them up and calls it without a stand-in between.

    Args:
        listeners: in the order they are told.
        held_weakly: those of them who are held so and want nothing else.

    Attributes:
        listeners: whose calls they are.
        times: how often they were told since it was last counted.
        is_over: something has changed; a loop under way ends after the present call.
    """

    __slots__ = ("_made", "_places", "_runs", "is_over", "listeners", "times")

    def __init__(
        self, listeners: tuple[Listening, ...], held_weakly: Mapping[Listening, HeldWeakly]
    ) -> None:
        super().__init__()
        self.listeners = listeners
        self.times = 0
        self._places: list[int] | None = None
        self._runs: list[list[HeldRow]] = []
        if held_weakly:
            self._fill_with_runs(held_weakly)
        else:
            self.extend([one.call for one in listeners])
        self.is_over = False
        self._made = tuple(self)

    @property
    def are_distinct(self) -> bool:
        """Whether nobody is called twice: then a call says whose it is."""
        return len({*map(id, self)}) == len(self)

    def count_into(self, tally: Tally) -> None:
        """Hand over what was told."""
        tally.events += self.times
        tally.calls += self.times * len(self.listeners)
        self.times = 0

    def end(self) -> None:
        """Let every loop under way end after the call it is making."""
        self.is_over = True
        self.clear()
        for run in self._runs:
            run[:] = [_ENDED] * len(run)

    def reached(self, call: Handler, error: Exception | None) -> tuple[int, Exception | None]:
        """Return the place of the listener with whom a loop shall go on, and what was wrong with him.

        Args:
            call: the last that was made.
            error: what it raised.
        """
        if isinstance(error, _RunEndedError):
            return error.place, None if isinstance(error.reason, ListenersChangedError) else error.reason
        at = next(place for place, one in enumerate(self._made) if one is call)
        if error is None:
            at += 1
        if self._places is None:
            return at, error
        return (self._places[at] if at < len(self._places) else len(self.listeners)), error

    def _fill_with_runs(self, held_weakly: Mapping[Listening, HeldWeakly]) -> None:
        self._places = []
        run: list[HeldRow] | None = None
        for place, one in enumerate(self.listeners):
            held = held_weakly.get(one) if one.call is one.handler else None
            if held is None:
                run = None
                self.append(one.call)
                self._places.append(place)
                continue
            if run is None:
                run = []
                self._runs.append(run)
                self.append(_run_from(place, run))
                self._places.append(place)
            run.append((held.function, held.keeper))  # loops take plain tuples apart sooner


def _run_from(first: int, run: list[HeldRow]) -> Handler:
    def tell(event: Event) -> None:
        rest: Iterator[HeldRow] = iter(run)
        try:
            for function, keeper in rest:
                found = keeper()
                if found is None:  # its stand-in notes that it was freed
                    raise ListenersChangedError
                function(found, event)
        except Exception as error:
            raise _RunEndedError(first + len(run) - length_hint(rest) - 1, error) from error

    return tell


def _raise_changed_in_run(_keeper: object, _event: Event) -> NoReturn:
    raise ListenersChangedError


_ENDED: HeldRow = (_raise_changed_in_run, object)
