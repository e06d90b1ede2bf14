"""What runs when the engine loads or reloads the addon: declare the nodes, register them."""
from __future__ import annotations

import importlib
import os
import sys

LEVEL_SCENE, LEVEL_EDITOR = 2, 3

MODULES_SETTING = "ai_core/python_modules"
"""Project setting: names of a project's own modules that declare nodes in Python."""

MODULES_VARIABLE = "AI_CORE_MODULES"
"""Environment variable with more of them, separated by commas; for tests and tools."""


def start(level: int) -> None:
    """Called by the bridge at each start level."""
    if level == LEVEL_SCENE:
        _forget_old_code()
        importlib.import_module("addons.ai_core.bridge.engine_types").add_engine_members()
        importlib.import_module("addons.ai_core.nodes")
        registration = importlib.import_module("addons.ai_core.bridge.registration")
        registration.register_all()
        for name in _project_modules():
            importlib.import_module(name)
        registration.register_all()
    elif level == LEVEL_EDITOR:
        _load_documentation()


def stop(level: int) -> None:
    """Called by the bridge at each end level; classes are unregistered after this."""


def _forget_old_code() -> None:
    # After a reload edited sources are read again; the bridge itself and NumPy cannot be.
    for name in list(sys.modules):
        if name.startswith(("addons.ai_core.nodes", "addons.ai_core.bridge", "ai_core.")) or name == "ai_core":
            del sys.modules[name]


def _project_modules() -> list[str]:
    from _bridge import singleton

    settings = singleton("ProjectSettings")
    named = os.environ.get(MODULES_VARIABLE, "").split(",")
    return [*settings.get_setting(MODULES_SETTING, []), *filter(None, named)]


def _load_documentation() -> None:
    from _bridge import load_documentation

    from addons.ai_core.bridge.documentation import class_xml
    from addons.ai_core.bridge.registration import declared_classes

    for cls in declared_classes:
        load_documentation('<?xml version="1.0" encoding="UTF-8" ?>' + class_xml(cls))
