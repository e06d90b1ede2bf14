"""The museum of the demo, played by its script and watched frame by frame."""
from __future__ import annotations

from addons.ai_core.bridge.gd import singleton

SCENE = "res://demo_project/scenes/museum.tscn"
BODIES = ("Alice", "Bob", "Intruder")
# Another thread builds the map, while frames that do nothing take microseconds.
MOST_FRAMES_TO_BAKE = 20_000
GRID = 1e-4


class Museum:
    """A scripted museum; ``saved`` is what it begins with.

    Attributes:
        rows: by the frame of the AI's clock, all that can be seen of it.
    """

    def __init__(self, nodes, physics_frames, saved=None, budget=0.0):
        self._physics_frames, self._reported = physics_frames, []
        self.node = singleton("ResourceLoader").load(SCENE).instantiate()
        self.node.set("is_scripted", True)
        if saved is not None:
            self.node.set("saved", saved)
        nodes.keep(self.node, None)
        self.scheduler = self.node.get_node("Life/AIScheduler")
        self.scheduler.budget = budget
        self.scheduler.trace.listen(self)
        story = self.node.get_node("Life/Story")
        story.connect("reported", self._on_reported)
        self.rows = {}

    def live(self, frames):
        """Run so many frames of AI; before the first, until the level is baked and life begins."""
        waited, last = 0, len(self.rows) + frames
        while len(self.rows) < last and waited < frames + MOST_FRAMES_TO_BAKE:
            before, self._reported = self.frame, []
            self._physics_frames(1)
            waited += 1
            if self.frame != before:
                self.rows[self.frame] = (tuple(self._reported), *map(self._seen, BODIES), *self._doors())

    @property
    def frame(self):
        return self.scheduler.clock.now.frame

    def _seen(self, name):
        body = self.node.get_node(f"Life/{name}")
        place, speed = body.get("global_position"), body.get("velocity")
        row = [name, *quantised((place.x, place.z, body.get("rotation").y, speed.x, speed.z))]
        if name != "Intruder":
            row += [*body.get_node("Habits").get_active_paths(), body.call("alertness"), body.call("why")]
        return tuple(row)

    def _doors(self):
        for door in self.node.get_node("Life").get_children():
            if door.has_method("_save_state") and door.get_node_or_null("Panel") is not None:
                yield quantised([door.get("_openness")])

    def _on_reported(self, time_s, who, what, details):
        self._reported.append((*quantised([time_s]), who, what, details))

    def sensed(self, sensor_id, source_id, modality, intensity, now):
        self._reported.append(("sensed", sensor_id, source_id, modality, *quantised([intensity, now.seconds])))

    def state_entered(self, owner, path, reason, now):
        self._reported.append((owner, path, reason, now.frame))

    def event_sent(self, event, now):
        self._reported.append((event.code, now.frame))


def quantised(numbers):
    return tuple(round(number / GRID) for number in numbers)
