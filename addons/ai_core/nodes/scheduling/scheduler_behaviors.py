"""The behaviors of an AIScheduler: added, changed and removed by id."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from addons.ai_core.bridge.gd import GDCallable, KeptCall, RefusedValue, Results, method
from addons.ai_core.nodes.scheduling.scheduled import callable_name, callable_naming, check_callable, named_after
from addons.ai_core.nodes.scheduling.scheduler_monitors import SchedulerMonitors
from ai_core.scheduling.requested_time import RequestedTimeScheduler
from ai_core.scheduling.sharing import SharingScheduler
from ai_core.scheduling.task import Task, Turn, Work
from ai_core.scheduling.task_limits import MAX_PRIORITY
from ai_core.scheduling.waiting_line import UNIT

AUTOMATIC_PHASE = -1

Naming: TypeAlias = str | Callable[[], str]


class SchedulerBehaviors:
    """What an AIScheduler does with behaviors; a part of that class."""

    core: Any
    automatic_phasing: Any
    monitor_behaviors: Any
    results: Results
    recorder: Any
    join: Callable[[Any], None]
    _core: Any
    _tasks: dict[int, Task]
    _services: dict[Task, float]
    _namings: dict[Task, Callable[[], str]]
    _inner: dict[int, Any]
    _deciding: dict[Task, int]
    _units: int
    _monitors: SchedulerMonitors

    def schedule(
        self, work: Work, *, name: Naming, period_frames: int = 1,
        phase_frames: int | None = None, priority: float = 1.0,
    ) -> Task:
        """For nodes and behaviors written in Python: run ``work`` with a Turn.

        ``name`` is a text, or a function that tells it and is asked again when names matter: see ``name_anew``.
        """
        if phase_frames is None and not self.automatic_phasing:
            phase_frames = 0
        task: Task = self.core.add(
            work, period_frames=period_frames, phase_frames=phase_frames, priority=priority,
            name=name if isinstance(name, str) else name())
        self._tasks[task.id] = task
        if not isinstance(name, str):
            self._namings[task] = name
        self.weigh(task, priority)
        if self.monitor_behaviors and self._monitors.is_open:
            self._monitors.add(task)
        return task

    def serve(self, node: Any, work: Work, what: str, *, priority: float = 1.0) -> Task:
        """Run in each frame what a node does for all who decide, such as sensing, and save the node with this one.

        It weighs as much as they together: as one among hundreds of characters it would get next to nothing of a
        budget, of which characters that follow leave the most. ``leave_scheduler`` ends it.

        Args:
            what: the end of the work's name: "senses".
        """
        task = self.schedule(work, name=named_after(self, node, f" {what}"), phase_frames=0, priority=priority)
        self._services[task] = priority
        self.weigh(task, 0.0)
        self.join(node)
        return task

    def name_anew(self) -> None:
        """Call all work after its nodes, which may have been renamed: saves and recordings find it by that.

        Not while it is recorded or replayed, which tell work from work by its name. Cost: O(work), a microsecond each.
        """
        if self.recorder is not None:
            return
        for task, naming in self._namings.items():
            name = naming()
            if name != task.name:
                self.core.rename(task, name)
        for inner in self._inner.values():
            inner.name_anew()

    def change_priority(self, task: Task, priority: float) -> None:
        """Change what a task weighs, and with it what is done for all; of a service, beside all who decide."""
        self.core.change(task, priority=priority)
        if task in self._services:
            self._services[task] = priority
            self.weigh_services()
        else:
            self.weigh(task, priority)

    def weigh_anew(self) -> None:
        """Weigh all as a save says, which may be of other characters, or of before what is done for all was weighed."""
        for task in self._tasks.values():
            if task not in self._services:
                self.weigh(task, task.priority)
        self.weigh_services()

    def weigh_services(self) -> None:
        """Let what is done for all weigh as much as all by now. Cost: O(services)."""
        for task, priority in self._services.items():
            weight = min(priority * max(1.0, self._units / UNIT), MAX_PRIORITY)
            if weight != task.priority:
                self.core.change(task, priority=weight)

    def weigh(self, task: Task, priority: float) -> None:
        """Note what a task weighs among those who decide, 0 if it is none of them."""
        before, units = self._deciding.pop(task, 0), int(priority * UNIT)    # whole units: sums of floats would drift
        if units:
            self._deciding[task] = units
        if units != before:
            self._units += units - before
            self.weigh_services()

    def reschedule(self, task: Task, *, period_frames: int, phase_frames: int | None, priority: float) -> None:
        """Change a task, which keeps its record; a phase of None is chosen, as in ``schedule``."""
        if phase_frames is None and not self.automatic_phasing:
            phase_frames = 0
        self.core.change(task, period_frames=period_frames, phase_frames=phase_frames, priority=priority)
        self.change_priority(task, priority)
        if phase_frames is None and not task.is_automatic_phase:
            self.core.choose_phase(task)

    def unschedule(self, task: Task) -> None:
        """Stop running what ``schedule`` returned; once is enough."""
        if self._core is not None and not task.is_removed:   # None: it is being freed
            self._core.remove(task)
        self._tasks.pop(task.id, None)
        self._services.pop(task, None)
        self._namings.pop(task, None)
        self.weigh(task, 0.0)
        self._monitors.leave_out(task.id)

    def set_enabled(self, task: Task, is_enabled: bool) -> None:
        """Leave out the work of a node, or let it run again, with all its tries."""
        if not is_enabled:
            self.core.pause(task)
        else:
            self.core.resume(task)
            self.core.release(task)

    @method
    def add_behavior(
        self, behavior: GDCallable, period_frames: int = 1, phase_frames: int = AUTOMATIC_PHASE,
        priority: float = 1.0, behavior_name: str = "",
    ) -> int:
        """Call ``behavior(elapsed_s)`` every ``period_frames`` and return its id.

        A phase of -1 chooses the frame where the fewest others run.
        """
        check_callable(behavior, "add_behavior")
        phase = _phase(phase_frames)
        task = self.schedule(
            self._caller(behavior, behavior_name or callable_name(self, behavior)),
            name=behavior_name or callable_naming(self, behavior), period_frames=period_frames, phase_frames=phase,
            priority=priority)
        return task.id

    @method
    def remove_behavior(self, behavior_id: int) -> None:
        """Stop calling a behavior."""
        self.unschedule(self._task(behavior_id))

    @method
    def pause_behavior(self, behavior_id: int) -> None:
        """Leave a behavior out until resume_behavior()."""
        self.core.pause(self._task(behavior_id))

    @method
    def resume_behavior(self, behavior_id: int) -> None:
        """Let a paused behavior run again."""
        self.core.resume(self._task(behavior_id))

    @method
    def release_behavior(self, behavior_id: int) -> None:
        """Let a quarantined behavior, or a node's work, run again; ids are in get_stats()."""
        self.core.release(self._task(behavior_id))

    @method
    def set_behavior_period(self, behavior_id: int, period_frames: int) -> None:
        """Call a behavior every so many frames from now on; an automatic phase is chosen anew."""
        self.core.change(self._task(behavior_id), period_frames=period_frames)

    @method
    def set_behavior_phase(self, behavior_id: int, phase_frames: int = AUTOMATIC_PHASE) -> None:
        """Call a behavior when (frame + phase) is a multiple of its period; -1 chooses the phase."""
        task, phase = self._task(behavior_id), _phase(phase_frames)
        priority = self._services.get(task, task.priority)
        self.reschedule(task, period_frames=task.period_frames, phase_frames=phase, priority=priority)

    @method
    def set_behavior_priority(self, behavior_id: int, priority: float) -> None:
        """Set the weight of a behavior's share of the budget."""
        self.change_priority(self._task(behavior_id), priority)

    @method
    def request_time(self, behavior_id: int, us: float) -> None:
        """Ask for so many µs in each run of a behavior, with the policy requested time; -1 for a share by priority."""
        if not isinstance(self.core, RequestedTimeScheduler):
            raise RefusedValue("request_time() needs the policy requested time; set it before the scene runs")
        self.core.request(self._task(behavior_id), None if us == -1 else us)

    @method
    def get_longest_wait_frames(self, behavior_id: int) -> int:
        """Return the most frames a behavior can wait from falling due to running, as long as none is added."""
        task = self._task(behavior_id)
        return int(self.core.longest_wait_frames(task)) if isinstance(self.core, SharingScheduler) else 0

    @method
    def rephase(self, by_cost: bool = False) -> int:
        """Move automatic phases apart, all at once, and return how many behaviors have another one now.

        Better than what was chosen one by one as they were added. With ``by_cost`` the time they
        took counts, not only their number; then phases differ from run to run, and replays do, too.
        Takes up to 0.2 s with thousands of behaviors: call it when a level was loaded.
        """
        return int(self.core.rephase(by_cost=by_cost).result)

    @method
    def get_phase_quality(self) -> dict:
        """Return how evenly runs and their cost are spread over coming frames, and "text" that tells it.

        Runs and cost have minimum, maximum, mean, spread and histogram; the worst frame says who
        meets in it, and "advice" what could be done.
        """
        quality = self.core.phase_quality()
        common = min(quality.common_multiple, 2**63 - 1)     # the engine knows no greater int
        return {**quality.as_dict(), "common_multiple": common, "text": str(quality)}

    def monitored_behavior(self, behavior_id: int) -> float:
        """Return the mean time of a behavior's runs (µs), for the engine's monitors."""
        task = self._tasks.get(behavior_id)
        return 0.0 if task is None else task.used_us / max(1, task.runs)

    def _caller(self, behavior: GDCallable, name: str) -> Any:
        if isinstance(behavior, GDCallable):
            freed = f"the object of behavior '{name}' has been freed; call remove_behavior() before freeing it"
            return KeptCall(behavior, "", "elapsed_s", self.results, freed)
        function: Any = behavior

        def call(turn: Turn) -> object:
            answer = function(turn.elapsed_s)
            return None if self.results.take is None else self.results.take(answer)

        return call

    def _task(self, behavior_id: int) -> Task:
        task = self._tasks.get(behavior_id)
        if task is None:
            raise RefusedValue(
                f"there is no behavior {behavior_id}; use an id that add_behavior() returned and that was not removed")
        return task


def _phase(phase_frames: int) -> int | None:
    """Return a phase as the library takes it, None to have it chosen."""
    if phase_frames < AUTOMATIC_PHASE:
        raise RefusedValue(f"phase_frames must be at least 0, got {phase_frames}; or -1 to have it chosen")
    return None if phase_frames == AUTOMATIC_PHASE else phase_frames
