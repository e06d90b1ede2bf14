"""Random lives of all nodes that have state; a class without one fails ``test_every_node``."""
from __future__ import annotations

import json
import math
from contextlib import suppress

from addons.ai_core.bridge.gd import NodePath, Rect2i, Vector2, Vector2i, Vector3, construct
from addons.ai_core.nodes.characters.blackboard_scopes import BlackboardScopes
from addons.ai_core.nodes.characters.update_group import UpdateGroup
from addons.ai_core.nodes.events.ai_event_manager import AIEventManager
from addons.ai_core.nodes.events.scene_events import SceneEvents
from addons.ai_core.nodes.habits.habit_sharing import LateRandom
from addons.ai_core.nodes.habits.habit_tree import HabitTree
from addons.ai_core.nodes.level_of_detail.behavioral_lod import BehavioralLOD
from addons.ai_core.nodes.level_of_detail.group_lod import GroupLOD
from addons.ai_core.nodes.level_of_detail.importance_manager import ImportanceManager, ImportancePacing, LODCrowd
from addons.ai_core.nodes.maps.cover_map import CoverMap
from addons.ai_core.nodes.maps.decision_map import DecisionMap
from addons.ai_core.nodes.paths.fallback_steering import FallbackSteering
from addons.ai_core.nodes.paths.path_service import PathService
from addons.ai_core.nodes.polling.polling_station import PollingStation
from addons.ai_core.nodes.rules.rule_mind import RuleMind
from addons.ai_core.nodes.saving.saved_node import SavedNode
from addons.ai_core.nodes.saving.scene_saving import NodePart, SchedulerPart
from addons.ai_core.nodes.scheduling.ai_behavior import AIBehavior
from addons.ai_core.nodes.scheduling.ai_scheduler import AIScheduler
from addons.ai_core.nodes.scheduling.timeslicer import Timeslicer
from addons.ai_core.nodes.senses.felt_collisions import FeltCollisions
from addons.ai_core.nodes.senses.sense_manager import SenseManager
from addons.ai_core.nodes.senses.sense_source import SenseSource2D, SenseSource3D
from addons.ai_core.nodes.senses.sensor import Sensor2D, Sensor3D
from addons.ai_core.nodes.squads.squad import Squad
from addons.ai_core.nodes.squads.strategist import Strategist
from addons.ai_core.nodes.squads.strategist_reports import StrategistReports, StrategistSquads
from addons.ai_core.nodes.state_machines.state_machine import StateMachine
from tests.in_godot.maps.cover_yard import Yard
from tests.saving.lives.life import Life

ACTOR = """
    extends CharacterBody3D
    signal yelled(what: int)
    var log := []
    func think(elapsed_s: float) -> void: log.append(snappedf(elapsed_s, 0.001))
    func job(key: String) -> int:
        log.append(key)
        return log.size()
    func hear(code: String, arguments: Array) -> void: log.append([code, arguments])
    func answer() -> int: return log.size()
    func come() -> void: log.append("came")
    func nearness() -> float: return clampf(position.x / 40.0, 0.0, 1.0)
    func tell(what: Variant) -> void: log.append(what)
    func _save_state() -> Variant: return log
    func _load_state(state: Variant) -> void: log = state if state is Array else []
"""
LEVEL = """
    extends LODBehavior
    func tell(what: Variant) -> void: get_parent().get_parent().tell([str(name), what])
    func _lod_enter(previous: String, data: Variant) -> void: tell([previous, data])
    func _lod_exit(following: String) -> Variant:
        tell(following)
        return str(name)
    func _lod_tick(elapsed_s: float) -> void: tell(snappedf(elapsed_s, 0.001))
"""
GROUP = """
    extends GroupLOD
    func tell(what: Variant) -> void: get_parent().tell(what)
    func _simulate(elapsed_s: float) -> void: tell(snappedf(elapsed_s, 0.001))
    func _expand() -> PackedStringArray: return ["Ann", "Bert"]
    func _tick_member(member: String, elapsed_s: float) -> void: tell([member, snappedf(elapsed_s, 0.001)])
    func _compress() -> void: tell("compress")
"""
HABIT = """
    extends Habit
    var rounds := 0
    func _tick(_elapsed_s: float) -> int:
        rounds += 1
        return STATUS_SUCCEEDED if rounds % 4 == 0 else STATUS_RUNNING
    func _save_state() -> Variant: return rounds
    func _load_state(state: Variant) -> void: rounds = state if state is int else 0
"""
STATE = """
    extends AIState
    var times := 0
    func _enter() -> void: times += 1
    func _save_state() -> Variant: return times
    func _load_state(state: Variant) -> void: times = state if state is int else 0
"""


