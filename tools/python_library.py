"""The shared library and C headers of a Python: found, or fetched without touching the system."""
from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tools.cache_folder import cache_folder, fill_whole, is_whole
from tools.debian_packages import fetch_without_dependencies
from tools.processes import check, run
from tools.progress import StepFailed, step

_ASK = """
import json, sys, sysconfig
value = sysconfig.get_config_var
print(json.dumps({
    "version": "%d.%d" % sys.version_info[:2], "base": sys.base_prefix,
    "library": value("INSTSONAME") or "", "folder": value("LIBDIR") or "",
    "multiarch": value("MULTIARCH") or "", "include": sysconfig.get_path("include"),
}))
"""


@dataclass(frozen=True)
class PythonFacts:
    """What a Python says of its own parts; ``library`` may name a file that is not there."""

    version: str
    base: Path
    library: Path
    include: Path

    @property
    def is_debians(self) -> bool:
        """Whether Debian's packages fit this Python."""
        return self.base == Path("/usr")


@dataclass(frozen=True)
class PythonLibrary:
    """Where libpython is, and the header folders that the compiler does not find by itself."""

    libpython: Path
    include_dirs: tuple[Path, ...] = ()
    own_headers: Path | None = None

    @property
    def headers(self) -> Path:
        """The folder that holds ``Python.h``."""
        return next((one for one in self.include_dirs if (one / "Python.h").is_file()), self.own_headers or Path())


def ask(python: Path) -> PythonFacts:
    """Ask a Python (an environment's too) where its library and headers ought to be."""
    finished = run([python, "-I", "-c", _ASK], timeout_s=30.0)
    check(f"asking {python} for its parts", "remove .venv and run setup again", finished)
    said = json.loads(finished.output.splitlines()[-1])
    library, folder = str(said["library"]), Path(said["folder"])
    if not library.startswith("libpython") or library.endswith(".a"):
        library = f"libpython{said['version']}.so.1.0"
    places = [folder / library, folder / said["multiarch"] / library]
    there = [place for place in places if place.is_file()]
    return PythonFacts(
        said["version"], Path(said["base"]), (there or places)[0], Path(said["include"])
    )


def find_or_fetch_library(python: Path) -> PythonLibrary:
    """Return the library and headers that fit ``python``; fetch Debian's if it lacks its own.

    Raises:
        StepFailed: if it lacks them and they cannot be fetched; says what to install.
    """
    facts = ask(python)
    has_library = facts.library.is_file()
    has_headers = (facts.include / "Python.h").is_file()
    if has_library and has_headers:
        return PythonLibrary(facts.library, own_headers=facts.include)
    if not facts.is_debians:
        missing = "shared library" if not has_library else "C headers"
        raise StepFailed(
            "finding the parts of Python", f"{facts.base} has no {missing} (looked for {facts.library})",
            "use a Python built with --enable-shared, such as /usr/bin/python3: remove .venv and "
            "start tools/dev.py with it",
        )
    prefix = _fetch(facts)
    libraries = sorted(prefix.glob(f"usr/lib/*/{facts.library.name}"))
    includes = () if has_headers else (prefix / "usr/include" / f"python{facts.version}", prefix / "usr/include")
    return PythonLibrary(facts.library if has_library else libraries[0], includes, facts.include)


def _fetch(facts: PythonFacts) -> Path:
    names = [f"libpython{facts.version}", f"libpython{facts.version}-dev"]
    folder = cache_folder() / f"libpython{facts.version}"
    if not is_whole(folder):
        with step(f"fetching {' and '.join(names)} into {folder}") as progress:
            fill_whole(folder, lambda part: {"packages": fetch_without_dependencies(names, part, progress)})
    return folder
