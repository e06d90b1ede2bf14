# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# Task by task, with calls of Python: as fast with -O1 as with -O3, compiled in two thirds of the time.
# distutils: extra_compile_args = -O1
# mypy: ignore-errors
"""Running the tasks of one frame, from the end of one run to the beginning of the next, and those that wait for it.

A task that runs is given a Turn, its run is timed if there is a stopwatch, and the time used is
noted. Seldom events (failures, overruns, listeners) are handed to the scheduler. Work in C that offers
``call_row`` is called many at once.
"""
from __future__ import annotations

from array import array
from collections import OrderedDict
from itertools import islice

import cython
import numpy as np
from cython.cimports.libc.math import ceil

from ai_core.budget import _StepBudget
from ai_core.errors import shown

__all__ = ["UNIT", "CarryOverQueue", "RunLoop", "TaskRun", "Turn", "best_first_frame"]

UNIT = 1_000_000
"""Units in a weight of 1 (count): the smallest priority is one unit. Sums of integers do not drift as tasks are added
and removed, and are the same after loading. A million tasks of the largest priority fit 64 bits."""

MOST_IN_A_ROW = cython.declare(cython.int, 64)      # calls made at once: their data stays in the near caches
NEVER_NS = cython.declare(cython.longlong, 1 << 62)
INFINITY = cython.declare(cython.double, float("inf"))
LEARNED = cython.declare(cython.longlong, 2)        # 1 / share of a longer piece that one run teaches
FORGOTTEN = cython.declare(cython.longlong, 64)     # the same of a shorter one: 1 run in 30 is longer than the learned
P95_RISE = cython.declare(cython.longlong, 8)       # 1 / part by which a 95th percentile rises after a longer run
P95_FALL = cython.declare(cython.longlong, 152)     # and falls after one of the others, which are 19 times as many
LEAST_SHARE = cython.declare(cython.double, 0.25)   # of a share, however long the piece after it: work must progress
LONG_NS = cython.declare(cython.longlong, 50_000)   # longer pieces are planned for; their calls are made one by one


@cython.final
@cython.cclass
class Turn:
    """The argument of work when it runs; read-only.

    A generator receives a new one at each ``yield``: write ``turn = yield``, because the first Turn never changes. One
    that goes on in the same turn receives an ``elapsed_s`` of 0.

    Args:
        now: current game time.
        elapsed_s: true game time since the last run, or since the task was added if
            it never ran (s), however rarely it runs, pauses included.
        budget: what the work may use; work that can pause does so when it is spent.
    """

    _now: object
    _elapsed_s: cython.double
    _budget: object             # None until it is asked for; then a part of ``_whole``
    _whole: object
    _is_timed: cython.bint
    _begun_ns: cython.longlong
    _amount: cython.double      # of the part: ns since ``_begun_ns`` if it is timed, else as ``Budget.part`` takes it

    def __init__(self, now: object, elapsed_s: float, budget: object) -> None:
        self._now, self._elapsed_s, self._budget = now, elapsed_s, budget
        self._whole, self._is_timed, self._begun_ns, self._amount = None, False, 0, 0.0

    @property
    def now(self):
        """Current game time."""
        return self._now

    @property
    def elapsed_s(self) -> float:
        """True game time since the last run (s)."""
        return self._elapsed_s

    @property
    def budget(self):
        """What the work may use."""
        if self._budget is None:
            if self._is_timed:
                self._budget = self._whole._part_since(self._begun_ns, self._amount)
            else:
                self._budget = self._whole.part(self._amount)
        return self._budget

    def __repr__(self) -> str:
        return f"Turn({self._now}, elapsed_s={self._elapsed_s:g}, budget={shown(self.budget)})"


@cython.final
@cython.cclass
class WorkKind:
    """Tasks that run the same code; the first of them in a frame takes longer, as the caches do not hold it.

    Attributes:
        frame: frame in which one of them last ran.
        piece_ns: as ``_piece_ns`` of a task, of the first run of a frame.
    """

    frame: cython.longlong
    piece_ns: cython.longlong

    def __init__(self) -> None:
        self.frame, self.piece_ns = -1, 0


