"""Text files by the engine's paths: res:// in an exported game, too, and user://."""
from __future__ import annotations

from addons.ai_core.bridge.gd import singleton

WRITE = 2


def read_text(path: str) -> str | None:
    """Return what is in a file, None if there is no file."""
    classes = singleton("ClassDB")
    if not classes.class_call_static("FileAccess", "file_exists", path):
        return None
    return str(classes.class_call_static("FileAccess", "get_file_as_string", path))


def write_text(path: str, text: str) -> bool:
    """Write a file anew; returns whether it could be."""
    file = singleton("ClassDB").class_call_static("FileAccess", "open", path, WRITE)
    if file is None:
        return False
    is_written = bool(file.store_string(text))
    file.close()
    return is_written
