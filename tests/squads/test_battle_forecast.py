"""Forecasts: equal forces end even, numbers count by their square, the air is safe from who cannot hit it."""
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.squads.battle_forecast import forecast
from ai_core.squads.capabilities import Capabilities, Force

SPEAR = Capabilities("ground", attack={"ground": 10.0}, toughness=100.0)
BOW = Capabilities("ground", attack={"ground": 5.0, "air": 16.0}, toughness=60.0)
FLYER = Capabilities("air", attack={"ground": 13.0, "air": 3.0}, toughness=110.0)
forces = st.lists(st.tuples(st.sampled_from([SPEAR, BOW, FLYER]), st.integers(1, 30)), max_size=3).map(Force)


def test_double_numbers_of_equal_units_end_by_the_square_law():
    found = forecast(Force([(SPEAR, 20)]), Force([(SPEAR, 10)]))
    assert found.other_left == 0.0
    assert found.own_left == pytest.approx((1 - 1 / 4) ** 0.5, abs=0.03)
    assert found.ratio == pytest.approx(2.0, rel=0.1)


def test_who_cannot_hit_what_is_met_loses_whatever_its_numbers():
    assert forecast(Force([(SPEAR, 100)]), Force([(FLYER, 5)])).own_left == 0.0
    mixed = forecast(Force([(SPEAR, 100), (BOW, 1)]), Force([(FLYER, 20)]))
    assert mixed.own_left == 0.0, "one archer is shot, and then nobody can hit them"
    assert forecast(Force([(BOW, 40)]), Force([(FLYER, 20)])).own_left > 0.4


@given(forces, forces)
def test_a_battle_ends_alike_seen_from_both_sides(own, other):
    ours, theirs = forecast(own, other), forecast(other, own)
    assert (ours.own_left, ours.other_left) == pytest.approx((theirs.other_left, theirs.own_left))
    assert 0 <= ours.own_left <= 1
    assert 0 < ours.ratio <= 1000


@given(forces)
def test_equal_forces_are_even(force):
    assert forecast(force, force).ratio == pytest.approx(1.0)
