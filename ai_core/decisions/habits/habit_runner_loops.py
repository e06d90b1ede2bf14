# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, annotation_typing=False
# Without long rows of numbers, which -O3 is for: as fast with -O2, compiled in four fifths of the time.
# distutils: extra_compile_args = -O2
"""Ticking habits: the runs of a character, and what they do at each tick.

A character has a ``HabitContext`` for each active habit, and an agenda: the active habits to tick and the pending
habits to try, in the order of a tick. The agenda is kept until a habit begins, ends or wakes, or a time has passed.
While it is empty the tree sleeps, and a tick costs nothing.

``habit_runner_loops.pxd`` declares the C types with which this file is compiled; interpreted it is plain Python.
"""
from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import cython

from ai_core.clock import Clock, TimeIndex
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.callback_faults import CallbackFaults
from ai_core.decisions.habits.habit_status import STATUS_OF_CODE, Launch, Outcome, RandomSource, Status
from ai_core.errors import (
    check_kind,
    check_type,
    checked_name,
    finite_number,
    named,
    several,
    shown,
)
from ai_core.faults import FaultIsolation
from ai_core.saving.fields import LATEST_S
from ai_core.scheduling.task import Turn
from ai_core.trace import Trace

if cython.compiled:
    from cython.cimports.ai_core.decisions.habits.direct_calls import (
        call_directly,
        counter_of,
        direct_calls_of,
        first_directly,
        set_item,
    )
    from cython.cimports.cpython.ref import Py_REFCNT

__all__ = [
    "COMPARISONS", "AskPart", "HabitContext", "HabitPlace", "HabitRunner", "TickMember", "TickWhile", "TreeMessage",
    "ValueCheck", "ValueIs", "ValueWrite", "ValuesAre", "notify_each", "tick_in_turn", "write_changed"]

MOST_BEGUN_IN_A_TICK = 256
"""Limit of the habits of a character that begin in a tick (count); the others begin in the next.

In a real tree under ten habits begin in a tick. A larger number, such as a sequence of
a thousand steps that end at once, must not freeze the frame.
"""

MOST_SPARE_RUNS = 64
"""Contexts kept for the next runs (count); as many as begin in a few ticks."""

INFINITY = math.inf

AWAKE = -math.inf
"""As the time at which something is due: now, and at every tick."""

QUARANTINED = "quarantined after repeated failures"

ROUNDING_S = 1e-9
"""Timers reach their end this much early (s).

Times are sums of frames, and sums of 0.1 miss 0.3 by rounding: without this a
wait would now and then take a frame longer.
"""

LISTENERS_VALID_S = 0.1
"""Game time for which "no listeners" is valid while the counter of listeners does not change (s)."""

RUNNING, SUCCEEDED, FAILED = Status.RUNNING, Status.SUCCEEDED, Status.FAILED
SEQUENTIAL, RANDOM = Launch.SEQUENTIAL, Launch.RANDOM

# Entries of an agenda: what to do.
TICK = 0            # call the run's own tick
CHALLENGE = 1       # ask more urgent children whether they take over
ASK = 2             # the same, all by one condition that asks several in one call
BESIDE = 3          # ask a child that runs beside the others whether it begins
CONTINUE = 4        # launch a child, in a run without one: the last one was removed
RESTART = 5         # begin the next run of a habit that repeats
TIME_OUT = 6        # end a run that took too long
BEGIN = 7           # ask the root whether it begins
RESULT = 8          # end a run as its batch says
JOIN = 9            # call the run's own tick for the last time; from then on a batch ticks it

Entry = tuple[int, "HabitContext | None", tuple["HabitPlace", ...], tuple[int, ...]]
"""A step of a tick: its kind, its run, the habits to ask, and their indices for ``ASK``."""


class HabitPlace:
    """A place of a habit in a tree; a habit can have several places.

    What the habit defines has the habit's names; the rest:

    Args:
        habit: the habit of this place.
        path: path of the place.
        index: number in the plan, parents before children.
        tick: called at each tick; None for nothing.

    Attributes:
        end: number after the last place below it.
        blocking: children that launch according to ``launch``, in order.
        non_blocking: children that run beside them.
        children: all of them, in the order of the definition.
        number: position among the blocking siblings, from 0.
        asks_together: its condition can ask several habits in one call.
        is_beside: launched beside its siblings, not among them.
        is_polled: asked in every tick whether it can begin.
        is_polled_on_message: asked in every tick in which it remembers a message of ``begins_on``.
        is_free: can always begin.
        is_utility: its children launch by score.
        interrupts: its children interrupt each other: by order, or by score.
        held: priority of the hold it has from the beginning, or None.
        interrupting: the reason of a sibling that begins by interrupting it.
        interrupted: the ending of a sibling that it interrupts.
        values: its condition, if that only compares values of the blackboard, and decides alone but for a cooldown.
        check: the comparison that is its tick, if a run of it leaves nothing but its result.
        write: the same for a tick that writes a value to the character's own blackboard.
        tick_while: its tick, if that is only called while a condition holds.
    """

    def __init__(self, habit: Any, path: str, index: int, tick: Callable[[HabitContext], object] | None) -> None:
        self.habit = habit
        self.index = index
        self.end = index + 1
        self.name, self.path, self.launch = habit.name, path, habit.launch
        self.outcome = None if habit.outcome is Outcome.UNCHANGED else habit.outcome
        self.weight, self.urgency = habit.weight, habit.urgency
        self.timeout_s, self.cooldown_s = habit.timeout_s, habit.cooldown_s
        self.repeats, self.retries = habit.repeats, habit.retries
        self.asks_every_s, self.remembers_s = habit.asks_every_s, habit.remembers_s
        self.begins_on = habit.begins_on
        self.is_polled = not (habit.wakes_on or habit.begins_on or habit.asks_every_s)
        self.is_polled_on_message = not (habit.wakes_on or habit.asks_every_s) and habit.remembers_s > 0
        self.is_beside = habit.non_blocking
        self.held = math.inf if habit.uninterruptible else None
        self.can_activate = habit.callback("can_activate")
        self.enter = habit.callback("enter")
        self.tick = tick
        self.exit = habit.callback("exit")
        self.columns = habit.columns
        self.tick_batch = habit.callback("tick_batch")
        self.blocking: tuple[HabitPlace, ...] = ()
        self.non_blocking: tuple[HabitPlace, ...] = ()
        self.children: tuple[HabitPlace, ...] = ()
        self.number = 0
        self.interrupting = f"interrupted {habit.name}"
        self.interrupted = f"interrupted by {habit.name}"
        self.asks_together = self.is_polled and hasattr(self.can_activate, "first_of")
        self.score, self.inertia = habit.callback("score"), habit.inertia
        self.is_utility = habit.launch is Launch.UTILITY
        self.interrupts = self.is_utility or habit.launch is Launch.PRIORITIZED
        self.is_free = self.can_activate is None and not habit.begins_on and not habit.asks_every_s
        self.values = self.can_activate if type(self.can_activate) is ValuesAre and not (
            habit.begins_on or habit.asks_every_s) else None
        is_brief = habit.repeats == 1 and not (
            self.enter or self.exit or habit.children or habit.begins_on or self.outcome or self.cooldown_s
            or habit.uninterruptible or habit.non_blocking or habit.retries)
        self.check = tick.condition if is_brief and type(tick) is ValueCheck else None
        self.write = tick if is_brief and type(tick) is ValueWrite and tick.is_plain else None
        self.tick_while = tick if type(tick) is TickWhile else None
        if cython.compiled:
            self.tick_calls = direct_calls_of(self.tick if self.tick_while is None else self.tick_while.tick)
            self.ask_calls = direct_calls_of(self.can_activate)

    def strongest(self, holds: dict[int, float]) -> float | None:
        """Return the strongest of the holds here and below, None if there is none."""
        here = [held for index, held in holds.items() if self.index <= index < self.end]
        return max(here, default=None)


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda known, value: known in value, "not in": lambda known, value: known not in value}
"""Functions of the operators of ``ValueIs``."""

EXACT = 1 << 53
"""Whole numbers up to here are equal to floats."""


