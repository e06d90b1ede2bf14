"""Exports of node classes: the library settings they are bound to, and those that are saved."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from addons.ai_core.bridge.declarations import exports_of
from addons.ai_core.bridge.gd import PackedStringArray, RefusedValue, export, values_of
from ai_core.saving.fields import MOST, State, StateError, place_in
from ai_core.saving.kinds import Flag, Kind, MapOf, Number, Record, Text, Whole

Settings = TypeVar("Settings")


def core_settings(node: Any, unit: float = 1.0) -> dict[str, Any]:
    """Return the values of exports with ``core``, as keyword arguments of the library.

    Args:
        node: the node whose exports are read.
        unit: units of the scene in a metre: 1 in 3D, pixels in 2D; lengths are divided by it.

    Returns:
        A value by name; a dictionary for a name with a dot, such as "memory" for "memory.lose_after_s". A member of
        an enum is its name in lower case, strings are a tuple, and keys of a dictionary are strings.
    """
    found: dict[str, Any] = {}
    for one, groups, name, is_converted in _bound(type(node)):
        value = one.__get__(node)
        if is_converted:
            value = _converted(one, value, unit)
        place = found
        for group in groups:
            place = place.setdefault(group, {})
        place[name] = value
    return found


def _converted(one: export, value: Any, unit: float) -> Any:
    if one.power:
        return value / unit ** one.power
    if one.is_enum:
        return one.type(value).name.lower()  # type: ignore[operator]
    if one.type is PackedStringArray:
        return tuple(map(str, value))
    return {str(key): of for key, of in value.items()}


def with_property_names(node: Any, message: str, **names: str) -> str:
    """Return a message of the library in which settings have the names of the node's properties.

    Args:
        node: the node whose exports are bound to settings of the library.
        message: the message.
        names: property by setting, for those that are not bound by ``core``.
    """
    known = {core: one.name for one, _, core, _ in _bound(type(node))} | names
    return re.sub(r"\w+", lambda word: known.get(word[0], word[0]), message)


def saved_settings(node: Any) -> State:
    """Return the exports that may change while the node runs, by name."""
    return {one.name: one.__get__(node) for one in _live(type(node))}


def prepared_settings(node: Any, plain: object, place: str) -> Callable[[], None]:
    """Check saved exports like the inspector; return a function that sets them without ``on_set``.

    Raises:
        StateError: if a value is invalid; names the property.
    """
    saved, values = _live_kinds(type(node)).read(plain, place, node), {}
    for declared in _live(type(node)):
        try:
            values[declared.slot] = declared.checked(node, saved[declared.name])
        except RefusedValue as error:
            raise StateError(f"{place_in(place, declared.name)!r}: {error}") from None

    def change() -> None:
        node.__dict__.update(values)

    return change


@functools.cache
def _bound(cls: type) -> tuple[tuple[export, list[str], str, bool], ...]:
    """Return the exports with ``core``, the groups of each, its name in the last group, and if it is converted."""
    return tuple(
        (one, one.core.split(".")[:-1], one.core.split(".")[-1],
         bool(one.power) or one.is_enum or one.type in (PackedStringArray, dict))
        for one in exports_of(cls).values() if one.core)


@functools.cache
def _live(cls: type) -> tuple[export, ...]:
    return tuple(one for one in exports_of(cls).values() if one.live)


KINDS: dict[object, Kind] = {bool: Flag(), str: Text(), dict: MapOf(Number()), int: Whole(-MOST)}


@functools.cache
def _live_kinds(cls: type) -> Record:
    return Record(dict, **{one.name: KINDS.get(one.type, Number()) for one in _live(cls)})


def exported_values(node: Any) -> frozenset[tuple[str, Any]]:
    """Return the exports of a node that are not the defaults, with their slots; a list or dictionary is its repr().

    Cost: O(values that were set).
    """
    found: frozenset[tuple[str, Any]] = values_of(node, _exports(type(node)))
    return found


class SharedSettings(Generic[Settings]):
    """What nodes make of their exports, made once for all nodes with equal ones.

    Args:
        make: makes it for a node and what else decides; the result must not be changed.

    Cost: 2 µs, if a node with equal exports came before.
    """

    MOST = 256
    """Different settings that are kept (count): more are hardly those of scenes, but set by scripts."""

    def __init__(self, make: Callable[..., Settings]) -> None:
        self._make = make
        self._made: dict[tuple[Any, ...], Settings] = {}

    def of(self, node: Any, *given: Any) -> Settings:
        """Return what a node makes of its exports and what else decides: hashable values."""
        key = type(node), given, exported_values(node)
        found = self._made.get(key)
        if found is None:
            if len(self._made) >= self.MOST:
                self._made.clear()
            found = self._made[key] = self._make(node, *given)
        return found


@functools.cache
def _exports(cls: type) -> dict[str, export]:
    return {one.slot: one for one in exports_of(cls).values()}
