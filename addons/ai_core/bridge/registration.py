"""Turn a declared Python class into a class of the engine."""
from __future__ import annotations

import inspect
import re
from enum import IntEnum
from typing import Any

import _bridge

from addons.ai_core.bridge.declarations import export, exports_of, hook, is_always_flat, signal
from addons.ai_core.bridge.engine_types import TYPE_NUMBERS, PackedStringArray, describe
from addons.ai_core.bridge.in_editor import for_editor, is_in_editor, notify_editor
from addons.ai_core.bridge.notified import BRANCH_PART, NOTIFICATIONS, notification_part

FUNCTION, GETTER, SETTER = 0, 1, 2

VIRTUALS: dict[str, tuple[tuple[int, ...], int]] = {
    "_ready": ((), -1),
    "_process": ((3,), -1),
    "_physics_process": ((3,), -1),
    "_enter_tree": ((), -1),
    "_exit_tree": ((), -1),
    "_input": ((24,), -1),
    "_unhandled_input": ((24,), -1),
    "_get_configuration_warnings": ((), TYPE_NUMBERS[PackedStringArray]),
}
"""Engine virtuals: argument types and result type (-1 for none)."""

EVERY_FRAME = {"_process", "_physics_process", "on_process", "on_physics_process"}

LAST_GROUPS = ("Optimizations", "Debug")
"""Groups of the inspector that come after all others, in this order."""

declared_classes: list[type] = []
"""Every declared class, parents before children, because Python defines them in that order."""


def gdclass(cls: type | None = None, *, icon: str = "", keywords: str = "", is_runtime: bool = True) -> Any:
    """Declare a class of the engine; ``register_all`` registers it with the engine.

    Args:
        icon: res:// path of a 16 px SVG.
        keywords: other names by which the editor's Create New Node dialog and help find the class, separated by commas.
        is_runtime: in the editor the class shows properties and configuration warnings only.

    Raises:
        TypeError: if the class has no engine base, an annotation has no engine type, or ``shown_when`` of a property
            is invalid.
    """
    if cls is None:
        return lambda cls: gdclass(cls, icon=icon, keywords=keywords, is_runtime=is_runtime)
    bases = [base for base in cls.__mro__[1:] if "__engine_class__" in base.__dict__]
    if not bases:
        raise TypeError(f"{cls.__name__} needs a base such as Node, Node3D or Resource from addons.ai_core.bridge.gd")
    native = next(base for base in bases if "__declared__" not in base.__dict__)
    name = cls.__name__
    cls.__engine_class__ = name  # type: ignore[attr-defined]
    cls.__declared__ = {  # type: ignore[attr-defined]
        "cls": cls, "name": name, "icon": icon, "keywords": keywords, "is_runtime": is_runtime,
        "parent": bases[0].__dict__["__engine_class__"], "native": native.__dict__["__engine_class__"],
        "methods": [*_accessors(cls), *_methods(cls, "__is_engine_method__")],
        "editor_methods": _methods(cls, "__is_editor_method__"),
        "hooks": [_signature(one.function, str(one.name), name) for one in _own(cls, hook)],
        "properties": _properties(cls),
        "varying": _varying(cls),
        "signals": [one.describe(name) for one in _own(cls, signal)],
        "signal_names": sorted({str(one.name) for base in cls.__mro__ for one in vars(base).values()
                                if isinstance(one, signal)}),
        "constants": _constants(cls),
        "virtuals": _virtuals(cls),
        "notifications": _notifications(cls),
    }
    _check_names(cls)
    _override_hooks(cls)
    cls.new = classmethod(lambda made: _bridge.construct(made.__engine_class__))  # type: ignore[attr-defined]
    declared_classes.append(cls)
    return cls


def register(cls: type) -> None:
    """Register one declared class with the engine.

    Raises:
        TypeError: if the engine has a class of this name already.
    """
    if _bridge.singleton("ClassDB").class_exists(cls.__name__):
        raise TypeError(f"the engine has a class {cls.__name__} already; give yours another name")
    declared: dict[str, Any] = cls.__declared__  # type: ignore[attr-defined]
    if declared["is_runtime"] and is_in_editor():
        export.on_edit, declared = staticmethod(notify_editor), for_editor(declared)
    _bridge.register_class(declared)


def register_all() -> None:
    """Register every declared class that is not registered yet, parents first."""
    known = set(_bridge.registered_classes())
    for cls in declared_classes:
        if cls.__name__ not in known:
            register(cls)


def declared_by(cls: type) -> dict[str, Any]:
    """Return the declarations of a class and of its plain bases, without those of its engine base."""
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        if base is not cls and "__engine_class__" in base.__dict__:
            break
        found = {**found, **{name: value for name, value in base.__dict__.items() if name not in found}}
    return found


def _own(cls: type, kind: type) -> list[Any]:
    return [value for value in declared_by(cls).values() if isinstance(value, kind)]


