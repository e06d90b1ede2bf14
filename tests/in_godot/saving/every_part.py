"""A scene with every kind of node that has state, some life in it, and its saves: for tests of saving."""
from __future__ import annotations

import copy

from addons.ai_core.bridge.gd import Vector2, Vector3, construct, singleton
from tests.addon.every_node import SCENE, VILLAGER

MORE = '''
func _save_state() -> Variant: return {"thoughts": thoughts, "at": global_position}
func _load_state(state: Dictionary) -> void: thoughts = state["thoughts"]
func answer() -> int: return thoughts
func job(_key: String) -> int: return 1
func hear(_code: String, _arguments: Array) -> void: thoughts += 1
'''


class EveryPart:
    """The scene, lived for some frames; it is stepped by hand.

    Args:
        gdscript: the fixture.
        folder: where its scene may be written.
    """

    def __init__(self, gdscript, folder):
        file = folder / "every_part.tscn"
        file.write_text("\n".join(line for line in SCENE.splitlines() if "ExtResource" not in line
                                  and not line.startswith("[ext_resource")))
        self.top = singleton("ResourceLoader").load(str(file), "", 0).instantiate()
        self.ai, self.flat_ai = self.top.get_node("AI"), self.top.get_node("Flat/AI")
        for one in (self.ai, self.flat_ai):
            one.set("update", 2)
            one.set("budget", 0.0)
        self.top.get_node("Villager/Day/Routine/Play").free()
        self.villager = self.top.get_node("Villager")
        self.villager.set_script(gdscript(VILLAGER + MORE))
        self.bodies = [self.villager, self.top.get_node("Fire"), self.top.get_node("Camera")]
        for number in range(2):
            body = construct("CharacterBody3D")
            body.set("name", f"Recruit{number}")
            body.set("position", Vector3(number, 0, 3))
            member = construct("SquadMember")
            member.set("name", "Member")
            member.set("squad_path", "../../AI/Squad")
            body.add_child(member)
            self.top.add_child(body)
            self.bodies.append(body)
        self.flat = [self.top.get_node("Flat/AI/Sensor"), self.top.get_node("Flat/AI/Fire")]
        for body in self.bodies + self.flat:
            body.add_to_group("ai_saved")

    def begin(self):
        """Let it have something to save; when it is in the tree."""
        node = self.ai.get_node
        events, squad = node("Events"), node("Squad")
        events.call("listen", "alarm", self.villager.hear)
        events.call("send", "alarm", [1, self.villager, Vector3(1, 2, 3), 1.5], 5.0)
        events.call("send", "alarm", [], 0.0, {"sticky": True})
        node("Station").call("add_topic", "thoughts", self.villager.answer, 7)
        node("Station").call("poll", "thoughts")
        node("Jobs").call("set_job", self.villager.job)
        node("Jobs").call("add_job", "x")
        squad.call("move_to", Vector3(8, 0, 8))
        squad.call("see", [self.top.get_node("Fire")])
        self.top.get_node("Fire").call("emit", "hearing", 5.0)
        self.flat[1].call("emit", "hearing", 5.0)

    def live(self, frames):
        for _ in range(frames):
            self.ai.call("step", 1 / 60)
            self.flat_ai.call("step", 1 / 60)

    def put(self, x, y, z):
        """Put everything at a place, every other thing at the opposite one."""
        for number, body in enumerate(self.bodies):
            side = (-1) ** number
            body.set("position", Vector3(side * x, side * y, side * z))
        for number, body in enumerate(self.flat):
            side = (-1) ** number
            body.set("position", Vector2(side * x, side * y))

    def save(self):
        return copy.deepcopy([self.ai.call("save_state"), self.flat_ai.call("save_state")])

    def load(self, states):
        return [one.call("load_state", state) for one, state in zip((self.ai, self.flat_ai), states, strict=True)]
