"""Argument checks: what is let through, and what does the refusal say?"""
from __future__ import annotations

import math
import re

import numpy as np
import pytest

from ai_core.errors import (
    UnknownNameError,
    check_type,
    checked_name,
    finite_number,
    flags,
    indices,
    named,
    point,
    positions,
    shown,
    whole_number,
)


def test_a_number_too_small_is_refused_with_the_remedy():
    told = "^period_frames must be at least 1, got 0; use 1 to run every frame$"
    with pytest.raises(ValueError, match=told):
        whole_number("period_frames", 0, minimum=1, remedy="use 1 to run every frame")


@pytest.mark.parametrize("value", [True, 2.0, 2.5, "2", None, np.True_, float("nan")])
def test_only_whole_numbers_are_whole(value):
    with pytest.raises(TypeError, match=r"^n must be an integer, got "):
        whole_number("n", value, minimum=0)


def test_a_numpy_integer_becomes_an_int():
    assert type(whole_number("n", np.int32(7), minimum=0)) is int


def test_number_of_ten_thousand_digits_is_refused_unprinted():
    with pytest.raises(ValueError, match=r"^n must be at most 9, got <int with a failing repr>$"):
        whole_number("n", 10**10_000, minimum=0, maximum=9)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 10**400])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="range_m must be a finite number"):
        finite_number("range_m", value)


@pytest.mark.parametrize("value", [True, "1", None, 1j])
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises(TypeError, match="range_m must be a number"):
        finite_number("range_m", value)


@pytest.mark.parametrize(
    ("limits", "value", "wanted"),
    [
        ({"minimum": 0}, -0.5, "at least 0"),
        ({"above": 0}, 0, "above 0"),
        ({"maximum": 1}, 1.5, "at most 1"),
    ],
)
def test_each_limit_is_named(limits, value, wanted):
    with pytest.raises(ValueError, match=f"share must be {wanted}, got {value}"):
        finite_number("share", value, **limits)


@pytest.mark.parametrize(
    ("limits", "value", "told"),
    [
        ({"maximum": 0.1}, float(np.float32(0.1)), "at most 0.1, got 0.10000000149011612"),
        ({"maximum": 0.1}, np.float32(0.1), "at most 0.1, got 0.10000000149011612"),
        ({"minimum": 0.7}, float(np.float32(0.7)), "at least 0.7, got 0.699999988079071"),
        ({"above": 0.7}, float(np.float32(0.7)), "above 0.7, got 0.699999988079071"),
        ({"above": 0.7}, 0.7, "above 0.7, got 0.7"),
        ({"above": float(np.float32(0.7))}, float(np.float32(0.7)), "above 0.7, got 0.7"),
        ({"maximum": 0.1}, float(np.float32(0.2)), "at most 0.1, got 0.2"),
        ({"maximum": 0.12345678}, 0.1234568, "at most 0.12345678, got 0.1234568"),
        ({"minimum": 5_000_000.5}, 5_000_000, "at least 5000000.5, got 5000000.0"),
    ],
)
def test_digits_never_contradict_the_rule(limits, value, told):
    with pytest.raises(ValueError, match=f"^share must be {re.escape(told)}$"):
        finite_number("share", value, **limits)


def test_limits_themselves_are_allowed_except_above():
    assert finite_number("share", np.float32(1), minimum=1, maximum=1) == 1.0


def test_good_positions_are_not_copied():
    given = np.zeros((4, 3), np.float32)
    assert positions("positions", given) is given


