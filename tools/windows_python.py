"""A Python for Windows that runs on this machine, in wine: it compiles modules and runs tests, and is not shipped."""
from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import wine, wine_numpy
from tools.cache_folder import cache_folder, fill_whole, is_whole
from tools.packaging import registry_python
from tools.processes import Finished, check, run
from tools.progress import step
from tools.targets import TARGETS
from tools.zig import is_there as is_zig_there

TARGET = TARGETS["windows.x86_64"]
PROGRAM = Path(__file__).with_name("windows_python.c")
_LIMIT_S = 600.0


@dataclass(frozen=True)
class WindowsPython:
    """A private Python as it is shipped, with NumPy changed for wine, and a program that runs it."""

    folder: Path

    @property
    def program(self) -> Path:
        return self.folder / "python.exe"

    def run(
        self, arguments: Sequence[str | Path], limit_s: float = _LIMIT_S, *, cwd: Path | None = None, **environment: str
    ) -> Finished:
        """Run it to its end; paths among the arguments become those of Windows."""
        words = [
            wine.windows_path(word) if isinstance(word, Path) and word.is_absolute() else word for word in arguments]
        settings = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", **environment}
        return wine.run_in_wine(wine_home(), [self.program, *words], limit_s, cwd=cwd, env=settings)

    def compile(self, arguments: Sequence[str | Path]) -> Finished:
        """Run a script that compiles modules, without what is installed."""
        return self.run(["-S", "-B", "-W", "ignore", *arguments])


def wine_home() -> Path:
    """Return the folder of the pretended Windows."""
    return cache_folder() / "wine_home"


def place(root: Path) -> Path:
    """Return where it lies or would lie."""
    return registry_python.place(root, TARGET).with_name(registry_python.place(root, TARGET).name + "_for_wine")


def what_is_missing(root: Path) -> list[str]:
    """Return what would have to be fetched before it runs; empty if all is in the cache."""
    parts = {"zig": is_zig_there(), "wine": wine.is_there(), "CPython for Windows": is_whole(place(root))}
    return [name for name, is_there in parts.items() if not is_there]


def ensure(root: Path, python: Path) -> WindowsPython:
    """Return it, made of what is fetched into the cache.

    Raises:
        StepFailed: if something cannot be had.
    """
    folder = place(root)
    if not wine.is_there():
        wine.fetch()
    if not is_whole(folder):
        parts = registry_python.gather(root, python, TARGET, None)
        with step("making a Python that runs in wine"):
            fill_whole(folder, lambda part: _fill(part, parts))
    return WindowsPython(folder)


def _fill(part: Path, parts: registry_python.RegistryPython) -> dict[str, object]:
    registry_python.lay_out(parts, part)
    shutil.copytree(parts.numpy_folders[0] / "numpy", part / "Lib/numpy", dirs_exist_ok=True)  # with its test tools
    wine_numpy.make_runnable(parts.zig, [part / "Lib/numpy", part / "Lib/numpy.libs"], part)
    options = ["-target", "x86_64-windows-gnu", "-municode", "-O2", "-s"]
    command = [parts.zig, "cc", *options, PROGRAM, "-o", part / "python.exe"]
    check("compiling python.exe", "read the compiler's output above", run(command, timeout_s=_LIMIT_S))
    return {"packages": parts.packages}
