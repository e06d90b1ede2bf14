"""Squad: several characters who act as one, with a commander, orders, a formation and tactics."""
from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import (
    Color,
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
    has_script_method,
    hook,
    method,
    node_path,
    report_error,
    signal,
)
from addons.ai_core.nodes.characters.agent_places import Places, dimensions_of, packed, place_of
from addons.ai_core.nodes.debugging.edited_scene import nodes_of
from addons.ai_core.nodes.debugging.line_picture import LinePicture
from addons.ai_core.nodes.rules.rule_set import RuleSet
from addons.ai_core.nodes.saving.node_settings import core_settings
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    call_waiting,
    named_after,
    report_next_frame,
    scheduler_of,
    scheduler_warnings,
    wait_for,
)
from addons.ai_core.nodes.squads.formation import Formation
from addons.ai_core.nodes.squads.squad_ground import NavigationClearance, NavigationStanding, SceneRoutes, stands
from addons.ai_core.nodes.squads.squad_member import SQUADS, member_of
from addons.ai_core.nodes.squads.squad_on_grid import SquadGrid
from addons.ai_core.nodes.squads.squad_saving import prepared_squad, saved_squad
from ai_core.decisions.rules import rule_set as library
from ai_core.decisions.rules.rule_text import RuleLine, read_rules, rules_of
from ai_core.saving.fields import State
from ai_core.scheduling.task import Task, Turn
from ai_core.scheduling.task_limits import MAX_PERIOD_FRAMES
from ai_core.squads.attack_tokens import AttackTokens
from ai_core.squads.commander import nearest_to_goal, toughest
from ai_core.squads.formation import Formation as Pattern
from ai_core.squads.formation_march import MarchSettings
from ai_core.squads.orders import Order
from ai_core.squads.situation import Sighting
from ai_core.squads.squad import BUILT_IN
from ai_core.squads.squad import Squad as CoreSquad
from ai_core.squads.stance import StancePolicy
from ai_core.squads.tactic_choice import SITUATION_FACTS, TacticByRules, situation_grade

COPIED = (
    "formation", "dimensions", "pixels_per_meter", "command", "keep_clear", "map_margin", "pace", "wait_at",
    "patience", "tolerance", "fight_at", "retreat_at", "maximum_attackers", "strategic_role",
    "think_period", "march_period", "priority", "show_in_game", "process_mode",
)
"""Settings that a squad split off has, too."""


def as_place(vector: Any, dimensions: int, unit: float, name: str) -> np.ndarray[Any, Any]:
    """Return an engine's vector in metres.

    Raises:
        RefusedValue: if it is none of so many dimensions, or not finite.
    """
    values = np.array(tuple(vector), np.float64) if type(vector).__name__ == f"Vector{dimensions}" else None
    if values is None:
        raise RefusedValue(f"{name} must be a Vector{dimensions}, got {vector!r}")
    if not np.isfinite(values).all():
        raise RefusedValue(f"{name} must be a finite place, got {vector!r}")
    return values / unit


def _is_there(member: Any) -> bool:
    return bool(member.is_valid() and member.body is not None and member.body.is_valid())


Points = NDArray[np.float32]
COMMANDER = (1.0, 0.85, 0.3)
SLOT = (0.35, 0.7, 1.0)
WAY = (0.5, 0.9, 0.4)
TO_SLOT = (0.6, 0.6, 0.65)
SIDES = 12
"""Corners of the circle that stands for a slot."""
LIFTED_M = 0.05
"""How far lines are above the ground (m), so that it does not hide them."""
SHOWN_WITHOUT_MEMBERS = 5
"""Slots that the editor shows of a squad that has no members yet (count)."""


