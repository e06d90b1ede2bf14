"""``once`` listeners in saves: which have had their delivery, and which listen again after loading.

A ``once`` listener stops at its delivery. When an earlier save is loaded in the same
world, it must listen again; when a later save is loaded in a new world, the same
listener there must stop. So ``once`` listeners are identified by codes and name, and
numbered in order of registration.
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
"""Used ``once`` listeners that can listen again (count).

They keep their handlers alive. With a smaller number, loading an old save restores
fewer of them; with a larger number, used handlers stay in memory longer.
"""

KINDS = 4096
"""Kinds of ``once`` listeners that are counted although none of them listens or can listen again (count).

Without a limit, names that are never used again, such as a name with a number in it, would stay
in memory and in each save. The next listener of a forgotten kind is number 0 again: loading a
save with a higher count stops it.
"""

Kind = tuple[tuple[str, ...], str]
"""The codes listened to, and the name."""


class OnceListenerKey(NamedTuple):
    """Identity of a ``once`` listener: its kind, and its number within the kind."""

    codes: tuple[str, ...]
    name: str
    number: int


class OnceListeners:
    """The ``once`` listeners of a registry.

    Args:
        registry: the registry of the listeners.
    """

    def __init__(self, registry: EventRegistry) -> None:
        self._registry = registry
        self._times: dict[Kind, int] = {}  # the one that was added to last is the last
        self._most_kinds = KINDS
        self._present: WeakValueDictionary[OnceListenerKey, Subscription] = WeakValueDictionary()
        self._told: OrderedDict[Subscription, OnceListenerKey] = OrderedDict()

    def add(self, listening: Subscription) -> Callable[[Subscription], None]:
        """Register a new ``once`` listener; return the function that stops it at its delivery."""
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
        """Return whether a used listener can listen again."""
        return listening in self._told

    def bring_back(self, listening: Subscription) -> bool:
        """Let a used listener listen again; return False if it is not among the latest ``REMEMBERED``."""
        known = self._told.pop(listening, None)
        if known is None:
            return False
        self._registry.put_back(listening, known.codes)
        return True

    def references(self) -> dict[Subscription, OnceListenerKey]:
        """Return the listeners that are still active, with their keys."""
        return {one: known for known, one in self._present.items() if one.is_active}

    def find(self, codes: tuple[str, ...], name: str, number: int) -> Subscription | None:
        """Return a listener that is active, or can listen again after loading; None if there is none."""
        one = self._present.get(OnceListenerKey(codes, name, number))
        return one if one is not None and (one.is_active or one in self._told) else None

    def save_state(self) -> list[State]:
        """Return the count of each kind, and the numbers that are still active."""
        waiting: dict[Kind, list[int]] = {kind: [] for kind in self._times}
        for known in self.references().values():
            waiting[known[:2]].append(known.number)
        return [
            {"codes": [*codes], "name": name, "times": times, "waiting": sorted(waiting[codes, name])}
            for (codes, name), times in self._times.items()
        ]

    def prepare_state(self, fields: Fields) -> Callable[[], None]:
        """Check the saved field "once"; return a function that restores which listeners are active.

        A listener registered after the save is left alone, unless it replaced a
        listener that becomes active again.
        """
        saved: dict[Kind, tuple[int, set[int]]] = {}
        for one in fields.groups("once"):
            kind = _kind(one)
            times = one.whole("times")
            if kind in saved:
                one.refuse("name", "occurs twice with these codes")
            saved[kind] = times, set(one.wholes("waiting", maximum=times - 1))
            one.end()

        def change() -> None:
            for kind, (times, waiting) in saved.items():
                self._load(kind, times, waiting)

        return change

    def _forget_kinds(self) -> None:
        """Forget the unused kinds that were added to longest ago; O(1) on average."""
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
