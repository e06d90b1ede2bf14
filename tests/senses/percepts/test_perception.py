"""What sensors remember and are aware of, beside a plain model of it; and what listeners may do meanwhile."""
import gc
import math
import random
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessLevel, AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory, TargetReport
from ai_core.senses.sensation import Sensation
from tests.senses.worlds import Rays, World, hearing

LEVELS = [AwarenessLevel("uneasy", 0.2, 0.05, 0.1), AwarenessLevel("alert", 0.75, 0.5, 0.3)]
MODALITIES = (Modality.sight(range_m=14, kept_per_m=0.97), hearing(), Modality.touch(range_m=3))


class Yard(World):
    """Random people who come, go, hide, make noise, and are told things."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.rays = Rays()
        super().__init__(
            seconds_per_frame=self.chance.choice((1 / 60, 0.125)), line_of_sight=self.rays,
            modalities=MODALITIES, max_rays=self.chance.choice((2, 50)),
            report_every_s=self.chance.choice((0, 0.25, 5)))
        self.told, self.guards, self.thieves = [], [], []
        for _ in range(5):
            self.guards.append(self.guard())
            self.thieves.append(self.thief())

    def place(self):
        return (self.chance.uniform(0, 20), 0, self.chance.uniform(0, 20))

    def guard(self):
        chance = self.chance
        return self.eye(
            self.place(), threshold=0.0, on_sensed=self.told.append, on_gained=self.told.append,
            on_lost=self.told.append, on_forgotten=self.told.append, on_awareness_changed=self.told.append,
            memory=chance.choice((None, SenseMemory(
                lose_after_s=chance.choice((0, 0.3)), max_age_s=1, keep_expired_s=chance.choice((0, 0.5)),
                free_knowledge_s=chance.choice((0, 0.4))))),
            awareness=chance.choice((None, AwarenessSettings(chance.choice((0, 2.0)), 0.5, levels=LEVELS))))

    def thief(self):
        strengths = {"sight": self.chance.choice((0.0, 0.5, 1.0)), "hearing": 2.0, "touch": 1.0}
        return self.manager.add_source(position=self.place(), strengths=strengths)

    def live(self):
        chance, manager = self.chance, self.manager
        for _ in range(chance.choice((1, 1, 1, 1, 20))):
            self.clock.advance()
        if chance.random() < 0.4:
            manager.move_sources(self.thieves, [self.place() for _ in self.thieves])
        if chance.random() < 0.1:
            manager.remove_source(self.thieves.pop(0))
            self.thieves.append(self.thief())
            manager.remove_sensor(self.guards.pop(0))
            self.guards.append(self.guard())
        if chance.random() < 0.2:
            manager.emit(chance.choice(self.thieves), "hearing")
        if chance.random() < 0.2:
            pairs = [(guard, thief) for guard in self.guards for thief in self.thieves]
            self.rays.blocked = {pair for pair in pairs if chance.random() < 0.3}
        self.meddle(chance.choice(self.guards), chance.choice(self.thieves), chance.randrange(20))
        manager.advance(Budget.unlimited())

    def meddle(self, guard, thief, what):
        memory, now_s = self.manager.memory_of(guard), self.clock.now.seconds
        if memory is not None and what == 0:
            memory.forget(thief)
        elif memory is not None and what == 1:
            memory.hear_report(TargetReport(thief, self.place(), (0.0, 0.0, 0.0), 1.0, now_s - 0.1), 0.1)


class NoisyYard(Yard):
    """Where somebody steps or shouts in most frames, which all who look hear, too."""

    def guard(self):
        guard = super().guard()
        self.manager.change_sensor(guard, thresholds={"sight": self.chance.choice((0.0, 0.9)), "hearing": 0.01})
        return guard

    def live(self):
        for _ in range(self.chance.choice((0, 1, 3))):
            loudness = self.chance.choice((None, 0.1, 0.4))
            self.manager.emit(self.chance.choice(self.thieves), "hearing", loudness, tag="step")
        super().live()


def play(seed, asks_every):
    """Return what was told, and states in between; asking for them must change nothing."""
    yard, states = NoisyYard(seed), []
    for frame in range(60):
        yard.live()
        if frame % 12 == 11:
            states.append(yard.manager.save_state()["percepts"])
        elif frame % asks_every == 0:
            yard.manager.save_state()
    return yard.told, states


@pytest.mark.parametrize("seed", range(3))
def test_asking_changes_nothing(seed):
    assert play(seed, asks_every=1) == play(seed, asks_every=99)


def test_a_record_that_is_held_stays_up_to_date():
    world = World()
    world.eye((0, 0, 0), memory=SenseMemory(), awareness=AwarenessSettings(gain_per_s=0.1))
    thief = world.thing((0, 0, -4))
    world.tick()
    record, meter = world.manager.memory_of(0).find(thief), world.manager.awareness_of(0, thief)
    world.manager.move_sources([thief], [(1, 0, -4)])
    world.tick(frames=4)
    assert record.last_known_position == (1.0, 0.0, -4.0)
    assert meter.value == pytest.approx(0.05)
    assert meter.why().visibility == {"sight": 1.0}


def test_record_keeps_its_last_values_when_forgotten():
    world = World()
    world.eye((0, 0, 0), memory=SenseMemory(), awareness=AwarenessSettings())
    thief = world.thing((0, 0, -4))
    world.tick()
    memory, meter = world.manager.memory_of(0), world.manager.awareness_of(0, thief)
    record = memory.find(thief)
    memory.forget(thief)
    assert (record.last_known_position, record.dominant_modality) == ((0.0, 0.0, -4.0), "sight")
    world.manager.forget_all()
    assert (meter.target, meter.visibility, memory.find(thief)) == (thief, 1.0, None)


def test_recently_seen_target_is_known_freely_and_then_no_longer():
    rays = Rays()
    world = World(line_of_sight=rays, seconds_per_frame=0.25)
    world.eye((0, 0, 0), memory=SenseMemory(lose_after_s=0.1, free_knowledge_s=0.6))
    thief = world.thing((0, 0, -4))
    world.tick()
    rays.blocked = {(0, thief)}
    known = []
    for frame in range(5):
        world.manager.move_sources([thief], [(frame, 0, -4)])
        world.tick()
        known.append(world.manager.memory_of(0).find(thief).last_known_position[0])
    assert known == [0.0, 1.0, 1.0, 1.0, 1.0]
    assert world.manager.memory_of(0).find(thief).last_seen_position == (0.0, 0.0, -4.0)


def test_two_sensors_may_share_a_memory():
    world, memory = World(), SenseMemory()
    for k in range(2):
        world.eye((k, 0, 0), memory=memory)
    thief = world.thing((0, 0, -4))
    world.tick(frames=3)
    assert memory.find(thief).last_sensed_s == 0.375
    world.manager.remove_sensor(0)
    world.tick(frames=3)
    assert memory.find(thief).last_sensed_s == 0.75


def test_a_budget_of_time_that_is_always_spent_starves_nobody():
    world, ticks = World(), [0]

    def stopwatch():
        ticks[0] += 1000
        return ticks[0]

    guards = [world.eye((k / 10, 0, 0), memory=SenseMemory()) for k in range(30)]
    thief = world.thing((0, 0, -4))
    for _ in range(80):
        world.tick(budget=Budget.of_time(8.0, stopwatch))
    assert all(world.manager.memory_of(guard).find(thief) for guard in guards)


def test_newly_shared_memory_has_what_was_seen_until_now():
    world = World(modalities=[Modality.sight()], report_every_s=100)
    memory = SenseMemory()
    world.eye((0, 0, 0), threshold=0.01, memory=memory)
    thief = world.thing((0, 0, -4))
    for frame in range(5):
        world.manager.move_sources([thief], [(frame, 0, -4)])
        world.tick()
    world.eye((1, 0, 0), threshold=0.01, memory=memory)
    assert memory.find(thief).last_known_position == (4.0, 0.0, -4.0)


def test_dropped_world_with_targets_in_view_leaves_nothing():
    class Game(World):
        def __init__(self):
            super().__init__(modalities=MODALITIES)
            self.guard = self.eye((0, 0, 0), memory=SenseMemory(), awareness=AwarenessSettings(), on_sensed=self.hear)
            self.thief = self.manager.add_source(position=(0, 0, -3), strengths={"sight": 1.0})

        def hear(self, sensation):
            self.heard = sensation

    game = Game()
    for _ in range(3):
        game.manager.advance(Budget.unlimited())
        game.clock.advance()
    assert game.heard.source_id == game.thief
    dropped = weakref.ref(game.manager)
    del game
    gc.collect()
    assert dropped() is None


@pytest.fixture
def hallway():
    """One who hears a thief at arm's length, and the thief."""
    world = World(modalities=[hearing(), Modality.sight()])
    memory = SenseMemory(lose_after_s=0.5, max_age_s=5)
    awareness = AwarenessSettings(gain_per_signal=0.001, decay_per_s=0)
    guard = world.ear((0, 0, 0), memory=memory, awareness=awareness)
    thief = world.manager.add_source(position=(0, 0, 4), strengths={"hearing": 1.0})
    return world, guard, thief


