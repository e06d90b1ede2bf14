"""The commands record, replay and timeline: they run in the environment, where NumPy is."""
from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

from tools.environment import ensure_environment
from tools.godot_project import hide_from_godot

ROOT = Path(__file__).resolve().parents[1]

_FRAMES = (["--frames"], {"type": int, "default": 300, "metavar": "N", "help": "how many frames (300)"})
_SEED = (["--seed"], {"type": int, "default": 0, "metavar": "S", "help": "what all chance comes from (0)"})
_TIME = (["--budget-us"], {
    "type": float, "metavar": "US", "help": "run each frame on time (µs) instead of the scenario's steps"})

RECORD_ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["scenario"], {"help": "alarm, city, crowd, ghosts, guards or skirmish"}), _FRAMES, _SEED, _TIME,
    (["--exact"], {"action": "store_true", "help": "compare every bit: holds on this machine and set-up only"}),
    (["--out"], {"type": Path, "metavar": "FILE", "help": "file to write (recordings/SCENARIO.jsonl)"}),
]
REPLAY_ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["file"], {"type": Path, "help": "a recording"}),
    (["--cut"], {"action": "store_true", "help": "take a recording that a crash has cut short"}),
]
TIMELINE_ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["what"], {"metavar": "FILE|SCENARIO", "help": "a recording, or a scenario to record"}), _FRAMES, _SEED, _TIME,
    (["--cut"], {"action": "store_true", "help": "take a recording that a crash has cut short"}),
    (["--out"], {"type": Path, "metavar": "FILE", "help": ".svg or .png to write (recordings/NAME.svg)"}),
]


def record(options: argparse.Namespace) -> int:
    """run a scenario and write down what happens in every frame"""
    out = options.out or ROOT / "recordings" / f"{options.scenario}.jsonl"
    hide_from_godot(ROOT, out.parent)
    return _run("record", scenario=options.scenario, out=str(out.absolute()), exact=options.exact, **_how(options))


def replay(options: argparse.Namespace) -> int:
    """run a recording again and stop at the first frame that differs"""
    return _run("replay", file=str(options.file.absolute()), cut=options.cut)


def timeline(options: argparse.Namespace) -> int:
    """draw who ran when, the budget, and what overran it"""
    file = Path(options.what)
    out = options.out or ROOT / "recordings" / f"{file.stem}.svg"
    hide_from_godot(ROOT, out.parent)
    return _run(
        "timeline", what=str(file.absolute()) if file.is_file() else options.what,
        out=str(out.absolute()), cut=options.cut, **_how(options),
    )


def _how(options: argparse.Namespace) -> dict[str, Any]:
    return {"frames": options.frames, "seed": options.seed, "budget_us": options.budget_us}


def _run(command: str, **arguments: Any) -> int:
    python = ensure_environment(ROOT)
    program = [str(python), "-m", "tools.scenario_recordings", command, json.dumps(arguments)]
    return subprocess.run(program, cwd=ROOT, check=False).returncode
