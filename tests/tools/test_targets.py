"""Platforms: their names, where what is built for them lies, and that the engine's settings name them all."""
from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tools import build_bridge
from tools.build_bridge import SHARED, bridge_extension, kernel_extensions, library_file, loader_file, python_facts
from tools.targets import TARGETS, host, target_name

OTHERS = [target for target in TARGETS.values() if target != host()]


@pytest.mark.parametrize(("system", "machine", "name"), [
    ("Linux", "x86_64", "linux.x86_64"), ("Linux", "aarch64", "linux.arm64"), ("Windows", "AMD64", "windows.x86_64"),
    ("Darwin", "arm64", "macos.universal"), ("Darwin", "x86_64", "macos.universal"),
])
def test_platforms_have_the_names_that_godot_gives_them(system, machine, name):
    assert target_name(system, machine) == name
    assert name in TARGETS


def test_the_extension_names_the_loader_of_every_platform():
    text = (build_bridge.ROOT / "addons/ai_core/ai_core.gdextension").read_text()
    named = dict(re.findall(r'^(\S+) = "res://(addons/ai_core/bin/\S+)"$', text, re.MULTILINE))
    assert named == {
        target.name.removesuffix(".universal"): loader_file(target).relative_to(build_bridge.ROOT).as_posix()
        for target in TARGETS.values()
    }


@pytest.mark.parametrize("target", OTHERS, ids=lambda target: target.name)
def test_what_is_built_for_another_platform_lies_in_its_folder(target):
    facts = python_facts(Path(sys.executable))
    folder = build_bridge.BIN / target.name
    assert loader_file(target).parent == folder
    assert library_file(bridge_extension(target), facts, False, target) == folder / f"_bridge{target.suffix}"
    kernels = {kernel.module: library_file(kernel, facts, False, target) for kernel in kernel_extensions(target)}
    assert kernels[SHARED] == folder / f"ai_core/_memoryviews{target.suffix}"
    assert kernels["ai_core.senses.sight.sight_loops"] == folder / f"ai_core/senses/sight/sight_loops{target.suffix}"
