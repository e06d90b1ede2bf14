"""The command ``dev.py bench``: makes the environment ready and measures in it."""
from __future__ import annotations

import argparse
import subprocess
from pathlib import Path
from typing import Any

from tools.environment import ensure_environment

ROOT = Path(__file__).resolve().parents[2]

# A median of five runs stands even if two of them met a busy machine.
RUNS = 5

ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["suite"], {"nargs": "*", "metavar": "SUITE", "help": "some of the folders of tests/benchmarks (all)"}),
    (["--json"], {"type": Path, "metavar": "FILE", "help": "write the results there, too"}),
    (["--pictures"], {"type": Path, "metavar": "FOLDER", "help": "write growth curves there (benchmark_pictures)"}),
    (["--runs"], {"type": int, "default": RUNS, "help": f"processes per suite; medians are over them ({RUNS})"}),
    (["--native"], {"action": "store_true", "help": "rows for a bridge built for this Python alone, too"}),
    (["--peers"], {"action": "store_true", "help": "install the libraries that suites compare with, first"}),
]


def start(options: argparse.Namespace) -> int:
    """measure ours beside peers and limits; fails if a result is wrong"""
    python = ensure_environment(ROOT)
    command = [python, "-m", "tools.benchmarking", *words(options)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def words(options: argparse.Namespace) -> list[str]:
    """Return options as the words that ``parser()`` reads them from."""
    found = list(options.suite)
    for name in ("json", "pictures"):
        if path := getattr(options, name):
            found += [f"--{name}", str(Path(path).absolute())]
    found += ["--runs", str(options.runs)]
    found += [f"--{name}" for name in ("native", "peers") if getattr(options, name)]
    return found


def parser() -> argparse.ArgumentParser:
    """Return what reads the command's arguments."""
    reader = argparse.ArgumentParser(prog="tools/dev.py bench", description=start.__doc__)
    for flags, settings in ARGUMENTS:
        reader.add_argument(*flags, **settings)
    return reader
