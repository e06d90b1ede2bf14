"""Faults stay where they happen: one failing piece of work does not stop a frame.

It is reported, gets another try, and after several failures in a row is
quarantined: whoever runs it leaves it out until it is released.
"""
from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import NamedTuple

from ai_core.errors import shown, whole_number
from ai_core.saving.fields import Fields, State, brief

__all__ = ["NO_FAILURES", "Failures", "Fault", "FaultIsolation", "given_faults"]

QUARANTINE_AFTER_FAILURES = 3
"""Failures in a row before work is left out (count).

One may be a passing state of the world, such as a target freed a moment ago;
three are a bug. More would repeat the same traceback for longer.
"""


@dataclass(frozen=True)
class Fault:
    """One failure of one piece of work."""

    name: str
    frame: int
    error: Exception
    failures_in_a_row: int
    is_quarantined: bool

    def traceback_text(self) -> str:
        """Return the traceback as Python prints it."""
        return "".join(traceback.format_exception(self.error))


class Failures(NamedTuple):
    """What is known of work that failed, and what a save of that work holds of it.

    Attributes:
        in_a_row: failures since it last succeeded (count).
        is_quarantined: whether it is left out until it is released.
    """

    in_a_row: int = 0
    is_quarantined: bool = False

    def saved(self) -> State:
        """Return it as two fields of the work's state."""
        return {"failures": self.in_a_row, "is_quarantined": self.is_quarantined}

    @classmethod
    def read(cls, fields: Fields) -> Failures:
        """Return what ``saved`` wrote among the fields of the work.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        return cls(fields.whole("failures"), fields.flag("is_quarantined"))


NO_FAILURES = Failures()
"""Of work that succeeded last, or was released."""


class FaultIsolation:
    """Counts the failures of pieces of work, and decides which are left out.

    Whoever runs work calls ``failed`` or ``succeeded`` after it, under a key
    of its own, and runs nothing for which ``is_quarantined`` is true. Faults
    are handed on and not kept: a traceback would keep freed objects alive.

    Args:
        quarantine_after: failures in a row that are one too many; 1 or more.
        report: told each fault; None writes it to the log named "ai_core".
        reraise: let every failure through, for tests.

    Attributes:
        has_failing: True if any work has failed in its last run: a quick look before many have succeeded.
        has_quarantined: True if any work is left out: a quick look before many are asked about.
    """

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
        if report is not None and not callable(report):
            raise TypeError(f"report must be a callable or None, got {shown(report)}")
        self._report = report or _log
        self._reraise = reraise
        self._in_a_row: dict[Hashable, int] = {}
        self._quarantined: set[Hashable] = set()
        self._failures = 0
        self.has_failing = self.has_quarantined = False     # attributes, as they are looked at in every run

    def failed(self, key: Hashable, name: str, frame: int, error: Exception) -> Fault:
        """Count and report a failure of the work known by ``key``.

        Raises:
            Exception: ``error`` itself, if made with ``reraise``.
        """
        self._failures += 1
        in_a_row = self._in_a_row.get(key, 0) + 1
        self._in_a_row[key] = in_a_row
        if in_a_row >= self._quarantine_after:
            self._quarantined.add(key)
        self._look()
        if self._reraise:
            raise error
        fault = Fault(name, frame, error, in_a_row, key in self._quarantined)
        try:
            self._report(fault)
        except Exception:  # a broken report must not stop the frame it reports on
            logging.getLogger("ai_core").exception("the fault report itself failed")
            _log(fault)
        return fault

    def report_of_the_past(self, name: str, frame: int, error: Exception) -> None:
        """Report a failure of what is over, such as the clean-up of work that was dropped: it counts against nobody.

        Raises:
            Exception: ``error`` itself, if made with ``reraise``.
        """
        key = object()
        try:
            self.failed(key, name, frame, error)
        finally:
            self.forget(key)

    def succeeded(self, key: Hashable) -> None:
        """Note that the work ran without failing: its failures were not in a row."""
        if self._in_a_row:
            self._in_a_row.pop(key, None)
            self._look()

    def is_quarantined(self, key: Hashable) -> bool:
        """Return True if the work is to be left out."""
        return key in self._quarantined

    def release(self, key: Hashable) -> None:
        """Let quarantined work run again, with all its tries; else do nothing."""
        self._quarantined.discard(key)
        self._in_a_row.pop(key, None)
        self._look()

    def _look(self) -> None:
        self.has_failing, self.has_quarantined = bool(self._in_a_row), bool(self._quarantined)

    def forget(self, key: Hashable) -> None:
        """Drop all that is known of ``key``; call it when the work is removed."""
        self.release(key)

    def failures_of(self, key: Hashable) -> Failures:
        """Return what is known of the work under a key."""
        return Failures(self._in_a_row.get(key, 0), key in self._quarantined)

    def put_failures(self, key: Hashable, failures: Failures) -> None:
        """Set what ``failures_of`` returns; for what was saved by whoever runs the work."""
        self.release(key)
        if failures.in_a_row:
            self._in_a_row[key] = failures.in_a_row
        if failures.is_quarantined:
            self._quarantined.add(key)
        self._look()

    def save_state(self) -> State:
        """Return the total, and the counts under keys that are text.

        Whoever runs work under keys of another kind saves them with that work,
        by its name: schedulers, event managers, stations, sensors, habit trees.
        """
        names = sorted(
            key for key in {*self._in_a_row, *self._quarantined} if isinstance(key, str)
        )
        rows = [{"name": name, **self.failures_of(name).saved()} for name in names]
        return {"version": 1, "failures": self._failures, "named": rows}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check saved counts; return what puts them back.

        Raises:
            StateError: if they cannot be loaded; says where in them, and why.
        """
        fields = Fields.versioned(state, version=1)
        failures = fields.whole("failures")
        named: dict[str, Failures] = {}
        for one in fields.groups("named"):
            name = one.text("name")
            if name in named:
                one.refuse("name", f"comes again: {brief(name)}")
            named[name] = Failures.read(one)
            one.end()
        fields.end()
        return lambda: self._put_named(failures, named)

    @property
    def counts(self) -> dict[str, int]:
        """``failures`` since the beginning, and how many are ``quarantined`` now."""
        return {"failures": self._failures, "quarantined": len(self._quarantined)}

    def _put_named(self, failures: int, named: dict[str, Failures]) -> None:
        self._failures = failures
        for key in [*self._in_a_row, *self._quarantined]:
            if isinstance(key, str):
                self.release(key)
        for name, of_it in named.items():
            self.put_failures(name, of_it)


def given_faults(faults: object) -> FaultIsolation:
    """Return what was handed in to report failures to; for None one that reports to the log.

    Raises:
        TypeError: if it is something else.
    """
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
