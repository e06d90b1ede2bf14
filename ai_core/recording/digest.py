"""Digests of plain data: equal for equal values, on any machine.

Quantised digests are equal for values that differ by rounding errors only, also on other processors
and other versions of Python; exact digests distinguish every bit.
"""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from hashlib import blake2b
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown

__all__ = ["PLAIN", "QUANTUM", "canonical", "digest_of", "digest_of_text", "freezer", "writer"]

QUANTUM = 1e-4
"""Step to which quantised numbers are rounded (in their own unit: 0.1 mm, 0.1 ms).

Rounding errors of a few thousand frames are a millionth of a step, so they almost never change a
rounded value; a larger step hides real differences.
"""

DIGEST_BYTES = 8
"""Length of a digest (bytes): the probability of a collision within a million frames is 3e-8."""

LARGEST = 9.2e18
"""Limit to which quantised numbers in arrays are clipped, as they become 64-bit integers (no unit)."""

PLAIN = frozenset({type(None), bool, int, float, str})
"""Types with immutable values that need no conversion."""


def digest_of(value: object, *, exact: bool = False, foreign: bool = False) -> str:
    """Return the digest of plain data as 16 hexadecimal digits.

    Args:
        value: None, bool, int, float, str, Enum, NumPy numbers and arrays, and
            lists, tuples, sets and dicts of them.
        exact: True to distinguish numbers by every bit.
        foreign: True to represent objects of other types by the name of their type.

    Raises:
        TypeError: if the value contains any other type.

    Cost: O(size), about 0.2 µs per number; arrays are 20 times faster.

    >>> digest_of(0.1 + 0.2) == digest_of(0.3)
    True
    >>> digest_of(0.1 + 0.2, exact=True) == digest_of(0.3, exact=True)
    False
    """
    return digest_of_text(canonical(value, exact=exact, foreign=foreign))


def canonical(value: object, *, exact: bool = False, foreign: bool = False) -> str:
    """Return the canonical JSON string of a value; arguments as ``digest_of``."""
    return writer(exact=exact, foreign=foreign)(value)


def writer(*, exact: bool, foreign: bool) -> Callable[[object], str]:
    """Return a function that does ``canonical`` for many values; arguments as ``digest_of``."""
    return (_FOREIGN if foreign else _STRICT)[exact].text


def freezer(*, exact: bool) -> Callable[[object], object]:
    """Return a function that converts a value to an unchanging copy with the same digest.

    The function keeps None, bools, numbers and strings, converts lists, sets and arrays to tuples,
    copies dicts, and replaces other objects by the name of their type.

    Cost: O(size), about 0.1 µs for a tuple of a few numbers and strings.
    """
    return _FOREIGN[exact].frozen


def digest_of_text(text: str) -> str:
    """Return the digest of a string."""
    return blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()


