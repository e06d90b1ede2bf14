"""A demonstration as players get it: exported by Godot with the release template, with a Python of its own."""
from __future__ import annotations

import argparse
import shutil
import tempfile
import zipfile
from pathlib import Path

from tools import preparation
from tools.demo import scene_path
from tools.engine_output import complaints
from tools.godot_project import hide_from_godot, list_extension
from tools.packaging.command import package
from tools.progress import StepFailed, step

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = [
    (["name"], {"nargs": "?", "default": "museum", "help": "which demonstration, as for demo (museum)"}),
    (["--out"], {"type": Path, "metavar": "FOLDER", "help": "where to put the game (dist/NAME)"}),
]
# Importing and packing the museum takes 10 s here.
_EXPORT_LIMIT_S = 300.0
PRESETS = """[preset.0]

name="Linux"
platform="Linux"
runnable=true
export_filter="all_resources"
include_filter=""
exclude_filter=""
script_export_mode=2

[preset.0.options]

custom_template/release="{template}"
binary_format/embed_pck=false
binary_format/architecture="x86_64"
texture_format/s3tc_bptc=true
{options}
"""


def start(options: argparse.Namespace) -> int:
    """make a game of a demonstration that runs where neither Godot nor Python is"""
    out = options.out or ROOT / "dist" / options.name
    hide_from_godot(ROOT, out)
    prepared = preparation.build(ROOT)
    with tempfile.TemporaryDirectory() as scratch:
        archive = package(prepared, Path(scratch))
        program = export(prepared, archive, options.name, out.absolute())
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{program} ({size / 1e6:.0f} MB in its folder); try: {program} --headless --fixed-fps 60 -- --scripted")
    return 0


def export(
    prepared: preparation.Prepared, archive: Path, name: str, out: Path, *, options: str = ""
) -> Path:
    """Export a demonstration and return the program.

    Args:
        prepared: the engine, with its release template.
        archive: the addon's zip, as users get it.
        name: "museum", or another scene that the game begins with.
        out: folder of the game; what is in it is removed.
        options: further lines of the export preset, such as ``ai_core/strip_documentation=false``.

    Raises:
        StepFailed: if there is no release template, or the export fails or complains.
    """
    template = prepared.engine.release_template
    if template is None:
        raise StepFailed(
            "finding the release template", f"none is installed for Godot {prepared.engine.version()}",
            "install the export templates: Editor > Manage Export Templates",
        )
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch)
        make_project(prepared.root, archive, name, project)
        (project / "export_presets.cfg").write_text(PRESETS.format(template=template.resolve(), options=options))
        program = out / f"{name}.x86_64"
        with step(f"exporting {name}") as progress:
            finished = prepared.engine.run(
                ["--headless", "--path", project, "--export-release", "Linux", program], _EXPORT_LIMIT_S,
                on_line=progress.note,
            )
    found = complaints(finished.output)
    if found or not finished.succeeded or not program.is_file():
        raise StepFailed(
            f"exporting {name}", "\n".join(found) or finished.explain(), "put right what Godot complains about"
        )
    return program


def make_project(root: Path, archive: Path, name: str, project: Path) -> None:
    """Make a project of the demonstrations as a user would have it: without our tools and tests, with the zip."""
    shutil.copytree(root / "demo_project", project / "demo_project", ignore=shutil.ignore_patterns("__pycache__"))
    settings = (root / "project.godot").read_text().splitlines()
    scene = f'run/main_scene="{scene_path(root, name)}"'
    lines = [scene if line.startswith("run/main_scene=") else line for line in settings]
    (project / "project.godot").write_text("\n".join(lines) + "\n")
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(project)
    list_extension(project)
