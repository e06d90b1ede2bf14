"""The scheduler: runs due work in each frame, within a budget."""
from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from ai_core.budget import Budget, Stopwatch, _TimeBudget, check_budget
from ai_core.clock import Clock, checked_clock
from ai_core.errors import (
    CycleError,
    check_callables,
    check_kind,
    check_type,
    checked_name,
    finite_number,
    shown,
)
from ai_core.faults import FaultIsolation, given_faults
from ai_core.saving.declared_state import Change, ClockNow, DeclaredState, Refuse, Saveable
from ai_core.saving.inner_state import prepared_inner
from ai_core.saving.kinds import ListOf, Whole
from ai_core.saving.matching import match_by_name
from ai_core.scheduling.due_table import DueTable, by_id
from ai_core.scheduling.phase_quality import PhaseQuality, phase_quality
from ai_core.scheduling.phasing import PhaseSlot, PhaseTable, mean_costs_us, rephased
from ai_core.scheduling.policies import BudgetMargin, Policy, learned_bias
from ai_core.scheduling.run_loops import CarryOverQueue, RunLoop
from ai_core.scheduling.statistics import Overrun
from ai_core.scheduling.task import (
    LARGEST_REQUEST,
    NS_PER_US,
    SAVED_TASK,
    Task,
    Turn,
    Work,
    checked_period,
    checked_phase,
    checked_priority,
)
from ai_core.scheduling.work import runner_for
from ai_core.trace import Trace, given_trace

__all__ = ["Scheduler", "tree_statistics"]

SERVED_FIRST, SERVED_AT_ONCE = 8, 64
"""Waiting tasks in the first batch of a frame, and most in a batch (count); each batch has twice as many as the last.

A batch costs 3 µs, and 0.1 µs for each task that does not run, 1 µs where caches are cold: with smaller batches every
run pays the first cost, with larger ones a small budget pays for tasks that it does not reach.
"""

by_priority = attrgetter("_priority")

_PreparedTask = tuple[dict[str, Any], Task, Change]
"""A saved task, the present task of its name, and the function that loads the state of its work."""


