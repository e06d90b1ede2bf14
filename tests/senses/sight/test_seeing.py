"""Sight in the regional manager: who is seen, how strongly, and who is asked when."""
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.maps import GridLineOfSight
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.sight.continuous_sensing import MOST_PASSES_TIMED, PASSES_TIMED
from ai_core.senses.sight.sight_cones import SightCone
from tests.senses.worlds import Rays, World


def test_source_in_cone_is_seen_with_strength_times_acuity():
    world = World()
    sharp, blunt = SightCone(5, 1.0, 1.0, acuity=1.5), SightCone(20, 1.0, 1.0, acuity=0.75)
    guard = world.eye((0, 0, 0), cones=(sharp, blunt))
    near, far = world.thing((0, 0, -4), sight=2.0), world.thing((0, 0, -9), sight=2.0)
    world.thing((0, 0, 4), sight=2.0)
    world.tick()
    assert [(one.source_id, one.intensity) for one in world.heard] == [(near, 3.0), (far, 1.5)]
    assert world.manager.sensed_by(guard) == [near, far]


def test_sight_fades_by_attenuation_and_ends_at_its_range():
    world = World(modalities=[Modality.sight(range_m=30, kept_per_m=0.9)])
    world.eye((0, 0, 0), threshold=0.5)
    near = world.thing((0, 0, -6))
    world.thing((0, 0, -7))
    bright_but_too_far = world.thing((0, 0, -31), sight=1000.0)
    world.tick()
    assert [one.source_id for one in world.heard] == [near]
    assert world.heard[0].intensity == pytest.approx(0.9**6)
    world.manager.move_sources([bright_but_too_far], [[0, 0, -30]])
    world.tick()
    assert world.heard[-1].source_id == bright_but_too_far


def test_a_wall_hides_and_a_hidden_source_that_steps_out_is_seen():
    rays = Rays()
    world = World(line_of_sight=rays)
    guard, thief = world.eye((0, 0, 0)), world.thing((0, 0, -4))
    rays.blocked = {(guard, thief)}
    world.tick(frames=3)
    assert world.heard == []
    rays.blocked = set()
    world.tick()
    assert world.sensed() == [(guard, thief)]


def test_all_rays_of_an_advance_are_one_batch_of_those_in_view():
    rays = Rays()
    world = World(line_of_sight=rays)
    ahead = SightCone(10, math.pi / 2, math.pi / 2)
    guards = [world.eye((x, 0, 0), cones=[ahead]) for x in (0, 1)]
    in_view = world.thing((0, 0, -5))
    world.thing((0, 0, 5))
    world.thing((0, 0, -50))
    world.tick()
    assert rays.batches == [[(guards[0], in_view), (guards[1], in_view)]]


def test_longest_waiting_pairs_are_asked_first_within_the_bound():
    rays = Rays()
    world = World(line_of_sight=rays, max_rays=3)
    guard = world.eye((0, 0, 0))
    things = [world.thing((k, 0, -5)) for k in range(8)]
    world.tick()
    assert world.manager.statistics()["advances_until_all_are_asked"] == 3
    world.tick(frames=2)
    assert world.manager.sensed_by(guard) == things
    assert [len(batch) for batch in rays.batches] == [3, 3, 3]
    asked = [source for batch in rays.batches for _, source in batch]
    assert asked == [*things, things[0]]


@settings(max_examples=12)
@given(st.integers(1, 5), st.integers(1, 12), st.randoms(use_true_random=False))
def test_newcomer_is_noticed_within_the_bound_despite_turnover(max_rays, n, chance):
    rays = Rays()
    world = World(line_of_sight=rays, max_rays=max_rays)
    guard = world.eye((0, 0, 0))
    others = [world.thing((k, 0, -5)) for k in range(n)]
    world.tick(frames=chance.randrange(4))
    newcomer = world.thing((-1, 0, -5))
    for _ in range(math.ceil((n + 1) / max_rays)):
        places = [(k, 0, chance.choice((-5, -500))) for k in range(n)]
        world.manager.move_sources(others, places)
        world.tick()
    assert newcomer in world.manager.sensed_by(guard)


