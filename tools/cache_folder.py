"""Where downloaded and derived things live outside the repository, and how they get there whole."""
from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

# The file whose presence says that a folder in the cache is whole.
_STAMP = ".whole"
# Age (s) at which a part is taken for the remains of a run that was killed. Shorter than
# a slow download would take the folder from under a run that is still at work.
_ABANDONED_AFTER_S = 6 * 3600.0


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return $AI_CORE_CACHE, or ai_core in $XDG_CACHE_HOME, or ~/.cache/ai_core."""
    if own := environment.get("AI_CORE_CACHE"):
        return Path(own).expanduser().absolute()
    if shared := environment.get("XDG_CACHE_HOME"):
        return Path(shared).expanduser().absolute() / "ai_core"
    return Path.home() / ".cache" / "ai_core"


def is_whole(folder: Path) -> bool:
    """Return whether ``folder`` was filled to its end."""
    return (folder / _STAMP).is_file()


def contents_note(folder: Path) -> dict[str, object]:
    """Return what was noted about a whole folder when it was filled."""
    note = json.loads((folder / _STAMP).read_text())
    assert isinstance(note, dict)
    return note


def fill_whole(folder: Path, fill: Callable[[Path], dict[str, object]]) -> None:
    """Make ``folder`` by filling another one and renaming it, so that a part never counts as whole.

    Args:
        folder: the folder wanted; an earlier partial one is replaced.
        fill: puts the contents into the folder it is given and returns a note about them.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned_parts(folder)
    part = Path(tempfile.mkdtemp(prefix=f"{folder.name}.part.", dir=folder.parent))
    try:
        part.chmod(0o755)
        note = fill(part)
        (part / _STAMP).write_text(json.dumps(note, indent=1))
        if is_whole(folder):
            return  # another run was quicker; theirs is as good
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _remove_abandoned_parts(folder: Path) -> None:
    for part in folder.parent.glob(f"{folder.name}.part.*"):
        if time.time() - part.stat().st_mtime > _ABANDONED_AFTER_S:
            shutil.rmtree(part, ignore_errors=True)
