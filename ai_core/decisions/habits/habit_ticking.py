"""A tick of a habit tree: which habits are ticked, interrupted or ended, and in which order."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from ai_core.decisions.habits.habit_agenda import BESIDE, CHALLENGE, CONTINUE, JOIN, RESTART, RESULT, TICK, TIME_OUT
from ai_core.decisions.habits.habit_context import AWAKE, HabitContext
from ai_core.decisions.habits.habit_launching import ChildSelection
from ai_core.decisions.habits.habit_place import INTERFACE, KERNEL
from ai_core.decisions.habits.habits import Habit, Launch, Status
from ai_core.errors import finite_number, shown
from ai_core.scheduling.task import Turn
from ai_core.twins import twin_class

if TYPE_CHECKING:
    from ai_core.clock import TimeIndex
    from ai_core.decisions.habits.habit_plan import CompiledHabit

__all__ = ["HabitTicking"]

RUNNING, SUCCEEDED, FAILED = Status.RUNNING, Status.SUCCEEDED, Status.FAILED
PRIORITIZED, SEQUENTIAL, RANDOM = Launch.PRIORITIZED, Launch.SEQUENTIAL, Launch.RANDOM


@twin_class(KERNEL, INTERFACE)
class HabitTicking(ChildSelection):
    """Base class of ``HabitTree`` that runs ticks."""

    __slots__ = (
        "_blackboard", "_frame", "_kept_errors", "_moment", "_next_parts", "_next_root", "_should_stop", "owner",
        "parts",
    )

    owner: Any
    parts: Sequence[Any] | None
    name: str
    _blackboard: dict[str, Any] | None
    _frame: int
    _kept_errors: list[Exception] | None
    _moment: TimeIndex | None
    _next_parts: Sequence[Any] | None
    _next_root: Habit | None
    _should_stop: bool

    def __init__(self) -> None:
        self.root_run = self._asking = self._agenda = self._over = self._member = None
        self._noticed = self._told = self._cooldowns = self._asks_at_s = self._answered = None
        self._moment = self._next_root = self._next_parts = self._kept_errors = None
        self._blackboard = self._random = self._faults = self._trace = self.owner = self.parts = None
        self.listening = self.listening_counter = self.on_entered = self.on_exited = None
        self.holds, self.endings = {}, {}
        self._now_s, self._rebuild_at_s, self._wake_at_s = 0.0, inf, AWAKE
        self._frame = self._tick_number = self._begun = 0
        self._is_busy = self._is_lasting = self._is_traced = self._should_stop = False
        self._asks_all = True

    # What the tree adds: what happens at the edges, rarely.
    _stop_now: Callable[[], None]
    _change_now: Callable[[], None]
    _raise_kept_errors: Callable[[], None]

    @property
    def seconds(self) -> float:
        """Game time that has passed in this tree (s)."""
        self._catch_up()
        return self._now_s

    @property
    def wakes_at_s(self) -> float:
        """Time of the next work (s, as ``seconds``); below 0 for at once, inf until a message or change wakes it."""
        return self._wake_at_s

    def tick(self, elapsed_s: float) -> Status | None:
        """Tick the tree by ``elapsed_s`` of game time.

        Args:
            elapsed_s: since the last tick (s), 0 or more.

        Returns:
            Status of the root; None if it is pending.

        Raises:
            ValueError: if the time is negative or not finite.
            RuntimeError: if called from inside a habit of this tree.
        """
        if type(elapsed_s) is not float or not 0.0 <= elapsed_s < inf:
            elapsed_s = finite_number("elapsed_s", elapsed_s, minimum=0)
        if self._member is not None:
            self._check_alone()
        self._frame += 1
        self._moment = None
        return self._live_until(self._now_s + elapsed_s)

    def advance(self, turn: Turn) -> Status | None:
        """Tick as a task of a scheduler: ``scheduler.add(tree)``."""
        if not isinstance(turn, Turn):
            raise TypeError(
                f"advance takes a scheduler's Turn, got {shown(turn)}; use tree.tick(elapsed_s) by hand"
            )
        if self._member is not None:
            self._check_alone()
        self._moment = turn.now
        return self._live_until(self._now_s + turn.elapsed_s)

    def _live_until(self, now_s: float) -> Status | None:
        """Live on to a moment of its own time."""
        if self._is_busy:
            raise RuntimeError(
                f"{self.name!r} was ticked from inside one of its own habits;"
                " a habit acts in its tick and leaves the tree to the caller"
            )
        self._now_s = now_s
        if now_s < self._wake_at_s:
            return None if self.root_run is None else RUNNING
        self._is_busy = True
        try:
            self._tick_all()
            if self._should_stop:
                self._stop_now()
            if self._next_root is not None:
                self._change_now()
        finally:
            self._is_busy = False
        if self._kept_errors is not None:
            self._raise_kept_errors()
        return self._over if self.root_run is None else RUNNING

    def _catch_up(self) -> None:
        """Know what time it is, also if a population has not visited it lately."""
        if self._member is not None and not self._is_busy:
            self._member.catch_up()

    def _check_alone(self) -> None:
        if self._member is not None:
            raise RuntimeError(f"{self.name!r} lives in a population; tick that, or remove it there first")

    def _tick_all(self) -> None:
        """Do what is on the agenda at this moment."""
        self._tick_number += 1
        self._begun = 0
        self._over = None
        self._is_traced = self._trace is not None and bool(self._trace.state_entered)
        if self._told is not None:
            self._hear()
        agenda = self._agenda
        if agenda is None or self._now_s >= self._rebuild_at_s:
            agenda = self._plan_ahead()
        for what, run, places in agenda:
            if run is None:
                self._begin_root(places[0])
            elif run.status is not RUNNING:
                continue  # it ended earlier in this tick
            elif what == TICK:
                status = self._own_tick(run, run.place)
                if status is not RUNNING:
                    self._close_and_climb(run, status, status.value)
            else:
                self._do(what, run, places)

    def _do(self, what: int, run: HabitContext, places: tuple[CompiledHabit, ...]) -> None:
        if what == CHALLENGE:
            self._challenge(run, places)
        elif what == BESIDE:
            if self._may_begin_more() and self._can_begin(places[0]):
                self._start(places[0], run, "beside the others")
        elif what == CONTINUE:
            status = self._go_on(run)
            if status is not RUNNING:
                self._close_and_climb(run, status, status.value)
        elif what == RESTART:
            self._restart(run)
        elif what == TIME_OUT:
            self._close_and_climb(run, FAILED, "timed out")
        elif what == JOIN:
            status = self._own_tick(run, run.place)
            if status is not RUNNING:
                self._close_and_climb(run, status, status.value)
            elif self._member is not None:
                self._member.population.join_batch(run)
        elif what == RESULT and run.batch_status is not None:
            self._close_and_climb(run, run.batch_status, run.batch_status.value)

    def _begin_root(self, root: CompiledHabit) -> None:
        if self._can_begin(root):
            self._start(root, None, "can activate")

    def _challenge(self, run: HabitContext, places: tuple[CompiledHabit, ...]) -> None:
        """Let the most urgent of the places that may and wants to take over."""
        child = run.child
        held = child.place.strongest(self.holds) if child is not None and self.holds else None
        for place in places:
            if (held is not None and place.urgency <= held) or not self._can_begin(place):
                continue
            if not self._may_begin_more():
                return
            reason = "can activate"
            if child is not None:
                reason = child.place.interrupting
                self._end(child, None, place.interrupted)
            if self._start(place, run, reason) is not RUNNING:
                self._choose(run, (place,))
            return

    def _restart(self, run: HabitContext) -> None:
        """Let a habit that repeats begin again, unless it kept failing."""
        run.begins_next = False
        run.began_s = run.ticked_s = self._now_s
        parent = run.parent
        if self._faults is not None and self._is_left_out(run.place):
            run.begins_next = True  # it has not begun, so it has no exit
            self._close_and_climb(run, FAILED, "left out, it kept failing")
            return
        status = self._live(run)
        if status is not RUNNING:
            self._climb(parent, run.place, status)

    def _close_and_climb(self, run: HabitContext, status: Status, ending: str) -> None:
        parent = run.parent
        status = self._close(run, status, ending)
        if status is not RUNNING:
            self._climb(parent, run.place, status)

    def _climb(self, parent: HabitContext | None, place: CompiledHabit, status: Status) -> None:
        """Let a parent react to a child that ended, and its parent if it ends too, and so on."""
        while parent is not None and not place.is_beside:
            launch = parent.place.launch
            if launch is PRIORITIZED:
                self._choose(parent)
                return
            if launch is not RANDOM and status is (SUCCEEDED if launch is SEQUENTIAL else FAILED):
                parent.number = place.number + 1
                status = self._go_on(parent)
            if status is RUNNING:
                return
            place, above = parent.place, parent.parent
            status = self._close(parent, status, status.value)
            if status is RUNNING:
                return
            parent = above