@cython.cclass
class TaskRun:
    """The numbers of a task that are read and written at each run; ``Task`` has the rest.

    Attributes:
        _call: the callable, which takes the Turn.
        _runner: the Runner; after the first run that did not fail, its ``run`` is taken as ``_call`` again.
        _may_run: False if it is paused, quarantined or removed.
        _due_since: frame since which it waits, -1 if it does not.
        _request: budget that it requested (µs or steps), -1 for a share by priority.
        _bias: factor of its priority, as ``policies.learned_bias`` learns it.
        _piece_ns: learned time for which it runs on after its share has ended; all of a run that never looks (ns).
        _kind: the tasks that run the same code.
        _units: its weight in the CarryOverQueue, 0 if it is not in it.
        _is_held: whether it must wait although it was reached, as its learned piece does not fit.
        _p95_ns: the estimated 95th percentile of its runs but the first, which is cold (ns): off by a tenth, as is that
            of the last 64 runs, which would take a cache line of each run.
    """

    # What each run in a row reads and writes comes first, as it fills two cache lines.
    _call = cython.declare(object, visibility="public")
    _last_s = cython.declare(cython.double, visibility="public")
    _piece_ns = cython.declare(cython.longlong, visibility="public")
    _due_since = cython.declare(cython.longlong, visibility="public")
    _may_run = cython.declare(cython.bint, visibility="public")
    _is_removed = cython.declare(cython.bint, visibility="public")
    _last_frame = cython.declare(cython.longlong, visibility="public")
    _runs = cython.declare(cython.longlong, visibility="public")
    _p95_ns = cython.declare(cython.longlong, visibility="public")
    _measured_runs = cython.declare(cython.longlong, visibility="public")
    _used_ns = cython.declare(cython.longlong, visibility="public")
    _max_used_ns = cython.declare(cython.longlong, visibility="public")
    _priority = cython.declare(cython.double, visibility="public")
    _bias = cython.declare(cython.double, visibility="public")
    _kind = cython.declare(WorkKind, visibility="public")
    _runner = cython.declare(object, visibility="public")
    _id = cython.declare(cython.longlong, visibility="public")
    _period = cython.declare(cython.longlong, visibility="public")
    _phase = cython.declare(cython.longlong, visibility="public")
    _request = cython.declare(cython.double, visibility="public")
    _is_first_run = cython.declare(cython.bint, visibility="public")
    _faults = cython.declare(cython.longlong, visibility="public")
    _overruns = cython.declare(cython.longlong, visibility="public")
    _lateness_frames = cython.declare(cython.longlong, visibility="public")
    _max_lateness_frames = cython.declare(cython.longlong, visibility="public")
    _units = cython.declare(cython.longlong, visibility="public")
    _is_held = cython.declare(cython.bint, visibility="public")

    def __init__(self) -> None:
        self._call = self._runner = None
        self._id = self._phase = 0
        self._period = 1
        self._priority = self._bias = 1.0
        self._request = -1.0
        self._may_run, self._is_removed, self._is_first_run = True, False, True
        self._due_since, self._last_frame, self._last_s = -1, 0, 0.0
        self._runs = self._faults = self._overruns = 0
        self._lateness_frames = self._max_lateness_frames = 0
        self._measured_runs = self._used_ns = self._max_used_ns = 0
        self._p95_ns = self._piece_ns = 0
        self._kind = WorkKind()
        self._units, self._is_held = 0, False


@cython.cfunc
@cython.exceptval(check=False)
def units_of(task: TaskRun) -> cython.longlong:
    """Return the weight of a task in whole units, at least 1."""
    weight: cython.double = task._priority * task._bias
    units: cython.longlong = cython.cast(cython.longlong, weight * UNIT + 0.5)
    return units if units > 1 else 1


