"""Hearing in the regional manager: thresholds, travel time, order, moving ears."""
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from tests.senses.worlds import World, hearing


def test_source_example_a_hears_one_point_seven_and_b_nothing():
    world = World(modalities=[hearing(kept_per_m=0.9)])
    a = world.ear((1.5, 0, 0), threshold=1.0)
    world.ear((0, 0, 2.8), threshold=1.5)
    world.manager.emit(world.manager.add_source(position=(0, 0, 0), strengths={}), "hearing", 2.0)
    world.tick()
    assert [one.sensor_id for one in world.heard] == [a]
    assert world.heard[0].intensity == pytest.approx(2 * 0.9**1.5)


def test_an_intensity_equal_to_the_threshold_is_heard():
    world = World(modalities=[hearing(kept_per_m=1.0)])
    world.ear((5, 0, 0), threshold=2.0)
    source = world.manager.add_source(position=(0, 0, 0), strengths={})
    world.manager.emit(source, "hearing", 2.0)
    world.tick()
    assert len(world.heard) == 1


def test_sound_arrives_after_distance_times_inverse_speed():
    world = World(modalities=[hearing(delay_s_per_m=0.25)])
    world.ear((3, 0, 0))
    world.manager.emit(world.manager.add_source(position=(0, 0, 0), strengths={}), "hearing", 2.0)
    world.tick(frames=5)
    assert world.heard == []
    world.tick()
    assert (world.heard[0].sent_at_s, world.heard[0].at_s) == (0.0, 0.75)


def test_arrivals_order_by_due_time_then_sensor_then_sending():
    world = World(modalities=[hearing(delay_s_per_m=0.25)])
    far, near, also_near = (world.ear((d, 0, 0)) for d in (2, 1, -1))
    first, second = (world.manager.add_source(position=(0, 0, 0), strengths={}) for _ in "ab")
    for source in (second, first):
        world.manager.emit(source, "hearing", 2.0)
    world.tick(frames=20)
    assert world.sensed() == [(near, second), (near, first), (also_near, second),
                              (also_near, first), (far, second), (far, first)]


def test_arrivals_of_one_long_frame_are_reported_in_their_order():
    world = World(seconds_per_frame=100.0, modalities=[hearing(delay_s_per_m=1.0)])
    ears = [world.ear((10 - k, 0, 0)) for k in range(10)]
    world.manager.emit(world.manager.add_source(position=(0, 0, 0), strengths={}), "hearing", 5.0)
    world.tick()
    assert [one.sensor_id for one in world.heard] == ears[::-1]


def test_sensor_fleeing_slow_sound_hears_it_later_and_fainter():
    world = World(modalities=[hearing(delay_s_per_m=0.25)])
    ear = world.ear((1, 0, 0))
    world.manager.emit(world.manager.add_source(position=(0, 0, 0), strengths={}), "hearing", 2.0)
    world.tick()
    world.manager.move_sensors([ear], [[4, 0, 0]])
    world.tick(frames=6)
    assert world.heard == []
    world.tick()
    assert world.heard[0].at_s == 1.0
    assert world.heard[0].intensity == pytest.approx(2 * 0.9**4)


def test_who_has_run_out_of_earshot_hears_nothing():
    world = World(modalities=[hearing(delay_s_per_m=0.25)])
    ear = world.ear((1, 0, 0), threshold=1.5)
    world.manager.emit(world.manager.add_source(position=(0, 0, 0), strengths={}), "hearing", 2.0)
    world.tick()
    assert world.manager.statistics()["arrivals_under_way"] == 1
    world.manager.move_sensors([ear], [[9, 0, 0]])
    world.tick(frames=40)
    assert world.heard == []
    assert world.manager.statistics()["arrivals_under_way"] == 0


def test_sound_keeps_its_origin_though_its_source_moves_away():
    world = World(modalities=[hearing(delay_s_per_m=0.25)])
    world.ear((2, 0, 0))
    source = world.manager.add_source(position=(0, 0, 1), strengths={"hearing": 3.0})
    world.manager.emit(source, "hearing")
    world.manager.move_sources([source], [[50, 0, 0]])
    world.manager.remove_source(source)
    world.tick(frames=10)
    assert (world.heard[0].source_id, world.heard[0].position) == (source, (0.0, 0.0, 1.0))


