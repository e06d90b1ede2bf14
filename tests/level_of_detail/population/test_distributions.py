"""Distributions: what is made of them gives them back, whichever generator draws."""
from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.chance import checked_generator
from ai_core.level_of_detail.population.distributions import Normal, PowerLaw

KINDS = [
    Normal(40.0, 15.0), Normal(-3.0, 0.0), PowerLaw(2.5, 10.0), PowerLaw(1.8, 1.0, average=50.0),
    PowerLaw(40.0, 1.0),
]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


def figures(one):
    if isinstance(one, Normal):
        return [one.average, one.deviation]
    return [one.mean, one.exponent, one.lower]


@each_kind
@pytest.mark.parametrize("count", [40, 250, 1_000])
def test_what_is_made_gives_the_distribution_back(kind, count):
    values = kind.values(count, random.Random(count))
    assert len(values) == count
    assert figures(kind.refitted(values)) == pytest.approx(figures(kind), rel=1e-9, abs=1e-9)


@each_kind
@settings(max_examples=25)
@given(count=st.integers(0, 60), seed=st.integers(0, 99))
def test_the_total_is_kept_of_any_number_of_people(kind, count, seed):
    values = kind.values(count, random.Random(seed))
    assert math.fsum(values) == pytest.approx(kind.mean * count, rel=1e-9, abs=1e-9)


@each_kind
def test_a_hundred_openings_change_nothing(kind):
    chance, now = np.random.default_rng(4), kind
    for _ in range(100):
        now = now.refitted(now.values(120, chance))
    assert figures(now) == pytest.approx(figures(kind), rel=1e-9, abs=1e-9)


def test_values_have_the_shape_they_should():
    chance = np.random.default_rng(5)
    bell = np.sort(Normal(0.0, 1.0).values(10_000, chance))
    assert bell[[1587, 5000, 8413]] == pytest.approx([-1, 0, 1], abs=0.06)
    wealth = PowerLaw(2.5, 10.0).values(10_000, chance)
    assert wealth.min() >= 10 * (1 - 1e-12)
    # Half have less than lower * 2 ** (1 / (exponent - 1)).
    assert np.median(wealth) == pytest.approx(10 * 2 ** (1 / 1.5), rel=0.1)
    assert np.mean(wealth > 100) == pytest.approx(10**-1.5, rel=0.25)


@each_kind
def test_merging_equals_is_the_same_distribution(kind):
    assert figures(kind.merged(300, kind, 700)) == pytest.approx(figures(kind), rel=1e-12, abs=1e-12)


@given(st.lists(st.floats(1, 1e4), min_size=2, max_size=40), st.lists(st.floats(1, 1e4), min_size=2, max_size=40))
def test_merging_is_what_all_values_together_give(one, other):
    a, b = np.array(one), np.array(other)
    together = np.concatenate((a, b))
    normal = Normal(0.0, 1.0)
    assert figures(normal.refitted(a).merged(len(a), normal.refitted(b), len(b))) == pytest.approx(
        figures(normal.refitted(together)), rel=1e-6, abs=1e-6)
    law = PowerLaw(2.5, 1.0)
    merged, wanted = law.refitted(a).merged(len(a), law.refitted(b), len(b)), law.refitted(together)
    assert (merged.lower, merged.mean) == pytest.approx((wanted.lower, wanted.mean))
    assert merged.tail == pytest.approx(wanted.tail, rel=1e-9, abs=2e-6)  # exponents end at STEEPEST


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Normal(0.0, -1.0), "deviation must be at least 0"),
        (lambda: Normal(math.nan, 1.0), "average must be a finite number"),
        (lambda: PowerLaw(1.0, 1.0), "exponent must be above 1"),
        (lambda: PowerLaw(1.9, 1.0), "has no mean; give average"),
        (lambda: PowerLaw(2.5, 0.0), "lower must be above 0"),
        (lambda: PowerLaw(2.5, 10.0, average=9.0), "average must be at least 10"),
        (lambda: Normal(0.0, 1.0).refitted(np.array([])), r"values must have shape \(n,\), n at least 1, got"),
        (lambda: Normal(0.0, 1.0).refitted(np.array([1.0, math.inf])), "values must be finite, got inf"),
        (lambda: PowerLaw(2.5, 1.0).refitted(np.array([0.0])), "must be above 0, got 0"),
        (lambda: Categorical({"a": -1}), "count of 'a' must be at least 0"),
        (lambda: Categorical({"a": 2}).split([1, 2], random.Random(0)), "sizes must add up to 2, got 3"),
    ],
)
def test_wrong_numbers_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_generator_is_asked_for():
    for wrong in (None, 7, random.Random):
        with pytest.raises(TypeError, match="generator must be"):
            checked_generator(wrong)
    with pytest.raises(TypeError, match="count of 'a' must be an integer"):
        Categorical({"a": True})


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 50), max_size=6), st.lists(st.integers(0, 60)),
    st.integers(0, 99),
)
def test_labels_are_split_to_the_last_and_in_proportion(counts, sizes, seed):
    whole = Categorical(counts)
    cut = []
    for size in sizes:
        cut.append(min(size, whole.total - sum(cut)))
    cut.append(whole.total - sum(cut))
    parts = whole.split(cut, random.Random(seed))
    assert [one.total for one in parts] == cut
    together = Categorical({})
    for one in parts:
        assert all(number >= 0 for number in one.counts.values())
        together = together.merged(one)
    assert {k: v for k, v in together.counts.items() if v} == {k: v for k, v in whole.counts.items() if v}
    if whole.total:
        for label, number in parts[0].counts.items():
            assert abs(number - cut[0] * counts[label] / whole.total) < 1


def test_labels_are_given_out_exactly_and_in_random_order():
    jobs = Categorical({"farmer": 70, "smith": 30})
    values = jobs.values(random.Random(1))
    assert Categorical.of(values) == jobs
    assert len(set(values[:20].tolist())) == 2
