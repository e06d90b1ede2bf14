"""Strategist: the commander of a side, which gives missions to squads and orders products."""
from __future__ import annotations

import random
from collections.abc import Generator, Iterable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.declarations import array_of
from addons.ai_core.bridge.gd import (
    Node,
    NodePath,
    PackedStringArray,
    RefusedValue,
    Variant,
    export,
    gdclass,
    method,
    node_path,
    refusing,
    report_error,
    signal,
)
from addons.ai_core.nodes.characters.agent_places import no_points
from addons.ai_core.nodes.saving.node_settings import core_settings
from addons.ai_core.nodes.saving.node_state import SavedState
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.named_nodes import named_node, why_not_named
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    leave_scheduler,
    named_after,
    nearest,
    report_next_frame,
    scheduler_of,
    scheduler_warnings,
    wait_for,
)
from addons.ai_core.nodes.squads.strategist_reports import FIRST_MET, FIRST_NUMBER, StrategistReports, StrategistSquads
from ai_core.errors import UnknownNameError, finite_number
from ai_core.maps.choke_points import choke_points
from ai_core.saving.declared_state import DeclaredState, Part
from ai_core.saving.fields import State
from ai_core.scheduling.task import MAX_PERIOD_FRAMES, Task, Turn
from ai_core.squads.strategy import strategist as library
from ai_core.squads.strategy.posture import Personality
from ai_core.squads.strategy.production import BuildOrder, Product, TechnologyTree
from ai_core.squads.strategy.strategic_situation import Mission, Purchase, StrategicPlan

NEEDED_LAYERS = ("resources", "threat", "conflict", "exploration")


MAPS = "decision_maps"
LOST_MAP = "its DecisionMap was freed, so it decides nothing"
WITHOUT_MAP = "found no DecisionMap and decides nothing"
ADD_MAP = "add one below the AIScheduler, or set decision_map"