def _properties(cls: type) -> list[dict[str, Any]]:
    """Return its properties group by group, as the inspector shows them; each group once.

    A group ends with the class body in which it began: properties of a plain base are in no group until it names
    one. Properties without a group come first, the groups of LAST_GROUPS come last.
    """
    groups: dict[str, list[export]] = {"": []}
    wanted = {id(one) for one in _own(cls, export)}
    for base in cls.__mro__:
        group = ""
        for one in base.__dict__.values():
            if isinstance(one, export):
                group = group if one.group is None else one.group
                if id(one) in wanted:
                    groups.setdefault(group, []).append(one)
    names = [one for one in groups if one not in LAST_GROUPS] + [one for one in LAST_GROUPS if one in groups]
    found = []
    for name in names:
        described = [one.describe(cls.__name__, is_flat=is_always_flat(cls)) for one in groups[name]]
        for number, one in enumerate(described):
            one.pop("group", None)
            if name and not number:
                one["group"] = name
        found += described
    return found


def _varying(cls: type) -> dict[str, str]:
    """Return the slots of the properties, by name, whose default depends on the dimension of the instance."""
    if isinstance(getattr(cls, "is_flat", False), bool):
        return {}
    return {name: one.slot for name, one in exports_of(cls).items() if one.has_flat_default}


def _check_names(cls: type) -> None:
    declared: dict[str, Any] = cls.__declared__  # type: ignore[attr-defined]
    names = [one["name"] for part in ("methods", "hooks", "signals") for one in declared[part]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TypeError(
            f"{cls.__name__} declares {', '.join(twice)} twice (a property x brings get_x and set_x); rename one")
    for one in _own(cls, export):
        if one.shown_when:
            one.check_shown_when(cls.__name__, exports_of(cls).get(one.shown_when[0]))


def _override_hooks(cls: type) -> None:
    """Make methods that override hooks of bases hooks, which a script may override, and note their names."""
    bases = [vars(base) for base in cls.__mro__ if "__declared__" in vars(base) and base is not cls]
    names = {name for base in bases for name, one in base.items() if isinstance(one, hook)}
    overrides = {name: one for name, one in declared_by(cls).items()
                 if name in names and callable(one) and not isinstance(one, hook)}
    for name, function in overrides.items():
        setattr(cls, name, hook(function, name))
    inherited = bases[0].get("overridden_hooks", frozenset()) if bases else frozenset()
    cls.overridden_hooks = inherited.union(overrides)  # type: ignore[attr-defined]


def _accessors(cls: type) -> list[dict[str, Any]]:
    made = []
    for one in _own(cls, export):
        slot = describe(one.type, "value", f"{cls.__name__}.{one.name}")
        shared = {"target": one.name, "defaults": (), "where": f"{cls.__name__}.{one.name}"}
        made.append({**shared, "name": f"get_{one.name}", "kind": GETTER, "arguments": [], "result": slot})
        made.append({**shared, "name": f"set_{one.name}", "kind": SETTER, "arguments": [slot], "result": None})
    return made


def _methods(cls: type, mark: str) -> list[dict[str, Any]]:
    return [
        {**_signature(value, name, cls.__name__), "kind": FUNCTION, "target": value}
        for name, value in declared_by(cls).items()
        if getattr(value, mark, False)
    ]


def _signature(function: Any, name: str, class_name: str) -> dict[str, Any]:
    where = f"{class_name}.{name}"
    signature = inspect.signature(function, eval_str=True)
    parameters = list(signature.parameters.values())[1:]
    for one in parameters:
        if one.kind is not one.POSITIONAL_OR_KEYWORD:
            raise TypeError(f"{where}: {one} cannot be passed from the engine; use plain parameters")
    returned = signature.return_annotation
    return {
        "name": name,
        "where": where,
        "arguments": [describe(one.annotation, one.name, where) for one in parameters],
        "defaults": tuple(one.default for one in parameters if one.default is not one.empty),
        "result": None if returned is None else describe(returned, "", where),
    }


def _constants(cls: type) -> list[tuple[str, str, int]]:
    found = []
    for value in declared_by(cls).values():
        if isinstance(value, type) and issubclass(value, IntEnum):
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", value.__name__).upper()  # as the engine's: KEEP_CLEAR_NOTHING
            found += [(value.__name__, f"{words}_{one.name}", int(one)) for one in value]
    return found


def _virtuals(cls: type) -> list[dict[str, Any]]:
    # With those of bases: the engine calls those of the most derived class only.
    return [
        {"name": name, "function": getattr(cls, name), "where": f"{cls.__name__}.{name}",
         "types": types, "result": result, "once": name in EVERY_FRAME}
        for name, (types, result) in VIRTUALS.items()
        if callable(getattr(cls, name, None))
    ]


def _notifications(cls: type) -> list[tuple[int, Any, str, bool, int]]:
    parts = ((name, what, notification_part(cls, name)) for name, what in NOTIFICATIONS.items())
    return [
        (what, part, f"{cls.__name__}.{name}", name in EVERY_FRAME, getattr(part, BRANCH_PART, 0))
        for name, what, part in parts if part is not None]
