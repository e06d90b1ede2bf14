"""Sensors that look only every few frames."""
from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.recording.grants import RecordingBudget, ReplayBudget
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from tests.senses.worlds import ALL_ROUND, Rays, Stopwatch, World, hearing

FRAME_S = 0.125
MIND = {"awareness": AwarenessSettings(gain_per_s=2.0, decay_per_s=1.0)}


class Plain(World):
    """Sensors in a row; sources are in view at z = -5 and out of view at z = -500."""

    def __init__(self, period_frames, sensors, sources, *, still_share=1.0, **settings):
        super().__init__(
            period_frames=period_frames, modalities=(Modality.sight(still_share=still_share), hearing()), **settings)
        self.changes, self.levels = [], []
        self.eyes = {k: self.come(k) for k in range(sensors)}
        self.things = [self.manager.add_source(
            position=(k, 0, -500), strengths={"sight": 1.0, "hearing": 3.0}) for k in range(sources)]

    def come(self, k):
        return self.manager.add_sensor(
            position=(k, 0, 0), forward=(0, 0, -1), thresholds={"sight": 0.5, "hearing": 0.1},
            sight_cones=[ALL_ROUND], memory=SenseMemory(lose_after_s=1.0, max_age_s=2.0), name=str(k), **MIND,
            on_sensed=self.heard.append,
            on_gained=lambda one: self.changes.append((self.clock.now.frame, k, one.kind, one.target)),
            on_lost=lambda one: self.changes.append((self.clock.now.frame, k, one.kind, one.target)),
            on_awareness_changed=lambda one: self.levels.append((self.clock.now.frame, k, one.target, one.level)))

    def show(self, shown):
        self.manager.move_sources(self.things, [(k, 0, -5 if is_shown else -500) for k, is_shown in enumerate(shown)])

    def seen(self):
        return {(k, self.things.index(target)) for k, eye in self.eyes.items()
                for target in self.manager.sensed_by(eye)}

    def noises(self):
        told = [(one.sensor_id, one.source_id, one.intensity, one.at_s) for one in self.heard
                if one.modality == "hearing"]
        self.heard.clear()
        return told


FRAME = st.tuples(st.lists(st.booleans(), min_size=3, max_size=3), st.sampled_from(["", "", "join", "leave", "emit"]))


@settings(max_examples=150, deadline=None)
@given(period=st.integers(1, 7), sensors=st.integers(1, 6), frames=st.lists(FRAME, min_size=1, max_size=40),
       has_rays=st.booleans())
def test_a_sensor_sees_within_its_period_what_it_sees_at_1(period, sensors, frames, has_rays):
    rays = {"line_of_sight": Rays()} if has_rays else {}
    every, some = Plain(1, sensors, 3, **rays), Plain(period, sensors, 3, **rays)
    seen, joined = [], dict.fromkeys(every.eyes, 0)
    for number, (shown, event) in enumerate(frames):
        for world in (every, some):
            if event == "join":
                world.eyes[sensors + number] = world.come(sensors + number)
            elif event == "leave" and len(world.eyes) > 1:
                world.manager.remove_sensor(world.eyes.pop(min(world.eyes)))
            elif event == "emit":
                world.manager.emit(world.things[0], "hearing")
            world.show(shown)
            world.tick()
        if event == "join":
            joined[sensors + number] = number
        seen.append(every.seen())
        assert every.noises() == some.noises()
        late = some.seen()
        for k in every.eyes:
            for thing in range(3):
                lately = [(k, thing) in one for one in seen[max(joined[k], number + 1 - period):]]
                if len(lately) == period and len(set(lately)) == 1:
                    assert ((k, thing) in late) == lately[0]
    for (frame, *gained) in every.changes:
        if gained[1] == "gained" and gained[0] in every.eyes and frame + period <= len(frames):
            stays = all((gained[0], every.things.index(gained[2])) in one for one in seen[frame - 1:frame + period - 1])
            assert not stays or any(
                what == gained and abs(at - frame) < period for at, *what in some.changes)


@pytest.mark.parametrize("period", [2, 3, 5])
def test_all_sensors_ask_once_in_each_period(period):
    rays = Rays()
    world = Plain(period, 12, 1, line_of_sight=rays)
    world.show([True])
    asked = []
    for _ in range(3 * period):
        rays.batches.clear()
        world.tick()
        asked.append(sorted(sensor for batch in rays.batches for sensor, _ in batch))
    everybody = sorted(world.eyes.values())
    # The first frame is number 1; the next looks are in multiples of the period.
    assert asked == [everybody if frame == 1 or frame % period == 0 else [] for frame in range(1, 3 * period + 1)]


def test_pairs_without_a_ray_are_asked_in_the_frames_between():
    rays = Rays()
    world = Plain(4, 6, 1, line_of_sight=rays, max_rays=2)
    world.show([True])
    world.tick(frames=6)
    asked = [[sensor for sensor, _ in batch] for batch in rays.batches if batch]
    eyes = sorted(world.eyes.values())
    assert asked == [eyes[:2], eyes[2:4], eyes[4:], eyes[:2], eyes[2:4], eyes[4:]]


