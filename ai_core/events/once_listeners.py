"""Who listens once: whom a save knows to have been told, and who comes back when it is loaded.

A once-listener that was told stops. Where the same game is loaded anew, from
before that, it must listen again; and where another one is loaded, from after
that, its like must listen no more. So they are numbered by what they listen
to and by name, in the order they began.
"""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakValueDictionary

from ai_core.events.event_registry import EventRegistry, Subscription
from ai_core.saving.fields import Fields, State

__all__ = ["REMEMBERED", "OnceListeners"]

REMEMBERED = 256
"""Once-listeners that were told and can come back (count).

They keep their handlers alive. With fewer, a save from long ago brings fewer
of them back; with more, what was meant for once stays in memory longer.
"""

KINDS = 4096
"""Kinds of once-listeners that are counted though none of them listens or can come back (count).

Without a bound names that are never used again, such as one with a number in it, would stay in
memory and in each save. One of a kind that was forgotten is the first of its kind again: a save
that knows of more of them stops it when it is loaded.
"""

Kind = tuple[tuple[str, ...], str]
"""The codes listened to, and the name."""


class OnceListenerKey(NamedTuple):
    """One once-listener: which of its kind."""

    codes: tuple[str, ...]
    name: str
    number: int


class OnceListeners:
    """The once-listeners of one registry.

    Args:
        registry: where they listen.
    """

    def __init__(self, registry: EventRegistry) -> None:
        self._registry = registry
        self._times: dict[Kind, int] = {}  # the one that was added to last is the last
        self._most_kinds = KINDS
        self._present: WeakValueDictionary[OnceListenerKey, Subscription] = WeakValueDictionary()
        self._told: OrderedDict[Subscription, OnceListenerKey] = OrderedDict()

    def add(self, listening: Subscription) -> Callable[[Subscription], None]:
        """Know one that begins; return what stops it when it is told."""
        kind = listening.codes, listening.name
        known = OnceListenerKey(*kind, self._times.pop(kind, 0))
        self._times[kind] = known.number + 1
        self._present[known] = listening
        if len(self._times) > self._most_kinds:
            self._forget_kinds()

        def use_up(one: Subscription) -> None:
            one.stop()
            self._told[one] = known
            if len(self._told) > REMEMBERED:
                self._told.popitem(last=False)

        return use_up

    def remembers(self, listening: Subscription) -> bool:
        """Return whether one that was told can come back."""
        return listening in self._told

    def bring_back(self, listening: Subscription) -> bool:
        """Let one that was told listen again; False if it is not among the latest that were."""
        known = self._told.pop(listening, None)
        if known is None:
            return False
        self._registry.put_back(listening, known.codes)
        return True

    def references(self) -> dict[Subscription, OnceListenerKey]:
        """Return those who still listen."""
        return {one: known for known, one in self._present.items() if one.is_active}

    def find(self, codes: tuple[str, ...], name: str, number: int) -> Subscription | None:
        """Return one that listens, or would after loading a save in which it does."""
        one = self._present.get(OnceListenerKey(codes, name, number))
        return one if one is not None and (one.is_active or one in self._told) else None

    def save_state(self) -> list[State]:
        """Return how many of each kind there were, and which of them still listen."""
        waiting: dict[Kind, list[int]] = {kind: [] for kind in self._times}
        for known in self.references().values():
            waiting[known[:2]].append(known.number)
        return [
            {"codes": [*codes], "name": name, "times": times, "waiting": sorted(waiting[codes, name])}
            for (codes, name), times in self._times.items()
        ]

    def prepare_state(self, fields: Fields) -> Callable[[], None]:
        """Check what was saved under "once"; return what lets those listen, and no others, who did.

        One that began later than what was saved is left alone, unless it took
        the place of one that comes back.
        """
        saved: dict[Kind, tuple[int, set[int]]] = {}
        for one in fields.groups("once"):
            kind = _kind(one)
            times = one.whole("times")
            if kind in saved:
                one.refuse("name", "comes twice with these codes")
            saved[kind] = times, set(one.wholes("waiting", maximum=times - 1))
            one.end()

        def change() -> None:
            for kind, (times, waiting) in saved.items():
                self._load(kind, times, waiting)

        return change

    def _forget_kinds(self) -> None:
        """Forget the kinds that nobody is of and that were added to longest ago; O(1) on average."""
        in_use = {known[:2] for known in (*self.references().values(), *self._told.values())}
        unused = [kind for kind in self._times if kind not in in_use]
        for kind in unused[: max(0, len(unused) - KINDS // 2)]:
            del self._times[kind]
        self._most_kinds = max(KINDS, 2 * len(self._times))

    def _load(self, kind: Kind, times: int, waiting: set[int]) -> None:
        come_back = 0
        here = sorted(known for known in self._present if known[:2] == kind)
        for known in here:
            one = self._present[known]
            if known.number in waiting and self.bring_back(one):
                come_back += 1
            elif one.is_active and known.number not in waiting and (known.number < times or come_back):
                come_back -= known.number >= times
                one.stop()
                self._told[one] = known
        self._times[kind] = max(times, self._times.get(kind, 0))
        self._most_kinds = max(self._most_kinds, len(self._times))


def _kind(fields: Fields) -> Kind:
    codes = [Fields({"": code}, fields.place_of("codes")).text("") for code in fields.items("codes")]
    return tuple(codes), fields.text("name")
