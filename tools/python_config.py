"""The file that tells the loader which Python to start: ``addons/ai_core/bin/python.cfg``.

Lines of ``key=value``. What else the loader reads from it, and where it looks when the
file is not there, stands in ``addons/ai_core/bridge/loader_search.c``.
"""
from __future__ import annotations

from pathlib import Path


def config_file(addon: Path) -> Path:
    """Return where the loader looks for it in an addon folder."""
    return addon / "bin" / "python.cfg"


def config_text(libpython: Path, program: Path) -> str:
    """Return the file's text.

    Args:
        libpython: shared library of the Python to start.
        program: the environment's bin/python, which says where its packages are.

    Raises:
        ValueError: if a path holds a line break, which the format cannot say.
    """
    for path in (libpython, program):
        if "\n" in str(path):
            raise ValueError(f"a path in python.cfg must be one line, got {str(path)!r}; rename the folder")
    return f"libpython={libpython}\nprogram={program}\n"


def write_config(addon: Path, text: str) -> None:
    """Write the file if it says something else, so that unchanged means untouched."""
    file = config_file(addon)
    if file.is_file() and file.read_text() == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
