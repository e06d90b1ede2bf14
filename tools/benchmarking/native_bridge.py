"""The bridge built for this machine's Python alone, beside the one that is shipped."""
from __future__ import annotations

import os
import shutil
from pathlib import Path

from tools.build_bridge import platform_name
from tools.preparation import Prepared
from tools.processes import check, run

_BUILD_LIMIT_S = 900.0


def build(prepared: Prepared, folder: Path) -> Path:
    """Build it from a copy of the sources, so that the repository keeps the shipped one.

    Args:
        prepared: the repository, with Godot, and a Python that has Cython.
        folder: an empty one to build in.

    Returns:
        The folder of the libraries.

    Raises:
        StepFailed: if it cannot be built.
    """
    sources = Path("addons") / "ai_core" / "bridge"
    shutil.copytree(prepared.root / sources, folder / sources)
    shutil.copytree(prepared.root / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    # Headers that were fetched lie where the compiler does not look by itself.
    headers = ":".join(str(path) for path in prepared.library.include_dirs)
    finished = run(
        [prepared.python, folder / "tools" / "build_bridge.py", "--native",
         "--python", prepared.python, "--godot", prepared.engine.program],
        timeout_s=_BUILD_LIMIT_S, cwd=folder, env={**os.environ, "CPATH": headers},
    )
    check("building the bridge for this Python alone", "read the compiler's output above", finished)
    return folder / "addons" / "ai_core" / "bin" / platform_name()