@pytest.fixture
def gallery():
    """One who sees and hears a thief, is not sure for long, and has noticed him; and the thief."""
    world = World(modalities=[hearing(), Modality.sight()])
    awareness = AwarenessSettings(gain_per_s=0.001, gain_per_signal=0.001)
    guard = world.eye((0, 0, 0), threshold=0.1, memory=SenseMemory(lose_after_s=0.5), awareness=awareness)
    world.manager.change_sensor(guard, thresholds={"sight": 0.1, "hearing": 0.1})
    thief = world.manager.add_source(position=(0, 0, -4), strengths={"hearing": 1.0, "sight": 1.0})
    for _ in range(3):
        world.tick()
    return world, guard, thief


def test_what_was_heard_of_who_is_in_view_is_there_for_who_asks(gallery):
    world, guard, thief = gallery
    before = world.manager.awareness_of(guard, thief).value
    begun_s = world.clock.now.seconds
    for strength in (1.0, 0.5):
        world.manager.emit(thief, "hearing", strength)
        world.tick()
    record, meter = world.manager.memory_of(guard).find(thief), world.manager.awareness_of(guard, thief)
    sounds = [0.9**4 * strength for strength in (1.0, 0.5)]
    passed_s = world.clock.now.seconds - begun_s
    assert record.strengths["hearing"] == pytest.approx(sounds[-1])
    assert record.sensed_at_s["hearing"] == world.clock.now.seconds
    assert meter.why().stimulus_gain["hearing"] == pytest.approx(0.001 * sum(sounds))
    assert meter.value == pytest.approx(before + 0.001 * sum(sounds) + 0.001 * record.strengths["sight"] * passed_s)


