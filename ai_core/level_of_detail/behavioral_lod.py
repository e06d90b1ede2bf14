"""Behavioral level of detail: one character runs different behaviors at different importances."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ai_core.errors import (
    check_callable,
    check_callables,
    check_kind,
    checked_name,
    finite_number,
    named,
    several,
    whole_number,
)
from ai_core.faults import FAILURES_STATE, Failures, FaultIsolation, given_faults
from ai_core.level_of_detail.behavior_ranges import BehaviorRanges, ImportanceRange, checked_importance, merge_ranges
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Saveable
from ai_core.saving.fields import LATEST_S, State, check_names, checked_dict
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.saving.kinds import Flag, MapOf, Named, Number, Optional, Row, Seconds, Whole
from ai_core.scheduling.task import Turn, Work
from ai_core.scheduling.work import Runner, runner_for


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class LODBehavior:
    """A behavior of a character for a range of importances.

    Args:
        name: unique name within the character.
        work: callable, generator function, or object with ``advance``, as for a scheduler.
        lowest, highest: range of importances in which it may run, 0 to 1; overlap neighboring ranges by
            the wanted hysteresis. A fallback's range is not used.
        enter: called with the previous behavior (or None) and the value returned by its ``exit``.
        exit: called with the next behavior (or None); returns compressed data for that behavior.
    """

    name: str
    work: Work
    lowest: float = 0.0
    highest: float = 1.0
    enter: Callable[[LODBehavior | None, Any], object] | None = None
    exit: Callable[[LODBehavior | None], Any] | None = None


class ForcedBehavior(NamedTuple):
    """A behavior that runs regardless of importance.

    Attributes:
        behavior: the behavior.
        left_s: remaining time (s), infinite until ``unforce``.
        has_begun: whether a turn has run since; time before the first turn does not count.
    """

    behavior: LODBehavior
    left_s: float
    has_begun: bool = False


def _raised_by(steps: list[tuple[str, Callable[[], object]]]) -> list[tuple[str, Exception]]:
    """Run one step per behavior; return the errors that the clean-up of work raised, with the behaviors' names."""
    raised = []
    for name, step in steps:
        try:
            step()
        except Exception as error:  # the other behaviors are still loaded
            raised.append((name, error))
    return raised


BEHAVIOR = Named(lambda lod: lod._by_name, "behavior")
SWITCH_STEPS = 1
"""Steps that a switch takes from the budget of the turn, if the budget counts steps."""