def test_waiting_pair_keeps_its_last_answer_and_a_fresh_memory():
    rays = Rays()
    world = World(line_of_sight=rays, max_rays=1)
    lost = []
    guard = world.eye((0, 0, 0), memory=SenseMemory(lose_after_s=0.2), on_lost=lost.append)
    things = [world.thing((k, 0, -5)) for k in range(10)]
    world.tick(frames=30)
    assert world.manager.sensed_by(guard) == things
    assert lost == []


@pytest.mark.parametrize(("lose_after_s", "frame_s"), [(0.0, 0.1), (0.5, 0.8), (0.5, 60.0)])
def test_target_in_view_is_not_lost_between_looks_in_long_frames(lose_after_s, frame_s):
    world = World(seconds_per_frame=frame_s)
    told = []
    world.eye(
        (0, 0, 0), memory=SenseMemory(lose_after_s=lose_after_s, max_age_s=200), awareness=AwarenessSettings(),
        on_gained=told.append, on_lost=told.append)
    thief = world.thing((0, 0, -5))
    world.tick(frames=10)
    assert [change.kind for change in told] == ["gained"]
    world.manager.move_sources([thief], [(0, 0, -500)])
    world.tick(frames=3)
    assert [(change.kind, change.at_s) for change in told[1:]] == [("lost", pytest.approx(10 * frame_s + lose_after_s))]


def test_unavailable_rays_change_nothing_and_turns_are_kept():
    rays = Rays()
    world = World(line_of_sight=rays, max_rays=1)
    guard, seen, waiting = world.eye((0, 0, 0)), world.thing((1, 0, 0)), world.thing((2, 0, 0))
    world.tick()
    world.manager.line_of_sight = lambda *_: None
    world.tick(frames=5)
    assert world.manager.sensed_by(guard) == [seen]
    world.manager.line_of_sight = rays
    world.tick()
    assert world.manager.sensed_by(guard) == [seen, waiting]


@pytest.mark.parametrize("answer", [[True], np.array([1.0]), np.array([True, True])])
def test_invalid_line_of_sight_answer_is_reported_but_not_fatal(answer):
    world = World(line_of_sight=lambda *_: answer, reraise=False)
    world.eye((0, 0, 0))
    ear = world.ear((0, 0, 0))
    source = world.thing((0, 0, -4))
    for _ in range(5):
        world.manager.emit(source, "hearing", 1.0)
        world.tick()
    assert world.sensed() == [(ear, source)] * 5
    assert [fault.name for fault in world.reported] == ["line_of_sight"] * 3
    assert "line_of_sight must return" in str(world.reported[0].error)
    world.manager.line_of_sight = Rays()
    world.manager.release()
    world.tick()
    assert len(world.reported) == 3
    assert len(world.manager.sensed_by(0)) == 1


def test_target_in_view_is_reported_first_and_then_periodically():
    world = World(seconds_per_frame=0.0625, report_every_s=0.25)
    world.eye((0, 0, 0))
    world.thing((0, 0, -4))
    world.tick(frames=9)
    assert [one.at_s for one in world.heard] == [0.0625, 0.25, 0.5]


def test_simultaneous_reports_take_turns_in_a_flat_load():
    world = World(seconds_per_frame=1 / 64, report_every_s=0.25)
    for k in range(64):
        world.eye((10 * k, 0, 0), cones=[SightCone(5.0, math.tau, math.pi)])
        world.thing((10 * k, 0, -4))
    world.tick()
    assert len(world.heard) == 64       # what is new is told at once
    world.tick(frames=16)
    told = []
    for _ in range(32):
        world.heard.clear()
        world.tick()
        told.append(len(world.heard))
    assert sum(told) == 2 * 64
    assert max(told) <= 2 * 64 / 16


def test_reports_of_a_target_are_at_least_half_a_period_apart():
    world = World(seconds_per_frame=1 / 64, report_every_s=0.25)
    for k in range(64):
        world.eye((10 * k, 0, 0), cones=[SightCone(5.0, math.tau, math.pi)])
        world.thing((10 * k, 0, -4))
    world.tick(frames=40)
    moments = {}
    for one in world.heard:
        moments.setdefault(one.sensor_id, []).append(one.at_s)
    assert min(b - a for at in moments.values() for a, b in pairwise(at)) >= 0.125


def test_sensor_without_listeners_keeps_its_last_report():
    world = World(seconds_per_frame=0.0625, report_every_s=0.25)
    eye = world.eye((0, 0, 0), on_sensed=None)
    thing = world.thing((0, 0, -4))
    world.tick(frames=6)
    last = world.manager.last_sensation(eye)
    assert (last.source_id, last.at_s, last.position) == (thing, 0.25, (0.0, 0.0, -4.0))


