"""Values of the game: plain ones as they are, others by kind, objects by name."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.clock import TimeIndex
from ai_core.saving.fields import StateError
from ai_core.saving.values import SavedValues

leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
keys = st.integers(-9, 9) | st.text() | st.tuples(st.integers(0, 3), st.booleans()) | st.none()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner) | st.tuples(inner, inner) | st.sets(keys),
    max_leaves=12,
)


def through_text(value, saved=None):
    saved = saved or SavedValues()
    return saved.value(json.loads(json.dumps(saved.plain(value, "x"), allow_nan=False)), "x")


def refused(call):
    with pytest.raises(StateError) as raised:
        call()
    return str(raised.value)


@settings(max_examples=25)
@given(values)
def test_values_come_back_as_they_were(value):
    assert repr(through_text(value)) == repr(value) or through_text(value) == value


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, -0.0, {"!": 1}, {}, (), set(), {1: {2: [(3,)]}}])
def test_what_json_does_not_have_comes_back(value):
    assert repr(through_text(value)) == repr(value)


@pytest.mark.parametrize("value", [
    np.array([0.1, math.inf, -math.inf], np.float32), np.array([[1, 2], [3, 4]], np.int16), np.zeros((0, 3)),
    np.array([True, False]), np.float32(0.1), np.int64(-5), np.uint8(255),
])
def test_arrays_come_back_with_shape_and_type(value):
    again = through_text(value)
    assert type(again) is type(value)
    assert (again.dtype, again.shape) == (value.dtype, value.shape)
    assert np.array_equal(again, value)


def test_objects_with_a_name_come_back_as_themselves():
    bob = object()
    assert through_text({"boss": [bob]}, SavedValues({"bob": bob}))["boss"][0] is bob


def test_an_object_without_a_name_is_refused_with_the_remedy():
    said = refused(lambda: SavedValues().plain({"target": [0, object()]}, "blackboard"))
    assert said.startswith("'blackboard.target[1]' must be plain data or a named object, got <object")
    assert said.endswith("store an id or a name instead, or register the object in SavedValues(names)")


class Text(str):
    """A text that is more than one."""

    __slots__ = ()


@pytest.mark.parametrize("value", [TimeIndex(1, 2.0), Text("x"), b"x", frozenset(), 1j, np.array(["a"])])
def test_what_would_come_back_as_something_else_is_refused(value):
    assert "must be plain data or a named object" in refused(lambda: SavedValues().plain(value, "x"))


def test_whole_numbers_fit_64_bits():
    assert "must fit in 64 bits" in refused(lambda: SavedValues().plain(2**63, "x"))
    assert "must fit in 64 bits" in refused(lambda: SavedValues().value(2**63, "x"))


def test_a_circle_is_refused_with_where_it_begins():
    circle = []
    circle.append(circle)
    assert refused(lambda: SavedValues().plain(circle, "memory")).startswith("'memory[0][0]")


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"!": "named", "of": "eve"}, "unknown object 'eve'; known: 'bob'"),
        ({"!": "named", "of": 3}, "unknown object 3"),
        ({"!": "named"}, "must hold only '!' and 'of'"),
        ({"!": "code", "of": "import os"}, "has the unknown kind 'code' with 'import os'"),
        ({"!": "tuple", "of": 3}, "has the unknown kind 'tuple' with 3"),
        ({"!": "float", "of": "1"}, "has the unknown kind 'float'"),
        ({"!": "set", "of": [[1]]}, "unhashable"),
        ({"!": "dict", "of": [[1, 2], [1, 3]]}, "has a duplicate key"),
        ({"!": "dict", "of": [[1]]}, "has the unknown kind 'dict'"),
        ({"!": "array", "of": ["object", [1], [1]]}, "must hold an array"),
        ({"!": "array", "of": ["float32", [10**12], []]}, "must hold an array"),
        ({"!": "array", "of": ["float32", [2], [1, "x"]]}, "must hold an array"),
        ({"!": "array", "of": ["float32", [1], [1e300]]}, "must hold an array"),
        ({"!": "array", "of": ["int8", [1], [300]]}, "must hold an array"),
        ({"!": "array", "of": ["int8", [1], [0.5]]}, "must hold an array"),
        ({"!": "scalar", "of": ["int8", [1], [1]]}, "must hold an array"),
        (math.nan, "must be a finite number"),
        ({1: 2}, "must be plain data"),
    ],
    ids=str,
)
def test_plain_data_that_nobody_wrote_is_refused(plain, message):
    assert message in refused(lambda: SavedValues({"bob": object()}).value(plain, "x"))


def test_deep_data_is_refused():
    plain = 0
    for _ in range(60):
        plain = [plain]
    assert "is nested deeper than 40" in refused(lambda: SavedValues().value(plain, "x"))


class Gone(SavedValues):
    """Objects that are gone are saved, and read as None."""

    def encoded(self, value):
        return ("gone", None) if isinstance(value, Thing) else None

    def decoded(self, kind, of, place, depth):
        if kind != "gone":
            return super().decoded(kind, of, place, depth)
        self.left_out += 1
        return None


class Thing:
    """Something that a save cannot hold."""


@pytest.mark.parametrize(("value", "read"), [
    ({Thing(): 1, Thing(): 2, "a": 3}, {"a": 3}),
    ({(0, Thing()): 1, (1, Thing()): 2, None: 3}, {None: 3}),
    ({Thing(), Thing(), None}, {None}),
    ([Thing(), Thing(), 1], [None, None, 1]),
    ({"a": {Thing(): {Thing(): 1}}, "b": (Thing(),)}, {"a": {}, "b": (None,)}),
])
def test_what_is_under_missing_objects_is_left_out(value, read):
    assert through_text(value, Gone()) == read
