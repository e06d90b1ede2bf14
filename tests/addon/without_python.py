"""A world in which no Python can be reached but one that a project brings along."""
from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.godot_engine import GodotEngine
from tools.packaging.ingredients import place
from tools.preparation import ROOT
from tools.processes import Finished, run

# Opening an editor on a busy machine; a hang is what it guards against.
LIMIT_S = 240.0


def can_hide() -> bool:
    """Return whether this user may give a program another view of the file system."""
    return shutil.which("unshare") is not None and run(["unshare", "--mount", "true"], timeout_s=10.0).succeeded


def run_without_python(
    engine: GodotEngine, project: Path, arguments: Sequence[str | Path], *, program: Path | None = None,
    display: str = "", limit_s: float = LIMIT_S,
) -> Finished:
    """Run Godot, or an exported game, with an empty PATH, none of our variables, and every Python hidden.

    Hidden are the Pythons of the machine, this repository's environment and library, and what packages are
    made of. Where the user may hide nothing, PATH and variables alone must do.

    Args:
        engine: the Godot to run.
        project: working folder.
        arguments: of the program.
        program: the exported game; the engine if None.
        display: a display to draw on; none if empty.
    """
    environment = {
        name: value for name, value in engine.environment().items() if name.startswith(("XDG_", "HOME", "LANG"))
    }
    environment |= {**dict(engine.drawing), "PATH": "/nowhere", "DISPLAY": display}
    command = [str(program), *map(str, arguments)] if program else engine.command(arguments)
    if can_hide():
        command = [shutil.which("unshare") or "", "--mount", "/bin/sh", "-c", _hiding(), "hidden", *command]
    return run(command, timeout_s=limit_s, env=environment, cwd=project)


def _hiding() -> str:
    """Return a shell script that hides all Pythons from what it then runs."""
    folders = [Path(sys.base_prefix) / "lib", ROOT / ".venv", ROOT / "ai_core"]
    folders += [place(ROOT), place(ROOT, is_small=True), *Path("/usr/lib").glob("python3*")]
    folders = [folder for folder in folders if folder.is_dir() and folder != Path("/usr/lib")]
    programs = [file for file in Path("/usr/bin").glob("python3*") if not file.is_symlink()]
    libraries = [file for file in Path("/usr/lib").glob("*/libpython3*") if not file.is_symlink()]
    lines = [f"/bin/mount -t tmpfs none '{folder}'" for folder in folders]
    lines += [f"/bin/mount --bind /dev/null '{file}'" for file in [*programs, *libraries]]
    return "\n".join(["set -e", *lines, 'exec "$@"'])