class ValueIs:
    """A condition on a blackboard value; evaluated only after the value has changed.

    ``Habit("flee", can_activate=ValueIs("health", "<", 0.3))``. An absent key compares
    as None, for which ``< <= > >=`` are false.

    Raises:
        UnknownNameError: if the comparison is unknown.
    """

    def __init__(self, key: str, comparison: str = "==", value: Any = True) -> None:
        checked_name("key", key)
        named("comparison", comparison, COMPARISONS)
        self.key, self.comparison, self.value = sys.intern(str.__str__(key)), comparison, value
        self.wakes_on = (self.key,)
        self._code, self._compare = [*COMPARISONS].index(comparison), COMPARISONS[comparison]
        self._is_number = self._code < 6 and (
            type(value) is float or (type(value) is int and -EXACT <= value <= EXACT))
        self._number = float(value) if self._is_number else 0.0

    def __call__(self, context: HabitContext) -> bool:
        return self.holds(value_of(context.blackboard, self.key))

    def holds(self, known: Any) -> bool:
        """Return whether the comparison is true for a value."""
        code = self._code
        if self._is_number and type(known) is float:
            return self._holds_number(known)
        if code == 0:
            return bool(known == self.value)
        if known is None and 2 <= code < 6:
            return False
        return bool(self._compare(known, self.value))

    def _holds_number(self, known: float) -> bool:
        code, number = self._code, self._number
        if code == 0:
            return known == number
        if code == 1:
            return known != number
        if code == 2:
            return known < number
        if code == 3:
            return known <= number
        return known > number if code == 4 else known >= number

    def __repr__(self) -> str:
        return f"{self.key} {self.comparison} {shown(self.value)}"


ABSENT: Any = object()
NO_VALUES: dict[str, Any] = {}


def value_of(board: dict[str, Any], key: str) -> Any:
    """Return ``board.get(key)``; a value of its own is found without a call of the method of a ``Blackboard``."""
    if cython.compiled and isinstance(board, dict):
        own = cython.cast(dict, board)
        known = own.get(key, ABSENT)
        if known is not ABSENT:
            return known
    return board.get(key)


def write_changed(boards: list[Blackboard | None], keys: tuple[str, ...], values: list[Any]) -> None:
    """Write to each blackboard its value, which differs from the present ones, under several keys; None has no effect.

    For what changes in each frame. Observers are notified as by ``Blackboard``.

    Raises:
        TypeError: if a value has a wrong type for a key; later blackboards are not written then.
        ValueError: if there is not one value for each blackboard.

    Cost: 0.2 µs for a blackboard without observers of the keys, compiled.
    """
    if len(values) != len(boards):
        raise ValueError(f"values must be one for each of the {len(boards)} blackboards, got {len(values)}")
    for number in range(len(boards)):
        board, value = boards[number], values[number]
        if board is None:
            continue
        trees, types = board._trees, board._types
        is_free = not board._watches
        if types:
            for key in keys:
                is_free = is_free and key not in types
        if not is_free:
            board.update(dict.fromkeys(keys, value))
            continue
        for key in keys:
            if cython.compiled:
                own = cython.cast(dict, board)
                own[key] = value
            else:
                dict.__setitem__(board, key, value)
        if trees is not None:
            for key in keys:
                listening = trees.get(key)
                for one in listening if listening is not None else ():
                    tree = one()
                    if tree is not None:        # dead ones are dropped by notify_tree()
                        tree._hear(key)


class ValuesAre:
    """A conjunction of conditions on values of the character's own blackboard; evaluated at each call.

    Args:
        conditions: the conditions, each a ``ValueIs`` that does not test for membership.
        otherwise: called with the context, and decides, if a value is absent, has a different
            type than the value it is compared with, or raises an exception in the comparison.
        also: called with the context if the conditions hold, and decides then; None for True.
    """

    def __init__(
        self, conditions: Iterable[ValueIs], otherwise: Callable[[HabitContext], object],
        also: Callable[[HabitContext], object] | None = None,
    ) -> None:
        self.conditions, self.otherwise, self.also = several("conditions", conditions, ValueIs), otherwise, also
        self.only = self.conditions[0] if len(self.conditions) == 1 else None

    def __call__(self, context: HabitContext) -> object:
        answer = self.answer(context._tree._blackboard)  # a tree without a blackboard needs none for this
        holds = self.otherwise(context) if answer < 0 else answer == 1
        return self.also(context) if holds and self.also is not None else holds

    def answer(self, board: Any) -> int:
        """Return 1 if all conditions hold, 0 if not, -1 if ``otherwise`` decides."""
        answer = 1
        if not isinstance(board, dict):
            return -1
        own = cython.cast(dict, board)  # its own values: a blackboard looks further
        for condition in self.conditions:
            one: ValueIs = condition
            known = own.get(one.key, ABSENT) if cython.compiled else dict.get(own, one.key, ABSENT)
            if one._is_number and type(known) is float:
                if not one._holds_number(known):
                    answer = 0
            elif one.value is None and (known is None or isinstance(known, PLAIN)):
                if (known is None) != (one._code == 0):
                    answer = 0
            elif not are_alike(known, one.value):
                return -1
            else:
                try:
                    if not one.holds(known):
                        answer = 0
                except Exception:
                    return -1
        return answer


class AskPart:
    """A condition that the character's part of a habit decides.

    It calls ``part.may_begin(context)``; but first ``part.gate(blackboard)``, unless the gate is None: its answer
    holds if that is not None.
    """

    @cython.annotation_typing(True)  # type: ignore[untyped-decorator]
    def __call__(self, context: HabitContext) -> bool:
        tree = context._tree
        parts: Any = tree.parts
        part = parts[context.place.index]
        if part is None:
            return False        # freed by a habit in the same tick
        gate = part.gate
        answer = None
        if gate is not None:
            answer = gate(tree._blackboard if tree._blackboard is not None else context.blackboard)
        return bool(part.may_begin(context) if answer is None else answer)


class TickWhile:
    """A tick while a condition holds; otherwise another function decides.

    Args:
        condition: the condition.
        tick: the tick.
        otherwise: called in place of the tick if the condition does not certainly hold, or a value is in the memory.
        unless: names of those values.
    """

    def __init__(
        self, condition: ValuesAre, tick: Callable[[HabitContext], object],
        otherwise: Callable[[HabitContext], object], unless: tuple[str, ...],
    ) -> None:
        check_type("condition", condition, ValuesAre)
        self.condition, self.tick, self.otherwise, self.unless = condition, tick, otherwise, unless

    def __call__(self, context: HabitContext) -> object:
        check_type("context", context, HabitContext)
        return self.tick(context) if self.holds(context) else self.otherwise(context)

    def holds(self, run: HabitContext) -> bool:
        """Return whether the tick is called."""
        if run._memory:
            for name in self.unless:
                if name in run._memory:
                    return False
        return self.condition.answer(run._tree._blackboard) == 1


PLAIN = (float, int, str, tuple)
"""Types of values that cannot end, as objects of an engine can."""


def are_alike(known: Any, value: Any) -> bool:
    """Return whether two values have the same type, or both are numbers."""
    kind, other = type(known), type(value)
    return kind is other or ((kind is float or kind is int) and (other is float or other is int))


class ValueCheck:
    """The tick of ``CheckValue``."""

    def __init__(self, condition: ValueIs) -> None:
        check_type("condition", condition, ValueIs)
        self.condition = condition

    def __call__(self, context: HabitContext) -> Status:
        return SUCCEEDED if self.condition(context) else FAILED


class ValueWrite:
    """The tick of ``SetValue``."""

    def __init__(self, key: str, value: Any, scope: str | None) -> None:
        checked_name("key", key)
        check_kind("scope", scope, str)
        self.key, self.value, self.scope = key, value, scope
        self.is_plain = scope is None and not callable(value)
        self.may_stay = value is None or type(value) in (bool, int, float, str)     # a list may have changed

    def __call__(self, context: HabitContext) -> Status:
        board = context.blackboard
        if self.scope is not None:
            if not isinstance(board, Blackboard):
                raise TypeError(f"{context.path!r} writes to the scope {self.scope!r}, which requires a Blackboard")
            board = board.scope(self.scope)
        board[self.key] = self.value(context) if callable(self.value) else self.value
        return SUCCEEDED