def _placed(offsets: NDArray[np.float64], body: Any, dimensions: int) -> Points:
    """Return slots in the world, ahead and to the right of a node; about the origin if there is none."""
    if dimensions == 2:
        angle = 0.0 if body is None else body.get_global_rotation()
        origin = (0.0, 0.0) if body is None else tuple(body.get_global_position())
        ahead, right = (math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))
    else:
        angle = 0.0 if body is None else body.get_global_rotation().y
        origin = (0.0, 0.0, 0.0) if body is None else tuple(body.get_global_position())
        ahead = (-math.sin(angle), 0.0, -math.cos(angle))
        right = (math.cos(angle), 0.0, -math.sin(angle))
    return (np.array(origin) + offsets[:, :1] * ahead + offsets[:, 1:] * right).astype(np.float32)


def _rings(places: Points, radius: float) -> Points:
    """Return circles around places, as pairs of points."""
    dimensions = places.shape[1]
    angles = np.linspace(0, math.tau, SIDES + 1)
    ring = np.zeros((SIDES + 1, dimensions))
    ring[:, 0], ring[:, -1] = radius * np.cos(angles), radius * np.sin(angles)
    pairs = np.repeat(ring, 2, axis=0)[1:-1]
    return (places[:, None] + pairs[None]).reshape(-1, dimensions).astype(np.float32)


def _lifted(points: Points) -> Points:
    if points.shape[1] == 3:
        points = points + np.array([0, LIFTED_M, 0], np.float32)
    return points


def _solid(points: Points) -> Any:
    lifted = _lifted(points)
    return lifted if lifted.shape[1] == 3 else np.pad(lifted, ((0, 0), (0, 1)))


MISTAKES = (ValueError, TypeError, LookupError)


def _deciding(line: RuleLine) -> Any:
    chosen = None if line.does in ("none", "") else line.does
    return lambda mind: chosen


def _asking(squad: Any, method_name: str) -> Any:
    return lambda mind: squad.call(method_name)


IN_MEMORY = "this cannot change while the squad is in use; set it before the scene runs"


