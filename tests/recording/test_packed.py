"""Packed data: what went in comes out, and whatever a stranger wrote is an error at worst."""
from __future__ import annotations

import marshal
import math
from binascii import a2b_base64, b2a_base64
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ai_core.recording.packed import pack, unpack

ATOMS = some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text()
PLAIN = some.recursive(
    ATOMS,
    lambda inner: some.lists(inner) | some.lists(inner).map(tuple) | some.dictionaries(some.text(), inner),
    max_leaves=12,
)


@given(PLAIN)
def test_what_was_packed_is_unpacked(value):
    assert unpack(pack(value)) == value
    assert repr(unpack(pack(value))) == repr(value), "the types, too"


@pytest.mark.parametrize("value", [2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**200, -(2**64), math.inf, -0.0])
def test_numbers_at_the_borders_come_back(value):
    assert repr(unpack(pack(value))) == repr(value)


def test_what_is_no_number_comes_back_bit_by_bit():
    assert math.isnan(unpack(pack(math.nan)))


def test_half_a_letter_comes_back():
    assert unpack(pack("\ud800")) == "\ud800"


def test_the_text_is_the_same_however_often_a_value_is_held():
    name = "guard" + str(len(pack(None)))
    assert pack((name, name)) == pack(("".join(name), "".join(list(name))))


def test_equal_data_has_the_same_text_for_ever():
    assert pack(("guard", 1.5, 3, None, True, [2**40], {"a": ()})) == (
        "KAcAAAB1BQAAAGd1YXJkZwAAAAAAAPg/aQMAAABOVFsBAAAAbAMAAAAAAAAAAAR7dQEAAABhKAAAAAAw"
    )


@given(some.binary(max_size=60))
def test_any_bytes_are_data_or_a_value_error(data):
    with suppress(ValueError):
        unpack(b2a_base64(data, newline=False).decode())


@given(PLAIN, some.data())
def test_damaged_data_is_other_data_or_a_value_error(value, data):
    packed = bytearray(a2b_base64(pack(value)))
    place = data.draw(some.integers(0, len(packed) - 1))
    packed[place] = data.draw(some.integers(0, 255))
    with suppress(ValueError):
        unpack(b2a_base64(packed, newline=False).decode())


@pytest.mark.parametrize(
    "data",
    [
        b"(\xff\xff\xff\x7f", b"[\xff\xff\xff\x7fN", b"u\xff\xff\xff\x7fabc", b"u\xff\xff\xff\xff",
        b"l\xff\xff\xff\x7f",
        b"(\xff\xff\xff\xff", b"i\x01", b"g123", b"NN", b"", b"(\x01\0\0\0" * 100_000, b"{[\0\0\0\0N0", b"{N",
        marshal.dumps(compile("1", "", "eval"), 2), marshal.dumps(b"bytes", 2), marshal.dumps(1j, 2),
        marshal.dumps("interned", 4),
    ],
)
def test_data_that_lies_about_itself_is_refused(data):
    with pytest.raises(ValueError, match="packed data"):
        unpack(b2a_base64(data, newline=False).decode())


@pytest.mark.parametrize("text", ["", "TgA", "T g=", "Tg==Tg==", "ŧ"])
def test_text_that_is_no_base64_is_refused(text):
    with pytest.raises(ValueError, match="packed data"):
        unpack(text)


def test_an_object_cannot_be_packed():
    with pytest.raises(ValueError, match="unmarshallable"):
        pack(object())