class HabitContext:
    """The context of a habit's callbacks: a run of a habit by a character, from its beginning to its end.

    A pending habit has no run; its ``can_activate`` is called with a temporary context
    whose times are 0.

    Attributes:
        elapsed_s: game time since this habit's last tick (s); 0 in the tick
            in which it began.
        status: RUNNING while active; from ``exit`` on the final status, None if it was
            interrupted or its parent ended; None while pending.
        reason: why it began: "can activate", "interrupted patrol".
        restart_point: the last argument of ``restart_at`` in this run; "" at first.
        woken_by: the name that ended its last wait; "" if the time ended it.
        generator: the generator of a habit written as one, while it runs.
        course: called in place of its tick, see ``follow``; None for nothing.
        payload: that of the message in ``begins_on`` on which it began, also while it repeats.
        successes, failures: earlier runs counted for ``repeats`` and ``retries``.
    """

    def __init__(self) -> None:
        raise TypeError("a HabitContext cannot be made; a HabitTree makes one for the callbacks of its habits")

    def _begin(self, tree: HabitRunner, place: HabitPlace, parent: HabitContext | None, reason: str) -> None:
        """Set what differs from run to run; all else is as ``_clear`` leaves it."""
        self._tree, self.place, self.parent, self.reason = tree, place, parent, reason
        self.child: HabitContext | None = None
        self.began_s = self.ticked_s = tree._now_s
        self.elapsed_s, self.wake_s = 0.0, AWAKE
        self.number = 0
        self.status: Status | None = RUNNING

    def _clear(self) -> None:
        self._memory: dict[str, Any] | None = None
        self.beside: list[HabitContext] | None = None
        self.has_waited = False  # or has a restart point
        self.waits_for: tuple[str, ...] = ()
        self.woken_by = self.restart_point = ""
        self.successes = self.failures = self.row = 0
        self.begins_next = self.is_faulty = False
        self.batch: Any = None
        self.batch_status: Status | None = None
        self.generator: Any = None
        self.payload: Any = None
        self.course: Callable[[float], object] | None = None
        self.course_names: tuple[str, ...] = ()
        self.course_until_s = INFINITY

    def _is_clear(self) -> bool:
        """Return whether all that ``_clear`` sets is as it leaves it."""
        return (
            self._memory is None and self.beside is None and not self.begins_next and not self.is_faulty
            and not self.has_waited and self.successes == 0 and self.failures == 0 and self.batch is None
            and self.batch_status is None and self.generator is None and self.course is None and self.row == 0
            and self.payload is None)

    @property
    def time_in_habit_s(self) -> float:
        """Game time since it began (s)."""
        return self._tree.seconds - self.began_s

    @property
    def owner(self) -> Any:
        """The character: ``owner`` of the HabitTree."""
        return self._tree.owner

    @property
    def tree(self) -> Any:
        """The character's HabitTree, for example for ``tree.notify``."""
        return self._tree

    @property
    def part(self) -> Any:
        """The object for this habit in ``parts`` of the HabitTree; None without ``parts``."""
        parts = self._tree.parts
        return None if parts is None else parts[self.place.index]

    @property
    def random(self) -> Any:
        """The tree's random source; ``random()`` returns a number from 0 to below 1."""
        return self._tree._random

    @property
    def path(self) -> str:
        """Path of the habit: "root/fight/attack"."""
        return self.place.path

    @property
    def blackboard(self) -> Any:
        """The blackboard of the character, shared by all its habits: a ``Blackboard``, or the dict that was given."""
        board = self._tree._blackboard
        return self._tree.blackboard if board is None else board

    @property
    def memory(self) -> dict[str, Any]:
        """Values of this run; empty at its beginning, dropped at its end."""
        if self._memory is None:
            self._memory = {}
        if self.batch is not None:
            self.batch.remember(self)
        return self._memory

    @property
    def kept(self) -> dict[str, Any]:
        """Values of this habit that are kept from run to run."""
        tree = self._tree
        if tree._kept is None:
            tree._kept = {}
        kept: dict[str, Any] = tree._kept.setdefault(self.place.index, {})
        return kept

    @property
    def is_waiting(self) -> bool:
        """True from ``wait_s`` or ``wait_for`` until the next tick of this habit."""
        return self.wake_s != AWAKE

    @property
    def is_in_batch(self) -> bool:
        """True while a batch of a population ticks it."""
        return self.batch is not None

    def runs_below(self) -> list[HabitContext]:
        """Return the runs of its active children: the blocking one first, the others in the order begun."""
        return [*([] if self.child is None else [self.child]), *(self.beside or ())]

    def remember(self, values: dict[str, Any]) -> None:
        """Write several values to the memory."""
        self._memory = {**(self._memory or {}), **values}

    def hold(self, priority: float | None = None) -> None:
        """Prevent more urgent habits from interrupting this habit or one above it.

        Lasts until ``release`` or the end of the habit. It protects against siblings
        only: the end of a parent and ``HabitTree.stop`` still end the habit.

        Args:
            priority: a habit with an urgency above this breaks the hold; None for a hold
                that no habit breaks.

        Raises:
            ValueError: if the priority is NaN or infinite.
            RuntimeError: if the habit is not active.
        """
        self._check_active("hold")
        held = math.inf if priority is None else finite_number("priority", priority)
        tree, index = self._tree, self.place.index
        if index in tree.holds:
            tree._wake(True)  # habits held back by a higher priority were not asked
        tree.holds[index] = held

    def release(self) -> None:
        """End a ``hold``; more urgent habits can interrupt at the next tick."""
        if self._tree.holds.pop(self.place.index, None) is not None:
            self._tree._wake(True)

    def wait_s(self, seconds: float) -> None:
        """Skip ticks of this habit until an amount of game time has passed (s).

        Raises:
            ValueError: if the time is negative, or the sum of all exceeds 1e12 s.
            RuntimeError: if the habit is not active.
        """
        self._wait(finite_number("seconds", seconds, minimum=0), ())

    def wait_for(self, *names: str, at_most_s: float | None = None) -> None:
        """Skip ticks of this habit until ``HabitTree.notify`` or a change of the blackboard.

        Args:
            names: names for ``HabitTree.notify``, or keys of the blackboard.
            at_most_s: maximum wait in game time (s); None for no limit.

        Raises:
            ValueError: if there is no name, or the time is negative or not finite.
            RuntimeError: if the habit is not active.
        """
        if not names or not all(isinstance(name, str) and name for name in names):
            raise ValueError(f"names must hold non-empty strings, got {shown(names)}; use wait_s to wait for a time")
        self._wait(
            math.inf if at_most_s is None else finite_number("at_most_s", at_most_s, minimum=0), names)

    def follow(self, course: Callable[[float], object], *names: str, at_most_s: float = math.inf) -> None:
        """Call ``course(elapsed_s)`` in place of the tick of this habit, until it returns False.

        For work that repeats until something happens. The tick is called in the same turn in which the course
        returns False, which must then have done nothing. A course is not saved.

        Args:
            course: called with the time since the last tick (s).
            names: names for ``HabitTree.notify``, or keys of the blackboard, that end the course.
            at_most_s: game time after which the course ends (s).

        Raises:
            RuntimeError: if the habit is not active.
        """
        self._check_active("follow")
        self.course, self.course_names = course, names
        self.course_until_s = self._tree.seconds + at_most_s - ROUNDING_S
        if names:
            self._tree.watch(names)

    def payload_of(self, name: str) -> Any:
        """Return the payload of ``HabitTree.notify(name)`` for this tick, None if there was none."""
        message = self._tree._messages.get(name) if self._tree._messages else None
        return None if message is None or not message.tick_number else message.payload

    def newest_payload(self, names: Iterable[str]) -> Any:
        """Return the payload of the newest message of several names, None if there was none; the first of a tick."""
        newest: TreeMessage | None = None
        for name in names:
            message = self._tree._messages.get(name) if self._tree._messages else None
            if message is not None and message.tick_number > (0 if newest is None else newest.tick_number):
                newest = message
        return None if newest is None else newest.payload

    def restart_at(self, point: str) -> None:
        """Declare the point at which a generator begins again after loading; see ``habits``.

        Raises:
            TypeError: if ``point`` is not a string.
        """
        if not isinstance(point, str):
            raise TypeError(f"point must be a string, got {shown(point)}")
        self.restart_point, self.has_waited = point, True

    def _wait(self, seconds: float, names: tuple[str, ...]) -> None:
        self._check_active("wait")
        tree = self._tree
        self.wake_s = tree.seconds + seconds - ROUNDING_S
        self.waits_for, self.woken_by, self.has_waited, self.course = names, "", True, None
        tree._agenda, tree._wake_at_s = None, AWAKE
        if names:
            tree.watch(names)

    def _check_active(self, action: str) -> None:
        if self.status is not RUNNING:
            raise RuntimeError(f"{self.path!r} is not active and cannot {action}; call this from its enter or tick")

    def __repr__(self) -> str:
        return f"<HabitContext {self.path}>"


class TreeMessage:
    """A message to a tree.

    Args:
        payload: payload of the message.
        tick_number: number of the tick that finds it; 0 before.
        at_s: time of that tick (s).
    """

    __slots__ = ("at_s", "payload", "tick_number")

    def __init__(self, payload: Any, tick_number: int = 0, at_s: float = 0.0) -> None:
        self.payload, self.tick_number, self.at_s = payload, tick_number, at_s


