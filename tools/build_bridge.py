"""Build the bridge and the core's kernels: Cython modules, and the loader that Godot opens.

    python3 tools/build_bridge.py --python .venv/bin/python --godot godot

Steps: the engine dumps its interface, C tables are generated from it, Cython turns
``_bridge.pyx`` (with the files it includes) into C, the C compiler makes both libraries.
Each is made in a scratch folder and moved into ``addons/ai_core/bin/<platform>/`` when
whole, so a game never opens half a library. Loops (``ai_core/**/*_loops.py``) are made
the same way, need no engine, and lie beside their sources, where Python imports them.

The engine's version is no part of what makes a build current: functions are looked up
when the game starts, so a bridge built with one engine runs on every supported one.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from tools import generate_interface  # noqa: E402
from tools.processes import run  # noqa: E402
from tools.progress import StepFailed  # noqa: E402

SOURCES = ROOT / "addons" / "ai_core" / "bridge"
BIN = ROOT / "addons" / "ai_core" / "bin"
SCRATCH = BIN / "build"
TRANSLATOR = Path(__file__).with_name("translate_to_c.py")

LIMITED_API = "0x030B0000"
"""CPython 3.11: one binary serves it and every later version.

Lower breaks Cython's typed memoryviews; higher shuts out users of 3.11.
"""

DUMP_LIMIT_S = 60.0
"""Longest dump (s). It takes under one; a Godot that waits for something never ends."""

COMPILE_LIMIT_S = 600.0
"""Longest compilation (s). It takes under ten; a busy or small machine may need minutes."""

SHARED = "ai_core._memoryviews"
"""Module of what all compiled loops use of Cython: typed memoryviews, for the most part.

Without it each library would hold that, which takes as long to compile as the loops themselves.
"""

COMPILER_REMEDY = "correct the source it names; without a C compiler, install gcc or set $CC"

PRINTED_LINES = 2000
"""How much of a compiler's complaints a failure repeats: in practice all of them."""


class PythonFacts(NamedTuple):
    """What a build needs to know of the Python it is for."""

    executable: Path
    version: str
    cython_version: str
    include: str
    libraries: str
    native_suffix: str


class Workshop(NamedTuple):
    """One build: for which Python, where its files are made, how it compiles."""

    facts: PythonFacts
    scratch: Path
    includes: tuple[Path, ...]
    optimise: bool
    native: bool


class Extension(NamedTuple):
    """One Cython module: its full name, its source, the C files linked into it, where its library goes.

    That of ``SHARED`` has no source: Cython makes it.
    """

    module: str
    source: Path | None
    c_files: tuple[str, ...]
    folder: Path
    is_kernel: bool = False

    @property
    def name(self) -> str:
        return self.module.rpartition(".")[2]


def bridge_extension() -> Extension:
    return Extension("_bridge", SOURCES / "_bridge.pyx", ("engine_interface.c",), library_folder())


def kernel_extensions() -> list[Extension]:
    """Return the compiled loops of the core, and what they share; none in a copy of the bridge alone."""
    core = ROOT / "ai_core"
    loops = [
        Extension(".".join(source.relative_to(ROOT).with_suffix("").parts), source, (), source.parent, True)
        for source in sorted(core.rglob("*_loops.py"))
    ]
    return [*loops, Extension(SHARED, None, (), core, True)] if loops else []


def platform_name() -> str:
    """Return Godot's name of this platform, such as ``linux.x86_64``."""
    systems = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}
    machines = {"amd64": "x86_64", "aarch64": "arm64"}
    system, machine = platform.system(), platform.machine().lower()
    if system not in systems:
        raise StepFailed("naming the platform", f"no bridge for {system}", "use Linux, Windows or macOS")
    return f"{systems[system]}.{machines.get(machine, machine)}"


def library_folder() -> Path:
    return BIN / platform_name()


def loader_file() -> Path:
    names = {"linux": "libai_core_loader.so", "macos": "libai_core_loader.dylib"}
    return library_folder() / names.get(platform_name().split(".")[0], "ai_core_loader.dll")


def library_file(extension: Extension, facts: PythonFacts, native: bool) -> Path:
    limited_suffix = ".pyd" if os.name == "nt" else ".abi3.so"
    return extension.folder / (extension.name + (facts.native_suffix if native else limited_suffix))


