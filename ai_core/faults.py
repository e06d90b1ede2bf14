"""Fault isolation: a failing piece of work does not stop the frame."""
from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import MethodType
from typing import Any, NamedTuple
from weakref import ref

from ai_core.errors import check_callables, check_type, shown, whole_number
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import Flag, MapOf, Row, Whole

__all__ = ["NO_FAILURES", "Failures", "Fault", "FaultIsolation", "given_faults"]

QUARANTINE_AFTER_FAILURES = 3
"""Failures in a row before work is quarantined (count).

A single failure may be a passing state of the world, such as a target that was just
freed; three are a bug. A larger count would repeat the same traceback for longer.
"""


@dataclass(frozen=True)
class Fault:
    """A failure of a piece of work, with the key under which that is released."""

    name: str
    frame: int
    error: Exception
    failures_in_a_row: int
    is_quarantined: bool
    key: Hashable


class Failures(NamedTuple):
    """The failure record of a piece of work; saved with that work.

    Attributes:
        in_a_row: failures since the last success (count).
        is_quarantined: True if the work is skipped until it is released.
    """

    in_a_row: int = 0
    is_quarantined: bool = False


NO_FAILURES = Failures()
"""The record of work that succeeded in its last run, or was released."""


FAILURES_STATE = Row(Failures, Whole(), Flag())
"""How failures are saved."""


class FaultIsolation(Saveable):
    """Counts the failures of pieces of work, and decides which work is skipped.

    A runner of work calls ``failed`` or ``succeeded`` after each run, with a unique
    key, and skips work for which ``is_quarantined`` is true. A key is the work, or a
    tuple of its owner and a name; an owner that is an object of a class is kept weakly, and
    its records go with it.
    Faults are passed to ``report`` and not stored: a traceback would keep freed objects
    alive.

    Args:
        quarantine_after: failures in a row after which work is quarantined; 1 or more.
        report: called with each fault; None writes to the log named "ai_core".
        reraise: raise every failure again, for tests.

    Attributes:
        has_failing: True if any work failed in its last run; a quick check before
            many calls of ``succeeded``.
        has_quarantined: True if any work is quarantined; a quick check before many
            calls of ``is_quarantined``.
    """

    SHOWN = ("counts",)

    STATE = DeclaredState(failures=Whole(at="_failures"), named=MapOf(FAILURES_STATE, at="_named_failures"))

    def __init__(
        self,
        *,
        quarantine_after: int = QUARANTINE_AFTER_FAILURES,
        report: Callable[[Fault], None] | None = None,
        reraise: bool = False,
    ) -> None:
        self._quarantine_after = whole_number(
            "quarantine_after", quarantine_after, minimum=1, remedy="use 1 to allow no failure"
        )
        check_callables(report=report)
        check_type("reraise", reraise, bool)
        self._report = report or _log
        self._reraise = reraise
        self._in_a_row: dict[Hashable, int] = {}
        self._quarantined: set[Hashable] = set()
        self._owned: dict[ref[Any], set[Hashable]] = {}     # the keys of owners whose work has failed
        self._forget_gone = _forgetting(self)
        self._failures = 0
        self.has_failing = self.has_quarantined = False     # attributes, because every run reads them

    def failed(self, key: Hashable, name: str, frame: int, error: Exception) -> Fault:
        """Count and report a failure of the work registered under ``key``.

        Raises:
            Exception: ``error`` itself, if made with ``reraise``.
        """
        self._failures += 1
        kept = self._kept(key)
        in_a_row = self._in_a_row.get(kept, 0) + 1
        self._in_a_row[kept] = in_a_row
        if in_a_row >= self._quarantine_after:
            self._quarantined.add(kept)
        self._look()
        if self._reraise:
            raise error
        fault = Fault(name, frame, error, in_a_row, kept in self._quarantined, key)
        try:
            self._report(fault)
        except Exception:  # a broken report must not stop the frame it reports on
            logging.getLogger("ai_core").exception("the fault report itself failed")
            _log(fault)
        return fault

    def run(self, key: Hashable, name: str, frame: int, work: Callable[[], object]) -> bool:
        """Run work that is not quarantined, and record the result; return whether it ran without an error."""
        if self._quarantined and self.is_quarantined(key):
            return False
        try:
            work()
        except Exception as error:
            self.failed(key, name, frame, error)
            return False
        self.succeeded(key)
        return True

    def report_of_the_past(self, name: str, frame: int, error: Exception) -> None:
        """Report a failure in finished work, such as the clean-up of a dropped job; no key is charged with it.

        Raises:
            Exception: ``error`` itself, if made with ``reraise``.
        """
        key = object()
        try:
            self.failed(key, name, frame, error)
        finally:
            self.forget(key)

    def succeeded(self, key: Hashable) -> None:
        """Record that the work ran without a failure; its count starts again at 0."""
        if self._in_a_row:
            self._in_a_row.pop(_weak(key), None)
            self._look()

    def is_quarantined(self, key: Hashable) -> bool:
        """Return True if the work must be skipped."""
        return _weak(key) in self._quarantined

    def release(self, key: Hashable) -> None:
        """Let quarantined work run again, with its count of failures at 0; otherwise do nothing."""
        if not (self.has_failing or self.has_quarantined):
            return
        key = _weak(key)
        self._quarantined.discard(key)
        self._in_a_row.pop(key, None)
        self._look()

    def _kept(self, key: Hashable) -> Hashable:
        """Return the key for records, which go with its owner."""
        weak = _weak(key)
        if weak is not key:
            owner = weak[0]  # type: ignore[index]
            if owner not in self._owned:
                self._owned[ref(owner(), self._forget_gone)] = set()
            self._owned[owner].add(weak)
        return weak

    def _look(self) -> None:
        self.has_failing, self.has_quarantined = bool(self._in_a_row), bool(self._quarantined)

    def forget(self, key: Hashable) -> None:
        """Delete the record of ``key``; call it when the work is removed."""
        self.release(key)

    def failures_of(self, key: Hashable) -> Failures:
        """Return the record of the work under a key."""
        key = _weak(key)
        return Failures(self._in_a_row.get(key, 0), key in self._quarantined)

    def put_failures(self, key: Hashable, failures: Failures) -> None:
        """Set the record that ``failures_of`` returns; for a runner that saves and loads its work."""
        self.release(key)
        if failures == NO_FAILURES:
            return
        key = self._kept(key)
        if failures.in_a_row:
            self._in_a_row[key] = failures.in_a_row
        if failures.is_quarantined:
            self._quarantined.add(key)
        self._look()

    @property
    def _named_failures(self) -> dict[str, Failures]:
        """Failures under keys that are strings; a runner of work under other keys saves them with that work."""
        names = sorted(key for key in {*self._in_a_row, *self._quarantined} if isinstance(key, str))
        return {name: self.failures_of(name) for name in names}

    @_named_failures.setter
    def _named_failures(self, named: dict[str, Failures]) -> None:
        for key in [*self._in_a_row, *self._quarantined]:
            if isinstance(key, str):
                self.release(key)
        for name, failures in named.items():
            self.put_failures(name, failures)

    @property
    def counts(self) -> dict[str, int]:
        """``failures`` since the start, and the number of keys ``quarantined`` now."""
        return {"failures": self._failures, "quarantined": len(self._quarantined)}