class HabitRunner:
    """Runs the habits of a character: the compiled part of a ``HabitTree``, with its rules and attributes.

    Args:
        plan: the places of the definition, a ``HabitPlan``.
        owner, name, clock, random, trace, faults, blackboard, parts: as for ``HabitTree``, checked.

    Attributes:
        is_busy: True during a tick, or while the definition is changed.
        after_tick: called once at the end of the current tick; None for nothing.
        member: its slot in a population, or None.
        stopwatch: returns monotonic nanoseconds; None measures nothing.
        spent_ns: time of the ticks and conditions of a habit itself by place, while there is a stopwatch (ns).
    """

    def __init__(
        self, plan: Any, owner: Any, name: str, clock: Clock | None, random: RandomSource | None, trace: Trace | None,
        faults: FaultIsolation | None, blackboard: dict[str, Any] | None, parts: Sequence[Any] | None,
    ) -> None:
        self.plan, self.owner, self.name, self.parts = plan, owner, name, parts
        self._clock, self._random, self._trace, self._isolation = clock, random, trace, faults
        self._faults: CallbackFaults | None = None
        self._blackboard: dict[str, Any] | None = None
        self._watched: set[str] | None = None
        self._kept: dict[int, dict[str, Any]] | None = None
        self.root_run: HabitContext | None = None
        self.holds: dict[int, float] = {}
        self.endings: list[str | None] = [None] * len(plan.places)
        self.scores: dict[int, float] = {}
        self.on_wake: Callable[[Any], object] | None = None
        self.on_entered: Callable[[HabitContext], object] | None = None
        self.on_exited: Callable[[HabitContext], object] | None = None
        self.listening: Callable[[], object] | None = None
        self.listening_counter = None
        self.stopwatch: Callable[[], int] | None = None
        self.spent_ns: dict[int, int] = {}
        self._seen_changes, self._quiet_since_s = 0, INFINITY
        self._moment: TimeIndex | None = None
        self._now_s, self._frame, self._tick_number = 0.0, 0, 0
        self._agenda: list[Entry] | None = None
        self._rebuild_at_s, self._wake_at_s, self._is_lasting = INFINITY, AWAKE, False
        self._asks_all = True
        self._noticed: set[str] | None = None
        self._messages: dict[str, TreeMessage] | None = None
        self._cooldowns: dict[int, float] | None = None
        self._asks_at_s: dict[int, float] | None = None
        self._answered: dict[int, int] | None = None
        self._asking: HabitContext | None = None
        self._over: Status | None = None
        self._begun = 0
        self.is_busy = self._is_traced = False
        self.member: TickMember | None = None
        self.after_tick: Callable[[], None] | None = None
        if blackboard is not None:
            self._blackboard = blackboard
            self.watch(plan.keys)

    @property
    def listening_counter(self) -> object:
        """A capsule with a counter of changes of listeners, or None."""
        return self._counter

    @listening_counter.setter
    def listening_counter(self, counter: object) -> None:
        if cython.compiled:
            self._listener_changes = counter_of(counter)
        self._counter = counter

    @property
    def blackboard(self) -> Any:
        """The blackboard of the character: a ``Blackboard``, or the dict that was given."""
        if self._blackboard is None:
            self._blackboard = Blackboard(name=self.name)
            self.watch(self.plan.keys)
        return self._blackboard

    @property
    def seconds(self) -> float:
        """Game time that has passed in this tree (s)."""
        self.catch_up()
        return self._now_s

    @property
    def wakes_at_s(self) -> float:
        """Time of the next work (s, as ``seconds``); below 0 for at once, inf until a message or change wakes it."""
        return self._wake_at_s

    @property
    def is_active(self) -> bool:
        """True while the root runs."""
        return self.root_run is not None

    def let_go(self) -> None:
        """Drop what refers back to a tree that has stopped for good, so that it is freed without a collection.

        Only for a tree whose owner is about to be freed, or makes another tree; within a tick it does nothing.
        """
        if not self.is_busy and self.root_run is None:
            self.owner = self.parts = self.listening = self._asking = None

    @property
    def is_asleep(self) -> bool:
        """True while ticks have nothing to do before ``wakes_at_s``."""
        return self._wake_at_s != AWAKE

    def tick(self, elapsed_s: float) -> Status | None:
        """Tick the tree by ``elapsed_s`` of game time.

        Args:
            elapsed_s: since the last tick (s), 0 or more.

        Returns:
            Status of the root; None if it is pending.

        Raises:
            ValueError: if the time is negative, or the sum of all exceeds 1e12 s.
            RuntimeError: if called from inside a habit of this tree.
        """
        if type(elapsed_s) is not float or not 0.0 <= elapsed_s <= LATEST_S - self._now_s:
            elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0, maximum=LATEST_S - self._now_s)
        if self.member is not None:
            self._refuse_member()
        self._frame += 1
        self._moment = None
        return self._live_until(self._now_s + elapsed_s)

    def advance(self, turn: Turn) -> Status | None:
        """Tick as a task of a scheduler: ``scheduler.add(tree)``."""
        if not isinstance(turn, Turn):
            raise TypeError(
                f"turn must be a Turn, got {shown(turn)}; without one, call tick(elapsed_s)")
        if self.member is not None:
            self._refuse_member()
        self._moment = turn.now
        return self._live_until(self._now_s + turn.elapsed_s)

    def notify(self, name: str, payload: Any = None) -> None:
        """Notify the character's habits of an event.

        Habits with this name in ``begins_on`` or ``wakes_on``, and habits that wait for
        it, are processed in the next tick; other habits are not affected.

        Args:
            name: name of the event: "shot at".
            payload: the result of ``context.payload_of(name)`` in that tick.

        Raises:
            TypeError: if ``name`` is not a string.
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {shown(name)}")
        self._receive(name, payload)

    def _receive(self, name: str, payload: Any) -> None:
        if self._messages is None:
            self._messages = {}
        message = TreeMessage.__new__(TreeMessage)      # a call of the class takes as long as the rest
        message.payload, message.tick_number, message.at_s = payload, 0, 0.0
        self._messages[name] = message
        if self._wake_at_s > AWAKE:
            self._note(name)        # a message is dated by a tick
        else:
            self._hear(name)

    def active_runs(self) -> list[HabitContext]:
        """Return the runs of all active habits, parents first, those beside in the order begun."""
        runs, pending = [], [] if self.root_run is None else [self.root_run]
        while pending:
            run = pending.pop()
            runs.append(run)
            pending += reversed(run.runs_below())
        return runs

    def runs_part(self, part: Any) -> bool:
        """Return whether the habit of a part is active. Cost: O(active habits)."""
        run = self.root_run
        if run is None or (run.child is None and not run.beside):
            return run is not None and run.part is part
        return any(run.part is part for run in self.active_runs())

    def leave_batches(self) -> list[HabitContext]:
        """Remove its runs from batches; return them."""
        batched = [run for run in self.active_runs() if run.batch is not None]
        for run in batched:
            run.batch.leave(run)
        return batched

    def _plan_ahead(self) -> list[Entry]:
        """Return the work of this tick; keep it for the next if that would be the same."""
        agenda: list[Entry] = []
        self._rebuild_at_s = INFINITY
        self._is_lasting = True
        noticed, due = self._noticed, set()
        self._noticed = None
        if noticed is not None:
            for name in noticed:
                due.update(self.plan.listeners.get(name, ()))
        asks_all = self._asks_all
        self._asks_all = False
        if self.root_run is not None:
            self._plan_run(agenda, self.root_run, noticed, due, asks_all)
        else:
            asked = self._to_ask((self.plan.root,), 1, due, asks_all)
            if asked:
                agenda.append((BEGIN, None, asked, ()))
        self._agenda = agenda if self._is_lasting else None
        self._wake_at_s = self._rebuild_at_s if self._is_lasting and not agenda else AWAKE
        return agenda

    def _plan_run(
        self, agenda: list[Entry], run: HabitContext, noticed: set[str] | None, due: set[int], asks_all: bool
    ) -> None:
        place, child = run.place, run.child
        if run.begins_next:
            agenda.append((RESTART, run, (), ()))
            self._is_lasting = False
            return
        if place.timeout_s != INFINITY and self._is_due(run.began_s + place.timeout_s - ROUNDING_S):
            agenda.append((TIME_OUT, run, (), ()))
            self._is_lasting = False
            return
        if run.batch_status is not None:
            agenda.append((RESULT, run, (), ()))
            self._is_lasting = False
        elif run.batch is None and place.tick is not None and self._has_woken(run, noticed):
            joins = place.tick_batch is not None and self.member is not None
            agenda.append((JOIN if joins else TICK, run, (), ()))
            self._is_lasting = self._is_lasting and not joins
        if place.interrupts:
            asked = self._to_ask(place.blocking, len(place.blocking) if child is None or place.is_utility
                                 else child.place.number, due, asks_all)
            if asked:
                numbers = tuple([one.index for one in asked]) if not place.is_utility and _ask_together(asked) else ()
                agenda.append((ASK if numbers else CHALLENGE, run, asked, numbers))
        elif child is None:
            agenda.append((CONTINUE, run, (), ()))
            self._is_lasting = False
        if child is not None:
            self._plan_run(agenda, child, noticed, due, asks_all)
        for beside in place.non_blocking:
            active = _run_at(run.beside, beside)
            if active is not None:
                self._plan_run(agenda, active, noticed, due, asks_all)
            else:
                asked = self._to_ask((beside,), 1, due, asks_all)
                if asked:
                    agenda.append((BESIDE, run, asked, ()))

    def _has_woken(self, run: HabitContext, noticed: set[str] | None) -> bool:
        """Return whether a run's own tick is due; if not, the agenda lasts until it is at most."""
        if run.wake_s == AWAKE or self._is_due(run.wake_s):
            if run.course is not None and noticed is not None and _is_any_in(run.course_names, noticed):
                run.course = None
            return True
        if noticed is not None:
            for name in run.waits_for:
                if name in noticed:
                    run.wake_s, run.woken_by = AWAKE, name
                    return True
        return False

    def _to_ask(
        self, places: tuple[HabitPlace, ...], count: int, due: set[int], asks_all: bool
    ) -> tuple[HabitPlace, ...]:
        """Return those of the first ``count`` pending places that are asked in this tick."""
        asked = []
        for index in range(count):
            place = places[index]
            cooldown = None if self._cooldowns is None else self._cooldowns.get(place.index)
            if cooldown is not None and self._cooldowns is not None:
                if not self._is_due(cooldown):
                    continue
                del self._cooldowns[place.index]
                self._is_lasting = self._is_lasting and place.is_polled
                asked.append(place)
            elif place.is_polled:
                asked.append(place)
            elif asks_all or place.index in due or self._asks_now(place):
                self._is_lasting = False
                asked.append(place)
        return tuple(asked)

    def _asks_now(self, place: HabitPlace) -> bool:
        if place.is_polled_on_message:
            return self._messages is not None and self._has_message(
                place, (self._answered or {}).get(place.index, 0))
        if not place.asks_every_s:
            return False
        at_s = self._asks_at_s.get(place.index) if self._asks_at_s is not None else None
        return at_s is None or self._is_due(at_s)

    def _is_due(self, at_s: float) -> bool:
        """Return whether a moment has come; if not, the agenda is valid until then at most."""
        if self._now_s >= at_s:
            return True
        if at_s < self._rebuild_at_s:
            self._rebuild_at_s = at_s
        return False

    def _has_message(self, place: HabitPlace, began: int) -> bool:
        """Return whether a message of ``begins_on`` arrived after the tick in which the place last began."""
        for name in place.begins_on:
            message = self._messages.get(name) if self._messages is not None else None
            if message is not None and message.tick_number > began and (
                message.tick_number == self._tick_number or self._now_s - message.at_s <= place.remembers_s):
                return True
        return False

    def _date_messages(self) -> None:
        """Date the messages since the last tick, and drop those that are too old."""
        messages: dict[str, TreeMessage] = self._messages or {}
        for name, message in list(messages.items()):
            if not message.tick_number:
                message.tick_number, message.at_s = self._tick_number, self._now_s
            elif self._now_s - message.at_s > self.plan.remembers_s.get(name, -1.0):
                del messages[name]
        self._messages = messages or None

    def _live_until(self, now_s: float) -> Status | None:
        """Advance to a moment of the tree's own time."""
        if self.is_busy:
            raise RuntimeError(
                f"{self.name!r} was ticked from inside one of its own habits; tick the tree from outside")
        self._now_s = now_s
        if now_s < self._wake_at_s:
            return None if self.root_run is None else RUNNING
        self.is_busy = True
        try:
            self._tick_all()
            if self.after_tick is not None:
                self.after_tick()
        finally:
            self.is_busy = False
        if self._faults is not None:
            self._faults.raise_kept()
        return self._over if self.root_run is None else RUNNING

    def _tick_all(self) -> None:
        """Process the agenda of this moment."""
        self._tick_number += 1
        self._begun = 0
        self._over = None
        self._is_traced = self._trace is not None and bool(self._trace.state_entered)
        if self._messages is not None:
            self._date_messages()
        agenda = self._agenda
        if agenda is None and self.root_run is None and not self._noticed and not self._cooldowns:
            root = self.plan.root
            if root.is_polled:
                self._asks_all, self._rebuild_at_s, self._is_lasting = False, INFINITY, True
                self._try_beside(None, root, "can activate")  # the only entry the agenda would have
                return
        if agenda is None or self._now_s >= self._rebuild_at_s:
            agenda = self._plan_ahead()
        for entry in agenda:
            what, run = entry[0], entry[1]
            if run is None:
                self._try_beside(None, entry[2][0], "can activate")
            elif run.status is not RUNNING:
                continue  # it ended earlier in this tick
            else:
                status = self._own_tick(run, run.place) if what == TICK else self._process(
                    what, run, entry[2], entry[3])
                if status is not RUNNING:
                    self._close_and_climb(run, status, result_of(status))

    def _process(
        self, what: int, run: HabitContext, places: tuple[HabitPlace, ...], numbers: tuple[int, ...],
    ) -> Status:
        """Process a rarer entry of the agenda; return the status with which the run ends, or RUNNING."""
        status = RUNNING
        if what == CHALLENGE:
            self._challenge(run, places, 0)
        elif what == ASK:
            self._challenge_together(run, places, numbers)
        elif what == BESIDE:
            self._try_beside(run, places[0], "beside the others")
        elif what == CONTINUE:
            status = self._continue(run)
        elif what == RESTART:
            self._restart(run)
        elif what == TIME_OUT:
            self._close_and_climb(run, FAILED, "timed out")
        elif what == JOIN:
            status = self._own_tick(run, run.place)
            if status is RUNNING and self.member is not None:
                self.member.population.join_batch(run)
        elif what == RESULT and run.batch_status is not None:
            status = run.batch_status
        return status

    def _try_beside(self, run: HabitContext | None, place: HabitPlace, reason: str) -> None:
        """Begin the root, or a child that runs beside the others, if it can begin."""
        if self._may_begin_more() and self._can_begin(place):
            self._start(place, run, reason)

    def _challenge(self, run: HabitContext, places: tuple[HabitPlace, ...], first: int) -> None:
        """Begin the most urgent of the places from ``first`` on that can begin, instead of the active child."""
        child = run.child
        held = child.place.strongest(self.holds) if child is not None and self.holds else None
        if run.place.is_utility:
            best = self._best_of([one for one in places if held is None or one.urgency > held], run, ())
            if best is not None:
                self._take_over(run, best)
            return
        is_open = held is None and self._faults is None and self._cooldowns is None
        index = first
        while True:
            if is_open:
                index = self._skip_refused(places, index)
            if index == len(places):
                return
            place = places[index]
            if (held is None or place.urgency > held) and self._can_begin(place):
                self._take_over(run, place)
                return
            index += 1

    def _skip_refused(self, places: tuple[HabitPlace, ...], first: int) -> int:
        """Return the index of the first place from ``first`` on that no comparison of values refuses."""
        board = self._blackboard
        own = cython.cast(dict, board) if isinstance(board, dict) else NO_VALUES
        key, known = None, ABSENT
        for index in range(first, len(places)):
            place = places[index]
            values = place.values
            if values is None:
                return index
            one = values.only
            if one is not None and one._is_number:
                if one.key is not key:      # several conditions often compare one value
                    key = one.key
                    known = own.get(key, ABSENT) if cython.compiled else dict.get(own, key, ABSENT)
                if type(known) is float:
                    if one._holds_number(known):
                        return index
                    continue
            if values.answer(board) != 0:
                return index
        return len(places)

    def _challenge_together(self, run: HabitContext, places: tuple[HabitPlace, ...], numbers: tuple[int, ...]) -> None:
        """Ask places with the same condition in one call, where nothing else decides."""
        if self._cooldowns or self._faults is not None or self.holds or self.parts is None:
            self._challenge(run, places, 0)
            return
        try:
            refused = self._first_that_can(places[0], numbers)
        except Exception:
            refused = -1
        if refused < 0:
            self._challenge(run, places, -1 - refused)  # reports what is wrong
        elif refused < len(places):
            self._take_over(run, places[refused])

    def _first_that_can(self, place: HabitPlace, numbers: tuple[int, ...]) -> int:
        """Return how many refuse before the first that can begin; below 0, see ``first_of`` of conditions."""
        if cython.compiled:
            first: int = first_directly(place.ask_calls, place.can_activate, self.parts, numbers)
        else:
            first = place.can_activate.first_of(self.parts, numbers)
        return first

    def _take_over(self, run: HabitContext, place: HabitPlace) -> None:
        """Begin a child, instead of the active one if there is one."""
        child = run.child
        if not self._may_begin_more():
            return
        reason = "can activate"
        if child is not None:
            reason = child.place.interrupting
            self._end(child, None, place.interrupted)
        if self._start(place, run, reason) is not RUNNING:
            self._choose(run, (place,))

    def _restart(self, run: HabitContext) -> None:
        """Begin the next run of a habit that repeats, unless it is quarantined."""
        run.begins_next = False
        run.began_s = run.ticked_s = self._now_s
        parent = run.parent
        if self._faults is not None and self._is_quarantined(run.place):
            run.begins_next = True  # it has not begun, so it has no exit
            self._close_and_climb(run, FAILED, QUARANTINED)
            return
        status = self._live(run)
        if status is not RUNNING:
            self._climb(parent, run.place, status)

    def _close_and_climb(self, run: HabitContext, status: Status, ending: str) -> None:
        parent, place = run.parent, run.place
        status = self._close(run, status, ending)
        if status is not RUNNING:
            self._climb(parent, place, status)

    def _climb(self, parent: HabitContext | None, place: HabitPlace, status: Status) -> None:
        """Continue the parent of a habit that ended, and each habit above that ends with it."""
        while parent is not None and not place.is_beside:
            launch = parent.place.launch
            if parent.place.interrupts:
                self._choose(parent, ())
                return
            if launch is not RANDOM and status is (SUCCEEDED if launch is SEQUENTIAL else FAILED):
                parent.number = place.number + 1
                status = self._continue(parent)
            if status is RUNNING:
                return
            place, above = parent.place, parent.parent
            status = self._close(parent, status, result_of(status))
            if status is RUNNING:
                return
            parent = above

    def _may_begin_more(self) -> bool:
        if self._begun < MOST_BEGUN_IN_A_TICK:
            return True
        self._asks_all = True  # habits that were cut off are asked in the next tick
        self._agenda, self._wake_at_s = None, AWAKE
        return False

    def _can_begin(self, place: HabitPlace) -> bool:
        index, faults = place.index, self._faults
        if self._cooldowns is not None and self._cooldowns.get(index, AWAKE) > self._now_s:
            return False
        if faults is None and place.is_free:
            return True
        values = place.values
        if faults is None and values is not None:
            answer: int = values.answer(self._blackboard)
            if answer >= 0:
                return answer == 1 and (values.also is None or self._ask(place, values.also))
            return self._ask(place, values)
        if place.begins_on and not self._has_message(place, (self._answered or {}).get(index, 0)):
            return False
        if faults is not None and self._is_quarantined(place):
            self._set_ending(index, QUARANTINED)
            return False
        if place.asks_every_s:
            if self._asks_at_s is None:
                self._asks_at_s = {}
            self._asks_at_s[index] = self._now_s + place.asks_every_s - ROUNDING_S
        if place.can_activate is None:
            return True
        return self._ask(place, place.can_activate)

    def why_unasked(self, place: HabitPlace) -> str:
        """Return why a pending habit was not asked whether it can activate, or did not answer; "" if it did."""
        if place.begins_on and not self._has_message(place, (self._answered or {}).get(place.index, 0)):
            return f"waits for {' or '.join((*place.begins_on, *place.habit.wakes_on))}"
        if self._faults is None:
            return ""
        if self._is_quarantined(place):
            return QUARANTINED
        has_raised = f"can_activate of {place.path}" in self._faults.failing
        return "its can_activate raised an error, which was reported" if has_raised else ""

    def _ask(self, place: HabitPlace, condition: Any) -> bool:
        """Call the condition of a pending habit, or what remains of it."""
        context, can_begin = self._context_for(place), False
        began_ns = 0 if self.stopwatch is None else self.stopwatch()
        try:
            if cython.compiled and place.ask_calls != cython.NULL:
                can_begin = call_directly(place.ask_calls, condition, self.parts, place.index, 0.0, context)
            else:
                can_begin = bool(condition(context))
        except Exception as error:  # it cannot begin
            self._report(place, "can_activate", error)
            return False
        if began_ns:
            self._note_spent(place.index, began_ns)
        if self._faults is not None:
            self._note_success(place, True)
        return can_begin

    def _context_for(self, place: HabitPlace) -> HabitContext:
        """Return the context for questions to a habit that needs no run; all habits share it."""
        context = self._asking
        if context is None:
            context = self._asking = spare_run()
            context._begin(self, place, None, "")
            context.status = None
        context.place, context.began_s, context._memory = place, self._now_s, None
        return context

    def _choose(self, run: HabitContext, begun: tuple[HabitPlace, ...]) -> None:
        """Launch the most urgent child that can run; each begins at most once in this choice."""
        chosen: HabitPlace | None
        while True:
            if begun:
                self._asks_all = True  # the ended child can begin again in the next tick
            chosen = self._best_of(run.place.blocking, run, begun) if run.place.is_utility else None
            for place in () if run.place.is_utility else run.place.blocking:
                if (not begun or place not in begun) and self._can_begin(place):
                    chosen = place
                    break
            if chosen is None or not self._may_begin_more():
                return
            if self._start(chosen, run, "can activate") is RUNNING:
                return
            begun = (*begun, chosen)

    def _best_of(
        self, places: Iterable[HabitPlace], run: HabitContext, begun: tuple[HabitPlace, ...]
    ) -> HabitPlace | None:
        """Return the place with the highest score above 0, and above the active child's by the inertia."""
        child, best, most = run.child, None, 0.0
        if child is not None:
            most = max(0.0, self._score(child.place) + run.place.inertia)
        for place in places:
            if (child is None or place is not child.place) and place not in begun and self._can_begin(place):
                score = self._score(place)
                if score > most:
                    best, most = place, score
        return best

    def _score(self, place: HabitPlace) -> float:
        """Return the score of a habit, 0 if its callback raises an exception."""
        try:
            score = finite_number(f"score of {place.path!r}", place.score(self._context_for(place)))
        except Exception as error:
            self._report(place, "score", error)
            score = 0.0
        self.scores[place.index] = score
        return score

    def _continue(self, run: HabitContext) -> Status:
        """Launch the next child, and further ones as long as children end at once."""
        launch, steps = run.place.launch, run.place.blocking
        if launch is RANDOM:
            return self._draw(run)
        wanted = SUCCEEDED if launch is SEQUENTIAL else FAILED
        while run.number < len(steps):
            if not self._may_begin_more():
                return RUNNING
            place = steps[run.number]
            if self._can_begin(place):
                status = self._start(place, run, "next in sequence" if run.number else "first in sequence")
                if status is not wanted:
                    return status
            elif wanted is SUCCEEDED:
                self._set_ending(place.index, "could not activate in its turn")
                return FAILED
            run.number += 1
        return wanted

    def _draw(self, run: HabitContext) -> Status:
        """Launch one of the children that can run, each as likely as its weight among theirs.

        Draws one number, also for a single child: later choices then do not depend on how
        many could run before.
        """
        places = [place for place in run.place.blocking if self._can_begin(place)]
        if not places:
            return FAILED
        if not self._may_begin_more():
            return RUNNING
        weights = [place.weight for place in places]
        random: Any = self._random      # the plan has checked that there is one
        mark = random.random() * sum(weights)
        chosen = places[len(places) - 1]  # rounding may leave the mark at the very end
        for place in places:
            mark -= place.weight
            if mark < 0:
                chosen = place
                break
        return self._start(chosen, run, f"chosen {chosen.number + 1} of {len(run.place.blocking)}")

    def _start(self, place: HabitPlace, parent: HabitContext | None, reason: str) -> Status:
        """Begin a habit and tick it for the first time; return its status for its parent."""
        if (place.check is not None or place.write is not None) and parent is not None and self._ends_quietly():
            return self._do_at_once(place)
        run = self._new_run(place, parent, reason)
        status = self._live(run)
        if status is not RUNNING:
            recycle(run)
        return status

    def _ends_quietly(self) -> bool:
        """Return whether the end of a run has no effect but its result."""
        return self._faults is None and not self.holds and not self._is_traced and not self._has_listeners()

    def _do_at_once(self, place: HabitPlace) -> Status:
        """Compare or write a value; return the result of the habit, which begins and ends in the same moment."""
        check: Any = place.check
        write: Any = place.write
        board = self.blackboard if self._blackboard is None else self._blackboard
        self._begun += 1
        self._agenda, self._wake_at_s = None, AWAKE
        known = ABSENT
        if cython.compiled and isinstance(board, dict):
            own = cython.cast(dict, board)
            known = own.get(write.key if check is None else check.key, ABSENT)
        if check is None:
            holds = (known is write.value and write.may_stay) or self._act_at_once(place, board)
        elif check._is_number and type(known) is float:
            holds = check._holds_number(known)
        else:
            holds = self._act_at_once(place, board)
        self._set_ending(place.index, "succeeded" if holds else "failed")
        return SUCCEEDED if holds else FAILED

    def _act_at_once(self, place: HabitPlace, board: dict[str, Any]) -> bool:
        """Compare or write a value where that may raise an exception; return whether the habit succeeds."""
        check: Any = place.check
        write: Any = place.write
        try:
            if check is None:
                board[write.key] = write.value
                return True
            return bool(check.holds(value_of(board, check.key)))
        except Exception as error:
            self._report(place, "tick", error)
            return False

    def _new_run(self, place: HabitPlace, parent: HabitContext | None, reason: str) -> HabitContext:
        """Return a run that has its place in the tree."""
        run = spare_run()
        run._begin(self, place, parent, reason)
        if parent is None:
            self.root_run = run
        elif not place.is_beside:
            parent.child = run
        elif parent.beside is None:
            parent.beside = [run]
        else:
            parent.beside.append(run)
        return run

    def _live(self, run: HabitContext) -> Status:
        """Begin a run that has its place in the tree, and launch its children."""
        place = run.place
        self._begun += 1
        self._agenda, self._wake_at_s = None, AWAKE
        if place.begins_on:
            if self._answered is None:
                self._answered = {}
            self._answered[place.index] = self._tick_number
            if run.successes == 0 and run.failures == 0:
                run.payload = run.newest_payload(place.begins_on)
        if place.held is not None:
            self.holds[place.index] = place.held
        if self._is_traced:
            self._trace_entered(run)
        if self.on_entered is not None:
            self._call_listener(self.on_entered, run)
        status = RUNNING
        if place.enter is not None:
            try:
                place.enter(run)
            except Exception as error:  # it has begun, so it ends like any other
                run.is_faulty = True
                self._report(place, "enter", error)
                status = FAILED
        if status is RUNNING and place.tick is not None and run.wake_s == AWAKE:
            status = self._own_tick(run, place)
        if status is RUNNING and place.blocking:
            if place.interrupts:
                self._choose(run, ())
            else:
                status = self._continue(run)
        if status is not RUNNING:
            return self._close(run, status, result_of(status))
        for beside in place.non_blocking:
            self._try_beside(run, beside, "beside the others")
        return RUNNING

    def _own_tick(self, run: HabitContext, place: HabitPlace) -> Status:
        if self.stopwatch is None:
            return self._tick_habit(run, place)
        began_ns = self.stopwatch()
        status = self._tick_habit(run, place)
        self._note_spent(place.index, began_ns)
        return status

    def _note_spent(self, index: int, began_ns: int) -> None:
        if self.stopwatch is not None:
            self.spent_ns[index] = self.spent_ns.get(index, 0) + self.stopwatch() - began_ns

    def _tick_habit(self, run: HabitContext, place: HabitPlace) -> Status:
        run.elapsed_s = self._now_s - run.ticked_s
        run.ticked_s = self._now_s
        if run.wake_s != AWAKE:
            run.wake_s, run.waits_for = AWAKE, ()
        try:
            if run.course is not None:
                if self._now_s < run.course_until_s and run.course(run.elapsed_s):
                    return RUNNING
                run.course = None
            tick: Any = place.tick
            is_direct = place.tick_while is None
            if place.tick_while is not None:
                is_direct = place.tick_while.holds(run)
                tick = place.tick_while.tick if is_direct else place.tick_while.otherwise
            if cython.compiled and is_direct and place.tick_calls != cython.NULL:
                return STATUS_OF_CODE[
                    call_directly(place.tick_calls, tick, self.parts, place.index, run.elapsed_s, run)]
            status = tick(run)
            if status is RUNNING or status is None:
                return RUNNING
            if status is SUCCEEDED or status is FAILED:
                return status
            raise TypeError(f"tick of {run.path!r} must return a Status, got {shown(status)}")
        except Exception as error:  # the rest of the frame continues
            run.is_faulty = True
            self._report(place, "tick", error)
            return FAILED

    def _close(self, run: HabitContext, status: Status, ending: str) -> Status:
        """End a run that came to its end; return the status of its habit for the parent."""
        place, parent = run.place, run.parent
        successes, failures = run.successes, run.failures
        if status is SUCCEEDED:
            successes += 1
            is_over = successes >= place.repeats
        else:
            failures += 1
            is_over = run.begins_next or failures > place.retries
        self._end(run, status, ending)
        if not is_over:
            again = self._new_run(place, parent, f"again after it {result_of(status)}")
            again.successes, again.failures, again.begins_next, again.payload = successes, failures, True, run.payload
            if self._cooldowns is not None:
                self._cooldowns.pop(place.index, None)
            return RUNNING
        if place.outcome is not None:
            if place.outcome is Outcome.INVERTED:
                status = FAILED if status is SUCCEEDED else SUCCEEDED
            else:
                status = SUCCEEDED if place.outcome is Outcome.ALWAYS_SUCCEEDED else FAILED
        if parent is None:
            self._over = status
        return status

    def _end(self, run: HabitContext, status: Status | None, ending: str) -> None:
        """End a run: those beside and below it first, the last begun first."""
        if run.beside:
            for one in reversed(tuple(run.beside)):
                self._end(one, None, "its parent ended")
        if run.child is not None:
            self._end(run.child, None, "its parent ended")
        place, parent = run.place, run.parent
        if run.batch is not None:
            run.batch.leave(run)
        run.status = status
        if not run.begins_next:
            self._exit(run, place)
        if self.holds and self.holds.pop(place.index, None) is not None:
            self._asks_all = True  # habits that it held back were not asked
        if place.cooldown_s:
            if self._cooldowns is None:
                self._cooldowns = {}
            self._cooldowns[place.index] = self._now_s + place.cooldown_s - ROUNDING_S
        self._set_ending(place.index, ending)
        self._agenda, self._wake_at_s = None, AWAKE
        run.parent = None
        if parent is None:
            self.root_run = None
            self._asks_all = True
        elif parent.child is run:
            parent.child = None
        elif parent.beside is not None:
            parent.beside.remove(run)
            self._asks_all = True  # it can begin again in the next tick

    def _set_ending(self, index: int, ending: str) -> None:
        if cython.compiled:
            set_item(self.endings, index, ending)
        else:
            self.endings[index] = ending

    def _exit(self, run: HabitContext, place: HabitPlace) -> None:
        """Call what follows the end of a run; errors are reported."""
        if run.generator is not None:
            generator, run.generator = run.generator, None
            try:
                generator.close()
            except Exception as error:  # its finally clauses are an exit too
                run.is_faulty = True
                self._report(place, "exit", error)
        if place.exit is not None:
            try:
                place.exit(run)
            except Exception as error:  # it has ended nevertheless
                run.is_faulty = True
                self._report(place, "exit", error)
        if self.on_exited is not None:
            self._call_listener(self.on_exited, run)
        if self._faults is not None and not run.is_faulty:
            self._note_success(place, False)

    def _has_listeners(self) -> bool:
        """Return whether ``on_entered`` and ``on_exited`` need calls."""
        if self.on_entered is None and self.on_exited is None:
            return False
        if self.listening is None:
            return True
        if cython.compiled and self._listener_changes != cython.NULL:
            changes = self._listener_changes[0]
            if changes == self._seen_changes and (
                self._quiet_since_s <= self._now_s < self._quiet_since_s + LISTENERS_VALID_S):
                return False
        answer = self.listening()
        if cython.compiled and self._listener_changes != cython.NULL:
            self._seen_changes, self._quiet_since_s = changes, self._now_s if answer is False else INFINITY
        return bool(answer)

    def _call_listener(self, listener: Callable[[HabitContext], object], run: HabitContext) -> None:
        try:
            if self._has_listeners():
                listener(run)
        except Exception as error:  # raised after the tick
            self._callback_faults().keep(error)

    def _notice(self, name: str) -> None:
        """Note a change of the blackboard."""
        self._hear(name)

    def _hear(self, name: str) -> None:
        """Note a change of the blackboard, if something in the present agenda depends on it."""
        if self.is_busy or self._agenda is None or self.root_run is None or self._heeds(name):
            self._note(name)

    def _heeds(self, name: str) -> bool:
        """Return whether an active habit waits for a name, or a habit that may be asked before it ends listens to it.

        Habits below the active one are asked when it ends, whatever has changed until then.
        """
        listeners: tuple[int, ...] = self.plan.listeners.get(name, ())
        run = self.root_run
        while run is not None:
            place, child = run.place, run.child
            if place.non_blocking or place.is_utility or (run.waits_for and name in run.waits_for) or (
                    run.course is not None and name in run.course_names):
                return True
            last = place.end if child is None else child.place.index
            for index in listeners:
                if place.index < index < last:
                    return True
            run = child
        return False

    def _note(self, name: str) -> None:
        """Note a message or a change of the blackboard for the next tick."""
        if self._noticed is None:
            self._noticed = set()
        self._noticed.add(name)
        self._wake(False)

    def watch(self, names: tuple[str, ...]) -> None:
        """Be notified when these change on the blackboard; an unused blackboard is made later."""
        board = self._blackboard
        if names and isinstance(board, Blackboard):
            if self._watched is None:
                self._watched = set()
            board.notify_tree(self, [name for name in names if name not in self._watched])
            self._watched.update(names)

    def plan_ahead(self) -> None:
        """Plan the work of the next tick, so that the tree sleeps until then if there is none."""
        self._plan_ahead()

    def new_run(self, place: HabitPlace, parent: HabitContext | None, reason: str) -> HabitContext:
        """Return a run that has its place in the tree, without calling a callback."""
        check_type("place", place, HabitPlace)
        return self._new_run(place, parent, reason)

    def move_run(self, run: HabitContext, place: HabitPlace) -> None:
        """Set the place of a run in another plan."""
        check_type("run", run, HabitContext)
        check_type("place", place, HabitPlace)
        cython.cast(HabitContext, run).place = place

    def end_run(self, run: HabitContext, ending: str) -> None:
        """End a run and the runs below it, without a status."""
        check_type("run", run, HabitContext)
        self._end(run, None, ending)

    def wake(self, asks_all: bool) -> None:
        """Make a new agenda in the next tick, which asks all pending habits if ``asks_all`` is set."""
        self._wake(asks_all)

    def _wake(self, asks_all: bool) -> None:
        """Make a new agenda in the next tick."""
        self._asks_all = asks_all or self._asks_all
        self._agenda = None
        slept = self._wake_at_s > AWAKE
        self._wake_at_s = AWAKE
        if slept and self.member is not None:
            self.member.population._wake(self.member)
        if slept and self.on_wake is not None:
            self.on_wake(self)

    def catch_up(self) -> None:
        """Set the time also if a population has not visited the tree lately."""
        if self.member is not None and not self.is_busy:
            self.member.catch_up()

    def _refuse_member(self) -> None:
        raise RuntimeError(f"{self.name!r} is in a population; tick the population, or remove the tree from it first")

    def _now(self) -> TimeIndex:
        if self._moment is not None:
            return self._moment
        return TimeIndex(self._frame, self._now_s) if self._clock is None else self._clock.now

    def _trace_entered(self, run: HabitContext) -> None:
        for hook in self._trace.state_entered if self._trace is not None else ():
            try:
                hook(self.name, run.place.path, run.reason, self._now())
            except Exception as error:  # raised after the tick
                self._callback_faults().keep(error)

    def _report(self, place: HabitPlace, moment: str, error: Exception) -> None:
        said = f"{moment} of {place.path}"
        self._callback_faults().report(
            said if moment == "can_activate" else place.path, self._now().frame, error, says=said)

    def _callback_faults(self) -> CallbackFaults:
        if self._faults is None:
            self._faults = CallbackFaults(self.name, self._isolation)
        return self._faults

    def _is_quarantined(self, place: HabitPlace) -> bool:
        faults = self._callback_faults()
        return faults.is_quarantined(place.path) or faults.is_quarantined(f"can_activate of {place.path}")

    def _note_success(self, place: HabitPlace, of_asking: bool) -> None:
        self._callback_faults().note_success(f"can_activate of {place.path}" if of_asking else place.path)


