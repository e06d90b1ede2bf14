"""Argument checks, and the errors that more than one part of ai_core raises.

Every check returns the value in the form the caller needs, or raises an error
that states the argument, the rule, the value and the remedy.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CycleError",
    "UnknownNameError",
    "as_array",
    "check_callable",
    "check_callables",
    "check_kind",
    "check_kinds",
    "check_type",
    "checked_name",
    "finite_number",
    "flags",
    "indices",
    "keep_number",
    "named",
    "numbers",
    "point",
    "positions",
    "several",
    "several_names",
    "shown",
    "whole_number",
]

Found = TypeVar("Found")
LARGEST = 1e100
"""Largest magnitude of a number without a limit of its own (no unit).

The product of two such numbers is still finite; an infinite value could not be saved.
"""

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
"""Largest coordinate that a position holds (m); a larger one would be stored as infinity."""

MOST = (1 << 53) - 1
"""Largest magnitude of an integer (count).

A reader that stores every number as a float, as JSON allows and Godot does, would round
a larger integer.
"""

SHOWN_CHARACTERS = 60
"""Longest value quoted in an error (characters); a longer value would bury the message."""


class CycleError(ValueError):
    """An object would contain itself, directly or through other objects."""

    is_misuse = True


RAISES_FOR_MISUSE = True
"""Errors raised here can be shown without a traceback: the message states the remedy."""


class UnknownNameError(LookupError):
    """A code, topic, id or name that is not registered.

    Args:
        kind: kind of the object, for the message: "topic".
        name: the name that was looked up.
        known: all registered names; the message lists close matches.
        why: why it is not registered any more; replaces the close matches.
    """

    is_misuse = True

    def __init__(self, kind: str, name: object, known: Iterable[object], why: str = "") -> None:
        self.kind = kind
        self.name = name
        names = sorted({str(one) for one in known})
        # Comparing takes time and memory with the length; a close match is not longer.
        close = get_close_matches(str(name)[: 2 * SHOWN_CHARACTERS], names)
        if why:
            hint = why
        elif close:
            hint = "did you mean " + " or ".join(repr(one) for one in close) + "?"
        elif names:
            more = ", …" if len(names) > 5 else ""
            hint = "known: " + ", ".join(repr(one) for one in names[:5]) + more
        else:
            hint = "none is registered yet"
        super().__init__(f"unknown {kind} {shown(name)}; {hint}")


def named(kind: str, name: object, among: Mapping[Any, Found]) -> Found:
    """Return the object registered under a name; ``kind`` is for the message of the UnknownNameError: "topic"."""
    try:
        return among[name]
    except (KeyError, TypeError):  # an unhashable value is never a name
        raise UnknownNameError(kind, name, among) from None


def whole_number(
    name: str, value: object, *, minimum: int, maximum: int = MOST, remedy: str = ""
) -> int:
    """Return ``value`` as an int within limits; bool, 3.0 and str are a TypeError; ``remedy`` ends the message."""
    if type(value) is not int:
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(_message(name, "an integer", value, remedy))
        value = int(value)
    if value < minimum:
        raise ValueError(_message(name, f"at least {minimum}", value, remedy))
    if value > maximum:
        raise ValueError(_message(name, f"at most {maximum}", value, remedy))
    return value


def finite_number(
    name: str,
    value: object,
    *,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
    remedy: str = "",
) -> float:
    """Return ``value`` as a float within limits; bool and str are a TypeError, NaN and infinity a ValueError."""
    # The first test covers most calls: a test against an abstract class costs more than all the rest.
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, Real)):
        raise TypeError(_message(name, "a number", value, remedy))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not -LARGEST <= number <= LARGEST:
        wanted = f"between -{LARGEST:g} and {LARGEST:g}" if math.isfinite(number) else "a finite number"
        raise ValueError(_message(name, wanted, value, remedy))
    if minimum is not None and number < minimum:
        raise ValueError(_beyond(name, "at least", minimum, value, number, remedy))
    if above is not None and number <= above:
        raise ValueError(_beyond(name, "above", above, value, number, remedy))
    if maximum is not None and number > maximum:
        raise ValueError(_beyond(name, "at most", maximum, value, number, remedy))
    return number


def keep_number(frozen: object, name: str, **limits: Any) -> None:
    """Check a number of a frozen dataclass, and keep it as a float; the limits are those of ``finite_number``."""
    object.__setattr__(frozen, name, finite_number(name, getattr(frozen, name), **limits))


def positions(
    name: str, value: object, *, dimensions: Sequence[int] = (2, 3)
) -> NDArray[np.float32]:
    """Return ``value`` as finite float32 positions of shape (n, d); n = 0 has the last of ``dimensions``.

    An array that is already in this form is returned without a copy.
    """
    array = _numbers(name, value)
    if array.shape == (0,):
        return np.zeros((0, dimensions[-1]), np.float32)
    if array.ndim != 2 or array.shape[1] not in dimensions:
        wanted = " or ".join(f"(n, {d})" for d in dimensions)
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}")
    good = _as_float32(array)
    if not np.isfinite(good).all():
        row = int(np.flatnonzero(~np.isfinite(good).all(axis=1))[0])
        raise ValueError(f"{name} must be finite, got {array[row].tolist()} in row {row}")
    return good


def point(name: str, value: object) -> NDArray[np.float32]:
    """Return two coordinates with z = 0, or three, as a finite float32 position of shape (3,), a copy."""
    if _are_coordinates(value):
        return np.array(value, np.float32)
    array = _numbers(name, value)
    if array.shape not in ((2,), (3,)):
        raise ValueError(f"{name} must have shape (3,) or (2,), got {array.shape}")
    full = np.zeros(3, np.float32)
    full[: array.shape[0]] = _as_float32(array)
    if not np.isfinite(full).all():
        raise ValueError(f"{name} must be finite, got {array.tolist()}")
    return full


def coordinates(name: str, value: object) -> tuple[float, float, float]:
    """Return three floats, or what ``point`` makes of other forms of a position."""
    return value if _are_coordinates(value) else tuple(point(name, value).tolist())


def _are_coordinates(value: object) -> TypeGuard[tuple[float, float, float]]:
    if type(value) is not tuple or len(value) != 3:
        return False
    x, y, z = value
    most = LARGEST_FLOAT32
    return type(x) is type(y) is type(z) is float and (
        -most <= x <= most and -most <= y <= most and -most <= z <= most)


def check_callable(name: str, value: object, remedy: str = "") -> None:
    """Raise TypeError if ``value`` is not callable."""
    if not callable(value):
        raise TypeError(_message(name, "a callable", value, remedy))


def check_callables(**functions: object) -> None:
    """Raise TypeError for the first argument that is neither None nor callable."""
    for name, one in functions.items():
        if one is not None and not callable(one):
            raise TypeError(f"{name} must be a callable or None, got {shown(one)}")


def check_kind(name: str, value: object, kind: type) -> None:
    """Raise TypeError if ``value`` is neither None nor an instance of ``kind``."""
    if value is not None and not isinstance(value, kind):
        raise TypeError(_message(name, f"{_of_type(kind)} or None", value, ""))


def check_kinds(**values: tuple[object, type]) -> None:
    """Raise TypeError for the first argument that is neither None nor of its type; each with its type."""
    for name, (value, kind) in values.items():
        if value is not None and not isinstance(value, kind):
            check_kind(name, value, kind)


def check_type(name: str, value: object, kind: type, remedy: str = "") -> None:
    """Raise TypeError if ``value`` is not an instance of ``kind``."""
    if not isinstance(value, kind):
        raise TypeError(_message(name, _of_type(kind), value, remedy))


def checked_name(name: str, value: object) -> str:
    """Return ``value`` if it is a string with at least one character, else raise TypeError."""
    if not isinstance(value, str) or not value:
        raise TypeError(_message(name, "a non-empty string", value, ""))
    return value


def several(name: str, value: object, kind: type[Found]) -> tuple[Found, ...]:
    """Return objects of one type, ``object`` for any, as a tuple; TypeError for anything else, also for one alone."""
    try:
        each = iter(value)  # type: ignore[call-overload]
    except TypeError:       # also of an array without dimensions, which has __iter__
        noun = "" if kind is object else f" of {kind.__name__}"
        raise TypeError(f"{name} must be a sequence{noun}, got {shown(value)}; put a single one in a tuple") from None
    found: tuple[Any, ...] = tuple(each)
    for one in found:
        if not isinstance(one, kind):
            raise TypeError(f"{name} must hold {kind.__name__}, got {shown(one)}")
    return found


def several_names(name: str, value: object) -> tuple[str, ...]:
    """Return names as a tuple; a single string is refused, because it would be read letter by letter."""
    try:
        each = iter(value)  # type: ignore[call-overload]
    except TypeError:
        each = iter((None,))
    found: tuple[Any, ...] = tuple(each)
    if isinstance(value, str) or not all(isinstance(one, str) for one in found):
        raise TypeError(f"{name} must be a sequence of names, got {shown(value)}; put a single name in a tuple")
    return found


def shares_by_name(name: str, value: object, remedy: str = "") -> dict[str, float]:
    """Return a mapping of names to shares, each 0 to 1, as a dict."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must map names to shares, got {shown(value)}")
    for key in value:
        check_type(f"a name in {name}", key, str)
    return {
        key: finite_number(f"{name}[{key!r}]", share, minimum=0, maximum=1, remedy=remedy)
        for key, share in value.items()}


