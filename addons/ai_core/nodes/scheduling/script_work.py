"""Work of scripts that lives within its share of the budget: timed behaviors, jobs, coroutines, calls on threads."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from inspect import getattr_static
from types import FunctionType
from typing import Any
from weakref import ReferenceType, ref

from addons.ai_core.bridge.gd import (
    GDCallable,
    GodotFreedError,
    RefusedValue,
    Results,
    Signal,
    construct,
    singleton,
)
from ai_core.clock import TimeIndex
from ai_core.scheduling.task import Task, Turn
from ai_core.scheduling.threaded_work import ThreadedWork

MOST_STEPS = 10_000
"""Pauses that coroutines pass in a frame without a limit of time (count); without it an endless coroutine would never
return."""


class TimedCall:
    """Calls work with a Turn whose budget is the present budget of the outermost AIScheduler meanwhile.

    Args:
        scheduler: AIScheduler that runs the work.
        work: called with the Turn.
    """

    def __init__(self, scheduler: Any, work: Callable[[Turn], object]) -> None:
        self._scheduler, self._work = scheduler, work

    def __call__(self, turn: Turn) -> object:
        top = self._scheduler.top
        outer, top.present_budget = top.present_budget, turn.budget
        try:
            return self._work(turn)
        finally:
            top.present_budget = outer


class TimedBehavior:
    """Calls a behavior with two parameters: the elapsed seconds, and the µs that it may use.

    Args:
        behavior: called with both numbers.
        is_live: returns whether the object of the behavior still exists.
        results: as of a KeptCall.
        freed: message of the error if the object was freed.
        node: node that must be in the tree and neither paused nor disabled; None for no such check.

    Attributes:
        is_off: True to skip the calls.
    """

    def __init__(
        self, behavior: Callable[[float, float], object], is_live: Callable[[], bool], results: Results, freed: str,
        node: Any = None,
    ) -> None:
        self._behavior, self._is_live, self._results, self._freed, self._node = behavior, is_live, results, freed, node
        self.is_off = False

    def __call__(self, turn: Turn) -> object:
        if not self._is_live():
            raise GodotFreedError(self._freed)
        if self.is_off or (self._node is not None and not (self._node.is_inside_tree() and self._node.can_process())):
            return None
        answer = self._behavior(turn.elapsed_s, turn.budget.left)
        return None if self._results.take is None else self._results.take(answer)


def python_method(node: Any, name: str) -> Any:
    """Return a method that the class of a node defines in Python; None if there is none, or a script may replace it.

    A call by the engine reports what the method raises and goes on, so that it would never be quarantined.
    """
    if not isinstance(getattr_static(type(node), name, None), FunctionType) or node.get_script() is not None:
        return None
    return getattr(node, name)


METHOD_FLAG_VARARG = 16
WITHOUT_PARAMETERS = (
    "takes no arguments; let it take the elapsed seconds, or these and the time left: func think(elapsed: float), func"
    " think(elapsed: float, time_left: float)")


def takes_time_left(behavior: GDCallable, name: str) -> bool:
    """Return whether a Callable has two parameters, and so is called with the time left.

    Raises:
        RefusedValue: it is a method without parameters.
    """
    owner = behavior.get("get_object") if behavior.get("is_standard") else None
    if owner is not None and takes_nothing(owner, behavior.get("get_method")):
        raise RefusedValue(f"behavior '{name}' {WITHOUT_PARAMETERS}")
    return bool(behavior.get("get_argument_count") == 2)


def takes_nothing(node: Any, method: str) -> bool:
    """Return whether a method of a node has no parameters, and is not called with any number of them."""
    return node.get_method_argument_count(method) == 0 and not any(
        one["flags"] & METHOD_FLAG_VARARG for one in node.get_method_list() if one["name"] == method)


class ScriptJob:
    """Calls a job of a script in each frame until it returns true.

    Args:
        job: called with the µs that it may use, or without arguments if it has no parameters.
        name: for errors.
        done: called once with the task, None if it is gone, after the job returned true.
    """

    def __init__(self, job: GDCallable, name: str, done: Callable[[Task | None], object]) -> None:
        self._job, self._name, self._done = job, name, done
        self._takes_time = job.get("get_argument_count") != 0
        self._task: ReferenceType[Task] | None = None

    def belong_to(self, task: Task) -> None:
        """Note its task: weakly, as that holds what the job holds; not by its id, which a load changes."""
        self._task = ref(task)

    def __call__(self, turn: Turn) -> None:
        if not self._job.is_live():
            raise GodotFreedError(
                f"the object of job '{self._name}' was freed; call remove_behavior() before freeing it")
        is_done = self._job(turn.budget.left) if self._takes_time else self._job()
        if type(is_done) is not bool:
            raise RefusedValue(
                f"a job must return true when it is done and false until then, got {is_done!r}; an error inside the"
                " job ends it early and returns null")
        if is_done:
            self._done(None if self._task is None else self._task())


class Coroutines:
    """Coroutines of scripts that wait for their next share: each awaits the signal of an object of its own.

    Args:
        scheduler: AIScheduler that runs them, as one task.
    """

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._waiting: deque[Any] = deque()
        self._task: Task | None = None

    def add(self) -> Signal:
        """Return the signal by which a coroutine continues in a later frame."""
        resumption = construct("RefCounted")
        resumption.add_user_signal("resumed")
        self._waiting.append(resumption)
        core = self._scheduler.core
        if self._task is None or self._task.is_removed:      # by remove_behavior with its id
            self._task = self._scheduler.schedule(
                TimedCall(self._scheduler, self._advance), name="coroutines", phase_frames=0, is_saved=False)
        else:
            core.resume(self._task)
        return Signal(resumption, "resumed")

    def _advance(self, turn: Turn) -> None:
        """Continue coroutines in the order in which they paused, each at most once, until the budget is spent."""
        task, budget = self._task, turn.budget
        assert task is not None
        for _ in range(len(self._waiting)):
            self._waiting.popleft().emit_signal("resumed")
            budget.spend()
            if task.is_removed:          # a coroutine freed the scheduler
                return
            if budget.is_spent:
                break
        if not self._waiting:
            self._scheduler.core.pause(task)

    def clear(self) -> None:
        """Drop all coroutines."""
        self._waiting.clear()


class WorkerThreads(Executor):
    """The threads of the engine's WorkerThreadPool as an executor."""

    def __init__(self) -> None:
        self._numbers: dict[Future[Any], int] = {}

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:  # type: ignore[override]
        """Call a function on a thread; return the future of its result."""
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function(*arguments))
            except BaseException as error:      # whatever is raised is raised again where the result is read
                future.set_exception(error)

        self._numbers[future] = singleton("WorkerThreadPool").add_task(run)
        return future

    def release(self, *, only_ended: bool = False) -> None:
        """Wait for all calls, or for those that have ended; the engine keeps a call until it was waited for."""
        pool = singleton("WorkerThreadPool")
        for future in [one for one in self._numbers if one.done() or not only_ended]:
            pool.wait_for_task_completion(self._numbers.pop(future))


