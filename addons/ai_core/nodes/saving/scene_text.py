"""Text files by engine paths: user://, and res://, also in an exported game."""
from __future__ import annotations

from addons.ai_core.bridge.gd import singleton

WRITE = 2


def read_text(path: str) -> str | None:
    """Return the text of a file, None if the file does not exist."""
    classes = singleton("ClassDB")
    if not classes.class_call_static("FileAccess", "file_exists", path):
        return None
    return str(classes.class_call_static("FileAccess", "get_file_as_string", path))


def write_text(path: str, text: str) -> bool:
    """Overwrite a file; return whether that succeeded."""
    file = singleton("ClassDB").class_call_static("FileAccess", "open", path, WRITE)
    if file is None:
        return False
    is_written = bool(file.store_string(text))
    file.close()
    return is_written
