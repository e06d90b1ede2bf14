"""Scent trails: marks that cool, whose newest leads to who left them."""
from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.errors import UnknownNameError
from ai_core.saving.fields import StateError
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.scent.scent_trails import ScentMark, ScentTrails
from tests.senses.worlds import AHEAD, World

NAN = float("nan")


def walk(trails, scent, cells, strength=1.0, start_s=0.0):
    for second, x in enumerate(cells):
        trails.leave(scent, (float(x), 0, 0), strength, start_s + second)


def smelled(trails, x, now_s, *, threshold=0.01, kept_per_m=0.9, **more):
    return [(one.scent, one.position[0]) for one in
            trails.smelled((float(x), 0, 0), threshold, kept_per_m, now_s, **more)]


def test_the_newest_mark_that_is_smelled_is_the_way_to_go():
    trails = ScentTrails(radius_m=2.5, kept_per_s=1.0)
    walk(trails, 7, range(10))
    assert smelled(trails, 3, 9.0) == [(7, 5.0)]
    assert smelled(trails, 8, 9.0) == [(7, 9.0)]
    assert smelled(trails, 30, 9.0) == []


def test_each_source_has_its_own_scent():
    trails = ScentTrails(radius_m=3.0, kept_per_s=1.0)
    walk(trails, 7, range(5))
    walk(trails, 8, range(5, 0, -1))
    assert smelled(trails, 3, 9.0) == [(7, 4.0), (8, 1.0)]
    assert smelled(trails, 3, 9.0, scent=8) == [(8, 1.0)]
    assert smelled(trails, 3, 9.0, excluded=8) == [(7, 4.0)]


def test_standing_source_warms_its_own_mark_despite_newer_ones():
    trails = ScentTrails(kept_per_s=0.5, faintest=0.01)
    trails.leave(1, (0, 0, 0), 1.0, 0.0)
    assert smelled(trails, 0, 0.0) == [(1, 0.0)]            # takes up the marks so far
    trails.leave(2, (50, 0, 0), 0.5, 0.0)
    trails.leave(1, (0, 0, 0), 1.0, 4.0)
    marks = trails.save_state()["marks"]
    assert (marks["strength"], marks["left_at_s"]) == ([1.0, 0.5], [4.0, 0.0])


def test_strength_sets_radius_and_trail_and_cooling_shrinks_both():
    def reach(strength, age_s):
        trails = ScentTrails(radius_m=4.0, kept_per_s=0.5, faintest=0.1)
        trails.leave(1, (0, 0, 0), strength, 0.0)
        return sum(bool(smelled(trails, x / 4, age_s, threshold=0.0)) for x in range(1, 80))

    assert reach(1.0, 0.0) == 16
    assert reach(2.0, 0.0) == 32
    assert reach(2.0, 1.0) == 16
    assert (reach(1.0, 3.0), reach(1.0, 4.0)) == (2, 0)


def test_threshold_and_distance_decide_whether_a_mark_is_smelled():
    trails = ScentTrails(radius_m=9.0, kept_per_s=1.0)
    trails.leave(1, (0, 0, 0), 1.0, 0.0)
    (mark,) = trails.smelled((2.0, 0, 0), 0.8, 0.9, 5.0)
    assert mark == ScentMark(1, (0.0, 0.0, 0.0), pytest.approx(0.81), 0.0)
    assert trails.smelled((2.0, 0, 0), 0.82, 0.9, 5.0) == []


def test_who_stands_still_keeps_one_mark_warm():
    trails = ScentTrails(kept_per_s=0.5, spacing_m=1.0)
    for second in range(50):
        trails.leave(1, (0.01 * second, 0, 0), 1.0, float(second))
    assert len(trails) == 1
    assert smelled(trails, 0, 50.0) == [(1, 0.0)]


def test_cold_marks_go_and_the_oldest_go_first_over_the_limit():
    trails = ScentTrails(radius_m=0.5, kept_per_s=1.0, max_marks=4)
    walk(trails, 1, range(9))
    assert [x for x in range(9) if smelled(trails, x, 9.0)] == [5, 6, 7, 8]
    cooling = ScentTrails(kept_per_s=0.5, faintest=0.2)
    walk(cooling, 1, range(9))
    smelled(cooling, 0, 9.0)
    assert len(cooling) == 2


def test_a_mark_that_is_renewed_is_not_among_the_oldest():
    trails = ScentTrails(kept_per_s=1.0, max_marks=4)
    for second in range(20):
        trails.leave(1, (0, 0, 0), 1.0, float(second))
        trails.leave(2, (50 + 2 * second, 0, 0), 1.0, float(second))
        assert smelled(trails, 0, float(second)) == [(1, 0.0)]
    assert len(trails) == 4


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.sampled_from([0.5, 1.0, 2.0])), max_size=40),
       st.integers(0, 12), st.floats(0, 5))
