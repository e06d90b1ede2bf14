"""Fields of saved state: checked one by one, refused with the place."""
from __future__ import annotations

import math

import pytest

from ai_core.saving.fields import MOST, Fields, StateError, brief


def refused(call):
    with pytest.raises(StateError) as raised:
        call()
    return str(raised.value)


def test_fields_are_read_by_name_and_kind():
    fields = Fields({"a": 3, "b": 0.5, "c": "x", "d": True, "e": [1], "f": {"g": 2}, "i": None})
    assert (fields.whole("a"), fields.number("b"), fields.text("c"), fields.flag("d")) == (3, 0.5, "x", True)
    assert (fields.items("e"), fields.group("f").whole("g")) == ([1], 2)
    assert fields.anything("i") is None
    fields.end()


def test_whole_numbers_that_json_made_floats_count():
    fields = Fields({"a": 12.0, "b": [3.0]})
    assert (fields.whole("a"), fields.wholes("b")) == (12, [3])
    assert type(fields.whole("a")) is int


@pytest.mark.parametrize("value", [1.5, True, "1", None, [1], math.nan, math.inf, 1e300])
def test_what_is_no_whole_number_is_refused(value):
    assert "'a' must be an integer, got" in refused(lambda: Fields({"a": value}).whole("a"))


@pytest.mark.parametrize(("value", "message"), [(-1, "at least 0, got -1"), (MOST + 1, f"at most {MOST}, got")])
def test_whole_numbers_have_limits(value, message):
    assert message in refused(lambda: Fields({"a": value}).whole("a"))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "0.5", None, 10**400])
def test_what_is_no_finite_number_is_refused(value):
    assert refused(lambda: Fields({"a": value}).number("a")).startswith("'a' must be a finite number, got ")


def test_a_place_is_named_down_to_the_item():
    fields = Fields({"rows": [{"x": 1}, {"x": {"deep": [1, "two"]}}]})
    rows = list(fields.groups("rows"))
    assert refused(lambda: rows[1].group("x").numbers("deep")) == (
        "'rows[1].x.deep[1]' must be a finite number, got 'two'"
    )


def test_a_missing_field_is_named():
    assert refused(lambda: Fields({}, "active[2]").text("reason")) == "'active[2].reason' is missing"


def test_what_nobody_reads_is_refused():
    fields = Fields({"a": 1, "b": 2})
    fields.whole("a")
    assert refused(fields.end) == "'b' is an unknown field; known fields: 'a'"


@pytest.mark.parametrize("state", [None, [], "x", 3])
def test_a_state_is_a_dict(state):
    assert refused(lambda: Fields(state)) == f"the state must be a dict, got {state!r}"


def test_the_present_version_is_read_as_it_is():
    fields = Fields.versioned({"version": 2, "a": 1}, version=2)
    assert fields.whole("a") == 1
    fields.end()


def test_a_later_version_is_refused():
    assert refused(lambda: Fields.versioned({"version": 4}, version=3)) == (
        "'version' is 4, and this ai_core reads up to 3; update ai_core to load it"
    )


def test_an_earlier_version_is_refused():
    said = refused(lambda: Fields.versioned({"version": 1}, version=3))
    assert said == "'version' is 1, which is no longer supported"


@pytest.mark.parametrize(
    ("value", "shown"),
    [([0] * 10**6, "a list of 1000000"), ({"a": 1}, "a dict of 1"), (1 << 5000, "a number of 5001 bits"),
     ("x" * 10**6, "'" + "x" * 59 + "…"), ([], "[]")],
)
def test_large_values_are_told_briefly(value, shown):
    assert brief(value) == shown
