"""``once`` listeners in saves: which have had their delivery, and which listen again after loading.

A ``once`` listener stops at its delivery. When an earlier save is loaded in the same
world, it must listen again; when a later save is loaded in a new world, the same
listener there must stop. So ``once`` listeners are identified by codes and name, and
numbered in order of registration.
"""
from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakValueDictionary

from ai_core.events.event_registry import EventRegistry, Subscription
from ai_core.saving.declared_state import ListOf, Record, Text, Whole

__all__ = ["ONCE_COUNT_STATE", "REMEMBERED", "OnceCount", "OnceListenerKey", "OnceListeners"]

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


class OnceCount(NamedTuple):
    """How many listeners of a kind were registered, and the numbers of those that are still active."""

    codes: tuple[str, ...]
    name: str
    times: int
    waiting: list[int]

    @classmethod
    def checked(cls, codes: tuple[str, ...], name: str, times: int, waiting: list[int]) -> OnceCount:
        """Return a count; raise ValueError unless the numbers are below ``times``."""
        if any(number >= times for number in waiting):
            raise ValueError(f"'waiting' must hold numbers below 'times', {times}, got {max(waiting)}")
        return cls(codes, name, times, waiting)


ONCE_COUNT_STATE = Record(
    OnceCount.checked, codes=ListOf(Text(), make=tuple), name=Text(), times=Whole(), waiting=ListOf(Whole()))
"""How the count of a kind of ``once`` listeners is saved."""


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

    def known(self) -> dict[OnceListenerKey, Subscription]:
        """Return the listeners that are active, or can listen again after loading."""
        return {known: one for known, one in self._present.items() if one.is_active or one in self._told}

    @property
    def counts(self) -> list[OnceCount]:
        """The count of each kind, and the numbers that are still active.

        Setting it restores which listeners are active. A listener registered after the save is left alone,
        unless it replaced a listener that becomes active again.
        """
        waiting: dict[Kind, list[int]] = {kind: [] for kind in self._times}
        for known in self.references().values():
            waiting[known[:2]].append(known.number)
        return [OnceCount(*kind, times, sorted(waiting[kind])) for kind, times in self._times.items()]

    @counts.setter
    def counts(self, counts: list[OnceCount]) -> None:
        here: dict[Kind, list[OnceListenerKey]] = defaultdict(list)
        for known in sorted(self._present):
            here[known[:2]].append(known)
        for codes, name, times, waiting in counts:
            self._load((codes, name), here[codes, name], times, set(waiting))

    def _forget_kinds(self) -> None:
        """Forget the unused kinds that were added to longest ago; O(1) on average."""
        in_use = {known[:2] for known in (*self.references().values(), *self._told.values())}
        unused = [kind for kind in self._times if kind not in in_use]
        for kind in unused[: max(0, len(unused) - KINDS // 2)]:
            del self._times[kind]
        self._most_kinds = max(KINDS, 2 * len(self._times))

    def _load(self, kind: Kind, here: list[OnceListenerKey], times: int, waiting: set[int]) -> None:
        come_back = 0
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