class _Canon:
    """Writes canonical JSON directly; the ``json`` module took most of the time."""

    def __init__(self, *, exact: bool, foreign: bool) -> None:
        self._exact = exact
        self._foreign = foreign
        self._texts: dict[type, Callable[[Any], str]] = {
            type(None): lambda _: "null",
            bool: lambda flag: "true" if flag else "false",
            int: repr,
            float: self._exactly if exact else self._quantised,
            str: encode_basestring_ascii,
            list: self._list,
            tuple: self._list,
            dict: self._dict,
            np.ndarray: self._array,
        }

    def text(self, value: Any) -> str:
        return self._texts.get(type(value), self._rarer)(value)

    def _exactly(self, value: float) -> str:
        return repr(value) if isfinite(value) else f'"{value!r}"'

    def _quantised(self, value: float) -> str:
        scaled = value / QUANTUM
        return f'"{round(scaled)}q"' if isfinite(scaled) else f'"{value!r}"'

    def _list(self, values: Any) -> str:
        return f"[{','.join(map(self.text, values))}]"

    def _dict(self, values: dict[Any, Any]) -> str:
        entries = [f"{self._key(key)}:{self.text(one)}" for key, one in values.items()]
        return f"{{{','.join(sorted(entries))}}}"

    def _key(self, key: object) -> str:
        if isinstance(key, str):
            return encode_basestring_ascii(key)
        if (isinstance(key, int) and not isinstance(key, bool)) or self._foreign:
            return encode_basestring_ascii(self.text(key))
        raise TypeError(f"keys of digested data must be strings or integers, got {shown(key)}")

    def _array(self, array: NDArray[Any]) -> str:
        return self._list(self._array_row(array))

    def _array_row(self, array: NDArray[Any]) -> list[Any]:
        """Return kind, bytes per number, shape and digest of an array; its values if they are not numbers."""
        kind = array.dtype.kind
        if kind not in "biuf":
            values: Any = array.tolist()
            return values if isinstance(values, list) else [values]
        if self._exact:
            fixed = array.astype(array.dtype.newbyteorder("<"), copy=False)
        elif kind == "f":
            with np.errstate(over="ignore"):  # becomes inf, which is clipped
                scaled = np.rint(array.astype(np.float64) / QUANTUM)
            fixed = np.nan_to_num(scaled, nan=-LARGEST, posinf=LARGEST, neginf=-LARGEST)
            fixed = fixed.clip(-LARGEST, LARGEST).astype("<i8")
        else:
            fixed = array.astype("<i8")
        code = blake2b(fixed.tobytes(), digest_size=DIGEST_BYTES).hexdigest()
        return [kind, fixed.itemsize, *array.shape, code]

    def _rarer(self, value: Any) -> str:
        if isinstance(value, Enum):
            return encode_basestring_ascii(_name_of(value))
        if isinstance(value, np.generic):
            return self.text(value.item())
        if isinstance(value, set | frozenset):
            return f"[{','.join(sorted(map(self.text, value)))}]"
        for kind in (list, tuple, dict, bool, int, float, str, np.ndarray):
            if isinstance(value, kind):  # an instance of a subclass, such as a NamedTuple
                return self._texts[kind](value)
        if not self._foreign:
            raise TypeError(
                f"digested data must be plain, got {shown(value)};"
                " return its numbers, names and lists instead of the object"
            )
        return self._list(_kind_of(value))

    def frozen(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is not tuple and kind is not list:
            return self._frozen_rarer(value)
        for one in value:
            if type(one) not in PLAIN:
                return tuple(map(self.frozen, value))
        return tuple(value)

    def _frozen_rarer(self, value: Any) -> Any:
        if isinstance(value, Enum):
            return _name_of(value)
        if isinstance(value, np.generic):
            return self.frozen(value.item())
        if isinstance(value, set | frozenset):
            return tuple(map(self.frozen, sorted(value, key=self.text)))
        if isinstance(value, list | tuple):
            return tuple(map(self.frozen, value))
        if isinstance(value, dict):
            keys = sorted(value, key=self._key)
            return {self._frozen_key(key): self.frozen(value[key]) for key in keys}
        if isinstance(value, int | float):
            return float.__float__(value) if isinstance(value, float) else int.__int__(value)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, np.ndarray):
            return tuple(map(self.frozen, self._array_row(value)))
        return _kind_of(value)

    def _frozen_key(self, key: object) -> int | str:
        if type(key) is int:
            return key
        return str.__str__(key) if isinstance(key, str) else self.text(key)


def _name_of(value: Enum) -> str:
    return f"{type(value).__name__}.{value.name}"


def _kind_of(value: object) -> tuple[str, str]:
    return ("raised" if isinstance(value, BaseException) else "object", type(value).__name__)


_STRICT = [_Canon(exact=exact, foreign=False) for exact in (False, True)]
_FOREIGN = [_Canon(exact=exact, foreign=True) for exact in (False, True)]