def test_sound_that_makes_an_observer_certain_notifies_at_once(gallery):
    world, guard, thief = gallery
    world.manager.emit(thief, "hearing")
    world.tick()
    assert world.manager.awareness_of(guard, thief).level == 0
    world.manager.emit(thief, "hearing", 900.0)
    world.tick()
    assert world.manager.awareness_of(guard, thief).level == 1


def test_target_forgotten_between_looks_but_heard_stays_seen(gallery):
    world, guard, thief = gallery
    for _ in range(1000):
        world.clock.advance()      # nobody has a turn for two minutes
    world.manager.emit(thief, "hearing")
    for step in range(3):
        world.manager.move_sources([thief], [(0, 0, -4 - step)])
        world.tick()
    record = world.manager.memory_of(guard).find(thief)
    assert record.last_seen_position == (0.0, 0.0, -6.0)
    assert record.last_seen_s == world.clock.now.seconds


def test_what_was_noted_is_there_for_who_asks(hallway):
    world, guard, thief = hallway
    for strength in (1.0, 0.5, 0.25):
        world.manager.emit(thief, "hearing", strength)
        world.tick()
    record = world.manager.memory_of(guard).find(thief)
    meter = world.manager.awareness_of(guard, thief)
    sounds = [0.9**4 * strength for strength in (1.0, 0.5, 0.25)]
    assert record.strength == pytest.approx(sounds[-1])
    assert meter.why().stimulus_gain["hearing"] == pytest.approx(0.001 * sum(sounds))


def test_silent_target_is_lost_a_set_time_after_last_signal(hallway):
    world, guard, thief = hallway
    for _ in range(20):
        world.manager.emit(thief, "hearing")
        world.tick()
    last_s = world.manager.memory_of(guard).find(thief).last_sensed_s
    while world.manager.memory_of(guard).find(thief).is_noticed:
        world.tick()
    assert world.clock.now.seconds == pytest.approx(last_s + 0.5, abs=0.15)


def test_report_after_noted_signals_dates_from_the_last_of_them(hallway):
    world, guard, thief = hallway
    for _ in range(3):
        world.manager.emit(thief, "hearing")
        world.tick()
    memory = world.manager.memory_of(guard)
    told, = memory.hear_report(TargetReport(99, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0, 0.0))
    assert world.manager.awareness_of(guard, 99) is None
    assert told.at_s == memory.find(thief).last_sensed_s


