"""The platforms that the bridge and the compiled loops are built for."""
from __future__ import annotations

import platform
from dataclasses import dataclass

from tools.progress import StepFailed


@dataclass(frozen=True)
class Target:
    """One platform.

    Args:
        name: Godot's name of it, which is also that of its folder below ``addons/ai_core/bin``.
        loader: file name of the library that Godot opens.
        suffix: ending of the extension modules that Python imports.
        triples: zig's names of the processors to build for; several are joined in one file.
    """

    name: str
    loader: str
    suffix: str
    triples: tuple[str, ...]

    @property
    def system(self) -> str:
        return self.name.partition(".")[0]


TARGETS = {
    target.name: target
    for target in (
        # glibc 2.36 is that of the private Python, which is Debian bookworm's.
        Target("linux.x86_64", "libai_core_loader.so", ".abi3.so", ("x86_64-linux-gnu.2.36",)),
        Target("linux.arm64", "libai_core_loader.so", ".abi3.so", ("aarch64-linux-gnu.2.36",)),
        Target("windows.x86_64", "ai_core_loader.dll", ".pyd", ("x86_64-windows-gnu",)),
        Target("macos.universal", "libai_core_loader.dylib", ".abi3.so", ("aarch64-macos.11.0", "x86_64-macos.11.0")),
    )
}


def host() -> Target:
    """Return the platform of this machine.

    Raises:
        StepFailed: if the bridge is not built for it.
    """
    name = target_name(platform.system(), platform.machine())
    if name not in TARGETS:
        raise StepFailed("naming the platform", f"no bridge for {name}", f"use one of: {', '.join(TARGETS)}")
    return TARGETS[name]


def target_name(system: str, machine: str) -> str:
    """Return Godot's name of a platform that Python calls so, such as ``linux.x86_64``."""
    if system == "Darwin":
        return "macos.universal"
    machines = {"amd64": "x86_64", "aarch64": "arm64"}
    return f"{system.lower()}.{machines.get(machine.lower(), machine.lower())}"
