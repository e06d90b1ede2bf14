"""Beginning and ending of habits: selection of children, launch, end, repeats and retries."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ai_core.decisions.habits.habit_agenda import TickPlan
from ai_core.decisions.habits.habit_choice import RandomSource, choose
from ai_core.decisions.habits.habit_context import AWAKE, ROUNDING_S, HabitContext
from ai_core.decisions.habits.habits import Launch, Outcome, Status
from ai_core.errors import shown

if TYPE_CHECKING:
    from ai_core.decisions.callback_faults import CallbackFaults
    from ai_core.decisions.habits.habit_plan import CompiledHabit
    from ai_core.trace import Trace

__all__ = ["MOST_BEGUN_IN_A_TICK", "ChildSelection"]

RUNNING, SUCCEEDED, FAILED = Status.RUNNING, Status.SUCCEEDED, Status.FAILED
PRIORITIZED, SEQUENTIAL, RANDOM = Launch.PRIORITIZED, Launch.SEQUENTIAL, Launch.RANDOM

MOST_BEGUN_IN_A_TICK = 256
"""Limit of the habits of a character that begin in a tick (count); the others begin in the next.

In a real tree under ten habits begin in a tick. A larger number, such as a sequence of
a thousand steps that end at once, must not freeze the frame.
"""


class ChildSelection(TickPlan):
    """Base class of ``HabitTree`` that begins and ends habits."""

    __slots__ = (
        "_answered", "_asking", "_begun", "_faults", "_is_busy", "_is_traced", "_over", "_random", "_trace", "endings",
        "holds", "listening", "listening_counter", "on_entered", "on_exited",
    )

    _random: RandomSource | None
    _answered: dict[int, int] | None
    _asking: HabitContext | None
    _over: Status | None
    _is_busy: bool
    _is_traced: bool
    _begun: int
    _faults: CallbackFaults | None
    _trace: Trace | None
    endings: dict[int, str]
    holds: dict[int, float]
    listening: Callable[[], object] | None
    listening_counter: object
    on_entered: Callable[[HabitContext], object] | None
    on_exited: Callable[[HabitContext], object] | None

    # What the tree adds: what happens at the edges, rarely.
    _report: Callable[[CompiledHabit, str, Exception], None]
    _is_left_out: Callable[[CompiledHabit], bool]
    _note_success: Callable[..., None]
    _tell_trace: Callable[[HabitContext], None]
    _keep: Callable[[Exception], None]

    def _own_tick(self, run: HabitContext, place: CompiledHabit) -> Status:
        run.elapsed_s = self._now_s - run.ticked_s
        run.ticked_s = self._now_s
        if run.wake_s != AWAKE:
            run.wake_s, run.waits_for = AWAKE, ()
        try:
            status = place.tick(run)  # type: ignore[misc]
            if status is RUNNING or status is None:
                return RUNNING
            if isinstance(status, Status):
                return status
            raise TypeError(f"tick of {run.path!r} must return a Status, got {shown(status)}")
        except Exception as error:  # the rest of the frame goes on
            run.is_faulty = True
            self._report(place, "tick", error)
            return FAILED

    def _choose(self, run: HabitContext, begun: tuple[CompiledHabit, ...] = ()) -> None:
        """Launch the most urgent child that can run; each begins at most once in this choice."""
        while True:
            if begun:
                self._asks_all = True  # who has just ended may want to run again in the next tick
            for place in run.place.blocking:
                if place not in begun and self._can_begin(place):
                    break
            else:
                return
            if not self._may_begin_more() or self._start(place, run, "can activate") is RUNNING:
                return
            begun = (*begun, place)

    def _go_on(self, run: HabitContext) -> Status:
        """Launch the child whose turn it is, and go on as long as children end at once."""
        if run.place.launch is RANDOM:
            return self._draw(run)
        wanted, unwanted = (SUCCEEDED, FAILED) if run.place.launch is SEQUENTIAL else (FAILED, SUCCEEDED)
        steps = run.place.blocking
        while run.number < len(steps):
            if not self._may_begin_more():
                return RUNNING
            place = steps[run.number]
            if self._can_begin(place):
                status = self._start(place, run, "next in sequence" if run.number else "first in sequence")
                if status is not wanted:
                    return status
            elif wanted is SUCCEEDED:
                self.endings[place.index] = "could not activate in its turn"
                return unwanted
            run.number += 1
        return wanted

    def _draw(self, run: HabitContext) -> Status:
        places = [place for place in run.place.blocking if self._can_begin(place)]
        if not places:
            return FAILED
        if not self._may_begin_more():
            return RUNNING
        assert self._random is not None
        chosen = choose(places, self._random)
        return self._start(chosen, run, f"chosen {chosen.number + 1} of {len(run.place.blocking)}")

    def _may_begin_more(self) -> bool:
        if self._begun < MOST_BEGUN_IN_A_TICK:
            return True
        self._asks_all = True  # whoever was cut off is asked in the next tick
        self._agenda, self._wake_at_s = None, AWAKE
        return False

    def _can_begin(self, place: CompiledHabit) -> bool:
        index, faults = place.index, self._faults
        if self._cooldowns and self._cooldowns.get(index, AWAKE) > self._now_s:
            return False
        if place.begins_on and not self._was_told(place, (self._answered or {}).get(index, 0)):
            return False
        if faults is not None and self._is_left_out(place):
            self.endings[index] = "left out, it kept failing"
            return False
        if place.asks_every_s:
            self._asks_at_s = self._asks_at_s or {}
            self._asks_at_s[index] = self._now_s + place.asks_every_s - ROUNDING_S
        ask = place.can_activate
        if ask is None:
            return True
        try:
            answer = bool(ask(self._asking_context(place)))
        except Exception as error:  # who cannot say so does not want to
            self._report(place, "can_activate", error)
            return False
        if faults is not None:
            self._note_success(place, of_asking=True)
        return answer

    def _asking_context(self, place: CompiledHabit) -> HabitContext:
        """Return what a pending habit is told; the same object again and again."""
        context = self._asking
        if context is None:
            context = self._asking = HabitContext(self, place, None, "")  # type: ignore[arg-type]
            context.status = None
        context.place, context.began_s = place, self._now_s
        context.forget()
        return context

    def _start(self, place: CompiledHabit, parent: HabitContext | None, reason: str) -> Status:
        """Let a habit begin and tick for the first time; return how it stands for its parent."""
        run = HabitContext(self, place, parent, reason)  # type: ignore[arg-type]
        self._attach(run)
        return self._live(run)

    def _attach(self, run: HabitContext) -> None:
        place, parent = run.place, run.parent
        if parent is None:
            self.root_run = run
        elif not place.is_beside:
            parent.child = run
        elif parent.beside is None:
            parent.beside = [run]
        else:
            parent.beside.append(run)

    def _live(self, run: HabitContext) -> Status:
        """Let a run that has its place in the tree begin, and launch what is below it."""
        place = run.place
        self._begun += 1
        self._agenda, self._wake_at_s = None, AWAKE
        if place.begins_on:
            self._answered = self._answered or {}
            self._answered[place.index] = self._tick_number
        if place.held is not None:
            self.holds[place.index] = place.held
        if self._is_traced:
            self._tell_trace(run)
        if self.on_entered is not None:
            self._tell(self.on_entered, run)
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
            if place.launch is PRIORITIZED:
                self._choose(run)
            else:
                status = self._go_on(run)
        if status is not RUNNING:
            return self._close(run, status, status.value)
        for beside in place.non_blocking:
            if self._may_begin_more() and self._can_begin(beside):
                self._start(beside, run, "beside the others")
        return RUNNING

    def _close(self, run: HabitContext, status: Status, ending: str) -> Status:
        """End a run that came to its end; return how its habit stands for the parent."""
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
            again = HabitContext(self, place, parent, f"again after it {status.value}")  # type: ignore[arg-type]
            again.successes, again.failures, again.begins_next = successes, failures, True
            self._attach(again)
            if self._cooldowns:
                self._cooldowns.pop(place.index, None)
            return RUNNING
        if place.outcome is not None:
            status = _outcome(place.outcome, status)
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
            if run.generator is not None:
                self._close_generator(run)
            if place.exit is not None:
                try:
                    place.exit(run)
                except Exception as error:  # it has ended all the same
                    run.is_faulty = True
                    self._report(place, "exit", error)
            if self.on_exited is not None:
                self._tell(self.on_exited, run)
            if self._faults is not None and not run.is_faulty:
                self._note_success(place, of_asking=False)
        if self.holds and self.holds.pop(place.index, None) is not None:
            self._asks_all = True  # whoever was held back was not asked
        if place.cooldown_s:
            self._cooldowns = self._cooldowns or {}
            self._cooldowns[place.index] = self._now_s + place.cooldown_s - ROUNDING_S
        self.endings[place.index] = ending
        self._agenda, self._wake_at_s = None, AWAKE
        run.parent = None
        if parent is None:
            self.root_run = None
            self._asks_all = True
        elif parent.child is run:
            parent.child = None
        elif parent.beside is not None:
            parent.beside.remove(run)
            self._asks_all = True  # it may begin again in the next tick

    def _tell(self, who: Callable[[HabitContext], object], run: HabitContext) -> None:
        try:
            if self.listening is None or self.listening():
                who(run)
        except Exception as error:  # raised when the tree is whole again
            self._keep(error)

    def _close_generator(self, run: HabitContext) -> None:
        generator, run.generator = run.generator, None
        try:
            generator.close()  # type: ignore[union-attr]
        except Exception as error:  # its finally clauses are an exit too
            run.is_faulty = True
            self._report(run.place, "exit", error)


def _outcome(outcome: Outcome, status: Status) -> Status:
    if outcome is Outcome.INVERTED:
        return FAILED if status is SUCCEEDED else SUCCEEDED
    return SUCCEEDED if outcome is Outcome.ALWAYS_SUCCEEDED else FAILED
