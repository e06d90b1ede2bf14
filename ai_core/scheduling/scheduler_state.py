"""The state of a scheduler: what its tasks were given, waited for, and when they ran last."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ai_core.clock import TimeIndex
from ai_core.faults import Failures
from ai_core.saving.fields import Fields, State
from ai_core.saving.inner_state import inner_state, prepared_inner
from ai_core.saving.matching import match_by_name
from ai_core.scheduling.phasing import PhaseSlot
from ai_core.scheduling.statistics import RunRecord
from ai_core.scheduling.task import Task
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES, MAX_PRIORITY, MIN_PRIORITY

if TYPE_CHECKING:
    from ai_core.scheduling.scheduler import Scheduler

__all__ = ["prepared_scheduler", "saved_scheduler"]

VERSION = 1

COUNTS = ("runs", "faults", "overruns", "lateness_frames", "max_lateness_frames")

MEASURED = ("granted_us", "max_granted_us", "used_us", "max_used_us")
"""What a stopwatch measured of a task's runs: not the same in two worlds."""


class _SavedTask(NamedTuple):
    id: int
    name: str
    settings: dict[str, Any]
    """Attributes of the Task, as they are to be."""
    record: RunRecord
    failures: Failures
    work: object


def saved_scheduler(scheduler: Scheduler) -> State:
    """Return the state of a scheduler between two frames."""
    _check_between_frames(scheduler)
    scheduler._settle_all()
    return {
        "version": VERSION,
        "now": list(scheduler._clock.now),
        "frame": scheduler._frame,
        "next_id": scheduler._next_id,
        "overruns": scheduler._overruns,
        "tasks": [_saved_task(scheduler, task) for task in scheduler._tasks.values()],
        "waiting": sorted([task.id, since] for task, since in scheduler._waiting.items()
                          if not task.is_removed),
    }


def prepared_scheduler(scheduler: Scheduler, state: object) -> Callable[[], None]:
    """Check a state against the tasks that are here; return what loads it."""
    _check_between_frames(scheduler)
    fields = Fields.versioned(state, version=VERSION)
    now = TimeIndex(*fields.moment("now"))
    frame, overruns = fields.whole("frame"), fields.whole("overruns")
    next_id = fields.whole("next_id")
    saved = [_read_task(one, now) for one in fields.groups("tasks")]
    ids = [one.id for one in saved]
    if ids != sorted(set(ids)):
        fields.refuse("tasks", "must be sorted by ascending id, each once")
    if ids and ids[-1] >= next_id:
        fields.refuse("next_id", f"must be above the id of every task, got {next_id}")
    waiting = _read_waiting(fields, ids, frame)
    if waiting and not scheduler.carries_over:
        fields.refuse("waiting", f"must be empty, because tasks of a {type(scheduler).__name__} never wait")
    fields.end()
    here = list(scheduler._tasks.values())
    found = match_by_name("task", [one.name for one in saved], [task.name for task in here])
    pairs = [(one, here[index]) for one, index in zip(saved, found, strict=True)]
    loads = [
        prepared_inner(task._work, one.work, f"work of task {one.name!r}") for one, task in pairs
    ]

    def change() -> None:
        raised = _close_half_done([task for _, task in pairs])
        scheduler._frame, scheduler._overruns = frame, overruns
        # Clean-up may have removed one.
        _put_tasks(scheduler, [pair for pair in pairs if not pair[1].is_removed], next_id, now)
        tasks = scheduler._tasks
        scheduler._put_waiting({tasks[one]: since for one, since in waiting if one in tasks})
        for (_, task), load in zip(pairs, loads, strict=True):
            try:
                load()
            except Exception as error:  # clean-up of what was half done; the others are loaded all the same
                raised.append((task, error))
        for task, reason in raised:  # of the time before loading: no failure of the loaded task
            scheduler._faults.report_of_the_past(task.name, scheduler._clock.now.frame, reason)

    return change


