"""Build the bridge and the core's kernels: Cython modules, and the loader that Godot opens.

    python3 tools/build_bridge.py --python .venv/bin/python --godot godot

Steps: the engine dumps its interface, C tables are generated from it, Cython turns
``_bridge.pyx`` (with the files it includes) into C, the C compiler makes both libraries.
Each is made in a scratch folder and moved into ``addons/ai_core/bin/<platform>/`` when
whole, so a game never opens half a library. Loops (``ai_core/**/*_loops.py``) are made
the same way, need no engine, and lie beside their sources, where Python imports them.

The engine's version is no part of what makes a build current: functions are looked up
when the game starts, so a bridge built with one engine runs on every supported one.

For another platform than this machine's the same is done by zig, and everything, loops too,
goes into ``addons/ai_core/bin/<that platform>/``.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
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

from tools import cross_build, generate_interface  # noqa: E402
from tools.processes import run  # noqa: E402
from tools.progress import StepFailed  # noqa: E402
from tools.targets import Target, host  # noqa: E402

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
    native_suffix: str


class Workshop(NamedTuple):
    """One build: for which platform and Python, where its files are made, how it compiles.

    ``zig`` is None where the machine's own compiler builds for the machine.
    """

    target: Target
    facts: PythonFacts
    scratch: Path
    includes: tuple[Path, ...]
    optimise: bool
    native: bool
    zig: Path | None = None
    libraries: tuple[Path, ...] = ()


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


def bridge_extension(target: Target | None = None) -> Extension:
    return Extension("_bridge", SOURCES / "_bridge.pyx", ("engine_interface.c",), library_folder(target))


def kernel_extensions(target: Target | None = None) -> list[Extension]:
    """Return the compiled loops of the core, and what they share; none in a copy of the bridge alone.

    This machine's lie beside their sources, those of another platform in folders of its own.
    """
    core = ROOT / "ai_core"
    loops = []
    for source in sorted(core.rglob("*_loops.py")):
        module = ".".join(source.relative_to(ROOT).with_suffix("").parts)
        loops.append(Extension(module, source, (), _kernel_folder(source, target), True))
    return [*loops, Extension(SHARED, None, (), _kernel_folder(core / "_", target), True)] if loops else []


def _kernel_folder(source: Path, target: Target | None) -> Path:
    if target is None or target == host():
        return source.parent
    return library_folder(target) / source.parent.relative_to(ROOT)


def platform_name() -> str:
    """Return Godot's name of this machine's platform, such as ``linux.x86_64``."""
    return host().name


def library_folder(target: Target | None = None) -> Path:
    return BIN / (target or host()).name


def loader_file(target: Target | None = None) -> Path:
    return library_folder(target) / (target or host()).loader


def library_file(extension: Extension, facts: PythonFacts, native: bool, target: Target | None = None) -> Path:
    return extension.folder / (extension.name + (facts.native_suffix if native else (target or host()).suffix))


def is_current(
    *, python: Path, optimise: bool = True, native: bool = False, target: Target | None = None
) -> bool:
    """Return whether the built libraries are there and made from the sources as they are now."""
    facts = python_facts(python)
    made = [loader_file(target), library_file(bridge_extension(target), facts, native, target)]
    digest = _digest(facts, optimise, native, target)
    is_made = _is_made(made, _stamp_name("bridge", target), digest)
    return is_made and kernels_are_current(facts, optimise, native, target)


def kernels_are_current(
    facts: PythonFacts, optimise: bool = True, native: bool = False, target: Target | None = None
) -> bool:
    """Return whether the kernels are there and made from the sources as they are now."""
    return not _kernels_to_make(facts, optimise, native, target)


def _kernels_to_make(facts: PythonFacts, optimise: bool, native: bool, target: Target | None) -> list[Extension]:
    return [
        kernel for kernel in kernel_extensions(target)
        if not _is_made(
            [library_file(kernel, facts, native, target)], _stamp_name(kernel.module, target),
            _kernel_digest(kernel, facts, optimise, native, target),
        )
    ]


def _stamp_name(made: str, target: Target | None) -> str:
    return f"{(target or host()).name}.{made}.stamp"


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
    target: Target | None = None,
    zig: Path | None = None,
) -> None:
    """Build loader and bridge.

    Args:
        python: executable of the environment that holds Cython; its headers are used.
        dump_interface: writes ``gdextension_interface.h`` and ``extension_api.json`` into a folder.
        include_dirs: further folders of C headers.
        optimise: False compiles in two thirds of the time and runs slower.
        native: build for this Python version alone, which makes tiny calls faster.
        target: another platform than this machine's.
        zig: its compiler, for another platform.

    Raises:
        StepFailed: with the step and all that it printed.
    """
    facts = python_facts(python)
    digest = _digest(facts, optimise, native, target)
    _prepare_folders(target)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as name:
        scratch = Path(name)
        dump_interface(scratch)
        _generate(scratch)
        workshop = _set_up(facts, scratch, include_dirs, optimise, native, target, zig)
        workshop = workshop._replace(includes=(scratch, SOURCES, *workshop.includes))
        _compile_loader(workshop)
        bridge = bridge_extension(target)
        _translate([bridge], workshop, None)
        _compile_extension(bridge, workshop)
        _write_stamp(scratch, _stamp_name("bridge", target), digest)
    build_kernels(
        python=python, include_dirs=include_dirs, optimise=optimise, native=native, target=target, zig=zig)


def build_kernels(
    *, python: Path, include_dirs: Iterable[Path] = (), optimise: bool = True, native: bool = False,
    target: Target | None = None, zig: Path | None = None,
) -> bool:
    """Build those of the core's kernels that are not current; return whether there were any.

    Raises:
        StepFailed: with the step and all that it printed.
    """
    _remove_orphans(target)
    facts = python_facts(python)
    to_make = _kernels_to_make(facts, optimise, native, target)
    if not to_make:
        return False
    _prepare_folders(target)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as name:
        scratch = Path(name)
        workshop = _set_up(facts, scratch, include_dirs, optimise, native, target, zig)
        _translate(to_make, workshop, SHARED)

        def make(kernel: Extension) -> None:
            _compile_extension(kernel, workshop)
            digest = _kernel_digest(kernel, facts, optimise, native, target)
            _write_stamp(scratch, _stamp_name(kernel.module, target), digest)

        with ThreadPoolExecutor(os.cpu_count()) as pool:  # each waits for its compiler
            list(pool.map(make, to_make))
    return True


def _set_up(
    facts: PythonFacts, scratch: Path, include_dirs: Iterable[Path], optimise: bool, native: bool,
    target: Target | None, zig: Path | None,
) -> Workshop:
    """Return a workshop with the headers of the target's Python, and for Windows what is linked with them."""
    if zig is None:
        return Workshop(host(), facts, scratch, (*include_dirs, Path(facts.include)), optimise, native)
    include = next((one for one in (*include_dirs, Path(facts.include)) if (one / "Python.h").is_file()), facts.include)
    headers = cross_build.put_headers(Path(include), scratch / "python_headers")
    wanted = target or host()
    is_windows = wanted.system == "windows"
    libraries = (cross_build.make_import_library(zig, headers, "python3.dll", scratch),) if is_windows else ()
    return Workshop(wanted, facts, scratch, (headers,), optimise, native, zig, libraries)


