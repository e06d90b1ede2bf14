"""HabitCondition: whether the condition of a habit lets it begin, and whether it ends the habit."""
from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import GDObject
from addons.ai_core.nodes.characters.guard_expression import ABSENT, GuardExpression, deciding_names
from addons.ai_core.nodes.characters.sensor_feed import VALUES
from addons.ai_core.nodes.habits.habit_events import EVENT, EventMind
from ai_core.decisions.habits.habit_runner_loops import HabitContext, TickWhile, ValueIs, ValuesAre
from ai_core.decisions.habits.habit_status import Status

Callback = Callable[[HabitContext], object]

TRUE_SINCE_S, FALSE_SINCE_S, WAIT, WAITED_S = "_true_since_s", "_false_since_s", "_wait", "_waited_s"
"""Names of the numbers of a condition among the values that a habit keeps, and among those of a run."""

OF_TARGETS = {"target", "is_in_view"}
"""Values of a sensor that its awareness explains."""

ROUNDING_S = 1e-9
"""Tolerance within which a time has passed (s), as sums of frame times have rounding errors."""


class ConditionScope(IntEnum):
    """Effect of a condition besides gating the beginning of its habit."""

    GATES = 0
    ENDS = 1
    INTERRUPTS = 2
    BOTH = 3


INTERRUPTING = (ConditionScope.INTERRUPTS, ConditionScope.BOTH)
ENDING = (ConditionScope.ENDS, ConditionScope.BOTH)


class HabitCondition:
    """The condition of a habit, shared by all characters with the same settings.

    It is checked when one of its keys changes, or in every tick if it has none.

    Args:
        expression: the expression.
        scope: a ConditionScope.
        keys: the values of the blackboard that alone decide; empty if others decide as well.
        for_at_least_s: time for which it must have been true to begin the habit (s).
        for_at_most_s: time for which it may be false before it ends the habit (s).
    """

    def __init__(
        self, expression: GuardExpression, scope: int, keys: tuple[str, ...], for_at_least_s: float,
        for_at_most_s: float,
    ) -> None:
        self._expression, self._scope, self.keys = expression, scope, keys
        self._for_at_least_s, self._for_at_most_s = for_at_least_s, for_at_most_s
        self.deciding = () if EVENT in expression.names else deciding_names(expression.text)
        self._ask = self._asking()

    def gate(self, wish: Callback | None, refuser: str) -> Callback:
        """Return the callback that decides whether the habit may begin: the condition, then ``wish``.

        Args:
            wish: what else must be true; None for nothing.
            refuser: why ``wish`` refuses, in words; "" if it notes them itself.
        """
        gate = self._ask if self._scope in INTERRUPTING and self._for_at_least_s == 0 else self._may_begin
        if wish is None:
            return gate
        if isinstance(gate, ValuesAre):
            return ValuesAre(gate.conditions, gate.otherwise, wish)
        return both(gate, "", wish, refuser)

    def ends(self, tick: Callback | None) -> Callback | None:
        """Return the tick of a habit that fails when the condition is false; ``tick`` if it never ends it."""
        if self._scope not in ENDING:
            return tick

        def tick_while_true(run: HabitContext) -> object:
            if not self._may_continue(run):
                return Status.FAILED
            if tick is None:
                self._sleep(run)
                return Status.RUNNING
            return Status.RUNNING if WAIT in run.memory and self._still_waits(run) else tick(run)

        if tick is None or not isinstance(self._ask, ValuesAre):
            return tick_while_true
        return TickWhile(self._ask, tick, tick_while_true, (FALSE_SINCE_S, WAIT))

    def limits(self, run: HabitContext) -> tuple[tuple[str, ...], float] | None:
        """Return the values by which it may end a run, and the time after which (s); None if it is asked each tick."""
        if self._scope not in ENDING:
            return (), math.inf
        if not self.keys:
            return None
        return self.keys, self._left_s(run) if FALSE_SINCE_S in run.memory else math.inf

    @property
    def text(self) -> str:
        """The expression."""
        return self._expression.text

    def is_true(self, tree: Any, asked: bool | None) -> bool | None:
        """Return whether it is true: now, or as it was asked last if it calls methods; None if it was never asked.

        Args:
            tree: the HabitTree.
            asked: the last answer, None if there is none.
        """
        return self._expression.is_true_by_names(tree) if self.deciding else asked

    def why_false(self, tree: Any, habit: Any, kept: dict[str, Any], asked: bool | None) -> str:
        """Return why it does not let its habit begin, in words; "" if it does, or was never asked."""
        is_true = self.is_true(tree, asked)
        if is_true is None:
            return ""
        if is_true:
            since_s, text, now_s = kept.get(TRUE_SINCE_S), self._expression.text, tree.core.seconds
            if since_s is None or not self._for_at_least_s:
                interrupts = self._scope in INTERRUPTING or not _would_interrupt(habit)
                return "" if interrupts else f"condition `{text}` is true, but it does not interrupt"
            return f"condition `{text}` is true for {now_s - since_s:.1f} of {self._for_at_least_s:g} s"
        return self.words_of_false(tree)

    def words_of_false(self, tree: Any) -> str:
        """Return that it is false, with the values that decide."""
        values = self._expression.why_false(tree)
        aware = tree.known("awareness") if OF_TARGETS & set(self._expression.names) else ABSENT
        if aware is not ABSENT:
            values += f", awareness {aware:.2f}"
        return f"condition `{self._expression.text}` is false{f': {values}' if values else ''}"

    def _asking(self) -> Callback:
        """Return the check; comparisons of blackboard values with constants need no expression."""
        expression = self._expression
        if EVENT in expression.names:
            return _noting(lambda run: expression.is_met(EventMind(run), run.owner))

        def ask(run: HabitContext) -> object:
            return expression.is_met(run.owner)

        conditions = [ValueIs(*comparison) for comparison in expression.comparisons]
        return ValuesAre(conditions, ask) if conditions else ask if self.deciding else _noting(ask)

    def _may_begin(self, context: HabitContext) -> bool:
        if not self._ask(context):
            context.kept.pop(TRUE_SINCE_S, None)
            return False
        if self._for_at_least_s:
            now_s = context.tree.seconds
            if now_s - context.kept.setdefault(TRUE_SINCE_S, now_s) < self._for_at_least_s - ROUNDING_S:
                return False
        return self._scope in INTERRUPTING or not _would_interrupt(context.part)

    def _may_continue(self, run: HabitContext) -> bool:
        if self._ask(run):
            run.memory.pop(FALSE_SINCE_S, None)
            return True
        if self._for_at_least_s:
            run.kept.pop(TRUE_SINCE_S, None)
        return self._left_s(run) > ROUNDING_S

    def _left_s(self, run: HabitContext) -> float:
        """Return the time for which the condition may still be false (s)."""
        if not self._for_at_most_s:
            return 0.0
        now_s: float = run.tree.seconds
        return float(self._for_at_most_s - (now_s - run.memory.setdefault(FALSE_SINCE_S, now_s)))

    def _sleep(self, run: HabitContext, until_s: float | None = None, names: tuple[str, ...] = ()) -> None:
        """Wait for a change of the keys, for names, and until a time; without keys the habit is ticked."""
        if not self.keys:
            return
        now_s: float = run.tree.seconds
        limits = [] if until_s is None else [max(0.0, until_s - now_s)]
        if FALSE_SINCE_S in run.memory:
            limits.append(max(0.0, self._left_s(run)))
        run.wait_for(*self.keys, *names, at_most_s=min(limits, default=None))

    def note_wait(self, run: HabitContext, seconds: float | None, names: tuple[str, ...]) -> None:
        """Note a wait that begins, and wake the run also when the condition changes."""
        if self._scope in ENDING and self.keys:
            until_s = None if seconds is None else run.tree.seconds + seconds
            run.memory[WAIT] = [until_s, list(names)]
            self._sleep(run, until_s, names)

    def _still_waits(self, run: HabitContext) -> bool:
        """Return whether a wait of the habit itself continues after only the condition woke the run."""
        waits = run.memory[WAIT]
        until_s, names = waits[0], tuple(waits[1])
        is_over = until_s is not None and run.tree.seconds >= until_s - ROUNDING_S
        if run.woken_by not in names and not is_over:
            run.memory[WAITED_S] = run.memory.get(WAITED_S, 0.0) + run.elapsed_s
            self._sleep(run, until_s, names)
            return True
        if run.woken_by not in names:
            run.woken_by = ""
        run.elapsed_s += run.memory.pop(WAITED_S, 0.0)
        del run.memory[WAIT]
        return False