def test_marks_are_smelled_as_in_a_plain_list(steps, x, later_s):
    trails = ScentTrails(radius_m=3.0, kept_per_s=0.9, faintest=0.1, spacing_m=1.5)
    plain, last = [], {}
    for second, (scent, place, strength) in enumerate(steps):
        trails.leave(scent, (place, 0, 0), strength, float(second))
        index = last.get(scent)
        is_alive = index is not None and plain[index][2] * 0.9 ** (second - plain[index][3]) >= 0.1
        if is_alive and abs(plain[index][1] - place) < 1.5:
            plain[index] = (scent, plain[index][1], strength, second)
        else:
            last[scent] = len(plain)
            plain.append((scent, place, strength, second))
    now_s = len(steps) + later_s
    expected = {}
    for scent, place, strength, left_s in plain:
        warmth = strength * 0.9 ** (now_s - left_s)
        distance = abs(place - x)
        if any(abs(gap) < 1e-9 for gap in (warmth - 0.1, distance - 3 * warmth, warmth * 0.8**distance - 0.2)):
            return
        if warmth >= 0.1 and distance <= 3 * warmth and warmth * 0.8**distance >= 0.2:
            expected[scent] = float(place)
    assert smelled(trails, x, now_s, threshold=0.2, kept_per_m=0.8) == sorted(expected.items())


def test_unsmelled_trail_keeps_only_the_newest_marks_for_hours():
    trails = ScentTrails(max_marks=100, kept_per_s=1.0)
    walk(trails, 1, range(0, 2000, 2))
    assert len(trails) == 100
    assert smelled(trails, 1796, 1000.0) == []
    assert smelled(trails, 1800, 1000.0) == [(1, 1802.0)]


def test_scents_whose_marks_have_gone_leave_nothing_behind():
    trails = ScentTrails(kept_per_s=0.5, faintest=0.1)
    for scent in range(1000):
        trails.leave(scent, (0, 0, 0), 1.0, float(scent))
    trails.smelled((0, 0, 0), 0.0, 1.0, 1000.0)
    assert len(trails) < 10


def test_standing_source_rewarms_one_mark_among_any_number():
    trails = ScentTrails(kept_per_s=1.0)
    walk(trails, 1, range(0, 400, 2))
    count = len(trails)
    for second in range(100):
        trails.leave(1, (398, 0, 0), 1.0, 300.0 + second)
    assert len(trails) == count
    assert trails.smelled((398, 0, 0), 0.0, 1.0, 400.0)[0].left_at_s == 399.0


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.sampled_from([0.2, 1.0])), max_size=60),
       st.integers(1, 8), st.integers(0, 60))
@settings(max_examples=20)
def test_a_trail_saved_in_between_goes_on_as_one_that_was_not(steps, maximum, saved_at):
    through, loaded = (ScentTrails(kept_per_s=0.9, faintest=0.1, max_marks=maximum) for _ in range(2))
    for second, (scent, place, strength) in enumerate(steps):
        for trails in (through, loaded):
            trails.leave(scent, (place, 0, 0), strength, float(second))
            if second == saved_at and trails is loaded:
                trails.prepare_state(trails.save_state())()
    assert through.save_state() == loaded.save_state()


def test_trail_saved_midway_drops_cold_marks_on_time():
    chance = random.Random(4)
    through, loaded = (ScentTrails(kept_per_s=0.95, faintest=0.1, max_marks=80) for _ in range(2))
    for step in range(250):
        scent, place, strength = chance.randrange(4), chance.randrange(30) * 2, chance.choice([0.12, 0.2, 5.0])
        for trails in (through, loaded):
            trails.leave(scent, (place, 0, 0), strength, step * 0.3)
        if step % 50 == 20:
            loaded.prepare_state(loaded.save_state())()
    assert through.save_state() == loaded.save_state()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"now_s": NAN}, "now_s must be a finite number"), ({"scent": -1}, "scent must be at least 0"),
     ({"scent": 1.5}, "scent must be an integer"), ({"position": (0, NAN, 0)}, "position")],
)
def test_a_mark_that_cannot_be_is_refused(wrong, message):
    trails = ScentTrails()
    with pytest.raises((TypeError, ValueError), match=message):
        trails.leave(**{"scent": 1, "position": (0, 0, 0), "strength": 1.0, "now_s": 0.0, **wrong})
    assert len(trails) == 0


class Hunt(World):
    """A fugitive who walks along a crooked way, and a dog."""

    def __init__(self, **settings):
        super().__init__(
            seconds_per_frame=0.25, modalities=[Modality.smell(range_m=5.0)],
            scent_trails=ScentTrails(radius_m=2.5, kept_per_s=0.99), **settings)
        self.dog = self.manager.add_sensor(
            position=(0, 0, 2), forward=AHEAD, thresholds={"smell": 0.05}, on_sensed=self.heard.append,
            memory=SenseMemory(), name="dog")
        self.fugitive = self.manager.add_source(position=(0, 0, 0), strengths={"smell": 1.0}, name="fugitive")

    def flee(self, frames, budget=None):
        for _ in range(frames):
            step = self.clock.now.frame
            place = [0.5 * step, 0, 0] if step < 20 else [10, 0, 0.5 * (step - 20)]
            self.manager.move_sources([self.fugitive], [place])
            self.tick(budget=budget)