def is_current(*, python: Path, optimise: bool = True, native: bool = False) -> bool:
    """Return whether the built libraries are there and made from the sources as they are now."""
    facts = python_facts(python)
    made = [loader_file(), library_file(bridge_extension(), facts, native)]
    digest = _digest(facts, optimise, native)
    return _is_made(made, "stamp", digest) and kernels_are_current(facts, optimise, native)


def kernels_are_current(facts: PythonFacts, optimise: bool = True, native: bool = False) -> bool:
    """Return whether the kernels are there and made from the sources as they are now."""
    return not _kernels_to_make(facts, optimise, native)


def _kernels_to_make(facts: PythonFacts, optimise: bool, native: bool) -> list[Extension]:
    return [
        kernel for kernel in kernel_extensions()
        if not _is_made(
            [library_file(kernel, facts, native)], _stamp_of(kernel), _kernel_digest(kernel, facts, optimise, native)
        )
    ]


def _stamp_of(kernel: Extension) -> str:
    return f"{kernel.module}.stamp"


def _is_made(files: Sequence[Path], stamp_name: str, digest: str) -> bool:
    stamp = SCRATCH / stamp_name
    return all(file.is_file() for file in (*files, stamp)) and stamp.read_text() == digest


def build(
    *,
    python: Path,
    dump_interface: Callable[[Path], None],
    include_dirs: Iterable[Path] = (),
    optimise: bool = True,
    native: bool = False,
) -> None:
    """Build loader and bridge.

    Args:
        python: executable of the environment that holds Cython; its headers are used.
        dump_interface: writes ``gdextension_interface.h`` and ``extension_api.json`` into a folder.
        include_dirs: further folders of C headers.
        optimise: False compiles in two thirds of the time and runs slower.
        native: build for this Python version alone, which makes tiny calls faster.

    Raises:
        StepFailed: with the step and all that it printed.
    """
    facts = python_facts(python)
    digest = _digest(facts, optimise, native)
    _prepare_folders()
    with tempfile.TemporaryDirectory(dir=SCRATCH) as name:
        scratch = Path(name)
        dump_interface(scratch)
        _generate(scratch)
        includes = (scratch, SOURCES, *include_dirs, Path(facts.include))
        workshop = Workshop(facts, scratch, includes, optimise, native)
        _compile_loader(workshop)
        _translate([bridge_extension()], workshop, None)
        _compile_extension(bridge_extension(), workshop)
        _write_stamp(scratch, "stamp", digest)
    build_kernels(python=python, include_dirs=include_dirs, optimise=optimise, native=native)


def build_kernels(
    *, python: Path, include_dirs: Iterable[Path] = (), optimise: bool = True, native: bool = False
) -> bool:
    """Build those of the core's kernels that are not current; return whether there were any.

    Raises:
        StepFailed: with the step and all that it printed.
    """
    _remove_orphans()
    facts = python_facts(python)
    to_make = _kernels_to_make(facts, optimise, native)
    if not to_make:
        return False
    _prepare_folders()
    with tempfile.TemporaryDirectory(dir=SCRATCH) as name:
        scratch = Path(name)
        workshop = Workshop(facts, scratch, (*include_dirs, Path(facts.include)), optimise, native)
        _translate(to_make, workshop, SHARED)

        def make(kernel: Extension) -> None:
            _compile_extension(kernel, workshop)
            _write_stamp(scratch, _stamp_of(kernel), _kernel_digest(kernel, facts, optimise, native))

        with ThreadPoolExecutor(os.cpu_count()) as pool:  # each waits for its compiler
            list(pool.map(make, to_make))
    return True


def _remove_orphans() -> None:
    """Remove compiled loops whose source is gone: an import of all modules would find them, and fail."""
    known = {(kernel.folder, kernel.name) for kernel in kernel_extensions()}
    for pattern in ("*.so", "*.pyd"):
        for library in (ROOT / "ai_core").rglob(pattern):
            if (library.parent, library.name.partition(".")[0]) not in known:
                library.unlink()


def _write_stamp(scratch: Path, name: str, digest: str) -> None:
    stamp = scratch / name
    stamp.write_text(digest)
    os.replace(stamp, SCRATCH / name)


