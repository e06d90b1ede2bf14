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
            _import_project_module(name)
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


def _import_project_module(name: str) -> None:
    # A mistake in one module of a project must not take the addon's nodes away.
    from _bridge import report_exception

    try:
        importlib.import_module(name)
    except Exception as error:
        report_exception(error, f"importing '{name}', named in {MODULES_SETTING} or ${MODULES_VARIABLE},")


def _project_modules() -> list[str]:
    from _bridge import report_error, singleton

    named = list(filter(None, os.environ.get(MODULES_VARIABLE, "").split(",")))
    listed = singleton("ProjectSettings").get_setting(MODULES_SETTING, [])
    if isinstance(listed, str):
        report_error(f"the project setting {MODULES_SETTING} must be a PackedStringArray, got String {listed!r}")
        listed = []
    return [*listed, *named]


def _load_documentation() -> None:
    from _bridge import load_documentation

    from addons.ai_core.bridge.documentation import class_xml
    from addons.ai_core.bridge.registration import declared_classes

    for cls in declared_classes:
        load_documentation('<?xml version="1.0" encoding="UTF-8" ?>' + class_xml(cls))
