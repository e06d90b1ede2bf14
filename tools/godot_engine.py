"""Finding Godot on this machine, or fetching it, and running it with a time limit."""
from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools import debian_prefix
from tools.cache_folder import cache_folder
from tools.processes import Finished, run
from tools.progress import StepFailed

OLDEST = (4, 4)
"""Oldest Godot the bridge is built for: older ones lack interface functions it needs."""

# A first start on a cold disk reads 160 MB.
_VERSION_LIMIT_S = 60.0


@dataclass(frozen=True)
class GodotEngine:
    """A Godot that can be run.

    Args:
        program: the editor build of Godot.
        template: the release build that exported games are made of, if known.
        drawing: variables by which it finds what it draws with, if that is not the system's.
    """

    program: Path
    template: Path | None = None
    drawing: tuple[tuple[str, str], ...] = ()

    def command(self, args: Sequence[str | Path] = ()) -> list[str]:
        """Return the whole command line that runs Godot with these arguments."""
        return [str(self.program), *(str(arg) for arg in args)]

    def environment(self, *, private: bool = True) -> dict[str, str]:
        """Return the environment to run it in.

        Args:
            private: settings, user data and caches of our own, so that the run neither
                reads nor changes those of the person at the keyboard.
        """
        environment = {**os.environ, **dict(self.drawing)}
        if private:
            # Said outright, because XDG_CACHE_HOME says something else from here on.
            environment["AI_CORE_CACHE"] = str(cache_folder())
            for variable in ("DATA", "CONFIG", "CACHE"):
                folder = cache_folder() / "godot_home" / variable.lower()
                environment[f"XDG_{variable}_HOME"] = str(folder)
        return environment

    def version(self) -> str:
        """Return what it says of itself, such as "4.6.3.stable.official"; asked once."""
        return self._version

    @cached_property
    def _version(self) -> str:
        return reported_version(self.program)

    def run(
        self,
        args: Sequence[str | Path],
        timeout_s: float,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        private: bool = True,
        on_line: Callable[[str], None] | None = None,
    ) -> Finished:
        """Run Godot to its end, or end it with its children after ``timeout_s`` seconds.

        Args:
            args: Godot's arguments.
            timeout_s: time limit (s); scripts that fail to parse never quit by themselves.
            cwd: folder to run in.
            env: variables on top of ``environment()``.
            private: as in ``environment()``.
            on_line: called with each line of output as it comes, on another thread.
        """
        environment = {**self.environment(private=private), **(env or {})}
        return run(self.command(args), timeout_s=timeout_s, env=environment, cwd=cwd, on_line=on_line)

    @property
    def release_template(self) -> Path | None:
        """The release build that exported games are made of, or None if none is installed."""
        if self.template is not None:
            return self.template
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
        name = template_folder(self.version())
        installed = data / "godot/export_templates" / name / "linux_release.x86_64"
        return installed if installed.is_file() else None


def find_or_fetch(*, fetch: bool = True) -> GodotEngine:
    """Return Godot from $GODOT, PATH or the cache; else fetch it into the cache.

    Args:
        fetch: False fails instead of downloading.

    Raises:
        StepFailed: if $GODOT is set and unusable, or no Godot can be had; says what was tried.
    """
    if named := os.environ.get("GODOT"):
        program = _usable(Path(shutil.which(named) or named))
        # Tests hand on what was fetched as $GODOT: its template and drawing libraries lie beside it.
        return fetched() if program == debian_prefix.program("godot") else GodotEngine(program)
    tried = ["$GODOT is not set"]
    for name in ("godot4", "godot"):
        found = shutil.which(name)
        if found and is_new_enough(reported_version(Path(found))):
            return GodotEngine(Path(found))
        tried.append(f"{name} on PATH: {'older than 4.4, or it does not run' if found else 'none'}")
    if not debian_prefix.is_there():
        tried.append(f"cache {debian_prefix.prefix_folder()}: none")
        if not fetch:
            raise StepFailed("finding Godot", "\n".join(tried), "run: python3 tools/dev.py setup")
        debian_prefix.fetch(tried)
    return fetched()


def fetched() -> GodotEngine:
    """Return the Godot that was fetched into the cache, with its release template."""
    return GodotEngine(
        debian_prefix.program("godot"),
        debian_prefix.program("godot-template-release"),
        tuple(debian_prefix.drawing_environment().items()),
    )


def reported_version(program: Path) -> str:
    """Return the version line that a Godot prints, "" if it does not run or prints none."""
    try:
        finished = run([program, "--version"], timeout_s=_VERSION_LIMIT_S)
    except StepFailed:
        return ""
    lines = [line for line in finished.output.splitlines() if version_numbers(line)]
    return lines[-1] if finished.succeeded and lines else ""


def version_numbers(text: str) -> tuple[int, int] | None:
    """Return (4, 6) for "4.6.3.stable.debian", None for what is no version."""
    found = re.match(r"(\d+)\.(\d+)\b", text.strip())
    return (int(found.group(1)), int(found.group(2))) if found else None


def is_new_enough(version: str) -> bool:
    """Return whether a version line names a Godot that the bridge can live in."""
    numbers = version_numbers(version)
    return numbers is not None and numbers >= OLDEST


def template_folder(version: str) -> str:
    """Return the folder name of a version's export templates: "4.6.3.stable" and the like."""
    found = re.match(r"(\d+\.\d+(?:\.\d+)?\.[a-z]+\d*)", version)
    return found.group(1) if found else version


def _usable(program: Path) -> Path:
    version = reported_version(program)
    if not is_new_enough(version):
        said = f"says version {version!r}" if version else "does not run or names no version"
        raise StepFailed(
            "finding Godot", f"$GODOT is {program}, which {said}",
            "set GODOT to a Godot 4.4 or newer, or unset it to let this script find one",
        )
    return program
