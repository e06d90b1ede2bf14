"""zig, a C compiler for every platform in one package: fetched into the cache when it is first needed."""
from __future__ import annotations

import os
from pathlib import Path

from tools.cache_folder import cache_folder, fill_whole, is_whole
from tools.processes import check, run
from tools.progress import step

VERSION = "0.17.1"
"""Of the package ``ziglang``; another one may compile other bits."""

_DOWNLOAD_LIMIT_S = 1200.0  # 100 MB


def zig_folder() -> Path:
    """Return where the package lies or would lie."""
    return cache_folder() / f"zig_{VERSION}"


def is_there() -> bool:
    """Return whether zig is in the cache."""
    return is_whole(zig_folder())


def ensure_zig(python: Path) -> Path:
    """Return the program ``zig``, fetched with the pip of ``python`` if it is not in the cache.

    Raises:
        StepFailed: if it cannot be had.
    """
    folder = zig_folder()
    if not is_whole(folder):
        with step(f"fetching zig {VERSION} into {folder}"):
            fill_whole(folder, lambda part: _fill(part, python))
    return folder / "ziglang" / ("zig.exe" if os.name == "nt" else "zig")


def _fill(part: Path, python: Path) -> dict[str, object]:
    command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--no-compile",
               "--target", part, f"ziglang=={VERSION}"]
    finished = run(command, timeout_s=_DOWNLOAD_LIMIT_S)
    check("fetching zig", "check the network and pip's set-up, then try again", finished)
    return {"packages": [f"ziglang-{VERSION}"]}
