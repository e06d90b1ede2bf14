"""Kinds of fields: how the values of a ``DeclaredState`` are written as plain data, read and checked."""
from __future__ import annotations

import math
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.described import Described
from ai_core.errors import UnknownNameError
from ai_core.saving.fields import (
    LARGEST,
    LARGEST_FLOAT32,
    LATEST_S,
    MOST,
    LeftOutError,
    StateError,
    brief,
    check_names,
    checked_dict,
    checked_list,
    checked_number,
    checked_whole,
    place_in,
    refuse,
)
from ai_core.saving.values import SavedValues

__all__ = [
    "ArrayOf",
    "ByName",
    "Chosen",
    "Columns",
    "Flag",
    "GameDict",
    "GameValue",
    "Kind",
    "Limit",
    "ListOf",
    "MapOf",
    "Moment",
    "Named",
    "Number",
    "OneOf",
    "OneRecordOf",
    "Optional",
    "PackedArray",
    "Point",
    "Record",
    "Row",
    "Seconds",
    "Text",
    "Whole",
]

Limit = float | Callable[[Any], float]
"""A limit, or a function that returns it for the object that is loaded."""

Shape = tuple[int | None, ...]


class Kind(Described):
    """Kind of a field: its values, and how they are written and read. The base holds plain data without a check.

    Args:
        at: attribute that holds it, if its name differs from the field's; "march.anchor_m" for one of a part.
    """

    SHOWN = ("at",)

    plain_type: type | None = None
    """Type whose values are saved as they are, and read so if ``_are_allowed``; None if there is none.

    A class with a ``save`` or ``read`` of its own has none unless it sets one: lists would not call them.
    """

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        own = vars(cls)
        if "plain_type" not in own and ("save" in own or "read" in own):
            cls.plain_type = None

    def __init__(self, *, at: str | None = None) -> None:
        self.at = at

    def save(self, value: Any, owner: Any) -> Any:
        """Return a value as plain data."""
        return value

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        """Return the checked value of plain data.

        Raises:
            StateError: if ``save`` would not write it; names the place and the reason.
        """
        return plain

    def save_all(self, values: list[Any], owner: Any) -> list[Any]:
        """Return several values as plain data."""
        return list(values) if self._are_plain(values) else [self.save(one, owner) for one in values]

    def read_all(self, plain: list[Any], place: str, owner: Any) -> list[Any]:
        """Return the checked values of a list, without those that the load leaves out.

        Raises:
            StateError: as ``read``.
        """
        if self._are_plain(plain) and self._are_allowed(plain, owner):
            return list(plain)
        found = []
        for index, one in enumerate(plain):
            try:
                found.append(self.read(one, f"{place}[{index}]", owner))
            except LeftOutError:
                continue
        return found

    def _are_plain(self, values: list[Any]) -> bool:
        """Return whether all values are saved and read as they are, with one check for a large list."""
        return {*map(type, values)} == {self.plain_type}

    def _are_allowed(self, values: list[Any], owner: Any) -> bool:
        """Return whether ``read`` accepts all of several plain values."""
        return True


