"""More signals than a budget lets be told: they merge or are dropped, and sight and hearing go on."""
from __future__ import annotations

import gc
import json
import logging
import math
import random
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.scent.scent_trails import ScentTrails
from tests.senses.worlds import AHEAD, ALL_ROUND, World, hearing


class Crowd(World):
    """People within 40 m who turn and see one another, of whom some speak in each frame."""

    def __init__(self, people, line_of_sight=lambda eyes, *_: np.ones(len(eyes), np.bool_)):
        super().__init__(seconds_per_frame=1 / 60, modalities=[Modality.sight(), Modality.hearing()],
                         line_of_sight=line_of_sight)
        chance = random.Random(people)
        self.places = np.array([(chance.uniform(-20, 20), 0, chance.uniform(-20, 20)) for _ in range(people)], "f4")
        self.people, self.ears = [], []
        for place in self.places.tolist():
            self.people.append(self.manager.add_source(position=place, strengths={"sight": 1.0, "hearing": 5.0}))
            self.ears.append(self.manager.add_sensor(
                position=place, forward=AHEAD, thresholds={"sight": 0.01, "hearing": 0.01}, sight_cones=[ALL_ROUND],
                self_source=self.people[-1], memory=SenseMemory(lose_after_s=0.2, max_age_s=0.5),
                on_sensed=self.count))
        self.thief = self.manager.add_source(position=(900, 0, 0), strengths={"sight": 1.0})
        self.told = {"sight": 0, "hearing": 0}
        self.newest = {}

    def count(self, sensation):
        self.told[sensation.modality] += 1
        if sensation.modality == "hearing":
            self.newest[sensation.sensor_id] = self.clock.now.seconds

    def live(self, sounds, steps):
        turned = self.clock.now.frame * 0.05 + np.arange(len(self.ears))
        ahead = np.stack([np.cos(turned), 0 * turned, np.sin(turned)], 1).astype("f4")
        self.manager.move_sensors(self.ears, self.places, ahead)
        self.clock.advance()
        for number in range(sounds):
            self.manager.emit(self.people[number % len(self.people)], "hearing", 5.0)
        self.manager.advance(Budget.of_steps(steps))


@pytest.mark.parametrize(("sounds", "steps"), [(3, 120), (30, 120), (30, 25)])
def test_newcomer_is_noticed_within_the_bound_under_any_load(sounds, steps):
    crowd = Crowd(24)
    for _ in range(60):
        crowd.live(sounds, steps)
    for visit in range(3):
        crowd.manager.move_sources([crowd.thief], [(visit, 0, 3)])
        came_s, bound_s = crowd.clock.now.seconds, 0.0
        while not all(crowd.manager.memory_of(one).find(crowd.thief) for one in crowd.ears):
            crowd.live(sounds, steps)
            statistics = crowd.manager.statistics()
            bound_s = max(bound_s, statistics["noticed_within_s"])
            assert statistics["oldest_query_s"] <= statistics["noticed_within_s"]
            assert crowd.clock.now.seconds - came_s <= bound_s + 1 / 60
        crowd.manager.move_sources([crowd.thief], [(900, 0, 0)])
        while any(crowd.manager.memory_of(one).find(crowd.thief) for one in crowd.ears):
            crowd.live(sounds, steps)
    now_s = crowd.clock.now.seconds
    assert set(crowd.newest) == set(crowd.ears)
    assert min(crowd.newest.values()) > now_s - 3, "nobody is left out"
    assert crowd.told["hearing"] > 100


def test_queue_stays_flat_over_ten_thousand_frames():
    world = World(seconds_per_frame=1 / 60, modalities=[hearing(delay_s_per_m=1 / 340)])
    ears = [world.ear((k, 0, 0), on_sensed=None) for k in range(10)]
    people = [world.manager.add_source(position=(0, 0, k), strengths={"hearing": 9.0}) for k in range(10)]
    most = []
    for frame in range(10_500):
        world.clock.advance()
        for number in range(10):
            world.manager.emit(people[number], "hearing", tag=f"word {frame}" if number == 9 else "")
        world.manager.advance(Budget.of_steps(8))
        if frame % 500 == 0:
            most.append(world.manager.statistics())
    waiting = [one["arrivals_under_way"] + one["stimuli_waiting"] for one in most]
    assert max(waiting[10:]) <= 1.2 * max(waiting[:10]) < 2500
    assert most[-1]["stimuli_merged"] > 50_000
    assert most[-1]["stimuli_dropped"] > 100, "words do not merge"
    assert len(ears) == 10


