"""Squad: a group of characters with a commander, orders, a formation and tactics."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import (
    RID,
    GDObject,
    Node,
    NodePath,
    PackedStringArray,
    RefusedValue,
    Variant,
    Vector2,
    Vector3,
    WalkRow,
    construct,
    editor_method,
    export,
    gdclass,
    get_object,
    hook,
    is_overridden,
    method,
    node_path,
    refusing,
    report_error,
    signal,
)
from addons.ai_core.nodes.characters.agent_places import Dimensions, Places, dimensions_of, no_points, packed, place_of
from addons.ai_core.nodes.debugging.edited_scene import nodes_of
from addons.ai_core.nodes.paths.map_wait import MapWait
from addons.ai_core.nodes.paths.navigation_path_provider import checked_place
from addons.ai_core.nodes.rules.rule_set import RuleSet
from addons.ai_core.nodes.saving.node_settings import core_settings
from addons.ai_core.nodes.saving.node_state import NodeAt, SavedState
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.followed_resources import follow_changes
from addons.ai_core.nodes.scheduling.named_nodes import named_node, why_not_named
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    call_waiting,
    enter_group,
    exit_group,
    named_after,
    report_next_frame,
    scheduler_of,
    scheduler_warnings,
    wait_for,
)
from addons.ai_core.nodes.squads.formation import Formation
from addons.ai_core.nodes.squads.squad_drawing import SquadDrawing, slots_drawing
from addons.ai_core.nodes.squads.squad_ground import (
    SceneRoutes,
    SquadGrid,
    SquadNavigation,
    comes_later,
    is_built,
    stands,
)
from addons.ai_core.nodes.squads.squad_member import SQUADS, member_of
from addons.ai_core.nodes.squads.tactic_choice import TacticChoice
from addons.ai_core.nodes.walking.walking_crowd import WalkingCrowd, crowd_of
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part
from ai_core.saving.fields import State, checked_dict, refuse
from ai_core.saving.kinds import Flag, MapOf, Seconds, Whole
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, Task, Turn
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.commander import Order, nearest_to_goal, toughest
from ai_core.squads.formation import Formation as Pattern
from ai_core.squads.formation_march import MarchSettings
from ai_core.squads.situation import Sighting
from ai_core.squads.squad import Squad as CoreSquad
from ai_core.squads.stance import StancePolicy
from ai_core.squads.tactics import situation_grade

COPIED = (
    "formation", "dimensions", "pixels_per_meter", "command", "keep_clear", "map_margin", "pace", "wait_at",
    "patience", "tolerance", "avoidance", "fight_at", "retreat_at", "max_attackers", "strategic_role",
    "think_period", "march_period", "priority", "show_in_game", "process_mode",
)
"""Settings that split() copies to the new squad."""


def _is_there(member: Any) -> bool:
    return bool(member.is_valid() and member.body is not None and member.body.is_valid())


def _character(node: Any) -> Any:
    """Return the Node3D or Node2D of an enemy, for a SenseSource that of its character; None if there is none."""
    if not isinstance(node, GDObject) or not node.is_valid():
        return None
    if node.is_class("SenseSource3D") or node.is_class("SenseSource2D"):
        node = place_of(node.character_node) or node
    return place_of(node)


SLOT_SHARE = 0.45
"""Largest radius of a member as a share of the spacing: wider members would not come into neighboring slots."""
SHOWN_WITHOUT_MEMBERS = 5
"""Slots that the editor shows for a squad without members (count)."""
IN_MEMORY = "cannot change while the squad is in use; set it before the scene runs"


@gdclass(icon="res://addons/ai_core/icons/squad.svg", keywords="group, formation, flock, team")
class Squad(SavedState, Node):
    """A group of characters that acts as a unit: a commander decides, one path leads them, and each keeps its slot.

    Members are characters with a SquadMember node that names the squad or is below it. Give orders with move_to().
    Report enemies with see(); the squad then judges whether to fight, hold or retreat, and acts by tactics.
    """

    Dimensions = Dimensions

    class Command(IntEnum):
        NEAREST_TO_GOAL = 0
        TOUGHEST = 1
        SCRIPT = 2

    class StrategicRole(IntEnum):
        ARMY = 0
        SCOUTS = 1
        GATHERERS = 2

    class KeepClear(IntEnum):
        GROUND = 0
        NOTHING = 1

    formation = export(
        Formation, None, on_set="_form", doc="Formation of the squad; if empty, a wedge with a spacing of 2 m.")
    paths = export(
        NodePath, NodePath(""), hint=node_path("PathService"),
        doc="PathService that finds the paths of the squad; if empty, the squad moves in straight lines."
            " If it names no PathService, orders to a position fail.")
    dimensions = export(
        Dimensions, Dimensions.THREE, words=("3D", "2D"), live=False, doc="Dimensions of the members' nodes.")
    pixels_per_meter = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px/m", live=False,
        shown_when=("dimensions", Dimensions.TWO), doc="Number of pixels in a metre in 2D.")
    command = export(
        Command, Command.NEAREST_TO_GOAL,
        doc="Choice of the commander. Nearest to goal: the member nearest to the goal. Toughest: the member with the"
            " highest toughness. Script: the member that _choose_commander() returns.")
    keep_clear = export(
        KeepClear, KeepClear.GROUND, group="March", live=False,
        doc="Area that slots stay inside, so that the formation narrows at doors. Ground: the grid of the PathService,"
            " or else the navigation map of the world. Nothing: slots may be anywhere.")
    map_margin = export(
        float, 0.4, range=(0, 10, 0.01), or_greater=True, unit="m", live=False,
        shown_when=("keep_clear", KeepClear.GROUND),
        doc="Distance from the edge of the navigation map to the walls: the agent radius with which it was baked.")
    pace = export(
        float, 0.85, range=(0.1, 1, 0.01), live=False, core="march.pace",
        doc="Speed of the slots as a share of the slowest member's speed; the rest is reserve for catching up.")
    wait_at = export(
        float, 2.0, range=(0.6, 20, 0.1), or_greater=True, live=False, core="march.wait_at",
        doc="Distance of a member from its slot, in spacings of the formation, at which the slots stop and wait.")
    patience = export(
        float, 5.0, range=(0.1, 60, 0.1), or_greater=True, unit="s", live=False, core="march.patience_s",
        doc="Time the slots wait for a member that comes no nearer; then the member is a straggler.")
    tolerance = export(
        float, 0.3, range=(0.01, 10, 0.01), or_greater=True, unit="m", live=False, core="march.tolerance_m",
        doc="Distance from its slot within which a member has arrived.")
    avoidance = export(
        bool, True,
        doc="If true, members walk around each other, and around other characters that squads and habits move.")
    fight_at = export(
        float, 1.3, range=(0, 10, 0.05), or_greater=True, group="Fight", live=False, core="stance.fight_at",
        doc="Power ratio to the enemy at which the squad fights; 2 is the strength of twice their numbers.")
    retreat_at = export(
        float, 0.7, range=(0, 10, 0.05), or_greater=True, live=False, core="stance.retreat_at",
        doc="Power ratio below which the squad retreats; must not be above fight_at.")
    max_attackers = export(
        int, 2, range=(1, 100, 1), or_greater=True, live=False, doc="Largest number of members that attack at once.")
    tactic = export(
        str, "", on_set="_take_tactic", live=True,
        doc="Tactic in use: bounding_overwatch, flanking, healing_support, sacrifice, scouting or"
            " suppressing_fire. If empty, the squad keeps its formation. It stays set while no enemy is in sight.")
    tactic_rules = export(
        RuleSet, None, on_set="_take_rules",
        doc="Rules that choose the tactic at each thought: \"do flanking\" of the first rule that fires. The facts are"
            " met, near, strong, can_hit, outnumbered, at_risk, has_order, has_healer, has_scout, and those of the"
            " rule set. A change of the rules takes effect at once; after a mistake the former ones remain.")
    habits = export(
        NodePath, NodePath(""), hint=node_path("HabitTree"),
        doc="HabitTree that chooses the tactic instead of the rules: the name of its active habit is the tactic.")
    strategist = export(
        NodePath, NodePath(""), hint=node_path("Strategist"), group="Strategy",
        doc="Strategist whose missions the squad carries out; if empty, the Strategist above it, if there is one.")
    strategic_role = export(
        StrategicRole, StrategicRole.ARMY, doc="Role of the squad for the Strategist: fighting, scouting or gathering.")
    think_period = export(
        int, 15, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_reschedule", doc="Number of frames between two thoughts of the commander.")
    march_period = export(
        int, 2, range=(1, 60, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        doc="Number of frames between two steps of the slots; members move in every frame.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", doc="Weight of the squad's share of the budget.")
    show_in_game = export(
        bool, False, group="Debug", on_set="hide_squad",
        doc="If true, draws the path, the slots and the line from each member to its slot. The commander's slot is"
            " yellow.")

    commander_changed = signal(("commander", Node), doc="Emitted when the commander changes; null without members.")
    member_joined = signal(("member", Node), doc="Emitted when a SquadMember joins the squad.")
    member_lost = signal(("member", Node), doc="Emitted when a SquadMember leaves the squad or is freed.")
    order_done = signal(("order", int), doc="Emitted when every member that is not a straggler has arrived.")
    order_failed = signal(
        ("order", int), ("why", str),
        doc="Emitted when an order cannot be carried out, with the reason: there is no path, or the squad is at the end"
            " of a partial path, or all members have become stragglers.")
    slots_infeasible = signal(
        ("members", list),
        doc="Emitted when no slot admits the roles of these members; they use remaining slots.")
    narrowed = signal(doc="Emitted when the squad forms a column to pass a narrow passage.")
    widened = signal(doc="Emitted when the squad returns to its formation.")
    stance_changed = signal(
        ("stance", str), ("reasons", PackedStringArray),
        doc="Emitted when the judgement changes to fight, hold or retreat, with the reasons.")
    mission_given = signal(
        ("kind", str), ("place", Variant), ("why", str),
        doc="Emitted when the Strategist gives the squad a new mission: scout, gather, regroup, search, attack, defend"
            " or retreat. The squad is already moving there.")
    tactic_changed = signal(("tactic", str), doc="Emitted when the tactic changes; empty for none.")
    tasks_given_up = signal(
        ("members", list),
        doc="Emitted when the tactic continues without members that do not come to their flank, or to the end of their"
            " bound: they stand for 10 s, or move for a minute and come no nearer.")

    STATE = DeclaredState(
        settings=Hook(), members=MapOf(NodeAt("SquadMember"), key=Whole(), at="members_by_id"),
        enemies=MapOf(NodeAt(), key=Whole(), at="enemies_by_id"), last_enemy=Whole(at="_last_enemy"),
        unmarched_s=Seconds(0, at="_unmarched_s"), frames=Whole(at="_frames"), is_resting=Flag(at="_is_resting"),
        core=Part(at="_core"))
    cannot_load = "the squad does not run; it needs an AIScheduler"
    parts_noun, kept_of_others = "tactic rules", "the squad and those of the rules that still exist"

    def __init__(self) -> None:
        self._core: CoreSquad | None = None
        self._mistake = ""                          # why it does not run
        self._scheduler: Any = None
        self._tasks: list[Task] = []
        self._unmarched_s, self._frames = 0.0, 0
        self._is_resting = True
        self._members = {}
        self._to_tell: list[tuple[str, Any, Any]] | None = None
        self._discharged: list[Any] = []            # by a load, until all nodes are loaded
        self._places = Places(3)
        self._has_changed = True
        self._walkers: WalkRow | None = None
        self._unit = 1.0
        self._crowd: Any = None                     # while there are walkers
        self._bodies: list[Any] = []                # characters, in the order of rows
        self._led: list[tuple[int, Any]] = []        # rows of those whose navigation agents lead them
        self._enemies: dict[int, int] = {}          # id of an enemy -> instance id
        self._last_enemy = 0
        self._choice = TacticChoice(self)
        self._followed_formation: Sequence[Formation] = ()
        self._drawing = SquadDrawing(self)
        self._map_wait = MapWait()
        self._has_ground = False                    # or none has come for so long

    @hook
    def _choose_commander(self, members: list) -> Node:
        """Return the SquadMember that commands; called if command is SCRIPT."""

    @hook
    def _choose_tactic(self) -> str:
        """Return the name of the tactic to use, empty for none; called at each thought if it is overridden."""
        return ""

    @property
    def core(self) -> CoreSquad:
        """The library's squad, for behaviors written in Python."""
        if self._core is None:
            raise RefusedValue(
                self._mistake or "needs an AIScheduler; add the Squad to a scene that has one before using it")
        return self._core

    @property
    def is_flat(self) -> bool:
        """Whether the members are in 2D."""
        return bool(self.dimensions == self.Dimensions.TWO)

    @property
    def has_dimensions(self) -> int:
        return 2 if self.is_flat else 3

    @property
    def _no_points(self) -> NDArray[np.float32]:
        return no_points(self.has_dimensions)

    @property
    def unit(self) -> float:
        """Length of a metre in units of the scene: 1 in 3D, pixels_per_meter in 2D."""
        return self.pixels_per_meter if self.is_flat else 1.0

    def on_enter_tree(self) -> None:
        enter_group(self, SQUADS)

    def on_entered(self) -> None:
        if self._core is not None:
            return
        self._scheduler = scheduler_of(self)
        if self._scheduler is None:
            return
        try:
            self._core = self._made_core()
        except (TypeError, ValueError) as error:
            self._mistake = f"does not run: {error}"
            report_next_frame(self, lambda: [] if self._core is not None else [self._mistake])
            return
        self._tasks = [
            self._scheduler.schedule(
                self._think, name=named_after(self._scheduler, self, " thinks"),
                period_frames=self.think_period, priority=self.priority),
            self._scheduler.schedule(
                self._frame, name=named_after(self._scheduler, self, " marches"), period_frames=1, phase_frames=0,
                priority=self.priority)]
        self._scheduler.join(self)
        call_waiting(self, SQUADS)
        self._followed_formation = follow_changes(self._followed_formation, [self.formation], self._follow_formation)
        if self.tactic:
            self._take_tactic()

    def on_exit_tree(self) -> None:
        exit_group(self, SQUADS)
        if self._scheduler is not None and self._scheduler.is_valid():
            for task in self._tasks:
                self._scheduler.unschedule(task)
            self._scheduler.leave(self)
        self._choice.end()
        self._followed_formation = follow_changes(self._followed_formation, (), self._follow_formation)
        self.discharge_all()
        self.hide_squad()
        self._core, self._scheduler, self._tasks, self._mistake = None, None, [], ""

    def on_paused(self) -> None:
        if self._core is not None and self._scheduler.is_valid():
            self.crowd.forget()         # its members stand

    def on_unpaused(self) -> None:
        self.on_paused()

    def path_service(self) -> Any:
        """Return the PathService of ``paths``, None if there is none."""
        return named_node(self, "paths")

    def why_no_paths(self) -> str:
        """Return why ``paths`` names no PathService; "" if it does, or is empty."""
        return why_not_named(self, "paths")

    def strategist_node(self) -> Any:
        """Return the Strategist whose missions the squad carries out, None if there is none."""
        if str(self.strategist):
            return named_node(self, "strategist")
        above = self.get_parent()
        while above is not None and not above.is_class("Strategist"):
            above = above.get_parent()
        return above

    @property
    def crowd(self) -> WalkingCrowd:
        """The characters that walk around each other, those of the squad among them."""
        return crowd_of(self._scheduler, is_flat=self.is_flat)

    @property
    def widest_radius(self) -> float:
        """Largest radius at which members in neighboring slots do not avoid each other, in units of the scene."""
        return SLOT_SHARE * self.core.formation.spacing_m * self.unit

    @property
    def role_name(self) -> str:
        """Role of the squad for its Strategist."""
        return str(self.StrategicRole(self.strategic_role).name).lower()

    def _metres(self, name: str, vector: Any) -> NDArray[np.float64]:
        """Return an engine vector in metres; raise RefusedValue if it is not a finite one of the squad's dimensions."""
        return np.array(checked_place(name, vector, self.has_dimensions)) / self.unit

    def point(self, place: Any) -> Any:
        """Return a position (m) as an engine vector."""
        return (Vector3 if self.has_dimensions == 3 else Vector2)(*(float(one) * self.unit for one in place))

    @method
    def get_stats(self) -> dict:
        """Return statistics as a Dictionary.

        These are the numbers of members, stragglers, orders, requested paths and thoughts, and the largest distance of
        a member from its slot, 0 before the first march.
        """
        counts = self.core.statistics()
        counts["farthest_from_slot"] = counts.pop("farthest_from_slot_m") * self.unit
        return counts

    @method(to="core.release")
    def release_quarantined(self) -> None:
        """Release what was quarantined after three failures in a row: the search for its path, callbacks, rules."""

    save_state, load_state = saving("members, order, path, slots and tactic")

    def is_in_use(self) -> bool:
        return self._core is not None

    def saved(self) -> State:
        self.place_all()
        return super().saved()

    def prepared(self, state: Any) -> Change:
        change = super().prepared(state)
        members, of_core = [one[0] for one in state["members"]], [one["member_id"] for one in state["core"]["members"]]
        if sorted(members) != sorted(of_core):
            refuse("members", f"must name the members of the squad, {sorted(of_core)}, got {sorted(members)}")
        return change

    def _parts(self, state: State) -> tuple[Iterable[str], Iterable[str]]:
        return self._choice.parts(checked_dict("core", state.get("core")).get("choice"), "core.choice")

    def _prepared_of_others(self, state: State) -> Change:
        core = state["core"]
        choice = self._choice.fitted_state(core["choice"], "core.choice")
        return self.STATE.prepare(self, {**state, "core": {**core, "choice": choice}})

    def _finish_load(self) -> None:
        gone = [one for one in self.core.members if one not in self._members]    # left out: not in the scene
        with self._silent():
            for one in sorted(gone, key=lambda one: one == self.core.commander):     # the last chooses another
                self.core.remove(one)
        self.crowd.forget()
        self.wake()

    def settle(self) -> None:
        """Keep members that are in no squad of the save, which is older than they are, after all nodes were loaded."""
        discharged, self._discharged = self._discharged, []
        with self._silent():
            for member in discharged:
                if member.is_valid() and member.is_inside_tree() and member.get_squad() is None:
                    self.enlist(member)

    @contextmanager
    def _silent(self) -> Iterator[None]:
        """Change members without a signal, as loading emits none."""
        self.core.on_event, emit = None, self.core.on_event
        try:
            yield
        finally:
            self.core.on_event = emit

    @contextmanager
    def _tells_after(self) -> Iterator[None]:
        """Emit the signals of a change of members when it is complete, so that handlers may give orders and save."""
        if self._to_tell is not None:
            yield
            return
        self._to_tell = []
        try:
            yield
        finally:
            events, self._to_tell = self._to_tell, None
            for event in events:
                self._emit(*event)

    def _made_core(self) -> CoreSquad:
        if self.wait_at <= 0.5:
            raise ValueError(f"wait_at must be above 0.5, got {self.wait_at:g}")
        settings = core_settings(self, self.unit)
        return CoreSquad(
            str(self.get_name()), self._scheduler.clock, dimensions=self.has_dimensions, formation=self._pattern(),
            routes=SceneRoutes(self), clearance=self._clearance, choose_commander=self._commander_of,
            settings=MarchSettings(**settings["march"]),
            stance_policy=StancePolicy(**settings["stance"], last_stand_at=min(0.35, self.retreat_at)),
            tokens=AttackTokens(self.max_attackers), standing=self._standing,
            choose_tactic=self._choice.begin(self._scheduler.faults),
            faults=self._scheduler.faults, on_event=self._emit)

    def _pattern(self) -> Pattern:
        return Pattern.wedge() if self.formation is None else self.formation.formation(self.unit)

    def _clearance(self, points: Any, directions: Any, most_m: float) -> Any:
        if self.keep_clear == self.KeepClear.NOTHING:
            return np.full(len(points), most_m)
        return self._ground().clearance(points, directions, most_m)

    def _standing(self, places: Any) -> Any:
        return places if self.keep_clear == self.KeepClear.NOTHING else self._ground().standing(places)

    def _ground(self) -> SquadGrid | SquadNavigation:
        """Return the grid of the PathService, or else the navigation map of the world."""
        service = self.path_service()
        grid = None if service is None else service.grid_ground
        if grid is not None:
            return SquadGrid(*grid, self.unit)
        first = next((row for row, one in enumerate(self._members.values()) if stands(one)), len(self._members))
        return SquadNavigation(
            self.has_dimensions, self._navigation_map(), self.unit, self.map_margin / self.unit,
            self.core.positions[first:first + 1])

    def _navigation_map(self) -> RID:
        viewport = self.get_viewport()
        world = viewport.find_world_2d() if self.is_flat else viewport.find_world_3d()
        return world.get_navigation_map()

    def _awaits_ground(self) -> bool:
        """Return whether the map of the squad's ground is still being built, so that no march can be laid on it.

        Requests for paths go on: the PathService waits for the map, too. Cost: two engine calls until there is a map.
        """
        if self._has_ground or self.keep_clear == self.KeepClear.NOTHING:
            return False
        service = self.path_service()
        if service is not None and (service.source == service.Source.GRID or not len(self.core.path_points)):
            return False
        if comes_later(self.has_dimensions, self._navigation_map()) and self._map_wait.goes_on():
            return True
        self._has_ground = is_built(self.has_dimensions, self._navigation_map()) or self._map_wait.is_over
        return False

    def _commander_of(self, members: Any, positions: Any, goal: Any) -> int:
        if self.command == self.Command.SCRIPT and is_overridden(self, "_choose_commander"):
            chosen = self._choose_commander([self._members[one] for one in members])
            if chosen is None or self._members.get(getattr(chosen, "member_id", -1)) != chosen:
                raise RefusedValue(f"_choose_commander() must return one of the members it received, got {chosen!r}")
            return int(chosen.member_id)
        rule = toughest if self.command == self.Command.TOUGHEST else nearest_to_goal
        return rule(members, positions, goal)

    def _think(self, turn: Turn) -> None:
        if self.can_process():
            self.place_all()
            if not (self._has_to_do() and self._awaits_ground()):
                self.core.think(turn)
            self.wake()

    def wake(self) -> None:
        """March in every frame from the next frame on, if there is something to do."""
        if self._tasks and self._tasks[1].is_paused and self._has_to_do():
            self._is_resting = True                  # also if the squad was loaded on the march
            self._scheduler.core.resume(self._tasks[1])

    @property
    def moves_members(self) -> bool:
        """Whether the squad moves its members now: it has an order, or they have tasks."""
        return self._core is not None and self._has_to_do() and self.can_process()

    @property
    def keeps_members(self) -> bool:
        """Whether the last order keeps the members at their places, where nothing moves them."""
        return self._core is not None and self._core.order.keeps_places and self.can_process()

    def _has_to_do(self) -> bool:
        return bool(self._members) and (not self.core.is_idle or bool(self.core.tasks))

    def _frame(self, turn: Turn) -> None:
        core = self.core
        if not self.can_process():
            return
        was_resting, self._is_resting = self._is_resting, not self._has_to_do()
        if was_resting:
            if self._is_resting:                     # the game moves the members
                self._scheduler.core.pause(self._tasks[1])
            return                                   # the time since the last march does not count
        is_resting = self._is_resting
        if not is_resting and self._awaits_ground():
            return
        self._unmarched_s += turn.elapsed_s
        if self._frames % self.march_period == 0 or is_resting:
            self.place_all()
            if core.needs_update:
                core.update_slots(turn)
                if self._core is not core:           # a callback took the squad out of the tree
                    return
            core.move_slots(self._unmarched_s)
            self._unmarched_s = 0.0
        self._frames += 1
        self.move_all(turn.elapsed_s, stops=is_resting)
        if self.show_in_game:
            self._scheduler.draw_later(self, self._drawing.show)

    def _form(self) -> None:
        if self._core is not None:
            self._core.set_formation(self._pattern())       # first: an invalid one is refused
            self._followed_formation = follow_changes(
                self._followed_formation, [self.formation], self._follow_formation)
            for member in self._members.values():
                member.join_crowd()
        self.update_configuration_warnings()

    def _follow_formation(self) -> None:
        """Use the formation as it is now; after a mistake, which is reported, keep the former one."""
        if self._formation_mistakes():
            report_next_frame(self, self._formation_mistakes)
        else:
            self._form()

    def _formation_mistakes(self) -> list[str]:
        try:
            self._pattern()
        except RefusedValue as error:
            return [str(error)]
        return []

    def _in_use(self) -> None:
        if self._core is not None and len(self._core):
            raise RefusedValue(IN_MEMORY)
        if self._scheduler is not None:     # no members yet: start again with the present settings
            self.on_exit_tree()
            self.on_enter_tree()
            self.on_entered()

    def _reschedule(self) -> None:
        for task, period_frames in zip(self._tasks, (self.think_period, 1), strict=False):
            self._scheduler.reschedule(task, period_frames=period_frames, phase_frames=None, priority=self.priority)

    def _get_configuration_warnings(self) -> list[str]:
        warnings = [*filter(None, [self.why_no_paths(), why_not_named(self, "strategist")])]
        if self.retreat_at > self.fight_at:
            warnings.append(
                f"retreat_at must not be above fight_at, got {self.retreat_at:g} and {self.fight_at:g};"
                " the squad will not run")
        warnings += [f"{one}; the squad will not run" for one in self._formation_mistakes()]
        return [*warnings, *self._choice.warnings(), *scheduler_warnings(self)]

    @method
    def move_to(self, goal: Variant) -> int:
        """Order the squad to a position, a Vector3 or Vector2, and return the number of the order.

        The squad requests one path for all members.
        """
        return self._ordered(lambda: self.core.move_to(self._metres("goal", goal)))

    @method
    def follow(self, points: Variant) -> int:
        """Order the squad along a path, a PackedVector3Array or PackedVector2Array; return the order's number."""
        path = packed(points, self.has_dimensions, "points").astype(np.float64)
        if not len(path):
            raise RefusedValue("points must have at least one position, got none; use hold() to stay")
        return self._ordered(lambda: self.core.follow(path / self.unit))

    @method
    def form_up(self, place: Variant, heading: Variant = None) -> int:
        """Order the squad to march to a position and stand there in formation, facing heading (null: as now).

        They stay there until the next order or dismiss(). Returns the number of the order.
        """
        spot = self._metres("place", place)
        ahead = None if heading is None else self._metres("heading", heading)[[0, -1]]
        return self._ordered(lambda: self.core.form_up(spot, ahead))

    @method
    def hold(self) -> int:
        """Order all members to stay where they are until the next order or dismiss(); return the order's number."""
        return self._ordered(self.core.hold)

    @method
    def dismiss(self) -> None:
        """End the order: the members stop, and their habits move them until the next order."""
        self.place_all()
        self.core.dismiss()
        for member in self.get_members():
            if _is_there(member):
                member.notify_trees()

    @method
    def get_order_state(self) -> str:
        """Return the state of the last order: waiting (for a path), marching, done, failed or replaced."""
        return self.core.order.state

    @method
    def get_order(self) -> dict:
        """Return the last order as a Dictionary with number, kind, goal, state and why.

        why is the reason why it failed, or will fail on arrival: while the squad marches along a partial path. It
        also names a tactic that has a task for every member, so that the slots only follow them.
        """
        order, core = self.core.order, self.core
        why = order.why
        if not why and not order.is_done and core.tasks and len(core.tasks) == len(core):
            why = (f"tactic '{core.tactic}' has a task for every member, and the slots only follow them; it continues"
                   " after use_tactic(\"\"), or when a member has no task")
        return {
            "number": order.number, "kind": order.kind, "state": order.state, "why": why,
            "goal": self._point_or_none(order.goal)}

    @method
    def is_idle(self) -> bool:
        """Return true if the squad has no order to carry out."""
        return self.core.is_idle

    @method
    def is_in_column(self) -> bool:
        """Return true while the squad marches in a column through a narrow passage."""
        return self.core.is_in_column

    @method(after_error="_no_points")
    def get_slot_places(self) -> Variant:
        """Return the positions of the slots, the commander's first: a PackedVector3Array or PackedVector2Array.

        In a column these are the places in the column, also of the commander.
        """
        return self.core.slot_positions() * np.float32(self.unit)

    @method(after_error="_no_points")
    def get_path_points(self) -> Variant:
        """Return the path of the squad, a PackedVector3Array or PackedVector2Array; empty without a path."""
        return self.core.path_points * np.float32(self.unit)

    @method
    def ground_changed(self) -> None:
        """Request the path of move_to() and form_up() again, after a door opened or closed or the map was rebuilt.

        The free ground beside the path is measured again, also of follow().
        """
        self.core.ground_changed()

    def destination_of(self, member: Any) -> Any:
        """Return the destination of a member."""
        return self.point(self.core.marchers.destinations[self.core.row_of(member.member_id)])

    def velocity_of(self, member: Any) -> Any:
        """Return the wanted velocity of a member: zero while the squad does not move its members."""
        row = self.core.row_of(member.member_id)
        return self.point(self.core.marchers.velocities[row] if self.moves_members else [0.0] * self.has_dimensions)

    def _ordered(self, give: Any) -> int:
        self.place_all()
        with refusing():
            order: Order = give()
        self.wake()
        for member in self.get_members():
            if _is_there(member):
                member.notify("order_given", self.order_for(member))
        return order.number

    def order_for(self, member: Any) -> dict[str, Any]:
        """Return the last order as the payload of an event for a member, with the present place of the member."""
        order = self.core.order
        return {
            "order": order.number, "kind": order.kind, "goal": self._point_or_none(order.goal), "target": None,
            "position": self.destination_of(member), "member": member}

    def _point_or_none(self, place: Any) -> Any:
        return None if place is None else self.point(place)

    @method
    def see(self, enemies: list) -> None:
        """Set all enemies in sight: Node3D or Node2D, whose SquadMember nodes hold their capabilities.

        A SenseSource stands for its character. An enemy without a SquadMember is of unknown strength: tactics apply to
        it, but judge() does not count it. Give it a SquadMember, in a Squad of its own side. Call see() again when an
        enemy appears, disappears or moves; an empty array ends the encounter and the tasks, but not the tactic.
        """
        own = {one.body.instance_id for one in self._members.values() if _is_there(one)}
        known = {instance: number for number, instance in self._enemies.items()}
        sightings, seen = [], {}
        for one in enemies:
            body = _character(one)
            if body is None:
                raise RefusedValue(f"an enemy must be a valid Node3D or Node2D, got {one!r}")
            if not body.is_inside_tree():
                raise RefusedValue(f"'{body.get_name()}' is not in the tree, so it has no place; leave it out")
            if body.instance_id in own:
                raise RefusedValue(f"'{body.get_name()}' is a member of the squad; give only its enemies")
            if dimensions_of(body) != self.has_dimensions:
                raise RefusedValue(f"'{body.get_name()}' is not in {self.has_dimensions}D, unlike the squad")
            number = known.get(body.instance_id)
            if number is None:
                self._last_enemy += 1
                number = known[body.instance_id] = self._last_enemy
            if number in seen:
                continue                             # two members saw the same enemy
            member = member_of(body)
            try:
                can = None if member is None else member.capabilities()
            except (TypeError, ValueError) as error:
                raise RefusedValue(f"the capabilities of '{body.get_name()}' are invalid: {error}") from None
            seen[number] = body.instance_id
            place = self._metres("an enemy's place", body.get_global_position())
            sightings.append(Sighting(number, tuple(place.tolist()), can))
        with refusing():
            self.core.set_sightings(sightings)
        self._enemies = seen

    @method
    def judge(self) -> dict:
        """Return the judgement of the enemies in sight: stance (fight, hold or retreat), power ratio and reasons.

        Enemies of unknown strength are named in the reasons; if there are no others, the squad holds.
        """
        stance = self.core.judge()
        return {"stance": stance.kind, "ratio": stance.ratio, "reasons": list(stance.reasons)}

    @method
    def use_tactic(self, name: str) -> None:
        """Use a tactic; an empty name returns to the formation."""
        self.tactic = name

    @method
    def get_tactics(self) -> PackedStringArray:
        """Return the names of all tactics."""
        return PackedStringArray(list(self.core.tactics))

    @method
    @refusing()
    def why_not(self, tactic_name: str) -> str:
        """Return why a tactic cannot be used now; empty if it can be used."""
        return self.core.why_not(tactic_name)

    @method
    def get_tasks(self) -> dict:
        """Return the tasks by SquadMember, each a Dictionary with kind, position, target and why.

        why is the reason why no path of the PathService leads to the position; else it is empty.
        """
        return {self._members[one]: self._task(one, task) for one, task in self.core.tasks.items()}

    @method
    def get_attackers(self) -> list:
        """Return the SquadMember nodes that may attack now, at most max_attackers."""
        return [self._members[one] for one in self.core.tokens.holders if one in self._members]

    def task_of(self, member: Any) -> dict:
        """Return the task of a member, empty if it has none."""
        task = self.core.tasks.get(member.member_id)
        return {} if task is None else self._task(member.member_id, task)

    def enemy(self, number: int) -> Any:
        """Return the node of an enemy, None if it is gone."""
        instance = self._enemies.get(number)
        return None if instance is None else get_object(instance)

    @property
    def enemies_by_id(self) -> dict[int, Any]:
        """The nodes of enemies inside the tree, by id."""
        found = {number: self.enemy(number) for number in sorted(self._enemies)}
        return {number: node for number, node in found.items() if node is not None and node.is_inside_tree()}

    @enemies_by_id.setter
    def enemies_by_id(self, enemies: dict[int, Any]) -> None:
        self._enemies = {number: node.instance_id for number, node in enemies.items()}

    def _task(self, number: int, task: Any) -> dict:
        return {
            "kind": task.kind, "position": self._point_or_none(task.position),
            "target": self._target(task), "why": self.core.posts.why(number)}

    def _target(self, task: Any) -> Any:
        """Return the target of a task: the character of a member for helping tasks, else an enemy."""
        if task.target is None:
            return None
        if task.kind in ("heal", "screen"):
            member = self._members.get(task.target)
            return None if member is None else member.body
        return self.enemy(task.target)

    def _take_tactic(self) -> None:
        if self._core is None:
            return
        with refusing():
            self._core.use_tactic(self.tactic or None)

    def _emit(self, kind: str, core: Any, detail: Any) -> None:
        """Emit the signal for an event of the library's squad; within ``_tells_after``, after the change."""
        if self._to_tell is not None:
            self._to_tell.append((kind, core, self._members.get(detail) if kind == "member_removed" else detail))
        elif kind == "commander_changed":
            self.commander_changed.emit(self._members.get(detail))
        elif kind == "member_added":
            self.member_joined.emit(self._members[detail])
        elif kind == "member_removed":
            self.member_lost.emit(detail)       # no member any more
        elif kind == "order_done":
            self.order_done.emit(detail.number)
        elif kind == "order_failed":
            self.order_failed.emit(detail.number, detail.why)
        elif kind in ("slots_infeasible", "tasks_given_up"):
            getattr(self, kind).emit([self._members[one] for one in detail if one in self._members])
        elif kind in ("narrowed", "widened"):
            getattr(self, kind).emit()
        elif kind == "stance_changed":
            self.stance_changed.emit(detail.kind, PackedStringArray(list(detail.reasons)))
        elif kind == "tactic_changed":
            self.__dict__[type(self).tactic.slot] = detail or ""
            self.tactic_changed.emit(detail or "")
        elif kind == "tasks_changed":
            for number in detail:
                member, task = self._members.get(number), core.tasks.get(number)
                if member is not None and member.is_valid():
                    target = None if task is None else self._target(task)
                    member.task_changed.emit("" if task is None else task.kind, target)
                    if _is_there(member):
                        place = None if task is None else self._point_or_none(task.position)
                        member.notify("task_changed", {
                            "kind": "" if task is None else task.kind, "target": target, "position": place})

    @method
    def get_grade(self, fact: str) -> float:
        """Return the grade of a fact, from 0 to 1: met, near, strong, can_hit, outnumbered, at_risk, has_order, ...

        These are the facts of tactic_rules; use them in conditions of a HabitTree.
        """
        with refusing():
            return situation_grade(fact, self.core.situation()) if len(self.core) else 0.0

    def _take_rules(self) -> None:
        if self._core is not None:
            self._core.choose_tactic = self._choice.begin(self._scheduler.faults)
        self.update_configuration_warnings()

    @method
    def get_members(self) -> list:
        """Return the SquadMember nodes of all members."""
        return list(self._members.values())

    @method
    def get_characters(self) -> list:
        """Return the character (Node3D or Node2D) of each member."""
        return [one.body for one in self._members.values()]

    @method
    def get_commander(self) -> Node:
        """Return the SquadMember of the commander, null if there is none."""
        return None if self._core is None else self._members.get(self.core.commander)

    @method
    def appoint(self, member: Node) -> None:
        """Make a member the commander until it is lost; with null, the commander is chosen by command again."""
        self.core.appoint(None if member is None else self.id_of(member))

    @method
    def get_stragglers(self) -> list:
        """Return the SquadMember nodes for which the squad no longer waits."""
        return [self._members[one] for one in self.core.stragglers]

    @method
    def split(self, members: list, squad_name: str) -> Node:
        """Move members into a new Squad with the same settings and no order, added as a sibling, and return it.

        The new squad has no script and no habits, and no tactic_rules whose facts call methods of a script.
        """
        ids = [self.id_of(one) for one in members]
        self._check_to_move(ids)
        other = construct("Squad")
        other.set_name(squad_name)
        for name in COPIED:
            other.set(name, getattr(self, name))
        rules = self.tactic_rules
        if rules is not None and not any(isinstance(one, str) for one in rules.facts.values()):
            other.tactic_rules = rules
        self.get_parent().add_child(other)
        for name, node in (("paths", self.path_service()), ("strategist", self.strategist_node())):
            if node is not None:
                other.set(name, other.get_path_to(node))
        self._give_all(ids, other)
        return other

    @method
    def merge(self, other: Node) -> None:
        """Move all members of another Squad into this squad; the other node remains, without members."""
        self._check_squad(other)
        if other == self:
            raise RefusedValue("a squad cannot merge with itself")
        other._give_all(list(other._members), self)

    @method
    def move_members(self, members: list, other: Node) -> None:
        """Move members to another Squad."""
        self._check_squad(other)
        ids = [self.id_of(one) for one in members]
        self._check_to_move(ids)
        self._give_all(ids, other)

    def enlist(self, member: Any) -> None:
        """Add a member that entered the tree; the member waits while the squad is not in use."""
        if self._core is None:
            wait_for(member, SQUADS)
            return
        body = place_of(member)
        if dimensions_of(body) != self.has_dimensions:
            report_error(
                f"is below a {body.get_class()}, but its Squad '{self.get_name()}' is {self.has_dimensions}D;"
                " change dimensions of the Squad", member)
            return
        number = 1 + max(
            (one for squad in self.get_tree().get_nodes_in_group(SQUADS) for one in squad._members), default=-1)
        try:
            terms = member.terms(self.unit)
        except (TypeError, ValueError) as error:
            report_error(f"does not join its squad until this is corrected: {error}", member)
            return
        place = [one / self.unit for one in body.get_global_position()]
        if not all(map(math.isfinite, place)):
            place = [0.0] * len(place)      # as Places does, which reports it
        with self._tells_after():
            self._enlist(member, number)
            try:
                self.core.add(number, place, **terms)
            except (TypeError, ValueError) as error:
                self._discharge(member)
                report_error(f"does not join its squad until this is corrected: {error}", member)
        self.wake()

    def lose(self, member: Any) -> None:
        """Remove a member that left the tree."""
        if self._core is not None and self._members.get(member.member_id) is member:
            with self._tells_after():
                self.core.remove(member.member_id)
                self._discharge(member)

    def give(self, member: Any, other: Any) -> None:
        """Transfer a member to another squad."""
        self._check_squad(other)
        self.place_all()
        number = member.member_id
        if number in other._members:
            raise RefusedValue(f"Squad '{other.get_name()}' already has a member with id {number}")
        core = other.core       # raises before anything changes, if the other squad does not run
        with other._tells_after(), self._tells_after():
            self.core.move_members([number], core)
            self._discharge(member)
            other._enlist(member, number)
        other.wake()

    def _give_all(self, ids: list[int], other: Any) -> None:
        """Transfer members, the commander last: else others of them would command in between."""
        with other._tells_after(), self._tells_after():
            for one in sorted(ids, key=lambda one: one == self.core.commander):
                self.give(self._members[one], other)

    def change(self, member: Any) -> None:
        """Apply changed settings of a member."""
        with refusing():
            self.core.change_member(member.member_id, **member.terms(self.unit))
        member.join_crowd()

    def discharge_all(self) -> None:
        """Release all members, which wait for another squad; called when the squad leaves the tree."""
        members, self._members = self._members, {}
        self._members_changed()
        for member in members.values():
            if member.is_valid():
                member.discharged(self)
                if member.is_inside_tree():
                    wait_for(member, SQUADS)

    def place_all(self) -> None:
        """Pass the positions of all members to the library's squad, read in one batch."""
        if self._has_changed:
            self._has_changed = False
            self._members = dict(sorted(self._members.items()))
            if self._places.positions.shape[1] != self.has_dimensions or not len(self._places.positions):
                self._places = Places(self.has_dimensions, 1 / self.unit)
            self._places.keep([one.body for one in self._members.values()])
        if self._members:
            self._places.look(0.0)
            self.core.set_positions(self._places.positions)

    def id_of(self, member: Any) -> int:
        """Return the id of a member, given its SquadMember or its character."""
        if isinstance(member, GDObject) and member.is_valid() and member.is_class("Node"):
            for number, one in self._members.items():
                if one == member or one.body == member:
                    return number
            raise RefusedValue(f"'{member.get_name()}' is not a member of Squad '{self.get_name()}'")
        raise RefusedValue(f"needs a SquadMember or its character, got {member!r}")

    @property
    def members_by_id(self) -> dict[int, Any]:
        """The SquadMember nodes by id; setting them replaces all members."""
        return self._members

    @members_by_id.setter
    def members_by_id(self, members: dict[int, Any]) -> None:
        self._discharged = list(self._members.values())
        for member in self._discharged:
            member.discharged(self)
        self._members = {}
        for number, member in members.items():
            self._enlist(member, number)

    def _enlist(self, member: Any, number: int) -> None:
        self._members[number] = member
        self._members = dict(sorted(self._members.items()))
        self._members_changed()
        member.enlisted(self, number)

    def _discharge(self, member: Any) -> None:
        self._members.pop(member.member_id, None)
        self._members_changed()
        member.discharged(self)

    def _members_changed(self) -> None:
        self._has_changed = True
        self.drop_walkers()

    def _check_squad(self, other: Any) -> None:
        if other is None or not other.is_class("Squad"):
            raise RefusedValue(f"needs another Squad, got {other!r}")
        if other.has_dimensions != self.has_dimensions:
            raise RefusedValue(
                f"Squad '{other.get_name()}' is {other.has_dimensions}D, but this squad is {self.has_dimensions}D")

    def _check_to_move(self, ids: list[int]) -> None:
        if not ids:
            raise RefusedValue("needs at least one member, got none")
        if len(set(ids)) != len(ids):
            raise RefusedValue("members must not contain a member twice")

    def drop_walkers(self) -> None:
        """Discard cached movement data; called when members change, or their movement settings do."""
        self._walkers = None

    def move_all(self, elapsed_s: float, *, stops: bool) -> None:
        """Move all characters for one frame with the velocities of the library's squad.

        Args:
            elapsed_s: game time since the last frame (s).
            stops: True to stop all members.
        """
        if self._walkers is None:
            members = list(self._members.values())
            self._walkers = WalkRow([one.walker() if _is_there(one) else None for one in members])
            self._crowd = self.crowd
            self._bodies = [one.body if _is_there(one) else None for one in members]
            self._led = [(row, one) for row, one in enumerate(members) if one.is_valid() and one.is_led()]
            self._unit = float(self.unit)
        marchers = self.core.marchers
        velocities = marchers.velocities
        if stops:
            velocities[:] = 0.0         # others must not walk around where the members would have gone
        if self.avoidance:
            velocities = self._crowd.steer_squad(self, self._bodies, velocities, marchers.speeds, self._unit)
        self._walkers.walk(velocities, marchers.rises, 0.0 if stops else self._unit, elapsed_s)
        for row, member in self._led:
            agent = member.agent() if _is_there(member) else None
            if agent is not None:
                agent.set_target_position(self.point(self.core.destinations[row]))

    def hide_squad(self) -> None:
        """Remove the drawing; it is drawn again if show_in_game is still true."""
        self._drawing.hide()

    @editor_method
    def _get_slots_drawing(self) -> dict:
        """Return lines in the world by color: the slots around the first member, in its orientation."""
        members = [one for one in nodes_of(self, "SquadMember") if one._named_squad() == self]
        bodies = [body for one in members if (body := place_of(one)) is not None]
        try:
            pattern = self._pattern()
        except RefusedValue:
            return {}
        return slots_drawing(
            pattern, len(members) or SHOWN_WITHOUT_MEMBERS, bodies[0] if bodies else None, self.has_dimensions,
            self.unit)
