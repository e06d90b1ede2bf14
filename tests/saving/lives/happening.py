"""Lives of events, polling, and level of detail."""
from __future__ import annotations

import math
import random

import numpy as np

from ai_core.errors import CycleError
from ai_core.events.checking import CheckingEngine, EventCheck
from ai_core.events.event_manager import EventManager
from ai_core.events.narrowcast import REACHES, Narrowcast
from ai_core.events.polling_station import PollingStation
from ai_core.events.squad_radio import SquadRadio
from ai_core.events.time_of_day import TimeOfDay
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD, LODBehavior
from ai_core.level_of_detail.group_lod import GroupLOD
from ai_core.level_of_detail.importance import Importance
from ai_core.level_of_detail.level_limits import Level, LevelLimits
from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.community import Community
from ai_core.level_of_detail.population.distributions import Normal
from ai_core.level_of_detail.population.population import Population
from ai_core.level_of_detail.scheduling_lod import RateBand, SchedulingLOD, TaskRate
from ai_core.level_of_detail.viewer import Viewer
from ai_core.saving.values import SavedValues
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.scheduling.task import Turn
from tests.saving.lives.life import Life, plain, steps

BOB = object()
VALUES = SavedValues({"bob": BOB})
CODES = ("alarm", "noise", "calm")


class EventsLife(Life):
    classes = (EventManager,)

    def build(self):
        self.events = EventManager(self.clock, codes=CODES, faults=self.faults, values=VALUES)
        for name in "abc":
            self.events.listen(CODES[:2], lambda event, name=name: self.hear(name, event), name=name,
                               priority=ord(name) % 2, near=((0, 0, 0), 5.0) if name == "b" else None)
        for name in "xy":
            self.events.listen("calm", lambda event, name=name: self.hear(name, event), name=name, once=True)

    def hear(self, name, event):
        self.told.append((name, event.code, event.arguments == (1, BOB), event.sent_at_s, event.position))
        if self.chance.random() < 0.2:
            raise RuntimeError(f"{name} is deaf")

    def subjects(self):
        return {"events": self.events}

    def do_send(self, chance):
        late = {"deadline_s": 1.25} if chance.random() < 0.3 else {}
        where = {"position": (chance.uniform(-9, 9), 0, 0)} if chance.random() < 0.5 else {}
        self.events.send(
            chance.choice(CODES), 1, BOB, sender=chance.choice([None, BOB]), delay_s=chance.choice([0, 0.25, 1.0]),
            priority=chance.randint(0, 2), is_sticky=chance.random() < 0.2, **late, **where)

    def do_send_now(self, chance):
        self.events.send_now(chance.choice(CODES), (1, BOB))

    def do_advance(self, chance):
        self.clock.advance()
        self.events.advance(steps(chance))
        return self.events.counts, [self.events.sticky(code) is None for code in CODES]


class NarrowcastLife(Life):
    classes = (Narrowcast,)
    groups, members = ("side", "A", "B", "C"), ("m0", "m1", "m2")

    def build(self):
        self.cast = Narrowcast(self.clock, faults=self.faults, values=VALUES)
        for index, name in enumerate(self.groups):
            self.cast.add_group(name, under=self.cast.group("side") if index in (1, 2) else None)
        for index, name in enumerate(self.members):
            member = self.cast.add_member(name, self.cast.group(self.groups[index]))
            member.listen("x", lambda event, name=name: self.hear(name, event), once=index == 1, name=name)
            member.listen("*", lambda event, name=name: self.hear(name + "*", event), priority=index % 2)

    hear = EventsLife.hear

    def subjects(self):
        return {"cast": self.cast}

    def group(self, chance):
        return self.cast.group(chance.choice(self.groups))

    def do_send(self, chance):
        self.group(chance).send(
            "x", 1, BOB, reach=chance.choice(REACHES), delay_s=chance.choice([0, 0.3]), is_sticky=chance.random() < 0.2)

    def do_send_now(self, chance):
        self.group(chance).send_now("y", 1, BOB, reach=chance.choice(REACHES))

    def do_move(self, chance):
        self.cast.member(chance.choice(self.members)).move_to(self.group(chance))

    def do_reassign(self, chance):
        try:
            self.group(chance).move_under(chance.choice([None, self.group(chance)]))
        except CycleError:
            return "cycle"

    def do_advance(self, chance):
        self.clock.advance()
        self.cast.advance(steps(chance))
        return self.cast.counts, self.cast.queue_length


class RadioLife(Life):
    classes = (SquadRadio,)

    def build(self):
        self.cast = Narrowcast(self.clock)
        group = self.cast.add_group("red")
        self.radios = [SquadRadio(self.cast.add_member(name, group), capacity=4) for name in ("ann", "bob")]

    def subjects(self):
        return {"radio": self.radios[0]}

    def parts(self):
        return {**super().parts(), "cast": self.cast, "other": self.radios[1]}

    def do_report(self, chance):
        chance.choice(self.radios).report_sighting(
            chance.choice("abc"), content=chance.choice([None, "black", 3]), position=(1, chance.random()))

    def do_announce(self, chance):
        chance.choice(self.radios).announce_intent(chance.choice(["flank", "wait"]), delay_s=chance.choice([0, 0.5]))

    def do_forget(self, chance):
        self.radios[0].forget(subject=chance.choice("abc"))

    def do_advance(self, chance):
        self.clock.advance()
        self.cast.advance(steps(chance))
        return [radio.messages() for radio in self.radios]