def test_flood_without_any_advance_is_bounded_and_told_at_once():
    world = World(modalities=[hearing(kept_per_m=1.0)])
    ears = [world.ear((k, 0, 0)) for k in range(100)]
    source = world.manager.add_source(position=(0, 0, 0), strengths={"hearing": 9.0})
    for number in range(3000):
        world.manager.emit(source, "hearing", position=(0, 0, number % 7))
        world.manager.move_sensors([ears[0]], [(0, 0, 0)])
    assert world.manager.statistics()["arrivals_under_way"] < 2000
    world.tick()
    assert world.manager.statistics()["arrivals_under_way"] == world.manager.statistics()["stimuli_waiting"] == 0
    assert {one.sensor_id for one in world.heard} == set(ears)
    assert world.heard[-1].position == (0, 0, 2999 % 7)


def test_flood_of_tags_without_any_advance_is_bounded():
    world = World(modalities=[hearing(kept_per_m=1.0)])
    world.ear((0, 0, 0))
    source = world.manager.add_source(position=(0, 0, 0), strengths={"hearing": 9.0})
    for number in range(6000):
        world.manager.emit(source, "hearing", tag=f"word {number}")
    before = world.manager.statistics()
    assert before["stimuli_waiting"] + before["stimuli_dropped"] == 6000
    assert before["stimuli_waiting"] < 5000
    world.tick()
    assert world.manager.statistics()["stimuli_waiting"] == 0
    assert [one.tag for one in world.heard][-1] == "word 5999"


def test_waiting_signals_keep_newest_place_and_larger_strength():
    world = World(modalities=[hearing(kept_per_m=1.0)])
    for k in range(3):
        world.ear((k, 0, 0))
    source = world.manager.add_source(position=(0, 0, 0), strengths={"hearing": 9.0})
    for number, strength in enumerate((2.0, 8.0, 4.0, 1.0)):
        world.manager.emit(source, "hearing", strength, (0, 0, number))
        world.tick(budget=Budget.of_steps(1))
    for _ in range(8):
        world.tick(budget=Budget.of_steps(1))
    assert [(one.sensor_id, one.intensity, one.position[2]) for one in world.heard] == [
        (0, 2.0, 0.0), (1, 2.0, 0.0), (2, 2.0, 0.0), (0, 8.0, 3.0), (1, 8.0, 3.0), (2, 8.0, 3.0)]
    assert world.manager.statistics()["stimuli_merged"] == 2


def test_overload_is_logged_once(caplog):
    crowd = Crowd(10)
    with caplog.at_level(logging.WARNING, "ai_core"):
        for _ in range(100):
            crowd.live(10, 5)
    assert len([one for one in caplog.records if "stimuli_merged" in one.getMessage()]) == 1


class SlowListeners(World):
    """Eight who hear; each of their listeners takes 40 µs, and nothing else takes time."""

    def __init__(self):
        super().__init__(modalities=[hearing()])
        self.now_ns = 0
        self.told = [self.ear((k, 0, 0), on_sensed=self.listen, memory=SenseMemory()) for k in range(8)]
        self.bell = self.manager.add_source(position=(0, 0, 0), strengths={"hearing": 9.0})

    def listen(self, sensation):
        self.now_ns += 40_000
        self.heard.append(sensation)

    def frame(self):
        """Advance with 100 µs; return how many were notified."""
        before = len(self.heard)
        self.tick(budget=Budget.of_time(100.0, lambda: self.now_ns))
        return len(self.heard) - before


def test_notices_of_a_sound_wait_for_the_budget_each_by_itself():
    world = SlowListeners()
    world.manager.emit(world.bell, "hearing", tag="bell")
    notified = [world.frame() for _ in range(9)]
    assert max(notified) <= 100 / 40 + 1
    assert sum(notified) == 8
    assert [one.sensor_id for one in world.heard] == world.told
    assert {(one.tag, one.sent_at_s) for one in world.heard} == {("bell", 0.0)}


