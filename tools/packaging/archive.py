"""Zip files that are the same bytes whenever and wherever they are made of the same files."""
from __future__ import annotations

import zipfile
from pathlib import Path

# The earliest time that a zip can hold: files in it have no history.
_TIME = (1980, 1, 1, 0, 0, 0)
_PLAIN, _PROGRAM = 0o100644, 0o100755


def pack(folder: Path, archive: Path) -> None:
    """Pack all files below ``folder``, in order of their names, into a new ``archive``."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    part = archive.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, so that permissions are read
            entry.external_attr = (_PROGRAM if file.suffix == ".so" else _PLAIN) << 16
            made.writestr(entry, file.read_bytes())
    part.replace(archive)
