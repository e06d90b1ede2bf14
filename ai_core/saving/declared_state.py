"""State declared once: the fields of a class with their kinds, and one way to save, check and load them.

A class lists its fields where it is defined:

    STATE = DeclaredState(
        stance=Optional(Record(Stance, kind=OneOf(STANCES), ratio=Number(0, 1), reasons=ListOf(Text()))),
        since_s=Seconds(at="_since_s"),
    )

``Saveable`` makes ``save_state`` and ``prepare_state`` of it. A load checks everything first and changes
the object only when all is well; errors name the place: "members[3].speed".
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import UnknownNameError, shown
from ai_core.saving.fields import (
    LARGEST,
    LARGEST_FLOAT32,
    LATEST_S,
    MOST,
    Fields,
    Migration,
    State,
    StateError,
    brief,
    checked_number,
    checked_whole,
    place_in,
)
from ai_core.saving.inner_state import inner_state, prepared_inner

__all__ = [
    "ArrayOf",
    "Change",
    "Columns",
    "DeclaredState",
    "Flag",
    "GameValue",
    "Hook",
    "Kind",
    "ListOf",
    "MapOf",
    "Moment",
    "Named",
    "Number",
    "OneOf",
    "Optional",
    "Part",
    "Point",
    "Record",
    "Refuse",
    "Row",
    "Same",
    "Saveable",
    "Seconds",
    "Text",
    "Whole",
    "refuse",
]

Change = Callable[[], object]
"""Applies what was checked; does not fail."""

Refuse = Callable[[str, str], NoReturn]
"""Raises a StateError for a field, given its name and the reason."""

Limit = float | Callable[[Any], float]
"""A limit, or a function that returns it for the object that is loaded."""

Shape = tuple[int | None, ...]


def refuse(place: str, why: str) -> NoReturn:
    """Raise a StateError that names the place and the reason."""
    raise StateError(f"{place!r} {why}")


class Kind:
    """Kind of a field: what it may hold, how it is written and read. This one is plain data that others check.

    Args:
        at: attribute that holds it, if its name differs from the field's; "march.anchor_m" for one of a part.
    """

    def __init__(self, *, at: str | None = None) -> None:
        self.at = at

    def save(self, value: Any, owner: Any) -> Any:
        """Return a value as plain data."""
        return value

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the checked value of plain data.

        Raises:
            StateError: if it is not what ``save`` writes; names the place and the reason.
        """
        return plain


