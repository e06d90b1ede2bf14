"""Squad: several characters who act as one, with a commander, orders, a formation and tactics."""
from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import (
    Node,
    NodePath,
    PackedStringArray,
    RefusedValue,
    Variant,
    Vector2,
    Vector3,
    export,
    gdclass,
    has_script_method,
    hook,
    method,
    node_path,
    report_error,
    signal,
)
from addons.ai_core.nodes.rules.rule_set import RuleSet
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.scheduled import call_waiting, named_after, scheduler_of, scheduler_warnings
from addons.ai_core.nodes.squads.formation import Formation
from addons.ai_core.nodes.squads.squad_choosing import SquadChoosing
from addons.ai_core.nodes.squads.squad_drawing import SquadDrawing
from addons.ai_core.nodes.squads.squad_ground import NavigationClearance, NavigationStanding, SceneRoutes, stands
from addons.ai_core.nodes.squads.squad_joining import SquadJoining
from addons.ai_core.nodes.squads.squad_meeting import SquadMeeting
from addons.ai_core.nodes.squads.squad_member import SQUADS
from addons.ai_core.nodes.squads.squad_moving import SquadMoving
from addons.ai_core.nodes.squads.squad_on_grid import GridGround
from addons.ai_core.nodes.squads.squad_ordering import SquadOrdering
from addons.ai_core.nodes.squads.squad_saving import prepared_squad, saved_squad
from ai_core.saving.fields import State
from ai_core.scheduling.task import Task, Turn
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.commander import nearest_to_goal, toughest
from ai_core.squads.formation import Formation as Pattern
from ai_core.squads.formation_march import MarchSettings
from ai_core.squads.squad import Squad as CoreSquad
from ai_core.squads.stance import StancePolicy

IN_MEMORY = "this cannot change while the squad is in use; set it before the scene runs"


