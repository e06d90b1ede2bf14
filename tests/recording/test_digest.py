"""Digests: equal for equal values, wherever they were computed."""
from __future__ import annotations

import json
import math
from enum import Enum
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from ai_core.recording.digest import QUANTUM, canonical, digest_of, freezer

PLAIN = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=12,
)


class Mood(Enum):
    CALM = 1


class Spot(NamedTuple):
    x: float
    y: float


ODD = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text() | some.sampled_from([
        Mood.CALM, Spot(1.0, 2.0), np.float64(0.5), np.int32(3), np.bool_(True), {3, 11, 2}, frozenset({("a", 1)}),
        np.arange(6.0).reshape(2, 3), np.array(["a"]), np.array(None), object(), ValueError("no"), b"raw",
        {2: "b", "a": 1, Mood.CALM: None, (1, 2): 0.25},
    ]),
    lambda inner: some.lists(inner) | some.lists(inner).map(tuple) | some.dictionaries(some.text(), inner),
    max_leaves=8,
)


@pytest.mark.parametrize("exact", [False, True])
@given(PLAIN)
def test_every_plain_value_has_a_text_that_is_json(exact, value):
    json.loads(canonical(value, exact=exact))


@pytest.mark.parametrize("exact", [False, True])
@given(ODD)
def test_what_is_frozen_has_the_same_text_and_stays(exact, value):
    frozen = freezer(exact=exact)(value)
    assert canonical(frozen, exact=exact) == canonical(value, exact=exact, foreign=True)
    assert repr(freezer(exact=exact)(frozen)) == repr(frozen)


def test_a_rounding_error_is_seen_exactly_and_not_when_quantised():
    one, other = 0.1 + 0.2, 0.3
    assert one != other
    assert digest_of([one]) == digest_of([other])
    assert digest_of([one], exact=True) != digest_of([other], exact=True)


def test_a_rounding_error_in_an_array_likewise():
    one, other = np.array([0.1 + 0.2]), np.array([0.3])
    assert digest_of(one) == digest_of(other)
    assert digest_of(one, exact=True) != digest_of(other, exact=True)


@pytest.mark.parametrize("as_what", [float, lambda value: np.array([value])])
def test_what_differs_by_more_than_the_grid_differs(as_what):
    assert digest_of(as_what(1.0)) != digest_of(as_what(1.0 + 1.5 * QUANTUM))


def test_the_order_of_keys_and_of_sets_does_not_matter():
    assert digest_of({"a": 1, "b": {2, 3, 11}}) == digest_of({"b": {11, 3, 2}, "a": 1})


def test_the_order_of_a_list_matters():
    assert digest_of([1, 2]) != digest_of([2, 1])


def test_the_shape_of_an_array_matters():
    assert digest_of(np.zeros((2, 3))) != digest_of(np.zeros((3, 2)))


def test_numbers_of_numpy_are_numbers():
    assert digest_of([np.float64(0.5), np.int32(3), np.bool_(True)]) == digest_of([0.5, 3, True])


def test_named_tuples_and_enums_digest_by_content_and_name():
    assert digest_of(Spot(1.0, 2.0)) == digest_of([1.0, 2.0])
    assert canonical(Mood.CALM) == '"Mood.CALM"'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, np.float32(1e38)])
def test_numbers_without_a_place_on_the_grid_have_digests_too(value):
    for exact in (False, True):
        assert digest_of(value, exact=exact) != digest_of(0.0, exact=exact)
        assert digest_of(np.array([value]), exact=exact) != digest_of(np.array([0.0]), exact=exact)


def test_minus_zero_is_zero_on_the_grid():
    assert digest_of(-0.0) == digest_of(0.0)
    assert digest_of(np.array([-0.0])) == digest_of(np.array([0.0]))
    assert digest_of(-0.0, exact=True) != digest_of(0.0, exact=True)


def test_an_object_is_refused_or_taken_for_its_type():
    with pytest.raises(TypeError, match=r"must be plain, got <object object.*instead of the object"):
        digest_of({"target": object()})
    assert digest_of(object(), foreign=True) == digest_of(object(), foreign=True)
    assert digest_of(object(), foreign=True) != digest_of(Exception(), foreign=True)


def test_keys_that_are_not_text_or_integers_are_refused():
    with pytest.raises(TypeError, match="keys of digested data must be strings or integers"):
        digest_of({1.5: "a"})


def test_the_digest_of_a_value_is_the_same_for_ever():
    value = {"place": (1.0, -2.5), "does": ["guard/patrol"], "grid": np.arange(6.0).reshape(2, 3), "known": None}
    assert digest_of(value) == "eeb576a50f9e6591"
    assert digest_of(value, exact=True) == "7a529b9360f60223"
