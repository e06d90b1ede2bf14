"""A suite's scene as a small exported game: what players run, not what developers run.

The release template knows no --path: it starts from the .pck beside it. Extensions lie
beside it too, and what Python reads in addons/ below, as Godot's own export lays it out.
"""
from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from tools.benchmarking import records
from tools.benchmarking.declarations import Scene
from tools.benchmarking.suites import FOLDER
from tools.build_bridge import platform_name
from tools.engine_output import complaints
from tools.godot_engine import GodotEngine
from tools.godot_project import EXTENSION, list_extension
from tools.processes import check, run
from tools.progress import StepFailed

_NAME = "benchmark"
_ADDON = Path("addons") / "ai_core"
# The panel of AIDebugOverlay, which is written in GDScript.
_DEBUGGING = _ADDON / "debugging"
# Debian's release template says so of every Control that leaves a container, ours or not.
_OF_THE_TEMPLATE = "Attempt to disconnect a nonexistent connection"
# A benchmark may have more work than its budget pays for.
_OF_OVERLOAD = "signals are emitted faster than the budget of the senses"
# Not read by a running game: what builds, and what was made by running.
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "build", "*.pyx", "*.pxi", "*.c", "*.h", "*.import", "*.uid")
_PACK_LIMIT_S = 60.0

_SETTINGS = """config_version=5

[application]

config/name="benchmark"
run/main_scene="{scene}"

[debug]

file_logging/enable_file_logging=false

[physics]

3d/physics_engine="Jolt Physics"
"""


@dataclass(frozen=True)
class ReleaseGame:
    """A game that is ready to run.

    Args:
        folder: holds the program and all that it reads.
        engine: whose environment it runs in.
        scene: the suite's.
    """

    folder: Path
    engine: GodotEngine
    scene: Scene

    @property
    def program(self) -> Path:
        return self.folder / _NAME

    def environment(self) -> dict[str, str]:
        """Return the environment to run it in."""
        return {**self.engine.environment(), "AI_CORE_MODULES": ",".join(self.scene.modules)}

    def command(self) -> list[str]:
        """Return the command line that runs it."""
        return [str(self.program), "--headless", *self.scene.arguments]

    def measure(self) -> list[records.Record]:
        """Run it once and return what it reported.

        Raises:
            StepFailed: if it complains, or does not come to its end.
        """
        finished = run(self.command(), timeout_s=self.scene.limit_s, env=self.environment(), cwd=self.folder)
        found = records.read(finished.output)
        said = [
            line for line in complaints(finished.output) if _OF_THE_TEMPLATE not in line and _OF_OVERLOAD not in line]
        if said or not finished.succeeded or not records.of_kind("end", found):
            why = replace(finished, output=records.other_lines(finished.output)).explain()
            raise StepFailed(
                f"running {self.scene.path}", "\n".join(said) or why,
                "put right what Godot says, then run the suite again",
            )
        return found


def build(engine: GodotEngine, root: Path, scene: Scene, folder: Path, *, libraries: Path | None = None) -> ReleaseGame:
    """Make a game of a suite's scene.

    Args:
        engine: packs it, and has the release template.
        root: this repository, with the bridge built.
        scene: what the game starts with.
        folder: an empty one to fill.
        libraries: folder of the bridge's libraries to use instead of the repository's.

    Raises:
        StepFailed: if there is no release template, or packing fails.
    """
    template = engine.release_template
    if template is None:
        raise StepFailed(
            "finding Godot's release build", "a benchmark in an editor build says little about games",
            "install the export templates of your Godot (editor: Editor > Manage Export Templates), or unset GODOT",
        )
    _copy_code(root, folder)
    if libraries is not None:
        shutil.copytree(libraries, folder / _ADDON / "bin" / platform_name(), dirs_exist_ok=True)
    for library in (folder / _ADDON / "bin" / platform_name()).glob("*ai_core_loader*"):
        shutil.copy2(library, folder / library.name)
    _link_or_copy(template.resolve(), folder / _NAME)
    _pack(engine, root, scene, folder)
    return ReleaseGame(folder, engine, scene)


def _copy_code(root: Path, folder: Path) -> None:
    """Copy all that Python reads, so that editing meanwhile changes no measurement."""
    for part in (_ADDON, Path("ai_core"), FOLDER, Path("tools") / "benchmarking"):
        shutil.copytree(root / part, folder / part, ignore=_LEFT_OUT)


def _pack(engine: GodotEngine, root: Path, scene: Scene, folder: Path) -> None:
    """Put into the .pck all that Godot reads: settings, scenes and scripts."""
    packed = folder / "packed"
    shutil.copytree(root / FOLDER, packed / FOLDER, ignore=shutil.ignore_patterns("*.py", "__pycache__", ".gdignore"))
    shutil.copytree(root / _DEBUGGING, packed / _DEBUGGING)
    extension = packed / EXTENSION.removeprefix("res://")
    extension.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(root / _ADDON / extension.name, extension)
    list_extension(packed)
    # Without this list, empty as it is, the engine complains at its start.
    (packed / ".godot" / "global_script_class_cache.cfg").write_text("list=[]\n")
    (packed / "project.godot").write_text(_SETTINGS.format(scene=scene.path))
    bare = folder / "bare_project"
    bare.mkdir()
    (bare / "project.godot").write_text("config_version=5\n")
    script = Path(__file__).with_name("pack_game.gd")
    finished = engine.run(
        ["--headless", "--path", bare, "-s", script, "--", folder / f"{_NAME}.pck", packed], _PACK_LIMIT_S
    )
    check("packing the benchmark", "read Godot's output above", finished)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