def _check_between_frames(scheduler: Scheduler) -> None:
    if scheduler._is_advancing:
        raise RuntimeError(
            "the scheduler is in the middle of a frame; save and load between two frames"
        )


def _saved_task(scheduler: Scheduler, task: Task) -> State:
    record = task._record
    return {
        "id": task.id,
        "name": task.name,
        "period_frames": task._period,
        "phase_frames": task._phase,
        "is_automatic_phase": task._automatic_phase,
        "priority": task._priority,
        "is_paused": task._paused,
        "last_run": list(task._last_run),
        "record": {
            **{name: getattr(record, name) for name in COUNTS},
            "measured_runs": record.measured_runs, **record.times(),
        },
        **scheduler._faults.failures_of(task).saved(),
        "work": inner_state(task._work),
    }


def _read_task(fields: Fields, now: TimeIndex) -> _SavedTask:
    settings = {
        "_period": fields.whole("period_frames", minimum=1, maximum=MAX_PERIOD_FRAMES),
        "_phase": fields.whole("phase_frames", maximum=MAX_PERIOD_FRAMES),
        "_automatic_phase": fields.flag("is_automatic_phase"),
        "_priority": fields.number("priority", minimum=MIN_PRIORITY, maximum=MAX_PRIORITY),
        "_paused": fields.flag("is_paused"),
        "_last_run": TimeIndex(*fields.moment("last_run", latest_s=now.seconds)),
    }
    totals = fields.group("record")
    record = RunRecord()
    for name in COUNTS:
        setattr(record, name, totals.whole(name))
    measured_runs = totals.whole("measured_runs")
    record.put_times(measured_runs, **{name: totals.number(name, minimum=0) for name in MEASURED})
    totals.end()
    saved = _SavedTask(
        fields.whole("id"), fields.text("name"), settings, record, Failures.read(fields), fields.anything("work"),
    )
    fields.end()
    return saved


def _read_waiting(fields: Fields, ids: list[int], frame: int) -> list[tuple[int, int]]:
    """Return ids of waiting tasks, each with the frame since which it is due."""
    known, waiting = set(ids), {}
    for index, pair in enumerate(fields.items("waiting")):
        place = f"waiting[{index}]"
        one = Fields({place: pair})
        task_id, since = one.wholes(place, count=2)
        if task_id not in known or task_id in waiting:
            fields.refuse(place, f"must be the id of a task, each once, got {task_id}")
        if since > frame:
            fields.refuse(place, f"is due since frame {since}, which is after frame {frame}")
        waiting[task_id] = since
    return list(waiting.items())


def _put_tasks(
    scheduler: Scheduler, pairs: list[tuple[_SavedTask, Task]], next_id: int, now: TimeIndex
) -> None:
    """Give tasks their state and saved ids; those that were not saved get new ones."""
    scheduler._settle_all()
    for task in scheduler._tasks.values():
        scheduler._phasing.remove(PhaseSlot(task._period, task._phase))
    matched = {task for _, task in pairs}
    extra = [task for task in scheduler._tasks.values() if task not in matched]
    for saved, task in pairs:
        task._id, task._record = saved.id, saved.record
        for name, value in saved.settings.items():
            setattr(task, name, value)
        scheduler._faults.put_failures(task, saved.failures)
    for task_id, task in enumerate(extra, next_id):
        task._id = task_id
        task._last_run = min(task._last_run, now, key=_seconds_of)
    tasks = [*(task for _, task in pairs), *extra]
    scheduler._next_id = next_id + len(extra)
    scheduler._tasks = {task.id: task for task in tasks}
    for task in tasks:
        scheduler._phasing.add(PhaseSlot(task._period, task._phase))
    scheduler._fill_table()


def _seconds_of(moment: TimeIndex) -> float:
    return moment.seconds


def _close_half_done(tasks: list[Task]) -> list[tuple[Task, Exception]]:
    """Close generators that are half done here; return what their clean-up raised."""
    raised = []
    for task in tasks:
        try:
            task._runner.close()
        except Exception as error:  # a generator's clean-up is work too
            raised.append((task, error))
    return raised
