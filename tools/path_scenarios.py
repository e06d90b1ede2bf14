"""The command ``dev.py path-scenarios``: finds every way of the Moving AI maps in a folder, and checks it."""
from __future__ import annotations

import argparse
import subprocess
from pathlib import Path
from typing import Any

from tools.environment import ensure_environment

ROOT = Path(__file__).resolve().parents[1]

ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["folder"], {"type": Path, "help": "has maps of the Moving AI benchmark, NAME.map with NAME.map.scen"}),
    (["--every"], {"type": int, "default": 1, "metavar": "N", "help": "one scenario of so many (1)"}),
]


def start(options: argparse.Namespace) -> int:
    """find every path of Moving AI scenario files; fails if a path is missing or costs more than its file says"""
    python = ensure_environment(ROOT)
    command = [
        python, "-m", "tests.benchmarks.paths.scenarios", str(options.folder.absolute()), "--every", str(options.every)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode
