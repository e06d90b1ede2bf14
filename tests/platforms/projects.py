"""What tests of other platforms share: the addon as it is shipped, and a stand-in for Godot that opens it."""
from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from tools import build_bridge
from tools.packaging.command import package
from tools.preparation import Prepared
from tools.processes import check, run
from tools.targets import Target

HERE = Path(__file__).parent
NODES = {"AIScheduler", "AIEventManager", "HabitTree", "SenseManager", "Sensor3D", "PathService", "Squad"}
"""Some of the classes that every platform must register."""


def make_project(prepared: Prepared, target: Target, project: Path) -> Path:
    """Unpack the platform's zip into ``project``, with what the stand-in answers; return the loader."""
    archive = package(prepared, project.parent, targets=[target])
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(project)
    archive.unlink()
    addon = project / "addons/ai_core"
    build_bridge.dump_with(prepared.engine.command())(project)
    shutil.copy(HERE / "stand_in_engine.py", project)
    start = addon / "register.py"
    start.write_text(start.read_text().replace("import importlib\n", "import importlib\nimport stand_in_engine\n", 1)
                     + "\nstand_in_engine.install()\n")
    return addon / "bin" / target.name / target.loader


def compile_stand_in(zig: Path, target: Target, headers: Path, made: Path) -> None:
    """Compile the stand-in for ``target``; ``headers`` holds ``gdextension_interface.h``."""
    options = ["-municode"] if target.system == "windows" else []
    command = [zig, "cc", "-target", target.triples[0], *options, "-O1", "-s", f"-I{headers}", HERE / "stand_in.c"]
    finished = run([*command, "-o", made], timeout_s=300.0)
    check("compiling the stand-in", "read the compiler's output above", finished)


def registered(output: str) -> list[str]:
    """Return the names of the classes that the stand-in was given."""
    return [line.split()[1] for line in output.splitlines() if line.startswith("class ")]
