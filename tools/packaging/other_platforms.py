#!/usr/bin/env python3
"""UNTESTED: put the addon together on Windows or macOS. Nobody has run this; expect to mend it.

    python3 tools/packaging/other_platforms.py --python FOLDER --numpy WHEEL --out ai_core.zip

Run it on the system it is for, with a compiler (MSVC, or Xcode's command line tools) and $GODOT set.
FOLDER is an unpacked Python 3.11 or newer that runs from anywhere: on Windows the "embeddable package"
of python.org, on macOS a relocatable build (one with lib/libpython3.X.dylib and @rpath names in it).
WHEEL is NumPy's for that Python and system, as `pip download numpy` gets it.
"""
from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools import build_bridge, preparation  # noqa: E402
from tools.addon_install import files_of  # noqa: E402
from tools.packaging.archive import pack  # noqa: E402

# What belongs into [libraries] of ai_core.gdextension for the system; macOS names no processor there.
LIBRARY_KEYS = {"windows": "windows.x86_64", "macos": "macos"}
# Where such a Python keeps its modules; beside them NumPy is found without settings.
MODULES = {"windows": ".", "macos": "lib/python3.*"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--numpy", type=Path, required=True, metavar="WHEEL")
    parser.add_argument("--out", type=Path, required=True, metavar="ZIP")
    chosen = parser.parse_args()
    place = build_bridge.platform_name()
    system = place.partition(".")[0]
    if system not in LIBRARY_KEYS:
        parser.error(f"this is {place}; use tools/dev.py package")
    preparation.build(ROOT)
    with tempfile.TemporaryDirectory() as scratch:
        addon = Path(scratch) / "addons" / "ai_core"
        put_together(addon, place, chosen.python, chosen.numpy)
        pack(Path(scratch), chosen.out)
    print(f"{chosen.out}: untested; unpack it into a project and look whether the nodes are there")
    return 0


def put_together(addon: Path, place: str, python: Path, wheel: Path) -> None:
    """Make the addon's folder for one platform, such as ``windows.x86_64``."""
    system = place.partition(".")[0]
    for part, target in (("addons/ai_core", addon), ("ai_core", addon / "python" / "ai_core")):
        for source, name in files_of(ROOT / part):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / name)
    (addon / "bin" / "python.cfg").unlink(missing_ok=True)
    loader = build_bridge.loader_file().relative_to(ROOT).as_posix()
    with (addon / "ai_core.gdextension").open("a") as settings:
        settings.write(f'{LIBRARY_KEYS[system]} = "res://{loader}"\n')
    runtime = addon / "runtime" / place
    shutil.copytree(python, runtime)
    [modules] = runtime.glob(MODULES[system])
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(modules)
    (runtime / ".gdignore").touch()


if __name__ == "__main__":
    raise SystemExit(main())
