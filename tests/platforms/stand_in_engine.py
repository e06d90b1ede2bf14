"""What a stand-in for Godot answers about the engine: from the engine's own description of its classes.

Put on ``sys.path`` beside ``extension_api.json``; ``install()`` gives its singletons to the bridge.
"""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class ClassDB:
    """The classes of the description; those registered since are not known to it."""

    def __init__(self, api: dict[str, Any]) -> None:
        self.classes = {one["name"]: one for one in api["classes"]}

    def class_get_property_list(self, name: str, own: bool) -> list[dict[str, str]]:
        return self.classes[name].get("properties", [])

    def class_get_method_list(self, name: str, own: bool) -> list[dict[str, str]]:
        return self.classes[name].get("methods", [])

    def class_get_signal_list(self, name: str, own: bool) -> list[dict[str, str]]:
        return self.classes[name].get("signals", [])

    def class_get_integer_constant_list(self, name: str, own: bool) -> list[str]:
        return [one["name"] for one in self._constants(name)]

    def class_get_integer_constant(self, name: str, constant: str) -> int:
        return next(one["value"] for one in self._constants(name) if one["name"] == constant)

    def get_parent_class(self, name: str) -> str:
        return self.classes[name].get("inherits", "")

    def is_parent_class(self, name: str, root: str) -> bool:
        while name in self.classes and name != root:
            name = self.get_parent_class(name)
        return name == root

    def class_exists(self, name: str) -> bool:
        return name in self.classes

    def can_instantiate(self, name: str) -> bool:
        return bool(self.classes[name]["is_instantiable"])

    def _constants(self, name: str) -> list[dict[str, Any]]:
        of_enums = [value for enum in self.classes[name].get("enums", []) for value in enum["values"]]
        return [*self.classes[name].get("constants", []), *of_enums]


class OS:
    """The singleton that says how much is printed."""

    def is_stdout_verbose(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return lambda *values: None


class Silent:
    """A singleton that does nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *values: None


def install() -> None:
    """Let the bridge's ``singleton`` give these."""
    import _bridge

    class_db = ClassDB(json.loads(Path(__file__).with_name("extension_api.json").read_text(encoding="utf-8")))
    known = {"ClassDB": class_db, "OS": OS()}
    _bridge.singleton = lambda name: known.get(name) or Silent()