class TimeOfDayLife(Life):
    classes = (TimeOfDay,)

    def build(self):
        self.day = TimeOfDay(self.clock, day_length_s=24.0, starts_at="08:00", names={"dawn": "06:00"})
        for time in ("dawn", "09:00", "17:00"):
            self.day.listen(time, lambda event, time=time: self.told.append((time, event.arguments)), name=time,
                            every_day=time == "dawn")

    def subjects(self):
        return {"day": self.day}

    def do_advance(self, chance):
        self.clock.advance(chance.randint(1, 20))
        self.day.advance(steps(chance))
        return str(self.day)

    def do_jump(self, chance):
        self.day.jump_to(chance.choice(["05:00", "12:30", "dawn"]), day=chance.choice([None, 4]))


class CheckLife(Life):
    classes = (EventCheck,)

    def build(self):
        self.scheduler = Scheduler(self.clock, policy=Policy.FREQUENCY, faults=self.faults)
        self.events = EventManager(self.clock, codes=CODES)
        self.events.listen("alarm", print)
        self.check = CheckingEngine(self.events, self.scheduler, self.clock).add(
            "alarm", lambda codes: self.told.append((codes, self.clock.now.frame)), period_frames=2)
        CheckingEngine(self.events, self.scheduler, self.clock).add("calm", print, name="calm")

    def subjects(self):
        return {"check": self.check}

    def parts(self):
        return {**super().parts(), "scheduler": self.scheduler}

    def do_advance(self, chance):
        self.clock.advance()
        self.scheduler.advance(steps(chance))
        return self.check.runs, self.check.skips


class PollingLife(Life):
    classes = (PollingStation,)

    def build(self):
        self.station = PollingStation(self.clock, faults=self.faults, values=VALUES)
        self.station.add_topic("far", self.far, lifetime_frames=3, max_keys=3, fallback=None)
        self.station.add_topic("pair", self.far, lifetime_s=0.5, fallback=None)
        self.station.add_topic("bad", self.bad, fallback="none")

    def far(self, *key):
        self.told.append(("far", [one is BOB or one for one in key]))
        return self.clock.now.frame, BOB

    def bad(self):
        if self.chance.random() < 0.5:
            raise RuntimeError("no idea")
        return 7

    def subjects(self):
        return {"station": self.station}

    def do_poll(self, chance):
        answer = self.station.poll("far", chance.choice([1, 2, BOB, (1, 2), "x"]))
        return answer and answer[0]

    def do_pair(self, chance):
        answer = self.station.poll_with_age("pair", chance.randint(0, 2), chance.randint(3, 4)).value
        return answer and answer[0]

    def do_bad(self, chance):
        return self.station.poll("bad")

    def do_advance(self, chance):
        self.clock.advance()
        self.station.advance(steps(chance))
        return self.station.statistics()

    def do_begin_frame(self, chance):
        self.clock.advance()
        self.station.begin_frame(steps(chance, 2))
        seen = self.do_poll(chance), self.do_pair(chance)
        self.clock.advance()
        return seen

    def do_invalidate(self, chance):
        self.station.invalidate(chance.choice(["far", "pair"]))


class ImportanceLife(Life):
    classes = (Importance,)

    def build(self):
        self.importance = Importance()
        self.ids = self.importance.add(3, role=0.5).tolist()

    def subjects(self):
        return {"importance": self.importance}

    def some(self, chance):
        return sorted(chance.sample(self.ids, 2))

    def do_notice(self, chance):
        self.importance.notice(self.some(chance), chance.random())
        self.importance.damage(self.some(chance), chance.random())

    def do_force(self, chance):
        self.importance.force(self.some(chance), chance.random(), for_s=chance.choice([None, 0.6]))

    def do_unforce(self, chance):
        self.importance.unforce(self.some(chance))

    def do_update(self, chance):
        places = np.random.default_rng(chance.randrange(99)).uniform(-50, 50, (len(self.ids), 3))
        viewers = [Viewer((0, 0, 0), forward=(0, 0, -1))]
        return self.importance.update(viewers, places.astype(np.float32), 0.25).tolist()


class LevelLimitsLife(Life):
    classes = (LevelLimits,)

    def build(self):
        self.limits = LevelLimits([Level(0.5, 1.0, max_count=2), Level(0.0, 0.6)], spread_updates=2)

    def subjects(self):
        return {"limits": self.limits}

    def do_update(self, chance):
        ids = sorted(chance.sample(range(6), chance.randint(1, 6)))
        return self.limits.update(ids, [chance.random() for _ in ids], 0.25).tolist(), self.limits.counts

    def do_force(self, chance):
        self.limits.update(range(6), [0.5] * 6)
        self.limits.force(chance.randrange(6), chance.randint(0, 1), for_s=chance.choice([None, 0.5]))

    def do_unforce(self, chance):
        self.limits.update(range(6), [0.5] * 6)
        self.limits.unforce(chance.randrange(6))


