"""Declared classes in the editor: they keep settings, show warnings and draw, and run nothing else.

The engine's own placeholders for runtime classes can neither show warnings nor hide a property. So in the editor a
runtime class is registered as a real class without notifications and ``on_set``. Its methods raise errors, except for
``_get_configuration_warnings``, which is the same as in games.
Rejected: drawing warnings in the inspector, which are not visible before the node is selected.
"""
from __future__ import annotations

import functools
from typing import Any

from _bridge import RefusedValue, Vector2, Vector3, singleton

from addons.ai_core.bridge.declarations import export, exports_of
from addons.ai_core.bridge.engine_types import TYPE_NUMBERS, PackedStringArray, describe

ALLOWED_VIRTUALS = {"_get_configuration_warnings"}
WARNINGS = "_get_warnings"
"""A method that exists in the editor only, for the plugin."""


@functools.cache
def is_in_editor() -> bool:
    """Return whether this process edits scenes; games started from the editor are processes of their own."""
    return bool(singleton("Engine").is_editor_hint())


def for_editor(declared: dict[str, Any]) -> dict[str, Any]:
    """Return the declaration for the editor of a class that runs only in games."""
    methods = [one if one["kind"] else _refusing(one) for one in declared["methods"]]
    if declared["parent"] == declared["native"]:         # else it is inherited
        methods += [
            {"name": WARNINGS, "kind": 0, "target": warnings_of, "arguments": [], "defaults": (),
             "where": f"{declared['name']}.{WARNINGS}", "result": describe(PackedStringArray, "", WARNINGS)},
        ]
    return {
        **declared,
        "is_runtime": False,
        "methods": [*methods, *declared["editor_methods"]],
        "virtuals": [one for one in declared["virtuals"] if one["name"] in ALLOWED_VIRTUALS],
        "notifications": [],
        "shown_as": shown_as,
        "reverts_to": reverts_to,
    }


def _refusing(method: dict[str, Any]) -> dict[str, Any]:
    def refuse(node: Any, *values: object) -> None:
        raise RefusedValue(
            f"{method['name']}() can be called in games only, not in the editor; test Engine.is_editor_hint() first")

    return {**method, "target": refuse}


def notify_editor(node: Any, changed: export) -> bool:
    """Update other properties, warnings and drawings in the editor after a new value.

    Returns whether the class runs in games only.
    """
    if changed.name == "dimensions" or changed.name in {
            one.shown_when[0] for one in exports_of(type(node)).values() if one.shown_when}:
        node.notify_property_list_changed()       # rebuilds the inspector, so not while a slider is dragged
    if node.is_class("Node"):
        node.update_configuration_warnings()
    if node.is_class("Node3D"):
        node.update_gizmos()
    return bool(type(node).__declared__["is_runtime"])


def shown_as(node: Any, name: str) -> str | bool | int | tuple[int]:
    """Return how the inspector shows a property.

    False: hidden, because it does not apply. True: as declared. Else the text of the hint of a length, the type of a
    point, or the number of another hint in a tuple.
    """
    exports = exports_of(type(node))
    if name not in exports:
        return True
    one = exports[name]
    if not _is_shown(node, one, exports):
        return False
    if one.hint_2d is not None and getattr(node, "is_flat", False):
        return (one.hint_2d,)
    if one.is_point:
        return TYPE_NUMBERS[Vector2 if getattr(node, "is_flat", False) else Vector3]
    return one.number_hint(is_flat=getattr(node, "is_flat", False)) if one.power else True


def reverts_to(node: Any, name: str) -> Any:
    """Return the default of a property, if it depends on the dimensions; None for others."""
    one = exports_of(type(node)).get(name)
    return one.default_of(node) if one is not None and one.has_flat_default else None


def warnings_of(node: Any) -> PackedStringArray:
    """Return the configuration warnings of a node; scripts cannot call the virtual method of the engine."""
    ask = getattr(node, "_get_configuration_warnings", None)
    return PackedStringArray([] if ask is None else ask())


def _is_shown(node: Any, one: export, exports: dict[str, export]) -> bool:
    if one.name in getattr(type(node), "NOT_SHOWN", ()):
        return False                 # inherited, and without effect in this class
    if not one.shown_when:
        return True
    name, *values = one.shown_when
    value = getattr(node, name)
    return (tuple(value) if isinstance(value, list) else value) in values and _is_shown(node, exports[name], exports)