@gdclass(icon="res://addons/ai_core/icons/squad.svg", keywords="group, formation, flock, team")
class Squad(Node):
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
    dimensions = export(
        Dimensions, Dimensions.THREE, words=("3D", "2D"), live=False, doc="Whether its members are in 3D or 2D.")
    pixels_per_meter = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px", live=False,
        shown_when=("dimensions", Dimensions.TWO), doc="Pixels in a metre, in 2D.")
    command = export(
        Command, Command.NEAREST_TO_GOAL,
        doc="Who commands: the nearest to the goal; who stands most damage; whom _choose_commander() returns.")
    keep_clear = export(
        KeepClear, KeepClear.GROUND, group="March", live=False,
        doc="What slots keep inside of, so that they draw together at doors: the ground its ways lead over, which is"
            " the grid of its PathService, else the world's navigation map; nothing.")
    map_margin = export(
        float, 0.4, range=(0, 10, 0.01), or_greater=True, unit="m", live=False,
        shown_when=("keep_clear", KeepClear.GROUND),
        doc="How much smaller the navigation map is than the ground: the agent radius it was made with.")
    pace = export(
        float, 0.85, range=(0.1, 1, 0.01), live=False, core="march.pace",
        doc="Share of the slowest member's speed the slots go at; what is left is for catching up.")
    wait_at = export(
        float, 2.0, range=(0.6, 20, 0.1), or_greater=True, live=False, core="march.wait_at",
        doc="How far a member may be from his slot, in spacings, before the slots stand and wait.")
    patience = export(
        float, 5.0, range=(0.1, 60, 0.1), or_greater=True, unit="s", live=False, core="march.patience_s",
        doc="How long they wait for somebody who comes no nearer; then he is a straggler.")
    tolerance = export(
        float, 0.3, range=(0.01, 10, 0.01), or_greater=True, unit="m", live=False, core="march.tolerance_m",
        doc="Who is this near to his slot is there.")
    fight_at = export(
        float, 1.3, range=(0, 10, 0.05), or_greater=True, group="Fight", live=False, core="stance.fight_at",
        doc="From this ratio of power on it fights; 2 is as strong as twice their numbers.")
    retreat_at = export(
        float, 0.7, range=(0, 10, 0.05), or_greater=True, live=False, core="stance.retreat_at",
        doc="Below this one it retreats.")
    maximum_attackers = export(
        int, 2, range=(1, 100, 1), or_greater=True, live=False, doc="How many may attack at once.")
    tactic = export(
        str, "", on_set="_take_tactic", live=True,
        doc="The tactic in use: bounding_overwatch, flanking, healing_support, sacrifice, scouting,"
            " suppressing_fire; empty: the formation.")
    tactic_rules = export(
        RuleSet, None, live=False,
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
    think_period = export(
        int, 15, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_reschedule", doc="Frames from one thought of the commander to the next.")
    march_period = export(
        int, 2, range=(1, 60, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
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
        self._members = {}
        self._places = Places(3)
        self._has_changed = True
        self._walkers: WalkRow | None = None
        self._unit = 1.0
        self._led: list[tuple[int, Any]] = []        # rows of those whose navigation agents lead them
        self._enemies: dict[int, int] = {}          # id of an enemy -> instance id
        self._last_enemy = 0
        self._picture: Any = None

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
    def is_flat(self) -> bool:
        """Whether its members are in 2D."""
        return bool(self.dimensions == self.Dimensions.TWO)

    @property
    def has_dimensions(self) -> int:
        return 2 if self.is_flat else 3

    @property
    def unit(self) -> float:
        """How long a metre is in the scene."""
        return self.pixels_per_meter if self.is_flat else 1.0

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
            mistake = f"does not run: {error}"
            report_next_frame(self, lambda: [] if self._core is not None else [mistake])
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
        settings = core_settings(self, self.unit)
        return CoreSquad(
            str(self.get_name()), self._scheduler.clock, dimensions=self.has_dimensions, formation=self._pattern(),
            routes=SceneRoutes(self), clearance=self._clearance, choose_commander=self._commander_of,
            settings=MarchSettings(**settings["march"]),
            stance_policy=StancePolicy(**settings["stance"], last_stand_at=min(0.35, self.retreat_at)),
            tokens=AttackTokens(self.maximum_attackers), standing=self._standing,
            choose_tactic=self.tactic_chooser(),
            faults=self._scheduler.faults, on_event=self._tell)

    def _pattern(self) -> Pattern:
        return Pattern.wedge() if self.formation is None else self.formation.formation(self.unit)

    def _clearance(self, points: Any, directions: Any, most_m: float) -> Any:
        if self.keep_clear == self.KeepClear.NOTHING:
            return np.full(len(points), most_m)
        grid = self._grid_ground()
        if grid is not None:
            return grid.clearance(points, directions, most_m)
        ground = NavigationClearance(
            self.has_dimensions, self._navigation_map(), self.unit, self.map_margin / self.unit)
        return ground(points, directions, most_m)

    def _standing(self, places: Any) -> Any:
        if self.keep_clear == self.KeepClear.NOTHING:
            return places
        grid = self._grid_ground()
        if grid is not None:
            return grid.standing(places)
        standing = NavigationStanding(self.has_dimensions, self._navigation_map(), self.unit)
        first = next((row for row, one in enumerate(self._members.values()) if stands(one)), len(self._members))
        return standing(places, self.core.positions[first:first + 1])

    def _grid_ground(self) -> SquadGrid | None:
        service = self.path_service()
        ground = None if service is None else service.grid_ground
        return None if ground is None else SquadGrid(*ground, self.unit)

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
        if self._frames % self.march_period == 0 or is_resting:
            self.place_all()
            core.march(self._unmarched_s)
            self._unmarched_s = 0.0
        self._frames += 1
        self.move_all(turn.elapsed_s, stops=is_resting)
        if self.show_in_game:
            self._scheduler.draw_later(self, self.show_squad)

    def _form(self) -> None:
        if self._core is not None:
            self._core.set_formation(self._pattern())
        self.update_configuration_warnings()

    def _in_use(self) -> None:
        if self._core is not None and len(self._core):
            raise RefusedValue(IN_MEMORY)
        if self._scheduler is not None:     # nobody is here yet: begin again by what is set now
            self.on_exit_tree()
            self.on_entered()

    def _reschedule(self) -> None:
        for task, period_frames in zip(self._tasks, (self.think_period, 1), strict=False):
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

    @method
    def move_to(self, goal: Variant) -> int:
        """Order the squad to a place, a Vector3 or Vector2; one path is asked for. Return the order's number."""
        return self._ordered(lambda: self.core.move_to(as_place(goal, self.has_dimensions, self.unit, "goal")))

    @method
    def follow(self, points: Variant) -> int:
        """Order the squad along a way: a PackedVector3Array, or PackedVector2Array."""
        way = packed(points, self.has_dimensions, "points").astype(np.float64)
        if not len(way):
            raise RefusedValue("points must have at least one place, got none; use hold() to stay")
        return self._ordered(lambda: self.core.follow(way / self.unit))

    @method
    def form_up(self, place: Variant, heading: Variant = None) -> int:
        """Order the squad to stand somewhere in formation, looking in a direction (null: as now)."""
        spot = as_place(place, self.has_dimensions, self.unit, "place")
        ahead = None if heading is None else as_place(heading, self.has_dimensions, 1.0, "heading")
        if ahead is not None and self.has_dimensions == 3:
            ahead = ahead[[0, 2]]
        return self._ordered(lambda: self.core.form_up(spot, ahead))

    @method
    def hold(self) -> int:
        """Order everybody to stay where he is."""
        return self._ordered(self.core.hold)

    @method
    def get_order_state(self) -> str:
        """Return how the last order stands: waiting (for a path), marching, done, failed or replaced."""
        return self.core.order.state

    @method
    def get_order(self) -> dict:
        """Return the last order: number, kind, goal, state, why."""
        order = self.core.order
        return {
            "number": order.number, "kind": order.kind, "state": order.state, "why": order.why,
            "goal": None if order.goal is None else self.point(order.goal)}

    @method
    def is_idle(self) -> bool:
        """Return whether there is no order left to carry out."""
        return self.core.is_idle

    @method
    def is_in_column(self) -> bool:
        """Return whether it goes in a column, through a narrow passage."""
        return self.core.is_in_column

    @method
    def get_slot_places(self) -> Variant:
        """Return where the slots are now, the commander's first: a PackedVector3Array or PackedVector2Array."""
        return self.core.slot_positions() * np.float32(self.unit)

    @method
    def get_path_points(self) -> Variant:
        """Return the way it goes; empty while there is none."""
        return self.core.path_points * np.float32(self.unit)

    @method
    def ground_changed(self) -> None:
        """Measure anew what is free beside the path: a door was shut, the navigation map was made anew."""
        self.core.ground_changed()

    def destination_of(self, member: Any) -> Any:
        """Return where a member is to go."""
        return self.point(self.core.marchers.destinations[self.core.row_of(member.member_id)])

    def velocity_of(self, member: Any) -> Any:
        """Return how a member should move."""
        return self.point(self.core.marchers.velocities[self.core.row_of(member.member_id)])

    def _ordered(self, give: Any) -> int:
        self.place_all()
        try:
            order: Order = give()
        except (TypeError, ValueError) as error:
            raise RefusedValue(str(error)) from None
        self.wake()
        return order.number

    @method
    def see(self, enemies: list) -> None:
        """Tell whom the squad meets now, all of them: characters, whose SquadMember says what they can do.

        Call it again when somebody comes, goes or has moved; an empty array ends it.
        """
        known = {instance: number for number, instance in self._enemies.items()}
        sightings, seen = [], {}
        for one in enemies:
            if not isinstance(one, GDObject) or not one.is_valid() or place_of(one) is None:
                raise RefusedValue(f"an enemy must be a Node3D or Node2D that is there, got {one!r}")
            body = place_of(one)
            if dimensions_of(body) != self.has_dimensions:
                raise RefusedValue(f"'{body.get_name()}' is not in {self.has_dimensions}D, as the squad is")
            number = known.get(body.instance_id)
            if number is None:
                self._last_enemy += 1
                number = known[body.instance_id] = self._last_enemy
            if number in seen:
                continue                             # two members saw the same
            member = member_of(body)
            try:
                can = None if member is None else member.capabilities()
            except (TypeError, ValueError) as error:
                raise RefusedValue(f"what '{body.get_name()}' can do is not known: {error}") from None
            seen[number] = body.instance_id
            place = as_place(body.get_global_position(), self.has_dimensions, self.unit, "an enemy's place")
            sightings.append(Sighting(number, tuple(place.tolist()), can))
        try:
            self.core.see(sightings)
        except (TypeError, ValueError) as error:
            raise RefusedValue(str(error)) from None
        self._enemies = seen

    @method
    def judge(self) -> dict:
        """Return whether to fight, hold or retreat from whom it sees: stance, ratio of power, reasons."""
        stance = self.core.judge()
        return {"stance": stance.kind, "ratio": stance.ratio, "reasons": list(stance.reasons)}

    @method
    def use_tactic(self, name: str) -> None:
        """Act by a tactic; an empty name goes back to the formation."""
        self.tactic = name

    @method
    def get_tactics(self) -> PackedStringArray:
        """Return the names of the tactics it knows."""
        return PackedStringArray(list(self.core.tactics))

    @method
    def why_not(self, tactic_name: str) -> str:
        """Return why a tactic cannot be used now; empty if it can."""
        try:
            return self.core.why_not(tactic_name)
        except LookupError as error:
            raise RefusedValue(str(error)) from None

    @method
    def get_tasks(self) -> dict:
        """Return the task of each SquadMember that has one: kind, position, target."""
        return {self._members[one]: self._task(task) for one, task in self.core.tasks.items()}

    @method
    def get_attackers(self) -> list:
        """Return the SquadMembers whose turn it is to attack."""
        return [self._members[one] for one in self.core.tokens.holders if one in self._members]

    def task_of(self, member: Any) -> dict:
        """Return the task of a member, empty if it has none."""
        task = self.core.tasks.get(member.member_id)
        return {} if task is None else self._task(task)

    def enemy(self, number: int) -> Any:
        """Return the node of an enemy, None if it is gone."""
        instance = self._enemies.get(number)
        return None if instance is None else get_object(instance)

    def _task(self, task: Any) -> dict:
        return {
            "kind": task.kind, "position": None if task.position is None else self.point(task.position),
            "target": self._target(task)}

    def _target(self, task: Any) -> Any:
        """Return whom a task is about: a member's character for those that help, else an enemy."""
        if task.target is None:
            return None
        if task.kind in ("heal", "screen"):
            member = self._members.get(task.target)
            return None if member is None else member.body
        return self.enemy(task.target)

    def _take_tactic(self) -> None:
        if self._core is None:
            return
        try:
            self._core.use_tactic(self.tactic or None)
        except LookupError as error:
            raise RefusedValue(str(error)) from None

    def _tell(self, kind: str, core: Any, detail: Any) -> None:
        """Emit what the library's squad tells."""
        if kind == "commander_changed":
            self.commander_changed.emit(self._members.get(detail))
        elif kind == "member_added":
            self.member_joined.emit(self._members[detail])
        elif kind == "member_removed":
            self.member_lost.emit(self._members.get(detail))
        elif kind == "order_done":
            self.order_done.emit(detail.number)
        elif kind == "order_failed":
            self.order_failed.emit(detail.number, detail.why)
        elif kind == "slots_infeasible":
            self.slots_infeasible.emit([self._members[one] for one in detail])
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

    @method
    def get_grade(self, fact: str) -> float:
        """Return how far something is so, 0 to 1: met, near, strong, can_hit, outnumbered, at_risk, under_way, …

        The same facts that rules ask; for the conditions of a HabitTree.
        """
        try:
            return situation_grade(fact, self.core.situation()) if len(self.core) else 0.0
        except LookupError as error:
            raise RefusedValue(str(error)) from None

    def tactic_chooser(self) -> Any:
        """Return what the library's squad asks at each thought.

        Raises:
            RefusedValue: if the rules cannot be used.
        """
        if has_script_method(self, "_choose_tactic") or self.tactic_rules is None:
            return self._asked_tactic
        return TacticByRules(self.rules_of_tactics(), faults=self._scheduler.faults)

    def rules_of_tactics(self) -> library.RuleSet:
        """Return the rules with the facts of a squad: what stands behind "do" is a tactic.

        Raises:
            RefusedValue: naming rule, line and column.
        """
        resource = self.tactic_rules
        facts = {**SITUATION_FACTS, **{
            str(name): _asking(self, value) if isinstance(value, str) else value
            for name, value in resource.facts.items()}}
        parameters = {str(name): value for name, value in resource.parameters.items()}
        known = (*(one.name for one in BUILT_IN), "none", "")
        try:
            for line in read_rules(resource.rules):
                if not line.concludes and line.does not in known:
                    raise ValueError(f"rule {line.name!r} does {line.does!r}; write one of {', '.join(known[:-1])}")
                if not line.concludes and not line.repeats:
                    raise ValueError(f"rule {line.name!r} must repeat, as it is asked at each thought; add \"repeats\"")
            return library.RuleSet(
                rules_of(resource.rules, facts, parameters, _deciding), facts=facts, parameters=parameters)
        except MISTAKES as mistake:
            raise RefusedValue(f"tactic_rules cannot be used: {mistake}") from None

    def choosing_warnings(self) -> list[str]:
        """Return what is wrong with rules and habits."""
        warnings = []
        if self.tactic_rules is not None:
            try:
                self.rules_of_tactics()
            except RefusedValue as mistake:
                warnings.append(f"{mistake}; it will not run")
        if str(self.habits) and self._habit_tree() is None:
            warnings.append(f"habits names '{self.habits}', which is no HabitTree; nobody chooses tactics")
        return warnings

    def _asked_tactic(self, situation: Any) -> str | None:
        if has_script_method(self, "_choose_tactic"):
            return self._choose_tactic() or None
        tree = self._habit_tree()
        if tree is None:
            return self.core.tactic
        names = [name for path in tree.get_active_paths() for name in reversed(str(path).split("/"))]
        return next((one for one in names if one in self.core.tactics), None)

    def _habit_tree(self) -> Any:
        found = self.get_node_or_null(self.habits) if str(self.habits) else None
        return found if found is not None and found.is_class("HabitTree") else None

    @method
    def get_members(self) -> list:
        """Return its SquadMember nodes."""
        return list(self._members.values())

    @method
    def get_characters(self) -> list:
        """Return the Node3D or Node2D of each member."""
        return [one.body for one in self._members.values()]

    @method
    def get_commander(self) -> Node:
        """Return the SquadMember who commands, null if there is none."""
        return None if self._core is None else self._members.get(self.core.commander)

    @method
    def appoint(self, member: Node) -> None:
        """Make a member the commander until it is lost; null lets one be chosen again."""
        self.core.appoint(None if member is None else self.id_of(member))

    @method
    def get_stragglers(self) -> list:
        """Return the members who are waited for no more."""
        return [self._members[one] for one in self.core.stragglers]

    @method
    def split(self, members: list, squad_name: str) -> Node:
        """Make some members a Squad of their own, beside this one, with the same settings and no order; return it.

        It has no script and no habits, which know of this one; tactic_rules whose facts ask a script stay here.
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
        for one in ids:
            self.give(self._members[one], other)
        return other

    @method
    def merge(self, other: Node) -> None:
        """Take in all members of another Squad, which stays, and is empty."""
        self._check_squad(other)
        if other == self:
            raise RefusedValue("a squad cannot take in its own members")
        for member in list(other._members.values()):
            other.give(member, self)

    @method
    def move_members(self, members: list, other: Node) -> None:
        """Give members to another Squad."""
        self._check_squad(other)
        ids = [self.id_of(one) for one in members]
        self._check_to_move(ids)
        for one in ids:
            self.give(self._members[one], other)

    def enlist(self, member: Any) -> None:
        """Take in a member that entered the tree; it waits while the squad is not in use."""
        if self._core is None:
            wait_for(member, SQUADS)
            return
        body = place_of(member)
        if dimensions_of(body) != self.has_dimensions:
            report_error(
                f"is below a {body.get_class()}, and its Squad '{self.get_name()}' is in {self.has_dimensions}D;"
                " set dimensions there", member)
            return
        number = 1 + max(
            (one for squad in self.get_tree().get_nodes_in_group(SQUADS) for one in squad._members), default=-1)
        try:
            terms = member.terms(self.unit)
        except (TypeError, ValueError) as error:
            report_error(f"does not join its squad until that is set right: {error}", member)
            return
        place = [one / self.unit for one in body.get_global_position()]
        if not all(map(math.isfinite, place)):
            place = [0.0] * len(place)      # as Places takes it to be, which names it
        self._let_in(member, number)
        try:
            self.core.add(number, place, **terms)
        except (TypeError, ValueError) as error:
            self._let_go(member)
            report_error(f"does not join its squad until that is set right: {error}", member)

    def lose(self, member: Any) -> None:
        """A member left the tree."""
        if self._core is not None and self._members.get(member.member_id) is member:
            self.core.remove(member.member_id)
            self._let_go(member)

    def give(self, member: Any, other: Any) -> None:
        """Hand a member over to another squad."""
        self.place_all()
        number = member.member_id
        if number in other._members:
            raise RefusedValue(f"Squad '{other.get_name()}' has a member of the same id; that should not happen")
        core = other.core       # refused before anything changes, if that one does not run
        other._members[number] = member
        self.core.move_members([number], core)
        self._let_go(member)
        other._let_in(member, number)

    def change(self, member: Any) -> None:
        """Settings of a member are others now."""
        try:
            self.core.change_member(member.member_id, **member.terms(self.unit))
        except (TypeError, ValueError) as error:
            raise RefusedValue(str(error)) from None

    def discharge_all(self) -> None:
        """The squad leaves the tree: its members wait for another."""
        members, self._members = self._members, {}
        self._others_are_here()
        for member in members.values():
            if member.is_valid():
                member.discharged(self)
                if member.is_inside_tree():
                    wait_for(member, SQUADS)

    def place_all(self) -> None:
        """Tell the library's squad where everybody is, read in one batch."""
        if self._has_changed:
            self._has_changed = False
            self._members = dict(sorted(self._members.items()))
            if self._places.positions.shape[1] != self.has_dimensions or not len(self._places.positions):
                self._places = Places(self.has_dimensions, 1 / self.unit)
            self._places.keep([one.body for one in self._members.values()])
        if self._members:
            self._places.look(0.0)
            self.core.place(self._places.positions)

    def id_of(self, member: Any) -> int:
        """Return the id of a member, told by its SquadMember or its character."""
        if isinstance(member, GDObject) and member.is_valid() and member.is_class("Node"):
            for number, one in self._members.items():
                if one == member or one.body == member:
                    return number
            raise RefusedValue(f"'{member.get_name()}' is no member of Squad '{self.get_name()}'")
        raise RefusedValue(f"needs a SquadMember or its character, got {member!r}")

    def replace_members(self, members: dict[int, Any]) -> None:
        """Have these members, by id, as a loaded game had them."""
        for member in self._members.values():
            member.discharged(self)
        self._members = {}
        for number, member in members.items():
            self._let_in(member, number)

    def _let_in(self, member: Any, number: int) -> None:
        self._members[number] = member
        self._members = dict(sorted(self._members.items()))
        self._others_are_here()
        member.enlisted(self, number)

    def _let_go(self, member: Any) -> None:
        self._members.pop(member.member_id, None)
        self._others_are_here()
        member.discharged(self)

    def _others_are_here(self) -> None:
        self._has_changed = True
        self.move_otherwise()
        self.wake()

    def _check_squad(self, other: Any) -> None:
        if other is None or not other.is_class("Squad"):
            raise RefusedValue(f"needs another Squad, got {other!r}")
        if other.has_dimensions != self.has_dimensions:
            raise RefusedValue(f"Squad '{other.get_name()}' is in {other.has_dimensions}D, this one is not")

    def _check_to_move(self, ids: list[int]) -> None:
        if not ids:
            raise RefusedValue("needs at least one member, got none")
        if len(set(ids)) != len(ids):
            raise RefusedValue("a member comes twice")

    def move_otherwise(self) -> None:
        """Members are others, or move in another way."""
        self._walkers = None

    def move_all(self, elapsed_s: float, *, stops: bool) -> None:
        """Move characters by a frame as the library's squad says.

        Args:
            elapsed_s: game time since the last frame (s).
            stops: nobody is to go any further.
        """
        if self._walkers is None:
            members = list(self._members.values())
            self._walkers = WalkRow([one.walker() if _is_there(one) else None for one in members])
            self._led = [(row, one) for row, one in enumerate(members) if one.is_valid() and one.is_led()]
            self._unit = float(self.unit)
        marchers = self.core.marchers
        self._walkers.walk(marchers.velocities, marchers.rises, 0.0 if stops else self._unit, elapsed_s)
        for row, member in self._led:
            agent = member.agent() if _is_there(member) else None
            if agent is not None:
                agent.set_target_position(self.point(self.core.destinations[row]))

    def show_squad(self) -> None:
        """Draw the squad where it is now. Cost: O(members), for looking at, not for players."""
        if self._picture is None:
            self._picture = LinePicture(self, is_flat=self.has_dimensions == 2)
        core, unit = self.core, np.float32(self.unit)
        slots = core.slot_positions() * unit
        ways = np.stack([core.positions * unit, core.destinations * unit], axis=1).reshape(-1, self.has_dimensions)
        way = core.path_points * unit
        radius = 0.3 * core.formation.spacing_m * self.unit
        lines = [(ways, TO_SLOT), (_rings(slots[1:], radius), SLOT), (_rings(slots[:1], radius), COMMANDER)]
        if len(way) > 1:
            lines.append((np.repeat(way, 2, axis=0)[1:-1], WAY))
        self._picture.draw([(_lifted(one), color) for one, color in lines])

    def hide_squad(self) -> None:
        """Take the picture away; it is drawn again if it is still wanted."""
        if self._picture is not None:
            self._picture.free()
            self._picture = None

    @editor_method
    def _get_slots_drawing(self) -> dict:
        """Return lines in the world, by color: the slots around its first member, as it looks."""
        members = [one for one in nodes_of(self, "SquadMember") if one._named_squad() == self]
        bodies = [body for one in members if (body := place_of(one)) is not None]
        try:
            pattern = self._pattern()
        except RefusedValue:
            return {}
        offsets = pattern.slots(len(members) or SHOWN_WITHOUT_MEMBERS) * self.unit
        places = _placed(offsets, bodies[0] if bodies else None, self.has_dimensions)
        radius = 0.3 * pattern.spacing_m * self.unit
        return {
            Color(*color, 1.0): _solid(_rings(rows, radius))
            for color, rows in ((COMMANDER, places[:1]), (SLOT, places[1:])) if len(rows)}
