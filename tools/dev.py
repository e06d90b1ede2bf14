#!/usr/bin/env python3
"""The one way in: sets everything up and runs it.

    python3 tools/dev.py demo        a guard sees, hears, chases and loses an intruder
    python3 tools/dev.py test        everything that is tested

Needs Python 3.11 or newer, git, gcc and apt; fetches the rest into .venv and a cache.
"""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if sys.version_info < (3, 11):  # noqa: UP036  said before an import fails with less to go on
    sys.exit(f"tools/dev.py needs Python 3.11 or newer, this is {sys.version.split()[0]}; run it with another")

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools import (  # noqa: E402
    addon_install,
    cache_lines,
    demo,
    editor_screenshot,
    path_scenarios,
    preparation,
    recording_commands,
    screenshot,
    skirmish_commands,
    soak,
    test_parts,
    windows_godot,
)
from tools.benchmarking import start as benchmarking  # noqa: E402
from tools.build_bridge import library_folder  # noqa: E402
from tools.documentation import site  # noqa: E402
from tools.environment import ensure_environment  # noqa: E402
from tools.packaging import command as packaging  # noqa: E402
from tools.packaging import game  # noqa: E402
from tools.pictures import command as pictures  # noqa: E402
from tools.progress import StepFailed  # noqa: E402
from tools.targets import TARGETS  # noqa: E402


def setup(_: argparse.Namespace) -> int:
    """make everything ready: environment, Godot, bridge, imported project"""
    prepared = preparation.prepare(ROOT)
    print(f"ready: Godot {prepared.engine.version()}, Python {prepared.library.libpython}")
    return 0


def run_demo(options: argparse.Namespace) -> int:
    """play a demonstration: headless with its script, or live with --window"""
    prepared = preparation.prepare(ROOT)
    play = demo.play_in_window if options.window else demo.play_scripted
    return play(prepared.engine, ROOT, options.name)


def test(options: argparse.Namespace) -> int:
    """run all tests, or some parts of them"""
    parts = test_parts.chosen(options.part)
    if not any(part.needs_godot for part in parts):
        python = ensure_environment(ROOT)
        preparation.build_kernels(python)
        return test_parts.run_parts(parts, ROOT, python, None)
    prepared = preparation.prepare(ROOT)
    return test_parts.run_parts(parts, ROOT, prepared.python, prepared.engine)


def check(_: argparse.Namespace) -> int:
    """lint and check types"""
    return test_parts.run_parts(test_parts.chosen(["lint", "types"]), ROOT, ensure_environment(ROOT), None)


def build(options: argparse.Namespace) -> int:
    """build bridge and kernels if their sources have changed, for this platform or for others"""
    others = [TARGETS[name] for name in options.target or ()]
    prepared = preparation.build(ROOT, force=options.force and not others)
    for target in others:
        preparation.build_for(target, prepared, force=options.force)
        print(f"built for {target.name}: {library_folder(target)}")
    return 0


def take_screenshot(options: argparse.Namespace) -> int:
    """save a picture of a scene, in the game or in the editor, no screen needed"""
    name = f"{Path(options.scene).stem}{'_in_editor' if options.editor else ''}.png"
    out = options.out or ROOT / "screenshots" / name
    prepared = preparation.prepare(ROOT)
    if options.editor:
        editor_screenshot.take_editor_screenshot(prepared, options.scene, options.select, out, live_s=options.live)
    else:
        screenshot.take_screenshot(
            prepared.engine, ROOT, options.scene, out, after_s=options.after, settings=options.set)
    print(out)
    return 0


def editor(_: argparse.Namespace) -> int:
    """open the project in Godot's editor"""
    prepared = preparation.prepare(ROOT)
    demo.require_display()
    command = prepared.engine.command(["--editor", "--path", ROOT])
    return subprocess.run(command, env=prepared.engine.environment(private=False), check=False).returncode


