"""Plain data: the types, number and depth of values that a save may contain, checked before it is read."""
from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any, NoReturn

from ai_core.saving.fields import StateError, brief

__all__ = ["MAXIMUM_DEPTH", "MAXIMUM_VALUES", "DuplicateKeys", "JsonConstant", "check_plain", "room_after"]

MAXIMUM_VALUES = 3_000_000
"""Most values in a snapshot (count), in text commas and brackets; it protects the loading of unknown saves.

2,000 agents that each remember 20 others have 2 million, in 21 million characters. Each value may cost 100 bytes
in memory, and a microsecond or two to check and to restore.
"""

FEWER = "let memories end sooner (SenseMemory), or save the parts in several snapshots"
"""Remedy for too many values."""

MAXIMUM_DEPTH = 200
"""Most levels of nested lists and dicts (count). States of ai_core have fewer than ten,
values of the game on a blackboard up to 120."""

TEXT = {str}
LEAVES = {type(None), bool, str, int, float}
BOXES = {dict, list}
PLAIN = LEAVES | BOXES


class JsonConstant(str):
    """NaN, Infinity or -Infinity in JSON, kept until its place is known."""

    __slots__ = ()


class DuplicateKeys(dict[str, Any]):
    """A dict of JSON in which a key occurs twice."""

    key = ""


def check_plain(whole: object, room: int = MAXIMUM_VALUES) -> int:
    """Raise StateError unless a state is plain data, of ``room`` values at most; return how many more it could hold.

    Without recursion, so that no depth exhausts the stack.
    """
    left = room_after(whole, room)
    if left is None:
        _find_wrong(whole, room)
        raise StateError("the state is not plain data")       # another thread changed it meanwhile
    return left


def room_after(whole: object, room: int = MAXIMUM_VALUES) -> int | None:
    """Return the number of values left of ``room``, None if data is not plain; level by level, without places."""
    values: list[Any] = [whole]
    for _ in range(MAXIMUM_DEPTH + 2):
        kinds = {*map(type, values)}
        if not kinds <= PLAIN:
            return None
        if float in kinds:
            floats = values if len(kinds) == 1 else [one for one in values if type(one) is float]
            # A sum is finite if all are, but for sums of huge ones.
            if not math.isfinite(sum(floats)) and not all(map(math.isfinite, floats)):
                return None
        if kinds <= LEAVES:
            return room
        boxes = [one for one in values if type(one) in BOXES]
        room -= sum(map(len, boxes))
        if room < 0:
            return None
        dicts = [one for one in boxes if type(one) is dict]
        if not {*map(type, chain.from_iterable(dicts))} <= TEXT:
            return None
        values = [one for box in boxes for one in (box.values() if type(box) is dict else box)]
    return None


def _find_wrong(whole: object, room: int) -> None:
    """Raise StateError for the first invalid value, with its place."""
    inside: list[tuple[object, Iterator[tuple[object, Any]]]] = []
    rest: Iterator[tuple[object, Any]] = iter([("", whole)])
    while True:
        for key, value in rest:
            kind = type(value)
            if kind in LEAVES and (kind is not float or math.isfinite(value)):
                continue
            if kind not in BOXES:
                _refuse([*(one for one, _ in inside), key], value)
            room -= len(value)
            if room < 0:
                raise StateError(f"a snapshot must hold at most {MAXIMUM_VALUES} values, got more; {FEWER}")
            if len(inside) >= MAXIMUM_DEPTH:
                raise StateError(f"{_place([one for one, _ in inside])!r} is nested deeper than {MAXIMUM_DEPTH}")
            if kind is dict and not set(map(type, value)) <= TEXT:
                place = _place([*(one for one, _ in inside), key])
                raise StateError(f"{place!r} must have only strings as keys")
            inside.append((key, rest))
            rest = iter(value.items()) if kind is dict else enumerate(value)
            break
        else:
            if not inside:
                return
            rest = inside.pop()[1]


def _refuse(keys: list[object], value: object) -> NoReturn:
    if isinstance(value, DuplicateKeys):
        raise StateError(f"{_place([*keys, value.key])!r} occurs twice")
    if isinstance(value, float | JsonConstant):
        raise StateError(f"{_place(keys)!r} must be a finite number, got {value!s}")
    raise StateError(f"{_place(keys)!r} must be plain data, got {brief(value)}")


def _place(keys: list[object]) -> str:
    """Return keys as "parts.clock.now[1]", only its end if it is long."""
    parts = [f"[{key}]" if isinstance(key, int) else f".{key}"[:60] for key in keys if key != ""]
    place = "".join(parts[-8:]).lstrip(".")
    return f"…{place}" if len(parts) > 8 else place