def test_touch_needs_no_eyes_and_a_custom_sense_needs_no_code():
    telepathy = Modality("telepathy", range_m=1000, kept_per_m=0.999, is_continuous=True)
    world = World(modalities=[Modality.touch(range_m=1.0), telepathy], line_of_sight=Rays())
    world.manager.add_sensor(
        position=(0, 0, 0), forward=(0, 0, -1), on_sensed=world.heard.append,
        thresholds={"touch": 0.1, "telepathy": 0.5},
    )
    world.manager.add_source(position=(0, 0, 0.9), strengths={"touch": 1.0})
    world.manager.add_source(position=(0, 0, 2.0), strengths={"touch": 1.0})
    world.manager.add_source(position=(400, 0, 0), strengths={"telepathy": 1.0})
    world.tick()
    assert [(one.source_id, one.modality) for one in world.heard] == [(0, "touch"), (2, "telepathy")]


def test_listeners_may_move_and_remove_what_others_are_told_of():
    world = World()
    guards, meddled = [world.eye((k, 0, 0)) for k in range(2)], []
    thief, other = world.thing((0, 0, -4)), world.thing((0, 0, -5))

    def meddle(sensation):
        if sensation.source_id == other or meddled:
            return
        meddled.append(sensation)
        world.manager.move_sources([thief], [[9, 0, -4]])
        world.manager.remove_source(other)
        world.manager.remove_sensor(last)

    world.eye((0, 0, 0), on_sensed=meddle)
    late, last = world.eye((0, 0, 0)), world.eye((0, 0, 0))
    world.tick()
    assert world.sensed() == [(guard, source) for guard in (*guards, late) for source in (thief, other)]
    assert {one.position[0] for one in world.heard} == {0}     # where they were when they were seen
    world.heard.clear()
    world.tick(3)
    assert {(one.source_id, one.position[0]) for one in world.heard} == {(thief, 9)}


def test_each_of_many_sensors_is_notified_by_ascending_id():
    world = World()
    things = [world.thing((4.0 * k, 0, -1)) for k in range(50)]
    near = SightCone(1.5, math.tau, math.pi)
    guards = [world.eye((4.0 * (k % 50), 0, 0), cones=[near]) for k in range(200)]
    world.tick()
    assert world.sensed() == [(guard, things[k % 50]) for k, guard in enumerate(guards)]


