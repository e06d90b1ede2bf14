"""A project made of what a page of the manual shows, as a reader would make it: scene, scripts, settings."""
from __future__ import annotations

import re
import textwrap
from pathlib import Path

PROJECT = """config_version=5

[application]

config/name="documented"
run/main_scene="res://main.tscn"
"""
NODE = re.compile(r"^( *)(\w+): (\w+)(?: \[(\w+\.gd)\])?(?: \((.*)\))?$")


def blocks(text: str, language: str) -> list[str]:
    """Return the samples of a page in one language, also those indented in a list."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(block) for _, block in found]


def write_project(page: Path, project: Path) -> list[str]:
    """Write the scene, scripts and settings that a page shows; return the lines that it says are printed."""
    text = page.read_text(encoding="utf-8")
    (project / "project.godot").write_text("\n".join([PROJECT, *blocks(text, "ini")]))
    for script in [*blocks(text, "gdscript"), *blocks(text, "python")]:
        named = re.match(r"# (\w+\.(gd|py))\n", script)
        assert named, f"{page.name}: a sample does not begin with the name of its file, such as '# guard.gd'"
        name, kind = named.groups()
        (project / name).write_text(script.replace("    ", "\t") if kind == "gd" else script)
    scene, printed = None, []
    for block in blocks(text, "text"):
        if block.startswith("> "):
            printed += [line.removeprefix("> ") for line in block.splitlines()]
        elif NODE.match(block.splitlines()[0]):
            assert scene is None, f"{page.name}: two scenes"
            scene = block
    assert scene, f"{page.name} shows no scene"
    assert printed, f"{page.name} does not say what is printed"
    (project / "main.tscn").write_text(scene_file(scene))
    return printed


def scene_file(tree: str) -> str:
    """Return a .tscn for an indented list of ``Name: Class [script.gd] (property = value; …)``."""
    scripts: dict[str, str] = {}
    nodes, path = [], []
    for line in tree.splitlines():
        found = NODE.match(line)
        assert found, f"not a node: {line!r}"
        indent, name, kind, script, settings = found.groups()
        path = path[: len(indent) // 4]
        parent = "" if not path else f' parent="{"/".join(path[1:]) or "."}"'
        path.append(name)
        node = [f'[node name="{name}" type="{kind}"{parent}]']
        if script:
            node.append(f'script = ExtResource("{scripts.setdefault(script, script.removesuffix(".gd"))}")')
        nodes += [*node, *(part.strip() for part in (settings or "").split("; ") if part), ""]
    needed = [f'[ext_resource type="Script" path="res://{script}" id="{name}"]' for script, name in scripts.items()]
    return "\n".join(["[gd_scene format=3]", "", *needed, "", *nodes])
