"""``dev.py package``: zips with all that a user needs."""
from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools import preparation, windows_python
from tools.godot_project import hide_from_godot
from tools.packaging import registry_python
from tools.packaging.addon import put_together, version_of
from tools.packaging.archive import pack
from tools.packaging.ingredients import Ingredients, gather
from tools.packaging.registry_python import RegistryPython
from tools.progress import StepFailed, step
from tools.targets import TARGETS, Target, host

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = [
    (["--out"], {"type": Path, "metavar": "FOLDER", "default": ROOT / "dist", "help": "where to put the zip (dist)"}),
    (["--small"], {"action": "store_true", "help": "45 MB, not 70: NumPy built without OpenBLAS (once, 10 min)"}),
    (["--target"], {"nargs": "+", "choices": TARGETS, "metavar": "PLATFORM",
                    "help": f"for other platforms, a zip for each: {', '.join(TARGETS)} (this one)"}),
    (["--together"], {"action": "store_true", "help": "one zip for all named platforms"}),
]


def start(options: argparse.Namespace) -> int:
    """make the zip that users unpack into a project: addon, bridge and a private Python"""
    hide_from_godot(ROOT, options.out)
    prepared = preparation.build(ROOT)
    targets = [TARGETS[name] for name in options.target] if options.target else [host()]
    for group in [targets] if options.together else [[target] for target in targets]:
        print(package(prepared, options.out, is_small=options.small, targets=group))
    return 0


def package(
    prepared: preparation.Prepared, out: Path, *, is_small: bool = False, targets: Sequence[Target] = ()
) -> Path:
    """Make a zip in folder ``out`` and return it.

    Args:
        prepared: this repository, built for this machine.
        out: where to put the zip.
        is_small: with a NumPy that has no OpenBLAS; for this machine's platform alone.
        targets: platforms that the zip serves; this machine's if there is none.

    Raises:
        StepFailed: on another system than Linux, or if an ingredient cannot be had.
    """
    wanted = list(targets) or [host()]
    if host().name != "linux.x86_64":
        raise StepFailed(
            "packing the addon", f"this is {host().name}, and dev.py package runs on linux.x86_64",
            "make the zip there; it packs for every platform",
        )
    for target in wanted:
        preparation.build_for(target, prepared)
    pythons = [_python_for(target, prepared, is_small) for target in wanted]
    platforms = "all" if len(wanted) == len(TARGETS) else "+".join(target.name for target in wanted)
    archive = out.absolute() / f"ai_core-{version_of(prepared.root)}-{platforms}{'-small' if is_small else ''}.zip"
    with step(f"packing {archive.name}") as progress, tempfile.TemporaryDirectory() as scratch:
        manifest = put_together(prepared.root, pythons, Path(scratch) / "addons" / "ai_core")
        progress.note("compressing")
        pack(Path(scratch), archive)
    parts = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in manifest["bytes_of_parts"].items() if size > 50_000)
    linux = f", for glibc {manifest['needs_glibc']} and later" if any(one.system == "linux" for one in wanted) else ""
    print(f"unpacked {manifest['bytes'] / 1e6:.1f} MB ({parts}), packed {archive.stat().st_size / 1e6:.1f} MB{linux}")
    return archive


def _python_for(
    target: Target, prepared: preparation.Prepared, is_small: bool
) -> Ingredients | RegistryPython:
    if target.system == "linux":
        is_small = is_small and target == host()
        return gather(prepared.root, prepared.python, is_small=is_small, target=target)
    compiler = windows_python.ensure(prepared.root, prepared.python)
    return registry_python.gather(prepared.root, prepared.python, target, compiler.compile)
