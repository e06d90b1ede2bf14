"""Timeslicer node: runs a short job for many keys, some of them in each frame."""
from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    GDObject,
    Node,
    RefusedValue,
    Variant,
    export,
    gdclass,
    method,
    signal,
)
from addons.ai_core.nodes.saving.node_state import SavedState
from addons.ai_core.nodes.saving.scene_values import SceneValues, path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    check_callable,
    named_after,
    report_fault,
    scheduler_of,
    scheduler_warnings,
)
from addons.ai_core.nodes.scheduling.script_work import WorkerThreads
from ai_core.clock import TimeIndex
from ai_core.errors import UnknownNameError
from ai_core.faults import Fault, FaultIsolation
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part
from ai_core.saving.fields import State
from ai_core.scheduling import timeslicer
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, Task, Turn

NO_AGE = -1

THREADED_JOBS = 16
"""Jobs that are started on threads in one update, if ``jobs_per_update`` is 0 (count)."""


@gdclass(icon="res://addons/ai_core/icons/timeslicer.svg", keywords="time slicing, jobs, work queue")
class Timeslicer(SavedState, Node):
    """Runs the same short job for many keys, some of them in each frame, and keeps the results.

    Call set_job(job) once, add_job(key) for each key, and get_result(key) at any time. A key is
    a node, a name or a number; a node that is freed is removed automatically. A batch is one run of the
    job for each key. A job that fails keeps its last good result, and is quarantined after three failures
    in a row. No job runs while the node is paused or disabled.
    """

    class Timing(IntEnum):
        AIAO = 0
        SIAO = 1
        SISO = 2
        AISO = 3

    timing = export(
        Timing, Timing.AIAO, on_set="_timing_set",
        words=("Asynchronous in and out", "Synchronous in and asynchronous out", "Synchronous in and out",
               "Asynchronous in and synchronous out"),
        doc="How inputs (I) are read and outputs (O) appear. Asynchronous (A): one by one, as jobs run."
            " Synchronous (S): all together, once per batch. AIAO gives the freshest results; with SISO all results"
            " are of the same time and change together.")
    jobs_per_update = export(
        int, 0, range=(0, 1000, 1), or_greater=True, on_set="_limit_set", live=True,
        doc="Most jobs in one slice; 0 runs as many as the budget allows. At least one job runs.")
    threads = export(
        bool, False, on_set="_threads_set",
        doc="If true, the jobs run on threads of the engine while the game continues, and results appear one update"
            " later. The job must not touch nodes; inputs are read on the main thread. Without jobs_per_update, 16 jobs"
            " start at once.")
    budget = export(
        float, 0.0, range=(0, 100000, 10), or_greater=True, unit="µs", live=True,
        doc="Most time in one slice; 0 uses all that the AIScheduler grants.")
    enabled = export(
        bool, True, on_set="_enable", live=True, doc="If false, no job runs, and the results stay as they are.")
    period = export(
        int, 1, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_reschedule", live=True,
        doc="Frames from one slice to the next; larger is rarer.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", live=True,
        doc="Weight of the node when the budget is shared out.")

    batch_finished = signal(("batch", int), doc="Emitted when the job has run for every key; batches count from 1.")
    job_failed = signal(
        ("job", str), ("message", str),
        doc="Emitted when a job raises in Python or cannot be called; its name includes the key.")

    STATE = DeclaredState(settings=Hook(), jobs=Part(at="core"))

    def __init__(self) -> None:
        self._scheduler: Any = None
        self._task: Task | None = None
        self._job: Any = None
        self._inputs: Any = None
        self._core: timeslicer.Timeslicer | None = None
        self._workers: WorkerThreads | None = None
        self._values = SceneValues(self)
        self._last_finished = 0                # the last batch that batch_finished reported

    def on_entered(self) -> None:
        self._scheduler = scheduler_of(self)
        if self._scheduler is not None:
            self._task = self._scheduler.schedule(self._update, name=named_after(self._scheduler, self), **self._when())
            self._enable()
            self._scheduler.join(self)

    def on_exit_tree(self) -> None:
        if self._scheduler is not None and self._scheduler.is_valid():
            if self._task is not None:
                self._scheduler.unschedule(self._task)
            self._scheduler.leave(self)
        self._scheduler = self._task = None

    def on_predelete(self) -> None:
        if self._workers is not None:
            self._workers.release()
        core, self._core, self._job, self._inputs = self._core, None, None, None
        for key in () if core is None else core.keys:    # Callables and results may hold scripts: release them now
            core.remove(key)

    @property
    def now(self) -> TimeIndex:
        """The present time, for the ages of results."""
        return TimeIndex(0, 0.0) if self._scheduler is None else self._scheduler.clock.now

    @property
    def core(self) -> timeslicer.Timeslicer:
        """The library's timeslicer, created when it is first needed."""
        if self._core is None:
            self._workers = WorkerThreads() if self.threads else None
            self._core = timeslicer.Timeslicer(
                self, self._run_job, inputs=self._read_input, timing=list(timeslicer.Timing)[self.timing],
                jobs_per_update=self._most_jobs(), executor=self._workers,
                name=str(self.get_name()) or "Timeslicer", faults=FaultIsolation(report=self._report),
                values=self._values)
        return self._core

    @method
    def set_job(self, job: GDCallable, inputs: Variant = None) -> None:
        """Call ``job(key)`` for each key; with a Callable ``inputs``, ``job(key, inputs(key))``.

        Inputs are read as the timing says; SIAO and SISO read them together and need ``inputs``.
        """
        check_callable(job, "set_job")
        if inputs is not None:
            check_callable(inputs, "set_job, for the inputs,")
            if not callable(inputs):
                raise RefusedValue(f"set_job needs a Callable for the inputs, or null, got {inputs!r}")
        elif self.timing in (self.Timing.SIAO, self.Timing.SISO):
            raise RefusedValue("set_job needs a second Callable that returns the input of a key, as SIAO and SISO"
                               " read all inputs when a batch begins; add it, or use AIAO")
        self._job, self._inputs = job, inputs

    @method
    def add_job(self, key: Variant) -> None:
        """Add a key (a node, a name or a number); its job runs from the next batch on."""
        if self._job is None:
            raise RefusedValue("add_job() needs a job; call set_job(job) first")
        if key is None:
            raise RefusedValue(
                "add_job() needs a node, a name or a number, got null; a node that was freed becomes null in a lambda")
        self._refuse_errors(self.core.add, key)

    @method
    def remove_job(self, key: Variant) -> None:
        """Remove a key and its result."""
        self._refuse_errors(self.core.remove, key)

    @method
    def has_job(self, key: Variant) -> bool:
        """Return whether the job runs for a key."""
        return key in self.core

    @method
    def get_keys(self) -> list:
        """Return all keys, in the order in which they were added."""
        self._forget_freed()
        return list(self.core.keys)

    @method
    def get_result(self, key: Variant, default: Variant = None) -> Variant:
        """Return the last result of a key, or ``default`` before the first."""
        return self._refuse_errors(self.core.result_of, key, default)

    @method
    def get_age(self, key: Variant) -> int:
        """Return the age of a key's result in updates since its input was read; -1 without a result."""
        age = self._refuse_errors(self.core.age_updates, key)
        return NO_AGE if age is None else age

    @method
    def get_age_s(self, key: Variant) -> float:
        """Return the age of a key's result in game time since its input was read (s); -1 without a result."""
        age_s = self._refuse_errors(self.core.age_s, key)
        return float(NO_AGE) if age_s is None else age_s

    @method
    def is_failing(self, key: Variant) -> bool:
        """Return whether the last run for a key failed, so that its result is of an earlier run."""
        return bool(self._refuse_errors(self.core.is_failing, key))

    @method
    def release_job(self, key: Variant) -> None:
        """Release a key that was quarantined after three failures in a row."""
        self._refuse_errors(self.core.release, key)

    @method
    def get_stats(self) -> dict:
        """Return the number of keys, and of updates, batches, jobs and failures so far."""
        return self.core.statistics()

    def is_in_use(self) -> bool:
        return self._core is not None

    def saved(self) -> State:
        self._forget_freed()
        return super().saved()

    def prepared(self, state: object) -> Change:
        with suppress(LookupError, TypeError):      # the next reader refuses it with the reason
            state = self._without_missing(state)
        return self.STATE.prepare(self, state)      # the timeslicer is made where there is none yet

    @property
    def top(self) -> Any:
        """The outermost AIScheduler, None without one; for the values of keys and results."""
        return None if self._scheduler is None else self._scheduler.top

    def _without_missing(self, state: Any) -> Any:
        """Return a saved state without the keys that have no job here, if the load under way leaves out such ones."""
        if self.top is None or self.top.leaving_out is None:
            return state
        core, keys, gone = self.core, [], []
        for row in state["jobs"]["keys"]:
            key = self._values.value(row["key"], "jobs.keys")
            if key in core:
                keys.append(row)
            elif key is not None:       # a missing node is noted as such
                gone.append(repr(key))
        if gone:
            self.top.leaving_out[path_of(self.top, self)] = (
                f"has no jobs for keys of the save: {', '.join(gone[:3])}{' …' if len(gone) > 3 else ''}; those of the"
                " others are loaded")
        return {**state, "jobs": {**state["jobs"], "keys": keys}}

    def _finish_load(self) -> None:
        self._limit_set()
        self._last_finished = self.core.statistics()["batches"] - (not self.core.is_between_batches)

    def reset_unsaved(self) -> None:
        """Keep keys and results that a loaded save does not contain."""

    def _update(self, turn: Turn) -> None:
        if self._job is None or not self.can_process():     # paused or disabled
            return
        for function in (self._job, self._inputs):
            if isinstance(function, GDCallable) and not function.is_live():
                raise ReferenceError("the object of its job or inputs was freed; free the Timeslicer with it")
        core, budget = self.core, turn.budget
        if core.is_between_batches:
            self._forget_freed()
        core.advance(budget if self.budget == 0 else budget.part(self.budget))
        if self._workers is not None:
            self._workers.release(only_ended=True)
        batch = core.statistics()["batches"]
        if core.is_between_batches and batch > self._last_finished and self.is_valid():
            self._last_finished = batch
            self.batch_finished.emit(batch)

    def _run_job(self, key: Any, given: Any) -> Any:
        if isinstance(key, GDObject) and not key.is_valid():
            if self._workers is None:    # on a thread it is removed when the next batch begins
                self.core.remove(key)
            return None
        return self._job(key) if self._inputs is None else self._job(key, given)

    def _read_input(self, key: Any) -> Any:
        if self._inputs is None or (isinstance(key, GDObject) and not key.is_valid()):
            return None
        return self._inputs(key)

    def _forget_freed(self) -> None:
        for key in self.core.keys:
            if isinstance(key, GDObject) and not key.is_valid():
                self.core.remove(key)

    def _report(self, fault: Fault) -> None:
        if self.is_valid():
            report_fault(fault, f"job {fault.name}", self, "release_job()")
            self.job_failed.emit(fault.name, f"{type(fault.error).__name__}: {fault.error}")

    def _refuse_errors(self, does: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return does(*arguments)
        except (TypeError, ValueError, UnknownNameError) as error:
            raise RefusedValue(str(error)) from None

    def _when(self) -> dict[str, Any]:
        return {"period_frames": self.period, "phase_frames": None, "priority": self.priority}

    def _reschedule(self) -> None:
        if self._task is not None:
            self._scheduler.reschedule(self._task, **self._when())

    def _enable(self) -> None:
        if self._task is not None:
            self._scheduler.set_enabled(self._task, self.enabled)

    def _limit_set(self) -> None:
        if self._core is not None:
            self._core.run_on(self._workers, self._most_jobs())

    def _most_jobs(self) -> int | None:
        return self.jobs_per_update or (THREADED_JOBS if self.threads else None)

    def _threads_set(self) -> None:
        if self._core is not None:
            raise RefusedValue("threads cannot change after jobs were added; set it before add_job()")

    def _get_configuration_warnings(self) -> list[str]:
        return scheduler_warnings(self)

    def _timing_set(self) -> None:
        if self._core is not None:
            raise RefusedValue("timing cannot change after jobs were added; set it before add_job()")
        if self._job is not None and self._inputs is None and self.timing in (self.Timing.SIAO, self.Timing.SISO):
            raise RefusedValue("SIAO and SISO need inputs; pass a second Callable to set_job() first")
