"""A world with everything in it that lives across frames, for saving and loading.

What happens in a frame depends on the frame and on saved state alone, so that a world
built anew and loaded can go on where another one stood. Guards and thieves come and go,
and are built in another order than they came in.

``python -m tests.saving.museum_night SEED FRAME FRAMES`` reads a snapshot, goes on, and prints its diary.
"""
from __future__ import annotations

import json
import random
import sys

import numpy as np

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.decisions.habits.habit_status import Launch, Status
from ai_core.decisions.habits.habit_tree import HabitTree
from ai_core.decisions.habits.habits import Habit
from ai_core.events.event_manager import EventManager
from ai_core.events.polling_station import PollingStation
from ai_core.faults import FaultIsolation
from ai_core.saving.chance import RandomState
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import Whole
from ai_core.saving.values import SavedValues
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.snapshot import from_json, restore, take, to_json
from ai_core.trace import Trace

CODES = ("alarm", "calm", "noise")
LAST_FRAME = 40


class Sweep(Saveable):
    """Work that is a generator and knows how far it has come."""

    STATE = DeclaredState(row=Whole(maximum=lambda sweep: sweep.rows))

    def __init__(self, diary, rows):
        self.diary, self.rows, self.row = diary, rows, 0

    def __call__(self, turn):
        while self.row < self.rows:
            self.diary.append(("sweep", self.row))
            self.row += 1
            yield
        self.row = 0


