"""Scenes that live at random: whoever is freed, moved, disabled or told, the engine has nothing to complain of."""
from __future__ import annotations

import random

import pytest

from addons.ai_core.bridge.gd import NodePath, construct

CHARACTER = """
    extends Node3D
    signal yelled(what: int)
    var heard := 0
    func think(_elapsed_s: float) -> void: pass
    func hear(_code: String, _arguments: Array) -> void: heard += 1
    func job(key: String) -> String: return key
    func watched(_key: String, _value: Variant) -> void: pass
    func begin(manager: AIEventManager) -> void:
        manager.listen(["noise", "alarm"], hear)
        manager.at_time("09:00", hear, true)
        manager.add_radio(self)
        $Slicer.set_job(job)
        $Slicer.add_job("x")
        $Brain.watch_value("scared", watched)
"""


def made(class_name, parent, name="", **settings):
    one = construct(class_name)
    if name:
        one.set("name", name)
    for key, value in settings.items():
        one.set(key, value)
    parent.add_child(one)
    return one


class Scene:
    """Schedulers, managers and characters, of whom any may go at any time."""

    def __init__(self, root, script, seed):
        self.chance, self.script = random.Random(seed), script
        self.top = made("Node3D", root, "World")
        self._schedulers = [made("AIScheduler", self.top, budget=0.0, policy=seed % 4)]
        self._managers, self._characters = [made("AIEventManager", self.top, day_length=24.0)], []
        for more in (self.schedule, self.manage, self.come, self.come):
            more()

    def one(self, kind):
        alive = getattr(self, f"_{kind}")
        alive[:] = [one for one in alive if one.is_valid()]
        if not alive:
            {"schedulers": self.schedule, "managers": self.manage, "characters": self.come}[kind]()
        return self.chance.choice(alive)

    def place(self):
        return self.chance.choice([self.one("schedulers"), self.one("managers"), self.top])

    def schedule(self):
        self._schedulers.append(made("AIScheduler", self.top, budget=self.chance.choice([0.0, 50.0])))

    def manage(self):
        self._managers.append(made("AIEventManager", self.one("schedulers"), day_length=24.0))

    def come(self):
        one = self.script.new()
        made("AIBehavior", one, period=self.chance.randrange(1, 4))
        made("Timeslicer", one, "Slicer")
        made("SignalEvent", one, source=NodePath(".."), signal_name="yelled", code="noise")
        brain = made("HabitTree", one, "Brain", values={"scared": False, "target": None})
        made("HabitMoveTo", brain, target_key="target", condition="target != null")
        made("HabitWait", made("Habit", brain, condition="scared", launch=1), duration=0.05)
        made("Habit", brain)
        mood = made("StateMachine", one, "Mood")
        calm = made("AIState", mood, "Calm")
        made("StateTransition", calm, event="shout", to=NodePath("../../Angry"))
        made("StateTransition", made("AIState", mood, "Angry"), after=0.05, to=NodePath("../../Calm"))
        self.place().add_child(one)
        one.call("begin", self.one("managers"))
        self._characters.append(one)

    def go(self):
        self.chance.choice([self.one("characters").free, self.one("characters").queue_free])()
        self.come()

    def walk(self):
        one = self.one("characters")
        one.get_parent().remove_child(one)
        self.place().add_child(one)

    def lose_scheduler(self):
        self.schedule()
        self.one("schedulers").free()

    def lose_manager(self):
        self.one("managers").free()

    def move_manager(self):
        manager = self.one("managers")
        manager.get_parent().remove_child(manager)
        self.one("schedulers").add_child(manager)

    def take(self):
        self.one("managers").adopt_listener(self.one("characters"))
        self.one("managers").transfer_listeners(self.one("managers"))

    def tell(self):
        sticky = {"sticky": self.chance.random() < 0.2}
        delay = self.chance.choice([0.0, 0.1])
        self.one("managers").send_to_all(self.chance.choice(["noise", "alarm"]), [], delay, sticky)
        self.one("managers").send_now("noise", [], self.chance.randrange(4))
        self.one("characters").emit_signal("yelled", 1)

    def feel(self):
        one, brain = self.one("characters"), self.one("characters").get_node("Brain")
        brain.set_value("scared", self.chance.random() < 0.5, self.chance.choice(["", "world"]))
        brain.set_value("target", self.one("characters"))
        brain.set("squad", self.chance.choice(["", "red"]))
        one.get_node("Mood").send_event("shout")

    def disable(self):
        self.one("characters").process_mode = self.chance.choice([0, 4])

    def forget_habit(self):
        self.chance.choice(self.one("characters").get_node("Brain").get_children()).free()
        made("HabitWait", self.one("characters").get_node("Brain"), duration=0.03)

    def save(self):
        assert self.one("schedulers").save_state()


DEEDS = ("come", "go", "walk", "lose_scheduler", "lose_manager", "move_manager", "take", "tell", "tell", "feel", "feel",
         "disable", "forget_habit", "save")


@pytest.mark.parametrize("seed", range(12))
def test_whatever_goes_and_comes_the_engine_has_nothing_to_say(root, gdscript, physics_frames, expect_errors, seed):
    scene = Scene(root, gdscript(CHARACTER), seed)
    expect_errors("was freed while it listened; call unlisten() before freeing it")
    for _ in range(25):
        getattr(scene, scene.chance.choice(DEEDS))()
        physics_frames(1)
    last = made("AIEventManager", made("AIScheduler", scene.top), day_length=24.0)
    scene._managers = [last]
    scene.come()
    scene._characters[-1].free()               # so that somebody was freed who listened
    last.send("alarm")
    physics_frames(2)
    scene.top.free()
    physics_frames(1)
