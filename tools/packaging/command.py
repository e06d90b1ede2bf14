"""``dev.py package``: one zip with all that a user needs."""
from __future__ import annotations

import argparse
import platform
import tempfile
from pathlib import Path

from tools import preparation
from tools.godot_project import hide_from_godot
from tools.packaging.addon import PLATFORM, put_together, version_of
from tools.packaging.archive import pack
from tools.packaging.ingredients import gather
from tools.progress import StepFailed, step

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = [
    (["--out"], {"type": Path, "metavar": "FOLDER", "default": ROOT / "dist", "help": "where to put the zip (dist)"}),
    (["--small"], {"action": "store_true", "help": "45 MB, not 70: NumPy built without OpenBLAS (once, 10 min)"}),
]


def start(options: argparse.Namespace) -> int:
    """make the zip that users unpack into a project: addon, bridge and a private Python"""
    hide_from_godot(ROOT, options.out)
    archive = package(preparation.build(ROOT), options.out, is_small=options.small)
    print(archive)
    return 0


def package(prepared: preparation.Prepared, out: Path, *, is_small: bool = False) -> Path:
    """Make the zip in folder ``out`` and return it; small with a NumPy that has no OpenBLAS.

    Raises:
        StepFailed: on another platform than the one that is packed here, or if an ingredient cannot be had.
    """
    here = f"{platform.system().lower()}.{platform.machine()}"
    if here != PLATFORM:
        raise StepFailed(
            "packing the addon", f"this is {here}, and dev.py package makes {PLATFORM} only",
            "use the untested script for your system in tools/packaging/other_platforms",
        )
    ingredients = gather(prepared.root, prepared.python, is_small=is_small)
    name = f"ai_core-{version_of(prepared.root)}-{PLATFORM}{'-small' if is_small else ''}.zip"
    archive = out.absolute() / name
    with step(f"packing {archive.name}") as progress, tempfile.TemporaryDirectory() as scratch:
        manifest = put_together(prepared.root, ingredients, Path(scratch) / "addons" / "ai_core")
        progress.note("compressing")
        pack(Path(scratch), archive)
    parts = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in manifest["bytes_of_parts"].items() if size > 50_000)
    print(f"unpacked {manifest['bytes'] / 1e6:.1f} MB ({parts}), packed {archive.stat().st_size / 1e6:.1f} MB, "
          f"for glibc {manifest['needs_glibc']} and later")
    return archive
