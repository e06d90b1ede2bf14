"""The context of a habit's callbacks: a run of a habit by a character."""
from __future__ import annotations

import math
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from ai_core.decisions.habits.habit_place import INTERFACE, KERNEL
from ai_core.decisions.habits.habits import Status
from ai_core.errors import finite_number, shown
from ai_core.twins import twin_class

if TYPE_CHECKING:
    from ai_core.decisions.habits.habit_batch import HabitBatch
    from ai_core.decisions.habits.habit_plan import CompiledHabit
    from ai_core.decisions.habits.habit_tree import HabitTree

__all__ = ["AWAKE", "ROUNDING_S", "HabitContext"]

AWAKE = -math.inf
"""As the time at which something is due: now, and at every tick."""

ROUNDING_S = 1e-9
"""Timers reach their end this much early (s).

Times are sums of frames, and sums of 0.1 miss 0.3 by rounding: without this a
wait would now and then take a frame longer.
"""


@twin_class(KERNEL, INTERFACE)
class HabitContext:
    """A run of a habit, from its beginning to its end.

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
        successes, failures: earlier runs counted for ``repeats`` and ``retries``.
    """

    __slots__ = (
        "_memory", "_tree", "batch", "batch_status", "began_s", "begins_next", "beside", "child", "elapsed_s",
        "failures", "generator", "is_faulty", "number", "parent", "place", "reason", "restart_point", "row", "status",
        "successes", "ticked_s", "waits_for", "wake_s", "woken_by",
    )

    def __init__(self, tree: HabitTree, place: CompiledHabit, parent: HabitContext | None, reason: str) -> None:
        self._tree = tree
        self._memory: dict[str, Any] | None = None
        self.place = place
        self.parent = parent
        self.child: HabitContext | None = None
        self.beside: list[HabitContext] | None = None
        self.began_s = self.ticked_s = tree._now_s
        self.elapsed_s = 0.0
        self.wake_s = AWAKE
        self.waits_for: tuple[str, ...] = ()
        self.number = self.successes = self.failures = 0
        self.begins_next = self.is_faulty = False
        self.batch: HabitBatch | None = None
        self.batch_status: Status | None = None
        self.row = 0
        self.woken_by = ""
        self.generator: Generator[Any, Any, Any] | None = None
        self.restart_point = ""
        self.status: Status | None = Status.RUNNING
        self.reason = reason

    @property
    def time_in_habit_s(self) -> float:
        """Game time since it began (s)."""
        return self._tree.seconds - self.began_s

    @property
    def owner(self) -> Any:
        """The character: ``owner`` of the HabitTree."""
        return self._tree.owner

    @property
    def tree(self) -> HabitTree:
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
    def blackboard(self) -> dict[str, Any]:
        """The blackboard of the character, shared by all its habits."""
        return self._tree.blackboard

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
        return self._tree._kept_by(self.place.index)

    def remember(self, values: dict[str, Any]) -> None:
        """Write several values to the memory."""
        self._memory = {**(self._memory or {}), **values}

    def forget(self) -> None:
        """Empty the memory."""
        self._memory = None

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
        self._check_active("nothing to hold")
        held = math.inf if priority is None else finite_number("priority", priority)
        self._tree._hold(self.place.index, held)

    def release(self) -> None:
        """End a ``hold``; more urgent habits can interrupt at the next tick."""
        self._tree._release(self.place.index)

    def wait_s(self, seconds: float) -> None:
        """Skip ticks of this habit until an amount of game time has passed (s).

        Raises:
            ValueError: if the time is negative or not finite.
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
            raise ValueError(f"wait_for needs names, got {shown(names)}; to wait for time use wait_s")
        self._wait(
            math.inf if at_most_s is None else finite_number("at_most_s", at_most_s, minimum=0), names)

    def told(self, name: str) -> Any:
        """Return the payload of ``HabitTree.notify(name)`` for this tick, None if there was none."""
        return self._tree._cargo_of(name)

    def restart_at(self, point: str) -> None:
        """Declare the point at which a generator begins again after loading; see ``habit_generators``.

        Raises:
            TypeError: if ``point`` is not a string.
        """
        if not isinstance(point, str):
            raise TypeError(f"point must be text, got {shown(point)}")
        self.restart_point = point

    def _wait(self, seconds: float, names: tuple[str, ...]) -> None:
        self._check_active("nobody to wait")
        self.wake_s = self._tree.seconds + seconds - ROUNDING_S
        self.waits_for, self.woken_by = names, ""
        self._tree._wait(self)

    def _check_active(self, why: str) -> None:
        if self.status is not Status.RUNNING:
            raise RuntimeError(f"{self.path!r} is not active, so there is {why}")

    def __repr__(self) -> str:
        return f"<HabitContext {self.path}>"
