"""What building for another platform needs: zig's command line, Python's headers, its import library for Windows."""
from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tools import mach_o
from tools.processes import check, run
from tools.targets import Target

HEADERS = Path(__file__).with_name("cross_headers")
"""``pyconfig.h`` for every other platform."""

_REMEDY = "correct the source that it names"
_LIMIT_S = 900.0  # zig compiles its own libc first, which takes a minute
# What the linker for macOS is told: Python's symbols are found when the library is loaded, by the name that
# exports give it; zig signs what it links ad hoc, as arm64 wants.
_MACOS = ("-dynamiclib", "-Wl,-undefined,dynamic_lookup")
# clang counts a dropped ``const`` among the pointers that do not fit, gcc does not; Cython drops some.
_CLANGS_OWN = "-Wno-incompatible-pointer-types-discards-qualifiers"


def compile_with_zig(
    zig: Path, target: Target, flags: Sequence[str | Path], sources: Sequence[Path], made: Path,
    libraries: Sequence[Path],
) -> None:
    """Compile and link one library for ``target``; for macOS one part for each processor, then joined.

    Args:
        flags: of the compiler, for every platform.
        made: the library; its name is kept in it.
        libraries: more to link with.

    Raises:
        StepFailed: with all that the compiler said.
    """
    parts = []
    for triple in target.triples:
        part = made if len(target.triples) == 1 else made.with_name(f"{made.name}.{triple}")
        command = [
            zig, "cc", "-target", triple, *_kind(target, made), *flags, _CLANGS_OWN, *sources, *libraries, "-o", part]
        check(f"compiling {made.name} for {triple}", _REMEDY, run(command, timeout_s=_LIMIT_S))
        parts.append(part)
    if len(parts) > 1:
        mach_o.join(parts, made)


def _kind(target: Target, made: Path) -> list[str]:
    # No sanitizer, no debug information, symbols stripped.
    common = ["-g0", "-fno-sanitize=undefined"]
    if target.system == "macos":
        return [*common, "-fPIC", *_MACOS, f"-Wl,-install_name,@rpath/{made.name}"]
    return [*common, "-s", "-shared", *(["-fPIC"] if target.system == "linux" else [])]


def put_headers(include: Path, folder: Path) -> Path:
    """Copy Python's headers into ``folder`` with the ``pyconfig.h`` of other platforms, and return it."""
    shutil.copytree(include, folder, ignore=shutil.ignore_patterns("pyconfig*.h", "internal", "greenlet"))
    shutil.copy(HEADERS / "pyconfig.h", folder)
    return folder


def make_import_library(zig: Path, headers: Path, library: str, folder: Path) -> Path:
    """Make what libraries for Windows link with to use ``library``, such as ``python3.dll``; return its file.

    It names whatever the headers declare: what the limited API lacks, the compiler refuses before the linker looks.
    """
    functions, data = declared_names(headers)
    definition = folder / f"{library}.def"
    lines = [f"LIBRARY {library}", "EXPORTS", *functions, *(f"{name} DATA" for name in data)]
    definition.write_text("\n".join(lines) + "\n")
    made = folder / f"{Path(library).stem}.lib"
    command = [zig, "dlltool", "-m", "i386:x86-64", "-d", definition, "-l", made]
    check(f"making the import library of {library}", _REMEDY, run(command, timeout_s=_LIMIT_S))
    return made


def make_forwarder(zig: Path, headers: Path, library: str, real: str, made: Path) -> None:
    """Make a library for Windows that passes every call on, as ``python3.dll`` does to ``python312.dll``.

    Args:
        library: its name, such as ``python3.dll``.
        real: what it passes on to, without an ending.
        made: the file.
    """
    functions, data = declared_names(headers)
    definition = made.with_suffix(".def")
    lines = [f"{name}={real}.{name}" for name in functions] + [f"{name}={real}.{name} DATA" for name in data]
    definition.write_text("\n".join([f"LIBRARY {library}", "EXPORTS", *lines]) + "\n")
    empty = made.with_suffix(".c")
    empty.write_text("int DllMainCRTStartup(void *library, unsigned reason, void *unused)\n"
                     "{ (void)library; (void)reason; (void)unused; return 1; }\n")
    options = ["-target", "x86_64-windows-gnu", "-shared", "-nostdlib", "-g0", "-s"]
    command = [zig, "cc", *options, empty, definition, "-o", made]
    check(f"making {library}", _REMEDY, run(command, timeout_s=_LIMIT_S))
    for file in (empty, definition, made.with_suffix(".lib"), made.with_suffix(".pdb")):
        file.unlink(missing_ok=True)


def declared_names(headers: Path) -> tuple[list[str], list[str]]:
    """Return the names of the functions and of the data that Python's public headers declare."""
    text = "\n".join(file.read_text(errors="replace") for file in sorted(headers.rglob("*.h")))
    functions = set(re.findall(r"PyAPI_FUNC\([^)]*\)\s*(?:_Py_NO_RETURN\s+)?(\w+)", text))
    data = set(re.findall(r"PyAPI_DATA\([^)]*\)\s*(\w+)", text))
    return sorted(functions - data), sorted(data)