class PlainMind:
    """What one sensor knows, as plainly as it can be written: dicts, and one target after the other."""

    def __init__(self, memory, awareness):
        self.memory, self.awareness = memory, awareness
        self.records, self.meters, self.in_view, self.changes, self.levels = {}, {}, set(), [], []

    def look(self, shown, now_s):
        """Take in all of (target, modality, intensity, place, is seen) that shows itself now."""
        before, self.in_view = self.in_view, {one[0] for one in shown}
        for target, modality, intensity, place, is_seen in shown if self.memory else ():
            record = self.records.get(target)
            if record and record["is_noticed"] and target in before:
                record["noticed_s"] = record["sensed_s"] = now_s
            self.sense(target, modality, intensity, place, now_s, now_s, is_seen)
        for target in [one for one in self.records if one not in self.in_view]:
            self.settle(target, now_s)
        visible = {}
        for target, _, intensity, _, _ in shown if self.awareness else ():
            visible[target] = max(visible.get(target, 0.0), intensity)
        for target in sorted({*self.meters, *visible}):
            meter = self.meter(target, now_s)
            self.drift(target, now_s)
            if meter["visibility"] != (shows := visible.get(target, 0.0)):
                meter["visibility"], meter["line"] = shows, (now_s, meter["value"])
            if not (meter["value"] or shows):
                del self.meters[target]

    def hear(self, target, modality, intensity, place, sent_s, now_s):
        if self.memory:
            self.sense(target, modality, intensity, place, sent_s, now_s, False)
        if self.awareness:
            meter = self.meter(target, now_s)
            self.drift(target, now_s)
            meter["value"] = min(1.0, meter["value"] + intensity * self.awareness.gain_per_signal)
            meter["line"] = now_s, meter["value"]
            self.cross(target, now_s)

    def sense(self, target, modality, intensity, place, sent_s, now_s, is_seen):
        record = self.records.get(target)
        if record and not (record["is_noticed"] and now_s <= record["noticed_s"] + self.memory.durations.lose_after_s):
            self.settle(target, now_s)
        record = self.records.setdefault(target, {
            "is_noticed": False, "is_expired": False, "first_s": now_s, "known_s": -math.inf, "seen": None,
            "velocity": (0.0, 0.0, 0.0), "strengths": {}})
        if is_seen:
            if record["seen"] and sent_s > record["seen"][1]:
                was, was_s = record["seen"]
                record["velocity"] = tuple(
                    (b - a) / (sent_s - was_s) if record["is_noticed"] else 0.0
                    for a, b in zip(was, place, strict=True))
            record["seen"] = place, sent_s
        if sent_s >= record["known_s"]:
            record["place"], record["known_s"] = place, sent_s
        record["sensed_s"] = record["noticed_s"] = now_s
        record["strengths"][modality] = intensity
        record["is_expired"] = False
        if not record["is_noticed"]:
            record["is_noticed"] = True
            self.changes.append(("gained", target, now_s, record["place"]))

    def settle(self, target, now_s):
        record, memory = self.records[target], self.memory
        moments = [("lost", record["noticed_s"] + memory.durations.lose_after_s),
                   ("expired", record["sensed_s"] + memory.durations.max_age_s)]
        for (kind, at_s), flag, until in zip(moments, ("is_noticed", "is_expired"), (True, False), strict=True):
            if record[flag] == until and now_s > at_s:
                record[flag] = not until
                self.changes.append((kind, target, at_s, record["place"]))
        if now_s > moments[1][1] + memory.durations.keep_expired_s:
            self.changes.append(("forgotten", target, moments[1][1] + memory.durations.keep_expired_s, record["place"]))
            del self.records[target]

    def meter(self, target, now_s):
        return self.meters.setdefault(
            target, {"value": 0.0, "visibility": 0.0, "line": (now_s, 0.0), "level": 0, "reacts": [], "now_s": now_s})

    def slope(self, meter):
        shows = meter["visibility"]
        return shows * self.awareness.gain_per_s if shows else -self.awareness.decay_per_s

    def drift(self, target, now_s):
        meter = self.meters[target]
        begun_s, begun = meter["line"]
        meter["value"] = min(1.0, max(0.0, begun + self.slope(meter) * (now_s - begun_s)))
        self.cross(target, now_s)

    def cross(self, target, now_s):
        meter, levels = self.meters[target], self.awareness.levels
        reacts = meter["reacts"]
        while (reached := meter["level"] + len(reacts)) < len(levels) and meter["value"] >= levels[reached].rises_at:
            at_s = self.moment(meter, levels[reached].rises_at, now_s) + levels[reached].reaction_s
            reacts.append(max([at_s, *reacts]))
        while (reached := meter["level"] + len(reacts)) and meter["value"] <= levels[reached - 1].falls_at:
            at_s = self.moment(meter, levels[reached - 1].falls_at, now_s)
            self.react(target, at_s)
            if reacts:
                reacts.pop()
            else:
                meter["level"] -= 1
                self.levels.append((target, meter["level"], at_s))
        self.react(target, now_s)

    def react(self, target, until_s):
        meter = self.meters[target]
        while meter["reacts"] and meter["reacts"][0] <= until_s:
            meter["level"] += 1
            self.levels.append((target, meter["level"], meter["reacts"].pop(0)))

    def moment(self, meter, value, now_s):
        begun_s, begun = meter["line"]
        if begun == value or not self.slope(meter):
            return begun_s
        passed_s = (value - begun) / self.slope(meter)
        return begun_s + passed_s if 0 <= passed_s <= now_s - begun_s else now_s


