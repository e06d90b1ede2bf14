"""Checks of plain values: what is wrong is refused with the place."""
from __future__ import annotations

import math

import pytest

from ai_core.saving.fields import (
    MOST,
    StateError,
    brief,
    check_names,
    check_version,
    checked_dict,
    checked_list,
    checked_number,
    checked_whole,
)


def refused(call, *given):
    with pytest.raises(StateError) as raised:
        call(*given)
    return str(raised.value)


def test_whole_numbers_that_json_made_floats_count():
    assert checked_whole("a", 12.0, 0, MOST) == 12
    assert type(checked_whole("a", 12.0, 0, MOST)) is int


@pytest.mark.parametrize("value", [1.5, True, "1", None, [1], math.nan, math.inf, 1e300])
def test_what_is_no_whole_number_is_refused(value):
    assert "'a' must be an integer, got" in refused(checked_whole, "a", value, 0, MOST)


@pytest.mark.parametrize(("value", "message"), [(-1, "at least 0, got -1"), (MOST + 1, f"at most {MOST}, got")])
def test_whole_numbers_have_limits(value, message):
    assert message in refused(checked_whole, "a", value, 0, MOST)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "0.5", None, 10**400])
def test_what_is_no_finite_number_is_refused(value):
    assert refused(checked_number, "a", value, -1, 1).startswith("'a' must be a finite number, got ")


@pytest.mark.parametrize("state", [None, [], "x", 3])
def test_a_state_is_a_dict(state):
    assert refused(checked_dict, "", state) == f"the state must be a dict, got {state!r}"


def test_a_list_may_have_a_required_length():
    assert checked_list("a", [1, 2], 2) == [1, 2]
    assert refused(checked_list, "a", [1], 2) == "'a' must be a list of 2 items, got a list of 1"
    assert refused(checked_list, "a[1]", 1) == "'a[1]' must be a list, got 1"


def test_missing_and_unknown_fields_are_named():
    check_names("", {"a": 1, "b": 2}, ("b", "a"))
    assert refused(check_names, "active[2]", {}, ["reason"]) == "'active[2].reason' is missing"
    assert refused(check_names, "", {"a": 1, "b": 2}, ["a"]) == "'b' is an unknown field; known fields: 'a'"


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"version": 4}, "'version' is 4, and this ai_core reads up to 3; update ai_core to load it"),
     ({"version": 1}, "'version' is 1, which is no longer supported"), ({}, "'version' is missing"),
     ({"version": "3"}, "'version' must be an integer, got '3'")],
)
def test_another_version_is_refused(fields, message):
    check_version("", {"version": 3}, 3)
    assert refused(check_version, "", fields, 3) == message


@pytest.mark.parametrize(
    ("value", "shown"),
    [([0] * 10**6, "a list of 1000000"), ({"a": 1}, "a dict of 1"), (1 << 5000, "a number of 5001 bits"),
     ("x" * 10**6, "'" + "x" * 59 + "…"), ([], "[]")],
)
def test_large_values_are_told_briefly(value, shown):
    assert brief(value) == shown
