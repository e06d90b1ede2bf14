"""The faults of a character's callbacks: reported, counted, and quarantined if they persist."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ai_core.faults import FAILURES_STATE, Failures, FaultIsolation
from ai_core.saving.kinds import MapOf, Named

__all__ = ["CallbackFaults", "failing_state"]


class CallbackFaults:
    """Failure records of a character's callbacks; while ``failing`` is empty, no callback is quarantined."""

    __slots__ = ("__weakref__", "_owner_name", "_shared", "failing", "kept")

    def __init__(self, owner_name: str, isolation: FaultIsolation | None) -> None:
        self._owner_name = owner_name
        self._shared = isolation
        self.kept: Exception | None = None
        self.failing: set[str] = set()

    @property
    def _isolation(self) -> FaultIsolation:
        if self._shared is None:
            self._shared = FaultIsolation()
        return self._shared

    def report(self, name: str, frame: int, error: Exception, *, says: str = "") -> None:
        """Report an exception of the callback of this name; ``says`` is its name in the report, if that differs."""
        self.failing.add(name)
        try:
            self._isolation.failed((self, name), f"{self._owner_name}: {says or name}", frame, error)
        except Exception as raised:  # of an isolation with reraise; raised when the character is consistent
            self.keep(raised)

    def keep(self, error: Exception) -> None:
        """Keep an exception for ``raise_kept``; of several, the first."""
        self.kept = self.kept or error

    def raise_kept(self) -> None:
        """Raise the exception that was kept, if there is one."""
        kept, self.kept = self.kept, None
        if kept is not None:
            raise kept

    def note_success(self, name: str) -> None:
        """Record a successful call; the count of failures starts again at 0."""
        if name in self.failing:
            self.failing.discard(name)
            self._isolation.succeeded((self, name))

    def is_quarantined(self, name: str) -> bool:
        """Return True if the callback is quarantined."""
        return bool(self.failing) and self._isolation.is_quarantined((self, name))

    def release(self) -> bool:
        """Reset the failures of every callback; return whether there were any."""
        lost, self.failing = self.failing, set()
        for name in lost:
            self._isolation.forget((self, name))
        return bool(lost)

    @property
    def records(self) -> dict[str, Failures]:
        """The failure records of failing callbacks, by name."""
        return {name: self._isolation.failures_of((self, name)) for name in sorted(self.failing)}

    @records.setter
    def records(self, failing: dict[str, Failures]) -> None:
        self.release()
        for name, failures in failing.items():
            self.failing.add(name)
            self._isolation.put_failures((self, name), failures)


def failing_state(names: Callable[[Any], Iterable[str]], *, at: str = "_faults.records") -> MapOf:
    """Return how the records of failing callbacks are saved."""
    known = Named(lambda owner: {name: name for name in names(owner)}, "callback", name=str)
    return MapOf(FAILURES_STATE, key=known, at=at)