class BehavioralLODLife(Life):
    classes = (BehavioralLOD,)

    def build(self):
        def behavior(name, lowest, highest):
            return LODBehavior(
                name=name, work=lambda turn: self.work(name, turn), lowest=lowest, highest=highest,
                enter=lambda before, data: self.told.append(("enter", name, data)), exit=lambda after: f"from {name}")

        self.lod = BehavioralLOD(
            [behavior("walk", 0.6, 1.0), behavior("stroll", 0.3, 0.65), behavior("sleep", 0.0, 0.35)],
            faults=self.faults)

    def work(self, name, turn):
        self.told.append((name, turn.elapsed_s))
        if self.chance.random() < 0.2:
            raise RuntimeError("tripped")

    def subjects(self):
        return {"lod": self.lod}

    def do_turn(self, chance):
        self.lod.importance = chance.random()
        self.lod(Turn(self.clock.now, 0.25, steps(chance)))
        return self.lod.current, self.lod.switches

    def do_force(self, chance):
        self.lod.force(chance.choice(["walk", "sleep"]), for_s=chance.choice([None, 0.6]))

    def do_unforce(self, chance):
        self.lod.unforce()

    def do_release(self, chance):
        self.lod.release(chance.choice(["walk", "stroll"]))


class GroupLODLife(Life):
    classes = (GroupLOD,)

    def build(self):
        self.importance = 0.0
        self.city = GroupLOD(
            "city", self.clock, importance=lambda: self.chance.random(), work=self.work("city"), faults=self.faults,
            closed_period_frames=3, expand=lambda: ["ann", "bob"], member=self.member,
            compress=lambda: self.told.append("compressed"))
        self.scheduler = Scheduler(self.clock, policy=Policy.FREQUENCY, faults=self.faults)
        self.scheduler.add(self.city, name="city")

    def member(self, name):
        return self.work(name)

    def work(self, name):
        def run(turn):
            self.told.append((name, turn.elapsed_s))
            if self.chance.random() < 0.2:
                raise RuntimeError("tripped")
        return run

    def subjects(self):
        return {"city": self.city}

    def parts(self):
        return {**super().parts(), "scheduler": self.scheduler}

    def do_advance(self, chance):
        self.clock.advance()
        self.scheduler.advance(steps(chance))
        return self.city.is_open

    def do_open(self, chance):
        (self.city.open if chance.random() < 0.5 else self.city.close)(self.clock.now.frame)


class CommunityLife(Life):
    classes = (Community,)

    def build(self):
        jobs = Categorical({"farmer": 15, "smith": 5})
        self.village = Community(Population(20, {"age": Normal(40.0, 15.0), "job": jobs}))

    def subjects(self):
        return {"village": self.village}

    def do_pin(self, chance):
        name = chance.choice(["Ilse", "Karl", "Rosa", "Emil"])
        if name not in self.village.known:
            self.village.pin(name, {"age": chance.uniform(1, 80), "job": "smith"}, until_s=chance.choice([math.inf, 9]))

    def do_open(self, chance):
        people = self.village.open(random.Random(chance.random()), self.clock.now.seconds)
        row = chance.randrange(len(people))
        for column in people.columns.values():
            column[row] = column[0]
        if row >= len(people.known):
            self.clock.advance()
            name = f"person at the well at {self.clock.now.seconds} s"
            people.remember(row, name, until_s=self.clock.now.seconds + 1.0, facts={"carries": "water"})
        self.village.close(people, self.clock.now.seconds)
        return self.village.count, sorted(self.village.known)

    def do_release(self, chance):
        self.village.release_expired(self.clock.now.seconds)


class SchedulingLODLife(Life):
    classes = (SchedulingLOD,)

    def build(self):
        self.scheduler = Scheduler(self.clock, policy=Policy.FREQUENCY)
        self.lod = SchedulingLOD(self.scheduler, [
            RateBand(0.6, TaskRate(1, 4.0)), RateBand(0.0, TaskRate(9, 0.5)), RateBand(0.3, TaskRate(3, 1.0))])
        self.tasks = [self.scheduler.add(lambda turn, n=n: self.told.append((n, turn.elapsed_s)), name=f"agent {n}")
                      for n in range(3)]
        for task in self.tasks:
            self.lod.add(task)

    def subjects(self):
        return {"lod": self.lod}

    def parts(self):
        return {**super().parts(), "scheduler": self.scheduler}

    def do_update(self, chance):
        return self.lod.update([chance.random() for _ in self.tasks], steps(chance))

    def do_choose(self, chance):
        self.lod.choose({task: chance.random() for task in self.tasks})

    def do_advance(self, chance):
        self.clock.advance()
        self.scheduler.advance(steps(chance))
        return plain(self.scheduler.statistics())


LIVES = (EventsLife, NarrowcastLife, RadioLife, TimeOfDayLife, CheckLife, PollingLife, ImportanceLife, LevelLimitsLife,
         BehavioralLODLife, GroupLODLife, CommunityLife, SchedulingLODLife)
