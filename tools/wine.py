"""wine, which runs programs for Windows on Linux: Debian's, in a folder of the cache, without a display.

It needs a newer libc than most machines have, so its programs use the loader and libraries beside them.
"""
from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.cache_folder import cache_folder, contents_note, fill_whole, is_whole
from tools.debian_packages import fetch_packages
from tools.processes import Finished, check, run
from tools.progress import Step, step

SUITE = "trixie"
"""Debian release with wine 10; bookworm's wine 8 lacks what NumPy needs."""

_PACKAGES = ("wine64", "patchelf")
_LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
_LOADER = "ld-linux-x86-64.so.2"
_LIMIT_S = 300.0


def wine_folder() -> Path:
    """Return where the packages lie or would lie."""
    return cache_folder() / f"debian_{SUITE}_wine"


def is_there() -> bool:
    """Return whether wine is in the cache, whole, and not moved since."""
    folder = wine_folder()
    return is_whole(folder) and contents_note(folder)["folder"] == str(folder)


def fetch() -> None:
    """Fill the folder from Debian's packages, 200 MB.

    Raises:
        StepFailed: if they cannot be had.
    """
    final = wine_folder()
    with step(f"fetching Debian's wine into {final}") as progress:
        fill_whole(final, lambda part: _fill(part, final, progress))


def run_in_wine(
    home: Path, arguments: Sequence[str | Path], limit_s: float, *, cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Run a program for Windows to its end, or end it with its children after ``limit_s`` seconds.

    Args:
        home: folder of the pretended Windows, made by the first run.
        arguments: the program, and what it is told.
        limit_s: time limit (s).
        cwd: folder to run in.
        env: variables on top of this process's.
    """
    environment = wine_environment(home, env or {})
    finished = run([program(), *arguments], timeout_s=limit_s, env=environment, cwd=cwd)
    if finished.timed_out:  # its programs are in sessions of their own; the server knows them
        end_all(home)
    return finished


def program() -> Path:
    """Return the program that runs programs for Windows."""
    return wine_folder() / "usr/lib/wine/wine64"


def wine_environment(home: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment to run it in; arguments as of ``run_in_wine``."""
    _prepare_home(home)
    return {
        **{name: value for name, value in os.environ.items() if name not in ("DISPLAY", "VIRTUAL_ENV", "PYTHONPATH")},
        "WINEPREFIX": str(home), "WINEARCH": "win64", "WINEDEBUG": "-all",
        # No browser, no .NET, no menus: what a first start would ask for.
        "WINEDLLOVERRIDES": "mscoree=;mshtml=;winemenubuilder.exe=",
        "WINESERVER": str(program().with_name("wineserver")), "WINELOADER": str(program()),
        **env,
    }


def end_all(home: Path) -> None:
    """End whatever runs in a pretended Windows."""
    run([program().with_name("wineserver"), "-k"], timeout_s=_LIMIT_S, env=wine_environment(home, {}))


def _prepare_home(home: Path) -> None:
    """Put what wine's own libraries need, and Debian keeps elsewhere, where Windows has its system's."""
    system = home / "drive_c/windows/system32"
    if not (system / "zlib1.dll").exists():
        system.mkdir(parents=True, exist_ok=True)
        shutil.copy(wine_folder() / "usr/x86_64-w64-mingw32/lib/zlib1.dll", system)


def windows_path(path: Path) -> str:
    """Return how a program in wine calls a file of this machine."""
    return "Z:" + str(path.absolute()).replace("/", "\\")


def _fill(part: Path, final: Path, progress: Step) -> dict[str, object]:
    packages = fetch_packages(_PACKAGES, SUITE, part, progress)
    progress.note("binding programs to their libraries")
    libraries = part / _LIBRARIES
    command: list[str | Path] = [libraries / _LOADER, "--library-path", libraries, part / "usr/bin/patchelf"]
    programs = [part / "usr/lib/wine" / name for name in ("wine64", "wineserver64")]
    # DT_RPATH also serves what libraries need in turn; a variable would serve the system's shell, too.
    options = ["--set-interpreter", final / _LIBRARIES / _LOADER, "--force-rpath", "--set-rpath", final / _LIBRARIES]
    finished = run([*command, *options, *programs], timeout_s=_LIMIT_S)
    check("binding wine to its libraries", "this version of wine is laid out differently", finished)
    os.replace(programs[1], programs[1].with_name("wineserver"))  # a script that looks for it in the system
    (part / "usr/share/wine/wine").symlink_to(".")  # where it looks for tables of letters
    shutil.rmtree(libraries / "wine/i386-windows", ignore_errors=True)  # of 32 bits, 350 MB
    return {"folder": str(final), "suite": SUITE, "packages": packages}
