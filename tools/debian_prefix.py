"""Debian's Godot and an X server in a folder of the cache, ready to run from there.

The programs need a newer libc than most machines have, so each is told to use the
loader and libraries that lie beside it. The machine's own programs are not affected.
"""
from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from tools.cache_folder import cache_folder, contents_note, fill_whole, is_whole
from tools.debian_packages import fetch_packages
from tools.processes import check, run
from tools.progress import Step, StepFailed, step

SUITE = "forky"
"""Debian release with Godot 4.6; bookworm has only Godot 3, trixie none."""

# Drawing without a display is 9 of the 190 MB: not worth a second folder of the rest.
_PACKAGES = (
    "godot", "godot-template-release", "patchelf",
    "libgl1", "libglx-mesa0", "libgl1-mesa-dri", "libegl1", "libegl-mesa0", "xvfb",
)
_PROGRAMS = ("godot", "godot-template-release", "Xvfb", "xkbcomp")
_LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
_LOADER = "ld-linux-x86-64.so.2"
# Where Xvfb looks for xkbcomp. No option changes it, so ours looks in the folder it is
# started in.
_KEYMAP_PROGRAMS = b"\0/usr/bin\0"
_HERE = b"\0.".ljust(len(_KEYMAP_PROGRAMS), b"\0")
_PATCH_LIMIT_S = 120.0
_FONT_SETTINGS, _KEY_LOCALES = Path("/etc/fonts/fonts.conf"), Path("/usr/share/X11/locale")


def prefix_folder() -> Path:
    """Return where the packages lie or would lie."""
    return cache_folder() / f"debian_{SUITE}_godot"


def is_there() -> bool:
    """Return whether the packages are in the cache, whole, and not moved since."""
    folder = prefix_folder()
    return is_whole(folder) and contents_note(folder)["folder"] == str(folder)


def program(name: str) -> Path:
    """Return a program of the prefix, one of godot, godot-template-release, Xvfb."""
    return prefix_folder() / "usr/bin" / name


def drawing_environment() -> dict[str, str]:
    """Return the variables by which programs of the prefix find its software drawing, and fonts and keys to it."""
    folder = prefix_folder()
    found = {
        "LIBGL_DRIVERS_PATH": str(folder / _LIBRARIES / "dri"),
        "__EGL_VENDOR_LIBRARY_DIRS": str(folder / "usr/share/glvnd/egl_vendor.d"),
    }
    # A machine that never drew anything has neither, and Godot complains of it at every start.
    if not _FONT_SETTINGS.exists():
        found["FONTCONFIG_FILE"] = str(folder / _FONT_SETTINGS.relative_to("/"))
    if not _KEY_LOCALES.exists():
        found["XLOCALEDIR"] = str(folder / _KEY_LOCALES.relative_to("/"))
    return found


def fetch(tried: Sequence[str]) -> None:
    """Fill the prefix from Debian's packages.

    Args:
        tried: what was looked at before, told if this fails too.

    Raises:
        StepFailed: if the packages cannot be had.
    """
    final = prefix_folder()
    shutil.rmtree(final, ignore_errors=True)
    try:
        with step(f"fetching Debian's Godot into {final}") as progress:
            fill_whole(final, lambda part: _fill(part, final, progress))
    except StepFailed as failure:
        why = "\n".join([*tried, f"Debian's packages: {failure.step}: {failure.why}"])
        remedy = f"{failure.remedy}\nor install Godot 4.4 or newer and set GODOT to its path"
        raise StepFailed("getting Godot", why, remedy) from None


def _fill(part: Path, final: Path, progress: Step) -> dict[str, object]:
    packages = fetch_packages(_PACKAGES, SUITE, part, progress)
    progress.note("binding programs to their libraries")
    _bind(part, final)
    xvfb = part / "usr/bin/Xvfb"
    xvfb.write_bytes(with_keymap_programs_here(xvfb.read_bytes()))
    return {"folder": str(final), "suite": SUITE, "packages": packages}


def _bind(part: Path, final: Path) -> None:
    """Make programs in ``part`` use the loader and libraries that will be in ``final``."""
    libraries = final / _LIBRARIES
    search = f"{libraries}:{libraries / 'pulseaudio'}"
    # DT_RPATH also serves what libraries need in turn; DT_RUNPATH would not.
    options: list[str | Path] = ["--set-interpreter", libraries / _LOADER, "--force-rpath", "--set-rpath", search]
    _patchelf(part, *options, *(part / "usr/bin" / name for name in _PROGRAMS))
    # A library with a path of its own would not be served by the program's.
    own_paths = [part / _LIBRARIES / name for name in ("libpulse.so.0", "libpulse-simple.so.0")]
    own_paths += (part / _LIBRARIES).glob("libLLVM.so.*")
    _patchelf(part, "--remove-rpath", *(library.resolve() for library in own_paths))


def _patchelf(part: Path, *arguments: str | Path) -> None:
    libraries = part / _LIBRARIES
    command: list[str | Path] = [libraries / _LOADER, "--library-path", libraries, part / "usr/bin/patchelf"]
    finished = run([*command, *arguments], timeout_s=_PATCH_LIMIT_S)
    check("binding programs to their libraries", "install Godot 4.4 or newer and set GODOT", finished)


def with_keymap_programs_here(xvfb: bytes) -> bytes:
    """Return Xvfb's bytes changed so that it starts xkbcomp from the current folder.

    Raises:
        StepFailed: if the place to change is not there exactly once.
    """
    if xvfb.count(_KEYMAP_PROGRAMS) != 1:
        raise StepFailed("preparing Xvfb", "this version of Xvfb is laid out differently", "install xvfb")
    return xvfb.replace(_KEYMAP_PROGRAMS, _HERE)
