"""Animations and pictures of the demos in Godot, drawn in software."""
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from tools.preparation import Prepared
from tools.processes import check, run
from tools.progress import step
from tools.screenshot import take_frames, take_screenshot

WIDTH, HEIGHT = 640, 360
FRAME_MS = 100
_LIMIT_S = 120.0


class Scene(NamedTuple):
    """What of a scene is shown.

    Args:
        scene: name of the demo, or path of a scene.
        after_s: game time before the first frame (s).
        frames: frames of an animation; 0 for one picture.
        every_s: game time between two frames (s).
        settings: as ``--set`` of ``dev.py screenshot``.
    """

    scene: str
    after_s: float
    frames: int = 0
    every_s: float = 0.1
    settings: tuple[str, ...] = ()


SCENES = {
    "museum_play": Scene("museum", 1.0, 70, 0.2),
    "skirmish_play": Scene("skirmish", 5.0, 60, 0.5),
    "city_play": Scene("city", 0.5, 60, 0.2),
    "guard_level": Scene("res://addons/ai_core/examples/guard_level_3d.tscn", 4.0),
    "villagers": Scene("res://addons/ai_core/examples/villagers_3d.tscn", 4.0),
    "city": Scene("city", 8.0, settings=(".:first_view=420.0",)),
    "cover": Scene("cover", 9.0),
    "crowd": Scene("crowd", 6.0),
    "puzzle": Scene("puzzle", 8.0),
    "skirmish": Scene("skirmish", 14.0),
    "debug_overlay": Scene("museum", 8.5, settings=(
        "AIDebugOverlay:shown=true", "AIDebugOverlay:section=2", 'AIDebugOverlay:character=NodePath("../Life/Bob")')),
    "overlay_scheduler": Scene("museum", 8.5, settings=(
        "AIDebugOverlay:shown=true", "AIDebugOverlay:section=0", "AIDebugOverlay:width_share=0.4")),
    "overlay_habits": Scene("museum", 8.5, settings=(
        "AIDebugOverlay:shown=true", "AIDebugOverlay:section=1", 'AIDebugOverlay:character=NodePath("../Life/Bob")',
        "AIDebugOverlay:width_share=0.4")),
}
"""By name of the file."""


def take(prepared: Prepared, root: Path, name: str, out: Path) -> None:
    """Write the picture or animation of a name as OUT/NAME.png.

    Raises:
        StepFailed: if Godot complains or draws nothing.
    """
    wanted, file = SCENES[name], out / f"{name}.png"
    if not wanted.frames:
        take_screenshot(prepared.engine, root, wanted.scene, file, after_s=wanted.after_s, settings=wanted.settings)
        return
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "frames.raw"
        take_frames(
            prepared.engine, root, wanted.scene, raw, after_s=wanted.after_s, frames=wanted.frames,
            every_s=wanted.every_s, size=(WIDTH, HEIGHT), settings=wanted.settings)
        with step(f"packing {file.name}") as progress:
            finished = run(
                [prepared.python, "-m", "tools.pictures.animation", raw, str(WIDTH), str(HEIGHT), str(FRAME_MS), file],
                timeout_s=_LIMIT_S, cwd=root, on_line=progress.note)
        check("packing the frames", "read the error above", finished)
        print(finished.output.splitlines()[-1])