def as_array(name: str, value: object) -> NDArray[Any]:
    """Return ``value`` as a NumPy array of any type."""
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must have rows of equal length, got {shown(value)}") from None


def indices(name: str, value: object, count: int) -> NDArray[np.int32]:
    """Return one integer or several, each 0 to ``count`` - 1, as an array of shape (n,)."""
    array = np.atleast_1d(as_array(name, value))
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be integers of shape (n,), got {shown(value)}")
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < count):
        raise ValueError(f"{name} must be 0 to {count - 1}, got {shown(value)}")
    return np.ascontiguousarray(array, np.int32)


def flags(name: str, value: object, shape: tuple[int, ...] | None = None) -> NDArray[np.bool_]:
    """Return ``value`` as an array of bool of a shape; None for any (height, width) with at least one cell."""
    array = as_array(name, value)
    if array.dtype != np.bool_:
        raise TypeError(f"{name} must be bool, got {shown(value)}")
    if array.shape != shape if shape is not None else array.ndim != 2 or not array.size:
        raise ValueError(f"{name} must have shape {shape or '(height, width)'}, got {array.shape}")
    return array


def numbers(name: str, value: object) -> NDArray[np.float64]:
    """Return ``value`` as an array of numbers of any shape; NaN and infinity are allowed."""
    return _numbers(name, value).astype(np.float64, copy=False)


