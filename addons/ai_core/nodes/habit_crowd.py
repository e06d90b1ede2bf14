"""The habit trees of an AIScheduler: one piece of its work, which visits those that are awake."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ai_core.budget import Budget
from ai_core.decisions.habit_population import HabitPopulation
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.task import Task, Turn
from ai_core.scheduling.task_limits import MAX_PRIORITY, MIN_PRIORITY
from ai_core.scheduling.waiting_line import UNIT


class HabitPace:
    """Trees that have their turns in the same frames.

    Attributes:
        advanced_s: when they had their last turns (s, the scheduler's clock).
    """

    def __init__(self, scheduler: Any, period_frames: int, phase_frames: int, on_wake: Callable[[], object]) -> None:
        self.period_frames, self.phase_frames = period_frames, phase_frames
        self.population = HabitPopulation(faults=scheduler.faults)
        self.population.on_wake = on_wake
        self.clock = scheduler.clock
        self.advanced_s: float = self.clock.now.seconds

    @property
    def late_s(self) -> float:
        """Game time since their last turns (s): who comes now has not lived it."""
        return max(0.0, self.clock.now.seconds - self.advanced_s)

    def is_due(self, frame: int) -> bool:
        return (frame + self.phase_frames) % self.period_frames == 0

    def advance(self, budget: Budget) -> None:
        elapsed_s, self.advanced_s = self.late_s, self.clock.now.seconds
        self.population.tick(elapsed_s, budget)


class HabitCrowd:
    """All trees of one AIScheduler. While all sleep, it is left out itself.

    Its share of the budget weighs as much as all its trees together.
    """

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._paces: list[HabitPace] = []
        self._waiting: list[HabitPace] = []     # the budget was spent before they had all their turns
        self._trees: dict[int, tuple[HabitPace, float]] = {}
        self._to_edit: dict[int, Any] = {}
        self._units = 0         # what all trees weigh together, in whole units: sums of floats would drift
        self._is_weighed = True
        self.task: Task = scheduler.schedule(self, name="habit trees")

    def __call__(self, turn: Turn) -> None:
        edited, self._to_edit = self._to_edit, {}
        for tree in edited.values():
            tree.edit()
        waiting, self._waiting = self._waiting, []
        due = [one for one in self._paces if one.is_due(turn.now.frame) and one not in waiting]
        for index, pace in enumerate([*waiting, *due]):
            if index and turn.budget.is_spent:
                self._waiting.append(pace)
                continue
            pace.advance(turn.budget)
            if pace.population.is_unfinished:
                self._waiting.append(pace)
        self._rest_or_weigh()

    def _rest_or_weigh(self) -> None:
        if self.task.is_removed:
            return
        if not self._is_weighed:
            self._is_weighed = True
            weight = min(max(self._units / UNIT, MIN_PRIORITY), MAX_PRIORITY)
            self._scheduler.core.change(self.task, priority=weight)
        if not self._to_edit and not self._waiting and all(one.population.is_asleep for one in self._paces):
            self._scheduler.core.pause(self.task)       # until something is told or changes

    def save_state(self) -> State:
        """Return how long ago the trees of each pace had their turns, and whose turn it is."""
        return {"version": 1, "paces": [
            {"period_frames": one.period_frames, "phase_frames": one.phase_frames, "late_s": one.late_s,
             "population": one.population.save_state()} for one in self._paces]}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. A pace that is not here comes with its trees."""
        fields = Fields.versioned(state, version=1)
        saved = {}
        for one in fields.groups("paces"):
            key = one.whole("period_frames", minimum=1), one.whole("phase_frames")
            saved[key] = one.seconds("late_s"), one.anything("population"), one.group("population").whole("first")
            one.end()
        fields.end()
        changes: list[Callable[[], None]] = []
        for pace in self._paces:
            late_s, population, first = saved.get((pace.period_frames, pace.phase_frames), (0.0, None, 0))
            changes.append(self._moved(pace, late_s))
            if population is not None and first < max(1, len(pace.population)):
                changes.append(pace.population.prepare_state(population))

        def change() -> None:
            self._waiting.clear()
            for one in changes:
                one()
            self._resume()

        return change

    def join(self, tree: Any) -> None:
        """Let a HabitTree have its turns here, as often as it says; one that is here stays if it says the same."""
        if tree.instance_id in self._trees:
            pace, priority = self._trees[tree.instance_id]
            if (pace.period_frames, priority) == (tree.period_frames, tree.priority):
                return
            self.leave(tree)
        pace = self._pace_for(tree.period_frames)
        self._trees[tree.instance_id] = pace, tree.priority
        self._units += int(tree.priority * UNIT)
        self._is_weighed = False
        pace.population.add(tree.core, late_s=pace.late_s)

    def leave(self, tree: Any) -> None:
        """Let a tree go as it is."""
        self._to_edit.pop(tree.instance_id, None)
        pace, priority = self._trees.pop(tree.instance_id)
        self._units -= int(priority * UNIT)
        pace.population.remove(tree.core)
        self._is_weighed = False
        if not len(pace.population):
            self._paces.remove(pace)
            self._waiting = [one for one in self._waiting if one is not pace]

    def set_resting(self, tree: Any, is_resting: bool) -> None:
        """Leave a tree out, or give it its turns again; its time stands still meanwhile."""
        pace, _ = self._trees[tree.instance_id]
        if is_resting != pace.population.is_resting(tree.core):
            change = pace.population.rest if is_resting else pace.population.go_on
            change(tree.core, late_s=pace.late_s)

    def edit_soon(self, tree: Any) -> None:
        """Let a tree read its habits again before its next turn; one that rests, when it goes on."""
        pace, _ = self._trees[tree.instance_id]
        if not pace.population.is_resting(tree.core):
            self._to_edit[tree.instance_id] = tree
            self._resume()

    def _pace_for(self, period_frames: int) -> HabitPace:
        """Return where one more tree has its turns: of those in different frames, the one with the fewest."""
        paces = [one for one in self._paces if one.period_frames == period_frames]
        phases = period_frames if self._scheduler.automatic_phasing else 1
        if len(paces) < phases:
            phase = min(set(range(phases)) - {one.phase_frames for one in paces})
            self._paces.append(HabitPace(self._scheduler, period_frames, phase, self._resume))
            return self._paces[-1]
        return min(paces, key=lambda one: len(one.population))

    def _moved(self, pace: HabitPace, late_s: float) -> Callable[[], None]:
        def change() -> None:
            pace.advanced_s = pace.clock.now.seconds - late_s
            for tree in pace.population:
                if pace.population.is_resting(tree):      # loaded while the game is paused
                    pace.population.rest(tree, late_s=late_s)

        return change

    def _resume(self) -> None:
        if not self.task.is_removed:
            self._scheduler.core.resume(self.task)


def crowd_of(scheduler: Any) -> HabitCrowd:
    """Return the crowd of an AIScheduler, made for its first tree."""
    crowd: HabitCrowd | None = scheduler.habit_crowd
    if crowd is None or crowd.task.is_removed:
        crowd = scheduler.habit_crowd = HabitCrowd(scheduler)
    return crowd
