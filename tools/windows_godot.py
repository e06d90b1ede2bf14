"""Godot for Windows, built on Linux from Debian's source: for tests in wine, never shipped.

An export template with debug checks, without renderers, sound or editor; it opens projects and runs scripts as
the editor build does when it is headless. It takes an hour of two processors, once; a build that was
interrupted goes on where it was.
"""
from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from tools import debian_prefix, wine
from tools.cache_folder import cache_folder, contents_note, fill_whole, is_whole
from tools.debian_packages import fetch_packages, fetch_sources, installed_release
from tools.environment import ensure_environment
from tools.processes import check, run
from tools.progress import Step, StepFailed, step

ROOT = Path(__file__).resolve().parents[1]
ARGUMENTS = [
    (["--jobs"], {"type": int, "default": os.cpu_count() or 1, "metavar": "N",
                  "help": "compilers at once (all processors)"}),
]
SCONS = "SCons==4.11.1"

_COMPILER = "g++-mingw-w64-x86-64-posix"
_PREFIX = "x86_64-w64-mingw32-"
# Debian's source of Godot leaves out the libraries that Debian has packages of; these cannot be done without.
_LIBRARIES = ("zlib", "libzstd", "libpng1.6", "mbedtls")
# Two files of Godot's that lay in the folder of mbedTLS: what the core uses of it, and functions of its own.
_MBEDTLS_CONFIG = "#include <limits.h>\n" + "".join(f"#define MBEDTLS_{name}\n" for name in (
    "AES_C", "BASE64_C", "CIPHER_MODE_CBC", "CIPHER_MODE_CFB", "CTR_DRBG_C", "ENTROPY_C", "MD_C", "MD5_C",
    "NO_PLATFORM_ENTROPY", "PLATFORM_C", "PLATFORM_ZEROIZE_ALT", "SHA1_C", "SHA256_C"))
_MBEDTLS_PLATFORM = """#include <stddef.h>
#include <stdlib.h>
void mbedtls_platform_zeroize(void *memory, size_t size) {
    for (volatile unsigned char *byte = memory; size; size--) *byte++ = 0;
}
void mbedtls_zeroize_and_free(void *memory, size_t size) {
    if (memory) mbedtls_platform_zeroize(memory, size);
    free(memory);
}
"""
_OPTIONS = (
    "platform=windows", "arch=x86_64", "use_mingw=yes", "target=template_debug", "disable_path_overrides=no",
    "scu_build=yes", "optimize=custom", "ccflags=-O1", "lto=none", "use_static_cpp=yes", "progress=no",
    "vulkan=no", "opengl3=no", "d3d12=no", "accesskit=no", "sdl=no", "brotli=no", "disable_xr=yes",
    "modules_enabled_by_default=no",
    *(f"module_{name}_enabled=yes" for name in (
        "gdscript", "godot_physics_2d", "godot_physics_3d", "jolt_physics", "navigation_2d", "navigation_3d", "gridmap",
        "csg")),
)
_MADE = "bin/godot.windows.template_debug.x86_64.exe"
_BUILD_LIMIT_S, _PIP_LIMIT_S = 12 * 3600.0, 600.0


def start(options: argparse.Namespace) -> int:
    """build Godot for Windows once, from Debian's source, for `test windows`: an hour, 4 GB while it builds"""
    if is_there():
        print(f"Godot for Windows is in the cache already: {program()}; delete its folder to build it again")
        return 0
    print(build(ensure_environment(ROOT), options.jobs))
    return 0


def program() -> Path:
    """Return where the built Godot lies or would lie."""
    return _folder() / "godot.exe"


def is_there() -> bool:
    """Return whether it was built."""
    return is_whole(_folder())


def build(python: Path, jobs: int) -> Path:
    """Return the built Godot; build it if it is not in the cache.

    Args:
        python: a Python with pip.
        jobs: how many compilers run at once.

    Raises:
        StepFailed: if a source cannot be had or does not compile.
    """
    if is_there():
        return program()
    workshop = cache_folder() / "godot_for_windows_build"
    if not is_whole(workshop):
        with step("fetching the source of Godot and a compiler for Windows") as progress:
            fill_whole(workshop, lambda part: _fill(part, python, progress))
    with step("building Godot for Windows") as progress:
        _compile(workshop, python, jobs, progress)
        fill_whole(_folder(), lambda part: _take(part, workshop))
    shutil.rmtree(workshop)
    return program()


def _folder() -> Path:
    return cache_folder() / "godot_for_windows"


def _fill(part: Path, python: Path, progress: Step) -> dict[str, object]:
    names = fetch_sources(["godot", "recastnavigation"], debian_prefix.SUITE, part, progress)
    names += fetch_sources(_LIBRARIES, wine.SUITE, part, progress)
    thirdparty = part / "godot/thirdparty"
    (part / "zlib").rename(thirdparty / "zlib")
    (part / "libzstd/lib").rename(thirdparty / "zstd")
    (part / "libpng1.6").rename(thirdparty / "libpng")
    shutil.copy(thirdparty / "libpng/scripts/pnglibconf.h.prebuilt", thirdparty / "libpng/pnglibconf.h")
    (part / "mbedtls").rename(thirdparty / "mbedtls")
    (thirdparty / "mbedtls/include/godot_core_mbedtls_config.h").write_text(_MBEDTLS_CONFIG)
    (thirdparty / "mbedtls/library/godot_core_mbedtls_platform.c").write_text(_MBEDTLS_PLATFORM)
    (part / "recastnavigation").rename(thirdparty / "recastnavigation")
    (thirdparty / "certs").mkdir()
    (thirdparty / "certs/ca-bundle.crt").touch()  # it is asked for whatever the options say
    (part / "compiler").mkdir()
    fetch_packages([_COMPILER], installed_release(), part / "compiler", progress)
    programs = part / "compiler/usr/bin"
    for file in sorted(programs.glob(f"{_PREFIX}*-posix")):  # the names that the system would give them
        (programs / file.name.removesuffix("-posix")).symlink_to(file.name)
    install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    finished = run([*install, "--target", part / "scons", SCONS], timeout_s=_PIP_LIMIT_S)
    check("fetching SCons", "check the network and pip's set-up, then try again", finished)
    return {"packages": names}


def _compile(workshop: Path, python: Path, jobs: int, progress: Step) -> None:
    environment = {
        **os.environ, "PYTHONPATH": str(workshop / "scons"),
        "PATH": f"{workshop / 'compiler/usr/bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    command = ["nice", "-n", "19", python, "-m", "SCons", f"-j{jobs}", *_OPTIONS]
    finished = run(
        command, timeout_s=_BUILD_LIMIT_S, cwd=workshop / "godot", env=environment, on_line=progress.note)
    check("building Godot for Windows", "read the compiler's output above; what is built so far is kept", finished)
    if not (workshop / "godot" / _MADE).is_file():
        raise StepFailed("building Godot for Windows", f"SCons made no {_MADE}", f"correct its name in {__file__}")


def _take(part: Path, workshop: Path) -> dict[str, object]:
    shutil.copy(workshop / "godot" / _MADE, part / "godot.exe")
    return {"packages": contents_note(workshop)["packages"], "options": list(_OPTIONS)}
