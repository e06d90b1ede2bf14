"""The addon as users get it: nodes, bridge, ``ai_core``, a private Python, licences and a list of it all."""
from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from tools.addon_install import files_of
from tools.packaging.ingredients import VERSION, Ingredients
from tools.packaging.runtime import compile_modules, lay_out

PLATFORM = "linux.x86_64"
"""The one platform that is put together and tested here."""

MANIFEST = "manifest.json"
# Sources of what is compiled, and settings of the machine that it was built on.
_NOT_SHIPPED = {".c", ".h", ".pxi", ".pyx", ".pyi", ".cfg", ".typed"}
_SHIPPED_SETTINGS = {"plugin.cfg"}


def version_of(root: Path) -> str:
    """Return the addon's version, as its plugin.cfg says."""
    found = re.search(r'^version="([^"]+)"$', (root / "addons/ai_core/plugin.cfg").read_text(), re.MULTILINE)
    assert found, "plugin.cfg names no version"
    return found.group(1)


def put_together(root: Path, ingredients: Ingredients, addon: Path) -> dict[str, Any]:
    """Make the folder ``addon`` (its name is ``ai_core``) with all that a user needs.

    Args:
        root: this repository, with the bridge built.
        ingredients: what the private Python is made of.
        addon: an empty or missing folder.

    Returns:
        What the manifest in it says.
    """
    for part, place in (("addons/ai_core", addon), ("ai_core", addon / "python/ai_core")):
        for source, name in files_of(root / part):
            if source.suffix not in _NOT_SHIPPED or source.name in _SHIPPED_SETTINGS:
                _copy(source, place / name)
    for folder, shown in (("bridge", "bridge"), ("nodes", "nodes"), ("python/ai_core", "ai_core")):
        compile_modules(ingredients, addon / folder, addon / folder, shown, lambda _: True, way="beside")
    lay_out(ingredients, addon / "runtime" / PLATFORM)
    _gather_licences(root, ingredients, addon / "licenses")
    for folder in ("python", "licenses"):
        (addon / folder / ".gdignore").touch()
    manifest = _manifest(root, ingredients, addon)
    (addon / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    return manifest


def oldest_libc(folder: Path) -> str:
    """Return the version of glibc that the libraries below ``folder`` need, such as "2.36"."""
    wanted = {
        tuple(map(int, match))
        for file in folder.rglob("*.so*") if file.is_file()
        for match in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", file.read_bytes())
    }
    return ".".join(map(str, max(wanted, default=(2, 0))))


def _gather_licences(root: Path, ingredients: Ingredients, target: Path) -> None:
    _copy(root / "LICENSE", target / "ai_core.txt")
    for package, name in (
        (f"libpython{VERSION}", "cpython"), ("libexpat1", "expat"), ("libffi8", "libffi"), ("zlib1g", "zlib")
    ):
        _copy(ingredients.debian / "usr/share/doc" / package / "copyright", target / f"{name}.txt")
    [described] = ingredients.site.glob("numpy-*.dist-info")
    for file in sorted(path for path in (described / "licenses").rglob("*") if path.is_file()):
        # The first also holds those of OpenBLAS and of the Fortran library in numpy.libs.
        _copy(file, target / "numpy" / file.relative_to(described / "licenses"))


def _manifest(root: Path, ingredients: Ingredients, addon: Path) -> dict[str, Any]:
    files = {
        file.relative_to(addon).as_posix(): {
            "bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()
        }
        for file in sorted(addon.rglob("*")) if file.is_file()
    }
    parts: dict[str, int] = {}
    for name, file in files.items():
        part = name.split("/")[0] if "/" in name else "."
        parts[part] = parts.get(part, 0) + int(file["bytes"])
    return {
        "name": "ai_core", "version": version_of(root), "platform": PLATFORM, "python": VERSION,
        "needs_glibc": oldest_libc(addon), "made_of": ingredients.packages,
        "bytes": sum(parts.values()), "bytes_of_parts": parts, "files": files,
    }


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