_spare: HabitContext | None = None
_spare_count = 0


def spare_run() -> HabitContext:
    """Return a context for ``_begin``."""
    global _spare, _spare_count
    run = _spare
    if run is None:
        run = HabitContext.__new__(HabitContext)
        run._clear()
        return run
    _spare = run.parent
    _spare_count -= 1
    return run


def recycle(run: HabitContext) -> None:
    """Keep a context that has ended for the next run, if nothing but the caller refers to it."""
    global _spare, _spare_count
    if cython.compiled and Py_REFCNT(run) <= 1 and _spare_count < MOST_SPARE_RUNS:
        if not run._is_clear():
            run._clear()
        none: Any = None
        run._tree = run.place = none
        run.parent = _spare
        _spare = run
        _spare_count += 1


def result_of(status: Status) -> str:
    """Return the name of a final status; ``status.value`` takes as long as a small tree."""
    return "succeeded" if status is SUCCEEDED else "failed"


def _ask_together(places: tuple[HabitPlace, ...]) -> bool:
    """Return whether several places are asked, all by one condition that can ask them in one call."""
    first = places[0]
    return len(places) > 1 and first.asks_together and all(
        place.asks_together and place.can_activate is first.can_activate for place in places)


def _is_any_in(names: tuple[str, ...], noticed: set[str]) -> bool:
    for name in names:  # noqa: SIM110 - a generator takes longer where it is compiled
        if name in noticed:
            return True
    return False