def test_a_sensor_removed_while_a_sound_travels_is_told_nothing():
    world = World(modalities=[hearing(delay_s_per_m=0.25)])
    ear = world.ear((2, 0, 0))
    world.manager.emit(world.manager.add_source(position=(0, 0, 0), strengths={}), "hearing", 3.0)
    world.tick()
    world.manager.remove_sensor(ear)
    assert world.ear((2, 0, 0)) != ear
    world.tick(frames=10)
    assert world.heard == []


def test_a_cry_that_answers_a_cry_is_heard_in_the_next_advance():
    world = World(modalities=[hearing()])
    source = world.manager.add_source(position=(0, 0, 0), strengths={"hearing": 1.0})
    cries = []

    def cry_back(sensation):
        cries.append(world.clock.now.frame)
        world.manager.emit(source, "hearing")

    world.ear((1, 0, 0), on_sensed=cry_back)
    world.manager.emit(source, "hearing")
    world.tick(frames=3)
    assert cries == [1, 2, 3]


def test_affiliation_decides_noticing_and_nobody_hears_itself():
    world = World(modalities=[hearing()])
    guards, thieves = 0b01, 0b10
    thief = world.manager.add_source(position=(0, 0, 0), strengths={}, affiliation=thieves)
    notices_thieves = world.ear((1, 0, 0), detection_mask=thieves)
    world.ear((1, 0, 0), detection_mask=guards)
    world.ear((1, 0, 0), self_source=thief)
    world.manager.emit(thief, "hearing", 1.0)
    world.tick()
    assert world.sensed() == [(notices_thieves, thief)]


COORDINATE = st.floats(-60, 60, width=32)
PLACES = st.lists(st.tuples(COORDINATE, COORDINATE, COORDINATE), min_size=1, max_size=25)


@settings(max_examples=20)
@given(
    ears=PLACES, origin=st.tuples(COORDINATE, COORDINATE, COORDINATE),
    kept_per_m=st.floats(0.5, 1), strength=st.floats(0, 10), threshold=st.floats(0.001, 5),
)
def test_sensors_hear_the_same_in_order_as_in_the_textbook_loop(
    ears, origin, kept_per_m, strength, threshold
):
    kind = hearing(kept_per_m=kept_per_m, delay_s_per_m=0.01, range_m=70.0)
    world = World(seconds_per_frame=10.0, modalities=[kind])
    expected, due_s, unsure = {}, {}, set()
    for ear in ears:
        sensor = world.ear(ear, threshold)
        distance = math.dist(np.float32(ear).tolist(), np.float32(origin).tolist())
        intensity = strength * kept_per_m**distance
        if abs(distance - 70) < 1e-9 or abs(intensity - threshold) < 1e-9:
            unsure.add(sensor)  # rounding may decide either way
        elif distance <= 70 and intensity >= threshold:
            expected[sensor] = pytest.approx(intensity)
        due_s[sensor] = distance * 0.01
    source = world.manager.add_source(position=origin, strengths={})
    world.manager.emit(source, "hearing", strength)
    world.tick()
    heard = {one.sensor_id: one.intensity for one in world.heard if one.sensor_id not in unsure}
    assert heard == expected
    told = [due_s[one.sensor_id] for one in world.heard]
    assert all(first <= later + 1e-9 for first, later in pairwise(told))


def test_budget_of_one_step_an_advance_delivers_all_one_by_one():
    world = World(modalities=[hearing()])
    ears = [world.ear((k, 0, 0)) for k in range(1, 6)]
    world.manager.emit(world.manager.add_source(position=(0, 0, 0), strengths={}), "hearing", 3.0)
    told = []
    for _ in range(10):
        world.tick(budget=Budget.of_steps(1))
        told.append(len(world.heard))
    assert told[:5] == [1, 2, 3, 4, 5]
    assert [one.sensor_id for one in world.heard] == ears


def test_a_listener_may_forget_what_others_wait_for():
    world, told = World(modalities=[hearing()]), []

    def hear(sensation):
        told.append(sensation.sensor_id)
        world.manager.forget_all()

    ears = [world.ear((k, 0, 0), on_sensed=hear) for k in range(3)]
    bell = world.manager.add_source(position=(0, 0, 2), strengths={"hearing": 9.0})
    world.manager.emit(bell, "hearing")
    world.tick()
    world.tick()
    assert told == ears[:1]
