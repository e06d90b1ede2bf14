"""Running a demonstration scene: headless with a script and a verdict, or live in a window."""
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tools import recording_commands
from tools.engine_output import complaints
from tools.godot_engine import GodotEngine
from tools.godot_project import hide_from_godot
from tools.progress import StepFailed

# Scripted demonstrations play minutes of game time in seconds; more means something hangs.
_DEMO_LIMIT_S = 120.0
# A window is closed by the person in front of it; this only ends a forgotten one.
_WINDOW_LIMIT_S = 24 * 3600.0


def scene_path(root: Path, name: str) -> str:
    """Return the res:// path of a scene named "museum" or "res://any/scene.tscn".

    Raises:
        StepFailed: if there is no such scene; names those there are.
    """
    path = name if name.startswith("res://") else f"res://demo_project/scenes/{name}.tscn"
    if (root / path.removeprefix("res://")).is_file():
        return path
    raise StepFailed(f"finding the scene {name}", f"there is no {path}", f"use one of: {scene_names(root)}")


def scene_names(root: Path) -> str:
    """Return the names of all demonstrations, in one line."""
    return ", ".join(sorted(file.stem for file in (root / "demo_project" / "scenes").glob("*.tscn"))) or "none yet"


def play_scripted(engine: GodotEngine, root: Path, name: str) -> int:
    """Run a scene headless at 60 fixed frames per second; return its exit status, 1 if Godot complained.

    A scene that records its AI to the file it is told gets a picture of who ran when.
    """
    scene = scene_path(root, name)
    recorded = root / "recordings" / f"demo_{Path(scene).stem}.jsonl"
    hide_from_godot(root, recorded.parent)
    recorded.unlink(missing_ok=True)
    arguments = ["--headless", "--fixed-fps", "60", "--path", str(root), scene, "--", "--scripted"]
    arguments.append(f"--recording={recorded}")
    finished = engine.run(arguments, _DEMO_LIMIT_S, on_line=_show)
    if finished.timed_out:
        raise StepFailed(f"demo {name}", f"no end after {_DEMO_LIMIT_S:.0f} s", "see what it printed last, above")
    found = complaints(finished.output)
    if found:
        print(f"demo {name}: Godot complained {len(found)} times, first: {found[0]}", file=sys.stderr)
    status = finished.code or (1 if found else 0)
    return status or (_draw(recorded) if recorded.exists() else 0)


def _draw(recorded: Path) -> int:
    """Draw the timeline of a recording beside it, to zoom into and to look at; return 0 if that went well."""
    for suffix in (".svg", ".png"):
        status = recording_commands.timeline(argparse.Namespace(
            what=str(recorded), out=recorded.with_suffix(suffix), cut=False, frames=0, seed=0, budget_us=None))
        if status:
            return status
    return 0


def play_in_window(engine: GodotEngine, root: Path, name: str) -> int:
    """Run a scene live; return its exit status.

    Raises:
        StepFailed: if there is no display to open a window on.
    """
    require_display()
    arguments = ["--path", str(root), scene_path(root, name)]
    return engine.run(arguments, _WINDOW_LIMIT_S, private=False, on_line=_show).code


def require_display() -> None:
    """Raise StepFailed if there is no display to open a window on."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise StepFailed(
            "opening a window", "neither DISPLAY nor WAYLAND_DISPLAY is set",
            "run it from a desktop session, or without --window, or take a picture with `screenshot`",
        )


def _show(line: str) -> None:
    print(line, end="", flush=True)
