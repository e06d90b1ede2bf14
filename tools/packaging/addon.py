"""The addon as users get it: nodes, bridge, ``ai_core``, a private Python, licences and a list of it all."""
from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools import build_bridge
from tools.addon_install import files_of
from tools.packaging import registry_python, runtime
from tools.packaging.ingredients import Ingredients
from tools.packaging.registry_python import RegistryPython
from tools.packaging.runtime import compile_modules
from tools.targets import Target

MANIFEST = "manifest.json"
# Sources of what is compiled, and settings of the machine that it was built on.
_NOT_SHIPPED = {".c", ".h", ".pxi", ".pyx", ".pyi", ".cfg", ".typed"}
_SHIPPED_SETTINGS = {"plugin.cfg"}
_LIBRARIES = {".so", ".pyd", ".dll", ".dylib"}


def version_of(root: Path) -> str:
    """Return the addon's version, as its plugin.cfg says."""
    found = re.search(r'^version="([^"]+)"$', (root / "addons/ai_core/plugin.cfg").read_text(), re.MULTILINE)
    assert found, "plugin.cfg names no version"
    return found.group(1)


def put_together(root: Path, pythons: Sequence[Ingredients | RegistryPython], addon: Path) -> dict[str, Any]:
    """Make the folder ``addon`` (its name is ``ai_core``) with all that a user needs.

    What differs between platforms lies in folders of theirs: libraries in ``bin``, a private Python in ``runtime``.

    Args:
        root: this repository, with the bridge built for each platform.
        pythons: what the private Pythons are made of, one for each platform.
        addon: an empty or missing folder.

    Returns:
        What the manifest in it says.
    """
    for part, place in (("addons/ai_core", addon), ("ai_core", addon / "python/ai_core")):
        for source, name in files_of(root / part):
            is_library = name.parts[0] == "bin" or source.suffix in _LIBRARIES
            if not is_library and (source.suffix not in _NOT_SHIPPED or source.name in _SHIPPED_SETTINGS):
                _copy(source, place / name)
    for python in pythons:
        _put_libraries(python.target, addon)
        for folder, shown in (("bridge", "bridge"), ("nodes", "nodes"), ("python/ai_core", "ai_core")):
            if not list((addon / folder).rglob(f"*.cpython-{python.version.replace('.', '')}.pyc")):
                compile_modules(python.run_python, addon / folder, addon / folder, shown, lambda _: True, way="beside")
        lay_out = runtime.lay_out if isinstance(python, Ingredients) else registry_python.lay_out
        lay_out(python, addon / "runtime" / python.target.name)
        for name, text in python.licences().items():
            _copy(text, addon / "licenses" / name)
    _copy(root / "LICENSE", addon / "licenses/ai_core.txt")
    _copy(root / "LICENSE", addon / "LICENSE.txt")
    _copy(root / "CHANGELOG.md", addon / "CHANGELOG.md")
    for folder in ("python", "licenses"):
        (addon / folder / ".gdignore").touch()
    manifest = _manifest(root, pythons, addon)
    (addon / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    return manifest


def _put_libraries(target: Target, addon: Path) -> None:
    """Copy loader, bridge and compiled loops of a platform into its folder; this machine's loops lie elsewhere."""
    built = build_bridge.library_folder(target)
    for library in (build_bridge.loader_file(target), *built.glob("_bridge.*")):
        _copy(library, addon / "bin" / target.name / library.name)
    for kernel in build_bridge.kernel_extensions(target):
        for library in kernel.folder.glob(f"{kernel.name}.*"):
            if library.suffix in _LIBRARIES:
                folders = kernel.module.split(".")[:-1]
                _copy(library, addon.joinpath("bin", target.name, *folders, library.name))


def oldest_libc(folder: Path) -> str:
    """Return the version of glibc that the libraries below ``folder`` need, such as "2.36"."""
    wanted = {
        tuple(map(int, match))
        for file in folder.rglob("*.so*") if file.is_file() and file.read_bytes()[:4] == b"\x7fELF"
        for match in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", file.read_bytes())
    }
    return ".".join(map(str, max(wanted, default=(2, 0))))


def _manifest(root: Path, pythons: Sequence[Ingredients | RegistryPython], addon: Path) -> dict[str, Any]:
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
        "name": "ai_core", "version": version_of(root), "needs_glibc": oldest_libc(addon),
        "platforms": {
            python.target.name: {"python": python.version, "made_of": python.packages} for python in pythons},
        "bytes": sum(parts.values()), "bytes_of_parts": parts, "files": files,
    }


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
