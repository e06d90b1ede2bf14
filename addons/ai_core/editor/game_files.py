"""The files that Python reads in an exported game: gathered in the editor, copied by the export plugin."""
from __future__ import annotations

import os
import py_compile
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from addons.ai_core.bridge.gd import PackedStringArray, RefCounted, gdclass, method, singleton

ADDON = Path("addons") / "ai_core"
OF_THE_ADDON = ("bridge", "nodes", "python", "register.py")
EDITOR_ONLY = {ADDON / "bridge" / "documentation.py"}
NEVER = {"__pycache__", "addons"}
LIBRARIES = {".so", ".pyd"}


@gdclass(is_runtime=False)
class AIGameFiles(RefCounted):
    """Gathers the files that Python reads in an exported game; the export plugin calls it."""

    @method
    def gather(
        self, target: str, platform: str, strip_documentation: bool, strip_editor_parts: bool,
        leave_out: PackedStringArray,
    ) -> str:
        """Copy all Python of the addon and of the project into a folder, as a game needs it.

        With ``strip_documentation`` modules are compiled, without their documentation and asserts, and their
        sources are left out, unless the platform's Python has another version than the editor's and could not
        read them. Folders of the project named in ``leave_out`` are skipped. Returns the error, or an empty text.
        """
        project, to = Path(singleton("ProjectSettings").globalize_path("res://")), Path(target)
        zipped = version_of_private_python(project / ADDON / "runtime" / platform)
        strip_documentation = strip_documentation and zipped == f"{sys.version_info[0]}{sys.version_info[1]}"
        try:
            left_out = EDITOR_ONLY if strip_editor_parts else set()
            for name in modules_of_addon(project):
                if name not in left_out:
                    put(project / name, to / name, name, strip_documentation)
                    if not strip_documentation:
                        put_bytecode(project / name, to / name, zipped)
            for name in modules_of_project(project, set(leave_out)):
                put(project / name, to / name, name, strip_documentation)
            for library in libraries_of_platform(project / ADDON / "bin" / platform):
                put(library, to / library.relative_to(project), library, strip_documentation)
            shutil.copytree(project / ADDON / "licenses", to / ADDON / "licenses", dirs_exist_ok=True)
        except (OSError, py_compile.PyCompileError) as error:
            return str(error)
        return ""


def version_of_private_python(runtime: Path) -> str:
    """Return the version in the name of its standard library's zip, such as "312"; empty without one."""
    return next((file.stem.removeprefix("python") for file in runtime.rglob("python3*.zip")), "")


def put_bytecode(source: Path, target: Path, version: str) -> None:
    """Copy the compiled form of a module from the zip, so that a game does not compile it at each start."""
    name = Path("__pycache__") / f"{source.stem}.cpython-{version}.pyc"
    if source.suffix == ".py" and (source.parent / name).is_file():
        (target.parent / name.parent).mkdir(exist_ok=True)
        shutil.copy(source.parent / name, target.parent / name)


def modules_of_addon(project: Path) -> Iterator[Path]:
    """Yield modules and kernels of the addon, relative to the project."""
    for part in OF_THE_ADDON:
        place = project / ADDON / part
        for file in [place] if place.is_file() else sorted(place.rglob("*")):
            if file.suffix in {".py", *LIBRARIES}:
                yield file.relative_to(project)


def libraries_of_platform(folder: Path) -> Iterator[Path]:
    """Yield the bridge and the compiled loops of a platform; Godot itself carries the loader."""
    for file in sorted(folder.rglob("*")):
        if file.suffix in LIBRARIES and "ai_core_loader" not in file.name:
            yield file


def modules_of_project(project: Path, leave_out: set[str]) -> Iterator[Path]:
    """Yield the project's own modules, except in hidden folders, in folders with a .gdignore, and in ``leave_out``."""
    for here, folders, files in os.walk(project):
        if ".gdignore" in files and Path(here) != project:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name not in NEVER | leave_out and not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".py"):
                yield (Path(here) / name).relative_to(project)


def put(source: Path, target: Path, name: Path, is_compiled: bool) -> None:
    """Copy a file; with ``is_compiled`` a module is compiled and its source is left out."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if is_compiled and source.suffix == ".py":
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(
            str(source), str(target.with_suffix(".pyc")), name.as_posix(), doraise=True, optimize=2,
            invalidation_mode=mode,
        )
    else:
        shutil.copy(source, target)