@gdclass(icon="res://addons/ai_core/icons/strategist.svg", keywords="rts, commander, general, strategy")
class Strategist(SavedState, Node):
    """Commands a whole side: which squads scout or gather, which products to make, when to attack, defend and retreat.

    Squad nodes below it, or whose strategist is this node, carry out its missions and report the enemies they see.
    Report other squads, enemies and resources with report_squad(), report_enemy() and set_purse(); the ground is
    read from a DecisionMap. Decisions are emitted as mission_given and purchase_wanted, with reasons.
    """

    mission_given = signal(
        ("squad_id", int), ("kind", str), ("place", Variant), ("why", str),
        doc="Emitted when a squad gets a new mission: scout, gather, regroup, search, attack, defend or retreat.")
    purchase_wanted = signal(
        ("product_name", str), ("why", str),
        doc="Emitted when another product becomes the most urgent; get_purchases() returns all.")
    defense_wanted = signal(
        ("product_name", str), ("place", Variant), ("why", str),
        doc="Emitted when the strategist wants another defense: a product with the property defends, to be built at a"
            " narrow place between the base and the enemy.")
    posture_changed = signal(
        ("posture", str), ("why", str),
        doc="Emitted when the posture changes to opening, building, attacking, defending or retreating.")

    STATE = DeclaredState(
        strategist=Part(at="core"), reports=Part(at="_reports"), squads=Part(at="_squads"))

    def __init__(self) -> None:
        self._core: library.Strategist | None = None
        self._scheduler: Any = None
        self._task: Task | None = None
        self._rest: Task | None = None                  # continues a thought that paused, frame by frame
        self._thought: Generator[None, object, None] | None = None
        self._map: Any = None
        self._has_lost_map = self._is_at_work = False
        self._problems: set[str] = set()                # already reported
        self._reports = StrategistReports(lambda: self.core.tree)
        self._squads = StrategistSquads(self)
        self._plan: StrategicPlan | None = None
        self._missions: dict[int, Mission] = {}
        self._wanted = ""
        self._narrow: tuple[tuple[float, float], ...] = ()
        self._narrow_of: tuple[Any, int] = (None, 0)      # the walls and the width that they were found for
        # compared with its why, which has a count
        self._wanted_defense: Purchase | None = None

    def on_entered(self) -> None:
        if self._task is not None:
            return
        self._scheduler = scheduler_of(self)
        if self._scheduler is None:
            return
        self._map, self._has_lost_map = self._found_map(), False
        if self._map is None:
            report_next_frame(self, lambda: [] if self._map is not None else [self._without_map(WITHOUT_MAP)])
            wait_for(self, MAPS)
            return
        self._task = self._scheduler.schedule(
            self._think, name=named_after(self._scheduler, self, " thinks"), period_frames=self.period,
            priority=self.priority)
        self._rest = self._scheduler.schedule(
            self._think, name=named_after(self._scheduler, self, " continues a thought"), phase_frames=0,
            priority=self.priority)
        self._scheduler.core.pause(self._rest)
        self._scheduler.join(self)

    def on_exit_tree(self) -> None:
        if self._rest is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._rest)
        leave_scheduler(self, self._scheduler, self._task)
        self._core = self._task = self._rest = self._thought = self._scheduler = self._map = None
        self._plan = self._wanted_defense = None
        self._is_at_work, self._problems = False, set()
        self._missions, self._wanted = {}, ""       # sent again when the node comes back, because squads forget them

    @property
    def core(self) -> library.Strategist:
        """The library's strategist; created on first use, because a script may set its settings before."""
        if self._core is None:
            if self._task is None:
                raise RefusedValue("does not run; it needs an AIScheduler, a DecisionMap and products")
            try:
                self._core = self.made_for(self._map.core.layers)
            except (TypeError, ValueError, LookupError) as error:
                raise RefusedValue(f"decides nothing: {error}") from None
        return self._core

    @method
    def report_squad(self, squad_id: int, role: str, place: Variant, units: dict, is_idle: bool = True) -> None:
        """Report a squad that has no Squad node: its role is "army", "scouts" or "gatherers", units are by product."""
        if squad_id >= FIRST_NUMBER:
            raise RefusedValue(
                f"squad_id must be below {FIRST_NUMBER}, got {squad_id}; higher ids are those of Squad nodes")
        self._reports.report_squad(squad_id, role, self._ground(place), units, is_idle)

    @method
    def remove_squad(self, squad_id: int) -> None:
        """Remove a reported squad; does nothing if it was never reported."""
        self._reports.squads.pop(squad_id, None)
        self._missions.pop(squad_id, None)

    @method
    def report_enemy(self, enemy_id: int, place: Variant, product_name: str = "", is_objective: bool = False) -> None:
        """Report an enemy in sight; the product gives its capabilities, "" is an enemy that does not fight."""
        if enemy_id >= FIRST_MET:
            raise RefusedValue(
                f"enemy_id must be below {FIRST_MET}, got {enemy_id}; higher ids are those of enemies seen by Squads")
        self._reports.report_enemy(enemy_id, self._ground(place), self._now_s(), product_name, is_objective)

    @method
    def remove_enemy(self, enemy_id: int) -> None:
        """Remove a reported enemy; does nothing if it was never reported."""
        self._reports.enemies.pop(enemy_id, None)

    @method
    def set_purse(self, stock: float, owned: dict) -> None:
        """Set the resources in stock, and the number owned of each product besides the members of its Squads."""
        self._reports.set_purse(stock, owned)

    @method
    def report_defense(self, defense_id: int, product_name: str, place: Variant) -> None:
        """Report an existing defense."""
        self._reports.report_defense(defense_id, product_name, self._ground(place))

    @method
    def remove_defense(self, defense_id: int) -> None:
        """Remove a reported defense; does nothing if it was never reported."""
        self._reports.defenses.pop(defense_id, None)

    @method(after_error="_no_points")
    def get_narrow_places(self) -> Variant:
        """Return the narrow places of the ground, a PackedVector3Array or PackedVector2Array."""
        self.core  # noqa: B018
        if not self._has_map():
            return self._no_points
        return self._map.places_of_grounds(np.array(self._narrow_places(), np.float32).reshape(-1, 2))

    @method
    def report_losses(self, own_cost: float, enemy_cost: float) -> None:
        """Report lost units by their cost; the strategist learns from it which tactics work."""
        self._reports.add_losses(own_cost, enemy_cost)

    @method
    def get_squads(self) -> dict:
        """Return its Squad nodes by the squad_id of their missions."""
        return self._squads.nodes() if self.is_inside_tree() else {}

    @method
    def get_posture(self) -> str:
        """Return the posture: opening, building, attacking, defending or retreating."""
        return self.core.posture

    @method
    def get_mission(self, squad_id: int) -> dict:
        """Return the mission of a squad with kind, place and why; empty if it has none."""
        mission = self._missions.get(squad_id)
        return {} if mission is None else {
            "kind": mission.kind, "place": self._map.place_of_ground(mission.place), "why": mission.why}

    @method
    def get_purchases(self) -> PackedStringArray:
        """Return the names of the products to make, the most urgent first."""
        return PackedStringArray([] if self._plan is None else [one.name for one in self._plan.purchases])

    @method
    def get_expectations(self) -> dict:
        """Return the expected places of the enemy's next expansion and of a clash.

        Keys: enemy_expands_at, and clash_at, where both sides are expected to clash over resources; null if unknown.
        """
        plan = self._plan
        places = {
            "enemy_expands_at": None if plan is None else plan.enemy_expands_at,
            "clash_at": None if plan is None else plan.clash_at,
        }
        return {name: None if one is None else self._map.place_of_ground(one) for name, one in places.items()}

    @method
    def get_reasons(self) -> PackedStringArray:
        """Return the reasons for the decisions of the last thought."""
        return PackedStringArray([] if self._plan is None else self._plan.reasons)

    @method
    def to_text(self) -> str:
        """Return posture, wealth, tactic, the grades of all facts, and the learned values of tactics as text."""
        return self.core.to_text()

    @method
    def get_stats(self) -> dict:
        """Return the number of thoughts, of squads and of enemies, and the wealth relative to army_cost."""
        return {
            "thoughts": self.core.thoughts, "squads": len(self._reports.squads) + len(self._squads.nodes()),
            "enemies": len(self._reports.enemies) + len(self._squads.met), "wealth": self.core.wealth,
        }

    save_state, load_state = saving("the reports, the missions and the learned values")

    decision_map = export(
        NodePath, NodePath(""), hint=node_path("DecisionMap"), on_set="_map_set",
        doc="DecisionMap with the knowledge of the side; if empty, the nearest. Changes after the first thought have no"
            " effect.")
    base = export(
        NodePath, NodePath(".."), hint=node_path("Node3D", "Node2D"),
        doc="Base of the side, a Node3D or Node2D; by default the parent.")
    products = export(list, (), hint=array_of("StrategicProduct"), live=False, doc="Products that the side can make.")
    build_order = export(
        PackedStringArray, (), live=False,
        doc="Opening of the side, one step per line: \"worker 6\" makes workers until there are six.")
    aggression = export(
        float, 0.5, range=(0, 1, 0.01), group="Personality", on_set="_temper_set", core="personality.aggression",
        doc="Willingness to attack: higher values attack with a smaller advantage.")
    caution = export(
        float, 0.5, range=(0, 1, 0.01), on_set="_temper_set", core="personality.caution",
        doc="Caution: higher values retreat earlier, and defend against weaker threats.")
    greed = export(
        float, 0.5, range=(0, 1, 0.01), on_set="_temper_set", core="personality.greed",
        doc="Investment in gathering before the army: higher values gather longer.")
    curiosity = export(
        float, 0.5, range=(0, 1, 0.01), on_set="_temper_set", core="personality.curiosity",
        doc="Effort for scouting: higher values keep the maps more recent, with up to four squads.")
    army_cost = export(
        float, 1000.0, range=(1, 100000, 1), or_greater=True, group="Scale",
        on_set="_temper_set", core="army_cost",
        doc="Cost of the intended army; wealth is measured against it.")
    home_radius = export(
        float, 25.0, range=(1, 1000, 0.5), or_greater=True, unit="m", on_set="_temper_set", core="home_radius_m",
        doc="Distance from the base within which an enemy is a threat.")
    choke_width = export(
        int, 3, range=(0, 20, 1), unit="cells",
        doc="Width up to which a gap between the walls of the DecisionMap is a narrow place for defenses; 0 disables"
            " them.")
    search_after = export(
        float, 60.0, range=(0, 3600, 1), or_greater=True, unit="s", on_set="_temper_set", core="search_after_s",
        doc="Time without a sighting after which the army searches for the enemy.")
    overdue_after = export(
        float, 240.0, range=(0, 3600, 1), or_greater=True, unit="s", on_set="_temper_set", core="overdue_after_s",
        doc="Time without an attack after which the army attacks without an advantage.")
    forget_after = export(
        float, 90.0, range=(0, 3600, 1), or_greater=True, unit="s",
        doc="Time without a sighting after which an enemy seen by Squads is forgotten, unless it is an objective.")
    objective_group = export(
        str, "objectives",
        doc="Group of objectives: enemies in it that Squads see are worth an attack by themselves.")
    chance_seed = export(int, 0, live=False, doc="Seed of the random trials of tactics.")
    period = export(
        int, 60, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_reschedule",
        doc="Number of frames from the beginning of a thought to that of the next; a thought that pauses when the"
            " budget is spent continues in the next frame.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule",
        doc="Weight of the strategist's share of the budget.")

    @property
    def is_flat(self) -> bool:
        """Whether its DecisionMap is in 2D."""
        found = self._map_here()
        return found is not None and found.is_flat

    @property
    def _no_points(self) -> NDArray[np.float32]:
        return no_points(2 if self.is_flat else 3)

    @property
    def unit(self) -> float:
        """Length of a metre in units of the DecisionMap: 1 in 3D, pixels in 2D."""
        found = self._map_here()
        return 1.0 if found is None else found.unit

    def _map_here(self) -> Any:
        if self._map is not None and self._map.is_valid():
            return self._map
        return self._found_map() if self.is_inside_tree() else None

    def is_in_use(self) -> bool:
        try:
            return self.core is not None
        except RefusedValue:
            return False

    def saved(self) -> State:
        # Members lost since the last look have no path any more, so a save would miss them.
        self._reports.add_losses(*self._squads.fallen())
        return super().saved()

    def _finish_load(self) -> None:
        self._is_at_work = True
        self._thought = None        # begun again: at once if it was under way when saved, as its task continues
        # Sent again by the next thought, because squads may have got other orders since.
        self._missions, self._plan, self._wanted, self._wanted_defense = {}, None, "", None

    def _found_map(self) -> Any:
        if self.decision_map:
            return named_node(self, "decision_map")
        return nearest(self, "DecisionMap", MAPS)

    def _without_map(self, what: str) -> str:
        """Return an error with its remedy: that of decision_map, if it names no DecisionMap."""
        return f"{what}; {why_not_named(self, 'decision_map') or ADD_MAP}"

    def _has_map(self) -> bool:
        """Return whether there is a map; look for another if it was freed, and report once if there is none."""
        if self._map is None or (self._map.is_valid() and self._map.is_in_use()):
            return self._map is not None
        found = self._found_map()
        if found is None or not found.is_in_use():
            if not self._has_lost_map:
                report_error(self._without_map(LOST_MAP), self)
            self._has_lost_map = True
            return False
        self._map, self._has_lost_map = found, False
        return True

    def _think(self, turn: Turn) -> None:
        """Begin a thought, or continue one that paused; it pauses until the next frame when the budget is spent."""
        thought = self._thought = self._thought or self._steps_of_thought()
        try:
            for _ in thought:
                turn.budget.spend()
                if turn.budget.is_spent:
                    self._scheduler.core.resume(self._rest)
                    return
        except BaseException:
            self._end_thought()
            raise
        if self._thought is thought:        # else a callback removed the node from the tree, or loaded a save
            self._end_thought()

    def _end_thought(self) -> None:
        self._thought = None
        if self._rest is not None:
            self._scheduler.core.pause(self._rest)

    def _steps_of_thought(self) -> Generator[None, object, None]:
        if not self._has_map():
            return
        try:
            core, maps, base = self.core, self._map.core, self._base_ground()
        except RefusedValue as error:
            self._report([*([] if self._is_at_work else self.made_products()[1]), str(error)])
            return
        self._report([] if self._is_at_work else self.made_products()[1])
        self._is_at_work = True
        before = core.posture
        # A thought lasts several frames and needs an unchanged snapshot, whatever is written to the map meanwhile.
        now_s = self._now_s()
        look = self._squads.look(core.tree, self._map, now_s)
        self._reports.add_losses(look.losses, look.kills)
        with maps.reading() as picture:
            plan = yield from core.think_in_steps(
                self._reports.situation(now_s, picture, base, maps.is_open, look, self._narrow_places()))
        self._plan = plan
        self._emit(before, plan)

    def _report(self, problems: list[str]) -> None:
        for problem in problems:
            if problem not in self._problems:
                report_error(problem, self)
        self._problems = set(problems)

    def _emit(self, before: str, plan: StrategicPlan) -> None:
        """Emit the signals for changes. Callbacks may do anything."""
        missions, self._missions = self._missions, {one.squad_id: one for one in plan.missions}
        if plan.posture != before:
            self.posture_changed.emit(plan.posture, plan.reasons[-1] if plan.reasons else "")
        squads = self._squads.nodes() if self.is_inside_tree() else {}
        for one in plan.missions:
            if not self._has_map():
                break                                # a callback removed the node from the tree, or freed the map
            old = missions.get(one.squad_id)
            is_new = old is None or (old.kind, old.place) != (one.kind, one.place)
            squad = self._squads.carry_out(one, squads.get(one.squad_id), self._map, is_new=is_new)
            if is_new:
                place = self._map.place_of_ground(one.place)
                if squad is not None:
                    squad.mission_given.emit(one.kind, place, one.why)
                self.mission_given.emit(one.squad_id, one.kind, place, one.why)
        wanted = plan.purchases[0].name if plan.purchases else ""
        if wanted and wanted != self._wanted:
            self.purchase_wanted.emit(wanted, plan.purchases[0].why)
        self._wanted = wanted
        defense = next((one for one in plan.purchases if one.place is not None), None)
        known, self._wanted_defense = self._wanted_defense, defense
        if defense is not None and self._wanted_defense != known and self._has_map():
            self.defense_wanted.emit(defense.name, self._map.place_of_ground(defense.place), defense.why)

    def _narrow_places(self) -> tuple[tuple[float, float], ...]:
        """Return the narrow places between walls, if a product defends; found again after the walls change."""
        maps = self._map.core
        if not self.choke_width or maps.is_open is None or not any(
                one.defends for one in self.core.tree.products.values()):
            return ()
        walls, width = self._narrow_of
        if walls is not maps.is_open or width != self.choke_width:
            self._narrow = tuple(maps.area.center_of(one.cell) for one in choke_points(maps.is_open, self.choke_width))
            self._narrow_of = maps.is_open, self.choke_width
        return self._narrow

    def _reschedule(self) -> None:
        if self._task is not None:
            self._scheduler.reschedule(
                self._task, period_frames=self.period, phase_frames=None, priority=self.priority)
            self._scheduler.change_priority(self._rest, self.priority)

    def _temper_set(self) -> None:
        if self._core is None:
            return
        with refusing():
            self.put_temper(self._core)

    def _map_set(self) -> None:
        if self.is_inside_tree() and not self._is_at_work:
            self._core = None
            if self._task is None:
                self.on_entered()
            else:
                self._map = self._found_map() or self._map
                report_next_frame(self, lambda: [*filter(None, [why_not_named(self, "decision_map")])])

    def _in_use(self) -> None:
        if self._is_at_work or (self._core is not None and self._reports.is_used):
            raise RefusedValue("cannot change after the first thought; set it before")
        self._core = None

    def _ground(self, place: Any) -> tuple[float, float]:
        self.core  # noqa: B018
        x, y = self._map.ground_of(place)
        if not (isfinite(x) and isfinite(y)):
            raise RefusedValue(f"place must be finite, got {place!r}")
        return (float(x), float(y))

    def _base_ground(self) -> tuple[float, float]:
        node = self.get_node_or_null(self.base)
        if node is None or not (node.is_class("Node3D") or node.is_class("Node2D")):
            raise RefusedValue(f"base must be a Node3D or Node2D, got {node!r}; choose the base of the side")
        try:
            return self._ground(node.global_position)
        except RefusedValue as error:
            raise RefusedValue(f"base: {error}") from None

    def _now_s(self) -> float:
        return float(self._scheduler.clock.now.seconds)

    def _get_configuration_warnings(self) -> list[str]:
        warnings = list(scheduler_warnings(self))
        if not self.products:
            warnings.append("has no products and decides nothing; add a StrategicProduct to products")
        if self._found_map() is None:
            warnings.append(self._without_map(WITHOUT_MAP))
        return [*warnings, *self.made_products()[1]]

    def made_for(self, layers: Iterable[str]) -> library.Strategist:
        """Return the library's strategist with these settings.

        Args:
            layers: names of the layers of its DecisionMap.

        Raises:
            ValueError: if a required layer is missing, or a setting is invalid.
        """
        missing = [name for name in NEEDED_LAYERS if name not in layers]
        if missing:
            raise ValueError(f"its DecisionMap lacks the layers {', '.join(missing)}; add them to layers")
        tree = TechnologyTree(self.made_products()[0])
        made = library.Strategist(
            tree, random.Random(self.chance_seed), build_order=BuildOrder(self._steps(), tree))
        self.put_temper(made)
        return made

    def made_products(self) -> tuple[list[Product], list[str]]:
        """Return the library's products, and the errors of those that are left out."""
        made: dict[str, tuple[int, Product]] = {}
        wrong: list[str] = []
        for place, resource in enumerate(self.products):
            try:
                if resource is None:
                    raise ValueError("must be a StrategicProduct, got null; choose one")
                product = resource.product()
                if product.name in made:
                    raise ValueError(f"product_name {product.name!r} is used twice; give each product its own name")
                made[product.name] = place, product
            except (TypeError, ValueError) as error:
                wrong.append(f"products[{place}] is ignored: {error}")
        lacking = True
        while lacking:          # products that require a left out product are left out as well
            lacking = False
            for name, (place, product) in list(made.items()):
                needed = next((one for one in product.requires if one not in made), None)
                if needed is not None:
                    del made[name]
                    lacking = True
                    why = UnknownNameError(f"product that {name!r} requires", needed, made)
                    wrong.append(f"products[{place}] is ignored: {why}")
        return [product for _, product in made.values()], wrong

    def put_temper(self, strategist: library.Strategist) -> None:
        """Apply the personality and scale settings to a strategist, from its next thought on.

        Raises:
            ValueError: if a number is out of range; nothing is changed then.
        """
        for name in ("army_cost", "home_radius"):
            finite_number(name, getattr(self, name), above=0)
        for name in ("search_after", "overdue_after"):
            finite_number(name, getattr(self, name), minimum=0)
        settings = core_settings(self, self.unit)
        strategist.personality = Personality(**settings.pop("personality"))
        for name, value in settings.items():
            setattr(strategist, name, value)

    def _steps(self) -> list[tuple[str, int]]:
        steps = []
        for line in map(str, self.build_order):
            name, _, count = line.rpartition(" ")
            if not count.isdecimal():
                raise ValueError(f"build_order has {line!r}; use a product name and a number, such as \"worker 6\"")
            steps.append((name, int(count)))
        return steps
