"""Taking a picture of a scene on a machine without a screen."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tools.demo import scene_path
from tools.engine_output import complaints
from tools.godot_engine import GodotEngine
from tools.progress import StepFailed, step
from tools.virtual_display import virtual_display

SIZE = (1280, 720)
# Drawing in software takes most of it: 10 s for the museum on two cores.
_PICTURE_LIMIT_S = 120.0
# Drawing and copying one frame of an animation: half a second on two cores.
_FRAME_LIMIT_S = 4.0
OF_THE_DISPLAY = ("Could not set V-Sync mode", "VK_KHR_surface", 'Condition "err != OK"')
"""Software drawing cannot wait for a screen that is not there, and the editor looks for Vulkan in vain: they say so."""

CUT_SHORT = "ObjectDB instances leaked at exit"
"""A scene whose script awaits something is ended in the middle of it: the engine keeps what waits."""


def take_screenshot(
    engine: GodotEngine, root: Path, scene: str, out: Path, *, after_s: float, settings: Sequence[str] = (),
) -> None:
    """Play ``scene`` with its script and save what it shows as a PNG.

    Args:
        engine: the Godot to run.
        root: the project.
        scene: "museum" or "res://any/scene.tscn".
        out: file to write; its folder is made.
        after_s: game time to let pass before the picture (s), 0 or more.
        settings: properties of nodes to set before, as "Node/Path:property=value", the value as in a scene file.

    Raises:
        StepFailed: if no picture comes out or Godot complains.
    """
    _play(
        engine, root, scene, out, limit_s=_PICTURE_LIMIT_S,
        arguments=[f"--after={after_s}", *(f"--set={one}" for one in settings)])


def take_frames(
    engine: GodotEngine, root: Path, scene: str, out: Path, *, after_s: float, frames: int, every_s: float,
    size: tuple[int, int], settings: Sequence[str] = (),
) -> None:
    """Play ``scene`` with its script and save frames of it, RGB, one after the other in one file.

    Args:
        engine: the Godot to run.
        root: the project.
        scene: "museum" or "res://any/scene.tscn".
        out: file to write.
        after_s: game time before the first frame (s), 0 or more.
        frames: how many, 1 or more.
        every_s: game time between two of them (s), 1/60 or more.
        size: width and height that they are scaled to (px).
        settings: as of ``take_screenshot``.

    Raises:
        StepFailed: if no frames come out or Godot complains.
    """
    _play(
        engine, root, scene, out, limit_s=_PICTURE_LIMIT_S + _FRAME_LIMIT_S * frames,
        arguments=[f"--after={after_s}", f"--frames={frames}", f"--every={every_s}", f"--width={size[0]}",
                   f"--height={size[1]}", *(f"--set={one}" for one in settings)])


def _play(
    engine: GodotEngine, root: Path, scene: str, out: Path, *, limit_s: float, arguments: Sequence[str]
) -> None:
    path = scene_path(root, scene)
    out = out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    width, height = SIZE
    with step(f"taking a picture of {scene}"), virtual_display(width, height) as display:
        finished = engine.run(
            ["--path", root, "--rendering-driver", "opengl3", "--audio-driver", "Dummy",
             "--resolution", f"{width}x{height}", "--position", "0,0", "--fixed-fps", "60",
             "res://tools/screenshot.tscn", "--", f"--scene={path}", f"--out={out}",
             "--scripted", *arguments],
            limit_s, env={"DISPLAY": display, "WAYLAND_DISPLAY": ""},
        )
    harmless = (*OF_THE_DISPLAY, CUT_SHORT)
    found = [line for line in complaints(finished.output) if not any(text in line for text in harmless)]
    if not finished.succeeded or found or not out.is_file():
        raise StepFailed(f"taking a picture of {scene}", finished.explain(), "read Godot's output above")
