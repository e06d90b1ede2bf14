"""Everything that must be there before Godot runs our nodes; what is there already is skipped."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools import build_bridge
from tools.environment import ensure_environment
from tools.godot_engine import GodotEngine, find_or_fetch
from tools.godot_project import prepare_project
from tools.progress import StepFailed, step
from tools.python_config import config_text, write_config
from tools.python_library import PythonLibrary, find_or_fetch_library
from tools.targets import Target, host
from tools.zig import ensure_zig

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Prepared:
    """A repository in which everything can run."""

    root: Path
    python: Path
    engine: GodotEngine
    library: PythonLibrary

    @property
    def python_settings(self) -> str:
        """The python.cfg that makes the loader start .venv's Python."""
        return config_text(self.library.libpython, self.python)


def prepare(root: Path = ROOT) -> Prepared:
    """Make environment, Godot, bridge and imported project ready, whichever are not.

    Raises:
        StepFailed: naming the step, why it failed and what to do.
    """
    prepared = build(root)
    prepare_project(prepared.engine, root)
    return prepared


def build(root: Path = ROOT, *, force: bool = False) -> Prepared:
    """Make environment, Godot and bridge ready; ``force`` builds a current bridge again.

    Raises:
        StepFailed: naming the step, why it failed and what to do.
    """
    python = ensure_environment(root)
    engine = find_or_fetch()
    library = find_or_fetch_library(python)
    prepared = Prepared(root, python, engine, library)
    zig = _compiler_of_host(python)
    build_kernels(python, library.include_dirs, zig)
    if force or not build_bridge.is_current(python=python):
        _build_bridge(prepared, host(), zig)
    write_config(root / "addons" / "ai_core", prepared.python_settings)
    return prepared


def build_for(target: Target, prepared: Prepared, *, force: bool = False) -> None:
    """Build bridge and kernels for another platform with zig, which is fetched into the cache.

    Raises:
        StepFailed: naming the step, why it failed and what to do.
    """
    if target == host():
        return  # ``build`` made it
    if force or not build_bridge.is_current(python=prepared.python, target=target):
        _build_bridge(prepared, target, ensure_zig(prepared.python))


def _compiler_of_host(python: Path) -> Path | None:
    """Return zig where the machine's own compiler is not used: elsewhere than on Linux."""
    return None if host().system == "linux" else ensure_zig(python)


def build_kernels(python: Path, include_dirs: Iterable[Path] = (), zig: Path | None = None) -> None:
    """Build the core's compiled kernels if they are not current; where that fails, say so in one line.

    Everything runs without them, only slower.
    """
    facts = build_bridge.python_facts(python)
    if build_bridge.kernels_are_current(facts):
        return
    try:
        with step("building the core's kernels"):
            build_bridge.build_kernels(python=python, include_dirs=include_dirs, zig=zig)
    except StepFailed as failure:
        why = failure.why.splitlines()
        print(f"ai_core runs without compiled kernels, slower: {failure.step} failed: {why[-1] if why else ''}")


def _build_bridge(prepared: Prepared, target: Target, zig: Path | None) -> None:
    with step("building the bridge" if target == host() else f"building bridge and kernels for {target.name}"):
        build_bridge.build(
            python=prepared.python,
            dump_interface=build_bridge.dump_with(prepared.engine.command()),
            include_dirs=prepared.library.include_dirs,
            target=target,
            zig=zig,
        )
