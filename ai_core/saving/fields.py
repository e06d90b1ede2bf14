"""Reading saved state field by field: each is checked, and every error names the place.

The state of each part is a dict with its "version". Unread fields are refused too, so that
nothing in a save is silently ignored.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NoReturn

from ai_core.described import Described
from ai_core.errors import LARGEST, MOST, shown

__all__ = ["LARGEST", "LARGEST_FLOAT32", "LATEST_S", "MOST", "Fields", "State", "StateError", "brief",
           "checked_number", "checked_whole", "place_in"]

State = dict[str, Any]
"""Plain data: dicts with strings as keys, lists, strings, numbers, true, false, None."""


LARGEST_FLOAT32 = 3.4028234663852886e38
"""Largest coordinate that a float32 holds; a position up to it is accepted, so it is loaded, too (m)."""

LATEST_S = 1e12
"""Latest game time (s): 30,000 years. Later ones leave no room for fractions of a second."""


class StateError(ValueError):
    """Saved state is invalid; the message names the place in it, and the reason."""


class Fields(Described):
    """A saved dict, read field by field.

    Args:
        state: the saved data.
        place: its place in the whole state, for messages: "active[2]".

    Raises:
        StateError: if it is not a dict, and from all methods, if a field is
            missing or invalid.
    """

    def __init__(self, state: object, place: str = "") -> None:
        self._place = place
        if not isinstance(state, dict):
            subject = f"{place!r}" if place else "the state"
            raise StateError(f"{subject} must be a dict, got {brief(state)}")
        self._state: State = state
        self._unread = set(state)

    @classmethod
    def versioned(cls, state: object, *, version: int, place: str = "") -> Fields:
        """Return the fields of a state of the current version.

        Args:
            state: the saved data.
            version: the current version.
            place: its place in the whole state.

        Raises:
            StateError: if it was saved by another version.
        """
        fields = cls(state, place)
        found = fields.whole("version")
        if found > version:
            fields.refuse("version", f"is {found}, and this ai_core reads up to {version}; update ai_core to load it")
        if found < version:
            fields.refuse("version", f"is {found}, which is no longer supported")
        return fields

    @property
    def plain(self) -> State:
        """The saved dict itself."""
        return self._state

    def anything(self, name: str) -> Any:
        """Return a field of any type."""
        if name not in self._state:
            raise StateError(f"{self.place_of(name)!r} is missing")
        self._unread.discard(name)
        return self._state[name]

    def whole(self, name: str, *, minimum: int = 0, maximum: int = MOST) -> int:
        """Return an integer; 12.0 counts as 12, as Godot's JSON writes all numbers so."""
        value = self.anything(name)
        if type(value) is int and minimum <= value <= maximum:      # the place costs more than the check
            return value
        return checked_whole(self.place_of(name), value, minimum, maximum)

    def number(
        self, name: str, *, minimum: float = -LARGEST, maximum: float = LARGEST
    ) -> float:
        """Return a finite number."""
        value = self.anything(name)
        if type(value) is float and minimum <= value <= maximum and math.isfinite(value):
            return value
        return checked_number(self.place_of(name), value, minimum, maximum)

    def text(self, name: str) -> str:
        """Return a string."""
        value = self.anything(name)
        if type(value) is not str:
            self.refuse(name, f"must be a string, got {brief(value)}")
        return value

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        """Return a string that is one of ``allowed``."""
        value = self.text(name)
        if value not in allowed:
            self.refuse(name, f"must be {' or '.join(map(repr, allowed))}, got {brief(value)}")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.anything(name)
        if type(value) is not bool:
            self.refuse(name, f"must be true or false, got {brief(value)}")
        return value

    def items(self, name: str, *, count: int | None = None) -> list[Any]:
        """Return a list, of ``count`` items if that is given."""
        value = self.anything(name)
        if not isinstance(value, list):
            self.refuse(name, f"must be a list, got {brief(value)}")
        if count is not None and len(value) != count:
            self.refuse(name, f"must be a list of {count} items, got {brief(value)}")
        return value

    def seconds(self, name: str, *, latest_s: float = LATEST_S) -> float:
        """Return a game time (s), not after ``latest_s``."""
        return self.number(name, minimum=-LATEST_S, maximum=latest_s)

    def numbers(
        self,
        name: str,
        *,
        count: int | None = None,
        minimum: float = -LARGEST,
        maximum: float = LARGEST,
        absent: float | None = None,
    ) -> list[float]:
        """Return a list of finite numbers; ``absent``, if given, where None was saved."""
        values = self.items(name, count=count)
        found = [
            one for one in values
            if type(one) is float and minimum <= one <= maximum and math.isfinite(one)]
        if len(found) == len(values):
            return found
        place = self.place_of(name)
        return [
            absent if value is None and absent is not None
            else checked_number(f"{place}[{index}]", value, minimum, maximum)
            for index, value in enumerate(values)
        ]

    def wholes(
        self, name: str, *, count: int | None = None, minimum: int = 0, maximum: int = MOST
    ) -> list[int]:
        """Return a list of integers."""
        values = self.items(name, count=count)
        found = [one for one in values if type(one) is int and minimum <= one <= maximum]
        if len(found) == len(values):
            return found
        place = self.place_of(name)
        return [
            checked_whole(f"{place}[{index}]", value, minimum, maximum)
            for index, value in enumerate(values)
        ]

    def point(self, name: str) -> tuple[float, float, float]:
        """Return three coordinates (m) that fit float32."""
        x, y, z = self.numbers(name, count=3, minimum=-LARGEST_FLOAT32, maximum=LARGEST_FLOAT32)
        return (x, y, z)

    def group(self, name: str) -> Fields:
        """Return the fields of a dict inside this one."""
        return Fields(self.anything(name), self.place_of(name))

    def groups(self, name: str) -> Iterator[Fields]:
        """Return the fields of each dict in a list, in order."""
        place = self.place_of(name)
        for index, value in enumerate(self.items(name)):
            yield Fields(value, f"{place}[{index}]")

    def names(self) -> list[str]:
        """Return the names of all fields, for a dict whose keys are data."""
        return list(self._state)

    def end(self) -> None:
        """Refuse fields that were not read.

        Raises:
            StateError: naming an unknown field.
        """
        if self._unread:
            name = min(map(str, self._unread))
            known = ", ".join(repr(one) for one in self._state if one not in self._unread)
            self.refuse(name, f"is an unknown field; known fields: {known}")

    def refuse(self, name: str, why: str) -> NoReturn:
        """Raise a StateError that names the place of field ``name``, and the reason."""
        raise StateError(f"{self.place_of(name)!r} {why}")

    def place_of(self, name: str) -> str:
        """Return the place of a field in the whole state: "active[2].reason"."""
        return place_in(self._place, name)


