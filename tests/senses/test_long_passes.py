"""Many sensors and sources: a pass of looking goes on over advances, and lines of sight are asked meanwhile."""
from __future__ import annotations

import numpy as np
import pytest

import ai_core.senses.regional_sense_manager as regional_sense_manager
import ai_core.senses.sight.continuous_sensing as continuous_sensing
from ai_core.budget import Budget
from ai_core.senses.percepts.memory import SenseMemory
from tests.senses.worlds import Rays, Stopwatch, World


@pytest.fixture
def small_parts(monkeypatch):
    """Blocks of 4 pairs, passes of 16, rays 2 at a time."""
    monkeypatch.setattr(continuous_sensing, "PAIRS_PER_BLOCK", 4)
    monkeypatch.setattr(continuous_sensing, "PAIRS_PER_ADVANCE", 16)
    monkeypatch.setattr(regional_sense_manager, "RAYS_AT_ONCE", 2)
    monkeypatch.setattr(regional_sense_manager, "MOST_AT_ONCE", 2)


def crowd(rays, *, eyes=12, things=3, **settings):
    world = World(line_of_sight=rays, **settings)
    for number in range(eyes):
        world.eye((float(number), 0.0, 0.0))
    for number in range(things):
        world.thing((float(number), 0.0, -5.0))
    return world


def test_pass_over_many_pairs_spans_advances_and_finds_the_same(small_parts):
    world = crowd(Rays(), max_rays=99)
    world.tick()
    assert world.manager.statistics()["pairs_in_view"] == 0
    world.tick(2)
    assert world.manager.statistics()["pairs_in_view"] == 36
    assert len(set(world.sensed())) == 36


def test_lines_of_sight_are_asked_while_a_pass_goes_on(small_parts):
    rays = Rays()
    world = crowd(rays, max_rays=6)
    world.tick(3)
    asked = []
    for _ in range(6):
        world.tick()
        asked.append(world.manager.statistics()["rays_asked"])
    assert asked == [6] * 6
    stats = world.manager.statistics()
    assert stats["longest_wait_passes"] <= stats["advances_until_all_are_asked"] == 6


def test_a_pass_half_done_is_saved_and_goes_on(small_parts):
    one, other = crowd(Rays(), max_rays=99), crowd(Rays(), max_rays=99)
    one.tick()
    other.manager.prepare_state(one.manager.save_state())()
    other.clock.advance()
    for world in (one, other):
        world.tick(3)
    assert len(set(other.sensed())) == len(set(one.sensed())) == 36


def test_budget_ends_queries_between_parts_and_bound_counts_it(small_parts):
    world = crowd(Rays(), eyes=3, max_rays=9)
    world.tick(2)
    assert world.manager.statistics()["rays_asked"] == 9
    # 3 sensors that look and 4 rays: the second part is asked, the third is not.
    world.tick(budget=Budget.of_steps(3 + 4))
    assert world.manager.statistics()["rays_asked"] == 4
    assert world.manager.statistics()["advances_until_all_are_asked"] == -(-9 // 4)
    world.tick(40)
    assert world.manager.statistics()["advances_until_all_are_asked"] == 1, "it forgets slow passes"


def test_those_not_asked_are_the_first_in_the_next_advance(small_parts):
    rays = Rays()
    world = crowd(rays, eyes=3, max_rays=9)
    world.tick()
    del rays.batches[:]
    world.tick(budget=Budget.of_steps(3 + 4))
    world.tick(budget=Budget.of_steps(99))
    world.tick()
    first = [pair for batch in rays.batches[:2] for pair in batch]
    assert len(first) == 4
    later = [pair for batch in rays.batches[2:5] for pair in batch]
    assert not set(first) & set(later[:5])


def test_positions_written_into_arrays_are_as_good_as_moved():
    world, other = World(), World()
    places = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)
    ahead = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0]], np.float32)
    for one in (world, other):
        eyes = [one.eye((9, 0, 0)) for _ in range(4)]
        things = [one.thing((9, 0, 0)) for _ in range(4)]
        one.manager.remove_sensor(eyes.pop(1))
        one.manager.remove_source(things.pop(1))
        one.ids = eyes, things
    row_of = world.manager.row_of
    positions, forwards, of_sources = world.manager.arrays_to_write()
    for number, (eye, thing) in enumerate(zip(*world.ids, strict=True)):
        positions[row_of(eye)], forwards[row_of(eye)] = places[number], ahead[number]
        of_sources[row_of(thing)] = places[number] + 1
    other.manager.move_sensors(other.ids[0], places, ahead)
    other.manager.move_sources(other.ids[1], places + 1)
    assert world.manager.save_state()["sensors"] == other.manager.save_state()["sensors"]
    assert world.manager.save_state()["sources"] == other.manager.save_state()["sources"]


@pytest.mark.parametrize("period", [1, 5])
@pytest.mark.parametrize("steps", [None, 3, 7, 12, 30])
def test_no_target_is_seen_where_it_teleported(small_parts, steps, period):
    """Half of the targets are elsewhere from one frame to the next, while a budget leaves pairs of a pass out."""
    world = World(line_of_sight=Rays(), max_rays=6, period_frames=period)
    known = []

    def short():
        return None if steps is None else Budget.of_time(float(steps), Stopwatch([1000]))

    eyes = [world.eye((float(number), 0.0, 0.0), memory=SenseMemory(lose_after_s=0.5, max_age_s=9.0),
                      on_sensed=known.append) for number in range(9)]
    things = [world.thing((float(number), 0.0, -5.0)) for number in range(4)]
    for _ in range(40 if steps is None else 400):
        world.tick(budget=short())
    assert len({(one.sensor_id, one.source_id) for one in known}) == 36
    world.manager.move_sources(things[:2], [(900.0, 0.0, 0.0)] * 2)
    known.clear()
    for _ in range(60 if steps is None else 600):
        world.tick(budget=short())
    assert all(one.position[0] < 100.0 for one in known)        # who was seen before may be told later
    for eye in eyes:
        for one in world.manager.memory_of(eye).known():
            assert one.last_known_position[0] < 100.0