def test_lists_of_flat_points_are_positions():
    assert positions("positions", [[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]


def test_no_positions_are_positions():
    assert positions("positions", []).shape == (0, 3)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([1, 2, 3], ValueError, r"must have shape \(n, 2\) or \(n, 3\), got \(3,\)"),
        (np.zeros((2, 4)), ValueError, r"got \(2, 4\)"),
        ([[1, 2], [3]], ValueError, "rows of equal length"),
        ([["a", "b"]], TypeError, "must hold numbers"),
        ([[True, False]], TypeError, "must hold numbers"),
        ([[0.0, 0.0], [0.0, np.nan]], ValueError, r"must be finite, got \[0.0, nan\] in row 1"),
        ([[1e300, 0.0]], ValueError, r"must be finite, got \[1e\+300, 0.0\] in row 0"),
    ],
)
def test_what_is_not_positions_is_refused(value, error, message):
    with pytest.raises(error, match=message):
        positions("positions", value)


def test_a_flat_point_stands_on_the_ground():
    assert point("position", (1, 2)).tolist() == [1, 2, 0]


def test_a_point_is_a_copy():
    given = np.ones(3, np.float32)
    taken = point("position", given)
    given[0] = 9
    assert taken.tolist() == [1, 1, 1]


@pytest.mark.parametrize("value", [[1], [1, 2, 3, 4], [[1, 2, 3]], [1, 2, np.inf]])
def test_what_is_not_a_point_is_refused(value):
    with pytest.raises(ValueError, match="position must"):
        point("position", value)


def test_an_unknown_name_lists_what_was_probably_meant():
    error = UnknownNameError("topic", "can_sea", ["can_see", "path_length"])
    assert str(error) == "unknown topic 'can_sea'; did you mean 'can_see'?"


def test_an_unknown_name_far_from_all_lists_some_that_exist():
    assert str(UnknownNameError("id", 99, [1, 2])) == "unknown id 99; known: '1', '2'"


def test_an_unknown_name_among_none_says_so():
    assert str(UnknownNameError("topic", "a", [])).endswith("none is registered yet")


@pytest.mark.parametrize("name", ["alice", None, ["Alice"]])
def test_unused_name_is_unknown_even_if_it_cannot_be_a_name(name):
    assert named("guard", "Alice", {"Alice": 1}) == 1
    with pytest.raises(UnknownNameError, match=r"^unknown guard "):
        named("guard", name, {"Alice": 1})


def test_a_value_whose_repr_fails_can_still_be_named():
    class Freed:
        def __repr__(self):
            raise RuntimeError("freed")

    assert shown(Freed()) == "<Freed with a failing repr>"


def test_numbers_of_32_bits_are_shown_with_their_digits():
    assert [shown(float(np.float32(0.2))), shown(0.2), shown(1 / 3), shown(1e300), shown(math.inf), shown(2e9)] == [
        "0.2", "0.2", "0.3333333333333333", "1e+300", "inf", "2000000000.0"]


def test_long_values_are_cut():
    assert len(shown("x" * 1000)) == 61


@pytest.mark.parametrize(("check", "error", "message"), [
    (lambda: check_type("ground", 3, dict, "use {}"), TypeError, "ground must be a dict, got 3; use {}"),
    (lambda: checked_name("name", ""), TypeError, "name must be a non-empty string, got ''"),
    (lambda: indices("cells", [0.5], 4), TypeError, r"cells must be integers of shape \(n,\), got \[0.5\]"),
    (lambda: indices("cells", [0, 4], 4), ValueError, r"cells must be 0 to 3, got \[0, 4\]"),
    (lambda: flags("walls", [[1, 0]]), TypeError, r"walls must be bool, got \[\[1, 0\]\]"),
    (lambda: flags("walls", [True]), ValueError, r"walls must have shape \(height, width\), got \(1,\)"),
    (lambda: flags("walls", [[True]], (2, 1)), ValueError, r"walls must have shape \(2, 1\), got \(1, 1\)"),
])
def test_a_value_of_another_kind_or_shape_is_refused(check, error, message):
    with pytest.raises(error, match=message):
        check()


def test_indices_and_flags_are_arrays():
    assert indices("cells", 3, 4).tolist() == [3]
    assert indices("cells", [], 4).dtype == np.int32
    assert flags("walls", [[True, False]]).shape == (1, 2)
