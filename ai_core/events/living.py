"""Iteration over the live keepers of handlers, for loops over weak listeners.

A weak reference is resolved at its turn, inside the loop, so a listener freed by an
earlier one is skipped.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

__all__ = ["WeakList", "living"]


class WeakList(Protocol):
    """Objects in order, some held weakly; can be iterated repeatedly and inside an iteration."""

    times: int
    """Iterations begun (count); can be set."""

    def __iter__(self) -> Iterator[Any]: ...

    def end(self) -> None:
        """End every loop under way and drop all objects."""


def living(held: Sequence[Any], are_weak: Sequence[bool], gone: type[Exception]) -> WeakList:
    """Return an iterable over objects; each weak reference is resolved at its turn.

    Args:
        held: the objects, or weak references to them.
        are_weak: for each entry, whether it is a weak reference.
        gone: exception class, raised without arguments at the first freed object.
    """
    return _WeakList(held, are_weak, gone) if any(are_weak) or len(held) != len(are_weak) else _StrongList(held)


class _StrongList:
    """A list without weak references; much faster than ``_WeakList``."""

    __slots__ = ("_held", "times")

    def __init__(self, held: Sequence[Any]) -> None:
        self._held = [*held]
        self.times = 0

    def __iter__(self) -> Iterator[Any]:
        self.times += 1
        return iter(self._held)

    def end(self) -> None:
        self._held.clear()


class _WeakList:
    __slots__ = ("_gone", "_held", "times")

    def __init__(self, held: Sequence[Any], are_weak: Sequence[bool], gone: type[Exception]) -> None:
        rows = zip(held, are_weak, strict=True)
        self._held: list[Callable[[], Any]] = [one if is_weak else _holding(one) for one, is_weak in rows]
        self._gone = gone
        self.times = 0

    def __iter__(self) -> Iterator[Any]:
        self.times += 1
        for look_up in self._held:
            found = look_up()
            if found is None:
                raise self._gone
            yield found

    def end(self) -> None:
        self._held.clear()


def _holding(one: Any) -> Callable[[], Any]:
    return lambda: one