class BehavioralLOD(Saveable):
    """Runs the behavior of a character that suits its importance; callable as work of a scheduler.

    The current behavior stays while importance is in its range. A switch first exits the old behavior and
    then enters the new one, so that their data never exists at the same time; the time of a switch
    counts towards the turn's budget. A behavior that raises repeatedly is quarantined and skipped.

    Args:
        behaviors: behaviors, most detailed first.
        arbitration: choice among several matching behaviors; see ``behavior_ranges``.
        fallback: behavior for importances in no range; needs no range. None requires ranges without gaps.
        margin: hysteresis, 0 to 0.5, where ranges overlap by less than twice the margin: importance must
            pass a border, or leave a gap, by this much.
        importance: called each turn for the importance; None uses the property ``importance``.
        faults: handles behaviors that raise; None reports to the log.

    Attributes:
        on_change: called when a behavior is forced, a level is set, or a state is loaded; None for no call.

    Raises:
        TypeError: if an argument has a wrong type.
        ValueError: if a range is reversed or empty, names repeat, or gaps are left without a fallback.

    Source: 000_execution_management, behavioral level of detail.
    """

    SHOWN = ("current", "level")

    STATE = DeclaredState(
        current=Optional(BEHAVIOR, at="_current"), importance=Number(0, 1, at="_importance"),
        level=Optional(Whole(), at="_level"),
        forced=Optional(Row(ForcedBehavior, BEHAVIOR, Seconds(0, absent=math.inf), Flag()), at="_forced"),
        switches=Whole(), failing=MapOf(FAILURES_STATE, names=lambda lod: lod._by_name, at="_failures"), works=Hook())

    def __init__(
        self, behaviors: Sequence[LODBehavior], *, arbitration: str = "first",
        fallback: LODBehavior | None = None, margin: float = 0.05,
        importance: Callable[[], float] | None = None, faults: FaultIsolation | None = None,
    ) -> None:
        behaviors = several("behaviors", behaviors, LODBehavior)
        check_kind("fallback", fallback, LODBehavior)
        self._behaviors = (*behaviors, *([fallback] if fallback is not None else []))
        names = _checked_names(self._behaviors)
        self._fallback = fallback
        spans = [(one.lowest, one.highest) for one in behaviors]
        self._ranges = BehaviorRanges(
            spans, arbitration=arbitration, names=names[: len(spans)], allow_gaps=fallback is not None)
        self._margin = finite_number("margin", margin, minimum=0, maximum=0.5)
        self._held = self._ranges.with_hysteresis(self._margin)
        self._runners: dict[str, Runner] = {one.name: runner_for(one.work) for one in self._behaviors}
        check_callables(importance=importance)
        self._source = importance
        self._faults = given_faults(faults)
        self._compressions: dict[tuple[str, str], Callable[[Any], Any]] = {}
        self._importance = 0.0
        self._level: int | None = None
        self._forced: ForcedBehavior | None = None
        self._current: LODBehavior | None = None
        self._unentered: LODBehavior | None = None      # current, while the one before exits
        self._frame = 0
        self.switches = 0
        self.on_change: Callable[[], object] | None = None

    @property
    def faults(self) -> FaultIsolation:
        """Fault isolation of the behaviors."""
        return self._faults

    @property
    def importance(self) -> float:
        """Importance by which behaviors are chosen, 0 to 1; set by the game, or each turn by ``importance()``."""
        return self._importance

    @importance.setter
    def importance(self, value: float) -> None:
        self._importance = checked_importance(value)

    @property
    def behaviors(self) -> tuple[LODBehavior, ...]:
        """All behaviors, most detailed first, the fallback last."""
        return self._behaviors

    @property
    def current(self) -> str | None:
        """Name of the current behavior, None if none is entered."""
        return None if self._current is None else self._current.name

    @property
    def level(self) -> int | None:
        """Number of the behavior that ``LevelLimits`` assigned, None to choose by importance.

        No behavior runs at a level beyond the last behavior, or at one with a quarantined behavior; in that
        case ``LevelLimits`` must assign another level.
        """
        return self._level

    @level.setter
    def level(self, value: int | None) -> None:
        self._level = None if value is None else whole_number("level", value, minimum=0)
        self._tell()

    @property
    def forced(self) -> int | None:
        """Number of the forced behavior, None if none is forced."""
        return None if self._forced is None else self._behaviors.index(self._forced.behavior)

    @property
    def quarantined(self) -> tuple[int, ...]:
        """Numbers of the behaviors that are quarantined."""
        if not self._faults.has_quarantined:  # the usual case, checked for every character
            return ()
        return tuple(n for n, one in enumerate(self._behaviors) if not self._is_able(one))

    @property
    def has_overrides(self) -> bool:
        """Whether a behavior is forced or may be quarantined: a cheap check before ``forced`` and ``unable``."""
        return self._forced is not None or self._faults.has_quarantined

    def compress(self, leaving: str, entering: str, function: Callable[[Any], Any]) -> None:
        """Set a function that converts the result of one behavior's ``exit`` for another's ``enter``.

        Args:
            leaving: name of the behavior that exits.
            entering: name of the behavior that enters.
            function: receives the result of ``exit``; its result is given to ``enter``.

        Raises:
            TypeError: if ``function`` is not callable.
            UnknownNameError: if no behavior has a name.
        """
        check_callable("function", function)
        self._compressions[self._named(leaving).name, self._named(entering).name] = function

    def force(self, name: str, *, for_s: float | None = None) -> None:
        """Run a behavior regardless of importance, for example after damage or by a script.

        Under ``LevelLimits`` the character takes the place of the least important one at their next update;
        the limits still hold.

        Args:
            name: name of the behavior.
            for_s: duration in elapsed time of turns (s), above 0; None until ``unforce``.

        Raises:
            UnknownNameError: if no behavior has the name.
            TypeError, ValueError: if ``for_s`` is not a number above 0.
        """
        left_s = math.inf if for_s is None else finite_number("for_s", for_s, above=0, maximum=LATEST_S)
        self._forced = ForcedBehavior(self._named(name), left_s)
        self._tell()

    def unforce(self) -> None:
        """End a forced behavior; importance decides again."""
        self._forced = None

    def release(self, name: str) -> None:
        """Release a quarantined behavior, so that it can be chosen again."""
        self._faults.release((self, self._named(name).name))

    def switch_if_needed(self) -> bool:
        """Switch to the behavior that importance, level and force require, without running it.

        Returns:
            Whether the behavior changed.
        """
        wanted = next((one for one in self._candidates() if self._is_able(one)), None)
        if wanted is self._current:
            return False
        self._switch(wanted)
        return True

    def __call__(self, turn: Turn) -> str | None:
        """Choose and run a behavior; return its name, or None if none runs.

        The choice and a switch count towards the turn's budget.
        """
        self._frame = turn.now.frame
        if self._source is not None:
            self.importance = self._source()
        self._expire_force(turn.elapsed_s)
        if self.switch_if_needed():
            turn.budget.spend(SWITCH_STEPS)
        current = self._current
        if current is None:
            return None
        runner = self._runners[current.name]
        self._faults.run((self, current.name), current.name, self._frame, lambda: runner.run(turn))
        return current.name

    @property
    def _by_name(self) -> dict[str, LODBehavior]:
        return {one.name: one for one in self._behaviors}

    @property
    def _failures(self) -> dict[str, Failures]:
        return {one.name: self._faults.failures_of((self, one.name)) for one in self._behaviors}

    @_failures.setter
    def _failures(self, failures: dict[str, Failures]) -> None:
        for name, one in failures.items():
            self._faults.put_failures((self, name), one)

    def _save_works(self) -> dict[str, State | None]:
        return {one.name: inner_state(one.work) for one in self._behaviors}

    def _prepare_works(self, plain: Any, place: str) -> Change:
        check_names(place, works := checked_dict(place, plain), [one.name for one in self._behaviors])
        loads = [(one.name, prepared_inner(one.work, works[one.name], f"work of {one.name!r}"))
                 for one in self._behaviors]

        def load() -> None:
            raised = _raised_by([(name, runner.close) for name, runner in self._runners.items()])  # of the old state
            self._tell()
            for name, error in [*raised, *_raised_by(loads)]:
                self._faults.report_of_the_past(name, self._frame, error)

        return load

    def _tell(self) -> None:
        if self.on_change is not None:
            self.on_change()

    def _expire_force(self, elapsed_s: float) -> None:
        force = self._forced
        if force is not None and force.has_begun:
            left_s = force.left_s - elapsed_s
            self._forced = force._replace(left_s=left_s) if left_s > 0 else None
        elif force is not None:
            self._forced = force._replace(has_begun=True)

    def _candidates(self) -> Iterator[LODBehavior]:
        """Yield the wanted behavior, then alternatives in case it is quarantined."""
        if self._level is not None:
            yield from self._behaviors[self._level : self._level + 1]
            return
        if self._forced is not None:
            yield self._forced.behavior
        current, value = self._current, self._importance
        if current is None or current is not self._fallback or self._is_out_of_gaps():
            if current is not None and self._is_kept(current):
                yield current
            chosen = self._ranges.choose(value)
            if chosen is not None:
                yield self._behaviors[chosen]
            yield from (self._behaviors[n] for n, one in enumerate(self._ranges) if one.contains(value))
        if self._fallback is not None:
            yield self._fallback

    def _is_kept(self, behavior: LODBehavior) -> bool:
        number = self._behaviors.index(behavior)
        return number < len(self._held) and self._held[number].contains(self._importance)

    def _is_out_of_gaps(self) -> bool:
        """Return whether importance is far enough inside the ranges of able behaviors to end a fallback."""
        able = (one for one, behavior in zip(self._ranges, self._behaviors, strict=False) if self._is_able(behavior))
        return any(_narrowed(one, self._margin).contains(self._importance) for one in merge_ranges(able))

    def _is_able(self, behavior: LODBehavior) -> bool:
        return not self._faults.is_quarantined((self, behavior.name))

    def _switch(self, wanted: LODBehavior | None) -> None:
        """Exit the old behavior, then enter the new one; the new one is current even if a callback raises.

        A switch in a callback of ``exit`` supersedes this one: what was not entered is neither entered nor exited.
        """
        left, self._current = self._current, wanted
        self.switches += 1
        number = self.switches
        left, self._unentered = None if left is self._unentered else left, wanted
        try:
            data = self._exit_for(left, wanted)
        finally:
            is_superseded = self.switches != number
            if not is_superseded:
                self._unentered = None
        if not is_superseded and wanted is not None and wanted.enter is not None:
            self._safely(wanted, "enter", wanted.enter, left, data)

    def _exit_for(self, left: LODBehavior | None, wanted: LODBehavior | None) -> Any:
        """Exit the old behavior; return its data, compressed for the new one."""
        data: Any = None
        if left is not None:
            data = self._safely(left, "exit", self._leave, left, wanted)
        if left is not None and wanted is not None:
            convert = self._compressions.get((left.name, wanted.name))
            if convert is not None:
                data = self._safely(wanted, "compression", convert, data)
        return data

    def _leave(self, left: LODBehavior, entering: LODBehavior | None) -> Any:
        try:
            return left.exit(entering) if left.exit is not None else None
        finally:
            self._runners[left.name].close()

    def _safely(self, behavior: LODBehavior, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        key = (self, behavior.name)
        try:
            return function(*arguments)
        except Exception as error:  # an unfinished switch would be worse
            self._faults.failed(key, f"{behavior.name} ({what})", self._frame, error)
            return None

    def _named(self, name: str) -> LODBehavior:
        return named("behavior", name, self._by_name)


def _checked_names(behaviors: Sequence[LODBehavior]) -> list[str]:
    if not behaviors:
        raise ValueError("behaviors must have at least one behavior, got none")
    names = []
    for one in behaviors:
        checked_name("name", one.name)
        if one.name in names:
            raise ValueError(f"two behaviors are named {one.name!r}; names must differ")
        names.append(one.name)
    return names


def _narrowed(one: ImportanceRange, margin: float) -> ImportanceRange:
    """Return the range in which a fallback ends: narrowed by the margin, except at 0 and 1."""
    margin = min(margin, (one.highest - one.lowest) / 4)
    return ImportanceRange(
        one.lowest if one.lowest == 0 else one.lowest + margin,
        one.highest if one.highest == 1 else one.highest - margin)


__all__ = ["BehavioralLOD", "ForcedBehavior", "LODBehavior"]
