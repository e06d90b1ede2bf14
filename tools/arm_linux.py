"""Linux on ARM on this machine, by qemu: Debian's qemu and Debian's libraries for that processor, in the cache."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.cache_folder import cache_folder, fill_whole, is_whole
from tools.debian_packages import fetch_without_dependencies
from tools.packaging.ingredients import PACKAGES, SUITE
from tools.processes import Finished, run
from tools.progress import step
from tools.targets import TARGETS

TARGET = TARGETS["linux.arm64"]
_EMULATOR = "qemu-user-static"
_LIBRARIES = ("libc6", "libgcc-s1", "libstdc++6", "zlib1g")


def folder() -> Path:
    """Return where the packages lie or would lie."""
    return cache_folder() / f"arm64_{SUITE}"


def is_there() -> bool:
    """Return whether the emulator and the libraries are in the cache."""
    return is_whole(folder())


def fetch() -> None:
    """Fill the folder from Debian's packages, 60 MB.

    Raises:
        StepFailed: if they cannot be had.
    """
    with step("fetching Linux on ARM") as progress:
        def fill(part: Path) -> dict[str, object]:
            for name in ("emulator", "root"):
                (part / name).mkdir()
            packages = fetch_without_dependencies([_EMULATOR], part / "emulator", progress, suite=SUITE)
            wanted = sorted({*_LIBRARIES, *PACKAGES})
            packages += fetch_without_dependencies(
                wanted, part / "root", progress, suite=SUITE, architecture="arm64")
            return {"packages": packages}

        fill_whole(folder(), fill)


def run_on_arm(
    arguments: Sequence[str | Path], limit_s: float, *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Finished:
    """Run a program for ARM to its end, or end it after ``limit_s`` seconds; ``env`` is its whole environment."""
    emulator = folder() / "emulator/usr/bin/qemu-aarch64-static"
    return run([emulator, "-L", folder() / "root", *arguments], timeout_s=limit_s, cwd=cwd, env=env)


def python() -> Path:
    """Return Debian's Python for ARM."""
    return folder() / "root/usr/bin/python3.11"