def test_a_frame_without_a_look_or_a_signal_is_idle():
    world = Plain(4, 2, 1, line_of_sight=Rays())
    world.show([True])
    world.tick()
    idle = []
    for _ in range(8):
        world.clock.advance()
        idle.append(world.manager.is_idle)
        before = world.manager.statistics()["passes"]
        world.manager.advance(Budget.unlimited())
        assert (world.manager.statistics()["passes"] == before) == idle[-1]
    assert idle == [one % 4 > 0 for one in range(world.clock.now.frame - 7, world.clock.now.frame + 1)]
    while not world.manager.is_idle:
        world.tick()
        world.clock.advance()
    world.manager.emit(world.things[0], "hearing")
    assert not world.manager.is_idle
    world.heard.clear()
    world.manager.advance(Budget.unlimited())
    assert len(world.noises()) == 2


@pytest.mark.parametrize("sensors", [1, 2, 5])
@pytest.mark.parametrize(("period", "max_rays"), [(3, 256), (4, 2), (7, 1)])
def test_noticed_within_s_holds_at_any_period(sensors, period, max_rays):
    for delay in range(period):
        world = Plain(period, sensors, 6, line_of_sight=Rays(), max_rays=max_rays)
        world.show([True] * 5 + [False])
        world.tick(frames=40 + delay)
        world.changes.clear()
        shown_s = world.clock.now.seconds
        world.show([True] * 6)
        most_s = 0.0
        for _ in range(200):
            world.tick()
            most_s = max(most_s, world.manager.statistics()["noticed_within_s"])
            if len(world.changes) == sensors:
                break
        assert len(world.changes) == sensors
        assert world.clock.now.seconds - shown_s <= most_s + 1e-9
        assert max_rays < 256 or most_s <= FRAME_S * period * 2


def test_awareness_rises_at_the_same_moments_at_any_period():
    worlds = [Plain(period, 3, 1) for period in (1, 3)]
    for world in worlds:
        world.show([True])
        world.tick(frames=20)
    every, some = ({tuple(one[1:]): one[0] for one in world.levels} for world in worlds)
    assert every.keys() == some.keys() != set()
    assert all(0 <= some[what] - every[what] < 3 for what in every)


@pytest.mark.parametrize("frames", [1, 2, 3, 6])
def test_a_loaded_game_looks_in_the_same_frames(frames):
    first, second = (Plain(3, 4, 2, still_share=0.9, line_of_sight=Rays()) for _ in range(2))
    first.show([True, False])
    first.tick(frames=frames)
    saved = json.loads(json.dumps([first.clock.save_state(), first.manager.save_state()]))
    for part, state in zip((second.clock, second.manager), saved, strict=True):
        part.prepare_state(state)()
    assert second.manager.save_state() == first.manager.save_state()
    for world in (first, second):
        world.changes.clear()
        world.levels.clear()
    for k in range(12):
        for world in (first, second):
            world.show([k % 5 < 3, k % 4 < 2])
            world.tick()
        assert second.manager.save_state() == first.manager.save_state()
    assert (second.changes, second.levels) == (first.changes, first.levels)
    assert first.levels


@settings(max_examples=60, deadline=None)
@given(period=st.integers(2, 5), looks=st.lists(st.integers(10, 900), min_size=1, max_size=7),
       shown=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=12, max_size=12))
def test_scarce_time_is_replayed_at_any_period(period, looks, shown):
    def live(budgets):
        world = Plain(period, 5, 3, line_of_sight=Rays(), max_rays=3)
        for budget, now in zip(budgets, shown, strict=True):
            world.manager.emit(world.things[0], "hearing")
            world.show(now)
            world.clock.advance()
            world.manager.advance(budget)
        return world.changes, world.levels, world.noises()

    stopwatch, noted = Stopwatch(looks), [[] for _ in shown]
    told = live(RecordingBudget(Budget.of_time(2.0, stopwatch), one) for one in noted)
    assert live(ReplayBudget(one) for one in noted) == told


def test_the_period_can_change_at_any_moment():
    world = Plain(1, 3, 1, line_of_sight=Rays())
    world.show([True])
    world.tick(frames=3)
    for period in (4, 2, 1, 60):
        world.manager.period_frames = period
        world.show([False])
        world.tick(frames=period + 1)
        assert world.seen() == set()
        world.show([True])
        world.tick(frames=period + 1)
        assert len(world.seen()) == 3


@pytest.mark.parametrize("wrong", [0, -1, 61, 1.5, "3"])
def test_a_wrong_period_is_refused(wrong):
    world = Plain(2, 1, 1)
    with pytest.raises((TypeError, ValueError), match="period_frames must be"):
        world.manager.period_frames = wrong
    assert world.manager.period_frames == 2
