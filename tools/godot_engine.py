"""Finding Godot on this machine, or fetching it, and running it with a time limit."""
from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools import debian_packages
from tools.cache_folder import cache_folder, fill_whole, is_whole
from tools.processes import Finished, run
from tools.progress import StepFailed, step

OLDEST = (4, 4)
"""Oldest Godot the bridge is built for: older ones lack interface functions it needs."""

SUITE = "forky"
"""Debian release with Godot 4.6; bookworm has only Godot 3, trixie none."""

# Drawing without a display is 9 of the 190 MB: not worth a second folder of the rest.
_PACKAGES = (
    "godot", "godot-template-release",
    "libgl1", "libglx-mesa0", "libgl1-mesa-dri", "libegl1", "libegl-mesa0", "xvfb",
)
_LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
_VERSION_LIMIT_S = 60.0


@dataclass(frozen=True)
class GodotEngine:
    """A Godot that can be run.

    Args:
        program: the editor build of Godot.
        prefix: the folder of Debian packages it lives in, with libraries and loader of
            its own; None if it is installed in the ordinary way.
        home: folder for Godot's settings, user data and caches, so that runs neither
            read nor change those of the person at the keyboard; None shares theirs.
    """

    program: Path
    prefix: Path | None = None
    home: Path | None = None
    _versions: list[str] = field(default_factory=list, compare=False, repr=False)

    def command(self, args: Sequence[str | Path] = ()) -> list[str]:
        """Return the whole command line that runs Godot with these arguments."""
        return self.command_of(self.program, args)

    def command_of(self, program: Path, args: Sequence[str | Path] = ()) -> list[str]:
        """Return the command line for another program of the same prefix, such as the template."""
        words = [str(program), *(str(arg) for arg in args)]
        return words if self.prefix is None else [*own_loader(self.prefix), *words]

    def environment(self) -> dict[str, str]:
        """Return the environment to run it in; ours plus where it finds its data."""
        environment = dict(os.environ)
        if self.home is not None:
            # Told apart from what XDG_CACHE_HOME says from here on.
            environment["AI_CORE_CACHE"] = str(cache_folder())
            for variable, folder in (("DATA", "data"), ("CONFIG", "config"), ("CACHE", "cache")):
                environment[f"XDG_{variable}_HOME"] = str(self.home / folder)
        if self.prefix is not None:
            environment["LIBGL_DRIVERS_PATH"] = str(self.prefix / _LIBRARIES / "dri")
            environment["__EGL_VENDOR_LIBRARY_DIRS"] = str(self.prefix / "usr/share/glvnd/egl_vendor.d")
        return environment

    def version(self) -> str:
        """Return what it says of itself, such as "4.6.3.stable.official"; asked once."""
        if not self._versions:
            self._versions.append(reported_version(self.command(["--version"])))
        return self._versions[0]

    def run(
        self,
        args: Sequence[str | Path],
        timeout_s: float,
        *,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Finished:
        """Run Godot to its end, or end it with its children after ``timeout_s`` seconds.

        Args:
            args: Godot's arguments.
            timeout_s: time limit (s); scripts that fail to parse never quit by themselves.
            cwd: folder to run in.
            env: variables on top of ``environment()``.
            on_line: called with each line of output as it comes, on another thread.
        """
        environment = self.environment() | (env or {})
        return run(self.command(args), timeout_s=timeout_s, env=environment, cwd=cwd, on_line=on_line)

    @property
    def release_template(self) -> Path | None:
        """The release build that exported games are made of, or None if there is none."""
        if self.prefix is not None:
            return self.prefix / "usr/bin/godot-template-release"
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
        name = ".".join(self.version().split(".")[:4]).removesuffix(".official")
        template = data / "godot/export_templates" / name / "linux_release.x86_64"
        return template if template.is_file() else None


def own_loader(prefix: Path) -> list[str]:
    """Return what runs a program with the libraries of ``prefix``, libc and all."""
    libraries = prefix / _LIBRARIES
    search = f"{libraries}:{libraries / 'pulseaudio'}"
    return [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", search]


def version_numbers(text: str) -> tuple[int, int] | None:
    """Return (4, 6) for "4.6.3.stable.debian", None for what is no version."""
    found = re.search(r"^(\d+)\.(\d+)", text.strip(), re.MULTILINE)
    return (int(found.group(1)), int(found.group(2))) if found else None


def reported_version(command: Sequence[str]) -> str:
    """Return the version line that a Godot command prints, "" if it prints none."""
    try:
        finished = run(command, timeout_s=_VERSION_LIMIT_S)
    except StepFailed:
        return ""
    lines = [line for line in finished.output.splitlines() if version_numbers(line)]
    return lines[-1] if finished.succeeded and lines else ""


def find_or_fetch(*, fetch: bool = True) -> GodotEngine:
    """Return Godot from $GODOT, PATH or the cache; else fetch it into the cache.

    Raises:
        StepFailed: if $GODOT is set and unusable, or no Godot can be had; says what was tried.
    """
    home = cache_folder() / "godot_home"
    if named := os.environ.get("GODOT"):
        program = Path(shutil.which(named) or named)
        _refuse_unusable(program)
        return GodotEngine(program, home=home)
    tried = ["$GODOT is not set"]
    for name in ("godot4", "godot"):
        found = shutil.which(name)
        if found and _is_new_enough(reported_version([found, "--version"])):
            return GodotEngine(Path(found), home=home)
        tried.append(f"{name} on PATH: {'older than 4.4, or it does not run' if found else 'none'}")
    if not is_whole(_debian_prefix()):
        tried.append(f"cache {cache_folder()}: none")
        if not fetch:
            raise StepFailed("finding Godot", "\n".join(tried), "run: python3 tools/dev.py setup")
        _fetch(tried)
    return GodotEngine(_debian_prefix() / "usr/bin/godot", _debian_prefix(), home)


def debian_prefix(*, needed_for: str) -> Path:
    """Return the folder of Debian packages in the cache, fetched if it is not there.

    Raises:
        StepFailed: if it cannot be had.
    """
    if not is_whole(_debian_prefix()):
        _fetch([f"needed for {needed_for}"])
    return _debian_prefix()


def _debian_prefix() -> Path:
    return cache_folder() / f"debian_{SUITE}"


def _fetch(tried: Sequence[str]) -> None:
    folder = _debian_prefix()
    try:
        with step(f"fetching Debian's Godot into {folder}") as progress:
            fill_whole(
                folder,
                lambda part: {
                    "suite": SUITE,
                    "packages": debian_packages.fetch_packages(_PACKAGES, SUITE, part, progress),
                },
            )
    except StepFailed as failure:
        why = "\n".join([*tried, f"Debian's packages: {failure.step}: {failure.why}"])
        remedy = f"{failure.remedy}\nor install Godot 4.4 or newer and set GODOT to its path"
        raise StepFailed("getting Godot", why, remedy) from None


def _refuse_unusable(program: Path) -> None:
    version = reported_version([str(program), "--version"])
    if not _is_new_enough(version):
        said = f"says version {version!r}" if version else "does not run or names no version"
        raise StepFailed(
            "finding Godot", f"$GODOT is {program}, which {said}",
            "set GODOT to a Godot 4.4 or newer, or unset it to let this script find one",
        )


def _is_new_enough(version: str) -> bool:
    numbers = version_numbers(version)
    return numbers is not None and numbers >= OLDEST
