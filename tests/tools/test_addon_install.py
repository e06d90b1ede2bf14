"""Installing into another project, and leaving it as it was."""
from __future__ import annotations

from pathlib import Path

import pytest

from tools.addon_install import install, remove
from tools.godot_project import EXTENSION, extension_list
from tools.progress import StepFailed

SETTINGS = "libpython=/lib/libpython3.11.so\nprogram=/env/bin/python\n"


@pytest.fixture
def repository(tmp_path):
    """A small stand-in for this repository, with a built bridge."""
    root = tmp_path / "repository"
    for name in (
        "project.godot",
        "addons/ai_core/ai_core.gdextension",
        "addons/ai_core/nodes/sensor.py",
        "addons/ai_core/nodes/__pycache__/sensor.cpython-311.pyc",
        "addons/ai_core/bin/linux.x86_64/libai_core_loader.so",
        "addons/ai_core/bin/build/scratch.c",
        "addons/ai_core/bin/python.cfg",
        "ai_core/__init__.py",
        "ai_core/senses/sight/sight_cones.py",
        "ai_core/senses/sight_loops.abi3.so",
    ):
        write(root / name, name)
    return root


@pytest.fixture
def project(tmp_path):
    """Another Godot project with an addon of its own."""
    folder = tmp_path / "game"
    write(folder / "project.godot", "config_version=5\n")
    write(folder / "addons/other/plugin.cfg", "")
    return folder


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def everything_in(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() if path.is_file() else "folder"
        for path in folder.rglob("*")
    }


def test_addon_bridge_core_and_settings_are_put_in(repository, project):
    install(repository, project, SETTINGS)
    addon = project / "addons/ai_core"
    assert (addon / "nodes/sensor.py").is_file()
    assert (addon / "bin/linux.x86_64/libai_core_loader.so").is_file()
    assert (addon / "python/ai_core/senses/sight/sight_cones.py").is_file()
    assert (addon / "python/ai_core/senses/sight_loops.abi3.so").is_file()
    assert (addon / "bin/python.cfg").read_text() == SETTINGS
    assert extension_list(project).read_text().split() == [EXTENSION]


def test_scratch_files_and_bytecode_stay_behind(repository, project):
    install(repository, project, SETTINGS)
    names = everything_in(project)
    assert not [name for name in names if "__pycache__" in name or "scratch" in name]


def test_removing_leaves_the_project_as_it_was(repository, project):
    before = everything_in(project)
    install(repository, project, SETTINGS)
    remove(repository, project)
    assert everything_in(project) == before


def test_removing_takes_what_engine_and_python_made_of_our_files(repository, project):
    before = everything_in(project)
    install(repository, project, SETTINGS)
    write(project / "addons/ai_core/ai_core.gdextension.uid", "uid://x")
    write(project / "addons/ai_core/nodes/__pycache__/sensor.cpython-312.pyc", "")
    remove(repository, project)
    assert everything_in(project) == before


def test_an_addons_folder_that_we_made_goes_too(repository, project):
    (project / "addons/other/plugin.cfg").unlink()
    (project / "addons/other").rmdir()
    (project / "addons").rmdir()
    install(repository, project, SETTINGS)
    remove(repository, project)
    assert not (project / "addons").exists()


def test_files_the_user_added_stay(repository, project):
    install(repository, project, SETTINGS)
    write(project / "addons/ai_core/nodes/mine.py", "mine")
    remove(repository, project)
    assert (project / "addons/ai_core/nodes/mine.py").read_text() == "mine"


def test_installing_again_leaves_nothing_of_the_older_version(repository, project):
    install(repository, project, SETTINGS)
    (repository / "addons/ai_core/nodes/sensor.py").rename(repository / "addons/ai_core/nodes/sense.py")
    install(repository, project, SETTINGS)
    assert (project / "addons/ai_core/nodes/sense.py").is_file()
    assert not (project / "addons/ai_core/nodes/sensor.py").exists()


def test_folder_that_is_no_project_is_refused_before_writing(repository, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(StepFailed, match=r"no project\.godot"):
        install(repository, tmp_path / "empty", SETTINGS)
    assert everything_in(tmp_path / "empty") == {}


def test_the_repository_itself_is_refused(repository):
    with pytest.raises(StepFailed, match="own repository"):
        install(repository, repository, SETTINGS)


def test_foreign_addon_is_neither_overwritten_nor_removed(repository, project):
    write(project / "addons/ai_core/precious.py", "precious")
    with pytest.raises(StepFailed, match="not put there by this command"):
        install(repository, project, SETTINGS)
    with pytest.raises(StepFailed, match="not put there by this command"):
        remove(repository, project)
    assert (project / "addons/ai_core/precious.py").read_text() == "precious"