def shown(value: object) -> str:
    """Return a short ``repr`` for an error message; never raises.

    >>> shown("far")
    "'far'"
    """
    try:
        text = _short(value) if type(value) is float else repr(value)
    except Exception:  # a broken repr must not hide the error being reported
        return f"<{type(value).__name__} with a failing repr>"
    if len(text) > SHOWN_CHARACTERS:
        text = text[:SHOWN_CHARACTERS] + "…"
    return text


def _short(number: float) -> str:
    """Return a number; one that came from 32 bits with their digits: 0.2 in place of 0.20000000298023224."""
    with np.errstate(over="ignore"):
        narrow = np.float32(number)
    return str(narrow) if float(narrow) == number and abs(number) < 1e4 else repr(number)


def _of_type(kind: type) -> str:
    noun = {"str": "string", "Mapping": "mapping", "Sequence": "sequence"}.get(kind.__name__, kind.__name__)
    if kind is bool:
        return "True or False"
    return noun if noun.endswith("s") else f"an {noun}" if noun[0] in "AEIOU" else f"a {noun}"


def _message(name: str, wanted: str, value: object, remedy: str) -> str:
    return _told(name, wanted, shown(value), remedy)


def _beyond(name: str, rule: str, limit: float, value: object, number: float, remedy: str) -> str:
    """Return the message of a number beyond a limit, with all digits where fewer would contradict it."""
    brief, shorter = float(f"{limit:g}"), float(_short(number))
    if (shorter < brief, shorter > brief) == (number < limit, number > limit):
        return _message(name, f"{rule} {limit:g}", value, remedy)
    return _told(name, f"{rule} {float(limit)!r}", repr(number), remedy)


def _told(name: str, wanted: str, got: str, remedy: str) -> str:
    tail = f"; {remedy}" if remedy else ""
    return f"{name} must be {wanted}, got {got}{tail}"


def _numbers(name: str, value: object) -> NDArray[np.generic]:
    array = as_array(name, value)
    if array.size and array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold numbers, got {shown(value)}")
    return array


def _as_float32(array: NDArray[np.generic]) -> NDArray[np.float32]:
    if array.dtype == np.float32:
        return array  # type: ignore[return-value]
    with np.errstate(over="ignore"):  # becomes inf, which the caller refuses
        return array.astype(np.float32)