def _run_at(runs: list[HabitContext] | None, place: HabitPlace) -> HabitContext | None:
    for run in runs or ():
        if run.place is place:
            return run
    return None


class TickMember:
    """The slot of a tree in a population.

    Attributes:
        number, timer_s, is_paused, late_s: as those of a ``PopulationSlot``.
        offset_s: the population's time less the tree's (s).
        saved_offset_s: the same as its tree was saved (s); nan if it was not loaded.
    """

    def __init__(self, population: Any, tree: HabitRunner, number: int) -> None:
        check_type("tree", tree, HabitRunner)
        self.number = number
        self.timer_s = math.inf
        self.is_paused, self.late_s = False, 0.0
        self.population = population
        self.tree = tree
        self.offset_s = population._now_s - tree._now_s
        self.saved_offset_s = math.nan

    def catch_up(self) -> None:
        """Set the time of a tree that sleeps."""
        if not self.is_paused:
            self.tree._now_s = self.population._now_s - self.offset_s

    def was_moved(self) -> None:
        """Note that one of the two times was set."""
        self.offset_s = self.population._now_s - self.tree._now_s

    def was_loaded(self) -> None:
        """Note that one of the two times was loaded; when both are, rounding does not change their difference."""
        self.was_moved()
        if self.population._now_s - self.saved_offset_s == self.tree._now_s:
            self.offset_s = self.saved_offset_s


