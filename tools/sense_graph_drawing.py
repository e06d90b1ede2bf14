"""The command sense-graph: checks a sense graph's file and draws it."""
from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from tools.environment import ensure_environment

ROOT = Path(__file__).resolve().parents[1]

ARGUMENTS: list[tuple[list[str], dict[str, Any]]] = [
    (["file"], {"type": Path, "help": "a sense graph, as SenseGraphBaker or graph_to_text writes it"}),
    (["--out"], {"type": Path, "metavar": "SVG", "help": "file to write (FILE.svg beside it)"}),
]


def start(options: argparse.Namespace) -> int:
    """check a sense graph's file and draw it"""
    file, python = options.file.absolute(), ensure_environment(ROOT)
    out = (options.out or file.with_suffix(".svg")).absolute()
    program = [str(python), "-m", "tools.sense_graph_drawing", str(file), str(out)]
    return subprocess.run(program, cwd=ROOT, check=False).returncode


def draw(file: Path, out: Path) -> int:
    """Write the picture, and say what is in the graph; return 1 if it cannot be read."""
    from ai_core.saving.fields import StateError
    from ai_core.senses.graph.graph_file import graph_from_text
    from ai_core.senses.graph.graph_picture import graph_to_svg

    try:
        graph = graph_from_text(file.read_text(encoding="utf-8"))
        picture = graph_to_svg(graph)
    except (OSError, UnicodeDecodeError, StateError, ValueError) as error:
        print(f"{file}: {error}", file=sys.stderr)
        return 1
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(picture, encoding="utf-8")
    by_hand = sum(not one.is_baked for one in (*graph.regions, *graph.portals))
    print(f"{len(graph.regions)} regions, {len(graph.portals)} portals one way each, {by_hand} made by hand")
    print(out)
    return 0


if __name__ == "__main__":
    raise SystemExit(draw(Path(sys.argv[1]), Path(sys.argv[2])))