def install(options: argparse.Namespace) -> int:
    """put the addon into another Godot project, or take it out again"""
    project = options.project.absolute()
    if options.remove:
        print(f"took {addon_install.remove(ROOT, project)} files out of {project}")
        return 0
    addon_install.refuse_bad_project(ROOT, project)
    prepared = preparation.build(ROOT)
    count = addon_install.install(ROOT, project, prepared.python_settings)
    print(f"put {count} files into {project / 'addons' / 'ai_core'}; it runs with {prepared.python}")
    return 0


# Every command: what does it, and the arguments it takes (as argparse has them).
COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], int], list[tuple[list[str], dict[str, Any]]]]] = {
    "setup": (setup, []),
    "demo": (run_demo, [
        (["name"], {"nargs": "?", "default": "museum", "help": f"one of: {demo.scene_names(ROOT)} (museum)"}),
        (["--window"], {"action": "store_true", "help": "play it live"}),
    ]),
    "test": (test, [
        (["part"], {"nargs": "*", "metavar": "PART", "help": f"some of: {test_parts.part_names()} (all)"}),
    ]),
    "check": (check, []),
    "bench": (benchmarking.start, benchmarking.ARGUMENTS),
    "lines": (cache_lines.start, cache_lines.ARGUMENTS),
    "build": (build, [
        (["--force"], {"action": "store_true", "help": "build even if nothing changed"}),
        (["--target"], {"nargs": "+", "choices": TARGETS, "metavar": "PLATFORM", "help": ", ".join(TARGETS)}),
    ]),
    "screenshot": (take_screenshot, [
        (["scene"], {"help": f"one of: {demo.scene_names(ROOT)}; or res://any/scene.tscn"}),
        (["--out"], {"type": Path, "metavar": "PNG", "help": "file to write (screenshots/SCENE.png)"}),
        (["--after"], {"type": float, "default": 5.0, "metavar": "SECONDS", "help": "game time to let pass (5)"}),
        (["--set"], {"action": "append", "default": [], "metavar": "NODE:PROPERTY=VALUE",
                     "help": "set a property of a node before, such as AIDebugOverlay:shown=true"}),
        (["--editor"], {"action": "store_true", "help": "of the editor with the scene opened"}),
        (["--select"], {"default": ".", "metavar": "NODE", "help": "what is selected there: its path in the scene"}),
        (["--live"], {"type": float, "metavar": "SECONDS",
                      "help": "with --editor: run the scene so long, and show the selected HabitTree live"}),
    ]),
    "editor": (editor, []),
    "record": (recording_commands.record, recording_commands.RECORD_ARGUMENTS),
    "replay": (recording_commands.replay, recording_commands.REPLAY_ARGUMENTS),
    "timeline": (recording_commands.timeline, recording_commands.TIMELINE_ARGUMENTS),
    "path-scenarios": (path_scenarios.start, path_scenarios.ARGUMENTS),
    "skirmish": (skirmish_commands.start, skirmish_commands.ARGUMENTS),
    "soak": (soak.start, soak.ARGUMENTS),
    "package": (packaging.start, packaging.ARGUMENTS),
    "export": (game.start, game.ARGUMENTS),
    "windows-godot": (windows_godot.start, windows_godot.ARGUMENTS),
    "docs": (site.start, site.ARGUMENTS),
    "pictures": (pictures.start, pictures.ARGUMENTS),
    "install": (install, [
        (["project"], {"type": Path, "help": "folder with a project.godot"}),
        (["--remove"], {"action": "store_true", "help": "take out what was put in"}),
    ]),
}


def _help_layout(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=24, width=100)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/dev.py", description=__doc__, formatter_class=_help_layout)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND [OPTION...]")
    for name, (does, takes) in COMMANDS.items():
        command = commands.add_parser(name, help=does.__doc__, description=does.__doc__)
        command.set_defaults(does=does)
        for flags, settings in takes:
            command.add_argument(*flags, **settings)
    options = parser.parse_args(arguments)
    if not hasattr(options, "does"):
        parser.print_help()
        return 0
    try:
        return int(options.does(options))
    except StepFailed as failure:
        print(f"\n{failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
