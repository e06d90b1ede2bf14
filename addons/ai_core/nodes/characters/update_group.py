"""UpdateGroup: the deciding nodes of one kind under an AIScheduler, updated by one task that visits awake nodes."""
from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

from addons.ai_core.nodes.saving.scene_values import path_of
from ai_core.budget import Budget
from ai_core.decisions.population import HabitPopulation, MindPopulation
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.fields import StateError
from ai_core.saving.kinds import Flag, Kind, ListOf, MapOf, Record, Row, Seconds, Text, Whole
from ai_core.scheduling.run_loops import UNIT
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, MAX_PRIORITY, MIN_PRIORITY, Task, Turn

Key = tuple[int, int]
"""Period and phase of a tick group (frames)."""


class SavedTickGroup(NamedTuple):
    """Saved state of a tick group.

    Attributes:
        late_s: time from the last update to the save (s).
        population: saved state of the population.
        nodes: paths of the nodes, in the order of their updates.
    """

    late_s: float
    population: object
    nodes: list[str]


class _PopulationState(Kind):
    """The saved state of a population, checked by an empty one."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        try:
            owner.new_population().prepare_state(plain)
        except StateError as error:
            raise StateError(f"{place!r}: {error}") from error
        return plain


def _checked_key(period_frames: int, phase_frames: int) -> Key:
    if phase_frames >= period_frames:       # it would never be due
        raise ValueError(f"phase_frames must be below period_frames, {period_frames}, got {phase_frames}")
    return period_frames, phase_frames


KEY = Row(_checked_key, Whole(1, MAX_PERIOD_FRAMES), Whole())
"""How the period and phase of a tick group are saved."""


def _move(tick_group: Any, late_s: float) -> None:
    """Set the time since the last update of a tick group."""
    tick_group.advanced_s = tick_group.scheduler.clock.now.seconds - late_s
    for one in tick_group.population:
        if tick_group.population.is_paused(one):      # loaded while the game is paused
            tick_group.population.pause(one, late_s=late_s)


_by_number = attrgetter("number")

HABIT_TREES, STATE_MACHINES, RULE_MINDS = "habit trees", "state machines", "rule minds"
"""Kinds of update groups: the names of their tasks in statistics and reports."""


class TickGroup:
    """Nodes that are updated in the same frames.

    Attributes:
        number: rank of the tick group; of several due groups the lowest number is updated first.
        key: period and phase (frames).
        advanced_s: time of the last update (s, the scheduler's clock), later by each pause of the scheduler alone.
        is_owed: whether all nodes are due; otherwise only those that the last budget did not reach.
    """

    def __init__(
        self, population: Any, scheduler: Any, number: int, key: Key, on_wake: Callable[[TickGroup], object],
    ) -> None:
        self.number, self.key = number, key
        self.period_frames, self.phase_frames = key
        self.population, self.scheduler = population, scheduler
        population.on_wake = lambda: on_wake(self)
        self.advanced_s: float = scheduler.clock.now.seconds
        self.is_owed = False

    @property
    def late_s(self) -> float:
        """Game time since the last update (s); it does not count as elapsed for nodes added now."""
        self.scheduler.skip_pause()         # nodes may resume before their scheduler does
        return max(0.0, self.scheduler.clock.now.seconds - self.advanced_s)

    def advance(self, budget: Budget) -> None:
        now_s: float = self.scheduler.clock.now.seconds
        elapsed_s, self.advanced_s = max(0.0, now_s - self.advanced_s), now_s
        only_rest, self.is_owed = not self.is_owed, False
        self.population.tick(elapsed_s, budget, only_rest=only_rest)


class UpdateGroup(Saveable):
    """All nodes of one kind under one AIScheduler. While all of them sleep, its task is paused.

    The weight of its task is the sum of the priorities of the nodes. A node has ``group_member`` (the object to
    update: itself or its library object), ``period_frames``, ``priority``, and ``edit`` if ``edit_soon`` is used.

    The phase of a tick group may fall into frames in which a budget leaves the task out; the group is due then in the
    next run.

    Cost: per frame O(different periods + due tick groups + awake nodes in them).
    """

    STATE = DeclaredState(
        tick_groups=MapOf(
            Record(SavedTickGroup, late_s=Seconds(), population=_PopulationState(), nodes=ListOf(Text())),
            key=KEY, at="_saved_tick_groups"),
        waiting=MapOf(Flag(), key=KEY, at="_waiting_by_key"), last_frame=Whole(at="_frame_before"))

    def __init__(self, scheduler: Any, kind: str) -> None:
        self._scheduler, self._kind = scheduler, kind
        self._tick_groups: dict[int, dict[int, TickGroup]] = {}    # by period and phase
        self._awake: set[TickGroup] = set()     # with nodes that need updates
        self._last_frame = scheduler.clock.now.frame      # phases of later frames are due
        self._waiting: list[TickGroup] = []     # the budget was spent before all their nodes were updated
        self._next_number = 0
        self._nodes: dict[int, tuple[TickGroup, float, Any]] = {}     # by id: tick group, priority, node; in order
        self._to_edit: dict[int, Any] = {}
        self._units = 0         # sum of all weights, in integer units: sums of floats would drift
        self._is_weighed = True
        self._loaded: dict[Key, SavedTickGroup] = {}      # until all nodes are loaded
        self.reported: set[str] = set()                   # warnings that one node gives for all
        self.task: Task = scheduler.schedule(self, name=kind)

    @property
    def tick_groups(self) -> list[TickGroup]:
        """The tick groups, in the order in which due groups are updated."""
        found = [one for of_period in self._tick_groups.values() for one in of_period.values()]
        return sorted(found, key=_by_number)

    def __call__(self, turn: Turn) -> None:
        if self._to_edit:
            edited, self._to_edit = self._to_edit, {}
            for node in edited.values():
                node.edit()
        due, frame = [], turn.now.frame
        passed, self._last_frame = max(1, frame - self._last_frame), frame
        for period_frames, of_period in self._tick_groups.items():
            if passed == 1:     # as nearly always: one look-up, however many phases there are
                found = filter(None, [of_period.get(-frame % period_frames)])
            else:
                found = (one for one in of_period.values() if (frame + one.phase_frames) % period_frames < passed)
            for tick_group in found:
                tick_group.is_owed = True
                due.append(tick_group)
        if len(due) > 1:
            due.sort(key=_by_number)
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            due = [*waiting, *[one for one in due if one not in waiting]]
        for index, tick_group in enumerate(due):
            if index and turn.budget.is_spent:
                self._waiting.append(tick_group)
                continue
            tick_group.advance(turn.budget)
            if tick_group.population.is_unfinished:
                self._waiting.append(tick_group)
            elif tick_group.population.is_asleep:
                self._awake.discard(tick_group)
        if not (self._is_weighed and (self._to_edit or self._waiting or self._awake)):
            self._rest_or_weigh()

    def _rest_or_weigh(self) -> None:
        if self.task.is_removed:
            return
        if not self._is_weighed:
            self._is_weighed = True
            weight = min(max(self._units / UNIT, MIN_PRIORITY), MAX_PRIORITY)
            self._scheduler.change_priority(self.task, weight)
        if not (self._to_edit or self._waiting or self._awake):
            self._scheduler.core.pause(self.task)       # until an event or a change

    def join(self, node: Any, *, is_resting: bool) -> None:
        """Add a node with its period and priority, or apply changes of these to a node that is in the group.

        A node that rests is paused; otherwise it resumes, also after a quarantine. Paused time does not count as
        elapsed.
        """
        if node.instance_id in self._nodes:
            tick_group, priority, _ = self._nodes[node.instance_id]
            if tick_group.period_frames == node.period:
                if priority != node.priority:
                    self._weigh(node, tick_group, instead_of=priority)
                self._set_resting(node.group_member, tick_group, is_resting)
                return
            self._set_resting(node.group_member, tick_group, True)
            owed_s = tick_group.population.owed_s(node.group_member)
            self.take_out(node)
            self.insert(node, self._tick_group_for(node.period), is_resting=True)
            tick_group = self._nodes[node.instance_id][0]
            tick_group.population.pause(node.group_member, late_s=owed_s)
            self._set_resting(node.group_member, tick_group, is_resting)
            return
        self.insert(node, self._tick_group_for(node.period), is_resting=is_resting)

    def insert(self, node: Any, tick_group: TickGroup, *, is_resting: bool = False) -> None:
        """Add a new node at the end of a tick group; one that rests owes no time."""
        self._weigh(node, tick_group, instead_of=0.0)
        member = node.group_member
        tick_group.population.add(member, late_s=0.0 if is_resting else tick_group.late_s)
        if is_resting:
            tick_group.population.pause(member)

    def leave(self, node: Any) -> None:
        """Remove a node that leaves the tree; does nothing if it is not in the group."""
        if node.instance_id in self._nodes:
            self.take_out(node)

    def take_out(self, node: Any) -> None:
        """Remove a node that is in the group."""
        self._to_edit.pop(node.instance_id, None)
        tick_group, priority, _ = self._nodes.pop(node.instance_id)
        self._units -= round(priority * UNIT)
        tick_group.population.remove(node.group_member)
        self._is_weighed = False
        if not len(tick_group.population):
            of_period = self._tick_groups[tick_group.period_frames]
            del of_period[tick_group.phase_frames]
            if not of_period:
                del self._tick_groups[tick_group.period_frames]
            self._awake.discard(tick_group)
            self._waiting = [one for one in self._waiting if one is not tick_group]
            tick_group.population.on_wake = None        # refers back to the tick group

    @staticmethod
    def _set_resting(member: Any, tick_group: TickGroup, is_resting: bool) -> None:
        if not is_resting:
            tick_group.population.resume(member, late_s=tick_group.late_s)
        elif not tick_group.population.is_paused(member):
            tick_group.population.pause(member, late_s=tick_group.late_s)

    def wake(self, node: Any) -> None:
        """Wake a sleeping node, so that it has its next update."""
        tick_group = self._nodes[node.instance_id][0]
        tick_group.population.wake(node.group_member, late_s=tick_group.late_s)

    def edit_soon(self, node: Any) -> None:
        """Call ``edit`` of a node before its next update; for a paused node after it resumes."""
        tick_group = self._nodes[node.instance_id][0]
        if not tick_group.population.is_paused(node.group_member):
            self._to_edit[node.instance_id] = node
            self._resume()

    def _tick_group_for(self, period_frames: int) -> TickGroup:
        """Return the tick group for a new node with this period: a new phase, or the smallest group."""
        of_period = self._tick_groups.get(period_frames, {})
        phases = period_frames if self._scheduler.automatic_phasing else 1
        if len(of_period) < phases:
            phase = len(of_period)       # the next phase, unless a group was removed
            if phase in of_period:
                phase = next(one for one in range(phase) if one not in of_period)
            return self.tick_group_at(period_frames, phase)
        return next(iter(of_period.values())) if phases == 1 else min(
            of_period.values(), key=lambda one: len(one.population))

    def tick_group_at(self, period_frames: int, phase_frames: int) -> TickGroup:
        """Return the tick group with a period and phase, created if there is none."""
        of_period = self._tick_groups.setdefault(period_frames, {})
        if phase_frames not in of_period:
            self._next_number += 1
            of_period[phase_frames] = TickGroup(
                self.new_population(), self._scheduler, self._next_number, (period_frames, phase_frames), self._wakes)
        return of_period[phase_frames]

    def new_population(self) -> Any:
        """Return an empty population for nodes of this kind."""
        scheduler = self._scheduler
        return HabitPopulation(faults=scheduler.faults) if self._kind == HABIT_TREES else MindPopulation(
            faults=scheduler.faults, name_of=lambda node: path_of(scheduler, node) if node.is_valid() else "freed")

    def _weigh(self, node: Any, tick_group: TickGroup, *, instead_of: float) -> None:
        """Record the tick group and the priority of a node."""
        self._nodes[node.instance_id] = tick_group, node.priority, node
        self._units += round(node.priority * UNIT) - round(instead_of * UNIT)
        self._is_weighed = False

    def _wakes(self, tick_group: TickGroup) -> None:
        self._awake.add(tick_group)
        self._resume()

    def _resume(self) -> None:
        if not self.task.is_removed:
            if self.task.is_paused:
                self.skip_time()
            self._scheduler.core.resume(self.task)

    def skip_time(self, seconds: float = 0.0) -> None:
        """Leave out a time of the elapsed times, and the frames until now of the phases that are due.

        All nodes slept, or the AIScheduler was paused.
        """
        now = self._scheduler.clock.now
        self._last_frame = now.frame
        for tick_group in self.tick_groups if seconds else ():
            tick_group.advanced_s = min(now.seconds, tick_group.advanced_s + seconds)

    @property
    def _saved_tick_groups(self) -> dict[Key, SavedTickGroup]:
        return {
            one.key: SavedTickGroup(
                one.late_s, one.population.save_state(), [path_of(self._scheduler, node) for node in nodes])
            for one, nodes in self._nodes_by_tick_group()}

    @_saved_tick_groups.setter
    def _saved_tick_groups(self, saved: dict[Key, SavedTickGroup]) -> None:
        self._arrange(saved)                # creates the tick groups that are missing
        for tick_group in self.tick_groups:
            key = tick_group.key
            _move(tick_group, saved[key].late_s if key in saved else 0.0)
        self._load_populations(saved)
        self._loaded = saved

    @property
    def _frame_before(self) -> int:
        """Frame after which phases are due; while all nodes sleep, the present one."""
        frame: int = self._scheduler.clock.now.frame if self.task.is_paused else self._last_frame
        return frame

    @_frame_before.setter
    def _frame_before(self, frame: int) -> None:
        self._last_frame = frame

    @property
    def _waiting_by_key(self) -> dict[Key, bool]:
        return {one.key: one.is_owed for one in self._waiting}

    @_waiting_by_key.setter
    def _waiting_by_key(self, waiting: dict[Key, bool]) -> None:
        here = {tick_group.key: tick_group for tick_group in self.tick_groups}
        for key, tick_group in here.items():
            tick_group.is_owed = waiting.get(key, False)
        self._waiting = [here[key] for key in waiting if key in here]

    def _finish_load(self) -> None:
        if not self.task.is_removed:
            self._scheduler.core.resume(self.task)

    def settle(self) -> None:
        """Restore which nodes sleep; loading the nodes wakes them."""
        loaded, self._loaded = self._loaded, {}
        if loaded:
            self._load_populations(loaded)
            for tick_group, nodes in self._nodes_by_tick_group():
                for node in nodes:
                    node.restore_sleep(is_asleep=tick_group.population.is_sleeping(node.group_member))

    def _load_populations(self, saved: dict[Key, SavedTickGroup]) -> None:
        for tick_group, nodes in self._nodes_by_tick_group():
            if tick_group.key in saved:
                one = saved[tick_group.key]
                are_here = one.nodes == [path_of(self._scheduler, node) for node in nodes[:len(one.nodes)]]
                state = one.population if are_here else tick_group.population.without_members(one.population)
                tick_group.population.prepare_state(state)()

    def _arrange(self, saved: dict[Key, SavedTickGroup]) -> None:
        """Restore the tick groups and the order of nodes from a save; nodes that it lacks come last."""
        nodes = {path_of(self._scheduler, node): node for _, _, node in self._nodes.values()}
        wanted: list[tuple[Key, Any]] = []
        for key, one in saved.items():
            wanted += [(key, nodes.pop(path)) for path in one.nodes if path in nodes]
        present = [(tick_group.key, node) for tick_group, members in self._nodes_by_tick_group() for node in members]
        if not wanted or present[:len(wanted)] == wanted:
            return
        edited = dict(self._to_edit)
        resting = {node.instance_id for tick_group, _, node in self._nodes.values()
                   if tick_group.population.is_paused(node.group_member)}
        for _, node in present:
            self.take_out(node)
        for key, node in wanted:
            self.insert(node, self.tick_group_at(*key), is_resting=node.instance_id in resting)
        for node in nodes.values():
            self.insert(node, self._tick_group_for(node.period), is_resting=node.instance_id in resting)
        self._to_edit.update(edited)

    def _nodes_by_tick_group(self) -> list[tuple[Any, list[Any]]]:
        """Return the nodes of each tick group, in the order of their updates."""
        found: dict[Any, list[Any]] = {tick_group: [] for tick_group in self.tick_groups}
        for tick_group, _, node in self._nodes.values():
            found[tick_group].append(node)
        return list(found.items())


def update_group_of(scheduler: Any, kind: str) -> UpdateGroup:
    """Return the update group of a kind of an AIScheduler, created for its first node."""
    update_group: UpdateGroup | None = scheduler.update_groups.get(kind)
    if update_group is None or update_group.task.is_removed:
        update_group = scheduler.update_groups[kind] = UpdateGroup(scheduler, kind)
    return update_group
