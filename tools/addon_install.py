"""Putting the addon into another Godot project, and taking it out again."""
from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from tools.godot_project import disable_plugin, enable_plugin, list_extension, unlist_extension
from tools.progress import StepFailed
from tools.python_config import config_file, write_config
from tools.targets import TARGETS, host

# What was put in, so that no more is taken out. Lies in the addon's folder.
_RECORD = "installed_files.json"
# Made while building or running; of no use elsewhere.
_LEFT_OUT = {"__pycache__", "build", ".gitignore", _RECORD}


def install(root: Path, project: Path, python_settings: str) -> int:
    """Copy addon, bridge and ai_core into ``project`` so that it runs on this machine; enable the plugin.

    Installing over an earlier installation leaves nothing of it behind.

    Args:
        root: this repository, with the bridge built.
        project: folder of a Godot project.
        python_settings: text of the python.cfg that fits this machine.

    Returns:
        The number of files put in.

    Raises:
        StepFailed: if ``project`` is no Godot project, is this repository, or holds an
            addon of this name that was not put there by ``install``.
    """
    refuse_bad_project(root, project)
    addon = project / "addons" / "ai_core"
    if addon.exists() and not (addon / _RECORD).is_file():
        raise StepFailed(
            f"installing into {project}", f"{addon} is there already, and was not put there by this command",
            "move it away, then try again",
        )
    if addon.exists():
        remove(root, project)
    made_addons = not addon.parent.exists()
    others = {name for name in TARGETS if name != host().name}
    copies = [
        (file, addon / name) for file, name in files_of(root / "addons" / "ai_core") if not others & set(name.parts)]
    copies += [(file, addon / "python" / "ai_core" / name) for file, name in files_of(root / "ai_core")]
    for source, target in copies:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    write_config(addon, python_settings)
    put_in = {target.relative_to(addon).as_posix() for _, target in copies}
    put_in.add(config_file(addon).relative_to(addon).as_posix())
    record = {"made_addons_folder": made_addons, "files": sorted(put_in)}
    (addon / _RECORD).write_text(json.dumps(record, indent=1) + "\n")
    list_extension(project)
    enable_plugin(project)
    return len(put_in)


def remove(root: Path, project: Path) -> int:
    """Take out what ``install`` put in, and nothing else; return the number of files.

    Files that Python or Godot derived from ours (bytecode, .uid, .import) go with them.

    Raises:
        StepFailed: if ``project`` is no Godot project or nothing was installed there.
    """
    refuse_bad_project(root, project)
    addon = project / "addons" / "ai_core"
    if not (addon / _RECORD).is_file():
        raise StepFailed(
            f"removing the addon from {project}", f"{addon} was not put there by this command",
            "remove the folder yourself if you put it there",
        )
    record = json.loads((addon / _RECORD).read_text())
    for name in record["files"]:
        file = addon / name
        for derived in (file, *(file.with_name(file.name + ending) for ending in (".uid", ".import"))):
            derived.unlink(missing_ok=True)
        if file.suffix == ".py":
            for bytecode in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
                bytecode.unlink()
    (addon / _RECORD).unlink()
    _remove_empty_folders(addon)
    if record["made_addons_folder"] and not any(addon.parent.iterdir()):
        addon.parent.rmdir()
    unlist_extension(project)
    disable_plugin(project)
    return len(record["files"])


def refuse_bad_project(root: Path, project: Path) -> None:
    """Raise StepFailed if ``project`` is no Godot project, or is this repository."""
    if not (project / "project.godot").is_file():
        raise StepFailed(
            f"looking at {project}", "there is no project.godot in it",
            "name the folder of a Godot project, the one that holds project.godot",
        )
    if project.resolve() == root.resolve():
        raise StepFailed(
            f"looking at {project}", "this is the addon's own repository", "name another project"
        )


def files_of(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Give each file worth copying with its name relative to ``folder``, in order of names."""
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        if file.is_file() and not _LEFT_OUT.intersection(name.parts) and name.suffix != ".pyc":
            yield file, name


def _remove_empty_folders(folder: Path) -> None:
    for inner in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        if not any(inner.iterdir()):
            inner.rmdir()
    if not any(folder.iterdir()):
        folder.rmdir()