class Guard:
    """Somebody events and topics may speak of."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<Guard {self.name}>"


class Night:
    """The museum at night, as it is in a frame: who is there depends on it."""

    def __init__(self, seed, frame=0):
        choose = random.Random(seed)
        self.diary = []
        self.steps = choose.choice([3, 5, 8, 13, 30, 60])
        self.coming = {f"guard {n}": choose.choice([0, 0, choose.randint(1, LAST_FRAME)]) for n in range(4)}
        self.going = {name: at + choose.randint(3, 30) for name, at in self.coming.items()}
        self.people = {name: Guard(name) for name in self.coming}
        self.values = SavedValues(self.people)
        self.clock = ManualClock(0.125)
        self.faults = FaultIsolation(report=lambda fault: self.note("fault", fault.name, fault.failures_in_a_row))
        self.trace = Trace()
        self.trace.listen(self)
        self.dice = random.Random(seed + 1)
        self.ids, self.tasks, self.trees = {}, {}, {}
        self.build(choose)
        present = [name for name in self.coming if self.coming[name] <= frame < self.going[name]]
        for name in present if frame == 0 else reversed(present):
            self.arrive(name)

    def build(self, choose):
        shared = {"faults": self.faults, "trace": self.trace}
        self.root = Scheduler(self.clock, **shared)
        self.inner = Scheduler(self.clock, policy=Policy.FREQUENCY, **shared)
        self.events = EventManager(self.clock, codes=CODES, values=self.values, **shared)
        self.station = PollingStation(self.clock, faults=self.faults, values=self.values)
        self.senses = RegionalSenseManager(
            self.clock, line_of_sight=self.line_of_sight, max_rays=choose.randint(1, 6), report_every_s=0.25,
            modalities=(Modality.sight(), Modality.hearing(speed_m_per_s=20.0)), **shared)
        self.station.add_topic("far", self.far, lifetime_frames=3)
        self.station.add_topic("moody", self.moody, lifetime_frames=None, max_keys=3, fallback=-1)
        self.root.add(self.events, name="events")
        self.root.add(self.senses, name="senses", priority=3)
        self.root.add(self.inner, name="inner", period_frames=2)
        self.root.add(Sweep(self.diary, choose.randint(5, 12)), name="sweep", period_frames=3)
        self.inner.add(self.stumble, name="stumble", period_frames=choose.randint(1, 5))
        self.inner.add(self.listen_closely, name="poll")
        self.events.listen(CODES, self.hear, name="log")
        self.events.listen("noise", self.refuse, name="grump")
        self.events.listen("noise", self.hear, name="log")
        for number in range(3):
            self.ids[f"thief {number}"] = self.senses.add_source(
                position=(0, 0, 0), strengths={"sight": 1.0, "hearing": 2.0}, name=f"thief {number}")

    def arrive(self, name):
        self.ids[name] = self.senses.add_sensor(
            position=(0, 0, 0), forward=(0, 0, -1), thresholds={"sight": 0.2, "hearing": 0.3}, name=name,
            sight_cones=(SightCone(9.0, 2.0, 2.0), SightCone(3.0, 6.2, 3.1, 0.5)),
            memory=SenseMemory(lose_after_s=0.4, max_age_s=1.5),
            awareness=AwarenessSettings(gain_per_s=0.6, decay_per_s=0.4),
            on_sensed=lambda one: self.note("sensed", one.sensor_id, one.source_id, one.intensity),
            on_gained=lambda change: self.note("gained", name, change.target, change.at_s),
            on_lost=self.refuse, on_forgotten=lambda change: self.note("forgot", name, change.target),
            on_awareness_changed=lambda level: self.note("aware", name, level.name, level.at_s))
        tree = HabitTree(
            self.habits(name), name=name, clock=self.clock, random=self.dice, trace=self.trace,
            faults=self.faults, values=self.values)
        self.trees[name] = tree
        self.tasks[name] = self.root.add(tree.advance, name=name, period_frames=1 + len(name) % 3)

    def leave(self, name):
        self.root.remove(self.tasks.pop(name))
        self.senses.remove_sensor(self.ids.pop(name))
        del self.trees[name]

    def habits(self, name):
        def patience(context):
            context.memory["waited"] = context.memory.get("waited", 0) + 1
            if context.memory["waited"] == 2:
                context.hold(0.5)
            return Status.SUCCEEDED if context.memory["waited"] > 3 else Status.RUNNING

        def wander(context):
            board = context.blackboard
            board["steps"] = board.get("steps", 0) + 1
            board["seen"] = (board["steps"], {"at": np.float32(context.time_in_habit_s)}, self.people[name])
            if board["steps"] % 4 == 2:
                raise RuntimeError("tripped")
            return Status.SUCCEEDED if board["steps"] % 3 == 0 else Status.RUNNING

        def hears(context):
            return (self.clock.now.frame + len(name)) % 9 < 2

        steps = [Habit(one, tick=patience) for one in "abc"]
        return Habit("root", [
            Habit("alert", can_activate=hears, tick=patience, urgency=1.0),
            Habit("routine", steps, Launch.SEQUENTIAL, can_activate=lambda c: self.clock.now.frame % 5 < 3),
            Habit("roam", [Habit(one, tick=wander, weight=n + 1) for n, one in enumerate("xyz")], Launch.RANDOM),
            Habit("hum", non_blocking=True, tick=patience),
        ])

    def frame(self):
        """Live one frame; everything that was told is in the diary."""
        self.clock.advance()
        now = self.clock.now.frame
        for name in self.coming:
            if self.coming[name] == now:
                self.arrive(name)
            elif self.going[name] == now and name in self.tasks:
                self.leave(name)
        self.move(now)
        if now % 3 == 0:
            self.events.send(CODES[now % 2], now, ("at", now), sender=self.people["guard 1"], delay_s=(now % 5) / 10)
        if now % 4 == 1:
            self.events.send("noise", {"loud": now})
            self.senses.emit(self.ids[f"thief {now % 3}"], "hearing", 2.0 + now % 4)
        self.root.advance(Budget.of_steps(self.steps))

    def move(self, now):
        for name, one in self.ids.items():
            angle = now / 7 + len(name) + int(name[-1])
            place = [(4 * np.cos(angle), 0, 4 * np.sin(angle / 2))]
            if name in self.tasks:
                self.senses.move_sensors([one], place, [(np.sin(angle), 0, np.cos(angle))])
            else:
                self.senses.move_sources([one], place)

    def look_up_ids(self):
        """Ids are those of the save after loading; names find them."""
        for names in (self.senses.sensor_names, self.senses.source_names):
            self.ids.update({name: one for one, name in names.items()})

    def parts(self):
        return {
            "clock": self.clock, "faults": self.faults, "root": self.root, "station": self.station,
            "dice": RandomState(self.dice),
            **{f"habits/{name}": tree for name, tree in self.trees.items()},
        }

    # what happens

    def note(self, *what):
        self.diary.append((self.clock.now.frame, *what))

    def line_of_sight(self, eyes, targets, sensor_ids, source_ids):
        return (eyes[:, 0] * targets[:, 2] + self.clock.now.frame % 3) > 0

    def far(self, person, number):
        self.note("computed far", person.name, number)
        return (person, number + self.clock.now.frame)

    def moody(self, number):
        self.note("computed moody", number)
        if self.clock.now.frame % 2:
            raise ValueError("not now")
        return [number]

    def listen_closely(self, turn):
        now = turn.now.frame
        self.note("polled", self.station.poll("far", self.people["guard 0"], now % 4)[1], turn.elapsed_s)
        self.note("polled", self.station.poll("moody", now % 5))

    def stumble(self, turn):
        self.note("stumble", turn.elapsed_s)
        if turn.now.frame % 11 < 8:
            raise ValueError("stumbled")

    def hear(self, event):
        self.note("heard", event.code, repr(event.arguments), repr(event.sender), event.sent_at_s)

    def refuse(self, what):
        self.note("refused")
        if self.clock.now.frame % 8 < 5:
            raise RuntimeError("go away")

    def before_task(self, name, now):
        self.note("ran", name)

    def state_entered(self, owner, path, reason, now):
        self.note("entered", owner, path, reason)


def lived(seed, frames):
    night = Night(seed)
    for _ in range(frames):
        night.frame()
    return night


def saved(night):
    return to_json(take(night.parts()))


def loaded(seed, frame, text):
    """A world built anew, whose diary begins with the frame after the save."""
    night = Night(seed, frame)
    restore(from_json(text), night.parts())
    night.look_up_ids()
    night.diary.clear()
    return night


if __name__ == "__main__":
    seed, frame, frames = map(int, sys.argv[1:])
    night = loaded(seed, frame, sys.stdin.read())
    for _ in range(frames):
        night.frame()
    json.dump([repr(night.diary), saved(night)], sys.stdout)