@cython.final
@cython.cclass
class CarryOverQueue:
    """Tasks that wait for a later frame, in the order in which they fell due, those of one frame by id.

    Attributes:
        waiting: an OrderedDict of them; a dict is slow to iterate over after many left at its front.
    """

    waiting = cython.declare(object, visibility="public")
    units: cython.longlong          # of all that wait
    units_behind: cython.longlong   # of those behind the tasks that were taken last
    stopped: list

    def __init__(self) -> None:
        self.waiting, self.stopped = OrderedDict(), []
        self.units = self.units_behind = 0

    def __len__(self) -> int:
        return len(self.waiting)

    @property
    def weight_behind(self) -> float:
        """Weight of the tasks behind those that were taken last; of all when a frame begins."""
        return 1.0 * self.units_behind / UNIT

    def begin_frame(self) -> bool:
        """Remove tasks that were stopped and not resumed; return whether any wait."""
        task: TaskRun
        if self.stopped:
            for task in self.stopped:
                if not task._may_run:
                    self.leave(task)
            self.stopped = []
        self.units_behind = self.units
        return len(self) > 0

    def stop(self, task: TaskRun) -> None:
        """Mark a task as unable to run; it keeps its place if it is resumed before the next frame."""
        if task._due_since >= 0:
            self.stopped.append(task)

    def join(self, tasks: list, frame: cython.longlong) -> None:
        """Add those of some tasks, by ascending id, that do not wait yet. Cost: O(n), however many wait."""
        task: TaskRun
        for one in tasks:
            task = cython.cast(TaskRun, one)
            if task._due_since < 0 and not task._is_removed:
                task._due_since = frame
                self.add(task)

    def add(self, task: TaskRun) -> None:
        """Add a task that waits since its ``_due_since``, behind all others."""
        task._units, task._is_held = units_of(task), False
        self.waiting[task] = True
        self.units += task._units
        self.units_behind += task._units
        if not task._may_run:
            self.stopped.append(task)

    def take(self, count: cython.Py_ssize_t) -> list:
        """Return the first tasks, at most ``count``; they stay until ``leave_reached``. Cost: O(count)."""
        task: TaskRun
        taken: list = list(islice(self.waiting, count))
        self.units_behind = self.units
        for task in taken:
            self.units_behind -= task._units
        return taken

    def leave_reached(self, taken: list, reached: cython.Py_ssize_t) -> None:
        """Remove those of the taken tasks that a RunLoop reached; those that it holds wait for ``come_back``."""
        task: TaskRun
        place: cython.Py_ssize_t
        since: cython.longlong
        for place in range(reached):
            task = taken[place]
            since = task._due_since
            self.leave(task)
            if task._is_held:
                task._due_since = since

    def come_back(self, held: list) -> None:
        """Put tasks that were held before all others."""
        task: TaskRun
        for task in reversed(held):
            if task._due_since >= 0:    # it was not removed meanwhile
                self.add(task)
                self.waiting.move_to_end(task, False)

    def leave(self, task: TaskRun) -> None:
        """Remove a task, if it waits. Cost: O(1)."""
        if task._units:
            del self.waiting[task]
            self.units -= task._units
        task._units, task._due_since = 0, -1

    def reweigh(self, task: TaskRun) -> None:
        """Update the total after the weight of a task changed. Cost: O(1)."""
        if task._units:
            self.units -= task._units
            task._units = units_of(task)
            self.units += task._units


