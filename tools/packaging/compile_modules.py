"""Compile a folder of Python modules, the same bytes each time. Run by the Python that will read them.

    python3.11 compile_modules.py SOURCE TARGET SHOWN alone|beside

``alone`` makes modules that need no source: ``TARGET/name.pyc``. ``beside`` makes what Python
looks for beside a source, ``TARGET/__pycache__/name.cpython-311.pyc``, used only while the source
is as it was: it is checked by content, not by time, which unpacking changes.
"""
from __future__ import annotations

import importlib.util
import py_compile
import sys
from pathlib import Path


def main(source: Path, target: Path, shown: str, way: str) -> None:
    modes = py_compile.PycInvalidationMode
    for file in sorted(source.rglob("*.py")):
        name = file.relative_to(source)
        if way == "beside":
            compiled = Path(importlib.util.cache_from_source(str(target / name)))
        else:
            compiled = (target / name).with_suffix(".pyc")
        py_compile.compile(
            str(file), str(compiled), f"{shown}/{name.as_posix()}", doraise=True, optimize=0 if way == "beside" else 2,
            invalidation_mode=modes.CHECKED_HASH if way == "beside" else modes.UNCHECKED_HASH,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4])