def _remove_orphans(target: Target | None) -> None:
    """Remove compiled loops whose source is gone: an import of all modules would find them, and fail."""
    kernels = kernel_extensions(target)
    known = {(kernel.folder, kernel.name) for kernel in kernels}
    for pattern in ("*.so", "*.pyd"):
        for library in _kernel_folder(ROOT / "ai_core" / "_", target).rglob(pattern):
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
        " sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX')]))"
    )
    answer = _run(
        "asking Python for its headers and Cython", [python, "-I", "-c", question],
        f"use a Python 3.11 or newer that has Cython ({python} -m pip install cython)",
    )
    executable, *rest = json.loads(answer.splitlines()[-1])
    return PythonFacts(Path(executable), *rest)


def _digest(facts: PythonFacts, optimise: bool, native: bool, target: Target | None) -> str:
    """Return one hash over all that loader and bridge are made from."""
    files = [*_cython_sources(), *sorted(SOURCES.glob("*.[ch]")), Path(generate_interface.__file__)]
    return _hash_of(files, facts, optimise, native, target)


def _kernel_digest(
    kernel: Extension, facts: PythonFacts, optimise: bool, native: bool, target: Target | None
) -> str:
    """Return one hash over all that a kernel is made from; it may include files beside it."""
    files = _with_included(kernel.source) if kernel.source else ()
    return _hash_of(files, facts, optimise, native, target)