def test_dog_follows_the_trail_around_the_corner_to_its_source():
    hunt = Hunt()
    hunt.flee(40)
    place = [1.0, 0.0, 1.0]
    for _ in range(60):
        hunt.manager.move_sensors([hunt.dog], [place])
        mark = hunt.manager.track(hunt.dog, hunt.fugitive)
        assert mark is not None
        place = list(mark.position)
    # The mark nearest to where he stopped: marks are a metre apart.
    assert place == [10.0, 0.0, 9.0]


def test_sensors_are_told_what_they_smell_and_remember_it():
    hunt = Hunt()
    hunt.flee(4)
    assert {(one.sensor_id, one.source_id, one.modality, one.tag) for one in hunt.heard} == {
        (hunt.dog, hunt.fugitive, "smell", "trail")}
    known = hunt.manager.memory_of(hunt.dog).find(hunt.fugitive)
    assert known.dominant_modality == "smell"


def test_nobody_tracks_himself_or_those_he_does_not_notice():
    hunt = Hunt()
    hunt.manager.change_sensor(hunt.dog, self_source=hunt.fugitive)
    hunt.flee(8)
    assert hunt.heard == []
    assert hunt.manager.track(hunt.dog) is None
    hunt.manager.change_sensor(hunt.dog, self_source=-1, detection_mask=0b10)
    hunt.flee(8)
    hunt.manager.remove_source(hunt.fugitive)
    hunt.tick(frames=8)
    assert hunt.heard == []
    assert hunt.manager.track(hunt.dog) is hunt.manager.track(hunt.dog, hunt.fugitive) is None
    hunt.manager.change_sensor(hunt.dog, detection_mask=0b11)
    assert hunt.manager.track(hunt.dog).scent == hunt.fugitive


def test_budgets_of_one_step_smell_the_same():
    whole, bit_by_bit = Hunt(), Hunt()
    whole.flee(12)
    for _ in range(12):
        bit_by_bit.flee(1, Budget.of_steps(1))
        for _ in range(3):
            bit_by_bit.manager.advance(Budget.of_steps(1))
    assert bit_by_bit.heard == whole.heard != []


def test_a_crowd_leaves_its_marks_piece_by_piece():
    world = World(modalities=[Modality.smell()], scent_trails=ScentTrails())
    crowd = [world.manager.add_source(position=(5 * k, 0, 0), strengths={"smell": 1.0}) for k in range(10)]
    counts = []
    for _ in range(4):
        world.tick(budget=Budget.of_steps(3))
        counts.append(world.manager.statistics()["scent_marks"])
        world.manager.prepare_state(json.loads(json.dumps(world.manager.save_state())))()
    assert counts == [3, 6, 9, 10]
    world.manager.remove_source(crowd[0])
    world.tick(frames=2)
    assert world.manager.statistics()["scent_marks"] == 10


def test_saved_trails_are_smelled_on():
    first, second = Hunt(), Hunt()
    first.flee(13)
    second.flee(3)
    state = json.loads(json.dumps({"clock": first.clock.save_state(), "manager": first.manager.save_state()}))
    for change in [second.clock.prepare_state(state["clock"]), second.manager.prepare_state(state["manager"])]:
        change()
    assert second.manager.save_state() == first.manager.save_state()
    first.heard.clear()
    second.heard.clear()
    for hunt in (first, second):
        hunt.manager.move_sensors([hunt.dog], [[5, 0, 1]])
        hunt.flee(20)
    assert first.heard == second.heard != []
    assert second.manager.track(second.dog) == first.manager.track(first.dog)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("strength", [-1.0, 1.0], r"'marks.strength\[0\]' must be at least 0"), ("left_at_s", [0.0], "must have 2 rows"),
     ("position", [[0, 0, 0], [NAN, 0, 0]], "finite"), ("scent", [1.5, 1], "must be an integer")],
)
def test_trails_that_cannot_be_are_refused_and_nothing_is_loaded(field, value, message):
    trails = ScentTrails()
    walk(trails, 1, range(2))
    state = trails.save_state()
    state["marks"][field] = value
    before = trails.save_state()
    with pytest.raises(StateError, match=message):
        trails.prepare_state(state)
    assert trails.save_state() == before


@pytest.mark.parametrize(
    "wrong",
    [{"radius_m": 0}, {"spacing_m": NAN}, {"kept_per_s": 1.1}, {"faintest": 0}, {"max_marks": 0},
     {"sniff_every_s": -1}],
)
def test_impossible_trails_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ScentTrails(**wrong)


def test_trails_need_emitted_modality_and_tracking_needs_trails():
    with pytest.raises(UnknownNameError, match="unknown modality 'smell'"):
        World(scent_trails=ScentTrails())
    with pytest.raises(ValueError, match="must use an emitted modality"):
        World(scent_trails=ScentTrails(modality_name="sight"))
    world = World()
    with pytest.raises(RuntimeError, match="pass scent_trails to its constructor"):
        world.manager.track(world.ear((0, 0, 0)))