def test_notices_of_a_sound_that_wait_are_saved():
    one, other = SlowListeners(), SlowListeners()
    one.manager.emit(one.bell, "hearing", tag="bell")
    first = one.frame()
    other.manager.prepare_state(json.loads(json.dumps(one.manager.save_state())))()
    other.clock.advance()
    for world in (one, other):
        for _ in range(8):
            world.frame()
    assert other.heard == one.heard[first:] != []


@pytest.mark.parametrize("frames", [3, 20])
def test_overloaded_senses_continue_as_saved(frames):
    first, second = Crowd(12), Crowd(12)
    for _ in range(frames):
        first.live(12, 9)
    state = json.loads(json.dumps({"clock": first.clock.save_state(), "manager": first.manager.save_state()}))
    for change in [second.clock.prepare_state(state["clock"]), second.manager.prepare_state(state["manager"])]:
        change()
    assert json.loads(json.dumps(second.manager.save_state())) == state["manager"]
    before = dict(first.told)
    for crowd in (first, second):
        for _ in range(40):
            crowd.live(12, 9)
    assert second.manager.save_state() == first.manager.save_state()
    assert {name: count - before[name] for name, count in first.told.items()} == second.told


def test_listener_may_remove_add_move_and_emit():
    world = World(modalities=[hearing(kept_per_m=1.0)])
    ears = []

    def listen(sensation):
        world.heard.append(sensation)
        if len(world.heard) == 1:
            world.manager.remove_sensor(ears[1])
            world.manager.move_sensors([ears[2]], [(90, 0, 0)])
            world.manager.emit(source, "hearing", 9.0)
            ears.append(world.ear((0, 0, 0)))

    ears += [world.ear((k, 0, 0), on_sensed=listen) for k in range(4)]
    source = world.manager.add_source(position=(0, 0, 0), strengths={})
    world.manager.emit(source, "hearing", 9.0)
    world.tick()
    assert [one.sensor_id for one in world.heard] == [ears[0], ears[2], ears[3]]
    world.tick()
    assert {one.sensor_id for one in world.heard[3:]} == {ears[0], ears[2], ears[3], ears[4]}


class SlowRays(World):
    """A thief in view of one sensor; lines of sight take ``rays_us``, and budgets measure it."""

    def __init__(self, rays_us, modalities=None):
        super().__init__(modalities=modalities or [Modality.sight()], line_of_sight=self.trace)
        self.us, self.rays_us, self.done = 0, rays_us, []
        self.thief = self.manager.add_source(position=(0, 0, 3), strengths={"sight": 1.0})
        self.ear = self.manager.add_sensor(
            position=(0, 0, 0), forward=AHEAD, thresholds={"sight": 0.01}, sight_cones=[ALL_ROUND],
            memory=SenseMemory(lose_after_s=1, max_age_s=5), name="eye",
            on_gained=lambda _: self.done.append("noticed"))

    def trace(self, eyes, *_):
        self.us += self.rays_us
        self.done.append("rays")
        return np.ones(len(eyes), np.bool_)

    def frame(self):
        self.clock.advance()
        self.manager.advance(Budget.of_time(100, lambda: self.us * 1000))


def test_what_rays_find_is_noticed_though_they_spend_budgets():
    world = SlowRays(rays_us=1000)
    world.frame()
    assert world.done == ["rays"]
    world.frame()           # begins with the pass over percepts; the time left for rays is less than they take
    assert world.done == ["rays", "noticed"]
    for _ in range(4):
        world.frame()
    assert world.done == ["rays", "noticed", "rays", "rays"]


def test_rays_that_were_slow_once_are_soon_cast_in_each_frame():
    world = SlowRays(rays_us=1000, modalities=[Modality.sight(), hearing()])
    world.frame()
    world.rays_us = 10
    for _ in range(30):
        world.manager.emit(world.thief, "hearing", 1.0)     # signals and sight share the budget
        world.frame()
    assert world.done.count("rays") >= 20
    world.done.clear()
    for _ in range(20):
        world.manager.emit(world.thief, "hearing", 1.0)
        world.frame()
    assert world.done.count("rays") == 20


