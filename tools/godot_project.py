"""What a Godot project needs before Godot may be started on it with our extension."""
from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

from tools.engine_output import complaints
from tools.godot_engine import GodotEngine
from tools.progress import StepFailed, step

EXTENSION = "res://addons/ai_core/ai_core.gdextension"
PLUGIN = "res://addons/ai_core/plugin.cfg"
_ENABLED = re.compile(r"^enabled=PackedStringArray\((.*)\)$", re.MULTILINE)
# Files whose coming, going or changing Godot must learn of by an import.
_IMPORTED_KINDS = {
    ".gd", ".gdextension", ".gdshader", ".glb", ".godot", ".obj", ".ogg", ".png", ".svg", ".tres", ".wav",
}
# A first import of a small project takes 3 s here; slow machines and large projects more.
_IMPORT_LIMIT_S = 300.0


def extension_list(project: Path) -> Path:
    """Return where Godot keeps the list of a project's extensions."""
    return project / ".godot" / "extension_list.cfg"


def list_extension(project: Path) -> None:
    """Write our extension into the project's list, keeping what it lists already.

    Without the list a first headless import of any extension aborts (a bug of the engine).
    """
    file = extension_list(project)
    listed = file.read_text().split() if file.is_file() else []
    if EXTENSION not in listed:
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join([*listed, EXTENSION]) + "\n")


def unlist_extension(project: Path) -> None:
    """Take our extension out of the project's list; the rest of the list stays."""
    file = extension_list(project)
    if not file.is_file():
        return
    others = [line for line in file.read_text().split() if line != EXTENSION]
    if others:
        file.write_text("\n".join(others) + "\n")
    else:
        file.unlink()
        if not any(file.parent.iterdir()):
            file.parent.rmdir()


def enable_plugin(project: Path) -> None:
    """Enable our plugin in project.godot, as the editor's Plugins tab does; the rest of the file stays."""
    _set_plugins(project, lambda plugins: plugins if PLUGIN in plugins else [*plugins, PLUGIN])


def disable_plugin(project: Path) -> None:
    """Disable our plugin in project.godot; the rest of the file stays."""
    _set_plugins(project, lambda plugins: [one for one in plugins if one != PLUGIN])


def _set_plugins(project: Path, change: Callable[[list[str]], list[str]]) -> None:
    file = project / "project.godot"
    text = file.read_text(encoding="utf-8")
    found = _ENABLED.search(text)
    before = re.findall(r'"([^"]*)"', found.group(1)) if found else []
    after = change(before)
    if after == before:
        return
    quoted = ", ".join(f'"{one}"' for one in after)
    line = f"enabled=PackedStringArray({quoted})"
    if not found:
        text = f"{text.rstrip()}\n\n[editor_plugins]\n\n{line}\n"
    elif after:
        text = text[: found.start()] + line + text[found.end():]
    else:
        section = re.compile(r"\n*\[editor_plugins\]\n+" + re.escape(found.group(0)) + r"\n*")
        text = section.sub("\n\n", text).rstrip() + "\n"
    file.write_text(text, encoding="utf-8")


def hide_from_godot(project: Path, folder: Path) -> None:
    """Keep Godot from importing what tools put into a folder of the project; of no effect elsewhere."""
    if folder.absolute().is_relative_to(project):
        top = project / folder.absolute().relative_to(project).parts[0]
        top.mkdir(exist_ok=True)
        (top / ".gdignore").touch()


def prepare_project(engine: GodotEngine, project: Path) -> None:
    """List the extension and import the project if anything to import has changed.

    Raises:
        StepFailed: if the import fails or complains.
    """
    list_extension(project)
    stamp = project / ".godot" / "ai_core_imported"
    digest = import_digest(project)
    if stamp.is_file() and stamp.read_text() == digest:
        return
    with step(f"importing {project.name} into Godot") as progress:
        finished = engine.run(
            ["--headless", "--path", project, "--import"], _IMPORT_LIMIT_S, on_line=progress.note
        )
    found = complaints(finished.output)
    if found or not finished.succeeded:
        raise StepFailed(
            f"importing {project}", "\n".join(found) or finished.explain(),
            "put right what Godot complains about, then run the command again",
        )
    # Importing writes files of its own, such as .uid files; they are part of the state reached.
    stamp.write_text(import_digest(project))


def import_digest(project: Path) -> str:
    """Return a hash over name, size and time of all files that Godot would import."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(project):
        here = Path(folder)
        if ".gdignore" in files:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if Path(name).suffix in _IMPORTED_KINDS:
                state = (here / name).stat()
                digest.update(f"{here / name}|{state.st_size}|{state.st_mtime_ns}\n".encode())
    return digest.hexdigest()
