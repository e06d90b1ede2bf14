"""The class reference as XML, written by Godot, for only there the nodes are declared."""
from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tools.engine_output import complaints
from tools.godot_engine import GodotEngine
from tools.progress import StepFailed, step

_LIMIT_S = 60.0
_QUIT = "extends SceneTree\n\nfunc _initialize() -> void:\n\tquit()\n"


def write_reference(engine: GodotEngine, root: Path, folder: Path) -> list[Path]:
    """Write the XML of every node into ``folder`` and return the files.

    Raises:
        StepFailed: if Godot complains or writes nothing.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with step("writing the class reference"), tempfile.TemporaryDirectory() as scratch:
        script = Path(scratch) / "quit.gd"
        script.write_text(_QUIT)
        finished = engine.run(
            ["--headless", "--path", root, "-s", script], _LIMIT_S,
            env={"AI_CORE_MODULES": "tools.documentation.writing_reference", "AI_CORE_REFERENCE": str(folder)},
        )
    files = sorted(folder.glob("*.xml"))
    if complaints(finished.output) or not finished.succeeded or not files:
        raise StepFailed("writing the class reference", finished.explain(), "put right what Godot complains about")
    return files
