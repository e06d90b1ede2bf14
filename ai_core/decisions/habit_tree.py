"""A habit tree: one character living by a definition of habits.

One tick goes from the root down. Each active habit is ticked at most once and
begins at most once more, so no tree can freeze a frame; a habit that has ended
is asked again at the next tick, and its siblings at once.
"""
from __future__ import annotations

from math import inf
from typing import Any

from ai_core.clock import Clock, TimeIndex
from ai_core.decisions.habit_choice import RandomSource, check_random, choose
from ai_core.decisions.habit_context import HabitContext
from ai_core.decisions.habit_faults import HabitFaults
from ai_core.decisions.habit_plan import Place, plan_of
from ai_core.decisions.habit_state import PLAIN_VALUES, SaveableHabits
from ai_core.decisions.habit_text import active_paths, live_view
from ai_core.decisions.habits import Habit, Launch, Status
from ai_core.errors import finite_number, shown
from ai_core.faults import FaultIsolation
from ai_core.saving.values import SavedValues
from ai_core.scheduling.task import Turn
from ai_core.trace import Trace

__all__ = ["HabitTree"]

RUNNING, SUCCEEDED, FAILED = Status.RUNNING, Status.SUCCEEDED, Status.FAILED


class HabitTree(SaveableHabits):
    """Runs one definition for one character.

    Rules, beyond those of ``Habit`` and ``Launch``:

    - A habit's own ``tick`` comes first, then its children launch and tick,
      then those beside them. An end reported by its tick ends them all.
    - A prioritized child that wants to run sends the active one and all below
      it back to pending first, children before parents, and then begins.
      Nothing above the active one is asked while a hold forbids it.
    - A sequence fails when a child fails, or cannot run when its turn comes. A
      random habit fails when no child can run or the chosen one fails.
    - The root that ends is pending until the next tick.
    - A callback that raises is reported; the habit fails, and its ``exit`` is
      still called. A habit that failed so in several runs in a row is left out
      until ``release_quarantined``.

    Args:
        root: the definition, shared with other characters.
        owner: the character; ``context.owner`` for its habits.
        name: what traces, reports and ``to_text`` call it; else the root's name.
        clock: tells ``tick`` what time it is; None counts its own ticks.
        random: what random habits choose with.
        trace: ``state_entered`` is called for each habit that begins.
        faults: told of callbacks that raise; None makes one that logs.
        blackboard: what the character knows; None starts an empty one.
        values: writes blackboard and memories into saves; None knows plain data.

    Raises:
        CycleError: if a habit stands below itself.
        ValueError: if the tree cannot run, with the path of the habit that
            cannot; or has random habits and no ``random`` was handed in.

    Cost: O(1) once some character has the same definition, O(places) before.
    A tick is O(active habits and siblings more urgent than they).
    """

    __slots__ = (
        "__weakref__", "_asking", "_blackboard", "_elapsed_s", "_faults",
        "_is_busy", "_isolation", "_kept_errors", "_now", "_random", "_should_stop",
        "_trace", "endings", "holds", "name", "owner", "plan", "root_run",
    )

    def __init__(
        self,
        root: Habit,
        *,
        owner: Any = None,
        name: str = "",
        clock: Clock | None = None,
        random: RandomSource | None = None,
        trace: Trace | None = None,
        faults: FaultIsolation | None = None,
        blackboard: dict[str, Any] | None = None,
        values: SavedValues | None = None,
    ) -> None:
        self.plan = plan_of(root)
        check_random(self.plan, random)
        self.owner, self.name = owner, name or root.name
        self.values = values or PLAIN_VALUES
        self.root_run: HabitContext | None = None
        self.holds: dict[int, float] = {}
        self.endings: dict[int, str] = {}
        self._clock, self._random, self._trace, self._isolation = clock, random, trace, faults
        self._faults: HabitFaults | None = None
        self._blackboard = blackboard
        self._now, self._elapsed_s = TimeIndex(0, 0.0), 0.0
        self._is_busy = self._should_stop = False
        self._asking: HabitContext | None = None
        self._kept_errors: list[Exception] = []

    @property
    def blackboard(self) -> dict[str, Any]:
        """What this character knows."""
        if self._blackboard is None:
            self._blackboard = {}
        return self._blackboard

    @property
    def is_active(self) -> bool:
        """True while the root runs."""
        return self.root_run is not None

    def tick(self, elapsed_s: float) -> Status | None:
        """Live on for ``elapsed_s`` of game time.

        Args:
            elapsed_s: since the last tick (s), 0 or more.

        Returns:
            How the root stands; None if it is pending.

        Raises:
            ValueError: if the time is negative or not finite.
            RuntimeError: if called from inside a habit of this tree.
        """
        if type(elapsed_s) is float and 0.0 <= elapsed_s < inf:
            elapsed = elapsed_s  # the usual case, checked at a tenth of the cost
        else:
            elapsed = finite_number("elapsed_s", elapsed_s, minimum=0)
        if self._clock is not None:
            return self._live(elapsed, self._clock.now)
        frame, seconds = self._now
        return self._live(elapsed, TimeIndex(frame + 1, seconds + elapsed))

    def advance(self, turn: Turn) -> Status | None:
        """Tick as a scheduler's work: ``scheduler.add(tree.advance)``."""
        if not isinstance(turn, Turn):
            raise TypeError(
                f"advance takes a scheduler's Turn, got {shown(turn)};"
                " add tree.advance to the scheduler, not the tree"
            )
        return self._live(turn.elapsed_s, turn.now)

    def stop(self) -> None:
        """End every active habit, children before parents; the next tick begins anew.

        From inside a habit of this tree: as soon as the tick is over.
        """
        if self._is_busy:
            self._should_stop = True
            return
        self._is_busy = True
        try:
            self._stop_now()
        finally:
            self._is_busy = False
        self._raise_kept_errors()

    def release_quarantined(self) -> None:
        """Let habits run again that were left out because they kept failing."""
        if self._faults is not None:
            self._faults.release()

    def active_paths(self) -> list[str]:
        """Return the path of each active habit that has none active below it."""
        return active_paths(self.root_run)

    def to_text(self) -> str:
        """Return what is active, what is pending, and why; one habit per line."""
        return live_view(self.name, self.plan.root, self.root_run, self.endings, self.holds)

    def _live(self, elapsed_s: float, now: TimeIndex) -> Status | None:
        if self._is_busy:
            raise RuntimeError(
                f"{self.name!r} was ticked from inside one of its own habits;"
                " a habit acts in its tick and leaves the tree to the caller"
            )
        self._elapsed_s, self._now = elapsed_s, now
        self._is_busy = True
        try:
            status: Status | None = None
            if self.root_run is not None:
                status = self._tick_run(self.root_run)
            elif self._can_begin(self.plan.root):
                status = self._start(self.plan.root, None, "can activate")
            if self._should_stop:
                self._stop_now()
        finally:
            self._is_busy = False
        self._raise_kept_errors()
        return status

    def _stop_now(self) -> None:
        self._should_stop = False
        if self.root_run is not None:
            self._end(self.root_run, None, "stopped")
        self._should_stop = False  # an exit that asks for a stop has it
        if self._faults is not None:
            self._faults.release()

    def _tick_run(self, run: HabitContext) -> Status:
        place = run.place
        if run.has_ticked:
            run.elapsed_s = self._elapsed_s
            run.time_in_habit_s += self._elapsed_s
        run.has_ticked = True
        status = RUNNING if place.tick is None else self._own_status(run)
        if status is RUNNING and place.blocking:
            if place.launch is Launch.PRIORITIZED:
                self._run_prioritized(run)
            elif place.launch is Launch.SEQUENTIAL:
                status = self._run_sequential(run)
            else:
                status = self._run_random(run)
        if status is RUNNING and place.non_blocking:
            self._run_beside(run)
        if status is not RUNNING:
            self._end(run, status, status.value)
        return status

    def _own_status(self, run: HabitContext) -> Status:
        assert run.place.tick is not None
        try:
            status = run.place.tick(run)
            if status is None:
                return RUNNING
            if isinstance(status, Status):
                return status
            raise TypeError(f"tick of {run.path!r} must return a Status, got {shown(status)}")
        except Exception as error:  # the rest of the frame goes on
            run.is_faulty = True
            self._report(run.place, "tick", error)
            return FAILED

    def _run_prioritized(self, run: HabitContext) -> None:
        ended: list[Place] = []
        while True:
            child = run.child
            challenger = self._challenger(run, ended)
            if challenger is not None:
                reason = "can activate"
                if child is not None:
                    reason = child.place.interrupting
                    self._end(child, None, challenger.interrupted)
                place, status = challenger, self._start(challenger, run, reason)
            elif child is not None:
                place, status = child.place, self._tick_run(child)
            else:
                return
            if status is RUNNING:
                return
            ended.append(place)  # not again in this tick

    def _challenger(self, run: HabitContext, ended: list[Place]) -> Place | None:
        """Return the most urgent child that may and wants to take over now."""
        child = run.child
        held = child.place.strongest(self.holds) if child is not None and self.holds else None
        for place in run.place.blocking:
            if child is not None and place is child.place:
                return None
            if place in ended or (held is not None and place.urgency <= held):
                continue
            if self._can_begin(place):
                return place
        return None

    def _run_sequential(self, run: HabitContext) -> Status:
        steps = run.place.blocking
        if run.child is None:
            number, status = 0, self._try_start(steps[0], run, "first in sequence")
        else:
            number, status = run.child.place.number, self._tick_run(run.child)
        while status is SUCCEEDED and number + 1 < len(steps):
            number += 1
            status = self._try_start(steps[number], run, "next in sequence")
        return status

    def _run_random(self, run: HabitContext) -> Status:
        if run.child is not None:
            return self._tick_run(run.child)
        places = [place for place in run.place.blocking if self._can_begin(place)]
        if not places:
            return FAILED
        assert self._random is not None
        chosen = choose(places, self._random)
        reason = f"chosen {chosen.number + 1} of {len(run.place.blocking)}"
        return self._start(chosen, run, reason)

    def _run_beside(self, run: HabitContext) -> None:
        active = {one.place.index: one for one in run.beside or ()}
        for place in run.place.non_blocking:
            if place.index in active:
                self._tick_run(active[place.index])
            elif self._can_begin(place):
                self._start(place, run, "beside the others")

    def _can_begin(self, place: Place) -> bool:
        faults = self._faults
        if faults is not None and faults.is_left_out(place):
            self.endings[place.index] = "left out, it kept failing"
            return False
        ask = place.can_activate
        if ask is None:
            return True
        try:
            answer = bool(ask(self._asking_context(place)))
        except Exception as error:  # who cannot say so does not want to
            self._report(place, "can_activate", error)
            return False
        if faults is not None:
            faults.note_success(place, of_asking=True)
        return answer

    def _asking_context(self, place: Place) -> HabitContext:
        """Return what a pending habit is told; the same object again and again."""
        context = self._asking
        if context is None:
            context = self._asking = HabitContext(self, place, None, "")
            context.status = None
        context.place = place
        context.forget()
        return context

    def _try_start(self, place: Place, parent: HabitContext, reason: str) -> Status:
        if self._can_begin(place):
            return self._start(place, parent, reason)
        self.endings[place.index] = "could not activate in its turn"
        return FAILED

    def _start(self, place: Place, parent: HabitContext | None, reason: str) -> Status:
        """Let a habit begin and tick for the first time."""
        run = HabitContext(self, place, parent, reason)
        if parent is None:
            self.root_run = run
        elif not place.is_beside:
            parent.child = run
        elif parent.beside is None:
            parent.beside = [run]
        else:
            parent.beside.append(run)
        if place.held is not None:
            self.holds[place.index] = place.held
        if self._trace is not None:
            self._tell_trace(self._trace, run)
        if place.enter is not None:
            try:
                place.enter(run)
            except Exception as error:  # it has begun, so it ends like any other
                run.is_faulty = True
                self._report(place, "enter", error)
                self._end(run, FAILED, "failed")
                return FAILED
        return self._tick_run(run)

    def _end(self, run: HabitContext, status: Status | None, ending: str) -> None:
        """End a run: those beside and below it first, the last begun first."""
        for one in reversed(tuple(run.beside or ())):
            self._end(one, None, "its parent ended")
        if run.child is not None:
            self._end(run.child, None, "its parent ended")
        place, parent = run.place, run.parent
        run.status = status
        if place.exit is not None:
            try:
                place.exit(run)
            except Exception as error:  # it has ended all the same
                run.is_faulty = True
                self._report(place, "exit", error)
        self.holds.pop(place.index, None)
        self.endings[place.index] = ending
        if self._faults is not None and not run.is_faulty:
            self._faults.note_success(place, of_asking=False)
        run.parent = None
        if parent is None:
            self.root_run = None
        elif parent.child is run:
            parent.child = None
        elif parent.beside is not None:
            parent.beside.remove(run)

    def _tell_trace(self, trace: Trace, run: HabitContext) -> None:
        for hook in trace.state_entered:
            try:
                hook(self.name, run.place.path, run.reason, self._now)
            except Exception as error:  # raised when the tree is whole again
                self._kept_errors.append(error)

    def _report(self, place: Place, moment: str, error: Exception) -> None:
        if self._faults is None:
            self._faults = HabitFaults(self.name, self._isolation or FaultIsolation())
        try:
            self._faults.report(place, moment, self._now.frame, error)
        except Exception as raised:  # asked to come through: when the tree is whole again
            self._kept_errors.append(raised)

    def _raise_kept_errors(self) -> None:
        if self._kept_errors:
            first, self._kept_errors = self._kept_errors[0], []
            raise first
