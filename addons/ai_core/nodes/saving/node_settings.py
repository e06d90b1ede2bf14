"""Properties of a node that a game changes while it runs: saved, and put back without telling anybody."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, export
from ai_core.saving.fields import MOST, Fields, State, StateError


def saved_settings(node: Any, names: Sequence[str]) -> State:
    """Return exported properties by name."""
    return {name: getattr(node, name) for name in names}


def prepared_settings(node: Any, names: Sequence[str], fields: Fields) -> Callable[[], None]:
    """Check saved properties as the inspector would; return what puts them, without ``on_set``.

    Raises:
        StateError: naming the property that does not fit.
    """
    values = {}
    for name in names:
        declared = getattr(type(node), name)
        value = _read(fields, name, declared.type)
        try:
            values[declared.slot] = declared.checked(node, value)
        except RefusedValue as error:
            raise StateError(f"{fields.place_of(name)!r}: {error}") from None
    fields.end()

    def change() -> None:
        node.__dict__.update(values)

    return change


def _read(fields: Fields, name: str, kind: object) -> bool | int | float | str | dict[str, float]:
    if kind is bool:
        return fields.flag(name)
    if kind is str:
        return fields.text(name)
    if kind is dict:
        numbers = fields.group(name)
        return {one: numbers.number(one) for one in numbers.names()}
    if kind is int:
        return fields.whole(name, minimum=-MOST)
    return fields.number(name)


@functools.cache
def exported_slots(cls: type) -> tuple[tuple[str, Any], ...]:
    """Return where an instance keeps each property that the inspector shows, and its default."""
    shown: dict[str, export] = {}
    for base in reversed(cls.__mro__):
        shown.update({name: value for name, value in vars(base).items() if isinstance(value, export)})
    return tuple((one.slot, one.default) for one in shown.values())