def _noting(ask: Callback) -> Callback:
    """Return a callback that notes the answer of a condition that cannot be evaluated outside of its habit."""
    def noting(run: HabitContext) -> object:
        answer = run.owner.condition_answers[run.place.index] = bool(ask(run))
        return answer

    return noting


def both(one: Callback, one_refuses: str, other: Callback, other_refuses: str) -> Callback:
    """Return the callback that asks both, and notes in words which of them refused; "" if that one notes it itself."""
    def ask(run: HabitContext) -> object:
        answer, words = one(run), one_refuses
        if answer:
            answer, words = other(run), other_refuses
        if not answer and words:
            run.owner.refusals[run.place.index] = words
        return answer

    return ask


def deciding_values(tree: Any) -> tuple[str, ...]:
    """Return the values of a tree of which a change is detected.

    These are those that the tree declares with a boolean, a number or a string, and those that the sensor writes: an
    object may be freed, and the contents of a list may change, without notice.
    """
    declared = tuple(
        name for name, value in tree.values.items()
        if value is not None and not isinstance(value, (list, dict, GDObject)))
    return (*VALUES, *declared) if tree.sensor else declared


def keys_of(condition: str, tree: Any) -> tuple[str, ...]:
    """Return the names in a condition if they alone decide and a change of each is detected; else none."""
    names = deciding_names(condition)
    return names if set(names) <= set(deciding_values(tree)) else ()


def condition_of(run: HabitContext) -> HabitCondition | None:
    """Return the condition of a run's habit, None without one."""
    return run.place.habit.__dict__.get("condition")


def wait(run: HabitContext, seconds: float | None, names: tuple[str, ...] | None = None) -> None:
    """Let a run wait for a time (s), or for names and at most that time; its condition may still end it."""
    condition = condition_of(run)
    if names is None:
        run.wait_s(0.0 if seconds is None else seconds)
    else:
        run.wait_for(*names, at_most_s=seconds)
    if condition is not None:
        condition.note_wait(run, seconds, names or ())


def _would_interrupt(habit: Any) -> bool:
    """Return whether a sibling with a lower priority than a habit is active."""
    siblings = habit.get_parent().get_children()
    later = siblings[habit.get_index() + 1:]
    return any(one.is_active() for one in later if hasattr(one, "non_blocking") and not one.non_blocking)
