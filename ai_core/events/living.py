"""Going through those who keep handlers, as far as they live: what a loop over weak listeners needs.

This is the twin in Python of ``_living``, which is used in its place where it
was built. Looking a weak reference up in the loop takes as long as half a call;
done between two steps of the loop it takes a tenth of one.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from ai_core.twins import twin

__all__ = ["INTERFACE", "WeakList", "living"]

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the kernel."""


class WeakList(Protocol):
    """Objects in order, some of them held weakly; gone through as often as wanted, also inside itself."""

    times: int
    """How often going through them has begun; may be set."""

    def __iter__(self) -> Iterator[Any]: ...

    def end(self) -> None:
        """Let every loop under way end where it is, and hold nobody any more."""


@twin
def living(held: Sequence[Any], are_weak: Sequence[bool], gone: type[Exception]) -> WeakList:
    """Return what goes through objects; each is looked up when it is its turn.

    Args:
        held: the objects, or weak references to them.
        are_weak: of each, whether it is a reference.
        gone: raised, without arguments, at the first whose object is gone.
    """
    return _WeakList(held, are_weak, gone) if any(are_weak) or len(held) != len(are_weak) else _StrongList(held)


class _StrongList:
    """As below, where nobody has to be looked up: much quicker."""

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
