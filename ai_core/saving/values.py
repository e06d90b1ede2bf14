"""Values of the game as plain data and back: event arguments, blackboards, answers.

Plain values are written as they are. Values that JSON lacks are written as
``{"!": kind, "of": …}``: tuples, sets, dicts with keys other than strings, NumPy
arrays, infinities, and named objects.
"""
from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ai_core.described import Described
from ai_core.errors import UnknownNameError
from ai_core.saving.fields import StateError, brief

__all__ = ["DEEPEST_VALUE", "SavedValues", "tagged"]

DEEPEST_VALUE = 40
"""Most levels of nested values (count). A deeper value is nearly always a reference cycle."""

TAG = "!"

LARGEST_WHOLE = 1 << 63
"""Integers must fit in 64 bits, signed: the limit of other JSON readers and of engines."""

LEAVES = {type(None), bool, str}

ODD_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}

ARRAY_KINDS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
               "float32", "float64")

MOST_DIMENSIONS = 8


class SavedValues(Described):
    """Writes values as plain data, and reads them back.

    A value that is used in two places is written twice, and is loaded as two values.

    Args:
        names: objects that saves refer to by name; the same names must
            exist when the save is loaded. Looked up whenever it is needed, so
            it may change.

    Attributes:
        left_out: how many references to missing objects were read as None, as a load may leave them out (count). A
            key or an item of a set that has one is left out, because all of them would be the same.
    """

    SHOWN = ("names",)
    KEPT = "plain data or a named object"
    REMEDY = "store an id or a name instead, or register the object in SavedValues(names)"

    def __init__(self, names: Mapping[str, object] | None = None) -> None:
        self.names: Mapping[str, object] = {} if names is None else names
        self.left_out = 0

    def plain(self, value: object, place: str, depth: int = 0) -> Any:
        """Return ``value`` as plain data.

        Args:
            value: the value to save.
            place: its place in the whole state, for messages.
            depth: depth at which it is nested.

        Raises:
            StateError: naming the place, if it contains a value that is neither
                plain nor named, or is nested too deep.

        Cost: O(size); O(names) for an object that is not plain.
        """
        if depth > DEEPEST_VALUE:
            raise StateError(f"{_start(place)!r} is nested deeper than {DEEPEST_VALUE}")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if isinstance(value, list) and kind is list:
            return self._plain_items(enumerate(value), place, depth)
        if isinstance(value, int) and kind is int:
            if not -LARGEST_WHOLE <= value < LARGEST_WHOLE:
                raise StateError(f"{place!r} must fit in 64 bits, got {brief(value)}")
            return value
        if isinstance(value, float) and kind is float:
            return value if math.isfinite(value) else tagged("float", repr(value))
        if isinstance(value, dict) and kind is dict:
            return self._plain_dict(value, place, depth)
        return self._tagged(value, place, depth)

    def value(self, plain: object, place: str | None, depth: int = 0) -> Any:
        """Return the value that ``plain`` wrote.

        Args:
            plain: the saved data.
            place: its place in the whole state, for messages; None in a first attempt, because
                composing the place of each of a million values takes longer than reading them.
            depth: depth at which it is nested.

        Raises:
            StateError: naming the place, if it was not written by ``plain``,
                or names an unknown object.
        """
        if place is not None and depth == 0 and type(plain) in (list, dict):
            try:
                return self.value(plain, None)
            except StateError:
                pass                     # read again below, with places
        if depth > DEEPEST_VALUE:
            raise StateError(f"{_start(place)!r} is nested deeper than {DEEPEST_VALUE}")
        kind = type(plain)
        if plain is None or kind is bool or kind is str:
            return plain
        if isinstance(plain, int) and kind is int:
            return self.plain(plain, place or "")
        if isinstance(plain, float):
            if not math.isfinite(plain):
                raise StateError(f"{place!r} must be a finite number, got {plain!r}")
            return plain
        if isinstance(plain, list):
            if _are_leaves(plain):
                return list(plain)
            return self._values(enumerate(plain), place, depth)
        if not isinstance(plain, dict) or not set(map(type, plain)) <= {str}:
            raise StateError(f"{place!r} must be plain data, got {brief(plain)}")
        if TAG not in plain:
            if _are_leaves(plain.values()):
                return dict(plain)
            return dict(zip(plain, self._values(plain.items(), place, depth), strict=True))
        if len(plain) != 2 or "of" not in plain or type(plain[TAG]) is not str:
            raise StateError(f"{place!r} must hold only {TAG!r} and 'of', got {brief(sorted(plain))}")
        return self.decoded(plain[TAG], plain["of"], place, depth)

    def encoded(self, value: object) -> tuple[str, object] | None:
        """Return the kind and the plain data of an engine's value; None for other values.

        For subclasses, together with ``decoded``.
        """
        return None

    def decoded(self, kind: str, of: Any, place: str | None, depth: int) -> Any:
        """Return the value that was written as ``of`` under a kind."""
        if kind == "named":
            if type(of) is not str or of not in self.names:
                raise StateError(f"{place!r}: {UnknownNameError('object', of, self.names)}")
            return self.names[of]
        if kind == "float" and type(of) is str and of in ODD_FLOATS:
            return ODD_FLOATS[of]
        if kind in ("tuple", "set") and isinstance(of, list):
            return tuple(self.value(of, place, depth)) if kind == "tuple" else self._hashed(set, [
                one for one, is_whole in self._whole(of, place, depth) if is_whole], place)
        if kind == "dict" and isinstance(of, list) and all(
            isinstance(pair, list) and len(pair) == 2 for pair in of
        ):
            keys = self._whole([key for key, _ in of], place, depth)
            pairs = [(key, self.value(one, place and f"{place}[{brief(key)}]", depth + 1))
                     for (key, is_whole), (_, one) in zip(keys, of, strict=True) if is_whole]
            found = self._hashed(dict, pairs, place)
            if len(found) != len(pairs):
                raise StateError(f"{place!r} has a duplicate key")
            return found
        if kind in ("array", "scalar"):
            return _array(kind, of, place)
        raise StateError(f"{place!r} has the unknown kind {brief(kind)} with {brief(of)}")

    def _whole(self, items: list[Any], place: str | None, depth: int) -> Iterator[tuple[Any, bool]]:
        """Yield each value that ``plain`` wrote, and whether it has no reference to a missing object."""
        for index, one in enumerate(items):
            before = self.left_out
            value = self.value(one, None if place is None else _inside(place, index), depth + 1)
            yield value, self.left_out == before

    def _values(self, items: Iterable[tuple[Any, Any]], place: str | None, depth: int) -> list[Any]:
        return [
            one if (kind := type(one)) in LEAVES or (kind is float and math.isfinite(one))
            else self.value(one, None if place is None else _inside(place, key), depth + 1) for key, one in items]

    def _plain_items(self, items: Iterable[tuple[Any, Any]], place: str, depth: int) -> list[Any]:
        return [
            one if (kind := type(one)) in LEAVES or (kind is float and math.isfinite(one))
            or (kind is int and -LARGEST_WHOLE <= one < LARGEST_WHOLE)
            else self.plain(one, _inside(place, key), depth + 1) for key, one in items]

    def _plain_dict(self, value: dict[Any, Any], place: str, depth: int) -> Any:
        if TAG not in value and {*map(type, value)} <= {str}:
            return dict(zip(value, self._plain_items(value.items(), place, depth), strict=True))
        pairs = [
            [self.plain(key, f"{place}, a key", depth + 1),
             self.plain(one, f"{place}[{brief(key)}]", depth + 1)]
            for key, one in value.items()
        ]
        return tagged("dict", pairs)

    def _tagged(self, value: object, place: str, depth: int) -> Any:
        kind = type(value)
        if isinstance(value, tuple) and kind is tuple:
            return tagged("tuple", self._plain_items(enumerate(value), place, depth))
        if isinstance(value, set) and kind is set:
            return tagged("set", sorted(self._plain_items(enumerate(value), place, depth), key=repr))
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.name in ARRAY_KINDS:
            return tagged("array" if kind is np.ndarray else "scalar", _plain_array(value))
        encoded = self.encoded(value)
        if encoded is not None:
            return tagged(*encoded)
        for name, named in self.names.items():
            if named is value:
                return tagged("named", name)
        raise StateError(f"{place!r} must be {self.KEPT}, got {brief(value)}; {self.REMEDY}")

    def _hashed(self, kind: type, items: Any, place: str | None) -> Any:
        try:
            return kind(items)
        except TypeError as error:
            raise StateError(f"{place!r}: {error}") from None


