"""How long runs of work take, and runs of work that are given a share of time.

This is the twin in Python of ``_run_times``, which is used in its place where it
was built.
"""
from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ai_core.twins import twin

if TYPE_CHECKING:
    from ai_core.budget import Budget, _TimeBudget
    from ai_core.clock import TimeIndex
    from ai_core.scheduling.rounds import Call
    from ai_core.scheduling.task import Task, Turn
    from ai_core.trace import Trace

__all__ = ["INTERFACE", "RECENT_RUNS", "RunFrame", "RunTimes", "Shares", "begin_shares"]

INTERFACE = 7
"""Changes with any change of names, arguments or results, here and in the kernel."""

RECENT_RUNS = 64
"""Runs that the 95th percentile looks back on (count): the worst three of them decide.

Fewer, and it is the maximum by another name; more, and it tells of a game long past.
"""

MOST_PENDING = 2 * RECENT_RUNS
"""Times noted before they are summed up, two for each run (count); 15 µs then."""


class _Times:
    """Lengths of time (ns): their sum, the longest, and the latest of them."""

    __slots__ = ("longest_ns", "recent_ns", "total_ns")

    def __init__(self) -> None:
        self.total_ns = self.longest_ns = 0
        self.recent_ns: list[int] = []

    def add(self, total_ns: int, longest_ns: int, recent_ns: Sequence[int]) -> None:
        self.total_ns += total_ns
        self.longest_ns = max(self.longest_ns, longest_ns)
        self.recent_ns = [*self.recent_ns, *recent_ns][-RECENT_RUNS:]

    def seen(self) -> tuple[int, int, list[int]]:
        return self.total_ns, self.longest_ns, list(self.recent_ns)


@twin
class RunTimes:
    """What the runs of one piece of work were given and used, in whole ns; of constant size."""

    __slots__ = ("_granted", "_noted", "_pending_ns", "_used")

    def __init__(self) -> None:
        self._noted = 0
        self._pending_ns: list[float] = []  # what each run was given and used, in turn
        self._granted, self._used = _Times(), _Times()

    @property
    def noted(self) -> int:
        """Runs that were noted one by one."""
        return self._noted + len(self._pending_ns) // 2

    def note_run(self, granted_ns: float, used_ns: int) -> None:
        """Note one run, what it was given and what it used; of parts of a ns nothing is kept."""
        pending = self._pending_ns
        pending += (granted_ns, used_ns)
        if len(pending) >= MOST_PENDING:
            self._sum_up()

    def note_rounds(self, total_ns: int, longest_ns: int, recent_ns: Sequence[int]) -> None:
        """Note what several runs used that were given nothing of their own."""
        self._sum_up()
        self._used.add(total_ns, longest_ns, recent_ns)

    def granted(self) -> tuple[int, int, list[int]]:
        """Return what all runs were given, the most, and the latest RECENT_RUNS, in order (ns)."""
        self._sum_up()
        return self._granted.seen()

    def used(self) -> tuple[int, int, list[int]]:
        """Return the same of what they used (ns)."""
        self._sum_up()
        return self._used.seen()

    def _sum_up(self) -> None:
        pending, self._pending_ns = self._pending_ns, []
        if pending:
            self._noted += len(pending) // 2
            for times, noted in ((self._granted, pending[::2]), (self._used, pending[1::2])):
                whole = list(map(int, noted))
                times.add(sum(whole), max(whole), whole)


class RunFrame(NamedTuple):
    """What is the same for all runs of a frame."""

    now: TimeIndex
    budget: _TimeBudget
    make_turn: Callable[[], Turn]
    """Makes a Turn to be filled in: ``now``, ``elapsed_s``, and ``_share``, which is that of ``Shares``."""
    touched: Container[Task]
    """Tasks that were changed since the frame began; sized."""
    failing: Container[object]
    """Tasks whose last run failed; sized."""
    waiting: Mapping[Task, int]
    """Tasks that are late, by the number of the frame on which they fell due."""
    number: int
    """Of the frame, as the scheduler counts them."""
    trace: Trace | None
    """Told of each run that is not odd; None if nobody listens to runs."""
    weight_behind: float
    """Of those who come after the queue."""
    margin_ns: int
    """When so much of the budget is left the rest is to wait."""
    may_wait: bool
    """Whether the first is, too: somebody ran before it."""


class Shares(Protocol):
    """Calls of work to be made, in order, each with its share of what is left of a budget.

    ::

        while shares.goes_on():
            turn = shares.turn
            for call in shares:
                call(turn)
            if shares.was_odd(): ...

    Going through it ends where another Turn is needed, after an odd run, and
    where what is left is not for it: when the budget is spent, or a task was changed.

    Work written in C may offer ``calls_in_a_row``, a capsule named "ai_core.calls_in_a_row". The
    kernel then makes such calls itself, and writes down who ran and for how long when the row
    ends: where the budget does, or after a call that ran Python code. Such code finds the
    earlier ones of its row as they were before the frame.
    """

    turn: Turn
    """What to make the calls with."""
    result: object
    """Where to put what a call returned, if there is a trace."""
    task: Task
    """Whose call was made last."""
    place: int
    """How many calls have begun."""
    ended_ns: int
    """When the last call ended, and the next begins."""

    @property
    def times_ns(self) -> tuple[float, int, int]:
        """What the last call was granted and used, and how far it went beyond the whole budget."""
        ...

    def goes_on(self) -> bool:
        """Return whether there are calls to be made."""
        ...

    def __iter__(self) -> Iterator[Call]: ...

    def end_call(self) -> bool:
        """Take note that the last call has raised; return whether one was under way."""
        ...

    def resume(self) -> None:
        """Take note that a run was told of; what that took is nobody's time."""

    def was_odd(self) -> bool:
        """Return True once if the last call went beyond the budget, or changed a task."""
        ...

    def part(self) -> Budget:
        """Return the share of the call that runs, as a budget."""
        ...

    def parts_to_come(self) -> list[float] | None:
        """Return the parts of those still to come, as they were when it began; None if none has run."""
        ...

    def finish(self) -> None:
        """Let go of everything."""


@twin
def begin_shares(queue: list[Task], to_come: Iterator[Task], frame: RunFrame) -> Shares:
    """Return shares by priority of what is left of a budget of time.

    This form makes none of the calls: whoever goes on makes all, in the same way.

    Args:
        queue: who may run.
        to_come: the same; it goes on as calls are made.
        frame: what is the same for all.
    """
    return _NoShares(frame)


class _NoShares:
    turn: Turn
    task: Task
    result: object = None
    place = 0
    times_ns = (0.0, 0, 0)

    def __init__(self, frame: RunFrame) -> None:
        self.ended_ns = frame.budget._watch()

    def goes_on(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Call]:
        return iter(())

    def end_call(self) -> bool:
        return False

    def resume(self) -> None:
        """Nobody was told."""

    def was_odd(self) -> bool:
        return False

    def part(self) -> Budget:
        raise RuntimeError("there is no call to share the time between")

    def parts_to_come(self) -> list[float] | None:
        return None

    def finish(self) -> None:
        """There is nothing to let go of."""