def _with_included(source: Path) -> list[Path]:
    """Return a Cython source, the declarations beside it, and every file that it includes, directly or not."""
    found = [source, *sorted(source.parent.glob("*.pxd"))]
    for file in found:
        named = re.findall(r'^include "(.+)"', file.read_text(encoding="utf-8"), re.MULTILINE)
        found += [one for one in ((file.parent / name).resolve() for name in named) if one not in found]
    return found


def _hash_of(
    files: Iterable[Path], facts: PythonFacts, optimise: bool, native: bool, target: Target | None
) -> str:
    settings = (*facts, optimise, native, LIMITED_API)
    tools = [Path(__file__), TRANSLATOR]
    if target is not None and target != host():
        settings = (*settings, target)
        tools += [Path(cross_build.__file__), cross_build.HEADERS / "pyconfig.h"]
    digest = hashlib.sha256(repr(settings).encode())
    for file in (*files, *tools):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _cython_sources() -> list[Path]:
    return sorted(file for file in SOURCES.iterdir() if file.suffix in {".pyx", ".pxi", ".pxd"})


def _prepare_folders(target: Target | None) -> None:
    """Make the folders; what is built is for neither git nor Godot's file system."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    library_folder(target).mkdir(parents=True, exist_ok=True)
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
    target = library_file(extension, workshop.facts, workshop.native, workshop.target)
    made = workshop.scratch / f"{extension.module}{target.suffix}"
    sources = [_c_file(extension, workshop), *(workshop.scratch / name for name in extension.c_files)]
    macros = [] if workshop.native else [f"-DPy_LIMITED_API={LIMITED_API}"]
    flags = [*_flags(workshop), *_flags_of(extension, workshop), *macros]
    _compile(extension.name, flags, sources, made, workshop)
    extension.folder.mkdir(parents=True, exist_ok=True)
    for older in extension.folder.glob(f"{extension.name}.*"):
        if older != target and older.suffix in {".so", ".pyd"}:
            older.unlink()  # Python would prefer a native build to the limited one
    os.replace(made, target)


def _compile_loader(workshop: Workshop) -> None:
    target = loader_file(workshop.target)
    made = workshop.scratch / target.name
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"]
    macros = ["-D_GNU_SOURCE", f'-DAI_CORE_PLATFORM="{workshop.target.name}"']
    _compile("the loader", [*_flags(workshop), *strict, *macros], sorted(SOURCES.glob("loader*.c")), made, workshop)
    os.replace(made, target)


def _compile(name: str, flags: Sequence[str | Path], sources: Sequence[Path], made: Path, workshop: Workshop) -> None:
    """Make one shared library, not linked to libpython."""
    if workshop.zig is not None:
        cross_build.compile_with_zig(workshop.zig, workshop.target, flags, sources, made, workshop.libraries)
        return
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", *flags, *sources, "-o", made, "-ldl", "-lm"]
    _run(f"compiling {name}", command, COMPILER_REMEDY)


def _flags(workshop: Workshop) -> list[str | Path]:
    """Return what every compiler is told, whatever it makes."""
    flags = ["-O2" if workshop.optimise else "-O1", "-fwrapv", "-fno-strict-aliasing", "-DNDEBUG"]
    # What gcc refuses from 14 on, an older one shall not let pass: a name that Python's stable interface lacks.
    flags += ["-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types", "-Werror=int-conversion"]
    return [*flags, *(f"-I{folder}" for folder in workshop.includes)]


def _flags_of(extension: Extension, workshop: Workshop) -> list[str]:
    """Return what one extension needs more: its level, and for kernels exactness."""
    # The bridge calls Python and the engine: with -O1 it is as fast, and compiles in half of the time.
    if not extension.is_kernel:
        return ["-O1"] if workshop.optimise else []
    # A product and a sum stay two operations, as in Python, and a square root is the processor's, which is
    # exact, not a library's: compiled and interpreted agree to the last bit, on every platform.
    exact = ["-ffp-contract=off", "-fno-math-errno"]
    return [*exact, *([_level_of(extension.source)] if workshop.optimise else [])]


def _level_of(source: Path | None) -> str:
    """Return the level that a loop names in its first lines, as setup.py's Cython reads it, or -O3.

    With -O3 a compiler does four numbers of an array at a time.
    """
    if source is None or source.suffix != ".py":
        return "-O1"
    named = re.search(r"^# distutils: extra_compile_args = (-O\d)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    return named[1] if named else "-O3"


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