@pytest.mark.parametrize(("budget_us", "asked"), [(1, [64]), (150, [64, 128]), (600, [64, 128, 256, 512])])
def test_few_pairs_are_asked_in_pieces_that_look_at_the_budget(budget_us, asked):
    us, batches = [0], []

    def trace(eyes, *_):
        us[0] += len(eyes)
        batches.append(len(eyes))
        return np.ones(len(eyes), np.bool_)

    world = World(modalities=[Modality.sight()], line_of_sight=trace, max_rays=1024)
    for k in range(32):
        world.eye((0.1 * k, 0, 0), on_sensed=None)
        world.thing((0.1 * k, 0, 3))
    world.tick(budget=Budget.of_time(budget_us, lambda: us[0] * 1000))
    assert batches == asked
    for _ in range(40):
        world.tick(budget=Budget.of_time(budget_us, lambda: us[0] * 1000))
    assert len(world.manager.sensed_by(0)) == len(world.manager.sensed_by(31)) == 32


def test_rays_that_leave_time_are_noticed_in_the_same_advance():
    world = SlowRays(rays_us=10)
    world.frame()
    assert world.done == ["rays", "noticed"]


def test_notices_that_spend_the_budget_leave_the_pass_for_later():
    us, looks = [0], []
    world = World(seconds_per_frame=1.0, modalities=[Modality.sight()])     # all in view is reported in each look

    def listen(_):
        us[0] += 200        # twice the budget

    for x in range(2):
        world.eye((x, 0, 0), on_sensed=listen)
    world.thing((0, 0, 3))
    for _ in range(4):
        world.clock.advance()
        world.manager.advance(Budget.of_time(100, lambda: us[0] * 1000))
        looks.append(world.manager._perception.table.looks)
    assert looks == [2, 2, 3, 3]    # each look is followed by two reports, one in each frame


def test_save_keeps_that_a_pass_is_owed():
    world, loaded = SlowRays(rays_us=1000), SlowRays(rays_us=1000)
    world.frame()
    loaded.clock.advance()
    loaded.manager.prepare_state(world.manager.save_state())()
    loaded.frame()
    assert loaded.done == ["noticed", "rays"]   # it has not learned what rays take


PLACE = st.tuples(st.integers(0, 12), st.integers(0, 2), st.just(0))
FRAME = st.tuples(
    st.lists(st.tuples(st.integers(0, 1), PLACE, st.sampled_from(["", "", "steps"])), max_size=3),
    st.lists(st.tuples(st.integers(0, 3), PLACE), max_size=2))


@settings(max_examples=80)
@given(st.lists(PLACE, min_size=4, max_size=4), st.lists(FRAME, min_size=1, max_size=10), st.sampled_from([0.0, 0.031]))
def test_moving_sensors_hear_what_the_plain_loop_says(ears, frames, delay):
    range_m, kept, threshold, strength, sent_orders = 9.5, 0.8, 0.5, 2.0, 0
    world = World(modalities=[hearing(kept_per_m=kept, delay_s_per_m=delay, range_m=range_m)])
    ids = [world.ear(place, threshold) for place in ears]
    sources = [world.manager.add_source(position=(0, 0, 0), strengths={}) for _ in range(2)]
    ears, under_way = list(ears), []
    for emitted, moves in [*frames, *[([], [])] * 5]:
        for source, place, channel in emitted:
            world.manager.emit(sources[source], "hearing", strength, place, channel=channel)
        for ear, place in moves:
            world.manager.move_sensors([ids[ear]], [place])
            ears[ear] = place
        for source, place, channel in emitted:
            for ear, at in enumerate(ears):
                far = math.dist(at, place)
                if far <= range_m and strength * kept**far >= threshold:
                    under_way.append([
                        world.clock.now.seconds + far * delay, ear, sent_orders, far, source, place, channel,
                        world.clock.now.seconds])
            sent_orders += 1
        world.heard.clear()
        world.tick()
        now_s, expected, still = world.clock.now.seconds, [], []
        newest = {}
        for one in under_way:
            if one[0] <= now_s and one[6]:
                newest[one[4], one[1]] = max(one[2], newest.get((one[4], one[1]), 0))
        for one in sorted(under_way, key=lambda one: one[:3]):
            due_s, ear, order, _, source, place, channel, sent_s = one
            far = math.dist(ears[ear], place)
            if due_s > now_s:
                still.append(one)
            elif channel and newest[source, ear] > order:
                pass
            elif far <= range_m and strength * kept**far >= threshold:
                if sent_s + far * delay > now_s:
                    still.append([sent_s + far * delay, ear, order, far, source, place, channel, sent_s])
                else:
                    expected.append((ids[ear], sources[source], pytest.approx(strength * kept**far), place, sent_s))
        under_way = still
        heard = [(one.sensor_id, one.source_id, one.intensity, one.position, one.sent_at_s) for one in world.heard]
        assert sorted(heard, key=lambda one: (one[:2], one[3:])) == sorted(
            expected, key=lambda one: (one[:2], one[3:]))