@cython.final
@cython.cclass
class RunLoop:
    """Runs queues of tasks within the budget of a frame.

    Args:
        shares: whether each task has a part of the budget; else each draws on the whole.
        lets_wait: whether tasks wait when no budget is left; else they run without budget.
        failing: tasks whose last run failed; the same dict for ever.

    Attributes:
        place: how many of the queue were reached; those after them wait.
        late: tasks before ``place`` whose request, or whose learned piece, did not fit.
        may_wait: whether the next task may wait; the first of a frame never does.
        is_overrun_known: whether the overrun of this frame was reported already.
    """

    place = cython.declare(cython.Py_ssize_t, visibility="public")
    late = cython.declare(list, visibility="public")
    may_wait = cython.declare(cython.bint, visibility="public")
    is_overrun_known = cython.declare(cython.bint, visibility="public")
    shares: cython.bint
    lets_wait: cython.bint
    failing: dict
    parts: cython.double[::1]       # shares of the remaining budget, for each of the queue
    kinds: dict             # by the code or the type of the work
    stamps: cython.longlong[::1]
    stamps_array: object
    # Of the frame:
    now: object
    budget: object
    asked: object           # the budget that is asked how much is left
    watch: object           # None if runs are not timed
    follow_up: object
    before: object          # hooks before a run; None without listeners
    grants: object          # answers that a recording keeps; None for none
    answer: cython.Py_ssize_t
    asks: cython.longlong   # queries of the present answer
    most_piece_ns: cython.longlong
    number: cython.longlong
    clock_frame: cython.longlong
    seconds: cython.double
    is_timed: cython.bint   # the budget is one of time
    counts: cython.bint     # the budget is one of steps, or of a replay
    charges: cython.bint    # a run that reports no steps costs one
    allowed: cython.longlong    # of a budget of steps without a parent, which is read and charged directly; else -1
    is_followed: cython.bint
    has_requests: cython.bint
    deadline_ns: cython.longlong
    margin_ns: cython.longlong
    ended_ns: cython.longlong
    left: cython.double     # before the next run, where the budget is not one of time
    row_kind: object        # type of calls of which many can be made at once
    other_kinds: set        # types of which they cannot
    ahead: cython.Py_ssize_t
    row_from: cython.Py_ssize_t

    def __init__(self, shares: bool, lets_wait: bool, failing: dict) -> None:
        self.shares, self.lets_wait, self.failing = shares, lets_wait, failing
        self.late, self.kinds = [], {}
        self.place, self.may_wait, self.is_overrun_known = 0, False, False
        self.parts = memoryview(np.zeros(8))
        self.stamps_array = None
        self.row_kind, self.other_kinds = None, set()
        self.ahead, self.row_from = 16, 0
        self.number = self.clock_frame = self.deadline_ns = self.margin_ns = self.ended_ns = self.answer = 0
        self.asks = self.most_piece_ns = 0
        self.allowed = -1
        self.seconds = self.left = 0.0
        self.is_timed = self.counts = self.charges = self.is_followed = self.has_requests = False
        self.leave_frame()

    def kind_of(self, work: object) -> WorkKind:
        """Return the kind of some work: functions and methods of one code, objects of one class."""
        code = getattr(getattr(work, "__func__", work), "__code__", type(work))
        return self.kinds.setdefault(code, WorkKind())

    # -- a frame

    def begin_frame(
        self, now, number: cython.longlong, budget, stopwatch, follow_up, before, is_followed: cython.bint,
        margin_ns: cython.longlong, has_requests: cython.bint
    ) -> None:
        """Take the budget of a frame.

        Args:
            now: game time.
            number: number of the frame, as the scheduler counts.
            budget: of the frame.
            stopwatch: times each run; None for none.
            follow_up: called after a run with (task, turn, granted, used, over, steps, used_us, result, failure)
                if it failed, overran, or has listeners; amounts are µs or steps, as the budget counts.
            before: hooks called before each run with (name, now), if runs have listeners; else None.
            is_followed: whether ``follow_up`` is called after every run.
            margin_ns: amount left of a budget of time at which tasks wait.
            has_requests: whether tasks request budgets.
        """
        self.now, self.number, self.budget, self.asked = now, number, budget, budget
        self.watch, self.follow_up = stopwatch, follow_up
        self.clock_frame, self.seconds = now[0], now[1]
        deadline_ns = budget.deadline_ns
        self.is_timed = deadline_ns is not None
        self.deadline_ns = deadline_ns if self.is_timed else NEVER_NS
        self.counts = not self.is_timed and not budget.is_unlimited
        self.charges = budget.charges_runs
        self.allowed = budget._allowed if type(budget) is _StepBudget else -1
        self.grants = budget.grants if self.is_timed else None
        self.most_piece_ns = deadline_ns - budget._started_ns if self.is_timed else 0
        self.is_overrun_known = stopwatch() > deadline_ns if self.is_timed else self.counts and budget.over > 0
        self.left = INFINITY
        self.before, self.is_followed, self.margin_ns, self.has_requests = (
            before, is_followed, margin_ns, has_requests)
        self.may_wait = False
        if self.late:
            self.late = []

    def leave_frame(self) -> None:
        """Release the objects of the frame."""
        self.now = self.budget = self.asked = self.watch = self.follow_up = self.before = self.grants = None

    def run(self, queue: list, weight_behind: cython.double = 0.0) -> None:
        """Run a queue in order, as far as the budget allows.

        Args:
            queue: TaskRuns.
            weight_behind: total weight of the tasks that wait behind the queue.
        """
        task: TaskRun
        count: cython.Py_ssize_t = len(queue)
        self.place = self.row_from = 0
        if self.shares and count:     # an answer that is not asked for would shift those after it in a replay
            self.weigh(queue, weight_behind)
            self.begin_answers()
        if self.watch is not None:
            self.ended_ns = self.watch()
        while self.place < count:
            task = cython.cast(TaskRun, queue[self.place])
            if self.shares:
                if self.has_ended(task):
                    if not self.continues(task):
                        return
                    if task._may_run:
                        self.hold(task)
                    self.place += 1
                    continue
            elif self.counts:
                self.left = self.steps_left() if self.charges else INFINITY
            if not task._may_run:
                self.place += 1
            elif self.has_requests and self.may_wait and task._request >= 0 and not self.fits(task._request):
                self.hold(task)
                self.place += 1
            else:
                self.may_wait = self.lets_wait
                if not (self.place >= self.row_from and self.can_be_in_a_row(task) and self.run_row(queue, count)):
                    self.run_one(task)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def hold(self, task: TaskRun) -> cython.int:
        task._is_held = True
        self.late.append(task)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def weigh(self, queue: list, total: cython.double) -> cython.int:
        """Set the part of each: its weight among those still to run."""
        task: TaskRun
        place: cython.Py_ssize_t
        count: cython.Py_ssize_t = len(queue)
        weight: cython.double
        if count > self.parts.shape[0]:
            self.parts = memoryview(np.zeros(2 * count))
        for place in range(count - 1, -1, -1):  # from the end: each total is exactly the weight still to run
            task = cython.cast(TaskRun, queue[place])
            weight = task._priority * task._bias
            total += weight
            self.parts[place] = weight / total
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_answers(self) -> cython.int:
        """Prepare for answers of the budget that a recording keeps and a replay repeats."""
        self.asks = 0
        if self.grants is not None:
            self.answer = len(self.grants)
            self.grants.append(None)
        elif self.counts and not self.charges:
            self.asked = self.budget.part(INFINITY)     # queried only here; nothing is spent on it
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def has_ended(self, task: TaskRun) -> cython.bint:
        """Return whether a task must wait: the budget has ended, or its learned piece does not fit into the rest."""
        left_ns: cython.longlong
        if self.is_timed:
            self.asks += 1
            left_ns = self.deadline_ns - self.ended_ns
            return self.may_wait and (
                left_ns <= self.margin_ns or LONG_NS < self.piece_of(task) > left_ns - self.margin_ns)
        if self.counts:
            self.left = self.steps_left()
            return self.left <= 0 and self.may_wait
        return False

    @cython.cfunc
    @cython.exceptval(check=False)
    def piece_of(self, task: TaskRun) -> cython.longlong:
        """Return the learned piece of the next run of a task (ns)."""
        kind: WorkKind = task._kind
        return task._piece_ns if kind.frame == self.number else max(task._piece_ns, kind.piece_ns)

    @cython.cfunc
    @cython.exceptval(-1)
    def continues(self, task: TaskRun) -> cython.bint:
        """Return whether tasks after one that must wait may run, as an answer that a recording keeps.

        A recorded answer ends where a task had to wait. The answer after it is spent at once if all others had to.
        """
        continues: cython.bint
        if self.is_timed:
            continues = self.deadline_ns - self.ended_ns > self.margin_ns
            if self.grants is not None:
                self.grants[self.answer] = (0, self.asks - 1)
                self.answer, self.asks = len(self.grants), 1
                self.grants.append(None if continues else (0, 0))
            return continues
        if self.charges:
            return False
        self.asked = self.budget.part(INFINITY)
        return self.asked.left > 0

    @cython.cfunc
    @cython.exceptval(-1.0, check=False)
    def steps_left(self) -> cython.double:
        if self.allowed < 0:
            return self.asked.left
        spent: cython.longlong = self.budget.steps
        return self.allowed - spent if spent < self.allowed else 0

    @cython.cfunc
    @cython.exceptval(-1)
    def fits(self, request: cython.double) -> cython.bint:
        """Return whether the request of the next task is still left, as an answer that a recording keeps."""
        if self.is_timed:
            fits: cython.bint = request * 1000 <= self.deadline_ns - self.ended_ns
            if self.grants is not None:
                self.grants.append(None if fits else (0, 0))
            return fits
        if self.counts and not self.charges:
            return not self.budget.part(request).is_spent
        return request <= self.left

    # -- one run

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def run_one(self, task: TaskRun) -> cython.int:
        request: cython.double = task._request if self.has_requests else -1.0
        begun_ns: cython.longlong
        granted: cython.double = self.granted_now(request, self.piece_of(task))
        late: cython.longlong = self.number - task._due_since if task._due_since >= 0 else 0
        steps: cython.longlong = 0
        turn: Turn = Turn.__new__(Turn)
        result = failure = None
        turn._now, turn._elapsed_s = self.now, self.seconds - task._last_s
        is_whole: cython.bint = not self.shares or (granted == INFINITY and self.budget.is_unlimited)
        turn._budget = self.budget if is_whole else None
        turn._whole, turn._is_timed, turn._begun_ns = self.budget, self.is_timed, self.ended_ns
        turn._amount = granted
        if is_whole and (self.counts or self.before is not None):
            steps = self.budget.steps
        task._last_s, task._last_frame = self.seconds, self.clock_frame
        if self.before is not None:
            for hook in self.before:
                hook(task._name, self.now)
        begun_ns = self.ended_ns
        self.place += 1
        try:
            result = task._call(turn)
        except Exception as error:  # whatever work raises stays with it
            failure = error
        if self.watch is not None:
            self.ended_ns = self.watch()
        self.note(task, self.ended_ns - begun_ns, late)
        if self.shares and self.is_timed:
            # Work that did not look at its budget is one piece, however long its share was.
            self.learn_piece(
                task, self.ended_ns - begun_ns - (
                    0 if turn._budget is None else cython.cast(cython.longlong, turn._amount)))
        if task._is_first_run and failure is None:
            task._is_first_run, task._call = False, task._runner.run
        return self.settle(task, turn, granted, self.ended_ns - begun_ns, steps, result, failure)

    @cython.cfunc
    @cython.exceptval(-1.0, check=False)
    def granted_now(self, request: cython.double, piece_ns: cython.longlong) -> cython.double:
        """Return the grant of the next task: ns of a budget of time, else the argument of ``Budget.part``.

        Args:
            request: as of the task.
            piece_ns: its learned piece (ns).
        """
        left: cython.double = self.deadline_ns - self.ended_ns if self.is_timed else self.left
        if not self.shares:
            return left if left > 0 else 0
        if request < 0:
            left = left - self.margin_ns if self.is_timed else left
            rest: cython.double = left
            left = left * self.parts[self.place] if left > 0 else 0
            if self.is_timed and piece_ns > LONG_NS:    # a share and the piece after it fit into the frame
                left = min(left, max(LEAST_SHARE * left, rest - piece_ns))
            return left
        if not self.is_timed:
            return request
        return min(request * 1000, left) if left > 0 else 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def settle(
        self, task: TaskRun, turn: Turn, granted: cython.double, used_ns: cython.longlong, steps: cython.longlong,
        result, failure,
    ) -> cython.int:
        """Charge a run, and call ``follow_up`` if it failed, overran or has listeners."""
        used: cython.double = used_ns / 1000.0
        over: cython.double = 0
        used_us: cython.double = used
        if self.counts or self.before is not None:
            steps = self.steps_of(turn, steps)
        if self.is_timed:
            if self.ended_ns > self.deadline_ns and used_ns > granted:
                over = (self.ended_ns - self.deadline_ns) / 1000.0
            granted = granted / 1000.0
        elif self.counts:
            used = steps
            granted = min(ceil(granted), self.left) if self.charges and granted < INFINITY else INFINITY
            if used > granted:
                over = self.budget.over
        if ((over > 0 and not self.is_overrun_known) or failure is not None or self.is_followed
                or task._is_removed or self.failing):
            # Products, as an interpreted loop has whole numbers where a compiled one has doubles.
            self.follow_up(task, turn, 1.0 * granted, 1.0 * used, 1.0 * over, steps, used_us, result, failure)
            if self.before is not None and self.watch is not None:
                self.ended_ns = self.watch()    # the time of listeners is charged to no task
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def steps_of(self, turn: Turn, before: cython.longlong) -> cython.longlong:
        """Return the steps that a run reported, 1 if it reported none and has to."""
        steps: cython.longlong = 0
        share = turn._budget
        if share is not None:
            steps = share.steps - before
        if steps == 0 and self.charges:
            if self.allowed >= 0 and (share is None or share is self.budget):
                self.budget.steps += 1
            else:
                (self.budget if share is None else share).spend()
            return 1
        return steps

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def note(self, task: TaskRun, used_ns: cython.longlong, late: cython.longlong) -> cython.int:
        """Note a run in the totals of its task."""
        task._runs += 1
        if late > 0:
            task._lateness_frames += late
            task._max_lateness_frames = max(task._max_lateness_frames, late)
        if self.watch is None:
            return 0
        task._measured_runs += 1
        task._used_ns += used_ns
        task._max_used_ns = max(task._max_used_ns, used_ns)
        if task._measured_runs == 2 or task._p95_ns == 0:
            task._p95_ns = used_ns
        elif used_ns > task._p95_ns:
            task._p95_ns += min(used_ns - task._p95_ns, task._p95_ns // P95_RISE + 1)
        else:
            task._p95_ns -= task._p95_ns // P95_FALL
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def learn_piece(self, task: TaskRun, after_ns: cython.longlong) -> cython.void:
        """Learn for how long a task ran on after its share had ended; the first of a frame teaches its kind."""
        kind: WorkKind = task._kind
        if kind.frame == self.number:
            task._piece_ns = self.learned(task._piece_ns, after_ns)
        else:
            kind.frame, kind.piece_ns = self.number, self.learned(kind.piece_ns, after_ns)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def learned(self, piece_ns: cython.longlong, after_ns: cython.longlong) -> cython.longlong:
        """Return a learned piece after a run: it rises fast if the run was longer, and falls slowly if it was shorter.

        A run counts for twice the learned piece at most. One that was longer than a whole budget teaches nothing: no
        plan could hold it, and mostly the system ran something else. Counted, some in a hundred frames would leave
        the work a small share for good.
        """
        if after_ns > piece_ns:
            if after_ns > self.most_piece_ns:
                return piece_ns
            return piece_ns + (min(after_ns, 2 * max(piece_ns, LONG_NS)) - piece_ns) // LEARNED
        return piece_ns - (piece_ns - after_ns) // FORGOTTEN if after_ns > 0 else piece_ns

    # -- many calls at once

    @cython.cfunc
    @cython.exceptval(-1)
    def can_be_in_a_row(self, task: TaskRun) -> cython.bint:
        """Return whether calls such as that of this task can be made many at once, and in this frame."""
        kind = type(task._call)
        if kind in self.other_kinds or self.is_followed or self.has_requests or (self.counts and not self.charges):
            return False
        if kind is self.row_kind:
            return True
        if getattr(kind, "call_row", None) is None:
            self.other_kinds.add(kind)
            return False
        self.row_kind = kind
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def run_row(self, queue: list, count: cython.Py_ssize_t) -> cython.bint:
        """Make calls of the next tasks at once; return whether any was made.

        The time between two rows counts as used by the first of the latter, as between two calls.
        """
        task: TaskRun
        place: cython.Py_ssize_t = self.place
        number: cython.Py_ssize_t
        made: cython.Py_ssize_t
        limit_ns: cython.longlong = NEVER_NS
        turn: Turn
        calls: list = self.row_at(queue, count)
        if not calls:
            self.row_from = place + 1
            return False
        task = queue[place]
        turn = Turn.__new__(Turn)
        turn._now, turn._elapsed_s, turn._budget = self.now, self.seconds - task._last_s, self.budget
        turn._whole, turn._is_timed, turn._begun_ns, turn._amount = None, False, 0, 0.0
        if self.is_timed and (self.shares or not self.is_overrun_known):
            limit_ns = self.deadline_ns - self.margin_ns - 1 if self.lets_wait else self.deadline_ns
        if self.stamps_array is None:
            self.stamps_array = array("q", bytes(8 * MOST_IN_A_ROW))
            self.stamps = memoryview(self.stamps_array)
        made = self.row_kind.call_row(
            calls, turn, self.watch() if self.watch is not None else 0, limit_ns, self.stamps_array)
        for number in range(made):
            self.note_in_row(cython.cast(TaskRun, queue[place + number]), number)
        if self.counts and made:
            self.budget.spend(made)
        # Tasks that were not run are read again later, so read only as many as ran this time.
        self.ahead = min(2 * self.ahead, MOST_IN_A_ROW) if made == len(calls) else max(made, 1)
        if made < len(calls):
            self.row_from = place + made + 1 if made == 0 else 0
        return made > 0

    @cython.cfunc
    def row_at(self, queue: list, count: cython.Py_ssize_t) -> list:
        """Return the calls of the next tasks that can be made with one Turn."""
        task: TaskRun = queue[self.place]
        last_s: cython.double = task._last_s
        most: cython.Py_ssize_t = min(self.ahead, count - self.place)
        place: cython.Py_ssize_t
        calls: list = []
        if self.counts and self.shares and self.left < most:
            most = max(1, cython.cast(cython.Py_ssize_t, self.left))
        for place in range(self.place, self.place + most):
            task = cython.cast(TaskRun, queue[place])
            if type(task._call) is not self.row_kind or task._last_s != last_s or not task._may_run:
                break
            if (self.failing and task in self.failing) or task._piece_ns > LONG_NS:
                break
            calls.append(task._call)
        return calls

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def note_in_row(self, task: TaskRun, number: cython.Py_ssize_t) -> cython.int:
        """Note a call that a row has made; the last one may have overrun."""
        begun_ns: cython.longlong = self.ended_ns
        granted: cython.double = self.granted_now(-1.0, 0)
        late: cython.longlong = self.number - task._due_since if task._due_since >= 0 else 0
        task._last_s, task._last_frame = self.seconds, self.clock_frame
        self.place += 1
        if self.watch is not None:
            self.ended_ns = self.stamps[number]
        self.note(task, self.ended_ns - begun_ns, late)
        if self.shares and self.is_timed:
            self.learn_piece(task, self.ended_ns - begun_ns)
        if self.is_timed and self.ended_ns > self.deadline_ns and not self.is_overrun_known:
            used: cython.double = (self.ended_ns - begun_ns) / 1000.0
            if used > granted / 1000.0:
                over: cython.double = (self.ended_ns - self.deadline_ns) / 1000.0
                self.follow_up(task, None, granted / 1000.0, used, over, 0, used, None, None)
        return 0


def best_first_frame(
    cells: cython.longlong[::1], rows: cython.Py_ssize_t, period: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return the earliest first frame at which one more task joins the least load.

    First frames are compared by the busiest frame that the task would join, then by the number of frames as busy,
    then by the sum of the loads of all frames.

    Args:
        cells: load of each frame, int64, 0 or more.
        rows: frames that the task would join (count); ``rows * period`` cells are read.
        period: of the task (frames).

    Cost: O(rows * period), about 1 ns each.
    """
    best: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t
    frame: cython.Py_ssize_t
    end: cython.Py_ssize_t = rows * period
    load: cython.longlong
    busiest: cython.longlong
    as_busy: cython.longlong
    total: cython.longlong
    least_busiest: cython.longlong = NEVER_NS
    least_as_busy: cython.longlong = NEVER_NS
    least_total: cython.longlong = NEVER_NS
    for first in range(period):
        busiest = as_busy = total = 0
        frame = first
        while frame < end:      # a range with a step that is not a constant is slow
            load = cells[frame]
            frame += period
            total += load
            if load > busiest:
                busiest, as_busy = load, 1
                if busiest > least_busiest:
                    break
            elif load == busiest:
                as_busy += 1
        if busiest < least_busiest or (busiest == least_busiest and (
                as_busy < least_as_busy or (as_busy == least_as_busy and total < least_total))):
            best, least_busiest, least_as_busy, least_total = first, busiest, as_busy, total
    return best
