"""The zip that users get: unpacked where no Python is, it works; removed, nothing is left."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.addon.every_node import write_every_node
from tests.addon.without_python import run_without_python
from tools.engine_output import complaints
from tools.packaging.command import package
from tools.preparation import ROOT, Prepared
from tools.processes import Finished
from tools.virtual_display import virtual_display

# Drawn in software, on a display that is not there: the engine says so, of ours or not.
OF_THE_DISPLAY = ("V-Sync", "VK_KHR_surface", 'Condition "err != OK"')
MAPS_SCRIPT = """extends SceneTree

func _initialize() -> void:
	var maps := FileAccess.open("/proc/self/maps", FileAccess.READ)
	var files := {}
	while not maps.eof_reached():
		var line := maps.get_line()
		if "/" in line: files[line.substr(line.find("/"))] = true
	for file: String in files: print("mapped ", file)
	quit()
"""
SWITCH = '[plugin]\nname="switch"\ndescription=""\nauthor=""\nversion="1"\nscript="plugin.gd"\n'
SWITCH_SCRIPT = """@tool
extends EditorPlugin

func _enter_tree() -> void:
	for i in 30: await get_tree().process_frame
	EditorInterface.set_plugin_enabled("ai_core", {value})
	await get_tree().create_timer(3.0).timeout  # the editor saves the project's settings after a while
	get_tree().quit()