def test_memory_of_waiting_signals_is_returned_or_used_again():
    world = World(seconds_per_frame=0.01, modalities=[Modality.sight(), hearing(delay_s_per_m=0.01)])
    people = [world.thing((0.1 * number, 0, 3)) for number in range(70)]
    for number in range(70):
        world.ear((0.1 * number, 0, 0), on_sensed=None)

    def kilobytes():
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / 1024

    tracemalloc.start()
    try:
        full, empty, begun = [], [], kilobytes()
        for _ in range(4):
            for person in people:
                world.manager.emit(person, "hearing", 9.0)
            world.tick()
            world.tick(20, Budget.of_steps(1))
            waiting = world.manager.statistics()["arrivals_under_way"]
            full.append(kilobytes() - begun)
            world.tick(50)
            assert world.manager.statistics()["arrivals_under_way"] == 0
            empty.append(kilobytes() - begun)
    finally:
        tracemalloc.stop()
    assert waiting > 4500
    assert max(full) <= 0.7 * waiting
    assert max(full) - full[1] <= 64
    assert max(empty) - empty[1] <= 64


@pytest.mark.parametrize("noses", [1, 3, 5])
def test_sounds_do_not_merge_where_nothing_waits(noses):
    steps = noses + 1                   # all that smelling takes: none is left for delivering
    world = World(modalities=[Modality.smell(range_m=5.0), hearing()], scent_trails=ScentTrails(radius_m=2.5))
    for place in range(noses):
        world.manager.add_sensor(position=(place, 0, 0), forward=AHEAD, thresholds={"smell": 0.05})
    world.ear((0, 0, 0))
    source = world.manager.add_source(position=(1, 0, 0), strengths={"hearing": 1.0})
    world.tick(3, Budget.of_steps(steps))
    for side in (1, 2):
        world.manager.move_sources([source], [(side, 0, 0)])
        world.manager.emit(source, "hearing", 1.0)
    world.tick(1, Budget.of_steps(steps))
    world.tick(8)
    assert (len(world.heard), world.manager.statistics()["stimuli_merged"]) == (2, 0)


@pytest.mark.parametrize(("steps", "smells"), [(4, 4), (10, 10), (16, 8), (40, 20)])
def test_muffled_sounds_do_not_starve_behind_slow_signals(steps, smells):
    heard = []
    world = World(modalities=[Modality.hearing(), Modality.smell()], occlusion=lambda starts, *_: [1.0] * len(starts))
    for place in range(5):
        world.manager.add_sensor(
            position=(place, 0, 0), forward=AHEAD, thresholds={"hearing": 0.001, "smell": 0.001},
            on_sensed=lambda one: heard.append(one.modality))
    sources = [world.manager.add_source(position=(0, 0, 2 + number), strengths={"hearing": 50.0, "smell": 50.0})
               for number in range(smells)]
    for frame in range(200):
        if frame == 0:
            for source in sources:
                world.manager.emit(source, "smell")
        elif frame % 10 == 5:
            world.manager.emit(sources[0], "hearing")
        world.tick(budget=Budget.of_steps(steps))
    assert heard.count("hearing") >= 5 * 19      # the last one may be under way


def test_sounds_that_are_due_together_do_not_overrun_the_budget():
    world = World(modalities=[hearing(delay_s_per_m=0.004)])
    for place in range(40):
        world.ear((place, 0, 0), on_sensed=None)
    for number in range(30):
        source = world.manager.add_source(position=(0, 0, 40 + number), strengths={})
        world.manager.emit(source, "hearing", 1e6)
    world.tick()
    world.clock.advance()
    now_us = iter(range(0, 1 << 30, 15))
    due = [len(world.manager._emitted.queue.under_way)]
    while due[-1]:       # a query of the time takes 15 of 100 µs
        world.tick(1, Budget.of_time(100.0, lambda: 1000 * next(now_us)))
        due.append(len(world.manager._emitted.queue.under_way))
    assert due[0] == 40 * 30
    assert max(before - after for before, after in pairwise(due)) <= 4 * 128