def tick_in_turn(
    order: list[TickMember], now_s: float, moment: TimeIndex | None, budget: Any,
) -> tuple[int, Exception | None, list[TickMember]]:
    """Tick trees in turn until the budget is spent, beginning with the first in any case.

    Args:
        order: the members of a population, in the order of their turns.
        now_s: time of the population (s).
        moment: time for traces and reports, or None.
        budget: a ``Budget`` that limits the work; None for no limit.

    Returns:
        Number of the first member without a turn, 0 if all had one; the first error; and the members
        that fell asleep in their turn.
    """
    first_error: Exception | None = None
    asleep: list[TickMember] = []
    next_number = 0
    # Time is compared here unless it is recorded: a query of the budget takes as long as a small tree.
    is_timed = budget is not None and budget.deadline_ns is not None and budget.grants is None
    is_asked = budget is not None and not is_timed and not budget.is_unlimited
    count = 0
    for member in order:
        if count and (is_timed or is_asked) and (
            budget.stopwatch() >= budget.deadline_ns if is_timed else budget.is_spent):
            next_number = member.number
            break
        count += 1
        if is_asked:
            budget.spend()
        tree = member.tree
        if tree.member is not member or member.is_paused:
            continue  # removed or paused by one that had its turn before
        tree._moment = moment
        tree._frame += 1
        try:
            tree._live_until(now_s - member.offset_s)
        except Exception as error:  # raised again when all had their turn
            if first_error is None:
                first_error = error
        if tree._wake_at_s > AWAKE:
            asleep.append(member)
    if budget is not None and not is_asked:
        budget.spend(count)
    return next_number, first_error, asleep


def notify_each(trees: list[HabitRunner | None], name: str, payloads: list[Any]) -> None:
    """Notify each tree of an event with a payload of its own, as by ``notify``; None has no effect.

    Raises:
        ValueError: if there is not one payload for each tree.
    """
    if len(payloads) != len(trees):
        raise ValueError(f"payloads must be one for each of the {len(trees)} trees, got {len(payloads)}")
    for number in range(len(trees)):
        tree = trees[number]
        if tree is not None:
            tree._receive(name, payloads[number])