FRAME = st.tuples(
    st.integers(1, 12),                                                                 # frames since the last one
    st.lists(st.sampled_from([(0, 0), (0, 1), (1, 0), (1, 1)]), unique=True),           # pairs in sight
    st.lists(st.sampled_from([(0, 0), (1, 1)]), unique=True),                           # pairs in touch
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from([0.1, 0.5, 3.0])), max_size=2))  # sounds


@settings(max_examples=60, deadline=None)
@given(
    st.lists(FRAME, max_size=14), st.sampled_from([0.0, 0.5, 2.0]), st.sampled_from([0.5, 3.0]),
    st.sampled_from([0.0, 0.5]), st.booleans())
def test_percepts_are_those_of_a_plain_model(frames, gain, max_age_s, keep_s, has_memory):
    awareness = AwarenessSettings(gain, 0.5, levels=LEVELS)
    durations = {"lose_after_s": 0.3, "max_age_s": max_age_s, "keep_expired_s": keep_s}
    world = World(modalities=[Modality.sight(), hearing(), Modality.touch(range_m=3)], seconds_per_frame=0.125)
    minds, changes, levels = [], [], []
    for k in range(2):
        memory = SenseMemory(**durations) if has_memory else None
        minds.append(PlainMind(memory, awareness if k else None))
        tell = {f"on_{kind}": changes.append for kind in ("gained", "lost", "expired", "forgotten")}
        world.eye((k, 0, 0), memory=memory, awareness=awareness if k else None, on_sensed=None,
                  on_awareness_changed=levels.append, **tell)
    thieves = [world.thing((0, 0, -4)) for _ in range(2)]
    sight, touch = (world.manager._continuous.pairs[number] for number in (0, 2))
    for frame, (passed, seen, touched, heard) in enumerate(frames):
        for _ in range(passed):
            world.clock.advance()
        now_s, x = world.clock.now.seconds, float(frame % 5)
        world.manager.move_sources(thieves, [(x, 0, -4), (0, x, -4)])
        places = [(x, 0.0, -4.0), (0.0, x, -4.0)]
        for sensor, target, intensity in heard:
            world.manager._perception.hear(
                [Sensation(sensor, target, "hearing", intensity, places[target], now_s - 0.125, now_s)],
                Budget.unlimited())
            minds[sensor].hear(target, "hearing", intensity, places[target], now_s - 0.125, now_s)
        for pairs, found, intensity in ((sight, seen, 0.5), (touch, touched, 0.25 * (frame % 3))):
            keys = np.array(sorted(sensor << 31 | target for sensor, target in found), np.int64)
            pairs.add(keys, np.full(len(keys), intensity), len(keys))
            pairs.end_pass(0, needs_ray=False)
        world.manager._perception.advance({0: sight, 2: touch}, None)
        for sensor, mind in enumerate(minds):
            mind.look([(target, name, intensity, places[target], name == "sight")
                       for name, found, intensity in (("sight", seen, 0.5), ("touch", touched, 0.25 * (frame % 3)))
                       for one, target in sorted(found) if one == sensor], now_s)
    for told, expected in (
            ([(one.kind, one.target, one.at_s, one.last_known_position) for one in changes],
             [change for mind in minds for change in mind.changes]),
            ([(one.target, one.level, one.at_s) for one in levels], minds[1].levels)):
        assert sorted(told) == sorted(expected)
    for sensor, mind in enumerate(minds):
        known = [] if mind.memory is None else mind.memory.known()
        assert sorted(
            (one.target, one.last_known_position, one.known_at_s, one.velocity, one.strengths, one.is_noticed)
            for one in known) == sorted(
            (target, one["place"], one["known_s"], one["velocity"], one["strengths"], one["is_noticed"])
            for target, one in mind.records.items())
        for target in thieves:
            meter = world.manager.awareness_of(sensor, target)
            expected = mind.meters.get(target)
            assert (meter is None) == (expected is None)
            assert meter is None or (meter.value, meter.level) == (expected["value"], expected["level"])
