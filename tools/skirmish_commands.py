"""The command skirmish: it runs in the environment, where NumPy is."""
from __future__ import annotations

import argparse
import subprocess
from pathlib import Path
from typing import Any

from tools.environment import ensure_environment
from tools.godot_project import hide_from_godot

ROOT = Path(__file__).resolve().parents[1]

ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["--seeds"], {"type": int, "default": 0, "metavar": "N",
                   "help": "play N games, scouting against not scouting; fails below 70 of 100"}),
    (["--seed"], {"type": int, "default": 0, "metavar": "S", "help": "the one game that is told and drawn (0)"}),
    (["--units"], {"type": int, "default": 100, "metavar": "N", "help": "units on each side (100)"}),
    (["--budget-us"], {"type": float, "default": 3000.0, "metavar": "US",
                       "help": "of the AI of both sides in a frame, on the machine limits are stated for (3000)"}),
    (["--out"], {"type": Path, "metavar": "FOLDER", "help": "for report and pictures (skirmish/)"}),
]


def start(options: argparse.Namespace) -> int:
    """play two strategists against each other: report, heat maps, or who wins by scouting"""
    out = options.out or ROOT / "skirmish"
    hide_from_godot(ROOT, out)
    program = [
        str(ensure_environment(ROOT)), "-m", "tools.skirmish_games", "--seeds", str(options.seeds),
        "--seed", str(options.seed), "--units", str(options.units), "--budget-us", str(options.budget_us),
        "--out", str(out.absolute()),
    ]
    return subprocess.run(program, cwd=ROOT, check=False).returncode
