"""Taking a picture of Godot's editor with a scene of ours, on a machine without a screen."""
from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tools.addon_install import install
from tools.demo import scene_path
from tools.engine_output import complaints
from tools.preparation import Prepared
from tools.progress import StepFailed, step
from tools.screenshot import OF_THE_DISPLAY, SIZE
from tools.virtual_display import virtual_display

# Importing the project first, and drawing in software: 20 s on two cores.
_IMPORT_LIMIT_S, _PICTURE_LIMIT_S = 300.0, 180.0
_PLUGIN = '[plugin]\n\nname="picture"\ndescription=""\nauthor=""\nversion="1"\nscript="plugin.gd"\n'
# A game of the editor needs no window of its own.
_RUNNING = '\n[editor]\n\nrun/main_run_args="--headless"\n'
_OURS, _PICTURE = '"res://addons/ai_core/plugin.cfg"', '"res://addons/picture/plugin.cfg"'


def take_editor_screenshot(
    prepared: Prepared, scene: str, select: str, out: Path, *, live_s: float | None = None,
) -> None:
    """Open ``scene`` in the editor, plugin enabled, select a node and save what the editor shows as a PNG.

    The project is a copy of the demonstrations and of the folder that the scene is in, so that nothing of it changes.

    Args:
        prepared: engine and bridge.
        scene: "museum" or "res://any/scene.tscn".
        select: path of a node in the scene, "." for its root.
        out: file to write; its folder is made.
        live_s: how long the scene runs before the selected HabitTree or StateMachine is shown live (s); None not at
            all.

    Raises:
        StepFailed: if no picture comes out or Godot complains.
    """
    path = scene_path(prepared.root, scene)
    out = out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    width, height = SIZE
    with tempfile.TemporaryDirectory() as scratch, step(f"taking a picture of {scene} in the editor") as progress:
        project = Path(scratch)
        _copy(prepared, project, path.removeprefix("res://").split("/")[0])
        progress.note("importing")
        prepared.engine.run(["--headless", "--path", project, "--import"], _IMPORT_LIMIT_S)
        progress.note("opening the editor")
        with virtual_display(width, height) as display:
            finished = prepared.engine.run(
                ["--editor", "--path", project, "--rendering-driver", "opengl3", "--audio-driver", "Dummy",
                 "--resolution", f"{width}x{height}", "--position", "0,0",
                 "++", f"--scene={path}", f"--select={select}", f"--out={out}",
                 *([] if live_s is None else [f"--live={live_s}"])],
                _PICTURE_LIMIT_S, env={"DISPLAY": display, "WAYLAND_DISPLAY": ""},
            )
    found = [line for line in complaints(finished.output) if not any(text in line for text in OF_THE_DISPLAY)]
    if not finished.succeeded or found or not out.is_file():
        raise StepFailed(f"taking a picture of {scene} in the editor", finished.explain(), "read Godot's output above")


def _copy(prepared: Prepared, project: Path, top: str) -> None:
    """Make a project of the demonstrations, what lies at ``top`` of ours, and the addon."""
    for name in sorted({"demo_project", top} - {"addons"}):
        found = prepared.root / name
        if found.is_dir():
            shutil.copytree(found, project / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(found, project / name)
    settings = (prepared.root / "project.godot").read_text()
    (project / "project.godot").write_text(settings.replace(_OURS, f"{_OURS}, {_PICTURE}") + _RUNNING)
    install(prepared.root, project, prepared.python_settings)
    picture = project / "addons" / "picture"
    picture.mkdir()
    (picture / "plugin.cfg").write_text(_PLUGIN)
    shutil.copy(Path(__file__).with_suffix(".gd"), picture / "plugin.gd")