def place_in(place: str, name: object) -> str:
    """Return the place of a field in the whole state: "active[2].reason"."""
    text = str(name)  # data that is not JSON may have other keys
    text = text if len(text) <= 60 else text[:60] + "…"
    return f"{place}.{text}" if place else text


def checked_whole(place: str, value: object, minimum: float, maximum: float) -> int:
    """Return an integer in a range; 12.0 counts as 12, as Godot's JSON writes all numbers so.

    Raises:
        StateError: if it is another value; names the place.
    """
    if type(value) is float and value.is_integer() and abs(value) <= MOST:
        value = int(value)
    if type(value) is not int:
        raise StateError(f"{place!r} must be an integer, got {brief(value)}")
    if value < minimum:
        raise StateError(f"{place!r} must be at least {minimum}, got {brief(value)}")
    if value > maximum:
        raise StateError(f"{place!r} must be at most {maximum}, got {brief(value)}")
    return value


def checked_number(place: str, value: object, minimum: float, maximum: float) -> float:
    """Return a finite number in a range.

    Raises:
        StateError: if it is another value; names the place.
    """
    if type(value) is int and abs(value) <= MOST:
        value = float(value)
    if type(value) is not float or not math.isfinite(value):
        raise StateError(f"{place!r} must be a finite number, got {brief(value)}")
    if value < minimum:
        raise StateError(f"{place!r} must be at least {minimum:g}, got {value!r}")
    if value > maximum:
        raise StateError(f"{place!r} must be at most {maximum:g}, got {value!r}")
    return value


def brief(value: object) -> str:
    """Return a value for a message; of large ones only the size."""
    if isinstance(value, list | dict) and value:
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    return shown(value[:60] + "…" if isinstance(value, str) and len(value) > 60 else value)