def test_out_of_range_holds_even_for_sensors_that_sense_nothing():
    world = World(modalities=[Modality.sight(range_m=10)])
    world.eye((0, 0, 0), threshold=0.0, cones=[SightCone(50, math.tau, math.pi, acuity=0.0)])
    near = world.thing((0, 0, -9))
    world.thing((0, 0, -11))
    world.tick()
    assert [one.source_id for one in world.heard] == [near]


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_a_budget_of_steps_is_kept_to_the_sensor(steps):
    world = World()
    guards = [world.eye((k, 0, 0)) for k in range(150)]
    thief = world.thing((0, 0, -4))
    overruns = set()
    for _ in range(2 + 200 // steps):
        budget = Budget.of_steps(steps)
        world.tick(budget=budget)
        overruns.add(budget.over)
    assert overruns == {0}
    assert world.sensed()[:50] == [(guard, thief) for guard in guards[:50]]


COORDINATE = st.integers(-12, 12).map(float)
PLACE = st.tuples(COORDINATE, COORDINATE, COORDINATE)
EYE = st.tuples(PLACE, PLACE.filter(any), st.integers(0, 3))
THING = st.tuples(PLACE, st.integers(1, 3), st.sampled_from([0.3, 1.0, 4.0]))


def textbook_intensity(eye, forward, target, strength, cones):
    """What one eye sees of one thing, from angles; None within rounding of a border."""
    offset = np.subtract(target, eye)
    distance = float(np.linalg.norm(offset))
    if distance == 0:
        return strength * cones[0].acuity
    ahead = np.divide(forward, np.linalg.norm(forward))
    right = np.cross(ahead, (0, 1, 0))
    if np.linalg.norm(right) < 1e-6:
        return None
    right /= np.linalg.norm(right)
    x, y, z = (float(offset @ axis) for axis in (right, np.cross(right, ahead), ahead))
    azimuth, elevation = abs(math.atan2(x, z)), math.asin(min(1, abs(y) / distance))
    if math.hypot(x, z) < 1e-3:
        return None
    for cone in cones:
        gaps = (cone.range_m - distance, cone.horizontal_rad / 2 - azimuth,
                cone.vertical_rad / 2 - elevation)
        if min(abs(gap) for gap in gaps) < 1e-4:
            return None
        if min(gaps) > 0:
            return strength * cone.acuity * 0.9**distance
    return 0.0


@settings(max_examples=14)
@given(st.lists(EYE, min_size=1, max_size=5), st.lists(THING, min_size=1, max_size=6))
def test_eyes_see_what_the_textbook_s_double_loop_sees(eyes, things):
    cones = (SightCone(6, 1.0, 0.8, 2.0), SightCone(14, 2.2, 1.7, 1.0), SightCone(3, 6.2, 3.1, 0.5))
    world = World(modalities=[Modality.sight(range_m=13.5, kept_per_m=0.9)])
    sources = [world.thing(at, sight=strength, affiliation=bits) for at, bits, strength in things]
    expected, unsure = {}, set()
    for at, forward, detection_mask in eyes:
        guard = world.eye(at, forward=forward, threshold=0.25, cones=cones, detection_mask=detection_mask)
        for source, (place, bits, strength) in zip(sources, things, strict=True):
            seen = textbook_intensity(at, forward, place, strength, cones)
            if seen is None or abs(seen - 0.25) < 1e-6:
                unsure.add((guard, source))
            elif detection_mask & bits and seen >= 0.25 and math.dist(at, place) <= 13.5:
                expected[guard, source] = pytest.approx(seen)
    world.tick()
    got = {(one.sensor_id, one.source_id): one.intensity for one in world.heard}
    assert {pair: seen for pair, seen in got.items() if pair not in unsure} == expected


def test_budget_too_small_for_a_frame_sees_all_over_several():
    world = World(line_of_sight=Rays())
    guards = [world.eye((k, 0, 0)) for k in range(600)]
    thief = world.thing((0, 0, -4))
    frames = 0
    while len(world.heard) < 50 and frames < 40:
        world.tick(budget=Budget.of_steps(100))
        frames += 1
    assert 3 <= frames < 40
    assert world.sensed() == [(guard, thief) for guard in guards[:50]]


@settings(max_examples=15)
@given(st.lists(st.sampled_from([False, False, True]), min_size=30, max_size=30), st.randoms(use_true_random=False))
def test_guards_without_cones_see_each_other_mutually_or_not(walls, chance):
    grid = np.array(walls).reshape(5, 6)
    cells = [(column, 0, row) for row, column in np.argwhere(~grid).tolist()]
    cells = chance.sample(cells, min(6, len(cells)))
    blocked = GridLineOfSight(grid)

    def line_of_sight(eyes, targets, sensor_ids, source_ids):
        return ~blocked(np.hstack((eyes, targets)))

    world = World(line_of_sight=line_of_sight)
    bodies = [world.thing(cell) for cell in cells]
    guards = [world.eye(cell, forward=(1, 0, 0), cones=[SightCone.close_by(20)], self_source=body)
              for cell, body in zip(cells, bodies, strict=True)]
    world.tick()
    seen = {(guards.index(a), bodies.index(b)) for a, b in world.sensed()}
    assert seen == {(b, a) for a, b in seen}
    assert all(a != b for a, b in seen)


@pytest.mark.parametrize(("line_of_sight", "most"), [
    (None, 2 * PASSES_TIMED), (lambda *lines: None, MOST_PASSES_TIMED), (lambda *lines: 1 / 0, MOST_PASSES_TIMED)])
def test_without_answers_the_times_of_passes_are_bounded(line_of_sight, most):
    world = World(line_of_sight=line_of_sight, reraise=False)
    world.eye((0, 0, 0))
    world.manager.add_source(position=(1, 0, 0), strengths={"sight": 1.0})
    world.tick(frames=MOST_PASSES_TIMED + 50)
    assert len(world.manager.save_state()["looking"]["ages"]["ended_s"]) <= most + 1
    if line_of_sight is None:
        assert world.manager.statistics()["oldest_query_s"] == 0.0