class ThreadCall:
    """One call of a function of a script on a thread; its result is passed on in a later frame.

    Args:
        scheduler: AIScheduler in whose frames the result is passed on.
        function: called on the thread, without arguments.
        then: called with the result, unless its object was freed; None to drop the result.
        frames: frames of AI until then, waiting for the thread if necessary; 0 for the first frame in which the
            result is there.
        name: for reports.
    """

    def __init__(self, scheduler: Any, function: GDCallable, then: Any, frames: int, name: str) -> None:
        self._scheduler, self._then = scheduler, then
        self._threads = WorkerThreads()
        self._frames, self._last_frame = 0, scheduler.clock.now.frame
        self._work: Any = ThreadedWork(
            function, clock=self, executor=self._threads, delay_frames=max(1, frames), waits=frames > 0,
            then=self._pass_on)
        self._ticket = self._work.submit()
        self._task: Any = scheduler.schedule(
            TimedCall(scheduler, self._advance), name=name, phase_frames=0, is_saved=False)

    @property
    def now(self) -> TimeIndex:
        """Frames since the call, also if a load sets the clock of the scheduler back."""
        return TimeIndex(self._frames, 0.0)

    def _pass_on(self, ticket: Any) -> None:
        then = self._then
        if then is None or (isinstance(then, GDCallable) and not then.is_live()):   # freed with its level
            return
        then(ticket.result)

    def _advance(self, turn: Turn) -> None:
        self._frames += max(1, turn.now.frame - self._last_frame)
        self._last_frame = turn.now.frame
        self._work.advance(turn.budget)
        if self._work is not None and self._ticket.is_done and not self._task.is_removed:     # None: closed by a script
            self._scheduler.end_thread_call(self)

    def close(self) -> None:
        """Wait for the thread, remove the task, and let go of what refers back to this call."""
        if self._work is None:
            return
        if not self._ticket.is_done:
            self._work.cancel(self._ticket)
        self._threads.release()
        self._scheduler.unschedule(self._task)
        self._work = self._ticket = self._task = self._then = None
