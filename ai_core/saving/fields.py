"""Checks of plain values in saved state; every error names the place."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ai_core.errors import LARGEST, LARGEST_FLOAT32, MOST, shown

__all__ = ["LARGEST", "LARGEST_FLOAT32", "LATEST_S", "MOST", "LeftOutError", "State", "StateError", "brief",
           "check_names", "check_version", "checked_dict", "checked_list", "checked_number", "checked_whole",
           "place_in", "refuse"]

State = dict[str, Any]
"""Plain data: dicts with strings as keys, lists, strings, numbers, true, false, None."""


LATEST_S = 1e12
"""Latest game time (s): 30,000 years. Later ones leave no room for fractions of a second."""


class StateError(ValueError):
    """Saved state is invalid; the message names the place in it, and the reason."""


class LeftOutError(StateError):
    """The load under way leaves out an object that is missing; a list or a ``MapOf`` leaves out its row, without an
    error."""


def place_in(place: str, name: object) -> str:
    """Return the place of a field in the whole state: "active[2].reason"."""
    text = str(name)  # data that is not JSON may have other keys
    text = text if len(text) <= 60 else text[:60] + "…"
    return f"{place}.{text}" if place else text


def refuse(place: str, why: str) -> NoReturn:
    """Raise a StateError that names the place and the reason."""
    raise StateError(f"{place!r} {why}" if place else f"the state {why}")


def checked_dict(place: str, value: object) -> dict[str, Any]:
    """Return a dict."""
    if not isinstance(value, dict):
        refuse(place, f"must be a dict, got {brief(value)}")
    return value


def checked_list(place: str, value: object, count: int | None = None) -> list[Any]:
    """Return a list, of ``count`` items if that is given."""
    if not isinstance(value, list):
        refuse(place, f"must be a list, got {brief(value)}")
    if count is not None and len(value) != count:
        refuse(place, f"must be a list of {count} items, got {brief(value)}")
    return value


def check_names(place: str, fields: Mapping[str, Any], names: Iterable[str]) -> None:
    """Check that exactly these fields are present, so that nothing in a save is silently ignored."""
    known = {*names}
    if fields.keys() == known:
        return
    for name in names:
        if name not in fields:
            refuse(place_in(place, name), "is missing")
    unknown = min(map(str, fields.keys() - known))
    refuse(place_in(place, unknown), f"is an unknown field; known fields: {', '.join(map(repr, names))}")


def check_version(place: str, fields: Mapping[str, Any], version: int) -> None:
    """Check that fields were saved by the current version."""
    where = place_in(place, "version")
    if "version" not in fields:
        refuse(where, "is missing")
    found = checked_whole(where, fields["version"], 0, MOST)
    if found > version:
        refuse(where, f"is {found}, and this ai_core reads up to {version}; update ai_core to load it")
    if found < version:
        refuse(where, f"is {found}, which is no longer supported")


def checked_whole(place: str, value: object, minimum: float, maximum: float) -> int:
    """Return an integer in a range; 12.0 counts as 12, as Godot's JSON writes all numbers so."""
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
    """Return a finite number in a range."""
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
