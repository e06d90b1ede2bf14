"""``dev.py pictures``: all pictures of the documentation, from real runs."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tools import preparation
from tools.pictures import scenes
from tools.processes import check, run
from tools.progress import step

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
_LIMIT_S = 300.0

ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["name"], {"nargs": "*", "metavar": "NAME", "help": "some of them, by name of the file without its end (all)"}),
    (["--out"], {"type": Path, "metavar": "FOLDER", "default": IMAGES, "help": "(docs/images)"}),
]


def start(options: argparse.Namespace) -> int:
    """draw the pictures and animations of the documentation from real runs"""
    prepared = preparation.prepare(ROOT)
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    drawn = [name for name in options.name if name not in scenes.SCENES]
    if drawn or not options.name:
        with step("drawing plots") as progress:
            finished = run(
                [prepared.python, "-m", "tools.pictures.plots", out, *drawn], timeout_s=_LIMIT_S, cwd=ROOT,
                on_line=progress.note)
        check("drawing plots", "read the error above", finished)
    for name in options.name or scenes.SCENES:
        if name in scenes.SCENES:
            scenes.take(prepared, ROOT, name, out)
    return 0
