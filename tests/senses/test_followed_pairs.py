"""What stays in view moves on in arrays, and nobody can tell it from looking at each one."""
import copy
import gc
import random
import weakref

import pytest

from ai_core.budget import Budget
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessLevel, AwarenessSettings
from ai_core.senses.percepts.followed_pairs import PerceptTable
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.percepts.perceiver import SensorMind
from ai_core.senses.percepts.target_report import TargetReport
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
            modalities=MODALITIES, maximum_rays=self.chance.choice((2, 50)),
            tell_every_s=self.chance.choice((0, 0.25, 5)))
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
                lose_after_s=chance.choice((0, 0.3)), maximum_age_s=1, keep_expired_s=chance.choice((0, 0.5)),
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
        memory, meter = self.manager.memory_of(guard), self.manager.awareness_of(guard, thief)
        now_s = self.clock.now.seconds
        if memory is not None and what == 0:
            memory.forget(thief)
        elif memory is not None and what == 1:
            memory.hear_report(TargetReport(thief, self.place(), (0.0, 0.0, 0.0), 1.0, now_s - 0.1), 0.1)
        elif memory is not None and what == 2:
            self.told += memory.advance(now_s)
        elif meter is not None and what == 3:
            self.told += meter.add_stimulus(0.5, now_s)


def play(seed, asks_every):
    """Return what was told, and states in between; asking for them must change nothing."""
    yard, states = Yard(seed), []
    for frame in range(60):
        yard.live()
        if frame % 12 == 11:
            states.append(copy.deepcopy(yard.manager.save_state()["sensors"]))
        elif frame % asks_every == 0:
            yard.manager.save_state()
    return yard.told, states


@pytest.mark.parametrize("seed", range(6))
def test_nobody_can_tell_arrays_from_looking_at_each_sensor(seed, monkeypatch):
    in_arrays = play(seed, asks_every=99)
    monkeypatch.setattr(PerceptTable, "add", lambda *_: None)
    assert play(seed, asks_every=99) == in_arrays


def test_asking_changes_nothing():
    assert play(7, asks_every=1) == play(7, asks_every=99)


def visits(monkeypatch):
    """Count the visits of sensors."""
    counted = []
    look = SensorMind.look
    monkeypatch.setattr(SensorMind, "look", lambda self, *rest: counted.append(self.sensor_id) or look(self, *rest))
    return counted


def test_no_sensor_is_visited_while_same_targets_stay_in_view(monkeypatch):
    world = World(modalities=[Modality.sight(kept_per_m=0.9)], tell_every_s=100)
    guards = [world.eye((k, 0, 0), threshold=0.01, memory=SenseMemory(), awareness=AwarenessSettings(gain_per_s=0.01))
              for k in range(20)]
    thief = world.thing((0, 0, -4))
    counted = visits(monkeypatch)
    for frame in range(10):
        world.manager.move_sources([thief], [(0.1 * frame, 0, -4)])
        world.tick()
    assert counted == guards
    assert world.manager.memory_of(3).find(thief).velocity[0] == pytest.approx(0.8, abs=1e-6)


def test_remembering_sensor_is_visited_only_on_events_at_no_cost(monkeypatch):
    world = World(seconds_per_frame=0.25)
    world.eye((0, 0, 0), memory=SenseMemory(lose_after_s=1.1, maximum_age_s=5), awareness=None)
    thief = world.thing((0, 0, -4))
    world.tick()
    world.manager.remove_source(thief)
    counted = visits(monkeypatch)
    world.tick(frames=30)
    assert len(counted) <= 4   # out of view, lost, expired and forgotten
    budget = Budget.of_steps(100)
    world.tick(budget=budget)
    assert budget.steps == 1   # it looks


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


def test_upcoming_change_is_queued_once_however_often_postponed():
    world = World(modalities=[hearing()])
    world.ear((0, 0, 0), memory=SenseMemory(), awareness=AwarenessSettings())
    bell = world.manager.add_source(position=(0, 0, 0), strengths={"hearing": 1.0})
    for _ in range(50):
        world.manager.emit(bell, "hearing")
        world.tick()
    assert len(world.manager._perceivers._dues) < 5


def test_a_budget_of_time_that_is_always_spent_starves_nobody():
    world, ticks = World(), [0]

    def stopwatch():
        ticks[0] += 1000
        return ticks[0]

    guards = [world.eye((k / 10, 0, 0), memory=SenseMemory()) for k in range(30)]
    thief = world.thing((0, 0, -4))
    for _ in range(80):
        world.tick(budget=Budget.of_time(2.0, stopwatch))
    assert all(world.manager.memory_of(guard).find(thief) for guard in guards)


def test_newly_shared_memory_has_what_was_seen_until_now():
    world = World(modalities=[Modality.sight()], tell_every_s=100)
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