class Number(Kind):
    """A finite number from ``minimum`` to ``maximum``; ``absent``, NaN or infinity, is saved as None."""

    def __init__(
        self, minimum: Limit = -LARGEST, maximum: Limit = LARGEST, *, absent: float | None = None,
        at: str | None = None,
    ) -> None:
        super().__init__(at=at)
        self.minimum, self.maximum, self.absent = minimum, maximum, absent

    def save(self, value: Any, owner: Any) -> Any:
        """Return the number, or None for the absent one."""
        return None if self.absent is not None and not math.isfinite(value) else float(value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the number."""
        if plain is None and self.absent is not None:
            return self.absent
        return checked_number(place, plain, _limit(self.minimum, owner), _limit(self.maximum, owner))


class Seconds(Number):
    """A game time or a duration (s)."""

    def __init__(
        self, minimum: Limit = -LATEST_S, maximum: Limit = LATEST_S, *, absent: float | None = None,
        at: str | None = None,
    ) -> None:
        super().__init__(minimum, maximum, absent=absent, at=at)


class Whole(Kind):
    """An integer from ``minimum`` to ``maximum``; 12.0 counts as 12, as Godot's JSON writes all numbers so."""

    def __init__(self, minimum: Limit = 0, maximum: Limit = MOST, *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.minimum, self.maximum = minimum, maximum

    def save(self, value: Any, owner: Any) -> Any:
        """Return the integer."""
        return int(value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the integer."""
        return checked_whole(place, plain, int(_limit(self.minimum, owner)), int(_limit(self.maximum, owner)))


class Flag(Kind):
    """True or false."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return true or false."""
        return bool(value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return true or false."""
        if type(plain) is not bool:
            refuse(place, f"must be true or false, got {brief(plain)}")
        return plain


class Text(Kind):
    """A string."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the string."""
        if type(plain) is not str:
            refuse(place, f"must be a string, got {brief(plain)}")
        return plain


class OneOf(Text):
    """One of some strings; ``names`` may be a function that returns them for the object that is loaded."""

    def __init__(
        self, names: Iterable[str] | Callable[[Any], Iterable[str]], *, at: str | None = None
    ) -> None:
        super().__init__(at=at)
        self.names = names if callable(names) else tuple(names)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the string."""
        names = tuple(self.names(owner)) if callable(self.names) else self.names
        if super().read(plain, place, owner) not in names:
            refuse(place, f"must be {' or '.join(map(repr, names))}, got {brief(plain)}")
        return plain


class Named(Kind):
    """An object of the present game, saved by its name.

    Args:
        objects: the objects by name, or a function that returns them for the object that is loaded.
        noun: kind of object, for messages: "behavior".
    """

    def __init__(
        self, objects: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]], noun: str, *, at: str | None = None
    ) -> None:
        super().__init__(at=at)
        self.objects, self.noun = objects, noun

    def save(self, value: Any, owner: Any) -> Any:
        """Return the name."""
        objects = self.objects(owner) if callable(self.objects) else self.objects
        return next(name for name, one in objects.items() if one is value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the object."""
        objects = self.objects(owner) if callable(self.objects) else self.objects
        if not isinstance(plain, str) or plain not in objects:
            raise StateError(f"{place!r}: {UnknownNameError(self.noun, plain, objects)}")
        return objects[plain]


class Moment(Kind):
    """A game time as (frame, seconds); ``make`` makes the value from both."""

    def __init__(self, make: Callable[[int, float], Any], *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.make = make

    def save(self, value: Any, owner: Any) -> Any:
        """Return [frame, seconds]."""
        return list(value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the moment."""
        frame, seconds = _items(plain, place, 2)
        return self.make(
            checked_whole(f"{place}[0]", frame, 0, MOST), checked_number(f"{place}[1]", seconds, -LATEST_S, LATEST_S))


class Optional(Kind):
    """None, or a value of another kind."""

    def __init__(self, kind: Kind, *, at: str | None = None) -> None:
        super().__init__(at=at or kind.at)
        self.kind = kind

    def save(self, value: Any, owner: Any) -> Any:
        """Return None or the saved value."""
        return None if value is None else self.kind.save(value, owner)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return None or the value."""
        return None if plain is None else self.kind.read(plain, place, owner)


class ListOf(Kind):
    """Values of one kind, in order.

    Args:
        kind: kind of each value.
        count: how many there must be, or a function that returns it for the object that is loaded.
        make: makes the value from a list: ``tuple``, ``set``, ``deque``.
    """

    def __init__(
        self, kind: Kind, *, count: Limit | None = None, make: Callable[[list[Any]], Any] = list, at: str | None = None,
    ) -> None:
        super().__init__(at=at)
        self.kind, self.count, self.make = kind, count, make

    def save(self, value: Any, owner: Any) -> Any:
        """Return the saved values; those of a set in ascending order."""
        values = sorted(value) if isinstance(value, set | frozenset) else value
        return [self.kind.save(one, owner) for one in values]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the values."""
        items = _items(plain, place, None if self.count is None else int(_limit(self.count, owner)))
        return self.make([self.kind.read(one, f"{place}[{index}]", owner) for index, one in enumerate(items)])


class MapOf(Kind):
    """A dict of values of one kind: under strings as a dict, under keys of a kind as pairs, in its order.

    Args:
        kind: kind of each value.
        key: kind of the keys; None for strings.
        names: the only keys allowed, all of which must be there; or a function that returns them for the
            object that is loaded.
    """

    def __init__(
        self, kind: Kind, *, key: Kind | None = None,
        names: Iterable[str] | Callable[[Any], Iterable[str]] | None = None, at: str | None = None,
    ) -> None:
        super().__init__(at=at)
        self.kind, self.key = kind, key
        self.names = names if names is None or callable(names) else tuple(names)

    def save(self, value: Any, owner: Any) -> Any:
        """Return a dict of strings, or a list of pairs."""
        if self.key is None:
            return {name: self.kind.save(one, owner) for name, one in value.items()}
        return [[self.key.save(one, owner), self.kind.save(value[one], owner)] for one in value]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the dict."""
        if self.key is not None:
            return self._read_pairs(plain, place, owner, self.key)
        fields = _dict(plain, place)
        names = self.names(owner) if callable(self.names) else self.names
        if names is not None:
            _match_names(fields, names, place)
        return {name: self.kind.read(one, place_in(place, name), owner) for name, one in fields.items()}

    def _read_pairs(self, plain: Any, place: str, owner: Any, key: Kind) -> Any:
        found: dict[Any, Any] = {}
        for index, pair in enumerate(_items(plain, place)):
            one, value = _items(pair, f"{place}[{index}]", 2)
            one = key.read(one, f"{place}[{index}][0]", owner)
            if one in found:
                refuse(f"{place}[{index}][0]", f"occurs twice: {brief(one)}")
            found[one] = self.kind.read(value, f"{place}[{index}][1]", owner)
        return found


class Row(Kind):
    """A tuple of values of given kinds; ``make`` is called with them, and its errors are errors of the save."""

    def __init__(self, make: Callable[..., Any], *kinds: Kind, at: str | None = None) -> None:
        super().__init__(at=at)
        self.make, self.kinds = make, kinds

    def save(self, value: Any, owner: Any) -> Any:
        """Return the saved values."""
        return [kind.save(one, owner) for kind, one in zip(self.kinds, value, strict=True)]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return what ``make`` makes of the values."""
        items = _items(plain, place, len(self.kinds))
        values = [
            kind.read(one, f"{place}[{index}]", owner)
            for index, (kind, one) in enumerate(zip(self.kinds, items, strict=True))]
        return _made(place, self.make, *values)


class Point(Kind):
    """A position or direction: a tuple of two or three coordinates (m).

    Args:
        dimensions: how many coordinates; a function that returns it for the object that is loaded; None for
            two or three.
    """

    def __init__(self, dimensions: Limit | None = None, *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.dimensions = dimensions

    def save(self, value: Any, owner: Any) -> Any:
        """Return the coordinates as a list."""
        return [float(one) for one in value]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the coordinates as a tuple."""
        items = _items(plain, place, None if self.dimensions is None else int(_limit(self.dimensions, owner)))
        if self.dimensions is None and len(items) not in (2, 3):
            refuse(place, f"must be a list of 2 or 3 items, got {brief(plain)}")
        return tuple(
            checked_number(f"{place}[{index}]", one, -LARGEST_FLOAT32, LARGEST_FLOAT32)
            for index, one in enumerate(items))


class Record(Kind):
    """An object with named fields; ``make`` is called with them by name, and its errors are errors of the save."""

    def __init__(self, make: Callable[..., Any], *, at: str | None = None, **kinds: Kind) -> None:
        super().__init__(at=at)
        self.make, self.kinds = make, kinds
        self._getters = {name: attrgetter(kind.at or name) for name, kind in kinds.items()}

    def save(self, value: Any, owner: Any) -> Any:
        """Return the fields as a dict."""
        return {name: kind.save(self._getters[name](value), owner) for name, kind in self.kinds.items()}

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return what ``make`` makes of the fields."""
        fields = _dict(plain, place)
        _match_names(fields, self.kinds, place)
        values = {name: kind.read(fields[name], place_in(place, name), owner) for name, kind in self.kinds.items()}
        return _made(place, self.make, **values)


class ArrayOf(Kind):
    """A NumPy array of numbers, saved as lists.

    Args:
        dtype: its type; integers and flags are saved as such.
        shape: its shape, None for a length that may be any; or a function that returns it for the object
            that is loaded.
        minimum: least number allowed.
        maximum: greatest number allowed.
        absent: NaN or infinity that may occur, saved as None.
        is_ascending: whether each number must be above the one before.
    """

    def __init__(
        self, dtype: Any = np.float64, *, shape: Shape | Callable[[Any], Shape] = (None,), minimum: Limit = -LARGEST,
        maximum: Limit = LARGEST, absent: float | None = None, is_ascending: bool = False, at: str | None = None,
    ) -> None:
        super().__init__(at=at)
        self.dtype, self.shape, self.is_ascending = np.dtype(dtype), shape, is_ascending
        self.minimum, self.maximum, self.absent = minimum, maximum, absent

    def save(self, value: Any, owner: Any) -> Any:
        """Return the numbers as lists in lists."""
        plain = np.asarray(value).tolist()
        return plain if self.absent is None else _without_absent(plain)

    def read(self, plain: Any, place: str, owner: Any) -> NDArray[Any]:
        """Return the array."""
        shape = self.shape(owner) if callable(self.shape) else self.shape
        lengths: list[int] = []
        numbers: list[Any] = [plain]
        for wanted in shape:
            for one in numbers:
                _items(one, place, wanted)
            count = len(numbers[0]) if numbers else 0
            if any(len(one) != count for one in numbers):
                refuse(place, "must have rows of one length")
            lengths.append(wanted if wanted is not None and not numbers else count)
            numbers = [item for one in numbers for item in one]
        found = self._read_numbers(numbers, place, owner).reshape(lengths)
        if self.is_ascending and (found[1:] <= found[:-1]).any():
            refuse(place, "must be ascending without repeats")
        return found

    def _read_numbers(self, numbers: list[Any], place: str, owner: Any) -> NDArray[Any]:
        if self.dtype.kind == "b":
            wrong = next((one for one in numbers if type(one) is not bool), None)
            if wrong is not None:
                refuse(place, f"must hold true and false, got {brief(wrong)}")
            return np.array(numbers, self.dtype)
        low, high = _limit(self.minimum, owner), _limit(self.maximum, owner)
        if self.dtype.kind in "iu":
            info = np.iinfo(self.dtype)
            low, high = max(low, info.min), min(high, info.max)
            return np.array([
                one if type(one) is int and low <= one <= high else checked_whole(f"{place}[{index}]", one, low, high)
                for index, one in enumerate(numbers)], self.dtype)
        return np.array([
            one if type(one) is float and low <= one <= high
            else self.absent if one is None and self.absent is not None
            else checked_number(f"{place}[{index}]", one, low, high)
            for index, one in enumerate(numbers)], self.dtype)


class Columns(Kind):
    """Columns of a table: arrays of one length, each with its dtype and range.

    Loading replaces the arrays of the table and keeps the table; where the attribute is a dict of arrays, it
    is set to a new one.

    Args:
        columns: kind of each column by name; the name is the attribute of the table.
    """

    def __init__(self, *, at: str | None = None, **columns: ArrayOf) -> None:
        super().__init__(at=at)
        self.columns = columns

    def save(self, value: Any, owner: Any) -> Any:
        """Return the columns by name."""
        arrays = value if isinstance(value, dict) else vars(value)
        return {name: kind.save(arrays[name], owner) for name, kind in self.columns.items()}

    def read(self, plain: Any, place: str, owner: Any) -> dict[str, NDArray[Any]]:
        """Return the columns by name, all of one length."""
        fields = _dict(plain, place)
        _match_names(fields, self.columns, place)
        found = {name: kind.read(fields[name], place_in(place, name), owner) for name, kind in self.columns.items()}
        count = len(next(iter(found.values()), ()))
        for name, column in found.items():
            if len(column) != count:
                refuse(place_in(place, name), f"must have {count} rows as the columns before it, got {len(column)}")
        return found


class GameValue(Kind):
    """A value of the game, by the ``SavedValues`` of the object that is loaded.

    Args:
        values: attribute of the object that holds them.
    """

    def __init__(self, values: str = "values", *, at: str | None = None) -> None:
        super().__init__(at=at)
        self._values = attrgetter(values)

    def save(self, value: Any, owner: Any) -> Any:
        """Return the value as plain data."""
        return self._values(owner).plain(value, self.at or "a value")

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the value."""
        return self._values(owner).value(plain, place)


class Same(Kind):
    """A setting that must be the same here as where it was saved; loading does not change it."""

    def save(self, value: Any, owner: Any) -> Any:
        """Return the setting; a sequence as a list."""
        return list(value) if isinstance(value, tuple) else value

    def require(self, value: Any, plain: Any, place: str) -> None:
        """Raise a StateError if the saved setting is another."""
        here = self.save(value, None)
        if type(plain) is float and type(here) is int:
            here = float(here)
        if type(plain) is not type(here) or plain != here:
            refuse(place, f"must be {shown(here)} as in the present object, got {brief(plain)}")


class Part(Kind):
    """An object inside this one that has ``save_state`` and ``prepare_state`` and stays the same object.

    Args:
        if_saveable: whether it may be None or an object of the game without these methods, which is not saved.
    """

    def __init__(self, *, if_saveable: bool = False, at: str | None = None) -> None:
        super().__init__(at=at)
        self.if_saveable = if_saveable

    def save(self, value: Any, owner: Any) -> Any:
        """Return the part's state."""
        return inner_state(value) if self.if_saveable else value.save_state()

    def prepare(self, part: Any, plain: Any, place: str) -> Change:
        """Check the state of a part; return what loads it."""
        if self.if_saveable:
            return prepared_inner(part, plain, place)
        try:
            change: Change = part.prepare_state(plain)
        except StateError as error:
            raise StateError(f"{place!r}: {error}") from error
        return change


class Hook(Kind):
    """A field that its class saves and reads itself, because it refers to other objects.

    For a field "goal" the class has the methods ``_save_goal()``, which returns plain data, and
    ``_prepare_goal(plain, place)``, which checks such data and returns the function that loads it.
    """


class DeclaredState:
    """The fields of a class, and its version.

    Args:
        version: raised with every change of the fields.
        migrations: by version, the function that converts its state to the next version.
        fields: kind of each field, in the order in which they are saved and checked.

    Cost: saving and loading O(size of the state).
    """

    def __init__(
        self, *, version: int = 1, migrations: Mapping[int, Migration] | None = None, **fields: Kind,
    ) -> None:
        self.version, self.migrations, self.fields = version, migrations, fields
        self._getters = {
            name: attrgetter(kind.at or name) for name, kind in fields.items() if not isinstance(kind, Hook)}

    def save(self, owner: Any) -> State:
        """Return the state of an object as plain data."""
        return {"version": self.version, **{
            name: kind.save(self._getters[name](owner), owner) if name in self._getters
            else getattr(owner, f"_save_{name}")()
            for name, kind in self.fields.items()}}

    def prepare(self, owner: Any, state: object, place: str = "") -> Change:
        """Check a saved state; return the function that loads it into the object.

        Raises:
            StateError: if the state cannot be loaded; names the place and the reason.
        """
        fields = Fields.versioned(state, version=self.version, migrations=self.migrations, place=place).plain
        _match_names(fields, ("version", *self.fields), place)
        values, changes = SimpleNamespace(), []
        for name, kind in self.fields.items():
            where, plain = place_in(place, name), fields[name]
            if isinstance(kind, Hook):
                changes.append(getattr(owner, f"_prepare_{name}")(plain, where))
            elif isinstance(kind, Same):
                kind.require(self._getters[name](owner), plain, where)
            elif isinstance(kind, Part):
                changes.append(kind.prepare(self._getters[name](owner), plain, where))
            else:
                setattr(values, name, kind.read(plain, where, owner))
        owner._check_state(values, lambda name, why: refuse(place_in(place, name), why))
        return lambda: self._load(owner, values, changes)

    def _load(self, owner: Any, values: SimpleNamespace, changes: list[Change]) -> None:
        for name, value in vars(values).items():
            kind = self.fields[name]
            if isinstance(kind, Columns) and not isinstance(table := self._getters[name](owner), dict):
                vars(table).update(value)
            else:
                *path, last = (kind.at or name).split(".")
                setattr(attrgetter(".".join(path))(owner) if path else owner, last, value)
        for change in changes:
            change()
        owner._finish_load()


class Saveable:
    """Base of a class with a declared ``STATE``: makes its ``save_state`` and ``prepare_state``."""

    STATE: ClassVar[DeclaredState]

    def save_state(self) -> State:
        """Return the state as plain data."""
        return self.STATE.save(self)

    def prepare_state(self, state: object) -> Change:
        """Check a saved state completely; return the function that loads it.

        Raises:
            StateError: if the state cannot be loaded; names the place and the reason.
        """
        return self.STATE.prepare(self, state)

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        """Raise by ``refuse(field, why)`` if fields do not fit each other; ``values`` has those that were read."""

    def _finish_load(self) -> None:
        """Bring in step what is derived from the fields, after a load."""


def _limit(limit: Limit, owner: Any) -> float:
    return limit(owner) if callable(limit) else limit


def _items(plain: Any, place: str, count: int | None = None) -> list[Any]:
    if not isinstance(plain, list):
        refuse(place, f"must be a list, got {brief(plain)}")
    if count is not None and len(plain) != count:
        refuse(place, f"must be a list of {count} items, got {brief(plain)}")
    return plain


def _dict(plain: Any, place: str) -> dict[str, Any]:
    if not isinstance(plain, dict):
        subject = f"{place!r}" if place else "the state"
        raise StateError(f"{subject} must be a dict, got {brief(plain)}")
    return plain


def _required(fields: Mapping[str, Any], name: str, place: str) -> Any:
    if name not in fields:
        raise StateError(f"{place_in(place, name)!r} is missing")
    return fields[name]


def _match_names(fields: Mapping[str, Any], names: Iterable[str], place: str) -> None:
    """Raise unless exactly these fields are there."""
    known = {*names}
    for name in names:
        _required(fields, name, place)
    if len(fields) > len(known):
        unknown = min(map(str, fields.keys() - known))
        refuse(place_in(place, unknown), f"is an unknown field; known fields: {', '.join(map(repr, names))}")


def _made(place: str, make: Callable[..., Any], /, *values: Any, **named: Any) -> Any:
    try:
        return make(*values, **named)
    except StateError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise StateError(f"{place!r}: {error}") from error


def _without_absent(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_without_absent(one) for one in plain]
    return plain if math.isfinite(plain) else None
