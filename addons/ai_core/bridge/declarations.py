"""Declarations of a node class: exported properties, signals, methods, hooks."""
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from operator import attrgetter
from typing import Any

from _bridge import (
    GDObject,
    NodePath,
    RefusedValue,
    StoredValue,
    StringName,
    Vector2,
    Vector3,
    brief,
    call_hook,
    has_listeners,
)

from addons.ai_core.bridge.engine_types import OBJECT, TYPE_NUMBERS, describe

HINT_RANGE, HINT_ENUM, HINT_FLAGS = 1, 2, 6
HINT_RESOURCE, HINT_NODE_PATH_TYPES = 17, 26
HINT_LAYERS_2D_PHYSICS, HINT_LAYERS_3D_PHYSICS, HINT_NODE_TYPE = 8, 11, 34
HINT_ARRAY_TYPE, HINT_DICTIONARY_TYPE = 31, 38
PIXELS_PER_METER = 32.0
"""Number of pixels in a metre of a default or a limit, in 2D."""
KEYS = ",".join([
    "None:0", *(f"F{one}:{(1 << 22) + 27 + one}" for one in range(1, 13)), "Tab:4194306", "Quote Left:96",
    *(f"{chr(one)}:{one}" for one in (*b"0123456789", *b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"))])
"""Keys of the engine that the inspector offers, with their numbers; code may set others."""
SIDES = ",".join(f"Side {one + 1}:{1 << one}" for one in range(8))
"""Bits of an affiliation that the inspector offers; code may set all 32."""
LENGTHS = {"m": 1, "m/s": 1, "m²": 2}
"""Units that are replaced by pixels in 2D, with their power of a length."""
LIVE = {True: "_change", False: "_in_use"}
"""Methods of a node that are called for a value of ``live``, if the node has them."""
ERRORS_OF_VALUES = (TypeError, ValueError, LookupError, RuntimeError)
"""Exceptions by which the library refuses values."""
SLACK = 1e-6
"""Share of a limit by which a number may exceed it: the inspector rounds limits to float32."""
MOST = 1e9
"""Largest magnitude of a number without a limit of its own: its square is finite in the engine's float32, and a whole
number fits into 32 bits."""
ANY_INTEGER = -sys.float_info.max, sys.float_info.max
"""Limits of integers without a range, such as seeds and layers."""
USAGE_DEFAULT, USAGE_CLASS_IS_ENUM, USAGE_NIL_IS_VARIANT = 6, 1 << 16, 1 << 17


class export(StoredValue):  # noqa: N801 - reads as a word of the declaration language
    """A property that the inspector shows and the scene file stores.

    Args:
        type: an engine type, an IntEnum of the class, or a Resource class.
        default: an immutable value; the inspector's revert arrow goes back to it.
        range: (minimum, maximum[, step]); values outside are refused.
        or_greater: values above the maximum are allowed; the slider ends there.
        most: with ``or_greater``, or for a float without a range, the largest value that is allowed.
        unit: suffix such as "m" or "s". If ``is_flat`` of an instance is true, pixels replace metres in the suffix,
            the default and the limits. Steps are round numbers of what is shown.
        is_point: a position, or None: a Vector3, or a Vector2 where an instance has ``is_flat``; ``type`` is Variant.
        default_2d: the default where an instance has ``is_flat``; None: ``default`` in pixels.
        core: setting of the library that the property sets, as a keyword: "lose_after_s", or "thresholds.sight" for a
            key of a dictionary. ``core_settings`` collects them, lengths in metres.
        live: True: may change while the node is in use; saved with the node, and ``_change`` is called. False: may
            not, and ``_in_use`` refuses it. None: read when it is needed. ``on_set`` takes the place of both
            methods.
        as_degrees: stored in radians, shown in degrees.
        options: names to choose from, for an int or str.
        words: names in the inspector for the members of an enum, in their order; no commas.
        hint: (number, text) of any other engine hint.
        hint_2d: number of the hint where an instance has ``is_flat``; None: that of ``hint``.
        group: name of the inspector group that begins with this property.
        on_set: name of a method that is called after a new value is stored; by default ``ON_ANY_SET`` of the class of
            a node, which is called while the node is in the tree.
        shown_when: (name of another property, value, ...): the inspector hides this one unless the other
            has one of the values; its own value is kept.
        doc: one sentence or more for the hover text.
    """

    on_edit: Callable[[Any, export], bool] | None = None
    """Called with each new value in the editor; returns True if ``on_set`` must not run there."""

    def __init__(
        self, type: object, default: object = None, *, range: Sequence[float] | None = None,
        or_greater: bool = False, most: float = MOST, unit: str = "", as_degrees: bool = False,
        options: Sequence[str] = (), words: Sequence[str] = (), hint: tuple[int, str] | None = None,
        hint_2d: int | None = None,
        is_point: bool = False, default_2d: object = None, core: str = "", live: bool | None = None,
        group: str | None = None,
        on_set: str | None = None, shown_when: tuple[Any, ...] = (), doc: str = "",
    ) -> None:
        if isinstance(default, (list, dict, set, bytearray)):
            if default:
                raise TypeError(f"the default of an exported property must be immutable, got {default!r}")
            default = ()
        if type in (bool, int, float, str) and not isinstance(default, (int, float) if type is float else type):
            raise TypeError(f"the default of an exported {type.__name__} must be one, got {default!r}")  # type: ignore[attr-defined]
        self.type, self.default, self.range, self.or_greater, self.most = type, default, range, or_greater, most
        self.unit, self.as_degrees, self.options, self.hint = unit, as_degrees, options, hint
        self.hint_2d = hint_2d
        self.group, self.doc, self.core, self.live = group, doc, core, live
        self.on_set, self.on_live = on_set, LIVE.get(live, "")
        self.power = LENGTHS.get(unit, 0)
        self.is_point = is_point
        self.default_2d = self._in_pixels(default) if default_2d is None and self.power else default_2d
        self.has_flat_default = self.default_2d is not None     # whether the default differs in 2D
        self.is_collection = type in (list, dict)
        self.shown_when = tuple(shown_when)
        self.is_enum = isinstance(type, _TypeOfClass) and issubclass(type, IntEnum)
        self.takes_any = not (is_point or options or isinstance(hint, _HintOfMany))
        self.low, self.high = ANY_INTEGER if type is int else (-most, most)
        if range is not None:
            self.low, self.high = range[0], most if or_greater else range[1]
        self.members = frozenset(map(int, type)) if self.is_enum else None  # type: ignore[call-overload]
        self.words = tuple(words)

    def __set_name__(self, owner: _TypeOfClass, name: str) -> None:
        self.name, self.slot = name, "_export_" + name

    def default_of(self, instance: Any) -> Any:
        """Return the default of an instance."""
        return self.default_2d if self.has_flat_default and getattr(instance, "is_flat", False) else self.default

    def _in_pixels(self, value: Any) -> Any:
        return value * PIXELS_PER_METER ** self.power

    def checked(self, instance: Any, value: Any) -> Any:
        """Return the value to store, or raise RefusedValue and leave the old one."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if not math.isfinite(value):
                self.refuse(instance, value, "a finite number")
            if self.range is not None or self.type is float:
                self._check_limits(instance, value, (value,))
            if self.is_enum and value not in list(self.type):  # type: ignore[call-overload]
                self.refuse(instance, value, f"one of {', '.join(map(_number_and_name, self.type))}")  # type: ignore[call-overload]
        elif self.is_point and not isinstance(value, (Vector2, Vector3, type(None))):
            self.refuse(instance, value, "a Vector3, or in 2D a Vector2")
        elif isinstance(value, (Vector2, Vector3)):
            if not all(map(math.isfinite, value)):
                self.refuse(instance, value, "finite")
            self._check_limits(instance, value, value)
        elif isinstance(value, GDObject) and not value.is_class(describe(self.type, "", "")["class_name"]):
            self.refuse(instance, value, f"a {self.type.__name__}")  # type: ignore[attr-defined]
        elif isinstance(self.hint, _HintOfMany):
            wrong = self.hint.wrong_in(value)
            if wrong is not None:
                self.refuse(instance, wrong[2], wrong[1], at=wrong[0])
        if self.options and isinstance(value, str) and value not in self.options:
            self.refuse(instance, value, f"one of {list(self.options)}")
        return value

    def _check_limits(self, instance: Any, value: Any, numbers: Iterable[float]) -> None:
        """Refuse a value of which a number is outside the limits."""
        low, high = self.low, self.high
        # The dimensions may be set later: the limits of 2D and of 3D are both accepted.
        if self.power and getattr(type(instance), "is_flat", False) is not False:
            low, high = min(low, self._in_pixels(low)), max(high, self._in_pixels(high))
        slack = 0.0 if self.type is int else SLACK
        for number in numbers:
            if number < low - slack * abs(low) or number > high + slack * abs(high):
                least = self._limit(low)
                is_open = self.or_greater and self.most == MOST and number < low
                rule = f"at least {least}" if is_open else f"between {least} and {self._limit(high)}"
                self.refuse(instance, value, rule + " in each coordinate" * isinstance(value, (Vector2, Vector3)))

    def check_shown_when(self, class_name: str, other: object) -> None:
        """Raise TypeError unless ``other`` is an exported property that can have one of the values.

        Args:
            class_name: class of the property, for the message.
            other: attribute of the class with the name.
        """
        name, values = self.shown_when[0], self.shown_when[1:]
        where = f"{class_name}.{self.name}: shown_when"
        if not isinstance(other, export) or other is self:
            raise TypeError(f"{where} names {name!r}, which is not another exported property")
        if not values:
            raise TypeError(f"{where} needs a value of {name!r} for which the property is shown")
        for value in values:
            if other.is_enum:
                fits = isinstance(value, other.type)  # type: ignore[arg-type]
            elif other.options:
                fits = value in (other.options if other.type is str else range(len(other.options)))
            else:
                fits = type(value) is type(other.default)
            if not fits:
                raise TypeError(f"{where} has {value!r}, which {name!r} cannot be")

    def refuse(self, instance: Any, value: object, rule: str, *, at: str = "") -> None:
        stays = self.shown(self.__get__(instance))
        raise RefusedValue(f"{self.name}{at} must be {rule}, got {brief(value)}; it stays {stays}")

    def shown(self, value: Any) -> str:
        """Return a value of the property for a message: a member of an enum by its number and name."""
        return _number_and_name(self.type(value)) if self.is_enum else "null" if value is None else brief(value)  # type: ignore[operator]

    def _limit(self, number: float) -> str:
        return f"{number:.4g} rad ({math.degrees(number):.4g}°)" if self.as_degrees else f"{number:g}"

    def number_hint(self, *, is_flat: bool) -> str:
        """Return the engine's hint for a number: limits, step, suffix."""
        is_flat = is_flat and self.power != 0
        numbers = list(self.range or (0, 1e9, 0.001))
        if self.range is not None and (is_flat or self.as_degrees):
            numbers = [self._as_shown(number, is_flat) for number in numbers]
            if len(numbers) == 3:
                numbers = _rounded(*numbers, self.default_2d if is_flat else self._as_shown(self.default, False))
        parts = [f"{number:.10g}" for number in numbers]
        parts += ["or_greater"] * (self.or_greater or self.range is None)
        parts += ["radians_as_degrees"] * self.as_degrees
        parts += [f"suffix:{self.unit.replace('m', 'px', 1) if is_flat else self.unit}"] * bool(self.unit)
        return ",".join(parts)

    def _as_shown(self, number: Any, is_flat: bool) -> Any:
        """Return a limit, step or default of 3D as the inspector shows it: the engine takes angles in degrees."""
        if self.as_degrees:
            return math.degrees(number)
        return self._in_pixels(number) if is_flat else number

    def describe(self, class_name: str, *, is_flat: bool = False) -> dict[str, Any]:
        """Return the property as the engine takes it; ``is_flat`` for a class that is always in 2D."""
        described = describe(self.type, self.name, f"{class_name}.{self.name}")
        described.update(getter=f"get_{self.name}", setter=f"set_{self.name}", usage=USAGE_DEFAULT)
        if self.is_point:
            described["usage"] |= USAGE_NIL_IS_VARIANT
        if self.group is not None:
            described["group"] = self.group
        if self.hint is not None:
            described["hint"], described["hint_string"] = self.hint
            if is_flat and self.hint_2d is not None:
                described["hint"] = self.hint_2d
        elif self.range is not None or self.unit:
            described["hint"], described["hint_string"] = HINT_RANGE, self.number_hint(is_flat=is_flat)
        elif self.is_enum:
            words = self.words or map(_shown_name, self.type)  # type: ignore[call-overload]
            names = (f"{word}:{int(one)}" for word, one in zip(words, self.type, strict=True))  # type: ignore[call-overload]
            described["hint"], described["hint_string"] = HINT_ENUM, ",".join(names)
            described["usage"] |= USAGE_CLASS_IS_ENUM
            described["class_name"] = f"{class_name}.{self.type.__name__}"  # type: ignore[attr-defined]
        elif self.options:
            described["hint"], described["hint_string"] = HINT_ENUM, ",".join(self.options)
        elif described["type"] == OBJECT and "is_ref" in described and not described["is_ref"]:
            described["hint"], described["hint_string"] = HINT_NODE_TYPE, described["class_name"]
        elif described.get("is_ref"):
            described["hint"], described["hint_string"] = HINT_RESOURCE, described["class_name"]
        return described


_TypeOfClass = type


def exports_of(cls: type) -> dict[str, export]:
    """Return the exported properties of a class and of its bases, by name."""
    found = {name: one for base in reversed(cls.__mro__) for name, one in vars(base).items()}
    return {name: one for name, one in found.items() if isinstance(one, export)}


def _rounded(low: float, high: float, step: float, default: Any) -> list[float]:
    """Return limits and step for a slider that reaches round numbers, and its default if two more digits are enough.

    The engine rounds to the lower limit plus a multiple of the step. In pixels and degrees the limits and the step of
    metres and radians are not round.
    """
    shown = tuple(default) if isinstance(default, (Vector2, Vector3)) else (default,)
    most_digits = math.floor(math.log10(min(step, 1.0)) + SLACK)
    for digits in range(most_digits, most_digits - 3, -1):
        step = 10.0 ** digits
        if all(abs(number / step - round(number / step)) < SLACK for number in shown):
            break
    return [math.ceil(low / step - SLACK) * step, math.floor(high / step + SLACK) * step, step]


def is_always_flat(cls: type) -> bool:
    """Return whether every instance of a class is in 2D."""
    return getattr(cls, "is_flat", None) is True


def _shown_name(one: IntEnum) -> str:
    """Return the name of an enum member in the inspector: "Load balancing", "Navigation 3D"."""
    words = one.name.capitalize().split("_")
    return " ".join(word.upper() if word[0].isdigit() else word for word in words)


def _number_and_name(one: IntEnum) -> str:
    return f"{int(one)} ({one.name})"


class signal:  # noqa: N801
    """A signal with typed arguments: ``signal(("target", Node), ("strength", float), doc="…")``."""

    def __init__(self, *arguments: tuple[str, object], doc: str = "") -> None:
        self.arguments, self.doc = arguments, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = StringName(name)

    def __get__(self, instance: Any, owner: object = None) -> Any:
        return self if instance is None else BoundSignal(instance, self.name)

    def describe(self, class_name: str) -> dict[str, Any]:
        where = f"{class_name}.{self.name}"
        return {"name": str(self.name), "arguments": [describe(kind, name, where) for name, kind in self.arguments]}


class BoundSignal:
    """A signal of one object."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: StringName) -> None:
        self.owner, self.name = owner, name

    def emit(self, *arguments: object) -> None:
        self.owner.emit_signal(self.name, *arguments)

    def connect(self, callback: Callable[..., object], flags: int = 0) -> None:
        self.owner.connect(self.name, callback, flags)

    def disconnect(self, callback: Callable[..., object]) -> None:
        self.owner.call("disconnect", self.name, callback)

    def has_connections(self) -> bool:
        return has_listeners(self.owner, self.name)


def method(function: Any = None, *, to: str = "", after_error: str = "") -> Any:
    """Make a function callable from GDScript; its annotations are its signature.

    Args:
        to: a method of the node's library object, such as "core.grade", to which calls are passed on: the function
            has a docstring only, and no default values. Errors are raised as by ``refusing``. An attribute in place
            of a method is returned.
        after_error: the attribute of the node that a script receives after an error, for a method that returns
            Variant: null would end a caller that assigns it to a typed variable.
    """
    if function is None:
        return lambda function: method(function, to=to, after_error=after_error)
    if to:
        function = _passed_on(function, attrgetter(to))
    function.__after_error__ = after_error
    function.__is_engine_method__ = True
    return function


def _passed_on(function: Any, target: Callable[[Any], Any]) -> Any:
    @functools.wraps(function)
    def pass_on(self: Any, *values: Any) -> Any:
        try:
            found = target(self)
            return found(*values) if callable(found) else found
        except ERRORS_OF_VALUES as problem:
            raise RefusedValue(str(problem)) from None

    return pass_on


@contextmanager
def refusing() -> Iterator[None]:
    """Raise errors of the library about values as RefusedValue, whose report has no traceback.

    Also a decorator: ``@method`` above ``@refusing()``.
    """
    try:
        yield
    except ERRORS_OF_VALUES as problem:
        raise RefusedValue(str(problem)) from None


def editor_method(function: Any) -> Any:
    """Make a function callable from the editor's plugins; in games the engine does not know it."""
    function.__is_editor_method__ = True
    return function


class hook:  # noqa: N801
    """A virtual method: a script's override runs if there is one, else the Python body.

    A declared class overrides it by a method of the same name, which ``gdclass`` turns into a hook.
    """

    def __init__(self, function: Callable[..., Any], name: str = "") -> None:
        self.function, self.__doc__ = function, function.__doc__
        self.name = StringName(name)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = StringName(name)

    def __get__(self, instance: Any, owner: object = None) -> Any:
        if instance is None:
            return self
        return lambda *values: call_hook(instance, self.name, self.function, *values)


def node_path(*classes: str) -> tuple[int, str]:
    """Return the hint for a NodePath property that offers only nodes of some classes."""
    return HINT_NODE_PATH_TYPES, ",".join(classes)


class _HintOfMany(tuple[int, str]):
    """A hint that checks a list or dict, because the engine does not check values of scripts and scene files.

    Args:
        number: number of the hint.
        text: text of the hint.
        wrong_in: returns place, rule and value of the first invalid element; None if all are valid.
    """

    def __new__(
        cls, number: int, text: str, wrong_in: Callable[[Any], tuple[str, str, Any] | None],
    ) -> _HintOfMany:
        hint = super().__new__(cls, (number, text))
        hint.wrong_in = wrong_in
        return hint


def array_of(class_name: str) -> tuple[int, str]:
    """Return the hint for a list property that holds resources of a class; empty places are left to warnings."""
    def wrong_in(value: list[Any]) -> tuple[str, str, Any] | None:
        for place, one in enumerate(value):
            if one is not None and not (isinstance(one, GDObject) and one.is_class(class_name)):
                return f"[{place}]", f"a {class_name}", one
        return None

    return _HintOfMany(HINT_ARRAY_TYPE, f"{OBJECT}/{HINT_RESOURCE}:{class_name}", wrong_in)


def node_paths(*classes: str) -> tuple[int, str]:
    """Return the hint for a list property that holds paths of nodes of some classes."""
    def wrong_in(value: list[Any]) -> tuple[str, str, Any] | None:
        return next(((f"[{place}]", "a NodePath", one) for place, one in enumerate(value)
                     if not isinstance(one, (NodePath, str))), None)

    text = f"{TYPE_NUMBERS[NodePath]}/{HINT_NODE_PATH_TYPES}:{','.join(classes)}"
    return _HintOfMany(HINT_ARRAY_TYPE, text, wrong_in)


def dictionary_of(key: Any, value: Any) -> tuple[int, str]:
    """Return the hint for a dict property with keys and values of a type, such as str and float."""
    def wrong_in(entries: dict[Any, Any]) -> tuple[str, str, Any] | None:
        for name, one in entries.items():
            if not _is_a(name, key):
                return ": a key", f"a {_engine_name(key)}", name
            if not _is_a(one, value):
                return f"[{name!r}]", f"a {_engine_name(value)}", one
        return None

    return _HintOfMany(HINT_DICTIONARY_TYPE, f"{TYPE_NUMBERS[key]}/0:;{TYPE_NUMBERS[value]}/0:", wrong_in)


def _engine_name(kind: Any) -> str:
    return {str: "String", float: "finite number"}.get(kind) or str(kind.__name__)


def _is_a(value: Any, kind: Any) -> bool:
    if kind in (int, float):
        return isinstance(value, (int, kind)) and not isinstance(value, bool) and math.isfinite(value)
    if kind in (Vector2, Vector3):
        return isinstance(value, kind) and all(map(math.isfinite, value))
    return isinstance(value, (str, StringName) if kind is str else kind)
