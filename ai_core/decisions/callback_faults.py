"""The faults of one character's callbacks: reported, counted, left out if they last."""
from __future__ import annotations

from collections.abc import Iterable

from ai_core.errors import UnknownNameError
from ai_core.faults import Failures, FaultIsolation
from ai_core.saving.fields import Fields, State

__all__ = ["CallbackFaults", "read_failing"]


class CallbackFaults:
    """Made at the first fault of a character, so that healthy ones pay nothing.

    Args:
        owner_name: of the character, for reports.
        isolation: counts, reports and decides what is left out.
    """

    __slots__ = ("_failing", "_isolation", "_mark", "_owner_name")

    def __init__(self, owner_name: str, isolation: FaultIsolation) -> None:
        self._owner_name = owner_name
        self._isolation = isolation
        self._mark = object()  # stands for this in the isolation, which would else keep it, and its counts, for ever
        self._failing: set[str] = set()

    def __del__(self) -> None:
        """Leave nothing behind when the character is gone."""
        self.release()

    def report(self, name: str, frame: int, error: Exception, *, says: str = "") -> None:
        """Report that the callback of this name raised.

        Args:
            name: what its failures are counted under.
            frame: in which it raised.
            error: what it raised.
            says: what the report calls it, if not by this name.

        Raises:
            Exception: ``error`` itself, if the isolation lets faults through.
        """
        self._failing.add(name)
        self._isolation.failed((self._mark, name), f"{self._owner_name}: {says or name}", frame, error)

    def note_success(self, name: str) -> None:
        """Note a call that went well: failures were not in a row."""
        if name in self._failing:
            self._failing.discard(name)
            self._isolation.succeeded((self._mark, name))

    def is_left_out(self, name: str) -> bool:
        """Return True if the callback failed too often."""
        return self._isolation.is_quarantined((self._mark, name))

    def release(self) -> bool:
        """Give every callback all its tries again; return whether one had lost any."""
        lost, self._failing = self._failing, set()
        for name in lost:
            self._isolation.forget((self._mark, name))
        return bool(lost)

    def save(self) -> list[State]:
        """Return what failed lately, as plain data."""
        return [
            {"name": name, **self._isolation.failures_of((self._mark, name)).saved()} for name in sorted(self._failing)]

    def put(self, failing: dict[str, Failures]) -> None:
        """Set what ``save`` returns."""
        self.release()
        for name, failures in failing.items():
            self._failing.add(name)
            self._isolation.put_failures((self._mark, name), failures)


def read_failing(fields: Fields, known: Iterable[str]) -> dict[str, Failures]:
    """Return the field "failing", as ``CallbackFaults.save`` wrote it, for its ``put``.

    Args:
        fields: has the field.
        known: names of all callbacks there are.

    Raises:
        StateError: if it cannot be loaded; says where in it, and why.
    """
    names = set(known)
    failing: dict[str, Failures] = {}
    for one in fields.groups("failing"):
        name = one.text("name")
        if name not in names:
            one.refuse("name", f"is not here: {UnknownNameError('callback', name, names)}")
        if name in failing:
            one.refuse("name", f"comes twice: {name!r}")
        failing[name] = Failures.read(one)
        one.end()
    return failing