"""
# What a library in the zip may need and not bring: libc's, and the compiler's that NumPy needs.
OF_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "libgcc_s.so.1",
                 "libstdc++.so.6"}
# The aim was 60 MB, which the small zip meets; OpenBLAS is 28 of these, and what is ours grows.
MOST_BYTES = 72_000_000

# Packing takes 10 s here, opening an editor in a window 20, and several times as long on a busy machine.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def project(tmp_path: Path, archive: Path) -> Path:
    """A blank project into which the zip was unpacked, with a scene of every node."""
    write_every_node(tmp_path)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path)
    return tmp_path


def start(prepared: Prepared, project: Path, *arguments: str) -> Finished:
    finished = run_without_python(prepared.engine, project, ["--headless", "--path", project, *arguments])
    assert finished.succeeded, finished.explain()
    return finished


def first_start(prepared: Prepared, project: Path, frames: int = 200) -> list[str]:
    """Open the editor in a window, as a user does first; return what it complains about until so many frames."""
    arguments = ["--editor", "--rendering-driver", "opengl3", "--audio-driver", "Dummy", "--path", project]
    with virtual_display(1280, 720) as display:
        finished = run_without_python(
            prepared.engine, project, [*arguments, "--quit-after", str(frames)], display=display)
    assert finished.succeeded, finished.explain()
    return [line for line in complaints(finished.output) if not any(text in line for text in OF_THE_DISPLAY)]


def test_an_unpacked_zip_plays_without_a_system_python(prepared, project):
    assert first_start(prepared, project) == []
    assert complaints(start(prepared, project, "--import").output) == []
    played = start(prepared, project, "--fixed-fps", "60")
    assert complaints(played.output) == []
    assert "not in the scene: []" in played.output
    assert "saw Fire" in played.output


def test_the_python_that_runs_is_the_one_of_the_project(prepared, project):
    (project / "maps.gd").write_text(MAPS_SCRIPT)
    (project / ".godot").mkdir()
    (project / ".godot/extension_list.cfg").write_text("res://addons/ai_core/ai_core.gdextension\n")
    files = re.findall(r"^mapped (.*)$", start(prepared, project, "-s", "maps.gd").output, re.MULTILINE)
    pythons = [file for file in files if re.search(r"libpython|numpy|cpython|abi3", file)]
    assert any("libpython3.11.so.1.0" in file for file in pythons)
    assert [file for file in pythons if not file.startswith(f"{project}/addons/ai_core/")] == []


def switch(prepared: Prepared, project: Path, is_on: bool) -> None:
    """Switch the plugin on or off in the editor, as Project Settings > Plugins does; a plugin of the test does it."""
    enabled = 'enabled=PackedStringArray("res://addons/switch/plugin.cfg")'
    settings = project / "project.godot"
    if "[editor_plugins]" not in settings.read_text():
        settings.write_text(f"{settings.read_text()}\n[editor_plugins]\n\n{enabled}\n")
    (project / "addons/switch").mkdir(exist_ok=True)
    (project / "addons/switch/plugin.cfg").write_text(SWITCH)
    (project / "addons/switch/plugin.gd").write_text(SWITCH_SCRIPT.format(value=str(is_on).lower()))
    assert first_start(prepared, project, frames=10_000) == []
    assert ("ai_core/plugin.cfg" in settings.read_text()) == is_on


def test_after_uninstalling_as_the_manual_says_nothing_is_left(prepared, project):
    switch(prepared, project, True)
    assert (project / "script_templates/Habit/ai_core_habit.gd").is_file()
    switch(prepared, project, False)
    for file in ("every_node.tscn", "every_node.gd", "villager.gd"):
        for one in project.glob(f"{file}*"):
            one.unlink()
    shutil.rmtree(project / "addons")
    shutil.rmtree(project / ".godot")
    (project / "main.tscn").write_text('[gd_scene format=3]\n\n[node name="Main" type="Node"]\n')
    settings = (project / "project.godot").read_text()
    assert "ai_core" not in settings
    settings = settings.replace("every_node", "main").replace('"res://addons/switch/plugin.cfg"', "")
    (project / "project.godot").write_text(settings)
    for arguments in (["--import"], ["--import"], ["--quit-after", "10"]):
        assert complaints(start(prepared, project, *arguments).output) == []
    left = {path.name for path in project.iterdir()}
    assert left == {".godot", "main.tscn", "project.godot"} | (left & {".gitignore", ".gitattributes", ".editorconfig"})


def test_packed_again_it_is_the_same_to_the_byte(prepared, archive, tmp_path):
    assert package(prepared, tmp_path).read_bytes() == archive.read_bytes()


def test_the_manifest_lists_every_file_and_sizes_stay_small(archive):
    with zipfile.ZipFile(archive) as packed:
        sizes = {entry.filename.removeprefix("addons/ai_core/"): entry.file_size for entry in packed.infolist()}
        manifest = json.loads(packed.read("addons/ai_core/manifest.json"))
    assert sizes.pop("manifest.json")
    assert {name: file["bytes"] for name, file in manifest["files"].items()} == sizes
    assert manifest["bytes"] == sum(sizes.values()) < MOST_BYTES
    assert manifest["version"] in archive.name


def test_the_licences_of_all_that_is_inside_are_in_one_folder(archive):
    with zipfile.ZipFile(archive) as packed:
        texts = {name: packed.read(name).decode() for name in packed.namelist() if "/licenses/" in name}
    for name, words in (("ai_core", "MIT"), ("cpython", "PYTHON SOFTWARE FOUNDATION LICENSE"), ("expat", "expat"),
                        ("libffi", "libffi"), ("zlib", "zlib"), ("numpy/LICENSE", "OpenBLAS")):
        assert words in texts[f"addons/ai_core/licenses/{name}.txt"], name


def test_libraries_need_only_what_is_inside_or_on_every_linux(archive, tmp_path):
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path)
    libraries = [file for file in tmp_path.rglob("*.so*") if file.is_file()]
    inside = {file.name for file in libraries}
    assert len(libraries) > 40
    for file in libraries:
        dump = subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"NEEDED\s+(\S+)", dump))
        assert needed - inside - OF_THE_SYSTEM == set(), file


def test_nothing_of_the_builders_machine_is_inside(archive):
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            assert not name.endswith(("python.cfg", ".pyx", ".c")), name
            if name.endswith((".pyc", ".json", ".py", ".cfg", ".gdextension")):
                assert str(ROOT).encode() not in packed.read(name), name