class Scheduler(Saveable):
    """Runs pieces of work every so many frames, within a budget; can itself be work of a scheduler.

    It counts its own frames, one for each ``advance``, starting with 0. Due work is
    determined when a frame starts. Changes that work makes to tasks during the frame:
    removing and pausing take effect at once; adding, resuming and changing in the next frame.
    Work that raises is reported and tried again, and is quarantined after several failures
    in a row, until ``release``. A task that is paused or quarantined when a frame starts no longer waits.

    A scheduler that is work of another one is a group of it: it shares out its share of the budget, by its own policy,
    counts its own frames, stops when its task is paused, and is saved with the outer scheduler.

    Args:
        clock: source of ``now``.
        policy: which due work runs in a frame, and how the budget is shared; see ``Policy``.
        faults: handles work that raises; None reports to the log.
        trace: hooks called around each run; None for none.
        stopwatch: measures each run if the budget does not measure time.
        on_overrun: called with the Overrun when a task took a frame beyond its budget.
        phasing: chooses automatic phases; None for a PhaseTable.
        learns_bias: whether tasks that overrun get smaller shares, and those that leave time over larger ones; see
            ``learned_bias``.
        margin: learns how much earlier to stop, so that fewer frames exceed a budget of time; None stops when
            the budget is spent, and exceeds it by the piece of work in progress.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if a number is out of range, or an argument has no effect with ``Policy.FREQUENCY``; in methods
            that take a task, if it was removed, or belongs to another scheduler.

    Cost: O(due + run) a frame, however many wait; O(n log n) with n due or waiting for the policies that sort:
        ``PRIORITY``, ``REQUESTED_TIME``.
    Source: 000_execution_management, frequencies and phase, direct access, load balancing, priority scheduling,
        hierarchical scheduling, other policies.
    """

    SHOWN = ("policy", "tasks", "waiting")

    STATE = DeclaredState(
        now=ClockNow(at="_clock.now"),
        frame=Whole(at="_frame"),
        next_id=Whole(at="_next_id"),
        overruns=Whole(at="_overruns"),
        tasks=ListOf(SAVED_TASK, at="_saved_tasks"),
    )

    def __init__(
        self,
        clock: Clock,
        *,
        policy: Policy = Policy.LOAD_BALANCING,
        faults: FaultIsolation | None = None,
        trace: Trace | None = None,
        stopwatch: Stopwatch | None = None,
        on_overrun: Callable[[Overrun], object] | None = None,
        phasing: PhaseTable | None = None,
        learns_bias: bool = False,
        margin: BudgetMargin | None = None,
    ) -> None:
        check_callables(stopwatch=stopwatch, on_overrun=on_overrun)
        check_kind("phasing", phasing, PhaseTable)
        self._policy = policy
        # Read in each frame: members of an Enum are looked up by a Python function before Python 3.12.
        self._runs_due, self._balances = policy is Policy.FREQUENCY, policy is Policy.LOAD_BALANCING
        self._has_requests = policy is Policy.REQUESTED_TIME
        check_type("policy", policy, Policy, "use Policy.LOAD_BALANCING")
        check_type("learns_bias", learns_bias, bool)
        check_kind("margin", margin, BudgetMargin)
        if policy is Policy.FREQUENCY and (learns_bias or margin is not None):
            raise ValueError(
                "learns_bias and margin have no effect with Policy.FREQUENCY; use Policy.LOAD_BALANCING")
        self._clock = checked_clock(clock)
        self._faults, self._trace = given_faults(faults), given_trace(trace)
        self._stopwatch, self._on_overrun = stopwatch, on_overrun
        self._phasing = phasing if phasing is not None else PhaseTable()
        self._learns_bias, self._margin = learns_bias, margin
        self._tasks: dict[int, Task] = {}
        self._frame = self._overruns = 0
        self._next_id = 1                        # in Godot, 0 is what a refused call returns
        self._last_overrun: Overrun | None = None
        self._is_advancing = False
        self._table = DueTable()
        self._line = CarryOverQueue()       # of the tasks that wait
        self._loop = RunLoop(
            policy is not Policy.FREQUENCY, policy in (Policy.LOAD_BALANCING, Policy.REQUESTED_TIME),
            self._faults._in_a_row)

    @property
    def clock(self) -> Clock:
        """Source of ``now``."""
        return self._clock

    @property
    def policy(self) -> Policy:
        """Which due work runs in a frame, and how the budget is shared."""
        return self._policy

    @property
    def frame(self) -> int:
        """The current frame, or the next one that ``advance`` runs."""
        return self._frame

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks, paused and quarantined ones included, in the order added."""
        return tuple(self._tasks.values())

    @property
    def waiting(self) -> tuple[Task, ...]:
        """Due tasks that wait for the next frame, the longest due first, then by id."""
        return tuple(task for task in self._line.waiting if task._may_run)

    @property
    def overruns(self) -> int:
        """Number of frames that overran their budget."""
        return self._overruns

    # -- tasks

    def add(
        self,
        work: Work,
        *,
        period_frames: int = 1,
        phase_frames: int | None = None,
        priority: float = 1.0,
        name: str | None = None,
        is_saved: bool = True,
    ) -> Task:
        """Run ``work`` every ``period_frames`` from now on, and return its handle.

        Args:
            work: a callable taking a Turn, a generator function taking a Turn
                (at each pause it receives the next: ``turn = yield``), or an
                object with ``advance(budget)``, or with ``advance(turn)`` and
                ``advance_takes = "turn"``, such as a habit tree.
            period_frames: frames from run to run, 1 to MAX_PERIOD_FRAMES.
            phase_frames: it is due when ``(frame + phase) % period == 0``;
                may exceed the period. None chooses the phase that meets the
                fewest other tasks.
            priority: weight of its share of the budget, with policies that
                share it out; MIN_PRIORITY to MAX_PRIORITY.
            name: for reports; None for the name of the function or class.
            is_saved: False for work that a save leaves out, such as work that is done soon; a load keeps it.

        Raises:
            TypeError: if ``work`` is not work, or a number is of another type.
            ValueError: if a number is out of range.
            CycleError: if ``work`` is this scheduler, or a scheduler that
                runs it, directly or through others.

        Cost: O(LOOK_AHEAD_FRAMES) with automatic phasing, 7 to 12 µs however many tasks there are; 5 to 8 µs else.
        """
        runner = runner_for(work)
        if name is None:
            name = str(getattr(work, "__name__", type(work).__name__))
        if isinstance(work, Scheduler) and work.contains(self):
            raise CycleError(
                f"a scheduler cannot be its own work, directly or through others, got {name!r}; add it to one"
                f" that is not part of it")
        period = checked_period(period_frames)
        phase = None if phase_frames is None else checked_phase(phase_frames)
        weight = checked_priority(priority)
        task = Task(self, self._next_id, checked_name("name", name), work, runner, self._clock.now)
        task._automatic_phase, task._is_saved = phase is None, is_saved
        task._priority, task._kind = weight, self._loop.kind_of(work)
        self._set_slot(task, period, phase)
        self._next_id += 1
        self._tasks[task._id] = task
        self._table.add(task)
        return task

    def remove(self, task: Task) -> None:
        """Remove ``task``; an unfinished generator is closed."""
        self._check_ours(task)
        task._is_removed = True
        self._place(task)
        del self._tasks[task._id]
        self._phasing.remove(PhaseSlot(task._period, task._phase))
        self._close(task)
        task._owner = None

    def remove_all(self) -> None:
        """Remove all tasks and release their work."""
        for task in self.tasks:
            if not task._is_removed:    # by the clean-up of an earlier task
                self.remove(task)

    def pause(self, task: Task) -> None:
        """Suspend ``task`` until ``resume``; unfinished work stays unfinished, and the phase is kept."""
        self._check_ours(task)
        task._paused = True
        self._place(task)

    def resume(self, task: Task) -> None:
        """Run ``task`` again whenever it is due; does nothing if it is not paused."""
        self._check_ours(task)
        task._paused = False
        self._place(task)

    def skip_time(self, seconds: float) -> None:
        """Leave out a time (s, 0 or more) that has just passed, such as a pause of the game, of ``elapsed_s``.

        The next ``elapsed_s`` of each task is that much smaller, also of tasks inside work that has ``skip_time``, such
        as a scheduler or a group.

        Raises:
            TypeError, ValueError: if ``seconds`` is no number, or out of range.

        Cost: O(tasks).
        """
        now_s, skipped_s = self._clock.now.seconds, finite_number("seconds", seconds, minimum=0)
        for task in self._tasks.values():
            task._last_s = min(now_s, task._last_s + skipped_s)     # added meanwhile: nothing has elapsed
            inside = getattr(task._work, "skip_time", None)
            if inside is not None:
                inside(skipped_s)

    def release(self, task: Task) -> None:
        """Release ``task`` from quarantine, with all its tries; does nothing if it is not quarantined."""
        self._check_ours(task)
        if self._faults.is_quarantined(task):
            self._faults.release(task)
            self._place(task)

    def change(
        self, task: Task, *, period_frames: int | None = None, phase_frames: int | None = None,
        priority: float | None = None, name: str | None = None,
    ) -> None:
        """Change the settings that are given, as of ``add``; an invalid value changes nothing.

        With a new period, an automatic phase is chosen again and a given phase
        is kept. A phase given here is no longer automatic, until ``choose_phase``.

        Raises:
            ValueError: if a number is out of range, or the task belongs to another scheduler.
            TypeError: if a number is of another type.
        """
        self._check_ours(task)
        period = task._period if period_frames is None else checked_period(period_frames)
        phase = task._phase if phase_frames is None else checked_phase(phase_frames)
        weight = task._priority if priority is None else checked_priority(priority)
        task._name = task._name if name is None else checked_name("name", name)
        if phase_frames is not None:
            task._automatic_phase = False
        if priority is not None:
            task._priority = weight
            self._line.reweigh(task)
        if (period, phase) != (task._period, task._phase):
            self._move(task, period, None if task._automatic_phase else phase)

    def choose_phase(self, task: Task) -> None:
        """Make the phase of ``task`` automatic again, and choose the best one now."""
        self._check_ours(task)
        task._automatic_phase = True
        self._move(task, task._period, None)

    def request(self, task: Task, amount: float | None) -> None:
        """Request a budget for each run of a task, from its next run on; with ``Policy.REQUESTED_TIME``.

        Work may request for itself while it runs.

        Args:
            task: the task.
            amount: µs, or steps under budgets of steps, 0 or more; None for
                a share by priority.

        Raises:
            ValueError: if ``amount`` is out of range, the task belongs to another scheduler, or the policy is
                another one.
            TypeError: if ``amount`` is not a number.
        """
        self._check_ours(task)
        if self._policy is not Policy.REQUESTED_TIME:
            raise ValueError(f"no budget can be requested with {self._policy}; use Policy.REQUESTED_TIME")
        task._request = -1.0 if amount is None else finite_number(
            "amount", amount, minimum=0, maximum=LARGEST_REQUEST,
            remedy="use None for a share by priority",
        )

    def longest_wait_frames(self, task: Task) -> int:
        """Return the most frames that ``task`` can wait from falling due to running.

        It holds as long as no other task is added, and no priority changes. With n tasks: 0 with ``FREQUENCY`` and
        ``PRIORITY``; n - 1 with ``LOAD_BALANCING``. With ``REQUESTED_TIME`` ``(n - 1) * (1 + highest / priority)``:
        once the task has waited ``(n - 1) * highest / priority``, a task that overtakes it cannot do so again within
        n frames, and there are only n - 1 others.

        Cost: O(tasks).
        """
        self._check_ours(task)
        if self._policy is Policy.LOAD_BALANCING:
            return len(self._tasks) - 1
        if self._policy is Policy.REQUESTED_TIME:
            highest = max(one._priority for one in self._tasks.values())
            return int((len(self._tasks) - 1) * (1 + highest / task._priority))
        return 0

    def _set_slot(self, task: Task, period: int, phase: int | None) -> None:
        task._period = period
        task._phase = self._phasing.best_phase(period) if phase is None else phase
        self._phasing.add(PhaseSlot(period, task._phase))

    def _move(self, task: Task, period: int, phase: int | None) -> None:
        """Set the period and phase of a task; a phase of None is chosen."""
        self._table.remove(task)
        self._phasing.remove(PhaseSlot(task._period, task._phase))
        self._set_slot(task, period, phase)
        self._place(task)

    def _place(self, task: Task) -> None:
        """Add the task to the due table or remove it, after a change of whether it may run."""
        task._may_run = not (task._paused or task._is_removed or self._faults.is_quarantined(task))
        if task._may_run:
            self._table.add(task)
        else:
            self._table.remove(task)
            (self._line.leave if task._is_removed else self._line.stop)(task)

    def _check_ours(self, task: Task) -> None:
        if not isinstance(task, Task):
            raise TypeError(f"task must be a Task that add returned, got {shown(task)}")
        if task._is_removed:
            raise ValueError(f"task {shown(task.name)} was removed; add its work again to get a new task")
        if task._owner is not self:
            raise ValueError(
                f"task {shown(task.name)} belongs to another scheduler; pass it to the one whose add returned it")

    def contains(self, other: Scheduler) -> bool:
        """Return True if ``other`` is this scheduler, or work of it at any depth."""
        inner = (task._work for task in self._tasks.values() if isinstance(task._work, Scheduler))
        return self is other or any(scheduler.contains(other) for scheduler in inner)

    # -- a frame

    def advance(self, budget: Budget) -> None:
        """Run one frame.

        Raises:
            TypeError: if ``budget`` is not a Budget.
            RuntimeError: if called by work that this scheduler is running.
        """
        check_budget(budget)
        if self._is_advancing:
            raise RuntimeError("the scheduler is advancing already; work must not advance it")
        due = self._table.due()
        if not (due or self._line):
            self._frame += 1
            return
        self._is_advancing = True
        loop, trace, margin = self._loop, self._trace, self._margin
        try:
            is_heard = bool(trace.before_task or trace.after_task or trace.task_ran)
            loop.begin_frame(
                self._clock.now, self._frame, budget, budget.stopwatch or self._stopwatch, self._follow_up,
                trace.before_task if is_heard else None, is_heard or self._learns_bias,
                margin.ns if margin is not None else 0, self._has_requests)
            if self._runs_due:
                loop.run(due)
            elif self._balances:
                self._balance(due)
            else:
                self._run_sorted(due)
        finally:
            loop.leave_frame()
            self._frame += 1
            self._is_advancing = False
        if margin is not None and isinstance(budget, _TimeBudget):
            margin.learn(
                budget._watch() - budget.deadline_ns, budget.deadline_ns - budget._started_ns, len(self._line) > 0)

    def _balance(self, due: list[Task]) -> None:
        """Run the waiting tasks, then the due tasks, as far as the budget suffices."""
        line, loop, frame = self._line, self._loop, self._frame
        if not line.begin_frame():
            try:
                loop.run(due)
            finally:
                if loop.place < len(due) or loop.late:
                    line.join([*loop.late, *due[loop.place:]], frame)
            return
        line.join(due, frame)
        count = SERVED_FIRST
        try:
            while taken := line.take(count):
                try:
                    loop.run(taken, line.weight_behind)
                finally:
                    line.leave_reached(taken, loop.place)
                if loop.place < len(taken):
                    return
                count = min(2 * count, SERVED_AT_ONCE)
        finally:
            if loop.late:
                line.come_back(loop.late)

    def _run_sorted(self, due: list[Task]) -> None:
        """Run the due and waiting tasks in the order of the policy."""
        line, loop, frame = self._line, self._loop, self._frame
        line.begin_frame()
        queue = due
        if line:
            queue = sorted([*line.waiting, *(task for task in due if task._due_since < 0)], key=by_id)
        claim = self._claim if self._has_requests else by_priority
        queue.sort(key=claim, reverse=True)     # stable: equal ones stay in the order of their ids
        loop.place = 0
        try:
            loop.run(queue)
        finally:
            late = [*loop.late, *queue[loop.place:]]
            if line:
                still = set(late)
                for task in queue:
                    if task not in still:
                        line.leave(task)
            line.join(sorted(late, key=by_id), frame)

    def _claim(self, task: Task) -> float:
        since = task._due_since
        return float(task._priority * (1 if since < 0 else 1 + self._frame - since))

    def _follow_up(
        self, task: Task, turn: Turn | None, granted: float, used: float, over: float, steps: int, used_us: float,
        result: object, failure: Exception | None,
    ) -> None:
        """Handle overruns, listeners, bias and faults after a run; called by ``RunLoop`` when there are any."""
        now = self._clock.now
        if over > 0 and not self._loop.is_overrun_known:
            self._emit_overrun(Overrun(task._name, task._id, now, granted, used, over), task)
        for hook in self._trace.after_task:
            hook(task._name, now, used_us)
        for ran in self._trace.task_ran:
            ran(task._name, now, granted, steps, used_us, result if failure is None else failure)
        if self._learns_bias and not task._is_removed:
            task._bias = learned_bias(task._bias, granted, used)
        try:
            if failure is None:
                self._faults.succeeded(task)
            else:
                task._faults += 1
                if self._faults.failed(task, task._name, now.frame, failure).is_quarantined:
                    self._place(task)
        finally:
            if task._is_removed:  # by its own work, which may have restarted
                self._close(task)

    def _close(self, task: Task) -> None:
        try:
            task._runner.close()
        except Exception as error:  # a generator's clean-up is work too
            self._faults.failed(task, task._name, self._clock.now.frame, error)
        finally:
            self._faults.forget(task)

    def _emit_overrun(self, overrun: Overrun, task: Task) -> None:
        inner = task._work._last_overrun if isinstance(task._work, Scheduler) else None
        if inner is not None and inner.now == overrun.now:
            overrun = overrun._replace(name=f"{task._name}/{inner.name}")
        self._loop.is_overrun_known = True
        self._overruns += 1
        self._last_overrun = overrun
        task._overruns += 1
        if self._on_overrun is None:
            return
        try:
            self._on_overrun(overrun)
        except Exception as error:  # a listener must not stop the frame either
            self._faults.report_of_the_past("on_overrun", overrun.now.frame, error)

    # -- phases and statistics

    def rephase(self, *, by_cost: bool = True) -> int:
        """Choose better phases for all tasks together, and return the number of tasks whose phase changed.

        Only automatic phases change; paused and quarantined tasks are left out. From the last run
        before the change to the first one after it, a task with period ``n`` waits at most
        ``2 * n - 1`` frames.

        Args:
            by_cost: True weights runs by their measured cost; False counts runs: the same tasks get the same phases
                on every machine.

        Cost: 0.2 s with 10,000 tasks: call it while a level loads.
        """
        tasks = [task for task in self._tasks.values() if task._may_run]
        slots = [PhaseSlot(task._period, task._phase) for task in tasks]
        phases = rephased(
            slots, weights=mean_costs_us(tasks) if by_cost else None,
            movable=[task._automatic_phase for task in tasks])
        moved = 0
        for task, slot, phase in zip(tasks, slots, phases, strict=True):
            if slot.phase_frames != phase:
                self._move(task, task._period, phase)
                moved += 1
        return moved

    def phase_quality(self) -> PhaseQuality:
        """Return how evenly runs, and their measured cost, are spread over coming frames.

        Cost: as the function ``phase_quality``.
        """
        tasks = [task for task in self._tasks.values() if task._may_run]
        return phase_quality(
            [PhaseSlot(task._period, task._phase) for task in tasks], costs_us=mean_costs_us(tasks),
            names=[task._name for task in tasks], from_frame=self._frame)

    def statistics(self) -> list[dict[str, Any]]:
        """Return a row per task, in the order added: its settings, used time, lateness and faults.

        Staleness is the time since the last run, or since the task was added if it never ran.
        Times are 0 where nothing measures them.
        """
        now = self._clock.now
        return [{
            "id": task._id,
            "name": task._name,
            "period_frames": task._period,
            "phase_frames": task._phase,
            "priority": task._priority,
            "is_paused": task._paused,
            "is_quarantined": self._faults.is_quarantined(task),
            "runs": task._runs,
            "used_us_mean": task._used_ns / NS_PER_US / max(1, task._measured_runs),
            "used_us_p95": task._p95_ns / NS_PER_US,
            "used_us_max": task._max_used_ns / NS_PER_US,
            "lateness_frames_mean": task._lateness_frames / max(1, task._runs),
            "lateness_frames_max": task._max_lateness_frames,
            "faults": task._faults,
            "overruns": task._overruns,
            "staleness_frames": now.frame - task._last_frame,
            "staleness_s": now.seconds - task._last_s,
        } for task in self._tasks.values()]

    # -- saving

    def count_as_run(self) -> None:
        """Count all tasks, also of schedulers in it, as just run: after a load without them has set the clock."""
        for task in self._tasks.values():
            task._last_frame, task._last_s = self._clock.now
            if isinstance(task._work, Scheduler):
                task._work.count_as_run()

    def _check_at_rest(self) -> None:
        if self._is_advancing:
            raise RuntimeError("the scheduler is in the middle of a frame; save and load between two frames")

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        """Check the saved tasks against each other and the present ones, which are matched by name.

        Tasks of one name are matched by their order. They get their saved ids back;
        tasks that are not in the save are kept, under new ids.
        """
        ids = [one["id"] for one in values.tasks]
        if ids != sorted(set(ids)):
            refuse("tasks", "must be sorted by ascending id, each once")
        if ids and ids[-1] >= values.next_id:
            refuse("next_id", f"must be above the id of every task, got {values.next_id}")
        for index, one in enumerate(values.tasks):
            if one["last_s"] > values.now.seconds or one["last_frame"] > values.now.frame:
                refuse(f"tasks[{index}].last_s", f"must not be after now, got {one['last_s']:g}")
            if one["due_since"] > values.frame:
                refuse(f"tasks[{index}].due_since", f"must be at most the frame, {values.frame}")
        here = self._saved_tasks
        found = match_by_name("task", [one["name"] for one in values.tasks], [task._name for task in here])
        values.tasks = [
            (one, here[index], prepared_inner(here[index]._work, one["work"], f"work of task {one['name']!r}"))
            for one, index in zip(values.tasks, found, strict=True)]

    @property
    def _saved_tasks(self) -> list[Task]:
        return [task for task in self._tasks.values() if task._is_saved]

    @_saved_tasks.setter
    def _saved_tasks(self, prepared: list[_PreparedTask]) -> None:
        raised: list[tuple[Task, Exception]] = []
        for _, task, _ in prepared:
            try:
                task._runner.close()
            except Exception as error:  # a generator's clean-up is work too
                raised.append((task, error))
        # The clean-up may have removed tasks.
        self._put_tasks([(saved, task) for saved, task, _ in prepared if not task._is_removed])
        for _, task, load in prepared:
            try:
                load()
            except Exception as error:  # clean-up of half-done work; the others are loaded all the same
                raised.append((task, error))
        for task, reason in raised:  # before loading: not a failure of the loaded task
            self._faults.report_of_the_past(task._name, self._clock.now.frame, reason)

    def _put_tasks(self, pairs: list[tuple[dict[str, Any], Task]]) -> None:
        """Give tasks their saved numbers and ids; tasks that were not saved get new ids."""
        loaded = {task for _, task in pairs}
        extra = [task for task in self._tasks.values() if task not in loaded]
        self._line = CarryOverQueue()
        self.count_as_run()
        for task in self._tasks.values():
            self._phasing.remove(PhaseSlot(task._period, task._phase))
            task._is_placed, task._due_since, task._units = False, -1, 0
        for saved, task in pairs:
            task._put_saved(saved)
            if not self._learns_bias:
                task._bias = 1.0
            self._faults.put_failures(task, saved["failures"])
        for task in extra:
            task._id, self._next_id = self._next_id, self._next_id + 1
        self._tasks = {task._id: task for task in (*(task for _, task in pairs), *extra)}
        self._table = DueTable(self._frame)
        waiting = []
        for task in self._tasks.values():
            self._phasing.add(PhaseSlot(task._period, task._phase))
            since, task._due_since = task._due_since, -1
            self._place(task)
            if since >= 0 and self._policy is not Policy.FREQUENCY:
                task._due_since = since
                waiting.append(task)
        for task in sorted(waiting, key=attrgetter("_due_since", "_id")):
            self._line.add(task)


def tree_statistics(scheduler: Scheduler) -> list[dict[str, Any]]:
    """Return the statistics of a scheduler and of all schedulers in it, depth first.

    Each row is as in ``statistics``, with its "path" of names before it. The
    time of a group includes that of its work.

    Cost: O(tasks).
    """
    rows: list[dict[str, Any]] = []
    for task, row in zip(scheduler.tasks, scheduler.statistics(), strict=True):
        rows.append({"path": task._name, **row})
        if isinstance(task._work, Scheduler):
            rows += [{**one, "path": f"{task._name}/{one['path']}"} for one in tree_statistics(task._work)]
    return rows

