"""ImportanceManager: evaluates every few frames how important each agent is, for crowds and paced behaviors."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import GDObject, Node, RefusedValue, export, gdclass, method, report_error
from addons.ai_core.nodes.characters.agent_places import Places, dimensions_of, has_flat_scene, nearest_points_of_extent
from addons.ai_core.nodes.level_of_detail.importance_member import GROUP
from addons.ai_core.nodes.saving.node_settings import core_settings, prepared_settings, saved_settings
from addons.ai_core.nodes.saving.node_state import SavedState
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.saving.scene_values import leave_out, path_of
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    call_waiting,
    enter_group,
    exit_group,
    leave_scheduler,
    named_after,
    scheduler_of,
    scheduler_warnings,
    wait_for,
)
from ai_core.faults import FaultIsolation
from ai_core.level_of_detail.agent_rows import contains_sorted
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD
from ai_core.level_of_detail.importance import Importance
from ai_core.level_of_detail.importance_settings import ImportanceSettings
from ai_core.level_of_detail.level_limits import Level, LevelLimits
from ai_core.level_of_detail.scheduling_lod import SchedulingLOD, TaskRate
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part, Saveable
from ai_core.saving.fields import State, place_in, refuse
from ai_core.saving.kinds import Flag, Kind, ListOf, MapOf, Number, Optional, Point, Record, Row, Text, Whole
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, Task, Turn


class LODCrowd(Saveable):
    """The characters of one crowd name.

    Args:
        levels: most detailed first, the fallback last.
        spread_updates: evaluations over which a spawned crowd gets its levels.

    Cost: one evaluation in NumPy for all; only new, forced and changing characters are visited.
    """

    STATE = DeclaredState(limits=Part())

    def __init__(self, levels: Sequence[Level], spread_updates: int) -> None:
        self.levels = tuple(levels)
        self.limits = LevelLimits(self.levels, spread_updates=spread_updates)
        self.members: dict[int, BehavioralLOD] = {}            # by agent id
        self._ids = np.zeros(0, np.int32)                      # of members, ascending
        self._has_changed = False                              # whether members changed
        self._pending: set[int] = set()                           # characters to visit: new, forced, of another level
        self._faults: set[FaultIsolation] = set()

    def add(self, agent_id: int, member: Any) -> None:
        """Add a character, which gets a level at the next evaluation; until then it has none."""
        self._know(agent_id, member.core)
        member.core.level = self.limits.off

    def remove(self, agent_id: int) -> None:
        core = self.members.pop(agent_id, None)
        if core is not None:
            core.on_change = None
            self._has_changed = True

    def update(self, ids: NDArray[np.int32], values: NDArray[np.float64], elapsed_s: float) -> None:
        """Assign levels, and let characters switch, demotions first.

        Args:
            ids: ids of all evaluated agents, ascending.
            values: their importances.
            elapsed_s: game time since the last evaluation (s).
        """
        if self._has_changed:
            self._has_changed = False
            self._ids = np.array(sorted(self.members), np.int32)
        own = self._ids
        are_here = contains_sorted(own, ids)
        if not are_here.all():                       # a script has just added members that were not evaluated
            own = own[are_here]
        pending, self._pending = self._pending, set()
        if any(one.has_quarantined for one in self._faults):
            pending.update(self.members)                # any member may need the next level
        evaluated = set(own.tolist()) if pending else pending
        self._pending = (pending & self.members.keys()) - evaluated
        characters = {one: self.members[one] for one in pending if one in evaluated}
        self.limits.update(own, values[ids.searchsorted(own)], elapsed_s, characters=characters)
        self._pending.update(one for one, core in characters.items() if core.forced is not None)
        changed = (*self.limits.demoted.tolist(), *self.limits.promoted.tolist())
        characters.update((one, self.members[one]) for one in changed)
        try:
            self.limits.apply(characters)
        except BaseException:
            self._pending.update(characters)            # those that have not switched yet
            raise

    def _know(self, agent_id: int, core: BehavioralLOD) -> None:
        self.members[agent_id] = core
        self._has_changed = True
        core.on_change = partial(self._mark_pending, agent_id)
        self._faults.add(core.faults)
        self._pending.add(agent_id)

    def _mark_pending(self, agent_id: int) -> None:
        self._pending.add(agent_id)

    def take_ids(self, new_ids: Mapping[int, int]) -> None:
        """Give characters new ids."""
        members, self.members = self.members, {}
        for one, core in members.items():
            self._know(new_ids[one], core)
        self._pending = set(self.members)

    def _finish_load(self) -> None:
        self._pending.update(self.members)


CrowdKey: TypeAlias = tuple[str, tuple[Level, ...]]
"""Name and levels of a crowd: characters of one name with other levels share no limits with it."""


def _order_of(crowd: tuple[CrowdKey, LODCrowd]) -> tuple[Any, ...]:
    """Return by which crowds are sorted, in any order of joining."""
    (name, levels), _ = crowd
    return name, [(one.lowest, one.highest, math.inf if one.max_count is None else one.max_count) for one in levels]


CROWDS = ListOf(Row(
    lambda *values: values, Text(), ListOf(Row(Level, Number(0, 1), Number(0, 1), Optional(Whole())), make=tuple),
    Kind()), unique=lambda crowd: crowd[:2])
"""Name, levels and state of each crowd."""


CHOSEN = ListOf(Row(lambda *values: values, Text(), Text(), Number(-1, 1)))
"""Path of an agent, name of its task, and the importance at which the rate of the task was chosen."""


class RatePair(NamedTuple):
    """Rates of a behavior at importance 1 and importance 0, with equal steps between them.

    Attributes:
        often_frames, rarely_frames: period at importance 1, and at 0.
        high, low: priority at importance 1, and at 0.
    """

    often_frames: int
    rarely_frames: int
    high: float
    low: float

    def rate(self, importance: float) -> TaskRate:
        """Return the rate at an importance; periods are integer multiples of the shortest, at most the longest."""
        share = 1 - importance
        most = self.rarely_frames // self.often_frames - 1
        steps = min(round(share * (self.rarely_frames / self.often_frames - 1)), most)
        return TaskRate(self.often_frames * (1 + steps), self.high + share * (self.low - self.high))


class ImportancePacing:
    """All paced behaviors of an ImportanceManager; those of one rate pair and scheduler are updated together."""

    def __init__(self) -> None:
        self._lods: dict[tuple[RatePair, Scheduler], SchedulingLOD] = {}
        self._agents: dict[Task, tuple[tuple[RatePair, Scheduler], Any]] = {}

    def add(self, task: Task, pace: RatePair, agent: Any, scheduler: Scheduler) -> None:
        """Let a task of a scheduler follow the importance of an agent, from the next evaluation on."""
        self.remove(task)
        key = pace, scheduler
        lod = self._lods.get(key)
        if lod is None:
            lod = self._lods[key] = SchedulingLOD(scheduler, pace.rate)
        lod.add(task)
        self._agents[task] = key, agent

    def remove(self, task: Task) -> None:
        """Remove a task, which keeps its rate; do nothing if it is unknown."""
        key, _ = self._agents.pop(task, (None, None))
        if key is not None:
            self._lods[key].remove(task)
            if not self._lods[key].tasks:
                del self._lods[key]

    def leave(self, agent: Any) -> None:
        """Remove all tasks of an agent, which keep their rates."""
        for task in [one for one, (_, owner) in self._agents.items() if owner is agent]:
            self.remove(task)

    def update(self, importances: Mapping[int, float]) -> None:
        """Change the rates of tasks whose importance has changed enough."""
        self._forget_removed()
        for _, lod in sorted(self._lods.items(), key=lambda one: one[0][0]):    # phases depend on the order
            lod.update([importances[self._agents[task][1].agent_id] for task in lod.tasks])

    def save_state(self, path_of: Callable[[Any], str]) -> list[Any]:
        """Return the importance at which the rate of each task was last chosen."""
        self._forget_removed()
        chosen = self._chosen()
        return CHOSEN.save(
            [(path_of(agent), task.name, chosen[task]) for task, (_, agent) in self._agents.items()], self)

    def prepare_state(self, plain: object, place: str, scheduler: Any) -> Callable[[], None]:
        """Check saved data; return a function that loads them, whatever rate pairs tasks have by then.

        Paths of agents begin from the AIScheduler ``scheduler``.
        """
        self._forget_removed()
        here: dict[tuple[str, str], list[Task]] = {}
        for task, (_, agent) in self._agents.items():
            here.setdefault((path_of(scheduler, agent), task.name), []).append(task)
        found: dict[Task, float] = {}
        for agent, name, chosen_at in CHOSEN.read(plain, place, self):
            if here.get((agent, name)):
                found[here[agent, name].pop(0)] = chosen_at
            elif scheduler.get_node_or_null(agent) is None:
                leave_out(scheduler, agent, place)
            else:
                refuse(place, f"has {name!r}, which does not follow the importance of an agent in this scene")

        def change() -> None:
            self._forget_removed()
            agents, chosen = self._agents, self._chosen() | found
            self._lods, self._agents = {}, {}
            for task in [*(one for one in found if one in agents), *(one for one in agents if one not in found)]:
                (pace, scheduler), agent = agents[task]
                self.add(task, pace, agent, scheduler)
            for lod in self._lods.values():
                lod.choose({task: chosen[task] for task in lod.tasks})

        return change

    def _chosen(self) -> dict[Task, float]:
        return {task: at for lod in self._lods.values() for task, at in lod.chosen.items()}

    def _forget_removed(self) -> None:
        for task in [one for one in self._agents if one.is_removed]:
            self.remove(task)


SEEN = Optional(Point(lambda manager: manager.agent_places.positions.shape[1]))
AGENTS = MapOf(Record(SimpleNamespace, id=Whole(), seen=SEEN, is_valued=Flag()))
VIEWERS = MapOf(Record(SimpleNamespace, seen=SEEN, settings=Kind()))
"""Saved agents and viewers by path; ``seen`` is the last position."""


@gdclass(icon="res://addons/ai_core/icons/importance_manager.svg", keywords="level of detail, lod, relevance")
class ImportanceManager(SavedState, Node):
    """Computes the importance of each agent to all ImportanceViewer nodes, from 0 to 1.

    Agents are the BehavioralLOD and GroupLOD nodes, and the AIBehavior nodes whose period follows importance. All
    positions are read in one batch, every few frames.
    """

    period = export(
        int, 6, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", live=False, doc="Number of frames between two evaluations.")
    near_distance = export(
        float, 5.0, range=(0, 1000, 0.5), or_greater=True, unit="m", group="Range", live=False, core="near_m",
        doc="Distance up to which distance_weight counts in full.")
    far_distance = export(
        float, 80.0, range=(0.5, 10000, 0.5), or_greater=True, unit="m", live=False, core="far_m",
        doc="Distance beyond which distance_weight does not count; must be above near_distance.")
    pixels_per_meter = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px/m", live=False,
        doc="Number of pixels in a metre in 2D.")
    distance_weight = export(
        float, 0.5, range=(0, 1, 0.01), group="Weights", live=False, core="distance",
        doc="Importance added by nearness to a viewer.")
    view_weight = export(float, 0.2, range=(0, 1, 0.01), live=False, core="view",
        doc="Importance added while in the view of a viewer.")
    approach_weight = export(
        float, 0.1, range=(0, 1, 0.01), live=False, core="approach",
        doc="Importance added by a fast approach to a viewer.")
    size_weight = export(float, 0.1, range=(0, 1, 0.01), live=False, core="size",
        doc="Importance added by the apparent size to a viewer.")
    role_weight = export(
        float, 0.3, range=(0, 1, 0.01), live=False, core="role", doc="Importance added by a role of 1.")
    noticed_weight = export(
        float, 0.3, range=(0, 1, 0.01), live=False, core="noticed",
        doc="Importance added by notice(); it fades.")
    damaged_weight = export(
        float, 0.5, range=(0, 1, 0.01), live=False, core="damaged",
        doc="Importance added by damage(); it fades.")
    fade_time = export(
        float, 4.0, range=(0.01, 600, 0.01), or_greater=True, unit="s", group="Time", live=False,
        doc="Time after which 37 % of the importance added by notice() and damage() is left.")
    smoothing_time = export(
        float, 0.25, range=(0, 60, 0.01), or_greater=True, unit="s", live=False, core="smoothing_s",
        doc="Time in which the importance follows 63 % of a change; 0 follows at once.")

    is_flat = property(has_flat_scene, doc="Whether the scene is in 2D, where distances are in pixels.")

    STATE = DeclaredState(importance=Part(at="_core"), agents=Hook(), viewers=Hook(), pacing=Hook(), crowds=Hook())

    def __init__(self) -> None:
        self._core: Importance | None = None
        self._scheduler: Any = None
        self._task: Task | None = None
        self.agents: dict[int, Any] = {}          # core id -> node
        self.viewers: dict[int, Any] = {}         # instance id -> node
        self.crowds: dict[CrowdKey, LODCrowd] = {}
        self._mixed: set[str] = set()             # names of several crowds
        self.pacing: Any = None
        self.to_settle: list[Change] = []
        self.values: dict[int, float] = {}        # core id -> importance at the last evaluation
        self._places_of: dict[int, Any] = {}      # instance id of agent or viewer -> Node3D or Node2D
        self._begin_places(3)
        self._has_changed = True
        self._has_reported_unwatched = False

    def on_enter_tree(self) -> None:
        enter_group(self, GROUP)

    def on_entered(self) -> None:
        if self._task is not None:
            return
        self._scheduler = scheduler_of(self)
        if self._scheduler is not None:
            self._core = self._made_core()
            self.pacing = ImportancePacing()
            self._task = self._scheduler.schedule(
                self._evaluate, name=named_after(self._scheduler, self, " importance"),
                period_frames=self.period)
            self._scheduler.join(self)
            call_waiting(self, GROUP)

    def on_exit_tree(self) -> None:
        exit_group(self, GROUP)
        leave_scheduler(self, self._scheduler, self._task)
        for node in (*self.agents.values(), *self.viewers.values()):
            node.lose_importance()
        self.agents, self.viewers, self.crowds, self.values, self._places_of = {}, {}, {}, {}, {}
        self._core = self._task = self._scheduler = self.pacing = None
        self._begin_places(3)

    @property
    def core(self) -> Importance:
        """The library's importance, for behaviors written in Python."""
        if self._core is None:
            raise RefusedValue("needs an AIScheduler; add this node to a scene that has one before using it")
        return self._core

    @property
    def unit(self) -> float:
        """Length of a metre in units of the scene: 1 in 3D, pixels_per_meter in 2D."""
        return self.pixels_per_meter if self.is_flat else 1.0

    def enlist(self, node: Any, place: Any) -> bool:
        """Add an agent or a viewer; return False if that is not possible.

        A node that enters the tree before this one is ready waits for it.
        """
        if self._core is None:
            wait_for(node, GROUP)
            return False
        dimensions = dimensions_of(place)
        if not self._places_of:
            self._begin_places(dimensions)
        elif self.agent_places.positions.shape[1] != dimensions:
            report_error(
                f"is below the {place.get_class()} '{place.get_name()}', but other members of its ImportanceManager are"
                f" not {dimensions}D; use one ImportanceManager for 2D and one for 3D, each below its own AIScheduler",
                node)
            return False
        self._places_of[node.instance_id] = place
        if getattr(node, "is_viewer", False):
            self.viewers[node.instance_id] = node
        else:
            [node.agent_id] = self._core.add(role=node.role, size_m=node.size / self.unit).tolist()
            self.agents[node.agent_id] = node
        self._has_changed = True
        return True

    def dismiss(self, node: Any) -> None:
        self._places_of.pop(node.instance_id, None)
        self._has_changed = True
        if self.viewers.pop(node.instance_id, None) is None and self.agents.pop(node.agent_id, None) is not None:
            self.leave_crowd(node)
            self.pacing.leave(node)
            self.core.remove(node.agent_id)
            self.values.pop(node.agent_id, None)

    def join_crowd(self, node: Any, name: str) -> None:
        """Let a node share the maximum counts of a crowd; raise ValueError if the levels leave a gap."""
        own = node.new_crowd()
        self.crowds.setdefault((name, own.levels), own).add(node.agent_id, node)

    def leave_crowd(self, node: Any) -> None:
        for key, crowd in list(self.crowds.items()):
            crowd.remove(node.agent_id)
            if not crowd.members:
                del self.crowds[key]

    def _report_mixed(self) -> None:
        """Report a crowd name whose characters have different levels, once until they are the same."""
        if len(self.crowds) == len({name for name, _ in self.crowds}):
            self._mixed.clear()
            return
        known: set[str] = set()
        for (name, _), crowd in self.crowds.items():
            if name in known and name not in self._mixed:
                self._mixed.add(name)
                report_error(
                    f"has other levels than others of its crowd '{name}', and shares no limits with them; use the same"
                    " ranges and counts for a whole crowd, or another crowd name", self.agents[min(crowd.members)])
            known.add(name)

    def crowd_of(self, node: Any) -> LODCrowd | None:
        return next((one for one in self.crowds.values() if node.agent_id in one.members), None)

    def pace(self, agent: Any, task: Task, pace: RatePair, scheduler: Any) -> None:
        """Let the period and priority of an AIScheduler's task follow the importance of an agent."""
        self.pacing.add(task, pace, agent, scheduler.core)

    @method
    def notice(self, agent: Node, amount: float = 1.0) -> None:
        """Raise the importance of a character for a while because the player noticed it.

        agent is the character, or its BehavioralLOD or GroupLOD.
        """
        self.core.notice(self._ids_of(agent), amount)

    @method
    def damage(self, agent: Node, amount: float = 1.0) -> None:
        """Raise the importance of a character for a while because it was damaged."""
        self.core.damage(self._ids_of(agent), amount)

    @method
    def force_importance(self, agent: Node, value: float, for_s: float = math.inf) -> None:
        """Set the importance of a character to a fixed value, for a time or until unforce_importance()."""
        self.core.force(self._ids_of(agent), value, for_s=None if math.isinf(for_s) else for_s)

    @method
    def unforce_importance(self, agent: Node) -> None:
        """End force_importance(), so that viewers determine the importance again."""
        self.core.unforce(self._ids_of(agent))

    @method
    def get_importance(self, agent: Node) -> float:
        """Return the importance of a character at the last evaluation, from 0 to 1."""
        return float(self.core.values_of(self._ids_of(agent))[0])

    @method
    def get_importance_parts(self, agent: Node) -> dict:
        """Return the parts of a character's importance: distance, view, approach, size, role, noticed and damaged."""
        return self.core.explain(int(self._ids_of(agent)[0]))

    @method
    def pace_behavior(self, behavior_id: int, agent: Node, longest_period: int = 60) -> None:
        """Lengthen the period of a behavior of AIScheduler.add_behavior() with falling importance of an agent.

        At importance 1 the behavior keeps its period, at 0 its period is the largest multiple of
        that within longest_period frames.
        """
        task = self._scheduler._task(behavior_id) if self._scheduler is not None else None
        if task is None:
            raise RefusedValue("needs an AIScheduler; add this node to a scene that has one before using it")
        if longest_period < task.period_frames:
            raise RefusedValue(
                f"longest_period must be at least the period of the behavior, {task.period_frames},"
                f" got {longest_period}")
        pace = RatePair(task.period_frames, longest_period, task.priority, task.priority)
        self.pace(self.agents[self._ids_of(agent)[0]], task, pace, self._scheduler)

    @method
    def get_stats(self) -> dict:
        """Return the numbers of agents and viewers, and for each crowd the number of characters at each level."""
        return {
            "agents": len(self.agents),
            "viewers": len(self.viewers),
            "crowds": {name: one.limits.counts for (name, _), one in self.crowds.items()},
        }

    save_state, load_state = saving("importances, boosts and levels")

    def is_in_use(self) -> bool:
        return self._core is not None

    def saved(self) -> State:
        self.arrange_places()
        return super().saved()

    def prepared(self, state: Any) -> Change:
        self.arrange_places()
        change = super().prepared(state)
        if sorted(one["id"] for one in state["agents"].values()) != state["importance"]["ids"]:
            refuse("agents", "must have the ids of importance")

        def change_all() -> None:
            self.arrange_places()
            self.to_settle = []
            change()

        return change_all

    def _path_of(self, node: Any) -> str:
        return path_of(self._scheduler, node)

    def _save_agents(self) -> State:
        return AGENTS.save({
            self._path_of(node): SimpleNamespace(id=one, seen=self.agent_places.seen(row), is_valued=one in self.values)
            for row, (one, node) in enumerate(self.agents.items())}, self)

    def _prepare_agents(self, plain: object, place: str) -> Change:
        """Check saved agents; return a function that loads them. Agents that were not saved are added again."""
        rows = self._rows_of(AGENTS, self.agents.values(), plain, place)
        ids = {node.agent_id: row.id for node, row in rows.items()}

        def change() -> None:
            self.core.remove(np.setdiff1d(self.core.ids, [*ids.values()]))      # left out: not in the scene
            for one, node in self.agents.items():
                if one not in ids:
                    [ids[one]] = self.core.add(role=node.role, size_m=node.size / self.unit).tolist()
            self._take_ids(ids)
            self._restore_seen(self.agent_places, self.agents, rows)
            shown = dict(zip(self.core.ids.tolist(), self.core.values.tolist(), strict=True))
            self.values = {row.id: shown[row.id] for row in rows.values() if row.is_valued}

        return change

    def _save_viewers(self) -> State:
        return VIEWERS.save({
            self._path_of(node): SimpleNamespace(seen=self.viewer_places.seen(row), settings=saved_settings(node))
            for row, node in enumerate(self.viewers.values())}, self)

    def _prepare_viewers(self, plain: object, place: str) -> Change:
        rows = self._rows_of(VIEWERS, self.viewers.values(), plain, place)
        settings = [
            prepared_settings(node, row.settings, place_in(place, f"{self._path_of(node)}.settings"))
            for node, row in rows.items()]

        def change() -> None:
            for one in settings:
                one()
            self._restore_seen(self.viewer_places, self.viewers, rows)

        return change

    def _rows_of(self, kind: MapOf, nodes: Iterable[Any], plain: object, place: str) -> dict[Any, Any]:
        """Return saved rows by node."""
        here = {self._path_of(node): node for node in nodes}
        rows = kind.read(plain, place, self)
        for path in rows:
            if path not in here:
                leave_out(self._scheduler, path, place, f"{place[:-1]} of {self.get_name()}")
        return {here[path]: row for path, row in rows.items() if path in here}

    def _restore_seen(self, places: Places, nodes: dict[int, Any], rows: dict[Any, Any]) -> None:
        for number, node in enumerate(nodes.values()):
            places.restore_seen(number, rows[node].seen if node in rows else None)

    def _save_pacing(self) -> list[Any]:
        return self.pacing.save_state(self._path_of)

    def _prepare_pacing(self, plain: object, place: str) -> Change:
        change = self.pacing.prepare_state(plain, place, self._scheduler)
        return lambda: self._load_and_settle(change)

    def _save_crowds(self) -> list[Any]:
        return CROWDS.save([
            (name, levels, crowd.save_state()) for (name, levels), crowd in sorted(self.crowds.items(), key=_order_of)],
            self)

    def _prepare_crowds(self, plain: Any, place: str) -> Change:
        """Check saved crowds; return a function that loads those with members.

        Of several crowds of one name, which is an error of the scene, those with the levels of a saved one are loaded;
        limits of the others begin. A crowd that is the only one of its name may have other levels than in the save.
        """
        saved = CROWDS.read(plain, place, self)
        number = Counter(name for name, _, _ in saved)
        for name, levels, state in saved:
            like = self._crowd_like(name, levels, self.crowds, is_single=number[name] == 1)
            if like is None:
                made = [one.new_crowd() for one in self.agents.values() if getattr(one, "crowd", "") == name]
                if not made and self._scheduler.top.leaving_out is None:
                    refuse(place, f"has the crowd {name!r}, which has no members in this scene")
                like = self._crowd_like(
                    name, levels, {(name, one.levels): one for one in made}, is_single=number[name] == 1)
            if like is not None:
                like.prepare_state(state)

        def change() -> None:
            for name, levels, state in saved:
                crowd = self._crowd_like(name, levels, self.crowds, is_single=number[name] == 1)
                if crowd is not None:
                    crowd.prepare_state(state)()

        return lambda: self._load_and_settle(change)

    def _crowd_like(
        self, name: str, levels: tuple[Level, ...], crowds: Mapping[CrowdKey, LODCrowd], *, is_single: bool,
    ) -> LODCrowd | None:
        """Return the crowd of a name and levels; if there is none, the only one of the name for a single saved one."""
        of_name = [one for (other, _), one in crowds.items() if other == name]
        return crowds.get((name, levels)) or (of_name[0] if is_single and len(of_name) == 1 else None)

    def _load_and_settle(self, change: Change) -> None:
        """Load a part now, and again in ``settle``."""
        self.to_settle.append(change)
        change()

    def settle(self) -> None:
        """Apply the saved state of crowds and paced behaviors, after all nodes were loaded."""
        loads, self.to_settle = self.to_settle, []
        for load in loads:
            load()

    def _begin_places(self, dimensions: int) -> None:
        """Begin with tables without rows."""
        unit_m = 1.0 if dimensions == 3 else 1 / self.pixels_per_meter
        self.agent_places, self.viewer_places = Places(dimensions, unit_m), Places(dimensions, unit_m)
        self._rows = np.zeros(0, np.int32)        # core ids, by row of agent_places
        self._radii = np.zeros(0, np.float32)     # of agents, by row

    def arrange_places(self) -> None:
        """Assign a row to each agent, by id, and to each viewer, by path."""
        if not self._has_changed:
            return
        self._has_changed = False
        kept = contains_sorted(self._rows, self.core.ids)
        self._rows = self.core.ids
        come = [self.agents[one] for one in self._rows[np.count_nonzero(kept):].tolist()]    # at the end: ids ascend
        self.agent_places.renew(kept, [self._places_of[one.instance_id] for one in come])
        self._radii = np.array([*self._radii[kept].tolist(), *[one.radius / self.unit for one in come]], np.float32)
        by_path = sorted(self.viewers.values(), key=lambda node: path_of(self._scheduler, node))
        self.viewers = {node.instance_id: node for node in by_path}
        self.viewer_places.keep([self._places_of[one.instance_id] for one in by_path])

    def _take_ids(self, ids: dict[int, int]) -> None:
        """Give agents new ids, and order their rows by them."""
        rows = {ids[one]: row for row, one in enumerate(self.agents)}
        order = [rows[one] for one in sorted(rows)]
        self.agent_places.reorder(order)
        self._radii = self._radii[order]
        self._rows = self.core.ids
        self.agents = {ids[one]: node for one, node in self.agents.items()}
        self.agents = {one: self.agents[one] for one in sorted(self.agents)}
        for one, node in self.agents.items():
            node.agent_id = one
        for crowd in self.crowds.values():
            crowd.take_ids(ids)

    def _evaluate(self, turn: Turn) -> None:
        self.arrange_places()
        if not self.agents:
            return
        agents, viewers = self.agent_places, self.viewer_places
        agents.look(turn.elapsed_s)
        viewers.look(turn.elapsed_s)
        rows = [row for row, node in enumerate(self.viewers.values()) if node.enabled]
        nodes = list(self.viewers.values())
        seeing = [
            nodes[row].core_viewer(viewers.positions[row], viewers.forwards[row], viewers.velocities[row])
            for row in rows
        ]
        positions = nearest_points_of_extent(agents.positions, self._radii, viewers.positions[rows])
        found = self.core.update(seeing, positions, turn.elapsed_s, velocities=agents.velocities)
        self.values = dict(zip(self.agents, found.tolist(), strict=True))
        self.pacing.update(self.values)
        ids, values = self.core.ids, found.astype(np.float64)
        self._report_mixed()
        # Last, because it calls scripts, which may free nodes.
        for _, crowd in sorted(self.crowds.items(), key=_order_of):
            crowd.update(ids, values, turn.elapsed_s)
        if not self.viewers and not self._has_reported_unwatched:
            self._has_reported_unwatched = True
            report_error(
                "has agents but no ImportanceViewer; put one below the camera or the player", self)

    def _ids_of(self, agent: Any) -> list[int]:
        if not isinstance(agent, GDObject) or not agent.is_valid():
            raise RefusedValue(f"needs a character in the tree, got {agent!r}")
        found = [
            one for one, node in self.agents.items()
            if node == agent or self._places_of[node.instance_id] == agent
        ]
        if not found:
            name = f"'{agent.get_name()}'" if agent.is_class("Node") else repr(agent)
            raise RefusedValue(
                f"{name} has no importance in this ImportanceManager; put a BehavioralLOD or GroupLOD below it")
        return found

    def _get_configuration_warnings(self) -> list[str]:
        return [*self._range_warnings(), *scheduler_warnings(self)]

    def _range_warnings(self) -> list[str]:
        if self.far_distance > self.near_distance:
            return []
        return [
            f"far_distance must be above near_distance, got {self.far_distance:g} and {self.near_distance:g};"
            " the defaults are used"]

    def _made_core(self) -> Importance:
        warnings = self._range_warnings()
        for warning in warnings:
            report_error(warning, self)
        settings = core_settings(self, self.unit)
        if warnings:
            del settings["near_m"], settings["far_m"]
        return Importance(ImportanceSettings(**settings, noticed_s=self.fade_time, damaged_s=self.fade_time))

    def _in_use(self) -> None:
        if self._core is not None:
            raise RefusedValue("cannot change while the scene runs; set it before")