def _are_leaves(values: Collection[Any]) -> bool:
    """Return True if all values are saved as they are, with one check for a large list."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return bool(min(values) >= -LARGEST_WHOLE and max(values) < LARGEST_WHOLE)
    return kinds <= LEAVES or (kinds == {float} and all(map(math.isfinite, values)))


def tagged(kind: str, of: object) -> dict[str, object]:
    """Return plain data with its kind."""
    return {TAG: kind, "of": of}


def _inside(place: str, key: int | str) -> str:
    return f"{place}.{key[:60]}" if isinstance(key, str) else f"{place}[{key}]"


def _start(place: str | None) -> str | None:
    return place if place is None or len(place) <= 60 else place[:60] + "…"


def _plain_array(value: np.ndarray[Any, Any] | np.generic) -> list[Any]:
    numbers = [
        repr(one) if isinstance(one, float) and not math.isfinite(one) else one
        for one in np.asarray(value).ravel().tolist()
    ]
    return [value.dtype.name, list(value.shape), numbers]


def _array(kind: str, of: Any, place: str | None) -> Any:
    problem = StateError(f"{place!r} must hold an array as [type, shape, numbers], got {brief(of)}")
    if not isinstance(of, list) or len(of) != 3 or of[0] not in ARRAY_KINDS:
        raise problem
    name, shape, numbers = of
    if not isinstance(shape, list) or not isinstance(numbers, list):
        raise problem
    if len(shape) > MOST_DIMENSIONS or (kind == "scalar" and shape):
        raise problem
    whole = [int(one) if type(one) in (int, float) and one >= 0 else -1 for one in shape]
    if -1 in whole or math.prod(whole) != len(numbers):
        raise problem
    wanted = (bool,) if name == "bool" else (int, float)
    numbers = [ODD_FLOATS.get(one, one) if type(one) is str else one for one in numbers]
    if not all(type(one) in wanted for one in numbers):
        raise problem
    if "int" in name and any(not one.is_integer() for one in numbers if type(one) is float):
        raise problem
    try:
        with np.errstate(over="raise"):
            array = np.array(numbers, name).reshape(whole)
    except (OverflowError, ValueError, FloatingPointError, RuntimeWarning):
        raise problem from None
    return array[()] if kind == "scalar" else array