def dump_with(godot: Sequence[str]) -> Callable[[Path], None]:
    """Return a ``dump_interface`` that starts the Godot of this command line."""

    def dump(folder: Path) -> None:
        options = ["--headless", "--dump-gdextension-interface", "--dump-extension-api"]
        remedy = "name a Godot 4.4 or newer, editor build, with $GODOT or --godot"
        _run("dumping the engine's interface", [*godot, *options], remedy, cwd=folder, limit_s=DUMP_LIMIT_S)

    return dump


def python_facts(python: Path) -> PythonFacts:
    """Ask a Python for its version, headers and Cython."""
    question = (
        "import json, sys, sysconfig\n"
        "from importlib.metadata import version\n"
        "print(json.dumps([sys.executable, sys.version, version('cython'),"
        " sysconfig.get_path('include'), sys.base_prefix, sysconfig.get_config_var('EXT_SUFFIX')]))"
    )
    answer = _run(
        "asking Python for its headers and Cython", [python, "-I", "-c", question],
        f"use a Python 3.11 or newer that has Cython ({python} -m pip install cython)",
    )
    executable, *rest = json.loads(answer.splitlines()[-1])
    return PythonFacts(Path(executable), *rest)


def _digest(facts: PythonFacts, optimise: bool, native: bool) -> str:
    """Return one hash over all that loader and bridge are made from."""
    files = [*_cython_sources(), *sorted(SOURCES.glob("*.[ch]"))]
    files += [Path(__file__), TRANSLATOR, Path(generate_interface.__file__)]
    return _hash_of(files, facts, optimise, native)


def _kernel_digest(kernel: Extension, facts: PythonFacts, optimise: bool, native: bool) -> str:
    """Return one hash over all that a kernel is made from; it may include files beside it."""
    files = [*(_with_included(kernel.source) if kernel.source else ()), Path(__file__), TRANSLATOR]
    return _hash_of(files, facts, optimise, native)


def _with_included(source: Path) -> list[Path]:
    """Return a Cython source, the declarations beside it, and every file that it includes, directly or not."""
    found = [source, *sorted(source.parent.glob("*.pxd"))]
    for file in found:
        named = re.findall(r'^include "(.+)"', file.read_text(encoding="utf-8"), re.MULTILINE)
        found += [one for one in ((file.parent / name).resolve() for name in named) if one not in found]
    return found