class Number(Kind):
    """A finite number from ``minimum`` to ``maximum``; ``absent``, NaN or infinity, is saved as None."""

    plain_type: type | None = float

    def __init__(
        self, minimum: Limit = -LARGEST, maximum: Limit = LARGEST, *, absent: float | None = None,
        at: str | None = None,
    ) -> None:
        super().__init__(at=at)
        self.minimum, self.maximum, self.absent = minimum, maximum, absent
        if absent is not None:
            self.plain_type = None
        self._limits = _fixed(minimum, maximum)

    def save(self, value: Any, owner: Any) -> Any:
        return None if self.absent is not None and not math.isfinite(value) else float(value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        if plain is None and self.absent is not None:
            return self.absent
        low, high = self._limits or (_limit(self.minimum, owner), _limit(self.maximum, owner))
        if type(plain) is float and -LARGEST <= low <= plain <= high <= LARGEST:
            return plain
        return checked_number(place, plain, low, high)

    def _are_plain(self, values: list[Any]) -> bool:
        return {*map(type, values)} == {type(self).plain_type} and all(map(math.isfinite, values))

    def _are_allowed(self, values: list[Any], owner: Any) -> bool:
        return _are_within(values, _limit(self.minimum, owner), _limit(self.maximum, owner))


class Seconds(Number):
    """A game time or a duration (s)."""

    def __init__(
        self, minimum: Limit = -LATEST_S, maximum: Limit = LATEST_S, *, absent: float | None = None,
        at: str | None = None,
    ) -> None:
        super().__init__(minimum, maximum, absent=absent, at=at)


class Whole(Kind):
    """An integer from ``minimum`` to ``maximum``; 12.0 counts as 12, as Godot's JSON writes all numbers so."""

    plain_type = int

    def __init__(self, minimum: Limit = 0, maximum: Limit = MOST, *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.minimum, self.maximum = minimum, maximum
        self._limits = _fixed(minimum, maximum)

    def save(self, value: Any, owner: Any) -> Any:
        return int(value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        low, high = self._limits or (_limit(self.minimum, owner), _limit(self.maximum, owner))
        if type(plain) is int and low <= plain <= high:
            return plain
        return checked_whole(place, plain, int(low), int(high))

    def _are_allowed(self, values: list[Any], owner: Any) -> bool:
        return _are_within(values, _limit(self.minimum, owner), _limit(self.maximum, owner))


class Flag(Kind):
    """True or false."""

    plain_type = bool

    def save(self, value: Any, owner: Any) -> Any:
        return bool(value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        if type(plain) is not bool:
            refuse(place, f"must be true or false, got {brief(plain)}")
        return plain


class Text(Kind):
    """A string."""

    plain_type = str

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        if type(plain) is not str:
            refuse(place, f"must be a string, got {brief(plain)}")
        return plain


class OneOf(Text):
    """One of some strings; ``names`` may be a function that returns them for the object that is loaded."""

    plain_type = str

    def __init__(
        self, names: Iterable[str] | Callable[[Any], Iterable[str]], *, at: str | None = None
    ) -> None:
        super().__init__(at=at)
        self.names = names if callable(names) else tuple(names)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        names = self._names(owner)
        if super().read(plain, place, owner) not in names:
            refuse(place, f"must be {' or '.join(map(repr, names))}, got {brief(plain)}")
        return plain

    def _are_allowed(self, values: list[Any], owner: Any) -> bool:
        return {*values} <= {*self._names(owner)}

    def _names(self, owner: Any) -> tuple[str, ...]:
        return tuple(self.names(owner)) if callable(self.names) else self.names


class Named(Kind):
    """An object of the present game, saved by its name.

    Args:
        objects: the objects by name, or a function that returns them for the object that is loaded.
        noun: kind of object, for messages: "behavior".
        name: returns the name of an object; without it, saving an object takes O(objects).
    """

    def __init__(
        self, objects: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]], noun: str, *,
        name: Callable[[Any], str] | None = None, at: str | None = None,
    ) -> None:
        super().__init__(at=at)
        self.objects, self.noun, self.name = objects, noun, name

    def save(self, value: Any, owner: Any) -> Any:
        if self.name is not None:
            return self.name(value)
        objects = self.objects(owner) if callable(self.objects) else self.objects
        return next(name for name, one in objects.items() if one is value)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        objects = self.objects(owner) if callable(self.objects) else self.objects
        if not isinstance(plain, str) or plain not in objects:
            raise StateError(f"{place!r}: {UnknownNameError(self.noun, plain, objects)}; add it before loading")
        return objects[plain]


class Optional(Kind):
    """None, or a value of another kind."""

    def __init__(self, kind: Kind, *, at: str | None = None) -> None:
        super().__init__(at=at or kind.at)
        self.kind = kind

    def save(self, value: Any, owner: Any) -> Any:
        return None if value is None else self.kind.save(value, owner)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return None if plain is None else self.kind.read(plain, place, owner)


class ListOf(Kind):
    """Values of one kind, in order; those of a set in ascending order.

    Args:
        kind: kind of each value.
        count: required number of values, or a function that returns it for the object that is loaded.
        make: makes the value from a list: ``tuple``, ``set``, ``deque``.
        unique: function of a value; no two values may have the same result, such as a name.
    """

    def __init__(
        self, kind: Kind, *, count: Limit | None = None, make: Callable[[list[Any]], Any] = list,
        unique: Callable[[Any], Hashable] | None = None, at: str | None = None,
    ) -> None:
        super().__init__(at=at)
        self.kind, self.count, self.make, self.unique = kind, count, make, unique

    def save(self, value: Any, owner: Any) -> Any:
        values = sorted(value) if isinstance(value, set | frozenset) else value
        return self.kind.save_all(values, owner)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        items = checked_list(place, plain, None if self.count is None else int(_limit(self.count, owner)))
        values = self.kind.read_all(items, place, owner)
        if self.unique is not None:
            found = set()
            for index, one in enumerate(values):
                if (key := self.unique(one)) in found:
                    refuse(f"{place}[{index}]", f"occurs twice: {brief(items[index])}")
                found.add(key)
        return self.make(values)


class MapOf(Kind):
    """A dict of values of one kind: under strings as a dict, under keys of a kind as pairs, in its order.

    Args:
        kind: kind of each value, or a function that returns it for the object that is loaded and a key.
        key: kind of the keys; None for strings.
        names: the only keys allowed, all of them required; or a function that returns them for the
            object that is loaded.
    """

    def __init__(
        self, kind: Kind | Callable[[Any, Any], Kind], *, key: Kind | None = None,
        names: Iterable[str] | Callable[[Any], Iterable[str]] | None = None, at: str | None = None,
    ) -> None:
        super().__init__(at=at)
        self.kind, self.key = kind, key
        self.names = names if names is None or callable(names) else tuple(names)

    def save(self, value: Any, owner: Any) -> Any:
        if self.key is None:
            if isinstance(self.kind, Kind):
                return dict(zip(value, self.kind.save_all([*value.values()], owner), strict=True))
            return {name: self.kind(owner, name).save(one, owner) for name, one in value.items()}
        return [[self.key.save(key, owner), self._kind_of(owner, key).save(one, owner)] for key, one in value.items()]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        if self.key is not None:
            return self._read_pairs(plain, place, owner, self.key)
        fields = checked_dict(place, plain)
        names = self.names(owner) if callable(self.names) else self.names
        if names is not None:
            check_names(place, fields, names)
        return {
            name: self._kind_of(owner, name).read(one, place_in(place, name), owner) for name, one in fields.items()}

    def _kind_of(self, owner: Any, key: Any) -> Kind:
        return self.kind if isinstance(self.kind, Kind) else self.kind(owner, key)

    def _read_pairs(self, plain: Any, place: str, owner: Any, key: Kind) -> Any:
        found: dict[Any, Any] = {}
        for index, pair in enumerate(checked_list(place, plain)):
            one, value = checked_list(f"{place}[{index}]", pair, 2)
            try:
                one = key.read(one, f"{place}[{index}][0]", owner)
                if one in found:
                    refuse(f"{place}[{index}][0]", f"occurs twice: {brief(one)}")
                found[one] = self._kind_of(owner, one).read(value, f"{place}[{index}][1]", owner)
            except LeftOutError:
                pass
        return found


class ByName(Kind):
    """A list of values of one kind, one for each name that the present game has, saved under these names."""

    def __init__(self, kind: Kind, names: Callable[[Any], Iterable[str]], *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.kind, self.names = kind, names

    def save(self, value: Any, owner: Any) -> Any:
        return {name: self.kind.save(one, owner) for name, one in zip(self.names(owner), value, strict=True)}

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        fields, names = checked_dict(place, plain), tuple(self.names(owner))
        check_names(place, fields, names)
        return [self.kind.read(fields[name], place_in(place, name), owner) for name in names]


class Row(Kind):
    """A tuple of values of given kinds; ``make`` is called with them, and its errors are errors of the save."""

    def __init__(self, make: Callable[..., Any], *kinds: Kind, at: str | None = None) -> None:
        super().__init__(at=at)
        self.make, self.kinds = make, kinds
        self._saves = [(kind.plain_type, kind.save) for kind in kinds]
        self._readers = [(f"[{index}]", kind.read) for index, kind in enumerate(kinds)]

    def save(self, value: Any, owner: Any) -> Any:
        return [
            one if type(one) is plain_type else save(one, owner)
            for (plain_type, save), one in zip(self._saves, value, strict=True)]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        items = checked_list(place, plain, len(self.kinds))
        values = [read(one, place + index, owner) for (index, read), one in zip(self._readers, items, strict=True)]
        return _made(place, self.make, *values)


class Moment(Row):
    """A game time as (frame, seconds); ``make`` makes the value from both."""

    def __init__(self, make: Callable[[int, float], Any], *, at: str | None = None) -> None:
        super().__init__(make, Whole(), Seconds(), at=at)


class Point(Kind):
    """A position or direction: a tuple of two or three coordinates (m).

    Args:
        dimensions: number of coordinates; a function that returns it for the object that is loaded; None for
            two or three.
    """

    def __init__(self, dimensions: Limit | None = None, *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.dimensions = dimensions

    def save(self, value: Any, owner: Any) -> Any:
        return [float(one) for one in value]

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        items = checked_list(place, plain, None if self.dimensions is None else int(_limit(self.dimensions, owner)))
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
        self._readers = [(name, kind.read) for name, kind in kinds.items()]
        self._saves = [(name, self._getters[name], kind.plain_type, kind.save) for name, kind in kinds.items()]

    def save(self, value: Any, owner: Any) -> Any:
        return {
            name: one if type(one := get(value)) is plain_type else save(one, owner)
            for name, get, plain_type, save in self._saves}

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        fields = checked_dict(place, plain)
        check_names(place, fields, self.kinds)
        start = f"{place}." if place else ""
        values = {name: read(fields[name], start + name, owner) for name, read in self._readers}
        return _made(place, self.make, **values)


class OneRecordOf(Kind):
    """An object of one of several classes, saved as its record with the name of the class.

    Args:
        records: record of each class by name; its ``make`` is the class.
        by: field for the name, which no record has.
    """

    def __init__(self, *, by: str = "kind", at: str | None = None, **records: Record) -> None:
        super().__init__(at=at)
        self.by, self.records, self._names = by, records, {record.make: name for name, record in records.items()}

    def save(self, value: Any, owner: Any) -> Any:
        name = self._names.get(type(value))
        if name is None:
            known = ", ".join(str(one.__name__) for one in self._names)
            raise TypeError(f"objects of {type(value).__name__} cannot be saved; use those of {known}")
        return {self.by: name, **self.records[name].save(value, owner)}

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        fields = {**checked_dict(place, plain)}
        if self.by not in fields:
            refuse(place_in(place, self.by), "is missing")
        name = OneOf(self.records).read(fields.pop(self.by), place_in(place, self.by), owner)
        return self.records[name].read(fields, place, owner)


class Chosen(Kind):
    """A value whose kind depends on the object, such as a place on its ground."""

    def __init__(self, choose: Callable[[Any], Kind], *, at: str | None = None) -> None:
        super().__init__(at=at)
        self.choose = choose

    def save(self, value: Any, owner: Any) -> Any:
        return self.choose(owner).save(value, owner)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return self.choose(owner).read(plain, place, owner)


class ArrayOf(Kind):
    """A NumPy array, saved as lists.

    Args:
        dtype: its type; integers and flags are saved as such; ``object`` for non-empty strings.
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
        array = np.asarray(value, self.dtype)
        plain = array.tolist()
        return plain if self.absent is None or np.isfinite(array).all() else _without_absent(plain)

    def read(self, plain: Any, place: str, owner: Any) -> NDArray[Any]:
        shape = self.shape(owner) if callable(self.shape) else self.shape
        lengths: list[int] = []
        numbers: list[Any] = [plain]
        for wanted in shape:
            for one in numbers:
                checked_list(place, one, wanted)
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
        if self.dtype.kind in "bO":
            wanted, noun = (bool, "true and false") if self.dtype.kind == "b" else (str, "non-empty strings")
            for one in numbers:
                if type(one) is not wanted or one == "":
                    refuse(place, f"must hold {noun}, got {brief(one)}")
            return np.array(numbers, self.dtype)
        low, high = self._range(owner)
        usual, checked = (int, checked_whole) if self.dtype.kind in "iu" else (float, checked_number)
        if {*map(type, numbers)} == {usual} and _are_within(numbers, low, high):
            found = np.array(numbers, self.dtype)  # without a check of each number of a large array
            if usual is int or np.isfinite(found).all():
                return found
        return np.array([
            one if type(one) is usual and low <= one <= high
            else self.absent if one is None and self.absent is not None
            else checked(f"{place}[{index}]", one, low, high)
            for index, one in enumerate(numbers)], self.dtype)

    def _range(self, owner: Any) -> tuple[float, float]:
        """Return the least and greatest number allowed that the type holds."""
        low, high = _limit(self.minimum, owner), _limit(self.maximum, owner)
        if self.dtype.kind in "iu":
            whole = np.iinfo(self.dtype)
            return max(low, whole.min), min(high, whole.max)
        largest = float(np.finfo(self.dtype).max)
        return max(low, -largest), min(high, largest)


class PackedArray(ArrayOf):
    """A large array of numbers, saved as a string: little-endian, compressed, in base64.

    Args:
        shape: its whole shape, which limits the memory that loading takes; or a function that returns it for the
            object that is loaded.
        absent: NaN if that may occur, too.

    Cost: O(numbers); uniform regions compress well.
    """

    def save(self, value: Any, owner: Any) -> str:
        data = value.astype(self.dtype.newbyteorder("<"), copy=False).tobytes()
        return b2a_base64(zlib.compress(data, 1), newline=False).decode("ascii")

    def read(self, plain: Any, place: str, owner: Any) -> NDArray[Any]:
        if type(plain) is not str:
            refuse(place, f"must be a string, got {brief(plain)}")
        shape: Any = self.shape(owner) if callable(self.shape) else self.shape
        wanted = math.prod(shape) * self.dtype.itemsize
        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(a2b_base64(plain, strict_mode=True), wanted + 1)
        except (ValueError, zlib.error) as error:
            refuse(place, f"must be packed numbers: {error}")
        if len(data) != wanted or not unpacker.eof:
            refuse(place, f"must hold {' × '.join(map(str, shape))} numbers")
        found = np.frombuffer(data, self.dtype.newbyteorder("<")).astype(self.dtype).reshape(shape)
        low, high = map(self.dtype.type, self._range(owner))  # as a limit may lie between two numbers of the type
        is_right = (found >= low) & (found <= high)
        if self.absent is not None:
            is_right |= np.isnan(found)
        if not is_right.all():
            refuse(place, f"must hold numbers of {low:g} to {high:g}, got {found[~is_right][0]:g}")
        return found


class Columns(Kind):
    """Columns of a table: arrays or lists of one length, each with its kind.

    Loading replaces the arrays of the table and keeps the table; where the attribute is a dict of arrays, it
    is set to a new one.

    Args:
        columns: kind of each column by name; the name is the attribute of the table.
    """

    def __init__(self, *, at: str | None = None, **columns: Kind) -> None:
        super().__init__(at=at)
        self.columns = columns

    def save(self, value: Any, owner: Any) -> Any:
        get = value.__getitem__ if isinstance(value, dict) else partial(getattr, value)
        return {name: kind.save(get(name), owner) for name, kind in self.columns.items()}

    def read(self, plain: Any, place: str, owner: Any) -> dict[str, Any]:
        fields = checked_dict(place, plain)
        check_names(place, fields, self.columns)
        found = {name: kind.read(fields[name], place_in(place, name), owner) for name, kind in self.columns.items()}
        count = len(next(iter(found.values()), ()))
        for name, column in found.items():
            if len(column) != count:
                refuse(place_in(place, name), f"must have {count} rows as the columns before it, got {len(column)}")
        return found


class GameValue(Kind):
    """A value of the game, by ``SavedValues``.

    Args:
        values: the ``SavedValues``, or the attribute of the object that is loaded that holds them.
    """

    def __init__(self, values: str | SavedValues = "values", *, at: str | None = None) -> None:
        super().__init__(at=at)
        self._values = attrgetter(values) if isinstance(values, str) else lambda owner: values

    def save(self, value: Any, owner: Any) -> Any:
        return self._values(owner).plain(value, (self.at or "a value").lstrip("_"))

    def save_all(self, values: list[Any], owner: Any) -> list[Any]:
        plain: list[Any] = self.save([*values], owner)
        return plain

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return self._values(owner).value(plain, place)


class GameDict(GameValue):
    """A dict of values of the game."""

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        return checked_dict(place, super().read(plain, place, owner))


def _are_within(values: list[Any], minimum: float, maximum: float) -> bool:
    return bool(min(values) >= minimum and max(values) <= maximum)


def _fixed(low: Limit, high: Limit) -> tuple[float, float] | None:
    return None if callable(low) or callable(high) else (low, high)


def _limit(limit: Limit, owner: Any) -> float:
    return limit(owner) if callable(limit) else limit


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