def somewhere(chance, most=30):
    return Vector3(chance.randint(-most, most), 0, chance.randint(-most, most))


def said(value):
    """Return what is seen as text, nodes by their names."""
    if isinstance(value, dict):
        return {said(key): said(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [said(one) for one in value]
    return str(value.get_name() if hasattr(value, "get_name") else value)


def without_times(state):
    """Return a save without what a stopwatch measured."""
    if isinstance(state, dict):
        return {key: 0 if key.endswith("_ns") else without_times(one) for key, one in state.items()}
    return [*map(without_times, state)] if isinstance(state, list) else state


class NodeLife(Life):
    """A scene below an AIScheduler that is stepped by hand; its save is a snapshot.

    Attributes:
        classes: the node classes and their parts that this life saves.
        ai: the AIScheduler.
        actors: characters, saved with their positions and with what they were told.
    """

    classes: tuple[type, ...] = ()

    def __init__(self, node, gdscript, physics_frames):
        self.node, self.gdscript, self.physics_frames = node, gdscript, physics_frames
        self.world = node("SubViewport", own_world_3d=True)
        self.ai = self.add("AIScheduler", "AI", self.world, update=2, budget=0.0)
        script, self.actors, self.told = gdscript(ACTOR), [], []
        for name in "ABCD":
            actor = self.add("CharacterBody3D", name)
            actor.set_script(script)
            actor.add_to_group("ai_saved")
            self.actors.append(actor)
        self.build()
        self.step(1)

    def add(self, class_name, name, parent=None, **settings):
        return self.put(construct(class_name), name, parent, **settings)

    def put(self, made, name, parent=None, **settings):
        for key, value in {"name": name, **settings}.items():
            made.set(key, value)
        (self.ai if parent is None else parent).add_child(made)
        return made

    def free(self):
        self.world.free()

    def step(self, frames):
        for _ in range(frames):
            self.ai.step(1 / 60)

    def seen(self):
        """Return what may be seen of the nodes."""

    def do_wait(self, chance):
        self.step(chance.randint(1, 4))
        return said([[list(one.log), one.position] for one in self.actors]), said(self.seen())

    do_live = do_wander = do_wait

    def do_move(self, chance):
        chance.choice(self.actors).position = somewhere(chance)

    def save(self):
        """Return the save as it comes out of a file, without measured times."""
        return without_times(json.loads(json.dumps(self.ai.save_state())))

    def load(self, state):
        self.ai.load_state(state)


class SchedulingLife(NodeLife):
    classes = (AIBehavior, AIScheduler, NodePart, SavedNode, SchedulerPart, Timeslicer)

    def build(self):
        inner = self.add("AIScheduler", "Inner", budget=0.0)
        self.thinking = [
            self.add("AIBehavior", "Think", actor, method_name="think", period=number + 1)
            for number, actor in enumerate(self.actors)]
        self.thinking.append(self.add("AIBehavior", "Far", inner, target=NodePath("../../A"), period=3))
        self.jobs = self.add("Timeslicer", "Jobs", jobs_per_update=2, period=2)
        self.jobs.set_job(self.actors[0].job)

    def seen(self):
        return [(key, self.jobs.get_result(key), self.jobs.get_age(key)) for key in self.jobs.get_keys()]

    def do_set(self, chance):
        chance.choice(self.thinking).set(*chance.choice(
            [("period", chance.randint(1, 5)), ("priority", chance.choice([1.0, 2.0])), ("enabled", False),
             ("enabled", True)]))

    def do_job(self, chance):
        key = chance.choice("xyz")
        (self.jobs.remove_job if self.jobs.has_job(key) else self.jobs.add_job)(key)

    def load(self, state):
        """Load as games do, which give a Timeslicer the keys of the save before."""
        with suppress(LookupError, TypeError):             # of a damaged save
            keys = {row["key"] for row in state["parts"]["Timeslicer/Jobs"]["state"]["jobs"]["keys"]}
            for key in {*self.jobs.get_keys()} ^ keys & {*"xyz"}:
                (self.jobs.add_job if key in keys else self.jobs.remove_job)(key)
        super().load(state)

    def do_hurry(self, chance):
        self.jobs.set(*chance.choice([("jobs_per_update", chance.randint(1, 3)), ("enabled", chance.random() < 0.7)]))


class EventsLife(NodeLife):
    classes = (AIEventManager, SceneEvents)

    def build(self):
        self.manager = self.add("AIEventManager", "Events", day_length=24.0)
        self.squad = self.add("AIEventManager", "Squad", self.manager)
        for number, actor in enumerate(self.actors):
            manager = (self.manager, self.squad)[number % 2]
            manager.listen(["noise", "alarm"], actor.hear)
            manager.add_radio(actor)
        self.manager.at_time("00:03", self.actors[0].hear, True)

    def seen(self):
        return self.manager.get_time_of_day(), [
            self.squad.get_messages(self.actors[1]), self.manager.get_messages(self.actors[2])]

    def do_send(self, chance):
        send = chance.choice([self.manager.send, self.squad.send, self.squad.send_up, self.manager.send_to_all])
        send(
            chance.choice(["noise", "alarm"]), [chance.randrange(9), Vector3(1, 2, 3)],
            chance.choice([0.0, 0.05, 0.2]), {"sticky": True} if chance.random() < 0.2 else {})

    def do_clear(self, chance):
        self.manager.clear_sticky("noise", chance.randrange(3))

    def do_jump(self, chance):
        if chance.random() < 0.3:
            self.manager.jump_to_time("00:02")

    def do_talk(self, chance):
        self.manager.report_sighting(self.actors[0], "thief", chance.randrange(5), somewhere(chance))
        self.squad.announce_intent(self.actors[1], "flank", "thief")


class PollingLife(NodeLife):
    classes = (PollingStation,)

    def build(self):
        self.station = self.add("PollingStation", "Station")
        self.station.add_topic("busy", self.actors[0].answer, 7)

    def do_poll(self, chance):
        return self.station.poll_with_age("busy")

    def do_ask(self, chance):
        return str(self.station.property_of(chance.choice(self.actors), "position"))

    def do_invalidate(self, chance):
        self.station.invalidate("busy")


class PathsLife(NodeLife):
    classes = (FallbackSteering, PathService)

    def build(self):
        grid = construct("AStarGrid2D")
        grid.region, grid.cell_size = Rect2i(0, 0, 12, 9), Vector2(10, 10)
        grid.update()
        for row in range(7):
            grid.set_point_solid(Vector2i(5, row), True)
        self.service = self.add("PathService", "Paths", release_after=0.3)
        self.service.set_grid_from(grid)

    def seen(self):
        return [(number, self.service.get_state(number)) for number in self.service._requests]

    def place(self, chance):
        return Vector2(10 * chance.randrange(12), 10 * chance.randrange(9))

    def do_request(self, chance):
        request = self.service.request_path if chance.random() < 0.7 else self.service.request_improving_path
        return request(self.place(chance), self.place(chance))

    def ticket(self, chance):
        return chance.choice([*self.service._requests]) if self.service._requests else None

    def do_check(self, chance):
        number = self.ticket(chance)
        return None if number is None else str(self.service.check_path(number))

    def do_steer(self, chance):
        number = self.ticket(chance)
        is_open = number is not None and self.service.get_state(number) in ("waiting", "running")
        return str(self.service.get_fallback_position(number, self.place(chance))) if is_open else None

    def do_end(self, chance):
        number = self.ticket(chance)
        if number is not None:
            chance.choice([self.service.cancel, self.service.release])(number)

    def do_wall(self, chance):
        self.service.set_walls([Vector2i(8, chance.randrange(9))], chance.random() < 0.5)


class LevelsLife(NodeLife):
    classes = (BehavioralLOD, GroupLOD, ImportanceManager, ImportancePacing, LODCrowd)

    def build(self):
        self.manager = self.add("ImportanceManager", "Importance", period=2, far_distance=60.0, smoothing_time=0.1)
        self.add("ImportanceViewer", "Eyes", self.actors[0])
        level, group = self.gdscript(LEVEL), self.gdscript(GROUP)
        self.add("AIBehavior", "Think", self.actors[1], follow_importance=1)
        self.nodes = []
        for actor in self.actors[1:3]:
            lod = construct("BehavioralLOD")
            for name, lowest, highest in ("Plan", 0.5, 1.0), ("Idle", 0.0, 0.6):
                self.put(level.new(), name, lod, lowest=lowest, highest=highest, max_count=int(name == "Plan"))
            self.nodes.append(self.put(lod, "Levels", actor, crowd="guards", spread_updates=2))
        self.group = self.put(group.new(), "People", self.actors[3], closed_period=3, member_period=2)

    def seen(self):
        importances = [self.manager.get_importance(one) for one in (*self.nodes, self.group)]
        return importances, [one.get_level() for one in self.nodes], self.group.is_open()

    def do_see(self, chance):
        self.actors[0].position = somewhere(chance)

    def do_notice(self, chance):
        chance.choice([self.manager.notice, self.manager.damage])(chance.choice(self.actors[1:]))

    def do_force(self, chance):
        one = chance.choice(self.nodes)
        one.force_level("Plan", chance.choice([0.05, 0.3])) if chance.random() < 0.7 else one.unforce_level()

    def do_force_importance(self, chance):
        self.manager.force_importance(chance.choice(self.actors[1:]), chance.random(), 0.2)

    def do_set(self, chance):
        chance.choice(self.nodes).set(*chance.choice([("period", chance.randint(1, 4)), ("priority", 2.0)]))


class MapsLife(NodeLife):
    classes = (DecisionMap, Strategist, StrategistReports, StrategistSquads)

    def build(self):
        self.map = self.add(
            "DecisionMap", "Map", corner=Vector2(-32, -32), size=Vector2(64, 64), cell_size=4.0, update_interval=0.05)
        products = [construct("StrategicProduct") for _ in range(2)]
        for one, name, fights in zip(products, ("worker", "spear"), (False, True), strict=True):
            for key, value in {"product_name": name, "cost": 50.0, "fights": fights, "gathers": not fights}.items():
                one.set(key, value)
        products[1].set("attack", {"ground": 10.0})
        products[1].set("toughness", 100.0)
        self.side = self.add("Strategist", "Side", self.actors[0], products=products, period=2)

    def seen(self):
        value = self.map.total_within("resources", Vector3(0, 0, 0), 30.0)
        return value, self.side.get_posture(), self.side.get_mission(1), [*self.side.get_purchases()]

    def do_write(self, chance):
        self.map.write(chance.choice(["resources", "conflict"]), somewhere(chance), chance.random())

    def do_report(self, chance):
        self.side.report_squad(
            chance.randrange(3), chance.choice(["army", "scouts", "gatherers"]), somewhere(chance),
            {"spear": chance.randint(1, 5)}, chance.random() < 0.5)

    def do_remove(self, chance):
        if chance.random() < 0.3:
            known = [*self.side.get_squads()]
            if known:
                self.side.remove_squad(chance.choice(known))

    def do_see(self, chance):
        self.side.report_enemy(chance.randrange(4), somewhere(chance), "spear", chance.random() < 0.2)

    def do_trade(self, chance):
        self.side.set_purse(float(chance.randrange(300)), {"worker": chance.randrange(4)})
        self.side.report_losses(10.0, 20.0)


class SquadsLife(NodeLife):
    classes = (Squad,)

    def build(self):
        formation = construct("Formation")
        formation.set("spacing", 1.5)
        self.squads = [self.add("Squad", name, formation=formation) for name in ("Red", "Blue")]
        self.members = [
            self.add("SquadMember", "Member", actor, squad_path=NodePath("../../Red")) for actor in self.actors]

    def seen(self):
        return [(one.get_order_state(), one.get_slot_places(), one.get_tasks()) for one in self.squads]

    def do_order(self, chance):
        squad, kind = chance.choice(self.squads), chance.randrange(4)
        if kind == 0:
            return squad.move_to(somewhere(chance))
        if kind == 1:
            return squad.form_up(somewhere(chance))
        if kind == 2:
            return squad.follow([somewhere(chance), somewhere(chance)])
        return squad.hold()

    def do_see(self, chance):
        own = self.squads[0].get_characters()
        others = [one for one in self.actors if one not in own]
        self.squads[0].see(chance.sample(others, min(len(others), chance.randrange(3))))

    def do_tactic(self, chance):
        self.squads[0].use_tactic(chance.choice([*self.squads[0].get_tactics()]))

    def do_appoint(self, chance):
        member = chance.choice(self.members)
        member.get_squad().appoint(member)

    def do_change(self, chance):
        member = chance.choice(self.members)
        other = self.squads[member.get_squad() == self.squads[0]]
        member.get_squad().move_members([member], other)


class CoverLife(NodeLife):
    classes = (CoverMap,)

    def build(self):
        yard = Yard(
            lambda kind, parent, name="Body", **more: self.add(kind, name, parent, **more), self.ai, self.wait_for_bake)
        self.cover = yard.cover()

    def wait_for_bake(self, frames):
        self.physics_frames(frames)
        self.step(frames)

    def spots(self):
        return list(self.cover.get_spots())

    def seen(self):
        return [(self.cover.get_place(spot), self.cover.get_holder(spot)) for spot in self.spots()]

    def do_reserve(self, chance):
        return self.cover.reserve(chance.choice(self.spots()), chance.choice(self.actors))

    def do_release(self, chance):
        self.cover.release(chance.choice(self.actors))

    def do_request(self, chance):
        return self.cover.request_cover(
            chance.choice(self.actors), [chance.choice(self.actors)], chance.choice(["any", "stand", "crouch"]))


class MindsLife(NodeLife):
    classes = (BlackboardScopes, HabitTree, LateRandom, RuleMind, StateMachine, UpdateGroup)

    def build(self):
        rules = construct("RuleSet")
        rules.set("facts", {"hurt": 0.0, "near": "nearness"})
        rules.set("parameters", {"courage": 0.5})
        rules.set("rules", "fear: hurt -> afraid\nflee: afraid > courage | salience 2, repeats, do come\n"
                           "go: near | repeats")
        habit, state = self.gdscript(HABIT), self.gdscript(STATE)
        self.machines, self.minds, self.trees = [], [], []
        for number, actor in enumerate(self.actors):
            machine = construct("StateMachine")
            for name, other in ("calm", "angry"), ("angry", "calm"):
                place = self.put(state.new(), name, machine, enter_method="come")
                self.add("StateTransition", "shouts", place, event="shout", to=NodePath(f"../../{other}"))
                self.add("StateTransition", "waits", place, after=0.1 + number / 30, to=NodePath(f"../../{other}"))
            self.machines.append(self.put(machine, "Machine", actor, period=number + 1))
            self.minds.append(self.add("RuleMind", "Mind", actor, rule_set=rules, period=2))
            tree = construct("HabitTree")
            tree.squad = "red"
            tree.set("values", {"scared": False, "target": None})
            flight = self.add("Habit", "Flight", tree, condition="scared", launch=1)
            self.add("HabitWait", "Wait", flight, duration=0.07)
            self.put(habit.new(), "Rounds", flight)
            self.put(habit.new(), "Idle", tree)
            self.trees.append(self.put(tree, "Tree", actor, period=number + 1))

    def seen(self):
        machines = [(one.get_state(), one.get_time_in_state(), one.get_value("mood")) for one in self.machines]
        return machines, [[*one.get_active_paths()] for one in self.trees], [[*one.get_agenda()] for one in self.minds]

    def do_shout(self, chance):
        chance.choice(self.machines).send_event("shout", chance.randrange(3))

    def do_feel(self, chance):
        chance.choice(self.machines).set_value("mood", chance.random())
        chance.choice(self.minds).set_fact("hurt", chance.random())
        chance.choice(self.trees).set_value("scared", chance.random() < 0.5)

    def do_look(self, chance):
        scope = chance.choice(["", "squad", "world"])
        chance.choice(self.trees).set_value("target", chance.choice([None, *self.actors]), scope)

    def do_stop(self, chance):
        chance.choice([chance.choice(self.trees).stop_habits, chance.choice(self.machines).restart])()

    def do_set(self, chance):
        chance.choice([*self.machines, *self.minds, *self.trees]).set(*chance.choice(
            [("period", chance.randint(1, 4)), ("priority", chance.choice([1.0, 2.0])), ("enabled", False),
             ("enabled", True)]))


class SensesLife(NodeLife):
    classes = (FeltCollisions, SenseManager, Sensor3D, SenseSource3D)

    def build(self):
        self.manager = self.add("SenseManager", "Senses", keeps_trails=True, period=2)
        self.sensors = [
            self.add("Sensor3D", "Sensor", one, sight_range=40.0, horizontal_angle=2.0) for one in self.actors[:2]]
        self.sources = [
            self.add("SenseSource3D", "Source", one, smell_strength=1.0, trail_strength=1.0, touch_strength=0.5)
            for one in self.actors[1:]]
        cone = construct("SightCone")
        cone.set("range", 20.0)
        self.sensors[1].sight_cones = [cone]

    def seen(self):
        return [one.get_known_targets() for one in self.sensors]

    def do_turn(self, chance):
        chance.choice(self.actors).rotation = Vector3(0, chance.uniform(-math.pi, math.pi), 0)

    def do_emit(self, chance):
        chance.choice(self.sources).emit("hearing", chance.uniform(0.5, 40.0))

    def do_touch(self, chance):
        self.sensors[0].touch(chance.choice(self.sources))

    def do_dull(self, chance):
        chance.choice(self.sensors).set_sensitivity("hearing", chance.random(), chance.choice([0.0, 0.1]))

    def do_forget(self, chance):
        chance.choice(self.sensors).forget(chance.choice(self.sources))

    def do_set(self, chance):
        chance.choice(self.sensors).set("sight_threshold", chance.choice([0.1, 0.5]))
        chance.choice(self.sources).set("sight_strength", chance.choice([0.5, 1.0]))

    def do_cone(self, chance):
        self.sensors[1].sight_cones[0].range = chance.choice([5.0, 20.0, 40.0])

    def do_noise(self, chance):
        self.manager.add_noise("hearing", chance.random(), somewhere(chance))

    def do_wind(self, chance):
        self.manager.set_wind(Vector3(chance.random(), 0, 1))


class FlatSensesLife(NodeLife):
    classes = (Sensor2D, SenseSource2D)

    def build(self):
        self.manager = self.add("SenseManager", "Senses", dimensions=1, mode=1)
        self.bodies = [self.add("Node2D", name) for name in ("P", "Q")]
        for number, body in enumerate(self.bodies):
            body.add_to_group("ai_saved")
            self.add("SenseRegion2D", f"Room{number}", position=Vector2(1000 * number, 0), size=Vector2(1000, 1000))
        self.add("SensePortal2D", "Door", position=Vector2(500, 0), from_region=NodePath("../Room0"),
                 to_region=NodePath("../Room1"))
        self.sensor = self.add("Sensor2D", "Sensor", self.bodies[0])
        self.source = self.add("SenseSource2D", "Source", self.bodies[1], smell_strength=1.0)

    def seen(self):
        return self.sensor.get_known_targets(), self.sensor.get_last_sensation()

    def do_emit(self, chance):
        self.source.emit("hearing", chance.uniform(0.5, 40.0))

    def do_walk(self, chance):
        chance.choice(self.bodies).position = Vector2(chance.randint(-400, 1400), chance.randint(-400, 400))

    def do_door(self, chance):
        self.manager.set_portal_open("Door", chance.random() < 0.5)


LIVES = (
    SchedulingLife, EventsLife, PollingLife, PathsLife, LevelsLife, MapsLife, SquadsLife, CoverLife, MindsLife,
    SensesLife, FlatSensesLife)