def _hash_of(files: Iterable[Path], facts: PythonFacts, optimise: bool, native: bool) -> str:
    digest = hashlib.sha256(repr((*facts, optimise, native, LIMITED_API)).encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _cython_sources() -> list[Path]:
    return sorted(file for file in SOURCES.iterdir() if file.suffix in {".pyx", ".pxi", ".pxd"})


def _prepare_folders() -> None:
    """Make the folders; what is built is for neither git nor Godot's file system."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    library_folder().mkdir(parents=True, exist_ok=True)
    (BIN / ".gitignore").write_text("*\n")
    (SCRATCH / ".gdignore").touch()


def _generate(scratch: Path) -> None:
    try:
        generate_interface.generate(_cython_sources(), scratch)
    except (OSError, ValueError, KeyError) as error:
        raise StepFailed("generating the C tables", str(error), "correct what it names") from error


def _translate(extensions: Sequence[Extension], workshop: Workshop, shared: str | None) -> None:
    """Translate modules into C files of the workshop, which ``_compile_extension`` compiles."""
    c_files = {one.module: str(_c_file(one, workshop)) for one in extensions}
    modules = [(str(one.source.relative_to(ROOT)), one.module, c_files[one.module]) for one in extensions if one.source]
    job = {"modules": modules, "shared": shared, "shared_file": c_files.get(shared or "")}
    names = ", ".join(one.name for one in extensions)
    command = [workshop.facts.executable, TRANSLATOR, json.dumps(job)]
    print(_run(f"cython {names}", command, "correct the source it names", cwd=ROOT), end="", file=sys.stderr)


def _c_file(extension: Extension, workshop: Workshop) -> Path:
    return workshop.scratch / f"{extension.module}.c"


def _compile_extension(extension: Extension, workshop: Workshop) -> None:
    facts, scratch = workshop.facts, workshop.scratch
    c_file = _c_file(extension, workshop)
    target = library_file(extension, facts, workshop.native)
    made = scratch / f"{extension.module}{target.suffix}"
    sources = [c_file, *(scratch / name for name in extension.c_files)]
    macros = [] if workshop.native else [f"Py_LIMITED_API={LIMITED_API}"]
    compiler = [*_compiler(workshop), *_flags_of(extension, workshop), *_macros(macros)]
    _run(f"compiling {extension.name}", [*compiler, *sources, *_output(made, workshop)], COMPILER_REMEDY)
    for older in extension.folder.glob(f"{extension.name}.*"):
        if older != target and older.suffix in {".so", ".pyd"}:
            older.unlink()  # Python would prefer a native build to the limited one
    os.replace(made, target)


def _compile_loader(workshop: Workshop) -> None:
    target = loader_file()
    made = workshop.scratch / target.name
    strict = [] if os.name == "nt" else ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    macros = _macros(["_GNU_SOURCE", f'AI_CORE_PLATFORM="{platform_name()}"'])
    sources = sorted(SOURCES.glob("loader*.c"))
    command = [*_compiler(workshop), *strict, *macros, *sources, *_output(made, workshop)]
    _run("compiling the loader", command, COMPILER_REMEDY)
    os.replace(made, target)


def _compiler(workshop: Workshop) -> list[str | Path]:
    """Return the beginning of a command that makes one shared library, not linked to libpython."""
    if os.name == "nt":  # untested: from a prompt where Visual Studio's cl is set up
        flags = ["/nologo", "/LD", "/O2" if workshop.optimise else "/Od", "/DNDEBUG"]
        return [os.environ.get("CC", "cl"), *flags, *(f"/I{folder}" for folder in workshop.includes)]
    flags = ["-O2" if workshop.optimise else "-O1", "-fPIC", "-fwrapv", "-fno-strict-aliasing", "-DNDEBUG"]
    # What gcc refuses from 14 on, an older one shall not let pass: a name that Python's stable interface lacks.
    flags += ["-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types", "-Werror=int-conversion"]
    # macOS, untested: Python's symbols are found when the library is loaded.
    kind = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    return [os.environ.get("CC", "cc"), *kind, *flags, *(f"-I{folder}" for folder in workshop.includes)]


def _flags_of(extension: Extension, workshop: Workshop) -> list[str]:
    """Return what kernels need more: exactness, and -O3 for loops, which does four numbers of an array at a time.

    What handles Python's objects is as fast with -O1, which compiles in half the time.
    """
    if not extension.is_kernel or os.name == "nt":
        return []
    is_loop = extension.source is not None and extension.source.suffix == ".py"
    # A product and a sum stay two operations, as in Python: compiled and interpreted agree to the last bit.
    return ["-ffp-contract=off", *(["-O3" if is_loop else "-O1"] if workshop.optimise else [])]


def _macros(macros: Sequence[str]) -> list[str]:
    return [f"/D{macro}" if os.name == "nt" else f"-D{macro}" for macro in macros]


def _output(made: Path, workshop: Workshop) -> list[str | Path]:
    """Return the end of the command: what is made, and linked to what."""
    if os.name == "nt":
        return ["/link", f"/OUT:{made}", f"/LIBPATH:{Path(workshop.facts.libraries) / 'libs'}"]
    return ["-o", made] if sys.platform == "darwin" else ["-o", made, "-ldl", "-lm"]


def _run(
    step: str, command: Sequence[str | Path], remedy: str, *,
    cwd: Path | None = None, limit_s: float = COMPILE_LIMIT_S,
) -> str:
    """Run one command and return what it printed, or raise StepFailed with all of it."""
    finished = run(command, timeout_s=limit_s, cwd=cwd)
    if not finished.succeeded:
        raise StepFailed(step, finished.explain(PRINTED_LINES), remedy)
    return finished.output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="has Cython")
    parser.add_argument("--godot", default=os.environ.get("GODOT", "godot"), help="4.4 or newer")
    parser.add_argument("--debug", action="store_true", help="compile faster, run slower")
    parser.add_argument("--native", action="store_true", help="for this Python version alone")
    parser.add_argument("--force", action="store_true", help="build even when nothing changed")
    chosen = parser.parse_args()
    how = {"python": chosen.python, "optimise": not chosen.debug, "native": chosen.native}
    try:
        if not chosen.force and is_current(**how):
            print("The bridge is current.")
            return 0
        build(dump_interface=dump_with([chosen.godot]), **how)
    except StepFailed as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Built the bridge in {library_folder()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
