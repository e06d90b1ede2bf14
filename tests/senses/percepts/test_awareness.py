"""Awareness: a straight line between changes, the same at any tick rate."""
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.senses.percepts.awareness import AwarenessLevel, AwarenessSettings
from tests.senses.percepts.meters import Meter

SETTINGS = AwarenessSettings(gain_per_s=0.5, decay_per_s=0.25, gain_per_signal=0.5)


def told(changes):
    return [(change.name, round(change.at_s, 6)) for change in changes]


def test_full_visibility_fills_meter_in_one_over_gain_seconds():
    meter = Meter(SETTINGS)
    meter.expose(1.0, 0.0)
    changes = meter.advance(2.0)
    assert meter.value == 1.0
    assert told(changes) == [("suspicious", 0.6), ("alert", 2.0)]


def test_half_visibility_takes_twice_as_long():
    meter = Meter(SETTINGS)
    meter.expose(0.5, 0.0)
    meter.advance(2.0)
    assert meter.value == 0.5


def test_level_is_kept_until_the_value_falls_to_lower_threshold():
    meter = Meter(SETTINGS)
    meter.expose(1.0, 0.0)
    meter.expose(0.0, 2.0)
    assert told(meter.advance(3.9)) == []
    assert meter.now.level_name == "alert"
    assert told(meter.advance(20.0)) == [("suspicious", 4.0), ("unaware", 5.6)]
    assert meter.now is None


VISIBILITIES = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1.0]), st.integers(1, 64)),
                        min_size=1, max_size=8)


@settings(max_examples=30)
@given(VISIBILITIES, st.sampled_from([1, 2, 7, 16]))
def test_the_meter_is_the_same_bit_for_bit_at_any_tick_rate(story, ticks_per_part):
    rare, often = (Meter(SETTINGS) for _ in range(2))
    rarely_told, often_told, now_s = [], [], 0.0
    for visibility, sixteenths in story:
        rarely_told += rare.expose(visibility, now_s)
        often_told += often.expose(visibility, now_s)
        for tick in range(ticks_per_part):
            part_s = sixteenths / 16 * tick / ticks_per_part
            often_told += often.expose(visibility, now_s + part_s)
        now_s += sixteenths / 16
    rarely_told += rare.advance(now_s)
    often_told += often.advance(now_s)
    assert often.value == rare.value
    assert often_told == rarely_told


def test_sound_raises_the_meter_at_once_past_levels_in_order():
    meter = Meter(SETTINGS)
    assert told(meter.startle(4.0, 3.0)) == [("suspicious", 3.0), ("alert", 3.0)]
    assert meter.value == 1.0


def test_the_meter_stays_between_nothing_and_one():
    meter = Meter(SETTINGS)
    meter.advance(100.0)
    assert meter.value == 0.0
    meter.expose(5.0, 100.0)
    meter.advance(1000.0)
    assert meter.value == 1.0


def test_filled_meter_begins_to_fall_only_when_the_target_hides():
    meter = Meter(SETTINGS)
    meter.expose(1.0, 0.0)
    meter.expose(0.0, 100.0)
    meter.advance(101.0)
    assert meter.value == 0.75


def test_levels_that_do_not_rise_are_refused():
    with pytest.raises(ValueError, match="levels must be in rising order, got 'b' not above 'a'"):
        AwarenessSettings(levels=[AwarenessLevel("a", 0.5, 0.1), AwarenessLevel("b", 0.4, 0.2)])


def test_two_levels_of_one_name_are_refused():
    with pytest.raises(ValueError, match="levels must have unique names"):
        AwarenessSettings(levels=[AwarenessLevel("a", 0.5, 0.1), AwarenessLevel("a", 0.9, 0.2)])


def test_a_level_without_hysteresis_is_refused():
    with pytest.raises(ValueError, match=r"rises_at must be above 0\.5"):
        AwarenessLevel("a", rises_at=0.5, falls_at=0.5)



SLOW = AwarenessSettings(gain_per_s=0.5, decay_per_s=0.25, gain_per_signal=0.5, levels=[
    AwarenessLevel("suspicious", 0.25, 0.125, reaction_s=0.5), AwarenessLevel("alert", 0.5, 0.25, reaction_s=0.25),
])


@pytest.mark.parametrize("ticks", [1, 3, 50])
def test_level_is_reported_after_reaction_time_at_any_tick_rate(ticks):
    meter = Meter(SLOW)
    changes = meter.expose(1.0, 0.0)
    for tick in range(1, ticks + 1):
        changes += meter.advance(2.0 * tick / ticks)
    assert told(changes) == [("suspicious", 1.0), ("alert", 1.25)]


@pytest.mark.parametrize("ticks", [1, 7])
def test_a_level_left_before_one_could_react_is_never_told(ticks):
    meter = Meter(SLOW)
    changes = meter.startle(0.6, 0.0)
    for tick in range(1, ticks + 1):
        changes += meter.advance(0.49 * tick / ticks)
    assert (changes, meter.now.why().reacts_at_s) == ([], 0.5)
    assert told(meter.advance(0.5)) == [("suspicious", 0.5)]
    again = Meter(AwarenessSettings(decay_per_s=1.0, gain_per_signal=1.0, levels=[
        AwarenessLevel("suspicious", 0.25, 0.125, reaction_s=5.0)]))
    assert again.startle(0.5, 0.0) + again.advance(9.0) == []


def test_a_meter_says_why_it_stands_where_it_stands():
    meter = Meter(SETTINGS)
    meter.startle(0.5, 0.0)
    meter.expose(0.5, 0.0, touch=0.25)
    meter.advance(1.0)
    why = meter.now.why()
    assert (why.value, why.level_name, why.rate_per_s) == (0.5, "suspicious", 0.25)
    assert (why.visibility, why.stimulus_gain, why.reacts_at_s) == ({"sight": 0.5, "touch": 0.25}, {"hearing": 0.25},
        None)


@pytest.mark.parametrize("reaction_s", [-1.0, float("nan"), float("inf")])
def test_impossible_reactions_are_refused(reaction_s):
    with pytest.raises(ValueError, match="reaction_s"):
        AwarenessLevel("a", 0.5, 0.25, reaction_s=reaction_s)


def test_a_meter_with_a_reaction_under_way_is_saved_and_loaded():
    first, second = (Meter(SLOW) for _ in range(2))
    first.startle(0.6, 1.0)
    second.clock.now = first.clock.now
    second.manager.prepare_state(json.loads(json.dumps(first.manager.save_state())))()
    assert second.now.why() == first.now.why()
    assert second.advance(3.0) == first.advance(3.0) != []
