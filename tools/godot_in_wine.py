"""Starts Godot for Windows in wine, as a command for pytest-godot-headless: PROGRAM HOME ARGUMENT...

Paths in the arguments, and in what the plugin tells the pytest inside, become those of Windows. The process
becomes wine's, which is Godot's: who ends it ends Godot.
"""
from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import wine

SETTINGS = "PYTEST_GODOT_HEADLESS"


def for_windows(word: str) -> str:
    """Return an argument as a program for Windows reads it: with "/" between folders, which it understands, too."""
    return wine.windows_path(Path(word)).replace("\\", "/") if word.startswith("/") else word


def main(program: str, home: str, *arguments: str) -> None:
    environment = {}
    if told := os.environ.get(SETTINGS):
        settings = json.loads(told)
        settings["output"] = for_windows(settings["output"])
        settings["arguments"] = [for_windows(word) for word in settings["arguments"]]
        environment[SETTINGS] = json.dumps(settings)
    command = [str(wine.program()), program, *(for_windows(word) for word in arguments)]
    os.execve(command[0], command, wine.wine_environment(Path(home), environment))


if __name__ == "__main__":
    main(*sys.argv[1:])