def _weak(key: Hashable) -> Hashable:
    """Return a key that does not keep an owner alive; equal for equal keys while the owner lives."""
    if type(key) is not tuple or not key or isinstance(key[0], (MethodType, frozenset)):    # often made anew
        return key
    try:
        return (ref(key[0]), *key[1:])
    except TypeError:       # of a plain value, such as a string
        return key


def _forgetting(isolation: FaultIsolation) -> Callable[[ref[Any]], None]:
    """Return what deletes the records of an owner that is gone; it does not keep the isolation."""
    records = ref(isolation)

    def forget(owner: ref[Any]) -> None:
        here = records()
        if here is not None:
            for key in here._owned.pop(owner, ()):
                here._in_a_row.pop(key, None)
                here._quarantined.discard(key)
            here._look()

    return forget


def given_faults(faults: object) -> FaultIsolation:
    """Return ``faults``, or a new FaultIsolation that writes to the log for None."""
    if faults is None:
        return FaultIsolation()
    if not isinstance(faults, FaultIsolation):
        raise TypeError(f"faults must be a FaultIsolation or None, got {shown(faults)}; use FaultIsolation()")
    return faults


def _log(fault: Fault) -> None:
    ending = "; quarantined until released" if fault.is_quarantined else ""
    logging.getLogger("ai_core").error(
        "%s failed in frame %d (%d in a row)%s",
        fault.name,
        fault.frame,
        fault.failures_in_a_row,
        ending,
        exc_info=fault.error,
    )
