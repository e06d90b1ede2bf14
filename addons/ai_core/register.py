"""Start of the addon, at each load and reload by the engine: declares and registers the nodes."""
from __future__ import annotations

import importlib
import logging
import os
import sys
from types import ModuleType

LEVEL_SCENE, LEVEL_EDITOR = 2, 3

RELOADED = ("addons.ai_core.nodes", "addons.ai_core.bridge", "addons.ai_core.editor")
"""Beginnings of the names of modules whose edited sources a reload of the extension reads."""

GARBAGE_COLLECTING = "addons.ai_core.nodes.scheduling.garbage_collection"
REGISTRATION = "addons.ai_core.bridge.registration"

MODULES_SETTING = "ai_core/python_modules"
"""Project setting: names of a project's own modules that declare nodes in Python."""

MODULES_VARIABLE = "AI_CORE_MODULES"
"""Environment variable with more of them, separated by commas; for tests and tools."""

LOG = "ai_core"
"""Name of the log of the library."""


class EngineLog(logging.Handler):
    """Shows what the library logs as warnings and errors of the engine."""

    def emit(self, record: logging.LogRecord) -> None:
        """Report a record; an error has the traceback of its exception."""
        from _bridge import report_error, report_warning

        (report_error if record.levelno >= logging.ERROR else report_warning)(self.format(record))


def start(level: int) -> None:
    """Called by the bridge at each start level."""
    if level == LEVEL_SCENE:
        logging.getLogger(LOG).handlers[:] = [EngineLog(logging.WARNING)]
        _forget_old_code()
        _say_versions()
        _import_addon()
        garbage_collecting = importlib.import_module(GARBAGE_COLLECTING)
        garbage_collecting.begin()
        registration = importlib.import_module(REGISTRATION)
        registration.register_all()
        for name in _project_modules():
            _import_project_module(name)
        registration.register_all()
        garbage_collecting.freeze_loaded_objects()
    elif level == LEVEL_EDITOR:
        _load_documentation()


def stop(level: int) -> None:
    """Called by the bridge at each end level; classes are unregistered after this."""
    if level == LEVEL_SCENE:
        importlib.import_module(GARBAGE_COLLECTING).end()
        logging.getLogger(LOG).handlers.clear()


def problems_of_a_reload() -> list[str]:
    """Import the edited sources as a reload does, put the present modules back, and return why not to reload.

    The engine unloads all classes at a reload. Nodes of a class that does not come back become nodes of its engine
    base, without their settings, and the scene is saved like that.
    """
    present = _classes()
    old = _forget_old_code()
    try:
        return _problems_of_edited_code(present)
    finally:
        _forget_old_code()
        sys.modules.update(old)
        for name, module in old.items():
            package, _, child = name.rpartition(".")
            if package in sys.modules and package not in old:
                setattr(sys.modules[package], child, module)


def _problems_of_edited_code(present: dict[str, str]) -> list[str]:
    # present: names of the registered classes, and of their engine bases.
    from _bridge import report_exception, singleton

    try:
        _import_addon()
    except Exception as error:
        report_exception(error, "importing the edited ai_core")
        return ["ai_core cannot be imported (its error is above)"]
    failed = [name for name in _project_modules() if not _import_project_module(name)]
    if failed:
        return [f"{', '.join(map(repr, failed))} cannot be imported (the error is above); correct it and reload again"]
    edited = _classes()
    problems = [
        f"class {name} {f'extends {edited[name]} and no longer {base}' if name in edited else 'is gone'}, so that its"
        " nodes in open scenes would lose type and settings; use Project > Reload Current Project, which keeps them"
        for name, base in present.items() if edited.get(name) != base]
    taken = [name for name in edited if name not in present and singleton("ClassDB").class_exists(name)]
    return problems + [f"the engine has a class {name} already; give yours another name" for name in taken]


def _classes() -> dict[str, str]:
    declared = importlib.import_module(REGISTRATION).declared_classes
    return {cls.__name__: cls.__declared__["native"] for cls in declared}


def _say_versions() -> None:
    """Print the versions of Godot, Python and NumPy, and what Godot lacks, if it was started with ``--verbose``."""
    import numpy
    from _bridge import engine_lacks, engine_version, singleton

    if singleton("OS").is_stdout_verbose():
        engine = ".".join(map(str, engine_version))
        found = f"lacks {', '.join(engine_lacks)}" if engine_lacks else "has all that is needed"
        python = sys.version.partition(" ")[0]
        print(f"[ai_core] Godot {engine} {found}; Python {python}, NumPy {numpy.__version__}")


def _import_addon() -> None:
    importlib.import_module("addons.ai_core.bridge.engine_types").add_engine_members()
    importlib.import_module("addons.ai_core.nodes")
    if importlib.import_module("addons.ai_core.bridge.in_editor").is_in_editor():
        importlib.import_module("addons.ai_core.editor.game_files")
        importlib.import_module("addons.ai_core.editor.reloading")


def _forget_old_code() -> dict[str, ModuleType]:
    # After a reload edited sources are read again; the bridge itself and NumPy cannot be.
    packages = {name.partition(".")[0] for name in _project_modules()} - {"addons"}
    return {
        name: sys.modules.pop(name) for name in list(sys.modules)
        if name.partition(".")[0] in {"ai_core", *packages} or name.startswith(RELOADED)}


def _import_project_module(name: str) -> bool:
    # A mistake in one module of a project must not take the addon's nodes away.
    from _bridge import report_exception

    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as error:
        report_exception(error, f"importing '{name}', named in {MODULES_SETTING} or ${MODULES_VARIABLE},")
        return False
    return True


def _project_modules() -> list[str]:
    from _bridge import report_error, singleton

    named = list(filter(None, os.environ.get(MODULES_VARIABLE, "").split(",")))
    listed = singleton("ProjectSettings").get_setting(MODULES_SETTING, None) or []
    if isinstance(listed, str):
        report_error(f"the project setting {MODULES_SETTING} must be a PackedStringArray, got String {listed!r}")
        listed = []
    return [*listed, *named]


def _load_documentation() -> None:
    from _bridge import load_documentation

    from addons.ai_core.bridge.documentation import HEADER, class_xml
    from addons.ai_core.bridge.registration import declared_classes

    for cls in declared_classes:
        load_documentation(HEADER + class_xml(cls))
