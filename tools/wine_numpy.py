"""NumPy for Windows, changed so that it runs in wine: for tests alone.

wine's C library lacks the functions of complex numbers, and stops the program at the first call of one.
NumPy's libraries take them, with the rest of C's mathematics, from one library of the system; in a copy
that name is changed to one of ours, which has them and passes everything else on. Real Windows needs none of this.
"""
from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from tools.processes import check, run

_REAL = b"api-ms-win-crt-math-l1-1-0.dll"
_OURS = b"ai-ms-win-crt-math-l1-1-0.dll"
_FUNCTIONS = Path(__file__).with_name("wine_complex.h")
_COMPILE_LIMIT_S = 300.0


def make_runnable(zig: Path, folders: list[Path], beside: Path) -> None:
    """Change the libraries below ``folders`` and put the library with the functions into ``beside``."""
    names: set[str] = set()
    for folder in folders:
        for file in sorted(path for path in folder.rglob("*") if path.suffix in {".pyd", ".dll"}):
            content = file.read_bytes()
            taken = dict(imports(content)).get(_REAL.decode())
            if taken is not None:
                names.update(taken)
                file.write_bytes(content.replace(_REAL, _OURS + b"\0"))
    ours = {"".join(found) for found in re.findall(r"ours_(\w+)##(f)", _FUNCTIONS.read_text())}
    ours |= {name.removesuffix("f") for name in ours}
    complex_names = sorted(names & ours)
    _compile(zig, complex_names, sorted(names - set(complex_names)), beside)


def imports(content: bytes) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each library that a library for Windows needs, and the functions it takes from it."""
    [header] = struct.unpack_from("<I", content, 0x3C)
    [sections] = struct.unpack_from("<H", content, header + 6)
    [options] = struct.unpack_from("<H", content, header + 20)
    first = header + 24
    table = [struct.unpack_from("<4I", content, first + options + 40 * index + 8) for index in range(sections)]

    def place(address: int) -> int:
        return next(raw + address - at for size, at, kept, raw in table if at <= address < at + max(size, kept))

    def text(at: int) -> str:
        return content[at:content.index(b"\0", at)].decode()

    at = place(struct.unpack_from("<I", content, first + 120)[0])
    while True:
        names, _, _, library, thunks = struct.unpack_from("<5I", content, at)
        if not library:
            return
        found, entry = [], place(names or thunks)
        while value := struct.unpack_from("<Q", content, entry)[0]:
            if not value >> 63:  # else by number
                found.append(text(place(value) + 2))
            entry += 8
        yield text(place(library)), found
        at += 20


def _compile(zig: Path, complex_names: list[str], passed_on: list[str], beside: Path) -> None:
    source, definition = beside / "complex.c", beside / "complex.def"
    source.write_text(f'#include "{_FUNCTIONS}"\n')
    exports = [f"{name}=ours_{name}" for name in complex_names] + [f"{name}=ucrtbase.{name}" for name in passed_on]
    definition.write_text("\n".join([f"LIBRARY {_OURS.decode()}", "EXPORTS", *exports]) + "\n")
    command = [zig, "cc", "-target", "x86_64-windows-gnu", "-shared", "-O1", "-g0", "-fno-builtin",
               "-fno-sanitize=undefined", source, definition, "-o", beside / _OURS.decode()]
    check("making NumPy run in wine", "read the compiler's output above", run(command, timeout_s=_COMPILE_LIMIT_S))
    for file in (source, definition, beside / "complex.lib"):
        file.unlink(missing_ok=True)