@gdclass(icon="res://addons/ai_core/icons/squad.svg")
class Squad(SquadOrdering, SquadMeeting, SquadChoosing, SquadJoining, SquadMoving, SquadDrawing, Node):
    """Several characters who act as one: a commander thinks for all, one path leads them, each keeps his slot.

    Its members are the characters with a SquadMember below them that names it, or is below it. Give it orders
    with move_to(); see() whom it meets, and it judges, and acts by tactics.
    """

    class Dimensions(IntEnum):
        THREE = 0
        TWO = 1

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

    formation = export(Formation, None, on_set="_form", doc="How it goes; none is a wedge of two metres.")
    paths = export(
        NodePath, NodePath(""), hint=node_path("PathService"), doc="The PathService it asks for ways; empty: straight.")
    dimensions = export(Dimensions, Dimensions.THREE, on_set="_in_use", doc="Whether its members are in 3D or 2D.")
    pixels_per_m = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px", on_set="_in_use",
        shown_when=("dimensions", Dimensions.TWO), doc="How long a metre is in 2D; distances here are in metres.")
    command = export(
        Command, Command.NEAREST_TO_GOAL,
        doc="Who commands: the nearest to the goal; who stands most damage; whom _choose_commander() returns.")
    keep_clear = export(
        KeepClear, KeepClear.GROUND, group="March", on_set="_in_use",
        doc="What slots keep inside of, so that they draw together at doors: the ground its ways lead over, which is"
            " the grid of its PathService, else the world's navigation map; nothing.")
    map_margin_m = export(
        float, 0.4, range=(0, 10, 0.01), or_greater=True, unit="m", on_set="_in_use",
        shown_when=("keep_clear", KeepClear.GROUND),
        doc="How much smaller the navigation map is than the ground: the agent radius it was made with.")
    pace = export(
        float, 0.85, range=(0.1, 1, 0.01), on_set="_in_use",
        doc="Share of the slowest member's speed the slots go at; what is left is for catching up.")
    wait_at = export(
        float, 2.0, range=(0.6, 20, 0.1), or_greater=True, on_set="_in_use",
        doc="How far a member may be from his slot, in spacings, before the slots stand and wait.")
    patience_s = export(
        float, 5.0, range=(0.1, 60, 0.1), or_greater=True, unit="s", on_set="_in_use",
        doc="How long they wait for somebody who comes no nearer; then he is a straggler.")
    tolerance_m = export(
        float, 0.3, range=(0.01, 10, 0.01), or_greater=True, unit="m", on_set="_in_use",
        doc="Who is this near to his slot is there.")
    fight_at = export(
        float, 1.3, range=(0, 10, 0.05), or_greater=True, group="Fight", on_set="_in_use",
        doc="From this ratio of power on it fights; 2 is as strong as twice their numbers.")
    retreat_at = export(
        float, 0.7, range=(0, 10, 0.05), or_greater=True, on_set="_in_use", doc="Below this one it retreats.")
    maximum_attackers = export(
        int, 2, range=(1, 100, 1), or_greater=True, on_set="_in_use", doc="How many may attack at once.")
    tactic = export(
        str, "", on_set="_take_tactic",
        doc="The tactic in use: bounding_overwatch, flanking, healing_support, sacrifice, scouting,"
            " suppressing_fire; empty: the formation.")
    tactic_rules = export(
        RuleSet, None, on_set="_in_use",
        doc="Chooses the tactic at each thought: \"do flanking\" of the first rule that fires. Facts are met, near,"
            " strong, can_hit, outnumbered, at_risk, under_way, has_healer, has_scout, and those of the rules.")
    habits = export(
        NodePath, NodePath(""), hint=node_path("HabitTree"),
        doc="A HabitTree that chooses instead: the tactic is whichever habit is active that has the name of one.")
    strategist = export(
        NodePath, NodePath(""), hint=node_path("Strategist"), group="Strategy",
        doc="Whose missions it carries out; empty: those of the Strategist above it, if there is one.")
    strategic_role = export(
        StrategicRole, StrategicRole.ARMY, doc="What that Strategist has it for: to fight, to scout, to gather.")
    think_period_frames = export(
        int, 15, range=(1, 600, 1), or_greater=True, unit="frames", group="Optimizations", on_set="_reschedule",
        doc="Frames from one thought of the commander to the next.")
    march_period_frames = export(
        int, 2, range=(1, 60, 1), or_greater=True, unit="frames",
        doc="Frames from one step of the slots to the next; members move in every frame.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", doc="Weight of its share of the budget.")
    show_in_game = export(
        bool, False, group="Debug", on_set="hide_squad",
        doc="Draw path, slots and who goes where; the commander's slot is yellow.")

    commander_changed = signal(("commander", Node), doc="Somebody else commands; null if nobody is left.")
    member_joined = signal(("member", Node), doc="A SquadMember was taken in.")
    member_lost = signal(("member", Node), doc="A SquadMember left, or was freed.")
    order_done = signal(("order", int), doc="Everybody who could is where the order told.")
    order_failed = signal(("order", int), ("why", str), doc="The order cannot be carried out.")
    slots_infeasible = signal(
        ("members", list), doc="There is no slot that these members may take; they come along in what is left.")
    narrowed = signal(doc="It goes in a column, through a narrow passage.")
    widened = signal(doc="It goes in its formation again.")
    stance_changed = signal(
        ("stance", str), ("reasons", PackedStringArray), doc="It would fight, hold or retreat now, and why.")
    mission_given = signal(
        ("kind", str), ("place", Variant), ("why", str),
        doc="Its Strategist has another mission for it: scout, gather, regroup, search, attack, defend or retreat;"
            " it is on its way.")
    tactic_changed = signal(("tactic", str), doc="Another tactic is in use; empty: none.")

    def __init__(self) -> None:
        self._core: CoreSquad | None = None
        self._scheduler: Any = None
        self._tasks: list[Task] = []
        self._unmarched_s, self._frames = 0.0, 0
        self._is_resting = True
        self.begin_joining()
        self.begin_moving()
        self.begin_meeting()
        self.begin_drawing()

    @hook
    def _choose_commander(self, members: list) -> Node:
        """Return which of these SquadMembers commands; asked if command is SCRIPT."""

    @hook
    def _choose_tactic(self) -> str:
        """Return the name of the tactic to use, empty for none; asked at each thought if a script has it."""
        return ""

    @property
    def core(self) -> CoreSquad:
        """The squad of the library, for behaviors written in Python."""
        if self._core is None:
            raise RefusedValue("Squad needs an AIScheduler; add it to a scene that has one before using it")
        return self._core

    @property
    def has_dimensions(self) -> int:
        return 3 if self.dimensions == self.Dimensions.THREE else 2

    @property
    def unit(self) -> float:
        """How long a metre is in the scene."""
        return 1.0 if self.has_dimensions == 3 else self.pixels_per_m

    def on_enter_tree(self) -> None:
        self.add_to_group(SQUADS)

    def on_entered(self) -> None:
        if self._core is not None:
            return
        self._scheduler = scheduler_of(self)
        if self._scheduler is None:
            return
        try:
            self._core = self._made_core()
        except (TypeError, ValueError) as error:
            report_error(f"does not run: {error}", self)
            return
        self._tasks = [
            self._scheduler.schedule(
                self._think, name=named_after(self._scheduler, self, " thinks"),
                period_frames=self.think_period_frames, priority=self.priority),
            self._scheduler.schedule(
                self._frame, name=named_after(self._scheduler, self, " marches"), period_frames=1, phase_frames=0,
                priority=self.priority)]
        self._scheduler.join(self)
        call_waiting(self, SQUADS)
        if self.tactic:
            self._take_tactic()

    def on_exit_tree(self) -> None:
        if self._scheduler is not None and self._scheduler.is_valid():
            for task in self._tasks:
                self._scheduler.unschedule(task)
            self._scheduler.leave(self)
        self.discharge_all()
        self.hide_squad()
        self._core, self._scheduler, self._tasks = None, None, []

    def path_service(self) -> Any:
        """Return the PathService it names, None if there is none."""
        found = self.get_node_or_null(self.paths) if str(self.paths) else None
        return found if found is not None and found.is_class("PathService") else None

    def strategist_node(self) -> Any:
        """Return the Strategist whose missions it carries out, None if there is none."""
        if str(self.strategist):
            found = self.get_node_or_null(self.strategist)
            return found if found is not None and found.is_class("Strategist") else None
        above = self.get_parent()
        while above is not None and not above.is_class("Strategist"):
            above = above.get_parent()
        return above

    @property
    def role_name(self) -> str:
        """What its Strategist has it for."""
        return str(self.StrategicRole(self.strategic_role).name).lower()

    def point(self, place: Any) -> Any:
        """Return a place (m) as the engine's vector."""
        return (Vector3 if self.has_dimensions == 3 else Vector2)(*(float(one) * self.unit for one in place))

    @method
    def get_stats(self) -> dict:
        """Return counts: members, stragglers, orders, paths requested, thoughts; and the farthest from a slot."""
        return dict(self.core.statistics)

    save_state, load_state = saving("members, order, path, slots, tactic")

    def is_in_use(self) -> bool:
        return self._core is not None

    def saved(self) -> State:
        return saved_squad(self)

    def prepared(self, state: object) -> Callable[[], None]:
        return prepared_squad(self, state)

    def _made_core(self) -> CoreSquad:
        if self.wait_at <= 0.5:
            raise ValueError(f"wait_at must be above 0.5, got {self.wait_at:g}")
        return CoreSquad(
            str(self.get_name()), self._scheduler.clock, dimensions=self.has_dimensions, formation=self._pattern(),
            routes=SceneRoutes(self), clearance=self._clearance, choose_commander=self._commander_of,
            settings=MarchSettings(
                pace=self.pace, wait_at=self.wait_at, patience_s=self.patience_s, tolerance_m=self.tolerance_m),
            stance_policy=StancePolicy(
                fight_at=self.fight_at, retreat_at=self.retreat_at, last_stand_at=min(0.35, self.retreat_at)),
            tokens=AttackTokens(self.maximum_attackers), standing=self._standing,
            choose_tactic=self.tactic_chooser(),
            faults=self._scheduler.faults, on_event=self._tell)

    def _pattern(self) -> Pattern:
        return Pattern.wedge() if self.formation is None else self.formation.formation()

    def _clearance(self, points: Any, directions: Any, most_m: float) -> Any:
        if self.keep_clear == self.KeepClear.NOTHING:
            return np.full(len(points), most_m)
        grid = self._grid_ground()
        if grid is not None:
            return grid.clearance(points, directions, most_m)
        return NavigationClearance(
            self.has_dimensions, self._navigation_map(), self.unit, self.map_margin_m)(points, directions, most_m)

    def _standing(self, places: Any) -> Any:
        if self.keep_clear == self.KeepClear.NOTHING:
            return places
        grid = self._grid_ground()
        if grid is not None:
            return grid.standing(places)
        standing = NavigationStanding(self.has_dimensions, self._navigation_map(), self.unit)
        first = next((row for row, one in enumerate(self._members.values()) if stands(one)), len(self._members))
        return standing(places, self.core.positions[first:first + 1])

    def _grid_ground(self) -> GridGround | None:
        service = self.path_service()
        ground = None if service is None else service.grid_ground
        return None if ground is None else GridGround(*ground, self.unit)

    def _navigation_map(self) -> Any:
        viewport = self.get_viewport()
        world = viewport.find_world_3d() if self.has_dimensions == 3 else viewport.find_world_2d()
        return world.get_navigation_map()

    def _commander_of(self, members: Any, positions: Any, goal: Any) -> int:
        if self.command == self.Command.SCRIPT and has_script_method(self, "_choose_commander"):
            chosen = self._choose_commander([self._members[one] for one in members])
            return getattr(chosen, "member_id", -1)
        rule = toughest if self.command == self.Command.TOUGHEST else nearest_to_goal
        return rule(members, positions, goal)

    def _think(self, turn: Turn) -> None:
        if self.can_process():
            self.place_all()
            self.core.think(turn)
            self.wake()

    def wake(self) -> None:
        """March in every frame from the next one on, if there is something to do."""
        if self._tasks and self._tasks[1].is_paused and self._has_to_do():
            self._is_resting = True                  # also if it was loaded as one on the march
            self._scheduler.core.resume(self._tasks[1])

    def _has_to_do(self) -> bool:
        return bool(self._members) and (not self.core.is_idle or bool(self.core.tasks))

    def _frame(self, turn: Turn) -> None:
        core = self.core
        if not self.can_process():
            return
        was_resting, self._is_resting = self._is_resting, not self._has_to_do()
        if was_resting:
            if self._is_resting:                     # members are the game's
                self._scheduler.core.pause(self._tasks[1])
            return                                   # the time since it last marched is nobody's
        is_resting = self._is_resting
        self._unmarched_s += turn.elapsed_s
        if self._frames % self.march_period_frames == 0 or is_resting:
            self.place_all()
            core.march(self._unmarched_s)
            self._unmarched_s = 0.0
        self._frames += 1
        self.move_all(turn.elapsed_s, stops=is_resting)
        if self.show_in_game:
            self.show_squad()

    def _form(self) -> None:
        if self._core is not None:
            self._core.set_formation(self._pattern())
        self.update_configuration_warnings()

    def _in_use(self) -> None:
        if self._core is not None:
            raise RefusedValue(IN_MEMORY)

    def _reschedule(self) -> None:
        for task, period_frames in zip(self._tasks, (self.think_period_frames, 1), strict=False):
            self._scheduler.reschedule(task, period_frames=period_frames, phase_frames=None, priority=self.priority)

    def _get_configuration_warnings(self) -> list[str]:
        warnings = []
        if str(self.paths) and self.path_service() is None:
            warnings.append(f"paths names '{self.paths}', which is no PathService; it will go straight")
        if str(self.strategist) and self.strategist_node() is None:
            warnings.append(f"strategist names '{self.strategist}', which is no Strategist; nobody gives it missions")
        if self.retreat_at > self.fight_at:
            warnings.append(
                f"retreat_at must not be above fight_at, got {self.retreat_at:g} and {self.fight_at:g};"
                " it will not run")
        try:
            self._pattern()
        except RefusedValue as error:
            warnings.append(f"{error}; it will not run")
        return [*warnings, *self.choosing_warnings(), *scheduler_warnings(self)]
