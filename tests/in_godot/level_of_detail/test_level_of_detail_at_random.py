"""Random lives of behaviors, levels, groups and jobs in schedulers: from a save they go on as they did."""
from __future__ import annotations

import random

import pytest

from addons.ai_core.bridge.gd import Vector3, construct
from tests.in_godot.level_of_detail.level_of_detail_world import TWO_LEVELS
from tests.in_godot.saving.lives import PAUSED, assert_they_go_on

BODY = """
    extends Node3D
    var log := []
    func begin(slicer: Timeslicer) -> void: slicer.set_job(look)
    func look(key: String) -> String:
        log.append(key)
        return key
    func think(elapsed_s: float) -> void: log.append(snappedf(elapsed_s, 0.001))
    func _save_state() -> Variant: return log
    func _load_state(state: Variant) -> void: log = state
"""
LEVEL = """
    extends LODBehavior
    func told(what: Variant) -> void: get_parent().get_parent().log.append([str(name), what])
    func _lod_enter(previous: String, data: Variant) -> void: told([previous, data])
    func _lod_exit(following: String) -> Variant:
        told(following)
        return str(name)
    func _lod_tick(elapsed_s: float) -> void: told(snappedf(elapsed_s, 0.001))
"""
GROUP = """
    extends GroupLOD
    func told(what: Variant) -> void: get_parent().log.append(what)
    func _simulate(elapsed_s: float) -> void: told(snappedf(elapsed_s, 0.001))
    func _expand() -> PackedStringArray: return ["Ann", "Bert"]
    func _tick_member(member: String, elapsed_s: float) -> void: told([member, snappedf(elapsed_s, 0.001)])
    func _compress() -> void: told("compress")
"""
SEEDS = (0, 3, 4, 5, 6, 11, 14, 15, 17, 1, 2)


def somewhere(chance):
    return Vector3(chance.uniform(-40, 40), 0, chance.uniform(-40, 40))


class World:
    """A player who may be anywhere, and some whose importance follows him; of these some in a scheduler within."""

    def __init__(self, top, scripts, seed):
        self.body, self.level, self.group = scripts
        chance = random.Random(seed)
        self.manager = self.made(
            construct("ImportanceManager"), top, "Importance", period=chance.choice([1, 2, 3]), far_distance=60.0,
            smoothing_time=chance.choice([0.0, 0.1]))
        self.player = self.made(self.body.new(), top, "Player")
        self.made(construct("ImportanceViewer"), self.player, "Eyes")
        self.inner = self.made(construct("AIScheduler"), top, "Inner", budget=0.0, policy=chance.randrange(4))
        self.bodies, self.nodes = [], []
        for number in range(chance.randint(2, 7)):
            self.bodies.append(self.made(
                self.body.new(), chance.choice([top, self.inner]), f"B{number}", position=somewhere(chance)))
            makes = chance.choice([self.behavior, self.levels, self.people, self.slicer])
            self.nodes.append(makes(chance, self.bodies[-1]))
        for one in (self.player, *self.bodies):
            one.add_to_group("ai_saved")

    @staticmethod
    def made(node, parent, name, **settings):
        for key, value in {"name": name, **settings}.items():
            node.set(key, value)
        parent.add_child(node)
        return node

    def behavior(self, chance, body):
        return self.made(
            construct("AIBehavior"), body, "Thinks", method_name="think", period=chance.choice([1, 2, 5]),
            follow_importance=chance.choice([0, 1]), longest_period=10)

    def levels(self, chance, body):
        lod = construct("BehavioralLOD")
        for name, lowest, highest in TWO_LEVELS:
            self.made(self.level.new(), lod, name, lowest=lowest, highest=highest, max_count=int(name == "Plan"))
        return self.made(lod, body, "Levels", period=chance.choice([1, 2, 3]), crowd="guards", spread_updates=2)

    def people(self, chance, body):
        return self.made(
            self.group.new(), body, "People", closed_period=chance.choice([1, 3]),
            member_period=chance.choice([1, 2]))

    def slicer(self, chance, body):
        slicer = self.made(construct("Timeslicer"), body, "Slicer", jobs_per_update=chance.choice([1, 2]))
        body.call("begin", slicer)
        for key in "abc"[:chance.randint(1, 3)]:
            slicer.add_job(key)
        return slicer

    def something_happens(self, chance):
        dice, node = chance.random(), chance.choice(self.nodes)
        kind, body = node.get_class(), node.get_parent()
        if dice < 0.3:
            self.player.set("position", somewhere(chance))
        elif dice < 0.35:
            node.set("enabled", not node.get("enabled"))
        elif dice < 0.42:
            body.set("process_mode", 0 if body.get("process_mode") else PAUSED)
        elif dice < 0.46:
            self.inner.set("process_mode", 0 if self.inner.get("process_mode") else PAUSED)
        elif dice < 0.54 and kind != "GroupLOD":
            node.set(*chance.choice([("period", chance.randint(1, 4)), ("priority", chance.choice([1.0, 2.0]))]))
        elif dice < 0.6 and kind == "BehavioralLOD":
            node.force_level("Plan", chance.choice([0.05, 0.2]))
        elif dice < 0.7 and kind in ("BehavioralLOD", "GroupLOD"):
            self.manager.damage(body)

    def lived(self, chance, frames, physics_frames):
        diary = []
        for _ in range(frames):
            self.something_happens(chance)
            physics_frames(1)
            diary.append([list(one.get("log")) for one in self.bodies])
        return diary


# All but the last two were refused, or went on otherwise, when paces and crowds had to be those of the moment.
@pytest.mark.parametrize("seed", SEEDS)
def test_all_go_on_from_a_save_as_they_did(node, gdscript, physics_frames, seed):
    scripts, policy = [gdscript(one) for one in (BODY, LEVEL, GROUP)], seed % 4

    def build():
        top = node("AIScheduler", budget=0.0, policy=policy)
        return top, World(top, scripts, seed)

    def build_anew():
        anew = build()
        physics_frames(1)
        return anew

    assert_they_go_on(
        seed, random.Random(seed), *build(), build_anew,
        lambda _, world, chance, frames: world.lived(chance, frames, physics_frames),
        lambda world: [*world.bodies, world.inner])
