"""Nodes of one kind that decide, of an AIScheduler: one piece of its work, which visits those that are awake."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.garbage_collecting import characters_left
from ai_core.budget import Budget
from ai_core.decisions.habits.habit_population import HabitPopulation
from ai_core.decisions.mind_population import MindPopulation
from ai_core.saving.fields import Fields, State
from ai_core.scheduling.task import Task, Turn
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES, MAX_PRIORITY, MIN_PRIORITY
from ai_core.scheduling.waiting_line import UNIT

Key = tuple[int, int]
"""Of a pace: its period and phase (frames)."""


class SavedPace(NamedTuple):
    """Nodes that had their turns in the same frames.

    Attributes:
        late_s: how long before the save they had their last turns (s).
        population: state of what they live in.
        nodes: their paths, in the order of their turns.
    """

    late_s: float
    population: object
    nodes: list[str]


def _named(pace: Any) -> State:
    return {"period_frames": pace.period_frames, "phase_frames": pace.phase_frames}


def _key(fields: Fields) -> Key:
    period_frames = fields.whole("period_frames", minimum=1, maximum=MAX_PERIOD_FRAMES)
    return period_frames, fields.whole("phase_frames", maximum=period_frames - 1)    # else its turn never comes


def _paths(fields: Fields) -> list[str]:
    paths = fields.items("nodes")
    for index, path in enumerate(paths):
        if not isinstance(path, str):
            fields.refuse(f"nodes[{index}]", f"must be a path, got {path!r}")
    return paths


def _move(pace: Any, late_s: float) -> None:
    """Let the nodes of a pace have had their last turns so long ago."""
    pace.advanced_s = pace.clock.now.seconds - late_s
    for one in pace.population:
        if pace.population.is_resting(one):      # loaded while the game is paused
            pace.population.rest(one, late_s=late_s)


HABIT_TREES, STATE_MACHINES, RULE_MINDS = "habit trees", "state machines", "rule minds"
"""Kinds of crowds, as statistics and reports call their work."""


class Pace:
    """Nodes that have their turns in the same frames.

    Attributes:
        number: by which paces take their turns.
        key: its period and phase (frames).
        advanced_s: when they had their last turns (s, the scheduler's clock).
        is_owed: they are to have their turns all; else perhaps those whom the last budget did not reach.
    """

    def __init__(
        self, population: Any, clock: Any, number: int, key: Key, on_wake: Callable[[Pace], object],
    ) -> None:
        self.number, self.key = number, key
        self.period_frames, self.phase_frames = key
        self.population, self.clock = population, clock
        population.on_wake = lambda: on_wake(self)
        self.advanced_s: float = self.clock.now.seconds
        self.is_owed = False

    @property
    def late_s(self) -> float:
        """Game time since their last turns (s): who comes now has not lived it."""
        return max(0.0, self.clock.now.seconds - self.advanced_s)

    def advance(self, budget: Budget) -> None:
        now_s: float = self.clock.now.seconds
        elapsed_s, self.advanced_s = max(0.0, now_s - self.advanced_s), now_s
        only_rest, self.is_owed = not self.is_owed, False
        self.population.tick(elapsed_s, budget, only_rest=only_rest)


class CharacterCrowd:
    """All nodes of one kind of one AIScheduler. While all sleep, it is left out itself.

    Its share of the budget weighs as much as all of them together. A node has ``in_crowd``: itself, or what
    lives for it; and ``period_frames``, ``priority``, and ``edit`` if it is edited here.

    Cost: a frame O(different periods + paces that are due + nodes awake in these).
    """

    def __init__(self, scheduler: Any, kind: str) -> None:
        self._scheduler, self._kind = scheduler, kind
        self._paces: dict[int, dict[int, Pace]] = {}    # by period and phase
        self._awake: set[Pace] = set()     # in which something may happen by itself
        self._waiting: list[Pace] = []     # the budget was spent before they had all their turns
        self._next_number = 0
        self._nodes: dict[int, tuple[Pace, float, Any]] = {}     # by id: pace, priority, node; in their order
        self._to_edit: dict[int, Any] = {}
        self._units = 0         # what all weigh together, in whole units: sums of floats would drift
        self._is_weighed = True
        self._loaded: dict[Key, SavedPace] = {}      # until all nodes are loaded
        self.task: Task = scheduler.schedule(self, name=kind)

    @property
    def paces(self) -> list[Pace]:
        """Those who have their turns together, in the order in which they do where several are due."""
        found = [one for of_period in self._paces.values() for one in of_period.values()]
        return sorted(found, key=lambda one: one.number)

    def __call__(self, turn: Turn) -> None:
        if self._to_edit:
            edited, self._to_edit = self._to_edit, {}
            for node in edited.values():
                node.edit()
        due = self._due_in(turn.now.frame)
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            due = [*waiting, *[one for one in due if one not in waiting]]
        for index, pace in enumerate(due):
            if index and turn.budget.is_spent:
                self._waiting.append(pace)
                continue
            pace.advance(turn.budget)
            if pace.population.is_unfinished:
                self._waiting.append(pace)
            elif pace.population.is_asleep:
                self._awake.discard(pace)
        self._rest_or_weigh()

    def _due_in(self, frame: int) -> list[Pace]:
        due = []
        for period_frames, of_period in self._paces.items():
            pace = of_period.get(-frame % period_frames)
            if pace is not None:
                pace.is_owed = True
                due.append(pace)
        if len(due) > 1:
            due.sort(key=lambda one: one.number)
        return due

    def _rest_or_weigh(self) -> None:
        if self.task.is_removed:
            return
        if not self._is_weighed:
            self._is_weighed = True
            weight = min(max(self._units / UNIT, MIN_PRIORITY), MAX_PRIORITY)
            self._scheduler.change_priority(self.task, weight)
        if not (self._to_edit or self._waiting or self._awake):
            self._scheduler.core.pause(self.task)       # until something is told or changes

    def join(self, node: Any) -> None:
        """Let a node have its turns here, as often as it says; one that is here stays if it says the same."""
        if node.instance_id in self._nodes:
            pace, priority, _ = self._nodes[node.instance_id]
            if pace.period_frames == node.period_frames:
                if priority != node.priority:
                    self._weigh(node, pace, instead_of=priority)
                return
            self.unseat(node)
        self.seat(node, self._pace_for(node.period_frames))

    def seat(self, node: Any, pace: Pace, *, is_resting: bool = False) -> None:
        """Let a node that is not here have its turns with those of a pace, after them."""
        self._weigh(node, pace, instead_of=0.0)
        pace.population.add(node.in_crowd, late_s=pace.late_s)
        if is_resting:
            pace.population.rest(node.in_crowd, late_s=pace.late_s)

    def leave(self, node: Any) -> None:
        """Let a node go as it is; one that is not here is no mistake."""
        if node.instance_id in self._nodes:
            self.unseat(node)
            characters_left()

    def unseat(self, node: Any) -> None:
        """Give a node that is here no turns any more."""
        self._to_edit.pop(node.instance_id, None)
        pace, priority, _ = self._nodes.pop(node.instance_id)
        self._units -= int(priority * UNIT)
        pace.population.remove(node.in_crowd)
        self._is_weighed = False
        if not len(pace.population):
            of_period = self._paces[pace.period_frames]
            del of_period[pace.phase_frames]
            if not of_period:
                del self._paces[pace.period_frames]
            self._awake.discard(pace)
            self._waiting = [one for one in self._waiting if one is not pace]

    def set_resting(self, node: Any, is_resting: bool) -> None:
        """Leave a node out, or give it its turns again, also one that kept failing; its time stands still meanwhile."""
        pace = self._nodes[node.instance_id][0]
        if not is_resting:
            pace.population.go_on(node.in_crowd, late_s=pace.late_s)
        elif not pace.population.is_resting(node.in_crowd):
            pace.population.rest(node.in_crowd, late_s=pace.late_s)

    def wake(self, node: Any) -> None:
        """Let a node that sleeps have its next turn: something has changed for it."""
        pace = self._nodes[node.instance_id][0]
        pace.population.wake(node.in_crowd, late_s=pace.late_s)

    def edit_soon(self, node: Any) -> None:
        """Let a node be edited before its next turn; one that rests, when it goes on."""
        pace = self._nodes[node.instance_id][0]
        if not pace.population.is_resting(node.in_crowd):
            self._to_edit[node.instance_id] = node
            self._resume()

    def _pace_for(self, period_frames: int) -> Pace:
        """Return where one more node has its turns: of those in different frames, the one with the fewest."""
        of_period = self._paces.get(period_frames, {})
        phases = period_frames if self._scheduler.automatic_phasing else 1
        if len(of_period) < phases:
            phase = len(of_period)       # the next one, as long as nobody has left
            if phase in of_period:
                phase = next(one for one in range(phase) if one not in of_period)
            return self.pace_at(period_frames, phase)
        return min(of_period.values(), key=lambda one: len(one.population))

    def pace_at(self, period_frames: int, phase_frames: int) -> Pace:
        """Return where nodes have their turns in these frames."""
        of_period = self._paces.setdefault(period_frames, {})
        if phase_frames not in of_period:
            self._next_number += 1
            of_period[phase_frames] = Pace(
                self.new_population(), self._scheduler.clock, self._next_number, (period_frames, phase_frames),
                self._wakes)
        return of_period[phase_frames]

    def new_population(self) -> Any:
        """Return what nodes of this kind live in, without any."""
        scheduler = self._scheduler
        return HabitPopulation(faults=scheduler.faults) if self._kind == HABIT_TREES else MindPopulation(
            faults=scheduler.faults, name_of=lambda node: path_of(scheduler, node))

    def _weigh(self, node: Any, pace: Pace, *, instead_of: float) -> None:
        """Note where a node has its turns, and its priority."""
        self._nodes[node.instance_id] = pace, node.priority, node
        self._units += int(node.priority * UNIT) - int(instead_of * UNIT)
        self._is_weighed = False

    def _wakes(self, pace: Pace) -> None:
        self._awake.add(pace)
        self._resume()

    def _resume(self) -> None:
        if not self.task.is_removed:
            self._scheduler.core.resume(self.task)

    def save_state(self) -> State:
        """Return how long ago the nodes of each pace had their turns, whose turn it is, and who waits for one."""
        return {
            "version": 1, "paces": [
                {**_named(pace), "late_s": pace.late_s, "population": pace.population.save_state(),
                 "nodes": [path_of(self._scheduler, one) for one in nodes]}
                for pace, nodes in self._nodes_by_pace()],
            "waiting": [{**_named(one), "is_owed": one.is_owed} for one in self._waiting],
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what loads it. A pace that is not here comes with its nodes."""
        fields = Fields.versioned(state, version=1)
        saved: dict[Key, SavedPace] = {}
        for one in fields.groups("paces"):
            one.group("population")     # says where, if it is none
            key = _key(one)
            if key in saved:
                one.refuse("phase_frames", f"comes twice with the period {key[0]}")
            saved[key] = SavedPace(one.seconds("late_s"), one.anything("population"), _paths(one))
            self.new_population().prepare_state(saved[key].population)
            one.end()
        waiting: dict[Key, bool] = {}
        for one in fields.groups("waiting"):
            waiting[_key(one)] = one.flag("is_owed")
            one.end()
        fields.end()

        def change() -> None:
            self._arrange(saved)
            here = {pace.key: pace for pace in self.paces}
            for key, pace in here.items():
                pace.is_owed = waiting.get(key, False)
                _move(pace, saved[key].late_s if key in saved else 0.0)
            self._load_populations(saved)
            self._loaded = saved
            self._waiting = [here[key] for key in waiting if key in here]
            self._resume()

        return change

    def settle(self) -> None:
        """Let those sleep who slept when it was saved: as nodes are loaded they wake."""
        loaded, self._loaded = self._loaded, {}
        if loaded:
            self._load_populations(loaded)
            for pace, nodes in self._nodes_by_pace():
                for node in nodes:
                    node.has_settled(is_asleep=pace.population.is_sleeping(node.in_crowd))

    def _load_populations(self, saved: dict[Key, SavedPace]) -> None:
        for pace in self.paces:
            if pace.key in saved:
                pace.population.prepare_state(saved[pace.key].population)()

    def _arrange(self, saved: dict[Key, SavedPace]) -> None:
        """Give nodes the paces and the order of turns that they had; who was not there comes last."""
        nodes = {path_of(self._scheduler, node): node for _, _, node in self._nodes.values()}
        wanted: list[tuple[Key, Any]] = []
        for key, one in saved.items():
            wanted += [(key, nodes.pop(path)) for path in one.nodes if path in nodes]
        present = [(pace.key, node) for pace, of_pace in self._nodes_by_pace() for node in of_pace]
        if not wanted or present[:len(wanted)] == wanted:
            return
        edited = dict(self._to_edit)
        resting = {node.instance_id for pace, _, node in self._nodes.values()
                   if pace.population.is_resting(node.in_crowd)}
        for _, node in present:
            self.unseat(node)
        for key, node in wanted:
            self.seat(node, self.pace_at(*key), is_resting=node.instance_id in resting)
        for node in nodes.values():
            self.seat(node, self._pace_for(node.period_frames), is_resting=node.instance_id in resting)
        self._to_edit.update(edited)

    def _nodes_by_pace(self) -> list[tuple[Any, list[Any]]]:
        """Return the nodes of each pace in the order of their turns."""
        found: dict[Any, list[Any]] = {pace: [] for pace in self.paces}
        for pace, _, node in self._nodes.values():
            found[pace].append(node)
        return list(found.items())


def crowd_of(scheduler: Any, kind: str) -> CharacterCrowd:
    """Return the crowd of a kind of an AIScheduler, made for its first node."""
    crowd: CharacterCrowd | None = scheduler.crowds.get(kind)
    if crowd is None or crowd.task.is_removed:
        crowd = scheduler.crowds[kind] = CharacterCrowd(scheduler, kind)
    return crowd
